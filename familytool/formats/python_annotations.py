"""Python annotations as JSON Schema, from the syntax tree alone."""

from __future__ import annotations

import ast
import json
import math
from dataclasses import dataclass, field

from familytool.model import Json

_PLAIN: dict[str, dict[str, Json]] = {
    "str": {"type": "string"}, "int": {"type": "integer"}, "float": {"type": "number"}, "bool": {"type": "boolean"},
    "None": {"type": "null"}, "NoneType": {"type": "null"}, "complex": {"type": "string"}, "bytes": {"type": "string"},
    "Decimal": {"type": "number"}, "Fraction": {"type": "number"}, "Number": {"type": "number"}, "LiteralString": {"type": "string"},
    "date": {"type": "string", "format": "date"}, "datetime": {"type": "string", "format": "date-time"},
    "time": {"type": "string", "format": "time"}, "timedelta": {"type": "string", "format": "duration"},
    "UUID": {"type": "string", "format": "uuid"}, "Path": {"type": "string"}, "Any": {}, "object": {},
    "dict": {"type": "object"}, "Dict": {"type": "object"}, "Mapping": {"type": "object"}, "MutableMapping": {"type": "object"},
    "OrderedDict": {"type": "object"}, "defaultdict": {"type": "object"},
    "string": {"type": "string"}, "integer": {"type": "integer"}, "number": {"type": "number"}, "boolean": {"type": "boolean"},
}  # fmt: skip
_ARRAYS = frozenset({"list", "List", "Sequence", "MutableSequence", "Iterable", "Collection", "Iterator", "deque", "tuple", "Tuple"})
_SETS = frozenset({"set", "Set", "frozenset", "FrozenSet", "AbstractSet", "MutableSet"})
_WRAPPERS = frozenset({"Annotated", "Required", "NotRequired", "ReadOnly", "Final", "ClassVar", "InitVar", "Awaitable"})
_ENUMS = frozenset({"Enum", "StrEnum", "IntEnum"})
_RECORDS = frozenset({"TypedDict", "NamedTuple", "BaseModel"})
MAX_DEPTH = 12
MAX_NODES = 10_000


@dataclass
class Types:
    """The classes and aliases of one file, and what one function uses of them."""

    classes: dict[str, ast.ClassDef]
    aliases: dict[str, ast.expr]
    used: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    visited: int = 0

    def schema(self, node: ast.expr | None, at: str, depth: int = 0) -> dict[str, Json]:
        """The schema of an annotation; what has no counterpart is 'anything', with a note."""
        if node is None:
            return {}
        self.visited += 1  # aliases that name each other twice would double at each level
        if depth > MAX_DEPTH or self.visited > MAX_NODES:
            return self.unknown(at, "an annotation too deep or too large")
        if isinstance(node, ast.Constant) and node.value is None:
            return {"type": "null"}
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            inner = expression(node.value)
            return self.schema(inner, at, depth + 1) if inner is not None else self.unknown(at, f"annotation {node.value[:60]!r}")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self.union(_alternatives(node), at, depth)
        if isinstance(node, ast.Subscript):
            return self.subscript(node, at, depth)
        name = last_name(node)
        if name in self.classes and self.kind_of(self.classes[name]):
            if name not in self.used:
                self.used.append(name)
            return {"$ref": f"#/$defs/{name}"}
        if name in self.aliases:
            return self.schema(self.aliases[name], at, depth + 1)
        if name in _PLAIN:
            return dict(_PLAIN[name])
        if name in _ARRAYS or name in _SETS:
            return {"type": "array"} | ({"uniqueItems": True} if name in _SETS else {})
        return self.unknown(at, f"annotation {_shown(node)}")

    def subscript(self, node: ast.Subscript, at: str, depth: int) -> dict[str, Json]:
        """The schema of `list[int]`, `Optional[str]`, `Literal['a']` and their like."""
        name = last_name(node.value)
        inner = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Literal":
            values = [literal(item) for item in inner]
            fine = [value[0] for value in values if value is not None]
            if len(fine) < len(values):
                self.notes.append(f"{at}: {ast.unparse(node)[:60]!r} holds what is no literal; read as 'anything'")
                return {}
            return enumeration(fine)
        if name == "Optional":
            return self.union([*inner[:1], ast.Constant(None)], at, depth)
        if name == "Union":
            return self.union(inner, at, depth)
        if name in _WRAPPERS and inner:
            schema = self.schema(inner[0], at, depth + 1)
            texts = [item.value for item in inner[1:] if isinstance(item, ast.Constant) and isinstance(item.value, str)]
            return {**schema, "description": texts[0]} if name == "Annotated" and texts else schema
        if name in ("tuple", "Tuple") and not (len(inner) == 2 and isinstance(inner[1], ast.Constant) and inner[1].value is ...):
            items = [self.schema(item, f"{at}/prefixItems/{number}", depth + 1) for number, item in enumerate(inner)]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)} if items else {"type": "array"}
        if name in _ARRAYS or name in _SETS:
            return {"type": "array", "items": self.schema(inner[0], f"{at}/items", depth + 1)} | (
                {"uniqueItems": True} if name in _SETS else {}
            )
        if _PLAIN.get(name) == {"type": "object"}:
            values_of = self.schema(inner[1], f"{at}/additionalProperties", depth + 1) if len(inner) > 1 else {}
            return {"type": "object"} | ({"additionalProperties": values_of} if values_of else {})
        return self.unknown(at, f"annotation {_shown(node)}")

    def union(self, nodes: list[ast.expr], at: str, depth: int) -> dict[str, Json]:
        """A choice; NotGiven, which stands for an argument left out, is no alternative."""
        found: list[dict[str, Json]] = []
        for node in nodes:
            if last_name(node) in ("NotGiven", "NOT_GIVEN"):
                self.notes.append(f"{at}: NotGiven stands for 'left out'; no alternative of its own")
            elif (schema := self.schema(node, at, depth + 1)) not in found:
                found.append(schema)
        if len(found) == 1:
            return found[0]
        if {} in found:
            return {}
        if all(set(schema) == {"type"} and isinstance(schema["type"], str) for schema in found):
            return {"type": [schema["type"] for schema in found]}
        return {"anyOf": found} if found else {}

    def definitions(self) -> dict[str, Json]:
        """The schemas of the classes used so far and of those that they need."""
        found: dict[str, Json] = {}
        while len(found) < len(self.used):
            name = self.used[len(found)]
            node = self.classes[name]
            found[name] = enum_schema(node, self.notes) if self.kind_of(node) == "enum" else self.record(node)
            if description := ast.get_docstring(node):
                found[name]["description"] = description
        return found

    def record(self, node: ast.ClassDef) -> dict[str, Json]:
        """A dataclass, TypedDict, NamedTuple or pydantic model as an object."""
        properties: dict[str, Json] = {}
        required: list[str] = []
        for total, part in ((_is_total(owner), part) for owner in reversed(self.lineage(node)) for part in owner.body):
            if not isinstance(part, ast.AnnAssign) or not isinstance(part.target, ast.Name) or part.target.id.startswith("_"):
                continue
            name, outer = part.target.id, last_name(part.annotation.value) if isinstance(part.annotation, ast.Subscript) else ""
            if outer == "ClassVar":
                continue
            at = f"#/$defs/{node.name}/properties/{name}"
            properties[name] = self.schema(part.annotation, at)
            if part.value is not None and (default := literal(part.value)) is not None:
                properties[name]["default"] = default[0]
            if (part.value is None and total and outer != "NotRequired") or outer == "Required":
                required.append(name)
        required = [name for name in properties if name in required]
        return {"type": "object", "properties": properties, "additionalProperties": False} | ({"required": required} if required else {})

    def lineage(self, node: ast.ClassDef) -> list[ast.ClassDef]:
        """The class and those of its bases that stand in the same file."""
        chain = [node]
        for owner in chain:
            parents = (self.classes.get(last_name(base)) for base in owner.bases)
            chain += [parent for parent in parents if parent is not None and parent not in chain][:20]
        return chain

    def kind_of(self, node: ast.ClassDef) -> str:
        """'enum', 'record' (dataclass, TypedDict, NamedTuple, pydantic model) or '' for any other class; inherited."""
        return next((kind for owner in self.lineage(node) if (kind := _own_kind(owner))), "")

    def unknown(self, at: str, what: str) -> dict[str, Json]:
        """The schema of what is not known."""
        if len(self.notes) < 1_000:
            self.notes.append(f"{at}: {what} has no counterpart; read as 'anything'")
        return {}


def _is_total(node: ast.ClassDef) -> bool:
    return not any(k.arg == "total" and isinstance(k.value, ast.Constant) and k.value.value is False for k in node.keywords)


def _own_kind(node: ast.ClassDef) -> str:
    bases = {last_name(base) for base in node.bases}
    if bases & _ENUMS:
        return "enum"
    decorators = {last_name(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list}
    return "record" if bases & _RECORDS or "dataclass" in decorators else ""


def enum_schema(node: ast.ClassDef, notes: list[str]) -> dict[str, Json]:
    """The values of an enum class; a member whose value is no literal (`auto()`) stands with its name, and a note."""
    values: list[Json] = []
    for part in node.body:
        if (
            isinstance(part, ast.Assign)
            and len(part.targets) == 1
            and isinstance(part.targets[0], ast.Name)
            and part.targets[0].id[0] != "_"
        ):
            value = literal(part.value)
            if value is None:
                notes.append(f"#/$defs/{node.name}: the value of {part.targets[0].id} is no literal; its name stands for it")
            values.append(part.targets[0].id if value is None else value[0])
    return enumeration(values)


def enumeration(values: list[Json]) -> dict[str, Json]:
    """An enum of these values, with their type where it is one."""
    kinds = {type(value) for value in values}
    name = {str: "string", int: "integer", float: "number", bool: "boolean"}.get(next(iter(kinds))) if len(kinds) == 1 else None
    distinct = list({json.dumps(value): value for value in values}.values())
    return ({"type": name} if name else {}) | ({"enum": distinct} if distinct else {})


def literal(node: ast.expr) -> tuple[Json] | None:
    """The value of a literal that JSON can hold, in a tuple of one; None where it is no such literal."""
    try:
        value = ast.literal_eval(node)
        value = list(value) if isinstance(value, tuple) else value
        if isinstance(value, bytes | complex | set) or (isinstance(value, float) and not math.isfinite(value)):
            return None
        return (value,) if json.loads(json.dumps(value, allow_nan=False)) == value else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def expression(text: str) -> ast.expr | None:
    """A text as a Python expression, or None."""
    try:
        return ast.parse(text.strip(), mode="eval").body if len(text) <= 1_000 else None
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def last_name(node: ast.expr) -> str:
    """`Literal` of `typing.Literal`; '' for anything that is no name."""
    return (
        node.attr
        if isinstance(node, ast.Attribute)
        else node.id
        if isinstance(node, ast.Name)
        else "None"
        if isinstance(node, ast.Constant) and node.value is None
        else ""
    )


def _alternatives(node: ast.expr) -> list[ast.expr]:
    found: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and len(found) < 100:
        found.insert(0, node.right)
        node = node.left
    return [node, *found]


def _shown(node: ast.expr) -> str:
    try:
        return ast.unparse(node)[:60]
    except (RecursionError, ValueError):
        return type(node).__name__
