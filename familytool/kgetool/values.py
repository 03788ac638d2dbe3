"""JSON values in normal form, and what it means that two are equal."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Mapping
from typing import Any

from .strict_json import Json

MAX_DEPTH = 64
MAX_NODES = 100_000
"""An argument that is deeper or has more parts equals nothing (code `parse_limit`), so that no answer can exhaust the scorer."""

LIMIT = object()
"""Stands for an argument beyond the limits; it equals nothing, itself included."""


class _LimitReached(Exception):
    pass


def nfc(text: str) -> str:
    """The text in NFC."""
    return unicodedata.normalize("NFC", text)


def nfc_keys(entries: Mapping[Any, Json]) -> dict[str, Json]:
    """The entries with their keys in NFC."""
    composed = {nfc(str(key)): value for key, value in entries.items()}
    # Two keys that differ only in their normal form both stay, else one of them would go unseen.
    return composed if len(composed) == len(entries) else {str(key): value for key, value in entries.items()}


def normal(value: Json) -> Json:
    """The value with its text in NFC, tuples as lists, and `LIMIT` in place of what is beyond the limits."""
    n_left = MAX_NODES

    def walk(part: Json, depth: int) -> Json:
        nonlocal n_left
        n_left -= 1
        if depth > MAX_DEPTH or n_left < 0:
            raise _LimitReached
        if isinstance(part, str):
            return nfc(part)
        if isinstance(part, Mapping):
            return {key: walk(entry, depth + 1) for key, entry in nfc_keys(part).items()}
        if isinstance(part, list | tuple):
            return [walk(item, depth + 1) for item in part]
        return part

    try:
        return walk(value, 0)
    except _LimitReached:
        return LIMIT


def values_are_equal(left: Json, right: Json) -> bool:
    """Compare two JSON values typed; symmetric.

    A boolean never equals a number, integers are exact at any size (an integral float next to an integer is one), other
    floats are equal to a relative 1e-9, text after NFC, lists in order. What JSON cannot hold (NaN) equals nothing.

    >>> values_are_equal(1, 1.0), values_are_equal(1, True), values_are_equal(2**53 + 1, float(2**53))
    (True, False, False)
    """
    return is_equal(normal(left), normal(right))


def is_equal(left: Json, right: Json) -> bool:
    """`values_are_equal` of values that are in normal form."""
    if type(left) is type(right) and type(left) in (str, int):  # most comparisons, and those of a matching are many
        return bool(left == right)
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return _equal_numbers(left, right)
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(is_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(is_equal(value, right[key]) for key, value in left.items())
    return left is None and right is None


def _equal_numbers(left: float, right: float) -> bool:
    floats = [number for number in (left, right) if isinstance(number, float)]
    if not all(map(math.isfinite, floats)):
        return False
    if len(floats) == 0 or (len(floats) == 1 and floats[0].is_integer()):
        return left == right
    try:
        return math.isclose(left, right, rel_tol=1e-9)
    except OverflowError:  # an integer beyond the floats, next to a fraction
        return False


def content_key(value: Json) -> str:
    """A text that is equal for values of equal content: the order in which ties are broken hangs on it."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None or isinstance(value, bool | str):
        return json.dumps(value)
    if isinstance(value, int):
        return hex(value)  # decimal digits are limited in number, these are not
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, list):
        return "[" + ",".join(map(content_key, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{json.dumps(key)}:{content_key(entry)}" for key, entry in value.items())) + "}"
    return "limit" if value is LIMIT else "other"
