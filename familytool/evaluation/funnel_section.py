"""The funnel of a report: from candidates to released rows, by stage, stratum, reason and tool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from familytool.evaluation.labels import largest_first, none_shown, stratum_label
from familytool.evaluation.stages import Funnel, Stage, StratumFunnel
from familytool.html.parts import (
    Bar,
    Html,
    Section,
    Stack,
    bar_chart,
    card,
    code,
    folded,
    foreign,
    join,
    number,
    paragraph,
    percent,
    shorten,
    stacked_bars,
    table,
)

CHECK_SHADES = {
    "generate": "s5", "phrase": "s4", "duplicates": "s2", "quotas": "s2", "syntax": "s4", "intent": "s3", "parameters": "s1",
    "feasibility": "s4", "solve": "s1", "query": "s2",
}  # fmt: skip
STAGES = {
    "generate": ("draft", "a row could be drawn and drafted"),
    "phrase": ("phrasing", "a model's words could be read and used"),
    "solve": ("solving back", "a blind solver found the golden facts"),
    "duplicates": ("duplicates", "no row like it was accepted before"),
    "quotas": ("quotas", "it had a place in the quotas"),
}
MOST_TOOLS = 400


def funnel_section(funnel: Funnel) -> Section:
    """All candidates of a run and where they ended."""
    body = join(
        [
            *([card(_stages(funnel), "By stage")] if funnel.stages else []),
            card(_strata(funnel.strata), "By stratum"),
            *([card(_reasons(funnel), "By reason")] if any(stage.rejected for stage in funnel.stages) else []),
            *([card(folded(f"By tool ({number(len(funnel.tools))})", _tools(funnel.tools)), may_break=True)] if funnel.tools else []),
        ]
    )
    lead = "A candidate that fails one check is kept with its reason and replaced by the next, so that every one is accounted for."
    return Section("funnel", "From candidates to samples", body, lead, "Funnel")


def stage_label(name: str) -> str:
    """A stage in a word or two.

    >>> stage_label("solve"), stage_label("judge: intent")
    ('solving back', 'judge: intent')
    """
    return STAGES[name][0] if name in STAGES else name


def _stages(funnel: Funnel) -> Html:
    total = funnel.candidates

    def bar(label: str, left: int, lost: int) -> Bar:
        return Bar(label, left, number(left), f"−{number(lost)}" if lost else "\u00a0")

    bars = [bar("candidates", total, 0), *(bar(stage_label(s.name), s.left, s.rejected) for s in funnel.stages)]
    bars.append(bar("accepted", funnel.accepted, 0))
    if funnel.awaiting:
        bars.append(bar("awaiting review", funnel.awaiting, 0))
    if funnel.kept:
        bars.append(bar("kept from before", funnel.kept, 0))
    if funnel.awaiting or funnel.kept:
        bars.append(bar("released", funnel.released, 0))
    chart = bar_chart("chart-stages", "Candidates left after each stage", bars, maximum=max(total, funnel.released) or 1)
    return join([chart, paragraph(_sum_of(funnel), "note")])


def _sum_of(funnel: Funnel) -> str:
    """The funnel as a sum that a reader can check."""
    lost = sum(stage.rejected for stage in funnel.stages)
    told = f"{number(funnel.candidates)} candidates − {number(lost)} rejected = {number(funnel.accepted)} accepted"
    if funnel.awaiting or funnel.kept:
        told += f" − {number(funnel.awaiting)} that await a person's review" if funnel.awaiting else ""
        told += f" + {number(funnel.kept)} kept from the former release" if funnel.kept else ""
        told += f" = {number(funnel.released)} released"
    return told + "."


def _strata(strata: Mapping[str, StratumFunnel]) -> Html:
    everything = StratumFunnel(
        sum(f.candidates for f in strata.values()), sum(f.accepted for f in strata.values()), _summed(f.rejected for f in strata.values())
    )
    entries = [*((stratum_label(name), f, False) for name, f in strata.items()), ("all", everything, True)]
    stacks = [Stack(name, _by_check(f), f"{number(f.accepted)} of {number(f.candidates)}", is_total) for name, f, is_total in entries]
    checks = dict.fromkeys(check for f in strata.values() for check in _by_check(f))
    shades = {check: "s0" if check == "accepted" else CHECK_SHADES.get(check.removeprefix("rejected: "), "s5") for check in checks}
    rows = [
        (foreign(name), number(f.candidates), number(f.accepted), number(f.candidates - f.accepted), _told_reasons(f.rejected))
        for name, f, _ in entries
    ]
    return join(
        [
            stacked_bars("chart-funnel", "Candidates accepted and rejected, by stratum", stacks, shades),
            Html("<br>"),
            table(
                ("stratum", "candidates", "accepted", "rejected", "why"),
                rows,
                caption="Candidates by stratum, and the first reason for which each was rejected",
                numbers=(1, 2, 3),
            ),
        ]
    )


def _reasons(funnel: Funnel) -> Html:
    rejected = sum(stage.rejected for stage in funnel.stages)
    found = [(stage, reason, n) for stage in funnel.stages for reason, n in largest_first(stage.reasons).items()]
    rows: list[tuple[object, ...]] = [
        (_stage_told(stage), code(shorten(reason, 60)), number(n), percent(n / rejected)) for stage, reason, n in found
    ]
    rows.append(("all", "", number(rejected), percent(1.0)))
    return table(
        ("stage", "reason", "candidates", "share"), rows, caption="Rejected candidates by stage and reason", numbers=(2, 3), tall=True
    )


def _stage_told(stage: Stage) -> Html:
    return foreign(shorten(stage_label(stage.name), 60))


def _tools(tools: Mapping[str, StratumFunnel]) -> Html:
    ordered = sorted(tools.items(), key=lambda item: (-(item[1].candidates - item[1].accepted), -item[1].candidates, item[0]))
    rows = [
        (code(shorten(name, 80)), number(f.candidates), number(f.accepted), number(f.candidates - f.accepted), _told_reasons(f.rejected))
        for name, f in ordered[:MOST_TOOLS]
    ]
    more = f" The {number(MOST_TOOLS)} with most rejected of {number(len(tools))} are shown." if len(tools) > MOST_TOOLS else ""
    note = f"A candidate that asks for two tools counts at both; one for which no tool fits counts at the tool that it lacks.{more}"
    shown = table(
        ("tool", "candidates", "accepted", "rejected", "why"), rows,
        caption="Candidates by the tools that they ask for, most rejected first", numbers=(1, 2, 3), tall=True,
    )  # fmt: skip
    return join([shown, paragraph(note, "note")])


def _by_check(funnel: StratumFunnel) -> dict[str, int]:
    parts = {"accepted": funnel.accepted}
    for reason, n in funnel.rejected.items():
        name = f"rejected: {shorten(reason.split(':')[0], 30)}"
        parts[name] = parts.get(name, 0) + n
    return parts


def _summed(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for reason, n in part.items():
            total[reason] = total.get(reason, 0) + n
    return total


def _told_reasons(rejected: Mapping[str, int]) -> Html:
    pieces = [Html(f"{code(shorten(reason, 60))}&nbsp;{number(n)}") for reason, n in largest_first(rejected).items()]
    return join(pieces, ", ") if pieces else none_shown()
