"""The reader of the published FamilyTool files, on rows of our own and (marked `full`) on the files themselves."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from familytool.formats.familytool_2025 import looks_like, read_graph, read_sample_lines
from familytool.formats.familytool_2025_tools import write_tools
from familytool.graph import KnowledgeGraph
from familytool.model import RelationPath, Sample, Triple

SUFFIX = " The extra information for the query is ([Nora, mother, Ines], [Ines, prefer_tea, tea_0009])."
TEA = {
    "name": "order_tea",
    "description": "Order tea.",
    "parameters": {"type": "object", "properties": {"tea/kind": {"type": "string"}, "cups": {"type": "int"}}, "required": ["shop~name"]},
    "response": {"ok": {}},
}
LISTED = {"name": "find_shop", "description": "", "parameters": {"properties": [{"name": "town", "description": "Where."}], "required": []}}


def row(
    user: str = "<speak>Speaker: Nora</speak> Two cups of my mother's tea." + SUFFIX,
    arguments: Any = None,
    tools: Any = None,
    id: Any = "KGMTUbench_7",
    calls: Any = None,
) -> list[dict[str, Any]]:
    call = {"name": "order_tea", "parameters": {"tea/kind": "tea_0009"} if arguments is None else arguments, "depend_on": []}
    return [
        {"role": "id", "content": id},
        {"role": "candidate_tools", "content": [TEA, LISTED] if tools is None else tools},
        {"role": "user", "content": user},
        {"role": "tool_call", "content": [call] if calls is None else calls},
    ]


def read(*rows: Any) -> tuple[list[Sample], list[str]]:
    rejected: list[str] = []
    lines = [(f"x.jsonl:{n}", r if isinstance(r, str) else json.dumps(r)) for n, r in enumerate(rows, 1)]
    return list(read_sample_lines(lines, "family-x", "kg-x", rejected)), rejected


def one(*args: Any, **kwargs: Any) -> Sample:
    samples, rejected = read(row(*args, **kwargs))
    assert not rejected
    return samples[0]


def said(query: str, triples: str = "[Nora, mother, Ines]", tag: str = "<speak>Speaker: Nora</speak> ", gap: str = " ") -> Sample:
    return one(f"{tag}{query}{gap}The extra information for the query is ({triples}).")


def test_a_row_becomes_a_sample_and_raw_is_the_row_itself() -> None:
    sample = one()
    assert (sample.id, sample.benchmark, sample.kind, sample.graph_id) == ("family-x-7", "family-x", "graph", "kg-x")
    assert (sample.speaker, sample.query) == ("Nora", "Two cups of my mother's tea.")
    assert [(t.head, t.relation, t.tail) for t in sample.golden_triples] == [("Nora", "mother", "Ines"), ("Ines", "prefer_tea", "tea_0009")]
    assert sample.golden_paths == (RelationPath(start="Nora", relations=("mother", "prefer_tea")),)
    assert (sample.hops, sample.depth, sample.shape) == (2, 2, "2")
    assert sample.calls[0].arguments == {"tea/kind": "tea_0009"}
    assert sample.raw == row()
    assert sample.provenance["id"] == "KGMTUbench_7"
    assert sample.provenance["place"] == "x.jsonl:1"
    assert sample.provenance["notes"] == []
    assert Sample.model_validate_json(sample.model_dump_json()) == sample


@pytest.mark.parametrize(
    ("tag", "speaker", "kind", "noted"),
    [
        pytest.param("<speak>Speaker: Nora</speak> ", "Nora", "Speaker", False, id="clean"),
        pytest.param("<speak>Speaker: Nora</speak>", "Nora", "Speaker", False, id="no-space-behind"),
        pytest.param("<speak>Person: Nora</speak>  ", "Nora", "Person", False, id="person"),
        pytest.param("<speak>Speaker: Nora.</speak> ", "Nora", "Speaker", True, id="full-stop"),
        pytest.param("<speak>Speaker: Nora </speak> ", "Nora", "Speaker", True, id="space"),
        pytest.param("<speak>Speaker: Mr. Hale</speak> ", "Mr. Hale", "Speaker", False, id="dot-inside"),
        pytest.param("", "Nora", "", True, id="no-tag"),
    ],
)
def test_the_speaker_comes_from_the_tag_or_else_from_the_first_golden_triple(tag: str, speaker: str, kind: str, noted: bool) -> None:
    sample = said("Call my mother.", tag=tag)
    assert (sample.speaker, sample.provenance["speaker_tag"], sample.query) == (speaker, kind, "Call my mother.")
    assert bool(sample.provenance["notes"]) is noted


def test_a_parenthesis_in_the_query_stays_in_the_query() -> None:
    """Case kgx-013."""
    sample = said("Call my mom (the younger one) please.")
    assert sample.query == "Call my mom (the younger one) please."
    assert sample.golden_triples == (Triple(head="Nora", relation="mother", tail="Ines"),)
    assert sample.provenance["notes"] == []


def test_triples_inside_the_query_are_noted_and_not_golden() -> None:
    sample = said("Tea for two? , (Nora, son, Tim],[Tim, prefer_tea, tea_0001])")
    assert sample.query.endswith("tea_0001])")
    assert sample.golden_triples == (Triple(head="Nora", relation="mother", tail="Ines"),)
    assert "brackets" in sample.provenance["notes"][0]


@pytest.mark.parametrize(
    ("triples", "expected"),
    [
        pytest.param("[A, r, B], [B, s, C]", [("A", "r", "B"), ("B", "s", "C")], id="bare"),
        pytest.param("['A', 'r', 'B'],[B, s, C]", [("A", "r", "B"), ("B", "s", "C")], id="quoted-and-bare"),
        pytest.param(" [A, 'r', B]", [("A", "r", "B")], id="mixed-in-one-triple"),
        pytest.param("['A', 'r', 'Rome, Italy']", [("A", "r", "Rome, Italy")], id="comma-in-quotes"),
        pytest.param('["A", "r", "O\'Neil"]', [("A", "r", "O'Neil")], id="apostrophe"),
        pytest.param("[A, father, Mr. Hale]", [("A", "father", "Mr. Hale")], id="name-with-a-space"),
        pytest.param("[1, 2, None]", [("1", "2", "None")], id="bare-words-are-no-literals"),
    ],
)
def test_golden_triples_are_read_bare_or_quoted(triples: str, expected: list[tuple[str, str, str]]) -> None:
    assert [(t.head, t.relation, t.tail) for t in said("Hello?", triples).golden_triples] == expected


@pytest.mark.parametrize(
    ("triples", "shape", "starts", "hops"),
    [
        pytest.param("[A, r, B], [B, s, C]", "2", ["A"], 2, id="one-chain"),
        pytest.param("[A, r, B], [B, s, C], [A, t, D]", "2+1", ["A", "A"], 3, id="two-chains"),
        pytest.param("[A, r, B], [B, s, C], [A, r, B], [B, t, D]", "2+2", ["A", "A"], 3, id="shared-prefix-counts-once"),
        pytest.param("[A, r, B], [A, r, B]", "1", ["A"], 1, id="equal-chains-are-one"),
    ],
)
def test_golden_triples_are_split_into_chains(triples: str, shape: str, starts: list[str], hops: int) -> None:
    sample = said("Hello?", triples)
    assert (sample.shape, [p.start for p in sample.golden_paths], sample.hops) == (shape, starts, hops)
    assert len(sample.provenance["notes"]) == triples.count("[A, r, B]") - 1


def test_equal_documents_are_one_tool_and_repairs_are_noted() -> None:
    samples, rejected = read(row(tools=[TEA, LISTED, TEA]), row(id="KGMTUbench_8"))
    assert not rejected
    assert [t.name for t in samples[0].candidate_tools] == ["order_tea", "find_shop", "order_tea"]
    assert samples[0].provenance["notes"] == ["candidate tool 2 (order_tea) is listed before, word for word"]
    assert all(a is b for a, b in zip(samples[0].candidate_tools, samples[1].candidate_tools, strict=False))
    tea, shop, again = samples[0].candidate_tools
    assert again is tea
    assert tea.parameters["properties"] == {"tea/kind": {"type": "string"}, "cups": {"type": "integer"}, "shop~name": {}}
    assert tea.response == {"ok": {}}
    assert shop.parameters["properties"] == {"town": {"description": "Where."}}
    assert len(tea.notes) == 2
    assert tea.raw == TEA


def test_two_documents_of_one_name_are_both_kept_and_noted() -> None:
    sample = one(tools=[TEA, {**TEA, "description": "Other."}])
    assert len(sample.candidate_tools) == 2
    assert "both kept" in sample.provenance["notes"][0]


GRAPH = {"source": "graph", "path": {"start": "Nora", "relations": ["mother", "prefer_tea"]}}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param({"a/b~c": "tea_0009"}, {"/0/arguments/a~1b~0c": GRAPH}, id="graph-escaped"),
        pytest.param({"x": "two CUPS"}, {"/0/arguments/x": {"source": "query", "span": [0, 8]}}, id="query"),
        pytest.param({"x": "cup"}, {}, id="part-of-a-word"),
        pytest.param({"x": "Ines"}, {}, id="middle-of-a-chain"),
        pytest.param({"x": 30}, {"/0/arguments/x": {"source": "query", "span": [33, 35]}}, id="number"),
        pytest.param({"x": 2}, {}, id="part-of-a-time"),
        pytest.param({"x": True, "y": None, "z": ""}, {}, id="no-text"),
        pytest.param({"x": ["tea_0009"]}, {"/0/arguments/x/0": GRAPH}, id="in-a-list"),
    ],
)
def test_arguments_are_traced_to_a_golden_chain_or_to_the_query(arguments: dict[str, Any], expected: dict[str, Any]) -> None:
    user = "<speak>Speaker: Nora</speak> Two cups, at 2:30 for my mother, 30 biscuits." + SUFFIX
    assert one(user, arguments).argument_sources == expected


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        pytest.param("[1, 2", "not JSON", id="cut-off"),
        pytest.param('[{"role": "id", "role": "id"}]', "occurs twice", id="double-key"),
        pytest.param("9" * 5000, "limit", id="number-without-end"),
        pytest.param({"role": "id"}, "found dict", id="no-array"),
        pytest.param(row()[:3], "expected the four messages", id="three-messages"),
        pytest.param([*row()[:3], {"role": "assistant", "content": ""}], "assistant", id="other-role"),
        pytest.param([{**row()[0], "extra": 1}, *row()[1:]], "extra", id="other-key"),
        pytest.param(row(id=7), "must be text", id="id-is-a-number"),
        pytest.param(row(id="KGMTUbench_"), "no number", id="id-without-number"),
        pytest.param(row("<speak>Speaker: Nora</speak> Tea."), "is missing", id="no-golden"),
        pytest.param(row("<speak>Speaker: Nora Tea." + SUFFIX), "speaker tag", id="open-tag"),
        pytest.param(row("<speak>Speaker: .</speak> Tea." + SUFFIX), "names nobody", id="empty-tag"),
        pytest.param(row("<speak>Speaker: Nora</speak>" + SUFFIX), "no query", id="no-query"),
        pytest.param(row("Tea? The extra information for the query is ()."), "cannot be read", id="no-triple"),
        pytest.param(row("Tea? The extra information for the query is ([A, b, c]"), "cannot be read", id="open-parenthesis"),
        pytest.param(row("Tea? The extra information for the query is ([A, b])."), "three parts", id="pair"),
        pytest.param(row("Tea? The extra information for the query is ([A, b, c, d])."), "three parts", id="four-parts"),
        pytest.param(row("Tea? The extra information for the query is ([A, , c])."), "empty", id="empty-part"),
        pytest.param(row("Tea? The extra information for the query is ([A, b, c'])."), "half-quoted", id="half-quoted"),
        pytest.param(row(calls=[]), "no call", id="no-call"),
        pytest.param(row(calls=["order_tea"]), "no name", id="call-is-a-text"),
        pytest.param(row(arguments=["x"]), "no parameters object", id="arguments-are-a-list"),
        pytest.param(row(tools=["order_tea"]), "tool 0", id="tool-is-a-text"),
        pytest.param(row(tools=[{"name": "t", "parameters": {"properties": 5, "required": ["a"]}}]), "properties", id="properties"),
        pytest.param(row(), "second time", id="double-id"),
    ],
)
def test_a_row_that_cannot_be_read_is_rejected_with_its_place_and_the_rest_is_read(bad: Any, reason: str) -> None:
    samples, rejected = read(row(), "", bad, row(id="KGMTUbench_9"))
    assert [s.id for s in samples] == ["family-x-7", "family-x-9"]
    assert len(rejected) == 1
    named = isinstance(bad, list) and looks_like(bad) and isinstance(bad[0]["content"], str)
    assert rejected[0].startswith(f"x.jsonl:3 ({bad[0]['content']}): " if named else "x.jsonl:3: ")
    assert reason in rejected[0]


def test_samples_stream() -> None:
    def lines() -> Iterator[tuple[str, str]]:
        yield "x:1", json.dumps(row())
        raise AssertionError("the second line was read before the first sample was taken")

    assert next(read_sample_lines(lines(), "b", "g", [])).id == "b-7"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(row(), True), (row()[:3], False), ({"question": "x"}, False), ([TEA], False), (["A", "r", "B"], False), (None, False)],
)
def test_only_rows_of_four_messages_look_like_it(value: Any, expected: bool) -> None:
    assert looks_like(value) is expected


def test_graph_files_are_data(tmp_path: Path) -> None:
    """Case kgx-015."""
    trap = tmp_path / "ran"
    lines = ["['Bob', 'mother', 'Alice']", f"__import__('pathlib').Path({str(trap)!r}).touch()", "['a','b']", "['a','b','c','d']", ""]
    rejected: list[str] = []
    graph = read_graph([(f"kg.txt:{n}", line) for n, line in enumerate(lines, 1)], "kg", rejected)
    assert list(graph) == [Triple(head="Bob", relation="mother", tail="Alice")]
    assert graph.graph_id == "kg"
    assert [r.split(": ")[0] for r in rejected] == ["kg.txt:2", "kg.txt:3", "kg.txt:4"]
    assert not trap.exists()


@pytest.mark.parametrize("line", ["['a', 'b', 3]", "('a', 'b', 'c')", "['a', '', 'c']", "{'a': 1}", "['a', 'b', 'c'"])
def test_a_line_that_is_no_list_of_three_names_is_rejected(line: str) -> None:
    rejected: list[str] = []
    assert len(read_graph([("kg.txt:1", line)], "kg", rejected)) == 0
    assert len(rejected) == 1


def test_a_repeated_fact_is_kept_once_and_reported() -> None:
    rejected: list[str] = []
    assert len(read_graph([("k:1", "['a', 'b', 'c']\r"), ("k:2", "['a', 'b', 'c']")], "kg", rejected)) == 1
    assert rejected == ["k:2: the triple [a, b, c] stands in an earlier line; kept once"]


def lines_of(path: Path) -> Iterator[tuple[str, str]]:
    with path.open(encoding="utf-8") as file:
        yield from ((f"{path.name}:{number}", line) for number, line in enumerate(file, 1))


@pytest.fixture
def published(foreign_data: Callable[[str], Path]) -> Callable[[str], tuple[dict[str, Sample], KnowledgeGraph]]:
    folder = foreign_data("familytool")

    def load(version: str) -> tuple[dict[str, Sample], KnowledgeGraph]:
        rejected: list[str] = []
        samples = list(read_sample_lines(lines_of(folder / f"familytool-{version}.jsonl"), version, version, rejected))
        graph = read_graph(lines_of(folder / f"familykg-{version}.txt"), version, rejected)
        assert not rejected
        assert len({s.id for s in samples}) == len(samples)
        return {s.id: s for s in samples}, graph

    return load


Load = Callable[[str], tuple[dict[str, Sample], KnowledgeGraph]]


@pytest.mark.full
@pytest.mark.parametrize(
    ("version", "count", "hops", "edges", "nodes", "relations"),
    [
        ("v0", 483, {1: 107, 2: 362, 3: 14}, 159, 150, 65),
        ("b", 483, {1: 106, 2: 361, 3: 13, 4: 3}, 154, 147, 65),
        ("e", 455, {2: 36, 3: 387, 4: 22, 5: 9, 6: 1}, 491, 480, 66),
    ],
)
def test_the_published_sets_have_the_counts_of_the_specification(
    published: Load, version: str, count: int, hops: dict[int, int], edges: int, nodes: int, relations: int
) -> None:
    samples, graph = published(version)
    assert len(samples) == count
    assert Counter(s.hops for s in samples.values()) == hops
    assert (len(graph), len(graph.nodes), len(graph.relations)) == (edges, nodes, relations)
    assert all(t in graph for s in samples.values() for t in s.golden_triples)
    people = {t.head for t in graph}
    assert all(s.speaker in people and s.query for s in samples.values())
    assert all(len(s.calls) == 1 and s.raw[3]["content"][0]["parameters"] == s.calls[0].arguments for s in samples.values())


@pytest.mark.full
def test_the_published_chains_have_the_shapes_of_the_specification(published: Load) -> None:
    shapes = Counter(s.shape for s in published("b")[0].values())
    assert shapes == {"2": 337, "1": 106, "1+1": 24, "2+1": 10, "2+2": 3, "1+2": 2, "1+1+1": 1}
    shapes = Counter(s.shape for s in published("e")[0].values())
    assert {shape: shapes[shape] for shape in ("3", "2", "3+1", "3+2", "2+1", "3+3")} == {
        "3": 382, "2": 36, "3+1": 19, "3+2": 6, "2+1": 5, "3+3": 3,
    }  # fmt: skip


@pytest.mark.full
def test_the_published_tags_and_the_known_oddities_are_noted(published: Load) -> None:
    samples, _ = published("b")
    assert Counter(s.speaker for s in samples.values() if s.provenance["speaker_tag"]) == {"Alice": 185, "Jack": 149, "Bob": 144}
    assert [i for i, s in samples.items() if not s.provenance["speaker_tag"]] == [f"b-{n}" for n in (51, 99, 100, 101, 102)]
    assert sum(any("speaker tag reads" in n for n in s.provenance["notes"]) for s in samples.values()) == 5
    assert sum(any("word for word" in n for n in s.provenance["notes"]) for s in samples.values()) == 27
    assert sum(len(s.candidate_tools) > len(set(map(id, s.candidate_tools))) for s in samples.values()) == 27
    assert len({id(t) for s in samples.values() for t in s.candidate_tools}) == 114
    odd = [i for i, s in published("v0")[0].items() if any("brackets" in n for n in s.provenance["notes"])]
    assert odd == ["v0-441"]


OPTIONS = {"type": "array", "options": ["size", "price"], "default": ["all"]}


def test_a_list_of_options_is_read_as_the_enum_of_the_items_and_the_row_is_written_as_it_stood() -> None:
    """Case imp-021."""
    document = {**TEA, "parameters": {"type": "object", "properties": {"info": OPTIONS, "kind": "odd"}, "required": []}}
    sample = one(tools=[document], arguments={"info": ["size"]})
    [tool] = sample.candidate_tools
    assert tool.parameters["properties"]["info"] == {"type": "array", "default": ["all"], "items": {"enum": ["size", "price"]}}
    assert "#/properties/info/options: list ['size', 'price'] read as enum of the items" in tool.notes
    [written] = write_tools([tool])
    assert written == [document]
