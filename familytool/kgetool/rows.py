"""References and predictions as lists of rows with ids, and the scores of one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from .strict_json import Json

Scores: TypeAlias = dict[str, float | None]
"""One sample's metrics by name; None is not applicable."""


def rows_by_id(rows: Json, where: str) -> dict[str | int, Mapping[str, Any]]:
    """The rows by their ids (ValueError for a row that is no mapping, or an id that is none or double)."""
    found: dict[str | int, Mapping[str, Any]] = {}
    for place, row in enumerate(listed(rows, where)):
        if not isinstance(row, Mapping):
            raise ValueError(f"{where}[{place}] is a {type(row).__name__}; give a mapping with an id.")
        key = row.get("id")
        if not isinstance(key, str | int) or isinstance(key, bool):
            raise ValueError(f"{where}[{place}] has the id {key!r}; give a text or an integer.")
        if key in found:
            raise ValueError(f"{where}[{place}] repeats the id {key!r}; give each id once.")
        found[key] = row
    return found


def listed(value: Json, where: str) -> Sequence[Any]:
    """The value, if it is a list; else ValueError."""
    # A text is a sequence too: one letter would be scored as one row.
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return value
    raise ValueError(f"{where} is a {type(value).__name__}; give a list (of one, if there is only one).")


def failure_code(prediction: Mapping[str, Any] | None) -> str | None:
    """The code of a sample without an answer: a one-word `error` such as "timeout" is its own code."""
    if prediction is None:
        return "no_prediction"
    error = prediction.get("error")
    if not error:
        return None
    return error if isinstance(error, str) and re.fullmatch(r"[a-z][a-z0-9_]{0,39}", error) else "error"
