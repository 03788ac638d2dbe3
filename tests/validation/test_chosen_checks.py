"""A campaign's choice of checks: switched off, in another order, configured, and one of its own."""

from pathlib import Path

import pytest

from familytool import pipeline
from familytool.errors import FamilytoolError, UsageError
from familytool.graph import KnowledgeGraph
from familytool.model import Sample, Tool, ToolCall
from familytool.runs import RunFolder
from familytool.validation.checks import check_sample, chosen_checks
from tests.made import write_small

SAMPLE = Sample(
    id="x-1", benchmark="x", kind="no_graph", speaker="", query="Ring Ada.", graph_id="",
    candidate_tools=(Tool(name="ring", parameters={"type": "object", "properties": {"who": {"type": "string"}}, "additionalProperties": False}),),
    calls=(ToolCall(name="ring", arguments={"who": "Ada", "loud": True}),),
)  # fmt: skip
OWN = '''
from familytool.model import Check, Finding

def check_tone(sample, graph, *, forbidden="please"):
    """Nobody says the forbidden word."""
    found = (Finding(code="tone", path="/query", message=f"says {forbidden!r}"),) if forbidden in sample.query.lower() else ()
    return Check(sample_id="?", check="?", verdict="fail" if found else "pass", findings=found)

def check_nothing(sample, graph):
    return None

def check_broken(sample, graph):
    return 1 / 0
'''


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, str]:
    """A folder with a module of checks of one's own, and the module's name (one for each test: modules stay imported)."""
    name = "own_" + "".join(c if c.isalnum() else "_" for c in request.node.name)
    (tmp_path / f"{name}.py").write_text(OWN, encoding="utf-8")
    return tmp_path, name


def test_a_check_of_ones_own_runs_under_its_functions_name_with_its_settings(folder: tuple[Path, str]) -> None:
    checks = chosen_checks([f"{folder[1]}:check_tone", "syntax"], {"check_tone": {"forbidden": "ring"}}, folder=folder[0])
    found = check_sample(SAMPLE, KnowledgeGraph(), checks)
    assert [(c.check, c.verdict, c.sample_id) for c in found] == [("check_tone", "fail", "x-1"), ("syntax", "pass", "x-1")]
    assert check_sample(SAMPLE, KnowledgeGraph(), chosen_checks([f"{folder[1]}:check_tone"], folder=folder[0]))[0].verdict == "pass"


def test_an_ignored_code_is_told_and_fails_nothing() -> None:
    strict, mild = chosen_checks(["parameters"]), chosen_checks(["parameters"], ignore=["unknown_parameter"])
    assert check_sample(SAMPLE, KnowledgeGraph(), strict)[0].verdict == "fail"
    found = check_sample(SAMPLE, KnowledgeGraph(), mild)[0]
    assert (found.verdict, [f.code for f in found.findings]) == ("pass", ["unknown_parameter"])


FAULTS = {
    "a module that is not there": (["no_such_module_here:check"], {}, "cannot be imported"),
    "a function that is not there": (["json:check_tone"], {}, "has no function 'check_tone'"),
    "no name": (["syntx"], {}, "'syntx' is none of syntax"),
    "a path instead of a name": (["../evil:check"], {}, "is none of"),
    "twice": (["syntax", "syntax"], {}, "named twice"),
    "an unknown setting": (["syntax"], {"syntax": {"depht": 3}}, "no setting 'depht'"),
    "settings of a check that is off": (["syntax"], {"intent": {}}, "'intent' is not among the checks"),
}


@pytest.mark.parametrize(("names", "settings", "message"), FAULTS.values(), ids=FAULTS)
def test_a_choice_at_fault_is_one_sentence(names: list[str], settings: dict[str, dict[str, object]], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        chosen_checks(names, settings)


@pytest.mark.parametrize(("function", "message"), [("check_nothing", "must give a Check"), ("check_broken", "ZeroDivisionError")])
def test_a_check_of_ones_own_that_is_broken_names_itself_and_the_sample(folder: tuple[Path, str], function: str, message: str) -> None:
    with pytest.raises(FamilytoolError, match=f"'{function}'.*x-1.*") as caught:
        check_sample(SAMPLE, KnowledgeGraph(), chosen_checks([f"{folder[1]}:{function}"], folder=folder[0]))
    assert message in str(caught.value)


def test_a_campaign_rejects_candidates_by_its_own_check_and_validates_with_it(folder: tuple[Path, str]) -> None:
    path = write_small(folder[0])
    text = path.read_text(encoding="utf-8")
    chosen = f'checks = ["{folder[1]}:check_tone", "syntax", "parameters"]\nsettings = {{ check_tone = {{ forbidden = "my " }} }}\n'
    path.write_text(f"{text}\n[validation]\n{chosen}", encoding="utf-8")
    campaign, beside = pipeline.find_campaign(str(path))
    job = pipeline.Job(
        campaign.model_copy(update={"generation": campaign.generation.model_copy(update={"strata": {"no_graph": 3}})}), beside
    )
    with RunFolder(folder[0] / "run", job.identity()) as run:
        pipeline.generate(job, run)
        assert list(pipeline.validate(run, job.checks)["by_check"]) == ["check_tone", "syntax", "parameters"]
        assert all("my " not in row["query"].lower() for row in run.rows("samples.jsonl"))
