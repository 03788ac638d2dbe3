"""Tool schemas as documents write them, brought to JSON Schema 2020-12, with a note for every repair.

Nothing is renamed and nothing disappears: a construct without a counterpart stays as it is beside a note. A note reads
"pointer: what stood there, and what it became"; what is only odd (a format that nobody knows) is noted and left.
Sources: the measured irregularities of BFCL, MTU-Bench, FamilyTool and Seal-Tools.
"""

from __future__ import annotations

from typing import Any

from familytool.formats.schema_words import format_note, pattern_note
from familytool.model import Json

TYPES = {
    "dict": "object", "hashmap": "object", "map": "object", "struct": "object", "json": "object",
    "int": "integer", "long": "integer", "short": "integer", "byte": "integer",
    "float": "number", "double": "number", "decimal": "number",
    "bool": "boolean", "str": "string", "text": "string", "char": "string", "url": "string",
    "list": "array", "arraylist": "array", "tuple": "array", "set": "array",
    "none": "null",
}  # fmt: skip
"""Type names of other languages, lower case, and the JSON Schema type they mean."""

STANDARD_TYPES = frozenset({"object", "integer", "number", "boolean", "string", "array", "null"})
_COMBINATORS = ("allOf", "anyOf", "oneOf", "if", "$ref", "dependentSchemas")
_SUBSCHEMAS = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
MAX_DEPTH = 32


def normalise_parameters(parameters: Json) -> tuple[dict[str, Json], list[str]]:
    """A tool's parameters as a closed JSON Schema object, and the notes of all repairs.

    `None` or `{}` is a tool without parameters. The schema is closed (`additionalProperties: false`, or
    `unevaluatedProperties: false` beside combinators) unless the document says otherwise.

    >>> schema, notes = normalise_parameters({"type": "dict", "properties": {"n": {"type": "int"}}, "required": ["n"]})
    >>> schema["properties"]["n"], notes[1]
    ({'type': 'integer'}, "#/properties/n: type 'int' read as integer")
    """
    notes: list[str] = []
    if not parameters:
        notes.append(f"#: no parameters are given ({parameters!r}); read as a tool without parameters")
        parameters = {"type": "object", "properties": {}}
    if not isinstance(parameters, dict):
        raise ValueError(f"parameters must be an object, found {type(parameters).__name__}")
    schema: dict[str, Json] = _normalise(parameters, "#", notes, 0)
    if schema.get("type", "object") != "object":
        raise ValueError(f"parameters must be of type object, found {schema['type']!r}")
    if "type" not in schema:
        notes.append("#: no type is given; read as object")
    schema = {"type": "object", **schema}
    schema.setdefault("properties", {})
    for name in schema.get("required", []):
        if name not in schema["properties"] and not any(key in schema for key in _COMBINATORS):
            schema["properties"][name] = {}
            notes.append(f"#/required: required parameter {name} is not declared; added without a type")
    if "additionalProperties" not in schema and "unevaluatedProperties" not in schema:
        closing = "unevaluatedProperties" if any(key in schema for key in _COMBINATORS) else "additionalProperties"
        schema[closing] = False
    return schema, notes


def _normalise(node: Json, path: str, notes: list[str], depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ValueError(f"{path}: schemas nested deeper than {MAX_DEPTH} levels")
    if isinstance(node, bool):
        return node
    if not isinstance(node, dict):
        notes.append(f"{path}: {_shown(node)} where a schema belongs; read as 'anything'")
        return {}
    result: dict[str, Json] = {}
    for key, value in node.items():
        here = f"{path}/{_escape(key)}"
        if key == "type":
            result.update(_type(value, path, notes))
        elif key == "properties" and isinstance(value, list):
            result[key] = _property_list(value, here, notes, depth)
        elif key in _KEYWORDS and not _is_a(value, _KEYWORDS[key]):
            notes.append(f"{here}: {_shown(value)} where {_KEYWORDS[key]} belongs; left out")
        elif key == "items" and isinstance(value, list):
            notes.append(f"{here}: a list of {len(value)} schemas; read as prefixItems")
            result["prefixItems"] = [_normalise(v, f"{here}/{i}", notes, depth + 1) for i, v in enumerate(value)]
        elif key == "properties" and not isinstance(value, dict):
            notes.append(f"{here}: {_shown(value)} where properties belong; left out")
        elif key in _MAPS and isinstance(value, dict):
            result[key] = {n: _normalise(v, f"{here}/{_escape(n)}", notes, depth + 1) for n, v in value.items()}
        elif key in _SUBSCHEMAS and isinstance(value, dict | bool):
            result[key] = _normalise(value, here, notes, depth + 1)
        elif key in _LISTS and isinstance(value, list):
            result[key] = [_normalise(v, f"{here}/{i}", notes, depth + 1) for i, v in enumerate(value)]
        elif key == "required" and not isinstance(value, list):
            notes.append(f"{here}: {_shown(value)} is no list of names; left out")
        elif key == "required":
            result[key] = _names(value, here, notes)
        elif key == "enum" and isinstance(value, list) and not value:
            notes.append(f"{here}: an empty list restricts nothing; left out")
        elif key == "optional":
            notes.append(f"{here}: {_shown(value)} is no JSON Schema; left out, the list of required names decides")
        else:
            result[key] = value
            if key in ("format", "pattern") and (note := format_note(value) if key == "format" else pattern_note(value)):
                notes.append(f"{here}: {note}")
    _check_default(result, path, notes)
    return result


_KEYWORDS = {
    "enum": "a list", "minimum": "a number", "maximum": "a number", "exclusiveMinimum": "a number", "exclusiveMaximum": "a number",
    "multipleOf": "a number", "minLength": "a count", "maxLength": "a count", "minItems": "a count", "maxItems": "a count",
    "pattern": "a text", "format": "a text", "uniqueItems": "a truth value", "examples": "a list",
}  # fmt: skip
"""Keywords whose value must be of one kind."""


def _is_a(value: Json, kind: str) -> bool:
    if kind == "a truth value":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    checks: dict[str, bool] = {
        "a list": isinstance(value, list),
        "a text": isinstance(value, str),
        "a number": isinstance(value, int | float),
        "a count": isinstance(value, int) and value >= 0,
    }
    return checks[kind]


def _shown(value: Json) -> str:
    """A value in a note: its type and at most forty characters."""
    text = repr(value[:60] if isinstance(value, str | list) else value)
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"


def _escape(name: str) -> str:
    """A name as a part of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def _names(value: list[Json], path: str, notes: list[str]) -> list[str]:
    """The names of a list of required parameters; what is no name, or stands there twice, is left out."""
    names: list[str] = []
    for index, name in enumerate(value):
        if not isinstance(name, str):
            notes.append(f"{path}/{index}: {_shown(name)} is no name; left out")
        elif name in names:
            notes.append(f"{path}/{index}: '{name}' stands there twice; kept once")
        else:
            names.append(name)
    return names


def _type(value: Json, path: str, notes: list[str]) -> dict[str, Json]:
    if isinstance(value, list):
        names = list(dict.fromkeys(t for item in value for t in [_type(item, path, notes).get("type")] if isinstance(t, str)))
        if not names:
            notes.append(f"{path}: type {_shown(value)} names none; read as 'anything'")
            return {}
        if len(names) < len(value):
            notes.append(f"{path}: type {_shown(value)} read as {', '.join(names)}")
        return {"type": names}
    if isinstance(value, str) and value in STANDARD_TYPES:
        return {"type": value}
    name = value if isinstance(value, str) else ""
    alias = TYPES.get(name.lower(), name.lower())
    if alias in STANDARD_TYPES:
        notes.append(f"{path}: type '{value}' read as {alias}")
        return {"type": alias}
    shown = f"'{value[:40]}'" if isinstance(value, str) else _shown(value)
    notes.append(f"{path}: type {shown} is unknown; read as 'anything'")
    return {}


def _property_list(entries: list[Json], path: str, notes: list[str], depth: int) -> dict[str, Json]:
    found: dict[str, Json] = {}
    own: list[str] = []
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            own.append(f"{path}/{index}: {_shown(entry)} has no name; left out")
            continue
        name = entry["name"]
        if name in found:
            own.append(f"{path}/{index}: a second parameter '{name}'; it takes the place of the first")
        rest = {key: value for key, value in entry.items() if key != "name"}
        found[name] = _normalise(rest, f"{path}/{index}", own, depth + 1)
    notes.append(f"{path}: a list of {len(entries)} parameters; read as an object with the names {', '.join(found)[:80] or '(none)'}")
    notes += own
    return found


def _check_default(schema: dict[str, Json], path: str, notes: list[str]) -> None:
    """Leave out the default of an array that stands at its items (or at a text, number or truth value)."""
    if isinstance(schema.get("default"), list) and schema.get("type") in ("string", "integer", "number", "boolean"):
        notes.append(
            f"{path}: default {_shown(schema['default'])} is an array, the values are of type {schema['type']}; the default is left out"
        )
        del schema["default"]
