"""Sentences for documents that bring no phrase hints: the description's verb phrase, its nouns replaced by slots.

The design with the best measured naturalness without hints: "find a hotel in a city" becomes "find a hotel in {city}",
what the description does not mention is added as an adjunct by role and kind, and the rest as a short sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from familytool.generation.extraction import name_words
from familytool.model import Tool

if TYPE_CHECKING:
    from familytool.generation.usable import Parameter

OPENERS = re.compile(
    r"^(?:(?:this|the) (?:tool|api|function|endpoint|service|method) )?(?:is )?(?:used |designed )?"
    r"(?:allows?|enables?|lets?|helps?|facilitates?|for|provides? an? \w+ (?:to|for))?\s*"
    r"(?:(?:the )?(?:user|users|customer|customers|you|people)\s*)?(?:to )?",
    re.IGNORECASE,
)
VERBS = frozenset(
    [
        "add",
        "adjust",
        "apply",
        "arrange",
        "ask",
        "book",
        "borrow",
        "browse",
        "buy",
        "call",
        "cancel",
        "change",
        "check",
        "clean",
        "compare",
        "confirm",
        "copy",
        "create",
        "delete",
        "discover",
        "donate",
        "download",
        "edit",
        "fetch",
        "find",
        "fix",
        "follow",
        "freeze",
        "get",
        "give",
        "invite",
        "join",
        "learn",
        "list",
        "listen",
        "locate",
        "lock",
        "look",
        "make",
        "mark",
        "message",
        "modify",
        "move",
        "open",
        "order",
        "pay",
        "pick",
        "plan",
        "play",
        "post",
        "purchase",
        "put",
        "query",
        "quote",
        "rate",
        "read",
        "record",
        "remind",
        "remove",
        "rename",
        "renew",
        "rent",
        "repair",
        "replace",
        "report",
        "request",
        "reschedule",
        "reserve",
        "return",
        "retrieve",
        "review",
        "save",
        "schedule",
        "search",
        "see",
        "sell",
        "send",
        "set",
        "share",
        "show",
        "sign",
        "start",
        "stop",
        "subscribe",
        "switch",
        "take",
        "tell",
        "text",
        "track",
        "transfer",
        "translate",
        "turn",
        "unlock",
        "update",
        "upload",
        "vote",
        "water",
        "write",
    ]
)
ADJUNCTS = {
    "restaurant": "at {}", "coffee_shop": "at {}", "bakery": "at {}", "supermarket": "at {}", "pizza_store": "from {}",
    "hotel": "at {}", "museum": "at {}", "cinema": "at {}", "airline": "with {}", "artist": "by {}", "author": "by {}",
    "director": "by {}", "city": "in {}", "area": "in {}", "country": "in {}", "state": "in {}", "address": "at {}",
    "room": "in {}", "date": "on {}", "birthday": "on {}", "day_off": "on {}", "time": "at {}",
    "wake_up_time": "at {}", "dinner_time": "at {}", "leave_time": "at {}", "bedtime": "at {}", "count": "for {}",
    "account_number": "with {}", "phone_number": "to {}", "email": "to {}", "person": "for {}", "dentist": "with {}",
    "doctor": "with {}", "therapist": "with {}", "tutor": "with {}", "trainer": "with {}", "money": "for {}", "language": "in {}",
}  # fmt: skip
ROLE_ADJUNCTS = {
    "origin": "from {}", "from": "from {}", "departure": "from {}", "pickup": "from {}", "source": "from {}", "sender": "from {}",
    "destination": "to {}", "to": "to {}", "arrival": "to {}", "dropoff": "to {}", "recipient": "to {}", "receiver": "to {}",
    "until": "until {}", "end": "until {}", "return": "until {}", "start": "from {}",
}  # fmt: skip
PEOPLE = frozenset({"people", "guests", "passengers", "adults", "travelers", "travellers", "persons", "party", "group", "riders", "seats"})
FRAMES = (
    "{}, please.",
    "Can you {}?",
    "I'd like to {}.",
    "Could you {} for me?",
    "I want to {}.",
    "Please {}.",
    "Would you {}?",
    "Help me {}.",
    "I need to {}.",
    "Do me a favour and {}.",
)
LEFTOVER = re.compile(
    r"\b(given|specified|specific|certain|any|their|number of|based on|user|users|using|provided|various)\b", re.IGNORECASE
)


def draft_sentences(tool: Tool, parameters: Mapping[str, Parameter]) -> Iterator[str]:
    """Sentences with slots for a tool, best first; none where its description gives no clean verb phrase.

    Each sentence fills the required parameters and one parameter that a fact can fill.
    """
    phrase = verb_phrase(tool)
    if not phrase:
        return
    required = [p for p in parameters.values() if p.keys[0] in tool.parameters.get("required", [])]
    optional = [p for p in parameters.values() if p not in required and p.takes_fact]
    choices = [required] if any(p.takes_fact for p in required) else []
    choices += [[*required, extra] for extra in optional[:4]]
    for turn, chosen in enumerate(choices):
        body, tail = _compose(phrase, chosen)
        if LEFTOVER.search(re.sub(r"\{[^}]*\}", "", body)):
            continue
        for frame in FRAMES[turn % 2 :: 2]:
            sentence = frame.format(body)
            yield (sentence[0].upper() + sentence[1:] + " " + tail).strip()


def verb_phrase(tool: Tool) -> str:
    """What the tool does, as a base-form verb phrase without "this tool allows the user to"; "" if there is none."""
    first = re.split(
        r"[.;\n]|, (?:which|including|such as|so|with|and)\b| by (?:providing|specifying|using)\b| based on\b| using\b",
        tool.description.strip(),
    )[0]
    first = re.split(
        r"\s(?:for|by|in|at|on|from|with|of|to)\s(?:(?:the|a|an|one or more)\s)?(?:new\s)?(?:given|specified|specific|certain|any|user|user's|number of|location,)\b",
        first,
    )[0]
    text = OPENERS.sub("", first).strip()
    words = text.split()
    for candidate in (words, name_words(tool.name)):
        if not candidate:
            continue
        verb = _base_form(candidate[0].lower())
        if verb in VERBS:
            rest = " ".join(candidate[1:])
            if candidate is not words:
                rest = _with_article(rest)
            rest = re.sub(r"\b(?:the user's|a user's|their|the users')\b", "my", rest)
            rest = re.sub(r"\b(the|an?) (?:given|specified|specific|certain|particular|selected)\b", r"the", rest)
            return f"{verb} {rest}".strip().lower() if rest else verb
    return ""


def _with_article(noun: str) -> str:
    """A noun phrase from a name with its article: "a pizza", "an auto repair", "books", "for membership"."""
    first = noun.split(" ")[0] if noun else ""
    if not noun or noun.endswith("s") or first in ("for", "to", "in", "on", "at", "my", "all", "music", "money", "weather"):
        return noun
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def _base_form(word: str) -> str:
    if word in VERBS:
        return word
    for base in (word[:-1], word[:-2], word[:-3] + "y" if word.endswith("ies") else "", word[:-3], word[:-3] + "e", word[:-4]):
        if base in VERBS and word.endswith(("s", "ing")):
            return base
    return ""


def _compose(phrase: str, chosen: list[Parameter]) -> tuple[str, str]:
    body, used, extra = phrase, set(re.findall(r"\b(?:in|at|on|from|to|for|with|by|until)\b", phrase)), []
    adjuncts = 0
    for parameter in chosen:
        words = name_words(parameter.keys[-1])
        noun = next((w for w in reversed(words) if w not in ("name", "title", "of", "number", "id")), words[-1] if words else "")
        article = r"\b(?:a|an|the|my|your|some|one or more) (?:[a-z]+ )?" + re.escape(noun) + r"(?: name)?\b"
        replaced = re.sub(article, "{" + parameter.path + "}", body, count=1) if parameter.takes_fact and noun else body
        if replaced != body:
            body = replaced
            continue
        adjunct = next((ROLE_ADJUNCTS[w] for w in words if w in ROLE_ADJUNCTS), None) or ADJUNCTS.get(parameter.kind)
        if parameter.kind == "count" and not PEOPLE.intersection(words):
            adjunct = None
        if adjunct and adjuncts < 2 and adjunct.split()[0] not in used:
            used.add(adjunct.split()[0])
            slot = "{" + parameter.path + "}"
            body += " " + adjunct.replace("{}", slot + " people" if parameter.kind == "count" else slot)
            adjuncts += 1
        else:
            extra.append(f"The {_label(words)} is {{{parameter.path}}}.")
    return body, " ".join(extra)


def _label(words: list[str]) -> str:
    return " ".join(w for w in words if w not in ("id",)) or "value"
