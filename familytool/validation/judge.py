"""The model half of the four checks: what no rule can decide is asked of a model, and counts only with words that it can quote.

Syntax and parameters are never asked. Asked are, together and each with its own rubric (prompts/judge_*.txt):

- `query`: is the request something that a person could say? It sees the request alone.
- `intent`: does it ask for exactly these calls? It sees the calls, the golden facts and the documents of the called tools.
- `feasibility`: is there no other right answer? It sees the calls and the documents of all tools offered, cut to `DOCUMENTS`.

Where no call is right (`no_tool`), intent asks whether anything is asked for at all, and feasibility whether no tool fits.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from familytool.graph import KnowledgeGraph
from familytool.kgetool.strict_json import shown
from familytool.llm.asking import Model, Reading, ask_for, closed_object, keys_of
from familytool.llm.prompts import delimited, render
from familytool.model import Check, Finding, Json, Sample, Tool, Verdict
from familytool.validation.chains import ends_of, known_graph
from familytool.validation.codes import HARMLESS
from familytool.validation.evidence import occurs
from familytool.validation.verdicts import VERDICTS, read_verdict

SCHEMA = closed_object(
    {"evidence": {"type": "string"}, "reason": {"type": "string"}, "verdict": {"type": "string", "enum": list(VERDICTS)}}
)
DOCUMENTS = 24_000
"""Characters of all tool documents in one prompt; each gets an equal part, and none less than `LEAST_DOCUMENT`."""
LEAST_DOCUMENT = 240
LONGEST_DOCUMENT = 6_000
LONGEST_CALLS = 8_000
MOST_FACTS = 100
LONGEST_TOLD = 400
"""Characters of a reason or a quote in a finding."""


class Question(NamedTuple):
    """One question about a sample: the check and where its findings point, the code of a fail, the prompt, and the texts quoted from."""

    check: str
    path: str
    fail: str
    prompt: str
    texts: tuple[str, ...]


class Vote(NamedTuple):
    """One judge's answer to one question; a verdict whose evidence does not occur is unknown."""

    verdict: Verdict
    code: str
    message: str
    evidence: str = ""


class Settled(NamedTuple):
    """What rules and judge come to for one candidate; `awaiting` names all checks that people must decide."""

    verdict: Literal["accept", "reject", "review"]
    check: str = ""
    code: str = ""
    message: str = ""
    awaiting: tuple[str, ...] = ()


async def judge_sample(sample: Sample, graph: KnowledgeGraph, model: Model, judges: int = 1) -> tuple[list[Check], tuple[str, ...]]:
    """The checks `query`, `intent` and `feasibility` of a sample as a model sees them, and the ledger keys of all calls.

    The verdict is that of more than half of the judges, else unknown. A fail or unknown has one finding: the reason, and as value
    `{"evidence": "...", "votes": {"pass": 0, "fail": 1, "unknown": 0}}`. A refusal, an answer that cannot be read in two tries, and a
    quote that does not occur in what was shown are votes for unknown. Where the golden calls are not given, only the query is judged.
    """
    asked = questions(sample, graph, model)
    waiting = [
        asyncio.ensure_future(ask_for(model, question.prompt, SCHEMA, "judge", read_verdict, sample_index=number, of=judges))
        for question in asked
        for number in range(judges)
    ]
    try:
        readings = await asyncio.gather(*waiting)
    finally:
        for task in waiting:  # where one has raised, the others are not left behind
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    checks = [
        _check(sample, model, question, [_vote(reading, question) for reading in readings[at * judges : (at + 1) * judges]])
        for at, question in enumerate(asked)
    ]
    if len(asked) == 1:
        checks += [_not_given(sample, model, check) for check in ("intent", "feasibility")]
    return checks, keys_of(readings)


def questions(sample: Sample, graph: KnowledgeGraph, model: Model) -> list[Question]:
    """What is asked about a sample, in the order of its checks."""
    parts = {"request": sample.query}
    found = [_question(model, "query", "/query", "judged_invalid", parts)]
    if sample.kind == "no_tool":
        offered = {**parts, "tools": _documents(sample.candidate_tools, [])}
        return [
            *found,
            _question(model, "intent", "/query", "judged_mismatch", parts, "intent_no_tool"),
            _question(model, "feasibility", "/candidate_tools", "judged_infeasible", offered, "feasibility_no_tool"),
        ]
    if not sample.calls or sample.provenance.get("unparsed"):
        return found
    names = list(dict.fromkeys(call.name for call in sample.calls))
    parts["calls"] = _cut("\n".join(_json({"name": call.name, "arguments": call.arguments}) for call in sample.calls), LONGEST_CALLS)
    called = [tool for tool in sample.candidate_tools if tool.name in names]
    return [
        *found,
        _question(
            model, "intent", "/calls", "judged_mismatch", {**parts, "facts": _facts(sample, graph), "tools": _documents(called, names)}
        ),
        _question(
            model, "feasibility", "/candidate_tools", "judged_infeasible", {**parts, "tools": _documents(sample.candidate_tools, names)}
        ),
    ]


def _question(model: Model, check: str, path: str, fail: str, parts: dict[str, str], name: str = "") -> Question:
    prompt = render(
        model.template("familytool.validation", f"judge_{name or check}"), {part: _shown(part, text) for part, text in parts.items()}
    )
    return Question(check, path, fail, prompt, tuple(text for part, text in parts.items() if part != "calls"))


def _shown(name: str, text: str) -> str:
    """A part of a prompt between its tags; no tag in it opens or closes a part of ours."""
    return delimited(name, re.sub(r"<(?=/?(?:request|calls|facts|tools))", "&lt;", text))


def _facts(sample: Sample, graph: KnowledgeGraph) -> str:
    """The golden triples and the chains with what they lead to, a line each."""
    lines = [f"speaker: {sample.speaker or 'not named'}"]
    lines += [f"({t.head}, {t.relation}, {t.tail})" for t in sample.golden_triples[:MOST_FACTS]]
    known = known_graph(sample, graph)
    for path in sample.golden_paths[:MOST_FACTS]:
        ends = ", ".join(list(ends_of(known, path)[0])[:10]) or "nothing"
        lines.append(f"chain: {' > '.join((path.start, *path.relations))} = {ends}")
    return "\n".join(lines if len(lines) > 1 else [*lines, "no facts: nothing is looked up"])


def _documents(tools: Sequence[Tool], called: Sequence[str]) -> str:
    """Tool documents as JSON lines, cut to an equal share; where even names would be too many, the called tools stay and the rest is told."""
    most = DOCUMENTS // LEAST_DOCUMENT
    spare = max(0, most - sum(tool.name in called for tool in tools))
    others = [at for at, tool in enumerate(tools) if tool.name not in called]
    left_out = frozenset(others[spare:])
    listed = [tool for at, tool in enumerate(tools) if at not in left_out]
    limit = min(LONGEST_DOCUMENT, DOCUMENTS // max(1, len(listed)))
    lines = [_cut(_json(tool.as_candidate().model_dump(include={"name", "description", "parameters"})), limit) for tool in listed]
    if len(listed) < len(tools):
        lines.append(f"({len(tools) - len(listed):,} more tools are offered and not shown)")
    return "\n".join(lines) or "(none)"


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]} (cut: the first {limit:,} of {len(text):,} characters)"


def _vote(reading: Reading, question: Question) -> Vote:
    if reading.code:
        code = "unparsed_verdict" if reading.code == "unreadable_answer" else reading.code
        return Vote("unknown", code, reading.message)
    verdict, evidence, reason = reading.value
    evidence, reason = _told(evidence), _told(reason) or "the judge gives no reason"
    if verdict == "unknown":
        return Vote("unknown", "judge_undecided", reason, evidence)
    if not occurs(reading.value.evidence, question.texts):
        said = f"its evidence {shown(evidence, 120)} does not occur in what it was shown" if evidence else "it quotes no evidence"
        return Vote("unknown", "evidence_not_found", f"the judge says '{verdict}' ({reason}), but {said}", evidence)
    return Vote(verdict, question.fail if verdict == "fail" else "", reason, evidence)


def _told(text: str) -> str:
    words = " ".join(text[: 4 * LONGEST_TOLD].split())
    return words if len(words) <= LONGEST_TOLD else words[: LONGEST_TOLD - 3] + "..."


def _check(sample: Sample, model: Model, question: Question, votes: list[Vote]) -> Check:
    counts = Counter(vote.verdict for vote in votes)
    ranked: list[Verdict] = [verdict for verdict in counts if counts[verdict] * 2 > len(votes)]
    if ranked:
        vote = next(vote for vote in votes if vote.verdict == ranked[0])
    else:
        told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("pass", "fail", "unknown"))
        vote = Vote("unknown", "judge_undecided", f"no verdict has more than half of {len(votes)} votes ({told})")
    found: tuple[Finding, ...] = ()
    if vote.verdict != "pass":
        value = {"evidence": vote.evidence, "votes": {verdict: counts[verdict] for verdict in ("pass", "fail", "unknown")}}
        found = (Finding(code=vote.code, path=question.path, message=vote.message, value=value),)
    return Check(sample_id=sample.id, check=question.check, verdict=vote.verdict, findings=found, judge=model.id)


def _not_given(sample: Sample, model: Model, check: str) -> Check:
    finding = Finding(code="golden_not_given", path="/calls", message="not all golden calls can be read, so there is nothing to judge")
    return Check(sample_id=sample.id, check=check, verdict="unknown", findings=(finding,), judge=model.id)


def settle(rules: Sequence[Check], judged: Sequence[Check], on_unknown: Literal["reject", "judge", "review"]) -> Settled:
    """What becomes of a candidate: the first fail rejects it, and `on_unknown` is asked about every check that nobody has decided.

    A release needs four passes. Where the rules pass a check, it has its pass: a model that cannot tell takes nothing from it, and one
    that says fail vetoes it. A check that only a model makes (`query`) is open while the model cannot tell. Of one check:

    | rules   | model           | "reject" | "judge" | "review" |
    |---------|-----------------|----------|---------|----------|
    | fail    | any             | reject   | reject  | reject   |
    | any     | fail            | reject   | reject  | reject   |
    | pass    | pass/unknown/-  | accept   | accept  | accept   |
    | unknown | pass            | reject   | accept  | review   |
    | unknown | unknown/-       | reject   | reject  | review   |
    | -       | pass            | accept   | accept  | accept   |
    | -       | unknown         | reject   | reject  | review   |

    (- = not asked.) Under "review" a person decides what rules leave open, also where the judge passes it: its verdict is recorded beside.
    Of several models' checks of one name, all must pass. The candidate is rejected if one check rejects, else kept for review if one
    check wants it. A rule that cannot tell, without a judge, has the code `unknown`.
    """
    for check in (*rules, *judged):
        if check.verdict == "fail":
            code, message = _told_by(check)
            return Settled("reject", check.check, code, message)
    ruled = {check.check for check in rules}
    open_checks = [check for check in rules if check.verdict == "unknown"]
    open_checks += [check for check in judged if check.verdict == "unknown" and check.check not in ruled]
    if on_unknown == "judge":
        open_checks = [check for check in open_checks if not _is_passed(check.check, judged)]
    if not open_checks:
        return Settled("accept")
    first = open_checks[0]
    code, message = _why_open(first, [check for check in judged if check.check == first.check], on_unknown)
    awaiting = tuple(dict.fromkeys(check.check for check in open_checks)) if on_unknown == "review" else ()
    return Settled("review" if on_unknown == "review" else "reject", first.check, code, message, awaiting)


def _is_passed(name: str, judged: Iterable[Check]) -> bool:
    verdicts = [check.verdict for check in judged if check.check == name]
    return bool(verdicts) and all(verdict == "pass" for verdict in verdicts)


def _told_by(check: Check) -> tuple[str, str]:
    """The code and message of a check's first finding that is no mere remark."""
    finding = next((finding for finding in check.findings if finding.code not in HARMLESS), next(iter(check.findings), None))
    if finding is None:
        return "unknown", "the check cannot tell" if check.verdict == "unknown" else "the check fails and gives no reason"
    return finding.code, finding.message


def _why_open(check: Check, judged: Sequence[Check], on_unknown: str) -> tuple[str, str]:
    if check in judged:
        return _told_by(check)
    remark = f" ({check.findings[0].message})" if check.findings else ""
    unsure = next((other for other in judged if other.verdict == "unknown"), None)
    if on_unknown != "judge":
        return "unknown", f"the rules cannot tell{remark}"
    if unsure is None:
        return "unknown", f"the rules cannot tell{remark}, and no judge is asked about it"
    code, message = _told_by(unsure)
    return code, f"the rules cannot tell{remark}, nor can {unsure.judge}: {message}"
