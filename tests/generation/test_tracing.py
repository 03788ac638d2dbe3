"""Tracing: values made by executing chains are traced back to them, and whatever could be told in two ways is not told."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.generation.families import kinship_triples, seeded_people
from familytool.generation.same_values import moment_in, number_in, stated_span
from familytool.generation.samples import NotBuilt
from familytool.generation.statements import statements
from familytool.generation.tracing import LONGEST_CHAIN, Traced, shortest_chains, trace
from familytool.graph import KnowledgeGraph
from familytool.model import Json, RelationPath, Tool, ToolCall, Triple


def facts(*rows: tuple[str, str, str]) -> KnowledgeGraph:
    return KnowledgeGraph(Triple(head=h, relation=r, tail=t) for h, r, t in rows)


FAMILY = facts(
    ("Bob", "mother", "Alice"),
    ("Bob", "sister", "Dora"),
    ("Bob", "sister", "Ella"),
    ("Bob", "wake_up_time", "06:30"),
    ("Alice", "husband", "Jack"),
    ("Alice", "home_city", "Porto Novo"),
    ("Alice", "prefer_cafe", "Café Ostra"),
    ("Alice", "dinner_time", "19:30"),
    ("Alice", "shoe_size", "39"),
    ("Alice", "phone_number", "+44 20 7946 0018"),
    ("Alice", "birthday", "2025-11-03"),
    ("Jack", "home_city", "Lund"),
    ("Dora", "home_city", "Quimper"),
    ("Ella", "home_city", "Vigo"),
    ("Zoe", "home_city", "Utrecht"),
)
SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "to": {"type": "string"},
        "who": {"type": "string"},
        "time": {"type": "string"},
        "date": {"type": "string", "default": "dontcare"},
        "size": {"type": "integer"},
        "n": {"type": "number", "default": "1"},
        "seat": {"type": "string", "enum": ["AISLE_SEAT", "WINDOW_SEAT"]},
        "mode": {"const": "fast"},
        "quiet": {"type": "boolean"},
        "none": {"type": ["string", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}, "default": ["all"]},
        "place": {"type": "object", "properties": {"city": {"type": "string"}, "floor/level": {"type": "string"}}},
    },
}
TOOL = Tool(name="go", parameters=SCHEMA)


def traced(arguments: dict[str, Json], query: str = "Do that for me, please.", graph: KnowledgeGraph = FAMILY) -> Traced | NotBuilt:
    return trace([ToolCall(name="go", arguments=arguments)], {"go": TOOL}, query, "Bob", graph)


def path(*relations: str) -> RelationPath:
    return RelationPath(start="Bob", relations=relations)


FOUND: list[tuple[str, dict[str, Json], str, list[RelationPath], list[dict[str, Any]]]] = [
    ("own", {"time": "06:30"}, "", [path("wake_up_time")], [{"source": "graph"}]),
    ("relative's", {"city": "Porto Novo"}, "", [path("mother", "home_city")], [{"source": "graph"}]),
    ("far", {"city": "Lund"}, "", [path("mother", "husband", "home_city")], [{"source": "graph"}]),
    ("person", {"who": "Alice"}, "", [path("mother")], [{"source": "graph"}]),
    ("number for text", {"size": 39}, "", [path("mother", "shoe_size")], [{"source": "graph"}]),
    ("in a list", {"tags": ["Porto Novo"]}, "", [path("mother", "home_city")], [{"source": "graph"}]),
    ("nested", {"place": {"floor/level": "Lund"}}, "", [path("mother", "husband", "home_city")], [{"source": "graph"}]),
    ("speaker", {"who": "Bob"}, "", [], [{"source": "query"}]),
    ("stated", {"city": "paris"}, "Fly me to Paris.", [], [{"source": "query", "span": [10, 15]}]),
    ("stated number", {"n": 2}, "A table for two.", [], [{"source": "query", "span": [12, 15]}]),
    ("stated date", {"date": "2025-06-03"}, "On June 3rd, 2025.", [], [{"source": "query", "span": [3, 17]}]),
    ("stated time", {"time": "07:15"}, "At quarter past seven in the morning.", [], [{"source": "query", "span": [3, 36]}]),
    ("stated enum", {"seat": "WINDOW_SEAT"}, "By a window seat.", [], [{"source": "query", "span": [5, 16]}]),
    ("enum", {"seat": "AISLE_SEAT"}, "", [], [{"source": "document"}]),
    ("const", {"mode": "fast"}, "", [], [{"source": "document"}]),
    ("default", {"date": "dontcare", "n": 1}, "", [], [{"source": "document"}, {"source": "document"}]),
    ("default list", {"tags": ["all"]}, "", [], [{"source": "document"}]),
    ("boolean", {"quiet": True}, "", [], [{"source": "document"}]),
    ("null", {"none": None}, "", [], [{"source": "document"}]),
    ("nothing", {"tags": [], "place": {}}, "", [], []),
]


@pytest.mark.parametrize(("arguments", "query", "paths", "sources"), [row[1:] for row in FOUND], ids=[row[0] for row in FOUND])
def test_a_value_has_one_origin(arguments: dict[str, Json], query: str, paths: list[RelationPath], sources: list[dict[str, Any]]) -> None:
    result = traced(arguments, query)
    assert isinstance(result, Traced), result
    assert list(result.paths) == paths
    assert [{k: v for k, v in source.items() if k != "path"} for source in result.sources.values()] == sources
    assert [s["path"] for s in result.sources.values() if "path" in s] == [{"start": "Bob", "relations": list(p.relations)} for p in paths]


def test_facts_are_listed_once_and_in_the_order_of_the_values() -> None:
    result = traced({"city": "Lund", "to": "Porto Novo", "who": "Alice"})
    assert isinstance(result, Traced)
    assert [(t.head, t.relation, t.tail) for t in result.triples] == [
        ("Bob", "mother", "Alice"),
        ("Alice", "husband", "Jack"),
        ("Jack", "home_city", "Lund"),
        ("Alice", "home_city", "Porto Novo"),
    ]


def test_pointers_are_escaped_and_count_the_calls() -> None:
    calls = [ToolCall(name="go", arguments={"city": "Lund"}), ToolCall(name="other", arguments={"place": {"floor/level~": ["Lund"]}})]
    result = trace(calls, {"go": TOOL}, "x", "Bob", FAMILY)
    assert isinstance(result, Traced)
    assert list(result.sources) == ["/0/arguments/city", "/1/arguments/place/floor~1level~0/0"]
    assert len(result.paths) == 1


REFUSED: list[tuple[str, dict[str, Json], str, str, str]] = [
    ("invented", {"city": "Atlantis"}, "", "untraceable", "Atlantis"),
    ("unconnected person's", {"city": "Utrecht"}, "", "untraceable", "Utrecht"),
    ("inside a longer text", {"city": "the centre of Porto Novo"}, "", "untraceable", "centre"),
    ("year assumed", {"date": "2025-06-03"}, "On June 3, please.", "untraceable", "2025-06-03"),
    ("half of the day assumed", {"time": "19:15"}, "At quarter past seven.", "untraceable", "19:15"),
    ("number of a date", {"n": 3}, "On 3 June 2025.", "untraceable", "3"),
    ("number of a time", {"n": 7}, "At 7 pm.", "untraceable", "7"),
    ("part of a number", {"n": 20}, "In 2025 or 120.", "untraceable", "20"),
    ("part of a word", {"city": "art"}, "For the party.", "untraceable", "art"),
    ("empty text", {"city": ""}, "", "untraceable", "''"),
    ("huge number", {"n": 10**5000}, "", "untraceable", "out of all bounds"),
    ("null where none is", {"city": None}, "", "untraceable", "None"),
    ("boolean where none is", {"city": True}, "", "untraceable", "True"),
    ("enum of another case", {"seat": "Aisle"}, "", "untraceable", "Aisle"),
    ("case", {"city": "porto novo"}, "", "rewritten_value", "'Porto Novo'"),
    ("accent", {"city": "Cafe Ostra"}, "", "rewritten_value", "'Café Ostra'"),
    ("unicode form", {"city": "Cafe\u0301 Ostra"}, "", "rewritten_value", "'Café Ostra'"),
    ("spaces", {"who": "+442079460018"}, "", "rewritten_value", "'+44 20 7946 0018'"),
    ("time in words", {"time": "7:30 pm"}, "", "rewritten_value", "'19:30'"),
    ("time with seconds", {"time": "19:30:00"}, "", "rewritten_value", "'19:30'"),
    ("date in words", {"date": "Monday, November 3, 2025"}, "", "rewritten_value", "'2025-11-03'"),
    ("number of another type", {"n": 39.0}, "", "rewritten_value", "'39'"),
    ("a person's name in capitals", {"who": "ALICE"}, "", "rewritten_value", "'Alice'"),
    ("fact said", {"city": "Lund"}, "A train to Lund, where my father lives.", "answer_stated", "Lund"),
    ("fact said otherwise", {"time": "19:30"}, "At half past seven in the evening.", "answer_stated", "19:30"),
    ("person said", {"who": "Alice"}, "Call Alice.", "answer_stated", "Alice"),
    ("person on the way said", {"city": "Lund"}, "Where Alice's husband lives.", "answer_stated", "Alice"),
    ("a relation with two ends", {"who": "Dora"}, "Ask my sister.", "ambiguous_trace", "Dora, Ella"),
    ("behind a relation with two ends", {"city": "Quimper"}, "My sister's city.", "ambiguous_trace", "Quimper, Vigo"),
    ("from and to", {"city": "Lund", "to": "Lund"}, "", "same_fact_twice", "city and to"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "query", "code", "word"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_has_no_plain_origin_is_refused_with_the_value(arguments: dict[str, Json], query: str, code: str, word: str) -> None:
    result = traced(arguments, query)
    assert isinstance(result, NotBuilt) and result.code == code
    assert word in result.message


def test_two_shortest_chains_are_ambiguous_and_a_longer_one_is_not_looked_at() -> None:
    both = facts(
        ("Bob", "wife", "Ann"), ("Bob", "friend", "Tom"), ("Tom", "friend", "Ida"), ("Ann", "sister", "Ida"), ("Ida", "pet", "Rex")
    )
    result = trace([ToolCall(name="go", arguments={"a": "Rex"})], {}, "x", "Bob", both)
    assert isinstance(result, NotBuilt) and result.code == "ambiguous_trace"
    assert "wife, sister, pet" in result.message and "friend, friend, pet" in result.message
    shorter = KnowledgeGraph([*both, Triple(head="Bob", relation="aunt", tail="Ida")])
    result = trace([ToolCall(name="go", arguments={"a": "Rex"})], {}, "x", "Bob", shorter)
    assert isinstance(result, Traced) and result.paths == (path("aunt", "pet"),)


def test_deep_and_long_answers_are_refused_and_not_followed() -> None:
    deep: Json = "Lund"
    for _ in range(60):
        deep = [deep]
    for arguments in ({"tags": deep}, {"tags": ["Lund", *["x"] * 3_000]}, {str(n): "dontcare" for n in range(3_000)}):
        result = traced(arguments, "x")
        assert isinstance(result, NotBuilt) and result.code == "untraceable"


def test_a_graph_of_friends_of_friends_is_walked_once() -> None:
    everybody = [f"P{n}" for n in range(120)]
    cities = [(name, "home_city", f"City of {name}") for name in everybody]
    graph = facts(*((a, "friend", b) for a in everybody for b in everybody if a != b), *cities)
    assert {len(chains) for chains in shortest_chains(graph, "P0").values()} == {1}
    result = trace([ToolCall(name="go", arguments={"a": "City of P7"})], {}, "x", "P0", graph)
    assert isinstance(result, NotBuilt) and result.code == "ambiguous_trace"


# What a text states ------------------------------------------------------------------------------------------------

READ = [
    ("2025-06-03", [("date", "2025-06-03")]), ("2025/6/3", [("date", "2025-06-03")]), ("3 June 2025", [("date", "2025-06-03")]),
    ("June 3, 2025", [("date", "2025-06-03")]), ("Tue 3rd of Jun. 2025", [("date", "2025-06-03")]),
    ("the twenty-first of May 2025", [("date", "2025-05-21")]), ("31 June 2025", [("number", "31"), ("number", "2025")]),
    ("June 3", [("number", "3")]), ("may 2 people", [("number", "2")]),
    ("7:30 pm", [("time", "19:30")]), ("7.30", [("number", "7.3")]), ("19:30", [("time", "19:30")]), ("19:30:00", [("time", "19:30")]),
    ("12 am", [("time", "00:00")]), ("12:15 p.m.", [("time", "12:15")]), ("noon", [("time", "12:00")]), ("7pm", [("time", "19:00")]),
    ("eight o’clock in the evening", [("time", "20:00")]), ("quarter to six in the evening", [("time", "17:45")]),
    ("ten past seven pm", [("time", "19:10")]), ("ten at night", [("time", "22:00")]), ("25:00", []), ("7:75", []),
    ("twenty-five", [("number", "25")]), ("two hundred and fifty", [("number", "250")]), ("3 thousand", [("number", "3000")]),
    ("1.5 million", [("number", "1500000")]), ("1,200.50 euros", [("number", "1200.5")]), ("-5 degrees", [("number", "-5")]),
    ("20km at 30%", [("number", "20"), ("number", "30")]), ("A320 or 3rd", []), ("555-0199 or 12/25", []), ("5-star", [("number", "5")]),
    ("²²²² ٣ ½", []), ("", []), ("twenty", [("number", "20")]), ("half past", []), ("the 3rd of", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "found"), READ, ids=[text or "nothing" for text, _ in READ])
def test_dates_times_and_numbers_are_read_as_they_are_said(text: str, found: list[tuple[str, str]]) -> None:
    assert [(s.kind, s.value) for s in statements(text)] == found
    assert all(text[s.start : s.end].strip() for s in statements(text))


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("0123456789:-/., ampthsixof²")), max_size=80), st.text(max_size=12))
@settings(max_examples=100)
def test_any_text_can_be_read(text: str, value: str) -> None:
    ends = [0]
    for s in statements(text):
        assert ends[-1] <= s.start < s.end <= len(text)
        ends.append(s.end)
    span = stated_span(value, text)
    assert span is None or 0 <= span[0] < span[1] <= len(text)
    assert moment_in(text) is None or number_in(text) is None


# Values made by executing chains -----------------------------------------------------------------------------------


def family_graph(seed: int) -> tuple[KnowledgeGraph, list[str]]:
    rng = random.Random(seed)
    people = seeded_people(rng.randint(2, 14), str(seed))
    names = [person.name for person in people]
    attributes = [
        Triple(head=n, relation=f"prefer_{r}", tail=f"{r} {i} {n[::-1]}") for i, n in enumerate(names) for r in ("tea", "inn", "car")
    ]
    shared = [Triple(head=n, relation="club", tail=rng.choice(["Red Club", "Blue Club"])) for n in names if rng.random() < 0.4]
    return KnowledgeGraph([*kinship_triples(people), *attributes, *shared]), names


def ways(triples: list[Triple], start: str, goal: str, longest: int) -> Iterator[tuple[Triple, ...]]:
    """Every chain from start to goal of the least number of facts, by trying all."""
    chains: list[tuple[Triple, ...]] = [()]
    for _ in range(longest):
        chains = [(*c, t) for c in chains for t in triples if t.head == (c[-1].tail if c else start)]
        hits = [c for c in chains if c[-1].tail == goal]
        if hits:
            yield from hits
            return


def executed_chains_are_traced(seed: int) -> None:
    graph, names = family_graph(seed)
    rng = random.Random(f"walk {seed}")
    speaker = rng.choice(names)
    arguments: dict[str, Json] = {}
    walks: dict[str, int] = {}
    for number in range(rng.randint(1, 3)):
        at, steps = speaker, 0
        while steps < 4 and graph.neighbours(at) and (steps == 0 or rng.random() < 0.6):
            at, steps = rng.choice(graph.neighbours(at)).tail, steps + 1
        if at != speaker and at not in arguments.values():
            arguments[f"p{number}"] = at
            walks[at] = steps
    result = trace([ToolCall(name="go", arguments=arguments)], {}, "Do so, please.", speaker, graph)
    listed = list(graph)
    plain = True
    for value, steps in walks.items():
        found = list(ways(listed, speaker, value, steps))
        ends = graph.follow(RelationPath(start=speaker, relations=tuple(t.relation for t in found[0])))
        plain = plain and len(found) == 1 and ends == (value,)
    if not plain:
        assert isinstance(result, NotBuilt) and result.code == "ambiguous_trace"
        return
    assert isinstance(result, Traced)
    assert [graph.follow(p) for p in result.paths] == [(value,) for value in arguments.values()]
    assert all(len(p.relations) <= walks[value] for p, value in zip(result.paths, arguments.values(), strict=True))
    assert set(result.triples) == {t for p in result.paths for c in graph.chains(p) for t in c}
    assert all(triple in graph for triple in result.triples) and len(set(result.triples)) == len(result.triples)


@given(st.integers(0, 10**9))
@settings(max_examples=100)
def test_what_executing_chains_gives_is_traced_back_to_facts_that_give_it(seed: int) -> None:
    executed_chains_are_traced(seed)


@pytest.mark.soak
@given(st.integers(0, 10**9))
@settings(max_examples=2_000)
def test_what_executing_chains_gives_is_traced_back_many_times(seed: int) -> None:
    executed_chains_are_traced(seed)


def test_both_outcomes_of_the_property_occur() -> None:
    outcomes = set()
    for seed in range(60):
        graph, names = family_graph(seed)
        chains = shortest_chains(graph, names[0])
        assert all(len(c) <= LONGEST_CHAIN and c[-1].tail == end and c[0].head == names[0] for end, found in chains.items() for c in found)
        outcomes |= {len(found) for found in chains.values()}
    assert outcomes == {1, 2}
