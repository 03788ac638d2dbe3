"""NESTFUL API specifications (IBM/NESTFUL, Apache-2.0): parameters as a map, with a flag `required` on each.

The three published files have three shapes: `query_parameters` or `path_parameters`; `query_parameters` or `parameters`;
`arguments` without types. All 139 documents have `output_parameters`. Value lists are `allowed_values` or `possible_values`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from familytool.formats.entries import as_list, is_of_type, made_tool, most_fit, note_default, object_of, pointer, with_choices
from familytool.formats.openai import shown
from familytool.formats.rows import read_rows
from familytool.formats.schema import MAX_DEPTH, TYPES
from familytool.model import Json, Tool

NAME = "nestful"
CARRIES = "names, descriptions, parameters with value lists and ranges, return values; types only in two of three files"
LOST = ""
CONTAINER = "json"

_MAPS = ("path_parameters", "query_parameters", "parameters", "arguments")
_RANGE = re.compile(r" {0,3}(-?[0-9]{1,15}(?:\.[0-9]{1,15})?) {0,3}- {0,3}(-?[0-9]{1,15}(?:\.[0-9]{1,15})?) {0,3}", re.ASCII)
_ISO_DATES = frozenset({"date (yyyy-mm-dd)", "date(yyyy-mm-dd)"})


def looks_like(value: Json) -> bool:
    """Whether this is a NESTFUL specification: a list of documents, or one of them."""
    return most_fit(as_list(value), _fits)


def _fits(entry: Json) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or "input_parameters" in entry:
        return False
    if any(isinstance(entry.get(key), dict) for key in ("query_parameters", "path_parameters")):
        return True
    declared = entry.get("parameters", entry.get("arguments"))
    return isinstance(entry.get("output_parameters"), dict) and isinstance(declared, dict) and not isinstance(declared.get("type"), str)


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """The distinct documents; entries that are none go into `rejected` (DocumentError: nothing here is NESTFUL)."""
    yield from read_rows(records, _documents, _tool, rejected)


def _documents(row: Json) -> list[Json]:
    if not _fits(row):
        raise ValueError(f"{shown(row)} is no NESTFUL document")
    return [row]


def _tool(document: Json, place: str, _: int) -> Tool:
    notes: list[str] = []
    declared: dict[str, Json] = {}
    for key in (key for key in document if key in _MAPS):
        if not isinstance(document[key], dict):
            raise ValueError(f"{key} is {shown(document[key])}, not an object")
        for name, schema in document[key].items():
            if name in declared:
                notes.append(f"{pointer('properties', name)}: declared twice; {shown(schema)} of {key} is left out")
            declared.setdefault(name, schema)
    schema = _object(declared, (), notes) if declared else None
    origin = {"format": NAME, "place": place}
    return made_tool(origin, document, document, schema, object_of(document.get("output_parameters")), notes)


def _object(declared: dict[str, Json], path: tuple[str, ...], notes: list[str]) -> dict[str, Json]:
    """An object schema of a map of parameters, the flags of which become a list of required names."""
    here = pointer(*path)
    flags = [p.get("required") for p in declared.values() if isinstance(p, dict) and isinstance(p.get("required"), bool)]
    some_optional = any(isinstance(p, dict) and p.get("optional") is True for p in declared.values())
    unflagged_are_required = some_optional and not flags
    unflagged = [
        n for n, p in declared.items() if isinstance(p, dict) and not isinstance(p.get("required"), bool) and p.get("optional") is not True
    ]
    if flags:
        notes.append(f"{here}: 'required' on each parameter read as a list of required names")
    if unflagged and unflagged_are_required:
        notes.append(f"{here}: only optional parameters are marked; the {len(unflagged)} others are read as required")
    elif unflagged and not path:
        notes.append(f"{here}: {len(unflagged)} parameters do not say whether they are required; read as optional")
    required = [
        n for n, p in declared.items() if isinstance(p, dict) and (p.get("required") is True or (unflagged_are_required and n in unflagged))
    ]
    properties = {name: _schema(p, (*path, "properties", name), notes) for name, p in declared.items()}
    return {"type": "object", "properties": properties, "required": required}


def _schema(node: Json, path: tuple[str, ...], notes: list[str]) -> Json:
    """One parameter as JSON Schema but for the types that `normalise_parameters` knows."""
    if not isinstance(node, dict):
        return node
    if len(path) > 2 * MAX_DEPTH:
        raise ValueError(f"parameters nested deeper than {MAX_DEPTH} levels")
    schema = {key: value for key, value in node.items() if not (key == "required" and isinstance(value, bool)) and key != "optional"}
    here = pointer(*path)
    if "default_value" in schema and "default" not in schema:
        schema["default"] = schema.pop("default_value")
        notes.append(f"{here}/default_value: {shown(schema['default'])} read as default")
    for key in ("allowed_values", "possible_values"):
        if key in schema:
            _values(schema, key, here, notes)
    _mend_type(schema, here, notes)
    note_default(schema, here, notes)
    if isinstance(schema.get("properties"), dict):
        inner = _object(schema["properties"], path, notes)
        schema["properties"] = inner["properties"]
        names = schema["required"] if isinstance(schema.get("required"), list) else []
        if names or inner["required"]:
            schema["required"] = [*names, *inner["required"]]
    if isinstance(schema.get("items"), dict):
        schema["items"] = _schema(schema["items"], (*path, "items"), notes)
    return schema


def _mend_type(schema: dict[str, Json], here: str, notes: list[str]) -> None:
    declared = schema.get("type")
    if not isinstance(declared, str):
        return
    if declared.lower() in _ISO_DATES:
        schema.update(type="string", format="date")
        notes.append(f"{here}: type '{declared}' read as string with format date")
    elif declared.lower() == "enum" and isinstance(schema.get("enum"), list) and all(isinstance(v, str) for v in schema["enum"]):
        schema["type"] = "string"
        notes.append(f"{here}: type '{declared}' read as string, since its values are texts")
    elif isinstance(schema.get("enum"), list) and not any(is_of_type(value, declared) for value in schema["enum"]):
        del schema["type"]
        notes.append(f"{here}: type '{declared}' is left out, since the values {shown(schema['enum'])} are not of it")


def _values(schema: dict[str, Json], key: str, here: str, notes: list[str]) -> None:
    """A value list becomes an enum, a range minimum and maximum; an empty list restricts nothing, other text stays as a remark."""
    values = schema[key]
    if isinstance(values, list):
        del schema[key]
        if not values:
            notes.append(f"{here}/{key}: an empty list restricts nothing; left out")
        elif "enum" in schema:
            notes.append(f"{here}/{key}: there is an enum already; {shown(values)} left out")
        elif (chosen := with_choices(schema, values)) and "enum" not in chosen:
            schema["items"] = chosen["items"]
            notes.append(f"{here}/{key}: {shown(values)} read as enum of the items")
        else:
            schema["enum"] = values
            notes.append(f"{here}/{key}: {shown(values)} read as enum")
        return
    bounds = _bounds(values)
    declared = str(schema.get("type", "number")).lower()
    if bounds and TYPES.get(declared, declared) in ("number", "integer"):
        del schema[key]
        schema["minimum"], schema["maximum"] = bounds
        notes.append(f"{here}: {key} '{values}' read as minimum {bounds[0]} and maximum {bounds[1]}")
    else:
        notes.append(f"{here}/{key}: {str(values)[:40]!r} is no list of values and no range of numbers; it restricts nothing")


def _bounds(text: Any) -> tuple[int | float, int | float] | None:
    """The two ends of a range such as '1-100' or '-0.5 - 0.5' (None: no range, or the wrong way round)."""
    found = _RANGE.fullmatch(text) if isinstance(text, str) and len(text) <= 80 else None
    if not found:
        return None
    low, high = (float(end) if "." in end else int(end) for end in found.groups())
    return (low, high) if low <= high else None
