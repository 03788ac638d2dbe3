"""Batches: out as files, back in parts and any order, as often as one likes."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from familytool.errors import FamilytoolError, UsageError
from familytool.llm.batch import Part, read_batch, write_batch
from familytool.llm.dialects import Dialect, chat_body
from familytool.llm.ledger import Ledger
from familytool.llm.prices import read_prices
from familytool.llm.requests import Purpose, Request
from tests.llm.ledger_calls import ask, chat

DIALECT = Dialect(has_schema=True)


def body_of(request: Request) -> dict[str, Any]:
    return chat_body(request, DIALECT)


def written(folder: Path, count: int = 6, purpose: Purpose = "query", **limits: Any) -> tuple[list[Request], list[Part]]:
    requests = [ask(number, model="gpt-4o-mini") for number in range(count)]
    return requests, write_batch(((purpose, request) for request in requests), folder, body_of, **limits)


def lines(*paths: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


def result(key: str, text: str = "yes", **fields: Any) -> dict[str, Any]:
    """A line of an output file, as OpenAI writes it."""
    response = {"status_code": 200, "request_id": "r", "body": chat(text)}
    return {"id": "batch_req_1", "custom_id": key, "response": response, "error": None, **fields}


def failure(key: str) -> dict[str, Any]:
    """A line of an error file, as OpenAI writes it when the time is up."""
    return {"id": "batch_req_2", "custom_id": key, "response": None, "error": {"code": "batch_expired", "message": "not in time"}}


def put(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


# Writing.


def test_each_line_is_a_request_of_the_batch_format(tmp_path: Path) -> None:
    requests, parts = written(tmp_path)
    assert [part.path.name for part in parts] == ["requests-0001-gpt-4o-mini.jsonl"]
    found = lines(parts[0].path)
    assert all(list(line) == ["custom_id", "method", "url", "body"] for line in found)
    assert {(line["method"], line["url"]) for line in found} == {("POST", "/v1/chat/completions")}
    assert [line["custom_id"] for line in found] == [request.key for request in requests]
    assert [line["body"] for line in found] == [body_of(request) for request in requests]
    assert (parts[0].requests, parts[0].size) == (6, parts[0].path.stat().st_size)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["asked.jsonl", "requests-0001-gpt-4o-mini.jsonl"]


def test_parts_hold_no_more_requests_or_bytes_than_allowed(tmp_path: Path) -> None:
    _, parts = written(tmp_path / "count", 10, max_requests=4)
    assert [part.requests for part in parts] == [4, 4, 2]
    size = parts[0].size // 4 + 10
    _, parts = written(tmp_path / "bytes", 10, max_bytes=3 * size)
    assert [part.requests for part in parts] == [3, 3, 3, 1]
    assert all(part.path.stat().st_size == part.size <= 3 * size for part in parts)
    with pytest.raises(UsageError, match="without --batch"):
        written(tmp_path / "alone", 1, max_bytes=100)
    assert list((tmp_path / "alone").glob("requests-*.jsonl")) == []


def test_a_file_holds_requests_of_one_model(tmp_path: Path) -> None:
    asked = [("query", ask(number, model=model)) for number in range(4) for model in ("a/b", "c")]
    parts = write_batch(iter(asked), tmp_path, body_of, max_requests=3)  # type: ignore[arg-type]
    assert [(part.path.name, part.model, part.requests) for part in parts] == [
        ("requests-0001-a-b.jsonl", "a/b", 3),
        ("requests-0002-c.jsonl", "c", 3),
        ("requests-0003-a-b.jsonl", "a/b", 1),
        ("requests-0004-c.jsonl", "c", 1),
    ]
    assert all({line["body"]["model"] for line in lines(part.path)} == {part.model} for part in parts)


def test_a_key_is_written_once_and_what_is_skipped_is_not_written(tmp_path: Path) -> None:
    requests = [ask(0), ask(1), ask(0), ask(2), ask(1)]
    parts = write_batch((("query", request) for request in requests), tmp_path, body_of, skip={ask(2).key})
    assert [line["custom_id"] for line in lines(parts[0].path)] == [ask(0).key, ask(1).key]
    assert write_batch([("query", ask(0))], tmp_path, body_of, skip={ask(0).key}) == []


def test_a_later_batch_gets_the_next_number(tmp_path: Path) -> None:
    written(tmp_path, 2)
    parts = write_batch([("judge", ask(9))], tmp_path, body_of)
    assert [part.path.name for part in parts] == ["requests-0002-small-model.jsonl"]


@pytest.mark.parametrize("model", ["../../etc/passwd", "", ".", "a\x00b", "m\ud800", "x" * 500, "ü/ß"])
def test_no_name_of_a_model_leaves_the_folder(tmp_path: Path, model: str) -> None:
    parts = write_batch([("query", ask(0, model=model))], tmp_path / "batch", body_of)
    assert parts[0].path.parent == tmp_path / "batch"
    assert parts[0].path.is_file()
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        report = read_batch([put(tmp_path / "out.jsonl", [result(ask(0, model=model).key)])], ledger, tmp_path / "batch")
    assert report.answered == 1


# Reading.


def test_results_become_rows_like_those_of_a_call(tmp_path: Path) -> None:
    requests, _ = written(tmp_path / "batch", purpose="judge")
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        file = put(tmp_path / "out.jsonl", [result(request.key, f"answer {n}") for n, request in enumerate(requests)])
        report = read_batch([file], ledger, tmp_path / "batch", prices=read_prices(), endpoint="https://api.openai.com/v1")
        row, answer = ledger.row(requests[3].key), ledger.lookup(requests[3].key)
    assert (report.answered, report.failed, report.waiting) == (6, frozenset(), frozenset())
    assert row is not None
    assert (row.purpose, row.model, row.outcome, row.prompt_tokens, row.output_tokens) == ("judge", "gpt-4o-mini", "answered", 7, 3)
    assert Request.model_validate(json.loads(row.request)) == requests[3]
    assert row.price == pytest.approx((7 * 0.15 + 3 * 0.60) / 2 / 1e6, abs=1e-9)
    assert answer is not None
    assert answer.text == "answer 3"


def test_output_and_error_files_may_come_in_parts_any_order_and_twice(tmp_path: Path) -> None:
    requests, _ = written(tmp_path / "batch", 30)
    rows = [result(request.key) if n % 3 else failure(request.key) for n, request in enumerate(requests)]
    random.Random(1).shuffle(rows)
    files = [put(tmp_path / f"part{n}.jsonl", rows[n::4]) for n in range(4)]
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        early = read_batch(files[:2], ledger, tmp_path / "batch")
        assert len(early.waiting) == 30 - len(rows[0::4]) - len(rows[1::4])
        report = read_batch([*files[2:], files[0]], ledger, tmp_path / "batch")
        assert early.answered + report.answered == len(ledger) == 20
        before = [ledger.row(request.key) for request in requests]
        again = read_batch(files[::-1], ledger, tmp_path / "batch")
        assert (again.answered, again.known) == (0, 20)
        assert again.errors == {"batch_expired": 10}
        assert again.failed == {request.key for request in requests[::3]}
        assert again.waiting == frozenset()
        assert [ledger.row(request.key) for request in requests] == before


def any_order_gives_the_same_ledger(folder: Path, order: list[int], cut: int, doubled: int) -> None:
    requests, _ = written(folder / "batch", len(order))
    rows = [result(request.key, f"answer {n}") if n % 4 else failure(request.key) for n, request in enumerate(requests)]
    shuffled = [rows[n] for n in order]
    files = [put(folder / "a.jsonl", shuffled[:cut]), put(folder / "b.jsonl", shuffled[cut:] + shuffled[:doubled])]
    with Ledger(folder / "ledger.sqlite") as ledger:
        for file in files:
            read_batch([file], ledger, folder / "batch")
        report = read_batch(files, ledger, folder / "batch")
        assert report.answered == report.malformed == report.unknown == 0
        for n, request in enumerate(requests):
            answer = ledger.lookup(request.key)
            assert (answer and answer.text) == (f"answer {n}" if n % 4 else None)


orders = st.integers(1, 12).flatmap(lambda n: st.permutations(range(n)))


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(orders, st.integers(0, 12), st.integers(0, 12))
def test_any_order_gives_the_same_ledger(tmp_path_factory: pytest.TempPathFactory, order: list[int], cut: int, doubled: int) -> None:
    any_order_gives_the_same_ledger(tmp_path_factory.mktemp("order"), order, cut, doubled)


@pytest.mark.soak
@settings(max_examples=2_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(orders, st.integers(0, 12), st.integers(0, 12))
def test_any_of_many_orders_gives_the_same_ledger(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], cut: int, doubled: int
) -> None:
    any_order_gives_the_same_ledger(tmp_path_factory.mktemp("order"), order, cut, doubled)


def test_a_folder_of_results_is_read_without_our_own_files(tmp_path: Path) -> None:
    requests, _ = written(tmp_path)
    put(tmp_path / "batch_123_output.jsonl", [result(request.key) for request in requests[:4]])
    put(tmp_path / "batch_123_error.jsonl", [failure(request.key) for request in requests[4:]])
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        report = read_batch([tmp_path], ledger, tmp_path)
    assert (report.answered, len(report.failed), report.malformed, report.unknown) == (4, 2, 0, 0)


def test_what_failed_can_be_asked_again_and_an_answer_ends_the_failure(tmp_path: Path) -> None:
    requests, _ = written(tmp_path, 3)
    put(tmp_path / "error.jsonl", [failure(requests[0].key)])
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        report = read_batch([tmp_path], ledger, tmp_path)
        assert (report.failed, len(report.waiting)) == ({requests[0].key}, 2)
        parts = write_batch((("query", request) for request in requests), tmp_path, body_of, skip=report.waiting)
        assert [line["custom_id"] for line in lines(parts[0].path)] == [requests[0].key]
        put(tmp_path / "output.jsonl", [result(requests[0].key)])
        report = read_batch([tmp_path], ledger, tmp_path)
    assert (report.answered, report.failed, len(report.waiting)) == (1, frozenset(), 2)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (
            {"response": {"status_code": 400, "request_id": "r", "body": {"error": {"code": "context_length_exceeded"}}}, "error": None},
            "context_length_exceeded",
        ),
        (
            {
                "response": {"status_code": 400, "request_id": "r", "body": {"error": {"type": "invalid_request_error", "code": None}}},
                "error": None,
            },
            "invalid_request_error",
        ),
        ({"response": {"status_code": 500, "request_id": "r", "body": "<html>"}, "error": None}, "status 500"),
        ({"response": {"status_code": 429, "request_id": "r", "body": chat()}, "error": None}, "status 429"),
        ({"response": None, "error": {"code": "batch_cancelled", "message": "m"}}, "batch_cancelled"),
        ({"response": {"status_code": 400, "request_id": "v", "body": None}, "error": "The model does not support it"}, "status 400"),
        (
            {
                "response": {"status_code": 404, "request_id": "v", "body": None},
                "error": {"error": {"message": "m", "type": "NotFoundError", "code": 404}},
            },
            "404",
        ),
        ({"response": None, "error": "gone"}, "gone"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_errors_of_openai_and_vllm_stay_unfinished_and_are_counted_by_kind(tmp_path: Path, line: dict[str, Any], kind: str) -> None:
    requests, _ = written(tmp_path, 1)
    file = put(tmp_path / "out.jsonl", [{"id": "x", "custom_id": requests[0].key, **line}])
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        report = read_batch([file], ledger, tmp_path)
        assert len(ledger) == 0
    assert report.errors == {kind: 1}
    assert report.failed == {requests[0].key}


UNREADABLE_BODIES = [
    "no response",
    None,
    "<html>",
    [],
    {},
    {"choices": []},
    {"choices": [{"finish_reason": "stop"}]},
    {"error": {"message": "overloaded"}},
]


@pytest.mark.parametrize(
    "line",
    [
        [],
        {},
        {"custom_id": 5, "response": {}},
        {"custom_id": "KEY"},
        {"custom_id": "KEY", "method": "POST", "url": "/v1/chat/completions", "body": {}},
    ],
    ids=str,
)
def test_a_line_that_is_no_result_is_told_and_the_others_are_taken(tmp_path: Path, line: Any) -> None:
    requests, _ = written(tmp_path, 2)
    if isinstance(line, dict) and line.get("custom_id") == "KEY":
        line = {**line, "custom_id": requests[0].key}
    file = put(tmp_path / "out.jsonl", [line, result(requests[1].key)])
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        report = read_batch([file], ledger, tmp_path)
    assert (report.answered, report.malformed, report.errors) == (1, 1, {})
    assert [(problem.file, problem.line) for problem in report.problems] == [("out.jsonl", 1)]
    assert report.waiting == {requests[0].key}


@pytest.mark.parametrize("body", UNREADABLE_BODIES, ids=lambda body: str(body)[:40])
def test_a_result_that_is_no_answer_is_told_and_can_be_asked_again(tmp_path: Path, body: Any) -> None:
    requests, _ = written(tmp_path, 2)
    line = {"custom_id": requests[0].key, "response": {"status_code": 200, "body": body}, "error": None}
    if body == "no response":
        line["response"] = None
    file = put(tmp_path / "out.jsonl", [line, result(requests[1].key)])
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        report = read_batch([file], ledger, tmp_path)
    assert (report.answered, report.malformed, report.errors) == (1, 0, {"unreadable": 1})
    assert [(problem.file, problem.line) for problem in report.problems] == [("out.jsonl", 1)]
    assert report.failed == {requests[0].key}
    assert report.waiting == frozenset()


def test_results_of_others_are_told_and_not_taken(tmp_path: Path) -> None:
    requests, _ = written(tmp_path, 1)
    file = put(
        tmp_path / "out.jsonl", [result("request-1"), result("f" * 64), result("../x\ud800"), failure("f" * 64), result(requests[0].key)]
    )
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        report = read_batch([file], ledger, tmp_path)
        assert len(ledger) == 1
    assert (report.answered, report.unknown, report.failed) == (1, 4, frozenset())


def test_a_download_that_was_cut_gives_what_it_has_and_the_rest_later(tmp_path: Path) -> None:
    requests, _ = written(tmp_path, 3)
    whole = put(tmp_path / "out.jsonl", [result(request.key) for request in requests]).read_bytes()
    (tmp_path / "out.jsonl").write_bytes(whole[:-30])
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        report = read_batch([tmp_path / "out.jsonl"], ledger, tmp_path)
        assert (report.answered, report.malformed, len(report.waiting)) == (2, 1, 1)
        (tmp_path / "out.jsonl").write_bytes(whole)
        report = read_batch([tmp_path / "out.jsonl"], ledger, tmp_path)
        assert (report.answered, report.known, report.malformed, len(report.waiting)) == (1, 2, 0, 0)


def test_a_list_of_requests_that_was_torn_or_edited_is_believed_only_where_it_fits(tmp_path: Path) -> None:
    requests, _ = written(tmp_path, 3)
    asked = (tmp_path / "asked.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    asked[0] = asked[0].replace("question 0", "question 7")
    (tmp_path / "asked.jsonl").write_text("".join(asked)[:-20], encoding="utf-8")
    file = put(tmp_path / "out.jsonl", [result(request.key) for request in requests])
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        report = read_batch([file], ledger, tmp_path)
        assert (report.answered, report.unknown) == (1, 2)
        write_batch([("query", requests[2])], tmp_path, body_of)  # the torn line is cut before the next is written
        assert read_batch([file], ledger, tmp_path).answered == 1


def test_a_folder_without_a_batch_and_a_missing_file_are_one_sentence(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        with pytest.raises(FamilytoolError, match="no batch was written here"):
            read_batch([], ledger, tmp_path / "none")
        written(tmp_path, 1)
        with pytest.raises(FamilytoolError, match="cannot be read"):
            read_batch([tmp_path / "none.jsonl"], ledger, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(FamilytoolError, match="cannot be written"):
        written(tmp_path / "file", 1)


def test_secrets_in_results_are_not_kept(tmp_path: Path) -> None:
    secret = "sk-local-0123456789abcdefghij"
    requests, _ = written(tmp_path, 1)
    with Ledger(tmp_path / "ledger.sqlite", secrets=[secret]) as ledger:
        read_batch([put(tmp_path / "out.jsonl", [result(requests[0].key, f"the key {secret}")])], ledger, tmp_path)
    assert secret.encode() not in (tmp_path / "ledger.sqlite").read_bytes()
