"""Berkeley Function Calling Leaderboard, version 4: rows with a `function` list, and the documents of `multi_turn_func_doc`.

Its files are JSONL although they are named `.json`. A document is `{name, description, parameters, response?}` with the type
names of Python, Java or JavaScript (`dict`, `float`, `tuple`, `HashMap`, `any`). Rows of several turns name the classes of
their tools only. Written are documents as in `multi_turn_func_doc`, with the type names that its checker knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from familytool.formats.openai import read_entry, shown
from familytool.formats.rows import read_response, read_rows
from familytool.model import Json, Tool

NAME = "bfcl"
CARRIES = "names, descriptions, JSON Schema under the type names of BFCL, response schemas"
LOST = "notes and our x-phrase hints; combinators, references and lists of types are written, but BFCL's own checker does not know them"
CONTAINER = "jsonl"

_DOCUMENT_KEYS = {"name", "description", "parameters", "response"}
_TYPE_NAMES = {"object": "dict", "number": "float"}
_COMBINATORS = ("allOf", "anyOf", "oneOf", "if", "$ref", "dependentSchemas")
_SUBSCHEMAS = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def looks_like(value: Json) -> bool:
    """Whether a record is a BFCL row, with its documents or with the classes of its tools, or one of its documents."""
    return isinstance(value, dict) and (_is_row(value) or _is_document(value))


def _is_row(value: dict[str, Json]) -> bool:
    documents = value.get("function")
    held = isinstance(documents, list) and bool(documents) and all(isinstance(d, dict) and "parameters" in d for d in documents)
    return isinstance(value.get("question"), list) and "id" in value and (held or isinstance(value.get("involved_classes"), list))


def _is_document(value: dict[str, Json]) -> bool:
    parameters = value.get("parameters")
    return (
        isinstance(value.get("name"), str)
        and isinstance(value.get("description"), str)
        and value.keys() <= _DOCUMENT_KEYS
        and isinstance(parameters, dict)
        and parameters.get("type") == "dict"
    )


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """The distinct documents of rows or of document files, in order of first appearance.

    Args:
        records: (place, record) pairs; the rows of a file may also come as one list.
        rejected: gets a sentence for each row without documents and for each entry that is no tool document.

    Raises:
        DocumentError: no record has or is a document (files of answers and of ids, for example).
    """
    yield from read_rows(records, _documents, tool_of, rejected)


def _documents(row: Json) -> list[Json]:
    if not isinstance(row, dict):
        raise ValueError(f"{shown(row)} is no row with a 'function' list and no tool document")
    if "function" in row:
        return list(row["function"]) if isinstance(row["function"], list) else [row["function"]]
    if "parameters" in row:
        return [row]
    if isinstance(row.get("involved_classes"), list):
        named = ", ".join(str(name) for name in row["involved_classes"])[:80]
        raise ValueError(f"the documents of {named} stand in the files of multi_turn_func_doc; read those")
    if "ground_truth" in row:
        raise ValueError("an answer, not a tool document")
    raise ValueError(f"no 'function' list and no tool document (keys {', '.join(row)[:60] or 'none'})")


def tool_of(document: Json, place: str, number: int) -> Tool:
    """The tool of the document that is listed as `number` (ValueError: it is none)."""
    if not isinstance(document, dict):
        raise ValueError(f"entry {number} of 'function' is {shown(document)}, no tool document")
    tool = read_entry(document, document, f"entry {number} of 'function'", document.get("parameters"), {"format": NAME, "place": place})
    notes = list(tool.notes)
    response = read_response(document.get("response"), notes)
    return tool.model_copy(update={"response": response, "notes": tuple(notes)})


def write_tools(tools: Iterable[Tool]) -> Iterator[Json]:
    """One document for each tool, as in `multi_turn_func_doc`."""
    yield from map(write_document, tools)


def write_document(tool: Tool) -> dict[str, Json]:
    """A tool as BFCL's document; a response that maps names to schemas is written as a schema of an object.

    >>> write_document(Tool(name="f", parameters={"type": "object", "properties": {"x": {}}, "additionalProperties": False}))["parameters"]
    {'type': 'dict', 'properties': {'x': {'type': 'any'}}, 'required': []}
    """
    document = {"name": tool.name, "description": tool.description, "parameters": _root(tool.as_candidate().parameters)}
    if tool.response:
        is_schema = isinstance(tool.response.get("type"), str)
        document["response"] = _written(tool.response if is_schema else {"type": "object", "properties": tool.response})
    return document


def _root(parameters: dict[str, Json]) -> dict[str, Json]:
    """The parameters without the closing that a reader adds, so that an open schema says that it is open."""
    combined = any(key in parameters for key in _COMBINATORS)
    closing, other = ("unevaluatedProperties", "additionalProperties")[:: 1 if combined else -1]
    schema = dict(parameters)
    if other not in schema and schema.get(closing) is False:
        del schema[closing]
    elif other not in schema and closing not in schema:
        schema[closing] = True
    written: dict[str, Json] = _written(schema)
    return {"type": "dict", **written, "required": written.get("required", [])}


def _written(schema: Json) -> Any:
    """A schema under BFCL's type names; a parameter without any restriction is of type `any`."""
    if not isinstance(schema, dict):
        return schema
    result: dict[str, Json] = {}
    for key, value in schema.items():
        if key == "type":
            result[key] = [_type_name(name) for name in value] if isinstance(value, list) else _type_name(value)
        elif key in _MAPS and isinstance(value, dict):
            result[key] = {name: _written(inner) for name, inner in value.items()}
        elif key in _LISTS and isinstance(value, list):
            result[key] = [_written(inner) for inner in value]
        elif key in _SUBSCHEMAS:
            result[key] = _written(value)
        else:
            result[key] = value
    if isinstance(result.get("properties"), dict):
        result["properties"] = {name: _typed(inner) for name, inner in result["properties"].items()}
    return result


def _typed(schema: Json) -> Json:
    untyped = isinstance(schema, dict) and not {"type", *_COMBINATORS} & schema.keys()
    return {"type": "any", **schema} if untyped else schema


def _type_name(name: Json) -> Json:
    return _TYPE_NAMES.get(name, name) if isinstance(name, str) else name
