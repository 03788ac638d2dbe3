from typing import Any

import pytest

from familytool.graph import KnowledgeGraph
from familytool.model import Finding, Sample, Tool, ToolCall, Triple
from familytool.validation.intent import check_intent
from tests.validation.family import CAFE, FAMILY, asked, foreign

QUERY = "Book my mother's prefer cafe for 4 on 3 June 2025"
EMPTY = KnowledgeGraph()


def booked(more: str = "", query: str = QUERY, parameters: dict[str, Any] | None = None, **arguments: Any) -> Sample:
    """The mother's cafe, booked with these further arguments, which may be declared."""
    arguments = {"seats": 4, "day": "2025-06-03", **arguments}
    properties = {**CAFE.parameters["properties"], **(parameters or {})}
    tool = CAFE.model_copy(update={"parameters": {"type": "object", "properties": properties}})
    return asked(query + more, "mother", "prefer_cafe", arguments=arguments, candidate_tools=(tool,))


def codes(sample: Sample, graph: KnowledgeGraph = FAMILY) -> list[tuple[str, str]]:
    return [(f.code, f.path) for f in check_intent(sample, graph).findings]


A = "/calls/0/arguments"
ORIGINS: dict[str, tuple[Sample, str]] = {
    # sample, verdict; a failing one has exactly one finding, ungrounded_value at /calls/0/arguments/x
    "in words": (booked(" near the harbour", x="harbour"), "pass"),
    "in another case": (booked(" near the HARBOUR", x="harbour"), "pass"),
    "a number in words": (booked(" with twelve chairs", x="12"), "pass"),
    "a scaled number": (booked(" for 2 million euros", x=2000000), "pass"),
    "a share in per cent": (booked(" with 5 % tip", x=0.05), "pass"),
    "a negative number": (booked(" at -5 degrees", x=-5), "pass"),
    "another sign": (booked(" at 5 degrees", x=-5), "fail"),
    "a plural": (booked(" with dentists", x="dentist"), "pass"),
    "an underscore": (booked(" at my current location", x="current_location"), "pass"),
    "a time in another form": (booked(" at half past seven in the evening", x="19:30"), "pass"),
    "the speaker": (booked(x="Nora"), "pass"),
    "a golden fact": (booked(x="Vera"), "pass"),
    "a list of stated things": (booked(" with ham and olives", x="ham, olives"), "pass"),
    "a list with one that is not": (booked(" with ham and olives", x="ham, corn"), "fail"),
    "the default": (booked(parameters={"x": {"default": "dontcare"}}, x="dontcare"), "pass"),
    "the default as text": (booked(parameters={"x": {"default": "1"}}, x=1), "pass"),
    "the default of a list": (booked(parameters={"x": {"type": "array", "default": ["all"]}}, x=["all"]), "pass"),
    "not the default: true is not 1": (booked(parameters={"x": {"default": True}}, x=1), "fail"),
    "an item of an enum, said": (booked(" outside", parameters={"x": {"enum": ["INSIDE", "OUTSIDE"]}}, x="OUTSIDE"), "pass"),
    "an item of an enum, unsaid": (booked(parameters={"x": {"enum": ["INSIDE", "OUTSIDE"]}}, x="OUTSIDE"), "unknown"),
    "an item of a list's enum": (booked(parameters={"x": {"items": {"anyOf": [{"enum": ["B"]}]}}}, x=["B"]), "unknown"),
    "a truth value": (booked(x=True), "unknown"),
    "null": (booked(x=None), "unknown"),
    "a year that is not said": (booked(" or 9 July", x="2026-07-09"), "fail"),
    "another number": (booked(x=5), "fail"),
    "a part of a time": (booked(" at 12:30", x="30", y="12:30"), "fail"),
    "a word inside a word": (booked(" with carpets", x="pet"), "fail"),
    "from nowhere": (booked(x="Lisbon"), "fail"),
    "the fact of somebody else": (booked(x="Cafe Ottoberg"), "fail"),
}  # fmt: skip


@pytest.mark.parametrize(("sample", "verdict"), ORIGINS.values(), ids=ORIGINS.keys())
def test_a_value_comes_from_the_query_the_golden_facts_or_the_document(sample: Sample, verdict: str) -> None:
    check = check_intent(sample, FAMILY)
    assert check.verdict == verdict, check.findings
    assert [(f.code, f.path) for f in check.findings] == ([("ungrounded_value", f"{A}/x")] if verdict == "fail" else [])


def test_an_inferred_year_is_named_as_such() -> None:
    [finding] = check_intent(ORIGINS["a year that is not said"][0], FAMILY).findings
    assert "its day is stated, its year is not" in finding.message


def test_every_leaf_of_nested_arguments_is_looked_at_and_named_by_its_pointer() -> None:
    sample = booked(" with ham", x={"a/b": ["ham", "corn"], "~": {"deep": "salt"}})
    assert codes(sample) == [("ungrounded_value", f"{A}/x/a~1b/1"), ("ungrounded_value", f"{A}/x/~0/deep")]


REFERENCES = {
    "a result": ({"source": "result", "call": 0, "result": "id", "text": "$v.id$", "embedded": False}, "$v.id$"),
    "an embedded result": ({"source": "result", "call": 0, "result": "n", "text": "$v.n$", "embedded": True}, "5 * $v.n$"),
    "a hole": ({"source": "hole", "text": "<city>"}, "<city>"),
}


@pytest.mark.parametrize(("source", "value"), REFERENCES.values(), ids=REFERENCES.keys())
@pytest.mark.parametrize("place", ["", "/0"])
def test_a_reference_or_a_hole_is_never_ungrounded(source: dict[str, Any], value: str, place: str) -> None:
    sample = booked(x=[value] if place else value).model_copy(update={"argument_sources": {f"/0/arguments/x{place}": source}})
    assert codes(sample) == []
    assert codes(sample.model_copy(update={"argument_sources": {}})) == [("ungrounded_value", f"{A}/x" + ("/0" if place else ""))]


def test_the_result_of_a_tool_that_is_offered_or_called_is_no_text_from_nowhere() -> None:
    assert codes(booked(x="find_cafe.address")) == []
    assert codes(booked(x="Dr. Smith")) == [("ungrounded_value", f"{A}/x")]
    assert codes(booked(x="find_cafes.address")) == [("ungrounded_value", f"{A}/x")]


def test_one_accepted_alternative_that_is_stated_is_enough() -> None:
    sample = booked(" in New York", x="New York City", parameters={"x": {}})
    arguments = {**sample.calls[0].arguments, "x": {"$any": ["New York City", "New York"], "optional": False}}
    with_choice = sample.model_copy(update={"alternatives": ((ToolCall(name="find_cafe", arguments=arguments),),)})
    assert codes(sample) == [("ungrounded_value", f"{A}/x")]
    assert codes(with_choice) == []
    assert codes(sample.model_copy(update={"calls": with_choice.alternatives[0]})) == []


UNUSED: dict[str, tuple[Sample, list[str]]] = {
    "a number": (booked(" with 7 chairs"), ["7"]),
    "a number word": (booked(" with seven chairs"), ["seven"]),
    "a date": (booked(" or 9 July 2025"), ["9 July 2025"]),
    "a time": (booked(" at 7 pm"), ["7 pm"]),
    "an address": (booked(" for a@example.org"), ["a@example.org"]),
    "two of them": (booked(" with 7 chairs and 9 tables"), ["7", "9"]),
    "all are used": (booked(), []),
    "the same number twice": (booked(" and 4 chairs"), []),
    "within a longer text": (booked(" in 30 minutes", x="30 minutes before that"), []),
    "the length of a list": (booked(" with two toppings, ham and corn", x=["ham", "corn"]), []),
    "a duration in a code": (booked(" for 6 months", x="P6M", parameters={"x": {"enum": ["P6M"]}}), []),
    "the other half of the day": (booked(" at seven o'clock", x="19:00"), []),
    "a date whose year is inferred": (booked(" until 9 July", x="2026-07-09"), []),
}


@pytest.mark.parametrize(("sample", "unused"), UNUSED.values(), ids=UNUSED.keys())
def test_what_the_query_states_and_no_argument_uses_is_a_finding_at_its_place(sample: Sample, unused: list[str]) -> None:
    found = [f for f in check_intent(sample, FAMILY).findings if f.code == "unused_value"]
    assert [f.value for f in found] == unused
    assert all(sample.query[int(f.path.removeprefix("/query/")) :].startswith(f.value) for f in found)


def add(*pairs: tuple[int, int]) -> list[tuple[str, dict[str, Any]]]:
    return [("add", {"a": a, "b": b}) for a, b in pairs]


SUMS = "Add 1 and 2, 3 and 4, and 5 and 6."
FEWER: dict[str, tuple[Sample, list[str]]] = {
    "val-029": (foreign(SUMS, *add((1, 2), (3, 4))), ["5", "6"]),
    "one call of three": (foreign(SUMS, *add((1, 2))), ["3", "4", "5", "6"]),
    "one of a pair": (foreign("Convert 5 dollars and 7 euros.", ("convert", {"amount": 5})), ["7"]),
    "all calls": (foreign(SUMS, *add((1, 2), (3, 4), (5, 6))), []),
    "a sum with a negative number": (foreign("Add 5 and a loss of 7.", ("add", {"a": 5, "b": -7})), []),
    "the number of calls": (foreign("Make 2 calls: add 7 and 8, and 5 and 6", *add((7, 8), (5, 6))), []),
    "an exponent is no number": (foreign("Accelerate by 7 m/s^2 over HTTP/2.", ("run", {"a": 7})), []),
    "a telephone number is none either": (foreign("Add 7, call me at 555-123-3214.", ("run", {"a": 7})), []),
}


@pytest.mark.parametrize(("sample", "unused"), FEWER.values(), ids=FEWER.keys())
def test_fewer_calls_than_were_asked_for_leave_numbers_unused(sample: Sample, unused: list[str]) -> None:
    check = check_intent(sample, EMPTY)
    assert [f.value for f in check.findings] == unused
    assert {f.code for f in check.findings} <= {"unused_value"}
    assert (check.verdict == "fail") == bool(unused)


OPEN = {
    "a value that the query does not state": foreign("Book it for tonight", ("book", {"city": "Lisbon"})),
    "no value of the query is used": foreign("My order 4711 is late", ("track", {"mode": "all"})),
    "a dialogue, by its lines": foreign("User: add 1 and 2\nAssistant: done\nUser: and 5 and 6", *add((1, 2))),
    "a dialogue, as its reader says": foreign("add 5, after 6", ("add", {"a": 5}), provenance={"dialogue_before": "User: hello"}),
    "several turns": foreign("add 5, after 6", ("add", {"a": 5}), provenance={"turns": [1, 0]}),
}


@pytest.mark.parametrize("sample", OPEN.values(), ids=OPEN.keys())
def test_what_another_turn_may_explain_is_unknown_and_no_finding(sample: Sample) -> None:
    check = check_intent(sample, EMPTY)
    assert (check.verdict, check.findings) == ("unknown", ())


def test_a_value_from_nowhere_is_a_finding_where_the_reader_says_that_the_query_is_complete() -> None:
    complete = OPEN["a value that the query does not state"].model_copy(update={"provenance": {"complete": True}})
    assert codes(complete, EMPTY) == [("ungrounded_value", f"{A}/city")]


def test_what_was_said_before_grounds_a_value() -> None:
    before = {"dialogue_before": "User: I'm in Lisbon."}
    sample = foreign("Book it for tonight", ("book", {"city": "Lisbon", "day": "tonight"}), provenance=before)
    assert check_intent(sample, EMPTY).verdict == "pass"


def test_of_a_set_without_graph_nothing_is_asked_of_kinship() -> None:
    sample = foreign("Call my mother's sister in Lisbon", ("call", {"city": "Lisbon"}))
    assert check_intent(sample, EMPTY).verdict == "pass"
    assert check_intent(sample, FAMILY).verdict == "pass"


LEAKS: dict[str, tuple[Sample, list[str]]] = {
    "the answer": (booked(", Cafe Veraberg"), ["/query/51"]),
    "not the answer": (booked(", Cafe Veraberge"), []),
    "a fact in brackets": (booked(", [Vera, prefer_cafe, Cafe Veraberg]"), ["/query/51"]),
    "brackets that are no fact": (booked(", [not, a, fact]"), []),
    "an answer that no argument needs": (
        asked("For Tim, my son, at my cafe", "prefer_cafe", golden_paths=(asked("", "son").golden_paths)), [],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("sample", "places"), LEAKS.values(), ids=LEAKS.keys())
def test_the_answer_must_not_stand_in_the_query(sample: Sample, places: list[str]) -> None:
    assert [f.path for f in check_intent(sample, FAMILY).findings if f.code == "answer_leaked"] == places


def test_a_recipe_that_is_none_neither_breaks_the_check_nor_passes_it() -> None:
    for wording in ([{"tool": 5}], [1], {"a": 1}, [{"tool": "find_cafe", "sentence": "{", "segments": [], "slots": {}, "connector": ""}]):
        check = check_intent(booked(x="Lisbon").model_copy(update={"provenance": {"wording": wording}}), FAMILY)
        assert check.verdict == "fail"


HOSTILE = {
    "sources": {"/0/arguments/cafe": {"source": "graph", "path": {"start": 1, "relations": "x"}, "span": [None, "a"]}},
    "places": {"nowhere": {"source": "graph", "path": {"start": "Nora", "relations": ["mother"]}, "span": [-9, 10**9]}},
}


@pytest.mark.parametrize("sources", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_sources_never_end_in_a_traceback(sources: dict[str, dict[str, Any]]) -> None:
    check = check_intent(booked().model_copy(update={"argument_sources": sources}), FAMILY)
    assert all(isinstance(f, Finding) for f in check.findings)


def test_deep_and_wide_arguments_are_read_in_time() -> None:
    deep: Any = "x"
    for _ in range(500):
        deep = {"a": [deep]}
    sample = booked(x=deep, y=[str(n) for n in range(2000)])
    assert check_intent(sample, FAMILY).verdict == "fail"


def test_findings_stand_in_a_stable_order() -> None:
    sample = booked(" and 7, Cafe Veraberg", query=QUERY.replace("mother", "father"), x="Lisbon")
    order = ["kinship_mismatch", "kinship_mismatch", "ungrounded_value", "unused_value", "answer_leaked"]
    assert [f.code for f in check_intent(sample, FAMILY).findings] == order
    assert check_intent(sample, FAMILY) == check_intent(sample.model_copy(), FAMILY)


def test_a_tool_or_triple_with_odd_schemas_is_no_obstacle() -> None:
    tool = Tool(name="find_cafe", parameters={"properties": {"cafe": True, "seats": [], "day": {"enum": 5, "anyOf": "x"}}})
    sample = booked().model_copy(update={"candidate_tools": (tool,), "golden_triples": (Triple(head="", relation="", tail=""),)})
    assert isinstance(check_intent(sample, FAMILY).findings, tuple)
