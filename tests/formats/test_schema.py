import copy
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from familytool.formats.schema import normalise_parameters
from familytool.formats.text import TextError, parse_json
from familytool.validation.schema import schema_findings


def normal(properties: dict[str, Any], *required: str) -> tuple[dict[str, Any], list[str]]:
    return normalise_parameters({"type": "dict", "properties": properties, "required": list(required)})


def codes(schema: dict[str, Any], arguments: Any) -> list[tuple[str, str]]:
    return [(finding.code, finding.path) for finding in schema_findings(schema, arguments, "") or []]


def test_types_of_other_languages_become_json_types_with_a_note_for_each_and_the_raw_document_stays() -> None:
    raw = {"type": "dict", "properties": {"n": {"type": "int"}, "x": {"type": "float"}, "ok": {"type": "bool"}}, "required": ["n"]}
    before = copy.deepcopy(raw)
    schema, notes = normalise_parameters(raw)
    assert raw == before
    assert schema["type"] == "object"
    assert {name: p["type"] for name, p in schema["properties"].items()} == {"n": "integer", "x": "number", "ok": "boolean"}
    assert schema["required"] == ["n"]
    assert notes == [
        "#: type 'dict' read as object",
        "#/properties/n: type 'int' read as integer",
        "#/properties/x: type 'float' read as number",
        "#/properties/ok: type 'bool' read as boolean",
    ]


def test_a_tuple_is_an_array_that_keeps_its_items() -> None:
    schema, notes = normal({"p": {"type": "tuple", "items": {"type": "float"}}}, "p")
    assert schema["properties"]["p"] == {"type": "array", "items": {"type": "number"}}
    assert "#/properties/p: type 'tuple' read as array" in notes
    assert codes(schema, {"p": [1, 2.5]}) == []


def test_a_required_name_that_is_not_declared_is_added_without_a_type() -> None:
    schema, notes = normal({"artist": {"default": "dontcare"}}, "song_name")
    assert "#/required: required parameter song_name is not declared; added without a type" in notes
    assert codes(schema, {"song_name": "x"}) == []
    assert codes(schema, {}) == [("missing_required", "")]
    assert [code for code, _ in codes(schema, {"song_name": "x", "zzz": 1})] == ["unknown_parameter"]


@pytest.mark.parametrize("parameters", [None, {}, {"type": "object"}, {"type": "object", "properties": {}}], ids=str)
def test_a_tool_without_parameters_takes_none_and_refuses_any(parameters: Any) -> None:
    schema, notes = normalise_parameters(parameters)
    assert schema["type"] == "object"
    assert schema["properties"] == {}
    assert codes(schema, {}) == []
    assert [code for code, _ in codes(schema, {"x": 1})] == ["unknown_parameter"]
    assert bool(notes) == (not parameters)


def test_an_empty_enum_restricts_nothing_and_a_foreign_list_of_options_is_no_enum() -> None:
    schema, notes = normal({"e": {"type": "string", "enum": []}, "o": {"type": "string", "options": ["a", "b"]}})
    assert schema["properties"]["e"] == {"type": "string"}
    assert "enum" not in schema["properties"]["o"]
    assert any("#/properties/e/enum" in note for note in notes)
    assert codes(schema, {"e": "x", "o": "c"}) == []


def test_a_key_that_occurs_twice_is_never_read_as_its_last_value() -> None:
    with pytest.raises(TextError, match="the key 'a' occurs twice"):
        parse_json('{"name": "f", "arguments": {"a": 1, "a": 2}}')


def test_an_array_default_on_text_items_is_left_out_with_one_warning() -> None:
    schema, notes = normal({"rec": {"type": "array", "items": {"type": "string", "default": ["today"]}}})
    assert [note for note in notes if "default" in note] == [
        "#/properties/rec/items: default list ['today'] is an array, the values are of type string; the default is left out"
    ]
    assert schema["properties"]["rec"] == {"type": "array", "items": {"type": "string"}}
    assert codes(schema, {"rec": ["today"]}) == []


def test_properties_in_a_list_are_read_by_their_names() -> None:
    schema, notes = normalise_parameters({"properties": [{"name": "a", "type": "str"}, {"name": "b"}, "c"], "required": ["a"]})
    assert schema["properties"] == {"a": {"type": "string"}, "b": {}}
    assert notes == [
        "#/properties: a list of 3 parameters; read as an object with the names a, b",
        "#/properties/0: type 'str' read as string",
        "#/properties/2: str 'c' has no name; left out",
        "#: no type is given; read as object",
    ]


ODD = {
    "required is a flag": ({"type": "object", "properties": {"a": {"type": "string", "required": True}}}, {"a": {"type": "string"}}),
    "optional": ({"type": "object", "properties": {"a": {"type": "string", "optional": True}}}, {"a": {"type": "string"}}),
    "unknown type": ({"type": "object", "properties": {"a": {"type": "any"}}}, {"a": {}}),
    "type with capital": ({"type": "object", "properties": {"a": {"type": "String"}}}, {"a": {"type": "string"}}),
    "list of types": ({"type": "object", "properties": {"a": {"type": ["int", "null"]}}}, {"a": {"type": ["integer", "null"]}}),
    "text instead of a schema": ({"type": "object", "properties": {"a": "the name"}}, {"a": {}}),
    "a property called type": ({"type": "object", "properties": {"type": {"type": "int"}}}, {"type": {"type": "integer"}}),
}


@pytest.mark.parametrize(("parameters", "expected"), ODD.values(), ids=ODD.keys())
def test_an_odd_schema_becomes_a_valid_one_with_a_note(parameters: dict[str, Any], expected: dict[str, Any]) -> None:
    schema, notes = normalise_parameters(parameters)
    assert schema["properties"] == expected
    assert notes
    jsonschema.Draft202012Validator.check_schema(schema)


def test_a_document_that_leaves_its_schema_open_keeps_it_open() -> None:
    schema, _ = normalise_parameters({"type": "object", "properties": {}, "additionalProperties": True})
    assert codes(schema, {"x": 1}) == []


def test_a_schema_that_is_combined_is_closed_around_all_its_parts() -> None:
    schema, _ = normalise_parameters({"type": "object", "allOf": [{"properties": {"a": {"type": "int"}}}]})
    assert codes(schema, {"a": 1}) == []
    assert [code for code, _ in codes(schema, {"a": 1, "b": 2})] == ["unknown_parameter"]


def test_a_schema_that_is_nested_too_deep_is_an_error() -> None:
    deep: dict[str, Any] = {"type": "object"}
    for _ in range(50):
        deep = {"type": "object", "properties": {"a": deep}}
    with pytest.raises(ValueError, match="nested deeper"):
        normalise_parameters(deep)


UNUSABLE = {
    "anyOf is a number": {"anyOf": 5},
    "multiple of nothing": {"multipleOf": 0},
    "reference is a list": {"$ref": []},
    "reference leads nowhere": {"$ref": "#/$defs/none"},
    "reference to itself": {"$ref": "#/properties/a"},
}


@pytest.mark.parametrize("odd", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_a_schema_that_no_validator_can_use_is_told_from_one_that_is_broken(odd: dict[str, Any]) -> None:
    schema, _ = normal({"a": odd})
    assert schema_findings(schema, {"a": 1}, "") is None


@pytest.mark.parametrize("odd", [{"enum": 5}, {"minimum": "x"}, {"pattern": 3}, {"minItems": -1}, {"uniqueItems": 1}], ids=str)
def test_a_keyword_with_a_value_of_the_wrong_kind_is_left_out_with_a_note(odd: dict[str, Any]) -> None:
    schema, notes = normal({"a": odd})
    assert schema["properties"]["a"] == {}
    assert any("left out" in note for note in notes)


KEYWORDS = st.sampled_from(
    [
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "default",
        "anyOf",
        "additionalProperties",
        "$ref",
        "format",
        "pattern",
        "minimum",
        "a",
    ]
)
ATOMS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["int", "string", "dict", "a", "#"])
SCHEMAS = st.recursive(ATOMS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=4), max_leaves=12)


@given(st.dictionaries(KEYWORDS, SCHEMAS, max_size=5))
def test_no_document_breaks_the_reader_or_the_check(parameters: dict[str, Any]) -> None:
    before = copy.deepcopy(parameters)
    try:
        schema, _ = normalise_parameters(parameters)
    except ValueError as error:
        assert str(error)
    else:
        schema_findings(schema, {"a": 1}, "")
    assert parameters == before


REPAIRS = {
    "imp-001 a type of another language": ({"type": "dict"}, "#/properties/a: type 'dict' read as object"),
    "an unknown type": ({"type": "Money"}, "#/properties/a: type 'Money' is unknown; read as 'anything'"),
    "a type that is no name": ({"type": {"of": 1}}, "#/properties/a: type dict {'of': 1} is unknown; read as 'anything'"),
    "types without a name": ({"type": []}, "#/properties/a: type list [] names none; read as 'anything'"),
    "two names of one type": ({"type": ["str", "string"]}, "#/properties/a: type list ['str', 'string'] read as string"),
    "no schema": (7, "#/properties/a: int 7 where a schema belongs; read as 'anything'"),
    "a list of schemas": ({"items": [{}, {}]}, "#/properties/a/items: a list of 2 schemas; read as prefixItems"),
    "a flag": ({"required": True}, "#/properties/a/required: bool True is no list of names; left out"),
    "a flag of another name": ({"optional": True}, "#/properties/a/optional: bool True is no JSON Schema; left out, the list of required names decides"),
    "a required number": ({"required": ["b", 3]}, "#/properties/a/required/1: int 3 is no name; left out"),
    "required twice": ({"required": ["b", "b"]}, "#/properties/a/required/1: 'b' stands there twice; kept once"),
    "an enum of nothing": ({"enum": []}, "#/properties/a/enum: an empty list restricts nothing; left out"),
    "a limit that is a text": ({"minimum": "1"}, "#/properties/a/minimum: str '1' where a number belongs; left out"),
    "properties that are a text": ({"properties": "b"}, "#/properties/a/properties: str 'b' where properties belong; left out"),
    "a long value": ({"minItems": "x" * 90}, "#/properties/a/minItems: str '" + "x" * 36 + "... where a count belongs; left out"),
    "a name that needs escaping": ({"properties": {"b/c": 1}}, "#/properties/a/properties/b~1c: int 1 where a schema belongs; read as 'anything'"),
    "imp-035 at an integer": (
        {"type": "array", "items": {"type": "int", "default": [1]}},
        "#/properties/a/items: default list [1] is an array, the values are of type integer; the default is left out",
    ),
    "imp-017 a property of Unicode": ({"pattern": r"^\p{L}+$"}, r"#/properties/a/pattern: pattern '^\p{L}+$' is not run here (Unicode classes such as \p{L} are not supported); no value is judged by it"),
    "imp-017 a named group": ({"pattern": r"(?<y>\d{4})"}, r"#/properties/a/pattern: pattern '(?<y>\d{4})' is not run here (named groups are not supported); no value is judged by it"),
    "imp-017 a broken pattern": ({"pattern": "["}, "#/properties/a/pattern: pattern '[' is not run here (it ends too early); no value is judged by it"),
    "imp-017 look-around": ({"pattern": "^(?!null$).+"}, "#/properties/a/pattern: pattern '^(?!null$).+' uses look-around, which providers refuse; it is used here"),
    "imp-017 look-behind": ({"pattern": "(?<=a)b"}, "#/properties/a/pattern: pattern '(?<=a)b' uses look-around, which providers refuse; it is used here"),
    "imp-017 a pattern that could take too long": ({"pattern": "^(a+)+$"}, "#/properties/a/pattern: pattern '^(a+)+$' is not run here (it could take too long); no value is judged by it"),
    "val-007 a misspelt format": ({"format": "datetime"}, "#/properties/a/format: 'datetime' is no known format and is not checked; did you mean 'date-time'?"),
    "val-007 another spelling": ({"format": "Date_Time"}, "#/properties/a/format: 'Date_Time' is no known format and is not checked; did you mean 'date-time'?"),
    "val-007 another word": ({"format": "url"}, "#/properties/a/format: 'url' is no known format and is not checked; did you mean 'uri'?"),
    "val-007 a format of their own": ({"format": "coordinate"}, "#/properties/a/format: 'coordinate' is no known format and is not checked"),
    "val-007 number range": ({"format": "number range"}, "#/properties/a/format: 'number range' is no known format and is not checked"),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "note"), REPAIRS.values(), ids=REPAIRS.keys())
def test_a_note_says_where_what_stood_there_and_what_it_became(schema: Any, note: str) -> None:
    _, notes = normalise_parameters({"type": "object", "properties": {"a": schema}})
    assert note in notes


@pytest.mark.parametrize("pattern", ["^[(?=]$", r"\(?=", "(?:a|b)", "[[a]", r"^\d{4}$", ""])
def test_a_pattern_that_runs_everywhere_is_not_noted(pattern: str) -> None:
    _, notes = normal({"a": {"type": "string", "pattern": pattern}})
    assert notes == ["#: type 'dict' read as object"]


@pytest.mark.parametrize("name", ["date-time", "date", "HH:MM", "uuid", "int32", "email"])
def test_a_format_that_is_known_is_not_noted(name: str) -> None:
    _, notes = normal({"a": {"type": "string", "format": name}})
    assert notes == ["#: type 'dict' read as object"]


@pytest.mark.parametrize(
    ("parameters", "note"),
    [
        ({"properties": {}}, "#: no type is given; read as object"),
        (None, "#: no parameters are given (None); read as a tool without parameters"),
        ({"type": "object", "required": ["b"]}, "#/required: required parameter b is not declared; added without a type"),
    ],
    ids=["no type", "imp-013", "imp-005"],
)
def test_repairs_of_the_whole_are_noted_at_its_root(parameters: Any, note: str) -> None:
    assert normalise_parameters(parameters)[1] == [note]


def test_references_stay_as_they_are_and_nothing_is_fetched() -> None:
    """imp-015: a circle of references stays a reference, so that the schema stays finite; one that leads elsewhere is not followed."""
    circle = {"$ref": "#/$defs/C"}
    declared = {"C": {"type": "object", "properties": {"name": {"type": "string"}, "parent": circle}}}
    schema, notes = normal({"cat": circle, "far": {"$ref": "https://example.org/schema.json#/a"}})
    assert schema["properties"] == {"cat": circle, "far": {"$ref": "https://example.org/schema.json#/a"}}
    schema, notes = normalise_parameters({"type": "object", "properties": {"cat": circle}, "$defs": declared})
    assert (schema["$defs"], notes) == (declared, [])
    assert codes(schema, {"cat": {"name": "a", "parent": {"name": "b"}}}) == []
    assert codes(schema, {"cat": {"parent": {"name": 1}}}) == [("type_mismatch", "/cat/parent/name")]


@given(st.dictionaries(KEYWORDS, SCHEMAS, max_size=5))
def test_a_schema_that_was_normalised_is_normal(parameters: dict[str, Any]) -> None:
    try:
        schema, _ = normalise_parameters(parameters)
    except ValueError:
        return
    assert normalise_parameters(schema)[0] == schema
