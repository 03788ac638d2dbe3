"""Values that have only the wrong JSON type: "2" for 2, "True" for true, a text for a list of it. Nothing is changed unasked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from familytool.formats.text import TextError, parse_json, parse_python_literal
from familytool.model import Json
from familytool.validation.complaints import Complaint
from familytool.validation.special_values import Path, Standing, pointer_of, stood_in, value_at
from familytool.validation.validators import complaints_about

MAX_TEXT = 10_000
NOTHING = object()

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,400})(?:\.0{1,20})?")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,400})(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,3})?")


def coerced(
    schema: Json, arguments: Json, standing: Standing | None = None, may_wrap: bool = True
) -> tuple[Json, list[tuple[str, Json, Json]]]:
    """The arguments with every value converted whose only fault is its JSON type, and what was changed.

    Args:
        schema: the parameters of the tool.
        arguments: the arguments of a call.
        standing: places whose value stands for something that is not known yet.
        may_wrap: whether a value becomes a list of it alone where a list is wanted. That is a reading of what was meant ("a, b" may be two
            items, "" none), so that a repair leaves it to people.

    Returns:
        New arguments (the old ones stay as they are) and (JSON pointer into them, old value, new value) for each change.

    >>> coerced({"properties": {"n": {"type": "integer"}, "s": {"type": "string"}}}, {"n": "2", "s": "2"})
    ({'n': 2, 's': '2'}, [('/n', '2', 2)])
    """
    found = conversions(schema, arguments, complaints_about(schema, arguments, standing) or [], standing)
    if not may_wrap:
        found = {path: new for path, new in found.items() if not _is_wrapped(value_at(arguments, path), new)}
    changes = [(pointer_of(path), value_at(arguments, path), new) for path, new in found.items()]
    return _with_values(arguments, found), changes


def _is_wrapped(old: Json, new: Json) -> bool:
    return isinstance(new, list) and not isinstance(old, list) and len(new) == 1 and new[0] is old


def conversions(schema: Json, arguments: Json, complaints: Iterable[Complaint], standing: Standing | None = None) -> dict[Path, Json]:
    """Place -> the value of another JSON type with which the schema has nothing against that place any more."""
    stood = stood_in(arguments, standing) if standing else arguments
    proposals = {c.path: new for c in complaints if c.path for new in [_proposal(c, value_at(stood, c.path))] if new is not NOTHING}
    if not proposals:
        return {}
    left = complaints_about(schema, _with_values(stood, proposals))
    if left is None:
        return {}
    faulty = {c.path[:length] for c in left for length in range(len(c.path) + 1)}
    return {path: new for path, new in proposals.items() if path not in faulty}


def _with_values(arguments: Json, values: Mapping[Path, Json]) -> Json:
    """A copy of the arguments in which these places hold these values; what does not change is shared."""
    if () in values:
        return values[()]
    inside: dict[str | int, dict[Path, Json]] = {}
    for path, value in values.items():
        inside.setdefault(path[0], {})[path[1:]] = value
    if not inside:
        return arguments
    copy: Any = dict(arguments) if isinstance(arguments, dict) else list(arguments)
    for part, rest in inside.items():
        copy[part] = _with_values(copy[part], rest)
    return copy


def _proposal(complaint: Complaint, value: Json) -> Any:
    if complaint.keyword == "type":
        for name in complaint.wanted:
            new = _CONVERSIONS[name](value) if name in _CONVERSIONS else NOTHING
            if new is not NOTHING:
                return new
    elif complaint.keyword in ("enum", "const"):
        text = _as_text(value)
        return next((m for m in complaint.wanted if type(m) is not type(value) and text is not None and _as_text(m) == text), NOTHING)
    return NOTHING


def _as_text(value: Json) -> str | None:
    """A number, truth value, null or text in one spelling."""
    if isinstance(value, str):
        return value.lower() if value.lower() in ("true", "false", "null") else value
    return None if isinstance(value, dict | list) else _text(value)


def _text(value: Json) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError):
        return ""


def _integer(value: Json) -> Any:
    return int(value.partition(".")[0]) if isinstance(value, str) and _INTEGER.fullmatch(value) else NOTHING


def _number(value: Json) -> Any:
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        return NOTHING
    number = int(value) if value.lstrip("-").isdigit() else float(value)
    return number if number not in (float("inf"), float("-inf")) else NOTHING


def _boolean(value: Json) -> Any:
    return {"true": True, "false": False}.get(value.lower(), NOTHING) if isinstance(value, str) else NOTHING


def _string(value: Json) -> Any:
    return _text(value) if isinstance(value, int | float) else NOTHING


def _null(value: Json) -> Any:
    return None if value in ("null", "None") else NOTHING


def _array(value: Json) -> Any:
    parsed = _parsed(value, "[")
    return parsed if isinstance(parsed, list) else NOTHING if isinstance(value, list | dict) else [value]


def _object(value: Json) -> Any:
    parsed = _parsed(value, "{")
    return parsed if isinstance(parsed, dict) else NOTHING


def _parsed(value: Json, start: str) -> Json:
    """The list or object that a text is the JSON or the Python literal of; None otherwise."""
    if not isinstance(value, str) or len(value) > MAX_TEXT or not value.lstrip().startswith(start):
        return None
    for parse in (parse_json, parse_python_literal):
        try:
            return parse(value)
        except TextError:
            continue
    return None


_CONVERSIONS: dict[str, Callable[[Json], Any]] = {
    "integer": _integer, "number": _number, "boolean": _boolean, "string": _string, "null": _null, "array": _array, "object": _object,
}  # fmt: skip
"""JSON type -> the value of that type that a value is written like, or `NOTHING`."""
