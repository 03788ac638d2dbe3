"""How many requests an endpoint has in flight: additive increase, multiplicative decrease, first come first served.

The number grows by one for each window of answers (`limit` answers while the limit was used; before the first sign of overload by one
for each answer, so that it doubles in a round trip), and is halved by a 429 or a time-out. Requests that were on their way when it was
halved say nothing about the smaller number, so they neither halve it again nor raise it: one decrease in a round trip.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

Sign = Literal["answered", "overloaded", "other"]
"""What a request tells of its endpoint: it had room, it had too much to do, or nothing of either (a broken connection, a refused key)."""


@dataclass(frozen=True)
class Clock:
    """Seconds that never jump, and waiting for some of them; a test gives its own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep


@dataclass(frozen=True, slots=True)
class Slot:
    """The right to have one request in flight; `window` counts the decreases before it was given."""

    window: int


class Limit:
    """The requests in flight at one endpoint, at most `number` of them, which moves between `floor` and `ceiling`.

    `enter` waits for a slot in the order of asking, and nothing polls: a slot given back wakes the one whose turn it is.
    """

    def __init__(self, ceiling: int = 32, start: int = 16, floor: int = 1, clock: Clock | None = None) -> None:
        if not 1 <= floor <= ceiling:
            raise ValueError(f"a limit needs 1 <= floor <= ceiling, not floor {floor} and ceiling {ceiling}")
        self.ceiling, self.floor = ceiling, floor
        self.number = max(floor, min(start, ceiling))
        self.in_flight = 0
        self.decreases = 0
        self._clock = clock or Clock()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._answers = 0
        self._closed_until = float("-inf")

    async def enter(self) -> Slot:
        """A slot, once it is this caller's turn and no pause is on; `leave` must follow."""
        if self.in_flight < self.number and not self._waiting:
            self.in_flight += 1
        else:
            await self._turn()
        try:
            while (left := self._closed_until - self._clock.now()) > 0:
                await self._clock.sleep(left)
        except BaseException:
            self._free()
            raise
        return Slot(self.decreases)

    def leave(self, slot: Slot, sign: Sign) -> None:
        """Give a slot back and say what its request told."""
        if slot.window == self.decreases:
            if sign == "overloaded":
                self.number = max(self.floor, self.number // 2)
                self.decreases += 1
                self._answers = 0
            elif sign == "answered" and self.in_flight >= self.number:
                self._answers += 1
                if not self.decreases or self._answers >= self.number:
                    self.number = min(self.ceiling, self.number + 1)
                    self._answers = 0
        self._free()

    def pause(self, seconds: float) -> None:
        """Let nobody in for so many seconds, as an endpoint asks with Retry-After; a longer pause that is on stays."""
        self._closed_until = max(self._closed_until, self._clock.now() + seconds)

    async def _turn(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the slot had been given to a caller that is no more: the next one gets it
                self._free()
            raise

    def _free(self) -> None:
        self.in_flight -= 1
        while self._waiting and self.in_flight < self.number:
            turn = self._waiting.popleft()
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)
