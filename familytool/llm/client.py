"""The client of OpenAI-compatible endpoints: one retry rule, adaptive concurrency, and every answer through the ledger.

The `openai` client sends and retries nothing itself, or two rules would multiply. An attempt gives a completion or a `Fault` and never an
exception on its way, so that no chain of errors holds a request with its key. Bodies are read piece by piece, up to 10 MB.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from familytool.errors import UsageError
from familytool.llm.budget import Budget
from familytool.llm.dialects import Dialect, adapted, chat_body
from familytool.llm.endpoint import Endpoint
from familytool.llm.faults import CallFailed, Fault, fault_of_status
from familytool.llm.ledger import Finished, Ledger
from familytool.llm.limits import Clock, Limit
from familytool.llm.lines import Event, Line, Tell
from familytool.llm.probing import REFUSED, dialect_in, probe, probe_request
from familytool.llm.redact import redact
from familytool.llm.requests import Answer, Purpose, Request
from familytool.model import Json

LARGEST_BODY = 10_000_000
LARGEST_ERROR = 65_536
CONNECT_SECONDS = 10.0
LOGGERS = ("openai._base_client", "httpx2", "httpcore2.connection", "httpcore2.http11", "httpcore2.proxy")
"""Loggers of the libraries below: at level DEBUG they print headers of responses, in which an endpoint may repeat a key."""


class Client:
    """Asks the endpoints of a campaign: `async with Client(...) as client`. The ledger is its owner's to open and close.

    Nothing is connected, and no key looked for, before the first call that the ledger does not answer; so a replay opens no socket.
    Without a budget no call has a price. `transport` stands in for the network, `environment` for `os.environ`.
    """

    def __init__(
        self,
        endpoints: Iterable[Endpoint],
        ledger: Ledger,
        budget: Budget | None = None,
        progress: Tell | None = None,
        *,
        clock: Clock | None = None,
        transport: Any = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.ledger = ledger
        self._tell: Tell = progress or _ignored
        clock = clock or Clock()
        connect = partial(_Connection, transport=transport, environment=environment)
        self._lines = {e.name: Line(e, e.secrets(environment), connect, clock, budget, self._tell) for e in endpoints}
        self._probes: dict[str, asyncio.Task[Answer]] = {}
        self._filter = _Redaction([secret for line in self._lines.values() for secret in line.secrets])

    async def __aenter__(self) -> Client:
        self.ledger.secrets = tuple(dict.fromkeys((*self.ledger.secrets, *self._filter.secrets)))
        for name in LOGGERS:
            logging.getLogger(name).addFilter(self._filter)
        return self

    async def __aexit__(self, *_: object) -> None:
        for running in self._probes.values():
            running.cancel()
        await asyncio.gather(*self._probes.values(), return_exceptions=True)
        for line in self._lines.values():
            await line.close()
        for name in LOGGERS:
            logging.getLogger(name).removeFilter(self._filter)

    def limit(self, endpoint_name: str) -> Limit:
        """The requests in flight at an endpoint, for a display."""
        return self._line(endpoint_name).limit

    async def ask(self, request: Request, endpoint_name: str, purpose: Purpose) -> Answer:
        """The answer to a request, from the ledger or the endpoint.

        Raises:
            CallFailed: the endpoint refused the request, or gave no answer within its attempts and patience.
            UsageError: no endpoint has this name, its key is missing, or it serves another model than the request asks for.
            FamilytoolError: the budget does not reach, a replay misses the row, or the ledger cannot be written.
        """
        line = self._line(endpoint_name)
        if request.model != line.endpoint.id:
            raise UsageError(f"{line.endpoint.place}: asked for the model {request.model}; ask the endpoint of that model.")
        try:
            answer = await self.ledger.answer(request, purpose, partial(self._call, line, request, purpose))
        except CallFailed as error:
            self._tell(Event("failed", endpoint_name, purpose, None, str(error)))
            raise
        self._tell(Event("answered", endpoint_name, purpose, answer))
        return answer

    async def ask_all(
        self, requests: Iterable[Request], endpoint_name: str, purpose: Purpose, look_ahead: int | None = None
    ) -> AsyncIterator[tuple[int, Answer | CallFailed]]:
        """(number of the request, its answer or why there is none), as they finish.

        `requests` is read at most `look_ahead` (default: twice what may be in flight) ahead and not kept, so memory does not grow with
        it. Where you leave the loop early, close it: `async with contextlib.aclosing(client.ask_all(...)) as answers`.

        Raises:
            UsageError, FamilytoolError: as `ask`, but for CallFailed; the calls under way are given up then.
        """
        ahead = look_ahead or 2 * self._line(endpoint_name).endpoint.max_in_flight
        numbered = enumerate(requests)
        results: asyncio.Queue[tuple[int, Answer | CallFailed] | Exception | None] = asyncio.Queue(ahead)

        async def work() -> None:
            try:
                for number, request in numbered:
                    result: Answer | CallFailed
                    try:
                        result = await self.ask(request, endpoint_name, purpose)
                    except CallFailed as failed:
                        result = failed
                    await results.put((number, result))
                await results.put(None)
            except Exception as error:
                await results.put(error)

        workers = [asyncio.create_task(work()) for _ in range(ahead)]
        try:
            working = ahead
            while working:
                result = await results.get()
                if isinstance(result, Exception):
                    raise result
                if result is None:
                    working -= 1
                else:
                    yield result
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def dialect(self, endpoint_name: str) -> Dialect:
        """How an endpoint wants to be asked: as its settings say, or as a probe finds out or once found out.

        Raises:
            CallFailed: the endpoint gives the probe no answer.
        """
        line = self._line(endpoint_name)
        if line.dialect is None:
            running = self._probes.get(endpoint_name)
            if running is None or running.done():
                request = probe_request(line.endpoint)
                running = asyncio.create_task(self.ledger.answer(request, "probe", partial(self._probe, line, request)))
                self._probes[endpoint_name] = running
            await asyncio.wait([running])
            line.dialect = dialect_in(running.result())
        return line.dialect

    async def _call(self, line: Line, request: Request, purpose: Purpose) -> Finished:
        began, clock = time.time(), time.monotonic()  # the length of a call comes from a clock that does not jump
        dialect = await self.dialect(line.endpoint.name)
        while True:
            body = chat_body(request, dialect)
            result = await line.complete(request, body, purpose)
            if not isinstance(result, CallFailed):
                return Finished(line.endpoint.name, *result, began, began + time.monotonic() - clock)
            other = adapted(dialect, result.fault.told, body) if result.status in REFUSED else None
            if other is None or other == dialect:
                raise result
            dialect = other  # for this request: a schema may be too much for an endpoint that takes others

    async def _probe(self, line: Line, request: Request) -> Finished:
        began, clock = time.time(), time.monotonic()
        response, answer = await probe(request, partial(line.complete, purpose="probe"))
        return Finished(line.endpoint.name, response, answer, began, began + time.monotonic() - clock)

    def _line(self, endpoint_name: str) -> Line:
        try:
            return self._lines[endpoint_name]
        except KeyError:
            known = ", ".join(self._lines) or "none"
            raise UsageError(f"no endpoint is called '{endpoint_name}'; [models] of the campaign names {known}.") from None


def _ignored(_: Event) -> None:
    """What is told where nobody listens."""


class _Refused(Exception):
    """A response whose status is not 200, as the hook that reads it raises it."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        super().__init__(status)
        self.status, self.headers, self.body = status, headers, body


class _TooLarge(Exception):
    """A body beyond `LARGEST_BODY`."""


async def _read(response: Any) -> None:
    """Read a response's body into its extensions, up to the limit; raise if its status is not 200.

    As an event hook this comes before the `openai` client reads bodies of errors whole, and before it makes exceptions of them.
    """
    pieces, size, is_good = [], 0, 200 <= response.status_code < 300
    async with contextlib.aclosing(response.aiter_bytes()) as stream:
        async for piece in stream:
            pieces.append(piece)
            size += len(piece)
            if size > (LARGEST_BODY if is_good else LARGEST_ERROR):
                break
    body = b"".join(pieces)
    if not is_good:
        raise _Refused(response.status_code, dict(response.headers), body[:LARGEST_ERROR])
    if size > LARGEST_BODY:
        raise _TooLarge
    response.extensions["body"] = body


class _Connection:
    """The `openai` client of one endpoint, reduced to sending a body and getting bytes or a fault."""

    def __init__(self, endpoint: Endpoint, transport: Any, environment: Mapping[str, str] | None) -> None:
        import openai

        self._errors = openai
        self._endpoint, self._secrets = endpoint, endpoint.secrets(environment)
        base = next(kind for kind in openai.DefaultAsyncHttpxClient.__mro__ if kind.__name__ == "AsyncClient")
        http: Any = import_module(base.__module__.partition(".")[0])  # httpx2, or httpx below older versions of openai
        self._response: Any = http.Response
        timeout = http.Timeout(None, connect=min(CONNECT_SECONDS, endpoint.timeout))  # the rest is timed as a whole, in `post`
        self._client: Any = openai.AsyncOpenAI(
            api_key=endpoint.key(environment),
            base_url=endpoint.address,
            max_retries=0,
            timeout=timeout,
            http_client=http.AsyncClient(
                transport=transport,
                timeout=timeout,
                limits=http.Limits(max_connections=None, max_keepalive_connections=endpoint.max_in_flight),
                event_hooks={"response": [_read]},
                follow_redirects=False,  # prompts and keys go where the campaign says and nowhere else
                trust_env=not endpoint.is_local,
            ),
        )
        if endpoint.base_url is not None:
            self._client.organization = self._client.project = None  # OPENAI_ORG_ID and OPENAI_PROJECT_ID are for OpenAI

    async def close(self) -> None:
        await self._client.close()

    async def post(self, body: dict[str, Json], request_id: str) -> tuple[bytes, Mapping[str, str]] | Fault:
        """The bytes and headers of a response with status 200, or the fault."""
        try:
            async with asyncio.timeout(self._endpoint.timeout):
                response = await self._client.post(
                    "/chat/completions",
                    body=body,
                    cast_to=self._response,
                    stream=True,
                    options={"headers": {"X-Client-Request-Id": request_id}},
                )
            return response.extensions.pop("body"), response.headers
        except TimeoutError:
            return Fault(f"no answer within {self._endpoint.timeout:g} s", is_overload=True, may_be_paid=True)
        except ValueError as error:
            return Fault(f"the request cannot be written as JSON in UTF-8 ({redact(str(error), self._secrets)[:200]})", is_final=True)
        except (_Refused, _TooLarge, self._errors.APIConnectionError) as error:
            return self._fault(error)

    def _fault(self, error: BaseException) -> Fault:
        if isinstance(error, _Refused):
            return fault_of_status(error.status, error.headers, error.body, self._secrets)
        if isinstance(error, _TooLarge):
            return Fault(f"an answer of more than {LARGEST_BODY / 1e6:g} MB", 200, may_be_paid=True)
        if isinstance(error, self._errors.APITimeoutError):
            return Fault(f"no connection within {min(CONNECT_SECONDS, self._endpoint.timeout):g} s", is_overload=True)
        cause = error.__cause__
        if isinstance(cause, (_Refused, _TooLarge)):  # older versions of openai wrap what a hook raises
            return self._fault(cause)
        name = type(cause).__name__
        said = redact(str(cause), self._secrets)[:200] if cause is not None and str(cause) else "no reason given"
        return Fault(f"the connection failed ({name}: {said})", may_be_paid=name != "ConnectError")


class _Redaction(logging.Filter):
    """Takes keys out of what other libraries log."""

    def __init__(self, secrets: Sequence[str]) -> None:
        super().__init__()
        self.secrets = secrets

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redact(record.getMessage(), self.secrets), None
        return True
