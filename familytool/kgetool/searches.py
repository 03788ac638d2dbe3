"""Reads relation paths out of a model's answer: every `KG.search(start=..., path=[...])` of it.

All spellings that models use are read: keywords in any order and case, positional arguments, `=` or `:`, an object of
arguments, any quotes or none, the prefix `<relationship>`, full-width punctuation, several lines, trailing commas. Names are
kept as they are, whatever characters they have. Only text behind the last closing thinking tag counts; thinking that is not
closed is an answer that is cut off. A search within a comment or a text in quotes is none. Reading is linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from .cursor import QUOTES, Cursor
from .reading import THINKING
from .strict_json import TRUNCATED, TextError, shown

UNPARSABLE = "unparsable"
MAX_CHARACTERS = 2_000_000
"""A longer text is a fault."""

MAX_SEARCHES = 1_000
MAX_PATH = 100
"""More searches in one answer, or a longer path, are a fault: no graph has an answer so far away."""


class Search(NamedTuple):
    """One search: the entity it starts at and the relations to follow, in order."""

    start: str
    path: tuple[str, ...]


class PathFault(NamedTuple):
    """A search that cannot be read, or an answer without one; `code` is unparsable or truncated, `at` the index in the text."""

    code: str
    message: str
    at: int


@dataclass(frozen=True)
class Searches:
    """The searches of an answer, in order, and what of it could not be read."""

    searches: tuple[Search, ...] = ()
    faults: tuple[PathFault, ...] = ()


_OPEN = re.compile(r"KG[ \t]?\.[ \t]?search[ \t]?[(（]", re.IGNORECASE)
_TOKEN = re.compile(r"\"\"\"|'''|/\*|<!--|(?<!\S)#(?!\d)|(?<!\S)//|(?<!\w)[\"']|" + _OPEN.pattern, re.IGNORECASE)
_CLOSERS = {'"""': '"""', "'''": "'''", "/*": "*/", "<!--": "-->"}
_KEYWORD = re.compile(r"([\"']?)(start|path)\1[ \t]*+[=:＝：]", re.IGNORECASE)
_BARE = re.compile(r"[^,，、()\[\]{}（）【】\n\r\"“”„=＝]++")
_TAG = re.compile(r"</?[ \t]?relation(?:ship)?[ \t]?>", re.IGNORECASE)
_COMMAS, _ENDS = ",，、", ",，、)]}）】"


def parse_searches(text: str) -> Searches:
    """Return the searches of an answer, and the faults.

    >>> parse_searches('KG.search(start="Mr. Smith", path=["<relationship>mother", "prefer_city"])').searches
    (Search(start='Mr. Smith', path=('mother', 'prefer_city')),)
    >>> parse_searches("I do not know.").faults[0].code
    'unparsable'
    """
    if len(text) > MAX_CHARACTERS:
        message = f"{len(text):,} characters are too many (limit {MAX_CHARACTERS:,})"
        return Searches(faults=(PathFault(UNPARSABLE, message, MAX_CHARACTERS),))
    begin = 0
    for tag in THINKING.finditer(text):
        if tag[1]:
            begin = tag.end()
    unclosed = THINKING.search(text, begin)
    if unclosed is not None:
        return Searches(faults=(PathFault(TRUNCATED, "the text is cut off: its thinking is not closed", unclosed.start()),))
    searches: list[Search] = []
    faults: list[PathFault] = []
    scan = _Scan(text, begin)
    while (opening := scan.next_opening()) is not None:
        if len(searches) + len(faults) == MAX_SEARCHES:
            faults.append(PathFault(UNPARSABLE, f"more than {MAX_SEARCHES:,} searches; the others are not read", opening))
            break
        try:
            search, scan.at = _read_arguments(text, opening)
            searches.append(search)
        except TextError as error:
            faults.append(PathFault(TRUNCATED if error.code == TRUNCATED else UNPARSABLE, str(error), error.at))
    if not searches and not faults:
        faults = [PathFault(UNPARSABLE, "there is no KG.search(start=..., path=[...]) in the answer", begin)]
    return Searches(tuple(searches), tuple(faults))


class _Scan:
    """A walk through a text from search to search, around comments and texts in quotes."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self._unclosed: set[str] = set()
        self._line_end = -1

    def next_opening(self) -> int | None:
        """The index behind the opening parenthesis of the next search; None if there is none."""
        while (token := _TOKEN.search(self.text, self.at)) is not None:
            self.at, opener = token.end(), token[0]
            if opener in _CLOSERS:
                self._skip_to(opener)
            elif opener in ("#", "//"):
                self.at = self._end_of_line()
            elif opener in QUOTES:
                closing = self.text.find(opener, self.at, self._end_of_line())
                self.at = closing + 1 if closing >= 0 else self.at
            else:
                return self.at
        return None

    def _skip_to(self, opener: str) -> None:
        closer = _CLOSERS[opener]
        closing = -1 if opener in self._unclosed else self.text.find(closer, self.at)
        if closing < 0:
            self._unclosed.add(opener)  # so that a text of many openers is not searched to its end for each
        else:
            self.at = closing + len(closer)

    def _end_of_line(self) -> int:
        if self._line_end < self.at:
            found = self.text.find("\n", self.at)
            self._line_end = len(self.text) if found < 0 else found
        return self._line_end


def _read_arguments(text: str, at: int) -> tuple[Search, int]:
    """The search whose arguments start at `at`, and the index behind it.

    Raises:
        TextError: with what is wrong and where; code truncated if the text ends before the search does.
    """
    cursor = Cursor(text, at, loose=True)
    in_object = cursor.peek() == "{"
    cursor.at += in_object
    start: str | None = None
    path: tuple[str, ...] | None = None
    while (character := cursor.peek()) not in (")", "）", "}"):
        if not character:
            raise cursor.cut_off("')'")
        keyword = _KEYWORD.match(text, cursor.at)
        if keyword:
            cursor.at = keyword.end()
        name = keyword[2].lower() if keyword else "start" if start is None else "path"
        if (start if name == "start" else path) is not None:
            raise cursor.error(f"there is a second {name}" if keyword else "there is a third argument")
        if name == "start":
            start = _read_name(cursor, "start")
        else:
            path = _read_path(cursor)
        _skip_comma(cursor)
    if in_object:
        cursor.at += 1
        cursor.skip()
    if cursor.peek() not in (")", "）"):
        raise cursor.error("')' should stand here") if cursor.peek() else cursor.cut_off("')'")
    if start is None or path is None:
        raise cursor.error(f"the search has no {'start' if start is None else 'path'}", at)
    return Search(start, path), cursor.at + 1


def _read_path(cursor: Cursor) -> tuple[str, ...]:
    """A list of names; one name alone is a list of one."""
    closer = {"[": "]】", "【": "]】", "(": ")）", "（": ")）"}.get(cursor.peek())
    if closer is None:
        return (_read_name(cursor, "path"),)
    cursor.at += 1
    names: list[str] = []
    while (character := cursor.peek()) not in closer:
        if not character:
            raise cursor.cut_off("']'")
        names.append(_read_name(cursor, "relation"))
        if len(names) > MAX_PATH:
            raise cursor.error(f"a path of more than {MAX_PATH} relations")
        _skip_comma(cursor)
    if not character:
        raise cursor.cut_off("']'")
    cursor.at += 1
    return tuple(names)


def _skip_comma(cursor: Cursor) -> None:
    character = cursor.peek()
    if character and character in _COMMAS:
        cursor.at += 1
    elif character and character not in _ENDS:
        raise cursor.error(f"a comma or a bracket should stand here, not {shown(cursor.text[cursor.at : cursor.at + 20])}")


def _read_name(cursor: Cursor, what: str) -> str:
    """A name in quotes or bare, without the prefix of a relation."""
    character = cursor.peek()
    begin = cursor.at
    if not character:
        raise cursor.cut_off(f"the {what}")
    tag = _TAG.match(cursor.text, begin)
    if tag and cursor.text[tag.end() : tag.end() + 1] in QUOTES:  # <relationship>"mother"
        cursor.at = tag.end()
        character = cursor.peek()
    if character in QUOTES:
        name = cursor.quoted(_ENDS)
    else:
        match = _BARE.match(cursor.text, begin)
        if match is None:
            raise cursor.error(f"the {what} is missing: {shown(cursor.text[begin : begin + 20])}")
        name, cursor.at = match[0], match.end()
        if cursor.at == len(cursor.text):
            raise cursor.cut_off("')'")
    name = _without_tags(name.strip())
    if not name:
        raise cursor.error(f"the {what} is empty", begin)
    return name


def _without_tags(name: str) -> str:
    opening = _TAG.match(name)
    name = name[opening.end() :] if opening else name
    return name.removesuffix("</relationship>").removesuffix("</relation>").strip()
