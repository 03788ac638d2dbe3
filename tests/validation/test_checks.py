import itertools
from typing import Any

import pytest

from familytool.graph import KnowledgeGraph
from familytool.model import Check, Finding, RelationPath, Sample, Tool, ToolCall, Triple
from familytool.validation.checks import CHECKS, check_sample, chosen_checks

FACTS = [
    ("Bob", "mother", "Alice"), ("Alice", "son", "Bob"), ("Bob", "father", "Carl"), ("Carl", "son", "Bob"),
    ("Bob", "brother", "Dan"), ("Bob", "brother", "Eli"), ("Dan", "brother", "Bob"), ("Eli", "brother", "Bob"),
    ("Alice", "prefer_restaurant", "The Blue Door"), ("Carl", "prefer_restaurant", "Casa Verde"),
    ("Dan", "prefer_restaurant", "Osteria"), ("Eli", "prefer_restaurant", "Chez Eli"), ("Alice", "prefer_airline", "Kestrel Air"),
]  # fmt: skip
GRAPH = KnowledgeGraph([Triple(head=h, relation=r, tail=t) for h, r, t in FACTS], "g")
TABLE = Tool(
    name="book_table",
    description="Book a table.",
    parameters={
        "type": "object", "additionalProperties": False, "required": ["restaurant"],
        "properties": {
            "restaurant": {"type": "string", "description": "Name of the restaurant."},
            "date": {"type": "string", "format": "date"}, "time": {"type": "string", "format": "HH:MM"},
            "guests": {"type": "integer", "minimum": 1, "maximum": 20}, "seat": {"type": "string", "enum": ["INSIDE", "OUTSIDE"]},
            "voucher": {"type": "string", "pattern": "^[A-Z]{3}$"}, "wishes": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        },
    },
)  # fmt: skip
TAXI = Tool(name="order_taxi", parameters={"type": "object", "properties": {"to": {"type": "string"}}})
QUERY = "Please book a table for 4 at my mother's favourite restaurant on 3 June 2025."
PATH = ("mother", "prefer_restaurant")
SOURCE = {"source": "graph", "path": {"start": "Bob", "relations": list(PATH)}}


def triples(*relations: str, start: str = "Bob") -> tuple[Triple, ...]:
    return tuple(t for chain in GRAPH.chains(RelationPath(start=start, relations=relations))[:1] for t in chain)


def sample(**changes: Any) -> Sample:
    """The sound sample, with these fields changed; `arguments` are further ones of its one call."""
    arguments = {"restaurant": "The Blue Door", "date": "2025-06-03", "guests": 4, **changes.pop("arguments", {})}
    fields: dict[str, Any] = {
        "id": "t-1", "benchmark": "t", "kind": "graph", "speaker": "Bob", "query": QUERY, "graph_id": "g",
        "candidate_tools": (TABLE, TAXI), "golden_triples": triples(*PATH),
        "golden_paths": (RelationPath(start="Bob", relations=PATH),), "calls": (ToolCall(name="book_table", arguments=arguments),),
    }  # fmt: skip
    return Sample(**{**fields, **changes})


def said(more: str, **arguments: Any) -> Sample:
    """The sound sample that also says this, with these further arguments."""
    return sample(query=QUERY[:-1] + more + ".", arguments=arguments)


def with_path(*relations: str, start: str = "Bob", **changes: Any) -> Sample:
    """The sound sample with another golden chain."""
    path = (RelationPath(start=start, relations=relations),)
    return sample(golden_paths=path, **{"golden_triples": triples(*relations, start=start), **changes})


def no_tool(*tools: Tool, asked: str = "book_table") -> Sample:
    wording = [{"tool": asked, "sentence": "", "segments": [], "slots": {}, "connector": ""}]
    return sample(kind="no_tool", calls=(), golden_paths=(), golden_triples=(), candidate_tools=tools, provenance={"wording": wording})


NOTHING: dict[str, Any] = {"calls": (), "golden_paths": (), "golden_triples": ()}
TWO_CALLS = (ToolCall(name="book_table", arguments={"restaurant": "The Blue Door", "guests": 4, "date": "2025-06-03"}),) * 2

CASES: dict[str, tuple[str, str, Sample, Sample]] = {
    # id: (check, code, the sample that has it, its twin that does not)
    "an empty query": ("syntax", "parse_error", sample(query=" \n"), sample()),
    "half a character": ("syntax", "parse_error", sample(query=QUERY + "\ud83d"), sample(query=QUERY + "🎈")),
    "half a character in an argument": ("syntax", "parse_error", sample(arguments={"wishes": ["\udc00"]}), sample(arguments={"wishes": ["é"]})),
    "no golden call": ("syntax", "parse_error", sample(calls=()), sample(kind="no_tool", **NOTHING)),
    "a call where no tool fits": ("syntax", "parse_error", sample(kind="no_tool"), sample(kind="no_tool", **NOTHING)),
    "one call of several": ("syntax", "parse_error", sample(kind="multi_call"), sample(kind="multi_call", calls=TWO_CALLS)),
    "a call without a name": ("syntax", "parse_error", sample(calls=(ToolCall(name=" ", arguments={}),)), sample()),
    "NaN": ("syntax", "parse_error", sample(arguments={"guests": float("nan")}), sample(arguments={"guests": 4.0})),
    "infinity in a list": ("syntax", "parse_error", sample(arguments={"wishes": [float("-inf")]}), sample(arguments={"wishes": [-1e308]})),
    "a required argument missing": ("parameters", "missing_required", sample(calls=(ToolCall(name="book_table", arguments={}),)), sample()),
    "an argument nobody declared": ("parameters", "unknown_parameter", sample(arguments={"restaurants": "x"}), sample()),
    "text for a number": ("parameters", "type_mismatch", sample(arguments={"guests": "4"}), sample(arguments={"guests": 4})),
    "true for a number": ("parameters", "type_mismatch", sample(arguments={"guests": True}), sample(arguments={"guests": 1})),
    "null for a text": ("parameters", "type_mismatch", sample(arguments={"seat": None}), sample(arguments={"seat": "INSIDE"})),
    "outside the list": ("parameters", "not_in_enum", sample(arguments={"seat": "inside"}), sample(arguments={"seat": "INSIDE"})),
    "a day that is none": ("parameters", "format_mismatch", sample(arguments={"date": "2025-06-31"}), sample(arguments={"date": "2025-06-30"})),
    "a time that is none": ("parameters", "format_mismatch", sample(arguments={"time": "7:30"}), sample(arguments={"time": "07:30"})),
    "another pattern": ("parameters", "pattern_mismatch", sample(arguments={"voucher": "AB1"}), sample(arguments={"voucher": "ABC"})),
    "a wrong item": ("parameters", "item_mismatch", sample(arguments={"wishes": ["quiet", 3]}), sample(arguments={"wishes": ["quiet"]})),
    "too many items": ("parameters", "out_of_range", sample(arguments={"wishes": ["a", "b", "c"]}), sample(arguments={"wishes": ["a", "b"]})),
    "above the maximum": ("parameters", "out_of_range", sample(arguments={"guests": 21}), sample(arguments={"guests": 20})),
    "a wrong alternative": ("parameters", "type_mismatch", sample(alternatives=((ToolCall(name="book_table", arguments={"restaurant": 1}),),)), sample()),
    "an airline for a restaurant": (
        "parameters", "wrong_entity",
        with_path("mother", "prefer_airline", arguments={"restaurant": "Kestrel Air"},
                  argument_sources={"/0/arguments/restaurant": {"source": "graph", "path": {"start": "Bob", "relations": ["mother", "prefer_airline"]}}}),
        sample(argument_sources={"/0/arguments/restaurant": SOURCE}),
    ),
    "a text for a date": ("parameters", "wrong_entity", said(" for Casa Verde", date="Casa Verde"), said("", date="2025-06-03")),
    "a value that nobody said": ("intent", "ungrounded_value", sample(arguments={"guests": 5}), sample(arguments={"guests": 4})),
    "another day than the one said": ("intent", "ungrounded_value", sample(arguments={"date": "2025-06-04"}), sample(arguments={"date": "2025-06-03"})),
    "a name that nobody said": ("intent", "ungrounded_value", said("", voucher="ABC"), said(" with voucher ABC", voucher="ABC")),
    "somebody else's fact": ("intent", "kinship_mismatch", with_path("father", "prefer_restaurant", arguments={"restaurant": "Casa Verde"}), sample()),
    "somebody else in the query": ("intent", "kinship_mismatch", sample(query=QUERY.replace("mother", "father")), sample(query=QUERY.replace("mother", "mum"))),
    "a relative whom nobody has": ("intent", "kinship_mismatch", sample(query=QUERY.replace("mother", "niece")), sample()),
    "a second person without a chain": ("intent", "kinship_mismatch", said(" next to my father"), sample()),
    "one of two brothers": ("intent", "ambiguous_answer", sample(query=QUERY.replace("mother", "brother")), sample()),
    "a number that is not used": ("intent", "unused_value", said(" with 7 chairs"), said(" with chairs")),
    "a date that is not used": ("intent", "unused_value", said(" or 9 July 2025"), sample()),
    "the answer in the query": ("intent", "answer_leaked", said(", The Blue Door"), said(", the blue doors")),
    "a tool that is not offered": ("feasibility", "tool_not_offered", sample(candidate_tools=(TAXI,)), sample(candidate_tools=(TABLE,))),
    "the tool offered where none should fit": ("feasibility", "several_tools_fit", no_tool(TABLE, TAXI), no_tool(TAXI)),
    "a fact that is not in the graph": (
        "feasibility", "triple_not_in_graph",
        sample(golden_triples=(*triples(*PATH), Triple(head="Bob", relation="mother", tail="Carla"))), sample(),
    ),
    "a path that is not in the graph": ("feasibility", "triple_not_in_graph", with_path("wife", "prefer_restaurant"), sample()),
    "a chain of another person": ("feasibility", "wrong_speaker", with_path("prefer_restaurant", start="Alice"), sample()),
    "a path with two ends": ("feasibility", "ambiguous_answer", with_path("brother", "prefer_restaurant"), sample()),
    "a golden fact on no chain": ("feasibility", "disconnected_golden", sample(golden_triples=(*triples(*PATH), *triples("father"))), sample()),
    "half a chain": ("feasibility", "disconnected_golden", sample(golden_triples=triples(*PATH)[:1]), sample()),
    "a path that gives another value": (
        "feasibility", "wrong_entity",
        sample(arguments={"restaurant": "Casa Verde"}, argument_sources={"/0/arguments/restaurant": SOURCE}),
        sample(argument_sources={"/0/arguments/restaurant": SOURCE}),
    ),
    "a fact that no argument uses": ("feasibility", "unused_value", sample(arguments={"restaurant": "Casa Verde"}), sample()),
}  # fmt: skip


def found(checked: Sample, name: str) -> Check:
    return next(check for check in check_sample(checked, GRAPH) if check.check == name)


@pytest.mark.parametrize(("check", "code", "bad", "good"), CASES.values(), ids=CASES.keys())
def test_a_check_finds_the_fault_and_does_not_find_it_in_the_twin(check: str, code: str, bad: Sample, good: Sample) -> None:
    verdict = found(bad, check)
    assert verdict.verdict == "fail"
    assert code in [finding.code for finding in verdict.findings], verdict.findings
    assert all(finding.message and finding.path.startswith("/") for finding in verdict.findings)
    assert code not in [finding.code for finding in found(good, check).findings]


def test_the_sound_sample_passes_all_four_checks() -> None:
    assert [(c.check, c.verdict, c.findings) for c in check_sample(sample(), GRAPH)] == [(name, "pass", ()) for name in CHECKS]


def test_two_tools_of_which_either_would_do_are_a_finding() -> None:
    from familytool.catalogue import tables

    first, second = next((a, b) for a, group in tables.interchangeable().items() for b in sorted(group) if a != b)
    tools = tuple(Tool(name=name, parameters={"type": "object"}) for name in (first, second))
    double = sample(candidate_tools=tools, calls=(ToolCall(name=first, arguments={}),))
    assert ("several_tools_fit", second) in [(f.code, f.value) for f in found(double, "feasibility").findings]
    single = sample(candidate_tools=(tools[0], TAXI), calls=(ToolCall(name=first, arguments={}),))
    assert "several_tools_fit" not in [f.code for f in found(single, "feasibility").findings]


UNKNOWN = {
    "parameters: the tool is not offered": ("parameters", sample(candidate_tools=(TAXI,))),
    "parameters: the schema cannot be used": (
        "parameters", sample(candidate_tools=(TABLE.model_copy(update={"parameters": {"$ref": "https://example.org/schema"}}),)),
    ),
    "feasibility: a foreign request that no tool should fit": ("feasibility", sample(kind="no_tool", candidate_tools=(TAXI,), **NOTHING)),
    "intent: a relation in other words": ("intent", sample(query=QUERY.replace("favourite restaurant", "usual haunt"))),
    "intent: an item of a list in other words": ("intent", sample(arguments={"seat": "OUTSIDE"})),
}  # fmt: skip


@pytest.mark.parametrize(("check", "undecided"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_what_rules_cannot_tell_is_unknown_and_not_a_failure(check: str, undecided: Sample) -> None:
    assert (found(undecided, check).verdict, found(undecided, check).findings) == ("unknown", ())


def test_where_a_name_stands_for_two_documents_one_that_is_satisfied_is_enough() -> None:
    other = TABLE.model_copy(update={"parameters": {"type": "object", "required": ["id"], "properties": {"id": {}}}})
    assert found(sample(candidate_tools=(other, TABLE)), "parameters").verdict == "pass"


def test_only_the_checks_that_are_named_run_and_in_their_order() -> None:
    for names in itertools.permutations(CHECKS, 2):
        assert [c.check for c in check_sample(sample(), GRAPH, chosen_checks(names))] == list(names)


def test_findings_are_the_same_each_time() -> None:
    for _, _, bad, _ in CASES.values():
        assert check_sample(bad, GRAPH) == check_sample(bad, GRAPH)
        assert all(isinstance(f, Finding) for c in check_sample(bad, GRAPH) for f in c.findings)


def test_nothing_is_said_of_a_call_that_is_expected_and_not_given() -> None:
    """Rows of BFCL's relevance sets: some call is right, and which one is not said."""
    lacking = Sample(
        id="t", benchmark="t", kind="no_graph", speaker="", query="Where can I eat?", graph_id="", candidate_tools=(TABLE,),
        provenance={"golden_not_given": True},
    )  # fmt: skip
    verdicts = {check.check: check.verdict for check in check_sample(lacking, KnowledgeGraph())}
    assert verdicts == dict.fromkeys(("syntax", "intent", "parameters", "feasibility"), "unknown")
