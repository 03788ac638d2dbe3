"""The nearest relation by spelling: what relation retrieval falls back on without an encoder."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

ENCODER = "lexical"

_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=10_000)
def _grams(name: str) -> Counter[str]:
    """The words of a name and their parts of three characters."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name[:1000])  # preferCity is prefer_city
    grams: Counter[str] = Counter()
    for word in _WORD.findall(spaced.casefold()):
        padded = f" {word} "
        grams.update(padded[at : at + 3] for at in range(len(padded) - 2))
        grams[padded] += 1
    return grams


def similarity(left: str, right: str) -> float:
    """The cosine of two names by their words and trigrams, 0 to 1.

    >>> similarity("favorite_city", "prefer_city") > similarity("favorite_city", "mother")
    True
    """
    a, b = _grams(left), _grams(right)
    common = sum(count * b[gram] for gram, count in a.items() if gram in b)
    size = math.sqrt(sum(n * n for n in a.values()) * sum(n * n for n in b.values()))
    return common / size if size else 0.0


def nearest(name: str, known: Sequence[str], k: int) -> list[str]:
    """The k names of `known` that are nearest to `name`, the nearest first; ties in the order of `known`.

    >>> nearest("favourite_city", ["father", "mother", "prefer_city"], 1)
    ['prefer_city']
    """
    return sorted(known, key=lambda other: -similarity(name, other))[:k]
