"""BFCL as a benchmark: rows and answers become samples with alternatives, and are written back as they stood."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from familytool.errors import FamilytoolError
from familytool.formats.benchmark_files import Source
from familytool.formats.bfcl_samples import FILES, looks_like, read_samples, write_samples
from familytool.graph import KnowledgeGraph
from familytool.model import Sample, Tool, ToolCall
from familytool.validation.checks import check_sample

BOOK = {
    "name": "book.room",
    "description": "Book.",
    "parameters": {
        "type": "dict",
        "properties": {
            "city": {"type": "string"}, "nights": {"type": "integer"}, "view": {"type": "string", "enum": ["sea", "garden"]},
            "guests": {"type": "array", "items": {"type": "dict"}}, "options": {"type": "dict"}, "quiet": {"type": "boolean", "default": None},
        },
        "required": ["city"],
    },
}  # fmt: skip


def row(id: str = "simple_7", query: str = "A room in Oslo.", documents: Any = None, **more: Any) -> dict[str, Any]:
    return {"id": id, "question": [[{"role": "user", "content": query}]], "function": [BOOK] if documents is None else documents, **more}


def answer(*calls: dict[str, Any], id: str = "simple_7") -> dict[str, Any]:
    return {"id": id, "ground_truth": [{"book.room": call} for call in calls]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "possible_answer").mkdir()
    return tmp_path


def place(folder: Path, rows: list[Any], answers: list[Any] | None, name: str = "BFCL_v4_simple.json") -> Path:
    """Files as BFCL has them: JSONL under the name .json, other letters escaped."""
    (folder / name).write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    if answers is not None:
        (folder / "possible_answer" / name).write_text("".join(json.dumps(a) + "\n" for a in answers), encoding="utf-8")
    return folder / name


def read(path: Path) -> tuple[list[Sample], list[str]]:
    rejected: list[str] = []
    return list(read_samples(Source(path, "b"), rejected)), rejected


def one(folder: Path, truth: Any, **more: Any) -> Sample:
    [sample], rejected = read(place(folder, [row(**more)], [{"id": "simple_7", "ground_truth": truth}]))
    assert rejected == []
    return sample


def written(samples: list[Sample]) -> dict[str, list[Any]]:
    files: dict[str, list[Any]] = {}
    for file, line in write_samples(samples, "BFCL_v4_out"):
        files.setdefault(file, []).append(json.loads(line))
    return files


def choices(sample: Sample) -> dict[str, Any]:
    """The choices of the first call; an argument with one value, without the words around it."""
    [calls] = sample.alternatives
    return {name: (c["$any"], c["optional"]) for name, c in calls[0].arguments.items()}


ALTERNATIVES = {
    "evl-010 one of two": ({"city": ["Oslo", "Oslo, NO"]}, {"city": "Oslo"}, (["Oslo", "Oslo, NO"], False)),
    "evl-010 left out first": ({"city": ["", "Oslo"]}, {}, (["", "Oslo"], True)),
    "evl-010 left out last": ({"city": ["Oslo", ""]}, {"city": "Oslo"}, (["Oslo", ""], True)),
    "evl-010 the type has no empty text": ({"nights": ["", 2]}, {}, ([2], True)),
    "evl-010 the values have no empty text": ({"view": ["sea", ""]}, {"view": "sea"}, (["sea"], True)),
    "only left out": ({"nights": [""]}, {}, ([], True)),
    "evl-012 no value": ({"nights": []}, {}, ([], False)),
    "val-017 null": ({"quiet": [None, True]}, {"quiet": None}, ([None, True], False)),
    "true is not one": ({"nights": [1, True]}, {"nights": 1}, ([1, True], False)),
    "an object": (
        {"options": [{"pet": ["dog", "cat"], "age": ["", 3]}]}, {"options": {"pet": "dog"}},
        ([{"pet": "dog"}, {"pet": "dog", "age": 3}, {"pet": "cat"}, {"pet": "cat", "age": 3}], False),
    ),
    "a list of objects": (
        {"guests": [[{"name": ["Li", "Lee"]}, {"name": ["Bo"]}]]}, {"guests": [{"name": "Li"}, {"name": "Bo"}]},
        ([[{"name": "Li"}, {"name": "Bo"}], [{"name": "Lee"}, {"name": "Bo"}]], False),
    ),
    "an object in an object": ({"options": [{"a": [{"b": [1, 2]}]}]}, {"options": {"a": {"b": 1}}}, ([{"a": {"b": 1}}, {"a": {"b": 2}}], False)),
    "lists as values": ({"guests": [["a", "b"], ["a"]]}, {"guests": ["a", "b"]}, ([["a", "b"], ["a"]], False)),
    "an empty object": ({"options": [{}, ""]}, {"options": {}}, ([{}], True)),
}  # fmt: skip


@pytest.mark.parametrize(("listed", "arguments", "choice"), ALTERNATIVES.values(), ids=ALTERNATIVES.keys())
def test_a_call_takes_the_first_alternatives_and_the_choices_stand_beside_it(
    listed: Any, arguments: Any, choice: Any, folder: Path
) -> None:
    truth = [{"book.room": listed}]
    sample = one(folder, truth)
    assert json.dumps(sample.calls[0].arguments) == json.dumps(arguments)
    assert json.dumps(list(choices(sample).values())) == json.dumps([choice])
    assert sample.kind == "no_graph"
    assert written([sample])["possible_answer/BFCL_v4_out.json"] == [{"id": "simple_7", "ground_truth": truth}]
    [again], _ = read(place(folder, [row()], written([sample.model_copy(update={"raw": None})])["possible_answer/BFCL_v4_out.json"]))
    assert json.dumps(choices(again)) == json.dumps(choices(sample))
    assert json.dumps(again.calls[0].arguments) == json.dumps(arguments)


def test_a_row_whose_arguments_have_one_value_each_has_no_alternatives(folder: Path) -> None:
    sample = one(folder, [{"book.room": {"city": ["Oslo"], "options": [{"pet": ["dog"]}]}}])
    assert sample.alternatives == ()
    assert sample.calls == (ToolCall(name="book.room", arguments={"city": "Oslo", "options": {"pet": "dog"}}),)


def test_the_row_is_carried_with_its_place_id_and_both_originals(folder: Path) -> None:
    sample = one(folder, [{"book.room": {"city": ["Oslo"]}}, {"book.room": {"city": ["Rom"]}}], query="Zwei Zimmer, früh.")
    assert (sample.id, sample.benchmark, sample.kind, sample.category) == ("b-simple_7", "b", "multi_call", "simple")
    assert (sample.speaker, sample.graph_id, sample.golden_triples, sample.ordered) == ("", "", (), False)
    assert sample.query == "Zwei Zimmer, früh."
    assert sample.provenance == {"format": "bfcl", "place": "BFCL_v4_simple.json:1", "id": "simple_7", "escaped": True, "notes": []}
    assert sample.raw["question"] == row(query="Zwei Zimmer, früh.")
    assert len(sample.raw["possible_answer"]["ground_truth"]) == 2
    assert sample.candidate_tools[0].parameters["properties"]["options"] == {"type": "object"}


def test_a_system_message_is_no_part_of_the_query_and_is_written_back(folder: Path) -> None:
    question = [[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "A room."}]]
    [sample], _ = read(place(folder, [{**row(), "question": question}], [answer({"city": ["Oslo"]})]))
    assert sample.query == "A room."
    assert any("messages of system" in note for note in sample.provenance["notes"])
    [new] = written([sample.model_copy(update={"query": "A bed."})])["BFCL_v4_out.json"]
    assert new["question"] == [[question[0][0], {"role": "user", "content": "A bed."}]]


@pytest.mark.parametrize(("id", "kind", "noted"), [("irrelevance_3", "no_tool", False), ("live_relevance_3-1-0", "no_graph", True)])
def test_rows_without_an_answer_expect_no_call_or_one_that_is_not_said(id: str, kind: str, noted: bool, folder: Path) -> None:
    """val-027: a row of the irrelevance sets expects no call."""
    [sample], rejected = read(place(folder, [row(id)], None))
    assert (sample.kind, sample.calls, rejected) == (kind, (), [])
    assert bool(sample.provenance["notes"]) is noted
    assert (sample.provenance.get("golden_not_given") is True) is noted
    assert written([sample]) == {"BFCL_v4_out.json": [row(id)]}
    verdicts = {check.check: check for check in check_sample(sample, KnowledgeGraph([], ""))}
    assert (verdicts["syntax"].verdict, verdicts["parameters"].verdict) == (("unknown", "unknown") if noted else ("pass", "pass"))
    assert [finding.code for finding in verdicts["syntax"].findings] == ["golden_not_given"] * noted


TURNS = [
    ["sort('a.txt')", "book.room(city='Oslo', nights=2)"],
    [],
    ["far(p=1/6)", "book.room(guests=('a', 'b'))"],
    ["book.room(", "sort('a', file_name='b')"],
]
SORT = {
    "name": "sort",
    "description": "",
    "parameters": {"type": "dict", "properties": {"file_name": {"type": "string"}}, "required": ["file_name"]},
}
CLASS_ROW = {
    "id": "multi_turn_base_0", "question": [[{"role": "user", "content": "Sort."}], [], [{"role": "user", "content": "Go."}], []],
    "initial_config": {}, "involved_classes": ["GorillaFileSystem", "HotelAPI", "MathAPI"], "excluded_function": ["find"],
}  # fmt: skip


@pytest.fixture
def turns(folder: Path) -> Path:
    (folder / "multi_turn_func_doc").mkdir()
    for name, documents in (("gorilla_file_system", [SORT, {**SORT, "name": "find"}]), ("HotelAPI", [BOOK])):
        (folder / "multi_turn_func_doc" / f"{name}.json").write_text("".join(json.dumps(d) + "\n" for d in documents), encoding="utf-8")
    return place(folder, [CLASS_ROW], [{"id": "multi_turn_base_0", "ground_truth": TURNS}], "BFCL_v4_multi_turn_base.json")


def test_several_turns_are_one_sample_with_the_number_of_calls_of_each(turns: Path) -> None:
    """imp-023: positional arguments take their names from the document; imp-003: a tuple is a list; nothing is evaluated."""
    [sample], rejected = read(turns)
    assert rejected == []
    assert [tool.name for tool in sample.candidate_tools] == ["sort", "book.room"]
    assert [(call.name, call.arguments) for call in sample.calls] == [
        ("sort", {"file_name": "a.txt"}), ("book.room", {"city": "Oslo", "nights": 2}), ("book.room", {"guests": ["a", "b"]}),
    ]  # fmt: skip
    assert (sample.query, sample.kind, sample.ordered, sample.provenance["turns"]) == ("Sort.\n\nGo.", "multi_call", True, [2, 0, 1, 0])
    assert [(u["path"], u["code"], u["text"]) for u in sample.provenance["unparsed"]] == [
        ("/calls/2", "parse_error", "far(p=1/6)"),
        ("/calls/4", "truncated", "book.room("),
        ("/calls/5", "duplicate_key", "sort('a', file_name='b')"),
    ]
    assert any("the documents of MathAPI are not there (multi_turn_func_doc/math_api.json)" in note for note in sample.provenance["notes"])
    assert any("'file_name'" in note for note in sample.provenance["notes"])


def test_a_changed_call_of_a_turn_is_the_only_change(turns: Path) -> None:
    [sample], _ = read(turns)
    calls = (sample.calls[0], ToolCall(name="book.room", arguments={"city": "O'Hare", "nights": True}), sample.calls[2])
    files = written([sample.model_copy(update={"calls": calls})])
    assert files["BFCL_v4_out.json"] == [CLASS_ROW]
    assert files["possible_answer/BFCL_v4_out.json"] == [
        {"id": "multi_turn_base_0", "ground_truth": [[TURNS[0][0], 'book.room(city="O\'Hare", nights=True)'], *TURNS[1:]]}
    ]


def test_call_texts_of_a_single_turn_are_read_too(folder: Path) -> None:
    sample = one(folder, ["book.room('Oslo', 2)", "book.room(city='Rom')"])
    assert [call.arguments for call in sample.calls] == [{"city": "Oslo", "nights": 2}, {"city": "Rom"}]
    assert written([sample])["possible_answer/BFCL_v4_out.json"][0]["ground_truth"] == ["book.room('Oslo', 2)", "book.room(city='Rom')"]


def test_a_golden_call_that_is_none_is_kept_as_text(folder: Path) -> None:
    sample = one(folder, [{"book.room": {"city": ["Oslo"]}}, {"a": {}, "b": {}}, {"book.room": ["x"]}])
    assert len(sample.calls) == 1
    assert [u["path"] for u in sample.provenance["unparsed"]] == ["/calls/1", "/calls/2"]
    sample = one(folder, [{"book.room": {"options": [{str(n): [1, 2] for n in range(13)}]}}])
    assert (sample.calls, sample.kind) == ((), "no_graph")
    assert "more than 4,096 values" in sample.provenance["unparsed"][0]["message"]


def test_a_changed_argument_is_the_only_change_and_takes_the_place_of_the_first_alternative(folder: Path) -> None:
    truth = [{"book.room": {"city": ["Oslo", "Oslo, NO"], "nights": ["", 2], "options": [{"pet": ["dog", ""]}]}}]
    sample = one(folder, truth)
    call = ToolCall(name="book.room", arguments={**sample.calls[0].arguments, "city": "Bergen"})
    files = written([sample.model_copy(update={"calls": (call,)})])
    assert files["BFCL_v4_out.json"] == [row()]
    truth[0]["book.room"]["city"] = ["Bergen", "Oslo, NO"]
    assert files["possible_answer/BFCL_v4_out.json"] == [{"id": "simple_7", "ground_truth": truth}]


def test_a_renamed_argument_and_a_changed_document_are_the_only_changes(folder: Path) -> None:
    other = {**BOOK, "name": "other"}
    sample = one(folder, [{"book.room": {"City": ["Oslo"], "nights": ["", 2]}}], documents=[other, BOOK])
    tools = (sample.candidate_tools[0], sample.candidate_tools[1].model_copy(update={"description": "Book it."}))
    files = written(
        [sample.model_copy(update={"calls": (ToolCall(name="book.room", arguments={"city": "Oslo"}),), "candidate_tools": tools})]
    )
    assert files["possible_answer/BFCL_v4_out.json"][0]["ground_truth"] == [{"book.room": {"nights": ["", 2], "city": ["Oslo"]}}]
    [first, second] = files["BFCL_v4_out.json"][0]["function"]
    assert first == other
    assert second["description"] == "Book it."


BAD = {
    "no JSON": ("{", "not JSON"),
    "no row": (json.dumps({"id": "simple_9"}), "is no row with id, question and function"),
    "an id that is a number": (json.dumps({**row(), "id": 4}), "is no row with id, question and function"),
    "an id that was there": (json.dumps(row()), "occurs a second time (first at BFCL_v4_simple.json:1)"),
    "no answer": (json.dumps(row("simple_9")), "no answer in possible_answer/BFCL_v4_simple.json has this id"),
    "a question without text": (json.dumps({**row("simple_8"), "question": [[{"role": "user"}]]}), "turn 0 of the question"),
    "a query that is blank": (json.dumps(row("simple_8", " ")), "the query is"),
    "a document without a name": (json.dumps(row("simple_8", documents=[{"parameters": {}}])), "has no name"),
    "an answer that is a text": (
        json.dumps({"id": "simple_8", "question": [[{"role": "user", "content": "Who?"}]], "involved_classes": ["MemoryAPI"]}),
        "the golden answer is the text",
    ),
}


@pytest.mark.parametrize(("line", "reason"), BAD.values(), ids=BAD.keys())
def test_a_bad_row_is_rejected_with_its_place_and_the_others_are_read(line: str, reason: str, folder: Path) -> None:
    truths = {"simple_8": ["Ann"]} if "MemoryAPI" in line else {}
    answers = [{"id": i, "ground_truth": truths.get(i, [{"book.room": {}}])} for i in ("simple_7", "simple_8", "simple_10")]
    path = place(folder, [row()], answers)
    path.write_text(path.read_text("utf-8") + line + "\n" + json.dumps(row("simple_10")) + "\n", encoding="utf-8")
    samples, rejected = read(path)
    assert [sample.id for sample in samples] == ["b-simple_7", "b-simple_10"]
    assert reason in rejected[0]
    assert rejected[0].startswith("BFCL_v4_simple.json:2")
    left = ["possible_answer/BFCL_v4_simple.json:2 (simple_8): an answer without a row"]
    assert rejected[1:] == ([] if "simple_8" in line else left)


def test_answers_may_stand_in_another_order(folder: Path) -> None:
    ids = ["simple_1", "simple_2", "simple_3"]
    path = place(folder, [row(i) for i in ids], [answer({"city": [i]}, id=i) for i in reversed(ids)])
    samples, rejected = read(path)
    assert ([s.calls[0].arguments["city"] for s in samples], rejected) == (ids, [])


def test_missing_answers_are_an_error_that_says_where_they_belong(folder: Path) -> None:
    with pytest.raises(FamilytoolError, match=r"put possible_answer/BFCL_v4_simple\.json beside it"):
        read(place(folder, [row()], None))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (row(), True),
        ({**row(), "function": []}, True),
        (CLASS_ROW, True),
        (BOOK, False),
        (answer({}), False),
        ([row()], False),
        (None, False),
    ],
)
def test_only_rows_look_like_it(value: Any, expected: bool) -> None:
    assert looks_like(value) is expected


def plain(**update: Any) -> Sample:
    fields: dict[str, Any] = {
        "id": "home-a", "benchmark": "home", "kind": "no_graph", "speaker": "Ann", "query": "Brew.", "graph_id": "g",
        "candidate_tools": (Tool(name="brew", parameters={"type": "object", "properties": {"tea": {}}, "additionalProperties": False}),),
        "calls": (ToolCall(name="brew", arguments={"tea": "mint"}),),
    }  # fmt: skip
    return Sample(**{**fields, **update})


def test_a_sample_of_our_own_is_written_in_their_form() -> None:
    choice = {"$any": ["mint", {"of": [1]}], "optional": True}
    samples = [
        plain(alternatives=((ToolCall(name="brew", arguments={"tea": choice, "n": {"$any": [2], "optional": True}}),),)),
        plain(id="home-b", kind="no_tool", calls=()),
    ]
    files = written(samples)
    assert list(files) == [file.format("out") for file in FILES]
    assert files["BFCL_v4_out.json"][0] == {
        "id": "a", "question": [[{"role": "user", "content": "Brew."}]],
        "function": [{"name": "brew", "description": "", "parameters": {"type": "dict", "properties": {"tea": {"type": "any"}}, "required": []}}],
    }  # fmt: skip
    assert files["possible_answer/BFCL_v4_out.json"] == [
        {"id": "a", "ground_truth": [{"brew": {"tea": ["mint", {"of": [[1]]}, ""], "n": ["", 2]}}]}, {"id": "b", "ground_truth": []}
    ]  # fmt: skip


UNSAYABLE = {
    "other lists of calls": (plain(alternatives=((), ())), "other lists of calls"),
    "an empty text": (plain(calls=(ToolCall(name="brew", arguments={"tea": ""}),)), "means 'may be left out'"),
    "no golden call": (plain(calls=()), "it has no golden call, and is of kind no_graph"),
    "calls that could not be read": (plain(provenance={"unparsed": [{"path": "/calls/1"}]}), "known from its raw row only"),
    "turns without their texts": (plain(provenance={"turns": [1]}), "known from its raw row only"),
    "an empty text within": (plain(calls=(ToolCall(name="brew", arguments={"tea": {"a": ""}}),)), "the calls would be read as"),
    "a blank query": (plain(query=" Brew."), "the query would be read as"),
    "half a pair": (plain(query="\udc00"), "half of a surrogate pair"),
    "a type of Python": (plain(candidate_tools=(Tool(name="f", parameters={"type": "object", "properties": {"a": {"type": "str"}}}),)), "document 0 (f) would be read as"),
}  # fmt: skip


@pytest.mark.parametrize(("sample", "reason"), UNSAYABLE.values(), ids=UNSAYABLE.keys())
def test_what_cannot_be_said_is_rejected_with_the_reason(sample: Sample, reason: str) -> None:
    rejected: list[str] = []
    assert list(write_samples([sample], "x", rejected)) == []
    assert reason in rejected[0]
    with pytest.raises(FamilytoolError, match="cannot be written as bfcl"):
        list(write_samples([sample], "x"))


REAL = {
    "irrelevance": (240, {"no_tool": 240}, 0), "live_multiple.irregular_rows": (10, {"no_graph": 10}, 6),
    "live_parallel": (16, {"multi_call": 16}, 14), "live_parallel_multiple": (24, {"multi_call": 24}, 18),
    "live_relevance": (16, {"no_graph": 16}, 0), "live_simple": (258, {"no_graph": 258}, 132), "multiple": (200, {"no_graph": 200}, 140),
    "parallel": (200, {"multi_call": 200}, 122), "simple_java": (100, {"no_graph": 100}, 3), "simple_javascript": (50, {"no_graph": 50}, 5),
}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize(("name", "count", "kinds", "open_rows"), [(n, *facts) for n, facts in REAL.items()], ids=REAL.keys())
def test_the_published_rows_and_answers_are_written_line_for_line(
    name: str, count: int, kinds: dict[str, int], open_rows: int, foreign_data: Callable[[str], Path]
) -> None:
    path = foreign_data("bfcl") / f"BFCL_v4_{name}.json"
    samples, rejected = read(path)
    assert (len(samples), rejected) == (count, [])
    assert Counter(sample.kind for sample in samples) == kinds
    assert sum(bool(sample.alternatives) for sample in samples) == open_rows
    lines: dict[str, str] = {}
    for file, line in write_samples(samples, name):
        lines[file] = lines.get(file, "") + line
    for file, text in lines.items():  # most of the published files end without a line feed
        assert text.rstrip("\n") == (path.parent / file).read_text("utf-8").rstrip("\n")
    assert len(lines) == 1 + (path.parent / "possible_answer" / path.name).exists()


@pytest.mark.full
def test_the_published_call_texts_are_read_and_written_back(foreign_data: Callable[[str], Path], folder: Path) -> None:
    """The rows of these answers are not at hand: their questions are made up, two of eight classes have documents."""
    data = foreign_data("bfcl")
    shutil.copytree(data / "multi_turn_func_doc", folder / "multi_turn_func_doc")
    texts = (data / "possible_answer" / "BFCL_v4_multi_turn_base.json").read_text("utf-8")
    answers = [json.loads(line) for line in texts.splitlines()]
    rows = [
        {**CLASS_ROW, "id": a["id"], "question": CLASS_ROW["question"], "involved_classes": ["GorillaFileSystem", "TravelAPI"]}
        for a in answers
    ]
    samples, rejected = read(place(folder, rows, answers, "BFCL_v4_multi_turn_base.json"))
    assert (len(samples), rejected) == (200, [])
    unread = [entry for sample in samples for entry in sample.provenance.get("unparsed", ())]
    assert (sum(len(sample.calls) for sample in samples), len(unread)) == (1_106, 36)  # 1,142 texts
    assert all("the document of the tool is not known" in entry["message"] for entry in unread)  # positional, of other classes
    lines = [line for file, line in write_samples(samples, "x") if file == "possible_answer/BFCL_v4_x.json"]
    assert "".join(lines) == texts
