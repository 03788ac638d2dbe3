"""Whatever a sample or a tool holds: what a format writes its own reader finds again, or the row is rejected with a reason."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from familytool.formats.benchmark_files import Source
from familytool.formats.benchmarks import BENCHMARK_FORMATS
from familytool.formats.documents import TOOL_FORMATS
from familytool.formats.familytool_2025_text import MARKER
from familytool.formats.schema import normalise_parameters
from familytool.model import Json, RelationPath, Sample, Tool, ToolCall, Triple, canonical

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)  # no test depends on the speed of a machine
# Generated texts are made fit by `map`, not by `filter`: two thousand examples then take seconds, not minutes.
NAMES = st.text("ab,'\"()[]{}<>\\./ \n\té李😀\u0301\u2028#:", max_size=6) | st.text(max_size=5) | st.just(f"x {MARKER} y")
CALLED = NAMES.map(lambda name: name if name.strip() else f"{name}f")
"""Names of tools and calls: a blank one is no call."""
PLAIN = NAMES.map(lambda name: name.replace(MARKER, "").strip() or "a")
"""Texts without space around them."""


def objects(values: st.SearchStrategy[Any], most: int) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with up to so many names; a name that is drawn twice is one."""
    return st.lists(st.tuples(NAMES, values), max_size=most).map(dict)


WORDS = st.text("abc_é", min_size=1, max_size=4)
ATOMS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | NAMES
    | st.sampled_from(["", 10**30, -0.0, 1.0, 1])
)
PARTS = ATOMS | st.lists(ATOMS, max_size=2) | objects(ATOMS, 2)
VALUES = ATOMS | st.lists(PARTS, max_size=3) | objects(PARTS, 2)
TYPES = st.sampled_from([{}, {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": ["string", "null"]}, {"type": "boolean", "default": True},
                         {"type": "array", "items": {"type": "number"}}, {"type": "string", "enum": ["", "a,b"]}, {"type": "string", "description": ""},
                         {"type": "object", "properties": {"x/y": {"type": "string", "pattern": "^a"}}, "required": ["x/y"]}])  # fmt: skip


@st.composite
def tools(draw: Any) -> Tool:
    properties = draw(objects(TYPES, 3))
    required = draw(st.lists(st.sampled_from(sorted(properties)), max_size=2).map(dict.fromkeys).map(list)) if properties else []
    more = draw(st.sampled_from([{}, {}, {"additionalProperties": True}, {"oneOf": [{"required": ["a"]}]}, {"minProperties": 1}]))
    schema, _ = normalise_parameters({"type": "object", "properties": properties, "required": required, **more})
    return Tool(name=draw(CALLED), description=draw(NAMES), parameters=schema)


@st.composite
def samples(draw: Any) -> Sample:
    """Any sample; three of four have what most formats ask for: texts without space around them, a chain of facts, a call."""
    usual = draw(st.sampled_from([True, True, True, False]))
    names = PLAIN if usual else NAMES
    offered = draw(st.lists(tools(), max_size=2))
    chains = draw(st.lists(st.lists(names, min_size=3, max_size=7), min_size=usual, max_size=1 if usual else 2))
    chains = [distinct(chain) if usual else chain for chain in chains]
    triples: dict[Triple, None] = {}
    paths = []
    for chain in chains:
        heads, relations = chain[::2], chain[1::2]
        steps = list(zip(heads, relations, heads[1:], strict=False))
        triples |= dict.fromkeys(Triple(head=h, relation=r, tail=t) for h, r, t in steps)
        paths.append(RelationPath(start=heads[0], relations=tuple(r for _, r, _ in steps)))
    called = st.sampled_from([t.name for t in offered]) if offered else CALLED
    calls = draw(st.lists(st.builds(ToolCall, name=called, arguments=objects(VALUES, 3)), min_size=usual, max_size=2))
    return Sample(
        id=f"set-{draw(CALLED)}",
        benchmark="set",
        kind="no_tool" if not calls else "multi_call" if len(calls) > 1 else "graph",
        speaker=draw(names),
        query=draw(names),
        graph_id="set",
        candidate_tools=tuple(offered),
        golden_triples=tuple(triples),
        golden_paths=tuple(paths),
        calls=tuple(calls),
        alternatives=(tuple(map(opened, calls)),) if calls and draw(st.integers(0, 3)) == 0 else (),
    )


def distinct(names: list[str]) -> list[str]:
    """The names, each that came before with a mark."""
    found: list[str] = []
    for name in names:
        while name in found:
            name += "'"
        found.append(name)
    return found


def opened(call: ToolCall) -> ToolCall:
    """A call with two choices for each argument."""
    choices = {name: {"$any": [value, [value]], "optional": len(name) % 2 == 0} for name, value in call.arguments.items()}
    return ToolCall(name=call.name, arguments=choices)


def written_and_read(name: str, rows: Iterable[Sample]) -> tuple[list[Sample], list[str], list[str]]:
    """The samples that a format gives back, and what it refused to write and to read."""
    known = BENCHMARK_FORMATS[name]
    refused: list[str] = []
    unread: list[str] = []
    assert known.write_samples is not None
    with tempfile.TemporaryDirectory() as folder:
        files: dict[Path, str] = {}
        for file, text in known.write_samples(rows, "set", refused):
            path = Path(folder) / (file or "set.jsonl")
            files[path] = files.get(path, "") + text
        for path, text in files.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        first = next(iter(files), None)
        return (list(known.read_samples(Source(first, "set", graph_id="set"), unread)) if first else []), refused, unread


def told(sample: Sample, name: str) -> list[Json]:
    """What a format carries of a sample."""
    documents = [[t.name, t.description, {"required": [], **t.as_candidate().parameters}] for t in sample.candidate_tools]
    if name == "xlam":
        documents = [
            json.loads(json.dumps(d).replace('"description": "", ', "").replace(', "description": ""', "").replace('"description": ""', ""))
            for d in documents
        ]
    basis: list[Json] = [sample.query, [[c.name, c.arguments] for c in sample.calls], documents]
    if name == "familytool-2025":
        return [*basis, sample.speaker, *([[list(t.model_dump().values()) for t in sample.golden_triples]])]
    if name == "bfcl":
        alternatives = [
            [c.name, {p: [[v for v in x["$any"] if v != ""], x["optional"]] for p, x in c.arguments.items()}]
            for a in sample.alternatives
            for c in a
        ]
        return [*basis, alternatives if any(x for _, x in alternatives) else []]
    return basis


def holds_empty_text(value: Json, top: bool = True) -> bool:
    if isinstance(value, dict):
        return any(v == "" or holds_empty_text(v, False) for v in value.values())
    return any(holds_empty_text(v, False) for v in value) if isinstance(value, list) else top and value == ""


def must_be_said(sample: Sample, name: str) -> bool:
    """Whether nothing about a sample excuses a format from writing it."""
    if name == "familytool":
        return True
    plain = sample.query == sample.query.strip() != ""
    if name == "xlam":
        return plain and not sample.alternatives
    if name == "bfcl":
        arguments = [value for call in sample.calls for value in call.arguments.values()]
        return plain and not any(map(holds_empty_text, arguments)) and not (sample.alternatives and "" in arguments)
    names = [n for t in sample.golden_triples for n in (t.head, t.relation, t.tail)]
    clean = all(n == n.strip() != "" for n in [*names, sample.speaker]) and not {*"<>"} & {*sample.speaker} and sample.speaker[-1] != "."
    simple = (
        len(sample.golden_paths) == 1
        and len({t.head for t in sample.golden_triples} | {sample.golden_triples[-1].tail}) == len(sample.golden_triples) + 1
    )
    return (
        plain
        and clean
        and simple
        and bool(sample.calls)
        and not sample.alternatives
        and MARKER not in "".join(names)
        and "speak>" not in sample.query
    )


def comes_back(name: str, sample: Sample) -> None:
    back, refused, unread = written_and_read(name, [sample])
    assert unread == []
    if refused:
        assert back == []
        assert len(refused) == 1
        assert refused[0].startswith(f"{sample.id}: ")
        assert not must_be_said(sample, name), refused
        return
    [again] = back
    if name == "familytool":
        assert again.model_dump_json() == sample.model_copy(update={"candidate_tools": again.candidate_tools}).model_dump_json()
    assert canonical(told(again, name)) == canonical(told(sample, name))
    if name in ("bfcl", "xlam"):
        assert again.id == sample.id
    second, refused, unread = written_and_read(name, [again])  # with `raw` now
    assert (refused, unread) == ([], [])
    assert canonical(told(second[0], name)) == canonical(told(again, name))
    assert second[0].raw == again.raw


FORMATS = pytest.mark.parametrize("name", [name for name, known in BENCHMARK_FORMATS.items() if known.write_samples])


@FORMATS
@settings(max_examples=100, suppress_health_check=SLOW)
@given(sample=samples())
def test_a_sample_comes_back_or_is_rejected(name: str, sample: Sample) -> None:
    comes_back(name, sample)


@pytest.mark.soak
@FORMATS
@settings(max_examples=2_000, suppress_health_check=SLOW)
@given(sample=samples())
def test_many_samples_come_back_or_are_rejected(name: str, sample: Sample) -> None:
    comes_back(name, sample)


CARRY_ALL = [name for name, known in TOOL_FORMATS.items() if known.write_tools and name not in ("gemini", "xlam", "mtu-bench")]
SCHEMA_OF_PARTS = ("properties", "required", "type", "additionalProperties", "unevaluatedProperties")


def tool_comes_back(name: str, tool: Tool) -> None:
    known = TOOL_FORMATS[name]
    rejected: list[str] = []
    assert known.write_tools is not None
    records = [json.loads(json.dumps(record, ensure_ascii=False)) for record in known.write_tools([tool])]
    [again] = known.read_tools([(f"x:{n}", record) for n, record in enumerate(records, 1)], rejected)
    assert rejected == []
    assert (again.name, again.description) == (tool.name, tool.description)
    kept = tool.parameters if name in CARRY_ALL else {key: value for key, value in tool.parameters.items() if key in SCHEMA_OF_PARTS}
    if name in CARRY_ALL or (
        name == "mtu-bench"
        and kept == tool.parameters
        and "unevaluatedProperties" not in kept
        and kept.get("additionalProperties") is False
    ):
        assert canonical({"required": [], **again.parameters}) == canonical({"required": [], **kept})
    else:
        assert set(again.parameters["properties"]) == set(tool.parameters["properties"])


TOOL_FORMAT = pytest.mark.parametrize("name", [name for name, known in TOOL_FORMATS.items() if known.write_tools])


@TOOL_FORMAT
@settings(max_examples=100, suppress_health_check=SLOW)
@given(tool=tools())
def test_a_tool_comes_back(name: str, tool: Tool) -> None:
    tool_comes_back(name, tool)


@pytest.mark.soak
@TOOL_FORMAT
@settings(max_examples=2_000, suppress_health_check=SLOW)
@given(tool=tools())
def test_many_tools_come_back(name: str, tool: Tool) -> None:
    tool_comes_back(name, tool)


JUNK = st.recursive(ATOMS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
    st.sampled_from(["id", "question", "function", "query", "answers", "tools", "role", "content", "name", "parameters", "ground_truth", "involved_classes", "calls"]),
    inner, max_size=6), max_leaves=20)  # fmt: skip


def reads_junk(name: str, value: Json) -> None:
    """Whatever a row is, it gives samples or rejections; what can be written again is."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set.jsonl"
        (Path(folder) / "possible_answer").mkdir()
        for file in (path, path.parent / "possible_answer" / path.name):
            file.write_text(json.dumps(value) + "\n", encoding="utf-8")
        rejected: list[str] = []
        found = list(BENCHMARK_FORMATS[name].read_samples(Source(path, "set"), rejected))
        assert found or rejected
        assert all("set.jsonl" in sentence for sentence in rejected)
        _, refused, unread = written_and_read(name, found)
        assert (refused, unread) == ([], [])


ROWS = {
    "bfcl": st.fixed_dictionaries({"id": st.just("simple_1"), "question": st.lists(st.lists(st.fixed_dictionaries({"role": st.just("user"), "content": WORDS}), max_size=2), max_size=2), "ground_truth": st.lists(JUNK, max_size=2), "function": st.lists(JUNK, max_size=1)}),
    "xlam": st.fixed_dictionaries({"id": ATOMS, "query": WORDS, "answers": JUNK | st.lists(JUNK), "tools": st.lists(JUNK, max_size=1)}),
    "familytool-2025": st.tuples(JUNK, JUNK, JUNK, JUNK).map(lambda contents: [{"role": r, "content": c} for r, c in zip(("id", "candidate_tools", "user", "tool_call"), contents, strict=True)]),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
@settings(max_examples=100, suppress_health_check=SLOW)
@given(data=st.data())
def test_no_row_ends_in_a_traceback(name: str, data: st.DataObject) -> None:
    reads_junk(name, data.draw(ROWS[name] | JUNK.filter(lambda value: value not in ([], None))))
