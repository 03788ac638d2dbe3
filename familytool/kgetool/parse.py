"""Reads the tool calls out of a text, without guessing: calls, or faults with a code and a place.

Legal spellings of calls are

- JSON in any shape of `call_shapes`, or several such objects one after the other with only space or a comma between them (JSON lines);
- Python call text as `python_calls` takes it: one call, several on lines or with commas, or a list;
- `<tool_call>{...}</tool_call>`, once or several times, with text around (Hermes);
- `Action: NAME`, `Action Input: {...}`, once or several times, with text around (MTU-Bench); `Action: None` is no call.

Legal wrappings of these are one fence of three backticks with text around it, or several fences with nothing between them.
Thinking in tags (think, thinking, thought, reasoning) is set aside: only what stands behind the last closing tag counts, and
thinking that is not closed is a text that is cut off. Everything else is a fault (text before or behind JSON that stands in no
fence, single quotes, comments, expressions), and a text with a fault has no calls: half an answer is none.

With `repair=True` what is plainly meant is read, too, and each repair is recorded (see `literals`). A text that is cut off, a key
that occurs twice, and a choice between two answers stay faults.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from .call_shapes import arguments_of
from .call_shapes import read_calls as calls_of_value
from .cursor import Remark
from .python_calls import Call, Known, Signatures, call_text, known_tools
from .reading import THINKING, Faulty, Reading, skip_space, whole_value
from .spellings import read_answer, starts_bare
from .strict_json import PARSE_ERROR, TRUNCATED, Json, TextError, check_depth, check_value, place

__all__ = ["Fault", "Parsed", "TextError", "call_text", "calls_of", "parse_arguments", "parse_calls"]

MAX_CHARACTERS = 2_000_000
"""A longer text is a fault; no model's answer is so long."""

MAX_SENTENCES = 100
"""So many repairs and notes are told one by one, the others are counted."""


@dataclass(frozen=True)
class Fault:
    """Why a text is no answer: `code` is parse_error, duplicate_key or truncated; `at` is the index in the text (in a value: 0)."""

    code: str
    message: str
    at: int


@dataclass(frozen=True)
class Parsed:
    """What a text says: `calls` of `{"name", "arguments"}`, or `faults` and no calls.

    `spelling` is json, json_lines, call_text, hermes, actions, or value (from `calls_of`); of texts with a fault also fence,
    unknown (signs of a call in no spelling read here), empty, too_long, and prose: words without any sign of a call, which a
    caller may take for an abstention. `notes` tell legal readings that are not in so many words there (a positional argument,
    text set aside), `repairs` those that are not legal; `thinking` is the text that was set aside as such.
    """

    calls: tuple[Call, ...] = ()
    faults: tuple[Fault, ...] = ()
    repairs: tuple[str, ...] = ()
    spelling: str = ""
    notes: tuple[str, ...] = ()
    thinking: str = ""


def parse_calls(text: str, signatures: Signatures | None = None, repair: bool = False) -> Parsed:
    """Return the calls of a text, or its faults (the module says what is legal).

    Args:
        text: what a model or a data set wrote.
        signatures: names of tools -> names of their parameters in order; positional arguments of call text take their names from
            there, and names that are none of Python are read only if they stand there.
        repair: read what is plainly meant, too, and record it.

    >>> parse_calls('<think>hm</think>```json\\n{"name": "f", "arguments": {"a": 1}}\\n```').calls
    ({'name': 'f', 'arguments': {'a': 1}},)
    >>> [fault.code for fault in parse_calls('{"name": "f", "argum', repair=True).faults]
    ['truncated']
    """
    if len(text) > MAX_CHARACTERS:
        fault = Fault(PARSE_ERROR, f"{len(text):,} characters are too many (limit {MAX_CHARACTERS:,})", MAX_CHARACTERS)
        return Parsed(faults=(fault,), spelling="too_long")
    start = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    if not text[start:].strip():
        return Parsed(faults=(Fault(PARSE_ERROR, "the text is empty", 0),), spelling="empty")
    known = known_tools(signatures)
    thinking = _thinking(text, start)
    # A tag can also stand in a text of the answer. So the answer starts earlier, if it can be read from there with no tag beside it.
    earlier = [_attempt(Reading(text, at, known)) for at in thinking.maybe]
    bare = [other for at, other in zip(thinking.maybe, earlier, strict=True) if starts_bare(text, skip_space(text, at), known)]
    whole = [other for other in earlier if not other.faults] + [other for other in bare if _is_cut_off(other)]
    if whole:
        return whole[0]
    if thinking.unclosed is not None:
        message = f"the text is cut off: the thinking that starts at {place(text, thinking.unclosed)} is not closed"
        parsed = Parsed(faults=(Fault(TRUNCATED, message, len(text)),), spelling="empty", thinking=text.strip())
    else:
        parsed = _attempt(Reading(text, thinking.answer, known))
    if parsed.faults and any(map(_is_cut_off, earlier)):
        return parsed if _is_cut_off(parsed) else next(filter(_is_cut_off, earlier))
    if parsed.faults and not _is_cut_off(parsed):
        parsed = _repaired(text, parsed, thinking.answer, known, repair)
    for at, other in zip(thinking.maybe, earlier, strict=True):
        if parsed.faults and other in bare:
            repaired = _repaired(text, other, at, known, repair)
            parsed = parsed if repaired.faults else repaired
    return parsed


def _is_cut_off(parsed: Parsed) -> bool:
    return any(fault.code == TRUNCATED for fault in parsed.faults)


@dataclass(frozen=True)
class _Thinking:
    """Where the answer starts, behind all thinking; where it may start earlier; and where thinking starts that is not closed."""

    answer: int
    maybe: tuple[int, ...] = ()
    unclosed: int | None = None


def _thinking(text: str, start: int) -> _Thinking:
    tags = list(THINKING.finditer(text, start))
    ends = [tag.end() for tag in tags if tag[1]]
    if not tags or (not ends and text[start] in "{["):
        return _Thinking(start)  # a tag that is only opened behind the start of JSON is one of its texts, or surplus
    answer = ends[-1] if ends else start
    unclosed = next((tag.start() for tag in tags if not tag[1] and tag.start() >= answer), None)
    leading, begins = start, None
    for tag in tags:
        if begins is None and not tag[1] and skip_space(text, leading) == tag.start():
            begins = tag.start()
        elif begins is not None and tag[1]:
            leading, begins = tag.end(), None
        elif begins is None:
            break
    maybe = ([start] if tags[0].start() > start else []) + ([leading] if start < leading < answer else [])
    maybe += [answer] if unclosed is not None else []
    return _Thinking(answer, tuple(maybe), unclosed)


def _repaired(text: str, strict: Parsed, start: int, known: Known, repair: bool) -> Parsed:
    """The loose reading of a text that failed strictly: repaired if asked, and else only telling whether the text is cut off."""
    if strict.spelling in ("prose", "unknown", "empty") or any(fault.code != PARSE_ERROR for fault in strict.faults):
        return strict
    loose = _attempt(Reading(text, start, known, loose=True))
    if repair and loose.repairs and not loose.faults:
        return loose
    return replace(strict, faults=strict.faults + tuple(fault for fault in loose.faults if fault.code == TRUNCATED))


def _attempt(reading: Reading) -> Parsed:
    text, thinking = reading.text, reading.text[: reading.start].strip()
    errors: list[TextError] = []
    try:
        calls = read_answer(reading)
    except TextError as error:
        errors = [error]
    except Faulty as faulty:
        errors = faulty.errors
    else:
        return Parsed(tuple(calls), (), _told(reading.repairs, text), reading.spelling, _told(reading.notes, text), thinking)
    return Parsed(faults=tuple(Fault(error.code, str(error), error.at) for error in errors), spelling=reading.spelling, thinking=thinking)


def _told(remarks: list[Remark], text: str) -> tuple[str, ...]:
    told = [f"{sentence}, {place(text, at)}" for at, sentence in remarks[:MAX_SENTENCES]]
    n_more = len(remarks) - len(told)
    return (*told, f"and {n_more} more") if n_more else tuple(told)


_NO_TOOLS = known_tools(None)


def calls_of(value: Json) -> Parsed:
    """Return the calls of a decoded JSON value in any shape of `call_shapes`; arguments that are a text are decoded once.

    >>> calls_of({"type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}).calls
    ({'name': 'f', 'arguments': {'a': 1}},)
    """
    notes: list[str] = []
    try:
        check_depth(value)
        check_value(value)
        calls = calls_of_value(value, lambda text: whole_value(text, _NO_TOOLS), notes)
    except TextError as error:
        return Parsed(faults=(Fault(error.code, str(error), 0),), spelling="value")
    return Parsed(calls=tuple(calls), spelling="value", notes=tuple(notes[:MAX_SENTENCES]))


def parse_arguments(value: Any, repairs: list[str] | None = None) -> dict[str, Json]:
    """Return the arguments of a call, from an object or from its JSON text, which is decoded once.

    Args:
        value: an object, or a text of one.
        repairs: if given, what is plainly meant is read too, and a sentence for each repair is appended.

    Raises:
        TextError: with a `code` (parse_error, duplicate_key, truncated) and `at`, the index in the text.

    >>> parse_arguments('{"a": 1}'), parse_arguments({"a": 1})
    ({'a': 1}, {'a': 1})
    """
    if not isinstance(value, str):
        check_depth(value)
        check_value(value)
    try:
        return arguments_of(value, lambda text: whole_value(text, _NO_TOOLS))
    except TextError as error:
        if repairs is None or not isinstance(value, str) or error.code != PARSE_ERROR:
            raise
        remarks: list[Remark] = []
        try:
            arguments = arguments_of(value, lambda text: whole_value(text, _NO_TOOLS, remarks))
        except TextError:
            raise error from None
        repairs += _told(remarks, value)
        return arguments
