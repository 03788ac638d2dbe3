"""The intent check: does the query ask for this call, and for nothing else?

It decides what text decides: persons (kinship), stated values, values stated but unused, the answer given away. A text of our
own writer is verified by construction as well: rendered again from the golden facts, it must be the query. On the wording of a
relation in other texts it says "unknown" and no more.
"""

from __future__ import annotations

import re
from typing import Any

from familytool.catalogue import tables
from familytool.graph import KnowledgeGraph
from familytool.kinship import KIN_RELATIONS, Kin, Mention, find_mentions
from familytool.model import Check, Finding, Json, RelationPath, Sample, Verdict
from familytool.phrasing import Owner, Phrase, fault, fill, join_spoken, parse_template, say_fact, spoken_forms
from familytool.validation.grounding import Stated, is_stated, stated_values, words_said

_kin_of: dict[int, tuple[KnowledgeGraph, Kin]] = {}


def kin(graph: KnowledgeGraph) -> Kin:
    """The kinship of a graph, computed once for each."""
    known = _kin_of.get(id(graph))
    if known is None or known[0] is not graph:
        if len(_kin_of) >= 32:
            del _kin_of[next(iter(_kin_of))]
        known = (graph, Kin(graph))
        _kin_of[id(graph)] = known
    return known[1]


def check_intent(sample: Sample, graph: KnowledgeGraph) -> Check:
    """Persons, stated values, unused values and leaks of one sample; findings in order of their place."""
    findings: list[Finding] = []
    leftover = fault(sample.query) if _recipe(sample) else ""
    if leftover:
        findings.append(Finding(code="parse_error", path="/query", message=f"the wording has a leftover: {leftover!r}"))
    stated = stated_values(sample.query)
    open_questions = 0
    findings += _person_findings(sample, graph)
    grounded, undecided = _literal_findings(sample, stated)
    findings += grounded
    open_questions += undecided
    findings += _unused_findings(sample, stated)
    findings += _leak_findings(sample, graph)
    if _recipe(sample):
        findings += _rendering_findings(sample)
        open_questions = 0
    else:
        open_questions += sum(not _relation_said(path, sample.query) for path in sample.golden_paths)
    verdict: Verdict = "fail" if findings else "unknown" if open_questions else "pass"
    return Check(sample_id=sample.id, check="intent", verdict=verdict, findings=tuple(findings))


def _recipe(sample: Sample) -> list[dict[str, Any]]:
    wording = sample.provenance.get("wording")
    return wording if isinstance(wording, list) else []


def _owner_path(path: RelationPath) -> RelationPath:
    """The part of a golden path that leads to the person a fact belongs to (or who is the value)."""
    steps = 0
    while steps < len(path.relations) and path.relations[steps] in KIN_RELATIONS:
        steps += 1
    return RelationPath(start=path.start, relations=path.relations[:steps])


def _person_findings(sample: Sample, graph: KnowledgeGraph) -> list[Finding]:
    """Every person on whom a golden chain ends is named in the query, and nobody else is."""
    relatives = kin(graph)
    mentions = find_mentions(sample.query)
    owners: dict[str, RelationPath] = {}
    for path in sample.golden_paths:
        owner = _owner_path(path)
        for person in graph.follow(owner) if owner.relations else ():
            owners[person] = owner
    found: list[Finding] = []
    named: set[str] = set()
    for mention in mentions:
        persons = relatives.persons(sample.speaker, mention.readings)
        place = f"/query/{mention.start}"
        if len(persons) > 1:
            listed = ", ".join(persons)
            found.append(Finding(code="ambiguous_answer", path=place, message=f"'{mention.text}' can be {listed}", value=mention.text))
        elif not persons:
            found.append(
                Finding(
                    code="kinship_mismatch",
                    path=place,
                    message=f"{sample.speaker} has no '{mention.text}' in the graph",
                    value=mention.text,
                )
            )
        elif persons[0] not in owners and sample.kind != "no_tool":
            found.append(
                Finding(
                    code="kinship_mismatch",
                    path=place,
                    message=f"'{mention.text}' is {persons[0]}, to whom no golden chain leads",
                    value=mention.text,
                )
            )
        named.update(persons)
    by_name = {person for person in owners if is_stated(person, sample.query, [])}
    for person, path in owners.items():
        if person not in named | by_name:
            steps = ", ".join(path.relations)
            found.append(
                Finding(
                    code="kinship_mismatch",
                    path="/query",
                    message=f"the golden chain goes to {person} ({steps}), whom the query does not name",
                    value=person,
                )
            )
    found += _place_findings(sample, graph, mentions)
    return found


def _place_findings(sample: Sample, graph: KnowledgeGraph, mentions: list[Mention]) -> list[Finding]:
    """Where an argument's place in the query is recorded, the person named at that place is the fact's owner."""
    found: list[Finding] = []
    for pointer, source in sample.argument_sources.items():
        span, stated = source.get("span"), source.get("path")
        if source.get("source") != "graph" or not isinstance(span, list) or not isinstance(stated, dict):
            continue
        owner = _owner_path(RelationPath(start=stated["start"], relations=tuple(stated["relations"])))
        here = [m for m in mentions if m.start < span[1] and span[0] < m.end]
        owners = graph.follow(owner) if owner.relations else (sample.speaker,)
        persons = [p for m in here for p in kin(graph).persons(sample.speaker, m.readings)] or [sample.speaker]
        if not set(owners) & set(persons):
            found.append(
                Finding(
                    code="kinship_mismatch",
                    path=f"/calls{pointer}",
                    message=f"its words name {', '.join(persons)}, its fact is of {', '.join(owners) or 'nobody'}",
                )
            )
    return found


def _literal_findings(sample: Sample, stated: list[Stated]) -> tuple[list[Finding], int]:
    """Arguments that no fact gives must be stated in the query; enum items and booleans of other texts stay undecided."""
    found: list[Finding] = []
    undecided = 0
    facts = {end for path in sample.golden_triples for end in (path.tail,)}
    for number, call in enumerate(sample.calls):
        for pointer, value, schema in _leaf_values(sample, call.name, call.arguments, f"/{number}/arguments"):
            source = sample.argument_sources.get(pointer, {}).get("source")
            if source == "graph" or (not source and str(value) in facts):
                continue
            if isinstance(value, bool) or value is None or is_stated(value, sample.query, stated):
                undecided += isinstance(value, bool) or value is None
                continue
            if "enum" in schema or ("default" in schema and schema["default"] == value):
                undecided += not words_said(str(value), sample.query)
            elif _recipe(sample) and _said_by_recipe(sample, pointer, value):
                continue
            else:
                found.append(
                    Finding(
                        code="ungrounded_value",
                        path=f"/calls{pointer}",
                        message=f"{value!r} is neither stated in the query nor a golden fact",
                        value=value,
                    )
                )
    return found, undecided


def _leaf_values(sample: Sample, name: str, arguments: dict[str, Json], pointer: str) -> list[tuple[str, Json, dict[str, Any]]]:
    document = next((tool for tool in sample.candidate_tools if tool.name == name), None)
    rows: list[tuple[str, Json, dict[str, Any]]] = []

    def visit(value: Json, schema: Any, here: str) -> None:
        schema = schema if isinstance(schema, dict) else {}
        if isinstance(value, dict):
            for key, inner in value.items():
                visit(inner, schema.get("properties", {}).get(key), f"{here}/{key.replace('~', '~0').replace('/', '~1')}")
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                visit(inner, schema.get("items"), f"{here}/{index}")
        else:
            rows.append((here, value, schema))

    visit(arguments, document.parameters if document else {}, pointer)
    return rows


def _said_by_recipe(sample: Sample, pointer: str, value: Json) -> bool:
    """Whether our own writer has fixed words for this value and they stand in the query ("by the window" for `window`)."""
    number = int(pointer.split("/")[1])
    slots = _recipe(sample)[number]["slots"] if number < len(_recipe(sample)) else {}
    return any(str(value) in slot.get("values", {}) and slot["values"][str(value)] in sample.query for slot in slots.values())


def _unused_findings(sample: Sample, stated: list[Stated]) -> list[Finding]:
    """Dates, times, numbers and addresses that the query states and no argument uses."""
    if sample.kind == "no_tool":
        return []
    used: set[tuple[int, int]] = set()
    for number, call in enumerate(sample.calls):
        for pointer, value, _ in _leaf_values(sample, call.name, call.arguments, f"/{number}/arguments"):
            span = is_stated(value, sample.query, stated)
            if span:
                used.add(span)
            recorded = sample.argument_sources.get(pointer, {}).get("span")
            if isinstance(recorded, list) and len(recorded) == 2:
                used.add((recorded[0], recorded[1]))
    found: list[Finding] = []
    for item in stated:
        said = sample.query[item.start : item.end]
        if any(start < item.end and item.start < end for start, end in used) or said.lower() in ("one", "second", "first", "zero"):
            continue
        if item.kind == "number" and _recipe(sample) and not said.isdigit():
            continue
        found.append(
            Finding(
                code="unused_value",
                path=f"/query/{item.start}",
                message=f"the query states {item.kind} '{said}', which no argument uses",
                value=said,
            )
        )
    return found


def _leak_findings(sample: Sample, graph: KnowledgeGraph) -> list[Finding]:
    """The end of a golden chain must not stand in the query."""
    found: list[Finding] = []
    for path in sample.golden_paths:
        for end in graph.follow(path):
            span = is_stated(end, sample.query, [])
            if span:
                found.append(
                    Finding(code="answer_leaked", path=f"/query/{span[0]}", message=f"the answer '{end}' stands in the query", value=end)
                )
    return found


def _relation_said(path: RelationPath, query: str) -> bool:
    """Whether the words of the last relation occur in the query (not for persons as values)."""
    last = path.relations[-1] if path.relations else ""
    if last in KIN_RELATIONS:
        return True
    words = [w for w in re.findall(r"[a-z]+", last.lower()) if w not in ("prefer", "of", "usual", "favourite", "favorite")]
    return bool(words) and all(word[:4] in query.lower() for word in words)


def _rendering_findings(sample: Sample) -> list[Finding]:
    """Render the query again from its recipe and the golden facts; where it differs, say in which slot."""
    query = ""
    found: list[Finding] = []
    if not sample.calls:
        return found
    for number, clause in enumerate(_recipe(sample)):
        phrases: dict[str, Phrase] = {}
        for slot, recipe in clause["slots"].items():
            value = _argument(sample, number, slot)
            phrase, trouble = _phrase(sample, number, slot, recipe, value)
            if trouble is not None:
                found.append(trouble)
            phrases[slot] = phrase
        template = parse_template(clause["sentence"])
        if not set(template.slots) <= set(phrases):
            return [*found, Finding(code="parse_error", path="/query", message="the recipe does not fill its sentence")]
        text, _ = fill(template, clause["segments"], phrases)
        text = text if not query or text.startswith(("I ", "I'", "I’")) else text[:1].lower() + text[1:]
        query = f"{query} {clause['connector']}{text}" if query else text
    if not found and query != sample.query:
        found.append(
            Finding(code="ungrounded_value", path="/query", message=f"the golden facts and arguments would be asked for as: {query}")
        )
    return found


def _argument(sample: Sample, number: int, slot: str) -> Json:
    arguments: Json = sample.calls[number].arguments if number < len(sample.calls) else {}
    if isinstance(arguments, dict) and slot in arguments:
        return arguments[slot]
    for key in slot.split("."):
        arguments = arguments.get(key) if isinstance(arguments, dict) else None
    return arguments


def _phrase(sample: Sample, number: int, slot: str, recipe: dict[str, Any], value: Json) -> tuple[Phrase, Finding | None]:
    wrap = recipe.get("wrap", "{}")
    if "owner" in recipe:
        owner = Owner() if recipe["owner"] == "I" else Owner(recipe["owner"], recipe["possessive"])
        if not recipe["relation"]:
            return Phrase(owner.subject, wrap), None
        pointer = f"/{number}/arguments/" + "/".join(slot.split("."))
        source = (
            sample.argument_sources.get(pointer)
            or sample.argument_sources.get(pointer + "/0")
            or sample.argument_sources.get(f"/{number}/arguments/{slot.replace('~', '~0').replace('/', '~1')}", {})
        )
        relations = source.get("path", {}).get("relations") or [recipe["relation"]]
        concept = tables.concepts_by_relation().get(relations[-1])
        said = say_fact(concept.wordings[recipe["wording"]], owner) if concept and recipe["wording"] < len(concept.wordings) else None
        if said is None:
            return Phrase(""), Finding(code="wrong_entity", path="/calls" + pointer, message=f"the query does not speak of {relations[-1]}")
        return Phrase(said, wrap), None
    if "values" in recipe:
        items = [str(v) for v in (value if isinstance(value, list) else [value])]
        missing = next((item for item in (_key(item, recipe["values"]) for item in items) if item not in recipe["values"]), None)
        if missing is not None:
            return Phrase(""), Finding(
                code="ungrounded_value",
                path=f"/calls/{number}/arguments/{slot}",
                message=f"the writer has no words for {missing!r}",
                value=value,
            )
        return Phrase(join_spoken([recipe["values"][_key(item, recipe["values"])] for item in items]), wrap), None
    forms = spoken_forms(str(value), recipe.get("kind", ""), bool(recipe.get("verbatim")))
    form = recipe.get("form", 0)
    if form >= len(forms):
        return Phrase(""), Finding(
            code="ungrounded_value", path=f"/calls/{number}/arguments/{slot}", message=f"{value!r} is not said this way", value=value
        )
    return Phrase(forms[form], wrap), None


def _key(item: str, values: dict[str, str]) -> str:
    return item if item in values else item.lower()
