import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.formats import nestful
from familytool.formats.openai import DocumentError
from familytool.model import Tool
from tests.formats.foreign import codes, documents, ends_well, junk, read, read_file


def one(parameters: Any, key: str = "query_parameters") -> Tool:
    [tool], rejected = read(nestful.read_tools, [{"name": "f", "description": "d", key: parameters, "output_parameters": {"r": {}}}])
    assert rejected == []
    return tool


@pytest.mark.parametrize(
    ("declared", "schema"),
    [
        pytest.param({"type": "Number", "allowed_values": "1-100"}, {"type": "number", "minimum": 1, "maximum": 100}, id="imp-021-range"),
        pytest.param({"type": "Enum", "allowed_values": ["A", "B"]}, {"type": "string", "enum": ["A", "B"]}, id="imp-021-enum"),
        pytest.param({"type": "Date (yyyy-mm-dd)"}, {"type": "string", "format": "date"}, id="imp-021-date"),
        pytest.param({"type": "string", "possible_values": ["hour"]}, {"type": "string", "enum": ["hour"]}, id="imp-021-possible"),
        pytest.param({"type": "List", "allowed_values": ["a", "b"]}, {"type": "array", "items": {"enum": ["a", "b"]}}, id="imp-021-items"),
        pytest.param({"type": "List", "allowed_values": [["a"], []]}, {"type": "array", "enum": [["a"], []]}, id="whole lists"),
        pytest.param({"type": "string", "allowed_values": []}, {"type": "string"}, id="imp-021-empty"),
        pytest.param(
            {"type": "number", "allowed_values": "-0.5 - 0.5"}, {"type": "number", "minimum": -0.5, "maximum": 0.5}, id="fractions"
        ),
        pytest.param({"allowed_values": "1-5"}, {"minimum": 1, "maximum": 5}, id="range without a type"),
        pytest.param({"type": "Number", "allowed_values": ["1", "2"]}, {"enum": ["1", "2"]}, id="values of another type"),
        pytest.param({"default_value": "x", "allowed_values": ["x"]}, {"default": "x", "enum": ["x"]}, id="default_value"),
    ],
)
def test_value_lists_ranges_and_odd_types_become_json_schema_with_a_note(declared: dict[str, Any], schema: dict[str, Any]) -> None:
    tool = one({"p": declared})
    assert tool.parameters["properties"]["p"] == schema
    assert [note for note in tool.notes if note.startswith("#/properties/p")]


@pytest.mark.parametrize(
    "values", ["100-1", "a few", "1-", "-", "1-2-3", "9" * 40 + "-1", "0" * 10_000, 7, None, {}], ids=lambda v: str(v)[:12]
)
def test_what_is_no_range_stays_as_a_remark_and_restricts_nothing(values: Any) -> None:
    schema = one({"p": {"type": "Number", "allowed_values": values}}).parameters["properties"]["p"]
    assert schema == {"type": "number", "allowed_values": values}


def test_a_range_does_not_restrict_a_text() -> None:
    assert "minimum" not in one({"p": {"type": "String", "allowed_values": "1-100"}}).parameters["properties"]["p"]


@pytest.mark.parametrize("key", ["query_parameters", "path_parameters", "parameters", "arguments"])
def test_each_shape_keeps_its_flags_as_required_names_and_takes_nothing_else(key: str) -> None:
    tool = one({"type": {"type": "String", "required": True}, "b": {"required": False}, "c": {}}, key)
    assert tool.parameters["required"] == ["type"]
    assert tool.parameters["properties"] == {"type": {"type": "string"}, "b": {}, "c": {}}
    assert codes(tool, {"type": "x"}) == []
    assert codes(tool, {}) == ["missing_required"]
    assert codes(tool, {"type": "x", "z": 1}) == ["unknown_parameter"]


@pytest.mark.parametrize(
    ("parameters", "required"),
    [
        pytest.param({"a": {}, "b": {"optional": True}}, ["a"], id="only optional ones are marked"),
        pytest.param({"a": {}, "b": {}}, [], id="nothing is marked"),
        pytest.param({"a": {"required": True}, "b": {"optional": True}, "c": {}}, ["a"], id="both are marked"),
    ],
)
def test_parameters_without_a_flag_are_read_by_what_is_marked_beside_them(parameters: Any, required: list[str]) -> None:
    tool = one(parameters)
    assert tool.parameters["required"] == required
    assert any("read as" in note for note in tool.notes)


def test_nested_objects_keep_their_lists_of_required_names_and_lose_their_flags() -> None:
    inner = {"type": "object", "properties": {"min": {"type": "number", "required": True}, "max": {"type": "number"}}}
    items = {"type": "object", "properties": {"k": {"type": "string"}}, "required": ["k"]}
    schema = one({"range": inner, "list": {"type": "array", "items": items}}).parameters["properties"]
    assert schema["range"]["required"] == ["min"]
    assert schema["range"]["properties"] == {"min": {"type": "number"}, "max": {"type": "number"}}
    assert schema["list"]["items"] == items


def test_path_and_query_parameters_stand_together_and_the_document_stays_unchanged() -> None:
    document = {"name": "A.b_c", "path_parameters": {"id": {"required": True}}, "query_parameters": {"id": {}, "q": {"required": False}}}
    before = copy.deepcopy(document)
    [tool], _ = read(nestful.read_tools, document)
    assert tool.name == "A.b_c"
    assert tool.raw == before == document
    assert list(tool.parameters["properties"]) == ["id", "q"]
    assert tool.parameters["required"] == ["id"]
    assert [note for note in tool.notes if "declared twice" in note]
    assert tool.source == {"format": "nestful", "place": "file.json", "status": "untyped", "version": "1", "uses": "1"}


def test_bad_entries_are_told_and_the_others_are_read() -> None:
    good = {"name": "f", "query_parameters": {}}
    deep: Any = {}
    for _ in range(90):
        deep = {"type": "object", "properties": {"p": deep}}
    tools, rejected = read(nestful.read_tools, [good, 7, {"name": "g"}, {"name": "h", "query_parameters": {"p": deep}}, good])
    assert [tool.name for tool in tools] == ["f"]
    assert tools[0].source["uses"] == "2"
    assert any("without parameters" in note for note in tools[0].notes)
    assert [sentence.split(":")[0] for sentence in rejected] == [f"file.json, entry {n}" for n in (2, 3, 4)]


def test_two_documents_of_one_name_are_kept_and_called_ambiguous() -> None:
    tools, _ = read(nestful.read_tools, [{"name": "f", "query_parameters": {p: {"required": True}}} for p in "ab"])
    assert [tool.parameters["required"] for tool in tools] == [["a"], ["b"]]
    assert all("ambiguous tool name f (2 documents)" in tool.notes for tool in tools)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param([{"name": "f", "parameters": {"type": "object", "properties": {}}}], id="openai"),
        pytest.param([{"name": "f", "arguments": {"a": 1}, "label": "var1"}], id="gold calls"),
        pytest.param([{"input": "x", "output": []}], id="data file"),
        pytest.param([{"name": "f", "input_parameters": {}, "output_parameters": {}}], id="api-bank"),
        pytest.param([], id="empty"),
        pytest.param("text", id="text"),
    ],
)
def test_other_files_are_not_claimed(value: Any) -> None:
    assert not nestful.looks_like(value)
    if value:
        with pytest.raises(DocumentError, match=r"file\.json"):
            read(nestful.read_tools, value)


_KEYS = ("query_parameters", "arguments", "output_parameters", "allowed_values", "optional", "default_value", "Enum", "1-100")


@settings(max_examples=100)
@given(junk(*_KEYS), st.sampled_from(["query_parameters", "arguments"]))
def test_junk_never_ends_in_a_traceback(value: Any, key: str) -> None:
    ends_well(nestful.read_tools, value)
    ends_well(nestful.read_tools, [{"name": "f", key: {"p": value}, "output_parameters": {"r": value}}])


@pytest.mark.full
@pytest.mark.parametrize(
    ("file", "count", "distinct", "parameters"),
    [("executable-spec", 39, 39, 155), ("non-executable-glaive-spec", 70, 64, 161), ("non-executable-sgd-spec", 30, 30, 125)],
)
def test_all_139_published_documents_are_read(
    foreign_data: Callable[[str], Path], file: str, count: int, distinct: int, parameters: int
) -> None:
    tools, rejected = read_file(nestful.read_tools, foreign_data("nestful") / f"{file}.json")
    assert (documents(tools), len(tools), rejected) == (count, distinct, [])
    assert sum(len(tool.parameters["properties"]) * int(tool.source["uses"]) for tool in tools) == parameters
    assert all(tool.response for tool in tools)


@pytest.mark.full
def test_the_published_names_ranges_and_flags_are_the_measured_ones(foreign_data: Callable[[str], Path]) -> None:
    tools, _ = read_file(nestful.read_tools, *sorted(foreign_data("nestful").glob("*-spec.json")))
    assert sum("." in tool.name for tool in tools) == 33
    schemas = [schema for tool in tools for schema in tool.parameters["properties"].values()]
    assert sum(schema.get("minimum") == 1 and schema.get("maximum") == 100 for schema in schemas) == 4
    assert not [schema for schema in schemas if {"allowed_values", "possible_values", "optional"} & set(schema)]
    assert sum("required' on each" in note for tool in tools for note in tool.notes) == 32 + 63 + 30
