"""What a judge's answer says, read strictly: JSON first, then an anchored label, and never a digit or a word that stands elsewhere.

Whoever judges may think aloud, quote the text that it judges, or quote a text that wants to be taken for its verdict. So everything that
looks like a verdict must say the same, and what is cut, contradicts itself or says something else is no verdict (ValueError).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

from familytool.kgetool.strict_json import TextError, parse_json, shown
from familytool.llm.asking import read_value
from familytool.llm.thinking import set_thinking_apart
from familytool.model import Json, Verdict

LONGEST_ANSWER = 200_000
"""Characters; a judge has a sentence to say."""
MOST_OBJECTS = 16
"""Objects with a verdict in one answer."""
VERDICTS = ("pass", "fail", "unknown")

_THOUGHT = re.compile(r"\s{0,100}<(think|thinking)>", re.IGNORECASE)
_THOUGHT_END = {name: re.compile(f"</{name}>", re.IGNORECASE) for name in ("think", "thinking")}
_BRACE = re.compile(r'\{\s*(?=["}])|["}\\\n]')
_FIELD = re.compile(r'"verdict"\s{0,100}:', re.IGNORECASE)
_NO_JSON = re.compile(r"(?:[{,]\s{0,20}|['\"“])verdict['\"”]?\s{0,20}[:=]", re.IGNORECASE)
"""A field `verdict` of what is meant as an object and is none of JSON's (`{verdict: "fail"}`)."""
_MASK = re.compile("\0([0-9]{1,6})\0")
_LABEL = re.compile(
    r"(?:^|(?<=[.!?;]\s))[ \t*_#`-]{0,8}(?:(?:my|the)[ \t])?(?:(?:final|overall)[ \t])?verdict[ \t*_]{0,4}[:：=][ \t*_]{0,4}", re.I | re.M
)
_VALUE = re.compile(r"[\"'“‘`*_]{0,4}(pass|fail|unknown)\b", re.IGNORECASE)
_WORD = re.compile(r"\b(?:pass|fail|unknown)", re.IGNORECASE)
_CLOSERS = " \t\r*_`\"'”’"
_BECAUSE = re.compile(r"(?:because|since|as)\b", re.IGNORECASE)


class Judgement(NamedTuple):
    """A verdict, the words quoted for it, and the reason; the last two may be empty."""

    verdict: Verdict
    evidence: str = ""
    reason: str = ""


def read_verdict(text: str) -> Judgement:
    """The verdict of a judge's answer.

    Read are, after thinking is set apart: the JSON object that the answer is, whole or fenced; or all objects inside it that have the
    field `verdict`, and all labels at the start of a line or sentence. They must agree; the last object is taken.

    >>> read_verdict('I saw 5 arguments. {"verdict": "fail", "reason": "wrong city"}')
    Judgement(verdict='fail', evidence='', reason='wrong city')
    >>> read_verdict("The grade A tool was used. Final verdict: fail").verdict
    'fail'

    Raises:
        ValueError: no verdict, an unreadable or another one than pass, fail and unknown, or several that differ.
    """
    text = _without_first_thoughts(_bounded(text))
    try:
        whole = read_value(text)
    except ValueError:
        pass
    else:
        return _judgement(whole)
    objects, rest = _parts(text)
    judgements = [_judgement(_parsed(source)) for source in objects]
    told = {judgement.verdict for judgement in judgements} | set(_labels(rest))
    if len(told) != 1:
        raise ValueError(f"verdicts that contradict each other: {', '.join(sorted(told))}" if told else "it has no verdict")
    if judgements:
        return judgements[-1]
    return Judgement(told.pop(), _line(rest, "evidence"), _line(rest, "reason"))


def _bounded(text: str) -> str:
    if len(text) > LONGEST_ANSWER:
        raise ValueError(f"{len(text):,} characters are too many (limit {LONGEST_ANSWER:,})")
    return text.replace("\0", " ").replace("\r\n", "\n")


def _without_first_thoughts(text: str) -> str:
    """The text behind the thinking blocks that it begins with; nothing where one is not closed."""
    at = 0
    while thought := _THOUGHT.match(text, at):
        end = _THOUGHT_END[thought[1].lower()].search(text, thought.end())
        if end is None:
            return ""
        at = end.end()
    return text[at:]


def _judgement(value: Json) -> Judgement:
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, found {type(value).__name__}")
    fields: dict[str, Json] = {}
    for key, inner in value.items():
        name = key.strip().lower()
        if name in fields and name in Judgement._fields:
            raise ValueError(f"the field '{name}' is given twice")
        fields[name] = inner
    if "verdict" not in fields:
        raise ValueError("the object has no field 'verdict'")
    verdict = fields["verdict"]
    word = verdict.strip().lower() if isinstance(verdict, str) else ""
    if word not in VERDICTS:
        raise ValueError(
            f"the verdict is {shown(verdict) if isinstance(verdict, str) else type(verdict).__name__}, not pass, fail or unknown"
        )
    texts = [fields.get(name) for name in ("evidence", "reason")]
    if not all(text is None or isinstance(text, str) for text in texts):
        raise ValueError("evidence and reason must be texts")
    return Judgement(cast(Verdict, word), texts[0] or "", texts[1] or "")


def _parsed(source: str) -> Json:
    try:
        return parse_json(source)
    except TextError as error:
        raise ValueError(f"an object with a verdict cannot be read: {error}") from None


def _parts(text: str) -> tuple[list[str], str]:
    """The objects of a text that hold the field, and the rest of it, both without thinking.

    Objects are found first: a tag of thinking that an object quotes ends no thought.
    """
    spans, is_open = _spans(text)
    pieces, at = [], 0
    for number, (start, end) in enumerate(spans):
        pieces += [text[at:start], f"\n\0{number}\0\n"]
        at = end
    tail = text[at:]
    if is_open and _FIELD.search(tail):
        raise ValueError("an object with a verdict is cut off")
    masked = set_thinking_apart("".join(pieces) + tail)[0]
    kept = [text[slice(*spans[int(found[1])])] for found in _MASK.finditer(masked)]
    objects = [source for source in kept if _FIELD.search(source)]
    if len(objects) > MOST_OBJECTS:
        raise ValueError(f"{len(objects):,} objects with a verdict are too many")
    rest = _MASK.sub("", masked)
    if _NO_JSON.search(rest):
        raise ValueError("it has a verdict in an object that is not JSON")
    return objects, rest


def _spans(text: str) -> tuple[list[tuple[int, int]], bool]:
    """The outermost `{...}` that can be JSON objects, and whether one is left open; in one pass, braces inside texts aside."""
    spans: list[tuple[int, int]] = []
    depth, start, in_text, escaped = 0, 0, False, -1
    for found in _BRACE.finditer(text):
        mark, at = found[0][0], found.start()
        if in_text:
            if at == escaped:
                continue
            if mark == "\\":
                escaped = at + 1
            elif mark in '"\n':  # a text of JSON ends with its line, if not before
                in_text = False
        elif mark == "{":
            start = start if depth else at
            depth += 1
        elif depth and mark == '"':
            in_text = True
        elif depth and mark == "}":
            depth -= 1
            if not depth:
                spans.append((start, at + 1))
    return spans, depth > 0


def _labels(text: str) -> Iterator[Verdict]:
    """The verdicts behind labels; a label whose value is unclear although it speaks of verdicts is an error, any other is none."""
    for label in _LABEL.finditer(text):
        line = text[label.end() : label.end() + 400].partition("\n")[0]
        value = _VALUE.match(line)
        if value and value[1].lower() in VERDICTS and _is_end(line[value.end() :]):
            yield cast(Verdict, value[1].lower())
        elif _WORD.search(line):
            raise ValueError(f"the label 'verdict' is followed by {shown(line.strip())}")


def _is_end(rest: str) -> bool:
    """Whether a verdict is all that its label says, apart from a reason that names no verdict.

    >>> [_is_end(rest) for rest in ("**.", ", for the city is another", " or fail", "/fail", "-safe")]
    [True, True, False, False, False]
    """
    after = rest.lstrip(_CLOSERS)
    if not after:
        return True
    if after[0] in ".!;":
        return (len(after) == 1 or after[1] in _CLOSERS) and not _WORD.match(after[1:].lstrip(_CLOSERS))
    is_reason = after[0] in ",(:–—" or (after[0] == "-" and rest[0] != "-") or _BECAUSE.match(after) is not None
    return is_reason and not _WORD.search(after)


def _line(text: str, name: str) -> str:
    """What stands behind a label at the start of a line, if it is there once."""
    found = re.findall(rf"^[ \t*_#-]{{0,8}}{name}[ \t*_]{{0,4}}[:：]([^\n]{{0,2000}})", text, re.IGNORECASE | re.MULTILINE)
    return found[0].strip(_CLOSERS + "“‘") if len(found) == 1 else ""


_NAMED = re.compile(r"\[([^\[\]\n]{1,200})\]|(?!score\b)([^\s\[\]:]{1,200})[:.)](?=\s|$)", re.IGNORECASE)
_SCORE = re.compile(r"[ \t*_:.–—-]{0,8}score[ \t*_]{0,4}[:：=][ \t*_]{0,4}(-?[0-9]{1,9}(?:\.[0-9]{1,9})?)", re.IGNORECASE)
_AFTER_SCORE = re.compile(r"[ \t*_]{0,8}(?:$|[,.;](?!\d)|\(|[–—:-][ \t])")


def read_scores(items: Sequence[str], text: str) -> dict[str, float | None]:
    """The score of each item, matched by the label that stands before it (`[2] Score: 4`, `s2: Score: 4`, or a JSON object) and never by
    position; None for an item without a score, or with several that differ, or with one that is no plain number.

    A label is an item's name, or its number from 1 on where no item's name is a number.

    >>> read_scores(["s1", "s2", "s3"], "Reasoning first.\\n[1] Score: 4\\n[3] Score: 2")
    {'s1': 4, 's2': None, 's3': 2}
    """
    names = {item: item for item in items}
    if not any(item.strip().isdigit() for item in items):
        names = {str(number): item for number, item in enumerate(items, 1)} | names
    told: dict[str, set[float | None]] = {}
    if len(text) <= LONGEST_ANSWER:
        for label, score in _scores(_without_first_thoughts(_bounded(text))):
            if label in names:
                told.setdefault(names[label], set()).add(score)
    return {item: next(iter(told[item])) if len(told.get(item, ())) == 1 else None for item in items}


def _scores(text: str) -> Iterator[tuple[str, float | None]]:
    """(label, score) of every line that gives one, or of a JSON object; a score that cannot be read is None."""
    try:
        value: Any = read_value(text)
    except ValueError:
        pass
    else:
        for label, score in value.items() if isinstance(value, dict) else ():
            score = score.get("score") if isinstance(score, dict) else score
            yield label.strip(), score if isinstance(score, int | float) and not isinstance(score, bool) else None
        return
    waiting = ""
    for line in re.split(r"\n|[,;][ \t]{0,4}(?=\[)", set_thinking_apart(text)[0]):
        line = line.strip().lstrip("*_#- \t")
        named = _NAMED.match(line)
        label = (named[1] or named[2]).strip("*_ \t") if named else waiting
        rest = line[named.end() :] if named else line
        waiting = label if named and not rest.strip("*_: \t") else waiting if not line else ""
        if label and (score := _SCORE.match(rest)):
            yield label, _number(score[1]) if _AFTER_SCORE.match(rest, score.end()) else None


def _number(digits: str) -> float:
    return float(digits) if "." in digits else int(digits)
