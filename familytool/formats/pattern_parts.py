r"""Regular expressions of ECMA-262 taken apart: a small tree of what a pattern in a tool document means.

Only what decides whether a text contains a match is kept: groups capture nothing, and lazy is the same as greedy. Escapes and
classes have their ECMA meaning (`\d` and `\w` are ASCII, `\s` has the Unicode spaces, `.` takes no line terminator).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from familytool.formats.charsets import Chars, complement, union

MAX_PATTERN = 500
MAX_NESTING = 30
MAX_COUNT = 10_000


class PatternError(ValueError):
    """A pattern that is not ECMA-262, or uses what is not supported here."""


@dataclass(frozen=True)
class Set:
    """One character out of a set."""

    chars: Chars


@dataclass(frozen=True)
class At:
    """A place: `^`, `$`, or `b` and `B` for a word boundary and none."""

    kind: str


@dataclass(frozen=True)
class Look:
    """A look-around; `kind` is what stands behind the question mark."""

    kind: str
    body: Node


@dataclass(frozen=True)
class Repeat:
    """The body, `least` to `most` times (None: without a limit)."""

    body: Node
    least: int
    most: int | None


@dataclass(frozen=True)
class Seq:
    """One part after the other; no part is the empty text."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Alt:
    """One of several branches."""

    branches: tuple[Node, ...]


Node: TypeAlias = Set | At | Look | Repeat | Seq | Alt
EMPTY = Seq(())


def _of(text: str) -> Chars:
    return union(*(((ord(c), ord(c)),) for c in text))


DIGIT: Chars = ((0x30, 0x39),)
WORD = union(DIGIT, ((0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)))
SPACE = union(((0x09, 0x0D), (0x2000, 0x200A)), _of(" \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"))
DOT = complement(_of("\n\r\u2028\u2029"))
_CLASSES = {"d": DIGIT, "w": WORD, "s": SPACE, "D": complement(DIGIT), "W": complement(WORD), "S": complement(SPACE)}
_CONTROLS = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}


def parse_pattern(pattern: str) -> Node:
    r"""The tree of a pattern.

    Raises:
        PatternError: with what is not ECMA-262, or not supported (Unicode classes, named groups, references to groups).

    >>> parse_pattern("a+$")
    Seq(parts=(Repeat(body=Set(chars=((97, 97),)), least=1, most=None), At(kind='$')))
    """
    if len(pattern) > MAX_PATTERN:
        raise PatternError(f"it is longer than {MAX_PATTERN} characters")
    reader = _Reader(pattern)
    tree = reader.alternatives(0)
    if reader.at < len(pattern):
        raise PatternError("a ')' without its '('")
    return tree


class _Reader:
    """A place in a pattern, and the rules of the grammar as methods that read on from there."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def peek(self, count: int = 1) -> str:
        return self.pattern[self.at : self.at + count]

    def take(self, count: int = 1) -> str:
        taken = self.pattern[self.at : self.at + count]
        if len(taken) < count:
            raise PatternError("it ends too early")
        self.at += count
        return taken

    def alternatives(self, depth: int) -> Node:
        if depth > MAX_NESTING:
            raise PatternError(f"groups are nested deeper than {MAX_NESTING}")
        branches = [self.sequence(depth)]
        while self.peek() == "|":
            self.take()
            branches.append(self.sequence(depth))
        return branches[0] if len(branches) == 1 else Alt(tuple(branches))

    def sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        while self.at < len(self.pattern) and self.peek() not in "|)":
            parts.append(self.repeated(self.atom(depth)))
        return parts[0] if len(parts) == 1 else Seq(tuple(parts))

    def atom(self, depth: int) -> Node:
        character = self.take()
        if character in "^$":
            return At(character)
        if character == "(":
            return self.group(depth)
        if character == "[":
            return Set(self.char_class())
        if character == ".":
            return Set(DOT)
        if character == "\\":
            if self.peek() in ("b", "B"):
                return At(self.take())
            return Set(self.escape(in_class=False))
        if character in "*+?" or (character == "{" and self.counts(self.at - 1) is not None):
            raise PatternError(f"nothing to repeat before '{character}'")
        return Set(_of(character))

    def group(self, depth: int) -> Node:
        kind = ""
        if self.peek() == "?":
            self.take()
            kind = next((k for k in ("<=", "<!", "=", "!", ":") if self.peek(len(k)) == k), "")
            if not kind:
                raise PatternError("named groups are not supported" if self.peek() == "<" else f"'(?{self.peek()}' is no ECMA-262")
            self.take(len(kind))
        body = self.alternatives(depth + 1)
        if self.peek() != ")":
            raise PatternError("a '(' without its ')'")
        self.take()
        return body if kind in ("", ":") else Look(kind, body)

    def repeated(self, atom: Node) -> Node:
        counts: tuple[int, int | None] | None = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(self.peek())
        if counts is not None:
            self.take()
        elif self.peek() == "{":
            found = self.counts(self.at)
            if found is None:
                return atom
            counts, self.at = found
        if counts is None:
            return atom
        if isinstance(atom, At | Look):
            raise PatternError("a place cannot be repeated")
        if self.peek() == "?":
            self.take()
        if self.peek() in ("*", "+", "?") or (self.peek() == "{" and self.counts(self.at) is not None):
            raise PatternError("nothing to repeat before a second quantifier")
        return Repeat(atom, *counts)

    def counts(self, at: int) -> tuple[tuple[int, int | None], int] | None:
        """What `{2}`, `{2,}` or `{2,5}` at this place means, and the place behind it; None where the brace is a character."""
        end = self.pattern.find("}", at)
        least, comma, most = self.pattern[at + 1 : end].partition(",") if end > 0 else ("", "", "")
        if not least and comma and most.isdigit():
            raise PatternError("'{,n}' is no ECMA-262")
        if not (least.isascii() and least.isdigit()) or (most and not (most.isascii() and most.isdigit())):
            return None
        if max(len(least), len(most)) > 6 or int(least) > MAX_COUNT or int(most or 0) > MAX_COUNT:
            raise PatternError(f"a count is above {MAX_COUNT:,}")
        highest = int(least) if not comma else int(most) if most else None
        if highest is not None and highest < int(least):
            raise PatternError("the numbers of a count are out of order")
        return (int(least), highest), end + 1

    def char_class(self) -> Chars:
        negated = self.peek() == "^"
        if negated:
            self.take()
        if self.peek(2) == "[:" and ":]" in self.pattern[self.at :]:
            raise PatternError("'[[:name:]]' is no ECMA-262")
        found: list[Chars] = []
        while self.peek() != "]":
            low = self.class_atom()
            if self.peek() == "-" and self.peek(2) not in ("-]", "-"):
                self.take()
                high = self.class_atom()
                if _is_one(low) and _is_one(high):
                    if high[0][0] < low[0][0]:
                        raise PatternError("a range of a class is out of order")
                    low = ((low[0][0], high[0][0]),)
                else:  # `[\w-.]`: the hyphen stands for itself
                    low = union(low, _of("-"), high)
            found.append(low)
        self.take()
        return complement(union(*found)) if negated else union(*found)

    def class_atom(self) -> Chars:
        character = self.take()
        if character != "\\":
            return _of(character)
        return self.escape(in_class=True)

    def escape(self, in_class: bool) -> Chars:
        character = self.take()
        if character in _CLASSES:
            return _CLASSES[character]
        if character in _CONTROLS:
            return _of(_CONTROLS[character])
        if character == "0" and not self.peek().isdigit():
            return _of("\0")
        if character == "b" and in_class:
            return _of("\b")
        if character == "c" and self.peek().isascii() and self.peek().isalpha():
            return _of(chr(ord(self.take()) % 32))
        if character in "xu":
            return _of(chr(self.code_point(character)))
        if character in "pP":
            raise PatternError("Unicode classes such as \\p{L} are not supported")
        if character in "123456789k":
            raise PatternError("references to groups are not supported")
        if character.isascii() and character.isalnum():
            raise PatternError(f"'\\{character}' is no ECMA-262")
        return _of(character)

    def code_point(self, kind: str) -> int:
        if kind == "u" and self.peek() == "{":
            digits, brace, _ = self.pattern[self.at + 1 : self.at + 10].partition("}")
            code = _hexadecimal(digits) if brace else _hexadecimal("")
            self.take(len(digits) + 2)
            if code > 0x10FFFF:
                raise PatternError(f"there is no character {digits}")
            return code
        code = _hexadecimal(self.take(2 if kind == "x" else 4))
        if 0xD800 <= code < 0xDC00 and self.peek(2) == "\\u":
            low = int(self.peek(6)[2:], 16) if _is_hexadecimal(self.peek(6)[2:]) else 0
            if 0xDC00 <= low < 0xE000:
                self.take(6)
                return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
        return code


def _is_one(chars: Chars) -> bool:
    return len(chars) == 1 and chars[0][0] == chars[0][1]


def _is_hexadecimal(digits: str) -> bool:
    return bool(digits) and all(c in "0123456789abcdefABCDEF" for c in digits)


def _hexadecimal(digits: str) -> int:
    if not _is_hexadecimal(digits):
        raise PatternError(f"'{digits}' is no hexadecimal number")
    return int(digits, 16)
