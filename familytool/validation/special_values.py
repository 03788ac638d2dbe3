"""Values that stand in arguments for others: what a schema can say of them, and what it cannot."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from familytool.model import Json

Path: TypeAlias = tuple[str | int, ...]
"""A place in arguments: names and indexes, from the arguments on."""

Standing: TypeAlias = Mapping[Path, Literal["open", "entity"]]
"""Places whose value is not known yet (a reference, a hole: legal everywhere), or is a placeholder of a graph's entity."""


MAX_STEPS = 20_000
"""So many references are followed for one value: a schema that refers to itself twice would otherwise take exponential time."""


class TooManySteps(ValueError):
    """A schema whose references multiply."""


class _Run(threading.local):
    """What concerns one validation: the steps that are left, and whether some value is not known yet."""

    steps = MAX_STEPS
    has_open = False

    def spend(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise TooManySteps(f"more than {MAX_STEPS:,} references are followed")

    def is_open(self, value: Any) -> bool:
        return self.has_open and holds_open(value)


run = _Run()


class Open:
    """Stands in the arguments for a value that only a run would give: no keyword judges it."""

    __slots__ = ("text",)

    def __init__(self, text: Json) -> None:
        self.text = text

    def __repr__(self) -> str:
        return repr(self.text)


class Entity(str):
    """A placeholder such as `appointment_time_0002`: it is a text, and its form says nothing about the value it stands for."""

    __slots__ = ()


def stood_in(arguments: Json, standing: Standing) -> Any:
    """The arguments with `Open` and `Entity` where these stand; everything else is shared with the original."""
    kind = standing.get(())
    if kind is not None:
        return Open(arguments) if kind == "open" else Entity(arguments) if isinstance(arguments, str) else arguments
    inside: dict[str | int, dict[Path, Literal["open", "entity"]]] = {}
    for path, kind in standing.items():
        inside.setdefault(path[0], {})[path[1:]] = kind
    copy: Any = dict(arguments) if isinstance(arguments, dict) else list(arguments)
    for part, rest in inside.items():
        copy[part] = stood_in(copy[part], rest)
    return copy


def holds_open(value: Any) -> bool:
    """Whether a value is open, or one inside it is."""
    if isinstance(value, dict | list):
        return any(holds_open(inner) for inner in (value.values() if isinstance(value, dict) else value))
    return isinstance(value, Open)


def value_at(value: Json, path: Path) -> Json:
    """The value at a place that exists."""
    for part in path:
        value = value[part]
    return value


def pointer_of(path: Path) -> str:
    """A place as a JSON pointer.

    >>> pointer_of(("a/b", 0))
    '/a~1b/0'
    """
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
