"""Names that differ only in how they are written: `date of journey` and `date_of_journey`, one code point for ñ and two."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable


def nearest_name(name: str, declared: Iterable[str]) -> str | None:
    """The declared name that differs from this one only in Unicode form, case, spaces, underscores or hyphens; None if none does.

    >>> nearest_name("date of journey", ["from", "date_of_journey"]), nearest_name("date", ["date_of_journey"])
    ('date_of_journey', None)
    """
    bare = _bare(name)
    near = [other for other in declared if other != name and _bare(other) == bare] if bare else []
    return min(near, key=lambda other: not _is_same_text(name, other), default=None)


def near_hint(name: str, declared: Iterable[str]) -> str:
    """The hint of a finding about a name: `near: NAME`, or that it differs only in Unicode form; "" where no name is near."""
    near = nearest_name(name, declared)
    if near is None:
        return ""
    return f"differs only in Unicode form from {near}" if _is_same_text(name, near) else f"near: {near}"


def _bare(name: str) -> str:
    return re.sub(r"[\s_-]|[\u00ad\u200b-\u200d\u2010-\u2015\ufeff]", "", unicodedata.normalize("NFKC", name).casefold())


def _is_same_text(one: str, two: str) -> bool:
    return unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", two)
