"""A family of three generations, and samples of it."""

from typing import Any

from familytool.graph import KnowledgeGraph
from familytool.model import RelationPath, Sample, Tool, ToolCall, Triple

PEOPLE = """
Nora mother Vera; Vera daughter Nora; Nora father Otto; Otto daughter Nora; Nora husband Piet; Piet wife Nora
Nora son Tim; Tim mother Nora; Piet son Tim; Tim father Piet; Nora brother Karl; Karl sister Nora; Nora brother Leif; Leif sister Nora
Piet mother Wilma; Wilma son Piet; Piet father Hugo; Hugo son Piet; Tim teacher Ms. Berg; Vera husband Otto; Otto wife Vera
"""
OWNERS = ("Nora", "Vera", "Otto", "Piet", "Tim", "Karl", "Leif", "Wilma", "Hugo", "Ms. Berg")
FACTS = [(h, r, " ".join(t)) for line in PEOPLE.strip().splitlines() for fact in line.split(";") for h, r, *t in [fact.split()]] + [
    (name, "prefer_cafe", f"Cafe {name.removeprefix('Ms. ')}berg") for name in OWNERS
]
FAMILY = KnowledgeGraph([Triple(head=h, relation=r, tail=t) for h, r, t in FACTS], "family")
CAFE = Tool(
    name="find_cafe",
    description="Finds a cafe.",
    parameters={
        "type": "object",
        "required": ["cafe"],
        "properties": {"cafe": {"type": "string"}, "seats": {"type": "integer"}, "day": {"type": "string"}, "contact": {"type": "string"}},
    },
)
TAXI = Tool(name="order_taxi", description="Orders a taxi.", parameters={"type": "object", "properties": {"to": {"type": "string"}}})


def chain(start: str, *relations: str) -> tuple[Triple, ...]:
    """The facts along a path of the family (the first ones, where a relation has several)."""
    return FAMILY.chains(RelationPath(start=start, relations=relations))[0]


def asked(query: str, *relations: str, speaker: str = "Nora", start: str = "", **changes: Any) -> Sample:
    """A sample of one golden chain, whose end is the cafe of its one call; `arguments` are further ones."""
    facts = chain(start or speaker, *relations)
    arguments = {"cafe": facts[-1].tail, **changes.pop("arguments", {})}
    fields: dict[str, Any] = {
        "id": "t-1", "benchmark": "t", "kind": "graph", "speaker": speaker, "query": query, "graph_id": "family",
        "candidate_tools": (CAFE, TAXI), "golden_triples": facts,
        "golden_paths": (RelationPath(start=start or speaker, relations=relations),),
        "calls": (ToolCall(name="find_cafe", arguments=arguments),),
    }  # fmt: skip
    return Sample(**{**fields, **changes})


def foreign(query: str, *calls: tuple[str, dict[str, Any]], tools: tuple[Tool, ...] = (), **changes: Any) -> Sample:
    """A sample without speaker and graph, as another benchmark has them."""
    made = tuple(ToolCall(name=name, arguments=arguments) for name, arguments in calls)
    kind = "no_tool" if not made else "no_graph" if len(made) == 1 else "multi_call"
    offered = tools or tuple(Tool(name=name, parameters={"type": "object"}) for name in dict.fromkeys(call.name for call in made))
    fields: dict[str, Any] = {
        "id": "f-1", "benchmark": "f", "kind": kind, "speaker": "", "query": query, "graph_id": "", "candidate_tools": offered, "calls": made,
    }  # fmt: skip
    return Sample(**{**fields, **changes})
