"""The ledger: nothing is paid twice, nothing is used before it is committed, and what was committed is read by today's parser."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from familytool.errors import FamilytoolError
from familytool.llm.ledger import GROUP_ANSWERS, Finished, Ledger, ReplayMiss
from familytool.llm.requests import Answer, Outcome, Request, Sampling, Usage
from familytool.llm.rows import utc_text
from tests.llm.ledger_calls import ask, chat, finished


class Calls:
    """A server that counts: how often each key was asked."""

    def __init__(self, body: Callable[[Request], dict[str, Any]] = lambda request: chat(), delay: float = 0) -> None:
        self.keys: list[str] = []
        self.body = body
        self.delay = delay

    def of(self, request: Request) -> Callable[[], Any]:
        async def call() -> Finished:
            self.keys.append(request.key)
            await asyncio.sleep(self.delay)
            return finished(request, self.body(request))

        return call


def rows_seen_by_others(path: Path) -> int:
    """Rows as another process sees them: the committed ones."""
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("SELECT COUNT(*) FROM ledger").fetchone()[0])
    finally:
        connection.close()


def test_an_answer_is_asked_once_and_afterwards_comes_from_the_ledger(tmp_path: Path) -> None:
    calls = Calls()

    async def run() -> list[Answer]:
        async with Ledger(tmp_path / "ledger.sqlite") as ledger:
            return [await ledger.answer(ask(), "query", calls.of(ask())) for _ in range(2)]

    first, second = asyncio.run(run())
    assert calls.keys == [ask().key]
    assert (first.from_ledger, second.from_ledger) == (False, True)
    assert first == second.model_copy(update={"from_ledger": False})
    third = asyncio.run(run())[0]
    assert third == second
    assert calls.keys == [ask().key]


def test_the_table_has_exactly_the_columns_of_the_house_rules(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite"):
        pass
    connection = sqlite3.connect(tmp_path / "ledger.sqlite")
    assert [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")] == ["ledger"]
    columns = connection.execute("PRAGMA table_info(ledger)").fetchall()
    connection.close()
    assert " ".join(name for _, name, *_ in columns) == (
        "key request sample_index purpose model endpoint response outcome prompt_tokens output_tokens price started finished"
    )
    assert [name for _, name, _, _, _, primary in columns if primary] == ["key"]


def test_a_closed_ledger_is_one_file(tmp_path: Path) -> None:
    async def run() -> None:
        async with Ledger(tmp_path / "ledger.sqlite") as ledger:
            await ledger.answer(ask(), "query", Calls().of(ask()))

    asyncio.run(run())
    assert [p.name for p in tmp_path.iterdir()] == ["ledger.sqlite"]
    with Ledger(tmp_path / "ledger.sqlite", replay=True) as ledger:
        assert ledger.lookup(ask().key) is not None
        assert [p.name for p in tmp_path.iterdir()] == ["ledger.sqlite"]


def test_every_answer_is_committed_before_it_is_given(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"

    async def run() -> None:
        async with Ledger(path) as ledger:

            async def one(number: int) -> None:
                await ledger.answer(ask(number), "query", Calls(delay=0.001 * (number % 5)).of(ask(number)))
                connection = sqlite3.connect(path)
                found = connection.execute("SELECT COUNT(*) FROM ledger WHERE key = ?", (ask(number).key,)).fetchone()
                connection.close()
                assert found == (1,)

            await asyncio.gather(*(one(number) for number in range(200)))

    asyncio.run(run())
    assert rows_seen_by_others(path) == 200


def test_answers_are_committed_in_groups(tmp_path: Path) -> None:
    statements: list[str] = []

    async def run() -> None:
        async with Ledger(tmp_path / "ledger.sqlite") as ledger:
            assert ledger._writer is not None
            ledger._writer.set_trace_callback(lambda text: statements.append(text.split()[0]))
            await asyncio.gather(*(ledger.answer(ask(n), "query", Calls().of(ask(n))) for n in range(640)))

    asyncio.run(run())
    groups = [group.split().count("INSERT") for group in " ".join(statements).split("COMMIT")]
    assert sum(groups) == 640
    assert max(groups) <= GROUP_ANSWERS
    assert statements.count("COMMIT") <= 20


def test_the_same_key_in_flight_is_one_call(tmp_path: Path) -> None:
    calls = Calls(delay=0.01)

    async def run() -> list[Answer]:
        async with Ledger(tmp_path / "ledger.sqlite") as ledger:
            return await asyncio.gather(*(ledger.answer(ask(n % 3), "query", calls.of(ask(n % 3))) for n in range(60)))

    answers = asyncio.run(run())
    assert sorted(calls.keys) == sorted(ask(n).key for n in range(3))
    assert sum(not answer.from_ledger for answer in answers) == 3
    assert {answer.text for answer in answers} == {"yes"}


def test_a_failed_call_is_one_failure_for_all_who_wait_and_leaves_no_row(tmp_path: Path) -> None:
    asked = 0

    async def failing() -> Finished:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0.005)
        raise FamilytoolError("the endpoint answers with 500")

    async def run() -> list[Answer | BaseException]:
        async with Ledger(tmp_path / "ledger.sqlite") as ledger:
            failures = await asyncio.gather(*(ledger.answer(ask(), "query", failing) for _ in range(5)), return_exceptions=True)
            assert len(ledger) == 0
            return [*failures, await ledger.answer(ask(), "query", Calls().of(ask()))]

    *failures, answer = asyncio.run(run())
    assert asked == 1
    assert {str(failure) for failure in failures} == {"the endpoint answers with 500"}
    assert isinstance(answer, Answer)
    assert answer.text == "yes"


def test_when_the_one_who_asked_is_cancelled_another_asks(tmp_path: Path) -> None:
    calls = Calls()

    async def run() -> Answer:
        async with Ledger(tmp_path / "ledger.sqlite") as ledger:
            started = asyncio.Event()

            async def endless() -> Finished:
                started.set()
                await asyncio.sleep(3600)
                raise AssertionError

            first = asyncio.create_task(ledger.answer(ask(), "query", endless))
            await started.wait()
            second = asyncio.create_task(ledger.answer(ask(), "query", calls.of(ask())))
            await asyncio.sleep(0)
            first.cancel()
            return await second

    assert asyncio.run(run()).text == "yes"
    assert len(calls.keys) == 1


def test_an_answer_that_came_is_committed_even_if_the_one_who_asked_is_cancelled_then(tmp_path: Path) -> None:
    calls = Calls()

    async def run() -> None:
        async with Ledger(tmp_path / "ledger.sqlite") as ledger:
            arrived = asyncio.Event()

            async def call() -> Finished:
                arrived.set()
                return await calls.of(ask())()

            task = asyncio.create_task(ledger.answer(ask(), "query", call))
            await arrived.wait()
            while not ledger._waiting and not ledger._writes:
                await asyncio.sleep(0)
            task.cancel()
            again = await ledger.answer(ask(), "query", calls.of(ask()))
            assert again.from_ledger
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(run())
    assert len(calls.keys) == 1


def test_what_waits_when_the_ledger_is_closed_is_committed(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite").open()

    async def run() -> None:
        await ledger.answer(ask(0), "query", Calls().of(ask(0)))
        task = asyncio.create_task(ledger.answer(ask(1), "query", Calls().of(ask(1))))
        while not ledger._waiting:
            await asyncio.sleep(0)
        task.cancel()

    asyncio.run(run())
    ledger.close()
    assert rows_seen_by_others(tmp_path / "ledger.sqlite") == 2


def test_one_ledger_serves_several_event_loops_one_after_the_other(tmp_path: Path) -> None:
    calls = Calls()
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        for number in (0, 1, 0):
            asyncio.run(asyncio.wait_for(ledger.answer(ask(number), "query", calls.of(ask(number))), 30))
    assert len(calls.keys) == 2


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        pytest.param(chat("yes"), "answered", id="answered"),
        pytest.param(chat(None, message={"role": "assistant", "content": None, "refusal": "no"}), "refused", id="refused"),
        pytest.param(chat(""), "empty", id="empty"),
        pytest.param(chat("half of", finish_reason="length"), "cut", id="cut"),
    ],
)
def test_every_finished_outcome_is_kept_and_not_asked_again(tmp_path: Path, body: dict[str, Any], outcome: Outcome) -> None:
    calls = Calls(lambda request: body)

    async def run() -> list[Answer]:
        async with Ledger(tmp_path / "ledger.sqlite") as ledger:
            return [await ledger.answer(ask(), "judge", calls.of(ask())) for _ in range(2)]

    assert [answer.outcome for answer in asyncio.run(run())] == [outcome, outcome]
    assert len(calls.keys) == 1


def test_a_changed_parser_reads_old_answers_and_nothing_is_paid_again(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"

    async def fill() -> None:
        async with Ledger(path) as ledger:
            await ledger.record(ask(), "query", *finished(ask(), chat("42"), price=0.001))

    asyncio.run(fill())

    def shouting(response: dict[str, Any], key: str) -> Answer:
        return Answer(key="", outcome="answered", text=response["choices"][0]["message"]["content"] + "!", usage=Usage(prompt_tokens=1))

    with Ledger(path, answer_of=shouting) as ledger:
        answer = ledger.lookup(ask().key)
    assert answer == Answer(
        key=ask().key, outcome="answered", text="42!", usage=Usage(prompt_tokens=1), price=0.001, from_ledger=True
    )  # the text is read anew; the price stays what was paid


def test_a_parser_that_cannot_read_an_old_answer_is_an_error_that_names_the_row(tmp_path: Path) -> None:
    def refusing(response: dict[str, Any], key: str) -> Answer:
        raise ValueError("no choices")

    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        asyncio.run(ledger.record(ask(), "query", *finished(ask())))
        ledger.answer_of = refusing
        with pytest.raises(FamilytoolError, match=ask().key[:12]):
            ledger.lookup(ask().key)


@pytest.mark.parametrize(
    "text",
    ["Zürich, 東京, 🏠", "a lone \ud83d surrogate", "nul \x00 and \u2028 and \x7f", '"quotes" \\ back', "", "x" * 1_000_000],
    ids=["unicode", "surrogate", "control", "quotes", "empty", "long"],
)
def test_any_text_goes_in_and_comes_out_as_it_was(tmp_path: Path, text: str) -> None:
    request = ask(messages=({"role": "user", "content": text, "z": 1, "a": [2]},), model=f"m {text[:20]}")

    async def run() -> Answer:
        async with Ledger(tmp_path / "ledger.sqlite") as ledger:
            return await ledger.answer(request, "query", Calls(lambda r: chat(text)).of(request))

    answer = asyncio.run(run())
    with Ledger(tmp_path / "ledger.sqlite", replay=True) as ledger:
        assert ledger.lookup(request.key) == answer.model_copy(update={"from_ledger": True})
        row = ledger.row(request.key)
    assert row is not None
    stored = json.loads(row.request)
    assert Request.model_validate(stored) == request
    assert Request.model_validate(stored).key == request.key == row.key
    assert list(stored["messages"][0]) == ["role", "content", "z", "a"]  # the author's order


@pytest.mark.parametrize("tokens", [-1, 2**70, True], ids=["negative", "huge", "boolean"])
def test_a_count_that_no_endpoint_should_tell_is_no_count_and_spoils_no_row(tmp_path: Path, tokens: int) -> None:
    answer = Answer.model_construct(key=ask().key, outcome="answered", usage=Usage.model_construct(prompt_tokens=tokens, output_tokens=5))
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        asyncio.run(ledger.record(ask(), "query", "e", chat(), answer, 0.0, 0.0))
        row = ledger.row(ask().key)
    assert row is not None
    assert (row.prompt_tokens, row.output_tokens) == (None, 5)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "1970-01-01T00:00:00.000Z"),
        (1_750_000_000.1239, "2025-06-15T15:06:40.124Z"),
        (-1.0, "1969-12-31T23:59:59.000Z"),
        (1e18, "1e+18"),
        (float("inf"), "inf"),
        (float("nan"), "nan"),
    ],
)
def test_times_are_utc_and_no_clock_loses_a_row(seconds: float, text: str) -> None:
    assert utc_text(seconds) == text


# Replay.


def test_a_replay_gives_the_same_answers_and_calls_nobody(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"

    async def run(replay: bool, calls: Calls) -> list[Answer]:
        async with Ledger(path, replay=replay) as ledger:
            answers = await asyncio.gather(*(ledger.answer(ask(n), "query", calls.of(ask(n))) for n in range(20)))
        return [answer.model_copy(update={"from_ledger": False}) for answer in answers]

    calls = Calls(lambda request: chat(request.key[:5]))
    first = asyncio.run(run(False, calls))
    before = path.read_bytes()
    nobody = Calls()
    assert asyncio.run(run(True, nobody)) == first
    assert nobody.keys == []
    assert path.read_bytes() == before


def test_a_miss_in_a_replay_names_purpose_model_and_key_and_the_way_out(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite"):
        pass
    nobody = Calls()

    async def run() -> None:
        async with Ledger(tmp_path / "ledger.sqlite", replay=True) as ledger:
            await ledger.answer(ask(), "solve", nobody.of(ask()))

    with pytest.raises(ReplayMiss) as miss:
        asyncio.run(run())
    for part in ("solve", "small-model", ask().key[:12], "--replay"):
        assert part in str(miss.value)
    assert "\n" not in str(miss.value)
    assert nobody.keys == []


def test_a_replay_records_nothing(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite"):
        pass
    with Ledger(tmp_path / "ledger.sqlite", replay=True) as ledger:
        with pytest.raises(FamilytoolError, match="read only"):
            asyncio.run(ledger.record(ask(), "query", *finished(ask())))
        with pytest.raises(FamilytoolError, match="read only"):
            ledger.store([])


def test_a_replay_beside_a_writer_sees_what_the_writer_commits(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as writer, Ledger(path, replay=True) as reader:
        assert ask().key not in reader
        asyncio.run(writer.record(ask(), "query", *finished(ask())))
        assert ask().key in reader


# Bad files and others who write.


@pytest.mark.parametrize(
    "content",
    [b"not a database, but long enough to be taken for one" * 50, b"SQLite format 3\x00" + b"\xff" * 4096],
    ids=["text", "torn"],
)
@pytest.mark.parametrize("replay", [False, True])
def test_a_file_that_is_no_ledger_is_one_sentence_and_is_left_alone(tmp_path: Path, content: bytes, replay: bool) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(content)
    with pytest.raises(FamilytoolError) as error:
        Ledger(path, replay=replay).open()
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == content


@pytest.mark.parametrize("create", ["CREATE TABLE ledger (key TEXT)", "CREATE TABLE other (key TEXT)"], ids=["columns", "name"])
def test_a_database_of_something_else_is_refused(tmp_path: Path, create: str) -> None:
    connection = sqlite3.connect(tmp_path / "ledger.sqlite")
    connection.execute(create)
    connection.close()
    with pytest.raises(FamilytoolError, match="not a ledger"):
        Ledger(tmp_path / "ledger.sqlite", replay=True).open()


def test_no_ledger_to_replay_is_one_sentence_and_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(FamilytoolError, match="no ledger here"):
        Ledger(tmp_path / "none" / "ledger.sqlite", replay=True).open()
    assert list(tmp_path.iterdir()) == []


def test_a_path_with_odd_characters_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "50% of a?b#c \u00e4" / "ledger.sqlite"
    with Ledger(path) as ledger:
        asyncio.run(ledger.record(ask(), "query", *finished(ask())))
        assert ledger.cost([ask().key]).calls == 1
    with Ledger(path, replay=True) as ledger:
        assert len(ledger) == 1


def test_of_two_who_asked_the_same_the_first_commit_stays_and_both_are_given_it(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"

    async def run() -> tuple[Answer, Answer]:
        async with Ledger(path) as one, Ledger(path) as other:
            first = await one.record(ask(), "query", *finished(ask(), chat("first")))
            second = await other.record(ask(), "query", *finished(ask(), chat("second")))
            return first, second

    first, second = asyncio.run(run())
    assert (first.text, second.text) == ("first", "first")
    assert second.from_ledger
    assert rows_seen_by_others(path) == 1


def test_rows_may_be_stored_from_other_threads_meanwhile(tmp_path: Path) -> None:
    async def run() -> None:
        async with Ledger(tmp_path / "ledger.sqlite") as ledger:
            rows = [ledger.prepared(ask(n).key, ask(n), "query", finished(ask(n)))[0] for n in range(1000, 1200)]
            threads = [threading.Thread(target=ledger.store, args=([row],)) for row in rows]
            for thread in threads:
                thread.start()
            await asyncio.gather(*(ledger.answer(ask(n), "query", Calls().of(ask(n))) for n in range(200)))
            for thread in threads:
                thread.join()
            assert len(ledger) == 400

    asyncio.run(run())


def test_a_full_disk_is_told_to_all_who_wait_and_what_is_committed_stays(tmp_path: Path) -> None:
    async def run() -> None:
        async with Ledger(tmp_path / "ledger.sqlite") as ledger:
            await ledger.answer(ask(0), "query", Calls().of(ask(0)))
            assert ledger._writer is not None
            pages = ledger._writer.execute("PRAGMA page_count").fetchone()[0]
            ledger._writer.execute(f"PRAGMA max_page_count = {pages + 1}")
            big = Calls(lambda request: chat("x" * 100_000))
            failures = await asyncio.gather(*(ledger.answer(ask(n), "query", big.of(ask(n))) for n in range(1, 9)), return_exceptions=True)
            assert all(isinstance(failure, FamilytoolError) and "full" in str(failure) for failure in failures)
            ledger._writer.execute("PRAGMA max_page_count = 1000000")
            assert (await ledger.answer(ask(1), "query", Calls().of(ask(1)))).text == "yes"
            assert (await ledger.answer(ask(0), "query", Calls().of(ask(0)))).from_ledger

    asyncio.run(run())
    assert rows_seen_by_others(tmp_path / "ledger.sqlite") == 2


def test_an_answer_that_nests_without_end_fails_alone(tmp_path: Path) -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    answer = Answer(key="", outcome="answered")

    async def run() -> None:
        async with Ledger(tmp_path / "ledger.sqlite") as ledger:

            async def call() -> Finished:
                return Finished("e", {"choices": deep}, answer, 0, 0)

            bad = ledger.answer(ask(0), "query", call)
            results = await asyncio.gather(bad, ledger.answer(ask(1), "query", Calls().of(ask(1))), return_exceptions=True)
            assert isinstance(results[0], FamilytoolError)
            assert isinstance(results[1], Answer)
            assert len(ledger) == 1

    asyncio.run(run())


# Secrets.

SECRET = "sk-local-0123456789abcdefghij"


def test_a_secret_in_a_response_or_an_address_is_not_kept_and_a_replay_gives_the_same(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"

    async def run() -> Answer:
        async with Ledger(path, secrets=[SECRET]) as ledger:
            made = finished(ask(), chat(f"your key is {SECRET}"), price=0.5)
            return await ledger.record(ask(), "query", *made._replace(endpoint=f"https://user:{SECRET}@host/v1?key={SECRET}"))

    answer = asyncio.run(run())
    assert answer.text == "your key is [redacted]"
    assert answer.price == 0.5
    assert SECRET.encode() not in path.read_bytes()
    with Ledger(path, replay=True) as ledger:
        assert ledger.lookup(ask().key) == answer.model_copy(update={"from_ledger": True})


def test_a_prompt_that_holds_the_key_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    request = ask(messages=({"role": "user", "content": f"use {SECRET}"},))
    nobody = Calls()

    async def run() -> None:
        async with Ledger(tmp_path / "ledger.sqlite", secrets=[SECRET]) as ledger:
            await ledger.answer(request, "query", nobody.of(request))

    with pytest.raises(FamilytoolError) as error:
        asyncio.run(run())
    assert SECRET not in str(error.value)
    assert nobody.keys == []


def test_a_word_that_serves_as_a_key_on_a_local_server_changes_no_answer(tmp_path: Path) -> None:
    async def run() -> Answer:
        async with Ledger(tmp_path / "ledger.sqlite", secrets=["EMPTY", "none", ""]) as ledger:
            return await ledger.record(ask(), "query", *finished(ask(), chat("The list is EMPTY, none is left.")))

    assert asyncio.run(run()).text == "The list is EMPTY, none is left."


# Accounts.


def fill(path: Path) -> None:
    rows = [
        ("query", "a", 0.1, chat("x", prompt_tokens=10, output_tokens=1)),
        ("query", "b", 0.2, chat("x", prompt_tokens=20, output_tokens=2)),
        ("judge", "a", None, chat("", prompt_tokens=5, output_tokens=0)),
        ("probe", "b", 0.0, chat("x", prompt_tokens=None, output_tokens=None)),
    ]
    with Ledger(path) as ledger:
        for number, (purpose, model, price, body) in enumerate(rows):
            request = ask(number, model=model)
            ledger.store([ledger.prepared(request.key, request, purpose, finished(request, body, price))[0]])


def test_the_ledger_adds_up_by_purpose_model_and_outcome(tmp_path: Path) -> None:
    fill(tmp_path / "ledger.sqlite")
    with Ledger(tmp_path / "ledger.sqlite", replay=True) as ledger:
        by_purpose, by_model, by_outcome = ledger.totals("purpose"), ledger.totals("model"), ledger.totals("outcome")
        total = ledger.total()
        with pytest.raises(ValueError, match="totals by"):
            ledger.totals("key; DROP TABLE ledger")  # type: ignore[arg-type]
    assert {name: row.calls for name, row in by_purpose.items()} == {"judge": 1, "probe": 1, "query": 2}
    assert str(by_purpose["query"].price) == "0.300000000"
    assert (by_purpose["judge"].unpriced, by_purpose["probe"].uncounted) == (1, 1)
    assert [row.prompt_tokens for row in by_model.values()] == [15, 20]
    assert {name: row.calls for name, row in by_outcome.items()} == {"answered": 3, "empty": 1}
    assert (total.calls, total.prompt_tokens, total.output_tokens, total.unpriced, total.uncounted) == (4, 35, 3, 1, 1)


def test_an_empty_ledger_adds_up_to_nothing(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert ledger.totals("purpose") == {}
        assert ledger.total()[:3] == (0, 0, 0)
        assert ledger.total().price == 0
        assert list(ledger.unused([])) == []


def test_the_cost_of_keys_counts_each_once(tmp_path: Path) -> None:
    fill(tmp_path / "ledger.sqlite")
    keys = [ask(0, model="a").key, ask(1, model="b").key, ask(0, model="a").key, "f" * 64]
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert ledger.cost(iter(keys))[:3] == (2, 30, 3)
        assert str(ledger.cost(keys).price) == "0.300000000"
        assert ledger.cost([]).calls == 0


def test_rows_that_nothing_asks_for_any_more_are_told_and_stay(tmp_path: Path) -> None:
    fill(tmp_path / "ledger.sqlite")
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        stale = list(ledger.unused([ask(0, model="a").key, ask(2, model="a").key]))
        assert [entry.key for entry in stale] == sorted([ask(1, model="b").key, ask(3, model="b").key])
        assert {entry.purpose for entry in stale} == {"query", "probe"}
        assert len(list(ledger.unused([]))) == len(ledger) == 4


def test_another_sample_index_is_another_call_and_a_new_prompt_leaves_the_old_row(tmp_path: Path) -> None:
    calls = Calls()
    requests = [ask(0), ask(0, sample_index=1), ask(0, sampling=Sampling(temperature=0.7)), ask(1)]

    async def run() -> None:
        async with Ledger(tmp_path / "ledger.sqlite") as ledger:
            for request in requests:
                await ledger.answer(request, "query", calls.of(request))
            assert [entry.key for entry in ledger.unused(request.key for request in requests[:3])] == [ask(1).key]

    asyncio.run(run())
    assert len(set(calls.keys)) == 4
