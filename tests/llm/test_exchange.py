"""Ledgers as JSONL: exported, read elsewhere, and taken in again without loss and without trust."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from familytool.errors import FamilytoolError
from familytool.llm import jsonl
from familytool.llm.exchange import export_ledger, import_ledger
from familytool.llm.ledger import Ledger
from familytool.llm.requests import Sampling
from familytool.llm.store import COLUMNS
from tests.llm.ledger_calls import ask, chat, finished

SECRET = "sk-local-0123456789abcdefghij"


def fill(path: Path, count: int = 5, text: str = "answer") -> None:
    with Ledger(path) as ledger:
        for number in range(count):
            request = ask(number, sampling=Sampling(temperature=0.5), tools=({"z": 1, "a": "ä \ud83d"},))
            ledger.store([ledger.prepared(request.key, request, "query", finished(request, chat(f"{text} {number} \x00 東京"), 0.1))[0]])


def exported(folder: Path, **changes: Any) -> tuple[Path, list[dict[str, Any]]]:
    """An export of five rows, the third of them changed, and its rows."""
    fill(folder / "from.sqlite")
    file = folder / "ledger.jsonl"
    assert export_ledger(folder / "from.sqlite", file) == 5
    rows = [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1]]
    rows[2] |= changes
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file, rows


def test_an_export_is_taken_in_as_it_was(tmp_path: Path) -> None:
    fill(tmp_path / "from.sqlite")
    export_ledger(tmp_path / "from.sqlite", tmp_path / "one.jsonl")
    report = import_ledger(tmp_path / "one.jsonl", tmp_path / "to.sqlite")
    assert (report.imported, report.known, report.rekeyed, report.conflicts, report.refused) == (5, 0, 0, 0, 0)
    export_ledger(tmp_path / "to.sqlite", tmp_path / "two.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    with Ledger(tmp_path / "from.sqlite", replay=True) as one, Ledger(tmp_path / "to.sqlite", replay=True) as other:
        for line in (tmp_path / "one.jsonl").read_text(encoding="utf-8").splitlines():
            key = json.loads(line)["key"]
            assert one.row(key) == other.row(key)


def test_an_export_holds_the_columns_in_key_order_with_request_and_response_as_objects(tmp_path: Path) -> None:
    _, rows = exported(tmp_path)
    assert all(tuple(row) == COLUMNS for row in rows)
    assert [row["key"] for row in rows] == sorted(row["key"] for row in rows)
    assert all(isinstance(row["request"], dict) and isinstance(row["response"], dict) for row in rows)
    assert list(rows[0]["request"]["tools"][0]) == ["z", "a"]


def test_twice_the_same_file_changes_nothing(tmp_path: Path) -> None:
    file, _ = exported(tmp_path)
    import_ledger(file, tmp_path / "to.sqlite")
    before = (tmp_path / "to.sqlite").read_bytes()
    report = import_ledger(file, tmp_path / "to.sqlite")
    assert (report.imported, report.known) == (0, 5)
    assert (tmp_path / "to.sqlite").read_bytes() == before


def test_keys_are_computed_anew_and_a_difference_is_told(tmp_path: Path) -> None:
    file, _ = exported(tmp_path, key="0" * 64)
    report = import_ledger(file, tmp_path / "to.sqlite")
    assert (report.imported, report.rekeyed) == (5, 1)
    assert [problem.line for problem in report.problems] == [3]
    with Ledger(tmp_path / "to.sqlite", replay=True) as ledger:
        assert "0" * 64 not in ledger
        assert len(ledger) == 5


def test_another_answer_under_the_same_key_is_told_and_the_first_stays(tmp_path: Path) -> None:
    file, rows = exported(tmp_path, response=chat("something else"))
    fill(tmp_path / "to.sqlite")
    report = import_ledger(file, tmp_path / "to.sqlite")
    assert (report.imported, report.known, report.conflicts) == (0, 4, 1)
    assert [problem.line for problem in report.problems] == [3]
    with Ledger(tmp_path / "to.sqlite", replay=True) as ledger:
        answer = ledger.lookup(rows[2]["key"])
    assert answer is not None
    assert answer.text.startswith("answer")


def test_an_answer_whose_keys_stand_in_another_order_is_the_same_answer(tmp_path: Path) -> None:
    _, rows = exported(tmp_path)
    file, _ = exported(tmp_path, response=dict(reversed(rows[2]["response"].items())))
    fill(tmp_path / "to.sqlite")
    assert import_ledger(file, tmp_path / "to.sqlite").known == 5


@pytest.mark.parametrize(
    "change",
    [
        {"request": {"model": "m"}},
        {"request": []},
        {"response": "text"},
        {"response": None},
        {"outcome": "failed"},
        {"prompt_tokens": -1},
        {"prompt_tokens": "7"},
        {"prompt_tokens": True},
        {"output_tokens": 2**60},
        {"price": -0.5},
        {"price": float("nan")},
        {"model": "another"},
        {"sample_index": 4},
        {"started": 17},
        {"extra": 1},
        {"key": 5},
    ],
    ids=str,
)
def test_a_line_that_is_no_row_is_refused_with_its_number_and_the_others_are_taken(tmp_path: Path, change: dict[str, Any]) -> None:
    file, _ = exported(tmp_path, **change)
    report = import_ledger(file, tmp_path / "to.sqlite")
    assert (report.imported, report.refused) == (4, 1)
    assert [(problem.file, problem.line) for problem in report.problems] == [("ledger.jsonl", 3)]
    assert "\n" not in report.problems[0].message


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[1]", b"null", b'"x"', b"\xff\xfe", b"[" * 200_000, b'{"a":' * 200_000, b"1" * 10_000, b'{"key": ' + b"9" * 6_000 + b"}"],
    ids=["blank", "cut", "list", "null", "text", "bytes", "deep list", "deep object", "number", "huge number"],
)
@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b""], ids=["lf", "crlf", "none"])
def test_a_line_that_is_no_json_object_is_told_and_the_others_are_taken(tmp_path: Path, line: bytes, ending: bytes) -> None:
    file, _ = exported(tmp_path)
    content = file.read_bytes()
    file.write_bytes(content + line + ending if ending != b"\r\n" else content.replace(b"\n", ending) + line + ending)
    report = import_ledger(file, tmp_path / "to.sqlite")
    assert report.imported == 5
    assert report.refused == (1 if line else 0)


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, _ = exported(tmp_path)
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 4_000)
    lines = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join([*lines[:2], b'{"x": "' + b"y" * 9_000 + b'"}', *lines[2:]]))
    report = import_ledger(file, tmp_path / "to.sqlite")
    assert (report.imported, report.refused) == (5, 1)
    assert report.problems[0].line == 3


def test_only_the_first_problems_are_spelled_out_and_all_are_counted(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("{}\n" * 100)
    report = import_ledger(tmp_path / "bad.jsonl", tmp_path / "to.sqlite")
    assert (report.refused, len(report.problems)) == (100, jsonl.TOLD)


def test_files_that_are_not_there_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(FamilytoolError, match="no ledger here"):
        export_ledger(tmp_path / "none.sqlite", tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()
    with pytest.raises(FamilytoolError, match="cannot be read"):
        import_ledger(tmp_path / "none.jsonl", tmp_path / "to.sqlite")


def test_a_row_that_holds_a_secret_is_not_exported(tmp_path: Path) -> None:
    fill(tmp_path / "from.sqlite", text=f"key {SECRET}")
    with pytest.raises(FamilytoolError, match="holds a secret") as error:
        export_ledger(tmp_path / "from.sqlite", tmp_path / "out.jsonl", secrets=[SECRET])
    assert SECRET not in str(error.value)
    assert not (tmp_path / "out.jsonl").exists()


def test_a_ledger_may_be_exported_while_a_run_writes_it(tmp_path: Path) -> None:
    with Ledger(tmp_path / "from.sqlite") as ledger:
        asyncio.run(ledger.record(ask(), "query", *finished(ask())))
        assert export_ledger(tmp_path / "from.sqlite", tmp_path / "out.jsonl") == 1


def test_an_imported_ledger_replays_a_run(tmp_path: Path) -> None:
    file, _ = exported(tmp_path)
    import_ledger(file, tmp_path / "to.sqlite")
    request = ask(0, sampling=Sampling(temperature=0.5), tools=({"z": 1, "a": "ä \ud83d"},))

    async def nobody() -> Any:
        raise AssertionError

    async def run() -> str:
        async with Ledger(tmp_path / "to.sqlite", replay=True) as ledger:
            return (await ledger.answer(request, "query", nobody)).text

    assert asyncio.run(run()).startswith("answer 0")
