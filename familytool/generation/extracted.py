"""What a model read from tool documents: which parameter takes which fact of a person, the new relations, and their values.

An extraction is a file (`extraction.json`) that a person may review and edit before samples are made from it; it is read back as
strictly as if a stranger had written it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from familytool.catalogue import tables
from familytool.catalogue.tables import Concept, Kinds, catalogue_kinds
from familytool.errors import UsageError
from familytool.kgetool.strict_json import TextError, parse_json
from familytool.kinship import KIN_RELATIONS
from familytool.model import Record, Tool, digest
from familytool.phrasing import SPEAKER, Owner, fault, say_fact

Stage = Literal["extract", "filter rule", "filter model", "values"]
"""Where a proposal can be lost: its document cannot be read, a rule drops it, the model's filter does, or it has too few values."""

LONGEST_NAME = 60
LONGEST_VALUE = 40
MOST_VALUES = 60
LARGEST_FILE = 32 << 20
RESERVED = tables.LITERAL_KINDS | {"none", "child", "person"}
"""Names that no new kind may have."""


class Proposal(Record):
    """A fact of a person that can fill a parameter; `document` is the fingerprint of the version that was read."""

    tool: str
    document: str
    parameter: str
    relation: str
    kind: str
    category: str
    reason: str = ""


class Dropped(Record):
    """What was not taken: a document, a proposal, or a value of one, at which stage and why."""

    tool: str
    document: str = ""
    parameter: str = ""
    relation: str = ""
    stage: Stage
    reason: str


class NewRelation(Record):
    """A relation that the catalogue does not have; `wordings` are written as in its table of concepts."""

    kind: str
    relation: str
    category: str
    owned: bool
    wordings: tuple[str, ...]

    @property
    def concept(self) -> Concept:
        """The relation as the catalogue's tables hold theirs."""
        return Concept(self.kind, self.relation, self.category, self.owned, self.wordings)


class Extraction(Record):
    """All that a model read from these documents for families of so many people; `calls` are ledger keys in the order of asking."""

    model: str
    people: int
    documents: tuple[str, ...]
    found: tuple[Proposal, ...]
    relations: tuple[NewRelation, ...] = ()
    values: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    refusals: tuple[Dropped, ...] = ()
    calls: tuple[str, ...] = ()

    @cached_property
    def kinds(self) -> Kinds:
        """The catalogue's relations and values, and those of the extraction behind them."""
        return catalogue_kinds().extended(tuple(relation.concept for relation in self.relations), self.values)

    @cached_property
    def _by_document(self) -> dict[str, dict[str, Proposal]]:
        found: dict[str, dict[str, Proposal]] = {}
        for proposal in self.found:
            found.setdefault(proposal.document, {})[proposal.parameter] = proposal
        return found

    def of(self, tool: Tool) -> dict[str, Proposal]:
        """The proposals for this version of a document, by the path of the parameter."""
        return self._by_document.get(fingerprint(tool), {})


def fingerprint(tool: Tool) -> str:
    """What tells one version of a document from another, wherever it was read: 16 hexadecimal digits."""
    return digest([tool.name, tool.description, tool.parameters])


def relation_fault(relation: str) -> str:
    """What is wrong with a relation's name, or "".

    >>> relation_fault("prefer_seat"), relation_fault("preferSeat")
    ('', "'preferSeat' is not in lower snake case")
    """
    if len(relation) > LONGEST_NAME:
        return f"the name of the relation has {len(relation)} characters, {LONGEST_NAME} are the most"
    parts = relation.split("_")
    if not all(part.isascii() and part.isalnum() and part == part.lower() for part in parts) or not relation[0].isalpha():
        return f"{relation!r} is not in lower snake case"
    return f"{relation!r} is a relation of kinship" if relation in KIN_RELATIONS else ""


def value_fault(value: str) -> str:
    """What is wrong with a value as the name of a node and as words of a query, or ""."""
    if not 0 < len(value) <= LONGEST_VALUE:
        return f"it has {len(value)} characters, 1 to {LONGEST_VALUE} are allowed"
    if value != value.strip() or "  " in value or not all(c.isalnum() or c in " -.&/:+@#%’'" for c in value):
        return "it holds characters that no name, place, time or number needs"
    if not any(c.isalnum() for c in value) or fault(value):
        return "it says nothing"
    if value.casefold() in PLACEHOLDERS or value in KIN_RELATIONS:
        return "it stands for a value and is none"
    table = tables.kind_of_value().get(value.casefold())
    return f"it stands in the catalogue's table of the kind {table}" if table else ""


PLACEHOLDERS = frozenset(
    {"dontcare", "any", "none", "null", "n/a", "na", "unknown", "other", "default", "all", "value", "string", "example", "test", "true", "false"}
)  # fmt: skip
_VERB = re.compile(r"\bP (?:[a-z]+ly |most |next )?[a-z]+~?\b")


def wording_fault(wording: str) -> str:
    """What is wrong with a wording, or "": it names its person once, and is no broken sentence for a speaker or a relative."""
    if not 3 <= len(wording) <= 200 or not wording.isprintable() or not wording.isascii() or fault(wording):
        return "it is no clean text"
    if len(re.findall(r"\bP\b", wording)) != 1 or ("P's" not in wording and not _VERB.search(wording)):
        return 'it must name the person once, as in "P\'s favourite seat" or "the seat P prefer~"'
    spoken = [say_fact(wording, owner) for owner in (SPEAKER, Owner("my mum"))]
    return next((f"it would be said as {text!r}" for text in spoken if text is None or fault(text) or "~" in text), "")


def extraction_text(extraction: Extraction) -> str:
    """The text of `extraction.json`."""
    return json.dumps(extraction.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"


def read_extraction(path: Path) -> Extraction:
    """The extraction that a file holds, after a person may have reviewed it.

    Raises:
        UsageError: the file cannot be read, is no extraction, or contradicts itself or the catalogue; the first fault is told.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error}); extract preferences first.") from None
    if len(content) > LARGEST_FILE:
        raise UsageError(f"{path}: more than {LARGEST_FILE >> 20} MB; an extraction is never so large.")
    try:
        extraction = Extraction.model_validate(parse_json(content.decode("utf-8-sig")))
    except UnicodeDecodeError:
        raise UsageError(f"{path}: is not UTF-8; save it as UTF-8, or extract again.") from None
    except TextError as error:
        raise UsageError(f"{path}: is no JSON ({error}); correct it, or extract again.") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))[:120] or "the file"
        raise UsageError(f"{path}: {place}: {first['msg']}; correct it, or extract again.") from None
    trouble = next(_faults(extraction), "")
    if trouble:
        raise UsageError(f"{path}: {trouble}; correct it, or extract again.")
    return extraction


def _faults(extraction: Extraction) -> Iterator[str]:
    """Everything that would make another graph or query than the file seems to say."""
    known = catalogue_kinds()
    for new in extraction.relations:
        fault_ = relation_fault(new.relation) or (
            "" if not relation_fault(new.kind) else f"the kind {new.kind!r} is not in lower snake case"
        )
        if fault_:
            yield f"relation {new.relation[:80]!r}: {fault_}"
        elif new.relation in known.by_relation:
            yield f"relation {new.relation}: the catalogue has it already"
        elif new.kind in RESERVED - {"person"} or (new.kind not in extraction.values and not known.values(new.kind)):
            yield f"relation {new.relation}: there are no values of the kind {new.kind}"
        elif not new.category.isidentifier() or not new.category.islower() or len(new.category) > LONGEST_NAME:
            yield f"relation {new.relation}: {new.category[:80]!r} is no category (one lower-case word)"
        elif not any("P's" not in w for w in new.wordings):
            yield f'relation {new.relation}: one wording must do without "P\'s", as in "the seat P prefer~"'
        yield from (f"relation {new.relation}: wording {w[:80]!r}: {wording_fault(w)}" for w in new.wordings if wording_fault(w))
    if len({new.relation for new in extraction.relations}) < len(extraction.relations):
        yield "a relation stands in it twice"
    seen: set[str] = set()
    for kind, values in extraction.values.items():
        if kind in RESERVED or known.values(kind):
            yield f"values of {kind[:80]!r}: the catalogue has a kind of this name"
        for value in values:
            fault_ = value_fault(value) or ("it stands in the file twice" if value.casefold() in seen else "")
            if fault_:
                yield f"values of {kind[:80]!r}: {value[:80]!r}: {fault_}"
            seen.add(value.casefold())
    documents, places = set(extraction.documents), set()
    for proposal in extraction.found:
        concept = extraction.kinds.by_relation.get(proposal.relation)
        where = f"{proposal.tool[:80]}.{proposal.parameter[:80]}"
        if concept is None or concept.kind != proposal.kind:
            yield f"{where}: no relation {proposal.relation[:80]!r} gives a {proposal.kind[:80]!r}"
        if proposal.document not in documents:
            yield f"{where}: its document {proposal.document[:32]!r} is not among the documents of the file"
        if (proposal.document, proposal.parameter) in places:
            yield f"{where}: a parameter has one relation, this one has two"
        places.add((proposal.document, proposal.parameter))
