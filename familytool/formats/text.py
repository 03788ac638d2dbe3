"""JSON and literal text from files that nobody vouches for; the one implementation stands in `kgetool`, which runs by itself."""

from __future__ import annotations

from familytool.kgetool.strict_json import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    TRUNCATED,
    TextError,
    bracketed,
    check_depth,
    parse_json,
    parse_json_prefix,
    parse_python_literal,
)

__all__ = [
    "MAX_CHARACTERS",
    "MAX_DEPTH",
    "TRUNCATED",
    "TextError",
    "bracketed",
    "check_depth",
    "parse_json",
    "parse_json_prefix",
    "parse_python_literal",
]
