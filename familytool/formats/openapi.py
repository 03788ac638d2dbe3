"""OpenAPI 2, 3.0 and 3.1: one tool for each operation.

- Name: operationId, else `METHOD /path`. Description: summary, then description.
- Parameters: path, query, header, cookie and formData parameters by their names. Two of one name in two places: the first in the
  document keeps it, the other becomes `query.id`, with a note.
- Body: the members of an object schema (all branches of allOf merged; a member of two branches gets an allOf of its own) are lifted
  among the parameters. The body stays one parameter `body` (OpenAPI 2: its own name; `requestBody` where `body` is taken) where it
  is no object, has other keywords (oneOf, anyOf, minProperties ...), no members, or a member with the name of a parameter.
- A body that is not required, with required members: these are required as soon as one member is there (dependentRequired).
- References: those that are used stand in `$defs`, so that circles stay finite; nothing outside of the document is fetched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from familytool.formats.duplicates import merge_duplicates
from familytool.formats.openai import DocumentError, status
from familytool.formats.openapi_schemas import Schemas, escape, followed, members_of
from familytool.formats.schema import normalise_parameters
from familytool.formats.text import TextError, check_depth
from familytool.formats.yaml_text import parse_yaml
from familytool.model import Json, Tool

NAME = "openapi"
CARRIES = "names, descriptions, JSON Schema with references, the schema of the answer; OpenAPI 2, 3.0 and 3.1, JSON or YAML"
LOST = ""

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
MAX_OPERATIONS = 20_000
RESPONSE_NODES = 2_000
_IN_2 = ("type", "format", "items", "default", "enum", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength",
         "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "multipleOf", "example", "x-nullable")  # fmt: skip
_IGNORED_HEADERS = ("accept", "content-type", "authorization")
"""OpenAPI 3 says that parameters of these names in the header are ignored."""


def looks_like(value: Json) -> bool:
    """Whether this is an OpenAPI document: its parsed JSON, or the text of a YAML file."""
    if isinstance(value, str):
        starts = {line.split(":", 1)[0].strip("\"'{ ") for line in value[:2_000_000].splitlines() if line[:1] not in (" ", "\t", "#", "-")}
        return bool(starts & {"openapi", "swagger"}) and bool(starts & {"paths", "webhooks", "components"})
    return (
        isinstance(value, dict)
        and (str(value.get("openapi", "")).startswith("3.") or str(value.get("swagger", "")) in ("2.0", "2"))
        and any(isinstance(value.get(key), dict) for key in ("paths", "webhooks", "components"))
    )


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """The tools of OpenAPI documents, each a JSON value or YAML text.

    Raises:
        DocumentError: a record that is no OpenAPI document.
    """

    def tools() -> Iterator[Tool]:
        for place, value in records:
            try:
                document = parse_yaml(value) if isinstance(value, str) else value
                check_depth(document)
            except TextError as error:
                raise DocumentError(f"{place}: {error}") from None
            if isinstance(document, str) or not looks_like(document):
                raise DocumentError(f"{place}: no OpenAPI document ('openapi' 3.x or 'swagger' 2.0, and 'paths')")
            yield from tools_of(document, place, rejected)

    return merge_duplicates(tools())


def tools_of(document: dict[str, Json], place: str, rejected: list[str]) -> Iterator[Tool]:
    """One tool for each operation of a parsed document, in its order; what is no operation goes into `rejected` with a sentence."""
    paths = document.get("paths")
    count = 0
    for path, written in paths.items() if isinstance(paths, dict) else []:
        if path.startswith("x-"):
            continue
        item = followed(document, written)
        if not isinstance(item, dict):
            rejected.append(f"{place}: path {path[:80]} is no object of this document")
            continue
        for method, operation in item.items():
            if method.lower() not in METHODS:
                continue
            where = f"{place}: {method.upper()} {path[:80]}"
            count += 1
            if count > MAX_OPERATIONS:
                rejected.append(f"{place}: more than {MAX_OPERATIONS:,} operations; the rest is left out")
                return
            if not isinstance(operation, dict):
                rejected.append(f"{where} is {type(operation).__name__}, no operation")
                continue
            try:
                yield _tool(document, path, method, item, operation, place)
            except ValueError as error:
                rejected.append(f"{where}: {error}")
    if document.get("webhooks"):
        rejected.append(f"{place}: webhooks are calls to the client and no tools; left out")
    if not count:
        rejected.append(f"{place}: no operation under 'paths'")


def _tool(document: dict[str, Json], path: str, method: str, item: dict[str, Json], operation: dict[str, Json], place: str) -> Tool:
    schemas = Schemas(document, "readOnly")
    properties: dict[str, Json] = {}
    root: dict[str, Json] = {"type": "object", "properties": properties}
    required: list[str] = []
    bodies = [p for p in _parameters(document, item, operation, schemas, root) if _add(p, document, properties, required, schemas)]
    for part in _template_names(path):
        if part not in required:
            schemas.note(f"#/properties: path parameter {part} is not declared; read as required")
            properties.setdefault(part, {})
            required.append(part)
    for body in bodies:
        _add_body(str(body.get("name") or "body"), body.get("schema"), body, document, root, required, schemas)
    if "requestBody" in operation:
        body = followed(document, operation["requestBody"])
        if isinstance(body, dict):
            _add_body("body", _content_schema(body, schemas), body, document, root, required, schemas)
        else:
            schemas.note("requestBody is not in this document; read as any further parameters")
            root["additionalProperties"] = True
    if required:
        root["required"] = required
    definitions = schemas.definitions()
    if definitions:
        root["$defs"] = definitions
    if not properties:
        schemas.note("#: no parameters are given; read as a tool without parameters")
    parameters, repairs = normalise_parameters(root)
    identifier = operation.get("operationId")
    name = identifier if isinstance(identifier, str) and identifier.strip() else f"{method.upper()} {path}"
    if name is not identifier:
        schemas.note(f"/operationId: none is given; named '{name[:80]}' by its method and path")
    if operation.get("deprecated") is True:
        schemas.note("the operation is deprecated")
    shared = {"parameters": item["parameters"]} if "parameters" in item else {}
    return Tool(
        name=name,
        description=_description(operation),
        parameters=parameters,
        response=_response(document, operation, schemas),
        source={"format": NAME, "place": place, "status": status(parameters), "version": "1", "uses": "1"},
        notes=(*schemas.notes, *repairs),
        raw={path: {**shared, method: operation}},
    )


def _parameters(
    document: Json, item: dict[str, Json], operation: dict[str, Json], schemas: Schemas, root: dict[str, Json]
) -> list[dict[str, Json]]:
    """The parameters of path and operation, the operation's in place of the path's of the same name and `in`."""
    found: dict[tuple[str, str], dict[str, Json]] = {}
    for listed in (item.get("parameters"), operation.get("parameters")):
        if listed is not None and not isinstance(listed, list):
            schemas.note(f"parameters are {type(listed).__name__} and no list; left out")
            continue
        for written in listed or []:
            parameter = followed(document, written)
            if isinstance(parameter, dict) and isinstance(parameter.get("name"), str) and isinstance(parameter.get("in"), str):
                found[parameter["name"], parameter["in"]] = parameter
            elif isinstance(written, dict) and "$ref" in written:
                schemas.note(
                    f"parameter {str(written['$ref'])[:120]} is not in this document and is not fetched; any further parameter is allowed"
                )
                root["additionalProperties"] = True
            else:
                schemas.note(f"a parameter {str(written)[:60]!r} has no name or no place; left out")
    return list(found.values())


def _add(parameter: dict[str, Json], document: Json, properties: dict[str, Json], required: list[str], schemas: Schemas) -> bool:
    """Add a parameter; True for a body, which is added when all names are known."""
    name, where = parameter["name"], parameter["in"]
    if where == "body":
        return True
    if where == "header" and "openapi" in document and name.lower() in _IGNORED_HEADERS:
        schemas.note(f"header {name} is ignored, as OpenAPI 3 says")
        return False
    if name in properties:
        schemas.note(f"two parameters are named {name}; the one in {where} is named {where}.{name}")
        name = f"{where}.{name}"
    at = f"#/properties/{escape(name)}"
    if "schema" in parameter:
        written = parameter["schema"]
    elif isinstance(parameter.get("content"), dict):
        written = _content_schema(parameter, schemas)
        schemas.note(f"{at}: its value is sent as {next(iter(parameter['content']), 'text')[:60]}")
    else:
        written = {key: parameter[key] for key in _IN_2 if key in parameter}
    schema = schemas.converted(written, at)
    if isinstance(schema, dict):
        if isinstance(parameter.get("description"), str):
            schema["description"] = parameter["description"]
        if "example" in parameter and "schema" in parameter:
            schema.setdefault("examples", [parameter["example"]])
        if parameter.get("deprecated") is True:
            schema["deprecated"] = True
    for key in ("collectionFormat", "style"):
        if isinstance(parameter.get(key), str):
            schemas.note(f"{at}: sent with {key} {parameter[key][:40]}; the argument is the value itself")
    properties[name] = schema
    if parameter.get("required") is True or where == "path":
        required.append(name)
    return False


def _add_body(
    name: str, written: Json, body: dict[str, Json], document: Json, root: dict[str, Json], required: list[str], schemas: Schemas
) -> None:
    """Lift the members of a body among the parameters, or add it as one parameter, as the head of this file says."""
    properties = root["properties"]
    members = members_of(document, written)
    clash = sorted(set(members.properties) & set(properties)) if members else []
    if members is None or not members.properties or clash:
        if name in properties:
            name = next(
                other
                for other in ("requestBody", "request.body", *(f"body{n}" for n in range(len(properties) + 1)))
                if other not in properties
            )
        schemas.note(
            f"#/properties/{name}: the body is one parameter" + (f" (its member {clash[0]} has a parameter's name)" if clash else "")
        )
        schema = schemas.converted(written if isinstance(written, dict | bool) else {}, f"#/properties/{escape(name)}")
        if isinstance(schema, dict) and isinstance(body.get("description"), str):
            schema.setdefault("description", body["description"])
        properties[name] = schema
        if body.get("required") is True:
            required.append(name)
        return
    lifted = {n: s for n, s in members.properties.items() if not any(schemas.is_hidden(branch) for branch in s)}
    if len(lifted) < len(members.properties):
        schemas.note(f"#: readOnly members {', '.join(sorted(set(members.properties) - set(lifted)))[:200]} left out")
    for member, branches in lifted.items():
        different = [branch for at, branch in enumerate(branches) if branch not in branches[:at]]
        at = f"#/properties/{escape(member)}"
        properties[member] = schemas.converted(different[0] if len(different) == 1 else {"allOf": different}, at)
    schemas.note("#: the members of the body are lifted among the parameters")
    needed = [n for n in members.required if n in lifted or n not in members.properties]
    for undeclared in (n for n in needed if n not in properties):
        schemas.note(f"#/required: required parameter {undeclared} is not declared; added without a type")
        properties[undeclared] = {}
    if body.get("required") is True:
        required += [n for n in needed if n not in required]
    elif needed:
        root["dependentRequired"] = {
            n: [other for other in needed if other != n] for n in [*lifted, *(m for m in needed if m not in lifted)]
        }
        schemas.note(f"#: the body is optional; {', '.join(needed)[:200]} required as soon as one of its members is given")
    if members.additional is not None:
        root["additionalProperties"] = schemas.converted(members.additional, "#/additionalProperties")


def _content_schema(holder: dict[str, Json], schemas: Schemas) -> Json:
    """The schema of the JSON content, else of a form, else of the first content (text where it has none)."""
    content = holder.get("content")
    if not isinstance(content, dict) or not content:
        return {}
    rank = {"json": 0, "x-www-form-urlencoded": 1, "form-data": 2}
    kinds = {media: media.split(";")[0].split("/")[-1].split("+")[-1].strip().lower() for media in content}
    media = min(content, key=lambda m: rank.get(kinds[m], 3))
    if kinds[media] != "json":
        schemas.note(f"content is {media[:60]}, not JSON")
    entry = followed(schemas.document, content[media])
    schema = entry.get("schema") if isinstance(entry, dict) else None
    return schema if schema is not None else {} if kinds[media] == "json" else {"type": "string"}


def _response(document: Json, operation: dict[str, Json], request: Schemas) -> dict[str, Json]:
    """The schema of the answer 200, else of the first other success; empty where there is none or it is too large."""
    answers = operation.get("responses")
    if not isinstance(answers, dict):
        return {}
    codes = sorted(code for code in answers if code[:1] == "2" and len(code) == 3)
    answer = followed(document, answers[codes[0]]) if codes else None
    if not isinstance(answer, dict):
        return {}
    schemas = Schemas(document, "writeOnly", limit=RESPONSE_NODES)
    try:
        schema: Any = schemas.converted(answer["schema"] if "schema" in answer else _content_schema(answer, schemas), "response")
        definitions = schemas.definitions()
        check_depth(schema)
    except ValueError as error:
        request.note(f"response: left out, {error}")
        return {}
    if not isinstance(schema, dict) or not schema:
        return {}
    return {**schema, "$defs": definitions} if definitions else schema


def _description(operation: dict[str, Json]) -> str:
    texts = [operation[key].strip() for key in ("summary", "description") if isinstance(operation.get(key), str) and operation[key].strip()]
    return texts[-1] if len(texts) == 2 and texts[1].startswith(texts[0].rstrip(".")) else "\n".join(texts)


def _template_names(path: str) -> list[str]:
    return [part.split("}", 1)[0] for part in path.split("{")[1:] if "}" in part]
