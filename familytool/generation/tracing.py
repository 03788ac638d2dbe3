"""Golden facts recovered from a finished answer: which chain of relations leads from the speaker to each of its values.

Written queries and answers come without their facts. A value is a fact if the graph has it at the end of a chain, and not one if the
request states it or the document gives it. What could be told in two ways is told in none: it is a `NotBuilt` with the value in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from familytool.generation.literals import plain_words
from familytool.generation.same_values import bare, find_words, moment_in, number_in, stated_span
from familytool.generation.samples import NotBuilt
from familytool.graph import KnowledgeGraph
from familytool.kgetool.values import values_are_equal
from familytool.model import Json, RelationPath, Tool, ToolCall, Triple

LONGEST_CHAIN = 8
MAX_DEPTH = 32
MAX_LEAVES = 500

Chain = tuple[Triple, ...]


@dataclass(frozen=True)
class Traced:
    """Where all values of an answer come from; chains in the order of the values, facts in the order of the chains, each once.

    `sources` is what a sample records: JSON pointer into the calls -> {"source": "graph", "path"}, {"source": "query", "span"} (without
    a span for the speaker's own name), or {"source": "document"}.
    """

    paths: tuple[RelationPath, ...]
    triples: tuple[Triple, ...]
    sources: dict[str, dict[str, Json]]


class _Leaf(NamedTuple):
    pointer: str
    name: str
    value: Json
    schema: dict[str, Any]
    is_default: bool


def trace(calls: Sequence[ToolCall], documents: Mapping[str, Tool], query: str, speaker: str, graph: KnowledgeGraph) -> Traced | NotBuilt:
    """Trace each value of the calls to a fact, to the request, or to the tool's document; the first that cannot be is the reason why not.

    A fact is a value that is written exactly as the graph writes it (a number in the type of JSON); its chain is the shortest one.

    Args:
        calls: the answer.
        documents: the documents of the tools called, by name.
        query: the request.
        speaker: where all chains start.
        graph: the facts that there are.

    Returns:
        What was traced, or `NotBuilt` with one of these codes: `ambiguous_trace` (two shortest chains, or a chain with two ends),
        `answer_stated` (the request says a fact that it should ask for, or the name of a person on the way there), `rewritten_value`
        (a fact in another form), `same_fact_twice` (in one call), `untraceable`.
    """
    known = _Known(graph, speaker, query)
    chains: dict[RelationPath, Chain] = {}
    sources: dict[str, dict[str, Json]] = {}
    for number, call in enumerate(calls):
        used: dict[RelationPath, str] = {}
        for leaf in _leaves(number, call, documents.get(call.name)):
            if len(sources) >= MAX_LEAVES or isinstance(leaf.value, dict | list):
                return NotBuilt(
                    "untraceable", f"{call.name} has more than {MAX_LEAVES} values, or values nested deeper than {MAX_DEPTH} levels"
                )
            origin = known.origin(leaf, f"{call.name}.{leaf.name}")
            if isinstance(origin, NotBuilt):
                return origin
            if isinstance(origin, tuple):
                path = path_of(origin)
                if path in used:
                    return NotBuilt("same_fact_twice", f"{call.name}.{used[path]} and {leaf.name} are one fact, {_shown(leaf.value)}")
                used[path] = leaf.name
                chains[path] = origin
                origin = {"source": "graph", "path": {"start": path.start, "relations": list(path.relations)}}
            sources[leaf.pointer] = origin
    triples = tuple(dict.fromkeys(triple for chain in chains.values() for triple in chain))
    named = next((name for t in triples for name in (t.head, t.tail) if name != speaker and find_words(name, query, exact_case=True)), None)
    if named is not None:
        return NotBuilt("answer_stated", f"the request says {named!r}, to whom or what a chain has to lead")
    return Traced(tuple(chains), triples, sources)


def path_of(chain: Chain) -> RelationPath:
    """The relations of a chain of facts, from its start."""
    return RelationPath(start=chain[0].head, relations=tuple(triple.relation for triple in chain))


def shortest_chains(graph: KnowledgeGraph, start: str, longest: int = LONGEST_CHAIN) -> dict[str, tuple[Chain, ...]]:
    """For each entity the shortest chains of facts that lead to it, the start aside: one, or the first two in graph order if there are more."""
    found: dict[str, tuple[Chain, ...]] = {start: ((),)}
    layer = dict(found)
    for _ in range(longest):
        following: dict[str, tuple[Chain, ...]] = {}
        for at, chains in layer.items():
            for triple in graph.neighbours(at):
                if triple.tail not in found:
                    more = following.get(triple.tail, ()) + tuple((*chain, triple) for chain in chains)
                    following[triple.tail] = more[:2]
        found.update(following)
        layer = following
    del found[start]
    return found


class _Known:
    """What an answer's values can be traced to: the facts by what they are, the request, the speaker."""

    def __init__(self, graph: KnowledgeGraph, speaker: str, query: str) -> None:
        self.graph, self.speaker, self.query = graph, speaker, query
        self.chains = shortest_chains(graph, speaker)
        self.forms: dict[tuple[str, str], str] = {}
        for fact in self.chains:
            for form in _forms(fact):
                self.forms.setdefault(form, fact)

    def origin(self, leaf: _Leaf, place: str) -> Chain | dict[str, Json] | NotBuilt:
        """The chain that leads to a value, or the record of another source, or why there is neither."""
        value = leaf.value
        text = _text(value)
        if text == self.speaker:
            return {"source": "query"}
        span = stated_span(value, self.query)
        if text is not None and text in self.chains:
            if span is not None:
                return NotBuilt("answer_stated", f"{place} = {_shown(value)} is a fact of the graph, and the request says it")
            return self._chain(text, place)
        if span is not None:
            return {"source": "query", "span": list(span)}
        if leaf.is_default:
            return {"source": "document"}
        fact = next((self.forms[form] for form in _forms(text) if form in self.forms), None) if text is not None else None
        if fact is not None:
            return NotBuilt("rewritten_value", f"{place} = {_shown(value)} is the fact {fact!r}, written in another way")
        if _is_listed(leaf.schema, value):
            span = find_words(plain_words(value), self.query) if isinstance(value, str) else None
            return {"source": "document"} if span is None else {"source": "query", "span": list(span)}
        return NotBuilt(
            "untraceable", f"{place} = {_shown(value)}: no chain of facts leads to it, the request does not state it, nor does the document"
        )

    def _chain(self, fact: str, place: str) -> Chain | NotBuilt:
        chain, *others = self.chains[fact]
        if others:
            ways = " and ".join(", ".join(t.relation for t in way) for way in (chain, others[0]))
            return NotBuilt("ambiguous_trace", f"{place} = {fact!r} can be reached in two ways from {self.speaker}: {ways}")
        ends = self.graph.follow(path_of(chain))
        if len(ends) > 1:
            path = ", ".join(t.relation for t in chain)
            return NotBuilt("ambiguous_trace", f"{place} = {fact!r}: the chain {path} of {self.speaker} leads to {', '.join(ends[:5])}")
        return chain


def _text(value: Json) -> str | None:
    """A value as a graph would write it; None for what is no text and no number of usual size."""
    if isinstance(value, str):
        return value
    return repr(value) if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 10**15 else None


def _shown(value: Json) -> str:
    text = repr(value) if _text(value) is not None or value is None or isinstance(value, bool) else "a number out of all bounds"
    return text if len(text) <= 80 else text[:77] + "..."


def _forms(text: str) -> Iterator[tuple[str, str]]:
    """What two ways to write one value have in common: its letters and digits, its number, its date or time."""
    letters, number, moment = bare(text), number_in(text), moment_in(text)
    if letters:
        yield "bare", letters
    if number is not None:
        yield "number", number
    if moment is not None:
        yield moment


def _is_listed(schema: dict[str, Any], value: Json) -> bool:
    """Whether a document lists a value: among those of an enum, as a constant, or as one of a type that has but two or one."""
    types = schema.get("type")
    types = types if isinstance(types, list) else [types]
    if isinstance(value, bool) and "boolean" in types:
        return True
    if value is None:
        return "null" in types
    parts = [schema, *(part for key in ("anyOf", "oneOf") for part in _list(schema.get(key)) if isinstance(part, dict))]
    listed = [item for part in parts for item in (*_list(part.get("enum")), *([part["const"]] if "const" in part else []))]
    return any(values_are_equal(item, value) for item in listed)


def _is_default(schema: dict[str, Any], value: Json) -> bool:
    """Whether a value is what a document calls the default; documents write numbers and booleans as text."""
    if "default" not in schema:
        return False
    default = schema["default"]
    text = str(value) if isinstance(value, bool) or value is None else _text(value)
    return values_are_equal(default, value) or (isinstance(default, str) and default == text)


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


@dataclass
class _Node:
    """A value on the way to its leaves."""

    value: Json
    schema: dict[str, Any]
    pointer: str
    name: str
    depth: int = 0
    is_default: bool = field(default=False)


def _leaves(number: int, call: ToolCall, document: Tool | None) -> Iterator[_Leaf]:
    """The values of a call in their order; what is nested too deep comes whole."""
    root = _Node(call.arguments, document.parameters if document is not None else {}, f"/{number}/arguments", "")
    waiting = [root]
    while waiting:
        node = waiting.pop()
        is_default = node.is_default or _is_default(node.schema, node.value)
        if not isinstance(node.value, dict | list) or node.depth > MAX_DEPTH:
            yield _Leaf(node.pointer, node.name, node.value, node.schema, is_default)
            continue
        pairs: list[tuple[str, Json, Json]]
        if isinstance(node.value, dict):
            properties = node.schema.get("properties")
            properties = properties if isinstance(properties, dict) else {}
            pairs = [(key, inner, properties.get(key)) for key, inner in node.value.items()]
        else:
            pairs = [(str(index), inner, node.schema.get("items")) for index, inner in enumerate(node.value)]
        inside = [
            _Node(
                inner,
                schema if isinstance(schema, dict) else {},
                f"{node.pointer}/{key.replace('~', '~0').replace('/', '~1')}",
                key if isinstance(node.value, dict) and not node.name else f"{node.name}.{key}",
                node.depth + 1,
                is_default,
            )
            for key, inner, schema in pairs
        ]
        waiting += reversed(inside)
