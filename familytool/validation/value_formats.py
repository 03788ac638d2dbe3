"""The formats of texts that are checked, each a function from a text to whether it is of that form.

They are read as documents mean them: `time` and `date-time` may leave out seconds and zone, which RFC 3339 wants. A format that
does not stand here refuses no value.
"""

from __future__ import annotations

import datetime
import ipaddress
import re
from collections.abc import Callable

MAX_TEXT = 2_000
"""A longer text is of none of these forms."""

_HHMM = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]")
_TIME = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::(?:[0-5][0-9]|60)(?:\.[0-9]{1,12})?)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LOCAL = re.compile(r"[^\s@\"]{1,64}|\"[^\"\\\n]{0,62}\"")
_LABEL = re.compile(r"[^\W_](?:[\w-]{0,61}[^\W_])?")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,40}:[^\s<>\"{}|\\^`\x00-\x1f]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")


def _is_date(text: str) -> bool:
    try:
        return _DATE.fullmatch(text) is not None and bool(datetime.date.fromisoformat(text))
    except ValueError:
        return False


def _is_datetime(text: str) -> bool:
    return _is_date(text[:10]) and text[10:11] in ("T", "t") and _TIME.fullmatch(text[11:]) is not None


def _is_email(text: str) -> bool:
    local, _, domain = text.rpartition("@")
    if _LOCAL.fullmatch(local) is None or len(domain) > 255:
        return False
    if domain.startswith("["):
        return domain.endswith("]") and _is_address(domain[1:-1].removeprefix("IPv6:"))
    return all(_LABEL.fullmatch(label) for label in domain.split("."))


def _is_address(text: str, kind: Callable[[str], object] = ipaddress.ip_address) -> bool:
    try:
        return "%" not in text and bool(kind(text))
    except ValueError:
        return False


FORMATS: dict[str, Callable[[str], bool]] = {
    "HH:MM": lambda text: _HHMM.fullmatch(text) is not None,
    "time": lambda text: _TIME.fullmatch(text) is not None,
    "date": _is_date,
    "date-time": _is_datetime,
    "email": _is_email,
    "uri": lambda text: _URI.fullmatch(text) is not None,
    "uuid": lambda text: _UUID.fullmatch(text) is not None,
    "ipv4": lambda text: _is_address(text, ipaddress.IPv4Address),
    "ipv6": lambda text: _is_address(text, ipaddress.IPv6Address),
}
"""Formats that are checked; values of other formats are never failed because of them."""

EXPECTED = {
    "HH:MM": "HH:MM expected", "time": "a time such as 09:30 or 09:30:00Z expected", "date": "a date YYYY-MM-DD expected",
    "date-time": "a date-time such as 2025-06-03T09:30:00Z expected", "email": "an e-mail address expected",
    "uri": "an address with its scheme, such as https://example.org, expected", "uuid": "a UUID expected",
    "ipv4": "an IPv4 address expected", "ipv6": "an IPv6 address expected",
}  # fmt: skip


def format_fault(name: str, text: str) -> str:
    """What was expected instead of this text; "" where it is of the form, or where nobody knows the form.

    >>> format_fault("HH:MM", "25:61"), format_fault("HH:MM", "09:30"), format_fault("coordinate", "1,2")
    ('HH:MM expected', '', '')
    """
    known = FORMATS.get(name)
    return "" if known is None or (len(text) <= MAX_TEXT and known(text)) else EXPECTED[name]
