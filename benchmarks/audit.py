"""Time and memory of an audit of 100,000 samples against one of 10,000, and its time a call against bare jsonschema.

Usage: python benchmarks/audit.py [--rows N ...] [--no-tables]   The samples are those of the built-in campaign `home`, repeated under
new ids with a word of their own in each query. Each size runs in a process of its own; times are ratios against the first size.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def write_rows(rows: int, folder: Path) -> None:
    """`rows` samples of `home` under new ids, and their graph."""
    from familytool.pipeline import Job, find_campaign, generate
    from familytool.runs import RunFolder

    job = Job(find_campaign("home")[0])
    with tempfile.TemporaryDirectory() as made, RunFolder(Path(made) / "run", job.identity()) as run:
        generate(job, run)
        samples = [json.loads(text) for text in (run.path / "samples.jsonl").read_text(encoding="utf-8").splitlines()]
        (folder / "graph.jsonl").write_bytes((run.path / "graph.jsonl").read_bytes())
    with (folder / "samples.jsonl").open("w", encoding="utf-8") as file:
        for number in range(rows):
            sample = samples[number % len(samples)]
            words = {"id": f"{sample['id']}-{number}", "query": f"{sample['query']} (Request {number:x}.)", "provenance": {}}
            file.write(json.dumps({**sample, **words}, ensure_ascii=False) + "\n")


def _say_nothing(what: str, done: int, of: int) -> None:
    pass


def audit_one(folder: Path, with_tables: bool) -> None:
    """Audit the rows of a folder in this process; print seconds and the largest memory."""
    from familytool import tables
    from familytool.validation.audit import Order, audit

    if not with_tables:
        tables.tables_available = lambda: False
    begun = time.process_time()
    summary = audit(Order(folder / "samples.jsonl"), folder / "audit", _say_nothing)
    seconds = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"rows": summary["n_samples"], "calls": summary["calls"]["n"], "seconds": seconds, "peak_mib": peak}))


def bare_jsonschema(folder: Path) -> float:
    """Seconds of plain jsonschema with cached validators over the calls of a folder's rows, reading of the rows not counted."""
    from jsonschema import Draft202012Validator

    from familytool.runs import read_samples

    validators: dict[int, Draft202012Validator] = {}
    seconds = 0.0
    for sample in read_samples(folder / "samples.jsonl"):
        documents = {tool.name: tool for tool in sample.candidate_tools}
        for call in sample.calls:
            schema = documents[call.name].parameters
            validator = validators.setdefault(id(schema), Draft202012Validator(schema))
            begun = time.perf_counter()
            list(validator.iter_errors(call.arguments))
            seconds += time.perf_counter() - begun
    return seconds


def main() -> None:
    """Run each size in a process of its own and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--no-tables", action="store_true", help="leave out the table rules (Great Expectations)")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        audit_one(arguments.one, not arguments.no_tables)
        return
    first: dict[str, float] = {}
    print(
        f"{'samples':>9} {'CPU s':>8} {'ms a sample':>12} {'ratio':>6} {'peak MiB':>9} {'ratio':>6} {'audit / bare jsonschema, a call':>33}"
    )
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_rows(rows, folder)
            command = [sys.executable, __file__, "--one", name, *(["--no-tables"] if arguments.no_tables else [])]
            result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
            bare = bare_jsonschema(folder)
        each = result["seconds"] / result["rows"]
        first = first or {"each": each, "peak": result["peak_mib"]}
        print(
            f"{rows:>9,} {result['seconds']:>8.1f} {1000 * each:>12.3f} {each / first['each']:>6.2f} {result['peak_mib']:>9.0f} "
            f"{result['peak_mib'] / first['peak']:>6.2f} {result['seconds'] / bare:>33.1f}"
        )


if __name__ == "__main__":
    main()
