"""API-Bank dialogues as a benchmark (a folder of `*.jsonl`, or one of them, with `apis*.json` beside them; Apache-2.0); read only.

A file is one dialogue: a turn a line, `{role: User|AI, text}` or `{role: API, api_name, param_dict, result}`. A sample is a turn of
the user after which APIs are called (as the rows of MTU-Bench are): the turn is the query, the calls before the next turn of the
user are golden, and raw holds all turns up to the last of them. Turns that lead to no call are no samples: the set never asks
whether to call. Arguments are texts whatever their type ("2" for an integer); they stay as they are.

Candidates: level 2 searches for its tools, so the documents that the dialogue's `ToolSearcher` calls found so far. Level 1 is given
the descriptions of the APIs of its dialogue: those that it calls and those that its file is named after (`A-B-level-1-2.jsonl`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from familytool.formats import api_bank
from familytool.formats.benchmark_files import Source, read_records
from familytool.formats.benchmark_rows import (
    Distinct,
    Golden,
    add_call,
    distinct_ids,
    distinct_tools,
    documents_for,
    each_sample,
    files_of,
    made_sample,
    missing_documents,
)
from familytool.formats.entries import as_list
from familytool.formats.openai import DocumentError, shown
from familytool.model import Json, Sample, Tool

NAME = "api-bank"
CARRIES = "one sample for each turn of a user that leads to calls, documents of the dialogue's APIs (level 2: those it found), golden calls"
LOST = "turns that lead to no call are no samples; what is said before stays in the provenance, results of calls in raw"

SEARCH = "ToolSearcher"
_ROLES = {"User": "text", "AI": "text", "API": "api_name"}
MAX_TURNS = 2_000


@dataclass(frozen=True)
class Dialogue:
    """The turns of one file with their places; `bad` says which lines are none."""

    file: Path
    turns: list[tuple[str, dict[str, Json]]]
    bad: list[str]


def looks_like(record: Json) -> bool:
    """Whether a record is a turn of an API-Bank dialogue."""
    if not isinstance(record, dict) or not isinstance(record.get("role"), str) or record["role"] not in _ROLES:
        return False
    return isinstance(record.get(_ROLES[record["role"]]), str)


def read_samples(source: Source, rejected: list[str]) -> Iterator[Sample]:
    """The samples of a dialogue, or of all dialogues in a folder or its sub-folders; what is no turn goes into `rejected`.

    Raises:
        FamilytoolError: a dialogue that does not search for its tools, and no documents.
    """
    here = source.path if source.path.is_dir() else source.path.parent
    beside = sorted(here.glob("apis*.json")) or sorted(here.parent.glob("apis*.json"))
    documents = documents_for(source, beside, "", rejected) if source.documents or beside else ()
    distinct = distinct_ids(source.benchmark)
    for file in files_of(source.path, looks_like, rejected, "*.jsonl", "*/*.jsonl"):
        dialogue = Dialogue(file, [], [])
        for place, row in islice(read_records(file, rejected), MAX_TURNS):
            if looks_like(row):
                dialogue.turns.append((place, row))
            else:
                rejected.append(f"{place}: {shown(row)} is no turn of a dialogue (role User or AI with text, API with api_name)")
                dialogue.bad.append(f"{place} is no turn; left out of the dialogue")
        yield from each_sample(_asking_turns(dialogue, rejected), partial(_sample, source, documents, dialogue, distinct), rejected)


def _asking_turns(dialogue: Dialogue, rejected: list[str]) -> Iterator[tuple[str, tuple[int, list[int]]]]:
    """Place and index of each turn of the user that leads to calls, with the indices of these calls."""
    asked, calls = -1, []
    for at, (place, turn) in enumerate(dialogue.turns):
        if turn["role"] == "API" and asked < 0:
            rejected.append(f"{place}: a call of {turn['api_name']} before any turn of the user")
        elif turn["role"] == "API":
            calls.append(at)
        elif turn["role"] == "User":
            if calls:
                yield dialogue.turns[asked][0], (asked, calls)
            asked, calls = at, []
    if calls:
        yield dialogue.turns[asked][0], (asked, calls)


def _sample(
    source: Source, documents: tuple[Tool, ...], dialogue: Dialogue, distinct: Distinct, place: str, asking: tuple[int, list[int]]
) -> Sample:
    asked, calls = asking
    turns = [turn for _, turn in dialogue.turns]
    golden = Golden(notes=list(dialogue.bad))
    for number, at in enumerate(calls):
        add_call(golden, number, turns[at]["api_name"], turns[at].get("param_dict"), turns[at])
    tools = _candidates(source, documents, dialogue, calls[-1], golden.notes)
    for name in dict.fromkeys(call.name for call in golden.calls if all(call.name != tool.name for tool in tools)):
        golden.notes.append(f"{name} is called, and there is no document of it")
    number = sum(turn["role"] == "User" for turn in turns[: asked + 1])
    sample_id = distinct(f"{dialogue.file.stem}-turn{number}", number, golden.notes)
    origin: dict[str, Json] = {"format": NAME, "place": place, "id": dialogue.file.stem, "turn": number}
    if asked:
        origin["dialogue_before"] = "\n".join(_as_text(turn) for turn in turns[:asked])
    category = dialogue.file.parent.name if dialogue.file.parent.name.startswith("level-") else ""
    return made_sample(source, sample_id, turns[asked]["text"], tools, golden, origin, turns[: calls[-1] + 1], category)


def _as_text(turn: dict[str, Json]) -> str:
    said = {key: value for key, value in turn.items() if key != "role"}
    return f"{turn['role']}: {turn['text'] if turn['role'] != 'API' else json.dumps(said, ensure_ascii=False)}"


def _candidates(source: Source, documents: tuple[Tool, ...], dialogue: Dialogue, last: int, notes: list[str]) -> tuple[Tool, ...]:
    """The tools of a dialogue up to its turn `last`."""
    called = [turn["api_name"] for _, turn in dialogue.turns if turn["role"] == "API"]
    if SEARCH in called:
        found = [tool for tool in documents if tool.name == SEARCH]
        for place, turn in dialogue.turns[: last + 1]:
            if turn.get("api_name") == SEARCH:
                found += _found_tools(place, turn.get("result"), notes)
        return distinct_tools(found)
    if not documents:
        raise missing_documents(source, "the documents (apis.extracted.json)")
    named = {*called, *dialogue.file.stem.partition("-level-")[0].split("-")}
    return tuple(tool for tool in documents if tool.name in named)


def _found_tools(place: str, result: Json, notes: list[str]) -> Iterator[Tool]:
    """The documents that a search returned: one, or a list."""
    output = result.get("output") if isinstance(result, dict) else None
    complaints: list[str] = []
    try:
        yield from api_bank.read_tools([(place, entry) for entry in as_list(output)], complaints)
    except DocumentError:
        notes.append(f"{place}: the search found no tool documents ({shown(output)})")
    notes += complaints
