"""Goals for the wording of a whole set; what one sentence must satisfy stands in test_phrasing.py and in the intent check."""

import pytest

from familytool.phrasing import fault
from tests.language import Language, masked_spans, measure_language
from tests.made import Made


@pytest.fixture(scope="session", params=["home", pytest.param("paper", marks=pytest.mark.full)])
def language(request: pytest.FixtureRequest) -> Language:
    made = request.getfixturevalue(request.param)
    return measure_language(made.samples, {relation for graph in made.graphs.values() for relation in graph.relations})


def test_no_query_has_an_underscore_a_placeholder_or_another_leftover(made: Made) -> None:
    assert [(s.id, fault(s.query)) for s in made.samples if fault(s.query)] == []
    assert [s.id for s in made.samples if "_" in s.query] == []


def test_a_query_begins_with_a_capital_and_ends_as_a_sentence_does(made: Made) -> None:
    assert [s.query for s in made.samples if not s.query[0].isupper() and not s.query[0].isdigit()] == []
    assert [s.query for s in made.samples if s.query[-1] not in ".?!" or s.query != s.query.strip()] == []


def test_no_query_names_a_relation_as_the_graph_writes_it(made: Made) -> None:
    compound = {relation for graph in made.graphs.values() for relation in graph.relations if "_" in relation}
    assert [s.id for s in made.samples if any(relation in s.query for relation in compound)] == []


def test_queries_have_6_to_50_words(language: Language) -> None:
    assert language.shortest >= 6
    assert language.longest <= 50


def test_no_sentence_pattern_has_more_than_3_of_100_queries(language: Language) -> None:
    assert language.largest_skeleton_share <= 0.03, language.largest_skeleton


def test_queries_begin_in_at_least_60_ways(language: Language) -> None:
    assert language.openings >= 60


def test_at_least_40_of_100_kinship_words_are_everyday_words_and_no_relation_name(language: Language) -> None:
    assert language.kin_words >= 100
    assert language.everyday_kin_share >= 0.4


def test_equal_sentences_with_other_values_count_as_one_pattern(home: Made) -> None:
    sample = next(s for s in home.samples if s.hops == 2)
    double = measure_language([sample, sample.model_copy(update={"id": "x"})], [])
    assert (double.rows, double.largest_skeleton_share) == (2, 1.0)
    start, end = masked_spans(sample)[0]
    assert sample.query[start:end].lower() not in double.largest_skeleton
