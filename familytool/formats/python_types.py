"""Types as Python writes them in the texts of tool documents (`List[Union[int, float]]`, `str, optional`), and JSON Schema.

The texts are read by a small grammar and never evaluated.
"""

from __future__ import annotations

from typing import Any

from familytool.formats.schema import STANDARD_TYPES, TYPES
from familytool.model import Json

MAX_TEXT = 300
MAX_DEPTH = 12
_OPEN, _CLOSE = "[(", "])"
_PYTHON = {"object": "dict", "integer": "int", "number": "float", "boolean": "bool", "string": "str", "array": "list", "null": "None"}
_FORMATS = {"datetime": "date-time", "date": "date", "time": "time"}


def schema_of(text: str) -> tuple[dict[str, Json], bool]:
    """The schema that a type's text means, and whether it says that the parameter may be absent.

    `Optional[X]` is X or null, and may be absent. A tuple with a type per place keeps the places as prefixItems.

    >>> schema_of("List[Union[int, float]], optional")
    ({'type': 'array', 'items': {'type': ['integer', 'number']}}, True)
    >>> schema_of("Dict[str, bool]")
    ({'type': 'object', 'additionalProperties': {'type': 'boolean'}}, False)

    Raises:
        ValueError: a text that is no such type; the message says what is wrong with it.
    """
    if len(text) > MAX_TEXT:
        raise ValueError(f"a type of {len(text)} characters")
    parts = _split(text)
    optional = any(part.lower().startswith(("optional", "default")) for part in parts[1:])
    if any(not part.lower().startswith(("optional", "default", "required")) for part in parts[1:]):
        raise ValueError("more than one type beside each other")
    return _schema(parts[0], 0), optional or _head(parts[0])[0] == "optional"


def text_of_type(schema: Json) -> str:
    """The type's text of a schema; what Python's names cannot say (enumerations, ranges, nested properties) is not in it.

    >>> text_of_type({"type": "array", "items": {"type": ["integer", "null"]}})
    'List[Union[int, None]]'
    """
    if not isinstance(schema, dict):
        return "Any"
    kind = schema.get("type")
    if isinstance(kind, list):
        return _union([text_of_type({**schema, "type": name}) for name in kind])
    if kind is None:
        options = schema.get("anyOf", schema.get("oneOf"))
        return _union([text_of_type(option) for option in options]) if isinstance(options, list) and options else "Any"
    if kind == "string" and schema.get("format") in _FORMATS.values():
        return next(name for name, meant in _FORMATS.items() if meant == schema["format"])
    if kind == "array" and isinstance(schema.get("prefixItems"), list) and schema["prefixItems"]:
        return f"Tuple[{', '.join(map(text_of_type, schema['prefixItems']))}]"
    if kind == "array" and isinstance(schema.get("items"), dict) and schema["items"]:
        return f"List[{text_of_type(schema['items'])}]"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict) and schema["additionalProperties"]:
        return f"Dict[str, {text_of_type(schema['additionalProperties'])}]"
    return _PYTHON.get(str(kind), "Any")


def _union(names: list[str]) -> str:
    distinct = list(dict.fromkeys(names))
    return "Any" if "Any" in distinct or not distinct else distinct[0] if len(distinct) == 1 else f"Union[{', '.join(distinct)}]"


def _schema(text: str, depth: int) -> dict[str, Json]:
    if depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    choices = _split(text, "|")
    if len(choices) > 1:
        return _any_of([_schema(choice, depth + 1) for choice in choices])
    name, inner = _head(text)
    parts = _split(inner) if inner else []
    if name in ("union", "optional"):
        if not parts:
            raise ValueError(f"{text!r} names no type")
        return _any_of([*(_schema(part, depth + 1) for part in parts), *([{"type": "null"}] if name == "optional" else [])])
    if name == "any":
        return {}
    if not parts and name in _FORMATS:
        return {"type": "string", "format": _FORMATS[name]}
    kind = TYPES.get(name, {"sequence": "array", "iterable": "array", "mapping": "object"}.get(name, name))
    if kind not in STANDARD_TYPES:
        raise ValueError(f"{name or text!r} is no known type")
    if not parts:
        return {"type": kind}
    if kind == "object" and len(parts) == 2:
        values = _schema(parts[1], depth + 1)
        return {"type": kind, "additionalProperties": values} if values else {"type": kind}
    if kind != "array":
        raise ValueError(f"{name} does not take {len(parts)} types")
    if name == "tuple" and not (len(parts) == 2 and parts[1] == "..."):
        return {"type": kind, "prefixItems": [_schema(part, depth + 1) for part in parts]}
    if len(parts) > 1 and parts[1] != "...":
        raise ValueError(f"{name} does not take {len(parts)} types")
    items = _schema(parts[0], depth + 1)
    return {"type": kind, "items": items} if items else {"type": kind}


def _any_of(options: list[dict[str, Json]]) -> dict[str, Json]:
    if {} in options:
        return {}
    distinct = [option for at, option in enumerate(options) if option not in options[:at]]
    if len(distinct) == 1:
        return distinct[0]
    if all(set(option) == {"type"} and isinstance(option["type"], str) for option in distinct):
        return {"type": [option["type"] for option in distinct]}
    return {"anyOf": distinct}


def _head(text: str) -> tuple[str, str]:
    """The lower-case name of a type and the text between its brackets, `List[int]` -> ("list", "int")."""
    start = next((at for at, character in enumerate(text) if character in _OPEN), -1)
    if start < 0:
        return _plain(text), ""
    if text[-1] != _CLOSE[_OPEN.index(text[start])]:
        raise ValueError(f"{text!r} has brackets without a partner")
    return _plain(text[:start]), text[start + 1 : -1].strip()


def _plain(name: str) -> str:
    return name.strip().lower().removeprefix("typing.").removeprefix("datetime.")


def _split(text: str, at: str = ",") -> list[str]:
    """The parts of a text between the separators that stand outside all brackets."""
    parts: list[Any] = [""]
    level = 0
    for character in text:
        level += (character in _OPEN) - (character in _CLOSE)
        if level < 0:
            raise ValueError(f"{text!r} has brackets without a partner")
        if character == at and level == 0:
            parts.append("")
        else:
            parts[-1] += character
    if level:
        raise ValueError(f"{text!r} has brackets without a partner")
    return [part.strip() for part in parts]
