"""What the tests of the read-only formats share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
from hypothesis import strategies as st

from familytool.formats.openai import DocumentError
from familytool.model import Tool
from familytool.validation.schema import schema_findings

Reader = Callable[[Iterable[tuple[str, Any]], list[str]], Iterator[Tool]]


def read(reader: Reader, value: Any) -> tuple[list[Tool], list[str]]:
    """The tools of one file, and what was rejected."""
    rejected: list[str] = []
    return list(reader([("file.json", value)], rejected)), rejected


def read_file(reader: Reader, *files: Path) -> tuple[list[Tool], list[str]]:
    """The tools of real files; each schema must be one."""
    rejected: list[str] = []
    tools = list(reader([(file.name, json.loads(file.read_text("utf-8"))) for file in files], rejected))
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(tool.parameters)
        assert tool.parameters["additionalProperties"] is False
    return tools, rejected


def documents(tools: list[Tool]) -> int:
    """How many documents the tools were, before equal ones were merged."""
    return sum(int(tool.source["uses"]) for tool in tools)


def codes(tool: Tool, arguments: dict[str, Any]) -> list[str]:
    return [finding.code for finding in schema_findings(tool.parameters, arguments, "") or []]


def junk(*keys: str) -> st.SearchStrategy[Any]:
    """JSON values that abound in the keys of a format."""
    words = st.sampled_from([*keys, "name", "type", "items", "properties", "required", "default"]) | st.text(max_size=4)
    plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words
    return st.recursive(plain, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=5), max_leaves=20)


def ends_well(reader: Reader, value: Any) -> None:
    """Whatever the value is, it gives tools, rejections, or one DocumentError."""
    try:
        tools, _ = read(reader, value)
    except DocumentError as error:
        assert "\n" not in str(error)
    else:
        assert all(tool.name.strip() for tool in tools)
