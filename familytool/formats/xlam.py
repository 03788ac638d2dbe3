"""xLAM / APIGen: rows `{id, query, answers, tools}` in which `answers` and `tools` are JSON texts.

Parameters are a flat map from name to `{description, type, default}`; types are Python texts (`List[Union[int, float]]`).
There is no list of required names. The rule here: a parameter may be absent if its type says so (`str, optional`,
`Optional[int]`); a default alone does not make it optional, because many defaults are example values of the API. The
default '' is the format's word for none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from familytool.formats.openai import read_entry, shown
from familytool.formats.python_types import schema_of, text_of_type
from familytool.formats.rows import read_rows
from familytool.formats.text import TextError, parse_json
from familytool.model import Json, Tool

NAME = "xlam"
CARRIES = "names, descriptions, types as Python texts, defaults, which parameters may be absent"
LOST = "enumerations, ranges, patterns, most formats, nested properties, defaults of '', response schemas, notes and our x-phrase hints"
CONTAINER = "jsonl"


def looks_like(value: Json) -> bool:
    """Whether a record is an xLAM row: a query, answers and tools, the tools as JSON text (or as a list in some copies)."""
    if isinstance(value, list):
        return bool(value) and all(map(looks_like, value[:5])) and not any(isinstance(row, list) for row in value[:5])
    return (
        isinstance(value, dict)
        and isinstance(value.get("query"), str)
        and isinstance(value.get("answers"), str | list)
        and isinstance(value.get("tools"), str | list)
    )


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """The distinct documents of all rows, in order of first appearance.

    Args:
        records: (place, row) pairs; the rows of a file may also come as one list.
        rejected: gets a sentence for each row without readable tools and for each entry that is no tool document.

    Raises:
        DocumentError: no row has a readable list of tools.
    """
    yield from read_rows(records, documents_of, tool_of, rejected)


def documents_of(row: Json) -> list[Json]:
    """The documents of a row, decoded where they are a text (ValueError: it has none)."""
    if not isinstance(row, dict) or "tools" not in row:
        raise ValueError(f"{shown(row)} is no row with 'tools'")
    tools = row["tools"]
    if isinstance(tools, str):
        try:
            tools = parse_json(tools)
        except TextError as error:
            raise ValueError(f"the text under 'tools' cannot be read: {error}") from None
    if not isinstance(tools, list):
        raise ValueError(f"'tools' is {shown(tools)}, not a list of tool documents")
    return tools


def tool_of(document: Json, place: str, number: int) -> Tool:
    """The tool of the document that is listed as `number`, its parameters a flat map or a JSON Schema (ValueError: it is none)."""
    if not isinstance(document, dict):
        raise ValueError(f"entry {number} of 'tools' is {shown(document)}, no tool document")
    function = document["function"] if isinstance(document.get("function"), dict) else document
    declared, notes = function.get("parameters"), list[str]()
    if isinstance(declared, dict) and isinstance(declared.get("type"), str):
        notes.append("#: a JSON Schema, not a flat map; read as it is")
    elif isinstance(declared, dict) and declared:
        declared = _from_flat(declared, notes)
    tool = read_entry(function, document, f"entry {number} of 'tools'", declared, {"format": NAME, "place": place})
    return tool.model_copy(update={"notes": (*notes, *tool.notes)})


def _from_flat(declared: dict[str, Json], notes: list[str]) -> dict[str, Json]:
    """The JSON Schema of a flat map from names to descriptions, types and defaults."""
    properties: dict[str, Json] = {}
    required: list[str] = []
    for name, entry in declared.items():
        here = f"#/properties/{name.replace('~', '~0').replace('/', '~1')}"
        properties[name], optional = _parameter(entry, here, notes)
        if not optional:
            required.append(name)
    notes.append(f"#/required: not given; read as the parameters whose type does not say 'optional': {len(required)} of {len(properties)}")
    return {"type": "object", "properties": properties, "required": required}


def _parameter(entry: Json, here: str, notes: list[str]) -> tuple[Json, bool]:
    """The schema of one parameter and whether it may be absent."""
    if isinstance(entry, str):
        notes.append(f"{here}: {shown(entry)} where an object belongs; read as its type")
        entry = {"type": entry}
    if not isinstance(entry, dict):
        return entry, False
    schema: dict[str, Json] = {}
    optional = False
    for key, value in entry.items():
        if key == "type" and isinstance(value, str):
            try:
                meant, optional = schema_of(value)
            except ValueError as error:
                meant, optional = {}, "optional" in value.lower()
                notes.append(f"{here}: type {shown(value)} is unknown ({error}); read as 'anything'")
            else:
                notes.append(f"{here}: type '{value}' read as {_in_words(meant)}")
            schema.update(meant)
        elif key == "default" and value == "":
            notes.append(f"{here}: default '' means none; left out")
        elif key == "required" and isinstance(value, bool):
            notes.append(f"{here}: required = {value} is no JSON Schema; read into the list of required names")
        else:
            schema[key] = value
    if isinstance(entry.get("required"), bool):
        optional = not entry["required"]
    if "default" in schema and not optional:
        notes.append(f"{here}: a default, but the type does not say 'optional'; read as required")
    return schema, optional


def _in_words(schema: dict[str, Json]) -> str:
    return (
        str(schema["type"])
        if schema.keys() == {"type"} and isinstance(schema["type"], str)
        else json.dumps(schema)
        if schema
        else "'anything'"
    )


def write_tools(tools: Iterable[Tool]) -> Iterator[Json]:
    """One row for each tool, with an empty query and without answers."""
    for number, tool in enumerate(tools):
        yield {"id": number, "query": "", "answers": "[]", "tools": json.dumps([write_document(tool)], ensure_ascii=False)}


def write_document(tool: Tool) -> dict[str, Json]:
    """A tool with its parameters as a flat map.

    >>> write_document(Tool(name="f", parameters={"properties": {"n": {"type": "integer", "default": 2}}}))["parameters"]
    {'n': {'description': '', 'type': 'int, optional', 'default': 2}}
    """
    required = tool.parameters.get("required", [])
    properties: dict[str, Any] = tool.as_candidate().parameters.get("properties", {})
    flat = {name: _flat(inner if isinstance(inner, dict) else {}, name in required) for name, inner in properties.items()}
    return {"name": tool.name, "description": tool.description, "parameters": flat}


def _flat(schema: dict[str, Json], required: bool) -> dict[str, Json]:
    description = schema.get("description")
    text = text_of_type(schema)
    entry = {"description": description if isinstance(description, str) else "", "type": text if required else f"{text}, optional"}
    if "default" in schema:
        entry["default"] = schema["default"]
    elif not required:
        entry["default"] = ""
    return entry
