"""Docstrings in the styles of Google, NumPy and reST: the description, and what is said of each parameter and of the result."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_SECTIONS = frozenset({
    "args", "arguments", "parameters", "params", "keyword args", "keyword arguments", "other parameters", "returns", "return", "yields",
    "yield", "raises", "raise", "warns", "examples", "example", "note", "notes", "see also", "references", "attributes", "todo", "warning",
    "warnings", "methods",
})  # fmt: skip
_PARAMETERS = frozenset({"args", "arguments", "parameters", "params", "keyword args", "keyword arguments", "other parameters"})
_RESULTS = frozenset({"returns", "return", "yields", "yield"})
_REST = (":param", ":parameter", ":arg", ":argument", ":key", ":keyword", ":type", ":return", ":returns", ":rtype", ":raise", ":raises", ":yield", ":yields")  # fmt: skip
_NAME = re.compile(r"\*{0,2}[^\W\d]\w{0,200}")


@dataclass
class Docstring:
    """What a docstring says: parameters as name -> (type or '', description)."""

    description: str = ""
    parameters: dict[str, tuple[str, str]] = field(default_factory=dict)
    result: str = ""


def read_docstring(text: str) -> Docstring:
    """The parts of a docstring whose indentation is already cleaned.

    >>> read_docstring("Look.\\n\\nArgs:\\n    city (str): Where.\\n        Really.").parameters
    {'city': ('str', 'Where. Really.')}
    """
    found = Docstring()
    lines = text.split("\n")
    described: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        title = line.strip().rstrip(":").lower()
        numpy = at + 1 < len(lines) and len(lines[at + 1].strip()) >= 3 and not lines[at + 1].strip().strip("-")
        if title in _SECTIONS and (numpy or (line.rstrip().endswith(":") and not line.startswith(" "))):
            start = at + (2 if numpy else 1)
            at = _end_of_section(lines, start, numpy)
            _read_section(title, lines[start:at], numpy, found)
        elif line.strip().split(" ")[0].rstrip(":") in _REST and line.strip().count(":") > 1:
            start, at = at, at + 1
            while at < len(lines) and lines[at].strip() and not lines[at].strip().startswith(":"):
                at += 1
            _read_field(" ".join(part.strip() for part in lines[start:at]), found)
        else:
            described.append(line.rstrip())
            at += 1
    found.description = "\n".join(described).strip()
    return found


def _end_of_section(lines: list[str], start: int, numpy: bool) -> int:
    for at in range(start, len(lines)):
        if numpy and lines[at].strip().lower() in _SECTIONS and at + 1 < len(lines) and lines[at + 1].strip().startswith("---"):
            return at
        if not numpy and lines[at].strip() and not lines[at].startswith((" ", "\t")):
            return at
    return len(lines)


def _read_section(title: str, lines: list[str], numpy: bool, found: Docstring) -> None:
    if title in _RESULTS:
        found.result = " ".join(part for line in lines if (part := line.strip()))
    if title not in _PARAMETERS:
        return
    filled = [line for line in lines if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in filled), default=0)
    names: list[str] = []
    for line in filled:
        entry = _entry(line.strip(), numpy) if len(line) - len(line.lstrip()) == margin else None
        if entry is not None:
            names, kind, rest = entry
            found.parameters.update(dict.fromkeys(names, (kind, rest)))
        elif names:
            for name in names:
                kind, before = found.parameters[name]
                found.parameters[name] = (kind, f"{before} {line.strip()}".strip())


def _entry(text: str, numpy: bool) -> tuple[list[str], str, str] | None:
    """The names, type and description of the first line of an entry."""
    match = _NAME.match(text)
    if match is None:
        return None
    if numpy:
        before, _, kind = text.partition(":")
        names = [name.strip().lstrip("*") for name in before.split(",")]
        return (names, kind.strip(), "") if all(_NAME.fullmatch(name) for name in names) else None
    name, rest = match[0].lstrip("*"), text[match.end() :].lstrip()
    kind = ""
    if rest.startswith("("):
        depth = 0
        for at, character in enumerate(rest):
            depth += (character in "([{") - (character in ")]}")
            if depth == 0:
                kind, rest = rest[1:at], rest[at + 1 :].lstrip()
                break
    return ([name], kind.strip(), rest[1:].strip()) if rest.startswith(":") else None


def _read_field(text: str, found: Docstring) -> None:
    """One reST field, `:param str city: Where.`"""
    head, _, rest = text[1:].partition(":")
    words = head.split()
    if words[0] in ("return", "returns"):
        found.result = rest.strip()
    elif len(words) > 1 and words[0] == "type":
        found.parameters[words[-1].lstrip("*")] = (rest.strip(), found.parameters.get(words[-1].lstrip("*"), ("", ""))[1])
    elif len(words) > 1 and words[0] in ("param", "parameter", "arg", "argument", "key", "keyword"):
        name = words[-1].lstrip("*\\")
        found.parameters[name] = (" ".join(words[1:-1]) or found.parameters.get(name, ("", ""))[0], rest.strip())
