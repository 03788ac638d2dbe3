"""The passport of a row: what it is, what it was made of and by whom, what every check said, and what each model call took."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from familytool.cli.saying import counted, say, say_long, say_sample, say_tried


def say_passport(folder: Any, identity: str, prompts: bool = False) -> bool:
    """Print the passport of an accepted, rejected or kept row; False where there is no row of this id."""
    from familytool.model import Sample
    from familytool.runs import sample_of

    for name, fate in (("samples.jsonl", "accepted"), ("base.jsonl", "kept from the former release")):
        for row in folder.rows(name):
            if row["id"] == identity:
                sample = sample_of(row)
                awaits = sample.provenance.get("awaits_review")
                fate = f"accepted, and awaits a person's review of {', '.join(awaits)}: not released" if awaits else fate
                _say_row(sample, fate, folder)
                _say_checks(row for row in folder.rows("checks.jsonl") if row["sample_id"] == identity)
                _say_reviews(folder, identity)
                _say_calls(folder, sample.provenance.get("calls") or (), prompts)
                return True
    for row in folder.rows("rejected.jsonl"):
        if row["id"] == identity:
            reason = f"{identity} was rejected by {row['check']}: {row['code']}: {row['message']}"
            sample_or_none = Sample.model_validate(row["sample"]) if row["sample"] else None
            say_long(reason, 0)
            if sample_or_none is None:
                say_long(f"candidate {row['candidate']} of {row['stratum']}, for {', '.join(row['tools']) or 'no tool'}; no row was built")
            else:
                _say_row(sample_or_none, "", folder)
            _say_checks(row.get("checks") or ())
            _say_calls(folder, row.get("calls") or (), prompts)
            return True
    return False


def _say_row(sample: Any, fate: str, folder: Any) -> None:
    say_sample(sample)
    if fate:
        say_long(fate)
    if sample.twin_of:
        say_long(f"twin of {sample.twin_of}")
    for row in folder.rows("samples.jsonl"):
        if row["twin_of"] == sample.id:
            say_long(f"has a twin: {row['id']}")
    say("\nValues and facts")
    for triple in sample.golden_triples:
        say_long(f"fact: ({triple.head}, {triple.relation}, {triple.tail})")
    for pointer, source in sample.argument_sources.items():
        say_long(f"{pointer}: {_origin(sample, source)}")
    origin = sample.provenance
    say("\nMade of")
    number = f", candidate {origin['candidate']} of {origin['stratum']}" if "candidate" in origin and "stratum" in origin else ""
    say_long(f"written by {origin.get('writer', 'templates')}{number}, seed {origin.get('seed')}, now {origin.get('now')}")
    for line in _documents(sample, folder):
        say_long(line)
    for name, value in (origin.get("prompts") or {}).items():
        say_long(f"prompt {name}: {value}")
    if isinstance(origin.get("draft"), dict):
        say_long(f"draft: {origin['draft']['query']}")
    if origin.get("style"):
        say_long(f"style: {origin['style']}")
    say_tried(origin)


def _documents(sample: Any, folder: Any) -> Iterator[str]:
    """The documents of the tools that the query asks for: how they were read, where from, and a hash of what they say."""
    from familytool.evaluation.stages import asked_tools
    from familytool.model import digest

    asked = dict.fromkeys(asked_tools({"provenance": sample.provenance, "calls": [{"name": call.name} for call in sample.calls]}))
    known = {row["name"]: row for row in folder.rows("tools.jsonl") if row["name"] in asked}
    for name in asked:
        row = known.get(name)
        if row is None:
            yield f"document {name}: not among tools.jsonl"
            continue
        source = row.get("source") or {}
        told = ", ".join(f"{key} {source[key]}" for key in ("status", "format", "place", "version") if source.get(key))
        yield f"document {name}: {told or 'read as it is'}, hash {digest([row['name'], row['description'], row['parameters']])}"


def _origin(sample: Any, source: Mapping[str, Any]) -> str:
    """Where a value comes from, in words."""
    span = source.get("span")
    said = f", said as '{sample.query[slice(*span)]}'" if isinstance(span, list) and len(span) == 2 else ""
    if "path" in source:
        return f"from the graph ({' -> '.join([source['path']['start'], *source['path']['relations']])}){said}"
    return f"from the {source.get('source')}" + (f" (stated{said})" if source.get("source") == "query" else said)


def _say_checks(rows: Iterable[Mapping[str, Any]]) -> None:
    rows = list(rows)
    if rows:
        say("\nChecks")
    for row in rows:
        say_long(f"{row['check']}: {row['verdict']} (by {row['judge']})")
        for finding in row["findings"]:
            place = f" at {finding['path']}" if finding["path"] else ""
            say_long(f"{finding['code']}{place}: {finding['message']}", 4)
            value = finding.get("value")
            if isinstance(value, dict) and value.get("evidence"):
                say_long(f"evidence: '{value['evidence']}'", 4)


def _say_reviews(folder: Any, identity: str) -> None:
    """What people said of the row, where they were asked."""
    for row in folder.rows("reviews.jsonl"):
        if row.get("record_id") == identity:
            say_long(f"review by {row.get('reviewer')}: {json.dumps(row.get('answers'), ensure_ascii=False)}")


def _say_calls(folder: Any, calls: Iterable[str], prompts: bool) -> None:
    """Each model call with its tokens and cost, and what they took together."""
    from familytool.evaluation.spending import PURPOSES, cost_of
    from familytool.llm.ledger import Ledger
    from familytool.llm.store import open_for_reading, told
    from familytool.runs import LEDGER

    path, keys = folder.path / LEDGER, list(dict.fromkeys(calls))
    if not keys or not path.exists():
        if keys:
            say(f"  {counted(len(keys), 'call')}; the ledger that holds them is not here")
        return
    say("\nModel calls")
    with Ledger(path, replay=True) as ledger:
        for key in keys:
            row, answer = ledger.row(key), ledger.lookup(key)
            if row is None or answer is None:
                say(f"  call {key[:12]}: not in this ledger")
                continue
            price = "no price" if answer.price is None else f"${answer.price:.5f}"
            tokens = f"{answer.usage.prompt_tokens or 0:,} + {answer.usage.output_tokens or 0:,} tokens"
            say_long(f"call {key[:12]}: {row.purpose} by {row.model}, {answer.outcome}, {tokens}, {price}")
            if prompts:
                for message in json.loads(row.request)["messages"]:
                    say(f"    [{message['role']}]\n{message['content']}")
                say(f"    [answer]\n{answer.text}")
    with told(path, "read"), contextlib.closing(open_for_reading(path)) as reader:
        cost = cost_of(reader, "", keys)
    by_purpose = ", ".join(f"{PURPOSES.get(name, name)} {n}" for name, n in cost.calls.items())
    price = "no price" if cost.price is None else f"${cost.price:.5f}"
    say_long(f"in all {counted(cost.n_calls, 'call')} ({by_purpose}), {cost.prompt_tokens + cost.output_tokens:,} tokens, {price}")
