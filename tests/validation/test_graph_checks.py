from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.graph import KnowledgeGraph
from familytool.model import Finding, Triple
from familytool.validation.graph_checks import check_graph, name_form
from tests.made import Made
from tests.validation.family import FAMILY


def graph_of(text: str) -> KnowledgeGraph:
    """A graph of facts "head relation tail", separated by semicolons; an underscore is a space where it stands alone."""
    facts = (fact.split() for fact in text.split(";"))
    return KnowledgeGraph([Triple(head=h, relation=r, tail=" ".join(t)) for h, r, *t in facts], "g")


def told(text: str, code: str) -> list[str]:
    return [" ".join(f.value) for f in check_graph(graph_of(text)) if f.code == code]


CONFLICTS = {
    "a wife who is also the mother": ("Jack wife Alice; Alice husband Jack; Jack mother Alice", ["Jack mother Alice"]),
    "the same, told the other way round": ("Jack mother Alice; Alice husband Jack", ["Jack mother Alice", "Alice husband Jack"]),
    "nothing leads back": ("Jack mother Alice; Jack wife Alice", ["Jack mother Alice", "Jack wife Alice"]),
    "both lead back": (
        "A mother B; B son A; A wife B; B husband A", ["A mother B", "A wife B", "B son A", "B husband A"],
    ),
    "a son who is also a brother": ("A son B; B mother A; A brother B", ["A brother B"]),
    "each other's father": ("A father B; B father A", ["A father B", "B father A"]),
    "a father who is called mother": ("A father B; C father B; D mother B", ["D mother B"]),
    "as many say so as not": ("A father B; D mother B", ["A father B", "D mother B"]),
    "one's own wife": ("A wife A", ["A wife A"]),
    "step-relations are their own": ("A stepmother B; B son A", ["A stepmother B", "B son A"]),
    "a plain family": ("A mother B; B daughter A; A father C; C daughter A; B husband C; C wife B", []),
    "two husbands": ("A husband B; B husband A", []),
    "a spouse and a husband": ("A spouse B; B husband A", []),
    "a parent and a daughter": ("A parent B; B daughter A", []),
    "a friend who is a colleague": ("A friend B; B colleague A; A colleague B", []),
    "a son who is a friend": ("A son B; B friend A; B father A", []),
    "a teacher leads nowhere back": ("A teacher B; A teacher C", []),
    "a value is no relative": ("A prefer_city Oslo; Oslo prefer_city A", []),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CONFLICTS.values(), ids=CONFLICTS.keys())
def test_a_fact_that_others_contradict_and_none_supports_is_found(text: str, expected: list[str]) -> None:
    assert sorted(told(text, "inverse_conflict")) == sorted(expected)


CYCLES = {
    "one's own mother": ("A mother A", ["A mother A"]),
    "two generations": ("A mother B; B father A", ["A mother B"]),
    "three generations, told as sons": ("A son B; B son C; C daughter A", ["A son B"]),
    "mixed": ("A mother B; C son B; C father A", ["A mother B"]),
    "two knots": ("A mother B; B mother A; C father D; D father C", ["A mother B", "C father D"]),
    "a knot with a tail": ("X mother A; A mother B; B mother A; B father Y", ["A mother B"]),
    "cousins marry": ("A mother B; A father C; B mother D; C mother D", []),
    "brothers are no ancestors": ("A brother B; B brother A", []),
    "nor are steps": ("A stepmother B; B stepmother A", []),
}


@pytest.mark.parametrize(("text", "expected"), CYCLES.values(), ids=CYCLES.keys())
def test_somebody_who_is_their_own_ancestor_is_found_once_for_each_knot(text: str, expected: list[str]) -> None:
    found = [f for f in check_graph(graph_of(text)) if f.code == "ancestor_cycle"]
    assert [" ".join(f.value) for f in found] == expected
    assert all("own ancestor" in f.message and f.hint for f in found)


def test_the_shortest_circle_is_told_in_order() -> None:
    text = "A mother B; B mother C; C mother A; B father D; D mother E; E father A"
    [finding] = [f for f in check_graph(graph_of(text)) if f.code == "ancestor_cycle"]
    assert finding.message == "A is their own ancestor: A > B > C > A"
    assert finding.hint == "one of these is false: (A, mother, B); (B, mother, C); (C, mother, A)"


NAMES: dict[str, tuple[list[str], list[str]]] = {
    "a typing of its own": (["travel_city_0000", "travel_city_0001", "travel_city_0002", "prefer_travel_city_0000"], ["prefer_travel_city_0000"]),
    "a placeholder left among names": (["Lisbon", "Oslo", "New York", "city_0003"], ["city_0003"]),
    "a name left among placeholders": (["city_0001", "city_0002", "city_0003", "Oslo"], ["Oslo"]),
    "a date of another form": (["2025-06-03", "2025-07-09", "2025-01-31", "03.06.2025"], ["03.06.2025"]),
    "a time in words": (["19:30", "7:05", "22:00", "noon"], ["noon"]),
    "a number without its country": (["+1 202 555 0199", "+44 20 555 0100", "+49 30 555 0101", "0301 555 010"], ["0301 555 010"]),
    "a telephone number of another form": (["+1 202 555 0199", "+1 202 555 0100", "+1 713 555 0101", "202-555-0102"], ["202-555-0102"]),
    "no address": (["a@example.org", "b@example.org", "c@example.org", "none"], ["none"]),
    "a price in words": (["12", "7.5", "1,200", "cheap"], ["cheap"]),
    "a code in small letters": (["QX-15239-K", "QX-83742-T", "QX-91683-K", "qx-06474"], ["qx-06474"]),
    "white space around": (["Oslo ", "Rome"], ["Oslo "]),
    "a line break": (["Oslo\nRome", "Rome"], ["Oslo\nRome"]),
    "too few to tell": (["city_0001", "city_0002", "prefer_city_0003"], []),
    "as many as not": (["a_0001", "a_0002", "a_0003", "b_0001", "b_0002", "b_0003"], []),
    "two exceptions in few": (["a_0001", "a_0002", "a_0003", "b_0001", "c_0001"], []),
    "one exception in many": ([*(f"a_{n:04d}" for n in range(60)), "b_0001", "b_0002", "b_0003"], ["b_0001", "b_0002", "b_0003"]),
    "names in words": (["The Blue Door", "Casa Verde", "Cafe 1901", "OSTERIA", "chez eli", "Mr. Smith"], []),
    "names with numbers": (["Night Line 11", "Metro Link 9", "Rapid 8", "Red Line"], []),
    "plates of several letters": (["HPF 0 5033", "T 0 2588", "ZG 0 9207", "BRL 0 2471"], []),
}  # fmt: skip


@pytest.mark.parametrize(("names", "expected"), NAMES.values(), ids=NAMES.keys())
def test_a_name_that_is_unlike_most_values_of_its_relation_is_found(names: list[str], expected: list[str]) -> None:
    graph = KnowledgeGraph([Triple(head=f"P{n}", relation="r", tail=name) for n, name in enumerate(names)])
    found = [f for f in check_graph(graph) if f.code == "name_anomaly"]
    assert [f.value[2] for f in found] == expected


def test_a_finding_points_at_its_fact_and_says_it() -> None:
    graph = KnowledgeGraph([Triple(head="a/b~", relation="r", tail=" x")], "g")
    [finding] = check_graph(graph)
    assert (finding.path, finding.value) == ("/graph/a~1b~0/r/ x", ["a/b~", "r", " x"])


def test_facts_that_no_chain_uses_are_told_only_where_the_golden_triples_are_known() -> None:
    facts = list(FAMILY)
    assert {f.code for f in check_graph(FAMILY, None)} == set()
    idle = check_graph(FAMILY, set(facts[:-2]))
    assert [(f.code, f.value) for f in idle] == [("unused_edge", [t.head, t.relation, t.tail]) for t in facts[-2:]]
    assert check_graph(FAMILY, set(facts)) == []
    assert len(check_graph(FAMILY, set())) == len(facts)


def test_an_empty_graph_has_no_findings() -> None:
    """val-031: nothing was checked."""
    assert check_graph(KnowledgeGraph(), set()) == []


@pytest.mark.parametrize("name", ["home", "extended"])
def test_our_own_graphs_have_no_findings(name: str, request: pytest.FixtureRequest) -> None:
    made: Made = request.getfixturevalue(name)
    assert made.graphs
    for graph in made.graphs.values():
        assert check_graph(graph) == []


LARGE = 100_000
SHAPES = {
    "one long line of ancestors": lambda n: Triple(head=f"p{n}", relation="father", tail=f"p{n + 1}"),
    "one long circle": lambda n: Triple(head=f"p{n}", relation="father", tail=f"p{(n + 1) % LARGE}"),
    "a star": lambda n: Triple(head=f"p{n}", relation="mother" if n % 2 else "father", tail="p"),
    "one relation": lambda n: Triple(head=f"p{n % 300}", relation="prefer_city", tail=f"city_{n:06d}"),
}


@pytest.mark.soak
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_a_graph_of_100_000_facts_is_checked_without_recursion(shape: object) -> None:
    graph = KnowledgeGraph([shape(n) for n in range(LARGE)])  # type: ignore[operator]
    assert Counter(f.code for f in check_graph(graph, set()))["unused_edge"] == LARGE


KIN = ["mother", "father", "son", "daughter", "wife", "husband", "brother", "friend", "stepson", "prefer_city"]
FACTS = st.lists(st.tuples(st.sampled_from("ABCDEF"), st.sampled_from(KIN), st.sampled_from("ABCDEF")), max_size=30)


def every_finding_is_a_fact(facts: list[tuple[str, str, str]]) -> None:
    graph = KnowledgeGraph([Triple(head=h, relation=r, tail=t) for h, r, t in facts])
    found = check_graph(graph, [])
    assert all(isinstance(f, Finding) and Triple(head=f.value[0], relation=f.value[1], tail=f.value[2]) in graph for f in found)
    assert len([f for f in found if f.code == "unused_edge"]) == len(graph)
    assert any(f.code == "ancestor_cycle" for f in found) == has_cycle(facts)
    assert found == check_graph(graph, [])


def has_cycle(facts: list[tuple[str, str, str]]) -> bool:
    """The plain way: whether some relation of ancestors, closed step by step, meets itself."""
    pairs = {(h, t) for h, r, t in facts if r in ("mother", "father")} | {(t, h) for h, r, t in facts if r in ("son", "daughter")}
    closed: set[tuple[str, str]] = set()
    while closed != pairs:
        closed, pairs = pairs, pairs | {(a, d) for a, b in pairs for c, d in pairs if b == c}
    return any(a == b for a, b in pairs)


@settings(max_examples=100)
@given(FACTS)
def test_cycles_are_those_that_a_plain_closure_finds(facts: list[tuple[str, str, str]]) -> None:
    every_finding_is_a_fact(facts)


@pytest.mark.soak
@settings(max_examples=2000)
@given(FACTS)
def test_cycles_are_those_that_a_plain_closure_finds_soak(facts: list[tuple[str, str, str]]) -> None:
    every_finding_is_a_fact(facts)


def test_the_form_of_a_name_is_that_of_its_pattern() -> None:
    assert name_form("prefer_travel_city_0000") != name_form("travel_city_0000")
    assert name_form("Mr. Smith") == name_form("The 39 Steps") == ""
