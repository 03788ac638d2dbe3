"""The knowledge graph: labelled triples, and the executor that follows a relation path through them.

`follow` is what a golden answer means: the value of an argument is what executing its path gives. Order is the order of
insertion everywhere, so that equal graphs give equal answers on any machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from familytool.model import RelationPath, Triple

if TYPE_CHECKING:
    import networkx


class KnowledgeGraph:
    """Triples indexed by head and relation. A fact occurs once; a (head, relation) may have several tails."""

    def __init__(self, triples: Iterable[Triple] = (), graph_id: str = "graph") -> None:
        self.graph_id = graph_id
        self._triples: dict[tuple[str, str, str], Triple] = {}
        self._tails: dict[str, dict[str, list[str]]] = {}
        self._heads: dict[str, list[tuple[str, str]]] = {}
        self._nodes: tuple[str, ...] | None = None
        self._relations: tuple[str, ...] | None = None
        for triple in triples:
            self.add(triple)

    def add(self, triple: Triple) -> None:
        """Add one fact; a fact that is there already stays once."""
        key = (triple.head, triple.relation, triple.tail)
        if key in self._triples:
            return
        self._triples[key] = triple
        self._nodes = self._relations = None
        self._tails.setdefault(triple.head, {}).setdefault(triple.relation, []).append(triple.tail)
        self._heads.setdefault(triple.tail, []).append((triple.head, triple.relation))

    def __len__(self) -> int:
        return len(self._triples)

    def __iter__(self) -> Iterator[Triple]:
        return iter(self._triples.values())

    def __contains__(self, triple: Triple) -> bool:
        return (triple.head, triple.relation, triple.tail) in self._triples

    @property
    def nodes(self) -> tuple[str, ...]:
        """All heads and tails, in the order in which they first occur."""
        if self._nodes is None:
            self._nodes = tuple(dict.fromkeys(name for t in self for name in (t.head, t.tail)))
        return self._nodes

    @property
    def relations(self) -> tuple[str, ...]:
        """All relation types, in the order in which they first occur."""
        if self._relations is None:
            self._relations = tuple(dict.fromkeys(t.relation for t in self))
        return self._relations

    def knows(self, name: str) -> bool:
        """Whether a fact begins or ends at an entity of this name."""
        return name in self._tails or name in self._heads

    def tails(self, head: str, relation: str) -> tuple[str, ...]:
        """All tails of (head, relation); none if there is no such fact.

        >>> KnowledgeGraph([Triple(head="Bob", relation="mother", tail="Alice")]).tails("Bob", "mother")
        ('Alice',)
        """
        return tuple(self._tails.get(head, {}).get(relation, ()))

    def heads(self, tail: str) -> tuple[tuple[str, str], ...]:
        """All (head, relation) that have this tail."""
        return tuple(self._heads.get(tail, ()))

    def neighbours(self, head: str) -> tuple[Triple, ...]:
        """All facts that start at `head`."""
        return tuple(self._triples[head, relation, tail] for relation, tails in self._tails.get(head, {}).items() for tail in tails)

    def chains(self, path: RelationPath) -> list[tuple[Triple, ...]]:
        """Every way to follow a path, every tail of a relation included; empty if the path does not exist."""
        found: list[tuple[Triple, ...]] = [()]
        for relation in path.relations:
            found = [
                (*chain, self._triples[at, relation, tail])
                for chain in found
                for at in [chain[-1].tail if chain else path.start]
                for tail in self.tails(at, relation)
            ]
        return found if path.relations else []

    def follow(self, path: RelationPath) -> tuple[str, ...]:
        """The distinct entities at the end of a path, in order.

        >>> graph = KnowledgeGraph(
        ...     [Triple(head="Bob", relation="mother", tail="Alice"), Triple(head="Alice", relation="prefer_city", tail="Lisbon")]
        ... )
        >>> graph.follow(RelationPath(start="Bob", relations=("mother", "prefer_city")))
        ('Lisbon',)
        """
        return tuple(dict.fromkeys(chain[-1].tail for chain in self.chains(path)))

    def subgraph(self, triples: Iterable[Triple]) -> KnowledgeGraph:
        """The part of this graph that consists of these facts, in this graph's order."""
        wanted = {(t.head, t.relation, t.tail) for t in triples}
        return KnowledgeGraph((t for key, t in self._triples.items() if key in wanted), self.graph_id)

    def to_networkx(self) -> networkx.MultiDiGraph[str]:
        """The same graph for networkx: a directed multigraph whose edge keys are the relations."""
        import networkx

        graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
        for t in self:
            graph.add_edge(t.head, t.tail, key=t.relation)
        return graph
