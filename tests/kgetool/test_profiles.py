"""The three profiles side by side, and answers as texts: lenient verdicts, paths looked up in a graph, calls that are parsed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from familytool.kgetool import score
from familytool.kgetool.lenience import POLICIES, Lenience
from tests.kgetool.test_published_profile import chains, read, search
from tests.kgetool.test_score import ARGUMENT_CASES, call, judge, tool

LENIENT_TOO = {
    "2 numeric string", "2 number for its string", "17 null vs absent", "31 object as JSON text", "31 list as JSON text", "34 case",
    "34 case in a list", "35 outer space", "35 outer space and case", "40 curly apostrophe", "41 full-width digits", "44 date padding",
    "46 time", "46 time with AM", "46 noon", "48 enum case", "any, near one of them",
}  # fmt: skip
"""The cases of the table that only the lenient profile takes for equal. (26 asks for a schema, below.)"""


def lenient(sample: dict[str, Any]) -> dict[str, Any]:
    scores: dict[str, Any] = sample["profiles"]["lenient"]
    return scores


@pytest.mark.parametrize("case", ARGUMENT_CASES, ids=[case[0] for case in ARGUMENT_CASES])
def test_the_lenient_profile_judges_arguments_as_the_case_table_says(case: Any) -> None:
    name, golden, predicted, schema, em, _ = case
    tools = None if schema is None else [tool("f", a=schema)]
    sample = judge([{"name": "f", "arguments": golden}], [{"name": "f", "arguments": predicted}], tools)
    assert (sample["em"], lenient(sample)["em"]) == (em, float(em or name in LENIENT_TOO))


def test_26_a_scalar_stands_for_a_list_of_it_where_the_schema_says_array() -> None:
    golden, predicted = [call(a=["x"])], [call(a="x")]
    assert lenient(judge(golden, predicted, [tool("f", a={"type": "array"})]))["em"] == 1
    assert lenient(judge(golden, predicted, [tool("f", a={})]))["em"] == 0
    assert lenient(judge([call(a=[1])], [call(a=True)], [tool("f", a={"type": "array"})]))["em"] == 0


def test_59_a_sanitised_name_is_its_tool_where_it_is_that_of_one_only() -> None:
    assert lenient(judge([call("m.f")], [call("m_f")], [tool("m.f")]))["em"] == 1
    assert lenient(judge([call("m.f")], [call("m_f")], [tool("m.f"), tool("m f")]))["em"] == 0


@pytest.mark.parametrize(
    ("policy", "golden", "predicted", "schema"),
    [
        ("scalar_for_list", ["x"], "x", {"type": "array"}),
        ("json_in_string", {"p": 1}, '{"p":1}', {"type": "object"}),
        ("dates", "2025-09-01", "2025-9-1", {}),
        ("times", "09:00", "9:00 AM", {}),
        ("enum_spelling", "lost_card", "Lost card", {"enum": ["lost_card", "other"]}),
    ],
)
def test_every_policy_is_a_switch(policy: str, golden: Any, predicted: Any, schema: Any) -> None:
    assert Lenience().same(golden, predicted, schema)
    assert not Lenience(frozenset(POLICIES) - {policy}).same(golden, predicted, schema)
    assert Lenience(frozenset({policy})).same(golden, predicted, schema)


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="no lenient policy 'typos'"):
        Lenience(frozenset({"typos"}))


def of_text(text: str, golden: Any, tools: Any = None, **options: Any) -> dict[str, Any]:
    reference = {"id": "a", "calls": golden} | ({} if tools is None else {"candidate_tools": tools})
    return score([reference], [{"id": "a", "call_text": text}], **options)


F = [{"name": "f", "arguments": {"a": True}}]


@pytest.mark.parametrize(
    ("text", "golden", "em", "em_lenient", "codes", "n_failures"),
    [
        pytest.param('{"name": "f", "arguments": {"a": true}}', F, 1, 1, [], 0, id="json"),
        pytest.param("[f(a=True)]", F, 1, 1, [], 0, id="call text"),
        pytest.param("{'name': 'f', 'arguments': {'a': True,}}", F, 0, 1, ["parse_error"], 1, id="66 repaired"),
        pytest.param('{"name": "f", "argum', F, 0, 0, ["truncated"], 1, id="cut off"),
        pytest.param('{"name": "f", "arguments": {"a": 1, "a": true}}', F, 0, 0, ["duplicate_key"], 1, id="70 a key twice"),
        pytest.param("<think>f(a=True)", F, 0, 0, ["truncated"], 1, id="64 unclosed thinking"),
        pytest.param("I cannot help with that.", F, 0, 0, ["missing_call"], 0, id="prose"),
        pytest.param("I cannot help with that.", [], 1, 1, ["correct_abstain"], 0, id="58 prose is an abstention"),
        pytest.param('{"name": "f", ', [], 0, 0, ["truncated"], 1, id="a broken answer is no abstention"),
        pytest.param('{"' * 500_000, F, 0, 0, ["parse_error"], 1, id="74 a bomb"),
    ],
)
def test_answers_as_texts_are_parsed(text: str, golden: Any, em: int, em_lenient: int, codes: list[str], n_failures: int) -> None:
    result = of_text(text, golden)
    sample = result["samples"][0]
    assert (sample["em"], lenient(sample)["em"], sample["codes"]) == (em, em_lenient, codes)
    assert result["n_parse_failures"] == n_failures


def test_evl_016_broken_outputs_stay_in_the_denominator() -> None:
    references = [{"id": i, "calls": [{"name": "a", "arguments": {}}]} for i in range(2)]
    texts = ['{"name":"a","arguments":{}}', '{"name":"a","argum']
    result = score(references, [{"id": i, "call_text": text} for i, text in enumerate(texts)])
    assert (result["scores"]["strict"]["em"], result["n"], result["n_parse_failures"]) == (0.5, 2, 1)


def test_evl_002_an_extra_call_is_charged() -> None:
    gold, extra = call("a", x=1), call("b")
    sample = judge([gold], [gold, extra])
    assert (sample["em"], sample["tool_acc"], sample["value_acc"]) == (0, 0, 1)
    published = sample["profiles"]["familytool-2025"]
    assert (published["em"], published["tool_acc"], published["value_acc"]) == (1, 1, 1)


def test_evl_004_a_call_left_out_does_not_raise_value_acc() -> None:
    sample = judge([call("a", x=1), call("b", y=2, z=3)], [call("a", x=1)])
    assert (sample["em"], sample["tool_acc"], sample["tool_recall"], sample["value_acc"]) == (0, 0, 0.5, 1 / 3)
    published = sample["profiles"]["familytool-2025"]
    assert (published["em"], published["tool_acc"], published["value_acc"]) == (0, 0.5, 1)


def test_evl_006_no_call_expected() -> None:
    scores = [judge(gold, predicted) for gold, predicted in ([[], []], [[], [call("a")]], [[call("a")], []])]
    assert [(s["em"], s["tool_acc"], s["value_acc"]) for s in scores] == [(1, 1, None), (0, 0, None), (0, 0, None)]


def test_evl_008_the_order_of_keys_is_none_and_that_of_arrays_is_one() -> None:
    nested = judge([call("f", p={"a": 1, "b": [{"c": 1, "d": 2}]})], [call("f", p={"b": [{"d": 2, "c": 1}], "a": 1})])
    assert nested["em"] == 1
    assert judge([call("f", p=[1, 2])], [call("f", p=[2, 1])])["em"] == 0


def test_evl_014_a_bare_text_is_no_list_of_samples() -> None:
    with pytest.raises(ValueError, match="give a list"):
        score("abd", "abc")  # type: ignore[arg-type]


def test_evl_018_a_part_of_a_value_is_not_the_value() -> None:
    sample = judge([call("f", n="5", city="New York")], [call("f", n="15", city="York")])
    assert (sample["value_acc"], lenient(sample)["value_acc"]) == (0, 0)


KG = [["Bob", "mother", "Alice"], ["Alice", "prefer_city", "c1"], ["Alice", "prefer_food", "f1"], ["Jack", "prefer_city", "c2"]]


def of_paths(text: str, golden: list[list[str]], **options: Any) -> dict[str, Any]:
    reference = {"id": "a", "calls": [call("book", city="c1")], "golden_triples": golden}
    return score([reference], [{"id": "a", "paths_text": text, "calls": [call("book", city="c1")]}], **{"graph": KG, **options})


def test_paths_are_looked_up_in_the_graph() -> None:
    result = of_paths(search("Bob", ["mother", "prefer_city"]), KG[:2])
    strict = result["scores"]["strict"]
    assert (strict["kg_em"], strict["kg_f1"], strict["kg_coverage"], strict["kg_no_hallucination"]) == (1, 1, 1, 1)
    assert result["causal_split"]["covered_right"] == 1
    published = result["scores"]["familytool-2025"]
    assert (published["kg_em"], published["kg_no_hallucination"]) == (1, 1)


def test_the_start_node_defect_shows_in_the_published_profile_alone() -> None:
    result = of_paths(search("Bob", ["mother", "prefer_city"]), KG[:2], extraction="retrieval")
    assert (result["scores"]["strict"]["kg_em"], result["scores"]["familytool-2025"]["kg_em"]) == (1, 0)
    assert result["extraction"]["encoder"] == "lexical"


def test_kgx_011_both_sides_empty() -> None:
    reference = {"id": "a", "calls": [], "golden_triples": []}
    both = score([reference], [{"id": "a", "calls": [], "triples": []}])["scores"]
    assert (both["strict"]["kg_em"], both["strict"]["kg_f1"]) == (1, 1)
    assert (both["familytool-2025"]["kg_em"], both["familytool-2025"]["kg_f1"]) == (1, 0)
    one = score([reference], [{"id": "a", "calls": [], "triples": KG[:1]}])["scores"]["strict"]
    assert (one["kg_em"], one["kg_f1"]) == (0, 0)


def test_kgx_017_no_usable_extraction_at_all() -> None:
    references = [{"id": i, "calls": [call("f", x=tail)], "golden_triples": [["A", "r", tail]]} for i, tail in enumerate("BC")]
    texts = ["no call here", "KG.search(start=)"]
    result = score(references, [{"id": i, "paths_text": text} for i, text in enumerate(texts)], graph=[["A", "r", "B"], ["A", "r", "C"]])
    strict = result["scores"]["strict"]
    assert (strict["kg_em"], strict["kg_f1"], strict["kg_coverage"], strict["kg_no_hallucination"]) == (0, 0, 0, None)
    assert result["extraction"]["codes"] == {"unparsable": 2}
    assert result["n"] - result["n_not_applicable"]["kg_no_hallucination"] == 0


def test_of_several_tails_those_that_the_golden_path_brings_are_not_charged() -> None:
    graph = [["Bob", "mother", "Alice"], ["Alice", "city", "c1"], ["Alice", "city", "c2"], ["Bob", "city", "c1"]]
    golden = [graph[0], graph[1]]
    right = of_paths(search("Bob", ["mother", "city"]), golden, graph=graph)
    assert (right["scores"]["strict"]["kg_em"], right["samples"][0]["codes"]) == (1, ["several_tails"])
    wrong = of_paths(search("Bob", ["city"]), golden, graph=graph)
    assert wrong["scores"]["strict"]["kg_f1"] == 0


def test_a_graph_can_come_inside_the_reference_or_by_its_id() -> None:
    reference = {"id": "a", "calls": [call("f")], "golden_triples": KG[:1]}
    prediction = {"id": "a", "paths_text": search("Bob", ["mother"])}
    for inside, graph in (({"graph": KG}, None), ({"graph_id": "g"}, {"g": KG})):
        assert score([reference | inside], [prediction], graph=graph)["scores"]["strict"]["kg_em"] == 1
    with pytest.raises(ValueError, match="no graph in which to look"):
        score([reference | {"graph_id": "other"}], [prediction], graph={"g": KG})


@pytest.mark.full
@pytest.mark.parametrize("method", ["exact", "greedy", "retrieval"])
@pytest.mark.parametrize("name", ["v0", "b", "e"])
def test_oracle_paths_score_one_in_the_corrected_profile(name: str, method: str, foreign_data: Callable[[str], Any]) -> None:
    facts, rows = read(foreign_data("familytool"), name)
    references = [{"id": i, "calls": calls, "golden_triples": triples} for i, (triples, calls) in enumerate(rows)]
    texts = ["\n".join(search(chain[0].head, [fact.relation for fact in chain]) for chain in chains(triples)) for triples, _ in rows]
    predictions = [{"id": i, "paths_text": text, "calls": rows[i][1]} for i, text in enumerate(texts)]
    strict = score(references, predictions, graph=facts.triples, extraction=method)["scores"]["strict"]
    wanted = {"em", "kg_em", "kg_f1", "kg_coverage", "kg_no_hallucination"}
    assert {metric: strict[metric] for metric in wanted} == dict.fromkeys(wanted, 1.0)
