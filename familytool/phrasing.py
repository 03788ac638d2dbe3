"""How a query is worded: sentences with slots, facts spoken as people speak them, dates and numbers in words.

A query is a *recipe* (sentence, segments, and a choice of words for each slot) applied to values. The recipe is stored with
the sample, so a text of our own is verified by rendering it again from the golden facts and comparing.
Rules: `P` in a concept's wording is the person, a verb ending in `~` agrees with the person, relation names are never spoken.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
NUMBER_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"]  # fmt: skip
ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first"]  # fmt: skip

ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
CLOCK = re.compile(r"[0-9]{2}:[0-9]{2}")


@dataclass(frozen=True)
class Template:
    """A sentence: text, `{slot}`s, and `[ ... {slot} ... ]` segments that are said only if all their slots are filled.

    `parts` holds strings, slot names wrapped in a 1-tuple, and segments as lists of the same.
    """

    source: str
    parts: tuple[str | tuple[str] | list[str | tuple[str]], ...]

    @property
    def slots(self) -> tuple[str, ...]:
        """Slots outside segments: all must be filled."""
        return tuple(part[0] for part in self.parts if isinstance(part, tuple))

    @property
    def segments(self) -> tuple[tuple[str, ...], ...]:
        """For each optional segment its slots."""
        return tuple(tuple(p[0] for p in part if isinstance(p, tuple)) for part in self.parts if isinstance(part, list))


@lru_cache(maxsize=65_536)
def parse_template(source: str) -> Template:
    """Read a sentence with slots; a ValueError says what is unbalanced or nested.

    >>> parse_template("Play {song}[ by {artist}].").segments
    (('artist',),)
    """
    parts: list[str | tuple[str] | list[str | tuple[str]]] = []
    segment: list[str | tuple[str]] | None = None
    for token in re.findall(r"[{}\[\]]|[^{}\[\]]+", source):
        target: list[str | tuple[str]] = parts if segment is None else segment  # type: ignore[assignment]
        if token == "[":
            if segment is not None:
                raise ValueError(f"segments cannot be nested: {source!r}")
            segment = []
        elif token == "]":
            if segment is None or not any(isinstance(p, tuple) for p in segment):
                raise ValueError(f"a ']' without '[', or a segment without a slot: {source!r}")
            parts.append(segment)
            segment = None
        elif token == "{":
            if target and target[-1] == "{":
                raise ValueError(f"'{{' twice: {source!r}")
            target.append("{")
        elif token == "}":
            if len(target) < 2 or target[-2] != "{" or not isinstance(target[-1], str):
                raise ValueError(f"a '}}' without a slot: {source!r}")
            name = target.pop()
            target[-1] = (str(name),)
        else:
            target.append(token)
    if segment is not None or "{" in parts:
        raise ValueError(f"an opening bracket is never closed: {source!r}")
    return Template(source, tuple(parts))


@dataclass(frozen=True)
class Phrase:
    """What is said in a slot: `core` (the value or the reference to a fact) inside `wrap` ("account {}")."""

    core: str
    wrap: str = "{}"


def fill(template: Template, segments: Collection[int], phrases: Mapping[str, Phrase]) -> tuple[str, dict[str, tuple[int, int]]]:
    """The sentence with its slots filled, and for each slot the character span of its core.

    The first letter becomes a capital; "a" before a vowel becomes "an".
    """
    text = ""
    spans: dict[str, tuple[int, int]] = {}
    number = -1
    for part in template.parts:
        if isinstance(part, list):
            number += 1
            if number not in segments:
                continue
        for piece in part if isinstance(part, list) else [part]:
            if isinstance(piece, str):
                text = (text.rstrip(" ") if piece[0] in " ,.;:?!" else text) + piece
                continue
            phrase = phrases[piece[0]]
            before, _, after = phrase.wrap.partition("{}")
            if before in ("a ", "an ") and phrase.core:
                before = "an " if phrase.core[0].lower() in "aeiou" else "a "
            spoken = before + phrase.core + after
            article = re.search(r"\b([Aa])n? $", text)
            if article and spoken:
                text = text[: article.start()] + article[1] + ("n " if spoken[0].lower() in "aeiou" else " ")
            spans[piece[0]] = (len(text) + len(before), len(text) + len(before) + len(phrase.core))
            text += spoken
    stripped = text.lstrip()
    shift = len(text) - len(stripped)
    text = stripped[:1].upper() + stripped[1:]
    return text.rstrip(), {name: (start - shift, end - shift) for name, (start, end) in spans.items()}


@dataclass(frozen=True)
class Owner:
    """The person a fact belongs to, as the speaker names him or her: "I", or a phrase such as "my mum's brother"."""

    subject: str = "I"
    takes_possessive: bool = True

    @property
    def is_speaker(self) -> bool:
        """Whether the fact is the speaker's own."""
        return self.subject == "I"

    @property
    def possessive(self) -> str:
        """The owner before a noun: "my", "my mum's"."""
        return "my" if self.is_speaker else self.subject + "'s"


SPEAKER = Owner()


def say_fact(wording: str, owner: Owner) -> str | None:
    """A concept's wording for an owner, or None where the wording needs a possessive that the owner does not take.

    >>> say_fact("P's favourite restaurant", Owner("my mum")), say_fact("the city where P live~", SPEAKER)
    ("my mum's favourite restaurant", 'the city where I live')
    """
    if "P's" in wording and not owner.takes_possessive:
        return None
    spoken = re.sub(r"\bP's\b", owner.possessive, wording)
    spoken = re.sub(r"\bP\b", owner.subject, spoken)
    return re.sub(r"\b([a-z]+)~", lambda m: conjugate(m[1], owner.is_speaker), spoken)


def conjugate(verb: str, first_person: bool) -> str:
    """A verb in the present tense, for "I" or for "she / he".

    >>> conjugate("go", False), conjugate("be", True), conjugate("carry", False), conjugate("have", False)
    ('goes', 'am', 'carries', 'has')
    """
    if verb in ("be", "is"):
        return "am" if first_person else "is"
    if verb in ("have", "has"):
        return "have" if first_person else "has"
    if first_person:
        return verb
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def spoken_forms(value: str, kind: str, verbatim: bool = False) -> tuple[str, ...]:
    """The ways to say a stated value, plain ones first; with `verbatim` only the value itself.

    Dates always carry their year and times their half of the day, so the words alone decide the value.

    >>> spoken_forms("2025-06-14", "date")[:2], spoken_forms("19:30", "time")[0]
    (('14 June 2025', 'June 14, 2025'), '7:30 pm')
    """
    if verbatim:
        return (value,)
    if ISO_DATE.fullmatch(value):
        return _date_forms(datetime.date.fromisoformat(value))
    if CLOCK.fullmatch(value):
        return _time_forms(int(value[:2]), int(value[3:]))
    if kind in ("count", "rating") and value.isdigit() and 0 < int(value) <= 12:
        return (NUMBER_WORDS[int(value)], value)
    return (value,)


def _date_forms(day: datetime.date) -> tuple[str, ...]:
    month, weekday = MONTHS[day.month - 1], WEEKDAYS[day.weekday()]
    return (
        f"{day.day} {month} {day.year}",
        f"{month} {day.day}, {day.year}",
        f"{weekday} {day.day} {month} {day.year}",
        f"the {ordinal(day.day)} of {month} {day.year}",
        f"the {ORDINALS[day.day - 1]} of {month} {day.year}",
    )


def _time_forms(hour: int, minute: int) -> tuple[str, ...]:
    half = "am" if hour < 12 else "pm"
    twelve = hour % 12 or 12
    part = "in the morning" if hour < 12 else "in the afternoon" if hour < 18 else "in the evening"
    word, following = NUMBER_WORDS[twelve], NUMBER_WORDS[twelve % 12 + 1]
    digital = f"{twelve}:{minute:02d} {half}" if minute else f"{twelve} {half}"
    forms = [digital, f"{hour:02d}:{minute:02d}"]
    if 5 <= hour < 23 and hour != 12:
        if minute == 0:
            forms.append(f"{word} o'clock {part}")
        elif minute == 30:
            forms.append(f"half past {word} {part}")
        elif minute == 15:
            forms.append(f"quarter past {word} {part}")
        elif minute == 45 and hour + 1 not in (12, 18):
            forms.append(f"quarter to {following} {part}")
    return tuple(forms)


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th ... 31st."""
    suffix = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def join_spoken(items: list[str]) -> str:
    """A list as it is said: "a", "a and b", "a, b and c"."""
    return ", ".join(items[:-1]) + " and " + items[-1] if len(items) > 1 else "".join(items)


FAULTS = re.compile(
    r"[{}\[\]_]|  | [,.;:?!]|\b(?:a|an|the) (?:a|an|the|my|our|your)\b|\b(\w+) \1\b|[,;:][,;:.?!]|\.\.",
    re.IGNORECASE,
)


def fault(text: str) -> str:
    """The first leftover in a finished sentence (placeholder, underscore, doubled word, article fault), or "".

    >>> fault("Book the my mum's favourite hotel.")
    'the my'
    """
    found = FAULTS.search(text)
    return found.group() if found else ""


def skeleton(text: str, masked: Collection[tuple[int, int]]) -> str:
    """A text with these spans and all numbers masked: equal skeletons are one sentence pattern."""
    result, at = "", 0
    for start, end in sorted(masked):
        if start >= at:
            result += text[at:start] + "#"
            at = end
    return re.sub(r"[0-9]+", "#", result + text[at:]).lower()
