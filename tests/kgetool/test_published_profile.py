"""The profile familytool-2025: the published program's figures, made again from the published files."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from familytool.formats.benchmark_files import text_lines
from familytool.formats.familytool_2025 import read_graph, read_sample_lines
from familytool.kgetool.facts import Facts, Triple
from familytool.kgetool.published_extraction import BAD_MARK, PublishedGraph, extract, golden_of, read_searches, read_triples
from familytool.kgetool.published_scores import score_extraction, score_tool_use

Calls = list[dict[str, Any]]


def chains(triples: Sequence[Triple]) -> list[list[Triple]]:
    """The triples as maximal chains in their order: each begins where the one before ends."""
    found: list[list[Triple]] = []
    for triple in triples:
        if found and found[-1][-1].tail == triple.head:
            found[-1].append(triple)
        else:
            found.append([triple])
    return found


def search(start: str, relations: Sequence[str]) -> str:
    path = ",".join(f'"<relationship>{relation}"' for relation in relations)
    return f'KG.search(start="{start}", path=[{path}])'


def spoilt(triples: Sequence[Triple], how: str) -> str:
    """The text of a model that knows the golden paths and spoils them in one way."""
    lines = []
    for place, chain in enumerate(chains(triples)):
        names = [triple.relation for triple in chain]
        if how == "first_chain_only" and place:
            break
        if how == "corrupt_last":
            names[-1] = "zzz_fake"
        if how == "corrupt_first":
            names[0] = "zzz_fake"
        if how == "drop_last_hop" and len(names) > 1:
            names.pop()
        lines.append(search(chain[0].head, [] if how == "empty_path" else names))
    return "\n".join(lines)


@lru_cache(maxsize=3)
def read(folder: Path, name: str) -> tuple[Facts, list[tuple[list[Triple], Calls]]]:
    rejected: list[str] = []
    graph = read_graph(text_lines(folder / f"familykg-{name}.txt", rejected), name, rejected)
    facts = Facts((t.head, t.relation, t.tail) for t in graph)
    samples = read_sample_lines(text_lines(folder / f"familytool-{name}.jsonl", rejected), name, name, rejected)
    rows = [
        (
            [Triple(*triple) for triple in golden_of(next(m["content"] for m in sample.raw if m["role"] == "user"))],
            [{"name": call.name, "arguments": dict(call.arguments)} for call in sample.calls],
        )
        for sample in samples
    ]
    return facts, rows


def means(scores: list[dict[str, float | None]]) -> dict[str, float]:
    """100 times the mean of each metric, rounded to two decimals."""
    columns = {metric: [row[metric] for row in scores if row[metric] is not None] for metric in scores[0]}
    return {metric: round(100 * sum(column) / len(column), 2) for metric, column in columns.items() if column}


# EM, F1, Coverage, No-Hallucination in per cent: measured with the published program (commit c3c5fc7) on the published files.
GREEDY = {
    ("v0", "oracle"): (98.34, 99.24, 98.76, 100),
    ("v0", "corrupt_last"): (0, 6.4, 100, 0),
    ("v0", "corrupt_first"): (6.83, 48.49, 99.79, 0),
    ("v0", "first_chain_only"): (91.51, 96.87, 91.93, 100),
    ("v0", "drop_last_hop"): (26.71, 75.62, 26.92, 100),
    ("v0", "empty_path"): (0, 0, 0.21, 0),
    ("b", "oracle"): (100, 100, 100, 100),
    ("b", "corrupt_last"): (0, 6.62, 100, 0),
    ("b", "corrupt_first"): (7.04, 49.19, 100, 0),
    ("b", "first_chain_only"): (91.72, 97.41, 92.34, 100),
    ("b", "drop_last_hop"): (27.12, 76.04, 27.33, 100),
    ("b", "empty_path"): (0, 0, 0.21, 0),
    ("e", "oracle"): (99.56, 99.92, 99.56, 100),
    ("e", "corrupt_last"): (0, 8.94, 100, 0),
    ("e", "corrupt_first"): (8.13, 64.81, 99.56, 0),
    ("e", "first_chain_only"): (92.09, 98.37, 92.53, 100),
    ("e", "drop_last_hop"): (0, 78.97, 0, 100),
    ("e", "empty_path"): (0, 0, 0, 0),
}
RETRIEVAL = {"v0": (88.20, 95.94, 88.61, 100), "b": (89.86, 96.72, 89.86, 100), "e": (91.21, 94.97, 91.21, 100)}


def extraction_means(folder: Path, name: str, how: str, retrieval: bool = False) -> tuple[float, ...]:
    facts, rows = read(folder, name)
    graph = PublishedGraph(facts)
    nearest = (lambda relation: []) if retrieval else None
    found = means([score_extraction(triples, calls, extract(spoilt(triples, how), graph, nearest)) for triples, calls in rows])
    return found["kg_em"], found["kg_f1"], found["kg_coverage"], found["kg_no_hallucination"]


@pytest.mark.full
@pytest.mark.parametrize(("name", "how"), GREEDY)
def test_greedy_search_gives_the_figures_of_the_published_program(name: str, how: str, foreign_data: Callable[[str], Path]) -> None:
    assert extraction_means(foreign_data("familytool"), name, how) == GREEDY[name, how]


@pytest.mark.full
@pytest.mark.parametrize("name", RETRIEVAL)
def test_relation_retrieval_with_perfect_paths_gives_the_figures_of_the_published_program(
    name: str, foreign_data: Callable[[str], Path]
) -> None:
    assert extraction_means(foreign_data("familytool"), name, "oracle", retrieval=True) == RETRIEVAL[name]


def changed(calls: Calls, how: str) -> Calls:
    """A prediction made from the golden calls in one way."""

    def every(change: Callable[[Any], Any]) -> Calls:
        return [{"name": call["name"], "arguments": {k: change(v) for k, v in call["arguments"].items()}} for call in calls]

    if how == "extra_param":
        return [{"name": call["name"], "arguments": {**call["arguments"], "zzz": 1}} for call in calls]
    if how == "extra_other_call":
        return [*calls, {"name": "zzz", "arguments": {"a": 1}}]
    if how == "dup_call":
        return calls + calls
    if how == "drop_first_param":
        return [{"name": call["name"], "arguments": dict(list(call["arguments"].items())[1:])} for call in calls]
    if how == "lowercase_values":
        return every(lambda value: value.lower() if isinstance(value, str) else value)
    if how == "stringify_values":
        return every(lambda value: value if isinstance(value, str) else json.dumps(value))
    if how == "wrong_tool":
        return [{**call, "name": "zzz"} for call in calls]
    return [] if how == "no_call" else calls


TOOL_USE = {
    ("b", "drop_first_param"): (0, 100, 27.13),
    ("e", "drop_first_param"): (0, 100, 26.08),
    ("b", "lowercase_values"): (73.29, 100, 84.43),
    ("e", "lowercase_values"): (76.70, 100, 86.97),
    ("b", "stringify_values"): (96.89, 100, 98.62),
    ("e", "stringify_values"): (96.92, 100, 98.64),
    **{(name, how): (0, 0, 0) for name in ("b", "e") for how in ("wrong_tool", "no_call")},
    **{(name, how): (100, 100, 100) for name in ("b", "e") for how in ("gold", "extra_param", "extra_other_call", "dup_call")},
}


@pytest.mark.full
@pytest.mark.parametrize(("name", "how"), TOOL_USE)
def test_tool_use_gives_the_figures_of_the_published_program(name: str, how: str, foreign_data: Callable[[str], Path]) -> None:
    _, rows = read(foreign_data("familytool"), name)
    found = means([score_tool_use(calls, changed(calls, how)) for _, calls in rows])
    assert (found["em"], found["tool_acc"], found["value_acc"]) == TOOL_USE[name, how]


FAMILY = PublishedGraph(
    Facts(
        [
            ("Bob", "mother", "Alice"),
            ("Alice", "prefer_city", "city_1"),
            ("Alice", "prefer_city", "city_2"),
            ("Alice", "hobby", "chess"),
            ("Bob", "teacher", "Mr. Smith"),
            ("Mr. Smith", "prefer_city", "city_3"),
        ]
    )
)


def found(text: str, retrieval: bool = False) -> str:
    return extract(text, FAMILY, (lambda relation: ["prefer_city", "hobby"]) if retrieval else None)


def test_greedy_search_has_its_defects() -> None:
    # The first of several tails only; an unknown relation expands once, is marked, and what follows it is lost.
    assert found(search("Bob", ["mother", "prefer_city"])) == "([['Bob', 'mother', 'Alice'], ['Alice', 'prefer_city', 'city_1']])"
    expanded = found(search("Bob", ["zzz", "prefer_city"]))
    assert len(read_triples(expanded)) == 4
    assert expanded.count(BAD_MARK) == 2
    assert found(search("Mr. Smith", ["prefer_city"])) == ""
    assert found("KG.search(start='Bob', path=[])") == BAD_MARK
    assert found("KG.search(Start='Bob', path=['mother'])") == ""
    assert found("<think>KG.search(start='Bob', path=['mother'])</think>") == "([['Bob', 'mother', 'Alice']])"


def test_relation_retrieval_asks_the_start_for_every_relation() -> None:
    # Bob has no prefer_city of his own, so his mother's is never reached: the defect that the paper's comparison rests on.
    assert found(search("Bob", ["mother", "prefer_city"]), retrieval=True) == "([['Bob', 'mother', 'Alice']])"
    assert found(search("Alice", ["zzz"]), retrieval=True) == "([['Alice', 'prefer_city', 'city_1']])([['Alice', 'hobby', 'chess']])"


def test_both_rules_of_no_hallucination_are_given() -> None:
    scores = score_extraction([("Bob", "mother", "Alice")], [], found(search("Zed", ["mother"])))
    assert (scores["kg_no_hallucination"], scores["kg_no_hallucination_paper"]) == (None, 1.0)
    scores = score_extraction([("Bob", "mother", "Alice")], [], found("KG.search(start='Bob', path=[])"))
    assert (scores["kg_no_hallucination"], scores["kg_no_hallucination_paper"]) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("golden", "predicted", "expected"),
    [
        ([("a", {"x": 1})], [("a", {"x": 1, "y": 2}), ("b", {})], (1, 1, 1)),
        ([("a", {"x": 1}), ("b", {"y": 2, "z": 3})], [("a", {"x": 1})], (0, 0.5, 1)),
        ([("a", {"p": {"q": 1, "r": 2}})], [("a", {"p": {"r": 2, "q": 1}})], (0, 1, 0)),
        ([("a", {"x": None})], [("a", {})], (1, 1, 1)),
        ([("a", {"x": 2})], [("a", {"x": 1}), ("a", {"x": 2})], (0, 1, 0)),
        ([], [], (1, 1, 1)),
        ([], [("a", {})], (0, 0, 0)),
        ([("a", {"x": 1})], [("a", [1])], (0, 0, 0)),
    ],
    ids=["extras_free", "missing_call_free", "key_order", "null_is_absent", "sorted_pairs", "abstains", "unwanted", "no_object"],
)
def test_tool_use_has_its_defects(golden: list[Any], predicted: list[Any], expected: tuple[float, ...]) -> None:
    as_calls = lambda pairs: [{"name": name, "arguments": arguments} for name, arguments in pairs]  # noqa: E731
    assert tuple(score_tool_use(as_calls(golden), as_calls(predicted)).values()) == expected


@pytest.mark.parametrize("text", ["KG.search(" * 200_000, "<" * 500_000 + ")", "KG.search(" + "<" * 500_000 + ")", "[" * 500_000])
def test_hostile_text_is_read_in_one_go(text: str) -> None:
    assert len(read_searches(text)) <= 1
    assert read_triples(text) == []
