"""What the scorer reads of the candidate tools of a sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .rows import listed
from .strict_json import Json
from .values import nfc, normal


class Tool(NamedTuple):
    """What the scorer reads of a tool's schema; `defaults` are in normal form."""

    properties: dict[str, Mapping[str, Any]]
    defaults: dict[str, Json]
    required: frozenset[str]
    closed: bool


NO_TOOL = Tool({}, {}, frozenset(), closed=False)

TYPES: dict[str, Callable[[Json], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer())),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def read_tools(reference: Mapping[str, Any], names: set[str], where: str) -> tuple[dict[str, Tool], set[str] | None]:
    """The schemas of the tools of these names, and the names of all candidates (None: the reference lists none)."""
    if reference.get("candidate_tools") is None:
        return {}, None
    tools: dict[str, Tool] = {}
    offered: set[str] = set()
    for entry in listed(reference["candidate_tools"], f"reference {where}: candidate_tools"):
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            raise ValueError(f"reference {where}: candidate_tools has an entry without a name; give {{name, parameters}}.")
        name = nfc(entry["name"])
        offered.add(name)
        if name in names and name not in tools:
            tools[name] = _read_tool(entry.get("parameters"))
    return tools, offered


def _read_tool(schema: Json) -> Tool:
    if not isinstance(schema, Mapping) or not isinstance(schema.get("properties"), Mapping):
        return NO_TOOL
    properties = {nfc(str(name)): entry if isinstance(entry, Mapping) else {} for name, entry in schema["properties"].items()}
    defaults = {name: normal(entry["default"]) for name, entry in properties.items() if "default" in entry}
    required = schema.get("required")
    names = frozenset(nfc(name) for name in required if isinstance(name, str)) if isinstance(required, list | tuple) else frozenset()
    # House rule: closed unless the document says otherwise.
    return Tool(properties, defaults, names, closed=schema.get("additionalProperties", False) is False)


def property_of(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The schema of a property; empty if there is none."""
    properties = schema.get("properties")
    entry = properties.get(name) if isinstance(properties, Mapping) else None
    return entry if isinstance(entry, Mapping) else {}
