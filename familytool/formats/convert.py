"""Convert tool documents and knowledge graphs from one format to another, with an account of what was read, kept and rejected."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from familytool.errors import FamilytoolError, UsageError
from familytool.formats import gemini
from familytool.formats.documents import TOOL_FORMATS, read_documents
from familytool.formats.graphs import GRAPH_FORMATS, detect_graph_format


@dataclass
class Account:
    """What a conversion did: how many were kept, and a sentence for everything that was not, or not wholly, carried over."""

    source_format: str
    kept: int = 0
    what: str = "tool documents"
    rejected: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)


def convert_text(source: Path, from_name: str, to_name: str) -> tuple[Iterator[str], Account]:
    """The pieces of the converted text, and the account (complete once the pieces are used up).

    Raises:
        UsageError: a format that is not known, or cannot be written.
        FamilytoolError: a source that cannot be read.
    """
    if to_name in GRAPH_FORMATS:
        return _convert_graph(source, from_name, to_name)
    target = TOOL_FORMATS.get(to_name)
    if target is None or target.write_tools is None:
        writable = [name for name, known in TOOL_FORMATS.items() if known.write_tools] + [n for n, g in GRAPH_FORMATS.items() if g.write]
        state = "no format" if target is None else "a format that is read only"
        raise UsageError(f"--to {to_name}: {state}; can be written: {', '.join(writable)}.")
    account = Account(from_name)
    tools = read_documents(source, account.rejected, from_name)
    account.kept = len(tools)
    account.source_format = ", ".join(dict.fromkeys(tool.source.get("format", "?") for tool in tools))
    if to_name == gemini.NAME:
        account.losses += [loss for tool in tools for loss in gemini.losses(tool)]
    records = target.write_tools(tools)
    if target.container == "jsonl":
        return (json.dumps(record, ensure_ascii=False) + "\n" for record in records), account
    return (json.dumps(record, ensure_ascii=False, indent=2) + "\n" for record in records), account


def _convert_graph(source: Path, from_name: str, to_name: str) -> tuple[Iterator[str], Account]:
    write = GRAPH_FORMATS[to_name].write
    if write is None:
        raise UsageError(f"--to {to_name}: this graph format is read only.")
    try:
        text = source.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FamilytoolError(f"{source}: cannot be read as UTF-8 text ({error}).") from None
    name = detect_graph_format(text, source.name) if from_name == "auto" else from_name
    if name not in GRAPH_FORMATS:
        raise UsageError(f"--from {name}: no graph format; there are {', '.join(GRAPH_FORMATS)}.")
    account = Account(name, what="triples")
    graph = GRAPH_FORMATS[name].read(text, source.stem, account.rejected)
    account.kept = len(graph)
    return iter([write(graph)]), account
