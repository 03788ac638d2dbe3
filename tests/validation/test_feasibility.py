from itertools import pairwise
from typing import Any

import pytest

from familytool.graph import KnowledgeGraph
from familytool.model import RelationPath, Sample, Tool, ToolCall, Triple
from familytool.validation.chains import ends_of
from familytool.validation.checks import CHECKS, chosen_checks
from familytool.validation.feasibility import check_feasibility, resolve
from tests.validation.family import CAFE, FAMILY, TAXI, asked, chain, foreign

EMPTY = KnowledgeGraph()
QUERY = "Find my mother's prefer cafe"


def mother(query: str = QUERY, **changes: Any) -> Sample:
    return asked(query, "mother", "prefer_cafe", **changes)


def codes(sample: Sample, graph: KnowledgeGraph = FAMILY) -> list[tuple[str, str]]:
    return [(f.code, f.path) for f in check_feasibility(sample, graph).findings]


def books(*names: str, call: str = "FindBooks") -> Sample:
    return foreign("Find a book", (call, {}), tools=tuple(Tool(name=n, parameters={"type": "object", "properties": {}}) for n in names))


POOL = ["get_book_status", "renew_books", "FindBooks"]
POOLED = {
    "val-025": (books(*POOL[:2]), True, "exists in the pool"),
    "in no pool": (books(*POOL[:2], call="BurnBooks"), True, "candidate tools"),
    "another case is another tool": (books(*POOL[:2], call="findbooks"), True, "candidate tools"),
    "offered": (books(*POOL), False, ""),
}


@pytest.mark.parametrize(("sample", "fails", "words"), POOLED.values(), ids=POOLED.keys())
def test_a_tool_that_is_not_offered_is_told_from_one_that_does_not_exist(sample: Sample, fails: bool, words: str) -> None:
    check = check_feasibility(sample, EMPTY, pool=POOL)
    assert check.verdict == ("fail" if fails else "pass")
    assert [(f.code, f.path, f.value) for f in check.findings] == (
        [("tool_not_offered", "/calls/0/name", sample.calls[0].name)] if fails else []
    )
    assert all(f.message.endswith(words) for f in check.findings)
    assert CHECKS["parameters"](sample, EMPTY).verdict == ("unknown" if fails else "pass")
    assert CHECKS["syntax"](sample, EMPTY).verdict == "pass"


def test_the_pool_is_a_setting_of_a_campaign() -> None:
    check = chosen_checks(["feasibility"], {"feasibility": {"pool": POOL}})["feasibility"](POOLED["val-025"][0], EMPTY)
    assert check.findings[0].hint == "in pool"


@pytest.mark.parametrize("tools", [(TAXI,), (), (TAXI, CAFE)], ids=["val-027", "no tool is offered", "two tools"])
def test_whether_no_tool_fits_a_request_of_others_is_unknown(tools: tuple[Tool, ...]) -> None:
    sample = foreign("Tell me a joke").model_copy(update={"candidate_tools": tools})
    verdicts = {name: check(sample, EMPTY).verdict for name, check in CHECKS.items()}
    assert verdicts == {"syntax": "pass", "intent": "pass", "parameters": "pass", "feasibility": "unknown"}


def two_chains(**changes: Any) -> Sample:
    """One fact of the mother and another of hers that hangs on the same golden triple, as published files cut them."""
    paths = (
        RelationPath(start="Nora", relations=("mother", "prefer_cafe")),
        RelationPath(start="Vera", relations=("husband", "prefer_cafe")),
    )
    triples = (*chain("Nora", "mother", "prefer_cafe"), *chain("Vera", "husband", "prefer_cafe"))
    return mother(golden_paths=paths, golden_triples=triples, arguments={"contact": triples[-1].tail}, **changes)


LOOSE = chain("Piet", "mother", "prefer_cafe")
CONNECTED: dict[str, tuple[Sample, list[tuple[str, str]]]] = {
    "a chain": (mother(), []),
    "a chain that begins where another one passes": (two_chains(), []),
    "the first link is missing": (
        mother(golden_triples=chain("Vera", "prefer_cafe"), golden_paths=(RelationPath(start="Vera", relations=("prefer_cafe",)),)),
        [("wrong_speaker", "/golden_paths/0"), ("disconnected_golden", "/golden_triples/0")],
    ),
    "one of two chains hangs in the air": (
        mother(
            golden_triples=(*chain("Nora", "mother", "prefer_cafe"), *LOOSE),
            golden_paths=(RelationPath(start="Nora", relations=("mother", "prefer_cafe")), RelationPath(start="Piet", relations=("mother", "prefer_cafe"))),
            arguments={"contact": LOOSE[-1].tail},
        ),
        [("disconnected_golden", "/golden_triples/2"), ("disconnected_golden", "/golden_triples/3")],
    ),
    "another speaker": (
        mother(speaker="Nora").model_copy(update={"speaker": "Vera"}),
        [("wrong_speaker", "/golden_paths/0"), ("disconnected_golden", "/golden_triples/0")],
    ),
    "a fact beside the chain": (
        mother(golden_triples=(*chain("Nora", "mother", "prefer_cafe"), *chain("Nora", "husband"))), [("disconnected_golden", "/golden_triples/2")],
    ),
    "half a chain": (mother(golden_triples=chain("Nora", "mother")), [("disconnected_golden", "/golden_paths/0")]),
    "a quoted fact that nothing leads to": (
        mother("Find my mother's cafe, [Hugo, prefer_cafe, Cafe Hugoberg]"), [("disconnected_golden", "/query/23")],
    ),
    "a quoted fact on the chain": (mother("Find my mother's cafe, [Vera, prefer_cafe, Cafe Veraberg]"), []),
    "no paths are known": (mother(golden_paths=()), []),
    "a circle": (mother(golden_triples=(*chain("Nora", "mother", "prefer_cafe"), *chain("Vera", "daughter")), golden_paths=()), []),
}  # fmt: skip


@pytest.mark.parametrize(("sample", "expected"), CONNECTED.values(), ids=CONNECTED.keys())
def test_the_speaker_can_reach_each_golden_fact(sample: Sample, expected: list[tuple[str, str]]) -> None:
    assert codes(sample) == expected


USED: dict[str, tuple[Sample, list[tuple[str, str]]]] = {
    "as it is": (mother(), []),
    "inside a longer text": (mother(arguments={"cafe": "a table at Cafe Veraberg, please"}), []),
    "in a list": (mother(arguments={"cafe": ["Cafe Veraberg"]}), []),
    "not at all": (mother(arguments={"cafe": "x"}), [("unused_value", "/golden_paths/0")]),
    "the end of another chain": (
        mother(
            golden_triples=(*chain("Nora", "mother", "prefer_cafe"), *chain("Nora", "husband")),
            golden_paths=(RelationPath(start="Nora", relations=("mother", "prefer_cafe")), RelationPath(start="Nora", relations=("husband",))),
        ),
        [("unused_value", "/golden_paths/1")],
    ),
    "an entity of the graph, but of no golden fact": (
        mother(arguments={"contact": "Cafe Ottoberg"}), [("wrong_entity", "/calls/0/arguments/contact")],
    ),
    "a person of no golden fact": (mother(arguments={"contact": "Hugo"}), [("wrong_entity", "/calls/0/arguments/contact")]),
    "a person whom the query names": (mother(QUERY + " with Hugo", arguments={"contact": "Hugo"}), []),
    "a person whom the query quotes in a fact": (
        mother(QUERY + " [Vera, prefer_cafe, Hugo]", arguments={"contact": "Hugo"}), [("wrong_entity", "/calls/0/arguments/contact")],
    ),
    "the speaker": (mother(arguments={"contact": "Nora"}), []),
    "a step of the chain": (mother(arguments={"contact": "Vera"}), []),
    "a name that no graph knows": (mother(arguments={"contact": "Zoe"}), []),
    "instead of the fact": (
        mother(arguments={"cafe": "Cafe Ottoberg"}), [("unused_value", "/golden_paths/0"), ("wrong_entity", "/calls/0/arguments/cafe")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("sample", "expected"), USED.values(), ids=USED.keys())
def test_each_golden_fact_is_used_and_no_other_entity_is(sample: Sample, expected: list[tuple[str, str]]) -> None:
    assert codes(sample) == expected


def test_a_path_with_several_ends_is_ambiguous_and_every_end_is_told() -> None:
    sample = asked("Find my brother's cafe", "brother", "prefer_cafe")
    [finding] = [f for f in check_feasibility(sample, FAMILY).findings if f.code == "ambiguous_answer"]
    assert (finding.path, finding.message) == ("/golden_paths/0", "the path leads to Cafe Karlberg, Cafe Leifberg")


def test_a_twin_of_the_called_tool_would_serve_too() -> None:
    twin = CAFE.model_copy(update={"name": "search_cafe"})
    assert codes(mother(candidate_tools=(CAFE, twin))) == [("several_tools_fit", "/candidate_tools")]
    assert codes(mother(candidate_tools=(CAFE, twin.model_copy(update={"description": "Another."})))) == []


GRAPHLESS = {
    "no golden triples": (foreign("Find a cafe", ("find_cafe", {"cafe": "x"}), tools=(CAFE,)), "pass"),
    "golden triples, and no graph": (mother(), "unknown"),
    "golden triples that hang in the air, and no graph": (CONNECTED["one of two chains hangs in the air"][0], "fail"),
}


@pytest.mark.parametrize(("sample", "verdict"), GRAPHLESS.values(), ids=GRAPHLESS.keys())
def test_without_a_graph_nothing_is_missed_in_it(sample: Sample, verdict: str) -> None:
    check = check_feasibility(sample, EMPTY)
    assert check.verdict == verdict
    assert {f.code for f in check.findings} <= {"disconnected_golden"}


def needing(name: str, query: str, schema: dict[str, Any] | None = None, **changes: Any) -> Sample:
    properties = {**CAFE.parameters["properties"], **({} if schema is None else {name: schema})}
    tool = CAFE.model_copy(update={"parameters": {"type": "object", "required": ["cafe", name], "properties": properties}})
    return mother(query, candidate_tools=(tool,), **changes)


LACKING = {
    "a date of which nothing is said": (needing("departure_date", QUERY), "fail"),
    "a time of which nothing is said": (needing("start_time", QUERY), "fail"),
    "an amount of which nothing is said": (needing("amount", QUERY), "fail"),
    "an address of which nothing is said": (needing("email", QUERY), "fail"),
    "a declared format": (needing("when", QUERY, {"type": "string", "format": "date"}), "fail"),
    "a date that the call leaves out": (needing("departure_date", QUERY + " on 3 June"), "pass"),
    "a day of the week": (needing("departure_date", QUERY + " this Friday"), "pass"),
    "a default": (needing("departure_date", QUERY, {"default": "today"}), "pass"),
    "given": (needing("departure_date", QUERY, arguments={"departure_date": "soon"}), "pass"),
    "free words": (needing("style", QUERY), "unknown"),
    "a number of people": (needing("number_of_people", QUERY), "unknown"),
    "a set without speaker": (foreign("Buy it", ("find_cafe", {}), tools=needing("departure_date", "").candidate_tools), "unknown"),
    "an odd document": (needing("departure_date", QUERY).model_copy(update={"candidate_tools": (Tool(name="find_cafe", parameters={"required": 5}),)}), "pass"),
}  # fmt: skip


@pytest.mark.parametrize(("sample", "verdict"), LACKING.values(), ids=LACKING.keys())
def test_a_required_value_that_is_nowhere_to_be_had_is_a_finding(sample: Sample, verdict: str) -> None:
    check = check_feasibility(sample, FAMILY if sample.speaker else EMPTY)
    assert check.verdict == verdict, check
    assert {f.code for f in check.findings} == ({"missing_required"} if verdict == "fail" else set())
    assert all(f.path.startswith("/calls/0/arguments/") for f in check.findings)


PLACES = [
    ("/0/arguments/cafe", "Cafe Veraberg"), ("/0/name", "find_cafe"), ("/0/arguments/x~1y/1/~0", 5), ("/0/arguments/x~1y/7", None), ("/9/name", None),
    ("/a", None), ("", None), ("/0/arguments/cafe/0", None), ("/0/other/cafe", None), ("/0/arguments/none", None),
]  # fmt: skip


@pytest.mark.parametrize(("pointer", "value"), PLACES, ids=[p or "(none)" for p, _ in PLACES])
def test_a_pointer_leads_to_its_value_or_to_none(pointer: str, value: Any) -> None:
    assert resolve(mother(arguments={"x/y": [1, {"~": 5}]}), pointer) == value


def test_ways_are_counted_and_never_listed() -> None:
    layers = [[f"{layer}-{n}" for n in range(20)] for layer in range(12)]
    facts = [Triple(head=a, relation="r", tail=b) for upper, lower in pairwise(layers) for a in upper for b in lower]
    ends, exists = ends_of(KnowledgeGraph(facts), RelationPath(start="0-0", relations=("r",) * 11))
    assert exists
    assert set(ends.values()) == {1_000_000}


def test_several_calls_are_each_looked_at() -> None:
    calls = (ToolCall(name="find_cafe", arguments={"cafe": "Cafe Veraberg"}), ToolCall(name="nowhere", arguments={"contact": "Hugo"}))
    found = codes(mother(calls=calls, kind="multi_call"))
    assert found == [("tool_not_offered", "/calls/1/name"), ("wrong_entity", "/calls/1/arguments/contact")]
