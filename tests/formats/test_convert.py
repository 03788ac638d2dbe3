"""Conversion between formats: what is read, kept, rejected and lost is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from familytool.errors import FamilytoolError, UsageError
from familytool.formats.convert import MAX_TOLD, convert_text
from familytool.formats.documents import TOOL_FORMATS, read_documents
from familytool.formats.graphs import GRAPH_FORMATS
from familytool.model import Tool

DOCUMENTS = [
    {
        "type": "function",
        "function": {
            "name": "book.table",
            "description": "Reserve a table.",
            "parameters": {
                "type": "object",
                "properties": {"restaurant": {"type": "string", "description": "Where."}, "guests": {"type": "integer", "minimum": 1}},
                "required": ["restaurant"],
                "additionalProperties": False,
            },
        },
    },
    {
        "type": "function",
        "function": {"name": "list_alarms", "description": "All alarms.", "parameters": {"type": "object", "properties": {}}},
    },
]
WRITABLE = [name for name, known in TOOL_FORMATS.items() if known.write_tools]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(DOCUMENTS), encoding="utf-8")
    return path


def content(tools: list[Tool]) -> list[tuple[str, str, dict[str, object]]]:
    return [(tool.name, tool.description, {k: v for k, v in tool.parameters.items() if k != "required" or v}) for tool in tools]


@pytest.mark.parametrize("name", WRITABLE)
def test_written_documents_are_recognised_and_read_back_the_same(name: str, source: Path, tmp_path: Path) -> None:
    pieces, account = convert_text(source, "auto", name)
    target = tmp_path / f"out.{TOOL_FORMATS[name].container}"
    target.write_text("".join(pieces), encoding="utf-8")
    again = read_documents(target)
    assert account.kept == 2
    assert account.source_format == "openai"
    assert {tool.source["format"] for tool in again} == {name}
    if name not in ("gemini", "xlam"):  # whose forms lack keywords (minimum); their own tests say what is lost
        assert content(again) == content(read_documents(source))


def typed(number: int, kind: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": f"f{number}", "description": "d", "parameters": {"type": "object", "properties": {"a": kind}}},
    }


ODD: dict[str, tuple[Any, str]] = {
    "val-007 a misspelt format": (
        {"type": "string", "format": "datetime"},
        "#/properties/a/format: 'datetime' is no known format and is not checked; did you mean 'date-time'?",
    ),
    "val-007 a format of their own": (
        {"type": "string", "format": "coordinate"},
        "#/properties/a/format: 'coordinate' is no known format and is not checked",
    ),
    "imp-001 a type of another language": ({"type": "int"}, "#/properties/a: type 'int' read as integer"),
    "imp-017 a pattern that could take too long": (
        {"type": "string", "pattern": "^(a+)+$"},
        "#/properties/a/pattern: pattern '^(a+)+$' is not run here (it could take too long); no value is judged by it",
    ),
}


@pytest.mark.parametrize(("schema", "note"), ODD.values(), ids=ODD.keys())
def test_what_was_mended_or_is_odd_is_told_with_tool_and_place(schema: Any, note: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(json.dumps([typed(1, schema)]), encoding="utf-8")
    _, account = convert_text(path, "auto", "openai")
    assert account.notes == [f"tool 'f1' (odd.json): {note}"]
    assert account.losses == account.notes
    assert account.rejected == []


def test_of_many_notes_the_first_are_told_and_the_others_counted(tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(json.dumps([typed(number, {"type": "int"}) for number in range(MAX_TOLD + 5)]), encoding="utf-8")
    _, account = convert_text(path, "auto", "openai")
    assert len(account.notes) == MAX_TOLD + 5
    assert account.losses == [*account.notes[:MAX_TOLD], "... and 5 more notes of what was mended, or is odd"]


def test_a_format_that_is_unknown_or_read_only_is_a_usage_error_that_lists_the_writable_ones(source: Path) -> None:
    for name in ("nonsense", "toolbench", "triples-text"):
        with pytest.raises(UsageError, match=r"openai|read only"):
            convert_text(source, "auto", name)
    with pytest.raises(UsageError, match="no format"):
        convert_text(source, "nonsense", "openai")


def test_a_file_of_no_known_format_says_how_to_name_one(tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text('{"hello": 1}', encoding="utf-8")
    with pytest.raises(FamilytoolError, match="--from names one"):
        convert_text(path, "auto", "openai")


@pytest.mark.parametrize("name", [n for n, known in GRAPH_FORMATS.items() if known.write])
def test_a_graph_goes_through_every_writable_format_and_comes_back(name: str, tmp_path: Path) -> None:
    source, middle = tmp_path / "family.tsv", tmp_path / f"middle{GRAPH_FORMATS[name].suffixes[0]}"
    source.write_text("head\trelation\ttail\nBob\tmother\tAlice\nAlice\tlives in\tWashington, D.C.\n", encoding="utf-8")
    pieces, account = convert_text(source, "auto", name)
    middle.write_text("".join(pieces), encoding="utf-8")
    back, _ = convert_text(middle, name, "tsv")
    assert account.kept == 2
    assert sorted("".join(back).splitlines()) == sorted(source.read_text(encoding="utf-8").splitlines())


def test_every_format_says_what_it_carries() -> None:
    for known in TOOL_FORMATS.values():
        assert known.carries
        assert bool(known.lost) == (known.write_tools is not None), known.name


@pytest.mark.full
@pytest.mark.parametrize(
    ("place", "name", "count"),
    [
        ("mtu-bench", "mtu-bench", 181),
        ("toolalpaca", "toolalpaca", 54),
        ("tau-bench/tools_get_info.extracted.json", "tau-bench", 28),
        ("api-bank", "api-bank", 5),
        ("vendor-shapes/anthropic.json", "anthropic", 1),
        ("vendor-shapes/gemini.json", "gemini", 1),
        ("vendor-shapes/mcp_tools_list.json", "mcp", 1),
        ("vendor-shapes/xlam_row.json", "xlam", 1),
        ("vendor-shapes/toolace_row.json", "toolace", 1),
        ("bfcl/BFCL_v4_simple_java.json", "bfcl", 100),
    ],
)
def test_real_files_are_recognised(place: str, name: str, count: int, foreign_data) -> None:  # type: ignore[no-untyped-def]
    folder, _, rest = place.partition("/")
    path = foreign_data(folder)
    tools = read_documents(path / rest if rest else path)
    assert len(tools) == count
    assert {tool.source["format"] for tool in tools} == {name}
