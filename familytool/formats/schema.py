"""Tool schemas as documents write them, brought to JSON Schema 2020-12, with a note for every repair.

Nothing is renamed and nothing disappears: a construct without a counterpart stays as it is beside a note.
Sources: the measured irregularities of BFCL, MTU-Bench, FamilyTool and Seal-Tools.
"""

from __future__ import annotations

from typing import Any

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
        notes.append("no parameters are given; read as a tool without parameters")
        parameters = {"type": "object", "properties": {}}
    if not isinstance(parameters, dict):
        raise ValueError(f"parameters must be an object, found {type(parameters).__name__}")
    schema: dict[str, Json] = _normalise(parameters, "#", notes, 0)
    if schema.get("type", "object") != "object":
        raise ValueError(f"parameters must be of type object, found {schema['type']!r}")
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
        notes.append(f"{path}: {type(node).__name__} where a schema belongs; read as 'anything'")
        return {}
    result: dict[str, Json] = {}
    for key, value in node.items():
        here = f"{path}/{_escape(key)}"
        if key == "type":
            result.update(_type(value, path, notes))
        elif key == "properties" and isinstance(value, list):
            result[key] = _property_list(value, here, notes, depth)
        elif key in _KEYWORDS and not _is_a(value, _KEYWORDS[key]):
            notes.append(f"{here}: {type(value).__name__} where {_KEYWORDS[key]} belongs; left out")
        elif key == "items" and isinstance(value, list):
            notes.append(f"{here}: a list of schemas read as prefixItems")
            result["prefixItems"] = [_normalise(v, f"{here}/{i}", notes, depth + 1) for i, v in enumerate(value)]
        elif key == "properties" and not isinstance(value, dict):
            notes.append(f"{here}: {type(value).__name__} where properties belong; left out")
        elif key in _MAPS and isinstance(value, dict):
            result[key] = {n: _normalise(v, f"{here}/{_escape(n)}", notes, depth + 1) for n, v in value.items()}
        elif key in _SUBSCHEMAS and isinstance(value, dict | bool):
            result[key] = _normalise(value, here, notes, depth + 1)
        elif key in _LISTS and isinstance(value, list):
            result[key] = [_normalise(v, f"{here}/{i}", notes, depth + 1) for i, v in enumerate(value)]
        elif key == "required" and not isinstance(value, list):
            notes.append(f"{here}: {value!r} is no list of names; left out")
        elif key == "required":
            result[key] = list(dict.fromkeys(n for n in value if isinstance(n, str)))
        elif key == "enum" and isinstance(value, list) and not value:
            notes.append(f"{here}: an empty list restricts nothing; left out")
        elif key == "optional":
            notes.append(f"{here}: optional = {value!r} is no JSON Schema; the list of required names decides")
        else:
            result[key] = value
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


def _escape(name: str) -> str:
    """A name as a part of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def _type(value: Json, path: str, notes: list[str]) -> dict[str, Json]:
    if isinstance(value, list):
        names = [t for item in value for t in [_type(item, path, notes).get("type")] if t]
        return {"type": names} if names else {}
    if isinstance(value, str) and value in STANDARD_TYPES:
        return {"type": value}
    alias = TYPES.get(str(value).lower(), str(value).lower())
    if alias in STANDARD_TYPES:
        notes.append(f"{path}: type '{value}' read as {alias}")
        return {"type": alias}
    notes.append(f"{path}: type '{value}' is unknown; read as 'anything'")
    return {}


def _property_list(entries: list[Json], path: str, notes: list[str], depth: int) -> dict[str, Json]:
    notes.append(f"{path}: a list of parameters read as an object by their names")
    found: dict[str, Json] = {}
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            notes.append(f"{path}/{index}: an entry without a name; left out")
            continue
        rest = {key: value for key, value in entry.items() if key != "name"}
        found[entry["name"]] = _normalise(rest, f"{path}/{index}", notes, depth + 1)
    return found


def _check_default(schema: dict[str, Json], path: str, notes: list[str]) -> None:
    if isinstance(schema.get("default"), list) and schema.get("type") == "string":
        notes.append(f"{path}: default is an array, the values are strings; the default is left out")
        del schema["default"]
