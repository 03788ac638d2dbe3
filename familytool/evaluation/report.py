"""The report of a benchmark run: one HTML file that holds all it shows.

It is drawn from `ReportFacts` alone, which the pipeline gathers; equal facts give equal bytes (no clock, no random).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from familytool.html.parts import (
    Bar,
    Html,
    Section,
    Stack,
    Tile,
    Tone,
    bar_chart,
    card,
    code,
    folded,
    foreign,
    grid,
    join,
    legend,
    number,
    page,
    paragraph,
    percent,
    shorten,
    spelled,
    stacked_bars,
    table,
    text,
    tiles,
    verdicts,
)
from familytool.html.path_graph import PATH_SHADES, Grounding, groundings, path_graph
from familytool.model import Json, Sample, ToolCall

MAX_QUERY = 700
"""Characters of a query that are shown at once; the rest opens on demand."""
MAX_CALL = 4000
STRATA = {"no_graph": "no graph needed", "no_tool": "no tool fits", "multi_call": "several calls"}
CHECK_SHADES = {"generate": "s5", "duplicates": "s2", "syntax": "s4", "intent": "s3", "parameters": "s1", "feasibility": "s4"}
STATUS_SHADES = {"ok": "s0", "partly-typed": "s4", "untyped": "s2", "partial": "s3"}
STATUS_MEANING = (
    "ok: read as it stands; partly-typed or untyped: some or all parameters name no type; partial: something is left out or was repaired"
)

Figure = int | float | str | None


@dataclass(frozen=True)
class StratumFunnel:
    """What became of a stratum's candidates; `rejected` counts by reason, `check: code`."""

    candidates: int
    accepted: int
    rejected: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class GraphFacts:
    """The size of the knowledge graph."""

    nodes: int
    edges: int
    relation_types: int
    people: int


@dataclass(frozen=True)
class Baseline:
    """A shortcut that needs no understanding: its chance of being right, overall and by hop, and the most it should reach (or no goal)."""

    name: str
    meaning: str
    overall: float | None
    by_hop: Mapping[str, float | None] = field(default_factory=dict)
    goal: float | None = None

    @property
    def is_within_goal(self) -> bool:
        """Whether it stays at or below its goal; true where it has none or was not measured."""
        return self.goal is None or self.overall is None or self.overall <= self.goal


@dataclass(frozen=True)
class GoldReplay:
    """The golden answers scored as if a model had given them: every metric is 1 or does not apply (None)."""

    scores: Mapping[str, float | None]
    n: int


@dataclass(frozen=True)
class Comparison:
    """A figure of a publication beside ours; `where` says in which table it stands."""

    name: str
    theirs: Figure
    ours: Figure
    where: str = ""


@dataclass(frozen=True)
class ReportFacts:
    """All that a report shows. Counts are of samples unless said otherwise; parts that are not given are left out."""

    campaign: str
    seed: int
    now: str
    samples: int
    by_hop: Mapping[str, int]
    by_depth: Mapping[str, int]
    by_shape: Mapping[str, int]
    by_category: Mapping[str, int]
    tools: Mapping[str, int]
    """Golden calls by tool."""
    candidate_sizes: Mapping[int, int]
    """Samples by the number of candidate tools they offer."""
    graph: GraphFacts
    funnel: Mapping[str, StratumFunnel]
    document_statuses: Mapping[str, int] = field(default_factory=dict)
    gold_replay: GoldReplay | None = None
    baselines: tuple[Baseline, ...] = ()
    examples: tuple[Sample, ...] = ()
    comparison: tuple[Comparison, ...] = ()
    compared_with: str = "the paper"
    files: Mapping[str, str] = field(default_factory=dict)
    """What can be found where: a name and a path."""
    version: str = ""


def render_report(facts: ReportFacts) -> str:
    """The report as one HTML document without scripts that loads nothing."""
    sections = [
        _numbers(facts),
        _hops(facts),
        _categories(facts),
        *([_funnel(facts)] if facts.funnel else []),
        *([_baselines(facts)] if facts.baselines else []),
        *([_gold_replay(facts.gold_replay)] if facts.gold_replay else []),
        *([_comparison(facts)] if facts.comparison else []),
        _tools(facts),
        *([_samples(facts)] if facts.examples else []),
        _provenance(facts),
    ]
    return page(
        f"{facts.campaign} benchmark",
        sections,
        over="familytool report",
        subtitle=f"{number(facts.samples)} samples of personalised tool use over a family knowledge graph. Seed {facts.seed}, frozen date {facts.now}.",
        footer=f"Written by familytool{' ' + facts.version if facts.version else ''}. This page loads nothing and needs no network.",
    )


def _numbers(facts: ReportFacts) -> Section:
    candidates = sum(f.candidates for f in facts.funnel.values())
    accepted = sum(f.accepted for f in facts.funnel.values())
    hops = [(int(name[3:]), n) for name, n in facts.by_hop.items() if name.startswith("hop") and name[3:].isdecimal()]
    with_hops = sum(n for _, n in hops)
    mean = math.fsum(hop * n for hop, n in hops) / with_hops if with_hops else None
    offered = sum(facts.candidate_sizes.values())
    mean_offered = math.fsum(size * n for size, n in facts.candidate_sizes.items()) / offered if offered else None
    shown = [
        Tile("samples", number(facts.samples), f"{number(candidates)} candidates tried" if candidates else ""),
        Tile("hops on average", number(mean, 2), f"{len(facts.by_hop)} strata"),
        Tile("tools with golden calls", number(len(facts.tools)), f"{number(sum(facts.tools.values()))} golden calls"),
        Tile("candidate tools on average", number(mean_offered, 1), _range(facts.candidate_sizes)),
        Tile("facts in the graph", number(facts.graph.edges), f"{number(facts.graph.relation_types)} relation types"),
        Tile("entities", number(facts.graph.nodes), f"{number(facts.graph.people)} people"),
        Tile("categories", number(len(facts.by_category))),
        Tile("candidates accepted", percent(accepted / candidates if candidates else None), f"{number(candidates - accepted)} rejected"),
    ]
    return Section("numbers", "Numbers", join([verdicts(_verdicts(facts)), tiles(shown)]))


def _range(sizes: Mapping[int, int]) -> str:
    return f"{min(sizes)} to {max(sizes)} a sample" if sizes else ""


def _verdicts(facts: ReportFacts) -> Iterable[tuple[Tone, str]]:
    """What a reader should know first: is the benchmark sound?"""
    lost = {name: f.candidates - f.accepted - sum(f.rejected.values()) for name, f in facts.funnel.items()}
    wrong = [name for name, n in lost.items() if n]
    if wrong:
        yield "warn", f"The funnel does not add up in {', '.join(shorten(w, 30) for w in wrong[:5])}."
    elif facts.funnel:
        yield "good", "Every candidate is accounted for: accepted, or rejected with a reason."
    if facts.gold_replay:
        yield _replay_verdict(facts.gold_replay)
    measured = [b for b in facts.baselines if b.goal is not None and b.overall is not None]
    over = [b.name for b in measured if not b.is_within_goal]
    if over:
        yield "warn", f"Shortcuts above their goal: {len(over)} of {len(measured)} ({', '.join(shorten(n, 30) for n in over[:5])})."
    elif measured:
        yield "good", f"Shortcuts within their goal: {len(measured)} of {len(measured)}."


def _replay_verdict(replay: GoldReplay) -> tuple[Tone, str]:
    applied = {name: value for name, value in replay.scores.items() if value is not None}
    low = [name for name, value in applied.items() if value != 1]
    if not applied:
        return "warn", f"Gold replay: no metric applies to the {number(replay.n)} samples."
    if low:
        return "warn", f"Gold replay: {len(low)} of {len(applied)} metrics not at 1 ({', '.join(shorten(n, 40) for n in low[:5])})."
    return "good", f"Gold replay: {len(applied)} of {len(applied)} metrics that apply are 1, over {number(replay.n)} samples."


def _hops(facts: ReportFacts) -> Section:
    depth = sorted(facts.by_depth.items(), key=lambda item: (not item[0].isdecimal(), item[0].zfill(9)))
    sizes = {f"{size} tools": n for size, n in sorted(facts.candidate_sizes.items())}
    hop = bar_chart("chart-hop", "Samples by hop", _counts(facts.by_hop, facts.samples, stratum_label))
    shape = bar_chart("chart-shape", "Samples by shape", _counts(_largest_first(facts.by_shape), facts.samples, _chain_label))
    offered = bar_chart("chart-candidates", "Samples by number of candidate tools", _counts(sizes, facts.samples))
    deep = bar_chart("chart-depth", "Samples by depth", _counts(dict(depth), facts.samples, _chain_label))
    left = join([card(hop, "By hop"), card(shape, "By shape")])
    right = join([card(offered, "By number of candidate tools"), card(deep, "By depth")])
    lead = "A hop is a fact that a sample needs. Its depth is the longest chain of facts; its shape lists the lengths of its chains, so that 2+1 is a chain of two and a chain of one."
    return Section("hops", "Hops and shapes", grid([Html(f"<div>{left}</div>"), Html(f"<div>{right}</div>")]), lead, "Hops")


def _categories(facts: ReportFacts) -> Section:
    parts = [
        card(
            bar_chart("chart-category", "Samples by category", _counts(_largest_first(facts.by_category), facts.samples)),
            "Samples by category",
        )
    ]
    if facts.document_statuses:
        total = sum(facts.document_statuses.values())
        row = Stack("documents", facts.document_statuses, number(total))
        status_rows = [(name, number(n), percent(n / total if total else None)) for name, n in facts.document_statuses.items()]
        parts.append(
            card(
                join(
                    [
                        stacked_bars("chart-status", "Tool documents by status", [row], STATUS_SHADES),
                        paragraph(STATUS_MEANING + ".", "note"),
                        table(("status", "documents", "share"), status_rows, caption="Tool documents by status", numbers=(1, 2)),
                    ]
                ),
                "Tool documents used, by status",
            )
        )
    return Section("categories", "Categories and documents", grid(parts), short="Categories")


def _funnel(facts: ReportFacts) -> Section:
    total = StratumFunnel(sum(f.candidates for f in facts.funnel.values()), sum(f.accepted for f in facts.funnel.values()), _reasons(facts))
    entries = [*((stratum_label(name), f, False) for name, f in facts.funnel.items()), ("all", total, True)]
    stacks = [Stack(name, _by_check(f), f"{number(f.accepted)} of {number(f.candidates)}", is_total) for name, f, is_total in entries]
    checks = dict.fromkeys(check for f in facts.funnel.values() for check in _by_check(f))
    shades = {check: "s0" if check == "accepted" else CHECK_SHADES.get(check.removeprefix("rejected: "), "s5") for check in checks}
    rows = [
        (foreign(name), number(f.candidates), number(f.accepted), number(f.candidates - f.accepted), _told_reasons(f.rejected))
        for name, f, _ in entries
    ]
    body = join(
        [
            card(stacked_bars("chart-funnel", "Candidates accepted and rejected, by stratum", stacks, shades)),
            card(
                table(
                    ("stratum", "candidates", "accepted", "rejected", "why"),
                    rows,
                    caption="Candidates by stratum, and the first reason for which each was rejected",
                    numbers=(1, 2, 3),
                )
            ),
        ]
    )
    lead = "Each bar is all candidates of a stratum. A candidate that fails one check is kept with its reason and replaced by the next."
    return Section("funnel", "From candidates to samples", body, lead, "Funnel")


def _by_check(funnel: StratumFunnel) -> dict[str, int]:
    parts = {"accepted": funnel.accepted}
    for reason, n in funnel.rejected.items():
        name = f"rejected: {shorten(reason.split(':')[0], 30)}"
        parts[name] = parts.get(name, 0) + n
    return parts


def _reasons(facts: ReportFacts) -> dict[str, int]:
    total: dict[str, int] = {}
    for funnel in facts.funnel.values():
        for reason, n in funnel.rejected.items():
            total[reason] = total.get(reason, 0) + n
    return total


def _told_reasons(rejected: Mapping[str, int]) -> Html:
    pieces = [Html(f"{code(shorten(reason, 60))}&nbsp;{number(n)}") for reason, n in _largest_first(rejected).items()]
    return join(pieces, ", ") if pieces else _none()


def _baselines(facts: ReportFacts) -> Section:
    hops = list(dict.fromkeys(hop for b in facts.baselines for hop in b.by_hop))
    bars = [Bar(b.name, b.overall, percent(b.overall), goal=b.goal) for b in facts.baselines]
    rows = [
        (
            join([foreign(shorten(b.name, 80)), Html(f'<br><span class="none">{foreign(shorten(b.meaning, 300))}</span>')]),
            *(percent(b.by_hop.get(hop)) for hop in hops),
            percent(b.overall),
            "none" if b.goal is None else f"≤ {percent(b.goal)}",
            _goal_mark(b),
        )
        for b in facts.baselines
    ]
    chart = bar_chart(
        "chart-baselines", "Chance of shortcut baselines to be right, and their goals", bars, maximum=1.0, axis=True, wide=True
    )
    keys = [("s0", "within its goal, or without one"), ("s1", "above its goal"), ("goal-key", "goal: at most")]
    headers = ("shortcut", *(stratum_label(h) for h in hops), "overall", "goal", "")
    result = table(headers, rows, caption="Chance that all graph arguments of a sample are right", numbers=range(1, len(hops) + 3))
    lead = "A shortcut answers without understanding the question. What it gets right, a model may get right for the same poor reason: less is better."
    return Section(
        "shortcuts", "Shortcut baselines", join([card(join([chart, legend(keys)])), card(result, may_break=True)]), lead, "Shortcuts"
    )


def _goal_mark(baseline: Baseline) -> Html:
    if baseline.goal is None or baseline.overall is None:
        return _none()
    if baseline.is_within_goal:
        return Html('<span class="good-text">✓ within</span>')
    return Html('<span class="warn-text">! above</span>')


def _gold_replay(replay: GoldReplay) -> Section:
    shown: list[Tile] = []
    for name, value in replay.scores.items():
        tone: Tone = "" if value is None else "good" if value == 1 else "warn"
        shown.append(
            Tile(shorten(name, 60), number(value), "does not apply" if value is None else "" if value == 1 else "should be 1", tone)
        )
    lead = f"The {number(replay.n)} golden answers, scored as if a model had given them. Whatever is not 1 is an error of the benchmark or of the scorer."
    return Section("gold", "Gold replay", join([verdicts([_replay_verdict(replay)]), tiles(shown, small=True)]), lead)


def _comparison(facts: ReportFacts) -> Section:
    rows = [
        (
            join([foreign(shorten(row.name, 120)), *([Html(f' <span class="none">{text(row.where)}</span>')] if row.where else [])]),
            _figure(row.theirs),
            _figure(row.ours),
            _difference(row),
        )
        for row in facts.comparison
    ]
    other = shorten(facts.compared_with, 60)
    body = card(
        table(("", other, "this run", "difference"), rows, caption=f"Figures of {other} beside this run", numbers=(1, 2, 3)), may_break=True
    )
    return Section("comparison", f"Compared with {other}", body, short="Comparison")


def _figure(value: Figure) -> Html:
    if value is None:
        return _none()
    return text(number(value, 4)) if isinstance(value, int | float) else foreign(shorten(value, 120))


def _difference(row: Comparison) -> Html:
    if not isinstance(row.theirs, int | float) or not isinstance(row.ours, int | float):
        return _none()
    difference = row.ours - row.theirs
    if abs(difference) < 5e-4:
        return text("0")
    return text(("+" if difference > 0 else "−") + number(round(abs(difference), 6)))


def _tools(facts: ReportFacts) -> Section:
    calls = sum(facts.tools.values())
    rows = [(code(shorten(name, 120)), number(n), percent(n / calls if calls else None)) for name, n in _largest_first(facts.tools).items()]
    listed = table(("tool", "golden calls", "share"), rows, caption="Golden calls by tool, most first", numbers=(1, 2), tall=True)
    most = max(facts.tools.values(), default=0)
    body = card(folded(f"Tools by number of golden calls ({number(len(facts.tools))})", listed), may_break=True)
    lead = f"Golden calls: {number(calls)}. Tools that they go to: {number(len(facts.tools))}; the most frequent takes {percent(most / calls if calls else None)}."
    return Section("tools", "Tools", body, lead)


def _samples(facts: ReportFacts) -> Section:
    key = Html(
        '<p class="note"><mark class="p0">Marked</mark> words stand for something that only the graph tells; '
        '<span class="said">dotted</span> words are in the query as they are needed. The marks return in the graph and in the call.</p>'
    )
    body = join([key, Html("<br>"), *(_sample(sample, index) for index, sample in enumerate(facts.examples, 1))])
    lead = f"{number(len(facts.examples))} of {number(facts.samples)}: the query, the facts it needs, the golden call, and the tools that were offered."
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
    calls = join(_call(call, number_, known) for number_, call in enumerate(sample.calls))
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
        f"{_query(sample, known)}{drawn}"
        f'<div class="split"><div><h4>{heading}</h4>{calls}</div>'
        f'<div><h4>Candidate tools ({len(sample.candidate_tools)})</h4><ul class="chips">{chips}</ul></div></div></article>\n'
    )


def _no_graph(sample: Sample) -> Html:
    return paragraph("No fact of the graph is needed." if sample.kind in ("no_graph", "no_tool") else "No golden facts are given.", "none")


def _query(sample: Sample, known: tuple[Grounding, ...]) -> Html:
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


def _call(call: ToolCall, index: int, known: tuple[Grounding, ...]) -> Html:
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


def _provenance(facts: ReportFacts) -> Section:
    rows: list[tuple[object, object]] = [
        ("campaign", foreign(shorten(facts.campaign, 200))),
        ("seed", str(facts.seed)),
        ("today, for every sample", foreign(facts.now)),
        *([("familytool", facts.version)] if facts.version else []),
        *((foreign(shorten(name, 120)), code(place)) for name, place in facts.files.items()),
    ]
    lead = "The same campaign with the same documents gives the same samples, byte for byte."
    return Section(
        "provenance",
        "Where this comes from",
        card(table(("what", "value"), rows, caption="Provenance"), may_break=True),
        lead,
        "Provenance",
    )


def stratum_label(name: str) -> str:
    """A stratum in words.

    >>> stratum_label("hop1"), stratum_label("hop2"), stratum_label("no_tool"), stratum_label("other")
    ('1 hop', '2 hops', 'no tool fits', 'other')
    """
    if name.startswith("hop") and name[3:].isdecimal():
        return f"{name[3:]} hop" if name[3:] == "1" else f"{name[3:]} hops"
    return STRATA.get(name, name)


def _chain_label(name: str) -> str:
    return "no chain" if name == "0" else name


def _counts(counts: Mapping[str, int], total: int, label: Callable[[str], str] = str) -> list[Bar]:
    return [Bar(label(key), n, number(n), percent(n / total) if total else "") for key, n in counts.items()]


def _largest_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _none() -> Html:
    return Html('<span class="none">–</span>')
