"""Keywords of JSON Schema for jsonschema's validator, where tool documents need more than it gives, or less of the time.

The validator walks, jsonschema decides; replaced are single keywords: patterns and formats with their own meaning, decimal
multiples, unknown parameters one by one, values that are not known yet. A schema is read in the form of `prepared_schemas`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import UnknownType
from jsonschema.validators import create

from familytool.formats.patterns import is_match
from familytool.model import Json
from familytool.validation.evaluated import declared_names, evaluated_items, evaluated_names
from familytool.validation.prepared_schemas import LEGAL, REFERENCE, Members, Target, typed_key
from familytool.validation.special_values import Entity, Open, run
from familytool.validation.value_formats import format_fault

Errors = Iterator[ValidationError]


def shown(value: Any) -> str:
    """A value in a message, shortened."""
    text = repr(str(value) if isinstance(value, Entity) else value)
    return text if len(text) <= 80 else text[:77] + "..."


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: not isinstance(v, bool) and (isinstance(v, int) or (isinstance(v, float) and v.is_integer())),
    "number": _is_number,
    "boolean": lambda v: isinstance(v, bool),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
    "null": lambda v: v is None,
}


def _type(validator: Any, types: Json, instance: Any, schema: Json) -> Errors:
    for name in (types,) if isinstance(types, str) else types:
        known = TYPES.get(name)
        if known is None:
            raise UnknownType(name, instance, schema)
        if known(instance):
            return
    if not isinstance(instance, Open):
        names = types if isinstance(types, str) else " or ".join(types)
        yield ValidationError(f"{shown(instance)} is not of type {names}")


def _enum(validator: Any, members: Members, instance: Any, schema: Json) -> Errors:
    if members.keys is None:
        raise TypeError("enum must be a list")
    if typed_key(instance) not in members.keys and not isinstance(instance, Open | Entity):
        listed = ", ".join(map(shown, members.listed[:12])) + (", ..." if len(members.listed) > 12 else "")
        yield ValidationError(f"{shown(instance)} is not one of {listed}")


def _pattern(validator: Any, pattern: Json, instance: Any, schema: Json) -> Errors:
    if isinstance(instance, str) and isinstance(pattern, str) and not isinstance(instance, Entity) and is_match(pattern, instance) is False:
        yield ValidationError(f"{shown(instance)} does not match the pattern {pattern}")


def _format(validator: Any, name: Json, instance: Any, schema: Json) -> Errors:
    if isinstance(instance, str) and isinstance(name, str) and not isinstance(instance, Entity):
        fault = format_fault(name, instance)
        if fault:
            yield ValidationError(f"{shown(instance)}: {fault}")


def _multiple_of(validator: Any, divisor: Json, instance: Any, schema: Json) -> Errors:
    """In decimals, as the numbers are written: 19.99 is a multiple of 0.01."""
    if _is_number(instance) and (_decimal(instance) / _decimal(divisor)).denominator != 1:
        yield ValidationError(f"{shown(instance)} is not a multiple of {divisor}")


def _decimal(number: float) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def _unique_items(validator: Any, wanted: Json, instance: Any, schema: Json) -> Errors:
    if wanted and isinstance(instance, list) and len({typed_key(item) for item in instance}) < len(instance):
        yield ValidationError(f"{shown(instance)} has equal items")


def _unless_entity(keyword: str) -> Callable[..., Errors]:
    """The keyword for texts whose length means something."""
    original = Draft202012Validator.VALIDATORS[keyword]

    def check(validator: Any, limit: Json, instance: Any, schema: Json) -> Errors:
        if not isinstance(instance, Entity):
            yield from original(validator, limit, instance, schema)

    return check


def _required(validator: Any, names: Json, instance: Any, schema: Json) -> Errors:
    if isinstance(instance, dict):
        for name in names:
            if name not in instance:
                yield ValidationError(f"'{name}' is required and not given", instance=name)


def _properties(validator: Any, declared: Json, instance: Any, schema: Json) -> Errors:
    if isinstance(instance, dict):
        for name, value in instance.items():
            inner = declared.get(name)
            if inner:
                yield from validator.descend(value, inner, path=name, schema_path=name)
            elif inner is False:
                yield _forbidden(name, value)


def _forbidden(name: str, value: Any) -> ValidationError:
    """What jsonschema says of the schema `false`, with the place that it leaves out."""
    return ValidationError(f"'{name}' is declared as never allowed", path=(name,), instance=value)


def _pattern_properties(validator: Any, declared: Json, instance: Any, schema: Json) -> Errors:
    if isinstance(instance, dict):
        for pattern, inner in declared.items():
            for name, value in instance.items():
                if is_match(pattern, name):
                    if inner is False:
                        yield _forbidden(name, value)
                    else:
                        yield from validator.descend(value, inner, path=name, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Json, instance: Any, schema: Json) -> Errors:
    if isinstance(instance, dict):
        declared, patterns = schema.get("properties", {}), schema.get("patternProperties", ())
        for name, value in instance.items():
            if name not in declared and not any(is_match(pattern, name) is not False for pattern in patterns):
                if allowed is False:
                    yield _unknown(name, value, schema)
                else:
                    yield from validator.descend(value, allowed, path=name)


def _unevaluated_properties(validator: Any, allowed: Json, instance: Any, schema: Json) -> Errors:
    if isinstance(instance, dict):
        known = evaluated_names(validator, instance, schema)
        for name, value in instance.items():
            if name not in known:
                if allowed is False:
                    yield _unknown(name, value, schema)
                else:
                    yield from validator.descend(value, allowed, path=name)


def _unknown(name: str, value: Any, schema: Json) -> ValidationError:
    elsewhere = name in declared_names(schema)
    why = "is declared only in an alternative that this call does not take" if elsewhere else "is no parameter of this tool"
    return ValidationError(f"'{name}' {why}", path=(name,), instance=value)


def _property_names(validator: Any, names: Json, instance: Any, schema: Json) -> Errors:
    if isinstance(instance, dict):
        for name, value in instance.items():
            error = next(validator.descend(name, names), None)
            if error is not None:
                yield ValidationError(f"'{name}' is no permitted name: {error.message}", path=(name,), instance=value)


def _unevaluated_items(validator: Any, allowed: Json, instance: Any, schema: Json) -> Errors:
    if isinstance(instance, list):
        known = evaluated_items(validator, instance, schema)
        for index, value in enumerate(instance):
            if index not in known:
                if allowed is False:
                    yield ValidationError(f"item {index} is one too many", path=(index,), instance=value)
                else:
                    yield from validator.descend(value, allowed, path=index)


def _reference(validator: Any, target: Target, instance: Any, schema: Json) -> Errors:
    run.spend()
    yield from validator.descend(instance, target.schema())


def _branch_errors(validator: Any, instance: Any, branch: Json, index: int) -> list[ValidationError]:
    if branch is False:  # jsonschema leaves out whose schema it is
        return [ValidationError("nothing is allowed", validator="false", instance=instance, schema=branch, schema_path=(index,))]
    return list(validator.descend(instance, branch, schema_path=index))


def _one_of(validator: Any, branches: Json, instance: Any, schema: Json) -> Errors:
    matching: list[int] = []
    context: list[ValidationError] = []
    for index, branch in enumerate(branches):
        errors = _branch_errors(validator, instance, branch, index)
        context += errors
        if not errors:
            matching.append(index)
    if not matching:
        yield ValidationError(f"{shown(instance)} fits none of the {len(branches)} alternatives", context=context)
    elif len(matching) > 1 and not run.is_open(instance):
        fits = " and ".join(f"oneOf/{index}" for index in matching[:5])
        yield ValidationError(f"{shown(instance)} fits {len(matching)} alternatives ({fits}), exactly one is allowed")


def _any_of(validator: Any, branches: Json, instance: Any, schema: Json) -> Errors:
    context: list[ValidationError] = []
    for index, branch in enumerate(branches):
        errors = _branch_errors(validator, instance, branch, index)
        if not errors:
            return
        context += errors
    yield ValidationError(f"{shown(instance)} fits none of the {len(branches)} alternatives", context=context)


def _unless_open(keyword: str) -> Callable[..., Errors]:
    """The keyword where it is decided by values that are known."""
    original = Draft202012Validator.VALIDATORS[keyword]

    def check(validator: Any, value: Json, instance: Any, schema: Json) -> Errors:
        if not run.is_open(instance):
            yield from original(validator, value, instance, schema) or ()

    return check


def _legal(validator: Any, whole: Json, instance: Any, schema: Json) -> Errors:
    """The document's own default, and null where it says `nullable`, are legal values whatever else it says."""
    if instance is None and whole.get("nullable") is True:
        return
    if "default" in whole and typed_key(whole["default"]) == typed_key(instance):
        return
    yield from validator.descend(instance, {key: value for key, value in whole.items() if key not in ("default", "nullable")})


def _with_legal_values(schema: Json) -> Any:
    """The keywords of a schema; those of one that names legal values are all behind them."""
    return ((LEGAL, schema),) if "default" in schema or "nullable" in schema else schema.items()


_KEYWORDS: dict[str, Any] = {
    **{name: check for name, check in Draft202012Validator.VALIDATORS.items() if not name.startswith("$")},
    REFERENCE: _reference, LEGAL: _legal, "type": _type, "enum": _enum, "const": _enum, "pattern": _pattern, "format": _format,
    "multipleOf": _multiple_of, "uniqueItems": _unique_items, "minLength": _unless_entity("minLength"),
    "maxLength": _unless_entity("maxLength"), "required": _required, "properties": _properties, "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties, "unevaluatedProperties": _unevaluated_properties,
    "unevaluatedItems": _unevaluated_items, "propertyNames": _property_names, "oneOf": _one_of, "anyOf": _any_of,
    "not": _unless_open("not"), "if": _unless_open("if"), "contains": _unless_open("contains"),
}  # fmt: skip
KEYWORDS = frozenset(_KEYWORDS)

Strict = create(meta_schema=Draft202012Validator.META_SCHEMA, validators=_KEYWORDS, type_checker=Draft202012Validator.TYPE_CHECKER)
"""Our keywords, without the values that a document makes legal by naming them: a call that it passes needs no second look."""

Lenient = create(
    meta_schema=Draft202012Validator.META_SCHEMA,
    validators=_KEYWORDS,
    type_checker=Draft202012Validator.TYPE_CHECKER,
    applicable_validators=_with_legal_values,
)
"""The same with them."""
