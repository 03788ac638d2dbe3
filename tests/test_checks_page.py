"""The example of docs/checks.md is a whole campaign: copied out, it runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from familytool.cli import app

PAGE = Path(__file__).parents[1] / "docs" / "checks.md"


def test_the_campaign_and_the_check_of_the_page_run_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = PAGE.read_text(encoding="utf-8")
    for language, name in (("toml", "my-campaign.toml"), ("python", "my_checks.py")):
        found = re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)
        assert found is not None
        (tmp_path / name).write_text(found[1], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["run", "my-campaign.toml"])
    assert done.exit_code == 0, done.output
    assert len((tmp_path / "runs" / "tone" / "samples.jsonl").read_text("utf-8").splitlines()) == 6
    assert "check_tone" in (tmp_path / "runs" / "tone" / "checks.jsonl").read_text("utf-8")
