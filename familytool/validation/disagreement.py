"""Where rules, model and person do not say the same: counts for each check, and the cases themselves, the worst first.

Rows are those of `checks.jsonl` as dicts, in any order and read once; of each sample and check a few short words are kept.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from familytool.errors import FamilytoolError
from familytool.model import Json

RULES = "rules"
PERSON = "person"
SIDES = ("rules", "model", "person")
VERDICTS = ("pass", "fail", "unknown")
LONGEST_MESSAGE = 400

Triplet: TypeAlias = tuple[str, str, str]
"""The verdicts of rules, model and person on one sample; "" where a side has given none."""
Counts: TypeAlias = Mapping[Triplet, int]


class Agreement(NamedTuple):
    """How far two sides agree on one check.

    Of `n` samples with a verdict of both, `decided` have neither verdict unknown; share and kappa are over these. None means that there
    is nothing to tell: no such samples, or for kappa one side that gave a single verdict, which chance explains whatever the other said.
    """

    n: int
    decided: int
    share: float | None
    kappa: float | None


class Disagreement(NamedTuple):
    """One sample and check on which not all say the same; code and message are the model's, or else the first given."""

    sample_id: str
    check: str
    rules: str
    model: str
    person: str
    judge: str
    code: str
    message: str


Told: TypeAlias = dict[tuple[str, str], list[tuple[str, str, str]]]
"""(check, sample) -> what each side told last: its `judge`, and code and message of its first finding."""


def side_of(judge: str) -> int:
    """The side that a row's `judge` is on: 0 rules, 1 model, 2 person (`person` or `person:<who>`).

    >>> [side_of(name) for name in ("rules", "gpt-4o", "person:ann")]
    [0, 1, 2]
    """
    return 0 if judge == RULES else 2 if judge.partition(":")[0] == PERSON else 1


def verdict_matrix(rows: Iterable[Mapping[str, Json]]) -> dict[str, Counter[Triplet]]:
    """For each check, in the order in which they come: how many samples have which verdicts of (rules, model, person).

    Of several rows of one side on one sample and check the last counts, as a later row supersedes an earlier one.

    Raises:
        FamilytoolError: a row that is no check, by its number from 1 on.
    """
    found: dict[str, Counter[Triplet]] = {}
    for (check, _), verdicts in _verdicts(rows, None).items():
        found.setdefault(check, Counter())[verdicts] += 1
    return found


def matrix_rows(counts: Counts) -> list[dict[str, Json]]:
    """The counts of one check as rows for a report: the verdicts that differ first, then by verdict; null where a side gave none."""
    ordered = sorted(counts, key=lambda verdicts: (_rank(verdicts), [_place(verdict) for verdict in verdicts]))
    return [
        {**{side: verdict or None for side, verdict in zip(SIDES, verdicts, strict=True)}, "samples": counts[verdicts]}
        for verdicts in ordered
    ]


def agreement(counts: Counts, first: str = "rules", second: str = "model") -> Agreement:
    """The agreement of two sides on one check.

    >>> agreement({("pass", "pass", ""): 8, ("pass", "fail", ""): 1, ("fail", "fail", ""): 1})
    Agreement(n=10, decided=10, share=0.9, kappa=0.6154)
    """
    one, other = SIDES.index(first), SIDES.index(second)
    pairs: Counter[tuple[str, str]] = Counter()
    for verdicts, count in counts.items():
        pairs[verdicts[one], verdicts[other]] += count
    n = sum(count for pair, count in pairs.items() if "" not in pair)
    table = {(a, b): pairs[a, b] for a in ("pass", "fail") for b in ("pass", "fail")}
    decided = sum(table.values())
    if not decided:
        return Agreement(n, 0, None, None)
    same = table["pass", "pass"] + table["fail", "fail"]
    passed = [table["pass", "pass"] + table["pass", "fail"], table["pass", "pass"] + table["fail", "pass"]]
    chance = passed[0] * passed[1] + (decided - passed[0]) * (decided - passed[1])  # times decided squared, so that all is exact
    kappa = None
    if all(0 < count < decided for count in passed):
        kappa = round((same * decided - chance) / (decided * decided - chance), 4)
    return Agreement(n, decided, round(same / decided, 4), kappa)


def disagreements(rows: Iterable[Mapping[str, Json]], limit: int) -> list[Disagreement]:
    """At most `limit` cases in which two sides differ: a model that fails what the rules pass, the other way round, a person who
    contradicts both or one, and then what one side left unknown. Within a kind in the order of the rows.

    Raises:
        FamilytoolError: a row that is no check, by its number from 1 on.
    """
    told: Told = {}
    ranked = (
        (rank, at, key, verdicts) for at, (key, verdicts) in enumerate(_verdicts(rows, told).items()) if (rank := _rank(verdicts)) < SAME
    )
    found = []
    for _, _, (check, sample_id), verdicts in heapq.nsmallest(limit, ranked):
        sides = told[check, sample_id]
        code, message = next(((code, message) for _, code, message in (sides[1], sides[0], sides[2]) if code), ("", ""))
        found.append(Disagreement(sample_id, check, *verdicts, sides[1][0], code, message))
    return found


SAME = 9
"""The rank of verdicts that do not differ."""


def _rank(verdicts: Triplet) -> int:
    rules, model, person = verdicts
    if person in ("pass", "fail") and {rules, model} & ({"pass", "fail"} - {person}):
        return 0 if (rules, model) == ("pass", "fail") else 1 if (rules, model) == ("fail", "pass") else 2
    order: dict[tuple[str, str], int] = {
        ("pass", "fail"): 0, ("fail", "pass"): 1,
        ("unknown", "fail"): 3, ("unknown", "pass"): 4, ("fail", "unknown"): 5, ("pass", "unknown"): 6,
    }  # fmt: skip
    if (rules, model) in order:
        return order[rules, model]
    given = {verdict for verdict in verdicts if verdict}
    return 7 if len(given) > 1 else SAME


def _place(verdict: str) -> int:
    return VERDICTS.index(verdict) if verdict else len(VERDICTS)


def _verdicts(rows: Iterable[Mapping[str, Json]], told: Told | None) -> dict[tuple[str, str], Triplet]:
    """(check, sample) -> verdicts, in the order in which they come; `told` is filled, if it is wanted."""
    found: dict[tuple[str, str], Triplet] = {}
    shared: dict[Triplet, Triplet] = {}
    for number, row in enumerate(rows, 1):
        sample_id, check, verdict, judge = (_text(row, name, number) for name in ("sample_id", "check", "verdict", "judge"))
        if verdict not in VERDICTS:
            raise FamilytoolError(f"checks, row {number}: the verdict is '{verdict[:40]}'; it must be pass, fail or unknown.")
        key, side = (check, sample_id), side_of(judge)
        rules, model, person = found.get(key, ("", "", ""))
        verdicts = (verdict, model, person) if side == 0 else (rules, verdict, person) if side == 1 else (rules, model, verdict)
        found[key] = shared.setdefault(verdicts, verdicts)
        if told is not None:
            told.setdefault(key, [("", "", "")] * 3)[side] = (judge, *_first(row.get("findings")))
    return found


def _text(row: Mapping[str, Json], name: str, number: int) -> str:
    value = row.get(name, RULES if name == "judge" else None) if isinstance(row, Mapping) else None
    if not isinstance(value, str):
        raise FamilytoolError(f"checks, row {number}: '{name}' is no text; each row is an object, one check of one sample.")
    return value


def _first(findings: Any) -> tuple[str, str]:
    """Code and message of the first finding of a row, or two empty texts."""
    first = findings[0] if isinstance(findings, list | tuple) and findings else {}
    return (str(first.get("code", "")), str(first.get("message", ""))[:LONGEST_MESSAGE]) if isinstance(first, Mapping) else ("", "")
