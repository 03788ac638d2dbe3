"""Files of benchmarks as streams of records, so that a hundred thousand rows never stand in memory at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from familytool.errors import FamilytoolError
from familytool.formats.foreign_files import MAX_LINE, Line, read_lines, read_text, require_text_file
from familytool.formats.text import TRUNCATED, TextError, parse_json
from familytool.model import Json

LOOKED_AT = 8
"""So many lines tell whether a file holds one value a line."""


class LeftOut(str):
    """The sentence among rejected rows that says of a whole file that it is left out: no row is lost with it."""


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


def read_records(path: Path, rejected: list[str], shown_as: str = "") -> Iterator[tuple[str, Json]]:
    """(place, record) pairs of a JSONL file line by line, or of the list that a JSON file is.

    A line that is no JSON goes into `rejected` with its place.

    Args:
        path: the file.
        rejected: gets a sentence for each line that cannot be read.
        shown_as: how places name the file (default: its name).

    Raises:
        UsageError, FamilytoolError: a file that cannot be read, or in which there is no JSON at all.
    """
    shown_as = shown_as or path.name
    if not holds_lines(path):
        value = whole_value(path)
        for number, entry in enumerate(value if isinstance(value, list) else [value], 1):
            yield f"{shown_as}, entry {number}", entry
        return
    first, is_readable = "", False
    for line in read_lines(path):
        if not line.text.strip() and not line.fault:
            continue
        try:
            value = json_of(line)
        except TextError as error:
            first = first or f"{path.parent / shown_as if shown_as == path.name else path}:{line.number}: {error}"
            rejected.append(f"{shown_as}:{line.number}: {error}")
            continue
        is_readable = True
        yield f"{shown_as}:{line.number}", value
    if first and not is_readable:
        raise FamilytoolError(f"{first}; no line of the file can be read{_several_lines(path)}.")


def whole_value(path: Path) -> Json:
    """The one JSON value that a file holds (FamilytoolError: it holds none, or cannot be read)."""
    text = read_text(path)
    if not text.strip():
        raise FamilytoolError(f"{path}: the file is empty.")
    try:
        return parse_json(text)
    except TextError as error:
        raise FamilytoolError(f"{path}: {error}; {way_out(error)}.") from None


def way_out(error: TextError) -> str:
    """What is to be done about a file that is no JSON."""
    return (
        "the end of the file is missing, so fetch or write it again" if error.code == TRUNCATED else "mend this in the file and run again"
    )


def json_of(line: Line) -> Json:
    """The JSON value of a line (TextError: it is none, and at which column)."""
    if line.fault:
        raise TextError(line.fault)
    try:
        return parse_json(line.text)
    except TextError as error:
        raise TextError(str(error).replace(" at line 1, column", " at column"), error.code, error.at) from None


def text_lines(path: Path, rejected: list[str], shown_as: str = "") -> Iterator[tuple[str, str]]:
    """(place, line) pairs of a text file, read as they are asked for; a line that is no text, or too long, goes into `rejected`."""
    for line in read_lines(path):
        place = f"{shown_as or path.name}:{line.number}"
        if line.fault:
            rejected.append(f"{place}: {line.fault}")
        else:
            yield place, line.text


def first_record(path: Path) -> Json:
    """The first record of a file (None where there is none, or where it cannot be read)."""
    return next(iter(first_records(path, 1)), None)


def first_records(path: Path, number: int) -> list[Json]:
    """The first records of a file, so many at most; fewer where there are not so many, or where they cannot be read."""
    try:
        return [record for _, record in islice(read_records(path, []), number)]
    except FamilytoolError:
        return []


def holds_lines(path: Path) -> bool:
    """Whether a file holds one JSON value a line, whatever its name ends in (BFCL's files are such).

    It does if its name says so, if its first line with text is a value and another one follows, or if two of its first lines are
    objects or lists by themselves.
    """
    require_text_file(path)
    if path.suffix in (".jsonl", ".ndjson"):
        return True
    lines = list(islice((line for line in read_lines(path) if line.fault or line.text.strip()), LOOKED_AT))
    values = [_value(line) for line in lines]
    if len(lines) > 1 and (values[0] is not None or lines[0].text.strip() == "null"):
        return True
    return sum(isinstance(value, dict | list) for value in values) > 1


def _value(line: Line) -> Json:
    try:
        return json_of(line)
    except TextError:
        return None


def _several_lines(path: Path) -> str:
    """A hint where a file named .jsonl is one JSON value over several lines; "" elsewhere."""
    try:
        parse_json(read_text(path, MAX_LINE))
    except (TextError, FamilytoolError):
        return ""
    return ": it is one JSON value over several lines, so name it .json"
