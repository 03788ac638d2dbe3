"""The reader of Seal-Tools query files, on rows of our own and (marked `full`) on the files themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from familytool.errors import FamilytoolError
from familytool.formats import seal_tools_samples
from familytool.formats.benchmarks import detect_benchmark
from familytool.model import Sample
from tests.formats.golden import ends_well, judged, junk, read, references, write_lines

LOAF = {
    "api_name": "bakeLoaf",
    "api_description": "d",
    "field": "f",
    "parameters": {"flour": {"type": "str"}, "grams": {"type": "int"}},
    "required": ["flour"],
    "responses": {"weight": {"type": "float"}, "crust": {"type": "str"}},
}
SLICE = {**LOAF, "api_name": "sliceLoaf", "parameters": {"weight": {"type": "float"}, "note": {"type": "str"}}, "required": []}
BAKE = {"api": "bakeLoaf", "parameters": {"flour": "rye"}, "responses": ["API_call_0", "API_call_1"]}


def files(folder: Path, *rows: Any, name: str = "dev.jsonl") -> Path:
    write_lines(folder / "tool.jsonl", LOAF, SLICE)
    return write_lines(folder / name, *rows)


def row(*calls: Any, id: Any = "dev-easy-0", query: Any = "Bake me a rye loaf.") -> dict[str, Any]:
    return {"id": id, "query": query, "calling": [*calls]}


def sliced(value: Any, **more: Any) -> dict[str, Any]:
    return {"api": "sliceLoaf", "parameters": {"weight": value, **more}, "responses": ["API_call_2"]}


def one(folder: Path, *calls: Any) -> Sample:
    [sample], rejected = read(seal_tools_samples, files(folder, row(*calls)))
    assert rejected == []
    return sample


def test_a_row_becomes_a_sample_with_all_documents_of_the_tool_files(tmp_path: Path) -> None:
    write_lines(tmp_path / "tool.more.jsonl", SLICE, {**LOAF, "api_name": "eatLoaf"}, {**SLICE, "api_description": "other"})
    rows = [row(BAKE), row(BAKE, sliced(2), id="test-difficult-4"), row(id="plain")]
    [first, second, third], rejected = read(seal_tools_samples, files(tmp_path, *rows))
    assert rejected == []
    assert (first.id, first.query, first.kind, first.category) == ("x-dev-easy-0", "Bake me a rye loaf.", "no_graph", "easy")
    assert (second.id, second.kind, second.category, third.kind, third.category) == (
        "x-test-difficult-4", "multi_call", "difficult", "no_tool", "",
    )  # fmt: skip
    assert [tool.name for tool in first.candidate_tools] == ["bakeLoaf", "sliceLoaf", "eatLoaf", "sliceLoaf"]
    assert first.provenance == {
        "format": "seal-tools", "place": "dev.jsonl:1", "id": "dev-easy-0",
        "notes": ["ambiguous tool name sliceLoaf (2 documents); all are kept"],
    }  # fmt: skip
    assert first.raw == row(BAKE)


@pytest.mark.parametrize(
    ("value", "call", "result", "text", "embedded"),
    [
        pytest.param("API_call_0", 0, "weight", "API_call_0", False, id="whole"),
        pytest.param("API_call_1", 0, "crust", "API_call_1", False, id="second result"),
        pytest.param("the API_call_0 of it", 0, "weight", "API_call_0", True, id="inside a text"),
        pytest.param("API_call_0, please", 0, "weight", "API_call_0", True, id="before a comma"),
        pytest.param("API_call_9", None, "API_call_9", "API_call_9", False, id="of no call"),
        pytest.param("API_call_2", None, "API_call_2", "API_call_2", False, id="of itself"),
    ],
)
def test_a_reference_is_told_as_call_and_declared_result(
    tmp_path: Path, value: str, call: int | None, result: str, text: str, embedded: bool
) -> None:
    sample = one(tmp_path, BAKE, sliced(value))
    assert sample.argument_sources == {
        "/1/arguments/weight": {"source": "result", "call": call, "result": result, "text": text, "embedded": embedded}
    }
    assert sample.calls[1].arguments == {"weight": value}


@pytest.mark.parametrize("value", ["API_call", "API_call_", "myAPI_call_0", "API_call_0x", "api_call_0", 0, None])
def test_what_only_resembles_a_reference_is_a_literal(tmp_path: Path, value: Any) -> None:
    assert one(tmp_path, BAKE, sliced(value)).argument_sources == {}


def test_a_result_beyond_the_declared_ones_keeps_its_name(tmp_path: Path) -> None:
    sample = one(tmp_path, {**BAKE, "responses": ["API_call_0", "API_call_1", "API_call_2"]}, sliced("API_call_2"))
    assert sample.argument_sources["/1/arguments/weight"]["result"] == "API_call_2"


def test_nested_and_several_references_are_all_recorded(tmp_path: Path) -> None:
    sources = one(tmp_path, BAKE, sliced(["API_call_0"], note="API_call_0 and API_call_1")).argument_sources
    assert list(sources) == ["/1/arguments/weight/0", "/1/arguments/note"]
    assert [source["result"] for source in sources["/1/arguments/note"]["also"]] == ["crust"]


def test_the_older_form_is_read_and_called_by_its_number(tmp_path: Path) -> None:
    path = files(tmp_path, ["Bake a loaf.", [BAKE]])
    [sample], rejected = read(seal_tools_samples, path)
    assert (sample.id, sample.query, [call.name for call in sample.calls], rejected) == ("x-1", "Bake a loaf.", ["bakeLoaf"], [])
    assert detect_benchmark(path) == "seal-tools"


@pytest.mark.parametrize(
    "calling",
    [
        pytest.param({"api": "bakeLoaf"}, id="no list"),
        pytest.param([{"api": "bakeLoaf"}], id="no parameters"),
        pytest.param([{"api": "bakeLoaf", "parameters": "{"}], id="cut off"),
        pytest.param([{"parameters": {}}], id="no name"),
        pytest.param([7], id="a number"),
    ],
)
def test_calls_that_cannot_be_read_are_kept_as_text(tmp_path: Path, calling: Any) -> None:
    [sample], rejected = read(seal_tools_samples, files(tmp_path, {"id": "a", "query": "q", "calling": calling}))
    assert (sample.kind, sample.calls, rejected) == ("no_graph", (), [])
    assert sample.provenance["unparsed"][0]["path"] == "/calls/0"


def test_without_documents_the_error_says_which_file_is_wanted_and_how_to_name_it(tmp_path: Path) -> None:
    path = files(tmp_path, row(BAKE))
    documents = (tmp_path / "tool.jsonl").rename(tmp_path / "elsewhere.jsonl")
    with pytest.raises(FamilytoolError, match=r"dev\.jsonl: .*tool\.jsonl.*--documents"):
        read(seal_tools_samples, path)
    [sample], _ = read(seal_tools_samples, path, documents)
    assert [tool.name for tool in sample.candidate_tools] == ["bakeLoaf", "sliceLoaf"]


def test_a_folder_is_read_file_by_file_without_the_tool_files(tmp_path: Path) -> None:
    files(tmp_path, row(BAKE))
    files(tmp_path, row(BAKE), name="test_in_domain.jsonl")
    samples, rejected = read(seal_tools_samples, tmp_path)
    assert ([sample.id for sample in samples], rejected) == (["x-dev-easy-0", "x-dev-easy-0-2"], [])
    assert detect_benchmark(tmp_path) == "seal-tools"
    assert detect_benchmark(tmp_path / "tool.jsonl") == ""


@pytest.mark.parametrize(
    "bad", ["{", 7, [], {"query": "q"}, {"calling": []}, row(BAKE, query=7), row(BAKE, query=" ")], ids=lambda value: str(value)[:20]
)
def test_a_row_that_is_none_is_rejected_with_its_place_and_the_others_are_read(tmp_path: Path, bad: Any) -> None:
    samples, rejected = read(seal_tools_samples, files(tmp_path, row(id="a"), bad, row(id="b")))
    assert [sample.id for sample in samples] == ["x-a", "x-b"]
    assert [sentence.partition(": ")[0] for sentence in rejected] == ["dev.jsonl:2"]


_JUNK = junk("id", "query", "calling", "api", "parameters", "responses", "bakeLoaf", "API_call_0")


def _property(value: Any, folder: Path) -> None:
    call = {"api": "bakeLoaf", "parameters": value, "responses": value}
    rows = [value, row(call, call, id=value), row(value, call, query=value), [value, [value]], {"query": "q", "calling": value}]
    ends_well(seal_tools_samples, files(folder, *rows))


@settings(max_examples=100)
@given(value=_JUNK)
def test_junk_never_ends_in_a_traceback(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    _property(value, tmp_path_factory.getbasetemp() / "seal-junk")


@pytest.mark.soak
@settings(max_examples=2000)
@given(value=_JUNK)
def test_much_junk_never_ends_in_a_traceback(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    _property(value, tmp_path_factory.getbasetemp() / "seal-junk")


@pytest.mark.full
def test_the_first_300_rows_of_the_dev_file_are_read_with_their_references(foreign_data: Callable[[str], Path]) -> None:
    """109 of 523 calls are of the 600 documents of the copy; ten of their values are texts where a number is declared."""
    samples, rejected = read(seal_tools_samples, foreign_data("seal-tools"))
    assert (len(samples), rejected) == (300, [])
    assert Counter(sample.category for sample in samples) == {"easy": 200, "difficult": 100}
    found = references(samples)
    assert Counter(source["embedded"] for source in found) == {False: 3, True: 2}
    assert all(source["call"] is not None for source in found)
    counts = judged(samples, references_are_legal=True)
    assert (counts["calls"], counts["not offered"], counts["conform"], counts["fail"]) == (523, 414, 100, 9)
    assert (counts["type_mismatch"], counts["missing"], counts["unknown"]) == (10, 0, 0)
