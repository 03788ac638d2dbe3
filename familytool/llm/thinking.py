"""What a model thought aloud, told from what it answers."""

from __future__ import annotations

import re

from familytool.kgetool.strict_json import TextError, parse_json

_TAG = re.compile(r"<(/?)(?:think|thinking)>", re.IGNORECASE)


def set_thinking_apart(text: str) -> tuple[str, str]:
    """(text without its thinking blocks, what stood in them).

    The first close ends a block, for thinking may speak of its own tags. A block that is not closed goes on to the end, as a cut leaves
    it; a close without an open ends thinking whose open stood in the prompt. A text that is JSON as a whole is left alone: a tag in it
    is a value.

    >>> set_thinking_apart("<THINK>two</THINK>4<think>sure")
    ('4', 'two\\nsure')
    >>> set_thinking_apart("two and two</think>4")
    ('4', 'two and two')
    """
    tags = list(_TAG.finditer(text))
    if not tags or (text.lstrip()[:1] in ("{", "[", '"') and _is_json(text)):
        return text, ""
    outside: list[str] = []
    inside: list[str] = []
    is_open, at = False, 0
    for tag in tags:
        if is_open and not tag[1]:
            continue
        (inside if is_open else outside).append(text[at : tag.start()])
        if tag[1] and not is_open:
            inside += outside
            outside = []
        is_open = not tag[1]
        at = tag.end()
    (inside if is_open else outside).append(text[at:])
    return "".join(outside).strip(), "\n".join(part.strip() for part in inside if part.strip())


def _is_json(text: str) -> bool:
    try:
        parse_json(text)
    except TextError:
        return False
    return True
