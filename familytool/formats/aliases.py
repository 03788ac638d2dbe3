"""Names as providers accept them: a reversible map, since names in documents, samples and releases are never changed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from itertools import count

MAX_LENGTH = 64
FITTING = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What a name must match as a whole to be accepted by OpenAI and Anthropic (Gemini and MCP accept more)."""

_HASH_LENGTH = 8
_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")


def provider_aliases(names: Iterable[str]) -> dict[str, str]:
    """Alias -> name for each distinct name, in their order.

    A name that fits is its own alias. Any other has its refused characters replaced by `_`, is cut, and ends in eight
    hexadecimal digits of its SHA-256: so its alias does not depend on what else is in the list, unless another name is
    that very alias; then the hash is taken anew.

    >>> provider_aliases(["find", "Buses.Find", "Buses/Find"])
    {'find': 'find', 'Buses_Find_e0f7cf10': 'Buses.Find', 'Buses_Find_ea7e466f': 'Buses/Find'}
    """
    distinct = list(dict.fromkeys(names))
    alias_of = {name: name for name in distinct if FITTING.fullmatch(name)}
    taken = set(alias_of)
    for name in sorted(set(distinct) - taken):  # sorted, so that a collision ends alike in every order of the list
        alias = next(candidate for attempt in count() if (candidate := _alias(name, attempt)) not in taken)
        taken.add(alias)
        alias_of[name] = alias
    return {alias_of[name]: name for name in distinct}


def _alias(name: str, attempt: int) -> str:
    hashed = hashlib.sha256((f"{name}\0{attempt}" if attempt else name).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{_REFUSED.sub('_', name)[: MAX_LENGTH - _HASH_LENGTH - 1]}_{hashed[:_HASH_LENGTH]}"
