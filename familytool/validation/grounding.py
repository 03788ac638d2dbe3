"""Where a text states a value: dates, times and numbers in figures and in words, and names as whole words.

This room reads text by itself; the words that generation writes with are not consulted.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

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
_NUMBERS = re.compile(r"(?<![\w.,:+^/-])[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?![\w:]|\.[0-9]|[/-][0-9])")
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

    patterns = _patterns_for(text)
    if "@" in text:
        for m in _EMAILS.finditer(text):
            if free(m.start(), m.end()):
                found.append(Stated("email", m.start(), m.end(), m.group().rstrip(".").lower()))
    for pattern in _DATES:
        for m in pattern.finditer(text) if pattern in patterns else ():
            value = _date(m.groupdict())
            if value and free(m.start(), m.end()):
                found.append(Stated("date", m.start(), m.end(), value, bool(m["y"])))
    for pattern in _TIMES:
        for m in pattern.finditer(text) if pattern in patterns else ():
            value = _time(m.groupdict())
            if value and free(m.start(), m.end()):
                found.append(Stated("time", m.start(), m.end(), value, bool(m["half"]) or int(value[:2]) > 12 or ":" in m.group()))
    for m in _NUMBERS.finditer(text) if _NUMBERS in patterns else ():
        if free(m.start(), m.end()):
            found.append(_scaled(text, m.start(), m.end(), _plain(m.group().replace(",", ""))))
    for m in _NUMBER_WORDS.finditer(text) if _NUMBER_WORDS in patterns else ():
        if free(m.start(), m.end()):
            number = _TENS[m["tens"].lower()] + _UNITS[(m["unit"] or "zero").lower()] if m["tens"] else _UNITS[m["only"].lower()]
            found.append(_scaled(text, m.start(), m.end(), str(number)))
    return tuple(sorted(found, key=lambda s: s.start))


def _patterns_for(text: str) -> set[re.Pattern[str]]:
    """The patterns that a text can match at all, by the words that each of them needs: most texts need few."""
    words = set(_PLAIN_WORD.findall(text.lower()))
    has_digit = _DIGIT.search(text) is not None
    wanted: set[re.Pattern[str]] = set()
    if has_digit:
        wanted.add(_NUMBERS)
        wanted.update(_DATES[:1] if "-" in text else ())
        wanted.update(_TIMES[:1] if ":" in text else ())
        wanted.update(_TIMES[1:2] if words & _HALF_WORDS else ())
    if words & _MONTH_NAMES:
        wanted.update(_DATES[1:3] if has_digit else ())
        wanted.update(_DATES[3:] if "of" in words else ())
    wanted.update(_TIMES[2:3] if words & {"past", "quarter"} else ())
    wanted.update(_TIMES[3:] if "clock" in words else ())
    if words & _NUMBER_NAMES:
        wanted.add(_NUMBER_WORDS)
    return wanted


def _scaled(text: str, start: int, end: int, value: str) -> Stated:
    """A stated number, with the "hundred" or "million" that follows it."""
    scale = _SCALE.match(text, end)
    if scale is None:
        return Stated("number", start, end, value)
    whole, _, decimals = value.partition(".")
    factor = _SCALES[scale[1].lower()]
    digits = len(str(factor)) - 1
    scaled = whole + decimals[:digits].ljust(digits, "0") + ("." + decimals[digits:] if decimals[digits:] else "")
    return Stated("number", start, scale.end(), _plain(scaled))


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


def is_stated(value: Json, text: str, stated: list[Stated], inflected: bool = False) -> tuple[int, int] | None:
    """The span in which a text states this value, or None; texts match as whole words, case and Unicode form aside.

    With `inflected` a plural is stated by its singular and the other way round ("dentist" by "dentists").
    """
    if isinstance(value, bool) or value is None:
        return None
    wanted = str(value)
    if isinstance(value, int | float):
        wanted = _plain(repr(value))
    as_number = _plain(wanted) if _A_NUMBER.fullmatch(wanted) else wanted
    for item in stated:
        if item.value == wanted or (item.kind == "number" and item.value == as_number) or _is_percentage(item, as_number, text):
            return item.start, item.end
    span = find_words(wanted, text)
    if (
        span is not None
        and _A_NUMBER.fullmatch(wanted)
        and any(i.kind != "number" and i.start < span[1] and span[0] < i.end for i in stated)
    ):
        span = None  # "2025" is not stated by a date of that year
    if span is None and inflected and len(wanted) > 3 and wanted[-1].isalpha():
        forms = [
            wanted + "s",
            wanted + "es",
            *([wanted[:-1]] if wanted.endswith("s") else []),
            *([wanted[:-2]] if wanted.endswith("es") else []),
        ]
        span = next((found for found in (find_words(form, text) for form in forms) if found), None)
    if span is not None or len(wanted) > 60:
        return span
    inner = _stated(wanted)
    if len(inner) == 1 and inner[0].kind in ("date", "time") and len(wanted) - (inner[0].end - inner[0].start) < 12:
        for item in stated:
            if item.kind == inner[0].kind and item.value == inner[0].value:
                return item.start, item.end
    return None


_A_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def _is_percentage(item: Stated, wanted: str, text: str) -> bool:
    """Whether a stated "5 %" is the wanted 0.05."""
    return (
        item.kind == "number"
        and wanted.startswith("0.")
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


def find_words(wanted: str, text: str) -> tuple[int, int] | None:
    """The span in which a text holds this one as whole words, or None; case, Unicode form, hyphens and underscores aside."""
    fold = _folded if wanted[:1] in "-_" else _spaced
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
