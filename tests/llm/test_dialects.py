"""Requests as bodies in each dialect, and whatever a server sends as an answer or as the reason why it is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.llm.dialects import (
    Dialect,
    UnreadableResponse,
    adapted,
    answer_of,
    cached_tokens,
    chat_body,
    error_message,
    is_strict,
    read_body,
)
from familytool.llm.requests import Request, Sampling, Usage
from familytool.llm.thinking import set_thinking_apart

CLOSED = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
USER = {"role": "user", "content": "Where?"}


def request(**fields: Any) -> Request:
    return Request(**{"model": "m", "messages": (USER,), **fields})


def completion(message: dict[str, Any], reason: str = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}], **more}


# -- bodies


def test_a_body_says_what_was_asked_and_leaves_out_what_was_not() -> None:
    assert chat_body(request(), Dialect()) == {"model": "m", "messages": [USER], "max_tokens": 1024}
    sampling = Sampling(temperature=0.0, top_p=0.9, seed=0, max_output=7, stop=("\n",))
    tools = ({"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}},)
    assert chat_body(request(sampling=sampling, tools=tools), Dialect()) == {
        "model": "m",
        "messages": [USER],
        "max_tokens": 7,
        "temperature": 0.0,
        "top_p": 0.9,
        "seed": 0,
        "stop": ["\n"],
        "tools": list(tools),
    }


def test_a_dialect_renames_the_output_limit_and_leaves_out_what_the_endpoint_refuses() -> None:
    sampling = Sampling(temperature=0.7, top_p=0.9, seed=3, max_output=7)
    dialect = Dialect(limit="max_completion_tokens", refused=("seed", "temperature"))
    assert chat_body(request(sampling=sampling), dialect) == {"model": "m", "messages": [USER], "max_completion_tokens": 7}


def test_a_schema_is_enforced_where_the_endpoint_can_and_stands_in_the_prompt_where_it_cannot() -> None:
    asked = request(answer_schema=CLOSED)
    enforced = chat_body(asked, Dialect(has_schema=True))
    assert enforced["response_format"]["json_schema"] == {"name": "answer", "schema": CLOSED, "strict": True}
    assert enforced["messages"] == [USER]
    plain = chat_body(asked, Dialect())
    assert "response_format" not in plain
    assert plain["messages"][0]["content"].startswith("Where?\n\nAnswer with one JSON value")
    assert json.loads(plain["messages"][0]["content"].rpartition("\n")[2]) == CLOSED
    assert asked.messages == (USER,)


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param((), id="none"),
        pytest.param(({"role": "system", "content": "Be brief."},), id="system last"),
        pytest.param((USER, {"role": "assistant", "content": "Here"}), id="assistant last"),
        pytest.param(({"role": "user", "content": [{"type": "text", "text": "Where?"}]},), id="parts"),
    ],
)
def test_the_schema_is_a_message_of_its_own_where_the_last_one_is_no_text_of_a_user(messages: tuple[dict[str, Any], ...]) -> None:
    body = chat_body(request(messages=messages, answer_schema=CLOSED), Dialect())
    assert body["messages"][:-1] == list(messages)
    assert body["messages"][-1]["role"] == "user"


def test_the_dialect_is_no_part_of_the_key() -> None:
    asked = request(answer_schema=CLOSED)
    bodies = [chat_body(asked, dialect) for dialect in (Dialect(), Dialect(has_schema=True), Dialect(limit="max_completion_tokens"))]
    assert len({json.dumps(body, sort_keys=True) for body in bodies}) == 3
    assert asked.key == request(answer_schema=CLOSED).key


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        pytest.param(CLOSED, True, id="closed"),
        pytest.param({**CLOSED, "additionalProperties": True}, False, id="open"),
        pytest.param({**CLOSED, "required": []}, False, id="optional property"),
        pytest.param({**CLOSED, "required": "city"}, False, id="required is a text"),
        pytest.param({**CLOSED, "required": [["city"]]}, False, id="required holds a list"),
        pytest.param({**CLOSED, "properties": {"city": True}}, False, id="boolean schema inside"),
        pytest.param({**CLOSED, "properties": {"city": {"type": "array", "items": CLOSED}}}, True, id="closed items"),
        pytest.param({**CLOSED, "properties": {"city": {"type": "array", "items": {"type": "object"}}}}, False, id="open items"),
        pytest.param({**CLOSED, "properties": {"city": {"anyOf": [CLOSED, {"type": "null"}]}}}, True, id="anyOf inside"),
        pytest.param({**CLOSED, "properties": {"city": {"anyOf": [{"properties": {}}]}}}, False, id="open anyOf inside"),
        pytest.param({**CLOSED, "properties": {"city": {"oneOf": [CLOSED]}}}, False, id="oneOf inside"),
        pytest.param({**CLOSED, "$defs": {"a": {"type": ["object", "null"]}}}, False, id="open definition"),
        pytest.param({**CLOSED, "anyOf": [CLOSED]}, False, id="anyOf at the root"),
        pytest.param({"type": "array", "items": CLOSED}, False, id="array at the root"),
        pytest.param(True, False, id="boolean"),
    ],
)
def test_strict_is_asked_for_only_where_the_schema_is_in_the_strict_subset(schema: Any, strict: bool) -> None:
    assert is_strict(schema) is strict


REFUSALS = [
    pytest.param(
        '{"error": {"message": "Unsupported parameter: \'max_tokens\' is not supported with this model. Use \'max_completion_tokens\' '
        'instead.", "param": "max_tokens", "code": "unsupported_parameter"}}',
        {"limit": "max_completion_tokens"},
        id="openai max_tokens",
    ),
    pytest.param(
        '{"error": {"message": "Unsupported value: \'temperature\' does not support 0.0 with this model.", "param": "temperature"}}',
        {"refused": ("temperature",)},
        id="openai temperature",
    ),
    pytest.param(
        '{"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}',
        {"refused": ("seed",)},
        id="fastapi seed",
    ),
    pytest.param('{"error": {"message": "This response_format type is unavailable now"}}', {"has_schema": False}, id="response_format"),
    pytest.param('{"error": "Invalid schema for function: unsupported keyword"}', {"has_schema": False}, id="schema"),
    pytest.param('{"error": {"message": "context length exceeded"}}', None, id="something else"),
    pytest.param("<html>Bad request</html>", None, id="no JSON"),
]


@pytest.mark.parametrize(("told", "change"), REFUSALS)
def test_a_refusal_that_names_its_reason_changes_that(told: str, change: dict[str, Any] | None) -> None:
    dialect = Dialect(has_schema=True)
    body = chat_body(request(answer_schema=CLOSED, sampling=Sampling(temperature=0.0, seed=1)), dialect)
    changed = adapted(dialect, told, body)
    assert changed == (None if change is None else dialect.model_copy(update=change))


def test_a_refusal_of_what_was_not_sent_changes_nothing() -> None:
    dialect = Dialect(limit="max_completion_tokens")
    assert adapted(dialect, "seed, temperature, response_format, max_tokens", chat_body(request(), dialect)) is None


# -- answers


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        pytest.param(completion({"content": "Ravenna"}), {"outcome": "answered", "text": "Ravenna"}, id="text"),
        pytest.param(completion({"content": None}), {"outcome": "empty", "text": ""}, id="null"),
        pytest.param(completion({}), {"outcome": "empty", "text": ""}, id="no content"),
        pytest.param(completion({"content": " \n"}), {"outcome": "empty"}, id="space"),
        pytest.param(completion({"content": "Rav"}, "length"), {"outcome": "cut", "text": "Rav"}, id="cut"),
        pytest.param(completion({"content": ""}, "length"), {"outcome": "cut", "text": ""}, id="cut before a word"),
        pytest.param(completion({"content": "Rav"}, "max_tokens"), {"outcome": "cut"}, id="cut by another name"),
        pytest.param(completion({"content": None, "refusal": "No."}), {"outcome": "refused", "text": "No."}, id="refusal"),
        pytest.param(completion({"content": "", "refusal": "No"}, "length"), {"outcome": "refused"}, id="cut refusal"),
        pytest.param(completion({"content": "Ra", "refusal": None}, "content_filter"), {"outcome": "refused", "text": "Ra"}, id="filter"),
        pytest.param(completion({"content": "a", "refusal": ""}), {"outcome": "answered", "text": "a"}, id="empty refusal"),
        pytest.param(
            completion({"content": [{"type": "text", "text": "Ra"}, {"type": "text", "text": "venna"}]}),
            {"outcome": "answered", "text": "Ravenna"},
            id="parts",
        ),
        pytest.param(
            completion({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "a"}]}),
            {"text": "a", "thinking": "hm"},
            id="thinking part",
        ),
        pytest.param(completion({"content": "a", "reasoning_content": "hm"}), {"text": "a", "thinking": "hm"}, id="reasoning_content"),
        pytest.param(completion({"content": "a", "reasoning": "hm"}), {"text": "a", "thinking": "hm"}, id="reasoning"),
        pytest.param(
            completion({"content": "a", "reasoning": "hm", "reasoning_content": "hm"}), {"thinking": "hm"}, id="both reasoning fields"
        ),
        pytest.param(completion({"content": "<think>hm</think>\n\na"}), {"text": "a", "thinking": "hm"}, id="think block"),
        pytest.param(
            completion({"content": "<think>hm"}, "length"), {"outcome": "cut", "text": "", "thinking": "hm"}, id="cut in thinking"
        ),
        pytest.param(completion({"content": "<think>hm</think>"}), {"outcome": "empty", "thinking": "hm"}, id="nothing but thinking"),
    ],
)
def test_an_answer_is_text_thinking_and_how_it_ended(response: dict[str, Any], expected: dict[str, Any]) -> None:
    answer = answer_of(response, "k")
    assert {name: getattr(answer, name) for name in expected} == expected
    assert (answer.key, answer.price, answer.from_ledger) == ("k", None, False)


CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1, "a": 2'}}


@pytest.mark.parametrize(
    ("message", "calls"),
    [
        pytest.param({"content": None, "tool_calls": [CALL, CALL]}, (CALL, CALL), id="as they came"),
        pytest.param({"content": "", "tool_calls": None}, (), id="null"),
        pytest.param(
            {"content": None, "function_call": CALL["function"]}, ({"type": "function", "function": CALL["function"]},), id="older form"
        ),
    ],
)
def test_tool_calls_are_kept_raw(message: dict[str, Any], calls: tuple[Any, ...]) -> None:
    answer = answer_of(completion(message), "k")
    assert answer.tool_calls == calls
    assert answer.outcome == ("answered" if calls else "empty")


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        pytest.param({"prompt_tokens": 3, "completion_tokens": 4}, Usage(prompt_tokens=3, output_tokens=4), id="openai"),
        pytest.param({"input_tokens": 3, "output_tokens": 4}, Usage(prompt_tokens=3, output_tokens=4), id="other names"),
        pytest.param({"prompt_tokens": 0, "completion_tokens": 0}, Usage(prompt_tokens=0, output_tokens=0), id="zero"),
        pytest.param(None, Usage(), id="absent"),
        pytest.param({}, Usage(), id="empty"),
        pytest.param([], Usage(), id="a list"),
        pytest.param({"prompt_tokens": "3", "completion_tokens": -1}, Usage(), id="no counts"),
        pytest.param({"prompt_tokens": True, "completion_tokens": 2**70}, Usage(), id="a truth and too much"),
        pytest.param({"prompt_tokens": 3.5, "completion_tokens": 4}, Usage(output_tokens=4), id="a fraction"),
    ],
)
def test_usage_is_what_the_endpoint_counts_and_none_where_it_does_not(usage: Any, expected: Usage) -> None:
    assert answer_of(completion({"content": "a"}, usage=usage), "k").usage == expected


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 5}}, 5),
        ({"prompt_tokens_details": None}, 0),
        ({"prompt_tokens_details": {}}, 0),
        (None, 0),
    ],
)
def test_cached_tokens_are_counted_where_they_are_told(usage: Any, cached: int) -> None:
    assert cached_tokens({"usage": usage}) == cached


@pytest.mark.parametrize(
    ("response", "status", "message"),
    [
        pytest.param({}, None, "no chat completion", id="nothing"),
        pytest.param({"choices": []}, None, "no chat completion", id="no choice"),
        pytest.param({"choices": {}}, None, "no chat completion", id="choices are an object"),
        pytest.param({"choices": [None]}, None, "no chat completion", id="null choice"),
        pytest.param({"choices": [{"message": "a"}]}, None, "no chat completion", id="message is a text"),
        pytest.param({"error": {"message": "busy", "code": 503}}, 503, "error with status 200", id="error"),
        pytest.param({"error": "busy"}, None, "error with status 200", id="error is a text"),
        pytest.param({"error": {"code": "rate_limit"}}, None, "error with status 200", id="code is a text"),
        pytest.param({"choices": [{"error": {"code": 429}}]}, 429, "error with status 200", id="error of the choice"),
        pytest.param(completion({"content": "a"}, "error"), None, "ended in an error", id="finish_reason error"),
        pytest.param(completion({"content": 7}), None, "neither text nor parts", id="content is a number"),
        pytest.param(completion({"tool_calls": {"a": 1}}), None, "no list of objects", id="calls are an object"),
        pytest.param(completion({"tool_calls": ["f"]}), None, "no list of objects", id="call is a text"),
        pytest.param(
            completion({"tool_calls": [{"function": json.loads("[" * 100 + "]" * 100)}]}), None, "nested deeper", id="deep arguments"
        ),
    ],
)
def test_what_is_no_completion_is_said_to_be_none(response: dict[str, Any], status: int | None, message: str) -> None:
    with pytest.raises(UnreadableResponse, match=message) as caught:
        answer_of(response, "k")
    assert caught.value.status == status


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(b"", "an empty body", id="empty"),
        pytest.param(b" \r\n", "an empty body", id="space"),
        pytest.param(b"<!DOCTYPE html><html></html>", "an HTML page", id="html"),
        pytest.param(b"\n <html>", "an HTML page", id="html after space"),
        pytest.param(b'{"choices": [{"mess', "cut short", id="cut in a key"),
        pytest.param(b'{"choices": [', "cut short", id="cut behind a bracket"),
        pytest.param(b'{"choices" []}', "not JSON", id="malformed"),
        pytest.param(b"data: {}\n\n", "not JSON", id="a stream of events"),
        pytest.param(b"[" * 100_000, "nested without end", id="deep"),
        pytest.param(b'{"a": "\xe9\xff"}', "not UTF-8", id="latin-1"),
        pytest.param(b"\xff\xfe{\x00}", "not UTF-8", id="half of UTF-16"),
        pytest.param(b"[]", "no chat completion", id="a list"),
        pytest.param(b'"text"', "no chat completion", id="a text"),
        pytest.param(b'{"a": ' + b"9" * 5_000 + b"}", "not JSON", id="a number beyond counting"),
    ],
)
def test_a_body_that_is_no_json_object_is_told_by_what_it_is(body: bytes, message: str) -> None:
    with pytest.raises(UnreadableResponse, match=message):
        read_body(body)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param('{"a": "Zoë 家"}'.encode(), "Zoë 家", id="UTF-8"),
        pytest.param(b'\xef\xbb\xbf{"a": "b"}', "b", id="byte order mark"),
        pytest.param('{"a": "Zoë"}'.encode("utf-16"), "Zoë", id="UTF-16"),
        pytest.param(b'{"a": "\\ud83d\\ude00"}', "\U0001f600", id="a pair of surrogates"),
        pytest.param(b'{"a": "x\\ud83dy"}', "x\ufffdy", id="half a character"),
        pytest.param(b'{"a": "x\xed\xa0\xbdy"}', "x\ufffdy", id="half a character in bytes"),
        pytest.param('{"a": "한국"}'.encode(), "한국", id="Hangul"),
    ],
)
def test_text_is_read_as_unicode_that_any_file_holds(body: bytes, text: str) -> None:
    assert read_body(body) == {"a": text}


@pytest.mark.parametrize(
    ("error", "message"),
    [
        pytest.param({"error": {"message": "too  long\nby far"}}, "too long by far", id="nested"),
        pytest.param({"message": "a"}, "a", id="message"),
        pytest.param({"detail": [{"msg": "b"}]}, '[{"msg": "b"}]', id="list"),
        pytest.param("plain", "plain", id="text"),
        pytest.param({"message": "x" * 1_000}, "x" * 297 + "...", id="long"),
        pytest.param({"error": {"error": {"error": "deep"}}}, "deep", id="deep"),
    ],
)
def test_an_error_of_any_shape_is_one_short_line(error: Any, message: str) -> None:
    assert error_message(error) == message


# -- thinking


@pytest.mark.parametrize(
    ("text", "answer", "thinking"),
    [
        pytest.param('<think>maybe {"name":"g"}?</think>\n\n{"name":"f"}', '{"name":"f"}', 'maybe {"name":"g"}?', id="gen-002"),
        pytest.param("<THINK>a</Think>b", "b", "a", id="gen-002 upper case"),
        pytest.param("<think>a</think>b<think>c</think>d", "bd", "a\nc", id="gen-002 several"),
        pytest.param("<thinking>a</thinking>b", "b", "a", id="long tag"),
        pytest.param("<think>a", "", "a", id="unclosed"),
        pytest.param("b<think>a", "b", "a", id="unclosed behind the answer"),
        pytest.param("a</think>b", "b", "a", id="opened in the prompt"),
        pytest.param("<think>a <think> b</think>c", "c", "a <think> b", id="thinks of its tag"),
        pytest.param("<think>a<think>b</think>c</think>d", "d", "a<think>b\nc", id="nested"),
        pytest.param("<think></think>b", "b", "", id="empty block"),
        pytest.param("a < think > b", "a < think > b", "", id="no tag"),
        pytest.param('{"tag": "<think>x</think>"}', '{"tag": "<think>x</think>"}', "", id="a value in JSON"),
        pytest.param(' ["</think>"]', ' ["</think>"]', "", id="a close in JSON"),
        pytest.param("  b ", "  b ", "", id="untouched"),
    ],
)
def test_thinking_is_set_apart(text: str, answer: str, thinking: str) -> None:
    assert set_thinking_apart(text) == (answer, thinking)


def test_a_million_tags_take_no_longer_than_their_number() -> None:
    text = "<think>" * 200_000 + "</think>" * 200_000
    answer, thinking = set_thinking_apart(text)
    assert answer == ""
    assert thinking.startswith("<think>")


PIECES = st.lists(st.sampled_from(["<think>", "</think>", "<THINKING>", "</thinking>", "a", " b ", "{", '"', "\n"]), max_size=30)


def nothing_is_lost_and_no_tag_stays(pieces: list[str]) -> None:
    text = "".join(["a", *pieces])  # so that it is never JSON as a whole
    answer, thinking = set_thinking_apart(text)
    assert sorted(c for c in answer + thinking if c in '{"') == sorted(c for c in text if c in '{"')
    assert "</think" not in answer.lower()
    if "<" not in text:
        assert (answer, thinking) == (text, "")


@settings(max_examples=100)
@given(PIECES)
def test_setting_thinking_apart_loses_nothing(pieces: list[str]) -> None:
    nothing_is_lost_and_no_tag_stays(pieces)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(PIECES)
def test_setting_thinking_apart_loses_nothing_in_2000_examples(pieces: list[str]) -> None:
    nothing_is_lost_and_no_tag_stays(pieces)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "type", "text", "error", "code", "usage", "tool_calls", "refusal", "finish_reason"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


def any_object_is_an_answer_or_unreadable(response: Any) -> None:
    try:
        answer = answer_of(response if isinstance(response, dict) else {"choices": [{"message": response}]}, "k")
    except UnreadableResponse as error:
        assert str(error)
    else:
        assert answer.outcome in ("answered", "refused", "empty", "cut")


@settings(max_examples=100)
@given(VALUES)
def test_no_response_breaks_the_reader(response: Any) -> None:
    any_object_is_an_answer_or_unreadable(response)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(VALUES)
def test_no_response_breaks_the_reader_in_2000_examples(response: Any) -> None:
    any_object_is_an_answer_or_unreadable(response)
