"""Answers that are kept for the next sample never stand for a document or a path that is only nearly the same."""

from __future__ import annotations

import pytest

from familytool.graph import KnowledgeGraph
from familytool.model import Json, Triple
from familytool.runs import sample_of
from familytool.validation.chains import path_of
from familytool.validation.grounding import find_words, is_stated, stated_values
from familytool.validation.people import find_people


def row(*documents: dict[str, Json]) -> dict[str, Json]:
    return {
        "id": "a", "benchmark": "b", "kind": "no_tool", "speaker": "", "query": "", "graph_id": "", "candidate_tools": list(documents),
    }  # fmt: skip


def document(**schema: Json) -> dict[str, Json]:
    return {"name": "pay", "description": "Pays.", "parameters": {"type": "object", "properties": {"sum": schema}}}


def test_equal_documents_of_different_rows_are_one_object() -> None:
    first, second = (sample_of(row(document(type="integer", default=1))).candidate_tools[0] for _ in range(2))
    assert first is second


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(document(enum=[1]), document(enum=[True]), id="a number and a truth value"),
        pytest.param(document(default=1), document(default=1.0), id="a whole number and one with a point"),
        pytest.param(document(default=0.0), document(default=-0.0), id="the sign of nothing"),
        pytest.param(document(type="string", default="a"), document(default="a", type="string"), id="the order of keys"),
        pytest.param(document(default="\ud800"), document(default="\udfff"), id="halves of surrogate pairs"),
        pytest.param(document(default=10**30), document(default=10**30 + 1), id="long numbers"),
    ],
)
def test_documents_that_are_nearly_equal_stay_two(first: dict[str, Json], second: dict[str, Json]) -> None:
    read = [sample_of(row(value)).candidate_tools[0] for value in (first, second)]
    assert [repr(tool.parameters) for tool in read] == [repr(value["parameters"]) for value in (first, second)]
    assert read[0] is not read[1]


@pytest.mark.parametrize(
    ("wanted", "text", "span"),
    [
        ("dentist", "two dentists", (4, 12)),
        ("dentists", "a dentist", (2, 9)),
        ("boxes", "a box", (2, 5)),
        ("match", "all matches", (4, 11)),
        ("bus stop", "the bus-stops here", (4, 13)),
        ("glass", "my glas", (3, 7)),
        ("guide", "a guideline", None),
        ("ties", "a tie", (2, 5)),
        ("Straße", "in the STRASSES", (7, 15)),
    ],
)
def test_a_word_is_stated_by_its_plural_and_its_singular(wanted: str, text: str, span: tuple[int, int] | None) -> None:
    assert is_stated(wanted, text, [], True) == span
    assert find_words(wanted, text) is None


@pytest.mark.parametrize("text", ["", " ", "?!", "12", "'s", "my"], ids=repr)
def test_a_text_without_words_speaks_of_nobody(text: str) -> None:
    assert not [person for person in find_people(text) if person.paths]


def test_a_path_is_that_of_its_own_start_and_relations() -> None:
    paths = [path_of(start, relations) for start in ("Al", "Bo") for relations in ((), ("son",), ("son", "son"))]
    assert [(path.start, path.relations) for path in paths] == [(s, r) for s in ("Al", "Bo") for r in ((), ("son",), ("son", "son"))]


def test_a_graph_knows_heads_and_tails_and_no_relations() -> None:
    graph = KnowledgeGraph([Triple(head="Al", relation="son", tail="Bo")])
    assert [graph.knows(name) for name in ("Al", "Bo", "son", "")] == [True, True, False, False]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("on 3 sept, not 4 ſept", ["-09-03", "-09-04"]),
        ("on the sixth of May, not the ſıxth of May", ["-05-06", "-05-06"]),
        ("twenty-six or TWENTY-SİX", ["26", "26"]),
        ("two million or two mıllıon", ["2000000", "2000000"]),
        ("six o'clocK or sıx o'clock", ["06:00", "06:00"]),
    ],
)
def test_letters_that_are_an_ascii_letter_but_for_case_are_read_as_it(text: str, values: list[str]) -> None:
    assert [item.value for item in stated_values(text)] == values
