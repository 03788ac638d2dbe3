"""The golden calls of BFCL: alternatives of each argument in a single turn, call texts in several turns, read and written.

A single turn is `[{name: {parameter: [alternative, ...]}}, ...]`; '' among the alternatives says that the argument may be left
out, and objects within an alternative hold lists of alternatives again. Several turns are lists of Python call texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from familytool.formats.benchmark_rows import Golden, add_unparsed
from familytool.formats.openai import DocumentError, shown
from familytool.formats.text import TextError
from familytool.kgetool.parse import call_text, parse_calls
from familytool.model import Json, Tool, ToolCall, canonical

LEFT_OUT = ""
MAX_CHOICES = 4_096
"""So many values of one argument are spelled out; the published sets have at most 128."""


def read_single_turn(truth: Sequence[Json], tools: Iterable[Tool], golden: Golden) -> tuple[tuple[ToolCall, ...], ...]:
    """Add the calls of a single turn to `golden`; the result is `Sample.alternatives`: empty, or all calls with their choices.

    A call takes the first alternative of each argument. In the choices, '' stays a value where the type of the parameter
    allows the empty text; elsewhere it only says that the argument may be left out.
    """
    properties = {tool.name: tool.parameters.get("properties", {}) for tool in reversed(list(tools))}
    open_calls: list[ToolCall] = []
    for number, entry in enumerate(truth):
        try:
            call, choices = _read_call(entry, number, properties, golden.notes)
        except TextError as error:
            add_unparsed(golden, number, error, entry)
            continue
        golden.calls.append(call)
        open_calls.append(choices)
    is_open = any(choice["optional"] or len(choice["$any"]) != 1 for call in open_calls for choice in call.arguments.values())
    return (tuple(open_calls),) if is_open else ()


def _read_call(entry: Json, number: int, properties: Mapping[str, Any], notes: list[str]) -> tuple[ToolCall, ToolCall]:
    if not isinstance(entry, dict) or len(entry) != 1:
        raise TextError(f"expected an object with one tool, found {shown(entry)}")
    [(name, parameters)] = entry.items()
    if not isinstance(parameters, dict):
        raise TextError(f"the arguments of '{name}' are {shown(parameters)}, not an object of alternatives")
    arguments: dict[str, Json] = {}
    choices: dict[str, Json] = {}
    for parameter, listed in parameters.items():
        where = f"call {number} ({name}): {parameter}"
        if not isinstance(listed, list):
            notes.append(f"{where} is {shown(listed)}, no list of alternatives; read as the only one")
            listed = [listed]
        if not listed:
            notes.append(f"{where} has an empty list of alternatives, so no value is right")
        schema = properties.get(name, {}).get(parameter)
        values = [value for one in listed for value in _spelled_out(one, where, notes) if one != LEFT_OUT or _takes_text(schema)]
        if len(values) > MAX_CHOICES:
            raise TextError(f"'{parameter}' has {len(values):,} values (limit {MAX_CHOICES:,})")
        choices[parameter] = {"$any": values, "optional": LEFT_OUT in listed}
        if listed and listed[0] != LEFT_OUT:
            arguments[parameter] = values[0]
    return ToolCall(name=name, arguments=arguments), ToolCall(name=name, arguments=choices)


def _takes_text(schema: Json) -> bool:
    """Whether the empty text is a value by the type (and enumeration) of a parameter, so that it can be meant."""
    if not isinstance(schema, dict):
        return True
    types = schema.get("type", "string")
    return "string" in (types if isinstance(types, list) else [types]) and LEFT_OUT in schema.get("enum", [LEFT_OUT])


def _spelled_out(value: Json, where: str, notes: list[str]) -> list[Json]:
    """The values that one alternative stands for: several where an object within it holds alternatives again."""
    if isinstance(value, list):
        return [list(items) for items in _product([_spelled_out(item, where, notes) for item in value])]
    if not isinstance(value, dict):
        return [value]
    members: list[list[tuple[Json, ...]]] = []
    for key, listed in value.items():
        if not isinstance(listed, list):
            notes.append(f"{where}/{key} is {shown(listed)}, no list of alternatives; read as the only one")
            listed = [listed]
        members.append([() if one == LEFT_OUT else (key, inner) for one in listed for inner in _spelled_out(one, f"{where}/{key}", notes)])
    return [dict(pair for pair in pairs if pair) for pairs in _product(members)]


def _product(lists: list[list[Json]]) -> list[tuple[Json, ...]]:
    total = 1
    for choices in lists:
        total *= len(choices)
        if total > MAX_CHOICES:
            raise TextError(f"one argument has more than {MAX_CHOICES:,} values")
    return list(product(*lists))


def read_turns(turns: Sequence[Json], tools: Iterable[Tool], golden: Golden) -> list[int]:
    """Add the calls of several turns to `golden`; how many calls there are in each turn."""
    signatures = {tool.name: list(tool.parameters.get("properties", {})) for tool in tools}
    counts: list[int] = []
    number = 0
    for turn in turns:
        before = len(golden.calls)
        for text in turn if isinstance(turn, list) else [turn]:
            _add_text(golden, number, text, signatures)
            number += 1
        counts.append(len(golden.calls) - before)
    return counts


def _add_text(golden: Golden, number: int, text: Json, signatures: Mapping[str, list[str]]) -> None:
    if not isinstance(text, str):
        add_unparsed(golden, number, TextError(f"{shown(text)} is no call text"), text)
        return
    parsed = parse_calls(text, signatures)
    if parsed.faults:
        add_unparsed(golden, number, TextError(parsed.faults[0].message, parsed.faults[0].code), text)
        return
    golden.calls += [ToolCall(name=call["name"], arguments=call["arguments"]) for call in parsed.calls]
    golden.notes += [f"call {number}: {note}" for note in parsed.notes]


Choices = list[dict[str, dict[str, Json]]]
"""For each call: parameter -> `{"$any": values, "optional": whether it may be left out}`."""


def choices_of(calls: Sequence[ToolCall], alternatives: Sequence[Sequence[ToolCall]]) -> Choices:
    """The choices of each argument, in agreement with the calls: a call that was changed counts, not what was accepted before.

    Raises:
        DocumentError: the alternatives are not choices for the arguments of these calls.
    """
    if not alternatives:
        return [{name: {"$any": [value], "optional": False} for name, value in call.arguments.items()} for call in calls]
    if len(alternatives) > 1 or len(alternatives[0]) != len(calls):
        raise DocumentError("it accepts other lists of calls, and this form has alternatives of single arguments only")
    return [_agreed(call, accepted) for call, accepted in zip(calls, alternatives[0], strict=True)]


def _agreed(call: ToolCall, accepted: ToolCall) -> dict[str, dict[str, Json]]:
    agreed: dict[str, dict[str, Json]] = {}
    for name, choice in accepted.arguments.items():
        if not (isinstance(choice, dict) and isinstance(choice.get("$any"), list) and choice.keys() <= {"$any", "optional"}):
            choice = {"$any": [choice]}
        values, optional = choice["$any"], choice.get("optional") is True
        if name in call.arguments:
            said = call.arguments[name]
            if not values or canonical(values[0]) != canonical(said):
                values = [said, *(value for value in values[1:] if canonical(value) != canonical(said))]
        elif not optional and values:
            continue
        agreed[name] = {"$any": values, "optional": optional}
    agreed.update({name: {"$any": [value], "optional": False} for name, value in call.arguments.items() if name not in agreed})
    return agreed


def write_call(call: ToolCall, choices: dict[str, dict[str, Json]], before: dict[str, dict[str, Json]], entry: Json) -> Json:
    """A call as an entry of a single turn; an argument with the choices it had `before` keeps its spelling in `entry`.

    Raises:
        DocumentError: an argument that is the empty text and may not be left out.
    """
    spelled = next(iter(entry.values())) if isinstance(entry, dict) and len(entry) == 1 else {}
    arguments: dict[str, Json] = {}
    for name, choice in choices.items():
        if name in spelled and canonical(before.get(name)) == canonical(choice):
            arguments[name] = spelled[name]
        else:
            arguments[name] = _listed(choice, name in call.arguments)
    return {call.name: arguments}


def _listed(choice: dict[str, Json], is_given: bool) -> list[Json]:
    """The alternatives of an argument, with '' where it may be left out: first if it is, last if it is not."""
    if LEFT_OUT in choice["$any"] and not choice["optional"]:
        raise DocumentError("an argument is the empty text, which means 'may be left out' in this form")
    listed = [_folded(value) for value in choice["$any"]]
    if choice["optional"] and LEFT_OUT not in listed:
        listed.insert(len(listed) if is_given else 0, LEFT_OUT)
    return listed


def _folded(value: Json) -> Json:
    """A value as an alternative: each member of an object in a list of its own."""
    if isinstance(value, list):
        return [_folded(item) for item in value]
    return {key: [_folded(inner)] for key, inner in value.items()} if isinstance(value, dict) else value


def write_text(call: ToolCall) -> str:
    """A call as Python call text (DocumentError: its name cannot be written so).

    >>> write_text(ToolCall(name="sort", arguments={"file": "a.txt", "reverse": True}))
    'sort(file="a.txt", reverse=True)'
    """
    try:
        return call_text([{"name": call.name, "arguments": call.arguments}])[1:-1]
    except ValueError as error:
        raise DocumentError(str(error)) from None
