"""Readers of what comes with the package: concepts, values, documents, hints, groups of tools and campaigns.

All tables are fixed files, since generated ones would change with the version of a library. `importlib.resources` finds
them in a checkout and in an installed wheel alike.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

ROOT = files("familytool.catalogue")
CAMPAIGNS = ("home", "paper", "extended")

LITERAL_KINDS = frozenset(
    [
        "date",
        "time",
        "datetime",
        "duration_minutes",
        "count",
        "money",
        "percentage",
        "temperature",
        "volume",
        "rating",
        "text",
        "choice",
        "boolean",
        "year",
        "weekday",
    ]
)
"""Kinds whose values a query states outright; a graph does not hold them."""


@dataclass(frozen=True)
class Concept:
    """A relation of a person to a value: its kind of value, category, and wordings ("P's dentist", "the dentist P go~ to")."""

    kind: str
    relation: str
    category: str
    owned: bool
    wordings: tuple[str, ...]


def _text(name: str) -> str:
    return ROOT.joinpath(name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def concepts() -> tuple[Concept, ...]:
    """All relations of `concepts.tsv`, in file order."""
    rows = [line.split("\t") for line in _text("concepts.tsv").splitlines()[1:] if line]
    return tuple(Concept(row[0], row[1], row[2], row[3] == "yes", tuple(w.strip() for w in row[4:] if w.strip())) for row in rows)


@lru_cache(maxsize=1)
def concepts_by_relation() -> dict[str, Concept]:
    """The same by relation name."""
    return catalogue_kinds().by_relation


@lru_cache(maxsize=1)
def concepts_by_kind() -> dict[str, tuple[Concept, ...]]:
    """The same by the kind of value."""
    return catalogue_kinds().by_kind


@lru_cache(maxsize=1)
def value_kinds() -> frozenset[str]:
    """The kinds that have a value table. A kind may come from a document, so it is looked up here and never made a path."""
    return frozenset(file.name.removesuffix(".txt") for file in ROOT.joinpath("values").iterdir())


@lru_cache(maxsize=1024)
def values(kind: str) -> tuple[str, ...]:
    """The value table of a kind; empty where there is none."""
    if kind not in value_kinds():
        return ()
    return tuple(ROOT.joinpath("values", f"{kind}.txt").read_text(encoding="utf-8").splitlines())


@dataclass(frozen=True)
class Kinds:
    """Which relations give which kind of value, and which values a kind has: the catalogue's tables, and what was added to them.

    `added` holds the values of kinds for which the catalogue has none.
    """

    concepts: tuple[Concept, ...]
    added: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def by_kind(self) -> dict[str, tuple[Concept, ...]]:
        """The relations of each kind, in order."""
        table: dict[str, list[Concept]] = {}
        for concept in self.concepts:
            table.setdefault(concept.kind, []).append(concept)
        return {kind: tuple(found) for kind, found in table.items()}

    @cached_property
    def by_relation(self) -> dict[str, Concept]:
        """The same by relation name."""
        return {concept.relation: concept for concept in self.concepts}

    def values(self, kind: str) -> tuple[str, ...]:
        """The values of a kind; empty where there are none."""
        return values(kind) or self.added.get(kind, ())

    def extended(self, concepts: tuple[Concept, ...], added: Mapping[str, tuple[str, ...]]) -> Kinds:
        """These kinds and further relations and values, behind them."""
        return Kinds(self.concepts + concepts, {**self.added, **added})


@lru_cache(maxsize=1)
def catalogue_kinds() -> Kinds:
    """The kinds of the catalogue alone."""
    return Kinds(concepts())


@lru_cache(maxsize=1)
def kind_of_value() -> dict[str, str]:
    """The table that a value stands in, by the value without its case; no value stands in two tables."""
    return {value.casefold(): kind for kind in sorted(value_kinds()) for value in values(kind)}


def builtin_documents() -> list[tuple[str, Any]]:
    """(file name, OpenAI tool list) of each domain of the embedded catalogue, by name."""
    folder = ROOT.joinpath("documents")
    names = sorted(f.name for f in folder.iterdir() if f.name.endswith(".json") and not f.name.endswith(".clusters.json"))
    return [(name, json.loads(folder.joinpath(name).read_text(encoding="utf-8"))) for name in names]


@lru_cache(maxsize=1)
def clusters() -> tuple[dict[str, Any], ...]:
    """The embedded tools that are easy to confuse: {"name", "tools", "confuses", "domain"}."""
    folder = ROOT.joinpath("documents")
    found: list[dict[str, Any]] = []
    for name in sorted(f.name for f in folder.iterdir() if f.name.endswith(".clusters.json")):
        for cluster in json.loads(folder.joinpath(name).read_text(encoding="utf-8")):
            found.append({**cluster, "domain": name.removesuffix(".clusters.json")})
    return tuple(found)


@lru_cache(maxsize=1)
def hints() -> dict[str, dict[str, Any]]:
    """Phrase hints of ours for documents of others, by tool name; used only where all parameters they name exist."""
    folder = ROOT.joinpath("hints")
    found: dict[str, dict[str, Any]] = {}
    for name in sorted(f.name for f in folder.iterdir() if f.name.endswith(".json")):
        found.update(json.loads(folder.joinpath(name).read_text(encoding="utf-8")))
    return found


@lru_cache(maxsize=1)
def interchangeable() -> dict[str, frozenset[str]]:
    """For each tool name, the tools of which either would do for the same request (itself included)."""
    return {name: frozenset(group["tools"]) for group in json.loads(_text("interchangeable.json")) for name in group["tools"]}


def either_would_do(first: str, second: str) -> bool:
    """Whether the table says that these two tools serve the same requests."""
    return first == second or second in interchangeable().get(first, frozenset())


def campaign_bytes(name: str) -> bytes | None:
    """The built-in campaign of this name, or None."""
    return ROOT.joinpath("campaigns", f"{name}.toml").read_bytes() if name in CAMPAIGNS else None


def family_specification(name: str) -> str | None:
    """The built-in family specification of this name ('paper', 'extended'), or None."""
    file = ROOT.joinpath("families", f"{name}.toml")
    return file.read_text(encoding="utf-8") if name in ("paper", "extended") and file.is_file() else None
