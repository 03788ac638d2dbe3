"""The ledger: every finished model call of a run, kept by the hash of what it asked, durable before anyone uses it.

A row is finished (answered, refused, empty, cut) or not there: what failed was raised by the client and never came here. The answer
is made anew from the raw response at each look-up, so that a changed parser reads old answers and nothing is paid again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from familytool.errors import FamilytoolError
from familytool.llm.accounts import By, Entry, Totals, read_cost, read_total, read_totals, read_unused
from familytool.llm.dialects import answer_of
from familytool.llm.redact import holds_secret, redact, without_secrets
from familytool.llm.requests import Answer, Purpose, Request
from familytool.llm.rows import Row, json_text, plain, row_of
from familytool.llm.store import SELECT, insert, open_for_reading, open_for_writing, told
from familytool.model import Json

GROUP_SECONDS = 0.010
GROUP_ANSWERS = 64
"""Answers are committed together: at most one commit in 10 ms, unless 64 are waiting. A lone answer does not wait."""

AnswerOf = Callable[[dict[str, Any], str], Answer]
"""The parser: a raw response and its key to an answer; a ValueError says that it cannot read it. Price and `from_ledger` are set here."""


class Finished(NamedTuple):
    """What a real call brought back: where from, the raw body, the answer in it, and when (seconds of the epoch)."""

    endpoint: str
    response: dict[str, Json]
    answer: Answer
    started: float
    finished: float


class ReplayMiss(FamilytoolError):
    """A call that a replay would need and the ledger does not hold."""


class Ledger:
    """The ledger at a path; `async with` (or open and close) around its use. With `replay` it is read only and a miss is an error.

    `answer_of` reads raw responses at look-ups; `secrets` are taken out of what is kept. Two processes may write to one file: the
    first commit of a key stays, and both are given that answer.

    Raises:
        FamilytoolError: the file is no ledger, or cannot be written.
    """

    def __init__(self, path: Path, *, replay: bool = False, answer_of: AnswerOf = answer_of, secrets: Sequence[str] = ()) -> None:
        self.path = path
        self.replay = replay
        self.answer_of = answer_of
        self.secrets = tuple(secrets)
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None
        self._writing = threading.Lock()
        self._thread: ThreadPoolExecutor | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asked: dict[str, asyncio.Future[None]] = {}
        self._waiting: list[tuple[Row, asyncio.Future[bool]]] = []
        self._writes: set[asyncio.Future[list[bool]]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._flushed = -math.inf

    def open(self) -> Ledger:
        """Open the file; a new one is made unless this is a replay."""
        if self._reader is None:
            if not self.replay:
                self._writer = open_for_writing(self.path)
                self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")
            self._reader = open_for_reading(self.path, live=None if self.replay else True)
        return self

    def close(self) -> None:
        """Commit what waits and close; the ledger is one file then."""
        if self._thread is not None:
            self._thread.shutdown(wait=True)
            self._thread = None
        waiting, self._waiting = self._waiting, []
        try:
            if waiting:
                self.store([row for row, _ in waiting])
        finally:
            for connection in (self._reader, self._writer):  # the writer last: it takes the write-ahead log away
                if connection is not None:
                    connection.close()
            self._reader = self._writer = None

    async def aclose(self) -> None:
        """Commit what waits, tell those who wait for it, and close."""
        while self._waiting or self._writes:
            self._flush()
            await asyncio.wait(self._writes)
            await asyncio.sleep(0)
        self.close()

    def __enter__(self) -> Ledger:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Ledger:
        return self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # Asking.

    def lookup(self, key: str) -> Answer | None:
        """The answer that is committed under this key, read from its raw response, or None."""
        with self._reading() as reader:
            found = reader.execute("SELECT response, price FROM ledger WHERE key = ?", (key,)).fetchall()
        if not found:
            return None
        response, price = found[0]
        return self._read(response, key).model_copy(update={"key": key, "price": price, "from_ledger": True})

    async def answer(self, request: Request, purpose: Purpose, call: Callable[[], Awaitable[Finished]]) -> Answer:
        """The answer to a request: from the ledger, or else from `call`, committed before it is returned.

        `call` runs at most once at a time for a key; others who ask meanwhile wait for it. If it fails they get its error; if it was
        cancelled they ask themselves. Places in a limited number of calls belong inside `call`: nobody here waits for the endpoint.

        Raises:
            ReplayMiss: this is a replay and the ledger has no such row.
            FamilytoolError: the request holds an API key, or the answer cannot be committed.
        """
        key = request.key
        while (known := self.lookup(key)) is None:
            if self.replay:
                raise ReplayMiss(
                    f"{self.path}: holds no {purpose} answer of {plain(request.model)} under key {key[:12]}, so this replay cannot go on; "
                    "undo the change of prompt, model or settings since that run, or run without --replay to ask."
                )
            self._enter_loop()
            running = self._asked.get(key)
            if running is None:
                return await self._ask(key, request, purpose, call)
            await asyncio.wait([running])
            if not running.cancelled() and (error := running.exception()) is not None:
                raise error
        return known

    async def record(
        self,
        request: Request,
        purpose: Purpose,
        endpoint: str,
        response: dict[str, Json],
        answer: Answer,
        started: float,
        finished: float,
    ) -> Answer:
        """Commit a finished call; its answer, or that of the row which was there first. Returns when the row is committed.

        `started` and `finished` are for people to read; nothing is ordered by them. Take the first from `time.time` and add what
        `time.monotonic` measured, so that no call ends before it began when a clock jumps.
        """
        self._refuse_secret(request, purpose)
        self._enter_loop()
        row, answer = self.prepared(request.key, request, purpose, Finished(endpoint, response, answer, started, finished))
        return await self._committed(row.key, answer, self._enqueue(row))

    async def _ask(self, key: str, request: Request, purpose: str, call: Callable[[], Awaitable[Finished]]) -> Answer:
        self._refuse_secret(request, purpose)
        running: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._asked[key] = running
        try:
            row, answer = self.prepared(key, request, purpose, await call())
            commit = self._enqueue(row)
        except BaseException as error:
            self._release(key, running, error)
            raise
        # The key stays taken until the commit, even if this task is cancelled now: the answer is paid for and will be there.
        commit.add_done_callback(lambda done: self._release(key, running, None if done.cancelled() else done.exception()))
        return await self._committed(key, answer, commit)

    def _release(self, key: str, running: asyncio.Future[None], error: BaseException | None) -> None:
        if self._asked.get(key) is running:
            del self._asked[key]
        if error is None:
            running.set_result(None)
        elif isinstance(error, Exception):
            running.set_exception(error)
            running.exception()  # seen, also where nobody waits
        else:
            running.cancel()

    async def _committed(self, key: str, answer: Answer, commit: asyncio.Future[bool]) -> Answer:
        new = await asyncio.shield(commit)
        return answer if new else self.lookup(key) or answer

    def _read(self, response: str, key: str) -> Answer:
        try:
            return self.answer_of(json.loads(response), key)
        except (ValueError, RecursionError) as error:
            raise FamilytoolError(
                f"{self.path}: the response under key {key[:12]} cannot be read any more ({error}); use the version that wrote it, or a new ledger."
            ) from None

    def prepared(self, key: str, request: Request, purpose: str, made: Finished) -> tuple[Row, Answer]:
        """The row of a call and its answer, both without secrets; `key` is the request's."""
        raw = json_text(made.response)
        response = without_secrets(raw, self.secrets)
        answer = made.answer
        if response != raw:
            answer = self._read(response, key).model_copy(update={"price": answer.price})
        answer = answer.model_copy(update={"key": key, "from_ledger": False})
        return row_of(request, purpose, _address(made.endpoint, self.secrets), response, answer, made.started, made.finished), answer

    def _refuse_secret(self, request: Request, purpose: str) -> None:
        if self.secrets and holds_secret(json_text(request.model_dump()), self.secrets):
            raise FamilytoolError(
                f"A {purpose} prompt for {plain(request.model)} holds an API key, which would be sent and kept; take it out of the documents or prompts."
            )

    # Writing.

    def _enter_loop(self) -> None:
        """Forget what an event loop that has ended left behind, but for its finished answers: they are committed."""
        loop = asyncio.get_running_loop()
        if loop is self._loop:
            return
        left, self._waiting = self._waiting, []
        self._loop, self._timer, self._asked, self._writes = loop, None, {}, set()
        if left:
            self.store([row for row, _ in left])

    def _enqueue(self, row: Row) -> asyncio.Future[bool]:
        """Let a row be committed with the next group; the future says whether it was new."""
        if self._thread is None:
            raise FamilytoolError(
                f"{self.path}: the ledger is {'read only in a replay' if self.replay else 'not open'}; nothing was recorded."
            )
        loop = asyncio.get_running_loop()
        commit: asyncio.Future[bool] = loop.create_future()
        self._waiting.append((row, commit))
        if len(self._waiting) >= GROUP_ANSWERS:
            self._flush()
        elif self._timer is None:
            self._timer = loop.call_later(max(0.0, self._flushed + GROUP_SECONDS - loop.time()), self._flush)
        return commit

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._waiting or self._thread is None:
            return
        group, self._waiting = self._waiting, []
        loop = asyncio.get_running_loop()
        self._flushed = loop.time()
        write = loop.run_in_executor(self._thread, self.store, [row for row, _ in group])
        self._writes.add(write)
        write.add_done_callback(lambda done: self._tell(done, [commit for _, commit in group]))

    def _tell(self, write: asyncio.Future[list[bool]], commits: list[asyncio.Future[bool]]) -> None:
        self._writes.discard(write)
        error = None if write.cancelled() else write.exception()
        for place, commit in enumerate(commits):
            if write.cancelled():
                commit.cancel()
            elif error is not None:
                commit.set_exception(error)
            else:
                commit.set_result(write.result()[place])

    def store(self, rows: Sequence[Row]) -> list[bool]:
        """Commit rows now, from any thread; for each, whether it was new. Safe beside `answer` and `record`."""
        with self._writing, told(self.path, "written"):
            if self._writer is None:
                raise FamilytoolError(
                    f"{self.path}: the ledger is {'read only in a replay' if self.replay else 'not open'}; nothing was recorded."
                )
            return insert(self._writer, rows)

    # Looking.

    def __contains__(self, key: object) -> bool:
        with self._reading() as reader:
            return bool(reader.execute("SELECT 1 FROM ledger WHERE key = ?", (key,)).fetchall())

    def __len__(self) -> int:
        return self.total().calls

    def row(self, key: str) -> Row | None:
        """All of one call, for the passport of a sample."""
        with self._reading() as reader:
            found = reader.execute(f"{SELECT} WHERE key = ?", (key,)).fetchall()
        return Row(*found[0]) if found else None

    def totals(self, by: By) -> dict[str, Totals]:
        """Calls, tokens and money for each purpose, model or outcome, by name."""
        with self._reading() as reader:
            return read_totals(reader, by)

    def total(self) -> Totals:
        """Calls, tokens and money of all rows."""
        with self._reading() as reader:
            return read_total(reader)

    def cost(self, keys: Iterable[str]) -> Totals:
        """Calls, tokens and money of these keys, each counted once: what a stage, or a released row, took."""
        with self._reading() as _, contextlib.closing(open_for_reading(self.path, live=None if self.replay else True)) as beside:
            return read_cost(beside, keys)

    def unused(self, keys: Iterable[str]) -> Iterator[Entry]:
        """The rows that none of these keys names, in key order: what an edited prompt left behind. They are told, never deleted."""
        with self._reading() as _, contextlib.closing(open_for_reading(self.path, live=None if self.replay else True)) as beside:
            yield from read_unused(beside, keys)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        if self._reader is None:
            raise FamilytoolError(f"{self.path}: the ledger is not open.")
        with told(self.path, "read"):
            yield self._reader


@lru_cache(64)
def _address(endpoint: str, secrets: tuple[str, ...]) -> str:
    """An endpoint's address as it is kept; a run has a few of them and a hundred thousand calls."""
    return redact(endpoint, secrets)
