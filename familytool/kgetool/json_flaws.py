"""Where a JSON text is wrong although its brackets fit: keys twice, numbers and surrogates that JSON cannot hold, paths."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from .strict_json import DRIVE, DUPLICATE_KEY, PARSE_ERROR, SURROGATE, TextError, place, shown

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]]|-?(?:Infinity|[0-9][0-9.eE+-]*+)|NaN', re.DOTALL)
_COLON = re.compile(r"[ \t\r\n]*+:")
_SUSPECT = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")
_DRIVE_TEXT = re.compile(f'(?<!\\\\)"{DRIVE.pattern}')


def is_suspect(text: str, start: int, end: int) -> bool:
    """Whether a JSON text that decodes could hold half a surrogate pair, or a path with single backslashes."""
    return _SUSPECT.search(text, start, end) is not None or _DRIVE_TEXT.search(text, start, end) is not None


def flaws(text: str, start: int, end: int) -> Iterator[TextError]:
    """All that is wrong with the JSON text between `start` and `end`, which decodes, in its order and with places."""
    keys: list[set[str] | None] = []
    for match in _TOKEN.finditer(text, start, end):
        token, at = match[0], match.start()
        if token == "{":
            keys.append(set())
        elif token == "[":
            keys.append(None)
        elif token in "}]":
            keys.pop()
        elif token[0] == '"':
            value = json.loads(token)
            if SURROGATE.search(value):
                yield _flaw("half of a surrogate pair in a text", text, at)
            if DRIVE.match(token, 1):
                yield _flaw(f"{shown(token[1:])} looks like a path with single backslashes, which are escapes; write each twice", text, at)
            seen = keys[-1] if keys else None
            if seen is not None and _COLON.match(text, match.end(), end):
                if value in seen:
                    yield _flaw(f"the key {shown(value)} occurs twice in one object", text, at, DUPLICATE_KEY)
                seen.add(value)
        elif token.endswith(("Infinity", "NaN")):
            yield _flaw(f"{token} is not JSON", text, at)
        elif not math.isfinite(float(token)):
            yield _flaw(f"the number {shown(token)} is too large", text, at)


def _flaw(message: str, text: str, at: int, code: str = PARSE_ERROR) -> TextError:
    return TextError(f"{message}, {place(text, at)}", code, at)
