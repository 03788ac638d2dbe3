"""A release folder of this project, read: Parquet by config, the columns that differ from row to row as JSON text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from familytool.errors import FamilytoolError
from familytool.formats.benchmark_files import Source
from familytool.formats.text import parse_json
from familytool.graph import KnowledgeGraph
from familytool.model import Json, Sample, Triple
from familytool.runs import sample_of

NAME = "familytool-release"
CARRIES = "everything but the rows' raw originals, with the graph"
LOST = ""
SPLIT = "test"
JSON_COLUMNS = ("candidate_tools", "golden_paths", "calls", "alternatives", "argument_sources", "provenance")
"""Columns that hold JSON text."""
DERIVED = ("hops", "depth", "shape", "version")
"""Columns that follow from the others, or name the release."""


def looks_like(record: Json) -> bool:
    """Never: a release is a folder, told by `is_release`."""
    return False


def is_release(path: Path) -> bool:
    """Whether a folder is a release."""
    return (path / "all" / f"{SPLIT}.parquet").is_file()


def read_release(folder: Path, config: str) -> Iterator[dict[str, Any]]:
    """The rows of one config, as written, without the `datasets` library (FamilytoolError if there is no such config)."""
    import pyarrow
    import pyarrow.parquet

    path = folder / config / f"{SPLIT}.parquet"
    if not path.is_file():
        there = ", ".join(sorted(p.parent.name for p in folder.glob(f"*/{SPLIT}.parquet"))) or "none"
        raise FamilytoolError(f"{folder}: no config '{config}' (there: {there}).")
    try:
        for batch in pyarrow.parquet.ParquetFile(path).iter_batches(batch_size=1_000):
            yield from batch.to_pylist()
    except pyarrow.ArrowException as error:
        raise FamilytoolError(f"{path}: no Parquet file that can be read ({str(error)[:120]}); build the release again.") from None


def read_samples(source: Source, rejected: list[str]) -> Iterator[Sample]:
    """The samples of a release folder; a row that is none goes into `rejected`."""
    for number, row in enumerate(read_release(source.path, "all"), 1):
        try:
            content = {key: value for key, value in row.items() if key not in DERIVED and not key.startswith("unseen_")}
            content.update({name: parse_json(content[name]) for name in JSON_COLUMNS})
            yield sample_of(content)
        except (ValueError, TypeError, KeyError) as error:
            rejected.append(f"all/{SPLIT}.parquet, row {number} ({row.get('id', '?')}): {' '.join(str(error).split())[:300]}")


def read_graphs(folder: Path) -> dict[str, KnowledgeGraph]:
    """The graphs of a release, by id."""
    graphs: dict[str, KnowledgeGraph] = {}
    for row in read_release(folder, "graph"):
        graph = graphs.setdefault(row["graph_id"], KnowledgeGraph(graph_id=row["graph_id"]))
        graph.add(Triple(head=row["head"], relation=row["relation"], tail=row["tail"]))
    return graphs
