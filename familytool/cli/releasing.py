"""The verbs behind a finished run: `release`, `evaluate`, `report`, and the ledger that goes with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from familytool.cli.options import CampaignArgument, RunDirOption
from familytool.cli.places import finished_run, run_path
from familytool.errors import UsageError


def release_build(campaign: CampaignArgument, run_dir: RunDirOption = None) -> None:
    """Build the release folder of a finished run again.

    Example:  familytool release build home
    """
    from familytool import pipeline

    job, run = finished_run(campaign, run_dir)
    with run as folder:
        facts = pipeline.release(job, folder)
    typer.echo(f"{folder.path / 'release'}: {', '.join(f'{name} {count:,}' for name, count in facts.rows.items())}")


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

    path = run_path(campaign, run_dir) / LEDGER
    if not path.exists():
        raise UsageError(f"{path}: no ledger here; a run that asked a model has one.")
    typer.echo(f"{out}: {export_ledger(path, out):,} calls")


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

    folder = run_path(campaign, run_dir)
    folder.mkdir(parents=True, exist_ok=True)
    report = import_ledger(source, folder / LEDGER)
    typer.echo(f"{folder / LEDGER}: {_imported(report)}")


def _imported(report: Any) -> str:
    counts = report.model_dump()
    problems = counts.pop("problems", ())
    told = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in counts.items() if isinstance(value, int))
    return told + "".join(f"\n  {problem['file']}:{problem['line']}: {problem['message']}" for problem in problems)


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
    job, run = finished_run(campaign, run_dir)
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


def report(campaign: CampaignArgument, run_dir: RunDirOption = None) -> None:
    """Write report.html of a finished run again: one file, no network needed.

    Example:  familytool report home
    """
    from familytool import pipeline

    job, run = finished_run(campaign, run_dir)
    with run as folder:
        typer.echo(str(pipeline.report(job, folder)))
