"""Which parameters and items the parts of a combined schema speak of.

jsonschema counts a part that fails as if it said nothing, so that one wrong value makes its parameter unknown too. Here a part whose
failure is reported anyway (allOf, a reference, anyOf where no branch fits) still declares what it declares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from familytool.formats.patterns import is_match
from familytool.model import Json
from familytool.validation.prepared_schemas import REFERENCE
from familytool.validation.special_values import run


def evaluated_names(validator: Any, instance: dict[str, Any], schema: Json) -> set[str]:
    """The parameters of an object that its schema, with all parts that apply in place, speaks of."""

    def own(part: dict[str, Json], nested: bool) -> Iterator[str]:
        yield from part.get("properties", {}).keys() & instance.keys()
        for pattern in part.get("patternProperties", ()):
            yield from (name for name in instance if is_match(pattern, name) is not False)
        if "additionalProperties" in part or (nested and "unevaluatedProperties" in part):
            yield from instance

    return _evaluated(validator, instance, schema, own, nested=False)


def evaluated_items(validator: Any, instance: list[Any], schema: Json) -> set[int]:
    """The indexes of a list that its schema, with all parts that apply in place, speaks of."""

    def own(part: dict[str, Json], nested: bool) -> Iterator[int]:
        yield from range(len(part.get("prefixItems", ())))
        if "items" in part or (nested and "unevaluatedItems" in part):
            yield from range(len(instance))
        if "contains" in part:
            yield from (index for index, value in enumerate(instance) if _fits(validator, value, part["contains"]))

    return _evaluated(validator, instance, schema, own, nested=False)


def _evaluated(validator: Any, instance: Any, schema: Json, own: Callable[[Any, bool], Iterator[Any]], nested: bool = True) -> set[Any]:
    if not isinstance(schema, dict):
        return set()
    run.spend()
    parts: list[Json] = [*schema.get("allOf", ())]
    if REFERENCE in schema:
        parts.append(schema[REFERENCE].schema())
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword, ())
        parts += [branch for branch in branches if _fits(validator, instance, branch)] or branches
    if "if" in schema:
        parts += _conditional(validator, instance, schema)
    if isinstance(instance, dict):
        parts += [part for name, part in schema.get("dependentSchemas", {}).items() if name in instance]
    found = set(own(schema, nested))
    return found.union(*(_evaluated(validator, instance, part, own) for part in parts))


def _conditional(validator: Any, instance: Any, schema: dict[str, Json]) -> list[Json]:
    parts = [schema["if"], schema.get("then", True)], [schema.get("else", True)]
    if run.is_open(instance):
        return parts[0] + parts[1]
    return parts[0] if _fits(validator, instance, schema["if"]) else parts[1]


def _fits(validator: Any, instance: Any, schema: Json) -> bool:
    return next(validator.descend(instance, schema), None) is None


def declared_names(schema: Json) -> dict[str, None]:
    """All parameters that a schema declares anywhere in place, whether that part applies or not, in order."""
    names: dict[str, None] = {}
    waiting, seen = [schema], set()
    while waiting:
        part = waiting.pop()
        if not isinstance(part, dict) or id(part) in seen:
            continue
        seen.add(id(part))
        names.update(dict.fromkeys(part.get("properties", {})))
        waiting += [part[key] for key in ("if", "then", "else") if key in part]
        waiting += [branch for key in ("allOf", "anyOf", "oneOf") for branch in part.get(key, ())]
        waiting += part.get("dependentSchemas", {}).values()
        if REFERENCE in part and part[REFERENCE].is_known:
            waiting.append(part[REFERENCE].schema())
    return names
