"""The published FamilyTool benchmark (2025): sample files `familytool-*.jsonl` and graph files `familykg-*.txt`, read only.

A row is a JSON array of four messages: `id`, `candidate_tools`, `user`, `tool_call`. The user text carries three things:
a speaker tag, the query, and behind a fixed sentence the golden triples in parentheses. The query may hold parentheses of
its own, so the text is split at the sentence and never at a parenthesis. Whatever was tolerated stands in
`provenance["notes"]` of the sample, or in `notes` of the tool document; the row as it was is `raw`.
The files have no licence: they are read where the user keeps them and no row of them is part of this project.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from familytool.formats.benchmark_files import Source, text_lines
from familytool.formats.graph_lines import read_literal_lines
from familytool.formats.openai import DocumentError, status
from familytool.formats.schema import normalise_parameters
from familytool.formats.text import TextError, parse_json, parse_python_literal
from familytool.graph import KnowledgeGraph
from familytool.model import Json, RelationPath, Sample, Tool, ToolCall, Triple

NAME = "familytool-2025"
CARRIES = "speaker, query, candidate documents, golden triples, one golden call"
LOST = "written is only what was read in this format, so far"

ROLES = ("id", "candidate_tools", "user", "tool_call")
MARKER = "The extra information for the query is"
ID_PREFIX = "KGMTUbench_"

_TAG = re.compile(r"\s*<speak>(Speaker|Person):([^<>]*)</speak>")
_GOLDEN = re.compile(r"\s*\(\s*\[[^\[\]]*\](?:\s*,\s*\[[^\[\]]*\])*\s*\)\s*(\.?)\s*")
_TRIPLE = re.compile(r"\[([^\[\]]*)\]")


def looks_like(value: Json) -> bool:
    """Whether a JSONL record has the four messages of a FamilyTool row, in their order."""
    return (
        isinstance(value, list)
        and len(value) == len(ROLES)
        and all(isinstance(m, dict) and m.get("role") == role for m, role in zip(value, ROLES, strict=True))
    )


def read_samples(source: Source, rejected: list[str]) -> Iterator[Sample]:
    """The samples of a published file, one line at a time; rows that cannot be read go into `rejected`."""
    yield from read_sample_lines(text_lines(source.path), source.benchmark, source.graph_id or source.benchmark, rejected)


def read_sample_lines(lines: Iterable[tuple[str, str]], benchmark: str, graph_id: str, rejected: list[str]) -> Iterator[Sample]:
    """The samples of a file, one line at a time; equal tool documents are one Tool object.

    Args:
        lines: (place, line) pairs; the place says file and line. Empty lines are ignored.
        benchmark: name of the set. It begins every id (`KGMTUbench_7` becomes `<benchmark>-7`), since the ids of the published
            sets collide; the original id is in the provenance.
        graph_id: the graph in which the golden triples stand.
        rejected: gets place and reason of each row that cannot be read.
    """
    seen: dict[str, str] = {}
    for place, line in lines:
        if not line.strip():
            continue
        try:
            sample = _sample(parse_json(line), place, benchmark, graph_id)
            if sample.id in seen:
                raise DocumentError(f"the id '{sample.provenance['id']}' occurs a second time (first at {seen[sample.id]})")
        except ValueError as error:  # TextError, DocumentError, and Python's own limit for the digits of an integer
            rejected.append(f"{place}: {error}")
            continue
        seen[sample.id] = place
        yield sample


def read_graph(lines: Iterable[tuple[str, str]], graph_id: str, rejected: list[str]) -> KnowledgeGraph:
    """The graph of a file with one Python list of three texts a line; nothing is evaluated, empty lines are ignored.

    >>> bad = []
    >>> graph = read_graph([("kg.txt:1", "['Bob', 'mother', 'Alice']"), ("kg.txt:2", "print(1)")], "family", bad)
    >>> len(graph), bad
    (1, ['kg.txt:2: neither JSON nor a Python literal (ValueError)'])
    """
    return read_literal_lines(lines, graph_id, rejected)


def _sample(row: Json, place: str, benchmark: str, graph_id: str) -> Sample:
    original, documents, user, listed_calls = _contents(row)
    notes: list[str] = []
    tag, speaker, query, suffix = _split_user(user, notes)
    listed = _golden_triples(suffix, notes)
    if not speaker:
        speaker = listed[0].head
        notes.append(f"no speaker tag; '{speaker}', the head of the first golden triple, is taken as the speaker")
    golden = Counter((t.head, t.relation, t.tail) for t in listed)  # in order of first appearance
    for (head, relation, tail), count in golden.items():
        if count > 1:
            notes.append(f"the golden triple [{head}, {relation}, {tail}] is listed {count} times; kept once")
    chains = _chains(listed)
    calls = _calls(listed_calls, notes)
    return Sample(
        id=f"{benchmark}-{original.removeprefix(ID_PREFIX)}",
        benchmark=benchmark,
        kind="graph",
        speaker=speaker,
        query=query,
        graph_id=graph_id,
        candidate_tools=_candidate_tools(documents, notes),
        golden_triples=tuple(Triple(head=h, relation=r, tail=t) for h, r, t in golden),
        golden_paths=tuple(path for path, _ in chains),
        calls=calls,
        argument_sources=_argument_sources(calls, chains, query),
        provenance={"format": "familytool-2025", "place": place, "id": original, "speaker_tag": tag, "notes": notes},
        raw=row,
    )


def _contents(row: Json) -> tuple[str, list[Json], str, list[Json]]:
    """The contents of the four messages, each of its type (DocumentError otherwise)."""
    if not isinstance(row, list):
        raise DocumentError(f"expected an array of the four messages {', '.join(ROLES)}, found {type(row).__name__}")
    roles = [m.get("role") if isinstance(m, dict) else type(m).__name__ for m in row]
    if not looks_like(row):
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


def _split_user(user: str, notes: list[str]) -> tuple[str, str, str, str]:
    """Kind of tag ("" if there is none), speaker ("" if there is none), query, and what follows the fixed sentence."""
    text, marker, suffix = user.rpartition(MARKER)
    if not marker:
        raise DocumentError(f"the user text has no golden triples (the sentence '{MARKER}' is missing)")
    if MARKER in text:
        notes.append("the sentence that announces the golden triples occurs several times; the last one is taken")
    tag = speaker = ""
    found = _TAG.match(text)
    if found:
        tag, name = found[1], found[2].strip()
        speaker = name.rstrip(". ")
        if not speaker:
            raise DocumentError(f"the speaker tag '{found[0].strip()}' names nobody")
        if found[2].removeprefix(" ") != speaker:
            notes.append(f"the speaker tag reads '{found[2].removeprefix(' ')}'; read as '{speaker}'")
        text = text[found.end() :]
    if "<speak>" in text or "</speak>" in text:
        raise DocumentError(f"the speaker tag cannot be read: {text.strip()[:60]!r}")
    query = text.strip()
    if not query:
        raise DocumentError("the user text has no query before the golden triples")
    if "[" in query or "]" in query:
        notes.append("the query itself holds brackets, which look like triples; left as it is, they are not read as golden triples")
    return tag, speaker, query, suffix


def _golden_triples(suffix: str, notes: list[str]) -> list[Triple]:
    """The triples of `([h, r, t], ['h', 'r', 't']).`, as they are listed."""
    whole = _GOLDEN.fullmatch(suffix)
    if not whole:
        raise DocumentError(f"the golden triples cannot be read: expected '([head, relation, tail], ...).', found {suffix.strip()[:80]!r}")
    if not whole[1]:
        notes.append("the full stop after the golden triples is missing")
    return [_triple(body) for body in _TRIPLE.findall(suffix)]


def _triple(body: str) -> Triple:
    quoted = body.lstrip()[:1] in ("'", '"')
    try:
        parts = parse_python_literal(f"[{body.strip()}]") if quoted else body.split(",")
    except TextError:  # quoted and bare parts in one triple
        parts = body.split(",")
    if len(parts) != 3 or not all(isinstance(part, str) for part in parts):
        raise DocumentError(f"the golden triple [{body[:80]}] does not have three parts")
    names = [_unquoted(part.strip()) for part in parts]
    if not all(names) or any(name[0] in "'\"" or name[-1] in "'\"" for name in names):
        raise DocumentError(f"the golden triple [{body[:80]}] has an empty or half-quoted part")
    return Triple(head=names[0], relation=names[1], tail=names[2])


def _unquoted(text: str) -> str:
    return text[1:-1].strip() if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _chains(listed: list[Triple]) -> list[tuple[RelationPath, str]]:
    """The triples split where the next head is not the previous tail: each chain's path and the entity at its end.

    This goes over the triples as listed, repeats included: the rows that list a triple twice do so because two chains begin
    with it, and without the repeat the second chain would hang in the air. Two equal chains are one.
    """
    groups: list[list[Triple]] = []
    for triple in listed:
        if groups and groups[-1][-1].tail == triple.head:
            groups[-1].append(triple)
        else:
            groups.append([triple])
    distinct = dict.fromkeys((g[0].head, tuple(t.relation for t in g), g[-1].tail) for g in groups)
    return [(RelationPath(start=start, relations=relations), end) for start, relations, end in distinct]


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
            notes.append(f"call {number} depends on others (depend_on = {str(call['depend_on'])[:40]}); kept in raw only")
        for key in [key for key in call if key not in ("name", "parameters", "depend_on")]:
            notes.append(f"call {number} has the unknown key '{key}'; kept in raw only")
        calls.append(ToolCall(name=call["name"], arguments=call["parameters"]))
    return tuple(calls)


def _candidate_tools(documents: list[Json], notes: list[str]) -> tuple[Tool, ...]:
    tools: dict[str, Tool] = {}
    for number, document in enumerate(documents):
        if not isinstance(document, dict) or not isinstance(document.get("name"), str) or not document["name"].strip():
            raise DocumentError(f"candidate tool {number} is no tool document with a name")
        text = json.dumps(document, ensure_ascii=False)
        if text in tools:
            notes.append(f"candidate tool {number} ({document['name']}) is listed before; kept once")
        elif any(tool.name == document["name"] for tool in tools.values()):
            notes.append(f"candidate tool {number} ({document['name']}) has the name of another document; both kept")
        tools[text] = _tool(text)
    return tuple(tools.values())


@lru_cache(maxsize=4096)
def _tool(text: str) -> Tool:
    """The tool of a document's JSON text; cached, so that equal documents are one object."""
    document: dict[str, Any] = json.loads(text)
    notes: list[str] = []
    parameters = document.get("parameters")
    try:
        if isinstance(parameters, dict) and not isinstance(parameters.get("properties", {}), dict | list):
            raise ValueError(f"properties must be an object or a list, found {type(parameters['properties']).__name__}")
        schema, repairs = normalise_parameters(parameters)
    except (ValueError, TypeError) as error:  # a TypeError: a type or a name that is an object
        raise DocumentError(f"candidate tool '{document['name']}': {error}") from None
    for key, empty in (("description", ""), ("response", {})):
        if not isinstance(document.get(key, empty), type(empty)):
            notes.append(f"{key} is {type(document[key]).__name__}; left out")
            document[key] = empty
    for key in [key for key in document if key not in ("name", "description", "parameters", "response")]:
        notes.append(f"'{key}' is no part of a tool document; left out")
    return Tool(
        name=document["name"],
        description=document.get("description", ""),
        parameters=schema,
        response=document.get("response", {}),
        source={"format": "familytool-2025", "status": status(schema)},
        notes=(*notes, *repairs),
    )


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
