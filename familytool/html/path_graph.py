"""The golden paths of one sample as a small graph, from the speaker on the left to the parameters on the right.

Paths with a common beginning are drawn once and fork. Names may be anything: they are escaped and shortened, with the full
text as the title of what is drawn.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from familytool.html.parts import Html, shorten, spelled, svg, text
from familytool.model import Json, RelationPath, Sample, Triple

MAX_ROWS = 12
"""Chains that are drawn; the others are counted."""
MAX_HOPS = 7
"""Relations of a chain that are drawn; a longer chain leaves out its middle."""
PATH_SHADES = 4

ROW, NODE, SLOT, MARGIN, CURVE = 62, 30, 42, 8, 34


@dataclass(frozen=True)
class Grounding:
    """Where an argument comes from: a call and the keys that lead to the argument, its golden path (or none), its words in the query (or none)."""

    call: int
    keys: tuple[str, ...]
    source: str
    path: int | None = None
    span: tuple[int, int] | None = None


def groundings(sample: Sample) -> tuple[Grounding, ...]:
    """The arguments of a sample's calls whose sources are known.

    A sample without `argument_sources` (a foreign one) is read by its values: an argument that is the end of a golden path.
    """
    if sample.argument_sources:
        return tuple(found for pointer, source in sample.argument_sources.items() if (found := _grounding(sample, pointer, source)))
    ends = {
        steps[-1].tail: index for index, path in reversed(list(enumerate(sample.golden_paths))) for steps in _follow(sample, path) if steps
    }
    return tuple(
        Grounding(index, (parameter,), "graph", ends[value])
        for index, call in enumerate(sample.calls)
        for parameter, value in call.arguments.items()
        if isinstance(value, str) and value in ends
    )


def _grounding(sample: Sample, pointer: str, source: dict[str, Json]) -> Grounding | None:
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")]
    if len(steps) < 4 or not steps[1].isdecimal() or len(steps[1]) > 6 or steps[2] != "arguments" or int(steps[1]) >= len(sample.calls):
        return None
    path, span = source.get("path"), source.get("span")
    index = None
    if isinstance(path, dict):
        wanted = (path.get("start"), path.get("relations"))
        index = next((i for i, p in enumerate(sample.golden_paths) if (p.start, list(p.relations)) == wanted), None)
    words = None
    if (
        isinstance(span, list | tuple)
        and len(span) == 2
        and all(type(at) is int for at in span)
        and 0 <= span[0] < span[1] <= len(sample.query)
    ):
        words = (span[0], span[1])
    return Grounding(int(steps[1]), tuple(steps[3:]), str(source.get("source", "")), index, words)


def path_graph(sample: Sample, identity: str) -> Html:
    """The drawing, or nothing for a sample without golden facts; `identity` is unique in the page."""
    chains = list(islice(_chains(sample), MAX_ROWS * 20))
    if not chains:
        return Html("")
    roots = _trees(sample, chains[:MAX_ROWS])
    left_out = len(chains) - MAX_ROWS
    return _draw(roots, identity, sample, left_out)


@dataclass(frozen=True)
class _Chain:
    start: str
    steps: tuple[tuple[str, str], ...]
    path: int | None


def _chains(sample: Sample) -> Iterator[_Chain]:
    """Every golden path through the golden facts; a path they do not hold with `?` for its entities; then the facts on no path."""
    used: set[Triple] = set()
    for index, path in enumerate(sample.golden_paths):
        found = False
        for triples in _follow(sample, path):
            found = True
            used.update(triples)
            yield _Chain(path.start, _middle_left_out([(t.relation, t.tail) for t in triples]), index)
        if not found:
            yield _Chain(path.start, _middle_left_out([(relation, "?") for relation in path.relations]), index)
    for triple in sample.golden_triples:
        if triple not in used:
            yield _Chain(triple.head, ((triple.relation, triple.tail),), None)


def _follow(sample: Sample, path: RelationPath) -> Iterator[tuple[Triple, ...]]:
    """The chains of a path through the golden facts, at most a few: hostile facts could fork without end."""
    facts: dict[tuple[str, str], list[Triple]] = {}
    for triple in sample.golden_triples:
        facts.setdefault((triple.head, triple.relation), []).append(triple)
    found: list[tuple[Triple, ...]] = [()]
    for relation in path.relations:
        found = list(
            islice(
                ((*chain, triple) for chain in found for triple in facts.get((chain[-1].tail if chain else path.start, relation), ())),
                MAX_ROWS,
            )
        )
    return iter(found if path.relations else [])


def _middle_left_out(steps: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    over = len(steps) - MAX_HOPS
    if over <= 0:
        return tuple(steps)
    return (*steps[:3], (f"{over + 1} more", "…"), *steps[-(MAX_HOPS - 4) :])


@dataclass
class _Node:
    """A box of the drawing: its words, the label of the arrow that leads to it, and where it stands."""

    kind: Literal["speaker", "entity", "value", "slot"]
    words: str
    arrow: str = ""
    below: str = ""
    shade: str = ""
    full: str = ""
    children: list[_Node] = field(default_factory=list)
    column: int = 0
    y: float = 0.0

    @property
    def shown(self) -> str:
        return shorten(spelled(self.words), 34 if self.kind == "slot" else 26) or "(empty)"

    @property
    def width(self) -> float:
        mono = self.kind == "slot"
        return max(_extent(self.shown, mono=mono), _extent(shorten(self.below, 34), mono=True, size=11)) + 26

    @property
    def height(self) -> int:
        return SLOT if self.kind == "slot" else NODE


def _trees(sample: Sample, chains: list[_Chain]) -> list[_Node]:
    roots: dict[str, _Node] = {}
    nodes: dict[tuple[str, tuple[tuple[str, str], ...]], _Node] = {}
    slots: set[tuple[int, int, tuple[str, ...]]] = set()
    known = groundings(sample)
    for chain in chains:
        root = roots.get(chain.start)
        if root is None:
            root = roots[chain.start] = _Node("speaker" if chain.start == sample.speaker else "entity", chain.start)
        at = root
        for depth, (relation, tail) in enumerate(chain.steps, 1):
            key = (chain.start, chain.steps[:depth])
            if key not in nodes:
                nodes[key] = _Node("entity", tail, arrow=relation, column=depth)
                at.children.append(nodes[key])
            at = nodes[key]
        if chain.path is None or at is root:
            continue
        at.kind, at.shade = "value", f"p{chain.path % PATH_SHADES}"
        for place in known:
            mark = (id(at), place.call, place.keys)
            if place.path == chain.path and place.source == "graph" and mark not in slots:
                slots.add(mark)
                at.children.append(_slot(sample, place, at))
    return list(roots.values())


def _slot(sample: Sample, place: Grounding, value: _Node) -> _Node:
    call = sample.calls[place.call]
    parameter = "/".join(place.keys)
    argument = _at(call.arguments, place.keys)
    told = argument if isinstance(argument, str) else json.dumps(argument, ensure_ascii=False)
    same = told == value.words
    return _Node(
        "slot",
        parameter if same else f"{parameter} = {shorten(told, 16)}",
        below=call.name,
        shade=value.shade,
        full=f"{parameter} = {told} in {call.name}",
    )


def _at(value: Json, keys: tuple[str, ...]) -> Json:
    """What stands in a JSON value behind these keys, or null."""
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list | tuple) and key.isdecimal() and len(key) < 7 and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def _draw(roots: list[_Node], identity: str, sample: Sample, left_out: int) -> Html:
    rows = 0
    everyone: list[_Node] = []

    def place(node: _Node) -> None:
        nonlocal rows
        everyone.append(node)
        for child in node.children:
            place(child)
        if node.children:
            node.y = (node.children[0].y + node.children[-1].y) / 2
        else:
            node.y = MARGIN + 16 + ROW * rows + NODE / 2
            rows += 1

    for root in roots:
        place(root)
    last = max((n.column for n in everyone if n.kind != "slot"), default=0) + 1
    for node in everyone:
        if node.kind == "slot":
            node.column = last
    xs = _columns(everyone, last)
    edges = [_edge(parent, child, xs) for parent in everyone for child in parent.children]
    boxes = [_box(node, xs, is_root=node in roots) for node in everyone]
    height = MARGIN * 2 + 16 + ROW * (rows - 1) + SLOT
    note = ""
    if left_out > 0:
        note = f'<text class="small" x="{MARGIN}" y="{height + 8}">and {left_out} more</text>'
        height += 20
    end = max(xs[n.column] + n.width for n in everyone) + MARGIN
    return svg(
        identity,
        f"Golden paths of {shorten(sample.id, 80)}",
        _told(roots),
        Html("".join(edges + boxes) + note),
        f'class="graph" width="{end:.0f}" height="{height}" viewBox="0 0 {end:.0f} {height}"',
    )


def _columns(everyone: list[_Node], last: int) -> list[float]:
    """Where each column starts: wide enough for its boxes, with room for the labels of the arrows before it."""
    xs = [float(MARGIN)]
    for column in range(1, last + 1):
        arrows = [
            _extent(_arrow_label(child), size=12) + 34 + (CURVE if child.y != parent.y else 0)
            for parent in everyone
            for child in parent.children
            if child.column == column
        ]
        boxes = [n.width for n in everyone if n.column == column - 1]
        xs.append(xs[-1] + max(boxes, default=0) + max(arrows, default=0))
    return xs


def _arrow_label(node: _Node) -> str:
    return "fills" if node.kind == "slot" else shorten(spelled(node.arrow), 30)


def _edge(parent: _Node, child: _Node, xs: list[float]) -> str:
    x1, x2 = xs[parent.column] + parent.width, xs[child.column] - 2
    is_slot = child.kind == "slot"
    straight = x1
    line = f"M{x1:.1f} {parent.y:.1f}"
    if child.y != parent.y:
        straight = x1 + CURVE
        line += f"C{x1 + 22:.1f} {parent.y:.1f} {x1 + 10:.1f} {child.y:.1f} {straight:.1f} {child.y:.1f}"
    line += f"L{x2 - 7:.1f} {child.y:.1f}"
    head = f"M{x2:.1f} {child.y:.1f}l-9 -4.5v9z"
    full = "fills" if is_slot else child.arrow
    return (
        f'<g class="{child.shade}"><title>{text(full)}</title><path class="{"fills" if is_slot else "edge"}" d="{line}"/>'
        f'<path class="{"fills-head" if is_slot else "head"}" d="{head}"/>'
        f'<text class="relation mid" x="{(straight + x2 - 7) / 2:.1f}" y="{child.y - 7:.1f}">{text(_arrow_label(child))}</text></g>'
    )


def _box(node: _Node, xs: list[float], *, is_root: bool) -> str:
    x, wide, high = xs[node.column], node.width, node.height
    middle = x + wide / 2
    top = node.y - high / 2
    mono = " mono" if node.kind == "slot" else ""
    lines = f'<text class="{node.kind}-text mid{mono}" x="{middle:.1f}" y="{node.y + (-1 if node.below else 4.5):.1f}">{text(node.shown)}</text>'
    if node.below:
        lines += f'<text class="small mid mono" x="{middle:.1f}" y="{node.y + 14:.1f}">{text(shorten(spelled(node.below), 34))}</text>'
    if is_root and node.kind == "speaker":
        lines += f'<text class="small mid" x="{middle:.1f}" y="{top - 6:.1f}">speaker</text>'
    radius = 6 if node.kind == "slot" else high / 2
    return (
        f'<g class="{node.shade}"><title>{text(node.full or node.words)}</title>'
        f'<rect class="node {node.kind}" x="{x:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{high}" rx="{radius:g}"/>{lines}</g>'
    )


def _told(roots: list[_Node]) -> str:
    """The drawing in words, for who cannot see it."""
    sentences: list[str] = []

    def tell(node: _Node, so_far: str) -> None:
        if node.kind == "slot":
            sentences.append(f"{so_far}, fills {shorten(node.full, 120)}")
            return
        here = f"{so_far}, {shorten(node.arrow, 60)}: {shorten(node.words, 60)}" if so_far else shorten(node.words, 60)
        if not node.children:
            sentences.append(here)
        for child in node.children:
            tell(child, here)

    for root in roots:
        tell(root, "")
    return ". ".join(sentences) + "."


def _extent(words: str, *, mono: bool = False, size: int = 13) -> float:
    """About how many pixels a text is wide, rather too many than too few: system fonts differ."""
    if mono:
        return size * 0.61 * sum(2 if ord(c) > 0x2E7F else 1 for c in words)
    return size * sum(
        1.05 if ord(c) > 0x2E7F else 0.36 if c in "ijl.,:;'|! I()[]" else 0.92 if c in "mwMW@%…" else 0.7 if c.isupper() else 0.585
        for c in words
    )
