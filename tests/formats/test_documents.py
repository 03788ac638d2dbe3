import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from familytool.errors import FamilytoolError, UsageError
from familytool.formats.documents import document_files, read_documents
from familytool.formats.mtu_bench import MARKER
from familytool.model import Tool
from familytool.runs import line
from familytool.validation.schema import schema_findings


def mtu_file(folder: Path, *questions: str) -> Path:
    file = folder / "x_eval.jsonl"
    file.write_text("".join(json.dumps({"id": str(n), "question": q, "answer": "{}"}) + "\n" for n, q in enumerate(questions)), "utf-8")
    return file


def mtu(folder: Path, *documents: Any, rejected: list[str] | None = None) -> list[Tool]:
    return read_documents(mtu_file(folder, f"You help people. {MARKER} {json.dumps(list(documents))}\nUser: hello"), rejected)


def openai(folder: Path, value: Any) -> list[Tool]:
    file = folder / "tools.json"
    file.write_text(json.dumps(value), encoding="utf-8")
    return read_documents(file)


def one(folder: Path, parameters: Any) -> Tool:
    [tool] = openai(folder, [{"name": "f", "description": "d", "parameters": parameters}])
    return tool


def codes(tool: Tool, arguments: dict[str, Any]) -> list[str]:
    return [finding.code for finding in schema_findings(tool.parameters, arguments, "") or []]


CITY = {
    "name": "Look",
    "description": "d",
    "required_parameters": ["city"],
    "optional_parameters": {"day": "2024-01-04"},
    "result_parameters": ["t"],
}
TYPED = {
    "name": "Count",
    "description": "d",
    "required_parameters": [{"name": "n", "type": "int", "description": "x"}],
    "optional_parameters": [],
    "result_parameters": [],
}
PATTERN = {"name": "Fly", "description": "d", "required_parameters": {"origin": "", "day": "^\\d{4}-\\d{2}-\\d{2}$", "at": "HH:MM"}, "optional_parameters": {}, "result_parameters": []}  # fmt: skip


def test_the_three_shapes_of_required_parameters_in_one_list_are_read_alike(tmp_path: Path) -> None:
    look, count, fly = mtu(tmp_path, CITY, TYPED, PATTERN)
    assert [t.parameters["required"] for t in (look, count, fly)] == [["city"], ["n"], ["origin", "day", "at"]]
    assert look.parameters["properties"] == {"day": {"default": "2024-01-04"}, "city": {}}
    assert count.parameters["properties"]["n"] == {"type": "integer", "description": "x"}
    assert fly.parameters["properties"] == {
        "origin": {},
        "day": {"pattern": PATTERN["required_parameters"]["day"]},
        "at": {"format": "HH:MM"},
    }
    assert look.response == {"t": {}}
    assert [t.source["status"] for t in (look, count, fly)] == ["untyped", "ok", "untyped"]
    assert look.raw == CITY


PLACES = {
    "JSON on the same line": f"Hi. {MARKER} " + json.dumps([CITY]) + "\nUser: hello [1]",
    "JSON on the next line": f"Hi. {MARKER}\n" + json.dumps([CITY]) + "\nUser: hello",
    "JSON two lines later": f"Hi. {MARKER}\n\n" + json.dumps([CITY], indent=1),
    "Python on the same line": f"Hi. {MARKER} " + repr([CITY]) + "\nUser: it's [open",
    "Python on the next line": f"Hi. {MARKER}\n" + repr([CITY]) + "\nUser: hello",
    "one document without a list": f"Hi. {MARKER} " + json.dumps(CITY),
}


@pytest.mark.parametrize("question", PLACES.values(), ids=PLACES.keys())
def test_the_list_is_found_wherever_it_stands_and_however_it_is_written(tmp_path: Path, question: str) -> None:
    [tool] = read_documents(mtu_file(tmp_path, question))
    assert (tool.name, tool.raw, tool.source["place"]) == ("Look", CITY, "x_eval.jsonl:1")


def test_brackets_and_quotes_inside_python_texts_do_not_end_the_list(tmp_path: Path) -> None:
    odd = {**CITY, "description": "it's a ]\"} \\ [ text"}
    [tool] = read_documents(mtu_file(tmp_path, f"{MARKER} {[odd]!r} and more]"))
    assert tool.description == odd["description"]


def test_shared_parameters_are_optional_for_every_tool_and_the_document_counts_as_partial(tmp_path: Path) -> None:
    shared = {"apis": [{"name": "a", "description": "d"}, {"name": "b", "description": "e"}],
              "available_parameters": [{"name": "p", "description": "x"}]}  # fmt: skip
    tools = mtu(tmp_path, shared)
    assert [(t.name, t.description, t.source["status"]) for t in tools] == [("a", "d", "partial"), ("b", "e", "partial")]
    assert all(t.parameters["properties"] == {"p": {"description": "x"}} and not t.parameters.get("required") for t in tools)
    assert all("shared" in t.notes[0] for t in tools)


def test_a_list_entry_that_is_text_is_left_out_with_a_sentence(tmp_path: Path) -> None:
    rejected: list[str] = []
    [tool] = mtu(tmp_path, "api_descriptions", CITY, {"description": "nameless"}, rejected=rejected)
    assert tool.name == "Look"
    assert rejected == [
        "x_eval.jsonl:1: list entry 'api_descriptions' is no tool document",
        "x_eval.jsonl:1: a tool document without a name",
    ]


def test_equal_documents_are_one_and_different_ones_of_a_name_are_numbered(tmp_path: Path) -> None:
    other = {**CITY, "description": "another"}
    tools = read_documents(mtu_file(tmp_path, *(f"{MARKER} {json.dumps([d])}" for d in (CITY, other, CITY))))
    assert [(t.description, t.source["version"], t.source["uses"]) for t in tools] == [("d", "1", "2"), ("another", "2", "1")]


def test_names_that_differ_in_case_are_different_tools(tmp_path: Path) -> None:
    tools = mtu(tmp_path, {**CITY, "name": "SearchHotel"}, {**CITY, "name": "searchHotel"})
    assert [(t.name, t.source["version"]) for t in tools] == [("SearchHotel", "1"), ("searchHotel", "1")]


LISTS_AT_FAULT = {
    "cut off": (f"{MARKER} " + json.dumps([CITY])[:-9], "cut off"),
    "nothing behind": (f"{MARKER}  \n", "no list follows"),
    "prose behind": (f"{MARKER} none today", "no list follows"),
    "no JSON and no Python": (f"{MARKER} [{{a: 1}}]", "cannot be read"),
    "Python that no JSON can hold": (f"{MARKER} [{{'name': 'f', 'required_parameters': {{'x', 'y'}}}}]", "cannot be read"),
    "Python bytes": (f"{MARKER} [{{'name': 'f', 'description': b'x'}}]", "cannot be read"),
    "Python keys of two kinds": (f"{MARKER} [{{'name': 'f', 1: 'x'}}]", "cannot be read"),
    "code": (f"{MARKER} [__import__('os').getcwd()]", "cannot be read"),
    "sentence missing": ("Just a question.", "is missing"),
}


@pytest.mark.parametrize(("question", "sentence"), LISTS_AT_FAULT.values(), ids=LISTS_AT_FAULT.keys())
def test_a_record_without_a_readable_list_is_an_error_with_file_and_line(tmp_path: Path, question: str, sentence: str) -> None:
    file = mtu_file(tmp_path, f"{MARKER} {json.dumps([CITY])}", question)
    with pytest.raises(FamilytoolError) as caught:
        read_documents(file)
    assert sentence in str(caught.value)
    assert "x_eval.jsonl:2" in str(caught.value)


FUNCTION = {
    "name": "area",
    "description": "d",
    "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}
FORMS = {
    "chat": [{"type": "function", "function": FUNCTION}],
    "flat": [{"type": "function", **FUNCTION}],
    "legacy": {"functions": [FUNCTION]},
    "bare list": [FUNCTION],
    "tools object": {"tools": [{"type": "function", "function": FUNCTION}]},
    "one tool": {"type": "function", "function": FUNCTION},
}


@pytest.mark.parametrize("value", FORMS.values(), ids=FORMS.keys())
def test_every_openai_form_gives_the_same_tool(tmp_path: Path, value: Any) -> None:
    [tool] = openai(tmp_path, value)
    assert (tool.name, tool.description) == ("area", "d")
    assert tool.parameters == {**FUNCTION["parameters"], "additionalProperties": False}


def test_a_jsonl_file_holds_one_tool_or_list_a_line_and_blank_lines_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(f"\ufeff{json.dumps(FUNCTION)}\n\n{json.dumps([{**FUNCTION, 'name': 'b'}])}", encoding="utf-8")
    assert [(t.name, t.source["place"]) for t in read_documents(tmp_path / "t.jsonl")] == [("area", "t.jsonl:1"), ("b", "t.jsonl:3")]


def test_a_folder_gives_its_json_files_by_name_and_with_eval_files_these_alone(tmp_path: Path) -> None:
    for name in ("b.json", "a.jsonl", "notes.txt"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    assert [f.name for f in document_files(tmp_path)] == ["a.jsonl", "b.json"]
    mtu_file(tmp_path, "q")
    assert [f.name for f in document_files(tmp_path)] == ["x_eval.jsonl"]


FILES_AT_FAULT = {
    "text instead of an object": ('"hello"', "is no tool document"),
    "number": ("7", "is no tool document"),
    "list of text": ('["hello"]', "is no tool document"),
    "empty list": ("[]", "is no tool document"),
    "empty object": ("{}", "is no tool document"),
    "cut off": ('[{"name": "f", "param', "the end of the file is missing"),
    "empty file": ("", "the file is empty"),
    "text behind": ("[] []", "more text"),
    "duplicate key": ('{"name": "f", "name": "g"}', "the key 'name' occurs twice"),
    "not a number": ('{"name": "f", "parameters": NaN}', "NaN"),
    "deep": ("[" * 100_000, "deep"),
    "nameless": ('[{"function": {}}]', "no name"),
    "parameters are a list": ('[{"name": "f", "parameters": [1]}]', "tool 'f'"),
    "parameters of type string": ('[{"name": "f", "parameters": {"type": "string"}}]', "tool 'f'"),
}


@pytest.mark.parametrize(("text", "sentence"), FILES_AT_FAULT.values(), ids=FILES_AT_FAULT.keys())
def test_a_file_at_fault_is_an_error_that_names_it_and_what_was_found(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "tools.json").write_text(text, encoding="utf-8")
    with pytest.raises(FamilytoolError) as caught:
        read_documents(tmp_path / "tools.json")
    assert sentence in str(caught.value)
    assert "tools.json" in str(caught.value)


def test_a_path_that_holds_no_documents_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        read_documents(tmp_path / "missing")
    with pytest.raises(UsageError, match=r"no file ending in \.json"):
        read_documents(tmp_path)


def test_bytes_that_are_no_utf8_are_an_error_that_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_bytes(b'[{"name": "\xff"}]')
    with pytest.raises(FamilytoolError, match=r"tools\.json: cannot be read as UTF-8"):
        read_documents(tmp_path / "tools.json")


def test_a_name_kept_in_a_document_is_written_as_utf8_code_point_for_code_point(tmp_path: Path) -> None:
    names = ["Content-Type", "a\u00f1o_vehiculo", "an\u0303o_vehiculo", "song/playlist"]
    tool = one(tmp_path, {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": [names[1]]})
    assert list(tool.parameters["properties"]) == names
    assert tool.parameters["required"] == [names[1]]
    assert "a\u00f1o_vehiculo" in line(tool)
    assert "\\u" not in line(tool)


def test_the_decomposed_form_of_a_name_is_another_name(tmp_path: Path) -> None:
    tool = one(tmp_path, {"type": "object", "properties": {"a\u00f1o": {"type": "integer"}}})
    assert codes(tool, {"a\u00f1o": 1}) == []
    assert codes(tool, {"an\u0303o": 1}) == ["unknown_parameter"]


@pytest.mark.full
def test_the_published_mtu_bench_files_give_116_names_in_181_documents(foreign_data: Callable[[str], Path]) -> None:
    rejected: list[str] = []
    tools = read_documents(foreign_data("mtu-bench"), rejected)
    assert len({t.name for t in tools}) == 116
    assert len(tools) == 181
    assert Counter(t.source["status"] for t in tools) == {"ok": 48, "partly-typed": 12, "untyped": 111, "partial": 10}
    assert rejected == ["S-S_eval.jsonl:18: list entry 'api_descriptions' is no tool document"]
