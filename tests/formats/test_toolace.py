import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from familytool.formats import toolace
from familytool.formats.openai import DocumentError
from familytool.model import Tool
from familytool.validation.schema import schema_findings
from tests.formats.junk import junk, survives


def row(*documents: Any, before: str = "These functions exist:\n", after: str = "\nAnswer with [func1(name=value)].") -> dict[str, Any]:
    return {"system": f"{before}{json.dumps(documents)}{after}", "conversations": [{"from": "user", "value": "Please."}]}


def document(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "name": "Find Shop",
        "description": "d",
        "parameters": {"type": "dict", "properties": properties, "required": list(required)},
        "required": None,
    }


def read(*records: Any) -> list[Tool]:
    rejected: list[str] = []
    tools = list(toolace.read_tools([(f"made.jsonl:{n}", record) for n, record in enumerate(records, 1)], rejected))
    assert rejected == []
    return tools


TYPES = {
    "imp-001": ({"p": {"type": "int"}}, {"type": "integer"}, [7]),
    "imp-003": ({"p": {"type": "tuple", "items": {"type": "float"}}}, {"type": "array", "items": {"type": "number"}}, [[1, 2.5]]),
    "imp-035": (
        {"p": {"type": "array", "items": {"type": "string", "default": ["today"]}}},
        {"type": "array", "items": {"type": "string"}},
        [["today"], []],
    ),
}


@pytest.mark.parametrize(("properties", "expected", "values"), TYPES.values(), ids=TYPES.keys())
def test_odd_types_and_defaults_are_read_with_one_note(properties: dict[str, Any], expected: dict[str, Any], values: list[Any]) -> None:
    [tool] = read(row(document(properties, "p")))
    assert tool.parameters["properties"]["p"] == expected
    assert tool.raw == document(properties, "p")
    assert all(schema_findings(tool.parameters, {"p": value}, "") == [] for value in values)
    assert any("#/properties/p" in note for note in tool.notes)


def test_a_name_with_spaces_is_kept() -> None:
    [tool] = read(row(document({"n": {"type": "int"}}, "n")))
    assert tool.name == "Find Shop"
    assert tool.source == {"format": "toolace", "place": "made.jsonl:1", "status": "ok", "version": "1", "uses": "1"}
    assert tool.notes[:2] == ("#: type 'dict' read as object", "#/properties/n: type 'int' read as integer")


TEXTS = {
    "brackets before the list": {"before": "Answer with [func1(a=[1])] or []. [1, 2]\n"},
    "text on the same line": {"before": "Functions: ", "after": ". Good luck."},
    "only the list": {"before": "", "after": ""},
}


@pytest.mark.parametrize("around", TEXTS.values(), ids=TEXTS.keys())
def test_the_list_is_found_whatever_stands_around_it(around: dict[str, str]) -> None:
    made = row(document({"a": {"enum": ["]", "[{"]}}), **around)
    assert toolace.looks_like(made)
    [tool] = read(made)
    assert tool.parameters["properties"] == {"a": {"enum": ["]", "[{"]}}


def test_required_names_beside_the_parameters_are_read_only_where_they_have_no_list_of_their_own() -> None:
    own, none = document({"a": {}, "b": {}}, "a"), document({"a": {}, "b": {}})
    del none["parameters"]["required"]
    [first], [second] = read(row({**own, "required": ["b"]})), read(row({**none, "required": ["b"]}))
    assert first.parameters["required"] == ["a"]
    assert second.parameters["required"] == ["b"]
    assert first.notes[0] == "/required: list ['b'] stands beside the parameters; left out, their own list decides"
    assert second.notes[0] == "/required: list ['b'] stands beside the parameters; read as theirs"


def test_what_cannot_be_read_is_rejected_with_its_reason() -> None:
    rejected: list[str] = []
    rows = [row(document({}), 5, {"name": None}), row(), {"system": '[{"name": "f", ', "conversations": []}, {"system": "["}, {"a": 1}]
    [tool] = toolace.read_tools([(f"f:{n}", value) for n, value in enumerate(rows, 1)], rejected)
    assert tool.name == "Find Shop"
    assert [sentence[:60] for sentence in rejected] == [
        "f:1: entry 2 of the list is int 5, no tool document",
        "f:1: entry 3 of the list has no name",
        "f:2: the system text contains no JSON list of tool documents",
        "f:3: the list in the system text cannot be read: not JSON: E",
        "f:4: the system text contains no JSON list of tool documents",
        "f:5: dict {'a': 1} is no row with a system text",
    ]


@pytest.mark.parametrize(
    "system", ["", "no list", "[" * 100_000, '[{"name": ' * 20_000, "[1]" * 50_000], ids=lambda text: text[:12] or "empty"
)
def test_a_hostile_system_text_is_no_list(system: str) -> None:
    value = {"system": system, "conversations": []}
    assert not toolace.looks_like(value)
    with pytest.raises(DocumentError, match="system text"):
        list(toolace.read_tools([("f:1", value)], []))


@settings(max_examples=100)
@given(junk("system", "conversations", "name", "description", "parameters", "type", "properties", "required", "response"))
def test_junk_never_ends_in_a_traceback(value: Any) -> None:
    toolace.looks_like(value)
    assert survives(toolace.read_tools, value)
    assert survives(toolace.read_tools, row(value, {"name": "f", "parameters": value, "required": value}))


@pytest.mark.full
def test_the_sample_row_is_read_and_no_other_sample_is_claimed(foreign_data: Callable[[str], Path]) -> None:
    values = {file.name: json.loads(file.read_text(encoding="utf-8")) for file in foreign_data("vendor-shapes").glob("*.json")}
    assert [name for name, value in values.items() if toolace.looks_like(value)] == ["toolace_row.json"]
    [tool] = read(values["toolace_row.json"])
    assert (tool.name, tool.parameters["required"]) == ("Get Forecast", ["city"])
