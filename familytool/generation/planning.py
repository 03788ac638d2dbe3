"""The plan of which candidate comes next: shapes of chains, the tool with the fewest rows, and quotas.

Which tool a candidate calls follows from the rows that were accepted before it, so it does not depend on when a run was interrupted.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from itertools import accumulate

from familytool.campaign import Quota
from familytool.generation.generate import Material, quota_applies
from familytool.generation.samples import Order
from familytool.generation.usable import PEOPLE_KINDS, UsableTool
from familytool.model import Kind, Sample

SHAPES: dict[str, dict[str, float]] = {
    "hop1": {"1": 1},
    "hop2": {"2": 9, "1+1": 1},
    "hop3": {"3": 5, "2+1": 4},
    "hop4": {"4": 3, "3+1": 3, "2+2": 3},
    "hop5": {"3+2": 2, "4+1": 1},
    "hop6": {"3+3": 1, "4+2": 1},
}
"""Default chain shapes of a hop: one chain mostly, two chains where a tool has two places for facts."""


class Planner:
    """Decides what the next candidate of a stratum is, from the rows accepted and rejected so far."""

    def __init__(self, material: Material) -> None:
        self.material = material
        self.by_name = {tool.name: tool for tool in material.tools}
        self.quotas = material.campaign.generation.quotas
        self.accepted: Counter[str] = Counter()
        self.rejected: Counter[tuple[str, str]] = Counter()
        self.filled: Counter[int] = Counter()
        """For the number of a quota the accepted rows that count for it; a row with two calls of its tools counts twice."""
        self.left: Counter[str] = Counter(material.campaign.generation.strata)
        """Rows that are wanted still, by stratum."""
        kinds = {concept.kind for concept in material.concepts} | PEOPLE_KINDS
        self.places = {tool.name: _places(tool, kinds) for tool in material.tools}

    def record(self, stratum: str, tools: Iterable[str], taken: bool, novelty: frozenset[str] = frozenset()) -> None:
        """Count a decided candidate; `novelty` says what is new in a taken row (see `Quota.novelty`)."""
        tools = tuple(tools)
        for name in tools:
            if taken:
                self.accepted[name] += 1
            else:
                self.rejected[stratum, name] += 1
        if taken:
            self.left[stratum] -= 1
            self.filled.update(self.counted(stratum, tools, novelty))

    def counted(self, stratum: str, tools: Iterable[str], novelty: frozenset[str]) -> Counter[int]:
        """How much a row counts for each quota."""
        tools = tuple(tools)
        found: Counter[int] = Counter()
        for number, quota in enumerate(self.quotas):
            if quota.stratum in (None, stratum) and (quota.novelty is None or quota.novelty in novelty):
                found[number] = sum(self._names(quota, name) for name in tools) if quota.tool or quota.category else 1
        return +found

    def order(self, stratum: str, number: int, pending: Counter[str] | None = None) -> Order | None:
        """What candidate `number` is to be; None where no tool is left for this stratum.

        `pending` counts the tools of candidates in work: they weigh as if they were accepted.
        """
        lengths = self._lengths(stratum, number)
        tools: list[UsableTool] = []
        for chains in lengths:
            tool = self._choose(stratum, number, len(chains), [t.name for t in tools], pending or Counter())
            if tool is None:
                return None
            tools.append(tool)
        return self._order(stratum, number, "graph" if stratum.startswith("hop") else stratum, tools, lengths)  # type: ignore[arg-type]

    def twin_order(self, stratum: str, number: int, twin_of: Sample, tools: Iterable[str]) -> Order:
        """The order of a twin: it calls what its original calls."""
        lengths = tuple(len(path.relations) for path in twin_of.golden_paths)
        return self._order(stratum, number, twin_of.kind, [self.by_name[name] for name in tools], (lengths,))

    def _order(self, stratum: str, number: int, kind: Kind, tools: list[UsableTool], lengths: tuple[tuple[int, ...], ...]) -> Order:
        campaign, offered = self.material.campaign, self.material.campaign.generation.candidate_tools
        return Order(campaign.name, stratum, number, kind, tuple(tools), lengths, campaign.seed, campaign.now,
                     offered.size, offered.confusable)  # fmt: skip

    def _lengths(self, stratum: str, number: int) -> tuple[tuple[int, ...], ...]:
        share = self._uniform(stratum, number, "shape")
        if stratum in ("no_graph", "no_tool"):
            return ((),)
        if stratum == "multi_call":
            return ((1,), (1,)) if share < 0.4 else ((2,), (1,)) if share < 0.7 else ((1,), (2,))
        weights = self.material.campaign.generation.shapes.get(stratum) or SHAPES[stratum]
        shape = next(
            shape for shape, bound in zip(weights, accumulate(weights.values()), strict=True) if share * sum(weights.values()) < bound
        )
        return (tuple(int(n) for n in shape.split("+")),)

    def _uniform(self, *parts: object) -> float:
        text = "/".join(map(str, (self.material.campaign.seed, *parts)))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64

    def _choose(self, stratum: str, number: int, chains: int, taken: list[str], pending: Counter[str]) -> UsableTool | None:
        """The tool with the fewest accepted rows that can carry so many chains; rejections count a little, ties are seeded."""
        allowed = [
            t for t in self.material.tools if self.places[t.name] >= chains and t.name not in taken and self._has_room(stratum, t, pending)
        ]
        owed = self._owed(stratum)
        if owed:
            allowed = [t for t in allowed if t.name in owed] or allowed
        if not allowed:
            return None
        load = {t.name: self.accepted[t.name] + pending[t.name] + self.rejected[stratum, t.name] // 6 for t in allowed}
        least = min(load.values())
        tied = [t for t in allowed if load[t.name] == least]
        return tied[int(self._uniform(stratum, number, len(taken)) * len(tied))]

    def _names(self, quota: Quota, name: str) -> bool:
        """Whether a quota bounds the rows of this golden tool; quotas of novelty alone bound those of none."""
        tool = self.by_name.get(name)
        return quota_applies(quota, tool) if tool is not None else name == quota.tool

    def _has_room(self, stratum: str, tool: UsableTool, pending: Counter[str]) -> bool:
        return all(
            self.filled[number] + sum(count for name, count in pending.items() if self._names(quota, name)) < quota.at_most
            for number, quota in enumerate(self.quotas)
            if quota.at_most is not None and quota.stratum in (None, stratum) and self._names(quota, tool.name) and quota.novelty is None
        )

    def _owed(self, stratum: str) -> set[str]:
        """Tools of quotas that need all the rows that are left, of this stratum or of all."""
        quotas = [(number, quota) for number, quota in enumerate(self.quotas) if quota.tool or quota.category]
        here = [(n, q) for n, q in quotas if q.stratum == stratum]
        everywhere = [(n, q) for n, q in quotas if q.stratum is None]
        return self._pressing(here, self.left[stratum]) or self._pressing(everywhere, sum(self.left.values()))

    def _pressing(self, quotas: list[tuple[int, Quota]], rows_left: int) -> set[str]:
        lacking = [(quota, quota.at_least - self.filled[number]) for number, quota in quotas if quota.at_least]
        lacking = [(quota, owed) for quota, owed in lacking if owed > 0]
        if sum(owed for _, owed in lacking) < rows_left:
            return set()
        return {t.name for t in self.material.tools for quota, _ in lacking if self._names(quota, t.name)}

    def misfit(self, stratum: str, tools: Iterable[str], novelty: frozenset[str]) -> str:
        """Why a finished row has no place in the quotas any more, or ""."""
        counted = self.counted(stratum, tools, novelty)
        for number, quota in enumerate(self.quotas):
            if quota.at_most is not None and counted[number] and self.filled[number] >= quota.at_most:
                return f"the quota of {quota.told} is full ({quota.at_most} rows)"
        lacking = {
            number: quota.at_least - self.filled[number]
            for number, quota in enumerate(self.quotas)
            if quota.novelty is not None and quota.stratum in (None, stratum)
        }
        lacking = {number: owed for number, owed in lacking.items() if owed > 0}
        left = self.left[stratum] if all(self.quotas[n].stratum == stratum for n in lacking) else sum(self.left.values())
        if lacking and sum(lacking.values()) >= left and not any(counted[number] for number in lacking):
            return f"all rows that are left are owed to the quotas of {', '.join(self.quotas[number].told for number in lacking)}"
        return ""

    def unmet_quotas(self) -> list[str]:
        """A sentence for each quota that the accepted rows do not meet."""
        return [
            f"{quota.told}: {self.filled[number]} of at least {quota.at_least} rows"
            for number, quota in enumerate(self.quotas)
            if self.filled[number] < quota.at_least
        ]


def _places(tool: UsableTool, kinds: set[str]) -> int:
    """The largest number of facts that one sentence of the tool can take."""
    best = 0
    for template in tool.sentences:
        slots = set(template.slots).union(*template.segments)
        best = max(best, sum(tool.parameters[s].takes_fact and tool.parameters[s].kind in kinds for s in slots if s in tool.parameters))
    return best
