"""What the readers of foreign benchmarks share: files of a folder, documents beside the rows, golden calls, references, ids.

A row that cannot be read is a sentence with its place; a golden call that cannot be read stays in its sample as text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TypeAlias

from familytool.errors import FamilytoolError
from familytool.formats.benchmark_files import LeftOut, Source, first_records
from familytool.formats.documents import read_documents
from familytool.formats.foreign_files import folder_files
from familytool.formats.openai import shown
from familytool.formats.text import TextError, parse_json
from familytool.model import Json, Kind, Sample, Tool, ToolCall

MAX_DETECTED = 50
RECORDS_LOOKED_AT = 5
"""So many records tell what a file holds, since the first may be at fault."""
Distinct: TypeAlias = Callable[[Json, int, list[str]], str]
"""From (original id, number of the row, notes) to an id that occurs once in its benchmark."""


def each_sample(records: Iterable[tuple[str, Json]], sample_of: Callable[[str, Json], Sample], rejected: list[str]) -> Iterator[Sample]:
    """The samples of (place, row) pairs, as they are asked for; the ValueError of a row that is none goes into `rejected`."""
    for place, row in records:
        try:
            sample = sample_of(place, row)
        except ValueError as error:
            rejected.append(f"{place}: {str(error).removeprefix(f'{place}: ')}")
            continue
        yield sample


@dataclass
class Golden:
    """The golden calls of a row as they are collected, and what there is to say of them.

    `unparsed` has an entry {path, code, message, text} for each call that cannot be read; `sources` goes from JSON pointers into
    `calls` to where the value comes from.
    """

    calls: list[ToolCall] = field(default_factory=list)
    unparsed: list[dict[str, Json]] = field(default_factory=list)
    sources: dict[str, dict[str, Json]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def add_call(golden: Golden, number: int, name: Json, arguments: Json, entry: Json, text_is_usual: bool = False) -> bool:
    """Add a call to the golden ones if it is one, or else to the unparsed ones; whether it was one.

    Args:
        number: its place in the list of the row, from 0.
        name: the tool; it is kept as it is written.
        arguments: an object, or the JSON text of one, which is decoded.
        entry: the whole call as it stands in the row, for the text of an unparsed one.
        text_is_usual: whether the format has its arguments as text; else decoding them is worth a note.
    """
    if not isinstance(name, str) or not name.strip():
        add_unparsed(golden, number, TextError(f"the name of the tool is {shown(name)}"), entry)
        return False
    try:
        decoded = parse_json(arguments) if isinstance(arguments, str) else arguments
        if not isinstance(decoded, dict):
            raise TextError(f"the arguments are {shown(decoded)}, not an object")
    except TextError as error:
        add_unparsed(golden, number, error, arguments if isinstance(arguments, str) else entry)["name"] = name
        return False
    golden.calls.append(ToolCall(name=name, arguments=decoded))
    if isinstance(arguments, str) and not text_is_usual:
        golden.notes.append(f"call {number} ({name}): the arguments are JSON text; decoded")
    return True


def add_unparsed(golden: Golden, number: int, error: TextError, entry: Json) -> dict[str, Json]:
    """Keep what stands in the place of call `number` as text, with the reason why it is no call; the entry made.

    `add_call` adds the `name` of the tool where that can be read, since the text is then that of the arguments.
    """
    text = entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False)
    found = {"path": f"/calls/{number}", "code": error.code, "message": f"call {number} cannot be read: {error}", "text": text}
    golden.unparsed.append(found)
    return found


def add_references(golden: Golden, find: Callable[[str], list[dict[str, Json]]]) -> None:
    """Record the sources that `find` sees in the texts of the call added last, at any depth.

    A text with several references has the first one as its source, and the others in its list `also`.
    """
    number = len(golden.calls) - 1
    golden.sources |= sources_in(golden.calls[number].arguments, f"/{number}/arguments", find)


def sources_in(arguments: Json, pointer: str, find: Callable[[str], list[dict[str, Json]]]) -> dict[str, dict[str, Json]]:
    """JSON pointer -> source of each text in which `find` sees one."""
    seen = ((at, find(text)) for at, text in texts_in(arguments, pointer))
    return {at: {**found[0], "also": found[1:]} if len(found) > 1 else found[0] for at, found in seen if found}


def result_source(call: int | None, result: str, text: str, embedded: bool) -> dict[str, Json]:
    """The source of a value that is (or, embedded in a longer text, holds) the result of an earlier call.

    Args:
        call: index of the earlier call among the golden calls; None where there is none.
        result: name of the result, or the path into it as it is written; "" for all of it.
        text: the reference as it is written.
        embedded: whether it stands inside a longer text.
    """
    return {"source": "result", "call": call, "result": result, "text": text, "embedded": embedded}


def texts_in(value: Json, pointer: str) -> Iterator[tuple[str, str]]:
    """JSON pointer and text of every text in a value.

    >>> list(texts_in({"a/b": ["x", 1]}, "/0"))
    [('/0/a~1b/0', 'x')]
    """
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from texts_in(inner, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from texts_in(inner, f"{pointer}/{index}")


def kind_of(golden: Golden) -> Kind:
    """The kind of a sample without a graph; calls that cannot be read are calls all the same."""
    if len(golden.calls) > 1:
        return "multi_call"
    return "no_graph" if golden.calls or golden.unparsed else "no_tool"


def made_sample(
    source: Source, sample_id: str, query: Json, tools: tuple[Tool, ...], golden: Golden, origin: dict[str, Json], raw: Json, category: str
) -> Sample:
    """A sample without speaker and graph.

    Args:
        origin: `format`, `place` and `id`, and whatever else the row says that has no field of its own.

    Raises:
        ValueError: the query is no text, or blank.
    """
    if not isinstance(query, str) or not query.strip():
        raise ValueError(f"the query is {shown(query)}, not a text")
    provenance = {**origin, "notes": [*golden.notes, *ambiguous(tools)]}
    if golden.unparsed:
        provenance["unparsed"] = golden.unparsed
    return Sample(
        id=sample_id,
        benchmark=source.benchmark,
        kind=kind_of(golden),
        speaker="",
        query=query.strip(),
        graph_id="",
        candidate_tools=tools,
        calls=tuple(golden.calls),
        argument_sources=golden.sources,
        category=category,
        provenance=provenance,
        raw=raw,
    )


def ambiguous(tools: Iterable[Tool]) -> Iterator[str]:
    """A note for each name that several of the candidate tools have; all of them are kept."""
    counts: dict[str, int] = {}
    for tool in tools:
        counts[tool.name] = counts.get(tool.name, 0) + 1
    yield from (f"ambiguous tool name {name} ({count} documents); all are kept" for name, count in counts.items() if count > 1)


def distinct_ids(benchmark: str) -> Distinct:
    """A function from (original id, number of the row, notes) to an id that occurs once: `<benchmark>-<original id>`.

    A second row of an id becomes `...-2`, and so on; a row without an id is called by its number. Both are noted.

    >>> notes = []
    >>> name = distinct_ids("x")
    >>> name("a", 1, notes), name("a", 2, notes), name(None, 3, notes), name("a-2", 4, notes)
    ('x-a', 'x-a-2', 'x-3', 'x-a-2-2')
    """
    used: set[str] = set()
    count: dict[str, int] = {}

    def distinct(original: Json, number: int, notes: list[str]) -> str:
        named = str(original) if isinstance(original, str | int) and not isinstance(original, bool) and str(original).strip() else ""
        if not named:
            notes.append(f"the row has no id ({shown(original)}); it is called by its number, {number}")
        wanted = chosen = f"{benchmark}-{named or number}"
        while chosen in used:
            count[wanted] = count.get(wanted, 1) + 1
            chosen = f"{wanted}-{count[wanted]}"
        if chosen != wanted:
            notes.append(f"the id '{named or number}' occurs again; this sample is '{chosen}'")
        used.add(chosen)
        return chosen

    return distinct


def number_in(place: str) -> int:
    """The number of a row in its file, from the place that `read_records` gives ("rows.jsonl:7", "rows.json, entry 7")."""
    return int(place.replace(":", " ").rpartition(" ")[2])


def files_of(path: Path, fits: Callable[[Json], bool], rejected: list[str], *patterns: str) -> list[Path]:
    """The file itself; of a folder the files as published, or else those whose first record fits.

    Published are the files that match the first pattern that any file matches (several are joined by "|"). Where none does, the
    files of the folder and its sub-folders are taken whose first record fits, in the order of `folder_files`; each other one is told
    in `rejected` as left out.

    Raises:
        FamilytoolError: a folder without such a file.
    """
    if not path.is_dir():
        return [path]
    files = folder_files(path, (".json", ".jsonl"))
    for pattern in patterns:
        if named := [
            file
            for file in files
            if any(file.relative_to(path).match(part) and _is_as_deep(file, path, part) for part in pattern.split("|"))
        ]:
            return named
    taken = [file for file in files if any(fits(record) for record in first_records(file, RECORDS_LOOKED_AT))]
    if not taken:
        named_like = f" named like {' or '.join(patterns)}, and none" if patterns else ""
        raise FamilytoolError(f"{path}: the folder has no file{named_like} with rows of this format; name the file itself.")
    rejected += [
        LeftOut(f"{file.relative_to(path).as_posix()}: the file is left out, since it holds no row of this format")
        for file in files
        if file not in taken
    ]
    return taken


def _is_as_deep(file: Path, folder: Path, pattern: str) -> bool:
    return len(file.relative_to(folder).parts) == pattern.count("/") + 1


def place_name(file: Path, source: Source) -> str:
    """How places name a file of a source: its path seen from the source's folder, or its name."""
    return file.relative_to(source.path).as_posix() if source.path.is_dir() else file.name


def detected_files(path: Path) -> Iterator[Path]:
    """The files whose first record can say of which benchmark a file or folder is: at most fifty, those of sub-folders last."""
    if path.is_file():
        yield path
        return
    files = folder_files(path, (".json", ".jsonl")) if path.is_dir() else []
    evaluations = [file for file in files if file.parent == path and file.name.endswith("_eval.jsonl")]
    yield from islice(chain(evaluations, files), MAX_DETECTED)


def documents_for(source: Source, beside: list[Path], wanted: str, rejected: list[str]) -> tuple[Tool, ...]:
    """The tool documents of `source.documents`, or else of the files beside the rows.

    Args:
        beside: files as published; all that exist are read, and equal documents are one.
        wanted: the name of the file that is missing if there are none.
        rejected: gets a sentence for each entry that is no tool document.

    Raises:
        FamilytoolError: there are no documents.
    """
    if source.documents is not None:
        return tuple(read_documents(source.documents, rejected))
    tools = [tool for file in beside if file.is_file() for tool in read_documents(file, rejected)]
    if not tools:
        raise missing_documents(source, wanted)
    return distinct_tools(tools)


def distinct_tools(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """The tools without repetitions; tools of one name that differ in anything, the order of parameters included, are kept."""
    found: dict[str, Tool] = {}
    for tool in tools:
        found.setdefault(json.dumps([tool.name, tool.description, tool.parameters, tool.response]), tool)
    return tuple(found.values())


def missing_documents(source: Source, wanted: str) -> FamilytoolError:
    """The error that the tool documents of a benchmark are not there, and how to name them."""
    return FamilytoolError(f"{source.path}: the tool documents are missing; put {wanted} beside it, or name the file with --documents.")
