"""Calls in values that are decoded already, and their arguments, in every vendor's shape."""

import json
import re
from typing import Any

import pytest

from familytool.kgetool.parse import calls_of, parse_arguments, parse_calls
from familytool.kgetool.strict_json import TextError

TEXT, OBJECT = '{"a": 1}', {"a": 1}
NAMED = {"name": "f", "arguments": TEXT}

SHAPES: dict[str, Any] = {
    "imp-029-text": NAMED,
    "imp-029-object": {"name": "f", "arguments": OBJECT},
    "imp-029-parameters": {"name": "f", "parameters": OBJECT},
    "imp-029-input": {"name": "f", "input": OBJECT},
    "imp-029-args": {"name": "f", "args": OBJECT},
    "imp-029-list": [NAMED],
    "imp-029-text-twice-named": {"name": "f", "arguments": TEXT, "input": OBJECT},
    "tool call of OpenAI": {"id": "1", "type": "function", "function": NAMED},
    "chat message": {"role": "assistant", "content": "Looking.", "tool_calls": [{"type": "function", "function": NAMED}]},
    "chat response": {
        "id": "x",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": None, "tool_calls": [{"function": NAMED}]}}],
    },
    "legacy message": {"role": "assistant", "content": None, "function_call": NAMED},
    "legacy message with a name": {"role": "assistant", "name": "bot", "function_call": NAMED},
    "item of Responses": {"type": "function_call", "id": "fc", "call_id": "c", "status": "completed", **NAMED},
    "response of Responses": {
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "f"}], "content": []},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "{}"}]},
            {"type": "function_call", "call_id": "c", **NAMED},
        ]
    },
    "block of Anthropic": {"type": "tool_use", "id": "t", "name": "f", "input": OBJECT},
    "message of Anthropic": {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "g()"},
            {"type": "text", "text": '{"name": "g", "arguments": {}}'},
            {"type": "tool_use", "id": "t", "name": "f", "input": OBJECT},
        ],
    },
    "part of Gemini": {"functionCall": {"name": "f", "args": OBJECT}, "thoughtSignature": "x"},
    "response of Gemini": {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "x"}, {"functionCall": {"name": "f", "args": OBJECT}}]}}]
    },
    "request of MCP": {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "f", "arguments": OBJECT}},
    "message of FamilyTool": {"role": "tool_call", "content": [{"name": "f", "parameters": OBJECT, "depend_on": []}]},
    "call of LangChain": {"name": "f", "args": OBJECT, "id": "1", "type": "tool_call"},
}


@pytest.mark.parametrize("value", SHAPES.values(), ids=SHAPES.keys())
def test_every_shape_of_a_vendor_is_the_same_call(value: Any) -> None:
    for parsed in (calls_of(value), parse_calls(json.dumps(value))):
        assert (parsed.calls, parsed.faults, parsed.repairs) == (({"name": "f", "arguments": OBJECT},), (), ())


def test_every_call_of_a_message_is_read_in_order() -> None:
    message = {"role": "assistant", "tool_calls": [{"function": {"name": name, "arguments": "{}"}} for name in ("f", "g", "f")]}
    assert [call["name"] for call in calls_of(message).calls] == ["f", "g", "f"]


def test_a_text_in_arguments_that_is_json_stays_a_text() -> None:
    inner = {"a": '{"b": "1"}', "n": "1"}
    assert calls_of({"name": "f", "arguments": json.dumps(inner)}).calls == ({"name": "f", "arguments": inner},)


@pytest.mark.parametrize(
    "value", [[], {"role": "assistant", "content": "No."}, {"tool_calls": []}, {"role": "model", "parts": [{"text": "No."}]}]
)
def test_a_message_without_calls_has_none_and_no_fault(value: Any) -> None:
    parsed = calls_of(value)
    assert (parsed.calls, parsed.faults) == ((), ())


def test_text_beside_calls_and_keys_that_say_nothing_are_noted() -> None:
    parsed = calls_of({"content": [{"type": "text", "text": "x"}, {**NAMED, "confidence": 1}]})
    assert parsed.notes == (
        "what is no call was set aside, at /content/0",
        "the keys 'confidence' beside the call of 'f' were not used, at /content/1",
    )


NO_CALLS: dict[str, tuple[Any, str]] = {
    "two answers": ({"choices": [{"message": {}}, {"message": {}}]}, "2 answers side by side, .* /choices"),
    "val-021": ({"name": "f", "arguments": {"a": float("nan")}}, "nan is not JSON, at /arguments/a"),
    "val-021-in-text": ({"name": "f", "arguments": '{"a": -Infinity}'}, "-Infinity is not JSON"),
    "a tuple": ({"name": "f", "arguments": {"a": (1,)}}, "a tuple is no value"),
    "a text": ("f(a=1)", "a text is no call"),
    "null": (None, "null is no call"),
    "a number in a list": ([1], "a number is no call, at /0"),
    "an unknown block": ({"content": [{"temperature": 3}]}, "no call .* at /content/0"),
    "an output that is no response": ({"output": {"temperature": 3}}, "no call .* at /output"),
    "a document of OpenAI": ({"type": "function", "function": {"name": "f", "description": "d", "parameters": {}}}, "tool document"),
    "a document of MCP": ({"name": "f", "inputSchema": {"type": "object"}}, "tool document"),
    "a document without a description": ({"name": "f", "parameters": {"type": "object", "properties": {}}}, "tool document"),
    "null in a list": ([NAMED, {"name": "g", "arguments": None}], "null, not an object, at /1/arguments"),
    "gen-006-differ": (
        {"name": "f", "arguments": TEXT, "input": {"a": True}},
        "two argument objects that differ, under arguments and input",
    ),
    "MCP without parameters": ({"method": "tools/call"}, "null is no call, at /params"),
    "a list within a list": ([[NAMED]], "list within a list"),
    "imp-029-encoded-twice": ({"name": "f", "arguments": json.dumps(TEXT)}, "encoded twice"),
}


@pytest.mark.parametrize(("value", "message"), NO_CALLS.values(), ids=NO_CALLS.keys())
def test_a_value_that_is_no_call_is_a_fault_with_its_pointer(value: Any, message: str) -> None:
    parsed = calls_of(value)
    assert parsed.calls == ()
    assert [fault.code for fault in parsed.faults] == ["parse_error"]
    assert re.search(message, parsed.faults[0].message)


def test_a_value_that_contains_itself_is_a_fault() -> None:
    value: list[Any] = []
    value.append(value)
    assert "nested deeper" in calls_of(value).faults[0].message


ARGUMENTS: dict[str, tuple[Any, str]] = {
    "null": (None, "parse_error"),
    "a number": (3, "parse_error"),
    "a list": ("[1]", "parse_error"),
    "an empty text": ("", "parse_error"),
    "two objects": ("{} {}", "parse_error"),
    "imp-031": ('{"a":1,"a":2}', "duplicate_key"),
    "imp-027": ('{"animeId": ${animeId from searchAnime}, "n": 2}', "parse_error"),
    "val-021": ('{"x": NaN}', "parse_error"),
    "val-021-object": ({"x": float("inf")}, "parse_error"),
    "cut off": ('{"a": "x', "truncated"),
    "a set": ({"a": {1}}, "parse_error"),
    "half a surrogate pair": ({"a": "\ud800"}, "parse_error"),
    "cut off and in single quotes": ("{'a': 1", "parse_error"),
    "a key twice and in single quotes": ("{'a': 1, 'a': 2}", "parse_error"),
}


@pytest.mark.parametrize(("value", "code"), ARGUMENTS.values(), ids=ARGUMENTS.keys())
def test_what_is_no_object_of_arguments_is_refused_with_a_code_also_with_repairs(value: Any, code: str) -> None:
    repairs: list[str] = []
    for asked in (None, repairs):
        with pytest.raises(TextError) as caught:
            parse_arguments(value, asked)
        assert caught.value.code == code
    assert repairs == []


def test_arguments_are_read_from_an_object_and_from_its_text() -> None:
    assert parse_arguments(TEXT) == parse_arguments(OBJECT) == OBJECT


def test_arguments_are_repaired_only_where_the_repairs_are_recorded() -> None:
    with pytest.raises(TextError):
        parse_arguments("{'a': 1,}")
    repairs: list[str] = []
    assert parse_arguments("{'a': 1,}", repairs) == OBJECT
    assert [repair.partition(":")[0] for repair in repairs] == ["quotes that JSON does not know", "a comma before the closing bracket"]


GEN_010 = {
    "a comma too many": ('{"a": 1,}', {"a": 1}, "comma before the closing"),
    "a comment": ('{"a": 1 // n\n}', {"a": 1}, "a comment was left out"),
    "a key without quotes": ("{a: 1}", {"a": 1}, "a key without quotes"),
    "typographic quotes": ("{“a”: “b”}", {"a": "b"}, "quotes that JSON does not know"),
    "a number that starts with 0": ('{"a": 007}', None, ""),
    "a hexadecimal number": ('{"a": 0x1F}', None, ""),
    "a set": ('{"a": {1, 2}}', None, ""),
}


@pytest.mark.parametrize(("text", "meant", "repair"), GEN_010.values(), ids=[f"gen-010 {name}" for name in GEN_010])
def test_a_small_defect_is_a_failure_and_repaired_only_where_asked_and_where_no_value_changes(
    text: str, meant: dict[str, Any] | None, repair: str
) -> None:
    with pytest.raises(TextError) as refused:
        parse_arguments(text)
    assert refused.value.code == "parse_error"
    repairs: list[str] = []
    if meant is None:
        with pytest.raises(TextError):
            parse_arguments(text, repairs)
        assert repairs == []
    else:
        assert parse_arguments(text, repairs) == meant
        assert repairs and all(repair in told for told in repairs)
