"""Who is whose relative in one graph, stated or to be concluded from what is stated, and how they are called."""

from __future__ import annotations

import re
from collections.abc import Iterable

from familytool.graph import KnowledgeGraph
from familytool.kinship import INVERSES, Kin, Relations
from familytool.validation.grounding import word_set
from familytool.validation.people import Reference

_kin_of: dict[int, tuple[KnowledgeGraph, Relatives]] = {}
MAX_PERSONS = 1_000


def relatives(graph: KnowledgeGraph) -> Relatives:
    """The people of a graph, computed once for each."""
    known = _kin_of.get(id(graph))
    if known is None or known[0] is not graph:
        if len(_kin_of) >= 32:
            del _kin_of[next(iter(_kin_of))]
        known = (graph, Relatives(graph))
        _kin_of[id(graph)] = known
    return known[1]


def kin(graph: KnowledgeGraph) -> Kin:
    """The kinship of a graph, computed once for each."""
    return relatives(graph).kin


class Relatives:
    """Who is whose relative in one graph, stated or to be concluded from what is stated."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.kin = Kin(graph)
        self._concluded: dict[tuple[str, Relations], tuple[str, ...]] = {}
        self.names: dict[str, list[tuple[str, str]]] = {}
        for text, person in _calling_names(self.kin.people).items():
            self.names.setdefault(_first_word(text), []).append((text, person))
        self.is_male: dict[str, bool] = {}
        for triple in graph:
            if triple.relation in _IS_MALE:
                self.is_male.setdefault(triple.tail, _IS_MALE[triple.relation])

    def persons(self, speaker: str, reference: Reference) -> tuple[str, ...]:
        """Everybody whom a reference means by facts that stand in the graph."""
        starts: dict[str, set[Relations]] = {}
        for start, reading in reference.paths:
            starts.setdefault(start or speaker, set()).add(reading)
        found = {p for start, readings in starts.items() for p in self.kin.persons(start, frozenset(readings))}
        return tuple(sorted(found))

    def concluded(self, speaker: str, reference: Reference) -> tuple[str, ...]:
        """Everybody whom it means when facts that follow from others count too (the husband of a mother is the father)."""
        return tuple(sorted({p for start, reading in reference.paths for p in self._follow(start or speaker, reading)}))

    def _follow(self, start: str, reading: Relations) -> tuple[str, ...]:
        key = (start, reading)
        if key not in self._concluded:
            reached: dict[str, None] = {start: None}
            for relation in reading:
                reached = dict.fromkeys(person for at in reached for person in self._step(at, relation))
                if len(reached) > MAX_PERSONS:
                    break
            self._concluded[key] = tuple(reached)
        return self._concluded[key]

    def _step(self, person: str, relation: str) -> tuple[str, ...]:
        stated = self.graph.tails(person, relation)
        if stated:
            return stated
        graph = self.graph
        wanted = _IS_MALE.get(relation)
        found = [head for head, back in graph.heads(person) if back in INVERSES and relation in INVERSES[back]]
        if relation in ("husband", "wife"):  # the other parent of a child
            children = [c for r in ("son", "daughter") for c in graph.tails(person, r)]
            children += [head for head, back in graph.heads(person) if back in ("mother", "father")]
            found += [p for child in children for p in graph.tails(child, "father" if relation == "husband" else "mother")]
        elif relation in ("mother", "father"):  # the spouse of the other parent
            other, spouse = ("father", "wife") if relation == "mother" else ("mother", "husband")
            found += [p for parent in graph.tails(person, other) for p in graph.tails(parent, spouse)]
        elif relation in ("brother", "sister"):  # another child of a parent
            parents = [p for r in ("mother", "father") for p in graph.tails(person, r)]
            found += [c for parent in parents for c in graph.tails(parent, "son" if relation == "brother" else "daughter")]
        elif relation in ("son", "daughter"):  # a child of the spouse
            found += [c for r in ("husband", "wife") for spouse in graph.tails(person, r) for c in graph.tails(spouse, relation)]
        return tuple(dict.fromkeys(p for p in found if p != person and (wanted is None or self.is_male.get(p, wanted) == wanted)))


_IS_MALE = {
    **dict.fromkeys(("father", "son", "husband", "brother", "stepfather", "stepson"), True),
    **dict.fromkeys(("mother", "daughter", "wife", "sister", "stepmother", "stepdaughter"), False),
}
_TITLES = word_set("mr mr. mrs mrs. ms ms. miss dr dr. prof prof. sir")


A_WORD = re.compile(r"\w+")


def _first_word(text: str) -> str:
    found = A_WORD.search(text.casefold())
    return found.group() if found else ""


def _calling_names(people: Iterable[str]) -> dict[str, str]:
    """Text -> person: full names, and the parts of names that only one person has ("Smith" of "Mr. Smith")."""
    people = list(people)
    owners: dict[str, set[str]] = {}
    for person in people:
        for part in person.split():
            if len(part) > 2 and part.lower() not in _TITLES and part[0].isupper():
                owners.setdefault(part, set()).add(person)
    short = {part: next(iter(persons)) for part, persons in owners.items() if len(persons) == 1}
    return {**short, **{person: person for person in people}}
