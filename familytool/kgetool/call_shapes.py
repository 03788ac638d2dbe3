"""Tool calls in the shapes of JSON in which vendors and data sets write them, already decoded.

Taken are: OpenAI chat messages (`tool_calls`), Responses items (`function_call`), the legacy `function_call`, Anthropic blocks
(`tool_use`), Gemini parts (`functionCall`), MCP requests (`tools/call`), whole responses that hold one of these, plain
`{name, arguments}` (or `parameters`, `input`, `args`), and lists of them. Arguments that are a text are decoded once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any

from .strict_json import Json, TextError, shown

Call = dict[str, Any]
Decode = Callable[[str], Json]
"""Reads the text of arguments; TextError if it cannot."""

_ARGUMENT_KEYS = ("arguments", "parameters", "input", "args")
_OTHER_KEYS = {"id", "call_id", "type", "index", "status", "object", "caller", "depend_on", "label", "thoughtSignature", "role"}
"""What may stand beside name and arguments and says nothing about the call."""

_DOCUMENT_KEYS = {"description", "inputSchema", "input_schema", "parametersJsonSchema", "strict"}
_WRAPPERS = ("functionCall", "function_call", "function")
_HOLDERS = ("tool_calls", "choices", "output", "candidates", "content", "parts", "message")
"""Under which keys a message or a whole response holds calls, and text beside them."""

_ASIDE_TYPES = {"text", "output_text", "refusal", "reasoning", "thinking", "redacted_thinking", "tool_result", "function_call_output"}
_ASIDE_KEYS = {"text", "thought", "thoughtSignature", "functionResponse", "inlineData", "executableCode", "codeExecutionResult"}
"""By which types and keys a part of a message is known to be no call."""


def read_calls(value: Json, decode: Decode, notes: list[str], pointer: str = "") -> list[Call]:
    """The calls of a decoded JSON value; `notes` gets a sentence on each thing set aside.

    Raises:
        TextError: there is no call, or one that cannot be read; the message says where, as a JSON pointer.
    """
    if isinstance(value, list):
        calls: list[Call] = []
        for at, item in enumerate(value):
            if isinstance(item, list):
                raise TextError(f"a list within a list of calls{_at(f'{pointer}/{at}')}")
            calls += read_calls(item, decode, notes, f"{pointer}/{at}")
        return calls
    if not isinstance(value, dict):
        raise TextError(f"{_kind(value)} is no call{_at(pointer)}")
    if value.get("method") == "tools/call":
        return [_call(value.get("params"), decode, notes, f"{pointer}/params")]
    is_message = "role" in value
    if "name" in value and not (is_message and not any(key in value for key in _ARGUMENT_KEYS)):
        return [_call(value, decode, notes, pointer)]
    wrapped = [key for key in _WRAPPERS if isinstance(value.get(key), dict)]
    held = [key for key in _HOLDERS if isinstance(value.get(key), list | dict)]
    if not wrapped and not held and not is_message:
        raise TextError(f"an object with {_names(value)} is no call (it has no 'name'){_at(pointer)}")
    calls = [_call(value[key], decode, notes, f"{pointer}/{key}") for key in wrapped]
    for key in held:
        calls += _held(value[key], key, decode, notes, f"{pointer}/{key}")
    if isinstance(value.get("content"), str) and value["content"].strip():
        notes.append(f"text beside the calls was set aside{_at(f'{pointer}/content')}")
    return calls


def _held(held: Json, key: str, decode: Decode, notes: list[str], pointer: str) -> list[Call]:
    """The calls under a key that holds some; text and reasoning there are no calls."""
    if key in ("choices", "candidates") and isinstance(held, list) and len(held) > 1:
        raise TextError(f"{len(held)} answers side by side, and which of them counts is not said{_at(pointer)}")
    calls: list[Call] = []
    for at, item in enumerate(held if isinstance(held, list) else [held]):
        where = f"{pointer}/{at}" if isinstance(held, list) else pointer
        if isinstance(item, dict) and (item.get("type") in _ASIDE_TYPES or (item.keys() <= _ASIDE_KEYS and item)):
            notes.append(f"what is no call was set aside{_at(where)}")
        else:
            calls += read_calls(item, decode, notes, where)
    return calls


def _call(value: Json, decode: Decode, notes: list[str], pointer: str) -> Call:
    if not isinstance(value, dict):
        raise TextError(f"{_kind(value)} is no call{_at(pointer)}")
    name = value.get("name")
    if not isinstance(name, str) or not name.strip():
        raise TextError(f"the name of a call is {'empty' if isinstance(name, str) else _kind(name)}{_at(f'{pointer}/name')}")
    given = [key for key in _ARGUMENT_KEYS if key in value]
    surplus = [key for key in value if key != "name" and key not in _ARGUMENT_KEYS and key not in _OTHER_KEYS]
    if given in ([], ["parameters"]) and (not _DOCUMENT_KEYS.isdisjoint(value) or _is_schema(value.get("parameters"))):
        raise TextError(f"a tool document of {shown(name)} is no call{_at(pointer)}")
    if not given and surplus:
        raise TextError(f"the call of {shown(name)} has no arguments but the keys {_names(surplus)}{_at(pointer)}")
    if not given:
        notes.append(f"the call of {shown(name)} has no arguments; read as none{_at(pointer)}")
        return {"name": name, "arguments": {}}
    read = [arguments_of(value[key], decode, f"{pointer}/{key}") for key in given]
    if any(_text(other) != _text(read[0]) for other in read[1:]):
        raise TextError(f"two argument objects that differ, under {' and '.join(given)}{_at(pointer)}")
    if surplus:
        notes.append(f"the keys {_names(surplus)} beside the call of {shown(name)} were not used{_at(pointer)}")
    return {"name": name, "arguments": read[0]}


def _is_schema(value: Json) -> bool:
    """Whether what stands under `parameters` is the schema of a tool document and not arguments."""
    return isinstance(value, dict) and value.get("type") in ("object", "dict") and isinstance(value.get("properties"), dict)


def arguments_of(value: Json, decode: Decode, pointer: str = "") -> dict[str, Json]:
    """An object of arguments: as it is, or from its text, which is decoded once.

    Raises:
        TextError: it is no object, or a text that holds none.
    """
    is_text = isinstance(value, str)
    if is_text:
        if not value.strip():
            raise TextError(f"the text of the arguments is empty{_at(pointer)}")
        try:
            value = decode(value)
        except TextError as error:
            raise TextError(f"the text of the arguments: {error}{_at(pointer)}", error.code, error.at) from None
    if isinstance(value, dict):
        return value
    twice = ": it was encoded twice, and only the first layer is decoded" if is_text and isinstance(value, str) else ""
    raise TextError(f"the arguments are {_kind(value)}, not an object{twice}{_at(pointer)}")


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True)


def _at(pointer: str) -> str:
    return f", at {pointer}" if pointer else ""


def _names(keys: Collection[str]) -> str:
    names = ", ".join(shown(key, 30) for key in list(keys)[:5])
    return names + (", ..." if len(keys) > 5 else "") if names else "no keys"


def _kind(value: Json) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    names = {str: "a text", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), f"a {type(value).__name__}")
