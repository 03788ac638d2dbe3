"""The values of golden calls, one by one: each with its place, its schema, and what the sample records of its origin."""

from __future__ import annotations

from typing import Any, NamedTuple

from familytool.model import Json, Sample, Tool, canonical

MAX_DEPTH = 32


class Leaf(NamedTuple):
    """One value of a golden call.

    `pointer` leads from the list of calls to the value, `schema` is what the document declares for it ({} where it declares
    nothing), `parameter` the same for the whole argument that it is in, and `argument` that argument. `choices` are further values
    that are accepted in its place, `source` its record in `argument_sources` ({} where there is none).
    """

    call: int
    tool: str
    pointer: str
    value: Json
    schema: dict[str, Any]
    name: str
    parameter: dict[str, Any]
    argument: Json
    choices: tuple[Json, ...]
    source: dict[str, Json]

    @property
    def is_reference(self) -> bool:
        """Whether it stands for the result of another call, or is a hole that nothing fills."""
        return self.source.get("source") in ("result", "hole")

    @property
    def default(self) -> bool:
        """Whether it is the document's own default, of itself or of its whole argument."""
        return _is_default(self.schema, self.value) or _is_default(self.parameter, self.argument)

    @property
    def enum(self) -> bool:
        """Whether the document lists it among the values that it may take."""
        places = [self.schema, *(s for key in ("anyOf", "oneOf") for s in _list(self.schema.get(key)) if isinstance(s, dict))]
        return any(self.value == item and type(self.value) is type(item) for place in places for item in _list(place.get("enum")))


_last: list[tuple[Sample, list[Leaf]]] = []


def leaves_of(sample: Sample) -> list[Leaf]:
    """All values of a sample's golden calls, in their order; objects and lists are taken apart.

    The last answer is kept, since several checks ask for the same sample one after the other.
    """
    if not _last or _last[0][0] is not sample:
        _last[:] = [(sample, _leaves(sample))]
    return _last[0][1]


def _leaves(sample: Sample) -> list[Leaf]:
    documents: dict[str, Tool] = {}
    for tool in sample.candidate_tools:
        documents.setdefault(tool.name, tool)
    found: list[Leaf] = []
    for number, call in enumerate(sample.calls):
        document = documents.get(call.name)
        properties = _properties(document.parameters) if document else {}
        others = [calls[number].arguments for calls in sample.alternatives if number < len(calls) and calls[number].name == call.name]
        for name, argument in call.arguments.items():
            schema = properties.get(name)
            schema = schema if isinstance(schema, dict) else {}
            pointer = f"/{number}/arguments/{escaped(name)}"
            if not others and not isinstance(argument, dict | list):  # most are so, and need not be taken apart
                source = sample.argument_sources.get(pointer, {})
                found.append(Leaf(number, call.name, pointer, argument, schema, name, schema, argument, (), source))
                continue
            parallel = _opened([other[name] for other in others if name in other])
            start = Leaf(number, call.name, pointer, argument, schema, name, schema, argument, (), {})
            _take_apart(sample.argument_sources, start, parallel, found, 0)
    return found


def _take_apart(sources: dict[str, dict[str, Json]], leaf: Leaf, others: list[Json], found: list[Leaf], depth: int) -> None:
    source = sources.get(leaf.pointer, leaf.source)
    value = leaf.value
    if isinstance(value, dict) and set(value) <= {"$any", "optional"} and isinstance(value.get("$any"), list):
        others = [*_opened(value["$any"]), *others]
        value = others[0] if others else None
    if depth < MAX_DEPTH and isinstance(value, dict):
        properties = _properties(leaf.schema)
        for key, inner in value.items():
            schema = properties.get(key)
            further = _opened([other[key] for other in others if isinstance(other, dict) and key in other])
            inside = leaf._replace(
                pointer=f"{leaf.pointer}/{escaped(key)}",
                value=inner,
                schema=schema if isinstance(schema, dict) else {},
                name=key,
                source=source,
            )
            _take_apart(sources, inside, further, found, depth + 1)
    elif depth < MAX_DEPTH and isinstance(value, list):
        items = leaf.schema.get("items")
        for index, inner in enumerate(value):
            further = _opened([other[index] for other in others if isinstance(other, list) and index < len(other)])
            inside = leaf._replace(
                pointer=f"{leaf.pointer}/{index}", value=inner, schema=items if isinstance(items, dict) else {}, source=source
            )
            _take_apart(sources, inside, further, found, depth + 1)
    elif not isinstance(value, dict | list):  # what is nested deeper, the syntax check reports
        choices = tuple(other for other in others if not isinstance(other, dict | list))
        found.append(leaf._replace(value=value, choices=choices, source=source))


def _opened(values: list[Json]) -> list[Json]:
    """The values with each `{"$any": [...]}` replaced by its alternatives."""
    opened: list[Json] = []
    for value in values:
        choices = value.get("$any") if isinstance(value, dict) else None
        opened.extend(choices if isinstance(choices, list) else [value])
    return opened


def _properties(schema: dict[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _is_default(schema: dict[str, Any], value: Json) -> bool:
    """Whether a value is what a schema calls the default; documents write numbers and booleans as text."""
    if "default" not in schema:
        return False
    default = schema["default"]
    return canonical(default) == canonical(value) or (
        isinstance(default, str) and not isinstance(value, dict | list) and default == str(value)
    )


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def escaped(name: str) -> str:
    """A name as a part of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")
