"""MTU-Bench evaluation files as a benchmark (`*_eval.jsonl`, Apache-2.0): documents, the user's turn, golden calls; read only.

A row is `{id, question, answer}`. The question holds instructions, the list of tools behind a fixed sentence, and the dialogue
("User:", in the multi-turn files after "History Dialog:"); the last turn of the user is the query. The answer is a mapping from
tool to arguments, so it cannot hold two calls of one tool; `{}` and `{"": {}}` expect no call. Arguments `tool.result` refer to
what an earlier call returned, in the multi-turn files also a call of an earlier turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from familytool.formats import mtu_bench
from familytool.formats.benchmark_files import Source, read_records
from familytool.formats.benchmark_rows import (
    Distinct,
    Golden,
    add_call,
    add_references,
    add_unparsed,
    distinct_ids,
    each_sample,
    files_of,
    made_sample,
    number_in,
    result_source,
)
from familytool.formats.openai import shown
from familytool.formats.text import TextError, bracketed, parse_json, parse_json_prefix
from familytool.model import Json, Sample, Tool, canonical

NAME = "mtu-bench"
CARRIES = "documents of each row, the last user turn as the query, golden calls, references to results (also of earlier turns)"
LOST = "instructions stay in raw, earlier turns in the provenance; a second call of one tool, which the set's mapping cannot hold"

MAX_DOCUMENTS = 4096
_TURN = re.compile(r"^[ \t]*(user|assistant|function|action|observation)[ \t]*:", re.IGNORECASE | re.MULTILINE)


def looks_like(record: Json) -> bool:
    """Whether a record is an MTU-Bench evaluation row with its answer."""
    return mtu_bench.looks_like(record) and "answer" in record


def read_samples(source: Source, rejected: list[str]) -> Iterator[Sample]:
    """The samples of a file, or of the `*_eval.jsonl` files of a folder; rows that are none go into `rejected`."""
    distinct = distinct_ids(source.benchmark)
    known: dict[str, Tool] = {}
    for file in files_of(source.path, looks_like, rejected, "*_eval.jsonl"):
        yield from each_sample(read_records(file, rejected), partial(_sample, source, known, distinct), rejected)


def _sample(source: Source, known: dict[str, Tool], distinct: Distinct, place: str, row: Json) -> Sample:
    if not isinstance(row, dict) or "answer" not in row:
        raise ValueError(f"{shown(row)} is no row with question and answer")
    golden = Golden()
    tools = _tools(row, place, known, golden.notes)
    query, before = _user_turn(_dialogue(row["question"]), golden.notes)
    _read_answer(row["answer"], tools, before, golden)
    original = row.get("id")
    origin = {"format": NAME, "place": place, "id": original, **({"dialogue_before": before} if before else {})}
    sample_id = distinct(original, number_in(place), golden.notes)
    return made_sample(source, sample_id, query, tools, golden, origin, row, _split(original))


def _split(original: Json) -> str:
    """The part of the benchmark that an id names: S-S, S-M, M-S, M-M (single or multiple turns, then tools) or OOD."""
    return original.partition("_")[0] if isinstance(original, str) and "_" in original else ""


def _tools(row: dict[str, Json], place: str, known: dict[str, Tool], notes: list[str]) -> tuple[Tool, ...]:
    """The documents that a row lists; equal ones of all rows are one object, so that they are prepared for checking once."""
    complaints: list[str] = []
    found = list(mtu_bench.read_tools([(place, row)], complaints))
    notes += [f"tool list: {complaint.removeprefix(f'{place}: ')}" for complaint in complaints]
    if len(known) > MAX_DOCUMENTS:
        known.clear()
    return tuple(known.setdefault(canonical([tool.raw, tool.parameters, tool.source["version"]]), tool) for tool in found)


def _dialogue(question: str) -> str:
    """What follows the tool list."""
    start = question.index(mtu_bench.MARKER) + len(mtu_bench.MARKER)
    start = next(at for at in range(start, len(question)) if not question[at].isspace())
    try:
        end = parse_json_prefix(question, start)[1]
    except TextError:
        end = start + len(bracketed(question, start))
    return question[end:]


def _user_turn(dialogue: str, notes: list[str]) -> tuple[str, str]:
    """The last turn of the user, and the dialogue before it."""
    turns = list(_TURN.finditer(dialogue))
    last = max((number for number, turn in enumerate(turns) if turn[1].lower() == "user"), default=-1)
    if last < 0:
        notes.append("no turn is marked as the user's; all that follows the tool list is taken as the query")
        return dialogue.strip(), ""
    if last + 1 < len(turns):
        notes.append(f"the dialogue goes on after the last turn of the user (with {turns[last + 1][1].lower()}); it stays in raw")
    end = turns[last + 1].start() if last + 1 < len(turns) else len(dialogue)
    return dialogue[turns[last].end() : end].strip(), dialogue[: turns[last].start()].strip().removeprefix("History Dialog:").strip()


def _read_answer(answer: Json, tools: tuple[Tool, ...], before: str, golden: Golden) -> None:
    if isinstance(answer, str):
        try:
            answer = parse_json(answer)
        except TextError as error:
            add_unparsed(golden, 0, error, answer)
            return
        golden.notes.append("the answer is JSON text; decoded")
    if not isinstance(answer, dict):
        add_unparsed(golden, 0, TextError(f"the answer is {shown(answer)}, not a mapping from tool to arguments"), answer)
        return
    offered = {tool.name for tool in tools}
    for number, (written, arguments) in enumerate(answer.items()):
        if not written.strip() and arguments in ({}, "{}"):
            golden.notes.append(f"call {number}: {{'{written}': {arguments!r}}} is the set's word for 'no call'")
            continue
        name = written
        if written not in offered and written.strip() in offered:
            name = written.strip()
            golden.notes.append(f"call {number}: the name '{written}' is read as '{name}', which is offered")
        if add_call(golden, number, name, arguments, {written: arguments}):
            add_references(golden, lambda text: _reference(text, tools, before, golden))


def _reference(text: str, tools: tuple[Tool, ...], before: str, golden: Golden) -> list[dict[str, Json]]:
    """The source of a value `tool.result` where `tool` is exactly an offered or called tool; no other dot means anything.

    `"earlier_turn": True` says that the tool is not called before in this answer, but was in an earlier turn of the dialogue.
    """
    responses: dict[str, set[str]] = {call.name: set() for call in golden.calls} | {tool.name: set(tool.response) for tool in tools}
    for at in (at for at, character in enumerate(text[:200]) if character == "."):
        name, result = text[:at], text[at + 1 :]
        if name not in responses or not (result in responses[name] or _is_path(result)):
            continue
        call = next((n for n in range(len(golden.calls) - 2, -1, -1) if golden.calls[n].name == name), None)
        source = result_source(call, result, text, embedded=False)
        return [{**source, "earlier_turn": True}] if call is None and _was_called(name, before) else [source]
    return []


def _is_path(text: str) -> bool:
    return bool(text) and text[0] != "." and all(character.isalnum() or character in "_-/.[]" for character in text)


def _was_called(name: str, before: str) -> bool:
    """Whether an earlier turn of the dialogue calls a tool: `Action: {"name": ...}`, or `Action: name` on a line of its own."""
    written = (line.strip()[7:].strip() for line in before.splitlines() if line.strip().startswith("Action:"))
    return any(line.strip("\"' ") == name or f'"{name}"' in line or f'" {name}"' in line for line in written)
