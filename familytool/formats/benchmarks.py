"""Benchmarks in foreign formats: tool documents, queries and golden calls, one sample after the other.

A format is one file of this folder (`NAME`, `CARRIES`, `LOST`, `looks_like`, `read_samples`, and `FILES` with `write_samples`
where it can be written) and one line in the table below. `write_samples(samples, name, rejected=None)` appends "id: reason" to
`rejected` for each sample that its form cannot say; without such a list the first one is a FamilytoolError. A file is of the
first format of the table that claims one of its first five records, the earliest that any format claims.
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
from familytool.formats.benchmark_files import Source, first_records, read_records
from familytool.formats.benchmark_rows import RECORDS_LOOKED_AT, detected_files
from familytool.formats.foreign_files import require_text_file
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
    records = (record for file in detected_files(path) for record in first_records(file, RECORDS_LOOKED_AT))
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
    if not source.path.is_dir():
        require_text_file(source.path)
    name = detect_benchmark(source.path) if format_name == "auto" else format_name
    if name not in BENCHMARK_FORMATS:
        known = ", ".join(BENCHMARK_FORMATS)
        if name:
            raise UsageError(f"'{name}': no format of benchmarks; there are {known}.")
        raise _unknown(source.path, known)
    yield from BENCHMARK_FORMATS[name].read_samples(source, rejected)


EXPECTED = {
    familytool_samples.NAME: "id benchmark kind speaker candidate_tools calls",
    "bfcl": "id question function",
    xlam_samples.NAME: "query answers tools",
    mtu_bench_samples.NAME: "question answer",
    nestful_samples.NAME: "input output",
    seal_tools_samples.NAME: "query calling",
    api_bank_samples.NAME: "role text",
    tau_bench_samples.NAME: "user_scenario evaluation_criteria",
    toolalpaca_samples.NAME: "Documentation Instructions",
}
"""The keys by which a row of a format is known, for the message that a row is of none."""


def _unknown(path: Path, known: str) -> FamilytoolError:
    """The error that a file is of no benchmark: what was tried, what stands there, and which format is the nearest."""
    if path.is_dir():
        return FamilytoolError(
            f"{path}: no file of the folder begins with rows of a known benchmark ({known}); name a file in it, or --format."
        )
    records = first_records(path, RECORDS_LOOKED_AT)
    if not records:
        for _ in read_records(path, []):  # which says what is wrong with the file
            break
        return FamilytoolError(f"{path}: the file holds no record.")
    row = next((record for record in records if isinstance(record, dict)), None)
    if row is None:
        return FamilytoolError(
            f"{path}: its first records are no objects, and so no rows of a known benchmark ({known}); --format names one."
        )
    name = max(EXPECTED, key=lambda each: sum(key in row for key in EXPECTED[each].split()) / len(EXPECTED[each].split()))
    wanted = EXPECTED[name].split()
    if not any(key in row for key in wanted):
        nearest = "it has no key of any of them"
    else:
        missing = [key for key in wanted if key not in row]
        lacks = f"lacks {', '.join(missing)}" if missing else f"has {', '.join(wanted)}, but not in its form"
        nearest = f"the nearest is {name}, but the row {lacks}"
    keys = ", ".join(str(key)[:30] for key in list(row)[:8])
    return FamilytoolError(
        f"{path}: its first rows (keys {keys}) are of no known benchmark (tried {known}): {nearest}; --format names one."
    )
