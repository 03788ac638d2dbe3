"""Scores predicted tool calls and extracted triples against references: the strict profile.

The calls of a sample are a multiset (unless `ordered`): only calls of equal name pair, and the pairing maximises exact calls,
then equal (parameter, value) pairs, then takes the smallest indices. Values are compared typed. A sample that errored, or
that nobody predicted, stays in the denominator as wrong. The folder needs nothing but the standard library.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from .strict_json import Json, TextError, parse_json

Scores: TypeAlias = dict[str, float | None]

METRIC_VERSION = "1.0.0"
MODULES = (
    "score", "parse", "spellings", "reading", "call_shapes", "python_calls", "literals", "cursor", "json_flaws", "strict_json",
)  # fmt: skip
"""The modules that decide a score, from the answer's text on, in the order in which their bytes are hashed."""


def scorer_sha256(folder: Path) -> str:
    """Return the SHA-256 over the lines "name SHA-256-of-the-file" of all `MODULES` in a folder."""
    lines = [f"{name} {hashlib.sha256((folder / f'{name}.py').read_bytes()).hexdigest()}\n" for name in MODULES]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


SCORER_SHA256 = scorer_sha256(Path(__file__).parent)

TOOL_METRICS = ("em", "tool_acc", "tool_precision", "tool_recall", "tool_f1", "value_acc", "value_f1", "value_acc_kg", "value_acc_query")
KG_METRICS = ("kg_em", "kg_f1", "kg_coverage")
METRICS = TOOL_METRICS + KG_METRICS
ZERO_ONE_METRICS = ("em", "tool_acc", "kg_em", "kg_coverage")
"""Those that are 0 or 1 for each sample, so that Wilson's interval is defined."""

MAX_DEPTH = 64
MAX_NODES = 100_000
"""An argument that is deeper or has more parts equals nothing (code `parse_limit`), so that no answer can exhaust the scorer."""

SOURCES = ("graph", "query", "document")


def score(references: Sequence[Mapping[str, Any]], predictions: Sequence[Mapping[str, Any]], seed: int = 0) -> dict[str, Any]:
    """Return the scores of predictions joined to references by id, with intervals, counts and one record for each sample.

    A reference has `id`, `calls`, and where they exist `alternatives`, `golden_triples`, `argument_sources`, `ordered`,
    `candidate_tools`; a prediction has `id`, `calls` or `error`, and `triples`. Metrics are 0 to 1, None is not applicable.
    Tool use is not applicable where the reference has no `calls`, or where no answered prediction of the run has any; the
    same for the graph metrics and triples. In a run that has them, a prediction without them is wrong. A malformed call or
    triple of a prediction is counted and never right; a malformed reference, and an id that is double or unknown, raises
    ValueError. Nothing here is drawn at random: `seed` is handed through to the result.

    >>> reference = {"id": "a", "calls": [{"name": "book", "arguments": {"city": "Dallas", "people": 2}}]}
    >>> result = score([reference], [{"id": "a", "calls": [{"name": "book", "arguments": {"people": 2.0, "city": "dallas"}}]}])
    >>> result["scores"]["strict"]["em"], result["scores"]["strict"]["value_acc"], result["samples"][0]["codes"]
    (0.0, 0.5, ['case'])
    """
    golden, given = _rows_by_id(references, "references"), _rows_by_id(predictions, "predictions")
    unknown = [repr(key) for key in given if key not in golden]
    if unknown:
        raise ValueError(
            f"predictions: id {unknown[0]} is in no reference ({len(unknown)} such in all); predict the ids of the references."
        )
    answered = [row for row in given.values() if not row.get("error")]
    has_calls = not answered or any(row.get("calls") is not None for row in answered)
    has_triples = not answered or any(row.get("triples") is not None for row in answered)

    samples, n_errors = [], 0
    for key, reference in golden.items():
        prediction = given.get(key)
        failure = _failure(prediction)
        n_errors += failure is not None
        row = {} if prediction is None or failure else prediction
        scores: Scores = dict.fromkeys(METRICS)
        codes = {failure} if failure else set()
        if has_calls and reference.get("calls") is not None:
            tool_scores, tool_codes = _score_calls(reference, row.get("calls"), f"{key!r}")
            scores |= tool_scores
            codes |= tool_codes if failure is None else tool_codes - {"no_calls"}
        if has_triples and reference.get("golden_triples") is not None:
            kg_scores, kg_codes = _score_triples(reference, row.get("triples"), f"{key!r}")
            scores |= kg_scores
            codes |= kg_codes if failure is None else kg_codes - {"no_triples"}
        samples.append({"id": reference["id"], **scores, "codes": sorted(codes)})

    columns = {metric: [sample[metric] for sample in samples if sample[metric] is not None] for metric in METRICS}
    return {
        "metric_version": METRIC_VERSION,
        "scorer_sha256": SCORER_SHA256,
        "seed": seed,
        "n": len(samples),
        "n_errors": n_errors,
        "n_not_applicable": {metric: len(samples) - len(column) for metric, column in columns.items()},
        "scores": {"strict": {metric: math.fsum(column) / len(column) if column else None for metric, column in columns.items()}},
        "intervals": {metric: wilson_interval(column) if metric in ZERO_ONE_METRICS else None for metric, column in columns.items()},
        "samples": samples,
    }


def wilson_interval(outcomes: Sequence[float]) -> list[float] | None:
    """Return Wilson's 95 % interval for the mean of outcomes that are 0 or 1; None for no outcomes.

    >>> [round(bound, 3) for bound in wilson_interval([1.0])]
    [0.207, 1.0]
    """
    n, z = len(outcomes), 1.959963984540054
    if not n:
        return None
    mean = math.fsum(outcomes) / n
    centre = (mean + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    # All right and all wrong touch the end exactly; rounding would leave 0.9999999999999999.
    return [0.0 if mean == 0 else max(0.0, centre - half), 1.0 if mean == 1 else min(1.0, centre + half)]


# Rows ------------------------------------------------------------------------------------------------------------------


def _rows_by_id(rows: Json, where: str) -> dict[str | int, Mapping[str, Any]]:
    found: dict[str | int, Mapping[str, Any]] = {}
    for place, row in enumerate(_listed(rows, where)):
        if not isinstance(row, Mapping):
            raise ValueError(f"{where}[{place}] is a {type(row).__name__}; give a mapping with an id.")
        key = row.get("id")
        if not isinstance(key, str | int) or isinstance(key, bool):
            raise ValueError(f"{where}[{place}] has the id {key!r}; give a text or an integer.")
        if key in found:
            raise ValueError(f"{where}[{place}] repeats the id {key!r}; give each id once.")
        found[key] = row
    return found


def _listed(value: Json, where: str) -> Sequence[Any]:
    # A text is a sequence too: one letter would be scored as one row.
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return value
    raise ValueError(f"{where} is a {type(value).__name__}; give a list (of one, if there is only one).")


def _failure(prediction: Mapping[str, Any] | None) -> str | None:
    """The code of a sample without an answer: a one-word `error` such as "timeout" is its own code."""
    if prediction is None:
        return "no_prediction"
    error = prediction.get("error")
    if not error:
        return None
    return error if isinstance(error, str) and re.fullmatch(r"[a-z][a-z0-9_]{0,39}", error) else "error"


# Values ----------------------------------------------------------------------------------------------------------------

_LIMIT = object()
"""Stands for an argument beyond the limits; it equals nothing, itself included."""


class _LimitReached(Exception):
    pass


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _nfc_keys(entries: Mapping[Any, Json]) -> dict[str, Json]:
    normal = {_nfc(str(key)): value for key, value in entries.items()}
    # Two keys that differ only in their normal form both stay, else one of them would go unseen.
    return normal if len(normal) == len(entries) else {str(key): value for key, value in entries.items()}


def _normal(value: Json) -> Json:
    """The value with its text in NFC, tuples as lists, and `_LIMIT` in place of what is beyond the limits."""
    n_left = MAX_NODES

    def walk(part: Json, depth: int) -> Json:
        nonlocal n_left
        n_left -= 1
        if depth > MAX_DEPTH or n_left < 0:
            raise _LimitReached
        if isinstance(part, str):
            return _nfc(part)
        if isinstance(part, Mapping):
            return {key: walk(entry, depth + 1) for key, entry in _nfc_keys(part).items()}
        if isinstance(part, list | tuple):
            return [walk(item, depth + 1) for item in part]
        return part

    try:
        return walk(value, 0)
    except _LimitReached:
        return _LIMIT


def values_are_equal(left: Json, right: Json) -> bool:
    """Compare two JSON values typed; symmetric.

    A boolean never equals a number, integers are exact at any size (an integral float next to an integer is one), other
    floats are equal to a relative 1e-9, text after NFC, lists in order. What JSON cannot hold (NaN) equals nothing.

    >>> values_are_equal(1, 1.0), values_are_equal(1, True), values_are_equal(2**53 + 1, float(2**53))
    (True, False, False)
    """
    return _equal(_normal(left), _normal(right))


def _equal(left: Json, right: Json) -> bool:
    if type(left) is type(right) and type(left) in (str, int):  # most comparisons, and those of a matching are many
        return bool(left == right)
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return _equal_numbers(left, right)
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(value, right[key]) for key, value in left.items())
    return left is None and right is None


def _equal_numbers(left: float, right: float) -> bool:
    floats = [number for number in (left, right) if isinstance(number, float)]
    if not all(map(math.isfinite, floats)):
        return False
    if len(floats) == 0 or (len(floats) == 1 and floats[0].is_integer()):
        return left == right
    try:
        return math.isclose(left, right, rel_tol=1e-9)
    except OverflowError:  # an integer beyond the floats, next to a fraction
        return False


def _key(value: Json) -> str:
    """A text that is equal for values of equal content: the order in which ties are broken hangs on it."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None or isinstance(value, bool | str):
        return json.dumps(value)
    if isinstance(value, int):
        return hex(value)  # decimal digits are limited in number, these are not
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, list):
        return "[" + ",".join(map(_key, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{json.dumps(key)}:{_key(entry)}" for key, entry in value.items())) + "}"
    return "limit" if value is _LIMIT else "other"


# Why two values differ -------------------------------------------------------------------------------------------------

_PUNCTUATION = str.maketrans({**dict.fromkeys("‘’‚‛′", "'"), **dict.fromkeys("“”„‟″", '"'), **dict.fromkeys("‐‑‒–—−", "-"), "…": "..."})
_FOLDS: dict[str, Callable[[str], str]] = {
    "unicode": lambda text: unicodedata.normalize("NFKC", text),
    "punctuation": lambda text: text.translate(_PUNCTUATION),
    "whitespace": str.strip,
    "case": str.casefold,
}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_DATE = re.compile(r"([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?:\s?([ap])\.?m\.?)?", re.IGNORECASE)
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}\.?"
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_OPEN_DATE = re.compile(
    rf"{_MONTH} [0-9]{{1,2}}(?:st|nd|rd|th)?|(?:the )?[0-9]{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}"
    rf"|today|tonight|tomorrow|yesterday|(?:(?:next|this|last|on|coming) )?{_DAY}|(?:next|this|last) (?:week|weekend|month|year)"
    r"|in (?:an?|[a-z]+|[0-9]+) (?:day|week|month|year)s?",
    re.IGNORECASE,
)
"""A date that means nothing without today's."""


def _difference(golden: Json, predicted: Json, schema: Mapping[str, Any]) -> set[str]:
    """Name why two unequal values differ, in the codes of the case table; `schema` is that of the golden value."""
    if golden is _LIMIT or predicted is _LIMIT:
        return {"parse_limit"}
    if isinstance(predicted, float) and not math.isfinite(predicted):
        return {"invalid_number"}
    if golden is None or predicted is None:
        return {"value_wrong"}
    if isinstance(golden, list) and isinstance(predicted, list):
        return _list_difference(golden, predicted, schema)
    if isinstance(golden, dict) and isinstance(predicted, dict):
        if golden.keys() != predicted.keys():
            return {"value_wrong"}
        unequal = [key for key, value in golden.items() if not _equal(value, predicted[key])]
        return set().union(*(_difference(golden[key], predicted[key], _property(schema, key)) for key in unequal))
    if isinstance(golden, str) and isinstance(predicted, str):
        return _text_difference(golden, predicted, schema)
    if isinstance(golden, bool) or isinstance(predicted, bool):
        return {"type_mismatch"}
    if isinstance(golden, str) and isinstance(predicted, int | float):
        return {"type_mismatch" if _equal(_number_in(golden), predicted) else "value_wrong"}
    if isinstance(golden, int | float) and isinstance(predicted, str):
        number = _number_in(predicted)
        return {"value_wrong" if number is not None and not _equal(golden, number) else "type_mismatch"}
    if isinstance(golden, int | float) and isinstance(predicted, int | float):
        return {"value_wrong"}
    if isinstance(predicted, str) and _equal(golden, _json_in(predicted)):
        return {"json_in_string"}
    return {"type_mismatch"}


def _list_difference(golden: list[Json], predicted: list[Json], schema: Mapping[str, Any]) -> set[str]:
    if len(golden) != len(predicted):
        return {"list_items"}
    items = schema.get("items")
    item_schema = items if isinstance(items, Mapping) else {}
    pairs = [(left, right) for left, right in zip(golden, predicted, strict=True) if not _equal(left, right)]
    codes: set[str] = set().union(*(_difference(left, right, item_schema) for left, right in pairs))
    return {"list_items"} if "value_wrong" in codes else codes


def _text_difference(golden: str, predicted: str, schema: Mapping[str, Any]) -> set[str]:
    enum = schema.get("enum")
    if isinstance(enum, list) and golden in enum:
        slug = _slug(predicted)
        if [item for item in enum if isinstance(item, str) and _slug(item) == slug] == [golden]:
            return {"enum"}
    for code in ("case", "whitespace", "punctuation", "unicode"):
        if _FOLDS[code](golden) == _FOLDS[code](predicted):
            return {code}
    if _folded(golden) == _folded(predicted):
        return {code for code in _FOLDS if _folded(golden, code) != _folded(predicted, code)} or {"unicode"}
    if _date_in(golden) and _date_in(golden) == _date_in(predicted):
        return {"date_format"}
    if _time_in(golden) and _time_in(golden) == _time_in(predicted):
        return {"time_format"}
    if _date_in(golden) and _OPEN_DATE.fullmatch(predicted):
        return {"underdetermined"}
    return {"value_wrong"}


def _folded(text: str, without: str = "") -> str:
    for code, fold in _FOLDS.items():
        text = text if code == without else fold(text)
    return text


def _slug(text: str) -> str:
    return re.sub(r"[\W_]+", "_", text.casefold()).strip("_")


def _date_in(text: str) -> tuple[int, ...] | None:
    match = _DATE.fullmatch(text)
    return tuple(map(int, match.groups())) if match else None


def _time_in(text: str) -> tuple[int, int, int] | None:
    match = _TIME.fullmatch(text)
    if not match:
        return None
    hour, minute, second, half = match.groups()
    offset = 0 if half is None else int(half in "pP") * 12 - (int(hour) == 12) * 12
    return int(hour) + offset, int(minute), int(second or 0)


def _number_in(text: str) -> int | float | None:
    """The number that a text is in JSON ("0012" is none)."""
    match = _NUMBER.fullmatch(text)
    if not match or len(text) > 4000:
        return None
    return float(text) if match[1] or match[2] else int(text)


def _json_in(text: str) -> Json:
    """The object or list that a text is in strict JSON; a key twice, or NaN, is none."""
    if not text.lstrip().startswith(("{", "[")):
        return _LIMIT
    try:
        return _normal(parse_json(text))
    except TextError:
        return _LIMIT


# Tools -----------------------------------------------------------------------------------------------------------------


class _Tool(NamedTuple):
    """What the scorer reads of a tool's schema; `defaults` are in normal form."""

    properties: dict[str, Mapping[str, Any]]
    defaults: dict[str, Json]
    required: frozenset[str]
    closed: bool


_NO_TOOL = _Tool({}, {}, frozenset(), closed=False)

_TYPES: dict[str, Callable[[Json], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer())),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _read_tools(reference: Mapping[str, Any], names: set[str], where: str) -> tuple[dict[str, _Tool], set[str] | None]:
    """The schemas of the tools of these names, and the names of all candidates (None: the reference lists none)."""
    if reference.get("candidate_tools") is None:
        return {}, None
    tools: dict[str, _Tool] = {}
    offered: set[str] = set()
    for entry in _listed(reference["candidate_tools"], f"reference {where}: candidate_tools"):
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            raise ValueError(f"reference {where}: candidate_tools has an entry without a name; give {{name, parameters}}.")
        name = _nfc(entry["name"])
        offered.add(name)
        if name in names and name not in tools:
            tools[name] = _read_tool(entry.get("parameters"))
    return tools, offered


def _read_tool(schema: Json) -> _Tool:
    if not isinstance(schema, Mapping) or not isinstance(schema.get("properties"), Mapping):
        return _NO_TOOL
    properties = {_nfc(str(name)): entry if isinstance(entry, Mapping) else {} for name, entry in schema["properties"].items()}
    defaults = {name: _normal(entry["default"]) for name, entry in properties.items() if "default" in entry}
    required = schema.get("required")
    names = frozenset(_nfc(name) for name in required if isinstance(name, str)) if isinstance(required, list | tuple) else frozenset()
    # House rule: closed unless the document says otherwise.
    return _Tool(properties, defaults, names, closed=schema.get("additionalProperties", False) is False)


def _property(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    properties = schema.get("properties")
    entry = properties.get(name) if isinstance(properties, Mapping) else None
    return entry if isinstance(entry, Mapping) else {}


# Calls -----------------------------------------------------------------------------------------------------------------


class _Argument(NamedTuple):
    """A golden argument: any of `choices` is right, so is none if `optional`; `source` says where the value comes from."""

    choices: tuple[Json, ...]
    optional: bool
    source: str


class _GoldenCall(NamedTuple):
    name: str
    arguments: dict[str, _Argument]
    key: str


class _Call(NamedTuple):
    """A predicted call; name None is not a call at all, arguments None are not an object."""

    name: str | None
    arguments: dict[str, Json] | None
    key: str


def _read_golden_calls(calls: Json, sources: Callable[[int, str, str], str], where: str) -> list[_GoldenCall]:
    result = []
    for place, call in enumerate(_listed(calls, where)):
        if not isinstance(call, Mapping) or not isinstance(call.get("name"), str) or not isinstance(call.get("arguments"), Mapping):
            raise ValueError(f"{where}[{place}] is no call; give {{name, arguments}} with an object of arguments.")
        name = _nfc(call["name"])
        arguments = {}
        for parameter, value in _nfc_keys(call["arguments"]).items():
            choices, optional = [value], False
            if isinstance(value, Mapping) and isinstance(value.get("$any"), list | tuple) and value.keys() <= {"$any", "optional"}:
                choices, optional = list(value["$any"]), value.get("optional") is True
            arguments[parameter] = _Argument(tuple(map(_normal, choices)), optional, sources(place, name, parameter))
        parts = (f"{json.dumps(p)}:{[_key(c) for c in a.choices]}{a.optional}{a.source}" for p, a in arguments.items())
        result.append(_GoldenCall(name, arguments, ",".join(sorted(parts))))
    return result


def _read_calls(calls: Json, where: str) -> list[_Call]:
    result = []
    for call in _listed(calls, f"prediction {where}: calls"):
        if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
            result.append(_Call(None, None, ""))
        elif not isinstance(call.get("arguments"), Mapping):
            result.append(_Call(_nfc(call["name"]), None, ""))
        else:
            arguments = {parameter: _normal(value) for parameter, value in _nfc_keys(call["arguments"]).items()}
            result.append(_Call(_nfc(call["name"]), arguments, _key(arguments)))
    return result


def _read_sources(reference: Mapping[str, Any], where: str) -> Callable[[int, str, str], str]:
    """A function from (place, tool, parameter) to the source of the golden value, "" where none is given.

    Where pointers lead into one value from several sources, the graph wins over the query, and the query over the document.
    A call of an alternative takes the sources of the golden call at its place, or of the first of its name.
    """
    calls = _listed(reference["calls"], f"reference {where}: calls")
    names = [_nfc(call["name"]) if isinstance(call, Mapping) and isinstance(call.get("name"), str) else "" for call in calls]
    found: dict[tuple[int, str], str] = {}
    stated = reference.get("argument_sources") or {}
    if not isinstance(stated, Mapping):
        raise ValueError(f"reference {where}: argument_sources is a {type(stated).__name__}; give a mapping from JSON pointers.")
    for pointer, entry in stated.items():
        source = entry.get("source") if isinstance(entry, Mapping) else None
        if source not in SOURCES:
            raise ValueError(
                f"reference {where}: argument_sources[{pointer!r}] has the source {source!r}; give one of {', '.join(SOURCES)}."
            )
        parts = [part.replace("~1", "/").replace("~0", "~") for part in str(pointer).split("/")]
        place = int(parts[1]) if len(parts) > 1 and re.fullmatch(r"[0-9]{1,6}", parts[1]) else len(calls)
        arguments = calls[place].get("arguments") if place < len(calls) and isinstance(calls[place], Mapping) else None
        if parts[0] == "" and parts[2:] == ["name"] and arguments is not None:
            continue  # where the tool's name comes from: no argument
        if (
            parts[0] != ""
            or parts[2:3] != ["arguments"]
            or not isinstance(arguments, Mapping)
            or parts[3:4] == []
            or parts[3] not in arguments
        ):
            raise ValueError(
                f"reference {where}: argument_sources[{pointer!r}] leads to no argument of its calls; write /0/arguments/city."
            )
        spot = (place, _nfc(parts[3]))
        found[spot] = min(found.get(spot, source), source, key=SOURCES.index)

    def source_of(place: int, name: str, parameter: str) -> str:
        if place >= len(names) or names[place] != name:
            place = names.index(name) if name in names else -1
        return found.get((place, parameter), "")

    return source_of


def _score_calls(reference: Mapping[str, Any], calls: Json, where: str) -> tuple[Scores, set[str]]:
    """The tool metrics of one sample on its best reading (the golden calls, then the alternatives; the first on ties)."""
    sources = _read_sources(reference, where)
    readings = [_read_golden_calls(reference["calls"], sources, f"reference {where}: calls")]
    for place, alternative in enumerate(_listed(reference.get("alternatives") or [], f"reference {where}: alternatives")):
        readings.append(_read_golden_calls(alternative, sources, f"reference {where}: alternatives[{place}]"))
    predicted = None if calls is None else _read_calls(calls, where)
    names = {call.name for reading in readings for call in reading}
    tools, offered = _read_tools(reference, names, where)
    notes = {"schema_gold_violation"} if any(_breaks_schema(call, tools.get(call.name, _NO_TOOL)) for call in readings[0]) else set()
    if predicted is None:
        return _wrong_scores(readings[0]), notes | {"no_calls"}
    known = None if offered is None else offered | names
    judged: tuple[Scores, set[str]] | None = None
    for reading in readings:
        scores, codes = _score_reading(reading, predicted, tools, known, reference.get("ordered") is True)
        if judged is None or scores["em"] == 1:
            judged = scores, codes
        if scores["em"] == 1:
            break
    assert judged is not None
    return judged[0], judged[1] | notes


def _breaks_schema(call: _GoldenCall, tool: _Tool) -> bool:
    """A diagnostic of the data: it is noted, and changes no score."""
    if not tool.required <= call.arguments.keys() or (tool.closed and not call.arguments.keys() <= tool.properties.keys()):
        return True
    for parameter, argument in call.arguments.items():
        schema = tool.properties.get(parameter, {})
        stated, enum = schema.get("type"), schema.get("enum")
        types = [stated] if isinstance(stated, str) else stated if isinstance(stated, list) else []
        checks = [_TYPES[name] for name in types if isinstance(name, str) and name in _TYPES]
        for value in argument.choices:
            if checks and not any(check(value) for check in checks):
                return True
            if isinstance(enum, list) and not any(_equal(value, _normal(item)) for item in enum):
                return True
    return False


def _wrong_scores(golden: list[_GoldenCall]) -> Scores:
    """Of a sample without an answer: 0 wherever an answer would have been judged."""
    sources = [argument.source for call in golden for argument in call.arguments.values()]
    zeros: Scores = dict.fromkeys(TOOL_METRICS, 0.0)
    applies = {
        "value_acc": bool(sources),
        "value_f1": bool(sources),
        "value_acc_kg": "graph" in sources,
        "value_acc_query": "query" in sources,
    }
    return zeros | {metric: 0.0 if is_asked else None for metric, is_asked in applies.items()}


def _score_reading(
    golden: list[_GoldenCall], predicted: list[_Call], tools: Mapping[str, _Tool], known: set[str] | None, ordered: bool
) -> tuple[Scores, set[str]]:
    pairs = _pair_calls(golden, predicted, tools)
    codes: set[str] = set()
    hits: Counter[str] = Counter()
    n_exact = n_surplus = 0
    for left, right in pairs:
        tool = tools.get(golden[left].name, _NO_TOOL)
        hit, surplus, found = _judge_pair(golden[left], predicted[right], tool)
        hits.update(golden[left].arguments[parameter].source for parameter in hit)
        n_surplus += surplus
        n_exact += _compare(golden[left], predicted[right], tool)[0]
        codes |= found
    paired = {right for _, right in pairs}
    for right, call in enumerate(predicted):
        if right not in paired:
            defaults = tools.get(call.name or "", _NO_TOOL).defaults
            n_surplus += sum(not _is_default(parameter, value, defaults) for parameter, value in (call.arguments or {}).items())
    codes |= _call_codes(golden, predicted, pairs, known)

    is_exact = n_exact == len(golden) == len(predicted)
    if is_exact and ordered and not all(_is_exact(left, right, tools) for left, right in zip(golden, predicted, strict=True)):
        is_exact = False
        codes.add("call_order")
    names, given = Counter(call.name for call in golden), Counter(call.name or _NOT_A_CALL for call in predicted)
    n_names, is_empty = (names & given).total(), not golden and not predicted
    totals = Counter(argument.source for call in golden for argument in call.arguments.values())
    n_hits, n_golden = hits.total(), totals.total()
    scores: Scores = {
        "em": float(is_exact),
        "tool_acc": float(names == given),
        "tool_precision": 1.0 if is_empty else n_names / max(1, len(predicted)),
        "tool_recall": 1.0 if is_empty else n_names / max(1, len(golden)),
        "tool_f1": 1.0 if is_empty else 2 * n_names / (len(golden) + len(predicted)),
        "value_acc": _share(n_hits, n_golden),
        "value_f1": _share(2 * n_hits, n_golden + n_hits + n_surplus) if n_golden else None,
        "value_acc_kg": _share(hits["graph"], totals["graph"]),
        "value_acc_query": _share(hits["query"], totals["query"]),
    }
    return scores, codes


_NOT_A_CALL = "\0"


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _is_default(parameter: str, value: Json, defaults: Mapping[str, Json]) -> bool:
    return parameter in defaults and _equal(value, defaults[parameter])


def _is_hit(parameter: str, argument: _Argument, arguments: Mapping[str, Json], defaults: Mapping[str, Json]) -> bool:
    """The golden pair was predicted, in so many words or (since absent means default) by leaving it out."""
    if parameter in arguments:
        value = arguments[parameter]
        return any(_equal(choice, value) for choice in argument.choices) or (argument.optional and _is_default(parameter, value, defaults))
    return argument.optional or any(_is_default(parameter, choice, defaults) for choice in argument.choices)


def _compare(golden: _GoldenCall, predicted: _Call, tool: _Tool) -> tuple[bool, int]:
    """Whether the call is exact, and how many of the golden pairs it has."""
    arguments = predicted.arguments
    if arguments is None:
        return False, 0
    hits = sum(_is_hit(parameter, argument, arguments, tool.defaults) for parameter, argument in golden.arguments.items())
    if hits < len(golden.arguments):
        return False, hits
    return all(name in golden.arguments or _is_default(name, value, tool.defaults) for name, value in arguments.items()), hits


def _is_exact(golden: _GoldenCall, predicted: _Call, tools: Mapping[str, _Tool]) -> bool:
    return golden.name == predicted.name and _compare(golden, predicted, tools.get(golden.name, _NO_TOOL))[0]


def _judge_pair(golden: _GoldenCall, predicted: _Call, tool: _Tool) -> tuple[list[str], int, set[str]]:
    """The golden parameters that were hit, the number of surplus pairs, and the codes.

    A predicted argument that is the default is never surplus: the call means the same without it.
    """
    if predicted.arguments is None:
        return [], 0, {"bad_arguments"}
    hits, n_surplus, codes = [], 0, set()
    for parameter, argument in golden.arguments.items():
        is_hit = _is_hit(parameter, argument, predicted.arguments, tool.defaults)
        if is_hit:
            hits.append(parameter)
        if parameter not in predicted.arguments:
            codes |= {"missing_param"} if not is_hit else set() if argument.optional else {"default_used"}
            continue
        value = predicted.arguments[parameter]
        if not is_hit:
            n_surplus += not _is_default(parameter, value, tool.defaults)
            schema = tool.properties.get(parameter, {})
            reasons = [_difference(choice, value, schema) for choice in argument.choices] or [{"value_wrong"}]
            codes |= min(reasons, key=lambda reason: reason == {"value_wrong"})  # of several choices, the one nearest to it
    for parameter, value in predicted.arguments.items():
        if parameter not in golden.arguments:
            is_default = _is_default(parameter, value, tool.defaults)
            n_surplus += not is_default
            codes.add("default_used" if is_default else "parse_limit" if value is _LIMIT else "extra_param")
    return hits, n_surplus, codes


def _call_codes(golden: list[_GoldenCall], predicted: list[_Call], pairs: list[tuple[int, int]], known: set[str] | None) -> set[str]:
    """The codes of what has no partner."""
    if not golden and not predicted:
        return {"correct_abstain"}
    with_partner, paired = {left for left, _ in pairs}, {right for _, right in pairs}
    left_over = {call.name for place, call in enumerate(golden) if place not in with_partner}
    codes = {"missing_call"} if left_over else set()
    slugs = {_sanitised(name) for name in left_over}
    for place, call in enumerate(predicted):
        if place in paired:
            continue
        if call.name is None:
            codes.add("bad_call")
        elif call.arguments is None:
            codes.add("bad_arguments")
        if not golden:
            codes.add("unwanted_call")
        if call.name is not None and _sanitised(call.name) in slugs:
            codes.add("name_sanitised")
        elif call.name is not None and known is not None and call.name not in known:
            codes.add("unknown_tool")
        elif golden:
            codes.add("extra_call")
    return codes


def _sanitised(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


# Matching --------------------------------------------------------------------------------------------------------------


def _pair_calls(golden: list[_GoldenCall], predicted: list[_Call], tools: Mapping[str, _Tool]) -> list[tuple[int, int]]:
    """Pairs (golden, predicted) of the best matching; every call of the rarer side has a partner.

    Indices count in the order of the calls' content, not in which they were written: equally good pairings can differ in
    which pair is hit (value_acc_kg) and in their codes, and the order of a multiset must not decide that.
    """
    left_by_name, right_by_name = defaultdict(list), defaultdict(list)
    for place in sorted(range(len(golden)), key=lambda place: golden[place].key):
        left_by_name[golden[place].name].append(place)
    for place in sorted(range(len(predicted)), key=lambda place: predicted[place].key):
        right_by_name[predicted[place].name].append(place)
    pairs = []
    for name, left in left_by_name.items():
        right = right_by_name.get(name, [])
        tool = tools.get(name, _NO_TOOL)
        base = 1 + sum(len(golden[place].arguments) for place in left)  # one exact call outweighs all pairs there are
        gains = [[exact * base + hits for exact, hits in (_compare(golden[i], predicted[j], tool) for j in right)] for i in left]
        pairs += [(left[i], right[j]) for i, j in best_assignment(gains)]
    return pairs


def best_assignment(gains: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Return the pairs (row, column) of the largest total gain; of several such, the one with the smallest indices.

    Each line of the shorter side gets a partner; in order, each gets the smallest that still allows the largest total.
    Hungarian algorithm with integer potentials, O(n^2 m) for n lines on the shorter side: exact at any size.

    >>> best_assignment([[3, 3], [3, 0], [0, 0]])
    [(0, 1), (1, 0)]
    """
    if not gains or not gains[0]:
        return []
    if len(gains) > len(gains[0]):
        turned = best_assignment(list(zip(*gains, strict=True)))
        return sorted((row, column) for column, row in turned)
    costs = [[-gain for gain in row] for row in gains]
    column_of, row_potential, column_potential = _assign(costs)
    _take_smallest(costs, column_of, row_potential, column_potential)
    return list(enumerate(column_of))


def _assign(costs: list[list[int]]) -> tuple[list[int], list[int], list[int]]:
    """A cheapest assignment of every row, and potentials with cost >= row + column, equal on the assignment.

    Column potentials are at most 0, and 0 on columns that nobody took.
    """
    n_rows, n_columns = len(costs), len(costs[0])
    infinite = 1 + 8 * (n_rows + 1) * (1 + max(abs(cost) for row in costs for cost in row))
    u, v = [0] * n_rows, [0] * n_columns
    row_of = [-1] * n_columns
    for start in range(n_rows):
        slack, came_from = [infinite] * n_columns, [-1] * n_columns
        open_columns = list(range(n_columns))
        seen: list[int] = []
        row, last = start, -1
        while True:
            costs_of_row, base = costs[row], u[row]
            smallest, nearest = infinite, -1
            for column in open_columns:
                reduced = costs_of_row[column] - base - v[column]
                if reduced < slack[column]:
                    slack[column], came_from[column] = reduced, last
                if slack[column] < smallest:
                    smallest, nearest = slack[column], column
            if smallest:
                u[start] += smallest
                for column in seen:
                    u[row_of[column]] += smallest
                    v[column] -= smallest
                for column in open_columns:
                    slack[column] -= smallest
            open_columns.remove(nearest)
            seen.append(nearest)
            last = nearest
            if row_of[nearest] < 0:
                break
            row = row_of[nearest]
        while last >= 0:
            before = came_from[last]
            row_of[last] = start if before < 0 else row_of[before]
            last = before
    column_of = [-1] * n_rows
    for column, row in enumerate(row_of):
        if row >= 0:
            column_of[row] = column
    return column_of, u, v


def _take_smallest(costs: list[list[int]], column_of: list[int], u: list[int], v: list[int]) -> None:
    """Turn a cheapest assignment into the one of smallest indices, in place.

    By complementary slackness the cheapest assignments are those over tight edges that leave only columns of potential 0
    free. So a row may take a column if a chain of tight exchanges among later rows ends at the column that it gives up.
    """
    n_rows, n_columns = len(costs), len(v)
    tight = [[j for j in range(n_columns) if costs[i][j] == u[i] + v[j]] for i in range(n_rows)]
    rows_at: list[list[int]] = [[] for _ in range(n_columns)]
    for i, columns in enumerate(tight):
        for j in columns:
            rows_at[j].append(i)
    row_of = [-1] * n_columns
    for i, j in enumerate(column_of):
        row_of[j] = i
    for i in range(n_rows):
        current = column_of[i]
        wanted = next(j for j in tight[i] if j == current or row_of[j] < 0 or row_of[j] > i)
        if wanted == current:
            continue
        # Columns that can be emptied in favour of `current`: the row of the column moves to the one that is noted here.
        moves_to = {current: -1}
        queue, frees_unused = [current], False
        for column in queue:
            if v[column] == 0 and not frees_unused:
                frees_unused = True
                for unused in range(n_columns):
                    if row_of[unused] < 0 and unused not in moves_to:
                        moves_to[unused] = column
                        queue.append(unused)
            for row in rows_at[column]:
                if row > i and column_of[row] not in moves_to:
                    moves_to[column_of[row]] = column
                    queue.append(column_of[row])
        column = next(j for j in tight[i] if j in moves_to)
        mover = i  # -1 stands for nobody: then the column stays unused
        while True:
            displaced, row_of[column] = row_of[column], mover
            if mover >= 0:
                column_of[mover] = column
            if column == current:
                break
            mover, column = displaced, moves_to[column]


# Triples ---------------------------------------------------------------------------------------------------------------

_Triple: TypeAlias = tuple[str, str, str]


def _read_triple(triple: Json) -> _Triple | None:
    if isinstance(triple, Mapping):
        parts: Sequence[Json] = [triple.get("head"), triple.get("relation"), triple.get("tail")]
    else:
        parts = triple if isinstance(triple, list | tuple) else []
    if len(parts) != 3 or not all(isinstance(part, str) for part in parts):
        return None
    head, relation, tail = map(_nfc, parts)
    return head, relation, tail


def _score_triples(reference: Mapping[str, Any], triples: Json, where: str) -> tuple[Scores, set[str]]:
    """The graph metrics of one sample: sets of triples, both empty is right."""
    golden: set[_Triple] = set()
    for place, entry in enumerate(_listed(reference["golden_triples"], f"reference {where}: golden_triples")):
        triple = _read_triple(entry)
        if triple is None:
            raise ValueError(f"reference {where}: golden_triples[{place}] is no triple; give three texts head, relation, tail.")
        golden.add(triple)
    needed = _used_entities(_entities(golden), reference.get("calls"))
    if triples is None:
        return {"kg_em": 0.0, "kg_f1": 0.0, "kg_coverage": 0.0 if needed else None}, {"no_triples"}
    read = [_read_triple(entry) for entry in _listed(triples, f"prediction {where}: triples")]
    extracted = {triple for triple in read if triple is not None}
    n_bad = read.count(None)
    n_sides = len(golden) + len(extracted) + n_bad
    codes = {"bad_triple"} if n_bad else set()
    if any((tail, relation, head) in golden for head, relation, tail in extracted - golden):
        codes.add("direction")
    return {
        "kg_em": float(golden == extracted and not n_bad),
        "kg_f1": 2 * len(golden & extracted) / n_sides if n_sides else 1.0,
        "kg_coverage": float(needed <= _entities(extracted)) if needed else None,
    }, codes


def _entities(triples: set[_Triple]) -> set[str]:
    return {entity for head, _, tail in triples for entity in (head, tail)}


def _used_entities(entities: set[str], calls: Json) -> set[str]:
    """The entities that stand in an argument of the golden calls as a whole value or as whole tokens of one."""
    texts: set[str] = set()

    def walk(value: Json) -> None:
        if isinstance(value, dict):
            for entry in value.values():
                walk(entry)
        elif isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, str):
            texts.add(value)
        elif isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**300):
            texts.add(str(value))

    for call in calls if isinstance(calls, list | tuple) else []:
        walk(_normal(call.get("arguments")) if isinstance(call, Mapping) else None)
    return {entity for entity in entities if entity and any(_has_tokens(text, entity) for text in texts)}


def _has_tokens(text: str, entity: str) -> bool:
    """The entity stands in the text as whole tokens; a number ("5") is not a token of a longer one ("1.5", "-5").

    >>> _has_tokens("dinner with Ann Lee", "Ann"), _has_tokens("Anna", "Ann"), _has_tokens("2025-09-01", "09")
    (True, False, False)
    """
    if entity == text:
        return True
    if entity not in text:
        return False
    before = r"(?<!\w)" if re.match(r"\w", entity) else ""
    after = r"(?!\w)" if re.match(r"\w", entity[-1]) else ""
    if entity[0].isdigit():
        before += r"(?<!\d[.,:/-])(?<!-)"
    if entity[-1].isdigit():
        after += r"(?![.,:/-]\d)"
    return re.search(before + re.escape(entity) + after, text) is not None
