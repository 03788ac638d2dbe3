"""Time and memory of an audit of 100,000 samples against one of 10,000, and its time a call against bare jsonschema and jsonschema-rs.

Usage: python benchmarks/audit.py [--rows N ...] [--no-tables]   The samples are those of the built-in campaign `home`, repeated under
new ids with a word of their own in each query. Each size runs in a process of its own; times are processor time, and ratios against
the first size. Without `--rows` the sizes are 10,000 and 100,000 (some ten minutes, and 1 GB in the temporary folder); a smaller pair
is `--rows 4000 16000`. The schema part of the parameters check by itself is measured by benchmarks/checking.py.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from familytool.model import Json


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


def seconds_of_schemas(folder: Path, validator_for: Callable[[Json], Any]) -> float:
    """Processor time of plain validators over the calls of a folder's rows, one for each schema; reading of the rows is not counted."""
    from familytool.runs import read_samples

    validators: dict[int, tuple[Json, Any]] = {}
    seconds = 0.0
    for sample in read_samples(folder / "samples.jsonl"):
        documents = {tool.name: tool for tool in sample.candidate_tools}
        for call in sample.calls:
            schema = documents[call.name].parameters
            known = validators.get(id(schema)) or validators.setdefault(id(schema), (schema, validator_for(schema)))
            begun = time.process_time()
            list(known[1].iter_errors(call.arguments))
            seconds += time.process_time() - begun
    return seconds


def limit_of(folder: Path) -> float | None:
    """The same of jsonschema-rs, None where it is not installed."""
    try:
        import jsonschema_rs
    except ImportError:
        return None
    return seconds_of_schemas(folder, jsonschema_rs.validator_for)


def main() -> None:
    """Run each size in a process of its own and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000], metavar="N", help="numbers of samples (10000 100000)")
    parser.add_argument("--no-tables", action="store_true", help="leave out the table rules (Great Expectations)")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        audit_one(arguments.one, not arguments.no_tables)
        return
    first: dict[str, float] = {}
    print(
        f"{'samples':>9} {'CPU s':>8} {'ms a sample':>12} {'ratio':>6} {'peak MiB':>9} {'ratio':>6} {'x bare jsonschema':>18} {'x jsonschema-rs':>16}"
    )
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_rows(rows, folder)
            command = [sys.executable, __file__, "--one", name, *(["--no-tables"] if arguments.no_tables else [])]
            result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
            bare, limit = seconds_of_schemas(folder, Draft202012Validator), limit_of(folder)
        each = result["seconds"] / result["rows"]
        of_limit = f"{result['seconds'] / limit:.0f}" if limit else "not installed"
        first = first or {"each": each, "peak": result["peak_mib"]}
        print(
            f"{rows:>9,} {result['seconds']:>8.1f} {1000 * each:>12.3f} {each / first['each']:>6.2f} {result['peak_mib']:>9.0f} "
            f"{result['peak_mib'] / first['peak']:>6.2f} {result['seconds'] / bare:>18.1f} "
            f"{of_limit:>16}"
        )


if __name__ == "__main__":
    main()
