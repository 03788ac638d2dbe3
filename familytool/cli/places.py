"""Where a run is: campaigns, jobs and run folders by what a user names them."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

from familytool.errors import FamilytoolError, UsageError


def job_of(campaign: str, documents: Path | None, seed: int | None, base: Path | None = None) -> Any:
    """The job of a campaign, with what the command line says otherwise."""
    from familytool.pipeline import Job, find_campaign

    found, folder = find_campaign(campaign)
    if seed is not None:
        found = found.model_copy(update={"seed": seed})
    return Job(found, folder, documents, base)


def finished_run(campaign: str, run_dir: Path | None) -> tuple[Any, Any]:
    """The job and the folder of a run that is there, as the folder itself says they are."""
    from familytool.campaign import Campaign
    from familytool.pipeline import Job
    from familytool.runs import RunFolder

    folder = RunFolder(existing_run(campaign, run_dir))
    beside = Path(campaign).parent if Path(campaign).is_file() else Path()
    known = folder.manifest().get("identity", {}).get("campaign")
    if known is None:
        raise FamilytoolError(f"{folder.path / 'manifest.json'}: it does not say which campaign the run is of; restore it, or run again.")
    return Job(Campaign.model_validate(known), beside), folder


def run_folder(job: Any, run_dir: Path | None) -> Any:
    """The run folder of a job, not yet opened."""
    from familytool.runs import RunFolder

    return RunFolder(run_dir or Path("runs") / job.campaign.name, job.identity())


def existing_run(campaign: str, run_dir: Path | None) -> Path:
    """The run folder of a campaign name, a campaign file, or of a folder named outright."""
    path = run_path(campaign, run_dir)
    if not (path / "manifest.json").exists():
        raise UsageError(f"{path}: no run here yet; start one with `familytool run`, or give --run-dir.")
    return path


def run_path(campaign: str, run_dir: Path | None) -> Path:
    """Where the run of a campaign name, a campaign file or a named folder is."""
    if run_dir is not None:
        return run_dir
    if Path(campaign).is_dir():
        return Path(campaign)
    from familytool.pipeline import find_campaign

    return Path("runs") / find_campaign(campaign)[0].name


def run_of(campaign: str, run_dir: Path | None) -> Path | None:
    """The run folder, or None where there is no run yet."""
    path = run_path(campaign, run_dir)
    return path if (path / "manifest.json").exists() else None


def program_name() -> str:
    """How this program can be called again from here: by its name where that is on the path, else by its relative path."""
    called = Path(sys.argv[0])
    found = shutil.which("familytool")
    if called.name != "familytool" or (found is not None and called.exists() and Path(found).samefile(called)):
        return "familytool"
    return shlex.quote(os.path.relpath(called))


def spending_of(budget: str | None, prices: Path | None, replay: bool, batch: Path | None) -> Any:
    """How a run may ask models, from what the command line says."""
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
