"""Benchmarks through `convert`: samples where the target carries them, documents otherwise, row by row and with an account."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from familytool.errors import FamilytoolError, UsageError
from familytool.formats.benchmark_files import Source
from familytool.formats.benchmarks import BENCHMARK_FORMATS, detect_benchmark
from familytool.formats.convert import Account, Order, convert_pieces, convert_text, files_of_target, rows_of, writable
from familytool.formats.convert_files import count_rows, rejection, write_pieces
from familytool.formats.documents import read_documents
from familytool.model import Sample, Tool, ToolCall
from familytool.runs import line
from tests.made import Made, familytool

SCHEMA = {"type": "object", "properties": {"tea": {"type": "string"}}, "required": ["tea"], "additionalProperties": False}
BREW = Tool(name="brew", description="Brew.", parameters=SCHEMA)


def sample(number: int, **update: Any) -> Sample:
    fields: dict[str, Any] = {
        "id": f"set-{number}", "benchmark": "set", "kind": "no_graph", "speaker": "", "query": f"Tea {number}.", "graph_id": "",
        "candidate_tools": (BREW,), "calls": (ToolCall(name="brew", arguments={"tea": "mint"}),),
    }  # fmt: skip
    return Sample(**{**fields, **update})


def place(path: Path, samples: list[Sample], *more: str) -> Path:
    path.write_text("".join([*map(line, samples), *more]), encoding="utf-8")
    return path


def converted(order: Order, out: Path) -> Account:
    pieces, account = convert_pieces(order)
    write_pieces(pieces, out, len(files_of_target(order)) > 1)
    return account


WRITABLE = [name for name, known in BENCHMARK_FORMATS.items() if known.write_samples]


@pytest.mark.parametrize("name", WRITABLE)
def test_the_samples_of_a_run_go_through_every_writable_format_and_come_back(name: str, home: Made, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    account = converted(Order(home.path, "auto", name), out)
    assert account.read == len(home.samples)
    assert account.kept + len(account.rejected) == account.read
    assert account.source_format == "familytool"
    assert len(account.rejected) == (sum(not s.golden_triples for s in home.samples) if name == "familytool-2025" else 0)
    benchmark = home.path.resolve().name
    rows = out / BENCHMARK_FORMATS[name].files[0].format(benchmark) if out.is_dir() else out
    assert detect_benchmark(rows) == name
    back = convert_pieces(Order(rows, "auto", "familytool"))
    again = [json.loads(text) for _, text in back[0]]
    assert (back[1].kept, back[1].rejected) == (account.kept, [])
    told = [
        (s.query, [c.model_dump() for c in s.calls], [t.name for t in s.candidate_tools])
        for s in home.samples
        if s.golden_triples or name != "familytool-2025"
    ]
    assert [(r["query"], r["calls"], [t["name"] for t in r["candidate_tools"]]) for r in again] == told


def test_a_run_folder_stands_for_its_samples_also_for_their_documents(home: Made, tmp_path: Path) -> None:
    account = converted(Order(home.path, "auto", "openai"), tmp_path / "tools.json")
    offered = {tool.name for s in home.samples for tool in s.candidate_tools}
    assert account.kept == len(offered)
    assert {tool.name for tool in read_documents(tmp_path / "tools.json")} == offered
    assert rows_of(home.path) == home.path / "samples.jsonl"


@pytest.fixture
def bfcl(tmp_path: Path) -> Path:
    """A BFCL file of three rows (the second has no answer), with its answers."""
    document = {
        "name": "brew",
        "description": "",
        "parameters": {"type": "dict", "properties": {"tea": {"type": "string"}}, "required": []},
    }
    rows = [{"id": f"simple_{n}", "question": [[{"role": "user", "content": "Tea."}]], "function": [document]} for n in range(3)]
    answers = [{"id": f"simple_{n}", "ground_truth": [{"brew": {"tea": ["a", "b"][: n + 1]}}]} for n in (0, 2)]
    (tmp_path / "possible_answer").mkdir()
    for path, entries in ((tmp_path / "BFCL_v4_simple.json", rows), (tmp_path / "possible_answer" / "BFCL_v4_simple.json", answers)):
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return tmp_path / "BFCL_v4_simple.json"


RULE = {
    "a benchmark to a format of samples": ("auto", "familytool", False, "samples"),
    "a name of both is of the samples": ("auto", "bfcl", False, "samples"),
    "the same by name": ("bfcl", "xlam", False, "samples"),
    "a benchmark to a format of documents": ("auto", "openai", False, "tool documents"),
    "only its documents": ("auto", "bfcl", True, "tool documents"),
    "only its documents, by name": ("bfcl", "familytool-2025", True, "tool documents"),
}


@pytest.mark.parametrize(("source", "target", "only", "what"), RULE.values(), ids=RULE.keys())
def test_samples_are_converted_where_both_sides_carry_them(
    source: str, target: str, only: bool, what: str, bfcl: Path, tmp_path: Path
) -> None:
    account = converted(Order(bfcl, source, target, only), tmp_path / "out")
    assert (account.what, account.source_format) == (what, "bfcl")
    assert account.kept == (1 if what == "tool documents" or target == "xlam" else 2)


def test_tool_documents_stay_tool_documents_whatever_the_name_of_the_target_means(bfcl: Path, tmp_path: Path) -> None:
    converted(Order(bfcl, "auto", "bfcl", only_tools=True), tmp_path / "tools.jsonl")
    account = converted(Order(tmp_path / "tools.jsonl", "bfcl", "bfcl"), tmp_path / "again.jsonl")
    assert account.what == "tool documents"
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "tools.jsonl").read_bytes()


def test_the_account_adds_up_and_says_file_line_id_and_reason(bfcl: Path, tmp_path: Path) -> None:
    account = converted(Order(bfcl, "auto", "xlam"), tmp_path / "out.jsonl")
    assert (account.read, account.kept) == (3, 1)
    assert sorted((rejection(sentence) for sentence in account.rejected), key=lambda r: int(r["line"])) == [
        {
            "file": "BFCL_v4_simple.json",
            "line": 2,
            "id": "simple_1",
            "reason": "no answer in possible_answer/BFCL_v4_simple.json has this id",
        },
        {
            "file": "BFCL_v4_simple.json",
            "line": 3,
            "id": "simple_2",
            "reason": "it accepts alternatives, and a row has one list of answers",
        },
    ]


def test_a_row_is_counted_where_its_place_is_of_another_file(tmp_path: Path) -> None:
    path = place(tmp_path / "rows.jsonl", [sample(1), sample(2, alternatives=((),)), sample(3)], "{\n", line(sample(4, alternatives=((),))))
    account = converted(Order(path, "auto", "xlam"), tmp_path / "out.jsonl")
    assert (account.read, account.kept) == (5, 2)
    assert [(r["line"], r["id"]) for r in map(rejection, account.rejected)] == [(2, "set-2"), (4, ""), (5, "set-4")]


PLACES = {
    "rows.jsonl:7: no JSON": ("rows.jsonl", 7, "", "no JSON"),
    "rows.json, entry 7 (a (b)): no (such): call": ("rows.json", 7, "a (b)", "no (such): call"),
    "all/test.parquet, row 3 (x): odd": ("all/test.parquet", 3, "x", "odd"),
    "odd: name.jsonl:3: no": ("", None, "", "odd: name.jsonl:3: no"),
    "a sentence": ("", None, "", "a sentence"),
}


@pytest.mark.parametrize(("sentence", "parts"), PLACES.items(), ids=PLACES.keys())
def test_a_rejection_is_taken_apart(sentence: str, parts: tuple[Any, ...]) -> None:
    assert tuple(rejection(sentence).values()) == parts


def test_samples_stream() -> None:
    """No row is read before the one before it is written."""
    read: list[int] = []

    def rows() -> Iterator[Sample]:
        for number in itertools.count():
            read.append(number)
            yield sample(number)

    for name in WRITABLE:
        read.clear()
        triples = {"golden_triples": [{"head": "A", "relation": "r", "tail": "B"}], "speaker": "A"}
        write = BENCHMARK_FORMATS[name].write_samples
        assert write is not None
        source = (Sample.model_validate({**s.model_dump(), **triples}) for s in rows())
        pieces = write(source, "set")
        for number in range(3):
            next(pieces)
            assert len(read) <= number + 1


def test_a_conversion_that_fails_leaves_what_was_there(bfcl: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("before", encoding="utf-8")
    (bfcl.parent / "possible_answer" / bfcl.name).unlink()
    with pytest.raises(FamilytoolError, match="the golden answers are missing"):
        converted(Order(bfcl, "auto", "familytool"), out)
    assert out.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.glob("*.part")) == []


MISTAKES = {
    "no such path": (("gone", "auto", "openai"), "gone: no such file or folder"),
    "no such format": (("rows", "auto", "opnai"), "--to opnai: no format; can be written: .*familytool"),
    "read only": (("rows", "auto", "seal-tools"), "--to seal-tools: a format that is read only"),
    "no such source format": (("rows", "xlm", "openai"), "--from xlm: no format of tool documents or benchmarks; there are .*xlam"),
    "samples out of documents": (("tools", "auto", "familytool"), "it carries samples, and .* holds none of a known benchmark"),
    "documents in a format of samples": (("rows", "auto", "familytool", True), "familytool has no form for tool documents alone"),
}


@pytest.mark.parametrize(("words", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_told_with_the_way_out(words: tuple[Any, ...], message: str, tmp_path: Path) -> None:
    place(tmp_path / "rows", [sample(1)])
    (tmp_path / "tools").write_text(json.dumps([{"name": "f", "description": "d", "parameters": {}}]), encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        convert_pieces(Order(tmp_path / words[0], *words[1:]))


def test_a_format_of_several_files_wants_a_folder_and_any_other_a_file(tmp_path: Path) -> None:
    path = place(tmp_path / "rows.jsonl", [sample(1)])
    with pytest.raises(UsageError, match="name a folder with --out"):
        convert_text(path, "auto", "bfcl")
    with pytest.raises(UsageError, match="so name a folder"):
        converted(Order(path, "auto", "bfcl"), path)
    with pytest.raises(UsageError, match="this is a folder; name a file"):
        converted(Order(path, "auto", "xlam"), tmp_path)


def test_every_name_that_can_be_written_is_listed_once() -> None:
    assert len(writable()) == len(set(writable()))
    assert {"bfcl", "familytool", "openai", "graphml"} <= set(writable())
    assert "familytool" not in writable(only_tools=True)


def test_the_rows_of_a_file_are_counted_for_the_bar(tmp_path: Path) -> None:
    assert count_rows(place(tmp_path / "rows.jsonl", [sample(n) for n in range(5)])) == 5
    assert count_rows(tmp_path) is None


def test_the_program_converts_and_tells_what_it_did(bfcl: Path, tmp_path: Path) -> None:
    done = familytool("convert", bfcl, "--to", "familytool", "--out", "rows.jsonl", "--rejected", "no.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines() == [
        "  BFCL_v4_simple.json:2 (simple_1): no answer in possible_answer/BFCL_v4_simple.json has this id",
        f"{bfcl} (bfcl) -> familytool: 3 samples read, 2 kept, 1 rejected",
    ]
    assert json.loads((tmp_path / "no.jsonl").read_text("utf-8"))["id"] == "simple_1"
    done = familytool("convert", "rows.jsonl", "--to", "bfcl", "--out", "back", cwd=tmp_path)
    assert done.returncode == 0
    written = (tmp_path / "back" / "BFCL_v4_rows.json").read_text("utf-8").splitlines()
    assert written == [text for text in bfcl.read_text("utf-8").splitlines() if "simple_1" not in text]
    answers = (tmp_path / "back" / "possible_answer" / "BFCL_v4_rows.json").read_bytes()
    assert answers == (bfcl.parent / "possible_answer" / bfcl.name).read_bytes()


def test_nothing_kept_is_a_failure_that_names_the_other_way(bfcl: Path, tmp_path: Path) -> None:
    done = familytool("convert", bfcl, "--to", "familytool-2025", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "3 samples read, 0 kept, 3 rejected" in done.stderr
    assert "--only tools" in done.stderr
    done = familytool("convert", bfcl, "--to", "bfcl", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "familytool: --to bfcl: this format is several files; name a folder with --out.\n")


def test_the_list_of_formats_shows_tools_benchmarks_and_graphs_and_the_help_says_the_rule() -> None:
    shown = familytool("formats").stdout
    assert all(f"│ {of} " in shown for of in ("tools", "benchmark", "graph"))
    help_text = " ".join(familytool("convert", "--help").stdout.split())
    assert (
        "the samples where SRC is a benchmark and --to a benchmark format that is written; else (and with --only tools) the tool documents"
        in help_text
    )


def test_ids_of_a_foreign_set_stay_the_same_through_our_own_format(bfcl: Path) -> None:
    rejected: list[str] = []
    samples = list(BENCHMARK_FORMATS["bfcl"].read_samples(Source(bfcl, "b"), rejected))
    assert [s.id for s in samples] == ["b-simple_0", "b-simple_2"]


def test_the_documents_beside_the_rows_of_a_folder_are_taken_where_the_rows_are_no_documents(tmp_path: Path) -> None:
    folder = tmp_path / "oven"
    folder.mkdir()
    loaf = {
        "api_name": "bakeLoaf",
        "api_description": "d",
        "field": "f",
        "parameters": {"flour": {"type": "str"}},
        "required": [],
        "responses": {},
    }
    (folder / "tool.jsonl").write_text(json.dumps(loaf) + "\n", encoding="utf-8")
    asked = {"id": "dev-1", "query": "Bake.", "calling": [{"api": "bakeLoaf", "parameters": {"flour": "rye"}, "responses": []}]}
    (folder / "dev.jsonl").write_text(json.dumps(asked) + "\n", encoding="utf-8")
    account = converted(Order(folder, "auto", "openai", only_tools=True), tmp_path / "out.json")
    assert (account.what, account.source_format, account.kept, account.rejected) == ("tool documents", "seal-tools", 1, [])
    assert [tool.name for tool in read_documents(tmp_path / "out.json")] == ["bakeLoaf"]


def test_a_folder_without_rows_of_the_format_is_told_as_such(tmp_path: Path) -> None:
    place(tmp_path / "rows.jsonl", [sample(1)])
    with pytest.raises(FamilytoolError, match="no file with rows of this format; name the file itself"):
        converted(Order(tmp_path, "xlam", "familytool"), tmp_path / "out.jsonl")
