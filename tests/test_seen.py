"""Duplicates: by wording, path and call together, so that contrast pairs stay."""

import pytest

from familytool.model import Sample
from familytool.seen import Seen
from tests.made import Made


@pytest.fixture(scope="module")
def row(home: Made) -> Sample:
    return next(s for s in home.samples if s.kind == "graph" and s.depth == 2)


def changed(row: Sample, **update: object) -> Sample:
    return row.model_copy(update={"id": "other", **update})


def other_call(row: Sample) -> Sample:
    """The same wish with another value that is said outright."""
    call = row.calls[0]
    return changed(row, calls=(call.model_copy(update={"arguments": {**call.arguments, "note": "x"}}), *row.calls[1:]))


def other_path(row: Sample) -> Sample:
    path = row.golden_paths[0]
    return changed(row, golden_paths=(path.model_copy(update={"relations": ("aunt", *path.relations[1:])}), *row.golden_paths[1:]))


ROWS = {
    "itself": (lambda row: row, True),
    "the same words in another case, for another call": (lambda row: other_call(changed(row, query=row.query.upper())), True),
    "the same call in other words": (lambda row: changed(row, query="Do this for me, as you did it last week."), True),
    "another speaker": (lambda row: changed(row, speaker="Somebody Else", query=row.query + " Now."), False),
    "another call in nearly the same words": (lambda row: other_call(changed(row, query="So, " + row.query)), True),
    "another call in quite other words": (lambda row: other_call(changed(row, query="Do this for me, as you did it last week.")), False),
    "a twin: another path in nearly the same words": (lambda row: other_path(other_call(changed(row, query="So, " + row.query))), False),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_a_duplicate_by_wording_path_and_call_together(row: Sample, name: str) -> None:
    make, is_double = ROWS[name]
    seen = Seen(alike=0.9)
    seen.add(row)
    assert bool(seen.duplicate_of(make(row))) is is_double


def test_wordings_are_compared_only_where_a_likeness_is_given(row: Sample) -> None:
    seen = Seen()
    seen.add(row)
    assert not seen.duplicate_of(other_call(changed(row, query="So, " + row.query)))


def test_what_was_accepted_after_the_horizon_is_not_known(row: Sample, home: Made) -> None:
    seen = Seen(alike=0.9)
    others = [s for s in home.samples if s.id != row.id][:3]
    for sample in others:
        seen.add(sample)
    before = seen.count
    seen.add(row)
    assert seen.duplicate_of(row)
    assert not seen.duplicate_of(row, before)
    assert seen.duplicate_of(others[0], before)
