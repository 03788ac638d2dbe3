"""What an endpoint can do, found by asking it once: whether it enforces a schema, what it calls the output limit, what it refuses.

The findings are a row of the ledger like any other, whose key names the endpoint's address and model by the request's seed; so a resumed
run does not ask again, and a replay asks nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from familytool.kgetool.strict_json import TextError, parse_json
from familytool.llm.dialects import Dialect, adapted, answer_of, chat_body, without
from familytool.llm.endpoint import Endpoint
from familytool.llm.faults import CallFailed
from familytool.llm.requests import Answer, Request, Sampling, Usage
from familytool.model import Json

Completion = tuple[dict[str, Json], Answer]
"""A raw response and the answer in it."""
Complete = Callable[[Request, dict[str, Any]], Awaitable["Completion | CallFailed"]]
"""Sends a body, with all attempts; the request is what a budget reserves for."""

SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
TEXT = "Answer with exactly the word: probe"
OUTPUTS = (512, 4_096)
"""Output limits of a probe; the larger one is for a model whose thinking fills the smaller."""
REFUSED = (400, 422)
"""Statuses by which an endpoint refuses a body that another dialect may save."""


def probe_request(endpoint: Endpoint) -> Request:
    """The request that a probe is recorded under. It goes against the grain of its schema: only an endpoint that enforces it gives JSON."""
    return Request(
        model=endpoint.id,
        messages=({"role": "user", "content": TEXT},),
        answer_schema=SCHEMA,
        sampling=Sampling(temperature=0.0, seed=int(endpoint.fingerprint[:7], 16), max_output=OUTPUTS[0]),
    )


async def probe(request: Request, complete: Complete) -> Completion:
    """The dialect of an endpoint, as the text of an answer (`dialect_in` reads it); the last real response stands beside it.

    A refusal that names its reason changes that; one that does not takes away one thing after the other until the body is taken, and
    then what was taken away without need is put back.

    Raises:
        CallFailed: no dialect helps.
    """
    dialect, doubtful, spent = Dialect(has_schema=True), [], Usage()
    while True:
        body = chat_body(request, dialect)
        result = await complete(request, body)
        if not isinstance(result, CallFailed):
            response, answer = result
            spent = _sum(spent, answer.usage)
            if not (answer.outcome == "cut" and not answer.text and request.sampling.max_output < OUTPUTS[-1]):
                break
            request = request.model_copy(update={"sampling": request.sampling.model_copy(update={"max_output": OUTPUTS[-1]})})
            continue
        if result.status not in REFUSED:
            raise result
        changed = adapted(dialect, result.fault.told, body)
        if changed is None:
            changed = _simpler(dialect)
            doubtful.append(dialect)
        if changed is None:
            raise result
        dialect = changed
    for before in doubtful[:-1]:
        fuller = _put_back(dialect, before)
        result = await complete(request, chat_body(request, fuller))
        if not isinstance(result, CallFailed):
            dialect = fuller
            response, answer = result
            spent = _sum(spent, answer.usage)
    if dialect.has_schema and not _conforms(answer.text):
        dialect = dialect.model_copy(update={"has_schema": False})
    return _recorded(dialect, response, spent, request.key)


def _simpler(dialect: Dialect) -> Dialect | None:
    """The dialect with one thing less, in the order in which endpoints lack them."""
    if dialect.has_schema:
        return dialect.model_copy(update={"has_schema": False})
    for name in ("seed", "temperature"):
        if name not in dialect.refused:
            return without(dialect, name)
    return dialect.model_copy(update={"limit": "max_completion_tokens"}) if dialect.limit == "max_tokens" else None


def _put_back(dialect: Dialect, before: Dialect) -> Dialect:
    """The dialect with the one thing back that was taken from `before`."""
    taken = _simpler(before) or before
    refused = tuple(name for name in dialect.refused if name in before.refused or name not in taken.refused)
    limit = before.limit if taken.limit != before.limit else dialect.limit
    return Dialect(has_schema=dialect.has_schema or (before.has_schema and not taken.has_schema), limit=limit, refused=refused)


def _conforms(text: str) -> bool:
    try:
        value = parse_json(text)
    except TextError:
        return False
    return isinstance(value, dict) and set(value) == {"ok"} and isinstance(value["ok"], bool)


def _sum(first: Usage, second: Usage) -> Usage:
    """Tokens of two calls; what either does not say counts as none, unless neither says it."""

    def added(one: int | None, other: int | None) -> int | None:
        return None if one is None and other is None else (one or 0) + (other or 0)

    return Usage(
        prompt_tokens=added(first.prompt_tokens, second.prompt_tokens), output_tokens=added(first.output_tokens, second.output_tokens)
    )


def _recorded(dialect: Dialect, last: dict[str, Json], spent: Usage, key: str) -> Completion:
    message = {"role": "assistant", "content": dialect.model_dump_json()}
    response: dict[str, Json] = {
        "object": "familytool.probe",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": spent.prompt_tokens, "completion_tokens": spent.output_tokens},
        "last_response": last,
    }
    return response, answer_of(response, key)


def dialect_in(answer: Answer) -> Dialect:
    """The dialect that a probe found."""
    return Dialect.model_validate_json(answer.text)
