"""Why two values differ, in the codes of the case table."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from .strict_json import Json, TextError, parse_json
from .tools import property_of
from .values import LIMIT, is_equal, normal

_PUNCTUATION = str.maketrans({**dict.fromkeys("‘’‚‛′", "'"), **dict.fromkeys("“”„‟″", '"'), **dict.fromkeys("‐‑‒–—−", "-"), "…": "..."})
_FOLDS: dict[str, Callable[[str], str]] = {
    "unicode": lambda text: unicodedata.normalize("NFKC", text),
    "punctuation": lambda text: text.translate(_PUNCTUATION),
    "whitespace": str.strip,
    "case": str.casefold,
}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_DATE = re.compile(r"([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?:\s?([ap])\.?m\.?)?", re.IGNORECASE)
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}\.?"
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_OPEN_DATE = re.compile(
    rf"{_MONTH} [0-9]{{1,2}}(?:st|nd|rd|th)?|(?:the )?[0-9]{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}"
    rf"|today|tonight|tomorrow|yesterday|(?:(?:next|this|last|on|coming) )?{_DAY}|(?:next|this|last) (?:week|weekend|month|year)"
    r"|in (?:an?|[a-z]+|[0-9]+) (?:day|week|month|year)s?",
    re.IGNORECASE,
)
"""A date that means nothing without today's."""


def difference(golden: Json, predicted: Json, schema: Mapping[str, Any]) -> set[str]:
    """Name why two unequal values differ, in the codes of the case table; `schema` is that of the golden value."""
    if golden is LIMIT or predicted is LIMIT:
        return {"parse_limit"}
    if isinstance(predicted, float) and not math.isfinite(predicted):
        return {"invalid_number"}
    if golden is None or predicted is None:
        return {"value_wrong"}
    if isinstance(golden, list) and isinstance(predicted, list):
        return _list_difference(golden, predicted, schema)
    if isinstance(golden, dict) and isinstance(predicted, dict):
        if golden.keys() != predicted.keys():
            return {"value_wrong"}
        unequal = [key for key, value in golden.items() if not is_equal(value, predicted[key])]
        return set().union(*(difference(golden[key], predicted[key], property_of(schema, key)) for key in unequal))
    if isinstance(golden, str) and isinstance(predicted, str):
        return text_difference(golden, predicted, schema)
    if isinstance(golden, bool) or isinstance(predicted, bool):
        return {"type_mismatch"}
    if isinstance(golden, str) and isinstance(predicted, int | float):
        return {"type_mismatch" if is_equal(number_in(golden), predicted) else "value_wrong"}
    if isinstance(golden, int | float) and isinstance(predicted, str):
        number = number_in(predicted)
        return {"value_wrong" if number is not None and not is_equal(golden, number) else "type_mismatch"}
    if isinstance(golden, int | float) and isinstance(predicted, int | float):
        return {"value_wrong"}
    if isinstance(predicted, str) and is_equal(golden, json_in(predicted)):
        return {"json_in_string"}
    return {"type_mismatch"}


def _list_difference(golden: list[Json], predicted: list[Json], schema: Mapping[str, Any]) -> set[str]:
    if len(golden) != len(predicted):
        return {"list_items"}
    items = schema.get("items")
    item_schema = items if isinstance(items, Mapping) else {}
    pairs = [(left, right) for left, right in zip(golden, predicted, strict=True) if not is_equal(left, right)]
    codes: set[str] = set().union(*(difference(left, right, item_schema) for left, right in pairs))
    return {"list_items"} if "value_wrong" in codes else codes


def text_difference(golden: str, predicted: str, schema: Mapping[str, Any]) -> set[str]:
    """The codes of two unequal texts; value_wrong if they do not mean the same in any way."""
    enum = schema.get("enum")
    if isinstance(enum, list) and golden in enum:
        slug = _slug(predicted)
        if [item for item in enum if isinstance(item, str) and _slug(item) == slug] == [golden]:
            return {"enum"}
    for code in ("case", "whitespace", "punctuation", "unicode"):
        if _FOLDS[code](golden) == _FOLDS[code](predicted):
            return {code}
    if _folded(golden) == _folded(predicted):
        return {code for code in _FOLDS if _folded(golden, code) != _folded(predicted, code)} or {"unicode"}
    if _date_in(golden) and _date_in(golden) == _date_in(predicted):
        return {"date_format"}
    if _time_in(golden) and _time_in(golden) == _time_in(predicted):
        return {"time_format"}
    if _date_in(golden) and _OPEN_DATE.fullmatch(predicted):
        return {"underdetermined"}
    return {"value_wrong"}


def _folded(text: str, without: str = "") -> str:
    for code, fold in _FOLDS.items():
        text = text if code == without else fold(text)
    return text


def _slug(text: str) -> str:
    return re.sub(r"[\W_]+", "_", text.casefold()).strip("_")


def _date_in(text: str) -> tuple[int, ...] | None:
    match = _DATE.fullmatch(text)
    return tuple(map(int, match.groups())) if match else None


def _time_in(text: str) -> tuple[int, int, int] | None:
    match = _TIME.fullmatch(text)
    if not match:
        return None
    hour, minute, second, half = match.groups()
    offset = 0 if half is None else int(half in "pP") * 12 - (int(hour) == 12) * 12
    return int(hour) + offset, int(minute), int(second or 0)


def number_in(text: str) -> int | float | None:
    """The number that a text is in JSON ("0012" is none)."""
    match = _NUMBER.fullmatch(text)
    if not match or len(text) > 4000:
        return None
    return float(text) if match[1] or match[2] else int(text)


def json_in(text: str) -> Json:
    """The object or list that a text is in strict JSON; a key twice, or NaN, is none."""
    if not text.lstrip().startswith(("{", "[")):
        return LIMIT
    try:
        return normal(parse_json(text))
    except TextError:
        return LIMIT
