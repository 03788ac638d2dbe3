"""The verbs that check: `check` and `init` a campaign, `validate` a run, `audit` a benchmark."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from familytool.cli.options import CampaignArgument, DocumentsOption, RunDirOption
from familytool.cli.places import finished_run, program_name
from familytool.cli.progress import progress_shown
from familytool.errors import UsageError


def validate(campaign: CampaignArgument, run_dir: RunDirOption = None) -> None:
    """The four checks again over the finished rows of a run; writes findings.jsonl and summary.json. Exit code 1 if one fails.

    Example:  familytool validate home
    """
    from familytool import pipeline

    job, run = finished_run(campaign, run_dir)
    with run as folder, progress_shown() as progress:
        summary = pipeline.validate(folder, job.checks, progress)
    for check, verdicts in summary["by_check"].items():
        typer.echo(f"{check:<12} {', '.join(f'{name} {count:,}' for name, count in verdicts.items())}")
    typer.echo(f"{summary['n_samples']:,} rows; details in {folder.path / 'findings.jsonl'}")
    if any(v["fail"] for v in summary["by_check"].values()):
        raise typer.Exit(1)


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
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on",
            help="Exit with 1 if one of these codes was found: CODE[,CODE] or 'any'; 'rejected' is rows that could not be read, +CODE a code of your own.",
        ),
    ] = None,
) -> None:
    """Check a whole benchmark: every sample four ways, the graph, and the set as a table. Exit code 0 also with findings.

    Of a folder the files as published are read; else those of it and its sub-folders, by path, that hold rows of the format; each other
    one stands in rejected.jsonl. Hidden files, links out of the folder, and runs and audits in it are passed over.

    Examples:

      familytool audit familytool-b.jsonl --graph familykg-b.txt --out audits/b

      familytool audit mtu-bench/ --out audits/mtu

      familytool audit runs/home/release --out audits/home --fail-on any

      familytool audit familytool-b.jsonl --graph familykg-b.txt --out audits/b --repair
    """
    from familytool.pipeline import Job, find_campaign
    from familytool.validation.audit import Order, failing_codes, found_codes
    from familytool.validation.audit import audit as run_audit
    from familytool.validation.checks import ALL_CHECKS

    job = None if campaign is None else Job(*find_campaign(campaign))
    ignored = frozenset() if job is None else frozenset(job.campaign.validation.ignore)
    failing = failing_codes(fail_on, ignored, job is not None and any(":" in name for name in job.campaign.validation.checks))
    checks = ALL_CHECKS if job is None else job.checks
    with progress_shown() as progress:
        summary = run_audit(Order(path, format_name, graph, documents, checks, ignored, repair, data_docs), out, progress)
    _show_audit(summary, out, data_docs)
    found = [code for code in found_codes(summary) if failing(code)]
    if found:
        typer.echo(f"--fail-on: found {', '.join(found)}", err=True)
        raise typer.Exit(1)


def _show_audit(summary: dict[str, Any], out: Path, data_docs: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    total, calls = summary["n_samples"], summary["calls"]
    shown = Table(title=f"Findings in {total:,} samples ({summary['source']['format']})", title_justify="left")
    for heading in ("code", "samples", "findings"):
        shown.add_column(heading, justify="left" if heading == "code" else "right")
    for code, counts in summary["by_code"].items():
        named = f"{code} (ignored)" if counts.get("ignored") else code
        shown.add_row(named, f"{counts['samples']:,}" if counts["samples"] else "-", f"{counts['findings']:,}")
    Console().print(shown)
    for check, verdicts in summary["by_check"].items():
        typer.echo(f"{check:<12} {', '.join(f'{name} {count:,}' for name, count in verdicts.items())}")
    share = f"{100 * calls['conform_share']:.1f} %" if calls["conform_share"] is not None else "n/a"
    typer.echo(f"{calls['conform']:,} of {calls['checked']:,} calls of offered tools fit their tool's schema ({share})")
    if summary["n_rejected"]:
        typer.echo(f"{_counted(summary['n_rejected'], 'row')} could not be read; {out / 'rejected.jsonl'} says why")
    if not_read := (summary["graph"] or {}).get("not_read"):
        typer.echo(f"{_counted(len(not_read), 'row')} of the graph could not be read; {out / 'rejected.jsonl'} says why")
    if summary["files_left_out"]:
        typer.echo(f"left out: {_counted(len(summary['files_left_out']), 'file')} of the folder; see {out / 'rejected.jsonl'}")
    if "repair" in summary:
        made = summary["repair"]
        if made["n_rejected_rows"]:
            typer.echo(
                f"not in the copy: {_counted(made['n_rejected_rows'], 'row')} that could not be read; see {out / 'rejected_rows.txt'}"
            )
        typer.echo(
            f"{made['n_patched']:,} samples patched, {made['n_left']:,} left for people; see {out / 'patches.jsonl'}, {out / 'left.jsonl'}"
        )
    if data_docs:
        typer.echo(f"{out / 'data_docs'}: Great Expectations' own pages, which load their styles and scripts from the network")
    typer.echo(f"{out / 'report.html'} (open it in a browser), {out / 'findings.jsonl'}, {out / 'summary.json'}")


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


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
    named, program = shlex.quote(str(target)), program_name()
    typer.echo(f"{target}: edit it, then  {program} check {named}  and  {program} run {named}")


def _safe_name(name: str, default: str) -> str:
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in name).strip("-_")[:64]
    return kept or default


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
