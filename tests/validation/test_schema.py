"""Cases named val-... are measured on published sets and in other projects' issues."""

import json
from typing import Any

import pytest

from familytool.formats.schema import normalise_parameters
from familytool.formats.text import parse_json
from familytool.model import Finding
from familytool.releases.columns import compact
from familytool.validation import validators
from familytool.validation.schema import FORMATS, compile_pattern, schema_findings
from familytool.validation.validators import MAX_KEPT, validators_for


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
BEHIND_REFERENCE = {"type": "object", "$ref": "#/$defs/A", "$defs": {"A": {"properties": {"a": {"type": "integer"}}}}}
NESTED_PARTS = {"type": "object", "anyOf": [{"allOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}]}]}
CONDITION = {
    "type": "object", "properties": {"mode": {}}, "if": {"properties": {"mode": {"const": "a"}}},
    "then": {"properties": {"x": {"type": "integer"}}},
}  # fmt: skip
DEPENDENT = {"type": "object", "properties": {"a": {}}, "dependentSchemas": {"a": {"properties": {"b": {"type": "integer"}}}}}
TWO_OBJECTS = {
    "type": "object",
    "anyOf": [
        {"properties": {"a": {"type": "string"}}, "required": ["a"]},
        {"properties": {"b": {"type": "integer"}}, "required": ["b"]},
    ],
}
ONE_OF = {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {}, "b": {}}}
SHAPES = properties(
    shape={
        "oneOf": [
            {"type": "object", "properties": {"kind": {"const": "disc"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
            {"type": "object", "properties": {"kind": {"const": "box"}, "side": {"type": "number"}}, "required": ["kind", "side"]},
        ]
    }
)
NESTED_SENTINELS = {
    **properties(
        o={"type": "object", "properties": {"k": {"enum": ["a"], "default": "dontcare"}}}, r={"$ref": "#/$defs/K", "default": "dontcare"},
        l={"type": "array", "items": {"enum": ["x"], "default": "all"}}, w={"type": "array", "items": {"enum": ["x"]}, "default": ["any"]},
        n={"type": "integer", "default": "dontcare"},
    ),
    "$defs": {"K": {"enum": ["a"]}},
}  # fmt: skip
CIRCULAR = {
    **properties(cat={"$ref": "#/$defs/C"}),
    "$defs": {"C": {"type": "object", "properties": {"name": {"type": "string"}, "parent": {"$ref": "#/$defs/C"}}}},
}
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
    "val-013 a parameter of nobody": (ALL_OF, {"a": 1, "c": 2}, ["unknown_parameter /c"]),
    "val-013 a wrong type inside allOf leaves the parameter known": (ALL_OF, {"a": "x", "b": 2}, ["type_mismatch /a"]),
    "val-013 inside a reference": (BEHIND_REFERENCE, {"a": "x"}, ["type_mismatch /a"]),
    "val-013 inside allOf inside anyOf": (NESTED_PARTS, {"a": "x", "z": 1}, ["type_mismatch /a", "unknown_parameter /z"]),
    "val-013 inside then": (CONDITION, {"mode": "a", "x": "1"}, ["type_mismatch /x"]),
    "val-013 inside then that does not apply": (CONDITION, {"mode": "b", "x": 1}, ["unknown_parameter /x"]),
    "val-013 of a dependent part": (DEPENDENT, {"a": 1, "b": "x"}, ["type_mismatch /b"]),
    "val-013 of a dependent part that does not apply": (DEPENDENT, {"b": 1}, ["unknown_parameter /b"]),
    "val-013 of the alternative that is not taken": (TWO_OBJECTS, {"a": "x", "b": "y"}, ["unknown_parameter /b"]),
    "val-013 of no alternative": (TWO_OBJECTS, {"a": 1, "c": 1}, ["type_mismatch /a", "unknown_parameter /c"]),
    "val-013 what the document closes itself is closed": (
        {**ALL_OF, "additionalProperties": False}, {"a": 1}, ["unknown_parameter /a"]),
    "one of two": (ONE_OF, {"a": 1}, []),
    "both of one of two": (ONE_OF, {"a": 1, "b": 1}, ["item_mismatch "]),
    "imp-037 neither of one of two": (ONE_OF, {}, ["missing_required "]),
    "an integer or nothing": (properties(x={"anyOf": [{"type": "integer"}, {"type": "null"}]}), {"x": "y"}, ["type_mismatch /x"]),
    "a date or nothing": (properties(x={"anyOf": [{"format": "date", "type": "string"}, {"type": "null"}]}), {"x": "y"}, ["format_mismatch /x"]),
    "a wrong item of several kinds": (
        properties(x={"type": "array", "items": {"anyOf": [{"enum": ["a"]}, {"pattern": "^[0-9]+$"}]}}), {"x": ["a", "b"]}, ["item_mismatch /x/1"]),
    "a text for a list is told once": (
        properties(x={"type": "array", "items": {"type": "string", "anyOf": [{"enum": ["a"]}, {"pattern": "^[0-9]+$"}]}}), {"x": "b"}, ["type_mismatch /x"]),
    "the variant that is named": (SHAPES, {"shape": {"kind": "box", "side": "3"}}, ["type_mismatch /shape/side"]),
    "a variant that nobody knows": (SHAPES, {"shape": {"kind": "star", "side": 3}}, ["not_in_enum /shape/kind"]),
    "19.99 is a multiple of 0.01": (properties(x={"multipleOf": 0.01}), {"x": 19.99}, []),
    "19.999 is none": (properties(x={"multipleOf": 0.01}), {"x": 19.999}, ["out_of_range /x"]),
    "a large multiple": (properties(x={"multipleOf": 1e-300}), {"x": 1e300}, []),
    "a large integer is a multiple of a half": (properties(x={"multipleOf": 0.5}), {"x": 10**4000 + 1}, []),
    "true is not 1": (properties(x={"enum": [1]}), {"x": True}, ["not_in_enum /x"]),
    "1.0 is 1": (properties(x={"enum": [1]}), {"x": 1.0}, []),
    "a text is no number": (properties(x={"const": 1}), {"x": "1"}, ["not_in_enum /x"]),
    "true is not 1 inside either": (properties(x={"const": {"a": [1]}}), {"x": {"a": [True]}}, ["not_in_enum /x"]),
    "1.0 is 1 inside too": (properties(x={"enum": [{"a": [1]}]}), {"x": {"a": [1.0]}}, []),
    "equal items": (properties(x={"uniqueItems": True}), {"x": [{"a": 1}, {"a": 1.0}]}, ["out_of_range /x"]),
    "1 and true are not equal": (properties(x={"uniqueItems": True}), {"x": [1, True, "1", [1], [True]]}, []),
    "val-011 a default inside an object": (NESTED_SENTINELS, {"o": {"k": "dontcare"}}, []),
    "val-011 a default of the items": (NESTED_SENTINELS, {"l": ["all", "x"]}, []),
    "val-011 a default beside a reference": (NESTED_SENTINELS, {"r": "dontcare"}, []),
    "val-011 a default that is a list": (NESTED_SENTINELS, {"w": ["any"]}, []),
    "val-011 a default of another type": (NESTED_SENTINELS, {"n": "dontcare"}, []),
    "val-011 not quite the default": (NESTED_SENTINELS, {"n": "Dontcare"}, ["type_mismatch /n"]),
    "val-011 the items' default is not the list's": (NESTED_SENTINELS, {"l": "all"}, ["type_mismatch /l"]),
    "val-011 a neighbour's default": (NESTED_SENTINELS, {"r": "all"}, ["not_in_enum /r"]),
    "val-011 true is not the default 1": (properties(x={"type": "string", "default": 1}), {"x": True}, ["type_mismatch /x"]),
    "val-017 nullable with an enum": (properties(x={"type": "string", "enum": ["a"], "nullable": True}), {"x": None}, []),
    "val-017 nullable for another value": (properties(x={"type": "string", "nullable": True}), {"x": 1}, ["type_mismatch /x"]),
    "val-017 nullable but not now": (properties(x={"type": "string", "nullable": False}), {"x": None}, ["type_mismatch /x"]),
    "a parameter that is never allowed": (properties(x=False), {"x": 1}, ["unknown_parameter /x"]),
    "another name than is permitted": ({"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "additionalProperties": True}, {"A b": 1}, ["unknown_parameter /A b"]),
    "a pattern of names": ({"type": "object", "patternProperties": {"^x-": {"type": "integer"}}}, {"x-a": "1", "y": 1}, ["type_mismatch /x-a", "unknown_parameter /y"]),
    "a pattern of names that is not run": ({"type": "object", "patternProperties": {"^(a+)+$": {"type": "integer"}}}, {"x": "1"}, []),
    "$schema of an older draft is no way around our formats": (
        {"$schema": "http://json-schema.org/draft-07/schema#", **properties(c={"$ref": "#"}, t={"format": "HH:MM"})}, {"c": {"t": "9:00"}}, ["format_mismatch /c/t"]),
    "imp-015 a circular reference": (CIRCULAR, {"cat": {"name": "a", "parent": {"name": "b"}}}, []),
    "imp-015 deep in a circular reference": (CIRCULAR, {"cat": {"parent": {"name": 1}}}, ["type_mismatch /cat/parent/name"]),
    "imp-003 a tuple": ({"type": "dict", "properties": {"p": {"type": "tuple", "items": {"type": "float"}}}}, {"p": [1, 2.5]}, []),
    "imp-017 a look-ahead": (properties(b={"pattern": "^(?!null$).+"}), {"b": "null"}, ["pattern_mismatch /b"]),
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
        ["missing_required ", "missing_required ", "type_mismatch /b", "unknown_parameter /z"],
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
    assert "HH:MM expected" in found[0].message


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
    assert faults(properties(p={"type": "string", "pattern": pattern}), {"p": "a" * 60 + "!"}) == []


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
    "time": (
        ["09:30", "23:59:59", "09:30:00Z", "09:30+02:00", "09:30:00.5Z"],
        ["24:00", "9:30", "09:60", "1:00 PM", "09:30 ", "09:30+25:00"],
    ),
    "date-time": (
        ["2024-02-29T09:30:00Z", "2024-02-29t09:30:00+01:00", "2024-02-29T09:30"],
        ["2024-02-29", "2024-02-30T09:30:00Z", "soon", "2024-02-29T", "20240229T0930", "2024-02-29T25:00:00Z"],
    ),
    "email": (
        ["ann@example.org", "a.b+c@mail.example.org", '"a b"@example.org', "ann@localhost", "ann@[127.0.0.1]"],
        ["ann", "ann@", "@example.org", "ann @example.org", "ann@example..org", "ann@.org", "a@b@c", "ann@example.org\n", "x" * 3000],
    ),
    "uri": (["https://example.org/a?b#c", "mailto:ann@example.org", "urn:isbn:1"], ["example.org", "https://a b", "://x", "https:", ""]),
    "uuid": (["123e4567-e89b-12d3-a456-426614174000"], ["123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g"]),
    "ipv4": (["127.0.0.1"], ["127.0.0", "256.0.0.1", "127.0.0.01", "::1"]),
    "ipv6": (["::1", "2001:db8::8a2e:370:7334"], ["127.0.0.1", "::1%eth0", ":::"]),
    "HH:MM": (["00:00", "23:59"], ["24:00", "1:00", "01:0", "01:00 pm"]),
}


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_takes_its_values_and_no_others(name: str) -> None:
    right, wrong = VALUES[name]
    schema = properties(v={"type": "string", "format": name})
    assert [value for value in right if faults(schema, {"v": value})] == []
    assert [value for value in wrong if not faults(schema, {"v": value})] == []


def finding(schema: dict[str, Any], arguments: Any) -> Any:
    """The one finding of these arguments."""
    found = schema_findings(normalise_parameters(schema)[0], arguments, "/a")
    assert found is not None
    assert len(found) == 1, found
    return found[0]


def test_a_missing_parameter_is_told_at_the_object_and_named_as_the_value() -> None:
    found = finding({**properties(o={"type": "object", "required": ["x"]})}, {"o": {}})
    assert (found.code, found.path, found.value) == ("missing_required", "/a/o", "x")


def test_an_unknown_parameter_is_told_at_its_own_place_with_its_value() -> None:
    found = finding(properties(), {"x/y": [1]})
    assert (found.code, found.path, found.value) == ("unknown_parameter", "/a/x~1y", [1])


NEAR = {
    "spaces": ("date_of_journey", "date of journey", "near: date_of_journey"),
    "case": ("dateOfJourney", "date_of_journey", "near: dateOfJourney"),
    "hyphens": ("Content-Type", "content_type", "near: Content-Type"),
    "imp-033 another Unicode form": ("a\u00f1o", "an\u0303o", "differs only in Unicode form from a\u00f1o"),
    "full width": ("city", "\uff43\uff49\uff54\uff59", "near: city"),
    "a zero-width space": ("city", "ci\u200bty", "near: city"),
    "another name": ("date_of_journey", "date", ""),
}


@pytest.mark.parametrize(("declared", "given", "hint"), NEAR.values(), ids=NEAR.keys())
def test_an_unknown_name_that_is_only_written_otherwise_has_a_hint(declared: str, given: str, hint: str) -> None:
    assert finding(properties(**{declared: {}}), {given: 1}).hint == hint


def test_names_that_are_declared_in_parts_are_near_too() -> None:
    schema = {"type": "object", "allOf": [{"$ref": "#/$defs/A"}], "$defs": {"A": {"properties": {"return_date": {}}}}}
    assert finding(schema, {"return date": 1}).hint == "near: return_date"


def test_a_value_of_a_list_that_is_only_written_otherwise_has_a_hint() -> None:
    assert finding(properties(x={"enum": ["IN SIDE", "out"]}), {"x": "in_side"}).hint == "near: IN SIDE"


def test_a_value_that_fits_no_alternative_is_held_against_the_nearest() -> None:
    found = finding(SHAPES, {"shape": {"kind": "box", "side": "big"}})
    assert "nearest of the 2 alternatives: oneOf/1" in found.message


def test_a_value_that_fits_two_alternatives_is_told_which() -> None:
    found = finding(properties(x={"oneOf": [{"type": "integer"}, {"type": "string"}, {"minimum": 1}]}), {"x": 5})
    assert (found.code, found.path) == ("item_mismatch", "/a/x")
    assert "fits 2 alternatives (oneOf/0 and oneOf/2)" in found.message


def noted(schema: dict[str, Any], arguments: Any) -> tuple[list[str], list[str]]:
    """The codes of the findings, and the places of the notes."""
    notes: list[Finding] = []
    found = schema_findings(schema, arguments, "/x", notes=notes)
    assert {note.code for note in notes} <= {"legal_by_default"}
    return [finding.code for finding in found or []], [note.path for note in notes]


def test_values_that_only_the_document_makes_legal_can_be_told() -> None:
    schema = normalise_parameters({**SENTINEL, "properties": {**SENTINEL["properties"], "n": {"type": "string", "nullable": True}}})[0]
    assert noted(schema, {"genre": "dontcare", "kind": "a", "n": None}) == ([], ["/x/genre", "/x/n"])
    assert noted(schema, {"genre": "War", "kind": "dontcare"}) == (["not_in_enum"], [])
    assert noted(schema, {"genre": "dontcare", "kind": "dontcare"}) == (["not_in_enum"], ["/x/genre"])


def test_a_schema_that_is_another_object_with_the_same_content_is_compiled_once() -> None:
    one, other = (normalise_parameters(properties(x={"type": "integer", "description": "a count"}))[0] for _ in range(2))
    assert validators_for(one) is validators_for(other)


def test_the_store_of_validators_stays_bounded_and_right_while_schemas_come_and_go() -> None:
    for number in range(MAX_KEPT + 200):
        assert faults(properties(x={"const": number}), {"x": number}) == []
    assert faults(properties(x={"const": 1}), {"x": 2}) == ["not_in_enum /x"]
    assert len(validators._by_object) <= MAX_KEPT


def test_a_schema_whose_references_multiply_is_given_up() -> None:
    schema = properties(a={"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}, x={"type": "integer"})
    arguments: Any = {"x": "wrong"}
    for _ in range(40):
        arguments = {"a": arguments}
    assert schema_findings(schema, arguments, "") is None


def test_numbers_with_more_digits_than_python_writes_break_nothing() -> None:
    huge = 10**5000
    assert schema_findings(properties(x={"type": "integer"}), {"x": huge}, "") == []
    assert schema_findings(properties(x={"type": "string", "minimum": huge}), {"x": 1}, "") is None
    assert schema_findings(properties(x={"maximum": 5}), {"x": huge}, "") is None
