"""Files of any origin: one sentence for what is no text, one rejected row for a line that cannot be read, and no hang."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from familytool.errors import FamilytoolError, UsageError
from familytool.formats import benchmark_files, foreign_files
from familytool.formats.benchmark_files import first_record, read_records
from familytool.formats.convert_files import rejection
from familytool.formats.documents import read_documents
from familytool.formats.foreign_files import read_lines, read_text
from familytool.formats.graphs import GRAPH_FORMATS, read_graph_file

TOOL = json.dumps({"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}})

NO_TEXT = {
    "gzip": (gzip.compress(b'{"a": 1}\n'), r"compressed with gzip; decompress it first \(gunzip\)"),
    "zip": (b"PK\x03\x04rest", "ZIP archive"),
    "Parquet": (b"PAR1rest", "Parquet"),
    "UTF-16 with its mark": ('{"a": 1}\n'.encode("utf-16"), r"UTF-16 text.*iconv -f UTF-16"),
    "UTF-16 without its mark": ('{"a": 1}\n'.encode("utf-16-le"), "NUL bytes"),
    "Latin-1": ('{"a": "é"}\n'.encode("latin-1"), r"byte 0xE9.*iconv -f LATIN1"),
    "cut in a character": ('{"a": "é'.encode()[:-1], "ends in the middle of a character"),
}


@pytest.mark.parametrize("name", ["x.jsonl", "x.json"])
@pytest.mark.parametrize(("content", "sentence"), NO_TEXT.values(), ids=NO_TEXT.keys())
def test_a_file_that_is_no_text_is_refused_with_the_way_out(tmp_path: Path, content: bytes, sentence: str, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    for read in (lambda: list(read_records(path, [])), lambda: read_documents(path), lambda: read_graph_file(path, "g", [])):
        with pytest.raises(FamilytoolError, match=sentence):
            read()


def test_a_pipe_a_folder_and_standard_input_are_refused_and_nothing_waits(tmp_path: Path) -> None:
    pipe = tmp_path / "x.jsonl"
    os.mkfifo(pipe)
    for read in (lambda: list(read_records(pipe, [])), lambda: read_graph_file(pipe, "g", []), lambda: read_text(pipe)):
        with pytest.raises(FamilytoolError, match="a pipe or a device"):
            read()
    assert first_record(pipe) is None
    with pytest.raises(FamilytoolError, match="this is a folder"):
        read_text(tmp_path)
    with pytest.raises(UsageError, match="standard input is not read"):
        read_text(Path("-"))


def test_a_line_that_is_too_long_is_one_rejected_row_and_its_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_files, "MAX_LINE", 1_000)
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n{"b": "' + "x" * 25_000 + '"}\n{"c": 3}\n', encoding="utf-8")
    rejected: list[str] = []
    assert [place for place, _ in read_records(path, rejected)] == ["x.jsonl:1", "x.jsonl:3"]
    [sentence] = rejected
    assert rejection(sentence) == {
        "file": "x.jsonl",
        "line": 2,
        "id": "",
        "reason": "the line has 25,010 bytes (limit 1,000); split the record",
    }
    assert max(len(line.text) for line in read_lines(path)) <= 1_000


@pytest.mark.parametrize("torn", ['{"name": "g", "par', "\udcff", '{"name": "\\ud800"}'], ids=["cut", "no UTF-8", "half a pair"])
def test_a_torn_line_of_documents_is_one_rejected_entry_and_the_rest_is_read(tmp_path: Path, torn: str) -> None:
    path = tmp_path / "tools.jsonl"
    path.write_bytes(f"{TOOL}\n{torn}\n{TOOL.replace('f', 'h', 1)}\n".encode("utf-8", "surrogateescape"))
    rejected: list[str] = []
    assert [tool.source["place"] for tool in read_documents(path, rejected)] == ["tools.jsonl:1", "tools.jsonl:3"]
    [entry] = map(rejection, rejected)
    assert (entry["file"], entry["line"]) == ("tools.jsonl", 2)
    assert entry["reason"]


def test_a_file_in_which_no_line_can_be_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("{\n", encoding="utf-8")
    with pytest.raises(FamilytoolError, match=r"x\.jsonl:1: not JSON: .* at column 2; no line of the file can be read\."):
        list(read_records(path, []))
    path.write_text(json.dumps([{"a": 1}], indent=2), encoding="utf-8")
    with pytest.raises(FamilytoolError, match=r"one JSON value over several lines, so name it \.json"):
        list(read_records(path, []))


def test_a_json_file_of_lines_is_told_although_its_first_line_is_torn(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"a": 1\n{"a": 2}\n{"a": 3}\n', encoding="utf-8")
    rejected: list[str] = []
    assert [record for _, record in read_records(path, rejected)] == [{"a": 2}, {"a": 3}]
    assert [rejection(sentence)["line"] for sentence in rejected] == [1]
    path.write_text('[\n{"a": 1},\n{"a": 2}\n]\n', encoding="utf-8")
    assert not benchmark_files.holds_lines(path)


def test_json_rows_of_triples_text_whose_names_are_no_texts_are_rejected_one_by_one() -> None:
    lines = ['["a", "b", "c"]', '["a", "b", 1]', '- ["a", null, "c"]', '[["a", ["b"], "c"], ["d", "e", "f"]],', '["a", "b"]', "(g, h, 3)"]
    rejected: list[str] = []
    graph = GRAPH_FORMATS["triples-text"].read("\n".join(lines), "g", rejected)
    assert [(t.head, t.relation, t.tail) for t in graph] == [("a", "b", "c"), ("d", "e", "f"), ("g", "h", "3")]
    assert [rejection(sentence)["line"] for sentence in rejected] == [2, 3, 4, 5]
