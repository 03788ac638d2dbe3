"""The published FamilyTool benchmark (2025): sample files `familytool-*.jsonl` and graph files `familykg-*.txt`, read and written.

A row is a JSON array of four messages: `id`, `candidate_tools`, `user`, `tool_call`. Whatever was tolerated stands in
`provenance["notes"]` of the sample, or in `notes` of the tool document; the row as it was is `raw`. A row is written from its
sample; where the sample says what `raw` says, it is spelled as in `raw`, so that a change moves what it changes and nothing
else. Each line that is written is read again: a sample that does not come back the same is rejected with the reason.
The files have no licence: they are read where the user keeps them and no row of them is part of this project.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import count

from familytool.formats.benchmark_files import Source, text_lines
from familytool.formats.benchmark_rows import files_of, place_name
from familytool.formats.familytool_2025_rows import ID_PREFIX, sample_of_row
from familytool.formats.familytool_2025_text import MARKER, UserText, golden_triples, listed_by_paths, merged, split_user, write_golden
from familytool.formats.familytool_2025_tools import ROLES, is_row, write_document
from familytool.formats.foreign_files import MAX_LINE
from familytool.formats.graph_lines import read_literal_lines
from familytool.formats.openai import DocumentError
from familytool.formats.sample_writing import require_same, said, written_samples
from familytool.formats.text import parse_json
from familytool.graph import KnowledgeGraph
from familytool.model import Json, Sample, canonical

NAME = "familytool-2025"
CARRIES = "speaker, query, candidate documents, golden triples, golden calls"
LOST = (
    "rows without golden triples or calls and rows with alternatives are rejected; not written: categories, twins, the order of calls, "
    "where arguments come from (found again when read), ids that are no numbers; names with commas or brackets are written in quotation "
    "marks, which the published program does not read"
)
FILES = ("",)

looks_like = is_row


def read_samples(source: Source, rejected: list[str]) -> Iterator[Sample]:
    """The samples of a published file, one line at a time; rows that cannot be read go into `rejected`."""
    lines = (pair for file in files_of(source.path, looks_like, rejected) for pair in text_lines(file, rejected, place_name(file, source)))
    yield from read_sample_lines(lines, source.benchmark, source.graph_id or source.benchmark, rejected)


def read_sample_lines(lines: Iterable[tuple[str, str]], benchmark: str, graph_id: str, rejected: list[str]) -> Iterator[Sample]:
    """The samples of a file, one line at a time; equal tool documents are one Tool object.

    Args:
        lines: (place, line) pairs; the place says file and line. Empty lines are ignored.
        benchmark: name of the set. It begins every id (`KGMTUbench_7` becomes `<benchmark>-7`), since the ids of the published
            sets collide; the original id is in the provenance.
        graph_id: the graph in which the golden triples stand.
        rejected: gets place and reason of each row that cannot be read, with its id where it has one.
    """
    seen: dict[str, str] = {}
    for place, line in lines:
        if not line.strip():
            continue
        named = ""
        try:
            row = parse_json(line)
            named = f" ({row[0]['content']})" if is_row(row) and isinstance(row[0].get("content"), str) else ""
            sample = sample_of_row(row, place, benchmark, graph_id)
            if sample.id in seen:
                raise DocumentError(f"the id '{sample.provenance['id']}' occurs a second time (first at {seen[sample.id]})")
        except ValueError as error:  # TextError, DocumentError, and Python's own limit for the digits of an integer
            rejected.append(f"{place}{named}: {error}")
            continue
        seen[sample.id] = place
        yield sample


def read_graph(lines: Iterable[tuple[str, str]], graph_id: str, rejected: list[str]) -> KnowledgeGraph:
    """The graph of a file with one Python list of three texts a line; nothing is evaluated, empty lines are ignored.

    >>> bad = []
    >>> graph = read_graph([("kg.txt:1", "['Bob', 'mother', 'Alice']"), ("kg.txt:2", "print(1)")], "family", bad)
    >>> len(graph), bad
    (1, ['kg.txt:2: neither JSON nor a Python literal (ValueError)'])
    """
    return read_literal_lines(lines, graph_id, rejected)


def write_samples(
    samples: Iterable[Sample],
    name: str,  # noqa: ARG001  every writer has the same signature
    rejected: list[str] | None = None,
) -> Iterator[tuple[str, str]]:
    """(file, text) pairs, one line for each sample, in their order.

    A sample that was read in this form keeps its id; another gets the number at the end of its id, or the next free one.

    Args:
        samples: samples with golden triples and calls; their `raw` gives the spelling of what they still say.
        name: the benchmark (not needed: the form is one file).
        rejected: gets "id: reason" of each sample that this form cannot say; where it is not given, that is an error.

    Raises:
        FamilytoolError: a sample that cannot be said, if `rejected` is not given.
    """
    taken: set[str] = set()
    free = (number for number in count() if f"{ID_PREFIX}{number}" not in taken)

    def write(sample: Sample) -> tuple[str, str]:
        identity = _identity(sample) or f"{ID_PREFIX}{next(free)}"
        if identity in taken:
            raise DocumentError(f"the id '{identity}' stands in an earlier row")
        text = write_line(sample, identity)
        taken.add(identity)
        return "", text

    yield from written_samples(samples, write, NAME, rejected)


def _identity(sample: Sample) -> str:
    """The id that a sample has in this form; "" if it has none."""
    old, own = sample.provenance.get("id"), sample.id.removeprefix(f"{sample.benchmark}-")
    if sample.provenance.get("format") == NAME and isinstance(old, str) and old.removeprefix(ID_PREFIX) == own:
        return old
    return f"{ID_PREFIX}{own}" if own.isdecimal() and own.isascii() else ""


def write_line(sample: Sample, identity: str) -> str:
    """The row of a sample, with its line feed.

    Raises:
        DocumentError: why this form cannot say it.
    """
    if not sample.golden_triples:
        raise DocumentError(f"it has no golden triples (kind {sample.kind}), and a row without them cannot be read")
    if sample.alternatives:
        raise DocumentError("it accepts alternatives, and a row has one list of calls")
    if sample.provenance.get("unparsed") or not sample.calls:
        raise DocumentError("it has no golden call that could be read" if sample.provenance.get("unparsed") else "it has no golden call")
    before = _before(sample)
    contents = (identity, _documents(sample, before), _user(sample, before), _listed_calls(sample, before))
    messages = before.raw if before else [{"role": role, "content": None} for role in ROLES]
    line = json.dumps([{**m, "content": content} for m, content in zip(messages, contents, strict=True)], ensure_ascii=False) + "\n"
    if len(line) >= MAX_LINE:
        raise DocumentError(f"its row would have {len(line):,} characters (limit {MAX_LINE:,})")
    try:
        line.encode()
        back = sample_of_row(parse_json(line), "", sample.benchmark, sample.graph_id)
    except UnicodeEncodeError:
        raise DocumentError("it holds half of a surrogate pair, which is no character") from None
    except ValueError as error:
        raise DocumentError(f"its row could not be read again: {error}") from None
    require_same(*(_told(each, sample) for each in (sample, back)))
    for number, (tool, again) in enumerate(zip(sample.candidate_tools, back.candidate_tools, strict=True)):
        if tool is not again:
            require_same({f"document {number} ({tool.name})": said(tool)}, {f"document {number} ({tool.name})": said(again)})
            if tool.response:  # runs do not keep responses
                require_same(
                    {f"the response of {tool.name}": canonical(tool.response)}, {f"the response of {tool.name}": canonical(again.response)}
                )
    return line


def _before(sample: Sample) -> Sample | None:
    """The sample as its `raw` says it, if that is a row of this form."""
    try:
        return sample_of_row(sample.raw, "", sample.benchmark, sample.graph_id) if is_row(sample.raw) else None
    except ValueError:
        return None


def _told(sample: Sample, original: Sample) -> dict[str, str]:
    """What a row tells of a sample, as texts to be compared; paths only where the original has them."""
    triples = [[t.head, t.relation, t.tail] for t in sample.golden_triples]
    told = {"the speaker": repr(sample.speaker), "the query": repr(sample.query), "the golden triples": repr(triples)}
    if listed_by_paths(original.golden_triples, original.golden_paths) is not None:
        told["the golden paths"] = repr([[path.start, *path.relations] for path in sample.golden_paths])
    told["the calls"] = json.dumps([[call.name, call.arguments] for call in sample.calls])
    told["the number of documents"] = str(len(sample.candidate_tools))
    return told


def _documents(sample: Sample, before: Sample | None) -> list[Json]:
    """The candidate documents: each as it stood, the changed ones at their place changed key by key, new ones written anew."""
    if before is None:
        return [write_document(tool, tool.raw if tool.source.get("format") == NAME else None) for tool in sample.candidate_tools]
    listed = before.raw[1]["content"]
    in_place = len(sample.candidate_tools) == len(listed)
    as_said: dict[str, Json] = {}
    documents = []
    for number, tool in enumerate(sample.candidate_tools):
        old = before.candidate_tools[number] if in_place else None
        if old is tool or (old is not None and said(old) == said(tool)):
            documents.append(write_document(tool, listed[number]))
            continue
        as_said = as_said or {said(known): document for known, document in zip(before.candidate_tools, listed, strict=True)}
        documents.append(write_document(tool, as_said.get(said(tool), listed[number] if in_place else None)))
    return documents


def _user(sample: Sample, before: Sample | None) -> str:
    text = split_user(before.raw[2]["content"], []) if before else UserText("", "", "", "", "  ", " ().")
    facts = (sample.golden_triples, sample.golden_paths)
    if before and facts == (before.golden_triples, before.golden_paths):
        first, golden = before.golden_triples[0], text.golden
    else:
        listed = listed_by_paths(*facts) if sample.golden_paths else None
        if listed is None:
            listed = merged(golden_triples(text.golden, []), sample.golden_triples) if before else list(sample.golden_triples)
        first, golden = listed[0], write_golden(listed, text.golden)
    untagged = before.provenance["speaker_tag"] == "" if before else sample.provenance.get("speaker_tag") == ""
    tagged_so = before is not None and text.kind != "" and sample.speaker == before.speaker
    if tagged_so or (untagged and first.head == sample.speaker):
        tag = text.tag
    else:
        kind = "Person" if sample.provenance.get("speaker_tag") == "Person" else "Speaker"
        tag = f"<speak>{kind}: {sample.speaker}</speak> "
    return f"{tag}{sample.query}{text.gap}{MARKER}{golden}"


def _listed_calls(sample: Sample, before: Sample | None) -> list[Json]:
    """The calls; one at the place of an old one keeps what else stood there, any other depends on nothing."""
    listed = before.raw[3]["content"] if before else []
    depends = sample.provenance.get("depend_on", [])
    calls: list[Json] = []
    for number, call in enumerate(sample.calls):
        new = {"name": call.name, "parameters": call.arguments}
        if len(listed) == len(sample.calls):
            calls.append({**listed[number], **new})
        else:
            known = next((old for old in listed if json.dumps([old["name"], old["parameters"]]) == json.dumps([*new.values()])), None)
            calls.append(known or {**new, "depend_on": depends[number] if len(depends) == len(sample.calls) else []})
    return calls
