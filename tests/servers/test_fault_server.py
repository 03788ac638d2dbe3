"""The server that other tests rely on: its faults hang on plan and request alone, and its counts are true."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.servers.fault_server import TRANSIENT, FaultServer, Plan, echo, read_plan, running

BODY: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Where?"}]}


def post(address: str, body: dict[str, Any], key: str = "") -> tuple[int, dict[str, Any]]:
    headers = {"Content-Type": "application/json", **({"X-Client-Request-Id": f"{key}-1"} if key else {})}
    request = urllib.request.Request(f"{address}/chat/completions", json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_faults_hang_on_seed_request_and_attempt_alone_and_end() -> None:
    plan = Plan(seed=1, share=0.5, kinds=TRANSIENT, most=4)
    drawn = {(key, attempt): plan.fault(key, attempt) for key in "abcdefghij" for attempt in range(6)}
    assert drawn == {place: plan.fault(*place) for place in reversed(drawn)}
    assert {attempt for (_, attempt), fault in drawn.items() if fault} == {0, 1, 2, 3}
    assert drawn != {place: Plan(seed=2, share=0.5, kinds=TRANSIENT, most=4).fault(*place) for place in drawn}


def test_calls_are_counted_by_the_key_of_the_request_and_by_the_body_without_one() -> None:
    with FaultServer(Plan(script=("500",))) as server:
        assert [post(server.address, BODY, "k")[0] for _ in range(3)] == [500, 200, 200]
        assert [post(server.address, BODY)[0] for _ in range(2)] == [500, 200]
    assert sorted(server.calls.came.values()) == [2, 3]
    assert (server.calls.came["k"], server.calls.answered["k"], server.calls.faults) == (3, 2, {"500": 2})


def test_answers_hang_on_messages_and_seed_alone_and_keep_to_a_schema() -> None:
    schema = {"type": "object", "properties": {"city": {"enum": ["Ravenna", "Bari"]}, "days": {"type": "integer"}}}
    asked = {**BODY, "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}}
    assert echo(asked) == echo(dict(asked)) != echo({**asked, "seed": 1})
    assert json.loads(echo(asked)).keys() == {"city", "days"}


def test_an_unknown_fault_is_an_error_of_the_plan() -> None:
    with pytest.raises(ValueError, match="no fault is called 'coffee'"):
        Plan(kinds=("500", "coffee"))


def test_the_server_runs_as_a_process_with_a_plan_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({"script": ["503"], "latency": [0.0, 0.001]}))
    assert read_plan(file.read_text()) == Plan(script=("503",), latency=(0.0, 0.001))
    command = [sys.executable, "-m", "tests.servers.fault_server", "--port", "0", "--faults", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
        assert process.stdout
        address = f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        statuses = [post(address, BODY)[0] for _ in range(2)]
        with urllib.request.urlopen(f"{address}/models", timeout=30) as response:
            models = json.load(response)
        process.terminate()
    assert (statuses, models["object"]) == ([503, 200], "list")


def test_counts_of_a_server_in_another_process_are_told() -> None:
    with running(Plan(script=("500",))) as server:
        for _ in range(3):
            post(server.address, BODY, "k")
        assert server.counts() == {"came": {"k": 3}, "answered": {"k": 2}, "faults": {"500": 1}, "most_in_flight": 1}
