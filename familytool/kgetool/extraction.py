"""Extraction of a sub-graph by relation paths: exact, greedy search, and relation retrieval, as the paper means them (section 4).

All three follow every tail of a relation that has several. They differ in a relation that the graph does not have: exact drops
the path, greedy search goes on over every fact that leaves the entity, and relation retrieval over the k nearest relations.
What the rest of the path cannot follow is dropped. `published_extraction` has what the published program does instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .facts import Facts, Triple
from .searches import Search, Searches

EXACT, GREEDY, RETRIEVAL = "exact", "greedy", "retrieval"
METHODS = (EXACT, GREEDY, RETRIEVAL)
DEFAULT_K = 3
MAX_PATHS = 10_000
"""So many paths of one search are followed; beyond, the first ones are, and the result says `truncated`."""

Nearest = Callable[[str, int], Sequence[str]]
"""The k known relations that are nearest to an unknown one, the nearest first."""

_Chain = tuple["_Chain", Triple] | None
"""A path from its end: the path before, and the last fact."""


@dataclass(frozen=True)
class Extracted:
    """The facts of all paths that exist, each once, in the order in which they were found, and what the model did wrong.

    `codes` counts over the searches: fake_relation (a relation unknown to the graph), fake_start, dead_end (known, but the
    entity lacks it), empty_path, unparsable, truncated (an answer that is cut off, or more paths than are followed).
    `no_hallucination` is about the model's own searches: 1 if no relation and no start is unknown, None without a search
    that has a path. `no_hallucination_after` is the same after relation retrieval replaced what it could, else None.
    """

    triples: tuple[Triple, ...]
    codes: Counter[str]
    no_hallucination: float | None
    no_hallucination_after: float | None
    is_truncated: bool


def extract(read: Searches, facts: Facts, method: str = GREEDY, nearest: Nearest | None = None, k: int = DEFAULT_K) -> Extracted:
    """Return the sub-graph of a model's searches.

    Raises:
        ValueError: the method is none of METHODS, or is retrieval and nobody says what is near (`nearest`).

    >>> facts = Facts([("Bob", "mother", "Alice"), ("Alice", "prefer_city", "c1"), ("Alice", "prefer_food", "f1")])
    >>> found = extract(Searches((Search("Bob", ("mother", "favourite_town")),)), facts)
    >>> [tuple(fact) for fact in found.triples], found.no_hallucination
    ([('Bob', 'mother', 'Alice'), ('Alice', 'prefer_city', 'c1'), ('Alice', 'prefer_food', 'f1')], 0.0)
    """
    if method not in METHODS:
        raise ValueError(f"there is no extraction {method!r}; give one of {', '.join(METHODS)}.")
    if method == RETRIEVAL and nearest is None:
        raise ValueError("relation retrieval needs to know which relations are near; give `nearest`.")
    codes: Counter[str] = Counter(fault.code for fault in read.faults)
    triples: dict[Triple, None] = {}
    is_truncated = False
    n_asked = n_fake = n_fake_after = 0
    for search in read.searches:
        if not search.path:
            codes["empty_path"] += 1
            continue
        n_asked += 1
        steps, n_unknown, n_left = _steps(search, facts, method, nearest, k)
        is_unknown_start = not facts.knows(search.start)
        codes["fake_relation"] += n_unknown
        codes["fake_start"] += is_unknown_start
        n_fake += n_unknown + is_unknown_start
        n_fake_after += n_left + is_unknown_start
        found, was_cut = _follow(search.start, steps, facts)
        if not found and not is_unknown_start and not n_left:
            codes["dead_end"] += 1
        is_truncated |= was_cut
        triples |= dict.fromkeys(found)
    if is_truncated:
        codes["truncated"] += 1
    return Extracted(
        tuple(triples),
        +codes,
        float(not n_fake) if n_asked else None,
        float(not n_fake_after) if n_asked and method == RETRIEVAL else None,
        is_truncated,
    )


_Step = Sequence[str] | None
"""The relations that one step may take; None is any."""


def _steps(search: Search, facts: Facts, method: str, nearest: Nearest | None, k: int) -> tuple[list[_Step], int, int]:
    """The steps of a search, how many of its relations are unknown, and how many of these nothing stands for."""
    steps: list[_Step] = []
    n_unknown = n_left = 0
    for relation in search.path:
        if facts.is_relation(relation):
            steps.append((relation,))
            continue
        n_unknown += 1
        if method == GREEDY:
            steps.append(None)
            continue
        stand_ins = tuple(dict.fromkeys(nearest(relation, k)))[:k] if method == RETRIEVAL and nearest else ()
        n_left += not stand_ins
        steps.append(stand_ins)
    return steps, n_unknown, n_left


def _follow(start: str, steps: Iterable[_Step], facts: Facts) -> tuple[list[Triple], bool]:
    """The facts of all paths over the steps, path by path; and whether there were more paths than MAX_PATHS."""
    ends: list[tuple[str, _Chain]] = [(start, None)]
    was_cut = False
    for step in steps:
        following: list[tuple[str, _Chain]] = []
        for at, chain in ends:
            for fact in facts.leaving(at) if step is None else (fact for relation in step for fact in facts.of(at, relation)):
                if len(following) == MAX_PATHS:
                    was_cut = True
                    break
                following.append((fact.tail, (chain, fact)))
            if was_cut and len(following) == MAX_PATHS:
                break
        ends = following
    found: dict[Triple, None] = {}
    for _, chain in ends:
        facts_of_path = []
        while chain is not None:
            chain, fact = chain
            facts_of_path.append(fact)
        found |= dict.fromkeys(reversed(facts_of_path))
    return list(found), was_cut


def brought_by(golden: Sequence[Triple], facts: Facts) -> frozenset[Triple]:
    """Every fact that the paths of the golden triples bring, all tails of each relation included.

    The paths are the maximal chains of the triples in their order (the next head is the tail before).

    >>> facts = Facts([("Bob", "mother", "Alice"), ("Alice", "city", "c1"), ("Alice", "city", "c2")])
    >>> sorted(fact.tail for fact in brought_by([Triple("Bob", "mother", "Alice"), Triple("Alice", "city", "c2")], facts))
    ['Alice', 'c1', 'c2']
    """
    chains: list[list[Triple]] = []
    for fact in golden:
        if chains and chains[-1][-1].tail == fact.head:
            chains[-1].append(fact)
        else:
            chains.append([fact])
    found: set[Triple] = set()
    for chain in chains:
        for length in range(1, len(chain) + 1):  # also of a chain that the graph has only in part
            found.update(_follow(chain[0].head, [(fact.relation,) for fact in chain[:length]], facts)[0])
    return frozenset(found)
