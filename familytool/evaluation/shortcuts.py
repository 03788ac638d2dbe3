"""Shortcut baselines: what somebody gets right without following the golden path.

Each is the exact chance of being right, not a draw, so it needs no seed: the share of the entities a guesser would choose among
that are the golden one, multiplied over the graph arguments of a row. The same code runs on any set of samples with its graph.
Source: the shortcut measurements of the published sets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from familytool.catalogue import tables
from familytool.graph import KnowledgeGraph
from familytool.kinship import KIN_RELATIONS, Kin
from familytool.model import RelationPath, Sample

_GENERIC = frozenset(
    [
        "name",
        "title",
        "id",
        "number",
        "type",
        "of",
        "the",
        "to",
        "from",
        "in",
        "at",
        "prefer",
        "preferred",
        "favourite",
        "favorite",
        "usual",
        "next",
        "new",
        "current",
        "target",
        "source",
        "date",
    ]
)


@dataclass(frozen=True)
class GraphFact:
    """One graph argument of a sample: the parameter that it fills, its path, and its value."""

    parameter: str
    path: RelationPath
    value: str


class Facts:
    """A graph with what the guessers ask of it, computed once."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.kin = Kin(graph)
        self.people = self.kin.people
        self.kinds: dict[str, set[str]] = {}
        for triple in graph:
            self.kinds.setdefault(kind_of(triple.relation, triple.tail), set()).add(triple.tail)
        self.entities = graph.nodes
        self.stems = {t.tail: set[str]() for t in graph}
        for triple in graph:
            placeholder = re.fullmatch(r"([a-z_]+)_[0-9]{4}", triple.tail)
            words = _words(triple.relation) | (_words(placeholder[1]) if placeholder else _words(triple.tail))
            self.stems[triple.tail] |= words


def kind_of(relation: str, tail: str) -> str:
    """The kind of value a relation gives: from the table of concepts, else the stem of a placeholder, else the relation."""
    if relation in KIN_RELATIONS:
        return "person"
    concept = tables.concepts_by_relation().get(relation)
    placeholder = re.fullmatch(r"([a-z_]+)_[0-9]{4}", tail)
    return placeholder[1] if placeholder else concept.kind if concept else relation


def _words(name: str) -> set[str]:
    words = re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower())
    return {word.rstrip("s") for word in words if word not in _GENERIC and len(word) > 2}


def graph_facts(sample: Sample, graph: KnowledgeGraph) -> list[GraphFact]:
    """The distinct facts that fill arguments of a sample, in order of the arguments."""
    found: dict[RelationPath, GraphFact] = {}
    for pointer, source in sample.argument_sources.items():
        if source.get("source") != "graph":
            continue
        path = RelationPath(start=source["path"]["start"], relations=tuple(source["path"]["relations"]))
        ends = graph.follow(path)
        if ends:
            found.setdefault(path, GraphFact(pointer.split("/arguments/")[-1].split("/")[-1], path, ends[0]))
    return list(found.values())


def _among(chosen: Iterable[str], golden: str) -> float:
    pool = list(dict.fromkeys(chosen))
    return 1 / len(pool) if golden in pool else 0.0


def _stem(fact: GraphFact, facts: Facts, sample: Sample) -> float:
    words = _words(fact.parameter)
    return _among((entity for entity, stems in facts.stems.items() if words & stems), fact.value)


def _kind(fact: GraphFact, facts: Facts, sample: Sample) -> float:
    kind = kind_of(fact.path.relations[-1], fact.value)
    return _among(facts.people if kind == "person" else facts.kinds.get(kind, ()), fact.value)


def _of_people(people: Iterable[str], fact: GraphFact, facts: Facts) -> float:
    """A random one of these people, and one of his or her values of the last relation; who has none gives nothing."""
    shares = []
    for person in people:
        tails = facts.graph.tails(person, fact.path.relations[-1])
        shares.append(tails.count(fact.value) / len(tails) if tails else 0.0)
    return math.fsum(shares) / len(shares) if shares else 0.0


def _random_person(fact: GraphFact, facts: Facts, sample: Sample) -> float:
    return _of_people(facts.people, fact, facts)


def _own(fact: GraphFact, facts: Facts, sample: Sample) -> float | None:
    return _of_people([sample.speaker], fact, facts) if len(fact.path.relations) > 1 else None


def _close_relative(fact: GraphFact, facts: Facts, sample: Sample) -> float | None:
    if len(fact.path.relations) != 2:
        return None
    near = [person for person, paths in facts.kin.shortest_paths(sample.speaker).items() if len(paths[0]) == 1]
    return _of_people(near, fact, facts)


def _only_leaf(fact: GraphFact, facts: Facts, sample: Sample) -> float:
    heads = {t.head for t in sample.golden_triples}
    return _among((t.tail for t in sample.golden_triples if t.tail not in heads), fact.value)


def _everybody(fact: GraphFact, facts: Facts, sample: Sample) -> float:
    """The golden facts and the same relation of everybody are given: any value of the right kind among them."""
    relation = fact.path.relations[-1]
    return _among((tail for person in facts.people for tail in facts.graph.tails(person, relation)), fact.value)


Guesser = Callable[[GraphFact, Facts, Sample], float | None]

BASELINES: dict[str, tuple[str, Guesser, float | None]] = {
    "stem_pick": ("an entity whose name or relation resembles the parameter", _stem, 0.125),
    "kind_pick": ("any entity of the right kind", _kind, 0.125),
    "random_person": ("the right relation of a random person", _random_person, 0.13),
    "own_relation": ("the right relation, the speaker's own (chains through kin only)", _own, None),
    "close_relative": ("the right relation of a random close relative (two-hop chains only)", _close_relative, None),
    "only_leaf": ("golden sub-graph given: its only leaf", _only_leaf, None),
    "everybody": ("golden sub-graph and the same relation of everybody given: pick by kind", _everybody, None),
}
"""Name -> (what the guesser does, its chance of being right on one fact or None where it does not apply, goal for families of eight)."""


def shortcut_table(samples: Iterable[Sample], graphs: Callable[[str], KnowledgeGraph]) -> list[dict[str, str | float | None]]:
    """For each baseline the mean chance of a row's graph arguments all being right, by hop and over all.

    Rows without graph arguments do not count. Columns: name, meaning, goal, all, hop1, hop2, ...; None = not applicable.
    """
    known: dict[str, Facts] = {}
    chances: dict[str, dict[str, list[float]]] = {name: {} for name in BASELINES}
    hops: set[int] = set()
    for sample in samples:
        if sample.graph_id not in known:
            if len(known) >= 128:
                del known[next(iter(known))]
            known[sample.graph_id] = Facts(graphs(sample.graph_id))
        facts = known[sample.graph_id]
        wanted = graph_facts(sample, facts.graph)
        if not wanted:
            continue
        hops.add(sample.hops)
        for name, (_, guess, _) in BASELINES.items():
            guesses = [guess(fact, facts, sample) for fact in wanted]
            shares = [share for share in guesses if share is not None]
            if len(shares) == len(guesses):
                for column in ("all", f"hop{sample.hops}"):
                    chances[name].setdefault(column, []).append(math.prod(shares))
    rows: list[dict[str, str | float | None]] = []
    for name, (meaning, _, goal) in BASELINES.items():
        row: dict[str, str | float | None] = {"name": name, "meaning": meaning, "goal": goal}
        for column in ("all", *(f"hop{hop}" for hop in sorted(hops))):
            found = chances[name].get(column)
            row[column] = math.fsum(found) / len(found) if found else None
        rows.append(row)
    return rows
