import json
import os
import re
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from familytool.campaign import campaign_schema, describe, load_campaign
from familytool.catalogue import tables
from tests.made import ROOT, Made, environment, familytool, make, write_small

VERBS = ("init", "check", "run", "generate", "validate", "release build", "evaluate", "report", "status", "why", "preview")
HEAVY = ("argilla", "great_expectations", "datasets", "networkx", "openai", "pyarrow", "pandas")


@pytest.fixture(scope="module")
def run_of_small(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A finished run that these tests may write to."""
    folder = tmp_path_factory.mktemp("cli")
    return make(folder / "run", str(write_small(folder)))


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_every_verb_shows_an_example(verb: str) -> None:
    done = familytool(*verb.split(), "--help")
    assert done.returncode == 0
    assert done.stderr == ""
    assert re.search(rf"Examples?:\s+familytool {verb} \S", done.stdout)


def test_the_help_lists_every_verb_and_how_to_begin() -> None:
    done = familytool("--help")
    assert done.returncode == 0
    assert "familytool run home" in done.stdout
    assert all(re.search(rf"^  {verb.split()[0]}  ", done.stdout, re.MULTILINE) for verb in VERBS)


def test_help_imports_no_heavy_library() -> None:
    code = f"""
import sys
from familytool.cli import main
sys.argv = ["familytool", "--help"]
try:
    main()
except SystemExit as ended:
    assert ended.code in (0, None)
print("LOADED", [name for name in {HEAVY!r} if name in sys.modules], "pydantic" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    assert done.stdout.splitlines()[-1] == "LOADED [] False"


WRONG_FILES = {
    "no.json": "hello, this is no JSON",
    "text.json": '["a text instead of an object"]',
    "number.jsonl": "42\n",
    "cut.json": '[{"type": "function", "function": {"name": "book_taxi", "parameters": {"type": "obj',
    "empty.json": "[]",
    "latin.json": b'[{"name": "caf\xe9"}]',
    "cycle.toml": '[[people]]\nname = "Ann"\ngender = "female"\nmother = "Eve"\n[[people]]\nname = "Eve"\ngender = "female"\nmother = "Ann"\n',
    "contradiction.toml": '[[people]]\nname = "Ann"\ngender = "female"\nmother = "Bob"\n[[people]]\nname = "Bob"\ngender = "male"\n',
    "typo.toml": 'name = "typo"\n[generation]\nstrata = { hop1 = 3 }\ndistinct_tool = 4\n',
    "shortfall.toml": 'name = "short"\n[family]\npeople = 2\nattributes_per_person = 4\n[generation]\nmax_candidates = 3\nstrata = { hop1 = 2, hop4 = 9 }\n',
    "quota.toml": 'name = "q"\n[family]\npeople = 4\n[generation]\nstrata = { hop1 = 3 }\nquotas = [{ tool = "no_such_tool", at_least = 2 }]\n',
    "in_cycle.toml": 'name = "c"\n[family]\nspecification = "cycle.toml"\n[generation]\nstrata = { hop1 = 3 }\n',
    "in_contradiction.toml": 'name = "c"\n[family]\nspecification = "contradiction.toml"\n[generation]\nstrata = { hop1 = 3 }\n',
    "no_toml.toml": "{",
}  # fmt: skip

MISTAKES = {
    "a name that is no campaign": (["run", "hoem"], 2, r"'hoem': neither a built-in campaign \(home, paper, extended\) nor a file; .*init"),
    "a campaign file that is missing": (["run", "gone.toml"], 2, r"gone\.toml: .*cannot be read.*give a name"),
    "an unknown key": (["check", "typo.toml"], 2, r"typo\.toml: generation\.distinct_tool: unknown key; did you mean 'distinct_tools'\?"),
    "no TOML": (["check", "no_toml.toml"], 2, r"no_toml\.toml: not a TOML file .*familytool init"),
    "nothing to check": (["check"], 2, r"name a campaign to check, or give --schema"),
    "an impossible stratum": (["run", "shortfall.toml"], 1, r"stratum hop4: 0 of 9 rows after \d+ candidates, 9 are lacking \(rejected: .*\); ask for fewer rows"),
    "a quota on a tool that is not there": (["run", "quota.toml"], 1, r"quota no_such_tool: no usable tool .*, 2 rows are wanted; .*drop the quota"),
    "documents that are missing": (["run", "home", "--documents", "gone"], 2, r"gone: no such file or folder; --documents takes"),
    "documents that are not JSON": (["run", "home", "--documents", "no.json"], 1, r"no\.json: not JSON: .* line 1, column 1; mend this in the file and run again"),
    "a text instead of a document": (["run", "home", "--documents", "text.json"], 1, r"text\.json.*a text instead of an object"),
    "a number instead of a document": (["run", "home", "--documents", "number.jsonl"], 1, r"number\.jsonl:1: int '42' is no tool document of a known format; `familytool formats` lists them"),
    "documents that are cut off": (["run", "home", "--documents", "cut.json"], 1, r"cut\.json: not JSON: .*; the end of the file is missing"),
    "an empty list of documents": (["run", "home", "--documents", "empty.json"], 1, r"empty\.json: list '\[\]' is no tool document of a known format; `familytool formats` lists them"),
    "documents in another encoding": (["run", "home", "--documents", "latin.json"], 1, r"latin\.json: cannot be read as UTF-8"),
    "paper without documents": (["run", "paper"], 2, r"campaign 'paper' needs the MTU-Bench documents: give --documents FOLDER"),
    "a family with a cycle": (["run", "in_cycle.toml"], 2, r"cycle\.toml: .*(Ann|Eve)"),
    "a family that contradicts itself": (["run", "in_contradiction.toml"], 2, r"contradiction\.toml: .*Bob"),
    "a run that is not there": (["status", "home"], 2, r"runs/home: no run here yet; start one with `familytool run`"),
    "a sample that is not there": (["why", "small-hop1-999999", "--run-dir", "RUN"], 2, r"no row 'small-hop1-999999'; ids stand in"),
    "the run folder of another campaign": (["run", "home", "--run-dir", "RUN"], 1, r"holds a run of something else \(.*\); give another --run-dir"),
    "a folder that is no run folder": (["run", "home", "--run-dir", "."], 1, r"not a run folder \(it holds .*\); give a new or empty --run-dir"),
    "a graph file that is missing": (["evaluate", "no.json", "--graph", "gone.txt"], 2, r"gone\.txt: no such file"),
    "init of an unknown campaign": (["init", "new", "--from", "hoem"], 2, r"--from hoem: no built-in campaign; there are home, paper, extended"),
    "an unknown option": (["run", "home", "--sede", "3"], 2, r"No such option: --sede"),
    "an unknown verb": (["rnu", "home"], 2, r"No such command 'rnu'"),
    "a seed that is no number": (["run", "home", "--seed", "x"], 2, r"Invalid value for '--seed'"),
}  # fmt: skip


@pytest.fixture(scope="module")
def answers(run_of_small: Made, tmp_path_factory: pytest.TempPathFactory) -> dict[str, subprocess.CompletedProcess[str]]:
    """What the program answers to each mistake; processes run side by side, each in a folder of its own."""

    def answer(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
        for name, content in WRONG_FILES.items():
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        places = {"RUN": str(run_of_small.path), "SMALL": str(run_of_small.path.parent / "small.toml")}
        return familytool(*[places.get(word, word) for word in words], cwd=folder)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {name: pool.submit(answer, words, tmp_path_factory.mktemp("mistake")) for name, (words, _, _) in MISTAKES.items()}
    return {name: process.result() for name, process in running.items()}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_answered_with_one_sentence_that_names_the_place_and_a_way_out(
    name: str, answers: dict[str, subprocess.CompletedProcess[str]]
) -> None:
    _, code, sentence = MISTAKES[name]
    done = answers[name]
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    said = [line for line in done.stderr.splitlines() if line and not re.match(r"  hop\d: |Usage: |Try ", line)]
    assert len(said) == 1, done.stderr
    assert re.search(sentence, said[0]), said[0]
    assert done.stdout == ""


def test_every_field_at_fault_has_a_sentence_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('nme = "a"\n[generation]\nstrata = { hop9 = 1 }\n')
    done = familytool("check", "a.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 3
    assert all(line.startswith("familytool: a.toml: ") for line in done.stderr.splitlines())


def test_run_says_what_was_made_where_it_is_and_what_comes_next(tmp_path: Path) -> None:
    write_small(tmp_path)
    done = familytool("run", "small.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"Made:  20 samples over \d+ tools \(.*\) in \d+ s, all four checks passed", done.stdout)
    assert (tmp_path / "runs" / "small" / "release" / "all" / "test.parquet").is_file()
    for line in re.findall(r"familytool (?:preview|why) .*?(?=   or|$)", done.stdout, re.MULTILINE):
        shown = familytool(*line.split()[1:], cwd=tmp_path)
        assert shown.returncode == 0, (line, shown.stderr)


def test_a_dry_run_shows_three_rows_and_writes_nothing(tmp_path: Path) -> None:
    write_small(tmp_path)
    done = familytool("run", "small.toml", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("  path: ") >= 3
    assert "Nothing was written" in done.stdout
    assert sorted(p.name for p in tmp_path.iterdir()) == ["small.toml", "tools.json"]


SHOWN = {
    "status": (["status", "RUN"], "finished stages: generate, release, evaluate"),
    "validate": (["validate", "SMALL", "--run-dir", "RUN"], "20 rows; details in"),
    "preview": (["preview", "RUN", "-n", "3"], "call: "),
    "evaluate": (["evaluate", "SMALL", "--run-dir", "RUN"], "gold replay: em 1.000"),
    "report": (["report", "SMALL", "--run-dir", "RUN"], "report.html"),
    "release build": (["release", "build", "SMALL", "--run-dir", "RUN"], "all 20"),
    "check": (["check", "SMALL"], 'name = "small"'),
}


@pytest.mark.parametrize(("words", "text"), SHOWN.values(), ids=SHOWN.keys())
def test_each_verb_works_on_a_finished_run(words: list[str], text: str, run_of_small: Made, tmp_path: Path) -> None:
    places = {"RUN": str(run_of_small.path), "SMALL": str(run_of_small.path.parent / "small.toml")}
    done = familytool(*[places.get(word, word) for word in words], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert text in done.stdout


def test_preview_shows_as_many_rows_as_asked_for(run_of_small: Made) -> None:
    assert familytool("preview", run_of_small.path, "-n", "7").stdout.count("  offered: ") == 7


def test_why_tells_where_each_value_comes_from_and_why_a_candidate_was_rejected(run_of_small: Made) -> None:
    sample = next(s for s in run_of_small.samples if s.hops == 3)
    done = familytool("why", sample.id, "--run-dir", run_of_small.path)
    assert done.returncode == 0, done.stderr
    assert all(pointer in done.stdout for pointer in sample.argument_sources)
    assert [f"{check}: pass" in done.stdout for check in ("syntax", "intent", "parameters", "feasibility")] == [True] * 4
    row = run_of_small.rows("rejected.jsonl")[0]
    done = familytool("why", row["id"], "--run-dir", run_of_small.path)
    assert done.returncode == 0, done.stderr
    assert f"was rejected by {row['check']}: {row['code']}: {row['message']}" in " ".join(done.stdout.split())


def test_validate_exits_with_one_where_a_finished_row_is_wrong(run_of_small: Made, tmp_path: Path) -> None:
    identity = json.loads((run_of_small.path / "manifest.json").read_text(encoding="utf-8"))["identity"]
    (tmp_path / "manifest.json").write_text(json.dumps({"identity": identity, "stages": {"generate": {}}}), encoding="utf-8")
    lines = (run_of_small.path / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    row = json.loads(lines[0])
    row["calls"][0]["arguments"]["surplus"] = 1
    (tmp_path / "samples.jsonl").write_text(json.dumps(row) + "\n" + lines[1] + "\n", encoding="utf-8")
    (tmp_path / "graph.jsonl").write_bytes((run_of_small.path / "graph.jsonl").read_bytes())
    done = familytool("validate", "small", "--run-dir", tmp_path)
    assert done.returncode == 1, done.stderr
    assert json.loads((tmp_path / "summary.json").read_text())["by_code"]["unknown_parameter"] == {"samples": 1, "findings": 1}


def test_init_makes_a_campaign_that_check_accepts(tmp_path: Path) -> None:
    for name in tables.CAMPAIGNS:
        done = familytool("init", f"my {name}!", "--from", name, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        made = tmp_path / f"my {name}!"
        content = tomllib.loads((made / "campaign.toml").read_text(encoding="utf-8"))
        assert content.pop("name") == f"my-{name}"
        original = tomllib.loads((tables.campaign_bytes(name) or b"").decode())
        assert content == {key: value for key, value in original.items() if key != "name"}
        assert json.loads((made / "campaign.schema.json").read_text()) == campaign_schema()
    again = familytool("init", "my home!", cwd=tmp_path)
    assert again.returncode == 2
    assert "exists already" in again.stderr


@pytest.mark.parametrize("name", tables.CAMPAIGNS)
def test_every_built_in_campaign_passes_check_and_its_print_is_a_campaign_again(name: str, tmp_path: Path) -> None:
    done = familytool("check", name)
    assert done.returncode == 0, done.stderr
    (tmp_path / "again.toml").write_text(done.stdout, encoding="utf-8")
    assert describe(load_campaign(tmp_path / "again.toml")) == done.stdout


def test_the_schema_for_editors_is_the_one_in_the_package(tmp_path: Path) -> None:
    stored = (ROOT / "familytool" / "catalogue" / "campaigns" / "campaign.schema.json").read_text(encoding="utf-8")
    assert familytool("check", "--schema").stdout == stored
    assert familytool("check", "--schema", "--out", tmp_path / "s.json").returncode == 0
    assert (tmp_path / "s.json").read_text(encoding="utf-8") == stored
