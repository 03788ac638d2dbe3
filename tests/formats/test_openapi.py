import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from familytool.formats import openapi
from familytool.formats.openai import DocumentError
from familytool.formats.text import TextError
from familytool.formats.yaml_text import parse_yaml
from familytool.model import Tool
from familytool.validation.schema import schema_findings


def document(operation: Any = None, path: str = "/p", method: str = "post", **more: Any) -> dict[str, Any]:
    return {"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {path: {method: operation or {}}}, **more}


def two(operation: Any, **more: Any) -> dict[str, Any]:
    return {"swagger": "2.0", "info": {"title": "t", "version": "1"}, "paths": {"/p": {"post": operation}}, **more}


def one(value: Any) -> Tool:
    rejected: list[str] = []
    [tool] = openapi.read_tools([("a.json", value)], rejected)
    assert not rejected
    Draft202012Validator.check_schema(tool.parameters)
    return tool


def codes(tool: Tool, arguments: dict[str, Any]) -> list[str]:
    return [finding.code for finding in schema_findings(tool.parameters, arguments, "") or []]


def body(schema: Any, required: bool = True) -> dict[str, Any]:
    return {"operationId": "f", "requestBody": {"required": required, "content": {"application/json": {"schema": schema}}}}


def components(**schemas: Any) -> dict[str, Any]:
    return {"components": {"schemas": schemas}}


NEW = {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}, "shelf": {"type": "string"}}}
ALL = {"allOf": [{"$ref": "#/components/schemas/New"}, {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}]}
BODY_CASES = {"both": ({"title": "x", "id": 1}, []), "no id": ({"title": "x"}, ["missing_required"]),
              "the optional one of a branch": ({"title": "x", "id": 1, "shelf": "b"}, []),
              "unknown": ({"title": "x", "id": 1, "zzz": 1}, ["unknown_parameter"])}  # fmt: skip


@pytest.mark.parametrize(("arguments", "found"), BODY_CASES.values(), ids=[f"imp-019 {key}" for key in BODY_CASES])
def test_the_members_of_all_branches_of_a_body_are_parameters(arguments: dict[str, Any], found: list[str]) -> None:
    assert codes(one(document(body(ALL), **components(New=NEW))), arguments) == found


CAT = {"type": "object", "properties": {"name": {"type": "string"}, "parent": {"$ref": "#/components/schemas/Cat"}}}
CAT_CASES = {"text": ({"cat": {"name": "a", "parent": {"name": "b"}}}, []), "number": ({"cat": {"parent": {"name": 1}}}, ["type_mismatch"])}


@pytest.mark.parametrize(("arguments", "found"), CAT_CASES.values(), ids=[f"imp-015 {key}" for key in CAT_CASES])
def test_circular_references_stay_finite_and_are_checked(arguments: dict[str, Any], found: list[str]) -> None:
    inner = {"type": "object", "properties": {"cat": {"$ref": "#/components/schemas/Cat"}}}
    tool = one(document(body(inner), **components(Cat=CAT, Unused=NEW)))
    assert list(tool.parameters["$defs"]) == ["Cat"]
    assert codes(tool, arguments) == found


@pytest.mark.parametrize("key", ["$ref", "allOf", "anyOf"])
def test_a_reference_that_only_leads_to_itself_means_anything(key: str) -> None:
    again = {"$ref": "#/components/schemas/A"}
    loop = again if key == "$ref" else {key: [again]}
    tool = one(document({"parameters": [{"name": "a", "in": "query", "schema": again}]}, **components(A=loop)))
    assert tool.parameters["$defs"] == {"A": {}}
    assert codes(tool, {"a": 1}) == []


def test_parameters_of_path_and_operation_are_merged_and_the_operation_wins() -> None:
    value = document({"parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
                                     {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                                     {"name": "Accept", "in": "header", "schema": {"type": "string"}}]}, "/p/{id}/{place}")  # fmt: skip
    value["paths"]["/p/{id}/{place}"]["parameters"] = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
                                                       {"name": "c", "in": "cookie", "schema": {"type": "string"}}]  # fmt: skip
    tool = one(value)
    assert tool.name == "POST /p/{id}/{place}"
    assert {name: p.get("type") for name, p in tool.parameters["properties"].items()} == {
        "id": "integer", "c": "string", "X-Trace": "string", "place": None}  # fmt: skip
    assert tool.parameters["required"] == ["id", "place"]
    assert tool.raw == value["paths"] | {"/p/{id}/{place}": tool.raw["/p/{id}/{place}"]}


def test_a_body_whose_member_has_a_parameters_name_stays_one_parameter() -> None:
    operation = body(NEW) | {"parameters": [{"name": "title", "in": "query", "schema": {"type": "string"}}]}
    tool = one(document(operation))
    assert list(tool.parameters["properties"]) == ["title", "body"]
    assert tool.parameters["required"] == ["body"]


def test_two_parameters_of_one_name_are_told_apart_by_their_place() -> None:
    listed = [{"name": "id", "in": place, "required": True, "schema": {"type": "string"}} for place in ("path", "query")]
    assert one(document({"parameters": listed}, "/p/{id}")).parameters["required"] == ["id", "query.id"]


OPTIONAL = {
    "nothing": ({}, []),
    "the required member": ({"title": "x"}, []),
    "another member alone": ({"shelf": "x"}, ["missing_required"]),
}


@pytest.mark.parametrize(("arguments", "found"), OPTIONAL.values(), ids=OPTIONAL.keys())
def test_an_optional_body_requires_its_members_only_together(arguments: dict[str, Any], found: list[str]) -> None:
    assert codes(one(document(body(NEW, required=False))), arguments) == found


KEPT = {"array": {"type": "array", "items": {"type": "string"}}, "oneOf": {"oneOf": [NEW, CAT]}, "map": {"type": "object"},
        "counted": {**NEW, "minProperties": 1}, "text": {"type": "string"}}  # fmt: skip


@pytest.mark.parametrize("schema", KEPT.values(), ids=KEPT.keys())
def test_a_body_that_is_more_than_members_stays_one_parameter(schema: Any) -> None:
    assert list(one(document(body(schema), **components(Cat=CAT))).parameters["properties"]) == ["body"]


def test_a_body_of_openapi_2_and_its_forms_are_read() -> None:
    inner = {"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/New"}}
    form = [{"name": "f", "in": "formData", "type": "file", "required": True},
            {"name": "l", "in": "query", "type": "array", "items": {"type": "integer"}, "collectionFormat": "csv"}]  # fmt: skip
    assert one(two({"parameters": [inner]}, definitions={"New": NEW})).parameters["required"] == ["title"]
    tool = one(two({"parameters": form}))
    assert tool.parameters["properties"] == {"f": {"type": "string"}, "l": {"type": "array", "items": {"type": "integer"}}}
    assert any("collectionFormat csv" in note for note in tool.notes)


def test_members_of_the_other_direction_are_left_out() -> None:
    schema = {"type": "object", "required": ["id", "key"], "properties": {"id": {"type": "integer", "readOnly": True}, "key": {"type": "string", "writeOnly": True}}}  # fmt: skip
    answer = {"responses": {"200": {"content": {"application/json": {"schema": schema}}}}}
    tool = one(document(body(schema) | answer))
    assert (tool.parameters["required"], list(tool.parameters["properties"])) == (["key"], ["key"])
    assert (tool.response["required"], list(tool.response["properties"])) == (["id"], ["id"])


SCHEMAS = {
    "nullable": ({"type": "string", "nullable": True, "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
    "nullable reference": (
        {"$ref": "#/components/schemas/New", "nullable": True},
        {"anyOf": [{"$ref": "#/$defs/New"}, {"type": "null"}]},
    ),
    "exclusive": ({"type": "number", "minimum": 1, "exclusiveMinimum": True}, {"type": "number", "exclusiveMinimum": 1}),
    "example": ({"type": "string", "example": "x"}, {"type": "string", "examples": ["x"]}),
    "3.1": ({"type": ["string", "null"], "const": "x"}, {"type": ["string", "null"], "const": "x"}),
    "outside": ({"$ref": "http://example.org/a.json"}, {"$ref": "http://example.org/a.json"}),
    "nowhere": ({"$ref": "#/components/schemas/No"}, {"$ref": "#/components/schemas/No"}),
}


@pytest.mark.parametrize(("written", "read"), SCHEMAS.values(), ids=SCHEMAS.keys())
def test_schemas_are_brought_to_2020_12(written: Any, read: Any) -> None:
    value = document({"parameters": [{"name": "a", "in": "query", "schema": written}]}, **components(New=NEW))
    assert one(value).parameters["properties"]["a"] == read


def test_tools_of_one_name_are_both_kept_with_a_note() -> None:
    value = document({"operationId": "f"})
    value["paths"]["/q"] = {"get": {"operationId": "f", "description": "other"}}
    tools = list(openapi.read_tools([("a", value)], []))
    assert all("ambiguous tool name f (2 documents)" in tool.notes for tool in tools)
    assert len(tools) == 2


def test_branches_that_double_at_each_level_end_soon() -> None:
    doubling = {f"A{n}": {"allOf": [{"$ref": f"#/components/schemas/A{n + 1}"}] * 2} for n in range(60)}
    tool = one(document(body({"$ref": "#/components/schemas/A0"}), **components(**doubling, A60=NEW)))
    assert list(tool.parameters["properties"]) == ["body"]


def test_what_is_no_operation_is_told() -> None:
    rejected: list[str] = []
    value = document(webhooks={"w": {}}) | {"paths": {"/a": 1, "/b": {"get": 2}, "/c": {"$ref": "http://example.org"}}}
    assert not list(openapi.read_tools([("a", value)], rejected))
    assert len(rejected) == 4


YAML = """\
openapi: 3.0.0
info: &i {title: t, version: 2024-01-04}
paths:
  /p:
    get:
      operationId: look
      parameters:
        - {name: land, in: query, schema: {type: string, enum: [no, on, 12:30, 010]}}
      responses:
        200: {description: *i}
"""


def test_yaml_is_read_as_yaml_1_2() -> None:
    assert openapi.looks_like(YAML)
    assert one(YAML).parameters["properties"]["land"]["enum"] == ["no", "on", "12:30", "010"]
    assert parse_yaml("{a: 1, b: -2.5, c: true, d: null, e: 1e3, f: ~, g: , <<: {h: 'x'}}") == {
        "a": 1, "b": -2.5, "c": True, "d": None, "e": 1000.0, "f": None, "g": None, "h": "x"}  # fmt: skip


HOSTILE = {
    "aliases that double": "a0: &a0 [1, 1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40)),
    "merges that double": "a0: &a0 {k: 1}\n" + "".join(f"a{n}: &a{n}\n  <<: [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40)),
    "an alias inside itself": "a: &a [*a]",
    "deep": "a: " + "[" * 5000,
    "deep by aliases": "a0: &a0 []\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 99)),
    "a tag that runs code": "!!python/object/apply:os.getcwd []",
    "binary": "a: !!binary aGk=",
    "a set": "a: !!set {x}",
    "infinite": "a: 1e999",
    "a key twice": "a: 1\na: 2",
    "two documents": "--- 1\n--- 2",
    "half a surrogate pair": 'a: "\\ud800"',
    "not YAML": "a: [",
    "control characters": "a: \x00",
    "a list as key": "? [a]\n: 1",
    "a merge of a text": "<<: text",
    "a bad number with a tag": "a: !!int x",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_yaml_is_an_error_of_one_sentence(text: str) -> None:
    with pytest.raises(TextError):
        parse_yaml(text)
    with pytest.raises(DocumentError):
        list(openapi.read_tools([("a.yaml", text)], []))


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from(["#/components/schemas/A", "path", "query", "body", "object"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["$ref", "name", "in", "schema", "type", "properties", "required", "allOf", "content", "application/json", "parameters",
                         "requestBody", "responses", "200", "nullable", "items", "x"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=100)
@given(operation=JUNK, schema=JUNK)
def test_junk_never_ends_in_a_traceback(operation: Any, schema: Any) -> None:
    value = {"openapi": "3.0.0", "paths": {"/a/{b}": {"post": operation, "parameters": [schema]}}, **components(A=schema)}
    value["paths"]["/c"] = {"get": {"parameters": [{"name": "a", "in": "query", "schema": schema}], "requestBody": operation}}
    for tool in openapi.read_tools([("a", value)], []):
        json.dumps(tool.model_dump())
    assert not openapi.looks_like(operation)


@settings(max_examples=100)
@given(text=st.text(alphabet="ab:- []{}&*!<>'\"\n#|?~1.e", max_size=60))
def test_junk_yaml_is_a_value_or_an_error(text: str) -> None:
    with contextlib.suppress(TextError):
        json.dumps(parse_yaml(text))


@pytest.mark.full
def test_the_published_documents_and_those_of_toolalpaca_are_read(foreign_data: Callable[[str], Path]) -> None:
    files = [file for file in sorted(foreign_data("openapi").rglob("*")) if file.suffix in (".json", ".yaml")]
    values = [(f.name, f.read_text("utf-8") if f.suffix == ".yaml" else json.loads(f.read_text("utf-8"))) for f in files]
    rows = json.loads((foreign_data("toolalpaca") / "eval_simulated.json").read_text("utf-8"))
    assert all(openapi.looks_like(value) for _, value in values)
    counts = []
    for records in (values, [(row["Name"], json.loads(row["Documentation"])) for row in rows]):
        tools = [tool for record in records for tool in openapi.read_tools([record], [])]
        counts.append(len(tools))
        for tool in tools:
            Draft202012Validator.check_schema(tool.parameters)
            Draft202012Validator.check_schema(tool.response)
            assert schema_findings(tool.parameters, {}, "") is not None
    assert counts == [30, 54]
