"""What the lines of a batch mean: a result as a row of the ledger, or what it is instead, and the requests that were asked by key."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

from familytool.errors import FamilytoolError
from familytool.llm.dialects import error_message
from familytool.llm.ledger import Finished, Ledger
from familytool.llm.prices import Prices, cached_tokens
from familytool.llm.redact import redact
from familytool.llm.requests import Request
from familytool.llm.rows import Row, plain
from familytool.model import Json

ASKED = "asked.jsonl"
UNREADABLE = "unreadable"
"""The kind of a result that is neither an answer nor an error."""
_KEY = re.compile(r"[0-9a-f]{64}")


class Failed(Exception):
    """A result that tells of a failure, or one that cannot be read: its request can be asked again."""

    def __init__(self, key: str, kind: str, message: str = "") -> None:
        super().__init__(message)
        self.key = key
        self.kind = kind


class Unknown(Exception):
    """A result of a request that was not asked here."""


def result_row(value: dict[str, Any] | str, asked: Asked, ledger: Ledger, prices: Prices | None, endpoint: str) -> Row | None:
    """The row of a result line, or None if the ledger has one; Failed and Unknown as they say, ValueError if it is no result."""
    if isinstance(value, str):
        raise ValueError(value)
    key = value.get("custom_id")
    if not isinstance(key, str) or ("response" not in value and "error" not in value):
        raise ValueError("no result of a batch: a result has custom_id, and response or error")
    if not _KEY.fullmatch(key) or (key not in asked.places and key not in ledger):
        raise Unknown(f"{plain(key)[:12]!r} was not asked from this folder")
    body = _body(key, value)
    if key in ledger:
        return None
    named = asked.get(key)
    if named is None:
        raise Unknown(f"the request {key[:12]} in {ASKED} was changed since it was asked")
    purpose, request = named
    try:
        answer = ledger.answer_of(body, key)
        if prices is not None:
            cost = prices.cost(request.model, answer.usage, cached_tokens=cached_tokens(body), batch=True)
            answer = answer.model_copy(update={"price": cost})
        created = body.get("created")
        moment = float(created) if isinstance(created, int) and 0 < created < 2**33 else time.time()
        return ledger.prepared(key, request, purpose, Finished(endpoint, body, answer, moment, moment))[0]
    except (ValueError, FamilytoolError) as error:
        raise Failed(key, UNREADABLE, f"the result of {key[:12]} is no answer: {error}") from None


def _body(key: str, value: dict[str, Any]) -> dict[str, Json]:
    """The raw response of a result line; Failed if there is none."""
    response, error = value.get("response"), value.get("error")
    if error:
        raise Failed(key, _kind(error, response))
    if not isinstance(response, dict):
        raise Failed(key, UNREADABLE, f"the result of {key[:12]} has neither a response nor an error")
    status, body = response.get("status_code"), response.get("body")
    if status != 200 or isinstance(status, bool):
        raise Failed(key, _kind(body.get("error") if isinstance(body, dict) else None, response))
    if not isinstance(body, dict):
        raise Failed(key, UNREADABLE, f"the result of {key[:12]} has a body that is no JSON object")
    return body


def _kind(error: Json, response: Json) -> str:
    """The kind of a failure, short enough to count by."""
    while isinstance(error, dict) and isinstance(error.get("error"), dict):
        error = error["error"]
    code = (error.get("code") or error.get("type")) if isinstance(error, dict) else None
    status = response.get("status_code") if isinstance(response, dict) else None
    kind = str(code) if isinstance(code, str | int) else f"status {status}" if isinstance(status, int) else error_message(error)
    return plain(redact(kind))[:60]


class Asked:
    """The requests of a folder by key: their places in the file are kept, and they are read when a result comes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / ASKED
        self.places: dict[str, int] = {}
        if not self.path.is_file():
            raise FamilytoolError(f"{folder}: no batch was written here ({ASKED} is missing); give the folder of --batch.")
        with self.path.open("rb") as file:
            at = 0
            for line in file:
                if found := re.match(rb'\{"key":"([0-9a-f]{64})"', line):
                    self.places[found[1].decode()] = at
                at += len(line)

    def __enter__(self) -> Asked:
        self._file = self.path.open("rb")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def get(self, key: str) -> tuple[str, Request] | None:
        """(purpose, request) of a key, or None; a line that was changed since is not that request any more."""
        if key not in self.places:
            return None
        self._file.seek(self.places[key])
        try:
            value = json.loads(self._file.readline())
            request = Request.model_validate(value["request"])
            purpose = value["purpose"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        return (purpose, request) if request.key == key and isinstance(purpose, str) else None
