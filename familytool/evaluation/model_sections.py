"""What a report tells of models: what their calls took, where a judge and the rules differ, what one read, and the twins."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from familytool.evaluation.judged import Case, Judged, Matrix
from familytool.evaluation.labels import none_shown
from familytool.evaluation.sample_section import call_shown, query_shown
from familytool.evaluation.spending import PURPOSES, ModelUse, RowCost, Spending, dollars, money
from familytool.html.parts import (
    Bar,
    Html,
    Section,
    Stack,
    Tile,
    bar_chart,
    card,
    code,
    folded,
    foreign,
    grid,
    join,
    number,
    paragraph,
    percent,
    shorten,
    spelled,
    stacked_bars,
    table,
    text,
    tiles,
)
from familytool.html.path_graph import groundings
from familytool.llm.accounts import Totals
from familytool.model import Sample

SHOWN_CASES = 8
"""Disagreements that are shown at once; more open on demand."""
MOST_DIFFERENCES = 200
VERDICTS = ("pass", "fail", "unknown")
OUTCOMES = {
    "answered": "answered", "refused": "refused", "empty": "empty", "cut": "cut at the output limit",
}  # fmt: skip
CLASSES = {
    "both_same": "both, the same kind", "neither": "neither", "relative": "a relative, by rule", "both_different": "both, another kind",
    "only_rules": "only the rules", "only_model": "only the model",
}  # fmt: skip
CLASS_SHADES = {"both, the same kind": "s0", "neither": "s5", "a relative, by rule": "s4", "both, another kind": "s1", "only the rules": "s2",
                "only the model": "s3"}  # fmt: skip


# What calls took.


def spending_section(spent: Spending) -> Section:
    """Calls, tokens and dollars: by purpose, for rows and rejected candidates, by outcome and model."""
    total = spent.total
    shown = [
        Tile("model calls", number(total.calls), f"{number(spent.accepted.calls)} of them for accepted rows"),
        Tile("tokens", number(total.prompt_tokens + total.output_tokens), f"{number(total.output_tokens)} of them written"),
        Tile("US dollars", dollars(total, 2), _unpriced(total)),
        Tile("for an accepted row", *_each(total, spent.rows, "all calls over all accepted rows")),
    ]
    body = join(
        [
            tiles(shown),
            Html("<br>"),
            grid([card(_by_purpose(spent), "Calls by purpose"), card(_by_end(spent), "What became of them")]),
            card(_purposes(spent), "By purpose", may_break=True),
            card(_models(spent.models), "Models", may_break=True),
            *([card(_prompts(spent.prompts), "Prompts", may_break=True)] if spent.prompts else []),
            *([card(_dearest(spent.dearest), "Rows that took most", may_break=True)] if spent.dearest else []),
        ]
    )
    lead = "Every finished call of this run folder's ledger, those of earlier prompts and of candidates that were not needed included."
    return Section("calls", "Model calls and money", body, lead, "Calls")


def _unpriced(total: Totals) -> str:
    if not total.unpriced:
        return ""
    some = "1 call" if total.unpriced == 1 else f"{number(total.unpriced)} calls"
    return f"no price is known for {'any call' if total.unpriced == total.calls else some}"


def _each(total: Totals, rows: int, note: str) -> tuple[str, str]:
    if not rows:
        return "n/a", "no row is accepted yet"
    calls = f"{total.calls / rows:.1f} calls"
    return (f"${total.price / rows:.4f}", f"and {calls}: {note}") if total.price else (calls, note)


def _by_purpose(spent: Spending) -> Html:
    total = spent.total.calls
    bars = [
        Bar(PURPOSES.get(name, name), t.calls, number(t.calls), percent(t.calls / total if total else None))
        for name, t in spent.by_purpose.items()
    ]
    return bar_chart("chart-purpose", "Model calls by purpose", bars)


def _by_end(spent: Spending) -> Html:
    parts = {
        "for accepted rows": spent.accepted.calls, "for rejected candidates": spent.rejected.calls, "for neither": spent.neither.calls,
    }  # fmt: skip
    outcomes = {OUTCOMES.get(name, name): t.calls for name, t in spent.by_outcome.items()}
    shades = {"for accepted rows": "s0", "for rejected candidates": "s1", "for neither": "s5"}
    answers = {"answered": "s0", "refused": "s1", "empty": "s2", "cut at the output limit": "s3"}
    note = "Neither: probes, preferences, candidates in work when a stratum was full, prompts that were edited since."
    return join(
        [
            stacked_bars("chart-use", "Model calls by what they served", [Stack("served", parts, number(spent.total.calls))], shades),
            Html("<br>"),
            stacked_bars("chart-outcome", "Model calls by outcome", [Stack("outcome", outcomes, number(spent.total.calls))], answers),
            paragraph(note, "note"),
        ]
    )


def _purposes(spent: Spending) -> Html:
    rows = [_totals_row(PURPOSES.get(name, name), totals) for name, totals in spent.by_purpose.items()]
    rows.append(_totals_row("all", spent.total))
    ends = [
        _totals_row("accepted rows", spent.accepted),
        _totals_row("rejected candidates", spent.rejected),
        _totals_row("neither", spent.neither),
        _totals_row("all", spent.total),
    ]
    head = ("", "calls", "prompt tokens", "output tokens", "US dollars")
    each = [
        *_each_row("an accepted row, by its own calls", spent.accepted, spent.rows),
        *_each_row("an accepted row, by all calls", spent.total, spent.rows),
        *(_each_row("a released row, by all calls", spent.total, spent.released) if spent.released != spent.rows else ()),
    ]
    tables = [
        table(("purpose", *head[1:]), rows, caption="Calls, tokens and dollars by purpose", numbers=(1, 2, 3, 4)),
        table(("served", *head[1:]), ends, caption="The same calls by what they served", numbers=(1, 2, 3, 4)),
    ]
    if each:
        tables.append(table(("on average", *head[1:]), each, caption="What a row took", numbers=(1, 2, 3, 4)))
    return join(tables, Html("<br>"))


def _totals_row(name: str, totals: Totals) -> tuple[object, ...]:
    return (foreign(shorten(name, 60)), number(totals.calls), number(totals.prompt_tokens), number(totals.output_tokens), money(totals))


def _each_row(name: str, totals: Totals, rows: int) -> list[tuple[object, ...]]:
    if not rows:
        return []
    price = "no price" if totals.calls and totals.unpriced == totals.calls else f"${totals.price / rows:.5f}"
    tokens = (number(round(totals.prompt_tokens / rows)), number(round(totals.output_tokens / rows)))
    return [(name, f"{totals.calls / rows:.1f}", *tokens, price)]


def _models(models: Iterable[ModelUse]) -> Html:
    rows = [
        (
            code(shorten(use.id, 80)),
            ", ".join(use.roles),
            join((code(f"{name} = {json.dumps(value)}") for name, value in use.settings.items()), ", ") if use.settings else none_shown(),
            number(use.took.calls) if use.took else "0",
            money(use.took) if use.took else none_shown(),
        )
        for use in models
    ]
    note = "Settings that are not named are the endpoint's own. A model's calls are those of all its tasks."
    head = ("model", "asked as", "settings", "calls", "US dollars")
    return join([table(head, rows, caption="Models and their settings", numbers=(3, 4)), paragraph(note, "note")])


def _prompts(prompts: Mapping[str, str]) -> Html:
    listed = join(Html(f"<li>{text(name)} {code(value)}</li>") for name, value in prompts.items())
    note = "The first 16 hexadecimal digits of the SHA-256 of each prompt file."
    return Html(f'<ul class="chips">{listed}</ul>{paragraph(note, "note")}')


def _dearest(costs: Iterable[RowCost]) -> Html:
    rows = [
        (
            code(shorten(cost.id, 80)),
            ", ".join(f"{PURPOSES.get(name, name)} {number(n)}" for name, n in cost.calls.items()),
            number(cost.n_calls),
            number(cost.prompt_tokens + cost.output_tokens),
            "no price" if cost.price is None else f"${cost.price:.5f}",
        )
        for cost in costs
    ]
    head = ("row", "calls by purpose", "calls", "tokens", "US dollars")
    note = "evaluation/costs.jsonl has all released rows; `familytool why ID` has the calls of one."
    return join([table(head, rows, caption="Released rows by what they took, most first", numbers=(2, 3, 4)), paragraph(note, "note")])


# Rules and judge.


def judge_section(judged: Judged) -> Section:
    """Where rules, model and person differ, case by case, and the matrix of each check."""
    two = [matrix for matrix in judged.matrices if _has_two_sides(matrix)]
    alone = [matrix for matrix in judged.matrices if not _has_two_sides(matrix)]
    cases = [_case(case) for case in judged.cases]
    parts: list[Html] = []
    if cases:
        hidden = cases[SHOWN_CASES:]
        more = folded(f"{number(len(hidden))} more", join(hidden)) if hidden else Html("")
        parts.append(card(join([paragraph(_differing(judged), "lead"), *cases[:SHOWN_CASES], more]), may_break=True))
    elif two:
        parts.append(card(paragraph("No verdict of the model differs from one of the rules.", "good-text")))
    parts.append(grid([card(_matrix(matrix), matrix.check) for matrix in two]))
    if alone:
        rows = [_alone(matrix) for matrix in alone]
        shown = table(("check", "by", *VERDICTS), rows, caption="Checks that only one side makes, by verdict", numbers=(2, 3, 4))
        parts.append(card(shown, "Checks of one side"))
    lead = "Verdicts of rules and model on all candidates that came so far, rejected ones included. A model is asked only about what no rule refuses."
    return Section("judge", "Rules and judge", join(parts), lead, "Judge")


def _differing(judged: Judged) -> str:
    """How many verdicts differ, and how gravely."""
    against = sum(matrix.contradicting for matrix in judged.matrices)
    unsure = judged.differing - against
    parts = [
        f"{'1 verdict contradicts' if against == 1 else f'{number(against)} verdicts contradict'} another"
        if against
        else "No verdict contradicts another"
    ]
    parts += [f"on {number(unsure)} one side cannot tell" if unsure else ""]
    shown = f" The first {number(len(judged.cases))} are shown." if judged.differing > len(judged.cases) else ""
    return "; ".join(part for part in parts if part) + f".{shown}"


def _has_two_sides(matrix: Matrix) -> bool:
    return any(sum(cell[side] is not None for side in ("rules", "model", "person")) > 1 for cell in matrix.cells)


def _case(case: Case) -> Html:
    said = [("rules", case.rules), (case.judge or "model", case.model), ("person", case.person)]
    told = join((Html(f"<span>{foreign(shorten(who, 60))}: {_verdict(verdict)}</span>") for who, verdict in said if verdict), " ")
    fate = Html(f"<span>{foreign(shorten(case.fate, 60))}</span>") if case.fate else Html("")
    reason = [code(case.code), foreign(shorten(case.message, 500))] if case.code else [foreign(shorten(case.message, 500))]
    quoted = Html(f'<p class="note">Evidence: <q>{foreign(shorten(spelled(case.evidence), 400))}</q></p>') if case.evidence else Html("")
    return Html(
        f'<article class="case"><header><h3>{text(case.check)}</h3>{code(shorten(case.sample_id, 100))}{told}{fate}</header>'
        f'<p class="query" dir="auto">{text(shorten(case.query, 500)) if case.query else none_shown()}</p>'
        f"{paragraph(join(reason, ' '), 'reason') if case.message or case.code else ''}{quoted}</article>\n"
    )


def _verdict(verdict: str) -> Html:
    tone = {"pass": "good-text", "fail": "warn-text"}.get(verdict, "none")
    return Html(f'<b class="{tone}">{text(verdict)}</b>')


def _matrix(matrix: Matrix) -> Html:
    """Rules down, model across; the diagonal is where they agree."""
    counts: dict[tuple[str, str], int] = {}
    for cell in matrix.cells:
        pair = (cell["rules"] or "", cell["model"] or "")
        counts[pair] = counts.get(pair, 0) + int(cell["samples"])
    rules = [v for v in (*VERDICTS, "") if any(pair[0] == v for pair in counts)]
    model = [v for v in (*VERDICTS, "") if any(pair[1] == v for pair in counts)]
    rows = [
        (
            down or "not asked",
            *(_count(counts.get((down, across), 0), bool(down and across and down != across)) for across in model),
            number(sum(counts.get((down, across), 0) for across in model)),
        )
        for down in rules
    ]
    rows.append(("all", *(number(sum(counts.get((down, across), 0) for down in rules)) for across in model), number(sum(counts.values()))))
    head = ("rules \u2193 model \u2192", *(across or "not asked" for across in model), "all")
    shown = table(head, rows, caption=f"Verdicts on {matrix.check}: rules down, model across", numbers=range(1, len(head)))
    persons = [cell for cell in matrix.cells if cell["person"] is not None]
    return join([shown, paragraph(_agreement(matrix), "note"), *([_with_person(persons)] if persons else [])])


def _count(n: int, differs: bool) -> object:
    if not n:
        return none_shown()
    return Html(f'<b class="warn-text">{number(n)}</b>') if differs else number(n)


def _agreement(matrix: Matrix) -> str:
    if matrix.share is None:
        return "On no sample have both decided."
    kappa = "not defined: one side always says the same" if matrix.kappa is None else number(matrix.kappa)
    return f"Where both decide ({number(matrix.decided)}), they agree on {percent(matrix.share)}; kappa {kappa}."


def _with_person(cells: Iterable[Mapping[str, Any]]) -> Html:
    rows = [(*(cell[side] or "–" for side in ("rules", "model", "person")), number(int(cell["samples"]))) for cell in cells]
    return table(("rules", "model", "person", "samples"), rows, caption="Where a person has decided", numbers=(3,))


def _alone(matrix: Matrix) -> tuple[object, ...]:
    side = next((side for side in ("rules", "model", "person") if any(cell[side] is not None for cell in matrix.cells)), "rules")
    counts = {verdict: sum(int(cell["samples"]) for cell in matrix.cells if cell[side] == verdict) for verdict in VERDICTS}
    return (foreign(shorten(matrix.check, 60)), side, *(number(counts[verdict]) for verdict in VERDICTS))


# Preferences read by a model.


def extraction_section(compared: Mapping[str, Any]) -> Section:
    """What a model read from the documents beside what the rules read; `compared` is `compare_extractors`' answer and "model"."""
    totals = compared["totals"]
    n = sum(totals[name] for name in CLASSES)
    stacks = [
        Stack(status, {CLASSES[name]: row[name] for name in CLASSES}, number(sum(row[name] for name in CLASSES)))
        for status, row in compared["by_status"].items()
    ]
    stacks.append(Stack("all", {CLASSES[name]: totals[name] for name in CLASSES}, number(n), True))
    differences = compared["differences"]
    rows = [
        (
            code(shorten(d["tool"], 80)),
            code(shorten(d["parameter"], 80)),
            shorten(d["rules"], 40) or none_shown(),
            foreign(shorten(d["model"], 40)) if d["model"] else none_shown(),
            foreign(shorten(d["relation"] or d["why"], 120)) if d["relation"] or d["why"] else none_shown(),
        )
        for d in differences[:MOST_DIFFERENCES]
    ]
    cut = f", the first {number(MOST_DIFFERENCES)}" if len(differences) > MOST_DIFFERENCES else ""
    listed = table(
        ("tool", "parameter", "rules", "model", "relation, or why it was dropped"), rows,
        caption="Parameters that rules and model read differently", tall=True,
    )  # fmt: skip
    parts = [
        card(stacked_bars("chart-extraction", "Parameters by who read a fact there, by status of the document", stacks, CLASS_SHADES)),
        *([card(folded(f"Differences ({number(len(differences))}{cut})", listed), may_break=True)] if differences else []),
    ]
    lead = (
        f"{shorten(str(compared.get('model', 'A model')), 80)} read the preferences of this run. It and the rules agree on "
        f"{percent(totals['agreement_rate'])} of {number(n)} parameters: which kind of fact about a person fills each, or none."
    )
    return Section("extraction", "Preferences read by a model", join(parts), lead, "Preferences")


# Twins.


def twins_section(pairs: Iterable[tuple[Sample, Sample]], count: int, rejected: int) -> Section:
    """A few pairs of (original, twin) side by side."""
    shown = [
        Html(f'<article class="card sample"><div class="split">{_half(original, "original")}{_half(twin, "twin")}</div></article>\n')
        for original, twin in pairs
    ]
    rows = "1 row has" if count == 1 else f"{number(count)} rows have"
    lead = f"{rows} a twin: the same request about another relative, or another fact of the same kind, and so another answer."
    lead += f" {'1 more twin was' if rejected == 1 else f'{number(rejected)} more twins were'} written and rejected." if rejected else ""
    return Section("twins", "Twins", join(shown), lead)


def _half(sample: Sample, name: str) -> Html:
    known = groundings(sample)
    paths = join(
        Html(f'<p class="note">{foreign(shorten(" → ".join([path.start, *path.relations]), 200))}</p>') for path in sample.golden_paths
    )
    calls = join(call_shown(call, number_, known) for number_, call in enumerate(sample.calls))
    return Html(f"<div><h4>{name} {code(shorten(sample.id, 100))}</h4>{query_shown(sample, known)}{calls}{paths}</div>")
