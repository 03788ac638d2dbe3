"""Folders of benchmarks and of tool documents: which files are taken, in which order, and what is told of the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from familytool.cli import app
from familytool.errors import FamilytoolError
from familytool.formats.benchmark_files import Source
from familytool.formats.benchmarks import detect_benchmark, read_benchmark
from familytool.formats.convert import Order, convert_pieces
from familytool.formats.documents import read_documents

TOOL = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}
TOOL_LIST = [{"type": "function", "function": {**TOOL, "name": "listed"}}]


def row(number: int) -> str:
    return json.dumps({"id": number, "query": f"q{number}", "answers": [{"name": "f", "arguments": {}}], "tools": [TOOL]}) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Rows of xLAM in three files, a list of tools, and what must not be read: hidden, linked from outside, a run's, a pipe's."""
    home = tmp_path / "set"
    for name in ("sub", ".hidden", "run"):
        (home / name).mkdir(parents=True)
    (home / "b.jsonl").write_text("broken\n" + row(1), encoding="utf-8")
    (home / "a.jsonl").write_text(row(2), encoding="utf-8")
    (home / "sub" / "a.jsonl").write_text(row(3), encoding="utf-8")
    (home / "tools.json").write_text(json.dumps(TOOL_LIST), encoding="utf-8")
    (tmp_path / "outside.jsonl").write_text(row(4), encoding="utf-8")
    (home / "link.jsonl").symlink_to(tmp_path / "outside.jsonl")
    (home / ".hidden" / "x.jsonl").write_text(row(5), encoding="utf-8")
    (home / ".x.jsonl").write_text(row(6), encoding="utf-8")
    (home / "run" / "manifest.json").write_text("{}", encoding="utf-8")
    (home / "run" / "x.jsonl").write_text(row(7), encoding="utf-8")
    return home


def test_the_files_of_the_format_are_taken_in_order_and_the_others_are_told(folder: Path) -> None:
    rejected: list[str] = []
    samples = list(read_benchmark(Source(folder, "x"), rejected))
    assert detect_benchmark(folder) == "xlam"
    assert [sample.provenance["place"] for sample in samples] == ["a.jsonl:1", "b.jsonl:2", "sub/a.jsonl:1"]
    assert rejected[0] == "tools.json: the file is left out, since it holds no row of this format"
    assert [sentence.partition(": ")[0] for sentence in rejected] == ["tools.json", "b.jsonl:1"]


@pytest.mark.parametrize("target", ["familytool", "xlam"])
def test_a_written_folder_is_converted(folder: Path, target: str) -> None:
    pieces, account = convert_pieces(Order(folder, "auto", target))
    assert len("".join(text for _, text in pieces).splitlines()) == 3
    assert (account.kept, len(account.rejected)) == (3, 2)


def test_samples_of_our_own_form_in_several_files_are_read(folder: Path, tmp_path: Path) -> None:
    pieces, _ = convert_pieces(Order(folder, "auto", "familytool"))
    lines = "".join(text for _, text in pieces).splitlines(keepends=True)
    parts = tmp_path / "parts"
    parts.mkdir()
    for number, line in enumerate(lines):
        (parts / f"{number}.jsonl").write_text(line, encoding="utf-8")
    assert len(list(read_benchmark(Source(parts, "x"), []))) == 3


def test_only_tools_of_a_mixed_folder_gives_all_documents_and_says_what_was_left_out(folder: Path) -> None:
    (folder / "notes.json").write_text('"hello"', encoding="utf-8")
    pieces, account = convert_pieces(Order(folder, "auto", "openai", only_tools=True))
    written = json.loads("".join(text for _, text in pieces))
    assert {entry["function"]["name"] for entry in written} >= {"f"}
    assert any("notes.json" in sentence and "left out" in sentence for sentence in account.rejected)


def test_documents_in_subfolders_are_read_and_a_foreign_file_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "tools.json").write_text(json.dumps(TOOL_LIST), encoding="utf-8")
    (tmp_path / "a.json").write_text(json.dumps(TOOL), encoding="utf-8")
    (tmp_path / "notes.json").write_text('"hello"', encoding="utf-8")
    rejected: list[str] = []
    assert [tool.name for tool in read_documents(tmp_path, rejected)] == ["f", "listed"]
    [sentence] = rejected
    assert "notes.json" in sentence
    assert sentence.endswith("the file is left out")


def test_the_error_of_no_known_benchmark_says_what_was_tried_and_which_is_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"query": "q", "tools": []}\n', encoding="utf-8")
    with pytest.raises(FamilytoolError, match=r"keys query, tools.*tried familytool,.*the nearest is xlam, but the row lacks answers"):
        list(read_benchmark(Source(path, "x"), []))


def test_a_bad_first_row_does_not_hide_the_format_of_the_others(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"oops": 1}\n' + row(1), encoding="utf-8")
    rejected: list[str] = []
    assert len(list(read_benchmark(Source(path, "x"), rejected))) == 1
    assert [sentence.partition(": ")[0] for sentence in rejected] == ["x.jsonl:1"]


def test_names_that_a_provider_refuses_are_told_and_notes_are_written_in_their_parts(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    odd = {**TOOL, "name": "a.b", "parameters": {"type": "dict", "properties": {}}}
    path.write_text(json.dumps([odd, TOOL]), encoding="utf-8")
    done = CliRunner().invoke(
        app, ["convert", str(path), "--to", "openai", "--out", str(tmp_path / "o.json"), "--notes", str(tmp_path / "n.jsonl")]
    )
    assert done.exit_code == 0, done.output
    assert "names that the provider refuses: 1 (the first: 'a.b')" in done.output
    rows = [json.loads(line) for line in (tmp_path / "n.jsonl").read_text("utf-8").splitlines()]
    assert all(set(row) == {"file", "line", "tool", "path", "old", "new", "note"} for row in rows)
    assert any(
        row["tool"] == "a.b" and "dict" in str(row["old"]) and "object" in str(row["new"]) and row["file"] == "t.json" for row in rows
    )
