"""The syntax check: what JSON cannot hold, what could not be read, and calls where the kind wants them."""

from typing import Any

import pytest

from familytool.graph import KnowledgeGraph
from familytool.model import Check, Json, Sample, ToolCall
from familytool.validation.syntax import MAX_DEPTH, check_syntax


def checked(calls: list[tuple[str, dict[Any, Json]]], kind: str = "no_graph", **fields: Any) -> Check:
    """The syntax check of these calls."""
    made = tuple(ToolCall.model_construct(name=name, arguments=arguments) for name, arguments in calls)
    sample = Sample.model_construct(
        id="t-1", benchmark="t", kind=kind, speaker="", query=fields.pop("query", "Please do it."), graph_id="", candidate_tools=(), calls=made,
        alternatives=fields.pop("alternatives", ()), provenance=fields.pop("provenance", {}),
    )  # fmt: skip
    return check_syntax(sample, KnowledgeGraph())


def said(check: Check) -> list[str]:
    return [f"{finding.code} {finding.path}" for finding in check.findings]


def nested(levels: int, inside: Json) -> Json:
    for number in range(levels):
        inside = [inside] if number % 2 else {"a": inside}
    return inside


VALUES: dict[str, tuple[Json, list[str]]] = {
    "everything that JSON has": ({"a/b": [1, 1.5, True, None, "é🎈", {}, []]}, []),
    "val-021 NaN": (float("nan"), ["parse_error /calls/0/arguments/x"]),
    "val-021 infinity": ([1, float("inf")], ["parse_error /calls/0/arguments/x/1"]),
    "val-021 minus infinity": ({"y": float("-inf")}, ["parse_error /calls/0/arguments/x/y"]),
    "val-021 a number that is only large": (1e308, []),
    "val-023 an integer that is only large": (10**5000, []),
    "half a character": ("a\ud83d", ["parse_error /calls/0/arguments/x"]),
    "half a character in a name": ({"a\udc00/b": 1}, ["parse_error /calls/0/arguments/x/a\udc00~1b"]),
    "half a character in name and value": ({"\ud800": "\ud800"}, ["parse_error /calls/0/arguments/x/\ud800", "parse_error /calls/0/arguments/x/\ud800"]),
    "a name that is no text": ({1: 2}, ["parse_error /calls/0/arguments/x/1"]),
    "a tuple": ((1, 2), ["parse_error /calls/0/arguments/x"]),
    "bytes": (b"x", ["parse_error /calls/0/arguments/x"]),
    "as deep as is allowed": (nested(MAX_DEPTH - 1, 1), []),
    "two faults in order": ([float("nan"), "\ud800"], ["parse_error /calls/0/arguments/x/0", "parse_error /calls/0/arguments/x/1"]),
}  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), VALUES.values(), ids=VALUES.keys())
def test_a_value_that_json_cannot_hold_is_found_at_its_place(value: Json, expected: list[str]) -> None:
    assert said(checked([("f", {"x": value})])) == expected


def test_a_number_that_is_none_is_named() -> None:
    found = checked([("f", {"x": float("nan"), "y": float("-inf"), "z": float("inf")})]).findings
    assert [finding.message for finding in found] == ["NaN is not JSON", "-Infinity is not JSON", "Infinity is not JSON"]


@pytest.mark.parametrize("levels", [MAX_DEPTH + 2, 50_000])
def test_a_value_that_is_nested_too_deep_is_one_finding(levels: int) -> None:
    found = checked([("f", {"x": nested(levels, 1)})]).findings
    assert [(finding.code, "nested deeper" in finding.message) for finding in found] == [("parse_error", True)]


def test_alternatives_are_looked_at_too() -> None:
    other = (ToolCall.model_construct(name=" ", arguments={"x": {"$any": [1, float("nan")], "optional": False}}),)
    found = said(checked([("f", {})], alternatives=(other,)))
    assert found == ["parse_error /alternatives/0/0/name", "parse_error /alternatives/0/0/arguments/x/$any/1"]


def entry(code: Json = "parse_error", path: Json = "/calls/0", message: Json = "no JSON", text: Json = "{") -> dict[str, Json]:
    return {"code": code, "path": path, "message": message, "text": text}


UNPARSED: dict[str, tuple[list[tuple[str, dict[str, Json]]], str, Json, list[str]]] = {
    "imp-025 gold that is no JSON": ([], "no_graph", [entry()], ["parse_error /calls/0"]),
    "imp-031 a key that is there twice": ([], "no_graph", [entry("duplicate_key", "/calls/0/arguments/a")], ["duplicate_key /calls/0/arguments/a"]),
    "a text that is cut off": ([], "no_graph", [entry("truncated")], ["truncated /calls/0"]),
    "one of two calls": ([("f", {})], "multi_call", [entry(path="/calls/1")], ["parse_error /calls/1"]),
    "both calls": ([], "multi_call", [entry(), entry("truncated", "/calls/1")], ["parse_error /calls/0", "truncated /calls/1"]),
    "one of one that should be two": ([], "multi_call", [entry()], ["parse_error /calls", "parse_error /calls/0"]),
    "where none is expected": ([], "no_tool", [entry()], ["parse_error /calls", "parse_error /calls/0"]),
    "a code that nobody knows": ([], "no_graph", [entry("oops")], ["parse_error /calls/0"]),
    "a code that is a list": ([], "no_graph", [entry([])], ["parse_error /calls/0"]),
    "a path that is none": ([], "no_graph", [entry(), entry(path=3)], ["parse_error /calls/0", "parse_error /calls/1"]),
    "a text alone": ([], "no_graph", ["f(x"], ["parse_error /calls/0"]),
    "no list": ([], "no_graph", "f(x", ["parse_error /calls/0"]),
    "nothing": ([("f", {})], "no_graph", [], []),
}  # fmt: skip


@pytest.mark.parametrize(("calls", "kind", "unparsed", "expected"), UNPARSED.values(), ids=UNPARSED.keys())
def test_gold_that_could_not_be_read_is_a_finding_and_counts_as_a_call(calls: list, kind: str, unparsed: Json, expected: list[str]) -> None:
    check = checked(calls, kind, provenance={"unparsed": unparsed})
    assert said(check) == expected
    assert check.verdict == ("fail" if expected else "pass")


def test_what_could_not_be_read_is_the_value_of_its_finding() -> None:
    [found] = checked([], provenance={"unparsed": [entry(message="call 0 is cut off", text='{"a": ')]}).findings
    assert (found.message, found.value) == ("call 0 is cut off", '{"a": ')


COUNTS: dict[str, tuple[list[tuple[str, dict[str, Json]]], str, list[str]]] = {
    "val-027 no call where none is expected": ([], "no_tool", []),
    "val-027 an empty name where none is expected": ([("", {})], "no_tool", []),
    "an empty name with arguments": ([("", {"x": 1})], "no_tool", ["parse_error /calls", "parse_error /calls/0/name"]),
    "an empty name where a call is expected": ([("", {})], "no_graph", ["parse_error /calls/0/name"]),
    "a blank name": ([(" \n", {})], "no_graph", ["parse_error /calls/0/name"]),
    "half a character in a name": ([("f\ud800", {})], "no_graph", ["parse_error /calls/0/name"]),
    "val-025 a tool that nobody offers": ([("FindBooks", {})], "no_graph", []),
    "no call where one is expected": ([], "no_graph", ["parse_error /calls"]),
    "one call of two": ([("f", {})], "multi_call", ["parse_error /calls"]),
    "none of two": ([], "multi_call", ["parse_error /calls", "parse_error /calls"]),
}


@pytest.mark.parametrize(("calls", "kind", "expected"), COUNTS.values(), ids=COUNTS.keys())
def test_there_are_as_many_calls_as_the_kind_wants(calls: list, kind: str, expected: list[str]) -> None:
    assert said(checked(calls, kind)) == expected


NOT_GIVEN: dict[str, tuple[list[tuple[str, dict[Any, Json]]], dict[str, Any], tuple[str, list[str]]]] = {
    "by design": ([], {}, ("unknown", ["golden_not_given /calls"])),
    "and the query is empty": ([], {"query": " "}, ("fail", ["parse_error /query", "golden_not_given /calls"])),
    "and a call is there": ([("f", {})], {}, ("pass", [])),
    "and a call that cannot be read is there": ([], {"provenance": {"golden_not_given": True, "unparsed": [{"text": "{"}]}}, ("fail", ["parse_error /calls/0"])),
    "and no call is expected": ([], {"kind": "no_tool"}, ("pass", [])),
    "as a word": ([], {"provenance": {"golden_not_given": "yes"}}, ("fail", ["parse_error /calls"])),
}  # fmt: skip


@pytest.mark.parametrize(("calls", "fields", "expected"), NOT_GIVEN.values(), ids=NOT_GIVEN.keys())
def test_a_golden_call_that_is_not_given_is_told_and_is_no_fault(
    calls: list[tuple[str, dict[Any, Json]]], fields: dict[str, Any], expected: tuple[str, list[str]]
) -> None:
    check = checked(calls, **{"provenance": {"golden_not_given": True}, **fields})
    assert (check.verdict, said(check)) == expected
