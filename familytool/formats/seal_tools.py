"""Seal-Tools: `tool.jsonl`, one document a line, read only.

A document is `{api_name, api_description, field, parameters, required, responses}`; parameters and responses are flat maps from
name to `{type, description}` with Python's type names and some stray keys (`example`, `unit`, `choices`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from familytool.formats.entries import with_choices
from familytool.formats.openai import read_entry, shown
from familytool.formats.rows import read_response, read_rows
from familytool.model import Json, Tool

NAME = "seal-tools"
CARRIES = "names, descriptions, simple types, required names, responses; no nested parameters"
LOST = ""
CONTAINER = "jsonl"

_KEYS = {"api_name", "api_description", "field", "parameters", "required", "responses"}
_EXAMPLES = ("example", "examples", "example_values")
_CHOICES = ("choices", "possible_values", "allowed_values")


def looks_like(value: Json) -> bool:
    """Whether a record is a Seal-Tools document."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("api_name"), str)
        and isinstance(value.get("api_description"), str)
        and isinstance(value.get("parameters"), dict)
    )


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """The distinct documents, in order of first appearance.

    Args:
        records: (place, document) pairs; the documents of a file may also come as one list.
        rejected: gets a sentence for each record that is no tool document.

    Raises:
        DocumentError: no record is one (a file of calls, for example).
    """
    yield from read_rows(records, _documents, _tool, rejected)


def _documents(row: Json) -> list[Json]:
    if isinstance(row, dict) and "api_name" in row:
        return [row]
    if isinstance(row, dict) and "calling" in row:
        raise ValueError("a query with its calls, not a tool document")
    raise ValueError(f"{shown(row)} is no tool document (it has no api_name)")


def _tool(document: Json, place: str, _: int) -> Tool:
    notes = [f"/{key}: {shown(document[key])} is no part of a document; kept in raw only" for key in document if key not in _KEYS]
    required = document.get("required", [])
    if not isinstance(required, list):
        notes.append(f"/required: {shown(required)} is no list of names; left out")
        required = []
    declared = document.get("parameters")
    if isinstance(declared, dict) and declared:
        declared = {"type": "object", "properties": _properties(declared, "#", notes), "required": required}
    responses = document.get("responses")
    if isinstance(responses, dict) and responses:
        responses = {"type": "object", "properties": _properties(responses, "response #", notes)}
    entry = {"name": document.get("api_name"), "description": document.get("api_description")}
    tool = read_entry(entry, document, "the document", declared, {"format": NAME, "place": place})
    response = read_response(responses, notes)
    return tool.model_copy(update={"response": response, "notes": (*notes, *tool.notes)})


def _properties(declared: dict[str, Json], root: str, notes: list[str]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name, entry in declared.items():
        here = f"{root}/properties/{name.replace('~', '~0').replace('/', '~1')}"
        found[name] = _parameter(entry, here, notes) if isinstance(entry, dict) else entry
    return found


def _parameter(entry: dict[str, Json], here: str, notes: list[str]) -> dict[str, Json]:
    """The schema of one parameter; stray keys without a counterpart stay beside a note."""
    schema: dict[str, Json] = {}
    examples: list[Json] = []
    for key, value in entry.items():
        if key in _EXAMPLES:
            examples.extend(value if isinstance(value, list) else [value])
            if key != "examples" or not isinstance(value, list):
                notes.append(f"{here}/{key}: {shown(value)} read as examples")
        elif key in _CHOICES and (chosen := with_choices({k: entry[k] for k in ("type", "items") if k in entry}, value)):
            schema |= {k: v for k, v in chosen.items() if k in ("enum", "items")}
            notes.append(f"{here}/{key}: {shown(value)} read as enum{'' if 'enum' in chosen else ' of the items'}")
        elif key in (*_CHOICES, "unit"):
            schema[key] = value
            notes.append(f"{here}/{key}: {shown(value)} is no JSON Schema; kept as it is")
        else:
            schema[key] = value
    return {**schema, "examples": examples} if examples else schema
