"""The card of a release: YAML that names the configs, then what it is, how it was made, and how to load it in three lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from familytool.releases.build import ReleaseFacts

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def render_card(facts: ReleaseFacts) -> str:
    """The README.md of a release."""
    campaign = facts.campaign
    total = facts.rows["all"]
    configs = [*facts.rows, "tools", "graph"]
    size = next((label for bound, label in _SIZES if total < bound), "1M<n<10M")
    yaml = ["---", f"pretty_name: {json.dumps(campaign.name)}", f"license: {campaign.release.licence}", "language:", "- en", "task_categories:",
            "- text-generation", "tags:", "- tool-use", "- function-calling", "- knowledge-graph", "- synthetic", "size_categories:", f"- {size}", "configs:"]  # fmt: skip
    for name in configs:
        yaml += [
            f"- config_name: {name}",
            *(["  default: true"] if name == "all" else []),
            "  data_files:",
            "  - split: test",
            f"    path: {name}/test.parquet",
        ]
    hops = {name: count for name, count in facts.rows.items() if name != "all"}
    family = campaign.family
    people = (
        f"family specification '{family.specification}'"
        if family.specification
        else f"{family.count} seeded famil{'y' if family.count == 1 else 'ies'} of {family.people or 8} people"
    )
    body = f"""
# {campaign.name}

{total:,} requests to an assistant. Most name an argument that only a family knowledge graph holds ("book a table at the restaurant
my mother likes best"). {_golden(facts)} satisfies its tool's closed schema, and each argument is traced to the graph,
the query or the document (`argument_sources`).

## Load

```python
from datasets import load_dataset
rows = load_dataset("PATH_OR_REPOSITORY", "all", split="test")   # or: {", ".join(hops)}, tools, graph
print(rows[0]["query"], rows[0]["calls"])                        # calls, candidate_tools, ... are JSON text
```

## Rows

| config | rows | what |
|---|---|---|
"""
    body += f"| all | {total:,} | every row |\n"
    for name, count in hops.items():
        meaning = (
            "no golden triple: values stated outright, or no tool to call"
            if name == "hop0"
            else f"{name[3:]} golden triple{'s' if name != 'hop1' else ''}"
        )
        body += f"| {name} | {count:,} | {meaning} |\n"
    body += f"| tools | {facts.tools:,} | the tool documents offered |\n| graph | {facts.graph.get('edges', 0):,} | the facts, by `graph_id` |\n"
    body += f"""
Golden calls use {facts.golden_tools} distinct tools. Graph: {", ".join(f"{count:,} {what}" for what, count in facts.graph.items())}.
Shapes (chain lengths): {", ".join(f"{shape} x {count:,}" for shape, count in facts.shapes.items())}.

## How it was made

Campaign `{campaign.name}`, version {campaign.release.version}, seed {campaign.seed}, frozen date {campaign.now.isoformat()} (evaluate with this date), {people},
tool documents: {facts.documents}. {_method(facts)} Checks passed by every row: {", ".join(campaign.validation.checks)}.
Review by people: none. Gate: not run.
"""
    body += "".join(_of_models(facts))
    if facts.sources:
        body += "\n## Sources\n\n" + "\n".join(f"- {source}" for source in facts.sources) + "\n"
    if facts.baselines:
        body += "\n## Shortcut baselines\n\nThe share of rows that somebody gets right who does not follow the path (per row, all its graph arguments).\n\n"
        columns = [key for key in facts.baselines[0] if key not in ("name", "meaning", "goal")]
        body += "| baseline | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns) + "\n"
        for row in facts.baselines:
            cells = ["-" if row.get(key) is None else f"{100 * row[key]:.1f} %" for key in columns]
            body += f"| {row['meaning']} | " + " | ".join(cells) + " |\n"
    body += f"""
## Known limits

{_limits(facts)} People, places, numbers
and addresses are made up (example.org, 555 01xx numbers, account numbers whose check digit is wrong). `hops` counts golden triples,
as the paper does; `depth` is the longest chain.

## Cite

FamilyTool: A Multi-hop Personalized Tool Use Benchmark, arXiv:2504.06766.
"""
    return "\n".join(yaml) + "\n---\n" + body


def _golden(facts: ReleaseFacts) -> str:
    if facts.campaign.generation.method == "paper" and facts.models:
        return "The golden call of every row was written by a model from a small part of the graph, and traced in all of it; it"
    return "The golden call of every row was computed by executing its relation path through the graph; it"


def _method(facts: ReleaseFacts) -> str:
    """How queries and calls came about, in a sentence or two."""
    named = {role: model["id"] for model in facts.models for role in model["roles"]}
    kept = f" {facts.kept:,} rows are kept, with their ids, from a former release." if facts.kept else ""
    if "writer" not in named:
        by = (
            "Generated by templates, without a language model, by familytool."
            if not named
            else "Queries come from templates, by familytool."
        )
    elif facts.campaign.generation.method == "paper":
        by = f"Queries and golden calls written by {_plain(named['writer'])} from small graphs (the paper's method), by familytool."
    else:
        by = (
            f"Queries phrased by {_plain(named['writer'])} from drafts of templates, and kept only where {_plain(named['solver'])}, shown the "
            "query alone, named the golden paths again; golden calls are no model's; by familytool."
        )
    asked = [f" Tool documents were read for preferences by {_plain(named['extractor'])}."] if "extractor" in named else []
    if "judge" in named:
        number = facts.campaign.validation.judges
        often = f", {number} answers each, by majority" if number > 1 else ""
        asked.append(f" Query, intent and feasibility were judged by {_plain(named['judge'])}{often}, with quoted evidence.")
        if facts.campaign.validation.on_unknown == "judge":
            asked.append(" Where the rules could not tell, the judge's pass counts.")
    return by + "".join(asked) + kept


def _limits(facts: ReleaseFacts) -> str:
    models = sorted(name for name in facts.writers if name != "templates")
    if not models:
        return "Queries come from templates and hints written by hand: they are sayable, and narrower than what people say."
    told = " and ".join(map(_plain, models))
    others = f" ({facts.writers['templates']:,} rows have queries from templates.)" if facts.writers.get("templates") else ""
    return (
        f"Queries were written by {told}: they are narrower than what people say, and a model of the same family may find its own words "
        f"easier than others do.{others}"
    )


def _of_models(facts: ReleaseFacts) -> Iterator[str]:
    """The sections that only a release with models, or with rows left out, has."""
    funnel = facts.funnel
    if facts.models:
        yield "\n## Models and prompts\n\n| model | asked as | settings |\n|---|---|---|\n"
        for model in facts.models:
            settings = ", ".join(f"{name} {json.dumps(value)}" for name, value in model["settings"].items()) or "the endpoint's own"
            yield f"| {_plain(model['id'])} | {', '.join(model['roles'])} | {settings} |\n"
        prompts = ", ".join(f"{name} {value}" for name, value in facts.prompts.items())
        yield f"\nPrompt files (SHA-256, 16 digits): {prompts}.\n" if prompts else ""
    if funnel and (facts.models or facts.awaiting or facts.kept):
        yield f"\n## From candidates to rows\n\n{funnel['candidates']:,} candidates"
        yield "".join(f", {lost:,} rejected at {_plain(stage)}" for stage, lost in funnel["rejected"].items())
        yield f": {funnel['accepted']:,} accepted."
        yield f" {facts.awaiting:,} of them await a person's review and are left out." if facts.awaiting else ""
        yield f" {facts.kept:,} rows of the former release come on top." if facts.kept else ""
        yield f" {facts.twins:,} rows are twins (`twin_of`): the same request about somebody else.\n" if facts.twins else "\n"
    if facts.agreement:
        yield "\n## Rules and judge\n\nOver all candidates, where both decide:\n\n| check | candidates | agreement | kappa |\n|---|---|---|---|\n"
        for row in facts.agreement:
            share = "-" if row["share"] is None else f"{100 * row['share']:.1f} %"
            yield f"| {_plain(row['check'])} | {row['decided']:,} | {share} | {'-' if row['kappa'] is None else row['kappa']} |\n"
        yield "\n(Kappa is not defined where one side always says the same.)\n"
    if facts.cost:
        yield "\n## What it took\n\n| for | calls | prompt tokens | output tokens | US dollars |\n|---|---|---|---|---|\n"
        for row in facts.cost:
            price = "no price" if row["price"] is None else f"{row['price']:.4f}"
            yield f"| {row['for']} | {row['calls']:,} | {row['prompt_tokens']:,} | {row['output_tokens']:,} | {price} |\n"
        yield "\nProbes of endpoints and calls for candidates that were not needed come on top; the run's report has them.\n"


def _plain(name: str) -> str:
    """A name from outside on one line of Markdown, so that it opens nothing."""
    line = " ".join("".join(c if c.isprintable() else " " for c in name).split())[:120]
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in line)
