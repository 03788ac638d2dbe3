"""SIGKILL at any moment: no committed answer is lost, none is asked again, and nothing was used that was not committed."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from familytool.llm.ledger import Ledger
from tests.llm.ledger_calls import ask

PROGRAM = Path(__file__).with_name("ledger_calls.py")
ROOT = PROGRAM.parents[2]
PARALLEL = 24


def start(folder: Path, count: int, name: str = "server") -> subprocess.Popen[bytes]:
    """A process that asks `count` requests through the ledger of the folder."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, str(PROGRAM), str(folder), str(count), str(PARALLEL), name], env=environment)


def lines(path: Path) -> list[str]:
    """The whole lines of a file; the kill may have torn the last one."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return text.split("\n")[:-1]


def committed(path: Path) -> set[str]:
    """The keys that a new process finds, after SQLite has brought the file in order."""
    if not path.exists():
        return set()
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'ledger'").fetchall():
            return set()
        return {key for (key,) in connection.execute("SELECT key FROM ledger")}
    finally:
        connection.close()


def kill_when(process: subprocess.Popen[bytes], calls: Path, at_least: int, then: float) -> bool:
    """Kill a process some time after so many calls were made; False if it had ended by itself."""
    while process.poll() is None and len(lines(calls)) < at_least:
        time.sleep(0.002)
    time.sleep(then)
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def killed_often(folder: Path, count: int, kills: int, seed: int) -> None:
    draw = random.Random(seed)
    calls, used, path = folder / "calls.txt", folder / "used.txt", folder / "ledger.sqlite"
    done = 0
    for _ in range(kills):
        before, made_before = committed(path), len(lines(calls))
        process = start(folder, count)
        # From before the file exists to the middle of the work; the pause moves the kill within a commit.
        share = draw.randrange(1, count // (2 * kills)) if draw.random() < 0.8 else 0
        if not kill_when(process, calls, made_before + share, draw.random() * 0.02):
            break
        done += 1
        after = committed(path)
        assert before <= after, "a committed row was lost"
        assert not before & set(lines(calls)[made_before:]), "a committed call was made again"
        assert {line.split()[0] for line in lines(used)} <= after, "an answer was used before its commit"
    before, made_before = committed(path), len(lines(calls))
    assert start(folder, count).wait() == 0
    keys = {ask(number).key for number in range(count)}
    assert committed(path) == keys
    assert not before & set(lines(calls)[made_before:])
    # What was in flight at a kill may recur, and nothing else does.
    assert 0 <= len(lines(calls)) - count <= done * PARALLEL
    assert {line.split()[0] for line in lines(used)} == keys
    with Ledger(path, replay=True) as ledger:
        for number in range(count):
            answer = ledger.lookup(ask(number).key)
            assert answer is not None
            assert answer.text == f"server says {number}"
    assert done * 2 >= kills  # a process may end before its kill, but not most of them


def test_after_three_kills_no_committed_call_was_repeated_and_no_row_lost(tmp_path: Path) -> None:
    killed_often(tmp_path, 600, 3, seed=1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 5))
def test_after_twenty_kills_no_committed_call_was_repeated_and_no_row_lost(tmp_path: Path, seed: int) -> None:
    killed_often(tmp_path, 4_000, 20, seed)


def test_two_processes_on_one_ledger_are_safe_and_agree(tmp_path: Path) -> None:
    names = ("one", "other")
    assert [process.wait() for process in [start(tmp_path, 200, name) for name in names]] == [0, 0]
    assert committed(tmp_path / "ledger.sqlite") == {ask(number).key for number in range(200)}
    with Ledger(tmp_path / "ledger.sqlite", replay=True) as ledger:
        answers = {ask(number).key: ledger.lookup(ask(number).key) for number in range(200)}
    for line in lines(tmp_path / "used.txt"):
        key, text = line.split(" ", 1)
        answer = answers[key]
        assert answer is not None
        assert answer.text == text  # both were given the answer that stayed
