"""A former release that a run extends: its rows keep their ids, count for the strata, and are what new rows are compared with."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from familytool.errors import UsageError
from familytool.formats.benchmark_files import Source
from familytool.formats.familytool_release import is_release, read_graphs, read_samples
from familytool.generation.generate import Material
from familytool.graph import KnowledgeGraph
from familytool.model import Sample
from familytool.runs import file_hash


@dataclass(frozen=True)
class Base:
    """The rows and graphs of a former release; without one, no rows."""

    path: Path | None = None
    samples: tuple[Sample, ...] = ()
    graphs: dict[str, KnowledgeGraph] = field(default_factory=dict)

    def count(self, stratum: str) -> int:
        """How many of its rows belong to a stratum."""
        return sum(stratum_of(sample) == stratum for sample in self.samples)

    def first_number(self, benchmark: str, stratum: str) -> int:
        """The first candidate number whose id this release does not use."""
        prefix = f"{benchmark}-{stratum}-"
        ends = (sample.id.removeprefix(prefix) for sample in self.samples if sample.id.startswith(prefix))
        return 1 + max((int(end) for end in ends if end.isascii() and end.isdigit()), default=-1)

    @cached_property
    def _known(self) -> dict[str, frozenset[object]]:
        found: dict[str, set[object]] = {}
        for sample in self.samples:
            for name, things in _things(sample).items():
                found.setdefault(name, set()).update(things)
        return {name: frozenset(things) for name, things in found.items()}

    def novelty(self, sample: Sample) -> frozenset[str]:
        """What of a row this release does not have: `unseen_tool`, `unseen_relation` ..., or `seen` where it has all of it."""
        if self.path is None:
            return frozenset()
        new = {f"unseen_{name}" for name, things in _things(sample).items() if things - self._known.get(name, frozenset())}
        return frozenset(new or {"seen"})

    def identity(self) -> str:
        """A hash of the release's rows, for the identity of a run that extends it."""
        return "" if self.path is None else str(file_hash(next((self.path / "all").glob("*.parquet")))["sha256"])


def _things(sample: Sample) -> dict[str, set[object]]:
    """What can be new in a row, by the names of the release's columns without `unseen_`."""
    return {
        "tool": {call.name for call in sample.calls},
        "relation": {triple.relation for triple in sample.golden_triples},
        "triple": {(sample.graph_id, triple) for triple in sample.golden_triples},
        "entity": {(sample.graph_id, triple.tail) for triple in sample.golden_triples},
        "speaker": {(sample.graph_id, sample.speaker)},
        "shape": {sample.shape},
        "path": {path.relations for path in sample.golden_paths},
    }


def stratum_of(sample: Sample) -> str:
    """The stratum of a row, from what it is."""
    return f"hop{sample.hops}" if sample.kind == "graph" else sample.kind


def read_base(path: Path | None) -> Base:
    """The release at a path; None is no release.

    Raises:
        UsageError: no release is there, or a row of it cannot be read.
    """
    if path is None:
        return Base()
    if not is_release(path):
        raise UsageError(
            f"--base {path}: no release folder (it has all/test.parquet); give the folder that `familytool release build` made."
        )
    rejected: list[str] = []
    samples = tuple(read_samples(Source(path, path.name, None, ""), rejected))
    if rejected:
        raise UsageError(f"--base {path}: {len(rejected)} rows cannot be read ({rejected[0]}); build that release again.")
    return Base(path, samples, read_graphs(path))


def extended(material: Material, base: Base) -> Material:
    """The material whose families keep every fact of the release and get only those that it does not have."""
    return material if base.path is None else replace(material, base_graphs=base.graphs, _worlds={})
