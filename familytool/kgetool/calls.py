"""Golden and predicted calls in the form in which they are compared."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .rows import listed
from .strict_json import Json
from .values import content_key, nfc, nfc_keys, normal

SOURCES = ("graph", "query", "document")


class Argument(NamedTuple):
    """A golden argument: any of `choices` is right, so is none if `optional`; `source` says where the value comes from."""

    choices: tuple[Json, ...]
    optional: bool
    source: str


class GoldenCall(NamedTuple):
    """A golden call; `key` is equal for calls of equal content."""

    name: str
    arguments: dict[str, Argument]
    key: str


class Call(NamedTuple):
    """A predicted call; name None is not a call at all, arguments None are not an object."""

    name: str | None
    arguments: dict[str, Json] | None
    key: str


def read_golden_calls(calls: Json, sources: Callable[[int, str, str], str], where: str) -> list[GoldenCall]:
    """The golden calls of a list (ValueError if one is none: a reference is not repaired)."""
    result = []
    for place, call in enumerate(listed(calls, where)):
        if not isinstance(call, Mapping) or not isinstance(call.get("name"), str) or not isinstance(call.get("arguments"), Mapping):
            raise ValueError(f"{where}[{place}] is no call; give {{name, arguments}} with an object of arguments.")
        name = nfc(call["name"])
        arguments = {}
        for parameter, value in nfc_keys(call["arguments"]).items():
            choices, optional = [value], False
            if isinstance(value, Mapping) and isinstance(value.get("$any"), list | tuple) and value.keys() <= {"$any", "optional"}:
                choices, optional = list(value["$any"]), value.get("optional") is True
            arguments[parameter] = Argument(tuple(map(normal, choices)), optional, sources(place, name, parameter))
        parts = (f"{json.dumps(p)}:{[content_key(c) for c in a.choices]}{a.optional}{a.source}" for p, a in arguments.items())
        result.append(GoldenCall(name, arguments, ",".join(sorted(parts))))
    return result


def read_calls(calls: Json, where: str) -> list[Call]:
    """The predicted calls; what is no call, or has no object of arguments, stays in the list as such."""
    result = []
    for call in listed(calls, f"prediction {where}: calls"):
        if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
            result.append(Call(None, None, ""))
        elif not isinstance(call.get("arguments"), Mapping):
            result.append(Call(nfc(call["name"]), None, ""))
        else:
            arguments = {parameter: normal(value) for parameter, value in nfc_keys(call["arguments"]).items()}
            result.append(Call(nfc(call["name"]), arguments, content_key(arguments)))
    return result


def read_sources(reference: Mapping[str, Any], where: str) -> Callable[[int, str, str], str]:
    """A function from (place, tool, parameter) to the source of the golden value, "" where none is given.

    Where pointers lead into one value from several sources, the graph wins over the query, and the query over the document.
    A call of an alternative takes the sources of the golden call at its place, or of the first of its name.
    """
    calls = listed(reference["calls"], f"reference {where}: calls")
    names = [nfc(call["name"]) if isinstance(call, Mapping) and isinstance(call.get("name"), str) else "" for call in calls]
    found: dict[tuple[int, str], str] = {}
    stated = reference.get("argument_sources") or {}
    if not isinstance(stated, Mapping):
        raise ValueError(f"reference {where}: argument_sources is a {type(stated).__name__}; give a mapping from JSON pointers.")
    for pointer, entry in stated.items():
        source = entry.get("source") if isinstance(entry, Mapping) else None
        if source not in SOURCES:
            raise ValueError(
                f"reference {where}: argument_sources[{pointer!r}] has the source {source!r}; give one of {', '.join(SOURCES)}."
            )
        parts = [part.replace("~1", "/").replace("~0", "~") for part in str(pointer).split("/")]
        place = int(parts[1]) if len(parts) > 1 and re.fullmatch(r"[0-9]{1,6}", parts[1]) else len(calls)
        arguments = calls[place].get("arguments") if place < len(calls) and isinstance(calls[place], Mapping) else None
        if parts[0] == "" and parts[2:] == ["name"] and arguments is not None:
            continue  # where the tool's name comes from: no argument
        if (
            parts[0] != ""
            or parts[2:3] != ["arguments"]
            or not isinstance(arguments, Mapping)
            or parts[3:4] == []
            or parts[3] not in arguments
        ):
            raise ValueError(
                f"reference {where}: argument_sources[{pointer!r}] leads to no argument of its calls; write /0/arguments/city."
            )
        spot = (place, nfc(parts[3]))
        found[spot] = min(found.get(spot, source), source, key=SOURCES.index)

    def source_of(place: int, name: str, parameter: str) -> str:
        if place >= len(names) or names[place] != name:
            place = names.index(name) if name in names else -1
        return found.get((place, parameter), "")

    return source_of
