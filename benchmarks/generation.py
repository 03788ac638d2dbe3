"""Time and memory of generation: a hundred families and 48,300 samples against one family and 483.

Usage: python benchmarks/generation.py [--rows N ...]   Each size runs in a process of its own; times are printed as ratios
against the first (baseline) size, since absolute times depend on the machine.
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

PER_FAMILY = 483


def run_one(rows: int) -> None:
    """Generate and release `rows` samples in this process; print seconds and the largest memory."""
    from familytool.campaign import Campaign
    from familytool.pipeline import Job, generate, release
    from familytool.runs import RunFolder

    campaign = Campaign.model_validate(
        {
            "name": "scale",
            "family": {"count": max(1, rows // PER_FAMILY), "people": 12, "attributes_per_person": 120},
            "generation": {
                "strata": {"hop1": rows * 107 // 483, "hop2": rows * 362 // 483, "hop3": rows - rows * 107 // 483 - rows * 362 // 483}
            },
            "evaluation": {"baselines": False},
        }
    )
    job = Job(campaign)
    with tempfile.TemporaryDirectory() as folder, RunFolder(Path(folder) / "run", job.identity()) as run:
        begun = time.process_time()
        generate(job, run)
        generated = time.process_time()
        release(job, run)
        released = time.process_time()
        size = (run.path / "samples.jsonl").stat().st_size
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"rows": rows, "generate": generated - begun, "release": released - generated, "peak_mib": peak, "bytes": size}))


def main() -> None:
    """Run each size in a process of its own and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[483, 4_830, 48_300])
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        run_one(arguments.one)
        return
    results = [
        json.loads(subprocess.run([sys.executable, __file__, "--one", str(rows)], check=True, capture_output=True, text=True).stdout)
        for rows in arguments.rows
    ]
    base = results[0]
    print(
        f"{'rows':>8} {'x rows':>8} {'x generate':>11} {'x release':>10} {'peak MiB':>9} {'x peak':>7} {'KiB/row':>8}   (cpu {base['generate']:.1f} s + {base['release']:.1f} s at {base['rows']} rows)"
    )
    for r in results:
        print(
            f"{r['rows']:>8,} {r['rows'] / base['rows']:>8.1f} {r['generate'] / base['generate']:>11.1f} {r['release'] / base['release']:>10.1f} "
            f"{r['peak_mib']:>9.0f} {r['peak_mib'] / base['peak_mib']:>7.2f} {r['bytes'] / r['rows'] / 1024:>8.1f}"
        )


if __name__ == "__main__":
    main()
