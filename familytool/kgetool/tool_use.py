"""Scores of tool use: one sample's calls against its golden calls."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from .calls import Argument, Call, GoldenCall, read_calls, read_golden_calls, read_sources
from .differences import difference
from .lenience import Lenience
from .matching import best_assignment
from .rows import Scores, listed
from .strict_json import Json
from .tools import NO_TOOL, TYPES, Tool, read_tools
from .values import LIMIT, is_equal, normal

TOOL_METRICS = ("em", "tool_acc", "tool_precision", "tool_recall", "tool_f1", "value_acc", "value_f1", "value_acc_kg", "value_acc_query")


def score_calls(reference: Mapping[str, Any], calls: Json, where: str, lenience: Lenience | None = None) -> tuple[Scores, set[str]]:
    """The tool metrics of one sample on its best reading (the golden calls, then the alternatives; the first on ties).

    Values are compared typed; with `lenience`, what it takes for the same is equal, too.
    """
    sources = read_sources(reference, where)
    readings = [read_golden_calls(reference["calls"], sources, f"reference {where}: calls")]
    for place, alternative in enumerate(listed(reference.get("alternatives") or [], f"reference {where}: alternatives")):
        readings.append(read_golden_calls(alternative, sources, f"reference {where}: alternatives[{place}]"))
    predicted = None if calls is None else read_calls(calls, where)
    names = {call.name for reading in readings for call in reading}
    tools, offered = read_tools(reference, names, where)
    notes = {"schema_gold_violation"} if any(_breaks_schema(call, tools.get(call.name, NO_TOOL)) for call in readings[0]) else set()
    if predicted is None:
        return _wrong_scores(readings[0]), notes | {"no_calls"}
    known = None if offered is None else offered | names
    if lenience is not None:
        predicted = _with_known_names(predicted, names if known is None else known)
    judged: tuple[Scores, set[str]] | None = None
    for reading in readings:
        scores, codes = _score_reading(reading, predicted, tools, known, reference.get("ordered") is True, lenience)
        if judged is None or scores["em"] == 1:
            judged = scores, codes
        if scores["em"] == 1:
            break
    assert judged is not None
    return judged[0], judged[1] | notes


def _breaks_schema(call: GoldenCall, tool: Tool) -> bool:
    """A diagnostic of the data: it is noted, and changes no score."""
    if not tool.required <= call.arguments.keys() or (tool.closed and not call.arguments.keys() <= tool.properties.keys()):
        return True
    for parameter, argument in call.arguments.items():
        schema = tool.properties.get(parameter, {})
        stated, enum = schema.get("type"), schema.get("enum")
        types = [stated] if isinstance(stated, str) else stated if isinstance(stated, list) else []
        checks = [TYPES[name] for name in types if isinstance(name, str) and name in TYPES]
        for value in argument.choices:
            if checks and not any(check(value) for check in checks):
                return True
            if isinstance(enum, list) and not any(is_equal(value, normal(item)) for item in enum):
                return True
    return False


def _wrong_scores(golden: list[GoldenCall]) -> Scores:
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


def _with_known_names(calls: list[Call], known: set[str]) -> list[Call]:
    """The calls with the name of a tool where theirs is that name as providers spell it, of exactly one tool."""
    named: dict[str, list[str]] = defaultdict(list)
    for name in known:
        named[_sanitised(name)].append(name)
    found = []
    for call in calls:
        candidates = [] if call.name is None or call.name in known else named.get(_sanitised(call.name), [])
        found.append(call._replace(name=candidates[0]) if len(candidates) == 1 else call)
    return found


def _score_reading(
    golden: list[GoldenCall],
    predicted: list[Call],
    tools: Mapping[str, Tool],
    known: set[str] | None,
    ordered: bool,
    lenience: Lenience | None,
) -> tuple[Scores, set[str]]:
    pairs = _pair_calls(golden, predicted, tools, lenience)
    codes: set[str] = set()
    hits: Counter[str] = Counter()
    n_exact = n_surplus = 0
    for left, right in pairs:
        tool = tools.get(golden[left].name, NO_TOOL)
        hit, surplus, found = _judge_pair(golden[left], predicted[right], tool, lenience)
        hits.update(golden[left].arguments[parameter].source for parameter in hit)
        n_surplus += surplus
        n_exact += _compare(golden[left], predicted[right], tool, lenience)[0]
        codes |= found
    paired = {right for _, right in pairs}
    for right, call in enumerate(predicted):
        if right not in paired:
            defaults = tools.get(call.name or "", NO_TOOL).defaults
            n_surplus += sum(not _is_default(parameter, value, defaults) for parameter, value in (call.arguments or {}).items())
    codes |= _call_codes(golden, predicted, pairs, known)

    is_exact = n_exact == len(golden) == len(predicted)
    if is_exact and ordered and not all(_is_exact(left, right, tools, lenience) for left, right in zip(golden, predicted, strict=True)):
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
    """Whether the value is the one that the tool takes where none is given."""
    return parameter in defaults and is_equal(value, defaults[parameter])


def _is_hit(parameter: str, argument: Argument, arguments: Mapping[str, Json], tool: Tool, lenience: Lenience | None) -> bool:
    """The golden pair was predicted, in so many words or (since absent means default) by leaving it out."""
    if parameter in arguments:
        value = arguments[parameter]
        if any(is_equal(choice, value) for choice in argument.choices):
            return True
        if argument.optional and _is_default(parameter, value, tool.defaults):
            return True
        schema = tool.properties.get(parameter, {})
        return lenience is not None and any(lenience.same(choice, value, schema) for choice in argument.choices)
    if argument.optional or any(_is_default(parameter, choice, tool.defaults) for choice in argument.choices):
        return True
    return lenience is not None and None in argument.choices


def _compare(golden: GoldenCall, predicted: Call, tool: Tool, lenience: Lenience | None) -> tuple[bool, int]:
    """Whether the call is exact, and how many of the golden pairs it has."""
    arguments = predicted.arguments
    if arguments is None:
        return False, 0
    hits = sum(_is_hit(parameter, argument, arguments, tool, lenience) for parameter, argument in golden.arguments.items())
    if hits < len(golden.arguments):
        return False, hits
    return all(name in golden.arguments or _is_default(name, value, tool.defaults) for name, value in arguments.items()), hits


def _is_exact(golden: GoldenCall, predicted: Call, tools: Mapping[str, Tool], lenience: Lenience | None) -> bool:
    return golden.name == predicted.name and _compare(golden, predicted, tools.get(golden.name, NO_TOOL), lenience)[0]


def _judge_pair(golden: GoldenCall, predicted: Call, tool: Tool, lenience: Lenience | None) -> tuple[list[str], int, set[str]]:
    """The golden parameters that were hit, the number of surplus pairs, and the codes.

    A predicted argument that is the default is never surplus: the call means the same without it.
    """
    if predicted.arguments is None:
        return [], 0, {"bad_arguments"}
    hits, n_surplus, codes = [], 0, set()
    for parameter, argument in golden.arguments.items():
        hit = _is_hit(parameter, argument, predicted.arguments, tool, lenience)
        if hit:
            hits.append(parameter)
        if parameter not in predicted.arguments:
            codes |= {"missing_param"} if not hit else set() if argument.optional else {"default_used"}
            continue
        value = predicted.arguments[parameter]
        if not hit:
            n_surplus += not _is_default(parameter, value, tool.defaults)
            schema = tool.properties.get(parameter, {})
            reasons = [difference(choice, value, schema) for choice in argument.choices] or [{"value_wrong"}]
            codes |= min(reasons, key=lambda reason: reason == {"value_wrong"})  # of several choices, the one nearest to it
    for parameter, value in predicted.arguments.items():
        if parameter not in golden.arguments:
            default = _is_default(parameter, value, tool.defaults)
            n_surplus += not default
            codes.add("default_used" if default else "parse_limit" if value is LIMIT else "extra_param")
    return hits, n_surplus, codes


def _call_codes(golden: list[GoldenCall], predicted: list[Call], pairs: list[tuple[int, int]], known: set[str] | None) -> set[str]:
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
    """The name as providers that allow few characters write it."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _pair_calls(
    golden: list[GoldenCall], predicted: list[Call], tools: Mapping[str, Tool], lenience: Lenience | None
) -> list[tuple[int, int]]:
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
        tool = tools.get(name, NO_TOOL)
        base = 1 + sum(len(golden[place].arguments) for place in left)  # one exact call outweighs all pairs there are
        gains = [[exact * base + hits for exact, hits in (_compare(golden[i], predicted[j], tool, lenience) for j in right)] for i in left]
        pairs += [(left[i], right[j]) for i, j in best_assignment(gains)]
    return pairs
