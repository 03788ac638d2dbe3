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
