"""Intervals of means."""

from __future__ import annotations

import math
from collections.abc import Sequence


def wilson_interval(outcomes: Sequence[float]) -> list[float] | None:
    """Return Wilson's 95 % interval for the mean of outcomes that are 0 or 1; None for no outcomes.

    >>> [round(bound, 3) for bound in wilson_interval([1.0])]
    [0.207, 1.0]
    """
    n, z = len(outcomes), 1.959963984540054
    if not n:
        return None
    mean = math.fsum(outcomes) / n
    centre = (mean + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    # All right and all wrong touch the end exactly; rounding would leave 0.9999999999999999.
    return [0.0 if mean == 0 else max(0.0, centre - half), 1.0 if mean == 1 else min(1.0, centre + half)]
