"""Where candidates end: at which stage, for which reason, in which stratum, for which tools; read from the rows of a run, so that it adds up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from familytool.campaign import Campaign
from familytool.runs import RunFolder

OWN_STAGES = ("generate", "phrase", "solve", "duplicates", "quotas")
"""Checks of a rejection that are stages of their own; every other one is decided by rules or by a judge."""
JUDGED = ("query", "intent", "feasibility")


@dataclass(frozen=True)
class StratumFunnel:
    """What became of a stratum's (or a tool's) candidates; `rejected` counts by reason, `check: code`."""

    candidates: int
    accepted: int
    rejected: Mapping[str, int] = field(default_factory=dict)

    @property
    def lost(self) -> int:
        """Candidates that are neither accepted nor rejected with a reason: none, if the rows are whole."""
        return self.candidates - self.accepted - sum(self.rejected.values())


@dataclass(frozen=True)
class Stage:
    """A stage that candidates pass in turn: how many came to it, and the reasons for which it rejected some.

    `name` is one of `OWN_STAGES`, or `rules: <check>` or `judge: <check>`.
    """

    name: str
    entered: int
    reasons: Mapping[str, int] = field(default_factory=dict)

    @property
    def rejected(self) -> int:
        """Candidates that end here."""
        return sum(self.reasons.values())

    @property
    def left(self) -> int:
        """Candidates that go on."""
        return self.entered - self.rejected


@dataclass(frozen=True)
class Funnel:
    """A run from its candidates to the released rows.

    `candidates` = `accepted` + all that a stage rejected; `accepted` - `awaiting` + `kept` = the rows that are released. A candidate
    that asks for two tools counts in both of `tools`; `kept` are the rows of a former release.
    """

    strata: Mapping[str, StratumFunnel]
    stages: tuple[Stage, ...]
    tools: Mapping[str, StratumFunnel]
    awaiting: int = 0
    kept: int = 0
    twins_rejected: int = 0

    @property
    def candidates(self) -> int:
        """All candidates."""
        return sum(stratum.candidates for stratum in self.strata.values())

    @property
    def accepted(self) -> int:
        """Accepted rows, those that await a review among them."""
        return sum(stratum.accepted for stratum in self.strata.values())

    @property
    def released(self) -> int:
        """The rows of a release."""
        return self.accepted - self.awaiting + self.kept


def stage_of(row: Mapping[str, Any]) -> str:
    """The stage that a row of rejected.jsonl ended at.

    A judge's check counts as its own where the rules let the candidate pass or could not tell.
    """
    check = str(row["check"])
    if check in OWN_STAGES:
        return check
    verdicts = [v for v in row.get("checks") or () if v["check"] == check]
    ruled = {v["verdict"] for v in verdicts if v["judge"] == "rules"}
    judged = {v["verdict"] for v in verdicts if v["judge"] != "rules"}
    if "fail" in ruled or (ruled and row["code"] == "unknown") or not judged & {"fail", "unknown"}:
        return f"rules: {check}"
    return f"judge: {check}"


def planned_stages(campaign: Campaign) -> list[str]:
    """The stages that a campaign's candidates pass, in order."""
    writes = campaign.generation.writer in campaign.models and campaign.generation.method == "grounded"
    names = ["generate", *(["phrase"] if writes else []), *(f"rules: {check}" for check in campaign.validation.checks)]
    names += ["solve"] if writes else []
    names += [f"judge: {check}" for check in JUDGED] if campaign.validation.judge else []
    return [*names, "duplicates", "quotas"]


def read_funnel(campaign: Campaign, run: RunFolder) -> Funnel:
    """The funnel of a run folder, also of one that is not finished."""
    strata: dict[str, Counter[str]] = {}
    tools: dict[str, Counter[str]] = {}
    ends: dict[str, Counter[str]] = {}
    awaiting = twins = 0
    for row in run.rows("samples.jsonl"):
        strata.setdefault(row["provenance"]["stratum"], Counter())[""] += 1
        awaiting += bool(row["provenance"].get("awaits_review"))
        for tool in asked_tools(row):
            tools.setdefault(tool, Counter())[""] += 1
    for row in run.rows("rejected.jsonl"):
        reason = f"{row['check']}: {row['code']}"
        strata.setdefault(row["stratum"], Counter())[reason] += 1
        ends.setdefault(stage_of(row), Counter())[row["code"]] += 1
        twins += bool(row.get("sample") and row["sample"].get("twin_of"))
        for tool in dict.fromkeys(row["tools"]):
            tools.setdefault(tool, Counter())[reason] += 1
    total = sum(counts.total() for counts in strata.values())
    return Funnel(
        {name: _funnel(counts) for name, counts in strata.items()},
        tuple(_stages(planned_stages(campaign), ends, total)),
        {name: _funnel(tools[name]) for name in sorted(tools)},
        awaiting,
        sum(1 for _ in run.rows("base.jsonl")),
        twins,
    )


def asked_tools(row: Mapping[str, Any]) -> list[str]:
    """The tools that a row's query asks for, each once, also where none of them is offered."""
    origin = row["provenance"]
    named = origin.get("tools") or [clause["tool"] for clause in origin.get("wording") or ()]
    return list(dict.fromkeys(named or [call["name"] for call in row["calls"]]))


def _funnel(counts: Counter[str]) -> StratumFunnel:
    return StratumFunnel(counts.total(), counts[""], {reason: n for reason, n in counts.items() if reason})


def _stages(planned: Iterable[str], ends: Mapping[str, Counter[str]], total: int) -> Iterable[Stage]:
    """The stages in order; one that no campaign plans stands before the duplicates."""
    order = list(planned)
    order[-2:-2] = [name for name in ends if name not in order]
    left = total
    for name in order:
        stage = Stage(name, left, dict(ends.get(name, Counter()).most_common()))
        yield stage
        left = stage.left
