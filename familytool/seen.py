"""What has been accepted: the rows that another one would be a duplicate of, by wording, path and call together."""

from __future__ import annotations

from familytool.model import Sample, digest


class Seen:
    """Accepted rows by what makes another one their duplicate: the same words of the same speaker, or the same call along the same paths.

    Rows are numbered as they are accepted, so that a candidate can be compared with the first so many alone: what it may know of then
    does not depend on how fast others were. With `alike` (0 to 1), rows are duplicates as well whose words are so much alike and whose
    speaker, tools and paths are the same; text alone decides nothing, for twins differ in a word.
    """

    def __init__(self, alike: float | None = None) -> None:
        self._first: dict[bytes, int] = {}
        self._wordings: dict[bytes, list[tuple[int, str, str]]] = {}
        self._alike = alike
        self.count = 0

    def add(self, sample: Sample) -> None:
        """Count a row as accepted."""
        for key in _keys(sample):
            self._first.setdefault(key, self.count)
        if self._alike is not None:
            self._wordings.setdefault(_group(sample), []).append((self.count, sample.id, _plain(sample.query)))
        self.count += 1

    def duplicate_of(self, sample: Sample, horizon: int | None = None) -> str:
        """Why a candidate is a duplicate of one of the first `horizon` accepted rows (default: of all), or ""."""
        within = self.count if horizon is None else horizon
        if any(self._first.get(key, within) < within for key in _keys(sample)):
            return "the same words, or the same call along the same paths, were accepted before"
        if self._alike is not None:
            from rapidfuzz import fuzz

            words = _plain(sample.query)
            for number, identity, other in self._wordings.get(_group(sample), ()):
                if number < within and fuzz.ratio(words, other, score_cutoff=100 * self._alike):
                    return f"nearly the same words as {identity}, for the same tools along the same paths"
        return ""


def _group(sample: Sample) -> bytes:
    """What two rows share if nothing but values that are said outright can tell them apart: speaker, tools and paths.

    Rows are compared within such groups alone, so that contrast pairs stay, and so that the work grows with the number of rows and not
    with its square.
    """
    tools = [call.name for call in sample.calls] or sample.provenance.get("tools", [])
    return bytes.fromhex(digest([sample.graph_id, sample.speaker, sample.kind, tools, [p.model_dump() for p in sample.golden_paths]]))


def _plain(query: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in query.casefold()).split())


def _keys(sample: Sample) -> list[bytes]:
    words = digest([sample.graph_id, sample.speaker, sample.query.casefold()])
    call = digest(
        [
            sample.graph_id,
            sample.speaker,
            sample.kind,
            [c.model_dump() for c in sample.calls],
            [p.model_dump() for p in sample.golden_paths],
        ]
    )
    return [bytes.fromhex(words), *([bytes.fromhex(call)] if sample.calls else [])]
