"""Values that a query states outright: of the right kind, in the document's form, and different from every fact.

Where a document fixes the form of a date or time the value has it and the query says it in words; where it does not, the
value is what the query says, and the other usual form is listed as an accepted alternative.
"""

from __future__ import annotations

import datetime
import random
import re
from dataclasses import dataclass

from familytool.catalogue import tables
from familytool.generation.usable import Parameter
from familytool.model import Json, Tool
from familytool.phrasing import WEEKDAYS, join_spoken, spoken_forms

DATE_KINDS = frozenset({"date", "birthday", "day_off"})
TIME_KINDS = frozenset({"time", "wake_up_time", "bedtime", "dinner_time", "leave_time"})
NUMBER_KINDS = frozenset({"count", "money", "percentage", "temperature", "volume", "rating", "duration_minutes", "year"})
_ISO = re.compile(r"\\d\{4\}-\\d\{2\}-\\d\{2\}|YYYY-MM-DD", re.IGNORECASE)
_TEXT = {"true": "True", "false": "False"}


@dataclass(frozen=True)
class Literal:
    """A stated value: its JSON form, how it is said, the recipe to say it again, and other accepted forms of the value."""

    value: Json
    spoken: str
    recipe: dict[str, Json]
    also: tuple[Json, ...] = ()
    day: datetime.date | None = None


def draw_literal(
    rng: random.Random, parameter: Parameter, tool: Tool, now: datetime.date, taken: set[str], near: bool = False
) -> Literal | None:
    """A value for this parameter that is not in `taken` (values of the call and nodes of the graph); None if there is none.

    A date lies within eight months of `now`, with `near` within a fortnight.
    """
    words = parameter.words
    if parameter.is_array:
        return _draw_array(rng, parameter, taken)
    listed: list[Json] = [v for v in parameter.schema.get("enum") or parameter.examples if isinstance(v, str | int | float)]
    if words and parameter.schema.get("enum"):
        listed = [v for v in listed if str(v) in words]
    if listed and not (parameter.schema.get("enum") is None and is_table_kind(parameter.kind)):
        left = [v for v in listed if str(v) not in taken]
        if not left:
            return None
        value = rng.choice(left)
        said = {str(v): words.get(str(v), plain_words(str(v)) if parameter.schema.get("enum") else str(v)) for v in listed}
        typed = _typed(str(value), parameter) if not parameter.schema.get("enum") else value
        return Literal(typed, said[str(value)], {"values": said}, _other_type(typed, parameter))
    if parameter.kind == "boolean":
        if set(words) != {"true", "false"}:
            return None
        key = rng.choice(("true", "false"))
        if parameter.schema.get("type") == "boolean":
            return Literal(key == "true", words[key], {"values": words})
        return Literal(_TEXT[key], words[key], {"values": {_TEXT[k]: v for k, v in words.items()}}, (key == "true", key))
    for _ in range(20):
        text = _draw_text(rng, parameter, now, near)
        if text is None:
            return None
        if text not in taken:
            return _literal(rng, text, parameter, tool)
    return None


def is_table_kind(kind: str) -> bool:
    """Whether a kind's values come from a table of the catalogue."""
    return kind not in tables.LITERAL_KINDS and bool(tables.values(kind))


def _literal(rng: random.Random, text: str, parameter: Parameter, tool: Tool) -> Literal:
    fixed = (
        (parameter.kind in DATE_KINDS and states_date_form(parameter, tool))
        or (parameter.kind in TIME_KINDS and states_time_form(parameter, tool))
        or parameter.kind not in DATE_KINDS | TIME_KINDS
    )
    day = datetime.date.fromisoformat(text) if parameter.kind in DATE_KINDS else None
    forms = spoken_forms(text, parameter.kind)
    form = rng.choices(range(len(forms)), weights=[4, *[1] * (len(forms) - 1)])[0]
    if fixed:
        value = _typed(text, parameter)
        return Literal(value, forms[form], {"form": form, "kind": parameter.kind}, _other_type(value, parameter), day)
    said = forms[min(form, 1)]
    return Literal(said, said, {"form": 0, "kind": parameter.kind, "verbatim": True}, tuple(v for v in (text,) if v != said), day)


def _draw_array(rng: random.Random, parameter: Parameter, taken: set[str]) -> Literal | None:
    listed: list[Json] = list(parameter.schema.get("enum") or parameter.examples)
    if not listed and is_table_kind(parameter.kind):
        listed = list(tables.values(parameter.kind))
    listed = [v for v in listed if isinstance(v, str | int | float) and str(v) not in taken]
    if len(listed) < 2:
        return None
    single = parameter.kind in ("weekday", "choice") and not parameter.schema.get("enum")
    count = min(max(1 if single else rng.choice((1, 2, 2)), parameter.least_items), len(listed))
    items = [listed[i] for i in sorted(rng.sample(range(len(listed)), count))]
    enum = bool(parameter.schema.get("enum"))
    said = {str(v): parameter.words.get(str(v), plain_words(str(v)) if enum else str(v)) for v in (listed if len(listed) <= 40 else items)}
    return Literal(items, join_spoken([said[str(v)] for v in items]), {"values": said})


def plain_words(value: str) -> str:
    """An enum item as words: `window_seat` and `WINDOW_SEAT` give "window seat", others stay as they are.

    >>> plain_words("window_seat"), plain_words("Economy")
    ('window seat', 'Economy')
    """
    return value.replace("_", " ").lower() if "_" in value or (value.isupper() and len(value) > 4) else value


def states_date_form(parameter: Parameter, tool: Tool) -> bool:
    """Whether the document fixes YYYY-MM-DD for this parameter."""
    stated = f"{parameter.schema.get('pattern', '')} {parameter.schema.get('description', '')} {tool.description}"
    return parameter.schema.get("format") == "date" or bool(_ISO.search(stated))


def states_time_form(parameter: Parameter, tool: Tool) -> bool:
    """Whether the document fixes HH:MM for this parameter."""
    stated = f"{parameter.schema.get('description', '')} {tool.description}"
    return parameter.schema.get("format") in ("HH:MM", "time") or "HH:MM" in stated


def _typed(text: str, parameter: Parameter) -> Json:
    """The text in the type that the schema declares; untyped stays text."""
    declared = parameter.schema.get("type")
    if declared == "integer" and re.fullmatch(r"-?[0-9]{1,18}", text):
        return int(text)
    if declared == "number" and re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,6})?", text):
        return float(text) if "." in text else int(text)
    return text


def _other_type(value: Json, parameter: Parameter) -> tuple[Json, ...]:
    """For a number whose type no document fixes: the same as a number (the golden value is text, as published)."""
    if isinstance(value, str) and not parameter.schema.get("type") and re.fullmatch(r"[1-9][0-9]{0,5}", value):
        return (int(value),)
    return ()


def coerce_fact(text: str, parameter: Parameter) -> Json:
    """A graph value in the parameter's type, a list of one where an array is declared."""
    value = _typed(text, parameter)
    return [value] if parameter.is_array else value


def _between(rng: random.Random, parameter: Parameter, low: int, high: int, step: int = 1) -> str | None:
    schema = parameter.schema
    if isinstance(schema.get("multipleOf"), int):
        step = schema["multipleOf"]
    least = max(low, int(schema.get("minimum", low)))
    most = min(high, int(schema.get("maximum", high))) if schema.get("maximum", high) >= low else int(schema["maximum"])
    least = min(least, max(most, int(schema.get("minimum", least))))
    grid = [n for n in range(least, most + 1) if n % step == 0] or list(range(least, most + 1))
    return str(rng.choice(grid)) if grid else None


def _draw_text(rng: random.Random, parameter: Parameter, now: datetime.date, near: bool) -> str | None:
    kind = parameter.kind
    if kind in DATE_KINDS:
        return (now + datetime.timedelta(days=rng.randint(1, 14) if near else rng.randint(3, 240))).isoformat()
    if kind in TIME_KINDS:
        low, high = {"wake_up_time": (20, 38), "bedtime": (80, 94), "dinner_time": (70, 86), "leave_time": (24, 40)}.get(kind, (36, 78))
        quarter = rng.randint(low, high)
        return f"{quarter // 4:02d}:{quarter % 4 * 15:02d}"
    if kind == "weekday":
        return rng.choice(WEEKDAYS)
    ranges = {"count": (2, 6, 1), "money": (10, 400, 5), "percentage": (10, 90, 5), "temperature": (16, 25, 1), "volume": (2, 9, 1),
              "rating": (2, 5, 1), "duration_minutes": (10, 120, 5), "year": (now.year, now.year + 1, 1)}  # fmt: skip
    if kind == "volume" and parameter.schema.get("maximum", 10) > 20:
        ranges["volume"] = (20, 80, 5)
    if kind in ranges:
        return _between(rng, parameter, *ranges[kind])
    table = [value for value in tables.values("person" if kind == "child" else kind) if _within(value, parameter.schema)]
    return rng.choice(table) if table else None


def _within(value: str, schema: dict[str, Json]) -> bool:
    """Whether a number of a value table respects the schema's bounds; texts always do."""
    if schema.get("type") not in ("integer", "number") or not value.isdigit():
        return True
    return bool(schema.get("minimum", int(value)) <= int(value) <= schema.get("maximum", int(value)))
