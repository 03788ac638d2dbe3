"""Words and small things that the parts of a report share."""

from __future__ import annotations

from collections.abc import Mapping

from familytool.html.parts import Html

STRATA = {"no_graph": "no graph needed", "no_tool": "no tool fits", "multi_call": "several calls"}


def stratum_label(name: str) -> str:
    """A stratum in words.

    >>> stratum_label("hop1"), stratum_label("hop2"), stratum_label("no_tool"), stratum_label("other")
    ('1 hop', '2 hops', 'no tool fits', 'other')
    """
    if name.startswith("hop") and name[3:].isdecimal():
        return f"{name[3:]} hop" if name[3:] == "1" else f"{name[3:]} hops"
    return STRATA.get(name, name)


def largest_first(counts: Mapping[str, int]) -> dict[str, int]:
    """Counts, the largest first and equal ones by name."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def none_shown() -> Html:
    """A dash where there is nothing to tell."""
    return Html('<span class="none">–</span>')
