"""Runs that the tests make, and what they read of them: nothing here is a stand-in for our own code."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from familytool import pipeline
from familytool.catalogue import tables
from familytool.evaluation.shortcuts import shortcut_table
from familytool.graph import KnowledgeGraph
from familytool.model import Sample
from familytool.runs import RunFolder, read_graphs, read_rows, read_samples

ROOT = Path(__file__).parents[1]
MAIN = "import sys; from familytool.cli import main; sys.argv[0] = 'familytool'; main()"

SMALL = """
name = "small"
seed = 3
[family]
people = 4
attributes_per_person = 12
[generation]
documents = "tools.json"
strata = { hop1 = 3, hop2 = 5, hop3 = 4, hop4 = 3, no_graph = 1, no_tool = 2, multi_call = 2 }
"""
"""A campaign of twenty rows in a family so small that many candidates are rejected."""


def write_small(folder: Path) -> Path:
    """The campaign file of SMALL, with the documents of two domains beside it."""
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    tools = [tool for _, document in tables.builtin_documents()[:2] for tool in document]
    (folder / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    return folder / "small.toml"


@dataclass(frozen=True)
class Made:
    """A run folder and what stands in it."""

    path: Path
    job: pipeline.Job

    @cached_property
    def samples(self) -> list[Sample]:
        return list(read_samples(self.path / "samples.jsonl"))

    @cached_property
    def graphs(self) -> dict[str, KnowledgeGraph]:
        return read_graphs(self.path / "graph.jsonl")

    @cached_property
    def shortcuts(self) -> list[dict[str, Any]]:
        """The shortcut table, from the results of the run where it was evaluated."""
        results = self.path / "evaluation" / "results.json"
        if results.exists():
            return list(json.loads(results.read_text(encoding="utf-8"))["baselines"])
        return [dict(row) for row in shortcut_table(self.samples, lambda graph_id: self.graphs[graph_id])]

    def graph(self, sample: Sample) -> KnowledgeGraph:
        return self.graphs[sample.graph_id]

    def rows(self, name: str) -> list[dict[str, Any]]:
        return list(read_rows(self.path / name))


def make(path: Path, campaign: str, documents: Path | None = None, only_generate: bool = False) -> Made:
    """Run a campaign (a name or a file) in this process."""
    job = pipeline.Job(*pipeline.find_campaign(campaign), documents)
    with RunFolder(path, job.identity()) as run:
        if only_generate:
            pipeline.generate(job, run)
        else:
            pipeline.run_all(job, run)
    return Made(path, job)


def hashes(folder: Path, *names: str) -> dict[str, str]:
    """SHA-256 of these files, or of all files of a folder but its lock."""
    files = [folder / name for name in names] or sorted(p for p in folder.rglob("*") if p.is_file() and p.name != "lock")
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def arguments(*words: object) -> list[str]:
    """The command line of a process that runs our program."""
    return [sys.executable, "-c", MAIN, *map(str, words)]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200", **more}


def familytool(
    *words: object, cwd: Path | None = None, before: Callable[[], None] | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """What our program says and exits with, run as a user runs it."""
    return subprocess.run(
        arguments(*words), capture_output=True, text=True, check=False, cwd=cwd, env=environment(**more), preexec_fn=before, timeout=300
    )


def leaves(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    """(JSON pointer, value) of every leaf."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, f"{pointer}/{index}")
    else:
        yield pointer, value


def golden_hashes() -> dict[str, str]:
    return dict(json.loads((ROOT / "releases" / "golden.json").read_text(encoding="utf-8")))
