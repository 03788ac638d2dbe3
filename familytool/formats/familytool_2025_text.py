"""The user text of a FamilyTool row, read and written: speaker tag, query, and the golden triples behind a fixed sentence.

The query may hold parentheses of its own, so the text is split at the sentence and never at a parenthesis. Written is a text
that the reader takes apart into the same speaker, query and triples; what was there before keeps its spelling.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from familytool.formats.openai import DocumentError
from familytool.formats.text import TextError, parse_python_literal
from familytool.model import RelationPath, Triple

MARKER = "The extra information for the query is"

_TAG = re.compile(r"\s*<speak>(Speaker|Person):([^<>]*)</speak>\s*")
_GOLDEN = re.compile(r"\s*\(\s*\[[^\[\]]*\](?:\s*,\s*\[[^\[\]]*\])*\s*\)\s*(?:(\.)\s*)?")
_TRIPLE = re.compile(r"\[([^\[\]]*)\]")


@dataclass(frozen=True)
class UserText:
    """A user text in its parts, as they are spelled: `tag + query + gap + MARKER + golden` is the text again.

    `tag` is the speaker tag with the space around it, `gap` the space before the sentence, `golden` what follows it;
    `kind` is the word in the tag ("" where there is no tag) and `speaker` the name in it.
    """

    tag: str
    kind: str
    speaker: str
    query: str
    gap: str
    golden: str


def split_user(user: str, notes: list[str]) -> UserText:
    """The parts of a user text; what was tolerated goes into `notes` (DocumentError: it cannot be read)."""
    text, marker, golden = user.rpartition(MARKER)
    if not marker:
        raise DocumentError(f"the user text has no golden triples (the sentence '{MARKER}' is missing)")
    if MARKER in text:
        notes.append("the sentence that announces the golden triples occurs several times; the last one is taken")
    tag = kind = speaker = ""
    found = _TAG.match(text)
    if found:
        tag, kind, name = found[0], found[1], found[2].strip()
        speaker = name.rstrip(". ")
        if not speaker:
            raise DocumentError(f"the speaker tag '{tag.strip()}' names nobody")
        if found[2].removeprefix(" ") != speaker:
            notes.append(f"the speaker tag reads '{found[2].removeprefix(' ')}'; read as '{speaker}'")
    else:
        tag = text[: len(text) - len(text.lstrip())]
    rest = text[len(tag) :]
    if "<speak>" in rest or "</speak>" in rest:
        raise DocumentError(f"the speaker tag cannot be read: {rest.strip()[:60]!r}")
    query = rest.strip()
    if not query:
        raise DocumentError("the user text has no query before the golden triples")
    if "[" in query or "]" in query:
        notes.append("the query itself holds brackets, which look like triples; left as it is, they are not read as golden triples")
    return UserText(tag, kind, speaker, query, rest[len(query) :], golden)


def golden_triples(golden: str, notes: list[str]) -> list[Triple]:
    """The triples of `([h, r, t], ['h', 'r', 't']).`, as they are listed (DocumentError: they cannot be read)."""
    whole = _GOLDEN.fullmatch(golden)
    if not whole:
        raise DocumentError(f"the golden triples cannot be read: expected '([head, relation, tail], ...).', found {golden.strip()[:80]!r}")
    if not whole[1]:
        notes.append("the full stop after the golden triples is missing")
    return [_triple(body) for body in _TRIPLE.findall(golden)]


def _triple(body: str) -> Triple:
    """The triple of a text between brackets: three Python texts, or three bare names (each may be quoted) with commas between."""
    if body.lstrip()[:1] in ("'", '"'):
        try:
            parts = parse_python_literal(f"[{body.strip()}]")
        except TextError:  # quoted and bare parts in one triple
            pass
        else:
            if len(parts) == 3 and all(isinstance(part, str) and part.strip() for part in parts):
                return Triple(head=parts[0].strip(), relation=parts[1].strip(), tail=parts[2].strip())
    names = [_unquoted(part.strip()) for part in body.split(",")]
    if len(names) != 3:
        raise DocumentError(f"the golden triple [{body[:80]}] does not have three parts")
    if not all(names) or any(name[0] in "'\"" or name[-1] in "'\"" for name in names):
        raise DocumentError(f"the golden triple [{body[:80]}] has an empty or half-quoted part")
    return Triple(head=names[0], relation=names[1], tail=names[2])


def _unquoted(text: str) -> str:
    return text[1:-1].strip() if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def chains(listed: Sequence[Triple]) -> list[tuple[RelationPath, str]]:
    """The triples split where the next head is not the previous tail: each chain's path and the entity at its end.

    This goes over the triples as listed, repeats included: the rows that list a triple twice do so because two chains begin
    with it, and without the repeat the second chain would hang in the air. Two equal chains are one.
    """
    groups: list[list[Triple]] = []
    for triple in listed:
        if groups and groups[-1][-1].tail == triple.head:
            groups[-1].append(triple)
        else:
            groups.append([triple])
    distinct = dict.fromkeys((g[0].head, tuple(t.relation for t in g), g[-1].tail) for g in groups)
    return [(RelationPath(start=start, relations=relations), end) for start, relations, end in distinct]


def listed_by_paths(triples: Sequence[Triple], paths: Sequence[RelationPath]) -> list[Triple] | None:
    """The triples in the order in which the paths go through them, a shared beginning once for each path.

    None where the paths are not made of exactly these triples. Where a relation has several tails, a path takes one that
    leads on and that no path took before.
    """
    listed: list[Triple] = []
    for path in paths:
        chain = _followed(triples, path, set(listed))
        if chain is None:
            return None
        listed += chain
    return listed if set(listed) == set(triples) else None


def _followed(triples: Sequence[Triple], path: RelationPath, used: set[Triple]) -> list[Triple] | None:
    level: list[list[Triple]] = [[]]
    for depth, relation in enumerate(path.relations):
        ends = {chain[-1].tail if depth else path.start: chain for chain in reversed(level)}
        level = [[*ends[t.head], t] for t in triples if t.relation == relation and t.head in ends]
        level.sort(key=lambda chain: sum(triple in used for triple in chain))
    return level[0] if path.relations and level else None


def merged(listed: Sequence[Triple], triples: Sequence[Triple]) -> list[Triple]:
    """A list of triples (repeats included) after its facts became `triples`: what went is gone, what came stands behind its neighbour."""
    kept = [triple for triple in listed if triple in set(triples)]
    for number, triple in enumerate(triples):
        if triple not in kept:
            kept.insert(kept.index(triples[number - 1]) + 1 if number else 0, triple)
    return kept


def write_golden(listed: Sequence[Triple], before: str = " ().") -> str:
    """What follows the sentence: the triples, those of `before` (the text as it was) in their spelling and spacing.

    Raises:
        DocumentError: a name that cannot be written so that the reader finds it again.
    """
    pieces = list(_TRIPLE.finditer(before))
    old = [_triple(piece[1]) for piece in pieces]
    first = next((n for n, (a, b) in enumerate(zip(old, listed, strict=False)) if a != b), min(len(old), len(listed)))
    room = min(len(old), len(listed)) - first
    last = next((n for n in range(room) if old[-1 - n] != listed[-1 - n]), room)
    quoted = bool(pieces) and pieces[0][1].lstrip()[:1] in ("'", '"')
    written = ""
    for number, triple in enumerate(listed):
        at = number if number < first else number - len(listed) + len(old) if number >= len(listed) - last else None
        beside = at is not None and at > 0 and (number < first or number > len(listed) - last)
        gap = before[pieces[at - 1].end() : pieces[at].start()] if beside and at is not None else ", "
        written += (gap if number else "") + (pieces[at][0] if at is not None else write_triple(triple, quoted))
    opening, closing = (before[: pieces[0].start()], before[pieces[-1].end() :]) if pieces else (" (", ").")
    return f"{opening}{written}{closing}"


def write_triple(triple: Triple, quoted: bool = False) -> str:
    """`[head, relation, tail]`, bare where the reader finds the names again, else as Python texts.

    >>> write_triple(Triple(head="Ann", relation="lives_in", tail="Oslo"))
    '[Ann, lives_in, Oslo]'
    >>> print(write_triple(Triple(head="Ann", relation="lives_in", tail="Rome [Italy], centre")))
    ['Ann', 'lives_in', 'Rome \\x5bItaly\\x5d, centre']
    """
    names = (triple.head, triple.relation, triple.tail)
    bare, literal = ", ".join(names), ", ".join(repr(name).replace("[", r"\x5b").replace("]", r"\x5d") for name in names)
    for body in (literal, bare) if quoted else (bare, literal):
        if _TRIPLE.fullmatch(f"[{body}]") and MARKER not in body:
            try:
                if _triple(body) == triple:
                    return f"[{body}]"
            except DocumentError:
                continue
    raise DocumentError(
        f"the golden triple [{bare[:80]}] has a name that this form cannot say (with space around it, or with the fixed sentence in it)"
    )
