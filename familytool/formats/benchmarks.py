"""Benchmarks in foreign formats: tool documents, queries and golden calls, one sample after the other.

A format is one file of this folder (`NAME`, `CARRIES`, `LOST`, `looks_like`, `read_samples`, and `FILES` with `write_samples`
where it can be written) and one line in the table below. `write_samples(samples, name, rejected=None)` appends "id: reason" to
`rejected` for each sample that its form cannot say; without such a list the first one is a FamilytoolError. A file is of the
first format of the table that claims its first record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Protocol

from familytool.errors import FamilytoolError, UsageError
from familytool.formats import (
    api_bank_samples,
    bfcl_samples,
    familytool_2025,
    familytool_release,
    familytool_samples,
    mtu_bench_samples,
    nestful_samples,
    seal_tools_samples,
    tau_bench_samples,
    toolalpaca_samples,
    xlam_samples,
)
from familytool.formats.benchmark_files import Source, first_record
from familytool.formats.benchmark_rows import detected_files
from familytool.model import Json, Sample


class SampleWriter(Protocol):
    """What writes the samples of one format: (file, text) pairs, as they are asked for."""

    def __call__(self, samples: Iterable[Sample], name: str, rejected: list[str] | None = None) -> Iterator[tuple[str, str]]:
        """The pairs; `rejected` gets "id: reason" of each sample that is not written."""


@dataclass(frozen=True)
class BenchmarkFormat:
    """A format of whole benchmarks: how its first record is recognised, how its samples are read and (perhaps) written.

    `files` are the files that it is written to, seen from the folder given (one "" for a single file); `{}` is the benchmark.
    """

    name: str
    looks_like: Callable[[Json], bool]
    read_samples: Callable[[Source, list[str]], Iterator[Sample]]
    write_samples: SampleWriter | None
    files: tuple[str, ...]
    carries: str
    lost: str


def _format(module: ModuleType) -> BenchmarkFormat:
    write = getattr(module, "write_samples", None)
    return BenchmarkFormat(
        module.NAME, module.looks_like, module.read_samples, write, getattr(module, "FILES", ()), module.CARRIES, module.LOST
    )


BENCHMARK_FORMATS: dict[str, BenchmarkFormat] = {
    module.NAME: _format(module)
    for module in (
        familytool_samples, familytool_release, familytool_2025, bfcl_samples, xlam_samples,
        mtu_bench_samples, nestful_samples, seal_tools_samples, api_bank_samples, tau_bench_samples, toolalpaca_samples,
    )
}  # fmt: skip
"""All formats of benchmarks by name, in the order of detection."""


def detect_benchmark(path: Path) -> str:
    """The name of the format whose rows a file (or the first file of a folder that any format claims) holds; "" if none is known."""
    if familytool_release.is_release(path):
        return familytool_release.NAME
    records = (record for file in detected_files(path) if (record := first_record(file)) is not None)
    return next((name for record in records for name, known in BENCHMARK_FORMATS.items() if known.looks_like(record)), "")


def read_benchmark(source: Source, rejected: list[str], format_name: str = "auto") -> Iterator[Sample]:
    """The samples of a benchmark file, read as they are asked for.

    Args:
        source: the file, and what is needed beside it.
        rejected: gets place and reason of each row that cannot be read, as reading goes on.
        format_name: a name of `BENCHMARK_FORMATS`, or "auto" for the rule of detection.

    Raises:
        UsageError: no such path or format, or a file that no format claims.
        FamilytoolError: a file that cannot be read.
    """
    if not source.path.exists():
        raise UsageError(f"{source.path}: no such file or folder.")
    name = detect_benchmark(source.path) if format_name == "auto" else format_name
    if name not in BENCHMARK_FORMATS:
        known = ", ".join(BENCHMARK_FORMATS)
        if name:
            raise UsageError(f"'{name}': no format of benchmarks; there are {known}.")
        raise FamilytoolError(f"{source.path}: the first record is of no known benchmark ({known}); --format names one.")
    yield from BENCHMARK_FORMATS[name].read_samples(source, rejected)
