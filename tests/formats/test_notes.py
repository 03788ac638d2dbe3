"""Every repair of a reader is a note with its place, what stood there, and what it became."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from familytool.errors import FamilytoolError
from familytool.formats.documents import SUFFIXES, TOOL_FORMATS, read_documents
from familytool.formats.foreign_files import MAX_WHOLE
from familytool.model import Json

PLACE = re.compile(r"(?:response )?(?:#(?:/[^ :]*(?: [^ :]+)*)?|/[^ :]+): .")
"""A pointer into the parameters (`#/...`) or the response (`response #/...`), or into the document (`/...`)."""
REMARKS = ("ambiguous tool name ", "the description is blank", "the listing is incomplete: ", "the operation is deprecated", "content is ")
"""What is said of a whole document and repairs nothing."""

ODD: dict[str, tuple[str, Json]] = {
    "familytool-2025": ("familytool-2025", [{"role": "id", "content": "x_1"}, {"role": "candidate_tools", "content": [
        {"name": "f", "description": 3, "parameters": {"properties": [{"name": "a"}, {}, {"name": "a"}], "required": ["b", 2]}, "response": [], "odd": 1}]},
        {"role": "user", "content": "u"}, {"role": "tool_call", "content": []}]),
    "mtu-bench lists": ("mtu-bench", [{"name": "f", "description": "d", "required_parameters": ["a", {}, {"name": "b", "options": ["x"]}],
        "optional_parameters": [{"name": "c", "type": "int"}], "result_parameters": []}]),
    "mtu-bench maps": ("mtu-bench", [{"name": "f", "description": "d", "required_parameters": {"a": "^x"}, "optional_parameters": {"b": "dontcare"},
        "result_parameters": []}]),
    "mcp": ("mcp", {"tools": [{"name": "f", "title": "t", "inputSchema": {"type": "object"}, "outputSchema": [1]}, {"name": "g", "parameters": {"type": "dict"},
        "outputSchema": {"properties": {}}}]}),
    "gemini": ("gemini", [{"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT", "propertyOrdering": ["b", "zz", "a"],
        "properties": {"a": {"type": "STRING", "nullable": "yes"}, "b": {"type": "TYPE_UNSPECIFIED"}}}, "response": "text"}]}]),
    "xlam": ("xlam", {"query": "q", "answers": "[]",
        "tools": [{"name": "f g", "parameters": {"a": "int", "b": {"type": "odd", "default": "", "required": True}}}]}),
    "toolace": ("toolace", {"system": '[{"name": "f", "parameters": {"type": "dict", "properties": {"a": {"type": "int"}}}, "required": ["a"]}]',
        "conversations": []}),
    "seal-tools": ("seal-tools", {"api_name": "f", "api_description": "d", "parameters": {"a": {"type": "int", "example": 1, "choices": ["x"], "unit": "m"}},
        "required": "a", "responses": {"r": {"type": "str"}}, "odd": 1}),
    "nestful": ("nestful", [{"name": "f", "query_parameters": {"a": {"type": "Enum", "allowed_values": ["x"], "required": True}, "b": {"allowed_values": "odd"}},
        "path_parameters": {"a": {"type": "int", "allowed_values": ["x"], "default_value": 2}}, "output_parameters": {}}]),
    "toolbench": ("toolbench", {"api_list": [{"category_name": "c", "tool_name": "t", "api_name": "f/:id", "api_description": "d", "required_parameters": [{"name": "a",
        "type": "NUMBER", "default": ""}, {}], "optional_parameters": [{"name": "a"}], "method": "GET", "template_response": {"x": 1}}], "query": "q"}),
    "taskbench": ("taskbench", {"nodes": [{"id": "f g", "desc": "d", "parameters": [{"name": "a", "type": "date", "desc": "x"}, {"name": "a"}, {}]},
        {"id": "h", "desc": "d", "input-type": ["text"], "output-type": ["text"]}]}),
    "python": ("python", 'def f(a: int = len("x"), b: "Literal[1, x()]" = 1, *c, **d):\n    """Do.\n\n    Args:\n        e: gone.\n    """\n\n\ndef g():\n    """Do."""\n'),
    "openai": ("openai", [{"type": "function", "function": {"name": "f " * 40, "parameters": {"$schema": "x", "type": "object", "properties": {"a": {"type": "int"}}}}}]),
}  # fmt: skip


def without_place(notes: tuple[str, ...]) -> list[str]:
    return [note for note in notes if not PLACE.match(note) and not note.startswith(REMARKS)]


@pytest.mark.parametrize(("name", "record"), ODD.values(), ids=ODD.keys())
def test_every_repair_of_a_reader_names_its_place(name: str, record: Any) -> None:
    tools = list(TOOL_FORMATS[name].read_tools([("odd.json:1", record)], []))
    assert tools
    assert [without_place(tool.notes) for tool in tools] == [[]] * len(tools)
    assert any(tool.notes for tool in tools)


@pytest.mark.full
@pytest.mark.parametrize(
    "folder", ["mtu-bench", "bfcl", "nestful", "seal-tools", "api-bank", "toolbench", "toolalpaca", "taskbench", "vendor-shapes"]
)
def test_every_repair_of_published_documents_names_its_place(folder: str, foreign_data: Callable[[str], Path]) -> None:
    read = 0
    for path in sorted(foreign_data(folder).rglob("*")):
        if path.suffix not in SUFFIXES or not path.is_file() or path.stat().st_size > MAX_WHOLE // 20:
            continue
        try:
            tools = read_documents(path)
        except FamilytoolError:
            continue
        read += len(tools)
        assert [note for tool in tools for note in without_place(tool.notes)] == [], path.name
    assert read
