"""Checks of a knowledge graph itself: facts that contradict each other, ancestors in a circle, names that break their kind, idle facts.

Every check is one pass or a few over the facts, without recursion, so that a graph of 100,000 facts takes seconds.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Collection, Iterator

from familytool.graph import KnowledgeGraph
from familytool.model import Finding, Triple
from familytool.validation.leaves import escaped

PARENTS = frozenset({"mother", "father", "parent"})
CHILDREN = frozenset({"son", "daughter", "child"})
SPOUSES = frozenset({"husband", "wife", "spouse"})
SIBLINGS = frozenset({"brother", "sister", "sibling"})
STEP_PARENTS = frozenset({"stepmother", "stepfather"})
STEP_CHILDREN = frozenset({"stepson", "stepdaughter"})
_LEADS_BACK = {
    **dict.fromkeys(PARENTS, CHILDREN), **dict.fromkeys(CHILDREN, PARENTS), **dict.fromkeys(SPOUSES, SPOUSES),
    **dict.fromkeys(SIBLINGS, SIBLINGS), **dict.fromkeys(STEP_PARENTS, STEP_CHILDREN), **dict.fromkeys(STEP_CHILDREN, STEP_PARENTS),
}  # fmt: skip
"""Family relations, each with those that may lead back; two people are related in one of these ways only."""
_CLASS = {relation: min(group) for group in (PARENTS, CHILDREN, SPOUSES, SIBLINGS, STEP_PARENTS, STEP_CHILDREN) for relation in group}
_MALE = frozenset({"father", "son", "husband", "brother", "stepfather", "stepson"})
_FEMALE = frozenset({"mother", "daughter", "wife", "sister", "stepmother", "stepdaughter"})

FEW = 3
"""Values of one form that make a pattern."""
EXCEPTIONS = 0.05
"""Share of values that may break a pattern and still be exceptions (one always may); more of them, and there is no pattern."""


def check_graph(graph: KnowledgeGraph, used: Collection[Triple] | None = None) -> list[Finding]:
    """All findings of a graph, by code, each code in the order of the facts; a finding's path and value are its fact.

    Args:
        graph: the graph.
        used: the golden triples of the benchmark; None where they are not known, and then no fact is said to be idle.
    """
    return [
        *_conflicts(graph),
        *_ancestor_cycles(graph),
        *_name_anomalies(graph),
        *(_idle_facts(graph, used) if used is not None else ()),
    ]


def _finding(code: str, fact: Triple, message: str, hint: str = "") -> Finding:
    path = f"/graph/{escaped(fact.head)}/{escaped(fact.relation)}/{escaped(fact.tail)}"
    return Finding(code=code, path=path, message=message, value=[fact.head, fact.relation, fact.tail], hint=hint)


def _said(fact: Triple) -> str:
    return f"({fact.head}, {fact.relation}, {fact.tail})"


def _conflicts(graph: KnowledgeGraph) -> Iterator[Finding]:
    """Facts of a family that others contradict, and that none supports.

    A fact is supported by one that leads back as it must (mother - son). It is contradicted by a family fact between the same two
    people that says otherwise, in either direction. Where nothing is supported, or all is, both sides are told.
    """
    between: dict[tuple[str, str], list[Triple]] = {}
    for fact in graph:
        if fact.relation in _LEADS_BACK:
            between.setdefault((fact.head, fact.tail), []).append(fact)
    for (head, tail), facts in between.items():
        back = between.get((tail, head), [])
        if head == tail:
            for fact in facts:
                if fact.relation not in PARENTS | CHILDREN:  # these are cycles of ancestors
                    yield _finding("inverse_conflict", fact, f"{_said(fact)}: nobody is their own {fact.relation}")
            continue
        supported = [any(b.relation in _LEADS_BACK[f.relation] for b in back) for f in facts]
        for fact, is_supported in zip(facts, supported, strict=True):
            others = [o for o in facts if _CLASS[o.relation] != _CLASS[fact.relation]]
            against = [b for b in back if b.relation not in _LEADS_BACK[fact.relation]]
            if is_supported:
                rival = next((o for o, s in zip(facts, supported, strict=True) if s and _CLASS[o.relation] != _CLASS[fact.relation]), None)
                if rival is not None:
                    yield _finding("inverse_conflict", fact, f"{_said(fact)} contradicts {_said(rival)}, and each has its inverse")
            elif against or others:
                rival = (against or others)[0]
                yield _finding("inverse_conflict", fact, f"{_said(fact)} contradicts {_said(rival)}, and no fact supports it")
    yield from _gender_conflicts(graph)


def _gender_conflicts(graph: KnowledgeGraph) -> Iterator[Finding]:
    """Facts that call somebody a mother whom most others call a father, and the like."""
    called: dict[str, tuple[list[Triple], list[Triple]]] = {}
    for fact in graph:
        if fact.relation in _MALE or fact.relation in _FEMALE:
            called.setdefault(fact.tail, ([], []))[fact.relation in _FEMALE].append(fact)
    for person, (male, female) in called.items():
        if male and female:
            fewer, more = (male, female) if len(male) < len(female) else (female, male)
            for fact in fewer if len(fewer) < len(more) else (*male, *female):
                rival = female[0] if fact.relation in _MALE else male[0]
                yield _finding("inverse_conflict", fact, f"{_said(fact)} contradicts {_said(rival)}: {person} is called both man and woman")


def _ancestor_cycles(graph: KnowledgeGraph) -> Iterator[Finding]:
    """One finding for each knot of people who are their own ancestors, at the first fact of a shortest circle."""
    parents: dict[str, dict[str, Triple]] = {}
    for fact in graph:
        if fact.relation in PARENTS:
            parents.setdefault(fact.head, {}).setdefault(fact.tail, fact)
        elif fact.relation in CHILDREN:
            parents.setdefault(fact.tail, {}).setdefault(fact.head, fact)
    for knot in _knots({person: list(found) for person, found in parents.items()}):
        circle = _circle(parents, knot)
        facts = [parents[child][parent] for child, parent in zip(circle, circle[1:] + circle[:1], strict=True)]
        line = " > ".join([*circle[:10], *(["..."] if len(circle) > 10 else []), circle[0]])
        rest = "; ".join(_said(fact) for fact in facts[:10])
        yield _finding("ancestor_cycle", facts[0], f"{circle[0]} is their own ancestor: {line}", f"one of these is false: {rest}")


def _knots(edges: dict[str, list[str]]) -> list[list[str]]:
    """Strongly connected components that hold a circle, in the order of their first person (Tarjan's algorithm, without recursion)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    knots: list[list[str]] = []
    for root in edges:
        if root in number:
            continue
        work = [(root, iter(edges.get(root, ())))]
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        while work:
            person, further = work[-1]
            advanced = False
            for parent in further:
                if parent not in number:
                    number[parent] = low[parent] = len(number)
                    stack.append(parent)
                    on_stack.add(parent)
                    work.append((parent, iter(edges.get(parent, ()))))
                    advanced = True
                    break
                if parent in on_stack:
                    low[person] = min(low[person], number[parent])
            if advanced:
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[person])
            if low[person] == number[person]:
                knot: list[str] = []
                while not knot or knot[-1] != person:
                    knot.append(stack.pop())
                    on_stack.discard(knot[-1])
                if len(knot) > 1 or person in edges.get(person, ()):
                    knots.append(sorted(knot, key=lambda name: number[name]))
    return sorted(knots, key=lambda knot: number[knot[0]])


def _circle(parents: dict[str, dict[str, Triple]], knot: list[str]) -> list[str]:
    """A shortest way from the first person of a knot back to themselves, each followed by a parent."""
    first, members = knot[0], set(knot)
    came_from: dict[str, str] = {}
    queue = deque([first])
    while queue:
        at = queue.popleft()
        for parent in parents.get(at, {}):
            if parent == first:
                circle = [at]
                while circle[-1] != first:
                    circle.append(came_from[circle[-1]])
                return circle[::-1]
            if parent in members and parent not in came_from:
                came_from[parent] = at
                queue.append(parent)
    return [first]


_IDENTIFIER = re.compile(r"([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*)_[0-9]+")
_NUMBER = re.compile(r"[+-]?[0-9][0-9,. ]*")
_DIGITS = re.compile(r"[0-9]+")
_CAPITALS = re.compile(r"[A-Z]+")


def name_form(name: str) -> str:
    """The form of a name, the same for all names of one pattern; "" for a name in words, which has none.

    Identifiers keep their stem, numbers are all alike, dates, times, telephone numbers and codes keep their separators.

    >>> [name_form(n) for n in ("travel_city_0003", "2025-06-03", "+1 202 555 0199", "QX-15239-K", "41", "7.5", "The 39 Steps")]
    ['travel_city_#', '#-#-#', '+# # # #', 'A-#-A', '#', '#', '']
    """
    if match := _IDENTIFIER.fullmatch(name):
        return f"{match[1]}_#"
    if "@" in name and " " not in name:
        return "@"
    if not any(c in "0123456789" for c in name) or any(c.islower() for c in name):
        return ""
    if _NUMBER.fullmatch(name) and name.count(".") + name.count(",") <= 1 and " " not in name:
        return "#"
    return _CAPITALS.sub("A", _DIGITS.sub("#", name))


def _name_anomalies(graph: KnowledgeGraph) -> Iterator[Finding]:
    """Names unlike the other values of their relation, learnt from most of them; and names that no text can hold."""
    values: dict[str, dict[str, None]] = {}
    for fact in graph:
        values.setdefault(fact.relation, {})[fact.tail] = None
    patterns = {relation: pattern for relation, names in values.items() if (pattern := _pattern(names))}
    for fact in graph:
        flaw = _flaw(fact)
        if flaw:
            yield _finding("name_anomaly", fact, f"{_said(fact)}: {flaw}")
            continue
        common, form = patterns.get(fact.relation, ("", ""))
        own = name_form(fact.tail)
        if common and own != form:
            yield _finding("name_anomaly", fact, f"'{fact.tail}' is unlike the other values of {fact.relation}, such as '{common}'", form)
        elif fact.relation in patterns and not form and _IDENTIFIER.fullmatch(fact.tail):
            yield _finding("name_anomaly", fact, f"'{fact.tail}' is an identifier, the other values of {fact.relation} are names in words")


def _pattern(names: Collection[str]) -> tuple[str, str] | None:
    """An example and the form of what most values of a relation look like (form "" for words); None where they have no pattern."""
    forms = Counter(map(name_form, names))
    form, count = forms.most_common(1)[0]
    exceptions = len(names) - count
    if count < FEW or exceptions > max(1, int(EXCEPTIONS * len(names))):
        return None
    return (next(name for name in names if name_form(name) == form) if form else "", form)


def _flaw(fact: Triple) -> str:
    for part, name in (("head", fact.head), ("relation", fact.relation), ("tail", fact.tail)):
        if not name.strip():
            return f"the {part} is empty"
        if name != name.strip() or any(ord(c) < 32 or ord(c) == 127 for c in name):
            return f"the {part} has white space around it, or a control character in it"
    return ""


def _idle_facts(graph: KnowledgeGraph, used: Collection[Triple]) -> Iterator[Finding]:
    """Facts that no golden chain uses: they make the search harder, which can be what they are there for."""
    needed = {(t.head, t.relation, t.tail) for t in used}
    for fact in graph:
        if (fact.head, fact.relation, fact.tail) not in needed:
            yield _finding("unused_edge", fact, f"{_said(fact)} is in no golden chain")
