"""Accepted alternatives of a value (`{"$any": [...], "optional": true}`), each seen as a whole call that holds it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from familytool.model import Json
from familytool.validation.special_values import Path


class Variant(NamedTuple):
    """A call's arguments with one alternative of one value, the place of that value, and where it stands as written.

    `place` () is the whole call with the first alternative of every value. `written` is the place of the alternative in the sample;
    `is_omission` is the variant in which the value is left out.
    """

    arguments: dict[str, Json]
    place: Path
    written: Path
    is_omission: bool = False


def is_choice(value: Json) -> bool:
    """Whether a value is a list of accepted alternatives."""
    return isinstance(value, dict) and isinstance(value.get("$any"), list) and value.keys() <= {"$any", "optional"}


def has_choice(value: Json) -> bool:
    """Whether a value is such a list, or holds one."""
    if is_choice(value):
        return True
    return isinstance(value, dict | list) and any(map(has_choice, value.values() if isinstance(value, dict) else value))


_LEFT_OUT = object()


def variants(arguments: dict[str, Json]) -> Iterator[Variant]:
    """The call with the first alternative everywhere, then with each alternative of each value in turn, the others being first."""
    first: dict[str, Json] = _first(arguments)
    yield Variant(first, (), ())
    yield from _each(arguments, first, (), ())


def _each(written: Json, first: dict[str, Json], place: Path, at: Path) -> Iterator[Variant]:
    if is_choice(written):
        for index, value in enumerate(written["$any"]):
            if value == "" and written.get("optional") is True:
                continue
            here = _with(first, place, _first(value))
            yield Variant(here, place, (*at, "$any", index))
            yield from _each(value, here, place, (*at, "$any", index))
        if written.get("optional") is True or "" in written["$any"]:
            yield Variant(_with(first, place, _LEFT_OUT), place, at, is_omission=True)
    elif isinstance(written, dict):
        for name, value in written.items():
            yield from _each(value, first, (*place, name), (*at, name))
    elif isinstance(written, list):
        for index, value in enumerate(written):
            yield from _each(value, first, (*place, index), (*at, index))


def _first(value: Json) -> Any:
    """A value with the first alternative of every choice in it; an object's choice without one is left out."""
    if is_choice(value):
        return _first(value["$any"][0]) if value["$any"] else _LEFT_OUT
    if isinstance(value, dict):
        return {name: inner for name, given in value.items() for inner in [_first(given)] if inner is not _LEFT_OUT}
    if isinstance(value, list):
        return [inner for given in value for inner in [_first(given)] if inner is not _LEFT_OUT]
    return value


def _with(value: Json, place: Path, new: Any) -> Any:
    """A copy in which this place holds something else, or is left out."""
    if not place:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    if len(place) == 1 and new is _LEFT_OUT:
        if isinstance(copy, dict):
            copy.pop(place[0], None)
        return copy
    if isinstance(copy, list) and int(place[0]) >= len(copy):  # an item before it has no alternatives, and is not there
        return copy
    copy[place[0]] = _with(copy.get(place[0]) if isinstance(copy, dict) else copy[place[0]], place[1:], new)
    return copy
