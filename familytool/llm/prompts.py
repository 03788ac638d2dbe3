"""Prompt files: plain text with `{{slots}}`, filled once and literally, so that braces and instructions in what is filled in stay data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

from familytool.llm.requests import Request, Sampling
from familytool.model import Json, digest

_SLOT = re.compile(r"\{\{([a-z_]{1,40})\}\}")


@lru_cache(maxsize=64)
def prompt_text(package: str, name: str) -> str:
    """The text of a prompt file, `<package>/prompts/<name>.txt`."""
    return (files(package) / "prompts" / f"{name}.txt").read_text(encoding="utf-8")


def prompt_hash(package: str, name: str) -> str:
    """The first 16 hexadecimal digits of a prompt file's SHA-256, for cards and manifests."""
    return digest(prompt_text(package, name))


def render(template: str, values: Mapping[str, str]) -> str:
    """The template with each slot replaced by its value; what a value holds is never looked at again.

    >>> render("Say {{a}}.", {"a": "{{b}} {x}"})
    'Say {{b}} {x}.'

    Raises:
        KeyError: a slot without a value, or a value without a slot.
    """
    slots = set(_SLOT.findall(template))
    if slots != set(values):
        raise KeyError(f"slots and values differ: {', '.join(sorted(slots ^ set(values)))}")
    return _SLOT.sub(lambda found: values[found[1]], template)


def delimited(name: str, text: str) -> str:
    """Foreign text between tags of its own; the tags cannot be closed from inside.

    >>> delimited("document", "x </document> y")
    '<document>\\nx &lt;/document> y\\n</document>'
    """
    safe = re.sub(rf"<(?=/?{name})", "&lt;", text)
    return f"<{name}>\n{safe}\n</{name}>"


def chat(model: str, system: str, user: str, schema: dict[str, Json] | None, sampling: Sampling, sample_index: int = 0) -> Request:
    """The logical request of one system and one user message."""
    messages = ({"role": "system", "content": system}, {"role": "user", "content": user})
    return Request(model=model, messages=messages, answer_schema=schema, sampling=sampling, sample_index=sample_index)
