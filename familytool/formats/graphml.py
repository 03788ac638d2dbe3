"""Graphs in GraphML, by networkx; what the XML is made of is looked at before networkx gets it."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from familytool.errors import FamilytoolError
from familytool.formats.graph_lines import rows_to_write, shown, take
from familytool.formats.text import MAX_DEPTH
from familytool.graph import KnowledgeGraph

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _Refused(Exception):
    """A GraphML document that is not handed on; (line, sentence)."""


def read_graphml(text: str, graph_id: str, rejected: list[str]) -> KnowledgeGraph:
    """The edges of a directed GraphML graph, in the order of the file.

    The name of a node is its data `name` or `label`, or else its id; the relation of an edge its data `relation` or `label`.
    Documents with a document type or entities are refused before any other parser sees them.
    """
    import networkx

    graph = KnowledgeGraph(graph_id=graph_id)
    try:
        nodes, edges = _scan(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # networkx warns of keys without a type and of ports
            parsed: Any = networkx.parse_graphml(text, node_type=str, edge_key_type=str, force_multigraph=True)
        if not parsed.is_directed():
            raise _Refused(1, "the graph is undirected, but a triple has a direction; set edgedefault to directed")
    except _Refused as refusal:
        rejected.append("line {}: {}".format(*refusal.args))
        return graph
    except Exception as error:  # networkx raises whatever its steps raise on XML that is no GraphML
        rejected.append(f"line 1: not GraphML ({type(error).__name__}: {shown([error])})")
        return graph
    names = {node: _first(data, ("name", "label"), node) for node, data in parsed.nodes(data=True)}
    ends = {end for _, source, target in edges for end in (source, target)}
    owner: dict[str, str] = {}
    for node, line in nodes.items():
        if node not in ends:
            rejected.append(f"line {line}: the node '{shown([names.get(node, node)])}' has no edge, so that no triple holds it")
        elif (first := owner.setdefault(str(names.get(node, node)), node)) != node:
            rejected.append(f"line {line}: the nodes '{shown([first])}' and '{shown([node])}' have the same name and become one")
    counts = Counter((source, target) for _, source, target in edges)
    defaults, waiting = parsed.graph.get("edge_default", {}), dict[tuple[str, str], Iterator[dict[str, Any]]]()
    for line, source, target in edges:
        pair, between = (source, target), parsed.get_edge_data(source, target) or {}
        if not source or not target or len(between) != counts[pair]:
            what = "shares its id with another edge of the same nodes" if source and target else "has no source or no target"
            rejected.append(f"line {line}: the edge {what}")
            continue
        data = next(waiting.setdefault(pair, iter(between.values())))
        relation = _first({**defaults, **data}, ("relation", "label"), None)
        if relation is None:
            rejected.append(f"line {line}: the edge from '{shown([source])}' to '{shown([target])}' has no data named relation or label")
        else:
            take(graph, (names[source], relation, names[target]), f"line {line}", rejected)
    return graph


def _first(data: dict[str, Any], keys: tuple[str, ...], otherwise: Any) -> Any:
    return next((data[key] for key in keys if key in data), otherwise)


def _scan(text: str) -> tuple[dict[str, int], list[tuple[int, str, str]]]:
    """Line of each node, and (line, source, target) of each edge; the one place where untrusted XML is met first.

    networkx gives edges by their source; this gives the order of the file, and the lines that messages name.
    """
    nodes: dict[str, int] = {}
    edges: list[tuple[int, str, str]] = []
    graphs: list[int] = []
    depth = 0
    parser = expat.ParserCreate("utf-8", "}")

    def refuse(*_: Any) -> None:
        raise _Refused(parser.CurrentLineNumber, "a document type or entity declaration is refused; remove it")

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise _Refused(parser.CurrentLineNumber, f"nested deeper than {MAX_DEPTH} levels")
        element, line = name.rpartition("}")[2], parser.CurrentLineNumber
        if element == "graph":
            graphs.append(line)
        elif element == "node":
            nodes.setdefault(attributes.get("id", ""), line)
        elif element == "edge":
            edges.append((line, attributes.get("source", ""), attributes.get("target", "")))

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(text.encode("utf-8"), True)
    except expat.ExpatError as error:
        raise _Refused(error.lineno, f"not XML: {expat.errors.messages.get(error.code, 'unreadable')}") from None
    except UnicodeEncodeError as error:
        raise _Refused(text.count("\n", 0, error.start) + 1, "the text holds a lone surrogate, which is no character") from None
    if len(graphs) != 1:
        raise _Refused(graphs[1] if graphs else 1, f"expected one graph, found {len(graphs)}")
    return nodes, edges


def write_graphml(graph: KnowledgeGraph) -> str:
    """A directed GraphML graph: nodes with a `name`, edges with a `relation`, in the order of the graph.

    Raises:
        FamilytoolError: a name with a character that XML cannot hold, such as U+0000.
    """
    import networkx
    from networkx.readwrite.graphml import GraphMLWriter

    directed: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    ids: dict[str, str] = {}
    for number, names in enumerate(rows_to_write(graph), 1):
        if found := next(filter(None, map(_NO_XML.search, names)), None):
            where = f"graph '{shown([graph.graph_id])}', triple {number} [{shown(names)}]"
            raise FamilytoolError(f"{where}: XML cannot hold the character U+{ord(found[0]):04X}; write JSONL instead.")
        for name in (names[0], names[2]):
            if name not in ids:
                ids[name] = f"n{len(ids)}"
                directed.add_node(ids[name], name=name)
        directed.add_edge(ids[names[0]], ids[names[2]], key=str(number), relation=names[1])
    writer: Any = GraphMLWriter(prettyprint=False)
    writer.add_graph_element(directed)
    from xml.etree import ElementTree

    element = writer.xml.find("graph")
    edges = sorted(element.findall("edge"), key=lambda edge: int(edge.get("id")))  # networkx lists them by source
    element[:] = [*element.findall("node"), *edges]
    for edge in edges:
        edge.set("id", f"e{edge.get('id')}")
    ElementTree.indent(writer.xml)
    body = ElementTree.tostring(writer.xml, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'.replace("\r", "&#13;")  # bare, XML reads it as a line feed
