"""Gemini function declarations: upper-case types, `nullable`, `propertyOrdering`; calls are `functionCall` parts.

Its Schema is a subset of OpenAPI 3.0 (Gemini API, `Schema`): what stands in `_KEPT` is written, the rest is lost and
`losses` says where. A declaration may instead hold plain JSON Schema under `parametersJsonSchema`, which is read as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from familytool.formats.duplicates import merge_duplicates
from familytool.formats.gemini_schema import read_schema, written_schema
from familytool.formats.openai import DocumentError, read_entry, shown
from familytool.model import Json, Tool, ToolCall

NAME = "gemini"
CARRIES = "names, descriptions, a subset of JSON Schema, response schema; no references, no closed or open objects, no return values"
LOST = (
    "$ref and $defs (written out; circular ones as anything), additionalProperties (read back: the whole closed, its parts open), "
    "allOf, not, const, enums other than of text, and notes"
)
CONTAINER = "json"

_DECLARATIONS = ("functionDeclarations", "function_declarations")


def looks_like(value: Json) -> bool:
    """Whether this is (a list of, or {"tools": ...} with) objects that hold `functionDeclarations`, or such objects themselves."""
    holders = _holders(value)
    return bool(holders) and any(isinstance(h, dict) and any(isinstance(h.get(key), list) for key in _DECLARATIONS) for h in holders)


def _holders(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return list(value["tools"]) if isinstance(value.get("tools"), list) else [value]
    return value if isinstance(value, list) else []


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """The declared functions, in order; tools that Gemini runs itself (search, code) go into `rejected`.

    Raises:
        DocumentError: a record that is neither a list nor an object.
    """
    yield from merge_duplicates(_read(records, rejected))


def _read(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    for place, value in records:
        if not isinstance(value, list | dict):
            raise DocumentError(f"{place}: {shown(value)} is no list of function declarations")
        for holder in _holders(value):
            keys = [key for key in _DECLARATIONS if isinstance(holder, dict) and isinstance(holder.get(key), list)]
            if not keys:
                rejected.append(f"{place}: {shown(holder)} has no functionDeclarations")
            for number, entry in enumerate((entry for key in keys for entry in holder[key]), 1):
                try:
                    yield _tool(entry, place, number)
                except ValueError as error:
                    rejected.append(f"{place}: {error}")


def _tool(entry: Json, place: str, number: int) -> Tool:
    if not isinstance(entry, dict):
        raise DocumentError(f"declaration {number} is {shown(entry)}, not an object with a name and parameters")
    notes: list[str] = []
    plain = next((entry[key] for key in ("parametersJsonSchema", "parameters_json_schema") if key in entry), None)
    parameters = plain if plain is not None else read_schema(entry.get("parameters"), "#", notes)
    tool = read_entry(entry, entry, f"declaration {number}", parameters, {"format": NAME, "place": place})
    plain = next((entry[key] for key in ("responseJsonSchema", "response_json_schema") if key in entry), None)
    response = plain if plain is not None else read_schema(entry.get("response"), "#/response", notes)
    if not (response is None or isinstance(response, dict)):
        notes.append(f"/response: {shown(response)} is no schema; left out")
    return tool.model_copy(update={"response": response if isinstance(response, dict) else {}, "notes": (*notes, *tool.notes)})


def write_tools(tools: Iterable[Tool]) -> Iterator[Json]:
    """One list with one object of declarations, as the `tools` of a request; a tool without parameters is written without."""
    yield [{"functionDeclarations": [_written(tool) for tool in tools]}]


def _written(tool: Tool) -> dict[str, Json]:
    declaration: dict[str, Any] = {"name": tool.name, "description": tool.description}
    schema = written_schema(tool.as_candidate().parameters, [])
    if schema != {"type": "OBJECT", "properties": {}}:
        declaration["parameters"] = schema
    if tool.response:
        declaration["response"] = written_schema(_as_schema(tool.response), [])
    return declaration


def _as_schema(response: dict[str, Json]) -> dict[str, Json]:
    """A response as one schema, also where it is a mapping from result names to schemas."""
    is_mapping = all(isinstance(value, dict) for value in response.values())
    return {"type": "object", "properties": response} if is_mapping else response


def losses(tool: Tool) -> list[str]:
    """What of a tool's schemas `write_tools` cannot carry: "pointer: keyword and what becomes of it".

    >>> losses(Tool(name="f", parameters={"type": "object", "properties": {"n": {"type": "integer", "multipleOf": 5}}}))
    ['#/properties/n: multipleOf is not written']
    """
    notes: list[str] = []
    written_schema(tool.as_candidate().parameters, notes)
    if tool.response:
        written_schema(_as_schema(tool.response), notes, "#/response")
    return notes


def write_calls(calls: Iterable[ToolCall]) -> list[Json]:
    """The parts of a model's content; arguments are an object (integers may come back as 3.0)."""
    return [{"functionCall": {"name": call.name, "args": call.arguments}} for call in calls]
