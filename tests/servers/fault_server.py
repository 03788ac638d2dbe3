"""An OpenAI-compatible server on loopback that fails as a seeded plan says, and counts the calls of each logical request.

In a thread: `with FaultServer(Plan(script=("503",))) as server: ... server.address, server.calls`.
As a process: `python -m tests.servers.fault_server --port 0 --faults plan.json` prints its port; `GET /calls` tells the counts, and
`with running(Plan(...)) as server:` does both. It needs the standard library alone.

A logical request is known by the key in the header `X-Client-Request-Id` (before its last hyphen; behind it stands the number of the
attempt), or by the hash of its body where there is none. A fault hangs on the plan's seed, that key, and how often it was called before,
and on nothing else; after `most` faults a request is answered, so that every plan ends.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import gzip
import hashlib
import importlib
import json
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from email.utils import formatdate
from pathlib import Path
from typing import Any, Literal

AnswerFunction = Callable[[dict[str, Any]], "str | dict[str, Any]"]
"""Body of a request -> the text of the answer, or the whole `message` (a dict with `content`, `tool_calls`, `refusal` ...)."""

STATUSES = {
    "400": 400,
    "401": 401,
    "403": 403,
    "404": 404,
    "408": 408,
    "409": 409,
    "422": 422,
    "429": 429,
    "500": 500,
    "502": 502,
    "503": 503,
}
TRANSIENT = (
    "429",
    "429-retry-after",
    "429-retry-after-ms",
    "429-retry-after-date",
    "408",
    "409",
    "500",
    "502",
    "503",
    "503-retry-after",
    "503-html",
    "reset",
    "close",
    "malformed",
    "cut-length",
    "cut-chunks",
    "cut-json",
    "html",
    "empty",
    "no-choices",
    "error-in-200",
    "wrong-encoding",
    "deep",
    "slow",
    "huge",
    "gzip-bomb",
)
"""What a client must get over within a call; `never` as well, if its time-out is short, and `401-echo` (an error that repeats the key) is for good."""


@dataclass(frozen=True)
class Plan:
    """What goes wrong. Times are seconds."""

    seed: int = 0
    latency: tuple[float, float] = (0.0, 0.0)
    share: float = 0.0
    """The share of attempts that get one of `kinds`."""
    kinds: tuple[str, ...] = ()
    most: int = 3
    """The most faults of one logical request."""
    script: tuple[str, ...] = ()
    """The faults of the first attempts of every logical request ("" = answered), instead of drawn ones."""
    retry_after: float = 0.01
    piece_delay: float = 0.005
    """The delay between the pieces of a slow answer."""
    schema: Literal["enforced", "ignored", "refused"] = "enforced"
    """What `response_format: json_schema` meets."""
    refuses: tuple[str, ...] = ()
    """Parameters that are answered with 400."""
    usage: bool = True
    spare_probes: bool = True
    """Whether probes of what the endpoint can do go without faults."""

    def __post_init__(self) -> None:
        unknown = {*self.kinds, *self.script} - {""}
        unknown -= {*TRANSIENT, *STATUSES, "never", "redirect", "401-echo"}
        if unknown:
            raise ValueError(f"no fault is called {', '.join(map(repr, sorted(unknown)))}")

    def fault(self, key: str, attempt: int) -> str:
        """The fault of this attempt (from 0), or ""."""
        if self.script:
            return self.script[attempt] if attempt < len(self.script) else ""
        draw = random.Random(f"{self.seed}/{key}/{attempt}")
        return draw.choice(self.kinds) if self.kinds and attempt < self.most and draw.random() < self.share else ""

    def delay(self, key: str, attempt: int) -> float:
        low, high = self.latency
        return low if low == high else random.Random(f"latency/{self.seed}/{key}/{attempt}").uniform(low, high)


@dataclass
class Calls:
    """How often each logical request came, and how often its whole answer was sent."""

    came: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    def as_json(self) -> dict[str, Any]:
        return {"came": self.came, "answered": self.answered, "faults": self.faults, "most_in_flight": self.most_in_flight}


def is_probe(body: dict[str, Any]) -> bool:
    """Whether a body is the client's probe of what an endpoint can do: its schema asks for nothing but `ok`."""
    return '"ok"' in json.dumps(body.get("response_format", "")) or "exactly the word: probe" in str(body["messages"][-1].get("content"))


def echo(body: dict[str, Any]) -> str:
    """An answer that hangs on the messages and the seed alone: an instance of the schema if one is asked for, else a line of text."""
    asked = json.dumps([body["messages"], body.get("seed")], sort_keys=True)
    draw = random.Random(hashlib.sha256(asked.encode()).hexdigest())
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema") or _schema_in(str(body["messages"][-1].get("content")))
    return json.dumps(instance_of(schema, draw)) if schema else f"answer {draw.getrandbits(64):016x}"


def _schema_in(prompt: str) -> Any:
    _, mark, text = prompt.rpartition("JSON Schema:\n")
    return json.loads(text) if mark else None


def instance_of(schema: Any, draw: random.Random) -> Any:
    """A value that a plain schema allows (objects, lists, enums, scalars)."""
    if "enum" in schema:
        return draw.choice(schema["enum"])
    kind = schema.get("type", "object")
    if kind == "object":
        return {name: instance_of(inner, draw) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [instance_of(schema.get("items", {"type": "string"}), draw) for _ in range(draw.randint(1, 3))]
    return {"boolean": True, "integer": draw.randint(0, 99), "number": 0.5, "null": None}.get(kind, f"text {draw.randint(0, 9999)}")


class Server:
    """The server within a running event loop."""

    def __init__(self, plan: Plan, answer: AnswerFunction = echo, keep_bodies: bool = False) -> None:
        self.plan, self.answer, self.keep_bodies = plan, answer, keep_bodies
        self.calls = Calls()
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self, port: int = 0) -> int:
        """Listen; the port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port, limit=2**25, backlog=1024)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its response; whether the connection goes on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, *lines = head.strip().split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (text.partition(":") for text in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        method, path, _ = line.split(" ", 2)
        path = path.partition("?")[0]
        if (method, path) == ("GET", "/calls"):
            await _send(writer, 200, _json(self.calls.as_json()))
        elif method == "GET" and path.endswith("/models"):
            await _send(writer, 200, _json({"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "tests"}]}))
        elif method == "POST" and path.endswith("/chat/completions"):
            self.calls.in_flight += 1
            self.calls.most_in_flight = max(self.calls.most_in_flight, self.calls.in_flight)
            try:
                return await self._complete(body, headers, reader, writer)
            finally:
                self.calls.in_flight -= 1
        else:
            await _send(writer, 404, _error("no such page"))
        return True

    async def _complete(self, raw: bytes, headers: dict[str, str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        body = json.loads(raw)
        key = headers.get("x-client-request-id", "").rpartition("-")[0] or hashlib.sha256(raw).hexdigest()
        attempt = self.calls.came[key]
        self.calls.came[key] += 1
        if self.keep_bodies:
            self.calls.bodies.append(body)
        refused = next((name for name in self.plan.refuses if name in body), None)
        if refused:
            await _send(writer, 400, _error(f"Unsupported parameter: '{refused}' is not supported with this model.", refused))
            return True
        if self.plan.schema == "refused" and "response_format" in body:
            await _send(writer, 400, _error("This response_format type is unavailable now"))
            return True
        if self.plan.schema == "ignored":
            body.pop("response_format", None)
        fault = "" if self.plan.spare_probes and is_probe(body) else self.plan.fault(key, attempt)
        if delay := self.plan.delay(key, attempt):
            await asyncio.sleep(delay)
        if fault:
            self.calls.faults[fault] += 1
        response = _json(self._completion(body))
        if fault in ("", "slow"):
            pieces = (
                [response]
                if not fault
                else [response[i : i + 1 + len(response) // 5] for i in range(0, len(response), 1 + len(response) // 5)]
            )
            await _send(writer, 200, *pieces, delay=self.plan.piece_delay)
            self.calls.answered[key] += 1
            return True
        return await self._fail(fault, response, headers, reader, writer)

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.answer(body)
        message = {"role": "assistant", **({"content": answer} if isinstance(answer, str) else answer)}
        reason = message.pop("finish_reason", "tool_calls" if message.get("tool_calls") else "stop")
        completion = {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        }
        if self.plan.usage:
            prompt, output = len(json.dumps(body["messages"])) // 4, len(str(message.get("content"))) // 4
            completion["usage"] = {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}
        return completion

    async def _fail(
        self, fault: str, response: bytes, headers: dict[str, str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Do what a fault says; whether the connection goes on."""
        status, _, more = fault.partition("-")
        if fault == "never":
            await reader.read()  # the client gives up first
        elif fault == "reset":
            connection: socket.socket = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        elif fault == "cut-length":
            await _send(writer, 200, response[: len(response) // 2], length=len(response))
        elif fault == "cut-chunks":
            half = response[: len(response) // 2]
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
            writer.write(b"%x\r\n%s\r\n" % (len(half), half))
            await writer.drain()
        elif fault == "huge":
            spaces = b" " * 2**20
            await _send(writer, 200, response, *[spaces] * 11)
            return True
        elif fault in _BODIES:
            content, more_headers = _BODIES[fault](response)
            await _send(writer, 200, content, **more_headers)
            return True
        elif fault == "401-echo":
            told = headers.get("authorization", "")
            await _send(writer, 401, _error(f"Incorrect API key provided: {told}"), headers={"X-Echo": told})
            return True
        elif fault == "redirect":
            await _send(writer, 307, b"", headers={"Location": "http://127.0.0.1:9/v1/chat/completions"})
            return True
        elif status in STATUSES:
            wait = {
                "retry-after": {"Retry-After": f"{self.plan.retry_after:g}"},
                "retry-after-ms": {"Retry-After-Ms": f"{self.plan.retry_after * 1000:g}"},
                "retry-after-date": {
                    "Date": formatdate(time.time(), usegmt=True),
                    "Retry-After": formatdate(time.time() + self.plan.retry_after, usegmt=True),
                },
            }.get(more, {})
            if more == "html":
                await _send(writer, STATUSES[status], b"<html><body>Bad gateway</body></html>", kind="text/html", headers=wait)
            else:
                await _send(writer, STATUSES[status], _error(f"scripted {fault}"), headers=wait)
            return True
        elif fault != "close":
            raise ValueError(f"no fault is called {fault}")
        return False


_BODIES: dict[str, Callable[[bytes], tuple[bytes, dict[str, Any]]]] = {
    "malformed": lambda response: (response.replace(b'"choices":', b'"choices"', 1), {}),
    "cut-json": lambda response: (response[: len(response) // 2], {}),
    "html": lambda _: (b"<!DOCTYPE html><html><body>Sign in to continue</body></html>", {"kind": "text/html"}),
    "empty": lambda _: (b"", {}),
    "no-choices": lambda _: (b'{"object": "chat.completion", "choices": []}', {}),
    "error-in-200": lambda _: (b'{"error": {"message": "the upstream server is overloaded", "code": 502}}', {}),
    "wrong-encoding": lambda response: (response.replace(b'"content":"', b'"content":"\xe9\xff', 1), {}),
    "deep": lambda _: (b'{"choices": ' + b"[" * 200_000, {}),
    "gzip-bomb": lambda _: (_bomb(), {"headers": {"Content-Encoding": "gzip"}}),
}


@functools.cache
def _bomb() -> bytes:
    return gzip.compress(b" " * 40_000_000, 1)


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _error(message: str, parameter: str | None = None) -> bytes:
    return _json({"error": {"message": message, "type": "scripted", "param": parameter, "code": None}})


async def _send(
    writer: asyncio.StreamWriter,
    status: int,
    *pieces: bytes,
    kind: str = "application/json",
    headers: dict[str, str] | None = None,
    length: int | None = None,
    delay: float = 0.0,
) -> None:
    length = sum(map(len, pieces)) if length is None else length
    more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    writer.write(f"HTTP/1.1 {status} Scripted\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}\r\n".encode("latin-1"))
    for index, piece in enumerate(pieces):
        if index and delay:
            await asyncio.sleep(delay)
        writer.write(piece)
        await writer.drain()


class FaultServer:
    """A server in a thread of its own; `address` is its base URL."""

    def __init__(self, plan: Plan | None = None, answer: AnswerFunction = echo, keep_bodies: bool = True) -> None:
        self._server = Server(plan or Plan(), answer, keep_bodies)
        self.calls = self._server.calls
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> FaultServer:
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self._server.start(), self._loop).result(10)
        self.address = f"http://127.0.0.1:{self.port}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._server.stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


@dataclass(frozen=True)
class RunningServer:
    """A server in a process of its own."""

    address: str
    process: subprocess.Popen[str]

    def counts(self) -> dict[str, Any]:
        """What `GET /calls` tells."""
        with urllib.request.urlopen(self.address.removesuffix("/v1") + "/calls", timeout=30) as response:
            return dict(json.load(response))


@contextlib.contextmanager
def running(plan: Plan, answer: str = "tests.servers.fault_server:echo", port: int = 0) -> Iterator[RunningServer]:
    """A server in a process of its own, ended with the block; `answer` is `module:function`."""
    command = [sys.executable, "-m", "tests.servers.fault_server", "--port", str(port), "--faults", "-", "--answer", answer]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
        assert process.stdin and process.stdout
        try:
            process.stdin.write(json.dumps(asdict(plan)))
            process.stdin.close()
            yield RunningServer(f"http://127.0.0.1:{int(process.stdout.readline())}/v1", process)
        finally:
            process.terminate()
            process.wait(10)


def read_plan(text: str) -> Plan:
    """A plan from JSON; every field has a default."""
    return Plan(**{name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(text).items()})


async def _main(plan: Plan, answer: AnswerFunction, port: int) -> None:
    server = Server(plan, answer)
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    print(await server.start(port), flush=True)
    await stopped.wait()
    await server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--faults", help="a JSON file with the fields of Plan, or - for standard input; default: no faults")
    parser.add_argument("--answer", default="tests.servers.fault_server:echo", help="module:function, body of a request -> text or message")
    arguments = parser.parse_args()
    text = "{}" if not arguments.faults else sys.stdin.read() if arguments.faults == "-" else Path(arguments.faults).read_text("utf-8")
    module, _, name = arguments.answer.partition(":")
    asyncio.run(_main(read_plan(text), getattr(importlib.import_module(module), name), arguments.port))


if __name__ == "__main__":
    main()
