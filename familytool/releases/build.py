"""Build a release folder: written beside its place in one pass over the samples, and renamed when it is whole."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from familytool.campaign import Campaign
from familytool.errors import FamilytoolError
from familytool.formats.familytool_release import SPLIT
from familytool.model import Sample, Tool
from familytool.releases.card import render_card
from familytool.releases.columns import graph_schema, sample_row, sample_schema, tool_row, tool_schema
from familytool.runs import file_hash, replace_folder

ROWS_IN_MEMORY = 1_000


@dataclass
class ReleaseFacts:
    """What the card says of a release."""

    campaign: Campaign
    rows: dict[str, int]
    tools: int = 0
    golden_tools: int = 0
    graph: dict[str, int] = field(default_factory=dict)
    shapes: dict[str, int] = field(default_factory=dict)
    documents: str = ""
    sources: list[str] = field(default_factory=list)
    baselines: list[dict[str, Any]] = field(default_factory=list)
    writers: dict[str, int] = field(default_factory=dict)
    """Rows by who wrote their queries: "templates", or a model."""
    twins: int = 0
    models: list[dict[str, Any]] = field(default_factory=list)
    """{"id", "roles", "settings"} of each model that was asked."""
    prompts: dict[str, str] = field(default_factory=dict)
    funnel: dict[str, Any] = field(default_factory=dict)
    """{"candidates", "rejected": {stage: candidates}, "accepted"}."""
    awaiting: int = 0
    """Accepted rows that are left out until a person has decided."""
    kept: int = 0
    """Rows of a former release."""
    agreement: list[dict[str, Any]] = field(default_factory=list)
    """{"check", "decided", "share", "kappa"} of rules and judge."""
    cost: list[dict[str, Any]] = field(default_factory=list)
    """{"for", "calls", "prompt_tokens", "output_tokens", "price"}; price is None where no call has one."""


def build_release(
    target: Path,
    campaign: Campaign,
    samples: Iterable[Sample],
    graph: Iterable[dict[str, str]],
    responses: dict[str, Tool],
    extra: dict[str, Any],
) -> ReleaseFacts:
    """Write the release folder of these samples, in their order.

    Args:
        target: the folder; an older release there is replaced at the very end.
        graph: rows {graph_id, head, relation, tail}.
        responses: the documents by name, for their response schemas.
        extra: further facts for the card, by the names of `ReleaseFacts`.

    Raises:
        FamilytoolError: no room or no permission to write; what was there before is kept.
    """
    part = target.with_name(target.name + ".part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        facts = _write_data(part, campaign, samples, graph, responses)
        for name, value in extra.items():
            setattr(facts, name, value)
        (part / "README.md").write_text(render_card(facts), encoding="utf-8")
        files = sorted(p for p in part.rglob("*") if p.is_file())
        manifest = {"campaign": campaign.name, "version": campaign.release.version, "fingerprint": campaign.fingerprint, "rows": facts.rows,
                    "files": {str(p.relative_to(part)): file_hash(p) for p in files}}  # fmt: skip
        (part / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise FamilytoolError(
            f"{part}: cannot be written ({error.strerror or error}); make room and run again: the samples are kept."
        ) from None
    replace_folder(part, target)
    return facts


def _write_data(
    part: Path, campaign: Campaign, samples: Iterable[Sample], graph: Iterable[dict[str, str]], responses: dict[str, Tool]
) -> ReleaseFacts:
    rows: Counter[str] = Counter()
    shapes: Counter[str] = Counter()
    wrote: Counter[str] = Counter()
    twins = 0
    golden: set[str] = set()
    offered: dict[str, Tool] = {}
    with _Writers(part) as writers:
        for sample in samples:
            row = sample_row(sample, campaign.release.version)
            writers.add("all", row, sample_schema)
            writers.add(f"hop{sample.hops}", row, sample_schema)
            rows["all"] += 1
            rows[f"hop{sample.hops}"] += 1
            shapes[sample.shape] += 1
            wrote[str(sample.provenance.get("writer", "templates"))] += 1
            twins += bool(sample.twin_of)
            golden.update(call.name for call in sample.calls)
            offered.update((tool.name, tool) for tool in sample.candidate_tools)
        for name in sorted(offered):
            response = responses[name].response if name in responses else {}
            writers.add("tools", tool_row(offered[name].model_copy(update={"response": response})), tool_schema)
        nodes: set[tuple[str, str]] = set()
        relations: set[str] = set()
        edges = 0
        for fact in graph:
            writers.add("graph", fact, graph_schema)
            nodes.update([(fact["graph_id"], fact["head"]), (fact["graph_id"], fact["tail"])])
            relations.add(fact["relation"])
            edges += 1
    hops = sorted((name for name in rows if name != "all"), key=lambda name: int(name[3:]))
    return ReleaseFacts(campaign, {"all": rows["all"], **{name: rows[name] for name in hops}}, len(offered), len(golden),
                        {"nodes": len(nodes), "edges": edges, "edge types": len(relations)},
                        dict(shapes.most_common()), writers=dict(wrote.most_common()), twins=twins)  # fmt: skip


class _Writers:
    """One Parquet file for each config, written a thousand rows at a time."""

    def __init__(self, part: Path) -> None:
        self.part = part
        self.open: dict[str, Any] = {}
        self.pending: dict[str, list[dict[str, Any]]] = {}
        self.schemas: dict[str, Any] = {}

    def __enter__(self) -> _Writers:
        return self

    def __exit__(self, *_: object) -> None:
        for config in self.open:
            self._flush(config)
        for writer in self.open.values():
            writer.close()

    def add(self, config: str, row: dict[str, Any], schema: Any) -> None:
        """Append one row to a config."""
        if config not in self.open:
            import pyarrow.parquet

            path = self.part / config / f"{SPLIT}.parquet"
            path.parent.mkdir(parents=True)
            self.schemas[config] = schema()
            self.open[config] = pyarrow.parquet.ParquetWriter(path, self.schemas[config], compression="zstd", use_dictionary=True)
            self.pending[config] = []
        self.pending[config].append(row)
        if len(self.pending[config]) == ROWS_IN_MEMORY:
            self._flush(config)

    def _flush(self, config: str) -> None:
        import pyarrow as pa

        if self.pending[config]:
            self.open[config].write_table(pa.Table.from_pylist(self.pending[config], schema=self.schemas[config]))
            self.pending[config] = []
