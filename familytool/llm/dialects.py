"""The wire form of chat completions: a logical request as a body in the dialect of an endpoint, and a response as an answer.

Endpoints differ in how they take a schema, what they call the output limit, and which settings they refuse. A `Dialect` says how one does
it; it is found by a probe (`client.py`) and is no part of a request's key, since it changes how a thing is asked and not what is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from familytool.kgetool.strict_json import TextError, check_depth
from familytool.llm.requests import Answer, Outcome, Request, Usage
from familytool.llm.thinking import set_thinking_apart
from familytool.model import Json, Record

LimitName = Literal["max_tokens", "max_completion_tokens"]
PROBED_SETTINGS = ("temperature", "seed")


class Dialect(Record):
    """How an endpoint wants to be asked.

    `has_schema`: it enforces `response_format: json_schema`; otherwise the schema stands in the prompt. `limit`: what it calls the output
    limit. `refused`: sampling settings it answers with an error, which are left out (reasoning models refuse a temperature; an endpoint
    that refuses `temperature` is not sent `top_p` either).
    """

    has_schema: bool = False
    limit: LimitName = "max_tokens"
    refused: tuple[str, ...] = ()


class UnreadableResponse(ValueError):
    """A response that is no chat completion; the message says what it is instead.

    `error` is the error object it holds, as it came (a message must redact it), and `status` the status code that this names.
    """

    def __init__(self, message: str, status: int | None = None, error: Json = None) -> None:
        super().__init__(message)
        self.status = status
        self.error = error


def chat_body(request: Request, dialect: Dialect) -> dict[str, Json]:
    """The body of a chat-completions request; `model` is the request's, which a caller may rename for the server."""
    sampling = request.sampling
    settings = {"temperature": sampling.temperature, "top_p": sampling.top_p, "seed": sampling.seed, "stop": list(sampling.stop) or None}
    refused = {*dialect.refused, *(["top_p"] if "temperature" in dialect.refused else [])}
    body: dict[str, Json] = {"model": request.model, "messages": list(request.messages), dialect.limit: sampling.max_output}
    body |= {name: value for name, value in settings.items() if value is not None and name not in refused}
    if request.tools:
        body["tools"] = list(request.tools)
    if request.answer_schema is not None and dialect.has_schema:
        schema = {"name": "answer", "schema": request.answer_schema, "strict": is_strict(request.answer_schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif request.answer_schema is not None:
        body["messages"] = _with_instruction(body["messages"], _instruction(request.answer_schema))
    return body


def _instruction(schema: dict[str, Json]) -> str:
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON value and nothing else: no explanation, no code fence. It must conform to this JSON Schema:\n{text}"


def _with_instruction(messages: list[dict[str, Json]], instruction: str) -> list[dict[str, Json]]:
    """The messages with an instruction at their end: in the last one if a user says it, since some chat templates want turns to alternate."""
    last = messages[-1] if messages else {}
    if last.get("role") == "user" and isinstance(last.get("content"), str):
        return [*messages[:-1], {**last, "content": f"{last['content']}\n\n{instruction}"}]
    return [*messages, {"role": "user", "content": instruction}]


def is_strict(schema: Json) -> bool:
    """Whether a schema is in the subset that strict structured output takes: every object closed, and all its properties required.

    >>> is_strict({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False})
    True
    >>> is_strict({"type": "object", "properties": {"a": {"type": "string"}}})
    False
    """
    if not isinstance(schema, dict) or schema.get("type") != "object" or "anyOf" in schema:
        return False
    return all(_is_closed(node) for node in _schemas(schema))


def _is_closed(node: Json) -> bool:
    if not isinstance(node, dict) or any(keyword in node for keyword in ("patternProperties", "oneOf", "allOf", "not")):
        return False
    properties, kinds = node.get("properties"), node.get("type")
    if properties is None and kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
        return True
    required = node.get("required", [])
    return (
        node.get("additionalProperties") is False
        and isinstance(properties, dict)
        and isinstance(required, list)
        and all(name in required for name in properties)
        and len(required) == len(properties)
    )


def _schemas(schema: Json) -> Iterator[Json]:
    """A schema and all schemas inside it."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, dict):
            continue
        for keyword in ("properties", "$defs", "definitions"):
            inner = node.get(keyword)
            waiting += inner.values() if isinstance(inner, dict) else []
        waiting += node["anyOf"] if isinstance(node.get("anyOf"), list) else []
        waiting += [node["items"]] if "items" in node else []


def adapted(dialect: Dialect, told: str, body: Mapping[str, Json]) -> Dialect | None:
    """The dialect after an endpoint refused a body (status 400 or 422) and told why; None if it names nothing that can differ."""
    if "response_format" in body and ("response_format" in told or "schema" in told):
        return dialect.model_copy(update={"has_schema": False})
    if dialect.limit == "max_tokens" and ("max_tokens" in told or "max_completion_tokens" in told):
        return dialect.model_copy(update={"limit": "max_completion_tokens"})
    return next((without(dialect, name) for name in PROBED_SETTINGS if name in body and name in told), None)


def without(dialect: Dialect, setting: str) -> Dialect:
    """The dialect of an endpoint that refuses a setting, too."""
    return dialect.model_copy(update={"refused": tuple(sorted({*dialect.refused, setting}))})


def read_body(body: bytes) -> dict[str, Json]:
    """The JSON object that a response's body holds.

    Raises:
        UnreadableResponse: an HTML page, text that is no JSON or no UTF-8, a body cut short, nested without end, or nothing at all.
    """
    start = body[:200].lstrip()
    if not start:
        raise UnreadableResponse("an empty body")
    if start[:1] == b"<":
        raise UnreadableResponse("an HTML page instead of JSON")
    try:
        value = json.loads(body)
    except UnicodeDecodeError:
        raise UnreadableResponse("a body that is not UTF-8") from None
    except RecursionError:
        raise UnreadableResponse("a body nested without end") from None
    except ValueError as error:
        at_end = getattr(error, "pos", 0) >= len(body.rstrip()) - 1 or "Unterminated" in str(error)
        raise UnreadableResponse("a body that is cut short" if at_end else "a body that is not JSON") from None
    if not isinstance(value, dict):
        raise UnreadableResponse("JSON that is no chat completion")
    return _without_surrogates(value) if b"\\u" in body or b"\xed" in body else value


def _without_surrogates(value: dict[str, Json]) -> dict[str, Json]:
    """A value whose halves of characters are U+FFFD, as in every text that was decoded: no file and no database takes them."""
    try:
        text = json.dumps(value, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:
        return dict(json.loads(re.sub("[\ud800-\udfff]", "�", text)))
    except RecursionError:
        raise UnreadableResponse("a body nested without end") from None
    return value


def answer_of(response: Mapping[str, Json], key: str = "") -> Answer:
    """The answer in a chat completion (the first choice): text, thinking, tool calls as they came, how it ended, tokens.

    Raises:
        UnreadableResponse: the object is no chat completion, or holds an error although its status was 200.
    """
    choice, message = _first_choice(response)
    reason = choice.get("finish_reason")
    content, thinking = _texts(message.get("content"))
    named = [message.get(name) for name in ("reasoning_content", "reasoning")]
    stated = next((text for text in named if isinstance(text, str) and text.strip()), "")
    text, inline = set_thinking_apart(content)
    calls = _tool_calls(message)
    refusal = message.get("refusal")
    refusal = refusal if isinstance(refusal, str) and refusal.strip() else ""
    outcome: Outcome
    if refusal or reason == "content_filter":
        outcome = "refused"
    elif reason in ("length", "max_tokens"):
        outcome = "cut"
    elif not text.strip() and not calls:
        outcome = "empty"
    else:
        outcome = "answered"
    return Answer(
        key=key,
        outcome=outcome,
        text=text or refusal,
        thinking="\n".join(part.strip() for part in (stated, thinking, inline) if part.strip()),
        tool_calls=calls,
        usage=_usage(response.get("usage")),
    )


def _first_choice(response: Mapping[str, Json]) -> tuple[Mapping[str, Json], Mapping[str, Json]]:
    choices = response.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    error = response.get("error") or (choice.get("error") if isinstance(choice, dict) else None)
    if error:
        code = error.get("code") if isinstance(error, dict) else None
        status = code if isinstance(code, int) and 400 <= code <= 599 else None
        raise UnreadableResponse("an error with status 200", status, error)
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        raise UnreadableResponse("JSON that is no chat completion")
    if choice.get("finish_reason") == "error":
        raise UnreadableResponse("an answer that ended in an error of the server")
    return choice, choice["message"]


def error_message(error: Json) -> str:
    """What the error object of an endpoint says, in at most 300 characters on one line; whatever its shape."""
    for name in ("error", "message", "detail"):
        if isinstance(error, dict) and error.get(name):
            return error_message(error[name])
    text = error if isinstance(error, str) else json.dumps(error, ensure_ascii=False, default=str)
    text = " ".join(text[:2_000].split())
    return text if len(text) <= 300 else text[:297] + "..."


def _texts(content: Json) -> tuple[str, str]:
    """(text, thinking) of a message's content: a text, null, or a list of parts."""
    if isinstance(content, str):
        return content, ""
    if not isinstance(content, list):
        if content is None:
            return "", ""
        raise UnreadableResponse("a message whose content is neither text nor parts")
    text, thinking = [], []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in ("text", "output_text") and isinstance(part.get("text"), str):
            text.append(part["text"])
        elif kind in ("thinking", "reasoning"):
            inner = part.get(kind, part.get("text"))
            thinking.append(inner if isinstance(inner, str) else "".join(_texts(inner)) if isinstance(inner, list) else "")
        elif isinstance(part, str):
            text.append(part)
    return "".join(text), "\n".join(thinking)


def _tool_calls(message: Mapping[str, Json]) -> tuple[dict[str, Json], ...]:
    calls = message.get("tool_calls") or []
    if not calls and isinstance(message.get("function_call"), dict):
        calls = [{"type": "function", "function": message["function_call"]}]  # the older form of one call
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        raise UnreadableResponse("tool calls that are no list of objects")
    try:
        check_depth(calls)
    except TextError as error:
        raise UnreadableResponse(f"tool calls {error}") from None
    return tuple(calls)


def _usage(usage: Json) -> Usage:
    def count(*names: str) -> int | None:
        values = (usage.get(name) for name in names) if isinstance(usage, dict) else ()
        return next((value for value in values if type(value) is int and 0 <= value < 2**53), None)

    return Usage(prompt_tokens=count("prompt_tokens", "input_tokens"), output_tokens=count("completion_tokens", "output_tokens"))


def cached_tokens(response: Mapping[str, Json]) -> int:
    """How many of a response's prompt tokens its endpoint had in a cache; 0 where it does not say."""
    usage = response.get("usage")
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    count = details.get("cached_tokens") if isinstance(details, dict) else None
    return count if type(count) is int and 0 <= count < 2**53 else 0
