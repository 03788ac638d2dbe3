"""What a report says of a run, read from the files of its folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from familytool import __version__
from familytool.campaign import Campaign
from familytool.evaluation.judged import Judged
from familytool.evaluation.report import Baseline, Comparison, GoldReplay, GraphFacts, ReportFacts
from familytool.evaluation.spending import read_spending
from familytool.evaluation.stages import read_funnel
from familytool.kinship import Kin
from familytool.model import Sample
from familytool.runs import LEDGER, RunFolder, read_graphs, read_samples

EXAMPLES = 10
PAIRS = 4
GOAL_PEOPLE = 8
PAPER = {
    "samples": 483,
    "distinct tools in golden calls": 102,
    "graph nodes": 150,
    "graph edges": 159,
    "edge types": 65,
    "hop 1": 107,
    "hop 2": 362,
    "hop 3": 14,
    "average hops": 1.81,
}
"""Tables 1 and 2 of arXiv:2504.06766."""


def report_facts(
    campaign: Campaign,
    run: RunFolder,
    rows: Callable[[], Iterator[Sample]] | None = None,
    *,
    judged: Judged | None = None,
    extraction: Mapping[str, Any] | None = None,
) -> ReportFacts:
    """Counts, scores and ten samples spread over the set; parts whose files are not there yet are left out.

    `rows` gives the rows that are released, by default all that are accepted; `judged` and `extraction` are what the rooms beside this
    one found.
    """
    released = rows or (lambda: read_samples(run.path / "samples.jsonl"))
    counts: dict[str, Counter[Any]] = {key: Counter() for key in ("hop", "depth", "shape", "category", "tool", "size", "writer")}
    total = twins = 0
    statuses: dict[str, str] = {}
    for sample in released():
        total += 1
        counts["hop"][f"hop{sample.hops}"] += 1
        counts["depth"][str(sample.depth)] += 1
        counts["shape"][sample.shape] += 1
        counts["category"][sample.category] += 1
        counts["size"][len(sample.candidate_tools)] += 1
        counts["writer"][str(sample.provenance.get("writer", "templates"))] += 1
        twins += bool(sample.twin_of)
        counts["tool"].update(call.name for call in sample.calls)
        statuses.update(zip((call.name for call in sample.calls), sample.provenance.get("documents", ()), strict=False))
    graphs = read_graphs(run.path / "graph.jsonl")
    size = GraphFacts(
        nodes=sum(len(g.nodes) for g in graphs.values()),
        edges=sum(map(len, graphs.values())),
        relation_types=len({r for g in graphs.values() for r in g.relations}),
        people=sum(len(Kin(g).people) for g in graphs.values()),
    )
    results = _results(run)
    return ReportFacts(
        campaign=campaign.name,
        seed=campaign.seed,
        now=campaign.now.isoformat(),
        samples=total,
        by_hop=_sorted(counts["hop"]),
        by_depth=_sorted(counts["depth"]),
        by_shape=dict(counts["shape"].most_common()),
        by_category=dict(counts["category"].most_common()),
        tools=dict(counts["tool"].most_common()),
        candidate_sizes=dict(sorted(counts["size"].items())),
        graph=size,
        funnel=read_funnel(campaign, run),
        document_statuses=dict(Counter(statuses.values()).most_common()),
        gold_replay=GoldReplay(results["scores"]["strict"], results["n"]) if results else None,
        baselines=tuple(_baseline(row, size.people // max(1, len(graphs))) for row in results.get("baselines", ())),
        examples=_examples(released, total),
        comparison=_comparison(counts, total, size) if campaign.family.specification == "paper" else (),
        files={"samples": "samples.jsonl", "release": "release/", "knowledge graph": "graph.jsonl", "rejected candidates": "rejected.jsonl",
               "scores": "evaluation/results.json",
               **({"what each row took": "evaluation/costs.jsonl", "model calls": "ledger.sqlite"} if (run.path / LEDGER).exists() else {})},
        version=__version__,
        writers=dict(counts["writer"].most_common()),
        spending=read_spending(campaign, run),
        judged=judged,
        extraction=extraction or {},
        twins=_twins(released) if twins else (),
        twin_count=twins,
    )  # fmt: skip


def _sorted(counter: Counter[str]) -> dict[str, int]:
    return {key: counter[key] for key in sorted(counter, key=lambda key: int(key.removeprefix("hop")))}


def _results(run: RunFolder) -> dict[str, Any]:
    path = run.path / "evaluation" / "results.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def _baseline(row: dict[str, Any], people: int) -> Baseline:
    """A row of the shortcut table; the goals are for families of eight or more, in smaller ones chance alone is above them."""
    by_hop = {key: value for key, value in row.items() if key.startswith("hop")}
    return Baseline(row["name"], row["meaning"], row["all"], by_hop, row["goal"] if people >= GOAL_PEOPLE else None)


def _twins(released: Callable[[], Iterator[Sample]]) -> tuple[tuple[Sample, Sample], ...]:
    """The first pairs of original and twin."""
    twins = [sample for _, sample in zip(range(PAIRS), (s for s in released() if s.twin_of), strict=False)]
    wanted = {twin.twin_of for twin in twins}
    originals = {sample.id: sample for sample in released() if sample.id in wanted}
    return tuple((originals[twin.twin_of], twin) for twin in twins if twin.twin_of in originals)


def _examples(released: Callable[[], Iterator[Sample]], total: int) -> tuple[Sample, ...]:
    step = max(1, total // EXAMPLES)
    chosen = (s for n, s in enumerate(released()) if n % step == step // 2)
    return tuple(sample for _, sample in zip(range(EXAMPLES), chosen, strict=False))


def _comparison(counts: dict[str, Counter[Any]], total: int, size: GraphFacts) -> tuple[Comparison, ...]:
    hops = counts["hop"]
    average = sum(int(hop[3:]) * count for hop, count in hops.items()) / total if total else 0.0
    ours = [
        total,
        len(counts["tool"]),
        size.nodes,
        size.edges,
        size.relation_types,
        hops["hop1"],
        hops["hop2"],
        hops["hop3"],
        round(average, 2),
    ]
    return tuple(
        Comparison(name, theirs, mine, "Table 1" if index < 5 else "Table 2")
        for index, ((name, theirs), mine) in enumerate(zip(PAPER.items(), ours, strict=True))
    )
