"""Gemini's Schema and JSON Schema, in both directions; properties are never taken for keywords."""

from __future__ import annotations

from typing import Any

from familytool.model import Json

MAX_DEPTH = 32
MAX_NODES = 20_000
_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
_COUNTS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
_KEPT = frozenset({"title", "description", "format", "pattern", "minimum", "maximum", "default", *_COUNTS})
_SNAKE = {"any_of": "anyOf", "property_ordering": "propertyOrdering", "min_items": "minItems", "max_items": "maxItems",
          "min_length": "minLength", "max_length": "maxLength", "min_properties": "minProperties", "max_properties": "maxProperties"}  # fmt: skip
"""Names of the Python client -> names of the API."""


def read_schema(schema: Json, path: str, notes: list[str], depth: int = 0) -> Json:
    """JSON Schema of a Gemini Schema.

    The format's own spellings (upper-case types, `nullable: true`, `propertyOrdering`, counts as text) are no repairs and
    give no note, unless the order of the properties changes or a value cannot be what it should be.

    Raises:
        ValueError: nested too deep.
    """
    if depth > MAX_DEPTH:
        raise ValueError(f"{path}: schemas nested deeper than {MAX_DEPTH} levels")
    if not isinstance(schema, dict):
        return schema
    result: dict[str, Any] = {}
    ordering: Json = None
    for given, value in schema.items():
        key: str = _SNAKE.get(given) or given
        here = f"{path}/{_escape(key)}"
        if key == "type" and isinstance(value, str) and value.isupper() and value.lower() in _TYPES:
            result[key] = value.lower()
        elif key == "type" and value == "TYPE_UNSPECIFIED":
            notes.append(f"{path}: type TYPE_UNSPECIFIED read as 'anything'")
        elif key == "properties" and isinstance(value, dict):
            result[key] = {name: read_schema(inner, f"{here}/{_escape(name)}", notes, depth + 1) for name, inner in value.items()}
        elif key == "items":
            result[key] = read_schema(value, here, notes, depth + 1)
        elif key == "anyOf" and isinstance(value, list):
            result[key] = [read_schema(inner, f"{here}/{index}", notes, depth + 1) for index, inner in enumerate(value)]
        elif key in _COUNTS and isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 16:
            result[key] = int(value)  # int64 in protobuf's JSON
        elif key == "propertyOrdering":
            ordering = value
        elif key == "format" and value == "enum":
            continue  # says only that there is an enum
        elif key == "nullable":
            if not isinstance(value, bool):
                notes.append(f"{here}: {type(value).__name__} {str(value)[:40]!r} where a truth value belongs; left out")
        else:
            result[key] = value
    if schema.get("nullable") is True:
        _make_nullable(result)
    if isinstance(result.get("properties"), dict) and ordering is not None:
        result["properties"] = _ordered(result["properties"], ordering, path, notes)
    return result


def _make_nullable(schema: dict[str, Any]) -> None:
    if isinstance(schema.get("type"), str) and schema["type"] != "null":
        schema["type"] = [schema["type"], "null"]
    elif isinstance(schema.get("anyOf"), list):
        schema["anyOf"] = [*schema["anyOf"], {"type": "null"}]
    if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]


def _ordered(properties: dict[str, Any], ordering: Json, path: str, notes: list[str]) -> dict[str, Any]:
    names = [name for name in ordering if isinstance(name, str)] if isinstance(ordering, list) else []
    known = [name for name in dict.fromkeys(names) if name in properties]
    if not isinstance(ordering, list) or len(known) != len(ordering):
        notes.append(f"{path}/propertyOrdering: {str(ordering)[:80]} has what is no property's name, or one twice; that is passed over")
    result = {name: properties[name] for name in (*known, *properties)}
    if list(result) != list(properties):
        notes.append(
            f"{path}/propertyOrdering: the properties {', '.join(properties)[:80]} are put into the order {', '.join(result)[:80]}"
        )
    return result


def written_schema(schema: dict[str, Json], notes: list[str], path: str = "#") -> dict[str, Any]:
    """The Gemini Schema of a JSON Schema; `notes` gets "pointer: what is lost" for each keyword that has no counterpart."""
    return _Writer(schema, notes).write(schema, path, (), 0)


class _Writer:
    """One schema on its way out: where references are looked up, how many nodes they may still become, what was lost."""

    def __init__(self, root: dict[str, Json], notes: list[str]) -> None:
        self.root = root
        self.notes = notes
        self.nodes_left = MAX_NODES  # references that double at every step would become 2**n nodes

    def write(self, node: Json, path: str, open_references: tuple[str, ...], depth: int) -> dict[str, Any]:
        self.nodes_left -= 1
        if node is True or node == {}:
            return {}
        if not isinstance(node, dict) or depth > 2 * MAX_DEPTH or self.nodes_left < 0:
            self.notes.append(f"{path}: {'nothing is allowed here, which' if node is False else 'what stands here'} is not written")
            return {}
        if isinstance(node.get("$ref"), str):
            return self._referenced(node, path, open_references, depth)
        result: dict[str, Any] = {}
        self._write_type(node, result, path)
        for key, value in node.items():
            here = f"{path}/{_escape(key)}"
            if key == "properties" and isinstance(value, dict):
                inner = {n: self.write(v, f"{here}/{_escape(n)}", open_references, depth + 1) for n, v in value.items()}
                result.update({"properties": inner, "propertyOrdering": list(inner)} if inner else {"properties": {}})
            elif key == "items":
                result["items"] = self.write(value, here, open_references, depth + 1)
            elif key in ("anyOf", "oneOf") and isinstance(value, list) and "anyOf" not in result:
                result["anyOf"] = [self.write(v, f"{here}/{i}", open_references, depth + 1) for i, v in enumerate(value)]
                if key == "oneOf":
                    self.notes.append(f"{path}: oneOf is written as anyOf, so several branches may match")
            elif key == "enum":
                self._write_enum(value, result, path)
            elif key == "required" or key in _KEPT:
                result[key] = value
            elif key in ("additionalProperties", "unevaluatedProperties") and value is False and path == "#":
                continue  # the reader closes the whole
            elif key not in ("type", "nullable", "$defs", "definitions"):
                self.notes.append(f"{path}: {key} is not written")
        return result

    def _referenced(self, node: dict[str, Any], path: str, open_references: tuple[str, ...], depth: int) -> dict[str, Any]:
        reference = node["$ref"]
        target = _resolve(self.root, reference)
        if reference in open_references or target is None:
            self.notes.append(f"{path}: $ref {reference[:80]} is {'circular' if target is not None else 'not local'}; written as anything")
            return {key: node[key] for key in ("title", "description") if key in node}
        self.notes.append(f"{path}: $ref {reference[:80]} is written out")
        beside = {key: value for key, value in node.items() if key != "$ref"}
        if replaced := sorted(beside.keys() & target.keys() - {"title", "description", "default"}):
            self.notes.append(f"{path}: {', '.join(replaced)} beside $ref replaces that of its target")
        return self.write({**target, **beside}, path, (*open_references, reference), depth + 1)

    def _write_type(self, node: dict[str, Any], result: dict[str, Any], path: str) -> None:
        given = node.get("type")
        types = list(dict.fromkeys(t for t in (given if isinstance(given, list) else [given]) if t in _TYPES))
        named = [t for t in types if t != "null"]
        if len(named) == 1:
            result["type"] = named[0].upper()
            allows_null = "null" in types or node.get("nullable") is True
            if allows_null and None in (node["enum"] if isinstance(node.get("enum"), list) else [None]):
                result["nullable"] = True
        elif named:
            result["anyOf"] = [{"type": t.upper()} for t in types]
            self.notes.append(f"{path}: the list of types is written as anyOf")
        elif types:
            result["type"] = "NULL"

    def _write_enum(self, value: Json, result: dict[str, Any], path: str) -> None:
        texts = [item for item in value if item is not None] if isinstance(value, list) else []
        if texts and all(isinstance(item, str) for item in texts):
            result["enum"] = texts
        else:
            self.notes.append(f"{path}: an enum of values that are not all texts is not written")


def _resolve(root: dict[str, Json], reference: str) -> dict[str, Json] | None:
    """The object a local JSON pointer leads to; None where there is none, or the reference is not local."""
    if reference == "#":
        return root
    if not reference.startswith("#/"):
        return None
    found: Json = root
    for part in reference[2:].split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, dict) or name not in found:
            return None
        found = found[name]
    return found if isinstance(found, dict) else None


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
