"""Twins: the same request about somebody else, whose answer is another one (a contrast set).

A twin keeps the words, stated values and candidate tools of its original. One golden fact is another one: that of another relative at the
same number of steps or, where none fits (a fact of the speaker's own has no other owner), another fact of the same kind and the same
person. So hops, shape and stratum stay, and whoever answers without following the graph is wrong on one of the two.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from familytool.catalogue.tables import Concept
from familytool.generation.literals import DATE_KINDS, NUMBER_KINDS, TIME_KINDS, coerce_fact
from familytool.generation.phrasings import places_of, value_at
from familytool.generation.preferences import World
from familytool.generation.samples import MAX_WORDS, MIN_WORDS, RARE_TERMS, NotBuilt, Order, fact_options, join_clauses, sample_id
from familytool.generation.usable import Parameter, UsableTool, status_of
from familytool.kinship import KinPhrase, find_mentions
from familytool.model import Json, RelationPath, Sample, ToolCall, canonical
from familytool.phrasing import CLOCK, ISO_DATE, SPEAKER, Owner, Phrase, Template, fault, fill, parse_template, say_fact

Span = tuple[int, int]


@dataclass(frozen=True)
class _Slot:
    """A slot of the recipe of clause `clause`: its words and how they are made again, and its value with the place of the whole argument.

    `path` is the golden path of a fact, None for a stated value.
    """

    clause: int
    parameter: Parameter
    core: str
    recipe: dict[str, Json]
    place: str
    value: Json
    path: RelationPath | None = None

    @property
    def phrase(self) -> Phrase:
        return Phrase(self.core, self.recipe.get("wrap", "{}"))


@dataclass(frozen=True)
class _Clause:
    """One request of the original: its tool, and its recipe with the words of each slot."""

    tool: UsableTool
    template: Template
    segments: tuple[int, ...]
    connector: str
    slots: dict[str, _Slot]


def make_twin(original: Sample, world: World, order: Order) -> Sample | NotBuilt:
    """The twin of a sample, as the template writer would write it, or why there is none.

    Args:
        original: written by rules, or by a model from a draft of the rules (the twin is then of the draft).
        world: the original's family.
        order: the stratum and number of the twin, and the tools that its original asks for.
    """
    if not original.golden_paths or not original.calls:
        return NotBuilt("no_fact", f"{original.id} asks for no fact of the graph")
    clauses = _clauses(original, order)
    if isinstance(clauses, NotBuilt):
        return clauses
    rng = random.Random(f"{order.seed}/{order.stratum}/{order.number}/twin/{original.id}")
    refused = NotBuilt("no_relative", "no other relative, and no other fact of the same kind, fits")
    for slot in _swaps(rng, original, clauses, world):
        twin = _swapped(original, clauses, slot, world, order)
        if isinstance(twin, Sample):
            return twin
        refused = twin
    return refused


def _clauses(original: Sample, order: Order) -> list[_Clause] | NotBuilt:
    """The recipe of a sample or of its draft, read with the words that stand in its slots; they must give its text again."""
    draft = original.provenance.get("draft")
    written: dict[str, Any] = draft if isinstance(draft, dict) else original.provenance
    query = written["query"] if written is draft else original.query
    recipe = written.get("wording")
    if not recipe or [clause["tool"] for clause in recipe] != [call.name for call in original.calls]:
        return NotBuilt("no_recipe", f"{original.id} was not written from a recipe")
    spans: dict[str, Any] = draft["spans"] if written is draft else {p: s.get("span") for p, s in original.argument_sources.items()}
    tools = {tool.name: tool for tool in order.tools}
    found: list[_Clause] = []
    for number, clause in enumerate(recipe):
        tool = tools.get(clause["tool"])
        if tool is None:
            return NotBuilt("no_recipe", f"the order has no tool '{clause['tool']}'")
        slots: dict[str, _Slot] = {}
        for name, slot in clause["slots"].items():
            parameter = tool.parameters.get(name)
            pointer = _pointer(original, number, parameter) if parameter else None
            if parameter is None or pointer is None or not spans.get(pointer):
                return NotBuilt("no_recipe", f"where {original.id} says {tool.name}.{name} is not recorded")
            start, end = spans[pointer]
            place = _whole(original, pointer)
            path = _path(original.argument_sources[pointer])
            slots[name] = _Slot(number, parameter, query[start:end], slot, place, value_at(original, place), path)
        found.append(_Clause(tool, parse_template(clause["sentence"]), tuple(clause["segments"]), clause["connector"], slots))
    if _said(found)[0] != query or not all(_slots_at(found, pointer) for pointer in original.argument_sources):
        return NotBuilt("no_recipe", f"the recipe of {original.id} does not give its text and arguments again")
    return found


def _slots_at(clauses: list[_Clause], pointer: str) -> list[tuple[str, _Slot]]:
    """The slot, with its name, whose argument a pointer of `argument_sources` leads into; none for a pointer to something else."""
    slots = [(name, slot) for clause in clauses for name, slot in clause.slots.items()]
    return [(name, slot) for name, slot in slots if pointer == slot.place or pointer.startswith(slot.place + "/")]


def _pointer(sample: Sample, number: int, parameter: Parameter) -> str | None:
    """Where `argument_sources` speaks of a parameter: of the value, or of the first item of a list."""
    keys = [key.replace("~", "~0").replace("/", "~1") for key in parameter.keys]
    pointer = f"/{number}/arguments/" + "/".join(keys)
    return next((p for p in (pointer, pointer + "/0") if p in sample.argument_sources), None)


def _whole(sample: Sample, pointer: str) -> str:
    """The place of the whole argument: that of the list, if the pointer leads to the first item of one."""
    stem = pointer.removesuffix("/0")
    return stem if isinstance(value_at(sample, stem), list) else pointer


def _path(source: dict[str, Json]) -> RelationPath | None:
    return RelationPath.model_validate(source["path"]) if source.get("source") == "graph" else None


def _said(clauses: list[_Clause]) -> tuple[str, list[dict[str, Span]]]:
    """The text of the clauses, and for each of them the span of each slot's words."""
    query = ""
    spans: list[dict[str, Span]] = []
    for clause in clauses:
        text, found = fill(clause.template, clause.segments, {name: slot.phrase for name, slot in clause.slots.items()})
        query = join_clauses(query, clause.connector, text)
        shift = len(query) - len(text)
        spans.append({name: (start + shift, end + shift) for name, (start, end) in found.items()})
    return query, spans


def _swaps(rng: random.Random, original: Sample, clauses: list[_Clause], world: World) -> Iterator[_Slot]:
    """One slot each with another fact in it, in the order in which they are tried: of other relatives first, then of the same person."""
    speaker = original.speaker
    facts = [(clause.tool.name, slot) for clause in clauses for slot in clause.slots.values() if slot.path is not None]
    rng.shuffle(facts)
    others: list[_Slot] = []
    for tool, slot in facts:
        assert slot.path is not None
        relation = slot.recipe["relation"]
        steps = slot.path.relations[:-1] if relation else slot.path.relations
        owners = world.graph.follow(RelationPath(start=speaker, relations=steps)) if steps else (speaker,)
        for concept, person in fact_options(rng, slot.parameter, tool, len(slot.path.relations), speaker, world):
            is_same = (concept.relation if concept else "") == relation
            if is_same and person not in owners:
                found = _of_relative(rng, slot, concept, person, speaker, world)
            elif not is_same and concept is not None and relation and person in owners:
                found = _of_same_person(rng, slot, concept, speaker)
            else:
                continue
            executed = _executed(found, original, world) if found else None
            if executed and is_same:
                yield executed
            elif executed:
                others.append(executed)
    yield from others


def _of_relative(rng: random.Random, slot: _Slot, concept: Concept | None, person: str, speaker: str, world: World) -> _Slot | None:
    """The same fact of another relative, in the same words; None if nobody can say it so."""
    for named in _like(rng, world.kin.phrases(speaker, person), slot.recipe["owner"], world):
        owner = Owner(named.text, named.takes_possessive)
        core = say_fact(concept.wordings[slot.recipe["wording"]], owner) if concept else named.text
        if core is not None:
            path = RelationPath(start=speaker, relations=(*named.relations, *((concept.relation,) if concept else ())))
            recipe = {**slot.recipe, "owner": named.text, "possessive": named.takes_possessive}
            return replace(slot, core=core, recipe=recipe, path=path)
    return None


def _like(rng: random.Random, phrases: tuple[KinPhrase, ...], owner: str, world: World) -> list[KinPhrase]:
    """Phrases for a person in seeded order: first those of the original's kind, whose words are names of relations or are not; rare
    words last."""
    names = " ".join(world.graph.relations)

    def is_everyday(terms: tuple[str, ...]) -> bool:
        return not any(term.split()[0] in names for term in terms)

    mentions = find_mentions(owner)
    wanted = is_everyday(mentions[0].terms) if mentions else True
    shuffled = rng.sample(phrases, len(phrases))
    return sorted(shuffled, key=lambda p: (bool(RARE_TERMS.intersection(p.terms)), is_everyday(p.terms) != wanted))


def _of_same_person(rng: random.Random, slot: _Slot, concept: Concept, speaker: str) -> _Slot | None:
    """Another fact of the person, as something that he or she has ("my work city"), which fits into any sentence; None if it has no such
    words."""
    assert slot.path is not None
    owner = SPEAKER if slot.recipe["owner"] == "I" else Owner(slot.recipe["owner"], slot.recipe["possessive"])
    said = {number: say_fact(wording, owner) for number, wording in enumerate(concept.wordings) if "P's" in wording}
    fitting = [(number, core) for number, core in said.items() if core is not None]
    if not fitting:
        return None
    wording, core = rng.choice(fitting)
    path = RelationPath(start=speaker, relations=(*slot.path.relations[:-1], concept.relation))
    return replace(slot, core=core, recipe={**slot.recipe, "relation": concept.relation, "wording": wording}, path=path)


def _executed(slot: _Slot, original: Sample, world: World) -> _Slot | None:
    """The slot with the value that its path gives, if that is one and the path is none that the original follows."""
    assert slot.path is not None
    ends = world.graph.follow(slot.path)
    if len(ends) != 1 or ends[0] == original.speaker or slot.path in original.golden_paths:
        return None
    return replace(slot, value=coerce_fact(ends[0], slot.parameter))


def _swapped(original: Sample, clauses: list[_Clause], new: _Slot, world: World, order: Order) -> Sample | NotBuilt:
    """The original with one fact swapped, if the answer is another one and the request still stands."""
    clause = clauses[new.clause]
    [(name, old)] = _slots_at(clauses, new.place)
    trouble = _value_trouble(clauses, old, new)
    if trouble is not None:
        return trouble
    said = [*clauses]
    said[new.clause] = replace(clause, slots={**clause.slots, name: new})
    query, spans = _said(said)
    if not MIN_WORDS <= len(query.split()) <= MAX_WORDS or fault(query):
        return NotBuilt("length", f"the twin's words do not fit: {query[:200]}")
    paths = tuple(new.path if new.path and path == old.path else path for path in original.golden_paths)
    triples = tuple(dict.fromkeys(t for path in paths for chain in world.graph.chains(path)[:1] for t in chain))
    if len(triples) != original.hops:
        return NotBuilt("shared_triples", "two chains of the twin share a fact, so it would be of another stratum")
    for text in [*(triple.tail for triple in triples), *map(str, _items(new.value))]:
        if places_of(text, query):
            return NotBuilt("answer_leaked", f"the twin's words say '{text}'")
    return Sample(
        id=sample_id(order),
        benchmark=order.benchmark,
        kind=original.kind,
        speaker=original.speaker,
        query=query,
        graph_id=original.graph_id,
        candidate_tools=original.candidate_tools,
        golden_triples=triples,
        golden_paths=paths,
        calls=_with_value(original.calls, new),
        alternatives=tuple(_with_value(calls, new) for calls in original.alternatives),
        argument_sources=_sources(original, said, spans),
        ordered=original.ordered,
        category=original.category,
        twin_of=original.id,
        provenance={
            "stratum": order.stratum,
            "candidate": order.number,
            "seed": order.seed,
            "now": order.now.isoformat(),
            "writer": "templates",
            "documents": [status_of(c.tool.tool) for c in said],
            "wording": [_recipe(c) for c in said],
            "swapped": new.place,
        },
    )


def _value_trouble(clauses: list[_Clause], old: _Slot, new: _Slot) -> NotBuilt | None:
    """Why a value cannot stand in place of the original's: it is the same one, stated elsewhere, or in another order to its neighbours."""
    if canonical(old.value) == canonical(new.value):
        return NotBuilt("same_answer", f"the answer is {old.value!r} for both")
    wanted = {str(value).casefold() for value in _items(new.value)}
    if any(str(v).casefold() in wanted for c in clauses for slot in c.slots.values() if slot is not old for v in _items(slot.value)):
        return NotBuilt("same_value", f"{new.value!r} is a value of the call already")
    kind = old.parameter.kind
    group = next((kinds for kinds in (DATE_KINDS, TIME_KINDS) if kind in kinds), NUMBER_KINDS & {kind})
    for name, slot in clauses[old.clause].slots.items():
        if slot is not old and slot.parameter.kind in group and not _in_same_order(old.value, new.value, slot.value):
            return NotBuilt("out_of_order", f"{new.value!r} does not stand to {name} ({slot.value!r}) as {old.value!r} does")
    return None


def _in_same_order(before: Json, after: Json, other: Json) -> bool:
    """Whether two values are both less or both greater than a third; False where that cannot be told."""
    first, second, third = (_comparable(value) for value in (before, after, other))
    if first is None or second is None or third is None or not (type(first) is type(second) is type(third)):
        return False
    return bool(first != third and second != third and (first < third) == (second < third))  # type: ignore[operator]


def _comparable(value: Json) -> float | str | None:
    """A number, or an ISO date or time, which are ordered as texts; None for all else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        return None
    return value if ISO_DATE.fullmatch(value) or CLOCK.fullmatch(value) else float(value) if value.isdecimal() else None


def _items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _with_value(calls: tuple[ToolCall, ...], slot: _Slot) -> tuple[ToolCall, ...]:
    """The calls with the slot's value; the order of their arguments stays."""

    def put(node: Json, keys: tuple[str, ...]) -> Json:
        if not keys:
            return slot.value
        return {name: put(inner, keys[1:]) if name == keys[0] else inner for name, inner in node.items()}

    return tuple(
        ToolCall(name=call.name, arguments=put(call.arguments, slot.parameter.keys)) if number == slot.clause else call
        for number, call in enumerate(calls)
    )


def _sources(original: Sample, said: list[_Clause], spans: list[dict[str, Span]]) -> dict[str, dict[str, Json]]:
    """The original's sources with the places of the twin's words, and the swapped path."""
    found: dict[str, dict[str, Json]] = {}
    for pointer, source in original.argument_sources.items():
        [(name, slot)] = _slots_at(said, pointer)
        path = {} if slot.path is None else {"path": {"start": slot.path.start, "relations": list(slot.path.relations)}}
        found[pointer] = {**source, **path, "span": list(spans[slot.clause][name])}
    return found


def _recipe(clause: _Clause) -> dict[str, Json]:
    return {
        "connector": clause.connector,
        "sentence": clause.template.source,
        "segments": list(clause.segments),
        "slots": {name: slot.recipe for name, slot in clause.slots.items()},
        "tool": clause.tool.name,
    }
