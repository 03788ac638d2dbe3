"""A blind model solves a query back: which answers lead to the golden paths, which do not, and what is no answer."""

from __future__ import annotations

import asyncio
import json

import pytest

from familytool.generation.solving import read_paths, solve, solve_requests
from familytool.kinship import KIN_RELATIONS, find_mentions
from familytool.llm.requests import Answer
from familytool.model import Check, RelationPath, Sample
from tests.generation.scripted import Scripted, answers, drafts, inside, material_of
from tests.made import Made

RELATIONS = ["wife", "son", "daughter", "mother", "brother", "doctor", "prefer_song"]


def sample(*paths: tuple[str, ...], query: str = "Get an appointment with my wife's doctor and play my favourite song.") -> Sample:
    return Sample(
        id="t-hop2-000001",
        benchmark="t",
        kind="graph",
        speaker="Bob",
        query=query,
        graph_id="g",
        candidate_tools=(),
        golden_paths=tuple(RelationPath(start="Bob", relations=path) for path in paths),
    )


def solved(golden: Sample, *texts: str | Answer) -> tuple[Check, Scripted]:
    asks = answers(*texts)
    check, keys = asyncio.run(solve(golden, RELATIONS, asks.model))
    assert keys == tuple(request.key for _, request in asks.asked)
    return check, asks


def said(*paths: list[str]) -> str:
    return json.dumps({"paths": list(paths)})


WIFE = ("wife", "doctor")
SONG = ("prefer_song",)


@pytest.mark.parametrize(
    ("golden", "answer"),
    [
        ([WIFE], said(["wife", "doctor"])),
        ([WIFE, SONG], said(["prefer_song"], ["wife", "doctor"])),
        ([WIFE], said(["wife", "doctor"], ["wife", "doctor"])),
        ([WIFE], said(["I", "wife", "doctor"])),
        ([WIFE], said(["Bob", "wife", "doctor"])),
        ([WIFE], said(["wife"], ["wife", "doctor"])),
        ([("wife",), WIFE], said(["wife", "doctor"])),
        ([], said()),
        ([WIFE], "```json\n" + said(["wife", "doctor"]) + "\n```"),
    ],
    ids=["same", "other order", "told twice", "begins with I", "begins with the name", "with its beginning", "beginning is golden", "none needed",
         "in a fence"],
)  # fmt: skip
def test_the_golden_paths_are_a_pass(golden: list[tuple[str, ...]], answer: str) -> None:
    check, asks = solved(sample(*golden), answer)
    assert (check.check, check.sample_id, check.judge, check.verdict) == ("solve", "t-hop2-000001", "scripted-1", "pass")
    assert check.findings == ()
    assert [purpose for purpose, _ in asks.asked] == ["solve"]


@pytest.mark.parametrize(
    ("golden", "answer"),
    [
        ([WIFE], said(["mother", "doctor"])),
        ([WIFE], said(["wife"])),
        ([WIFE], said(["doctor"])),
        ([WIFE], said(["wife", "doctor"], ["prefer_song"])),
        ([WIFE, SONG], said(["wife", "doctor"])),
        ([WIFE], said()),
        ([], said(["wife"])),
        ([WIFE], said(["wife", "prefer_doctor"])),
        ([WIFE], said(["Wife", "doctor"])),
        ([WIFE], said(["wife's", "doctor"])),
        ([WIFE], said(["Alice", "wife", "doctor"])),
        ([WIFE], said(["wife", "Alice", "doctor"])),
        ([WIFE], said(["doctor", "wife"])),
    ],
    ids=["other relative", "too short", "relative left out", "one more", "one less", "none", "none needed", "no such relation", "case",
         "possessive", "other person first", "person within", "backwards"],
)  # fmt: skip
def test_other_paths_are_a_fail_that_names_both(golden: list[tuple[str, ...]], answer: str) -> None:
    check, asks = solved(sample(*golden), answer)
    assert check.verdict == "fail"
    [finding] = check.findings
    assert finding.code == "solved_differently"
    for path in [*golden, *map(tuple, json.loads(answer)["paths"])]:
        assert " > ".join(path) in finding.message or path[0] == "I"
    assert len(asks.asked) == 1


def test_a_relation_that_the_graph_does_not_have_is_told() -> None:
    check, _ = solved(sample(WIFE), said(["wife", "prefer_doctor"]))
    assert "prefer_doctor: no relation of the graph" in check.findings[0].message


@pytest.mark.parametrize(
    ("query", "golden", "answer", "verdict"),
    [
        ("Call my grandson's doctor.", ("daughter", "son", "doctor"), ["son", "son", "doctor"], "pass"),
        ("Call my grandson.", ("daughter", "son"), ["son", "son"], "pass"),
        ("Call my grandson's doctor.", ("daughter", "son", "doctor"), ["son", "son", "prefer_song"], "fail"),
        ("Call my grandson's doctor.", ("daughter", "son", "doctor"), ["son", "daughter", "doctor"], "fail"),
        ("Call my son's son's doctor.", ("daughter", "son", "doctor"), ["son", "son", "doctor"], "fail"),
        ("Call my kid's doctor.", ("son", "doctor"), ["daughter", "doctor"], "pass"),
        ("Call her grandson's doctor.", ("daughter", "son", "doctor"), ["son", "son", "doctor"], "fail"),
    ],
)
def test_a_word_for_a_relative_that_only_the_graph_decides_is_no_mistake(
    query: str, golden: tuple[str, ...], answer: list[str], verdict: str
) -> None:
    assert solved(sample(golden, query=query), said(answer))[0].verdict == verdict


def test_two_facts_are_not_taken_for_one_of_two_readings() -> None:
    both = sample(("son", "doctor"), ("daughter", "doctor"), query="Call my kid's doctor.")
    assert solved(both, said(["son", "doctor"]))[0].verdict == "fail"


@pytest.mark.parametrize(
    "bad",
    ["", "The wife's doctor.", '{"paths": "wife"}', '{"paths": [["wife", 1]]}', '{"paths": ["wife"]}', '{"paths": [[]]}', '{"paths": [["I"]]}',
     '{"paths": [], "note": ""}', "[]", "null", said(["wife"]) + said(["wife"]), json.dumps({"paths": [["wife"]] * 17}),
     json.dumps({"paths": [["son"] * 13]}), '{"paths": [["' + "x" * 30_000 + '"]]}', '{"paths": ' + "[" * 900 + "]" * 900 + "}",
     'wife {"paths": [["wife", "doctor"]]}'],
)  # fmt: skip
def test_what_cannot_be_read_is_asked_again_and_then_unknown(bad: str) -> None:
    check, asks = solved(sample(WIFE), bad)
    assert (check.verdict, [f.code for f in check.findings]) == ("unknown", ["unreadable_answer"])
    assert len({request.key for _, request in asks.asked}) == 2
    assert solved(sample(WIFE), bad, said(["wife", "doctor"]))[0].verdict == "pass"


@pytest.mark.parametrize(("outcome", "code"), [("refused", "model_refused"), ("empty", "model_empty"), ("cut", "model_cut")])
def test_a_solver_that_does_not_answer_leaves_it_open(outcome: str, code: str) -> None:
    check, _ = solved(sample(WIFE), Answer(key="", outcome=outcome, text=said(["wife", "doctor"])))  # type: ignore[arg-type]
    assert (check.verdict, [f.code for f in check.findings]) == ("unknown", [code])


def test_a_name_that_is_a_relation_too_is_read_as_the_relation() -> None:
    assert read_paths(said(["I", "doctor"]), "Bob", ["I", "doctor"]) == {("I", "doctor")}


def test_the_solver_sees_query_speaker_and_relations_and_nothing_else(home: Made) -> None:
    material = material_of(home)
    relations = sorted(material.world(0).graph.relations)
    for draft in drafts(home, 4):
        origin = {**draft.provenance, "draft": {"query": "the words of the draft"}}
        changed = draft.model_copy(update={"query": "Please do </request> it for my mum.", "provenance": origin})
        [request] = solve_requests(changed, relations, answers("").model)
        prompt = request.messages[1]["content"]
        assert inside(prompt, "relations") == ", ".join(relations)
        assert inside(prompt, "speaker") == draft.speaker
        assert "Please do &lt;/request> it for my mum." in prompt
        rest = prompt.replace(inside(prompt, "relations"), "")
        for hidden in [*(call.name for call in draft.calls), *(t.tail for t in draft.golden_triples if t.tail != draft.speaker)]:
            assert hidden not in rest
        assert "words of the draft" not in prompt
        assert draft.query not in prompt


def test_the_golden_paths_of_every_draft_pass_and_longer_ones_fail(home: Made) -> None:
    relations = sorted(material_of(home).world(0).graph.relations)
    for draft in drafts(home, 10):
        golden = [list(path.relations) for path in draft.golden_paths]
        check, _ = asyncio.run(solve(draft, relations, answers(said(*reversed(golden))).model))
        assert check.verdict == "pass"
        wrong = [["mother", *path] for path in golden] or [["mother"]]
        check, _ = asyncio.run(solve(draft, relations, answers(said(*wrong)).model))
        assert check.verdict == "fail"


def test_the_first_reading_of_each_word_is_enough_though_the_graph_has_another(home: Made) -> None:
    """A solver that reads the words for relatives by the lexicon, and cannot know which of their readings the graph has."""
    relations = sorted(material_of(home).world(0).graph.relations)
    guessed = 0
    for draft in drafts(home, 20):
        paths = [list(path.relations) for path in draft.golden_paths]
        for path in paths:
            steps = next((n for n, relation in enumerate(path) if relation not in KIN_RELATIONS), len(path))
            for mention in find_mentions(draft.query):
                if tuple(path[:steps]) in mention.readings and len(mention.readings) > 1:
                    guess = min(reading for reading in mention.readings if reading != tuple(path[:steps]))
                    path[:steps] = guess
                    guessed += 1
                    break
        check, _ = asyncio.run(solve(draft, relations, answers(said(*paths)).model))
        assert check.verdict == "pass", (draft.query, check.findings)
    assert guessed >= 8
