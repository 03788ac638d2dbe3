import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from familytool.catalogue import tables
from familytool.phrasing import (
    SPEAKER,
    Owner,
    Phrase,
    conjugate,
    fault,
    fill,
    join_spoken,
    ordinal,
    parse_template,
    say_fact,
    skeleton,
    spoken_forms,
)
from familytool.validation.grounding import is_stated, stated_values

BROKEN = {
    "nested segment": "Play {a}[ by {b}[ on {c}]].",
    "segment never closed": "Play {a}[ by {b}.",
    "segment never opened": "Play {a} by {b}].",
    "segment without a slot": "Play {a}[ please].",
    "slot never closed": "Play {a",
    "slot never opened": "Play a}.",
    "slot opened twice": "Play {{a}}.",
    "empty slot": "Play {}.",
}


@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN.keys())
def test_an_unbalanced_sentence_is_an_error_that_quotes_it(source: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_template(source)
    assert source in str(caught.value)


def test_slots_and_segments_are_told_apart() -> None:
    template = parse_template("Fly {who} to {where}[ on {day}][, from {start} at {time}].")
    assert template.slots == ("who", "where")
    assert template.segments == (("day",), ("start", "time"))


SPOKEN = {
    "no segment": ((), "Fly Ann to Rome."),
    "first": ((0,), "Fly Ann to Rome on Monday."),
    "second": ((1,), "Fly Ann to Rome, from Oslo."),
    "both": ((0, 1), "Fly Ann to Rome on Monday, from Oslo."),
}


@pytest.mark.parametrize(("segments", "expected"), SPOKEN.values(), ids=SPOKEN.keys())
@pytest.mark.parametrize(
    "source",
    ["fly {who} to {where}[ on {day}][, from {start}].", "fly {who} to {where} [ on {day}] [, from {start}]."],
    ids=["tight", "loose"],
)
def test_segments_leave_no_double_space_and_no_space_before_a_comma(source: str, segments: tuple[int, ...], expected: str) -> None:
    phrases = {"who": Phrase("Ann"), "where": Phrase("Rome"), "day": Phrase("Monday"), "start": Phrase("Oslo")}
    text, spans = fill(parse_template(source), segments, phrases)
    assert text == expected
    assert fault(text) == ""
    assert all(text[start:end] == phrases[name].core for name, (start, end) in spans.items())


def test_only_the_core_of_a_wrapped_phrase_is_in_the_span() -> None:
    text, spans = fill(parse_template("pay from {account}."), (), {"account": Phrase("123", "account {} please")})
    assert text == "Pay from account 123 please."
    assert text[slice(*spans["account"])] == "123"


def test_a_sentence_that_starts_with_a_slot_starts_with_a_capital() -> None:
    text, spans = fill(parse_template("{what} is wanted"), (), {"what": Phrase("my mum's favourite song")})
    assert text == "My mum's favourite song is wanted"
    assert spans["what"] == (0, len("my mum's favourite song"))


ARTICLES = {
    "a before a consonant": ("Book a {x}.", "table", "Book a table."),
    "an before a vowel": ("Book a {x}.", "evening class", "Book an evening class."),
    "an turned back": ("Book an {x}.", "table", "Book a table."),
    "capital": ("A {x} is wanted.", "orange cake", "An orange cake is wanted."),
    "no article": ("Book Anna {x}.", "apples", "Book Anna apples."),
    "end of a longer word": ("See visa {x}.", "options", "See visa options."),
}


@pytest.mark.parametrize(("source", "value", "expected"), ARTICLES.values(), ids=ARTICLES.keys())
def test_the_article_fits_the_word_behind_it(source: str, value: str, expected: str) -> None:
    text, spans = fill(parse_template(source), (), {"x": Phrase(value)})
    assert text == expected
    assert text[slice(*spans["x"])] == value


VERBS = {
    "be": ("am", "is"), "have": ("have", "has"), "go": ("go", "goes"), "watch": ("watch", "watches"), "carry": ("carry", "carries"),
    "play": ("play", "plays"), "buy": ("buy", "buys"), "like": ("like", "likes"), "wash": ("wash", "washes"), "miss": ("miss", "misses"),
    "fix": ("fix", "fixes"), "pay": ("pay", "pays"), "use": ("use", "uses"), "rely": ("rely", "relies"),
}  # fmt: skip


@pytest.mark.parametrize(("verb", "forms"), VERBS.items(), ids=VERBS.keys())
def test_a_verb_agrees_with_its_person(verb: str, forms: tuple[str, str]) -> None:
    assert (conjugate(verb, True), conjugate(verb, False)) == forms


MUM, SIDE = Owner("my mum"), Owner("my grandma on Mum's side", takes_possessive=False)
FACTS = {
    "speaker owns": ("P's favourite hotel", SPEAKER, "my favourite hotel"),
    "speaker does": ("the bank P be~ a customer of", SPEAKER, "the bank I am a customer of"),
    "other owns": ("P's favourite hotel", MUM, "my mum's favourite hotel"),
    "other does": ("the shop P usually go~ to", MUM, "the shop my mum usually goes to"),
    "no possessive": ("P's favourite hotel", SIDE, None),
    "way out": ("the hotel P like~ best", SIDE, "the hotel my grandma on Mum's side likes best"),
}


@pytest.mark.parametrize(("wording", "owner", "expected"), FACTS.values(), ids=FACTS.keys())
def test_a_fact_is_said_for_its_owner(wording: str, owner: Owner, expected: str | None) -> None:
    assert say_fact(wording, owner) == expected


@pytest.mark.parametrize("owner", [SPEAKER, MUM, Owner("my wife's brother"), SIDE], ids=lambda o: o.subject)
def test_no_wording_of_the_catalogue_leaves_a_fault(owner: Owner) -> None:
    for concept in tables.concepts():
        said = [text for wording in concept.wordings if (text := say_fact(wording, owner))]
        assert said, concept.relation
        for text in said:
            assert fault(text) == ""
            assert "~" not in text
            assert " P " not in f" {text} "
            assert concept.relation not in text or "_" not in concept.relation


DATES = st.dates(datetime.date(2000, 1, 1), datetime.date(2099, 12, 31))
TIMES = st.times().map(lambda t: f"{t.hour:02d}:{t.minute:02d}")
FRAMES = ["{}", "Book it on {}, please.", "For two people: {}.", "It is {} or never."]


@given(DATES, st.sampled_from(FRAMES))
def test_every_spoken_form_of_a_date_is_read_back_as_the_same_day(day: datetime.date, frame: str) -> None:
    for form in spoken_forms(day.isoformat(), "date"):
        dates = [s for s in stated_values(frame.format(form)) if s.kind == "date"]
        assert [(s.value, s.complete) for s in dates] == [(day.isoformat(), True)], form


def test_every_spoken_form_of_every_minute_is_read_back_as_the_same_time() -> None:
    for value in (f"{hour:02d}:{minute:02d}" for hour in range(24) for minute in range(60)):
        for form in spoken_forms(value, "time"):
            assert [(s.kind, s.value, s.complete) for s in stated_values(f"wake me at {form}, please")] == [("time", value, True)], form


@pytest.mark.parametrize("kind", ["count", "rating"])
def test_every_spoken_form_of_a_small_number_is_read_back_as_the_same_number(kind: str) -> None:
    for number in range(1, 200):
        for form in spoken_forms(str(number), kind):
            assert [(s.kind, s.value) for s in stated_values(f"for {form} people")] == [("number", str(number))]


@given(DATES, TIMES, st.integers(1, 12), st.data())
def test_a_day_a_time_and_a_number_in_one_sentence_do_not_disturb_each_other(
    day: datetime.date, time: str, number: int, data: st.DataObject
) -> None:
    said = [
        data.draw(st.sampled_from(spoken_forms(value, kind)))
        for value, kind in ((str(number), "count"), (day.isoformat(), "date"), (time, "time"))
    ]
    text = "Book a table for {} on {} at {}, please.".format(*said)
    assert [s.value for s in stated_values(text)] == [str(number), day.isoformat(), time]
    assert fault(text) == ""


def test_verbatim_says_the_value_and_nothing_else() -> None:
    assert spoken_forms("2025-06-14", "date", verbatim=True) == ("2025-06-14",)


@pytest.mark.parametrize(
    "kind", ["birthday", "day_off", "wake_up_time", "dinner_time", "step_goal", "vehicle_year", "email", "phone_number"]
)
def test_every_value_of_a_table_is_found_in_a_sentence_that_states_it(kind: str) -> None:
    for value in tables.values(kind):
        for form in spoken_forms(value, kind):
            text = f"Note {form} for me."
            assert is_stated(value, text, stated_values(text)), form


LISTS = {"one": (["a"], "a"), "two": (["a", "b"], "a and b"), "three": (["a", "b", "c"], "a, b and c")}


@pytest.mark.parametrize(("items", "expected"), LISTS.values(), ids=LISTS.keys())
def test_a_list_is_said_with_commas_and_one_and(items: list[str], expected: str) -> None:
    assert join_spoken(items) == expected


def test_ordinals_end_as_they_are_spoken() -> None:
    said = " ".join(ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 30, 31))
    assert said == "1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 23rd 30th 31st"


FAULTS = {
    "double space": "Book  it.",
    "space before comma": "Book it , please.",
    "underscore": "Book prefer_hotel.",
    "slot left": "Book {hotel}.",
    "bracket left": "Book it[ now].",
    "two articles": "Book the my mum's hotel.",
    "double word": "Go to to town.",
    "double word across case": "The the hotel.",
    "two stops": "Book it..",
    "comma and stop": "Book it,.",
}
SOUND = ["Book my mum's favourite hotel, please.", "It's 7:30 pm; what now?", "An e-mail to x.y@example.org.", "Call +1 617 555 0105."]


@pytest.mark.parametrize("text", FAULTS.values(), ids=FAULTS.keys())
def test_a_leftover_in_a_sentence_is_a_fault(text: str) -> None:
    assert fault(text)


@pytest.mark.parametrize("text", SOUND)
def test_a_sound_sentence_has_no_fault(text: str) -> None:
    assert fault(text) == ""


def test_sentences_that_differ_in_masked_spans_and_numbers_alone_have_one_skeleton() -> None:
    first = skeleton("Book Rome for 2 at 7:30.", [(5, 9)])
    assert first == skeleton("Book Lisbon for 14 at 9:05.", [(5, 11)])
    assert first != skeleton("Cancel Rome for 2 at 7:30.", [(7, 11)])
