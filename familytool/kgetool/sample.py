"""The scores of one sample in all profiles, and what a run of them has in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .extraction import RETRIEVAL, Extracted, brought_by, extract
from .facts import Facts
from .lenience import Lenience
from .parse import parse_calls
from .published_extraction import PublishedGraph, golden_of, written
from .published_extraction import extract as extract_as_published
from .published_scores import PUBLISHED, PUBLISHED_KG_METRICS, PUBLISHED_TOOL_METRICS, score_extraction, score_tool_use
from .rows import Scores, failure_code, listed
from .searches import parse_searches
from .strict_json import Json
from .tool_use import TOOL_METRICS, score_calls
from .triples import KG_METRICS, read_golden, read_triple, score_triples
from .values import nfc

METRICS = TOOL_METRICS + KG_METRICS
NearestNames = Callable[[str, Sequence[str], int], Sequence[str]]
"""(unknown name, known names, k) -> the k nearest known names, the nearest first."""


@dataclass(frozen=True)
class _Calls:
    """The calls of a prediction: None is no answer that can be read, and `code` says why."""

    strict: Json
    lenient: Json
    code: str = ""


@dataclass
class Scorer:
    """Scores samples one by one, and counts what went wrong."""

    graph: Sequence[Any] | Mapping[str, Sequence[Any]] | None
    method: str
    k: int
    nearest: NearestNames
    lenience: Lenience
    has_calls: bool
    has_triples: bool
    n_errors: int = 0
    n_parse_failures: int = 0
    path_codes: Counter[str] = field(default_factory=Counter)
    _graphs: dict[Any, tuple[Facts, PublishedGraph]] = field(default_factory=dict)

    def score(self, reference: Mapping[str, Any], prediction: Mapping[str, Any] | None, where: str) -> dict[str, Any]:
        """The strict metrics, the codes, and `profiles` with the others.

        Raises:
            ValueError: the reference is malformed, or there is no graph to look paths up in.
        """
        failure = failure_code(prediction)
        self.n_errors += failure is not None
        row: Mapping[str, Any] = {} if prediction is None or failure else prediction
        strict: Scores = dict.fromkeys(METRICS)
        lenient: Scores = dict.fromkeys(METRICS)
        published: Scores = dict.fromkeys(PUBLISHED_TOOL_METRICS + PUBLISHED_KG_METRICS)
        codes = {failure} if failure else set()
        if self.has_calls and reference.get("calls") is not None:
            calls = self._read_calls(reference, row)
            scores, found = score_calls(reference, calls.strict, where)
            strict |= scores
            lenient |= scores if scores["em"] == 1 else score_calls(reference, calls.lenient, where, self.lenience)[0]
            published |= score_tool_use(reference["calls"], calls.strict or ())
            codes |= found if failure is None and not calls.code else found - {"no_calls"}
            codes |= {calls.code} - {""}
        if self.has_triples and reference.get("golden_triples") is not None:
            graph_scores, published_scores, found = self._score_graph(reference, row, where)
            strict |= graph_scores
            lenient |= graph_scores
            published |= published_scores
            codes |= found if failure is None else found - {"no_triples"}
        return {"id": reference["id"], **strict, "codes": sorted(codes), "profiles": {"lenient": lenient, PUBLISHED: published}}

    def _read_calls(self, reference: Mapping[str, Any], row: Mapping[str, Any]) -> _Calls:
        text = row.get("call_text")
        if row.get("calls") is not None or text is None:
            return _Calls(row.get("calls"), row.get("calls"))
        if not isinstance(text, str):
            self.n_parse_failures += 1
            return _Calls(None, None, "parse_error")
        signatures = {
            tool["name"]: list(properties)
            for tool in reference.get("candidate_tools") or ()
            if isinstance(tool, Mapping) and isinstance(tool.get("name"), str) and isinstance(tool.get("parameters"), Mapping)
            for properties in [tool["parameters"].get("properties")]
            if isinstance(properties, Mapping)
        }
        parsed = parse_calls(text, signatures)
        if not parsed.faults:
            return _Calls(list(parsed.calls), list(parsed.calls))
        if parsed.spelling == "prose":  # words without any sign of a call: it abstained
            return _Calls([], [])
        self.n_parse_failures += 1
        repaired = parse_calls(text, signatures, repair=True) if "repair" in self.lenience.policies else parsed
        return _Calls(None, None if repaired.faults else list(repaired.calls), parsed.faults[0].code)

    def _score_graph(self, reference: Mapping[str, Any], row: Mapping[str, Any], where: str) -> tuple[Scores, Scores, set[str]]:
        golden = read_golden(reference, where)
        triples, text = row.get("triples"), row.get("paths_text")
        text = text if isinstance(text, str) or text is None else ""
        found = self._graph_of(reference, where, is_needed=text is not None and triples is None)
        extracted: Extracted | None = None
        said: str | None = None
        if text is not None and found is not None:
            facts, as_published = found
            extracted = extract(
                parse_searches(nfc(text)), facts, self.method, lambda name, k: self.nearest(name, facts.relations, k), self.k
            )
            self.path_codes.update(extracted.codes)
            near = (lambda name: self.nearest(name, facts.relations, 3)) if self.method == RETRIEVAL else None
            said = extract_as_published(text, as_published, near)
        not_charged = brought_by(golden, found[0]) if extracted is not None and triples is None and found is not None else frozenset()
        scores: Scores = dict.fromkeys(KG_METRICS)
        given = extracted.triples if triples is None and extracted is not None else triples
        found_scores, codes = score_triples(golden, reference.get("calls"), given, where, not_charged)
        scores |= found_scores
        if extracted is not None:
            scores["kg_no_hallucination"] = extracted.no_hallucination
            scores["kg_no_hallucination_after"] = extracted.no_hallucination_after
            codes |= extracted.codes.keys()
        user = reference.get("user")
        wanted = golden_of(user) if isinstance(user, str) else golden
        calls = [call for call in listed(reference.get("calls") or (), f"reference {where}: calls") if isinstance(call, Mapping)]
        published = score_extraction(wanted, calls, said if said is not None else _as_published(triples))
        if said is None:  # of triples alone nobody knows what was invented
            published |= {"kg_no_hallucination": None, "kg_no_hallucination_paper": None}
        return scores, published, codes

    def _graph_of(self, reference: Mapping[str, Any], where: str, is_needed: bool) -> tuple[Facts, PublishedGraph] | None:
        """The graph of a reference: its own, or the run's (of its graph_id)."""
        key: Any = None
        triples = reference.get("graph")
        if triples is None and isinstance(self.graph, Mapping):
            key = reference.get("graph_id")
            triples = self.graph.get(key) if isinstance(key, str) else None
        elif triples is None:
            triples = self.graph
        else:
            key = id(triples)
        if triples is None:
            if is_needed:
                raise ValueError(
                    f"reference {where}: there is no graph in which to look its paths up; give `graph`, there or as an argument."
                )
            return None
        if key not in self._graphs:
            read = [read_triple(entry) for entry in listed(triples, f"reference {where}: graph")]
            if None in read:
                raise ValueError(f"reference {where}: graph[{read.index(None)}] is no triple; give three texts head, relation, tail.")
            facts = Facts(triple for triple in read if triple is not None)
            self._graphs[key] = facts, PublishedGraph(facts)
        return self._graphs[key]


def _as_published(triples: Json) -> str:
    read = [read_triple(entry) for entry in triples] if isinstance(triples, list | tuple) else []
    return written(triple for triple in read if triple is not None)
