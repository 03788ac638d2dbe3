"""What our client adds to the bare `openai` client: throughput, CPU for a call, and memory, against a server that answers after 200 ms.

Usage: python benchmarks/client.py [--calls N] [--memory-calls N] [--pairs N]

The server runs in a process of its own, so that its CPU does not count; the bare client is a plain loop over a semaphore. Runs of both are
interleaved, and the figures are medians over pairs, since the machine is not ours alone. Ours writes every answer to a ledger on disk.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from familytool.llm.client import Client
from familytool.llm.dialects import Dialect
from familytool.llm.endpoint import Endpoint
from familytool.llm.ledger import Ledger
from familytool.llm.requests import Request
from tests.servers.fault_server import Plan, running

LATENCY = 0.2
PROMPT = "Phrase this as one question a person would ask at home: which hotel does the mother of the speaker like? " * 6
Asking = Callable[[str, int, int], Awaitable[None]]


def endpoint_at(address: str, in_flight: int) -> Endpoint:
    return Endpoint(name="writer", id="scripted", base_url=address, max_in_flight=in_flight, dialect=Dialect(has_schema=True))


def request(endpoint: Endpoint, number: int) -> Request:
    return endpoint.request(({"role": "system", "content": "Be brief."}, {"role": "user", "content": f"{number}: {PROMPT}"}))


async def ask_bare(address: str, calls: int, in_flight: int) -> None:
    """The `openai` client in a loop over a semaphore."""
    import openai

    turn = asyncio.Semaphore(in_flight)
    endpoint = endpoint_at(address, in_flight)
    async with openai.AsyncOpenAI(api_key="none", base_url=address, max_retries=0, timeout=600) as client:

        async def ask(number: int) -> None:
            messages = request(endpoint, number).messages
            async with turn:
                completion = await client.chat.completions.create(model="scripted", messages=messages, max_tokens=1024)  # type: ignore[call-overload]
            assert completion.choices[0].message.content

        await asyncio.gather(*(ask(number) for number in range(calls)))


async def ask_ours(address: str, calls: int, in_flight: int) -> None:
    """Our client, its ledger included."""
    endpoint = endpoint_at(address, in_flight)
    with tempfile.TemporaryDirectory() as folder:
        async with Ledger(Path(folder) / "ledger.sqlite") as ledger, Client([endpoint], ledger) as client:
            done = 0
            async for _, answer in client.ask_all((request(endpoint, number) for number in range(calls)), "writer", "query"):
                assert not isinstance(answer, Exception), answer
                done += 1
                if done % MEMORY_STEP == 0 and calls > MEMORY_STEP:
                    MEMORY.append((done, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))
            assert done == calls


MEMORY: list[tuple[int, float]] = []
MEMORY_STEP = sys.maxsize


def measured(asking: Asking, address: str, calls: int, in_flight: int) -> tuple[float, float]:
    """(seconds, seconds of CPU) for a call."""
    wall, processor = time.perf_counter(), time.process_time()
    asyncio.run(asking(address, calls, in_flight))  # type: ignore[arg-type]
    return (time.perf_counter() - wall) / calls, (time.process_time() - processor) / calls


def pairs(address: str, calls: int, in_flight: int, count: int) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """(bare, ours) measured in turn, each first as often as the other."""
    results = []
    for number in range(count):
        order = [ask_bare, ask_ours] if number % 2 == 0 else [ask_ours, ask_bare]
        taken = {asking: measured(asking, address, calls, in_flight) for asking in order}
        results.append((taken[ask_bare], taken[ask_ours]))
    return results


def main() -> None:
    global MEMORY_STEP
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=3_000, help="calls of each run at 32 in flight, and of each at 256")
    parser.add_argument("--pairs", type=int, default=3, help="runs of each client")
    parser.add_argument("--memory-calls", type=int, default=10_000, help="calls of the run whose memory is measured")
    arguments = parser.parse_args()
    with running(Plan(latency=(LATENCY, LATENCY))) as server:
        for asking in (ask_bare, ask_ours):
            measured(asking, server.address, 64, 32)  # imports
        few = pairs(server.address, arguments.calls, 32, arguments.pairs)
        share = statistics.median(bare[0] / ours[0] for bare, ours in few)
        print(
            f"32 in flight:  bare {1 / statistics.median(b[0] for b, _ in few):6.1f} calls/s, ours {share:.1%} of it (target: at least 95 %)"
        )
        many = pairs(server.address, arguments.calls, 256, arguments.pairs)
        bare_cpu, more = (statistics.median(values) * 1000 for values in ([b[1] for b, _ in many], [o[1] - b[1] for b, o in many]))
        print(f"256 in flight: bare {bare_cpu:.2f} ms of CPU a call, ours {more:+.2f} ms (target: at most +1.5 ms)")
    with running(Plan()) as server:
        MEMORY_STEP = max(1, arguments.memory_calls // 10)
        measured(ask_ours, server.address, arguments.memory_calls, 32)
    (first_calls, first), (last_calls, last) = MEMORY[0], MEMORY[-1]
    print(f"memory:        {first:.1f} MiB at most after {first_calls:,} calls, {last:.1f} MiB after {last_calls:,} (target: constant)")


if __name__ == "__main__":
    main()
