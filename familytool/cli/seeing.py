"""The verbs that look at a run: `status`, `why`, `preview`."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from familytool.cli.options import BudgetOption, CampaignArgument, DocumentsOption, PricesOption, ReplayOption, RunDirOption, SeedOption
from familytool.cli.passport import say_passport
from familytool.cli.places import existing_run, job_of, run_of, spending_of
from familytool.cli.progress import duration, progress_shown
from familytool.cli.saying import counted, say, say_candidate, say_funnel, say_long, say_sample, say_table
from familytool.errors import UsageError


def status(campaign: CampaignArgument, run_dir: RunDirOption = None) -> None:
    """How far a run is, also while it is going on: rows, the funnel, model calls and money, and about what the rest will take.

    Example:  familytool status home
    """
    from familytool.runs import RunFolder

    folder = RunFolder(existing_run(campaign, run_dir))
    manifest = folder.manifest()
    stages = manifest.get("stages", {})
    say(str(folder.path))
    say(f"finished stages: {', '.join(stages) or 'none yet'}")
    holder = folder.holder()
    if holder:
        say(f"in use by {holder}")
    made_for = _campaign_of(manifest)
    wanted, kept = _wanted(made_for, folder)
    say_funnel(folder, wanted)
    if kept:
        say(f"{counted(kept, 'row')} kept from the former release; the funnel is of the new ones.")
    _say_spending(folder, made_for, wanted, bool(holder), "generate" in stages)


def _campaign_of(manifest: Any) -> Any:
    """The campaign of a run as its manifest holds it; None where it holds none that this version can read."""
    from pydantic import ValidationError

    from familytool.campaign import Campaign

    try:
        return Campaign.model_validate(manifest.get("identity", {}).get("campaign"))
    except ValidationError:
        return None


def _wanted(campaign: Any, folder: Any) -> tuple[dict[str, int], int]:
    """New rows wanted by stratum, and how many rows come from a former release."""
    if campaign is None:
        return {}, 0
    strata, kept = {name: n for name, n in campaign.generation.strata.items() if n}, 0
    for row in folder.rows("base.jsonl"):
        kept += 1
        name = f"hop{len(row['golden_triples'])}" if row["kind"] == "graph" else row["kind"]
        if name in strata:
            strata[name] = max(0, strata[name] - 1)
    return strata, kept


def _say_spending(folder: Any, campaign: Any, wanted: dict[str, int], is_held: bool, is_made: bool) -> None:
    """Calls, tokens and money of a run's ledger, what a row took, and what the rest will take."""
    from familytool.evaluation.spending import PURPOSES, dollars, making_rows, pace, read_spending

    spent = None if campaign is None else read_spending(campaign, folder)
    if spent is None or not spent.total.calls:
        return
    total = spent.total

    def row(name: str, part: Any) -> tuple[str, ...]:
        return (name, f"{part.calls:,}", f"{part.prompt_tokens:,}", f"{part.output_tokens:,}", dollars(part))

    rows = [row(PURPOSES.get(name, name), part) for name, part in spent.by_purpose.items()]
    say_table("Model calls", ("purpose", "calls", "prompt tokens", "output tokens", "US dollars"), [*rows, row("all", total)], (1, 2, 3, 4))
    if total.unpriced:
        say_long(f"No price is known for {total.unpriced:,} of {total.calls:,} calls.", 0)
    ended = ", ".join(f"{part.calls:,} {name}" for name, part in spent.by_outcome.items() if name != "answered")
    if ended:
        say_long(f"Not answered: {ended}.", 0)
    if spent.rows:
        mine = f"${spent.accepted.price / spent.rows:.4f} and " if total.price else ""
        each = f", ${total.price / spent.rows:.4f} with all that was not taken" if total.price else ""
        say_long(f"An accepted row took {mine}{spent.accepted.calls / spent.rows:.1f} calls of its own{each}.", 0)
    say_long(
        f"Of {total.calls:,} calls, {spent.accepted.calls:,} made accepted rows, {spent.rejected.calls:,} rejected ones, and "
        f"{spent.neither.calls:,} neither (probes, preferences, candidates in work when a stratum was full, earlier prompts).", 0,
    )  # fmt: skip
    if spent.rows != spent.released:
        say_long(f"Kept back until a person has reviewed: {counted(spent.rows - spent.released, 'accepted row')}.", 0)
    rest = sum(wanted.values()) - spent.rows
    if rest <= 0 or is_made:
        return
    further = making_rows(spent)
    if spent.rows:
        calls = further.calls * rest / spent.rows
        speed = pace(folder) if is_held else None
        parts = [f"{calls:,.0f} calls", *([f"${further.price * rest / spent.rows:.2f}"] if further.price else [])]
        parts += [f"{duration(calls * speed.seconds)} at the pace of the last {speed.calls:,} calls"] if speed else []
        say_long(f"{counted(rest, 'row')} to go: about {', '.join(parts)}, if they are like those that were made.", 0)
    if not is_held:
        say("Nobody is at work on it; `familytool run` goes on.")


def why(
    identity: Annotated[str, typer.Argument(help="Id of an accepted or rejected row.", metavar="ID")],
    run_dir: RunDirOption = None,
    prompts: Annotated[bool, typer.Option("--prompts", help="Show every prompt and raw answer whole.")] = False,
) -> None:
    """Why a row is as it is: its path, where each value comes from, documents, checks, model calls and cost; or why it was rejected.

    Examples:

      familytool why home-hop2-000003

      familytool why my-hop2-000003 --prompts
    """
    from familytool.runs import RunFolder

    folder = RunFolder(existing_run("", run_dir or Path("runs") / identity.rsplit("-", 2)[0]))
    if not say_passport(folder, identity, prompts):
        raise UsageError(f"{folder.path}: no row '{identity}'; ids stand in samples.jsonl and rejected.jsonl.")


def preview(
    campaign: CampaignArgument,
    run_dir: RunDirOption = None,
    rows: Annotated[int, typer.Option("--rows", "-n", min=1, max=200, help="How many rows to show.")] = 5,
    documents: DocumentsOption = None,
    seed: SeedOption = None,
    budget: BudgetOption = None,
    prices: PricesOption = None,
    replay: ReplayOption = False,
) -> None:
    """Rows as a person reads them: those of a finished run, spread over the set; else some that are made for this and not kept.

    Model calls of a preview go to the run's ledger, so the run itself does not make them again.

    Examples:

      familytool preview home -n 10

      familytool preview my-campaign.toml --budget 0.50
    """
    from familytool import pipeline
    from familytool.llm.meter import Meter
    from familytool.runs import RunFolder, file_hash, read_samples

    finished = run_of(campaign, run_dir)
    if finished is not None and "generate" in RunFolder(finished).manifest().get("stages", {}):
        paths = [path for path in (finished / "base.jsonl", finished / "samples.jsonl") if path.exists()]
        step = max(1, sum(int(file_hash(path)["rows"]) for path in paths) // rows)
        for number, sample in enumerate(chain.from_iterable(map(read_samples, paths))):
            if number % step == 0 and number // step < rows:
                say_sample(sample)
        return
    job = job_of(campaign, documents, seed)
    meter, folder = Meter(), RunFolder(run_dir or Path("runs") / job.campaign.name)
    with progress_shown(meter) as progress:
        made = pipeline.preview(job, folder, rows, progress, spending_of(budget, prices, replay, None), meter.tell)
    for candidate in made:
        say_candidate(candidate)
    good = sum(candidate.is_good for candidate in made)
    calls = f"; {meter.line()}, kept in {folder.path / 'ledger.sqlite'}" if meter.line() else ""
    typer.echo(f"\n{good} of {len(made)} passed; no row was written{calls}")
