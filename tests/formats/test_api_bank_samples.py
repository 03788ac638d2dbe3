"""The reader of API-Bank dialogues, on dialogues of our own and (marked `full`) on the files themselves."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from familytool.errors import FamilytoolError
from familytool.formats import api_bank_samples
from familytool.formats.benchmarks import detect_benchmark
from familytool.model import Sample
from tests.formats.golden import ends_well, judged, junk, read, write_lines

SOW = {"name": "SowBed", "description": "d", "input_parameters": {"rows": {"type": "int"}}, "output_parameters": {"id": {"type": "str"}}}
WATER = {"name": "WaterBed", "description": "d", "input_parameters": {"bed": {"type": "str"}}, "output_parameters": {}}
HOE = {**SOW, "name": "HoeBed"}


def user(text: Any) -> dict[str, Any]:
    return {"role": "User", "text": text}


def assistant(text: Any) -> dict[str, Any]:
    return {"role": "AI", "text": text}


def api(name: Any, arguments: Any = None, output: Any = "ok") -> dict[str, Any]:
    return {"role": "API", "api_name": name, "param_dict": {} if arguments is None else arguments, "result": {"output": output}}


DIALOGUE = [
    user("Sow a bed, please."), assistant("How many rows?"), user("Two."), assistant("Fine."), api("SowBed", {"rows": "2"}), assistant("Done."),
    user("Now water it twice."), api("WaterBed", {"bed": "7"}), assistant("Once more."), api("WaterBed", {"bed": "7"}), user("Thanks."),
    assistant("Bye."),
]  # fmt: skip


def files(folder: Path, *turns: Any, name: str = "SowBed-HoeBed-level-2-1.jsonl", documents: Any = (SOW, WATER, HOE)) -> Path:
    path = write_lines(folder / "level-1" / name, *turns)
    if documents:
        (folder / "apis.json").write_text(json.dumps(documents), "utf-8")
    return path


def one(folder: Path, *turns: Any, **more: Any) -> Sample:
    [sample], rejected = read(api_bank_samples, files(folder, *turns, **more))
    assert rejected == []
    return sample


def test_each_turn_of_the_user_that_leads_to_calls_is_a_sample(tmp_path: Path) -> None:
    path = files(tmp_path, *DIALOGUE)
    [first, second], rejected = read(api_bank_samples, path)
    assert rejected == []
    assert [first.id, second.id] == ["x-SowBed-HoeBed-level-2-1-turn2", "x-SowBed-HoeBed-level-2-1-turn3"]
    assert (first.query, second.query, first.kind, second.kind) == ("Two.", "Now water it twice.", "no_graph", "multi_call")
    assert [call.arguments for call in first.calls] == [{"rows": "2"}]
    assert [call.name for call in second.calls] == ["WaterBed", "WaterBed"]
    assert (first.raw, second.raw) == (DIALOGUE[:5], DIALOGUE[:10])
    assert first.provenance["place"] == f"{path.name}:3"
    assert first.provenance["dialogue_before"] == "User: Sow a bed, please.\nAI: How many rows?"
    assert '"api_name": "SowBed"' in second.provenance["dialogue_before"]
    assert (first.category, first.provenance["id"], first.provenance["turn"]) == ("level-1", "SowBed-HoeBed-level-2-1", 2)


def test_values_stay_the_texts_that_they_are(tmp_path: Path) -> None:
    """Neighbour of case val-019: the checks report '2' for an integer; the reader repairs nothing."""
    sample = one(tmp_path, user("q"), api("SowBed", {"rows": "2"}))
    assert sample.calls[0].arguments == {"rows": "2"}
    assert judged([sample], references_are_legal=True)["type_mismatch"] == 1


def test_a_dialogue_that_is_given_its_tools_offers_those_it_calls_and_those_its_file_is_named_after(tmp_path: Path) -> None:
    first, second = read(api_bank_samples, files(tmp_path, *DIALOGUE, name="HoeBed-level-1-1.jsonl"))[0]
    assert (
        [tool.name for tool in first.candidate_tools] == [tool.name for tool in second.candidate_tools] == ["SowBed", "WaterBed", "HoeBed"]
    )
    assert [tool.name for tool in one(tmp_path / "b", user("q"), api("WaterBed"), name="x-level-1-1.jsonl").candidate_tools] == ["WaterBed"]


def test_a_called_tool_without_a_document_is_noted_once(tmp_path: Path) -> None:
    sample = one(tmp_path, user("q"), api("MowBed"), api("MowBed"), name="x-level-1-1.jsonl")
    assert (sample.candidate_tools, sample.provenance["notes"]) == ((), ["MowBed is called, and there is no document of it"])


def test_a_dialogue_that_searches_offers_what_its_searches_have_found(tmp_path: Path) -> None:
    turns = [
        user("Sow."), api("ToolSearcher", {"keywords": "sow"}, SOW), assistant("Rows?"), user("Two."), api("SowBed", {"rows": "2"}),
        user("Water."), api("ToolSearcher", {"keywords": "water"}, [WATER, SOW]), api("WaterBed"),
    ]  # fmt: skip
    samples, rejected = read(api_bank_samples, files(tmp_path, *turns, documents=None))
    assert rejected == []
    assert [[tool.name for tool in sample.candidate_tools] for sample in samples] == [["SowBed"], ["SowBed"], ["SowBed", "WaterBed"]]
    searcher = {"name": "ToolSearcher", "description": "d", "input_parameters": {"keywords": {"type": "str"}}, "output_parameters": {}}
    samples, _ = read(api_bank_samples, files(tmp_path, *turns, documents=[searcher, HOE]))
    assert [tool.name for tool in samples[0].candidate_tools] == ["ToolSearcher", "SowBed"]


@pytest.mark.parametrize("output", ["nothing", None, [], {"name": 7}, [7]], ids=str)
def test_a_search_without_a_find_offers_nothing(tmp_path: Path, output: Any) -> None:
    sample = one(tmp_path, user("q"), api("ToolSearcher", {}, output))
    assert sample.candidate_tools == ()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param('{"rows": 2', "truncated", id="cut off"),
        pytest.param([2], "parse_error", id="list"),
        pytest.param(7, "parse_error", id="7"),
    ],
)
def test_a_call_that_cannot_be_read_is_kept_as_text(tmp_path: Path, arguments: Any, code: str) -> None:
    sample = one(tmp_path, user("q"), api("SowBed", arguments), api("WaterBed"))
    assert [call.name for call in sample.calls] == ["WaterBed"]
    [unparsed] = sample.provenance["unparsed"]
    assert (unparsed["path"], unparsed["code"], unparsed["name"]) == ("/calls/0", code, "SowBed")


def test_without_documents_the_error_says_which_file_is_wanted_and_how_to_name_it(tmp_path: Path) -> None:
    path = files(tmp_path, *DIALOGUE)
    documents = (tmp_path / "apis.json").rename(tmp_path / "elsewhere.json")
    with pytest.raises(FamilytoolError, match=r"apis\.extracted\.json.*--documents"):
        read(api_bank_samples, path)
    assert len(read(api_bank_samples, path, documents)[0][0].candidate_tools) == 3


def test_a_folder_of_dialogues_and_one_of_levels_are_read_and_recognised(tmp_path: Path) -> None:
    files(tmp_path, *DIALOGUE)
    write_lines(tmp_path / "level-2" / "SowBed-HoeBed-level-2-1.jsonl", *DIALOGUE)
    assert len(read(api_bank_samples, tmp_path / "level-1")[0]) == 2
    samples, rejected = read(api_bank_samples, tmp_path)
    assert (len(samples), len({sample.id for sample in samples}), rejected) == (4, 4, [])
    assert samples[3].id == "x-SowBed-HoeBed-level-2-1-turn3-2"
    for path in (tmp_path, tmp_path / "level-1", tmp_path / "level-1" / "SowBed-HoeBed-level-2-1.jsonl"):
        assert detect_benchmark(path) == "api-bank"
    assert detect_benchmark(tmp_path / "apis.json") == ""


@pytest.mark.parametrize(
    "bad", ["{", 7, None, user(7), {"role": "API"}, api(None), {"role": "System", "text": "x"}, {}, []], ids=lambda value: str(value)[:24]
)
def test_what_is_no_turn_is_rejected_with_its_place_and_the_dialogue_says_so(tmp_path: Path, bad: Any) -> None:
    path = files(tmp_path, user("q"), bad, api("SowBed"))
    [sample], rejected = read(api_bank_samples, path)
    assert [sentence.partition(": ")[0] for sentence in rejected] == [f"{path.name}:2"]
    assert [call.name for call in sample.calls] == ["SowBed"]


@pytest.mark.parametrize("turns", [[api("SowBed"), user("q")], [user(" "), api("SowBed")]], ids=["call before any turn", "blank turn"])
def test_calls_without_a_request_are_rejected_with_their_place(tmp_path: Path, turns: list[Any]) -> None:
    path = files(tmp_path, *turns)
    samples, rejected = read(api_bank_samples, path)
    assert (samples, [sentence.partition(": ")[0] for sentence in rejected]) == ([], [f"{path.name}:1"])


_JUNK = junk("role", "text", "api_name", "param_dict", "result", "output", "API", "User", "ToolSearcher", "SowBed")


def _property(value: Any, folder: Path) -> None:
    turns = [value, user(value), user("q"), api(value, value, value), api("ToolSearcher", value, value), api("SowBed", {"a": value})]
    ends_well(api_bank_samples, files(folder, *turns))


@settings(max_examples=100)
@given(value=_JUNK)
def test_junk_never_ends_in_a_traceback(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    _property(value, tmp_path_factory.getbasetemp() / "api-bank-junk")


@pytest.mark.soak
@settings(max_examples=2000)
@given(value=_JUNK)
def test_much_junk_never_ends_in_a_traceback(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    _property(value, tmp_path_factory.getbasetemp() / "api-bank-junk")


@pytest.mark.full
@pytest.mark.parametrize(
    ("folder", "dialogues", "rows", "calls", "not_offered", "conform", "typed"),
    [("level-1-given-desc", 40, 54, 64, 50, 3, 21), ("level-2-toolsearcher", 12, 20, 31, 15, 13, 9)],
)
def test_the_published_dialogues_are_read_and_thirty_values_are_of_the_wrong_type(
    foreign_data: Callable[[str], Path], folder: str, dialogues: int, rows: int, calls: int, not_offered: int, conform: int, typed: int
) -> None:
    """The copy has 52 of 264 dialogues and 5 of 71 documents; level 2 brings more in the results of its searches.

    All type violations are texts: 24 for an integer, 6 for a list. No parameter is unknown or missing here.
    """
    samples, rejected = read(api_bank_samples, foreign_data("api-bank") / folder)
    assert rejected == []
    assert (len({sample.provenance["id"] for sample in samples}), len(samples)) == (dialogues, rows)
    counts = judged(samples, references_are_legal=True)
    assert (counts["calls"], counts["not offered"], counts["conform"]) == (calls, not_offered, conform)
    assert (counts["type_mismatch"], counts["unknown"], counts["missing"]) == (typed, 0, 0)
    assert Counter(type(value).__name__ for s in samples for call in s.calls for value in call.arguments.values()).keys() == {"str"}
