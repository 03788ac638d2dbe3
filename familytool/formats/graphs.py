"""All formats in which a knowledge graph is read and written, and how a file's format is told."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath

from familytool.errors import FamilytoolError, UsageError
from familytool.formats import graph_lines, graph_rdf, graphml, triples_text
from familytool.formats.foreign_files import read_text
from familytool.formats.text import MAX_CHARACTERS, TextError, parse_json
from familytool.graph import KnowledgeGraph
from familytool.model import Json

Read = Callable[[str, str, list[str]], KnowledgeGraph]
"""(text, graph_id, rejected) -> graph; `rejected` gets "line N: sentence" for all that is not taken. Nothing is evaluated."""

Write = Callable[[KnowledgeGraph], str]
"""The text of a graph; FamilytoolError names the triple with a name that the format cannot hold."""


@dataclass(frozen=True)
class GraphFormat:
    """One format: `carries` and `lost` say, for people, what is the same after writing and reading back."""

    name: str
    read: Read
    write: Write | None
    suffixes: tuple[str, ...]
    carries: str
    lost: str


def _bounded(read: Read) -> Read:
    """The same reader for text of any origin: a mark of byte order is no data, and too long a text is refused."""

    def bounded(text: str, graph_id: str, rejected: list[str]) -> KnowledgeGraph:
        if len(text) > MAX_CHARACTERS:
            rejected.append(f"line 1: {len(text):,} characters are too many (limit {MAX_CHARACTERS:,}); nothing is read")
            return KnowledgeGraph(graph_id=graph_id)
        return read(text.removeprefix("\ufeff"), graph_id, rejected)

    return bounded


_ANY = "triples in their order, all names"

GRAPH_FORMATS: dict[str, GraphFormat] = {
    f.name: f
    for f in (
        GraphFormat(
            "list-literal",
            _bounded(graph_lines.read_literals),
            graph_lines.write_literals,
            (".txt",),
            f"{_ANY}; the published files byte for byte",
            "the graph's id",
        ),
        GraphFormat(
            "jsonl", _bounded(graph_lines.read_jsonl), graph_lines.write_jsonl, (".jsonl", ".ndjson"), f"{_ANY}, the graph's id", ""
        ),
        GraphFormat("csv", _bounded(graph_lines.read_csv), graph_lines.write_csv, (".csv",), _ANY, "the graph's id"),
        GraphFormat("tsv", _bounded(graph_lines.read_tsv), graph_lines.write_tsv, (".tsv", ".tab"), _ANY, "the graph's id"),
        GraphFormat(
            "n-triples",
            _bounded(graph_rdf.read_n_triples),
            graph_rdf.write_n_triples,
            (".nt",),
            "triples, all names",
            "the order (sorted when written), the graph's id; of foreign files language, datatype and blank nodes, each reported",
        ),
        GraphFormat(
            "json-ld",
            _bounded(graph_rdf.read_json_ld),
            graph_rdf.write_json_ld,
            (".jsonld",),
            "triples, all names",
            "the order (sorted when written and read), the graph's id; of foreign files language, datatype, names of graphs and blank nodes, each reported",
        ),
        GraphFormat(
            "graphml",
            _bounded(graphml.read_graphml),
            graphml.write_graphml,
            (".graphml",),
            "triples in their order, all names that XML can hold (another is an error)",
            "the graph's id; of foreign files other data of nodes and edges, and nodes without an edge (reported)",
        ),
        GraphFormat(
            "triples-text",
            _bounded(triples_text.read_triples_text),
            None,
            (".txt", ".md"),
            "decorated triples of a model's answer, read only",
            "headings and lines that end in a colon; every other line that is no triple is reported",
        ),
    )
}

_STATEMENT = re.compile(r"(?:<[^<>\s]*>|_:\S+)\s*<[^<>\s]*>\s*[<_\"]")


def detect_graph_format(text: str, filename: str) -> str:
    """The name of the format of a file.

    The rule: a suffix that belongs to one format decides. Otherwise the first line that is neither empty nor a comment does:
    XML is graphml; `<iri> <iri>` is n-triples; the header head, relation, tail is csv or tsv; a row of JSON is jsonl if it is
    an object with a head, or a list of three texts and all other lists are JSON too; another list of Python is list-literal;
    a text that is JSON as a whole with keys that begin with @ is json-ld. A line in which a decorated triple can be read is
    triples-text, whichever line it is.

    Raises:
        FamilytoolError: none of these.

    >>> detect_graph_format("['Bob', 'mother', 'Alice']", "familykg-b.txt")
    'list-literal'
    """
    suffix = PurePath(filename).suffix.lower()
    by_suffix = [f.name for f in GRAPH_FORMATS.values() if suffix in f.suffixes]
    if len(by_suffix) == 1 and suffix != ".md":
        return by_suffix[0]
    lines = [line.strip() for line in text.removeprefix("\ufeff").split("\n")]
    lines = [line for line in lines if line and not line.startswith("#")]
    first = lines[0] if lines else ""
    if first.startswith(("<?xml", "<!", "<graphml")):
        return "graphml"
    if _STATEMENT.match(first):
        return "n-triples"
    for name, delimiter in (("csv", ","), ("tsv", "\t")):
        if [cell.strip('"') for cell in first.split(delimiter)] == list(graph_lines.FIELDS):
            return name
    row = _json(first)
    if isinstance(row, dict) and "head" in row:
        return "jsonl"
    if _is_row(row) and all(_json(line) is not None for line in lines if line.startswith("[")):
        return "jsonl"
    if _is_literal(first):
        return "list-literal"
    if first.startswith(("{", "[")) and "@" in text and any(key.startswith("@") for key, _ in graph_rdf.pairs_inside(_json(text))):
        return "json-ld"
    if any(_is_decorated(line) for line in lines):
        return "triples-text"
    raise FamilytoolError(f"{filename}: no known form of a graph; name its format, one of {', '.join(GRAPH_FORMATS)}.")


def _json(text: str) -> Json:
    """The value of a JSON text, or None."""
    try:
        return parse_json(text)
    except ValueError:
        return None


def _is_row(value: Json) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(isinstance(name, str) for name in value)


def _is_literal(line: str) -> bool:
    rejected: list[str] = []
    return bool(len(graph_lines.read_literals(line, "", rejected))) and not rejected


def _is_decorated(line: str) -> bool:
    try:
        return bool(triples_text.line_triples(line))
    except TextError:
        return False


def read_graph_file(path: Path, graph_id: str, rejected: list[str], format_name: str = "auto") -> KnowledgeGraph:
    """The graph of a file in any form; lines that are no triples go into `rejected`.

    Raises:
        UsageError: no such format of graphs.
        FamilytoolError: a file that cannot be read, whose form is not known, or in which there is no triple.
    """
    text = read_text(path)
    name = detect_graph_format(text, path.name) if format_name == "auto" else format_name
    if name not in GRAPH_FORMATS:
        raise UsageError(f"'{name}': no format of graphs; there are {', '.join(GRAPH_FORMATS)}.")
    graph = GRAPH_FORMATS[name].read(text, graph_id, rejected)
    if not len(graph):
        raise FamilytoolError(f"{path}: no triple could be read ({rejected[0] if rejected else 'the file is empty'}).")
    return graph
