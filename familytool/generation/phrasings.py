"""Drafts in a model's words: several phrasings of one request, each read strictly, and what the text alone tells against it.

The golden call, facts and candidate tools are the draft's; a model changes the words and nothing else. It is never told the values of
the golden facts. What the words must mean is for the checks to say; here only that is refused which no check has to be asked about.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from familytool.generation.samples import MAX_WORDS, MIN_WORDS, NotBuilt
from familytool.generation.statements import statements
from familytool.generation.styles import styles
from familytool.llm.asking import Model, Reading, ask_for, closed_object, read_object
from familytool.llm.prompts import delimited, prompt_hash, render
from familytool.llm.requests import Request
from familytool.model import Json, Sample, Tool
from familytool.phrasing import fault, spoken_forms

PACKAGE = "familytool.generation"
SCHEMA = closed_object({"query": {"type": "string"}})
LONGEST_QUERY = 600
"""Characters."""
LONGEST_ANSWER = 20_000
"""Characters that are read of an answer at most."""
LONGEST_DOCUMENT = 20_000
"""Characters of a tool document that are shown whole; of a longer one name and beginning are."""

Span = tuple[int, int]


@dataclass(frozen=True)
class Phrasing:
    """One phrasing: the sample with the new words, or why there is none; the style that was asked for; and ledger keys of the calls."""

    sample: Sample | NotBuilt
    style: str
    calls: tuple[str, ...]


async def phrase(draft: Sample, seed: int, n: int, model: Model) -> list[Phrasing]:
    """`n` phrasings of a draft, asked for together, in the order of their styles."""
    prompts = _prompts(draft, seed, n, model)
    asked = [
        asyncio.ensure_future(ask_for(model, prompt, SCHEMA, "query", read_query, sample_index=number, of=n))
        for number, (_, prompt) in enumerate(prompts)
    ]
    try:
        readings = await asyncio.gather(*asked)
    finally:
        for task in asked:  # where one has raised, the others are not left behind
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
    return [
        Phrasing(_phrased(draft, reading, style, model), style, reading.keys) for (style, _), reading in zip(prompts, readings, strict=True)
    ]


def phrase_requests(draft: Sample, seed: int, n: int, model: Model) -> list[Request]:
    """What `phrase` asks if every answer can be read at once."""
    return [model.request(prompt, SCHEMA, number) for number, (_, prompt) in enumerate(_prompts(draft, seed, n, model))]


def read_query(text: str) -> str:
    """The query of an answer, in Unicode's composed form (ValueError: it is not `{"query": "..."}`)."""
    if len(text) > LONGEST_ANSWER:
        raise ValueError(f"{len(text):,} characters are too many")
    value = read_object(text)
    if set(value) != {"query"} or not isinstance(value["query"], str):
        raise ValueError("expected an object with the text 'query' and nothing else")
    return unicodedata.normalize("NFC", value["query"]).strip()


def asked_tools(sample: Sample) -> list[str]:
    """The tools that a sample's query asks for, also where none of them is offered."""
    if sample.calls:
        return [call.name for call in sample.calls]
    return [clause["tool"] for clause in sample.provenance.get("wording") or ()] or list(sample.provenance.get("tools", ()))


def _prompts(draft: Sample, seed: int, n: int, model: Model) -> list[tuple[str, str]]:
    """(style, prompt) of each phrasing; they hang on the seed and the draft's place in its stratum."""
    origin = draft.provenance
    rng = random.Random(f"{seed}/{origin.get('stratum', '')}/{origin.get('candidate', draft.id)}/styles")
    documents = [tool for name in dict.fromkeys(asked_tools(draft)) for tool in draft.candidate_tools if tool.name == name]
    stated, unsaid = _things(draft)
    if not draft.calls:
        stated = ["everything that the draft says"]
    parts = {
        "tools": "\n\n".join(_delimited("tool", _document(tool)) for tool in documents) or "(The assistant has no tool for it.)",
        "stated": "Said outright:\n" + _delimited("stated", "\n".join(stated) or "nothing"),
        "unsaid": "Never said:\n" + _delimited("unsaid", "\n".join(unsaid) or "nothing"),
        "draft": _delimited("draft", draft.query),
    }
    template = model.template(PACKAGE, "phrase")
    return [(style, render(template, {**parts, "style": style})) for style in styles(rng, n)]


def _delimited(name: str, text: str) -> str:
    """Foreign text between tags; nothing in it opens or closes one."""
    return delimited(name, text.replace("<", "&lt;"))


def _document(tool: Tool) -> str:
    shown: dict[str, Json] = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    text = json.dumps(shown, ensure_ascii=False)
    if len(text) > LONGEST_DOCUMENT:
        text = json.dumps({"name": tool.name[:200], "description": tool.description[:2_000]}, ensure_ascii=False)
    return text


def _things(draft: Sample) -> tuple[list[str], list[str]]:
    """A line for each value that the draft states, and one for each fact that it asks for: the parameter, the draft's words, the value."""
    found: dict[tuple[Span, str], tuple[str, list[Json]]] = {}
    for pointer, source, span in _spans(draft):
        found.setdefault((span, source), (_label(draft, pointer), []))[1].append(value_at(draft, pointer))
    stated: list[str] = []
    unsaid: list[str] = []
    for (span, source), (label, values) in found.items():
        words = json.dumps(draft.query[slice(*span)], ensure_ascii=False)
        line = f"- {label}: the draft says {words}"
        if source == "graph":
            unsaid.append(line)
            continue
        value = json.dumps(values if len(values) > 1 else values[0], ensure_ascii=False)
        stated.append(line + (f" for {value}" if value != words else ""))
    return stated, unsaid


def _label(draft: Sample, pointer: str) -> str:
    """A parameter as a prompt names it: dotted where it is in an object, with its tool where there are several."""
    number, _, *keys = _keys(pointer)
    name = ".".join(key for key in keys if not key.isdigit())
    return f"{draft.calls[int(number)].name}.{name}" if len(draft.calls) > 1 else name


def _spans(sample: Sample) -> Iterator[tuple[str, str, Span]]:
    """(pointer, "graph" or "query", span) of all values whose words are recorded."""
    for pointer, source in sample.argument_sources.items():
        span = source.get("span")
        if source.get("source") in ("graph", "query") and isinstance(span, list) and len(span) == 2:
            yield pointer, str(source["source"]), (span[0], span[1])


def value_at(sample: Sample, pointer: str) -> Json:
    """The argument value that a pointer of `argument_sources` leads to (KeyError, IndexError: to none)."""
    number, _, *keys = _keys(pointer)
    value: Json = sample.calls[int(number)].arguments
    for key in keys:
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def _keys(pointer: str) -> list[str]:
    return [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]]


def _phrased(draft: Sample, reading: Reading, style: str, model: Model) -> Sample | NotBuilt:
    """The draft with the words of an answer."""
    if reading.code:
        return NotBuilt(reading.code, reading.message)
    query: str = reading.value
    trouble = query_fault(query, draft)
    if trouble is not None:
        return trouble
    origin = {key: value for key, value in draft.provenance.items() if key != "wording"}
    spans = {pointer: list(span) for pointer, _, span in _spans(draft)}
    origin["draft"] = {"query": draft.query, "spans": spans, "wording": draft.provenance.get("wording")}
    origin |= {
        "writer": model.id,
        "style": style,
        "tools": asked_tools(draft),
        "prompts": {"phrase": prompt_hash(PACKAGE, "phrase", model.prompts)},
    }
    if query.casefold() == draft.query.casefold():
        origin["unchanged"] = True
    return draft.model_copy(update={"query": query, "argument_sources": _sources(draft, query), "provenance": origin})


def query_fault(query: str, draft: Sample) -> NotBuilt | None:
    """Why a text cannot be the query of this draft's call, seen from the text alone; None where that is for the checks to say."""
    if len(query) > LONGEST_QUERY:
        return NotBuilt("length", f"{len(query):,} characters; a query has at most {LONGEST_QUERY}")
    if len(query.splitlines()) > 1:
        return NotBuilt("several_lines", f"{len(query.splitlines())} lines; a query is one")
    if not query.isprintable():
        odd = next(character for character in query if not character.isprintable())
        return NotBuilt("unprintable", f"the query holds U+{ord(odd):04X}, which is not printed")
    if not MIN_WORDS <= len(query.split()) <= MAX_WORDS:
        return NotBuilt("length", f"{len(query.split())} words; a query has {MIN_WORDS} to {MAX_WORDS}")
    leftover = fault(query)
    if leftover:
        return NotBuilt("leftover", f"the query has a leftover: {leftover!r}")
    leaked = _leaked(query, draft)
    if leaked:
        return NotBuilt("answer_leaked", f"the query says '{leaked}', which has to be found in the graph")
    return None


def _leaked(query: str, draft: Sample) -> str:
    """The first golden value, or person on the way to one, that the query says and the draft does not, in any form; or "".

    Bare numbers are left to the checks: a "7" may be a part of anything.
    """
    for triple in draft.golden_triples:
        for name in (triple.head, triple.tail):
            if name == draft.speaker or name.isdigit():
                continue
            if any(places_of(form, query) and not places_of(form, draft.query) for form in _forms(name)):
                return name
    return ""


def _forms(value: Json) -> tuple[str, ...]:
    """The ways to say a value of which its own form decides: dates, times and small numbers have several."""
    try:
        return spoken_forms(str(value), "count")
    except ValueError:  # what looks like a date and is none
        return (str(value),)


def _sources(draft: Sample, query: str) -> dict[str, dict[str, Json]]:
    """Where the values of the draft come from, with their places in another text: only those that are beyond doubt."""
    found = {pointer: {key: value for key, value in source.items() if key != "span"} for pointer, source in draft.argument_sources.items()}
    for pointer, source, span in _spans(draft):
        forms = [draft.query[slice(*span)]]
        value = value_at(draft, pointer)
        if source == "query" and not isinstance(value, bool):
            forms += _forms(value)
        place = _place(forms, query, source == "graph")
        if place is not None:
            found[pointer]["span"] = list(place)
    return found


def _place(forms: list[str], text: str, is_fact: bool) -> Span | None:
    """The one place where a text says the first of these forms that it says at all; None where it says none, or that one twice.

    The words of a fact are not said by those of somebody's or something's ("my mum" is not in "my mum's brother").
    """
    for form in forms:
        places = [p for p in places_of(form, text) if not (is_fact and text[p[1] : p[1] + 2] in ("'s", "’s"))]
        if places:
            return places[0] if len(places) == 1 else None
    return None


def places_of(words: str, text: str) -> list[Span]:
    """All places where a text says these words whole, case and the form of apostrophes aside.

    A number is not said by a date or a time.

    >>> places_of("my mum's", "Call My Mum’s dentist, my mum's"), places_of("2", "2 seats on 2 June 2025")
    ([(5, 13), (23, 31)], [(0, 1)])
    """
    if not words.strip():
        return []
    pattern = re.escape(words.replace("’", "'")).replace("'", "['’]")
    before, after = (r"(?<!\w)" if words[0].isalnum() else ""), (r"(?!\w)" if words[-1].isalnum() else "")
    places = [found.span() for found in re.finditer(before + pattern + after, text, re.IGNORECASE)]
    if words.isdigit():
        taken = [s for s in statements(text) if s.kind != "number"]
        places = [(start, end) for start, end in places if not any(s.start < end and start < s.end for s in taken)]
    return places
