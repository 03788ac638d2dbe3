import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.kinship import find_mentions
from familytool.validation.people import Reference, find_people

READ = {
    "my": ("Book my mother's table", ["my mother"]),
    "curly apostrophe": ("my wife’s usual", ["my wife"]),
    "our": ("for our son", ["our son"]),
    "chain": ("my son's father's father", ["my son's father's father"]),
    "side": ("my grandma on my mother's side likes it", ["my grandma on my mother's side"]),
    "paternal": ("my paternal grandfather's home", ["my paternal grandfather"]),
    "in-law": ("near my mother in law's", ["my mother in law"]),
    "an adjective": ("where my late grandpa went", ["my late grandpa"]),
    "an adjective inside": ("my wife's older sister's", ["my wife's older sister"]),
    "no apostrophe": ("my moms favourite", ["my moms"]),
    "several": ("my kids' school", ["my kids"]),
    "of": ("the mother of my wife", ["the mother of my wife"]),
    "of of": ("the dentist of the wife of my son", ["the wife of my son"]),
    "called so": ("Book it for Mom", ["Mom"]),
    "called so, and owns": ("from mom's dentist to Dad’s", ["mom", "Dad"]),
    "in capitals only": ("ask Mother, not a mother", ["Mother"]),
    "an owner without my": ("to son's preferred city", ["son"]),
    "a pair": ("my mom and dad", ["my mom", "dad"]),
    "the": ("at the wife's place", ["the wife"]),
    "his": ("my son and his teacher", ["my son", "his teacher"]),
    "her, who": ("at her husband's place", ["her husband"]),
    "somebody": ("at my boss's place", ["my boss"]),
    "somebody by name": ("at Zoe's", ["Zoe's"]),
    "a slip of the pen": ("my mohter's choice", ["my mohter"]),
    "a feast": ("a table for Mother's Day", []),
    "any mother": ("a mother's love", []),
    "your": ("your mother's", []),
    "no person": ("my favourite restaurant's phone", ["my favourite restaurant"]),
    "a comma between": ("my, mother said", []),
    "a short form": ("it's what's there", []),
    "nothing": ("", []),
}


@pytest.mark.parametrize(("text", "expected"), READ.values(), ids=READ.keys())
def test_people_are_read_from_what_others_write(text: str, expected: list[str]) -> None:
    found = [r.text.removesuffix("'s").removesuffix("’s") if r.text not in ("Zoe's",) else r.text for r in find_people(text)]
    assert found == expected


MEANT = {
    "mother": ("my mommy", {("mother",)}),
    "either parent": ("my parents'", {("mother",), ("father",)}),
    "grandfather": ("my gramps", {("mother", "father"), ("father", "father")}),
    "paternal": ("my paternal grandfather", {("father", "father")}),
    "side": ("my gran from my dad's side", {("father", "mother")}),
    "of": ("the brother of my dad", {("father", "brother")}),
    "his": ("my brother or his wife", {("brother",), ("brother", "wife")}),
    "his, not hers": ("my sister, my dad, and his son", {("sister",), ("father",), ("father", "son")}),
    "great-aunt": ("my maternal aunt", {("mother", "sister"), ("mother", "brother", "wife")}),
    "slip": ("my grandmothr's", {("mother", "mother"), ("father", "mother")}),
    "unknown": ("my neighbour", set()),
}


@pytest.mark.parametrize(("text", "expected"), MEANT.values(), ids=MEANT.keys())
def test_a_reference_means_all_that_its_words_can_mean(text: str, expected: set[tuple[str, ...]]) -> None:
    assert {relations for r in find_people(text) for start, relations in r.paths if not start} == expected


def test_what_is_said_without_my_is_only_likely_and_what_nobody_knows_is_unknown() -> None:
    text = "Mom, my dad, the wife, my best friend, my boss, his son, mom's dentist, Dad's Army"
    assert [r.certainty for r in find_people(text)] == [
        "likely", "certain", "likely", "likely", "unknown", "likely", "certain", "likely",
    ]  # fmt: skip


def test_a_relative_who_takes_part_is_told_from_one_whose_fact_is_asked() -> None:
    assert [r.takes_part for r in find_people("For my son, with my wife, me and my dad, just for my mum: at my aunt, for my uncle's")] == [
        True, True, True, True, False, False,
    ]  # fmt: skip


def test_a_pronoun_after_a_name_starts_at_that_person() -> None:
    [reference] = find_people("Tell Tim that his teacher called", ((5, "Tim"),))
    assert reference.paths == {("Tim", ("teacher",))}


@pytest.mark.parametrize("word", ["kid", "cousin", "brother-in-law", "grandma"])
def test_a_chain_without_end_stays_small(word: str) -> None:
    text = "my " + f"{word}'s " * 3000 + "house"
    for found in (find_people(text), find_mentions(text)):
        assert all(len(r.paths if isinstance(r, Reference) else r.readings) <= 512 for r in found)


WORDS = [
    "my",
    "our",
    "the",
    "his",
    "her",
    "Mom",
    "dad's",
    "son",
    "wife's",
    "of",
    "and",
    "for",
    "with",
    "old",
    "best",
    "grandma",
    "on",
    "side",
    ",",
    ".",
    "’s",
    "'",
    "s",
    "Zoe's",
    "boss",
]


def spans_are_in_order(words: list[str], joint: str) -> None:
    text = joint.join(words)
    found = find_people(text)
    assert all(text[r.start : r.end] == r.text for r in found)
    assert all((r.certainty == "unknown") == (not r.paths) for r in found)
    certain = {(r.start, r.end) for r in found if r.certainty == "certain"}
    assert all(any(start <= m.start and m.end <= end for start, end in certain) for m in find_mentions(text))


TEXTS = st.lists(st.sampled_from(WORDS), max_size=25)


@settings(max_examples=100)
@given(TEXTS, st.sampled_from([" ", "  ", "\n", " "]))
def test_no_text_breaks_the_reader_and_it_reads_all_that_our_own_writer_says(words: list[str], joint: str) -> None:
    spans_are_in_order(words, joint)


@pytest.mark.soak
@settings(max_examples=2000)
@given(TEXTS, st.sampled_from([" ", "  ", "\n", " "]))
def test_no_text_breaks_the_reader_soak(words: list[str], joint: str) -> None:
    spans_are_in_order(words, joint)
