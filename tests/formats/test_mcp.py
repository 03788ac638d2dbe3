from typing import Any

import pytest

from familytool.formats import mcp
from familytool.model import Tool
from familytool.validation.schema import schema_findings


def read(*records: tuple[str, Any], rejected: list[str] | None = None) -> list[Tool]:
    return list(mcp.read_tools(records, rejected if rejected is not None else []))


def tool_named(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": "d", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}, **more}


def incomplete(tool: Tool) -> bool:
    return any("listing is incomplete" in note and "nextCursor" in note for note in tool.notes)


ENVELOPES = {
    "a JSON-RPC envelope": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool_named("f")]}},
    "a bare result": {"tools": [tool_named("f")]},
    "a list of tools": [tool_named("f")],
    "one tool": tool_named("f"),
    "a batch of envelopes": [{"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool_named("f")]}}],
}


@pytest.mark.parametrize("value", ENVELOPES.values(), ids=ENVELOPES.keys())
def test_a_tool_is_the_same_in_every_envelope(value: Any) -> None:
    assert mcp.looks_like(value)
    [tool] = read(("a.json", value))
    assert (tool.name, tool.description, list(tool.parameters["properties"]), tool.raw) == ("f", "d", ["n"], tool_named("f"))
    assert tool.notes == ()


FIND = {
    "jsonrpc": "2.0",
    "id": 7,
    "result": {
        "tools": [
            {
                "name": "lend",
                "title": "Lend",
                "inputSchema": {
                    "type": "object",
                    "oneOf": [
                        {"properties": {"isbn": {"type": "string"}}, "required": ["isbn"]},
                        {"properties": {"shelf": {"type": "string"}}, "required": ["shelf"]},
                    ],
                },
                "outputSchema": {"type": "object", "properties": {"due": {"type": "string"}}},
                "annotations": {"readOnlyHint": False},
            }
        ],
        "nextCursor": "p2",
    },
}
CALLS: dict[str, tuple[dict[str, Any], bool]] = {
    "the first branch": ({"isbn": "1"}, True),
    "the second branch": ({"shelf": "a"}, True),
    "neither": ({}, False),
    "both": ({"isbn": "1", "shelf": "a"}, False),
    "an unknown parameter": ({"isbn": "1", "title": "x"}, False),
}


@pytest.mark.parametrize(("arguments", "passes"), CALLS.values(), ids=[f"imp-037-{name}" for name in CALLS])
def test_parameters_declared_in_the_branches_of_one_of_are_known(arguments: dict[str, Any], passes: bool) -> None:
    [tool] = read(("a.json", FIND))
    assert (schema_findings(tool.parameters, arguments, "") == []) == passes


def test_a_page_gives_notes_for_what_is_missing_and_a_response_from_its_output_schema_imp_037() -> None:
    [tool] = read(("a.json", FIND))
    assert incomplete(tool)
    assert "/description: none is given; read as empty" in tool.notes
    assert {"/title", "/annotations"} <= {
        note.split(":")[0] for note in tool.notes if note.endswith("no part of the parameters; kept in raw only")
    }
    assert tool.response == FIND["result"]["tools"][0]["outputSchema"]  # type: ignore[index]
    assert tool.description == ""
    assert tool.raw == FIND["result"]["tools"][0]  # type: ignore[index]


def test_a_page_is_complete_where_the_next_one_follows_in_the_same_file() -> None:
    one, two = {"tools": [tool_named("a")], "nextCursor": "x"}, {"tools": [tool_named("b")]}
    assert [incomplete(t) for t in read(("s.jsonl:1", one), ("s.jsonl:2", two))] == [False, False]
    assert [incomplete(t) for t in read(("a.json", one), ("b.json", two))] == [True, False]
    assert [incomplete(t) for t in read(("s.jsonl:1", two), ("s.jsonl:2", one))] == [False, True]


def test_other_messages_of_a_recorded_session_are_counted_out() -> None:
    rejected: list[str] = []
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    [tool] = read(("s.jsonl:1", request), ("s.jsonl:2", FIND), rejected=rejected)
    assert tool.name == "lend"
    assert [r.split(": ")[0] for r in rejected] == ["s.jsonl:1"]


RESPONSES: dict[str, tuple[Any, dict[str, Any]]] = {
    "an array": ({"type": "array", "items": {}}, {"type": "array", "items": {}}),
    "no type": ({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}}),
    "branches": ({"anyOf": [{"type": "null"}]}, {"anyOf": [{"type": "null"}]}),
    "no schema": (5, {}),
}


@pytest.mark.parametrize(("schema", "expected"), RESPONSES.values(), ids=RESPONSES.keys())
def test_a_response_schema_of_any_shape_survives_writing_and_reading(schema: Any, expected: dict[str, Any]) -> None:
    [tool] = read(("a.json", tool_named("f", outputSchema=schema)))
    assert tool.response == expected
    [value] = mcp.write_tools([tool])
    assert [t.response for t in read(("b.json", value))] == [expected]


def test_a_mapping_of_results_is_written_as_the_properties_of_an_object() -> None:
    [value] = mcp.write_tools([Tool(name="f", parameters={"type": "object"}, response={"type": {}, "due": {"type": "string"}})])
    assert value["tools"][0]["outputSchema"] == {"type": "object", "properties": {"type": {}, "due": {"type": "string"}}}


def test_parameters_under_the_key_of_another_format_are_read_with_a_note() -> None:
    [_, tool] = read(("a.json", [tool_named("f"), {"name": "g", "description": "d", "parameters": {"properties": {"n": {}}}}]))
    assert list(tool.parameters["properties"]) == ["n"]
    assert any(note.startswith("/parameters: they stand here") for note in tool.notes)
