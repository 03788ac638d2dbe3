"""Lists of choices in the documents of MTU-Bench."""

from __future__ import annotations

from typing import Any

import pytest

from familytool.formats import mtu_bench
from familytool.model import Json, Tool
from familytool.validation.schema import schema_findings


def read(declared: Json) -> Tool:
    """The tool whose one parameter `info` is declared like this."""
    document = {
        "name": "feed_carp", "description": "d", "required_parameters": [], "result_parameters": [],
        "optional_parameters": [{"name": "info", **declared}],
    }  # fmt: skip
    [tool] = mtu_bench.read_tools([("carp.json", [document])], [])
    return tool


BOTH = ["food", "hour"]
CHOICES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "imp-021 of the items of a list": (
        {"type": "array", "options": BOTH}, {"type": "array", "items": {"enum": BOTH}}, "list ['food', 'hour'] read as enum of the items"),
    "imp-021 of items with a type": (
        {"type": "array", "items": {"type": "string"}, "options": BOTH}, {"type": "array", "items": {"type": "string", "enum": BOTH}},
        "list ['food', 'hour'] read as enum of the items"),
    "imp-021 of a text": ({"type": "string", "options": BOTH}, {"type": "string", "enum": BOTH}, "list ['food', 'hour'] read as enum"),
    "imp-021 of no type": ({"options": [1, "a"]}, {"enum": [1, "a"]}, "list [1, 'a'] read as enum"),
    "imp-021 an empty list": ({"type": "array", "options": []}, {"type": "array"}, "an empty list restricts nothing; left out"),
    "imp-021 a text": ({"type": "integer", "options": "1-9"}, {"type": "integer", "options": "1-9"}, "str '1-9' is no list of choices; kept as it is"),
    "of another type": ({"type": "integer", "options": ["1"]}, {"type": "integer", "options": ["1"]}, "list ['1'] is no list of choices; kept as it is"),
    "of items of another type": (
        {"type": "array", "items": {"type": "integer"}, "options": ["1"]}, {"type": "array", "items": {"type": "integer"}, "options": ["1"]},
        "list ['1'] is no list of choices; kept as it is"),
    "beside an enum": (
        {"type": "string", "enum": ["x"], "options": ["y"]}, {"type": "string", "enum": ["x"], "options": ["y"]},
        "list ['y'] is no list of choices; kept as it is"),
    "whole lists": ({"type": "array", "options": [["food"], []]}, {"type": "array", "enum": [["food"], []]}, "list [['food'], []] read as enum"),
}  # fmt: skip


@pytest.mark.parametrize(("declared", "schema", "note"), CHOICES.values(), ids=CHOICES.keys())
def test_a_list_of_options_is_the_enum_of_a_parameter_or_of_its_items(declared: dict[str, Any], schema: dict[str, Any], note: str) -> None:
    tool = read(declared)
    assert tool.parameters["properties"]["info"] == schema
    assert f"#/properties/info/options: {note}" in tool.notes


def test_another_word_for_options_is_read_alike() -> None:
    for word in ("choices", "possible_values", "allowed_values"):
        assert read({"type": "array", word: BOTH}).parameters["properties"]["info"] == {"type": "array", "items": {"enum": BOTH}}


def test_values_beside_the_options_fail_and_the_default_is_legal() -> None:
    parameters = read({"type": "array", "options": BOTH, "default": ["all"]}).parameters
    found = [[f.code for f in schema_findings(parameters, {"info": value}, "") or []] for value in (["food"], ["all"], ["food", "all"])]
    assert found == [[], [], ["not_in_enum"]]


def test_what_is_read_as_enum_is_written_as_such_and_read_again() -> None:
    tool = read({"type": "array", "options": BOTH})
    [[written]] = mtu_bench.write_tools([tool])
    assert written["optional_parameters"] == [{"name": "info", "type": "array", "items": {"enum": BOTH}}]


def test_imp_007_each_shape_of_the_parameter_lists_says_what_is_required() -> None:
    names = {"required_parameters": ["city"], "optional_parameters": {"date": "2024-01-04"}, "result_parameters": ["t"]}
    objects = {
        "required_parameters": [{"name": "n", "type": "integer", "description": "x"}],
        "optional_parameters": [],
        "result_parameters": [],
    }
    patterns = {
        "required_parameters": {"origin": "", "departure_date": r"^\d{4}-\d{2}-\d{2}$"}, "optional_parameters": {}, "result_parameters": [],
    }  # fmt: skip
    documents: list[Json] = [{"name": name, "description": "d", **shape} for name, shape in (("a", names), ("b", objects), ("c", patterns))]
    a, b, c = mtu_bench.read_tools([("x.json", documents)], [])
    assert [tool.parameters["required"] for tool in (a, b, c)] == [["city"], ["n"], ["origin", "departure_date"]]
    assert a.parameters["properties"] == {"date": {"default": "2024-01-04"}, "city": {}}
    assert list(a.response) == ["t"]
    assert b.parameters["properties"]["n"]["type"] == "integer"
    assert c.parameters["properties"] == {"origin": {}, "departure_date": {"pattern": r"^\d{4}-\d{2}-\d{2}$"}}
