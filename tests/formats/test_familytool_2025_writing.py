"""The writer of FamilyTool rows: what is unchanged keeps its spelling, what is changed is the only change, what cannot be said is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from familytool.errors import FamilytoolError
from familytool.formats.benchmark_files import Source
from familytool.formats.familytool_2025 import FILES, read_sample_lines, read_samples, write_samples
from familytool.formats.graphs import GRAPH_FORMATS
from familytool.model import RelationPath, Sample, Tool, ToolCall, Triple
from tests.made import Made

BREW = {
    "name": "brew",
    "description": "Brew.",
    "parameters": {"type": "object", "properties": {"tea": {"type": "str"}}, "required": ["cup"]},
    "response": {"ok": {}},
}
SHOP = {"name": "find_shop", "description": "", "parameters": {"properties": [{"name": "town", "description": "Wo?"}], "required": []}}
PLAIN = "<speak>Speaker: Nora</speak> My mother's tea, s’il vous plaît.  The extra information for the query is ([Nora, mother, Ines], [Ines, tea, tea_0009])."
CALL = {"name": "brew", "parameters": {"tea": "tea_0009", "cup": 2}, "depend_on": []}

SPELLINGS = {
    "plain": PLAIN,
    "no tag": "Tea for my mother. The extra information for the query is ([Nora, mother, Ines]).",
    "white space before": " Tea. The extra information for the query is ([Nora, mother, Ines]).",
    "person": "<speak>Person: Nora</speak>  Tea.   The extra information for the query is ([Nora, mother, Ines]).",
    "full stop in the tag": "<speak>Speaker: Nora.</speak>Tea. The extra information for the query is ([Nora, mother, Ines]).",
    "space in the tag": "<speak>Speaker: Nora </speak> Tea. The extra information for the query is ([Nora, mother, Ines]).",
    "quoted": "<speak>Speaker: Nora</speak> Tea. The extra information for the query is (['Nora', 'mother', \"O'Ines\"],[Nora, son, Tim]).",
    "spaces and no full stop": "<speak>Speaker: Nora</speak> Tea (two). The extra information for the query is ( [Nora, mother, Ines] ,[Ines,tea,t] )",
    "a triple twice": "<speak>Speaker: N</speak> Tea. The extra information for the query is ([N, m, I], [I, t, x], [N, m, I], [I, u, y]).",
    "the sentence twice": "<speak>Speaker: N</speak> The extra information for the query is odd. The extra information for the query is ([N, m, I]).",
}  # fmt: skip


def row(user: str = PLAIN, calls: Any = None, tools: Any = None, id: str = "KGMTUbench_7") -> list[dict[str, Any]]:
    contents = (id, [BREW, SHOP, BREW] if tools is None else tools, user, [CALL] if calls is None else calls)
    return [
        {"role": role, "content": content} for role, content in zip(("id", "candidate_tools", "user", "tool_call"), contents, strict=True)
    ]


def read(*rows: Any) -> list[Sample]:
    rejected: list[str] = []
    samples = list(read_sample_lines([(f"x:{n}", json.dumps(r)) for n, r in enumerate(rows, 1)], "x", "kg", rejected))
    assert rejected == []
    return samples


def written(*samples: Sample) -> list[Any]:
    return [json.loads(text) for file, text in write_samples(samples, "x") if file in FILES]


def refused(*samples: Sample) -> list[str]:
    rejected: list[str] = []
    assert list(write_samples(samples, "x", rejected)) == []
    return rejected


@pytest.mark.parametrize("user", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_what_was_read_is_written_byte_for_byte(user: str) -> None:
    original = row(user, [{**CALL, "depend_on": [0], "x": 1}, {**CALL, "name": "find_shop"}])
    [sample] = read(original)
    [(file, text)] = write_samples([sample], "x")
    assert (file, text) == ("", json.dumps(original, ensure_ascii=False) + "\n")
    again = Sample.model_validate_json(sample.model_dump_json())  # as it comes from samples.jsonl
    bare = again.model_copy(
        update={
            "candidate_tools": tuple(Tool(name=t.name, description=t.description, parameters=t.parameters) for t in again.candidate_tools)
        }
    )
    assert [t for _, t in write_samples([again], "x")] == [t for _, t in write_samples([bare], "x")] == [text]


def changed(**update: Any) -> tuple[Any, Any]:
    """The row as it was, and the row of the sample with these changes."""
    [sample] = read(row())
    [new] = written(sample.model_copy(update=update))
    return row(), new


def test_a_changed_argument_is_the_only_change() -> None:
    old, new = changed(calls=(ToolCall(name="brew", arguments={"tea": "tea_0009", "cup": "2"}),))
    old[3]["content"] = [{"name": "brew", "parameters": {"tea": "tea_0009", "cup": "2"}, "depend_on": []}]
    assert new == old


def test_an_added_call_stands_behind_the_others_and_depends_on_nothing() -> None:
    [sample] = read(row(calls=[{**CALL, "depend_on": ["x"]}]))
    [new] = written(sample.model_copy(update={"calls": (*sample.calls, ToolCall(name="find_shop", arguments={}))}))
    assert new[3]["content"] == [{**CALL, "depend_on": ["x"]}, {"name": "find_shop", "parameters": {}, "depend_on": []}]
    assert sample.provenance["depend_on"] == [["x"]]


ADDED = {
    "in front, by the paths": (
        (("Nora", "son", "Tim"), ("Tim", "wife", "Eve"), ("Eve", "tea", "t")), (("Nora", ("son", "wife", "tea")),),
        "([Tim, wife, Eve],[Eve, tea, t] )", "([Nora, son, Tim], [Tim, wife, Eve],[Eve, tea, t] )",
    ),
    "behind, without paths": (
        (("A", "r", "B"), ("C", "s", "D")), (), "( ['A','r','B'])", "( ['A','r','B'], ['C', 's', 'D'])",
    ),
    "in the middle, without paths": (
        (("A", "r", "B"), ("X", "y", "Z"), ("C", "s", "D")), (), "([A, r, B],[C, s,D])", "([A, r, B], [X, y, Z], [C, s,D])",
    ),
    "one less": ((("A", "r", "B"), ("E", "t", "F")), (), "([A, r, B],[C,s,D],['E', t, F])", "([A, r, B], ['E', t, F])"),
    "another name": (
        (("A", "r", "B"), ("B", "s", "X")), (("A", ("r", "s")),), "(['A', 'r', 'B'],['B','s','C'])", "(['A', 'r', 'B'], ['B', 's', 'X'])",
    ),
    "with a shared beginning": (
        (("A", "r", "B"), ("B", "s", "C"), ("B", "t", "D")), (("A", ("r", "s")), ("A", ("r", "t"))),
        "([A,r,B], [B, s, C])", "([A,r,B], [B, s, C], [A, r, B], [B, t, D])",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("triples", "paths", "before", "after"), ADDED.values(), ids=ADDED.keys())
def test_a_changed_triple_is_the_only_change(triples: Any, paths: Any, before: str, after: str) -> None:
    start = "<speak>Speaker: Nora</speak> Tea.   The extra information for the query is "
    [sample] = read(row(f"{start}{before}."))
    patched = sample.model_copy(
        update={
            "golden_triples": tuple(Triple(head=h, relation=r, tail=t) for h, r, t in triples),
            "golden_paths": tuple(RelationPath(start=s, relations=r) for s, r in paths),
        }
    )
    assert written(patched) == [row(f"{start}{after}.")]


def test_a_repeated_document_that_was_removed_is_the_only_change() -> None:
    [sample] = read(row())
    assert [tool.name for tool in sample.candidate_tools] == ["brew", "find_shop", "brew"]
    assert written(sample.model_copy(update={"candidate_tools": sample.candidate_tools[:2]})) == [row(tools=[BREW, SHOP])]
    assert written(sample.model_copy(update={"candidate_tools": sample.candidate_tools[1:]})) == [row(tools=[SHOP, BREW])]


def test_an_added_and_a_changed_document_leave_the_others_as_they_stood() -> None:
    [sample] = read(row())
    new = Tool(
        name="new", parameters={"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
    )
    document = {
        "name": "new",
        "description": "",
        "parameters": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        "response": {},
    }
    assert written(sample.model_copy(update={"candidate_tools": (new, *sample.candidate_tools)})) == [
        row(tools=[document, BREW, SHOP, BREW])
    ]
    other = sample.candidate_tools[0].model_copy(update={"description": "Brew tea."})
    assert written(sample.model_copy(update={"candidate_tools": (other, *sample.candidate_tools[1:])})) == [
        row(tools=[{**BREW, "description": "Brew tea."}, SHOP, BREW])
    ]


def test_another_speaker_gets_another_tag() -> None:
    [sample] = read(row(SPELLINGS["person"]))
    [new] = written(sample.model_copy(update={"speaker": "Tim"}))
    assert new[2]["content"] == SPELLINGS["person"].replace("Nora</speak>  ", "Tim</speak> ")


def made(**update: Any) -> Sample:
    """A sample that was never in this form."""
    fields: dict[str, Any] = {
        "id": "home-hop2-000003", "benchmark": "home", "kind": "graph", "speaker": "Ann", "query": "Tea for my son.", "graph_id": "home",
        "candidate_tools": (Tool(name="brew", parameters={"type": "object", "properties": {"tea": {}}, "additionalProperties": False}),),
        "golden_triples": (Triple(head="Ann", relation="son", tail="Bo"), Triple(head="Bo", relation="tea", tail="mint")),
        "golden_paths": (RelationPath(start="Ann", relations=("son", "tea")),),
        "calls": (ToolCall(name="brew", arguments={"tea": "mint"}),),
    }  # fmt: skip
    return Sample(**{**fields, **update})


def test_a_sample_of_our_own_is_written_in_the_published_form() -> None:
    [new] = written(made())
    assert new == [
        {"role": "id", "content": "KGMTUbench_0"},
        {"role": "candidate_tools", "content": [{"name": "brew", "description": "", "parameters": {"type": "object", "properties": {"tea": {}}, "required": []}, "response": {}}]},
        {"role": "user", "content": "<speak>Speaker: Ann</speak> Tea for my son.  The extra information for the query is ([Ann, son, Bo], [Bo, tea, mint])."},
        {"role": "tool_call", "content": [{"name": "brew", "parameters": {"tea": "mint"}, "depend_on": []}]},
    ]  # fmt: skip


def test_numbers_of_ids_are_kept_and_the_free_ones_are_given_in_order() -> None:
    rows = written(made(), made(id="home-1"), made(id="home-x"), made(id="home-y"), read(row())[0])
    assert [r[0]["content"] for r in rows] == [f"KGMTUbench_{n}" for n in (0, 1, 2, 3, 7)]
    rejected: list[str] = []
    assert len(list(write_samples([made(), made(id="home-0")], "x", rejected))) == 1
    assert rejected == ["home-0: the id 'KGMTUbench_0' stands in an earlier row"]


NAMES = {
    "a comma": ("Rome, Italy", "['Ann', 'son', 'Rome, Italy']"),
    "brackets": ("a[1]", r"['Ann', 'son', 'a\x5b1\x5d']"),
    "an apostrophe": ("O'Neil's", "[Ann, son, O'Neil's]"),
    "quotation marks inside": ('the "Blue" bar', '[Ann, son, the "Blue" bar]'),
    "parentheses": ("Bo (the younger)", "[Ann, son, Bo (the younger)]"),
    "in quotation marks": ("'Bo'", """['Ann', 'son', "'Bo'"]"""),
    "one quotation mark": ('"', """['Ann', 'son', '"']"""),
    "a backslash and a bracket": ("\\[", r"['Ann', 'son', '\\\x5b']"),
    "other letters": ("Zoë Đặng 李", "[Ann, son, Zoë Đặng 李]"),
    "a line break": ("a\nb", "[Ann, son, a\nb]"),
}


@pytest.mark.parametrize(("name", "spelled"), NAMES.values(), ids=NAMES.keys())
def test_a_name_is_bare_or_quoted_so_that_it_is_read_again(name: str, spelled: str) -> None:
    """kgx-001: a comma in a name never makes a triple of four parts."""
    sample = made(
        golden_triples=(Triple(head="Ann", relation="son", tail=name),), golden_paths=(RelationPath(start="Ann", relations=("son",)),)
    )
    [new] = written(sample)
    assert new[2]["content"].endswith(f"({spelled}).")
    assert read(new)[0].golden_triples == sample.golden_triples


UNSAYABLE = {
    "no golden triples": (made(kind="no_graph", golden_triples=(), golden_paths=()), "no golden triples (kind no_graph)"),
    "no call": (made(calls=()), "no golden call"),
    "calls that could not be read": (made(calls=(), provenance={"unparsed": [{}]}), "no golden call that could be read"),
    "alternatives": (made(alternatives=((ToolCall(name="brew", arguments={"tea": {"$any": ["a", "b"], "optional": False}}),),)), "alternatives"),
    "a blank name": (made(golden_triples=(Triple(head="Ann", relation="son", tail="Bo "),), golden_paths=()), "has a name that this form cannot say"),
    "paths that join": (
        made(golden_paths=(RelationPath(start="Ann", relations=("son",)), RelationPath(start="Bo", relations=("tea",)))),
        "the golden paths would be read as",
    ),
    "nobody speaks": (made(speaker=""), "names nobody"),
    "a title without a name": (made(speaker="Ann Mr."), "the speaker would be read as"),
    "a tag in the query": (made(query="Tea </speak>"), "the speaker tag cannot be read"),
    "a blank query": (made(query="Tea. "), "the query would be read as"),
    "half a pair": (made(query="Tea \ud83d"), "half of a surrogate pair"),
    "a number that JSON has not": (made(calls=(ToolCall(name="brew", arguments={"n": float("inf")}),)), "Infinity is not JSON"),
    "a type of Python": (
        made(candidate_tools=(Tool(name="brew", parameters={"type": "object", "properties": {"tea": {"type": "str"}}}),)),
        "document 0 (brew) would be read as",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("sample", "reason"), UNSAYABLE.values(), ids=UNSAYABLE.keys())
def test_what_cannot_be_said_is_rejected_with_the_reason(sample: Sample, reason: str) -> None:
    [sentence] = refused(sample)
    assert sentence.startswith("home-hop2-000003: ")
    assert reason in sentence
    with pytest.raises(FamilytoolError, match="cannot be written as familytool-2025"):
        list(write_samples([sample], "x"))


def test_the_samples_of_a_run_are_written_and_read_again(home: Made) -> None:
    rejected: list[str] = []
    lines = [text for _, text in write_samples(home.samples, "home", rejected)]
    back: list[Sample] = list(read_sample_lines([(f"x:{n}", line) for n, line in enumerate(lines, 1)], "home", "home", []))
    kept = [sample for sample in home.samples if sample.golden_triples]
    assert len(rejected) == len(home.samples) - len(kept)
    assert all("no golden triples" in sentence for sentence in rejected)
    for sample, other in zip(kept, back, strict=True):
        for field in ("kind", "speaker", "query", "golden_triples", "golden_paths", "calls"):
            assert getattr(sample, field) == getattr(other, field)
    assert [text for _, text in write_samples(back, "home")] == lines


@pytest.mark.full
@pytest.mark.parametrize("version", ["v0", "b", "e"])
def test_the_published_files_are_written_byte_for_byte(version: str, foreign_data: Callable[[str], Path]) -> None:
    path = foreign_data("familytool") / f"familytool-{version}.jsonl"
    rejected: list[str] = []
    assert "".join(text for _, text in write_samples(read_samples(Source(path, "x"), rejected), "x")).encode() == path.read_bytes()
    assert rejected == []
    graph, form = path.with_name(f"familykg-{version}.txt"), GRAPH_FORMATS["list-literal"]
    assert form.write is not None
    assert form.write(form.read(graph.read_bytes().decode(), "kg", rejected)).encode() == graph.read_bytes()
    assert rejected == []
