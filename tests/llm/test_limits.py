"""The limit of requests in flight, driven step by step; time is a number that the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.llm.limits import Clock, Limit, Slot


class Time:
    """Seconds that pass only where the code sleeps; `slept` lists how long."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)

    @property
    def clock(self) -> Clock:
        return Clock(self.now, self.sleep)


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(test())


async def settle() -> None:
    """Let everything that can go on go on."""
    for _ in range(5):
        await asyncio.sleep(0)


async def full_window(limit: Limit) -> list[Slot]:
    return [await limit.enter() for _ in range(limit.number - limit.in_flight)]


def leave_all(limit: Limit, slots: list[Slot]) -> None:
    for slot in slots:
        limit.leave(slot, "answered")


def test_the_number_doubles_in_a_round_trip_until_the_first_overload() -> None:
    async def steps() -> None:
        limit = Limit(ceiling=64, start=4)
        waiting = [asyncio.create_task(limit.enter()) for _ in range(60)]
        await settle()
        for expected in (8, 16, 32):
            before = [task for task in waiting if task.done()]
            waiting = [task for task in waiting if not task.done()]
            leave_all(limit, [task.result() for task in before])
            await settle()
            assert limit.number == expected
        for task in waiting:
            task.cancel()

    run(steps)


def test_after_an_overload_the_number_is_halved_and_then_grows_by_one_in_a_round_trip() -> None:
    async def steps() -> None:
        limit = Limit(ceiling=64, start=8)
        waiting = [asyncio.create_task(limit.enter()) for _ in range(100)]
        await settle()

        def take() -> list[Slot]:
            done = [task for task in waiting if task.done()]
            waiting[:] = [task for task in waiting if not task.done()]
            return [task.result() for task in done]

        first = take()
        limit.leave(first.pop(), "overloaded")
        assert limit.number == 4
        leave_all(limit, first)  # they were sent before the decrease and tell nothing of the smaller number
        await settle()
        for expected in (5, 6, 7, 8):
            window = take()
            assert len(window) == expected - 1
            leave_all(limit, window)
            await settle()
            assert limit.number == expected
        for task in waiting:
            task.cancel()

    run(steps)


def test_many_overloads_of_one_round_trip_halve_the_number_once() -> None:
    async def steps() -> None:
        limit = Limit(ceiling=32, start=32)
        for slot in await full_window(limit):
            limit.leave(slot, "overloaded")
        assert (limit.number, limit.decreases) == (16, 1)
        for slot in await full_window(limit):
            limit.leave(slot, "overloaded")
        assert (limit.number, limit.decreases) == (8, 2)

    run(steps)


def test_the_number_stays_between_floor_and_ceiling() -> None:
    async def steps() -> None:
        limit = Limit(ceiling=5, start=5, floor=2)
        for _ in range(10):
            leave_all(limit, await full_window(limit))
        assert limit.number == 5
        for _ in range(10):
            limit.leave(await limit.enter(), "overloaded")
        assert limit.number == 2

    run(steps)


def test_answers_do_not_raise_the_number_while_it_is_not_used() -> None:
    async def steps() -> None:
        limit = Limit(ceiling=32, start=4)
        for _ in range(100):
            limit.leave(await limit.enter(), "answered")
        assert limit.number == 4

    run(steps)


def test_a_broken_connection_moves_the_number_in_neither_direction() -> None:
    async def steps() -> None:
        limit = Limit(ceiling=32, start=4)
        for slot in await full_window(limit):
            limit.leave(slot, "other")
        assert (limit.number, limit.decreases) == (4, 0)

    run(steps)


def test_who_asks_first_is_let_in_first() -> None:
    async def steps() -> None:
        limit = Limit(ceiling=2, start=2)
        order: list[int] = []

        async def caller(number: int) -> None:
            slot = await limit.enter()
            order.append(number)
            await asyncio.sleep(0)
            limit.leave(slot, "answered")

        await asyncio.gather(*(caller(number) for number in range(40)))
        assert order == list(range(40))

    run(steps)


def test_a_slot_given_to_a_caller_that_is_cancelled_goes_to_the_next() -> None:
    async def steps() -> None:
        limit = Limit(ceiling=1, start=1)
        held = await limit.enter()
        first, second, third = (asyncio.create_task(limit.enter()) for _ in range(3))
        await settle()
        first.cancel()  # waits for its turn
        limit.leave(held, "answered")
        second.cancel()  # has been given its turn and has not run yet
        await settle()
        assert first.cancelled() and second.cancelled()
        assert third.done() and limit.in_flight == 1
        limit.leave(third.result(), "answered")
        assert limit.in_flight == 0

    run(steps)


def test_a_pause_lets_nobody_in_until_it_is_over_and_the_longest_counts() -> None:
    async def steps() -> None:
        time = Time()
        limit = Limit(ceiling=4, start=4, clock=time.clock)
        limit.pause(10.0)
        limit.pause(3.0)
        time.seconds = 4.0
        await limit.enter()
        assert time.slept == [6.0]
        await limit.enter()
        assert time.slept == [6.0]

    run(steps)


def test_a_caller_cancelled_in_a_pause_gives_its_slot_back() -> None:
    async def steps() -> None:
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def sleep(_: float) -> Awaitable[object]:
            return never

        limit = Limit(ceiling=1, start=1, clock=Clock(lambda: 0.0, sleep))
        limit.pause(1.0)
        caller = asyncio.create_task(limit.enter())
        await settle()
        assert limit.in_flight == 1
        caller.cancel()
        await settle()
        assert limit.in_flight == 0

    run(steps)


@pytest.mark.parametrize(("floor", "ceiling"), [(0, 5), (6, 5), (1, 0)])
def test_a_limit_that_lets_nobody_in_is_refused(floor: int, ceiling: int) -> None:
    with pytest.raises(ValueError, match="floor"):
        Limit(ceiling=ceiling, floor=floor)


STEPS = st.lists(
    st.tuples(st.sampled_from(["enter", "answered", "overloaded", "other", "cancel", "go on"]), st.integers(0, 30)), max_size=120
)


def limit_keeps_its_promises(ceiling: int, moves: list[tuple[str, int]]) -> None:
    """Never more in than the number allowed at entry, nobody lost, nobody waits beside a free slot, first come first served."""

    async def steps() -> None:
        limit = Limit(ceiling=ceiling, start=ceiling // 2 or 1)
        waiting: list[asyncio.Task[Slot]] = []
        inside: list[Slot] = []
        for move, which in moves:
            if move == "enter":
                waiting.append(asyncio.create_task(limit.enter()))
            elif move == "cancel" and waiting:
                waiting[which % len(waiting)].cancel()
            elif move in ("answered", "overloaded", "other") and inside:
                limit.leave(inside.pop(which % len(inside)), move)  # type: ignore[arg-type]
            if move != "go on" and which % 3:
                continue  # several moves happen before anything else runs
            await settle()
            inside += [task.result() for task in waiting if task.done() and not task.cancelled()]
            done = [task.done() for task in waiting if not task.cancelled()]
            assert done == sorted(done, reverse=True)
            waiting = [task for task in waiting if not task.done()]
            assert limit.in_flight == len(inside)
            assert 1 <= limit.number <= ceiling
            assert not waiting or limit.in_flight >= limit.number
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    asyncio.run(steps())


@settings(max_examples=100)
@given(st.integers(1, 8), STEPS)
def test_no_order_of_entering_leaving_and_cancelling_loses_a_slot(ceiling: int, moves: list[tuple[str, int]]) -> None:
    limit_keeps_its_promises(ceiling, moves)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(st.integers(1, 8), STEPS)
def test_no_order_of_entering_leaving_and_cancelling_loses_a_slot_in_2000_examples(ceiling: int, moves: list[tuple[str, int]]) -> None:
    limit_keeps_its_promises(ceiling, moves)
