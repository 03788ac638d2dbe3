"""Scores of graph extraction: one sample's triples against its golden triples."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from .rows import Scores, listed
from .strict_json import Json
from .values import nfc, normal

KG_METRICS = ("kg_em", "kg_f1", "kg_coverage")

Triple: TypeAlias = tuple[str, str, str]


def _read_triple(triple: Json) -> Triple | None:
    """The triple as three texts in NFC; None if it is none."""
    if isinstance(triple, Mapping):
        parts: Sequence[Json] = [triple.get("head"), triple.get("relation"), triple.get("tail")]
    else:
        parts = triple if isinstance(triple, list | tuple) else []
    if len(parts) != 3 or not all(isinstance(part, str) for part in parts):
        return None
    head, relation, tail = map(nfc, parts)
    return head, relation, tail


def score_triples(reference: Mapping[str, Any], triples: Json, where: str) -> tuple[Scores, set[str]]:
    """The graph metrics of one sample: sets of triples, both empty is right."""
    golden: set[Triple] = set()
    for place, entry in enumerate(listed(reference["golden_triples"], f"reference {where}: golden_triples")):
        triple = _read_triple(entry)
        if triple is None:
            raise ValueError(f"reference {where}: golden_triples[{place}] is no triple; give three texts head, relation, tail.")
        golden.add(triple)
    needed = _used_entities(_entities_of(golden), reference.get("calls"))
    if triples is None:
        return {"kg_em": 0.0, "kg_f1": 0.0, "kg_coverage": 0.0 if needed else None}, {"no_triples"}
    read = [_read_triple(entry) for entry in listed(triples, f"prediction {where}: triples")]
    extracted = {triple for triple in read if triple is not None}
    n_bad = read.count(None)
    n_sides = len(golden) + len(extracted) + n_bad
    codes = {"bad_triple"} if n_bad else set()
    if any((tail, relation, head) in golden for head, relation, tail in extracted - golden):
        codes.add("direction")
    return {
        "kg_em": float(golden == extracted and not n_bad),
        "kg_f1": 2 * len(golden & extracted) / n_sides if n_sides else 1.0,
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
