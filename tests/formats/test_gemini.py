from typing import Any

import pytest

from familytool.formats import gemini
from familytool.formats.gemini_schema import MAX_NODES
from familytool.formats.schema import normalise_parameters
from familytool.model import Tool, canonical


def read(parameters: Any, **more: Any) -> Tool:
    value = {"tools": [{"functionDeclarations": [{"name": "f", "description": "d", "parameters": parameters, **more}]}]}
    [tool] = gemini.read_tools([("a.json", value)], [])
    return tool


def made(schema: dict[str, Any], **root: Any) -> Tool:
    parameters = {"type": "object", "properties": {"a": schema}, **root}
    return Tool(name="f", description="d", parameters=normalise_parameters(parameters)[0])


def written(tool: Tool) -> dict[str, Any]:
    [[value]] = gemini.write_tools([tool])
    declaration: dict[str, Any] = value["functionDeclarations"][0]
    return declaration


READ: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "an upper-case type": ({"type": "INTEGER"}, {"type": "integer"}, False),
    "a type that may be null": ({"type": "STRING", "nullable": True}, {"type": ["string", "null"]}, False),
    "not null": ({"type": "STRING", "nullable": False}, {"type": "string"}, False),
    "an enum that may be null": (
        {"type": "STRING", "format": "enum", "enum": ["x"], "nullable": True},
        {"type": ["string", "null"], "enum": ["x", None]},
        False,
    ),
    "branches that may be null": ({"anyOf": [{"type": "NUMBER"}], "nullable": True}, {"anyOf": [{"type": "number"}, {"type": "null"}]}, False),
    "a count as text": ({"type": "ARRAY", "items": {"type": "STRING"}, "maxItems": "3"}, {"type": "array", "items": {"type": "string"}, "maxItems": 3}, False),
    "no text for a count": ({"type": "ARRAY", "maxItems": "many"}, {"type": "array"}, True),
    "an unspecified type": ({"type": "TYPE_UNSPECIFIED"}, {}, True),
    "a lower-case type": ({"type": "string"}, {"type": "string"}, False),
    "names of the Python client": ({"any_of": [{"type": "NULL"}]}, {"anyOf": [{"type": "null"}]}, False),
    "nullable is a text": ({"type": "STRING", "nullable": "yes"}, {"type": "string"}, True),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "expected", "is_repair"), READ.values(), ids=READ.keys())
def test_a_gemini_schema_is_read_as_json_schema_and_only_repairs_are_noted(schema: Any, expected: Any, is_repair: bool) -> None:
    tool = read({"type": "OBJECT", "properties": {"a": schema}})
    assert tool.parameters == {"type": "object", "properties": {"a": expected}, "additionalProperties": False}
    assert bool(tool.notes) == is_repair


def test_the_ordering_puts_the_properties_in_order() -> None:
    properties = {"b": {"type": "STRING"}, "a": {"type": "STRING"}, "c": {"type": "STRING"}}
    tool = read({"type": "OBJECT", "properties": properties, "propertyOrdering": ["a", "b", "zz"]})
    assert list(tool.parameters["properties"]) == ["a", "b", "c"]
    assert [note.split(":")[0] for note in tool.notes] == ["#/propertyOrdering"] * 2


def test_plain_json_schema_beside_the_schema_of_gemini_is_read_as_such() -> None:
    plain = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}}
    tool = read(None, parametersJsonSchema=plain)
    assert tool.parameters == {**plain, "additionalProperties": False}


WRITTEN: dict[str, tuple[dict[str, Any], dict[str, Any], int]] = {
    "may be null": ({"type": ["integer", "null"]}, {"type": "INTEGER", "nullable": True}, 0),
    "an enum with null": ({"type": ["string", "null"], "enum": ["x", None]}, {"type": "STRING", "nullable": True, "enum": ["x"]}, 0),
    "an enum that forbids null": ({"type": ["string", "null"], "enum": ["x"]}, {"type": "STRING", "enum": ["x"]}, 0),
    "an enum of numbers": ({"type": "integer", "enum": [1, 2]}, {"type": "INTEGER"}, 1),
    "several types": ({"type": ["string", "integer"]}, {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}, 1),
    "one of": ({"oneOf": [{"type": "string"}]}, {"anyOf": [{"type": "STRING"}]}, 1),
    "lost keywords": ({"type": "number", "multipleOf": 2, "exclusiveMinimum": 0, "x-unit": "m"}, {"type": "NUMBER"}, 3),
    "a closed part": ({"type": "object", "properties": {}, "additionalProperties": False}, {"type": "OBJECT", "properties": {}}, 1),
    "a map": ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "OBJECT"}, 1),
    "a reference": ({"$ref": "#/$defs/S", "description": "e"}, {"type": "STRING", "description": "e"}, 1),
    "a reference to another file": ({"$ref": "http://127.0.0.1:9/x"}, {}, 1),
    "a reference to nothing": ({"$ref": "#/$defs/none"}, {}, 1),
}


@pytest.mark.parametrize(("schema", "expected", "lost"), WRITTEN.values(), ids=WRITTEN.keys())
def test_what_gemini_cannot_hold_is_not_written_and_named_among_the_losses(schema: Any, expected: Any, lost: int) -> None:
    tool = made(schema, **{"$defs": {"S": {"type": "string", "description": "d"}}})
    assert written(tool)["parameters"] == {"type": "OBJECT", "properties": {"a": expected}, "propertyOrdering": ["a"]}
    losses = gemini.losses(tool)
    assert len(losses) == lost
    assert all(loss.startswith("#/properties/a") for loss in losses)


def test_nothing_that_gemini_refuses_is_ever_written() -> None:
    tree = {"type": "object", "properties": {"up": {"$ref": "#/$defs/T"}, "$ref": {"type": "string"}}, "additionalProperties": False}
    tool = made({"$ref": "#/$defs/T"}, **{"$defs": {"T": tree}, "additionalProperties": True})
    declaration = written(tool)
    inner = declaration["parameters"]["properties"]["a"]
    assert inner["properties"] == {"up": {}, "$ref": {"type": "STRING"}}  # a property may be called $ref
    assert "$defs" not in canonical(declaration) and "additionalProperties" not in canonical(declaration)
    assert any("circular" in loss for loss in gemini.losses(tool))
    assert any("#: additionalProperties" in loss for loss in gemini.losses(tool))


def nodes(schema: Any) -> int:
    """How many schemas a written schema has in it."""
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", []), *([schema["items"]] if "items" in schema else [])]
    return 1 + sum(map(nodes, inner))


DOUBLING: dict[str, dict[str, Any]] = {
    "properties": {f"d{n}": {"properties": {p: {"$ref": f"#/$defs/d{n + 1}"} for p in "xy"}} for n in range(30)},
    "branches": {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)},
    "items and properties": {
        f"d{n}": {"items": {"$ref": f"#/$defs/d{n + 1}"}, "properties": {"x": {"$ref": f"#/$defs/d{n + 1}"}}} for n in range(30)
    },
}


@pytest.mark.parametrize("defs", DOUBLING.values(), ids=DOUBLING.keys())
def test_references_that_double_at_every_step_become_a_bounded_number_of_schemas(defs: dict[str, Any]) -> None:
    tool = made({"$ref": "#/$defs/d0"}, **{"$defs": {**defs, "d30": {"type": "string"}}})
    assert MAX_NODES / 4 < nodes(written(tool)["parameters"]) < 2 * MAX_NODES  # in full they would be more than two to the thirtieth
    losses = gemini.losses(tool)
    assert len(losses) < 2 * MAX_NODES
    assert any("is not written" in loss for loss in losses)


def test_a_tool_without_parameters_is_written_without_them() -> None:
    assert written(Tool(name="f", description="d", parameters=normalise_parameters(None)[0])) == {"name": "f", "description": "d"}


def test_a_response_is_read_and_written() -> None:
    tool = read(None, response={"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}})
    assert tool.response == {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert written(tool)["response"] == {"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}, "propertyOrdering": ["n"]}


def test_what_gemini_runs_itself_is_counted_out() -> None:
    rejected: list[str] = []
    value = [{"googleSearch": {}}, {"functionDeclarations": [{"name": "f"}]}]
    assert gemini.looks_like(value)
    assert [t.name for t in gemini.read_tools([("a.json", value)], rejected)] == ["f"]
    assert len(rejected) == 1
