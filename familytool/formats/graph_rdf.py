"""Graphs in RDF: N-Triples and JSON-LD, by rdflib.

In RDF a name is the IRI `urn:familytool:entity:<percent-encoded>` (a relation: `urn:familytool:relation:...`). Read back, such
an IRI is the name again, any other IRI is a name as it stands, and a literal is its text. A blank node is no name.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast
from urllib.parse import quote, unquote

from familytool.errors import FamilytoolError
from familytool.formats.graph_lines import rows_to_write, shown, take
from familytool.formats.text import TextError, check_depth, parse_json
from familytool.graph import KnowledgeGraph
from familytool.model import Json

ENTITY = "urn:familytool:entity:"
RELATION = "urn:familytool:relation:"
RELATIVE = "http://relative.invalid/"  # the base that tells a relative IRI, which rdflib would pass over in silence
DEFAULT_GRAPH = "urn:x-rdflib:default"  # how rdflib calls the graph that has no name

_ENCODED = re.compile(r"(?:[^%]|%[0-9A-Fa-f]{2})*")


def read_n_triples(text: str, graph_id: str, rejected: list[str]) -> KnowledgeGraph:
    """One statement a line, comments aside; language and datatype of a literal are left aside and reported."""
    rdflib = _rdflib()
    from rdflib.plugins.parsers.ntriples import W3CNTriplesParser, r_literal
    from rdflib.plugins.parsers.ntriples import unquote as without_escapes

    statements: list[tuple[str, str, str]] = []
    aside = ""

    class Parser(W3CNTriplesParser):  # type: ignore[misc, unused-ignore]
        """rdflib's parser, but a literal stays as it is written: rdflib would turn "01"^^xsd:integer into 1."""

        def literal(self) -> Any:
            nonlocal aside
            if not self.peek('"'):
                return False
            lexical, language, datatype = self.eat(r_literal).groups()
            aside = f"language '{language}'" if language else f"datatype <{datatype}>" if datatype else ""
            return rdflib.Literal(without_escapes(lexical))

    class Sink:
        def triple(self, *nodes: Any) -> None:
            statements.append((_name(nodes[0], ENTITY), _name(nodes[1], RELATION), _name(nodes[2], ENTITY)))

    graph = KnowledgeGraph(graph_id=graph_id)
    parser: Any = Parser(sink=cast(Any, Sink()))
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        aside, place = "", f"line {number}"
        statements.clear()
        try:
            parser.line = line
            parser.parseline()
        except TextError as error:
            rejected.append(f"{place}: {error}: {shown([line.strip()])}")
        except Exception:  # rdflib raises whatever its steps raise on text that is no N-Triples
            rejected.append(f"{place}: not an N-Triples statement: {shown([line.strip()])}")
        for names in statements:
            take(graph, names, place, rejected)
            if aside:
                rejected.append(f"{place}: the {aside} of the literal is left aside; the triple is kept")
    return graph


def write_n_triples(graph: KnowledgeGraph) -> str:
    """One statement a line, sorted."""
    text: str = _rdf_graph(graph).serialize(format="nt")
    return "".join(f"{line}\n" for line in sorted(filter(None, text.split("\n"))))


def read_json_ld(text: str, graph_id: str, rejected: list[str]) -> KnowledgeGraph:
    """The statements of a JSON-LD document, sorted by their names since a document has no order.

    A context at an address is refused and never fetched. A key that no context defines, which JSON-LD passes over in silence,
    is reported.
    """
    graph = KnowledgeGraph(graph_id=graph_id)
    rdflib = _rdflib()
    from rdflib.plugins.parsers.jsonld import to_rdf

    try:
        document = parse_json(text)
        _refuse_foreign_contexts(document)
    except ValueError as error:
        rejected.append(f"{_json_place(str(error))}: {error}")
        return graph
    for key in _undefined_keys(document):
        rejected.append(f"{_line_of(text, key)}: no context defines the key '{shown([key])}' and it is no IRI; what it says is left out")
    for item in document if isinstance(document, list) else [document]:
        if not isinstance(item, dict):
            rejected.append(f"line 1: expected an object for each node, found {type(item).__name__}: {shown([item])}")
    dataset = rdflib.Dataset()
    try:
        with _literals_as_written(rdflib):
            to_rdf(document, dataset, base=RELATIVE)
    except Exception as error:  # rdflib raises whatever its steps raise on JSON that is no JSON-LD
        rejected.append(f"line 1: not JSON-LD ({type(error).__name__}: {shown([error])})")
        return graph
    statements = sorted(dataset.quads(), key=lambda quad: tuple(str(node) for node in quad))
    for number, (head, relation, tail, owner) in enumerate(statements, 1):
        place = f"statement {number}"
        try:
            names = (_name(head, ENTITY), _name(relation, RELATION), _name(tail, ENTITY))
        except TextError as error:
            rejected.append(f"{place}: {error}: {shown([head, relation, tail])}")
            continue
        take(graph, names, place, rejected)
        aside = [f"language '{tail.language}'" if tail.language else f"datatype <{tail.datatype}>"] if _is_tagged(tail) else []
        aside += [f"graph name <{shown([owner])}>"] if owner is not None and str(owner) != DEFAULT_GRAPH else []
        rejected += [f"{place}: the {what} of [{shown(names)}] is left aside; the triple is kept" for what in aside]
    if not statements and not rejected:
        rejected.append("line 1: the document holds no statement")
    return graph


def write_json_ld(graph: KnowledgeGraph) -> str:
    """Expanded JSON-LD, one node a head, sorted."""
    written = json.loads(_rdf_graph(graph).serialize(format="json-ld"))
    nodes = sorted(written if isinstance(written, list) else [written], key=lambda node: str(node["@id"]))
    for node in nodes:
        for key, values in node.items():
            if key != "@id":
                values.sort(key=lambda value: value["@id"])
    tidy = [{key: node[key] for key in sorted(node)} for node in nodes]
    return json.dumps(tidy, ensure_ascii=False, indent=1) + "\n"


def _rdflib() -> Any:
    try:
        import rdflib
    except ImportError:
        raise FamilytoolError("N-Triples and JSON-LD need rdflib, which is not installed: pip install 'familytool[rdf]'.") from None
    return rdflib


def _rdf_graph(graph: KnowledgeGraph) -> Any:
    rdflib = _rdflib()
    rdf = rdflib.Graph()
    for names in rows_to_write(graph):
        iris = (prefix + quote(name, safe="") for prefix, name in zip((ENTITY, RELATION, ENTITY), names, strict=True))
        rdf.add(tuple(rdflib.URIRef(iri) for iri in iris))
    return rdf


def _name(node: Any, prefix: str) -> str:
    """The name of an RDF node (TextError if it has none)."""
    from rdflib import BNode, URIRef

    if isinstance(node, BNode):
        raise TextError("a blank node is no name; give it an IRI")
    text = str(node)
    if isinstance(node, URIRef) and (":" not in text or text.startswith(RELATIVE)):
        raise TextError(f"<{shown([text.removeprefix(RELATIVE)])}> is a relative IRI; write it in full")
    if not isinstance(node, URIRef) or not text.startswith(prefix):
        return text
    try:
        if not _ENCODED.fullmatch(text):
            raise ValueError
        return unquote(text.removeprefix(prefix), errors="strict")
    except ValueError:
        raise TextError(f"<{shown([text])}> is not percent-encoded UTF-8") from None


def _is_tagged(node: Any) -> bool:
    language, datatype = getattr(node, "language", None), getattr(node, "datatype", None)
    return bool(language or (datatype and not str(datatype).endswith("#string")))


@contextmanager
def _literals_as_written(rdflib: Any) -> Iterator[None]:
    """rdflib's own switch that keeps "01"^^xsd:integer from becoming 1, and its logger of odd literals silenced."""
    import logging

    logger, before = logging.getLogger("rdflib"), rdflib.NORMALIZE_LITERALS
    level = logger.level
    rdflib.NORMALIZE_LITERALS = False
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        rdflib.NORMALIZE_LITERALS = before
        logger.setLevel(level)


def pairs_inside(value: Json) -> Iterator[tuple[str, Json]]:
    """Every (key, value) pair of a JSON value at any depth."""
    for inner in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        yield from pairs_inside(inner)
    if isinstance(value, dict):
        yield from value.items()


def _refuse_foreign_contexts(document: Json) -> None:
    check_depth(document)
    for key, value in pairs_inside(document):
        if key == "@import" or (
            key == "@context" and any(isinstance(item, str) for item in (value if isinstance(value, list) else [value]))
        ):
            raise TextError(f"{key} names a document elsewhere ({shown([value])}), which is never fetched; write the context itself there")


def _undefined_keys(document: Json) -> list[str]:
    """Keys that are no keyword, no IRI and no term of any context of the document."""
    contexts = [value for key, value in pairs_inside(document) if key == "@context"]
    defined = {key for context in contexts for key, _ in pairs_inside(context)}
    if "@vocab" in defined:
        return []
    keys = (key for key, _ in _outside_contexts(document))
    return [key for key in dict.fromkeys(keys) if not key.startswith("@") and ":" not in key and key not in defined]


def _outside_contexts(value: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict):
        yield from value.items()
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if key != "@context":
            yield from _outside_contexts(inner)


def _line_of(text: str, key: str) -> str:
    at = text.find(json.dumps(key, ensure_ascii=False))
    return f"line {text.count(chr(10), 0, max(at, 0)) + 1}"


def _json_place(message: str) -> str:
    found = re.search(r"at line (\d+),", message)
    return f"line {found[1]}" if found else "line 1"
