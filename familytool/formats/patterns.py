r"""Patterns of tool documents with their ECMA-262 meaning, run by `re` where that takes bounded time, and not at all elsewhere.

A pattern is searched, not anchored. What Python cannot run, what is no ECMA-262, and what could take too long refuses no value.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from familytool.formats.charsets import ANY, NONE, Chars, complement
from familytool.formats.pattern_cost import is_explosive, longest_text, simplified, without_ends
from familytool.formats.pattern_parts import Alt, At, Look, Node, PatternError, Seq, Set, parse_pattern


class _Judge(NamedTuple):
    """A pattern as it is run: the expression, the longest text it is run on, and why it is not run ("" if it is)."""

    expression: re.Pattern[str] | None
    longest: int
    trouble: str


def compile_pattern(pattern: str) -> re.Pattern[str] | None:
    r"""The ECMA-262 pattern for Python, or None where it is not run (`pattern_trouble` says why).

    >>> bool(compile_pattern(r"^\d{4}$").search("2024\n")), compile_pattern(r"^(a+)+$"), compile_pattern(r"^\p{L}+$")
    (False, None, None)
    """
    return _judge(pattern).expression


def pattern_trouble(pattern: str) -> str:
    r"""Why no value is judged by a pattern, as a part of a sentence; "" where values are judged.

    >>> pattern_trouble(r"^\d+$"), pattern_trouble(r"^(\w+\s?)*$")
    ('', 'it could take too long')
    """
    return _judge(pattern).trouble


def is_match(pattern: str, text: str) -> bool | None:
    """Whether a text holds what the pattern describes; None where the pattern is not run, or not on a text of this length.

    >>> is_match("^b", "abc"), is_match("b", "abc"), is_match("(a|b", "abc")
    (False, True, None)
    """
    expression, longest, _ = _judge(pattern)
    if expression is None or len(text) > longest:
        return None
    return expression.search(text) is not None


@lru_cache(maxsize=4096)
def _judge(pattern: str) -> _Judge:
    try:
        tree = simplified(parse_pattern(pattern))
        longest = 0 if is_explosive(tree) else longest_text(tree := without_ends(tree))
        if not longest:
            return _Judge(None, 0, "it could take too long")
        return _Judge(re.compile(_written(tree), re.ASCII), longest, "")
    except (PatternError, re.error, RecursionError, OverflowError) as error:
        return _Judge(None, 0, str(error) or type(error).__name__)


def _written(node: Node) -> str:
    """The tree as a Python expression; everything but letters and digits is escaped, so that `re` reads nothing into it."""
    if isinstance(node, Set):
        return _class(node.chars)
    if isinstance(node, At):
        return {"^": r"\A", "$": r"\Z"}.get(node.kind, f"\\{node.kind}")
    if isinstance(node, Look):
        return f"(?{node.kind}{_written(node.body)})"
    if isinstance(node, Seq):
        return "".join(f"(?:{_written(part)})" if isinstance(part, Alt) else _written(part) for part in node.parts)
    if isinstance(node, Alt):
        return "|".join(_written(branch) for branch in node.branches)
    body = _written(node.body) if isinstance(node.body, Set) else f"(?:{_written(node.body)})"
    counts = f"{node.least}" if node.least == node.most else f"{node.least},{'' if node.most is None else node.most}"
    return body + {"0,": "*", "1,": "+", "0,1": "?"}.get(counts, f"{{{counts}}}")


def _class(chars: Chars) -> str:
    if chars in (NONE, ANY):
        return r"[\s\S]" if chars else "(?!)"
    if len(chars) == 1 and chars[0][0] == chars[0][1]:
        return _character(chars[0][0])
    others = complement(chars)
    negated = len(others) < len(chars)
    ranges = others if negated else chars
    inside = "".join(_character(low) if low == high else f"{_character(low)}-{_character(high)}" for low, high in ranges)
    return f"[{'^' if negated else ''}{inside}]"


def _character(code: int) -> str:
    character = chr(code)
    if character.isascii() and character.isalnum():
        return character
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
