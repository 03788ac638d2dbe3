"""A release that is extended: ids and facts stay, only what is lacking is made, and new rows are new."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from familytool import pipeline
from familytool.errors import ShortfallError, UsageError
from familytool.extension import read_base, stratum_of
from familytool.formats.familytool_release import read_graphs, read_release
from familytool.runs import RunFolder, read_samples
from familytool.validation.checks import check_sample
from tests.made import familytool, write_small

CAMPAIGN = """
name = "{name}"
seed = 3
[family]
people = 6
attributes_per_person = {attributes}
[generation]
documents = "tools.json"
strata = {{ {strata} }}
{more}
"""


def write(folder: Path, strata: str, attributes: int = 14, more: str = "", name: str = "grown", seed: str = "seed = 3") -> Path:
    write_small(folder)
    path = folder / "campaign.toml"
    text = CAMPAIGN.format(name=name, strata=strata, attributes=attributes, more=more)
    path.write_text(text.replace("seed = 3", seed), encoding="utf-8")
    return path


def run(campaign: Path, folder: Path, base: Path | None = None) -> None:
    job = pipeline.Job(*pipeline.find_campaign(str(campaign)), None, base)
    with RunFolder(folder, job.identity()) as run_folder:
        pipeline.run_all(job, run_folder)


@pytest.fixture(scope="module")
def former(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release that is extended."""
    folder = tmp_path_factory.mktemp("former")
    run(write(folder, "hop1 = 4, hop2 = 6, no_tool = 1"), folder / "run")
    return folder / "run" / "release"


@pytest.fixture(scope="module")
def grown(former: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that extends it by rows, a stratum and relations."""
    folder = tmp_path_factory.mktemp("grown")
    run(write(folder, "hop1 = 4, hop2 = 9, hop3 = 2, no_tool = 1", 24), folder / "run", former)
    return folder / "run"


def rows(release: Path) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in read_release(release, "all")}


def test_the_rows_and_facts_of_the_former_release_stay(former: Path, grown: Path) -> None:
    old, new = rows(former), rows(grown / "release")
    assert {key: {k: v for k, v in new[key].items() if k != "version"} for key in old} == {
        key: {k: v for k, v in row.items() if k != "version"} for key, row in old.items()
    }
    before, after = read_graphs(former)["grown"], read_graphs(grown / "release")["grown"]
    assert set(before) <= set(after)
    assert set(after) - set(before), "new relations bring facts"
    owned = [(t.head, t.relation) for t in after if t.relation not in ("son", "daughter", "brother", "sister", "friend", "colleague")]
    assert len(owned) == len(set(owned)), "no fact has two values"


def test_only_what_is_lacking_is_made_and_ids_go_on(former: Path, grown: Path) -> None:
    made = list(read_samples(grown / "samples.jsonl"))
    assert sorted(stratum_of(s) for s in made) == ["hop2"] * 3 + ["hop3"] * 2
    assert not {s.id for s in made} & set(rows(former))
    assert len(rows(grown / "release")) == 11 + 5
    queries = [row["query"] for row in rows(grown / "release").values()]
    assert len(set(queries)) == len(queries)


def test_all_rows_pass_the_checks_against_the_grown_graph(grown: Path) -> None:
    graph = read_graphs(grown / "release")["grown"]
    base = read_base(grown / "release")
    assert len(base.samples) == 16
    for sample in base.samples:
        assert [check.verdict for check in check_sample(sample, graph)] == ["pass"] * 4


@pytest.mark.parametrize("novelty", ["unseen_tool", "unseen_relation", "unseen_path"])
def test_a_quota_of_novelty_is_met_by_rows_that_are_new(former: Path, tmp_path: Path, novelty: str) -> None:
    more = f'quotas = [{{ novelty = "{novelty}", stratum = "hop2", at_least = 4 }}]'
    run(write(tmp_path, "hop1 = 4, hop2 = 10, no_tool = 1", 24, more), tmp_path / "run", former)
    base = read_base(former)
    made = list(read_samples(tmp_path / "run" / "samples.jsonl"))
    assert len(made) == 4
    assert all(novelty in base.novelty(sample) for sample in made)


def test_what_the_former_release_has_is_not_new(former: Path) -> None:
    base = read_base(former)
    assert [base.novelty(sample) for sample in base.samples] == [frozenset({"seen"})] * len(base.samples)


def test_a_quota_that_cannot_be_met_is_a_shortfall(former: Path, tmp_path: Path) -> None:
    more = 'max_candidates = 5\nquotas = [{ novelty = "seen", at_least = 2 }]'
    with pytest.raises(ShortfallError, match=r"stratum hop2: 0 of 2 rows after 10 candidates.*quota"):
        run(write(tmp_path, "hop1 = 4, hop2 = 8, no_tool = 1", 14, more), tmp_path / "run", former)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--base", "nowhere"], r"--base nowhere: no release folder .*; give the folder that `familytool release build` made"),
        (
            ["--base", "FORMER"],
            r"--base: its graph 'grown' is about another family \(.* has .* as .*\); keep the campaign's seed and family, or give the campaign another name",
        ),
        ([], r"a quota with a novelty needs a former release: give --base RELEASE"),
    ],
    ids=["no release", "another family", "no base"],
)
def test_a_base_that_cannot_be_extended_is_told(former: Path, tmp_path: Path, words: list[str], said: str) -> None:
    more = "" if words else 'quotas = [{ novelty = "unseen_tool", at_least = 1 }]'
    campaign = write(tmp_path, "hop1 = 5", 14, more, seed="seed = 4" if words else "seed = 3")
    done = familytool("generate", campaign, *(str(former) if word == "FORMER" else word for word in words), cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    import re

    assert re.search(said, done.stderr), done.stderr


def test_a_release_with_a_row_that_cannot_be_read_is_not_extended(former: Path, tmp_path: Path) -> None:
    import pyarrow.parquet

    broken = tmp_path / "release"
    shutil.copytree(former, broken)
    table = pyarrow.parquet.read_table(broken / "all" / "test.parquet").to_pylist()
    table[2]["calls"] = "{"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(table), broken / "all" / "test.parquet")
    with pytest.raises(UsageError, match=r"1 rows cannot be read \(all/test\.parquet, row 3"):
        read_base(broken)


def test_an_interrupted_extension_goes_on(former: Path, grown: Path, tmp_path: Path) -> None:
    calls = iter(range(3, -1, -1))

    def progress(what: str, done: int, of: int) -> None:
        if next(calls) == 0:
            raise KeyboardInterrupt

    campaign = write(tmp_path, "hop1 = 4, hop2 = 9, hop3 = 2, no_tool = 1", 24)
    job = pipeline.Job(*pipeline.find_campaign(str(campaign)), None, former)
    with RunFolder(tmp_path / "run", job.identity()) as folder, pytest.raises(KeyboardInterrupt):
        pipeline.run_all(job, folder, progress)
    run(campaign, tmp_path / "run", former)
    for name in ("samples.jsonl", "rejected.jsonl", "base.jsonl", "graph.jsonl"):
        assert (tmp_path / "run" / name).read_bytes() == (grown / name).read_bytes()
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["stages"].keys() == {"generate", "release", "evaluate", "report"}
