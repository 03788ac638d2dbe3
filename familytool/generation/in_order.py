"""Several questions in work at once, their answers in the order of the questions."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TypeVar

Progress = Callable[[int, int], None]
"""Called with (done, of) as work goes on."""

T = TypeVar("T")
LOOK_AHEAD = 16


def untold(_done: int, _of: int) -> None:
    """Say nothing."""


class Questions:
    """Asks several rounds of questions and tells how many of those known so far are answered."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.done = 0
        self.known = 0

    async def in_order(self, jobs: list[Callable[[], Awaitable[T]]]) -> list[T]:
        """The results of jobs in their order; at most LOOK_AHEAD of them are in work, and none is left behind by an exception."""
        self.known += len(jobs)
        running: deque[asyncio.Future[T]] = deque()
        results: list[T] = []
        try:
            for job in jobs:
                if len(running) == LOOK_AHEAD:
                    results.append(await self._next(running))
                running.append(asyncio.ensure_future(job()))
            while running:
                results.append(await self._next(running))
        finally:
            for future in running:
                future.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        return results

    async def _next(self, running: deque[asyncio.Future[T]]) -> T:
        result = await running[0]
        running.popleft()
        self.done += 1
        self.progress(self.done, self.known)
        return result
