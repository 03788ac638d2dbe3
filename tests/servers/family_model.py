"""A scripted model for the tests: it phrases, solves, judges, writes, extracts and filters by rules of its own, well or badly.

It stands for a language model behind the fault server: it sees the messages of a request and nothing else, and equal requests get equal
answers. What it knows of a family is what a member of the family knows: who is whose what, and how one says so.
In a test: `FaultServer(plan, Family(campaign).good)`. As a process: `python -m tests.servers.fault_server --answer
tests.servers.family_model:good`, where `FAMILY_CAMPAIGN` (by default `home`) names the campaign; `erring` is bad in one of five cases.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from familytool import pipeline
from familytool.catalogue import tables
from familytool.formats.openai import read_tools
from familytool.generation.generate import Material
from familytool.generation.preference_rules import derived_relation
from familytool.generation.usable import parameters_by_rule
from familytool.kinship import KIN_RELATIONS
from familytool.phrasing import Owner, say_fact
from tests.generation.good_model import Writer, as_answer, blocks, calls_for, invent, keep_all, shown_facts, wanted
from tests.servers.fault_server import is_probe

Body = dict[str, Any]
Said = str | dict[str, Any]
"""The text of an answer, or the whole message."""

OPENINGS = ("", "Hey, ", "Listen, ", "Right, ", "Good morning! ", "Oh, and ", "One thing: ", "So, ")
KINDS = ("refused", "empty", "prose", "wrong", "cut")
NEW = ("plant", "inscription", "network")
"""Parameters of the catalogue's documents which its rules read nothing in, and in which this extractor sees a preference."""


def good(body: Body) -> Said:
    """A good answer to any prompt of the package."""
    return _family().good(body)


def erring(body: Body) -> Said:
    """A good answer in four of five cases, else one that is refused, empty, no JSON, wrong, or cut."""
    return _family().erring(body)


@lru_cache(maxsize=1)
def _family() -> Family:
    return Family(os.environ.get("FAMILY_CAMPAIGN", "home"))


class Family:
    """A model that knows the family of a campaign (a name or a file), which may not have more than one."""

    def __init__(self, campaign: str | Path) -> None:
        self.campaign = str(campaign)
        self._wordings: dict[tuple[str, str], list[tuple[str, tuple[str, ...]]]] = {}

    def good(self, body: Body) -> str:
        """A good answer to any prompt of the package."""
        if is_probe(body):
            return json.dumps({"ok": True}) if "response_format" in body else "probe"
        prompt, asked = prompt_of(body), stage_of(body)
        if asked == "phrase":
            return json.dumps({"query": _said(blocks(prompt, "draft")[0], random.Random(_hash(body)))})
        if asked == "solve":
            return json.dumps({"paths": self._solved(prompt)})
        if asked.startswith("judge"):
            return json.dumps({"evidence": blocks(prompt, "request")[0][:40], "reason": "it says so", "verdict": "pass"})
        if asked == "query":
            return json.dumps({"query": Writer(wanted(prompt, self._tools)).query(prompt)})
        if asked == "answer":
            speaker = prompt.split("The speaker is ", 1)[1].split(":", 1)[0]
            shown = [self._tools[json.loads(text)["name"]] for text in blocks(prompt, "tool")]
            return as_answer(calls_for(blocks(prompt, "request")[0], shown_facts(prompt), speaker, shown))
        if asked == "extract":
            return json.dumps({"preferences": _preferences(blocks(prompt, "document")[0])})
        return keep_all(prompt) if asked == "filter" else invent(prompt)

    def erring(self, body: Body) -> Said:
        """A good answer in four of five cases, else one that is refused, empty, no JSON, wrong, or cut, as a hash of the prompt says."""
        draw = random.Random(f"errs/{_hash(body)}")
        answer = self.good(body)
        if is_probe(body) or draw.random() < 0.8:
            return answer
        kind = draw.choice(KINDS)
        if kind == "wrong":
            return _wrong(json.loads(answer))
        return {
            "refused": {"content": None, "refusal": "I would rather not."},
            "empty": {"content": ""},
            "prose": "Certainly! Here is what you asked for.",
            "cut": {"content": answer[: len(answer) // 2], "finish_reason": "length"},
        }[kind]

    @cached_property
    def _material(self) -> Material:
        return pipeline.prepare(pipeline.Job(*pipeline.find_campaign(self.campaign)))

    @cached_property
    def _tools(self) -> dict[str, Any]:
        return {tool.name: tool for tool in self._material.tools}

    def _solved(self, prompt: str) -> list[list[str]]:
        """The chains that the request's words name: the longest wordings first, none inside another."""
        left = blocks(prompt, "request")[0].lower()
        found: list[tuple[int, list[str]]] = []
        for said, chain in self._known(blocks(prompt, "speaker")[0], blocks(prompt, "relations")[0]):
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

    def _known(self, speaker: str, relations: str) -> list[tuple[str, tuple[str, ...]]]:
        """(words in lower case, chain of relations) for every fact that this speaker can name, longest words first."""
        if (speaker, relations) not in self._wordings:
            world = self._material.world(0)
            owners: list[tuple[Owner, tuple[str, ...]]] = [(Owner(), ())]
            told: dict[str, tuple[str, ...]] = {}
            for person in world.people if speaker in world.people else ():
                for phrase in world.kin.phrases(speaker, person) if person != speaker else ():
                    told.setdefault(phrase.text.lower(), phrase.relations)
                    owners.append((Owner(phrase.text, phrase.takes_possessive), phrase.relations))
            for relation, wordings in _sayings(relations):
                for owner, chain in owners:
                    for said in filter(None, (say_fact(wording, owner) for wording in wordings)):
                        told.setdefault(said.lower(), (*chain, relation))
            self._wordings[speaker, relations] = sorted(told.items(), key=lambda pair: -len(pair[0]))
        return self._wordings[speaker, relations]


def prompt_of(body: Body) -> str:
    """The text of the user's message."""
    return str(body["messages"][-1]["content"])


def stage_of(body: Body) -> str:
    """What a prompt asks for: phrase, solve, judge_query, judge_intent, judge_feasibility, query, answer, extract, filter or values."""
    prompt = prompt_of(body)
    asked = set(_properties(body))
    if "query" in asked:
        return "phrase" if "<draft>\n" in prompt else "query"
    if "verdict" in asked:
        return next(
            name
            for name, words in (
                ("judge_query", "something that a person could say"),
                ("judge_intent", "does the request ask"),
                ("judge_feasibility", "tools offered"),
            )
            if words in prompt
        )
    names = {"paths": "solve", "tool_calls": "answer", "preferences": "extract", "verdicts": "filter", "values": "values"}
    return names[asked.pop()]


def _hash(body: Body) -> str:
    return hashlib.sha256(json.dumps([body["messages"], body.get("seed")], sort_keys=True).encode()).hexdigest()


def _wrong(value: Any) -> str:
    if "query" in value:
        return json.dumps({"query": "Book something nice for us, will you, whatever you think is best?"})
    if "paths" in value:
        return json.dumps({"paths": [["mother"]]})
    if "verdict" in value:
        return json.dumps({"verdict": "fail", "evidence": "no such words anywhere", "reason": "made up"})
    return json.dumps({})


def _properties(body: Body) -> dict[str, Any]:
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    if schema is None:
        _, mark, text = prompt_of(body).rpartition("JSON Schema:\n")
        schema = json.loads(text) if mark else {}
    return dict(schema.get("properties", {}))


def _said(draft: str, draw: random.Random) -> str:
    opening = draw.choice(OPENINGS)
    keeps = not opening or opening.endswith(("! ", ": ")) or draft.startswith(("I ", "I'"))
    return opening + (draft if keeps else draft[:1].lower() + draft[1:])


def _sayings(relations: str) -> list[tuple[str, tuple[str, ...]]]:
    """(relation, ways to say it) of all relations in a prompt's list that are none of kinship."""
    known = tables.concepts_by_relation()
    names = [name.strip() for name in relations.replace("\n", ",").split(",")]
    return [
        (name, known[name].wordings if name in known else derived_relation(name, name, "home").wordings)
        for name in names
        if name and name not in KIN_RELATIONS
    ]


def _preferences(document: str) -> list[dict[str, str]]:
    """What a good extractor reads in a document."""
    [tool] = read_tools([("prompt", [{"type": "function", "function": json.loads(document)}])], [])
    found: list[tuple[str, str, str]] = []
    for path, parameter in parameters_by_rule(tool).items():
        concepts = tables.concepts_by_kind().get(parameter.kind, ())
        if parameter.takes_fact and concepts:
            found.append((path, concepts[0].relation, concepts[0].category))
        elif path in NEW:
            found.append((path, f"favourite_{path}", "home"))
    return [{"parameter": p, "relation": r, "category": c, "reason": "people have one"} for p, r, c in found]


# Errors, each by its name ------------------------------------------------------------------------------------------


class Error(NamedTuple):
    """A way to answer badly: at which stage, how the good answer is changed, and the reason that a candidate is rejected for."""

    stage: str
    change: Callable[[dict[str, Any]], Said]
    code: str


def _saying(**fields: Any) -> Callable[[dict[str, Any]], Said]:
    return lambda value: json.dumps({**value, **fields})


def _query(change: Callable[[str], str]) -> Callable[[dict[str, Any]], Said]:
    return lambda value: json.dumps({"query": change(value["query"])})


def _message(**message: Any) -> Callable[[dict[str, Any]], Said]:
    return lambda value: {"content": json.dumps(value)[:-5], **message}


ERRORS = {
    "a phrasing that is refused": Error("phrase", _message(content=None, refusal="I would rather not."), "model_refused"),
    "an empty phrasing": Error("phrase", _message(content=""), "model_empty"),
    "a phrasing cut at the limit": Error("phrase", _message(finish_reason="length"), "model_cut"),
    "a phrasing cut without a word": Error("phrase", _message(), "unreadable_answer"),
    "prose": Error("phrase", lambda value: "Certainly! Here is your request.", "unreadable_answer"),
    "another member": Error("phrase", lambda value: json.dumps({"request": value["query"]}), "unreadable_answer"),
    "half a megabyte": Error("phrase", _query(lambda query: query + " please" * 70_000), "unreadable_answer"),
    "six hundred words": Error("phrase", _query(lambda query: query + " please do" * 300), "length"),
    "three words": Error("phrase", _query(lambda query: "Book it now."), "length"),
    "two lines": Error("phrase", _query(lambda query: query + "\nPlease."), "several_lines"),
    "a control character": Error("phrase", _query(lambda query: query + " \x1b[2J please."), "unprintable"),
    "a placeholder": Error("phrase", _query(lambda query: query + " Ask {name} first."), "leftover"),
    "another request": Error("phrase", _saying(query="Book something nice for us, will you, whatever is best?"), "solved_differently"),
    "other facts": Error("solve", _saying(paths=[["mother", "mother"]]), "solved_differently"),
    "facts as prose": Error("solve", lambda value: "You need to know her doctor.", "unreadable_answer"),
    "facts that are refused": Error("solve", _message(content=None, refusal="No."), "model_refused"),
    "a judge against the query": Error("judge_query", _saying(verdict="fail"), "judged_invalid"),
    "a judge against the intent": Error("judge_intent", _saying(verdict="fail"), "judged_mismatch"),
    "a judge against the tools": Error("judge_feasibility", _saying(verdict="fail"), "judged_infeasible"),
    "a judge who cannot tell": Error("judge_query", _saying(verdict="unknown"), "judge_undecided"),
    "evidence that is made up": Error("judge_query", _saying(evidence="no such words anywhere"), "evidence_not_found"),
    "a verdict as prose": Error("judge_query", lambda value: "That looks fine to me.", "unparsed_verdict"),
}


@dataclass
class Mistaken:
    """A model that makes each of these errors in turn, one for a row, between rows that are good.

    The row is known by its draft, and at later stages by the words that the draft was given.
    """

    family: Family
    errors: tuple[Error, ...] = tuple(ERRORS.values())
    _errors: dict[str, Error | None] = field(default_factory=dict)
    _drafts: int = 0

    def answer(self, body: Body) -> Said:
        """The answer to a prompt."""
        if is_probe(body):
            return self.family.good(body)
        answer, stage, prompt = self.family.good(body), stage_of(body), prompt_of(body)
        known_by = blocks(prompt, "draft" if stage == "phrase" else "request")[0]
        if stage == "phrase" and known_by not in self._errors:
            number, is_good = divmod(self._drafts, 2)
            self._errors[known_by] = None if is_good else self.errors[number % len(self.errors)]
            self._drafts += 1
        error = self._errors.get(known_by)
        if stage == "phrase":
            self._errors[json.loads(answer)["query"]] = error
        return error.change(json.loads(answer)) if error is not None and error.stage == stage else answer
