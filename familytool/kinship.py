"""Kinship as people speak it: "my mum", "my grandma on Mum's side", "my wife's brother".

A term ("grandma") has readings, the relation paths that it can mean. A phrase is usable only if all its readings from the
speaker give one person, along the shortest path, and none of them leads back to the speaker: of 780 kin paths of two or
fewer steps in seven families 302 pass. The same table reads kinship out of a text, so that a check can tell which person a
query names without asking who wrote it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod

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
_UNDERSTOOD: list[tuple[str, str]] = [
    # what other people write and our own writer does not; the order of a table row is that of _PLAIN
    ("mommy, mummy, momma, mamma, mam", "mother"),
    ("daddy, pops", "father"),
    ("lad", "son"),
    ("lass", "daughter"),
    ("kiddo", "son|daughter"),
    ("hubbie", "husband"),
    ("wifey", "wife"),
    ("significant other, life partner", "husband|wife"),
    ("half-brother, half brother", "brother"),
    ("half-sister, half sister", "sister"),
    ("twin", "brother|sister"),
    ("grandmom, grandmum, grandmama, gramma, nan, nanna", "mother|father mother"),
    ("grandpapa, grampa, gramps, granddaddy", "mother|father father"),
    ("grandkiddo", "son|daughter son|daughter"),
    ("maternal gran, maternal granny, maternal grandmum, maternal grandmom", "mother mother"),
    ("paternal gran, paternal granny, paternal grandmum, paternal grandmom", "father mother"),
    ("maternal granddad, maternal grandad", "mother father"),
    ("paternal granddad, paternal grandad", "father father"),
    ("maternal grandparent", "mother mother|father"),
    ("paternal grandparent", "father mother|father"),
    ("maternal uncle", "mother brother, mother sister husband"),
    ("paternal uncle", "father brother, father sister husband"),
    ("maternal aunt, maternal auntie", "mother sister, mother brother wife"),
    ("paternal aunt, paternal auntie", "father sister, father brother wife"),
    ("maternal cousin", "mother brother|sister son|daughter"),
    ("paternal cousin", "father brother|sister son|daughter"),
    ("great-gran, great-granny, great-grandmum, great-grandmom", "mother|father mother|father mother"),
    ("great-granddad, great-grandad", "mother|father mother|father father"),
    ("great-grandparent", "mother|father mother|father mother|father"),
    ("great-grandchild, great-grandkid", "son|daughter son|daughter son|daughter"),
    ("great-aunt, great-auntie, grandaunt, grand-aunt", "mother|father mother|father sister, mother|father mother|father brother wife"),
    ("great-uncle, granduncle, grand-uncle", "mother|father mother|father brother, mother|father mother|father sister husband"),
    ("grandnephew, great-nephew, grand-nephew", "brother|sister son|daughter son"),
    ("grandniece, great-niece, grand-niece", "brother|sister son|daughter daughter"),
    ("mom-in-law, mum-in-law", "husband|wife mother"),
    ("dad-in-law", "husband|wife father"),
    ("parent-in-law", "husband|wife mother|father"),
    ("child-in-law", "son|daughter husband|wife"),
    ("step-mother, step-mum, step-mom", "stepmother"),
    ("step-father, step-dad", "stepfather"),
    ("stepparent, step-parent", "stepmother|stepfather"),
    ("step-son", "stepson"),
    ("step-daughter", "stepdaughter"),
    ("step-child, step-kid", "stepson|stepdaughter"),
    ("bestie, chum", "friend"),
    ("school teacher", "teacher"),
]
_TWO_SIDED = [
    ("grandmother, grandma, gran, granny, nana", ("mother",)),
    ("grandfather, grandpa, granddad", ("father",)),
    ("uncle", ("brother",)),
    ("aunt, auntie", ("sister",)),
]
_SIDES_UNDERSTOOD = {
    "mother": ("maternal side", "mum's side", "mom's side", "mother's side", "mummy's side", "mommy's side"),
    "father": ("paternal side", "dad's side", "father's side", "daddy's side", "papa's side"),
}
_READ_ONLY = frozenset({"old man", "girl", "boy", "sibling", "parent", "grandparent", "coworker", "schoolteacher", "mate"})
"""Words that are understood but not spoken by our own writer (unclear, or stiff), besides those of _UNDERSTOOD."""


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
    return (*_spoken_terms(), *_terms_understood_only())


@lru_cache(maxsize=1)
def _spoken_terms() -> tuple[Term, ...]:
    found = [Term(word, _expand(readings)) for words, readings in _PLAIN for word in words.split(", ")]
    for words, last in _TWO_SIDED:
        for word in words.split(", "):
            for side, phrases in _SIDE.items():
                found.extend(Term(f"{word} {phrase}", _sided(side, last[0]), False) for phrase in phrases)
    return tuple(found)


def _sided(side: str, step: str) -> frozenset[Relations]:
    readings: set[Relations] = {(side, step)}
    if step in ("brother", "sister"):
        other, spouse = ("sister", "husband") if step == "brother" else ("brother", "wife")
        readings.add((side, other, spouse))
    return frozenset(readings)


def _terms_understood_only() -> list[Term]:
    """Terms for reading alone: further words, a hyphen left out ("mother in law"), and other ways to name a side."""
    known = {term.text.lower() for term in _spoken_terms()}
    found = {word: Term(word, _expand(readings)) for words, readings in _UNDERSTOOD for word in words.split(", ")}
    for term in (*_spoken_terms(), *list(found.values())):
        if "-" in term.text:
            found.setdefault(term.text.replace("-", " "), Term(term.text.replace("-", " "), term.readings))
    for words, last in _TWO_SIDED:
        for word in words.split(", "):
            for side, names in _SIDES_UNDERSTOOD.items():
                for phrase in (f"{where} {whose}{name}" for name in names for where in ("on", "from") for whose in ("", "my ", "the ")):
                    found[f"{word} {phrase}"] = Term(f"{word} {phrase}", _sided(side, last[0]), False)
    return [term for text, term in found.items() if text.lower() not in known]


@lru_cache(maxsize=1)
def _terms_by_first_word() -> dict[str, tuple[tuple[tuple[str, ...], Term], ...]]:
    """For the first word of a term, its terms as words, the longest first."""
    table: dict[str, list[tuple[tuple[str, ...], Term]]] = {}
    for term in terms():
        words = tuple(token for token, _, _ in tokens(term.text))
        table.setdefault(words[0], []).append((words, term))
    return {first: tuple(sorted(found, key=lambda pair: -len(pair[0]))) for first, found in table.items()}


@lru_cache(maxsize=1)
def _terms_by_reading() -> dict[Relations, tuple[Term, ...]]:
    table: dict[Relations, list[Term]] = {}
    for term in _spoken_terms():
        if term.text not in _READ_ONLY:
            for reading in sorted(term.readings):
                table.setdefault(reading, []).append(term)
    return {reading: tuple(found) for reading, found in table.items()}


_WORD = re.compile(r"'s\b|[A-Za-z][A-Za-z-]*")

MAX_READINGS = 512
"""Paths that a phrase may mean before it means nobody: a cousin of a cousin has 64."""
Token = tuple[str, int, int]
"""A word in lower case (or "'s"), and its span."""


def tokens(text: str) -> list[Token]:
    """The words of a text, the possessive "'s" as a word of its own."""
    return [(m[0].lower(), m.start(), m.end()) for m in _WORD.finditer(text.replace("’", "'"))]


def term_at(text: str, words: list[Token], position: int) -> tuple[Term, int] | None:
    """The longest kinship term that begins at this word, and its number of words; only white space may stand between them."""
    if position >= len(words):
        return None
    for known, term in _terms_by_first_word().get(words[position][0], ()):
        size = len(known)
        if size == 1:
            return term, 1
        if words[position + 1 : position + 2] and words[position + 1][0] != known[1]:
            continue
        if tuple(word for word, _, _ in words[position : position + size]) == known and all(
            not text[words[i - 1][2] : words[i][1]].strip() for i in range(position + 1, position + size)
        ):
            return term, size
    return None


def find_mentions(text: str) -> list[Mention]:
    """All persons that a text names by kinship from the speaker ("my ...", "our ..."), left to right, longest reading first.

    >>> [m.text for m in find_mentions("Book my mum's brother a table where my kid likes to eat.")]
    ["my mum's brother", 'my kid']
    """
    words = tokens(text)
    found: list[Mention] = []
    at = 0
    while at < len(words):
        if words[at][0] not in ("my", "our"):
            at += 1
            continue
        chain: list[Term] = []
        position, end = at + 1, at + 1
        while position < len(words) and not text[words[position - 1][2] : words[position][1]].strip():
            known = term_at(text, words, position)
            if known is None or too_many_readings((*chain, known[0])):
                break
            chain.append(known[0])
            position = end = position + known[1]
            if position < len(words) and words[position][0] == "'s":
                position += 1
            else:
                break
        if chain:
            start, stop = words[at][1], words[end - 1][2]
            found.append(Mention(start, stop, text[start:stop], readings_of(chain), tuple(term.text for term in chain)))
        at = max(end, at + 1)
    return found


def too_many_readings(chain: Sequence[Term]) -> bool:
    """Whether a chain ("my kid's kid's kid's ...") has become so ambiguous that it means nobody."""
    return prod(len(term.readings) for term in chain) > MAX_READINGS


def readings_of(chain: Sequence[Term]) -> frozenset[Relations]:
    """Every relation path that a chain of terms ("mum", "brother") can mean."""
    return _readings(tuple(chain))


@lru_cache(maxsize=4096)
def _readings(chain: tuple[Term, ...]) -> frozenset[Relations]:
    return frozenset(sum(parts, ()) for parts in product(*(term.readings for term in chain)))


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
            self._persons[key] = tuple(sorted({person for reading in readings for person in self._reached(speaker, reading)}))
        return self._persons[key]

    def _reached(self, speaker: str, reading: Relations) -> set[str]:
        """Whom a path gives, walked person by person, so that a family of many friends costs no more than its facts."""
        reached = {speaker}
        for relation in reading:
            reached = {tail for at in reached for tail in self.graph.tails(at, relation)}
        return reached

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
        readings = readings_of(chain)
        if self.persons(speaker, readings) != (person,):
            return False
        for size in range(1, len(chain)):  # "my kid's friend" needs one kid, and not only one who has a friend
            if len(self.persons(speaker, readings_of(chain[:size]))) != 1:
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
