"""The published FamilyTool sets: what the checks find is what was found by hand, sample by sample.

The lists of ids are the numbers behind the set's name in the samples' ids.
"""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pytest

from familytool.formats.benchmark_files import text_lines
from familytool.formats.familytool_2025 import read_graph, read_sample_lines
from familytool.graph import KnowledgeGraph
from familytool.model import Sample
from familytool.validation.duplicates import Duplicates
from familytool.validation.feasibility import check_feasibility
from familytool.validation.graph_checks import check_graph
from familytool.validation.intent import check_intent, kinship_recall
from familytool.validation.relatives import judge_kinship

pytestmark = pytest.mark.full


class Set(NamedTuple):
    """A published set, and for each check and code the numbers of the samples with such a finding."""

    samples: list[Sample]
    graph: KnowledgeGraph
    found: dict[tuple[str, str], set[int]]


def number(sample_id: str) -> int:
    return int(sample_id.rpartition("-")[2])


@lru_cache(maxsize=3)
def checked(folder: Path, name: str) -> Set:
    rejected: list[str] = []
    graph = read_graph(text_lines(folder / f"familykg-{name}.txt", rejected), name, rejected)
    samples = list(read_sample_lines(text_lines(folder / f"familytool-{name}.jsonl", rejected), name, name, rejected))
    found: dict[tuple[str, str], set[int]] = {}
    for sample in samples:
        for check in (check_intent(sample, graph), check_feasibility(sample, graph)):
            assert all(f.path.startswith("/") and f.message for f in check.findings)
            for finding in check.findings:
                found.setdefault((check.check, finding.code), set()).add(number(sample.id))
    assert not rejected
    return Set(samples, graph, found)


@pytest.fixture
def published(foreign_data: Callable[[str], Path]) -> Callable[[str], Set]:
    return lambda name: checked(foreign_data("familytool"), name)


INFERRED_YEARS = range(295, 301)
FROM_NOWHERE_B = {
    66,
    67,
    68,
    *range(130, 134),
    142,
    *range(181, 186),
    *INFERRED_YEARS,
    301,
    358,
    359,
    360,
    393,
    394,
    418,
    427,
    428,
    430,
    466,
}
FROM_NOWHERE_E = {
    62, 65, 70, 118, 119, 121, 122, 123, 124, 129, *range(168, 172), 185, *range(267, 272), 292, 293, 294, 329, 359, 361, 362, 364, 413, 419,
    434, 436, 437, 438, 447,
}  # fmt: skip
SAID_IN_WORDS = {"v0": {*range(381, 386), 426, 429}, "b": {*range(381, 386), 426, 429}, "e": {335, 363, 444, 445, 446, 449}}
"""Counted as from nowhere by hand: "five tickets" for "5", "the three of us" for 3. A number word states its number."""

EXPECTED = {
    ("b", "intent", "kinship_mismatch"): {101, 177, 202, 315, 351},
    ("b", "intent", "wrong_speaker"): {101},
    ("b", "intent", "ungrounded_value"): FROM_NOWHERE_B,
    ("b", "intent", "answer_leaked"): set(),
    ("b", "intent", "followed_injection"): set(),
    ("b", "feasibility", "disconnected_golden"): {36, 177, 246, 247, 248},
    ("b", "feasibility", "wrong_speaker"): {177},
    ("b", "feasibility", "unused_value"): {17, 116, 142, 177, 204, 301, 340},
    ("b", "feasibility", "wrong_entity"): {301},
    ("b", "feasibility", "tool_not_offered"): set(),
    ("b", "feasibility", "triple_not_in_graph"): set(),
    ("b", "feasibility", "ambiguous_answer"): {5, 54, 55, 98, 115, 203, 205, 246},
    ("v0", "intent", "kinship_mismatch"): {101, 177, 202, 315, 351},
    ("v0", "intent", "ungrounded_value"): FROM_NOWHERE_B | {54, 55, 441},
    ("v0", "intent", "answer_leaked"): {441},
    ("v0", "feasibility", "disconnected_golden"): {36, 37, 38, 177, 178, 246, 247, 248, 441, 445},
    ("v0", "feasibility", "unused_value"): {17, 54, 55, 116, 142, 177, 204, 301, 340},
    ("v0", "feasibility", "wrong_entity"): {54, 55, 301, 441},
    ("v0", "feasibility", "tool_not_offered"): {181, 297},
    ("v0", "feasibility", "triple_not_in_graph"): set(),
    ("e", "intent", "kinship_mismatch"): {46, 52, 333, 359},
    ("e", "intent", "wrong_speaker"): set(),
    ("e", "intent", "ungrounded_value"): FROM_NOWHERE_E,
    ("e", "intent", "answer_leaked"): set(),
    ("e", "feasibility", "disconnected_golden"): {165},
    ("e", "feasibility", "unused_value"): {46, 112},
    ("e", "feasibility", "wrong_entity"): {359},
    ("e", "feasibility", "tool_not_offered"): set(),
    ("e", "feasibility", "triple_not_in_graph"): set(),
    ("e", "feasibility", "ambiguous_answer"): set(),
}


@pytest.mark.parametrize("key", EXPECTED, ids=" ".join)
def test_the_findings_are_those_that_were_found_by_hand(key: tuple[str, str, str], published: Callable[[str], Set]) -> None:
    name, check, code = key
    assert published(name).found.get((check, code), set()) == EXPECTED[key]


NOT_GROUNDED_BY_HAND = {
    "b": {
        66, 67, 68, 130, 131, 132, 133, 142, 181, 182, 183, 184, 185, 295, 296, 297, 298, 299, 300, 301, 358, 359, 360, 381, 382, 383, 384, 385,
        393, 394, 418, 426, 427, 428, 429, 430, 466,
    },
    "e": {
        62, 65, 70, 118, 119, 121, 122, 123, 124, 129, 168, 169, 170, 171, 185, 267, 268, 269, 270, 271, 292, 293, 294, 329, 335, 359, 361, 362,
        363, 364, 413, 419, 434, 436, 437, 438, 444, 445, 446, 447, 449,
    },
}  # fmt: skip
NOT_GROUNDED_BY_HAND["v0"] = NOT_GROUNDED_BY_HAND["b"] | {54, 55, 441}


@pytest.mark.parametrize("name", ["v0", "b", "e"])
def test_values_from_nowhere_are_those_counted_by_hand_but_for_number_words(name: str, published: Callable[[str], Set]) -> None:
    assert published(name).found["intent", "ungrounded_value"] == NOT_GROUNDED_BY_HAND[name] - SAID_IN_WORDS[name]


RECALL = {
    "v0": {"samples": 380, "mentioned": 351, "named": 27, "agree": 375, "contradict": 5, "silent": 0},
    "b": {"samples": 382, "mentioned": 353, "named": 27, "agree": 377, "contradict": 5, "silent": 0},
    "e": {"samples": 455, "mentioned": 454, "named": 0, "agree": 449, "contradict": 4, "silent": 2},
}


@pytest.mark.parametrize("name", RECALL)
def test_kinship_words_are_read_in_more_than_nine_of_ten_samples_that_turn_on_a_relative(
    name: str, published: Callable[[str], Set]
) -> None:
    found = kinship_recall(published(name).samples, published(name).graph)
    assert {key: found[key] for key in RECALL[name]} == RECALL[name]
    assert found["recall"] == found["mentioned"] / found["samples"] > 0.92


def test_the_paraphrases_of_the_extended_set_agree_and_the_incomplete_sentences_are_left_open(published: Callable[[str], Set]) -> None:
    samples = {number(sample.id): sample for sample in published("e").samples}
    agreements = {n: judge_kinship(samples[n], published("e").graph).agreement for n in (194, 303, 165, 109, 229)}
    assert agreements == {194: "agree", 303: "agree", 165: "agree", 109: "unknown", 229: "unknown"}


GRAPHS: dict[str, tuple[list[tuple[str, list[str]]], int]] = {
    "v0": (
        [("inverse_conflict", ["Jack", "mother", "Alice"]), ("name_anomaly", ["Bob", "prefer_travel_city", "prefer_travel_city_0000"])],
        0,
    ),
    "b": (
        [("inverse_conflict", ["Jack", "mother", "Alice"]), ("name_anomaly", ["Bob", "prefer_travel_city", "prefer_travel_city_0000"])],
        1,
    ),
    "e": ([], 300),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_the_graphs_have_one_false_fact_one_odd_name_and_their_idle_facts(name: str, published: Callable[[str], Set]) -> None:
    expected, idle = GRAPHS[name]
    used = {triple for sample in published(name).samples for triple in sample.golden_triples}
    found = check_graph(published(name).graph, used)
    assert [(f.code, f.value) for f in found if f.code != "unused_edge"] == expected
    assert sum(f.code == "unused_edge" for f in found) == idle


DUPLICATES = {"v0": ({431, 434}, 27), "b": ({431, 434}, 27), "e": ({203, 408}, 26)}


@pytest.mark.parametrize("name", DUPLICATES)
def test_one_pair_asks_the_same_and_documents_listed_twice_are_counted(name: str, published: Callable[[str], Set]) -> None:
    duplicates = Duplicates()
    for sample in published(name).samples:
        duplicates.add(sample)
    pair, listed_twice = DUPLICATES[name]
    assert {number(sample_id) for _, sample_id, _ in duplicates.findings()} == pair
    assert {number(str(finding.value)) for _, _, finding in duplicates.findings()} == pair
    assert duplicates.as_json()["tools_listed_twice"]["samples"] == listed_twice
