"""`status`, `why` and `preview` of a run with models: what they tell, in 80 columns, and that nothing in it steers the terminal."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest

from familytool.cli.progress import Pending
from familytool.cli.saying import say_candidate
from familytool.generation.samples import NotBuilt
from familytool.llm.store import open_for_writing
from familytool.making import Candidate
from familytool.runs import RunFolder
from tests.evaluation.model_run import ACCEPTED, ENDS, key, rejections, write_run
from tests.made import environment, familytool


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return write_run(tmp_path_factory.mktemp("seen") / "run")


def shown(*words: object, width: int = 80) -> str:
    done = familytool(*words, COLUMNS=str(width))
    assert done.returncode == 0, done.stderr
    return done.stdout


def plain(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def status(run: RunFolder) -> str:
    return shown("status", run.path)


def test_status_tells_rows_beside_those_that_are_wanted(status: str) -> None:
    rows = {cells[1]: cells[2:-1] for line in status.splitlines() if (cells := [c.strip() for c in line.split("│")])[1:]}
    # the base's row is one of hop1
    assert rows["hop1"] == ["1", "1", "############", "3", "2"]
    assert rows["hop2"] == ["3", "4", "#########...", "9", "6"]
    assert rows["no_tool"] == ["0", "1", "............", "1", "1"]
    assert rows["all"][:4] in (["4", "6", "########....", "13"], ["12", "780", "66", "$0.6800"])
    assert "1 row kept from the former release" in status


def test_status_tells_calls_and_money_and_what_the_rest_will_take(status: str) -> None:
    words = plain(status)
    assert "No price is known for 1 of 12 calls." in words
    assert "Not answered: 1 empty." in words
    assert "An accepted row took $0.0375 and 1.2 calls of its own, $0.1700 with all that was not taken." in words
    assert "Of 12 calls, 5 made accepted rows, 4 rejected ones, and 3 neither" in words
    assert "Kept back until a person has reviewed: 1 accepted row." in words
    assert "2 rows to go: about 6 calls, $0.34, if they are like those that were made." in words
    assert "Nobody is at work on it" in words


def test_status_says_each_reason_once_and_their_sum_is_what_was_rejected(status: str) -> None:
    lines = status.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("Rejected candidates"))
    rows = [[c.strip() for c in line.split("│")][1:-1] for line in lines[start:] if line.startswith("│")]
    reasons = [row for row in rows if len(row) == 4]
    assert sum(int(row[2]) for row in reasons) == len(ENDS)
    assert len({(row[0], row[1]) for row in reasons}) == len(reasons)


@contextmanager
def at_work(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the run folder and writes to its ledger."""
    code = f"""
import sys
from pathlib import Path
from familytool.llm.store import open_for_writing
from familytool.making import Candidate
from familytool.runs import RunFolder
with RunFolder(Path({str(path)!r})):
    connection = open_for_writing(Path({str(path / "ledger.sqlite")!r}))
    connection.execute("BEGIN IMMEDIATE")
    print("held", flush=True)
    sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        yield other
        other.communicate("")


def test_status_of_a_run_that_is_going_on_names_the_holder_and_waits_for_nobody(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    with (run.path / "samples.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "m-hop2-0000')  # a row that is just being written
    with at_work(run.path) as other:
        words = plain(shown("status", run.path))
        assert other.poll() is None
    assert f"in use by process {other.pid} on" in words
    assert "2 rows to go: about 6 calls, $0.34, 6 s at the pace of the last 11 calls" in words
    assert "Nobody is at work" not in words


def test_status_of_a_finished_run_estimates_nothing(tmp_path: Path) -> None:
    words = plain(shown("status", write_run(tmp_path / "run", stages=("generate", "release")).path))
    assert "finished stages: generate, release" in words
    assert "to go" not in words


def test_status_reads_the_calls_of_a_process_that_was_killed(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    writer = open_for_writing(run.path / "ledger.sqlite")
    writer.execute("UPDATE ledger SET purpose = 'judge' WHERE purpose = 'probe'")  # stands in the write-ahead log alone
    assert (run.path / "ledger.sqlite-wal").exists()
    assert "probing" not in shown("status", run.path)
    writer.close()


def why(run: RunFolder, identity: str, *words: str) -> str:
    return plain(shown("why", identity, "--run-dir", run.path, *words))


def test_why_tells_all_that_an_accepted_row_was_made_of(run: RunFolder) -> None:
    told = why(run, "m-hop2-000001")
    for part in (
        "Bob: Post a card to my mum.", "accepted", "has a twin: m-hop2-000003", "fact: (Bob, mother, Ann)",
        "/0/arguments/to: from the graph (Bob -> mother)", "written by writer-model, candidate 1 of hop2, seed 3, now 2025-06-02",
        "document send_card: status ok, format openai, hash", "prompt phrase: 0123456789abcdef", "draft: Draft it.", "style: Write short.",
        "intent: unknown (by rules)", "intent: pass (by judge-model)", "solve: pass (by writer-model)",
        f"call {key(2)[:12]}: query by writer-model, answered, 30 + 2 tokens, $0.03000", "in all 1 call (writing queries 1), 32 tokens, $0.03000",
    ):  # fmt: skip
        assert part in told, part
    assert "question 2" in why(run, "m-hop2-000001", "--prompts")


@pytest.mark.parametrize(
    ("identity", "part"),
    [
        ("m-hop2-000003", "twin of m-hop2-000001"),
        ("m-hop2-000004", "accepted, and awaits a person's review of intent: not released"),
        ("old-hop1-000077", "kept from the former release"),
    ],
    ids=["twin", "awaiting", "kept"],
)
def test_why_tells_what_became_of_a_row(identity: str, part: str, run: RunFolder) -> None:
    assert part in why(run, identity)


@pytest.mark.parametrize("row", rejections(), ids=ENDS)
def test_why_tells_of_every_rejected_candidate_the_reason_verdicts_and_calls(row: object, run: RunFolder) -> None:
    told = why(run, row.id)  # type: ignore[attr-defined]
    assert f"{row.id} was rejected by {row.check}: {row.code}: because" in told  # type: ignore[attr-defined]
    assert ("no row was built" in told) == (row.sample is None)  # type: ignore[attr-defined]
    for check in row.checks:  # type: ignore[attr-defined]
        assert f"{check.check}: {check.verdict} (by {check.judge})" in told
    for call in row.calls:  # type: ignore[attr-defined]
        assert f"call {call[:12]}" in told


def test_why_tells_the_evidence_that_a_judge_quotes(run: RunFolder) -> None:
    assert "evidence: 'a letter" in why(run, "m-hop2-000007")


def test_why_without_the_ledger_says_so(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    (run.path / "ledger.sqlite").unlink()
    assert "2 calls; the ledger that holds them is not here" in why(run, "m-hop1-000000")


def test_why_shows_what_people_said(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    (run.path / "reviews.jsonl").write_text(json.dumps({"record_id": "m-hop2-000004", "reviewer": "ann", "answers": {"ok": True}}) + "\n")
    assert 'review by ann: {"ok": true}' in why(run, "m-hop2-000004")


LOOKS = {
    "status": ("status", "RUN"),
    "why": ("why", "m-hop2-000001", "--run-dir", "RUN"),
    "why rejected": ("why", "m-hop2-000007", "--run-dir", "RUN"),
    "why with prompts": ("why", "m-hop1-000000", "--run-dir", "RUN", "--prompts"),
    "preview": ("preview", "DONE", "-n", "5"),
}


@pytest.mark.parametrize("words", LOOKS.values(), ids=LOOKS)
def test_what_is_shown_fits_80_columns_and_steers_nothing(words: tuple[str, ...], tmp_path: Path) -> None:
    run, done = write_run(tmp_path / "run"), write_run(tmp_path / "done", stages=("generate",))
    evil = "\x1b[31m\x07\u202e\ud800"
    for folder in (run.path, done.path):
        lines = (folder / "rejected.jsonl").read_text(encoding="utf-8")
        (folder / "rejected.jsonl").write_text(lines.replace("letter", json.dumps(evil)[1:-1] + "letter"), encoding="utf-8")
    samples = (done.path / "samples.jsonl").read_text(encoding="utf-8")
    (done.path / "samples.jsonl").write_text(samples.replace("Post a card", json.dumps(evil)[1:-1] + "Post a card"), encoding="utf-8")
    text = shown(*({"RUN": run.path, "DONE": done.path}.get(word, word) for word in words))
    assert max(len(line) for line in text.splitlines() if line != str(run.path)) <= 80
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800]", text)


def test_a_preview_of_a_finished_run_is_spread_over_kept_and_new_rows(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", stages=("generate",))
    text = shown("preview", run.path, "-n", "2")
    assert re.findall(r"^(\S+)  \[", text, re.MULTILINE) == ["old-hop1-000077", "m-hop2-000001"]
    assert shown("preview", run.path, "-n", "50").count("  offered: ") == len(ACCEPTED) + 1


def test_a_previewed_candidate_is_shown_with_its_draft_its_verdicts_and_what_speaks_against_it(capsys: pytest.CaptureFixture[str]) -> None:
    row, verdicts = ACCEPTED[1]
    tried = {"query": "A card!", "check": "solve", "code": "solved_differently", "message": "by else"}
    row = row.model_copy(update={"provenance": {**row.provenance, "tried": [tried]}})
    say_candidate(Candidate(row, "intent", "judged_mismatch", "no \x1b", verdicts, ("k", "l")))
    say_candidate(Candidate(NotBuilt("length", "too long"), "generate", "length", "too long"))
    told = plain(capsys.readouterr().out)
    for part in (
        "Bob: Post a card to my mum.", "draft: Draft it.", "tried: A card! rejected by solve: solved_differently: by else",
        "writer-model, judge-model: solve pass, query pass, intent pass, feasibility pass",
        "rejected by intent: judged_mismatch: no \\x1b", "2 calls", "(no row) rejected by generate: length: too long",
    ):  # fmt: skip
        assert part in told, part


def test_the_rest_of_a_run_is_reckoned_from_the_rows_that_this_process_made() -> None:
    now, meter = [0.0], SimpleNamespace(price=Decimal(0))
    pending = Pending({"hop1": 10, "none": 0, "hop2": 30}, lambda: now[0])
    now[0], meter.price = 1_000.0, Decimal(5)
    assert not pending.count("preferences", 136, meter)  # neither its time nor its money is a row's
    for done in range(6, 11):  # five rows are there from an earlier start
        assert pending.count("hop1", done, meter)
    now[0], meter.price = 1_050.0, Decimal(6)
    assert (pending.done, pending.wanted) == (10, 40)
    assert pending.left(meter) == "30 rows to go: about 5 min and $6.00"
    for done in range(1, 31):
        pending.count("hop2", done, meter)
    assert pending.left(meter) == ""


def test_rows_of_strata_that_were_full_before_are_not_waited_for() -> None:
    pending = Pending({"hop1": 10, "hop2": 30}, lambda: 0.0)
    pending.count("hop2", 29)
    assert pending.left(None) == "1 row to go: about 0 s"
