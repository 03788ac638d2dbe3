import itertools
import json
import shutil
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

from familytool import pipeline
from familytool.catalogue import tables
from familytool.kinship import KIN_RELATIONS, Kin, find_mentions
from familytool.model import RelationPath, Sample
from familytool.runs import RunFolder, file_hash
from familytool.validation.feasibility import resolve
from familytool.validation.grounding import is_stated, stated_values
from tests.made import Made, familytool, golden_hashes, hashes, leaves, make

ROWS = ("samples.jsonl", "checks.jsonl", "rejected.jsonl", "graph.jsonl", "tools.jsonl", "preferences.jsonl", "refusals.jsonl")


def clauses(sample: Sample) -> list[dict]:
    return sample.provenance["wording"]


def test_every_stratum_holds_exactly_the_rows_that_the_campaign_asks_for(made: Made) -> None:
    strata = made.job.campaign.generation.strata
    assert Counter(s.provenance["stratum"] for s in made.samples) == strata
    for sample in made.samples:
        stratum = sample.provenance["stratum"]
        assert sample.kind == ("graph" if stratum.startswith("hop") else stratum)
        assert not stratum.startswith("hop") or sample.hops == int(stratum[3:])
        assert stratum not in ("no_graph", "no_tool") or sample.hops == 0
        assert bool(sample.calls) == (sample.kind != "no_tool")


def test_home_has_250_rows_of_every_kind(home: Made) -> None:
    assert len(home.samples) == 250
    assert Counter(s.kind for s in home.samples) == {"graph": 220, "no_graph": 10, "no_tool": 10, "multi_call": 10}


def test_the_funnel_adds_up_candidate_by_candidate(made: Made) -> None:
    numbers: dict[str, list[int]] = {}
    for sample in made.samples:
        numbers.setdefault(sample.provenance["stratum"], []).append(sample.provenance["candidate"])
    for row in made.rows("rejected.jsonl"):
        assert row["check"]
        assert row["code"]
        assert row["message"]
        assert row["tools"]
        numbers.setdefault(row["stratum"], []).append(row["candidate"])
    funnel = json.loads((made.path / "manifest.json").read_text())["stages"]["generate"]["funnel"]
    for stratum, found in numbers.items():
        assert sorted(found) == list(range(len(found)))
        assert funnel[stratum]["candidates"] == len(found)
        assert funnel[stratum]["accepted"] + sum(funnel[stratum]["rejected"].values()) == len(found)


def test_every_row_passed_all_four_checks_and_the_checks_stand_in_its_order(made: Made) -> None:
    rows = [(row["sample_id"], row["check"], row["verdict"]) for row in made.rows("checks.jsonl")]
    assert rows == [(s.id, check, "pass") for s in made.samples for check in ("syntax", "intent", "parameters", "feasibility")]


def test_every_golden_call_satisfies_its_closed_schema_by_plain_jsonschema(made: Made) -> None:
    for sample in made.samples:
        offered = {tool.name: tool.parameters for tool in sample.candidate_tools}
        for call in [*sample.calls, *(c for calls in sample.alternatives for c in calls)]:
            schema = offered[call.name]
            assert schema.get("additionalProperties", schema.get("unevaluatedProperties")) is False
            assert list(jsonschema.Draft202012Validator(schema).iter_errors(call.arguments)) == [], sample.id


def test_golden_triples_are_facts_of_the_graph_and_chains_start_at_the_speaker(made: Made) -> None:
    for sample in made.samples:
        graph = made.graph(sample)
        assert all(triple in graph for triple in sample.golden_triples)
        assert len(set(sample.golden_triples)) == sample.hops
        assert all(path.start == sample.speaker for path in sample.golden_paths)
        chains = [graph.chains(path) for path in sample.golden_paths]
        assert all(len(found) == 1 for found in chains)
        assert [t for found in chains for t in found[0]] == list(sample.golden_triples)


def test_every_leaf_argument_has_a_source_and_executing_a_graph_source_gives_the_argument(made: Made) -> None:
    for sample in made.samples:
        values = {p: v for n, call in enumerate(sample.calls) for p, v in leaves(call.arguments, f"/{n}/arguments")}
        assert values.keys() == sample.argument_sources.keys(), sample.id
        for pointer, source in sample.argument_sources.items():
            assert resolve(sample, pointer) == values[pointer]
            if source["source"] == "graph":
                path = RelationPath(start=source["path"]["start"], relations=tuple(source["path"]["relations"]))
                assert path in sample.golden_paths
                assert made.graph(sample).follow(path) == (str(values[pointer]),)


def test_each_recorded_span_holds_the_words_of_its_argument_and_no_other(made: Made) -> None:
    for sample in made.samples:
        kin, spans = Kin(made.graph(sample)), {}
        for pointer, source in sample.argument_sources.items():
            start, end = source["span"]
            said = sample.query[start:end]
            assert said.strip() == said != "", (sample.id, pointer)
            spans.setdefault((start, end), pointer)
            value = resolve(sample, pointer)
            if source["source"] == "query":
                words = {text for clause in clauses(sample) for slot in clause["slots"].values() for text in _words(slot, value)}
                assert is_stated(value, said, stated_values(said)) or any(text in said for text in words), (sample.id, pointer, said)
            else:
                owner = tuple(r for r in source["path"]["relations"] if r in KIN_RELATIONS)
                person = made.graph(sample).follow(RelationPath(start=sample.speaker, relations=owner)) if owner else ()
                named = [kin.persons(sample.speaker, m.readings) for m in find_mentions(said)]
                assert named == ([person] if person else []), (sample.id, pointer, said)
        ordered = sorted(spans)
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(ordered)), sample.id


def _words(slot: dict, value: object) -> list[str]:
    return [slot["values"][key] for key in (str(value), str(value).lower()) if key in slot.get("values", {})]


def test_the_golden_tool_stands_anywhere_in_its_list(made: Made) -> None:
    places = []
    for sample in made.samples:
        names = [tool.name for tool in sample.candidate_tools]
        places += [(names.index(call.name), len(names)) for call in sample.calls]
    expected = sum(1 / size for _, size in places)
    bound = 4 * sum(1 / size * (1 - 1 / size) for _, size in places) ** 0.5  # four standard deviations of a uniform place
    assert abs(sum(at == 0 for at, _ in places) - expected) < bound
    assert abs(sum(at == size - 1 for at, size in places) - expected) < bound


def test_candidate_lists_have_the_asked_size_no_name_twice_and_no_two_tools_that_serve_the_same_request(made: Made) -> None:
    least, most = made.job.campaign.generation.candidate_tools.size
    for sample in made.samples:
        names = [tool.name for tool in sample.candidate_tools]
        assert least <= len(names) <= most
        assert len(set(names)) == len(names)
        assert not [(a, b) for a in names for b in names if a != b and tables.either_would_do(a, b)], sample.id
        if sample.kind == "no_tool":
            asked = clauses(sample)[0]["tool"]
            assert not [name for name in names if tables.either_would_do(asked, name)]


def test_no_id_no_request_and_no_call_occurs_twice(made: Made) -> None:
    assert len({s.id for s in made.samples}) == len(made.samples)
    assert len({(s.graph_id, s.speaker, s.query.casefold()) for s in made.samples}) == len(made.samples)
    ids = {s.id for s in made.samples} | {row["id"] for row in made.rows("rejected.jsonl")}
    assert len(ids) == len(made.samples) + len(made.rows("rejected.jsonl"))


def test_the_manifest_has_the_true_hash_and_count_of_every_file(home: Made) -> None:
    manifest = json.loads((home.path / "manifest.json").read_text())
    assert list(manifest["stages"]) == ["generate", "release", "evaluate", "report"]
    written = {str(p.relative_to(home.path)) for p in home.path.rglob("*") if p.is_file()} - {"lock", "manifest.json"}
    assert written == manifest["files"].keys()
    assert all(file_hash(home.path / name) == facts for name, facts in manifest["files"].items())


def test_home_generated_again_by_another_process_has_the_same_bytes(home: Made, tmp_path: Path) -> None:
    done = familytool("generate", "home", "--run-dir", tmp_path / "run", cwd=tmp_path, PYTHONHASHSEED="7", TZ="Asia/Tokyo", LC_ALL="C")
    assert done.returncode == 0, done.stderr
    assert hashes(tmp_path / "run", *ROWS) == hashes(home.path, *ROWS)


def test_another_seed_gives_other_rows_and_another_family(small: Made, tmp_path: Path) -> None:
    campaign = small.job.campaign.model_copy(update={"seed": small.job.campaign.seed + 1})
    job = pipeline.Job(campaign, small.job.folder)
    with RunFolder(tmp_path / "run", job.identity()) as run:
        pipeline.generate(job, run)
    other = Made(run.path, job)
    assert not {s.query for s in other.samples} & {s.query for s in small.samples}
    assert list(other.graphs["small"]) != list(small.graphs["small"])


def test_rows_of_many_families_each_stand_in_their_own_graph(tmp_path: Path) -> None:
    text = 'name = "many"\n[family]\ncount = 3\npeople = 6\n[generation]\nstrata = { hop2 = 40 }\n'
    (tmp_path / "many.toml").write_text(text, encoding="utf-8")
    many = make(tmp_path / "run", str(tmp_path / "many.toml"), only_generate=True)
    assert sorted(many.graphs) == ["many-00000", "many-00001", "many-00002"]
    assert {s.graph_id for s in many.samples} == set(many.graphs)
    assert all(triple in many.graph(s) for s in many.samples for triple in s.golden_triples)


def test_validate_finds_nothing_in_what_generation_accepted(small: Made, tmp_path: Path) -> None:
    copy = Made(shutil.copytree(small.path, tmp_path / "run"), small.job)
    summary = pipeline.validate(RunFolder(copy.path))
    assert summary["n_samples"] == len(small.samples)
    assert summary["by_code"] == {}
    assert all(v == {"pass": len(small.samples), "fail": 0, "unknown": 0} for v in summary["by_check"].values())
    assert copy.rows("findings.jsonl") == []


@pytest.mark.parametrize("name", ["home", "extended"])
def test_the_rows_are_those_of_the_golden_hash(name: str, request: pytest.FixtureRequest) -> None:
    """A row has moved if this fails: say why in the changelog, and write the new hash into releases/golden.json."""
    made = request.getfixturevalue(name)
    assert hashes(made.path, "samples.jsonl")["samples.jsonl"] == golden_hashes()[name]


@pytest.mark.full
def test_paper_has_the_numbers_of_the_papers_tables(paper: Made) -> None:
    assert len(paper.samples) == 483
    assert Counter(s.hops for s in paper.samples) == {1: 107, 2: 362, 3: 14}
    assert len({call.name for s in paper.samples for call in s.calls}) == 102
    assert {s.speaker for s in paper.samples} == {"Bob", "Jack", "Alice"}


@pytest.mark.full
def test_the_graph_of_paper_is_the_union_of_its_golden_triples(paper: Made) -> None:
    assert set(paper.graphs["paper"]) == {t for s in paper.samples for t in s.golden_triples}
    assert len(paper.rows("graph.jsonl")) == len(paper.graphs["paper"])
