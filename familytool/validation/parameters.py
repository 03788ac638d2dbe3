"""The parameters check: every call satisfies its tool's closed schema, and its values are of the kind the parameter asks for."""

from __future__ import annotations

from typing import Any

from familytool.graph import KnowledgeGraph
from familytool.model import Check, Finding, Sample, ToolCall, Verdict
from familytool.validation.kinds import kind_conflict, kinds_of_parameter, kinds_of_relation
from familytool.validation.schema import schema_findings


def check_parameters(sample: Sample, graph: KnowledgeGraph) -> Check:
    """Schema and kind of each golden call, and the schema of each accepted alternative.

    A call of a tool that is not offered cannot be checked (unknown). Where a name stands for several documents, one that is
    satisfied is enough.
    """
    findings: list[Finding] = []
    unknown = False
    for number, call in enumerate(sample.calls):
        found = _call_findings(sample, call, f"/calls/{number}/arguments")
        unknown = unknown or found is None
        findings += found or []
        findings += _kind_findings(sample, number, call)
    for number, calls in enumerate(sample.alternatives):
        for position, call in enumerate(calls):
            findings += _call_findings(sample, call, f"/alternatives/{number}/{position}/arguments") or []
    verdict: Verdict = "fail" if findings else "unknown" if unknown else "pass"
    return Check(sample_id=sample.id, check="parameters", verdict=verdict, findings=tuple(findings))


def _call_findings(sample: Sample, call: ToolCall, pointer: str) -> list[Finding] | None:
    documents = [tool for tool in sample.candidate_tools if tool.name == call.name]
    results = [schema_findings(tool.parameters, call.arguments, pointer) for tool in documents]
    usable = [result for result in results if result is not None]
    if not usable:
        return None
    return min(usable, key=len)


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
