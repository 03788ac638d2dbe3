"""The command line. Each verb finds the campaign, opens the run folder, and calls one function of the pipeline."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from familytool import __version__
from familytool.cli.checking import audit, check, init, validate
from familytool.cli.converting import convert, formats
from familytool.cli.making import generate, run
from familytool.cli.releasing import evaluate, ledger_export, ledger_import, release_build, report
from familytool.cli.seeing import preview, status, why
from familytool.errors import FamilytoolError

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


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"familytool {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")] = False,
) -> None:
    """Options of the program itself."""


for verb in (run, generate, validate, audit, evaluate, report, status, why, preview, init, check, formats, convert):
    app.command()(verb)
release_app.command("build")(release_build)
ledger_app.command("export")(ledger_export)
ledger_app.command("import")(ledger_import)


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
