"""Campaigns that ask a scripted model, run in this process or in one that can be killed, and what they leave behind."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import multiprocessing
import os
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

from familytool import pipeline
from familytool.campaign import Campaign, describe
from familytool.catalogue import tables
from familytool.llm.meter import Meter
from familytool.models import Spending
from familytool.runs import RunFolder
from tests.made import hashes
from tests.servers.family_model import Family, stage_of
from tests.servers.fault_server import AnswerFunction, FaultServer, Plan, is_probe

NOWHERE = "http://127.0.0.1:9/v1"
"""An address where nothing answers."""

GROUNDED: dict[str, Any] = {
    "name": "asked",
    "seed": 3,
    "family": {"people": 6, "attributes_per_person": 20},
    "models": {
        "writer": {"id": "scripted-writer", "temperature": 0.9, "max_output": 300},
        "solver": {"id": "scripted-solver", "max_output": 200},
        "judge": {"id": "scripted-judge", "temperature": 0.0, "max_output": 200},
    },
    "generation": {
        "documents": "tools.json",
        "writer": "writer",
        "solver": "solver",
        "phrasings": 2,
        "look_ahead": 8,
        "twin_share": 0.5,
        "strata": {"hop1": 3, "hop2": 7, "hop3": 3, "hop4": 1, "no_graph": 2, "multi_call": 2, "no_tool": 2},
    },
    "validation": {"judge": "judge", "on_unknown": "judge"},
}

NOT_ROWS = ("ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm", "report.html", "manifest.json")
"""What tells of calls, and so of speed and interruptions: of calls that were in flight, and of candidates made in vain."""


@dataclass(frozen=True)
class Asked:
    """A campaign with models, in a folder of its own with its tool documents."""

    folder: Path
    content: dict[str, Any] = field(default_factory=lambda: copy.deepcopy(GROUNDED))

    def edited(self, changes: dict[str, Any]) -> Asked:
        """The campaign with these changes, told by paths as `generation.phrasings`; None takes a key away."""
        content = copy.deepcopy(self.content)
        for path, value in changes.items():
            *parents, last = path.split(".")
            at = content
            for name in parents:
                at = at.setdefault(name, {})
            if value is None:
                at.pop(last, None)
            else:
                at[last] = value
        return replace(self, content=content)

    def at(self, address: str, **settings: Any) -> Asked:
        """The campaign whose models are at this address."""
        models = {name: {**model, "base_url": address, **settings} for name, model in self.content["models"].items()}
        return replace(self, content={**self.content, "models": models})

    @property
    def job(self) -> pipeline.Job:
        return pipeline.Job(Campaign.model_validate(self.content), self.folder)

    def file(self, name: str = "asked.toml") -> Path:
        """The campaign as a file beside its documents."""
        (self.folder / name).write_text(describe(Campaign.model_validate(self.content)), encoding="utf-8")
        return self.folder / name

    def run(self, folder: Path, spending: Spending | None = None) -> Meter:
        """Run the campaign to its end in this process; its calls."""
        meter, job = Meter(), self.job
        with RunFolder(folder, job.identity()) as run:
            pipeline.run_all(job, run, spending=spending, tell=meter.tell)
        return meter


def asked_in(folder: Path, domains: int = 3, more: list[dict[str, Any]] | None = None) -> Asked:
    """The grounded campaign with the documents of the first domains of the catalogue, and more of them."""
    folder.mkdir(parents=True, exist_ok=True)
    tools = [tool for _, document in tables.builtin_documents()[:domains] for tool in document]
    (folder / "tools.json").write_text(json.dumps([*tools, *(more or [])]), encoding="utf-8")
    return Asked(folder)


def family_of(campaign: Asked) -> Family:
    """A scripted model that knows the family of a campaign."""
    return Family(campaign.edited({"generation.extractor": None}).file("family.toml"))


def rows(folder: Path) -> dict[str, str]:
    """Hashes of all that a run made, the accounts of its calls aside."""
    return {name: value for name, value in hashes(folder).items() if name not in NOT_ROWS and not name.startswith("superseded/")}


def committed(folder: Path) -> set[str]:
    """The keys of a run's ledger, after SQLite has brought the file in order; none where there is no ledger yet."""
    if not (folder / "ledger.sqlite").exists():
        return set()
    with contextlib.closing(sqlite3.connect(folder / "ledger.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'ledger'").fetchall():
            return set()
        return {key for (key,) in connection.execute("SELECT key FROM ledger")}


def stages(server: FaultServer, since: int = 0) -> Counter[str]:
    """What the server was asked for since so many bodies, probes aside."""
    return Counter(stage_of(body) for body in server.calls.bodies[since:] if not is_probe(body))


@contextlib.contextmanager
def serving(answer: AnswerFunction, plan: Plan | None = None, keep_bodies: bool = True) -> Iterator[FaultServer]:
    with FaultServer(plan or Plan(), answer, keep_bodies) as server:
        yield server


class Done(NamedTuple):
    """How a program ended and what it said."""

    code: int
    out: str
    err: str


def program(*words: object) -> Done:
    """Our program as a user runs it, but in this process, which has the libraries loaded."""
    from familytool.cli import main

    code, out, err, before = 0, io.StringIO(), io.StringIO(), sys.argv
    columns = os.environ.get("COLUMNS")
    sys.argv = ["familytool", *map(str, words)]
    os.environ["COLUMNS"] = "200"
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    finally:
        sys.argv = before
        os.environ.pop("COLUMNS") if columns is None else os.environ.update(COLUMNS=columns)
    return Done(code, out.getvalue(), err.getvalue())


def started(*words: object, log: Path) -> BaseProcess:
    """Our program in a process that can be killed; what it says goes to a file."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["familytool.pipeline", "openai"])  # seconds of importing, once and not for every kill
    process = context.Process(target=_called, args=(tuple(map(str, words)), str(log)))
    process.start()
    return process


def _called(words: tuple[str, ...], log: str) -> None:
    done = program(*words)
    Path(log).write_text(done.out + done.err, encoding="utf-8")
    os._exit(done.code)
