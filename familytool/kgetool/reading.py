"""One attempt at reading an answer: its place in the text, what is remarked on the way, and the JSON values in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from .call_shapes import read_calls as calls_of_value
from .cursor import Cursor, Remark
from .json_flaws import flaws, is_suspect
from .literals import read_value
from .python_calls import Call, Known
from .strict_json import PARSE_ERROR, Json, TextError, decode, place, shown

MAX_FAULTS = 100

_SPACE = re.compile(r"[ \t\r\n]*+")


THINKING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
"""A tag of thinking, opening or closing."""


class Faulty(Exception):
    """Several faults at once."""

    def __init__(self, errors: list[TextError]) -> None:
        super().__init__()
        self.errors = errors


@dataclass
class Reading:
    """One attempt at the answer that starts at `start` and goes to the end of the text; `loose` repairs."""

    text: str
    start: int
    known: Known
    loose: bool = False
    spelling: str = ""
    notes: list[Remark] = field(default_factory=list)
    repairs: list[Remark] = field(default_factory=list)

    def error(self, message: str, at: int, code: str = PARSE_ERROR) -> TextError:
        """The error with its place."""
        return TextError(f"{message}, {place(self.text, at)}", code, at)

    def note_aside(self, at: int, *texts: str) -> None:
        """Note the texts around an answer that are not part of it (TextError if there is thinking in them)."""
        for aside in texts:
            if THINKING.search(aside):
                raise self.error("a tag of thinking stands beside the answer", at)
            if aside.strip():
                self.notes.append((at, f"text around the answer was set aside: {shown(aside.strip())}"))


def skip_space(text: str, at: int) -> int:
    """The index of the next character that JSON does not take for space."""
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


def json_value(reading: Reading, at: int) -> tuple[Json, int]:
    """The JSON value at `at` and the index behind it, with all its flaws as faults (loose: with repairs)."""
    text = reading.text
    if reading.loose:
        cursor = Cursor(text, at, loose=True, json=True, repairs=reading.repairs)
        return read_value(cursor, "]}"), cursor.at
    try:
        decoded = decode(text, at)
    except TextError as error:
        raise TextError(str(error) + _hint(text, error.at), error.code, error.at) from None
    if decoded.errors or is_suspect(text, at, decoded.end):
        found = list(flaws(text, at, decoded.end))
        if found:
            raise Faulty(found[:MAX_FAULTS])
    return decoded.value, decoded.end


_HINTS = (
    (re.compile(r"'"), "JSON has texts in double quotes"),
    (re.compile("[“”„‘’]"), "a typographic quote delimits no text"),
    (re.compile(r"True|False|None"), "JSON writes true, false and null"),
    (re.compile(r"[}\]]"), "is a comma before the closing bracket, or a bracket of another kind open?"),
    (re.compile(r"/[/*]|#"), "JSON has no comments"),
    (re.compile(r"[\n\r]"), "a line break in a text is written \\n"),
    (re.compile(r"\\"), "a backslash is written twice; a Windows path?"),
    (re.compile(r"[0-9]|[xX][0-9a-fA-F]"), "no number starts with 0, and none is hexadecimal"),
    (re.compile(r"[-+*/%]"), "an expression is not evaluated"),
    (re.compile(r"\w"), "a text or key stands in quotes, and a quotation mark in it is escaped"),
)


def _hint(text: str, at: int) -> str:
    """What is probably meant by the character at which JSON ends."""
    at -= at > 0 and text[at - 1] == "\\"  # where the decoder stops at an escape depends on the version of Python
    return next((f" ({hint})" for pattern, hint in _HINTS if pattern.match(text, at)), "")


def whole_value(text: str, known: Known, repairs: list[Remark] | None = None) -> Json:
    """The one JSON value of a text; with `repairs` what is plainly meant is read too, and recorded there.

    Raises:
        TextError: with what is wrong and where.
    """
    inner = Reading(text, 0, known, loose=repairs is not None)
    try:
        value, end = json_value(inner, skip_space(text, 0))
    except Faulty as faulty:
        raise faulty.errors[0] from None
    leave_out_rest(inner, skip_space(text, end), "the JSON value")
    if repairs is not None:
        repairs += inner.repairs
    return value


def argument_reader(reading: Reading, at: int) -> Callable[[str], Json]:
    """What reads arguments that are a text; repairs in there are told at the place of the call."""

    def decode_once(text: str) -> Json:
        repairs: list[Remark] = []
        value = whole_value(text, reading.known, repairs if reading.loose else None)
        reading.repairs += [(at, sentence) for _, sentence in repairs]
        return value

    return decode_once


def calls_of_json(reading: Reading, value: Json, at: int) -> list[Call]:
    """The calls of a JSON value that stands at `at` (TextError with that place if there are none)."""
    notes: list[str] = []
    try:
        calls = calls_of_value(value, argument_reader(reading, at), notes)
    except TextError as error:
        raise reading.error(str(error), at, error.code) from None
    reading.notes += [(at, note) for note in notes]
    return calls


def leave_out_rest(reading: Reading, at: int, what: str, brackets: str = "{}[]") -> None:
    """Text behind an answer is a fault; a repair leaves it out, unless it could be another answer, the rest of this one, or thinking.

    The rest of this one holds its true closing bracket: so it is where a quotation mark within a text was taken for its end.
    """
    rest = reading.text[at:]
    if not rest:
        return
    if not reading.loose or any(bracket in rest for bracket in brackets) or THINKING.search(rest):
        raise reading.error(f"there is more text after {what}: {shown(rest)}", at)
    reading.repairs.append((at, f"text behind {what} was left out: {shown(rest)}"))
