"""Where a text states a value: dates, times and numbers in figures and in words, and names as whole words.

This room reads text by itself; the words that generation writes with are not consulted.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from dataclasses import dataclass

from familytool.model import Json

_MONTHS = {
    name: i
    for i, name in enumerate(
        ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"], 1
    )
}
_MONTHS.update({name[:3]: number for name, number in list(_MONTHS.items())} | {"sept": 9})
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
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
_ORDINAL = "|".join(sorted(_ORDINALS, key=len, reverse=True))
_WORDS = "|".join([*_UNITS, *_TENS])

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
_NUMBERS = re.compile(r"(?<![\w.,:+-])[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?![\w:]|\.[0-9])")
_NUMBER_WORDS = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})(?:[ -](?P<unit>{'|'.join(list(_UNITS)[1:10])}))?|(?P<only>{'|'.join(_UNITS)}))\b", re.I
)
_EMAILS = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}")


@dataclass(frozen=True)
class Stated:
    """Something a text states: its kind, character span, and its value in a normal form (ISO date, HH:MM, number, address)."""

    kind: str
    start: int
    end: int
    value: str
    complete: bool = True


def stated_values(text: str) -> list[Stated]:
    """All dates, times, numbers and e-mail addresses of a text; each character belongs to the first kind that claims it.

    >>> [(s.kind, s.value) for s in stated_values("two seats on the third of June 2025 at half past seven in the evening")]
    [('number', '2'), ('date', '2025-06-03'), ('time', '19:30')]
    """
    found: list[Stated] = []

    def free(start: int, end: int) -> bool:
        return not any(s.start < end and start < s.end for s in found)

    for m in _EMAILS.finditer(text):
        found.append(Stated("email", m.start(), m.end(), m.group().rstrip(".").lower()))
    for pattern in _DATES:
        for m in pattern.finditer(text):
            value = _date(m.groupdict())
            if value and free(m.start(), m.end()):
                found.append(Stated("date", m.start(), m.end(), value, bool(m["y"])))
    for pattern in _TIMES:
        for m in pattern.finditer(text):
            value = _time(m.groupdict())
            if value and free(m.start(), m.end()):
                found.append(Stated("time", m.start(), m.end(), value, bool(m["half"]) or int(value[:2]) > 12 or ":" in m.group()))
    for m in _NUMBERS.finditer(text):
        if free(m.start(), m.end()):
            found.append(Stated("number", m.start(), m.end(), _plain(m.group().replace(",", ""))))
    for m in _NUMBER_WORDS.finditer(text):
        if free(m.start(), m.end()):
            number = _TENS[m["tens"].lower()] + _UNITS[(m["unit"] or "zero").lower()] if m["tens"] else _UNITS[m["only"].lower()]
            found.append(Stated("number", m.start(), m.end(), str(number)))
    return sorted(found, key=lambda s: s.start)


def _date(part: dict[str, str | None]) -> str:
    month = int(part["m"] or 0) if part.get("m") else _MONTHS[(part["n"] or "").lower()]
    day = _ORDINALS[part["o"].lower()] if part.get("o") else int(part["d"] or 0)  # type: ignore[union-attr]
    year = int(part["y"]) if part.get("y") else 2000  # type: ignore[arg-type]
    try:
        iso = datetime.date(year, month, day).isoformat()
    except ValueError:
        return ""
    return iso if part.get("y") else iso[4:]


def _time(part: dict[str, str | None]) -> str:
    word = part.get("w")
    hour = int(word) if word and word.isdigit() else (_UNITS.get(word.lower(), 99) if word else int(part.get("h") or 99))
    minute = int(part.get("min") or 0)
    relation = (part.get("rel") or "").lower()
    minute = {"half past": 30, "quarter past": 15, "quarter to": 45}.get(relation, minute)
    if relation == "quarter to":
        hour -= 1
    half = (part.get("half") or "").lower().replace(".", "")
    if half in ("pm", "in the afternoon", "in the evening", "at night") and hour < 12:
        hour += 12
    elif half in ("am", "in the morning") and hour == 12:
        hour = 0
    return f"{hour:02d}:{minute:02d}" if 0 <= hour < 24 and minute < 60 else ""


def _plain(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number else (number.lstrip("0") or "0")


def is_stated(value: Json, text: str, stated: list[Stated]) -> tuple[int, int] | None:
    """The span in which a text states this value, or None; texts match as whole words, case and Unicode form aside."""
    if isinstance(value, bool) or value is None:
        return None
    wanted = str(value)
    if isinstance(value, int | float):
        wanted = _plain(repr(value))
    for item in stated:
        if item.value == wanted or (item.kind == "number" and item.value == _plain_or(wanted)):
            return item.start, item.end
    span = _find_words(wanted, text)
    if span is not None:
        return span
    inner = stated_values(wanted)
    if len(inner) == 1 and inner[0].kind in ("date", "time") and len(wanted) - (inner[0].end - inner[0].start) < 12:
        for item in stated:
            if item.kind == inner[0].kind and item.value == inner[0].value:
                return item.start, item.end
    return None


def _plain_or(text: str) -> str:
    return _plain(text) if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) else text


def _find_words(wanted: str, text: str) -> tuple[int, int] | None:
    needle = unicodedata.normalize("NFC", wanted).casefold().replace("’", "'")
    hay = unicodedata.normalize("NFC", text).casefold().replace("’", "'")
    at = hay.find(needle) if needle else -1
    while at >= 0:
        end = at + len(needle)
        before, after = hay[at - 1 : at], hay[end : end + 1]
        if not (before.isalnum() and needle[0].isalnum()) and not (after.isalnum() and needle[-1].isalnum()):
            return at, end
        at = hay.find(needle, at + 1)
    return None


def words_said(value: str, text: str) -> bool:
    """Whether each word of an enum item occurs in the text, by its first five letters."""
    words = re.findall(r"[a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", value).lower())
    return bool(words) and all(word[:5] in text.lower() for word in words if len(word) > 2)
