"""xLAM / APIGen as a benchmark: rows `{id, query, answers, tools}`, the last two as JSON texts (in some copies as lists).

Golden calls are `{name, arguments}`. Documents are written as flat maps, the form's own, where those say all that the document
says, else with a JSON Schema under `parameters`, which many copies of the set have. What a sample says as `raw` (the row) says it
is written as it stood there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from familytool.formats import xlam
from familytool.formats.benchmark_files import Source, read_records
from familytool.formats.benchmark_rows import Distinct, Golden, add_unparsed, distinct_ids, files_of, made_sample, number_in, place_name
from familytool.formats.openai import DocumentError, shown
from familytool.formats.sample_writing import once_each, require_same, written_samples
from familytool.formats.text import TextError, parse_json
from familytool.kgetool.parse import calls_of
from familytool.model import Json, Sample, Tool, ToolCall, canonical

NAME = "xlam"
CARRIES = "query, candidate documents, golden calls"
LOST = (
    "graph, speaker, categories, twins, the order of calls, where arguments come from, response schemas, notes and our x-phrase hints; "
    "rows that accept alternatives are rejected"
)
FILES = ("",)


def looks_like(record: Json) -> bool:
    """Whether a record is a row: a query, answers and tools."""
    return isinstance(record, dict) and xlam.looks_like(record)


def read_samples(source: Source, rejected: list[str]) -> Iterator[Sample]:
    """The samples of a file; rows that are none go into `rejected`."""
    distinct = distinct_ids(source.benchmark)
    records = (
        pair for file in files_of(source.path, looks_like, rejected) for pair in read_records(file, rejected, place_name(file, source))
    )
    for place, row in records:
        try:
            yield sample_of_row(row, source, place, distinct)
        except ValueError as error:
            identity = row.get("id") if isinstance(row, dict) else None
            named = f"{place} ({identity})" if isinstance(identity, str | int) else place
            rejected.append(f"{named}: {error}")


def sample_of_row(row: Json, source: Source, place: str, distinct: Distinct) -> Sample:
    """The sample of a row (ValueError: it is none, and why)."""
    if not looks_like(row):
        raise DocumentError(f"{shown(row)} is no row with query, answers and tools")
    tools = _tools(row)
    golden = Golden()
    _add_answers(golden, row["answers"])
    sample_id = distinct(row.get("id"), number_in(place) if place else 0, golden.notes)
    origin = {"format": NAME, "place": place, "id": row.get("id")}
    return made_sample(source, sample_id, row["query"], tools, golden, origin, row, "")


def _tools(row: dict[str, Json]) -> tuple[Tool, ...]:
    documents = xlam.documents_of(row)
    for number, document in enumerate(documents, 1):
        if not isinstance(document, dict):
            raise DocumentError(f"entry {number} of 'tools' is {shown(document)}, no tool document")
    return tuple(_tool(json.dumps(document, ensure_ascii=False)) for document in documents)


@lru_cache(maxsize=4096)
def _tool(text: str) -> Tool:
    """The tool of a document's JSON text; cached, so that equal documents are one object."""
    return xlam.tool_of(json.loads(text), "", 1)


def _add_answers(golden: Golden, answers: Json) -> None:
    """Add the golden calls; each that cannot be read is kept as text."""
    try:
        listed = parse_json(answers) if isinstance(answers, str) else answers
        if not isinstance(listed, list):
            raise TextError(f"the answers are {shown(listed)}, no list of calls")
    except TextError as error:
        add_unparsed(golden, 0, error, answers)
        return
    for number, entry in enumerate(listed):
        parsed = calls_of(entry)
        if parsed.faults:
            add_unparsed(golden, number, TextError(parsed.faults[0].message, parsed.faults[0].code), entry)
            continue
        golden.calls += [ToolCall(name=call["name"], arguments=call["arguments"]) for call in parsed.calls]
        golden.notes += [f"call {number}: {note}" for note in parsed.notes]


def write_samples(
    samples: Iterable[Sample],
    name: str,
    rejected: list[str] | None = None,
) -> Iterator[tuple[str, str]]:
    """(file, text) pairs, one line for each sample.

    Args:
        samples: samples; their `raw` gives the spelling of what they still say.
        name: the benchmark (not needed: the form is one file).
        rejected: gets "id: reason" of each sample that this form cannot say; where it is not given, that is an error.

    Raises:
        FamilytoolError: a sample that cannot be said, if `rejected` is not given.
    """
    yield from (("", line) for line in written_samples(samples, write_line, NAME, rejected))


def write_line(sample: Sample) -> str:
    """The row of a sample, with its line feed (DocumentError: why this form cannot say it)."""
    before = _before(sample)
    if sample.alternatives:
        raise DocumentError("it accepts alternatives, and a row has one list of answers")
    if sample.kind != "no_tool" and not sample.calls and before is None:
        raise DocumentError(f"it has no golden call, and is of kind {sample.kind}")
    row = dict(before.raw) if before else {"id": _identity(sample), "query": "", "answers": "", "tools": ""}
    if before is None or sample.query != before.query:
        row["query"] = sample.query
    answers = _answers(sample, before)
    if answers is not None:
        row["answers"] = _encoded(answers, row["answers"])
    documents = _documents(sample, before)
    if documents is not None:
        row["tools"] = _encoded(documents, row["tools"])
    line = json.dumps(row, ensure_ascii=False) + "\n"
    try:
        line.encode()
        back = _read_again(parse_json(line), sample)
    except UnicodeEncodeError:
        raise DocumentError("it holds half of a surrogate pair, which is no character") from None
    except ValueError as error:
        raise DocumentError(f"its row could not be read again: {error}") from None
    require_same(_told(sample), _told(back))
    return line


def _identity(sample: Sample) -> Json:
    """The id in this form: a number where it is one."""
    own = sample.id.removeprefix(f"{sample.benchmark}-")
    return int(own) if len(own) < 19 and own.isdecimal() and str(int(own)) == own else own


def _read_again(row: Json, sample: Sample) -> Sample:
    return sample_of_row(row, Source(Path(), benchmark=sample.benchmark), "", lambda *_: sample.id)


def _before(sample: Sample) -> Sample | None:
    """The sample as its `raw` says it, if that is a row of this form."""
    try:
        return _read_again(sample.raw, sample) if looks_like(sample.raw) else None
    except ValueError:
        return None


def _told(sample: Sample) -> dict[str, str]:
    """What a row tells of a sample, as texts to be compared."""
    told = {"the query": repr(sample.query), "the kind": "no_tool" if sample.kind == "no_tool" else "a call"}
    told["the calls"] = json.dumps([[call.name, call.arguments] for call in sample.calls])
    told["the number of documents"] = str(len(sample.candidate_tools))
    return told | {f"document {number} ({tool.name})": _said(tool) for number, tool in enumerate(sample.candidate_tools)}


@once_each
def _said(tool: Tool) -> str:
    """What a document says, as text; a blank description of a parameter, which the flat map always has, says nothing."""
    parameters = tool.as_candidate().parameters
    properties = {
        name: {key: value for key, value in inner.items() if (key, value) != ("description", "")} if isinstance(inner, dict) else inner
        for name, inner in parameters.get("properties", {}).items()
    }
    return canonical([tool.name, tool.description, {"required": [], **parameters, "properties": properties}])


def _encoded(value: Json, before: Json) -> Json:
    """A list in the shape of its predecessor: JSON text, or the list itself."""
    return json.dumps(value, ensure_ascii=False) if isinstance(before, str) else value


def _answers(sample: Sample, before: Sample | None) -> Json:
    """The golden calls as a list; None where they are as they were."""
    calls = [{"name": call.name, "arguments": call.arguments} for call in sample.calls]
    if before is None:
        return calls
    old = [{"name": call.name, "arguments": call.arguments} for call in before.calls]
    if json.dumps(calls) == json.dumps(old):
        return None
    if sample.provenance.get("unparsed"):
        raise DocumentError("its calls were changed, and some of its golden calls could not be read")
    listed = parse_json(before.raw["answers"]) if isinstance(before.raw["answers"], str) else before.raw["answers"]
    if len(listed) != len(calls) or len(old) != len(calls):
        return calls
    return [entry if call == was else call for entry, call, was in zip(listed, calls, old, strict=True)]


def _documents(sample: Sample, before: Sample | None) -> Json:
    """The candidate documents as a list; None where they are as they were."""
    known: dict[str, Json] = {}
    if before is not None:
        if list(map(_said, before.candidate_tools)) == list(map(_said, sample.candidate_tools)):
            return None
        known = {_said(tool): tool.raw for tool in before.candidate_tools}
    return [known.get(_said(tool)) or write_document(tool) for tool in sample.candidate_tools]


@once_each
def write_document(tool: Tool) -> dict[str, Json]:
    """A tool with its parameters as a flat map if its reader gets them all from there, else as a JSON Schema.

    >>> plain = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
    >>> write_document(Tool(name="f", parameters=plain))["parameters"]
    {'n': {'description': '', 'type': 'int'}}
    >>> limited = {**plain, "properties": {"n": {"type": "integer", "minimum": 1}}}
    >>> write_document(Tool(name="f", parameters=limited))["parameters"] == limited
    True
    """
    flat = xlam.write_document(tool)
    try:
        if _said(xlam.tool_of(flat, "", 1)) == _said(tool):
            return flat
    except ValueError:
        pass
    return {**flat, "parameters": tool.as_candidate().parameters}
