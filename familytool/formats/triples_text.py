"""The decorated triples of a model's answer, read only: "1. (a, b, c)", "- [a, b, c]."."""

from __future__ import annotations

import re
import warnings

from familytool.formats.graph_lines import FIELDS, numbered, shown, take
from familytool.formats.text import TextError, parse_json, parse_python_literal
from familytool.graph import KnowledgeGraph
from familytool.model import Json

_FENCE_OR_HEADING = re.compile(r"\s*(?:```.*|#+\s.*|.*[:：][\s*]*|[\[\]{}(),.\s]*)", re.DOTALL)
_DECORATION = re.compile(r"[\s`]*(?:(?:[-*+•–]|\(\d+\)|\d+[.):]|(?:triple|fact)\s*\d*\s*:)[\s`*]*)*", re.IGNORECASE)
_WRAPPER = re.compile(r"[\[(]\s*(?=[\[(])")
_QUOTED = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*(?=[,)\]>])""")
_CLOSING = {"(": ")", "[": "]", "<": ">"}


def read_triples_text(text: str, graph_id: str, rejected: list[str]) -> KnowledgeGraph:
    r"""The triples of a model's answer: "1. (a, b, c)", "- [a, b, c].", several in one line, quoted or bare.

    A line that ends in a colon, a heading, a code fence and bare brackets are no triples and not reported; every other line
    is. Only a quoted name can hold a comma: a bare one makes four parts, which is reported and never shifted.

    >>> bad = []
    >>> [t.tail for t in read_triples_text("Here:\n1. (Bob, mother, Alice)\n(broken, line)", "g", bad)], bad
    (['Alice'], ['line 3: expected three parts, found 2: (broken, line)'])
    """
    graph = KnowledgeGraph(graph_id=graph_id)
    for place, line in numbered(text):
        if _FENCE_OR_HEADING.fullmatch(line):
            continue
        rows = _json_rows(line)
        for row in rows or []:
            if len(row) == len(FIELDS):
                take(graph, row, place, rejected)
            else:
                rejected.append(f"{place}: expected three parts, found {len(row)}: {shown([row])}")
        try:
            for names in line_triples(line) if rows is None else []:
                take(graph, names, place, rejected)
        except TextError as error:
            rejected.append(f"{place}: {error}: {shown([line.strip()])}")
    return graph


def _json_rows(line: str) -> list[Json] | None:
    """The rows of a line that is JSON behind its decoration: one list, or a list of lists; None where it is none.

    Such rows are names only if they are texts: read as bare words, 1, null or a list would become names.
    """
    decoration = _DECORATION.match(line)
    try:
        value = parse_json(line[decoration.end() if decoration else 0 :].strip().rstrip(",;."))
    except TextError:
        return None
    if isinstance(value, list) and value and all(isinstance(entry, list) for entry in value):
        return value
    return [value] if isinstance(value, list) else None


def line_triples(line: str) -> list[list[str]]:
    """All decorated triples of a line (TextError if anything else stands in it)."""
    found: list[list[str]] = []
    decoration = _DECORATION.match(line)
    at = decoration.end() if decoration else 0
    if wrapper := _WRAPPER.match(line, at):
        at = wrapper.end()
    while at < len(line) and line[at] in _CLOSING:
        parts, at = _parts(line, at)
        if len(parts) != 3:
            raise TextError(f"expected three parts, found {len(parts)}")
        found.append(parts)
        while at < len(line) and line[at] in " \t,;":
            at += 1
    if not found or line[at:].strip(" \t\r.,;)]`*"):
        raise TextError("not a triple such as (head, relation, tail)" if not found else "there is more than triples in the line")
    return found


def _parts(line: str, at: int) -> tuple[list[str], int]:
    """The parts of the bracket that opens at `at`, and the index behind it."""
    closing, parts, at = _CLOSING[line[at]], [], at + 1
    while True:
        quoted = _QUOTED.match(line, at)
        if quoted:
            parts.append(_unquoted(quoted[1]))
            end = quoted.end()
        else:
            end = _bare_end(line, at, closing)
            bare = line[at:end].strip()
            if bare[:1] == '"' or bare[-1:] == '"':
                raise TextError("a name is quoted on one side only")
            parts.append(bare)
        if end >= len(line):
            raise TextError("the closing bracket is missing")
        if line[end] == closing:
            return parts, end + 1
        if line[end] != ",":
            raise TextError("the brackets do not match")
        at = end + 1


def _bare_end(line: str, at: int, closing: str) -> int:
    """Where a bare part ends: at the next comma or the closing bracket, those in brackets of its own aside."""
    inner: list[str] = []
    while at < len(line):
        character = line[at]
        if inner and character == inner[-1]:
            inner.pop()
        elif not inner and character in (",", closing):
            return at
        elif character in "([":
            inner.append(_CLOSING[character])
        at += 1
    return at


def _unquoted(text: str) -> str:
    try:
        value = parse_json(text) if text[0] == '"' else None
    except TextError:
        value = None
    if value is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = parse_python_literal(text)
    return str(value)
