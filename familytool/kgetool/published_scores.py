"""The profile `familytool-2025`: what the published FamilyTool program computes, defects included.

Extra calls and arguments are free, of several pairs of one tool the last decides, the values of a tool that was not called are
left out of `value_acc`, `kg_coverage` looks for entities as parts of the golden calls' text, and two empty sets have F1 0. The
program (commit c3c5fc7 of https://github.com/yxzwang/FamilyTool) is restated from its behaviour; arguments whose form it fails
on are wrong here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from .published_extraction import BAD_MARK, read_triples, written
from .rows import Scores
from .strict_json import Json

PUBLISHED = "familytool-2025"
PUBLISHED_TOOL_METRICS = ("em", "tool_acc", "value_acc")
PUBLISHED_KG_METRICS = ("kg_em", "kg_f1", "kg_coverage", "kg_no_hallucination", "kg_no_hallucination_paper")


def score_tool_use(golden: Sequence[Mapping[str, Any]], predicted: Sequence[Json]) -> Scores:
    """The tool metrics of one sample. The published table's "Tool Acc" is recall over the names.

    >>> call = {"name": "book", "arguments": {"city": "Dallas"}}
    >>> score_tool_use([call], [call, {"name": "pay", "arguments": {}}])
    {'em': 1.0, 'tool_acc': 1.0, 'value_acc': 1.0}
    """
    wanted, given = _by_name(golden), _by_name(predicted)
    if not wanted:
        return dict.fromkeys(PUBLISHED_TOOL_METRICS, float(not given))
    n_tools = n_pairs = n_hits = n_full = 0
    for name, calls in wanted.items():
        if name not in given:
            continue
        n_tools += 1
        is_full = False
        for left, right in zip(calls, given[name], strict=False):
            hits = [_text(right.get(key)) == _text(_first_choice(value)) for key, value in left.items()]
            n_pairs += len(hits)
            n_hits += sum(hits)
            is_full = all(hits)
        n_full += is_full
    return {
        "em": float(n_full == sum(map(len, wanted.values()))),
        "tool_acc": n_tools / len(wanted),
        "value_acc": n_hits / n_pairs if n_pairs else 0.0,
    }


def score_extraction(golden: Sequence[Sequence[str]], calls: Sequence[Mapping[str, Any]], extracted: str) -> Scores:
    """The graph metrics of one sample from the text that `published_extraction.extract` made.

    `kg_no_hallucination` is the rule of the program's last version (a format error is not applicable), `..._paper` that of the
    paper's tables (a format error counts as no hallucination).
    """
    wanted, found = set(read_triples(written(golden))), set(read_triples(extracted))
    n_common = len(wanted & found)
    n_sides = len(wanted) + len(found)
    said = repr([{"name": call.get("name"), "parameters": call.get("arguments")} for call in calls])
    needed = {name for triple in wanted for name in (triple[0], triple[-1]) if name in said}
    is_good = BAD_MARK not in extracted
    return {
        "kg_em": float(wanted == found),
        "kg_f1": 2 * n_common / n_sides if n_common else 0.0,
        "kg_coverage": float(needed <= {name for triple in found for name in (triple[0], triple[-1])}),
        "kg_no_hallucination": float(is_good) if extracted else None,
        "kg_no_hallucination_paper": float(is_good),
    }


def _by_name(calls: Sequence[Json]) -> dict[str, list[dict[str, Any]]]:
    """The arguments of all calls by name, in the order of their JSON text."""
    found: dict[str, list[dict[str, Any]]] = {}
    for call in calls:
        if isinstance(call, Mapping) and isinstance(call.get("name"), str) and isinstance(call.get("arguments"), Mapping):
            arguments = {str(key).strip(): value for key, value in call["arguments"].items()}
            found.setdefault(call["name"].strip(), []).append(arguments)
    return {name: sorted(arguments, key=lambda entry: str(_text(entry))) for name, arguments in found.items()}


def _first_choice(value: Json) -> Json:
    """The golden value; of several accepted ones, which the program does not know, the first."""
    return value["$any"][0] if isinstance(value, Mapping) and isinstance(value.get("$any"), list) and value["$any"] else value


def _text(value: Json) -> str | float:
    """The value as JSON text; what has none equals nothing."""
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return math.nan
