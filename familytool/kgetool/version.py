"""The version of the metric, and a hash over everything that decides a score."""

from __future__ import annotations

import hashlib
from pathlib import Path

METRIC_VERSION = "1.1.0"
MODULES = (
    "call_shapes", "calls", "cursor", "differences", "extraction", "facts", "intervals", "json_flaws", "lenience",
    "lexical", "literals", "matching", "parse", "published_extraction", "published_scores", "python_calls", "reading",
    "rows", "sample", "score", "searches", "spellings", "strict_json", "tool_use", "tools", "triples", "values",
    "version",
)  # fmt: skip
"""The modules that decide a score, from the answer's text on, in the order in which their bytes are hashed."""


def scorer_sha256(folder: Path) -> str:
    """Return the SHA-256 over the lines "name SHA-256-of-the-file" of all `MODULES` in a folder."""
    lines = [f"{name} {hashlib.sha256((folder / f'{name}.py').read_bytes()).hexdigest()}\n" for name in MODULES]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


SCORER_SHA256 = scorer_sha256(Path(__file__).parent)
