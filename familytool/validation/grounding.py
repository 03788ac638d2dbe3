"""Where a text states a value: dates, times and numbers in figures and in words, and names as whole words.

This room reads text by itself; the words that generation writes with are not consulted.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

from familytool.model import Json

_MONTHS = {
    name: i
    for i, name in enumerate(
        ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"], 1
    )
}
_MONTHS.update({name[:3]: number for name, number in list(_MONTHS.items())} | {"sept": 9})


def _one_of(words: Iterable[str]) -> str:
    """A pattern for these words, the first that fits; the look at the first letter spares most places of a text the whole list."""
    listed = list(words)
    return f"(?=[{''.join(sorted({word[0] for word in listed}))}])(?:{'|'.join(listed)})"


_MONTH = _one_of(sorted(_MONTHS, key=len, reverse=True))
_UNITS = {
    w: i
    for i, w in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
_TENS = {w: 10 * i for i, w in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)}
_ORDINALS = {
    w: i
    for i, w in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
            "thirteenth",
            "fourteenth",
            "fifteenth",
            "sixteenth",
            "seventeenth",
            "eighteenth",
            "nineteenth",
            "twentieth",
        ],
        1,
    )
}
_ORDINALS |= {f"twenty-{w}": 20 + i for w, i in list(_ORDINALS.items())[:9]} | {"thirtieth": 30, "thirty-first": 31}
_ORDINAL = _one_of(sorted(_ORDINALS, key=len, reverse=True))
_WORDS = _one_of([*_UNITS, *_TENS])

_DATES = (
    re.compile(r"\b(?P<y>[0-9]{4})-(?P<m>[0-9]{1,2})-(?P<d>[0-9]{1,2})\b"),
    re.compile(rf"\b(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<n>{_MONTH})\b(?:,? (?P<y>[0-9]{{4}})\b)?", re.I),
    re.compile(rf"\b(?P<n>{_MONTH}) (?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<y>[0-9]{{4}})\b)?", re.I),
    re.compile(rf"\b(?P<o>{_ORDINAL}) of (?P<n>{_MONTH})\b(?:,? (?P<y>[0-9]{{4}})\b)?", re.I),
)
_HALF = r"(?P<half>a\.?m\b\.?|p\.?m\b\.?|in the morning|in the afternoon|in the evening|at night)"
_TIMES = (
    re.compile(rf"\b(?P<h>[0-9]{{1,2}}):(?P<min>[0-9]{{2}})\b(?: ?{_HALF})?", re.I),
    re.compile(rf"\b(?P<h>[0-9]{{1,2}}) ?{_HALF}", re.I),
    re.compile(rf"\b(?P<rel>half past|quarter past|quarter to) (?P<w>{_WORDS}|[0-9]{{1,2}})\b(?: {_HALF})?", re.I),
    re.compile(rf"\b(?P<w>{_WORDS}|[0-9]{{1,2}}) o'clock\b(?: {_HALF})?", re.I),
)
_NUMBERS = re.compile(r"(?<![\w.,:+^/-])[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?![\w:]|\.[0-9]|[/-][0-9])")
_NUMBER_WORDS = re.compile(
    rf"\b(?:(?P<tens>{_one_of(_TENS)})(?:[ -](?P<unit>{_one_of(list(_UNITS)[1:10])}))?|(?P<only>{_one_of(_UNITS)}))\b", re.I
)
_EMAILS = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}")


class Stated(NamedTuple):
    """Something a text states: its kind, character span, and its value in a normal form (ISO date, HH:MM, number, address)."""

    kind: str
    start: int
    end: int
    value: str
    complete: bool = True


_DIGIT = re.compile("[0-9]")
_PLAIN_WORD = re.compile(r"[a-z]+")
_SCALE = re.compile(r"[ -](hundred|thousand|million|billion)\b", re.I)
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_NUMBER_NAMES = frozenset(_UNITS) | frozenset(_TENS)
_MONTH_NAMES = frozenset(_MONTHS)
_HALF_WORDS = frozenset({"am", "pm", "a", "p", "morning", "afternoon", "evening", "night"})
MAX_TEXT = 100_000
"""Characters of a text that are read for values."""


def stated_values(text: str) -> list[Stated]:
    """All dates, times, numbers and e-mail addresses of a text; each character belongs to the first kind that claims it.

    >>> [(s.kind, s.value) for s in stated_values("two seats on the third of June 2025 at half past seven in the evening")]
    [('number', '2'), ('date', '2025-06-03'), ('time', '19:30')]
    """
    return list(_stated(text[:MAX_TEXT]))


@lru_cache(maxsize=4096)
def _stated(text: str) -> tuple[Stated, ...]:
    found: list[Stated] = []
    claimed = bytearray(len(text))

    def free(start: int, end: int) -> bool:
        """Whether nothing has claimed these characters; they are claimed then."""
        if claimed.find(1, start, end) >= 0:
            return False
        claimed[start:end] = b"\1" * (end - start)
        return True

    dates, times, has_digit, has_number_word = _to_be_tried(text)
    if "@" in text:
        for m in _EMAILS.finditer(text):
            if free(m.start(), m.end()):
                found.append(Stated("email", m.start(), m.end(), m.group().rstrip(".").lower()))
    for pattern in dates:
        for m in pattern.finditer(text):
            value = _date(m.groupdict())
            if value and free(m.start(), m.end()):
                found.append(Stated("date", m.start(), m.end(), value, bool(m["y"])))
    for pattern in times:
        for m in pattern.finditer(text):
            value = _time(m.groupdict())
            if value and free(m.start(), m.end()):
                found.append(Stated("time", m.start(), m.end(), value, bool(m["half"]) or int(value[:2]) > 12 or ":" in m.group()))
    for m in _NUMBERS.finditer(text) if has_digit else ():
        if free(m.start(), m.end()):
            found.append(_scaled(text, m.start(), m.end(), _plain(m.group().replace(",", ""))))
    for m in _NUMBER_WORDS.finditer(text) if has_number_word else ():
        if free(m.start(), m.end()):
            number = _TENS[_lower(m["tens"])] + _UNITS[_lower(m["unit"] or "zero")] if m["tens"] else _UNITS[_lower(m["only"])]
            found.append(_scaled(text, m.start(), m.end(), str(number)))
    return tuple(sorted(found, key=lambda s: s.start))


def _to_be_tried(text: str) -> tuple[list[re.Pattern[str]], list[re.Pattern[str]], bool, bool]:
    """The patterns of dates and of times that a text can match at all, by the words that each of them needs, and whether it has a
    digit and a word for a number: most texts need few."""
    words = set(_PLAIN_WORD.findall(text.lower()))
    has_digit = _DIGIT.search(text) is not None
    has_month = not words.isdisjoint(_MONTH_NAMES)
    needed_by_dates = (has_digit and "-" in text, has_month and has_digit, has_month and has_digit, has_month and "of" in words)
    needed_by_times = (
        has_digit and ":" in text,
        has_digit and not words.isdisjoint(_HALF_WORDS),
        "past" in words or "quarter" in words,
        "clock" in words,
    )
    return [*compress(_DATES, needed_by_dates)], [*compress(_TIMES, needed_by_times)], has_digit, not words.isdisjoint(_NUMBER_NAMES)


_LETTERS = str.maketrans("ſıİ\N{KELVIN SIGN}", "siik")


def _lower(word: str) -> str:
    """A word in plain lower-case letters: a pattern that ignores case takes a long s for an s, and an i without or with its dot for an i."""
    return word.translate(_LETTERS).lower()


def _scaled(text: str, start: int, end: int, value: str) -> Stated:
    """A stated number, with the "hundred" or "million" that follows it."""
    scale = _SCALE.match(text, end)
    if scale is None:
        return Stated("number", start, end, value)
    whole, _, decimals = value.partition(".")
    factor = _SCALES[_lower(scale[1])]
    digits = len(str(factor)) - 1
    scaled = whole + decimals[:digits].ljust(digits, "0") + ("." + decimals[digits:] if decimals[digits:] else "")
    return Stated("number", start, scale.end(), _plain(scaled))


def _date(part: dict[str, str | None]) -> str:
    month = int(part["m"] or 0) if part.get("m") else _MONTHS[_lower(part["n"] or "")]
    day = _ORDINALS[_lower(part["o"] or "")] if part.get("o") else int(part["d"] or 0)
    year = int(part["y"]) if part.get("y") else 2000  # type: ignore[arg-type]
    try:
        iso = datetime.date(year, month, day).isoformat()
    except ValueError:
        return ""
    return iso if part.get("y") else iso[4:]


def _time(part: dict[str, str | None]) -> str:
    word = part.get("w")
    hour = int(word) if word and word.isdigit() else (_UNITS.get(_lower(word), 99) if word else int(part.get("h") or 99))
    minute = int(part.get("min") or 0)
    relation = _lower(part.get("rel") or "")
    minute = {"half past": 30, "quarter past": 15, "quarter to": 45}.get(relation, minute)
    if relation == "quarter to":
        hour -= 1
    half = _lower(part.get("half") or "").replace(".", "")
    if half in ("pm", "in the afternoon", "in the evening", "at night") and hour < 12:
        hour += 12
    elif half in ("am", "in the morning") and hour == 12:
        hour = 0
    return f"{hour:02d}:{minute:02d}" if 0 <= hour < 24 and minute < 60 else ""


def _plain(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number else (number.lstrip("0") or "0")


def is_stated(value: Json, text: str, stated: list[Stated], inflected: bool = False) -> tuple[int, int] | None:
    """The span in which a text states this value, or None; texts match as whole words, case and Unicode form aside.

    With `inflected` a plural is stated by its singular and the other way round ("dentist" by "dentists").
    """
    if isinstance(value, bool) or value is None:
        return None
    wanted = str(value)
    if isinstance(value, int | float):
        wanted = _plain(repr(value))
    is_number = _A_NUMBER.fullmatch(wanted) is not None
    as_number = _plain(wanted) if is_number else wanted
    may_be_share = as_number.startswith("0.")
    for item in stated:
        if item.value == wanted or (item.kind == "number" and item.value == as_number):
            return item.start, item.end
        if may_be_share and _is_percentage(item, as_number, text):
            return item.start, item.end
    span = find_words(wanted, text)
    if span is not None and is_number and any(i.kind != "number" and i.start < span[1] and span[0] < i.end for i in stated):
        span = None  # "2025" is not stated by a date of that year
    if span is None and inflected and len(wanted) > 3 and wanted[-1].isalpha():
        span = _find_inflected(wanted, text)
    if span is not None or len(wanted) > 60:
        return span
    inner = _stated(wanted)
    if len(inner) == 1 and inner[0].kind in ("date", "time") and len(wanted) - (inner[0].end - inner[0].start) < 12:
        for item in stated:
            if item.kind == inner[0].kind and item.value == inner[0].value:
                return item.start, item.end
    return None


_A_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def _find_inflected(wanted: str, text: str) -> tuple[int, int] | None:
    """The span of the plural of a word, or of its singular."""
    stem = wanted[:-2] if wanted.endswith("es") else wanted.removesuffix("s")
    fold = _folding_of(wanted)
    if fold(stem) not in fold(text):  # mostly so, and then no form of it is there
        return None
    forms = [wanted + "s", wanted + "es", *([wanted[:-1]] if wanted.endswith("s") else []), *([stem] if wanted.endswith("es") else [])]
    return next((found for found in (find_words(form, text) for form in forms) if found), None)


def _is_percentage(item: Stated, wanted: str, text: str) -> bool:
    """Whether a stated "5 %" is the wanted "0.05"."""
    return (
        item.kind == "number"
        and text[item.end : item.end + 8].lstrip().startswith(("%", "percent"))
        and _plain(f"{float(item.value) / 100:.6f}") == wanted
    )


@lru_cache(maxsize=512)
def _folded(text: str) -> str:
    """A text for comparison: case and Unicode form aside."""
    return unicodedata.normalize("NFC", text).casefold().replace("’", "'")


@lru_cache(maxsize=512)
def _spaced(text: str) -> str:
    """The same with underscores and hyphens as spaces, so that `current_location` is said by "current location"."""
    return _folded(text).replace("_", " ").replace("-", " ")


def word_set(words: str) -> frozenset[str]:
    """The words of a line, for tables that are read as lines."""
    return frozenset(words.split())


def _folding_of(wanted: str) -> Callable[[str], str]:
    """How a text is folded in which this one is looked for: where it begins with a hyphen or underscore, these stay what they are."""
    return _folded if wanted[:1] in "-_" else _spaced


def find_words(wanted: str, text: str) -> tuple[int, int] | None:
    """The span in which a text holds this one as whole words, or None; case, Unicode form, hyphens and underscores aside."""
    fold = _folding_of(wanted)
    needle, hay = fold(wanted), fold(text)
    at = hay.find(needle) if needle else -1
    while at >= 0:
        end = at + len(needle)
        before, after = hay[at - 1 : at], hay[end : end + 1]
        if not (before.isalnum() and needle[0].isalnum()) and not (after.isalnum() and needle[-1].isalnum()):
            return at, end
        at = hay.find(needle, at + 1)
    return None


def says(value: str, text: str) -> bool:
    """Whether a text holds this value as whole words."""
    return find_words(value, text) is not None


def words_said(value: str, text: str) -> bool:
    """Whether each word of an enum item occurs in the text, by its first five letters."""
    words = re.findall(r"[a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", value).lower())
    telling = [word for word in words if len(word) > 2]
    return all(word[:5] in text.lower() for word in telling) if telling else says(value, text)
