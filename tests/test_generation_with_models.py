"""Generation with models from end to end: the real client, ledger and program against a scripted model on loopback that fails as told."""

from __future__ import annotations

import json
import random
import re
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from familytool import pipeline
from familytool.llm.prices import Prices, read_prices
from familytool.models import Spending
from familytool.runs import RunFolder, funnel, read_rows, read_samples
from tests.asked import NOWHERE, Asked, asked_in, committed, family_of, program, rows, serving, stages, started
from tests.made import hashes
from tests.servers.family_model import Body, Family, Said
from tests.servers.fault_server import TRANSIENT, Plan, is_probe


@dataclass(frozen=True)
class Whole:
    """A campaign, its scripted model, and a run of it that nothing disturbed."""

    campaign: Asked
    family: Family
    path: Path
    answer: Callable[[Body], Said]
    asked: Counter[str] = field(default_factory=Counter)
    """Prompts by stage."""
    keys: frozenset[str] = frozenset()


def whole(folder: Path, campaign: Asked, family: Family, answer: Callable[[Body], Said]) -> Whole:
    with serving(answer) as server:
        campaign.at(server.address).run(folder / "run")
        assert max(server.calls.came.values()) == 1
        return Whole(campaign, family, folder / "run", answer, stages(server), frozenset(server.calls.answered))


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return asked_in(tmp_path_factory.mktemp("asked"))


@pytest.fixture(scope="module")
def family(campaign: Asked) -> Family:
    return family_of(campaign)


@pytest.fixture(scope="module")
def good(campaign: Asked, family: Family, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """A run with a model that makes no mistake. Tests do not write to it."""
    return whole(tmp_path_factory.mktemp("good"), campaign, family, family.good)


@pytest.fixture(scope="module")
def erring(campaign: Asked, family: Family, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """A run with a model that errs in one of five answers. Tests do not write to it."""
    return whole(tmp_path_factory.mktemp("erring"), campaign, family, family.erring)


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    return list(read_rows(folder / name))


# 1. All stages -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["good", "erring"])
def test_a_campaign_with_models_makes_rows_that_pass_every_check_again(which: str, request: pytest.FixtureRequest) -> None:
    made: Whole = request.getfixturevalue(which)
    with RunFolder(made.path) as run:
        summary = pipeline.validate(run, made.campaign.job.checks)
        for name in ("findings.jsonl", "summary.json"):
            (run.path / name).unlink()
    assert summary["n_samples"] == sum(made.campaign.content["generation"]["strata"].values())
    assert summary["n_failed"] == 0, summary


def test_the_funnel_adds_up_from_candidates_to_rows(erring: Whole) -> None:
    wanted = erring.campaign.content["generation"]["strata"]
    numbers: dict[str, list[int]] = {}
    for sample in read_samples(erring.path / "samples.jsonl"):
        numbers.setdefault(sample.provenance["stratum"], []).append(sample.provenance["candidate"])
    for row in lines(erring.path, "rejected.jsonl"):
        numbers.setdefault(row["stratum"], []).append(row["candidate"])
    table = funnel(RunFolder(erring.path))
    assert {name: row["accepted"] for name, row in table.items()} == wanted
    for name, row in table.items():
        assert row["candidates"] == row["accepted"] + sum(row["rejected"].values())
        assert sorted(numbers[name]) == list(range(row["candidates"])), "a candidate is missing or stands twice"


# 2. The same rows whatever happens on the way ----------------------------------------------------------------------

SERVERS: dict[str, tuple[str, Plan, dict[str, Any]]] = {
    "every transient fault": ("erring", Plan(seed=5, share=0.4, kinds=TRANSIENT, most=1), {}),
    "one request at a time": ("good", Plan(seed=1, latency=(0.001, 0.004)), {"max_in_flight": 1}),
    "thirty-two requests, late and early": ("good", Plan(seed=1, latency=(0.0, 0.05)), {"max_in_flight": 32}),
}


@pytest.mark.parametrize(("which", "plan", "settings"), SERVERS.values(), ids=SERVERS.keys())
def test_the_rows_are_the_same_whatever_the_server_does(
    which: str, plan: Plan, settings: dict[str, Any], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made: Whole = request.getfixturevalue(which)
    with serving(made.answer, plan, keep_bodies=False) as server:
        made.campaign.at(server.address, **settings).run(tmp_path / "run")
    assert rows(tmp_path / "run") == rows(made.path)
    assert max(server.calls.answered.values()) == 1
    if plan.kinds:
        assert len(server.calls.faults) >= len(TRANSIENT) - 4, server.calls.faults
    if settings:
        assert server.calls.most_in_flight <= settings["max_in_flight"] * len(made.campaign.content["models"])


def test_a_server_that_takes_no_schema_is_asked_the_same(good: Whole, tmp_path: Path) -> None:
    with serving(good.answer, Plan(schema="refused", refuses=("temperature",))) as server:
        good.campaign.at(server.address).run(tmp_path / "run")
        assert stages(server) == good.asked
    with_schemas, without = (list(read_samples(path / "samples.jsonl")) for path in (good.path, tmp_path / "run"))
    phrased = [[(s.id, s.calls, s.provenance["calls"][:2]) for s in samples] for samples in (without, with_schemas)]
    assert phrased[0] == phrased[1], "a schema in the prompt is a dialect, and no part of a call's key"


# 3. Killed ---------------------------------------------------------------------------------------------------------


def test_after_four_kills_no_committed_call_was_made_again_and_the_rows_are_the_same(erring: Whole, tmp_path: Path) -> None:
    folder, draw = tmp_path / "run", random.Random(11)
    kept: list[tuple[set[str], Counter[str]]] = []
    with serving(erring.answer, Plan(latency=(0.001, 0.01)), keep_bodies=False) as server:
        file = erring.campaign.at(server.address).file("killed.toml")
        for kill in range(4):
            process = started("run", file, "--run-dir", folder, log=tmp_path / "log")
            moment = sum(server.calls.came.values()) + draw.randrange(5, 60)
            while process.is_alive() and sum(server.calls.came.values()) < moment:
                time.sleep(0.001)
            time.sleep(draw.random() * 0.02)
            process.kill()
            process.join()
            assert process.exitcode == -9, f"kill {kill} came too late: {(tmp_path / 'log').read_text()}"
            kept.append((committed(folder), server.calls.came.copy()))
            used = {key for s in read_samples(folder / "samples.jsonl") for key in s.provenance["calls"]}
            used |= {key for row in lines(folder, "rejected.jsonl") for key in row["calls"]}
            assert used <= kept[-1][0], "a call was used before it was committed"
        done = program("run", file, "--run-dir", folder)
        assert done.code == 0, done.err
        for keys, came in kept:
            assert {key for key in keys if server.calls.came[key] > came[key]} == set(), "a committed call was made again"
    assert [len(keys) for keys, _ in kept] == sorted(len(keys) for keys, _ in kept), "a committed call was lost"
    again = {key for key, count in server.calls.came.items() if count > 1}
    in_flight = {key for keys, came in kept for key in came if key not in keys}
    assert again <= in_flight
    assert rows(folder) == rows(erring.path)


# 4. Replay ---------------------------------------------------------------------------------------------------------


class NoNetwork:
    """A transport that nothing may be sent over."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the network was used ({name})")


def with_ledger_of(run: Path, folder: Path) -> Path:
    """A new run folder that has the ledger of another run and nothing else."""
    folder.mkdir(parents=True)
    shutil.copyfile(run / "ledger.sqlite", folder / "ledger.sqlite")
    return folder


def test_a_replay_makes_the_same_bytes_without_a_network(erring: Whole, tmp_path: Path) -> None:
    folder = with_ledger_of(erring.path, tmp_path / "run")
    meter = erring.campaign.at(NOWHERE).run(folder, Spending(replay=True, transport=NoNetwork()))
    assert meter.made == 0 and meter.known > 0
    assert hashes(folder) == hashes(erring.path)


def test_a_replay_by_the_program_says_that_nothing_was_asked(erring: Whole, tmp_path: Path) -> None:
    folder = with_ledger_of(erring.path, tmp_path / "run")
    done = program("run", erring.campaign.at(NOWHERE).file("replay.toml"), "--run-dir", folder, "--replay")
    assert done.code == 0, done.err
    assert re.search(r"^Calls: 0 calls, [\d,]+ from the ledger", done.out, re.MULTILINE), done.out
    assert rows(folder) == rows(erring.path)


def test_a_replay_that_misses_a_call_says_so_in_one_sentence_and_goes_on_when_it_is_there(erring: Whole, tmp_path: Path) -> None:
    folder = with_ledger_of(erring.path, tmp_path / "run")
    sample = list(read_samples(erring.path / "samples.jsonl"))[9]
    with sqlite3.connect(folder / "ledger.sqlite") as connection:
        connection.execute("DELETE FROM ledger WHERE key = ?", (sample.provenance["calls"][2],))
    connection.close()
    file = erring.campaign.at(NOWHERE).file("replay.toml")
    done = program("run", file, "--run-dir", folder, "--replay")
    said = [line for line in done.err.splitlines() if not line.startswith("  ")]
    assert done.code == 1 and len(said) == 1, done.err
    assert re.search(rf"holds no \w+ answer of [\w-]+ under key {sample.provenance['calls'][2][:12]}.*run without --replay", said[0])
    assert 0 < len(lines(folder, "samples.jsonl")) < 20
    shutil.copyfile(erring.path / "ledger.sqlite", folder / "ledger.sqlite")
    assert program("run", file, "--run-dir", folder, "--replay").code == 0
    assert rows(folder) == rows(erring.path)


# 5. Edited ---------------------------------------------------------------------------------------------------------

Expected = Callable[[Whole], dict[str, int]]


def judged(share: int) -> Expected:
    return lambda made: {name: count * share for name, count in made.asked.items() if name.startswith("judge")}


EDITS: dict[str, tuple[dict[str, Any], str, bool, Expected]] = {
    "three judges": ({"validation.judges": 3}, "campaign.validation.judges was 1, is 3", True, judged(2)),
    "a warmer judge": ({"models.judge.temperature": 0.5}, "campaign.models.judge.temperature was 0.0, is 0.5", True, judged(1)),
    "a third phrasing": (
        {"generation.phrasings": 3},
        "campaign.generation.phrasings was 2, is 3",
        True,
        lambda made: {"phrase": made.asked["phrase"] // 2},
    ),
    "another version": ({"release.version": "2.0.0"}, 'campaign.release.version was "1.0.0", is "2.0.0"', False, lambda made: {}),
    "no baselines": ({"evaluation.baselines": False}, "campaign.evaluation.baselines was true, is false", False, lambda made: {}),
    "more patience": ({"models.judge.patience": 7.0, "models.judge.max_in_flight": 3}, "", False, lambda made: {}),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "told", "aside", "anew"), EDITS.values(), ids=EDITS.keys())
def test_an_edit_is_told_and_only_what_depends_on_it_is_made_again(
    good: Whole, tmp_path: Path, changes: dict[str, Any], told: str, aside: bool, anew: Expected
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(good.path, folder)
    with serving(good.answer) as server:
        other = good.campaign.edited(changes).at(server.address)
        done = program("run", other.file("edited.toml"), "--run-dir", folder)
        assert done.code == 0, done.err
        assert stages(server) == anew(good), "other calls were made than those that depend on the edit"
    first = done.err.splitlines()[0] if "was edited" in done.err else ""
    assert first == (f"{folder}: the campaign was edited ({told})" if told else "")
    assert (folder / "superseded" / "0001" / "samples.jsonl").exists() == aside
    if aside:
        assert hashes(folder / "superseded" / "0001", "samples.jsonl") == hashes(good.path, "samples.jsonl")
    if told:  # what an edit leads to is what a new run of the edited campaign makes
        afresh = with_ledger_of(folder, tmp_path / "afresh")
        other.at(NOWHERE).run(afresh, Spending(replay=True))
        assert rows(folder) == rows(afresh)
    else:
        assert rows(folder) == rows(good.path)


def test_an_edit_that_is_taken_back_costs_nothing(good: Whole, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(good.path, folder)
    with serving(good.answer) as server:
        good.campaign.edited({"generation.strata": {"hop1": 2}}).at(server.address).run(folder)
        assert stages(server) == {}, "fewer rows of the first stratum need no other call"
        good.campaign.at(server.address).run(folder)
        assert stages(server) == {}
    assert rows(folder) == rows(good.path)
    assert sorted(path.name for path in (folder / "superseded").iterdir()) == ["0001", "0002"]


def test_more_rows_of_the_last_stratum_cost_only_these(good: Whole, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(good.path, folder)
    strata = good.campaign.content["generation"]["strata"]
    with serving(good.answer) as server:
        good.campaign.edited({"generation.strata": {**strata, "no_tool": 4}}).at(server.address).run(folder)
        made = stages(server)
    assert made == {"phrase": 4, "solve": 2, "judge_query": 2, "judge_intent": 2, "judge_feasibility": 2}
    before, after = lines(good.path, "samples.jsonl"), lines(folder, "samples.jsonl")
    assert after[: len(before)] == before and len(after) == len(before) + 2


def test_a_prompt_of_ones_own_makes_only_its_calls_again(good: Whole, tmp_path: Path) -> None:
    folder, prompts = tmp_path / "run", good.campaign.folder / "prompts"
    shutil.copytree(good.path, folder)
    prompts.mkdir()
    text = (Path(pipeline.__file__).parent / "validation" / "prompts" / "judge_query.txt").read_text(encoding="utf-8")
    (prompts / "judge_query.txt").write_text("Be brief.\n\n" + text, encoding="utf-8")
    with serving(good.answer) as server:
        other = good.campaign.edited({"generation.prompts": "prompts"}).at(server.address)
        done = program("run", other.file("prompts.toml"), "--run-dir", folder)
        assert done.code == 0, done.err
        assert stages(server) == {"judge_query": good.asked["judge_query"]}
        (prompts / "judge_query.txt").write_text("Be very brief.\n\n" + text, encoding="utf-8")
        done = program("run", other.file("prompts.toml"), "--run-dir", folder)
        assert re.search(r"the campaign was edited \(prompts\.judge_query was \"\w+\", is \"\w+\"\)", done.err), done.err
        assert stages(server) == {"judge_query": 2 * good.asked["judge_query"]}


# 6. Money ----------------------------------------------------------------------------------------------------------

PRICES = "".join(
    f'[models."scripted-{name}"]\nprompt = {prompt}\noutput = {output}\ndate = 2026-11-30\n\n'
    for name, prompt, output in (("writer", "2.5", "10"), ("solver", "0.5", "1.5"), ("judge", "2.5", "10"))
)


@dataclass
class Till:
    """A model that is paid: what all answers that it began cost, as the server counts tokens; sent whole or not."""

    answer: Callable[[Body], Said]
    prices: Prices
    taken: int = 0
    tokens: int = 0

    def __call__(self, body: Body) -> Said:
        said = self.answer(body)
        text = said if isinstance(said, str) else said.get("content")
        prompt, output = len(json.dumps(body["messages"])) // 4, len(str(text)) // 4
        price = self.prices.price(body["model"])
        assert price is not None
        self.taken += price.cost(prompt, output)
        self.tokens += prompt + output
        return said

    @property
    def dollars(self) -> Decimal:
        return Decimal(self.taken).scaleb(-9)


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    (tmp_path / "prices.toml").write_text(PRICES, encoding="utf-8")
    return tmp_path / "prices.toml"


def without_costs(folder: Path) -> dict[str, str]:
    """The rows of runs at different prices: the card tells what rows cost."""
    told = ("release/README.md", "release/manifest.json", "evaluation/costs.jsonl")
    return {name: value for name, value in rows(folder).items() if name not in told}


def test_a_dry_run_shows_three_prompts_whole_and_an_estimate_that_holds(good: Whole, tmp_path: Path, prices: Path) -> None:
    folder, till = tmp_path / "run", Till(good.answer, read_prices(prices))
    with serving(till) as server:
        file = good.campaign.at(server.address).file("dry.toml")
        done = program("run", file, "--run-dir", folder, "--prices", prices, "--dry-run")
        assert done.code == 0, done.err
        assert not server.calls.came and not folder.exists()
        assert program("run", file, "--run-dir", folder, "--prices", prices).code == 0
        sent = [body["messages"] for body in server.calls.bodies if not is_probe(body)]
    shown = re.split(r"^--- (?:\w+ prompt for \S+ .*|estimate)$", done.out, flags=re.MULTILINE)[1:]
    assert re.findall(r"^--- (\w+) prompt for (\S+)", done.out, re.MULTILINE) == [
        ("query", "scripted-writer"), ("solve", "scripted-solver"), ("judge", "scripted-judge"),
    ]  # fmt: skip
    for prompt in shown[:3]:
        assert re.match(r"\n\[system\]\nYou help .*\n\[user\]\n", prompt) and "\nAnswer with JSON: {" in prompt
    assert any(shown[0] == "".join(f"\n[{m['role']}]\n{m['content']}" for m in messages) + "\n\n" for messages in sent)
    found = re.search(r"^  all +([\d,]+) calls, ([\d,]+) to ([\d,]+) tokens, \$([\d.]+) to \$([\d.]+)", done.out, re.MULTILINE)
    assert found, done.out
    calls, least, most, low, high = (Decimal(text.replace(",", "")) for text in found.groups())
    assert calls <= len(sent) <= 2 * calls
    assert least <= till.tokens <= most
    assert low <= till.dollars <= high


def test_a_model_without_a_price_runs_without_a_budget_and_is_refused_with_one(good: Whole, tmp_path: Path) -> None:
    with serving(good.answer) as server:
        file = good.campaign.at(server.address).file("unpriced.toml")
        done = program("generate", file, "--run-dir", tmp_path / "run", "--budget", "5")
        assert (done.code, done.out) == (2, "")
        assert len(done.err.splitlines()) == 1
        assert re.search(r"no price is known for scripted-writer, scripted-solver, scripted-judge; add it to a price file", done.err)
        assert not server.calls.came
        shown = program("run", file, "--run-dir", tmp_path / "run", "--dry-run").out
        assert "no price known for scripted-writer, scripted-solver, scripted-judge: tokens only" in shown and "$" not in shown
        done = program("generate", file, "--run-dir", tmp_path / "run")
        assert done.code == 0 and "no price known" in done.out
    assert "no price" in program("status", file, "--run-dir", tmp_path / "run").out
