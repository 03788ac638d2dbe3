from functools import lru_cache
from itertools import pairwise, permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from familytool.generation.families import kinship_triples, load_specification, seeded_people
from familytool.graph import KnowledgeGraph
from familytool.kinship import INVERSES, KIN_RELATIONS, Kin, KinPhrase, find_mentions, terms
from familytool.model import RelationPath, Triple

FAMILIES = [(size, seed) for size in (2, 3, 5, 8, 12, 16) for seed in range(6)]
FRAMES = ["{}", "Ask {} now.", "Where does {} live?", "It is {}'s turn, and mine.", "({})"]


@lru_cache(maxsize=64)
def family(size: int, seed: int) -> Kin:
    return Kin(KnowledgeGraph(kinship_triples(seeded_people(size, f"kinship-{seed}"))))


@lru_cache(maxsize=2)
def specified(name: str) -> Kin:
    return Kin(KnowledgeGraph(kinship_triples(load_specification(name))))


def walk(facts: set[tuple[str, str, str]], start: str, relations: tuple[str, ...]) -> set[str]:
    """Whom a path gives, by a walk over the plain facts."""
    reached = {start}
    for relation in relations:
        reached = {tail for head, name, tail in facts if head in reached and name == relation}
    return reached


def facts_of(kin: Kin) -> set[tuple[str, str, str]]:
    return {(t.head, t.relation, t.tail) for t in kin.graph}


def spoken(kin: Kin, limit: int = 400) -> list[tuple[str, str, KinPhrase]]:
    """(speaker, person, phrase) of a family, at most so many, spread evenly."""
    found = [(a, b, phrase) for a, b in permutations(kin.people, 2) for phrase in kin.phrases(a, b)]
    return found[:: max(1, len(found) // limit)]


@pytest.mark.parametrize(("size", "seed"), FAMILIES)
def test_every_phrase_read_back_names_exactly_the_person_it_was_made_for(size: int, seed: int) -> None:
    kin = family(size, seed)
    facts = facts_of(kin)
    for speaker, person, phrase in spoken(kin):
        [mention] = find_mentions(phrase.text)
        assert mention.text == phrase.text
        meant = set().union(*(walk(facts, speaker, reading) for reading in mention.readings))
        assert meant == {person}, (speaker, phrase.text)


@pytest.mark.parametrize(("size", "seed"), FAMILIES)
def test_a_phrase_stands_for_one_golden_path_and_no_reading_leads_back_to_the_speaker(size: int, seed: int) -> None:
    kin = family(size, seed)
    facts = facts_of(kin)
    for speaker, person, phrase in spoken(kin):
        assert phrase.relations in find_mentions(phrase.text)[0].readings
        assert kin.graph.follow(RelationPath(start=speaker, relations=phrase.relations)) == (person,)
        for reading in find_mentions(phrase.text)[0].readings:
            assert speaker not in walk(facts, speaker, reading), (speaker, phrase.text)


@pytest.mark.parametrize(("size", "seed"), FAMILIES)
def test_a_phrase_takes_the_shortest_way(size: int, seed: int) -> None:
    kin = family(size, seed)
    for speaker, person, phrase in spoken(kin):
        shorter = [paths[0] for other, paths in kin.shortest_paths(speaker).items() if other == person]
        assert len(phrase.relations) == len(shorter[0]) <= 3


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(2, 14), st.integers(0, 10**6), st.sampled_from(FRAMES), st.data())
def test_a_phrase_inside_a_sentence_is_found_with_its_span(size: int, seed: int, frame: str, data: st.DataObject) -> None:
    kin = Kin(KnowledgeGraph(kinship_triples(seeded_people(size, f"h{seed}"))))
    speaker = data.draw(st.sampled_from(kin.people))
    offered = [p for person in kin.people if person != speaker for p in kin.phrases(speaker, person)]
    usable = [p for p in offered if p.takes_possessive or "{}'s" not in frame]
    if not usable:
        return
    phrase = data.draw(st.sampled_from(usable))
    text = frame.format(phrase.text)
    [mention] = find_mentions(text)
    assert text[mention.start : mention.end] == phrase.text
    assert mention.terms == phrase.terms


@pytest.mark.parametrize(("size", "seed"), FAMILIES)
def test_a_word_that_fits_two_people_is_never_offered(size: int, seed: int) -> None:
    kin = family(size, seed)
    facts = facts_of(kin)
    for speaker in kin.people:
        said = {p.text for person in kin.people if person != speaker for p in kin.phrases(speaker, person)}
        for term in terms():
            if len(set().union(*(walk(facts, speaker, reading) for reading in term.readings))) > 1:
                assert f"my {term.text}" not in said


def test_two_grandmothers_are_told_apart_by_their_side_alone() -> None:
    kin = specified("extended")
    maternal = {p.text for p in kin.phrases("Bob", "Margaret")}
    paternal = {p.text for p in kin.phrases("Bob", "Elizabeth")}
    assert {"my grandma on Mum's side", "my grandma on my mother's side", "my maternal grandmother", "my mum's mum"} <= maternal
    assert {"my grandma on Dad's side", "my paternal grandma", "my dad's mother"} <= paternal
    assert not {"my grandma", "my grandmother", "my gran", "my nana"} & (maternal | paternal)
    assert not maternal & paternal


def test_the_only_grandmother_needs_no_side() -> None:
    people = [
        Triple(head="Bob", relation="mother", tail="Alice"),
        Triple(head="Alice", relation="mother", tail="Margaret"),
        Triple(head="Margaret", relation="daughter", tail="Alice"),
        Triple(head="Alice", relation="son", tail="Bob"),
    ]
    said = {p.text for p in Kin(KnowledgeGraph(people)).phrases("Bob", "Margaret")}
    assert {"my grandma", "my mum's mother", "my grandma on Mum's side"} <= said
    assert "my grandma on Dad's side" not in said


def test_a_phrase_with_a_side_is_not_used_as_an_owner() -> None:
    phrases = specified("extended").phrases("Bob", "Margaret")
    sided = [p for p in phrases if " on " in p.text]
    assert sided
    assert not any(p.takes_possessive for p in sided)


def test_the_owner_of_a_fact_is_the_phrase_with_a_possessive() -> None:
    [phrase] = [p for p in specified("paper").phrases("Bob", "Alice") if p.text == "my mum"]
    assert phrase.possessive == "my mum's"


def test_equal_graphs_give_equal_phrases_in_equal_order() -> None:
    first, second = (Kin(KnowledgeGraph(kinship_triples(seeded_people(9, "same")))) for _ in range(2))
    pairs = list(permutations(first.people, 2))
    assert [first.phrases(a, b) for a, b in pairs] == [second.phrases(a, b) for a, b in pairs]


def test_inverses_lead_between_known_relations_and_back() -> None:
    for relation, inverses in INVERSES.items():
        assert set(inverses) <= KIN_RELATIONS
        for inverse in inverses:
            assert relation in INVERSES[inverse], (relation, inverse)


MENTIONS = {
    "plain": ("Call my mum.", ["my mum"]),
    "chain": ("Book my wife's brother's daughter a seat.", ["my wife's brother's daughter"]),
    "curly apostrophe": ("Ask my mum’s sister.", ["my mum’s sister"]),
    "capital": ("My mum lives here.", ["My mum"]),
    "two people": ("Send my dad's address to my kid.", ["my dad", "my kid"]),
    "longest term wins": ("my grandma on Mum's side likes tea", ["my grandma on Mum's side"]),
    "a fact ends the chain": ("Go to my father-in-law's dentist.", ["my father-in-law"]),
    "our": ("our daughter", ["our daughter"]),
    "no kinship": ("Book my favourite table.", []),
    "another word between": ("my dear mother", []),
    "punctuation between": ("That is my, mother said, house.", []),
    "inside a word": ("my motherland", []),
    "nothing": ("", []),
}


@pytest.mark.parametrize(("text", "expected"), MENTIONS.values(), ids=MENTIONS.keys())
def test_people_named_by_kinship_are_found_in_a_text(text: str, expected: list[str]) -> None:
    assert [m.text for m in find_mentions(text)] == expected


@settings(max_examples=200)
@given(st.text(alphabet=st.sampled_from("my mother's son ’'-,. our grandma on side\n"), max_size=80))
def test_no_text_breaks_the_reader_and_spans_never_overlap(text: str) -> None:
    mentions = find_mentions(text)
    assert all(text[m.start : m.end] == m.text and m.readings for m in mentions)
    assert all(a.end <= b.start for a, b in pairwise(mentions))


UNDERSTOOD: dict[str, set[tuple[str, ...]]] = {
    "my mommy": {("mother",)},
    "my daddy": {("father",)},
    "my gramps": {("mother", "father"), ("father", "father")},
    "my nan": {("mother", "mother"), ("father", "mother")},
    "my maternal granny": {("mother", "mother")},
    "my paternal granddad": {("father", "father")},
    "my mother in law": {("husband", "mother"), ("wife", "mother")},
    "my dad-in-law": {("husband", "father"), ("wife", "father")},
    "my step mother": {("stepmother",)},
    "my step-dad": {("stepfather",)},
    "my half-brother": {("brother",)},
    "my twin": {("brother",), ("sister",)},
    "my great grandmother": {(a, b, "mother") for a in ("mother", "father") for b in ("mother", "father")},
    "my paternal uncle": {("father", "brother"), ("father", "sister", "husband")},
    "my grandma on my mom's side": {("mother", "mother")},
    "my grandpa from the paternal side": {("father", "father")},
    "my significant other": {("husband",), ("wife",)},
    "my school teacher": {("teacher",)},
}


@pytest.mark.parametrize(("text", "readings"), UNDERSTOOD.items(), ids=UNDERSTOOD.keys())
def test_words_of_other_people_are_understood(text: str, readings: set[tuple[str, ...]]) -> None:
    [mention] = find_mentions(f"Call {text} now.")
    assert (mention.text, set(mention.readings)) == (text, readings)


@pytest.mark.parametrize(("size", "seed"), FAMILIES[::5])
def test_words_that_are_only_understood_are_never_spoken(size: int, seed: int) -> None:
    kin = family(size, seed)
    said = {term for a, b in permutations(kin.people, 2) for phrase in kin.phrases(a, b) for term in phrase.terms}
    understood_only = {term.removeprefix("my ") for term in UNDERSTOOD} | {"old man", "parent", "sibling", "mate"}
    assert not said & understood_only


@pytest.mark.parametrize("word", ["kid", "cousin", "brother-in-law"])
def test_a_chain_of_ambiguous_words_stays_small(word: str) -> None:
    [mention] = find_mentions("my " + f"{word}'s " * 2000)
    assert len(mention.readings) <= 512


def test_a_family_of_many_friends_is_followed_person_by_person() -> None:
    people = [f"P{n}" for n in range(60)]
    kin = Kin(KnowledgeGraph([Triple(head=a, relation="friend", tail=b) for a in people for b in people]))
    assert kin.persons("P0", frozenset({("friend",) * 8})) == tuple(sorted(people))
