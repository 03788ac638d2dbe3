"""Whether the schema of a parameter takes a value: a first look, before any sample is made and checked in full."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache

import jsonschema
import referencing

from familytool.model import Json, canonical

Conforms = Callable[[dict[str, Json], Json], bool]
"""Whether a parameter's schema takes a value."""

_FLAT = frozenset(
    {"type", "enum", "const", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
)  # fmt: skip
_BEYOND = frozenset({"$ref", "$dynamicRef", "allOf", "oneOf", "not", "if"})
_FORMS = {
    "date": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"), "HH:MM": re.compile(r"[0-2][0-9]:[0-5][0-9]"),
    "time": re.compile(r"[0-2][0-9]:[0-5][0-9](:[0-5][0-9])?"), "email": re.compile(r"[^@\s]{1,64}@[^@\s]{1,200}"),
    "date-time": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T.{5,30}"), "uri": re.compile(r"[a-z]{2,10}://\S{1,200}"),
}  # fmt: skip


def takes_value(schema: dict[str, Json], value: Json) -> bool:
    """Whether the schema of one parameter takes a value, as far as can be told without a reference or a pattern that may run long.

    What cannot be told is no: a proposal more or less is nothing, and every sample is checked in full later.
    """
    if _BEYOND & set(schema):
        return False
    branches = schema.get("anyOf")
    if branches is not None and not (
        isinstance(branches, list) and any(isinstance(b, dict) and takes_value(b, value) for b in branches[:32])
    ):
        return False
    try:
        if not _checker(canonical({k: v for k, v in schema.items() if k in _FLAT})).is_valid(value):
            return False
    except (jsonschema.SchemaError, jsonschema.exceptions.UnknownType, TypeError, ValueError, ArithmeticError, AttributeError):
        return False
    if not isinstance(value, str):
        return True
    form = _FORMS.get(str(schema.get("format")))
    return not (form and not form.fullmatch(value)) and ("pattern" not in schema or _matches(schema["pattern"], value))


@lru_cache(maxsize=512)
def _checker(schema: str) -> jsonschema.protocols.Validator:
    return jsonschema.Draft202012Validator(json.loads(schema), registry=referencing.Registry())


def _matches(pattern: Json, value: str) -> bool:
    """Whether a short text matches a pattern in which nothing is repeated in a repetition; other patterns match nothing."""
    if not isinstance(pattern, str) or len(pattern) > 200 or len(value) > 60 or re.search(r"\)[*+{?]|\(\?[^:]|\\[1-9]", pattern):
        return False
    if len(re.findall(r"[*+?]|\{[0-9]*,[0-9]*\}", pattern)) > 3 or pattern.count("|") > 4:
        return False
    try:
        return re.search(pattern, value) is not None
    except (re.error, OverflowError, RecursionError):
        return False
