"""Scores of graph extraction: one sample's triples against its golden triples."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from .facts import Triple
from .rows import Scores, listed
from .strict_json import Json
from .values import nfc, normal

KG_METRICS = ("kg_em", "kg_f1", "kg_coverage", "kg_no_hallucination", "kg_no_hallucination_after")


def read_triple(triple: Json) -> Triple | None:
    """The triple as three texts in NFC; None if it is none."""
    if isinstance(triple, Mapping):
        parts: Sequence[Json] = [triple.get("head"), triple.get("relation"), triple.get("tail")]
    else:
        parts = triple if isinstance(triple, list | tuple) else []
    if len(parts) != 3 or not all(isinstance(part, str) for part in parts):
        return None
    head, relation, tail = map(nfc, parts)
    return Triple(head, relation, tail)


def read_golden(reference: Mapping[str, Any], where: str) -> list[Triple]:
    """The golden triples of a reference (ValueError for one that is none: a reference is not repaired)."""
    golden = []
    for place, entry in enumerate(listed(reference["golden_triples"], f"reference {where}: golden_triples")):
        triple = read_triple(entry)
        if triple is None:
            raise ValueError(f"reference {where}: golden_triples[{place}] is no triple; give three texts head, relation, tail.")
        golden.append(triple)
    return golden


def score_triples(
    golden: Sequence[Triple], calls: Json, triples: Json, where: str, not_charged: AbstractSet[Triple] = frozenset()
) -> tuple[Scores, set[str]]:
    """The graph metrics of one sample: sets of triples, both empty is right.

    Args:
        golden: the golden triples.
        calls: the golden calls, whose entities `kg_coverage` asks for.
        triples: what was extracted; None is no answer.
        where: the sample, for errors.
        not_charged: facts that the golden paths themselves bring beside the golden triples (another tail of the same relation):
            no path can tell them apart, so they are neither asked for nor charged.
    """
    wanted = set(golden)
    needed = _used_entities(_entities_of(wanted), calls)
    if triples is None:
        return {"kg_em": 0.0, "kg_f1": 0.0, "kg_coverage": 0.0 if needed else None}, {"no_triples"}
    read = [read_triple(entry) for entry in listed(triples, f"prediction {where}: triples")]
    found = {triple for triple in read if triple is not None}
    extracted = found - (not_charged - wanted)
    n_bad = read.count(None)
    n_sides = len(wanted) + len(extracted) + n_bad
    codes = {"bad_triple"} if n_bad else set()
    if len(extracted) < len(found):
        codes.add("several_tails")
    if any((tail, relation, head) in wanted for head, relation, tail in extracted - wanted):
        codes.add("direction")
    return {
        "kg_em": float(wanted == extracted and not n_bad),
        "kg_f1": 2 * len(wanted & extracted) / n_sides if n_sides else 1.0,
        "kg_coverage": float(needed <= _entities_of(extracted)) if needed else None,
    }, codes


def _entities_of(triples: set[Triple]) -> set[str]:
    """All heads and tails."""
    return {entity for head, _, tail in triples for entity in (head, tail)}


def _used_entities(entities: set[str], calls: Json) -> set[str]:
    """The entities that stand in an argument of the golden calls as a whole value or as whole tokens of one."""
    texts: set[str] = set()

    def walk(value: Json) -> None:
        if isinstance(value, dict):
            for entry in value.values():
                walk(entry)
        elif isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, str):
            texts.add(value)
        elif isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**300):
            texts.add(str(value))

    for call in calls if isinstance(calls, list | tuple) else []:
        walk(normal(call.get("arguments")) if isinstance(call, Mapping) else None)
    return {entity for entity in entities if entity and any(_has_tokens(text, entity) for text in texts)}


def _has_tokens(text: str, entity: str) -> bool:
    """The entity stands in the text as whole tokens; a number ("5") is not a token of a longer one ("1.5", "-5").

    >>> _has_tokens("dinner with Ann Lee", "Ann"), _has_tokens("Anna", "Ann"), _has_tokens("2025-09-01", "09")
    (True, False, False)
    """
    if entity == text:
        return True
    if entity not in text:
        return False
    before = r"(?<!\w)" if re.match(r"\w", entity) else ""
    after = r"(?!\w)" if re.match(r"\w", entity[-1]) else ""
    if entity[0].isdigit():
        before += r"(?<!\d[.,:/-])(?<!-)"
    if entity[-1].isdigit():
        after += r"(?![.,:/-]\d)"
    return re.search(before + re.escape(entity) + after, text) is not None
