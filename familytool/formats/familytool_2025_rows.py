"""One row of a FamilyTool sample file as a sample: the four messages `id`, `candidate_tools`, `user`, `tool_call`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from familytool.formats.familytool_2025_text import chains, golden_triples, split_user
from familytool.formats.familytool_2025_tools import NAME, ROLES, is_row, tool_of
from familytool.formats.openai import DocumentError
from familytool.model import Json, RelationPath, Sample, Tool, ToolCall

ID_PREFIX = "KGMTUbench_"


def sample_of_row(row: Json, place: str, benchmark: str, graph_id: str) -> Sample:
    """The sample of one row (DocumentError: it is none, and why)."""
    original, documents, user, listed_calls = _contents(row)
    notes: list[str] = []
    said = split_user(user, notes)
    listed = golden_triples(said.golden, notes)
    speaker = said.speaker
    if not speaker:
        speaker = listed[0].head
        notes.append(f"no speaker tag; '{speaker}', the head of the first golden triple, is taken as the speaker")
    golden = Counter(listed)  # in order of first appearance
    for triple, times in golden.items():
        if times > 1:
            notes.append(f"the golden triple [{triple.head}, {triple.relation}, {triple.tail}] is listed {times} times; kept once")
    paths = chains(listed)
    calls = _calls(listed_calls, notes)
    depends = [call.get("depend_on", []) for call in listed_calls]
    provenance = {"format": NAME, "place": place, "id": original, "speaker_tag": said.kind, "notes": notes}
    return Sample(
        id=f"{benchmark}-{original.removeprefix(ID_PREFIX)}",
        benchmark=benchmark,
        kind="multi_call" if len(calls) > 1 else "graph",
        speaker=speaker,
        query=said.query,
        graph_id=graph_id,
        candidate_tools=_candidate_tools(documents, notes),
        golden_triples=tuple(golden),
        golden_paths=tuple(path for path, _ in paths),
        calls=calls,
        argument_sources=_argument_sources(calls, paths, said.query),
        provenance={**provenance, "depend_on": depends} if any(depends) else provenance,
        raw=row,
    )


def _contents(row: Json) -> tuple[str, list[Json], str, list[Json]]:
    """The contents of the four messages, each of its type (DocumentError otherwise)."""
    if not isinstance(row, list):
        raise DocumentError(f"expected an array of the four messages {', '.join(ROLES)}, found {type(row).__name__}")
    roles = [m.get("role") if isinstance(m, dict) else type(m).__name__ for m in row]
    if not is_row(row):
        raise DocumentError(f"expected the four messages {', '.join(ROLES)}, found {', '.join(map(str, roles))[:120] or 'none'}")
    for message, expected in zip(row, (str, list, str, list), strict=True):
        if set(message) != {"role", "content"}:
            raise DocumentError(f"the message '{message['role']}' has the keys {', '.join(message)}; expected role and content")
        if not isinstance(message["content"], expected):
            wanted = "text" if expected is str else "a list"
            raise DocumentError(f"the content of '{message['role']}' must be {wanted}, found {type(message['content']).__name__}")
    original, documents, user, calls = (message["content"] for message in row)
    if not original.removeprefix(ID_PREFIX).strip():
        raise DocumentError(f"the id '{original}' has no number")
    return original, documents, user, calls


def _calls(listed: list[Json], notes: list[str]) -> tuple[ToolCall, ...]:
    if not listed:
        raise DocumentError("the message 'tool_call' holds no call")
    calls: list[ToolCall] = []
    for number, call in enumerate(listed):
        if not isinstance(call, dict) or not isinstance(call.get("name"), str) or not call["name"]:
            raise DocumentError(f"call {number} has no name")
        if not isinstance(call.get("parameters"), dict):
            raise DocumentError(f"call {number} ({call['name']}) has no parameters object")
        if call.get("depend_on"):
            notes.append(f"call {number} depends on others (depend_on = {str(call['depend_on'])[:40]}); kept in the provenance")
        for key in [key for key in call if key not in ("name", "parameters", "depend_on")]:
            notes.append(f"call {number} has the unknown key '{key}'; kept in raw only")
        calls.append(ToolCall(name=call["name"], arguments=call["parameters"]))
    return tuple(calls)


def _candidate_tools(documents: list[Json], notes: list[str]) -> tuple[Tool, ...]:
    """The tools as listed; a document that is listed twice is the same object twice, as the row has it."""
    tools: list[Tool] = []
    for number, document in enumerate(documents):
        tool = tool_of(document, number)
        if any(tool is other for other in tools):
            notes.append(f"candidate tool {number} ({tool.name}) is listed before, word for word")
        elif any(tool.name == other.name for other in tools):
            notes.append(f"candidate tool {number} ({tool.name}) has the name of another document; both kept")
        tools.append(tool)
    return tuple(tools)


def _argument_sources(calls: tuple[ToolCall, ...], chains: list[tuple[RelationPath, str]], query: str) -> dict[str, dict[str, Json]]:
    """Where each argument comes from: the golden chain that ends in it, or else the words of the query."""
    ends: dict[str, RelationPath] = {}
    for path, end in chains:
        ends.setdefault(end, path)
    sources: dict[str, dict[str, Json]] = {}
    for number, call in enumerate(calls):
        for pointer, text in _leaves(call.arguments, f"/{number}/arguments"):
            if text in ends:
                path = ends[text]
                sources[pointer] = {"source": "graph", "path": {"start": path.start, "relations": list(path.relations)}}
            elif span := _span(text, query):
                sources[pointer] = {"source": "query", "span": list(span)}
    return sources


def _leaves(value: Json, pointer: str) -> Iterator[tuple[str, str]]:
    """JSON pointer and text of every text and number in a value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{pointer}/{index}")
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield pointer, str(value)


def _span(text: str, query: str) -> tuple[int, int] | None:
    """The first place of a text in the query as whole words; "2" is no word of "2:30" or "2.5"."""
    if not text.strip():
        return None
    found = re.search(rf"(?<!\w)(?<!\d[.:,]){re.escape(text)}(?!\w|[.:,]\d)", query, re.IGNORECASE)
    return found.span() if found else None
