"""Graph formats: what is written is read back, and nothing is dropped unseen."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.errors import FamilytoolError
from familytool.formats.familytool_2025 import read_graph
from familytool.formats.graphs import GRAPH_FORMATS, detect_graph_format
from familytool.graph import KnowledgeGraph
from familytool.model import RelationPath, Triple

WRITABLE = [name for name, f in GRAPH_FORMATS.items() if f.write]
RDF = ("n-triples", "json-ld")
Names = tuple[str, str, str]


def graph_of(*rows: Names, graph_id: str = "g") -> KnowledgeGraph:
    return KnowledgeGraph([Triple(head=h, relation=r, tail=t) for h, r, t in rows], graph_id)


def rows_of(graph: KnowledgeGraph) -> list[Names]:
    return [(t.head, t.relation, t.tail) for t in graph]


def read(name: str, text: str) -> tuple[list[Names], list[str]]:
    rejected: list[str] = []
    graph = GRAPH_FORMATS[name].read(text, "g", rejected)
    assert graph.graph_id == "g"
    return rows_of(graph), rejected


def write(name: str, graph: KnowledgeGraph) -> str:
    writer = GRAPH_FORMATS[name].write
    assert writer
    return writer(graph)


def assert_survives(name: str, rows: list[Names]) -> None:
    text = write(name, graph_of(*rows))
    text.encode("utf-8")
    back, rejected = read(name, text)
    assert not rejected
    assert (sorted(back) == sorted(rows)) if name in RDF else (back == rows)
    assert write(name, graph_of(*back)) == text


AWKWARD = [
    ("Ann", "lives_in", "Washington, D.C."),
    ("Mr. Smith", "says", 'it\'s "so" (really) [yes] <&>'),
    ("a-b", "c", "1"),
    ("a", "b-c", "2"),
    (" led ", "tab\there", "line\nfeed"),
    ("back\\slash \\n", "carriage\rreturn", "both\r\nx"),
    ("#no comment", "%41", "http://ex.org/a.b#c"),
    ("Zoë 李 😀", "e\u0301", "\u2028x\u0085\u00a0y\u200b"),
    ("'", '"', "'\""),
    ("head", "relation", "tail"),
    ("001", "true", "null"),
    ("self", "knows", "self"),
]


@pytest.mark.parametrize("name", WRITABLE)
@pytest.mark.parametrize("row", AWKWARD, ids=lambda row: ascii(row[2]))
def test_awkward_names_survive(name: str, row: Names) -> None:
    assert_survives(name, [row])


@pytest.mark.parametrize("name", WRITABLE)
def test_the_order_of_the_triples_survives_where_the_format_says_so(name: str) -> None:
    assert_survives(name, [*AWKWARD, ("a", "z", "1"), ("self", "a", "self"), ("a", "y", "1")])
    assert ("in their order" in GRAPH_FORMATS[name].carries) == (name not in RDF)


@pytest.mark.parametrize("name", WRITABLE)
def test_an_empty_graph_is_written(name: str) -> None:
    rows, rejected = read(name, write(name, graph_of()))
    assert not rows
    assert rejected in ([], ["line 1: the document holds no statement"])


CHARACTERS = st.characters(exclude_categories=["Cs"]) | st.sampled_from("'\"\\,()[]<>\t\n\r .#%@:\u2028\ufeff")
XML_CHARACTERS = CHARACTERS.filter(lambda c: c in "\t\n\r" or (c >= " " and c not in "\ufffe\uffff"))


def names_for(name: str) -> st.SearchStrategy[str]:
    return st.text(XML_CHARACTERS if name == "graphml" else CHARACTERS, min_size=1, max_size=8).filter(str.strip)


@pytest.mark.parametrize("name", WRITABLE)
@settings(max_examples=100)
@given(data=st.data())
def test_any_graph_is_read_back_as_it_was_written(name: str, data: st.DataObject) -> None:
    names = names_for(name)
    assert_survives(name, data.draw(st.lists(st.tuples(names, names, names), min_size=1, max_size=6, unique=True)))


@pytest.mark.parametrize("name", GRAPH_FORMATS)
@settings(max_examples=100)
@given(data=st.data())
def test_junk_is_reported_and_never_ends_in_a_traceback(name: str, data: st.DataObject) -> None:
    text = data.draw(st.text() | st.text(st.sampled_from("()[]{}<>'\",.:\\ \n\tabc1#@^_/")) | damaged())
    rows, rejected = read(name, text)
    assert all(line.split(" ")[0] in ("line", "statement") for line in rejected)
    assert all(line.isprintable() for line in rejected)
    for row in rows:
        assert all(part.strip() for part in row)
    with contextlib.suppress(FamilytoolError):
        assert detect_graph_format(text, "x") in GRAPH_FORMATS


SEEDS = [write(name, graph_of(*AWKWARD[:3])) for name in WRITABLE]


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A file of some format with a stretch of it replaced."""
    text = draw(st.sampled_from(SEEDS))
    start = draw(st.integers(0, len(text)))
    return text[:start] + draw(st.text(max_size=3)) + text[start + draw(st.integers(0, 12)) :]


@pytest.mark.parametrize(
    ("row", "found"), [(("a", "b", "\ud800"), "U+D800"), (("a", " ", "c"), "relation is empty"), (("a" * 100_001, "b", "c"), "100,001")]
)
@pytest.mark.parametrize("name", WRITABLE)
def test_a_name_that_no_file_can_hold_is_an_error_that_names_the_row(name: str, row: Names, found: str) -> None:
    with pytest.raises(FamilytoolError, match="triple 2") as error:
        write(name, graph_of(("x", "y", "z"), row))
    assert found in str(error.value)
    str(error.value).encode("utf-8")


@pytest.mark.parametrize("character", ["\x00", "\x0b", "\x1b", "\ufffe"])
def test_graphml_refuses_what_xml_cannot_hold(character: str) -> None:
    with pytest.raises(FamilytoolError, match=rf"triple 1 .*U\+{ord(character):04X}"):
        write("graphml", graph_of(("a", "b", f"c{character}")))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("jsonl", '["a", "b", "\\ud800"]'),
        ("list-literal", "['a', 'b', '\\ud800']"),
        ("csv", "head,relation,tail\na,b,\ud800"),
        ("tsv", "head\trelation\ttail\na\tb\t\ud800"),
        ("n-triples", '<u:a> <u:b> "\\uD800" .'),
        ("graphml", "<graphml>\ud800</graphml>"),
        ("triples-text", "(a, b, \ud800)"),
    ],
)
def test_a_lone_surrogate_is_rejected_with_its_line(name: str, text: str) -> None:
    rows, rejected = read(name, text)
    assert not rows
    assert len(rejected) == 1
    assert "surrogate" in rejected[0]
    rejected[0].encode("utf-8")


@pytest.mark.parametrize("name", ["jsonl", "csv", "tsv", "list-literal"], ids=lambda name: f"kgx-001-{name}")
def test_a_comma_in_a_name_is_no_separator(name: str) -> None:
    assert_survives(name, [("Ann", "lives_in", "Washington, D.C.")])


@pytest.mark.parametrize("name", WRITABLE, ids=lambda name: f"kgx-003-{name}")
def test_a_space_in_a_name_is_kept_and_its_paths_are_found(name: str) -> None:
    text = write(name, graph_of(("Bob", "teacher", "Mr. Smith"), ("Mr. Smith", "prefer_city", "city_0006")))
    graph = GRAPH_FORMATS[name].read(text, "g", [])
    assert graph.follow(RelationPath(start="Bob", relations=("teacher", "prefer_city"))) == ("city_0006",)


@pytest.mark.parametrize("name", WRITABLE, ids=lambda name: f"kgx-007-{name}")
def test_names_are_never_joined(name: str) -> None:
    graph = GRAPH_FORMATS[name].read(write(name, graph_of(("a-b", "c", "1"), ("a", "b-c", "2"))), "g", [])
    assert graph.tails("a", "b-c") == ("2",)


@pytest.mark.parametrize(
    ("text", "rows", "places"),
    [
        pytest.param(
            'Here:\n1. (Bob, mother, Alice)\n- (Bob, father, Jack).\n* ["Alice", "lives_in", "Oslo"]\n(broken, line)',
            [("Bob", "mother", "Alice"), ("Bob", "father", "Jack"), ("Alice", "lives_in", "Oslo")],
            ["line 5"],
            id="kgx-005",
        ),
        pytest.param(
            '```json\n[\n  ["a", "b", "c"],\n  ["d", "e", "f"]\n]\n```', [("a", "b", "c"), ("d", "e", "f")], [], id="fenced array"
        ),
        pytest.param(
            "([Bob, mother, Alice], ['Alice', 'x', 'Oslo']).", [("Bob", "mother", "Alice"), ("Alice", "x", "Oslo")], [], id="golden form"
        ),
        pytest.param(
            "(1) **(a, b, c)**\n2) <d, e, f>\nTriple 3: (g, h, i);",
            [("a", "b", "c"), ("d", "e", "f"), ("g", "h", "i")],
            [],
            id="decorations",
        ),
        pytest.param("(Bob, lives_in, Paris (France))", [("Bob", "lives_in", "Paris (France)")], [], id="brackets in a name"),
        pytest.param("- ('a, b', \"it's\", James's)", [("a, b", "it's", "James's")], [], id="quotes"),
        pytest.param("(Ann, lives_in, Washington, D.C.)", [], ["line 1"], id="four bare parts"),
        pytest.param('("Ann, lives_in, Oslo)\n(a, b, c', [], ["line 1", "line 2"], id="half quoted, cut off"),
        pytest.param("(a, b, c) since she said so\nI found none.\n(a, , c)", [], ["line 1", "line 2", "line 3"], id="prose"),
        pytest.param("(a, b, c)\n(a, b, c)", [("a", "b", "c")], ["line 2"], id="twice"),
    ],
)
def test_decorated_triples_are_read_and_the_rest_is_reported(text: str, rows: list[Names], places: list[str]) -> None:
    found, rejected = read("triples-text", text)
    assert found == rows
    assert [line.split(":")[0] for line in rejected] == places


def test_an_unparsed_line_is_reported_with_its_text() -> None:
    assert read("triples-text", "(broken, line)")[1] == ["line 1: expected three parts, found 2: (broken, line)"]


@pytest.mark.parametrize("name", GRAPH_FORMATS, ids=lambda name: f"kgx-015-{name}")
def test_graph_files_are_data(name: str, tmp_path: Path) -> None:
    trap = tmp_path / "ran"
    lines = ["['Bob', 'mother', 'Alice']", f"__import__('pathlib').Path({str(trap)!r}).touch()", "['a','b']", "['a','b','c','d']", ""]
    rows, rejected = read(name, "\n".join(lines))
    assert not trap.exists()
    assert rejected
    if name in ("list-literal", "triples-text"):
        assert rows == [("Bob", "mother", "Alice")]
        assert [line.split(":")[0] for line in rejected] == ["line 2", "line 3", "line 4"]


NT = '<http://ex.org/a.b> <http://ex.org#r> "v. 1, \\"x\\""@en .\n# c\n'


@pytest.mark.parametrize(
    ("name", "text", "rows", "places"),
    [
        pytest.param("n-triples", NT, [("http://ex.org/a.b", "http://ex.org#r", 'v. 1, "x"')], ["line 1"], id="kgx-019-nt"),
        pytest.param("csv", "head,relation,tail\nBob,mother,Alice\n", [("Bob", "mother", "Alice")], [], id="kgx-019-csv"),
        pytest.param("csv", "head,relation,tail\n0,Bob,mother,Alice\nBob,x,y\n", [("Bob", "x", "y")], ["line 2"], id="kgx-019-four"),
        pytest.param("csv", ",head,relation,tail\n0,Bob,mother,Alice\n", [], ["line 1"], id="kgx-019-index"),
        pytest.param("tsv", "Bob\tmother\tAlice\n", [], ["line 1"], id="tsv without a header"),
        pytest.param(
            "csv", '\ufeffhead,relation,tail\r\n\r\n"a\nb",r,t\r\nx,y\r\n', [("a\nb", "r", "t")], ["line 5"], id="csv, lines counted"
        ),
        pytest.param("csv", 'head,relation,tail\na,b,c\nd,"e,f\n', [("a", "b", "c")], ["line 3"], id="csv, open quote"),
        pytest.param(
            "n-triples",
            '<u:a> <u:b> "01"^^<http://www.w3.org/2001/XMLSchema#integer> .',
            [("u:a", "u:b", "01")],
            ["line 1"],
            id="nt, datatype",
        ),
        pytest.param(
            "n-triples",
            "_:x <u:b> <u:c> .\n<u:a> <u:b> .\n<u:a> <u:b> <urn:familytool:entity:%zz> .",
            [],
            ["line 1", "line 2", "line 3"],
            id="nt, no names",
        ),
        pytest.param("n-triples", '<urn:familytool:entity:Bob> <u:r> "a\\\\tb\\u00e9" .', [("Bob", "u:r", "a\\tbé")], [], id="nt, escapes"),
        pytest.param(
            "jsonl",
            '["a","b","c"]\r\n\n{"head":"a","relation":"b","tail":"d"}',
            [("a", "b", "c"), ("a", "b", "d")],
            [],
            id="jsonl, both rows",
        ),
        pytest.param(
            "jsonl",
            '["a","b","c","d"]\n["a","b",3]\n{"head":"a"}\n3\n{"a":1,"a":1}\n["a","","c"]',
            [],
            [f"line {n}" for n in range(1, 7)],
            id="jsonl, no rows",
        ),
        pytest.param("jsonl", '{"head":"a","relation":"b","tail":"c","weight":1}', [("a", "b", "c")], ["line 1"], id="jsonl, surplus key"),
        pytest.param(
            "jsonl",
            '{"head":"a","relation":"b","tail":"c","graph_id":"f"}\n{"head":"a","relation":"b","tail":"d","graph_id":"g"}',
            [("a", "b", "d")],
            ["line 1"],
            id="jsonl, two graphs",
        ),
        pytest.param(
            "list-literal", "['a', 'b', 3]\n('a', 'b', 'c')\n['a', 'b', 'c'", [], ["line 1", "line 2", "line 3"], id="list-literal"
        ),
    ],
)
def test_foreign_files_are_read_and_what_is_no_triple_is_reported(name: str, text: str, rows: list[Names], places: list[str]) -> None:
    found, rejected = read(name, text)
    assert found == rows
    assert [line.split(":")[0] for line in rejected] == places


LD = {"@context": {"knows": {"@id": "http://ex.org/knows", "@type": "@id"}, "age": "http://ex.org/age"}, "@id": "http://ex.org/bob"}
KNOWS = ("http://ex.org/bob", "http://ex.org/knows", "http://ex.org/ann")


@pytest.mark.parametrize(
    ("document", "rows", "message"),
    [
        ({**LD, "knows": "http://ex.org/ann"}, [KNOWS], ""),
        ({**LD, "knows": "http://ex.org/ann", "mother": "x"}, [KNOWS], "no context defines the key 'mother'"),
        ({**LD, "age": 7}, [("http://ex.org/bob", "http://ex.org/age", "7")], "datatype"),
        ({**LD, "age": {"@value": "7 Jahre", "@language": "de"}}, [("http://ex.org/bob", "http://ex.org/age", "7 Jahre")], "language 'de'"),
        (
            {**LD, "age": {"@value": "07", "@type": "http://www.w3.org/2001/XMLSchema#integer"}},
            [("http://ex.org/bob", "http://ex.org/age", "07")],
            "datatype",
        ),
        ({**LD, "knows": {"age": "7"}}, [], "blank node"),
        ({"@id": "http://ex.org/g", "@graph": [{**LD, "knows": "http://ex.org/ann"}]}, [KNOWS], "graph name"),
        ({"@context": "http://127.0.0.1:9/c.jsonld", "@id": "u:a", "b": "c"}, [], "never fetched"),
        ({"@context": [{"@import": "file:///etc/passwd"}], "@id": "u:a"}, [], "never fetched"),
        ({"@id": "Bob", "http://ex.org/r": "x"}, [], "relative"),
        ([{**LD, "knows": "http://ex.org/ann"}, 5], [KNOWS], "found int"),
        ({"@id": "u:a"}, [], "no statement"),
    ],
)
def test_json_ld_of_others(document: object, rows: list[Names], message: str) -> None:
    found, rejected = read("json-ld", json.dumps(document))
    assert found == rows
    assert message in " ".join(rejected)
    assert bool(rejected) == bool(message)


def graphml(body: str, keys: str = "", directed: str = "directed") -> str:
    names = '<key id="n" for="node" attr.name="name" attr.type="string"/><key id="r" for="edge" attr.name="relation" attr.type="string"/>'
    return f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{names}{keys}\n<graph edgedefault="{directed}">\n{body}\n</graph></graphml>'


EDGE = '<edge source="a" target="b"><data key="r">knows</data></edge>'


@pytest.mark.parametrize(
    ("text", "rows", "message"),
    [
        (graphml(EDGE), [("a", "knows", "b")], ""),
        (graphml('<node id="a"><data key="n">Ann</data></node>' + EDGE), [("Ann", "knows", "b")], ""),
        (graphml(EDGE + EDGE.replace("knows", "likes")), [("a", "knows", "b"), ("a", "likes", "b")], ""),
        (
            graphml(EDGE + EDGE.replace("<edge", '<edge id="1"') + EDGE.replace("<edge", '<edge id="1"')),
            [],
            "line 3: the edge shares its id",
        ),
        (graphml('<edge source="a" target="b"/>'), [], "line 3: the edge from 'a' to 'b' has no data"),
        (graphml('<edge source="a"><data key="r">x</data></edge>' + EDGE), [("a", "knows", "b")], "no source or no target"),
        (graphml('<node id="c"/>\n' + EDGE), [("a", "knows", "b")], "line 3: the node 'c' has no edge"),
        (graphml(EDGE, directed="undirected"), [], "undirected"),
        (graphml(EDGE).replace('attr.type="string"', 'attr.type="int"').replace("knows", "07"), [], "must be a text"),
        (graphml(f'{EDGE}</graph><graph edgedefault="directed">{EDGE}'), [], "expected one graph, found 2"),
        ("<graphml>" + "<a>" * 100, [], "nested deeper"),
        (graphml(EDGE)[:-5], [], "not XML"),
        ('<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + graphml(EDGE), [], "line 1: a document type"),
        ('<!DOCTYPE g SYSTEM "file:///etc/passwd">' + graphml(EDGE), [], "line 1: a document type"),
        ("<svg/>", [], "expected one graph, found 0"),
    ],
)
def test_graphml_of_others(text: str, rows: list[Names], message: str) -> None:
    found, rejected = read("graphml", text)
    assert found == rows
    assert message in " ".join(rejected)
    assert bool(rejected) == bool(message)


@pytest.mark.parametrize("name", WRITABLE)
def test_what_is_written_is_detected(name: str) -> None:
    text = write(name, graph_of(*AWKWARD))
    assert detect_graph_format(text, "family.txt") == name
    for suffix in GRAPH_FORMATS[name].suffixes:
        assert detect_graph_format(text, f"a.b{suffix.upper()}") == name


@pytest.mark.parametrize(
    ("text", "filename", "name"),
    [
        ("", "x.csv", "csv"),
        ("Here:\n1. (a, b, c)", "answer.txt", "triples-text"),
        ("Here:\n1. (a, b, c)", "answer.md", "triples-text"),
        ('["a", "b", "c"]\n["d", "e", "f"]', "x.json", "jsonl"),
        ("[\"it's\", 'b', 'c']", "x.txt", "list-literal"),
        ("[\"it's\", \"it's\", \"it's\"]\n['a', 'b', 'c']", "x.txt", "list-literal"),
        (NT, "x", "n-triples"),
        ("# c\n" + NT, "x.txt", "n-triples"),
        (json.dumps(LD), "x.json", "json-ld"),
    ],
)
def test_the_first_line_tells_the_format(text: str, filename: str, name: str) -> None:
    assert detect_graph_format(text, filename) == name


@pytest.mark.parametrize("text", ["", "hello", '{"a": 1}', "[1, 2]", "\x00"])
def test_an_unknown_form_is_an_error_that_lists_the_formats(text: str) -> None:
    with pytest.raises(FamilytoolError, match=r"^x\.txt: .*list-literal.*json-ld"):
        detect_graph_format(text, "x.txt")


@pytest.mark.parametrize("name", RDF)
def test_without_rdflib_the_way_out_is_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdflib", None)
    for attempt in (lambda: read(name, "{}"), lambda: write(name, graph_of(("a", "b", "c")))):
        with pytest.raises(FamilytoolError, match=r"pip install 'familytool\[rdf\]'"):
            attempt()


def test_the_formats_import_no_heavy_library() -> None:
    code = "import sys, familytool.formats.graphs; print({'rdflib', 'networkx'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "set()"


def test_rdf_output_does_not_depend_on_the_order_of_the_triples() -> None:
    for name in RDF:
        assert write(name, graph_of(*AWKWARD)) == write(name, graph_of(*reversed(AWKWARD)))


@pytest.mark.full
@pytest.mark.parametrize(("version", "count"), [("v0", 159), ("b", 154), ("e", 491)])
@pytest.mark.parametrize("name", WRITABLE)
def test_the_published_graphs_round_trip(foreign_data: Callable[[str], Path], name: str, version: str, count: int) -> None:
    path = foreign_data("familytool") / f"familykg-{version}.txt"
    text = path.read_bytes().decode()
    assert detect_graph_format(text, path.name) == "list-literal"
    rows, rejected = read("list-literal", text)
    assert not rejected
    assert len(rows) == count
    assert rows_of(read_graph([(str(n), line) for n, line in enumerate(text.split("\n"), 1)], "g", rejected)) == rows
    assert_survives(name, rows)
    if name == "list-literal":
        assert write(name, graph_of(*rows)) == text
