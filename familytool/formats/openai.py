"""OpenAI tool lists in chat form; the flat form of the Responses API and legacy functions are read here too.

Three forms are one reader, since files mix them; `openai_responses.py` and `openai_functions.py` write the other two.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from familytool.formats.aliases import FITTING
from familytool.formats.duplicates import merge_duplicates
from familytool.formats.schema import normalise_parameters
from familytool.model import Json, Tool, ToolCall

NAME = "openai"
CARRIES = "names, descriptions, JSON Schema; no response schema, no return values"
LOST = "response schemas, notes and our x-phrase hints"
CONTAINER = "json"

_FOREIGN = frozenset(
    {"input_schema", "inputSchema", "functionDeclarations", "function_declarations", "required_parameters", "optional_parameters",
     "query_parameters", "path_parameters", "arguments", "input_parameters", "api_name", "apis"}
)  # fmt: skip
"""Keys under which other formats keep their parameters: read as OpenAI, such a tool would silently have none."""


class DocumentError(ValueError):
    """A tool document that cannot be read; the message says which one and why, the caller says in which file."""


def looks_like(value: Json) -> bool:
    """Whether this is a list of tools (or {"tools": [...]}, or one tool) in one of OpenAI's forms."""
    entries = entries_of(value)
    return bool(entries) and all(isinstance(e, dict) and _is_function(e) and not _FOREIGN & e.keys() for e in entries)


def _is_function(entry: dict[str, Json]) -> bool:
    return isinstance(entry["function"], dict) if "function" in entry else "name" in entry


def entries_of(value: Json) -> list[Json]:
    """The entries of a list, of {"tools": [...]} or {"functions": [...]}, or the one tool itself."""
    if isinstance(value, dict):
        for key in ("tools", "functions"):
            if isinstance(value.get(key), list):
                return list(value[key])
        return [value]
    return value if isinstance(value, list) else []


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """The tools of OpenAI tool lists, in order.

    Args:
        records: (place, list) pairs; the place goes into each tool's source.
        rejected: gets a sentence for each entry that is no object, has no name, or has a schema that is no schema.

    Raises:
        DocumentError: a record that is neither a list nor an object.
    """
    yield from merge_duplicates(each_entry(records, rejected, entries_of, _tool))


def each_entry(
    records: Iterable[tuple[str, Json]],
    rejected: list[str],
    entries: Callable[[Json], list[Json]],
    read_one: Callable[[Json, str, int], Tool],
) -> Iterator[Tool]:
    """The tools of records that are lists (or objects that hold one); an entry that `read_one` refuses goes into `rejected`."""
    for place, value in records:
        if not isinstance(value, list | dict):
            raise DocumentError(f"{place}: {shown(value)} is no tool list")
        for number, entry in enumerate(entries(value), 1):
            try:
                yield read_one(entry, place, number)
            except ValueError as error:
                rejected.append(f"{place}: {error}")


def _tool(entry: Json, place: str, number: int) -> Tool:
    if not isinstance(entry, dict):
        raise DocumentError(f"entry {number} is {shown(entry)}, not an object with a name and parameters")
    function = entry["function"] if isinstance(entry.get("function"), dict) else entry
    return read_entry(function, entry, f"entry {number}", function.get("parameters"), {"format": NAME, "place": place})


def read_entry(document: dict[str, Json], raw: Json, which: str, parameters: Json, origin: dict[str, str]) -> Tool:
    """One tool of a form that has `name` and `description` and keeps its JSON Schema under some key.

    Args:
        document: the object with the name.
        raw: the document as it was, the envelope included.
        which: how an error calls a document without a name.
        parameters: its schema, already taken out of the document.
        origin: `format` and `place` of the source.

    Raises:
        DocumentError: no name, or a schema that is no schema.
    """
    name = document.get("name")
    if not isinstance(name, str) or not name.strip():
        raise DocumentError(f"{which} has no name")
    description = document.get("description")
    try:
        schema, notes = normalise_parameters(parameters)
    except ValueError as error:
        raise DocumentError(f"tool '{name}': {error}") from None
    dialect = schema.pop("$schema", None)
    if dialect is not None:
        notes.append(f"#/$schema: {shown(dialect)} read as JSON Schema 2020-12; left out")
    sentences = document.get("x-phrase", schema.pop("x-phrase", None))
    if isinstance(sentences, list) and all(isinstance(text, str) and len(text) <= 2_000 for text in sentences):
        schema["x-phrase"] = sentences[:200]
    elif sentences is not None:
        notes.append(f"#/x-phrase: {shown(sentences)} is no list of sentences; left out")
    if not isinstance(description, str):
        notes.append(
            "/description: none is given; read as empty"
            if description is None
            else f"/description: {shown(description)} is no text; left out"
        )
    if len(name) > 64:
        notes.append(f"/name: it has {len(name)} characters; providers take 64, so it is offered to them by an alias")
    elif not FITTING.fullmatch(name):
        notes.append("/name: it has characters that providers refuse, so it is offered to them by an alias")
    return Tool(
        name=name,
        description=description if isinstance(description, str) else "",
        parameters=schema,
        source={**origin, "status": status(schema), "version": "1", "uses": "1"},
        notes=tuple(notes),
        raw=raw,
    )


def status(schema: dict[str, Any]) -> str:
    """How much a schema says of its parameters: ok (all typed), partly-typed or untyped."""
    typed = [bool({"type", "enum", "anyOf", "oneOf", "$ref"} & set(p)) for p in schema["properties"].values() if isinstance(p, dict)]
    return "ok" if all(typed) else "partly-typed" if any(typed) else "untyped"


def shown(value: Json) -> str:
    """A value in an error or note: its type and at most forty characters."""
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"


def write_tools(tools: Iterable[Tool]) -> Iterator[Json]:
    """One list of the same tools in chat form."""
    yield [{"type": "function", "function": as_function(tool)} for tool in tools]


def as_function(tool: Tool) -> dict[str, Json]:
    """Name, description and schema, as all three forms of OpenAI hold them."""
    return {"name": tool.name, "description": tool.description, "parameters": tool.as_candidate().parameters}


def write_calls(calls: Iterable[ToolCall]) -> list[Json]:
    """The `tool_calls` of an assistant's message; arguments are JSON text, encoded once.

    >>> write_calls([ToolCall(name="f", arguments={"a": 1})])[0]["function"]
    {'name': 'f', 'arguments': '{"a": 1}'}
    """
    return [
        {"id": f"call_{number}", "type": "function", "function": {"name": call.name, "arguments": arguments_text(call)}}
        for number, call in enumerate(calls, 1)
    ]


def arguments_text(call: ToolCall) -> str:
    """The arguments as the JSON text that OpenAI's forms want."""
    return json.dumps(call.arguments, ensure_ascii=False)
