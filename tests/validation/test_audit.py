"""The audit of a benchmark: on a set of our own with planted faults, on our own runs, and (marked `full`) on published sets."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from familytool import tables
from familytool.errors import FamilytoolError, UsageError
from familytool.graph import KnowledgeGraph
from familytool.model import Sample, Tool, ToolCall
from familytool.validation.audit import Order, audit, failing_codes, found_codes
from familytool.validation.checks import check_sample
from familytool.validation.codes import CODES, HARMLESS, UNDECIDED
from familytool.validation.conformity import Conformity
from tests.made import Made

TRIPLES = [
    ["Nora", "mother", "Ines"], ["Ines", "daughter", "Nora"], ["Nora", "husband", "Emil"], ["Emil", "wife", "Nora"],
    ["Nora", "prefer_tea", "tea_0001"], ["Ines", "prefer_tea", "tea_0009"], ["Emil", "prefer_tea", "tea_0004"],
    ["Nora", "prefer_time", "time_0001"],
]  # fmt: skip
TEA = {
    "name": "order_tea", "description": "Order tea.",
    "parameters": {
        "type": "object", "required": ["tea"],
        "properties": {
            "tea": {"type": "string"}, "cups": {"type": "int"}, "at": {"type": "string", "format": "HH:MM"},
            "extra_wish": {"type": "string"}, "days": {"type": "array", "items": {"type": "string"}},
        },
    },
    "response": {"ok": {}},
}  # fmt: skip
SHOP = {"name": "find_shop", "description": "Find a tea shop.", "parameters": {"type": "object", "properties": {"town": {"type": "string"}}, "required": []}, "response": {}}  # fmt: skip
MOTHER = "[Nora, mother, Ines], [Ines, prefer_tea, tea_0009]"
ROWS: dict[str, tuple[str, str, dict[str, Any]]] = {
    # what is planted: (query, golden triples, arguments)
    "sound": ("Order my mother's favourite tea.", MOTHER, {"tea": "tea_0009"}),
    "number as text": ("Order two cups of my mother's favourite tea.", MOTHER, {"tea": "tea_0009", "cups": "2"}),
    "time in another form": ("Order my mother's favourite tea for 7:30.", MOTHER, {"tea": "tea_0009", "at": "7:30"}),
    "name with a space": ("Order my mother's favourite tea with honey.", MOTHER, {"tea": "tea_0009", "extra wish": "honey"}),
    "missing": ("Order three cups for my husband.", "[Nora, husband, Emil], [Emil, prefer_tea, tea_0004]", {"cups": 3}),
    "no link": ("Please get my mother's preferred tea.", "[Ines, prefer_tea, tea_0009]", {"tea": "tea_0009"}),
    "other relative": ("Order my mother's tea, the one she likes.", "[Nora, husband, Emil], [Emil, prefer_tea, tea_0004]", {"tea": "tea_0004"}),
    "twice": ("order  my mother's favourite TEA.", MOTHER, {"tea": "tea_0009"}),
    "placeholder": ("Order my favourite tea at my usual time.", "[Nora, prefer_tea, tea_0001], [Nora, prefer_time, time_0001]", {"tea": "tea_0001", "at": "time_0001"}),
}  # fmt: skip
NUMBER = {name: number for number, name in enumerate(ROWS)}


def row(number: int, query: str, triples: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    user = f"<speak>Speaker: Nora</speak> {query}  The extra information for the query is ({triples})."
    return [
        {"role": "id", "content": f"KGMTUbench_{number}"},
        {"role": "candidate_tools", "content": [SHOP, TEA]},
        {"role": "user", "content": user},
        {"role": "tool_call", "content": [{"name": "order_tea", "parameters": arguments, "depend_on": []}]},
    ]


@pytest.fixture
def planted(tmp_path: Path) -> tuple[Path, Path]:
    """A sample file with planted faults, one line of which is no row, and its graph."""
    lines = [json.dumps(row(number, *content), ensure_ascii=False) for number, content in enumerate(ROWS.values())]
    (tmp_path / "tea.jsonl").write_text("\n".join([*lines, '{"role": "id"}', ""]), encoding="utf-8")
    (tmp_path / "graph.txt").write_text("\n".join(str(triple) for triple in TRIPLES) + "\n", encoding="utf-8")
    return tmp_path / "tea.jsonl", tmp_path / "graph.txt"


def quiet(what: str, done: int, of: int) -> None:
    """No progress is shown."""


def findings(out: Path) -> dict[str, set[str]]:
    """Code -> names of the rows in which it was found."""
    found: dict[str, set[str]] = {}
    names = list(ROWS)
    for text in (out / "findings.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(text)
        assert list(entry) == ["sample_id", "check", "verdict", "code", "path", "message", "value", "hint", "judge", "file", "line"]
        found.setdefault(entry["code"], set()).add(names[int(entry["sample_id"].rsplit("-", 1)[1])] if entry["sample_id"] else "graph")
    return found


def test_each_planted_fault_is_found_in_its_row_and_nowhere_else(planted: tuple[Path, Path], tmp_path: Path) -> None:
    summary = audit(Order(planted[0], graph=planted[1]), tmp_path / "out", quiet)
    found = findings(tmp_path / "out")
    assert found["type_mismatch"] == {"number as text"}
    assert found["format_mismatch"] == {"time in another form"}
    assert found["unknown_parameter"] == {"name with a space"}
    assert found["missing_required"] == {"missing"}
    assert found["disconnected_golden"] == {"no link"}
    assert found["kinship_mismatch"] == {"other relative"}
    assert found["duplicate_sample"] == {"sound", "twice"}
    assert (summary["n_samples"], summary["n_rejected"]) == (len(ROWS), 1)
    assert summary["calls"]["checked"] == len(ROWS)
    assert summary["calls"]["conform"] == len(ROWS) - 4
    assert summary["by_code"]["duplicate_sample"] == {"samples": 2, "findings": 2}
    assert summary["graph"] == summary["graph"] | {"edges": 8, "relations": 6, "origin": "graph.txt"}
    rejected = json.loads((tmp_path / "out" / "rejected.jsonl").read_text(encoding="utf-8"))
    assert (list(rejected), rejected["file"], rejected["line"]) == (["file", "line", "id", "reason"], "tea.jsonl", 10)
    assert summary["by_check"]["duplicates"] == {"pass": len(ROWS) - 2, "fail": 2, "unknown": 0}
    assert summary["n_failed"] == len(ROWS) - 1  # all but the placeholder
    assert json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8")) == summary


def test_an_audit_twice_is_the_same_byte_for_byte(planted: tuple[Path, Path], tmp_path: Path) -> None:
    for name in ("one", "two", "two"):  # the third goes over an earlier audit
        audit(Order(planted[0], graph=planted[1], repair=True), tmp_path / name, quiet)
    files = sorted(p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*") if p.is_file())
    assert {p.name for p in files} >= {"summary.json", "findings.jsonl", "report.html", "patches.jsonl", "left.jsonl", "rejected.jsonl"}
    assert all((tmp_path / "one" / p).read_bytes() == (tmp_path / "two" / p).read_bytes() for p in files)


def apply(document: Any, op: str, path: str, value: Any) -> None:
    """One operation of a JSON patch, as RFC 6902 has it."""
    *above, last = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]
    for part in above:
        document = document[int(part)] if isinstance(document, list) else document[part]
    if isinstance(document, list):
        if op == "add":
            document.insert(int(last), value)
        elif op == "remove":
            del document[int(last)]
        else:
            document[int(last)] = value
    elif op == "remove":
        del document[last]
    else:
        document[last] = value


def test_repair_mends_what_needs_no_judgement_and_leaves_the_rest_for_people(planted: tuple[Path, Path], tmp_path: Path) -> None:
    summary = audit(Order(planted[0], graph=planted[1], repair=True), tmp_path / "out", quiet)
    patched = tmp_path / "out" / "patched" / "tea.jsonl"
    before = dict(zip(ROWS, planted[0].read_text(encoding="utf-8").splitlines(), strict=False))
    after = dict(zip(ROWS, patched.read_text(encoding="utf-8").splitlines(), strict=True))
    changed = {name for name in ROWS if before[name] != after[name]}
    assert changed == {"number as text", "time in another form", "name with a space", "no link"}
    arguments = {name: json.loads(text)[3]["content"][0]["parameters"] for name, text in after.items()}
    assert arguments["number as text"] == {"tea": "tea_0009", "cups": 2}
    assert arguments["time in another form"] == {"tea": "tea_0009", "at": "07:30"}
    assert arguments["name with a space"] == {"tea": "tea_0009", "extra_wish": "honey"}
    assert f"({MOTHER})." in json.loads(after["no link"])[2]["content"]
    rules = {name: row["samples"] for name, row in summary["repair"]["by_rule"].items() if row["samples"]}
    assert rules == {"rename_parameter": 1, "coerce_type": 1, "write_time": 1, "link_to_speaker": 1}
    left = [json.loads(text) for text in (tmp_path / "out" / "left.jsonl").read_text(encoding="utf-8").splitlines()]
    doubles = {f"tea-{NUMBER['sound']}", f"tea-{NUMBER['twice']}"}
    assert {entry["sample_id"] for entry in left} == {f"tea-{NUMBER['missing']}", f"tea-{NUMBER['other relative']}"} | doubles
    assert {entry["sample_id"] for entry in left if entry["code"] == "duplicate_sample"} == doubles
    assert summary["repair"]["n_left"] == 4
    again = audit(Order(patched, graph=planted[1]), tmp_path / "again", quiet)
    assert again["n_failed"] == 4
    assert (tmp_path / "out" / "rejected_rows.txt").read_text(encoding="utf-8") == '{"role": "id"}\n'
    assert summary["repair"]["n_rejected_rows"] == 1


def test_patches_applied_to_the_old_sample_give_the_new_one(planted: tuple[Path, Path], tmp_path: Path) -> None:
    audit(Order(planted[0], graph=planted[1], repair=True), tmp_path / "out", quiet)
    document: dict[str, Any] = {"calls": [{"name": "order_tea", "arguments": dict(ROWS["name with a space"][2])}]}
    patches = [json.loads(text) for text in (tmp_path / "out" / "patches.jsonl").read_text(encoding="utf-8").splitlines()]
    for patch in patches:
        assert list(patch) == ["sample_id", "op", "path", "old", "new", "rule"]
        if patch["sample_id"] == f"tea-{NUMBER['name with a space']}" and patch["path"].startswith("/calls"):
            apply(document, patch["op"], patch["path"], patch["new"])
    assert document["calls"][0]["arguments"] == {"tea": "tea_0009", "extra_wish": "honey"}


def test_a_run_and_its_release_are_audited_with_their_own_graph_and_nothing_is_found(home: Made, tmp_path: Path) -> None:
    run = audit(Order(home.path), tmp_path / "run", quiet)
    release = audit(Order(home.path / "release"), tmp_path / "release", quiet)
    for summary in (run, release):
        assert summary["n_samples"] == len(home.samples)
        assert summary["n_failed"] == 0
        assert set(summary["by_code"]) <= {"unused_edge"}
        assert summary["calls"]["conform_share"] == 1.0
    assert run["by_check"] == release["by_check"]
    assert run["graph"]["edges"] == release["graph"]["edges"] == sum(map(len, home.graphs.values()))


def test_an_empty_file_of_samples_is_no_success_and_no_exception(tmp_path: Path) -> None:
    """val-031: rates are null."""
    (tmp_path / "samples.jsonl").write_text("", encoding="utf-8")
    summary = audit(Order(tmp_path / "samples.jsonl", "familytool"), tmp_path / "out", quiet)
    assert (summary["n_samples"], summary["failed_share"], summary["calls"]["conform_share"]) == (0, None, None)
    assert tables.tables_available() is False or summary["tables"]["success"] is False


def test_markup_in_samples_is_text_in_the_report(planted: tuple[Path, Path], tmp_path: Path) -> None:
    text = planted[0].read_text(encoding="utf-8").replace("honey", "<script>alert(1)</script>")
    planted[0].write_text(text, encoding="utf-8")
    audit(Order(planted[0], graph=planted[1]), tmp_path / "out", quiet)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_the_graph_is_the_union_of_golden_triples_where_none_is_given_and_the_summary_says_so(
    planted: tuple[Path, Path], tmp_path: Path
) -> None:
    summary = audit(Order(planted[0]), tmp_path / "out", quiet)
    assert "none was given" in summary["graph"]["origin"]
    assert summary["graph"]["unused"] == 0


def test_a_path_a_format_and_a_graph_that_are_not_there_are_one_sentence(planted: tuple[Path, Path], tmp_path: Path) -> None:
    for order in (
        Order(tmp_path / "no.jsonl"),
        Order(planted[0], "nonsense"),
        Order(planted[0], graph=tmp_path / "no.txt"),
        Order(planted[1]),
    ):
        with pytest.raises(FamilytoolError) as caught:
            audit(order, tmp_path / "out", quiet)
        assert "\n" not in str(caught.value)


def test_fail_on_takes_codes_any_and_codes_of_ones_own_and_names_a_slip() -> None:
    assert [code for code in CODES if failing_codes("any")(code)] == [code for code in CODES if code not in HARMLESS]
    assert failing_codes("type_mismatch, unused_edge")("unused_edge")
    assert not failing_codes(None)("type_mismatch")
    assert [code for code in ("type_mismatch", "unused_edge", "legal_by_default") if failing_codes("unused_edge,any")(code)] == [
        "type_mismatch",
        "unused_edge",
    ]
    assert not failing_codes("any", ["answer_leaked"])("answer_leaked")
    assert not failing_codes("answer_leaked", ["answer_leaked"])("answer_leaked")
    for nothing in ("", " ", ","):
        with pytest.raises(UsageError, match="names no code"):
            failing_codes(nothing)
    assert failing_codes("+tone")("tone")
    assert failing_codes("tone", has_own_checks=True)("tone")
    with pytest.raises(UsageError, match="is no code"):
        failing_codes("tone")
    with pytest.raises(UsageError, match="did you mean 'type_mismatch'"):
        failing_codes("typ_mismatch")


def test_calls_of_candidates_whose_schema_cannot_be_used_are_not_counted_as_not_offered() -> None:
    counts = Conformity()
    for name, schema in (("order_tea", {"type": "object", "$ref": "#/nowhere"}), ("find_shop", {"type": "object"})):
        tool, call = Tool(name=name, parameters=schema), ToolCall(name="order_tea", arguments={})
        sample = Sample(
            id="t", benchmark="t", kind="no_graph", speaker="", query="Tea.", graph_id="", candidate_tools=(tool,), calls=(call,)
        )
        counts.add(sample, check_sample(sample, KnowledgeGraph()))
    assert (counts.checked, counts.unusable_schema, counts.not_offered) == (0, 1, 1)


PUBLISHED = {
    # familytool.md 1.5: set -> code -> (samples, numbers of samples that must be among them)
    "b": {
        "missing_required": (119, {30, 32, 36}), "unknown_parameter": (30, {56, 208, 311, 446}),
        "type_mismatch": (11, {293, 356, 357, 358, 359, 360, 466, 467, 468, 469, 470}),
        "format_mismatch": (9, {130, 131, 132, 133, 466, 467, 468, 469, 470}),
        "disconnected_golden": (5, {36, 177, 246, 247, 248}), "duplicate_sample": (2, {431, 434}), "wrong_entity": (None, {301}),
        "kinship_mismatch": (None, {101, 202, 315, 351}),
    },
    "v0": {"missing_required": (119, {30}), "disconnected_golden": (10, {36, 37, 38, 177, 178, 246, 247, 248, 441, 445}), "tool_not_offered": (2, {181, 297})},
    "e": {
        "missing_required": (114, set()), "unknown_parameter": (27, set()), "type_mismatch": (11, set()),
        "disconnected_golden": (1, {165}), "duplicate_sample": (2, {203, 408}), "kinship_mismatch": (None, {46, 333}),
    },
}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("version", PUBLISHED)
def test_the_published_sets_give_the_counts_of_the_specification(version: str, foreign_data: Callable[[str], Path], tmp_path: Path) -> None:
    folder = foreign_data("familytool")
    order = Order(folder / f"familytool-{version}.jsonl", graph=folder / f"familykg-{version}.txt")
    summary = audit(order, tmp_path / "out", quiet)
    ids: dict[str, set[int]] = {}
    facts: dict[str, list[str]] = {}
    for text in (tmp_path / "out" / "findings.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(text)
        if entry["sample_id"]:
            ids.setdefault(entry["code"], set()).add(int(entry["sample_id"].rsplit("-", 1)[1]))
        else:
            facts.setdefault(entry["code"], []).append(entry["path"])
    for code, (samples, some) in PUBLISHED[version].items():
        assert samples in (None, len(ids[code])), code
        assert some <= ids[code], code
    assert facts.get("inverse_conflict", []) == ([] if version == "e" else ["/graph/Jack/mother/Alice"])
    assert facts.get("name_anomaly", []) == ([] if version == "e" else ["/graph/Bob/prefer_travel_city/prefer_travel_city_0000"])
    assert summary["graph"]["unused"] == {"v0": 0, "b": 1, "e": 300}[version]
    assert "triple_not_in_graph" not in ids


def test_an_audit_into_the_folder_of_its_source_is_refused_and_removes_nothing(planted: tuple[Path, Path], tmp_path: Path) -> None:
    audit(Order(planted[0], graph=planted[1], repair=True), tmp_path / "out", quiet)
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    copy = next((tmp_path / "out" / "patched").glob("*.jsonl"))
    for order in (Order(copy), Order(planted[0], graph=copy), Order(tmp_path / "out")):
        with pytest.raises(UsageError, match="lies in it and would be written over; choose another folder"):
            audit(order, tmp_path / "out", quiet)
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == before


def recount(out: Path) -> dict[str, Any]:
    """What findings.jsonl alone says: codes (samples, findings), failed samples by check, and all failed samples."""
    by_code: dict[str, tuple[set[str], int]] = {}
    failed: dict[str, set[str]] = {}
    for text in (out / "findings.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(text)
        samples, number = by_code.get(entry["code"], (set(), 0))
        by_code[entry["code"]] = (samples | {entry["sample_id"]} - {""}, number + 1)
        if entry["verdict"] == "fail" and entry["sample_id"]:
            failed.setdefault(entry["check"], set()).add(entry["sample_id"])
    return {
        "by_code": {code: {"samples": len(samples), "findings": number} for code, (samples, number) in by_code.items()},
        "fail": {check: len(ids) for check, ids in failed.items()},
        "n_failed": len(set().union(*failed.values())),
    }


def check_counts(summary: dict[str, Any], out: Path) -> None:
    counted = recount(out)
    assert counted["by_code"] == summary["by_code"]
    assert counted["fail"] == {check: verdicts["fail"] for check, verdicts in summary["by_check"].items() if verdicts["fail"]}
    assert counted["n_failed"] == summary["n_failed"]
    assert sum(row["failed"] for row in summary["by_hop"].values()) == summary["n_failed"]
    assert all(sum(verdicts.values()) == summary["n_samples"] for verdicts in summary["by_check"].values())
    assert f"{summary['n_failed']:,}" in (out / "report.html").read_text(encoding="utf-8")


def test_all_counts_are_those_of_the_findings(planted: tuple[Path, Path], tmp_path: Path) -> None:
    check_counts(audit(Order(planted[0], graph=planted[1]), tmp_path / "out", quiet), tmp_path / "out")


@pytest.mark.full
@pytest.mark.parametrize(
    "name",
    ["familytool/familytool-b.jsonl", "bfcl/BFCL_v4_live_simple.json", "mtu-bench", "nestful", "seal-tools", "api-bank/level-1-given-desc"],
)
def test_all_counts_of_published_sets_are_those_of_the_findings(name: str, foreign_data: Callable[[str], Path], tmp_path: Path) -> None:
    folder, _, rest = name.partition("/")
    summary = audit(Order(foreign_data(folder) / rest), tmp_path / "out", quiet)
    check_counts(summary, tmp_path / "out")
    # Every verdict that is left open has its reason.
    unknown = {check: verdicts["unknown"] for check, verdicts in summary["by_check"].items() if verdicts["unknown"]}
    told: dict[str, set[str]] = {}
    for text in (tmp_path / "out" / "findings.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(text)
        if entry["verdict"] == "unknown" and entry["code"] in UNDECIDED:
            told.setdefault(entry["check"], set()).add(entry["sample_id"])
    assert {check: len(ids) for check, ids in told.items()} == unknown


def test_each_finding_says_where_its_sample_stands(planted: tuple[Path, Path], tmp_path: Path) -> None:
    audit(Order(planted[0], graph=planted[1]), tmp_path / "out", quiet)
    for text in (tmp_path / "out" / "findings.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(text)
        number = int(entry["sample_id"].rsplit("-", 1)[1]) + 1 if entry["sample_id"] else None
        assert (entry["file"], entry["line"]) == ("tea.jsonl" if number else None, number)


def test_rows_of_the_graph_that_cannot_be_read_are_told(planted: tuple[Path, Path], tmp_path: Path) -> None:
    planted[1].write_text(planted[1].read_text(encoding="utf-8") + "['a', 'b']\n", encoding="utf-8")
    summary = audit(Order(planted[0], graph=planted[1]), tmp_path / "out", quiet)
    rows = [json.loads(text) for text in (tmp_path / "out" / "rejected.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["file"], row["line"]) for row in rows] == [("tea.jsonl", 10), ("graph.txt", 9)]
    assert (summary["n_rejected"], len(summary["graph"]["not_read"])) == (1, 1)
    assert "rejected" in found_codes(summary)


def test_a_file_that_is_left_out_is_no_rejected_row(planted: tuple[Path, Path], tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "tea.jsonl").write_bytes(planted[0].read_bytes())
    (folder / "other.jsonl").write_text('{"x": 1}\n', encoding="utf-8")
    summary = audit(Order(folder), tmp_path / "out", quiet)
    assert summary["n_rejected"] == 1
    assert len(summary["files_left_out"]) == 1
    assert "other.jsonl" in summary["files_left_out"][0]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 0),
        (("--fail-on", "any"), 1),
        (("--fail-on", "rejected"), 1),
        (("--fail-on", "kinship_mismatch"), 1),
        (("--fail-on", "answer_leaked"), 0),
        (("--fail-on", "+answer_leaked"), 0),
        (("--fail-on", "kinship_mismach"), 2),
        (("--fail-on", ""), 2),
    ],
)
def test_the_exit_code_is_0_with_findings_and_1_with_those_that_fail_on_names(
    options: tuple[str, ...], code: int, planted: tuple[Path, Path], tmp_path: Path
) -> None:
    program = [sys.executable, "-c", "from familytool.cli import main; main()"]
    command = [*program, "audit", str(planted[0]), "--graph", str(planted[1]), "--out", str(tmp_path / "out")]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert ("1 row could not be read" in done.stdout) == (code != 2)
