"""tau-bench tool documents (sierra-research, MIT): OpenAI documents, each beside the domain it belongs to.

`{"domain": "airline", "tool": {"type": "function", "function": {...}}}`; documents without the wrapper are read as well.
Equal documents of two domains are one tool; unequal ones of one name are kept apart. tau2-bench publishes tasks, no documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from familytool.formats.entries import as_list, most_fit
from familytool.formats.openai import read_entry, shown
from familytool.formats.rows import read_rows
from familytool.model import Json, Tool

NAME = "tau-bench"
CARRIES = (
    "names, descriptions, JSON Schema; no response schema; the domain stays in the raw entry, the first one's where two share a document"
)
LOST = ""
CONTAINER = "json"


def looks_like(value: Json) -> bool:
    """Whether this is a list of `{domain, tool}` entries, or one of them; plain documents are left to the OpenAI format."""
    return most_fit(as_list(value), _fits)


def _fits(entry: Json) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("domain"), str) and isinstance(entry.get("tool"), dict)


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """The distinct documents; entries that are none go into `rejected` (DocumentError: nothing here is tau-bench)."""
    yield from read_rows(records, _documents, _tool, rejected)


def _documents(row: Json) -> list[Json]:
    if not _fits(row) and not (isinstance(row, dict) and isinstance(row.get("function"), dict)):
        raise ValueError(f"{shown(row)} is neither a tau-bench entry nor an OpenAI document")
    return [row]


def _tool(entry: dict[str, Json], place: str, _: int) -> Tool:
    document = entry["tool"] if _fits(entry) else entry
    function = document.get("function", document)
    if not isinstance(function, dict) or "parameters" not in function:
        raise ValueError("it is no OpenAI document with a name and parameters")
    return read_entry(function, entry, "it", function["parameters"], {"format": NAME, "place": place})
