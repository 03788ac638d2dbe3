"""JSONL files that others wrote: their lines as objects, or as problems that are told, never as exceptions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from familytool.errors import FamilytoolError
from familytool.model import Record

LONGEST_LINE = 64 << 20
"""Bytes of a line that is read: a response has at most 10 MB, of which escapes can make six times as many."""

TOLD = 20
"""Problems that a report spells out; all are counted."""


class Problem(Record):
    """A line that was not taken, or not as it stands, and why."""

    file: str
    line: int
    message: str


class Problems:
    """The first problems in full, and the number of all."""

    def __init__(self) -> None:
        self.first: list[Problem] = []
        self.count = 0

    def add(self, path: Path, line: int, message: str) -> None:
        """Count a problem of a line, and keep it if it is among the first."""
        self.count += 1
        if len(self.first) < TOLD:
            self.first.append(Problem(file=path.name, line=line, message=message))


def read_objects(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """(line number, object) for each line that is not blank; a text instead of an object says what is wrong with the line.

    Raises:
        FamilytoolError: the file cannot be read at all.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(_lines(file), 1):
                if line is None:
                    yield number, f"a line of more than {LONGEST_LINE >> 20} MB"
                elif line.strip():
                    yield number, _object(line)
    except OSError as error:
        raise FamilytoolError(f"{path}: cannot be read ({error.strerror or error}); give the path of a JSONL file.") from None


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    while line := file.readline(LONGEST_LINE):
        if len(line) < LONGEST_LINE or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(LONGEST_LINE)
        yield None


def _object(line: bytes) -> dict[str, Any] | str:
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return "not UTF-8"
    except RecursionError:
        return "nested without end"
    except ValueError as error:
        cut = "" if line.endswith(b"\n") else "; the file seems to be cut short"
        return f"not JSON ({error}){cut}"
    return value if isinstance(value, dict) else "not a JSON object"
