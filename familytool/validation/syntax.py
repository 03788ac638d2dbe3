"""The syntax check: is the sample, and each of its calls, of the form that a call must have?"""

from __future__ import annotations

import math

from familytool.graph import KnowledgeGraph
from familytool.model import Check, Finding, Json, Sample

MAX_DEPTH = 32


def check_syntax(sample: Sample, graph: KnowledgeGraph) -> Check:
    """Calls are there where the kind wants them, and hold nothing that JSON cannot; the query is text."""
    findings: list[Finding] = []
    if not sample.query.strip():
        findings.append(Finding(code="parse_error", path="/query", message="the query is empty"))
    findings += _text_findings(sample.query, "/query")
    if sample.kind == "no_tool" and sample.calls:
        findings.append(Finding(code="parse_error", path="/calls", message="a no_tool sample has a golden call"))
    if sample.kind != "no_tool" and not sample.calls:
        findings.append(Finding(code="parse_error", path="/calls", message="there is no golden call"))
    if sample.kind == "multi_call" and len(sample.calls) < 2:
        findings.append(Finding(code="parse_error", path="/calls", message="a multi_call sample needs two calls or more"))
    for number, call in enumerate(sample.calls):
        if not call.name.strip():
            findings.append(Finding(code="parse_error", path=f"/calls/{number}/name", message="the call has no tool name"))
        findings += _value_findings(call.arguments, f"/calls/{number}/arguments", 0)
    return Check(sample_id=sample.id, check="syntax", verdict="fail" if findings else "pass", findings=tuple(findings))


def _value_findings(value: Json, path: str, depth: int) -> list[Finding]:
    if depth > MAX_DEPTH:
        return [Finding(code="parse_error", path=path, message=f"nested deeper than {MAX_DEPTH} levels")]
    if isinstance(value, float) and not math.isfinite(value):
        return [Finding(code="parse_error", path=path, message="NaN and infinity are not JSON")]
    if isinstance(value, str):
        return _text_findings(value, path)
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, inner in items for found in _value_findings(inner, f"{path}/{key}", depth + 1)]


def _text_findings(text: str, path: str) -> list[Finding]:
    broken = next((c for c in text if "\ud800" <= c <= "\udfff"), None)
    return [Finding(code="parse_error", path=path, message=f"a lone surrogate U+{ord(broken):04X}")] if broken else []
