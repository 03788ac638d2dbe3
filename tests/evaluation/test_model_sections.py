"""The parts of a report that only a run with models has, from the folder of such a run to what a reader sees."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from familytool import pipeline
from familytool.evaluation.facts import report_facts
from familytool.evaluation.judged import Case, Judged, Matrix
from familytool.evaluation.report import ReportFacts, render_report
from familytool.evaluation.spending import ModelUse, RowCost
from familytool.runs import RunFolder
from tests.evaluation.model_run import ACCEPTED, ENDS, campaign, write_run
from tests.evaluation.test_report import EVIL, FACTS, Reader
from tests.made import Made

COMPARED = {
    "model": "reader-model",
    "totals": {"both_same": 3, "both_different": 1, "only_rules": 2, "only_model": 1, "neither": 2, "relative": 1, "agreement_rate": 0.6},
    "by_status": {
        "ok": {"both_same": 3, "both_different": 1, "only_rules": 2, "only_model": 1, "neither": 2, "relative": 1, "agreement_rate": 0.6}
    },
    "differences": [
        {"class": "only_rules", "tool": "book_trip", "version": "1", "status": "ok", "parameter": "city", "rules": "city", "model": "",
         "relation": "", "why": "filter rule: no fact of a person"},
    ],
}  # fmt: skip


def facts_of(run: RunFolder, **more: Any) -> ReportFacts:
    job = pipeline.Job(campaign())
    return report_facts(campaign(), run, lambda: pipeline.releasable(run), judged=pipeline.judged(job, run), **more)


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> ReportFacts:
    return facts_of(write_run(tmp_path_factory.mktemp("run")), extraction=COMPARED)


@pytest.fixture(scope="module")
def words(facts: ReportFacts) -> str:
    return " ".join(Reader(render_report(facts)).words.split())


def test_the_funnel_is_told_as_a_sum_down_to_the_released_rows(words: str) -> None:
    assert (
        "13 candidates − 9 rejected = 4 accepted − 1 that await a person's review + 1 kept from the former release = 4 released." in words
    )
    assert "Every candidate is accounted for" in words


def test_rows_that_are_released_are_counted_and_no_others(facts: ReportFacts) -> None:
    assert facts.samples == 4 == facts.funnel.released
    assert facts.writers == {"writer-model": 4}


def test_a_funnel_that_leads_elsewhere_than_to_the_released_rows_is_told(facts: ReportFacts) -> None:
    assert "The funnel leads to 4 rows, and 5 are released." in Reader(render_report(dataclasses.replace(facts, samples=5))).words


def test_disagreements_come_first_and_say_who_why_and_by_which_words(facts: ReportFacts, words: str) -> None:
    assert facts.judged is not None
    assert [(case.sample_id, case.check, case.rules, case.model, case.fate) for case in facts.judged.cases] == [
        ("m-hop2-000007", "intent", "pass", "fail", "rejected by intent"),
        ("m-hop2-000001", "intent", "unknown", "pass", "accepted"),
        ("m-hop2-000004", "intent", "unknown", "pass", "awaits review"),
        ("m-hop2-000002", "feasibility", "unknown", "pass", "rejected by feasibility"),
    ]
    first = facts.judged.cases[0]
    assert first.code == "judged_mismatch"
    assert first.message.startswith("it asks for a letter")
    assert first.evidence.startswith("a letter")
    assert first.query == "Card number 7 to my mum?"
    assert (
        words.index("1 verdict contradicts another; on 3 one side cannot tell.")
        < words.index("m-hop2-000007")
        < words.index("rules ↓ model →")
    )


def test_each_matrix_sums_to_the_samples_that_were_checked(facts: ReportFacts) -> None:
    assert facts.judged is not None
    verdicts = [check for _, checks in ACCEPTED for check in checks] + [check for end in ENDS.values() for check in end[4]]
    samples = {m.check: sum(int(cell["samples"]) for cell in m.cells) for m in facts.judged.matrices}
    for name in ("syntax", "parameters", "solve", "query"):
        assert samples[name] == sum(check.check == name for check in verdicts)
    intent = next(m for m in facts.judged.matrices if m.check == "intent")
    assert (intent.differing, intent.contradicting) == (3, 1)


def test_money_models_prompts_and_the_dearest_rows_are_told(words: str) -> None:
    for told in (
        "model calls12", "writer-model", "temperature = 0.9", "writer, solver", "own0own0own0own0", "judge_intent_no_tool",
        "no price is known for 1 call", "an accepted row, by its own calls1.2", "$0.03750", "$0.17000", "m-hop2-000003", "for neither",
    ):  # fmt: skip
        assert told in words, told


def test_a_preference_that_is_read_differently_is_listed_with_the_reason(words: str) -> None:
    for told in (
        "reader-model read the preferences of this run.",
        "60.0% of 10 parameters",
        "Differences (1)",
        "book_trip",
        "filter rule: no fact of a person",
    ):
        assert told in words


def test_twins_stand_side_by_side(facts: ReportFacts, words: str) -> None:
    assert [(original.id, twin.id) for original, twin in facts.twins] == [("m-hop2-000001", "m-hop2-000003")]
    assert "1 row has a twin" in words
    shown = words[words.index("original m-hop2-000001") :]
    places = [shown.index(part) for part in ("Post a card to my mum.", "twin m-hop2-000003", "Post a card to my dad.")]
    assert places == sorted(places)


def test_text_of_models_stays_text(facts: ReportFacts) -> None:
    markup = render_report(facts)
    assert "<script>alert" not in markup
    assert "\x1b" not in markup
    assert not {"script", "img"} & set(Reader(markup).tags)


@pytest.mark.parametrize("word", [EVIL, "x" * 5000, "数" * 5000, ""], ids=["evil", "long", "wide", "empty"])
def test_hostile_words_in_the_parts_of_models_do_no_harm(word: str, facts: ReportFacts) -> None:
    spent = facts.spending
    assert spent is not None
    total = spent.total
    hostile = dataclasses.replace(
        facts,
        spending=dataclasses.replace(
            spent, by_purpose={word: total}, by_outcome={word: total}, prompts={word: word}, dearest=(RowCost(word, {word: 1}, 1, 1, None),),
            models=(ModelUse(word, (word,), {word: word}, total),),
        ),
        judged=Judged(
            (Matrix(word, ({"rules": "pass", "model": "fail", "person": None, "samples": 1},), 1, 0.0, None),),
            (Case(word, word, "pass", "fail", "", word, word, word, word, word, word),),
        ),
        extraction={**COMPARED, "model": word, "differences": [dict.fromkeys(COMPARED["differences"][0], word)]},
    )  # fmt: skip
    markup = render_report(hostile)
    markup.encode("utf-8")
    reader = Reader(markup)
    assert not {"script", "img"} & set(reader.tags)
    assert not any(name.startswith("on") for name, _ in reader.attributes)
    assert len(markup) < 400_000


def test_a_person_s_verdicts_have_a_table_of_their_own() -> None:
    cells = (
        {"rules": "pass", "model": "fail", "person": "pass", "samples": 2},
        {"rules": "pass", "model": "pass", "person": None, "samples": 5},
    )
    shown = Reader(render_report(dataclasses.replace(FACTS, judged=Judged((Matrix("intent", cells, 7, 0.7143, 0.1),), ())))).words
    assert "Where a person has decided" in shown
    assert "they agree on 71.4%; kappa 0.1" in shown


def test_a_run_of_templates_has_none_of_these_parts(small: Made) -> None:
    job, run = small.job, RunFolder(small.path)
    assert pipeline.judged(job, run) is None
    found = report_facts(job.campaign, run)
    assert (found.spending, found.judged, found.extraction, found.twins) == (None, None, {}, ())
    shown = Reader(render_report(found)).words
    for absent in ("Rules and judge", "Model calls", "Preferences read", "Twins", "ledger.sqlite", "queries written by"):
        assert absent not in shown


def test_a_ledger_is_only_read(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    before = {path.name: path.read_bytes() for path in run.path.iterdir()}
    facts_of(run)
    assert {path.name: path.read_bytes() for path in run.path.iterdir()} == before
