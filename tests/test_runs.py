import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from familytool.errors import FamilytoolError
from familytool.model import Sample, Tool
from familytool.runs import Appender, RunFolder, cut_torn_line, file_hash, line, read_rows, read_samples, replace_folder

CAMPAIGN = {"campaign": {"name": "a", "seed": 7}, "documents": "0123"}


def python(code: str, *arguments: object) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]


def run(code: str, *arguments: object) -> str:
    """What a process of its own prints."""
    done = subprocess.run(python(code, *arguments), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def numbers(file: Path) -> list[int]:
    return [row["n"] for row in read_rows(file)]


TORN = {
    "whole": (b'{"n": 0}\n{"n": 1}\n', 0, [0, 1]),
    "half a row": (b'{"n": 0}\n{"n": 1', 7, [0]),
    "a row without its newline": (b'{"n": 0}\n{"n": 1}', 8, [0]),
    "half a character": ('{"n": 0}\n{"n": "ü'.encode()[:-1], 8, [0]),
    "the first row": (b'{"n"', 4, []),
    "longer than a block": (b'{"n": 0}\n' + b"x" * 3_000_000, 3_000_000, [0]),
    "empty": (b"", 0, []),
}


@pytest.mark.parametrize(("content", "cut", "rows"), TORN.values(), ids=TORN.keys())
def test_a_torn_last_line_is_no_row_and_is_cut_before_the_next_append(tmp_path: Path, content: bytes, cut: int, rows: list[int]) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(content)
    assert numbers(file) == rows
    assert file.read_bytes() == content
    with Appender(file) as appender:
        assert file.stat().st_size == len(content) - cut
        appender.write([{"n": 9}])
    assert numbers(file) == [*rows, 9]
    assert cut_torn_line(file) == 0


def test_a_file_that_is_not_there_has_no_rows_and_nothing_to_cut(tmp_path: Path) -> None:
    assert list(read_rows(tmp_path / "none.jsonl")) == []
    assert cut_torn_line(tmp_path / "none.jsonl") == 0
    assert not (tmp_path / "none.jsonl").exists()


DAMAGE = {"no JSON": b"{oops}\n", "no object": b"[1]\n", "blank": b"\n", "binary": b"\xff\xfe\n", "nested": b"[" * 200_000 + b"\n"}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_finished_line_that_is_no_row_is_an_error_with_its_number(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b'{"n": 0}\n' + damage + b'{"n": 2}\n')
    with pytest.raises(FamilytoolError, match=r"rows\.jsonl:2: not a JSON"):
        numbers(tmp_path / "rows.jsonl")


HOLD = """
    import sys
    from pathlib import Path
    from familytool.runs import RunFolder
    with RunFolder(Path(sys.argv[1])):
        print("held", flush=True)
        sys.stdin.read()
"""


def test_a_second_process_is_told_who_holds_the_folder_and_gets_it_afterwards(tmp_path: Path) -> None:
    with subprocess.Popen(python(HOLD, tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(FamilytoolError, match=f"in use by process {holder.pid} on .*another --run-dir"), RunFolder(tmp_path):
            pass
        holder.stdin.close()
        holder.wait()
    with RunFolder(tmp_path) as folder:
        assert f"process {os.getpid()} on" in (folder.path / "lock").read_text()


def test_a_lock_left_by_a_killed_process_does_not_hold_the_folder(tmp_path: Path) -> None:
    with subprocess.Popen(python(HOLD, tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        holder.kill()
        holder.wait()
    with RunFolder(tmp_path, CAMPAIGN) as folder:
        assert folder.manifest()["identity"] == CAMPAIGN


def test_the_same_campaign_finds_its_folder_again_and_another_is_told_what_differs(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", CAMPAIGN) as folder:
        folder.finish_stage("generate", {"rows": 3})
    with RunFolder(tmp_path / "run", json.loads(json.dumps(CAMPAIGN))) as folder:
        assert folder.manifest()["stages"] == {"generate": {"rows": 3}}
    other = {"campaign": {"name": "b", "seed": 8}, "documents": "4567"}
    with pytest.raises(FamilytoolError) as caught, RunFolder(tmp_path / "run", other):
        pass
    assert 'campaign.name was "a", is "b"; campaign.seed was 7, is 8; documents was "0123", is "4567"' in str(caught.value)
    with RunFolder(tmp_path / "run", CAMPAIGN):
        pass


def test_a_folder_with_other_things_in_it_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").write_bytes(b"x")
    with pytest.raises(FamilytoolError, match=r"not a run folder \(it holds holiday.jpg\)"), RunFolder(tmp_path, CAMPAIGN):
        pass
    assert not (tmp_path / "manifest.json").exists()


def test_a_folder_with_an_unfinished_file_alone_is_taken(tmp_path: Path) -> None:
    (tmp_path / "manifest.json.part").write_text("{", encoding="utf-8")
    with RunFolder(tmp_path, CAMPAIGN) as folder:
        assert folder.manifest()["identity"] == CAMPAIGN


@pytest.mark.parametrize("content", ["", "{", "[1]", "\x00"], ids=["empty", "torn", "list", "binary"])
def test_a_damaged_manifest_is_an_error_that_names_it(tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content, encoding="utf-8")
    with pytest.raises(FamilytoolError, match=r"manifest\.json: "), RunFolder(tmp_path, CAMPAIGN):
        pass


APPEND_FOR_EVER = """
    import itertools, sys
    from pathlib import Path
    from familytool.runs import Appender
    with Appender(Path(sys.argv[1])) as appender:
        for n in itertools.count():
            appender.write([{"n": n, "text": "ü" * (n * 37 % 5000)}])
            if n == 50:
                print("ready", flush=True)
"""


def test_a_process_killed_while_it_appends_leaves_whole_rows_without_a_gap(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    for _ in range(3):
        file.unlink(missing_ok=True)
        with subprocess.Popen(python(APPEND_FOR_EVER, file), stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
            writer.send_signal(signal.SIGKILL)
            assert writer.wait() == -signal.SIGKILL
        finished = numbers(file)
        assert finished == list(range(len(finished)))
        assert len(finished) > 50
        with Appender(file) as appender:
            appender.write([{"n": len(finished)}])
        assert numbers(file) == list(range(len(finished) + 1))


FULL_DISK = """
    import resource, sys
    from pathlib import Path
    from familytool.errors import FamilytoolError
    from familytool.runs import Appender, RunFolder
    folder = Path(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
    appender = Appender(folder / "rows.jsonl")
    try:
        for n in range(10_000):
            appender.write([{"n": n}])
    except FamilytoolError as error:
        print(error)
    try:
        RunFolder(folder).write_text("whole.json", "x" * 20_000)
    except FamilytoolError as error:
        print(error)
"""


def test_a_full_disk_is_one_sentence_and_keeps_finished_rows_and_old_files(tmp_path: Path) -> None:
    (tmp_path / "whole.json").write_text("old", encoding="utf-8")
    said = run(FULL_DISK, tmp_path).splitlines()
    assert [f"{tmp_path / name}: cannot be written" in text for name, text in zip(("rows.jsonl", "whole.json"), said, strict=True)] == [
        True,
        True,
    ]
    assert all("what is finished is kept" in text for text in said)
    assert (tmp_path / "whole.json").read_text() == "old"
    finished = numbers(tmp_path / "rows.jsonl")
    assert finished == list(range(len(finished)))
    assert len(finished) > 900
    with Appender(tmp_path / "rows.jsonl") as appender:
        appender.write([{"n": len(finished)}])
    assert numbers(tmp_path / "rows.jsonl") == list(range(len(finished) + 1))


def test_no_space_left_on_a_device_is_named(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").symlink_to("/dev/full")
    appender = Appender(tmp_path / "rows.jsonl")
    with pytest.raises(FamilytoolError, match="No space left"):
        appender.write([{"n": 0}])


def test_a_writer_that_fails_half_way_leaves_the_old_file_and_a_part_that_nobody_counts(tmp_path: Path) -> None:
    def chunks() -> Iterator[str]:
        yield "half"
        raise KeyboardInterrupt

    with RunFolder(tmp_path) as folder:
        folder.write_text("card.md", "old")
        with pytest.raises(KeyboardInterrupt):
            folder.write_chunks("card.md", chunks())
        assert (tmp_path / "card.md").read_text() == "old"
        assert folder.files() == ["card.md"]
        folder.write_text("card.md", "new")
        assert (tmp_path / "card.md").read_text() == "new"


def test_a_run_counts_its_own_finished_files_alone(tmp_path: Path) -> None:
    with RunFolder(tmp_path, CAMPAIGN) as folder:
        folder.write_records("samples.jsonl", [{"n": 0}, {"n": 1}])
        folder.write_text("release/hop1.parquet", "PAR1")
        (tmp_path / "samples.jsonl.part").write_text("{", encoding="utf-8")
        (tmp_path / "release.part").mkdir()
        (tmp_path / "release.part" / "hop1.parquet").write_text("x", encoding="utf-8")
        folder.finish_stage("generate", {})
        assert folder.files() == ["release/hop1.parquet", "samples.jsonl"]
        assert list(folder.manifest()["files"]) == folder.files()
        assert folder.manifest()["files"]["samples.jsonl"] == file_hash(tmp_path / "samples.jsonl")
        assert folder.manifest()["files"]["samples.jsonl"]["rows"] == 2


def test_a_folder_that_cannot_be_made_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(FamilytoolError, match=r"cannot be written .*another --run-dir"), RunFolder(tmp_path / "file" / "run"):
        pass


def test_a_finished_folder_takes_the_place_of_the_old_one_whole(tmp_path: Path) -> None:
    for name in ("new.part", "release"):
        (tmp_path / name).mkdir()
    (tmp_path / "new.part" / "a").write_text("new", encoding="utf-8")
    (tmp_path / "release" / "b").write_text("old", encoding="utf-8")
    replace_folder(tmp_path / "new.part", tmp_path / "release")
    assert [str(p.relative_to(tmp_path)) for p in sorted(tmp_path.rglob("*"))] == ["release", "release/a"]


SAMPLE = Sample(
    id="a-1", benchmark="a", kind="graph", speaker="Zoë", query="Wo?", graph_id="g",
    candidate_tools=(Tool(name="f", description="d", parameters={"type": "object", "properties": {"z": {}, "a": {}}}),),
)  # fmt: skip


def test_a_sample_written_and_read_is_the_same_and_keeps_the_order_of_keys(tmp_path: Path) -> None:
    file = tmp_path / "samples.jsonl"
    with Appender(file) as appender:
        appender.write([SAMPLE, SAMPLE])
    first, second = read_samples(file)
    assert first == second == SAMPLE
    assert first.candidate_tools[0] is second.candidate_tools[0]
    assert list(first.candidate_tools[0].parameters["properties"]) == ["z", "a"]
    assert "Zoë" in line(SAMPLE)


def test_a_row_that_is_no_sample_is_an_error_with_its_number(tmp_path: Path) -> None:
    (tmp_path / "samples.jsonl").write_text(line(SAMPLE) + '{"id": "x"}\n', encoding="utf-8")
    with pytest.raises(FamilytoolError, match=r"samples\.jsonl:2: not a sample"):
        list(read_samples(tmp_path / "samples.jsonl"))
