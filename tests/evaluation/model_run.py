"""The folder of a small run with models, written by hand: every way a candidate can end, and a ledger of what it took."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from familytool.campaign import Campaign, parse_campaign
from familytool.llm.ledger import Ledger
from familytool.model import Check, Finding, Rejection, RelationPath, Sample, Tool, ToolCall, Triple
from familytool.runs import RunFolder
from tests.llm.ledger_calls import ask, chat, finished

CAMPAIGN = """
name = "m"
seed = 3
[family]
people = 4
[models]
w = { id = "writer-model", temperature = 0.9 }
j = { id = "judge-model", max_output = 400 }
[generation]
writer = "w"
strata = { hop1 = 2, hop2 = 4, no_tool = 1 }
[validation]
judge = "j"
on_unknown = "review"
"""
EVIL = "\x1b[31m<script>alert(1)</script>\u202e"
TOOL = Tool(
    name="send_card", parameters={"type": "object", "properties": {"to": {"type": "string"}}}, source={"status": "ok", "format": "openai"}
)
OTHER = Tool(name="call_friend", parameters={"type": "object", "properties": {}})


def campaign(text: str = CAMPAIGN) -> Campaign:
    return parse_campaign(text.encode(), "m.toml")


def key(number: int) -> str:
    return ask(number).key


def sample(stratum: str, number: int, *, calls: tuple[int, ...] = (), more: dict[str, Any] | None = None, **changes: Any) -> Sample:
    """A row of a stratum; `calls` are numbers of ledger calls."""
    origin = {"stratum": stratum, "candidate": number, "seed": 3, "now": "2025-06-02", "writer": "writer-model", "tools": ["send_card"],
              "documents": ["ok"], "prompts": {"phrase": "0123456789abcdef"}, "style": "Write short.", "draft": {"query": "Draft it."},
              "calls": [key(n) for n in calls], **(more or {})}  # fmt: skip
    fields: dict[str, Any] = {
        "id": f"m-{stratum}-{number:06d}", "benchmark": "m", "kind": "graph", "speaker": "Bob", "query": f"Card number {number} to my mum?",
        "graph_id": "m-0", "candidate_tools": (TOOL, OTHER), "golden_triples": (Triple(head="Bob", relation="mother", tail="Ann"),),
        "golden_paths": (RelationPath(start="Bob", relations=("mother",)),), "calls": (ToolCall(name="send_card", arguments={"to": "Ann"}),),
        "argument_sources": {"/0/arguments/to": {"source": "graph", "path": {"start": "Bob", "relations": ["mother"]}}},
        "category": "post", "provenance": origin,
    }  # fmt: skip
    return Sample.model_validate({**fields, **changes})


def check(name: str, verdict: str, judge: str = "rules", code: str = "", message: str = "", evidence: str = "") -> Check:
    value = {"evidence": evidence, "votes": {}} if judge != "rules" else None
    found = (Finding(code=code, path="/query", message=message, value=value),) if code else ()
    return Check.model_validate({"sample_id": "", "check": name, "verdict": verdict, "findings": found, "judge": judge})


GOOD = (check("syntax", "pass"), check("intent", "pass"), check("parameters", "pass"), check("feasibility", "pass"),
        check("solve", "pass", "writer-model"), check("query", "pass", "judge-model"), check("intent", "pass", "judge-model"),
        check("feasibility", "pass", "judge-model"))  # fmt: skip
UNSURE = (*GOOD[:1], check("intent", "unknown"), *GOOD[2:])
ACCEPTED = [
    (sample("hop1", 0, calls=(0, 1)), GOOD),
    (sample("hop2", 1, calls=(2,), query="Post a card to my mum."), UNSURE),
    (sample("hop2", 3, calls=(3,), twin_of="m-hop2-000001", query="Post a card to my dad."), GOOD),
    (sample("hop2", 4, calls=(3, 4), more={"awaits_review": ["intent"]}), UNSURE),
]
REFUSED = (*GOOD[:1], check("intent", "pass"), *GOOD[2:6],
           check("intent", "fail", "judge-model", "judged_mismatch", f"it asks for a letter {EVIL}", f"a letter {EVIL}"))  # fmt: skip
ENDS = {
    "generate": ("hop1", 1, "generate", "no_relative", (), ()),
    "phrase": ("hop1", 2, "phrase", "model_refused", (), (5,)),
    "rules: intent": ("hop2", 0, "intent", "kinship_mismatch", (check("intent", "fail", "rules", "kinship_mismatch", "no"),), (6,)),
    "rules: feasibility": ("hop2", 2, "feasibility", "unknown", (check("feasibility", "unknown"),
                                                                  check("feasibility", "pass", "judge-model")), ()),
    "solve": ("hop2", 5, "solve", "solved_differently", (check("solve", "fail", "writer-model", "solved_differently", "else"),), (7,)),
    "judge: query": ("hop2", 6, "query", "model_empty", (check("query", "unknown", "judge-model", "model_empty", "nothing"),), (7, 8)),
    "judge: intent": ("hop2", 7, "intent", "judged_mismatch", REFUSED, (8,)),
    "duplicates": ("hop2", 8, "duplicates", "duplicate_sample", GOOD, (0,)),
    "quotas": ("no_tool", 0, "quotas", "quota", GOOD, ()),
}  # fmt: skip
"""stage -> stratum, number, check, code, verdicts, calls; call 0 is an accepted row's too."""
CALLS = 12
"""Calls of the ledger, numbers 0 to 11: those of the rows above, a probe (9), and two of an earlier prompt (10, 11)."""
KEPT = sample("hop1", 77, more={"stratum": "hop1"}, id="old-hop1-000077", benchmark="old")


def rejections() -> list[Rejection]:
    return [
        Rejection(
            id=f"m-{stratum}-{number:06d}", stratum=stratum, candidate=number, check=name, code=code, message=f"because {EVIL}",
            tools=("send_card", "call_friend") if stage == "quotas" else ("send_card",), calls=tuple(key(n) for n in calls),
            checks=tuple(_of(c, f"m-{stratum}-{number:06d}") for c in verdicts),
            sample=sample(stratum, number, calls=calls) if verdicts else None,
        )
        for stage, (stratum, number, name, code, verdicts, calls) in ENDS.items()
    ]  # fmt: skip


def _of(found: Check, identity: str) -> Check:
    return found.model_copy(update={"sample_id": identity})


def price_of(number: int) -> float | None:
    """Cents by number; call 9 has no price."""
    return None if number == 9 else (number + 1) / 100


def write_run(path: Path, *, base: bool = True, stages: tuple[str, ...] = ()) -> RunFolder:
    """The run folder."""
    path.mkdir(parents=True, exist_ok=True)
    run = RunFolder(path)
    identity = {"campaign": campaign().model_dump(mode="json"), "documents": "builtin", "prompts": {"phrase": "own0own0own0own0"}}
    (path / "manifest.json").write_text(json.dumps({"identity": identity, "stages": {stage: {} for stage in stages}}), encoding="utf-8")
    run.write_records("samples.jsonl", [row for row, _ in ACCEPTED])
    run.write_records("checks.jsonl", [_of(c, row.id) for row, verdicts in ACCEPTED for c in verdicts])
    run.write_records("rejected.jsonl", rejections())
    run.write_records("tools.jsonl", [TOOL, OTHER])
    run.write_records("graph.jsonl", [{"graph_id": "m-0", "head": "Bob", "relation": "mother", "tail": "Ann"}])
    if base:
        run.write_records("base.jsonl", [KEPT])
    purposes = {9: "probe"}
    with Ledger(path / "ledger.sqlite") as ledger:
        rows = []
        for number in range(CALLS):
            request = ask(number, model="judge-model" if number == 8 else "writer-model")
            rows.append(_row(ledger, number, request, purposes.get(number, "judge" if number == 8 else "query" if number < 7 else "solve")))
        ledger.store(rows)
    return run


def _row(ledger: Ledger, number: int, request: Any, purpose: str) -> Any:
    made = finished(request, chat("" if number == 5 else "yes", prompt_tokens=10 * (number + 1), output_tokens=number), price_of(number))
    row, _ = ledger.prepared(
        key(number), request, purpose, made._replace(started=1_750_000_000.0 + number, finished=1_750_000_001.0 + number)
    )
    return row._replace(key=key(number))
