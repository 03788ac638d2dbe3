import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from familytool.formats import tau_bench
from familytool.formats.openai import DocumentError
from tests.formats.foreign import codes, documents, ends_well, junk, read, read_file


def document(name: str = "find", *required: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"id": {"type": "string"}, **{p: {} for p in required}}, "required": ["id", *required]}
    return {"type": "function", "function": {"name": name, "description": "d", "parameters": schema}}


def test_entries_with_a_domain_and_plain_documents_are_read_alike() -> None:
    value = [{"domain": "shop", "tool": document("a")}, document("b")]
    before = copy.deepcopy(value)
    tools, rejected = read(tau_bench.read_tools, value)
    assert rejected == []
    assert value == before
    assert [tool.raw for tool in tools] == before
    assert [(tool.name, tool.source["format"], tool.source["status"]) for tool in tools] == [
        ("a", "tau-bench", "ok"),
        ("b", "tau-bench", "ok"),
    ]
    assert codes(tools[0], {"id": "x"}) == []
    assert codes(tools[0], {"id": "x", "z": 1}) == ["unknown_parameter"]


def test_equal_documents_of_two_domains_are_one_tool_and_unequal_ones_are_ambiguous() -> None:
    entries = [{"domain": d, "tool": document("same")} for d in "xy"] + [{"domain": d, "tool": document("other", d)} for d in "xy"]
    tools, _ = read(tau_bench.read_tools, entries)
    assert [(tool.name, tool.source["uses"]) for tool in tools] == [("same", "2"), ("other", "1"), ("other", "1")]
    assert [bool([n for n in tool.notes if n.startswith("ambiguous tool name")]) for tool in tools] == [False, True, True]


def test_bad_entries_are_told_and_the_others_are_read() -> None:
    bad = [7, {"domain": "x"}, {"domain": "x", "tool": {}}, {"domain": "x", "tool": {"function": {"name": "", "parameters": {}}}}]
    tools, rejected = read(tau_bench.read_tools, [{"domain": "x", "tool": document("a")}, *bad])
    assert [tool.name for tool in tools] == ["a"]
    assert [sentence.split(":")[0] for sentence in rejected] == [f"file.json, entry {n}" for n in (2, 3, 4, 5)]


@pytest.mark.parametrize(
    ("value", "is_readable"),
    [([document()], True), ([{"id": "0", "evaluation_criteria": {}}], False), ([], True), (7, False)],
    ids=["plain documents are left to OpenAI", "tasks", "empty", "number"],
)
def test_other_files_are_not_claimed(value: Any, is_readable: bool) -> None:
    assert not tau_bench.looks_like(value)
    if not is_readable:
        with pytest.raises(DocumentError, match=r"file\.json"):
            read(tau_bench.read_tools, value)


@settings(max_examples=100)
@given(junk("domain", "tool", "function", "parameters"))
def test_junk_never_ends_in_a_traceback(value: Any) -> None:
    ends_well(tau_bench.read_tools, value)
    ends_well(
        tau_bench.read_tools, [{"domain": "x", "tool": {"function": {"name": "f", "parameters": value}}}, {"domain": "x", "tool": value}]
    )


@pytest.mark.full
def test_the_30_published_documents_are_clean(foreign_data: Callable[[str], Path]) -> None:
    file = foreign_data("tau-bench") / "tools_get_info.extracted.json"
    tools, rejected = read_file(tau_bench.read_tools, file)
    assert tau_bench.looks_like(json.loads(file.read_text("utf-8")))
    assert (documents(tools), len(tools), rejected) == (30, 28, [])
    assert {tool.source["status"] for tool in tools} == {"ok"}
    assert {note for tool in tools for note in tool.notes} == {
        f"ambiguous tool name {n} (2 documents)" for n in ("get_user_details", "think")
    }


@pytest.mark.full
def test_the_tasks_of_tau2_bench_hold_no_documents(foreign_data: Callable[[str], Path]) -> None:
    file = foreign_data("tau2-bench") / "airline_tasks.json"
    tasks = json.loads(file.read_text("utf-8"))
    assert not tau_bench.looks_like(tasks)
    with pytest.raises(DocumentError, match="neither a tau-bench entry nor an OpenAI document"):
        list(tau_bench.read_tools([(file.name, tasks)], []))
