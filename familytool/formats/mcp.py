"""MCP tool listings: pages of `tools/list`, as bare results or in JSON-RPC envelopes, and single Tool objects.

Source: the MCP schema of 2025-11-25 (a tool requires `name` and `inputSchema`; `nextCursor` says that a page follows).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from familytool.formats.duplicates import merge_duplicates
from familytool.formats.openai import DocumentError, read_entry, shown
from familytool.model import Json, Tool, ToolCall

NAME = "mcp"
CARRIES = "names, descriptions, JSON Schema, response schema; no return values"
LOST = "notes, our x-phrase hints, and titles and annotations of a listing that was read"
CONTAINER = "json"

_KNOWN = frozenset({"name", "description", "inputSchema", "outputSchema", "x-phrase"})


def looks_like(value: Json) -> bool:
    """Whether this is a tools/list result or its envelope, a list of either, or tools of which one has an `inputSchema`."""
    pages = _pages(value)
    entries = [entry for page in pages for entry in page["tools"]]
    if not pages or not all(isinstance(e, dict) and "name" in e and "function" not in e for e in entries):
        return False
    return any("inputSchema" in e for e in entries) or (not entries and _is_envelope(value))


def _is_envelope(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("result"), dict) and isinstance(value["result"].get("tools"), list)


def _pages(value: Json) -> list[dict[str, Json]]:
    """The pages ({"tools": [...], "nextCursor"?}) that a value stands for; empty if it is none."""
    if isinstance(value, list):
        if value and all(_is_envelope(item) for item in value):
            return [item["result"] for item in value]
        return [{"tools": value}] if value else []
    if not isinstance(value, dict):
        return []
    if _is_envelope(value):
        return [value["result"]]
    if isinstance(value.get("tools"), list):
        return [value]
    return [{"tools": [value]}] if "inputSchema" in value else []


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """The tools of all pages; those of a page with `nextCursor` that no page of the same file follows say so in a note.

    Messages of a recorded session that are no tool listing go into `rejected`.

    Raises:
        DocumentError: no record holds a tool listing.
    """
    yield from merge_duplicates(_read(records, rejected))


def _read(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    waiting: tuple[str, dict[str, Json]] | None = None  # one page is held back until it is known whether another follows
    found, odd = False, 0
    for place, value in records:
        pages = _pages(value)
        if not pages and value != []:
            odd += 1
            rejected.append(f"{place}: {shown(value)} is no tools/list result")
        for page in pages:
            found = True
            if waiting is not None:
                yield from _page(*waiting, _file(waiting[0]) == _file(place), rejected)
            waiting = (place, page)
    if waiting is not None:
        yield from _page(*waiting, False, rejected)
    if odd and not found:
        raise DocumentError(f"none of {odd} records is a tools/list result of MCP")


def _file(place: str) -> str:
    """The file of a place "name:line"."""
    file, _, line = place.rpartition(":")
    return file if file and line.isdecimal() else place


def _page(place: str, page: dict[str, Json], is_followed: bool, rejected: list[str]) -> Iterator[Tool]:
    cursor = page.get("nextCursor")
    more = () if cursor is None or is_followed else (f"the listing is incomplete: its page ends with nextCursor {shown(cursor)}",)
    for number, entry in enumerate(page["tools"], 1):
        try:
            tool = _tool(entry, place, number)
        except ValueError as error:
            rejected.append(f"{place}: {error}")
        else:
            yield tool.model_copy(update={"notes": (*tool.notes, *more)})


def _tool(entry: Json, place: str, number: int) -> Tool:
    if not isinstance(entry, dict):
        raise DocumentError(f"tool {number} is {shown(entry)}, not an object with a name and an inputSchema")
    notes: list[str] = []
    parameters = entry.get("inputSchema")
    if "inputSchema" not in entry and entry.get("parameters") is not None:
        parameters = entry["parameters"]
        notes.append("/parameters: they stand here, not under 'inputSchema'; read as such")
    tool = read_entry(entry, entry, f"tool {number}", parameters, {"format": NAME, "place": place})
    kept = [key for key in entry if key not in _KNOWN and key != "parameters"]
    notes += (f"/{key[:60]}: {shown(entry[key])} is no part of the parameters; kept in raw only" for key in kept[:20])
    response = _response(entry.get("outputSchema"), notes)
    return tool.model_copy(update={"response": response, "notes": (*tool.notes, *notes)})


def _response(schema: Json, notes: list[str]) -> dict[str, Json]:
    """The response schema as it is given: a document may promise less than it returns, so it is not closed."""
    if schema is None:
        return {}
    if not isinstance(schema, dict):
        notes.append(f"/outputSchema: {shown(schema)} is no schema; left out")
        return {}
    if schema and not _is_schema(schema):
        notes.append("/outputSchema: no type is given; read as object")
        return {"type": "object", **schema}
    return schema


def _is_schema(response: dict[str, Any]) -> bool:
    """Whether a response is one schema, as MCP has it, and not a mapping from result names to schemas (all of them objects)."""
    return not all(isinstance(value, dict) for value in response.values())


def write_tools(tools: Iterable[Tool]) -> Iterator[Json]:
    """One tools/list result, all tools on one page."""
    yield {"tools": [_written(tool) for tool in tools]}


def _written(tool: Tool) -> dict[str, Json]:
    document = {"name": tool.name, "description": tool.description, "inputSchema": tool.as_candidate().parameters}
    if tool.response:
        is_schema = _is_schema(tool.response)
        document["outputSchema"] = tool.response if is_schema else {"type": "object", "properties": tool.response}
    return document


def write_calls(calls: Iterable[ToolCall]) -> list[Json]:
    """The `tools/call` requests."""
    return [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": call.name, "arguments": call.arguments}}
        for number, call in enumerate(calls, 1)
    ]
