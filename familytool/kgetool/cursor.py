"""A place in a text of values, going on character by character: space, texts in quotes, and errors with their place.

A strict cursor takes what Python writes. A loose one also takes what is plainly meant and records it: comments, typographic
quotes, a raw line break, an apostrophe within a word. Neither guesses at a backslash that starts no escape.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .strict_json import DRIVE, PARSE_ERROR, SURROGATE, TRUNCATED, TextError, place, shown

Remark = tuple[int, str]
"""A place and a sentence on what was found there."""

QUOTES = {"'": "'", '"': '"', "“": "“”", "”": "“”", "„": "“”", "‘": "‘’", "’": "‘’"}
"""What opens a text, and what then closes it; the typographic ones only for a loose cursor."""

_SPACE = re.compile(r"[ \t\r\n]*+")
_COMMENT = re.compile(r"//[^\n]*+|#[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/")
_OPERATOR = re.compile(r"[-+*/%@&|^<>=!.(\[{~]|(?:and|or|if|in|is|not|for)\b")

_PLAIN = {opener: re.compile(rf"[^{closers}\\\n\r]*+") for opener, closers in QUOTES.items()}
"""What stands in a text as itself, up to a character that has to be looked at."""

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(0)(?![0-9])|([abfnrtv'\"\\/]))")
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_CUT_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7})?\Z")


@dataclass
class Cursor:
    """A place in a text, and what was remarked on the way there; `loose` repairs, `json` reads JSON and not Python."""

    text: str
    at: int = 0
    loose: bool = False
    json: bool = False
    notes: list[Remark] = field(default_factory=list)
    repairs: list[Remark] = field(default_factory=list)

    def error(self, message: str, at: int | None = None, code: str = PARSE_ERROR) -> TextError:
        """The error with its place."""
        spot = self.at if at is None else at
        return TextError(f"{message}, {place(self.text, spot)}", code, spot)

    def cut_off(self, missing: str) -> TextError:
        """The error that the text ends although `missing` is still to come."""
        return self.error(f"the text is cut off: {missing} is missing", len(self.text), TRUNCATED)

    def repaired(self, at: int, old: str, new: str, why: str) -> None:
        """Record what was read although it is wrong."""
        self.repairs.append((at, f"{why}: {shown(old)} was read as {shown(new)}"))

    def skip(self) -> None:
        """Go on to the next character that is no space (loose: and no comment)."""
        while True:
            self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]
            comment = self._comment() if self.loose else ""
            if not comment:
                return
            self.repaired(self.at, comment, "", "a comment was left out")
            self.at += len(comment)

    def _comment(self) -> str:
        """The comment here, if it is one and not a division: behind a space or a bracket, of words if it starts with slashes."""
        match = _COMMENT.match(self.text, self.at)
        if match is None or (self.at and self.text[self.at - 1] not in " \t\r\n,:[{("):
            return ""
        if match[0][0] == "/" and (not self.json or not any(map(str.isalpha, match[0]))):
            return ""
        return match[0]

    def peek(self) -> str:
        """The next character that is no space; "" at the end."""
        character = self.text[self.at : self.at + 1]
        if character in " \t\r\n/#":
            self.skip()
            character = self.text[self.at : self.at + 1]
        return character

    def comma(self, closer: str, what: str) -> bool:
        """Whether a comma stands behind `what` and not the closer; the comma is consumed.

        Raises:
            TextError: neither of the two, with what it looks like.
        """
        character = self.peek()
        if not character:
            raise self.cut_off(f"'{closer}'")
        if character == ",":
            self.at += 1
        if character in ("," + closer):
            return character == ","
        found = shown(self.text[self.at : self.at + 20])
        is_behind_quote = self.text[max(0, self.at - 20) : self.at].rstrip()[-1:] in ("'", '"')
        if character in "'\"" or (is_behind_quote and (character.isalnum() or character == "_")):
            raise self.error(f"{found} stands right behind {what}: is an apostrophe or a quotation mark before it not escaped?")
        if _OPERATOR.match(self.text, self.at):
            raise self.error(f"{found} behind {what} makes it an expression; nothing is evaluated, write its value")
        raise self.error(f"a comma or '{closer}' should stand behind {what}, not {found}")

    def quoted(self, closers: str, raw: bool = False) -> str:
        """The text in quotes here, behind which one of `closers` should follow; `raw` takes backslashes as they are.

        Raises:
            TextError: the text is cut off, or holds an escape that is none, a raw line break, or half of a surrogate pair.
        """
        start, opener = self.at, self.text[self.at]
        is_triple = not self.json and opener in "'\"" and self.text.startswith(opener * 3, start)
        self.at += 3 if is_triple else 1
        if DRIVE.match(self.text, self.at) and not raw:
            raise self.error("a path with single backslashes? They would be line breaks and tabs; write each backslash twice", start)
        pieces: list[str] = []
        while True:
            begin = self.at
            self.at = _PLAIN[opener].match(self.text, begin).end()  # type: ignore[union-attr]
            pieces.append(self.text[begin : self.at])
            character = self.text[self.at : self.at + 1]
            if not character:
                raise self.cut_off(f"the end of the text that starts at {place(self.text, start)}")
            if character == "\\":
                pieces.append(self._raw_escape() if raw else self._escape(is_json=self.json and opener == '"'))
                continue
            if character in "\n\r":
                if not is_triple:
                    self._refuse_line_break(start, opener)
            elif not is_triple:
                if self._ends_here(closers, start):
                    break
            elif self.text.startswith(opener * 3, self.at):
                self.at += 2
                break
            pieces.append(character)
            self.at += 1
        self.at += 1
        value = "".join(pieces)
        if self.json:  # two halves that are escaped one by one are one character
            value = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        if SURROGATE.search(value):
            raise self.error("half of a surrogate pair in a text", start)
        if opener not in "'\"" or (self.json and opener == "'"):
            self.repaired(start, self.text[start : self.at], f'"{value}"', "quotes that JSON does not know")
        return value

    def _ends_here(self, closers: str, start: int) -> bool:
        """Whether the quote here ends the text; a loose cursor takes an apostrophe within a word as part of it."""
        if not self.loose:
            return True
        text, at = self.text, self.at
        behind = _SPACE.match(text, at + 1).end()  # type: ignore[union-attr]
        following = text[behind : behind + 1]
        if not following or following in closers:
            return True
        if following in "/#" and behind > at + 1:  # a comment, unless the text goes on to another such quote
            line_end = text.find("\n", behind)
            return text.find(text[at], behind, line_end if line_end >= 0 else len(text)) < 0
        before, after = text[at - 1], text[at + 1 : at + 2]
        of_plural = before in "sS" and after == " " and text[at + 2 : at + 3].isalpha()
        if text[at] in "'’" and at - 1 > start and before.isalnum() and (after.isalnum() or of_plural):
            left, right = text[max(start + 1, at - 12) : at], text[at + 1 : at + 12]
            self.repaired(at, f"{left}'{right}", f"{left}\\'{right}", "an apostrophe that was not escaped belongs to the text")
            return False
        raise self.error("a quotation mark within a text is not escaped")

    def _refuse_line_break(self, start: int, opener: str) -> None:
        if self.loose:
            self.repaired(self.at, "a raw line break", "\\n", "a line break in a text")
        elif self.text.find(QUOTES[opener][-1], self.at) < 0:
            raise self.cut_off(f"the end of the text that starts at {place(self.text, start)}")
        else:
            raise self.error("a raw line break in a text; write \\n")

    def _raw_escape(self) -> str:
        pair = self.text[self.at : self.at + 2]
        if len(pair) == 1:
            raise self.cut_off("the end of a text")
        self.at += 2
        return pair

    def _escape(self, is_json: bool) -> str:
        match = _ESCAPE.match(self.text, self.at)
        if match is None:
            if _CUT_ESCAPE.match(self.text, self.at):
                raise self.cut_off("the rest of an escape")
            raise self.error(
                f"{shown(self.text[self.at : self.at + 2])} is no escape; a backslash itself is written twice (a Windows path?)"
            )
        small, middle, large, nought, letter = match.groups()
        if is_json and (small or large or nought or (letter and letter in "av")):
            raise self.error(f"{shown(match[0])} is no escape of JSON")
        if letter == "/" and not is_json:
            raise self.error(f"{shown(match[0])} is no escape of Python; a backslash itself is written twice")
        if is_json and letter == "'":
            self.repaired(self.at, match[0], "'", "an escape that JSON does not know")
        number = small or middle or large
        if number and int(number, 16) > 0x10FFFF:
            raise self.error(f"{shown(match[0])} is no character")
        self.at = match.end()
        if number:
            return chr(int(number, 16))
        return "\0" if nought else _ESCAPED.get(letter, letter)
