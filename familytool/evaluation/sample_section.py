"""The samples of a report: the query, the facts it needs as a drawing, the golden call, and the tools that were offered."""

from __future__ import annotations

import json
from collections.abc import Mapping

from familytool.evaluation.labels import stratum_label
from familytool.html.parts import Html, Section, code, folded, foreign, join, number, paragraph, shorten, spelled, text
from familytool.html.path_graph import PATH_SHADES, Grounding, groundings, path_graph
from familytool.model import Json, Sample, ToolCall

MAX_QUERY = 700
"""Characters of a query that are shown at once; the rest opens on demand."""
MAX_CALL = 4000


def samples_section(examples: tuple[Sample, ...], total: int) -> Section:
    """A few samples, each on a card of its own."""
    key = Html(
        '<p class="note"><mark class="p0">Marked</mark> words stand for something that only the graph tells; '
        '<span class="said">dotted</span> words are in the query as they are needed. The marks return in the graph and in the call.</p>'
    )
    body = join([key, Html("<br>"), *(_sample(sample, index) for index, sample in enumerate(examples, 1))])
    lead = f"{number(len(examples))} of {number(total)}: the query, the facts it needs, the golden call, and the tools that were offered."
    return Section("samples", "Samples", body, lead)


def _sample(sample: Sample, index: int) -> Html:
    known = groundings(sample)
    called = {call.name for call in sample.calls}
    chips = join(
        Html(
            f'<li class="golden mono">{text(shorten(spelled(tool.name), 80))}<span class="hidden"> (golden)</span></li>'
            if tool.name in called
            else f'<li class="mono">{text(shorten(spelled(tool.name), 80))}</li>'
        )
        for tool in sample.candidate_tools
    )
    graph = path_graph(sample, f"sample-{index}")
    drawn = (
        Html(f'<div class="graph-box" tabindex="0" role="region" aria-label="Golden paths">{graph}</div>') if graph else _no_graph(sample)
    )
    calls = join(call_shown(call, number_, known) for number_, call in enumerate(sample.calls))
    if not sample.calls:
        calls = paragraph("No call: none of the offered tools can do this.", "none")
    if sample.alternatives:
        n = len(sample.alternatives)
        calls = join(
            [calls, paragraph(f"{n} other {'form' if n == 1 else 'forms'} of this answer also {'counts' if n == 1 else 'count'}.", "note")]
        )
    facts = [stratum_label(f"hop{sample.hops}") if sample.kind == "graph" else stratum_label(sample.kind)]
    facts += [f"shape {shorten(sample.shape, 30)}"] if sample.golden_paths else []
    facts += [sample.category] if sample.category else []
    facts += [f"twin of {shorten(sample.twin_of, 60)}"] if sample.twin_of else []
    told = join(Html(f"<span>{foreign(shorten(fact, 80))}</span>") for fact in facts)
    heading = "Golden calls, in this order" if sample.ordered else "Golden calls" if len(sample.calls) > 1 else "Golden call"
    return Html(
        f'<article class="card sample" aria-labelledby="sample-{index}-h"><header><h3 id="sample-{index}-h">{code(shorten(sample.id, 120))}</h3>{told}</header>'
        f"{query_shown(sample, known)}{drawn}"
        f'<div class="split"><div><h4>{heading}</h4>{calls}</div>'
        f'<div><h4>Candidate tools ({len(sample.candidate_tools)})</h4><ul class="chips">{chips}</ul></div></div></article>\n'
    )


def _no_graph(sample: Sample) -> Html:
    return paragraph("No fact of the graph is needed." if sample.kind in ("no_graph", "no_tool") else "No golden facts are given.", "none")


def query_shown(sample: Sample, known: tuple[Grounding, ...]) -> Html:
    """The query with the words marked that arguments come from; a very long one opens on demand."""
    shown = sample.query[:MAX_QUERY]
    pieces: list[object] = []
    at = 0
    for place in sorted((g for g in known if g.span), key=lambda g: g.span or (0, 0)):
        start, end = place.span or (0, 0)
        if start < at or end > len(shown):
            continue
        pieces += [shown[at:start], _marked(shown[start:end], place)]
        at = end
    pieces.append(shown[at:])
    rest = Html("")
    if len(sample.query) > MAX_QUERY:
        pieces.append("…")
        rest = folded(
            f"The whole query, {number(len(sample.query))} characters", Html(f'<blockquote dir="auto">{text(sample.query)}</blockquote>')
        )
    return Html(f'<blockquote dir="auto">{join(pieces)}</blockquote>{rest}')


def _marked(words: str, place: Grounding | None) -> Html:
    if place is None or place.source not in ("graph", "query"):
        return text(words)
    if place.source == "query":
        return Html(f'<span class="said">{text(words)}</span>')
    return Html(f'<mark class="p{(place.path or 0) % PATH_SHADES}">{text(words)}</mark>')


def call_shown(call: ToolCall, index: int, known: tuple[Grounding, ...]) -> Html:
    """A call as JSON, the arguments marked by where they come from."""
    sources = {g.keys: g for g in reversed(known) if g.call == index}
    try:
        whole = json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False, indent=2)
        if len(whole) > MAX_CALL:
            return folded(f"A call of {number(len(whole))} characters", Html(f"<pre>{text(spelled(whole))}</pre>"))
        arguments = _json(call.arguments, (), sources, 4)
    except RecursionError:
        return paragraph("A call nested too deeply to be shown.", "none")
    name = spelled(json.dumps(call.name, ensure_ascii=False))
    return Html(f"<pre>{join(['{', *_lines(name, arguments), '}'])}</pre>")


def _json(value: Json, keys: tuple[str, ...], sources: Mapping[tuple[str, ...], Grounding], indent: int) -> Html:
    """A JSON value, indented; what came from the graph or the query is marked, down to the single value."""
    if isinstance(value, dict) and value:
        inner = [
            join([spelled(json.dumps(key, ensure_ascii=False)), ": ", _json(item, (*keys, key), sources, indent + 2)])
            for key, item in value.items()
        ]
        return _block("{", inner, "}", indent)
    if isinstance(value, list | tuple) and value:
        return _block("[", [_json(item, (*keys, str(at)), sources, indent + 2) for at, item in enumerate(value)], "]", indent)
    return _marked(spelled(json.dumps(value, ensure_ascii=False)), _nearest(keys, sources))


def _nearest(keys: tuple[str, ...], sources: Mapping[tuple[str, ...], Grounding]) -> Grounding | None:
    """The source of a value, or of the argument that it is part of."""
    return next((sources[keys[:n]] for n in range(len(keys), 0, -1) if keys[:n] in sources), None)


def _block(opening: str, items: list[Html], closing: str, indent: int) -> Html:
    margin = "\n" + " " * indent
    return join([opening, margin, join(items, "," + margin), margin[:-2], closing])


def _lines(name: str, arguments: Html) -> list[object]:
    return ['\n  "name": ', name, ',\n  "arguments": ', arguments, "\n"]
