"""The tool documents of FamilyTool (2025): the candidate lists of its sample files, and lists of `{name, description, parameters, response}`.

Parameters are JSON Schema with lapses (names required that are not declared, properties in a list, types of Python); the
response maps names of results to schemas. Documents without a response are read only where they stand in a row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from familytool.formats.duplicates import merge_duplicates
from familytool.formats.entries import pointer, read_choices
from familytool.formats.openai import DocumentError, shown, status
from familytool.formats.schema import normalise_parameters
from familytool.model import Json, Tool, canonical

NAME = "familytool-2025"
CARRIES = "names, descriptions, JSON Schema, names and schemas of results"
LOST = "notes and our x-phrase hints; that a schema is closed is not written, since its reader closes it"
CONTAINER = "json"

ROLES = ("id", "candidate_tools", "user", "tool_call")
_KEYS = {"name", "description", "parameters", "response"}


def is_row(value: Json) -> bool:
    """Whether a JSONL record has the four messages of a FamilyTool row, in their order."""
    return (
        isinstance(value, list)
        and len(value) == len(ROLES)
        and all(isinstance(m, dict) and m.get("role") == role for m, role in zip(value, ROLES, strict=True))
    )


def looks_like(value: Json) -> bool:
    """Whether this is a row of a sample file, or a list of documents with a response each (or one of them)."""
    entries = value if isinstance(value, list) else [value]
    return is_row(value) or (bool(entries) and all(map(_is_document, entries)))


def _is_document(entry: Json) -> bool:
    parameters = entry.get("parameters") if isinstance(entry, dict) else None
    return (
        isinstance(entry, dict)
        and entry.keys() == _KEYS
        and isinstance(parameters, dict)
        and parameters.get("type", "object") == "object"
        and isinstance(entry["response"], dict)
    )


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """The distinct candidate documents of all rows (or of lists of documents), in order of first appearance.

    Args:
        records: (place, record) pairs; a record is a row, a list of documents, or one document.
        rejected: gets a sentence for each document that cannot be read, and for each row that holds none.

    Raises:
        DocumentError: a record that is neither an array nor an object.
    """
    yield from merge_duplicates(_read(records, rejected))


def _read(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    for place, record in records:
        if not isinstance(record, list | dict):
            raise DocumentError(f"{place}: {shown(record)} is neither a row nor a list of tool documents")
        documents = record[1].get("content") if is_row(record) else record if isinstance(record, list) else [record]
        if not isinstance(documents, list):
            rejected.append(f"{place}: the content of 'candidate_tools' is {shown(documents)}, no list")
            continue
        for number, document in enumerate(documents):
            try:
                tool = tool_of(document, number)
            except DocumentError as error:
                rejected.append(f"{place}: {error}")
            else:
                yield tool.model_copy(update={"source": {**tool.source, "place": place}})


def tool_of(document: Json, number: int) -> Tool:
    """The tool of the document that is listed as `number`; equal documents are one object (DocumentError: it is none)."""
    if not isinstance(document, dict) or not isinstance(document.get("name"), str) or not document["name"].strip():
        raise DocumentError(f"candidate tool {number} is no tool document with a name")
    return _tool(json.dumps(document, ensure_ascii=False))


@lru_cache(maxsize=4096)
def _tool(text: str) -> Tool:
    """The tool of a document's JSON text; cached, so that equal documents are one object."""
    document: dict[str, Any] = json.loads(text)
    notes: list[str] = []
    said = dict(document)
    parameters = document.get("parameters")
    try:
        if isinstance(parameters, dict) and not isinstance(parameters.get("properties", {}), dict | list):
            raise ValueError(f"properties must be an object or a list, found {type(parameters['properties']).__name__}")
        schema, repairs = normalise_parameters(_with_choices(parameters, notes))
    except (ValueError, TypeError) as error:  # a TypeError: a type or a name that is an object
        raise DocumentError(f"candidate tool '{document['name']}': {error}") from None
    for key, empty in (("description", ""), ("response", {})):
        if not isinstance(document.get(key, empty), type(empty)):
            notes.append(f"/{key}: {shown(document[key])}, where {'a text' if empty == '' else 'an object'} belongs; left out")
            said[key] = empty
    for key in [key for key in document if key not in _KEYS]:
        notes.append(f"/{key}: {shown(document[key])} is no part of a tool document; kept in raw only")
    return Tool(
        name=document["name"],
        description=said.get("description", ""),
        parameters=schema,
        response=said.get("response", {}),
        source={"format": NAME, "status": status(schema)},
        notes=(*notes, *repairs),
        raw=document,
    )


def _with_choices(parameters: Json, notes: list[str]) -> Json:
    """The parameters with the lists of choices of its properties as enums."""
    declared = parameters.get("properties") if isinstance(parameters, dict) else None
    if not isinstance(declared, dict):
        return parameters
    read = {name: read_choices(p, pointer("properties", name), notes) if isinstance(p, dict) else p for name, p in declared.items()}
    return {**parameters, "properties": read}


def write_tools(tools: Iterable[Tool]) -> Iterator[Json]:
    """One list of documents; a tool that was read in this format, and is unchanged, is written as it stood."""
    yield [write_document(tool, tool.raw if tool.source.get("format") == NAME else None) for tool in tools]


def write_document(tool: Tool, before: Json = None) -> dict[str, Json]:
    """A tool as a document; what it says as `before` (the document as it was) says it keeps that spelling, key by key.

    >>> write_document(Tool(name="f", parameters={"type": "object", "properties": {}, "additionalProperties": False}))
    {'name': 'f', 'description': '', 'parameters': {'type': 'object', 'properties': {}, 'required': []}, 'response': {}}
    """
    old = _tool(json.dumps(before, ensure_ascii=False)) if isinstance(before, dict) and isinstance(before.get("name"), str) else None
    if old is tool:
        return dict(before)
    new = {"name": tool.name, "description": tool.description, "parameters": _parameters(tool), "response": tool.response}
    if old is None:
        return new
    same = {
        "name": tool.name == old.name,
        "description": tool.description == old.description,
        "parameters": canonical(tool.as_candidate().parameters) == canonical(old.as_candidate().parameters),
        "response": not tool.response or canonical(tool.response) == canonical(old.response),  # runs do not keep responses
    }
    return {**before, **{key: value for key, value in new.items() if not same[key]}}


def _parameters(tool: Tool) -> dict[str, Json]:
    """The schema without the closing that the reader adds, so that an open one says that it is open."""
    schema = tool.as_candidate().parameters
    combined = any(key in schema for key in ("allOf", "anyOf", "oneOf", "if", "$ref", "dependentSchemas"))
    closing = "unevaluatedProperties" if combined else "additionalProperties"
    if "additionalProperties" not in schema and "unevaluatedProperties" not in schema:
        schema = {**schema, closing: True}
    elif schema.get(closing) is False and not {"additionalProperties", "unevaluatedProperties"} <= schema.keys():
        schema = {key: value for key, value in schema.items() if key != closing}
    return {"type": "object", "properties": {}, "required": [], **schema}
