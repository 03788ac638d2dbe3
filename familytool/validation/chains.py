"""Golden chains in a graph and among the golden triples, walked step by step: many-valued relations cost no more than their facts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from familytool.graph import KnowledgeGraph
from familytool.model import Json, RelationPath, Sample

MANY = 1_000_000
"""Ways to follow a path are counted up to this number."""


def ends_of(graph: KnowledgeGraph, path: RelationPath) -> tuple[dict[str, int], bool]:
    """The entities at the end of a path, each with the number of ways to it, in order; and whether the path exists.

    >>> from familytool.model import Triple
    >>> graph = KnowledgeGraph([Triple(head="Bob", relation="son", tail=name) for name in ("Al", "Bo")])
    >>> ends_of(graph, RelationPath(start="Bob", relations=("son",)))
    ({'Al': 1, 'Bo': 1}, True)
    """
    reached = {path.start: 1}
    for relation in path.relations:
        further: dict[str, int] = {}
        for at, ways in reached.items():
            for tail in graph.tails(at, relation):
                further[tail] = min(MANY, further.get(tail, 0) + ways)
        reached = further
    return (reached, True) if path.relations and reached else ({}, False)


def recorded_path(source: Mapping[str, Json]) -> RelationPath | None:
    """The path of an entry of `argument_sources` whose value comes from the graph; None where there is none that can be read."""
    if source.get("source") != "graph":
        return None
    path = source.get("path")
    if not isinstance(path, dict):
        return None
    start, relations = path.get("start"), path.get("relations")
    if not isinstance(start, str) or not isinstance(relations, list) or not all(isinstance(r, str) for r in relations):
        return None
    return path_of(start, tuple(relations))


@lru_cache(maxsize=4096)
def path_of(start: str, relations: tuple[str, ...]) -> RelationPath:
    """The path of this start and these relations; a benchmark asks for the same ones again and again."""
    return RelationPath(start=start, relations=relations)


Fact = tuple[str, str, str]
"""Head, relation and tail of a triple."""


class GoldenTriples:
    """The golden triples of one sample, and what can be reached along them."""

    def __init__(self, sample: Sample) -> None:
        self.tails: dict[tuple[str, str], list[Fact]] = {}
        self.out: dict[str, list[str]] = {}
        self.entities: set[str] = set()
        self._chains: dict[tuple[str, tuple[str, ...]], tuple[set[Fact], bool]] = {}
        for triple in sample.golden_triples:
            head, relation, tail = triple.head, triple.relation, triple.tail
            self.tails.setdefault((head, relation), []).append((head, relation, tail))
            self.out.setdefault(head, []).append(tail)
            self.entities |= {head, tail}

    def reachable_from(self, start: str) -> set[str]:
        """All entities that golden triples lead to from here, and the start itself."""
        reached, todo = {start}, [start]
        while todo:
            for tail in self.out.get(todo.pop(), ()):
                if tail not in reached:
                    reached.add(tail)
                    todo.append(tail)
        return reached

    def chain(self, path: RelationPath) -> tuple[set[Fact], bool]:
        """The golden triples that lie on a path, and whether they carry it to its end."""
        key = (path.start, path.relations)
        if key not in self._chains:
            self._chains[key] = self._chain(path)
        return self._chains[key]

    def _chain(self, path: RelationPath) -> tuple[set[Fact], bool]:
        layers: list[list[Fact]] = []
        reached = {path.start}
        for relation in path.relations:
            layer = [fact for at in reached for fact in self.tails.get((at, relation), ())]
            if not layer:
                break
            layers.append(layer)
            reached = {tail for _, _, tail in layer}
        on_path: set[Fact] = set()
        wanted = reached
        for layer in reversed(layers):
            kept = [fact for fact in layer if fact[2] in wanted]
            on_path.update(kept)
            wanted = {head for head, _, _ in kept}
        return on_path, len(layers) == len(path.relations) > 0


def known_graph(sample: Sample, graph: KnowledgeGraph) -> KnowledgeGraph:
    """The graph, or where there is none the golden triples in its place."""
    return graph if len(graph) else KnowledgeGraph(sample.golden_triples, graph.graph_id)
