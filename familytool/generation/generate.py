"""The generation stage: documents to usable tools, preferences and family graphs, and the plan of which candidate comes next.

Candidates of a stratum are numbered; which tool a candidate calls follows from the rows accepted before it, so the rows do not
depend on when a run was interrupted. Acceptance itself is not decided here: the pipeline hands each candidate to the checks.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from familytool.campaign import Campaign, Quota
from familytool.catalogue.tables import Concept
from familytool.errors import ShortfallError
from familytool.generation.candidates import Catalogue
from familytool.generation.families import Person, kinship_triples, load_specification, seeded_people
from familytool.generation.preferences import World, build_world, choose_relations, extract_preferences
from familytool.generation.samples import NotBuilt, Order, build_sample
from familytool.generation.usable import PEOPLE_KINDS, STATUSES, Refusal, UsableTool, status_of, usable_tools
from familytool.model import Kind, Preference, Sample, Tool

SHAPES: dict[str, dict[str, float]] = {
    "hop1": {"1": 1},
    "hop2": {"2": 9, "1+1": 1},
    "hop3": {"3": 5, "2+1": 4},
    "hop4": {"4": 3, "3+1": 3, "2+2": 3},
    "hop5": {"3+2": 2, "4+1": 1},
    "hop6": {"3+3": 1, "4+2": 1},
}
"""Default chain shapes of a hop: one chain mostly, two chains where a tool has two places for facts."""


KEPT_WORLDS = 32


@dataclass(frozen=True)
class Material:
    """All that candidates are made of: the tools, the preferences, and a family for each index."""

    campaign: Campaign
    documents: tuple[Tool, ...]
    tools: tuple[UsableTool, ...]
    catalogue: Catalogue
    preferences: tuple[Preference, ...]
    refusals: tuple[Refusal, ...]
    concepts: tuple[Concept, ...]
    folder: Path
    _worlds: dict[int, World] = field(default_factory=dict, compare=False, repr=False)

    def world(self, index: int) -> World:
        """Family `index`, built when it is needed; the latest are kept."""
        if index not in self._worlds:
            if len(self._worlds) >= KEPT_WORLDS:
                del self._worlds[next(iter(self._worlds))]
            self._worlds[index] = _build(self, index)
        return self._worlds[index]

    def world_of(self, stratum: str, number: int) -> World:
        """The family of a candidate: a run of candidates shares one, as many as the stratum wants of each family, at most 64, so
        that few graphs need to be in memory and none is built again and again."""
        families = self.campaign.family.count
        together = min(64, max(1, self.campaign.generation.strata.get(stratum, 0) // families))
        return self.world(number // together % families)


def _build(material: Material, index: int) -> World:
    people = _people(material.campaign, index, material.folder)
    names = [person.name for person in people]
    graph_id = material.campaign.name if material.campaign.family.count == 1 else f"{material.campaign.name}-{index:05d}"
    return build_world(
        graph_id,
        names,
        kinship_triples(people),
        list(material.concepts),
        str(material.campaign.seed),
        material.campaign.family.values,
        material.campaign.now,
    )


def _people(campaign: Campaign, index: int, folder: Path) -> list[Person]:
    if campaign.family.specification is not None:
        return load_specification(campaign.family.specification, folder)
    return seeded_people(campaign.family.people or 8, f"{campaign.seed}/{index}")


def prepare_material(campaign: Campaign, documents: Iterable[Tool], folder: Path = Path()) -> Material:
    """Everything that the campaign and its documents determine before the first candidate.

    Raises:
        UsageError: a family that contradicts itself.
        ShortfallError: fewer usable tools than `distinct_tools`, or a quota on a tool that cannot be used.
    """
    documents = tuple(documents)
    generation = campaign.generation
    tools, refusals = usable_tools(documents, generation.exceptions)
    size = len(_people(campaign, 0, folder))
    preferences, dropped = extract_preferences(tools)
    concepts, too_many = choose_relations(preferences, size, campaign.family.attributes_per_person)
    kept = {concept.relation for concept in concepts}
    kinds = {concept.kind for concept in concepts} | PEOPLE_KINDS
    askable = [t for t in tools if any(p.takes_fact and p.kind in kinds for p in t.parameters.values())]
    refusals += [Refusal(t.name, "", "no relation of the graph fits any of its parameters") for t in tools if t not in askable]
    if not askable:
        reasons = Counter(f"{r.tool}: {r.reason}" if r.parameter == "" else f"{r.tool}.{r.parameter}: {r.reason}" for r in refusals)
        told = "; ".join(reason for reason, _ in reasons.most_common(3)) or "no document takes a fact about a person"
        raise ShortfallError(f"none of the {len(documents)} tool documents can be asked for ({told}); give others, or x-phrase hints.")
    golden = _golden_pool(askable, campaign)
    refusals += [
        Refusal(t.name, "", f"not among the {generation.distinct_tools} tools of the golden calls; offered as a candidate")
        for t in askable
        if t not in golden
    ]
    used = {t.name: t.tool for t in tools}
    pool = list({t.name: used.get(t.name, t) for t in documents}.values())
    for quota in generation.quotas:
        if quota.at_least and not any(quota_applies(quota, t) for t in golden):
            raise ShortfallError(
                f"quota {quota.tool or quota.category}: no usable tool belongs to it, {quota.at_least} rows are wanted; see refusals.jsonl, or drop the quota."
            )
    return Material(campaign, documents, tuple(golden), Catalogue(golden, pool), tuple(p for p in preferences if p.relation in kept),
                    tuple(refusals + dropped + too_many), tuple(concepts), folder)  # fmt: skip


def _golden_pool(tools: list[UsableTool], campaign: Campaign) -> list[UsableTool]:
    """The tools that golden calls use: all, or the best documented `distinct_tools` of them."""
    wanted = campaign.generation.distinct_tools
    if wanted is None:
        return tools
    if len(tools) < wanted:
        raise ShortfallError(
            f"generation.distinct_tools = {wanted}: only {len(tools)} tools can be used; lower it, or give more documents."
        )
    asked = {quota.tool for quota in campaign.generation.quotas if quota.at_least}

    def rank(tool: UsableTool) -> tuple[bool, bool, int, int]:
        facts = sum(p.takes_fact for p in tool.parameters.values())
        return tool.name not in asked, not tool.hinted, -min(facts, 2), STATUSES.index(status_of(tool.tool))

    best = {tool.name for tool in sorted(tools, key=rank)[:wanted]}
    return [tool for tool in tools if tool.name in best]


def quota_applies(quota: Quota, tool: UsableTool) -> bool:
    """Whether a quota bounds the rows of this golden tool."""
    return tool.name == quota.tool if quota.tool is not None else tool.category == quota.category


class Planner:
    """Decides what the next candidate of a stratum is, from the rows accepted and rejected so far."""

    def __init__(self, material: Material) -> None:
        self.material = material
        self.by_name = {tool.name: tool for tool in material.tools}
        self.accepted: Counter[str] = Counter()
        self.rejected: Counter[tuple[str, str]] = Counter()
        self.rows_left = sum(material.campaign.generation.strata.values())
        kinds = {concept.kind for concept in material.concepts} | PEOPLE_KINDS
        self.places = {tool.name: _places(tool, kinds) for tool in material.tools}

    def record(self, stratum: str, tools: Iterable[str], taken: bool) -> None:
        """Count a decided candidate."""
        for name in tools:
            if taken:
                self.accepted[name] += 1
            else:
                self.rejected[stratum, name] += 1
        self.rows_left -= taken

    def order(self, stratum: str, number: int) -> Order | None:
        """What candidate `number` is to be; None where no tool is left for this stratum."""
        campaign = self.material.campaign
        lengths = self._lengths(stratum, number)
        tools: list[UsableTool] = []
        for chains in lengths:
            tool = self._choose(stratum, number, len(chains), [t.name for t in tools])
            if tool is None:
                return None
            tools.append(tool)
        kind: Kind = "graph" if stratum.startswith("hop") else stratum  # type: ignore[assignment]
        generation = campaign.generation
        return Order(campaign.name, stratum, number, kind, tuple(tools), lengths, campaign.seed, campaign.now,
                     generation.candidate_tools.size, generation.candidate_tools.confusable)  # fmt: skip

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

    def _choose(self, stratum: str, number: int, chains: int, taken: list[str]) -> UsableTool | None:
        """The tool with the fewest accepted rows that can carry so many chains; rejections count a little, ties are seeded."""
        allowed = [t for t in self.material.tools if self.places[t.name] >= chains and t.name not in taken and self._below_quota(t)]
        owed = self._owed()
        if owed:
            allowed = [t for t in allowed if t.name in owed] or allowed
        if not allowed:
            return None
        load = {t.name: self.accepted[t.name] + self.rejected[stratum, t.name] // 6 for t in allowed}
        least = min(load.values())
        tied = [t for t in allowed if load[t.name] == least]
        return tied[int(self._uniform(stratum, number, len(taken)) * len(tied))]

    def _below_quota(self, tool: UsableTool) -> bool:
        return all(
            self._count(quota) < quota.at_most
            for quota in self.material.campaign.generation.quotas
            if quota.at_most is not None and quota_applies(quota, tool)
        )

    def _count(self, quota: Quota) -> int:
        return sum(count for name, count in self.accepted.items() if quota_applies(quota, self.by_name[name]))

    def _owed(self) -> set[str]:
        """Tools of quotas that need all the rows that are left."""
        lacking = [(quota, quota.at_least - self._count(quota)) for quota in self.material.campaign.generation.quotas if quota.at_least]
        lacking = [(quota, owed) for quota, owed in lacking if owed > 0]
        if sum(owed for _, owed in lacking) < self.rows_left:
            return set()
        return {t.name for t in self.material.tools for quota, _ in lacking if quota_applies(quota, t)}

    def unmet_quotas(self) -> list[str]:
        """A sentence for each quota that the accepted rows do not meet."""
        return [
            f"{quota.tool or quota.category}: {self._count(quota)} of at least {quota.at_least} rows"
            for quota in self.material.campaign.generation.quotas
            if self._count(quota) < quota.at_least
        ]


def _places(tool: UsableTool, kinds: set[str]) -> int:
    """The largest number of facts that one sentence of the tool can take."""
    best = 0
    for template in tool.sentences:
        slots = set(template.slots).union(*template.segments)
        best = max(best, sum(tool.parameters[s].takes_fact and tool.parameters[s].kind in kinds for s in slots if s in tool.parameters))
    return best


def make_candidate(material: Material, order: Order) -> Sample | NotBuilt:
    """The candidate that an order asks for."""
    return build_sample(order, material.world_of(order.stratum, order.number), material.catalogue)
