"""What a dry run shows: the campaign's size, three rows or prompts, and what model calls will take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from familytool.cli.saying import say, say_sample


def say_plan(job: Any, run_dir: Path | None, spending: Any) -> None:
    """What would be made: rows, documents, graph, and three rows or prompts."""
    from familytool import pipeline
    from familytool.generation.generate import make_candidate
    from familytool.generation.planning import Planner

    strata = job.campaign.generation.strata
    typer.echo(f"{job.campaign.name}: {sum(strata.values()):,} rows ({', '.join(f'{k} {v}' for k, v in strata.items())})")
    material = pipeline.prepare(job)
    typer.echo(
        f"documents: {len(material.documents)}, usable tools: {len(material.tools)}, refused or unused: {len(material.refusals)} (refusals.jsonl lists them)"
    )
    world = material.world(0)
    typer.echo(
        f"graph: {job.campaign.family.count} x {len(world.graph):,} facts about {len(world.people)} people, {len(material.concepts)} attribute relations"
    )
    if job.campaign.uses_models:
        _show_estimate(job, run_dir, spending)
        return
    planner, shown = Planner(material), 0
    for stratum, wanted in strata.items():
        order = planner.order(stratum, 0) if wanted else None
        candidate = make_candidate(material, order) if order else None
        if candidate is not None and hasattr(candidate, "query") and shown < 3:
            shown += 1
            say_sample(candidate)
    typer.echo("Nothing was written; the same command without --dry-run makes it.")


def _show_estimate(job: Any, run_dir: Path | None, spending: Any) -> None:
    """What the model calls of a run will take, and three of its prompts whole."""
    from familytool.estimates import estimate_run

    found = estimate_run(
        job.campaign,
        job.material,
        run_dir or Path("runs") / job.campaign.name,
        spending.prices,
        batch=spending.batch is not None,
        prompts=job.prompts,
    )
    for purpose, request in found.prompts:
        say(f"\n--- {purpose} prompt for {request.model} ({request.sampling.model_dump_json(exclude_none=True)})")
        for message in request.messages:
            say(f"[{message['role']}]\n{message['content']}")
    typer.echo("\n--- estimate")
    for purpose, part in found.by_purpose.items():
        typer.echo(f"  {purpose:<8} {_estimated(part)}")
    typer.echo(f"  {'all':<8} {_estimated(found.total)}")
    for line in (*found.measured, *found.notes):
        typer.echo(f"  {line}")
    typer.echo("Nothing was written and no model was asked; the same command without --dry-run makes it.")


def _estimated(part: Any) -> str:
    tokens = f"{part.prompt_tokens[0] + part.output_tokens[0]:,} to {part.prompt_tokens[1] + part.output_tokens[1]:,} tokens"
    cost = f", ${part.cost[0]:.2f} to ${part.cost[1]:.2f}" if part.cost[1] else ""
    unpriced = f" (no price known for {', '.join(part.unpriced)}: tokens only)" if part.unpriced else ""
    known = f", {part.answered:,} more in the ledger" if part.answered else ""
    return f"{part.calls:,} calls{known}, {tokens}{cost}{unpriced}"
