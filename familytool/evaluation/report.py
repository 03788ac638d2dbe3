"""The report of a benchmark run: one HTML file that holds all it shows.

It is drawn from `ReportFacts` alone, which the pipeline gathers; equal facts give equal bytes (no clock, no random).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from familytool.evaluation.funnel_section import funnel_section
from familytool.evaluation.judged import Judged
from familytool.evaluation.labels import largest_first, none_shown, stratum_label
from familytool.evaluation.model_sections import extraction_section, judge_section, spending_section, twins_section
from familytool.evaluation.sample_section import samples_section
from familytool.evaluation.spending import Spending
from familytool.evaluation.stages import Funnel
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
    stacked_bars,
    table,
    text,
    tiles,
    verdicts,
)
from familytool.model import Sample

STATUS_SHADES = {"ok": "s0", "partly-typed": "s4", "untyped": "s2", "partial": "s3"}
STATUS_MEANING = (
    "ok: read as it stands; partly-typed or untyped: some or all parameters name no type; partial: something is left out or was repaired"
)

Figure = int | float | str | None


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
    funnel: Funnel
    document_statuses: Mapping[str, int] = field(default_factory=dict)
    gold_replay: GoldReplay | None = None
    baselines: tuple[Baseline, ...] = ()
    examples: tuple[Sample, ...] = ()
    comparison: tuple[Comparison, ...] = ()
    compared_with: str = "the paper"
    files: Mapping[str, str] = field(default_factory=dict)
    """What can be found where: a name and a path."""
    version: str = ""
    writers: Mapping[str, int] = field(default_factory=dict)
    """Samples by who wrote their queries: "templates" or a model."""
    spending: Spending | None = None
    judged: Judged | None = None
    extraction: Mapping[str, Any] = field(default_factory=dict)
    twins: tuple[tuple[Sample, Sample], ...] = ()
    """A few pairs of original and twin."""
    twin_count: int = 0


def render_report(facts: ReportFacts) -> str:
    """The report as one HTML document without scripts that loads nothing."""
    sections = [
        _numbers(facts),
        _hops(facts),
        _categories(facts),
        *([funnel_section(facts.funnel)] if facts.funnel.candidates or facts.funnel.kept else []),
        *([judge_section(facts.judged)] if facts.judged else []),
        *([spending_section(facts.spending)] if facts.spending else []),
        *([_baselines(facts)] if facts.baselines else []),
        *([_gold_replay(facts.gold_replay)] if facts.gold_replay else []),
        *([_comparison(facts)] if facts.comparison else []),
        _tools(facts),
        *([extraction_section(facts.extraction)] if facts.extraction else []),
        *([twins_section(facts.twins, facts.twin_count, facts.funnel.twins_rejected)] if facts.twin_count else []),
        *([samples_section(facts.examples, facts.samples)] if facts.examples else []),
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
    candidates, accepted = facts.funnel.candidates, facts.funnel.accepted
    hops = [(int(name[3:]), n) for name, n in facts.by_hop.items() if name.startswith("hop") and name[3:].isdecimal()]
    with_hops = sum(n for _, n in hops)
    mean = math.fsum(hop * n for hop, n in hops) / with_hops if with_hops else None
    offered = sum(facts.candidate_sizes.values())
    mean_offered = math.fsum(size * n for size, n in facts.candidate_sizes.items()) / offered if offered else None
    shown = [
        Tile("samples", number(facts.samples), _samples_note(facts)),
        Tile("hops on average", number(mean, 2), f"{len(facts.by_hop)} strata"),
        Tile("tools with golden calls", number(len(facts.tools)), f"{number(sum(facts.tools.values()))} golden calls"),
        Tile("candidate tools on average", number(mean_offered, 1), _range(facts.candidate_sizes)),
        Tile("facts in the graph", number(facts.graph.edges), f"{number(facts.graph.relation_types)} relation types"),
        Tile("entities", number(facts.graph.nodes), f"{number(facts.graph.people)} people"),
        Tile("categories", number(len(facts.by_category))),
        Tile("candidates accepted", percent(accepted / candidates if candidates else None), f"{number(candidates - accepted)} rejected"),
    ]
    return Section("numbers", "Numbers", join([verdicts(_verdicts(facts)), tiles(shown)]))


def _samples_note(facts: ReportFacts) -> str:
    funnel, notes = facts.funnel, []
    if funnel.candidates:
        notes.append(f"{number(funnel.candidates)} candidates tried")
    if funnel.kept:
        notes.append(f"{number(funnel.kept)} kept from the former release")
    if funnel.awaiting:
        notes.append(f"{number(funnel.awaiting)} more await review")
    return ", ".join(notes)


def _range(sizes: Mapping[int, int]) -> str:
    return f"{min(sizes)} to {max(sizes)} a sample" if sizes else ""


def _verdicts(facts: ReportFacts) -> Iterable[tuple[Tone, str]]:
    """What a reader should know first: is the benchmark sound?"""
    funnel = facts.funnel
    wrong = [name for name, stratum in funnel.strata.items() if stratum.lost]
    if wrong:
        yield "warn", f"The funnel does not add up in {', '.join(shorten(w, 30) for w in wrong[:5])}."
    elif funnel.released != facts.samples and (funnel.candidates or funnel.kept):
        yield "warn", f"The funnel leads to {number(funnel.released)} rows, and {number(facts.samples)} are released."
    elif funnel.candidates:
        yield "good", "Every candidate is accounted for: accepted, or rejected with a reason."
    if facts.judged and facts.judged.matrices:
        yield from _judge_verdict(facts.judged)
    if facts.gold_replay:
        yield _replay_verdict(facts.gold_replay)
    measured = [b for b in facts.baselines if b.goal is not None and b.overall is not None]
    over = [b.name for b in measured if not b.is_within_goal]
    if over:
        yield "warn", f"Shortcuts above their goal: {len(over)} of {len(measured)} ({', '.join(shorten(n, 30) for n in over[:5])})."
    elif measured:
        yield "good", f"Shortcuts within their goal: {len(measured)} of {len(measured)}."


def _judge_verdict(judged: Judged) -> Iterable[tuple[Tone, str]]:
    decided = sum(matrix.decided for matrix in judged.matrices if matrix.share is not None)
    if decided:
        same = sum(round(matrix.share * matrix.decided) for matrix in judged.matrices if matrix.share is not None)
        tone: Tone = "good" if same == decided else "warn"
        yield tone, f"Rules and judge agree on {number(same)} of {number(decided)} verdicts that both decided."


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
    shape = bar_chart("chart-shape", "Samples by shape", _counts(largest_first(facts.by_shape), facts.samples, _chain_label))
    offered = bar_chart("chart-candidates", "Samples by number of candidate tools", _counts(sizes, facts.samples))
    deep = bar_chart("chart-depth", "Samples by depth", _counts(dict(depth), facts.samples, _chain_label))
    left = join([card(hop, "By hop"), card(shape, "By shape")])
    right = join([card(offered, "By number of candidate tools"), card(deep, "By depth")])
    lead = "A hop is a fact that a sample needs. Its depth is the longest chain of facts; its shape lists the lengths of its chains, so that 2+1 is a chain of two and a chain of one."
    return Section("hops", "Hops and shapes", grid([Html(f"<div>{left}</div>"), Html(f"<div>{right}</div>")]), lead, "Hops")


def _categories(facts: ReportFacts) -> Section:
    parts = [
        card(
            bar_chart("chart-category", "Samples by category", _counts(largest_first(facts.by_category), facts.samples)),
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
        return none_shown()
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
        return none_shown()
    return text(number(value, 4)) if isinstance(value, int | float) else foreign(shorten(value, 120))


def _difference(row: Comparison) -> Html:
    if not isinstance(row.theirs, int | float) or not isinstance(row.ours, int | float):
        return none_shown()
    difference = row.ours - row.theirs
    if abs(difference) < 5e-4:
        return text("0")
    return text(("+" if difference > 0 else "−") + number(round(abs(difference), 6)))


def _tools(facts: ReportFacts) -> Section:
    calls = sum(facts.tools.values())
    rows = [(code(shorten(name, 120)), number(n), percent(n / calls if calls else None)) for name, n in largest_first(facts.tools).items()]
    listed = table(("tool", "golden calls", "share"), rows, caption="Golden calls by tool, most first", numbers=(1, 2), tall=True)
    most = max(facts.tools.values(), default=0)
    body = card(folded(f"Tools by number of golden calls ({number(len(facts.tools))})", listed), may_break=True)
    lead = f"Golden calls: {number(calls)}. Tools that they go to: {number(len(facts.tools))}; the most frequent takes {percent(most / calls if calls else None)}."
    return Section("tools", "Tools", body, lead)


def _provenance(facts: ReportFacts) -> Section:
    rows: list[tuple[object, object]] = [
        ("campaign", foreign(shorten(facts.campaign, 200))),
        ("seed", str(facts.seed)),
        ("today, for every sample", foreign(facts.now)),
        *([("familytool", facts.version)] if facts.version else []),
        *([("queries written by", _writers(facts.writers))] if set(facts.writers) - {"templates"} else []),
        *((foreign(shorten(name, 120)), code(place)) for name, place in facts.files.items()),
    ]
    lead = "The same campaign with the same documents gives the same samples, byte for byte"
    lead += ", with the answers of its ledger." if facts.spending else "."
    return Section(
        "provenance",
        "Where this comes from",
        card(table(("what", "value"), rows, caption="Provenance"), may_break=True),
        lead,
        "Provenance",
    )


def _writers(writers: Mapping[str, int]) -> Html:
    return join((Html(f"{code(shorten(name, 80))}&nbsp;{number(n)}") for name, n in largest_first(writers).items()), ", ")


def _chain_label(name: str) -> str:
    return "no chain" if name == "0" else name


def _counts(counts: Mapping[str, int], total: int, label: Callable[[str], str] = str) -> list[Bar]:
    return [Bar(label(key), n, number(n), percent(n / total) if total else "") for key, n in counts.items()]
