"""The relatives that a query names, against those to whom the golden chains lead.

Three answers: they agree, they contradict each other, or the words do not decide (no word that the lexicon knows, a pronoun that
could be anybody). Persons are compared, not paths, so that "my maternal grandmother's husband" agrees with a chain to the
grandfather; but where the graph has the very chain that the words describe, the golden chain must be it and no other way to
the same person, since extraction is scored against it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from familytool.graph import KnowledgeGraph
from familytool.kinship import KIN_RELATIONS, Relations, find_mentions
from familytool.model import Finding, RelationPath, Sample
from familytool.validation.chains import path_of
from familytool.validation.grounding import find_words
from familytool.validation.kin_facts import A_WORD, Relatives, kin, relatives
from familytool.validation.leaves import leaves_of
from familytool.validation.people import Reference, find_people
from familytool.validation.wording import recipe_of

__all__ = ["Agreement", "Kinship", "KinshipRecall", "judge_kinship", "kin", "kinship_recall", "needed_persons", "owner_path"]

Agreement = Literal["agree", "contradict", "unknown", "none"]

_I_AM = ("i'm", "i am", "my name is", "this is")


class Kinship(NamedTuple):
    """What the query says of relatives: whether it agrees with the golden chains, why not, and how it names people.

    `asked`: a golden triple is a relation between people; `is_mentioned`: the lexicon reads a relative in the query;
    `is_named`: a person of the golden chains stands in the query by name.
    """

    agreement: Agreement
    findings: tuple[Finding, ...] = ()
    references: tuple[Reference, ...] = ()
    asked: bool = False
    is_mentioned: bool = False
    is_named: bool = False


def judge_kinship(sample: Sample, graph: KnowledgeGraph, query: str | None = None) -> Kinship:
    """Compare the people that a query speaks of with those to whom its golden chains lead.

    Args:
        sample: nothing is asked of one without a speaker.
        graph: where it is empty, the golden triples stand for it, and nobody is missed in it.
        query: the words to read, if they are not all of the sample's query.
    """
    words = sample.query if query is None else query
    if not sample.speaker:
        return Kinship("none")
    if not _last or _last[0][0] is not sample or _last[0][1] is not graph or _last[0][2] != words:
        is_whole = len(graph) > 0
        known = relatives(graph) if is_whole else Relatives(KnowledgeGraph(sample.golden_triples))
        _last[:] = [(sample, graph, words, _Judgement(sample, known, is_whole, words).kinship())]
    return _last[0][3]


_last: list[tuple[Sample, KnowledgeGraph, str, Kinship]] = []
"""The last judgement: the check and the count of a set ask for the same one after the other."""


class _Judgement:
    """One comparison."""

    def __init__(self, sample: Sample, known: Relatives, is_whole: bool, query: str) -> None:
        self.sample, self.known, self.is_whole, self.query = sample, known, is_whole, query
        self.is_ours = bool(recipe_of(sample))
        self.needed = needed_persons(sample)
        self.named = self._names()
        self.references = self._references()
        self.said: dict[str, list[Reference]] = {}
        self.findings: list[Finding] = []

    @cached_property
    def on_chains(self) -> set[str]:
        """The speaker, and everybody of whom a golden triple tells."""
        return {self.sample.speaker} | {name for t in self.sample.golden_triples for name in (t.head, t.tail)}

    @cached_property
    def values(self) -> set[str]:
        """The values of the golden calls."""
        return {str(leaf.value) for leaf in leaves_of(self.sample)}

    def _names(self) -> dict[str, int]:
        """Persons who stand in the query by name, and where."""
        found: dict[str, int] = {}
        names = self.known.names
        said = [word for word in A_WORD.findall(self.query.casefold()) if word in names]
        for word in dict.fromkeys(said):
            for text, person in names[word]:
                span = find_words(text, self.query) if person not in found and person != self.sample.speaker else None
                if span and self.query[span[0] : span[0] + 1].isupper() == text[:1].isupper():
                    found[person] = span[0]
        return found

    def _references(self) -> tuple[Reference, ...]:
        if self.is_ours:  # our own writer says "my" or "our" and no adjective; all else is part of a value or of another fact
            mentions = find_mentions(self.query)
            return tuple(Reference(m.start, m.end, m.text, "certain", frozenset(("", r) for r in m.readings)) for m in mentions)
        places = tuple(sorted((place, person) for person, place in self.named.items()))
        return find_people(self.query, places)

    def kinship(self) -> Kinship:
        for reference in self.references:
            if reference.paths:
                self._read(reference)
        missed = [p for p in self.needed if p not in self.said and p not in self.named]
        somebody = any(not r.paths or (r.certainty == "likely" and not self._persons(r)) for r in self.references)
        undecided = bool(missed) and somebody
        for person in missed if not somebody else ():
            steps = ", ".join(self.needed[person] or ()) or "unconnected"
            whom = "the speaker" if person == self.sample.speaker else person
            message = f"the golden chain goes to {whom} ({steps}), whom the query does not name"
            self.findings.append(Finding(code="kinship_mismatch", path="/query", message=message, value=person))
        undecided = self._check_ways() or undecided
        self._hear_who_speaks()
        mismatch = any(f.code == "kinship_mismatch" for f in self.findings)
        agreement: Agreement = "contradict" if mismatch else "unknown" if undecided or self.findings else "agree" if self.needed else "none"
        if mismatch:
            self._look_for_the_speaker()
        return Kinship(
            agreement,
            tuple(self.findings),
            self.references,
            any(t.relation in KIN_RELATIONS for t in self.sample.golden_triples),
            any(r.paths for r in self.references),
            any(person in self.named for person in self.needed),
        )

    def _read(self, reference: Reference) -> None:
        """Whom a reference means; a certain one that means nobody, several, or somebody of no golden chain is a finding."""
        speaker, place = self.sample.speaker, f"/query/{reference.start}"
        persons = self._persons(reference)
        several = len(persons) > 1
        for person in persons:
            self.said.setdefault(person, []).append(reference)
        if reference.certainty != "certain" or (self.sample.kind == "no_tool" and not several):
            return
        stands_aside = reference.takes_part and not self.values.intersection(persons) and all(p in self.said for p in self.needed)
        if several:
            if not reference.is_group and not reference.is_qualified and self.is_whole and not reference.takes_part:
                message = f"'{reference.text}' can be {', '.join(persons)}"
                self.findings.append(Finding(code="ambiguous_answer", path=place, message=message, value=reference.text))
        elif not persons:
            if self.is_whole and not stands_aside and not reference.takes_part:
                message = f"{speaker} has no '{reference.text}' in the graph"
                self.findings.append(Finding(code="kinship_mismatch", path=place, message=message, value=reference.text))
        elif persons[0] not in self.on_chains and (not reference.takes_part or self.values.intersection(persons)):
            message = f"'{reference.text}' is {persons[0]}, to whom no golden chain leads"
            self.findings.append(Finding(code="kinship_mismatch", path=place, message=message, value=reference.text))

    def _persons(self, reference: Reference) -> tuple[str, ...]:
        stated = self.known.persons(self.sample.speaker, reference)
        return stated or self.known.concluded(self.sample.speaker, reference)

    def _check_ways(self) -> bool:
        """Whether it stays open which way a chain should go; a chain that goes another way than the words is a finding."""
        undecided = False
        for person, way in self.needed.items():
            said = self.said.get(person, [])
            if person in self.named or not said:
                continue
            if all(len(self.known.persons(self.sample.speaker, r)) > 1 for r in said):
                undecided = True
                continue
            ways = [self._ways(r, person) for r in said]
            if way is None or not all(ways) or any(way in found for found in ways) or any(r.is_group for r in said):
                continue
            told = ", ".join(sorted(ways[0])[0])
            message = f"'{said[0].text}' is {person} by way of {told}; the golden chain goes another way ({', '.join(way)})"
            self.findings.append(Finding(code="kinship_mismatch", path=f"/query/{said[0].start}", message=message, value=said[0].text))
        return undecided

    def _ways(self, reference: Reference, person: str) -> set[Relations]:
        """The readings of a reference that lead from the speaker to this person along facts of the graph."""
        speaker = self.sample.speaker
        return {
            reading for start, reading in reference.paths if not start and person in self.known.kin.persons(speaker, frozenset({reading}))
        }

    def _hear_who_speaks(self) -> None:
        """Whether the query says that somebody else speaks ("This is Jack, ...")."""
        for person, place in self.named.items():
            before = self.query[max(0, place - 20) : place].casefold().replace("’", "'").rstrip()
            after = self.query[place : place + 60].partition(person)[2] if self.query.startswith(person, place) else " "
            if before.endswith(_I_AM) and (not after or after[0] in ",.!;:" or after.startswith((" here", " speaking"))):
                message = f"the query says that {person} speaks, and not {self.sample.speaker}"
                finding = Finding(code="wrong_speaker", path="/speaker", message=message, value=self.sample.speaker, hint=person)
                self.findings.append(finding)

    def _look_for_the_speaker(self) -> None:
        """Where all words fit the golden chains if one other person speaks, say so."""
        certain = [r for r in self.references if r.certainty == "certain"]
        if not certain or not self.needed or not self.is_whole or len(self.known.kin.people) > 100:
            return
        fitting = [other for other in self.known.kin.people if other != self.sample.speaker and self._fits(other, certain)]
        if len(fitting) == 1 and not any(f.code == "wrong_speaker" for f in self.findings):
            message = f"the words would fit if {fitting[0]} spoke, and not {self.sample.speaker}"
            self.findings.append(
                Finding(code="wrong_speaker", path="/speaker", message=message, value=self.sample.speaker, hint=fitting[0])
            )

    def _fits(self, speaker: str, certain: list[Reference]) -> bool:
        """Whether everybody named is somebody if this person speaks, and the owners of facts are those of the golden chains."""
        persons = [self.known.persons(speaker, reference) for reference in certain]
        owners = {p for reference, found in zip(certain, persons, strict=True) for p in found if not reference.takes_part}
        return all(persons) and owners == set(self.needed)


def needed_persons(sample: Sample) -> dict[str, Relations | None]:
    """The relatives on whom golden chains turn, each with the way from the speaker (None: the golden triples give none).

    A chain's person is where its relations between people end: whose fact it is, or who is the value. A chain may begin at a
    person to whom an earlier one has led.
    """
    edges: dict[tuple[str, str], list[str]] = {}
    for triple in sample.golden_triples:
        if triple.relation in KIN_RELATIONS:
            edges.setdefault((triple.head, triple.relation), []).append(triple.tail)
    needed: dict[str, Relations | None] = {}
    for path in sample.golden_paths:
        owner = owner_path(path)
        begin: Relations | None = () if path.start == sample.speaker else _way(edges, sample.speaker, path.start)
        reached = {path.start: None}
        for relation in owner.relations:
            reached = dict.fromkeys(tail for at in reached for tail in edges.get((at, relation), ()))
        if not owner.relations and path.start == sample.speaker:
            continue
        for person in reached:
            needed.setdefault(person, None if begin is None else (*begin, *owner.relations))
    return needed


def owner_path(path: RelationPath) -> RelationPath:
    """The part of a golden path that leads to the person a fact belongs to (or who is the value)."""
    steps = 0
    while steps < len(path.relations) and path.relations[steps] in KIN_RELATIONS:
        steps += 1
    return path_of(path.start, path.relations[:steps])


def _way(edges: dict[tuple[str, str], list[str]], start: str, goal: str) -> Relations | None:
    ways: dict[str, Relations] = {start: ()}
    queue = deque([start])
    while queue and goal not in ways:
        at = queue.popleft()
        for (head, relation), tails in edges.items():
            for tail in tails if head == at else ():
                if tail not in ways:
                    ways[tail] = (*ways[at], relation)
                    queue.append(tail)
    return ways.get(goal)


@dataclass
class KinshipRecall:
    """How much of a benchmark's kinship wording the lexicon reads, and what it makes of it, counted as samples pass."""

    samples: int = 0
    mentioned: int = 0
    named: int = 0
    agree: int = 0
    contradict: int = 0
    silent: int = 0

    def add(self, sample: Sample, graph: KnowledgeGraph) -> None:
        """Count one sample, if a relation between people is among its golden triples."""
        if not any(triple.relation in KIN_RELATIONS for triple in sample.golden_triples):
            return
        kinship = judge_kinship(sample, graph)
        self.samples += 1
        self.mentioned += kinship.is_mentioned
        self.named += kinship.is_named and not kinship.is_mentioned
        self.agree += kinship.agreement == "agree"
        self.contradict += kinship.agreement == "contradict"
        self.silent += kinship.agreement in ("unknown", "none")

    def as_json(self) -> dict[str, Any]:
        """The counts; `recall` is the share in which the lexicon reads a relative (null for no samples), `named` are further
        samples in which a person of the chain stands by name, and the last three add up to `samples`."""
        return {
            "samples": self.samples, "mentioned": self.mentioned, "named": self.named,
            "recall": self.mentioned / self.samples if self.samples else None,
            "agree": self.agree, "contradict": self.contradict, "silent": self.silent,
        }  # fmt: skip


def kinship_recall(samples: Iterable[Sample], graph: KnowledgeGraph) -> dict[str, Any]:
    """`KinshipRecall` over samples of one graph.

    >>> kinship_recall([], KnowledgeGraph())["recall"] is None
    True
    """
    recall = KinshipRecall()
    for sample in samples:
        recall.add(sample, graph)
    return recall.as_json()
