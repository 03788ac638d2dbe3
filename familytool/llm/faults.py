"""What goes wrong with a request, told apart: what is tried again and after which wait, what is not, and the sentence a user reads."""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from familytool.errors import FamilytoolError
from familytool.llm.dialects import UnreadableResponse, error_message
from familytool.llm.endpoint import OPENAI_KEY, Endpoint
from familytool.llm.redact import redact
from familytool.model import Json

RETRIED = frozenset({408, 409, 429})
"""Statuses below 500 that are tried again; all others below 500 stay what they are, however often one asks."""
OVERLOAD = frozenset({408, 429, 504, 529})
"""Statuses by which an endpoint says that it has too much to do."""
LONGEST_BACK_OFF = 30.0


@dataclass(frozen=True)
class Fault:
    """Why an attempt brought no answer, without secrets: in a few words, and as the endpoint `told` it. `retry_after` is in seconds."""

    what: str
    status: int | None = None
    is_final: bool = False
    is_overload: bool = False
    retry_after: float | None = None
    told: str = ""
    may_be_paid: bool = False
    """Whether the endpoint may have made an answer all the same: the connection broke after sending, or the answer could not be read."""


class CallFailed(FamilytoolError):
    """A call that brought no answer, in one sentence; it is not in the ledger, so another run asks again."""

    def __init__(self, endpoint: Endpoint, fault: Fault, attempts: int, seconds: float) -> None:
        self.endpoint, self.status, self.attempts, self.fault = endpoint.name, fault.status, attempts, fault
        tried = f" after {attempts} attempts in {seconds:.0f} s" if attempts > 1 else ""
        super().__init__(f"{endpoint.place}: {fault.what}{tried}; {_way_out(endpoint, fault)}")


def _way_out(endpoint: Endpoint, fault: Fault) -> str:
    if not fault.is_final:
        return "see that the endpoint answers, then run again: finished calls are kept."
    variable = endpoint.key_variable or (OPENAI_KEY if endpoint.base_url is None else "")
    ways = {
        401: f"put a valid key into {variable}." if variable else "name the environment variable with its key as key_variable.",
        403: "ask its owner for access, or use another key.",
        404: "check the model's id and the base_url (which ends with /v1 mostly).",
        429: "check the account's quota and billing, then run again: finished calls are kept.",
    }
    if 300 <= (fault.status or 0) < 400:
        return "make that the base_url, if it is the endpoint's."
    return ways.get(fault.status or 0, "change the request, the model or the endpoint's settings.")


def fault_of_status(status: int, headers: Mapping[str, str], body: bytes, secrets: Sequence[str]) -> Fault:
    """The fault that a response with this status tells; header names are in lower case."""
    text = redact(body.decode("utf-8", "replace"), secrets)  # before anything is cut, since half a key is no longer found
    try:
        error: Json = json.loads(text)
    except (ValueError, RecursionError):
        error = "an HTML page" if text.lstrip()[:1] == "<" else text
    if isinstance(error, dict) and error.get("error"):
        error = error["error"]
    what = f"HTTP {status}"
    if 300 <= status < 400:
        what += f", a redirect to {redact(headers.get('location', 'nowhere'), secrets)[:300]}, which is not followed"
    elif said := error_message(error):
        what += f" '{said}'"
    has_no_quota = status == 429 and isinstance(error, dict) and error.get("code") == "insufficient_quota"
    is_final = has_no_quota or (status < 500 and status not in RETRIED)
    return Fault(what, status, is_final, status in OVERLOAD and not has_no_quota, seconds_asked(headers), text[:4_000])


def fault_of_body(unreadable: UnreadableResponse, headers: Mapping[str, str], secrets: Sequence[str]) -> Fault:
    """The fault of a body that came with status 200: tried again, unless it names an error that is not."""
    status = unreadable.status
    what = told = redact(str(unreadable), secrets)
    if unreadable.error:
        told = redact(json.dumps(unreadable.error, ensure_ascii=False), secrets)
        what += f": '{error_message(_loaded(told))}'"
    is_final = status is not None and status < 500 and status not in RETRIED
    return Fault(what, status or 200, is_final, status in OVERLOAD, seconds_asked(headers), told[:4_000], may_be_paid=not unreadable.error)


def _loaded(text: str) -> Json:
    try:
        return json.loads(text)
    except ValueError:
        return text


def seconds_asked(headers: Mapping[str, str]) -> float | None:
    """What Retry-After asks for, in seconds from now, not below 0: milliseconds before seconds before an HTTP date; None if it says nothing.

    A date is compared with the response's own `Date`, so that no clock of ours has a part in it.

    >>> seconds_asked({"retry-after": "3"}), seconds_asked({"retry-after-ms": "250"}), seconds_asked({"retry-after": "soon"})
    (3.0, 0.25, None)
    >>> seconds_asked({"date": "Mon, 02 Jun 2025 10:00:00 GMT", "retry-after": "Mon, 02 Jun 2025 10:00:07 GMT"})
    7.0
    """
    for name, unit in (("retry-after-ms", 1_000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if not math.isnan(seconds):
            return max(0.0, seconds)
    try:
        until = parsedate_to_datetime(headers.get("retry-after", "")).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    try:
        now = parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (ValueError, TypeError, OverflowError):
        now = time.time()
    return max(0.0, until - now)


def seconds_to_wait(fault: Fault, key: str, attempt: int, first: float, longest: float) -> float:
    """The wait before the attempt after `attempt` (from 1): what the endpoint asked for, or a back-off that doubles, with full jitter.

    Both are capped by `longest`. The generator is seeded by the request, so that nothing shared is drawn from.
    """
    back_off = min(LONGEST_BACK_OFF, longest, first * 2.0 ** min(attempt - 1, 30))
    jitter = random.Random(f"{key}/{attempt}").random()
    if fault.retry_after is not None:
        return min(longest, fault.retry_after + jitter * min(first, back_off))
    return jitter * back_off
