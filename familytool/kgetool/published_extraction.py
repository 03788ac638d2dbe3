"""Extraction as the published FamilyTool program does it, defects included: from a model's text to the text that replaced the triples.

Everything here is bug for bug: `extraction.py` has the corrected methods. The defects are those of the program's commit
c3c5fc7 (https://github.com/yxzwang/FamilyTool), restated from its behaviour; two of them can be switched back to the program
of the paper (see `published_scores.py`). Reading is linear in the text.

- Space and quotes are deleted from a search, so a start of several words is never found; a bracket or a comma ends a name.
- Thinking, comments and texts are searched too; `Start=` with a capital is no start.
- Greedy search follows the first tail of a relation only, expands the first unknown relation only and does not go on from there.
- Relation retrieval asks whether the *start* has a relation, not the entity that was reached, and leaves out those that it has not.
- Of the paths of one search only the longest stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, product

from .facts import Facts, Triple

BAD_MARK = "<bad_extract>"
N_NEAREST = 3
"""How many relations replace an unknown one: the program takes 3, whatever it is told."""

MAX_COMBINATIONS = 10_000
"""So many replacements of one search are tried (the program has no limit)."""

Nearest = Callable[[str], Sequence[str]]
"""The known relations that are nearest to an unknown one, the nearest first."""

_DELETED = str.maketrans({**dict.fromkeys("\"'` ‘’“”"), "，": ",", "【": "[", "】": "]"})


def read_searches(text: str) -> list[tuple[str | None, list[str] | None]]:
    """The (start, path) of every search in the text, None for what is not found.

    >>> read_searches('KG.search(start="Mr. Smith", path=["<relationship>mother", "prefer_city"])')
    [('Mr.Smith', ['mother', 'prefer_city'])]
    """
    return [_read_search(inside) for inside in _insides(text)]


def _insides(text: str) -> Iterator[str]:
    """What stands between `KG.search(` (any character for the dot) and the next parenthesis in the same line."""
    at, closing, line_end = 0, -1, -1
    while (found := text.find("search(", at)) >= 0:
        at = found + 1
        begin = found + len("search(")
        if found < 3 or text[found - 3 : found - 1] != "KG" or text[found - 1] == "\n":
            continue
        if closing < begin:  # asked again only behind the last one, so that the whole is linear
            closing = text.find(")", begin)
            if closing < 0:
                return
        if line_end < begin:
            line_end = text.find("\n", begin)
            line_end = len(text) if line_end < 0 else line_end
        if closing < line_end:
            yield text[begin:closing]
            at = closing + 1


def _read_search(inside: str) -> tuple[str | None, list[str] | None]:
    cleaned = _without_tags(inside.translate(_DELETED))
    start, path = None, None
    if (at := cleaned.find("start=")) >= 0 and (end := cleaned.find(",", at)) >= 0:
        start = cleaned[at + len("start=") : end]
    if (at := cleaned.find("path=[")) >= 0:
        at += len("path=[")
        if (end := cleaned.find("]", at + 1)) >= 0:
            path = [element.strip() for element in cleaned[at:end].split(",")]
    return start, path


def _without_tags(text: str) -> str:
    """The text without every `<...>`."""
    pieces, at = [], 0
    while (opening := text.find("<", at)) >= 0 and (closing := text.find(">", opening)) >= 0:
        pieces.append(text[at:opening])
        at = closing + 1
    return "".join(pieces) + text[at:]


class PublishedGraph:
    """The graph as the program indexes it: by a joined text (so that some keys collide), first tail only."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._first: dict[str, str] = {}
        for fact in facts.triples:
            self._first.setdefault(f"{fact.head}-{fact.relation}", fact.tail)

    def first(self, head: str, relation: str) -> Triple | None:
        """The first fact of (head, relation)."""
        tail = self._first.get(f"{head}-{relation}")
        return None if tail is None else Triple(head, relation, tail)


def extract(text: str, graph: PublishedGraph, nearest: Nearest | None = None) -> str:
    """Return the text that the program puts in the place of the triples; with `nearest` by relation retrieval, else by greedy search.

    "" is what the program calls a format error: no search, or none that reached anything.

    >>> graph = PublishedGraph(Facts([("Bob", "mother", "Alice"), ("Alice", "prefer_city", "Lisbon")]))
    >>> extract("KG.search(start='Bob', path=['mother', 'prefer_city'])", graph)
    "([['Bob', 'mother', 'Alice'], ['Alice', 'prefer_city', 'Lisbon']])"
    """
    pieces = []
    for start, path in read_searches(text):
        if path is None:
            pieces.append(BAD_MARK)
            continue
        found, is_bad = _greedy(graph, start, path) if nearest is None else (_retrieved(graph, start, path, nearest), False)
        longest = max(map(len, found), default=0)
        pieces += [f"({[list(fact) for fact in facts]}){BAD_MARK if is_bad else ''}" for facts in found if len(facts) == longest]
    return "".join(pieces)


def _greedy(graph: PublishedGraph, start: str | None, path: list[str]) -> tuple[list[list[Triple]], bool]:
    if start is None or not graph.facts.is_head(start):
        return [], True
    first = graph.first(start, path[0])
    found = [[first]] if first else [[fact] for fact in graph.facts.leaving(start)]
    ends = [facts[0].tail for facts in found]
    is_bad = first is None
    for relation in path[1:]:
        for place, end in enumerate(ends):
            following = graph.first(end, relation)
            if not graph.facts.is_head(end):
                is_bad = True
            elif following:
                found[place].append(following)
                ends[place] = following.tail
            elif not is_bad:
                found[place] += graph.facts.leaving(end)
                is_bad = True
    return found, is_bad


def _retrieved(graph: PublishedGraph, start: str | None, path: list[str], nearest: Nearest) -> list[list[Triple]]:
    choices = [[name] if graph.facts.is_relation(name) else list(nearest(name))[:N_NEAREST] for name in path]
    found: list[list[Triple]] = []
    ends: set[str] = set()
    for relations in islice(product(*choices), MAX_COMBINATIONS):
        at, facts = start, []
        for relation in relations:
            if start is None or at is None or graph.first(start, relation) is None:  # the defect: `start`, where `at` is meant
                continue
            following = graph.first(at, relation)
            if following is not None:
                facts.append(following)
                at = following.tail
        if facts and facts[-1].tail not in ends:
            ends.add(facts[-1].tail)
            found.append(facts)
    return found


_INNERMOST = re.compile(r"\[([^\[\]]*+)\]")


def read_triples(text: str) -> list[tuple[str, ...]]:
    """The triples of a text as the program reads them: quotes deleted, innermost brackets, split at every comma.

    The program fails on a triple that has not three parts; here it is one that equals no golden one.
    """
    bare = text.replace("'", "").replace('"', "")
    return [tuple(part.strip() for part in match[1].split(",")) for match in _INNERMOST.finditer(bare)]


def golden_of(user: str) -> list[tuple[str, ...]]:
    """The golden triples of a published user message: those in its first parentheses, wherever they stand.

    >>> golden_of("<speak>Speaker: Bob</speak> Call mum. The extra information for the query is ([Bob, mother, Alice]).")
    [('Bob', 'mother', 'Alice')]
    """
    opening = user.find("(")
    closing = user.find(")", opening)
    return read_triples(user[opening + 1 : closing]) if 0 <= opening < closing else []


def written(triples: Iterable[Sequence[str]]) -> str:
    """Golden triples as the program writes them, so that they are read back as it reads them."""
    return ", ".join(repr(list(triple)) for triple in triples)
