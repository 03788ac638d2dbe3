"""Planted faults: what share of them the four checks see, in our own rows and in rows as somebody else would write them."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from familytool.formats.benchmark_files import text_lines
from familytool.formats.familytool_2025 import read_graph, read_sample_lines
from familytool.graph import KnowledgeGraph
from familytool.model import Sample
from familytool.validation.checks import check_sample, chosen_checks
from tests.made import Made
from tests.validation.mutants import MUTATIONS, mutants

Published = tuple[list[Sample], KnowledgeGraph]


def as_foreign(sample: Sample) -> Sample:
    """The same row as another project would publish it: without our recipe and without the sources of its arguments."""
    return sample.model_copy(update={"provenance": {}, "argument_sources": {}})


def failed(sample: Sample, graph: KnowledgeGraph) -> bool:
    return any(check.verdict == "fail" for check in check_sample(sample, graph))


def share_caught(planted: list[Sample], graphs: dict[str, KnowledgeGraph]) -> float:
    return sum(failed(mutant, graphs[mutant.graph_id]) for mutant in planted) / len(planted)


@pytest.mark.parametrize("name", MUTATIONS)
def test_at_least_95_of_100_planted_faults_are_caught_with_the_recipe(name: str, home: Made) -> None:
    planted = list(mutants(home.samples, home.graphs, name))
    assert len(planted) >= 75
    assert share_caught(planted, home.graphs) >= 0.95


@pytest.mark.parametrize("name", MUTATIONS)
def test_at_least_95_of_100_planted_faults_are_caught_in_foreign_text(name: str, home: Made) -> None:
    planted = [as_foreign(mutant) for mutant in mutants(home.samples, home.graphs, name)]
    assert share_caught(planted, home.graphs) >= 0.95


def test_there_is_no_false_alarm_with_the_recipe(home: Made) -> None:
    assert [s.id for s in home.samples if any(c.verdict != "pass" for c in check_sample(s, home.graph(s)))] == []


def test_there_are_few_false_alarms_in_foreign_text(home: Made) -> None:
    alarms = [s.id for s in home.samples if failed(as_foreign(s), home.graph(s))]
    assert len(alarms) <= 0.05 * len(home.samples), alarms


@pytest.fixture(scope="module")
def published(foreign_data: Callable[[str], Path]) -> Published:
    """The published set b: samples and graph."""
    folder, rejected = foreign_data("familytool"), []
    samples = list(read_sample_lines(text_lines(folder / "familytool-b.jsonl", rejected), "b", "b", rejected))
    graph = read_graph(text_lines(folder / "familykg-b.txt", rejected), "b", rejected)
    return samples, graph


@pytest.mark.full
def test_the_published_set_has_the_faults_that_were_counted_by_hand(published: Published) -> None:
    samples, graph = published
    counts: Counter[str] = Counter()
    for sample in samples:
        findings = [f for c in check_sample(sample, graph, chosen_checks(["parameters"])) for f in c.findings]
        counts.update({f.code for f in findings if f.path.startswith("/calls")})
    assert len(samples) == 483
    assert {code: counts[code] for code in ("missing_required", "unknown_parameter", "type_mismatch")} == {
        "missing_required": 119,
        "unknown_parameter": 30,
        "type_mismatch": 11,
    }


@pytest.mark.full
@pytest.mark.parametrize("name", MUTATIONS)
def test_faults_planted_into_published_rows_without_a_finding_are_caught(name: str, published: Published) -> None:
    samples, graph = published
    sound = [s for s in samples if not failed(s, graph)]
    planted = list(mutants(sound, {"b": graph}, name))
    assert len(planted) >= 20
    assert share_caught(planted, {"b": graph}) >= 0.95
