"""The verbs about formats: `formats` and `convert`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from familytool.cli.progress import rows_shown
from familytool.errors import UsageError


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
    needed = {"n-triples": " (needs the extra [rdf])", "json-ld": " (needs the extra [rdf])"}
    rows += [("graph", g.name, g.write is not None, g.carries, g.lost + needed.get(g.name, "")) for g in GRAPH_FORMATS.values()]
    shown = Table(title="Formats, in the order in which they are recognised", title_justify="left", show_lines=True)
    for heading in ("of", "format", "", "carries", "not carried, needed"):
        shown.add_column(heading, no_wrap=heading in ("of", "format", ""))
    for of, name, writes, carries, lost in rows:
        shown.add_row(of, name, "read, write" if writes else "read", carries, lost or "-")
    Console().print(shown)


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
    notes: Annotated[
        Path | None,
        typer.Option("--notes", help="File for all notes on documents mended or odd (JSONL: file, line, tool, path, old, new, note)."),
    ] = None,
) -> None:
    """Convert a benchmark, tool documents or a graph; says what was read, kept and rejected. Exit code 1 if nothing was kept.

    What is converted: a graph where --to names a graph format; the samples where SRC is a benchmark and --to a benchmark format
    that is written; else (and with --only tools) the tool documents. Every rejected row is told on standard error.

    Of a folder the files as published are read; else those of it and its sub-folders, by path, that hold rows (or documents) of the
    format, and each other one is told. Hidden files, links out of the folder, and runs and audits in it are passed over.

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
    named = [path.resolve() for path in (source, out, rejected, notes) if path is not None]
    if len(set(named)) < len(named):
        raise UsageError(f"{source}: the source, --out, --rejected and --notes must be different files.")
    if is_folder and out is None:
        raise UsageError(f"--to {to_format}: this format is several files; name a folder with --out.")
    with rows_shown(f"{source.name} -> {to_format}", lambda: count_rows(rows_of(source))) as progress:
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
    if notes is not None:
        notes.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in account.note_rows), encoding="utf-8")
    typer.echo(
        f"{source} ({account.source_format}) -> {to_format}: {account.read:,} {account.what} read, {account.kept:,} kept"
        f"{f', {account.n_double:,} the same as another' if account.n_double else ''}, {len(account.rejected):,} rejected",
        err=True,
    )
    if not account.kept:
        if account.what == "samples" and only is None:
            typer.echo("  --only tools converts the tool documents alone, if the target has a form for them.", err=True)
        raise typer.Exit(1)
