"""Tools of one name in one catalogue: equal ones become one, different ones are numbered and say that they are ambiguous."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from familytool.model import Tool


def merge_duplicates(tools: Iterable[Tool]) -> Iterator[Tool]:
    """The distinct tools in order of first appearance; `source` gets `uses` (how often) and `version` (from 1, by name).

    Tools that share a name all get the note "ambiguous tool name X (n documents)". Equal tools say the same in the same
    order (models read parameters in order); the envelope around them may differ, and the first one's `raw` is kept.
    """
    first: dict[str, Tool] = {}
    uses: dict[str, int] = {}
    versions: dict[str, list[str]] = {}
    for tool in tools:
        key = json.dumps([tool.name, tool.description, tool.parameters, tool.response])
        if key not in first:
            first[key] = tool
            versions.setdefault(tool.name, []).append(key)
        uses[key] = uses.get(key, 0) + 1
    for name_keys in versions.values():
        for number, key in enumerate(name_keys, 1):
            tool = first[key]
            notes = (f"ambiguous tool name {tool.name} ({len(name_keys)} documents)",) if len(name_keys) > 1 else ()
            source = {**tool.source, "version": str(number), "uses": str(uses[key])}
            first[key] = tool.model_copy(update={"source": source, "notes": (*tool.notes, *notes)})
    yield from first.values()
