"""Facts that a query quotes in the form of triples: they are no wording, and they give away what had to be found."""

from __future__ import annotations

import re
from collections.abc import Collection

_BRACKETS = re.compile(r"\[[^\[\]]{1,400}\]")


def quoted_triples(query: str, relations: Collection[str]) -> list[tuple[int, int, tuple[str, str, str]]]:
    """Facts that a query quotes in the form `[head, relation, tail]`: span and parts. Words in such brackets are no wording.

    >>> quoted_triples("Take me there, [Bob, prefer_city, Oslo]", {"prefer_city"})
    [(15, 39, ('Bob', 'prefer_city', 'Oslo'))]
    """
    found = []
    for match in _BRACKETS.finditer(query) if "[" in query else ():
        parts = tuple(part.strip().strip("'\"") for part in match.group()[1:-1].split(","))
        if len(parts) == 3 and parts[1] in relations:
            found.append((*match.span(), parts))
    return found


def wording(query: str, relations: Collection[str]) -> str:
    """A query with the facts that it quotes blanked out, so that places stay what they are."""
    for start, end, _ in quoted_triples(query, relations):
        query = query[:start] + " " * (end - start) + query[end:]
    return query
