"""Documents of MTU-Bench and of FamilyTool (2025), written: their own readers find the same tools in them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from familytool.formats import familytool_2025_tools, mtu_bench
from familytool.formats.documents import TOOL_FORMATS, read_documents
from familytool.formats.openai import DocumentError
from familytool.formats.schema import normalise_parameters
from familytool.model import Tool
from tests.formats.foreign import read

PROPERTIES = {
    "city": {"type": "string", "description": "Where."},
    "song/playlist": {},
    "n": {"type": "integer", "minimum": 1, "default": 2},
    "when": {"type": "string", "format": "date", "enum": ["2025-01-01"]},
    "deep": {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string", "pattern": "^x"}}}, "required": ["a"]},
}


def tool(properties: Any = None, required: Any = ("city", "song/playlist"), response: Any = None, **more: Any) -> Tool:
    schema = {"type": "object", "properties": PROPERTIES if properties is None else properties, "required": list(required), **more}
    return Tool(name="f.g", description="Dü.", parameters=normalise_parameters(schema)[0], response=response or {})


def again(module: Any, written: Tool) -> Tool:
    [records] = list(module.write_tools([written]))
    assert module.looks_like(records)
    assert next(name for name, known in TOOL_FORMATS.items() if known.looks_like(records)) == module.NAME
    tools, rejected = read(module.read_tools, records)
    assert rejected == []
    return tools[0]


def test_an_mtu_document_has_objects_and_bare_names() -> None:
    [[document]] = mtu_bench.write_tools([tool(response={"ok": {}, "price": {"type": "number"}})])
    assert document == {
        "name": "f.g",
        "description": "Dü.",
        "required_parameters": [{"name": "city", "type": "string", "description": "Where."}, "song/playlist"],
        "optional_parameters": [{"name": n, **PROPERTIES[n]} for n in ("n", "when", "deep")],  # type: ignore[dict-item]
        "result_parameters": ["ok", {"name": "price", "type": "number"}],
    }


@pytest.mark.parametrize("module", [mtu_bench, familytool_2025_tools], ids=lambda module: str(module.NAME))
@pytest.mark.parametrize(
    "written",
    [tool(), tool(response={"ok": {}, "price": {"type": "number"}}), tool({}, ()), tool({"name": {"type": "string"}, "x": {}}, ("x",))],
    ids=["parameters", "results", "nothing", "a parameter called name"],
)
def test_a_written_document_is_read_as_the_same_tool(module: Any, written: Tool) -> None:
    back = again(module, written)
    assert (back.name, back.description, back.parameters, back.response) == (
        written.name,
        written.description,
        written.parameters,
        written.response,
    )


LOST = {
    "combinators": ({"oneOf": [{"required": ["n"]}]}, ["#/oneOf is not written"]),
    "an open schema": ({"additionalProperties": True}, ["#/additionalProperties is not written"]),
    "definitions": (
        {"$defs": {"C": {"type": "string"}}, "properties": {"c": {"$ref": "#/$defs/C", "description": "C."}}},
        ["#/$defs is not written", "#/properties: references ($ref) to definitions of the whole are not written"],
    ),
    "nothing": ({}, []),
}


@pytest.mark.parametrize(("more", "told"), LOST.values(), ids=LOST.keys())
def test_what_an_mtu_document_cannot_say_is_told(more: Any, told: list[str]) -> None:
    """imp-015: a reference is not left without what it leads to."""
    written = tool(more.pop("properties", None), (), **more)
    assert mtu_bench.losses(written) == told
    assert "$ref" not in json.dumps(list(mtu_bench.write_tools([written])))


def test_a_response_that_is_a_schema_is_written_as_the_names_of_its_results() -> None:
    [[document]] = mtu_bench.write_tools([tool(response={"type": "object", "properties": {"ok": {"type": "boolean"}}})])
    assert document["result_parameters"] == [{"name": "ok", "type": "boolean"}]


def test_a_familytool_document_that_was_read_is_written_as_it_stood() -> None:
    documents = [
        {"name": "a", "description": "d", "parameters": {"type": "object", "properties": {"n": {"type": "int"}}, "required": ["m"]}, "response": {"x": {}}},
        {"name": "b", "description": "", "parameters": {"type": "object", "properties": {}, "required": []}, "response": {}},
    ]  # fmt: skip
    tools, _ = read(familytool_2025_tools.read_tools, documents)
    assert list(familytool_2025_tools.write_tools(tools)) == [documents]
    other = tools[0].model_copy(update={"description": "e"})
    assert list(familytool_2025_tools.write_tools([other])) == [[{**documents[0], "description": "e"}]]


def test_the_documents_of_a_sample_file_are_its_distinct_candidates() -> None:
    a, b = ({"name": n, "description": "", "parameters": {"type": "object", "properties": {}}, "response": {}} for n in "ab")
    rows = [
        [{"role": r, "content": c} for r, c in zip(("id", "candidate_tools", "user", "tool_call"), ("i", listed, "", []), strict=True)]
        for listed in ([a, b, a], [b], ["x"], 7)
    ]
    rejected: list[str] = []
    tools = list(familytool_2025_tools.read_tools([(f"s:{n}", row) for n, row in enumerate(rows, 1)], rejected))
    assert [(t.name, t.source["uses"], t.source["place"]) for t in tools] == [("a", "2", "s:1"), ("b", "2", "s:1")]
    assert rejected == ["s:3: candidate tool 0 is no tool document with a name", "s:4: the content of 'candidate_tools' is int 7, no list"]
    with pytest.raises(DocumentError, match="s:1: int 5 is neither a row nor a list"):
        list(familytool_2025_tools.read_tools([("s:1", 5)], []))


@pytest.mark.parametrize(
    "value",
    [
        [], {}, None, [{"name": "f", "description": "", "parameters": {}}],
        {"name": "f", "description": "", "parameters": {"type": "dict"}, "response": {}},
        {"type": "function", "name": "f", "description": "", "parameters": {}, "response": {}},
    ],
    ids=str,
)  # fmt: skip
def test_documents_of_other_forms_are_not_claimed(value: Any) -> None:
    assert not familytool_2025_tools.looks_like(value)
    assert not mtu_bench.looks_like(value)


@pytest.mark.full
def test_all_mtu_documents_go_through_both_forms(foreign_data: Callable[[str], Path], tmp_path: Path) -> None:
    tools = read_documents(foreign_data("mtu-bench"))
    assert len(tools) == 181
    for module in (mtu_bench, familytool_2025_tools):
        path = tmp_path / f"{module.NAME}.json"
        path.write_text(json.dumps(next(module.write_tools(tools)), ensure_ascii=False), encoding="utf-8")
        back = read_documents(path)
        assert [(t.name, t.description, t.parameters, t.response) for t in back] == [
            (t.name, t.description, t.parameters, t.response) for t in tools
        ]


@pytest.mark.full
@pytest.mark.parametrize(("version", "count"), [("b", 114), ("e", 116)])
def test_the_published_sets_have_so_many_documents(version: str, count: int, foreign_data: Callable[[str], Path]) -> None:
    rejected: list[str] = []
    tools = read_documents(foreign_data("familytool") / f"familytool-{version}.jsonl", rejected)
    assert (len(tools), rejected) == (count, [])
    assert {tool.source["format"] for tool in tools} == {"familytool-2025"}
