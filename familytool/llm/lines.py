"""The way to one endpoint: attempt after attempt, within its limit, its patience and the budget."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, Protocol

from familytool.llm.budget import Budget
from familytool.llm.dialects import UnreadableResponse, answer_of, cached_tokens, read_body
from familytool.llm.endpoint import Endpoint
from familytool.llm.faults import CallFailed, Fault, fault_of_body, seconds_to_wait
from familytool.llm.limits import Clock, Limit, Sign
from familytool.llm.probing import Completion
from familytool.llm.requests import Answer, Purpose, Request
from familytool.model import Json


class Event(NamedTuple):
    """Something a progress display may show: an answer, or why an attempt or a call failed."""

    kind: Literal["answered", "retried", "failed"]
    endpoint: str
    purpose: Purpose
    answer: Answer | None = None
    what: str = ""


Tell = Callable[[Event], None]


class Connection(Protocol):
    """What a line needs of the client below it."""

    async def post(self, body: dict[str, Json], request_id: str) -> tuple[bytes, Mapping[str, str]] | Fault:
        """Send a body, once: the bytes and headers of a response with status 200, or the fault."""

    async def close(self) -> None:
        """Close all connections."""


class Line:
    """The way to one endpoint: its limit, its connections, its dialect once known."""

    def __init__(
        self,
        endpoint: Endpoint,
        secrets: tuple[str, ...],
        connect: Callable[[Endpoint], Connection],
        clock: Clock,
        budget: Budget | None,
        tell: Tell,
    ) -> None:
        self.endpoint, self.secrets, self.dialect = endpoint, secrets, endpoint.dialect
        self.limit = Limit(endpoint.max_in_flight, clock=clock)
        self._clock, self._budget, self._tell = clock, budget, tell
        self._connect = connect
        self._connection: Connection | None = None

    async def close(self) -> None:
        """Close its connections, if there are any."""
        if self._connection is not None:
            await self._connection.close()

    async def complete(self, request: Request, body: dict[str, Json], purpose: Purpose) -> Completion | CallFailed:
        """Send a body until it is answered, refused for good, or attempts or patience are at an end."""
        endpoint, key = self.endpoint, request.key
        if self._connection is None:
            self._connection = self._connect(endpoint)
        if endpoint.served_as:
            body = {**body, "model": endpoint.served_as}
        attempts = counted = 0
        began: float | None = None
        while True:
            slot = await self.limit.enter()
            sign: Sign = "other"
            try:
                began = self._clock.now() if began is None else began
                attempts += 1
                result = await self._attempt(self._connection, request, body, f"{key}-{attempts}")
                if not isinstance(result, Fault):
                    sign = "answered"
                    return result
                sign = "overloaded" if result.is_overload else "other"
                wait = seconds_to_wait(result, key, attempts, endpoint.first_wait, endpoint.longest_wait)
                if result.retry_after is not None:
                    self.limit.pause(wait)  # what the endpoint asks of one request it means for all
            finally:
                self.limit.leave(slot, sign)
            counted += result.status != 429
            seconds = self._clock.now() - began
            if result.is_final or counted >= endpoint.max_attempts or seconds + wait > endpoint.patience:
                return CallFailed(endpoint, result, attempts, seconds)
            self._tell(Event("retried", endpoint.name, purpose, None, result.what))
            await self._clock.sleep(wait)

    async def _attempt(self, connection: Connection, request: Request, body: dict[str, Json], request_id: str) -> Completion | Fault:
        """One attempt, with the most it can cost reserved before and settled after it."""
        reservation = await self._budget.wait(request) if self._budget else None
        with reservation or contextlib.nullcontext():
            sent = await connection.post(body, request_id)
            if isinstance(sent, Fault):
                result: Completion | Fault = sent
            else:
                raw, headers = sent
                try:
                    response = read_body(raw)
                    result = response, answer_of(response, request.key)
                except UnreadableResponse as unreadable:
                    result = fault_of_body(unreadable, headers, self.secrets)
            if reservation is None or self._budget is None:
                return result
            if isinstance(result, Fault):
                (reservation.lost if result.may_be_paid else reservation.release)()
                return result
            response, answer = result
            cached = cached_tokens(response)
            reservation.settle(answer.usage, cached_tokens=cached)
            price = self._budget.prices.cost(request.model, answer.usage, cached_tokens=cached)
            return response, answer.model_copy(update={"price": price})
