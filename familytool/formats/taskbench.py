"""TaskBench tool descriptions (microsoft/JARVIS, MIT): `tool_desc.json` with `nodes` of two shapes.

Daily-life nodes list named parameters, of which all are read as required. The nodes of the other two domains have only
`input-type` and `output-type`: the types of unnamed inputs in order. Those inputs are named after their types here
('image', 'image_2'), since a call needs names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from familytool.formats.entries import as_list, made_tool, most_fit, note_default, object_of, pointer
from familytool.formats.openai import shown
from familytool.formats.rows import read_rows
from familytool.model import Json, Tool

NAME = "taskbench"
CARRIES = "names, descriptions, parameters of type string or date, or only the types of inputs and outputs"
LOST = ""
CONTAINER = "json"

MAX_INPUTS = 100
_CONTENT = {"text": "text", "url": "a URL", "image": "an image, by file name or URL", "audio": "an audio file, by name or URL",
            "video": "a video, by file name or URL"}  # fmt: skip


def looks_like(value: Json) -> bool:
    """Whether this is a TaskBench description file, a list of its nodes, or one of them."""
    return most_fit(_nodes(value), _fits)


def _fits(node: Json) -> bool:
    if not isinstance(node, dict) or not isinstance(node.get("id"), str) or not isinstance(node.get("desc"), str):
        return False
    return isinstance(node.get("parameters"), list) or isinstance(node.get("input-type"), list)


def _nodes(value: Json) -> list[Json]:
    return as_list(value["nodes"] if isinstance(value, dict) and "nodes" in value else value)


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """The distinct nodes; entries that are none go into `rejected` (DocumentError: nothing here is TaskBench)."""
    yield from read_rows(records, _documents, _tool, rejected)


def _documents(row: Json) -> list[Json]:
    if not looks_like(row):
        raise ValueError(f"{shown(row)} is no TaskBench node, nor an object with nodes")
    return _nodes(row)


def _tool(node: Json, place: str, _: int) -> Tool:
    if not isinstance(node, dict):
        raise ValueError(f"{shown(node)} is no node")
    notes: list[str] = []
    if "parameters" in node:
        schema = _named(node["parameters"], notes)
    elif "input-type" in node:
        schema = _typed(node["input-type"], notes)
    else:
        raise ValueError("it has neither parameters nor an input-type")
    outputs = {
        name: {"type": "string", "description": _meant(kind)} for name, kind in _numbered(node.get("output-type", []), "output-type")
    }
    said = {"name": node.get("id"), "description": node.get("desc")}
    return made_tool({"format": NAME, "place": place}, node, said, schema, object_of(outputs), notes)


def _named(listed: Json, notes: list[str]) -> dict[str, Json] | None:
    """The schema of a list of `{name, type, desc}`."""
    if not isinstance(listed, list):
        raise ValueError(f"parameters is {shown(listed)}, not a list")
    properties: dict[str, Json] = {}
    for index, parameter in enumerate(listed):
        name = parameter.get("name") if isinstance(parameter, dict) else None
        if not isinstance(name, str) or not name:
            notes.append(f"/parameters/{index}: {shown(parameter)} has no name; left out")
            continue
        here = pointer("properties", name)
        if name in properties:
            notes.append(f"/parameters/{index}: a second '{name}', {shown(parameter)}; left out")
            continue
        schema = {("description" if key == "desc" else key): value for key, value in parameter.items() if key != "name"}
        if schema.get("type") == "date":
            schema["type"] = "string"
            notes.append(f"{here}: type 'date' read as string; how a date is written is not said")
        note_default(schema, here, notes)
        properties[name] = schema
    if properties:
        notes.append("#: which parameters are required is not said; all are read as required")
    return {"type": "object", "properties": properties, "required": list(properties)} if properties else None


def _typed(kinds: Json, notes: list[str]) -> dict[str, Json] | None:
    """The schema of a list of input types, one text each."""
    properties: dict[str, Json] = {}
    for name, kind in _numbered(kinds, "input-type"):
        properties[name] = {"type": "string", "description": _meant(kind)}
        notes.append(f"{pointer('properties', name)}: input-type '{kind}' read as a string of that name; the document gives no names")
    return {"type": "object", "properties": properties, "required": list(properties)} if properties else None


def _meant(kind: str) -> str:
    return _CONTENT.get(kind.lower(), kind)


def _numbered(kinds: Json, key: str) -> Iterator[tuple[str, str]]:
    """(name, type) of each type of the list; the second of a type gets the name `TYPE_2` (ValueError: no list of texts)."""
    if not isinstance(kinds, list) or len(kinds) > MAX_INPUTS or not all(isinstance(kind, str) and kind for kind in kinds):
        raise ValueError(f"{key} is no list of at most {MAX_INPUTS} type names")
    taken: set[str] = set()
    for kind in kinds:
        name, number = kind, 1
        while name in taken:
            number += 1
            name = f"{kind}_{number}"
        taken.add(name)
        yield name, kind
