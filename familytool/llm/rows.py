"""A row of the ledger: one finished call as texts and numbers that SQLite, JSON and every reader hold exactly."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from familytool.errors import FamilytoolError
from familytool.llm.requests import Answer, Request
from familytool.model import Json

LARGEST = 2**53
"""The largest count that JSON, SQLite and every reader of an exported ledger hold exactly."""


class Row(NamedTuple):
    """One finished call, column by column (house rules, section 7); `request` and `response` are JSON texts, `price` is US dollars."""

    key: str
    request: str
    sample_index: int
    purpose: str
    model: str
    endpoint: str
    response: str
    outcome: str
    prompt_tokens: int | None
    output_tokens: int | None
    price: float | None
    started: str
    finished: str


COLUMNS = Row._fields


def row_of(request: Request, purpose: str, endpoint: str, response: str, answer: Answer, started: float, finished: float) -> Row:
    """The row of a finished call; `response` is its raw body as JSON text, and the answer's key that of the request."""
    return Row(
        key=answer.key,
        request=json_text(request.model_dump()),
        sample_index=request.sample_index,
        purpose=plain(purpose),
        model=plain(request.model),
        endpoint=plain(endpoint),
        response=response,
        outcome=answer.outcome,
        prompt_tokens=count_of(answer.usage.prompt_tokens),
        output_tokens=count_of(answer.usage.output_tokens),
        price=answer.price,
        started=utc_text(started),
        finished=utc_text(finished),
    )


def utc_text(seconds: float) -> str:
    """Seconds of the epoch as `2026-01-31T12:00:00.123Z`; what no calendar holds stays a number, and loses no row."""
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=round(seconds * 1000))
    except (OverflowError, ValueError):
        return repr(seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def json_text(value: Json) -> str:
    """JSON in one line, in the author's key order, that SQLite and UTF-8 can hold (a lone surrogate is written as an escape).

    Raises:
        FamilytoolError: the value nests deeper than JSON can be written here.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise FamilytoolError("An answer nests too deeply to be stored; refuse it as malformed.") from None
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


def plain(text: str) -> str:
    """A name that UTF-8 can hold: itself, unless it has a lone surrogate, which becomes an escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def count_of(value: object) -> int | None:
    """A number of tokens that can be added up, or None for what an endpoint should not have said."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST else None
