"""What a text states: dates, times and numbers, in figures and in words, each with its place.

A date counts only with its year and a time only with its half of the day (or in figures, `19:30`), so that the words alone decide.
"""

from __future__ import annotations

import datetime
import re
from functools import lru_cache
from typing import NamedTuple

from familytool.phrasing import MONTHS, NUMBER_WORDS, ORDINALS

MAX_TEXT = 5_000
"""Characters of a text that are read."""

TOKEN = re.compile(r"[0-9]+|[^\W\d_]+|\S")
_SMALL = {word: number for number, word in enumerate(NUMBER_WORDS)}
_TENS = {word: 10 * n for n, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_ORDINALS = {word: number for number, word in enumerate(ORDINALS, 1)}
_MONTHS = {name: n for n, month in enumerate(MONTHS, 1) for name in (month.lower(), month[:3].lower())} | {"sept": 9}
_NUMBER = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?")
_JOINERS = ("-", "/", ".", ",", ":")


class Statement(NamedTuple):
    """A date (ISO), time (HH:MM) or number (decimal) of a text, and its character span."""

    kind: str
    value: str
    start: int
    end: int


class _Token(NamedTuple):
    text: str
    start: int
    end: int


class _Words:
    """The words of a text; behind the last one stand empty ones."""

    def __init__(self, text: str) -> None:
        self.tokens = [_Token(m[0].lower(), m.start(), m.end()) for m in TOKEN.finditer(text)]

    def __getitem__(self, at: int) -> str:
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def is_glued(self, at: int) -> bool:
        """Whether no space stands before this word."""
        return 0 < at < len(self.tokens) and self.tokens[at].start == self.tokens[at - 1].end

    def glued_digits(self, at: int, least: int = 1, most: int = 4) -> int | None:
        """The number that stands here without a space before it, of so many digits."""
        text = self[at]
        return int(text) if self.is_glued(at) and _is_figures(text) and least <= len(text) <= most else None


def _is_figures(text: str) -> bool:
    return text.isascii() and text.isdigit()


_Found = tuple[str, int]
"""A value, and the index of the word behind it."""


@lru_cache(maxsize=1024)
def statements(text: str) -> tuple[Statement, ...]:
    """All dates, times and numbers of a text from left to right; a word belongs to one of them at most.

    >>> [(s.kind, s.value) for s in statements("two seats on the third of June 2025 at half past seven in the evening")]
    [('number', '2'), ('date', '2025-06-03'), ('time', '19:30')]
    """
    words = _Words(text[:MAX_TEXT])
    found: list[Statement] = []
    at = 0
    while at < len(words.tokens):
        behind = at + 1
        for kind, read in (("date", _date), ("time", _time), ("number", _number)):
            result = read(words, at)
            if result is not None:
                value, behind = result
                if value:
                    found.append(Statement(kind, value, words.tokens[at].start, words.tokens[behind - 1].end))
                break
        at = behind
    return tuple(found)


def _date(words: _Words, at: int) -> _Found | None:
    first = words[at]
    if len(first) == 4 and _is_figures(first) and words[at + 1] in ("-", "/") and words[at + 1] == words[at + 3]:
        month, day = words.glued_digits(at + 2, most=2), words.glued_digits(at + 4, most=2)
        if month and day and words.is_glued(at + 1) and words.is_glued(at + 3):
            return _iso(int(first), month, day, at + 5)
    named = _day(words, at)
    if named is not None:
        number, behind = named
        behind += words[behind] == "of"
        if words[behind] in _MONTHS:
            return _year_behind(words, behind + 1, _MONTHS[words[behind]], number)
    if first in _MONTHS:
        behind = at + 1 + (words[at + 1] == ".")
        named = _day(words, behind + (words[behind] == "the"))
        if named is not None:
            return _year_behind(words, named[1], _MONTHS[first], named[0])
    return None


def _year_behind(words: _Words, at: int, month: int, day: int) -> _Found | None:
    at += words[at] in (",", ".")
    year = words[at]
    return _iso(int(year), month, day, at + 1) if len(year) == 4 and _is_figures(year) else None


def _iso(year: int, month: int, day: int, behind: int) -> _Found | None:
    try:
        return datetime.date(year, month, day).isoformat(), behind
    except ValueError:
        return None


def _day(words: _Words, at: int) -> tuple[int, int] | None:
    """A day of a month ("3", "3rd", "third", "twenty-first") and the index behind it."""
    text = words[at]
    if _is_figures(text) and len(text) <= 2:
        return int(text), at + 1 + (words[at + 1] in ("st", "nd", "rd", "th") and words.is_glued(at + 1))
    for joined, behind in ((f"{text}-{words[at + 2]}", at + 3), (f"{text}-{words[at + 1]}", at + 2), (text, at + 1)):
        if joined in _ORDINALS and (behind != at + 3 or words[at + 1] == "-"):
            return _ORDINALS[joined], behind
    return None


def _time(words: _Words, at: int) -> _Found | None:
    text = words[at]
    if text in ("noon", "midday", "midnight"):
        return "00:00" if text == "midnight" else "12:00", at + 1
    relative = _relative_time(words, at)
    if relative is not None:
        return relative
    hour, behind = _small(words, at) or (99, at + 1)
    if _is_figures(text) and words[behind] == ":" and words.is_glued(behind):
        minute = words.glued_digits(behind + 1, 2, 2)
        if minute is None:
            return None
        behind += 2
        if words[behind] == ":" and words.glued_digits(behind + 1, 2, 2) == 0:
            behind += 2
        half, end = _half(words, behind)
        return _clock(hour, minute, half, end)
    if words[behind] == "o" and words[behind + 1] in ("'", "’") and words[behind + 2] == "clock":
        behind += 3
    half, end = _half(words, behind)
    return _clock(hour, 0, half, end) if half else None


def _relative_time(words: _Words, at: int) -> _Found | None:
    """Half past seven in the evening, ten to eight am."""
    amount, behind = {"half": 30, "quarter": 15}.get(words[at], 0), at + 1
    if not amount:
        amount, behind = _small(words, at) or (0, at + 1)
        behind += words[behind] == "minutes"
    direction = words[behind]
    if not 0 < amount <= 30 or direction not in ("past", "to", "after") or (amount == 30 and direction == "to"):
        return None
    hour, behind = _small(words, behind + 1) or (99, behind)
    half, end = _half(words, behind)
    if not half:
        return None
    whole = _clock(hour, 0, half, end)
    if whole is None:
        return None
    minutes = (int(whole[0][:2]) * 60 + (amount if direction != "to" else -amount)) % 1440
    return f"{minutes // 60:02d}:{minutes % 60:02d}", end


def _half(words: _Words, at: int) -> tuple[str, int]:
    """The half of the day that stands here ("am", "pm", "night" or ""), and the index behind it."""
    if words[at] in ("am", "pm"):
        return words[at], at + 1
    if words[at] in ("a", "p") and words[at + 1] == "." and words[at + 2] == "m":
        return words[at] + "m", at + 3 + (words[at + 3] == "." and words.is_glued(at + 3))
    part = {("in", "the", "morning"): "am", ("in", "the", "afternoon"): "pm", ("in", "the", "evening"): "pm"}.get(
        (words[at], words[at + 1], words[at + 2]), ""
    )
    if part:
        return part, at + 3
    return ("night", at + 2) if (words[at], words[at + 1]) == ("at", "night") else ("", at)


def _clock(hour: int, minute: int, half: str, behind: int) -> _Found | None:
    if half == "night":
        half = "pm" if 6 <= hour < 12 else "am"
    if half and hour > 12 and not (half == "pm" and hour < 24):
        return None
    hour += 12 if half == "pm" and hour < 12 else -12 if half == "am" and hour == 12 else 0
    return (f"{hour:02d}:{minute:02d}", behind) if hour < 24 and minute < 60 else None


def _small(words: _Words, at: int) -> tuple[int, int] | None:
    """A whole number below a hundred, in figures or in words, and the index behind it."""
    text = words[at]
    if _is_figures(text):
        return (int(text), at + 1) if len(text) <= 2 else None
    if text in _TENS:
        unit_at = at + 1 + (words[at + 1] == "-")
        unit = _SMALL.get(words[unit_at], 0)
        return (_TENS[text] + unit, unit_at + 1) if 0 < unit < 10 else (_TENS[text], at + 1)
    return (_SMALL[text], at + 1) if text in _SMALL else None


def _number(words: _Words, at: int) -> _Found | None:
    """A number; of figures that are part of something else (a telephone number, `A320`) the value is empty."""
    if _is_figures(words[at]):
        return _figures(words, at)
    found = _small(words, at)
    if found is None:
        return None
    number, behind = found
    if words[behind] == "hundred":
        number, behind = number * 100, behind + 1
        rest = _small(words, behind + (words[behind] == "and"))
        if rest is not None and words[behind + (words[behind] == "and")].isalpha():
            number, behind = number + rest[0], rest[1]
    return _scaled(words, str(number), behind)


def _figures(words: _Words, at: int) -> _Found:
    behind = at + 1
    while words.is_glued(behind) and (
        _is_figures(words[behind]) or (words[behind] in _JOINERS and _is_figures(words[behind + 1]) and words.is_glued(behind + 1))
    ):
        behind += 1
    text = "".join(words[index] for index in range(at, behind))
    before = words[at - 1] if words.is_glued(at) else ""
    ordinal = words.is_glued(behind) and words[behind] in ("st", "nd", "rd", "th")
    if ordinal or before.isalnum() or before in ("/", "+", "_", "#", "@") or not _NUMBER.fullmatch(text):
        return "", behind
    if before == "-":
        if words.is_glued(at - 1) and words[at - 2].isalnum():
            return "", behind
        return plain_number("-" + text.replace(",", "")), behind
    return _scaled(words, plain_number(text.replace(",", "")), behind)


def _scaled(words: _Words, number: str, behind: int) -> _Found:
    scale = _SCALES.get(words[behind])
    if scale is None or len(number) > 12:
        return number, behind
    whole, _, decimals = number.partition(".")
    digits = len(str(scale)) - 1
    shifted = whole + decimals[:digits].ljust(digits, "0") + ("." + decimals[digits:] if decimals[digits:] else "")
    return plain_number(shifted), behind + 1


def plain_number(text: str) -> str:
    """A decimal number without zeros that say nothing.

    >>> plain_number("007.50"), plain_number("10"), plain_number("-0.0")
    ('7.5', '10', '0')
    """
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    digits = digits.lstrip("0")
    digits = "0" + digits if not digits or digits.startswith(".") else digits
    return digits if digits == "0" else sign + digits
