"""Convert benchmarks, tool documents and graphs from one format to another, with an account of what was read, kept and rejected.

The rule of what is converted: a graph where the target is a graph format; the samples where the source is a benchmark and the
target carries samples; else the tool documents, those of a benchmark included. Samples pass one by one, so that a file of a
hundred thousand rows never stands in memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from familytool.errors import FamilytoolError, UsageError
from familytool.formats import gemini, mtu_bench
from familytool.formats.aliases import FITTING
from familytool.formats.benchmark_files import Source, first_record, read_records
from familytool.formats.benchmarks import BENCHMARK_FORMATS, detect_benchmark
from familytool.formats.convert_files import note_row
from familytool.formats.documents import TOOL_FORMATS, document_files, read_documents
from familytool.formats.duplicates import merge_duplicates
from familytool.formats.foreign_files import read_text
from familytool.formats.graphs import GRAPH_FORMATS, detect_graph_format
from familytool.formats.openai import DocumentError
from familytool.model import Json, Sample, Tool

Progress = Callable[[int], None]
"""Told how many rows of the source are done."""
MAX_TOLD = 20
"""So many notes are told one by one."""
Pieces = Iterator[tuple[str, str]]
"""(file seen from the output folder, text) pairs; the file is "" where the target is a single file."""

LOSSES: dict[str, Callable[[Tool], list[str]]] = {gemini.NAME: gemini.losses, mtu_bench.NAME: mtu_bench.losses}
"""Formats of tool documents that can say of each tool what they do not carry."""

NAMES_RESTRICTED = ("openai", "openai-responses", "openai-functions", "anthropic", "gemini")
"""Formats of providers that refuse some names."""


@dataclass
class Account:
    """What a conversion did, complete once its pieces are used up.

    `read` counts what was found in the source, `kept` what was written; `rejected` has a sentence "file:line (id): reason" for
    everything that was not taken, `losses` one for what the target does not carry. `notes` has "tool 'name' (place): note" for
    everything that reading the documents has mended, or found odd, and `note_rows` the same in its parts; of samples, the notes stay in
    the samples.
    """

    source_format: str
    kept: int = 0
    what: str = "tool documents"
    rejected: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    note_rows: list[dict[str, Json]] = field(default_factory=list)
    n_double: int = 0

    @property
    def read(self) -> int:
        """How many there were: kept, rejected, and those that were another one word for word."""
        return self.kept + self.n_double + len(self.rejected)


@dataclass(frozen=True)
class Order:
    """What to convert: the source, its format ("auto": recognised) and the target's; `only_tools` leaves samples aside.

    `documents` are tool documents that a benchmark keeps apart from its rows (None: beside the rows, as published).
    """

    path: Path
    from_name: str
    to_name: str
    only_tools: bool = False
    documents: Path | None = None


def convert_text(source: Path, from_name: str, to_name: str) -> tuple[Iterator[str], Account]:
    """The pieces of the converted text, and the account (complete once the pieces are used up).

    Raises:
        UsageError: a format that is not known, cannot be written, or is written to several files.
        FamilytoolError: a source that cannot be read.
    """
    order = Order(source, from_name, to_name)
    if len(files_of_target(order)) > 1:
        raise UsageError(f"--to {to_name}: this format is several files; name a folder with --out.")
    pieces, account = convert_pieces(order)
    return (text for _, text in pieces), account


def files_of_target(order: Order) -> tuple[str, ...]:
    """The files that a conversion writes, seen from its folder; one "" for a single file (errors as `convert_pieces`)."""
    target = BENCHMARK_FORMATS.get(order.to_name)
    return target.files if target is not None and _kind(order)[0] == "samples" else ("",)


def convert_pieces(order: Order, progress: Progress = lambda _: None) -> tuple[Pieces, Account]:
    """The pieces of what is converted, with the file of each, and the account.

    Raises:
        UsageError: no such path, a format that is not known or cannot be written, or a target that carries samples only and a
            source that has none.
        FamilytoolError: a source that cannot be read.
    """
    kind, benchmark = _kind(order)
    if kind == "graph":
        return _convert_graph(order)
    if kind == "samples":
        return _convert_samples(order, benchmark, progress)
    return _convert_tools(order, benchmark, progress)


def _kind(order: Order) -> tuple[str, str]:
    """What is converted (graph, samples or tools), and the format of the benchmark that the source is ("" if it is none)."""
    target, tools = BENCHMARK_FORMATS.get(order.to_name), TOOL_FORMATS.get(order.to_name)
    if order.to_name in GRAPH_FORMATS:
        return "graph", ""
    carries_samples = target is not None and target.write_samples is not None and not order.only_tools
    writes_tools = tools is not None and tools.write_tools is not None
    if not carries_samples and not writes_tools:
        state = "no format" if target is None and tools is None else "a format that is read only"
        state = f"{order.to_name} has no form for tool documents alone" if order.only_tools and target is not None else state
        raise UsageError(f"--to {order.to_name}: {state}; can be written: {', '.join(writable(order.only_tools))}.")
    benchmark = _benchmark(order, carries_samples and not writes_tools)
    if benchmark and carries_samples:
        return "samples", benchmark
    if not writes_tools:
        raise UsageError(f"--to {order.to_name}: it carries samples, and {order.path} holds none of a known benchmark; --from names one.")
    return "tools", benchmark


def writable(only_tools: bool = False) -> list[str]:
    """The names of all formats that can be written."""
    names = [name for name, known in TOOL_FORMATS.items() if known.write_tools]
    if not only_tools:
        names += [name for name, known in BENCHMARK_FORMATS.items() if known.write_samples]
        names += [name for name, known in GRAPH_FORMATS.items() if known.write]
    return list(dict.fromkeys(names))


def _benchmark(order: Order, needs_samples: bool) -> str:
    """The format of the benchmark that the source is; "" if it is none. Some names are of documents and of benchmarks."""
    name = order.from_name
    if name == "auto":
        return detect_benchmark(rows_of(order.path))
    if name not in BENCHMARK_FORMATS:
        if name not in TOOL_FORMATS:
            known = ", ".join(dict.fromkeys([*TOOL_FORMATS, *BENCHMARK_FORMATS]))
            raise UsageError(f"--from {name}: no format of tool documents or benchmarks; there are {known}.")
        return ""
    sure = name not in TOOL_FORMATS or needs_samples
    return name if sure or detect_benchmark(rows_of(order.path)) == name else ""


def rows_of(path: Path) -> Path:
    """The samples of a run folder, or the path itself (UsageError: there is none)."""
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder.")
    samples = path / "samples.jsonl"
    return samples if samples.is_file() else path


def _source(order: Order) -> Source:
    path = rows_of(order.path)
    named = path.parent.resolve().name if path.name == "samples.jsonl" else path.resolve().stem if path.is_file() else path.resolve().name
    return Source(path, named, order.documents)


# Samples ---------------------------------------------------------------------------------------------------------------


def _convert_samples(order: Order, benchmark: str, progress: Progress) -> tuple[Pieces, Account]:
    source, target = _source(order), BENCHMARK_FORMATS[order.to_name]
    account = Account(benchmark, what="samples", losses=[f"{target.name} does not carry: {target.lost}"] if target.lost else [])
    return _sample_pieces(source, benchmark, order.to_name, account, progress), account


def _sample_pieces(source: Source, benchmark: str, to_name: str, account: Account, progress: Progress) -> Pieces:
    refused: list[str] = []
    current: list[str] = []

    def settle() -> None:
        """Whatever the writer refused since the last sample was handed out is that sample."""
        for sentence in refused:
            account.rejected.append(f"{current[0]}: {sentence.removeprefix(f'{current[1]}: ')}")
        account.kept += bool(current) and not refused
        refused.clear()
        current.clear()
        progress(account.read)

    def handed_out() -> Iterator[Sample]:
        for sample in BENCHMARK_FORMATS[benchmark].read_samples(source, account.rejected):
            current[:] = [_place(sample, source.path, account.read + 1), sample.id]
            yield sample
            settle()

    write = BENCHMARK_FORMATS[to_name].write_samples
    assert write is not None
    yield from write(handed_out(), source.benchmark, refused)


def _place(sample: Sample, path: Path, number: int) -> str:
    """Where a sample was read, and its id: its own place if that is in the source, else the number of its row."""
    said = str(sample.provenance.get("place", ""))
    is_own = path.is_dir() or said.startswith((f"{path.name}:", f"{path.name}, "))
    return f"{said if said and is_own else f'{path.name}:{number}'} ({sample.provenance.get('id') or sample.id if is_own else sample.id})"


# Tool documents --------------------------------------------------------------------------------------------------------


def _convert_tools(order: Order, benchmark: str, progress: Progress) -> tuple[Pieces, Account]:
    target = TOOL_FORMATS[order.to_name]
    account = Account(order.from_name)
    tools = _read_tools(order, benchmark, account, progress)
    account.kept = len(tools)
    account.n_double = sum(int(tool.source.get("uses", "1")) - 1 for tool in tools)
    account.source_format = ", ".join(dict.fromkeys(tool.source.get("format", benchmark) for tool in tools))
    if losses := LOSSES.get(order.to_name):
        account.losses += [f"tool '{tool.name}': {loss}" for tool in tools for loss in losses(tool)]
    account.notes = [f"{_named(tool)}: {note}" for tool in tools for note in tool.notes]
    account.losses += _first(account.notes)
    account.note_rows = [note_row(tool.name, tool.source.get("place", ""), note) for tool in tools for note in tool.notes]
    if order.to_name in NAMES_RESTRICTED and (odd := [tool.name for tool in tools if not FITTING.fullmatch(tool.name)]):
        account.losses.append(
            f"names that the provider refuses: {len(odd):,} (the first: '{odd[0][:80]}'), written as they are (it takes "
            f"{FITTING.pattern}); familytool.formats.aliases.provider_aliases gives names that it takes, and the way back"
        )
    assert target.write_tools is not None
    indent = None if target.container == "jsonl" else 2
    return (("", json.dumps(record, ensure_ascii=False, indent=indent) + "\n") for record in target.write_tools(tools)), account


def _named(tool: Tool) -> str:
    place = tool.source.get("place")
    return f"tool '{tool.name}'" + (f" ({place})" if place else "")


def _first(notes: list[str]) -> list[str]:
    """The notes as they are told among the losses, since no form of documents carries them: the first ones, and how many follow."""
    more = len(notes) - MAX_TOLD
    return [*notes[:MAX_TOLD], f"... and {more:,} more notes of what was mended, or is odd"] if more > 0 else notes


def _read_tools(order: Order, benchmark: str, account: Account, progress: Progress) -> list[Tool]:
    """The distinct documents of the source; the rows of a benchmark are read one by one."""
    path = rows_of(order.path)
    if not benchmark or (path.is_dir() and benchmark in TOOL_FORMATS and _holds_documents_only(path)):
        return read_documents(path, account.rejected, order.from_name)
    record = first_record(path) if path.is_file() else None
    names = [order.from_name] if order.from_name in TOOL_FORMATS else [n for n, known in TOOL_FORMATS.items() if known.looks_like(record)]
    try:
        if record is not None and names:
            return list(TOOL_FORMATS[names[0]].read_tools(_counted(read_records(path, account.rejected), progress), account.rejected))
        samples = _counted(BENCHMARK_FORMATS[benchmark].read_samples(_source(order), account.rejected), progress)
        return list(merge_duplicates(_offered(samples)))
    except DocumentError as error:
        raise FamilytoolError(f"{path}: {error}; mend or remove this entry and run again.") from None


def _holds_documents_only(folder: Path) -> bool:
    """Whether every file of a folder begins with a tool document; one that cannot be read is left to the reader's complaint."""
    firsts = (first_record(file) for file in document_files(folder) if file.suffix in (".json", ".jsonl"))
    return all(record is None or any(known.looks_like(record) for known in TOOL_FORMATS.values()) for record in firsts)


def _offered(samples: Iterable[Sample]) -> Iterator[Tool]:
    """The candidate documents of all samples; those that are one object come once."""
    seen: dict[int, Tool] = {}
    for sample in samples:
        for tool in sample.candidate_tools:
            if id(tool) not in seen:
                seen[id(tool)] = tool
                yield tool


def _counted(rows: Iterable[Json], progress: Progress) -> Iterator[Json]:
    for number, row in enumerate(rows, 1):
        yield row
        progress(number)


# Graphs ----------------------------------------------------------------------------------------------------------------


def _convert_graph(order: Order) -> tuple[Pieces, Account]:
    write = GRAPH_FORMATS[order.to_name].write
    if write is None:
        raise UsageError(f"--to {order.to_name}: this graph format is read only.")
    text = read_text(order.path)
    name = detect_graph_format(text, order.path.name) if order.from_name == "auto" else order.from_name
    if name not in GRAPH_FORMATS:
        raise UsageError(f"--from {name}: no graph format; there are {', '.join(GRAPH_FORMATS)}.")
    account = Account(name, what="triples")
    graph = GRAPH_FORMATS[name].read(text, order.path.stem, account.rejected)
    account.kept = len(graph)
    return iter([("", write(graph))]), account
