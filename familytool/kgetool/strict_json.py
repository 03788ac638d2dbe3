"""Strict JSON and Python literals from texts that nobody vouches for: bounded, and never evaluated.

What `json.loads` lets pass is an error here: a key twice in one object, NaN and Infinity, a number beyond the floats, nesting
without end. Every error has a code (`parse_error`, `duplicate_key`, or `truncated` where the text stops too early) and a place.
"""

from __future__ import annotations

import ast
import json
import math
import re
from typing import Any, NamedTuple, TypeAlias

Json: TypeAlias = Any
"""A value that JSON can hold."""

MAX_CHARACTERS = 64_000_000
MAX_DEPTH = 64
MAX_LITERAL = 2_000_000
"""The most characters of a Python literal."""

MAX_BITS = 14_284
"""Of an integer: more would be over 4,300 digits, which Python neither reads nor writes."""

PARSE_ERROR = "parse_error"
DUPLICATE_KEY = "duplicate_key"
TRUNCATED = "truncated"

SURROGATE = re.compile("[\ud800-\udfff]")
DRIVE = re.compile(r"[C-PR-Zc-pr-z]:\\[abfnrtv]\w")
r"""How a text starts that was meant as a Windows path but whose single backslashes are escapes (`C:\new`: C, colon, line break, ew).

It is legal, and no call is worth the guess; `Q:` and `A:` start texts of another kind.
"""


class TextError(ValueError):
    """Text that is not what it should be: the message says what was found, `at` is the index where, `code` the kind of fault."""

    def __init__(self, message: str, code: str = PARSE_ERROR, at: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.at = at


class Decoded(NamedTuple):
    """A JSON value, the index behind it, and what is wrong with it although its brackets fit (no place is known of these)."""

    value: Json
    end: int
    errors: tuple[TextError, ...]


def place(text: str, at: int) -> str:
    """Where an index is, for people.

    >>> place("a\\nbc", 3)
    'line 2, column 2'
    """
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


def shown(value: str, limit: int = 60) -> str:
    """A text as a message shows it: in quotes, without line breaks, and not longer than need be."""
    return repr(value if len(value) <= limit else value[: limit - 3] + "...")


def parse_json(text: str) -> Json:
    """The value of a JSON text; duplicate keys, NaN, overflowing numbers, surplus text and deep nesting are errors.

    Raises:
        TextError: with what is wrong and at which line and column.
    """
    value, end = parse_json_prefix(text, len(text) - len(text.lstrip()))
    if text[end:].strip():
        raise TextError(f"there is more text after the JSON value, at character {end + 1}", at=end)
    return value


def parse_json_prefix(text: str, start: int = 0) -> tuple[Json, int]:
    """The JSON value that starts at `start`, and the index behind it (TextError if there is none)."""
    decoded = decode(text, start)
    if decoded.errors:
        raise decoded.errors[0]
    return decoded.value, decoded.end


def decode(text: str, start: int = 0) -> Decoded:
    """The JSON value that starts at `start`, with all of its duplicate keys and numbers that JSON cannot hold.

    Raises:
        TextError: no JSON value starts there, or it is too long or too deep.
    """
    if len(text) > MAX_CHARACTERS:
        raise TextError(f"{len(text):,} characters are too many (limit {MAX_CHARACTERS:,})")
    errors: list[TextError] = []

    def without_duplicates(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        result = dict(pairs)
        if len(result) != len(pairs):
            errors.append(_twice(_first_double([key for key, _ in pairs]), start))
        return result

    def no_constant(name: str) -> None:
        errors.append(TextError(f"{name} is not JSON", at=start))

    def finite(number: str) -> float:
        value = float(number)
        if not math.isfinite(value):
            errors.append(TextError(f"the number {number[:40]} is too large", at=start))
        return value

    decoder = json.JSONDecoder(object_pairs_hook=without_duplicates, parse_constant=no_constant, parse_float=finite)
    try:
        value, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        code = TRUNCATED if _is_cut_off(error.msg, text, error.pos) else PARSE_ERROR
        if errors and code != TRUNCATED:
            raise errors[0] from None
        raise TextError(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}", code, error.pos) from None
    except ValueError as error:
        raise TextError(f"not JSON: {str(error)[:80]}", at=start) from None
    except RecursionError:
        raise TextError(f"nested deeper than {MAX_DEPTH} levels", at=start) from None
    check_depth(value)
    return Decoded(value, end, tuple(errors))


def _twice(key: str, at: int = 0) -> TextError:
    return TextError(f"the key '{key[:80]}' occurs twice in one object", DUPLICATE_KEY, at)


def _first_double(keys: list[str]) -> str:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            return key
        seen.add(key)
    raise AssertionError("no key occurs twice")


_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,4})?$")
_CUT_NUMBER = re.compile(r"-$|\.$|[eE][+-]?$")
_WORDS = ("true", "false", "null")


def _is_cut_off(message: str, text: str, at: int) -> bool:
    """Whether the text could go on to be JSON: it stops at the error, or within a text, a word or a number."""
    rest = text[at : at + 100].rstrip()
    if not rest:
        return bool(text.strip()) and not text[at:].strip()
    if message.startswith("Unterminated string"):
        return True
    if message.startswith("Invalid control character"):
        return '"' not in text[at:]  # the text was not closed either, so its end is missing too
    if len(rest) > 8 or text[at + 100 :].strip():
        return False
    if message.startswith("Invalid"):
        return _CUT_ESCAPE.match(text, max(at - 1, 0)) is not None or _CUT_ESCAPE.match(text, max(at - 2, 0)) is not None
    is_number_before = at > 0 and text[at - 1].isdigit()
    return any(word.startswith(rest) for word in _WORDS) or (_CUT_NUMBER.fullmatch(rest) is not None and (is_number_before or rest == "-"))


def check_depth(value: Json, limit: int = MAX_DEPTH) -> None:
    """Raise TextError if lists and objects are nested deeper than `limit` levels."""
    level: list[Any] = [value] if isinstance(value, dict | list) else []
    for _ in range(limit):
        if not level:
            return
        level = [
            inner
            for item in level
            for inner in (item.values() if type(item) is dict else item)
            if type(inner) is dict or type(inner) is list
        ]
    if not any(level):
        return
    raise TextError(f"nested deeper than {limit} levels")


def check_value(value: Any) -> None:
    """Raise TextError, with a JSON pointer, if a decoded value holds what JSON cannot: NaN, a tuple, half a surrogate pair.

    The value has passed `check_depth`, so that the recursion is bounded.
    """
    fault = _flaw_of(value)
    if fault:
        raise TextError(fault)


def _flaw_of(value: Any, pointer: str = "") -> str:
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                return f"the key {shown(repr(key))} is no text, at {pointer or '/'}"
            fault = _flaw_of(key, pointer) or _flaw_of(inner, f"{pointer}/{key}")
            if fault:
                return fault
    elif isinstance(value, list):
        for at, item in enumerate(value):
            fault = _flaw_of(item, f"{pointer}/{at}")
            if fault:
                return fault
    elif isinstance(value, str):
        return f"half of a surrogate pair in a text, at {pointer or '/'}" if SURROGATE.search(value) else ""
    elif isinstance(value, float) and not math.isfinite(value):
        return f"{value} is not JSON, at {pointer or '/'}"
    elif not (value is None or isinstance(value, bool | int | float)):
        return f"a {type(value).__name__} is no value of JSON, at {pointer or '/'}"
    return ""


def parse_python_literal(text: str) -> Json:
    """The value of a Python literal (lists, dicts, texts, numbers, True/False/None), without evaluating anything.

    Raises:
        TextError: no literal, too long, too deep, with a key twice, or with something in it that JSON cannot hold (a tuple, a
            set, bytes, a number as key).
    """
    if len(text) > MAX_LITERAL:
        raise TextError(f"{len(text):,} characters are too many for a Python literal")
    try:
        tree = ast.parse(text.lstrip(" \t"), mode="eval")
        value = ast.literal_eval(tree)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        raise TextError(f"neither JSON nor a Python literal ({type(error).__name__})") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            _without_doubles([key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)])
    check_depth(value)
    _check_json(value)
    return value


def _without_doubles(keys: list[str]) -> None:
    if len(set(keys)) != len(keys):
        raise _twice(_first_double(keys))


def _check_json(value: Any) -> None:
    """Raise TextError if a Python literal holds something that JSON cannot."""
    if isinstance(value, list):
        for item in value:
            _check_json(item)
    elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
        for item in value.values():
            _check_json(item)
    elif isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise TextError("a Python literal that JSON cannot hold: a number of too many digits")
    elif not (value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))):
        shown_value = "a dict whose keys are not all texts" if isinstance(value, dict) else f"{type(value).__name__} {_start_of(value)}"
        raise TextError(f"a Python literal that JSON cannot hold: {shown_value}")


def _start_of(value: Any) -> str:
    try:
        return str(value)[:40]
    except ValueError:  # a number of too many digits in it
        return "..."


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
    raise TextError("the list is cut off: its closing bracket is missing", TRUNCATED, len(text))
