"""The small graph of one prompt (paper section 3): a speaker, a few relatives, and what is known of them in one category.

It is put together so that the chains that an order wants are in it, and few chains of other lengths: the facts that the tools take belong
to people at the wanted distance, other facts of the same category to all.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from familytool.generation.preferences import World
from familytool.generation.samples import NotBuilt, Order, fact_options
from familytool.generation.usable import Parameter
from familytool.graph import KnowledgeGraph
from familytool.kinship import KIN_RELATIONS
from familytool.model import RelationPath, Triple

MAX_TRIPLES = 40
MAX_KIN = 24
"""Facts between people at most where they are not needed: the others are for what is known of them."""

MORE_RELATIVES = 3
"""Relatives at the wanted distance whom the writer may choose besides those of the chains."""

MAX_DISTRACTORS = 8
MAX_TRIES = 200
"""Chains looked at for one speaker."""

Chain = tuple[Triple, ...]


@dataclass(frozen=True)
class PromptGraph:
    """Who speaks, and the facts that a prompt shows, in the order of the whole graph; none where nothing is to be looked up."""

    speaker: str
    graph: KnowledgeGraph

    def as_text(self) -> str:
        """One fact a line, as a JSON list; nothing in it can open or close a tag."""
        rows = ([t.head, t.relation, t.tail] for t in self.graph)
        return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).replace("<", "\\u003c")


def draw_prompt_graph(order: Order, world: World) -> PromptGraph | NotBuilt:
    """The small graph of an order: same order, same graph.

    Every relative in a chain can be named by kinship in one way, and where a person has two daughters both are shown, so that "my
    daughter" is seen to be nobody in particular.
    """
    rng = random.Random(f"{order.seed}/{order.stratum}/{order.number}/small graph")
    speakers = rng.sample(world.people, len(world.people))
    if not any(map(sum, order.lengths)):
        return PromptGraph(speakers[0], KnowledgeGraph((), world.graph_id))
    for speaker in speakers:
        chains = _choose_chains(rng, order, speaker, world)
        facts = _facts_around(rng, order, speaker, world, chains) if chains else None
        if facts:
            return PromptGraph(speaker, world.graph.subgraph(facts))
    shape = "+".join(str(length) for lengths in order.lengths for length in lengths)
    tools = ", ".join(tool.name for tool in order.tools)
    return NotBuilt("no_small_graph", f"nobody in {world.graph_id} has facts for {tools} at the end of chains of {shape} facts")


def _choose_chains(rng: random.Random, order: Order, speaker: str, world: World) -> list[Chain] | None:
    """A chain of each wanted length, for parameters of their own and without a fact in common; None if there are none."""
    wanted = [(number, length) for number, lengths in enumerate(order.lengths) for length in sorted(lengths, reverse=True)]
    left = MAX_TRIES

    def extended(chosen: list[Chain], used: frozenset[tuple[int, str]]) -> list[Chain] | None:
        nonlocal left
        if len(chosen) == len(wanted):
            return chosen
        number, length = wanted[len(chosen)]
        tool = order.tools[number]
        taken = {triple for chain in chosen for triple in chain}
        parameters = [p for p in tool.parameters.values() if p.takes_fact and (number, p.path) not in used]
        for parameter in rng.sample(parameters, len(parameters)):
            for chain in _chains(rng, parameter, tool.name, length, speaker, world):
                left -= 1
                if left < 0:
                    return None
                if taken.isdisjoint(chain):
                    found = extended([*chosen, chain], used | {(number, parameter.path)})
                    if found is not None:
                        return found
        return None

    return extended([], frozenset())


def _chains(rng: random.Random, parameter: Parameter, tool: str, length: int, speaker: str, world: World) -> Iterator[Chain]:
    for concept, owner in fact_options(rng, parameter, tool, length, speaker, world):
        way = _way(world, speaker, owner)
        if way is None:
            continue
        relations = (*way, concept.relation) if concept is not None else way
        chains = world.graph.chains(RelationPath(start=speaker, relations=relations))
        if len(relations) == length and len(chains) == 1:
            yield chains[0]


def _way(world: World, speaker: str, person: str) -> tuple[str, ...] | None:
    """The relations from the speaker to a person whom kinship words name in this one shortest way; None for all others."""
    if person == speaker:
        return ()
    paths = world.kin.shortest_paths(speaker).get(person, [])
    if len(paths) != 1 or all(phrase.relations != paths[0] for phrase in world.kin.phrases(speaker, person)):
        return None
    return paths[0]


def _facts_around(rng: random.Random, order: Order, speaker: str, world: World, chains: list[Chain]) -> list[Triple] | None:
    """The facts to show: the chains, the family around them, and what else is known; None if the family alone is too large."""
    graph = world.graph
    shown = _with_siblings(graph, (triple for chain in chains for triple in chain))
    if len(shown) > MAX_TRIPLES:
        return None
    distances = {length - 1 for lengths in order.lengths for length in lengths}
    ways = {person: way for person in world.people if (way := _way(world, speaker, person)) is not None and len(way) in distances}
    for person in rng.sample(list(ways), len(ways))[:MORE_RELATIVES]:
        chain = graph.chains(RelationPath(start=speaker, relations=ways[person]))
        _show(shown, _with_siblings(graph, chain[0] if chain else ()), MAX_KIN)
    among = {speaker} | {name for t in shown if t.relation in KIN_RELATIONS for name in (t.head, t.tail)}
    persons = [person for person in world.people if person in among]
    for person in persons:
        for relation in dict.fromkeys(t.relation for t in graph.neighbours(person) if t.relation in KIN_RELATIONS):
            group = _facts(graph, person, relation)
            if all(triple.tail in among for triple in group):
                _show(shown, group, MAX_KIN)
    fitting, others = _relations(order, world)
    wanted = [
        triple
        for person in persons
        if person in ways and _is_shown(graph, speaker, ways[person], shown)
        for triple in graph.neighbours(person)
        if triple.relation in fitting
    ]
    rng.shuffle(wanted)
    distractors = [triple for person in persons for triple in graph.neighbours(person) if triple.relation in others]
    rng.shuffle(distractors)
    for triple in (*wanted, *distractors[:MAX_DISTRACTORS]):
        _show(shown, [triple], MAX_TRIPLES)
    return list(shown)


def _facts(graph: KnowledgeGraph, head: str, relation: str) -> list[Triple]:
    """All facts of a person with one relation."""
    return [triple for triple in graph.neighbours(head) if triple.relation == relation]


def _with_siblings(graph: KnowledgeGraph, chain: Iterable[Triple]) -> dict[Triple, None]:
    """The facts of a chain, and all others of the same person and relation where that is a relation between people."""
    return dict.fromkeys(
        fact for triple in chain for fact in (_facts(graph, triple.head, triple.relation) if triple.relation in KIN_RELATIONS else [triple])
    )


def _show(shown: dict[Triple, None], group: Iterable[Triple], most: int) -> None:
    """Add a group of facts if all of it has room."""
    new = [triple for triple in group if triple not in shown]
    if len(shown) + len(new) <= most:
        shown.update(dict.fromkeys(new))


def _is_shown(graph: KnowledgeGraph, speaker: str, way: tuple[str, ...], shown: dict[Triple, None]) -> bool:
    chains = graph.chains(RelationPath(start=speaker, relations=way)) if way else []
    return not way or (len(chains) == 1 and all(triple in shown for triple in chains[0]))


def _relations(order: Order, world: World) -> tuple[set[str], set[str]]:
    """The relations that the order's tools can take, and the others of their categories."""
    parameters = [p for tool in order.tools for p in tool.parameters.values() if p.takes_fact]
    fitting = {
        concept.relation
        for concept in world.concepts
        for p in parameters
        if concept.kind == p.kind and (not p.relations or concept.relation in p.relations)
    }
    categories = {tool.category for tool in order.tools}
    return fitting, {c.relation for c in world.concepts if c.category in categories} - fitting
