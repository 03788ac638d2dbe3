"""xLAM / APIGen as a benchmark: answers and tools as text or as lists, read and written back as they stood."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from familytool.errors import FamilytoolError
from familytool.formats.benchmark_files import Source
from familytool.formats.xlam_samples import looks_like, read_samples, write_samples
from familytool.model import Sample, Tool, ToolCall

FIND = {
    "name": "find",
    "description": "Find.",
    "parameters": {"q": {"description": "What.", "type": "str"}, "n": {"description": "", "type": "int, optional", "default": 3}},
}
ANSWERS = [{"name": "find", "arguments": {"q": "Zoë", "n": 2}}]


def row(answers: Any = None, tools: Any = None, id: Any = 5, as_text: bool = True, **more: Any) -> dict[str, Any]:
    answers, tools = ANSWERS if answers is None else answers, [FIND] if tools is None else tools
    encode: Callable[[Any], Any] = (
        (lambda value: value if isinstance(value, str) else json.dumps(value)) if as_text else (lambda value: value)
    )
    return {"id": id, "query": "Find Zoë.", "answers": encode(answers), "tools": encode(tools), **more}


def read(tmp_path: Path, *rows: Any, name: str = "x.jsonl") -> tuple[list[Sample], list[str]]:
    path, rejected = tmp_path / name, list[str]()
    path.write_text("".join(r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) + "\n" for r in rows), encoding="utf-8")
    return list(read_samples(Source(path, "x"), rejected)), rejected


def written(*samples: Sample) -> list[Any]:
    return [json.loads(line) for _, line in write_samples(samples, "x")]


@pytest.mark.parametrize("as_text", [True, False], ids=["texts", "lists"])
def test_a_row_becomes_a_sample_and_is_written_as_it_stood(as_text: bool, tmp_path: Path) -> None:
    original = row(as_text=as_text, source="copy")
    [sample], rejected = read(tmp_path, original)
    assert rejected == []
    assert (sample.id, sample.kind, sample.query, sample.raw) == ("x-5", "no_graph", "Find Zoë.", original)
    assert sample.calls == (ToolCall(name="find", arguments={"q": "Zoë", "n": 2}),)
    assert sample.candidate_tools[0].parameters["required"] == ["q"]
    assert sample.provenance["place"] == "x.jsonl:1"
    assert [line for _, line in write_samples([sample], "x")] == [json.dumps(original, ensure_ascii=False) + "\n"]


SHAPES = {
    "arguments": {"name": "f", "arguments": {"a": 1}},
    "text": {"name": "f", "arguments": '{"a": 1}'},
    "parameters": {"name": "f", "parameters": {"a": 1}},
    "input": {"name": "f", "input": {"a": 1}},
    "args": {"name": "f", "args": {"a": 1}},
}


@pytest.mark.parametrize("entry", SHAPES.values(), ids=[f"imp-029 {name}" for name in SHAPES])
def test_all_shapes_of_a_call_are_the_same_call(entry: Any, tmp_path: Path) -> None:
    [sample], _ = read(tmp_path, row([entry, *ANSWERS]))
    assert sample.calls[0] == ToolCall(name="f", arguments={"a": 1})
    assert sample.kind == "multi_call"
    [new] = written(sample.model_copy(update={"calls": (sample.calls[0], ToolCall(name="find", arguments={}))}))
    assert json.loads(new["answers"]) == [entry, {"name": "find", "arguments": {}}]


UNREAD = {
    "imp-031 a key twice": ('[{"name": "f", "arguments": {"a": 1, "a": 2}}]', "duplicate_key"),
    "cut off": ('[{"name": "f", "argu', "truncated"),
    "no list": ('{"name": "f"}', "parse_error"),
    "an entry without a name": ('[{"arguments": {}}]', "parse_error"),
    "arguments that are a list": ('[{"name": "f", "arguments": [1]}]', "parse_error"),
}


@pytest.mark.parametrize(("answers", "code"), UNREAD.values(), ids=UNREAD.keys())
def test_answers_that_cannot_be_read_are_kept_as_text(answers: str, code: str, tmp_path: Path) -> None:
    [sample], rejected = read(tmp_path, row(answers))
    assert (sample.calls, sample.kind, rejected) == ((), "no_graph", [])
    assert [(u["path"], u["code"]) for u in sample.provenance["unparsed"]] == [("/calls/0", code)]
    assert written(sample) == [row(answers)]


def test_no_answers_are_no_call(tmp_path: Path) -> None:
    [sample], _ = read(tmp_path, row([]))
    assert (sample.kind, sample.calls) == ("no_tool", ())


BAD = {
    "no JSON": ("{\n", "not JSON"),
    "no row": ({"id": 1}, "is no row with query, answers and tools"),
    "tools that are no list": (row(tools={"a": 1}), "not a list of tool documents"),
    "tools that are no JSON": (row(tools="[{"), "the text under 'tools' cannot be read"),
    "a document that is none": (row(tools=["find"]), "entry 1 of 'tools' is str 'find'"),
    "a blank query": ({**row(), "query": " "}, "the query is"),
}


@pytest.mark.parametrize(("bad", "reason"), BAD.values(), ids=BAD.keys())
def test_a_bad_row_is_rejected_with_its_place_and_the_others_are_read(bad: Any, reason: str, tmp_path: Path) -> None:
    samples, rejected = read(tmp_path, row(), bad, row(id="b"))
    assert [sample.id for sample in samples] == ["x-5", "x-b"]
    assert len(rejected) == 1
    assert reason in rejected[0]
    assert rejected[0].startswith(("x.jsonl:2: ", "x.jsonl:2 (5): ", "x.jsonl:2 (1): "))


def test_a_file_that_is_one_list_is_read_too(tmp_path: Path) -> None:
    samples, rejected = read(tmp_path, json.dumps([row(), row(id=6)]), name="x.json")
    assert ([s.id for s in samples], rejected) == (["x-5", "x-6"], [])


def test_changes_are_the_only_changes(tmp_path: Path) -> None:
    [sample], _ = read(tmp_path, row([*ANSWERS, {"name": "find", "arguments": {"q": "b"}, "id": "c1"}], [FIND, {**FIND, "name": "other"}]))
    call = ToolCall(name="find", arguments={"q": "Zoe"})
    tool = sample.candidate_tools[1].model_copy(update={"description": "Other."})
    [new] = written(sample.model_copy(update={"calls": (call, sample.calls[1]), "candidate_tools": (sample.candidate_tools[0], tool)}))
    assert json.loads(new["answers"]) == [
        {"name": "find", "arguments": {"q": "Zoe"}},
        {"name": "find", "arguments": {"q": "b"}, "id": "c1"},
    ]
    assert json.loads(new["tools"]) == [FIND, {**FIND, "name": "other", "description": "Other."}]
    assert {**new, "answers": "", "tools": ""} == {**row(), "answers": "", "tools": ""}


def plain(**update: Any) -> Sample:
    schema = {"type": "object", "properties": {"tea": {"type": "string"}}, "required": ["tea"], "additionalProperties": False}
    fields: dict[str, Any] = {
        "id": "home-12", "benchmark": "home", "kind": "no_graph", "speaker": "Ann", "query": "Brew.", "graph_id": "g",
        "candidate_tools": (Tool(name="brew", parameters=schema), Tool(name="pour", parameters={**schema, "minProperties": 1})),
        "calls": (ToolCall(name="brew", arguments={"tea": "münze"}),),
    }  # fmt: skip
    return Sample(**{**fields, **update})


def test_a_sample_of_our_own_has_flat_maps_where_they_say_all() -> None:
    [new] = written(plain())
    assert {**new, "tools": ""} == {"id": 12, "query": "Brew.", "answers": '[{"name": "brew", "arguments": {"tea": "münze"}}]', "tools": ""}
    [flat, schema] = json.loads(new["tools"])
    assert flat["parameters"] == {"tea": {"description": "", "type": "str"}}
    assert schema["parameters"] == plain().candidate_tools[1].parameters


@pytest.mark.parametrize(("own", "id"), [("home-012", "012"), ("home-a", "a"), ("home-٣", "٣"), ("other", "other"), ("home-9", 9)])
def test_an_id_is_a_number_only_if_it_is_one(own: str, id: Any) -> None:
    assert written(plain(id=own))[0]["id"] == id


UNSAYABLE = {
    "alternatives": (plain(alternatives=((),)), "it accepts alternatives"),
    "no golden call": (plain(calls=()), "it has no golden call, and is of kind no_graph"),
    "a blank query": (plain(query="Brew. "), "the query would be read as"),
    "half a pair": (plain(query="\ud800"), "half of a surrogate pair"),
    "a number that JSON has not": (plain(calls=(ToolCall(name="brew", arguments={"n": float("nan")}),)), "the calls would be read as"),
}


@pytest.mark.parametrize(("sample", "reason"), UNSAYABLE.values(), ids=UNSAYABLE.keys())
def test_what_cannot_be_said_is_rejected_with_the_reason(sample: Sample, reason: str) -> None:
    rejected: list[str] = []
    assert list(write_samples([sample], "x", rejected)) == []
    assert rejected[0].startswith("home-12: ")
    assert reason in rejected[0]
    with pytest.raises(FamilytoolError, match="cannot be written as xlam"):
        list(write_samples([sample], "x"))


@pytest.mark.parametrize(
    ("value", "expected"), [(row(), True), (row(as_text=False), True), ([row()], False), ({"query": "x"}, False), (None, False)]
)
def test_only_rows_look_like_it(value: Any, expected: bool) -> None:
    assert looks_like(value) is expected


@pytest.mark.full
def test_the_shape_that_the_vendor_publishes_is_read_and_written(foreign_data: Callable[[str], Path]) -> None:
    rejected: list[str] = []
    path = foreign_data("vendor-shapes") / "xlam_row.json"
    [sample] = read_samples(Source(path, "x"), rejected)
    assert (sample.calls[0].arguments, rejected) == ({"city": "Oslo"}, [])
    assert written(sample) == [json.loads(path.read_text("utf-8"))]
