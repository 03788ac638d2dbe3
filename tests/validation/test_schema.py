"""Cases named val-... are measured on published sets and in other projects' issues."""

import json
import time
from typing import Any

import pytest

from familytool.formats.schema import normalise_parameters
from familytool.formats.text import parse_json
from familytool.releases.columns import compact
from familytool.validation.schema import FORMATS, compile_pattern, schema_findings


def properties(**schemas: Any) -> dict[str, Any]:
    return {"type": "object", "properties": schemas}


def faults(schema: dict[str, Any], arguments: Any) -> list[str]:
    """Code and place of each finding, after the schema was read as a document's schema is read."""
    found = schema_findings(normalise_parameters(schema)[0], arguments, "")
    assert found is not None
    return [f"{finding.code} {finding.path}" for finding in found]


NUMBERS = properties(n={"type": "integer"}, x={"type": "number"})
CLOCK = properties(t={"format": "HH:MM"})
SENTINEL = properties(
    genre={"type": "string", "enum": ["War", "Drama"], "default": "dontcare"}, kind={"type": "string", "enum": ["a", "b"]}
)
ALL_OF = {"type": "object", "allOf": [{"properties": {"a": {"type": "integer"}}}], "properties": {"b": {"type": "integer"}}}
ONE_OF = {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {}, "b": {}}}
PATTERNS = properties(y={"type": "string", "pattern": "^\\d{4}$"}, z={"type": "string", "pattern": "\\d{4}"})
NULLS = properties(
    a={"type": "string", "default": None}, b={"type": "string"}, c={"type": ["string", "null"]}, d={"type": "string", "nullable": True}
)
FLOATS = {"type": "dict", "properties": {"v": {"type": "array", "items": {"type": "float"}}}}

CASES: dict[str, tuple[dict[str, Any], Any, list[str]]] = {
    "val-001 a boolean is neither an integer nor a number": (NUMBERS, {"n": True, "x": False}, ["type_mismatch /n", "type_mismatch /x"]),
    "val-001 one and zero are": (NUMBERS, {"n": 1, "x": 0}, []),
    "1.0 is an integer, as JSON Schema says": (NUMBERS, {"n": 1.0}, []),
    "1.5 is none": (NUMBERS, {"n": 1.5}, ["type_mismatch /n"]),
    "val-003 integers in an array of numbers": (FLOATS, {"v": [12, 15.5, -3]}, []),
    "val-003 a text in an array of numbers": (FLOATS, {"v": [12, "15.5"]}, ["item_mismatch /v/1"]),
    "val-005 half past nine": (CLOCK, {"t": "09:30"}, []),
    "val-005 the last minute": (CLOCK, {"t": "23:59"}, []),
    "val-005 hour 24": (CLOCK, {"t": "24:00"}, ["format_mismatch /t"]),
    "val-005 one digit": (CLOCK, {"t": "9:30"}, ["format_mismatch /t"]),
    "val-005 minute 61": (CLOCK, {"t": "25:61"}, ["format_mismatch /t"]),
    "val-005 seconds": (CLOCK, {"t": "09:30:00"}, ["format_mismatch /t"]),
    "val-005 other digits": (CLOCK, {"t": "\u0660\u0669:30"}, ["format_mismatch /t"]),
    "val-007 a format that nobody knows": (properties(d={"type": "string", "format": "datetime"}), {"d": "whatever"}, []),
    "val-007 coordinates": (properties(c={"type": "string", "format": "coordinate"}), {"c": "1,2"}, []),
    "val-011 the document's own default": (SENTINEL, {"genre": "dontcare"}, []),
    "val-011 the same word where it is no default": (SENTINEL, {"kind": "dontcare"}, ["not_in_enum /kind"]),
    "val-013 a parameter of allOf": (ALL_OF, {"a": 1, "b": 2}, []),
    "val-013 a parameter of nobody": (ALL_OF, {"a": 1, "c": 2}, ["unknown_parameter "]),
    "one of two": (ONE_OF, {"a": 1}, []),
    "both of one of two": (ONE_OF, {"a": 1, "b": 1}, ["item_mismatch "]),
    "val-015 four digits": (PATTERNS, {"y": "2024"}, []),
    "val-015 a trailing newline": (PATTERNS, {"y": "2024\n"}, ["pattern_mismatch /y"]),
    "val-015 Arabic-Indic digits": (PATTERNS, {"y": "\u0662\u0660\u0662\u0664"}, ["pattern_mismatch /y"]),
    "val-015 a pattern is searched": (PATTERNS, {"z": "in 2024!"}, []),
    "val-017 null as the default": (NULLS, {"a": None}, []),
    "val-017 null for a text": (NULLS, {"b": None}, ["type_mismatch /b"]),
    "val-017 null among the types": (NULLS, {"c": None}, []),
    "val-017 nullable": (NULLS, {"d": None}, []),
    "val-017 nothing at all": (NULLS, {}, []),
    "val-023 a large integer": (properties(id={"type": "integer"}), {"id": 12345678901234567890}, []),
    "a date that is none": (properties(d={"format": "date"}), {"d": "2025-02-30"}, ["format_mismatch /d"]),
    "a date without hyphens": (properties(d={"format": "date"}), {"d": "20250228"}, ["format_mismatch /d"]),
    "several faults in the order of their places": (
        {**properties(a={"type": "string"}, b={"type": "integer"}), "required": ["c", "a"]}, {"z": 1, "b": "x"},
        ["missing_required ", "missing_required ", "unknown_parameter ", "type_mismatch /b"],
    ),
    "a name with a slash": (properties(**{"a/b~c": {"type": "string"}}), {"a/b~c": 1}, ["type_mismatch /a~1b~0c"]),
    "deep inside": (
        properties(o={"type": "object", "properties": {"l": {"type": "array", "items": {"type": "integer"}}}}), {"o": {"l": [1, "2"]}}, ["item_mismatch /o/l/1"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "arguments", "expected"), CASES.values(), ids=CASES.keys())
def test_arguments_are_held_against_the_schema_as_tool_documents_mean_it(schema: dict, arguments: Any, expected: list[str]) -> None:
    assert faults(schema, arguments) == expected


def test_the_message_of_a_wrong_time_says_which_form_is_expected() -> None:
    found = schema_findings(CLOCK, {"t": "25:61"}, "")
    assert found is not None
    assert "HH:MM" in found[0].message


def test_a_large_integer_is_stored_and_read_back_digit_for_digit() -> None:
    assert compact(parse_json('{"id": 12345678901234567890}')) == '{"id":12345678901234567890}'


def test_an_absent_parameter_and_a_null_one_stay_different() -> None:
    assert compact(json.loads('{"a":null}')) != compact(json.loads("{}"))


CATASTROPHIC = [
    r"^(a+)+$", r"^(a*)*$", r"^(a|aa)+$", r"(x+x+)+y", r"^(([a-z])+.)+[A-Z]([a-z])+$", r"^(\w+\s?)*$", r"(a|a?)+$", r"^(a{1,}){2,}$",
    r"^.*.*.*.*.*.*x$", r"^((ab)*)*$", r"^(?:a+){3,}$",
]  # fmt: skip


@pytest.mark.parametrize("pattern", CATASTROPHIC)
def test_a_pattern_that_could_take_exponential_time_is_not_run(pattern: str) -> None:
    assert compile_pattern(pattern) is None
    begun = time.monotonic()
    assert faults(properties(p={"type": "string", "pattern": pattern}), {"p": "a" * 60 + "!"}) == []
    assert time.monotonic() - begun < 1


HARMLESS = [r"^\d{4}-\d{2}-\d{2}$", r"^[A-Z]{2}\d+$", r"^(red|green|blue)$", r"^\+?[0-9 ]{6,15}$", r"\(\d+\)", r"^[a-z]+(-[a-z]+)?$"]


@pytest.mark.parametrize("pattern", HARMLESS)
def test_the_patterns_of_real_documents_are_run(pattern: str) -> None:
    assert compile_pattern(pattern) is not None
    assert faults(properties(p={"type": "string", "pattern": pattern}), {"p": "!"}) == ["pattern_mismatch /p"]


NOT_FOR_PYTHON = {
    "Unicode class": r"^\p{L}+$",
    "named group": r"(?<year>\d{4})",
    "broken": "(",
    "too long": "a" * 600,
    "huge": "a{999999999999}",
}


@pytest.mark.parametrize("pattern", NOT_FOR_PYTHON.values(), ids=NOT_FOR_PYTHON.keys())
def test_a_pattern_that_python_cannot_run_refuses_nothing(pattern: str) -> None:
    assert compile_pattern(pattern) is None
    assert faults(properties(p={"type": "string", "pattern": pattern}), {"p": "x"}) == []


UNUSABLE = {
    "an address": {"$ref": "https://example.org/schema.json"},
    "nowhere": {"$ref": "#/$defs/none"},
    "a type of another language": {"properties": {"a": {"type": "dict"}}},
    "a type that is a number": {"properties": {"a": {"type": 3}}},
    "itself": {"$ref": "#"},
}


@pytest.mark.parametrize("schema", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_a_schema_that_cannot_be_used_is_none_and_nothing_is_fetched(schema: dict) -> None:
    assert schema_findings(schema, {"a": {}}, "") is None


VALUES = {
    "date": (["2024-02-29"], ["2023-02-29", "2024-2-9", "24-02-29", "2024-02-29T00:00"]),
    "time": (["09:30", "23:59:59", "09:30:00Z", "09:30+02:00"], ["24:00", "9:30", "09:60"]),
    "date-time": (["2024-02-29T09:30:00Z", "2024-02-29t09:30:00+01:00"], ["2024-02-29", "2024-02-30T09:30:00Z", "soon"]),
    "email": (["ann@example.org"], ["ann", "ann@", "@example.org", "ann @example.org"]),
    "HH:MM": (["00:00", "23:59"], ["24:00", "1:00", "01:0", "01:00 pm"]),
}


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_takes_its_values_and_no_others(name: str) -> None:
    right, wrong = VALUES[name]
    schema = properties(v={"type": "string", "format": name})
    assert [value for value in right if faults(schema, {"v": value})] == []
    assert [value for value in wrong if not faults(schema, {"v": value})] == []
