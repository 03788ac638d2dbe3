"""Anthropic tool lists: {"name", "description", "input_schema"}; calls are `tool_use` blocks whose input is an object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from familytool.formats.duplicates import merge_duplicates
from familytool.formats.openai import DocumentError, each_entry, read_entry, shown
from familytool.model import Json, Tool, ToolCall

NAME = "anthropic"
CARRIES = "names, descriptions, JSON Schema; no response schema, no return values"
LOST = "response schemas, notes and our x-phrase hints"
CONTAINER = "json"


def looks_like(value: Json) -> bool:
    """Whether this is a list of tools (or {"tools": [...]}, or one tool) of which at least one has an `input_schema`."""
    entries = _entries(value)
    return all(isinstance(e, dict) and "name" in e and "function" not in e for e in entries) and any("input_schema" in e for e in entries)


def _entries(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return list(value["tools"]) if isinstance(value.get("tools"), list) else [value]
    return value if isinstance(value, list) else []


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """The tools of the lists; a tool that Anthropic runs itself has no schema and goes into `rejected`.

    Raises:
        DocumentError: a record that is neither a list nor an object.
    """
    yield from merge_duplicates(each_entry(records, rejected, _entries, _tool))


def _tool(entry: Json, place: str, number: int) -> Tool:
    if not isinstance(entry, dict):
        raise DocumentError(f"entry {number} is {shown(entry)}, not an object with a name and an input_schema")
    if "input_schema" not in entry and entry.get("type", "custom") != "custom":
        raise DocumentError(f"entry {number} is of type {shown(entry['type'])}: a tool that Anthropic defines, without a document")
    return read_entry(entry, entry, f"entry {number}", entry.get("input_schema"), {"format": NAME, "place": place})


def write_tools(tools: Iterable[Tool]) -> Iterator[Json]:
    """One list, as the `tools` of a request."""
    yield [{"name": tool.name, "description": tool.description, "input_schema": tool.as_candidate().parameters} for tool in tools]


def write_calls(calls: Iterable[ToolCall]) -> list[Json]:
    """The `tool_use` blocks of an assistant's message; the input is an object, not text."""
    return [{"type": "tool_use", "id": f"toolu_{n}", "name": call.name, "input": call.arguments} for n, call in enumerate(calls, 1)]
