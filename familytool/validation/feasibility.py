"""The feasibility check: can the call be made from what is offered and known, and is there only one answer?"""

from __future__ import annotations

from familytool.catalogue import tables
from familytool.graph import KnowledgeGraph
from familytool.model import Check, Finding, Json, Sample, Tool, Triple, Verdict


def check_feasibility(sample: Sample, graph: KnowledgeGraph) -> Check:
    """The tool is offered and no other would do; facts are in the graph, chains start at the speaker and have one end,
    and each end is the value of an argument. Whether some tool fits a `no_tool` request of unknown origin is unknown."""
    findings: list[Finding] = []
    findings += _tool_findings(sample)
    findings += _graph_findings(sample, graph)
    findings += _value_findings(sample, graph)
    undecided = sample.kind == "no_tool" and not sample.provenance.get("wording")
    verdict: Verdict = "fail" if findings else "unknown" if undecided else "pass"
    return Check(sample_id=sample.id, check="feasibility", verdict=verdict, findings=tuple(findings))


def _tool_findings(sample: Sample) -> list[Finding]:
    offered = [tool.name for tool in sample.candidate_tools]
    found = [
        Finding(
            code="tool_not_offered", path=f"/calls/{number}/name", message=f"{call.name} is not among the candidate tools", value=call.name
        )
        for number, call in enumerate(sample.calls)
        if call.name not in offered
    ]
    wording = sample.provenance.get("wording")
    asked = [call.name for call in sample.calls]
    if sample.kind == "no_tool" and isinstance(wording, list):
        asked = [clause["tool"] for clause in wording]
    for name in asked:
        others = [
            tool.name
            for tool in sample.candidate_tools
            if tool.name != name and (tables.either_would_do(name, tool.name) or _is_twin(sample, name, tool))
        ]
        if sample.kind == "no_tool":
            others += [other for other in offered if other == name]
        found += [
            Finding(
                code="several_tools_fit" if sample.calls else "tool_not_offered",
                path="/candidate_tools",
                message=f"{other} would serve this request too",
                value=other,
            )
            if sample.calls
            else Finding(
                code="several_tools_fit", path="/candidate_tools", message=f"{other} serves this request, so a call is right", value=other
            )
            for other in dict.fromkeys(others)
        ]
    return found


def _is_twin(sample: Sample, name: str, other: Tool) -> bool:
    """Whether another candidate's document differs from the named tool's in nothing but the name."""
    named = next((tool for tool in sample.candidate_tools if tool.name == name), None)
    return named is not None and (named.description, named.parameters) == (other.description, other.parameters)


def _graph_findings(sample: Sample, graph: KnowledgeGraph) -> list[Finding]:
    found = [
        Finding(
            code="triple_not_in_graph", path=f"/golden_triples/{number}", message=f"({t.head}, {t.relation}, {t.tail}) is not in the graph"
        )
        for number, t in enumerate(sample.golden_triples)
        if t not in graph
    ]
    on_paths: set[Triple] = set()
    for number, path in enumerate(sample.golden_paths):
        place = f"/golden_paths/{number}"
        if path.start != sample.speaker:
            found.append(
                Finding(code="wrong_speaker", path=place, message=f"the chain starts at {path.start}, the speaker is {sample.speaker}")
            )
        chains = graph.chains(path)
        ends = dict.fromkeys(chain[-1].tail for chain in chains)
        if not chains:
            found.append(Finding(code="triple_not_in_graph", path=place, message="the graph has no such path"))
        elif len(ends) > 1 or len(chains) > 1:
            found.append(Finding(code="ambiguous_answer", path=place, message=f"the path leads to {', '.join(ends)}"))
        on_paths.update(t for chain in chains for t in chain)
    loose = [t for t in sample.golden_triples if t not in on_paths]
    if loose:
        t = loose[0]
        found.append(
            Finding(code="disconnected_golden", path="/golden_triples", message=f"({t.head}, {t.relation}, {t.tail}) is on no golden chain")
        )
    missing = on_paths - set(sample.golden_triples)
    if missing:
        found.append(
            Finding(
                code="disconnected_golden",
                path="/golden_paths",
                message=f"{len(missing)} facts of the golden chains are not among the golden triples",
            )
        )
    return found


def _value_findings(sample: Sample, graph: KnowledgeGraph) -> list[Finding]:
    """Executing a path gives the argument that it is said to give, and every path is used."""
    found: list[Finding] = []
    used: set[str] = set()
    for pointer, source in sample.argument_sources.items():
        if source.get("source") != "graph":
            continue
        start, relations = source["path"]["start"], tuple(source["path"]["relations"])
        value = resolve(sample, pointer)
        ends = {end for path in sample.golden_paths if (path.start, path.relations) == (start, relations) for end in graph.follow(path)}
        used.update(ends)
        if not ends:
            found.append(Finding(code="wrong_entity", path=f"/calls{pointer}", message="its path is no golden path", value=value))
        elif str(value) not in ends:
            found.append(
                Finding(
                    code="wrong_entity", path=f"/calls{pointer}", message=f"executing its path gives {', '.join(sorted(ends))}", value=value
                )
            )
    texts = {str(v) for call in sample.calls for v in _values(call.arguments)} if not sample.argument_sources else set()
    for number, path in enumerate(sample.golden_paths):
        for end in graph.follow(path):
            if end not in used and end not in texts:
                found.append(
                    Finding(
                        code="unused_value", path=f"/golden_paths/{number}", message=f"the fact '{end}' is used by no argument", value=end
                    )
                )
    return found


def resolve(sample: Sample, pointer: str) -> Json:
    """The value at a JSON pointer into the calls; None where there is none."""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    value: Json = [call.model_dump() for call in sample.calls]
    for part in parts:
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            return None
    return value


def _values(value: Json) -> list[Json]:
    if isinstance(value, dict | list):
        return [leaf for inner in (value.values() if isinstance(value, dict) else value) for leaf in _values(inner)]
    return [value]
