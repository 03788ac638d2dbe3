"""The intent check: does the query ask for this call, and for nothing else?

It decides what text decides: persons (kinship), where each value comes from, values stated but unused, the answer given away, orders
that nobody gave. A text of our own writer is verified by construction as well: rendered again from the golden facts, it must be
the query. On the wording of a relation in other texts it says "unknown" and no more.
"""

from __future__ import annotations

import re
from functools import lru_cache

from familytool.graph import KnowledgeGraph
from familytool.kinship import KIN_RELATIONS
from familytool.model import Check, Finding, Json, RelationPath, Sample, Verdict
from familytool.phrasing import fault
from familytool.validation.chains import ends_of, known_graph, recorded_path
from familytool.validation.grounding import Stated, find_words, is_stated, stated_values, words_said
from familytool.validation.injection import injection_findings
from familytool.validation.kin_facts import kin, relatives
from familytool.validation.leaves import Leaf, leaves_of
from familytool.validation.quoted import quoted_triples, wording
from familytool.validation.relatives import Kinship, KinshipRecall, judge_kinship, kinship_recall, owner_path
from familytool.validation.syntax import golden_not_given, lacks_golden_call
from familytool.validation.wording import recipe_of, rendering_findings, said_by_recipe

__all__ = ["KinshipRecall", "check_intent", "kin", "kinship_recall"]

_TURN = re.compile(r"^ {0,8}(?:user|assistant|system|human|ai|agent|customer|bot|model)\b {0,2}:", re.I | re.M)


def check_intent(sample: Sample, graph: KnowledgeGraph) -> Check:
    """Persons, the origin of each value, unused values, leaks and followed orders of one sample; findings in this order.

    Of a sample without a speaker nothing is asked of kinship, and of a query that may not be all that was said (a turn of a
    dialogue) a value that it does not state is no finding.
    """
    request = _Request(sample, graph)
    findings: list[Finding] = []
    leftover = fault(sample.query) if request.is_ours else ""
    if leftover:
        findings.append(Finding(code="parse_error", path="/query", message=f"the wording has a leftover: {leftover!r}"))
    kinship = judge_kinship(sample, graph, request.words)
    findings += kinship.findings
    findings += _place_findings(sample, graph, kinship)
    for start, _, parts in request.quoted:
        message = f"the query quotes the fact ({', '.join(parts)})"
        findings.append(Finding(code="answer_leaked", path=f"/query/{start}", message=message, value=parts[2]))
    ungrounded, unexplained, undecided = _origins(request)
    findings += ungrounded
    unused, unclear = _unused_findings(request)
    findings += unused
    findings += _leak_findings(request)
    findings += injection_findings(sample, graph, request.words, unexplained)
    if request.is_ours:
        findings += rendering_findings(sample)
        undecided = []
    else:
        undecided += unclear + _unknown_words(sample, request.words, kinship)
    if lacks_golden_call(sample):  # what is not said cannot be held against the query
        undecided.append(golden_not_given())
    verdict: Verdict = "fail" if findings else "unknown" if undecided else "pass"
    return Check(
        sample_id=sample.id, check="intent", verdict=verdict, findings=tuple(findings), left_open=() if findings else tuple(undecided)
    )


def _unknown_words(sample: Sample, words: str, kinship: Kinship) -> list[Finding]:
    """Persons and facts of the golden chains for which the query has no word that is known here."""
    found: list[Finding] = []
    if kinship.agreement == "unknown":
        found.append(
            Finding(code="undecided_wording", path="/query", message="no kinship word that is known names the relative of the golden chain")
        )
    low = words.lower()
    for number, path in enumerate(sample.golden_paths):
        if not _relation_said(path, low):
            message = f"no word that is known speaks of '{path.relations[-1] if path.relations else path.start}'"
            found.append(Finding(code="undecided_wording", path=f"/golden_paths/{number}", message=message))
    return found


class _Request:
    """The query of a sample as this check reads it.

    `words` is the query with what is no wording (a quoted triple) blanked out, `before` what was said before it, as far as its reader
    kept that. It `is_complete` if it is known to be all that was said: somebody speaks it, or its reader says so (`complete`). It
    `is_dialogue` if it is a part of a talk, or several turns of one.
    """

    def __init__(self, sample: Sample, graph: KnowledgeGraph) -> None:
        origin = sample.provenance
        self.sample, self.graph = sample, graph
        self.is_ours = bool(recipe_of(sample))
        self.quoted = quoted_triples(sample.query, graph.relations)
        self.words = wording(sample.query, graph.relations) if self.quoted else sample.query
        self.before = origin["dialogue_before"] if isinstance(origin.get("dialogue_before"), str) else ""
        self.stated = stated_values(self.words)
        self.leaves = leaves_of(sample)
        self.facts = frozenset(t.tail for t in sample.golden_triples)
        self.is_complete = bool(sample.speaker) or sample.kind == "graph" or origin.get("complete") is True

        self._places: dict[tuple[str, Json], tuple[int, int] | None] = {}

    def place(self, value: Json) -> tuple[int, int] | None:
        """Where the query states a value (of JSON's simple types), or None."""
        key = (type(value).__name__, value)
        if key not in self._places:
            self._places[key] = is_stated(value, self.words, self.stated, True)
        return self._places[key]

    @property
    def is_dialogue(self) -> bool:
        return bool(self.before) or "turns" in self.sample.provenance or len(_TURN.findall(self.words)) > 1


def _place_findings(sample: Sample, graph: KnowledgeGraph, kinship: Kinship) -> list[Finding]:
    """Where an argument's place in the query is recorded, the person named at that place is the fact's owner."""
    found: list[Finding] = []
    for pointer, source in sample.argument_sources.items():
        path = recorded_path(source)
        span = _span(source) if path is not None else None
        if path is None or span is None:
            continue
        owner = owner_path(path)
        here = [r for r in kinship.references if r.paths and r.start < span[1] and span[0] < r.end]
        owners = list(ends_of(graph, owner)[0]) if owner.relations else [sample.speaker]
        persons = [p for r in here for p in relatives(graph).persons(sample.speaker, r)] or [sample.speaker]
        if not set(owners) & set(persons) and all(r.certainty == "certain" for r in here):
            message = f"its words name {', '.join(persons)}, its fact is of {', '.join(owners) or 'nobody'}"
            found.append(Finding(code="kinship_mismatch", path=f"/calls{pointer}", message=message))
    return found


def _span(source: dict[str, Json]) -> tuple[int, int] | None:
    span = source.get("span")
    return (span[0], span[1]) if isinstance(span, list) and len(span) == 2 and all(isinstance(place, int) for place in span) else None


def _origins(request: _Request) -> tuple[list[Finding], list[Leaf], list[Finding]]:
    """Where each value comes from: findings for those from nowhere, all that the request does not explain, and what is left open."""
    found: list[Finding] = []
    unexplained: list[Leaf] = []
    undecided: list[Finding] = []
    for leaf in request.leaves:
        origin = _origin(request, leaf)
        if origin == "given":
            continue
        unexplained.append(leaf)
        if origin == "open" or not request.is_complete:
            message = f"rules cannot tell whether the query gives {leaf.value!r}"
            undecided.append(Finding(code="undecided_value", path=f"/calls{leaf.pointer}", message=message, value=leaf.value))
            continue
        inner = stated_values(leaf.value) if isinstance(leaf.value, str) else []
        year = any(i.kind == "date" and i.complete and s.value == i.value[4:] for i in inner for s in request.stated)
        message = f"{leaf.value!r} is neither stated in the query nor a golden fact" + (
            " (its day is stated, its year is not)" if year else ""
        )
        found.append(Finding(code="ungrounded_value", path=f"/calls{leaf.pointer}", message=message, value=leaf.value))
    return found, unexplained, undecided


def _origin(request: _Request, leaf: Leaf) -> str:
    """ "given" by query, fact, document or an earlier result; "open" where rules cannot tell; "nowhere"."""
    sample, value = request.sample, leaf.value
    source = leaf.source.get("source")
    if leaf.is_reference or source == "graph" or _is_result(sample, value):
        return "given"
    if (not source and str(value) in request.facts) or (value == sample.speaker and value):
        return "given"
    if request.place(value) or any(map(request.place, leaf.choices)) or leaf.default:
        return "given"
    if request.before and is_stated(value, request.before, stated_values(request.before), True):
        return "given"
    if isinstance(value, bool) or value is None:
        return "open"
    if leaf.enum:
        return "given" if words_said(str(value), request.words) else "open"
    if said_by_recipe(sample, leaf.pointer, value):
        return "given"
    if isinstance(value, str) and _parts_given(request, value):
        return "given"
    return "nowhere"


def _parts_given(request: _Request, value: str) -> bool:
    """Whether a value is a list in one text ("ham, olives and corn") whose items are all stated or facts."""
    parts = [part.strip() for part in value.replace(" and ", ",").replace(";", ",").split(",")]
    return 1 < len(parts) <= 20 and all(part and (part in request.facts or request.place(part)) for part in parts)


def _is_result(sample: Sample, value: Json) -> bool:
    """Whether a text is `tool.result`, with exactly the name of a tool that is offered or called."""
    if not isinstance(value, str) or "." not in value:
        return False
    names = [*(call.name for call in sample.calls), *(tool.name for tool in sample.candidate_tools)]
    return any(value.startswith(name + ".") and value[len(name) + 1 :].strip() for name in names if name)


def _unused_findings(request: _Request) -> tuple[list[Finding], list[Finding]]:
    """Dates, times, numbers and addresses that the query states and no argument uses; and those of them that are left open.

    Where nobody speaks (a foreign set), a value counts as forgotten only if the calls take others of its kind from the query,
    and the query is no dialogue.
    """
    sample = request.sample
    if sample.kind == "no_tool" or not request.stated:
        return [], []
    left = _beside(request.stated, [span for leaf in request.leaves if (span := _span(leaf.source)) is not None])
    if left:
        left = _beside(left, _places_of_values(request))
    said = _values_said(request) if left else set()
    unused = [item for item in left if not _is_used(request, item, said)]
    kinds = {item.kind for item in request.stated if item not in unused}
    found: list[Finding] = []
    unclear: list[Finding] = []
    for item in unused:
        words = request.words[item.start : item.end]
        is_number_word = item.kind == "number" and not words[0].isdigit()  # "two equations" counts what is asked
        if sample.speaker or (item.kind in kinds and not request.is_dialogue and not is_number_word):
            message = f"the query states {item.kind} '{words}', which no argument uses"
            found.append(Finding(code="unused_value", path=f"/query/{item.start}", message=message, value=words))
        else:
            message = f"the query states {item.kind} '{words}', and rules cannot tell whether an argument should use it"
            unclear.append(Finding(code="undecided_value", path=f"/query/{item.start}", message=message, value=words))
    return found, unclear


def _beside(stated: list[Stated], spans: list[tuple[int, int]]) -> list[Stated]:
    """What is stated outside of these spans."""
    return [item for item in stated if not any(start < item.end and item.start < end for start, end in spans)]


def _places_of_values(request: _Request) -> list[tuple[int, int]]:
    """The spans in which the query states what arguments hold."""
    places = (request.place(value) for leaf in request.leaves for value in (leaf.value, *leaf.choices))
    return [place for place in places if place is not None]


def _values_said(request: _Request) -> set[tuple[str, str]]:
    """(kind, value) of all that arguments hold: values inside longer texts, the length of lists, the number of calls."""
    calls = request.sample.calls
    said = {("number", str(len(calls)))} if len(calls) > 1 else set()
    said.update(("number", str(len(v))) for call in calls for v in call.arguments.values() if isinstance(v, list) and v)
    own = (leaf for leaf in request.leaves if str(leaf.value) not in request.facts)  # the "2" of a fact was not taken from the query
    for value in (v for leaf in own for v in (leaf.value, *leaf.choices)):
        if isinstance(value, bool) or value is None:
            continue
        text = str(value)
        said.update((item.kind, item.value) for item in stated_values(text.lstrip("-").replace("_", " ")))
        if len(text) <= 8 and any(c.isalpha() for c in text):  # "P6M", "5km"
            said.update(("number", digits.lstrip("0")) for digits in re.findall("[0-9]+", text))
    return said


def _is_used(request: _Request, item: Stated, said: set[tuple[str, str]]) -> bool:
    words = request.words[item.start : item.end].lower()
    if (item.kind, item.value) in said:
        return True
    if words in ("one", "second", "first", "zero", "0") or (item.kind == "number" and request.is_ours and not words.isdigit()):
        return True
    if item.kind == "date" and not item.complete:
        return any(kind == "date" and value.endswith(item.value) for kind, value in said)
    if item.kind == "time" and not item.complete:
        other = f"{(int(item.value[:2]) + 12) % 24:02d}{item.value[2:]}"
        return ("time", other) in said
    return False


def _leak_findings(request: _Request) -> list[Finding]:
    """The end of a golden chain that an argument needs must not stand in the query."""
    found: list[Finding] = []
    graph = known_graph(request.sample, request.graph)
    ends = dict.fromkeys(end for path in request.sample.golden_paths for end in ends_of(graph, path)[0])
    for end in ends:
        span = find_words(end, request.words)
        if span and any(s.kind != "number" and s.start < span[1] and span[0] < s.end and end not in s.value for s in request.stated):
            span = is_stated(end, request.words, request.stated)
        if span and any(find_words(end, str(leaf.value)) for leaf in request.leaves):
            message = f"the answer '{end}' stands in the query"
            found.append(Finding(code="answer_leaked", path=f"/query/{span[0]}", message=message, value=end))
    return found


def _relation_said(path: RelationPath, query: str) -> bool:
    """Whether the words of the last relation occur in the query, which is in lower case (not for persons as values)."""
    last = path.relations[-1] if path.relations else ""
    if last in KIN_RELATIONS:
        return True
    beginnings = _beginnings(last)
    return bool(beginnings) and all(beginning in query for beginning in beginnings)


@lru_cache(maxsize=4096)
def _beginnings(relation: str) -> tuple[str, ...]:
    """The first four letters of each telling word of a relation."""
    words = re.findall(r"[a-z]+", relation.lower())
    return tuple(word[:4] for word in words if word not in ("prefer", "of", "usual", "favourite", "favorite"))
