"""ToolBench query files (OpenBMB/ToolBench, Apache-2.0): each query carries the documents of its APIs as `api_list`.

The name of a tool is its `api_name`, which may be a sentence or a URL path ('/cities/:code'); `tool_name` stays in `raw`.
Types are STRING, NUMBER and BOOLEAN; a default of '' means that there is none. Defaults of NUMBER are often texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from familytool.formats.entries import as_list, made_tool, most_fit, note_default, pointer
from familytool.formats.openai import shown
from familytool.formats.rows import read_rows
from familytool.model import Json, Tool

NAME = "toolbench"
CARRIES = "names, descriptions, typed parameters, defaults; no response schema"
LOST = ""
CONTAINER = "json"


def looks_like(value: Json) -> bool:
    """Whether this is a query file, or one query of it."""
    return most_fit(as_list(value), _is_query)


def _is_query(value: Json) -> bool:
    listed = value.get("api_list") if isinstance(value, dict) else None
    return isinstance(listed, list) and most_fit(listed, _is_api)


def _is_api(entry: Json) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("api_name"), str) and "tool_name" in entry


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """The distinct documents of all queries; entries that are none go into `rejected` (DocumentError: nothing here is ToolBench)."""
    yield from read_rows(records, _documents, _tool, rejected)


def _documents(row: Json) -> list[Json]:
    if not _is_query(row):
        raise ValueError(f"{shown(row)} is no ToolBench query with an api_list")
    return list(row["api_list"])


def _tool(document: Json, place: str, _: int) -> Tool:
    if not _is_api(document):
        raise ValueError(f"{shown(document)} is no API document")
    if "required_parameters" not in document and "optional_parameters" not in document:
        raise ValueError(f"'{document['api_name'][:60]}' is only named, without parameters; its document is in ToolBench's tool files")
    notes: list[str] = []
    properties: dict[str, Json] = {}
    required = _add(document, "required_parameters", properties, notes)
    _add(document, "optional_parameters", properties, notes)
    schema = {"type": "object", "properties": properties, "required": required} if properties else None
    if document.get("template_response"):
        notes.append("/template_response: a sample of a response, not its schema; kept in raw only")
    said = {"name": document["api_name"], "description": document.get("api_description")}
    return made_tool({"format": NAME, "place": place}, document, said, schema, None, notes)


def _add(document: dict[str, Json], key: str, properties: dict[str, Json], notes: list[str]) -> list[str]:
    """Add one of the two lists of parameters to `properties`; returns the names it adds."""
    listed = document.get(key) or []
    if not isinstance(listed, list):
        raise ValueError(f"{key} is {shown(listed)}, not a list")
    added: list[str] = []
    for index, parameter in enumerate(listed):
        name = parameter.get("name") if isinstance(parameter, dict) else None
        if not isinstance(name, str) or not name:
            notes.append(f"/{key}/{index}: {shown(parameter)} has no name; left out")
        elif name in properties:
            notes.append(f"/{key}/{index}: a second '{name}', {shown(parameter)}; left out")
        else:
            properties[name] = _schema(parameter, pointer("properties", name), notes)
            added.append(name)
    return added


def _schema(parameter: dict[str, Json], here: str, notes: list[str]) -> dict[str, Json]:
    schema = {key: value for key, value in parameter.items() if key != "name"}
    if schema.get("default") == "":
        del schema["default"]
        notes.append(f"{here}: default '' means that there is none; left out")
    note_default(schema, here, notes)
    return schema
