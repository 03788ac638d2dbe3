"""The funnel adds up: by stage, reason, stratum and tool, down to the released rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from familytool.evaluation.stages import Funnel, planned_stages, read_funnel, stage_of
from familytool.runs import RunFolder
from tests.evaluation.model_run import ACCEPTED, CAMPAIGN, ENDS, campaign, rejections, write_run
from tests.made import Made


@pytest.fixture(scope="module")
def funnel(tmp_path_factory: pytest.TempPathFactory) -> Funnel:
    return read_funnel(campaign(), write_run(tmp_path_factory.mktemp("run")))


@pytest.mark.parametrize(("stage", "row"), zip(ENDS, rejections(), strict=True), ids=ENDS)
def test_each_rejection_belongs_to_the_stage_that_decided_it(stage: str, row: object) -> None:
    assert stage_of(row.model_dump(mode="json")) == stage  # type: ignore[attr-defined]


def test_a_rejection_of_a_run_before_verdicts_were_kept_is_one_of_the_rules() -> None:
    assert stage_of({"check": "intent", "code": "kinship_mismatch"}) == "rules: intent"


def test_what_enters_a_stage_is_what_the_stage_before_left(funnel: Funnel) -> None:
    assert funnel.stages[0].entered == funnel.candidates == len(ACCEPTED) + len(ENDS)
    for before, after in zip(funnel.stages, funnel.stages[1:], strict=False):
        assert after.entered == before.left
    assert funnel.stages[-1].left == funnel.accepted == len(ACCEPTED)
    assert {stage.name: stage.rejected for stage in funnel.stages if stage.rejected} == dict.fromkeys(ENDS, 1)


def test_accepted_rows_less_those_that_await_review_and_the_kept_ones_are_the_released_rows(funnel: Funnel) -> None:
    assert (funnel.accepted, funnel.awaiting, funnel.kept, funnel.released) == (4, 1, 1, 4)


def test_strata_and_reasons_sum_to_the_stages(funnel: Funnel) -> None:
    assert {name: (f.candidates, f.accepted, f.lost) for name, f in funnel.strata.items()} == {
        "hop1": (3, 1, 0), "hop2": (9, 3, 0), "no_tool": (1, 0, 0),
    }  # fmt: skip
    by_reason: Counter[str] = Counter()
    for stratum in funnel.strata.values():
        by_reason.update(stratum.rejected)
    assert by_reason.total() == sum(stage.rejected for stage in funnel.stages)


def test_each_tool_counts_the_candidates_that_ask_for_it(funnel: Funnel) -> None:
    assert {name: (f.candidates, f.accepted, f.lost) for name, f in funnel.tools.items()} == {
        "call_friend": (1, 0, 0),
        "send_card": (13, 4, 0),
    }


def test_the_stages_are_those_that_the_campaign_plans() -> None:
    rules = [f"rules: {name}" for name in ("syntax", "intent", "parameters", "feasibility")]
    judged = ["judge: query", "judge: intent", "judge: feasibility"]
    assert planned_stages(campaign()) == ["generate", "phrase", *rules, "solve", *judged, "duplicates", "quotas"]
    paper = CAMPAIGN.replace('writer = "w"', 'writer = "w"\nmethod = "paper"')
    assert planned_stages(campaign(paper)) == ["generate", *rules, *judged, "duplicates", "quotas"]


def test_a_run_without_models_adds_up_too(small: Made) -> None:
    found = read_funnel(small.job.campaign, RunFolder(small.path))
    assert [stage.name for stage in found.stages][:2] == ["generate", "rules: syntax"]
    assert found.candidates - sum(stage.rejected for stage in found.stages) == found.accepted == found.released == len(small.samples)
    assert found.candidates == len(small.samples) + len(small.rows("rejected.jsonl"))
    assert all(tool.lost == 0 for tool in found.tools.values())
    for stratum, counts in found.strata.items():
        assert counts.candidates - counts.accepted == sum(row["stratum"] == stratum for row in small.rows("rejected.jsonl"))
    asked = sum(len(dict.fromkeys(row["tools"])) for row in small.rows("rejected.jsonl"))
    asked += sum(len({c["tool"] for c in s.provenance["wording"]}) for s in small.samples)
    assert sum(tool.candidates for tool in found.tools.values()) == asked


def test_a_folder_without_rows_has_no_candidates(tmp_path: Path) -> None:
    found = read_funnel(campaign(), RunFolder(tmp_path))
    assert (found.candidates, found.released, found.tools) == (0, 0, {})
    assert all(stage.entered == 0 for stage in found.stages)
