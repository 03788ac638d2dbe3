"""Prompt files: plain text with `{{slots}}`, filled once and literally, so that braces and instructions in what is filled in stay data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from familytool.errors import UsageError
from familytool.llm.requests import Request, Sampling
from familytool.model import Json, digest

_SLOT = re.compile(r"\{\{([a-z_]{1,40})\}\}")


@lru_cache(maxsize=256)
def prompt_text(package: str, name: str, own: Path | None = None) -> str:
    """The text of a prompt file: `<name>.txt` of a folder of one's own where it has one, else `<package>/prompts/<name>.txt`.

    Raises:
        UsageError: a file of one's own that cannot be read, or whose slots are not those of the package's.
    """
    text = (files(package) / "prompts" / f"{name}.txt").read_text(encoding="utf-8")
    path = None if own is None else own / f"{name}.txt"
    if path is None or not path.exists():
        return text
    try:
        mine = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: the prompt cannot be read ({error}); save it as a text file in UTF-8.") from None
    if set(_SLOT.findall(mine)) != set(_SLOT.findall(text)):
        slots = ", ".join("{{" + slot + "}}" for slot in sorted(set(_SLOT.findall(text)))) or "no slot"
        raise UsageError(f"{path}: a prompt for '{name}' has the slots {slots}, each at least once and no others.")
    return mine


def prompt_hash(package: str, name: str, own: Path | None = None) -> str:
    """The first 16 hexadecimal digits of a prompt file's SHA-256, for cards and manifests."""
    return digest(prompt_text(package, name, own))


def own_prompts(folder: Path, packages: Iterable[str]) -> dict[str, str]:
    """The names of a folder's prompt files and their hashes; the files are read anew, and are what `prompt_text` gives from now on.

    Raises:
        UsageError: there is no such folder, or a file in it stands in for no prompt of these packages.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no folder of prompts is here; make one with the prompts to be changed, or drop generation.prompts.")
    prompt_text.cache_clear()
    home: dict[str, str] = {}
    for package in packages:
        home.update(
            (entry.name.removesuffix(".txt"), package) for entry in (files(package) / "prompts").iterdir() if entry.name.endswith(".txt")
        )
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.txt")):
        if path.stem not in home:
            raise UsageError(f"{path}: there is no prompt of this name; there are {', '.join(sorted(home))}.")
        found[path.stem] = prompt_hash(home[path.stem], path.stem, folder)
    return found


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
