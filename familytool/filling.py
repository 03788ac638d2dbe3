"""Fills the strata: candidates planned in number order, made at the same time within a window, and decided in number order.

So the rows depend neither on speed nor on faults nor on where a run was interrupted (house rules, section 3): the next candidates are planned
right after each decision, from the decisions so far and the tools of those in work; duplicates, quotas and fullness are judged when a candidate's
turn comes. The candidates that are in work when a stratum becomes full are the look-ahead's waste; their calls are in the ledger.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import math
import threading
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from familytool.errors import ShortfallError
from familytool.extension import Base
from familytool.generation.planning import Planner
from familytool.generation.samples import Order
from familytool.making import Candidate, Plan
from familytool.model import Rejection, Sample
from familytool.runs import Appender, RunFolder, cut_torn_line, read_rows, read_samples
from familytool.seen import Seen

Progress = Callable[[str, int, int], None]
"""Called with (what, done, of) as work goes on."""

Make = Callable[[Plan], Awaitable[Candidate]]
FILES = ("samples.jsonl", "rejected.jsonl", "checks.jsonl")
T = TypeVar("T")


class Decision(NamedTuple):
    """What became of a candidate: the tools it was to call, whether it was taken, the row if it is to get a twin, and what is new in it."""

    tools: tuple[str, ...]
    taken: bool
    twinned: Sample | None = None
    novelty: frozenset[str] = frozenset()


def gets_twin(sample: Sample, share: float) -> bool:
    """Whether a row is among the share that gets a twin: by its id alone, never a twin itself, and only if a fact is a relative's.

    (A fact of the speaker has no other owner that is as far away.)
    """
    if not share or sample.twin_of or sample.depth < 2:
        return False
    return int.from_bytes(hashlib.sha256(f"twin/{sample.id}".encode()).digest()[:8], "big") < share * 2**64


def tools_of(sample: Sample) -> tuple[str, ...]:
    """The tools that a row's query asks for, also where none of them is offered."""
    origin = sample.provenance
    if "tools" in origin:
        return tuple(origin["tools"])
    return tuple(clause["tool"] for clause in origin["wording"])


class Stratum:
    """The candidates of one stratum: which is planned next, which is decided next.

    After each decision as many candidates are planned as the window holds and as the rows that are lacking are likely to need, so what is
    planned follows from the decisions alone. `start` is the number of rows accepted before this stratum, `first` the number of its first
    candidate (those below are a former release's).
    """

    def __init__(
        self, name: str, wanted: int, limit: int, window: int, planner: Planner, *, twin_share: float = 0.0, start: int = 0, first: int = 0
    ) -> None:
        self.name, self.wanted, self.limit, self.window = name, wanted, limit, window
        self.planner, self.twin_share, self.first, self.start = planner, twin_share, first, start
        self.planned = self.decided = self.accepted = 0
        self.is_infeasible = False
        self._twins: deque[Sample] = deque()
        self._in_work: dict[int, Plan] = {}

    @property
    def is_full(self) -> bool:
        """Whether enough rows are accepted."""
        return self.accepted >= self.wanted

    def resume(self, decisions: list[Decision]) -> Iterator[Plan]:
        """Take up what was decided before, planning again as it was planned then; the plans that were in work and are not decided."""
        for decision in decisions:
            self.plan_all()
            self.decide(decision)
        yield from (self._in_work[number] for number in sorted(self._in_work))

    def plan_all(self) -> list[Plan]:
        """The candidates to begin with now."""
        plans: list[Plan] = []
        while not self.is_full and not self.is_infeasible and self.planned - self.decided < self._most():
            plan = self._plan(self.planned)
            if plan is None:
                self.is_infeasible = True
            else:
                self._in_work[self.planned] = plan
                self.planned += 1
                plans.append(plan)
        return plans

    def tools(self, number: int) -> tuple[str, ...]:
        """The tools of a candidate in work."""
        return tuple(tool.name for tool in self._in_work[number].order.tools)

    def decide(self, decision: Decision) -> None:
        """Count the verdict on the candidate whose turn it is."""
        self._in_work.pop(self.decided, None)
        self.decided += 1
        self.accepted += decision.taken
        self.planner.record(self.name, decision.tools, decision.taken, decision.novelty)
        if decision.twinned is not None:
            self._twins.append(decision.twinned)

    def misfit(self, tools: tuple[str, ...], novelty: frozenset[str]) -> str:
        """Why a finished row has no place in the quotas, now that all before it are decided, or ""."""
        return self.planner.misfit(self.name, tools, novelty)

    def _most(self) -> int:
        """How many candidates may be in work: those that the lacking rows need at the rate of acceptance so far, at most the window."""
        rate = max(0.25, (self.accepted + 1) / (self.decided + 1))
        return min(self.window, math.ceil((self.wanted - self.accepted) / rate))

    def _plan(self, number: int) -> Plan | None:
        twin_of = self._twins.popleft() if self._twins else None
        order: Order | None
        if twin_of is not None:
            order = self.planner.twin_order(self.name, self.first + number, twin_of, tools_of(twin_of))
        elif number < self.limit:
            pending = Counter(tool.name for plan in self._in_work.values() for tool in plan.order.tools)
            order = self.planner.order(self.name, self.first + number, pending)
        else:
            order = None
        return None if order is None else Plan(order, twin_of, self.start + self.accepted)


@dataclass
class Filling:
    """A run's strata while they are filled: the files, what was accepted, and how candidates are made."""

    benchmark: str
    run: RunFolder
    seen: Seen
    make: Make
    progress: Progress
    base: Base = field(default_factory=Base)
    history: dict[str, list[Decision]] = field(default_factory=dict)

    async def fill(self, stratum: Stratum) -> int:
        """Fill a stratum; how many candidates were in work in vain when it was full.

        Raises:
            ShortfallError: the stratum is infeasible.
            Exception: what making a candidate raised, when its turn came; all before it is decided and kept.
        """
        plans = list(stratum.resume(self.history.get(stratum.name, [])))
        tasks: dict[int, asyncio.Task[Candidate]] = {}
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(self.run.appender(name)) for name in FILES]
            try:
                while not stratum.is_full:
                    for plan in (*plans, *stratum.plan_all()):
                        tasks[plan.order.number - stratum.first] = asyncio.ensure_future(self.make(plan))
                    plans, number = [], stratum.decided
                    if number not in tasks:
                        raise self._shortfall(stratum)
                    candidate = await tasks.pop(number)
                    self._decide(stratum, number, candidate, files)
            finally:
                await _given_up(tasks.values())
        return stratum.planned - stratum.decided

    def _decide(self, stratum: Stratum, number: int, candidate: Candidate, files: list[Appender]) -> None:
        samples, rejected, checks = files
        tools, sample = stratum.tools(number), candidate.outcome
        rejection = self._rejection(stratum, number, candidate)
        if rejection is not None:
            rejected.write([rejection])
            stratum.decide(Decision(tools, False))
            return
        assert isinstance(sample, Sample)
        checks.write(candidate.verdicts)
        samples.write([sample])
        self.seen.add(sample)
        twinned = sample if gets_twin(sample, stratum.twin_share) else None
        stratum.decide(Decision(tools, True, twinned, self.base.novelty(sample)))
        self.progress(stratum.name, stratum.accepted, stratum.wanted)

    def _rejection(self, stratum: Stratum, number: int, candidate: Candidate) -> Rejection | None:
        """Why the candidate is not taken, now that all before it are decided; None if it is."""
        outcome = candidate.outcome
        check, code, message = candidate.check, candidate.code, candidate.message
        if isinstance(outcome, Sample):
            if duplicate := self.seen.duplicate_of(outcome):
                check, code, message = "duplicates", "duplicate_sample", duplicate
            elif not code and (misfit := stratum.misfit(stratum.tools(number), self.base.novelty(outcome))):
                check, code, message = "quotas", "quota", misfit
        if not code:
            return None
        own = stratum.first + number
        return Rejection(
            id=f"{self.benchmark}-{stratum.name}-{own:06d}", stratum=stratum.name, candidate=own, check=check, code=code,
            message=message, tools=stratum.tools(number), calls=candidate.calls,
            checks=candidate.verdicts, sample=outcome if isinstance(outcome, Sample) else None,
        )  # fmt: skip

    def _shortfall(self, stratum: Stratum) -> ShortfallError:
        rows = read_rows(self.run.path / "rejected.jsonl")
        reasons = Counter(row["code"] for row in rows if row["stratum"] == stratum.name)
        told = ", ".join(f"{code} {count}" for code, count in reasons.most_common(4)) or "no tool has so many places for facts"
        lacking = stratum.wanted - stratum.accepted
        way = "ask for fewer rows, more people or attributes, or more documents"
        if reasons["unknown"] * 2 > sum(reasons.values()):
            way = "rules cannot tell: name a model as validation.judge with on_unknown = 'judge', or set on_unknown = 'review'"
        return ShortfallError(
            f"stratum {stratum.name}: {stratum.accepted} of {stratum.wanted} rows after {stratum.decided} candidates, {lacking} are lacking "
            f"(rejected: {told}); {way}."
        )


async def _given_up(tasks: Any) -> None:
    """Cancel what is in work and wait until it has ended; what it raises concerns nobody any more."""
    waiting = list(tasks)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


def taken_up(run: RunFolder, seen: Seen, twin_share: float, base: Base) -> dict[str, list[Decision]]:
    """What a run has decided so far, by stratum and in candidate order; torn lines and whatever lies behind a gap are cut."""
    for name in FILES:
        cut_torn_line(run.path / name)
    found: dict[str, dict[int, Decision]] = {}
    accepted: set[str] = set()
    for sample in read_samples(run.path / "samples.jsonl"):
        accepted.add(sample.id)
        seen.add(sample)
        decision = Decision(tools_of(sample), True, sample if gets_twin(sample, twin_share) else None, base.novelty(sample))
        found.setdefault(sample.provenance["stratum"], {})[sample.provenance["candidate"]] = decision
    for row in run.rows("rejected.jsonl"):
        found.setdefault(row["stratum"], {})[row["candidate"]] = Decision(tuple(row["tools"]), False)
    _cut_orphans(run, accepted)
    return {stratum: [decisions[number] for number in sorted(decisions)] for stratum, decisions in found.items()}


def _cut_orphans(run: RunFolder, accepted: set[str]) -> None:
    """Cut the checks behind the last accepted sample: their sample was never written."""
    path = run.path / "checks.jsonl"
    if not path.exists():
        return
    with path.open("r+b") as file:
        end = 0
        for raw in iter(file.readline, b""):
            if json.loads(raw)["sample_id"] not in accepted:
                break
            end = file.tell()
        file.truncate(end)


def finished(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine comes to, also where an event loop runs already (a notebook): it is given a thread of its own there."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    result: list[T] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            result.append(asyncio.run(coroutine))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return result[0]
