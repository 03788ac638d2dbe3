"""Parts of a self-contained page. Each takes plain text, escapes it, and gives `Html`.

Text is never trusted: `text` escapes whatever is not `Html` already. A page has no script and its policy forbids loading
anything, so that a tool document or query from elsewhere stays text.
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from familytool.html.style import STYLE

Tone = Literal["", "good", "warn"]

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What HTML does not allow or UTF-8 cannot write: control characters, lone surrogates, non-characters."""
_STEERING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that change the direction of the text behind them."""

ACROSS, ACROSS_WIDE = (32.0, 79.0), (28.0, 81.0)
"""Where bars start and end, in percent of a chart's width: labels stand left of them, values right. Both fit a telephone."""
ROW = 30


class Html(str):
    """Markup that is safe to put in a page. Adding plain text to it gives plain text, which is escaped again: the safe way to err."""

    __slots__ = ()


def text(value: object) -> Html:
    """Any value as HTML; `Html` stays as it is. Safe in attributes in double quotes too.

    >>> text('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return value if isinstance(value, Html) else Html(html.escape(_UNPRINTABLE.sub("\ufffd", str(value))))


def foreign(value: str) -> Html:
    """Text from elsewhere in a line of ours: its direction of writing does not touch its neighbours."""
    return Html(f"<bdi>{text(value)}</bdi>")


def code(value: str) -> Html:
    """A name or a piece of JSON, in which characters that steer direction are spelled out.

    >>> code("a\\u202eb")
    '<code>a\\\\u202eb</code>'
    """
    return Html(f"<code>{text(spelled(value))}</code>")


def breakable(value: str) -> Html:
    """A name that may break behind its underscores."""
    return Html(text(value).replace("_", "_<wbr>"))


def spelled(value: str) -> str:
    """Text in which the characters that steer direction are written as JSON escapes."""
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", value)


def join(pieces: Iterable[object], between: str = "") -> Html:
    """Pieces as one HTML, each escaped unless it is `Html`."""
    return Html(text(between).join(text(piece) for piece in pieces))


def width(value: str) -> int:
    """How many columns a text takes: two for a wide character, none for a combining mark.

    >>> width("abc"), width("日本"), width("e\\u0301")
    (3, 4, 1)
    """
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in value)


def shorten(value: str, columns: int) -> str:
    """One line of at most so many columns; what is cut is told by an ellipsis.

    >>> shorten("a long  name", 6), shorten("short", 6)
    ('a lon…', 'short')
    """
    line = " ".join(value[: 4 * columns + 1].split()) if len(value) > 4 * columns else " ".join(value.split())
    if width(line) <= columns and len(line) <= 4 * columns:
        return line
    kept = ""
    used = 0
    for character in line:
        used += width(character)
        if used > columns - 1 or len(kept) >= 3 * columns:
            break
        kept += character
    return kept.rstrip() + "…"


def number(value: float | None, digits: int = 3) -> str:
    """A number for people: thousands set apart, whole where it is whole; `n/a` where there is none.

    >>> number(46000), number(0.98412), number(1.0), number(None)
    ('46,000', '0.984', '1', 'n/a')
    """
    if value is None or not math.isfinite(value):
        return "n/a"
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}"
    rounded = f"{value:,.{digits}f}"
    return f"{value:.6g}" if float(rounded.replace(",", "")) == round(value) else rounded  # 0.9999 is not 1


def percent(share: float | None) -> str:
    """A share of 0 to 1 in percent; only nothing is 0% and only all is 100%.

    >>> percent(0.125), percent(0.5), percent(0), percent(1), percent(0.9999), percent(None)
    ('12.5%', '50.0%', '0%', '100%', '99.99%', 'n/a')
    """
    if share is None or not math.isfinite(share):
        return "n/a"
    value = 100 * share
    if value in (0, 100):
        return f"{value:.0f}%"
    one = f"{value:.1f}%"
    return f"{value:.4g}%" if one in ("0.0%", "100.0%") else one


@dataclass(frozen=True)
class Section:
    """A part of a page; `identity` is its anchor, `short` its name in the contents."""

    identity: str
    title: str
    body: Html
    lead: str = ""
    short: str = ""


def page(title: str, sections: Sequence[Section], *, over: str = "", subtitle: str = "", footer: str = "") -> str:
    """A whole document that needs nothing beside itself."""
    links = join(Html(f'<li><a href="#{text(s.identity)}">{text(s.short or s.title)}</a></li>') for s in sections)
    body = join(
        Html(
            f'<section id="{text(s.identity)}" aria-labelledby="{text(s.identity)}-title"><h2 id="{text(s.identity)}-title">{text(s.title)}</h2>'
            f"{paragraph(s.lead, 'lead')}{text(s.body)}</section>\n"
        )
        for s in sections
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{text(shorten(title, 120))}</title>
<link rel="icon" href="data:,">
<style>{STYLE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><div class="wrap">{paragraph(over, "over")}<h1>{foreign(shorten(title, 160))}</h1>{paragraph(subtitle, "sub")}</div></header>
<nav class="contents" aria-label="Contents"><div class="wrap"><ul>{links}</ul></div></nav>
<main id="main" class="wrap">
{body}</main>
<footer><div class="wrap">{text(footer)}</div></footer>
</body>
</html>
"""


def paragraph(content: object, name: str = "") -> Html:
    """A paragraph of a class; nothing for nothing."""
    return Html(f'<p class="{text(name)}">{text(content)}</p>' if content else "")


def card(content: Html, title: str = "", *, may_break: bool = False) -> Html:
    """A framed part; `may_break` lets print cut it over pages."""
    heading = f"<h3>{text(title)}</h3>" if title else ""
    return Html(f'<div class="card{" long" if may_break else ""}">{heading}{text(content)}</div>')


def grid(cards: Iterable[Html]) -> Html:
    """Cards beside each other where there is room."""
    return Html(f'<div class="grid">{join(cards)}</div>')


def folded(summary: object, content: Html, *, is_open: bool = False) -> Html:
    """Content that opens on demand."""
    return Html(f"<details{' open' if is_open else ''}><summary>{text(summary)}</summary>{text(content)}</details>")


@dataclass(frozen=True)
class Tile:
    """A number that stands out, what it counts, and what else is worth a line."""

    label: str
    value: str
    note: str = ""
    tone: Tone = ""


def tiles(items: Iterable[Tile], *, small: bool = False) -> Html:
    """Numbers side by side, as a description list; `small` ones for many."""
    cells = []
    for tile in items:
        note = f'<dd class="more">{text(tile.note)}</dd>' if tile.note else ""
        value = text(shorten(tile.value, 24))
        cells.append(Html(f'<div class="{tile.tone}"><dt>{breakable(tile.label)}</dt><dd>{value}</dd>{note}</div>'))
    return Html(f'<dl class="tiles{" small" if small else ""}">{join(cells)}</dl>')


def verdicts(items: Iterable[tuple[Tone, object]]) -> Html:
    """Sentences that say whether something is as it should be; told by sign and words, not by colour alone."""
    sentences = join(Html(f'<li class="{tone}">{text(sentence)}</li>') for tone, sentence in items)
    return Html(f'<ul class="facts">{sentences}</ul>' if sentences else "")


def table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str, numbers: Iterable[int] = (), tall: bool = False
) -> Html:
    """A table whose first column names its rows. `numbers` are the columns set to the right; `tall` gives it its own scroll bar."""
    right = frozenset(numbers)

    def cell(kind: str, column: int, content: object) -> Html:
        style = ' class="number"' if column in right else ""
        scope = {"th": ' scope="col"', "row": ' scope="row"', "td": ""}[kind]
        tag = "td" if kind == "td" else "th"
        return Html(f"<{tag}{scope}{style}>{text(content)}</{tag}>")

    head = join(cell("th", i, h) for i, h in enumerate(headers))
    lines = (join(cell("td" if i else "row", i, c) for i, c in enumerate(row)) for row in rows)
    body = join(Html(f"<tr>{line}</tr>\n") for line in lines)
    return Html(
        f'<div class="scroll{" tall" if tall else ""}" tabindex="0" role="region" aria-label="{text(caption)}"><table class="{"wide" if len(headers) > 4 else ""}"><caption>{text(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def svg(identity: str, title: str, description: str, content: Html, attributes: str) -> Html:
    """An inline SVG that says what it shows; `identity` is unique in the page."""
    name = text(identity)
    return Html(
        f'<svg role="img" aria-labelledby="{name}-t {name}-d" {attributes}><title id="{name}-t">{text(title)}</title>'
        f'<desc id="{name}-d">{text(description)}</desc>{text(content)}</svg>'
    )


@dataclass(frozen=True)
class Bar:
    """A row of a bar chart; `share` is told behind the value, `goal` is a mark that the value should not pass."""

    label: str
    value: float | None
    shown: str = ""
    share: str = ""
    goal: float | None = None


def bar_chart(
    identity: str, title: str, bars: Sequence[Bar], *, maximum: float | None = None, axis: bool = False, wide: bool = False
) -> Html:
    """Horizontal bars with their values beside them, as wide as there is room.

    Positions are percentages, so that text keeps its size on any screen. `axis` draws quarters, for shares of 1; `wide` is for charts
    without shares behind their values.
    """
    start, end = ACROSS_WIDE if wide else ACROSS
    top = maximum or max((b.value for b in bars if b.value is not None and math.isfinite(b.value)), default=0.0) or 1.0
    height = ROW * len(bars) + (20 if axis else 0)
    pieces = []
    for quarter in range(5) if axis else ():
        x = round(start + quarter / 4 * (end - start), 3)
        pieces.append(f'<line class="rule" x1="{x}%" x2="{x}%" y1="0" y2="{ROW * len(bars)}"/>')
        pieces.append(f'<text class="tick mid" x="{x}%" y="{height - 4}">{25 * quarter * top:.0f}%</text>')
    for index, bar in enumerate(bars):
        y = ROW * index
        length = _share(bar.value, top) * (end - start)
        over = bar.goal is not None and bar.value is not None and bar.value > bar.goal
        shown = bar.shown or number(bar.value)
        pieces.append(f"<g><title>{text(f'{bar.label}: {shown}')}</title>")
        pieces.append(f'<text x="0" y="{y + 19}">{text(shorten(bar.label, 18))}</text>')
        pieces.append(f'<rect class="track" x="{start}%" y="{y + 8}" width="{end - start}%" height="14" rx="3"/>')
        if length > 0:
            pieces.append(
                f'<rect class="bar{" over-goal" if over else ""}" x="{start}%" y="{y + 8}" width="{length:.3f}%" height="14" rx="3"/>'
            )
        if bar.goal is not None:
            x = round(start + _share(bar.goal, top) * (end - start), 3)
            pieces.append(f'<line class="goal" x1="{x}%" x2="{x}%" y1="{y + 4}" y2="{y + 26}"/>')
        pieces.append(f'<text class="end" x="{"88" if bar.share else "100"}%" y="{y + 19}">{text(shorten(shown, 16))}</text>')
        pieces.append(f'<text class="end quiet" x="100%" y="{y + 19}">{text(bar.share)}</text></g>' if bar.share else "</g>")
    told = "; ".join(f"{shorten(b.label, 60)}: {b.shown or number(b.value)}" for b in bars[:60])
    return svg(identity, title, told or "nothing to show", Html("".join(pieces)), f'class="chart" height="{height}"')


@dataclass(frozen=True)
class Stack:
    """A row of stacked bars: parts in order, each with its size; `shown` is told at the end."""

    label: str
    parts: Mapping[str, int] = field(default_factory=dict)
    shown: str = ""
    is_total: bool = False


def stacked_bars(identity: str, title: str, rows: Sequence[Stack], shades: Mapping[str, str]) -> Html:
    """Each row as a whole cut into its parts, and what the colours mean. `shades` gives a part its class, `s0` to `s5`."""
    start, end = ACROSS_WIDE
    pieces = []
    for index, row in enumerate(rows):
        y = ROW * index
        strong = ' class="strong"' if row.is_total else ""
        pieces.append(f'<text{strong} x="0" y="{y + 19}">{text(shorten(row.label, 18))}<title>{text(row.label)}</title></text>')
        pieces.append(f'<rect class="track" x="{start}%" y="{y + 8}" width="{end - start}%" height="14" rx="3"/>')
        for part, (at, length) in _lengths({p: n for p, n in row.parts.items() if n > 0}).items():
            told = text(f"{row.label}, {part}: {number(row.parts[part])}")
            pieces.append(
                f'<rect class="{text(shades.get(part, "s5"))}" x="{at:.3f}%" y="{y + 8}" width="{length:.3f}%" height="14" rx="2"><title>{told}</title></rect>'
            )
        pieces.append(f'<text class="end{" strong" if row.is_total else ""}" x="100%" y="{y + 19}">{text(shorten(row.shown, 16))}</text>')
    described = "; ".join(f"{shorten(r.label, 60)}: " + ", ".join(f"{p} {number(n)}" for p, n in r.parts.items()) for r in rows[:60])
    chart = svg(identity, title, described or "nothing to show", Html("".join(pieces)), f'class="chart" height="{ROW * len(rows)}"')
    seen = dict.fromkeys(part for row in rows for part, n in row.parts.items() if n > 0)
    return Html(chart + legend((shades.get(part, "s5"), part) for part in seen))


def legend(items: Iterable[tuple[str, str]]) -> Html:
    """What the colours of a chart mean: (class, words)."""
    entries = join(Html(f'<li><i class="{text(shade)}"></i>{text(words)}</li>') for shade, words in items)
    return Html(f'<ul class="legend">{entries}</ul>')


def _lengths(parts: Mapping[str, int]) -> dict[str, tuple[float, float]]:
    """Where each part starts and how long it is, in percent of the chart; a part that is there can be seen, however small."""
    (start, end), total, gap, least = ACROSS_WIDE, sum(parts.values()), 0.3, 0.7
    room = end - start
    wanted = {p: max(least, n / total * room) for p, n in parts.items()}
    scale = (room - gap * (len(parts) - 1)) / (math.fsum(wanted.values()) or 1)
    placed, at = {}, start
    for part, length in wanted.items():
        placed[part] = (at, length * scale)
        at += length * scale + gap
    return placed


def _share(value: float | None, top: float) -> float:
    return min(1.0, max(0.0, value / top)) if value is not None and math.isfinite(value) else 0.0
