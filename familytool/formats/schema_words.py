"""Words of tool schemas that are legal and yet say less than their author hoped: unknown formats, patterns that do not run everywhere."""

from __future__ import annotations

import difflib
import re

from familytool.formats.patterns import pattern_trouble

FORMATS = frozenset(
    {
        "date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6", "uri", "uri-reference",
        "iri", "iri-reference", "uuid", "uri-template", "json-pointer", "relative-json-pointer", "regex",  # JSON Schema 2020-12, 7.3
        "int32", "int64", "float", "double", "byte", "binary", "password",  # OpenAPI 3
        "HH:MM",  # MTU-Bench
    }
)  # fmt: skip
"""Names of formats that mean the same to everybody. Known is not checked: `validation` says which values it looks at."""

_MEANT = {"url": "uri", "guid": "uuid", "timestamp": "date-time", "ip": "ipv4", "ip-address": "ipv4", "mail": "email", "hh-mm": "HH:MM",
          "regexp": "regex", "iso8601": "date-time", "iso-8601": "date-time", "rfc3339": "date-time"}  # fmt: skip


def format_note(name: str) -> str:
    """What is odd about the name of a format; "" if nothing is.

    >>> format_note("datetime"), format_note("coordinate"), format_note("date")
    ("'datetime' is no known format and is not checked; did you mean 'date-time'?", "'coordinate' is no known format and is not checked", '')
    """
    if name in FORMATS:
        return ""
    plain = re.sub(r"[\s_:]", "-", name[:40].strip().lower())
    near = difflib.get_close_matches(plain, sorted(map(str.lower, FORMATS)), 1, 0.85)
    meant = _MEANT.get(plain, next((known for known in sorted(FORMATS) if near and known.lower() == near[0]), ""))
    return f"'{name[:40]}' is no known format and is not checked" + (f"; did you mean '{meant}'?" if meant else "")


def pattern_note(pattern: str) -> str:
    r"""What a pattern of ECMA-262 cannot do here, or at providers; "" if it runs everywhere.

    >>> pattern_note(r"^(a+)+$")
    "pattern '^(a+)+$' is not run here (it could take too long); no value is judged by it"
    >>> pattern_note("^(?!null$).+")
    "pattern '^(?!null$).+' uses look-around, which providers refuse; it is used here"
    """
    shown = pattern if len(pattern) <= 60 else pattern[:57] + "..."
    if trouble := pattern_trouble(pattern):
        return f"pattern '{shown}' is not run here ({trouble}); no value is judged by it"
    return f"pattern '{shown}' uses look-around, which providers refuse; it is used here" if _looks_around(pattern) else ""


def _looks_around(pattern: str) -> bool:
    at, in_class = 0, False
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 1
        elif in_class:
            in_class = pattern[at] != "]"
        elif pattern[at] == "[":
            in_class = True
        elif pattern.startswith(("(?=", "(?!", "(?<=", "(?<!"), at):
            return True
        at += 1
    return False
