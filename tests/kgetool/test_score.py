"""The strict profile against the case table of the scoring contract."""

from __future__ import annotations

import ast
import itertools
import json
import math
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from familytool.kgetool import score, version
from familytool.kgetool.intervals import wilson_interval
from familytool.kgetool.matching import best_assignment
from familytool.kgetool.tool_use import TOOL_METRICS
from familytool.kgetool.values import values_are_equal

# The package re-exports the function under the module's own name, so the module is taken from where imports keep it.
module = sys.modules["familytool.kgetool.score"]
FOLDER = Path(module.__file__ or "").parent

UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""No test depends on the speed of the machine."""

AB, BC = ["A", "r", "B"], ["B", "s", "C"]


def call(_name: str = "f", /, **arguments: Any) -> dict[str, Any]:
    return {"name": _name, "arguments": arguments}


def tool(_name: str = "f", /, **properties: Any) -> dict[str, Any]:
    return {"name": _name, "parameters": {"type": "object", "properties": properties}}


def judge(golden: Any, predicted: Any, tools: Any = None, **fields: Any) -> dict[str, Any]:
    reference = {"id": "a", "calls": golden, **fields} | ({} if tools is None else {"candidate_tools": tools})
    sample: dict[str, Any] = score([reference], [{"id": "a", "calls": predicted}])["samples"][0]
    return sample


def judge_triples(golden: Any, extracted: Any, calls: Any = ()) -> dict[str, Any]:
    reference = {"id": "a", "calls": list(calls), "golden_triples": golden}
    sample: dict[str, Any] = score([reference], [{"id": "a", "calls": list(calls), "triples": extracted}])["samples"][0]
    return sample


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


INTEGER, OBJECT = {"type": "integer"}, {"type": "object"}
TEN = {"type": "integer", "default": 10}
CARD = {"type": "string", "enum": ["lost_or_stolen_card", "card_arrival"]}

# id, golden arguments, predicted arguments, the schema of `a`, em, codes
ARGUMENT_CASES: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any] | None, int, list[str]]] = [
    ("1 int vs integral float", {"a": 1}, {"a": 1.0}, None, 1, []),
    ("2 numeric string", {"a": 5}, {"a": "5"}, INTEGER, 0, ["type_mismatch"]),
    ("2 number for its string", {"a": "5"}, {"a": 5}, None, 0, ["type_mismatch"]),
    ("2 another number as string", {"a": 5}, {"a": "6"}, INTEGER, 0, ["value_wrong"]),
    ("4 zero-padded id, string", {"a": "0012"}, {"a": "12"}, None, 0, ["value_wrong"]),
    ("4 zero-padded id, number", {"a": "0012"}, {"a": 12}, None, 0, ["value_wrong"]),
    ("5 bool vs 1", {"a": True}, {"a": 1}, None, 0, ["type_mismatch"]),
    ("5 0 vs false", {"a": 0}, {"a": False}, None, 0, ["type_mismatch"]),
    ("7 yes for true", {"a": True}, {"a": "yes"}, None, 0, ["type_mismatch"]),
    ("8 float noise", {"a": 0.3}, {"a": 0.30000000000000004}, None, 1, []),
    ("8 beyond noise", {"a": 0.3}, {"a": 0.3000001}, None, 0, ["value_wrong"]),
    ("8 noise next to an integer", {"a": 3}, {"a": 3.0000000000000004}, None, 1, []),
    ("9 huge integers", {"a": 10**30}, {"a": 10**30 + 1}, None, 0, ["value_wrong"]),
    ("9 an id as float", {"a": 2**53 + 1}, {"a": float(2**53)}, None, 0, ["value_wrong"]),
    ("9 integer beyond the floats", {"a": 10**5000}, {"a": 0.5}, None, 0, ["value_wrong"]),
    ("9 integer beyond the digits", {"a": "1"}, {"a": 10**5000}, None, 0, ["value_wrong"]),
    ("10 sign", {"a": "-5"}, {"a": "5"}, None, 0, ["value_wrong"]),
    ("11 decimal point", {"a": "1.5"}, {"a": "15"}, None, 0, ["value_wrong"]),
    ("13 NaN", {"a": 1}, {"a": math.nan}, None, 0, ["invalid_number"]),
    ("13 Infinity", {"a": 1}, {"a": math.inf}, None, 0, ["invalid_number"]),
    ("13 NaN in a list", {"a": [1]}, {"a": [math.nan]}, None, 0, ["invalid_number"]),
    ("14 negative zero", {"a": 0}, {"a": -0.0}, None, 1, []),
    ("16 null for a value", {"a": "x"}, {"a": None}, None, 0, ["value_wrong"]),
    ("17 null vs absent", {"a": None}, {}, None, 0, ["missing_param"]),
    ("17 absent vs null", {}, {"a": None}, None, 0, ["extra_param"]),
    ("17 null is the default", {"a": None}, {}, {"default": None}, 1, ["default_used"]),
    ("19 default made explicit", {}, {"a": 10}, TEN, 1, ["default_used"]),
    ("19 default left out", {"a": 10}, {}, TEN, 1, ["default_used"]),
    ("19 default as float", {}, {"a": 10.0}, TEN, 1, ["default_used"]),
    ("20 another value than the default", {}, {"a": 11}, TEN, 0, ["extra_param"]),
    ("20 default for another value", {"a": 11}, {}, TEN, 0, ["missing_param"]),
    ("22 undeclared but golden", {"g": "jazz"}, {"g": "jazz"}, {}, 1, ["schema_gold_violation"]),
    ("23 empty string vs absent", {}, {"a": ""}, None, 0, ["extra_param"]),
    ("25 list duplicates", {"a": ["x", "x", "y"]}, {"a": ["x", "y", "y"]}, None, 0, ["list_items"]),
    ("25 list order", {"a": [1, 2]}, {"a": [2, 1]}, None, 0, ["list_items"]),
    ("25 list length", {"a": [1, 2]}, {"a": [1]}, None, 0, ["list_items"]),
    ("26 scalar for one-item list", {"a": ["x"]}, {"a": "x"}, None, 0, ["type_mismatch"]),
    ("28 True inside list", {"a": [1]}, {"a": [True]}, None, 0, ["type_mismatch"]),
    ("29 nested key order", {"a": {"p": 1, "q": 2}}, {"a": {"q": 2, "p": 1}}, None, 1, []),
    ("29 nested key absent", {"a": {"p": 1, "q": None}}, {"a": {"p": 1}}, None, 0, ["value_wrong"]),
    ("31 object as JSON text", {"a": {"p": 1}}, {"a": '{"p":1}'}, OBJECT, 0, ["json_in_string"]),
    ("31 list as JSON text", {"a": [1]}, {"a": " [1] "}, None, 0, ["json_in_string"]),
    ("31 a key twice is no JSON", {"a": {"p": 1}}, {"a": '{"p":2,"p":1}'}, OBJECT, 0, ["type_mismatch"]),
    ("31 text behind the JSON", {"a": {"p": 1}}, {"a": '{"p":1} or so'}, OBJECT, 0, ["type_mismatch"]),
    ("31 a number beyond the floats", {"a": [1]}, {"a": "[1e999]"}, None, 0, ["type_mismatch"]),
    ("31 JSON without end", {"a": [1]}, {"a": "[" * 5000 + "1" + "]" * 5000}, None, 0, ["type_mismatch"]),
    ("31 another object as JSON text", {"a": {"p": 1}}, {"a": '{"p":2}'}, OBJECT, 0, ["type_mismatch"]),
    ("31 a bomb as JSON text", {"a": {"p": 1}}, {"a": '{"p":' * 100_000}, OBJECT, 0, ["type_mismatch"]),
    ("32 JSON text where text is right", {"a": '{"p":1}'}, {"a": '{"p":1}'}, None, 1, []),
    ("32 other JSON text", {"a": '{"p":1}'}, {"a": '{"p": 1}'}, None, 0, ["value_wrong"]),
    ("34 case", {"a": "Dallas"}, {"a": "dallas"}, None, 0, ["case"]),
    ("34 case in a list", {"a": ["Dallas"]}, {"a": ["dallas"]}, None, 0, ["case"]),
    ("35 outer space", {"a": "x"}, {"a": " x\n"}, None, 0, ["whitespace"]),
    ("35 outer space and case", {"a": "x"}, {"a": " X"}, None, 0, ["case", "whitespace"]),
    ("37 space removed", {"a": "New York"}, {"a": "NewYork"}, None, 0, ["value_wrong"]),
    ("38 NFC vs NFD", {"a": "\u00e9"}, {"a": "e\u0301"}, None, 1, []),
    ("38 NFD in keys", {"a": {"\u00e9": 1}, "\u00e9": 2}, {"a": {"e\u0301": 1}, "e\u0301": 2}, None, 1, []),
    ("40 curly apostrophe", {"a": "O'Brien"}, {"a": "O\u2019Brien"}, None, 0, ["punctuation"]),
    ("41 full-width digits", {"a": "12"}, {"a": "\uff11\uff12"}, None, 0, ["unicode"]),
    ("43 substring", {"a": "York"}, {"a": "New York"}, None, 0, ["value_wrong"]),
    ("44 date padding", {"a": "2025-09-01"}, {"a": "2025-9-1"}, None, 0, ["date_format"]),
    ("46 time", {"a": "09:00"}, {"a": "9:00"}, None, 0, ["time_format"]),
    ("46 time with AM", {"a": "09:00"}, {"a": "9:00 AM"}, None, 0, ["time_format"]),
    ("46 noon", {"a": "12:00"}, {"a": "12:00 pm"}, None, 0, ["time_format"]),
    ("46 other half of the day", {"a": "09:00"}, {"a": "9:00 PM"}, None, 0, ["value_wrong"]),
    ("47 open date", {"a": "2025-09-01"}, {"a": "September 1st"}, None, 0, ["underdetermined"]),
    ("47 relative date", {"a": "2025-09-01"}, {"a": "next Monday"}, None, 0, ["underdetermined"]),
    ("48 enum case", {"a": "lost_or_stolen_card"}, {"a": "Lost or stolen card"}, CARD, 0, ["enum"]),
    ("48 another item", {"a": "lost_or_stolen_card"}, {"a": "Card arrival"}, CARD, 0, ["value_wrong"]),
    ("74 at the depth limit", {"a": nested(64)}, {"a": nested(64)}, None, 1, []),
    ("74 beyond the depth limit", {"a": nested(65)}, {"a": nested(65)}, None, 0, ["parse_limit"]),
    ("74 depth bomb", {"a": 1}, {"a": nested(100_000)}, None, 0, ["parse_limit"]),
    ("74 depth bomb that is extra", {}, {"a": nested(100_000)}, None, 0, ["parse_limit"]),
    ("74 size bomb", {"a": 1}, {"a": [0] * 200_000}, None, 0, ["parse_limit"]),
    ("any, one of them", {"a": {"$any": ["x", "y"]}}, {"a": "y"}, None, 1, []),
    ("any, none of them", {"a": {"$any": ["x", "y"]}}, {"a": "z"}, None, 0, ["value_wrong"]),
    ("any, near one of them", {"a": {"$any": ["x", "y"]}}, {"a": "Y"}, None, 0, ["case"]),
    ("any, required", {"a": {"$any": ["x"]}}, {}, None, 0, ["missing_param"]),
    ("any, optional and absent", {"a": {"$any": ["x"], "optional": True}}, {}, None, 1, []),
    ("any, optional and wrong", {"a": {"$any": ["x"], "optional": True}}, {"a": "z"}, None, 0, ["value_wrong"]),
    ("any, optional and the default", {"a": {"$any": [11], "optional": True}}, {"a": 10}, TEN, 1, []),
    ("any, not as an answer", {"a": "x"}, {"a": {"$any": ["x"]}}, None, 0, ["type_mismatch"]),
]


@pytest.mark.parametrize(("golden", "predicted", "schema", "em", "codes"), [pytest.param(*case[1:], id=case[0]) for case in ARGUMENT_CASES])
def test_arguments_are_compared_as_the_case_table_says(golden: Any, predicted: Any, schema: Any, em: int, codes: list[str]) -> None:
    tools = None if schema is None else [tool("f", a=schema)]
    sample = judge([{"name": "f", "arguments": golden}], [{"name": "f", "arguments": predicted}], tools)
    assert (sample["em"], sample["codes"]) == (em, codes)
    assert sample["tool_acc"] == 1


F1, F2 = call(a=1), call(a=2)
ALL_TOOLS = [tool("f", a={}), tool("g"), tool("h")]

# id, golden calls, predicted calls, candidate tools, what must hold of the sample
CALL_CASES: list[tuple[str, Any, Any, Any, dict[str, Any]]] = [
    ("49 parallel order", [F1, F2], [F2, F1], None, {"em": 1, "codes": []}),
    (
        "50 greedy trap",
        [call(a={"$any": [1, 2]}), call(a={"$any": [1]})],
        [F1, F2],
        None,
        {"em": 1, "value_acc": 1, "codes": []},
    ),
    (
        "52 repeat once too often",
        [F1],
        [F1, F1],
        None,
        {"em": 0, "tool_acc": 0, "tool_recall": 1, "tool_precision": 0.5, "value_acc": 1, "value_f1": 2 / 3, "codes": ["extra_call"]},
    ),
    ("53 shotgun", [F1], [F1, call("g"), call("h")], ALL_TOOLS, {"em": 0, "tool_acc": 0, "tool_recall": 1, "codes": ["extra_call"]}),
    (
        "55 both empty",
        [],
        [],
        None,
        {"em": 1, "tool_acc": 1, "tool_precision": 1, "tool_recall": 1, "tool_f1": 1, "value_acc": None, "value_f1": None}
        | {"codes": ["correct_abstain"]},
    ),
    ("56 unwanted call", [], [F1], None, {"em": 0, "tool_acc": 0, "tool_f1": 0, "value_acc": None, "codes": ["unwanted_call"]}),
    ("58 no candidates", [], [], [], {"em": 1, "codes": ["correct_abstain"]}),
    ("59 sanitised name", [call("m.f")], [call("m_f")], [tool("m.f")], {"em": 0, "codes": ["missing_call", "name_sanitised"]}),
    ("61 hallucinated tool", [F1], [call("search_web")], ALL_TOOLS, {"em": 0, "codes": ["missing_call", "unknown_tool"]}),
    (
        "61 another candidate",
        [F1],
        [call("g")],
        ALL_TOOLS,
        {"em": 0, "tool_f1": 0, "value_acc": 0, "codes": ["extra_call", "missing_call"]},
    ),
    ("67 three copies", [F1], [F1, F1, F1], None, {"em": 0, "codes": ["extra_call"]}),
    ("68 two tools", [F1, call("g", b=2)], [call("g", b=2), F1], None, {"em": 1}),
    (
        "73 arguments null",
        [F1],
        [{"name": "f", "arguments": None}],
        None,
        {"em": 0, "tool_acc": 1, "value_acc": 0, "codes": ["bad_arguments"]},
    ),
    ("73 arguments list", [F1], [{"name": "f", "arguments": [1]}], None, {"em": 0, "codes": ["bad_arguments"]}),
    ("73 arguments number", [F1], [{"name": "f", "arguments": 3}], None, {"em": 0, "codes": ["bad_arguments"]}),
    (
        "73 no arguments needed",
        [call()],
        [{"name": "f", "arguments": None}],
        None,
        {"em": 0, "value_acc": None, "codes": ["bad_arguments"]},
    ),
    ("73 not a call", [F1], [F1, "f(1)"], None, {"em": 0, "tool_acc": 0, "codes": ["bad_call", "extra_call"]}),
    ("73 not a call is no abstention", [], [None], None, {"em": 0, "codes": ["bad_call", "unwanted_call"]}),
    ("missing call", [F1, F2], [F2], None, {"em": 0, "tool_recall": 0.5, "value_acc": 0.5, "codes": ["missing_call"]}),
    ("no call", [F1], [], None, {"em": 0, "tool_f1": 0, "tool_precision": 0, "value_acc": 0, "value_f1": 0, "codes": ["missing_call"]}),
    ("no golden pairs", [call()], [call(x=1)], None, {"em": 0, "value_acc": None, "value_f1": None, "codes": ["extra_param"]}),
    ("surplus pair", [F1], [call(a=1, b=2)], None, {"value_acc": 1, "value_f1": 2 / 3}),
    ("default is not surplus", [F1], [call(a=1, n=10)], [tool("f", a={}, n=TEN)], {"em": 1, "value_f1": 1}),
]


@pytest.mark.parametrize(("golden", "predicted", "tools", "expected"), [pytest.param(*case[1:], id=case[0]) for case in CALL_CASES])
def test_calls_are_judged_as_the_case_table_says(golden: Any, predicted: Any, tools: Any, expected: dict[str, Any]) -> None:
    sample = judge(golden, predicted, tools)
    assert {key: sample[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("schema", "arguments", "is_broken"),
    [
        pytest.param({"properties": {"a": {}}, "additionalProperties": True}, {"g": 1}, False, id="open"),
        pytest.param({"properties": {"a": {}}, "required": ["a"]}, {}, True, id="required"),
        pytest.param({"properties": {"a": {"type": "integer"}}}, {"a": True}, True, id="type"),
        pytest.param({"properties": {"a": {"type": ["integer", "null"]}}}, {"a": None}, False, id="one of the types"),
        pytest.param({"properties": {"a": {"enum": [1]}}}, {"a": True}, True, id="enum is typed"),
        pytest.param({"properties": "odd"}, {"a": 1}, False, id="no schema"),
    ],
)
def test_golden_values_against_their_own_schema_are_a_note_and_no_gate(schema: Any, arguments: Any, is_broken: bool) -> None:
    calls = [{"name": "f", "arguments": arguments}]
    sample = judge(calls, calls, [{"name": "f", "parameters": schema}])
    assert (sample["em"], "schema_gold_violation" in sample["codes"]) == (1, is_broken)


def test_order_counts_only_where_it_is_asked_for() -> None:
    assert judge([F1, F2], [F2, F1], ordered=False)["em"] == 1
    swapped = judge([F1, F2], [F2, F1], ordered=True)
    assert (swapped["em"], swapped["value_acc"], swapped["codes"]) == (0, 1, ["call_order"])
    assert judge([F1, F2], [F1, F2], ordered=True)["em"] == 1


def test_the_best_alternative_counts_and_the_first_on_ties() -> None:
    alternatives = [[call("g", b=1)], [call("g", b=2), F1], [call("g", b=2)]]
    best = judge([F1], [call("g", b=2)], alternatives=alternatives)
    assert (best["em"], best["tool_acc"], best["value_acc"], best["codes"]) == (1, 1, 1, [])
    tied = judge([F1], [call("g", b=3)], alternatives=alternatives)
    assert (tied["em"], tied["tool_acc"], tied["value_acc"]) == (0, 0, 0)
    assert judge([F1], [], alternatives=[[]])["em"] == 1


def test_value_acc_splits_by_the_source_of_the_golden_value() -> None:
    golden = [call(city="Dallas", day="Monday", note="n"), call(city="Rome")]
    sources = {
        "/0/name": {"source": "query"},
        "/0/arguments/city": {"source": "graph", "path": "x"},
        "/0/arguments/day": {"source": "query"},
        "/0/arguments/note": {"source": "document"},
        "/1/arguments/city": {"source": "graph"},
    }
    sample = judge(golden, [call(city="Dallas", day="Tuesday", note="n")], argument_sources=sources)
    assert (sample["value_acc"], sample["value_acc_kg"], sample["value_acc_query"]) == (0.5, 0.5, 0)
    plain = judge(golden, golden)
    assert (plain["value_acc"], plain["value_acc_kg"], plain["value_acc_query"]) == (1, None, None)
    swapped = judge(
        [call("g", b=1)], [call(city="Dallas")], argument_sources={"/0/arguments/b": {"source": "graph"}}, alternatives=[golden]
    )
    assert swapped["value_acc_kg"] == 0


def test_a_pointer_may_lead_into_a_value_and_escape_its_name() -> None:
    sources = {"/0/arguments/a~1b/city": {"source": "graph"}, "/0/arguments/a~1b/day": {"source": "query"}}
    golden = [{"name": "f", "arguments": {"a/b": {"city": "Dallas", "day": 1}}}]
    sample = judge(golden, golden, argument_sources=sources)
    assert (sample["value_acc_kg"], sample["value_acc_query"]) == (1, None)


def test_equally_good_pairings_do_not_depend_on_the_order_of_the_calls() -> None:
    golden = [call(kg="k", query="q")]
    sources = {"/0/arguments/kg": {"source": "graph"}, "/0/arguments/query": {"source": "query"}}
    predicted = [call(kg="k", query="x"), call(kg="y", query="q")]
    assert judge(golden, predicted, argument_sources=sources) == judge(golden, predicted[::-1], argument_sources=sources)


def test_two_hundred_calls_of_one_tool_are_matched_optimally() -> None:
    n = 200
    golden = [call(a={"$any": [i, max(0, i - 1)]}, b=1) for i in range(n)]
    predicted = [call(a=i, b=1) for i in reversed(range(n))]
    sample = judge(golden, predicted)
    assert (sample["em"], sample["value_acc"], sample["codes"]) == (1, 1, [])
    assert judge([F1], [F2] * 5000 + [F1])["value_acc"] == 1


@UNTIMED
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.randoms(use_true_random=False))
def test_the_matching_is_the_best_with_the_smallest_indices(n_rows: int, n_columns: int, top: int, source: random.Random) -> None:
    gains = [[source.randint(0, top) for _ in range(n_columns)] for _ in range(n_rows)]
    if n_rows <= n_columns:
        columns = min(itertools.permutations(range(n_columns), n_rows), key=lambda p: (-sum(map(list.__getitem__, gains, p)), p))
        expected = list(enumerate(columns))
    else:
        rows = min(itertools.permutations(range(n_rows), n_columns), key=lambda p: (-sum(gains[r][c] for c, r in enumerate(p)), p))
        expected = sorted((row, column) for column, row in enumerate(rows))
    assert best_assignment(gains) == expected


# Triples ---------------------------------------------------------------------------------------------------------------

NAMES = ["Al (old)", "fish, chips", "O'Brien)-"]

# id, golden triples, extracted triples, kg_em, kg_f1, codes besides those of the calls
TRIPLE_CASES: list[tuple[str, Any, Any, float, float, list[str]]] = [
    ("KG1 perfect", [AB, BC], [BC, AB], 1, 1, []),
    ("KG1 mappings", [AB], [{"head": "A", "relation": "r", "tail": "B"}], 1, 1, []),
    ("KG2 both empty", [], [], 1, 1, []),
    ("KG2 only golden", [AB], [], 0, 0, []),
    ("KG2 only extracted", [], [AB], 0, 0, []),
    ("KG4 same triple twice", [AB], [AB, AB], 1, 1, []),
    ("KG5 reversed", [AB], [["B", "r", "A"]], 0, 0, ["direction"]),
    ("KG10 names", [NAMES], [NAMES], 1, 1, []),
    ("KG10 NFD", [["\u00e9", "r", "B"]], [["e\u0301", "r", "B"]], 1, 1, []),
    ("KG11 key collision", [["A-b", "c", "X"]], [["A", "b-c", "X"]], 0, 0, []),
    ("KG20 cycle", [AB, ["B", "r", "A"]], [["B", "r", "A"], AB], 1, 1, []),
    ("one surplus", [AB], [AB, BC], 0, 2 / 3, []),
    ("one malformed", [AB], [AB, ["A", "r"]], 0, 2 / 3, ["bad_triple"]),
    ("only malformed", [], ["A r B"], 0, 0, ["bad_triple"]),
]


@pytest.mark.parametrize(("golden", "extracted", "em", "f1", "codes"), [pytest.param(*case[1:], id=case[0]) for case in TRIPLE_CASES])
def test_triples_are_compared_in_sets(golden: Any, extracted: Any, em: float, f1: float, codes: list[str]) -> None:
    sample = judge_triples(golden, extracted)
    assert (sample["kg_em"], sample["kg_f1"], sample["codes"]) == (em, f1, sorted(["correct_abstain", *codes]))


@pytest.mark.parametrize(
    ("argument", "extracted", "coverage"),
    [
        pytest.param("B", [AB], 1, id="whole value"),
        pytest.param("B", [["X", "y", "B"]], 1, id="another triple with the entity"),
        pytest.param("B", [["X", "y", "b"]], 0, id="other case"),
        pytest.param("B", [], 0, id="nothing extracted"),
        pytest.param("gift for B, please", [["A", "r", "X"]], 0, id="whole token"),
        pytest.param({"deep": [1, "B"]}, [AB], 1, id="nested"),
        pytest.param({"$any": ["x", "B"]}, [], 0, id="one of the choices"),
        pytest.param("Berlin", [AB], None, id="KG19 part of a word only"),
        pytest.param("b", [], None, id="KG19 none"),
        pytest.param(True, [], None, id="KG19 no text"),
    ],
)
def test_coverage_asks_for_the_entities_that_the_golden_call_uses(argument: Any, extracted: Any, coverage: float | None) -> None:
    assert judge_triples([AB], extracted, [call(x=argument)])["kg_coverage"] == coverage


def test_a_number_in_a_call_uses_the_entity_that_spells_it() -> None:
    assert judge_triples([["A", "size", "42"]], [], [call(x=42)])["kg_coverage"] == 0
    assert judge_triples([["A", "size", "42"]], [], [call(x=1.42)])["kg_coverage"] is None


# Runs ------------------------------------------------------------------------------------------------------------------


def test_samples_without_an_answer_stay_in_the_denominator() -> None:
    sources = {"/0/arguments/a": {"source": "graph"}}
    references = [{"id": i, "calls": [F1], "golden_triples": [AB], "argument_sources": sources} for i in range(5)]
    predictions = [
        {"id": 4, "calls": [F1], "triples": [AB]},
        {"id": 1, "error": "timeout"},
        {"id": 2, "error": "HTTP 500: <html>", "calls": [F1]},
        {"id": 3, "triples": [AB]},
    ]
    result = score(references, predictions)
    assert (result["n"], result["n_errors"]) == (5, 3)
    assert [sample["codes"] for sample in result["samples"]] == [["no_prediction"], ["timeout"], ["error"], ["no_calls"], []]
    strict = result["scores"]["strict"]
    assert (strict["em"], strict["tool_acc"], strict["value_acc"], strict["value_acc_kg"]) == (0.2, 0.2, 0.2, 0.2)
    assert (strict["kg_em"], strict["kg_f1"], strict["value_acc_query"]) == (0.4, 0.4, None)
    assert result["n_not_applicable"] == dict.fromkeys(module.METRICS, 0) | dict.fromkeys(
        ("value_acc_query", "kg_coverage", "kg_no_hallucination", "kg_no_hallucination_after"), 5
    )


def test_an_error_is_no_abstention() -> None:
    result = score([{"id": "a", "calls": [], "golden_triples": []}], [{"id": "a", "error": "parse_error"}])
    assert result["scores"]["strict"] | {"value_acc": 0} == dict.fromkeys(module.METRICS, None) | dict.fromkeys(
        ("em", "tool_acc", "tool_precision", "tool_recall", "tool_f1", "value_acc", "kg_em", "kg_f1"), 0
    )


def test_what_a_run_did_not_do_is_not_applicable() -> None:
    references = [{"id": i, "calls": [F1], "golden_triples": [AB]} for i in range(2)]
    tool_use = score(references, [{"id": 0, "calls": [F1]}, {"id": 1, "error": "timeout"}])
    assert (tool_use["scores"]["strict"]["em"], tool_use["scores"]["strict"]["kg_em"]) == (0.5, None)
    extraction = score(references, [{"id": 0, "triples": [AB]}])
    assert (extraction["scores"]["strict"]["em"], extraction["scores"]["strict"]["kg_em"]) == (None, 0.5)
    mixed = score(references, [{"id": 0, "triples": [AB], "calls": [F1]}, {"id": 1, "calls": [F1]}])
    assert (mixed["scores"]["strict"]["kg_em"], mixed["samples"][1]["codes"]) == (0.5, ["no_triples"])


def test_a_run_without_samples_has_no_scores() -> None:
    result = score([], [])
    assert (result["n"], result["scores"]["strict"], result["intervals"]["em"]) == (0, dict.fromkeys(module.METRICS), None)


def test_intervals_are_wilson_s_for_plain_shares_and_none_elsewhere() -> None:
    intervals = score([{"id": "a", "calls": [F1]}], [{"id": "a", "calls": [F1]}])["intervals"]
    assert intervals["em"] == [pytest.approx(0.2065493143772375), 1.0]
    assert (intervals["value_acc"], intervals["kg_em"]) == (None, None)
    assert wilson_interval([0.0]) == [0.0, pytest.approx(0.7934506856227626)]
    # Newcombe 1998, table I: 81 of 263
    assert wilson_interval([1.0] * 81 + [0.0] * 182) == [pytest.approx(0.2553, abs=5e-5), pytest.approx(0.3662, abs=5e-5)]


def test_the_result_names_its_scorer_and_is_json() -> None:
    result = score([{"id": "a", "calls": [F1], "golden_triples": [AB]}], [{"id": "a", "calls": [F1], "triples": [AB]}], seed=3)
    assert result["scorer_sha256"] == version.SCORER_SHA256 == version.scorer_sha256(FOLDER)
    assert (result["metric_version"], result["seed"]) == (version.METRIC_VERSION, 3)
    assert json.loads(json.dumps(result, allow_nan=False)) == result


GOOD = {"id": "a", "calls": [F1]}


@pytest.mark.parametrize(
    ("references", "predictions", "sentence"),
    [
        pytest.param("a", [], "references is a str; give a list", id="references are a text"),
        pytest.param([], "a", "predictions is a str; give a list", id="predictions are a text"),
        pytest.param(GOOD, [], "references is a dict; give a list", id="one mapping"),
        pytest.param([GOOD], ["f(1)"], r"predictions\[0\] is a str; give a mapping", id="row is a text"),
        pytest.param([GOOD, GOOD], [], r"references\[1\] repeats the id 'a'", id="double reference"),
        pytest.param([GOOD], [GOOD, GOOD], r"predictions\[1\] repeats the id 'a'", id="double prediction"),
        pytest.param([GOOD], [{"id": "b"}], "id 'b' is in no reference", id="unknown id"),
        pytest.param([{"id": 1, "calls": []}], [{"id": "1"}], "id '1' is in no reference", id="id of another type"),
        pytest.param([{"calls": []}], [], "has the id None", id="no id"),
        pytest.param([{"id": True}], [], "has the id True", id="id is a boolean"),
        pytest.param([GOOD], [{"id": "a", "calls": "f(1)"}], "prediction 'a': calls is a str; give a list", id="calls are a text"),
        pytest.param([GOOD], [{"id": "a", "calls": F1}], "prediction 'a': calls is a dict; give a list", id="calls are one call"),
        pytest.param([{"id": "a", "calls": "f"}], [GOOD], "reference 'a': calls is a str", id="golden calls are a text"),
        pytest.param([{"id": "a", "calls": [1]}], [GOOD], r"reference 'a': calls\[0\] is no call", id="golden call is none"),
        pytest.param([GOOD | {"alternatives": [F1]}], [GOOD], r"alternatives\[0\] is a dict; give a list", id="alternative is one call"),
        pytest.param([GOOD | {"candidate_tools": [{}]}], [GOOD], "candidate_tools has an entry without a name", id="tool without a name"),
        pytest.param(
            [GOOD | {"argument_sources": {"/0/arguments/a": {"source": "kg"}}}],
            [GOOD],
            "has the source 'kg'; give one of graph",
            id="source",
        ),
        pytest.param(
            [GOOD | {"argument_sources": {"/1/arguments/a": {"source": "graph"}}}],
            [GOOD],
            "leads to no argument of its calls",
            id="pointer",
        ),
        pytest.param([GOOD | {"golden_triples": ["A"]}], [GOOD | {"triples": []}], r"golden_triples\[0\] is no triple", id="golden triple"),
        pytest.param(
            [GOOD | {"golden_triples": [AB]}], [GOOD | {"triples": "A"}], "triples is a str; give a list", id="triples are a text"
        ),
    ],
)
def test_what_cannot_be_joined_or_read_is_refused_with_a_sentence(references: Any, predictions: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        score(references, predictions)
    assert str(caught.value).endswith((".", ").")) and "\n" not in str(caught.value)


def test_the_scorer_needs_the_standard_library_alone() -> None:
    for file in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert {name.name.split(".")[0] for name in node.names} <= sys.stdlib_module_names, file.name
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 1 or (node.module or "").split(".")[0] in sys.stdlib_module_names, file.name


def test_the_hash_covers_every_module_in_one_order() -> None:
    assert sorted(version.MODULES) == sorted(file.stem for file in FOLDER.glob("*.py") if file.stem != "__init__")
    assert len(set(version.MODULES)) == len(version.MODULES)


@pytest.mark.parametrize("name", version.MODULES)
def test_a_change_of_any_module_changes_the_hash(name: str, tmp_path: Path) -> None:
    copy = shutil.copytree(FOLDER, tmp_path / "copy", ignore=shutil.ignore_patterns("__pycache__"))
    assert version.scorer_sha256(copy) == version.SCORER_SHA256
    with (copy / f"{name}.py").open("a", encoding="utf-8") as file:
        file.write("# another version\n")
    assert version.scorer_sha256(copy) != version.SCORER_SHA256


COPIES = {"with its own __init__": False, "under the empty __init__ of the metric loader": True}


@pytest.mark.parametrize("is_emptied", COPIES.values(), ids=COPIES.keys())
def test_a_copy_of_the_folder_scores_by_itself_and_names_the_same_scorer(is_emptied: bool, tmp_path: Path) -> None:
    copy = shutil.copytree(FOLDER, tmp_path / "some_metric", ignore=shutil.ignore_patterns("__pycache__"))
    if is_emptied:
        (copy / "__init__.py").write_text("", encoding="utf-8")
    program = "import sys; sys.path.insert(0, sys.argv[1]); from some_metric.score import score; print(score([], [])['scorer_sha256'])"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == version.SCORER_SHA256


# Properties ------------------------------------------------------------------------------------------------------------

TEXTS = st.text(max_size=4) | st.sampled_from(["Dallas", "dallas", "\u00e9", "e\u0301", "1", "true", "2025-09-01"])
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0, 1, -0.0, 1.0, 2**53 + 1, float(2**53)])
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("pqr"), inner, max_size=3), max_leaves=6
)
CALLS = st.builds(
    lambda name, arguments: {"name": name, "arguments": arguments},
    st.sampled_from("fgh"),
    st.dictionaries(st.sampled_from("abc"), st.sampled_from([1, 2, True, "x", "X"]) | VALUES, max_size=3),
)
CALL_LISTS = st.lists(CALLS, max_size=4)
TRIPLES = st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("rs"), st.sampled_from("ABC")), max_size=4)
SOURCE = st.sampled_from(["graph", "query", "document"])


def sources_of(calls: list[dict[str, Any]], source: str = "graph") -> dict[str, Any]:
    pointers = [f"/{place}/arguments/{name}" for place, one in enumerate(calls) for name in one["arguments"]]
    other = {"graph": "query", "query": "graph"}.get(source, "graph")
    return {pointer: {"source": source if pointer.endswith(("a", "b")) else other} for pointer in pointers}


@UNTIMED
@given(VALUES, VALUES)
def test_equality_is_symmetric_and_reflexive(left: Any, right: Any) -> None:
    assert values_are_equal(left, right) == values_are_equal(right, left)
    assert values_are_equal(left, left)
    assert values_are_equal(left, json.loads(json.dumps(left)))


@UNTIMED
@given(VALUES, VALUES)
def test_values_that_differ_have_a_code_and_equal_ones_none(golden: Any, predicted: Any) -> None:
    sample = judge([call(a=golden)], [call(a=predicted)])
    assert bool(sample["codes"]) != values_are_equal(golden, predicted)
    assert sample["em"] == values_are_equal(golden, predicted)


@UNTIMED
@given(CALL_LISTS, TRIPLES, SOURCE, st.booleans())
def test_a_perfect_prediction_scores_one_or_is_not_applicable(calls: Any, triples: Any, source: str, ordered: bool) -> None:
    reference = {"id": "a", "calls": calls, "golden_triples": triples, "argument_sources": sources_of(calls, source), "ordered": ordered}
    result = score([reference], [{"id": "a", "calls": calls, "triples": triples}])
    assert set(result["scores"]["strict"].values()) <= {1.0, None}
    assert result["scores"]["strict"]["em"] == result["scores"]["strict"]["kg_em"] == 1


@UNTIMED
@given(CALL_LISTS, CALL_LISTS, SOURCE, st.randoms(use_true_random=False))
def test_the_order_of_calls_changes_nothing(golden: Any, predicted: Any, source: str, dice: random.Random) -> None:
    sources = sources_of(golden, source)
    order = dice.sample(range(len(golden)), len(golden))
    moved = {
        f"/{new}/{pointer.split('/', 2)[2]}": entry
        for new, old in enumerate(order)
        for pointer, entry in sources.items()
        if pointer.startswith(f"/{old}/")
    }
    shuffled = dice.sample(predicted, len(predicted))
    before = judge(golden, predicted, argument_sources=sources)
    assert judge([golden[old] for old in order], shuffled, argument_sources=moved) == before


@UNTIMED
@given(st.lists(CALLS, min_size=2, max_size=4), st.data())
def test_the_order_of_samples_changes_nothing(calls: Any, data: Any) -> None:
    references = [{"id": place, "calls": calls[: place + 1]} for place in range(len(calls))]
    predictions = [{"id": place, "calls": calls} for place in range(len(calls))]
    shuffled = score(data.draw(st.permutations(references)), data.draw(st.permutations(predictions)))
    result = score(references, predictions)
    assert (shuffled["scores"], shuffled["intervals"]) == (result["scores"], result["intervals"])


@UNTIMED
@given(CALLS, st.sets(st.sampled_from("fghijk"), min_size=2))
def test_calling_all_candidate_tools_is_never_an_exact_match(golden: Any, names: set[str]) -> None:
    assume(golden["name"] in names)
    shotgun = [golden] + [call(name) for name in sorted(names - {golden["name"]})]
    sample = judge([golden], shotgun, [tool(name) for name in sorted(names)])
    assert (sample["em"], sample["tool_acc"], sample["tool_recall"]) == (0, 0, 1)


@UNTIMED
@given(CALL_LISTS, CALL_LISTS, TRIPLES, TRIPLES)
def test_scores_are_shares_and_an_exact_match_has_all_of_them(golden: Any, predicted: Any, triples: Any, extracted: Any) -> None:
    reference = {"id": "a", "calls": golden, "golden_triples": triples, "argument_sources": sources_of(golden)}
    sample = score([reference], [{"id": "a", "calls": predicted, "triples": extracted}])["samples"][0]
    assert all(sample[metric] is None or 0 <= sample[metric] <= 1 for metric in module.METRICS)
    if sample["em"] == 1:
        assert {sample[metric] for metric in TOOL_METRICS} <= {1, None}


JUNK = st.recursive(
    SCALARS | st.just(math.nan),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "arguments", "head", "$any"]), inner, max_size=3),
)


@UNTIMED
@given(st.lists(JUNK, max_size=4), st.lists(JUNK, max_size=4))
def test_no_answer_makes_the_scorer_crash(calls: Any, triples: Any) -> None:
    reference = {"id": "a", "calls": [F1, call("g", b={"p": [1]})], "golden_triples": [AB], "candidate_tools": ALL_TOOLS}
    assert score([reference], [{"id": "a", "calls": calls, "triples": triples}])["samples"][0]["em"] == 0
