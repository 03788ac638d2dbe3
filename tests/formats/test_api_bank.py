import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from familytool.formats import api_bank
from familytool.formats.openai import DocumentError
from tests.formats.foreign import codes, documents, ends_well, junk, read, read_file


@pytest.mark.parametrize(
    ("declared", "schema"),
    [
        ("str", {"type": "string"}),
        ("int", {"type": "integer"}),
        ("float", {"type": "number"}),
        ("bool", {"type": "boolean"}),
        ("list", {"type": "array"}),
        ("list(str)", {"type": "array", "items": {"type": "string"}}),
        ("list(list(int))", {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}),
        ("list(", {}),
        ("list(" * 5_000, {}),
    ],
    ids=lambda value: str(value)[:20],
)
def test_python_types_become_json_types_with_a_note(declared: str, schema: dict[str, Any]) -> None:
    [tool], _ = read(api_bank.read_tools, [{"name": "F", "description": "d", "input_parameters": {"p": {"type": declared}}}])
    assert tool.parameters["properties"]["p"] == schema
    assert any(note.startswith("#/properties/p: type") for note in tool.notes)


def test_all_parameters_are_required_but_for_those_that_call_themselves_optional() -> None:
    document = {
        "name": "Send",
        "description": "d",
        "input_parameters": {"to": {"type": "str", "description": "Whom."}, "cc": {"type": "str", "description": "[Optional] Who else."}},
        "output_parameters": {"status": {"type": "str"}},
    }
    before = copy.deepcopy(document)
    [tool], rejected = read(api_bank.read_tools, document)
    assert rejected == []
    assert tool.raw == before == document
    assert tool.parameters["required"] == ["to"]
    assert "#: which parameters are required is not said; all are read as required" in tool.notes
    assert "#/properties/cc: the description begins with '[Optional]'; read as optional" in tool.notes
    assert tool.response["properties"] == {"status": {"type": "string"}}
    assert codes(tool, {"to": "x", "cc": "y"}) == []
    assert codes(tool, {}) == ["missing_required"]
    assert codes(tool, {"to": "x", "z": 1}) == ["unknown_parameter"]


def test_an_api_without_parameters_takes_none() -> None:
    [tool], _ = read(api_bank.read_tools, [{"name": "F", "description": " ", "input_parameters": {}}])
    assert tool.parameters == {"type": "object", "properties": {}, "additionalProperties": False}
    assert any(note.startswith("#: no parameters are given (") for note in tool.notes)
    assert "the description is blank" in tool.notes


def test_bad_entries_are_told_and_the_others_are_read() -> None:
    good = {"name": "F", "input_parameters": {"a": {"type": "str"}}}
    tools, rejected = read(api_bank.read_tools, [good, None, {"name": "", "input_parameters": {}}, {"name": "G", "input_parameters": []}])
    assert [tool.name for tool in tools] == ["F"]
    assert [sentence.split(":")[0] for sentence in rejected] == [f"file.json, entry {n}" for n in (2, 3, 4)]


@pytest.mark.parametrize(
    "value",
    [[{"name": "f", "parameters": {}}], [{"role": "User", "text": "x"}], {"role": "API", "api_name": "F", "param_dict": {}}, [], 7],
    ids=["openai", "dialogue", "call", "empty", "number"],
)
def test_other_files_are_not_claimed(value: Any) -> None:
    assert not api_bank.looks_like(value)
    if value:
        with pytest.raises(DocumentError, match=r"file\.json"):
            read(api_bank.read_tools, value)


@settings(max_examples=100)
@given(junk("input_parameters", "output_parameters", "list(str)", "description"))
def test_junk_never_ends_in_a_traceback(value: Any) -> None:
    ends_well(api_bank.read_tools, value)
    ends_well(api_bank.read_tools, [{"name": "f", "input_parameters": {"p": value}, "output_parameters": value}])


@pytest.mark.full
def test_the_five_extracted_documents_are_read(foreign_data: Callable[[str], Path]) -> None:
    tools, rejected = read_file(api_bank.read_tools, foreign_data("api-bank") / "apis.extracted.json")
    assert (documents(tools), rejected) == (5, [])
    assert [len(tool.parameters["properties"]) for tool in tools] == [2, 6, 3, 3, 3]
    assert {tool.source["status"] for tool in tools} == {"ok"}
    assert [tool.parameters["required"] for tool in tools if tool.name == "Translate"] == [["src"]]
