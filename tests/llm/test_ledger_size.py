"""A hundred thousand calls need no more memory than ten thousand: the ledger keeps rows in the file and not in the process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from familytool.llm.batch import read_batch, write_batch
from familytool.llm.dialects import Dialect, chat_body
from familytool.llm.exchange import export_ledger, import_ledger
from familytool.llm.ledger import Finished, Ledger
from familytool.llm.requests import Purpose, Request
from tests.llm.ledger_calls import ask, chat, finished

pytestmark = pytest.mark.soak

COUNT = 100_000
ROOM = 24 << 20
"""Bytes that caches and fragmentation may take; the rows themselves have some 400 MB."""


def resident() -> int:
    """Bytes of memory that this process holds."""
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def request(number: int) -> Request:
    return ask(number, messages=({"role": "user", "content": f"question {number} " + "x" * 1500},))


async def ask_all(path: Path, numbers: Iterator[int]) -> None:
    async def work(ledger: Ledger) -> None:
        for number in numbers:
            asked = request(number)

            async def call(asked: Request = asked, number: int = number) -> Finished:
                await asyncio.sleep(0)
                return finished(asked, chat(f"answer {number} " + "y" * 1500))

            await ledger.answer(asked, "query", call)

    async with Ledger(path) as ledger:
        await asyncio.gather(*(work(ledger) for _ in range(64)))


def test_a_hundred_thousand_answers_take_constant_memory(tmp_path: Path) -> None:
    asyncio.run(ask_all(tmp_path / "ledger.sqlite", iter(range(COUNT // 10))))
    before = resident()
    asyncio.run(ask_all(tmp_path / "ledger.sqlite", iter(range(COUNT))))
    assert resident() - before < ROOM
    with Ledger(tmp_path / "ledger.sqlite", replay=True) as ledger:
        assert ledger.total().calls == COUNT
        assert ledger.total().prompt_tokens == 7 * COUNT
        assert sum(1 for _ in ledger.unused(request(number).key for number in range(0, COUNT, 2))) == COUNT // 2
    assert resident() - before < ROOM

    # Out and in again.
    assert export_ledger(tmp_path / "ledger.sqlite", tmp_path / "one.jsonl") == COUNT
    assert import_ledger(tmp_path / "one.jsonl", tmp_path / "two.sqlite").imported == COUNT
    assert resident() - before < ROOM


def test_a_batch_of_a_hundred_thousand_keeps_keys_and_no_bodies(tmp_path: Path) -> None:
    def asked(count: int) -> Iterator[tuple[Purpose, Request]]:
        return (("query", request(number)) for number in range(count))

    def body_of(one: Request) -> dict[str, object]:
        return chat_body(one, Dialect())

    write_batch(asked(1000), tmp_path / "warm", body_of)
    before = resident()
    parts = write_batch(asked(COUNT), tmp_path, body_of)
    assert [part.requests for part in parts] == [50_000, 50_000]
    with (tmp_path / "out.jsonl").open("w") as file:
        for number in range(COUNT):
            body = '{"choices": [{"finish_reason": "stop", "message": {"content": "yes"}}]}'
            file.write(f'{{"custom_id": "{request(number).key}", "response": {{"status_code": 200, "body": {body}}}, "error": null}}\n')
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        report = read_batch([tmp_path / "out.jsonl"], ledger, tmp_path)
    assert (report.answered, report.waiting) == (COUNT, frozenset())
    assert resident() - before < 3 * ROOM  # a key and a place for each request
