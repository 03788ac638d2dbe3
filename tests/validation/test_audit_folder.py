"""The folder of an audit: locked, whole or as before, and never without a file of somebody else's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from familytool.errors import FamilytoolError, UsageError
from familytool.validation.audit_folder import PART, SUMMARY, WRITTEN, audit_folder


def write(out: Path, **files: str) -> None:
    """An audit that writes these files beside its summary."""
    with audit_folder(out) as folder:
        for name, text in files.items():
            path = folder / name.replace("__", "/").replace("_json", ".json")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        (folder / SUMMARY).write_text("{}", encoding="utf-8")


def names(out: Path) -> set[str]:
    return {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}


def test_the_summary_lists_what_was_written_and_the_next_audit_removes_just_that(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, patched__a_json="1", patched__sub__b_json="2", data_docs__index_json="3")
    assert set(json.loads((out / SUMMARY).read_text())["written"]) == names(out)
    (out / "patched" / "mine.txt").write_text("mine")
    (out / "notes.txt").write_text("notes")
    write(out, patched__a_json="new")
    assert names(out) == {SUMMARY, "patched/a.json", "patched/mine.txt", "notes.txt"}
    assert (out / "patched" / "a.json").read_text() == "new"
    assert not (out / "data_docs").exists()


@pytest.mark.parametrize("name", [name for name in WRITTEN if "." in name])
def test_a_file_that_no_audit_wrote_is_refused_and_kept(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(UsageError, match=f"'{name}' in it was not written by an audit"):
        write(tmp_path)
    assert (tmp_path / name).read_text() == "mine"
    assert not (tmp_path / PART).exists()


def test_a_foreign_file_in_the_place_of_a_new_one_is_kept_and_so_is_the_audit(tmp_path: Path) -> None:
    (tmp_path / "patched").mkdir()
    (tmp_path / "patched" / "a.json").write_text("mine")
    with pytest.raises(FamilytoolError, match=r"'patched/a.json' in it was not written by an audit and is kept"):
        write(tmp_path, patched__a_json="new")
    assert (tmp_path / "patched" / "a.json").read_text() == "mine"
    assert (tmp_path / PART / "patched" / "a.json").read_text() == "new"


@pytest.mark.parametrize("listed", ["../outside.txt", "/etc/hostname", "notes.txt", "patched/../../outside.txt", 7, None])
def test_a_summary_that_lists_other_files_removes_none(listed: object, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out)
    (tmp_path / "outside.txt").write_text("mine")
    (out / "notes.txt").write_text("mine")
    (out / SUMMARY).write_text(json.dumps({"written": [SUMMARY, listed]}))
    write(out)
    assert (tmp_path / "outside.txt").read_text() == (out / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["report.html", "patched"])
def test_a_link_is_not_followed(name: str, tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    (out / name).symlink_to(elsewhere)
    with pytest.raises(UsageError, match=f"'{name}' in it was not written"):
        write(out, patched__a_json="1")
    assert list(elsewhere.iterdir()) == []


def test_an_audit_that_fails_leaves_the_former_one_and_no_folder_of_its_own(tmp_path: Path) -> None:
    write(tmp_path / "out", patched__a_json="old")
    for out in ("out", "new"):
        with pytest.raises(RuntimeError), audit_folder(tmp_path / out) as folder:
            (folder / "patched").mkdir()
            raise RuntimeError
    assert names(tmp_path / "out") == {SUMMARY, "patched/a.json"}
    assert not (tmp_path / "new").exists()


def test_a_folder_of_that_name_that_no_audit_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / PART).mkdir()
    (tmp_path / PART / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match=f"'{PART}' in it was not written by an audit"):
        write(tmp_path)


def test_two_audits_cannot_write_into_one_folder(tmp_path: Path) -> None:
    with audit_folder(tmp_path) as folder:
        with pytest.raises(UsageError, match="another audit is writing into it"):
            write(tmp_path)
        (folder / SUMMARY).write_text("{}")
    write(tmp_path)


KILLED = """
import sys, time
from pathlib import Path
from familytool.validation import audit_folder as module
out, when = Path(sys.argv[1]), sys.argv[2]
if when == "placing":
    replace = Path.replace
    def stop_at_the_summary(self, target):
        if self.name == "summary.json":
            print("now", flush=True); time.sleep(60)
        return replace(self, target)
    Path.replace = stop_at_the_summary
with module.audit_folder(out) as folder:
    (folder / "patched").mkdir()
    (folder / "patched" / "b.json").write_text("killed")
    (folder / "report.html").write_text("killed")
    (folder / "summary.json").write_text("{}")
    if when == "writing":
        print("now", flush=True); time.sleep(60)
"""


@pytest.mark.parametrize("when", ["writing", "placing"])
def test_after_a_kill_the_next_audit_works_and_nothing_of_the_killed_one_stays(when: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, patched__a_json="old")
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(out), when], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"now\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    if when == "writing":
        assert (out / "patched" / "a.json").read_text() == "old"
    assert (out / PART).is_dir()
    for _ in range(50):  # the lock goes with the process
        try:
            write(out, patched__c_json="new")
            break
        except UsageError:
            time.sleep(0.1)
    assert names(out) == {SUMMARY, "patched/c.json"}
