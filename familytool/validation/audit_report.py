"""The report of an audit: one HTML file of our own that holds all it shows, drawn from `summary.json` and a few examples."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
    join,
    number,
    page,
    paragraph,
    percent,
    shorten,
    stacked_bars,
    table,
    tiles,
    verdicts,
)
from familytool.model import Finding, Sample
from familytool.validation.codes import CODES, HARMLESS

VERDICT_SHADES = {"pass": "s0", "fail": "s2", "unknown": "s5"}
MAX_QUERY = 500
MAX_CALL = 1500
MAX_TOOLS = 400


@dataclass(frozen=True)
class Example:
    """A sample in which a code was found, cut to what a reader needs."""

    sample_id: str
    speaker: str
    query: str
    golden: str
    calls: tuple[str, ...]
    finding: Finding

    @classmethod
    def of(cls, sample: Sample, finding: Finding) -> Example:
        """The example of one finding in a sample."""
        calls = tuple(shorten(f"{c.name}({json.dumps(c.arguments, ensure_ascii=False)})", MAX_CALL) for c in sample.calls[:20])
        golden = "; ".join(f"{t.head} -{t.relation}-> {t.tail}" for t in sample.golden_triples[:12])
        return cls(sample.id, shorten(sample.speaker, 80), shorten(sample.query, MAX_QUERY), golden, calls, finding)


def render_audit(summary: Mapping[str, Any], examples: Mapping[str, Sequence[Example]]) -> str:
    """The page for a summary (the content of `summary.json`) and examples by code."""
    parts = [
        _numbers(summary),
        _findings(summary, examples),
        _by_hop(summary),
        _tools(summary),
        _graph(summary),
        _table_rules(summary),
        _repairs(summary),
        _rejected(summary),
        _provenance(summary),
    ]
    what = f"{number(summary['n_samples'])} samples in the format {summary['source']['format']}"
    footer = f"Made by familytool {summary['familytool']}. Nothing on this page is loaded from elsewhere."
    return page(
        f"Audit of {summary['source']['name']}",
        [part for part in parts if part is not None],
        over="familytool audit",
        subtitle=what,
        footer=footer,
    )


def _numbers(summary: Mapping[str, Any]) -> Section:
    total, failed, calls = summary["n_samples"], summary["n_failed"], summary["calls"]
    conform = f"{number(calls['conform'])} of {number(calls['checked'])} calls of offered tools"
    shown = [
        Tile("samples", number(total), f"rows that could not be read: {number(summary['n_rejected'])}" if summary["n_rejected"] else ""),
        Tile(
            "without a failed check", number(total - failed), percent((total - failed) / total) if total else "", "" if failed else "good"
        ),
        Tile("with a failed check", number(failed), percent(failed / total) if total else "", "warn" if failed else "good"),
        Tile("golden calls that fit their tool's schema", percent(calls["conform_share"]), conform),
    ]
    sentences: list[tuple[Tone, object]] = []
    for name, counts in summary["by_check"].items():
        tone: Tone = "warn" if counts["fail"] else "good"
        unknown = f", {number(counts['unknown'])} cannot be told by rules (never counted as failed)" if counts["unknown"] else ""
        sentences.append((tone, f"{name}: {number(counts['fail'])} of {number(total)} samples fail{unknown}"))
    rows = [Stack(name, dict(counts), f"{number(counts['fail'])} fail") for name, counts in summary["by_check"].items()]
    chart = stacked_bars("by-check", "Verdicts by check", rows, VERDICT_SHADES)
    body = join([tiles(shown), verdicts(sentences), card(chart, "Verdicts by check")])
    return Section("numbers", "What the checks say", body, short="Verdicts")


def _findings(summary: Mapping[str, Any], examples: Mapping[str, Sequence[Example]]) -> Section:
    total, by_code = summary["n_samples"], summary["by_code"]
    bars = [
        Bar(name, counts["samples"], share=percent(counts["samples"] / total))
        for name, counts in by_code.items()
        if counts["samples"] and name not in HARMLESS
    ]
    chart = card(bar_chart("by-code", "Samples by finding", bars[:20]), "Samples by finding") if bars else paragraph("No finding.")
    rows = [
        (
            _named(name, counts),
            CODES.get(name, "Found by a check of the campaign's own."),
            number(counts["samples"]),
            number(counts["findings"]),
        )
        for name, counts in by_code.items()
    ]
    listed = table(("code", "meaning", "samples", "findings"), rows, caption="Findings by code", numbers=(2, 3)) if rows else Html("")
    shown = join(_code_examples(name, examples.get(name, ()), counts["findings"]) for name, counts in by_code.items())
    lead = (
        "A sample with two findings of one code counts once; every finding stands in findings.jsonl, with its file and line. "
        "Codes that begin with undecided_ say why a verdict is unknown; they fail nothing."
    )
    return Section("findings", "Findings", join([chart, listed, shown]), lead)


def _named(name: str, counts: Mapping[str, Any]) -> Html:
    return join([code(name), " (ignored by the campaign)"]) if counts.get("ignored") else code(name)


def _code_examples(name: str, found: Sequence[Example], total: int) -> Html:
    if not found:
        return Html("")
    heading = f"{name}: {len(found)} of {number(total)} findings"
    return folded(heading, join(_example(example) for example in found))


def _example(example: Example) -> Html:
    lines: list[object] = []
    if example.query:
        who = f"{example.speaker}: " if example.speaker else ""
        lines.append(paragraph(join([foreign(who), foreign(example.query)])))
    if example.golden:
        lines.append(paragraph(join(["golden facts: ", code(example.golden)])))
    lines += [paragraph(code(call)) for call in example.calls]
    found = example.finding
    place = join([" at ", code(shorten(found.path, 200))]) if found.path else ""
    lines.append(paragraph(join(["Found", place, ": ", foreign(shorten(found.message, 400))])))
    if found.hint:
        lines.append(paragraph(join(["Hint: ", foreign(shorten(found.hint, 300))])))
    return card(join(lines), example.sample_id or "the graph")


def _by_hop(summary: Mapping[str, Any]) -> Section | None:
    rows = summary["by_hop"]
    if len(rows) < 2:
        return None
    stacks = [
        Stack(name, {"no failed check": row["samples"] - row["failed"], "fails": row["failed"]}, f"{number(row['failed'])} fail")
        for name, row in rows.items()
    ]
    chart = stacked_bars("by-hop", "Failed samples by hop", stacks, {"no failed check": "s0", "fails": "s2"})
    return Section("hops", "By hop", card(chart), "The number of golden triples, as the paper counts.")


def _tools(summary: Mapping[str, Any]) -> Section | None:
    rows = sorted(summary["by_tool"].items(), key=lambda item: (-item[1]["failed"], item[0]))
    if not rows:
        return None
    cells = [(code(name), number(row["samples"]), number(row["failed"])) for name, row in rows[:MAX_TOOLS]]
    lead = f"{number(len(rows))} tools are called" + (f"; the first {MAX_TOOLS} are shown." if len(rows) > MAX_TOOLS else ".")
    shown = table(("tool", "samples", "with a failed check"), cells, caption="Samples by tool", numbers=(1, 2), tall=len(cells) > 15)
    return Section("tools", "By tool", shown, lead)


def _graph(summary: Mapping[str, Any]) -> Section | None:
    graph, kinship = summary.get("graph"), summary.get("kinship")
    if not graph:
        return None
    shown = [
        Tile("facts", number(graph["edges"])),
        Tile("entities", number(graph["nodes"])),
        Tile("relations", number(graph["relations"])),
        Tile("facts no golden chain needs", number(graph["unused"])),
    ]
    body: list[object] = [tiles(shown, small=True), paragraph(f"Graph: {graph['origin']}.")]
    if kinship and kinship["samples"]:
        body.append(paragraph(_kinship_sentence(kinship)))
    return Section("graph", "The knowledge graph", join(body))


def _kinship_sentence(kinship: Mapping[str, Any]) -> str:
    return (
        f"Kinship words: of {number(kinship['samples'])} samples whose golden chain goes through a relative, the lexicon reads "
        f"{number(kinship['mentioned'])} ({percent(kinship['recall'])}); {number(kinship['agree'])} agree with the chain, "
        f"{number(kinship['contradict'])} contradict it, {number(kinship['silent'])} say no word that it knows."
    )


def _table_rules(summary: Mapping[str, Any]) -> Section | None:
    result = summary.get("tables")
    if result is None:
        return None
    if "expectations" not in result:
        return Section("rules", "The set as a table", paragraph(result["not_run"]), short="Table")
    rows = [
        (
            row["sentence"],
            {True: "holds", False: "is broken", None: "no rows"}[row["success"]],
            number(row["n_unexpected"]) if row["n_unexpected"] is not None else "",
            ", ".join(shorten(str(i), 40) for i in row["ids"][:5]),
        )
        for row in result["expectations"]
    ]
    broken = sum(row["success"] is False for row in result["expectations"])
    lead = f"{number(len(rows))} rules over all rows, checked with Great Expectations; {number(broken)} are broken."
    shown = table(("rule", "", "rows at fault", "for example"), rows, caption="Table rules", numbers=(2,))
    return Section("rules", "The set as a table", shown, lead, short="Table")


def _repairs(summary: Mapping[str, Any]) -> Section | None:
    repair = summary.get("repair")
    if repair is None:
        return None
    rows = [(code(rule), row["meaning"], number(row["samples"]), number(row["patches"])) for rule, row in repair["by_rule"].items()]
    made = table(("rule", "what it does", "samples", "patches"), rows, caption="Repairs by rule", numbers=(2, 3))
    left = [(code(name), CODES.get(name, ""), number(counts["samples"])) for name, counts in repair["left"].items()]
    lead = (
        f"{number(repair['n_patched'])} samples were patched; {number(repair['n_left'])} still have a failed check and are left for people. "
        "A patch is kept only if a finding goes and no other comes."
    )
    people = (
        table(("code", "meaning", "samples"), left, caption="Left for people", numbers=(2,))
        if left
        else paragraph("Nothing is left for people.")
    )
    kept = repair["n_rejected_rows"]
    lost = (
        [paragraph(f"Rows that could not be read, and are not in the copy: {number(kept)}; rejected_rows.txt has them as they were.")]
        if kept
        else []
    )
    return Section("repairs", "Repairs", join([made, people, *lost]), lead)


def _rejected(summary: Mapping[str, Any]) -> Section | None:
    of_graph = (summary["graph"] or {}).get("not_read", [])
    kinds = (
        ("Rows of the benchmark", summary["n_rejected"], summary["rejected"]),
        ("Rows of the graph", len(of_graph), of_graph),
        ("Files left out", len(summary["files_left_out"]), summary["files_left_out"]),
    )
    parts = []
    for name, total, sentences in kinds:
        rows: Iterable[Sequence[object]] = [(foreign(shorten(text, 300)),) for text in sentences[:50]]
        if total:
            parts.append(table(("place and reason",), rows, caption=f"{name}: {number(min(total, 50))} of {number(total)}"))
    return (
        Section("rejected", "What could not be read", join(parts), "All of it stands in rejected.jsonl.", short="Unread") if parts else None
    )


def _provenance(summary: Mapping[str, Any]) -> Section:
    source = summary["source"]
    rows: list[tuple[object, object]] = [(name, foreign(str(value))) for name, value in source.items() if value not in ("", None)]
    rows.append(("checks", ", ".join(summary["by_check"])))
    return Section("source", "What was audited", table(("", ""), rows, caption="Source"), short="Source")
