"""docs/audits.md says what the audit finds in published sets."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.full
def test_the_page_of_audits_is_what_the_audits_give(foreign_data: Callable[[str], Path]) -> None:
    """If this fails: python docs/make_audits.py DATA."""
    page = runpy.run_path(str(DOCS / "make_audits.py"))["audits_page"](foreign_data("nestful").parent)
    assert (DOCS / "audits.md").read_text(encoding="utf-8") == page
