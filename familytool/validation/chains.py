"""Golden chains in a graph and among the golden triples, walked step by step: many-valued relations cost no more than their facts."""

from __future__ import annotations

from collections.abc import Mapping

from familytool.graph import KnowledgeGraph
from familytool.model import Json, RelationPath, Sample, Triple

MANY = 1_000_000
"""Ways to follow a path are counted up to this number."""


def ends_of(graph: KnowledgeGraph, path: RelationPath) -> tuple[dict[str, int], bool]:
    """The entities at the end of a path, each with the number of ways to it, in order; and whether the path exists.

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
    path = source.get("path")
    if source.get("source") != "graph" or not isinstance(path, dict):
        return None
    start, relations = path.get("start"), path.get("relations")
    if not isinstance(start, str) or not isinstance(relations, list) or not all(isinstance(r, str) for r in relations):
        return None
    return RelationPath(start=start, relations=tuple(relations))


class GoldenTriples:
    """The golden triples of one sample, and what can be reached along them."""

    def __init__(self, sample: Sample) -> None:
        self.triples = sample.golden_triples
        self.tails: dict[tuple[str, str], list[Triple]] = {}
        self.out: dict[str, list[Triple]] = {}
        for triple in self.triples:
            self.tails.setdefault((triple.head, triple.relation), []).append(triple)
            self.out.setdefault(triple.head, []).append(triple)
        self.entities = {name for t in self.triples for name in (t.head, t.tail)}

    def reachable_from(self, start: str) -> set[str]:
        """All entities that golden triples lead to from here, and the start itself."""
        reached, todo = {start}, [start]
        while todo:
            for triple in self.out.get(todo.pop(), ()):
                if triple.tail not in reached:
                    reached.add(triple.tail)
                    todo.append(triple.tail)
        return reached

    def chain(self, path: RelationPath) -> tuple[set[Triple], bool]:
        """The golden triples that lie on a path, and whether they carry it to its end."""
        layers: list[list[Triple]] = []
        reached = {path.start}
        for relation in path.relations:
            layer = [t for at in reached for t in self.tails.get((at, relation), ())]
            if not layer:
                break
            layers.append(layer)
            reached = {t.tail for t in layer}
        on_path: set[Triple] = set()
        wanted = reached
        for layer in reversed(layers):
            kept = [t for t in layer if t.tail in wanted]
            on_path.update(kept)
            wanted = {t.head for t in kept}
        return on_path, len(layers) == len(path.relations) > 0


def known_graph(sample: Sample, graph: KnowledgeGraph) -> KnowledgeGraph:
    """The graph, or where there is none the golden triples in its place."""
    return graph if len(graph) else KnowledgeGraph(sample.golden_triples, graph.graph_id)
