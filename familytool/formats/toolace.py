"""ToolACE: rows `{system, conversations}`; the system text contains a JSON list of tool documents, read only.

The documents have type `dict`, names with spaces, and often a `required: null` beside the parameters. The text around the list
also holds brackets (`[func1(name=value)]`), so the list is the first bracket behind which a JSON list of named objects stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from familytool.formats.openai import read_entry, shown
from familytool.formats.rows import read_response, read_rows
from familytool.formats.text import TextError, parse_json_prefix
from familytool.model import Json, Tool

NAME = "toolace"
CARRIES = "names, descriptions, JSON Schema"
LOST = ""
CONTAINER = "jsonl"

_MAX_BRACKETS = 50
"""How many brackets of a system text are tried as the start of the list."""


def looks_like(value: Json) -> bool:
    """Whether a record is a ToolACE row: a system text with a list of tool documents, and a conversation."""
    if not isinstance(value, dict) or not isinstance(value.get("system"), str) or not isinstance(value.get("conversations"), list):
        return False
    try:
        return bool(_listed(value["system"]))
    except ValueError:
        return False


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """The distinct documents of all rows, in order of first appearance.

    Args:
        records: (place, row) pairs; the rows of a file may also come as one list.
        rejected: gets a sentence for each row without a readable list and for each entry that is no tool document.

    Raises:
        DocumentError: no row has a system text with a list.
    """
    yield from read_rows(records, _documents, _tool, rejected)


def _documents(row: Json) -> list[Json]:
    if not isinstance(row, dict) or not isinstance(row.get("system"), str):
        raise ValueError(f"{shown(row)} is no row with a system text")
    return _listed(row["system"])


def _listed(text: str) -> list[Json]:
    """The list of tool documents within a text (ValueError if there is none, with the reason of the likeliest bracket)."""
    complaint, at = "", -1
    for _ in range(_MAX_BRACKETS):
        at = text.find("[", at + 1)
        if at < 0:
            break
        try:
            value, _ = parse_json_prefix(text, at)
        except TextError as error:
            if not complaint and text[at + 1 :].lstrip()[:1] == "{":
                complaint = f"the list in the system text cannot be read: {error}"
            continue
        if isinstance(value, list) and any(isinstance(entry, dict) and "name" in entry for entry in value):
            return value
    raise ValueError(complaint or "the system text contains no JSON list of tool documents")


def _tool(document: Json, place: str, number: int) -> Tool:
    if not isinstance(document, dict):
        raise ValueError(f"entry {number} of the list is {shown(document)}, no tool document")
    parameters, notes = document.get("parameters"), list[str]()
    outer = document.get("required")
    if isinstance(outer, list) and isinstance(parameters, dict) and not isinstance(parameters.get("required"), list):
        notes.append(f"/required: {shown(outer)} stands beside the parameters; read as theirs")
        parameters = {**parameters, "required": outer}
    elif outer is not None:
        notes.append(f"/required: {shown(outer)} stands beside the parameters; left out, their own list decides")
    tool = read_entry(document, document, f"entry {number} of the list", parameters, {"format": NAME, "place": place})
    response = read_response(document.get("response"), notes)
    return tool.model_copy(update={"response": response, "notes": (*notes, *tool.notes)})
