"""Composes the rooms: generate, check, replace until the strata are full; then release and evaluate.

Every stage reads and appends the files of the run folder, so that an interrupted run goes on where it stood.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from familytool import __version__
from familytool.campaign import Campaign, load_campaign, parse_campaign
from familytool.catalogue import tables
from familytool.errors import FamilytoolError, ShortfallError, UsageError
from familytool.evaluation.facts import report_facts
from familytool.evaluation.report import render_report
from familytool.evaluation.shortcuts import shortcut_table
from familytool.formats import familytool_2025
from familytool.formats.benchmark_files import text_lines
from familytool.formats.documents import document_files, read_documents
from familytool.formats.familytool_release import JSON_COLUMNS, read_release
from familytool.formats.openai import read_tools
from familytool.generation.generate import Material, Planner, make_candidate, prepare_material
from familytool.generation.preferences import small_graphs
from familytool.generation.samples import NotBuilt, Order
from familytool.graph import KnowledgeGraph
from familytool.kgetool.score import score
from familytool.model import Check, Rejection, Sample, Tool, Triple, digest
from familytool.releases.build import ReleaseFacts, build_release
from familytool.runs import Appender, RunFolder, cut_torn_line, file_hash, funnel, read_graphs, read_rows, read_samples
from familytool.validation.checks import ALL_CHECKS, Checks, check_sample, chosen_checks, source_hash
from familytool.validation.summary import Tally, finding_rows

GENERATED = (
    "samples.jsonl",
    "checks.jsonl",
    "rejected.jsonl",
    "graph.jsonl",
    "tools.jsonl",
    "preferences.jsonl",
    "small_graphs.jsonl",
    "refusals.jsonl",
)
"""What generation leaves; a later stage refuses files that somebody has changed since."""

Progress = Callable[[str, int, int], None]
"""Called with (what, done, of) as work goes on."""


def no_progress(what: str, done: int, of: int) -> None:
    """Say nothing."""


def find_campaign(name_or_path: str) -> tuple[Campaign, Path]:
    """A built-in campaign by name, or one from a file; and the folder that its relative paths are seen from."""
    built_in = tables.campaign_bytes(name_or_path)
    if built_in is not None:
        return parse_campaign(built_in, f"built-in campaign '{name_or_path}'"), Path()
    path = Path(name_or_path)
    if not path.exists() and not path.suffix:
        raise UsageError(
            f"'{name_or_path}': neither a built-in campaign ({', '.join(tables.CAMPAIGNS)}) nor a file; `familytool init DIR` makes one to edit."
        )
    return load_campaign(path), path.parent


@dataclass
class Job:
    """A campaign, where its paths start, and the documents it is given."""

    campaign: Campaign
    folder: Path = Path()
    documents_path: Path | None = None
    rejected_entries: list[str] = field(default_factory=list)
    material: Material | None = field(default=None, repr=False)

    @cached_property
    def checks(self) -> Checks:
        """The checks that the campaign chooses."""
        chosen = self.campaign.validation
        return chosen_checks(chosen.checks, chosen.settings, chosen.ignore, self.folder)

    def documents(self) -> list[Tool]:
        """The tool documents, from `--documents`, the campaign's path, or the embedded catalogue."""
        if self._path() is None:
            return list(read_tools(tables.builtin_documents(), self.rejected_entries))
        return read_documents(self._path() or Path(), self.rejected_entries)

    def _path(self) -> Path | None:
        if self.documents_path is not None:
            return self.documents_path
        named = self.campaign.generation.documents
        if named == "builtin":
            return None
        if named == "mtu-bench":
            raise UsageError(
                f"campaign '{self.campaign.name}' needs the MTU-Bench documents: give --documents FOLDER (the folder with its *_eval.jsonl)."
            )
        return Path(named) if Path(named).is_absolute() else self.folder / named

    def identity(self) -> dict[str, Any]:
        """What a run folder belongs to: the campaign, the bytes of its documents, and this version of the package."""
        path = self._path()
        documents: Any = "builtin"
        if path is not None:
            documents = sorted(str(file_hash(file)["sha256"]) for file in document_files(path))
        specification = self.campaign.family.specification
        family: Any = specification
        if specification is not None and tables.family_specification(specification) is None and (self.folder / specification).is_file():
            family = file_hash(self.folder / specification)["sha256"]
        identity = {"campaign": self.campaign.model_dump(mode="json"), "documents": documents, "family": family, "familytool": __version__}
        own = {name: source_hash(name, self.folder) for name in self.campaign.validation.checks if ":" in name}
        return {**identity, "checks": own} if own else identity


def prepare(job: Job) -> Material:
    """Documents read, preferences extracted, families grown, once for each job; nothing is written."""
    if job.material is None:
        job.material = prepare_material(job.campaign, job.documents(), job.folder)
    return job.material


def generate(job: Job, run: RunFolder, progress: Progress = no_progress) -> Material:
    """Fill the strata: candidates in number order, each checked, each accepted or kept as rejected with its reason.

    Raises:
        ShortfallError: a stratum or quota that cannot be filled; which one lacks how many rows, and why.
    """
    material = prepare(job)
    if "generate" in run.manifest().get("stages", {}):
        run.check_unchanged(GENERATED)
        return material
    _write_material(job, material, run)
    planner = Planner(material)
    decided = _resume(run, planner)
    with run.appender("samples.jsonl") as samples, run.appender("rejected.jsonl") as rejected, run.appender("checks.jsonl") as checks:
        for stratum, wanted in job.campaign.generation.strata.items():
            _fill(stratum, wanted, job, material, planner, decided, (samples, rejected, checks), progress)
    distinct = job.campaign.generation.distinct_tools
    if distinct is not None and len(+planner.accepted) < distinct:
        raise ShortfallError(
            f"campaign '{job.campaign.name}': golden calls use {len(+planner.accepted)} tools, distinct_tools wants {distinct}; ask for more rows or fewer tools."
        )
    unmet = planner.unmet_quotas()
    if unmet:
        raise ShortfallError(f"campaign '{job.campaign.name}': quotas are not met ({'; '.join(unmet)}); lower them or ask for more rows.")
    _write_graph(job, material, run)
    run.finish_stage("generate", {"funnel": funnel(run)})
    return material


@dataclass
class _Decided:
    """What has been decided before: per stratum how many candidates and accepted rows, and what would be a duplicate."""

    candidates: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    seen: set[bytes] = field(default_factory=set)


def _keys(sample: Sample) -> list[bytes]:
    """What makes another sample a duplicate: the same words of the same speaker, or the same call along the same paths."""
    words = digest([sample.graph_id, sample.speaker, sample.query.casefold()])
    call = digest(
        [
            sample.graph_id,
            sample.speaker,
            sample.kind,
            [c.model_dump() for c in sample.calls],
            [p.model_dump() for p in sample.golden_paths],
        ]
    )
    return [bytes.fromhex(words), *([bytes.fromhex(call)] if sample.calls else [])]


def _resume(run: RunFolder, planner: Planner) -> _Decided:
    """Take up a run: torn lines and checks without their sample are cut, then every decided candidate is counted again."""
    for name in ("samples.jsonl", "rejected.jsonl", "checks.jsonl"):
        cut_torn_line(run.path / name)
    decided = _Decided()
    order: list[tuple[str, int, list[str], bool]] = []
    accepted: set[str] = set()
    for sample in read_samples(run.path / "samples.jsonl"):
        accepted.add(sample.id)
        decided.seen.update(_keys(sample))
        names = [clause["tool"] for clause in sample.provenance["wording"]]
        order.append((sample.provenance["stratum"], sample.provenance["candidate"], names, True))
    for row in run.rows("rejected.jsonl"):
        order.append((row["stratum"], row["candidate"], row["tools"], False))
    for stratum, number, names, taken in order:
        decided.candidates[stratum] = max(decided.candidates[stratum], number + 1)
        decided.accepted[stratum] += taken
        planner.record(stratum, names, taken)
    _cut_orphans(run, accepted)
    return decided


def _cut_orphans(run: RunFolder, accepted: set[str]) -> None:
    """Cut the checks behind the last accepted sample: their sample was never written."""
    path = run.path / "checks.jsonl"
    if not path.exists():
        return
    with path.open("r+b") as file:
        end = 0
        for raw in iter(file.readline, b""):
            if json.loads(raw)["sample_id"] not in accepted:
                break
            end = file.tell()
        file.truncate(end)


def _fill(stratum: str, wanted: int, job: Job, material: Material, planner: Planner, decided: _Decided,
          files: tuple[Appender, Appender, Appender], progress: Progress) -> None:  # fmt: skip
    campaign = job.campaign
    samples, rejected, checks = files
    limit = wanted * campaign.generation.max_candidates
    while decided.accepted[stratum] < wanted:
        number = decided.candidates[stratum]
        order = planner.order(stratum, number) if number < limit else None
        if order is None:
            reasons = Counter(row["code"] for row in read_rows(rejected.path) if row["stratum"] == stratum)
            told = ", ".join(f"{code} {count}" for code, count in reasons.most_common(4)) or "no tool has so many places for facts"
            raise ShortfallError(
                f"stratum {stratum}: {decided.accepted[stratum]} of {wanted} rows after {number} candidates, {wanted - decided.accepted[stratum]} are lacking "
                f"(rejected: {told}); ask for fewer rows, more people or attributes, or more documents."
            )
        names = [tool.name for tool in order.tools]
        outcome, verdicts = _decide(make_candidate(material, order), material, order, job.checks, decided)
        if isinstance(outcome, Sample):
            checks.write(verdicts)
            samples.write([outcome])
            decided.seen.update(_keys(outcome))
            decided.accepted[stratum] += 1
            progress(stratum, decided.accepted[stratum], wanted)
        else:
            identity = f"{campaign.name}-{stratum}-{number:06d}"
            rejected.write([outcome.model_copy(update={"id": identity, "stratum": stratum, "candidate": number, "tools": tuple(names)})])
        decided.candidates[stratum] += 1
        planner.record(stratum, names, isinstance(outcome, Sample))


def _decide(
    candidate: Sample | NotBuilt, material: Material, order: Order, checks: Checks, decided: _Decided
) -> tuple[Sample | Rejection, list[Check]]:
    def reject(check: str, code: str, message: str) -> Rejection:
        return Rejection(
            id="",
            stratum="",
            candidate=order.number,
            check=check,
            code=code,
            message=message,
            sample=candidate if isinstance(candidate, Sample) else None,
        )

    if isinstance(candidate, NotBuilt):
        return reject("generate", candidate.code, candidate.message), []
    if any(key in decided.seen for key in _keys(candidate)):
        return reject("duplicates", "duplicate_sample", "the same words, or the same call along the same paths, were accepted before"), []
    verdicts = check_sample(candidate, material.world_of(order.stratum, order.number).graph, checks)
    for check in verdicts:
        if check.verdict != "pass":
            finding = check.findings[0] if check.findings else None
            return reject(
                check.check, finding.code if finding else "unknown", finding.message if finding else "the check cannot tell"
            ), verdicts
    return candidate, verdicts


def _write_material(job: Job, material: Material, run: RunFolder) -> None:
    """The files that follow from campaign and documents alone, written once."""
    names = ("tools.jsonl", "preferences.jsonl", "refusals.jsonl", "small_graphs.jsonl")
    if all((run.path / name).exists() for name in names):
        return
    run.write_records("tools.jsonl", material.documents)
    run.write_records("preferences.jsonl", material.preferences)
    entries = [{"tool": "", "parameter": "", "reason": text} for text in job.rejected_entries]
    run.write_records("refusals.jsonl", [*(asdict(refusal) for refusal in material.refusals), *entries])
    run.write_records(
        "small_graphs.jsonl", (row for index in range(job.campaign.family.count) for row in small_graphs(material.world(index)))
    )


def graph_rows(triples: Iterator[tuple[str, Triple]]) -> Iterator[dict[str, str]]:
    """Rows of graph.jsonl."""
    return ({"graph_id": graph_id, "head": t.head, "relation": t.relation, "tail": t.tail} for graph_id, t in triples)


def _write_graph(job: Job, material: Material, run: RunFolder) -> None:
    """The benchmark's knowledge graph: all facts, or those that golden chains use, in the order of the full graph."""
    used: set[tuple[str, Triple]] | None = None
    if job.campaign.release.graph == "used":
        used = {(s.graph_id, t) for s in read_samples(run.path / "samples.jsonl") for t in s.golden_triples}
    worlds = (material.world(index) for index in range(job.campaign.family.count))
    run.write_records(
        "graph.jsonl", graph_rows((w.graph_id, t) for w in worlds for t in w.graph if used is None or (w.graph_id, t) in used)
    )


def validate(run: RunFolder, checks: Checks = ALL_CHECKS, progress: Progress = no_progress) -> dict[str, Any]:
    """The checks over the finished rows of a run, against its released graph; findings.jsonl and summary.json are written."""
    if "generate" not in run.manifest().get("stages", {}):
        raise FamilytoolError(f"{run.path}: generation has not finished, so there is no graph to check against; go on with it first.")
    graphs = read_graphs(run.path / "graph.jsonl")
    total = _count(run.path / "samples.jsonl")
    tally = Tally()

    def rows() -> Iterator[dict[str, Any]]:
        for sample in read_samples(run.path / "samples.jsonl"):
            verdicts = check_sample(sample, graphs.get(sample.graph_id, KnowledgeGraph(graph_id=sample.graph_id)), checks)
            tally.add(sample, verdicts)
            for check in verdicts:
                yield from finding_rows(sample.id, check)
            progress("validate", tally.n_samples, total)

    run.write_records("findings.jsonl", rows())
    run.write_json("summary.json", tally.as_json())
    return tally.as_json()


def _count(path: Path) -> int:
    return int(file_hash(path).get("rows", 0)) if path.exists() else 0


def _graph_of(run: RunFolder) -> Callable[[str], KnowledgeGraph]:
    """Graphs of a run by id; for many families they are read one after the other, so that few are in memory."""
    graphs = read_graphs(run.path / "graph.jsonl")
    return lambda graph_id: graphs.get(graph_id, KnowledgeGraph(graph_id=graph_id))


def _baselines(job: Job, run: RunFolder) -> list[dict[str, Any]]:
    """The shortcut baselines of the accepted rows, where the campaign wants them."""
    return shortcut_table(read_samples(run.path / "samples.jsonl"), _graph_of(run)) if job.campaign.evaluation.baselines else []


def release(job: Job, run: RunFolder) -> ReleaseFacts:
    """Build `release/` from the accepted rows; skipped if they have not changed since it was built."""
    _need_samples(run)
    documents = {row["name"]: Tool.model_validate(row) for row in run.rows("tools.jsonl")}
    baselines = _baselines(job, run)
    facts = build_release(
        run.path / "release",
        job.campaign,
        read_samples(run.path / "samples.jsonl"),
        run.rows("graph.jsonl"),
        documents,
        {"baselines": baselines, **_sources(run)},
    )
    run.finish_stage("release", {"rows": facts.rows, "graph": facts.graph, "tools": facts.tools, "golden_tools": facts.golden_tools})
    return facts


def _sources(run: RunFolder) -> dict[str, Any]:
    """Where the tool documents come from, as the card says it."""
    documents = run.manifest().get("identity", {}).get("documents")
    formats = {row.get("source", {}).get("format", "") for row in run.rows("tools.jsonl")}
    if documents == "builtin":
        return {"documents": "the embedded catalogue of familytool", "sources": ["Tool documents and value tables: familytool, Apache-2.0"]}
    hashes = ", ".join(str(h)[:16] for h in documents or ())
    values = "Value tables: familytool, Apache-2.0"
    if "mtu-bench" in formats:
        return {"documents": f"MTU-Bench evaluation files (sha256 {hashes})",
                "sources": ["Tool documents: MTU-Bench (github.com/MTU-Bench-Team/MTU-Bench), Apache-2.0; made from dialogue sets with licences of their own, see there before redistributing", values]}  # fmt: skip
    return {
        "documents": f"files given by the user (sha256 {hashes})",
        "sources": ["Tool documents: given by the user; their licence is not known to familytool", values],
    }


def evaluate(job: Job, run: RunFolder, baselines: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """Gold replay over the release, scored with `kgetool`, and the shortcut baselines; results.json and predictions.jsonl are written.

    `baselines` are those that the release has just measured; without them they are measured here.
    """
    references = [_reference(row) for row in read_release(run.path / "release", "all")]
    predictions = [{"id": r["id"], "calls": r["calls"], "triples": r["golden_triples"]} for r in references]
    results = score(references, predictions, seed=job.campaign.seed)
    rows = results.pop("samples")
    hops = {r["id"]: f"hop{r['hops']}" for r in references}
    by_hop: dict[str, Any] = {}
    for name in sorted(set(hops.values())):
        chosen = [r for r in references if hops[r["id"]] == name]
        by_hop[name] = score(chosen, [p for p in predictions if hops[p["id"]] == name], seed=job.campaign.seed)["scores"]
    if baselines is None:
        baselines = _baselines(job, run)
    results = {**results, "prediction": "gold replay", "now": job.campaign.now.isoformat(), "by_hop": by_hop, "baselines": baselines}
    run.write_records("evaluation/predictions.jsonl", predictions)
    run.write_records("evaluation/scores.jsonl", rows)
    run.write_json("evaluation/results.json", results)
    run.finish_stage("evaluate", {"scores": results["scores"]})
    return results


def _reference(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a release with its JSON text read."""
    return {**row, **{name: json.loads(row[name]) for name in JSON_COLUMNS}}


def score_published(path: Path, graph: Path) -> tuple[list[dict[str, Any]], int, list[str]]:
    """The shortcut baselines of a published FamilyTool file and its graph: the table, the number of rows, and what could not be read."""
    rejected: list[str] = []
    kg = familytool_2025.read_graph(text_lines(graph), path.stem, rejected)
    samples = list(familytool_2025.read_sample_lines(text_lines(path), path.stem, path.stem, rejected))
    if not samples:
        raise FamilytoolError(f"{path}: no FamilyTool row could be read ({rejected[-1] if rejected else 'the file is empty'}).")
    if not len(kg):
        raise FamilytoolError(f"{graph}: no triple could be read; expected one list ['head', 'relation', 'tail'] a line.")
    return shortcut_table(samples, lambda _: kg), len(samples), rejected


def _need_samples(run: RunFolder) -> None:
    if "generate" not in run.manifest().get("stages", {}):
        raise FamilytoolError(f"{run.path}: generation has not finished; the `run` or `generate` that made it goes on with it.")
    run.check_unchanged(GENERATED)


def report(job: Job, run: RunFolder) -> Path:
    """Write report.html from the files of the run."""
    _need_samples(run)
    run.write_text("report.html", render_report(report_facts(job.campaign, run)))
    run.finish_stage("report", {})
    return run.path / "report.html"


def run_all(job: Job, run: RunFolder, progress: Progress = no_progress) -> ReleaseFacts:
    """The main job: generate, release, evaluate, report; stages that are complete are not repeated."""
    stages = run.manifest().get("stages", {})
    if "generate" not in stages:
        generate(job, run, progress)
    progress("release", 0, 1)
    facts = release(job, run)
    progress("release", 1, 1)
    progress("evaluate", 0, 1)
    evaluate(job, run, facts.baselines)
    progress("evaluate", 1, 1)
    report(job, run)
    return facts
