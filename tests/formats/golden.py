"""What the tests of the readers of benchmarks share: reading rows of our own, and judging golden calls by their documents."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import strategies as st

from familytool.errors import FamilytoolError
from familytool.formats.benchmark_files import Source
from familytool.model import Finding, Sample, Tool
from familytool.validation.schema import schema_findings


def read(module: ModuleType, path: Path, documents: Path | None = None) -> tuple[list[Sample], list[str]]:
    """The samples of a file or folder, and what was rejected."""
    rejected: list[str] = []
    return list(module.read_samples(Source(path, "x", documents), rejected)), rejected


def write_lines(path: Path, *rows: Any) -> Path:
    """A JSONL file of these rows; a text is written as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def junk(*keys: str) -> st.SearchStrategy[Any]:
    """JSON values that abound in the keys and words of a format."""
    words = st.sampled_from([*keys, "", " ", "name", "{}", "[", '{"a": 1, "a": 2}']) | st.text(max_size=4)
    plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words
    return st.recursive(plain, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6), max_leaves=20)


def ends_well(module: ModuleType, path: Path, documents: Path | None = None) -> None:
    """Whatever stands in a file, each row is a sample or is rejected with its place, in sentences of one line."""
    try:
        samples, rejected = read(module, path, documents)
    except FamilytoolError as error:
        assert "\n" not in str(error)
        return
    assert all(path.stem in sentence and "\n" not in sentence for sentence in rejected)
    assert len({sample.id for sample in samples}) == len(samples)
    for sample in samples:
        assert Sample.model_validate_json(sample.model_dump_json()).calls == sample.calls
        assert (sample.kind == "no_tool") == (not sample.calls and not sample.provenance.get("unparsed"))
        assert all(_holds(sample, pointer, source) for pointer, source in sample.argument_sources.items())


def _holds(sample: Sample, pointer: str, source: dict[str, Any]) -> bool:
    """Whether the value that a source is about is there and holds its text, and whether the call that it names is an earlier one."""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    value: Any = sample.calls[int(parts[0])].arguments
    for part in parts[2:]:
        value = value[int(part)] if isinstance(value, list) else value[part]
    is_earlier = source.get("call") is None or 0 <= source["call"] < int(parts[0])
    return parts[1] == "arguments" and isinstance(value, str) and source["text"] in value and is_earlier


def judged(samples: Iterable[Sample], references_are_legal: bool) -> Counter[str]:
    """Counts of golden calls: `calls`, `not offered`, `conform`, `fail`, and names `missing` and `unknown`; findings by their code.

    A call conforms if it does to one of the candidate documents of its name; else the findings are those of the best one.
    """
    counts: Counter[str] = Counter()
    for sample in samples:
        for number, call in enumerate(sample.calls):
            counts["calls"] += 1
            results = [
                (_findings(sample, tool, number, references_are_legal), tool) for tool in sample.candidate_tools if tool.name == call.name
            ]
            if not results:
                counts["not offered"] += 1
                continue
            best, tool = min(results, key=lambda result: len(result[0]))
            counts["fail" if best else "conform"] += 1
            counts.update(found.code for found in best)
            counts["unknown"] += len(call.arguments.keys() - tool.parameters["properties"].keys())
            counts["missing"] += len(set(tool.parameters.get("required", [])) - call.arguments.keys())
    return counts


def _findings(sample: Sample, tool: Tool, number: int, references_are_legal: bool) -> list[Finding]:
    found = schema_findings(tool.parameters, sample.calls[number].arguments, f"/{number}/arguments")
    assert found is not None, tool.name
    return [finding for finding in found if not (references_are_legal and _is_reference(sample, finding))]


def _is_reference(sample: Sample, found: Finding) -> bool:
    """Whether a finding is about the value of a reference; that the parameter is unknown is none of these."""
    return found.code != "unknown_parameter" and sample.argument_sources.get(found.path, {}).get("source") in ("result", "hole")


def references(samples: Iterable[Sample]) -> list[dict[str, Any]]:
    """All recorded references, one for each place in the arguments."""
    return [source for sample in samples for source in sample.argument_sources.values() if source["source"] == "result"]
