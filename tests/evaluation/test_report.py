"""The report of a run: what it tells, and that nothing in it can do harm."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from familytool.evaluation.report import Baseline, Comparison, GoldReplay, GraphFacts, ReportFacts, render_report
from familytool.evaluation.stages import Funnel, Stage, StratumFunnel
from familytool.model import RelationPath, Sample, Tool, ToolCall, Triple

VOID = {"meta", "link", "br", "wbr"}
EVIL = "<script>alert(1)</script>\"'><img src=http://evil.test/x onerror=alert(1)>\u202eשלום\x00\ud800"


class Reader(HTMLParser):
    """A report as its reader sees it; refuses tags that do not close in order."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.titled = 0
        self.words = ""
        self.feed(markup)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self.titled += self.open[-1:] == ["svg"] and tag == "title"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words += data


def sample(**changes: Any) -> Sample:
    fields: dict[str, Any] = {
        "id": "home-hop2-000001",
        "benchmark": "home",
        "kind": "graph",
        "speaker": "Bob",
        "query": "Weather where my mum lives on Friday?",
        "graph_id": "home",
        "candidate_tools": (Tool(name="get_weather", parameters={}), Tool(name="get_news", parameters={})),
        "golden_triples": (Triple(head="Bob", relation="mother", tail="Ann"), Triple(head="Ann", relation="city", tail="Lisbon")),
        "golden_paths": (RelationPath(start="Bob", relations=("mother", "city")),),
        "calls": (ToolCall(name="get_weather", arguments={"place": "Lisbon", "day": "Friday", "options": {"units": ["C"]}}),),
        "argument_sources": {
            "/0/arguments/place": {"source": "graph", "path": {"start": "Bob", "relations": ["mother", "city"]}, "span": [8, 26]},
            "/0/arguments/day": {"source": "query", "span": [30, 36]},
        },
        "category": "outings",
    }
    return Sample.model_validate({**fields, **changes})


FACTS = ReportFacts(
    campaign="home",
    seed=7,
    now="2025-06-02",
    samples=3,
    by_hop={"hop1": 1, "hop2": 1, "no_tool": 1},
    by_depth={"1": 1, "2": 1, "0": 1},
    by_shape={"1": 1, "2": 1, "0": 1},
    by_category={"outings": 2, "food": 1},
    tools={"get_weather": 2},
    candidate_sizes={4: 1, 12: 2},
    graph=GraphFacts(nodes=1452, edges=1488, relation_types=129, people=12),
    funnel=Funnel(
        {
            "hop1": StratumFunnel(1, 1),
            "hop2": StratumFunnel(3, 1, {"intent: parse_error": 1, "duplicates: duplicate_sample": 1}),
            "no_tool": StratumFunnel(1, 1),
        },
        (Stage("rules: intent", 5, {"parse_error": 1}), Stage("duplicates", 4, {"duplicate_sample": 1})),
        {"get_weather": StratumFunnel(5, 3, {"intent: parse_error": 1, "duplicates: duplicate_sample": 1})},
    ),
    document_statuses={"ok": 5, "untyped": 1},
    gold_replay=GoldReplay({"em": 1.0, "kg_em": 1.0, "kg_no_hallucination_after": None}, 3),
    baselines=(
        Baseline("random_person", "the right relation of a random person", 0.08, {"hop1": 0.1, "hop2": 0.05}, 0.13),
        Baseline("only_leaf", "its only leaf", 0.9, {"hop1": 1.0, "hop2": None}),
    ),
    examples=(sample(), sample(id="two", kind="no_tool", golden_triples=(), golden_paths=(), calls=(), argument_sources={})),
    comparison=(Comparison("nodes", 150, 147, "Table 1"), Comparison("licence", None, "cc-by-4.0")),
    files={"samples": "runs/home/samples.jsonl"},
    version="0.1.0",
)


def changed(**changes: Any) -> str:
    return render_report(dataclasses.replace(FACTS, **changes))


def test_a_report_tells_every_fact() -> None:
    words = Reader(render_report(FACTS)).words
    for told in (
        "home benchmark", "1,488", "129 relation types", "12 people", "2 hops", "no tool fits", "intent: parse_error", "60.0%",
        "the right relation of a random person", "≤ 13.0%", "kg_no_hallucination_after", "does not apply", "−3", "Table 1",
        "Tools by number of golden calls (1)", "runs/home/samples.jsonl", "2025-06-02", "No call: none of the offered tools can do this.",
    ):  # fmt: skip
        assert told in words, told


def test_a_report_is_well_formed_loads_nothing_and_every_drawing_has_a_title() -> None:
    reader = Reader(render_report(FACTS))
    ids = [value for name, value in reader.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    references = [value for name, value in reader.attributes if name in ("href", "src", "srcset", "data", "action")]
    assert all(value == "data:," or value.removeprefix("#") in ids for value in references)
    assert not {"script", "img", "iframe", "object", "embed", "form", "image", "use"} & set(reader.tags)
    assert reader.tags.count("svg") == reader.titled > 7


def test_equal_facts_give_equal_bytes() -> None:
    assert render_report(FACTS) == render_report(dataclasses.replace(FACTS))


@pytest.mark.parametrize("word", [EVIL, "x" * 5000, "数" * 5000, ""], ids=["evil", "long", "wide", "empty"])
def test_hostile_text_anywhere_does_no_harm(word: str) -> None:
    hostile = sample(
        id=word,
        speaker=word,
        query=word * 2,
        category=word,
        twin_of=word,
        candidate_tools=(Tool(name=word, parameters={}),),
        golden_triples=(Triple(head=word, relation=word, tail=word),),
        golden_paths=(RelationPath(start=word, relations=(word,)),),
        calls=(ToolCall(name=word, arguments={word: word}), ToolCall(name="t", arguments={"deep": {word: [word, 1, None]}})),
        argument_sources={"/0/arguments/" + word: {"source": "graph", "path": {"start": word, "relations": [word]}, "span": [0, 3]}},
    )
    count = {word: 1}
    markup = render_report(
        ReportFacts(
            campaign=word, seed=0, now=word, samples=1, by_hop=count, by_depth=count, by_shape=count, by_category=count, tools=count,
            candidate_sizes={1: 1}, graph=GraphFacts(1, 1, 1, 1), funnel=Funnel({word: StratumFunnel(2, 1, count)}, (Stage("generate", 2, count),), {word: StratumFunnel(2, 1, count)}), document_statuses=count,
            gold_replay=GoldReplay({word: 0.5}, 1), baselines=(Baseline(word, word, 0.5, {word: 0.5}, 0.1),), examples=(hostile, hostile),
            comparison=(Comparison(word, word, word, word),), compared_with=word, files=count and {word: word}, version=word,
        )
    )  # fmt: skip
    markup.encode("utf-8")
    reader = Reader(markup)
    assert not {"script", "img", "b"} & set(reader.tags)
    assert not any(name.startswith("on") for name, _ in reader.attributes)
    assert len(markup) < 400_000


def test_what_comes_from_the_graph_or_the_query_is_marked_in_query_and_call() -> None:
    markup = render_report(FACTS)
    assert '<mark class="p0">where my mum lives</mark>' in markup
    assert '<span class="said">Friday</span>' in markup
    assert '<mark class="p0">&quot;Lisbon&quot;</mark>' in markup
    assert '<span class="said">&quot;Friday&quot;</span>' in markup


def test_a_call_is_shown_as_the_json_it_is() -> None:
    shown = re.findall(r"<pre>(.*?)</pre>", render_report(FACTS), re.DOTALL)[0]
    expected = '{\n  "name": "get_weather",\n  "arguments": {\n    "place": "Lisbon",\n    "day": "Friday",\n    "options": {\n      "units": [\n        "C"\n      ]\n    }\n  }\n}'
    assert Reader(shown).words == expected


def test_the_golden_tool_is_told_from_the_others_in_words_too() -> None:
    words = Reader(render_report(FACTS)).words
    assert "get_weather (golden)" in words
    assert "get_news (golden)" not in words


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "Every candidate is accounted for"),
        ({"funnel": Funnel({"hop1": StratumFunnel(5, 1)}, (), {})}, "The funnel does not add up in hop1."),
        ({}, "2 of 2 metrics that apply are 1, over 3 samples"),
        ({"gold_replay": GoldReplay({"em": 1.0, "kg_em": 0.9999}, 3)}, "1 of 2 metrics not at 1 (kg_em)"),
        ({"gold_replay": GoldReplay({"em": None}, 0)}, "no metric applies"),
        ({}, "Shortcuts within their goal: 1 of 1."),
        ({"baselines": (Baseline("stem", "by name", 0.2, {}, 0.1),)}, "Shortcuts above their goal: 1 of 1 (stem)."),
    ],
    ids=["adds up", "does not add up", "replay is right", "replay is wrong", "nothing applies", "within", "above"],
)
def test_the_verdicts_say_whether_the_benchmark_is_sound(changes: dict[str, Any], sentence: str) -> None:
    assert sentence in Reader(changed(**changes)).words


def test_parts_that_are_not_given_are_left_out() -> None:
    empty = changed(
        samples=0, by_hop={}, by_depth={}, by_shape={}, by_category={}, tools={}, candidate_sizes={}, funnel=Funnel({}, (), {}), document_statuses={},
        gold_replay=None, baselines=(), examples=(), comparison=(), files={},
    )  # fmt: skip
    words = Reader(empty).words
    for absent in ("Gold replay", "Shortcut", "Compared with", "Candidate tools (", "Funnel"):
        assert absent not in words
    assert "Provenance" in words


def test_a_call_nested_without_end_is_left_out() -> None:
    deep: Any = 1
    for _ in range(900):
        deep = [deep]
    Reader(changed(examples=(sample().model_copy(update={"calls": (ToolCall.model_construct(name="t", arguments={"a": deep}),)}),)))
