"""The generation stage: documents to usable tools, preferences and family graphs, and the plan of which candidate comes next.

Candidates of a stratum are numbered; which tool a candidate calls follows from the rows accepted before it, so the rows do not
depend on when a run was interrupted. Acceptance itself is not decided here: the pipeline hands each candidate to the checks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from familytool.campaign import Campaign, Quota
from familytool.catalogue.tables import Concept, Kinds, catalogue_kinds
from familytool.errors import ShortfallError, UsageError
from familytool.generation.candidates import Catalogue
from familytool.generation.extracted import Extraction, fingerprint
from familytool.generation.families import Person, kinship_triples, load_specification, seeded_people
from familytool.generation.preferences import World, build_world, choose_relations, extract_preferences
from familytool.generation.samples import NotBuilt, Order, build_sample
from familytool.generation.usable import PEOPLE_KINDS, STATUSES, Refusal, UsableTool, status_of, usable_tools, with_facts_of
from familytool.graph import KnowledgeGraph
from familytool.kinship import KIN_RELATIONS, Kin
from familytool.model import Preference, Sample, Tool

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
    kinds: Kinds = field(default_factory=catalogue_kinds)
    base_graphs: dict[str, KnowledgeGraph] = field(default_factory=dict)
    """Graphs of a former release by id: the families with these ids keep their facts."""
    _worlds: dict[int, World] = field(default_factory=dict, compare=False, repr=False)

    def world(self, index: int) -> World:
        """Family `index`, built when it is needed; the latest are kept."""
        if index not in self._worlds:
            if len(self._worlds) >= KEPT_WORLDS:
                del self._worlds[next(iter(self._worlds))]
            self._worlds[index] = _build(self, index)
        return self._worlds[index]

    def world_of_graph(self, graph_id: str) -> World:
        """The family whose graph has this id."""
        return self.world(0 if self.campaign.family.count == 1 else int(graph_id.rpartition("-")[2]))

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
    world = build_world(
        graph_id,
        names,
        kinship_triples(people),
        list(material.concepts),
        str(material.campaign.seed),
        material.campaign.family.values,
        material.campaign.now,
        material.kinds,
    )
    former = material.base_graphs.get(graph_id)
    return world if former is None else merged(world, former)


def merged(world: World, graph: KnowledgeGraph) -> World:
    """A family with the facts of a former graph first, and of its own those that contradict none and repeat no value.

    Raises:
        UsageError: the former graph tells of relatives whom this family does not have.
    """
    kin = set(world.graph)
    other = next((triple for triple in graph if triple.relation in KIN_RELATIONS and triple not in kin), None)
    if other is not None:
        raise UsageError(
            f"--base: its graph '{graph.graph_id}' is about another family ({other.head} has {other.tail} as {other.relation}); "
            "keep the campaign's seed and family, or give the campaign another name."
        )
    known = {(triple.head, triple.relation) for triple in graph}
    values = set(graph.nodes)
    new = [t for t in world.graph if (t.head, t.relation) not in known and (t.relation in KIN_RELATIONS or t.tail not in values)]
    whole = KnowledgeGraph([*graph, *new], world.graph.graph_id)
    return replace(world, graph=whole, kin=Kin(whole))


def _people(campaign: Campaign, index: int, folder: Path) -> list[Person]:
    if campaign.family.specification is not None:
        return load_specification(campaign.family.specification, folder)
    return seeded_people(campaign.family.people or 8, f"{campaign.seed}/{index}")


def people_count(campaign: Campaign, folder: Path = Path()) -> int:
    """How many people a family of this campaign has."""
    return len(_people(campaign, 0, folder))


def prepare_material(
    campaign: Campaign, documents: Iterable[Tool], folder: Path = Path(), extraction: Extraction | None = None
) -> Material:
    """Everything that the campaign and its documents determine before the first candidate.

    Args:
        extraction: what a model read from these documents; without it the rules say which parameter takes which fact.

    Raises:
        UsageError: a family that contradicts itself, or an extraction of other documents.
        ShortfallError: fewer usable tools than `distinct_tools`, or a quota on a tool that cannot be used.
    """
    documents = tuple(documents)
    generation = campaign.generation
    _check_documents(documents, extraction)
    kinds_known = extraction.kinds if extraction else catalogue_kinds()
    tools, refusals = usable_tools(documents, generation.exceptions, extraction)
    size = people_count(campaign, folder)
    preferences, dropped = extract_preferences(tools)
    concepts, too_many = choose_relations(preferences, size, campaign.family.attributes_per_person, kinds_known)
    kept = {concept.relation for concept in concepts}
    kinds = {concept.kind for concept in concepts} | PEOPLE_KINDS
    if extraction:
        dropped = [
            *(Refusal(d.tool, d.parameter, f"{d.stage}: {d.relation + ': ' if d.relation else ''}{d.reason}") for d in extraction.refusals),
            *dropped,
        ]
    fillable = [with_facts_of(t, kept) for t in tools]
    askable = [t for t in fillable if t.sentences and any(p.takes_fact and p.kind in kinds for p in t.parameters.values())]
    refusals += [Refusal(t.name, "", "no relation of the graph fits any of its parameters") for t in fillable if t not in askable]
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
        if quota.at_least and (quota.tool or quota.category) and not any(quota_applies(quota, t) for t in golden):
            raise ShortfallError(
                f"quota {quota.told}: no usable tool belongs to it, {quota.at_least} rows are wanted; see refusals.jsonl, or drop the quota."
            )
    return Material(campaign, documents, tuple(golden), Catalogue(golden, pool), tuple(p for p in preferences if p.relation in kept),
                    tuple(refusals + dropped + too_many), tuple(concepts), folder, kinds_known)  # fmt: skip


def _check_documents(documents: tuple[Tool, ...], extraction: Extraction | None) -> None:
    """An extraction must be of exactly these documents: nothing else says which of their parameters take facts."""
    if extraction is None:
        return
    present, read = {fingerprint(tool): tool.name for tool in documents}, set(extraction.documents)
    missing = [name for key, name in present.items() if key not in read]
    if missing or read - set(present):
        raise UsageError(
            f"the extraction is of other documents: {len(missing)} of the campaign's are not in it{f' ({missing[0]} first)' if missing else ''}, "
            f"{len(read - set(present))} of its own are not the campaign's; extract again."
        )


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


def make_candidate(material: Material, order: Order) -> Sample | NotBuilt:
    """The candidate that an order asks for."""
    return build_sample(order, material.world_of(order.stratum, order.number), material.catalogue)
