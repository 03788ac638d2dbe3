import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.formats import bfcl
from familytool.formats.openai import DocumentError
from familytool.formats.schema import normalise_parameters
from familytool.formats.text import parse_json
from familytool.model import Tool
from familytool.validation.schema import schema_findings
from tests.formats.junk import junk, survives


def row(*documents: Any) -> dict[str, Any]:
    return {"id": "made_0", "question": [[{"role": "user", "content": "Please."}]], "function": list(documents)}


def document(properties: dict[str, Any], *required: str, name: str = "shop.find") -> dict[str, Any]:
    return {"name": name, "description": "d", "parameters": {"type": "dict", "properties": properties, "required": list(required)}}


def read(*records: Any) -> list[Tool]:
    rejected: list[str] = []
    tools = list(bfcl.read_tools([(f"made.json:{n}", record) for n, record in enumerate(records, 1)], rejected))
    assert rejected == []
    return tools


def lines_of(file: Path) -> list[tuple[str, Any]]:
    """The records of a file that is JSONL although it is named .json."""
    lines = enumerate(file.read_text(encoding="utf-8").split("\n"), 1)
    return [(f"{file.name}:{number}", parse_json(line)) for number, line in lines if line.strip()]


TYPES = {
    "imp-001": (
        {"size": {"type": "int"}, "weight": {"type": "float"}, "new": {"type": "bool"}},
        {"size": {"type": "integer"}, "weight": {"type": "number"}, "new": {"type": "boolean"}},
        {"size": 3, "weight": 1.5, "new": True},
    ),
    "imp-003": (
        {"size": {"type": "tuple", "items": {"type": "float"}}},
        {"size": {"type": "array", "items": {"type": "number"}}},
        {"size": [1, 2.5]},
    ),
    "imp-035": (
        {"size": {"type": "array", "items": {"type": "string", "default": ["today"]}}},
        {"size": {"type": "array", "items": {"type": "string"}}},
        {"size": ["today"]},
    ),
    "types of Java": (
        {"size": {"type": "HashMap"}, "of": {"type": "ArrayList", "items": {"type": "String"}}, "n": {"type": "long"}},
        {"size": {"type": "object"}, "of": {"type": "array", "items": {"type": "string"}}, "n": {"type": "integer"}},
        {"size": {"a": 1}, "of": ["b"], "n": 4},
    ),
    "any type": ({"size": {"type": "any"}}, {"size": {}}, {"size": [None]}),
    "no type": ({"size": {"type": ""}}, {"size": {}}, {"size": 7}),
    "optional": ({"size": {"type": "integer", "optional": True}}, {"size": {"type": "integer"}}, {"size": 7}),
}


@pytest.mark.parametrize(("properties", "expected", "arguments"), TYPES.values(), ids=TYPES.keys())
def test_types_of_other_languages_are_read_with_a_note_for_each_and_the_document_stays(
    properties: dict[str, Any], expected: dict[str, Any], arguments: dict[str, Any]
) -> None:
    raw = document(properties, "size")
    before = copy.deepcopy(raw)
    [tool] = read(row(raw))
    assert tool.parameters == {"type": "object", "properties": expected, "required": ["size"], "additionalProperties": False}
    assert tool.raw == before
    assert any(note.startswith("#/properties/size") for note in tool.notes)
    assert schema_findings(tool.parameters, arguments, "") == []


def test_an_array_default_on_text_items_is_one_warning_at_the_items() -> None:
    [tool] = read(row(document({"rec": {"type": "array", "items": {"type": "string", "default": ["today"]}}})))
    assert [note for note in tool.notes if "default" in note] == [
        "#/properties/rec/items: default list ['today'] is an array, the values are of type string; the default is left out"
    ]


def test_a_document_with_a_response_is_read_from_a_row_and_from_a_document_file_alike() -> None:
    made = {**document({"n": {"type": "integer"}}, "n"), "response": {"type": "dict", "properties": {"mean": {"type": "float"}}}}
    [from_row], [from_file] = read(row(made)), read(made)
    assert from_row == from_file
    assert from_file.response == {"type": "object", "properties": {"mean": {"type": "number"}}}
    assert "response #/properties/mean: type 'float' read as number" in from_file.notes


def test_names_are_never_changed_and_the_source_says_where_a_tool_stands() -> None:
    [tool] = read(row(document({"Content-Type": {"type": "string"}, "año": {"type": "integer"}}, "año", name="a.b.c")))
    assert tool.name == "a.b.c"
    assert list(tool.parameters["properties"]) == ["Content-Type", "año"]
    assert tool.source == {"format": "bfcl", "place": "made.json:1", "status": "ok", "version": "1", "uses": "1"}


def test_equal_documents_of_several_rows_are_one_tool_and_different_ones_say_that_the_name_is_ambiguous() -> None:
    one, two = document({"a": {"type": "integer"}}), document({"b": {"type": "integer"}})
    first, second = read(row(one, two), row(one))
    assert (first.source["version"], first.source["uses"]) == ("1", "2")
    assert (second.source["version"], second.source["uses"]) == ("2", "1")
    assert all("ambiguous tool name shop.find (2 documents)" in tool.notes for tool in (first, second))
    assert not any("ambiguous" in note for tool in read(row(one), row(one)) for note in tool.notes)


def test_the_rows_of_a_whole_json_document_are_read_like_those_of_a_jsonl_file() -> None:
    [tool] = read([row(document({}))])
    assert tool.source["place"] == "made.json:1, entry 1"


def test_what_is_no_tool_document_is_rejected_with_its_reason_and_the_others_are_read() -> None:
    rejected: list[str] = []
    rows = [row(document({}), 5, {"name": " ", "parameters": {}}, document({"a": {}}) | {"parameters": [1]})]
    rows += [{"id": "m", "question": [], "involved_classes": ["ShopAPI"]}, {"id": "m", "ground_truth": []}]
    tools = list(bfcl.read_tools([(f"f:{n}", value) for n, value in enumerate(rows, 1)], rejected))
    assert [tool.name for tool in tools] == ["shop.find"]
    assert rejected == [
        "f:1: entry 2 of 'function' is int 5, no tool document",
        "f:1: entry 3 of 'function' has no name",
        "f:1: tool 'shop.find': parameters must be an object, found list",
        "f:2: the documents of ShopAPI stand in the files of multi_turn_func_doc; read those",
        "f:3: an answer, not a tool document",
    ]


def test_a_file_of_ids_is_told_from_a_file_of_documents() -> None:
    ids = {"simple_made": ["simple_made_0", "simple_made_1"]}
    assert not bfcl.looks_like(ids)
    with pytest.raises(DocumentError, match="no 'function' list and no tool document"):
        list(bfcl.read_tools([("ids.json", ids)], []))


LOOKS = {
    "row": (row(document({})), True),
    "row of several turns": ({"id": "m", "question": [[]], "involved_classes": ["A"]}, True),
    "document": (document({}), True),
    "OpenAI document": ({"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}, False),
    "OpenAI envelope": ({"type": "function", "function": {"name": "f", "parameters": {}}}, False),
    "answer": ({"id": "m", "ground_truth": [{"f": {"a": [1]}}]}, False),
    "ToolACE row": ({"system": "[]", "conversations": []}, False),
    "list": ([document({})], False),
}


@pytest.mark.parametrize(("value", "expected"), LOOKS.values(), ids=LOOKS.keys())
def test_only_rows_and_documents_of_bfcl_are_claimed(value: Any, expected: bool) -> None:
    assert bfcl.looks_like(value) is expected


def test_written_documents_have_the_type_names_and_keys_that_the_leaderboard_asks_for() -> None:
    [tool] = read(row(document({"a": {"type": "object", "properties": {"b": {"type": "number"}}}, "c": {}})))
    written = bfcl.write_document(tool)
    assert written["parameters"] == {
        "type": "dict",
        "properties": {"a": {"type": "dict", "properties": {"b": {"type": "float"}}}, "c": {"type": "any"}},
        "required": [],
    }
    assert bfcl.looks_like(written)


@pytest.mark.parametrize("closing", [{"additionalProperties": True}, {"additionalProperties": {"type": "integer"}}, {}], ids=str)
def test_an_open_schema_stays_open_when_it_is_written(closing: dict[str, Any]) -> None:
    tool = Tool(name="f", parameters={"type": "object", "properties": {}, "required": [], **closing})
    [back] = read(*bfcl.write_tools([tool]))
    assert schema_findings(back.parameters, {"x": 1}, "") == []


def test_a_response_that_maps_names_to_schemas_is_written_as_an_object() -> None:
    [back] = read(*bfcl.write_tools([Tool(name="f", parameters={"type": "object"}, response={"mean": {"type": "number"}})]))
    assert back.response == {"type": "object", "properties": {"mean": {"type": "number"}}}


LEAVES = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["int", "float", "string", "tuple", "dict", "any", ["integer", "null"]]),
        "description": st.text(max_size=5),
        "enum": st.lists(st.integers(0, 3) | st.text(max_size=2), max_size=3),
        "default": st.none() | st.integers(0, 3) | st.lists(st.text(max_size=2), max_size=2),
        "minimum": st.integers(0, 3),
    },
)
NAMES = st.sampled_from(["a", "type", "properties", "items", "required", "ñ/~", "default"])
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: (
        st.fixed_dictionaries({"type": st.just("array"), "items": inner})
        | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)})
        | st.fixed_dictionaries({"type": st.just("dict"), "properties": st.dictionaries(NAMES, inner, max_size=2)})
    ),
    max_leaves=6,
)
PARAMETERS = st.fixed_dictionaries(
    {"type": st.just("dict"), "properties": st.dictionaries(NAMES, SCHEMAS, max_size=3), "required": st.lists(NAMES, max_size=2)},
    optional={"additionalProperties": st.booleans() | LEAVES, "allOf": st.lists(SCHEMAS, min_size=1, max_size=2)},
)


@settings(max_examples=100)
@given(PARAMETERS, st.text(min_size=1, max_size=5).filter(str.strip), st.text(max_size=5))
def test_writing_and_reading_gives_the_same_tool(parameters: dict[str, Any], name: str, description: str) -> None:
    schema, _ = normalise_parameters(parameters)
    response = {"type": "object", "properties": schema["properties"]} if schema["properties"] else {}
    tool = Tool(name=name, description=description, parameters=schema, response=response)
    [back] = read(*json.loads(json.dumps(list(bfcl.write_tools([tool])))))
    assert (back.name, back.description, back.parameters, back.response) == (name, description, schema, response)


@settings(max_examples=100)
@given(junk("id", "question", "function", "name", "description", "parameters", "type", "properties", "required", "response"))
def test_junk_never_ends_in_a_traceback(value: Any) -> None:
    bfcl.looks_like(value)
    assert survives(bfcl.read_tools, value)


def test_a_value_nested_too_deep_is_rejected() -> None:
    deep: Any = {}
    for _ in range(5_000):
        deep = {"a": deep}
    with pytest.raises(DocumentError, match="nested deeper"):
        list(bfcl.read_tools([("f:1", row({"name": "f", "parameters": deep}))], []))


FILES = {  # rows, documents
    "BFCL_v4_irrelevance.json": (240, 240),
    "BFCL_v4_live_multiple.irregular_rows.json": (10, 27),
    "BFCL_v4_live_parallel.json": (16, 18),
    "BFCL_v4_live_parallel_multiple.json": (24, 95),
    "BFCL_v4_live_relevance.json": (16, 44),
    "BFCL_v4_live_simple.json": (258, 258),
    "BFCL_v4_multiple.json": (200, 557),
    "BFCL_v4_parallel.json": (200, 200),
    "BFCL_v4_simple_java.json": (100, 100),
    "BFCL_v4_simple_javascript.json": (50, 50),
    "multi_turn_func_doc/gorilla_file_system.json": (18, 18),
    "multi_turn_func_doc/travel_booking.json": (18, 18),
    "unused/BFCL_v4_exec_simple.json": (100, 100),
}


@pytest.mark.full
@pytest.mark.parametrize(("name", "rows", "documents"), [(name, *counts) for name, counts in FILES.items()], ids=FILES.keys())
def test_every_document_of_the_real_files_is_read_and_can_be_written(
    foreign_data: Callable[[str], Path], name: str, rows: int, documents: int
) -> None:
    records = lines_of(foreign_data("bfcl") / name)
    assert len(records) == rows
    assert all(bfcl.looks_like(value) for _, value in records)
    rejected: list[str] = []
    tools = list(bfcl.read_tools(records, rejected))
    assert rejected == []
    assert sum(int(tool.source["uses"]) for tool in tools) == documents
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(tool.parameters)
        jsonschema.Draft202012Validator.check_schema(tool.response)
    back = read(*bfcl.write_tools(tools))
    assert [(t.name, t.description, t.parameters, t.response) for t in back] == [
        (t.name, t.description, t.parameters, t.response) for t in tools
    ]


@pytest.mark.full
def test_no_real_file_of_answers_is_taken_for_documents(foreign_data: Callable[[str], Path]) -> None:
    for file in sorted((foreign_data("bfcl") / "possible_answer").glob("*.json")):
        with pytest.raises(DocumentError, match="an answer, not a tool document"):
            list(bfcl.read_tools(lines_of(file), []))
