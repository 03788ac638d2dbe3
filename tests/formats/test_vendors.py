"""The forms of OpenAI, Anthropic, Gemini and MCP: one tool in all of them, written and read again."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.formats import anthropic, gemini, mcp, openai, openai_functions, openai_responses
from familytool.formats.openai import DocumentError
from familytool.formats.schema import normalise_parameters
from familytool.formats.text import TextError, parse_json
from familytool.model import Tool, ToolCall
from familytool.runs import line
from familytool.validation.schema import schema_findings

FORMATS: dict[str, ModuleType] = {m.NAME: m for m in (openai, openai_responses, openai_functions, anthropic, gemini, mcp)}
each_format = pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS.keys())


def read(form: ModuleType, *values: Any, rejected: list[str] | None = None) -> list[Tool]:
    return list(form.read_tools([(f"t.jsonl:{n}", v) for n, v in enumerate(values, 1)], rejected if rejected is not None else []))


def written(form: ModuleType, *tools: Tool) -> Any:
    [value] = form.write_tools(iter(tools))
    return json.loads(json.dumps(value))


def made(parameters: Any, name: str = "f", **more: Any) -> Tool:
    return Tool(name=name, description="d", parameters=normalise_parameters(parameters)[0], **more)


def codes(tool: Tool, arguments: dict[str, Any]) -> list[str]:
    return [finding.code for finding in schema_findings(tool.parameters, arguments, "") or []]


PARAMETERS = {
    "type": "object",
    "properties": {
        "street": {"type": "string", "description": "where", "minLength": 1, "pattern": "^[A-Z]"},
        "floor": {"type": ["integer", "null"], "minimum": -2, "maximum": 40, "default": 0},
        "wing": {"type": ["string", "null"], "enum": ["east", "west", None]},
        "doors": {"type": "array", "minItems": 1, "items": {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}},
        "when": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
    },
    "required": ["street"],
    "additionalProperties": False,
}
NO_JSON_SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False}


@each_format
def test_a_tool_that_is_written_is_read_again_as_it_was(form: ModuleType) -> None:
    tools = [
        made(PARAMETERS, "ring"),
        made(None, "wait"),
        made({"type": "object", "properties": {"zürich/5": {"type": "string"}}}, "läuten"),
    ]
    value = written(form, *tools)
    assert form.looks_like(value)
    again = read(form, value)
    assert [(t.name, t.description, t.parameters) for t in again] == [(t.name, t.description, t.parameters) for t in tools]
    assert {t.source["format"] for t in again} == {form.NAME}
    assert list(again[0].parameters["properties"]) == list(PARAMETERS["properties"])


@each_format
def test_a_form_is_claimed_by_its_own_reader_and_by_that_of_all_openai_forms_alone(form: ModuleType) -> None:
    value = written(form, made(PARAMETERS), made(None, "g"))
    claimed = {name for name, other in FORMATS.items() if other.looks_like(value)}
    assert claimed == ({form.NAME, "openai"} if form.NAME.startswith("openai") else {form.NAME})


OTHERS = {
    "a call": {"name": "f", "arguments": {"a": 1}},
    "a call of MCP": {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "f", "arguments": {}}},
    "a result of MCP": {"jsonrpc": "2.0", "id": 2, "result": {"content": []}},
    "query parameters": {"name": "f", "query_parameters": {"a": {"type": "String"}}},
    "a row with functions and a question": {"id": "1", "question": [[]], "function": [{"name": "f"}]},
    "a row with tools as text": {"query": "q", "tools": "[]", "answers": "[]"},
    "an OpenAPI document": {"openapi": "3.0.0", "paths": {}},
    "prose": "tools",
    "nothing": None,
    "an empty list": [],
    "an empty object": {},
    "a list of numbers": [1],
}


@each_format
@pytest.mark.parametrize("value", OTHERS.values(), ids=OTHERS.keys())
def test_what_is_no_tool_list_is_not_claimed(form: ModuleType, value: Any) -> None:
    assert not form.looks_like(value)


@pytest.mark.parametrize("form", [anthropic, gemini, mcp, openai], ids=lambda m: m.NAME)
def test_a_bad_entry_is_left_out_with_place_and_reason_and_the_others_are_read(form: ModuleType) -> None:
    value = written(form, made(PARAMETERS, "good"), made(None, "bad"))
    entries = value[0]["functionDeclarations"] if form is gemini else value["tools"] if form is mcp else value
    (entries[1]["function"] if form is openai else entries[1])["name"] = " "
    entries.append(5)
    rejected: list[str] = []
    assert [t.name for t in read(form, value, rejected=rejected)] == ["good"]
    assert [r.startswith("t.jsonl:1: ") for r in rejected] == [True, True]
    assert "has no name" in rejected[0] and "int 5" in rejected[1]


@each_format
def test_a_record_that_is_no_document_is_an_error(form: ModuleType) -> None:
    with pytest.raises(DocumentError):
        read(form, "prose")


WITHOUT = {
    "an empty schema": {"inputSchema": {}},
    "no properties": {"inputSchema": {"type": "object"}},
    "no schema": {},
    "null": {"parameters": None},
}


@pytest.mark.parametrize("entry", WITHOUT.values(), ids=[f"imp-013-{name}" for name in WITHOUT])
def test_a_tool_without_parameters_takes_none_and_says_that_no_schema_was_given(entry: dict[str, Any]) -> None:
    page = {"tools": [{"name": "first", "inputSchema": {}}, {"name": "a", **entry}]}
    assert mcp.looks_like(page)
    tool = read(mcp, page)[1]
    assert tool.parameters == NO_JSON_SCHEMA
    assert codes(tool, {}) == []
    assert codes(tool, {"x": 1}) == ["unknown_parameter"]
    assert any(note.startswith("#: no parameters are given (") for note in tool.notes) == (entry != WITHOUT["no properties"])


@each_format
@pytest.mark.parametrize(
    "arguments", [{"a": 1}, {"ort": "Zürich", "l": [{"x": None}], "quoted": '{"a": 1}'}], ids=["imp-029", "imp-029-texts"]
)
def test_a_call_is_written_with_its_arguments_encoded_once(form: ModuleType, arguments: dict[str, Any]) -> None:
    [value] = form.write_calls([ToolCall(name="f", arguments=arguments)])
    inner = next((value[key] for key in ("function", "functionCall", "params") if key in value), value)
    assert inner["name"] == "f"
    given = next(inner[key] for key in ("arguments", "input", "args") if key in inner)
    assert isinstance(given, str) == form.NAME.startswith("openai")
    assert (json.loads(given) if isinstance(given, str) else given) == arguments
    assert not isinstance(given, str) or "\\u" not in given


ODD_NAMES = ["Content-Type", "a\u00f1o", "an\u0303o", "song/playlist", "properties", "$ref", "type", "nullable", "enum", "items"]


@each_format
@pytest.mark.parametrize("name", ODD_NAMES, ids=[f"imp-033-{name}" for name in ODD_NAMES])
def test_a_parameter_keeps_its_name_code_point_for_code_point(form: ModuleType, name: str) -> None:
    tool = made({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]})
    [again] = read(form, written(form, tool))
    assert list(again.parameters["properties"]) == again.parameters["required"] == [name]
    assert "\\u" not in line(again)
    assert codes(again, {name: "x"}) == []


def test_the_composed_and_the_decomposed_name_are_two_parameters_imp_033() -> None:
    [tool] = read(anthropic, [{"name": "f", "input_schema": {"type": "object", "properties": {"a\u00f1o": {"type": "integer"}}}}])
    assert codes(tool, {"a\u00f1o": 1}) == []
    assert codes(tool, {"an\u0303o": 1}) == ["unknown_parameter"]


def test_a_name_that_is_too_long_is_kept_and_noted_imp_011() -> None:
    [tool] = read(openai, [{"name": "a" * 74, "description": "d"}])
    assert tool.name == "a" * 74
    assert any("74 characters" in note for note in tool.notes)


@each_format
def test_two_documents_of_one_name_are_both_kept_and_equal_ones_are_one_imp_009(form: ModuleType) -> None:
    city, place = ({"type": "object", "properties": {p: {"type": "string"}}} for p in ("city", "place"))
    tools = read(form, written(form, made(city), made(place), made(city), made(None, "once")))
    assert [(t.name, t.source["version"], t.source["uses"]) for t in tools] == [("f", "1", "2"), ("f", "2", "1"), ("once", "1", "1")]
    assert ["ambiguous tool name f (2 documents)" in t.notes for t in tools] == [True, True, False]


def test_a_circular_reference_stays_where_references_are_known_imp_015() -> None:
    node = {"type": "object", "properties": {"up": {"$ref": "#/$defs/N"}}}
    tool = made({"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": node}})
    for form in (openai, anthropic, mcp):
        [again] = read(form, written(form, tool))
        assert again.parameters == tool.parameters
        assert codes(again, {"n": {"up": {"up": 1}}}) != []


def test_the_dialect_of_a_schema_is_noted_and_left_out() -> None:
    [tool] = read(
        mcp, {"tools": [{"name": "f", "description": "d", "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#"}}]}
    )
    assert "$schema" not in tool.parameters
    assert any(note.startswith("#/$schema: ") for note in tool.notes)


def test_a_tool_that_the_vendor_runs_itself_is_no_document() -> None:
    rejected: list[str] = []
    value = [{"name": "f", "description": "d", "input_schema": {}}, {"type": "web_search_1", "name": "web_search"}]
    assert [t.name for t in read(anthropic, value, rejected=rejected)] == ["f"]
    assert "web_search_1" in rejected[0]


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["a", "object", "STRING", "function", "#", "#/$defs/a", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["name", "tools", "functions", "function", "parameters", "input_schema", "inputSchema", "outputSchema", "result", "nextCursor",
             "functionDeclarations", "type", "properties", "required", "items", "enum", "anyOf", "$ref", "$defs", "nullable",
             "propertyOrdering", "response", "description", "parametersJsonSchema", "x-phrase"]
        ),
        inner,
        max_size=6,
    ),
    max_leaves=25,
)  # fmt: skip


@each_format
@settings(max_examples=100)
@given(value=JUNK)
def test_junk_never_ends_in_a_traceback(form: ModuleType, value: Any) -> None:
    before = copy.deepcopy(value)
    form.looks_like(value)
    try:
        tools = read(form, value)
    except DocumentError as error:
        assert str(error)
    else:
        for other in FORMATS.values():
            list(other.write_tools(tools))
        for tool in tools:
            gemini.losses(tool)
    assert value == before


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(str.strip)
LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer", "minimum": 0},
        {"type": ["number", "null"]},
        {"type": "string", "enum": ["a", "b"]},
        {"type": "boolean"},
        {},
    ]
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(lambda i: {"type": "array", "items": i}, inner)
        | st.builds(lambda p: {"type": "object", "properties": p, "required": sorted(p)[:1]}, st.dictionaries(NAMES, inner, max_size=3))
        | st.builds(lambda b: {"anyOf": b}, st.lists(inner, min_size=1, max_size=2))
    ),
    max_leaves=6,
)


@each_format
@settings(max_examples=100)
@given(
    name=NAMES,
    description=st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    properties=st.dictionaries(NAMES, SCHEMAS, max_size=4),
)
def test_every_tool_of_the_common_ground_survives_writing_and_reading(
    form: ModuleType, name: str, description: str, properties: dict[str, Any]
) -> None:
    parameters = normalise_parameters({"type": "object", "properties": properties})[0]
    [again] = read(form, written(form, Tool(name=name, description=description, parameters=parameters)))
    assert (again.name, again.description, again.parameters) == (name, description, parameters)
    assert list(again.parameters["properties"]) == list(properties)


@pytest.mark.full
@pytest.mark.parametrize("file", ["anthropic", "gemini", "mcp_tools_list", "openai_chat", "openai_responses", "openai_legacy_functions"])
def test_the_same_tool_is_read_from_every_vendors_file(foreign_data: Callable[[str], Path], file: str) -> None:
    folder = foreign_data("vendor-shapes")
    value, expected = (parse_json((folder / f"{name}.json").read_text("utf-8")) for name in (file, "openai_legacy_functions"))
    form = next(m for name, m in reversed(FORMATS.items()) if m.looks_like(value))
    [tool], [same] = read(form, value), read(openai, expected)
    assert (tool.name, tool.description, tool.parameters) == (same.name, same.description, same.parameters)
    assert [(t.name, t.parameters) for other in FORMATS.values() for t in read(other, written(other, tool))] == [
        (tool.name, tool.parameters)
    ] * 6


@pytest.mark.full
def test_every_tool_of_a_real_mcp_server_is_read_and_written_without_loss(foreign_data: Callable[[str], Path]) -> None:
    files = sorted((foreign_data("github-mcp-server") / "toolsnaps").glob("*.snap"))
    rejected: list[str] = []
    values = [parse_json(file.read_text("utf-8")) for file in files]
    assert all(mcp.looks_like(value) for value in values)
    tools = read(mcp, *values, rejected=rejected)
    assert (len(tools), rejected, sum(len(t.parameters["properties"]) for t in tools)) == (117, [], 616)  # 658 with nested ones
    for form in FORMATS.values():
        again = read(form, written(form, *tools))
        assert [t.name for t in again] == [t.name for t in tools]
        changed = [t for t, other in zip(tools, again, strict=True) if t.parameters != other.parameters]
        assert changed == [t for t in tools if form is gemini and gemini.losses(t)]


@pytest.mark.full
def test_every_example_of_the_mcp_specification_is_read_or_is_no_listing(foreign_data: Callable[[str], Path]) -> None:
    found = {}
    for file in sorted(foreign_data("mcp").glob("examples-*/*/*.json")):
        try:
            value = parse_json(file.read_text("utf-8"))
        except TextError:
            continue
        found[file.stem] = len(read(mcp, value)) if mcp.looks_like(value) else 0
    assert {name: n for name, n in found.items() if n} == dict.fromkeys(
        ["tools-list-with-cursor-and-ttl", "tool-with-array-output-schema", "tool-with-composition-input-schema", "with-default-2020-12-input-schema",
         "with-explicit-draft-07-input-schema", "with-no-parameters", "with-output-schema-for-structured-content"], 1
    )  # fmt: skip
