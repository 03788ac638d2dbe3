"""What the writers of benchmarks share: a sample that cannot be said is told, and what was written is read again and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from typing import TypeVar

from familytool.errors import FamilytoolError
from familytool.formats.openai import DocumentError
from familytool.model import Sample, Tool, canonical

Written = TypeVar("Written")


def written_samples(
    samples: Iterable[Sample], write: Callable[[Sample], Written], name: str, rejected: list[str] | None
) -> Iterator[Written]:
    """What `write` makes of each sample; its DocumentError is the reason why the form `name` cannot say that sample.

    Args:
        rejected: gets "id: reason" of each sample that cannot be said; where it is not given, that is an error.

    Raises:
        FamilytoolError: a sample that cannot be said, if `rejected` is not given.
    """
    for sample in samples:
        try:
            written = write(sample)
        except DocumentError as error:
            if rejected is None:
                raise FamilytoolError(f"{sample.id}: {error}; it cannot be written as {name}.") from None
            rejected.append(f"{sample.id}: {error}")
            continue
        yield written


def once_each(function: Callable[[Tool], Written]) -> Callable[[Tool], Written]:
    """The function, asked once for each tool object: the rows of a benchmark share their documents, often hundreds in each."""
    known: dict[int, tuple[Tool, Written]] = {}

    @wraps(function)
    def once(tool: Tool) -> Written:
        kept = known.get(id(tool))
        if kept is None or kept[0] is not tool:
            if len(known) > 4096:
                known.clear()
            kept = known[id(tool)] = (tool, function(tool))
        return kept[1]

    return once


@once_each
def said(tool: Tool) -> str:
    """What a document says, as text; without its response, which runs do not keep."""
    return canonical([tool.name, tool.description, {"required": [], **tool.as_candidate().parameters}])


def require_same(own: Mapping[str, str], read_again: Mapping[str, str]) -> None:
    """Compare what a sample tells with what its row tells (DocumentError: where they differ, both from there on)."""
    for what, told in own.items():
        other = read_again.get(what, "nothing")
        if told != other:
            at = next((n for n, (a, b) in enumerate(zip(told, other, strict=False)) if a != b), min(len(told), len(other)))
            start = max(0, at - 20)
            raise DocumentError(f"{what} would be read as {other[start : start + 80]!r}, not as {told[start : start + 80]!r}")
