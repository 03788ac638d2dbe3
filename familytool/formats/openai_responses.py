"""The flat tool list of OpenAI's Responses API: {"type": "function", "name", "description", "parameters"}."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from familytool.formats import openai
from familytool.model import Json, Tool, ToolCall

NAME = "openai-responses"
CARRIES = openai.CARRIES
LOST = openai.LOST
CONTAINER = "json"


def looks_like(value: Json) -> bool:
    """Whether every entry of the list has `type: function` and its name beside it."""
    entries = openai.entries_of(value)
    return openai.looks_like(value) and all(e.get("type") == "function" and "function" not in e for e in entries)


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """As `openai.read_tools`, which reads all forms."""
    for tool in openai.read_tools(records, rejected):
        yield tool.model_copy(update={"source": {**tool.source, "format": NAME}})


def write_tools(tools: Iterable[Tool]) -> Iterator[Json]:
    """One flat list; `strict` is false, since the API's own default would demand that every parameter is required."""
    yield [{"type": "function", **openai.as_function(tool), "strict": False} for tool in tools]


def write_calls(calls: Iterable[ToolCall]) -> list[Json]:
    """The `function_call` items of an output; arguments are JSON text, encoded once."""
    return [
        {"type": "function_call", "call_id": f"call_{number}", "name": call.name, "arguments": openai.arguments_text(call)}
        for number, call in enumerate(calls, 1)
    ]
