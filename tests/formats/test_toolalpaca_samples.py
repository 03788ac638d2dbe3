"""The reader of ToolAlpaca evaluation files, on APIs of our own and (marked `full`) on the file itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from familytool.formats import toolalpaca_samples
from familytool.formats.benchmarks import detect_benchmark
from familytool.model import Sample
from tests.formats.golden import ends_well, judged, junk, read

RESPONSES = {"200": {"description": "ok"}}


def operation(name: str | None, *parameters: str) -> dict[str, Any]:
    declared = [{"name": p, "in": "query", "schema": {"type": "string"}} for p in parameters]
    return {**({"operationId": name} if name else {}), "parameters": declared, "responses": RESPONSES}


DOCUMENT = {
    "openapi": "3.0.0",
    "info": {"title": "t", "version": "1"},
    "paths": {
        "/moss": {"get": operation("findMoss", "place")},
        "/fern": {"get": operation("growFern", "mossId", "note", "list")},
        "/leaf": {"get": operation(None)},
    },
}


def entry(*answers: Any, instructions: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "Name": "Garden", "Category": "Plants", "Documentation": json.dumps(DOCUMENT), "Golden_Answers": [*answers],
        "Instructions": [f"Request {number}" for number in range(1, len(answers) + 1)] if instructions is None else instructions, **more,
    }  # fmt: skip


def action(name: Any, written: Any) -> dict[str, Any]:
    return {"Action": name, "Action_Input": written}


FIND = action("findMoss", '{"place": "wall"}')


def file(folder: Path, *entries: Any, name: str = "eval_garden.json") -> Path:
    (folder / name).write_text(json.dumps(entries), "utf-8")
    return folder / name


def one(folder: Path, *actions: Any, **more: Any) -> Sample:
    [sample], rejected = read(toolalpaca_samples, file(folder, entry([*actions], **more)))
    assert rejected == []
    return sample


def test_each_instruction_is_a_sample_with_the_operations_of_its_api(tmp_path: Path) -> None:
    [first, second, third], rejected = read(toolalpaca_samples, file(tmp_path, entry([FIND], [FIND, FIND], [])))
    assert rejected == []
    assert [first.id, second.id, third.id] == ["x-Garden-1", "x-Garden-2", "x-Garden-3"]
    assert [first.kind, second.kind, third.kind] == ["no_graph", "multi_call", "no_tool"]
    assert (first.query, first.category) == ("Request 1", "Plants")
    assert [tool.name for tool in first.candidate_tools] == ["findMoss", "growFern", "GET /leaf"]
    assert all(a is b for a, b in zip(first.candidate_tools, second.candidate_tools, strict=True))
    assert first.calls[0].arguments == {"place": "wall"}
    assert first.raw == {"Name": "Garden", "Instruction": "Request 1", "Golden_Answer": [FIND]}
    place = "eval_garden.json, entry 1, instruction 1"
    assert first.provenance == {"format": "toolalpaca", "place": place, "id": "Garden-1", "notes": []}


def test_an_operation_without_an_id_is_called_as_the_projection_calls_it(tmp_path: Path) -> None:
    sample = one(tmp_path, FIND, Function_Projection={"pickLeaf": ["/leaf", "get"], "findMoss": ["/moss", "get"], "odd": 7})
    assert [tool.name for tool in sample.candidate_tools] == ["findMoss", "growFern", "pickLeaf"]
    assert "Function_Projection" in sample.candidate_tools[2].notes[-1]


def test_a_hole_makes_a_call_unparsed_and_its_reading_is_a_reference_but_never_a_literal(tmp_path: Path) -> None:
    """Case imp-027."""
    written = '{"mossId": ${mossId from findMoss}, "n": 2}'
    sample = one(tmp_path, FIND, action("growFern", written))
    assert (sample.kind, [call.name for call in sample.calls]) == ("no_graph", ["findMoss"])
    [unparsed] = sample.provenance["unparsed"]
    assert (unparsed["path"], unparsed["code"], unparsed["name"], unparsed["text"]) == ("/calls/1", "parse_error", "growFern", written)
    reading = unparsed["reading"]
    assert (reading["name"], reading["arguments"]["n"]) == ("growFern", 2)
    assert reading["argument_sources"] == {
        "/arguments/mossId": {"source": "result", "call": 0, "result": "mossId", "text": "${mossId from findMoss}", "embedded": False}
    }


@pytest.mark.parametrize(
    ("written", "sources"),
    [
        pytest.param('{"mossId": ${mossId from findMoss}}', {"/arguments/mossId": ("result", None)}, id="imp-027 tool not called before"),
        pytest.param('{"mossId": ${mossId from elsewhere}}', {"/arguments/mossId": ("hole", None)}, id="no such tool"),
        pytest.param('{"note": ${start date}}', {"/arguments/note": ("hole", None)}, id="no tool is named"),
        pytest.param(
            '{"list": [${a}, {"b/c": ${d}}]}', {"/arguments/list/0": ("hole", None), "/arguments/list/1/b~1c": ("hole", None)}, id="nested"
        ),
        pytest.param(
            '{"note": "{date}", "mossId": ${x}}', {"/arguments/note": ("hole", None), "/arguments/mossId": ("hole", None)}, id="braces"
        ),
        pytest.param('{"note": ${start date}", "mossId": "1"}', None, id="a quote too many"),
        pytest.param('{"mossId": ${a from findMoss, "note": ${b}}', None, id="a brace is missing"),
        pytest.param('{"note": ${}}', None, id="an empty hole"),
        pytest.param('{"note": $x}', None, id="no hole"),
        pytest.param('{"note": "a', None, id="cut off"),
    ],
)
def test_only_what_is_json_but_for_its_holes_has_a_reading(tmp_path: Path, written: str, sources: dict[str, Any] | None) -> None:
    sample = one(tmp_path, action("growFern", written))
    [unparsed] = sample.provenance["unparsed"]
    assert (sample.kind, unparsed["text"]) == ("no_graph", written)
    found = {at: (source["source"], source.get("call")) for at, source in unparsed.get("reading", {}).get("argument_sources", {}).items()}
    assert ("reading" in unparsed, found) == (sources is not None, sources or {})


@pytest.mark.parametrize(
    ("value", "source"),
    [
        pytest.param("${string}", {"source": "hole", "text": "${string}"}, id="hole"),
        pytest.param("on ${day}, please", {"source": "hole", "text": "${day}"}, id="inside a text"),
        pytest.param("{day}", {"source": "hole", "text": "{day}"}, id="braces alone"),
        pytest.param(
            "${id from findMoss}",
            {"source": "result", "call": 0, "result": "id", "text": "${id from findMoss}", "embedded": False},
            id="a result",
        ),
        pytest.param(
            "no. ${id from findMoss}",
            {"source": "result", "call": 0, "result": "id", "text": "${id from findMoss}", "embedded": True},
            id="a result inside a text",
        ),
        pytest.param("a {day}", None, id="braces inside a text"),
        pytest.param("{}", None, id="empty braces"),
        pytest.param("$5", None, id="a price"),
    ],
)
def test_a_hole_in_quotes_is_marked_where_it_stands(tmp_path: Path, value: str, source: dict[str, Any] | None) -> None:
    sample = one(tmp_path, FIND, action("growFern", json.dumps({"list": [{"a/b": value}]})))
    assert sample.argument_sources == ({"/1/arguments/list/0/a~1b": source} if source else {})


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        pytest.param([action("findMoss", '{"a": 1, "a": 2}')], "duplicate_key", id="imp-031"),
        pytest.param([action("findMoss", '{"place": "wal')], "truncated", id="cut off"),
        pytest.param([action("findMoss", "[1]")], "parse_error", id="a list"),
        pytest.param([action("findMoss", None)], "parse_error", id="null"),
        pytest.param([action(None, "{}")], "parse_error", id="no name"),
        pytest.param(["findMoss"], "parse_error", id="a text"),
        pytest.param({"Action": "findMoss"}, "parse_error", id="no list"),
        pytest.param(None, "parse_error", id="no answer"),
    ],
)
def test_answers_that_cannot_be_read_are_kept_as_text(tmp_path: Path, answer: Any, code: str) -> None:
    [sample], rejected = read(toolalpaca_samples, file(tmp_path, entry(answer)))
    assert (sample.kind, sample.calls, rejected) == ("no_graph", (), [])
    assert [(unparsed["path"], unparsed["code"]) for unparsed in sample.provenance["unparsed"]] == [("/calls/0", code)]


def test_names_are_kept_and_arguments_may_be_an_object(tmp_path: Path) -> None:
    sample = one(tmp_path, action("[Optional]findMoss", {"place": "wall"}))
    assert [(call.name, call.arguments) for call in sample.calls] == [("[Optional]findMoss", {"place": "wall"})]


def test_instructions_and_answers_without_each_other_are_rejected_with_their_place(tmp_path: Path) -> None:
    entries = [entry([FIND], instructions=["a", "b", "c"]), entry([FIND], [FIND], instructions=["a"])]
    samples, rejected = read(toolalpaca_samples, file(tmp_path, *entries))
    assert [sample.id for sample in samples] == ["x-Garden-1", "x-Garden-1-2"]
    assert [sentence.partition(": ")[0] for sentence in rejected] == [
        "eval_garden.json, entry 1, instruction 2", "eval_garden.json, entry 1, instruction 3", "eval_garden.json, entry 2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "bad",
    [
        7,
        None,
        {},
        entry([FIND], Documentation="{"),
        entry([FIND], Documentation="{}"),
        entry([FIND], instructions=7),
        entry([FIND], instructions=[7]),
    ],
    ids=lambda value: str(value)[-24:],
)
def test_an_api_that_is_none_is_rejected_with_its_place_and_the_others_are_read(tmp_path: Path, bad: Any) -> None:
    samples, rejected = read(toolalpaca_samples, file(tmp_path, entry([FIND]), bad, entry([FIND])))
    assert len(samples) == 2
    assert rejected
    assert all(sentence.startswith("eval_garden.json, entry 2") for sentence in rejected)
    assert all(sentence.count("entry 2") == 1 for sentence in rejected)


def test_a_file_and_its_folder_are_recognised(tmp_path: Path) -> None:
    path = file(tmp_path, entry([FIND]))
    assert detect_benchmark(path) == detect_benchmark(tmp_path) == "toolalpaca"
    assert len(read(toolalpaca_samples, tmp_path)[0]) == 1


_JUNK = junk("Name", "Documentation", "Instructions", "Golden_Answers", "Action", "Action_Input", "findMoss", "${x from findMoss}", "${x}")


def _property(value: Any, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    answer = [FIND, action("growFern", value), action(value, '{"a": ${x from findMoss}}'), action("growFern", json.dumps({"a": value}))]
    ends_well(
        toolalpaca_samples,
        file(folder, value, entry(answer), entry(value, [value]), entry([FIND], Function_Projection=value, Category=value)),
    )


@settings(max_examples=100)
@given(value=_JUNK)
def test_junk_never_ends_in_a_traceback(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    _property(value, tmp_path_factory.getbasetemp() / "toolalpaca-junk")


@pytest.mark.soak
@settings(max_examples=2000)
@given(value=_JUNK)
def test_much_junk_never_ends_in_a_traceback(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    _property(value, tmp_path_factory.getbasetemp() / "toolalpaca-junk")


@pytest.mark.full
def test_32_of_154_published_actions_are_no_json_and_30_of_them_read_with_holes(foreign_data: Callable[[str], Path]) -> None:
    """One more holds the hole `${string}` twice inside JSON; nine calls name no operation, eight of them `getDetails`."""
    samples, rejected = read(toolalpaca_samples, foreign_data("toolalpaca"))
    assert (len(samples), rejected) == (100, [])
    unparsed = [entry for sample in samples for entry in sample.provenance.get("unparsed", ())]
    counts = judged(samples, references_are_legal=True)
    assert (len(unparsed), counts["calls"]) == (32, 122)
    assert {entry["code"] for entry in unparsed} == {"parse_error"}
    assert sum("reading" in entry for entry in unparsed) == 30
    assert [source["source"] for sample in samples for source in sample.argument_sources.values()] == ["hole", "hole"]
    assert (counts["not offered"], counts["conform"], counts["fail"]) == (9, 104, 9)
