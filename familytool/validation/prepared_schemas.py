"""Schemas made ready for validation: a private copy in which references lead to what they mean and value lists are sets.

The copy is made from the schema's JSON text, so the document is never changed, nothing of it is held, and equal schemas are one.
References are resolved by the referencing library within the document; none is ever fetched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import referencing
from referencing.jsonschema import DRAFT202012

from familytool.model import Json

REFERENCE = "familytool:reference"
LEGAL = "familytool:legal"

_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_WORDS = frozenset(
    {
        "$schema", "$comment", "$vocabulary", "title", "description", "deprecated", "readOnly", "writeOnly", "examples", "example",
        "contentEncoding", "contentMediaType",
    }
)  # fmt: skip
"""Keywords that say nothing about a value, or another draft: jsonschema would leave our keywords for those of `$schema`."""


class Target:
    """What a reference leads to."""

    __slots__ = ("_contents", "_text", "is_known")

    def __init__(self, text: Json) -> None:
        self._text = text
        self._contents: Json = None
        self.is_known = False

    def lead_to(self, contents: Json) -> None:
        """Say what the reference leads to."""
        self._contents = contents
        self.is_known = True

    def schema(self) -> Json:
        """The schema there (ValueError where there is none)."""
        if not self.is_known:
            raise ValueError(f"the reference {self._text!r} leads nowhere in this document")
        return self._contents


class Members:
    """The values of an `enum`, or the one of a `const`, comparable by JSON type."""

    __slots__ = ("keys", "listed")

    def __init__(self, listed: Json) -> None:
        self.listed: list[Json] = listed if isinstance(listed, list) else []
        self.keys: frozenset[Any] | None = frozenset(map(typed_key, listed)) if isinstance(listed, list) else None


def typed_key(value: Any) -> Any:
    """A hashable stand-in that is equal for values that JSON Schema calls equal: 1 is 1.0, and neither True nor "1".

    >>> typed_key([1, {"a": None}]) == typed_key([1.0, {"a": None}]), typed_key([1]) == typed_key([True])
    (True, False)
    """
    if isinstance(value, bool):
        return ("truth value", value)
    if isinstance(value, list):
        return ("list", tuple(map(typed_key, value)))
    if isinstance(value, dict):
        return ("object", frozenset((name, typed_key(inner)) for name, inner in value.items()))
    return value if isinstance(value, str | int | float | None) else ("other", id(value))


def prepare(schema: Json) -> Json:
    """The copy of a schema that the validators of `keywords` read; a keyword of the wrong kind fails when it is used."""
    root = _copy(schema)
    if isinstance(root, dict):
        resource = DRAFT202012.create_resource(root)
        _resolve(root, referencing.Registry().resolver_with_root(resource), set())
        _walk(root, lambda node: [node.pop(key, None) for key in ("$id", "$anchor", "$dynamicAnchor", "$ref", "$dynamicRef")], set())
    return root


def _copy(node: Json) -> Any:
    if isinstance(node, list):
        return [_copy(item) for item in node]
    if not isinstance(node, dict):
        return node
    copy: dict[str, Any] = {}
    for key, value in node.items():
        if key in _MAPS and isinstance(value, dict):
            copy[key] = {name: _copy(inner) for name, inner in value.items()}
        elif key in ("enum", "const"):
            copy[key] = Members(value if key == "enum" else [value])
        elif key == "default":
            copy[key] = value
        elif key not in _WORDS:
            copy[key] = _copy(value)
    return copy


def _walk(node: Json, visit: Callable[[dict[str, Any]], object], seen: set[int]) -> None:
    """Visit every object of a schema once, maps of schemas by their members."""
    if isinstance(node, list):
        for item in node:
            _walk(item, visit, seen)
    if not isinstance(node, dict) or id(node) in seen:
        return
    seen.add(id(node))
    visit(node)
    for key, value in node.items():
        if key in _MAPS and isinstance(value, dict):
            for inner in value.values():
                _walk(inner, visit, seen)
        elif key != "default":
            _walk(value, visit, seen)


def _resolve(node: Json, resolver: Any, seen: set[int]) -> None:
    if isinstance(node, list):
        for item in node:
            _resolve(item, resolver, seen)
    if not isinstance(node, dict) or id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node.get("$id"), str):
        resolver = resolver.in_subresource(DRAFT202012.create_resource(node))
    for key in ("$ref", "$dynamicRef"):
        if key in node:
            node[REFERENCE] = _target(node[key], resolver)
    for key, value in list(node.items()):
        if key in _MAPS and isinstance(value, dict):
            for inner in value.values():
                _resolve(inner, resolver, seen)
        elif key != "default":
            _resolve(value, resolver, seen)


def _target(text: Json, resolver: Any) -> Target:
    target = Target(text)
    try:
        contents = resolver.lookup(text).contents
    except (referencing.exceptions.Unresolvable, referencing.exceptions.NoSuchResource, ValueError, TypeError, AttributeError, LookupError):
        return target
    if isinstance(contents, dict | bool):
        target.lead_to(contents)
    return target
