"""Twins: the same request about another relative, with another answer, and as good as any row of the template writer."""

from __future__ import annotations

import asyncio
import datetime
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from familytool.catalogue.tables import Concept
from familytool.generation.phrasings import phrase, value_at
from familytool.generation.planning import Planner
from familytool.generation.preferences import World
from familytool.generation.samples import NotBuilt, Order
from familytool.generation.twins import make_twin
from familytool.generation.usable import parameters_by_rule, usable_tools
from familytool.graph import KnowledgeGraph
from familytool.kinship import Kin
from familytool.model import RelationPath, Sample, Tool, ToolCall, Triple
from familytool.phrasing import skeleton
from familytool.validation.checks import check_sample
from tests.generation.scripted import answers, drafts, material_of
from tests.made import Made


def order_of(made: Made, original: Sample, number: int = 90_000) -> Order:
    tools = [clause["tool"] for clause in original.provenance.get("wording") or original.provenance["draft"]["wording"]]
    return Planner(material_of(made)).twin_order(original.provenance["stratum"], number, original, tools)


def twin_of(made: Made, original: Sample, number: int = 90_000) -> Sample | NotBuilt:
    return make_twin(original, material_of(made).world_of_graph(original.graph_id), order_of(made, original, number))


def failed(sample: Sample, graph: KnowledgeGraph) -> list[tuple[str, str, str]]:
    return [(c.check, c.verdict, "; ".join(f.message for f in c.findings)) for c in check_sample(sample, graph) if c.verdict != "pass"]


@pytest.fixture(scope="module")
def pairs(home: Made) -> list[tuple[Sample, Sample]]:
    """Every accepted row of `home` that has a twin, with it."""
    found = ((row, twin_of(home, row, 90_000 + n)) for n, row in enumerate(home.samples) if row.golden_triples)
    return [(row, twin) for row, twin in found if isinstance(twin, Sample)]


def test_a_twin_passes_all_checks_as_any_row_of_the_template_writer(home: Made, pairs: list[tuple[Sample, Sample]]) -> None:
    """The intent check renders it again from its recipe and facts, so that recipe, query and values agree."""
    assert [(twin.query, bad) for _, twin in pairs if (bad := failed(twin, home.graph(twin)))] == []


def test_most_rows_of_two_hops_and_more_have_a_twin(home: Made, pairs: list[tuple[Sample, Sample]]) -> None:
    have = Counter(row.provenance["stratum"] for row, _ in pairs)
    rows = Counter(row.provenance["stratum"] for row in home.samples if row.golden_triples)
    assert sum(have[s] for s in ("hop2", "hop3")) >= 0.8 * sum(rows[s] for s in ("hop2", "hop3"))
    assert have["multi_call"] >= 0.5 * rows["multi_call"]


def test_a_twin_is_of_the_same_stratum_and_its_answer_another_one(home: Made, pairs: list[tuple[Sample, Sample]]) -> None:
    for row, twin in pairs:
        assert (twin.twin_of, twin.kind, twin.speaker, twin.graph_id) == (row.id, row.kind, row.speaker, row.graph_id)
        assert (twin.hops, twin.shape, twin.category) == (row.hops, row.shape, row.category)
        assert twin.candidate_tools == row.candidate_tools
        assert twin.id == f"home-{row.provenance['stratum']}-{twin.provenance['candidate']:06d}"
        assert (twin.provenance["stratum"], twin.provenance["writer"]) == (row.provenance["stratum"], "templates")
        assert twin.query != row.query


def test_exactly_one_value_one_path_and_the_words_of_one_slot_differ(pairs: list[tuple[Sample, Sample]]) -> None:
    for row, twin in pairs:
        place = twin.provenance["swapped"]
        assert value_at(row, place) != value_at(twin, place)
        pointers = [p for p in row.argument_sources if p != place and not p.startswith(place + "/")]
        assert all(value_at(row, p) == value_at(twin, p) for p in pointers)
        assert [list(call.arguments) for call in row.calls] == [list(call.arguments) for call in twin.calls]
        assert sum(a != b for a, b in zip(row.golden_paths, twin.golden_paths, strict=True)) == 1
        masked = [
            skeleton(
                s.query, {tuple(source["span"]) for p, source in s.argument_sources.items() if p == place or p.startswith(place + "/")}
            )
            for s in (row, twin)
        ]
        assert masked[0] == masked[1]


def test_the_paths_of_a_twin_are_executed_and_give_its_values(home: Made, pairs: list[tuple[Sample, Sample]]) -> None:
    for _, twin in pairs:
        graph = home.graph(twin)
        chains = [graph.chains(path) for path in twin.golden_paths]
        assert all(len(found) == 1 for found in chains)
        assert twin.golden_triples == tuple(dict.fromkeys(t for [chain] in chains for t in chain))
        for pointer, source in twin.argument_sources.items():
            if source["source"] == "graph":
                path = next(p for p in twin.golden_paths if list(p.relations) == source["path"]["relations"])
                assert str(value_at(twin, pointer)) == graph.follow(path)[0]
            assert twin.query[slice(*source["span"])].strip()


def test_other_accepted_forms_have_the_value_of_the_twin(pairs: list[tuple[Sample, Sample]]) -> None:
    seen = 0
    for row, twin in pairs:
        assert len(row.alternatives) == len(twin.alternatives)
        for calls in twin.alternatives:
            seen += 1
            assert value_at(twin.model_copy(update={"calls": calls}), twin.provenance["swapped"]) == value_at(
                twin, twin.provenance["swapped"]
            )
            assert calls != twin.calls
    assert seen or not any(row.alternatives for row, _ in pairs)


def test_a_twin_hangs_on_its_original_and_number_alone(home: Made, pairs: list[tuple[Sample, Sample]]) -> None:
    row, twin = pairs[0]
    assert twin_of(home, row, twin.provenance["candidate"]) == twin
    queries = {t.query for n in range(8) if isinstance(t := twin_of(home, row, n), Sample)}
    assert len(queries) > 1


def test_the_twin_of_a_phrased_row_is_that_of_its_draft(home: Made, pairs: list[tuple[Sample, Sample]]) -> None:
    for row, twin in pairs[:20]:
        words = json.dumps({"query": "Would you be so kind as to see to that small matter for me?"})
        [phrasing] = asyncio.run(phrase(row, 1, 1, answers(words).model))
        assert isinstance(phrasing.sample, Sample)
        again = twin_of(home, phrasing.sample, twin.provenance["candidate"])
        assert again == twin


@pytest.mark.parametrize("kind", ["no_graph", "no_tool"])
def test_a_row_without_a_fact_has_no_twin(home: Made, kind: str) -> None:
    row = next(s for s in home.samples if s.kind == kind)
    twin = twin_of(home, row)
    assert isinstance(twin, NotBuilt)
    assert twin.code == "no_fact"


def changed(row: Sample, **more: Any) -> Sample:
    return row.model_copy(update={"provenance": {**row.provenance, **more}})


def test_a_row_that_its_recipe_does_not_give_has_no_twin(home: Made, pairs: list[tuple[Sample, Sample]]) -> None:
    row = pairs[0][0]
    orphan = {"/0/arguments/elsewhere": {"source": "query", "span": [0, 3]}}
    for other in (
        changed(row, wording=None),
        changed(row, wording=[]),
        row.model_copy(update={"query": "Well, " + row.query}),
        row.model_copy(update={"argument_sources": {**row.argument_sources, **orphan}}),
        row.model_copy(update={"argument_sources": {p: {k: v for k, v in s.items() if k != "span"} for p, s in row.argument_sources.items()}}),
        row.model_copy(update={"argument_sources": {}}),
    ):  # fmt: skip
        twin = make_twin(other, material_of(home).world_of_graph(row.graph_id), order_of(home, row))
        assert isinstance(twin, NotBuilt)
        assert twin.code == "no_recipe"
    stranger = make_twin(row, material_of(home).world_of_graph(row.graph_id), replace(order_of(home, row), tools=()))
    assert isinstance(stranger, NotBuilt)
    assert stranger.code == "no_recipe"


# --- small worlds ---------------------------------------------------------------------------------------------------------------

TEXT = {"type": "string"}


def small(people: list[tuple[str, str, str]], facts: list[tuple[str, str, str]], concepts: list[Concept]) -> World:
    graph = KnowledgeGraph([Triple(head=h, relation=r, tail=t) for h, r, t in (*people, *facts)], "small")
    kin = Kin(graph)
    return World(graph, kin, kin.people, tuple(concepts))


def concept(relation: str, kind: str, *wordings: str) -> Concept:
    return Concept(kind=kind, relation=relation, category="x", owned=False, wordings=wordings)


def row_of(world: World, document: dict[str, Any], arguments: dict[str, Any], sentence: str, slots: dict[str, Any], paths: dict[str, list[str]],
           words: dict[str, str]) -> tuple[Sample, Order]:  # fmt: skip
    """A row as the template writer would leave it; `words` are those in the slots."""
    tool = Tool(name="act", description="Does it.", parameters=document)
    usable = next(iter(usable_tools([tool])[0]))
    query = sentence
    for name, text in words.items():
        query = query.replace("{" + name + "}", text)
    golden = [RelationPath(start="Bob", relations=tuple(p)) for p in paths.values()]
    sources: dict[str, dict[str, Any]] = {}
    for name in arguments:
        start = query.index(words[name])
        sources[f"/0/arguments/{name}"] = {
            "source": "graph" if name in paths else "query",
            "span": [start, start + len(words[name])],
            **({"path": {"start": "Bob", "relations": paths[name]}} if name in paths else {}),
        }
    row = Sample(
        id="t-hop2-000000", benchmark="t", kind="graph", speaker="Bob", query=query, graph_id="small", candidate_tools=(tool,),
        golden_triples=tuple(t for p in golden for chain in world.graph.chains(p) for t in chain), golden_paths=tuple(golden),
        calls=(ToolCall(name="act", arguments=arguments),), argument_sources=sources,
        provenance={"wording": [{"tool": "act", "sentence": sentence, "segments": [], "connector": "", "slots": slots}]},
    )  # fmt: skip
    return row, Order("t", "hop2", 1, "graph", (usable,), ((2,),), 1, datetime.date(2025, 6, 2), (1, 1), 0.0)


PEOPLE = [("Bob", "mother", "Alice"), ("Bob", "father", "Carl"), ("Alice", "son", "Bob"), ("Carl", "son", "Bob"),
          ("Alice", "husband", "Carl"), ("Carl", "wife", "Alice")]  # fmt: skip
FACT = {"wrap": "{}", "owner": "my mum", "possessive": True, "relation": "prefer_restaurant", "wording": 0}
RESTAURANT = concept("prefer_restaurant", "restaurant", "P's favourite restaurant", "the restaurant P like~ best")
SENTENCE = "Please book a nice table for us at {restaurant} today."
DOCUMENT = {
    "type": "object",
    "properties": {"restaurant": {**TEXT, "x-phrase": {"kind": "restaurant"}}},
    "required": ["restaurant"],
    "x-phrase": [SENTENCE],
}


def table(facts: list[tuple[str, str, str]], concepts: list[Concept] | None = None) -> Sample | NotBuilt:
    world = small(PEOPLE, [("Alice", "prefer_restaurant", "Chez Nous"), *facts], concepts or [RESTAURANT])
    row, order = row_of(world, DOCUMENT, {"restaurant": "Chez Nous"}, SENTENCE, {"restaurant": FACT},
                        {"restaurant": ["mother", "prefer_restaurant"]}, {"restaurant": "my mum's favourite restaurant"})  # fmt: skip
    return make_twin(row, world, order)


def test_a_twin_is_about_the_other_relative() -> None:
    twin = table([("Carl", "prefer_restaurant", "Da Gino")])
    assert isinstance(twin, Sample)
    assert twin.calls[0].arguments == {"restaurant": "Da Gino"}
    assert [path.relations for path in twin.golden_paths] == [("father", "prefer_restaurant")]
    assert twin.query.endswith("'s favourite restaurant today.")
    assert twin.provenance["wording"][0]["slots"]["restaurant"]["wording"] == 0


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ([], "no_relative"),
        ([("Carl", "prefer_restaurant", "Chez Nous")], "same_answer"),
        ([("Carl", "prefer_restaurant", "Da Gino"), ("Carl", "prefer_restaurant", "Zum Hirsch")], "no_relative"),
        ([("Carl", "prefer_restaurant", "us")], "answer_leaked"),
    ],
    ids=["no other has the fact", "the same answer", "two answers", "the words say it"],
)
def test_a_relative_whose_answer_does_not_do_is_no_twin(facts: list[tuple[str, str, str]], code: str) -> None:
    twin = table(facts)
    assert isinstance(twin, NotBuilt)
    assert twin.code == code


def test_where_no_relative_fits_another_fact_of_the_same_kind_and_person_is_taken() -> None:
    other = concept("birthday_restaurant", "restaurant", "the restaurant where P celebrate~", "P's restaurant for birthdays")
    twin = table([("Alice", "birthday_restaurant", "Da Gino")], [RESTAURANT, other])
    assert isinstance(twin, Sample)
    assert twin.query == "Please book a nice table for us at my mum's restaurant for birthdays today."
    assert [path.relations for path in twin.golden_paths] == [("mother", "birthday_restaurant")]
    recipe = twin.provenance["wording"][0]["slots"]["restaurant"]
    assert (recipe["relation"], recipe["wording"]) == ("birthday_restaurant", 1)


BETWEEN = "Please book the small room on the lake from {start_date} until {end_date} for us."
STAY = {
    "type": "object",
    "properties": {
        "start_date": {**TEXT, "format": "date", "x-phrase": {"kind": "birthday"}},
        "end_date": {**TEXT, "format": "date", "x-phrase": {"kind": "date"}},
    },
    "required": ["start_date", "end_date"],
    "x-phrase": [BETWEEN],
}


@pytest.mark.parametrize(("other", "fits"), [("2026-03-20", True), ("2026-04-20", False), ("2026-04-02", False)])
def test_a_date_of_a_twin_stands_to_stated_dates_as_the_original_does(other: str, fits: bool) -> None:
    birthday = concept("birthday", "birthday", "P's next birthday")
    world = small(PEOPLE, [("Alice", "birthday", "2026-03-30"), ("Carl", "birthday", other)], [birthday])
    slots = {"start_date": {**FACT, "relation": "birthday"}, "end_date": {"wrap": "{}", "form": 0, "kind": "date"}}
    row, order = row_of(world, STAY, {"start_date": "2026-03-30", "end_date": "2026-04-02"}, BETWEEN, slots,
                        {"start_date": ["mother", "birthday"]}, {"start_date": "my mum's next birthday", "end_date": "2 April 2026"})  # fmt: skip
    twin = make_twin(row, world, order)
    assert isinstance(twin, Sample) == fits
    if isinstance(twin, NotBuilt):
        assert twin.code in ("out_of_order", "same_value")


def test_a_relative_as_a_value_is_swapped_for_another_relative() -> None:
    sentence = "Please put {guest} on the list of the guests today."
    document = {
        "type": "object",
        "properties": {"guest": {**TEXT, "x-phrase": {"kind": "person"}}},
        "required": ["guest"],
        "x-phrase": [sentence],
    }
    assert parameters_by_rule(Tool(name="act", parameters=document))["guest"].kind == "person"
    world = small(PEOPLE, [], [])
    row, order = row_of(
        world, document, {"guest": "Alice"}, sentence, {"guest": {**FACT, "relation": ""}}, {"guest": ["mother"]}, {"guest": "my mum"}
    )
    twin = make_twin(row, world, order)
    assert isinstance(twin, Sample)
    assert twin.calls[0].arguments == {"guest": "Carl"}
    assert [path.relations for path in twin.golden_paths] == [("father",)]
    assert failed(twin, world.graph) == []


def test_drafts_that_nobody_accepted_yet_have_twins_too(home: Made) -> None:
    for draft in drafts(home, 3):
        twin = twin_of(home, draft)
        if isinstance(twin, Sample):
            assert failed(twin, home.graph(draft)) == []
