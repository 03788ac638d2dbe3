import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.formats import xlam
from familytool.formats.openai import DocumentError
from familytool.model import Tool
from familytool.validation.schema import schema_findings
from tests.formats.junk import junk, survives
from tests.formats.test_python_types import TYPES


def row(*documents: Any) -> dict[str, Any]:
    return {"id": 0, "query": "Please.", "answers": "[]", "tools": json.dumps(documents)}


def document(parameters: Any) -> dict[str, Any]:
    return {"name": "find_shop", "description": "d", "parameters": parameters}


def read(*records: Any) -> list[Tool]:
    rejected: list[str] = []
    tools = list(xlam.read_tools([(f"made.jsonl:{n}", record) for n, record in enumerate(records, 1)], rejected))
    assert rejected == []
    return tools


FLAT = {
    "imp-001": ({"p": {"type": "int"}}, {"type": "integer"}, True),
    "imp-003": ({"p": {"type": "Tuple[float, float]"}}, {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}]}, True),
    "imp-035": ({"p": {"type": "str", "default": ["today"]}}, {"type": "string"}, True),
    "optional": ({"p": {"type": "str, optional", "default": ""}}, {"type": "string"}, False),
    "optional with a default": ({"p": {"type": "int, optional", "default": 3}}, {"type": "integer", "default": 3}, False),
    "example value as default": ({"p": {"type": "str", "default": "Graz"}}, {"type": "string", "default": "Graz"}, True),
    "list": ({"p": {"type": "List[int]"}}, {"type": "array", "items": {"type": "integer"}}, True),
    "union": ({"p": {"type": "Union[int, str]"}}, {"type": ["integer", "string"]}, True),
    "null is allowed": ({"p": {"type": "Optional[int]"}}, {"type": ["integer", "null"]}, False),
    "flag": ({"p": {"type": "int", "required": False}}, {"type": "integer"}, False),
    "unknown type": ({"p": {"type": "Callable[[float], float], optional"}}, {}, False),
    "type as a text": ({"p": "int"}, {"type": "integer"}, True),
    "no type": ({"p": {"description": "x"}}, {"description": "x"}, True),
}


@pytest.mark.parametrize(("flat", "expected", "required"), FLAT.values(), ids=FLAT.keys())
def test_a_flat_map_of_python_types_is_a_schema(flat: dict[str, Any], expected: dict[str, Any], required: bool) -> None:
    [tool] = read(row(document(flat)))
    assert tool.parameters["properties"]["p"] == expected
    assert tool.parameters["required"] == (["p"] if required else [])
    assert tool.raw == document(flat)
    jsonschema.Draft202012Validator.check_schema(tool.parameters)


def test_every_repair_is_a_note_that_names_its_place() -> None:
    [tool] = read(row(document({"a/b": {"type": "str, optional", "default": ""}, "c": {"type": "str", "default": "Graz"}})))
    assert tool.notes == (
        "#/properties/a~1b: type 'str, optional' read as string",
        "#/properties/a~1b: default '' means none; left out",
        "#/properties/c: type 'str' read as string",
        "#/properties/c: a default, but the type does not say 'optional'; read as required",
        "#/required: not given; read as the parameters whose type does not say 'optional': 1 of 2",
    )


def test_a_parameter_called_type_is_a_parameter_and_a_schema_is_known_by_its_type_text() -> None:
    [flat], [schema] = read(row(document({"type": {"type": "int"}}))), read(row(document({"type": "dict", "properties": {"n": {}}})))
    assert flat.parameters["properties"] == {"type": {"type": "integer"}}
    assert schema.parameters["properties"] == {"n": {}}
    assert schema.notes[0] == "#: a JSON Schema, not a flat map; read as it is"


@pytest.mark.parametrize("parameters", [{}, None], ids=str)
def test_a_tool_without_parameters_takes_none(parameters: Any) -> None:
    [tool] = read(row(document(parameters)))
    assert schema_findings(tool.parameters, {}, "") == []
    assert [finding.code for finding in schema_findings(tool.parameters, {"x": 1}, "") or []] == ["unknown_parameter"]


def test_tools_are_read_from_text_from_a_list_and_from_a_whole_json_file() -> None:
    made = document({"n": {"type": "int"}})
    [first] = read(row(made), {**row(), "tools": [made]})
    [second] = read([row(made), row(made)])
    assert first.source == {"format": "xlam", "place": "made.jsonl:1", "status": "ok", "version": "1", "uses": "2"}
    assert second.source["uses"] == "2"


def test_a_row_whose_tools_cannot_be_read_is_rejected_and_the_others_are_read() -> None:
    rejected: list[str] = []
    rows = [row(document({}), 5, {"name": ""}), {**row(), "tools": "[{"}, {**row(), "tools": '{"a": 1, "a": 2}'}, {**row(), "tools": "{}"}]
    [tool] = xlam.read_tools([(f"f:{n}", value) for n, value in enumerate(rows, 1)], rejected)
    assert tool.name == "find_shop"
    assert [sentence.partition(";")[0][:60] for sentence in rejected] == [
        "f:1: entry 2 of 'tools' is int 5, no tool document",
        "f:1: entry 3 of 'tools' has no name",
        "f:2: the text under 'tools' cannot be read: not JSON: Expect",
        "f:3: the text under 'tools' cannot be read: the key 'a' occu",
        "f:4: 'tools' is dict {}, not a list of tool documents",
    ]


def test_a_file_without_a_row_of_xlam_is_an_error() -> None:
    with pytest.raises(DocumentError, match="is no row with 'tools'"):
        list(xlam.read_tools([("f:1", {"name": "f"})], []))


LOOKS = {
    "row": (row(), True),
    "rows": ([row(), row()], True),
    "tool list": ({"tools": [{"name": "f"}]}, False),
    "chat row": ({"messages": [], "tools": "[]"}, False),
    "empty list": ([], False),
    "lists in a list": ([[row()]], False),
}


@pytest.mark.parametrize(("value", "expected"), LOOKS.values(), ids=LOOKS.keys())
def test_only_rows_of_xlam_are_claimed(value: Any, expected: bool) -> None:
    assert xlam.looks_like(value) is expected


def test_written_rows_keep_what_python_types_can_say() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "enum": ["x"]}, "b": {"type": "integer"}}, "required": ["a"]}
    [written] = xlam.write_tools([Tool(name="f", parameters=schema)])
    assert xlam.looks_like(written)
    assert json.loads(written["tools"])[0]["parameters"] == {
        "a": {"description": "", "type": "str"},
        "b": {"description": "", "type": "int, optional", "default": ""},
    }


PARAMETER = st.fixed_dictionaries(
    {"description": st.text(max_size=5), "type": st.builds(str.__add__, TYPES, st.sampled_from(["", ", optional"]))},
    optional={"default": st.integers(0, 3) | st.text(max_size=3) | st.booleans()},
)


@settings(max_examples=100)
@given(st.dictionaries(st.sampled_from(["a", "type", "ñ/~", "default", "song title"]), PARAMETER, max_size=3), st.text(max_size=5))
def test_writing_and_reading_gives_the_same_tool(flat: dict[str, Any], description: str) -> None:
    [tool] = read(row({**document(flat), "description": description}))
    [back] = read(*json.loads(json.dumps(list(xlam.write_tools([tool])))))
    assert (back.name, back.description) == (tool.name, tool.description)
    assert {"required": [], **back.parameters} == {"required": [], **tool.parameters}


@settings(max_examples=100)
@given(junk("query", "answers", "tools", "name", "parameters", "type", "default", "required", "function", "properties"))
def test_junk_never_ends_in_a_traceback(value: Any) -> None:
    xlam.looks_like(value)
    assert survives(xlam.read_tools, value)
    assert survives(xlam.read_tools, {"query": "", "answers": "", "tools": value})
    assert survives(xlam.read_tools, row(value, document(value)))


@pytest.mark.full
def test_the_sample_row_is_read(foreign_data: Callable[[str], Path]) -> None:
    value = json.loads((foreign_data("vendor-shapes") / "xlam_row.json").read_text(encoding="utf-8"))
    assert xlam.looks_like(value)
    [tool] = read(value)
    assert tool.parameters["required"] == ["city", "ids"]
    assert tool.parameters["properties"]["ids"]["items"] == {"type": ["integer", "number"]}
