"""The reader of NESTFUL data files, on rows of our own and (marked `full`) on the files themselves."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from familytool.errors import FamilytoolError
from familytool.formats import nestful_samples
from familytool.formats.benchmarks import detect_benchmark
from familytool.model import Sample
from tests.formats.golden import ends_well, judged, junk, read, references, write_lines

SPECIFICATION = [
    {"name": "find_bee", "query_parameters": {"garden": {"type": "string", "required": True}}, "output_parameters": {"bees": {}}},
    {"name": "count.wings", "query_parameters": {"n": {"type": "number"}, "notes": {"type": "array"}}, "output_parameters": {}},
]
FIND = {"name": "find_bee", "arguments": {"garden": "north"}, "label": "var1"}
CLOSING = {"name": "var_result", "arguments": {"bees": "$var1$"}}


def files(folder: Path, *rows: Any, specification: Any = SPECIFICATION) -> Path:
    (folder / "meadow-spec.json").write_text(json.dumps(specification), "utf-8")
    (folder / "meadow-data.json").write_text(json.dumps(rows), "utf-8")
    return folder / "meadow-data.json"


def row(*calls: Any, query: Any = "How many wings?", **more: Any) -> dict[str, Any]:
    return {"input": query, "output": [*calls], **more}


def one(folder: Path, *calls: Any, **more: Any) -> Sample:
    [sample], rejected = read(nestful_samples, files(folder, row(*calls, **more)))
    assert rejected == []
    return sample


def counted(value: Any) -> dict[str, Any]:
    return {"name": "count.wings", "arguments": {"n": value}, "label": "var2"}


def test_a_row_becomes_a_sample_with_all_documents_of_the_specification(tmp_path: Path) -> None:
    samples, rejected = read(nestful_samples, files(tmp_path, row(FIND, CLOSING), row(FIND, counted(2), CLOSING)))
    assert ([sample.id for sample in samples], rejected) == (["x-meadow-1", "x-meadow-2"], [])
    first, second = samples
    assert (first.kind, second.kind, first.query, first.category, first.graph_id) == (
        "no_graph",
        "multi_call",
        "How many wings?",
        "meadow",
        "",
    )
    assert [tool.name for tool in first.candidate_tools] == ["find_bee", "count.wings"]
    assert all(a is b for a, b in zip(first.candidate_tools, second.candidate_tools, strict=True))
    assert [(call.name, call.arguments) for call in second.calls] == [("find_bee", {"garden": "north"}), ("count.wings", {"n": 2})]
    assert first.raw == row(FIND, CLOSING)
    assert first.provenance == {
        "format": "nestful",
        "place": "meadow-data.json, entry 1",
        "id": None,
        "result": {"bees": "$var1$"},
        "notes": [],
    }


def test_the_closing_pseudo_call_is_no_call_and_one_elsewhere_is(tmp_path: Path) -> None:
    assert one(tmp_path, CLOSING).kind == "no_tool"
    assert [call.name for call in one(tmp_path, CLOSING, FIND).calls] == ["var_result", "find_bee"]


def source(call: int | None, result: str, text: str, embedded: bool = False) -> dict[str, Any]:
    return {"source": "result", "call": call, "result": result, "text": text, "embedded": embedded}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("$var1.bees$", source(0, "bees", "$var1.bees$"), id="whole"),
        pytest.param("$var1$", source(0, "", "$var1$"), id="all of a result"),
        pytest.param("$var1.bees[0]$", source(0, "bees[0]", "$var1.bees[0]$"), id="index"),
        pytest.param("$var1[0].wing span$", source(0, "[0].wing span", "$var1[0].wing span$"), id="index first, and a space"),
        pytest.param("$var1.bees[0].id$", source(0, "bees[0].id", "$var1.bees[0].id$"), id="path"),
        pytest.param("5 * $var1.Wing Span$", source(0, "Wing Span", "$var1.Wing Span$", True), id="embedded"),
        pytest.param("$var9.bees$", source(None, "bees", "$var9.bees$"), id="unknown label"),
        pytest.param("$var2.n$", source(None, "n", "$var2.n$"), id="itself"),
        pytest.param("$later.n$", source(None, "n", "$later.n$"), id="later call"),
        pytest.param("$100-$200", None, id="prices"),
        pytest.param("$USD and $EUR", None, id="currencies"),
        pytest.param("$price.net$", None, id="no such label"),
        pytest.param("$5$", None, id="a number"),
        pytest.param("var1.bees", None, id="no signs"),
        pytest.param("$" * 300, None, id="signs alone"),
    ],
)
def test_references_are_recorded_as_they_stand_and_prices_are_none(tmp_path: Path, value: str, expected: dict[str, Any] | None) -> None:
    later = {"name": "find_bee", "arguments": {}, "label": "later"}
    sample = one(tmp_path, FIND, counted(value), later, CLOSING)
    assert sample.argument_sources == ({"/1/arguments/n": expected} if expected else {})
    assert sample.calls[1].arguments == {"n": value}


def test_several_references_in_one_text_and_nested_ones_are_all_recorded(tmp_path: Path) -> None:
    call = {"name": "count.wings", "arguments": {"n": "$var1.a$ - $var1.b$", "notes": [{"a/b": "$var1.c$"}]}}
    sources = one(tmp_path, FIND, call).argument_sources
    assert sources["/1/arguments/n"] == {**source(0, "a", "$var1.a$", True), "also": [source(0, "b", "$var1.b$", True)]}
    assert sources["/1/arguments/notes/0/a~1b"] == source(0, "c", "$var1.c$")


@pytest.mark.parametrize("value", ["var1.bees$", "$var1.bees", "var1[0]$"])
def test_half_a_reference_stays_a_literal_and_is_noted(tmp_path: Path, value: str) -> None:
    sample = one(tmp_path, FIND, counted(value))
    assert sample.argument_sources == {}
    assert [note.partition(":")[0] for note in sample.provenance["notes"]] == ["/1/arguments/n"]


def test_the_index_of_a_call_counts_the_calls_that_could_be_read(tmp_path: Path) -> None:
    sample = one(tmp_path, {"name": "find_bee", "arguments": 7, "label": "var0"}, FIND, counted("$var1.bees$"), counted("$var0.bees$"))
    assert [source["call"] for source in sample.argument_sources.values()] == [0, None]
    assert [unparsed["path"] for unparsed in sample.provenance["unparsed"]] == ["/calls/0"]


@pytest.mark.parametrize(
    ("output", "code"),
    [
        pytest.param("[", "truncated", id="text that is cut off"),
        pytest.param('[{"a": 1, "a": 2}]', "duplicate_key", id="imp-031"),
        pytest.param({"name": "find_bee"}, "parse_error", id="no list"),
        pytest.param([{"name": "find_bee"}], "parse_error", id="no arguments"),
        pytest.param([{"arguments": {}}], "parse_error", id="no name"),
        pytest.param(["find_bee"], "parse_error", id="a text for a call"),
    ],
)
def test_calls_that_cannot_be_read_are_kept_as_text(tmp_path: Path, output: Any, code: str) -> None:
    [sample], rejected = read(nestful_samples, files(tmp_path, {"input": "q", "output": output}))
    assert (sample.kind, sample.calls, rejected) == ("no_graph", (), [])
    assert [unparsed["code"] for unparsed in sample.provenance["unparsed"]] == [code]


def test_a_row_may_list_its_own_documents_and_hold_json_as_text(tmp_path: Path) -> None:
    call = {"name": "add", "arguments": '{"a": "$var_1.sum$"}', "label": "$var_2"}
    listed = [{"name": "add", "parameters": {"a": {"type": "number"}}, "output_parameters": {"sum": {}}}]
    rows = [
        {"sample_id": "s-1", "input": "q", "output": json.dumps([{**FIND, "label": "$var_1"}, call]), "tools": json.dumps(listed)},
        {"sample_id": "s-2", "input": "q", "output": [], "tools": listed},
    ]
    [first, second], rejected = read(nestful_samples, write_lines(tmp_path / "rows.jsonl", *rows))
    assert ([first.id, second.id], rejected) == (["x-s-1", "x-s-2"], [])
    assert [tool.name for tool in first.candidate_tools] == [tool.name for tool in second.candidate_tools] == ["add"]
    assert first.calls[1].arguments == {"a": "$var_1.sum$"}
    assert first.argument_sources == {"/1/arguments/a": source(0, "sum", "$var_1.sum$")}
    assert first.provenance["notes"] == ["the output is JSON text; decoded", "call 1 (add): the arguments are JSON text; decoded"]


def test_without_documents_the_error_says_which_file_is_wanted_and_how_to_name_it(tmp_path: Path) -> None:
    path = files(tmp_path, row(FIND))
    specification = (tmp_path / "meadow-spec.json").rename(tmp_path / "elsewhere.json")
    with pytest.raises(FamilytoolError, match=r"meadow-data\.json: .*meadow-spec\.json.*--documents"):
        read(nestful_samples, path)
    [sample], _ = read(nestful_samples, path, specification)
    assert [tool.name for tool in sample.candidate_tools] == ["find_bee", "count.wings"]


def test_a_folder_is_read_file_by_file_each_with_its_specification(tmp_path: Path) -> None:
    files(tmp_path, row(FIND))
    (tmp_path / "wood-data.json").write_text(json.dumps([row(FIND)]), "utf-8")
    (tmp_path / "wood-spec.json").write_text(json.dumps(SPECIFICATION[:1]), "utf-8")
    samples, rejected = read(nestful_samples, tmp_path)
    assert [(sample.id, len(sample.candidate_tools)) for sample in samples] == [("x-meadow-1", 2), ("x-wood-1", 1)]
    assert rejected == []
    assert detect_benchmark(tmp_path) == detect_benchmark(tmp_path / "wood-data.json") == "nestful"
    assert detect_benchmark(tmp_path / "wood-spec.json") == ""


@pytest.mark.parametrize(
    "bad",
    [7, None, [], {"input": "q"}, {"output": []}, {"input": 7, "output": []}, {"input": " ", "output": []}, row(FIND, tools="{")],
    ids=lambda value: str(value)[:24],
)
def test_a_row_that_is_none_is_rejected_with_its_place_and_the_others_are_read(tmp_path: Path, bad: Any) -> None:
    samples, rejected = read(nestful_samples, files(tmp_path, row(FIND), bad, row(FIND)))
    assert [sample.id for sample in samples] == ["x-meadow-1", "x-meadow-3"]
    assert [sentence.partition(": ")[0] for sentence in rejected] == ["meadow-data.json, entry 2"]


_JUNK = junk("input", "output", "tools", "label", "arguments", "find_bee", "var1", "$var1.x$", "var_result")


def _property(value: Any, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    call = {"name": "find_bee", "arguments": value, "label": "var1"}
    ends_well(
        nestful_samples, files(folder, value, row(call, value), row(value, call, call), {"input": "q", "output": value, "tools": value})
    )


@settings(max_examples=100)
@given(value=_JUNK)
def test_junk_never_ends_in_a_traceback(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    _property(value, tmp_path_factory.getbasetemp() / "nestful-junk")


@pytest.mark.soak
@settings(max_examples=2000)
@given(value=_JUNK)
def test_much_junk_never_ends_in_a_traceback(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    _property(value, tmp_path_factory.getbasetemp() / "nestful-junk")


@pytest.fixture(scope="module")
def published(foreign_data: Callable[[str], Path]) -> dict[str, list[Sample]]:
    samples, rejected = read(nestful_samples, foreign_data("nestful"))
    assert rejected == []
    return {part: [s for s in samples if s.category == part] for part in ("executable", "non-executable-glaive", "non-executable-sgd")}


@pytest.mark.full
@pytest.mark.parametrize(
    ("part", "rows", "calls", "unknown", "not_offered", "missing", "conform"),
    [
        ("executable", 85, 233, 34, 0, 1, 201),
        ("non-executable-glaive", 169, 469, 15, 11, 21, 416),
        ("non-executable-sgd", 46, 98, 2, 0, 8, 85),
    ],
)
def test_the_defects_of_the_published_calls_are_the_measured_ones(
    published: dict[str, list[Sample]], part: str, rows: int, calls: int, unknown: int, not_offered: int, missing: int, conform: int
) -> None:
    """34 + 15 + 2 unknown parameters and 11 unknown tools; 30 required ones are missing, 29 of them in the two other files."""
    counts = judged(published[part], references_are_legal=True)
    assert (len(published[part]), counts["calls"]) == (rows, calls)
    assert (counts["unknown"], counts["not offered"], counts["missing"]) == (unknown, not_offered, missing)
    assert (counts["conform"], counts["fail"]) == (conform, calls - not_offered - conform)


@pytest.mark.full
def test_the_published_calls_hold_433_values_with_references_of_which_four_take_an_element_of_a_list(
    published: dict[str, list[Sample]],
) -> None:
    """435 references: 421 are whole values, 14 stand inside 12 longer texts; without the four with an index there are 429 values."""
    samples = [sample for part in published.values() for sample in part]
    assert sum("result" in sample.provenance for sample in samples) == 300
    found = references(samples)
    assert (len(found), sum(not source["embedded"] for source in found)) == (433, 421)
    assert len(found) + sum(len(source.get("also", [])) for source in found) == 435
    assert sum("[" in source["result"] for source in found) == 4
    assert all(source["call"] is not None for source in found)
    assert Counter(note for s in samples for note in s.provenance["notes"]).total() == 1  # `var1.product_id$`
    as_text = judged(samples, references_are_legal=False)
    assert (as_text["conform"], as_text["fail"], as_text["not offered"]) == (608, 181, 11)
