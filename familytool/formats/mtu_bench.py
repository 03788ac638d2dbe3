"""MTU-Bench: the tool documents inside the `question` texts of `*_eval.jsonl` (Apache-2.0), and lists of such documents.

In a question the list stands behind one fixed sentence, on the same line or later, as JSON or as a Python literal; required
parameters are names, objects, or a mapping from name to pattern; some lists share one set of parameters among several tools.
Written is a list of documents as in the questions: parameters are objects, and bare names where nothing is said of them.
Facts: tool-document measurements over all 1,009 records (116 names, 181 distinct documents).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from familytool.formats.entries import pointer, read_choices
from familytool.formats.openai import DocumentError, shown, status
from familytool.formats.schema import normalise_parameters
from familytool.formats.text import TextError, bracketed, parse_json_prefix, parse_python_literal
from familytool.model import Json, Tool, canonical

NAME = "mtu-bench"
CARRIES = "names, descriptions, types, defaults and patterns where a version states them, names of results"
LOST = (
    "what is said of the parameters together (combinators, definitions, open schemas), the order of required and optional parameters "
    "among each other, which results are always there, notes and our x-phrase hints"
)
CONTAINER = "json"
MARKER = "The following is a list of APIs and their parameters that you can use:"


_LISTS = {"required_parameters", "optional_parameters", "result_parameters"}


def looks_like(record: Json) -> bool:
    """Whether a JSON value is an MTU-Bench evaluation row, a list of its documents, or one of them."""
    if isinstance(record, list):
        return bool(record) and all(map(_is_document, record))
    return _is_document(record) or (isinstance(record, dict) and isinstance(record.get("question"), str) and MARKER in record["question"])


def _is_document(entry: Json) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("name"), str) and entry.keys() >= _LISTS and "api_name" not in entry


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str] | None = None) -> Iterator[Tool]:
    """The distinct documents of all records, in order of first appearance; versions of a name are numbered from 1.

    Args:
        records: (place, record) pairs; the place says file and line. A record is a row, a list of documents, or one document.
        rejected: gets a sentence for each list entry that is no tool document.

    Raises:
        DocumentError: a record without a readable list.
    """
    uses: dict[str, int] = {}
    first: dict[str, tuple[str, str, dict[str, Json], bool]] = {}
    for place, record in records:
        for document, shared in _documents(record, place, rejected if rejected is not None else []):
            key = canonical([document, shared])
            uses[key] = uses.get(key, 0) + 1
            first.setdefault(key, (document["name"], place, document, shared is not None))
    versions: dict[str, int] = {}
    for key, (name, place, document, is_shared) in first.items():
        versions[name] = versions.get(name, 0) + 1
        yield _tool(document, place, versions[name], uses[key], is_shared)


def _documents(record: Json, place: str, rejected: list[str]) -> Iterator[tuple[dict[str, Json], Json]]:
    question = record.get("question") if isinstance(record, dict) else None
    if question is None and isinstance(record, list | dict) and looks_like(record):
        listed = record if isinstance(record, list) else [record]
    elif isinstance(question, str) and MARKER in question:
        listed = _list_after(question, question.index(MARKER) + len(MARKER), place)
    else:
        raise DocumentError(f"{place}: no tool list (the sentence 'The following is a list of APIs ...' is missing)")
    for entry in listed:
        if not isinstance(entry, dict):
            rejected.append(f"{place}: list entry {str(entry)[:40]!r} is no tool document")
        elif "apis" in entry and "available_parameters" in entry:
            for api in entry["apis"] if isinstance(entry["apis"], list) else []:
                if isinstance(api, dict) and isinstance(api.get("name"), str):
                    yield {**api, "available_parameters": entry["available_parameters"]}, True
                else:
                    rejected.append(f"{place}: an entry of 'apis' has no name")
        elif not isinstance(entry.get("name"), str) or not entry["name"]:
            rejected.append(f"{place}: a tool document without a name")
        else:
            yield entry, None


def _list_after(question: str, start: int, place: str) -> list[Json]:
    at = next((i for i in range(start, len(question)) if not question[i].isspace()), len(question))
    if at == len(question) or question[at] not in "[{":
        raise DocumentError(f"{place}: no list follows the sentence that announces the tools")
    try:
        value, _ = parse_json_prefix(question, at)
    except TextError:
        try:
            value = parse_python_literal(bracketed(question, at))
        except TextError as error:
            raise DocumentError(f"{place}: the tool list cannot be read: {error}") from None
    return value if isinstance(value, list) else [value]


def _tool(document: dict[str, Json], place: str, version: int, uses: int, shared: bool) -> Tool:
    notes: list[str] = []
    properties: dict[str, Json] = {}
    required: list[str] = []
    if shared:
        notes.append("/available_parameters: shared by all tools of the list; which are required is not said, so all are read as optional")
        _add(document, "available_parameters", properties, None, notes)
    _add(document, "optional_parameters", properties, None, notes)
    _add(document, "required_parameters", properties, required, notes)
    schema, repairs = normalise_parameters({"type": "object", "properties": properties, "required": required})
    for name in [n for n, p in properties.items() if isinstance(p, dict) and p.get("default") == "dontcare"]:
        notes.append(f"#/properties/{name}: default 'dontcare' is the document's own word for 'left open'")
    description = document.get("description", "")
    return Tool(
        name=document["name"],
        description=description if isinstance(description, str) else "",
        parameters=schema,
        response=_response(document.get("result_parameters")),
        source={"format": "mtu-bench", "place": place, "status": "partial" if shared else status(schema),
                "version": str(version), "uses": str(uses)},
        notes=(*notes, *repairs),
        raw=document,
    )  # fmt: skip


def _add(document: dict[str, Json], key: str, properties: dict[str, Json], required: list[str] | None, notes: list[str]) -> None:
    """Add one of the three shapes of a parameter list, that of this key; `required` collects the names where it is given."""
    declared = document.get(key)
    if isinstance(declared, dict):
        for name, text in declared.items():
            properties[name] = _from_text(text) if required is not None else {"default": text}
            if required is not None:
                required.append(name)
        if declared and required is None:
            notes.append(
                f"/optional_parameters: a mapping of {len(declared)} names to defaults, without types; read as parameters with these defaults"
            )
        elif declared:
            notes.append(
                f"/required_parameters: a mapping of {len(declared)} names to patterns, without types; read as parameters with these patterns"
            )
        return
    bare = 0
    for index, entry in enumerate(declared if isinstance(declared, list) else []):
        if isinstance(entry, str):
            properties.setdefault(entry, {})
            name, bare = entry, bare + 1
        elif isinstance(entry, dict) and isinstance(entry.get("name"), str):
            name = entry["name"]
            schema = {key: value for key, value in entry.items() if key != "name"}
            properties[name] = read_choices(schema, pointer("properties", name), notes)
        else:
            notes.append(f"/{key}/{index}: {shown(entry)} has no name; left out")
            continue
        if required is not None:
            required.append(name)
    if bare:
        notes.append(f"/{key}: {bare} bare names, without types or descriptions; read as parameters that take anything")


def _from_text(text: Json) -> dict[str, Json]:
    """The schema that a mapping's text means: a pattern, the format HH:MM, or nothing."""
    if not isinstance(text, str) or not text:
        return {}
    return {"pattern": text} if text.startswith("^") else {"format": text} if text == "HH:MM" else {"description": text}


def _response(declared: Any) -> dict[str, Json]:
    if isinstance(declared, dict):
        return {name: {} for name in declared}
    named: dict[str, Json] = {}
    for entry in declared if isinstance(declared, list) else []:
        if isinstance(entry, str):
            named[entry] = {}
        elif isinstance(entry, dict) and isinstance(entry.get("name"), str):
            named[entry["name"]] = {key: value for key, value in entry.items() if key != "name"}
    return named


def write_tools(tools: Iterable[Tool]) -> Iterator[Json]:
    """One list of documents `{name, description, required_parameters, optional_parameters, result_parameters}`."""
    yield [write_document(tool) for tool in tools]


def write_document(tool: Tool) -> dict[str, Json]:
    """A tool as an MTU-Bench document.

    >>> schema = {"properties": {"city": {"type": "string"}, "day": {"default": "today"}, "to": {}}, "required": ["city", "to"]}
    >>> document = write_document(Tool(name="f", parameters=schema))
    >>> document["required_parameters"], document["optional_parameters"]
    ([{'name': 'city', 'type': 'string'}, 'to'], [{'name': 'day', 'default': 'today'}])
    """
    schema = tool.as_candidate().parameters
    properties = schema.get("properties", {})
    required = [name for name in schema.get("required", []) if name in properties]
    response = tool.response
    if isinstance(response.get("type"), str):  # a schema of the whole, of which the properties are the results
        response = response["properties"] if isinstance(response.get("properties"), dict) else {}
    return {
        "name": tool.name,
        "description": tool.description,
        "required_parameters": [_entry(name, properties[name]) for name in required],
        "optional_parameters": [_entry(name, inner) for name, inner in properties.items() if name not in required],
        "result_parameters": [_entry(name, inner) for name, inner in response.items()],
    }


def _entry(name: str, schema: Json) -> Json:
    """A parameter as an object, or its bare name where nothing is said of it; what leads to a definition of the whole is left out."""
    said = _without_references({"not": {}} if schema is False else schema)
    return {"name": name, **{key: value for key, value in said.items() if key != "name"}} if isinstance(said, dict) and said else name


def _without_references(schema: Json) -> Json:
    if isinstance(schema, list):
        return [_without_references(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if not (key == "$ref" and isinstance(value, str))}
    return {key: value if key in ("default", "enum", "const", "examples") else _without_references(value) for key, value in kept.items()}


def losses(tool: Tool) -> list[str]:
    """What of a tool's parameters a document of MTU-Bench cannot say.

    >>> losses(Tool(name="f", parameters={"type": "object", "properties": {}, "minProperties": 1, "additionalProperties": False}))
    ['#/minProperties is not written']
    """
    schema = tool.as_candidate().parameters
    said = {"type", "properties", "required"} | {key for key in _CLOSINGS if schema.get(key) is False}
    told = [f"#/{key} is not written" for key in schema if key not in said]
    if not any(key in schema for key in _CLOSINGS):
        told.append("# is open, and is read again as closed")
    if _without_references(schema.get("properties")) != schema.get("properties"):
        told.append("#/properties: references ($ref) to definitions of the whole are not written")
    return told


_CLOSINGS = ("additionalProperties", "unevaluatedProperties")
