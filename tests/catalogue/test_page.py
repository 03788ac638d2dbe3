"""docs/catalogue.md says what each cluster of the embedded tools confuses."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_catalogue_page_is_current() -> None:
    """If this fails: python docs/make_catalogue.py."""
    page = runpy.run_path(str(DOCS / "make_catalogue.py"))["catalogue_page"]()
    assert (DOCS / "catalogue.md").read_text(encoding="utf-8") == page
