"""Which candidates of a model are no preferences, by rule, and which kind of value a proposed relation gives (paper section 3.1)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from familytool.catalogue import tables
from familytool.catalogue.tables import Concept
from familytool.generation.extracted import RESERVED, Dropped, NewRelation, Stage, fingerprint, relation_fault, wording_fault
from familytool.generation.extraction import infer_noun, rules
from familytool.generation.literals import coerce_fact
from familytool.generation.schema_values import Conforms
from familytool.generation.usable import MIN_VALUES, PEOPLE_KINDS, Parameter
from familytool.model import Json, Tool, canonical

CATEGORIES = tuple(sorted({concept.category for concept in tables.concepts()}))
"""The areas of life that split the relations into small graphs."""

LIKING = frozenset({"prefer", "prefers", "preferred", "favourite", "favorite"})
DATES = frozenset({"date", "datetime", "day_off", "birthday"})
LASTING_DATES = frozenset({"day_off", "birthday"})
GENERAL = frozenset(
    {"name", "value", "type", "id", "item", "option", "preference", "number", "date", "time", "day", "text", "data", "info", "thing", "place",
     "category", "size", "list", "query", "user", "status", "description", "filter", "keyword", "title", "kind", "code"}
)  # fmt: skip
"""Words that alone say of nothing what a person likes."""
FUNCTION = frozenset(
    {"a", "an", "the", "to", "of", "for", "in", "at", "on", "by", "with", "from", "and", "or", "is", "my", "your", "user", "users"}
)
INNER = frozenset({"of", "for", "and", "to"})
"""Function words that may stand inside a noun phrase (mode of transport)."""
_INSTRUCTED = re.compile(
    r"\b(?:ignore|disregard|override|instruct(?:ion|ions|ed|s)?|system prompt|jailbreak|passwords?|secrets?|https?|as an ai|must be (?:added|included|listed)|told to)\b",
    re.IGNORECASE,
)
LONGEST_REASON = 300


@dataclass(frozen=True)
class Candidate:
    """A preference that a model proposes for a parameter of a document; the rules find the parameter and the `kind` of its values."""

    tool: Tool
    path: str
    relation: str
    category: str
    reason: str
    kind: str = ""
    parameter: Parameter | None = None


def dropped_candidate(candidate: Candidate, stage: Stage, reason: str) -> Dropped:
    """The record of a candidate that was not taken."""
    return Dropped(tool=candidate.tool.name, document=fingerprint(candidate.tool), parameter=candidate.path[:200],
                   relation=candidate.relation[:200], stage=stage, reason=reason)  # fmt: skip


def drop_by_rule(
    tool: Tool, parameters: dict[str, Parameter], candidates: list[Candidate], conforms: Conforms
) -> Iterator[tuple[Candidate, str]]:
    """Each candidate of a document with the reason to drop it, or with "" and the kind of value that its relation gives."""
    seen: set[str] = set()
    dictated = _dictated(tool)
    for candidate in candidates:
        parameter = parameters.get(candidate.path)
        if parameter is None:
            yield candidate, f"the document has no parameter {candidate.path[:80]!r}"
            continue
        kind, fault = "", _fault(candidate, parameter, seen, dictated)
        if not fault:
            kind, fault = _kind(candidate, parameter, conforms)
        if not fault:
            seen.add(candidate.path)
        yield replace(candidate, kind=kind, parameter=parameter), fault


def _fault(candidate: Candidate, parameter: Parameter, seen: set[str], dictated: set[str]) -> str:
    fault = relation_fault(candidate.relation)
    if fault:
        return fault
    words = relation_words(candidate.relation)
    if candidate.relation not in tables.concepts_by_relation():
        if not words or set(words) <= GENERAL or words[0] in FUNCTION or words[-1] in FUNCTION or set(words) & (FUNCTION - INNER):
            return f"the words of {candidate.relation} do not say what the person has or likes"
        trouble = next((t for w in derived_relation("", candidate.relation, "").wordings if (t := wording_fault(w))), "")
        if trouble:
            return f"{candidate.relation}: {trouble}"
        if candidate.category not in CATEGORIES:
            return f"{candidate.category[:40]!r} is no category; there are {', '.join(CATEGORIES)}"
    if candidate.relation in dictated:
        return "the text of the document dictates this relation"
    if len(candidate.reason) > LONGEST_REASON or _INSTRUCTED.search(f"{' '.join(words)} {candidate.category} {candidate.reason}"):
        return "the answer follows an instruction or is not about a preference"
    if candidate.path in seen:
        return "the parameter has a relation already"
    return _unfit(parameter)


def _unfit(parameter: Parameter) -> str:
    """Why no lasting fact of a person can fill a parameter, whatever the relation; or ""."""
    if parameter.states_new:
        return "it states a new value, so no present fact fits"
    if parameter.schema.get("type") == "boolean" or parameter.kind == "boolean":
        return "the parameter is boolean"
    if parameter.kind == "choice" or _is_closed(parameter.schema):
        return "the parameter is a closed list of values"
    if parameter.schema.get("type") in ("object", "array") or "properties" in parameter.schema:
        return f"the parameter takes {'an array of ' if parameter.is_array else ''}{parameter.schema.get('type', 'object')}s, which no one fact fills"
    if parameter.kind == "child":
        return "a relative fills it, and no other fact"
    if parameter.kind == "none" and _is_stated(parameter):
        return "the document says that no known value fills the parameter"
    if parameter.least_items > 1:
        return f"the parameter takes {parameter.least_items} values or more"
    return ""


def _is_closed(schema: dict[str, Json]) -> bool:
    if "enum" in schema or "const" in schema:
        return True
    branches = [b for key in ("anyOf", "oneOf", "allOf") for b in schema.get(key) or [] if isinstance(b, dict)]
    return any("enum" in branch or "const" in branch for branch in branches)


def _is_stated(parameter: Parameter) -> bool:
    return parameter.reason in ("the document says so", "a phrase hint says so")


def relation_words(relation: str) -> tuple[str, ...]:
    """The words of a relation without those that say that it is liked.

    >>> relation_words("prefer_seat_type"), relation_words("favourite_prefer_dish"), relation_words("home_address")
    (('seat', 'type'), ('dish',), ('home', 'address'))
    """
    words = relation.split("_")
    while words and words[0] in LIKING:
        del words[0]
    if len(words) > 1 and words[-1] in ("preference", "preferences"):
        del words[-1]
    return tuple(words)


def derived_relation(kind: str, relation: str, category: str) -> NewRelation:
    """A new relation with wordings made of its words: what is liked is preferred, anything else is had."""
    thing = " ".join(relation_words(relation))
    is_liked = relation.split("_")[0] in LIKING or relation.endswith(("_preference", "_preferences"))
    wordings = (f"P's favourite {thing}", f"the {thing} P prefer~") if is_liked else (f"P's {thing}", f"the {thing} P have~")
    return NewRelation(kind=kind, relation=relation, category=category, owned=not is_liked, wordings=wordings)


def known_relation(relation: str) -> Concept | None:
    """The catalogue's relation of this name, or of the same words: `favourite_restaurant` is `prefer_restaurant`."""
    return tables.concepts_by_relation().get(relation) or _by_words().get(same_words(relation))


def same_words(relation: str) -> tuple[str, ...]:
    """What relations that mean the same have in common."""
    return tuple(sorted(relation_words(relation)))


@lru_cache(maxsize=1)
def _by_words() -> dict[tuple[str, ...], Concept]:
    return {same_words(concept.relation): concept for concept in reversed(tables.concepts())}


def is_known_kind(kind: str) -> bool:
    """Whether the catalogue has values of a kind, so that none need to be asked for."""
    return kind not in RESERVED - {"person"} and not kind.startswith("given_name") and bool(tables.values(kind))


def _kind(candidate: Candidate, parameter: Parameter, conforms: Conforms) -> tuple[str, str]:
    """The kind of value that a relation gives, and what it contradicts in the document.

    The relation's own words come first; then what the document states or the rules read from the parameter, if the words are of that kind;
    what neither knows is a new kind.
    """
    known = known_relation(candidate.relation)
    words = relation_words(candidate.relation)
    said = known.kind if known else infer_noun(list(words), " ".join(words))
    by_rule = parameter.kind if is_known_kind(parameter.kind) else ""
    if known is None and said in DATES - {"birthday"}:
        said = None if by_rule and by_rule not in DATES else "date"
    is_date = parameter.kind in DATES or parameter.schema.get("format") in ("date", "date-time")
    if (is_date and said not in LASTING_DATES) or (said in DATES and said not in LASTING_DATES):
        return "", "a date of one event is no lasting fact"
    kind = said if said and is_known_kind(said) else ""
    if not kind and by_rule and (_is_stated(parameter) or set(words) <= _vocabulary(by_rule)):
        kind = by_rule
    kind = kind or _new_kind(candidate.relation)
    if not kind:
        return "", f"{candidate.relation} names a kind that has another meaning here"
    if _is_stated(parameter) and by_rule and kind != by_rule:
        return "", f"the document says that the parameter takes a {by_rule}, {candidate.relation} gives a {kind}"
    name = known.relation if known else candidate.relation
    if parameter.relations and kind == by_rule and name not in parameter.relations:
        return "", f"the document names the relations that fit ({', '.join(parameter.relations)[:120]})"
    return (
        (kind, "")
        if _takes_kind(parameter, kind, conforms)
        else ("", f"{candidate.relation} gives a {kind}, which the schema does not take")
    )


def _takes_kind(parameter: Parameter, kind: str, conforms: Conforms) -> bool:
    """Whether the schema of a parameter takes most values that the catalogue has of a kind, by a look at some two dozen spread over its
    table; of a new kind nothing is known yet."""
    if not is_known_kind(kind):
        return True
    values = tables.values(kind)
    looked_at = values[:: max(1, len(values) // 24)]
    return sum(takes_text(parameter, value, conforms) for value in looked_at) >= max(MIN_VALUES, len(looked_at) / 2)


@lru_cache(maxsize=256)
def _vocabulary(kind: str) -> frozenset[str]:
    """The words that rules and relations use for a kind: what a relation of the kind may be made of (`seat type` is no hotel type)."""
    texts = [kind, *(c.relation for c in tables.concepts_by_kind().get(kind, ()))]
    texts += [text for rule in rules() if rule.kind == kind for text in (*rule.heads, *rule.any_of)]
    return frozenset(word for text in texts for word in text.replace("_", " ").split())


def _new_kind(relation: str) -> str:
    """A name for a kind that the catalogue does not have, or ""."""
    names = ("_".join(relation_words(relation)), relation)
    taken = RESERVED | PEOPLE_KINDS | tables.value_kinds() | set(tables.concepts_by_kind())
    return next((name for name in names if name not in taken), "")


def _dictated(tool: Tool) -> set[str]:
    """Names with an underscore that the texts of a document mention although no parameter has them: nobody but an attacker writes these."""
    names: set[str] = set()
    texts: list[str] = [tool.description]

    def walk(node: Any, depth: int) -> None:
        if depth > 12 or not isinstance(node, dict | list):
            return
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            if key == "properties" and isinstance(value, dict):
                names.update(str(name).lower() for name in value)
            if key in ("description", "title", "examples", "default", "$comment"):
                texts.append(value if isinstance(value, str) else canonical(value))
            walk(value, depth + 1)

    walk(tool.parameters, 0)
    found = {word for text in texts for word in re.findall(r"[a-z0-9_]+", text.lower()) if "_" in word}
    return found - names


def takes_text(parameter: Parameter, text: str, conforms: Conforms) -> bool:
    """Whether a graph value, in the type that the parameter declares, satisfies the schema of the parameter (of its items)."""
    value = coerce_fact(text, parameter)
    return conforms(parameter.schema, value[0] if parameter.is_array else value)


def unite(candidates: list[Candidate], conforms: Conforms) -> Iterator[tuple[Candidate, str]]:
    """Give relations of the same words one name and one kind, in order; a candidate that would give another kind comes with a reason."""
    groups: dict[tuple[str, ...], list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(same_words(candidate.relation), []).append(candidate)
    names: dict[tuple[str, ...], tuple[str, str, str]] = {}
    for words, group in groups.items():
        known = known_relation(group[0].relation)
        kinds = Counter(c.kind for c in group if is_known_kind(c.kind)) or Counter(c.kind for c in group)
        kind = known.kind if known else kinds.most_common(1)[0][0]
        name = known.relation if known else Counter(c.relation for c in group).most_common(1)[0][0]
        category = known.category if known else Counter(c.category for c in group).most_common(1)[0][0]
        names[words] = name, kind, category
    for candidate in candidates:
        name, kind, category = names[same_words(candidate.relation)]
        if candidate.kind != kind and is_known_kind(candidate.kind):
            yield (
                candidate,
                f"{candidate.relation} would give a {candidate.kind} here and a {kind} elsewhere; a relation gives one kind of value",
            )
        elif candidate.kind != kind and candidate.parameter is not None and not _takes_kind(candidate.parameter, kind, conforms):
            yield candidate, f"{candidate.relation} gives a {kind}, which the schema does not take"
        else:
            yield replace(candidate, relation=name, kind=kind, category=category), ""
