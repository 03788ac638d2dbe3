"""What a validator's errors say about a call: flat, each with a code, a place and a sentence.

Where a value fits none of several alternatives, the alternative that it comes nearest to is the one that is spoken of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from jsonschema import ValidationError

from familytool.model import Json
from familytool.validation.keywords import shown
from familytool.validation.prepared_schemas import Members
from familytool.validation.special_values import Path

CODES = {
    "required": "missing_required", "dependentRequired": "missing_required",
    "additionalProperties": "unknown_parameter", "unevaluatedProperties": "unknown_parameter", "propertyNames": "unknown_parameter",
    "properties": "unknown_parameter", "patternProperties": "unknown_parameter",
    "type": "type_mismatch", "enum": "not_in_enum", "const": "not_in_enum", "not": "not_in_enum", "format": "format_mismatch",
    "pattern": "pattern_mismatch",
    "anyOf": "item_mismatch", "oneOf": "item_mismatch", "allOf": "item_mismatch", "items": "item_mismatch", "contains": "item_mismatch",
    "minContains": "item_mismatch", "maxContains": "item_mismatch", "unevaluatedItems": "item_mismatch", "prefixItems": "item_mismatch",
    "minimum": "out_of_range", "maximum": "out_of_range", "exclusiveMinimum": "out_of_range", "exclusiveMaximum": "out_of_range",
    "multipleOf": "out_of_range", "minLength": "out_of_range", "maxLength": "out_of_range", "minItems": "out_of_range",
    "maxItems": "out_of_range", "uniqueItems": "out_of_range", "minProperties": "out_of_range", "maxProperties": "out_of_range",
}  # fmt: skip
"""Schema keyword -> code of the finding."""

_OF_A_VALUE = frozenset({"type_mismatch", "not_in_enum", "pattern_mismatch", "format_mismatch", "out_of_range"})


class Complaint(NamedTuple):
    """One thing that is wrong: the keyword that says so, the place in the arguments, and what would be right.

    `wanted` are JSON types, or the values of an `enum`; `subject` is the name that is missing, None elsewhere; `schema` is the
    part of the schema that holds the keyword.
    """

    code: str
    path: Path
    message: str
    keyword: str
    wanted: tuple[Json, ...] = ()
    subject: Json = None
    schema: Json = None


def complaints(errors: Iterable[ValidationError], start: Path = ()) -> Iterator[Complaint]:
    """The complaints of these errors, whose paths begin at `start`."""
    for error in errors:
        path = (*start, *error.relative_path)
        if error.context:
            yield from _nearest(error, path)
        else:
            yield _complaint(error, path)


def _complaint(error: Any, path: Path) -> Complaint:
    keyword = error.validator or "false"
    if keyword == "false":  # the schema `false` allows nothing
        code = "unknown_parameter" if path and isinstance(path[-1], str) else "item_mismatch"
        return Complaint(code, path, f"{shown(error.instance)} is given where nothing is allowed", keyword)
    code = CODES.get(keyword, "type_mismatch")
    if code == "type_mismatch" and any(isinstance(part, int) for part in path):
        code = "item_mismatch"
    wanted: tuple[Json, ...] = ()
    if keyword == "type":
        wanted = (error.validator_value,) if isinstance(error.validator_value, str) else tuple(error.validator_value)
    elif isinstance(error.validator_value, Members):
        wanted = tuple(error.validator_value.listed)
    subject = error.instance if keyword == "required" else None
    return Complaint(code, path, error.message, keyword, wanted, subject, error.schema)


def _nearest(error: Any, path: Path) -> Iterator[Complaint]:
    """The complaints of the alternative that fails least; where all want another type, the types they want."""
    branches: dict[Any, list[Any]] = {}
    for child in error.context:
        branches.setdefault(child.relative_schema_path[0], []).append(child)
    misfits = [_own_types(children) for children in branches.values()]
    if all(misfits):
        wanted = tuple(dict.fromkeys(name for types in misfits for name in types))
        code = "item_mismatch" if any(isinstance(part, int) for part in path) else "type_mismatch"
        yield Complaint(code, path, f"{shown(error.instance)} is not of type {' or '.join(wanted)}", "type", wanted)
        return
    index = min(branches, key=lambda index: (bool(_own_types(branches[index])), _is_other_variant(branches[index]), len(branches[index])))
    where = f"nearest of the {len(error.validator_value)} alternatives: {error.validator}/{index}"
    for inner in complaints(branches[index], path):
        is_item = inner.path == path and inner.code in _OF_A_VALUE and any(isinstance(part, int) for part in path)
        code = "item_mismatch" if is_item else inner.code
        yield inner._replace(code=code, message=f"{inner.message} ({where})")


def _own_types(children: list[Any]) -> tuple[str, ...]:
    """The types that an alternative wants the value itself to have, where it has another."""
    for child in children:
        if child.validator == "type" and not child.relative_path:
            return (child.validator_value,) if isinstance(child.validator_value, str) else tuple(child.validator_value)
        if child.context and not child.relative_path:
            inner: dict[Any, list[Any]] = {}
            for grandchild in child.context:
                inner.setdefault(grandchild.relative_schema_path[0], []).append(grandchild)
            types = [_own_types(group) for group in inner.values()]
            if all(types):
                return tuple(name for names in types for name in names)
    return ()


def _is_other_variant(children: list[Any]) -> bool:
    """Whether an alternative is told apart by a fixed value (`"kind": {"const": "circle"}`) that the call does not have."""
    return any(
        child.validator in ("const", "enum")
        and len(child.relative_path) == 1
        and len(child.schema["const" if child.validator == "const" else "enum"].listed) == 1
        for child in children
    )
