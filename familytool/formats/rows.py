"""Data sets whose records each hold some tool documents: one bad record or document is told, and the others are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from familytool.formats.duplicates import merge_duplicates
from familytool.formats.openai import DocumentError
from familytool.formats.schema import normalise_parameters
from familytool.formats.text import check_depth
from familytool.model import Json, Tool


def read_rows(
    records: Iterable[tuple[str, Json]],
    documents_in: Callable[[Json], list[Json]],
    tool_of: Callable[[Json, str, int], Tool],
    rejected: list[str],
) -> Iterator[Tool]:
    """The distinct tools of all records; a record that is a list (a whole JSON file of rows) is taken apart.

    Args:
        records: (place, record) pairs.
        documents_in: the documents of one row; a ValueError says why the row holds none.
        tool_of: the tool of (document, place, number within its row); a ValueError is the reason of its rejection.
        rejected: gets "place: reason" for each row and each document that cannot be read.

    Raises:
        DocumentError: there are rows, and none of them is of this format; the message is that of the first.
    """
    yield from merge_duplicates(_read(records, documents_in, tool_of, rejected))


def _read(
    records: Iterable[tuple[str, Json]],
    documents_in: Callable[[Json], list[Json]],
    tool_of: Callable[[Json, str, int], Tool],
    rejected: list[str],
) -> Iterator[Tool]:
    fits, complaint = False, ""
    for place, row in _rows(records):
        try:
            check_depth(row)
            documents = documents_in(row)
        except ValueError as error:
            complaint = complaint or f"{place}: {error}"
            rejected.append(f"{place}: {error}")
            continue
        fits = True
        for number, document in enumerate(documents, 1):
            try:
                yield tool_of(document, place, number)
            except ValueError as error:
                rejected.append(f"{place}: {error}")
    if complaint and not fits:
        raise DocumentError(complaint)


def _rows(records: Iterable[tuple[str, Json]]) -> Iterator[tuple[str, Json]]:
    for place, value in records:
        if isinstance(value, list):
            yield from ((f"{place}, entry {number}", entry) for number, entry in enumerate(value, 1))
        else:
            yield place, value


def read_response(declared: Json, notes: list[str]) -> dict[str, Json]:
    """What a tool returns as a JSON Schema; it stays open, since nobody checks results. `{}` where nothing usable is declared."""
    if not declared:
        return {}
    try:
        schema, repairs = normalise_parameters(declared)
    except ValueError as error:
        notes.append(f"/response: {error}; left out")
        return {}
    for key in ("additionalProperties", "unevaluatedProperties"):
        if key not in declared:
            schema.pop(key, None)
    notes.extend(f"response {note}" for note in repairs)
    return schema
