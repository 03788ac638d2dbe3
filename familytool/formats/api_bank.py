"""API-Bank tool documents (AlibabaResearch/DAMO-ConvAI, Apache-2.0): the class attributes of its APIs, collected as data.

An entry is `{name, description, input_parameters, output_parameters}` with Python type names. Nothing marks what is required:
all parameters are, but for those whose description begins with '[Optional]'.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from familytool.formats.entries import as_list, made_tool, most_fit, note_default, object_of, pointer
from familytool.formats.openai import shown
from familytool.formats.python_types import schema_of
from familytool.formats.rows import read_rows
from familytool.formats.schema import STANDARD_TYPES, TYPES
from familytool.model import Json, Tool

NAME = "api-bank"
CARRIES = "names, descriptions, parameters with Python types, return values; no defaults, no value lists"
LOST = ""
CONTAINER = "json"


def looks_like(value: Json) -> bool:
    """Whether this is a list of API-Bank documents, or one of them."""
    return most_fit(as_list(value), _fits)


def _fits(entry: Json) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("name"), str) and isinstance(entry.get("input_parameters"), dict)


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """The distinct documents; entries that are none go into `rejected` (DocumentError: nothing here is API-Bank)."""
    yield from read_rows(records, _documents, _tool, rejected)


def _documents(row: Json) -> list[Json]:
    if not _fits(row):
        raise ValueError(f"{shown(row)} is no API-Bank document")
    return [row]


def _tool(document: Json, place: str, _: int) -> Tool:
    declared = document["input_parameters"]
    notes: list[str] = []
    properties = {name: _schema(schema, pointer("properties", name), notes) for name, schema in declared.items()}
    optional = [name for name, schema in declared.items() if _says_optional(schema)]
    if declared:
        notes.append("#: which parameters are required is not said; all are read as required")
    for name in optional:
        notes.append(f"{pointer('properties', name)}: the description begins with '[Optional]'; read as optional")
    schema = {"type": "object", "properties": properties, "required": [name for name in declared if name not in optional]}
    origin = {"format": NAME, "place": place}
    return made_tool(origin, document, document, schema if declared else None, object_of(document.get("output_parameters")), notes)


def _says_optional(schema: Json) -> bool:
    text = schema.get("description") if isinstance(schema, dict) else None
    return isinstance(text, str) and text.lstrip().lower().startswith("[optional]")


def _schema(node: Json, here: str, notes: list[str]) -> Json:
    if not isinstance(node, dict):
        return node
    note_default(node, here, notes)
    declared = node.get("type")
    if not isinstance(declared, str) or declared.lower() in (*TYPES, *STANDARD_TYPES):
        return node
    try:
        meant, _ = schema_of(declared)
    except ValueError:
        return node
    notes.append(f"{here}: type '{declared}' read as {meant.get('type', 'anything')}")
    return {**{key: value for key, value in node.items() if key != "type"}, **meant}
