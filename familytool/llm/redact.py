"""Secrets out of texts: before an error is printed, a log line written, or an answer kept."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote

GONE = "[redacted]"

SHORTEST = 4
"""Shorter "secrets" are ignored in messages: replacing every `x` would destroy the text and hide nothing."""

SHORTEST_KEPT = 12
"""The same for texts that are kept as data: what local servers take as a key (`EMPTY`, `not-needed`) may be an honest word of an answer."""

# Every pattern starts at a fixed text and runs over one class of characters, so that the whole is linear in the text.
_PATTERNS = (
    (re.compile(r"(?i)\b(authorization[\"']?\s*[:=]\s*[\"']?)(?:(?:bearer|basic|token)\s+)?[^\s\"',;}\\]+"), r"\1" + GONE),
    (re.compile(r"(?i)\b(bearer\s+)[A-Za-z0-9._~+/=*-]{4,}"), r"\1" + GONE),
    (re.compile(r"(?i)\b((?:x-)?api[ _-]?key(?: provided)?[\"']?\s*[:=]\s*[\"']?)[^\s\"',;&}\\]+"), r"\1" + GONE),
    (re.compile(r"(?i)([?&](?:key|api_key|apikey|token|access_token|sig|signature)=)[^&\s\"']+"), r"\1" + GONE),
    (re.compile(r"(://)[^/\s:@\"']{1,256}:[^/\s@\"']{1,256}@"), r"\1" + GONE + "@"),
    (re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_*.-]{8,}"), GONE),
    (re.compile(r"\bhf_[A-Za-z0-9*]{8,}"), GONE),
    (re.compile(r"\b(?:gsk|xai|gh[pousr])_[A-Za-z0-9*]{16,}|\bxai-[A-Za-z0-9*]{16,}|\bAIza[A-Za-z0-9_-]{16,}"), GONE),
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """A message without secrets: the given ones in every spelling, and whatever is shaped like a key or a credential.

    For errors and logs, where a word too many may go. Linear in the length of the text.

    >>> redact("401 for Bearer abcd1234, key sk-proj-0123456789abcdef")
    '401 for Bearer [redacted], key [redacted]'
    """
    text = without_secrets(text, secrets, shortest=SHORTEST)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


def without_secrets(text: str, secrets: Iterable[str], shortest: int = SHORTEST_KEPT) -> str:
    """A text without the given secrets, also where they stand escaped, percent-encoded or in base64; nothing else changes.

    For data that are kept: a made-up key in a model's answer is an answer, and stays.
    """
    spellings = {spelling for secret in secrets if len(secret) >= shortest for spelling in _spellings(secret)}
    for spelling in sorted(spellings, key=lambda s: (-len(s), s)):
        text = text.replace(spelling, GONE)
    return text


def holds_secret(text: str, secrets: Iterable[str]) -> bool:
    """Whether a text that will be kept holds one of these secrets."""
    return any(spelling in text for secret in secrets if len(secret) >= SHORTEST_KEPT for spelling in _spellings(secret))


def _spellings(secret: str) -> tuple[str, ...]:
    encoded = secret.encode("utf-8", "surrogatepass")
    return (
        secret,
        json.dumps(secret, ensure_ascii=False)[1:-1],
        json.dumps(secret)[1:-1],
        quote(encoded, safe=""),
        base64.b64encode(encoded).decode("ascii"),
    )
