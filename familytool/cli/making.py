"""The verbs that make rows: `run` and `generate`."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from familytool.cli.options import (
    BaseOption,
    BatchOption,
    BudgetOption,
    CampaignArgument,
    DocumentsOption,
    DryRunOption,
    PricesOption,
    ReplayOption,
    RunDirOption,
    SeedOption,
)
from familytool.cli.places import job_of, program_name, run_folder, spending_of
from familytool.cli.planned import say_plan
from familytool.cli.progress import progress_shown
from familytool.cli.saying import say_funnel
from familytool.errors import UsageError


def run(
    campaign: CampaignArgument,
    run_dir: RunDirOption = None,
    documents: DocumentsOption = None,
    seed: SeedOption = None,
    dry_run: DryRunOption = False,
    budget: BudgetOption = None,
    prices: PricesOption = None,
    replay: ReplayOption = False,
    batch: BatchOption = None,
    base: BaseOption = None,
) -> None:
    """Generate, check, release and evaluate a campaign; an interrupted run goes on where it stood.

    A campaign without [models] asks no model. With models, every call is in the run's ledger and none is paid twice.

    Examples:

      familytool run home

      familytool run paper --documents mtu-bench/ --run-dir runs/paper

      familytool run my-campaign.toml --dry-run

      familytool run my-campaign.toml --budget 5
    """
    from familytool import pipeline
    from familytool.catalogue.tables import CAMPAIGNS

    job = job_of(campaign, documents, seed, base)
    spending = spending_of(budget, prices, replay, batch)
    if dry_run:
        say_plan(job, run_dir, spending)
        return
    begun = time.monotonic()
    if job.campaign.generation.extractor == "rules":
        pipeline.prepare(job)  # whatever is wrong with the documents is said before a run folder is made
    with _generating(job, run_dir, spending) as (folder, progress, meter):
        _show_edit(folder)
        again = "generate" in folder.manifest().get("stages", {})
        facts = pipeline.run_all(job, folder, progress, spending, meter.tell)
    seconds = time.monotonic() - begun
    hops = ", ".join(f"{name} {count}" for name, count in facts.rows.items() if name != "all")
    where = folder.path
    typer.echo(
        f"Made:  {facts.rows['all']:,} samples over {facts.golden_tools} tools ({hops}) {'(samples kept from before) ' if again else ''}in {seconds:.0f} s, all four checks passed"
    )
    if meter.line():
        typer.echo(f"Calls: {meter.line()}")
    typer.echo(f"Where: {where / 'release'} (load_dataset), {where / 'report.html'} (open it in a browser)")
    program = program_name()
    at = "" if run_dir is None else f" --run-dir {shlex.quote(str(run_dir))}"
    from_ = f" --from {campaign}" if campaign in CAMPAIGNS else ""
    campaign = shlex.quote(campaign)
    typer.echo(
        f"Next:  {program} preview {campaign}{at}   or   {program} why {_first_id(where)}{at}   or   {program} init my-benchmark{from_}"
    )


def _first_id(where: Path) -> str:
    with (where / "samples.jsonl").open(encoding="utf-8") as file:
        return str(json.loads(file.readline())["id"])


@contextmanager
def _generating(job: Any, run_dir: Path | None, spending: Any) -> Iterator[tuple[Any, Any, Any]]:
    """The run folder, the progress display and the meter of calls; a batch's results are taken in before and its requests written after."""
    from familytool.llm.meter import Meter
    from familytool.models import Deferred, take_results, write_requests

    meter = Meter()
    strata = {name: max(0, rows - job.base.count(name)) for name, rows in job.campaign.generation.strata.items()}
    with run_folder(job, run_dir) as folder, progress_shown(meter, strata) as progress:
        report = None if spending.batch is None else take_results(folder.path, spending.batch, spending.prices)
        if report is not None:
            typer.echo(_batch_account(report), err=True)
        try:
            yield folder, progress, meter
        except Deferred:
            parts = write_requests(job.campaign, job.deferred, spending.batch, report.waiting if report else frozenset())
            typer.echo(_batch_next(parts, len(job.deferred), spending.batch))
            raise typer.Exit from None


def _batch_account(report: Any) -> str:
    errors = "".join(f", {count:,} {kind}" for kind, count in report.errors.items())
    problems = "".join(f"\n  {problem.file}:{problem.line}: {problem.message}" for problem in report.problems)
    return (
        f"batch: {report.answered:,} new answers, {report.known:,} known before{errors}, {len(report.waiting):,} still waited for, "
        f"{report.unknown:,} of other batches, {report.malformed:,} unreadable{problems}"
    )


def _batch_next(parts: list[Any], needed: int, batch: Path) -> str:
    if not parts:
        return f"{needed:,} calls wait for results; put the result files into {batch} and run the same command again."
    files = "".join(f"\n  {part.path} ({part.requests:,} requests to {part.model})" for part in parts)
    return f"Requests to submit (OpenAI Batch, or `vllm run-batch -i FILE -o RESULTS`):{files}\nPut the result files into {batch} and run the same command again."


def _show_edit(folder: Any) -> None:
    """Say what an edit of the campaign changed, and what became of the rows made before it."""
    from familytool import pipeline

    differences, aside = pipeline.take_edit(folder)
    if differences:
        typer.echo(f"{folder.path}: the campaign was edited ({'; '.join(differences)})", err=True)
        what = f"what it made stale is kept in {aside}" if aside else "nothing that was made hangs on this"
        typer.echo(f"  {what}; model calls whose prompts are the same are not made again", err=True)


def generate(
    campaign: CampaignArgument,
    run_dir: RunDirOption = None,
    documents: DocumentsOption = None,
    seed: SeedOption = None,
    dry_run: DryRunOption = False,
    budget: BudgetOption = None,
    prices: PricesOption = None,
    replay: ReplayOption = False,
    batch: BatchOption = None,
    base: BaseOption = None,
    stop_after: Annotated[
        str | None, typer.Option("--stop-after", help="'preferences': write tools, preferences and graph to be reviewed, and no rows.")
    ] = None,
) -> None:
    """Only the first stage of `run`: candidates, the four checks, accepted and rejected rows.

    Examples:

      familytool generate home

      familytool generate my-campaign.toml --stop-after preferences

      familytool generate my-campaign.toml --budget 5

      familytool generate my-campaign.toml --batch batch/

      familytool generate my-campaign.toml --base runs/my/release --run-dir runs/my-2
    """
    from familytool import pipeline

    if stop_after not in (None, "preferences"):
        raise UsageError(f"--stop-after {stop_after}: it takes 'preferences'.")
    job = job_of(campaign, documents, seed, base)
    spending = spending_of(budget, prices, replay, batch)
    if dry_run:
        say_plan(job, run_dir, spending)
        return
    if job.campaign.generation.extractor == "rules":
        pipeline.prepare(job)
    with _generating(job, run_dir, spending) as (folder, progress, meter):
        _show_edit(folder)
        if stop_after is not None:
            material = pipeline.extract(job, folder, progress, spending, meter.tell)
        else:
            pipeline.generate(job, folder, progress, spending, meter.tell)
    if stop_after is not None:
        typer.echo(
            f"{len(material.preferences):,} preferences of {len(material.tools):,} tools, {len(material.concepts)} relations, {len(material.refusals):,} refusals"
        )
        typer.echo(
            f"{folder.path}: review preferences.jsonl, refusals.jsonl, small_graphs.jsonl and graph.jsonl; the same command without --stop-after goes on."
        )
    else:
        say_funnel(folder)
    if meter.line():
        typer.echo(f"Calls: {meter.line()}")
