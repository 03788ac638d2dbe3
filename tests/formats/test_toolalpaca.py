import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from familytool.formats import toolalpaca
from familytool.formats.openai import DocumentError
from tests.formats.foreign import codes, documents, ends_well, junk, read, read_file


def openapi(*operations: str, required: bool = True) -> dict[str, Any]:
    parameter = {"name": "id", "in": "query", "required": required, "schema": {"type": "integer"}}
    paths = {
        f"/{name}": {"get": {"operationId": name, "description": "d", "parameters": [parameter], "responses": {}}} for name in operations
    }
    return {"openapi": "3.0.0", "info": {"title": "t", "version": "1"}, "paths": paths}


def entry(documentation: Any, name: str = "Zoo") -> dict[str, Any]:
    text = documentation if isinstance(documentation, str) else json.dumps(documentation)
    return {"Name": name, "Description": "d", "Documentation": text, "Golden_Answers": []}


def test_each_operation_of_each_api_is_a_tool() -> None:
    value = [entry(openapi("a", "b")), entry(openapi("c"), "Café")]
    before = copy.deepcopy(value)
    tools, rejected = read(toolalpaca.read_tools, value)
    assert (rejected, value) == ([], before)
    assert [(tool.name, tool.source["place"]) for tool in tools] == [
        (n, f"file.json, entry {at}") for n, at in (("a", 1), ("b", 1), ("c", 2))
    ]
    assert {tool.source["format"] for tool in tools} == {"toolalpaca"}
    assert codes(tools[0], {"id": 1}) == []
    assert codes(tools[0], {}) == ["missing_required"]
    assert codes(tools[0], {"id": 1, "z": 1}) == ["unknown_parameter"]


def test_equal_operations_of_two_apis_are_one_tool_and_unequal_ones_are_ambiguous() -> None:
    value = [entry(openapi("same", "other")), entry(openapi("same"), "B"), entry(openapi("other", required=False), "C")]
    tools, _ = read(toolalpaca.read_tools, value)
    assert [(tool.name, tool.source["uses"]) for tool in tools] == [("same", "2"), ("other", "1"), ("other", "1")]
    assert ["ambiguous tool name other (2 documents)" in tool.notes for tool in tools] == [False, True, True]


@pytest.mark.parametrize(
    "documentation",
    ["not JSON", '{"paths": {}, "paths": {}}', "[]", "{}", '{"openapi": "3.0.0"}', "[" * 5_000, '{"openapi": "3.0.0", "paths": []}'],
    ids=["no JSON", "double key", "list", "empty", "no paths", "deep", "paths are a list"],
)
def test_an_api_whose_text_is_no_openapi_is_told_and_the_others_are_read(documentation: str) -> None:
    tools, rejected = read(toolalpaca.read_tools, [entry(documentation), entry(openapi("a"))])
    assert [tool.name for tool in tools] == ["a"]
    assert len(rejected) == 1
    assert rejected[0].startswith("file.json, entry 1")


@pytest.mark.parametrize(
    "value",
    [[{"name": "f", "parameters": {}}], openapi("a"), {"Name": "x", "Documentation": {}}, [], 7],
    ids=["openai", "openapi", "no text", "empty", "number"],
)
def test_other_files_are_not_claimed(value: Any) -> None:
    assert not toolalpaca.looks_like(value)
    if value:
        with pytest.raises(DocumentError, match=r"file\.json"):
            read(toolalpaca.read_tools, value)


@settings(max_examples=100)
@given(junk("Name", "Documentation", "paths", "get", "parameters", "schema", "operationId"))
def test_junk_never_ends_in_a_traceback(value: Any) -> None:
    ends_well(toolalpaca.read_tools, value)
    ends_well(toolalpaca.read_tools, [entry(json.dumps({"openapi": "3.0.0", "paths": {"/a": {"get": value}, "/b": value}})), value])


@pytest.mark.full
def test_the_54_operations_of_the_ten_published_apis_are_read(foreign_data: Callable[[str], Path]) -> None:
    file = foreign_data("toolalpaca") / "eval_simulated.json"
    tools, rejected = read_file(toolalpaca.read_tools, file)
    assert toolalpaca.looks_like(json.loads(file.read_text("utf-8")))
    assert (documents(tools), rejected) == (54, [])
    assert {tool.source["place"] for tool in tools} == {f"eval_simulated.json, entry {n}" for n in range(1, 11)}
