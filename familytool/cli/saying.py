"""Text for the terminal. What comes from documents or models is data: it never steers the terminal."""

from __future__ import annotations

import json
import shutil
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import typer

WIDEST = 110
"""Columns of a line of text at most, however wide the terminal is."""


def plain(text: str) -> str:
    """Text in which control characters are shown as escapes, so that they are never sent to the terminal."""
    return "".join(c if c == "\n" or unicodedata.category(c)[0] != "C" else f"\\x{ord(c):02x}" for c in text)


def say(text: str) -> None:
    """Print a line whose text may come from documents or models."""
    typer.echo(plain(text))


def say_long(text: str, indent: int = 2, hanging: int = 2) -> None:
    """Print a text in lines that fit the terminal, the second and later ones further in; words are not cut."""
    width = max(40, min(WIDEST, shutil.get_terminal_size().columns))
    first, later = " " * indent, " " * (indent + hanging)
    for part in plain(text).split("\n"):
        lines = textwrap.wrap(part, width, initial_indent=first, subsequent_indent=later, break_long_words=False, break_on_hyphens=False)
        for line in lines or [""]:
            typer.echo(line)


def counted(n: int, thing: str) -> str:
    """A number of things.

    >>> counted(1, "row"), counted(2_000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def say_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> None:
    """Print a table; `right` are the columns of numbers."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    numbers = frozenset(right)
    shown = Table(title=title, title_justify="left")
    for at, heading in enumerate(headings):
        shown.add_column(heading, justify="right" if at in numbers else "left", no_wrap=at in numbers or not at)
    for row in rows:
        shown.add_row(*(Text(plain(cell)) for cell in row))
    Console().print(shown)


def say_sample(sample: Any) -> None:
    """A row as a person reads it."""
    hops = f"{sample.hops} hop{'s' if sample.hops != 1 else ''}"
    say(f"\n{sample.id}  [{sample.kind}, {hops}, shape {sample.shape}]")
    say_long(f"{sample.speaker}: {sample.query}")
    for path in sample.golden_paths:
        say_long(f"path: {' -> '.join([path.start, *path.relations])}")
    for call in sample.calls:
        say_long(f"call: {call.name}({json.dumps(call.arguments, ensure_ascii=False)})")
    if not sample.calls:
        say("  call: none of the offered tools")
    say_long(f"offered: {', '.join(tool.name for tool in sample.candidate_tools)}")


def say_candidate(candidate: Any) -> None:
    """A candidate that is not kept: the row, what it was made from, what the models say of it, and what speaks against it."""
    from familytool.model import Sample

    if isinstance(candidate.outcome, Sample):
        say_sample(candidate.outcome)
        draft = candidate.outcome.provenance.get("draft")
        if isinstance(draft, dict):
            say_long(f"draft: {draft['query']}")
        say_tried(candidate.outcome.provenance)
    else:
        say("\n(no row)")
    said = [f"{check.check} {check.verdict}" for check in candidate.verdicts if check.judge != "rules"]
    if said:
        judges = dict.fromkeys(check.judge for check in candidate.verdicts if check.judge != "rules")
        say_long(f"{', '.join(judges)}: {', '.join(said)}")
    if not candidate.is_good:
        say_long(f"rejected by {candidate.check}: {candidate.code}: {candidate.message}")
    if candidate.calls:
        say(f"  {counted(len(candidate.calls), 'call')}")


def say_tried(origin: Any) -> None:
    """The phrasings that were tried before and rejected."""
    for tried in origin.get("tried") or ():
        say_long(f"tried: {tried['query'] or '(no text)'}")
        say_long(f"rejected by {tried['check']}: {tried['code']}: {tried['message']}", 4)


def say_funnel(folder: Any, wanted: Any = None) -> None:
    """The funnel of a run: rows by stratum beside those that are wanted, where that is known, and why candidates were rejected."""
    from collections import Counter

    from familytool.runs import funnel

    found = funnel(folder)
    names = list(dict.fromkeys([*(wanted or {}), *found]))
    rows, reasons = [], Counter[str]()
    total = Counter[str]()
    for name in names:
        row = found.get(name, {"candidates": 0, "accepted": 0, "rejected": {}})
        reasons.update(row["rejected"])
        lost = row["candidates"] - row["accepted"]
        counts = {"wanted": (wanted or {}).get(name, 0), "accepted": row["accepted"], "candidates": row["candidates"], "rejected": lost}
        total.update(counts)
        rows.append((name, *_columns(counts, wanted)))
    if len(rows) > 1:
        rows.append(("all", *_columns(total, wanted)))
    head = ("stratum", *(("accepted", "wanted", "") if wanted else ("accepted",)), "candidates", "rejected")
    right = [at for at, name in enumerate(head) if name not in ("stratum", "")]
    say_table("Funnel", head, rows, right)
    if reasons:
        lost = reasons.total()
        say_table(
            "Rejected candidates", ("check", "reason", "candidates", "share"),
            [(*reason.split(": ", 1), f"{n:,}", f"{100 * n / lost:.1f} %") for reason, n in reasons.most_common()], (2, 3),
        )  # fmt: skip


def _columns(counts: Any, wanted: Any) -> tuple[str, ...]:
    of = (f"{counts['wanted']:,}", _bar(counts["accepted"], counts["wanted"])) if wanted else ()
    return (f"{counts['accepted']:,}", *of, f"{counts['candidates']:,}", f"{counts['rejected']:,}")


def _bar(done: int, of: int) -> str:
    """Twelve places that fill up; the last one only when all is done.

    >>> _bar(5, 10), _bar(999, 1000), _bar(0, 0)
    ('######......', '###########.', '############')
    """
    filled = 12 if done >= of else min(11, 12 * done // of)
    return "#" * filled + "." * (12 - filled)
