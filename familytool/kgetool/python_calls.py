"""Tool calls as Python call text, `[f(a=1), g(b='x')]`: read without evaluating anything, and written.

A name is an identifier with dots, or exactly the name of a tool whose signature is given (ToolACE's have spaces). Positional
arguments take their names from the signature. Values are literals; `**{'odd name': 1}` gives arguments whose names are none
of Python. Everything else (expressions, calls within calls, `*args`) is an error that says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from .cursor import Cursor
from .literals import read_value
from .strict_json import DRIVE, DUPLICATE_KEY, SURROGATE, Json, shown

Call: TypeAlias = dict[str, Any]
"""`{"name": text, "arguments": object}`."""

Signatures: TypeAlias = Mapping[str, Sequence[str]]
"""The names of the parameters of each tool, in the order of its document."""

_NAME = re.compile(r"[^\W\d][\w.]*+")
_PARAMETER = re.compile(r"[^\W\d]\w*+")
_EQUALS = re.compile(r"[ \t\r\n]*+=(?!=)")
_OPEN = re.compile(r"[ \t\r\n]*+\(")
_LINE_END = re.compile(r"[ \t\r]*+(?:\n|;)")


class Known(NamedTuple):
    """What is known of the tools of a text, looked up once."""

    signatures: Signatures
    longest: int
    n_parentheses: int
    odd_parameters: Mapping[str, frozenset[str]]
    """The names of parameters that are no identifiers."""


def known_tools(signatures: Signatures | None) -> Known:
    """What reading calls asks of the signatures."""
    tools = signatures or {}
    odd = {tool: frozenset(name for name in names if not _PARAMETER.fullmatch(name)) for tool, names in tools.items()}
    return Known(tools, max(map(len, tools), default=0), max((name.count("(") for name in tools), default=0), odd)


def starts_call(text: str, at: int, known: Known) -> bool:
    """Whether a name and its opening parenthesis stand at `at`; a space between the two only where the tool is known."""
    if known_name(text, at, known):
        return True
    match = _NAME.match(text, at)
    return match is not None and text.startswith("(", match.end())


def read_calls(cursor: Cursor, known: Known) -> list[Call]:
    """The calls at the cursor's place: a list of calls, or calls on lines or with commas between them.

    Raises:
        TextError: with what is wrong and where.
    """
    calls: list[Call] = []
    if cursor.peek() == "[" and not known_name(cursor.text, cursor.at, known):
        cursor.at += 1
        while cursor.peek() != "]" or known_name(cursor.text, cursor.at, known):
            calls.append(_read_call(cursor, known))
            cursor.comma("]", "a call")
        cursor.at += 1
        return calls
    while True:
        calls.append(_read_call(cursor, known))
        is_line_end = _LINE_END.match(cursor.text, cursor.at) is not None
        following = cursor.peek()
        if following == ",":
            cursor.at += 1
        elif following == ";":
            cursor.at += 1
            if not cursor.peek():
                return calls
        elif not (is_line_end and starts_call(cursor.text, cursor.at, known)):
            return calls


def known_name(text: str, at: int, known: Known) -> str:
    """The longest name of a known tool that stands at `at` before a parenthesis; "" if none does."""
    found, paren = "", at - 1
    for _ in range(1 + known.n_parentheses if known.signatures else 0):
        paren = text.find("(", paren + 1, at + known.longest + 20)
        if paren < 0:
            break
        for candidate in (text[at:paren], text[at:paren].rstrip()):
            if candidate and candidate in known.signatures:
                found = candidate
    return found


def _read_call(cursor: Cursor, known: Known) -> Call:
    cursor.skip()
    text, start = cursor.text, cursor.at
    name = known_name(text, start, known)
    if not name:
        match = _NAME.match(text, start)
        if match is None:
            if start == len(text):
                raise cursor.cut_off("a call")
            raise cursor.error(f"a call should stand here, not {shown(text[start : start + 30])}")
        name = match[0]
    cursor.at = start + len(name)
    opening = _OPEN.match(text, cursor.at)
    if opening is None:
        if not text[cursor.at :].strip():
            raise cursor.cut_off("'('")
        paren = text.find("(", start, start + 100)
        if paren > 0 and "\n" not in text[start:paren]:
            raise cursor.error(f"{shown(text[start:paren])} is no name of Python, and no offered tool is called so", start)
        raise cursor.error(f"{shown(name)} is no call", start)
    if name not in known.signatures and (name.endswith(".") or ".." in name):
        raise cursor.error(f"{shown(name)} is no name", start)
    cursor.at = opening.end()
    return {"name": name, "arguments": _read_arguments(cursor, name, known)}


def _read_arguments(cursor: Cursor, name: str, known: Known) -> dict[str, Json]:
    """The arguments up to the closing parenthesis, which is consumed."""
    arguments: dict[str, Json] = {}
    n_positional = 0
    odd = known.odd_parameters.get(name, frozenset())
    while cursor.peek() != ")":
        if not cursor.peek():
            raise cursor.cut_off("')'")
        at = cursor.at
        key = _keyword(cursor, odd)
        if key:
            if key in arguments:
                raise cursor.error(f"the argument {shown(key)} of {shown(name)} is given twice", at, DUPLICATE_KEY)
            arguments[key] = read_value(cursor, ")")
        elif cursor.text.startswith("**", at):
            _unpack(cursor, arguments, name)
        elif cursor.text[at] == "*":
            raise cursor.error("'*' makes it an expression; nothing is evaluated, write its values")
        elif len(arguments) > n_positional:
            raise cursor.error("an argument without a name stands behind one with a name")
        else:
            value = read_value(cursor, ")")
            arguments[_positional_name(cursor, name, known, n_positional, at)] = value
            n_positional += 1
        cursor.comma(")", "a value")
    cursor.at += 1
    return arguments


def _keyword(cursor: Cursor, odd: frozenset[str]) -> str:
    """The name before the equals sign here, both consumed; "" if there is none."""
    text, at = cursor.text, cursor.at
    match = _PARAMETER.match(text, at)
    equals = _EQUALS.match(text, match.end()) if match else None
    if match and equals:
        cursor.at = equals.end()
        return match[0]
    sign = text.find("=", at, at + max(map(len, odd)) + 20) if odd else -1
    candidate = text[at:sign].rstrip() if sign > 0 else ""
    if candidate in odd:
        cursor.at = sign + 1
        return candidate
    return ""


def _unpack(cursor: Cursor, arguments: dict[str, Json], name: str) -> None:
    at = cursor.at
    cursor.at += 2
    if cursor.peek() != "{":
        raise cursor.error("'**' makes it an expression; nothing is evaluated, write its values", at)
    for key, value in read_value(cursor, ")").items():
        if key in arguments:
            raise cursor.error(f"the argument {shown(key)} of {shown(name)} is given twice", at, DUPLICATE_KEY)
        arguments[key] = value


def _positional_name(cursor: Cursor, name: str, known: Known, number: int, at: int) -> str:
    if name not in known.signatures:
        raise cursor.error(f"argument {number + 1} of {shown(name)} has no name, and the document of the tool is not known", at)
    parameters = known.signatures[name]
    if number >= len(parameters):
        raise cursor.error(
            f"{shown(name)} takes {len(parameters)} arguments, and this is number {number + 1}: too many positional ones", at
        )
    cursor.notes.append((at, f"argument {number + 1} of {shown(name)} was read as {shown(parameters[number])}, by the document's order"))
    return parameters[number]


def call_text(calls: Iterable[Mapping[str, Any]]) -> str:
    """Write calls as Python call text that `parse_calls` reads back (a name that is none of Python with its signature given).

    Raises:
        ValueError: a name is empty or has outer space, or a value is none of JSON.

    >>> call_text([{"name": "f", "arguments": {"a": [1, True], "odd name": "it's"}}])
    '[f(a=[1, True], **{"odd name": "it\\'s"})]'
    """
    return "[" + ", ".join(_written_call(call["name"], call["arguments"]) for call in calls) + "]"


def _written_call(name: str, arguments: Mapping[str, Json]) -> str:
    if not name or name != name.strip():
        raise ValueError(f"the name {shown(name)} cannot be written as call text; it is empty or has outer space")
    parts = [
        f"{key}={_written(value)}" if _PARAMETER.fullmatch(key) else f"**{{{_written(key)}: {_written(value)}}}"
        for key, value in arguments.items()
    ]
    return f"{name}({', '.join(parts)})"


_CONTROL = re.compile(r'[\x00-\x1f\x7f"\\]')
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def _written(value: Json) -> str:
    if value is None or isinstance(value, bool | int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if isinstance(value, str) and not SURROGATE.search(value):
        text = _CONTROL.sub(lambda match: _SHORT.get(match[0], f"\\x{ord(match[0]):02x}"), value)
        if DRIVE.match(text):
            text = f"{text[:2]}\\x{ord(value[2]):02x}{text[4:]}"
        return f'"{text}"'
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_written, value)) + "]"
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return "{" + ", ".join(f"{_written(key)}: {_written(entry)}" for key, entry in value.items()) + "}"
    raise ValueError(f"a {type(value).__name__} is no value of JSON: {shown(repr(value))}")
