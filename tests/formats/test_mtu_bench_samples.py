"""The reader of MTU-Bench evaluation files, on rows of our own and (marked `full`) on the files themselves."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from familytool.formats import mtu_bench_samples
from familytool.formats.benchmark_files import Source
from familytool.formats.benchmarks import detect_benchmark
from familytool.formats.mtu_bench import MARKER
from familytool.model import Sample
from tests.formats.golden import ends_well, judged, junk, read, references, write_lines

PROBE = {"name": "read_pond", "description": "d", "required_parameters": ["pond"], "result_parameters": ["depth", "fish/count"]}
PUMP = {
    "name": "set_pump",
    "description": "d",
    "required_parameters": [{"name": "depth", "type": "integer"}],
    "optional_parameters": [{"name": "note", "type": "array", "items": {"type": "string"}}],
    "result_parameters": [],
}


def row(answer: Any = None, said: str = "\nUser: How deep is the koi pond?", tools: Any = None, id: Any = "S-M_4") -> dict[str, Any]:
    listed = tools if isinstance(tools, str) else json.dumps([PROBE, PUMP] if tools is None else tools)
    return {"id": id, "question": f"Reply. 'Action: x'\n{MARKER}\n{listed}{said}", "answer": {} if answer is None else answer}


def one(tmp_path: Path, *args: Any, **kwargs: Any) -> Sample:
    [sample], rejected = read(mtu_bench_samples, write_lines(tmp_path / "pond_eval.jsonl", row(*args, **kwargs)))
    assert rejected == []
    return sample


def test_a_row_becomes_a_sample_with_its_own_documents_and_raw_is_the_row(tmp_path: Path) -> None:
    sample = one(tmp_path, {"read_pond": {"pond": "koi"}})
    assert (sample.id, sample.benchmark, sample.kind, sample.speaker, sample.graph_id) == ("x-S-M_4", "x", "no_graph", "", "")
    assert (sample.query, sample.category) == ("How deep is the koi pond?", "S-M")
    assert [tool.name for tool in sample.candidate_tools] == ["read_pond", "set_pump"]
    assert [(call.name, call.arguments) for call in sample.calls] == [("read_pond", {"pond": "koi"})]
    assert sample.provenance == {"format": "mtu-bench", "place": "pond_eval.jsonl:1", "id": "S-M_4", "notes": []}
    assert sample.raw == row({"read_pond": {"pond": "koi"}})
    assert Sample.model_validate_json(sample.model_dump_json()) == sample


@pytest.mark.parametrize(
    ("answer", "noted"),
    [
        pytest.param({}, False, id="empty"),
        pytest.param({"": {}}, True, id="val-027"),
        pytest.param({"": "{}"}, True, id="text"),
        pytest.param({" ": {}}, True, id="blank"),
        pytest.param("{}", True, id="answer-as-text"),
    ],
)
def test_an_answer_without_a_tool_expects_no_call(tmp_path: Path, answer: Any, noted: bool) -> None:
    sample = one(tmp_path, answer)
    assert (sample.kind, sample.calls, "unparsed" in sample.provenance) == ("no_tool", (), False)
    assert bool(sample.provenance["notes"]) is noted


def test_arguments_as_json_text_are_decoded_once_with_a_note(tmp_path: Path) -> None:
    """Case imp-029."""
    sample = one(tmp_path, {"read_pond": '{"pond": "{\\"a\\": 1}"}'})
    assert sample.calls[0].arguments == {"pond": '{"a": 1}'}
    assert sample.provenance["notes"] == ["call 0 (read_pond): the arguments are JSON text; decoded"]


@pytest.mark.parametrize(
    ("written", "name", "noted"),
    [
        pytest.param(" read_pond", "read_pond", True, id="offered without the space"),
        pytest.param("read_pond ", "read_pond", True, id="space behind"),
        pytest.param(" read_pool", " read_pool", False, id="not offered either way"),
        pytest.param("read_pond.", "read_pond.", False, id="nothing but spaces is mended"),
        pytest.param("Read_Pond", "Read_Pond", False, id="case is kept"),
    ],
)
def test_a_name_loses_its_outer_spaces_only_if_a_tool_is_offered_under_what_remains(
    tmp_path: Path, written: str, name: str, noted: bool
) -> None:
    sample = one(tmp_path, {written: {}})
    assert sample.calls[0].name == name
    assert sample.provenance["notes"] == ([f"call 0: the name '{written}' is read as '{name}', which is offered"] if noted else [])


def test_a_name_that_is_offered_with_its_space_keeps_it(tmp_path: Path) -> None:
    sample = one(tmp_path, {" read_pond": {}}, tools=[PROBE, {**PROBE, "name": " read_pond"}])
    assert (sample.calls[0].name, sample.provenance["notes"]) == (" read_pond", [])


@pytest.mark.parametrize(
    ("answer", "code", "text"),
    [
        pytest.param({"read_pond": '{"pond": }'}, "parse_error", '{"pond": }', id="no-json"),
        pytest.param({"read_pond": '{"pond": "k'}, "truncated", '{"pond": "k', id="cut-off"),
        pytest.param({"read_pond": '{"a": 1, "a": 2}'}, "duplicate_key", '{"a": 1, "a": 2}', id="imp-031"),
        pytest.param({"read_pond": ["koi"]}, "parse_error", '{"read_pond": ["koi"]}', id="list"),
        pytest.param({"read_pond": None}, "parse_error", '{"read_pond": null}', id="null"),
        pytest.param({"": {"pond": "koi"}}, "parse_error", '{"": {"pond": "koi"}}', id="arguments-of-nothing"),
        pytest.param(["read_pond"], "parse_error", '["read_pond"]', id="answer-is-a-list"),
        pytest.param("read_pond()", "parse_error", "read_pond()", id="answer-is-text"),
    ],
)
def test_an_answer_that_cannot_be_read_is_kept_as_text_and_never_means_no_call(tmp_path: Path, answer: Any, code: str, text: str) -> None:
    sample = one(tmp_path, answer)
    [unparsed] = sample.provenance["unparsed"]
    assert (sample.kind, sample.calls) == ("no_graph", ())
    assert (unparsed["path"], unparsed["code"], unparsed["text"]) == ("/calls/0", code, text)
    assert unparsed["message"].startswith("call 0 cannot be read: ")
    assert ("name" in unparsed) is (isinstance(answer, dict) and "" not in answer)


def test_the_other_calls_of_an_answer_stand_beside_one_that_cannot_be_read(tmp_path: Path) -> None:
    sample = one(tmp_path, {"read_pond": "{", "set_pump": {"depth": 1}})
    assert (sample.kind, [call.name for call in sample.calls]) == ("no_graph", ["set_pump"])
    assert sample.provenance["unparsed"][0]["path"] == "/calls/0"


MULTI = """
History Dialog:
User:  Hello?
Action: {" read_pond": {"pond": "koi"}}
Assistant:  It is two metres deep.
User:  Set the pump to that,
please."""
SINGLE = """
History Dialog:
user: Hello?
function:
Thought: greet
Action: read_pond
Action Input: {'pond': 'koi'}
observation: : {'depth': 2}
assistant: : Two metres.
User: Set the pump to that."""


@pytest.mark.parametrize(
    ("said", "query", "notes"),
    [
        pytest.param(MULTI, "Set the pump to that,\nplease.", 0, id="several tools"),
        pytest.param(SINGLE, "Set the pump to that.", 0, id="one tool"),
        pytest.param("\nuser: Hi.\nassistant: What?\nUser: Wait: two.", "Wait: two.", 0, id="colon in the turn"),
        pytest.param("\nUser: A pump.\nAssistant: Which one?", "A pump.", 1, id="the assistant has the last word"),
        pytest.param("\nSet the pump to two.", "Set the pump to two.", 1, id="no turn is marked"),
    ],
)
def test_the_last_turn_of_the_user_is_the_query(tmp_path: Path, said: str, query: str, notes: int) -> None:
    sample = one(tmp_path, said=said)
    assert (sample.query, len(sample.provenance["notes"])) == (query, notes)
    assert "History Dialog" not in sample.provenance.get("dialogue_before", "")
    assert sample.provenance.get("dialogue_before", "").startswith(("User:  Hello?", "user: H") if "llo" in said or "Hi." in said else "")


@pytest.mark.parametrize(
    ("value", "source"),
    [
        pytest.param("read_pond.depth", {"call": 0, "result": "depth"}, id="val-009"),
        pytest.param("read_pond.fish/count", {"call": 0, "result": "fish/count"}, id="declared name with a slash"),
        pytest.param("read_pond.fish[0].size", {"call": 0, "result": "fish[0].size"}, id="path"),
        pytest.param("read_pond.width", {"call": 0, "result": "width"}, id="undeclared result"),
        pytest.param("set_pump.depth", {"call": None, "result": "depth"}, id="of itself"),
        pytest.param("read_pond. Then stop", None, id="a sentence"),
        pytest.param("read_pond", None, id="only the tool"),
        pytest.param("read_pond.", None, id="no result"),
        pytest.param("Read_pond.depth", None, id="another name"),
        pytest.param("Dr. Smith", None, id="a title"),
        pytest.param("e.g.something", None, id="an abbreviation"),
        pytest.param(7, None, id="a number"),
    ],
)
def test_tool_dot_result_is_a_reference_and_no_other_dot_is(tmp_path: Path, value: Any, source: dict[str, Any] | None) -> None:
    sample = one(tmp_path, {"read_pond": {"pond": "koi"}, "set_pump": {"depth": value, "note": [value]}})
    assert sample.kind == "multi_call"
    expected = {} if source is None else {"source": "result", **source, "text": value, "embedded": False}
    wanted = {"/1/arguments/depth": expected, "/1/arguments/note/0": expected} if source else {}
    assert sample.argument_sources == wanted


@pytest.mark.parametrize("said", [MULTI, SINGLE], ids=["several tools", "one tool"])
def test_a_reference_to_a_call_of_an_earlier_turn_says_so(tmp_path: Path, said: str) -> None:
    [source] = one(tmp_path, {"set_pump": {"depth": "read_pond.depth"}}, said=said).argument_sources.values()
    assert (source["call"], source["earlier_turn"]) == (None, True)


def test_a_later_call_is_no_source(tmp_path: Path) -> None:
    [source] = one(tmp_path, {"set_pump": {"depth": "read_pond.depth"}, "read_pond": {}}).argument_sources.values()
    assert (source["call"], "earlier_turn" in source) == (None, False)


def test_pointers_are_escaped(tmp_path: Path) -> None:
    sample = one(tmp_path, {"read_pond": {}, "set_pump": {"a/b~c": "read_pond.depth"}})
    assert list(sample.argument_sources) == ["/1/arguments/a~1b~0c"]


def test_an_id_that_occurs_again_gets_a_suffix_and_a_row_without_one_its_number(tmp_path: Path) -> None:
    rows = [row(id="OOD_0_0"), row(id="OOD_0_0"), "", row(id="OOD_0_0-2"), row(id="OOD_0_0"), row(id=None), row(id=7)]
    samples, rejected = read(mtu_bench_samples, write_lines(tmp_path / "a_eval.jsonl", *rows))
    assert [s.id for s in samples] == ["x-OOD_0_0", "x-OOD_0_0-2", "x-OOD_0_0-2-2", "x-OOD_0_0-3", "x-6", "x-7"]
    assert [bool(s.provenance["notes"]) for s in samples] == [False, True, True, True, True, False]
    assert [s.provenance["id"] for s in samples][:2] == ["OOD_0_0", "OOD_0_0"]
    assert rejected == []


def test_two_documents_of_one_name_are_kept_and_equal_ones_are_one_object_over_all_rows(tmp_path: Path) -> None:
    """Case imp-009."""
    rows = [row(tools=[PROBE, {**PROBE, "required_parameters": ["place"]}, PROBE]), row(id="b")]
    [first, second], _ = read(mtu_bench_samples, write_lines(tmp_path / "a_eval.jsonl", *rows))
    assert [list(tool.parameters["properties"]) for tool in first.candidate_tools] == [["pond"], ["place"]]
    assert first.provenance["notes"] == ["ambiguous tool name read_pond (2 documents); all are kept"]
    assert first.candidate_tools[0] is second.candidate_tools[0]


def test_a_list_entry_that_is_no_document_is_told_and_the_row_is_kept(tmp_path: Path) -> None:
    """The published row S-S_17 is such a one."""
    sample = one(tmp_path, {"qqq": {}}, tools="['api_descriptions']")
    assert (sample.candidate_tools, sample.calls[0].name) == ((), "qqq")
    assert sample.provenance["notes"] == ["tool list: list entry 'api_descriptions' is no tool document"]


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param("{", id="no-json"),
        pytest.param({"id": "a"}, id="keys-missing"),
        pytest.param({"id": "a", "question": "no list", "answer": {}}, id="no-list"),
        pytest.param({"id": "a", "question": f"{MARKER}", "answer": {}}, id="nothing-follows"),
        pytest.param({"id": "a", "question": f"{MARKER} [{{'name': ", "answer": {}}, id="list-cut-off"),
        pytest.param({"id": "a", "question": 7, "answer": {}}, id="question-is-a-number"),
        pytest.param({"id": "a", "question": f"{MARKER} []\nUser: ", "answer": {}}, id="empty-turn"),
        pytest.param([], id="a-list"),
        pytest.param(None, id="null"),
    ],
)
def test_a_row_that_is_none_is_rejected_with_its_place_and_the_others_are_read(tmp_path: Path, bad: Any) -> None:
    samples, rejected = read(mtu_bench_samples, write_lines(tmp_path / "a_eval.jsonl", row(id="a"), bad, row(id="b")))
    assert [sample.id for sample in samples] == ["x-a", "x-b"]
    assert len(rejected) == 1
    assert rejected[0].startswith("a_eval.jsonl:2: ")
    assert rejected[0].count("a_eval.jsonl") == 1


def test_a_folder_is_read_file_by_file_and_recognised(tmp_path: Path) -> None:
    write_lines(tmp_path / "a_eval.jsonl", row(id="a"))
    write_lines(tmp_path / "b_eval.jsonl", row(id="b"))
    write_lines(tmp_path / "S-S_gpt4_response.jsonl", {"id": 1})
    samples, rejected = read(mtu_bench_samples, tmp_path)
    assert ([sample.id for sample in samples], rejected) == (["x-a", "x-b"], [])
    assert detect_benchmark(tmp_path) == detect_benchmark(tmp_path / "b_eval.jsonl") == "mtu-bench"


def test_reading_streams(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a_eval.jsonl", row(id="a"), "{")
    rejected: list[str] = []
    samples = mtu_bench_samples.read_samples(Source(path, "x"), rejected)
    assert next(samples).id == "x-a"
    assert rejected == []


def _property(value: Any, folder: Path) -> None:
    path = write_lines(folder / "junk_eval.jsonl", value, row(answer=value), {"question": f"{MARKER} {json.dumps(value)}", "answer": value})
    ends_well(mtu_bench_samples, path)


_JUNK = junk("id", "question", "answer", "read_pond", "read_pond.depth", MARKER, "User: ")


@settings(max_examples=100)
@given(value=_JUNK)
def test_junk_never_ends_in_a_traceback(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    _property(value, tmp_path_factory.getbasetemp() / "mtu-junk")


@pytest.mark.soak
@settings(max_examples=2000)
@given(value=_JUNK)
def test_much_junk_never_ends_in_a_traceback(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    _property(value, tmp_path_factory.getbasetemp() / "mtu-junk")


@pytest.fixture(scope="module")
def published(foreign_data: Callable[[str], Path]) -> list[Sample]:
    samples, rejected = read(mtu_bench_samples, foreign_data("mtu-bench"))
    assert rejected == []
    return samples


@pytest.mark.full
def test_all_1009_published_rows_are_read_with_914_calls(published: list[Sample]) -> None:
    assert Counter(sample.category for sample in published) == {"S-S": 104, "S-M": 94, "M-S": 473, "M-M": 266, "OOD": 72}
    assert len({sample.id for sample in published}) == 1009
    assert len({sample.provenance["id"] for sample in published}) == 966
    assert sum(len(sample.calls) for sample in published) == 914
    assert not [sample for sample in published if "unparsed" in sample.provenance]
    notes = [note for sample in published for note in sample.provenance["notes"]]
    assert Counter(sample.kind for sample in published) == {"no_tool": 273 + 158, "no_graph": 391, "multi_call": 187}
    assert sum("set's word for 'no call'" in note for note in notes) == 273
    assert sum("are JSON text" in note for note in notes) + sum("'{}'} is the set's" in note for note in notes) == 35
    assert sum("which is offered" in note for note in notes) == 81
    assert [c.name for s in published for c in s.calls if c.name != c.name.strip()] == [" SearchOnewayFlight.", " PlayMusic."]
    assert sum("goes on after the last turn" in note for note in notes) == 2


@pytest.mark.full
def test_the_published_answers_hold_294_references_of_which_281_stand_at_the_top_between_offered_tools(published: list[Sample]) -> None:
    found = [(sample, pointer, source) for sample in published for pointer, source in sample.argument_sources.items()]
    assert len(found) == len(references(published)) == 294
    offered = {sample.id: {tool.name for tool in sample.candidate_tools} for sample in published}
    at_top = [(s, p, source) for s, p, source in found if p.count("/") == 3]
    between = [
        source for s, p, source in at_top
        if source["text"].partition(".")[0] in offered[s.id] and s.calls[int(p.split("/")[1])].name in offered[s.id]
    ]  # fmt: skip
    assert (len(between), len(found) - len(at_top)) == (281, 5)
    assert sum(source["call"] is not None for _, _, source in found) == 255
    assert sum(source.get("earlier_turn", False) for _, _, source in found) == 35
    assert sorted({s.id for s, _, source in found if source["call"] is None and "earlier_turn" not in source}) == ["x-S-M_12", "x-S-M_50"]


@pytest.mark.full
def test_806_of_895_published_calls_of_offered_tools_conform_and_761_if_references_are_taken_as_text(published: list[Sample]) -> None:
    legal, as_text = judged(published, references_are_legal=True), judged(published, references_are_legal=False)
    assert (legal["calls"], legal["not offered"]) == (914, 19)
    assert (legal["conform"], legal["fail"]) == (806, 89)
    assert (as_text["conform"], as_text["fail"]) == (761, 134)


@pytest.mark.full
def test_757_conform_by_plain_json_schema_if_the_last_document_of_a_name_counts(published: list[Sample]) -> None:
    """The figure of the field: formats unchecked, no default legal by itself, `options` an enum, the last of two documents taken.

    By our rules 761 do: five values 'all' are the default of their document (bookHotel), one call fits the first of two documents of
    its name (S-M_11), and two references stand where the format email is declared (S-M_22, M-M_36_2).
    """
    counts: Counter[str] = Counter()
    for sample in published:
        for call in sample.calls:
            documents = [tool for tool in sample.candidate_tools if tool.name == call.name]
            if not documents:
                counts["not offered"] += 1
                continue
            errors = list(jsonschema.Draft202012Validator(documents[-1].parameters).iter_errors(call.arguments))
            counts["fail" if errors else "conform"] += 1
            names = {*(tool.name for tool in sample.candidate_tools), *(c.name for c in sample.calls)}
            for error in errors:
                found = re.fullmatch(r"(\w+)\.\w+", error.instance) if isinstance(error.instance, str) else None
                counts["reference" if found and found[1] in names else error.validator] += 1
    assert counts == {
        "conform": 757, "fail": 138, "not offered": 19,
        "type": 42, "required": 30, "reference": 43, "anyOf": 26, "additionalProperties": 13, "enum": 5,
    }  # fmt: skip
