"""ToolAlpaca APIs (tangqiaoyu/ToolAlpaca, Apache-2.0): `Documentation` is an OpenAPI 3 document as JSON text.

Each operation is a tool; the texts of the other fields (`Functions`, `NLDocumentation`) say the same in words and are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from familytool.formats.duplicates import merge_duplicates
from familytool.formats.entries import as_list, most_fit, rows_of
from familytool.formats.openai import DocumentError, shown
from familytool.formats.openapi import tools_of
from familytool.formats.text import check_depth, parse_json
from familytool.model import Json, Tool

NAME = "toolalpaca"
CARRIES = "what OpenAPI carries: operations, their parameters and bodies as JSON Schema, responses"
LOST = ""
CONTAINER = "json"


def looks_like(value: Json) -> bool:
    """Whether this is a list of ToolAlpaca APIs, or one of them."""
    return most_fit(as_list(value), _fits)


def _fits(entry: Json) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("Name"), str) and isinstance(entry.get("Documentation"), str)


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """One tool an operation; APIs whose text is no OpenAPI go into `rejected` (DocumentError: nothing here is ToolAlpaca)."""
    yield from merge_duplicates(_read(records, rejected))


def _read(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    first, recognised = "", False
    for place, entry in rows_of(records):
        try:
            check_depth(entry)
            document = _document(entry)
            recognised = True
            for tool in tools_of(document, f"{place}, API {shown(entry.get('Name'))}", rejected):
                yield tool.model_copy(update={"source": {**tool.source, "format": NAME, "place": place}})
        except ValueError as error:
            first = first or f"{place}: {error}"
            recognised = recognised or _fits(entry)
            rejected.append(f"{place}: {error}")
    if first and not recognised:
        raise DocumentError(first)


def _document(entry: Json) -> dict[str, Json]:
    """The OpenAPI document of an entry (ValueError, or TextError, if its text is none)."""
    text = entry.get("Documentation") if isinstance(entry, dict) else None
    if not isinstance(text, str):
        raise ValueError(f"Documentation is {shown(text)}, not the text of an OpenAPI document")
    document = parse_json(text)
    if not isinstance(document, dict) or not isinstance(document.get("paths"), dict):
        raise ValueError("Documentation is no OpenAPI document: it has no paths")
    return document
