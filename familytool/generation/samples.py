"""One candidate sample: choose a path, execute it, state the rest, say it, and write down where every value comes from.

The golden call is computed before there is a query. What cannot be built is a `NotBuilt` with a reason, never an exception.
"""

from __future__ import annotations

import datetime
import math
import random
import re
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from familytool.catalogue.tables import Concept, concepts_by_relation
from familytool.generation.candidates import Catalogue
from familytool.generation.extraction import name_words
from familytool.generation.literals import DATE_KINDS, NUMBER_KINDS, TIME_KINDS, coerce_fact, draw_literal
from familytool.generation.preferences import World
from familytool.generation.usable import PEOPLE_KINDS, Parameter, UsableTool, status_of
from familytool.kinship import KinPhrase
from familytool.model import Json, Kind, RelationPath, Sample, Tool, ToolCall
from familytool.phrasing import ISO_DATE, SPEAKER, Owner, Phrase, Template, fill, say_fact

CONNECTORS = ("Also, ", "And then: ", "One more thing: ", "After that: ", "While you're at it: ", "Then, please: ")
RARE_TERMS = frozenset(
    {"hubby", "missus", "mama", "papa", "nana", "granny", "better half", "other half", "little one", "bro", "sis", "spouse", "buddy", "pal"}
)
MAX_ALTERNATIVES = 95
SCHOOL_KINDS = frozenset({"school", "kindergarten", "teacher_name", "school_subject"})
"""Facts that are asked for only of people who may be of school age."""
REACHES = frozenset({"phone_number", "email", "username"})
SENDING = frozenset({"send", "call", "text", "place", "make", "invite", "share", "message", "gift", "transfer", "forward"})
"""What reaches a person, and first words of tools that reach somebody: nobody sends or calls himself."""
CHILDREN = frozenset({"son", "daughter", "stepson", "stepdaughter", "brother", "sister"})
"""Relations to people who may be of school age."""
MIN_WORDS, MAX_WORDS = 6, 50
_START = frozenset({"start", "from", "in", "departure", "depart", "outbound", "pickup", "begin", "min", "leave", "source", "check_in"})
_END = frozenset({"end", "to", "out", "return", "inbound", "dropoff", "until", "max", "arrive", "arrival", "due"})


@dataclass(frozen=True)
class NotBuilt:
    """Why a candidate could not be built."""

    code: str
    message: str


@dataclass
class _Clause:
    """One request of a query under construction."""

    tool: UsableTool
    template: Template
    segments: tuple[int, ...]
    phrases: dict[str, Phrase] = field(default_factory=dict)
    recipe: dict[str, Json] = field(default_factory=dict)
    values: dict[str, Json] = field(default_factory=dict)
    also: dict[str, tuple[Json, ...]] = field(default_factory=dict)
    facts: dict[str, RelationPath] = field(default_factory=dict)


@dataclass(frozen=True)
class Order:
    """What candidate `number` of a stratum is to be: its kind, the tools to call, and the chain lengths for each call."""

    benchmark: str
    stratum: str
    number: int
    kind: Kind
    tools: tuple[UsableTool, ...]
    lengths: tuple[tuple[int, ...], ...]
    seed: int
    now: datetime.date
    size: tuple[int, int]
    confusable: float


def build_sample(order: Order, world: World, catalogue: Catalogue) -> Sample | NotBuilt:
    """The candidate that follows from the order alone: same order, same sample."""
    rng = random.Random(f"{order.seed}/{order.stratum}/{order.number}")
    taken = set(world.graph.nodes)
    built: tuple[str, list[_Clause]] | NotBuilt = NotBuilt("no_speaker", "nobody in this family can ask that")
    for _ in range(4):
        built = _draw_clauses(rng, order, world, set(taken))
        if not isinstance(built, NotBuilt):
            break
    if isinstance(built, NotBuilt):
        return built
    speaker, clauses = built
    if math.prod(1 + len(also) for c in clauses for also in c.also.values()) > 1 + MAX_ALTERNATIVES:
        return NotBuilt("open_forms", "so many values have a form that no document fixes that not all accepted calls can be listed")
    query, spans, connectors = _say(rng, clauses)
    if not MIN_WORDS <= len(query.split()) <= MAX_WORDS:
        return NotBuilt("length", f"{len(query.split())} words; a query has {MIN_WORDS} to {MAX_WORDS}")
    echo = _echo(query)
    if echo:
        return NotBuilt("echo", f"the query says '{echo}' twice")
    calls = tuple(ToolCall(name=c.tool.name, arguments=_arguments(c)) for c in clauses)
    paths = tuple(c.facts[p] for c in clauses for p in _in_schema_order(c) if p in c.facts)
    triples = tuple(dict.fromkeys(t for path in paths for chain in world.graph.chains(path)[:1] for t in chain))
    if len(triples) != sum(map(sum, order.lengths)):
        return NotBuilt("shared_triples", "two chains share a fact, so the number of golden triples would not be that of the stratum")
    offered = offer_tools(rng, order, catalogue)
    if isinstance(offered, NotBuilt):
        return offered
    return Sample(
        id=sample_id(order),
        benchmark=order.benchmark,
        kind=order.kind,
        speaker=speaker,
        query=query,
        graph_id=world.graph_id,
        candidate_tools=offered,
        golden_triples=triples,
        golden_paths=paths,
        calls=() if order.kind == "no_tool" else calls,
        alternatives=() if order.kind == "no_tool" else _alternatives(clauses, calls),
        argument_sources={} if order.kind == "no_tool" else _sources(clauses, spans),
        category=clauses[0].tool.category,
        provenance={
            "stratum": order.stratum,
            "candidate": order.number,
            "seed": order.seed,
            "now": order.now.isoformat(),
            "writer": "templates",
            "documents": [status_of(c.tool.tool) for c in clauses],
            "wording": [
                {
                    "connector": connector,
                    "sentence": c.template.source,
                    "segments": list(c.segments),
                    "slots": c.recipe,
                    "tool": c.tool.name,
                }
                for connector, c in zip(connectors, clauses, strict=True)
            ],
        },
    )


def sample_id(order: Order) -> str:
    """The id of the candidate that an order asks for."""
    return f"{order.benchmark}-{order.stratum}-{order.number:06d}"


def offer_tools(rng: random.Random, order: Order, catalogue: Catalogue) -> tuple[Tool, ...] | NotBuilt:
    """The candidate tools of a sample: with those that the order calls, or without them where no tool is to fit."""
    names = [tool.name for tool in order.tools]
    golden, absent = ([], names) if order.kind == "no_tool" else (names, [])
    offered = catalogue.draw(rng, golden, absent, order.size, order.confusable)
    if len(offered) < order.size[0]:
        return NotBuilt("too_few_candidates", f"{len(offered)} tools can be offered, candidate_tools.size asks for {order.size[0]} or more")
    return offered


def _draw_clauses(rng: random.Random, order: Order, world: World, taken: set[str]) -> tuple[str, list[_Clause]] | NotBuilt:
    speaker = rng.choice(world.people)
    clauses: list[_Clause] = []
    used: set[tuple[str, tuple[str, ...]]] = set()
    for tool, lengths in zip(order.tools, order.lengths, strict=True):
        clause = _draw_clause(rng, tool, lengths, speaker, world, order.now, taken, used)
        if isinstance(clause, NotBuilt):
            return clause
        clauses.append(clause)
    return speaker, clauses


def _draw_clause(rng: random.Random, tool: UsableTool, lengths: tuple[int, ...], speaker: str, world: World,
                 now: datetime.date, taken: set[str], used: set[tuple[str, tuple[str, ...]]]) -> _Clause | NotBuilt:  # fmt: skip
    plan = _choose_sentence(rng, tool, len(lengths), world)
    if plan is None:
        return NotBuilt("no_sentence", f"no sentence of {tool.name} has {len(lengths)} places that a fact can fill")
    template, segments, slots = plan
    clause = _Clause(tool, template, segments)
    for slot, length in zip(slots, rng.sample(lengths, len(lengths)), strict=True):
        trouble = _bind_fact(rng, clause, slot, length, speaker, world, used)
        if trouble is not None:
            return trouble
    day = _fact_day(clause) or now
    for slot in _slots(template, segments):
        if slot in slots:
            continue
        parameter = tool.parameters[slot]
        literal = draw_literal(rng, parameter, tool.tool, day, taken, near=day is not now)
        if literal is None:
            return NotBuilt("no_literal", f"no value of kind {parameter.kind} is left for {tool.name}.{slot}")
        day = literal.day or day
        clause.values[slot] = literal.value
        clause.also[slot] = literal.also
        clause.phrases[slot] = Phrase(literal.spoken, parameter.wrap_literal)
        clause.recipe[slot] = {"wrap": parameter.wrap_literal, **literal.recipe}
        taken.update(str(v) for v in (literal.value if isinstance(literal.value, list) else [literal.value]) if parameter.kind != "boolean")
    return _in_order(clause) or clause


def _fact_day(clause: _Clause) -> datetime.date | None:
    """The day that a fact of the clause gives, which stated days then follow."""
    for slot, value in clause.values.items():
        if clause.tool.parameters[slot].kind in DATE_KINDS and isinstance(value, str) and ISO_DATE.fullmatch(value):
            return datetime.date.fromisoformat(value)
    return None


def _slots(template: Template, segments: tuple[int, ...]) -> list[str]:
    return list(dict.fromkeys([*template.slots, *(slot for number in segments for slot in template.segments[number])]))


def _choose_sentence(rng: random.Random, tool: UsableTool, facts: int, world: World) -> tuple[Template, tuple[int, ...], list[str]] | None:
    """A sentence, its segments, and the slots that facts will fill; required places first, since they are always said."""
    possible = {c.kind for c in world.concepts} | PEOPLE_KINDS

    def takes_fact(slot: str) -> bool:
        parameter = tool.parameters[slot]
        return parameter.takes_fact and parameter.kind in possible

    for template in rng.sample(tool.sentences, len(tool.sentences)):
        included = tuple(
            number for number, names in enumerate(template.segments)
            if rng.random() < 0.45 and all(_can_be_said(tool.parameters.get(n)) for n in names)
        )  # fmt: skip
        open_slots = [slot for slot in _slots(template, included) if takes_fact(slot)]
        if len(open_slots) < facts:
            included = tuple(n for n, names in enumerate(template.segments) if all(_can_be_said(tool.parameters.get(x)) for x in names))
            open_slots = [slot for slot in _slots(template, included) if takes_fact(slot)]
        if len(open_slots) < facts:
            continue
        first = [slot for slot in open_slots if slot in template.slots]
        rng.shuffle(first)
        rest = [slot for slot in open_slots if slot not in first]
        chosen = (first + rest)[:facts]
        return template, included, chosen
    return None


def _can_be_said(parameter: Parameter | None) -> bool:
    if parameter is None or parameter.kind == "none":
        return False
    if parameter.kind == "boolean":
        return set(parameter.words) == {"true", "false"}
    return True


def _bind_fact(rng: random.Random, clause: _Clause, slot: str, length: int, speaker: str, world: World,
               used: set[tuple[str, tuple[str, ...]]]) -> NotBuilt | None:  # fmt: skip
    """Choose an owner and a relation, follow the path, and word it."""
    parameter = clause.tool.parameters[slot]
    options = fact_options(rng, parameter, clause.tool.name, length, speaker, world)
    for concept, owner in options:
        named = _name_owner(rng, speaker, owner, world) if owner != speaker else None
        if owner != speaker and named is None:
            continue
        relations = (*(named.relations if named else ()), *((concept.relation,) if concept else ()))
        path = RelationPath(start=speaker, relations=relations)
        if len(relations) != length or (speaker, relations) in used:
            continue
        ends = world.graph.follow(path)
        if len(ends) != 1 or ends[0] == speaker:
            continue
        said = _say_owner_fact(rng, named, concept, clause.template.source, slot)
        if said is None:
            continue
        text, wording = said
        used.add((speaker, relations))
        clause.facts[slot] = path
        clause.values[slot] = coerce_fact(ends[0], parameter)
        clause.phrases[slot] = Phrase(text, parameter.wrap_reference)
        clause.recipe[slot] = {
            "wrap": parameter.wrap_reference,
            "owner": named.text if named else "I",
            "possessive": named.takes_possessive if named else True,
            "relation": concept.relation if concept else "",
            "wording": wording,
            **({} if concept is None or concept.relation in concepts_by_relation() else {"said": concept.wordings[wording]}),
        }
        return None
    return NotBuilt("no_fact", f"nobody can name one {parameter.kind} by {length} step(s) from {speaker} for {clause.tool.name}.{slot}")


def fact_options(
    rng: random.Random, parameter: Parameter, tool: str, length: int, speaker: str, world: World
) -> list[tuple[Concept | None, str]]:
    """(concept, owner) pairs of the wanted length; the owner alone where a person of the family is the value (three times in ten)."""
    kind = parameter.kind
    concepts = [c for c in world.concepts if c.kind == kind and (not parameter.relations or c.relation in parameter.relations)]
    distance = world.kin.shortest_paths(speaker)
    owners = [speaker] if length == 1 else [p for p, paths in distance.items() if len(paths[0]) == length - 1]
    if length == 1 and kind in REACHES and name_words(tool)[:1] and name_words(tool)[0] in SENDING:
        owners = []
    if kind in SCHOOL_KINDS:
        owners = [p for p in owners if _may_go_to_school(p, distance, world)]
    options: list[tuple[Concept | None, str]] = [(concept, owner) for concept in concepts for owner in owners]
    rng.shuffle(options)
    if kind in ("person", "child"):
        relatives: list[tuple[Concept | None, str]] = [
            (None, p) for p, paths in distance.items() if len(paths[0]) == length and (kind == "person" or paths[0][-1] in CHILDREN)
        ]
        rng.shuffle(relatives)
        options = relatives + options if rng.random() < 0.3 or kind == "child" else options + relatives
    return options


def _may_go_to_school(person: str, distance: dict[str, list[tuple[str, ...]]], world: World) -> bool:
    """Whether a person may be of school age: someone's child or sibling as seen from the speaker, with no child of his or her own."""
    has_children = any(t.relation in ("son", "daughter") for t in world.graph.neighbours(person))
    return not has_children and (person not in distance or distance[person][0][-1] in CHILDREN)


def _name_owner(rng: random.Random, speaker: str, owner: str, world: World) -> KinPhrase | None:
    """A phrase for a person; seven times in ten one whose words are no relation's name, rare words seldom."""
    phrases = world.kin.phrases(speaker, owner)
    if not phrases:
        return None
    names = " ".join(world.graph.relations)
    everyday = [p for p in phrases if not any(term.split()[0] in names for term in p.terms)]
    pool = everyday if everyday and rng.random() < 0.72 else list(phrases)
    pool = [p for p in pool if len(p.terms) == 1 or not RARE_TERMS.intersection(p.terms)] or pool
    weights = [(0.15 if RARE_TERMS.intersection(p.terms) else 1.0) * (1.0 if len(p.terms) == 1 else 0.6) for p in pool]
    return rng.choices(pool, weights)[0]


def _say_owner_fact(
    rng: random.Random, named: KinPhrase | None, concept: Concept | None, sentence: str, slot: str
) -> tuple[str, int] | None:
    """A wording of the fact that repeats few words of the sentence ("living in the neighbourhood where I live").

    A relative clause ("the restaurant my mum likes best") is said where the clause ends; before further words, which it would
    swallow, and for things one owns, the possessive comes first ("my mum's favourite restaurant").
    """
    if concept is None:
        return (named.text, 0) if named else None
    owner = Owner(named.text, named.takes_possessive) if named else SPEAKER
    around = _stems(re.sub(r"\{[^}]*\}", "", sentence))
    ends = _ends_clause(sentence, slot)
    prefers_possessive = not ends or (concept.owned and rng.random() < 0.7)

    def rank(number: int) -> tuple[bool, int]:
        wording = concept.wordings[number]
        return prefers_possessive and "P's" not in wording, len(around & _stems(wording))

    for wording in sorted(rng.sample(range(len(concept.wordings)), len(concept.wordings)), key=rank):
        text = say_fact(concept.wordings[wording], owner)
        if text is not None and (ends or "P's" in concept.wordings[wording]):
            return text, wording
    return None


def _ends_clause(sentence: str, slot: str) -> bool:
    """Whether nothing but punctuation, or an "and", follows the slot."""
    after = re.sub(r"[\[\]]", "", sentence.split("{" + slot + "}", 1)[-1])
    return not after.strip() or after.lstrip()[0] in ".,;:?!" or after.startswith((" and ", " or ", ", "))


def _stems(text: str) -> set[str]:
    return {word[:3] for word in re.findall(r"[a-z]{4,}", text.lower())} - {"fav", "whe", "the", "tha", "wit"}


def _in_order(clause: _Clause) -> NotBuilt | None:
    """Put stated dates, times and amounts in order (return after departure); what a fact fixes and contradicts is not built."""
    for kinds in (DATE_KINDS, TIME_KINDS, NUMBER_KINDS):
        pairs = [(slot, _side(slot)) for slot in clause.values if clause.tool.parameters[slot].kind in kinds]
        starts = [slot for slot, side in pairs if side == "start"]
        ends = [slot for slot, side in pairs if side == "end"]
        for start, end in product(starts[:1], ends[:1]):
            if clause.tool.parameters[start].kind != clause.tool.parameters[end].kind and kinds is NUMBER_KINDS:
                continue
            if _before(clause, start, end):
                continue
            if start in clause.facts or end in clause.facts or clause.recipe[start].get("verbatim") != clause.recipe[end].get("verbatim"):
                return NotBuilt("out_of_order", f"{start} would come after {end}")
            clause.values[start], clause.values[end] = clause.values[end], clause.values[start]
            clause.also[start], clause.also[end] = clause.also[end], clause.also[start]
            wraps = clause.recipe[start]["wrap"], clause.recipe[end]["wrap"]
            clause.recipe[start], clause.recipe[end] = {**clause.recipe[end], "wrap": wraps[0]}, {**clause.recipe[start], "wrap": wraps[1]}
            first, second = clause.phrases[start], clause.phrases[end]
            clause.phrases[start], clause.phrases[end] = Phrase(second.core, first.wrap), Phrase(first.core, second.wrap)
    return None


def _side(slot: str) -> str:
    words = name_words(slot.rsplit(".", 1)[-1])
    words = [w for w in words if w not in ("date", "time", "day", "new", "current", "price")]
    if any(w in _END for w in words):
        return "end"
    return "start" if any(w in _START for w in words) else ""


def _before(clause: _Clause, start: str, end: str) -> bool:
    """Whether the start's value is smaller; values said verbatim are compared by their other form."""

    def key(slot: str) -> Any:
        value = clause.values[slot]
        also = clause.also.get(slot, ())
        text = str(also[0]) if also and clause.recipe[slot].get("verbatim") else value
        return float(text) if isinstance(text, int | float) or str(text).isdigit() else str(text)

    first, second = key(start), key(end)
    return bool(first < second) if type(first) is type(second) else False


def _say(rng: random.Random, clauses: list[_Clause]) -> tuple[str, list[dict[str, tuple[int, int]]], list[str]]:
    query, spans, connectors = "", [], []
    for number, clause in enumerate(clauses):
        text, found = fill(clause.template, clause.segments, clause.phrases)
        connector = rng.choice(CONNECTORS) if number else ""
        joined = join_clauses(query, connector, text)
        shift = len(joined) - len(text)
        spans.append({slot: (start + shift, end + shift) for slot, (start, end) in found.items()})
        connectors.append(connector)
        query = joined
    return query, spans, connectors


def _echo(query: str) -> str:
    """What a person says twice in one sentence only by mistake: "I live in the city where I live"."""
    said = [m.group().lower() for m in re.finditer(r"\bI (?!am |have |want |need |can |will |would )[a-z]{2,}(?: [a-z]+ing)?\b", query)]
    return next((text for text in said if said.count(text) > 1), "")


def join_clauses(before: str, connector: str, text: str) -> str:
    """Two requests as one query: the second begins in lower case behind a connector unless its first word keeps its capital."""
    if not before:
        return text
    keeps = text.startswith(("I ", "I'", "I’"))
    return f"{before} {connector}{text if keeps else text[:1].lower() + text[1:]}"


def _in_schema_order(clause: _Clause) -> list[str]:
    return [path for path in clause.tool.parameters if path in clause.values]


def _arguments(clause: _Clause, instead: dict[str, Json] | None = None) -> dict[str, Json]:
    arguments: dict[str, Json] = {}
    for path in _in_schema_order(clause):
        at = arguments
        *parents, last = clause.tool.parameters[path].keys
        for key in parents:
            at = at.setdefault(key, {})
        at[last] = (instead or clause.values).get(path, clause.values[path])
    return arguments


def _alternatives(clauses: list[_Clause], calls: tuple[ToolCall, ...]) -> tuple[tuple[ToolCall, ...], ...]:
    """Whole call lists with the other accepted forms of values whose form no document fixes."""
    open_ = [(number, path, also) for number, c in enumerate(clauses) for path, also in c.also.items() if also]
    found: list[tuple[ToolCall, ...]] = []
    for chosen in product(*((None, *also) for _, _, also in open_)):
        if all(value is None for value in chosen):
            continue
        instead: list[dict[str, Json]] = [{} for _ in clauses]
        for (number, path, _), value in zip(open_, chosen, strict=True):
            if value is not None:
                instead[number][path] = value
        found.append(tuple(ToolCall(name=c.tool.name, arguments=_arguments(c, {**c.values, **instead[n]})) for n, c in enumerate(clauses)))
    return tuple(calls_ for calls_ in found if calls_ != calls)


def _sources(clauses: list[_Clause], spans: list[dict[str, tuple[int, int]]]) -> dict[str, dict[str, Json]]:
    """JSON pointer of each argument value -> where it comes from: a path through the graph, or a span of the query."""
    found: dict[str, dict[str, Json]] = {}
    for number, clause in enumerate(clauses):
        for path in _in_schema_order(clause):
            keys = [key.replace("~", "~0").replace("/", "~1") for key in clause.tool.parameters[path].keys]
            pointer = f"/{number}/arguments/" + "/".join(keys)
            span = list(spans[number][path])
            source: dict[str, Json] = {"source": "query", "span": span}
            if path in clause.facts:
                fact = clause.facts[path]
                source = {"source": "graph", "path": {"start": fact.start, "relations": list(fact.relations)}, "span": span}
            value = clause.values[path]
            for index in range(len(value)) if isinstance(value, list) else [None]:
                found[pointer if index is None else f"{pointer}/{index}"] = source
    return found
