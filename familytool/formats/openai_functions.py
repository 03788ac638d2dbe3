"""OpenAI's legacy functions: {"functions": [{"name", "description", "parameters"}]}."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from familytool.formats import openai
from familytool.model import Json, Tool, ToolCall

NAME = "openai-functions"
CARRIES = openai.CARRIES
LOST = openai.LOST
CONTAINER = "json"


def looks_like(value: Json) -> bool:
    """Whether this is an object with a list of `functions` (and no `tools`)."""
    return isinstance(value, dict) and isinstance(value.get("functions"), list) and "tools" not in value and openai.looks_like(value)


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """As `openai.read_tools`, which reads all forms."""
    for tool in openai.read_tools(records, rejected):
        yield tool.model_copy(update={"source": {**tool.source, "format": NAME}})


def write_tools(tools: Iterable[Tool]) -> Iterator[Json]:
    """One object with the list of functions."""
    yield {"functions": [openai.as_function(tool) for tool in tools]}


def write_calls(calls: Iterable[ToolCall]) -> list[Json]:
    """The `function_call` of an assistant's message for each call (the legacy form has one call a message)."""
    return [{"name": call.name, "arguments": openai.arguments_text(call)} for call in calls]
