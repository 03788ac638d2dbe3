"""Who speaks, in which tone, at what length, and how relatives are called: what phrasings of one request differ in.

A persona and a tone colour the words and add nothing to what is asked; how relatives are called stays as exact as the draft is.
"""

from __future__ import annotations

import random
from itertools import cycle, islice

PERSONAS = (
    "a parent with no hand free",
    "a retired schoolteacher",
    "a student who types on a phone",
    "somebody who plans the week ahead",
    "a nurse at the end of a shift",
    "a grandparent who is new to assistants",
    "a shopkeeper between two customers",
    "somebody who learned English as an adult",
    "an engineer who likes short facts",
    "a cheerful host",
    "somebody who has just remembered a thing to do",
    "a commuter on a train",
    "an organised secretary",
    "a teenager",
    "somebody who talks to a speaker in the kitchen",
    "a careful letter writer",
)
REGISTERS = (
    "casually",
    "politely",
    "briskly",
    "in a warm tone",
    "in a matter-of-fact tone",
    "formally",
    "as in a chat message",
    "as one speaks aloud",
    "in plain words of everyday English",
    "a little hesitantly",
    "with good cheer",
)
LENGTHS = (
    "in one short sentence",
    "in one long sentence",
    "in two short sentences",
    "in as few words as it takes",
    "as a question",
    "as a request that begins with its reason or occasion where the draft has one",
    "with the detail said last that the draft says first",
)
KINSHIP_WORDINGS = (
    "in everyday words (mum, grandpa)",
    "in the words that forms use (mother, grandfather)",
    "by one word where one word is as exact (grandmother, mother-in-law)",
    "step by step (my mother's brother)",
    "as the draft does",
)


COMBINATIONS = len(PERSONAS) * len(REGISTERS) * len(LENGTHS) * len(KINSHIP_WORDINGS)


def styles(rng: random.Random, n: int) -> list[str]:
    """`n` sentences for a prompt, all different; the first of them are the same whatever `n` is.

    Each table is gone through in a seeded order of its own, again and again, so that no entry comes twice before all have come. No two
    tables have a length with a common divisor: all combinations come before one is repeated.

    Raises:
        ValueError: more than there are combinations.
    """
    if not 0 <= n <= COMBINATIONS:
        raise ValueError(f"{n} styles were asked for; there are {COMBINATIONS}")
    tables = [cycle(rng.sample(table, len(table))) for table in (PERSONAS, REGISTERS, LENGTHS, KINSHIP_WORDINGS)]
    return [
        f"Write as {persona} would, {register}, {length}; name relatives {kinship}, and do not speak of who you are."
        for persona, register, length, kinship in islice(zip(*tables, strict=True), n)
    ]
