"""How one candidate comes about: drafted by rules, phrased or written by a model, checked, solved back, judged; with all that it took.

The cheap checks come first: a draft that a rule refuses is never paid for, and of several phrasings the first that passes ends the asking.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from familytool.generation.generate import Material, make_candidate
from familytool.generation.paper import write_from_graph
from familytool.generation.phrasings import phrase
from familytool.generation.samples import NotBuilt, Order
from familytool.generation.solving import solve
from familytool.generation.twins import make_twin
from familytool.graph import KnowledgeGraph
from familytool.llm.asking import Model
from familytool.model import Check, Json, Sample
from familytool.seen import Seen
from familytool.validation.checks import Checks, check_sample
from familytool.validation.judge import Settled, judge_sample, settle


@dataclass(frozen=True)
class Plan:
    """What the next candidate is to be: an order, the row whose twin it is, if any, and how many accepted rows it may know of."""

    order: Order
    twin_of: Sample | None = None
    horizon: int = 0


@dataclass(frozen=True)
class Candidate:
    """A finished candidate: the sample or why there is none; if it is rejected, by which check and why; and what it took."""

    outcome: Sample | NotBuilt
    check: str = ""
    code: str = ""
    message: str = ""
    verdicts: tuple[Check, ...] = ()
    calls: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        """Whether nothing speaks against it but what was accepted before it."""
        return isinstance(self.outcome, Sample) and not self.code


@dataclass(frozen=True)
class Making:
    """What candidates are made with. Models that are None are not asked."""

    material: Material
    checks: Checks
    seen: Seen
    writer: Model | None = None
    solver: Model | None = None
    judge: Model | None = None
    _relations: dict[str, list[str]] = field(default_factory=dict, compare=False, repr=False)

    async def make(self, plan: Plan) -> Candidate:
        """The candidate of a plan, without regard to what else is in work."""
        campaign = self.material.campaign
        if campaign.generation.method == "paper" and plan.twin_of is None:
            return await self._written(plan)
        draft = self._draft(plan)
        if isinstance(draft, NotBuilt):
            return Candidate(draft, "generate", draft.code, draft.message)
        if self.seen.duplicate_of(draft, plan.horizon):
            return Candidate(draft)  # the decision finds it again
        graph = self._graph(plan)
        verdicts = check_sample(draft, graph, self.checks)
        if self.writer is None or any(check.verdict == "fail" for check in verdicts):
            return await self._judged(draft, graph, verdicts, ())
        return await self._phrased(draft, graph)

    def _draft(self, plan: Plan) -> Sample | NotBuilt:
        if plan.twin_of is None:
            return make_candidate(self.material, plan.order)
        world = self.material.world_of_graph(plan.twin_of.graph_id)
        return make_twin(plan.twin_of, world, plan.order)

    def _graph(self, plan: Plan) -> KnowledgeGraph:
        if plan.twin_of is not None:
            return self.material.world_of_graph(plan.twin_of.graph_id).graph
        return self.material.world_of(plan.order.stratum, plan.order.number).graph

    async def _phrased(self, draft: Sample, graph: KnowledgeGraph) -> Candidate:
        """The first phrasing that passes the rules, leads a blind solver back to the golden paths, and pleases the judge."""
        assert self.writer is not None
        generation = self.material.campaign.generation
        phrasings = await phrase(draft, self.material.campaign.seed, generation.phrasings, self.writer)
        calls = [key for phrasing in phrasings for key in phrasing.calls]
        tried: list[dict[str, Json]] = []
        best: tuple[int, Candidate] | None = None
        for phrasing in phrasings:
            if isinstance(phrasing.sample, NotBuilt):
                stage, candidate = 0, Candidate(phrasing.sample, "phrase", phrasing.sample.code, phrasing.sample.message)
            else:
                stage, candidate = await self._tested(phrasing.sample, graph)
            calls += candidate.calls
            if candidate.is_good:
                return _with(candidate, calls, tried)
            tried.append(_account(candidate, phrasing.style))
            if best is None or stage > best[0]:
                best = (stage, candidate)
        assert best is not None
        return _with(best[1], calls, tried)

    async def _tested(self, sample: Sample, graph: KnowledgeGraph) -> tuple[int, Candidate]:
        """(how far a phrasing got, the candidate with the verdicts of this phrasing)."""
        verdicts = check_sample(sample, graph, self.checks)
        if any(check.verdict == "fail" for check in verdicts):
            return 1, await self._judged(sample, graph, verdicts, ())
        calls: tuple[str, ...] = ()
        if self.solver is not None:
            solved, calls = await solve(sample, self._relations_of(graph), self.solver)
            verdicts = [*verdicts, solved]
            if solved.verdict != "pass":
                finding = solved.findings[0]
                return 2, Candidate(sample, "solve", finding.code, finding.message, tuple(verdicts), calls)
        return 3, await self._judged(sample, graph, verdicts, calls)

    async def _judged(self, sample: Sample, graph: KnowledgeGraph, verdicts: Sequence[Check], calls: tuple[str, ...]) -> Candidate:
        """The candidate as rules and judge settle it; the judge is not asked about what a rule refuses."""
        validation = self.material.campaign.validation
        rules = [check for check in verdicts if check.check != "solve"]
        judged: list[Check] = []
        may_ask = not any(check.verdict == "fail" for check in rules)
        if self.judge is not None and may_ask:
            judged, keys = await judge_sample(sample, graph, self.judge, validation.judges)
            calls = (*calls, *keys)
        settled = settle(rules, judged, validation.on_unknown)
        return _settled(sample, settled, (*verdicts, *judged), calls)

    async def _written(self, plan: Plan) -> Candidate:
        """A candidate by the paper's method: written from a small graph, traced, checked and judged."""
        assert self.writer is not None
        world = self.material.world_of(plan.order.stratum, plan.order.number)
        written = await write_from_graph(plan.order, world, self.material.catalogue, self.writer)
        if isinstance(written.sample, NotBuilt):
            return Candidate(written.sample, "generate", written.sample.code, written.sample.message, (), written.calls)
        verdicts = check_sample(written.sample, world.graph, self.checks)
        return _with(await self._judged(written.sample, world.graph, verdicts, written.calls), None, ())

    def _relations_of(self, graph: KnowledgeGraph) -> list[str]:
        if graph.graph_id not in self._relations:
            if len(self._relations) > 64:
                self._relations.clear()
            self._relations[graph.graph_id] = sorted(graph.relations)
        return self._relations[graph.graph_id]


def _settled(sample: Sample, settled: Settled, verdicts: Iterable[Check], calls: tuple[str, ...]) -> Candidate:
    if settled.verdict == "review":
        sample = sample.model_copy(update={"provenance": {**sample.provenance, "awaits_review": list(settled.awaiting)}})
    if settled.verdict == "reject":
        return Candidate(sample, settled.check, settled.code, settled.message, tuple(verdicts), calls)
    return Candidate(sample, verdicts=tuple(verdicts), calls=calls)


def _with(candidate: Candidate, calls: Iterable[str] | None, tried: Sequence[dict[str, Json]]) -> Candidate:
    """The candidate with all calls that were made for it, and what else was tried, in the sample's provenance."""
    made = tuple(dict.fromkeys(candidate.calls if calls is None else calls))
    outcome = candidate.outcome
    if isinstance(outcome, Sample):
        more: dict[str, Json] = {"calls": list(made), **({"tried": list(tried)} if tried else {})}
        outcome = outcome.model_copy(update={"provenance": {**outcome.provenance, **more}})
    return Candidate(outcome, candidate.check, candidate.code, candidate.message, candidate.verdicts, made)


def _account(candidate: Candidate, style: str) -> dict[str, Json]:
    query = candidate.outcome.query if isinstance(candidate.outcome, Sample) else ""
    return {"query": query, "style": style, "check": candidate.check, "code": candidate.code, "message": candidate.message}
