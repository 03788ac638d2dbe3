"""What calls took: the parts sum to the ledger, and no call is counted twice."""

from __future__ import annotations

import sqlite3
from decimal import Decimal
from pathlib import Path

import pytest

from familytool.evaluation.spending import (
    Spending,
    cost_rows,
    cost_told,
    dearest,
    making_rows,
    pace,
    prompt_hashes,
    read_spending,
    row_costs,
)
from familytool.llm.accounts import Totals
from familytool.runs import RunFolder
from tests.evaluation.model_run import CALLS, campaign, price_of, write_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return write_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def spent(run: RunFolder) -> Spending:
    found = read_spending(campaign(), run)
    assert found is not None
    return found


def cents(*numbers: int) -> Decimal:
    return sum((Decimal(str(price_of(n) or 0)) for n in numbers), Decimal(0))


def test_accepted_rejected_and_neither_sum_to_the_whole_ledger(spent: Spending) -> None:
    parts = (spent.accepted, spent.rejected, spent.neither)
    assert tuple(map(sum, zip(*parts, strict=True))) == tuple(spent.total)
    assert spent.total.calls == CALLS
    assert [part.calls for part in parts] == [5, 4, 3]
    assert [part.price for part in parts] == [cents(0, 1, 2, 3, 4), cents(5, 6, 7, 8), cents(9, 10, 11)]


def test_a_call_of_an_accepted_and_a_rejected_candidate_is_the_accepted_one_s(spent: Spending) -> None:
    assert spent.rejected.calls == len({5, 6, 7, 8})  # call 0 stands in a rejected row too, 7 and 8 in two of them


def test_purposes_and_outcomes_and_models_sum_to_the_same(spent: Spending) -> None:
    for parts in (spent.by_purpose.values(), spent.by_outcome.values(), [use.took for use in spent.models if use.took]):
        assert tuple(map(sum, zip(*parts, strict=True))) == tuple(spent.total)
    assert {name: t.calls for name, t in spent.by_outcome.items()} == {"answered": 11, "empty": 1}
    assert spent.total.unpriced == 1


def test_models_are_named_with_their_tasks_and_settings(spent: Spending) -> None:
    assert [(use.id, use.roles, dict(use.settings)) for use in spent.models] == [
        ("writer-model", ("writer", "solver"), {"temperature": 0.9, "max_output": 1024}),
        ("judge-model", ("judge",), {"max_output": 400}),
    ]


def test_rows_are_those_accepted_and_those_that_no_review_holds_back(spent: Spending) -> None:
    assert (spent.rows, spent.released) == (4, 3)


def test_each_released_row_has_a_cost_of_its_own(run: RunFolder, spent: Spending) -> None:
    rows = list(cost_rows(run))
    assert [row["id"] for row in rows] == ["m-hop1-000000", "m-hop2-000001", "m-hop2-000003"]
    assert rows[0] == {"id": "m-hop1-000000", "calls": {"query": 2}, "prompt_tokens": 30, "output_tokens": 1, "price": 0.03}
    assert [cost.id for cost in dearest(row_costs(run), 2)] == ["m-hop2-000003", "m-hop2-000001"]
    assert [cost.id for cost in spent.dearest] == ["m-hop2-000003", "m-hop2-000001", "m-hop1-000000"]


def test_the_run_s_own_prompts_stand_in_for_those_of_the_package(run: RunFolder) -> None:
    found = prompt_hashes(campaign(), run)
    assert found["phrase"] == "own0own0own0own0"
    assert list(found) == [
        "phrase",
        "solve",
        "judge_query",
        "judge_intent",
        "judge_feasibility",
        "judge_intent_no_tool",
        "judge_feasibility_no_tool",
    ]
    assert all(len(value) == 16 for value in found.values())


def test_what_further_rows_take_leaves_probes_and_documents_out(spent: Spending) -> None:
    assert making_rows(spent).calls == CALLS - 1


def test_a_card_says_no_price_where_none_is_known() -> None:
    assert cost_told("rows", [Totals(2, 5, 1, Decimal(0), 2, 0)])["price"] is None
    assert cost_told("rows", [Totals(2, 5, 1, Decimal("0.25"), 1, 0), Totals(1, 1, 1, Decimal("0.5"), 0, 0)])["price"] == 0.75


def test_the_pace_is_the_time_between_calls_without_pauses(run: RunFolder, tmp_path: Path) -> None:
    found = pace(run)
    assert found is not None
    assert (found.seconds, found.calls) == (1.0, CALLS - 1)
    later = write_run(tmp_path / "later")
    with sqlite3.connect(later.path / "ledger.sqlite") as ledger:
        ledger.execute("UPDATE ledger SET finished = '2025-06-16T10:00:00.000Z' WHERE purpose = 'probe'")
        ledger.execute("UPDATE ledger SET finished = 'not a time' WHERE purpose = 'judge'")
    found = pace(later)
    assert found is not None
    assert found.seconds < 2


def test_a_run_without_a_ledger_tells_nothing(tmp_path: Path) -> None:
    assert read_spending(campaign(), RunFolder(tmp_path)) is None
    assert pace(RunFolder(tmp_path)) is None
    assert list(row_costs(RunFolder(tmp_path))) == []
    assert list(tmp_path.iterdir()) == []
