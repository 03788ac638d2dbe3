"""The audit of a whole benchmark: every check over every sample, the graph itself, and the set as a table.

Samples pass as a stream; what stays in memory is counts, the graph, one hash a sample (duplicates), a few plain columns a sample
where the table rules run, and some examples of each code for the report.
"""

from __future__ import annotations

import contextlib
import difflib
import json
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeAlias

from familytool import __version__, tables
from familytool.errors import FamilytoolError, UsageError
from familytool.formats import familytool_release, familytool_samples
from familytool.formats.benchmark_files import LeftOut, Source, holds_lines, whole_value
from familytool.formats.benchmarks import BENCHMARK_FORMATS, detect_benchmark, read_benchmark
from familytool.formats.convert_files import rejection
from familytool.formats.graphs import read_graph_file
from familytool.graph import KnowledgeGraph
from familytool.model import Check, Finding, Sample, Verdict
from familytool.runs import file_hash, line, read_graphs
from familytool.validation.audit_folder import PART, SUMMARY, WRITTEN, audit_folder
from familytool.validation.audit_report import Example, render_audit
from familytool.validation.checks import ALL_CHECKS, Checks, check_sample
from familytool.validation.codes import CODES, HARMLESS
from familytool.validation.conformity import Conformity
from familytool.validation.duplicates import Duplicates
from familytool.validation.graph_checks import check_graph
from familytool.validation.relatives import KinshipRecall
from familytool.validation.repair import Patch, Pool, RepairAccount, repair_samples
from familytool.validation.summary import Tally, finding_rows

EXAMPLES = 5
"""Findings of each code that the report shows."""
MAX_REJECTED = 1_000
"""Rows that could not be read are all counted and written to rejected.jsonl; so many stand in summary.json."""

Progress = Callable[[str, int, int], None]
Late: TypeAlias = tuple[str, Finding]
"""A failure that only the whole set shows, and its sample ("" for the graph)."""


@dataclass(frozen=True)
class Order:
    """What to audit, and how.

    `graph` is a graph file in any form (None: the graph of a run or release, else the union of all golden triples); `documents` are
    tool documents that a format keeps apart from its rows; `ignored` are codes that are told and fail nothing; `repair` writes a patched copy, `data_docs` the pages of Great Expectations.
    """

    path: Path
    format_name: str = "auto"
    graph: Path | None = None
    documents: Path | None = None
    checks: Checks = field(default_factory=lambda: ALL_CHECKS)
    ignored: frozenset[str] = frozenset()
    repair: bool = False
    data_docs: bool = False


def audit(order: Order, out: Path, progress: Progress) -> dict[str, Any]:
    """Run all of it over one benchmark; write summary.json, findings.jsonl, report.html and what was asked for beside them.

    Returns the content of summary.json. `progress` is called with (what, done, of); `of` is 0 while the number is not known.

    Raises:
        UsageError: a path or format that is not there, or an output folder that holds something else.
        FamilytoolError: a file that cannot be read, or in which no sample could be read.
    """
    _refuse_own_input(order, out)
    benchmark = _Benchmark.open(order)
    examples: dict[str, list[Example]] = {}
    with audit_folder(out) as folder:
        summary, late = _audited(benchmark, order, folder, examples, progress)
        if order.repair:
            summary["repair"] = _repaired(benchmark, order, folder, summary["n_samples"], late, progress)
        (folder / "report.html").write_text(render_audit(summary, examples), encoding="utf-8")
        (folder / SUMMARY).write_text(json.dumps(summary, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    result: dict[str, Any] = json.loads((out / SUMMARY).read_text(encoding="utf-8"))
    return result


REJECTED = "rejected"
"""What `--fail-on` calls rows, of the benchmark or its graph, that could not be read."""


def failing_codes(wanted: str | None, ignored: Collection[str] = (), has_own_checks: bool = False) -> Callable[[str], bool]:
    """What `--fail-on` asks for: None nothing; codes separated by commas, "any" among them for every code but the harmless ones.

    Rows that could not be read have the code `rejected`. Codes that the campaign ignores (`ignored`) never count. A campaign
    with checks of its own may have codes of its own; elsewhere a leading `+` says that a code is meant so.

    Raises:
        UsageError: no code at all, or a name that is none.
    """
    if wanted is None:
        return lambda _: False
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    if not names:
        raise UsageError("--fail-on: it names no code; give CODE[,CODE] or any.")
    known = [*CODES, REJECTED, "any"]
    for name in names:
        if name in known or name.startswith("+"):
            continue
        near = difflib.get_close_matches(name, known, 1)
        if near or not has_own_checks:
            hint = f"did you mean '{near[0]}'?" if near else f"codes are any, {REJECTED}, {', '.join(CODES)}."
            raise UsageError(f"--fail-on: '{name}' is no code; {hint} Write +{name} for a code of your own check.")
    chosen = {name.removeprefix("+") for name in names}
    return lambda code: code not in ignored and (code in chosen or ("any" in chosen and code not in HARMLESS))


def found_codes(summary: Mapping[str, Any]) -> list[str]:
    """The codes of a summary, `rejected` among them if a row of the benchmark or of its graph could not be read."""
    is_rejected = summary["n_rejected"] or (summary["graph"] or {}).get("not_read")
    return [*summary["by_code"], *([REJECTED] if is_rejected else [])]


def _refuse_own_input(order: Order, out: Path) -> None:
    """Raise UsageError if what is to be read lies where the audit is to be written: it would be removed first."""
    target = out.resolve()
    for source in (order.path, order.graph, order.documents):
        inside = source.resolve().relative_to(target).parts if source is not None and source.resolve().is_relative_to(target) else None
        if inside is not None and (not inside or inside[0] in (*WRITTEN, PART)):
            raise UsageError(f"--out {out}: {source} lies in it and would be written over; choose another folder.")


@dataclass
class _Benchmark:
    """A benchmark that can be read as often as needed, and the graph of each sample."""

    source: Source
    format_name: str
    graphs: dict[str, KnowledgeGraph]
    graph_origin: str
    for_all: KnowledgeGraph | None = None
    graph_rejected: list[str] = field(default_factory=list)

    @classmethod
    def open(cls, order: Order) -> _Benchmark:
        """Find the format and the graph (UsageError or FamilytoolError where there is none)."""
        path = order.path / "samples.jsonl" if (order.path / "samples.jsonl").is_file() else order.path
        if not path.exists():
            raise UsageError(f"{path}: no such file or folder.")
        named = path.parent.resolve().name if path.name == "samples.jsonl" else path.resolve().stem
        source = Source(path, named, order.documents, named if order.graph is not None else "")
        name = detect_benchmark(path) if order.format_name == "auto" else order.format_name
        benchmark = cls(source, name, {}, "")
        if order.graph is not None:
            benchmark.for_all = read_graph_file(order.graph, named, benchmark.graph_rejected)
            benchmark.graph_origin = f"{order.graph.name}"
        elif name == familytool_release.NAME:
            benchmark.graphs, benchmark.graph_origin = familytool_release.read_graphs(path), "the release's own"
        elif name == familytool_samples.NAME and (path.parent / "graph.jsonl").is_file():
            benchmark.graphs, benchmark.graph_origin = read_graphs(path.parent / "graph.jsonl"), "graph.jsonl beside the samples"
        else:
            benchmark._take_golden_triples()
        return benchmark

    def _take_golden_triples(self) -> None:
        for sample in self.samples([]):
            for triple in sample.golden_triples:
                self.graphs.setdefault(sample.graph_id, KnowledgeGraph(graph_id=sample.graph_id)).add(triple)
        if self.graphs:
            self.graph_origin = (
                "none was given, so it is the union of all golden triples: a triple that is in no graph, and unused facts, cannot show"
            )

    def samples(self, rejected: list[str]) -> Iterator[Sample]:
        """All samples, from the start; rows that cannot be read go into `rejected`."""
        return read_benchmark(self.source, rejected, self.format_name or "auto")

    def graph_of(self, sample: Sample) -> KnowledgeGraph:
        """The graph in which a sample's golden triples stand; an empty one where there is none."""
        if self.for_all is not None:
            return self.for_all
        return self.graphs.get(sample.graph_id) or KnowledgeGraph(graph_id=sample.graph_id)

    def all_graphs(self) -> list[KnowledgeGraph]:
        """Every graph."""
        return [self.for_all] if self.for_all is not None else list(self.graphs.values())


def _audited(
    benchmark: _Benchmark, order: Order, out: Path, examples: dict[str, list[Example]], progress: Progress
) -> tuple[dict[str, Any], list[Late]]:
    """The first pass: checks, duplicates, graph and table; findings.jsonl and rejected.jsonl are written.

    Gives the summary, and (sample id or "", finding) of each failure that only the whole set shows.
    """
    rejected: list[str] = []
    tally, conformity, duplicates, kinship = Tally(), Conformity(), Duplicates(), KinshipRecall()
    places = _Places(benchmark)
    used: dict[str, KnowledgeGraph] = {}
    with _open(out / "findings.jsonl") as findings:

        def checked() -> Iterator[Sample]:
            for sample in benchmark.samples(rejected):
                verdicts = check_sample(sample, benchmark.graph_of(sample), order.checks)
                place = places.add(sample)
                tally.add(sample, verdicts)
                conformity.add(sample, verdicts)
                duplicates.add(sample)
                kinship.add(sample, benchmark.graph_of(sample))
                if sample.golden_triples:
                    golden = used.get(sample.graph_id) or used.setdefault(sample.graph_id, KnowledgeGraph())
                    for triple in sample.golden_triples:
                        golden.add(triple)
                for check in verdicts:
                    findings.writelines(line(row) for row in finding_rows(sample.id, check, **place))
                    for finding in (*check.findings, *check.left_open):
                        shown = examples.setdefault(finding.code, [])
                        if len(shown) < EXAMPLES and all(example.sample_id != sample.id for example in shown):
                            shown.append(Example.of(sample, finding))
                progress("check", tally.n_samples, 0)
                yield sample

        table = _table(checked(), out, order)
        if not tally.n_samples and rejected:
            raise FamilytoolError(f"{benchmark.source.path}: no sample could be read; the first reason: {rejected[0]}.")
        late = _late_findings(benchmark, duplicates, used, tally)
        for number, check in late:
            findings.writelines(line(row) for row in finding_rows(check.sample_id, check, **places.of(number)))
            for finding in check.findings:
                shown = examples.setdefault(finding.code, [])
                if len(shown) < EXAMPLES:
                    shown.append(Example(check.sample_id, "", "", "", (), finding))
    unread = [sentence for sentence in rejected if not isinstance(sentence, LeftOut)]
    left_out = [sentence for sentence in rejected if isinstance(sentence, LeftOut)]
    with _open(out / "rejected.jsonl") as file:
        file.writelines(line(rejection(sentence)) for sentence in rejected)
        graph_file = order.graph.name if order.graph is not None else ""
        for row in map(rejection, benchmark.graph_rejected):
            file.write(line({**row, "file": row["file"] or graph_file}))
    counts = tally.as_json()
    for code in order.ignored & counts["by_code"].keys():
        counts["by_code"][code]["ignored"] = True
    late_rows = [(check.sample_id, finding) for _, check in late if check.verdict == "fail" for finding in check.findings]
    return {
        "familytool": __version__,
        "source": _provenance(benchmark),
        **{key: counts.pop(key) for key in ("n_samples", "n_failed", "failed_share")},
        "n_rejected": len(unread),
        "calls": conformity.as_json(),
        **counts,
        "duplicates": duplicates.as_json(),
        "graph": _graph_facts(benchmark, used),
        "kinship": kinship.as_json(),
        "tables": table,
        "rejected": unread[:MAX_REJECTED],
        "files_left_out": left_out[:MAX_REJECTED],
    }, late_rows


def _table(samples: Iterator[Sample], out: Path, order: Order) -> dict[str, Any]:
    """The table rules over the stream, which is read to its end in any case."""
    if not tables.tables_available():
        for _ in samples:
            pass
        if order.data_docs:
            raise FamilytoolError("--data-docs needs Great Expectations: pip install 'familytool[tables]'.")
        return {"not_run": "not run: Great Expectations is not installed (pip install 'familytool[tables]')"}
    return tables.check_table(samples, tables.Expected(), out / "data_docs" if order.data_docs else None).as_json()


def _late_findings(
    benchmark: _Benchmark, duplicates: Duplicates, used: dict[str, KnowledgeGraph], tally: Tally
) -> list[tuple[int | None, Check]]:
    """What only the whole set shows, as verdicts of the checks `duplicates` and `graph`; the tally counts it.

    With each verdict stands the number of its sample in the stream; None for the graph.
    """
    late: list[tuple[int | None, Check]] = []
    doubles = list(duplicates.findings())
    for number, sample_id, finding in doubles:
        late.append((number, Check(sample_id=sample_id, check="duplicates", verdict="fail", findings=(finding,))))
    tally.add_set_check("duplicates", [(number, finding) for number, _, finding in doubles])
    for graph in benchmark.all_graphs():
        known = _union(used) if benchmark.for_all is not None else used.get(graph.graph_id, KnowledgeGraph())
        for finding in check_graph(graph, tuple(known)):
            verdict: Verdict = "pass" if finding.code in HARMLESS else "fail"
            late.append((None, Check(sample_id="", check="graph", verdict=verdict, findings=(finding,))))
            tally.add_graph([finding])
    return late


class _Places:
    """File and line of each sample, where its format has such; eight bytes a sample."""

    def __init__(self, benchmark: _Benchmark) -> None:
        # A sample in our own form may have been read elsewhere before: its place is not one in this source.
        self._is_told = benchmark.format_name not in (familytool_samples.NAME, familytool_release.NAME)
        self._files: dict[str, int] = {}
        self._file, self._line = array("I"), array("I")

    def add(self, sample: Sample) -> dict[str, Any]:
        """Take the next sample of the stream; its place as columns of findings.jsonl."""
        place = sample.provenance.get("place") if self._is_told else None
        row = rejection(f"{place}: -") if isinstance(place, str) else {"file": "", "line": None}
        self._file.append(self._files.setdefault(str(row["file"]), len(self._files)))
        self._line.append(row["line"] if isinstance(row["line"], int) else 0)
        return self.of(len(self._file) - 1)

    def of(self, number: int | None) -> dict[str, Any]:
        """The place of a sample by its number in the stream."""
        if number is None:
            return {"file": None, "line": None}
        return {"file": list(self._files)[self._file[number]] or None, "line": self._line[number] or None}


def _union(graphs: dict[str, KnowledgeGraph]) -> KnowledgeGraph:
    return KnowledgeGraph(triple for graph in graphs.values() for triple in graph)


def _graph_facts(benchmark: _Benchmark, used: dict[str, KnowledgeGraph]) -> dict[str, Any] | None:
    graphs = benchmark.all_graphs()
    if not any(map(len, graphs)):
        return None
    needed = _union(used)
    return {
        "origin": benchmark.graph_origin,
        "graphs": len(graphs),
        "edges": sum(map(len, graphs)),
        "nodes": sum(len(graph.nodes) for graph in graphs),
        "relations": len({relation for graph in graphs for relation in graph.relations}),
        "unused": sum(triple not in needed for graph in graphs for triple in graph),
        "not_read": benchmark.graph_rejected,
    }


def _provenance(benchmark: _Benchmark) -> dict[str, Any]:
    path = benchmark.source.path
    hashed = {"sha256": file_hash(path)["sha256"]} if path.is_file() else {}
    return {"name": benchmark.source.benchmark, "file": path.name, "format": benchmark.format_name, **hashed}


def _repaired(benchmark: _Benchmark, order: Order, out: Path, total: int, late: list[Late], progress: Progress) -> dict[str, Any]:
    """The second pass: a patched copy in the format of the source where that can be written, patches.jsonl and left.jsonl.

    `late` is what only the whole set shows, which no rule mends.
    """
    known = BENCHMARK_FORMATS[benchmark.format_name]
    target = known if known.write_samples is not None else BENCHMARK_FORMATS[familytool_samples.NAME]
    pool, account = Pool(), RepairAccount()
    of_the_set: dict[str, list[Finding]] = {}
    for sample_id, finding in late:
        of_the_set.setdefault(sample_id, []).append(finding)
    for sample in benchmark.samples([]):
        pool.add(sample.candidate_tools)
    done = 0
    with contextlib.ExitStack() as stack:
        patches = stack.enter_context(_open(out / "patches.jsonl"))
        left = stack.enter_context(_open(out / "left.jsonl"))

        def on_left(sample: Sample, findings: list[Finding]) -> None:
            for finding in findings:
                left.write(line({"sample_id": sample.id, **finding.model_dump(mode="json")}))

        def counted(samples: Iterable[Sample]) -> Iterator[Sample]:
            nonlocal done
            for sample in samples:
                done += 1
                progress("repair", done, total)
                yield sample

        def on_patch(patch: Patch) -> None:
            patches.write(line(patch))

        write = target.write_samples
        assert write is not None

        def can_be_written(sample: Sample) -> bool:
            try:
                return bool(list(write([sample], benchmark.source.benchmark)))
            except FamilytoolError:
                return False

        samples = repair_samples(
            benchmark.samples([]), benchmark.graph_of, order.checks, pool, can_be_written, account, on_patch, on_left, of_the_set
        )
        _write_files(write(counted(samples), benchmark.source.benchmark), out / "patched", benchmark, stack)
        for finding in of_the_set.get("", ()):
            left.write(line({"sample_id": "", **finding.model_dump(mode="json")}))
        n_kept = _keep_rejected(benchmark, out / "rejected_rows.txt")
    return {"format": target.name, "folder": "patched", "n_rejected_rows": n_kept, **account.as_json()}


def _keep_rejected(benchmark: _Benchmark, target: Path) -> int:
    """Write the rows that could not be read as they stand in the source, since the patched copy lacks them; how many there were."""
    rejected: list[str] = []
    for _ in benchmark.samples(rejected):
        pass
    path, wanted = benchmark.source.path, dict[str, set[int]]()
    for row in map(rejection, rejected):
        if isinstance(row["line"], int):
            wanted.setdefault(str(row["file"]), set()).add(row["line"])
    n_kept = 0
    if not wanted:
        return n_kept
    with target.open("wb") as file:
        for name, numbers in wanted.items():
            source = path / name if path.is_dir() else path
            if source.is_file():
                pieces = _lines_of(source, numbers) if holds_lines(source) else _entries_of(source, numbers)
                for piece in pieces:
                    file.write(piece)
                    n_kept += piece.endswith(b"\n")
    return n_kept


def _lines_of(path: Path, numbers: Collection[int]) -> Iterator[bytes]:
    """The lines of these numbers byte for byte, in pieces, each with an end of line."""
    with path.open("rb") as file:
        number = 1
        while piece := file.readline(1 << 20):
            if number in numbers:
                yield piece
            number += piece.endswith(b"\n")
        if number in numbers:  # the last line has no end of its own
            yield b"\n"


def _entries_of(path: Path, numbers: Collection[int]) -> Iterator[bytes]:
    """The entries of these numbers of a JSON list, one a line."""
    value = whole_value(path)
    for number, entry in enumerate(value if isinstance(value, list) else [value], 1):
        if number in numbers:
            yield json.dumps(entry, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def _write_files(pieces: Iterable[tuple[str, str]], folder: Path, benchmark: _Benchmark, stack: contextlib.ExitStack) -> None:
    """The patched copy; a format of a single file gets the name of the source."""
    single = benchmark.source.path.name if benchmark.source.path.is_file() else f"{benchmark.source.benchmark}.jsonl"
    files: dict[str, IO[str]] = {}
    folder.mkdir(exist_ok=True)
    for name, text in pieces:
        if name not in files:
            path = folder / (name or single)
            path.parent.mkdir(parents=True, exist_ok=True)
            files[name] = stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))
        files[name].write(text)


def _open(path: Path) -> IO[str]:
    return path.open("w", encoding="utf-8", newline="\n")
