"""A budget is never passed: not by many calls at once, not by rounding, not by a call whose end nobody saw."""

from __future__ import annotations

import asyncio
import random
import threading
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.errors import UsageError
from familytool.llm.budget import Budget, BudgetExhausted, Estimate, Reservation, estimate, likely_prompt_tokens, most_prompt_tokens
from familytool.llm.prices import Price, Prices
from familytool.llm.requests import Request, Sampling, Usage
from tests.llm.ledger_calls import ask

PRICES = Prices(
    {
        "small-model": Price(
            prompt=Decimal("2.50"), cached_prompt=Decimal("1.25"), output=Decimal("10"), batch_factor=Decimal("0.5"), date=date(2025, 7, 4)
        ),
        "own": Price(prompt=Decimal(0), output=Decimal(0), date=date(2025, 7, 4)),
    }
)
ONE = Decimal(most_prompt_tokens(ask())) * Decimal("2.5") / 10**6 + Decimal(100) * 10 / 10**6
"""The most that `call()` can cost."""


def call(**fields: Any) -> Request:
    return ask(sampling=Sampling(max_output=100), **fields)


def test_a_call_that_could_pass_the_cap_is_refused_with_the_figures() -> None:
    budget = Budget(ONE * 2, PRICES)
    held = budget.reserve(call())
    budget.reserve(call())
    with pytest.raises(BudgetExhausted) as error:
        budget.reserve(call())
    assert f"{ONE * 2:.4f}" in str(error.value)
    assert "--budget" in str(error.value)
    assert "\n" not in str(error.value)
    held.settle(Usage(prompt_tokens=10, output_tokens=1))
    assert budget.spent == Decimal("0.000035")
    with pytest.raises(BudgetExhausted):
        budget.reserve(call())  # 35 millionths too little
    assert budget.held == ONE


def test_the_last_nano_dollar_is_reached_and_not_passed() -> None:
    Budget(ONE, PRICES).reserve(call())
    with pytest.raises(BudgetExhausted):
        Budget(ONE - Decimal("1e-9"), PRICES).reserve(call())
    with pytest.raises(BudgetExhausted):
        Budget(0, PRICES).reserve(call())


def test_what_was_spent_before_a_resume_counts() -> None:
    with pytest.raises(BudgetExhausted):
        Budget(ONE, PRICES, spent=Decimal("1e-9")).reserve(call())
    budget = Budget(ONE + 1, PRICES, spent=Decimal(1))
    budget.reserve(call()).settle(Usage(prompt_tokens=0, output_tokens=0))
    assert budget.spent == 1


@pytest.mark.parametrize(
    ("end", "spent"),
    [
        (lambda r: r.settle(Usage(prompt_tokens=10, output_tokens=1)), Decimal("0.000035")),
        (lambda r: r.settle(Usage(prompt_tokens=10, output_tokens=1), cached_tokens=10), Decimal("0.0000225")),
        (lambda r: r.settle(Usage(prompt_tokens=10)), Decimal("0.001025")),
        (lambda r: r.settle(Usage()), ONE),
        (lambda r: r.lost(), ONE),
        (lambda r: r.release(), Decimal(0)),
        (lambda r: r.__exit__(None, None, None), ONE),
        (lambda r: (r.release(), r.lost(), r.settle(Usage())), Decimal(0)),
    ],
    ids=["settled", "cached", "no output told", "nothing told", "lost", "released", "left open", "ended twice"],
)
def test_a_reservation_ends_once_and_in_the_way_that_is_said(end: Any, spent: Decimal) -> None:
    budget = Budget(10, PRICES)
    end(budget.reserve(call()))
    assert (budget.spent, budget.held) == (spent, 0)


def test_an_endpoint_that_counts_more_than_the_bound_is_believed_and_stops_the_run() -> None:
    budget = Budget(ONE * 2, PRICES)
    budget.reserve(call()).settle(Usage(prompt_tokens=10**9, output_tokens=1))
    assert budget.spent > 2000
    with pytest.raises(BudgetExhausted):
        budget.reserve(call())


def test_the_batch_price_is_reserved_and_settled_where_a_batch_is_written() -> None:
    budget = Budget(ONE / 2, PRICES, batch=True)
    budget.reserve(call()).settle(Usage(prompt_tokens=10, output_tokens=1))
    assert budget.spent == Decimal("0.0000175")


def test_a_model_without_a_price_is_refused_under_a_cap_in_dollars_and_counted_without_one() -> None:
    unknown = call(model="mystery")
    with pytest.raises(UsageError, match="mystery"):
        Budget(1, PRICES).reserve(unknown)
    with pytest.raises(UsageError, match="mystery"):
        Budget(1, PRICES).refuse_unpriced(["small-model", "mystery"])
    Budget(None, PRICES).refuse_unpriced(["mystery"])
    free = Budget(None, PRICES)
    free.reserve(unknown).settle(Usage(prompt_tokens=10, output_tokens=1))
    assert (free.spent, free.tokens) == (0, 11)
    Budget(0, PRICES).reserve(call(model="own")).settle(Usage(prompt_tokens=10, output_tokens=1))


def test_a_cap_in_tokens_holds_for_models_without_a_price() -> None:
    unknown = call(model="mystery")
    most = most_prompt_tokens(unknown) + 100
    budget = Budget(None, PRICES, tokens=most + 11)
    budget.reserve(unknown).settle(Usage(prompt_tokens=10, output_tokens=1))
    budget.reserve(unknown)
    with pytest.raises(BudgetExhausted, match="tokens"):
        budget.reserve(unknown)


def test_a_prompt_with_a_picture_has_no_bound_and_is_refused_under_a_cap() -> None:
    parts = [{"type": "text", "text": "what is this?"}, {"type": "image_url", "image_url": {"url": "http://host/p.png"}}]
    picture = call(messages=({"role": "user", "content": parts},))
    with pytest.raises(UsageError, match="pictures"):
        Budget(1, PRICES).reserve(picture)
    Budget(None, PRICES).reserve(picture)
    Budget(1, PRICES).reserve(call(messages=({"role": "user", "content": parts[:1]},)))


@pytest.mark.parametrize("cap", [-1, "much", float("nan"), float("inf"), "1e9999999", ""])
def test_a_cap_that_is_no_amount_is_a_usage_error(cap: Any) -> None:
    with pytest.raises(UsageError, match="budget"):
        Budget(cap, PRICES)


@pytest.mark.parametrize("cap", [1, 1.0, "1", Decimal(1), "1.0000000009"])
def test_a_cap_may_be_written_in_any_way(cap: Any) -> None:
    budget = Budget(cap, PRICES, spent=Decimal(1) - ONE)
    budget.reserve(call())


def test_ten_times_a_tenth_is_one_dollar() -> None:
    """0.1 has no exact binary form; money here has no binary fractions."""
    tenth = Prices({"small-model": Price(prompt=Decimal(0), output=Decimal(1000), date=date(2025, 7, 4))})
    budget = Budget(1.0, tenth)
    for _ in range(10):
        budget.reserve(call()).settle(Usage(prompt_tokens=0, output_tokens=100))
    assert budget.spent == 1
    with pytest.raises(BudgetExhausted):
        budget.reserve(call())


# Many at once.

steps = st.lists(
    st.tuples(st.sampled_from(["reserve", "settle", "lose", "release"]), st.integers(0, 2000), st.floats(0, 1), st.integers(0, 10**6)),
    max_size=60,
)


def the_cap_is_never_passed(cap: Decimal, moves: list[tuple[str, int, float, int]]) -> None:
    budget = Budget(cap, PRICES)
    open_calls: list[Reservation] = []
    for what, size, share, place in moves:
        if what == "reserve":
            try:
                open_calls.append(budget.reserve(ask(size, sampling=Sampling(max_output=1 + size))))
            except BudgetExhausted:
                continue
        elif open_calls:
            reservation = open_calls.pop(place % len(open_calls))
            if what == "settle":
                prompt, output = int(share * reservation.prompt_tokens), int(share * reservation.output_tokens)
                reservation.settle(Usage(prompt_tokens=prompt, output_tokens=output), cached_tokens=place % (prompt + 1))
            else:
                reservation.lost() if what == "lose" else reservation.release()
        assert budget.spent + budget.held <= cap
    for reservation in open_calls:
        reservation.lost()
    assert budget.spent <= cap
    assert budget.held == 0


@settings(max_examples=100)
@given(st.decimals(0, Decimal("0.1"), places=9), steps)
def test_the_cap_is_never_passed(cap: Decimal, moves: list[tuple[str, int, float, int]]) -> None:
    the_cap_is_never_passed(cap, moves)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(st.decimals(0, Decimal("0.1"), places=9), steps)
def test_the_cap_is_never_passed_in_many_runs(cap: Decimal, moves: list[tuple[str, int, float, int]]) -> None:
    the_cap_is_never_passed(cap, moves)


def test_the_cap_is_never_passed_by_threads() -> None:
    cap = ONE * 50
    budget = Budget(cap, PRICES)
    passed: list[Decimal] = []
    made: list[int] = []

    def work(seed: int) -> None:
        draw = random.Random(seed)
        for _ in range(200):
            try:
                reservation = budget.reserve(call())
            except BudgetExhausted:
                return
            if budget.spent > cap:
                passed.append(budget.spent)
            made.append(1)
            reservation.settle(Usage(prompt_tokens=draw.randrange(500), output_tokens=draw.randrange(100)))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert passed == []
    assert budget.held == 0
    assert budget.spent <= cap
    assert len(made) > 50  # what was settled for less left room for more


def test_who_waits_is_served_in_turn_when_others_settle_and_refused_when_none_is_left() -> None:
    usage = Usage(prompt_tokens=10, output_tokens=1)
    budget = Budget(ONE * 2 + Decimal("0.000035") * 18, PRICES)
    served: list[int] = []

    async def one(number: int) -> None:
        reservation = await budget.wait(call())
        served.append(number)
        await asyncio.sleep(0)
        reservation.settle(usage)

    async def run() -> None:
        await asyncio.gather(*(one(number) for number in range(20)))

    asyncio.run(asyncio.wait_for(run(), 60))
    assert served == list(range(20))
    assert budget.spent == Decimal("0.000035") * 20

    async def too_many() -> list[BaseException | None]:
        poor = Budget(ONE, PRICES, spent=Decimal("0.000001"))
        return await asyncio.gather(*(poor.wait(call()) for _ in range(3)), return_exceptions=True)  # type: ignore[arg-type]

    assert all(isinstance(error, BudgetExhausted) for error in asyncio.run(asyncio.wait_for(too_many(), 60)))


def test_a_budget_serves_several_event_loops_and_waiters_that_give_up() -> None:
    budget = Budget(ONE, PRICES)

    async def run() -> None:
        held = await budget.wait(call())
        tasks = [asyncio.create_task(budget.wait(call())) for _ in range(3)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        await asyncio.sleep(0)
        held.release()
        (await tasks[1]).release()
        (await tasks[2]).release()

    for _ in range(2):
        asyncio.run(asyncio.wait_for(run(), 60))
    assert (budget.spent, budget.held) == (0, 0)


# Bounds and estimates.


@settings(max_examples=100)
@given(st.text(max_size=200), st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=20)), max_size=3))
def test_the_bound_is_at_least_a_token_for_each_byte_of_the_prompt(text: str, tools: list[dict[str, str]]) -> None:
    request = ask(messages=({"role": "user", "content": text},), tools=tuple(tools), answer_schema={"type": "object"})
    size = len(text.encode("utf-8", "surrogatepass")) + sum(len(part.encode()) for tool in tools for item in tool.items() for part in item)
    assert most_prompt_tokens(request) > size
    assert 0 < likely_prompt_tokens(request) < most_prompt_tokens(request)


def test_an_estimate_adds_up_the_calls_that_are_to_be_made() -> None:
    requests = [call(), call(sample_index=1), call(model="mystery"), call(model="mystery", sample_index=1), call(model="own")]
    done = {requests[1].key}
    found = estimate(iter(requests), PRICES, answered=done)
    most, least = most_prompt_tokens(requests[0]), likely_prompt_tokens(requests[0])
    assert found == Estimate(
        calls=4,
        answered=1,
        prompt_tokens=(4 * least, 4 * most),
        output_tokens=(4, 400),
        cost=(least * Decimal("0.0000025") + Decimal("0.00001"), ONE),
        unpriced=("mystery",),
    )
    assert estimate(requests, PRICES, answered=done, batch=True).cost[1] == ONE / 2
    assert estimate([], PRICES) == Estimate()


def test_what_an_estimate_calls_the_most_is_what_a_budget_reserves() -> None:
    requests = [ask(number, sampling=Sampling(max_output=number)) for number in range(1, 50)]
    most = estimate(requests, PRICES).cost[1]
    budget = Budget(most, PRICES)
    for request in requests:
        budget.reserve(request)
    assert budget.held == most
