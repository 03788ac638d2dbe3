"""The client over a server that fails as told, and over a transport in memory; the ledger is the real one."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
import socket
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2
import pytest

from familytool.errors import UsageError
from familytool.llm.budget import Budget, BudgetExhausted
from familytool.llm.client import LARGEST_BODY, Client
from familytool.llm.dialects import Dialect
from familytool.llm.endpoint import Endpoint
from familytool.llm.faults import CallFailed
from familytool.llm.ledger import Ledger, ReplayMiss
from familytool.llm.limits import Clock
from familytool.llm.lines import Event
from familytool.llm.prices import Price, Prices
from familytool.llm.requests import Answer, Request, Sampling
from tests.servers.fault_server import TRANSIENT, FaultServer, Plan, running

SECRET = "sk-planted-0123456789abcdefXYZ"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
KNOWN = Dialect(has_schema=True)


def endpoint_at(address: str, **settings: Any) -> Endpoint:
    """An endpoint that is quick to try again; its dialect is known, so that no probe is sent, unless `dialect=None`."""
    quick = {"name": "writer", "id": "m", "first_wait": 0.002, "longest_wait": 0.05, "timeout": 20, "max_attempts": 30, "dialect": KNOWN}
    return Endpoint(**{**quick, "base_url": address, **settings})


def asking(endpoint: Endpoint, number: int = 0, **fields: Any) -> Request:
    return endpoint.request(({"role": "user", "content": f"Question {number}"},), **fields)


@contextlib.asynccontextmanager
async def opened(path: Path, *endpoints: Endpoint, replay: bool = False, **settings: Any) -> AsyncIterator[Client]:
    async with Ledger(path / "ledger.sqlite", replay=replay) as ledger, Client(endpoints, ledger, **settings) as client:
        yield client


def ask_once(path: Path, endpoint: Endpoint, request: Request | None = None, **settings: Any) -> Answer:
    async def steps() -> Answer:
        async with opened(path, endpoint, **settings) as client:
            return await client.ask(request or asking(endpoint), endpoint.name, "query")

    return asyncio.run(steps())


def ask_many(path: Path, endpoint: Endpoint, requests: Iterator[Request], **settings: Any) -> dict[int, Answer | CallFailed]:
    async def steps() -> dict[int, Answer | CallFailed]:
        async with opened(path, endpoint, **settings) as client:
            return {number: answer async for number, answer in client.ask_all(requests, endpoint.name, "query")}

    return asyncio.run(steps())


def completion(content: str | None = "Ravenna", **message: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": "stop"}]}


def replying(reply: Callable[[dict[str, Any]], httpx2.Response]) -> httpx2.MockTransport:
    return httpx2.MockTransport(lambda request: reply(json.loads(request.content)))


class Time:
    """A clock whose time passes only where the client waits."""

    def __init__(self) -> None:
        self.seconds, self.slept = 0.0, list[float]()
        self.clock = Clock(lambda: self.seconds, self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)


# -- faults


@pytest.mark.parametrize("fault", TRANSIENT)
def test_a_fault_is_got_over_and_the_answer_is_the_same(fault: str, tmp_path: Path) -> None:
    with FaultServer() as sound:
        expected = ask_once(tmp_path / "sound", endpoint_at(sound.address))
    with FaultServer(Plan(script=(fault, fault))) as server:
        answer = ask_once(tmp_path / "faulty", endpoint_at(server.address))
    assert answer == expected
    assert server.calls.faults == {fault: 1 if fault == "slow" else 2}
    assert set(server.calls.came.values()) == {1 if fault == "slow" else 3}


def test_an_endpoint_that_accepts_and_never_answers_is_given_up_and_asked_again(tmp_path: Path) -> None:
    with FaultServer(Plan(script=("never",))) as server:
        assert ask_once(tmp_path, endpoint_at(server.address, timeout=0.3)).outcome == "answered"
    assert set(server.calls.came.values()) == {2}


def test_an_answer_that_trickles_for_ever_is_given_up(tmp_path: Path) -> None:
    with FaultServer(Plan(script=("slow",), piece_delay=0.2)) as server:
        assert ask_once(tmp_path, endpoint_at(server.address, timeout=0.5)).outcome == "answered"
    assert set(server.calls.came.values()) == {2}


@pytest.mark.parametrize(
    ("fault", "way_out"),
    [
        ("400", "change the request"),
        ("401", "put a valid key into OTHER_KEY"),
        ("403", "ask its owner for access"),
        ("404", "check the model's id and the base_url"),
        ("422", "change the request"),
        ("redirect", "which is not followed; make that the base_url"),
    ],
)
def test_what_asking_again_does_not_mend_is_not_asked_again(fault: str, way_out: str, tmp_path: Path) -> None:
    with FaultServer(Plan(script=(fault,) * 9)) as server:
        endpoint = endpoint_at(server.address, key_variable="OTHER_KEY")
        with pytest.raises(CallFailed) as caught:
            ask_once(tmp_path, endpoint, environment={"OTHER_KEY": SECRET})
    assert set(server.calls.came.values()) == {1}
    message = str(caught.value)
    assert message.startswith(f"endpoint 'writer' (m at {server.address}): HTTP ")
    assert way_out in message
    assert message.endswith(".")
    assert "\n" not in message


def test_attempts_end_and_the_message_says_how_many_there_were(tmp_path: Path) -> None:
    with FaultServer(Plan(script=("500",) * 9)) as server:
        with pytest.raises(CallFailed, match=r"HTTP 500 'scripted 500' after 3 attempts in \d+ s; see that the endpoint answers") as caught:
            ask_once(tmp_path, endpoint_at(server.address, max_attempts=3))
        assert set(server.calls.came.values()) == {3}
        assert (caught.value.status, caught.value.attempts) == (500, 3)
        assert ask_once(tmp_path, endpoint_at(server.address, max_attempts=9)).outcome == "answered"  # nothing of the failure was kept


def test_no_connection_is_said_with_the_address(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        with pytest.raises(CallFailed, match=r"the connection failed \(ConnectError.*after 2 attempts"):
            ask_once(tmp_path, endpoint_at(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", max_attempts=2))


def test_an_endpoint_that_is_busy_is_asked_until_the_patience_ends_and_not_the_attempts(tmp_path: Path) -> None:
    with FaultServer(Plan(script=("429",) * 12)) as server:
        assert ask_once(tmp_path, endpoint_at(server.address, max_attempts=2)).outcome == "answered"
    assert set(server.calls.came.values()) == {13}
    time = Time()
    busy = replying(lambda _: httpx2.Response(429, headers={"Retry-After": "50"}, json={"error": {"message": "slow down"}}))
    with pytest.raises(CallFailed, match="HTTP 429 'slow down' after 3 attempts"):
        ask_once(
            tmp_path,
            endpoint_at("http://127.0.0.1:1/v1", patience=120, longest_wait=100),
            asking(endpoint_at("http://x"), 1),
            clock=time.clock,
            transport=busy,
        )
    assert 100 <= time.seconds < 120


def test_an_account_without_quota_is_not_asked_again(tmp_path: Path) -> None:
    error = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    with pytest.raises(CallFailed, match=r"exceeded your current quota'; check the account's quota"):
        ask_once(tmp_path, endpoint_at("http://127.0.0.1:1/v1"), transport=replying(lambda _: httpx2.Response(429, json=error)))


DATES = {"Date": "Mon, 02 Jun 2025 10:00:00 GMT", "Retry-After": "Mon, 02 Jun 2025 10:00:40 GMT"}


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        pytest.param({"Retry-After": "7"}, 7, 7.5, id="seconds"),
        pytest.param({"Retry-After": "0.5"}, 0.5, 1, id="a fraction"),
        pytest.param({"retry-after-ms": "250", "Retry-After": "9"}, 0.25, 0.75, id="milliseconds first"),
        pytest.param(DATES, 40, 40.5, id="a date, by the server's clock"),
        pytest.param({**DATES, "Retry-After": "Sun, 01 Jun 2025 10:00:00 GMT"}, 0, 0.5, id="a date gone by"),
        pytest.param({"Retry-After": "1000000"}, 60, 60, id="capped"),
        pytest.param({"Retry-After": "inf"}, 60, 60, id="infinite"),
        pytest.param({"Retry-After": "1e999"}, 60, 60, id="beyond counting"),
        pytest.param({"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}, 60, 60, id="a far date"),
        pytest.param({"Retry-After": "-5"}, 0, 0.5, id="negative"),
        pytest.param({"Retry-After": "nan"}, 0, 0.5, id="no number"),
        pytest.param({"Retry-After": "soon"}, 0, 0.5, id="a word"),
        pytest.param({}, 0, 0.5, id="absent"),
    ],
)
def test_retry_after_is_obeyed_and_capped(headers: dict[str, str], least: float, most: float, tmp_path: Path) -> None:
    replies = itertools.chain([httpx2.Response(503, headers=headers)], itertools.repeat(httpx2.Response(200, json=completion())))
    time = Time()
    endpoint = endpoint_at("http://127.0.0.1:1/v1", first_wait=0.5, longest_wait=60)
    ask_once(tmp_path, endpoint, clock=time.clock, transport=replying(lambda _: next(replies)))
    assert least <= time.seconds <= most


def test_what_retry_after_asks_of_one_request_all_requests_to_the_endpoint_obey(tmp_path: Path) -> None:
    async def steps() -> None:
        now, gate, sent = 0.0, asyncio.Event(), list[str]()

        async def sleep(_: float) -> None:
            await gate.wait()

        def reply(body: dict[str, Any]) -> httpx2.Response:
            sent.append(body["messages"][0]["content"])
            return httpx2.Response(429, headers={"Retry-After": "30"}) if len(sent) == 1 else httpx2.Response(200, json=completion())

        endpoint = endpoint_at("http://127.0.0.1:1/v1", longest_wait=60)
        async with opened(tmp_path, endpoint, transport=replying(reply), clock=Clock(lambda: now, sleep)) as client:
            first = asyncio.create_task(client.ask(asking(endpoint, 1), "writer", "query"))
            while not sent:
                await asyncio.sleep(0.001)
            second = asyncio.create_task(client.ask(asking(endpoint, 2), "writer", "query"))
            for _ in range(50):
                await asyncio.sleep(0.001)
            assert sent == ["Question 1"]
            now = 31.0
            gate.set()
            await asyncio.gather(first, second)
            assert sorted(sent) == ["Question 1", "Question 1", "Question 2"]

    asyncio.run(steps())


def test_waits_double_with_jitter_that_hangs_on_the_request_alone(tmp_path: Path) -> None:
    def waits(folder: str, number: int) -> list[float]:
        time = Time()
        endpoint = endpoint_at("http://127.0.0.1:1/v1", first_wait=1, longest_wait=20, max_attempts=9)
        with pytest.raises(CallFailed):
            ask_once(
                tmp_path / folder,
                endpoint,
                asking(endpoint, number),
                clock=time.clock,
                transport=replying(lambda _: httpx2.Response(500)),
            )
        return time.slept

    first = waits("first", 0)
    assert first == waits("second", 0) != waits("third", 1)
    assert len(first) == 8
    assert all(0 <= wait <= min(20, 2**n) for n, wait in enumerate(first))


def test_429_and_time_outs_lower_the_requests_in_flight_and_other_faults_do_not(tmp_path: Path) -> None:
    def number_after(folder: str, fault: str) -> int:
        async def steps(address: str) -> int:
            endpoint = endpoint_at(address, timeout=0.3)
            async with opened(tmp_path / folder, endpoint) as client:
                await client.ask(asking(endpoint), "writer", "query")
                return client.limit("writer").number

        with FaultServer(Plan(script=(fault,))) as server:
            return asyncio.run(steps(server.address))

    assert [number_after(fault, fault) for fault in ("429", "never", "500", "reset")] == [8, 8, 16, 16]


def all_requests_complete_with_the_same_answers(count: int, path: Path, plan: Plan) -> None:
    with running(Plan()) as server:
        endpoint = endpoint_at(server.address, dialect=None)
        sound = ask_many(path / "sound", endpoint, (asking(endpoint, n, sample_index=n % 2) for n in range(count)))
    with running(plan) as server:
        endpoint = endpoint_at(server.address, dialect=None, timeout=3)
        faulty = ask_many(path / "faulty", endpoint, (asking(endpoint, n, sample_index=n % 2) for n in range(count)))
        counts = server.counts()
    assert len(sound) == count
    assert faulty == sound
    assert sum(counts["faults"].values()) >= count // 4
    assert set(counts["answered"].values()) == {1}


FAULTY = Plan(seed=3, latency=(0.001, 0.01), share=0.4, kinds=TRANSIENT)


def test_300_requests_complete_under_faults_with_the_same_answers_as_without(tmp_path: Path) -> None:
    all_requests_complete_with_the_same_answers(300, tmp_path, FAULTY)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(3))
def test_1000_requests_complete_under_faults_with_the_same_answers_as_without(seed: int, tmp_path: Path) -> None:
    plan = Plan(seed=seed, latency=(0.001, 0.05), share=0.5, kinds=(*TRANSIENT, "never"), most=5, spare_probes=False)
    all_requests_complete_with_the_same_answers(1_000, tmp_path, plan)


# -- sizes


class Endless(httpx2.AsyncByteStream):
    """A body without end that counts what is taken of it."""

    def __init__(self) -> None:
        self.taken = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            self.taken += 65_536
            yield b" " * 65_536


@pytest.mark.parametrize(("status", "limit"), [(200, LARGEST_BODY), (500, 65_536)])
def test_no_more_of_a_body_is_read_than_the_limit(status: int, limit: int, tmp_path: Path) -> None:
    body = Endless()
    endpoint = endpoint_at("http://127.0.0.1:1/v1", max_attempts=1)
    with pytest.raises(CallFailed):
        ask_once(tmp_path, endpoint, transport=replying(lambda _: httpx2.Response(status, stream=body)))
    assert limit < body.taken <= limit + 2 * 65_536


def test_an_answer_just_below_the_limit_is_taken(tmp_path: Path) -> None:
    text = "x" * (LARGEST_BODY - 1_000)
    endpoint = endpoint_at("http://127.0.0.1:1/v1")
    answer = ask_once(tmp_path, endpoint, transport=replying(lambda _: httpx2.Response(200, json=completion(text))))
    assert answer.text == text


@pytest.mark.parametrize("text", ["half \ud800", "\udfff"])
def test_a_prompt_that_no_encoding_holds_is_refused_before_it_is_sent(text: str, tmp_path: Path) -> None:
    endpoint = endpoint_at("http://127.0.0.1:1/v1")
    request = endpoint.request(({"role": "user", "content": text},))
    with pytest.raises(CallFailed, match="cannot be written as JSON in UTF-8"):
        ask_once(tmp_path, endpoint, request, transport=replying(lambda _: httpx2.Response(200, json=completion())))


# -- keys


def leaks(secret: str, *, texts: list[str], folder: Path, error: BaseException | None) -> list[str]:
    """Every place that shows a secret: texts, an error with all it hangs on, files."""
    found = [text for text in texts if secret in text]
    if error is not None:
        seen: BaseException | None = error
        shown = ["".join(traceback.format_exception(error))]
        while seen is not None:
            shown += [str(seen), repr(seen), repr(vars(seen)), repr(seen.args)]
            seen = seen.__cause__ or seen.__context__
        found += [text for text in shown if secret in text]
    return found + [str(file) for file in folder.rglob("*") if file.is_file() and secret.encode() in file.read_bytes()]


ECHO = {"X-Echo": SECRET, "X-Request-Id": SECRET}
ECHOES = [
    pytest.param(httpx2.Response(401, headers=ECHO, json={"error": {"message": f"Incorrect API key: {SECRET}"}}), id="401"),
    pytest.param(httpx2.Response(400, headers=ECHO, text="x" * 200 + SECRET * 40), id="text"),
    pytest.param(httpx2.Response(403, headers=ECHO, json={"detail": [{"input": {"Authorization": f"Bearer {SECRET}"}}]}), id="403"),
    pytest.param(httpx2.Response(500, headers=ECHO, html=f"<html>{SECRET}</html>"), id="500"),
    pytest.param(httpx2.Response(429, headers={**ECHO, "Retry-After": SECRET}, json={"message": SECRET}), id="429"),
    pytest.param(httpx2.Response(307, headers={**ECHO, "Location": f"http://127.0.0.1:9/?key={SECRET}"}), id="redirect"),
    pytest.param(httpx2.Response(200, headers=ECHO, json={"error": {"message": SECRET, "code": 400}}), id="error with 200"),
    pytest.param(httpx2.Response(200, headers=ECHO, json={"error": "y" * 280 + SECRET}), id="a key at the cut of a message"),
    pytest.param(httpx2.Response(200, headers=ECHO, text=SECRET), id="no JSON"),
    pytest.param(httpx2.Response(200, headers=ECHO, json=completion(f"Your key is {SECRET}", reasoning=SECRET)), id="answer"),
]


@pytest.mark.parametrize("response", ECHOES)
def test_a_key_that_an_endpoint_repeats_is_seen_nowhere(
    response: httpx2.Response, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sent: list[str] = []

    def reply(request: httpx2.Request) -> httpx2.Response:
        sent.append(request.headers["Authorization"])
        return response

    events: list[Event] = []
    endpoint = endpoint_at("http://127.0.0.1:1/v1", key_variable="THE_KEY", max_attempts=2, patience=0.2)
    texts, error = [], None
    with caplog.at_level(logging.DEBUG):
        try:
            answer = ask_once(
                tmp_path, endpoint, transport=httpx2.MockTransport(reply), environment={"THE_KEY": SECRET}, progress=events.append
            )
            texts.append(repr(answer))
        except CallFailed as failed:
            error = failed
    assert set(sent) == {f"Bearer {SECRET}"}
    texts += [repr(events), caplog.text, *(repr(vars(record)) for record in caplog.records)]
    for part in (SECRET, SECRET[:20]):
        assert leaks(part, texts=texts, folder=tmp_path, error=error) == []


def test_a_key_in_the_headers_of_a_response_is_not_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with FaultServer(Plan(script=("401-echo",))) as server, caplog.at_level(logging.DEBUG), pytest.raises(CallFailed) as caught:
        ask_once(tmp_path, endpoint_at(server.address, key_variable="THE_KEY"), environment={"THE_KEY": SECRET})
    assert any("X-Echo" in record.getMessage() for record in caplog.records)  # the header is logged, and without the key
    assert leaks(SECRET, texts=[caplog.text], folder=tmp_path, error=caught.value) == []


def test_the_filters_of_the_log_are_gone_with_the_client(tmp_path: Path) -> None:
    loggers = [logging.getLogger(name) for name in ("openai._base_client", "httpx2", "httpcore2.http11", "httpcore2.connection")]
    before = [list(logger.filters) for logger in loggers]
    ask_once(tmp_path, endpoint_at("http://127.0.0.1:1/v1"), transport=replying(lambda _: httpx2.Response(200, json=completion())))
    assert [logger.filters for logger in loggers] == before


def headers_sent(tmp_path: Path, endpoint: Endpoint, environment: dict[str, str]) -> httpx2.Headers:
    seen: list[httpx2.Request] = []

    def reply(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, json=completion())

    ask_once(tmp_path, endpoint, transport=httpx2.MockTransport(reply), environment=environment)
    return seen[0].headers


def test_the_key_of_openai_goes_to_openai_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-this-process-0000")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.invalid/v1")
    environment = {"OPENAI_API_KEY": SECRET}
    openai = headers_sent(tmp_path / "a", Endpoint(name="a", id="m", dialect=KNOWN), environment)
    other = headers_sent(tmp_path / "b", Endpoint(name="b", id="m", base_url="https://models.example/v1", dialect=KNOWN), environment)
    assert (openai["Host"], openai["Authorization"], openai["OpenAI-Organization"]) == ("api.openai.com", f"Bearer {SECRET}", "org-1")
    assert (other["Host"], other["Authorization"]) == ("models.example", "Bearer none")
    assert "OpenAI-Organization" not in other


def test_a_missing_key_is_said_by_the_name_of_its_variable_before_anything_is_sent(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the environment variable OPENAI_API_KEY is not set"):
        ask_once(tmp_path, Endpoint(name="a", id="m"), environment={})
    with pytest.raises(UsageError, match="characters that no key has"):
        ask_once(tmp_path, Endpoint(name="a", id="m"), environment={"OPENAI_API_KEY": "sk-a\nb"})


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("http://me:hunter2hunter2@host/v1", "holds a user name or password"),
        ("ftp://host/v1", "must begin with http"),
        ("host:8000/v1", "must begin with http"),
        ("http://", "must begin with http"),
        ("http://[::1/v1", "cannot be read"),
        ("http://host:99999/v1", "cannot be read"),
    ],
)
def test_an_address_at_fault_is_told_without_what_stands_in_it(address: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        Endpoint(name="a", id="m", base_url=address)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]:1/v1", True),
        ("http://a.localhost", True),
        ("http://192.168.0.1/v1", False),
        ("http://127.0.0.1.example/v1", False),
        (None, False),
    ],
)
def test_an_address_of_this_machine_is_known_as_one(address: str | None, local: bool) -> None:
    assert Endpoint(name="a", id="m", base_url=address).is_local is local


# -- probes


def reasoning_model(body: dict[str, Any]) -> httpx2.Response:
    """A model that refuses a temperature, has another name for the output limit, and thinks longer than a short limit lets it."""
    for name, message in (
        ("max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
        ("temperature", "Unsupported value: 'temperature' does not support 0.0 with this model."),
    ):
        if name in body:
            return httpx2.Response(400, json={"error": {"message": message, "param": name, "code": "unsupported_parameter"}})
    if body["max_completion_tokens"] < 1_000:
        return httpx2.Response(
            200, json={"choices": [{"message": {"content": ""}, "finish_reason": "length"}], "usage": {"completion_tokens": 512}}
        )
    text = '{"ok": true}' if "response_format" in body else "probe"
    return httpx2.Response(200, json={**completion(text), "usage": {"completion_tokens": 600}})


def terse(*names: str) -> Callable[[dict[str, Any]], httpx2.Response]:
    """An endpoint that refuses these parameters without saying which."""

    def reply(body: dict[str, Any]) -> httpx2.Response:
        if any(name in body for name in names):
            return httpx2.Response(422, json={"error": "invalid request"})
        return httpx2.Response(200, json=completion('{"ok": false}' if "response_format" in body else "probe"))

    return reply


PROBES = [
    pytest.param(lambda _: httpx2.Response(200, json=completion('{"ok": true}')), Dialect(has_schema=True), id="all there"),
    pytest.param(lambda _: httpx2.Response(200, json=completion("probe")), Dialect(), id="schema taken and ignored"),
    pytest.param(lambda _: httpx2.Response(200, json=completion('{"word": "probe"}')), Dialect(), id="JSON of another schema"),
    pytest.param(lambda _: httpx2.Response(200, json=completion(None, refusal="no")), Dialect(), id="refused"),
    pytest.param(
        reasoning_model, Dialect(has_schema=True, limit="max_completion_tokens", refused=("temperature",)), id="a reasoning model"
    ),
    pytest.param(terse("response_format"), Dialect(), id="terse, no schema"),
    pytest.param(terse("seed"), Dialect(has_schema=True, refused=("seed",)), id="terse, no seed"),
    pytest.param(terse("temperature"), Dialect(has_schema=True, refused=("temperature",)), id="terse, no temperature"),
    pytest.param(
        terse("seed", "temperature"), Dialect(has_schema=True, refused=("seed", "temperature")), id="terse, no seed or temperature"
    ),
    pytest.param(terse("max_tokens"), Dialect(has_schema=True, limit="max_completion_tokens"), id="terse, other limit"),
    pytest.param(
        terse("max_tokens", "seed", "temperature", "response_format"),
        Dialect(limit="max_completion_tokens", refused=("seed", "temperature")),
        id="terse, nothing",
    ),
]


@pytest.mark.parametrize(("reply", "expected"), PROBES)
def test_a_probe_finds_how_an_endpoint_wants_to_be_asked(
    reply: Callable[[dict[str, Any]], httpx2.Response], expected: Dialect, tmp_path: Path
) -> None:
    async def steps() -> Dialect:
        endpoint = endpoint_at("http://127.0.0.1:1/v1", dialect=None)
        async with opened(tmp_path, endpoint, transport=replying(reply)) as client:
            return await client.dialect("writer")

    assert asyncio.run(steps()) == expected


def test_a_probe_that_helps_nothing_fails_with_the_endpoints_words(tmp_path: Path) -> None:
    endpoint = endpoint_at("http://127.0.0.1:1/v1", dialect=None)
    error = {"error": {"message": "The model `m` does not exist"}}
    for status in (400, 404):
        with pytest.raises(CallFailed, match="The model `m` does not exist"):
            ask_once(tmp_path, endpoint, transport=replying(lambda _, status=status: httpx2.Response(status, json=error)))  # type: ignore[misc]


def test_an_endpoint_is_probed_once_by_many_and_not_again_by_a_later_run(tmp_path: Path) -> None:
    with FaultServer() as server:
        endpoint = endpoint_at(server.address, dialect=None)
        ask_many(tmp_path, endpoint, (asking(endpoint, n) for n in range(50)))
        assert sum(server.calls.came.values()) == 51
        ask_many(tmp_path, endpoint, (asking(endpoint, n) for n in range(60)))
        assert sum(server.calls.came.values()) == 61
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert ledger.totals("purpose")["probe"].calls == 1


def test_another_address_or_model_under_the_same_name_is_probed_again(tmp_path: Path) -> None:
    seen: list[str] = []

    def reply(body: dict[str, Any]) -> httpx2.Response:
        seen.append(body["messages"][0]["content"])
        return httpx2.Response(200, json=completion('{"ok": true}'))

    for number, settings in enumerate(({}, {"base_url": "http://127.0.0.1:2/v1"}, {"served_as": "m-gguf"})):
        endpoint = endpoint_at("http://127.0.0.1:1/v1", dialect=None).model_copy(update=settings)
        ask_once(tmp_path, endpoint, asking(endpoint, number), transport=replying(reply))
    assert sum("Answer with exactly" in text for text in seen) == 3


def test_a_dialect_that_is_no_longer_true_is_mended_by_what_the_endpoint_says(tmp_path: Path) -> None:
    endpoint = endpoint_at("http://127.0.0.1:1/v1", dialect=Dialect(has_schema=True))
    request = asking(endpoint, sampling=Sampling(temperature=0.5, max_output=2_000), answer_schema=SCHEMA)
    assert ask_once(tmp_path, endpoint, request, transport=replying(reasoning_model)).text == '{"ok": true}'


def test_a_schema_that_an_endpoint_cannot_enforce_is_asked_for_in_words(tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> httpx2.Response:
        if "response_format" in body:
            return httpx2.Response(400, json={"error": {"message": "Invalid schema for response_format 'answer'"}})
        return httpx2.Response(200, json=completion(body["messages"][-1]["content"]))

    endpoint = endpoint_at("http://127.0.0.1:1/v1")
    assert "JSON Schema" in ask_once(tmp_path, endpoint, asking(endpoint, answer_schema=SCHEMA), transport=replying(reply)).text


# -- the ledger and replays


def refuse(*_: object, **__: object) -> None:
    raise OSError("the network is off")


def test_a_replay_opens_no_socket_needs_no_key_and_gives_the_same_answers(tmp_path: Path) -> None:
    with FaultServer() as server:
        endpoint = endpoint_at(server.address, dialect=None, key_variable="THE_KEY", max_attempts=1)
        requests = [asking(endpoint, n, answer_schema=SCHEMA if n % 2 else None) for n in range(20)]
        first = ask_many(tmp_path, endpoint, iter(requests), environment={"THE_KEY": SECRET})

        async def again() -> None:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(socket, "socket", refuse)
                patch.setattr(socket, "getaddrinfo", refuse)
                async with opened(tmp_path, endpoint, replay=True, environment={}) as client:
                    second = {number: answer async for number, answer in client.ask_all(requests, "writer", "query")}
                    with pytest.raises(ReplayMiss):
                        await client.ask(asking(endpoint, 99), "writer", "query")
                assert {
                    number: answer.model_copy(update={"from_ledger": False})
                    for number, answer in second.items()
                    if isinstance(answer, Answer)
                } == first
                assert all(isinstance(answer, Answer) and answer.from_ledger for answer in second.values())
                async with opened(tmp_path, endpoint, environment={"THE_KEY": SECRET}) as client:
                    with pytest.raises(CallFailed, match="ConnectError"):  # the block works: what the ledger lacks would need a socket
                        await client.ask(asking(endpoint, 99), "writer", "query")

        asyncio.run(again())


def test_the_same_request_asked_by_many_at_once_is_one_call(tmp_path: Path) -> None:
    with FaultServer(Plan(latency=(0.05, 0.05))) as server:
        endpoint = endpoint_at(server.address)
        answers = ask_many(tmp_path, endpoint, (asking(endpoint) for _ in range(40)))
    assert len({answer.text for answer in answers.values() if isinstance(answer, Answer)}) == 1
    assert list(server.calls.came.values()) == [1]


def test_refused_empty_and_cut_answers_are_finished_and_not_asked_again(tmp_path: Path) -> None:
    messages: list[dict[str, Any]] = [
        {"content": None, "refusal": "no"},
        {"content": ""},
        {"content": "half", "finish_reason": "length"},
        {"content": None, "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{"}}]},
    ]
    with FaultServer(answer=lambda body: dict(messages[int(body["messages"][0]["content"].split()[1])])) as server:
        endpoint = endpoint_at(server.address)
        for _ in range(2):
            answers = ask_many(tmp_path, endpoint, (asking(endpoint, n) for n in range(4)))
            assert [answers[n].outcome for n in range(4)] == ["refused", "empty", "cut", "answered"]  # type: ignore[union-attr]
    assert sorted(server.calls.came.values()) == [1, 1, 1, 1]


def test_an_endpoint_serves_its_model_under_another_name(tmp_path: Path) -> None:
    with FaultServer() as server:
        ask_once(tmp_path, endpoint_at(server.address, served_as="m-q4.gguf"))
        assert [body["model"] for body in server.calls.bodies] == ["m-q4.gguf"]
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        row = ledger.row(asking(endpoint_at(server.address)).key)
        assert row is not None
        assert (row.model, row.endpoint) == ("m", "writer")


def test_a_request_for_another_model_or_endpoint_is_an_error_of_the_caller(tmp_path: Path) -> None:
    endpoint = endpoint_at("http://127.0.0.1:1/v1")
    with pytest.raises(UsageError, match="asked for the model other"):
        ask_once(tmp_path, endpoint, Request(model="other", messages=()))

    async def steps() -> None:
        async with opened(tmp_path, endpoint) as client:
            with pytest.raises(UsageError, match=r"no endpoint is called 'judge'; \[models\] of the campaign names writer"):
                await client.ask(asking(endpoint), "judge", "judge")

    asyncio.run(steps())


# -- many requests


def test_requests_are_read_no_further_ahead_than_agreed(tmp_path: Path) -> None:
    read = itertools.count(1)
    last = 0

    def requests() -> Iterator[Request]:
        nonlocal last
        while True:  # without end: memory could not hold them
            last = next(read)
            yield asking(endpoint, last)

    endpoint = endpoint_at("http://127.0.0.1:1/v1", max_in_flight=4)

    async def steps() -> None:
        async with opened(tmp_path, endpoint, transport=replying(lambda _: httpx2.Response(200, json=completion()))) as client:
            async with contextlib.aclosing(client.ask_all(requests(), "writer", "query", look_ahead=10)) as answers:
                got = 0
                async for _ in answers:
                    got += 1
                    await asyncio.sleep(0.001)
                    assert last <= got + 20  # ten at work, ten waiting to be taken
                    if got == 100:
                        break
            assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []

    asyncio.run(steps())


def test_a_call_that_fails_is_yielded_as_its_reason_and_the_others_go_on(tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> httpx2.Response:
        bad = body["messages"][0]["content"].endswith("7")
        return httpx2.Response(422 if bad else 200, json={"error": {"message": "too long"}} if bad else completion())

    endpoint = endpoint_at("http://127.0.0.1:1/v1")
    events: list[Event] = []
    results = ask_many(tmp_path, endpoint, (asking(endpoint, n) for n in range(30)), transport=replying(reply), progress=events.append)
    assert sorted(results) == list(range(30))
    assert {number for number, result in results.items() if isinstance(result, CallFailed)} == {7, 17, 27}
    assert sorted(event.kind for event in events) == ["answered"] * 27 + ["failed"] * 3


def test_an_error_of_the_requests_themselves_ends_the_loop(tmp_path: Path) -> None:
    def requests() -> Iterator[Request]:
        yield asking(endpoint)
        raise RuntimeError("no more documents")

    endpoint = endpoint_at("http://127.0.0.1:1/v1")
    with pytest.raises(RuntimeError, match="no more documents"):
        ask_many(tmp_path, endpoint, requests(), transport=replying(lambda _: httpx2.Response(200, json=completion())))


# -- money


def priced(cap: str) -> Budget:
    return Budget(Decimal(cap), Prices({"m": Price(prompt=Decimal(1_000), output=Decimal(1_000), date=date(2025, 7, 4))}))


def test_what_a_call_took_is_settled_and_stands_beside_its_answer(tmp_path: Path) -> None:
    budget = priced("100")
    usage = {"prompt_tokens": 30, "completion_tokens": 20}
    endpoint = endpoint_at("http://127.0.0.1:1/v1")
    reply = replying(lambda _: httpx2.Response(200, json={**completion(), "usage": usage}))
    answer = ask_once(tmp_path, endpoint, transport=reply, budget=budget)
    assert answer.price == 0.05
    assert (budget.spent, budget.held) == (Decimal("0.05"), 0)
    assert ask_once(tmp_path, endpoint, transport=reply, budget=budget).price == 0.05
    assert budget.spent == Decimal("0.05")


@pytest.mark.parametrize(
    ("fault", "lost"),
    [("429", 0), ("500", 0), ("error-in-200", 0), ("reset", 1), ("cut-length", 1), ("html", 1), ("huge", 1), ("never", 1)],
)
def test_an_attempt_that_may_have_been_made_counts_as_spent(fault: str, lost: int, tmp_path: Path) -> None:
    with FaultServer(Plan(script=(fault,), usage=False)) as server:
        endpoint = endpoint_at(server.address, timeout=0.3 if fault == "never" else 20)
        budget = priced("100")
        most = priced("100").reserve(asking(endpoint)).cost
        ask_once(tmp_path, endpoint, budget=budget)
    assert budget.held == 0
    assert budget.spent == Decimal((lost + 1) * most).scaleb(-9)  # the answer told no usage, so all of its reservation is spent, too


def test_a_cap_is_never_passed_and_what_was_answered_before_is_kept(tmp_path: Path) -> None:
    budget = priced("20")
    with FaultServer(Plan(share=0.3, kinds=("429", "500", "reset"), latency=(0.001, 0.005))) as server:
        endpoint = endpoint_at(server.address)
        with pytest.raises(BudgetExhausted):
            ask_many(tmp_path, endpoint, (asking(endpoint, n) for n in range(2_000)), budget=budget)
    assert 0 < budget.spent <= 20
    assert budget.held == 0
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert len(ledger) == sum(server.calls.answered.values())
