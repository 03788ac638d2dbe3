"""Composes the rooms: generate, check, replace until the strata are full; then release and evaluate.

Every stage reads and appends the files of the run folder, so that an interrupted run goes on where it stood.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any

from familytool import __version__
from familytool.campaign import Campaign, load_campaign, parse_campaign
from familytool.catalogue import tables
from familytool.errors import FamilytoolError, ShortfallError, UsageError
from familytool.evaluation.facts import report_facts
from familytool.evaluation.funnel_section import stage_label
from familytool.evaluation.judged import MOST_CASES, Judged, Matrix, all_verdicts, with_words
from familytool.evaluation.report import render_report
from familytool.evaluation.shortcuts import shortcut_table
from familytool.evaluation.spending import cost_rows, cost_told, model_roles, model_settings, prompt_hashes, read_spending
from familytool.evaluation.stages import read_funnel
from familytool.extension import Base, extended, read_base, stratum_of
from familytool.filling import Filling, Progress, Stratum, finished, taken_up
from familytool.formats import familytool_2025
from familytool.formats.benchmark_files import text_lines
from familytool.formats.documents import document_files, read_documents
from familytool.formats.familytool_release import JSON_COLUMNS, read_release
from familytool.formats.openai import read_tools
from familytool.generation.asked_preferences import ask_preferences, read_extraction
from familytool.generation.extractor_comparison import compare_extractors
from familytool.generation.generate import Material, people_count, prepare_material
from familytool.generation.planning import Planner
from familytool.generation.preferences import small_graphs
from familytool.graph import KnowledgeGraph
from familytool.kgetool.score import score
from familytool.llm.lines import Tell
from familytool.llm.prompts import own_prompts
from familytool.llm.requests import Purpose, Request
from familytool.making import Candidate, Making, Plan
from familytool.model import Sample, Tool, Triple
from familytool.models import Deferred, Opened, Spending, opened
from familytool.releases.build import ReleaseFacts, build_release
from familytool.runs import LEDGER, RunFolder, differences_of, file_hash, funnel, read_graphs, read_samples
from familytool.seen import Seen
from familytool.validation.checks import ALL_CHECKS, Checks, check_sample, chosen_checks, source_hash
from familytool.validation.disagreement import agreement, disagreements, matrix_rows, verdict_matrix
from familytool.validation.summary import Tally, finding_rows

EXTRACTION = "extraction.json"
BASE = "base.jsonl"
"""Rows of a former release that a run extends, as they were released."""
GENERATED = (
    "samples.jsonl",
    "checks.jsonl",
    "rejected.jsonl",
    "graph.jsonl",
    "tools.jsonl",
    "preferences.jsonl",
    "small_graphs.jsonl",
    "refusals.jsonl",
    BASE,
)
"""What generation leaves; a later stage refuses files that somebody has changed since."""


PREVIEW_ATTEMPTS = 12
"""Candidates that a preview tries for each row it shows."""

PROMPTS = ("familytool.generation", "familytool.validation")
"""The packages whose prompt files a campaign can replace by its own."""


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
    base_path: Path | None = None
    rejected_entries: list[str] = field(default_factory=list)
    material: Material | None = field(default=None, repr=False)
    deferred: list[tuple[Purpose, Request]] = field(default_factory=list, repr=False)
    """Calls that wait for the results of a batch."""

    @cached_property
    def checks(self) -> Checks:
        """The checks that the campaign chooses."""
        chosen = self.campaign.validation
        return chosen_checks(chosen.checks, chosen.settings, chosen.ignore, self.folder)

    @property
    def prompts(self) -> Path | None:
        """The folder of the campaign's own prompts, if it has one."""
        named = self.campaign.generation.prompts
        return self.folder / named if named else None

    @cached_property
    def base(self) -> Base:
        """The former release that this run extends, if any (UsageError: there is none at the path, or a quota needs one)."""
        if self.base_path is None and any(quota.novelty for quota in self.campaign.generation.quotas):
            raise UsageError(f"campaign '{self.campaign.name}': a quota with a novelty needs a former release: give --base RELEASE.")
        return read_base(self.base_path)

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
        identity = {"campaign": self.campaign.settings, "documents": documents, "family": family, "familytool": __version__}
        if self.prompts is not None:
            identity["prompts"] = own_prompts(self.prompts, PROMPTS)
        if self.base_path is not None:
            identity["base"] = self.base.identity()
        own = {name: source_hash(name, self.folder) for name in self.campaign.validation.checks if ":" in name}
        return {**identity, "checks": own} if own else identity


def prepare(job: Job, run: RunFolder | None = None) -> Material:
    """Documents read, preferences extracted, families grown, once for each job; nothing is written.

    Where a model reads the preferences, those that it once read are taken from the run; before that the rules' are.
    """
    if job.material is None:
        path = None if run is None or job.campaign.generation.extractor == "rules" else run.path / EXTRACTION
        extraction = read_extraction(path) if path is not None and path.exists() else None
        job.material = extended(prepare_material(job.campaign, job.documents(), job.folder, extraction), job.base)
    return job.material


def take_edit(run: RunFolder) -> tuple[list[str], Path | None]:
    """If the campaign was edited since this folder's run: what differs, and where the rows went that this made stale.

    Edits of the release or the evaluation leave the rows alone. Other edits set them aside; model calls whose prompts are the same
    are in the ledger and are not made again.
    """
    known = run.edited_from
    if known is None or run.identity is None:
        return [], None
    old, new = known.get("campaign", {}), run.identity["campaign"]
    later = {"release", "evaluation"}
    rows_stand = all(known.get(k) == run.identity.get(k) for k in {*known, *run.identity} - {"campaign"}) and all(
        old.get(k) == new.get(k) for k in {*old, *new} - later
    )
    stale: tuple[str, ...] = ("release", "evaluation", "report.html")
    stages: tuple[str, ...] = ("release", "evaluate", "report")
    if not rows_stand:
        stale += (*GENERATED, "findings.jsonl", "summary.json", EXTRACTION)
        stages += ("preferences", "generate")
    return differences_of(known, run.identity), run.supersede(stale, stages)


def generate(
    job: Job, run: RunFolder, progress: Progress = no_progress, spending: Spending | None = None, tell: Tell | None = None
) -> Material:
    """Fill the strata: candidates in number order, each checked, each accepted or kept as rejected with its reason.

    Raises:
        ShortfallError: a stratum or quota that cannot be filled; which one lacks how many rows, and why.
        BudgetExhausted, CallFailed, ReplayMiss, Deferred: where models are asked; what is decided by then is kept.
    """
    take_edit(run)
    if "generate" in run.manifest().get("stages", {}):
        run.check_unchanged((*GENERATED, EXTRACTION))
        return prepare(job, run)
    return finished(_generate(job, run, progress, spending or Spending(), tell))


async def _generate(job: Job, run: RunFolder, progress: Progress, spending: Spending, tell: Tell | None) -> Material:
    if not job.campaign.uses_models:
        return await _fill_strata(job, run, progress, None)
    async with opened(job.campaign, run.path, spending, tell, job.prompts) as models:
        try:
            return await _fill_strata(job, run, progress, models)
        except Deferred:
            job.deferred = list(models.collected)
            raise


async def _fill_strata(job: Job, run: RunFolder, progress: Progress, models: Opened | None) -> Material:
    campaign = job.campaign
    generation = campaign.generation
    material = await _prepared(job, run, models, progress)
    _write_material(job, material, run)
    planner, seen = Planner(material), Seen(generation.alike if campaign.uses_models else None)
    _keep_base(job.base, run, planner, seen)
    making = _making(job, material, seen, models)
    start = seen.count
    history = taken_up(run, seen, generation.twin_share, job.base)
    filling = Filling(campaign.name, run, seen, making.make, progress, job.base, history)
    window = generation.look_ahead if campaign.uses_models else 1
    for name, rows in generation.strata.items():
        wanted = max(0, rows - job.base.count(name))
        stratum = Stratum(name, wanted, wanted * campaign.candidates_per_row, window, planner, twin_share=generation.twin_share,
                          start=start, first=job.base.first_number(campaign.name, name))  # fmt: skip
        await filling.fill(stratum)
        start += stratum.accepted
    if generation.distinct_tools is not None and len(+planner.accepted) < generation.distinct_tools:
        raise ShortfallError(
            f"campaign '{campaign.name}': golden calls use {len(+planner.accepted)} tools, distinct_tools wants {generation.distinct_tools}; ask for more rows or fewer tools."
        )
    unmet = planner.unmet_quotas()
    if unmet:
        raise ShortfallError(f"campaign '{campaign.name}': quotas are not met ({'; '.join(unmet)}); lower them or ask for more rows.")
    _write_graph(job, material, run)
    run.finish_stage("generate", {"funnel": funnel(run)})
    return material


def _keep_base(base: Base, run: RunFolder, planner: Planner, seen: Seen) -> None:
    """Keep the rows of a former release beside the new ones, and let planner and duplicates know of them."""
    if base.path is None:
        return
    run.write_records(BASE, base.samples)
    for sample in base.samples:
        seen.add(sample)
        planner.record(stratum_of(sample), [call.name for call in sample.calls], True)


def _making(job: Job, material: Material, seen: Seen, models: Opened | None) -> Making:
    """What candidates are made with: the models that the campaign names for each task."""
    if models is None:
        return Making(material, job.checks, seen)
    generation = job.campaign.generation
    writer = models.named(generation.writer)
    solver = models.named(generation.solver) or writer
    return Making(material, job.checks, seen, writer, solver, models.named(job.campaign.validation.judge))


async def _prepared(job: Job, run: RunFolder, models: Opened | None, progress: Progress) -> Material:
    """Documents, preferences and families; preferences are asked of a model where the campaign says so and nobody has yet."""
    model = models.named(job.campaign.generation.extractor) if models is not None else None
    if model is not None and not (run.path / EXTRACTION).exists():
        size = people_count(job.campaign, job.folder)
        extraction = await ask_preferences(job.documents(), model, size, partial(progress, "preferences"))
        run.write_json(EXTRACTION, extraction.model_dump(mode="json"))
    return prepare(job, run)


def extract(
    job: Job, run: RunFolder, progress: Progress = no_progress, spending: Spending | None = None, tell: Tell | None = None
) -> Material:
    """Only documents, preferences and graphs, to be reviewed before samples are made: no row is written.

    Raises:
        FamilytoolError: rows are there already.
    """
    take_edit(run)
    if (run.path / "samples.jsonl").exists():
        raise FamilytoolError(f"{run.path}: rows have been made already; give another --run-dir to look at preferences alone.")
    return finished(_extract(job, run, progress, spending or Spending(), tell))


async def _extract(job: Job, run: RunFolder, progress: Progress, spending: Spending, tell: Tell | None) -> Material:
    if job.campaign.generation.extractor == "rules":
        material = prepare(job)
    else:
        async with opened(job.campaign, run.path, spending, tell, job.prompts) as models:
            try:
                material = await _prepared(job, run, models, progress)
            except Deferred:
                job.deferred = list(models.collected)
                raise
    _write_material(job, material, run)
    worlds = (material.world(index) for index in range(job.campaign.family.count))
    run.write_records("graph.jsonl", graph_rows((w.graph_id, t) for w in worlds for t in w.graph))
    run.finish_stage("preferences", {"preferences": len(material.preferences), "relations": len(material.concepts)})
    return material


async def _preview(job: Job, run: RunFolder, rows: int, progress: Progress, spending: Spending, tell: Tell | None) -> list[Candidate]:
    async with contextlib.AsyncExitStack() as stack:
        models = None
        if job.campaign.uses_models:
            models = await stack.enter_async_context(opened(job.campaign, run.path, spending, tell, job.prompts))
        material = await _prepared(job, run, models, progress)
        making, planner = _making(job, material, Seen(), models), Planner(material)
        strata = [name for name, wanted in job.campaign.generation.strata.items() if wanted]
        done = 0

        async def make(slot: int) -> Candidate | None:
            nonlocal done
            stratum, candidate = strata[slot % len(strata)], None
            for attempt in range(PREVIEW_ATTEMPTS):
                order = planner.order(stratum, slot // len(strata) + attempt * rows)
                candidate = None if order is None else await making.make(Plan(order))
                if candidate is None or candidate.is_good:
                    break
            done += 1
            progress("preview", done, rows)
            return candidate

        made = await asyncio.gather(*(make(slot) for slot in range(rows)))
    return [candidate for candidate in made if candidate is not None]


def preview(
    job: Job, run: RunFolder, rows: int, progress: Progress = no_progress, spending: Spending | None = None, tell: Tell | None = None
) -> list[Candidate]:
    """So many candidates over the strata in turn, made in memory: no rows are written, model calls go to the run folder's ledger."""
    return finished(_preview(job, run, rows, progress, spending or Spending(), tell))


def _write_material(job: Job, material: Material, run: RunFolder) -> None:
    """The files that follow from campaign and documents alone, written once."""
    names = ("tools.jsonl", "preferences.jsonl", "refusals.jsonl", "small_graphs.jsonl")
    if all((run.path / name).exists() for name in names) and (run.path / "samples.jsonl").exists():
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
        used = {(s.graph_id, t) for s in releasable(run) for t in s.golden_triples}
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
    return shortcut_table(releasable(run), _graph_of(run)) if job.campaign.evaluation.baselines else []


def release(job: Job, run: RunFolder) -> ReleaseFacts:
    """Build `release/` from the accepted rows; skipped if they have not changed since it was built."""
    _need_samples(run)
    documents = {row["name"]: Tool.model_validate(row) for row in run.rows("tools.jsonl")}
    baselines = _baselines(job, run)
    facts = build_release(
        run.path / "release",
        job.campaign,
        releasable(run),
        run.rows("graph.jsonl"),
        documents,
        {"baselines": baselines, **_sources(run), **_making_told(job, run)},
    )
    run.finish_stage("release", {"rows": facts.rows, "graph": facts.graph, "tools": facts.tools, "golden_tools": facts.golden_tools})
    return facts


def releasable(run: RunFolder) -> Iterator[Sample]:
    """The rows of a former release and the accepted ones with four passes; those that await a person's review stay out until somebody has decided."""
    rows = chain(read_samples(run.path / BASE), read_samples(run.path / "samples.jsonl"))
    return (sample for sample in rows if not sample.provenance.get("awaits_review"))


def _making_told(job: Job, run: RunFolder) -> dict[str, Any]:
    """What a card says of models, candidates and costs; money only as far as it hangs on the rows and not on the speed of a run."""
    found = read_funnel(job.campaign, run)
    told: dict[str, Any] = {
        "funnel": {"candidates": found.candidates, "accepted": found.accepted,
                   "rejected": {stage_label(stage.name): stage.rejected for stage in found.stages if stage.rejected}},
        "awaiting": found.awaiting,
        "kept": found.kept,
    }  # fmt: skip
    if not job.campaign.uses_models:
        return told
    roles = model_roles(job.campaign)
    models = [{"id": job.campaign.models[n].id, "roles": r, "settings": model_settings(job.campaign, n)} for n, r in roles.items()]
    told |= {"models": models, "prompts": prompt_hashes(job.campaign, run)}
    both = judged(job, run)
    if both is not None:
        told["agreement"] = [asdict(m) for m in both.matrices if m.share is not None]
    spent = read_spending(job.campaign, run)
    if spent is not None:
        parts = {"accepted rows": spent.accepted, "rejected candidates": spent.rejected}
        read = [spent.by_purpose[purpose] for purpose in ("extract", "filter") if purpose in spent.by_purpose]
        told["cost"] = [cost_told(name, [part]) for name, part in parts.items()]
        told["cost"] += [cost_told("preferences", read)] if read else []
    return told


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
    kg = familytool_2025.read_graph(text_lines(graph, rejected), path.stem, rejected)
    samples = list(familytool_2025.read_sample_lines(text_lines(path, rejected), path.stem, path.stem, rejected))
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
    if (run.path / LEDGER).exists():
        run.write_records("evaluation/costs.jsonl", cost_rows(run))
    facts = report_facts(job.campaign, run, lambda: releasable(run), judged=judged(job, run), extraction=_extraction(run))
    run.write_text("report.html", render_report(facts))
    run.finish_stage("report", {})
    return run.path / "report.html"


def judged(job: Job, run: RunFolder) -> Judged | None:
    """Rules, judge and persons side by side; None where nobody but the rules was asked."""
    if not job.campaign.validation.judge and job.campaign.generation.writer not in job.campaign.models:
        return None
    matrices = []
    for check, counts in verdict_matrix(all_verdicts(run)).items():
        agreed = agreement(counts)
        matrices.append(Matrix(check, tuple(matrix_rows(counts)), agreed.decided, agreed.share, agreed.kappa))
    cases = (case._asdict() for case in disagreements(all_verdicts(run), MOST_CASES))
    return Judged(tuple(matrices), with_words(cases, run))


def _extraction(run: RunFolder) -> dict[str, Any] | None:
    """The preferences that a model read beside those of the rules, where a model was asked."""
    if not (run.path / EXTRACTION).exists():
        return None
    found = read_extraction(run.path / EXTRACTION)
    compared = compare_extractors((Tool.model_validate(row) for row in run.rows("tools.jsonl")), found)
    return {**compared, "model": found.model, "proposals": len(found.found), "new_relations": len(found.relations)}


def run_all(
    job: Job, run: RunFolder, progress: Progress = no_progress, spending: Spending | None = None, tell: Tell | None = None
) -> ReleaseFacts:
    """The main job: generate, release, evaluate, report; stages that are complete are not repeated."""
    take_edit(run)
    if "generate" not in run.manifest().get("stages", {}):
        generate(job, run, progress, spending, tell)
    progress("release", 0, 1)
    facts = release(job, run)
    progress("release", 1, 1)
    progress("evaluate", 0, 1)
    evaluate(job, run, facts.baselines)
    progress("evaluate", 1, 1)
    report(job, run)
    return facts
