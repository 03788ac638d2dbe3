"""Language, made countable: what a set of queries must satisfy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from familytool.kinship import find_mentions
from familytool.model import Sample
from familytool.phrasing import skeleton
from familytool.validation.grounding import stated_values


@dataclass(frozen=True)
class Language:
    """Counts over the queries of a set."""

    rows: int
    largest_skeleton_share: float
    largest_skeleton: str
    openings: int
    shortest: int
    longest: int
    kin_words: int
    everyday_kin_share: float


def masked_spans(sample: Sample) -> list[tuple[int, int]]:
    """Spans of values, persons, kinship words, numbers and dates."""
    spans = [tuple(s["span"]) for s in sample.argument_sources.values() if "span" in s]
    spans += [(m.start, m.end) for m in find_mentions(sample.query)]
    spans += [(s.start, s.end) for s in stated_values(sample.query)]
    return spans


def measure_language(samples: Iterable[Sample], relations: Iterable[str]) -> Language:
    """All counts of the set; `relations` are the relation names of its graph."""
    samples = list(samples)
    names = " ".join(relations)
    skeletons = Counter(skeleton(s.query, masked_spans(s)) for s in samples)
    openings = {" ".join(re.findall(r"[^\s]+", s.query.lower())[:3]) for s in samples}
    words = [len(s.query.split()) for s in samples]
    kin = [term for s in samples for m in find_mentions(s.query) for term in m.terms]
    everyday = [term for term in kin if term.lower() not in names]
    pattern, count = skeletons.most_common(1)[0]
    return Language(
        len(samples), count / len(samples), pattern, len(openings), min(words), max(words), len(kin), len(everyday) / max(1, len(kin))
    )
