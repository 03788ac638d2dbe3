"""References to earlier results, and holes: values of a call that stand for what only a run would give.

A reader of a format records them in `argument_sources`; `tool.result`, where `tool` is exactly the name of a tool that is offered or
called, is recognised here. A reference is broken if its tool is not called earlier, or if the tool's document declares its results and
this one is not among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from familytool.model import Finding, Json, Sample, ToolCall
from familytool.validation.keywords import shown
from familytool.validation.near_names import near_hint
from familytool.validation.special_values import Path, pointer_of, value_at

MAX_TEXT = 300
MAX_DEPTH = 32
_RESULT = re.compile(r"[^\W\d][\w-]*(?:\[[0-9]{1,6}\]|\.[^\W\d][\w-]*)*")
_PART = re.compile(r"[^.\[\]]+|\[[0-9]{1,6}\]")
_FILE_ENDINGS = frozenset(
    [
        "txt",
        "csv",
        "tsv",
        "json",
        "jsonl",
        "xml",
        "html",
        "pdf",
        "md",
        "py",
        "js",
        "sh",
        "log",
        "doc",
        "docx",
        "xls",
        "xlsx",
        "png",
        "jpg",
        "jpeg",
        "gif",
        "mp3",
        "mp4",
        "zip",
        "com",
        "org",
        "net",
        "edu",
        "io",
    ]
)


class Reference(NamedTuple):
    """A value that stands for a result: the tool, the number of its call, the result's name ("" for all of it), and the text.

    `call` is None where only the tool is named, and -1 where a reader found no call; `is_earlier_turn`: an earlier turn calls it.
    """

    tool: str
    call: int | None
    result: str
    text: str
    is_earlier_turn: bool = False


class Specials(NamedTuple):
    """What in one call is no value yet: references (a text may hold several) and holes by their place."""

    references: dict[Path, list[Reference]]
    holes: frozenset[Path]

    @property
    def places(self) -> frozenset[Path]:
        """All places whose value is not known yet."""
        return self.holes.union(self.references)


NO_SPECIALS = Specials({}, frozenset())


def recorded_places(sample: Sample) -> list[tuple[int, Path, Mapping[str, Json]]]:
    """(number of the call, place in its arguments, source) of each reference and hole that the sample's reader recorded."""
    found: list[tuple[int, Path, Mapping[str, Json]]] = []
    for pointer, source in sample.argument_sources.items():
        if source.get("source") in ("result", "hole"):
            number, _, rest = pointer.lstrip("/").partition("/")
            if number.isdigit() and int(number) < len(sample.calls) and (rest + "/").startswith("arguments/"):
                path = _path(sample.calls[int(number)].arguments, rest.removeprefix("arguments"))
                if path is not None:
                    found.append((int(number), path, source))
    return found


def _path(arguments: Json, pointer: str) -> Path | None:
    """The place that a pointer into arguments names; None where it names none."""
    path: list[str | int] = []
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(arguments, dict) and name in arguments:
            arguments = arguments[name]
            path.append(name)
        elif isinstance(arguments, list) and name.isascii() and name.isdigit() and int(name) < len(arguments):
            arguments = arguments[int(name)]
            path.append(int(name))
        else:
            return None
    return tuple(path)


def specials_of(sample: Sample, calls: tuple[ToolCall, ...]) -> list[Specials]:
    """The references and holes of each of these calls (the sample's own, or an accepted alternative of them)."""
    recorded = recorded_places(sample)
    by_place: dict[int, dict[Path, Mapping[str, Json]]] = {}
    by_text: dict[str, Mapping[str, Json]] = {}
    for number, path, source in recorded:
        by_place.setdefault(number, {})[path] = source
        value = value_at(sample.calls[number].arguments, path)
        if isinstance(value, str):
            by_text.setdefault(value, source)
    names: frozenset[str] | None = None
    found: list[Specials] = []
    for number, call in enumerate(calls):
        if not recorded and not _has_dot(call.arguments):
            found.append(NO_SPECIALS)
            continue
        sources = dict(by_place.get(number, {})) if calls is sample.calls else {}
        references: dict[Path, list[Reference]] = {}
        for path, text in _texts(call.arguments, ()):
            if calls is not sample.calls and text in by_text:
                sources[path] = by_text[text]
            elif "." in text and path not in sources:
                names = _names(sample, calls) if names is None else names
                reference = _named(text, names)
                if reference is not None and not _is_file(sample, reference):
                    references[path] = [reference]
        holes: set[Path] = set()
        for path, source in sources.items():
            parts = [source, *(also for also in source.get("also", ()) if isinstance(also, dict))]
            references[path] = [_recorded(sample, part) for part in parts if part.get("source") == "result"]
            if len(references[path]) < len(parts):
                holes.add(path)
        found.append(Specials(references, frozenset(holes)))
    return found


def _has_dot(value: Json) -> bool:
    """Whether a text in a value may be a reference: most calls have none, and are done with."""
    if isinstance(value, str):
        return "." in value
    return isinstance(value, dict | list) and any(map(_has_dot, value.values() if isinstance(value, dict) else value))


def _texts(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            if isinstance(inner, str | dict | list):
                yield from _texts(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, str | dict | list):
                yield from _texts(inner, (*path, index))


def _names(sample: Sample, calls: tuple[ToolCall, ...]) -> frozenset[str]:
    return frozenset({tool.name for tool in sample.candidate_tools} | {call.name for call in calls if call.name})


def _named(text: str, names: frozenset[str]) -> Reference | None:
    """The reference that a text is; a text that is a tool's whole name is none."""
    if len(text) > MAX_TEXT or text in names:
        return None
    at = text.rfind(".")
    while at > 0:
        if text[:at] in names and _RESULT.fullmatch(text, at + 1):
            return Reference(text[:at], None, text[at + 1 :], text)
        at = text.rfind(".", 0, at)
    return None


def _is_file(sample: Sample, reference: Reference) -> bool:
    """Whether `sort.txt` or `amazon.com` is a file or a host rather than a result that the tool of that name declares."""
    if reference.result.lower() not in _FILE_ENDINGS:
        return False
    declared = [_declares(tool.response, [reference.result]) for tool in sample.candidate_tools if tool.name == reference.tool]
    return True not in declared


def _recorded(sample: Sample, source: Mapping[str, Json]) -> Reference:
    text, result, call = str(source.get("text", "")), source.get("result"), source.get("call")
    number = call if isinstance(call, int) and not isinstance(call, bool) and 0 <= call < len(sample.calls) else -1
    named = None if number >= 0 else _named(text, _names(sample, sample.calls))
    tool = sample.calls[number].name if number >= 0 else named.tool if named else ""
    is_whole = not isinstance(result, str) or result == text  # `API_call_0` names a call and none of its results
    return Reference(tool, number, "" if is_whole else str(result), text, source.get("earlier_turn") is True)


def broken_references(sample: Sample, calls: tuple[ToolCall, ...], number: int, specials: Specials, pointer: str) -> list[Finding]:
    """A finding for each reference of one call that no earlier call satisfies."""
    found: list[Finding] = []
    for path, references in specials.references.items():
        for reference in references:
            message, hint = _fault(sample, calls, number, reference)
            if message:
                here = pointer + pointer_of(path)
                found.append(Finding(code="broken_reference", path=here, message=message[:300], value=reference.text, hint=hint))
    return found


def _fault(sample: Sample, calls: tuple[ToolCall, ...], number: int, reference: Reference) -> tuple[str, str]:
    """Why a reference is broken, and the hint; ("", "") where it is sound."""
    if reference.call is None:
        calling = [index for index, call in enumerate(calls) if call.name == reference.tool]
    else:
        calling = [reference.call] if reference.call >= 0 else []
    if not reference.is_earlier_turn and not any(index < number for index in calling):
        when = "is called later, not earlier" if any(index > number for index in calling) else "is not called earlier"
        return f"{shown(reference.text)} refers to {reference.tool or 'a call'}, which {when}", ""
    documents = [tool.response for tool in sample.candidate_tools if tool.name == reference.tool]
    parts = _PART.findall(reference.result)
    if parts and documents and not any(_declares(response, parts) is not False for response in documents):
        names = [name for response in documents for name in _results(response) or ()]
        return f"{shown(reference.text)} refers to a result that {reference.tool} does not declare", near_hint(parts[0], names)
    return "", ""


_OPEN_ENDED = ("$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties")


def _results(response: Any) -> dict[str, Any] | None:
    """Name -> schema of the results that are declared; None where they are not known.

    A response is a JSON Schema of an object, or a map from names to schemas.
    """
    if not isinstance(response, dict) or not response or any(key in response for key in _OPEN_ENDED):
        return None
    declared = response.get("properties")
    if isinstance(response.get("type"), str | list) or (isinstance(declared, dict) and "type" not in declared):
        return declared if isinstance(declared, dict) and declared else None
    return response


def _declares(response: Any, parts: list[str]) -> bool | None:
    """Whether a path of names and `[n]` leads to something declared; None where the document does not say."""
    for position, part in enumerate(parts):
        if part.startswith("["):
            response = response.get("items") if isinstance(response, dict) else None
            continue
        if isinstance(response, dict) and isinstance(response.get("items"), dict) and response.get("type") in ("array", "list"):
            response = response["items"]
        if position and isinstance(response, dict) and not isinstance(response.get("properties"), dict):
            return None
        results = _results(response)
        if results is None:
            return None
        if part not in results:  # some sets leave out the objects on the way to a result
            return not position and any(part in names for names in _inner_results(results, 0))
        response = results[part]
    return True


def _inner_results(results: dict[str, Any], depth: int) -> Iterator[dict[str, Any]]:
    """The results declared inside results, at any depth."""
    for schema in results.values():
        inner = schema.get("items") if isinstance(schema, dict) and isinstance(schema.get("items"), dict) else schema
        declared = inner.get("properties") if isinstance(inner, dict) else None
        if isinstance(declared, dict) and depth < MAX_DEPTH:
            yield declared
            yield from _inner_results(declared, depth + 1)
