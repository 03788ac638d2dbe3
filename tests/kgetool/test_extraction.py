"""Extraction of a sub-graph by relation paths, as the paper means it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from familytool.kgetool import extraction
from familytool.kgetool.extraction import Extracted, extract
from familytool.kgetool.facts import Facts
from familytool.kgetool.searches import Search, Searches, parse_searches

FAMILY = Facts(
    [
        ("Bob", "mother", "Alice"),
        ("Bob", "father", "Jack"),
        ("Alice", "prefer_city", "c1"),
        ("Alice", "prefer_city", "c2"),
        ("Alice", "prefer_food", "f1"),
        ("Jack", "prefer_city", "c3"),
        ("Jack", "wife", "Alice"),
        ("Alice", "son", "Bob"),
    ]
)
NEAR = {"mum": ["mother"], "favourite_town": ["prefer_city", "prefer_food"]}


def run(start: str, path: Sequence[str], method: str = "greedy", graph: Facts = FAMILY) -> Extracted:
    return extract(Searches((Search(start, tuple(path)),)), graph, method, lambda name, k: NEAR.get(name, [])[:k])


def tails(found: Extracted) -> list[str]:
    return [fact.tail for fact in found.triples]


@pytest.mark.parametrize("method", extraction.METHODS)
def test_known_paths_are_followed_over_every_tail(method: str) -> None:
    found = run("Bob", ["mother", "prefer_city"], method)
    assert tails(found) == ["Alice", "c1", "c2"]
    assert (found.no_hallucination, found.codes) == (1.0, {})


def test_exact_drops_a_path_with_an_unknown_relation() -> None:
    found = run("Bob", ["mother", "favourite_town"], "exact")
    assert (found.triples, found.no_hallucination, found.codes) == ((), 0.0, {"fake_relation": 1})


def test_kgx_009_greedy_search_expands_an_unknown_relation_over_what_leaves_the_entity() -> None:
    graph = Facts(
        [("Bob", "mother", "Alice"), ("Alice", "prefer_city", "c1"), ("Alice", "prefer_food", "f1"), ("Jack", "prefer_city", "c2")]
    )
    found = run("Bob", ["mother", "favourite_town"], graph=graph)
    assert [tuple(fact) for fact in found.triples] == [
        ("Bob", "mother", "Alice"),
        ("Alice", "prefer_city", "c1"),
        ("Alice", "prefer_food", "f1"),
    ]
    assert found.no_hallucination == 0.0


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (["zzz", "prefer_food"], ["Alice", "f1"]),
        (["zzz", "yyy"], ["Alice", "c1", "c2", "f1", "Bob", "Jack", "c3"]),
        (["father", "zzz", "prefer_food"], ["Jack", "Alice", "f1"]),
    ],
    ids=["first", "both", "middle"],
)
def test_greedy_search_goes_on_from_every_tail_and_drops_what_the_path_cannot_follow(path: list[str], expected: list[str]) -> None:
    found = run("Bob", path)
    assert sorted(set(tails(found))) == sorted(set(expected))
    assert found.codes["fake_relation"] == sum(name in ("zzz", "yyy") for name in path)


def test_relation_retrieval_replaces_unknown_relations_and_asks_the_entity_that_was_reached() -> None:
    found = run("Bob", ["mum", "favourite_town"], "retrieval")
    assert tails(found) == ["Alice", "c1", "c2", "f1"]
    assert (found.no_hallucination, found.no_hallucination_after) == (0.0, 1.0)
    assert run("Bob", ["mother", "nothing_near"], "retrieval").no_hallucination_after == 0.0
    assert run("Bob", ["mother"], "greedy").no_hallucination_after is None


def test_a_known_relation_that_the_entity_lacks_is_a_dead_end_and_no_hallucination() -> None:
    found = run("Jack", ["prefer_food"])
    assert (found.triples, found.codes, found.no_hallucination) == ((), {"dead_end": 1}, 1.0)


def test_an_unknown_start_is_a_hallucination_and_no_format_error() -> None:
    found = run("Zed", ["mother"])
    assert (found.triples, found.codes, found.no_hallucination) == ((), {"fake_start": 1}, 0.0)


def test_empty_paths_are_counted_and_asked_about_nothing() -> None:
    alone = run("Bob", [])
    assert (alone.no_hallucination, alone.codes) == (None, {"empty_path": 1})
    among = extract(Searches((Search("Bob", ()), Search("Bob", ("mother",)))), FAMILY)
    assert (tails(among), among.no_hallucination) == (["Alice"], 1.0)


def test_kgx_003_a_name_with_a_space_is_found() -> None:
    graph = Facts([("Bob", "teacher", "Mr. Smith"), ("Mr. Smith", "prefer_city", "city_0006")])
    found = extract(parse_searches('KG.search(start="Mr. Smith", path=["prefer_city"])'), graph)
    assert [tuple(fact) for fact in found.triples] == [("Mr. Smith", "prefer_city", "city_0006")]


def test_kgx_007_keys_do_not_collide() -> None:
    graph = Facts([("a-b", "c", "1"), ("a", "b-c", "2")])
    assert [tuple(fact) for fact in run("a", ["b-c"], "exact", graph).triples] == [("a", "b-c", "2")]


def test_a_cycle_ends() -> None:
    assert tails(run("Bob", ["mother", "son", "mother", "son"])) == ["Alice", "Bob"]


def test_a_hub_is_cut_in_the_order_of_the_graph_and_told() -> None:
    hub = Facts([("Bob", "friend", f"n{i}") for i in range(100_000)])
    found = run("Bob", ["zzz"], graph=hub)
    assert (len(found.triples), found.is_truncated, found.codes["truncated"]) == (extraction.MAX_PATHS, True, 1)
    assert found.triples[0].tail == "n0"


def test_many_unknown_relations_do_not_blow_up() -> None:
    dense = Facts([(f"n{i}", f"r{j}", f"n{(i + j) % 30}") for i in range(30) for j in range(30)])
    found = extract(Searches((Search("n0", ("zzz",) * 100),)), dense)
    assert found.is_truncated


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(ValueError, match="exact, greedy, retrieval"):
        run("Bob", ["mother"], "best")
    with pytest.raises(ValueError, match="nearest"):
        extract(Searches(), FAMILY, "retrieval")


_names = st.sampled_from("abcde")
_graphs = st.lists(st.tuples(_names, st.sampled_from("rst"), _names), max_size=12)


@given(_graphs, _names, st.lists(st.sampled_from("rstxy"), min_size=1, max_size=4))
def test_the_methods_agree_where_nothing_is_unknown_and_greedy_finds_all_that_exact_finds(
    triples: list[tuple[str, str, str]], start: str, path: list[str]
) -> None:
    graph = Facts(triples)
    exact, greedy, retrieval = (run(start, path, method, graph) for method in extraction.METHODS)
    assert set(exact.triples) <= set(greedy.triples)
    if all(map(graph.is_relation, path)):
        assert exact.triples == greedy.triples == retrieval.triples
    # By brute force: every walk over the graph whose relations are the path's, unknown ones standing for any.
    walks: list[list[tuple[str, str, str]]] = [[]]
    for relation in path:
        walks = [
            [*walk, fact]
            for walk in walks
            for fact in graph.triples
            if fact[0] == (walk[-1][2] if walk else start) and (fact[1] == relation or not graph.is_relation(relation))
        ]
    assert set(greedy.triples) == {fact for walk in walks for fact in walk}
