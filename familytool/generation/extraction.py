"""Which kind of value a parameter takes: the extraction rule (paper section 3.1; the rule's six steps are ours).

1. The name is split, abbreviations are expanded, `name_store` is read as "store name", words of role (new, current, source,
   target) are set aside. 2. Enum, boolean, object and array are literals, numbers too unless they identify something.
3. First match on (head noun, context) in `catalogue/kind_rules.tsv`; generic heads always need context there.
4. Where the description's head noun means something else (currency, id, range ...), it overrules the name. 5. Such kinds,
   and dates outside booking and scheduling, are vetoed. A document may name the kind itself (`x-kind`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from familytool.catalogue import tables
from familytool.model import Json, Tool

ABBREVIATIONS = {
    "addr": "address", "appt": "appointment", "dest": "destination", "loc": "location", "num": "number", "no": "number",
    "tel": "phone", "telephone": "phone", "qty": "quantity", "pref": "preference", "toloc": "to location",
    "fromloc": "from location", "dob": "birth date", "pkg": "package", "msg": "message", "acct": "account",
    "depart": "departure", "arrive": "arrival", "attr": "attribute", "desc": "description", "mins": "minutes",
}  # fmt: skip
ROLES = frozenset({"new", "current", "source", "target", "preferred", "desired", "selected", "existing", "old"})
VETOES = re.compile(r"\b(currency|identifier|id|country code|unit|range|url|token|code|index|password|pin)\b")
IDENTIFIERS = frozenset({"account_number", "library_card", "phone_number", "shoe_size", "room_temperature", "step_goal", "vehicle_year"})
"""Kinds that a number may hold because it names something or is somebody's own measure."""


@dataclass(frozen=True)
class Rule:
    """One row of the table: a kind, its head nouns, and the words of which one must, or none may, stand in the context."""

    kind: str
    heads: tuple[str, ...]
    any_of: tuple[str, ...]
    none_of: tuple[str, ...]


@dataclass(frozen=True)
class Decision:
    """The kind read from a parameter, and why; `none` is a refusal, whose reason is listed."""

    kind: str
    reason: str
    role: str = ""


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """The table of head nouns."""

    def split(cell: str) -> tuple[str, ...]:
        return tuple(word.strip() for word in cell.split(",") if word.strip())

    rows = [line.split("\t") for line in tables.ROOT.joinpath("kind_rules.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    return tuple(Rule(row[0], split(row[1]), split(row[2]), split(row[3])) for row in rows)


def name_words(name: str) -> list[str]:
    """A parameter's or tool's name as lower-case words.

    >>> name_words("pickupCity"), name_words("name_store")
    (['pickup', 'city'], ['store', 'name'])
    """
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    words = re.findall(r"[a-z0-9]+", spaced.lower())
    words = [part for word in words for part in ABBREVIATIONS.get(word, word).split()]
    if len(words) == 2 and words[0] in ("name", "type", "size", "date", "time", "location", "number", "year", "reason"):
        words = [words[1], words[0]]
    return words


def infer_kind(tool: Tool, name: str, schema: dict[str, Json]) -> Decision:
    """The kind of value that a parameter takes, by the rule above."""
    stated = schema.get("x-kind")
    if isinstance(stated, str):
        return Decision(stated, "the document says so")
    if "enum" in schema:
        return Decision("choice", "a closed list of values")
    declared = schema.get("type")
    if declared == "boolean":
        return Decision("boolean", "declared boolean")
    if declared in ("object", "array"):
        return Decision("none", f"an {declared} is not filled by one fact")
    words = [word for word in name_words(name) if word not in ROLES]
    if words and words[0] == "number" and len(words) > 1 and "plate" not in words and declared != "string":
        return Decision("count", "a number of something")
    role = next((word for word in name_words(name) if word in ROLES), "")
    description = schema.get("description", "")
    description = description.lower() if isinstance(description, str) else ""
    context = " ".join([*name_words(tool.name), tool.description.lower(), description, *map(str.lower, tool.parameters["properties"])])
    matched = infer_noun(words, context) or infer_noun([*_head_noun(description)], context)
    if matched is None:
        return Decision("none", f"no rule for the noun '{' '.join(words) or name}'", role)
    if matched not in tables.LITERAL_KINDS:
        veto = VETOES.search(" ".join(_head_noun(description)))
        if veto and matched not in ("apartment_id", "library_card", "account_number"):
            return Decision("none", f"the description speaks of a {veto.group()}, not of a {matched}", role)
        if declared in ("integer", "number") and matched not in IDENTIFIERS:
            return Decision("count" if matched == "day_off" else "none", f"a number does not name a {matched}", role)
    return Decision(matched, "by its head noun and context", role)


def infer_noun(words: list[str], context: str) -> str | None:
    """The kind that the table of head nouns gives for these words where that context stands; None where it has no rule."""
    if not words:
        return None
    trimmed = words[:-1] if len(words) > 1 and words[-1] in ("name", "title") else words
    for rule in rules():
        if rule.any_of and not any(re.search(rf"\b{re.escape(word)}", context) for word in rule.any_of):
            continue
        if any(re.search(rf"\b{re.escape(word)}", context) for word in rule.none_of):
            continue
        for head in rule.heads:
            head_words = head.split()
            if words[-len(head_words) :] == head_words or trimmed[-len(head_words) :] == head_words:
                return rule.kind
            if "of" in words and words[: words.index("of")][-len(head_words) :] == head_words:
                return rule.kind
    return None


def _head_noun(description: str) -> list[str]:
    """The words of a description's first noun phrase: "The name of the hotel where ..." gives ["hotel"]."""
    clause = re.split(r"[.,;:(]| where | that | which | to | for | in | at | from | with ", description.strip())[0]
    words = re.findall(r"[a-z]+", clause)
    words = [w for w in words if w not in ("the", "a", "an", "of", "user", "s", "specific", "name", "title", "desired", "new", "selected")]
    return words[-3:]
