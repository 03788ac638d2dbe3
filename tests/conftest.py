"""What the tests of all rooms share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def foreign_data() -> Callable[[str], Path]:
    """`foreign_data(name)` is the folder `name` under FAMILYTOOL_DATA; without it a test skips (FAMILYTOOL_REQUIRE=1: fails)."""

    def find(name: str) -> Path:
        root = os.environ.get("FAMILYTOOL_DATA", "")
        if root and (Path(root) / name).is_dir():
            return Path(root) / name
        reason = f"{root}/{name} is no folder" if root else f"FAMILYTOOL_DATA is not set (the folder that holds {name}/)"
        if os.environ.get("FAMILYTOOL_REQUIRE") == "1":
            pytest.fail(f"foreign data are required: {reason}")
        pytest.skip(f"needs foreign data: {reason}")

    return find
