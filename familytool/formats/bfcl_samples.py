"""Berkeley Function Calling Leaderboard, version 4, as a benchmark: rows, and their answers in `possible_answer/` (Apache-2.0).

A row is `{id, question, function}`; its answer, in the file of the same name in `possible_answer/`, is `{id, ground_truth}`.
Rows of the irrelevance sets have no answer: no call is right. Those of the relevance set have none either: some call is right,
and which one is not said. A row of several turns names the classes of its tools; the documents stand in
`multi_turn_func_doc/` beside the file, and the answer has call texts for each turn. `raw` is `{"question": the row,
"possible_answer": the answer or null}`. What a sample says as `raw` says it is written as it stood there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from familytool.errors import FamilytoolError
from familytool.formats.benchmark_files import Source, holds_lines, read_records, text_lines
from familytool.formats.benchmark_rows import files_of
from familytool.formats.bfcl import write_document
from familytool.formats.bfcl_gold import LEFT_OUT, choices_of, write_call, write_text
from familytool.formats.bfcl_rows import NAME, documents_by_class, is_row, sample_of_rows
from familytool.formats.openai import DocumentError, shown
from familytool.formats.sample_writing import once_each, require_same, said, written_samples
from familytool.formats.text import TextError, parse_json
from familytool.model import Json, Sample, canonical

CARRIES = "query, candidate documents, golden calls with alternatives and optional arguments; several turns as one sample"
LOST = (
    "graph, speaker, categories, twins, the order of calls, where arguments come from; rows that accept other lists of calls, or an "
    "empty text as an argument, are rejected; a text that may be left out may also be empty; the documents of rows of several turns "
    "stand in files of their own and are not written"
)
FILES = ("BFCL_v4_{}.json", "possible_answer/BFCL_v4_{}.json")

PREFIX = "BFCL_v4_"
looks_like = is_row
Answers = Callable[[str], tuple[Json, bool]]
"""From an id to its answer (None if there is none), and whether other letters than ASCII are escaped in it."""


def read_samples(source: Source, rejected: list[str]) -> Iterator[Sample]:
    """The samples of a file, or of the `BFCL_v4_*.json` files of a folder; rows that are none go into `rejected`.

    Raises:
        FamilytoolError: a file whose rows need answers, and there are none beside it.
    """
    seen: dict[str, str] = {}
    documents = documents_by_class(source, rejected)
    for path in files_of(source.path, looks_like, rejected, f"{PREFIX}*.json"):
        answers = _answers_beside(path)
        ahead: dict[str, tuple[str, Json, bool]] = {}
        rest = _answers(answers, rejected) if answers else iter(())
        answer_for = _in_step(rest, ahead)
        for place, row, escaped in _rows(path, rejected):
            identity = row.get("id") if isinstance(row, dict) else None
            named = f"{place} ({identity})" if isinstance(identity, str) else place
            try:
                if not is_row(row) or not isinstance(identity, str) or not identity.strip():
                    raise DocumentError(f"{shown(row)} is no row with id, question and function")
                if identity in seen:
                    raise DocumentError(f"the id occurs a second time (first at {seen[identity]})")
                answer, is_escaped = answer_for(identity)
                if answer is None and "relevance" not in identity:
                    if answers is None:
                        raise FamilytoolError(f"{path}: the golden answers are missing; put possible_answer/{path.name} beside it.")
                    raise DocumentError(f"no answer in {answers.parent.name}/{answers.name} has this id")
                sample = sample_of_rows(row, answer, source, place, documents, escaped or is_escaped)
            except ValueError as error:
                rejected.append(f"{named}: {error}")
                continue
            seen[identity] = place
            yield sample
        for place, answer, _ in (*ahead.values(), *rest):
            rejected.append(f"{place} ({answer['id']}): an answer without a row")


def _answers_beside(path: Path) -> Path | None:
    beside = (path.parent / "possible_answer" / path.name, path.with_name(f"possible_answer_{path.name}"))
    return next((file for file in beside if file.is_file()), None)


def _rows(path: Path, rejected: list[str]) -> Iterator[tuple[str, Json, bool]]:
    """(place, row, whether other letters than ASCII are escaped in it), one line at a time."""
    if not holds_lines(path) and not _is_one_line(path):
        yield from ((place, row, False) for place, row in read_records(path, rejected))
        return
    for place, line in text_lines(path, rejected):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except TextError as error:
            rejected.append(f"{place}: {error}")
            continue
        escaped = line.isascii() and not json.dumps(row, ensure_ascii=False).isascii()
        yield from ((place, each, escaped) for each in (row if isinstance(row, list) else [row]))


def _is_one_line(path: Path) -> bool:
    """Whether the first line with text holds a whole JSON value."""
    try:
        parse_json(next((line for _, line in text_lines(path, []) if line.strip()), ""))
    except TextError:
        return False
    return True


def _answers(path: Path, rejected: list[str]) -> Iterator[tuple[str, Json, bool]]:
    """The answers of a file as `_rows` gives them; what is none goes into `rejected`."""
    for place, row, escaped in _rows(path, rejected):
        if isinstance(row, dict) and isinstance(row.get("id"), str) and "ground_truth" in row:
            yield f"{path.parent.name}/{place}", row, escaped
        else:
            rejected.append(f"{path.parent.name}/{place}: {shown(row)} is no answer with id and ground_truth")


def _in_step(answers: Iterator[tuple[str, Json, bool]], ahead: dict[str, tuple[str, Json, bool]]) -> Answers:
    """A function from an id to its answer; both files have one order, so few answers have to wait in `ahead`."""

    def answer_for(identity: str) -> tuple[Json, bool]:
        while identity not in ahead:
            read = next(answers, None)
            if read is None:
                return None, False
            ahead.setdefault(read[1]["id"], read)
        _, answer, escaped = ahead.pop(identity)
        return answer, escaped

    return answer_for


def write_samples(samples: Iterable[Sample], name: str, rejected: list[str] | None = None) -> Iterator[tuple[str, str]]:
    """(file, text) pairs: for each sample its row, and its answer where there is one.

    Args:
        samples: samples; their `raw` gives the spelling of what they still say.
        name: the benchmark, which names the files.
        rejected: gets "id: reason" of each sample that this form cannot say; where it is not given, that is an error.

    Raises:
        FamilytoolError: a sample that cannot be said, if `rejected` is not given.
    """
    files = [file.format(name.removeprefix(PREFIX)) for file in FILES]
    for lines in written_samples(samples, write_rows, NAME, rejected):
        yield from ((file, line) for file, line in zip(files, lines, strict=True) if line)


def write_rows(sample: Sample) -> tuple[str, str]:
    """The row and the answer ("" for none) of a sample, as lines (DocumentError: why this form cannot say it)."""
    before = _before(sample)
    if before is None and (sample.provenance.get("unparsed") or "turns" in sample.provenance):
        raise DocumentError("its golden calls or turns are known from its raw row only, which is not there")
    if sample.kind != "no_tool" and not sample.calls and not (before and before.kind == sample.kind):
        raise DocumentError(f"it has no golden call, and is of kind {sample.kind}")
    row = _row(sample, before)
    answer = _answer(sample, before, row["id"])
    escaped = sample.provenance.get("escaped") is True
    lines = [json.dumps(part, ensure_ascii=escaped) + "\n" if part is not None else "" for part in (row, answer)]
    try:
        "".join(lines).encode()
        parts = [parse_json(line) if line else None for line in lines]
        back = _read_again(parts[0], parts[1], sample)
    except UnicodeEncodeError:
        raise DocumentError("it holds half of a surrogate pair, which is no character") from None
    except ValueError as error:
        raise DocumentError(f"its row could not be read again: {error}") from None
    require_same(_told(sample), _told(back))
    return lines[0], lines[1]


def _read_again(row: Json, answer: Json, sample: Sample) -> Sample:
    return sample_of_rows(row, answer, Source(Path(), sample.benchmark), "", lambda *_: sample.candidate_tools)


def _before(sample: Sample) -> Sample | None:
    """The sample as its `raw` says it, if that is of this form."""
    raw = sample.raw if isinstance(sample.raw, dict) and sample.raw.keys() == {"question", "possible_answer"} else {}
    try:
        return _read_again(raw["question"], raw["possible_answer"], sample) if is_row(raw.get("question")) else None
    except ValueError:
        return None


def _told(sample: Sample) -> dict[str, str]:
    """What the two rows tell of a sample, as texts to be compared."""
    told = {"the id": sample.id, "the query": repr(sample.query), "the kind": "no_tool" if sample.kind == "no_tool" else "a call"}
    told["the calls"] = canonical([[call.name, call.arguments] for call in sample.calls])
    told["the alternatives"] = canonical(
        [
            {name: [[v for v in c["$any"] if v != LEFT_OUT or not c["optional"]], c["optional"]] for name, c in call.items()}
            for call in choices_of(sample.calls, sample.alternatives)
        ]
    )
    told["the number of documents"] = str(len(sample.candidate_tools))
    told |= {f"document {number} ({tool.name})": said(tool) for number, tool in enumerate(sample.candidate_tools)}
    return told


def _row(sample: Sample, before: Sample | None) -> dict[str, Json]:
    identity = sample.id.removeprefix(f"{sample.benchmark}-")
    row = dict(before.raw["question"]) if before else {"id": identity, "question": [], "function": []}
    row["id"] = identity
    if before is None or sample.query != before.query:
        if "turns" in sample.provenance:
            raise DocumentError("its query was changed, and of which turn is not said")
        system = [m for m in row["question"][0] if m.get("role") != "user"] if before and isinstance(row["question"][0], list) else []
        row["question"] = [[*system, {"role": "user", "content": sample.query}]]
    if "function" in row:
        old = (
            {said(tool): document for tool, document in zip(before.candidate_tools, _as_list(row["function"]), strict=True)}
            if before
            else {}
        )
        listed = [old.get(said(tool)) or _document(tool) for tool in sample.candidate_tools]
        row["function"] = row["function"] if listed == _as_list(row["function"]) else listed
    return row


_document = once_each(write_document)


def _as_list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _answer(sample: Sample, before: Sample | None, identity: str) -> Json:
    """The answer; None where the row never had one and needs none."""
    answer = before.raw["possible_answer"] if before else None
    if before and answer is None and sample.calls == before.calls:
        return None
    truth = _truth(sample, before, answer["ground_truth"] if answer else [])
    return {**(answer or {}), "id": identity, "ground_truth": truth} if truth or answer or "irrelevance" not in identity else None


def _truth(sample: Sample, before: Sample | None, truth: list[Json]) -> list[Json]:
    """The golden calls; each that is as it was, at its place, keeps its spelling, and so does what could not be read."""
    choices = choices_of(sample.calls, sample.alternatives)
    texts = bool(truth) and not any(isinstance(entry, dict) for entry in truth)
    nested = texts and all(isinstance(entry, list) for entry in truth)
    entries = [text for turn in truth for text in turn] if nested else truth
    unread = {int(entry["path"].split("/")[2]) for entry in sample.provenance.get("unparsed", ())}
    places = [number for number in range(len(entries)) if number not in unread]
    if before is None or len(places) != len(sample.calls) or len(before.calls) != len(sample.calls):
        if unread or nested:
            raise DocumentError("its calls became more or fewer, and to which turn they belong is not said")
        return [write_text(call) if texts else write_call(call, c, {}, None) for call, c in zip(sample.calls, choices, strict=True)]
    old = choices_of(before.calls, before.alternatives)
    written = list(entries)
    for number, place in enumerate(places):
        call, was = sample.calls[number], before.calls[number]
        if texts and canonical(call.model_dump()) != canonical(was.model_dump()):
            written[place] = write_text(call)
        elif not texts:
            written[place] = write_call(call, choices[number], old[number], entries[place])
    starts = [sum(map(len, truth[:turn])) for turn in range(len(truth))] if nested else []
    return [written[start : start + len(turn)] for start, turn in zip(starts, truth, strict=True)] if nested else written
