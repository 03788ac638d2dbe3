"""What comes of asking models for a candidate: the sample or the reason, what was tried on the way, and the calls that it took."""

from __future__ import annotations

from dataclasses import dataclass

from familytool.generation.samples import NotBuilt
from familytool.model import Json, Sample


@dataclass(frozen=True)
class Written:
    """A candidate as a model wrote it, or why there is none; `calls` are ledger keys, in the order of asking."""

    sample: Sample | NotBuilt
    calls: tuple[str, ...] = ()
    tried: tuple[dict[str, Json], ...] = ()
