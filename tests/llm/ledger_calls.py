"""Requests and raw responses for the tests of the ledger, and a child process that asks and can be killed.

Run as a program: `python ledger_calls.py FOLDER N PARALLEL NAME` asks N requests through FOLDER/ledger.sqlite. Before each call it
writes the key to FOLDER/calls.txt, and after each answer that it was given key and text to FOLDER/used.txt.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from familytool.llm.dialects import answer_of
from familytool.llm.ledger import Finished, Ledger
from familytool.llm.requests import Request


def ask(number: int = 0, **fields: Any) -> Request:
    """A request; equal numbers and fields make equal requests."""
    return Request(**{"model": "small-model", "messages": ({"role": "user", "content": f"question {number}"},), **fields})


def chat(text: str | None = "yes", *, prompt_tokens: int | None = 7, output_tokens: int | None = 3, **choice: Any) -> dict[str, Any]:
    """The raw body of a chat completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_750_000_000,
        "model": "small-model",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}, **choice}],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": output_tokens},
    }


def finished(request: Request, body: dict[str, Any] | None = None, price: float | None = None) -> Finished:
    """What a call would bring back."""
    body = chat() if body is None else body
    answer = answer_of(body, request.key).model_copy(update={"price": price})
    return Finished("http://127.0.0.1:8000/v1", body, answer, 1_750_000_000.5, 1_750_000_001.25)


async def ask_all(folder: Path, count: int, parallel: int, name: str) -> None:
    numbers = iter(range(count))
    calls = os.open(folder / "calls.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    used = os.open(folder / "used.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    async def work(ledger: Ledger) -> None:
        for number in numbers:
            request = ask(number)

            async def call(request: Request = request, number: int = number) -> Finished:
                os.write(calls, f"{request.key}\n".encode())
                await asyncio.sleep(0.001 * (number % 4))
                return finished(request, chat(f"{name} says {number}"))

            answer = await ledger.answer(request, "query", call)
            os.write(used, f"{request.key} {answer.text}\n".encode())

    async with Ledger(folder / "ledger.sqlite") as ledger:
        await asyncio.gather(*(work(ledger) for _ in range(parallel)))


if __name__ == "__main__":
    asyncio.run(ask_all(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
