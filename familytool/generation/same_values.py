"""When two writings are of one value, and where a text states a value: exactly the same, or the same but for the way to write it."""

from __future__ import annotations

import re
import unicodedata

from familytool.generation.statements import TOKEN, plain_number, statements
from familytool.model import Json
from familytool.phrasing import WEEKDAYS

_PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,9})?")
_ASIDE = frozenset({day.lower() for day in WEEKDAYS} | {day[:3].lower() for day in WEEKDAYS} | {"the", "on", "at", ",", "."})


def number_in(value: Json) -> str | None:
    """The decimal number that a value is, as a number or as the text of one; None for all else ("0012" is a code, not a number).

    >>> number_in(3), number_in(3.0), number_in("3"), number_in("0012"), number_in(True)
    ('3', '3', '3', None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if not isinstance(value, str) and not abs(value) < 10**15:
        return None
    text = value if isinstance(value, str) else repr(value)
    return plain_number(text) if _PLAIN_NUMBER.fullmatch(text) else None


def moment_in(text: str) -> tuple[str, str] | None:
    """("date", ISO) or ("time", HH:MM) where a text is that and nothing else, however it is written.

    >>> moment_in("Tuesday, June 3rd, 2025"), moment_in("7:30 PM"), moment_in("on 3 June")
    (('date', '2025-06-03'), ('time', '19:30'), None)
    """
    if len(text) > 60:
        return None
    found = statements(text)
    if len(found) != 1 or found[0].kind == "number":
        return None
    rest = text[: found[0].start] + " " + text[found[0].end :]
    return (found[0].kind, found[0].value) if all(m[0].lower() in _ASIDE for m in TOKEN.finditer(rest)) else None


def find_words(wanted: str, text: str, *, exact_case: bool = False) -> tuple[int, int] | None:
    """The span in which a text holds this one as whole words, or None; case and the form of apostrophes aside.

    >>> find_words("new york", "to New York, please"), find_words("York", "Yorkshire")
    ((3, 11), None)
    """
    needle, hay = (wanted, text) if exact_case else (_folded(wanted), _folded(text))
    at = hay.find(needle) if needle.strip() else -1
    while at >= 0:
        end = at + len(needle)
        if not (needle[0].isalnum() and hay[at - 1 : at].isalnum()) and not (needle[-1].isalnum() and hay[end : end + 1].isalnum()):
            return at, end
        at = hay.find(needle, at + 1)
    return None


def _folded(text: str) -> str:
    """A text in lower case, of the same length, so that places in it are places in the text."""
    return "".join(lower if len(lower := character.lower()) == 1 else character for character in text.replace("’", "'"))


def stated_span(value: Json, text: str) -> tuple[int, int] | None:
    """Where a text states a value: in so many words, as the same number, or as the same date or time; None if it does not.

    >>> stated_span(3, "a table for three"), stated_span("2025-06-03", "on June 3, 2025"), stated_span(20, "in 2025")
    ((12, 17), (3, 15), None)
    """
    number = number_in(value)
    if number is not None:
        return next(((s.start, s.end) for s in statements(text) if s.kind == "number" and s.value == number), None)
    if not isinstance(value, str):
        return None
    span = find_words(value, text)
    if span is not None:
        return span
    moment = moment_in(value)
    return next(((s.start, s.end) for s in statements(text) if (s.kind, s.value) == moment), None)


def bare(text: str) -> str:
    """The letters and digits of a text, without case, marks, spaces and signs: equal for values that differ in their writing alone.

    >>> bare("Café del Mar") == bare("cafe-del mar"), bare("+44 20 7946") == bare("44207946")
    (True, True)
    """
    return "".join(character for character in unicodedata.normalize("NFKD", text).casefold() if character.isalnum())
