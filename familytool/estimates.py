"""What the model calls of a run will take, from its real prompts, before any is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from pathlib import Path

from familytool.campaign import Campaign
from familytool.filling import finished
from familytool.generation.asked_preferences import extraction_requests
from familytool.generation.generate import Material, make_candidate
from familytool.generation.paper import paper_requests
from familytool.generation.phrasings import phrase_requests
from familytool.generation.planning import Planner
from familytool.generation.samples import NotBuilt, Order
from familytool.generation.solving import solve_requests
from familytool.llm.accounts import Totals
from familytool.llm.asking import Model
from familytool.llm.budget import Estimate, estimate
from familytool.llm.ledger import Ledger
from familytool.llm.prices import Prices
from familytool.llm.requests import Answer, Purpose, Request
from familytool.model import Sample
from familytool.models import endpoints_of
from familytool.runs import LEDGER
from familytool.validation.judge import judge_sample

LOOKED_AT = 300
"""Candidates whose prompts are made; the calls of more are counted in proportion."""


@dataclass(frozen=True)
class RunEstimate:
    """Calls, tokens and money by purpose and in all; what calls in the run's ledger (of a preview, say) let expect; one prompt of each of the first three purposes; and what to know about it."""

    by_purpose: dict[str, Estimate]
    total: Estimate
    measured: tuple[str, ...]
    prompts: tuple[tuple[str, Request], ...]
    notes: tuple[str, ...]


@dataclass
class _Recording:
    """Writes down what is asked and answers that it cannot tell."""

    asked: list[tuple[Purpose, Request]] = field(default_factory=list)

    async def ask(self, request: Request, endpoint_name: str, purpose: Purpose) -> Answer:  # noqa: ARG002
        self.asked.append((purpose, request))
        return Answer(key=request.key, outcome="answered", text='{"verdict": "unknown", "evidence": "", "reason": "not asked"}')


def estimate_run(
    campaign: Campaign, material: Material, run_dir: Path, prices: Prices, *, batch: bool = False, prompts: Path | None = None
) -> RunEstimate:
    """The estimate of a campaign: every wanted row once, as if each candidate were taken; calls that the run's ledger holds are free."""
    wanted = sum(campaign.generation.strata.values())
    asked = list(_requests(campaign, material, prompts))
    looked_at = min(wanted, LOOKED_AT)
    with ExitStack() as stack:
        ledger = stack.enter_context(Ledger(run_dir / LEDGER, replay=True)) if (run_dir / LEDGER).exists() else ()
        parts: dict[str, Estimate] = {}
        known = ledger.totals("purpose") if isinstance(ledger, Ledger) else {}
        for purpose in dict.fromkeys(purpose for purpose, _ in asked):
            part = estimate((r for p, r in asked if p == purpose), prices, answered=ledger, batch=batch)
            parts[purpose] = part if purpose in ("extract", "filter") else _scaled(part, wanted, looked_at)
    first = dict(reversed(asked))
    notes = [
        "least: a token for every six bytes of prompt and one of output; most: a token for every byte and the largest output; "
        "candidates that are rejected come on top"
    ]
    if looked_at < wanted:
        notes.append(f"prompts of {looked_at:,} candidates were made, the rest is counted in proportion")
    if campaign.generation.extractor != "rules":
        notes.append(
            "values of new relations come on top; filter lists and prompts are those of the rules' preferences until a model has read them"
        )
    order: list[Purpose] = ["extract", "query", "answer", "solve", "judge"]
    shown = tuple((purpose, first[purpose]) for purpose in sorted(first, key=lambda p: order.index(p) if p in order else 9))[:3]
    return RunEstimate(parts, _sum(parts.values()), tuple(_measured(parts, known)), shown, tuple(notes))


def _measured(parts: dict[str, Estimate], known: dict[str, Totals]) -> Iterator[str]:
    """What the calls of an estimate will take if they are like those that were made."""
    tokens, price, made = 0.0, Decimal(0), 0
    for purpose, part in parts.items():
        total = known.get(purpose)
        if total is None or not total.calls:
            return
        made += total.calls
        tokens += part.calls * (total.prompt_tokens + total.output_tokens) / total.calls
        price += part.calls * total.price / total.calls
    money = f" and ${price:.2f}" if price else ""
    yield f"likely: {tokens:,.0f} tokens{money}, if the calls are like the {made:,} that this run folder's ledger has"


def _requests(campaign: Campaign, material: Material, prompts: Path | None) -> Iterator[tuple[Purpose, Request]]:
    recording = _Recording()
    models = {name: Model(endpoint, recording, prompts) for name, endpoint in endpoints_of(campaign).items()}
    generation, validation = campaign.generation, campaign.validation
    if generation.extractor in models:
        for request in extraction_requests(material.documents, models[generation.extractor]):
            yield ("filter" if "verdicts" in (request.answer_schema or {}).get("properties", {}) else "extract"), request
    writer = models.get(generation.writer)
    solver = models.get(generation.solver) or writer
    judge = models.get(validation.judge)
    for order in islice(_orders(campaign, material), LOOKED_AT):
        world = material.world_of(order.stratum, order.number)
        if generation.method == "paper" and writer is not None:
            yield from zip(("query", "answer"), paper_requests(order, world, material.catalogue, writer), strict=False)
        draft = make_candidate(material, order)
        if isinstance(draft, NotBuilt):
            continue
        if generation.method == "grounded" and writer is not None and solver is not None:
            yield from (("query", r) for r in phrase_requests(draft, campaign.seed, generation.phrasings, writer))
            yield from (("solve", r) for r in solve_requests(draft, sorted(world.graph.relations), solver))
        if judge is not None:
            yield from finished(_judged(draft, material, order, judge, validation.judges, recording))


async def _judged(
    draft: Sample, material: Material, order: Order, judge: Model, judges: int, recording: _Recording
) -> list[tuple[Purpose, Request]]:
    recording.asked.clear()
    await judge_sample(draft, material.world_of(order.stratum, order.number).graph, judge, judges)
    return list(recording.asked)


def _orders(campaign: Campaign, material: Material) -> Iterator[Order]:
    """The first candidates of all strata, in turn, in proportion to the rows wanted."""
    planner = Planner(material)
    wanted = {name: count for name, count in campaign.generation.strata.items() if count}
    largest = max(wanted.values())
    for number in range(largest):
        for name, count in wanted.items():
            if number * count // largest != (number - 1) * count // largest or number == 0:
                order = planner.order(name, number * count // largest)
                if order is not None:
                    yield order


def _scaled(part: Estimate, wanted: int, looked_at: int) -> Estimate:
    if wanted <= looked_at:
        return part
    ratio = wanted / looked_at

    def scaled(pair: tuple[int, int]) -> tuple[int, int]:
        return round(pair[0] * ratio), round(pair[1] * ratio)

    cost = (part.cost[0] * wanted / looked_at, part.cost[1] * wanted / looked_at)
    return part.model_copy(
        update={
            "calls": round(part.calls * ratio),
            "prompt_tokens": scaled(part.prompt_tokens),
            "output_tokens": scaled(part.output_tokens),
            "cost": cost,
        }
    )


def _sum(parts: Iterable[Estimate]) -> Estimate:
    parts = list(parts)
    return Estimate(
        calls=sum(p.calls for p in parts),
        answered=sum(p.answered for p in parts),
        prompt_tokens=(sum(p.prompt_tokens[0] for p in parts), sum(p.prompt_tokens[1] for p in parts)),
        output_tokens=(sum(p.output_tokens[0] for p in parts), sum(p.output_tokens[1] for p in parts)),
        cost=(sum((p.cost[0] for p in parts), Decimal(0)), sum((p.cost[1] for p in parts), Decimal(0))),
        unpriced=tuple(dict.fromkeys(name for p in parts for name in p.unpriced)),
    )
