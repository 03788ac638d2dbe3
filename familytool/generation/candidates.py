"""The candidate tools of a sample: the golden one at a uniform position among confusable and other tools.

Confusable = the same objects, another action or scope. Tools of which either would do never stand in one list.
"""

from __future__ import annotations

import random
from functools import cached_property

from familytool.catalogue import tables
from familytool.generation.extraction import name_words
from familytool.generation.usable import UsableTool
from familytool.model import Tool, canonical

_COMMON = frozenset(
    [
        "get",
        "set",
        "find",
        "search",
        "book",
        "buy",
        "check",
        "add",
        "new",
        "create",
        "delete",
        "cancel",
        "change",
        "update",
        "by",
        "for",
        "a",
        "the",
        "of",
        "in",
        "to",
        "and",
        "with",
        "user",
        "info",
        "information",
        "details",
    ]
)


class Catalogue:
    """The documents of a campaign as candidates: who is confusable with whom."""

    def __init__(self, tools: list[UsableTool], pool: list[Tool]) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.pool = {tool.name: tool.as_candidate() for tool in pool}
        self.names = tuple(self.pool)
        alike: dict[str, list[str]] = {}
        for name, tool in self.pool.items():
            alike.setdefault(canonical([tool.description, tool.parameters]), []).append(name)
        self._twins = {name: frozenset(names) for names in alike.values() for name in names}

    def _either(self, name: str) -> frozenset[str]:
        """The tools of which either would do: by the table, or since their documents differ in the name alone."""
        return tables.interchangeable().get(name, frozenset({name})) | self._twins.get(name, frozenset())

    @cached_property
    def _clusters(self) -> dict[str, frozenset[str]]:
        return {
            name: frozenset(cluster["tools"])
            for cluster in tables.clusters()
            if set(cluster["tools"]) <= set(self.pool)
            for name in cluster["tools"]
        }

    @cached_property
    def _objects(self) -> dict[str, frozenset[str]]:
        """For each tool the nouns it is about, crudely singular, from its name and first sentence."""
        return {name: frozenset(w.rstrip("s") for w in name_words(name) if w not in _COMMON and len(w) > 2) for name in self.names}

    def confusable(self, name: str) -> list[str]:
        """Tools that are easily taken for `name`, by the table of clusters or by the nouns of their names."""
        cluster = self._clusters.get(name)
        if cluster is not None:
            return sorted(cluster - {name})
        own = self._objects.get(name, frozenset())
        return [other for other in self.names if other != name and own & self._objects[other]]

    def draw(self, rng: random.Random, golden: list[str], absent: list[str], size: tuple[int, int], share: float) -> tuple[Tool, ...]:
        """A list with all golden tools, each at a uniform position, and none that could stand in for a golden or absent one.

        Args:
            golden: tools that must stand in the list.
            absent: tools asked for that must not (a `no_tool` sample); neither may their confusable ones.
        """
        wanted = max(rng.randint(*size), len(golden))
        blocked = {other for name in [*golden, *absent] for other in (name, *self._either(name))}
        blocked.update(other for name in absent for other in self.confusable(name))
        chosen: list[str] = []

        def take(names: list[str], up_to: int) -> None:
            rng.shuffle(names)
            for name in names:
                if len(chosen) >= up_to:
                    return
                if name not in blocked:
                    chosen.append(name)
                    blocked.update((name, *self._either(name)))

        others = wanted - len(golden)
        near = [name for target in golden for name in self.confusable(target)]
        take(sorted(set(near)), round(others * share))
        take(list(self.names), others)
        listed = [*chosen, *golden]
        rng.shuffle(listed)
        return tuple(self.pool[name] for name in listed)
