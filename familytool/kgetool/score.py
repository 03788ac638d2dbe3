"""Scores predicted tool calls and extracted triples against references, in three profiles side by side.

`strict` and `lenient` are ours: the calls of a sample are a multiset (unless `ordered`): only calls of equal name pair, and the
pairing maximises exact calls, then equal (parameter, value) pairs, then takes the smallest indices. Values are compared typed;
`lenient` takes what `lenience.POLICIES` says for the same. `familytool-2025` is what the published program computes, defects
included (`published_scores`). A sample that errored, or that nobody predicted, stays in the denominator as wrong. The folder
needs nothing but the standard library.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from . import lexical
from .extraction import DEFAULT_K, GREEDY, METHODS
from .intervals import wilson_interval
from .lenience import POLICIES, Lenience
from .published_scores import PUBLISHED
from .rows import rows_by_id
from .sample import METRICS, NearestNames, Scorer
from .version import METRIC_VERSION, SCORER_SHA256

STRICT, LENIENT = "strict", "lenient"
PROFILES = (STRICT, LENIENT, PUBLISHED)
ZERO_ONE_METRICS = ("em", "tool_acc", "kg_em", "kg_coverage", "kg_no_hallucination", "kg_no_hallucination_after")
"""Those that are 0 or 1 for each sample, so that Wilson's interval is defined."""


def score(
    references: Sequence[Mapping[str, Any]],
    predictions: Sequence[Mapping[str, Any]],
    seed: int = 0,
    *,
    graph: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    extraction: str = GREEDY,
    k: int = DEFAULT_K,
    nearest: NearestNames | None = None,
    policies: frozenset[str] = frozenset(POLICIES),
) -> dict[str, Any]:
    """Return the scores of predictions joined to references by id, with intervals, counts and one record for each sample.

    A reference has `id`, `calls`, and where they exist `alternatives`, `golden_triples`, `argument_sources`, `ordered`,
    `candidate_tools`, `graph` (or `graph_id`), `user` (the published message); a prediction has `id` and any of `calls` or
    `call_text`, `triples`, `paths_text`, or an `error`. Metrics are 0 to 1, None is not applicable.
    Tool use is not applicable where the reference has no `calls`, or where no answered prediction of the run has any; the
    same for the graph metrics and triples. In a run that has them, a prediction without them is wrong. A malformed call or
    triple of a prediction is counted and never right, and a text that cannot be read is no abstention; a malformed reference,
    and an id that is double or unknown, raises ValueError. Nothing here is drawn at random: `seed` is handed through to the
    result.

    Args:
        references: the rows that are asked for.
        predictions: the answers, in any order.
        seed: of the run.
        graph: the triples in which `paths_text` is looked up, or such lists by `graph_id`; a reference's own `graph` goes first.
        extraction: how `paths_text` becomes triples: exact, greedy or retrieval.
        k: how many relations replace an unknown one (retrieval).
        nearest: (unknown name, known names, k) -> the nearest known names; by spelling where none is given.
        policies: the switches of the lenient profile.

    >>> reference = {"id": "a", "calls": [{"name": "book", "arguments": {"city": "Dallas", "people": 2}}]}
    >>> result = score([reference], [{"id": "a", "calls": [{"name": "book", "arguments": {"people": 2.0, "city": "dallas"}}]}])
    >>> result["scores"]["strict"]["em"], result["scores"]["lenient"]["em"], result["samples"][0]["codes"]
    (0.0, 1.0, ['case'])
    """
    golden, given = rows_by_id(references, "references"), rows_by_id(predictions, "predictions")
    unknown = [repr(key) for key in given if key not in golden]
    if unknown:
        raise ValueError(
            f"predictions: id {unknown[0]} is in no reference ({len(unknown)} such in all); predict the ids of the references."
        )
    if extraction not in METHODS:
        raise ValueError(f"there is no extraction {extraction!r}; give one of {', '.join(METHODS)}.")
    answered = [row for row in given.values() if not row.get("error")]
    scorer = Scorer(
        graph=graph,
        method=extraction,
        k=k,
        nearest=nearest or lexical.nearest,
        lenience=Lenience(policies),
        has_calls=not answered or any(row.get(name) is not None for row in answered for name in ("calls", "call_text")),
        has_triples=not answered or any(row.get(name) is not None for row in answered for name in ("triples", "paths_text")),
    )
    samples = [scorer.score(reference, given.get(key), f"{key!r}") for key, reference in golden.items()]
    by_profile = {
        STRICT: samples,
        LENIENT: [sample["profiles"][LENIENT] for sample in samples],
        PUBLISHED: [sample["profiles"][PUBLISHED] for sample in samples],
    }
    columns = {metric: [sample[metric] for sample in samples if sample[metric] is not None] for metric in METRICS}
    return {
        "metric_version": METRIC_VERSION,
        "scorer_sha256": SCORER_SHA256,
        "seed": seed,
        "n": len(samples),
        "n_errors": scorer.n_errors,
        "n_parse_failures": scorer.n_parse_failures,
        "n_not_applicable": {metric: len(samples) - len(column) for metric, column in columns.items()},
        "scores": {profile: _means(rows) for profile, rows in by_profile.items()},
        "intervals": {metric: wilson_interval(column) if metric in ZERO_ONE_METRICS else None for metric, column in columns.items()},
        "extraction": {
            "method": extraction,
            **({"k": k, "encoder": "given" if nearest else lexical.ENCODER} if extraction == "retrieval" else {}),
            "codes": dict(sorted(scorer.path_codes.items())),
        },
        "lenient_policies": sorted(policies),
        "differing": [sample["id"] for sample in samples if sample["em"] != sample["profiles"][LENIENT]["em"]],
        "causal_split": causal_split(samples),
        "samples": samples,
    }


def causal_split(samples: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Count the samples by whether what the call needs was extracted, and whether the call is right.

    It says which half lost a sample: `covered_wrong` was lost by tool use, `uncovered_wrong` by extraction.

    >>> causal_split([{"kg_coverage": 1.0, "em": 0.0}, {"kg_coverage": None, "em": 1.0}])["covered_wrong"]
    1
    """
    counts = Counter(
        "not_applicable"
        if sample["kg_coverage"] is None or sample["em"] is None
        else f"{'covered' if sample['kg_coverage'] else 'uncovered'}_{'right' if sample['em'] else 'wrong'}"
        for sample in samples
    )
    return {name: counts[name] for name in ("covered_right", "covered_wrong", "uncovered_right", "uncovered_wrong", "not_applicable")}


def _means(rows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """The mean of each metric over the samples to which it applies."""
    names = [name for name in (rows[0] if rows else ()) if name not in ("id", "codes", "profiles")] or list(METRICS)
    columns = {name: [row[name] for row in rows if row[name] is not None] for name in names}
    return {name: math.fsum(column) / len(column) if column else None for name, column in columns.items()}
