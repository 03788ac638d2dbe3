"""Samples that repeat another one, over a stream: the same speaker asks the same in the same family."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from familytool.model import Finding, Sample


class Duplicates:
    """What has been asked so far. A sample leaves sixteen bytes and its id, and no more."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._first: dict[bytes, int] = {}
        self._repeated: dict[bytes, list[int]] = {}
        self._listed_twice = 0
        self._samples_with_double = 0

    def add(self, sample: Sample) -> None:
        """Take one sample into account. A sample that names the other one as its twin repeats its words on purpose."""
        double = doubled_tools(sample)
        self._listed_twice += double
        self._samples_with_double += double > 0
        key, number = request_key(sample), len(self._ids)
        self._ids.append(sample.id)
        first = self._first.setdefault(key, number)
        if first != number and sample.twin_of != self._ids[first]:
            self._repeated.setdefault(key, [first]).append(number)

    def findings(self) -> Iterator[tuple[int, str, Finding]]:
        """(number in the stream, sample id, finding) for each member of each group of equal requests, in the order of the stream."""
        for members in self._repeated.values():
            for place, number in enumerate(members):
                other = self._ids[members[1] if place == 0 else members[0]]
                more = f" (and {len(members) - 2} more)" if len(members) > 2 else ""
                message = f"the same speaker asks the same in {other}{more}"
                yield number, self._ids[number], Finding(code="duplicate_sample", path="/query", message=message, value=other)

    def as_json(self) -> dict[str, Any]:
        """Counts: groups of equal requests and their samples; and candidate documents listed more than once, which is no defect."""
        return {
            "groups": len(self._repeated),
            "samples": sum(map(len, self._repeated.values())),
            "tools_listed_twice": {"samples": self._samples_with_double, "documents": self._listed_twice},
        }


def request_key(sample: Sample) -> bytes:
    """A hash of graph, speaker, query and what was said before it; case and white space aside.

    Where nobody speaks, nothing but the tools offered tells one request from another of the same words (a set of functions with
    distractors, a question that no tool answers), so they belong to the key.
    """
    before = sample.provenance.get("dialogue_before")
    parts = [sample.graph_id, *(" ".join(text.casefold().split()) for text in (sample.speaker, sample.query))]
    parts.append(" ".join(before.casefold().split()) if isinstance(before, str) else "")
    if not sample.speaker:
        parts += sorted(json.dumps([tool.name, tool.description, tool.parameters]) for tool in sample.candidate_tools)
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def doubled_tools(sample: Sample) -> int:
    """How many of the candidate documents repeat an earlier one; those that the reader has left out are in its notes."""
    notes = sample.provenance.get("notes")
    noted = sum(isinstance(note, str) and "is listed before; kept once" in note for note in (notes if isinstance(notes, list) else ()))
    seen: dict[str, list[Any]] = {}
    doubled = 0
    for tool in sample.candidate_tools:
        same = seen.setdefault(tool.name, [])
        if any(tool.description == other.description and tool.parameters == other.parameters for other in same):
            doubled += 1
        same.append(tool)
    return noted + doubled
