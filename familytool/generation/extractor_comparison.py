"""What the rules and a model read from the same parameters, side by side (for the report)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from familytool.generation.extracted import Extraction, fingerprint
from familytool.generation.usable import PEOPLE_KINDS, Parameter, parameters_by_rule, status_of
from familytool.model import Tool

CLASSES = ("both_same", "both_different", "only_rules", "only_model", "neither", "relative")
"""How rules and model agree on a parameter. `relative`: by rule a person of the family fills it, and the model adds no preference."""


def compare_extractors(documents: Iterable[Tool], extraction: Extraction) -> dict[str, Any]:
    """For each parameter of each version of a document: which kind of fact fills it by rule, and which as the model read it.

    Returns:
        {"differences": [{"class", "tool", "version", "status", "parameter", "rules", "model", "relation", "why"}, ...],
        "totals": {class: parameters, ..., "agreement_rate": both_same and neither and relative among all, or None},
        "by_status": {status of the document: the same}}; `why` is the stage and reason where a proposal of the model was dropped.
    """
    dropped = {(d.document, d.parameter): f"{d.stage}: {d.reason}" for d in reversed(extraction.refusals) if d.document}
    differences: list[dict[str, str]] = []
    counts: dict[str, Counter[str]] = {}
    for key, tool in {fingerprint(tool): tool for tool in documents}.items():
        found, status = extraction.of(tool), status_of(tool)
        for path, parameter in parameters_by_rule(tool).items():
            rules, proposal = _fact_kind(parameter), found.get(path)
            model = proposal.kind if proposal else ""
            class_ = _class(rules, model)
            counts.setdefault(status, Counter())[class_] += 1
            if class_ in ("both_different", "only_rules", "only_model"):
                differences.append(
                    {"class": class_, "tool": tool.name, "version": tool.source.get("version", ""), "status": status, "parameter": path,
                     "rules": rules, "model": model, "relation": proposal.relation if proposal else "",
                     "why": dropped.get((key, path)) or dropped.get((key, ""), "") if proposal is None else ""}
                )  # fmt: skip
    total = sum(counts.values(), Counter[str]())
    return {"differences": differences, "totals": _row(total), "by_status": {status: _row(row) for status, row in sorted(counts.items())}}


def _fact_kind(parameter: Parameter) -> str:
    return parameter.kind if parameter.takes_fact else ""


def _class(rules: str, model: str) -> str:
    if rules in PEOPLE_KINDS and not model:
        return "relative"
    if rules and model:
        return "both_same" if rules == model else "both_different"
    return "only_rules" if rules else "only_model" if model else "neither"


def _row(counts: Counter[str]) -> dict[str, Any]:
    agreed = counts["both_same"] + counts["neither"] + counts["relative"]
    return {**{name: counts[name] for name in CLASSES}, "agreement_rate": agreed / counts.total() if counts else None}
