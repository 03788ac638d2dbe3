"""What a conversion leaves behind: its files, put in place when they are whole, and each rejected row in its parts."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from familytool.errors import UsageError
from familytool.model import Json


def write_pieces(pieces: Iterator[tuple[str, str]], out: Path, is_folder: bool) -> None:
    """Write the pieces to a file, or to the files of a folder: each beside its place, and put there when all are whole.

    Raises:
        UsageError: `out` is a folder where a file is wanted, or the other way round.
    """
    if is_folder and out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: a file of this name is there; this format is several files, so name a folder.")
    if not is_folder and out.is_dir():
        raise UsageError(f"--out {out}: this is a folder; name a file.")
    parts: dict[Path, Path] = {}
    try:
        with contextlib.ExitStack() as stack:
            files: dict[str, IO[str]] = {}
            for name, text in pieces:
                if name not in files:
                    path = out / name if is_folder else out
                    path.parent.mkdir(parents=True, exist_ok=True)
                    part = path.with_name(path.name + ".part")
                    files[name] = stack.enter_context(part.open("w", encoding="utf-8", newline="\n"))
                    parts[part] = path
                files[name].write(text)
        for part, path in parts.items():
            part.replace(path)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


_PLACE = re.compile(r"(?::([0-9]+)|, (?:entry|row) ([0-9]+))(?=[:, ])")


def rejection(sentence: str) -> dict[str, Json]:
    """A sentence of `Account.rejected` in its parts; what it does not say is "" (the line: null).

    >>> rejection("rows.jsonl:7 (x-1): it has no golden call")
    {'file': 'rows.jsonl', 'line': 7, 'id': 'x-1', 'reason': 'it has no golden call'}
    >>> rejection("line 3: the head is empty")
    {'file': '', 'line': 3, 'id': '', 'reason': 'the head is empty'}
    """
    if found := re.match(r"line ([0-9]+): ", sentence):
        return {"file": "", "line": int(found[1]), "id": "", "reason": sentence[found.end() :]}
    place = _PLACE.search(sentence.partition(": ")[0] + ":")
    if place is None:
        return {"file": "", "line": None, "id": "", "reason": sentence}
    rest, identity = sentence[place.end() :], ""
    if rest.startswith(" (") and "): " in rest:
        identity, _, rest = rest[2:].partition("): ")
    return {"file": sentence[: place.start()], "line": int(place[1] or place[2]), "id": identity, "reason": rest.removeprefix(": ")}


def note_row(tool: str, place: str, note: str) -> dict[str, Json]:
    """A note of reading a tool document in its parts; `old` and `new` are None where the note tells of no change of a value.

    >>> note_row("f", "t.json:2", "#/type: 'dict' read as 'object'")["new"]
    "'object'"
    """
    at = rejection(f"{place}: -")
    path, _, said = note.partition(": ")
    old, is_change, new = said.partition(" read as ")
    file = at["file"] or place.partition(",")[0]
    changed = {"old": old if is_change else None, "new": new if is_change else None}
    return {"file": file, "line": at["line"], "tool": tool, "path": path if said and "/" in path else "", **changed, "note": note}


def count_rows(path: Path) -> int | None:
    """How many lines a file has, for a progress bar; None where that says nothing of its rows."""
    if not path.is_file() or path.suffix not in (".jsonl", ".json"):
        return None
    with path.open("rb") as file:
        n = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
    return n if n > 1 else None
