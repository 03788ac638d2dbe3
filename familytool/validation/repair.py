"""Repairs that need no judgement: each is a rule with a name, each change a patch, and a patch stays only if it helps.

A rule proposes a changed sample. It is taken if the checks find less than before and nothing new; what no rule can mend, or what
would need to know what the author meant (a missing argument, a wrong fact), is left for people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from familytool.graph import KnowledgeGraph
from familytool.kinship import find_mentions
from familytool.model import Finding, Json, Record, RelationPath, Sample, Tool, ToolCall, Triple, canonical
from familytool.validation.checks import Checks, check_sample
from familytool.validation.coercion import coerced
from familytool.validation.grounding import stated_values
from familytool.validation.near_names import nearest_name
from familytool.validation.references import specials_of
from familytool.validation.relatives import kin

Op = Literal["add", "remove", "replace"]
PATCHED_FIELDS = ("candidate_tools", "golden_triples", "golden_paths", "calls", "argument_sources")


class Patch(Record):
    """One change of one sample: a JSON Patch operation (RFC 6902) with the value it replaces and the rule that made it."""

    sample_id: str
    op: Op
    path: str
    old: Json = None
    new: Json = None
    rule: str


@dataclass
class Pool:
    """The documents of all tools that the set offers anywhere, by name."""

    documents: dict[str, list[Tool]] = field(default_factory=dict)

    def add(self, tools: Iterable[Tool]) -> None:
        """Remember the documents of one sample."""
        for tool in tools:
            known = self.documents.setdefault(tool.name, [])
            if not any(tool is other for other in known) and tool not in known:
                known.append(tool)

    def only(self, name: str) -> Tool | None:
        """The document of a name, if there is exactly one."""
        known = self.documents.get(name, [])
        return known[0] if len(known) == 1 else None


@dataclass
class RepairAccount:
    """What repairing did: samples and patches by rule, and by code in how many samples a failed check is left."""

    by_rule: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {r: {"meaning": m, "samples": 0, "patches": 0} for r, (m, _) in RULES.items()}
    )
    left: Counter[str] = field(default_factory=Counter)
    n_patched: int = 0
    n_left: int = 0

    def as_json(self) -> dict[str, Any]:
        """The account as `summary.json` holds it."""
        left = {code: {"samples": count} for code, count in sorted(self.left.items(), key=lambda item: (-item[1], item[0]))}
        return {"n_patched": self.n_patched, "n_left": self.n_left, "by_rule": self.by_rule, "left": left}


def repair_samples(
    samples: Iterable[Sample],
    graph_of: Callable[[Sample], KnowledgeGraph],
    checks: Checks,
    pool: Pool,
    can_be_written: Callable[[Sample], bool],
    account: RepairAccount,
    on_patch: Callable[[Patch], None],
    on_left: Callable[[Sample, list[Finding]], None],
    of_the_set: Mapping[str, list[Finding]] | None = None,
) -> Iterator[Sample]:
    """The samples, each mended as far as rules can, in order; patches and what is left are told as they come.

    `of_the_set` has the failures of samples, by id, that only the whole set shows (duplicates): they are always left.
    """
    for sample in samples:
        graph = graph_of(sample)
        mended, patches, left = repair_sample(sample, graph, checks, pool, can_be_written)
        left += (of_the_set or {}).get(sample.id, [])
        for patch in patches:
            account.by_rule[patch.rule]["patches"] += 1
            on_patch(patch)
        for rule in dict.fromkeys(patch.rule for patch in patches):
            account.by_rule[rule]["samples"] += 1
        account.n_patched += bool(patches)
        account.n_left += bool(left)
        account.left.update({finding.code for finding in left})
        if left:
            on_left(mended, left)
        yield mended


def repair_sample(
    sample: Sample, graph: KnowledgeGraph, checks: Checks, pool: Pool, can_be_written: Callable[[Sample], bool] | None = None
) -> tuple[Sample, list[Patch], list[Finding]]:
    """A sample as rules mend it, the patches that do so, and the findings of failed checks that are left.

    What the format of the copy could not say (`can_be_written`) is not mended.
    """
    found = _failures(sample, graph, checks)
    patches: list[Patch] = []
    for rule, (_, propose) in RULES.items():
        proposal = propose(sample, graph, pool, [finding for findings in found.values() for finding in findings])
        if proposal is None or proposal == sample:
            continue
        after = _failures(proposal, graph, checks)
        is_better = _helps(found, after) or (rule in TIDYING and not _counted(after) - _counted(found))
        if is_better and (can_be_written is None or can_be_written(proposal)):
            patches += _differences(sample, proposal, rule)
            sample, found = proposal, after
    return sample, patches, [finding for findings in found.values() for finding in findings]


def _failures(sample: Sample, graph: KnowledgeGraph, checks: Checks) -> dict[str, list[Finding]]:
    return {check.check: list(check.findings) for check in check_sample(sample, graph, checks) if check.verdict == "fail"}


def _counted(found: dict[str, list[Finding]]) -> Counter[tuple[str, str]]:
    return Counter((check, finding.code) for check, findings in found.items() for finding in findings)


def _helps(before: dict[str, list[Finding]], after: dict[str, list[Finding]]) -> bool:
    """Whether something went and nothing came, counted by check and code."""
    old, new = _counted(before), _counted(after)
    return bool(old - new) and not new - old


def _differences(old: Sample, new: Sample, rule: str) -> list[Patch]:
    """The changes as operations that, applied in order to the old sample's record, give the new one's."""
    before, after = (_as_data(s) for s in (old, new))
    return [
        Patch(sample_id=old.id, op=op, path=path, old=was, new=now, rule=rule)
        for name in PATCHED_FIELDS
        for op, path, was, now in _changes(before[name], after[name], f"/{name}")
    ]


def _as_data(sample: Sample) -> dict[str, Json]:
    data = sample.model_dump(mode="json", include=set(PATCHED_FIELDS) - {"candidate_tools"})
    data["candidate_tools"] = [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in sample.candidate_tools]
    return data


def _changes(old: Json, new: Json, path: str) -> Iterator[tuple[Op, str, Json, Json]]:
    if canonical(old) == canonical(new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [key for key in old if key not in new]:
            yield "remove", f"{path}/{_escaped(key)}", old[key], None
        for key, value in new.items():
            here = f"{path}/{_escaped(key)}"
            if key not in old:
                yield "add", here, None, value
            else:
                yield from _changes(old[key], value, here)
    elif isinstance(old, list) and isinstance(new, list) and len(old) != len(new):
        yield from _list_changes(old, new, path)
    elif isinstance(old, list) and isinstance(new, list):
        for index, (was, now) in enumerate(zip(old, new, strict=True)):
            yield from _changes(was, now, f"{path}/{index}")
    else:
        yield "replace", path, old, new


def _list_changes(old: list[Json], new: list[Json], path: str) -> Iterator[tuple[Op, str, Json, Json]]:
    """Entries added or removed in one place or several; the places count as they are when the operation is applied."""
    at, rest = 0, list(old)
    for value in new:
        if at < len(rest) and rest[at] == value:
            at += 1
        elif value in rest[at:]:
            while rest[at] != value:
                yield "remove", f"{path}/{at}", rest.pop(at), None
            at += 1
        else:
            yield "add", f"{path}/{at}", None, value
            rest.insert(at, value)
            at += 1
    while len(rest) > at:
        yield "remove", f"{path}/{len(rest) - 1}", rest.pop(), None


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


Proposal = Callable[[Sample, KnowledgeGraph, Pool, list[Finding]], Sample | None]


def _with_calls(sample: Sample, change: Callable[[ToolCall], ToolCall]) -> Sample:
    return sample.model_copy(update={"calls": tuple(change(call) for call in sample.calls)})


def _document(sample: Sample, call: ToolCall) -> Tool | None:
    """The document of a call; None where the name stands for several, so that nothing is mended after the wrong one."""
    documents = list({id(tool): tool for tool in sample.candidate_tools if tool.name == call.name}.values())
    return documents[0] if documents and all(tool == documents[0] for tool in documents) else None


def strip_tool_name(sample: Sample, graph: KnowledgeGraph, pool: Pool, found: list[Finding]) -> Sample | None:
    """Spaces around a called tool's name go, where the name without them is offered."""
    offered = {tool.name for tool in sample.candidate_tools}

    def change(call: ToolCall) -> ToolCall:
        bare = call.name.strip()
        return call.model_copy(update={"name": bare}) if call.name not in offered and bare in offered else call

    return _with_calls(sample, change)


def offer_called_tool(sample: Sample, graph: KnowledgeGraph, pool: Pool, found: list[Finding]) -> Sample | None:
    """A called tool that is not offered is offered, where the set has exactly one document of that name."""
    offered = {tool.name for tool in sample.candidate_tools}
    lacking = [pool.only(call.name) for call in sample.calls if call.name not in offered]
    if not lacking or any(tool is None for tool in lacking):
        return None
    return sample.model_copy(update={"candidate_tools": (*sample.candidate_tools, *{t.name: t for t in lacking if t is not None}.values())})


def rename_parameter(sample: Sample, graph: KnowledgeGraph, pool: Pool, found: list[Finding]) -> Sample | None:
    """An unknown argument whose name differs from a declared one only in form (case, spaces, Unicode) takes that name."""

    def change(call: ToolCall) -> ToolCall:
        document = _document(sample, call)
        if document is None:
            return call
        declared = document.parameters.get("properties", {})
        renamed: dict[str, Json] = {}
        for name, value in call.arguments.items():
            near = nearest_name(name, declared) if name not in declared else None
            target = near if near and near not in call.arguments and near not in renamed else name
            renamed[target] = value
        return call.model_copy(update={"arguments": renamed})

    return _with_calls(sample, change)


def coerce_type(sample: Sample, graph: KnowledgeGraph, pool: Pool, found: list[Finding]) -> Sample | None:
    """A value takes the JSON type that its document declares, where nothing is chosen or lost by it ("2" for 2, "[1]" for [1])."""
    if not any(finding.hint.startswith("coercible") for finding in found):
        return None
    calls = list(sample.calls)
    for number, (call, specials) in enumerate(zip(sample.calls, specials_of(sample, sample.calls), strict=True)):
        document = _document(sample, call)
        if document is not None:
            arguments, _ = coerced(document.parameters, call.arguments, dict.fromkeys(specials.places, "open"), may_wrap=False)
            calls[number] = call.model_copy(update={"arguments": arguments})
    return sample.model_copy(update={"calls": tuple(calls)})


def write_time(sample: Sample, graph: KnowledgeGraph, pool: Pool, found: list[Finding]) -> Sample | None:
    """A time of day in another form is written as HH:MM ("7:00" as "07:00", "1:00 PM" as "13:00")."""
    places = {finding.path for finding in found if finding.code == "format_mismatch"}
    if not places:
        return None

    def changed(value: Json, path: str) -> Json:
        if isinstance(value, dict):
            return {key: changed(inner, f"{path}/{_escaped(key)}") for key, inner in value.items()}
        if isinstance(value, list):
            return [changed(inner, f"{path}/{index}") for index, inner in enumerate(value)]
        if path in places and isinstance(value, str):
            stated = stated_values(value)
            if (
                len(stated) == 1
                and stated[0].kind == "time"
                and stated[0].complete
                and value[: stated[0].start] + value[stated[0].end :] == ""
            ):
                return stated[0].value
        return value

    calls = [
        c.model_copy(update={"arguments": changed(c.arguments, f"/calls/{number}/arguments")}) for number, c in enumerate(sample.calls)
    ]
    return sample.model_copy(update={"calls": tuple(calls)})


def link_to_speaker(sample: Sample, graph: KnowledgeGraph, pool: Pool, found: list[Finding]) -> Sample | None:
    """A golden chain that starts at a relative gets the facts that lead there, where the query names that relative and one path fits."""
    if not any(finding.code in ("disconnected_golden", "wrong_speaker") for finding in found):
        return None
    triples = list(sample.golden_triples)
    paths: list[RelationPath] = []
    for path in sample.golden_paths:
        link = None if path.start == sample.speaker else _link(sample, graph, path.start)
        if link is None:
            paths.append(path)
            continue
        chain, relations = link
        first = next((i for i, t in enumerate(triples) if t.head == path.start and t.relation == path.relations[0]), len(triples))
        triples[first:first] = [triple for triple in chain if triple not in triples]
        paths.append(RelationPath(start=sample.speaker, relations=(*relations, *path.relations)))
    old = {(p.start, p.relations): new for p, new in zip(sample.golden_paths, paths, strict=True)}
    sources = {}
    for pointer, source in sample.argument_sources.items():
        said = source.get("path") or {}
        new = old.get((said.get("start"), tuple(said.get("relations", ()))))  # type: ignore[arg-type]
        sources[pointer] = {**source, "path": {"start": new.start, "relations": list(new.relations)}} if new else source
    return sample.model_copy(update={"golden_triples": tuple(triples), "golden_paths": tuple(paths), "argument_sources": sources})


def _link(sample: Sample, graph: KnowledgeGraph, person: str) -> tuple[tuple[Triple, ...], tuple[str, ...]] | None:
    readings = {
        reading
        for mention in find_mentions(sample.query)
        if kin(graph).persons(sample.speaker, mention.readings) == (person,)
        for reading in mention.readings
        if graph.follow(RelationPath(start=sample.speaker, relations=reading)) == (person,)
    }
    if len(readings) != 1:
        return None
    (relations,) = readings
    chains = graph.chains(RelationPath(start=sample.speaker, relations=relations))
    return (chains[0], relations) if len(chains) == 1 else None


def drop_repeated_tool(sample: Sample, graph: KnowledgeGraph, pool: Pool, found: list[Finding]) -> Sample | None:
    """A candidate document that is listed twice, word for word, is listed once."""
    kept: list[Tool] = []
    for tool in sample.candidate_tools:
        if not any(tool is other or tool == other for other in kept if other.name == tool.name):
            kept.append(tool)
    return sample.model_copy(update={"candidate_tools": tuple(kept)})


RULES: dict[str, tuple[str, Proposal]] = {
    function.__name__: ((function.__doc__ or "").strip(), function)
    for function in (
        strip_tool_name,
        offer_called_tool,
        rename_parameter,
        coerce_type,
        write_time,
        link_to_speaker,
        drop_repeated_tool,
    )
}
"""The rules in the order in which they are tried: name -> (what it does, proposal)."""

TIDYING = frozenset({"drop_repeated_tool"})
"""Rules that mend what no check fails: they are taken if nothing new is found."""
