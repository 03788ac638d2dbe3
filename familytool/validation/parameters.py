"""The parameters check: every call satisfies its tool's closed schema, and its values are of the kind the parameter asks for.

References to earlier results are legal in any position if they are sound, holes are not judged, and a placeholder of the graph is
not judged by its form. Every accepted alternative is held against the schema too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from familytool.graph import KnowledgeGraph
from familytool.model import Check, Finding, Json, Sample, ToolCall, Verdict
from familytool.validation.alternatives import Variant, has_choice, variants
from familytool.validation.kinds import kind_conflict, kinds_of_parameter, kinds_of_relation
from familytool.validation.near_names import nearest_name
from familytool.validation.references import Specials, broken_references, specials_of
from familytool.validation.schema import schema_findings
from familytool.validation.special_values import Path, Standing, pointer_of
from familytool.validation.syntax import golden_not_given, lacks_golden_call

__all__ = ["check_parameters", "nearest_name"]

_PLACEHOLDER = re.compile(r"[A-Za-z][A-Za-z_]{0,80}_[0-9]{1,8}")
_FORM = frozenset({"format_mismatch", "pattern_mismatch", "not_in_enum", "item_mismatch", "out_of_range"})
"""Codes of findings that are about how a value is written."""


def check_parameters(sample: Sample, graph: KnowledgeGraph) -> Check:
    """Schema and kind of each golden call, and the schema of each accepted alternative.

    A value that is legal only because the document names it is noted. A call of a tool that is not offered, an argument with a
    hole, and gold that is not given or could not be read cannot be checked (unknown). Where a name stands for several documents,
    one that is satisfied is enough.
    """
    findings: list[Finding] = []
    notes: list[Finding] = []
    undecided: list[Finding] = [golden_not_given()] if lacks_golden_call(sample) else []
    if sample.provenance.get("unparsed"):
        undecided.append(_open("/calls", "a golden call could not be read, so there is nothing to check"))
    specials = specials_of(sample, sample.calls)
    for number, call in enumerate(sample.calls):
        found = call_findings(sample, graph, call, specials[number], f"/calls/{number}/arguments", notes)
        if found is None:
            state = "its schema cannot be used" if any(tool.name == call.name for tool in sample.candidate_tools) else "it is not offered"
            undecided.append(_open(f"/calls/{number}", f"{call.name}: {state}, so its arguments cannot be checked"))
        if specials[number].holes:
            undecided.append(_open(f"/calls/{number}/arguments", f"{call.name}: an argument has a hole, so it cannot be checked"))
        findings += found or []
        findings += broken_references(sample, sample.calls, number, specials[number], f"/calls/{number}/arguments")
        not_yet = [f"/calls/{number}/arguments{pointer_of(place)}/" for place in specials[number].places]
        findings += [
            finding
            for finding in _kind_findings(sample, number, call)
            if not any(place.startswith(finding.path + "/") for place in not_yet)
        ]
    for number, calls in enumerate(sample.alternatives):
        findings += _alternative_findings(sample, graph, calls, f"/alternatives/{number}")
    verdict: Verdict = "fail" if findings else "unknown" if undecided else "pass"
    return Check(
        sample_id=sample.id,
        check="parameters",
        verdict=verdict,
        findings=(*findings, *notes),
        left_open=() if findings else tuple(undecided),
    )


def _open(path: str, message: str) -> Finding:
    return Finding(code="undecided_call", path=path, message=message)


def call_findings(
    sample: Sample, graph: KnowledgeGraph, call: ToolCall, specials: Specials, pointer: str, notes: list[Finding] | None = None
) -> list[Finding] | None:
    """What the schema of its tool holds against a call; None where the tool is not offered, or its schema cannot be used.

    A call without a name and without arguments is how some sets write that no call is expected. `notes` gets what is told and
    fails nothing.
    """
    if not call.name.strip() and not call.arguments:
        return []
    schemas = [tool.parameters for tool in sample.candidate_tools if tool.name == call.name]
    open_places: Standing = dict.fromkeys(specials.places, "open")
    found, own = _least(schemas, call.arguments, pointer, open_places)
    if found and any(finding.code in _FORM for finding in found):
        entities = {place for place in _entities(sample, graph, call.arguments) if place not in open_places}
        if entities:
            found, own = _least(schemas, call.arguments, pointer, {**dict.fromkeys(entities, "entity"), **open_places})
    if notes is not None:
        notes += own
    return found


def _least(
    schemas: list[dict[str, Json]], arguments: dict[str, Json], pointer: str, standing: Standing
) -> tuple[list[Finding] | None, list[Finding]]:
    """The findings of the document that is satisfied best, and its notes; None where one that cannot be used might be satisfied."""
    results: list[tuple[list[Finding], list[Finding]]] = []
    for schema in schemas:
        notes: list[Finding] = []
        found = schema_findings(schema, arguments, pointer, standing, notes)
        if found == []:
            return found, notes
        if found is not None:
            results.append((found, notes))
    if not results or len(results) < len(schemas):
        return None, []
    return min(results, key=lambda result: len(result[0]))


def _entities(sample: Sample, graph: KnowledgeGraph, arguments: dict[str, Json]) -> Iterator[Path]:
    """Places of placeholders (`appointment_time_0002`) that are entities of the graph or ends of a golden path."""
    golden = {triple.tail for triple in sample.golden_triples}
    for path, text in _texts(arguments, ()):
        if _PLACEHOLDER.fullmatch(text) and (text in golden or graph.heads(text) or graph.neighbours(text)):
            yield path


def _texts(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for part, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(inner, (*path, part))


def _alternative_findings(sample: Sample, graph: KnowledgeGraph, calls: tuple[ToolCall, ...], pointer: str) -> Iterator[Finding]:
    """The findings of one accepted list of calls; those of a value among several stand at that value."""
    first = tuple(call.model_copy(update={"arguments": next(variants(call.arguments)).arguments}) for call in calls)
    specials = specials_of(sample, first)
    for number, call in enumerate(calls):
        here = f"{pointer}/{number}/arguments"
        if not has_choice(call.arguments):
            yield from call_findings(sample, graph, call, specials[number], here) or []
            yield from broken_references(sample, first, number, specials[number], here)
            continue
        yield from _choice_findings(sample, graph, first, number, list(variants(call.arguments)), here)


def _choice_findings(
    sample: Sample, graph: KnowledgeGraph, first: tuple[ToolCall, ...], number: int, listed: list[Variant], here: str
) -> Iterator[Finding]:
    """The findings of a call with values among several: what is wrong with the call once, what is wrong with a value at that value."""
    places = {pointer_of(variant.place) for variant in listed[1:]}
    whole: set[tuple[str, str, str]] = set()
    for variant in listed:
        call = first[number].model_copy(update={"arguments": variant.arguments})
        special = specials_of(sample, (*first[:number], call, *first[number + 1 :]))[number]
        found = call_findings(sample, graph, call, special, "") or []
        found += broken_references(sample, first, number, special, "")
        place, written = pointer_of(variant.place), pointer_of(variant.written)
        for f in found:
            of_the_call = f.code == "unknown_parameter" or not any(f"{f.path}/".startswith(f"{p}/") for p in places)
            if variant is listed[0]:
                whole.add((f.path, f.code, f.message))
                if of_the_call:
                    yield f.model_copy(update={"path": here + f.path})
            elif of_the_call and variant.is_omission and (f.path, f.code, f.message) not in whole:
                yield f.model_copy(update={"path": here + written, "message": f"may be left out, and then {f.message}"})
            elif not of_the_call and not variant.is_omission and f"{f.path}/".startswith(f"{place}/"):
                yield f.model_copy(update={"path": here + written + f.path[len(place) :]})


def _kind_findings(sample: Sample, number: int, call: ToolCall) -> list[Finding]:
    """Values whose kind, by this room's own reading of names and facts, is not what the parameter takes."""
    found: list[Finding] = []
    document = next((tool for tool in sample.candidate_tools if tool.name == call.name), None)
    if document is None:
        return found
    for pointer, value, schema, name in _leaves(document.parameters, call.arguments, f"/{number}/arguments"):
        wanted = kinds_of_parameter(document, name, schema)
        source = sample.argument_sources.get(pointer) or sample.argument_sources.get(pointer + "/0") or {}
        relations = source.get("path", {}).get("relations", []) if source.get("source") == "graph" else []
        given = kinds_of_relation(relations[-1]) if relations else frozenset()
        conflict = kind_conflict(wanted, given, value, stated=not relations)
        if conflict:
            found.append(Finding(code="wrong_entity", path="/calls" + pointer, message=f"{call.name}.{name} takes {conflict}", value=value))
    return found


def _leaves(schema: dict[str, Any], arguments: dict[str, Any], pointer: str) -> list[tuple[str, Any, dict[str, Any], str]]:
    rows: list[tuple[str, Any, dict[str, Any], str]] = []
    for name, value in arguments.items():
        declared = schema.get("properties", {}).get(name, {})
        declared = declared if isinstance(declared, dict) else {}
        here = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
        if isinstance(value, dict):
            rows += _leaves(declared, value, here)
        else:
            rows.append((here, value, declared, name))
    return rows
