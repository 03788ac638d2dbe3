"""The samples of this project, one JSON record a line: `samples.jsonl` of a run folder, and what `convert` and `audit` write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from familytool.errors import FamilytoolError
from familytool.formats.benchmark_files import Source, read_records
from familytool.formats.benchmark_rows import files_of, place_name
from familytool.model import Json, Sample
from familytool.runs import line, sample_of

NAME = "familytool"
CARRIES = "everything: samples with documents, graph paths, golden calls, alternatives, sources of each argument"
LOST = ""
FILES = ("",)


def looks_like(record: Json) -> bool:
    """Whether a record has the columns of a Sample."""
    return isinstance(record, dict) and {"id", "benchmark", "kind", "speaker", "candidate_tools", "calls"} <= record.keys()


def read_samples(source: Source, rejected: list[str]) -> Iterator[Sample]:
    """The samples of a file; a row that is none goes into `rejected` with its place."""
    records = (
        pair for file in files_of(source.path, looks_like, rejected) for pair in read_records(file, rejected, place_name(file, source))
    )
    for place, row in records:
        try:
            yield sample_of(row)
        except KeyError as error:
            rejected.append(f"{place}: no sample, {error} is missing")
        except (ValueError, TypeError) as error:
            named = row.get("id", "") if isinstance(row, dict) else ""
            rejected.append(f"{place}{f' ({named})' if named else ''}: {' '.join(str(error).split())[:300]}")


def write_samples(samples: Iterable[Sample], name: str, rejected: list[str] | None = None) -> Iterator[tuple[str, str]]:
    """(file, text) pairs, one line for each sample; half of a surrogate pair cannot be written (FamilytoolError, or into `rejected`)."""
    for sample in samples:
        text = line(sample)
        if not _SURROGATE.search(text):
            yield "", text
        elif rejected is None:
            raise FamilytoolError(f"{sample.id}: it holds half of a surrogate pair, which is no character; correct it and write again.")
        else:
            rejected.append(f"{sample.id}: it holds half of a surrogate pair, which is no character")


_SURROGATE = re.compile("[\ud800-\udfff]")
