"""NESTFUL data files as a benchmark (`*-data.json` with `*-spec.json` beside it, Apache-2.0); read only.

A row is `{input, output}`; output is a list of calls `{name, arguments, label}`. Arguments refer to results of earlier calls by
`$label.path$`, whole or inside a longer text. The last entry of a list is no call: `var_result` says what the answer consists of,
and is kept in `provenance["result"]`. Rows have no id: they are called by file and number.
The documents of a row are its own `tools` if it lists any, else all of the specification.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

from familytool.formats import nestful
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
    texts_in,
)
from familytool.formats.openai import shown
from familytool.formats.text import TextError, parse_json
from familytool.model import Json, Sample, Tool

NAME = "nestful"
CARRIES = "documents of the specification beside the data, queries, nested golden calls with their references to earlier results"
LOST = "the pseudo-call `var_result`, which says what the answer consists of, stays in the provenance"

RESULT = "var_result"
_REFERENCE = re.compile(r"\$([A-Za-z_]\w{0,80})([.\[][^$]{0,400})?\$")
_LABEL = re.compile(r"var_?[0-9]{1,6}")


def looks_like(record: Json) -> bool:
    """Whether a record is a NESTFUL row: a query `input` and a list of named calls `output`, perhaps as JSON text."""
    if not isinstance(record, dict) or not isinstance(record.get("input"), str) or "instruction" in record:
        return False
    output = record.get("output")
    if isinstance(output, str):
        try:
            output = parse_json(output)
        except TextError:
            return False
    return isinstance(output, list) and all(isinstance(call, dict) and {"name", "arguments"} <= call.keys() for call in output)


def read_samples(source: Source, rejected: list[str]) -> Iterator[Sample]:
    """The samples of a data file, or of the `*-data.json` files of a folder; rows that are none go into `rejected`.

    Raises:
        FamilytoolError: rows without tools of their own, and no specification.
    """
    distinct = distinct_ids(source.benchmark)
    for file in files_of(source.path, looks_like, rejected, "*-data.json"):
        specification = cache(partial(_specification, source, file, rejected))
        yield from each_sample(read_records(file, rejected), partial(_sample, source, file, specification, distinct), rejected)


def _specification(source: Source, file: Path, rejected: list[str]) -> tuple[Tool, ...]:
    beside = [file.with_name(file.name.replace("-data", "-spec"))] if "-data" in file.name else []
    return documents_for(source, beside, beside[0].name if beside else "its specification (*-spec.json)", rejected)


def _sample(source: Source, file: Path, specification: Callable[[], tuple[Tool, ...]], distinct: Distinct, place: str, row: Json) -> Sample:
    if not isinstance(row, dict) or "input" not in row or "output" not in row:
        raise ValueError(f"{shown(row)} is no row with input and output")
    golden = Golden()
    tools = _own_tools(place, row["tools"], golden.notes) if row.get("tools") else specification()
    origin = {"format": NAME, "place": place, "id": row.get("sample_id")}
    _read_output(row["output"], golden, origin)
    part = file.name.partition("-data")[0].removesuffix(file.suffix)
    sample_id = distinct(row.get("sample_id", f"{part}-{number_in(place)}"), number_in(place), golden.notes)
    return made_sample(source, sample_id, row["input"], tools, golden, origin, row, part)


def _own_tools(place: str, listed: Json, notes: list[str]) -> tuple[Tool, ...]:
    """The documents in a row: a list, or the JSON text of one."""
    complaints: list[str] = []
    documents = parse_json(listed) if isinstance(listed, str) else listed
    tools = tuple(nestful.read_tools([(place, documents)], complaints))
    notes += [f"tools: {complaint.removeprefix(place)}" for complaint in complaints]
    return tools


def _read_output(output: Json, golden: Golden, origin: dict[str, Json]) -> None:
    if isinstance(output, str):
        try:
            output = parse_json(output)
        except TextError as error:
            add_unparsed(golden, 0, error, output)
            return
        golden.notes.append("the output is JSON text; decoded")
    if not isinstance(output, list):
        add_unparsed(golden, 0, TextError(f"the output is {shown(output)}, not a list of calls"), output)
        return
    labels: dict[str, int | None] = {label: None for entry in output if (label := _label(entry))}  # label -> index of its call, when read
    for number, entry in enumerate(output):
        name, arguments = (entry.get("name"), entry.get("arguments")) if isinstance(entry, dict) else (entry, None)
        if name == RESULT and number == len(output) - 1:
            origin["result"] = arguments
        elif add_call(golden, number, name, arguments, entry):
            _note_half_references(golden, labels)
            add_references(golden, partial(_references, labels=labels))
            if label := _label(entry):
                labels[label] = len(golden.calls) - 1


def _label(entry: Json) -> str:
    label = entry.get("label") if isinstance(entry, dict) else None
    return label.strip("$ ") if isinstance(label, str) else ""


def _references(text: str, labels: dict[str, int | None]) -> list[dict[str, Json]]:
    """The sources of all references in a text, in order; `$100-$200` and the like are none.

    A label that no earlier call carries refers to nothing (its call is None).
    """
    found = []
    for reference in _REFERENCE.finditer(text):
        label, path = reference[1], (reference[2] or "").removeprefix(".")
        if label in labels or _LABEL.fullmatch(label):
            found.append(result_source(labels.get(label), path, reference[0], embedded=reference[0] != text))
    return found


def _note_half_references(golden: Golden, labels: dict[str, int | None]) -> None:
    number = len(golden.calls) - 1
    for pointer, text in texts_in(golden.calls[number].arguments, f"/{number}/arguments"):
        label = re.split(r"[.\[]", text.strip("$"), maxsplit=1)[0]
        if text.count("$") == 1 and (text[0] == "$" or text[-1] == "$") and label in labels and label != text.strip("$"):
            golden.notes.append(f"{pointer}: {text[:80]!r} looks like a reference that lacks one of its '$'; kept as a literal")
