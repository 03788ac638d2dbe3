"""OpenAI tool lists: chat form, the flat form of the Responses API, and legacy functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from familytool.formats.schema import normalise_parameters
from familytool.model import Json, Tool


class DocumentError(ValueError):
    """A tool document that cannot be read; the message says which one and why, the caller says in which file."""


def looks_like(value: Json) -> bool:
    """Whether this is a list of tools (or {"tools": [...]}, or one tool) in one of OpenAI's forms."""
    entries = _entries(value)
    return bool(entries) and all(isinstance(e, dict) and ("function" in e or "name" in e) for e in entries)


def _entries(value: Json) -> list[Json]:
    if isinstance(value, dict):
        for key in ("tools", "functions"):
            if isinstance(value.get(key), list):
                return list(value[key])
        return [value]
    return value if isinstance(value, list) else []


def read_tools(value: Json, place: str) -> Iterator[Tool]:
    """The tools of an OpenAI tool list; `place` goes into each tool's source.

    Raises:
        DocumentError: an entry that is no object, has no name, or a schema that is no schema.
    """
    for number, entry in enumerate(_entries(value), 1):
        if not isinstance(entry, dict):
            raise DocumentError(f"entry {number} is {_shown(entry)}, not an object with a name and parameters")
        function = entry["function"] if isinstance(entry.get("function"), dict) else entry
        name = function.get("name")
        if not isinstance(name, str) or not name.strip():
            raise DocumentError(f"entry {number} has no name")
        description = function.get("description", "")
        try:
            schema, notes = normalise_parameters(function.get("parameters"))
        except ValueError as error:
            raise DocumentError(f"tool '{name}': {error}") from None
        sentences = function.get("x-phrase", schema.pop("x-phrase", None))
        if isinstance(sentences, list) and all(isinstance(text, str) and len(text) <= 2_000 for text in sentences):
            schema["x-phrase"] = sentences[:200]
        elif sentences is not None:
            notes.append("x-phrase is no list of sentences; left out")
        yield Tool(
            name=name,
            description=description if isinstance(description, str) else "",
            parameters=schema,
            source={"format": "openai", "place": place, "status": status(schema), "version": "1", "uses": "1"},
            notes=tuple(notes),
            raw=entry,
        )


def status(schema: dict[str, Any]) -> str:
    """How much a schema says of its parameters: ok (all typed), partly-typed or untyped."""
    typed = [bool({"type", "enum", "anyOf", "oneOf", "$ref"} & set(p)) for p in schema["properties"].values() if isinstance(p, dict)]
    return "ok" if all(typed) else "partly-typed" if any(typed) else "untyped"


def _shown(value: Json) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"


def write_tools(tools: list[Tool]) -> list[dict[str, Json]]:
    """The same tools in chat form."""
    return [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.as_candidate().parameters}}
        for t in tools
    ]
