"""Writes releases/golden.json, the hashes of the rows of the built-in campaigns: `python releases/update_golden.py`.

A test compares them, so that a change that moves a row is noticed. Run this only when rows are meant to move, and say so in the changelog.
"""

import json
import tempfile
from pathlib import Path

from familytool.pipeline import Job, find_campaign, generate
from familytool.runs import RunFolder, file_hash


def main() -> None:
    """Generate each campaign that needs no foreign documents and write the hashes of its samples."""
    golden: dict[str, object] = {}
    for name in ("home", "extended"):
        job = Job(*find_campaign(name))
        with tempfile.TemporaryDirectory() as folder, RunFolder(Path(folder) / name, job.identity()) as run:
            generate(job, run)
            golden[name] = file_hash(run.path / "samples.jsonl")["sha256"]
    Path(__file__).with_name("golden.json").write_text(json.dumps(golden, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
