"""The golden calls of the published FamilyTool sets against their own documents: counted by hand elsewhere, sample by sample."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from familytool.formats.benchmark_files import text_lines
from familytool.formats.familytool_2025 import read_graph, read_sample_lines
from familytool.graph import KnowledgeGraph
from familytool.model import Finding, Sample
from familytool.validation.parameters import check_parameters
from familytool.validation.schema import schema_findings

pytestmark = pytest.mark.full


def each(numbers: Iterable[int], *names: str) -> dict[int, list[str]]:
    """These parameters for each of these samples."""
    return {number: list(names) for number in numbers}


COPIES_B = each(range(356, 361), "source_recurrence", "target_recurrence")
COPIES_E = each((329, *range(434, 439)), "source_recurrence", "target_recurrence")
UNKNOWN_B: dict[int, list[str]] = {
    **each((56, 57), "genre"), 208: ["travel_mode"], **each((209, 210), "city"), 211: ["travel_to"],
    **each((222, 223), "alarm_time"), **each((224, 225, 226), "name"), **each((238, 239, 241, 242), "city"),
    **each(range(311, 316), "date of journey"), **each(range(446, 451), "account_number"),
    **each(range(451, 456), "area", "stars"),
}  # fmt: skip
UNKNOWN_E: dict[int, list[str]] = {
    50: ["area"], **each((55, 56), "genre"), 70: ["location"], **each((186, 188), "city"), 187: ["travel_mode"],
    189: ["travel_to"], **each((209, 210), "alarm_time"), 211: ["name"], **each((219, 220, 222, 223), "city"),
    **each(range(282, 287), "date of journey"), **each(range(375, 380), "account_number"),
    **each((395, 396), "genre"),
}  # fmt: skip
EXPECTED: dict[str, dict[str, Any]] = {
    "b": {
        "unknown_parameter": UNKNOWN_B,
        "type_mismatch": {293: ["recurrence"], **COPIES_B, **each(range(466, 471), "new_recurrence")},
        "format_mismatch": {**each(range(130, 134), "appointment_time"), **each(range(466, 471), "new_time")},
        "placeholders": {1, 2, 3, 190, 191, 192, 256, 291, 292, 294, *range(356, 361)},
        "missing": (119, 173), "any": 143, "any_with_format": 147, "any_with_placeholders": 157,
    },
    "e": {
        "unknown_parameter": UNKNOWN_E,
        "type_mismatch": {263: ["recurrence"], **COPIES_E, **each(range(418, 422), "new_recurrence")},
        "format_mismatch": {**each(range(121, 125), "appointment_time"), **each(range(418, 422), "new_time")},
        "placeholders": {6, 7, 8, 175, 177, 247, 262, 264, 265, 329, 415, *range(434, 439)},
        "missing": (114, 169), "any": 136, "any_with_format": 140, "any_with_placeholders": 150,
    },
}  # fmt: skip
EXPECTED["v0"] = EXPECTED["b"]
CODES = ("missing_required", "unknown_parameter", "type_mismatch")


@pytest.fixture(scope="module", params=["b", "e", "v0"])
def published(request: pytest.FixtureRequest, foreign_data: Callable[[str], Path]) -> tuple[str, list[Sample], KnowledgeGraph]:
    folder, name, rejected = foreign_data("familytool"), request.param, []
    samples = list(read_sample_lines(text_lines(folder / f"familytool-{name}.jsonl", rejected), name, name, rejected))
    return name, samples, read_graph(text_lines(folder / f"familykg-{name}.txt", rejected), name, rejected)


def of_schemas(samples: list[Sample], graph: KnowledgeGraph) -> dict[int, list[Finding]]:
    """Number of each sample -> its findings about schemas."""
    return {
        int(sample.id.rpartition("-")[2]): [f for f in check_parameters(sample, graph).findings if f.code != "wrong_entity"]
        for sample in samples
    }


def by_sample(found: dict[int, list[Finding]], code: str) -> dict[int, list[str]]:
    rows = {number: sorted(f.path.rpartition("/")[2] for f in findings if f.code == code) for number, findings in found.items()}
    return {number: names for number, names in rows.items() if names}


def test_the_findings_are_those_that_were_counted_by_hand(published: tuple[str, list[Sample], KnowledgeGraph]) -> None:
    name, samples, graph = published
    expected, found = EXPECTED[name], of_schemas(samples, graph)
    for code in ("unknown_parameter", "type_mismatch", "format_mismatch"):
        assert by_sample(found, code) == expected[code]
    missing = [finding.value for findings in found.values() for finding in findings if finding.code == "missing_required"]
    assert (len(by_sample(found, "missing_required")), len(missing)) == expected["missing"]
    assert {f.code for findings in found.values() for f in findings} == {*CODES, "format_mismatch"}
    assert sum(any(f.code in CODES for f in findings) for findings in found.values()) == expected["any"]
    assert sum(bool(findings) for findings in found.values()) == expected["any_with_format"]


def test_placeholders_of_the_graph_are_the_only_difference_to_the_bare_schemas(published: tuple[str, list[Sample], KnowledgeGraph]) -> None:
    name, samples, graph = published
    expected, found = EXPECTED[name], of_schemas(samples, graph)
    bare: dict[int, list[Finding]] = {}
    for sample in samples:
        schema = next((tool.parameters for tool in sample.candidate_tools if tool.name == sample.calls[0].name), None)
        if schema is not None:
            bare[int(sample.id.rpartition("-")[2])] = schema_findings(schema, sample.calls[0].arguments, "/calls/0/arguments") or []
    more = {number: [f for f in findings if f not in found[number]] for number, findings in bare.items()}
    assert {number for number, findings in more.items() if findings} == expected["placeholders"]
    assert {f.code for findings in more.values() for f in findings} == {"format_mismatch"}
    assert sum(bool(findings) for findings in bare.values()) == expected["any_with_placeholders"]


def test_a_name_with_spaces_is_told_apart_from_one_that_nobody_declares(published: tuple[str, list[Sample], KnowledgeGraph]) -> None:
    _, samples, graph = published
    hints = {f.hint for findings in of_schemas(samples, graph).values() for f in findings if f.path.endswith("date of journey")}
    assert hints == {"near: date_of_journey"}
