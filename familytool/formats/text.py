"""JSON and literal text from files that nobody vouches for: strict, bounded, and never evaluated."""

from __future__ import annotations

import ast
import json
import math
from typing import Any

from familytool.model import Json

MAX_CHARACTERS = 64_000_000
MAX_DEPTH = 64


class TextError(ValueError):
    """Text that is not what it should be; the message says what was found, the caller says where."""


def parse_json(text: str) -> Json:
    """The value of a JSON text; duplicate keys, NaN, overflowing numbers, surplus text and deep nesting are errors.

    Raises:
        TextError: with what is wrong and at which line and column.
    """
    value, end = _decode(text, len(text) - len(text.lstrip()))
    if text[end:].strip():
        raise TextError(f"there is more text after the JSON value, at character {end + 1}")
    return value


def parse_json_prefix(text: str, start: int = 0) -> tuple[Json, int]:
    """The JSON value that starts at `start`, and the index behind it (TextError if there is none)."""
    return _decode(text, start)


def _decode(text: str, start: int) -> tuple[Json, int]:
    if len(text) > MAX_CHARACTERS:
        raise TextError(f"{len(text):,} characters are too many (limit {MAX_CHARACTERS:,})")
    decoder = json.JSONDecoder(object_pairs_hook=_without_duplicates, parse_constant=_no_constant, parse_float=_finite)
    try:
        value, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise TextError(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except ValueError as error:
        if isinstance(error, TextError):
            raise
        raise TextError(f"not JSON: {str(error)[:80]}") from None
    except RecursionError:
        raise TextError(f"nested deeper than {MAX_DEPTH} levels") from None
    check_depth(value)
    return value, end


def check_depth(value: Json, limit: int = MAX_DEPTH) -> None:
    """Raise TextError if lists and objects are nested deeper than `limit` levels."""
    level: list[Any] = [value]
    for _ in range(limit + 1):
        level = [inner for item in level if isinstance(item, dict | list) for inner in (item.values() if isinstance(item, dict) else item)]
        if not level:
            return
    raise TextError(f"nested deeper than {limit} levels")


def _without_duplicates(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        double = next(key for at, key in enumerate(keys) if key in keys[:at])
        raise TextError(f"the key '{double}' occurs twice in one object")
    return result


def _no_constant(name: str) -> Json:
    raise TextError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise TextError(f"the number {text} is too large")
    return value


def parse_python_literal(text: str) -> Json:
    """The value of a Python literal (lists, dicts, texts, numbers, True/False/None), without evaluating anything.

    Raises:
        TextError: no literal, too long, too deep, or with something in it that JSON cannot hold (a tuple, a set, bytes, a number as key).
    """
    if len(text) > 2_000_000:
        raise TextError(f"{len(text):,} characters are too many for a Python literal")
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        raise TextError(f"neither JSON nor a Python literal ({type(error).__name__})") from None
    check_depth(value)
    _check_json(value)
    return value


def _check_json(value: Any) -> None:
    """Raise TextError if a Python literal holds something that JSON cannot."""
    if isinstance(value, list):
        for item in value:
            _check_json(item)
    elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
        for item in value.values():
            _check_json(item)
    elif not (value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))):
        shown = "a dict whose keys are not all texts" if isinstance(value, dict) else f"{type(value).__name__} {str(value)[:40]}"
        raise TextError(f"a Python literal that JSON cannot hold: {shown}")


def bracketed(text: str, start: int) -> str:
    """The text from the bracket at `start` to its partner, brackets inside quotes aside (TextError if it is cut off)."""
    depth, quote, at = 0, "", start
    while at < len(text):
        character = text[at]
        if quote:
            if character == "\\":
                at += 1
            elif character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        elif character in "[{(":
            depth += 1
        elif character in "]})":
            depth -= 1
            if depth == 0:
                return text[start : at + 1]
        at += 1
    raise TextError("the list is cut off: its closing bracket is missing")
