"""Files that hold no data of any format: each reader ends in one sentence, or in rejections, and none waits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from familytool.errors import FamilytoolError
from familytool.formats.benchmarks import BENCHMARK_FORMATS
from familytool.formats.convert import Order, convert_pieces
from familytool.formats.documents import TOOL_FORMATS
from familytool.formats.graphs import GRAPH_FORMATS

JUNK = {
    "empty.json": b"",
    "empty.jsonl": b"",
    "list.json": b"[]",
    "object.json": b"{}",
    "null.json": b"null",
    "text.json": b'"x"',
    "deep.json": b"[" * 10_000 + b"]" * 10_000,
    "nan.json": b'{"a": NaN}',
    "huge.json": b'{"a": ' + b"9" * 6_000 + b"}",
    "double.json": b'{"a": 1, "a": 2}',
    "mark.jsonl": b'\xef\xbb\xbf{"a": 1}\r\n{"b": 2}\r\n',
    "half.json": b'{"a": "\\ud800"}',
    "folder": None,
    "pipe.json": None,
}
ORDERS = [(name, to) for name in ("auto", *BENCHMARK_FORMATS, *TOOL_FORMATS) for to in ("familytool", "openai")]


@pytest.mark.parametrize("name", JUNK)
def test_junk_in_any_format_is_one_sentence_or_nothing_kept(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    content = JUNK[name]
    if content is not None:
        path.write_bytes(content)
    elif name == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    for from_name, to_name in [*ORDERS, *((graph, "tsv") for graph in GRAPH_FORMATS)]:
        try:
            pieces, account = convert_pieces(Order(path, from_name, to_name))
            list(pieces)
        except FamilytoolError as error:
            assert "\n" not in str(error)
            assert name in str(error) or "--to" in str(error) or "--from" in str(error)
        else:
            assert not account.kept
