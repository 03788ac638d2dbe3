"""Tool documents from a file or folder, in whatever format they are.

A format is one file of this folder with `looks_like` and `read_tools`, and one line in the tables below.
The rule of detection: a JSONL record that has MTU-Bench's sentence is MTU-Bench; anything else is an OpenAI tool list.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from familytool.errors import FamilytoolError, UsageError
from familytool.formats import mtu_bench, openai
from familytool.formats.openai import DocumentError
from familytool.formats.text import TextError, parse_json
from familytool.model import Json, Tool

MAX_FILE_BYTES = 256_000_000

READERS: dict[str, Callable[[list[tuple[str, Json]], list[str]], Iterator[Tool]]] = {
    "mtu-bench": lambda records, rejected: mtu_bench.read_tools(records, rejected),
    "openai": lambda records, _: (tool for place, value in records for tool in openai.read_tools(value, place)),
}
"""Format name -> reader of (place, JSON value) pairs."""


def read_documents(path: Path, rejected: list[str] | None = None) -> list[Tool]:
    """All tool documents of a file, or of the `.json` and `.jsonl` files of a folder (in a folder with `*_eval.jsonl`, of these).

    Args:
        path: file or folder.
        rejected: gets a sentence for each entry that is no tool document, so that nothing is dropped unseen.

    Raises:
        UsageError: no such path, or a folder without such files.
        FamilytoolError: a file that is not JSON, is cut off, or holds something else than tool documents; file, line, way out.
    """
    rejected = rejected if rejected is not None else []
    records = [pair for file in document_files(path) for pair in _records(file)]
    format_name = "mtu-bench" if any(mtu_bench.looks_like(value) for _, value in records) else "openai"
    if format_name == "openai":
        for place, value in records:
            if not openai.looks_like(value):
                found = f"{type(value).__name__} {str(value)[:40]!r}"
                raise FamilytoolError(f"{place}: {found} is no tool document; expected an OpenAI tool list or MTU-Bench *_eval.jsonl.")
    try:
        tools = list(READERS[format_name](records, rejected))
    except DocumentError as error:
        raise FamilytoolError(f"{path}: {error}; mend or remove this entry and run again.") from None
    if not tools:
        raise FamilytoolError(f"{path}: no tool document was found.")
    return tools


def document_files(path: Path) -> list[Path]:
    """The files that `path` stands for, sorted by name (UsageError if there are none)."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UsageError(f"{path}: no such file or folder; --documents takes a tool list (JSON), a JSONL file, or a folder of them.")
    files = sorted(path.glob("*_eval.jsonl")) or sorted(p for p in path.iterdir() if p.suffix in (".json", ".jsonl"))
    if not files:
        raise UsageError(f"{path}: the folder has no .json or .jsonl file.")
    return files


def _records(file: Path) -> Iterator[tuple[str, Json]]:
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise FamilytoolError(f"{file}: larger than {MAX_FILE_BYTES:,} bytes; split it.")
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FamilytoolError(f"{file}: cannot be read as UTF-8 text ({error}).") from None
    if file.suffix == ".jsonl":
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield _parsed(line, f"{file.name}:{number}", file)
    else:
        yield _parsed(text, file.name, file)


def text_lines(file: Path) -> Iterator[tuple[str, str]]:
    """The lines of a text file with their places (FamilytoolError if it is no UTF-8 text)."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FamilytoolError(f"{file}: cannot be read as UTF-8 text ({error}).") from None
    yield from ((f"{file.name}:{number}", line) for number, line in enumerate(text.split("\n"), 1))


def _parsed(text: str, place: str, file: Path) -> tuple[str, Json]:
    try:
        value = parse_json(text)
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return place, value
    except UnicodeEncodeError:
        raise FamilytoolError(f"{file.parent / place}: holds half of a surrogate pair (a broken emoji); replace it in the file.") from None
    except TextError as error:
        raise FamilytoolError(f"{file.parent / place}: {error}; is the file cut off or edited by hand?") from None
