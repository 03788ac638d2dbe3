"""The command line. Each verb finds the campaign, opens the run folder, and calls one function of the pipeline."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from familytool import __version__
from familytool.errors import FamilytoolError, UsageError

app = typer.Typer(
    name="familytool",
    help="Generate, check, release and score benchmarks of multi-hop personalised tool use.\n\nStart with:  familytool run home",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
release_app = typer.Typer(help="Release folders.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(release_app, name="release")
ledger_app = typer.Typer(help="The ledger of model calls of a run.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(ledger_app, name="ledger")

STOPPED = 130
"""Exit code of a program that Control-C ended, by the convention of the shells."""

CampaignArgument = Annotated[
    str, typer.Argument(help="A built-in campaign (home, paper, extended) or a campaign file.", metavar="NAME_OR_PATH")
]
RunDirOption = Annotated[Path | None, typer.Option("--run-dir", help="Folder of the run; default runs/<campaign name>.")]
DocumentsOption = Annotated[Path | None, typer.Option("--documents", help="Tool documents: a file or folder; overrides the campaign's.")]
BudgetOption = Annotated[
    str | None,
    typer.Option("--budget", help="Hard cap in US dollars over all model calls of this run folder; never passed.", metavar="USD"),
]
PricesOption = Annotated[Path | None, typer.Option("--prices", help="Price file that overrides the built-in prices.")]
ReplayOption = Annotated[bool, typer.Option("--replay", help="Take every model answer from the run's ledger; no socket is opened.")]
BaseOption = Annotated[
    Path | None,
    typer.Option("--base", help="Former release to extend: its rows and ids stay, only what is lacking is made.", metavar="RELEASE"),
]
BatchOption = Annotated[
    Path | None,
    typer.Option("--batch", help="Write model calls as OpenAI Batch files into this folder and read results from it.", metavar="DIR"),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be made, with three rows or prompts and what it would cost, and write nothing.")
]
SeedOption = Annotated[int | None, typer.Option("--seed", min=0, help="Another seed than the campaign's.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"familytool {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")] = False,
) -> None:
    """Options of the program itself."""


def _job(campaign: str, documents: Path | None, seed: int | None, base: Path | None = None) -> Any:
    from familytool.pipeline import Job, find_campaign

    found, folder = find_campaign(campaign)
    if seed is not None:
        found = found.model_copy(update={"seed": seed})
    return Job(found, folder, documents, base)


def _finished(campaign: str, run_dir: Path | None) -> tuple[Any, Any]:
    """The job and the folder of a run that is there, as the folder itself says they are."""
    from familytool.campaign import Campaign
    from familytool.pipeline import Job
    from familytool.runs import RunFolder

    folder = RunFolder(_existing_run(campaign, run_dir))
    beside = Path(campaign).parent if Path(campaign).is_file() else Path()
    known = folder.manifest().get("identity", {}).get("campaign")
    if known is None:
        raise FamilytoolError(f"{folder.path / 'manifest.json'}: it does not say which campaign the run is of; restore it, or run again.")
    return Job(Campaign.model_validate(known), beside), folder


def _run_folder(job: Any, run_dir: Path | None) -> Any:
    from familytool.runs import RunFolder

    return RunFolder(run_dir or Path("runs") / job.campaign.name, job.identity())


def _existing_run(campaign: str, run_dir: Path | None) -> Path:
    """The run folder of a campaign name, a campaign file, or of a folder named outright."""
    path = _run_path(campaign, run_dir)
    if not (path / "manifest.json").exists():
        raise UsageError(f"{path}: no run here yet; start one with `familytool run`, or give --run-dir.")
    return path


def _run_path(campaign: str, run_dir: Path | None) -> Path:
    if run_dir is not None:
        return run_dir
    if Path(campaign).is_dir():
        return Path(campaign)
    from familytool.pipeline import find_campaign

    return Path("runs") / find_campaign(campaign)[0].name


def _run_of(campaign: str, run_dir: Path | None) -> Path | None:
    """The run folder, or None where there is no run yet."""
    path = _run_path(campaign, run_dir)
    return path if (path / "manifest.json").exists() else None


@contextmanager
def _progress(meter: Any = None) -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar for each stage on a terminal; elsewhere a line when a stage is done. Ctrl-C ends with one sentence.

    A meter's calls, tokens and money stand beside it.
    """
    try:
        if sys.stderr.isatty():
            with _progress_bars(meter) as show:
                yield show
        else:
            yield lambda what, done, of: typer.echo(f"  {what}: {done:,} of {of:,}{_metered(meter)}", err=True) if done == of else None
    except KeyboardInterrupt:
        raise FamilytoolError("stopped; what is finished is kept, and the same command goes on.") from None


def _metered(meter: Any, done: int = 0, of: int = 0) -> str:
    line = meter.line(done, of) if meter is not None else ""
    return f"  ({line})" if line else ""


@contextmanager
def _progress_bars(meter: Any) -> Iterator[Callable[[str, int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("{task.fields[calls]}"))
    with Progress(TextColumn("  {task.description:<10}"), *columns, console=Console(stderr=True)) as bar:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=of or None, calls="")
            bar.update(tasks[what], completed=done, total=of or None, calls=_metered(meter, done, of))

        yield show


@app.command()
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

    job = _job(campaign, documents, seed, base)
    spending = _spending(budget, prices, replay, batch)
    if dry_run:
        _show_plan(job, run_dir, spending)
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
    program = _program()
    at = "" if run_dir is None else f" --run-dir {shlex.quote(str(run_dir))}"
    from_ = f" --from {campaign}" if campaign in CAMPAIGNS else ""
    campaign = shlex.quote(campaign)
    typer.echo(
        f"Next:  {program} preview {campaign}{at}   or   {program} why {_first_id(where)}{at}   or   {program} init my-benchmark{from_}"
    )


def _program() -> str:
    """How this program can be called again from here: by its name where that is on the path, else by its relative path."""
    called = Path(sys.argv[0])
    found = shutil.which("familytool")
    if called.name != "familytool" or (found is not None and called.exists() and Path(found).samefile(called)):
        return "familytool"
    return shlex.quote(os.path.relpath(called))


def _first_id(where: Path) -> str:
    with (where / "samples.jsonl").open(encoding="utf-8") as file:
        return str(json.loads(file.readline())["id"])


def _spending(budget: str | None, prices: Path | None, replay: bool, batch: Path | None) -> Any:
    from decimal import Decimal, InvalidOperation

    from familytool.llm.prices import read_prices
    from familytool.models import Spending

    if replay and batch is not None:
        raise UsageError("--replay takes every answer from the ledger and --batch asks for new ones; give one of them.")
    try:
        cap = None if budget is None else Decimal(budget)
    except InvalidOperation:
        raise UsageError(f"--budget {budget}: no amount of US dollars; give a number such as 5 or 0.50.") from None
    return Spending(cap, read_prices(prices), replay, batch)


@contextmanager
def _generating(job: Any, run_dir: Path | None, spending: Any) -> Iterator[tuple[Any, Any, Any]]:
    """The run folder, the progress display and the meter of calls; a batch's results are taken in before and its requests written after."""
    from familytool.llm.meter import Meter
    from familytool.models import Deferred, take_results, write_requests

    meter = Meter()
    with _run_folder(job, run_dir) as folder, _progress(meter) as progress:
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
    problems = "".join(f"\n  {problem.path}:{problem.line}: {problem.message}" for problem in report.problems)
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


def _show_plan(job: Any, run_dir: Path | None, spending: Any) -> None:
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
            _show_sample(candidate)
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
        _print(f"\n--- {purpose} prompt for {request.model} ({request.sampling.model_dump_json(exclude_none=True)})")
        for message in request.messages:
            _print(f"[{message['role']}]\n{message['content']}")
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


def _show_sample(sample: Any) -> None:
    _print(f"\n{sample.id}  [{sample.kind}, {sample.hops} hop{'s' if sample.hops != 1 else ''}, shape {sample.shape}]")
    _print(f"  {sample.speaker}: {sample.query}")
    for path in sample.golden_paths:
        _print(f"  path: {' -> '.join([path.start, *path.relations])}")
    for call in sample.calls:
        _print(f"  call: {call.name}({json.dumps(call.arguments, ensure_ascii=False)})")
    if not sample.calls:
        _print("  call: none of the offered tools")
    _print(f"  offered: {', '.join(tool.name for tool in sample.candidate_tools)}")


def _print(text: str) -> None:
    """Print a line whose text may come from documents: control characters are shown, never sent to the terminal."""
    typer.echo("".join(c if c == "\n" or unicodedata.category(c)[0] != "C" else f"\\x{ord(c):02x}" for c in text))


@app.command()
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
    job = _job(campaign, documents, seed, base)
    spending = _spending(budget, prices, replay, batch)
    if dry_run:
        _show_plan(job, run_dir, spending)
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
        _show_funnel(folder)
    if meter.line():
        typer.echo(f"Calls: {meter.line()}")


@app.command()
def validate(campaign: CampaignArgument, run_dir: RunDirOption = None) -> None:
    """The four checks again over the finished rows of a run; writes findings.jsonl and summary.json. Exit code 1 if one fails.

    Example:  familytool validate home
    """
    from familytool import pipeline

    job, run = _finished(campaign, run_dir)
    with run as folder, _progress() as progress:
        summary = pipeline.validate(folder, job.checks, progress)
    for check, verdicts in summary["by_check"].items():
        typer.echo(f"{check:<12} {', '.join(f'{name} {count:,}' for name, count in verdicts.items())}")
    typer.echo(f"{summary['n_samples']:,} rows; details in {folder.path / 'findings.jsonl'}")
    if any(v["fail"] for v in summary["by_check"].values()):
        raise typer.Exit(1)


@app.command()
def audit(
    path: Annotated[
        Path,
        typer.Argument(
            help="A benchmark: a file or folder in any format that `familytool formats` lists, a run or a release folder.", metavar="PATH"
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for summary.json, findings.jsonl and report.html.")],
    graph: Annotated[Path | None, typer.Option("--graph", help="Knowledge graph file, in any format of graphs.")] = None,
    format_name: Annotated[str, typer.Option("--format", help="Format of the benchmark; 'auto' recognises it.")] = "auto",
    documents: DocumentsOption = None,
    campaign: Annotated[
        str | None, typer.Option("--campaign", help="Use the checks of this campaign's [validation].", metavar="NAME_OR_PATH")
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Write a patched copy, patches.jsonl and left.jsonl (what is left for people).")
    ] = False,
    data_docs: Annotated[bool, typer.Option("--data-docs", help="Write Great Expectations' own pages to OUT/data_docs too.")] = False,
    fail_on: Annotated[str, typer.Option("--fail-on", help="Exit with 1 if one of these codes was found: CODE[,CODE] or 'any'.")] = "",
) -> None:
    """Check a whole benchmark: every sample four ways, the graph, and the set as a table. Exit code 0 also with findings.

    Examples:

      familytool audit familytool-b.jsonl --graph familykg-b.txt --out audits/b

      familytool audit mtu-bench/ --out audits/mtu

      familytool audit runs/home/release --out audits/home --fail-on any

      familytool audit familytool-b.jsonl --graph familykg-b.txt --out audits/b --repair
    """
    from familytool.pipeline import Job, find_campaign
    from familytool.validation.audit import Order, failing_codes
    from familytool.validation.audit import audit as run_audit
    from familytool.validation.checks import ALL_CHECKS

    failing = failing_codes(fail_on)
    checks = ALL_CHECKS if campaign is None else Job(*find_campaign(campaign)).checks
    with _progress() as progress:
        summary = run_audit(Order(path, format_name, graph, documents, checks, repair, data_docs), out, progress)
    _show_audit(summary, out)
    found = [code for code in summary["by_code"] if failing(code)]
    if found:
        typer.echo(f"--fail-on: found {', '.join(found)}", err=True)
        raise typer.Exit(1)


def _show_audit(summary: dict[str, Any], out: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    total, calls = summary["n_samples"], summary["calls"]
    shown = Table(title=f"Findings in {total:,} samples ({summary['source']['format']})", title_justify="left")
    for heading in ("code", "samples", "findings"):
        shown.add_column(heading, justify="left" if heading == "code" else "right")
    for code, counts in summary["by_code"].items():
        shown.add_row(code, f"{counts['samples']:,}" if counts["samples"] else "-", f"{counts['findings']:,}")
    Console().print(shown)
    for check, verdicts in summary["by_check"].items():
        typer.echo(f"{check:<12} {', '.join(f'{name} {count:,}' for name, count in verdicts.items())}")
    share = f"{100 * calls['conform_share']:.1f} %" if calls["conform_share"] is not None else "n/a"
    typer.echo(f"{calls['conform']:,} of {calls['checked']:,} calls of offered tools fit their tool's schema ({share})")
    if summary["n_rejected"]:
        typer.echo(f"{summary['n_rejected']:,} rows could not be read; {out / 'rejected.jsonl'} says why")
    if "repair" in summary:
        made = summary["repair"]
        typer.echo(
            f"{made['n_patched']:,} samples patched, {made['n_left']:,} left for people; see {out / 'patches.jsonl'}, {out / 'left.jsonl'}"
        )
    typer.echo(f"{out / 'report.html'} (open it in a browser), {out / 'findings.jsonl'}, {out / 'summary.json'}")


@release_app.command("build")
def release_build(campaign: CampaignArgument, run_dir: RunDirOption = None) -> None:
    """Build the release folder of a finished run again.

    Example:  familytool release build home
    """
    from familytool import pipeline

    job, run = _finished(campaign, run_dir)
    with run as folder:
        facts = pipeline.release(job, folder)
    typer.echo(f"{folder.path / 'release'}: {', '.join(f'{name} {count:,}' for name, count in facts.rows.items())}")


@ledger_app.command("export")
def ledger_export(
    campaign: CampaignArgument,
    out: Annotated[Path, typer.Option("--out", help="JSONL file to write; .gz is not added.")],
    run_dir: RunDirOption = None,
) -> None:
    """Write every finished call of a run as JSONL, without keys and addresses, to be published and read again by others.

    Example:  familytool ledger export my-campaign.toml --out answers.jsonl
    """
    from familytool.llm.exchange import export_ledger
    from familytool.runs import LEDGER

    path = _run_path(campaign, run_dir) / LEDGER
    if not path.exists():
        raise UsageError(f"{path}: no ledger here; a run that asked a model has one.")
    typer.echo(f"{out}: {export_ledger(path, out):,} calls")


@ledger_app.command("import")
def ledger_import(
    campaign: CampaignArgument,
    source: Annotated[Path, typer.Argument(help="File that `ledger export` wrote.", metavar="FILE")],
    run_dir: RunDirOption = None,
) -> None:
    """Take exported calls into the ledger of a run; keys are computed again from the requests. Then `run --replay` needs no network.

    Example:  familytool ledger import my-campaign.toml answers.jsonl
    """
    from familytool.llm.exchange import import_ledger
    from familytool.runs import LEDGER

    folder = _run_path(campaign, run_dir)
    folder.mkdir(parents=True, exist_ok=True)
    report = import_ledger(source, folder / LEDGER)
    typer.echo(f"{folder / LEDGER}: {_imported(report)}")


def _imported(report: Any) -> str:
    counts = report.model_dump()
    problems = counts.pop("problems", ())
    told = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in counts.items() if isinstance(value, int))
    return told + "".join(f"\n  {problem['path']}:{problem['line']}: {problem['message']}" for problem in problems)


@app.command()
def evaluate(
    campaign: Annotated[
        str,
        typer.Argument(
            help="A campaign with a finished run, or a published FamilyTool file (*.jsonl) with --graph.", metavar="NAME_OR_PATH"
        ),
    ],
    run_dir: RunDirOption = None,
    graph: Annotated[Path | None, typer.Option("--graph", help="Knowledge graph file of a published FamilyTool set.")] = None,
) -> None:
    """Gold replay and the shortcut baselines, by hop. A published FamilyTool file gets the baselines.

    Examples:

      familytool evaluate home

      familytool evaluate datasets/familytool-b.jsonl --graph KG/familykg-b.txt
    """
    from familytool import pipeline

    if graph is not None:
        table, count, rejected = pipeline.score_published(Path(campaign), graph)
        typer.echo(f"{campaign}: {count} rows")
        _show_baselines(table)
        for sentence in rejected:
            typer.echo(f"  not read: {sentence}", err=True)
        return
    if Path(campaign).suffix in (".jsonl", ".csv", ".json"):
        raise UsageError(f"{campaign}: a published FamilyTool file needs its knowledge graph: give --graph FILE.")
    job, run = _finished(campaign, run_dir)
    with run as folder:
        results = pipeline.evaluate(job, folder)
    typer.echo("gold replay: " + ", ".join(f"{k} {'n/a' if v is None else f'{v:.3f}'}" for k, v in results["scores"]["strict"].items()))
    _show_baselines(results["baselines"])


def _show_baselines(table: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    columns = [key for key in table[0] if key not in ("name", "meaning", "goal")] if table else []
    shown = Table(title="Shortcuts: share of rows right without following the path", title_justify="left")
    for heading in ("baseline", *columns):
        shown.add_column(heading, justify="left" if heading == "baseline" else "right")
    for row in table:
        shown.add_row(row["meaning"], *("-" if row.get(c) is None else f"{100 * row[c]:.1f} %" for c in columns))
    Console().print(shown)


@app.command()
def report(campaign: CampaignArgument, run_dir: RunDirOption = None) -> None:
    """Write report.html of a finished run again: one file, no network needed.

    Example:  familytool report home
    """
    from familytool import pipeline

    job, run = _finished(campaign, run_dir)
    with run as folder:
        typer.echo(str(pipeline.report(job, folder)))


@app.command()
def status(campaign: CampaignArgument, run_dir: RunDirOption = None) -> None:
    """How far a run is: stages, rows, and the funnel from candidates to accepted rows.

    Example:  familytool status home
    """
    from familytool.runs import RunFolder

    folder = RunFolder(_existing_run(campaign, run_dir))
    stages = folder.manifest().get("stages", {})
    typer.echo(f"{folder.path}: finished stages: {', '.join(stages) or 'none yet'}")
    holder = folder.holder()
    if holder:
        typer.echo(f"in use by {holder}")
    _show_funnel(folder)
    _show_costs(folder)


def _show_costs(folder: Any) -> None:
    """Calls, tokens and money of a run's ledger by purpose, and what an accepted row has cost."""
    from familytool.llm.ledger import Ledger
    from familytool.runs import LEDGER, read_samples

    if not (folder.path / LEDGER).exists():
        return
    from rich.console import Console
    from rich.table import Table

    with Ledger(folder.path / LEDGER, replay=True) as ledger:
        totals, total = ledger.totals("purpose"), ledger.total()
        rows = list(read_samples(folder.path / "samples.jsonl")) if (folder.path / "samples.jsonl").exists() else []
        used = ledger.cost(key for sample in rows for key in sample.provenance.get("calls", ()))
        lost = ledger.cost(key for row in folder.rows("rejected.jsonl") for key in row.get("calls", ()))
    shown = Table(title="Model calls", title_justify="left")
    for heading in ("purpose", "calls", "prompt tokens", "output tokens", "US dollars"):
        shown.add_column(heading, justify="left" if heading == "purpose" else "right")
    for name, part in [*totals.items(), ("all", total)]:
        money = "no price" if part.unpriced == part.calls else f"{part.price:.4f}"
        shown.add_row(name, f"{part.calls:,}", f"{part.prompt_tokens:,}", f"{part.output_tokens:,}", money)
    Console().print(shown)
    if rows:
        each = f", ${total.price / len(rows):.4f} with all that was not taken" if total.price else ""
        money = f"${used.price / len(rows):.4f} and " if total.price else ""
        typer.echo(f"An accepted row took {money}{used.calls / len(rows):.1f} calls of its own{each}.")
        beside = max(0, total.calls - used.calls - lost.calls)
        typer.echo(
            f"Of {total.calls:,} calls, {used.calls:,} made accepted rows, {lost.calls:,} rejected ones, and {beside:,} neither "
            "(probes, preferences, candidates in work when a stratum was full, earlier prompts)."
        )


def _show_funnel(folder: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    from familytool.runs import funnel

    shown = Table(title="Funnel", title_justify="left")
    for heading in ("stratum", "candidates", "accepted", "rejected (check: reason)"):
        shown.add_column(heading, justify="right" if heading in ("candidates", "accepted") else "left")
    for stratum, row in funnel(folder).items():
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(row["rejected"].items(), key=lambda item: -item[1]))
        shown.add_row(stratum, f"{row['candidates']:,}", f"{row['accepted']:,}", reasons or "-")
    Console().print(shown)


@app.command()
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
    from familytool.model import Sample
    from familytool.runs import RunFolder, read_samples

    folder = RunFolder(_existing_run("", run_dir or Path("runs") / identity.rsplit("-", 2)[0]))
    for sample in read_samples(folder.path / "samples.jsonl"):
        if sample.id == identity:
            _show_sample(sample)
            for pointer, source in sample.argument_sources.items():
                said = sample.query[slice(*source["span"])] if "span" in source else ""
                path = " -> ".join([source["path"]["start"], *source["path"]["relations"]]) if "path" in source else "stated"
                typer.echo(f"  {pointer}: from the {source['source']} ({path}), said as '{said}'")
            for row in folder.rows("checks.jsonl"):
                if row["sample_id"] == identity:
                    _show_check(row)
            _show_passport(folder, sample, sample.provenance.get("calls", ()), prompts)
            return
    for row in folder.rows("rejected.jsonl"):
        if row["id"] == identity:
            _print(f"{identity} was rejected by {row['check']}: {row['code']}: {row['message']}")
            sample_or_none = Sample.model_validate(row["sample"]) if row["sample"] else None
            if sample_or_none is not None:
                _show_sample(sample_or_none)
            _show_passport(folder, sample_or_none, row.get("calls", ()), prompts)
            return
    raise UsageError(f"{folder.path}: no row '{identity}'; ids stand in samples.jsonl and rejected.jsonl.")


def _show_check(row: dict[str, Any]) -> None:
    _print(f"  {row['check']}: {row['verdict']} (by {row['judge']})")
    for finding in row["findings"]:
        _print(f"    {finding['code']}{' at ' + finding['path'] if finding['path'] else ''}: {finding['message']}")


def _show_passport(folder: Any, sample: Any, calls: Any, prompts: bool) -> None:
    """What a row was made of: documents, what else was tried, each model call with its tokens and cost."""
    from familytool.llm.ledger import Ledger
    from familytool.runs import LEDGER

    origin = sample.provenance if sample is not None else {}
    if origin:
        wrote = f"written by {origin.get('writer', 'templates')}"
        _print(
            f"  {wrote}, seed {origin.get('seed')}, documents: {', '.join(origin.get('documents', ())) or 'none'}, now {origin.get('now')}"
        )
    if sample is not None and sample.twin_of:
        _print(f"  twin of {sample.twin_of}")
    if "draft" in origin:
        _print(f"  draft: {origin['draft']['query']}")
    for tried in origin.get("tried", ()):
        _print(f"  tried: {tried['query'] or '(no text)'}\n    rejected by {tried['check']}: {tried['code']}: {tried['message']}")
    if not calls or not (folder.path / LEDGER).exists():
        return
    with Ledger(folder.path / LEDGER, replay=True) as ledger:
        for key in calls:
            row, answer = ledger.row(key), ledger.lookup(key)
            if row is None or answer is None:
                _print(f"  call {key[:12]}: not in this ledger")
                continue
            money = "no price" if answer.price is None else f"${answer.price:.5f}"
            tokens = f"{answer.usage.prompt_tokens or 0} + {answer.usage.output_tokens or 0} tokens"
            _print(f"  call {key[:12]}: {row.purpose} by {row.model}, {answer.outcome}, {tokens}, {money}")
            if prompts:
                for message in json.loads(row.request)["messages"]:
                    _print(f"    [{message['role']}]\n{message['content']}")
                _print(f"    [answer]\n{answer.text}")
        cost = ledger.cost(calls)
    typer.echo(f"  in all {cost.calls} calls, {cost.prompt_tokens + cost.output_tokens:,} tokens, ${cost.price:.5f}")


@app.command()
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

    finished = _run_of(campaign, run_dir)
    if finished is not None and "generate" in RunFolder(finished).manifest().get("stages", {}):
        path = finished / "samples.jsonl"
        step = max(1, int(file_hash(path)["rows"]) // rows)
        for number, sample in enumerate(read_samples(path)):
            if number % step == 0 and number // step < rows:
                _show_sample(sample)
        return
    job = _job(campaign, documents, seed)
    meter, folder = Meter(), RunFolder(run_dir or Path("runs") / job.campaign.name)
    with _progress(meter) as progress:
        made = pipeline.preview(job, folder, rows, progress, _spending(budget, prices, replay, None), meter.tell)
    for candidate in made:
        _show_candidate(candidate)
    good = sum(candidate.is_good for candidate in made)
    calls = f"; {meter.line()}, kept in {folder.path / 'ledger.sqlite'}" if meter.line() else ""
    typer.echo(f"\n{good} of {len(made)} passed; no row was written{calls}")


def _show_candidate(candidate: Any) -> None:
    from familytool.model import Sample

    if isinstance(candidate.outcome, Sample):
        _show_sample(candidate.outcome)
    if not candidate.is_good:
        _print(f"  rejected by {candidate.check}: {candidate.code}: {candidate.message}")
    for check in candidate.verdicts:
        if check.judge != "rules":
            _print(f"  {check.check}: {check.verdict} (by {check.judge})")


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="Folder to make.", metavar="DIR")],
    source: Annotated[str, typer.Option("--from", help="Built-in campaign to start from.")] = "home",
) -> None:
    """Copy a built-in campaign out to be edited, with the JSON Schema for editors beside it.

    Example:  familytool init my-benchmark --from home
    """
    from familytool.campaign import campaign_schema
    from familytool.catalogue import tables

    raw = tables.campaign_bytes(source)
    if raw is None:
        raise UsageError(f"--from {source}: no built-in campaign; there are {', '.join(tables.CAMPAIGNS)}.")
    target = folder / "campaign.toml"
    if target.exists():
        raise UsageError(f"{target}: exists already; choose another folder, or remove it.")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: a file of this name is there; choose another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    text = raw.decode("utf-8").replace(f'name = "{source}"', f'name = "{_safe_name(folder.resolve().name, source)}"', 1)
    target.write_text("#:schema ./campaign.schema.json\n" + text, encoding="utf-8")
    (folder / "campaign.schema.json").write_text(json.dumps(campaign_schema(), indent=2) + "\n", encoding="utf-8")
    named, program = shlex.quote(str(target)), _program()
    typer.echo(f"{target}: edit it, then  {program} check {named}  and  {program} run {named}")


def _safe_name(name: str, default: str) -> str:
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in name).strip("-_")[:64]
    return kept or default


@app.command()
def check(
    campaign: Annotated[str | None, typer.Argument(help="A built-in campaign or a campaign file.", metavar="NAME_OR_PATH")] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Write campaign.schema.json (for editors) to --out or standard output.")] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Where --schema writes.")] = None,
) -> None:
    """Check a campaign file and print it with its defaults filled in.

    Examples:

      familytool check my-campaign.toml

      familytool check --schema --out campaign.schema.json
    """
    from familytool.campaign import campaign_schema, describe
    from familytool.pipeline import find_campaign

    if schema:
        text = json.dumps(campaign_schema(), indent=2) + "\n"
        if out is None:
            typer.echo(text, nl=False)
        else:
            out.write_text(text, encoding="utf-8")
            typer.echo(f"{out} written")
        return
    if campaign is None:
        raise UsageError("name a campaign to check, or give --schema.")
    found, _ = find_campaign(campaign)
    typer.echo(describe(found), nl=False)


@app.command()
def formats() -> None:
    """The formats of tool documents, benchmarks and graphs: what each carries, and what is lost in it.

    What `convert` converts: a graph where --to names a graph format; the samples where SRC is a benchmark and --to a benchmark
    format that is written; else the tool documents. A name may stand for both (bfcl: its documents, and its rows with answers).

    Example:  familytool formats
    """
    from rich.console import Console
    from rich.table import Table

    from familytool.formats.benchmarks import BENCHMARK_FORMATS
    from familytool.formats.documents import TOOL_FORMATS
    from familytool.formats.graphs import GRAPH_FORMATS

    rows = [("tools", f.name, f.write_tools is not None, f.carries, f.lost) for f in TOOL_FORMATS.values()]
    rows += [("benchmark", b.name, b.write_samples is not None, b.carries, b.lost) for b in BENCHMARK_FORMATS.values()]
    rows += [("graph", g.name, g.write is not None, g.carries, g.lost) for g in GRAPH_FORMATS.values()]
    shown = Table(title="Formats, in the order in which they are recognised", title_justify="left", show_lines=True)
    for heading in ("of", "format", "", "carries", "lost when written"):
        shown.add_column(heading, no_wrap=heading in ("of", "format", ""))
    for of, name, writes, carries, lost in rows:
        shown.add_row(of, name, "read, write" if writes else "read", carries, (lost if writes else "") or "-")
    Console().print(shown)


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(help="File or folder: a benchmark, tool documents, a graph, or a run folder.", metavar="SRC")],
    to_format: Annotated[str, typer.Option("--to", help="Format to write; `familytool formats` lists them.")],
    from_format: Annotated[str, typer.Option("--from", help="Format to read; 'auto': the first that claims the first record.")] = "auto",
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write (formats of several files: folder); default: standard output.")
    ] = None,
    only: Annotated[str | None, typer.Option("--only", help="'tools': only the tool documents, also of a benchmark.")] = None,
    documents: Annotated[
        Path | None, typer.Option("--documents", help="Tool documents that a benchmark keeps apart from its rows.")
    ] = None,
    rejected: Annotated[Path | None, typer.Option("--rejected", help="File for the rejected rows (JSONL: file, line, id, reason).")] = None,
) -> None:
    """Convert a benchmark, tool documents or a graph; says what was read, kept and rejected. Exit code 1 if nothing was kept.

    What is converted: a graph where --to names a graph format; the samples where SRC is a benchmark and --to a benchmark format
    that is written; else (and with --only tools) the tool documents. Every rejected row is told on standard error.

    Examples:

      familytool convert tools.json --to anthropic --out anthropic.json

      familytool convert familytool-b.jsonl --to familytool --out samples.jsonl

      familytool convert runs/home --to bfcl --out home-bfcl

      familytool convert mtu-bench/ --to openai --out tools.json

      familytool convert familykg-b.txt --to graphml --out family.graphml
    """
    from familytool.formats.convert import Order, convert_pieces, files_of_target, rows_of
    from familytool.formats.convert_files import count_rows, rejection, write_pieces

    if only not in (None, "tools"):
        raise UsageError(f"--only {only}: it takes 'tools'.")
    order = Order(source, from_format, to_format, only == "tools", documents)
    is_folder = len(files_of_target(order)) > 1
    if is_folder and out is None:
        raise UsageError(f"--to {to_format}: this format is several files; name a folder with --out.")
    with _rows_shown(f"{source.name} -> {to_format}", lambda: count_rows(rows_of(source))) as progress:
        pieces, account = convert_pieces(order, progress)
        if out is not None:
            write_pieces(pieces, out, is_folder)
        else:
            for _, piece in pieces:
                typer.echo(piece, nl=False)
    for sentence in [*account.rejected, *account.losses]:
        typer.echo(f"  {sentence}", err=True)
    if rejected is not None:
        lines = (json.dumps(rejection(sentence), ensure_ascii=False) + "\n" for sentence in account.rejected)
        rejected.write_text("".join(lines), encoding="utf-8")
    typer.echo(
        f"{source} ({account.source_format}) -> {to_format}: {account.read:,} {account.what} read, {account.kept:,} kept"
        f"{f', {account.n_double:,} the same as another' if account.n_double else ''}, {len(account.rejected):,} rejected",
        err=True,
    )
    if not account.kept:
        if account.what == "samples" and only is None:
            typer.echo("  --only tools converts the tool documents alone, if the target has a form for them.", err=True)
        raise typer.Exit(1)


@contextmanager
def _rows_shown(what: str, count: Callable[[], int | None]) -> Iterator[Callable[[int], None]]:
    """A progress bar of rows on standard error, if that is a terminal; the rows are counted only then."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=count())
        yield lambda done: bar.update(task, completed=done)


def main() -> None:
    """Run the program; a user's mistake is one sentence on standard error and exit code 1 or 2."""
    try:
        app()
    except FamilytoolError as error:
        for sentence in str(error).split("\n"):
            print(f"familytool: {sentence}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        print(f"familytool: {error.filename or 'the disk'}: {error.strerror or error}; mend this and run again.", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(1)
