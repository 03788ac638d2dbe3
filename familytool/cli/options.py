"""Arguments and options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
