"""The records that pass between the stages.

All are frozen pydantic models that refuse unknown fields. A sample carries all that its checks and scorers need, so that
one line of `samples.jsonl` can be judged alone (with the graph that its `graph_id` names).
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Json: TypeAlias = Any
"""A value that JSON can hold; arguments and schemas differ per tool, so nothing narrower is true."""

Kind = Literal["graph", "no_graph", "no_tool", "multi_call"]
Verdict = Literal["pass", "fail", "unknown"]


class Record(BaseModel):
    """A frozen record; two of equal content are equal."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Tool(Record):
    """A tool document in the internal form: JSON Schema 2020-12 parameters, closed unless the document says otherwise.

    `source` says where it was read (format, place, status, version), `notes` list every repair, `raw` is the document as
    it was. The hints of `x-phrase` stand inside `parameters`, which JSON Schema ignores.
    """

    name: str
    description: str = ""
    parameters: dict[str, Json]
    response: dict[str, Json] = {}
    source: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    raw: Json = None

    def as_candidate(self) -> Tool:
        """The document as a model is offered it: name, description and schema without our own hints."""
        return Tool(name=self.name, description=self.description, parameters=without_hints(self.parameters))


class ToolCall(Record):
    """A call of one tool; `arguments` keep the author's key order."""

    name: str
    arguments: dict[str, Json]


class Triple(Record):
    """One fact (head, relation, tail) of a knowledge graph."""

    head: str
    relation: str
    tail: str


class RelationPath(Record):
    """A start entity and the relations to follow from it, in order."""

    start: str
    relations: tuple[str, ...]


class Preference(Record):
    """A relation that a tool document suggests, and the parameter whose argument its value can be."""

    relation: str
    category: str
    tool: str
    parameter: str
    value: str


class Sample(Record):
    """One row of a benchmark (paper section 3; columns of the release are these fields without `raw`)."""

    id: str
    benchmark: str
    kind: Kind
    speaker: str
    query: str
    graph_id: str
    candidate_tools: tuple[Tool, ...]
    golden_triples: tuple[Triple, ...] = ()
    golden_paths: tuple[RelationPath, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    alternatives: tuple[tuple[ToolCall, ...], ...] = ()
    argument_sources: dict[str, dict[str, Json]] = {}
    ordered: bool = False
    category: str = ""
    twin_of: str = ""
    provenance: dict[str, Json] = {}
    raw: Json = None

    @property
    def hops(self) -> int:
        """The number of golden triples, as the paper counts (Table 2)."""
        return len(self.golden_triples)

    @property
    def depth(self) -> int:
        """The longest golden chain."""
        return max((len(path.relations) for path in self.golden_paths), default=0)

    @property
    def shape(self) -> str:
        """Chain lengths in golden order, `2+1`; `0` where there is no chain."""
        return "+".join(str(len(path.relations)) for path in self.golden_paths) or "0"


class Finding(Record):
    """One thing a check found: a code of house rules, a JSON pointer, and a sentence a person understands."""

    code: str
    path: str = ""
    message: str
    value: Json = None
    hint: str = ""


class Check(Record):
    """The verdict of one check on one sample, with all its findings in stable order; `judge` names who decided.

    `left_open` says why a verdict is "unknown"; it is not kept with the verdict, since the check gives it again.
    """

    sample_id: str
    check: str
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    judge: str = "rules"
    left_open: tuple[Finding, ...] = Field((), exclude=True)


class Rejection(Record):
    """A candidate that was not taken: its stratum and number, the reason, and the sample itself as evidence if it got so far.

    `calls` are the ledger keys of the model calls that it took, `checks` the verdicts that were reached.
    """

    id: str
    stratum: str
    candidate: int
    check: str
    code: str
    message: str
    tools: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    sample: Sample | None = None


def without_hints(schema: Json) -> Json:
    """A schema without the keys of ours (`x-phrase`, `x-kind`) at any depth; property names are never touched."""
    if isinstance(schema, list):
        return [without_hints(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    cleaned = {}
    for key, value in schema.items():
        if key in ("x-phrase", "x-kind"):
            continue
        if key in ("properties", "$defs", "definitions", "patternProperties") and isinstance(value, dict):
            cleaned[key] = {name: without_hints(inner) for name, inner in value.items()}
        elif key in ("default", "enum", "const", "examples"):
            cleaned[key] = value
        else:
            cleaned[key] = without_hints(value)
    return cleaned


def canonical(value: Json) -> str:
    """JSON with sorted keys and no spaces: for hashes and comparison only, never for storage."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def digest(value: Json) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]
