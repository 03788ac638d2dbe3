"""Tool documents made ready for generation: one version per name, the kind of each parameter, and sentences to ask with.

Version rule: described and typed before untyped, then more fillable kinds, then the most frequent, then the lowest number;
nothing is forced, and the versions not taken are listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from familytool.campaign import DocumentException
from familytool.catalogue import tables
from familytool.catalogue.tables import Kinds, catalogue_kinds
from familytool.generation.drafting import draft_sentences
from familytool.generation.extracted import Extraction, Proposal
from familytool.generation.extraction import infer_kind, name_words
from familytool.model import Json, Tool
from familytool.phrasing import Template, parse_template

LITERALS_WITHOUT_TABLE = tables.LITERAL_KINDS - {"text", "choice"}
"""Kinds whose values are computed; texts and choices need a list."""

MIN_VALUES = 8
"""A kind with fewer values than this is no graph fact: a blind guess would be right too often."""


PEOPLE_KINDS = frozenset({"person", "child"})
"""Kinds whose value can be a person of the family; `child` only one who may be of school age."""


@dataclass(frozen=True)
class Parameter:
    """One parameter that a sentence can fill. `path` is dotted for members of an object; `schema` is the leaf's.

    `relations` are those that alone may fill it (none: all of its kind); `proposed` is the one that a model read from its document;
    without `is_preference` no fact but a relative may fill it.
    """

    path: str
    keys: tuple[str, ...]
    kind: str
    reason: str
    schema: dict[str, Json]
    is_array: bool = False
    wrap_literal: str = "{}"
    wrap_reference: str = "{}"
    words: dict[str, str] = field(default_factory=dict)
    examples: tuple[Json, ...] = ()
    states_new: bool = False
    least_items: int = 1
    relations: tuple[str, ...] = ()
    proposed: str = ""
    is_preference: bool = True
    kinds: Kinds = field(default_factory=catalogue_kinds, compare=False, repr=False)

    @property
    def takes_fact(self) -> bool:
        """Whether a fact of the graph may fill it."""
        return (self.is_preference or self.kind in PEOPLE_KINDS) and not self.states_new and is_graph_kind(self.kind, self.kinds)


@dataclass(frozen=True)
class UsableTool:
    """A tool with at least one sentence that can be asked."""

    tool: Tool
    parameters: dict[str, Parameter]
    sentences: tuple[Template, ...]
    category: str
    hinted: bool

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.tool.name


@dataclass(frozen=True)
class Refusal:
    """A parameter, version or tool that is not used, with the reason."""

    tool: str
    parameter: str
    reason: str


def is_graph_kind(kind: str, kinds: Kinds | None = None) -> bool:
    """Whether facts of this kind can stand in a graph."""
    kinds = kinds or catalogue_kinds()
    return kind in PEOPLE_KINDS or (kind in kinds.by_kind and len(kinds.values(kind)) >= MIN_VALUES)


def usable_tools(documents: Iterable[Tool], exceptions: Iterable[DocumentException] = (),
                 extraction: Extraction | None = None) -> tuple[list[UsableTool], list[Refusal]]:  # fmt: skip
    """The tools that can be asked for, one version per name in order of first appearance, and everything refused.

    Args:
        extraction: what a model read from the documents. It decides which parameters take a fact of a person, and which one (a relative
            may still fill what takes a person); all others are read by rule.
    """
    exceptions = tuple(exceptions)
    kinds = extraction.kinds if extraction else catalogue_kinds()
    by_name: dict[str, list[Tool]] = {}
    for tool in documents:
        by_name.setdefault(tool.name, []).append(tool)
    chosen: list[UsableTool] = []
    refusals: list[Refusal] = []
    for name, versions in by_name.items():
        left_out = next((e for e in exceptions if e.tool == name and e.parameter is None), None)
        if left_out is not None:
            refusals.append(Refusal(name, "", f"left out by the campaign: {left_out.reason}"))
            continue
        ranked = sorted((_ready(t, exceptions, kinds, extraction.of(t) if extraction else None) for t in versions), key=_rank)
        best = ranked[0]
        for other in ranked[1:]:
            refusals.append(
                Refusal(
                    name,
                    "",
                    f"version {_version(other.tool)} is not used; version {_version(best.tool)} is",
                )
            )
        refusals.extend(Refusal(name, p.path, p.reason) for p in best.parameters.values() if p.kind == "none")
        refusals.extend(Refusal(name, "", reason) for reason in phrase_faults(best.tool, best.parameters))
        if best.sentences:
            chosen.append(best)
        else:
            refusals.append(Refusal(name, "", "no sentence can fill its required parameters with values of known kinds"))
    return chosen, refusals


def _version(tool: Tool) -> str:
    return f"{tool.source.get('version', '?')} ({tool.source.get('status', '?')}, {tool.source.get('place', '?')})"


def _is_one_line(text: str) -> bool:
    """Whether a sentence holds nothing but printable characters on one line."""
    return all(character.isprintable() for character in text)


def phrase_faults(tool: Tool, parameters: dict[str, Parameter]) -> list[str]:
    """What is wrong with the sentences that a document itself brings: no text, unbalanced, or a slot that is no parameter."""
    faults: list[str] = []
    for text in tool.parameters.get("x-phrase") or []:
        try:
            template = parse_template(text) if isinstance(text, str) else None
        except ValueError as error:
            faults.append(f"x-phrase: {error}; the sentence is not used")
            continue
        slots = {*template.slots, *(name for names in template.segments for name in names)} if template else set()
        unknown = sorted(slots - set(parameters))
        if template is not None and not _is_one_line(text):
            faults.append(f"x-phrase: {ascii(text)[:60]} holds a control character; the sentence is not used")
        elif template is None:
            faults.append(f"x-phrase: {str(text)[:40]!r} is no sentence")
        elif unknown:
            faults.append(f"x-phrase: {text!r} names {', '.join(unknown)}, which the document does not have; the sentence is not used")
    return faults


STATUSES = ("ok", "partly-typed", "untyped", "partial", "obfuscated")
"""How good a document is, best first: all, some or no parameters typed; parameters shared with others; a name that says nothing."""


def status_of(tool: Tool) -> str:
    """The status of a document; a name of one repeated letter (`aaa`) is a stand-in that says nothing."""
    if len(tool.name) > 1 and set(tool.name) == {tool.name[0]}:
        return "obfuscated"
    status = tool.source.get("status", "untyped")
    return status if status in STATUSES else "untyped"


def _rank(ready: UsableTool) -> tuple[Any, ...]:
    return (
        not ready.sentences,
        STATUSES.index(status_of(ready.tool)),
        -sum(p.takes_fact for p in ready.parameters.values()),
        -int(ready.tool.source.get("uses", "1")),
        int(ready.tool.source.get("version", "1")),
    )


def parameters_by_rule(tool: Tool) -> dict[str, Parameter]:
    """The parameters of a document by their path, each with the kind that the rules and hints give it."""
    return {p.path: p for p in _parameters(tool, _hints_for(tool).get("parameters", {}), (), catalogue_kinds(), None)}


def _hints_for(tool: Tool) -> dict[str, Any]:
    return tables.hints().get(tool.name, {}) if "x-phrase" not in tool.parameters else {}


def _ready(tool: Tool, exceptions: tuple[DocumentException, ...], kinds: Kinds, proposals: Mapping[str, Proposal] | None) -> UsableTool:
    hint = _hints_for(tool)
    parameters = {p.path: p for p in _parameters(tool, hint.get("parameters", {}), exceptions, kinds, proposals)}
    written = tool.parameters.get("x-phrase") or hint.get("sentences") or []
    sentences = [s for text in written if isinstance(text, str) and (s := _usable_sentence(text, tool, parameters))]
    hinted = bool(sentences)
    if not sentences:
        sentences = [s for text in draft_sentences(tool, parameters) if (s := _usable_sentence(text, tool, parameters))]
    categories = Counter(kinds.by_kind[p.kind][0].category for p in parameters.values() if p.takes_fact and p.kind in kinds.by_kind)
    return UsableTool(tool, parameters, tuple(sentences), categories.most_common(1)[0][0] if categories else "other", hinted)


def _parameters(tool: Tool, hints: dict[str, Any], exceptions: tuple[DocumentException, ...], kinds: Kinds,
                proposals: Mapping[str, Proposal] | None) -> Iterator[Parameter]:  # fmt: skip
    for keys, schema in _leaves(tool.parameters, ()):
        path = ".".join(keys)
        hint = {**_hint(schema), **hints.get(path, {})}
        is_array = schema.get("type") == "array"
        leaf = schema.get("items", {}) if is_array else schema
        leaf = leaf if isinstance(leaf, dict) else {}
        if is_array:
            hint = {**_hint(leaf), **hint}
        exception = next((e for e in exceptions if e.tool == tool.name and e.parameter == path), None)
        decision = infer_kind(tool, keys[-1], {**leaf, "x-kind": leaf.get("x-kind", schema.get("x-kind"))} if is_array else schema)
        kind, reason = decision.kind, decision.reason
        if "kind" in hint:
            kind, reason = hint["kind"], "a phrase hint says so"
        proposal = proposals.get(path) if proposals and exception is None else None
        if exception is not None:
            kind, reason = exception.kind, f"by the campaign: {exception.reason}"
        elif proposal is not None:
            kind, reason = proposal.kind, f"a model read {proposal.relation} from it"
        yield Parameter(
            path=path, keys=keys, kind=kind, reason=reason, schema=leaf, is_array=is_array,
            wrap_literal=_wrap(hint.get("literal")), wrap_reference=_wrap(hint.get("reference")),
            words={str(k): str(v) for k, v in hint.get("values", {}).items()},
            examples=_plain_values(hint.get("examples") or leaf.get("examples")) if kind not in kinds.added else kinds.added[kind],
            states_new=_states_new(tool, keys[-1]),
            relations=tuple(str(r) for r in hint.get("relations", ())) if proposal is None else (proposal.relation,),
            least_items=max(1, schema.get("minItems", 1)) if is_array else 1,
            proposed=proposal.relation if proposal else "",
            is_preference=proposals is None or proposal is not None or exception is not None, kinds=kinds,
        )  # fmt: skip


def _hint(schema: dict[str, Json]) -> dict[str, Any]:
    """The phrase hints of a parameter that are of the right type; a document is not trusted to have written them well."""
    stated = schema.get("x-phrase")
    types: dict[str, type] = {
        "label": str,
        "literal": str,
        "reference": str,
        "adjunct": str,
        "values": dict,
        "examples": list,
        "relations": list,
        "kind": str,
    }
    return {k: v for k, v in stated.items() if k in types and isinstance(v, types[k])} if isinstance(stated, dict) else {}


def _plain_values(values: Any) -> tuple[Json, ...]:
    return tuple(v for v in values if isinstance(v, str | int | float)) if isinstance(values, list) else ()


def _states_new(tool: Tool, name: str) -> bool:
    """Whether a parameter holds what something is changed to (not the time of an alarm that is added)."""
    verb = name_words(tool.name)[:1]
    return "new" in name_words(name) and verb[:1] not in (["add"], ["set"], ["create"], ["book"], ["order"])


def _wrap(text: object) -> str:
    return text if isinstance(text, str) and text.count("{}") == 1 else "{}"


def _leaves(schema: dict[str, Json], keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], dict[str, Json]]]:
    for name, node in schema.get("properties", {}).items():
        if not isinstance(node, dict) or len(keys) > 3:
            continue
        if node.get("type") == "object" and node.get("properties"):
            yield from _leaves(node, (*keys, name))
        else:
            yield (*keys, name), node


def _usable_sentence(text: str, tool: Tool, parameters: dict[str, Parameter]) -> Template | None:
    """The sentence, if every slot outside segments can be filled and all required parameters are among them."""
    if not _is_one_line(text):
        return None
    try:
        template = parse_template(text)
    except ValueError:
        return None
    names = set(template.slots).union(*template.segments) if template.segments else set(template.slots)
    if not names <= set(parameters) or any(not can_fill(parameters[name]) for name in template.slots):
        return None
    said = {parameters[name].keys for name in template.slots}
    if not _covers(tool.parameters, said, ()):
        return None
    return template if any(parameters[name].takes_fact for name in names) else None


def _covers(schema: dict[str, Json], said: set[tuple[str, ...]], prefix: tuple[str, ...]) -> bool:
    """Whether all required members are said; a nested object counts where one of its members is said."""
    needed = list(schema.get("required", []))
    for name, node in schema.get("properties", {}).items():
        here = (*prefix, name)
        opened = any(keys[: len(here)] == here for keys in said)
        if name in needed and not opened:
            return False
        if opened and isinstance(node, dict) and node.get("properties") and not _covers(node, said, here):
            return False
    return True


def can_fill(parameter: Parameter) -> bool:
    """Whether a value of the right kind can be made for this parameter, from the graph or outright."""
    return (
        is_graph_kind(parameter.kind, parameter.kinds)
        or parameter.kind in LITERALS_WITHOUT_TABLE
        or bool(parameter.examples or parameter.schema.get("enum"))
        or bool(parameter.kinds.values(parameter.kind))
    )


def with_facts_of(tool: UsableTool, relations: Collection[str]) -> UsableTool:
    """The tool as a graph with these relations alone can fill it: a parameter whose proposed relation is not among them takes no fact.

    Sentences that then take none are gone.
    """
    if all(p.proposed in relations for p in tool.parameters.values() if p.proposed):
        return tool
    parameters = {
        path: replace(p, is_preference=False) if p.proposed and p.proposed not in relations else p for path, p in tool.parameters.items()
    }
    sentences = tuple(s for s in tool.sentences if any(parameters[name].takes_fact for name in {*s.slots}.union(*s.segments)))
    return replace(tool, parameters=parameters, sentences=sentences)
