import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from familytool.formats import toolbench
from familytool.formats.openai import DocumentError
from familytool.model import Tool
from tests.formats.foreign import codes, documents, ends_well, junk, read, read_file


def api(name: str = "/towns/:code", required: Any = (), optional: Any = (), **more: Any) -> dict[str, Any]:
    return {
        "category_name": "C",
        "tool_name": "T",
        "api_name": name,
        "api_description": "d",
        "required_parameters": list(required),
        "optional_parameters": list(optional),
        "method": "GET",
        **more,
    }


def one(*required: Any) -> Tool:
    [tool], rejected = read(toolbench.read_tools, [{"query": "q", "api_list": [api(required=required)]}])
    assert rejected == []
    return tool


@pytest.mark.parametrize(
    ("declared", "schema"),
    [
        pytest.param({"type": "STRING", "default": ""}, {"type": "string"}, id="an empty default is none"),
        pytest.param({"type": "NUMBER", "default": "10"}, {"type": "number", "default": "10"}, id="a number as text"),
        pytest.param({"type": "NUMBER", "default": 3}, {"type": "number", "default": 3}, id="a number"),
        pytest.param({"type": "BOOLEAN", "default": "true"}, {"type": "boolean", "default": "true"}, id="a truth value as text"),
        pytest.param({"type": "BOOLEAN", "default": False}, {"type": "boolean", "default": False}, id="a truth value"),
    ],
)
def test_types_and_defaults_are_read_as_they_are_meant(declared: dict[str, Any], schema: dict[str, Any]) -> None:
    tool = one({"name": "p", "description": "", **declared})
    assert tool.parameters["properties"]["p"] == {**schema, "description": ""}
    is_odd = isinstance(schema.get("default"), str)
    assert is_odd == any("is not of type" in note for note in tool.notes)
    assert (declared["default"] == "") == any("default '' means" in note for note in tool.notes)


def test_a_url_path_is_a_name_and_the_two_lists_say_what_is_required() -> None:
    document = api("/v4/{sport}/:é", [{"name": "a", "type": "STRING"}], [{"name": "b", "type": "NUMBER"}], template_response={"x": "str"})
    before = copy.deepcopy(document)
    [tool], _ = read(toolbench.read_tools, {"query": "q", "api_list": [document]})
    assert tool.name == "/v4/{sport}/:é"
    assert tool.raw == before == document
    assert tool.parameters["required"] == ["a"]
    assert codes(tool, {"a": "x", "b": 1}) == []
    assert codes(tool, {}) == ["missing_required"]
    assert codes(tool, {"a": "x", "c": 1}) == ["unknown_parameter"]
    assert any("template_response" in note for note in tool.notes)


def test_an_api_without_parameters_takes_none_and_a_blank_description_is_noted() -> None:
    [tool], _ = read(toolbench.read_tools, [{"api_list": [api(api_description=" ")]}])
    assert codes(tool, {}) == []
    assert codes(tool, {"x": 1}) == ["unknown_parameter"]
    assert "the description is blank" in tool.notes


def test_equal_documents_of_several_queries_are_one_tool_and_unequal_ones_are_ambiguous() -> None:
    queries = [{"api_list": [api("a"), api("b")]}, {"api_list": [api("a"), api("b", [{"name": "x", "type": "STRING"}])]}]
    tools, _ = read(toolbench.read_tools, queries)
    assert [(tool.name, tool.source["uses"]) for tool in tools] == [("a", "2"), ("b", "1"), ("b", "1")]
    assert [any("ambiguous tool name b (2 documents)" in note for note in tool.notes) for tool in tools] == [False, True, True]


def test_what_is_listed_twice_or_without_a_name_is_noted() -> None:
    tool = one({"name": "p", "type": "STRING"}, {"name": "p", "type": "NUMBER"}, {"type": "STRING"}, 7)
    assert tool.parameters["properties"] == {"p": {"type": "string"}}
    assert sum("left out" in note for note in tool.notes) == 3


def test_bad_entries_are_told_and_the_others_are_read() -> None:
    named = {"category_name": "C", "tool_name": "T", "api_name": "only named"}
    tools, rejected = read(toolbench.read_tools, [{"api_list": [api("a"), 7, named, api("b"), api("c", optional_parameters=5)]}, 7])
    assert [tool.name for tool in tools] == ["a", "b"]
    assert len(rejected) == 4
    assert any("'only named' is only named" in sentence for sentence in rejected)


@pytest.mark.parametrize(
    "value",
    [[{"name": "f", "parameters": {}}], {"api_list": []}, {"win": True, "tree": {}}, {"api_name": "x", "api_description": "d"}, [], 7],
    ids=["openai", "no api", "answer", "seal-tools", "empty", "number"],
)
def test_other_files_are_not_claimed(value: Any) -> None:
    assert not toolbench.looks_like(value)
    if value:
        with pytest.raises(DocumentError, match=r"file\.json"):
            read(toolbench.read_tools, value)


@settings(max_examples=100)
@given(junk("api_list", "api_name", "tool_name", "required_parameters", "optional_parameters", "NUMBER", ""))
def test_junk_never_ends_in_a_traceback(value: Any) -> None:
    ends_well(toolbench.read_tools, value)
    ends_well(toolbench.read_tools, [{"api_list": [api("a", [{"name": "p", "x": value}]), api("b", required_parameters=value), value]}])


@pytest.mark.full
@pytest.mark.parametrize(("file", "count", "distinct"), [("G1", 18, 12), ("G2", 21, 7), ("G3", 22, 11)])
def test_the_published_query_files_are_read(foreign_data: Callable[[str], Path], file: str, count: int, distinct: int) -> None:
    tools, rejected = read_file(toolbench.read_tools, foreign_data("toolbench") / "instruction" / f"{file}_query.json")
    assert (documents(tools), len(tools), rejected) == (count, distinct, [])


@pytest.mark.full
def test_the_published_names_descriptions_and_defaults_are_the_measured_ones(foreign_data: Callable[[str], Path]) -> None:
    tools, _ = read_file(toolbench.read_tools, *sorted((foreign_data("toolbench") / "instruction").glob("G*_query.json")))

    def occurrences(what: Callable[[Tool], int]) -> int:
        return sum(what(tool) * int(tool.source["uses"]) for tool in tools)

    assert occurrences(lambda tool: 1) == 61
    assert occurrences(lambda tool: not tool.name.isidentifier()) == 36
    assert occurrences(lambda tool: "the description is blank" in tool.notes) == 14
    assert occurrences(lambda tool: sum("default '' means" in note for note in tool.notes)) == 57


@pytest.mark.full
def test_a_query_that_only_names_its_apis_gives_no_tool_and_says_so(foreign_data: Callable[[str], Path]) -> None:
    tools, rejected = read_file(toolbench.read_tools, foreign_data("toolbench") / "instruction" / "inference_query_demo.json")
    assert (tools, len(rejected)) == ([], 3)
