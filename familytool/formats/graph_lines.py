"""Graphs as lines: the published Python lists, JSONL, CSV and TSV.

Every reader takes the decoded text of a file (no newline translation: `Path.read_bytes().decode()`), and tells in `rejected`
what it did not take, as "line N: sentence". A name is a text that is not blank; names are never trimmed or rewritten.
"""

from __future__ import annotations

import csv
import io
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence

from familytool.errors import FamilytoolError
from familytool.formats.text import TextError, parse_json, parse_python_literal
from familytool.graph import KnowledgeGraph
from familytool.model import Json, Triple

FIELDS = ("head", "relation", "tail")
MAX_NAME = 100_000  # below csv's limit of 131,072 characters a field, so that all formats hold the same names

_SURROGATE = re.compile("[\ud800-\udfff]")


def shown(names: Sequence[Json]) -> str:
    """Names for a message: on one line, cut at 60 characters, with what cannot be printed escaped."""
    text = ", ".join(str(name) for name in names)
    text = text if text.isprintable() else repr(text)[1:-1]
    return text if len(text) <= 60 else text[:57] + "..."


def name_fault(names: Sequence[Json]) -> str:
    """What is wrong with three names, as a sentence; "" if nothing is."""
    for field, name in zip(FIELDS, names, strict=True):
        if not isinstance(name, str):
            return f"the {field} must be a text, found {type(name).__name__}"
        if not name.strip():
            return f"the {field} is empty"
        if len(name) > MAX_NAME:
            return f"the {field} has {len(name):,} characters (limit {MAX_NAME:,})"
        if found := _SURROGATE.search(name):
            return f"the {field} holds the lone surrogate U+{ord(found[0]):04X}, which is no character"
    return ""


def take(graph: KnowledgeGraph, names: Sequence[Json], place: str, rejected: list[str]) -> None:
    """Add three names as a triple, or say in `rejected` why not; a repeated triple is kept once and reported."""
    if fault := name_fault(names):
        rejected.append(f"{place}: {fault}: {shown(names)}")
        return
    triple = Triple(head=names[0], relation=names[1], tail=names[2])
    if triple in graph:
        rejected.append(f"{place}: the triple [{shown(names)}] stands in an earlier line; kept once")
    graph.add(triple)


def rows_to_write(graph: KnowledgeGraph) -> Iterator[tuple[str, str, str]]:
    """The triples of a graph as names.

    Raises:
        FamilytoolError: a name that cannot be written and read back, with the number of its triple.
    """
    for number, triple in enumerate(graph, 1):
        names = (triple.head, triple.relation, triple.tail)
        if fault := name_fault(names):
            where = f"graph '{shown([graph.graph_id])}', triple {number} [{shown(names)}]"
            raise FamilytoolError(f"{where}: {fault}; correct the name and write again.")
        yield names


def read_literal_lines(lines: Iterable[tuple[str, str]], graph_id: str, rejected: list[str]) -> KnowledgeGraph:
    """The graph of (place, line) pairs with one Python list of three texts a line; nothing is evaluated."""
    graph = KnowledgeGraph(graph_id=graph_id)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of "\d" in a text; here that is data
        for place, line in lines:
            if not line.strip():
                continue
            try:
                value = parse_python_literal(line.strip())
            except TextError as error:
                rejected.append(f"{place}: {error}")
                continue
            if isinstance(value, list) and len(value) == 3:
                take(graph, value, place, rejected)
            else:
                found = f"a list of {len(value)}" if isinstance(value, list) else type(value).__name__
                expected = "expected a list of three names ['head', 'relation', 'tail']"
                rejected.append(f"{place}: {expected}, found {found}: {shown([line.strip()])}")
    return graph


def read_literals(text: str, graph_id: str, rejected: list[str]) -> KnowledgeGraph:
    """The published form, one Python list a line.

    >>> len(read_literals("['Bob', 'mother', 'Alice']", "family", []))
    1
    """
    return read_literal_lines(numbered(text), graph_id, rejected)


def write_literals(graph: KnowledgeGraph) -> str:
    """The published form, byte for byte as the published files have it."""
    return "".join(f"{list(names)!r}\n" for names in rows_to_write(graph))


def read_jsonl(text: str, graph_id: str, rejected: list[str]) -> KnowledgeGraph:
    """Rows {"head", "relation", "tail"[, "graph_id"]} and rows [h, r, t], also mixed.

    If the rows name several graphs, those of `graph_id` are read, or where it is not among them those of the first graph
    named; the others are reported. The graph that comes back is called `graph_id`.
    """
    notes: list[str] = []
    found: list[tuple[str, str | None, list[Json]]] = []
    for place, line in numbered(text):
        if not line.strip():
            continue
        try:
            found.append((place, *_row(parse_json(line), place, notes)))
        except ValueError as error:  # TextError, and Python's own limit for the digits of an integer
            notes.append(f"{place}: {error}")
    owners = dict.fromkeys(owner for _, owner, _ in found if owner is not None)
    wanted = graph_id if graph_id in owners else next(iter(owners), None)
    graph = KnowledgeGraph(graph_id=graph_id)
    for place, owner, names in found:
        if owner in (None, wanted):
            take(graph, names, place, notes)
        else:
            notes.append(f"{place}: belongs to the graph '{shown([owner])}'; the graph '{shown([wanted])}' is read")
    rejected += sorted(notes, key=lambda note: int(note[len("line ") : note.index(":")]))
    return graph


def _row(value: Json, place: str, rejected: list[str]) -> tuple[str | None, list[Json]]:
    if isinstance(value, list):
        if len(value) != 3:
            raise TextError(f"expected [head, relation, tail], found a list of {len(value)}: {shown([value])}")
        return None, value
    if not isinstance(value, dict):
        raise TextError(f"expected an object or a list of three names, found {type(value).__name__}: {shown([value])}")
    missing = [field for field in FIELDS if field not in value]
    if missing:
        raise TextError(f"the row has no {' and no '.join(missing)}: {shown([value])}")
    names, owner = [value[field] for field in FIELDS], value.get("graph_id")
    if not isinstance(owner, str | None):
        raise TextError(f"graph_id must be a text, found {type(owner).__name__}")
    other = [key for key in value if key not in (*FIELDS, "graph_id")]
    if other and not name_fault(names):
        rejected.append(f"{place}: {shown(other)} is no part of a triple and is left out; the triple is kept")
    return owner, names


def write_jsonl(graph: KnowledgeGraph) -> str:
    """One object a line, with the graph's id."""
    if _SURROGATE.search(graph.graph_id):
        raise FamilytoolError(f"the graph id '{shown([graph.graph_id])}' holds a lone surrogate, which is no character; rename the graph.")
    rows = ({"head": h, "relation": r, "tail": t, "graph_id": graph.graph_id} for h, r, t in rows_to_write(graph))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def read_csv(text: str, graph_id: str, rejected: list[str], delimiter: str = ",") -> KnowledgeGraph:
    """A table with the header head, relation, tail; without that header nothing is read, so that no column is shifted."""
    graph = KnowledgeGraph(graph_id=graph_id)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    while True:
        place = f"line {reader.line_num + 1}"
        try:
            row = next(reader)
        except StopIteration:
            return graph
        except csv.Error as error:
            rejected.append(f"{place}: not a row of a table ({error}); not read up to line {reader.line_num}")
            continue
        if not row:
            continue
        if header is None:
            header = row
            if tuple(header) != FIELDS:
                rejected.append(f"{place}: the header must be head, relation, tail, found {shown(header)}; nothing is read")
                return graph
        elif len(row) != 3:
            rejected.append(f"{place}: expected the three columns head, relation, tail, found {len(row)}: {shown(row)}")
        else:
            take(graph, row, place, rejected)


def write_csv(graph: KnowledgeGraph, delimiter: str = ",") -> str:
    """A table with the header head, relation, tail; a name is quoted where it must be."""
    out = io.StringIO(newline="")
    plain = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    quoted = csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    plain.writerow(FIELDS)
    for names in rows_to_write(graph):
        (quoted if any("\r" in name for name in names) else plain).writerow(names)  # csv before 3.13 leaves a lone \r bare
    return out.getvalue()


def read_tsv(text: str, graph_id: str, rejected: list[str]) -> KnowledgeGraph:
    """As read_csv, with tabs."""
    return read_csv(text, graph_id, rejected, "\t")


def write_tsv(graph: KnowledgeGraph) -> str:
    """As write_csv, with tabs."""
    return write_csv(graph, "\t")


def numbered(text: str) -> Iterator[tuple[str, str]]:
    """Lines with their places, split at line feeds alone: a name may hold any other separator of Unicode."""
    return ((f"line {number}", line) for number, line in enumerate(text.split("\n"), 1))
