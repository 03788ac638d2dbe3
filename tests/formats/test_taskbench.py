import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from familytool.formats import taskbench
from familytool.formats.openai import DocumentError
from tests.formats.foreign import codes, documents, ends_well, junk, read, read_file


def test_named_parameters_are_typed_and_all_required() -> None:
    parameters = [{"name": "place", "type": "string", "desc": "Where"}, {"name": "on", "type": "date", "desc": "When"}]
    document = {"nodes": [{"id": "see_sky", "desc": "Look up", "parameters": parameters}]}
    before = copy.deepcopy(document)
    [tool], rejected = read(taskbench.read_tools, document)
    assert rejected == []
    assert (tool.name, tool.description) == ("see_sky", "Look up")
    assert document == before
    assert tool.raw == before["nodes"][0]
    assert tool.parameters["properties"] == {
        "place": {"type": "string", "description": "Where"},
        "on": {"type": "string", "description": "When"},
    }
    assert tool.parameters["required"] == ["place", "on"]
    assert "#/properties/on: type 'date' read as string; how a date is written is not said" in tool.notes
    assert codes(tool, {"place": "x", "on": "next Friday"}) == []
    assert codes(tool, {"place": "x"}) == ["missing_required"]


def test_inputs_that_have_only_types_are_named_after_them() -> None:
    node = {"id": "Join Two Images", "desc": "d", "input-type": ["image", "image", "Image", "text"], "output-type": ["image"]}
    [tool], _ = read(taskbench.read_tools, node)
    assert tool.name == "Join Two Images"
    assert list(tool.parameters["properties"]) == ["image", "image_2", "Image", "text"]
    assert tool.parameters["required"] == list(tool.parameters["properties"])
    assert list(tool.response["properties"]) == ["image"]
    assert sum("the document gives no names" in note for note in tool.notes) == 4


def test_a_numbered_name_never_takes_the_place_of_another() -> None:
    [tool], _ = read(taskbench.read_tools, [{"id": "f", "desc": "d", "input-type": ["a_2", "a", "a"]}])
    assert list(tool.parameters["properties"]) == ["a_2", "a", "a_3"]


@pytest.mark.parametrize("node", [{"parameters": []}, {"input-type": []}], ids=str)
def test_a_node_without_inputs_takes_none(node: dict[str, Any]) -> None:
    [tool], _ = read(taskbench.read_tools, [{"id": "f", "desc": "d", **node}])
    assert codes(tool, {}) == []
    assert codes(tool, {"x": 1}) == ["unknown_parameter"]
    assert any(note.startswith("#: no parameters are given (") for note in tool.notes)


def test_bad_nodes_are_told_and_the_others_are_read() -> None:
    good = {"id": "f", "desc": "d", "parameters": [{"name": "a", "type": "string"}, {"type": "string"}, {"name": "a"}]}
    bad = [7, {"id": "g", "desc": "d"}, {"id": "h", "desc": "d", "input-type": [1]}, {"id": "", "desc": "d", "parameters": []}]
    tools, rejected = read(taskbench.read_tools, {"nodes": [good, good, good, good, good, *bad]})
    assert [(tool.name, tool.source["uses"]) for tool in tools] == [("f", "5")]
    assert sum("left out" in note for note in tools[0].notes) == 2
    assert len(rejected) == len(bad)


@pytest.mark.parametrize(
    "value",
    [{"nodes": [{"id": "Text"}], "links": []}, {"id": "1", "user_request": "x"}, [{"name": "f", "parameters": {}}], {"nodes": []}, [], 7],
    ids=["graph", "request", "openai", "no nodes", "empty", "number"],
)
def test_other_files_are_not_claimed(value: Any) -> None:
    assert not taskbench.looks_like(value)
    if value:
        with pytest.raises(DocumentError, match=r"file\.json"):
            read(taskbench.read_tools, value)


@settings(max_examples=100)
@given(junk("nodes", "id", "desc", "parameters", "input-type", "output-type", "date"))
def test_junk_never_ends_in_a_traceback(value: Any) -> None:
    ends_well(taskbench.read_tools, value)
    node = {"id": "f", "desc": "d"}
    ends_well(
        taskbench.read_tools, {"nodes": [{**node, "parameters": [{"name": "p", "type": value}]}, {**node, "input-type": value}, value]}
    )
    ends_well(taskbench.read_tools, [{**node, "parameters": value}, {**node, "parameters": [], "output-type": value}])


@pytest.mark.full
@pytest.mark.parametrize(("domain", "count", "parameters"), [("dailylifeapis", 40, 64), ("huggingface", 23, 28), ("multimedia", 40, 49)])
def test_the_published_nodes_are_read(foreign_data: Callable[[str], Path], domain: str, count: int, parameters: int) -> None:
    tools, rejected = read_file(taskbench.read_tools, foreign_data("taskbench") / f"data_{domain}" / "tool_desc.json")
    assert (len(tools), documents(tools), rejected) == (count, count, [])
    assert sum(len(tool.parameters["properties"]) for tool in tools) == parameters
    assert {tool.source["status"] for tool in tools} == {"ok"}
