"""The expectations on a table of samples: what every benchmark keeps to, and what a caller asks for beyond it, as plain data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from pydantic import Field, field_validator

from familytool.model import Kind, Record

Condition: TypeAlias = tuple[str, str, Any]
"""A column, an operator (==, !=, >, in) and a value."""

TEXTS = ("id", "query")
NAMES = ("benchmark", "kind", "stratum", "graph_id", "speaker", "shape", "tool", "category")
COUNTS = ("query_words", "n_candidate_tools", "n_distinct_tools", "hops", "n_distinct_triples", "depth", "n_calls", "n_golden_calls",
          "n_offered_calls", "n_arguments")  # fmt: skip
COLUMNS = (*TEXTS, *NAMES, *COUNTS)

STRATUM = re.compile(r"hop(?:0|[1-9][0-9]?)|no_graph|no_tool|multi_call")
SHAPE = r"^(?!.*(?:\+0|\+\+|\+$))(?:0|[1-9][0-9+]*)\Z"
"""Chain lengths joined by `+`, or 0: no empty and no zero length inside a sum (pandas warns of groups that capture)."""


class Expected(Record):
    """What is expected of a table beyond the rules that hold for every benchmark.

    rows: the least and the most rows; a maximum of None is no limit.
    empty_is_allowed: no rows at all are no failure (unless `rows` or `strata` ask for some).
    strata: the exact number of rows of each stratum, `hop<n>` (samples of kind graph by hops) or a kind; others may then not occur.
    candidate_tools: the least and the most tools a sample offers.
    unique: groups of columns that no two rows share.
    required: columns that may not be blank in any row, beside those that never may.
    """

    rows: tuple[int, int | None] | None = None
    empty_is_allowed: bool = False
    kinds: tuple[Kind, ...] = Field(get_args(Kind), min_length=1)
    strata: dict[str, int] | None = None
    candidate_tools: tuple[int, int | None] = (1, None)
    unique: tuple[tuple[str, ...], ...] = (("id",), ("graph_id", "speaker", "query"))
    required: tuple[str, ...] = ("id", "benchmark", "kind", "query")

    @field_validator("rows", "candidate_tools")
    @classmethod
    def _ordered(cls, limits: tuple[int, int | None] | None) -> tuple[int, int | None] | None:
        if limits is not None and not 0 <= limits[0] <= (limits[0] if limits[1] is None else limits[1]):
            raise ValueError(f"{limits[0]} to {limits[1]} is no range; give the least number, from 0, and then the most or none")
        return limits

    @field_validator("strata")
    @classmethod
    def _known_strata(cls, strata: dict[str, int] | None) -> dict[str, int] | None:
        if strata is not None and not strata:
            raise ValueError("no stratum is named; leave strata out if any may occur")
        for name, wanted in (strata or {}).items():
            if not STRATUM.fullmatch(name):
                raise ValueError(f"'{name}' is no stratum (hop0 ... hop99, no_graph, no_tool, multi_call)")
            if wanted < 0:
                raise ValueError(f"stratum {name} expects {wanted} rows; give 0 or more")
        return strata

    @field_validator("unique", "required")
    @classmethod
    def _known_columns(cls, columns: tuple[Any, ...]) -> tuple[Any, ...]:
        groups = [(entry,) if isinstance(entry, str) else entry for entry in columns]
        for group in groups:
            if not group or len({*group}) < len(group) or groups.count(group) > 1:
                raise ValueError(f"({', '.join(group)}) is empty or names something twice")
            for name in group:
                if name not in COLUMNS:
                    raise ValueError(f"'{name}' is no column of the table ({', '.join(COLUMNS)})")
        return columns


@dataclass(frozen=True)
class Rule:
    """An expectation of ours. `type` and `arguments` are Great Expectations'; `when` limits it to some rows: column, operator, value."""

    name: str
    title: str
    sentence: str
    type: str
    arguments: dict[str, Any]
    when: Condition | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in which a null would be passed over: a condition's, and unless a null itself counts, those it looks at."""
        read = [self.arguments[key] for key in ("column", "column_A", "column_B") if key in self.arguments]
        counted = self.type in ("ExpectColumnValuesToNotBeNull", "ExpectCompoundColumnsToBeUnique")
        return (*(() if counted else read), *((self.when[0],) if self.when else ()))


def rules_of(expected: Expected) -> list[Rule]:
    """The expectations in order. Great Expectations passes over nulls, so that a column of nulls would meet everything: each
    column that is read so is first expected to have none.
    """
    rules = [*_strata_rules(expected), *_value_rules(expected), *_kind_rules()]
    guarded = dict.fromkeys((*expected.required, *(name for rule in rules for name in rule.columns)))
    return [_row_count(expected), *(_filled(name) for name in guarded), *rules]


def _row_count(expected: Expected) -> Rule:
    least, most = expected.rows or (0 if expected.empty_is_allowed else 1, None)
    limits = {"min_value": least, "max_value": most}
    return Rule("row_count", "Number of rows", f"The table has {_counted(least, most, 'row')}.", "ExpectTableRowCountToBeBetween", limits)


def _strata_rules(expected: Expected) -> Iterator[Rule]:
    for stratum, wanted in (expected.strata or {}).items():
        sentence = f"The stratum {stratum} has {_counted(wanted, wanted, 'row')}."
        condition = ("stratum", "==", stratum)
        yield Rule(f"count_{stratum}", f"Rows of {stratum}", sentence, "ExpectTableRowCountToEqual", {"value": wanted}, condition)


def _value_rules(expected: Expected) -> Iterator[Rule]:
    yield from (_unique(group) for group in expected.unique)
    yield _listed("kind", expected.kinds)
    if expected.strata is not None:
        yield _listed("stratum", tuple(expected.strata))
    shape = {"column": "shape", "regex": SHAPE}
    yield Rule("shape_known", "Shape", "The shape is 0, or chain lengths joined by + as in 2+1.", "ExpectColumnValuesToMatchRegex", shape)
    yield _number("candidates", "n_candidate_tools", expected.candidate_tools, "Candidate tools", "A row offers {}.", "tool")
    yield _pair("candidates_differ", "n_candidate_tools == n_distinct_tools", "Candidates differ", "No tool is offered twice in one row.")
    yield _pair("called_tools_offered", "n_calls == n_offered_calls", "Called tools", "Each golden call is of a tool that its row offers.")
    yield _pair("hops_are_triples", "hops == n_distinct_triples", "Hops", "The hops are the number of distinct golden triples.")
    yield _pair("hops_cover_depth", "hops >= depth", "Depth", "No golden chain is longer than the number of golden triples.")


KINDS: tuple[tuple[str, str, Condition, str, tuple[int, int | None]], ...] = (
    ("graph_has_hops", "kind graph", ("kind", "==", "graph"), "hops", (1, None)),
    ("others_have_no_hops", "kind no_graph or no_tool", ("kind", "in", ["no_graph", "no_tool"]), "hops", (0, 0)),
    ("no_tool_has_no_call", "kind no_tool", ("kind", "==", "no_tool"), "n_golden_calls", (0, 0)),
    ("others_have_a_call", "any kind but no_tool", ("kind", "!=", "no_tool"), "n_golden_calls", (1, None)),
    ("multi_call_has_calls", "kind multi_call", ("kind", "==", "multi_call"), "n_golden_calls", (2, None)),
    ("others_have_one_call", "any kind but multi_call", ("kind", "!=", "multi_call"), "n_calls", (0, 1)),
)
"""What the kind of a row says of its golden triples and calls: name, the rows in words, their condition, column, least and most."""


def _kind_rules() -> Iterator[Rule]:
    yield _filled("speaker", "of kind graph", ("kind", "==", "graph"))
    yield _filled("graph_id", "of kind graph", ("kind", "==", "graph"))
    yield _filled("tool", "with a golden call", ("n_calls", ">", 0))
    for name, which, condition, column, limits in KINDS:
        noun = "golden triple" if column == "hops" else "golden call"
        yield _number(name, column, limits, f"{noun.capitalize()}s of {which}", f"A row of {which} has {{}}.", noun, condition)


def _filled(column: str, rows: str = "", when: Condition | None = None) -> Rule:
    name = "_".join((column, "filled", *rows.split()))
    sentence = f"Every row {rows} has a value in {column}.".replace("  ", " ")
    return Rule(name, f"Blank {column}", sentence, "ExpectColumnValuesToNotBeNull", {"column": column}, when)


def _unique(group: tuple[str, ...]) -> Rule:
    names = " and ".join(filter(None, (", ".join(group[:-1]), group[-1])))
    said = ("_".join(("unique", *group)), f"Unique {names}", f"No two rows have the same {names}.")
    if len(group) == 1:
        return Rule(*said, "ExpectColumnValuesToBeUnique", {"column": group[0]})
    return Rule(*said, "ExpectCompoundColumnsToBeUnique", {"column_list": list(group), "ignore_row_if": "never"})


def _listed(column: str, known: tuple[str, ...]) -> Rule:
    sentence = f"The {column} is one of {', '.join(known)}."
    return Rule(f"{column}_known", f"Known {column}", sentence, "ExpectColumnValuesToBeInSet", {"column": column, "value_set": list(known)})


def _number(
    name: str, column: str, limits: tuple[int, int | None], title: str, sentence: str, noun: str, when: Condition | None = None
) -> Rule:
    arguments = {"column": column, "min_value": limits[0], "max_value": limits[1]}
    return Rule(name, title, sentence.format(_counted(*limits, noun)), "ExpectColumnValuesToBeBetween", arguments, when)


def _pair(name: str, comparison: str, title: str, sentence: str) -> Rule:
    left, operator, right = comparison.split()
    arguments: dict[str, Any] = {"column_A": left, "column_B": right, "ignore_row_if": "neither"}
    if operator == "==":
        return Rule(name, title, sentence, "ExpectColumnPairValuesToBeEqual", arguments)
    return Rule(name, title, sentence, "ExpectColumnPairValuesAToBeGreaterThanB", {**arguments, "or_equal": True})


def _counted(least: int, most: int | None, noun: str) -> str:
    """A range as words.

    >>> _counted(1, None, "row"), _counted(0, 0, "row"), _counted(3, 3, "row"), _counted(0, 1, "row"), _counted(4, 12, "tool")
    ('at least 1 row', 'no rows', 'exactly 3 rows', 'at most 1 row', '4 to 12 tools')
    """
    nouns = noun if (least if most is None else most) == 1 else f"{noun}s"
    if most is None:
        return f"at least {least} {nouns}"
    if least == most:
        return f"exactly {least} {nouns}" if least else f"no {nouns}"
    return f"{least} to {most} {nouns}" if least else f"at most {most} {nouns}"
