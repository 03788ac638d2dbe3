"""How long a backtracking matcher may take for a pattern, at worst: told before it is run.

A matcher loses time where it has a choice: to go on in a loop or to leave it, to take one branch or another. A choice costs nothing
where the next character decides it. Where it does not, every place of the text is tried: once for each such loop, so the time is a
power of the length of the text (the degree); inside a loop such choices multiply, and the time is exponential.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from familytool.formats.charsets import ANY, NONE, Chars, overlap, union
from familytool.formats.pattern_parts import EMPTY, Alt, At, Look, Node, PatternError, Repeat, Seq, Set

STEPS = 1_000_000
"""About so many steps of the matcher are allowed for one text."""
MAX_TEXT = 10_000
"""Longer texts are judged by no pattern."""
MIN_TEXT = 50
"""A pattern that could only be run on texts shorter than this is not run at all."""
SMALL_COUNT = 16
LONG_COUNT = 64


def longest_text(tree: Node) -> int:
    """How long a text may be to be searched for this pattern within the allowed steps; 0: no text is short enough.

    >>> from familytool.formats.pattern_parts import parse_pattern
    >>> [longest_text(parse_pattern(p)) for p in (r"^[a-z]+$", r"^a*a*$", r"^(a+)+$")]
    [10000, 1000, 0]
    """
    ends = []
    for branch in tree.branches if isinstance(tree, Alt) else (tree,):
        anchored = is_anchored(branch)
        try:
            ends.append(_walk(branch, _Cost(exits=0 if anchored else 1), NONE, NONE if anchored else ANY, in_loop=False))
        except PatternError:
            return 0
    steps = STEPS / sum(end.factor for end in ends)
    limit = min(MAX_TEXT, int(steps ** (1 / max(end.degree for end in ends)) + 1e-6))
    return limit if limit >= MIN_TEXT else 0


def is_explosive(tree: Node) -> bool:
    """Whether some loop holds a choice that the next character does not decide, so that choices multiply."""
    try:
        _walk(tree, _Cost(), NONE, NONE, in_loop=False)
    except PatternError:
        return True
    return False


def is_anchored(node: Node) -> bool:
    """Whether a match can only begin where the text begins."""
    if isinstance(node, Seq):
        first = next((part for part in node.parts if not isinstance(part, Look)), EMPTY)
        return first is not EMPTY and is_anchored(first)
    if isinstance(node, Alt):
        return all(is_anchored(branch) for branch in node.branches)
    return node == At("^")


def simplified(node: Node) -> Node:
    """The same texts with fewer choices: branches that begin alike share their beginning, and equal branches are one."""
    if isinstance(node, Seq):
        return _seq([simplified(part) for part in node.parts])
    if isinstance(node, Repeat):
        body = simplified(node.body)
        return body if (node.least, node.most) == (1, 1) else EMPTY if body == EMPTY else Repeat(body, node.least, node.most)
    if isinstance(node, Look):
        body = simplified(node.body)
        return Look(node.kind, without_tail(body) if node.kind in ("=", "!") else body)
    if isinstance(node, Alt):
        return _factored([simplified(branch) for branch in node.branches])
    return node


def _factored(branches: list[Node]) -> Node:
    groups: dict[Node, list[Node]] = {}
    for branch in dict.fromkeys(branches):
        parts = branch.parts if isinstance(branch, Seq) else (branch,)
        groups.setdefault(parts[0] if parts else EMPTY, []).append(_seq(list(parts[1:])))
    firsts = [first for first, rests in groups.items() if isinstance(first, Set) and set(rests) == {EMPTY}]
    if len(firsts) > 1:  # `a|b` is `[ab]`
        for first in firsts:
            del groups[first]
        groups[Set(union(*(first.chars for first in firsts)))] = [EMPTY]
    merged = [_seq([first, rests[0] if len(rests) == 1 else _factored(rests)]) for first, rests in groups.items()]
    return merged[0] if len(merged) == 1 else Alt(tuple(merged))


def _seq(parts: list[Node]) -> Node:
    flat: list[Node] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Seq) else (part,))
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


def without_ends(node: Node) -> Node:
    """What must be found for a match to be found: loops at either end need no more than their least count."""
    return _without(_without(node, -1), 0)


def without_tail(node: Node) -> Node:
    """The same for the end alone."""
    return _without(node, -1)


def _without(node: Node, end: int) -> Node:
    if isinstance(node, Repeat):
        least = EMPTY if node.least == 0 else Repeat(node.body, node.least, node.least) if node.least > 1 else node.body
        return _without(least, end) if node.least <= 1 else least
    if isinstance(node, Alt):
        branches = tuple(dict.fromkeys(_without(branch, end) for branch in node.branches))
        return EMPTY if EMPTY in branches else branches[0] if len(branches) == 1 else Alt(branches)
    if isinstance(node, Seq) and node.parts:
        rest, last = (node.parts[:-1], node.parts[-1]) if end else (node.parts[1:], node.parts[0])
        bare = _without(last, end)
        if bare == EMPTY:
            return _without(_seq(list(rest)), end)
        return _seq([*rest, bare] if end else [bare, *rest])
    return node


@dataclass(frozen=True)
class _Cost:
    """So far: loops that can be left at many places (`exits`), the degree, and a constant factor."""

    exits: int = 0
    degree: int = 1
    factor: float = 1


def first_of(node: Node) -> tuple[Chars, bool]:
    """With which characters a match of this part can begin, and whether it can be empty."""
    if isinstance(node, Set):
        return node.chars, False
    if isinstance(node, At):
        return NONE, True
    if isinstance(node, Look):  # what it looks for may take a while, so that it is no next character that decides at once
        return ANY, True
    if isinstance(node, Repeat):
        chars, empty = first_of(node.body)
        return chars, empty or node.least == 0
    if isinstance(node, Alt):
        firsts = [first_of(branch) for branch in node.branches]
        return union(*(chars for chars, _ in firsts)), any(empty for _, empty in firsts)
    found: list[Chars] = []
    for part in node.parts:
        chars, empty = first_of(part)
        found.append(chars)
        if not empty:
            return union(*found), False
    return union(*found), True


def _last_of(node: Node, before: Chars) -> Chars:
    """Which characters can stand directly before the place behind this part."""
    if isinstance(node, Set):
        return node.chars
    if isinstance(node, At | Look):
        return before
    if isinstance(node, Repeat):
        inner = _last_of(node.body, before)
        return union(inner, before) if node.least == 0 else inner
    if isinstance(node, Alt):
        return union(*(_last_of(branch, before) for branch in node.branches))
    for part in node.parts:
        before = _last_of(part, before)
    return before


def _alphabet(node: Node) -> Chars:
    if isinstance(node, Set):
        return node.chars
    if isinstance(node, At | Look):
        return NONE
    if isinstance(node, Repeat):
        return _alphabet(node.body)
    return union(*(_alphabet(part) for part in (node.branches if isinstance(node, Alt) else node.parts)))


def _width(node: Node) -> float:
    """The longest text that this part can take."""
    if isinstance(node, Set):
        return 1
    if isinstance(node, Repeat):
        return _width(node.body) * node.most if node.most is not None else float("inf")
    if isinstance(node, Alt):
        return max(_width(branch) for branch in node.branches)
    return sum(_width(part) for part in node.parts) if isinstance(node, Seq) else 0


def _walk(node: Node, cost: _Cost, follow: Chars, before: Chars, in_loop: bool) -> _Cost:
    """The cost after this part; `follow` may come next, `before` may stand before it.

    Raises:
        PatternError: a choice inside a loop that the next character does not decide.
    """
    if isinstance(node, Seq):
        follows = [follow]
        for part in reversed(node.parts):
            chars, empty = first_of(part)
            follows.append(NONE if part == At("$") else union(chars, follows[-1]) if empty else chars)
        for part, after in zip(node.parts, reversed(follows[:-1]), strict=True):
            cost = _walk(part, cost, after, before, in_loop)
            before = _last_of(part, before)
        return cost
    if isinstance(node, Alt):
        return _walk_branches(node, cost, follow, before, in_loop)
    if isinstance(node, Look):
        inside = replace(cost, exits=cost.exits + in_loop)
        return replace(_walk(node.body, inside, NONE, ANY, in_loop=False), exits=cost.exits)
    return _walk_repeat(node, cost, follow, before, in_loop) if isinstance(node, Repeat) else cost


def _walk_branches(node: Alt, cost: _Cost, follow: Chars, before: Chars, in_loop: bool) -> _Cost:
    firsts = [first_of(branch) for branch in node.branches]
    taken: Chars = follow if any(empty for _, empty in firsts) else NONE
    ambiguous = sum(empty for _, empty in firsts) > 1
    for chars, _ in firsts:
        ambiguous = ambiguous or overlap(chars, taken)
        taken = union(taken, chars)
    if ambiguous and in_loop:
        raise PatternError("branches inside a loop begin alike")
    ends = [_walk(branch, cost, follow, before, in_loop) for branch in node.branches]
    factor = sum(end.factor for end in ends) if ambiguous else max(end.factor for end in ends)
    return _Cost(max(end.exits for end in ends), max(end.degree for end in ends), factor)


def _walk_repeat(node: Repeat, cost: _Cost, follow: Chars, before: Chars, in_loop: bool) -> _Cost:
    first, empty = first_of(node.body)
    ambiguous = node.least != node.most and overlap(first, follow)
    is_loop = node.least != node.most and (node.most is None or node.most > SMALL_COUNT)
    if in_loop and ambiguous:
        raise PatternError("a loop inside a loop can be left where it can go on")
    if empty and (node.most is None or node.most > 1):
        raise PatternError("a loop can take nothing")
    again = node.most is None or node.most > 1
    inner = _walk(
        node.body,
        replace(cost, factor=1),
        union(first, follow) if again else follow,
        union(before, _last_of(node.body, before)) if again else before,
        in_loop or is_loop,
    )
    if is_loop or _width(node) > LONG_COUNT:
        guarded = not overlap(before, _alphabet(node.body))
        inner = replace(inner, degree=max(inner.degree, cost.exits, 1 if guarded else cost.exits + 1))
    if is_loop:
        return replace(inner, exits=inner.exits + ambiguous, factor=cost.factor * inner.factor)
    times = node.most or 0
    choices = times - node.least + 1 if ambiguous else 1
    exits = cost.exits + (inner.exits - cost.exits) * times
    return replace(inner, exits=exits, degree=max(inner.degree, exits), factor=min(1e12, cost.factor * choices * inner.factor**times))
