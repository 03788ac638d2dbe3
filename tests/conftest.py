"""What the tests of all rooms share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from tests.made import Made, make, write_small

settings.register_profile("familytool", deadline=None, derandomize=True)  # no test depends on the speed of a machine or on luck
settings.load_profile("familytool")


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The built-in campaign `home`, run once with all its stages. Tests read it and do not write to it."""
    return make(tmp_path_factory.mktemp("runs") / "home", "home")


@pytest.fixture(scope="session")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The built-in campaign `extended`, generated once."""
    return make(tmp_path_factory.mktemp("runs") / "extended", "extended", only_generate=True)


@pytest.fixture(scope="session")
def paper(tmp_path_factory: pytest.TempPathFactory, foreign_data: Callable[[str], Path]) -> Made:
    """The built-in campaign `paper`, generated once; it needs the MTU-Bench documents."""
    documents = foreign_data("mtu-bench")
    return make(tmp_path_factory.mktemp("runs") / "paper", "paper", documents, only_generate=True)


@pytest.fixture(scope="session", params=["home", "extended", pytest.param("paper", marks=pytest.mark.full)])
def made(request: pytest.FixtureRequest) -> Made:
    """Each built-in campaign, one after the other."""
    return request.getfixturevalue(request.param)  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A campaign of twenty rows, run with all its stages and without an interruption."""
    folder = tmp_path_factory.mktemp("small")
    return make(folder / "run", str(write_small(folder)))
