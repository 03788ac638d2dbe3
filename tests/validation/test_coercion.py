"""Values that have only the wrong JSON type are marked as such, and converted only where somebody asks for it."""

import copy
import json
from typing import Any

import pytest

from familytool.formats.schema import normalise_parameters
from familytool.model import Json
from familytool.validation.coercion import coerced
from familytool.validation.schema import schema_findings


def normal(**properties: Json) -> dict[str, Json]:
    return normalise_parameters({"type": "object", "properties": properties})[0]


WEEKDAYS = {"type": "array", "items": {"type": "string", "enum": ["weekdays", "weekends"]}}
LIST = {"type": "array", "items": {"type": "integer"}}
NOTHING = "no conversion"

CONVERSIONS: dict[str, tuple[Json, Json, Json]] = {
    # id: (schema of the parameter, value, value that it would become)
    "val-019 an integer": ({"type": "integer"}, "2", 2),
    "val-019 a truth value": ({"type": "boolean"}, "True", True),
    "val-019 a text": ({"type": "string"}, 9, "9"),
    "val-019 an integer of any size": ({"type": "integer"}, "12345678901234567890", 12345678901234567890),
    "a negative integer": ({"type": "integer"}, "-3", -3),
    "an integer with a point": ({"type": "integer"}, "2.0", 2),
    "a number": ({"type": "number"}, "2.50", 2.5),
    "a number without a point": ({"type": "number"}, "2", 2),
    "a number with an exponent": ({"type": "number"}, "1e3", 1000.0),
    "a truth value in small letters": ({"type": "boolean"}, "false", False),
    "a text for a number with a point": ({"type": "string"}, 2.0, "2.0"),
    "a text for a truth value": ({"type": "string"}, True, "true"),
    "nothing": ({"type": ["integer", "null"]}, "None", None),
    "the first of several types": ({"type": ["integer", "boolean"]}, "1", 1),
    "the second of several types": ({"type": ["integer", "boolean"]}, "true", True),
    "one of several schemas": ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, "7", 7),
    "a text for a list": (WEEKDAYS, "weekdays", ["weekdays"]),
    "a number for a list": (LIST, 3, [3]),
    "a list as JSON": (LIST, "[1, 2]", [1, 2]),
    "a list as Python writes it": ({"type": "array", "items": {"type": "string"}}, "['a', 'b']", ["a", "b"]),
    "an object as JSON": ({"type": "object", "properties": {"a": {"type": "integer"}}}, '{"a": 1}', {"a": 1}),
    "a member of another type": ({"enum": [1, 2]}, "2", 2),
    "a member that is a text": ({"enum": ["1", "2"]}, 2, "2"),
    "a member that is a truth value": ({"enum": [True, "x"]}, "True", True),
    "one value of another type": ({"const": 5}, "5", 5),
    "within its limits": ({"type": "integer", "maximum": 5}, "5", 5),
    "outside its limits": ({"type": "integer", "maximum": 5}, "6", NOTHING),
    "none of the members": ({"type": "integer", "enum": [1]}, "2", NOTHING),
    "a text for a list that does not take it": (WEEKDAYS, "daily", NOTHING),
    "a text for a list of numbers": (LIST, "x", NOTHING),
    "an object for a list": (LIST, {"a": 1}, NOTHING),
    "a list for an integer": ({"type": "integer"}, ["2"], NOTHING),
    "a true for an integer": ({"type": "integer"}, True, NOTHING),
    "a fraction for an integer": ({"type": "integer"}, 2.5, NOTHING),
    "a text with a fraction for an integer": ({"type": "integer"}, "2.5", NOTHING),
    "leading zeros": ({"type": "integer"}, "007", NOTHING),
    "a space": ({"type": "integer"}, " 2", NOTHING),
    "a thousand with a comma": ({"type": "integer"}, "1,000", NOTHING),
    "digits of another script": ({"type": "integer"}, "\u0662", NOTHING),
    "words": ({"type": "integer"}, "two", NOTHING),
    "an overflow": ({"type": "number"}, "1e999", NOTHING),
    "no number": ({"type": "number"}, "NaN", NOTHING),
    "a yes": ({"type": "boolean"}, "yes", NOTHING),
    "a 1 for a truth value": ({"type": "boolean"}, 1, NOTHING),
    "nothing for a text": ({"type": "string"}, None, NOTHING),
    "a list as a text for a text": ({"type": "string"}, [1], NOTHING),
    "a list that is cut off": (LIST, "[1, 2", NOTHING),
    "a list that is code": (LIST, "[__import__('os')]", NOTHING),
    "a list with a key twice": ({"type": "object"}, '{"a": 1, "a": 2}', NOTHING),
    "another format": ({"type": "string", "format": "date"}, 20250603, NOTHING),
}


@pytest.mark.parametrize(("schema", "value", "new"), CONVERSIONS.values(), ids=CONVERSIONS.keys())
def test_a_failure_that_another_type_would_mend_is_marked_with_the_value(schema: Json, value: Json, new: Json) -> None:
    parameters, arguments = normal(x=schema), {"x": value}
    before = copy.deepcopy((parameters, arguments))
    found = schema_findings(parameters, arguments, "")
    assert found
    changed, changes = coerced(parameters, arguments)
    if new == NOTHING:
        assert not [finding.hint for finding in found if finding.hint.startswith("coercible")]
        assert (changed, changes) == (arguments, [])
    else:
        assert [finding.hint for finding in found] == [f"coercible: {json.dumps(new)}"]
        assert (json.dumps(changed), changes) == (json.dumps({"x": new}), [("/x", value, new)])
        assert schema_findings(parameters, changed, "") == []
    assert (parameters, arguments) == before


def test_what_conforms_is_never_converted() -> None:
    parameters = normal(s={"type": "string"}, u={}, n={"type": ["string", "integer"]})
    arguments = {"s": "2", "u": "2", "n": "2"}
    assert coerced(parameters, arguments) == (arguments, [])


def test_values_are_converted_at_any_depth_and_told_in_order() -> None:
    parameters = normal(o={"type": "object", "properties": {"l/m": {"type": "array", "items": {"type": "integer"}}}}, b={"type": "boolean"})
    arguments = {"o": {"l/m": ["1", 2, "x", "3"]}, "b": "True"}
    changed, changes = coerced(parameters, arguments)
    assert changed == {"o": {"l/m": [1, 2, "x", 3]}, "b": True}
    assert sorted(changes) == [("/b", "True", True), ("/o/l~1m/0", "1", 1), ("/o/l~1m/3", "3", 3)]


def test_other_faults_stay_as_they_are() -> None:
    parameters = normal(n={"type": "integer"}, m={"type": "integer"})
    assert coerced(parameters, {"n": "2", "m": "x", "zzz": 1})[0] == {"n": 2, "m": "x", "zzz": 1}


@pytest.mark.parametrize("schema", [{"$ref": "#/$defs/none"}, {"type": "dict"}, {"properties": 3}], ids=str)
def test_nothing_is_converted_by_a_schema_that_cannot_be_used(schema: Any) -> None:
    assert coerced(schema, {"x": "2"}) == ({"x": "2"}, [])
