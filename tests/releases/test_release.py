import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from familytool import pipeline
from familytool.errors import FamilytoolError
from familytool.formats.familytool_release import read_release
from familytool.model import Sample, Tool, ToolCall, Triple
from familytool.releases.build import build_release
from familytool.releases.columns import JSON_COLUMNS, graph_schema, sample_schema, tool_schema
from familytool.runs import RunFolder, file_hash
from tests.made import Made, hashes

GRAPH = [{"graph_id": "g", "head": "Zoë", "relation": "mother", "tail": "Ann"}]
TOOL = Tool(
    name="f", description="", parameters={"type": "object", "properties": {"z": {"type": "integer"}, "a": {"type": ["string", "null"]}}}
)
ODD = Sample(
    id="odd-1", benchmark="odd", kind="graph", speaker="Zoë", query="Say “hi”\n\tto  my mum 🎈", graph_id="g", candidate_tools=(TOOL,),
    golden_triples=(Triple(head="Zoë", relation="mother", tail="Ann"),),
    calls=(ToolCall(name="f", arguments={"z": 12345678901234567890, "a": None, "e": "", "l": [], "o": {}, "t": True, "x": 1.0, "y": 1e-7}),),
)  # fmt: skip
BARE = Sample(id="odd-2", benchmark="odd", kind="no_tool", speaker="Ann", query="What?", graph_id="g", candidate_tools=())


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """`load_dataset(folder, config)` of the `datasets` library, without a network and with a cache of its own."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    import datasets

    datasets.disable_progress_bars()
    return lambda folder, config: datasets.load_dataset(str(folder), config, split="test", cache_dir=str(tmp_path / "cache"))


def odd_release(target: Path, samples: tuple[Sample, ...] = (ODD, BARE)) -> Path:
    """A release of samples with everything in them that a table format likes to lose."""
    from familytool.pipeline import find_campaign

    build_release(target, find_campaign("home")[0], samples, GRAPH, {"f": TOOL}, {})
    return target


def expected(sample: Sample) -> dict[str, Any]:
    """The row that a sample must become, said without the code that writes it."""
    whole = json.loads(sample.model_dump_json())
    whole["candidate_tools"] = [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in sample.candidate_tools]
    del whole["raw"]
    row = {k: json.dumps(v, ensure_ascii=False, separators=(",", ":")) if k in JSON_COLUMNS else v for k, v in whole.items()}
    return {**row, "hops": sample.hops, "depth": sample.depth, "shape": sample.shape, "version": "1.0.0"}


def test_load_dataset_gives_back_exactly_the_rows_that_were_written(home: Made, load: Any) -> None:
    rows = load(home.path / "release", "hop2").to_list()
    assert rows == [expected(s) for s in home.samples if s.hops == 2]
    assert all(type(row["hops"]) is int and type(row["ordered"]) is bool for row in rows)


def test_all_configs_load_with_the_declared_features_and_the_counted_rows(home: Made, load: Any) -> None:
    release = home.path / "release"
    manifest = json.loads((release / "manifest.json").read_text())
    hops = {f"hop{n}": sum(s.hops == n for s in home.samples) for n in sorted({s.hops for s in home.samples})}
    assert manifest["rows"] == {"all": 250, **hops}
    counts = {**manifest["rows"], "graph": len(home.rows("graph.jsonl")), "tools": len(home.rows("tools.jsonl"))}
    for config, count in counts.items():
        loaded = load(release, config)
        schema = {"tools": tool_schema, "graph": graph_schema}.get(config, sample_schema)()
        assert loaded.num_rows == count
        assert _plain(loaded.features.arrow_schema) == _plain(schema), config
    assert load(release, "graph").to_list() == home.rows("graph.jsonl")
    assert {t["name"] for t in load(release, "tools").to_list()} >= {c.name for s in home.samples for c in s.calls}


def _plain(schema: pa.Schema) -> list[tuple[str, str]]:
    return [(field.name, str(field.type).replace("item: ", "").replace("element: ", "")) for field in schema]


def test_the_all_config_keeps_the_order_of_the_samples_and_is_the_default(home: Made, load: Any) -> None:
    assert [row["id"] for row in read_release(home.path / "release", "all")] == [s.id for s in home.samples]
    assert load(home.path / "release", None)["id"] == [s.id for s in home.samples]


def test_nothing_of_an_odd_row_is_lost(tmp_path: Path, load: Any) -> None:
    folder = odd_release(tmp_path / "odd")
    rows = load(folder, "all").to_list()
    assert rows == [expected(ODD), expected(BARE)]
    assert (
        rows[0]["calls"] == '[{"name":"f","arguments":{"z":12345678901234567890,"a":null,"e":"","l":[],"o":{},"t":true,"x":1.0,"y":1e-07}}]'
    )
    assert list(json.loads(rows[0]["candidate_tools"])[0]["parameters"]["properties"]) == ["z", "a"]
    assert rows[0]["query"] == ODD.query
    assert (rows[1]["calls"], rows[1]["golden_triples"], rows[1]["category"], rows[1]["hops"]) == ("[]", [], "", 0)


def test_a_config_whose_first_rows_are_empty_has_the_same_features(tmp_path: Path, load: Any) -> None:
    folder = odd_release(tmp_path / "odd", (BARE,) * 3)
    assert _plain(load(folder, "all").features.arrow_schema) == _plain(sample_schema())


def test_two_builds_have_the_same_bytes(home: Made, tmp_path: Path) -> None:
    assert hashes(odd_release(tmp_path / "a")) == hashes(odd_release(tmp_path / "b"))
    before = hashes(home.path / "release")
    build_release(
        tmp_path / "again",
        home.job.campaign,
        home.samples,
        home.rows("graph.jsonl"),
        {row["name"]: Tool.model_validate(row) for row in home.rows("tools.jsonl")},
        {},
    )
    parquet = {name for name in before if name.endswith(".parquet")}
    assert len(parquet) >= 7
    assert {name: hashes(tmp_path / "again")[name] for name in parquet} == {name: before[name] for name in parquet}


def test_the_manifest_names_every_file_with_its_true_hash(home: Made) -> None:
    release = home.path / "release"
    manifest = json.loads((release / "manifest.json").read_text())
    files = {str(p.relative_to(release)) for p in release.rglob("*") if p.is_file()} - {"manifest.json"}
    assert manifest["files"].keys() == files
    for name, facts in manifest["files"].items():
        content = (release / name).read_bytes()
        assert facts == {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    assert manifest["fingerprint"] == home.job.campaign.fingerprint


def test_the_card_names_each_config_and_the_true_numbers(home: Made) -> None:
    card = (home.path / "release" / "README.md").read_text(encoding="utf-8")
    manifest = json.loads((home.path / "release" / "manifest.json").read_text())
    for config in (*manifest["rows"], "tools", "graph"):
        assert f"- config_name: {config}\n" in card
        assert f"path: {config}/test.parquet" in card
        assert (home.path / "release" / config / "test.parquet").is_file()
    for name, count in manifest["rows"].items():
        assert f"| {name} | {count:,} |" in card
    assert "{" not in card.split("```")[0].split("---")[2]


INTERRUPTIONS = {"Control-C": KeyboardInterrupt, "no room": OSError(28, "No space left on device"), "a bad row": FamilytoolError("bad row")}


@pytest.mark.parametrize("trouble", INTERRUPTIONS.values(), ids=INTERRUPTIONS.keys())
def test_an_interrupted_build_leaves_the_old_release_in_place(trouble: BaseException, tmp_path: Path) -> None:
    def samples() -> Iterator[Sample]:
        yield ODD
        raise trouble

    folder = odd_release(tmp_path / "release")
    before = hashes(folder)
    with pytest.raises((KeyboardInterrupt, FamilytoolError)):
        odd_release(folder, samples())  # type: ignore[arg-type]
    assert hashes(folder) == before
    odd_release(folder, (BARE,))
    assert [row["id"] for row in read_release(folder, "all")] == ["odd-2"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["release"]


def test_a_config_that_is_not_there_is_an_error_that_lists_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(FamilytoolError, match=r"no config 'hop7' \(there: all, graph, hop0, hop1, tools\)"):
        list(read_release(odd_release(tmp_path / "odd"), "hop7"))


def test_a_release_built_again_from_a_run_is_the_same(small: Made, tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", small.job.identity()) as run:
        pipeline.run_all(small.job, run)
        first = hashes(tmp_path / "run" / "release")
        pipeline.release(small.job, run)
    assert hashes(tmp_path / "run" / "release") == first == hashes(small.path / "release")


def test_gold_replay_over_the_release_is_right_everywhere(home: Made) -> None:
    results = json.loads((home.path / "evaluation" / "results.json").read_text())
    assert results["n"] == 250
    assert results["n_errors"] == 0
    for profile in ("strict", "lenient"):
        assert {value for value in results["scores"][profile].values() if value is not None} == {1.0}
    published = results["scores"]["familytool-2025"]
    assert (published["em"], published["kg_f1"]) == (1.0, 0.92)  # the program gives F1 0 where nothing is golden: 20 rows of 250
    assert file_hash(home.path / "evaluation" / "scores.jsonl")["rows"] == 250
