"""What model calls took: by purpose, model and outcome, for accepted and rejected candidates, and for each released row."""

from __future__ import annotations

import contextlib
import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain, pairwise
from typing import Any, NamedTuple

from familytool.campaign import Campaign
from familytool.llm.accounts import Totals
from familytool.llm.ledger import Ledger
from familytool.llm.prompts import prompt_hash
from familytool.llm.store import open_for_reading, told
from familytool.model import Json
from familytool.runs import LEDGER, RunFolder

PURPOSES = {
    "extract": "reading documents", "filter": "filtering", "query": "writing queries", "answer": "writing calls",
    "solve": "solving back", "judge": "judging", "probe": "probing",
}  # fmt: skip
RECENT = 400
"""Calls from which a pace is told."""


@dataclass(frozen=True)
class ModelUse:
    """A model, what it is asked for, the settings that its answers hang on, and what its calls took."""

    id: str
    roles: tuple[str, ...]
    settings: Mapping[str, Json] = field(default_factory=dict)
    took: Totals | None = None


@dataclass(frozen=True)
class RowCost:
    """What one row took: all calls that were made for its candidate, by purpose; tokens; US dollars, None without a price."""

    id: str
    calls: Mapping[str, int]
    prompt_tokens: int
    output_tokens: int
    price: Decimal | None

    @property
    def n_calls(self) -> int:
        """All calls."""
        return sum(self.calls.values())


@dataclass(frozen=True)
class Spending:
    """What all calls of a run's ledger took. `total` = `accepted` + `rejected` + `neither`; a call that both had counts as accepted's.

    `neither`: probes, preferences, candidates in work when a stratum was full, calls whose prompts were edited since.
    `prompts`: the hashes of the prompt files that the campaign's models are asked with.
    """

    total: Totals
    by_purpose: Mapping[str, Totals]
    by_outcome: Mapping[str, Totals]
    accepted: Totals
    rejected: Totals
    rows: int
    released: int
    models: tuple[ModelUse, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=dict)
    dearest: tuple[RowCost, ...] = ()

    @property
    def neither(self) -> Totals:
        """What no candidate of the run's files asked for."""
        return _minus(_minus(self.total, self.accepted), self.rejected)


class Pace(NamedTuple):
    """How fast calls came lately: seconds a call, and how many calls that is told from."""

    seconds: float
    calls: int


def read_spending(campaign: Campaign, run: RunFolder) -> Spending | None:
    """What a run's ledger tells; None where there is none. The ledger is only read, also while a run is going on."""
    path = run.path / LEDGER
    if not path.exists():
        return None
    rows = awaiting = 0

    def used() -> Iterator[str]:
        nonlocal rows, awaiting
        for row in run.rows("samples.jsonl"):
            rows += 1
            awaiting += bool(row["provenance"].get("awaits_review"))
            yield from row["provenance"].get("calls", ())

    with Ledger(path, replay=True) as ledger:
        accepted = ledger.cost(used())
        counted = rows, rows - awaiting
        both = ledger.cost(chain(used(), (key for row in run.rows("rejected.jsonl") for key in row.get("calls") or ())))
        by_model = ledger.totals("model")
        return Spending(
            ledger.total(), ledger.totals("purpose"), ledger.totals("outcome"), accepted, _minus(both, accepted), *counted,
            _models(campaign, by_model), prompt_hashes(campaign, run), tuple(dearest(row_costs(run))),
        )  # fmt: skip


def row_costs(run: RunFolder) -> Iterator[RowCost]:
    """What each accepted row took that is not kept back for review, in the order of the rows."""
    path = run.path / LEDGER
    if not path.exists():
        return
    with told(path, "read"), contextlib.closing(open_for_reading(path)) as reader:
        for row in run.rows("samples.jsonl"):
            origin = row["provenance"]
            if origin.get("awaits_review"):
                continue
            yield cost_of(reader, row["id"], origin.get("calls", ()))


def cost_of(reader: Any, identity: str, keys: Iterable[str]) -> RowCost:
    """What the calls of these keys took; `reader` is a connection to the ledger."""
    purposes: Counter[str] = Counter()
    prompt = output = 0
    price, priced = Decimal(0), False
    for key in dict.fromkeys(keys):
        found = reader.execute("SELECT purpose, prompt_tokens, output_tokens, price FROM ledger WHERE key = ?", (key,)).fetchone()
        if found is None:
            continue
        purposes[found[0]] += 1
        prompt += found[1] or 0
        output += found[2] or 0
        if found[3] is not None:
            price, priced = price + Decimal(round(found[3] * 1e9)).scaleb(-9), True
    return RowCost(identity, dict(sorted(purposes.items())), prompt, output, price if priced else None)


def cost_rows(run: RunFolder) -> Iterator[dict[str, Json]]:
    """The rows of evaluation/costs.jsonl: each released row with its calls by purpose, tokens, and US dollars or null."""
    for cost in row_costs(run):
        yield {
            "id": cost.id, "calls": dict(cost.calls), "prompt_tokens": cost.prompt_tokens, "output_tokens": cost.output_tokens,
            "price": None if cost.price is None else float(cost.price),
        }  # fmt: skip


def dearest(costs: Iterable[RowCost], most: int = 5) -> list[RowCost]:
    """The rows that took most: dollars first, then tokens."""
    import heapq

    return heapq.nlargest(most, costs, key=lambda c: (c.price or Decimal(0), c.prompt_tokens + c.output_tokens, c.n_calls))


def pace(run: RunFolder) -> Pace | None:
    """How fast the last calls were finished; None where too few tell. Pauses between two runs are not counted."""
    path = run.path / LEDGER
    if not path.exists():
        return None
    with told(path, "read"), contextlib.closing(open_for_reading(path)) as reader:
        rows = reader.execute("SELECT finished FROM ledger ORDER BY finished DESC LIMIT ?", (RECENT,)).fetchall()
    moments = sorted(moment for (text,) in rows if (moment := _moment(text)) is not None)
    gaps = [(b - a).total_seconds() for a, b in pairwise(moments)]
    if len(gaps) < 5:
        return None
    usual = sorted(gaps)[len(gaps) // 2]
    kept = [gap for gap in gaps if gap <= max(60.0, 100 * usual)]  # longer ones are pauses
    return Pace(sum(kept) / len(kept), len(kept)) if kept else None


def _moment(text: str) -> datetime.datetime | None:
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None


def prompt_hashes(campaign: Campaign, run: RunFolder) -> dict[str, str]:
    """The prompt files that the campaign's models are asked with, and their hashes: the run's own prompts, and the package's."""
    generation = campaign.generation
    names: list[str] = []
    if generation.extractor in campaign.models:
        names += ["extract", "filter", "values"]
    if generation.writer in campaign.models:
        names += ["phrase", "solve"] if generation.method == "grounded" else ["query_from_graph", "answer"]
    found = {name: prompt_hash("familytool.generation", name) for name in names}
    if campaign.validation.judge:
        judging = ["judge_query", "judge_intent", "judge_feasibility"]
        if generation.strata.get("no_tool"):
            judging += ["judge_intent_no_tool", "judge_feasibility_no_tool"]
        found |= {name: prompt_hash("familytool.validation", name) for name in judging}
    own = run.manifest().get("identity", {}).get("prompts", {})
    return {name: str(own.get(name, value)) for name, value in found.items()}


def _models(campaign: Campaign, took: Mapping[str, Totals]) -> tuple[ModelUse, ...]:
    """The models that the campaign names for a task, and those that only the ledger knows."""
    roles = model_roles(campaign)
    found: dict[str, list[str]] = {}
    for name, role in roles.items():
        found.setdefault(name, []).extend(role)
    uses = [
        ModelUse(campaign.models[name].id, tuple(role), model_settings(campaign, name), took.get(campaign.models[name].id))
        for name, role in found.items()
    ]
    named = {use.id for use in uses}
    return (*uses, *(ModelUse(name, ("asked before an edit",), {}, totals) for name, totals in took.items() if name not in named))


def model_roles(campaign: Campaign) -> dict[str, list[str]]:
    """What each model of a campaign is asked for, by its name there."""
    generation, found = campaign.generation, dict[str, list[str]]()
    solver = generation.solver or generation.writer
    for role, name in (
        ("extractor", generation.extractor),
        ("writer", generation.writer),
        ("solver", solver if generation.method == "grounded" and generation.writer in campaign.models else ""),
        ("judge", campaign.validation.judge),
    ):
        if name in campaign.models:
            found.setdefault(name, []).append(role)
    return found


def model_settings(campaign: Campaign, name: str) -> dict[str, Json]:
    """The settings of a model that its answers hang on, without those that are left to the endpoint."""
    section = campaign.models[name]
    settings = {key: getattr(section, key) for key in ("temperature", "top_p", "seed", "max_output")}
    return {key: value for key, value in settings.items() if value is not None}


def _minus(whole: Totals, part: Totals) -> Totals:
    return Totals(
        whole.calls - part.calls, whole.prompt_tokens - part.prompt_tokens, whole.output_tokens - part.output_tokens,
        whole.price - part.price, whole.unpriced - part.unpriced, whole.uncounted - part.uncounted,
    )  # fmt: skip


def cost_told(name: str, parts: Iterable[Totals]) -> dict[str, Json]:
    """A line of a card: what these totals come to; the price is None where no call has one."""
    parts = list(parts)
    is_priced = any(part.calls > part.unpriced for part in parts)
    return {
        "for": name, "calls": sum(p.calls for p in parts), "prompt_tokens": sum(p.prompt_tokens for p in parts),
        "output_tokens": sum(p.output_tokens for p in parts), "price": float(sum(p.price for p in parts)) if is_priced else None,
    }  # fmt: skip


def making_rows(spent: Spending) -> Totals:
    """The calls that grow with the number of rows: all but those that read documents or probe endpoints."""
    rest = spent.total
    for purpose in ("extract", "filter", "probe"):
        rest = _minus(rest, spent.by_purpose[purpose]) if purpose in spent.by_purpose else rest
    return rest


def dollars(totals: Totals, digits: int = 4) -> str:
    """Dollars alone, for a narrow place."""
    return "no price" if totals.calls and totals.unpriced == totals.calls else f"${totals.price:.{digits}f}"


def money(totals: Totals) -> str:
    """Dollars in words; calls without a price are told and not guessed at.

    >>> money(Totals(3, 0, 0, Decimal("0.5"), 1, 0)), money(Totals(3, 0, 0, Decimal(0), 3, 0)), money(Totals(0, 0, 0, Decimal(0), 0, 0))
    ('$0.5000 (1 without a price)', 'no price', '$0.0000')
    """
    told = totals.unpriced and totals.unpriced < totals.calls
    return dollars(totals) + (f" ({totals.unpriced:,} without a price)" if told else "")
