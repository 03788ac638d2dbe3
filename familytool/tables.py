"""What a whole table of samples must keep to: counts, uniqueness, value sets, rules across columns; run by Great Expectations.

Checks on one sample cannot see a missing row, a second id or an empty stratum. Here the samples become a table of plain
columns, and one suite of expectations says what is wrong with it, with the ids of the rows. The audit and the release gate use it.
"""

from __future__ import annotations

import html
import importlib.util
import math
import os
import warnings
from array import array
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from familytool.errors import FamilytoolError
from familytool.model import Json, Record, Sample
from familytool.table_rules import COUNTS, NAMES, TEXTS, Rule, rules_of
from familytool.table_rules import Expected as Expected

if TYPE_CHECKING:
    import pandas

EXAMPLES = 20
"""How many rows are named for each expectation that is not met."""
SHOWN = 200
"""How many characters of an unexpected value are shown."""


class ExpectationResult(Record):
    """One expectation and what was found.

    `success` and the rate are None where there was no row to look at. `n_missing` rows had no value to look at (never a
    success). `ids` name up to 20 of the unexpected rows, by id, or as `row <n>` (from 1) where the id is blank or not unique.
    `observed`: the number that a count found, or up to 20 distinct unexpected values.
    """

    name: str
    title: str
    sentence: str
    success: bool | None
    n_checked: int
    n_missing: int
    n_unexpected: int | None
    unexpected_rate: float | None
    ids: tuple[str, ...] = ()
    observed: Json = None


class TableResult(Record):
    """What became of all expectations; `suite` is Great Expectations' own JSON of them, fit for its `ExpectationSuite(**suite)`."""

    success: bool
    n_rows: int
    expectations: tuple[ExpectationResult, ...]
    great_expectations: str
    suite: dict[str, Json] = Field(default={}, repr=False)

    def failures(self) -> tuple[ExpectationResult, ...]:
        """The expectations that are not met."""
        return tuple(result for result in self.expectations if result.success is False)

    def as_json(self) -> dict[str, Json]:
        """The result as plain JSON, without the suite."""
        counts = {name: sum(result.success is value for result in self.expectations) for name, value in _OUTCOMES.items()}
        return {
            "success": self.success,
            "n_rows": self.n_rows,
            **counts,
            **self.model_dump(mode="json", exclude={"success", "n_rows", "suite"}),
        }


_OUTCOMES = {"n_met": True, "n_failed": False, "n_not_applicable": None}


def tables_available() -> bool:
    """Whether Great Expectations is installed; nothing is imported."""
    return importlib.util.find_spec("great_expectations") is not None


def check_table(rows: Iterable[Sample], expected: Expected | None = None, data_docs: Path | None = None) -> TableResult:
    """Check the table of a stream of samples; what is unexpected is in the result.

    Args:
        rows: the samples, read once; of each only the plain columns are kept.
        expected: what is expected beyond the rules for every benchmark.
        data_docs: a folder for Great Expectations' own pages (they fetch their styles from the network, our reports do not).

    Raises:
        FamilytoolError: Great Expectations is not installed, the folder cannot be used, or an expectation cannot be evaluated.
    """
    if not tables_available():
        raise FamilytoolError("table expectations: great_expectations is not installed; call: pip install 'familytool[tables]'")
    return check_frame(frame_of(rows), expected or Expected(), data_docs)


def frame_of(rows: Iterable[Sample]) -> pandas.DataFrame:
    """The samples as a pandas DataFrame of plain columns, one row each, the index being the row number from 0.

    Blank text (nothing that prints) is null. Names are categories and numbers int32, so that 100,000 rows take some 25 MB.
    `n_golden_calls` counts calls whose text could not be parsed too; `n_offered_calls` those whose tool is a candidate;
    `tool` is the first call's.
    """
    import numpy as np
    import pandas as pd

    texts: dict[str, list[str | None]] = {name: [] for name in TEXTS}
    codes = {name: array("i") for name in NAMES}
    categories: dict[str, dict[str, int]] = {name: {} for name in NAMES}
    counts = {name: array("i") for name in COUNTS}
    for sample in rows:
        for name, text in _texts(sample):
            if name in texts:
                texts[name].append(text)
            else:
                codes[name].append(-1 if text is None else categories[name].setdefault(text, len(categories[name])))
        for name, number in _counts(sample):
            counts[name].append(number)
    columns: dict[str, Any] = {name: pd.Series(values, dtype=object) for name, values in texts.items()}
    for name, known in categories.items():
        columns[name] = pd.Categorical.from_codes(np.asarray(codes[name]), pd.Index(list(known), dtype=object))
    return pd.DataFrame({**columns, **{name: np.asarray(values) for name, values in counts.items()}})


def _texts(sample: Sample) -> Iterator[tuple[str, str | None]]:
    for name in ("id", "query", "benchmark", "kind", "graph_id", "speaker", "shape", "category"):
        yield name, _text(getattr(sample, name))
    yield "stratum", f"hop{sample.hops}" if sample.kind == "graph" else _text(sample.kind)
    yield "tool", _text(sample.calls[0].name) if sample.calls else None


def _text(value: object) -> str | None:
    """A text as the table holds it: None if nothing of it prints; a lone surrogate, which pandas cannot hash, spelled out."""
    if not isinstance(value, str):
        return None
    if not value[:1].isalnum() and not any(c.isprintable() and not c.isspace() for c in value):
        return None
    return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")


def _counts(sample: Sample) -> Iterator[tuple[str, int]]:
    offered = {tool.name for tool in sample.candidate_tools}
    unparsed = sample.provenance.get("unparsed")
    yield "query_words", len(sample.query.split())
    yield "n_candidate_tools", len(sample.candidate_tools)
    yield "n_distinct_tools", len(offered)
    yield "hops", sample.hops
    yield "n_distinct_triples", len({(t.head, t.relation, t.tail) for t in sample.golden_triples})
    yield "depth", sample.depth
    yield "n_calls", len(sample.calls)
    yield "n_golden_calls", len(sample.calls) + (len(unparsed) if isinstance(unparsed, list) else 0)
    yield "n_offered_calls", sum(call.name in offered for call in sample.calls)
    yield "n_arguments", sum(len(call.arguments) for call in sample.calls)


def check_frame(frame: pandas.DataFrame, expected: Expected, data_docs: Path | None = None) -> TableResult:
    """Check a table as `frame_of` makes it (see `check_table`)."""
    rules = rules_of(expected)
    version, suite, results = _evaluated(frame, rules, data_docs)
    unnamed = frame["id"].isna() | frame["id"].duplicated(keep=False)

    def name_of(row: int) -> str:
        return f"row {row + 1}" if unnamed[row] else str(frame["id"][row])

    def missing(rule: Rule) -> int:
        return int(frame[list(rule.columns)].isna().any(axis=1).sum())

    found = tuple(_result(rule, results[rule.name], missing(rule), name_of) for rule in rules)
    success = all(result.success is not False for result in found)
    return TableResult(success=success, n_rows=len(frame), expectations=found, great_expectations=version, suite=suite)


def _result(rule: Rule, found: dict[str, Any], missing: int, name_of: Callable[[int], str]) -> ExpectationResult:
    """What was found of one rule; rows that Great Expectations passed over (`missing`) make it a failure."""
    said, result = {"name": rule.name, "title": rule.title, "sentence": rule.sentence, "n_missing": missing}, found["result"]
    if "observed_value" in result:
        rows, met = result["observed_value"], found["success"] and not missing
        return ExpectationResult(**said, success=met, n_checked=rows, n_unexpected=None, unexpected_rate=None, observed=rows)
    if "unexpected_count" not in result:
        raise FamilytoolError(f"table expectations: '{rule.sentence}' cannot be evaluated ({str(found['exception_info'])[:SHOWN]}).")
    checked, unexpected = result["element_count"], result["unexpected_count"]
    return ExpectationResult(
        **said,
        success=(found["success"] and not missing) if checked or missing else None,
        n_checked=checked,
        n_unexpected=unexpected,
        unexpected_rate=unexpected / checked if checked else None,
        ids=tuple(map(name_of, result["partial_unexpected_index_list"][:EXAMPLES])),
        observed=list({str(value): value for value in map(_shown, result["partial_unexpected_list"])}.values()),
    )


def _shown(value: Json) -> Json:
    """An unexpected value fit for a report: long text is cut, a missing number is null."""
    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]
    if isinstance(value, str) and len(value) > SHOWN:
        return value[:SHOWN] + "..."
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _evaluated(
    frame: pandas.DataFrame, rules: list[Rule], data_docs: Path | None
) -> tuple[str, dict[str, Json], dict[str, dict[str, Any]]]:
    """The version of Great Expectations, its JSON of the suite, and its result of each rule.

    Rows are told by their number. With `unexpected_index_column_names` it walks over all unexpected rows, one at a time: 77 s
    instead of 1 s for 100,000 rows; and `COMPLETE` results hold every one of them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its import and its pages use names that Python, pandas and marshmallow have deprecated
        gx, column = _library()
        context = gx.get_context(mode="ephemeral")
        context.variables.analytics_enabled = False
        context.variables.progress_bars = {"globally": False, "metric_calculations": False}
        suite = context.suites.add(gx.ExpectationSuite(name="familytool", expectations=[_expectation(rule, gx, column) for rule in rules]))
        batches = context.data_sources.add_pandas("familytool").add_dataframe_asset("samples").add_batch_definition_whole_dataframe("all")
        definition = context.validation_definitions.add(gx.ValidationDefinition(name="samples", data=batches, suite=suite))
        wanted = {"result_format": "SUMMARY", "partial_unexpected_count": EXAMPLES, "return_unexpected_index_query": False}
        result = definition.run(batch_parameters={"dataframe": frame}, result_format=wanted)
        if data_docs is not None:
            _write_pages(context, definition, _escaped(frame), wanted, data_docs)
        found = {entry.expectation_config.meta["name"]: entry.to_json_dict() for entry in result.results}
        return gx.__version__, _suite_json(suite), found


def _library() -> tuple[Any, Any]:
    """Great Expectations and the class of its row conditions (since 1.9; older ones are texts and deprecated)."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"  # read at import
    try:
        import great_expectations
        from great_expectations.expectations.row_conditions import Column
    except ImportError as error:
        raise FamilytoolError(
            f"table expectations: great_expectations cannot be used ({error}); call: pip install --upgrade 'familytool[tables]'"
        ) from None
    return great_expectations, Column


def _expectation(rule: Rule, gx: Any, column: Any) -> Any:
    """A rule as an expectation of Great Expectations, which shows our sentence in its pages and gives our name back."""
    arguments = {**rule.arguments, "meta": {"name": rule.name}, "description": rule.sentence}
    if rule.when:
        name, operator, value = rule.when
        compared = {"==": column.__eq__, "!=": column.__ne__, ">": column.__gt__, "in": column.is_in}[operator]
        arguments["row_condition"] = compared(column(name), value)
    return getattr(gx.expectations, rule.type)(**arguments)


def _write_pages(context: Any, definition: Any, frame: pandas.DataFrame, wanted: dict[str, Any], folder: Path) -> None:
    """Run once more, for Great Expectations' own pages in a folder of their own."""
    import great_expectations as gx
    from great_expectations.checkpoint import UpdateDataDocsAction

    if folder.is_dir() and any(folder.iterdir()) and not (folder / "index.html").is_file():
        raise FamilytoolError(f"{folder}: holds something else than data docs; give a new or empty folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        store = {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(folder.resolve())}
        site = {"class_name": "SiteBuilder", "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"}, "store_backend": store}
        context.add_data_docs_site(site_name="familytool", site_config=site)
        pages = UpdateDataDocsAction(name="pages", site_names=["familytool"])
        checkpoint = gx.Checkpoint(name="samples", validation_definitions=[definition], actions=[pages], result_format=wanted)
        context.checkpoints.add(checkpoint).run(batch_parameters={"dataframe": frame})
    except OSError as error:
        raise FamilytoolError(f"{folder}: the data docs cannot be written ({error.strerror or error}); give another folder.") from None


def _escaped(frame: pandas.DataFrame) -> pandas.DataFrame:
    """The table with all text escaped for HTML: the pages show unexpected values as they are, scripts of a foreign set included."""
    columns: dict[str, Any] = {name: frame[name].map(html.escape, na_action="ignore") for name in TEXTS}
    return frame.assign(**columns, **{name: frame[name].cat.rename_categories(html.escape) for name in NAMES})


def _suite_json(suite: Any) -> dict[str, Json]:
    """The suite without the random ids that Great Expectations gives, so that equal suites are equal files."""
    stored = suite.to_json_dict()
    bare = [{key: value for key, value in entry.items() if key != "id"} for entry in stored["expectations"]]
    return {"name": stored["name"], "meta": stored["meta"], "expectations": bare}
