"""What readers of data sets share beyond their rows: recognising lists, making tools of mended documents, odd defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from familytool.formats.openai import read_entry, shown
from familytool.formats.rows import read_response
from familytool.formats.schema import TYPES
from familytool.model import Json, Tool


def as_list(value: Json) -> list[Json]:
    """The entries of a JSON list, or the value as the only entry (a JSONL record)."""
    return value if isinstance(value, list) else [value]


def rows_of(records: Iterable[tuple[str, Json]]) -> Iterator[tuple[str, Json]]:
    """The records; one that is a list (a whole JSON file) is taken apart, with the place "file, entry n"."""
    for place, value in records:
        if isinstance(value, list):
            yield from ((f"{place}, entry {number}", entry) for number, entry in enumerate(value, 1))
        else:
            yield place, value


def most_fit(entries: list[Json], fits: Callable[[Json], bool]) -> bool:
    """Whether more than half of the entries fit, so that a few bad ones do not hide whose file it is."""
    return 2 * sum(1 for entry in entries if fits(entry)) > len(entries)


def made_tool(origin: dict[str, str], raw: Json, said: dict[str, Json], parameters: Json, response: Json, notes: list[str]) -> Tool:
    """A tool whose parameters and response are JSON Schema but for what `normalise_parameters` mends.

    Args:
        origin: `format` and `place` of the source.
        raw: the document as it was.
        said: its `name` and `description`, under these keys.
        parameters: its parameters as a schema; None where it has none.
        response: its return values as a schema, or None.
        notes: what was mended so far.

    Raises:
        ValueError: no name, or parameters that are no schema.
    """
    tool = read_entry(said, raw, "it", parameters, origin)
    if not tool.description.strip() and isinstance(said.get("description"), str):
        notes = [*notes, "the description is blank"]
    responses: list[str] = []
    returned = read_response(response, responses)
    return tool.model_copy(update={"response": returned, "notes": (*notes, *tool.notes, *responses)})


def object_of(properties: Json) -> Json:
    """A map of return values as a schema, for `made_tool`; what is no map goes through as it is."""
    return {"type": "object", "properties": properties} if isinstance(properties, dict) and properties else properties


_VALUES: dict[str, tuple[type, ...]] = {
    "string": (str,), "number": (int, float), "integer": (int,), "boolean": (bool,), "array": (list,), "object": (dict,),
}  # fmt: skip


def is_of_type(value: Json, declared: Json) -> bool:
    """Whether a value is of the type that a document names, in whatever spelling; unknown types take any value.

    >>> is_of_type("10", "NUMBER"), is_of_type(True, "int"), is_of_type("x", "Enum")
    (False, False, True)
    """
    name = TYPES.get(str(declared).lower(), str(declared).lower())
    if name not in _VALUES:
        return True
    return isinstance(value, _VALUES[name]) and (name == "boolean" or not isinstance(value, bool))


def with_choices(schema: dict[str, Json], values: Json) -> dict[str, Json] | None:
    """The schema with a list of choices as its enum, or as that of its items if it is an array; None where it is no such list.

    A list is one of choices if it has any, each of the declared type, and if there is no enum already.

    >>> with_choices({"type": "array"}, ["a", "b"]), with_choices({"type": "str"}, ["a"]), with_choices({"type": "int"}, "1-9")
    ({'type': 'array', 'items': {'enum': ['a', 'b']}}, {'type': 'str', 'enum': ['a']}, None)
    """
    if not isinstance(values, list) or not values or "enum" in schema:
        return None
    if all(is_of_type(value, schema.get("type")) for value in values):
        return {**schema, "enum": values}
    items = schema.get("items", {})
    if not is_of_type([], schema.get("type")) or not isinstance(items, dict):
        return None
    inner = with_choices(items, values)
    return None if inner is None else {**schema, "items": inner}


CHOICES = ("options", "choices", "possible_values", "allowed_values")
"""Words under which documents list the values of a parameter."""


def read_choices(schema: dict[str, Json], here: str, notes: list[str]) -> dict[str, Json]:
    """The schema of a parameter, in which a list of choices has become an enum of it, or of its items."""
    for key in (key for key in CHOICES if key in schema):
        values = schema[key]
        rest = {name: value for name, value in schema.items() if name != key}
        chosen = with_choices(rest, values)
        if values == []:
            notes.append(f"{here}/{key}: an empty list restricts nothing; left out")
            schema = rest
        elif chosen is None:
            notes.append(f"{here}/{key}: {shown(values)} is no list of choices; kept as it is")
        else:
            notes.append(f"{here}/{key}: {shown(values)} read as enum{'' if 'enum' in chosen else ' of the items'}")
            schema = chosen
    return schema


def note_default(schema: dict[str, Json], here: str, notes: list[str]) -> None:
    """Note a default that is not of the declared type; it is kept, since only its author knows what was meant."""
    default = schema.get("default")
    if default is not None and not is_of_type(default, schema.get("type")):
        notes.append(f"{here}: the default {shown(default)} is not of type '{schema['type']}'; kept as it is")


def pointer(*parts: str) -> str:
    """A JSON pointer into the parameters, as the notes write it.

    >>> pointer("properties", "a/b")
    '#/properties/a~1b'
    """
    return "/".join(["#", *(part.replace("~", "~0").replace("/", "~1") for part in parts)])
