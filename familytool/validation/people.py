"""Whom a text speaks of: relatives named by kinship words, with or without "my", and words that may mean somebody unknown.

`familytool.kinship.find_mentions` reads what our own writer writes. Other people write "Book it for Mom", "my late grandfather's",
"the mother of my wife", "my son ... his teacher", "my moms favourite". This reading is broad: what is not certain is marked, so
that a check can let it support a golden chain but never contradict one. The words are general English; none was taken from a data set.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

from familytool.kinship import Relations, Term, Token, readings_of, term_at, terms, tokens, too_many_readings
from familytool.validation.grounding import word_set

Certainty = Literal["certain", "likely", "unknown"]

MAX_TEXT = 20_000
"""Characters of a text that are read for people."""

QUALIFIERS = word_set(
    "dear dearest lovely beloved darling sweet wonderful old older oldest elder eldest elderly little young younger youngest big bigger kid "
    "twin late own only poor busy first second other middle adult grown-up beautiful former"
)
"""Words between "my" and the relative; which of several relatives is meant, they may tell and a graph cannot."""
CHOSEN = word_set("best closest close good favourite favorite dearest")
"""Words that make of "friend" and the like a fact about somebody ("my sister's best friend") more than a relative."""
ADDRESSED = word_set(
    "mum mom mama mommy mummy momma mam dad daddy papa pops grandma granny gran nana nan nanna grandpa granddad grandad gramps auntie sis bro hubby"
)
"""Relatives who are called so, and thus spoken of without "my"."""
ADDRESSED_IN_CAPITALS = frozenset({"mother", "father", "grandmother", "grandfather"})
PEOPLE = word_set(
    "ex ex-husband ex-wife boss manager supervisor assistant neighbour neighbor roommate flatmate housemate landlord landlady lodger tenant guest client "
    "customer boyfriend girlfriend fiance fiancee bride groom date crush mentor coach trainer nanny babysitter godmother godfather godson goddaughter "
    "godchild stepbrother stepsister guardian ward family folks relatives in-laws household team people"
)
"""People whom no relation of a family graph gives."""
_GENERIC = word_set("a an any every each some another these those your its")
_MALE = frozenset({"father", "son", "husband", "brother", "stepfather", "stepson"})
_FEMALE = frozenset({"mother", "daughter", "wife", "sister", "stepmother", "stepdaughter"})
_PRONOUNS = {"he": "m", "him": "m", "his": "m", "she": "f", "her": "f", "hers": "f", "they": "", "them": "", "their": "", "theirs": ""}
_TAKES_PART = word_set(
    "for with help helping take taking bring bringing invite inviting surprise surprising tell telling remind reminding ask asking let join joining "
    "alongside including meet meeting visit visiting"
)
_NOT_IN_A_NAME = word_set(
    "my our your his her their the a an this that to with for of and or in at on from by near is are was as than where who which"
)
_CONTRACTED = word_set("it that this what who where when how why here there let he she everyone somebody someone one today tomorrow")
_PLURALS = {"children": "child", "grandchildren": "grandchild", "kiddies": "kid", "wives": "wife", "stepchildren": "stepchild"}
_ALWAYS_ONE = word_set(
    "mother mum mom mama mommy mummy momma father dad daddy papa husband hubby wife grandmother grandma granny gran grandfather grandpa granddad"
)


class Reference(NamedTuple):
    """Somebody whom a text speaks of.

    `paths` are (start, relations) pairs, where start is "" for the speaker or a name from the text. `certain`: said with "my" or
    "our", or called so and an owner ("Mom's favourite"); `likely`: without ("the wife", "his teacher"); `unknown`: somebody, but
    the words do not tell who (no paths). `takes_part`: the call is for or with them ("for my son"), and no fact of theirs is asked.
    """

    start: int
    end: int
    text: str
    certainty: Certainty
    paths: frozenset[tuple[str, Relations]] = frozenset()
    is_group: bool = False
    is_qualified: bool = False
    is_owner: bool = False
    takes_part: bool = False


@lru_cache(maxsize=64)
def find_people(text: str, names: tuple[tuple[int, str], ...] = ()) -> tuple[Reference, ...]:
    """Everybody of whom a text speaks, left to right; `names` are (place, name) of people who are named in it literally.

    >>> [(r.text, r.certainty) for r in find_people("Ask Mom for my late grandpa's recipe and her sister's, and the boss's.")]
    [('Mom', 'likely'), ('my late grandpa', 'certain'), ('her sister', 'likely'), ('the boss', 'unknown')]
    """
    return tuple(_Reader(text, names).read())


class _Reader:
    """One pass over the words of a text."""

    def __init__(self, text: str, names: tuple[tuple[int, str], ...]) -> None:
        self.text = text = text[:MAX_TEXT]
        self.names = names
        self.words: list[Token] = tokens(text)
        self.found: list[Reference] = []

    def read(self) -> list[Reference]:
        known, read_to = _telling_words(), 0
        words = [word for word, _, _ in self.words]
        for at, (word, following) in enumerate(zip(words, [*words, ""][1:], strict=True)):
            if at >= read_to and (word in known or following == "'s"):
                read_to = self._read_at(at)
        return self.found

    def word(self, at: int) -> str:
        """The word at this place, "" outside of the text."""
        return self.words[at][0] if 0 <= at < len(self.words) else ""

    def joined(self, at: int) -> bool:
        """Whether only white space stands between this word and the one before it."""
        return 0 < at < len(self.words) and not self.text[self.words[at - 1][2] : self.words[at][1]].strip()

    def _read_at(self, at: int) -> int:
        word = self.word(at)
        if word in ("my", "our"):
            return self._mine(at)
        if word in _PRONOUNS:
            return self._pronoun(at)
        if word in _GENERIC:
            chain = self._chain(at + 1)
            return chain.end if chain else at + 1
        if word == "the":
            chain = self._chain(at + 1)
            if chain and self.word(chain.end) != "of":
                self._add(at, chain, "likely", frozenset({""}))
                return chain.end
            if chain or self.word(at + 1) not in PEOPLE:
                return at + 1
            return self._unknown(at, at + 2)
        return self._bare(at)

    def _mine(self, at: int) -> int:
        chain = self._chain(at + 1)
        if chain is None:
            return self._somebody(at)
        start = at
        while self.word(start - 1) == "of" and self.joined(start):  # "the mother of my wife"
            size = next((n for n in (3, 2, 1) if (known := self._term(start - 1 - n)) and known[1] == n), 0)
            known = self._term(start - 1 - size) if size else None
            if known is None or too_many_readings((*chain.terms, known[0])):
                break
            chain = chain.followed_by(known[0])
            start -= 1 + size
            start -= self.word(start - 1) == "the"
        is_chosen = self.word(chain.start) in CHOSEN
        self._add(start, chain, "likely" if is_chosen else "certain", frozenset({""}))
        return chain.end

    def _term(self, at: int) -> tuple[Term, int] | None:
        return term_at(self.text, self.words, at) if at >= 0 else None

    def _chain(self, at: int) -> _Chain | None:
        """The terms from this word on ("late", "grandpa", "'s", "sister"), joined by white space and possessives."""
        chain: _Chain | None = None
        while at < len(self.words) and self.joined(at):
            first, qualified = at, False
            known = self._known(at)
            while known is None and self.joined(at + 1) and (self.word(at) in QUALIFIERS or (chain is None and self.word(at) in CHOSEN)):
                at, qualified = at + 1, True
                known = self._known(at)
            if known is None:
                return chain
            term, size, is_plural = known
            if chain and too_many_readings((*chain.terms, term)):
                return chain
            at += size
            chain = _Chain(
                (*chain.terms, term) if chain else (term,),
                at,
                is_plural or bool(chain and chain.is_group),
                qualified or bool(chain and chain.is_qualified),
                chain.start if chain else first,
            )
            if self.word(at) == "'s":
                at += 1
            elif not is_plural:
                return chain
        return chain

    def _known(self, at: int) -> tuple[Term, int, bool] | None:
        """The term at this word, its number of words, and whether it is a plural (or a possessive without its apostrophe)."""
        known = self._term(at)
        if known is not None:
            return (*known, False)
        word = self.word(at)
        single = _PLURALS.get(word, word[:-1] if word.endswith("s") and len(word) > 3 else "")
        term = _single_terms().get(single)
        return (term, 1, single not in _ALWAYS_ONE) if term else None

    def _pronoun(self, at: int) -> int:
        word = self.word(at)
        place = self.words[at][1]
        spoken_of = [r for r in self.found[-20:] if r.paths and r.end <= place and _fits(_PRONOUNS[word], r)]
        starts = {path for reference in spoken_of for path in reference.paths} | {(name, ()) for at_, name in self.names if at_ < place}
        chain = self._chain(at + 1) if word in ("his", "her", "their") else None
        if not starts:
            return self._unknown(at, chain.end if chain else at + 1)
        if chain:
            self._add(at, chain, "likely", frozenset(), frozenset(starts))
            return chain.end
        return at + 1

    def _bare(self, at: int) -> int:
        """A relative without "my" (Mom, dad's, "and father"), or somebody whom nobody knows (the boss's, Zoe's)."""
        chain = self._chain_from(at)
        if chain:
            owner = self.word(chain.end) == "'s"
            after = self.word(chain.end + 1) if owner else ""
            first = chain.terms[0].text.lower().split(" ")[0]
            capital = self.text[self.words[at][1]].isupper()
            coordinated = self.word(at - 1) in ("and", "or") and any(r.end == self.words[at - 2][2] for r in self.found[-3:])
            if after not in ("day", "days") and (
                owner or first in ADDRESSED or (first in ADDRESSED_IN_CAPITALS and capital) or coordinated
            ):
                is_title = not after or self.text[self.words[chain.end + 1][1]].isupper()  # "Dad's Army"
                self._add(at, chain, "certain" if first in ADDRESSED and owner and not is_title else "likely", frozenset({""}))
            return chain.end
        word = self.word(at)
        is_owned = self.word(at + 1) == "'s" and word not in _CONTRACTED
        is_name = is_owned and self.text[self.words[at][1]].isupper() and all(name.lower() != word for _, name in self.names)
        if is_name or (word in PEOPLE and is_owned):
            return self._unknown(at, at + 2)
        return at + 1

    def _chain_from(self, at: int) -> _Chain | None:
        known = self._known(at)
        if known is None:
            return None
        term, size, is_plural = known
        chain = _Chain((term,), at + size, is_plural, False, at)
        if self.word(at + size) == "'s":
            further = self._chain(at + size + 1)
            if further and not too_many_readings((term, *further.terms)):
                return _Chain((term, *further.terms), further.end, is_plural or further.is_group, further.is_qualified, at)
        return chain

    def _somebody(self, at: int) -> int:
        """After "my": a person of no family relation, an owner whose words are not known ("my old flame's"), or a slip of the pen."""
        for size in range(1, 5):
            if not self.joined(at + size):
                return at + 1
            word = self.word(at + size)
            if word in _NOT_IN_A_NAME:
                return at + 1
            if word in PEOPLE:
                return self._unknown(at, at + size + 1)
            if self.word(at + size + 1) == "'s":
                term = _nearly(word)
                if term and size == 1:
                    self._add(at, _Chain((term,), at + 2, False, True, at + 1), "likely", frozenset({""}))
                    return at + 2
                return self._unknown(at, at + size + 1)
        return at + 1

    def _unknown(self, at: int, end: int) -> int:
        start, stop = self.words[at][1], self.words[end - 1][2]
        self.found.append(Reference(start, stop, self.text[start:stop], "unknown"))
        return end

    def _add(
        self, at: int, chain: _Chain, certainty: Certainty, bases: frozenset[str], starts: frozenset[tuple[str, Relations]] = frozenset()
    ) -> None:
        begun = starts or frozenset((base, ()) for base in bases)
        readings = readings_of(chain.terms)
        start, stop = self.words[at][1], self.words[chain.end - 1][2]
        following = self.word(chain.end)
        is_owner = following == "'s" or self.text[stop : stop + 1] in ("'", "’")
        before = self.word(at - 1)
        takes_part = not is_owner and (before in _TAKES_PART or (before == "and" and self.word(at - 2) in ("me", "i", "myself", "us")))
        if before in ("just", "both", "also", "only"):
            takes_part = not is_owner and self.word(at - 2) in _TAKES_PART
        paths = frozenset([(base, (*begin, *reading)) for base, begin in begun for reading in readings])
        self.found.append(
            Reference(start, stop, self.text[start:stop], certainty, paths, chain.is_group, chain.is_qualified, is_owner, takes_part)
        )


class _Chain(NamedTuple):
    """Terms that follow each other, and the number of the first word behind them."""

    terms: tuple[Term, ...]
    end: int
    is_group: bool
    is_qualified: bool
    start: int

    def followed_by(self, term: Term) -> _Chain:
        return _Chain((*self.terms, term), self.end, self.is_group, self.is_qualified, self.start)


def _fits(gender: str, reference: Reference) -> bool:
    lasts = {path[1][-1] for path in reference.paths if path[1]}
    other = {"m": _FEMALE, "f": _MALE}.get(gender, frozenset())
    return not lasts or not lasts <= other


@lru_cache(maxsize=1)
def _telling_words() -> frozenset[str]:
    """Words at which a reference can begin; at others nothing is looked for."""
    firsts = {term.text.lower().split(" ")[0] for term in terms()}
    return frozenset({"my", "our", "the", *_PRONOUNS, *_GENERIC, *_PLURALS, *PEOPLE, *firsts, *(first + "s" for first in firsts)})


@lru_cache(maxsize=1)
def _single_terms() -> dict[str, Term]:
    return {term.text.lower(): term for term in terms() if " " not in term.text}


@lru_cache(maxsize=1024)
def _nearly(word: str) -> Term | None:
    """The term of which a word is one slip away (a letter missing, doubled, wrong, or two exchanged); None if it is unclear."""
    if len(word) < 5:
        return None
    near = [term for text, term in _single_terms().items() if len(text) > 4 and _one_slip(word, text)]
    return near[0] if near and len({term.readings for term in near}) == 1 else None


def _one_slip(first: str, second: str) -> bool:
    if abs(len(first) - len(second)) > 1 or first == second:
        return False
    same = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second)))
    rest, other = first[same:], second[same:]
    exchanged = rest[:2] == other[1::-1] and rest[2:] == other[2:] if len(rest) > 1 and len(other) > 1 else False
    return rest[1:] == other or rest == other[1:] or rest[1:] == other[1:] or exchanged
