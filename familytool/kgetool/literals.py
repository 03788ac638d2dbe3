"""Values as Python writes them, and, from a loose cursor, as models miswrite JSON: read in one pass, never evaluated.

The loose reading also takes what is plainly meant (constants of the other language, a comma too many, keys without quotes, and
what the cursor repairs) and records each. It never goes on behind the end of a text that is cut off, never chooses between two
keys, and takes no number that JSON does not know.
"""

from __future__ import annotations

import math
import re

from .cursor import QUOTES, Cursor
from .strict_json import DUPLICATE_KEY, MAX_DEPTH, Json, shown

_WORD = re.compile(r"[^\W\d]\w*+")
_NUMBER = re.compile(r"-?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_NUMBER_LIKE = re.compile(r"-?(?:[\w.]|(?<=[0-9.][eE])[+-])*+")
_LEADING_ZERO = re.compile(r"-?0[0-9]")
_PREFIX = re.compile(r"[A-Za-z]{1,2}(?=['\"])")

_CONSTANTS = {"True": True, "False": False, "None": None}
_JSON_CONSTANTS = {"true": True, "false": False, "null": None}
_NOT_JSON = {"nan", "inf", "infinity"}


def read_value(cursor: Cursor, closers: str, depth: int = 0) -> Json:
    """The value at the cursor, behind which one of `closers` or a comma should follow.

    Raises:
        TextError: there is none, it is cut off or too deep, or it holds what JSON cannot.
    """
    character = cursor.peek()
    if depth > MAX_DEPTH:
        raise cursor.error(f"nested deeper than {MAX_DEPTH} levels")
    if not character:
        raise cursor.cut_off("a value")
    if character in "[(":
        return _sequence(cursor, depth)
    if character == "{":
        return _mapping(cursor, depth)
    if character in QUOTES and (cursor.loose or character in "'\""):
        return cursor.quoted("," + closers)
    if character in "-.0123456789":
        return _number(cursor)
    return _word(cursor, "," + closers)


def _sequence(cursor: Cursor, depth: int) -> Json:
    """A list or a tuple; parentheses around one value are only parentheses."""
    start, closer = cursor.at, "]" if cursor.text[cursor.at] == "[" else ")"
    cursor.at += 1
    items: list[Json] = []
    comma = False
    while cursor.peek() != closer:
        items.append(read_value(cursor, closer, depth + 1))
        comma = cursor.comma(closer, "a value")
    if comma:
        _note_last_comma(cursor, closer)
    cursor.at += 1
    if closer == "]":
        return items
    if len(items) == 1 and not comma:
        return items[0]
    if cursor.json:
        cursor.repaired(start, cursor.text[start : cursor.at], "a list", "a tuple")
    else:
        cursor.notes.append((start, f"the tuple {shown(cursor.text[start : cursor.at])} was read as a list"))
    return items


def _mapping(cursor: Cursor, depth: int) -> dict[str, Json]:
    cursor.at += 1
    entries: dict[str, Json] = {}
    comma = False
    while cursor.peek() != "}":
        key_at, key = cursor.at, _key(cursor)
        colon = cursor.peek()
        if not colon:
            raise cursor.cut_off("':'")
        if colon != ":":
            raise cursor.error("a set is no value of JSON" if colon in ",}" else "':' should stand behind a key")
        cursor.at += 1
        if key in entries:
            raise cursor.error(f"the key {shown(key)} occurs twice in one object", key_at, DUPLICATE_KEY)
        entries[key] = read_value(cursor, "}", depth + 1)
        comma = cursor.comma("}", "a value")
    if comma:
        _note_last_comma(cursor, "}")
    cursor.at += 1
    return entries


def _note_last_comma(cursor: Cursor, closer: str) -> None:
    if cursor.json:
        cursor.repaired(cursor.at, f",{closer}", closer, "a comma before the closing bracket")


def _key(cursor: Cursor) -> str:
    character = cursor.peek()
    if not character:
        raise cursor.cut_off("a key")
    if character in QUOTES and (cursor.loose or character in "'\""):
        return cursor.quoted(":")
    word = _WORD.match(cursor.text, cursor.at)
    if word and cursor.loose and word[0] not in _CONSTANTS:
        cursor.repaired(cursor.at, word[0], f'"{word[0]}"', "a key without quotes")
        cursor.at = word.end()
        return word[0]
    if word and word.end() == len(cursor.text):
        raise cursor.cut_off("the rest of a key")
    found = shown(cursor.text[cursor.at : cursor.at + 20])
    raise cursor.error(f"a key is a text in quotes, not {found} (and a set is no value of JSON)")


def _number(cursor: Cursor) -> int | float:
    text, start = cursor.text, cursor.at
    match = (_JSON_NUMBER if cursor.json else _NUMBER).match(text, start)
    end = match.end() if match else start
    like = _NUMBER_LIKE.match(text, start)
    like_end = like.end() if like else start
    if like_end == len(text):
        raise cursor.cut_off("what stands behind a number")
    if match is None or like_end > end or _LEADING_ZERO.match(text, start):
        found = shown(text[start : max(like_end, start + 1)])
        raise cursor.error(f"{found} is no number of JSON (no zeros before it, not hexadecimal, no unit, and nothing is evaluated)")
    cursor.at = end
    try:
        value: int | float = int(match[0]) if match[0].lstrip("-").isdigit() else float(match[0])
    except ValueError:  # Python reads no integer of more than 4,300 digits
        raise cursor.error("a number of too many digits", start) from None
    if isinstance(value, float) and not math.isfinite(value):
        raise cursor.error(f"the number {shown(match[0])} is too large", start)
    return value


def _word(cursor: Cursor, closers: str) -> Json:
    start = cursor.at
    if _PREFIX.match(cursor.text, start):
        return _prefixed(cursor, closers)
    match = _WORD.match(cursor.text, start)
    if match is None:
        found = cursor.text[start]
        if found in QUOTES:
            raise cursor.error(f"the typographic quote {found} does not delimit a text")
        if found in "+~!*":
            raise cursor.error(f"{shown(cursor.text[start : start + 20])} is an expression; nothing is evaluated, write its value")
        raise cursor.error(f"a value should stand here, not {shown(cursor.text[start : start + 20])}")
    word, end = match[0], match.end()
    if end == len(cursor.text):
        raise cursor.cut_off("a closing bracket")
    own, other = (_JSON_CONSTANTS, _CONSTANTS) if cursor.json else (_CONSTANTS, _JSON_CONSTANTS)
    if word in own:
        cursor.at = end
        return own[word]
    if word in other and cursor.loose:
        cursor.at = end
        meant = next(name for name, value in own.items() if value is other[word])
        cursor.repaired(start, word, meant, "a constant of another language")
        return other[word]
    if word.lower() in _NOT_JSON:
        raise cursor.error(f"{word} is not JSON")
    if cursor.text[end] in "(.[":
        raise cursor.error(f"{shown(cursor.text[start : end + 1])} is an expression; nothing is evaluated, write its value")
    hint = " (Python writes True, False, None)" if word in _JSON_CONSTANTS else ""
    raise cursor.error(f"the bare word {shown(word)} is no value; a text stands in quotes{hint}")


def _prefixed(cursor: Cursor, closers: str) -> str:
    """A text with a prefix: r and u are read, b and f are no texts."""
    start = cursor.at
    prefix = _PREFIX.match(cursor.text, start)[0].lower()  # type: ignore[index]
    if cursor.json or prefix not in ("r", "u"):
        raise cursor.error(f"{shown(cursor.text[start : start + 20])} is no text of JSON (prefix {prefix})")
    cursor.at += 1
    return cursor.quoted(closers, raw=prefix == "r")
