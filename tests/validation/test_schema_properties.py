"""What holds for any schema and any arguments: no error, no change, the same findings twice, and the verdict of jsonschema."""

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from familytool.formats.schema import normalise_parameters
from familytool.model import Finding
from familytool.validation.coercion import coerced
from familytool.validation.schema import schema_findings

NAMES = st.sampled_from(["a", "b", "kind"])
LEAVES = st.none() | st.booleans() | st.integers(-3, 6) | st.sampled_from([1.0, 2.5, "", "a", "ab", "2", "True", "[1]", "f.g"])
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6)
TYPES = st.sampled_from(["object", "string", "integer", "number", "boolean", "array", "null", ["string", "null"], ["integer", "array"]])
SMALL = st.integers(0, 3)


def keywords(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    """Each keyword of JSON Schema with values it can have, where it means the same here as in jsonschema."""
    schemas, some = st.dictionaries(NAMES, inner, max_size=3), st.lists(inner, min_size=1, max_size=2)
    return {
        "type": TYPES, "properties": schemas, "required": st.lists(NAMES, max_size=2, unique=True), "additionalProperties": inner,
        "unevaluatedProperties": inner, "unevaluatedItems": inner, "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$"]), inner, max_size=2),
        "propertyNames": inner, "items": inner, "prefixItems": some, "contains": inner, "minContains": SMALL, "maxContains": SMALL,
        "anyOf": some, "oneOf": st.lists(inner, min_size=1, max_size=3), "allOf": some, "not": inner, "if": inner, "then": inner, "else": inner,
        "enum": st.lists(VALUES, min_size=1, max_size=3), "const": VALUES, "minimum": SMALL, "maximum": SMALL, "exclusiveMinimum": SMALL,
        "exclusiveMaximum": SMALL, "multipleOf": st.integers(1, 3), "minLength": SMALL, "maxLength": SMALL, "minItems": SMALL, "maxItems": SMALL,
        "uniqueItems": st.booleans(), "minProperties": SMALL, "maxProperties": SMALL, "pattern": st.sampled_from(["^a", "b$", "^[a-z]+$", "a|2"]),
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=2), "dependentSchemas": schemas,
    }  # fmt: skip


def some_of(choices: dict[str, st.SearchStrategy[Any]], count: int) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with a few of these members."""
    return st.lists(st.sampled_from(sorted(choices)), max_size=count, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: choices[name] for name in names})
    )


PLAIN = some_of(keywords(st.booleans()), 2)
REFERRING = PLAIN | st.booleans() | st.sampled_from([{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/two"}])
STANDARD = st.tuples(some_of(keywords(some_of(keywords(REFERRING), 3) | REFERRING), 4), PLAIN, PLAIN).map(
    lambda parts: {**parts[0], "$defs": {"one": parts[1], "two": parts[2]}}
)


def agrees_with_jsonschema(schema: dict[str, Any], value: Any) -> None:
    """The verdict is jsonschema's on schemas without anything that is read otherwise here; nothing is changed."""
    before = copy.deepcopy((schema, value))
    found = schema_findings(schema, value, "")
    assert found is not None
    assert (found == []) == Draft202012Validator(schema).is_valid(value), found
    assert found == schema_findings(copy.deepcopy(schema), value, "")
    assert (schema, value) == before


WORDS = st.sampled_from(
    ["type", "properties", "required", "items", "enum", "const", "default", "nullable", "anyOf", "oneOf", "allOf", "not", "if", "then", "$ref",
     "$defs", "$id", "$anchor", "$schema", "$dynamicRef", "format", "pattern", "minimum", "multipleOf", "uniqueItems", "additionalProperties",
     "unevaluatedProperties", "patternProperties", "propertyNames", "prefixItems", "contains", "dependentSchemas", "a", "b"]
)  # fmt: skip
ATOMS = LEAVES | st.sampled_from(
    [
        "int",
        "string",
        "dict",
        "object",
        "array",
        "#",
        "#/properties/a",
        "#/$defs/a",
        "#a",
        "https://example.org/x",
        "HH:MM",
        "date",
        "^a+$",
        "(a+)+",
    ]
)
JUNK = st.recursive(ATOMS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4), max_leaves=12)


def never_breaks(schema: dict[str, Any], arguments: Any) -> None:
    """Any JSON as a schema, as it is and after reading, and any arguments: an answer, twice the same, and nothing is changed."""
    readings = [schema]
    try:
        readings.append(normalise_parameters(copy.deepcopy(schema))[0])
    except ValueError as error:
        assert str(error)
    for reading in readings:
        before = copy.deepcopy((reading, arguments))
        found = schema_findings(reading, arguments, "/x")
        again = schema_findings(copy.deepcopy(reading), copy.deepcopy(arguments), "/x")
        assert found == again
        changed, changes = coerced(reading, arguments)
        assert (changed == arguments) or changes
        notes: list[Finding] = []
        assert schema_findings(reading, arguments, "/x", notes=notes) == found
        assert not {note.path for note in notes} & {finding.path for finding in found or [] if finding.code != "missing_required"}
        assert (reading, arguments) == before


slow = settings(suppress_health_check=[HealthCheck.too_slow])


@settings(slow, max_examples=100)
@given(STANDARD, VALUES)
def test_the_verdict_on_a_standard_schema_is_that_of_jsonschema(schema: dict[str, Any], value: Any) -> None:
    agrees_with_jsonschema(schema, value)


@pytest.mark.soak
@settings(slow, max_examples=2_000)
@given(STANDARD, VALUES)
def test_the_verdict_on_a_standard_schema_is_that_of_jsonschema_often(schema: dict[str, Any], value: Any) -> None:
    agrees_with_jsonschema(schema, value)


@settings(slow, max_examples=100)
@given(st.dictionaries(WORDS, JUNK, max_size=5), st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES, max_size=3) | VALUES)
def test_no_schema_and_no_arguments_break_the_check(schema: dict[str, Any], arguments: Any) -> None:
    never_breaks(schema, arguments)


@pytest.mark.soak
@settings(slow, max_examples=2_000)
@given(st.dictionaries(WORDS, JUNK, max_size=5), st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES, max_size=3) | VALUES)
def test_no_schema_and_no_arguments_break_the_check_often(schema: dict[str, Any], arguments: Any) -> None:
    never_breaks(schema, arguments)
