"""Rows are decided in number order: neither speed, nor the moment of an interruption, nor a fault of a later candidate changes them."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from familytool import pipeline
from familytool.errors import FamilytoolError, ShortfallError
from familytool.extension import Base
from familytool.filling import FILES, Filling, Stratum, finished, gets_twin, taken_up
from familytool.generation.planning import Planner
from familytool.making import Candidate, Making, Plan
from familytool.runs import RunFolder, read_samples
from familytool.seen import Seen
from tests.made import hashes, write_small

STRATA = {"hop1": 4, "hop2": 24, "no_tool": 2}
Wrap = Callable[[Callable[[Plan], Awaitable[Candidate]]], Callable[[Plan], Awaitable[Candidate]]]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> pipeline.Job:
    campaign, folder = pipeline.find_campaign(str(write_small(tmp_path_factory.mktemp("small"))))
    generation = campaign.generation.model_copy(update={"strata": STRATA})
    return pipeline.Job(campaign.model_copy(update={"generation": generation}), folder)


def fill(job: pipeline.Job, folder: Path, window: int, wrap: Wrap = lambda make: make, twin_share: float = 0.0) -> int:
    """Fill the strata of a job with so many candidates in work at once; the number of candidates made in vain."""

    async def filled() -> int:
        material, seen = pipeline.prepare(job), Seen()
        planner = Planner(material)
        with RunFolder(folder, job.identity()) as run:
            history = taken_up(run, seen, twin_share, Base())
            making = Making(material, job.checks, seen)
            filling = Filling(job.campaign.name, run, seen, wrap(making.make), lambda what, done, of: None, Base(), history)
            start = wasted = 0
            for name, wanted in STRATA.items():
                stratum = Stratum(name, wanted, wanted * 200, window, planner, twin_share=twin_share, start=start)
                wasted += await filling.fill(stratum)
                start += stratum.accepted
        return wasted

    return finished(filled())


def at_random(seed: int) -> Wrap:
    """Candidates that take different times, so that they are ready in any order."""

    def wrap(make: Callable[[Plan], Awaitable[Candidate]]) -> Callable[[Plan], Awaitable[Candidate]]:
        draw = random.Random(seed)

        async def slow(plan: Plan) -> Candidate:
            for _ in range(draw.randrange(40)):
                await asyncio.sleep(0)
            return await make(plan)

        return slow

    return wrap


class Broken(FamilytoolError):
    """An endpoint that fails."""


def broken_at(stratum: str, number: int) -> Wrap:
    """A candidate whose endpoint fails at once, long before those below it are ready."""

    def wrap(make: Callable[[Plan], Awaitable[Candidate]]) -> Callable[[Plan], Awaitable[Candidate]]:
        async def made(plan: Plan) -> Candidate:
            if (plan.order.stratum, plan.order.number) == (stratum, number):
                raise Broken("gone")
            await asyncio.sleep(0)
            return await make(plan)

        return made

    return wrap


@pytest.mark.parametrize("window", [1, 3, 8, 64])
def test_the_rows_do_not_depend_on_when_candidates_are_ready(job: pipeline.Job, tmp_path: Path, window: int) -> None:
    fill(job, tmp_path / "in-order", window)
    for seed in range(3):
        fill(job, tmp_path / f"run-{seed}", window, at_random(seed))
        assert hashes(tmp_path / f"run-{seed}", *FILES) == hashes(tmp_path / "in-order", *FILES)


@pytest.mark.parametrize("window", [1, 5, 16])
@pytest.mark.parametrize("place", [("hop1", 0), ("hop2", 3), ("hop2", 14), ("no_tool", 1)], ids=str)
def test_a_run_that_broke_and_goes_on_ends_with_the_same_rows(
    job: pipeline.Job, tmp_path: Path, window: int, place: tuple[str, int]
) -> None:
    fill(job, tmp_path / "whole", window)
    with pytest.raises(Broken):
        fill(job, tmp_path / "run", window, broken_at(*place))
    decided = [s.provenance["candidate"] for s in read_samples(tmp_path / "run" / "samples.jsonl") if s.provenance["stratum"] == place[0]]
    assert all(number < place[1] for number in decided), "what lies behind the broken candidate is not decided"
    fill(job, tmp_path / "run", window, at_random(1))
    assert hashes(tmp_path / "run", *FILES) == hashes(tmp_path / "whole", *FILES)


def test_candidates_in_vain_are_counted_and_none_are_made_one_by_one(job: pipeline.Job, tmp_path: Path) -> None:
    def choosy(make: Callable[[Plan], Awaitable[Candidate]]) -> Callable[[Plan], Awaitable[Candidate]]:
        async def made(plan: Plan) -> Candidate:
            candidate = await make(plan)
            is_refused = candidate.is_good and plan.order.number % 3 == 0
            return Candidate(candidate.outcome, "judge", "judged_mismatch", "not so") if is_refused else candidate

        return made

    assert fill(job, tmp_path / "one", 1, choosy) == 0
    assert fill(job, tmp_path / "easy", 16) == 0, "as many are in work as rows are lacking"
    assert 0 < fill(job, tmp_path / "many", 16, choosy) <= 15 * len(STRATA)


def test_a_row_accepted_meanwhile_makes_another_one_a_duplicate_when_its_turn_comes(job: pipeline.Job, tmp_path: Path) -> None:
    def same(make: Callable[[Plan], Awaitable[Candidate]]) -> Callable[[Plan], Awaitable[Candidate]]:
        async def made(plan: Plan) -> Candidate:
            number = plan.order.number
            if plan.order.stratum == "hop1" and number % 2:
                return await make(Plan(Planner(pipeline.prepare(job)).order("hop1", number - 1) or plan.order))
            return await make(plan)

        return made

    fill(job, tmp_path / "run", 6, same)
    with RunFolder(tmp_path / "run", job.identity()) as run:
        reasons = [row["code"] for row in run.rows("rejected.jsonl") if row["stratum"] == "hop1"]
    assert "duplicate_sample" in reasons
    queries = [s.query for s in read_samples(tmp_path / "run" / "samples.jsonl")]
    assert len(set(queries)) == len(queries)


@pytest.mark.parametrize("window", [1, 4, 16])
def test_twins_follow_their_originals_and_differ_in_the_answer(job: pipeline.Job, tmp_path: Path, window: int) -> None:
    fill(job, tmp_path / "run", window, twin_share=0.6)
    samples = {s.id: s for s in read_samples(tmp_path / "run" / "samples.jsonl")}
    twins = [s for s in samples.values() if s.twin_of]
    assert len(twins) >= 2
    assert [len([s for s in samples.values() if s.provenance["stratum"] == name]) for name in STRATA] == list(STRATA.values())
    for twin in twins:
        original = samples[twin.twin_of]
        assert gets_twin(original, 0.6)
        assert not original.twin_of
        assert [c.name for c in twin.calls] == [c.name for c in original.calls]
        assert twin.calls != original.calls
        assert twin.query != original.query
        assert twin.hops == original.hops


@pytest.mark.parametrize("number", [2, 7, 15])
def test_a_run_with_twins_that_broke_ends_with_the_same_rows(job: pipeline.Job, tmp_path: Path, number: int) -> None:
    fill(job, tmp_path / "whole", 5, twin_share=0.6)
    with pytest.raises(Broken):
        fill(job, tmp_path / "run", 5, broken_at("hop2", number), twin_share=0.6)
    fill(job, tmp_path / "run", 5, twin_share=0.6)
    assert hashes(tmp_path / "run", *FILES) == hashes(tmp_path / "whole", *FILES)


def test_a_stratum_that_nothing_fits_is_told_with_the_reasons(job: pipeline.Job, tmp_path: Path) -> None:
    def none(make: Callable[[Plan], Awaitable[Candidate]]) -> Callable[[Plan], Awaitable[Candidate]]:
        async def made(plan: Plan) -> Candidate:
            candidate = await make(plan)
            return Candidate(candidate.outcome, "judge", "judged_mismatch", "not so") if candidate.is_good else candidate

        return made

    with pytest.raises(
        ShortfallError, match=r"stratum hop1: 0 of 4 rows after 800 candidates, 4 are lacking \(rejected: .*judged_mismatch"
    ):
        fill(job, tmp_path / "run", 16, none)


def test_a_coroutine_is_finished_inside_a_running_loop_too() -> None:
    async def two() -> int:
        await asyncio.sleep(0)
        return 2

    async def notebook() -> int:
        return finished(two())

    assert asyncio.run(notebook()) == 2
