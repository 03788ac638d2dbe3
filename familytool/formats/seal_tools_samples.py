"""Seal-Tools query files as a benchmark (`dev*.jsonl`, `test*.jsonl` with `tool*.jsonl` beside them, Apache-2.0); read only.

A row is `{id, query, calling}`, in the older form the list `[query, calling]`; a call is `{api, parameters, responses}`. The names in
`responses` (API_call_0, API_call_1 ...) stand for its results in the order in which its document declares them; a later argument
refers to a result by this name, whole or inside a longer text. A row lists no documents: all of the tool files are its candidates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from familytool.formats.benchmark_files import Source, read_records
from familytool.formats.benchmark_rows import (
    Distinct,
    Golden,
    add_call,
    add_references,
    add_unparsed,
    distinct_ids,
    documents_for,
    each_sample,
    files_of,
    made_sample,
    number_in,
    result_source,
)
from familytool.formats.openai import shown
from familytool.formats.text import TextError
from familytool.model import Json, Sample, Tool

NAME = "seal-tools"
CARRIES = "all documents of the tool files beside the rows, queries, golden calls with their references to earlier results"
LOST = "the names that a call gives to its results (API_call_0) stay in raw; references are told as call and result"

_REFERENCE = re.compile(r"(?<!\w)API_call_[0-9]{1,9}(?!\w)")


def looks_like(record: Json) -> bool:
    """Whether a record is a Seal-Tools query with its calls, in the newer or the older form."""
    query, calling = _parts(record)
    return isinstance(query, str) and isinstance(calling, list) and all(isinstance(call, dict) and "api" in call for call in calling)


def read_samples(source: Source, rejected: list[str]) -> Iterator[Sample]:
    """The samples of a file, or of the `dev*`, `test*` and `train*` files of a folder; rows that are none go into `rejected`.

    Raises:
        FamilytoolError: no tool documents.
    """
    folder = source.path if source.path.is_dir() else source.path.parent
    tools = documents_for(source, sorted(folder.glob("tool*.jsonl")), "the tool file (tool.jsonl)", rejected)
    results = {tool.name: list(tool.response.get("properties", {})) for tool in tools}
    distinct = distinct_ids(source.benchmark)
    for file in files_of(source.path, looks_like, rejected, "dev*.jsonl|test*.jsonl|train*.jsonl"):
        yield from each_sample(read_records(file, rejected), partial(_sample, source, tools, results, distinct), rejected)


def _parts(record: Json) -> tuple[Json, Json]:
    """Query and calls of a row (None where there is none)."""
    if isinstance(record, list) and len(record) == 2:
        return record[0], record[1]
    return (record.get("query"), record.get("calling")) if isinstance(record, dict) else (None, None)


def _sample(source: Source, tools: tuple[Tool, ...], results: dict[str, list[str]], distinct: Distinct, place: str, row: Json) -> Sample:
    query, calling = _parts(row)
    if query is None or calling is None:
        raise ValueError(f"{shown(row)} is no row with query and calling")
    golden = Golden()
    if not isinstance(calling, list):
        add_unparsed(golden, 0, TextError(f"calling is {shown(calling)}, not a list of calls"), calling)
    known: dict[str, tuple[int, str]] = {}  # API_call_n -> index of its call, name of the result
    for number, entry in enumerate(calling if isinstance(calling, list) else []):
        name, arguments = (entry.get("api"), entry.get("parameters")) if isinstance(entry, dict) else (entry, None)
        if add_call(golden, number, name, arguments, entry):
            add_references(golden, partial(_references, known=known))
            _name_results(entry.get("responses"), len(golden.calls) - 1, results.get(str(name), []), known)
    original = row.get("id") if isinstance(row, dict) else None
    sample_id = distinct(original, number_in(place), golden.notes)
    category = original.split("-")[1] if isinstance(original, str) and original.count("-") == 2 else ""
    return made_sample(source, sample_id, query, tools, golden, {"format": NAME, "place": place, "id": original}, row, category)


def _name_results(named: Json, call: int, declared: list[str], known: dict[str, tuple[int, str]]) -> None:
    """Remember what the names of a call's results stand for: the declared results in order, or the name itself where none is declared."""
    for at, name in enumerate(named if isinstance(named, list) else []):
        if isinstance(name, str):
            known[name] = (call, declared[at] if at < len(declared) else name)


def _references(text: str, known: dict[str, tuple[int, str]]) -> list[dict[str, Json]]:
    found = []
    for reference in _REFERENCE.finditer(text):
        call, result = known.get(reference[0], (None, reference[0]))
        found.append(result_source(call, result, reference[0], embedded=reference[0] != text))
    return found
