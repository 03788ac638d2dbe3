"""Preferences: which relations the tool documents suggest, which of them join the graph, and the small graphs they make.

A parameter of a graph kind suggests every relation of that kind (a city parameter: home city, birth city, favourite city).
A relation joins only if its kind has enough distinct values for all people; relations that fill more parameters come first.
"""

from __future__ import annotations

import datetime
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from familytool.catalogue import tables
from familytool.catalogue.tables import Concept, Kinds, catalogue_kinds
from familytool.generation.usable import MIN_VALUES, Refusal, UsableTool
from familytool.graph import KnowledgeGraph
from familytool.kinship import Kin
from familytool.model import Preference, Triple

FORMATTED = frozenset(
    [
        "birthday",
        "day_off",
        "wake_up_time",
        "bedtime",
        "dinner_time",
        "leave_time",
        "shoe_size",
        "room_temperature",
        "step_goal",
        "vehicle_year",
        "email",
        "account_number",
        "library_card",
        "phone_number",
    ]
)
"""Kinds whose values have a form that documents fix; the paper's placeholder style leaves them as they are."""


@dataclass(frozen=True)
class World:
    """One family: its people, its full graph, and which concept each attribute relation is."""

    graph: KnowledgeGraph
    kin: Kin
    people: tuple[str, ...]
    concepts: tuple[Concept, ...]

    @property
    def graph_id(self) -> str:
        """The id of its graph."""
        return self.graph.graph_id


def extract_preferences(tools: Iterable[UsableTool]) -> tuple[list[Preference], list[Refusal]]:
    """Every (relation, tool, parameter) that fits, with an example value; what was dropped comes with its reason.

    A parameter for which a model proposed a relation has that one alone.
    """
    found: list[Preference] = []
    refused: list[Refusal] = []
    for tool in tools:
        for parameter in tool.parameters.values():
            if parameter.kind in ("none", "child") or parameter.kind in tables.LITERAL_KINDS or not parameter.is_preference:
                continue
            if parameter.states_new:
                refused.append(Refusal(tool.name, parameter.path, "it states a new value, so no present fact fits"))
                continue
            values = parameter.kinds.values(parameter.kind)
            concepts = parameter.kinds.by_kind.get(parameter.kind, ())
            if parameter.proposed:
                concepts = tuple(c for c in concepts if c.relation == parameter.proposed)
            if not concepts:
                refused.append(Refusal(tool.name, parameter.path, f"no relation gives a {parameter.kind}"))
            elif len(values) < MIN_VALUES:
                refused.append(
                    Refusal(
                        tool.name,
                        parameter.path,
                        f"fewer than {MIN_VALUES} values of kind {parameter.kind}: a blind guess would often be right",
                    )
                )
            else:
                found.extend(
                    Preference(relation=c.relation, category=c.category, tool=tool.name, parameter=parameter.path, value=values[0])
                    for c in concepts
                )
    return found, refused


def choose_relations(
    preferences: Iterable[Preference], people: int, wanted: int, kinds: Kinds | None = None
) -> tuple[list[Concept], list[Refusal]]:
    """The attribute relations of a graph of so many people: first one of each kind, the more useful kinds first.

    A kind whose value table is too small for all people is refused; so is what exceeds `wanted`.
    """
    kinds = kinds or catalogue_kinds()
    uses: Counter[str] = Counter()
    used: set[str] = set()
    for preference in preferences:
        uses[kinds.by_relation[preference.relation].kind] += 1
        used.add(preference.relation)
    refused: list[Refusal] = []
    ranked: list[tuple[int, int, int, Concept]] = []
    for kind, all_concepts in kinds.by_kind.items():
        if not uses[kind]:
            continue
        concepts = [concept for concept in all_concepts if concept.relation in used]
        per_relation = uses[kind] // len(concepts)
        for rank, concept in enumerate(concepts):
            needed = people * (rank + 1)
            if len(kinds.values(kind)) < needed:
                refused.append(
                    Refusal(
                        "",
                        concept.relation,
                        f"{people} people need {needed} different values of kind {kind}, the table has {len(kinds.values(kind))}",
                    )
                )
            else:
                ranked.append((rank, -per_relation, len(ranked), concept))
    ordered = [concept for *_, concept in sorted(ranked, key=lambda row: row[:3])]
    refused.extend(
        Refusal("", c.relation, f"not among the {wanted} relations of a person that the campaign asks for") for c in ordered[wanted:]
    )
    return ordered[:wanted], refused


DATES = frozenset({"birthday", "day_off"})
TABLE_NOW = datetime.date(2025, 6, 2)
"""The value tables hold dates of the year after this day; a campaign with another `now` shifts them."""


def build_world(graph_id: str, people: list[str], kinship: list[Triple], concepts: list[Concept], seed: str, values: str,
                now: datetime.date = TABLE_NOW, kinds: Kinds | None = None) -> World:  # fmt: skip
    """A family graph: kinship, then each person's attributes; no value occurs twice within its kind.

    Args:
        now: the campaign's frozen date; "next birthday" lies in the year after it.
        values: "realistic", or "placeholder" for the paper's `hotel_0002` (index of the person).
    """
    kinds = kinds or catalogue_kinds()
    rng = random.Random(f"values/{seed}/{graph_id}")
    tables_left: dict[str, list[str]] = {}
    names = set(people)
    attributes: dict[str, list[Triple]] = {name: [] for name in people}
    for concept in concepts:
        if concept.kind not in tables_left:
            table = [value for value in kinds.values(concept.kind) if value not in names]
            rng.shuffle(table)
            tables_left[concept.kind] = table
        for index, name in enumerate(people):
            value = tables_left[concept.kind].pop()
            has_form = concept.kind in FORMATTED or (concept.kind in kinds.added and any(c.isdigit() for c in value))
            if values == "placeholder" and not has_form:
                value = f"{concept.relation.removeprefix('prefer_')}_{index:04d}"
            if concept.kind in DATES:
                value = (datetime.date.fromisoformat(value) + (now - TABLE_NOW)).isoformat()
            attributes[name].append(Triple(head=name, relation=concept.relation, tail=value))
    triples: list[Triple] = []
    for name in people:
        triples += [t for t in kinship if t.head == name] + attributes[name]
    graph = KnowledgeGraph(triples, graph_id)
    return World(graph, Kin(graph), tuple(people), tuple(concepts))


def small_graphs(world: World) -> list[dict[str, object]]:
    """The graph by category: kinship, then one small graph for each category of relations."""
    category = {concept.relation: concept.category for concept in world.concepts}
    groups: dict[str, list[Triple]] = {}
    for triple in world.graph:
        groups.setdefault(category.get(triple.relation, "kinship"), []).append(triple)
    return [
        {"graph_id": world.graph_id, "category": name, "relations": list(dict.fromkeys(t.relation for t in group)),
         "triples": [[t.head, t.relation, t.tail] for t in group]}
        for name, group in sorted(groups.items(), key=lambda item: (item[0] != "kinship", item[0]))
    ]  # fmt: skip
