"""The reader of tau2-bench task files, on tasks of our own and (marked `full`) on the file itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from familytool.errors import FamilytoolError
from familytool.formats import tau_bench_samples
from familytool.formats.benchmarks import detect_benchmark
from familytool.model import Sample
from tests.formats.golden import ends_well, judged, junk, read


def tool(name: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "description": "d", "parameters": {"type": "object", "properties": properties, "required": []}},
    }


THINK = tool("think", thought={"type": "string"})
DOCUMENTS = [
    {"domain": "ferry", "tool": THINK},
    {"domain": "ferry", "tool": tool("board", seat={"type": "integer"})},
    {"domain": "tram", "tool": tool("ring", times={"type": "integer"})},
    {"domain": "tram", "tool": THINK},
]
TOLD = {
    "reason_for_call": "You want a seat.\n",
    "known_info": "You are Ida.",
    "task_instructions": "Be brief.",
    "unknown_info": "The pier.",
    "domain": "ferry",
}


def action(name: Any = "board", **more: Any) -> dict[str, Any]:
    return {"action_id": "1_0", "name": name, "arguments": {"seat": 4}, "info": None, **more}


def task(*actions: Any, id: Any = "1", told: Any = None) -> dict[str, Any]:
    return {
        "id": id,
        "user_scenario": {"persona": None, "instructions": TOLD if told is None else told},
        "evaluation_criteria": {"actions": [*actions], "reward_basis": ["DB"]},
    }


def files(folder: Path, *tasks: Any, documents: Any = DOCUMENTS) -> tuple[Path, Path]:
    (folder / "get_info.json").write_text(json.dumps(documents), "utf-8")
    (folder / "ferry_tasks.json").write_text(json.dumps(tasks), "utf-8")
    return folder / "ferry_tasks.json", folder / "get_info.json"


def one(folder: Path, *actions: Any, **more: Any) -> Sample:
    [sample], rejected = read(tau_bench_samples, *files(folder, task(*actions, **more)))
    assert rejected == []
    return sample


def test_a_task_becomes_a_sample_with_the_documents_of_its_domain(tmp_path: Path) -> None:
    sample = one(tmp_path, action())
    assert (sample.id, sample.kind, sample.category) == ("x-1", "no_graph", "ferry")
    assert sample.query == "You want a seat.\n\nYou are Ida.\n\nBe brief."
    assert [(call.name, call.arguments) for call in sample.calls] == [("board", {"seat": 4})]
    assert [tool.name for tool in sample.candidate_tools] == ["think", "board"]
    assert sample.provenance == {
        "format": "tau-bench",
        "place": "ferry_tasks.json, entry 1",
        "id": "1",
        "reward_basis": ["DB"],
        "notes": [],
    }
    assert sample.raw == task(action())


def test_a_document_that_two_domains_share_is_offered_in_both(tmp_path: Path) -> None:
    sample = one(tmp_path, told={**TOLD, "domain": "tram"})
    assert [tool.name for tool in sample.candidate_tools] == ["ring", "think"]


@pytest.mark.parametrize(
    ("documents", "domain", "names", "noted"),
    [
        pytest.param(DOCUMENTS, "bus", [], True, id="a domain without documents"),
        pytest.param(DOCUMENTS, None, ["think", "board", "ring"], False, id="no domain is said"),
        pytest.param([THINK, tool("board")], "bus", ["think", "board"], False, id="documents without domains"),
    ],
)
def test_the_domain_decides_which_documents_are_offered(tmp_path: Path, documents: Any, domain: Any, names: list[str], noted: bool) -> None:
    [sample], _ = read(tau_bench_samples, *files(tmp_path, task(told={**TOLD, "domain": domain}), documents=documents))
    assert [tool.name for tool in sample.candidate_tools] == names
    assert bool(sample.provenance["notes"]) is noted


def test_compare_args_are_kept_where_they_say_something(tmp_path: Path) -> None:
    """Neighbour of case evl-020: [] compares none, null and absence compare all."""
    actions = [action(compare_args=None), action(), action(compare_args=[]), action(compare_args=["seat"])]
    sample = one(tmp_path, *actions)
    assert sample.provenance["compare_args"] == {"2": [], "3": ["seat"]}
    assert "compare_args" not in one(tmp_path, *actions[:2]).provenance


def test_actions_of_the_simulated_user_are_no_golden_calls(tmp_path: Path) -> None:
    sample = one(tmp_path, action(requestor="user"), action("think", requestor="assistant", compare_args=[]))
    assert [call.name for call in sample.calls] == ["think"]
    assert sample.provenance["user_actions"] == [action(requestor="user")]
    assert sample.provenance["compare_args"] == {"0": []}


@pytest.mark.parametrize("criteria", [{"actions": []}, {"actions": None}, {}, None], ids=str)
def test_a_task_without_actions_expects_no_call(tmp_path: Path, criteria: Any) -> None:
    [sample], rejected = read(tau_bench_samples, *files(tmp_path, {**task(), "evaluation_criteria": criteria}))
    assert (sample.kind, rejected) == ("no_tool", [])


@pytest.mark.parametrize("criteria", [7, [action()], "board"], ids=str)
def test_criteria_that_cannot_be_read_never_mean_no_call(tmp_path: Path, criteria: Any) -> None:
    [sample], rejected = read(tau_bench_samples, *files(tmp_path, {**task(), "evaluation_criteria": criteria}))
    assert (sample.kind, len(sample.provenance["unparsed"]), rejected) == ("no_graph", 1, [])


@pytest.mark.parametrize(
    "actions",
    [
        pytest.param({"name": "board"}, id="no list"),
        pytest.param([{"name": "board"}], id="no arguments"),
        pytest.param([action(arguments='{"seat": ')], id="cut off"),
        pytest.param([action(name=None)], id="no name"),
        pytest.param(["board"], id="a text"),
    ],
)
def test_actions_that_cannot_be_read_are_kept_as_text(tmp_path: Path, actions: Any) -> None:
    [sample], rejected = read(tau_bench_samples, *files(tmp_path, {**task(), "evaluation_criteria": {"actions": actions}}))
    assert (sample.kind, sample.calls, rejected) == ("no_graph", (), [])
    assert sample.provenance["unparsed"][0]["path"] == "/calls/0"


def test_instructions_may_be_one_text_and_tau_bench_tasks_are_read_as_records(tmp_path: Path) -> None:
    older = {
        "user_id": "ida_1",
        "instruction": "Ring.",
        "domain": "tram",
        "actions": [{"name": "ring", "kwargs": {"times": 2}}],
        "outputs": [],
    }
    samples, rejected = read(
        tau_bench_samples, *files(tmp_path, task(told="You want a seat."), older, {**task(), "user_scenario": "Seat."})
    )
    assert rejected == []
    assert [sample.query for sample in samples] == ["You want a seat.", "Ring.", "Seat."]
    assert [(call.name, call.arguments) for call in samples[1].calls] == [("ring", {"times": 2})]
    assert [sample.id for sample in samples] == ["x-1", "x-2", "x-1-2"]
    assert [tool.name for tool in samples[1].candidate_tools] == ["ring", "think"]


def test_without_documents_the_error_says_which_file_is_wanted_and_how_to_name_it(tmp_path: Path) -> None:
    path, documents = files(tmp_path, task(action()))
    with pytest.raises(FamilytoolError, match=r"ferry_tasks\.json: .*get_info.*--documents"):
        read(tau_bench_samples, path)
    documents.rename(tmp_path / "tools_get_info.json")
    assert len(read(tau_bench_samples, path)[0][0].candidate_tools) == 2


def test_a_file_and_its_folder_are_recognised(tmp_path: Path) -> None:
    path, documents = files(tmp_path, task(action()))
    assert detect_benchmark(path) == detect_benchmark(tmp_path) == "tau-bench"
    assert detect_benchmark(documents) == ""
    assert len(read(tau_bench_samples, tmp_path, documents)[0]) == 1


@pytest.mark.parametrize(
    "bad",
    [7, None, [], {"id": "1"}, {"user_scenario": {}, "id": "1"}, task(told=7), task(told={"domain": "ferry"}), {"instruction": "x"}],
    ids=lambda value: str(value)[:24],
)
def test_what_is_no_task_is_rejected_with_its_place_and_the_others_are_read(tmp_path: Path, bad: Any) -> None:
    samples, rejected = read(tau_bench_samples, *files(tmp_path, task(id="a"), bad, task(id="b")))
    assert [sample.id for sample in samples] == ["x-a", "x-b"]
    assert [sentence.partition(": ")[0] for sentence in rejected] == ["ferry_tasks.json, entry 2"]


_JUNK = junk("id", "user_scenario", "instructions", "evaluation_criteria", "actions", "arguments", "kwargs", "domain", "ferry", "board")


def _property(value: Any, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    tasks = [
        value,
        task(value, action(value, arguments=value, compare_args=value)),
        task(told=value, id=value),
        {**task(), "evaluation_criteria": value},
    ]
    ends_well(tau_bench_samples, *files(folder, *tasks))


@settings(max_examples=100)
@given(value=_JUNK)
def test_junk_never_ends_in_a_traceback(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    _property(value, tmp_path_factory.getbasetemp() / "tau-junk")


@pytest.mark.soak
@settings(max_examples=2000)
@given(value=_JUNK)
def test_much_junk_never_ends_in_a_traceback(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    _property(value, tmp_path_factory.getbasetemp() / "tau-junk")


@pytest.mark.full
def test_all_142_published_actions_conform_to_the_documents_of_the_airline(foreign_data: Callable[[str], Path]) -> None:
    documents = foreign_data("tau-bench") / "tools_get_info.extracted.json"
    samples, rejected = read(tau_bench_samples, foreign_data("tau2-bench") / "airline_tasks.json", documents)
    assert rejected == []
    assert Counter(sample.kind for sample in samples) == {"multi_call": 25, "no_graph": 18, "no_tool": 7}
    assert {len(sample.candidate_tools) for sample in samples} == {14}
    counts = judged(samples, references_are_legal=False)
    assert (len(samples), counts["calls"], counts["conform"]) == (50, 142, 142)
    assert [sample.provenance["compare_args"] for sample in samples if "compare_args" in sample.provenance] == [{"0": []}]
    assert {tuple(sample.provenance["reward_basis"]) for sample in samples} == {("DB", "COMMUNICATE")}
