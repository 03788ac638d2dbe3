"""The syntax check: is the sample, and each of its calls, of the form that a call must have?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from familytool.graph import KnowledgeGraph
from familytool.model import Check, Finding, Json, Sample, ToolCall, Verdict
from familytool.validation.special_values import pointer_of

MAX_DEPTH = 32
_SURROGATE = re.compile("[\ud800-\udfff]")
CODES = ("parse_error", "duplicate_key", "truncated")


def check_syntax(sample: Sample, graph: KnowledgeGraph) -> Check:
    """Calls are there where the kind wants them, and hold nothing that JSON cannot; the query is text; nothing is left unparsed.

    A golden call that could not be read is a finding of its own (`provenance["unparsed"]`), and counts as a call. Where the set
    says that a call is right and not which one (`provenance["golden_not_given"]`), that is told, and the verdict is "unknown".
    """
    findings: list[Finding] = []
    if not sample.query.strip():
        findings.append(_error("/query", "the query is empty"))
    findings += _text_findings(sample.query, "/query")
    not_given = lacks_golden_call(sample)
    if not not_given:
        findings += _count_findings(sample)
    findings += _unparsed_findings(sample)
    for number, call in enumerate(sample.calls):
        if not _is_no_call(sample, call):
            findings += _call_findings(call, f"/calls/{number}")
    for place, calls in enumerate(sample.alternatives):
        for number, call in enumerate(calls):
            findings += _call_findings(call, f"/alternatives/{place}/{number}")
    verdict: Verdict = "fail" if findings else "unknown" if not_given else "pass"
    if not_given:
        findings.append(golden_not_given())
    return Check(sample_id=sample.id, check="syntax", verdict=verdict, findings=tuple(findings))


def golden_not_given() -> Finding:
    """The finding that says why a verdict on a call that is not there is open."""
    return _error("/calls", "the golden call is not given: the set says that a call is right, not which", "golden_not_given")


def lacks_golden_call(sample: Sample) -> bool:
    """Whether a call is expected, and the set by its design does not say which one."""
    return sample.provenance.get("golden_not_given") is True and sample.kind != "no_tool" and not sample.calls and not _unparsed(sample)


def _error(path: str, message: str, code: str = "parse_error", value: Json = None) -> Finding:
    return Finding(code=code, path=path, message=message, value=value)


def _is_no_call(sample: Sample, call: ToolCall) -> bool:
    """Whether this is how some sets write that no call is expected: no name and no arguments."""
    return sample.kind == "no_tool" and not call.name.strip() and not call.arguments


def _unparsed(sample: Sample) -> list[Json]:
    entries = sample.provenance.get("unparsed")
    return list(entries) if isinstance(entries, list | tuple) else [entries] if entries else []


def _count_findings(sample: Sample) -> Iterator[Finding]:
    count = sum(not _is_no_call(sample, call) for call in sample.calls) + len(_unparsed(sample))
    if sample.kind == "no_tool" and count:
        yield _error("/calls", "a no_tool sample has a golden call")
    if sample.kind != "no_tool" and not count:
        yield _error("/calls", "there is no golden call")
    if sample.kind == "multi_call" and count < 2:
        yield _error("/calls", "a multi_call sample needs two calls or more")


def _unparsed_findings(sample: Sample) -> Iterator[Finding]:
    for number, entry in enumerate(_unparsed(sample)):
        given = entry if isinstance(entry, dict) else {"text": entry}
        code, path = given.get("code"), given.get("path")
        yield _error(
            path if isinstance(path, str) and path.startswith("/") else f"/calls/{number}",
            str(given.get("message") or "the golden call cannot be read"),
            code if code in CODES else "parse_error",
            given.get("text"),
        )


def _call_findings(call: ToolCall, path: str) -> Iterator[Finding]:
    if not call.name.strip():
        yield _error(f"{path}/name", "the call has no tool name")
    yield from _text_findings(call.name, f"{path}/name")
    if not _is_plain(call.arguments, 0):
        yield from _value_findings(call.arguments, f"{path}/arguments", 0)


def _is_plain(value: Json, depth: int) -> bool:
    """Whether there is nothing to find in a value: most have nothing, and no pointers need be written for them."""
    if isinstance(value, str):
        return value.isascii() or _SURROGATE.search(value) is None
    if isinstance(value, dict):
        return depth <= MAX_DEPTH and all(isinstance(k, str) and _is_plain(k, depth) and _is_plain(v, depth + 1) for k, v in value.items())
    if isinstance(value, list):
        return depth <= MAX_DEPTH and all(_is_plain(item, depth + 1) for item in value)
    return value is None or isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def _value_findings(value: Json, path: str, depth: int) -> Iterator[Finding]:
    if depth > MAX_DEPTH:
        yield _error(path, f"nested deeper than {MAX_DEPTH} levels")
    elif isinstance(value, float) and not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        yield _error(path, f"{name} is not JSON")
    elif isinstance(value, str):
        yield from _text_findings(value, path)
    elif isinstance(value, dict):
        for key, inner in value.items():
            here = path + pointer_of((key,))
            if isinstance(key, str):
                yield from _text_findings(key, here, "its name has ")
            else:
                yield _error(here, f"its name is {type(key).__name__}, and names are texts")
            yield from _value_findings(inner, here, depth + 1)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _value_findings(inner, f"{path}/{index}", depth + 1)
    elif value is not None and not isinstance(value, int | float):
        yield _error(path, f"{type(value).__name__} is no type of JSON")


def _text_findings(text: str, path: str, what: str = "") -> Iterator[Finding]:
    broken = None if text.isascii() else _SURROGATE.search(text)
    if broken:
        yield _error(path, f"{what}a lone surrogate U+{ord(broken[0]):04X}")
