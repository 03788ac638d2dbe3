"""Planted faults: a sample, and the same sample with one thing wrong that a check must see."""

from __future__ import annotations

import random
from collections.abc import Iterator

from familytool.catalogue import tables
from familytool.graph import KnowledgeGraph
from familytool.kinship import KIN_RELATIONS, Kin, find_mentions
from familytool.model import RelationPath, Sample
from familytool.validation.grounding import stated_values


def other_person_in_golden(sample: Sample, graph: KnowledgeGraph, rng: random.Random) -> Sample | None:
    """The golden chain, triples and argument of another relative; the query stays."""
    kin = Kin(graph)
    for pointer, source in sample.argument_sources.items():
        if source["source"] != "graph" or not isinstance(source["path"]["relations"], list):
            continue
        relations = source["path"]["relations"]
        old = RelationPath(start=sample.speaker, relations=tuple(relations))
        if len(relations) < 2 or relations[-1] in KIN_RELATIONS:
            continue
        owner = graph.follow(RelationPath(start=sample.speaker, relations=tuple(relations[:-1])))[0]
        others = [
            (p, paths[0]) for p, paths in kin.shortest_paths(sample.speaker).items() if p != owner and len(paths[0]) == len(relations) - 1
        ]
        others = [
            (p, path)
            for p, path in others
            if graph.tails(p, relations[-1]) and len(graph.chains(RelationPath(start=sample.speaker, relations=path))) == 1
        ]
        if not others:
            continue
        _, path = rng.choice(others)
        new = RelationPath(start=sample.speaker, relations=(*path, relations[-1]))
        return _with_fact(sample, graph, pointer, old, new)
    return None


def _with_fact(sample: Sample, graph: KnowledgeGraph, pointer: str, old: RelationPath, new: RelationPath) -> Sample:
    value = graph.follow(new)[0]
    calls = [call.model_dump() for call in sample.calls]
    sources = {
        k: ({**v, "path": new.model_dump(mode="json")} if v.get("path") == {"start": old.start, "relations": list(old.relations)} else v)
        for k, v in sample.argument_sources.items()
    }
    _assign(calls, pointer, value)
    paths = tuple(new if p == old else p for p in sample.golden_paths)
    triples = tuple(dict.fromkeys(t for p in paths for t in graph.chains(p)[0]))
    return Sample.model_validate(
        {
            **sample.model_dump(),
            "calls": calls,
            "argument_sources": sources,
            "golden_paths": [p.model_dump() for p in paths],
            "golden_triples": [t.model_dump() for t in triples],
        }
    )


def _assign(calls: list[dict], pointer: str, value: str) -> None:
    parts = [p.replace("~1", "/").replace("~0", "~") for p in pointer.split("/")[1:]]
    at = calls
    for part in parts[:-1]:
        at = at[int(part)] if isinstance(at, list) else at[part]
    last = int(parts[-1]) if isinstance(at, list) else parts[-1]
    old = at[last]
    at[last] = type(old)(value) if isinstance(old, int | float) and not isinstance(old, bool) else value


def other_person_in_query(sample: Sample, graph: KnowledgeGraph, rng: random.Random) -> Sample | None:
    """The query names another relative; the golden answer stays."""
    kin = Kin(graph)
    mentions = find_mentions(sample.query)
    if not mentions:
        return None
    mention = rng.choice(mentions)
    named = kin.persons(sample.speaker, mention.readings)
    others = [p for p in kin.people if p not in named and p != sample.speaker]
    rng.shuffle(others)
    for person in others:
        phrases = kin.phrases(sample.speaker, person)
        if phrases:
            text = rng.choice(phrases).text
            text = text[0].upper() + text[1:] if mention.text[0].isupper() else text
            return sample.model_copy(update={"query": sample.query[: mention.start] + text + sample.query[mention.end :]})
    return None


def wrong_literal_in_call(sample: Sample, graph: KnowledgeGraph, rng: random.Random) -> Sample | None:
    """One stated argument of the call has another value of its kind; the query stays."""
    stated = [(p, s) for p, s in sample.argument_sources.items() if s["source"] == "query"]
    rng.shuffle(stated)
    for pointer, _ in stated:
        calls = [call.model_dump() for call in sample.calls]
        old = _value(calls, pointer)
        new = _another(old, rng)
        if new is None:
            continue
        _assign(calls, pointer, new)
        return Sample.model_validate({**sample.model_dump(), "calls": calls})
    return None


def wrong_literal_in_query(sample: Sample, graph: KnowledgeGraph, rng: random.Random) -> Sample | None:
    """The query states another date, time, number or name; the golden call stays."""
    spans = [s["span"] for s in sample.argument_sources.values() if s["source"] == "query"]
    rng.shuffle(spans)
    for start, end in spans:
        said = sample.query[start:end]
        new = _another_words(said, rng)
        if new and new != said:
            return sample.model_copy(update={"query": sample.query[:start] + new + sample.query[end:]})
    return None


def _value(calls: list[dict], pointer: str) -> object:
    at: object = calls
    for part in pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        at = at[int(part)] if isinstance(at, list) else at[part]  # type: ignore[index]
    return at


def _another(old: object, rng: random.Random) -> object:
    if isinstance(old, bool) or old is None:
        return None
    if isinstance(old, int | float):
        return old + rng.randint(1, 3)
    text = str(old)
    stated = stated_values(text)
    if len(stated) == 1 and (stated[0].start, stated[0].end) == (0, len(text)):
        return _another_words(text, rng)
    for file in ("city", "restaurant", "person", "movie", "hotel"):
        table = tables.values(file)
        if text in table:
            return rng.choice([v for v in table if v != text])
    return rng.choice([v for v in tables.values("city") if v != text])


def _another_words(said: str, rng: random.Random) -> str | None:
    stated = stated_values(said)
    if len(stated) == 1 and stated[0].end - stated[0].start == len(said):
        item = stated[0]
        return {
            "date": f"{rng.randint(1, 28)} March 2027",
            "time": f"{rng.randint(1, 6)}:50 am",
            "number": str(rng.randint(41, 79)),
            "email": "other.one9@example.org",
        }[item.kind]
    if said[:1].isupper():
        return rng.choice([v for v in tables.values("city") if v != said])
    return None


MUTATIONS = {
    "other person in golden": other_person_in_golden,
    "other person in query": other_person_in_query,
    "wrong literal in call": wrong_literal_in_call,
    "wrong literal in query": wrong_literal_in_query,
}


def mutants(samples: list[Sample], graphs: dict[str, KnowledgeGraph], name: str, seed: int = 1) -> Iterator[Sample]:
    """All mutants of one kind."""
    for sample in samples:
        if sample.kind in ("graph", "multi_call", "no_graph"):
            mutant = MUTATIONS[name](sample, graphs[sample.graph_id], random.Random(f"{seed}/{sample.id}"))
            if mutant is not None:
                yield mutant
