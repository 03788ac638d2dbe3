"""Rows of BFCL as samples: a row with its answer, the user's turns, the documents in the row or by the classes of its tools."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from familytool.formats.benchmark_files import Source
from familytool.formats.benchmark_rows import Golden, made_sample
from familytool.formats.bfcl import tool_of
from familytool.formats.bfcl_gold import read_single_turn, read_turns
from familytool.formats.documents import read_documents
from familytool.formats.openai import DocumentError, shown
from familytool.model import Json, Sample, Tool

NAME = "bfcl"
CLASSES = {
    "GorillaFileSystem": "gorilla_file_system", "MathAPI": "math_api", "MessageAPI": "message_api", "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api", "TradingBot": "trading_bot", "TravelAPI": "travel_booking", "VehicleControlAPI": "vehicle_control",
}  # fmt: skip
"""Class of tools -> its file in `multi_turn_func_doc/`."""


_CATEGORY = re.compile(r"(\w*?)_[0-9][0-9-]*")
Documents = Callable[[Json, list[str]], tuple[Tool, ...]]
"""From the classes of a row to the documents of their tools; what is missing is noted."""


def is_row(record: Json) -> bool:
    """Whether a record is a row, with its documents or with the classes of its tools."""
    if not isinstance(record, dict) or "id" not in record or not isinstance(record.get("question"), list):
        return False
    documents = record.get("function")
    held = isinstance(documents, list) and all(isinstance(d, dict) and "parameters" in d for d in documents)
    return held or isinstance(record.get("involved_classes"), list)


def documents_by_class(source: Source, rejected: list[str]) -> Documents:
    """The documents of classes, from `multi_turn_func_doc/` beside the rows or from `source.documents`; each file is read once."""
    folder = source.documents or (source.path if source.path.is_dir() else source.path.parent) / "multi_turn_func_doc"
    known: dict[str, tuple[Tool, ...]] = {}

    def documents(classes: Json, notes: list[str]) -> tuple[Tool, ...]:
        found: list[Tool] = []
        for name in classes:
            file = folder / f"{CLASSES.get(name, name)}.json" if folder.is_dir() else folder
            if isinstance(name, str) and file.is_file():
                if str(file) not in known:
                    known[str(file)] = tuple(read_documents(file, rejected, NAME))
                found += (tool for tool in known[str(file)] if tool not in found)
            else:
                notes.append(f"the documents of {name} are not there (multi_turn_func_doc/{file.name})")
        return tuple(found)

    return documents


def sample_of_rows(row: dict[str, Json], answer: Json, source: Source, place: str, documents: Documents, escaped: bool = False) -> Sample:
    """The sample of a row and its answer (ValueError: they are none, and why)."""
    golden = Golden()
    turns = _user_turns(row["question"], golden.notes)
    classes = row.get("involved_classes") if "function" not in row else None
    tools = _offered(row, documents(classes, golden.notes), golden.notes) if classes else _listed_tools(row["function"])
    truth = answer.get("ground_truth") if answer is not None else []
    if not isinstance(truth, list):
        raise DocumentError(f"the ground truth is {shown(truth)}, no list")
    origin: dict[str, Json] = {"format": NAME, "place": place, "id": row["id"]}
    alternatives: Any = ()
    if classes and all(isinstance(turn, list) for turn in truth):
        origin["turns"] = read_turns(truth, tools, golden)
    elif classes:
        raise DocumentError(f"the golden answer is the text {shown(truth[0])}, no call")
    elif truth and all(isinstance(entry, str) for entry in truth):
        read_turns([truth], tools, golden)
    else:
        alternatives = read_single_turn(truth, tools, golden)
    if answer is None and "irrelevance" not in row["id"]:
        origin["golden_not_given"] = True
        golden.notes.append("golden call not given: a call is expected, and which one is not said")
    if escaped:
        origin["escaped"] = True
    category = _CATEGORY.fullmatch(row["id"])
    sample = made_sample(
        source, f"{source.benchmark}-{row['id']}", "\n\n".join(turns), tools, golden, origin,
        {"question": row, "possible_answer": answer}, category[1] if category else "",
    )  # fmt: skip
    changes: dict[str, Any] = {"alternatives": alternatives, "ordered": "turns" in origin}
    if answer is None and "irrelevance" not in row["id"]:
        changes["kind"] = "no_graph"
    return sample.model_copy(update=changes)


def _user_turns(question: list[Json], notes: list[str]) -> list[str]:
    """The texts of the user, turn by turn; turns without one are left out."""
    turns = [question] if question and all(isinstance(message, dict) for message in question) else question
    said: list[str] = []
    for number, turn in enumerate(turns):
        if not isinstance(turn, list) or not all(isinstance(m, dict) and isinstance(m.get("content"), str) for m in turn):
            raise DocumentError(f"turn {number} of the question is {shown(turn)}, no list of messages with a content")
        said += [message["content"] for message in turn if message.get("role") == "user"]
        others = [str(message.get("role")) for message in turn if message.get("role") != "user"]
        if others:
            notes.append(f"turn {number} has messages of {', '.join(dict.fromkeys(others))}; they are in raw only")
    if len(turns) > 1:
        notes.append(f"{len(turns)} turns; the query is what the user says in them, one after the other")
    return said


def _listed_tools(listed: Json) -> tuple[Tool, ...]:
    documents = listed if isinstance(listed, list) else [listed]
    for number, document in enumerate(documents, 1):
        if not isinstance(document, dict):
            raise DocumentError(f"entry {number} of 'function' is {shown(document)}, no tool document")
    return tuple(_tool(json.dumps(document, ensure_ascii=False)) for document in documents)


@lru_cache(maxsize=4096)
def _tool(text: str) -> Tool:
    """The tool of a document's JSON text; cached, so that equal documents are one object."""
    return tool_of(json.loads(text), "", 1)


def _offered(row: dict[str, Json], tools: tuple[Tool, ...], notes: list[str]) -> tuple[Tool, ...]:
    """The tools of the classes without those that the row excludes; those that come in a later turn are among them."""
    excluded = row.get("excluded_function")
    late = row.get("missed_function")
    if late:
        notes.append(f"tools that are offered from a later turn on: {json.dumps(late, ensure_ascii=False)[:200]}")
    return tuple(tool for tool in tools if not (isinstance(excluded, list) and tool.name in excluded))
