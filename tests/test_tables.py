"""The table of a benchmark and its expectations; tests that run Great Expectations are marked `full`."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from familytool.errors import FamilytoolError
from familytool.formats.benchmark_files import Source
from familytool.formats.benchmarks import read_benchmark
from familytool.model import RelationPath, Sample, Tool, ToolCall, Triple
from familytool.table_rules import COLUMNS, COUNTS, NAMES, TEXTS, Expected, rules_of
from familytool.tables import EXAMPLES, TableResult, check_frame, check_table, frame_of, tables_available
from tests.made import Made, environment

TOOLS = tuple(Tool(name=name, parameters={"type": "object"}) for name in ("book_room", "find_bus", "order_tea"))
CALL = ToolCall(name="book_room", arguments={"town": "Oslo", "beds": 2})
PATH = RelationPath(start="Ida", relations=("mother", "town"))
TRIPLES = (Triple(head="Ida", relation="mother", tail="Eva"), Triple(head="Eva", relation="town", tail="Oslo"))


def graph_row(number: int, **changes: Any) -> Sample:
    fields: dict[str, Any] = {
        "id": f"set-{number}",
        "benchmark": "set",
        "kind": "graph",
        "speaker": "Ida",
        "query": f"Book {number} rooms in my mother's town.",
        "graph_id": "family",
        "candidate_tools": TOOLS,
        "golden_triples": TRIPLES,
        "golden_paths": (PATH,),
        "calls": (CALL,),
        "category": "travel",
    }
    return Sample(**{**fields, **changes})


FLAT: dict[str, Any] = {"golden_triples": (), "golden_paths": (), "speaker": "", "graph_id": ""}
"""What a sample of a foreign set without a graph has in these fields."""


def flat_row(number: int, kind: str, calls: tuple[ToolCall, ...], **changes: Any) -> Sample:
    return graph_row(number, **{**FLAT, "kind": kind, "calls": calls, **changes})


def sound() -> list[Sample]:
    """A row of each kind, and of the foreign sets' habits, that keeps to everything."""
    unparsed = {"unparsed": [{"path": "/calls/0", "code": "parse_error", "message": "no call", "text": "book("}]}
    return [
        graph_row(1),
        graph_row(2, golden_triples=TRIPLES[:1], golden_paths=(RelationPath(start="Ida", relations=("mother",)),)),
        graph_row(3, golden_paths=(PATH, RelationPath(start="Ida", relations=("mother",)))),
        flat_row(4, "no_graph", (CALL,)),
        flat_row(5, "no_tool", ()),
        flat_row(6, "multi_call", (CALL, ToolCall(name="find_bus", arguments={}))),
        graph_row(7, kind="multi_call", calls=(CALL, CALL)),
        flat_row(8, "no_graph", (), provenance=unparsed),
        flat_row(9, "multi_call", (CALL,), provenance=unparsed),
        graph_row(10, speaker="Åse", query="Åse's room\nin Tromsø, please"),
        graph_row(11, query=graph_row(1).query, speaker="Eva"),  # the same words of another speaker, and of another family
        graph_row(12, query=graph_row(1).query, graph_id="other"),
    ]


def by_name(result: TableResult) -> dict[str, bool | None]:
    return {entry.name: entry.success for entry in result.expectations}


# ---------------------------------------------------------------------------------------------------------- the table


def test_the_table_has_one_plain_row_for_each_sample() -> None:
    call = ToolCall(name="fly", arguments={"to": "Oslo"})
    frame = frame_of(iter([graph_row(1, calls=(CALL, call), candidate_tools=(*TOOLS, TOOLS[0]), golden_triples=(*TRIPLES, TRIPLES[0]))]))
    assert list(frame.columns) == [*TEXTS, *NAMES, *COUNTS]
    assert frame.to_dict("records") == [
        {
            "id": "set-1", "query": "Book 1 rooms in my mother's town.", "benchmark": "set", "kind": "graph", "stratum": "hop3",
            "graph_id": "family", "speaker": "Ida", "shape": "2", "tool": "book_room", "category": "travel", "query_words": 7,
            "n_candidate_tools": 4, "n_distinct_tools": 3, "hops": 3, "n_distinct_triples": 2, "depth": 2, "n_calls": 2,
            "n_golden_calls": 2, "n_offered_calls": 1, "n_arguments": 3,
        }
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "held"),
    [
        pytest.param("", None, id="empty"),
        pytest.param(" \t\n", None, id="white space"),
        pytest.param("\u00a0\u3000", None, id="wide spaces"),
        pytest.param("\u200b\ufeff\u202e", None, id="characters without width"),
        pytest.param("\x00\x07", None, id="control characters"),
        pytest.param("\ud800", None, id="lone surrogate alone"),
        pytest.param("a\ud800", "a\\ud800", id="lone surrogate"),
        pytest.param("?", "?", id="punctuation"),
        pytest.param(" 日本 ", " 日本 ", id="kept as it is"),
        pytest.param("None", "None", id="a word that reads like a null"),
        pytest.param("nan", "nan", id="a word that reads like no number"),
    ],
)
def test_text_that_does_not_print_is_null(text: str, held: str | None) -> None:
    frame = frame_of([graph_row(1, id=text, query=text, speaker=text, category=text, calls=(ToolCall(name=text, arguments={}),))])
    for column in ("id", "query", "speaker", "category", "tool"):
        value = frame[column][0]
        assert (None if frame[column].isna()[0] else value) == held, column


def test_a_table_of_no_rows_has_all_columns_and_their_types() -> None:
    empty, full = frame_of([]), frame_of([graph_row(1)])
    assert len(empty) == 0
    assert list(empty.columns) == list(full.columns)
    assert [str(t) for t in empty.dtypes] == [str(t) for t in full.dtypes]


def test_a_row_takes_few_bytes() -> None:
    frame = frame_of(graph_row(number, candidate_tools=TOOLS * 40, raw={"long": "x" * 10_000}) for number in range(2_000))
    assert frame.memory_usage(deep=True).sum() / len(frame) < 400


WORDS = st.text(st.characters(), max_size=4)


def table_agrees_with_its_samples(texts: list[tuple[str, str, str]]) -> None:
    samples = [graph_row(n, id=i, query=q, speaker=s) for n, (i, q, s) in enumerate(texts)]
    frame = frame_of(samples)
    for column in ("id", "query", "speaker"):
        for value, null, sample in zip(frame[column], frame[column].isna(), samples, strict=True):
            text = getattr(sample, column)
            assert null == (not [c for c in text if c.isprintable() and not c.isspace()])
            assert null or value.encode() == text.encode("utf-8", "backslashreplace")


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=8))
@settings(max_examples=100)
def test_the_table_holds_any_text(texts: list[tuple[str, str, str]]) -> None:
    table_agrees_with_its_samples(texts)


@pytest.mark.soak
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=8))
@settings(max_examples=2_000)
def test_the_table_holds_any_text_for_long(texts: list[tuple[str, str, str]]) -> None:
    table_agrees_with_its_samples(texts)


# ---------------------------------------------------------------------------------------------------------- the rules

MUCH = Expected(
    rows=(1, 9),
    strata={"hop1": 1, "no_tool": 2},
    candidate_tools=(4, 12),
    unique=(("id",), ("tool", "speaker"), ("category",)),
    required=("id", "category"),
)


@pytest.mark.parametrize("expected", [pytest.param(Expected(), id="default"), pytest.param(MUCH, id="much")])
def test_each_rule_comes_after_rules_that_its_columns_hold_no_null(expected: Expected) -> None:
    filled: set[str] = set()
    for rule in rules_of(expected):
        assert set(rule.columns) <= filled, rule.name
        if rule.type == "ExpectColumnValuesToNotBeNull" and not rule.when:
            filled.add(rule.arguments["column"])
    assert filled <= set(COLUMNS)
    assert {*expected.required, "kind", "hops", "depth", "n_calls", "shape"} <= filled


@pytest.mark.parametrize("expected", [pytest.param(Expected(), id="default"), pytest.param(MUCH, id="much")])
def test_each_rule_has_a_name_of_its_own_and_a_sentence(expected: Expected) -> None:
    rules = rules_of(expected)
    assert [name for name, count in Counter(rule.name for rule in rules).items() if count > 1] == []
    assert [name for name, count in Counter(rule.sentence for rule in rules).items() if count > 1] == []
    for rule in rules:
        assert rule.name.isidentifier()
        assert rule.sentence[0].isupper()
        assert rule.sentence.endswith(".")
        assert "{" not in rule.sentence


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        pytest.param({"rows": (5, 4)}, "5 to 4 is no range", id="most below least"),
        pytest.param({"rows": (-1, None)}, "-1 to None is no range", id="negative rows"),
        pytest.param({"candidate_tools": (3, 2)}, "3 to 2 is no range", id="candidates"),
        pytest.param({"strata": {"hop": 1}}, "'hop' is no stratum", id="hop without a number"),
        pytest.param({"strata": {"hop01": 1}}, "'hop01' is no stratum", id="leading zero"),
        pytest.param({"strata": {"hop²": 1}}, "is no stratum", id="a digit that is none"),
        pytest.param({"strata": {'hop1" or id != "': 1}}, "is no stratum", id="a condition of its own"),
        pytest.param({"strata": {"graph": 1}}, "'graph' is no stratum", id="a kind that is counted by hops"),
        pytest.param({"strata": {"hop1": -1}}, "expects -1 rows", id="negative stratum"),
        pytest.param({"strata": {}}, "no stratum is named", id="no stratum"),
        pytest.param({"kinds": ()}, "at least 1", id="no kind"),
        pytest.param({"kinds": ("graf",)}, "Input should be", id="unknown kind"),
        pytest.param({"unique": (("id", "name"),)}, "'name' is no column", id="unknown column"),
        pytest.param({"unique": ((),)}, "is empty", id="empty group"),
        pytest.param({"unique": (("id", "id"),)}, "names something twice", id="column twice"),
        pytest.param({"unique": (("id",), ("id",))}, "names something twice", id="group twice"),
        pytest.param({"required": ("ids",)}, "'ids' is no column", id="unknown required column"),
        pytest.param({"row": (1, 2)}, "Extra inputs", id="unknown field"),
    ],
)
def test_what_cannot_be_expected_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said.replace("(", r"\(")):
        Expected(**wrong)


def test_what_is_expected_is_read_back_from_json() -> None:
    assert Expected.model_validate_json(MUCH.model_dump_json()) == MUCH


def test_without_great_expectations_the_error_says_what_to_install_and_no_row_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "great_expectations", None)
    rows = iter([graph_row(1)])
    assert not tables_available()
    with pytest.raises(FamilytoolError, match=r"pip install 'familytool\[tables\]'"):
        check_table(rows)
    assert len(list(rows)) == 1


def test_an_unusable_great_expectations_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "great_expectations").mkdir()
    (tmp_path / "great_expectations" / "__init__.py").write_text("raise ImportError('of another age')", encoding="utf-8")
    script = "from tests.test_tables import *\ntry: check_table([graph_row(1)])\nexcept FamilytoolError as error: print(error)"
    env = environment()
    env["PYTHONPATH"] = f"{tmp_path}{os.pathsep}{env['PYTHONPATH']}"
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    assert "cannot be used (of another age); call: pip install --upgrade 'familytool[tables]'" in done.stdout


def test_the_module_loads_neither_pandas_nor_great_expectations() -> None:
    script = "import sys, familytool.tables as t; t.tables_available(); sys.exit(len({'pandas', 'great_expectations'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", script], env=environment(), check=False).returncode == 0


# ------------------------------------------------------------------------------------------------------- the results


@pytest.mark.full
def test_a_sound_table_meets_everything() -> None:
    strata = {"hop2": 5, "hop1": 1, "no_graph": 2, "no_tool": 1, "multi_call": 3}
    result = check_table(iter(sound()), Expected(rows=(12, 12), strata=strata, candidate_tools=(3, 3)))
    assert (result.success, result.n_rows, result.failures()) == (True, 12, ())
    assert set(by_name(result).values()) == {True}
    counted = {entry.name: entry.observed for entry in result.expectations if entry.name.startswith("count_")}
    assert counted == {f"count_{name}": wanted for name, wanted in strata.items()}


BROKEN: dict[str, tuple[Sample, set[str]]] = {
    "blank query": (graph_row(0, query=" \u200b "), {"query_filled"}),
    "blank benchmark": (graph_row(0, benchmark=""), {"benchmark_filled"}),
    "tool offered twice": (graph_row(0, candidate_tools=(*TOOLS, TOOLS[1])), {"candidates_differ"}),
    "called tool not offered": (graph_row(0, candidate_tools=TOOLS[1:]), {"called_tools_offered"}),
    "second call not offered": (
        flat_row(0, "multi_call", (CALL, ToolCall(name="fly", arguments={}))),
        {"called_tools_offered"},
    ),
    "name of other case": (graph_row(0, calls=(ToolCall(name="Book_Room", arguments={}),)), {"called_tools_offered"}),
    "no candidates": (graph_row(0, candidate_tools=()), {"candidates", "called_tools_offered"}),
    "no candidates, no tool": (flat_row(0, "no_tool", (), candidate_tools=()), {"candidates"}),
    "triple twice": (graph_row(0, golden_triples=(*TRIPLES, TRIPLES[0])), {"hops_are_triples"}),
    "chain longer than the triples": (graph_row(0, golden_triples=TRIPLES[:1]), {"hops_cover_depth"}),
    "graph without triples": (graph_row(0, golden_triples=(), golden_paths=()), {"graph_has_hops"}),
    "no_graph with triples": (graph_row(0, kind="no_graph"), {"others_have_no_hops"}),
    "no_tool with triples": (graph_row(0, kind="no_tool", calls=()), {"others_have_no_hops"}),
    "no_tool with a call": (flat_row(0, "no_tool", (CALL,)), {"no_tool_has_no_call"}),
    "no_tool with an unparsed call": (
        flat_row(0, "no_tool", (), provenance={"unparsed": [{"path": "/calls/0", "code": "truncated"}]}),
        {"no_tool_has_no_call"},
    ),
    "no_graph without a call": (flat_row(0, "no_graph", ()), {"others_have_a_call"}),
    "graph without a call": (graph_row(0, calls=()), {"others_have_a_call"}),
    "multi_call with one call": (flat_row(0, "multi_call", (CALL,)), {"multi_call_has_calls"}),
    "multi_call without a call": (flat_row(0, "multi_call", ()), {"multi_call_has_calls", "others_have_a_call"}),
    "no_graph with two calls": (flat_row(0, "no_graph", (CALL, CALL)), {"others_have_one_call"}),
    "graph with two calls": (graph_row(0, calls=(CALL, CALL)), {"others_have_one_call"}),
    "graph without a speaker": (graph_row(0, speaker=" "), {"speaker_filled_of_kind_graph"}),
    "graph without a graph_id": (graph_row(0, graph_id=""), {"graph_id_filled_of_kind_graph"}),
    "call of a tool without a name": (
        graph_row(0, calls=(ToolCall(name=" ", arguments={}),)),
        {"called_tools_offered", "tool_filled_with_a_golden_call"},
    ),
    "empty chain": (graph_row(0, golden_paths=(PATH, RelationPath(start="Ida", relations=()))), {"shape_known"}),
}


@pytest.fixture(scope="module")
def broken() -> TableResult:
    """All broken rows and the sound ones in one table."""
    rows = [row.model_copy(update={"id": name, "query": row.query.replace("0", name)}) for name, (row, _) in BROKEN.items()]
    return check_table([*sound(), *rows])


@pytest.mark.full
@pytest.mark.parametrize("name", BROKEN)
def test_exactly_the_rules_that_a_row_breaks_name_it(name: str, broken: TableResult) -> None:
    assert {entry.name for entry in broken.failures() if name in entry.ids} == BROKEN[name][1]
    assert not broken.success


@pytest.mark.full
def test_no_rule_names_a_sound_row(broken: TableResult) -> None:
    assert {identity for entry in broken.expectations for identity in entry.ids} == set(BROKEN)
    for entry in broken.expectations:
        assert entry.n_unexpected is None or (entry.success is False) == (entry.n_unexpected > 0) == bool(entry.ids), entry.name


@pytest.mark.full
def test_a_failure_tells_what_was_seen(broken: TableResult) -> None:
    found = {entry.name: entry for entry in broken.expectations}
    assert found["shape_known"].observed == ["2+0"]
    assert found["called_tools_offered"].observed == [[1, 0], [2, 1]]
    assert found["others_have_one_call"].observed == [2]
    assert found["query_filled"].observed == [None]
    assert found["candidates"].sentence == "A row offers at least 1 tool."
    assert found["row_count"].observed == len(sound()) + len(BROKEN)


@pytest.mark.full
def test_rows_that_share_id_or_request_are_told_apart_by_their_number() -> None:
    rows = [graph_row(1), graph_row(2), graph_row(1), graph_row(3, id=""), graph_row(4, query=graph_row(2).query)]
    result = check_table(rows)
    found = {entry.name: entry for entry in result.failures()}
    assert {name: (entry.n_unexpected, entry.ids) for name, entry in found.items()} == {
        "unique_id": (2, ("row 1", "row 3")),
        "id_filled": (1, ("row 4",)),
        "unique_graph_id_speaker_query": (4, ("row 1", "set-2", "row 3", "set-4")),
    }
    assert found["unique_graph_id_speaker_query"].observed == [
        {"graph_id": "family", "speaker": "Ida", "query": graph_row(number).query} for number in (1, 2)
    ]


@pytest.mark.full
def test_samples_without_graph_and_speaker_are_duplicates_by_their_words() -> None:
    rows = [flat_row(1, "no_tool", (), query="Hello."), flat_row(2, "no_tool", (), query="Hello."), flat_row(3, "no_tool", (), query="Hi.")]
    assert {entry.name: entry.ids for entry in check_table(rows).failures()} == {"unique_graph_id_speaker_query": ("set-1", "set-2")}
    assert check_table(rows, Expected(unique=(("id",),))).success


@pytest.mark.full
def test_of_many_unexpected_rows_all_are_counted_and_some_named() -> None:
    result = check_table(graph_row(number, candidate_tools=(), query="x" * 1_000) for number in range(500))
    for entry in result.failures():
        assert (entry.n_checked, entry.n_unexpected, entry.unexpected_rate) == (500, 500, 1.0)
        assert entry.ids == tuple(f"set-{number}" for number in range(EXAMPLES))
    assert [len(str(entry.observed)) < 400 for entry in result.failures()] == [True] * 3


@pytest.mark.full
@pytest.mark.parametrize(
    ("strata", "failed"),
    [
        pytest.param({"hop2": 2, "no_tool": 1}, set(), id="exact"),
        pytest.param({"hop2": 3, "no_tool": 1}, {"count_hop2"}, id="one too few"),
        pytest.param({"hop2": 1, "no_tool": 1}, {"count_hop2"}, id="one too many"),
        pytest.param({"hop2": 2, "no_tool": 1, "hop20": 0}, set(), id="none wanted and none there"),
        pytest.param({"hop2": 2, "no_tool": 0}, {"count_no_tool"}, id="none wanted"),
        pytest.param({"hop2": 2}, {"stratum_known"}, id="a stratum that is not asked for"),
        pytest.param({"hop2": 2, "no_tool": 1, "multi_call": 1}, {"count_multi_call"}, id="an empty stratum"),
    ],
)
def test_strata_are_counted_exactly(strata: dict[str, int], failed: set[str]) -> None:
    result = check_table([graph_row(1), graph_row(2), flat_row(3, "no_tool", ())], Expected(strata=strata))
    assert {entry.name for entry in result.failures()} == failed
    assert result.success is (not failed)


@pytest.mark.full
@pytest.mark.parametrize(
    ("expected", "failed"),
    [
        pytest.param(Expected(rows=(4, None)), {"row_count"}, id="too few rows"),
        pytest.param(Expected(rows=(0, 2)), {"row_count"}, id="too many rows"),
        pytest.param(Expected(rows=(3, 3)), set(), id="exact rows"),
        pytest.param(Expected(kinds=("graph", "no_graph")), {"kind_known"}, id="kinds"),
        pytest.param(Expected(candidate_tools=(4, 9)), {"candidates"}, id="short candidate lists"),
        pytest.param(Expected(candidate_tools=(1, 2)), {"candidates"}, id="long candidate lists"),
        pytest.param(Expected(required=("id", "category")), {"category_filled"}, id="a required column"),
        pytest.param(Expected(unique=(("speaker",),)), {"unique_speaker", "speaker_filled"}, id="a unique column with nulls"),
    ],
)
def test_what_a_caller_asks_for_is_checked(expected: Expected, failed: set[str]) -> None:
    rows = [graph_row(1), graph_row(2, category=""), flat_row(3, "no_tool", ())]
    assert {entry.name for entry in check_table(rows, expected).failures()} == failed


@pytest.mark.full
@pytest.mark.parametrize(
    ("rows", "expected", "success", "failed"),
    [
        pytest.param([], Expected(), False, {"row_count"}, id="val-031-refused"),
        pytest.param([], Expected(empty_is_allowed=True), True, set(), id="val-031-allowed"),
        pytest.param(iter(()), Expected(empty_is_allowed=True), True, set(), id="val-031-exhausted"),
        pytest.param([], Expected(rows=(0, None)), True, set(), id="val-031-allowed-by-range"),
        pytest.param([], Expected(empty_is_allowed=True, rows=(1, 9)), False, {"row_count"}, id="val-031-rows-asked"),
        pytest.param([], Expected(empty_is_allowed=True, strata={"hop1": 2}), False, {"count_hop1"}, id="val-031-strata-asked"),
        pytest.param([], Expected(empty_is_allowed=True, strata={"hop1": 0}), True, set(), id="val-031-no-strata-asked"),
    ],
)
def test_of_no_rows_nothing_is_claimed(rows: Iterable[Sample], expected: Expected, success: bool, failed: set[str]) -> None:
    result = check_table(rows, expected)
    assert (result.success, result.n_rows) == (success, 0)
    for entry in result.expectations:
        assert (entry.n_checked, entry.unexpected_rate, entry.ids) == (0, None, ())
        if entry.n_unexpected is not None:
            assert entry.success is None, entry.name
    assert {entry.name for entry in result.failures()} == failed
    assert json.loads(json.dumps(result.as_json(), allow_nan=False))["n_rows"] == 0


@pytest.mark.full
def test_a_rule_for_rows_that_do_not_occur_is_not_applicable() -> None:
    result = check_table([graph_row(1)])
    assert {name for name, success in by_name(result).items() if success is None} == {
        "others_have_no_hops",
        "no_tool_has_no_call",
        "multi_call_has_calls",
    }
    counts = [result.as_json()[name] for name in ("n_met", "n_failed", "n_not_applicable")]
    assert counts == [len(result.expectations) - 3, 0, 3]


# ------------------------------------------------------------------------------------------------------------- nulls


def readers(column: str) -> set[str]:
    """The rules of MUCH that read a column in a way that passes over nulls, or ask that there be none."""
    filled = {rule.name for rule in rules_of(MUCH) if rule.type == "ExpectColumnValuesToNotBeNull" and rule.arguments["column"] == column}
    return {rule.name for rule in rules_of(MUCH) if column in rule.columns} | filled


@pytest.mark.full
@pytest.mark.parametrize("column", [name for name in COLUMNS if readers(name)])
def test_a_column_of_nulls_meets_no_rule_that_reads_it(column: str) -> None:
    import numpy as np

    frame = frame_of(sound())
    nulls = frame.assign(**{column: np.nan if column in COUNTS else frame[column].where([False] * len(frame))})
    result = check_frame(nulls, MUCH)
    assert not result.success
    for entry in result.expectations:
        if entry.name in readers(column):
            assert entry.success is False, entry.name


@pytest.mark.full
def test_one_null_among_values_meets_no_rule_that_reads_its_column() -> None:
    import numpy as np

    frame = frame_of(sound())
    holes = {"kind": 4, "stratum": 0, "hops": 1, "shape": 2, "n_offered_calls": 3}
    for column, row in holes.items():
        keep = [number != row for number in range(len(frame))]
        values = np.where(keep, frame[column], np.nan) if column in COUNTS else frame[column].where(keep)
        frame = frame.assign(**{column: values})
    found = {entry.name: entry for entry in check_frame(frame, MUCH).expectations}
    for column, row in holes.items():
        assert {name for name in readers(column) if found[name].success is not False} == set()
        assert found[f"{column}_filled"].ids == (f"set-{row + 1}",)


@pytest.mark.full
def test_great_expectations_alone_would_let_a_column_of_nulls_pass() -> None:
    from familytool.tables import _evaluated

    frame = frame_of(sound())
    nulls = frame.assign(kind=frame["kind"].where([False] * len(frame)))
    raw = _evaluated(nulls, rules_of(Expected()), None)[2]
    ours = by_name(check_frame(nulls, Expected()))
    for name in ("kind_known", "graph_has_hops", "no_tool_has_no_call"):
        assert raw[name]["success"] is True
        assert ours[name] is False


# ------------------------------------------------------------------------------------------------- against plain Python


def expected_counts(rows: list[Sample]) -> dict[str, int]:
    """The unexpected rows of the rules, counted over the samples themselves."""
    ids = Counter(row.id for row in rows)
    asked = Counter((row.graph_id, row.speaker, row.query) for row in rows)

    def count(bad: Callable[[Sample], bool]) -> int:
        return sum(bad(row) for row in rows)

    def offered(row: Sample) -> set[str]:
        return {tool.name for tool in row.candidate_tools}

    return {
        "unique_id": count(lambda r: bool(r.id) and ids[r.id] > 1),
        "id_filled": count(lambda r: not r.id),
        "unique_graph_id_speaker_query": count(lambda r: asked[r.graph_id, r.speaker, r.query] > 1),
        "shape_known": count(lambda r: len(r.golden_paths) > 1 and any(not p.relations for p in r.golden_paths)),
        "candidates": count(lambda r: not 1 <= len(r.candidate_tools) <= 3),
        "candidates_differ": count(lambda r: len(offered(r)) != len(r.candidate_tools)),
        "called_tools_offered": count(lambda r: any(call.name not in offered(r) for call in r.calls)),
        "hops_are_triples": count(lambda r: len(set(map(Triple.model_dump_json, r.golden_triples))) != len(r.golden_triples)),
        "hops_cover_depth": count(lambda r: any(len(p.relations) > len(r.golden_triples) for p in r.golden_paths)),
        "graph_has_hops": count(lambda r: r.kind == "graph" and not r.golden_triples),
        "others_have_no_hops": count(lambda r: r.kind in ("no_graph", "no_tool") and bool(r.golden_triples)),
        "no_tool_has_no_call": count(lambda r: r.kind == "no_tool" and bool(r.calls)),
        "others_have_a_call": count(lambda r: r.kind != "no_tool" and not r.calls),
        "multi_call_has_calls": count(lambda r: r.kind == "multi_call" and len(r.calls) < 2),
        "others_have_one_call": count(lambda r: r.kind != "multi_call" and len(r.calls) > 1),
        "speaker_filled_of_kind_graph": count(lambda r: r.kind == "graph" and not r.speaker),
    }


def random_rows(seed: int, rows: int) -> Iterator[Sample]:
    rng = random.Random(seed)
    for number in range(rows):
        yield graph_row(
            number,
            id=rng.choice([f"set-{number}", f"set-{number}", f"set-{number % 97}", ""]),
            kind=rng.choice(["graph", "no_graph", "no_tool", "multi_call"]),
            speaker=rng.choice(["Ida", "Eva", ""]),
            query=f"Book {rng.randrange(rows)} rooms.",
            graph_id=rng.choice(["family", "other", ""]),
            candidate_tools=rng.choices(TOOLS, k=rng.randrange(5)),
            golden_triples=rng.choices(TRIPLES, k=rng.randrange(3)),
            golden_paths=[RelationPath(start="Ida", relations=["mother"] * rng.randrange(4)) for _ in range(rng.randrange(3))],
            calls=[ToolCall(name=rng.choice(TOOLS).name, arguments={}) for _ in range(rng.randrange(4))],
        )


def counts_are_those_of_plain_python(seed: int, rows: int) -> None:
    samples = list(random_rows(seed, rows))
    found = {entry.name: entry.n_unexpected for entry in check_table(samples, Expected(candidate_tools=(1, 3))).expectations}
    wanted = expected_counts(samples)
    assert {name: found[name] for name in wanted} == wanted
    assert all(wanted.values())  # each rule is broken by some row, so that none agrees by being 0


@pytest.mark.full
def test_all_counts_are_those_of_plain_python() -> None:
    counts_are_those_of_plain_python(seed=7, rows=2_000)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_all_counts_are_those_of_plain_python_for_long(seed: int) -> None:
    counts_are_those_of_plain_python(seed, rows=5_000)


# ----------------------------------------------------------------------------------------------- what is stored of it


@pytest.mark.full
def test_the_result_is_plain_json_and_the_same_each_time(broken: TableResult) -> None:
    rows = [graph_row(1), graph_row(1), graph_row(2, candidate_tools=(), query="a\ud800")]
    first, second = check_table(rows), check_table(rows)
    assert first == second
    for result in (first, broken):
        written = json.dumps(result.as_json(), allow_nan=False, ensure_ascii=False)
        assert json.loads(written) == result.as_json()
        assert TableResult.model_validate_json(result.model_dump_json()) == result
    assert set(first.as_json()) == {"success", "n_rows", "n_met", "n_failed", "n_not_applicable", "expectations", "great_expectations"}


@pytest.mark.full
def test_great_expectations_reads_the_stored_suite_and_finds_the_same() -> None:
    rows = [graph_row(1), graph_row(1), graph_row(2, candidate_tools=()), flat_row(3, "no_tool", (CALL,))]
    result = check_table(rows, MUCH)
    stored = json.loads(json.dumps(result.suite, allow_nan=False))
    import great_expectations as gx

    context = gx.get_context(mode="ephemeral")
    batches = context.data_sources.add_pandas("again").add_dataframe_asset("rows").add_batch_definition_whole_dataframe("all")
    suite = context.suites.add(gx.ExpectationSuite(**stored))
    again = batches.get_batch({"dataframe": frame_of(rows)}).validate(suite)
    failed = {entry.expectation_config.meta["name"] for entry in again.results if not entry.success}
    assert failed == {entry.name for entry in result.failures() if entry.n_missing == 0}
    assert len(again.results) == len(result.expectations)


@pytest.mark.full
def test_the_pages_show_foreign_text_as_text(tmp_path: Path) -> None:
    hostile = "$id ${x} </td><script>alert(1)</script><img src=x onerror=alert(2)> {{7*7}} &lt;"
    tool = Tool(name="<b>bold", parameters={})
    rows = [graph_row(n, query=hostile, speaker="<i>Ida", candidate_tools=(tool,), calls=(CALL,), id=hostile) for n in range(3)]
    expected = Expected(unique=(("id",), ("query",), ("speaker", "tool"), ("graph_id", "speaker", "query")))
    result = check_table(rows, expected, tmp_path / "new" / "docs")
    pages = {path: path.read_text(encoding="utf-8") for path in (tmp_path / "new" / "docs").rglob("*.html")}
    assert (tmp_path / "new" / "docs" / "index.html") in pages
    text = "".join(pages.values())
    assert "&lt;script&gt;alert(1)" in text
    assert "No two rows have the same query." in text
    for markup in ("<script>alert(1)", "<img src=x", "<i>Ida", "<b>bold"):
        assert markup not in text
    assert {entry.name: entry.observed for entry in result.failures()}["unique_query"] == [hostile]
    assert check_table(rows, expected) == result
    assert check_table(rows, expected, tmp_path / "new" / "docs") == result  # a folder of earlier pages is used again


@pytest.mark.full
def test_pages_of_no_rows_can_be_written(tmp_path: Path) -> None:
    assert check_table([], Expected(empty_is_allowed=True), tmp_path / "docs").success
    assert (tmp_path / "docs" / "index.html").is_file()


@pytest.mark.full
def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(FamilytoolError, match="holds something else than data docs"):
        check_table([graph_row(1)], None, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    with pytest.raises(FamilytoolError, match=r"thesis.txt.*cannot be written"):
        check_table([graph_row(1)], None, tmp_path / "thesis.txt" / "docs")
    with pytest.raises(FamilytoolError, match=r"thesis.txt: the data docs cannot be written"):
        check_table([graph_row(1)], None, tmp_path / "thesis.txt")


QUIET = """
import socket, sys
def refuse(*_): sys.exit("the network was asked for")
socket.socket.connect = socket.getaddrinfo = refuse
from tests.test_tables import Expected, check_table, graph_row
result = check_table([graph_row(1), graph_row(1)])
assert not result.success
import os, pathlib
check_table([graph_row(1)], None, pathlib.Path("docs"))
assert os.environ["GX_ANALYTICS_ENABLED"] == "false"
"""


@pytest.mark.full
def test_nothing_is_printed_left_behind_or_sent(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    more = {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path), "GX_ANALYTICS_ENABLED": "true", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", QUIET],
        cwd=tmp_path,
        env=environment(**more),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("*")) == ["docs", "home"]
    assert list((tmp_path / "home").iterdir()) == []


# ---------------------------------------------------------------------------------------------------------- real sets


PUBLISHED: dict[str, dict[str, tuple[int, str, str]]] = {
    "familytool-b": {"unique_graph_id_speaker_query": (2, "431", "434"), "candidates_differ": (27, "21", "24")},
    "familytool-e": {"unique_graph_id_speaker_query": (2, "203", "408"), "candidates_differ": (26, "18", "20")},
    "familytool-v0": {
        "unique_graph_id_speaker_query": (2, "431", "434"),
        "candidates_differ": (27, "21", "24"),
        "called_tools_offered": (2, "181", "297"),
    },
}
"""The expectations that a published set does not meet: how many rows, and the ids of the first two."""


@pytest.mark.full
@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_sets_fail_where_their_description_says(name: str, foreign_data: Callable[[str], Path]) -> None:
    rejected: list[str] = []
    source = Source(foreign_data("familytool") / f"{name}.jsonl", name, None, "family")
    rows = 455 if name == "familytool-e" else 483
    result = check_table(read_benchmark(source, rejected), Expected(rows=(rows, rows)))
    assert rejected == []
    found = {entry.name: (entry.n_unexpected, *(i.removeprefix(f"{name}-") for i in entry.ids[:2])) for entry in result.failures()}
    assert found == PUBLISHED[name]


@pytest.mark.full
def test_the_built_in_campaign_meets_everything_it_declares(home: Made) -> None:
    generation = home.job.campaign.generation
    least, most = generation.candidate_tools.size
    result = check_table(home.samples, Expected(strata=generation.strata, candidate_tools=(least, most), required=("category",)))
    assert result.failures() == ()
    assert result.n_rows == sum(generation.strata.values())
