"""The spellings in which a text can hold tool calls: JSON, Python call text, fences, Hermes tags, MTU-Bench's actions.

`read_answer` finds out which one it is by what the text starts with, or else by the first marker in it, and reads it. Each reader
raises `TextError` (or `Faulty`, for several) at what is not legal; a loose reading repairs what it can and records it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .call_shapes import arguments_of
from .cursor import Cursor
from .python_calls import Call, Known, known_name, read_calls, starts_call
from .reading import Reading, argument_reader, calls_of_json, json_value, leave_out_rest, skip_space
from .strict_json import PARSE_ERROR, TRUNCATED, Json, TextError, shown

MAX_FENCES = 32

_FENCE = re.compile(r"[ \t]*+```[`]*+")
_FENCE_LINE = re.compile(f"^{_FENCE.pattern}", re.MULTILINE)
_FENCE_END = re.compile(r"^[ \t]*+```[`]*+|```[`]*+(?=[ \t]*+$)", re.MULTILINE)
_FENCE_INFO = re.compile(r"[\w+-]*+[ \t]*+(?:\r?\n|(?=[\[{]))")
_ACTION = re.compile(r"[ \t]*+Action[ \t]*+:")
_ACTION_LINE = re.compile(f"^{_ACTION.pattern}", re.MULTILINE)
_ACTION_INPUT = re.compile(r"[ \t\r\n,]*+Action Input[ \t]*+:")
_TOOL_CALL, _TOOL_CALL_END = "<tool_call>", "</tool_call>"

_OBJECT = re.compile(r"\{[ \t\r\n]*+(?=[\"'“‘}\\]|\w++[ \t]*+:)|\[[ \t\r\n]*+(?=\{)")
"""Where in prose a JSON object, or a list of them, starts; `[1]` and `{city}` are none."""

_SIGN = re.compile(
    r"\w\([ \t\r\n]*+(?:\)|['\"]|[^\W\d]\w*+[ \t]*+=(?!=))|<\|?/?(?:tool|function|python_tag)|\[TOOL_CALLS\]|Action Input[ \t]*+:"
)
"""What says that a text was to be more than prose, although no spelling read here starts with it."""


def starts_bare(text: str, at: int, known: Known) -> bool:
    """Whether JSON or call text starts at `at`, with nothing around it."""
    return text[at : at + 1] in ("{", "[") or starts_call(text, at, known)


def read_answer(reading: Reading, may_be_fenced: bool = True) -> list[Call]:
    """The calls from the reading's start on; its `spelling` is set.

    Raises:
        TextError, Faulty: with what is wrong and where.
    """
    text = reading.text
    start = skip_space(text, reading.start)
    if start == len(text):
        reading.spelling = "empty"
        raise reading.error("no text is left for an answer", start)
    if text[start] == "{" or (text[start] == "[" and _is_json_list(text, start, reading.known)):
        return _read_json(reading, start)
    if starts_bare(text, start, reading.known):
        return _read_call_text(reading, start)
    found: list[tuple[int, Callable[[Reading, int], list[Call]]]] = []
    # The answer starts a line, also where it stands right behind a tag of thinking.
    fence = _FENCE.match(text, start) or _FENCE_LINE.search(text, start) if may_be_fenced else None
    action = _ACTION.match(text, start) or _ACTION_LINE.search(text, start)
    tag = text.find(_TOOL_CALL, start)
    if fence:
        found.append((fence.start(), _read_fences))
    if tag >= 0:
        found.append((tag, _read_hermes))
    if action:
        found.append((action.start(), _read_actions))
    if not found:
        return _read_prose(reading, start)
    at, read = min(found, key=lambda entry: entry[0])
    return read(reading, at)


# JSON ---------------------------------------------------------------------------------------------------------------


def _is_json_list(text: str, at: int, known: Known) -> bool:
    following = skip_space(text, at + 1)
    return text[following : following + 1] in ("", *"]{[\"'“‘") and not known_name(text, following, known)


def _read_json(reading: Reading, at: int) -> list[Call]:
    """The calls of a JSON value, or of several objects with only space or a comma between them."""
    text, calls = reading.text, list[Call]()
    reading.spelling = "json"
    is_object = text[at] == "{"
    while True:
        value, end = json_value(reading, at)
        calls += calls_of_json(reading, value, at)
        at = skip_space(text, end)
        behind = skip_space(text, at + 1)
        if is_object and text[at : at + 1] in (",", ";") and text[behind : behind + 1] == "{":
            if text[at] == ";":
                if not reading.loose:
                    raise reading.error("JSON values with ';' between them stand in no list", at)
                reading.repairs.append((at, "JSON values with ';' between them were read as a list"))
            at = behind
        if not is_object or text[at : at + 1] != "{":
            leave_out_rest(reading, at, "the JSON value")
            return calls
        reading.spelling = "json_lines"


# Call text and fences --------------------------------------------------------------------------------------------------


def _read_call_text(reading: Reading, at: int) -> list[Call]:
    text = reading.text
    reading.spelling = "call_text"
    cursor = Cursor(text, at, loose=reading.loose, notes=reading.notes, repairs=reading.repairs)
    calls = read_calls(cursor, reading.known)
    cursor.skip()
    end = cursor.at
    while text[end - 1] in " \t\r\n":
        end -= 1
    if cursor.at < len(text) and "\n" not in text[end : cursor.at]:  # on the same line: it could be part of an expression
        raise reading.error(f"there is more text after the calls: {shown(text[cursor.at :])}", cursor.at)
    leave_out_rest(reading, cursor.at, "the calls", "{}[]()")
    return calls


def _read_fences(reading: Reading, at: int) -> list[Call]:
    """The calls of a fence, text around which is set aside, or of several fences with only space between them."""
    text, calls = reading.text, list[Call]()
    reading.spelling = "fence"
    before, end = text[reading.start : at], at
    spans: list[tuple[int, int]] = []
    opening = _FENCE.match(text, at)
    while opening is not None:
        if spans and (before.strip() or text[end : opening.start()].strip() or len(spans) == MAX_FENCES):
            raise reading.error("there are several fences, and which of them holds the answer is not said", opening.start())
        info = _FENCE_INFO.match(text, opening.end())
        content = info.end() if info else opening.end()
        closing = _FENCE_END.search(text, content)
        if closing is None:
            raise reading.error("the text is cut off: the fence is not closed", len(text), TRUNCATED)
        spans.append((content, closing.start()))
        end = closing.end()
        opening = _FENCE_LINE.search(text, end)
    for aside in (before, text[end:]):
        if _OBJECT.search(aside):
            raise reading.error("there is JSON within and without the fence, and which of them is meant is not said", at)
    for content, stop in spans:
        inner = Reading(text[:stop], content, reading.known, reading.loose, notes=reading.notes, repairs=reading.repairs)
        calls += read_answer(inner, may_be_fenced=False)
        reading.spelling = inner.spelling
    reading.note_aside(at, before, text[end:])
    return calls


# Tags and actions ------------------------------------------------------------------------------------------------------


def _read_hermes(reading: Reading, at: int) -> list[Call]:
    text, calls, end = reading.text, list[Call](), reading.start
    reading.spelling = "hermes"
    while at >= 0:
        reading.note_aside(at, text[end:at])
        start = skip_space(text, at + len(_TOOL_CALL))
        if start == len(text):
            raise reading.error("the text is cut off: the call is missing", start, TRUNCATED)
        value, end = json_value(reading, start)
        calls += calls_of_json(reading, value, start)
        end = skip_space(text, end)
        if not text.startswith(_TOOL_CALL_END, end):
            if _TOOL_CALL_END.startswith(text[end:]):
                raise reading.error(f"the text is cut off: {_TOOL_CALL_END} is missing", len(text), TRUNCATED)
            raise reading.error(f"{_TOOL_CALL_END} should stand here, not {shown(text[end : end + 30])}", end)
        end += len(_TOOL_CALL_END)
        at = text.find(_TOOL_CALL, end)
    _refuse_more_json(reading, end, "the last call")
    reading.note_aside(end, text[end:])
    return calls


def _refuse_more_json(reading: Reading, at: int, what: str) -> None:
    start = skip_space(reading.text, at)
    if reading.text[start : start + 1] in ("{", "[", "}", "]", ")", '"', "'"):
        raise reading.error(f"{shown(reading.text[start : start + 30])} stands right behind {what}, where one object is expected", start)


def _read_actions(reading: Reading, at: int) -> list[Call]:
    """The calls of MTU-Bench's `Action: NAME`, `Action Input: {...}`; other text between and around is set aside."""
    text, calls, end = reading.text, list[Call](), reading.start
    reading.spelling = "actions"
    label = _ACTION.match(text, at)
    while label is not None:
        reading.note_aside(label.start(), text[end : label.start()].strip(" \t\r\n,"))
        name, name_end = _action_name(reading, label.end())
        input_label = _ACTION_INPUT.match(text, name_end)
        if not name:
            reading.notes.append((label.start(), "the action None is no call"))
            end = input_label.end() if input_label else name_end
        elif input_label is None:
            code = PARSE_ERROR if text[name_end:].strip() else TRUNCATED
            raise reading.error(f"the action {shown(name)} has no Action Input", name_end, code)
        else:
            value, end = _action_input(reading, input_label.end())
            try:
                arguments = arguments_of(value, argument_reader(reading, input_label.end()))
            except TextError as error:
                raise reading.error(str(error), input_label.end(), error.code) from None
            calls.append({"name": name, "arguments": arguments})
            _refuse_more_json(reading, end, "an Action Input")
            if reading.loose and (rest := text[end : _line_end(text, end)].strip(" \t\r,")):
                raise reading.error(f"there is more text on the line of an Action Input: {shown(rest)}", end)
        label = _ACTION_LINE.search(text, end)
    reading.note_aside(end, text[end:].strip(" \t\r\n,"))
    return calls


def _action_name(reading: Reading, at: int) -> tuple[str, int]:
    """The name behind `Action:` and the index behind it; "" for None. Quotes around it are taken off, which is noted."""
    text, tools = reading.text, reading.known.signatures
    end = _line_end(text, at)
    same_line = text.find("Action Input", at, end)
    end = end if same_line < 0 else same_line
    name = text[at:end].strip()
    if name not in tools:
        name = name.rstrip(", \t")
    if name not in tools and len(name) > 2 and name[0] == name[-1] and name[0] in "\"'`":
        reading.notes.append((at, f"the name {shown(name)} was read without its quotes"))
        name = name[1:-1].strip()
    if name in tools:
        return name, end
    if name.rstrip(".").lower() in ("none", "n/a", "null"):
        return "", end
    if not name:
        raise reading.error("the action has no name", at, PARSE_ERROR if text[end:].strip() else TRUNCATED)
    if any(character in "{}[](),\"'`" for character in name):
        raise reading.error(f"{shown(name)} is not the name of one tool", at)
    return name, end


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _action_input(reading: Reading, at: int) -> tuple[Json, int]:
    """The JSON value behind `Action Input:`, with or without a fence, and the index behind it."""
    text = reading.text
    start = skip_space(text, at)
    is_fenced = text.startswith("```", start)
    if is_fenced:
        info = _FENCE_INFO.match(text, start + 3)
        start = skip_space(text, info.end() if info else start + 3)
    if start == len(text):
        raise reading.error("the text is cut off: the Action Input is missing", start, TRUNCATED)
    value, end = json_value(reading, start)
    if is_fenced:
        closing = skip_space(text, end)
        if not text.startswith("```", closing):
            code = TRUNCATED if "```".startswith(text[closing:]) else PARSE_ERROR
            raise reading.error("the fence of the Action Input is not closed", closing, code)
        end = closing + 3
    return value, end


# Prose -----------------------------------------------------------------------------------------------------------------


def _read_prose(reading: Reading, start: int) -> list[Call]:
    """A text in which nothing marks an answer: always a fault, but a repair takes the only JSON object in it, if that is a call."""
    text = reading.text
    first = _OBJECT.search(text, start)
    if first is None:
        sign = _SIGN.search(text, start)
        reading.spelling = "unknown" if sign else "prose"
        what = f"there is {shown(sign[0])}, but no spelling of a call that is read" if sign else "there is no call"
        raise reading.error(f"{what} in the text {shown(text[start : start + 100].strip())}", start)
    reading.spelling = "json"
    value, end = json_value(reading, first.start())
    second = _OBJECT.search(text, end)
    if second:
        raise reading.error("there are several JSON values in the prose, and which of them is meant is not said", second.start())
    if not reading.loose:
        raise reading.error(f"there is text before the JSON value, {shown(text[start : first.start()].strip())}", start)
    calls = calls_of_json(reading, value, first.start())
    reading.repairs.append((start, f"text before the JSON value was left out: {shown(text[start : first.start()].strip())}"))
    leave_out_rest(reading, skip_space(text, end), "the JSON value")
    return calls
