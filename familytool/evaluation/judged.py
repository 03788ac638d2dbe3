"""Rules, model and person side by side, as the report shows them: the counts come from the validation, the words from the run's rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from familytool.model import Json
from familytool.runs import RunFolder

MOST_CASES = 40


@dataclass(frozen=True)
class Matrix:
    """How often rules, model and person gave which verdicts on one check.

    `cells` are rows {"rules", "model", "person", "samples"}, a side that gave none is None; share and kappa are those of rules and model
    over the `decided` samples on which neither is unknown, None where they tell nothing.
    """

    check: str
    cells: tuple[Mapping[str, Json], ...]
    decided: int = 0
    share: float | None = None
    kappa: float | None = None

    @property
    def differing(self) -> int:
        """Samples on which two sides that gave a verdict do not say the same."""
        return sum(int(c["samples"]) for c in self.cells if len({c[side] for side in ("rules", "model", "person")} - {None}) > 1)

    @property
    def contradicting(self) -> int:
        """Samples that one side passes and another fails."""
        return sum(int(c["samples"]) for c in self.cells if {"pass", "fail"} <= {c[side] for side in ("rules", "model", "person")})


@dataclass(frozen=True)
class Case:
    """One sample and check on which sides differ: what each said, why, the words quoted as evidence, and what became of the row."""

    sample_id: str
    check: str
    rules: str
    model: str
    person: str
    judge: str
    code: str
    message: str
    query: str = ""
    evidence: str = ""
    fate: str = ""


@dataclass(frozen=True)
class Judged:
    """The matrix of each check, and the cases in which sides differ, the worst first."""

    matrices: tuple[Matrix, ...]
    cases: tuple[Case, ...]

    @property
    def differing(self) -> int:
        """All differences, also those that are no case here."""
        return sum(matrix.differing for matrix in self.matrices)


def all_verdicts(run: RunFolder) -> Iterable[dict[str, Any]]:
    """Every verdict of a run, of accepted rows and of rejected candidates."""
    yield from run.rows("checks.jsonl")
    for row in run.rows("rejected.jsonl"):
        yield from ({**check, "sample_id": row["id"]} for check in row.get("checks") or ())


def with_words(cases: Iterable[Mapping[str, Any]], run: RunFolder) -> tuple[Case, ...]:
    """The cases with query, evidence and fate of their rows; `cases` have the first eight fields of `Case`."""
    found = [dict(case) for case in cases]
    wanted = {case["sample_id"] for case in found}
    words: dict[str, tuple[str, str]] = {}
    quotes: dict[tuple[str, str], str] = {}
    for check in all_verdicts(run) if wanted else ():
        if check["sample_id"] in wanted and check["judge"] != "rules":
            quotes[check["sample_id"], check["check"]] = evidence_of(check)
    for row in run.rows("samples.jsonl") if wanted else ():
        if row["id"] in wanted:
            words[row["id"]] = (row["query"], "awaits review" if row["provenance"].get("awaits_review") else "accepted")
    for row in run.rows("rejected.jsonl") if wanted else ():
        if row["id"] in wanted:
            words[row["id"]] = ((row.get("sample") or {}).get("query", ""), f"rejected by {row['check']}")
    for case in found:
        case["query"], case["fate"] = words.get(case["sample_id"], ("", ""))
        case["evidence"] = quotes.get((case["sample_id"], case["check"]), "")
    return tuple(Case(**case) for case in found)


def evidence_of(check: Mapping[str, Any]) -> str:
    """The words that a judge quotes for a verdict, or ""."""
    for finding in check.get("findings") or ():
        value = finding.get("value")
        if isinstance(value, dict) and isinstance(value.get("evidence"), str):
            return str(value["evidence"])
    return ""
