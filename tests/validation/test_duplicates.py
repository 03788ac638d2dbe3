import pytest

from familytool.model import Sample
from familytool.validation.duplicates import Duplicates, doubled_tools
from tests.validation.family import CAFE, TAXI, asked


def row(number: int, query: str = "Find my cafe", **changes: object) -> Sample:
    return asked(query, "prefer_cafe").model_copy(update={"id": f"t-{number}", **changes})


def found(*samples: Sample) -> list[tuple[str, str]]:
    duplicates = Duplicates()
    for sample in samples:
        duplicates.add(sample)
    assert all((f.code, f.path) == ("duplicate_sample", "/query") for _, _, f in duplicates.findings())
    return [(sample_id, f.value) for _, sample_id, f in duplicates.findings()]


PAIRS = {
    "the same words": (row(1), row(2), True),
    "another case": (row(1), row(2, "FIND my CAFE"), True),
    "other white space": (row(1), row(2, " Find  my\n cafe "), True),
    "the speaker in another case": (row(1), row(2, speaker="NORA"), True),
    "other tools and another answer": (row(1), row(2, candidate_tools=(), calls=()), True),
    "nobody speaks, and other tools": (row(1, speaker=""), row(2, speaker="", candidate_tools=(TAXI,)), False),
    "nobody speaks, and the same tools": (row(1, speaker=""), row(2, speaker=""), True),
    "something else was said before": (
        row(1, provenance={"dialogue_before": "hello"}),
        row(2, provenance={"dialogue_before": "bye"}),
        False,
    ),
    "another speaker": (row(1), row(2, speaker="Piet"), False),
    "another family": (row(1), row(2, graph_id="other"), False),
    "other words": (row(1), row(2, "Find my café"), False),
    "a twin that names the other": (row(1), row(2, twin_of="t-1"), False),
    "words that run into the speaker": (row(1, "b c", speaker="a"), row(2, "c", speaker="a b"), False),
}


@pytest.mark.parametrize(("first", "second", "expected"), PAIRS.values(), ids=PAIRS.keys())
def test_both_members_of_a_pair_that_asks_the_same_get_a_finding(first: Sample, second: Sample, expected: bool) -> None:
    assert found(first, second) == ([("t-1", "t-2"), ("t-2", "t-1")] if expected else [])


def test_each_member_of_a_larger_group_names_another_one() -> None:
    assert found(row(1), row(2, "x"), row(3), row(4, "x"), row(5)) == [
        ("t-1", "t-3"), ("t-3", "t-1"), ("t-5", "t-1"), ("t-2", "t-4"), ("t-4", "t-2"),
    ]  # fmt: skip


def test_no_samples_have_no_duplicates() -> None:
    """val-031: zero rows are zero groups."""
    assert found() == []
    assert Duplicates().as_json() == {"groups": 0, "samples": 0, "tools_listed_twice": {"samples": 0, "documents": 0}}


def test_a_document_that_is_listed_twice_is_counted_and_no_finding() -> None:
    noted = {"notes": ["candidate tool 3 (find_cafe) is listed before; kept once", "something else", 5]}
    samples = [
        row(1, "a", candidate_tools=(CAFE, TAXI, CAFE)),
        row(2, "b", provenance=noted),
        row(3, "c", provenance={"notes": "x"}),
        row(4, "d"),
    ]
    assert [doubled_tools(sample) for sample in samples] == [1, 1, 0, 0]
    assert doubled_tools(row(5, candidate_tools=(CAFE, CAFE.model_copy(update={"description": "Another."})))) == 0
    assert found(*samples) == []
    duplicates = Duplicates()
    for sample in samples:
        duplicates.add(sample)
    assert duplicates.as_json()["tools_listed_twice"] == {"samples": 2, "documents": 2}
