"""A scripted model for the tests: it phrases, solves, judges, extracts and writes by rules of its own, and errs as a hash of the prompt says.

It stands for a language model behind the fault server: it sees the messages of a request and nothing else. What it knows of the families is
what a member of the family knows: who is whose what, and how one says so (`FAMILY_CAMPAIGN`, by default `home`, names the family).
`python -m tests.servers.fault_server --answer tests.servers.family_model:good` serves it; `erring` gives bad answers in one of five cases.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from functools import lru_cache
from typing import Any

from familytool import pipeline
from familytool.generation.preferences import World
from familytool.phrasing import Owner, say_fact

OPENINGS = ("", "Hey, ", "Listen, ", "Right, ", "Good morning! ", "Oh, and ", "One thing: ", "So, ")
KINDS = ("refused", "empty", "prose", "wrong", "cut")


def good(body: dict[str, Any]) -> str | dict[str, Any]:
    """A good answer to any prompt of the package."""
    return _answer(body, random.Random(_hash(body)))


def erring(body: dict[str, Any]) -> str | dict[str, Any]:
    """A good answer in four of five cases, else one that is refused, empty, no JSON, wrong, or cut."""
    draw = random.Random(_hash(body))
    if draw.random() < 0.8:
        return _answer(body, draw)
    kind = draw.choice(KINDS)
    answer = _answer(body, draw)
    if kind == "refused":
        return {"content": None, "refusal": "I would rather not."}
    if kind == "empty":
        return {"content": ""}
    if kind == "prose":
        return "Certainly! Here is what you asked for."
    if kind == "cut":
        return str(answer)[: len(str(answer)) // 2]
    return _wrong(json.loads(str(answer)))


def _hash(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps([body["messages"], body.get("seed")], sort_keys=True).encode()).hexdigest()


def _wrong(value: Any) -> str:
    if "query" in value:
        return json.dumps({"query": "Book something nice for us, will you, whatever you think is best?"})
    if "paths" in value:
        return json.dumps({"paths": [["mother"]]})
    if "verdict" in value:
        return json.dumps({"verdict": "fail", "evidence": "no such words anywhere", "reason": "made up"})
    return json.dumps({})


def _answer(body: dict[str, Any], draw: random.Random) -> str:
    prompt = "\n".join(str(message.get("content")) for message in body["messages"])
    wanted = _properties(body)
    if "query" in wanted and "<draft>" in prompt:
        return json.dumps({"query": _said(_between(prompt, "draft"), draw)})
    if "paths" in wanted:
        return json.dumps({"paths": _solved(prompt)})
    if "verdict" in wanted:
        return json.dumps({"verdict": "pass", "evidence": _between(prompt, "request")[:40], "reason": "it says so"})
    return json.dumps({name: [] for name in wanted})


def _properties(body: dict[str, Any]) -> dict[str, Any]:
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    if schema is None:
        _, mark, text = str(body["messages"][-1]["content"]).rpartition("JSON Schema:\n")
        schema = json.loads(text) if mark else {}
    return dict(schema.get("properties", {}))


def _between(prompt: str, tag: str) -> str:
    return prompt.rpartition(f"<{tag}>\n")[2].partition(f"\n</{tag}>")[0]


def _said(draft: str, draw: random.Random) -> str:
    opening = draw.choice(OPENINGS)
    keeps = not opening or opening.endswith(("! ", ": ")) or draft.startswith(("I ", "I'"))
    return opening + (draft if keeps else draft[:1].lower() + draft[1:])


def _solved(prompt: str) -> list[list[str]]:
    """The chains that the request's words name: the longest wordings first, none inside another."""
    query = _between(prompt, "request")
    speaker = _between(prompt, "speaker")
    left = query.lower()
    found: list[tuple[int, list[str]]] = []
    for said, chain in _wordings(os.environ.get("FAMILY_CAMPAIGN", "home"), speaker):
        at = left.find(said)
        while at >= 0:
            around = left[at - 1 : at] + left[at + len(said) : at + len(said) + 1]
            if not any(character.isalnum() for character in around):
                found.append((at, list(chain)))
                left = left[:at] + "\0" * len(said) + left[at + len(said) :]
            at = left.find(said, at + 1)
    paths: list[list[str]] = []
    for _, chain in sorted(found):
        if chain not in paths:
            paths.append(chain)
    return paths


@lru_cache(maxsize=64)
def _wordings(campaign: str, speaker: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(words in lower case, chain of relations) for every fact that this speaker can name, longest words first."""
    world = _world(campaign)
    owners: list[tuple[Owner, tuple[str, ...]]] = [(Owner(), ())]
    told: dict[str, tuple[str, ...]] = {}
    for person in world.people if speaker in world.people else ():
        for phrase in world.kin.phrases(speaker, person) if person != speaker else ():
            told.setdefault(phrase.text.lower(), phrase.relations)
            owners.append((Owner(phrase.text, phrase.takes_possessive), phrase.relations))
    for owner, chain in owners:
        for concept in world.concepts:
            for wording in concept.wordings:
                said = say_fact(wording, owner)
                if said is not None:
                    told.setdefault(said.lower(), (*chain, concept.relation))
    return tuple(sorted(told.items(), key=lambda pair: -len(pair[0])))


@lru_cache(maxsize=4)
def _world(campaign: str) -> World:
    return pipeline.prepare(pipeline.Job(*pipeline.find_campaign(campaign))).world(0)
