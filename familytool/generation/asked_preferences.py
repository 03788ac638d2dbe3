"""Preferences that a model reads from tool documents: asked for, filtered by rule and by model, united, and given values (paper section 3.1).

Whatever is lost on the way is kept with its stage and reason. What a model does wrong loses a document, a list or a relation; what its
endpoint does wrong stops the run.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator

from familytool.generation.asked_values import ask_values
from familytool.generation.extracted import Dropped, Extraction, Proposal, Stage, fingerprint, read_extraction
from familytool.generation.in_order import Progress, Questions, untold
from familytool.generation.preference_rules import (
    CATEGORIES,
    Candidate,
    derived_relation,
    drop_by_rule,
    dropped_candidate,
    known_relation,
    unite,
)
from familytool.generation.schema_values import Conforms, takes_value
from familytool.generation.usable import Parameter, parameters_by_rule
from familytool.llm.asking import Model, Reading, ask_for, closed_object, keys_of, read_object
from familytool.llm.prompts import delimited, render
from familytool.llm.requests import Request
from familytool.model import Json, Tool

__all__ = ["Extraction", "ask_preferences", "extraction_requests", "read_extraction"]

LIST_LENGTH = 20
"""Candidates that one filter prompt judges."""

LONGEST_DOCUMENT = 24_000
MOST_CANDIDATES = 64
TEXT: dict[str, Json] = {"type": "string"}
PREFERENCES = closed_object(
    {
        "preferences": {
            "type": "array",
            "items": closed_object(
                {"parameter": TEXT, "relation": TEXT, "category": {"type": "string", "enum": list(CATEGORIES)}, "reason": TEXT}
            ),
        }
    }
)
VERDICTS = closed_object(
    {"verdicts": {"type": "array", "items": closed_object({"number": {"type": "integer"}, "keep": {"type": "boolean"}, "reason": TEXT})}}
)


async def ask_preferences(
    documents: Iterable[Tool], model: Model, people: int, progress: Progress = untold, conforms: Conforms = takes_value
) -> Extraction:
    """What a model reads from these documents, for families of so many people; the same answers give the same extraction.

    Args:
        documents: every version of every document; equal ones are asked about once.
        people: persons of a family: a new relation needs as many different values, and at least 8.
        progress: called with (questions answered, questions known so far); filter lists and values come on top when the documents are read.
        conforms: whether the schema of a parameter takes a value.
    """
    tools = list({fingerprint(tool): tool for tool in documents}.values())
    refusals: list[Dropped] = []
    questions = Questions(progress)
    asked, keys = await _extracted(tools, model, refusals, questions)
    candidates: list[Candidate] = []
    for tool, proposed in asked:
        for candidate, reason in drop_by_rule(tool, parameters_by_rule(tool), proposed, conforms):
            _take(candidate, reason, "filter rule", candidates, refusals)
    united: list[Candidate] = []
    for candidate, reason in unite(candidates, conforms):
        _take(candidate, reason, "filter rule", united, refusals)
    kept, more = await _judged(united, model, refusals, questions)
    values, lost, last = await ask_values(kept, model, people, refusals, questions, conforms)
    found = [c for c in kept if (fingerprint(c.tool), c.path) not in lost]
    new = {c.relation: derived_relation(c.kind, c.relation, c.category) for c in found if known_relation(c.relation) is None}
    return Extraction(
        model=model.id,
        people=people,
        documents=tuple(fingerprint(tool) for tool in tools),
        found=tuple(_proposal(c) for c in found),
        relations=tuple(new.values()),
        values={kind: table for kind, table in values.items() if any(c.kind == kind for c in found)},
        refusals=tuple(refusals),
        calls=tuple(dict.fromkeys((*keys, *more, *last))),
    )


def extraction_requests(documents: Iterable[Tool], model: Model) -> Iterator[Request]:
    """The requests of an extraction, for an estimate: what is asked about the documents, then filter lists as the rules would fill them.

    What the filter is asked, and for which relations values are, follows from answers that nobody has yet.
    """
    tools = list({fingerprint(tool): tool for tool in documents}.values())
    for tool in tools:
        if not _unaskable(tool):
            yield model.request(extract_prompt(tool, model), PREFERENCES)
    likely = [
        Candidate(tool, path, f"prefer_{parameter.kind}", "", "", parameter.kind, parameter)
        for tool in tools
        for path, parameter in parameters_by_rule(tool).items()
        if parameter.takes_fact
    ]
    for listed in _lists(likely):
        yield model.request(filter_prompt(listed, model), VERDICTS)


def _lists(candidates: list[Candidate]) -> list[list[Candidate]]:
    return [candidates[start : start + LIST_LENGTH] for start in range(0, len(candidates), LIST_LENGTH)]


def _take(candidate: Candidate, reason: str, stage: Stage, taken: list[Candidate], refusals: list[Dropped]) -> None:
    if reason:
        refusals.append(dropped_candidate(candidate, stage, reason))
    else:
        taken.append(candidate)


def _proposal(candidate: Candidate) -> Proposal:
    return Proposal(tool=candidate.tool.name, document=fingerprint(candidate.tool), parameter=candidate.path, relation=candidate.relation,
                    kind=candidate.kind, category=candidate.category, reason=candidate.reason)  # fmt: skip


def _unaskable(tool: Tool) -> str:
    """Why a document is not asked about, or ""."""
    if not parameters_by_rule(tool):
        return "the document has no parameters"
    size = len(_document(tool))
    return f"the document has {size} characters, {LONGEST_DOCUMENT} are asked about at most" if size > LONGEST_DOCUMENT else ""


def _document(tool: Tool) -> str:
    shown = tool.as_candidate()
    return json.dumps({"name": shown.name, "description": shown.description, "parameters": shown.parameters}, ensure_ascii=False)


def extract_prompt(tool: Tool, model: Model) -> str:
    """The question about one document: its text without our own hints, and the names that an answer may use."""
    names = ", ".join(json.dumps(path, ensure_ascii=False) for path in parameters_by_rule(tool))
    text = model.template("familytool.generation", "extract")
    return render(
        text, {"names": names.replace("<", "&lt;"), "categories": ", ".join(CATEGORIES), "document": delimited("document", _document(tool))}
    )


async def _extracted(
    tools: list[Tool], model: Model, refusals: list[Dropped], questions: Questions
) -> tuple[list[tuple[Tool, list[Candidate]]], tuple[str, ...]]:
    """The candidates of each document whose answer can be read."""
    askable: list[Tool] = []
    for tool in tools:
        reason = _unaskable(tool)
        if reason:
            refusals.append(Dropped(tool=tool.name, document=fingerprint(tool), stage="extract", reason=reason))
        else:
            askable.append(tool)

    def job(tool: Tool) -> Callable[[], Awaitable[Reading]]:
        return lambda: ask_for(model, extract_prompt(tool, model), PREFERENCES, "extract", lambda text: read_preferences(text, tool))

    readings = await questions.in_order([job(tool) for tool in askable])
    for tool, reading in zip(askable, readings, strict=True):
        if reading.code:
            reason = f"{reading.message} ({reading.code})"
            refusals.append(Dropped(tool=tool.name, document=fingerprint(tool), stage="extract", reason=reason))
    return [(tool, reading.value) for tool, reading in zip(askable, readings, strict=True) if not reading.code], keys_of(readings)


def read_preferences(text: str, tool: Tool) -> list[Candidate]:
    """The candidates of an answer; a ValueError says what is wrong with it. What is wrong with a candidate is for the rules to say."""
    entries = _entries(text, "preferences", {"parameter": str, "relation": str, "category": str, "reason": str}, MOST_CANDIDATES)
    return [Candidate(tool, e["parameter"], e["relation"], e["category"], e["reason"]) for e in entries]


def _entries(text: str, key: str, members: dict[str, type], most: int) -> list[dict[str, Json]]:
    """The objects of a list that is the only member of an answer, each with exactly these members."""
    answer = read_object(text)
    entries = answer.get(key)
    if set(answer) != {key} or not isinstance(entries, list):
        raise ValueError(f"expected an object with {key!r}, a list, and nothing else")
    if len(entries) > most:
        raise ValueError(f"{len(entries)} entries, {most} are the most")
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict) or set(entry) != set(members):
            raise ValueError(f"entry {number} must be an object with exactly {', '.join(members)}")
        wrong = next((name for name, kind in members.items() if type(entry[name]) is not kind), None)
        if wrong is not None:
            raise ValueError(f"{wrong!r} of entry {number} is of the wrong type ({type(entry[wrong]).__name__})")
    return entries


def filter_prompt(candidates: Iterable[Candidate], model: Model) -> str:
    """The question about a list of candidates, numbered from 1."""
    lines = [json.dumps({"number": number, "relation": c.relation, "tool": c.tool.name[:100], "parameter": c.path[:100], **_about(c.parameter)},
                        ensure_ascii=False) for number, c in enumerate(candidates, 1)]  # fmt: skip
    return render(model.template("familytool.generation", "filter"), {"candidates": delimited("candidates", "\n".join(lines))})


def _about(parameter: Parameter | None) -> dict[str, Json]:
    if parameter is None:
        return {}
    told = {key: parameter.schema[key] for key in ("type", "format", "description") if isinstance(parameter.schema.get(key), str)}
    return {key: value[:200] for key, value in told.items()}


def read_verdicts(text: str, count: int) -> dict[int, tuple[bool, str]]:
    """Number -> (keep, reason); a number may be missing, but none may stand twice or beyond the list (ValueError)."""
    found: dict[int, tuple[bool, str]] = {}
    for entry in _entries(text, "verdicts", {"number": int, "keep": bool, "reason": str}, 4 * LIST_LENGTH):
        number = entry["number"]
        if not 1 <= number <= count or number in found:
            raise ValueError(f"number {number} stands twice" if number in found else f"number {number} is not in the list")
        found[number] = entry["keep"], entry["reason"]
    return found


async def _judged(
    candidates: list[Candidate], model: Model, refusals: list[Dropped], questions: Questions
) -> tuple[list[Candidate], tuple[str, ...]]:
    """The candidates that the model keeps; what it says nothing about is not kept."""
    lists = _lists(candidates)

    def job(listed: list[Candidate]) -> Callable[[], Awaitable[Reading]]:
        return lambda: ask_for(model, filter_prompt(listed, model), VERDICTS, "filter", lambda text: read_verdicts(text, len(listed)))

    readings = await questions.in_order([job(listed) for listed in lists])
    kept: list[Candidate] = []
    for listed, reading in zip(lists, readings, strict=True):
        for number, candidate in enumerate(listed, 1):
            keep, reason = (reading.value or {}).get(
                number, (False, f"the filter gave no verdict{f': {reading.message}' if reading.code else ''}")
            )
            _take(candidate, "" if keep else reason.strip()[:300] or "the filter gave no reason", "filter model", kept, refusals)
    return kept, keys_of(readings)
