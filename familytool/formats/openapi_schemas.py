"""Schema objects of OpenAPI 2, 3.0 and 3.1 as JSON Schema 2020-12, their references gathered in one `$defs`."""

from __future__ import annotations

from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any
from urllib.parse import unquote

from familytool.model import Json

MAX_NODES = 20_000
MAX_DEFINITIONS = 1_000
MAX_BRANCHES = 1_000
_COMPONENTS = ("#/components/schemas/", "#/definitions/")
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SUBSCHEMAS = ("items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "not", "if", "then", "else", "contains", "propertyNames")  # fmt: skip
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_LEFT_OUT = ("discriminator", "xml", "externalDocs", "$id", "$schema", "$anchor", "$dynamicAnchor")
_ANNOTATIONS = frozenset({"description", "title", "example", "examples", "default", "deprecated", "readOnly", "writeOnly", "summary", "nullable", "$comment", "xml", "externalDocs", "discriminator", "$schema", "$id"})  # fmt: skip


def find(document: Json, reference: str) -> Json:
    """What a local reference (`#/components/schemas/Pet`) names, or None; nothing is ever fetched."""
    if not reference.startswith("#/"):
        return None
    node = document
    for part in reference[2:].split("/"):
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and name in node:
            node = node[name]
        elif isinstance(node, list) and name.isascii() and name.isdigit() and len(name) < 7 and int(name) < len(node):
            node = node[int(name)]
        else:
            return None
    return node


def followed(document: Json, node: Json) -> Json:
    """The object behind a chain of references; None where it ends outside of the document, nowhere or in a circle."""
    for _ in range(20):
        if not isinstance(node, dict) or not isinstance(node.get("$ref"), str):
            return node
        node = find(document, node["$ref"])
    return None


@dataclass
class Schemas:
    """The schemas of one tool, in one direction: a request has no readOnly members, a response no writeOnly ones."""

    document: Json
    hidden: str
    limit: int = MAX_NODES
    notes: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    nodes: int = 0

    def converted(self, node: Json, at: str) -> Any:
        """A schema object as JSON Schema; ValueError where the tool's schemas together are too large."""
        self.nodes += 1
        if self.nodes > self.limit:
            raise ValueError(f"its schemas have more than {self.limit:,} nodes")
        if not isinstance(node, dict):
            return node
        out: dict[str, Json] = {}
        for key, value in node.items():
            if key == "$ref" and isinstance(value, str):
                out[key] = self.reference(value, at)
            elif key in _MAPS and isinstance(value, dict):
                shown = {name: inner for name, inner in value.items() if key != "properties" or not self.is_hidden(inner)}
                out[key] = {name: self.converted(inner, f"{at}/{key}/{escape(name)}") for name, inner in shown.items()}
                if len(shown) < len(value):
                    self.note(f"{at}: {self.hidden} members {', '.join(sorted(set(value) - set(shown)))[:200]} left out")
            elif key in _SUBSCHEMAS and isinstance(value, dict):
                out[key] = self.converted(value, f"{at}/{key}")
            elif key in _LISTS and isinstance(value, list):
                out[key] = [self.converted(inner, f"{at}/{key}/{number}") for number, inner in enumerate(value)]
            elif key == "required" and isinstance(value, list):
                members = node.get("properties")
                gone = {name for name, inner in members.items() if self.is_hidden(inner)} if isinstance(members, dict) else set()
                out[key] = [name for name in value if not (isinstance(name, str) and name in gone)]
            elif key in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(value, bool):
                self.note(f"{at}: {key} {str(value).lower()} of OpenAPI 3.0 read as its number")
            elif key in _LEFT_OUT:
                self.note(f"{at}: {key} left out")
            elif key == "example":
                out.setdefault("examples", [value])
            elif key not in ("nullable", "x-nullable", "readOnly", "writeOnly"):
                out[key] = value
        for limit, strict in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if node.get(strict) is True and limit in out:
                out[strict] = out.pop(limit)
        if out.get("type") == "file":
            out["type"] = "string"
            self.note(f"{at}: type 'file' read as string")
        if node.get("nullable") is True or node.get("x-nullable") is True:
            self.note(f"{at}: nullable read as 'or null'")
            return _or_null(out)
        return out

    def reference(self, target: str, at: str) -> str:
        """The reference into `$defs`; one that leads nowhere or outside stays as it is, with a note."""
        if target not in self.names and find(self.document, target) is None:
            self.note(
                f"{at}: $ref {target[:120]} {'leads nowhere' if target.startswith('#') else 'leaves the document and is not fetched'}"
            )
            return target
        if target not in self.names:
            short = next((target.removeprefix(start) for start in _COMPONENTS if target.startswith(start)), "")
            plain = short if short and "/" not in short else target[2:].replace("/", ".")
            name = unquote(plain).replace("~1", "/").replace("~0", "~")
            while name in self.names.values():
                name += "_"
            self.names[target] = name
        return f"#/$defs/{escape(self.names[target])}"

    def definitions(self) -> dict[str, Json]:
        """The `$defs` of all that was converted so far, and of what that needs; references that only go in a circle mean 'anything'."""
        found: dict[str, Json] = {}
        while len(found) < len(self.names):
            if len(self.names) > MAX_DEFINITIONS:
                raise ValueError(f"its schemas need more than {MAX_DEFINITIONS:,} definitions")
            for target, name in list(self.names.items()):
                if name not in found:
                    found[name] = self.converted(find(self.document, target), f"#/$defs/{escape(name)}")
        graph = {f"#/$defs/{escape(name)}": _in_place(schema) for name, schema in found.items()}
        by_pointer = {f"#/$defs/{escape(name)}": name for name in found}
        while True:
            try:
                TopologicalSorter(graph).prepare()
                return found
            except CycleError as error:
                pointer = min(error.args[1])
                graph[pointer] = []
                found[by_pointer[pointer]] = {}
                self.note(f"{pointer}: refers to itself without an end; read as 'anything'")

    def is_hidden(self, member: Json) -> bool:
        """Whether a member has no place in this direction."""
        return _says(member, self.hidden) or _says(followed(self.document, member), self.hidden)

    def note(self, text: str) -> None:
        """Keep a note once."""
        if text not in self.notes and len(self.notes) < 1_000:
            self.notes.append(text)


@dataclass
class Members:
    """The members of an object schema, all branches of its allOf together: name -> the schemas it has to satisfy."""

    properties: dict[str, list[Json]] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    additional: Json = None


def members_of(document: Json, node: Json, seen: tuple[str, ...] = (), visited: list[int] | None = None) -> Members | None:
    """The members of an object schema, or None where it is more than a list of members (anyOf, minProperties, no object, a circle)."""
    visited = visited if visited is not None else [0]
    visited[0] += 1  # branches that share branches would double at each level
    if not isinstance(node, dict) or len(seen) > 20 or visited[0] > MAX_BRANCHES:
        return None
    extra = {key for key in node if not key.startswith("x-")} - _ANNOTATIONS
    if "$ref" in node:
        target = node["$ref"]
        if not isinstance(target, str) or target in seen or extra != {"$ref"}:
            return None
        return members_of(document, find(document, target), (*seen, target), visited)
    kind = node.get("type", "object")
    if extra - {"type", "properties", "required", "allOf", "additionalProperties"} or "object" not in (
        kind if isinstance(kind, list) else [kind]
    ):
        return None
    own, required, branches = node.get("properties", {}), node.get("required", []), node.get("allOf", [])
    if not isinstance(own, dict) or not isinstance(required, list) or not isinstance(branches, list):
        return None
    found = Members(additional=node.get("additionalProperties"))
    for branch in branches:
        inner = members_of(document, branch, (*seen, ""), visited)
        if inner is None:
            return None
        for name, schemas in inner.properties.items():
            found.properties.setdefault(name, []).extend(schemas)
        found.required += inner.required
        found.additional = inner.additional if found.additional is None else found.additional
    for name, schema in own.items():
        found.properties.setdefault(name, []).append(schema)
    found.required = list(dict.fromkeys([*found.required, *(name for name in required if isinstance(name, str))]))
    return found


def _in_place(schema: Json) -> list[str]:
    """The references that apply to the same value as the schema itself."""
    if not isinstance(schema, dict):
        return []
    found = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
    inner = [branch for key in ("allOf", "anyOf", "oneOf") if isinstance(schema.get(key), list) for branch in schema[key]]
    inner += [schema[key] for key in ("not", "if", "then", "else") if key in schema]
    inner += list(schema["dependentSchemas"].values()) if isinstance(schema.get("dependentSchemas"), dict) else []
    return found + [reference for branch in inner for reference in _in_place(branch)]


def _or_null(schema: dict[str, Json]) -> dict[str, Json]:
    kind = schema.get("type")
    if isinstance(kind, str | list) and not {"allOf", "anyOf", "oneOf", "$ref", "const"} & set(schema):
        types = [kind] if isinstance(kind, str) else kind
        values = {"enum": [*schema["enum"], None]} if isinstance(schema.get("enum"), list) and None not in schema["enum"] else {}
        return {**schema, "type": types if "null" in types else [*types, "null"], **values}
    texts: dict[str, Json] = {key: schema[key] for key in ("title", "description", "default", "examples") if key in schema}
    rest = {key: value for key, value in schema.items() if key not in texts}
    return {**texts, "anyOf": [rest, {"type": "null"}]} if rest else schema


def _says(node: Json, key: str) -> bool:
    return isinstance(node, dict) and node.get(key) is True


def escape(name: str) -> str:
    """A name as a part of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")
