"""Sets of characters: what a class of a pattern stands for."""

from __future__ import annotations

from typing import TypeAlias

Chars: TypeAlias = tuple[tuple[int, int], ...]
"""A set of code points: inclusive ranges, sorted, without overlap."""

ANY: Chars = ((0, 0x10FFFF),)
NONE: Chars = ()


def union(*sets: Chars) -> Chars:
    """The code points of all these sets.

    >>> union(((97, 99),), ((100, 105), (98, 98)))
    ((97, 105),)
    """
    merged: list[tuple[int, int]] = []
    for low, high in sorted(r for ranges in sets for r in ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def complement(chars: Chars) -> Chars:
    """All other code points."""
    gaps, at = [], 0
    for low, high in chars:
        if low > at:
            gaps.append((at, low - 1))
        at = high + 1
    return (*gaps, (at, 0x10FFFF)) if at <= 0x10FFFF else tuple(gaps)


def overlap(one: Chars, two: Chars) -> bool:
    """Whether a code point is in both sets."""
    return any(low <= other_high and other_low <= high for low, high in one for other_low, other_high in two)
