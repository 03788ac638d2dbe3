"""Compiled validators, kept for as long as they are asked for: a benchmark asks for the same hundred schemas again and again."""

from __future__ import annotations

import copy
import json
import re
from functools import lru_cache
from typing import Any, NamedTuple

import jsonschema
import referencing

from familytool.model import Json
from familytool.validation.complaints import Complaint, complaints
from familytool.validation.keywords import Lenient, Strict
from familytool.validation.prepared_schemas import prepare
from familytool.validation.special_values import MAX_STEPS, Standing, run, stood_in

MAX_KEPT = 4096


class Validators(NamedTuple):
    """The quick look at a call, and the one that knows which values a document makes legal and finds the words."""

    strict: Any
    lenient: Any


_by_object: dict[int, tuple[Json, Validators]] = {}
"""id of a schema -> (that schema, its validators): an object that is held cannot die and leave its id to another."""


def validators_for(schema: Json) -> Validators:
    """The validators of a schema: known by the object, or by its text where it was read again."""
    known = _by_object.get(id(schema))
    if known is None or known[0] is not schema:
        if len(_by_object) >= MAX_KEPT:
            _by_object.clear()
        try:
            found = _by_text(json.dumps(schema))
        except ValueError:  # a number with more digits than Python writes
            found = _validators(copy.deepcopy(schema))
        known = (schema, found)
        _by_object[id(schema)] = known
    return known[1]


@lru_cache(maxsize=MAX_KEPT)
def _by_text(text: str) -> Validators:
    return _validators(json.loads(text))


def _validators(schema: Json) -> Validators:
    prepared = prepare(schema)
    registry: referencing.Registry[Any] = referencing.Registry()
    return Validators(Strict(prepared, registry=registry), Lenient(prepared, registry=registry))


UNUSABLE = (
    jsonschema.SchemaError, jsonschema.exceptions.UnknownType, referencing.exceptions.Unresolvable, RecursionError, re.error,
    TypeError, AttributeError, ArithmeticError, LookupError, ValueError,  # jsonschema trusts its schemas: `minimum: "x"`, `multipleOf: 0`
)  # fmt: skip
"""What a validator raises over a schema that is none."""


def complaints_about(schema: Json, arguments: Json, standing: Standing | None = None) -> list[Complaint] | None:
    """Everything that a schema holds against these arguments; None where the schema itself cannot be used.

    Args:
        schema: a schema as `normalise_parameters` gives it; it is not changed.
        arguments: the arguments of a call.
        standing: places whose value is not known yet, or is an entity's placeholder.
    """
    return judged(schema, arguments, standing)[0]


_satisfied: list[Json] = [None, None]
"""The last schema and the arguments that satisfied it: the check and the count of a set ask for the same ones, one after the other."""


def judged(schema: Json, arguments: Json, standing: Standing | None = None) -> tuple[list[Complaint] | None, bool]:
    """What `complaints_about` gives, and whether the arguments break the schema if its own defaults are values like any other."""
    if standing:
        arguments = stood_in(arguments, standing)
    elif _satisfied[0] is schema and _satisfied[1] is arguments:
        return [], False
    try:
        strict, lenient = validators_for(schema)
        _begin(standing)
        if strict.is_valid(arguments):
            if not standing:
                _satisfied[:] = [schema, arguments]
            return [], False
        _begin(standing)
        return list(complaints(lenient.iter_errors(arguments))), True
    except UNUSABLE:
        return None, False


def complaints_without_defaults(schema: Json, arguments: Json, standing: Standing | None = None) -> list[Complaint] | None:
    """The same as if the document's own defaults, and null where it is nullable, were values like any other."""
    if standing:
        arguments = stood_in(arguments, standing)
    try:
        _begin(standing)
        return list(complaints(validators_for(schema).strict.iter_errors(arguments)))
    except UNUSABLE:
        return None


def _begin(standing: Standing | None) -> None:
    run.steps = MAX_STEPS
    run.has_open = standing is not None and "open" in standing.values()
