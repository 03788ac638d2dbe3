"""Counts of what rules, model and person say of the same samples, and the cases in which they differ."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.errors import FamilytoolError
from familytool.model import Check, Finding
from familytool.validation.disagreement import Agreement, agreement, disagreements, matrix_rows, verdict_matrix


def row(sample: str, verdict: str, judge: str = "rules", check: str = "intent", code: str = "") -> dict[str, Any]:
    """A row as `checks.jsonl` holds it."""
    found = (Finding(code=code, message=f"{code} of {judge}"),) if code else ()
    return Check(sample_id=sample, check=check, verdict=verdict, findings=found, judge=judge).model_dump(mode="json")  # type: ignore[arg-type]


ROWS = [
    row("s1", "pass"), row("s1", "pass", "gpt"),
    row("s2", "pass"), row("s2", "unknown", "gpt", code="evidence_not_found"),
    row("s3", "pass"), row("s3", "fail", "gpt", code="judged_mismatch"),
    row("s4", "unknown"), row("s4", "pass", "gpt"),
    row("s5", "fail", code="unused_value"), row("s5", "pass", "gpt"),
    row("s6", "unknown"), row("s6", "fail", "gpt", code="judged_mismatch"),
    row("s7", "pass"), row("s7", "pass", "gpt"), row("s7", "fail", "person:ann"),
    row("s8", "fail", code="unused_value"),
    row("s1", "pass", "gpt", "query"), row("s9", "fail", "gpt", "query", "judged_invalid"),
]  # fmt: skip


def test_the_matrix_counts_the_verdicts_of_rules_model_and_person_for_each_check() -> None:
    matrix = verdict_matrix(iter(ROWS))
    assert list(matrix) == ["intent", "query"]
    assert matrix["query"] == {("", "pass", ""): 1, ("", "fail", ""): 1}
    assert matrix["intent"] == {
        ("pass", "pass", ""): 1, ("pass", "unknown", ""): 1, ("pass", "fail", ""): 1, ("unknown", "pass", ""): 1, ("fail", "pass", ""): 1,
        ("unknown", "fail", ""): 1, ("pass", "pass", "fail"): 1, ("fail", "", ""): 1,
    }  # fmt: skip


def test_the_rows_for_a_report_begin_with_what_differs() -> None:
    rows = matrix_rows(verdict_matrix(ROWS)["intent"])
    assert rows[0] == {"rules": "pass", "model": "fail", "person": None, "samples": 1}
    assert [(r["rules"], r["model"]) for r in rows] == [
        ("pass", "fail"), ("fail", "pass"), ("pass", "pass"), ("unknown", "fail"), ("unknown", "pass"), ("pass", "unknown"),
        ("pass", "pass"), ("fail", None),
    ]  # fmt: skip
    assert rows[2]["person"] == "fail"


def test_disagreements_begin_with_what_the_rules_pass_and_the_model_fails() -> None:
    found = disagreements(iter(ROWS), 100)
    assert [case.sample_id for case in found] == ["s3", "s5", "s7", "s6", "s4", "s2"]
    assert found[0] == ("s3", "intent", "pass", "fail", "", "gpt", "judged_mismatch", "judged_mismatch of gpt")
    assert (found[1].code, found[2].person, found[5].code) == ("unused_value", "fail", "evidence_not_found")


@pytest.mark.parametrize(("limit", "expected"), [(0, []), (1, ["s3"]), (3, ["s3", "s5", "s7"])], ids=["none", "one", "three"])
def test_no_more_disagreements_are_listed_than_wanted(limit: int, expected: list[str]) -> None:
    assert [case.sample_id for case in disagreements(ROWS, limit)] == expected


def test_a_later_row_of_the_same_side_supersedes_an_earlier_one() -> None:
    rows = [row("s", "pass"), row("s", "fail", "gpt", code="judged_mismatch"), row("s", "pass", "gpt")]
    assert verdict_matrix(rows)["intent"] == {("pass", "pass", ""): 1}
    assert disagreements(rows, 9) == []


def test_rows_may_come_in_any_order_and_more_than_fit_a_report() -> None:
    def many() -> Iterator[dict[str, Any]]:
        draw = random.Random(5)
        for number in range(3_000):
            yield row(f"s{number}", draw.choice(["pass", "fail", "unknown"]))
        for number in reversed(range(3_000)):
            yield row(f"s{number}", draw.choice(["pass", "fail", "unknown"]), "gpt")

    counts = verdict_matrix(many())["intent"]
    assert sum(counts.values()) == 3_000
    found = disagreements(many(), 50)
    assert {(case.rules, case.model) for case in found} == {("pass", "fail")}
    assert [case.sample_id for case in found] == sorted((case.sample_id for case in found), key=lambda name: int(name[1:]))


def table(pp: int, pf: int, fp: int, ff: int, **unknown: int) -> dict[tuple[str, str, str], int]:
    counts = {("pass", "pass", ""): pp, ("pass", "fail", ""): pf, ("fail", "pass", ""): fp, ("fail", "fail", ""): ff}
    return {**counts, ("unknown", "pass", ""): unknown.get("up", 0), ("pass", "", ""): unknown.get("alone", 0)}


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (table(20, 5, 10, 15), Agreement(50, 50, 0.7, 0.4)),
        (table(45, 15, 25, 15), Agreement(100, 100, 0.6, 0.1304)),
        (table(9, 0, 0, 1), Agreement(10, 10, 1.0, 1.0)),
        (table(0, 5, 5, 0), Agreement(10, 10, 0.0, -1.0)),
        (table(25, 25, 25, 25), Agreement(100, 100, 0.5, 0.0)),
        (table(9, 0, 0, 0), Agreement(9, 9, 1.0, None)),
        (table(9, 1, 0, 0), Agreement(10, 10, 0.9, None)),
        (table(9, 0, 1, 0), Agreement(10, 10, 0.9, None)),
        (table(0, 3, 0, 0), Agreement(3, 3, 0.0, None)),
        (table(0, 0, 0, 0, up=4, alone=2), Agreement(4, 0, None, None)),
        (table(20, 5, 10, 15, up=4, alone=2), Agreement(54, 50, 0.7, 0.4)),
        ({}, Agreement(0, 0, None, None)),
    ],
    ids=[
        "a textbook table", "another", "all agree", "none agrees", "chance", "all pass", "rules all pass", "model all passes",
        "one side passes, one fails", "nothing decided", "unknowns do not count", "no rows",
    ],
)  # fmt: skip
def test_agreement_and_kappa_are_of_what_both_decided_and_null_where_there_is_nothing_to_tell(counts: Any, expected: Agreement) -> None:
    assert agreement(counts) == expected


def test_agreement_is_told_of_any_two_sides() -> None:
    counts = {("pass", "fail", "fail"): 2, ("pass", "pass", "pass"): 2, ("fail", "pass", "pass"): 1}
    assert agreement(counts, "model", "person") == (5, 5, 1.0, 1.0)
    assert agreement(counts, "rules", "person").share == 0.4


@settings(max_examples=100)
@given(st.lists(st.integers(0, 9), min_size=4, max_size=4))
def test_kappa_is_the_same_either_way_round_and_at_most_one(cells: list[int]) -> None:
    found = agreement(table(*cells))
    assert found == agreement(table(cells[0], cells[2], cells[1], cells[3]))
    assert found.kappa is None or -1 <= found.kappa <= 1
    assert (found.kappa == 1) == (found.share == 1 and min(cells[0], cells[3]) > 0)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({**row("s", "pass"), "verdict": "maybe"}, "row 2: the verdict is 'maybe'"),
        ({**row("s", "pass"), "verdict": None}, "row 2: 'verdict' is no text"),
        ({**row("s", "pass"), "sample_id": 7}, "row 2: 'sample_id' is no text"),
        ({"sample_id": "s", "verdict": "pass"}, "row 2: 'check' is no text"),
        (["s"], "row 2: 'sample_id' is no text"),
        ("s", "row 2: 'sample_id' is no text"),
    ],
    ids=["verdict", "null", "number", "missing", "a list", "a text"],
)
def test_a_row_that_is_no_check_is_named(bad: Any, says: str) -> None:
    with pytest.raises(FamilytoolError, match=says):
        verdict_matrix([row("r", "pass"), bad])


@pytest.mark.parametrize("findings", [None, [], {}, ["x"], [{}], [{"code": 3, "message": None}], "x"], ids=repr)
def test_findings_of_another_form_hide_no_disagreement(findings: Any) -> None:
    rows = [row("s", "pass"), {**row("s", "fail", "gpt"), "findings": findings}]
    assert [case.sample_id for case in disagreements(rows, 5)] == ["s"]
