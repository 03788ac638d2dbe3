"""The feasibility check: can the call be made from what is offered and known, and is there only one answer?"""

from __future__ import annotations

from collections.abc import Collection

from familytool.catalogue import tables
from familytool.graph import KnowledgeGraph
from familytool.model import Check, Finding, Json, RelationPath, Sample, Tool, Verdict
from familytool.validation.chains import Fact, GoldenTriples, ends_of, known_graph, recorded_path
from familytool.validation.grounding import is_stated, says, stated_values
from familytool.validation.kinds import kinds_of_parameter, speaks_of_kind
from familytool.validation.leaves import Leaf, escaped, leaves_of
from familytool.validation.quoted import quoted_triples, wording
from familytool.validation.syntax import golden_not_given, lacks_golden_call
from familytool.validation.wording import recipe_of


def check_feasibility(sample: Sample, graph: KnowledgeGraph, *, pool: Collection[str] = ()) -> Check:
    """The tool is offered and no other would do; facts are in the graph, chains start at the speaker and have one end, each end is
    the value of an argument, and what a call needs can be had.

    Left open ("unknown") are a `no_tool` request of unknown origin (does no tool fit?), a call that is expected and not given,
    what only a graph tells where there is none, and a required argument that free words may or may not give.

    Args:
        sample: the sample.
        graph: its graph; an empty one says that there is none, and nothing is then missed in it.
        pool: names of all tools of the benchmark, so that a tool that is not offered can be told from one that does not exist.
    """
    recipe = recipe_of(sample)
    leaves = leaves_of(sample)
    findings = _tool_findings(sample, recipe, pool)
    golden = GoldenTriples(sample)
    if sample.golden_triples or sample.golden_paths:
        findings += _graph_findings(sample, graph, golden)
        findings += _value_findings(sample, known_graph(sample, graph), golden, leaves)
    findings += _foreign_entities(sample, graph, golden, leaves)
    lacking, undecided = _lacking(sample, golden, leaves)
    findings += lacking
    if sample.kind == "no_tool" and not recipe:
        undecided.append(
            Finding(code="undecided_call", path="/candidate_tools", message="rules cannot tell whether any tool fits the query")
        )
    if sample.golden_triples and not len(graph):
        undecided.append(Finding(code="undecided_call", path="/golden_triples", message="no graph is given in which to look the facts up"))
    if lacks_golden_call(sample):
        undecided.append(golden_not_given())
    verdict: Verdict = "fail" if findings else "unknown" if undecided else "pass"
    return Check(
        sample_id=sample.id, check="feasibility", verdict=verdict, findings=tuple(findings), left_open=() if findings else tuple(undecided)
    )


def _tool_findings(sample: Sample, recipe: list[dict[str, Json]], pool: Collection[str]) -> list[Finding]:
    offered = {tool.name: tool for tool in reversed(sample.candidate_tools)}
    found: list[Finding] = []
    for number, call in enumerate(sample.calls):
        if call.name not in offered:
            known = call.name in pool
            message = f"{call.name} is not among the sample's candidate tools" + (
                "; a tool of this name exists in the pool" if known else ""
            )
            hint = "in pool" if known else ""
            found.append(Finding(code="tool_not_offered", path=f"/calls/{number}/name", message=message, value=call.name, hint=hint))
    asked = [call.name for call in sample.calls]
    if sample.kind == "no_tool":
        asked = [str(clause["tool"]) for clause in recipe] or asked
    for name in dict.fromkeys(asked):
        named, same = offered.get(name), tables.interchangeable().get(name, frozenset())
        others = [
            t.name for t in sample.candidate_tools if t.name != name and (t.name in same or (named is not None and _is_twin(named, t)))
        ]
        if sample.kind == "no_tool":
            others += [other for other in offered if other == name]
        for other in dict.fromkeys(others):
            message = f"{other} would serve this request too" if sample.calls else f"{other} serves this request, so a call is right"
            found.append(Finding(code="several_tools_fit", path="/candidate_tools", message=message, value=other))
    return found


def _is_twin(named: Tool, other: Tool) -> bool:
    """Whether another candidate's document says what the named tool does, word for word, under another name."""
    return named.description == other.description and named.description.strip() != "" and named.parameters == other.parameters


def _graph_findings(sample: Sample, graph: KnowledgeGraph, golden: GoldenTriples) -> list[Finding]:
    """Golden triples are facts, each lies on a golden chain, and the chains begin at the speaker and have one end."""
    is_given = len(graph) > 0
    found: list[Finding] = []
    for number, t in enumerate(sample.golden_triples if is_given else ()):
        if t not in graph:
            message = f"({t.head}, {t.relation}, {t.tail}) is not in the graph"
            found.append(Finding(code="triple_not_in_graph", path=f"/golden_triples/{number}", message=message))
    if sample.speaker and sample.golden_paths and all(path.start != sample.speaker for path in sample.golden_paths):
        starts = ", ".join(dict.fromkeys(path.start for path in sample.golden_paths))
        message = f"the chains start at {starts}, the speaker is {sample.speaker}"
        found.append(Finding(code="wrong_speaker", path="/golden_paths/0", message=message, value=sample.golden_paths[0].start))
    on_chains: set[Fact] = set()
    for number, path in enumerate(sample.golden_paths):
        chain, is_covered = golden.chain(path)
        on_chains |= chain
        found += _path_findings(graph, path, f"/golden_paths/{number}", is_covered, is_given)
    reached = golden.reachable_from(sample.speaker)
    for number, t in enumerate(sample.golden_triples):
        if sample.speaker and t.head not in reached:
            message = f"({t.head}, {t.relation}, {t.tail}): no golden triple leads from {sample.speaker} to {t.head}"
        elif sample.golden_paths and (t.head, t.relation, t.tail) not in on_chains:
            message = f"({t.head}, {t.relation}, {t.tail}) is on no golden chain"
        else:
            continue
        found.append(Finding(code="disconnected_golden", path=f"/golden_triples/{number}", message=message))
    for start, _, (head, relation, tail) in quoted_triples(sample.query, graph.relations):
        if sample.speaker and head not in reached:
            message = f"the query quotes ({head}, {relation}, {tail}), and no golden triple leads from {sample.speaker} to {head}"
            found.append(Finding(code="disconnected_golden", path=f"/query/{start}", message=message))
    return found


def _path_findings(graph: KnowledgeGraph, path: RelationPath, place: str, is_covered: bool, is_given: bool) -> list[Finding]:
    ends, exists = ends_of(graph, path)
    found: list[Finding] = []
    if is_given and not exists:
        found.append(Finding(code="triple_not_in_graph", path=place, message="the graph has no such path"))
    elif sum(ends.values()) > 1:
        found.append(Finding(code="ambiguous_answer", path=place, message=f"the path leads to {', '.join(list(ends)[:10])}"))
    if not is_covered and (exists or not is_given):
        found.append(Finding(code="disconnected_golden", path=place, message="facts of this chain are not among the golden triples"))
    return found


def _value_findings(sample: Sample, graph: KnowledgeGraph, golden: GoldenTriples, leaves: list[Leaf]) -> list[Finding]:
    """Executing a path gives the argument that it is said to give, and every path is used."""
    found: list[Finding] = []
    used: set[str] = set()
    paths = {(path.start, path.relations) for path in sample.golden_paths}
    for pointer, source in sample.argument_sources.items():
        path = recorded_path(source)
        if path is None:
            continue
        value = resolve(sample, pointer)
        ends = list(ends_of(graph, path)[0]) if (path.start, path.relations) in paths else []
        used.update(ends)
        place = f"/calls{pointer}"
        if not ends:
            found.append(Finding(code="wrong_entity", path=place, message="its path is no golden path", value=value))
        elif str(value) not in ends:
            message = f"executing its path gives {', '.join(sorted(ends)[:10])}"
            found.append(Finding(code="wrong_entity", path=place, message=message, value=value))
    texts = {str(leaf.value) for leaf in leaves}
    for number, path in enumerate(sample.golden_paths):
        for end in ends_of(graph, path)[0]:
            if end in used or end in texts or end in golden.out or any(says(end, text) for text in texts if len(text) > len(end)):
                continue
            message = f"the fact '{end}' is used by no argument"
            found.append(Finding(code="unused_value", path=f"/golden_paths/{number}", message=message, value=end))
    return found


def _foreign_entities(sample: Sample, graph: KnowledgeGraph, golden: GoldenTriples, leaves: list[Leaf]) -> list[Finding]:
    """A value that is an entity of the graph, but of no golden fact, and that nobody has stated."""
    found: list[Finding] = []
    if not len(graph) or not sample.golden_triples:
        return found
    broken = [path for path in sample.golden_paths if not golden.chain(path)[1]]
    entities = golden.entities.union(*(ends_of(graph, path)[0] for path in broken))  # what these lead to is told as disconnected
    query, stated = sample.query, None
    for leaf in leaves:
        value = leaf.value
        if not isinstance(value, str) or value in entities or value == sample.speaker or leaf.source.get("source") == "graph":
            continue
        if not graph.knows(value):
            continue
        if leaf.default or leaf.enum or leaf.is_reference:
            continue
        if stated is None:
            query = wording(sample.query, graph.relations)
            stated = stated_values(query)
        if not is_stated(value, query, stated, True):
            message = f"{leaf.tool}.{leaf.name} is '{value}', an entity of the graph to which no golden triple leads"
            found.append(Finding(code="wrong_entity", path=f"/calls{leaf.pointer}", message=message, value=value))
    return found


_DECIDABLE = {"date": "a date", "time": "a time", "money": "an amount", "email": "an e-mail address"}


def _lacking(sample: Sample, golden: GoldenTriples, leaves: list[Leaf]) -> tuple[list[Finding], list[Finding]]:
    """Required arguments that a call lacks and that can be had from nowhere; and those that may or may not be had.

    What a document gives by default, and a kind of value of which the query speaks, can be had: then the call is at fault and
    not the sample (the parameters check says so). Decided is only for dates, times, amounts and addresses, since a number of people
    or things can be understood from anything, and only where the query is all that was said and no other call could give the value.
    """
    found: list[Finding] = []
    undecided: list[Finding] = []
    texts = {str(leaf.value) for leaf in leaves}
    has_spare_fact = any(t.tail not in texts and t.tail not in golden.out for t in sample.golden_triples)
    for number, call in enumerate(sample.calls):
        document = next((tool for tool in sample.candidate_tools if tool.name == call.name), None)
        required = document.parameters.get("required") if document else None
        for name in required if isinstance(required, list) else ():
            if not isinstance(name, str) or name in call.arguments or document is None:
                continue
            properties = document.parameters.get("properties")
            schema = properties.get(name, {}) if isinstance(properties, dict) else {}
            schema = schema if isinstance(schema, dict) else {}
            if "default" in schema or "const" in schema:
                continue
            kinds = kinds_of_parameter(document, name, schema)
            is_known_kind = bool(kinds) and kinds <= _DECIDABLE.keys()
            if is_known_kind and any(speaks_of_kind(kind, sample.query) for kind in kinds):
                continue
            if not is_known_kind or not sample.speaker or len(sample.calls) > 1 or has_spare_fact:
                message = f"{call.name} requires {name}, which is not given; rules cannot tell whether the query gives it in free words"
                undecided.append(Finding(code="undecided_value", path=f"/calls/{number}/arguments/{escaped(name)}", message=message))
                continue
            wanted = " or ".join(_DECIDABLE[kind] for kind in sorted(kinds))
            message = f"{call.name} requires {name}, and nothing in query, golden facts or document gives {wanted}"
            found.append(Finding(code="missing_required", path=f"/calls/{number}/arguments/{escaped(name)}", message=message))
    return found, undecided


def resolve(sample: Sample, pointer: str) -> Json:
    """The value at a JSON pointer into the calls; None where there is none."""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    if len(parts) < 2 or not parts[0].isdigit() or int(parts[0]) >= len(sample.calls) or parts[1] not in ("arguments", "name"):
        return None
    call = sample.calls[int(parts[0])]
    value: Json = call.arguments if parts[1] == "arguments" else call.name
    for part in parts[2:]:
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            return None
    return value
