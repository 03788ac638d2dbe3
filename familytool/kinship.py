"""Kinship as people speak it: "my mum", "my grandma on Mum's side", "my wife's brother".

A term ("grandma") has readings, the relation paths that it can mean. A phrase is usable only if all its readings from the
speaker give one person, along the shortest path, and none of them leads back to the speaker: of 780 kin paths of two or
fewer steps in seven families 302 pass. The same table reads kinship out of a text, so that a check can tell which person a
query names without asking who wrote it.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from familytool.graph import KnowledgeGraph
from familytool.model import RelationPath

Relations = tuple[str, ...]

INVERSES: dict[str, tuple[str, ...]] = {
    "mother": ("son", "daughter"),
    "father": ("son", "daughter"),
    "son": ("mother", "father"),
    "daughter": ("mother", "father"),
    "husband": ("wife", "husband"),
    "wife": ("husband", "wife"),
    "brother": ("brother", "sister"),
    "sister": ("brother", "sister"),
    "stepmother": ("stepson", "stepdaughter"),
    "stepfather": ("stepson", "stepdaughter"),
    "stepson": ("stepmother", "stepfather"),
    "stepdaughter": ("stepmother", "stepfather"),
    "friend": ("friend",),
    "colleague": ("colleague",),
    "teacher": (),
}
"""Relations between people, each with those of which one must lead back (none for `teacher`)."""

KIN_RELATIONS = frozenset(INVERSES)

_SIDE = {
    "mother": ("on my mum's side", "on Mum's side", "on my mother's side"),
    "father": ("on my dad's side", "on Dad's side", "on my father's side"),
}
_PLAIN: list[tuple[str, str]] = [
    # words separated by commas; readings separated by commas, a|b meaning either step
    ("mother, mum, mom, mama", "mother"),
    ("father, dad, papa, old man", "father"),
    ("parent", "mother|father"),
    ("son, boy", "son"),
    ("daughter, girl", "daughter"),
    ("child, kid, little one", "son|daughter"),
    ("husband, hubby", "husband"),
    ("wife, missus", "wife"),
    ("spouse, partner, better half, other half", "husband|wife"),
    ("brother, bro", "brother"),
    ("sister, sis", "sister"),
    ("sibling", "brother|sister"),
    ("grandmother, grandma, gran, granny, nana", "mother|father mother"),
    ("grandfather, grandpa, granddad, grandad", "mother|father father"),
    ("grandparent", "mother|father mother|father"),
    ("maternal grandmother, maternal grandma", "mother mother"),
    ("paternal grandmother, paternal grandma", "father mother"),
    ("maternal grandfather, maternal grandpa", "mother father"),
    ("paternal grandfather, paternal grandpa", "father father"),
    ("grandson", "son|daughter son"),
    ("granddaughter", "son|daughter daughter"),
    ("grandchild, grandkid", "son|daughter son|daughter"),
    ("great-grandmother, great-grandma", "mother|father mother|father mother"),
    ("great-grandfather, great-grandpa", "mother|father mother|father father"),
    ("great-grandson", "son|daughter son|daughter son"),
    ("great-granddaughter", "son|daughter son|daughter daughter"),
    ("mother-in-law", "husband|wife mother"),
    ("father-in-law", "husband|wife father"),
    ("son-in-law", "son|daughter husband"),
    ("daughter-in-law", "son|daughter wife"),
    ("brother-in-law", "husband|wife brother, brother|sister husband, husband|wife sister husband"),
    ("sister-in-law", "husband|wife sister, brother|sister wife, husband|wife brother wife"),
    ("uncle", "mother|father brother, mother|father sister husband, mother|father brother husband"),
    ("aunt, auntie", "mother|father sister, mother|father brother wife, mother|father sister wife"),
    ("nephew", "brother|sister son, husband|wife brother|sister son"),
    ("niece", "brother|sister daughter, husband|wife brother|sister daughter"),
    ("cousin", "mother|father brother|sister son|daughter"),
    ("stepmother, stepmum, stepmom", "stepmother"),
    ("stepfather, stepdad", "stepfather"),
    ("stepson", "stepson"),
    ("stepdaughter", "stepdaughter"),
    ("stepchild, stepkid", "stepson|stepdaughter"),
    ("friend, buddy, pal, mate", "friend"),
    ("colleague, workmate, co-worker, coworker", "colleague"),
    ("teacher, schoolteacher", "teacher"),
]
_TWO_SIDED = [
    ("grandmother, grandma, gran, granny, nana", ("mother",)),
    ("grandfather, grandpa, granddad", ("father",)),
    ("uncle", ("brother",)),
    ("aunt, auntie", ("sister",)),
]
_READ_ONLY = frozenset({"old man", "girl", "boy", "sibling", "parent", "grandparent", "coworker", "schoolteacher", "mate"})
"""Words that are understood but not spoken by our own writer (unclear, or stiff)."""


@dataclass(frozen=True)
class Term:
    """A kinship word or fixed phrase, with the relation paths that it can mean."""

    text: str
    readings: frozenset[Relations]
    takes_possessive: bool = True


@dataclass(frozen=True)
class KinPhrase:
    """How the speaker names a person: `text` ("my mum's brother"), its terms, and the golden path it stands for."""

    text: str
    terms: tuple[str, ...]
    relations: Relations
    takes_possessive: bool

    @property
    def possessive(self) -> str:
        """The phrase as an owner: "my mum's brother's"."""
        return self.text + "'s"


@dataclass(frozen=True)
class Mention:
    """A person named by kinship in a text: character span, the words, and every path that they can mean."""

    start: int
    end: int
    text: str
    readings: frozenset[Relations]
    terms: tuple[str, ...]


def _expand(readings: str) -> frozenset[Relations]:
    return frozenset(path for reading in readings.split(", ") for path in product(*(step.split("|") for step in reading.split(" "))))


@lru_cache(maxsize=1)
def terms() -> tuple[Term, ...]:
    """All kinship terms that are understood."""
    found = [Term(word, _expand(readings)) for words, readings in _PLAIN for word in words.split(", ")]
    for words, last in _TWO_SIDED:
        for word in words.split(", "):
            for side, phrases in _SIDE.items():
                step = last[0]
                readings: set[Relations] = {(side, step)}
                if step in ("brother", "sister"):
                    other, spouse = ("sister", "husband") if step == "brother" else ("brother", "wife")
                    readings.add((side, other, spouse))
                found.extend(Term(f"{word} {phrase}", frozenset(readings), False) for phrase in phrases)
    return tuple(found)


@lru_cache(maxsize=1)
def _terms_by_tokens() -> dict[tuple[str, ...], Term]:
    return {tuple(token for token, _, _ in _tokens(term.text)): term for term in terms()}


@lru_cache(maxsize=1)
def _terms_by_reading() -> dict[Relations, tuple[Term, ...]]:
    table: dict[Relations, list[Term]] = {}
    for term in terms():
        if term.text not in _READ_ONLY:
            for reading in sorted(term.readings):
                table.setdefault(reading, []).append(term)
    return {reading: tuple(found) for reading, found in table.items()}


_WORD = re.compile(r"['’]s\b|[A-Za-z][A-Za-z-]*")


def _tokens(text: str) -> list[tuple[str, int, int]]:
    return [(m.group().lower().replace("’", "'"), m.start(), m.end()) for m in _WORD.finditer(text)]


def find_mentions(text: str) -> list[Mention]:
    """All persons that a text names by kinship from the speaker ("my ...", "our ..."), left to right, longest reading first.

    >>> [m.text for m in find_mentions("Book my mum's brother a table where my kid likes to eat.")]
    ["my mum's brother", 'my kid']
    """
    tokens = _tokens(text)
    words = [token for token, _, _ in tokens]
    table = _terms_by_tokens()
    longest = max(map(len, table))
    found: list[Mention] = []
    at = 0
    while at < len(words):
        if words[at] not in ("my", "our"):
            at += 1
            continue
        chain: list[Term] = []
        position, end = at + 1, at + 1
        while position < len(words):
            term, size = next(
                ((table[tuple(words[position : position + n])], n)
                 for n in range(min(longest, len(words) - position), 0, -1) if tuple(words[position : position + n]) in table),
                (None, 0),
            )  # fmt: skip
            if term is None or not _adjacent(text, tokens, position, size):
                break
            chain.append(term)
            position += size
            end = position
            if position < len(words) and words[position] == "'s":
                position += 1
            else:
                break
        if chain:
            readings = frozenset(sum(parts, ()) for parts in product(*(term.readings for term in chain)))
            start, stop = tokens[at][1], tokens[end - 1][2]
            found.append(Mention(start, stop, text[start:stop], readings, tuple(term.text for term in chain)))
        at = max(end, at + 1)
    return found


def _adjacent(text: str, tokens: list[tuple[str, int, int]], position: int, size: int) -> bool:
    """Whether the tokens from the one before `position` on are divided by white space only ("my, mother" is no mention)."""
    return all(not text[tokens[i - 1][2] : tokens[i][1]].strip() for i in range(position, position + size))


class Kin:
    """The people of one graph and the ways to speak of them. Answers are cached, since every candidate asks again."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        people = dict.fromkeys(name for t in graph if t.relation in KIN_RELATIONS for name in (t.head, t.tail))
        self.people: tuple[str, ...] = tuple(people)
        self._phrases: dict[tuple[str, str], tuple[KinPhrase, ...]] = {}
        self._shortest: dict[str, dict[str, list[Relations]]] = {}
        self._persons: dict[tuple[str, frozenset[Relations]], tuple[str, ...]] = {}

    def persons(self, speaker: str, readings: frozenset[Relations]) -> tuple[str, ...]:
        """Everybody whom one of these readings gives from the speaker, the speaker too where one leads back."""
        key = (speaker, readings)
        if key not in self._persons:
            self._persons[key] = tuple(sorted({p for r in readings for p in self.graph.follow(RelationPath(start=speaker, relations=r))}))
        return self._persons[key]

    def shortest_paths(self, speaker: str, longest: int = 4) -> dict[str, list[Relations]]:
        """For each other person the shortest relation paths from the speaker (all of that length), up to `longest` steps."""
        if speaker not in self._shortest:
            best: dict[str, list[Relations]] = {speaker: [()]}
            queue: deque[tuple[str, Relations]] = deque([(speaker, ())])
            while queue:
                at, path = queue.popleft()
                if len(path) == longest:
                    continue
                for triple in self.graph.neighbours(at):
                    if triple.relation not in KIN_RELATIONS:
                        continue
                    longer = (*path, triple.relation)
                    known = best.get(triple.tail)
                    if known is None or len(known[0]) == len(longer):
                        best.setdefault(triple.tail, []).append(longer)
                        queue.append((triple.tail, longer))
            self._shortest[speaker] = {person: paths for person, paths in best.items() if person != speaker}
        return self._shortest[speaker]

    def phrases(self, speaker: str, person: str) -> tuple[KinPhrase, ...]:
        """Every phrase by which the speaker can name this person and nobody else, in a fixed order; none is possible too."""
        key = (speaker, person)
        if key not in self._phrases:
            paths = self.shortest_paths(speaker).get(person, [])
            found: dict[str, KinPhrase] = {}
            for path in paths:
                if len(path) > 3 or len(self.graph.chains(RelationPath(start=speaker, relations=path))) != 1:
                    continue
                for chain in _segmentations(path):
                    phrase = KinPhrase("my " + "'s ".join(t.text for t in chain), tuple(t.text for t in chain), path,
                                       chain[-1].takes_possessive)  # fmt: skip
                    if all(t.takes_possessive for t in chain[:-1]) and self._names_one(speaker, person, phrase, chain):
                        found.setdefault(phrase.text, phrase)
            self._phrases[key] = tuple(found.values())
        return self._phrases[key]

    def _names_one(self, speaker: str, person: str, phrase: KinPhrase, chain: tuple[Term, ...]) -> bool:
        readings = frozenset(sum(parts, ()) for parts in product(*(term.readings for term in chain)))
        if self.persons(speaker, readings) != (person,):
            return False
        for size in range(1, len(chain)):  # "my kid's friend" needs one kid, and not only one who has a friend
            begun = frozenset(sum(parts, ()) for parts in product(*(term.readings for term in chain[:size])))
            if len(self.persons(speaker, begun)) != 1:
                return False
        given = [r for r in readings if len(r) == len(phrase.relations)
                 and self.graph.follow(RelationPath(start=speaker, relations=r))]  # fmt: skip
        return given == [phrase.relations]


def _segmentations(path: Relations) -> list[tuple[Term, ...]]:
    if not path:
        return [()]
    table = _terms_by_reading()
    return [
        (term, *rest) for size in range(1, len(path) + 1) for term in table.get(path[:size], ()) for rest in _segmentations(path[size:])
    ]
