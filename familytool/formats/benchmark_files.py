"""Files of benchmarks as streams of records, so that a hundred thousand rows never stand in memory at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from familytool.errors import FamilytoolError
from familytool.formats.text import TextError, parse_json
from familytool.model import Json

MAX_LINE = 16_000_000
MAX_WHOLE = 256_000_000


@dataclass(frozen=True)
class Source:
    """A benchmark to be read: its file or folder, the name that begins its ids, and what it needs beside the rows.

    `documents` is the file of tool documents where rows do not hold their own (None: beside the rows, as published);
    `graph_id` names the graph of the golden triples ("" where there is none).
    """

    path: Path
    benchmark: str
    documents: Path | None = None
    graph_id: str = ""


def read_records(path: Path, rejected: list[str]) -> Iterator[tuple[str, Json]]:
    """(place, record) pairs of a JSONL file line by line, or of the list that a JSON file is.

    A line that is no JSON goes into `rejected` with its place; a file that is neither is a FamilytoolError.
    """
    if path.is_dir():
        raise FamilytoolError(f"{path}: this is a folder, and the format is one file; name a file in it.")
    try:
        if _is_lines(path):
            with path.open(encoding="utf-8-sig", newline="\n") as file:
                for number, line in enumerate(iter(lambda: file.readline(MAX_LINE), ""), 1):
                    if line.strip():
                        try:
                            yield f"{path.name}:{number}", parse_json(line)
                        except TextError as error:
                            rejected.append(f"{path.name}:{number}: {error}")
            return
        if path.stat().st_size > MAX_WHOLE:
            raise FamilytoolError(f"{path}: larger than {MAX_WHOLE:,} bytes in one JSON value; write one record a line (JSONL).")
        value = parse_json(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise FamilytoolError(f"{path}: cannot be read as UTF-8 text ({error}).") from None
    except TextError as error:
        raise FamilytoolError(f"{path}: {error}; is the file cut off or edited by hand?") from None
    for number, entry in enumerate(value if isinstance(value, list) else [value], 1):
        yield f"{path.name}, entry {number}", entry


def text_lines(path: Path) -> Iterator[tuple[str, str]]:
    """(place, line) pairs of a text file, read as they are asked for (FamilytoolError if it is no UTF-8 text)."""
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            for number, line in enumerate(iter(lambda: file.readline(MAX_LINE), ""), 1):
                yield f"{path.name}:{number}", line.removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise FamilytoolError(f"{path}: cannot be read as UTF-8 text ({error}).") from None


def first_record(path: Path) -> Json:
    """The first record of a file (None where there is none, or where it cannot be read)."""
    try:
        return next(read_records(path, []), (path.name, None))[1]
    except FamilytoolError:
        return None


def _is_lines(path: Path) -> bool:
    """Whether a file holds one JSON value a line, whatever its name ends in: its first two lines with text are one each."""
    with path.open(encoding="utf-8-sig", newline="\n") as file:
        lines = list(islice((line for line in iter(lambda: file.readline(MAX_LINE), "") if line.strip()), 2))
    if path.suffix == ".jsonl":
        return True
    try:
        parse_json(lines[0] if lines else "")
    except TextError:
        return False
    return len(lines) == 2
