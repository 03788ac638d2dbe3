"""JSON Schema 2020-12 for tool calls, with the readings that tool documents need.

Differences from plain jsonschema: formats are checked (HH:MM, time without zone, date), patterns have their ECMA-262 meaning
and are never run where they could take exponential time, a document's own default is always legal, references are never fetched.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import jsonschema
import referencing
from jsonschema import Draft202012Validator
from jsonschema.validators import extend

from familytool.model import Finding, Json, canonical

MAX_PATTERN = 500
MAX_TEXT = 10_000

_HHMM = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]")
_TIME = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?(?:Z|[+-][0-9]{2}:[0-9]{2})?")
_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,255}")


def _is_date(text: str) -> bool:
    try:
        return re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) is not None and bool(datetime.date.fromisoformat(text))
    except ValueError:
        return False


def _is_datetime(text: str) -> bool:
    try:
        return "T" in text.upper() and bool(datetime.datetime.fromisoformat(text.upper().replace("Z", "+00:00")))
    except ValueError:
        return False


FORMATS: dict[str, Callable[[str], bool]] = {
    "HH:MM": lambda text: _HHMM.fullmatch(text) is not None,
    "time": lambda text: _TIME.fullmatch(text) is not None,
    "date": _is_date,
    "date-time": _is_datetime,
    "email": lambda text: _EMAIL.fullmatch(text) is not None,
}
"""Formats that are checked; values of other formats are never failed because of them."""

CODES = {
    "required": "missing_required", "dependentRequired": "missing_required",
    "additionalProperties": "unknown_parameter", "unevaluatedProperties": "unknown_parameter",
    "type": "type_mismatch", "enum": "not_in_enum", "const": "not_in_enum", "format": "format_mismatch", "pattern": "pattern_mismatch",
    "anyOf": "item_mismatch", "oneOf": "item_mismatch", "allOf": "item_mismatch", "items": "item_mismatch",
    "minimum": "out_of_range", "maximum": "out_of_range", "exclusiveMinimum": "out_of_range", "exclusiveMaximum": "out_of_range",
    "multipleOf": "out_of_range", "minLength": "out_of_range", "maxLength": "out_of_range", "minItems": "out_of_range",
    "maxItems": "out_of_range", "uniqueItems": "out_of_range",
}  # fmt: skip
"""Schema keyword -> code of the finding."""


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> re.Pattern[str] | None:
    r"""The ECMA-262 pattern for Python, or None where Python cannot run it or it could take exponential time.

    >>> bool(compile_pattern(r"^\d{4}$").search("2024\n")), compile_pattern(r"^(a+)+$"), compile_pattern(r"^\p{L}+$")
    (False, None, None)
    """
    if len(pattern) > MAX_PATTERN or _may_explode(pattern) or re.search(r"\\[pP]\{|\(\?<[A-Za-z]", pattern):
        return None
    try:
        return re.compile(re.sub(r"(?<!\\)\$$", r"\\Z", pattern), re.ASCII)
    except (re.error, RecursionError, OverflowError):
        return None


def _may_explode(pattern: str) -> bool:
    """Whether a repeated group contains a repetition or an alternative, or one repetition follows another of any kind."""
    inside: list[bool] = [False]
    unbounded = 0
    at, in_class = 0, False
    while at < len(pattern):
        character = pattern[at]
        if character == "\\":
            at += 2
            continue
        if in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
        elif character == "(":
            inside.append(False)
        elif character == ")" and len(inside) > 1:
            repeats = inside.pop()
            following = pattern[at + 1 : at + 2]
            if repeats and following in ("*", "+", "{"):
                return True
            inside[-1] = inside[-1] or repeats
        elif character in "*+" or (character == "{" and re.match(r"\{[0-9]*,\}", pattern[at : at + 12])):
            inside[-1] = True
            unbounded += 1
        elif character == "|":
            inside[-1] = inside[-1] or len(inside) > 1
        at += 1
    return unbounded > 4


def _pattern(validator: Any, pattern: Json, instance: Json, schema: Json) -> Iterator[jsonschema.ValidationError]:
    compiled = compile_pattern(pattern) if isinstance(pattern, str) else None
    if isinstance(instance, str) and compiled is not None and not compiled.search(instance[:MAX_TEXT]):
        yield jsonschema.ValidationError(f"{instance!r} does not match the pattern {pattern}")


def _format(validator: Any, name: Json, instance: Json, schema: Json) -> Iterator[jsonschema.ValidationError]:
    known = FORMATS.get(name) if isinstance(name, str) else None
    if isinstance(instance, str) and known is not None and not known(instance):
        yield jsonschema.ValidationError(f"{instance!r} is not of the form {name}")


_TYPE = Draft202012Validator.VALIDATORS["type"]


def _type(validator: Any, types: Json, instance: Json, schema: Json) -> Iterator[jsonschema.ValidationError]:
    if instance is None and isinstance(schema, dict) and schema.get("nullable") is True:
        return
    yield from _TYPE(validator, types, instance, schema)


Validator = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"pattern": _pattern, "format": _format, "type": _type}
)
_validators: dict[int, tuple[Json, Any]] = {}


def validator_for(schema: dict[str, Json]) -> Any:
    """A validator for this schema object; kept, since every sample of a benchmark asks for the same hundred."""
    known = _validators.get(id(schema))
    if known is None or known[0] is not schema:
        if len(_validators) > 4096:
            _validators.clear()
        known = (schema, Validator(schema, registry=referencing.Registry()))
        _validators[id(schema)] = known
    return known[1]


_UNUSABLE = (
    jsonschema.SchemaError, jsonschema.exceptions.UnknownType, referencing.exceptions.Unresolvable, RecursionError, re.error,
    TypeError, AttributeError, ArithmeticError,  # jsonschema trusts its schemas: `enum: 5`, `minimum: "x"`, `multipleOf: 0`
)  # fmt: skip


def schema_findings(schema: dict[str, Json], arguments: Json, pointer: str) -> list[Finding] | None:
    """All ways in which these arguments break the schema, in stable order; None where the schema itself cannot be used."""
    try:
        errors = list(validator_for(schema).iter_errors(arguments))
    except _UNUSABLE:
        return None
    found = [_finding(error, pointer) for error in errors if not _is_own_default(schema, error, arguments)]
    return sorted(found, key=lambda finding: (finding.path, finding.code, finding.message))


def _is_own_default(schema: dict[str, Json], error: Any, arguments: Json) -> bool:
    """Whether the complaint is about a value that is the document's own default."""
    if not error.absolute_path or not isinstance(arguments, dict):
        return False
    name = error.absolute_path[0]
    declared = schema.get("properties", {}).get(name)
    return isinstance(declared, dict) and "default" in declared and canonical(declared["default"]) == canonical(arguments.get(name))


def _finding(error: Any, pointer: str) -> Finding:
    keyword = error.validator
    code = CODES.get(keyword, "type_mismatch")
    if code == "type_mismatch" and any(isinstance(part, int) for part in error.absolute_path):
        code = "item_mismatch"
    path = pointer + "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in error.absolute_path)
    return Finding(
        code=code, path=path, message=error.message[:300], value=error.instance if not isinstance(error.instance, dict) else None
    )
