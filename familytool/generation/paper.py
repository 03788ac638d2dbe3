"""The paper's method (section 3): a model writes a query from a small graph, and its answer in a second call; then the golden facts
are traced, and the facts that the answer uses become the sample's graph.

Nothing is repaired and nothing taken on trust: an answer with a value of unknown origin, or with more or fewer facts than its stratum
wants, is no sample.
"""

from __future__ import annotations

import json
import random
import unicodedata
from dataclasses import dataclass

from familytool.generation.candidates import Catalogue
from familytool.generation.preferences import World
from familytool.generation.prompt_graph import PromptGraph, draw_prompt_graph
from familytool.generation.samples import MAX_WORDS, MIN_WORDS, NotBuilt, Order, offer_tools, sample_id
from familytool.generation.tracing import Traced, path_of, shortest_chains, trace
from familytool.generation.usable import status_of
from familytool.generation.written import Written
from familytool.kgetool.parse import parse_calls
from familytool.llm.asking import ATTEMPTS, Model, ask_for, closed_object, read_object
from familytool.llm.prompts import delimited, prompt_hash, render
from familytool.llm.requests import Request
from familytool.model import Json, Sample, Tool, ToolCall
from familytool.phrasing import fault

PACKAGE = "familytool.generation"
QUERY_SCHEMA = closed_object({"query": {"type": "string"}})
STYLES = (
    "",
    "It is short and plain.",
    "It is polite.",
    "It sounds like a spoken message to an assistant.",
    "It is a question.",
    "It begins with what the speaker wants to do.",
)
LONGEST_DOCUMENT = 20_000
LONGEST_QUERY = 600
LONGEST_ANSWER = 20_000
"""Characters; what is longer is not asked about, or no query or answer."""

COPIED_WORDS = 8
"""So many words in a row that a query shares with its prompt are copied and not written."""

PLACEHOLDER = "Please do that for me with what my mother would choose, on 3 June 2025."
"""Stands for a query that is not written yet, in an estimate."""


@dataclass(frozen=True)
class _Task:
    """All that an order determines before a model is asked: the small graph, the documents to show, and the tools to offer."""

    order: Order
    small: PromptGraph
    documents: tuple[Tool, ...]
    offered: tuple[Tool, ...]
    style: str
    model: Model

    @property
    def tools(self) -> str:
        return "\n\n".join(delimited("tool", _as_text(document)) for document in self.documents)

    def query_prompt(self) -> str:
        return render(
            self.model.template(PACKAGE, "query_from_graph"),
            {
                "speaker": self.small.speaker,
                "needs": _needs(self.order),
                "style": self.style,
                "tool": self.tools,
                "graph": delimited("graph", self.small.as_text()),
            },
        )

    def answer_prompt(self, query: str) -> str:
        return render(
            self.model.template(PACKAGE, "answer"),
            {
                "speaker": self.small.speaker,
                "tool": self.tools,
                "graph": delimited("graph", self.small.as_text()),
                "request": delimited("request", query.replace("<", "&lt;")),
            },
        )

    def answer_schema(self) -> dict[str, Json]:
        """Calls of the order's tools; their arguments are JSON text, since a closed schema cannot hold optional ones."""
        name = {"type": "string", "enum": [document.name for document in self.documents]}
        call = closed_object({"name": name, "arguments": {"type": "string"}})
        return closed_object({"tool_calls": {"type": "array", "items": call}})


async def write_from_graph(order: Order, world: World, catalogue: Catalogue, model: Model) -> Written:
    """The candidate that a model writes for an order, in two calls, or why there is none.

    A request for a tool that is not offered (`no_tool`) is written with no facts to look up and has no second call; one that needs no
    facts (`no_graph`) is written from the tool alone.
    """
    task = _prepare(order, world, catalogue, model)
    if isinstance(task, NotBuilt):
        return Written(task)
    prompt = task.query_prompt()
    # Two orders can have equal prompts where there is no graph: their calls are different samples of one prompt, tries included.
    asked = await ask_for(model, prompt, QUERY_SCHEMA, "query", _read_query, sample_index=ATTEMPTS * order.number)
    if asked.code:
        return Written(NotBuilt(asked.code, asked.message), asked.keys)
    query: str = asked.value
    trouble = _query_trouble(query, prompt)
    if trouble is not None:
        return Written(trouble, asked.keys)
    if order.kind == "no_tool":
        return Written(_sample(task, world, model, query, (), Traced((), (), {})), asked.keys)
    answered = await ask_for(model, task.answer_prompt(query), task.answer_schema(), "answer", _read_calls)
    keys = (*asked.keys, *answered.keys)
    if answered.code:
        return Written(NotBuilt(answered.code, answered.message), keys)
    calls: tuple[ToolCall, ...] = answered.value
    traced = _call_trouble(calls, order) or _traced(task, world, query, calls)
    if isinstance(traced, NotBuilt):
        return Written(traced, keys)
    return Written(_sample(task, world, model, query, calls, traced), keys)


def paper_requests(order: Order, world: World, catalogue: Catalogue, model: Model) -> list[Request]:
    """What an order would ask first, for an estimate: the query, and the answer to a placeholder; none where nothing would be asked."""
    task = _prepare(order, world, catalogue, model)
    if isinstance(task, NotBuilt):
        return []
    requests = [model.request(task.query_prompt(), QUERY_SCHEMA, ATTEMPTS * order.number)]
    if order.kind != "no_tool":
        requests.append(model.request(task.answer_prompt(PLACEHOLDER), task.answer_schema()))
    return requests


def _prepare(order: Order, world: World, catalogue: Catalogue, model: Model) -> _Task | NotBuilt:
    documents = tuple(catalogue.pool[tool.name] for tool in order.tools)
    longest = max(documents, key=lambda document: len(_as_text(document)))
    if len(_as_text(longest)) > LONGEST_DOCUMENT:
        return NotBuilt("document_too_long", f"the document of {longest.name} has more than {LONGEST_DOCUMENT} characters")
    small = draw_prompt_graph(order, world)
    if isinstance(small, NotBuilt):
        return small
    offered = offer_tools(random.Random(f"{order.seed}/{order.stratum}/{order.number}/candidates"), order, catalogue)
    if isinstance(offered, NotBuilt):
        return offered
    style = random.Random(f"{order.seed}/{order.stratum}/{order.number}/style").choice(STYLES)
    return _Task(order, small, documents, offered, style, model)


def _as_text(tool: Tool) -> str:
    """A document as a prompt shows it: nothing in it can open or close a tag."""
    shown = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return json.dumps(shown, ensure_ascii=False).replace("<", "\\u003c")


def _needs(order: Order) -> str:
    """What has to be looked up, as the prompt says it."""
    hops = sum(map(sum, order.lengths))
    several = "The request asks for two things, one from each tool. " if len(order.tools) > 1 else ""
    if not hops:
        return several + "The graph is empty and no relative is mentioned: every value that the call needs is said outright."
    values = [
        f"{'one that lies' if number == 0 else 'and one'} {length} {'fact' if length == 1 else 'facts'} away from the speaker"
        + (f" (for {tool.name})" if len(order.tools) > 1 else "")
        for number, (tool, length) in enumerate(
            (tool, length) for tool, ls in zip(order.tools, order.lengths, strict=True) for length in ls
        )
    ]
    return (
        f"{several}The request uses the graph as much as possible: exactly {hops} of its facts have to be followed, from the speaker on, "
        f"to find the values of the call: {', '.join(values)}. A relative is one fact away, what is known of that relative one more."
    )


def _read_query(text: str) -> str:
    """The query of an answer (ValueError: it is not `{"query": "..."}`)."""
    if len(text) > LONGEST_ANSWER:
        raise ValueError(f"{len(text):,} characters are too many")
    value = read_object(text)
    if set(value) != {"query"} or not isinstance(value["query"], str):
        raise ValueError("expected an object with the text 'query' and nothing else")
    return unicodedata.normalize("NFC", value["query"]).strip()


def _query_trouble(query: str, prompt: str) -> NotBuilt | None:
    """Why a text is no query, seen from the text alone."""
    if not query.isprintable():
        return NotBuilt("unprintable", "the query has a line break or another character that is not printed")
    if len(query) > LONGEST_QUERY or not MIN_WORDS <= len(query.split()) <= MAX_WORDS:
        size = f"{len(query.split())} words and {len(query)} characters"
        return NotBuilt("length", f"{size}; a query has {MIN_WORDS} to {MAX_WORDS} words and at most {LONGEST_QUERY} characters")
    leftover = fault(query)
    if leftover:
        return NotBuilt("leftover", f"the query has a leftover: {leftover!r}")
    copied = _copied(query, prompt)
    return NotBuilt("copied", f"the query copies its prompt: {copied!r}") if copied else None


def _copied(query: str, prompt: str) -> str:
    """The first words that a query shares with its prompt, if they are many in a row, or ""."""
    words, source = _plain_words(query), _plain_words(prompt)
    runs = {tuple(source[at : at + COPIED_WORDS]) for at in range(len(source) - COPIED_WORDS + 1)}
    found = (words[at : at + COPIED_WORDS] for at in range(len(words) - COPIED_WORDS + 1))
    return next((" ".join(run) for run in found if tuple(run) in runs), "")


def _plain_words(text: str) -> list[str]:
    return "".join(character if character.isalnum() else " " for character in text.lower()).split()


def _read_calls(text: str) -> tuple[ToolCall, ...]:
    """The calls of an answer, read strictly (ValueError: it cannot be read)."""
    if len(text) > LONGEST_ANSWER:
        raise ValueError(f"{len(text):,} characters are too many")
    parsed = parse_calls(text)
    if parsed.faults:
        raise ValueError(parsed.faults[0].message)
    return tuple(ToolCall(name=call["name"], arguments=call["arguments"]) for call in parsed.calls)


def _call_trouble(calls: tuple[ToolCall, ...], order: Order) -> NotBuilt | None:
    """Why these are not one call of each tool that the order wants."""
    wanted, called = sorted(tool.name for tool in order.tools), sorted(call.name for call in calls)
    if called == wanted:
        return None
    if not called:
        return NotBuilt("no_call", f"the answer calls nothing; {', '.join(wanted)} was to be called")
    other = next((name for name in called if name not in wanted), None)
    if other is not None:
        return NotBuilt("other_tool", f"the answer calls {other[:80]!r}; {', '.join(wanted)} was to be called")
    return NotBuilt("other_calls", f"the answer calls {', '.join(called[:10])}; {', '.join(wanted)} was to be called, once each")


def _traced(task: _Task, world: World, query: str, calls: tuple[ToolCall, ...]) -> Traced | NotBuilt:
    """The facts of an answer, traced in the small graph, as many as the stratum wants, and as plain in the whole graph as in the small one."""
    documents = {document.name: document for document in task.documents}
    traced = trace(calls, documents, query, task.small.speaker, task.small.graph)
    if isinstance(traced, NotBuilt):
        return traced
    wanted = sum(map(sum, task.order.lengths))
    if len(traced.triples) != wanted:
        return NotBuilt("other_hops", f"traced {len(traced.triples)} hops, the stratum wants {wanted}")
    whole = shortest_chains(world.graph, task.small.speaker) if traced.paths else {}
    for path in traced.paths:
        ends = world.graph.follow(path)
        chains = whole.get(ends[0], ()) if len(ends) == 1 else ()
        if len(chains) != 1 or path_of(chains[0]) != path:
            return NotBuilt(
                "ambiguous_trace", f"in the whole graph {', '.join(path.relations)} is not the one way from {path.start} to one end"
            )
    return traced


def _sample(task: _Task, world: World, model: Model, query: str, calls: tuple[ToolCall, ...], traced: Traced) -> Sample:
    order = task.order
    prompts = ("query_from_graph",) if order.kind == "no_tool" else ("query_from_graph", "answer")
    return Sample(
        id=sample_id(order),
        benchmark=order.benchmark,
        kind=order.kind,
        speaker=task.small.speaker,
        query=query,
        graph_id=world.graph_id,
        candidate_tools=task.offered,
        golden_triples=traced.triples,
        golden_paths=traced.paths,
        calls=calls,
        argument_sources=traced.sources,
        category=order.tools[0].category,
        provenance={
            "stratum": order.stratum,
            "candidate": order.number,
            "seed": order.seed,
            "now": order.now.isoformat(),
            "writer": model.id,
            "method": "paper",
            "documents": [status_of(tool.tool) for tool in order.tools],
            "tools": [tool.name for tool in order.tools],
            "small_graph": [[t.head, t.relation, t.tail] for t in task.small.graph],
            "prompts": {name: prompt_hash(PACKAGE, name, model.prompts) for name in prompts},
        },
    )
