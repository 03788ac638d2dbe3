from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from familytool.graph import KnowledgeGraph
from familytool.model import RelationPath, Triple

NAMES = st.sampled_from(["Ann", "Bob", "Cid", "Mr. Smith", "Zoë"])
RELATIONS = st.sampled_from(["mother", "friend", "prefer_city"])
TRIPLES = st.lists(st.builds(Triple, head=NAMES, relation=RELATIONS, tail=NAMES), max_size=25)
PATHS = st.builds(RelationPath, start=NAMES, relations=st.lists(RELATIONS, max_size=4).map(tuple))


def triple(head: str, relation: str, tail: str) -> Triple:
    return Triple(head=head, relation=relation, tail=tail)


def path(start: str, *relations: str) -> RelationPath:
    return RelationPath(start=start, relations=relations)


FAMILY = KnowledgeGraph(
    [
        triple("Bob", "mother", "Alice"),
        triple("Bob", "friend", "Ann"),
        triple("Bob", "friend", "Cid"),
        triple("Ann", "prefer_city", "Lisbon"),
        triple("Cid", "prefer_city", "Lisbon"),
        triple("Alice", "son", "Bob"),
    ],
    "family",
)


def test_a_fact_that_is_added_twice_stands_once() -> None:
    graph = KnowledgeGraph([triple("Bob", "mother", "Alice")] * 2)
    graph.add(triple("Bob", "mother", "Alice"))
    assert len(graph) == 1
    assert graph.tails("Bob", "mother") == ("Alice",)
    assert graph.heads("Alice") == (("Bob", "mother"),)


def test_a_relation_with_several_tails_gives_all_of_them_in_order_of_insertion() -> None:
    assert FAMILY.tails("Bob", "friend") == ("Ann", "Cid")
    assert FAMILY.follow(path("Bob", "friend")) == ("Ann", "Cid")


def test_two_ways_to_one_entity_are_two_chains_and_one_answer() -> None:
    asked = path("Bob", "friend", "prefer_city")
    assert [chain[0].tail for chain in FAMILY.chains(asked)] == ["Ann", "Cid"]
    assert FAMILY.follow(asked) == ("Lisbon",)


def test_a_path_may_lead_back_to_its_start() -> None:
    assert FAMILY.follow(path("Bob", "mother", "son")) == ("Bob",)


def test_a_path_that_does_not_exist_gives_nothing() -> None:
    assert FAMILY.follow(path("Bob", "father")) == ()
    assert FAMILY.follow(path("Nobody", "mother")) == ()
    assert FAMILY.follow(path("Bob", "mother", "prefer_city")) == ()
    assert FAMILY.follow(path("Bob")) == ()


def test_names_with_spaces_and_dots_are_followed_as_they_are() -> None:
    graph = KnowledgeGraph([triple("Bob", "teacher", "Mr. Smith"), triple("Mr. Smith", "prefer_city", "Rome")])
    assert graph.follow(path("Bob", "teacher", "prefer_city")) == ("Rome",)


def test_heads_and_relations_never_run_together() -> None:
    graph = KnowledgeGraph([triple("a-b", "c", "x"), triple("a", "b-c", "y")])
    assert graph.tails("a-b", "c") == ("x",)
    assert graph.tails("a", "b-c") == ("y",)


def test_membership_is_of_the_whole_fact() -> None:
    assert triple("Bob", "mother", "Alice") in FAMILY
    assert triple("Alice", "mother", "Bob") not in FAMILY


def test_nodes_and_relations_stand_in_order_of_first_appearance() -> None:
    assert FAMILY.nodes == ("Bob", "Alice", "Ann", "Cid", "Lisbon")
    assert FAMILY.relations == ("mother", "friend", "prefer_city", "son")


def test_neighbours_are_the_facts_that_start_at_a_head() -> None:
    assert [t.tail for t in FAMILY.neighbours("Bob")] == ["Alice", "Ann", "Cid"]
    assert FAMILY.neighbours("Lisbon") == ()


def test_a_subgraph_keeps_order_and_name_and_ignores_foreign_facts() -> None:
    part = FAMILY.subgraph([triple("Cid", "prefer_city", "Lisbon"), triple("Bob", "mother", "Alice"), triple("x", "y", "z")])
    assert list(part) == [triple("Bob", "mother", "Alice"), triple("Cid", "prefer_city", "Lisbon")]
    assert part.graph_id == "family"


@given(TRIPLES)
def test_networkx_gets_every_fact_once(triples: list[Triple]) -> None:
    graph = KnowledgeGraph(triples)
    edges = graph.to_networkx().edges(keys=True)
    assert sorted(edges) == sorted({(t.head, t.tail, t.relation) for t in triples})


@given(TRIPLES, PATHS)
def test_following_a_path_agrees_with_a_walk_over_the_plain_list(triples: list[Triple], asked: RelationPath) -> None:
    reached = {asked.start} if asked.relations else set()
    for relation in asked.relations:
        reached = {t.tail for t in triples if t.head in reached and t.relation == relation}
    answer = KnowledgeGraph(triples).follow(asked)
    assert set(answer) == reached
    assert len(answer) == len(reached)


@given(TRIPLES, PATHS)
def test_every_chain_is_connected_and_made_of_facts(triples: list[Triple], asked: RelationPath) -> None:
    graph = KnowledgeGraph(triples)
    for chain in graph.chains(asked):
        assert tuple(t.relation for t in chain) == asked.relations
        assert chain[0].head == asked.start
        assert all(first.tail == second.head for first, second in pairwise(chain))
        assert all(t in graph for t in chain)
