import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from familytool import pipeline
from familytool.campaign import Campaign
from familytool.errors import FamilytoolError
from familytool.runs import RunFolder, read_samples
from tests.made import Made, arguments, environment, familytool, hashes


@pytest.fixture
def job(small: Made) -> pipeline.Job:
    return small.job


@pytest.fixture
def campaign(small: Made) -> Path:
    """The campaign file of the small run."""
    return small.path.parent / "small.toml"


def stop_at(number: int) -> pipeline.Progress:
    """A progress display whose user presses Control-C when it is called for the n-th time."""
    calls = iter(range(number, -1, -1))

    def progress(what: str, done: int, of: int) -> None:
        if next(calls) == 0:
            raise KeyboardInterrupt

    return progress


def finish(job: pipeline.Job, folder: Path) -> dict[str, str]:
    """Run a campaign to its end, and the hashes of all its files."""
    with RunFolder(folder, job.identity()) as run:
        pipeline.run_all(job, run)
    return hashes(folder)


def test_the_small_campaign_rejects_enough_for_a_resumed_run_to_go_wrong_by_it(small: Made) -> None:
    rejected = {row["stratum"] for row in small.rows("rejected.jsonl")}
    assert len(small.rows("rejected.jsonl")) >= 8
    assert len(rejected) >= 2


@pytest.mark.parametrize("moments", [[0], [3], [9], [13], [17], [19], [20], [22], [2, 2, 2, 2], [0, 0, 0]], ids=str)
def test_a_run_that_is_interrupted_and_resumed_ends_with_the_same_files(
    moments: list[int], job: pipeline.Job, small: Made, tmp_path: Path
) -> None:
    for number in moments:
        with RunFolder(tmp_path / "run", job.identity()) as run, pytest.raises(KeyboardInterrupt):
            pipeline.run_all(job, run, stop_at(number))
    assert finish(job, tmp_path / "run") == hashes(small.path)


def test_a_finished_run_that_is_run_again_changes_nothing(job: pipeline.Job, small: Made, tmp_path: Path) -> None:
    first = finish(job, tmp_path / "run")
    assert finish(job, tmp_path / "run") == first


def cut(name: str, size: int) -> Callable[[Path], None]:
    """Damage: the last bytes of a file were never written."""

    def damage(folder: Path) -> None:
        file = folder / name
        os.truncate(file, max(0, file.stat().st_size - size))

    return damage


def drop_last_rows(name: str, rows: int) -> Callable[[Path], None]:
    """Damage: the last rows of a file were never written."""

    def damage(folder: Path) -> None:
        lines = (folder / name).read_bytes().splitlines(keepends=True)
        (folder / name).write_bytes(b"".join(lines[:-rows]))

    return damage


def both(*damages: Callable[[Path], None]) -> Callable[[Path], None]:
    return lambda folder: [damage(folder) for damage in damages] and None


def append(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes() + text.encode()) and None


DAMAGES = {
    "a torn sample": cut("samples.jsonl", 40),
    "a sample without its newline": cut("samples.jsonl", 1),
    "a torn check of a sample that was never written": both(drop_last_rows("samples.jsonl", 1), cut("checks.jsonl", 20)),
    "all checks of a sample that was never written": drop_last_rows("samples.jsonl", 1),
    "two of the four checks of a sample that was never written": both(
        drop_last_rows("samples.jsonl", 1), drop_last_rows("checks.jsonl", 2)
    ),
    "half a row behind the samples": append("samples.jsonl", '{"id": "small-hop1-0000'),
    "half a row behind the rejected": append("rejected.jsonl", '{"id": "small-hop3-00'),
    "half a row behind the checks": append("checks.jsonl", '{"sample_id": "sm'),
    "half a character behind the samples": both(append("samples.jsonl", '{"id": "ü'), cut("samples.jsonl", 1)),
    "an unfinished release": lambda folder: (folder / "release.part" / "hop1").mkdir(parents=True),
    "an old release aside": lambda folder: (folder / "release.old.part").mkdir(),
    "an unfinished manifest": lambda folder: (folder / "manifest.json.part").write_text("{") and None,
    "an unfinished tool list": lambda folder: (folder / "tools.jsonl").rename(folder / "tools.jsonl.part") and None,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_what_a_kill_leaves_behind_is_mended(damage: Callable[[Path], None], job: pipeline.Job, small: Made, tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", job.identity()) as run, pytest.raises(KeyboardInterrupt):
        pipeline.run_all(job, run, stop_at(12))
    damage(tmp_path / "run")
    assert finish(job, tmp_path / "run") == hashes(small.path)


def test_a_torn_rejected_row_is_decided_again(job: pipeline.Job, small: Made, tmp_path: Path) -> None:
    """The moment when a rejected row is half written: no later row is there, and none is decided otherwise."""
    with RunFolder(tmp_path / "run", job.identity()) as run, pytest.raises(KeyboardInterrupt):
        pipeline.run_all(job, run, stop_at(len(small.samples)))
    strata = list(job.campaign.generation.strata)
    last = small.rows("rejected.jsonl")[-1]
    before = [
        s
        for s in small.samples
        if (strata.index(s.provenance["stratum"]), s.provenance["candidate"]) < (strata.index(last["stratum"]), last["candidate"])
    ]
    drop_last_rows("samples.jsonl", len(small.samples) - len(before))(tmp_path / "run")
    cut("rejected.jsonl", 30)(tmp_path / "run")
    (tmp_path / "run" / "manifest.json").write_text(
        json.dumps({"identity": job.identity(), "stages": {}}, indent=2, ensure_ascii=False) + "\n"
    )
    assert len(before) < len(small.samples)
    assert finish(job, tmp_path / "run") == hashes(small.path)


FULL = {
    "before the first row": (False, 50_000),
    "in the middle of the rows": (False, 150_000),
    "in the release": (True, 20_000),
    "in the report": (True, 40_000),
}


@pytest.mark.parametrize(("generated", "limit"), FULL.values(), ids=FULL.keys())
def test_a_full_disk_is_one_sentence_and_the_same_command_goes_on_when_there_is_room(
    generated: bool, limit: int, job: pipeline.Job, campaign: Path, small: Made, tmp_path: Path
) -> None:
    def fill_disk() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    if generated:
        with RunFolder(tmp_path / "run", job.identity()) as run:
            pipeline.generate(job, run)
    done = familytool("run", campaign, "--run-dir", tmp_path / "run", before=fill_disk)
    said = [line for line in done.stderr.splitlines() if not line.startswith("  ")]
    assert done.returncode == 1, done.stderr
    assert len(said) == 1, done.stderr
    assert re.search(r": cannot be written \(.*File too large\); ", said[0])
    assert "run again" in said[0]
    assert finish(job, tmp_path / "run") == hashes(small.path)


def test_a_second_process_is_refused_and_told_the_first_ones_number(campaign: Path, job: pipeline.Job, tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", job.identity()):
        done = familytool("run", campaign, "--run-dir", tmp_path / "run")
        shown = familytool("status", campaign, "--run-dir", tmp_path / "run")
    assert done.returncode == 1
    assert f"in use by process {os.getpid()} on" in done.stderr
    assert "another --run-dir" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert f"in use by process {os.getpid()} on" in shown.stdout


def test_the_run_of_another_campaign_is_not_taken_up(job: pipeline.Job, small: Made) -> None:
    other = pipeline.Job(job.campaign.model_copy(update={"name": "other"}), job.folder)
    before = hashes(small.path)
    with pytest.raises(FamilytoolError, match=r"campaign\.name was \"small\", is \"other\""), RunFolder(small.path, other.identity()):
        pass
    assert hashes(small.path) == before


def edited(job: pipeline.Job, **sections: dict[str, object]) -> pipeline.Job:
    """The campaign of a job, edited under the same name."""
    content = job.campaign.model_dump(mode="json")
    for name, changes in sections.items():
        content[name] = {**content[name], **changes}
    return pipeline.Job(Campaign.model_validate(content), job.folder)


def test_an_edit_of_the_rows_is_told_and_sets_aside_what_it_makes_stale(job: pipeline.Job, small: Made, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(small.path, folder)
    before = hashes(folder)
    other = edited(job, family={"people": 5})
    with RunFolder(folder, other.identity()) as run:
        differences, aside = pipeline.take_edit(run)
        pipeline.run_all(other, run)
    assert differences == ["campaign.family.people was 4, is 5"]
    assert aside is not None
    kept = hashes(aside)
    assert {name: kept[name] for name in pipeline.GENERATED if name in kept} == {n: before[n] for n in pipeline.GENERATED if n in before}
    afresh = finish(other, tmp_path / "afresh")
    assert {name: value for name, value in hashes(folder).items() if not name.startswith("superseded/")} == afresh


def test_an_edit_of_the_release_leaves_the_rows_alone(job: pipeline.Job, small: Made, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(small.path, folder)
    before = hashes(folder)
    other = edited(job, release={"version": "2.0.0"})
    with RunFolder(folder, other.identity()) as run:
        differences, _ = pipeline.take_edit(run)
        assert set(run.manifest()["stages"]) == {"generate"}
        pipeline.run_all(other, run)
    assert differences == ['campaign.release.version was "1.0.0", is "2.0.0"']
    after = hashes(folder)
    assert {name: after[name] for name in pipeline.GENERATED if name in after} == {n: before[n] for n in pipeline.GENERATED if n in before}
    assert after["release/README.md"] != before["release/README.md"]


def test_a_run_that_is_looked_at_after_an_edit_is_not_changed_by_that(job: pipeline.Job, small: Made) -> None:
    before = hashes(small.path)
    with RunFolder(small.path, edited(job, family={"people": 5}).identity()) as run:
        assert run.edited_from is not None
    assert hashes(small.path) == before


def test_a_run_stopped_by_control_c_says_how_to_go_on(tmp_path: Path) -> None:
    """`home` goes on for seconds behind its first stratum, so that the signal meets it at work."""
    with subprocess.Popen(
        arguments("run", "home", "--run-dir", tmp_path / "run"), stderr=subprocess.PIPE, text=True, env=environment()
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("  hop1")
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 1
    assert said.splitlines()[-1] == "familytool: stopped; what is finished is kept, and the same command goes on."
    assert "Traceback" not in said


@pytest.mark.soak
def test_sixty_kills_at_any_moment_lose_nothing(campaign: Path, small: Made, tmp_path: Path) -> None:
    wanted, folder, rng = hashes(small.path), tmp_path / "run", random.Random(1)
    kills = finished = in_release = 0
    duration = 2.0
    while kills < 60:
        begun = time.monotonic()
        process = subprocess.Popen(
            arguments("run", campaign, "--run-dir", folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment()
        )
        waits_for_release = kills % 3 == 0
        moment = begun + rng.uniform(0.3, 1.0) * duration
        while process.poll() is None:
            building = (folder / "release.part").exists()
            if (building and waits_for_release and rng.random() < 0.2) or (not waits_for_release and time.monotonic() > moment):
                process.kill()
                in_release += building
                kills += 1
                break
            time.sleep(0.001)
        said = process.communicate()[1].decode()
        assert process.returncode in (0, -signal.SIGKILL), said
        assert not folder.exists() or sum(1 for _ in read_samples(folder / "samples.jsonl")) <= len(small.samples)
        if process.returncode == 0:
            duration = time.monotonic() - begun
        elif kills == 60 or (building and rng.random() < 0.3):  # begin afresh, so that kills meet every stage
            done = familytool("run", campaign, "--run-dir", folder)
            assert done.returncode == 0, done.stderr
        else:
            continue
        assert hashes(folder) == wanted
        shutil.rmtree(folder)
        finished += 1
    print(f"\n{kills} kills, {in_release} of them while the release was built; {finished} runs finished with identical files")
