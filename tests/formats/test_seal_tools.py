from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from familytool.formats import seal_tools
from familytool.formats.openai import DocumentError
from familytool.formats.text import parse_json
from familytool.model import Tool
from familytool.validation.schema import schema_findings
from tests.formats.junk import junk, survives


def document(parameters: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    made = {"api_name": "findShop", "api_description": "d", "field": "Trade/Shops", "parameters": parameters, "required": list(required)}
    return {**made, "responses": {"shop": {"type": "str", "description": "r"}}, **more}


def read(*records: Any) -> list[Tool]:
    rejected: list[str] = []
    tools = list(seal_tools.read_tools([(f"made.jsonl:{n}", record) for n, record in enumerate(records, 1)], rejected))
    assert rejected == []
    return tools


def lines_of(file: Path) -> list[tuple[str, Any]]:
    lines = enumerate(file.read_text(encoding="utf-8").split("\n"), 1)
    return [(f"{file.name}:{number}", parse_json(line)) for number, line in lines if line.strip()]


def test_a_document_is_read_with_its_required_names_and_its_responses() -> None:
    raw = document({"n": {"type": "int", "description": "x"}, "m": {"type": "float"}}, "n")
    [tool] = read(raw)
    assert (tool.name, tool.description, tool.raw) == ("findShop", "d", raw)
    assert tool.parameters == {
        "type": "object",
        "properties": {"n": {"type": "integer", "description": "x"}, "m": {"type": "number"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    assert tool.response == {"type": "object", "properties": {"shop": {"type": "string", "description": "r"}}}
    assert tool.source == {"format": "seal-tools", "place": "made.jsonl:1", "status": "ok", "version": "1", "uses": "1"}
    assert tool.notes == (
        "response #/properties/shop: type 'str' read as string",
        "#/properties/n: type 'int' read as integer",
        "#/properties/m: type 'float' read as number",
    )


STRAY = {
    "imp-001": ({"type": "bool"}, {"type": "boolean"}),
    "imp-021 choices": ({"type": "str", "choices": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}),
    "imp-021 possible values": ({"type": "str", "possible_values": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}),
    "imp-021 choices of the items of a list": ({"type": "list", "choices": ["a", "b"]}, {"type": "array", "items": {"enum": ["a", "b"]}}),
    "imp-021 a range is no enum": ({"type": "int", "allowed_values": "1-100"}, {"type": "integer", "allowed_values": "1-100"}),
    "imp-021 an empty list": ({"type": "str", "choices": []}, {"type": "string", "choices": []}),
    "imp-035": ({"type": "str", "default": ["today"]}, {"type": "string"}),
    "choices of another type": ({"type": "int", "choices": ["1", "2"]}, {"type": "integer", "choices": ["1", "2"]}),
    "example": ({"type": "int", "example": "1"}, {"type": "integer", "examples": ["1"]}),
    "examples as text": ({"type": "str", "examples": "a, b"}, {"type": "string", "examples": ["a, b"]}),
    "example and examples": ({"type": "str", "example": "a", "examples": ["b"]}, {"type": "string", "examples": ["a", "b"]}),
    "unit": ({"type": "float", "unit": "m/s"}, {"type": "number", "unit": "m/s"}),
}


@pytest.mark.parametrize(("entry", "expected"), STRAY.values(), ids=STRAY.keys())
def test_a_stray_key_is_read_as_what_it_means_or_stays_with_a_note(entry: dict[str, Any], expected: dict[str, Any]) -> None:
    [tool] = read(document({"p": entry}))
    assert tool.parameters["properties"]["p"] == expected
    changed = [key for key in entry if key != "examples" or not isinstance(entry[key], list)]
    assert all(any(note.startswith("#/properties/p") and key in note for note in tool.notes) for key in changed)
    jsonschema.Draft202012Validator.check_schema(tool.parameters)


def test_odd_names_are_kept_as_they_are() -> None:
    names = ["request First Aid", "getPM2.5", "größe"]
    assert [tool.name for tool in read(*(document({}, api_name=name) for name in names))] == names


def test_a_tool_without_parameters_takes_none() -> None:
    [tool] = read(document({}))
    assert [finding.code for finding in schema_findings(tool.parameters, {"x": 1}, "") or []] == ["unknown_parameter"]


def test_what_is_no_document_is_rejected_with_its_reason() -> None:
    rejected: list[str] = []
    rows = [document({}, extra=1, required="n"), {"id": "d", "query": "q", "calling": []}, 5, document({}, api_name="")]
    [tool] = seal_tools.read_tools([(f"f:{n}", value) for n, value in enumerate(rows, 1)], rejected)
    assert tool.notes[0] == "/extra: int 1 is no part of a document; kept in raw only"
    assert "/required: str 'n' is no list of names; left out" in tool.notes
    assert rejected == [
        "f:2: a query with its calls, not a tool document",
        "f:3: int 5 is no tool document (it has no api_name)",
        "f:4: the document has no name",
    ]


def test_a_file_of_calls_is_told_from_a_file_of_documents() -> None:
    with pytest.raises(DocumentError, match="a query with its calls"):
        list(seal_tools.read_tools([("f:1", {"id": "d", "query": "q", "calling": []})], []))


LOOKS = {
    "document": (document({}), True),
    "ToolBench document": ({"api_name": "f", "api_description": "d", "required_parameters": [], "optional_parameters": []}, False),
    "calls": ({"id": "d", "query": "q", "calling": []}, False),
    "OpenAI": ({"name": "f", "parameters": {}}, False),
}


@pytest.mark.parametrize(("value", "expected"), LOOKS.values(), ids=LOOKS.keys())
def test_only_documents_of_seal_tools_are_claimed(value: Any, expected: bool) -> None:
    assert seal_tools.looks_like(value) is expected


@settings(max_examples=100)
@given(junk("api_name", "api_description", "parameters", "required", "responses", "type", "example", "choices", "properties"))
def test_junk_never_ends_in_a_traceback(value: Any) -> None:
    seal_tools.looks_like(value)
    assert survives(seal_tools.read_tools, value)
    assert survives(seal_tools.read_tools, {"api_name": "f", "parameters": value, "required": value, "responses": value})
    assert survives(seal_tools.read_tools, document({"p": value}))


@pytest.mark.full
@pytest.mark.parametrize(("name", "documents"), [("tool.first600.jsonl", 600), ("tool.irregular_rows.jsonl", 54)])
def test_every_document_of_the_real_files_is_read(foreign_data: Callable[[str], Path], name: str, documents: int) -> None:
    records = lines_of(foreign_data("seal-tools") / name)
    rejected: list[str] = []
    tools = list(seal_tools.read_tools(records, rejected))
    assert all(seal_tools.looks_like(value) for _, value in records)
    assert (len(tools), rejected) == (documents, [])
    assert {tool.source["status"] for tool in tools} == {"ok"}
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(tool.parameters)
        jsonschema.Draft202012Validator.check_schema(tool.response)
        assert list(tool.parameters["properties"]) == list(tool.raw["parameters"])


@pytest.mark.full
def test_the_irregular_documents_of_the_real_file_keep_their_odd_names_and_stray_keys(foreign_data: Callable[[str], Path]) -> None:
    tools = list(seal_tools.read_tools(lines_of(foreign_data("seal-tools") / "tool.irregular_rows.jsonl"), []))
    assert {"requestFirst Aid Assistance", "getPM2.5Level"} <= {tool.name for tool in tools}
    declared = [entry for tool in tools for entry in tool.parameters["properties"].values()]
    assert [sum(key in entry for entry in declared) for key in ("examples", "unit", "enum")] == [78, 11, 1]


@pytest.mark.full
def test_the_real_file_of_calls_is_no_file_of_documents(foreign_data: Callable[[str], Path]) -> None:
    with pytest.raises(DocumentError, match="a query with its calls"):
        list(seal_tools.read_tools(lines_of(foreign_data("seal-tools") / "dev.first300.jsonl"), []))
