"""A knowledge graph as the scorer needs it: its triples, looked up by head and relation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Triple(NamedTuple):
    """One fact; compared field by field, never as a joined text."""

    head: str
    relation: str
    tail: str


class Facts:
    """Triples in their order, each once, indexed by head and relation; a (head, relation) may have several tails.

    >>> facts = Facts([("Bob", "mother", "Alice"), ("Alice", "prefer_city", "Lisbon")])
    >>> facts.of("Bob", "mother")
    [Triple(head='Bob', relation='mother', tail='Alice')]
    """

    def __init__(self, triples: Iterable[Sequence[str]] = ()) -> None:
        self.triples = tuple(dict.fromkeys(Triple(*triple) for triple in triples))
        """All facts, in the order in which they first occur."""
        self.relations = tuple(dict.fromkeys(fact.relation for fact in self.triples))
        """All relations, in the order in which they first occur."""
        self._of: dict[tuple[str, str], list[Triple]] = {}
        self._leaving: dict[str, list[Triple]] = {}
        for fact in self.triples:
            self._of.setdefault((fact.head, fact.relation), []).append(fact)
            self._leaving.setdefault(fact.head, []).append(fact)
        self._names = self._leaving.keys() | {fact.tail for fact in self.triples}
        self._relations = frozenset(self.relations)

    def knows(self, name: str) -> bool:
        """Whether a fact begins or ends at an entity of this name."""
        return name in self._names

    def is_relation(self, relation: str) -> bool:
        """Whether any fact has this relation."""
        return relation in self._relations

    def is_head(self, name: str) -> bool:
        """Whether a fact begins at an entity of this name."""
        return name in self._leaving

    def of(self, head: str, relation: str) -> Sequence[Triple]:
        """The facts of (head, relation), in their order; none if there are none."""
        return self._of.get((head, relation), ())

    def leaving(self, head: str) -> Sequence[Triple]:
        """All facts that begin at `head`, in their order."""
        return self._leaving.get(head, ())
