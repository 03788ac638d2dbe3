"""YAML text as the JSON value it means: PyYAML's safe loader with the scalars of YAML 1.2, bounded before anything is built.

YAML 1.1 would read the country code `no` as false, `12:30` as 750 and `2024-01-04` as a date; OpenAPI asks for YAML 1.2.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from familytool.formats.text import MAX_DEPTH, TextError
from familytool.model import Json

MAX_CHARACTERS = 16_000_000
MAX_NODES = 1_000_000

_SCALARS = (
    ("tag:yaml.org,2002:bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("tag:yaml.org,2002:null", r"^(?:~|null|Null|NULL|)$", "~nN"),
    ("tag:yaml.org,2002:int", r"^[-+]?(?:0|[1-9][0-9]{0,999})$", "-+0123456789"),
    ("tag:yaml.org,2002:float", r"^[-+]?[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?$", "-+0123456789"),
    ("tag:yaml.org,2002:float", r"^[-+]?[0-9]+[eE][-+]?[0-9]+$", "-+0123456789"),
    ("tag:yaml.org,2002:merge", r"^(?:<<)$", "<"),
)
"""Tag, pattern and first characters of the plain scalars that are no text."""


def parse_yaml(text: str) -> Json:
    """The value of one YAML document; `<<` merges and aliases work, number keys become text (`200` -> "200").

    Raises:
        TextError: not YAML, several documents, a key twice, more than MAX_NODES values once aliases are written out,
            deeper than 64 levels, an alias to itself, or a value JSON cannot hold (binary, a set, a date with a tag, NaN).
    """
    import yaml  # type: ignore[import-untyped]

    if len(text) > MAX_CHARACTERS:
        raise TextError(f"{len(text):,} characters are too many for YAML (limit {MAX_CHARACTERS:,})")
    resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {"": [(_SCALARS[1][0], re.compile(_SCALARS[1][1]))]}
    for tag, pattern, starts in _SCALARS:
        for start in starts:
            resolvers.setdefault(start, []).append((tag, re.compile(pattern)))
    loader: Any = type("YamlOneTwo", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {"yaml_implicit_resolvers": resolvers})
    try:
        _check_events(yaml.parse(text, Loader=loader))
        value = _json_value(yaml.load(text, Loader=loader))  # a subclass of the safe loader
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # half of a surrogate pair is a ValueError
        return value
    except yaml.MarkedYAMLError as error:
        where = f" at line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise TextError(f"not YAML: {str(error.problem)[:80]}{where}") from None
    except yaml.YAMLError as error:
        raise TextError(f"not YAML: {str(error).splitlines()[0][:80]}") from None
    except TextError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OverflowError) as error:
        raise TextError(f"not YAML: {type(error).__name__} while reading a value") from None


def _check_events(events: Any) -> None:
    """Raise TextError where the document, all aliases written out, would be too large, too deep or endless.

    Merges copy what aliases name, so they are bounded by the same count.
    """
    sizes: dict[str, tuple[int, int]] = {}
    frames: list[_Frame] = [_Frame("")]
    documents = 0
    for event in events:
        kind = type(event).__name__
        if kind == "DocumentStartEvent":
            documents += 1
            if documents > 1:
                raise TextError("there is more than one YAML document in the file")
        elif kind == "AliasEvent":
            if any(frame.anchor == event.anchor for frame in frames):
                raise TextError(f"the alias *{event.anchor} stands inside itself")
            frames[-1].add(*sizes.get(event.anchor, (1, 0)), key=None)
        elif kind == "ScalarEvent":
            frames[-1].add(1, 0, key=event.value)
            if event.anchor:
                sizes[event.anchor] = (1, 0)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            frames.append(_Frame(event.anchor or "", set() if kind[0] == "M" else None))
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            frame = frames.pop()
            if frame.anchor:
                sizes[frame.anchor] = (frame.size, frame.depth)
            frames[-1].add(frame.size, frame.depth, key=None)
        if frames[-1].size > MAX_NODES:
            raise TextError(f"more than {MAX_NODES:,} values once its aliases are written out")
        if len(frames) + frames[-1].depth > MAX_DEPTH + 2:
            raise TextError(f"nested deeper than {MAX_DEPTH} levels")


class _Frame:
    """An open list or mapping: its size and depth so far, and the keys it has had."""

    def __init__(self, anchor: str, keys: set[str] | None = None) -> None:
        self.anchor, self.keys, self.size, self.depth, self.at_key = anchor, keys, 1, 0, True

    def add(self, size: int, depth: int, key: str | None) -> None:
        self.size += size
        self.depth = max(self.depth, depth + 1)
        if self.keys is None:
            return
        if self.at_key and key is not None and key != "<<":
            if key in self.keys:
                raise TextError(f"the key '{key[:60]}' occurs twice in one mapping")
            self.keys.add(key)
        self.at_key = not self.at_key


def _json_value(value: Any) -> Json:
    if isinstance(value, dict):
        return {_key(key): _json_value(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_json_value(inner) for inner in value]
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise TextError(f"a YAML value that JSON cannot hold: {type(value).__name__} {str(value)[:40]}")


def _key(key: Any) -> str:
    if isinstance(key, bool) or key is None:
        return "null" if key is None else "true" if key else "false"
    if isinstance(key, str | int | float):
        return str(key)
    raise TextError(f"a YAML key that is no text: {type(key).__name__}")
