"""Scores predicted tool calls and extracted triples against references: the strict profile.

The calls of a sample are a multiset (unless `ordered`): only calls of equal name pair, and the pairing maximises exact calls,
then equal (parameter, value) pairs, then takes the smallest indices. Values are compared typed. A sample that errored, or
that nobody predicted, stays in the denominator as wrong. The folder needs nothing but the standard library.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .intervals import wilson_interval
from .rows import Scores, failure_code, rows_by_id
from .tool_use import TOOL_METRICS, score_calls
from .triples import KG_METRICS, score_triples
from .version import METRIC_VERSION, SCORER_SHA256

METRICS = TOOL_METRICS + KG_METRICS
ZERO_ONE_METRICS = ("em", "tool_acc", "kg_em", "kg_coverage")
"""Those that are 0 or 1 for each sample, so that Wilson's interval is defined."""


def score(references: Sequence[Mapping[str, Any]], predictions: Sequence[Mapping[str, Any]], seed: int = 0) -> dict[str, Any]:
    """Return the scores of predictions joined to references by id, with intervals, counts and one record for each sample.

    A reference has `id`, `calls`, and where they exist `alternatives`, `golden_triples`, `argument_sources`, `ordered`,
    `candidate_tools`; a prediction has `id`, `calls` or `error`, and `triples`. Metrics are 0 to 1, None is not applicable.
    Tool use is not applicable where the reference has no `calls`, or where no answered prediction of the run has any; the
    same for the graph metrics and triples. In a run that has them, a prediction without them is wrong. A malformed call or
    triple of a prediction is counted and never right; a malformed reference, and an id that is double or unknown, raises
    ValueError. Nothing here is drawn at random: `seed` is handed through to the result.

    >>> reference = {"id": "a", "calls": [{"name": "book", "arguments": {"city": "Dallas", "people": 2}}]}
    >>> result = score([reference], [{"id": "a", "calls": [{"name": "book", "arguments": {"people": 2.0, "city": "dallas"}}]}])
    >>> result["scores"]["strict"]["em"], result["scores"]["strict"]["value_acc"], result["samples"][0]["codes"]
    (0.0, 0.5, ['case'])
    """
    golden, given = rows_by_id(references, "references"), rows_by_id(predictions, "predictions")
    unknown = [repr(key) for key in given if key not in golden]
    if unknown:
        raise ValueError(
            f"predictions: id {unknown[0]} is in no reference ({len(unknown)} such in all); predict the ids of the references."
        )
    answered = [row for row in given.values() if not row.get("error")]
    has_calls = not answered or any(row.get("calls") is not None for row in answered)
    has_triples = not answered or any(row.get("triples") is not None for row in answered)

    samples, n_errors = [], 0
    for key, reference in golden.items():
        prediction = given.get(key)
        failure = failure_code(prediction)
        n_errors += failure is not None
        row = {} if prediction is None or failure else prediction
        scores: Scores = dict.fromkeys(METRICS)
        codes = {failure} if failure else set()
        if has_calls and reference.get("calls") is not None:
            tool_scores, tool_codes = score_calls(reference, row.get("calls"), f"{key!r}")
            scores |= tool_scores
            codes |= tool_codes if failure is None else tool_codes - {"no_calls"}
        if has_triples and reference.get("golden_triples") is not None:
            kg_scores, kg_codes = score_triples(reference, row.get("triples"), f"{key!r}")
            scores |= kg_scores
            codes |= kg_codes if failure is None else kg_codes - {"no_triples"}
        samples.append({"id": reference["id"], **scores, "codes": sorted(codes)})

    columns = {metric: [sample[metric] for sample in samples if sample[metric] is not None] for metric in METRICS}
    return {
        "metric_version": METRIC_VERSION,
        "scorer_sha256": SCORER_SHA256,
        "seed": seed,
        "n": len(samples),
        "n_errors": n_errors,
        "n_not_applicable": {metric: len(samples) - len(column) for metric, column in columns.items()},
        "scores": {"strict": {metric: math.fsum(column) / len(column) if column else None for metric, column in columns.items()}},
        "intervals": {metric: wilson_interval(column) if metric in ZERO_ONE_METRICS else None for metric, column in columns.items()},
        "samples": samples,
    }
