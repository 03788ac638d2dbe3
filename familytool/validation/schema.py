"""JSON Schema 2020-12 for tool calls, with the readings that tool documents need.

jsonschema validates; differences from it are few: formats are checked (HH:MM, time without zone, date), patterns have their ECMA-262
meaning and are never run where they could take long, multiples are decimal, a document's own default and `nullable` are always
legal, and references are never fetched. A call that fails is looked at a second time, for the words of its findings.
"""

from __future__ import annotations

import json

from familytool.model import Finding, Json
from familytool.validation.coercion import conversions
from familytool.validation.complaints import Complaint
from familytool.validation.evaluated import declared_names
from familytool.validation.near_names import near_hint
from familytool.validation.patterns import compile_pattern
from familytool.validation.special_values import Path, Standing, pointer_of, value_at
from familytool.validation.validators import complaints_about, complaints_without_defaults
from familytool.validation.value_formats import FORMATS

__all__ = ["FORMATS", "compile_pattern", "legal_by_default", "schema_findings"]


def schema_findings(schema: dict[str, Json], arguments: Json, pointer: str, standing: Standing | None = None) -> list[Finding] | None:
    """All ways in which these arguments break the schema, in stable order; None where the schema itself cannot be used.

    Args:
        schema: a schema as `normalise_parameters` gives it.
        arguments: the arguments of a call.
        pointer: the JSON pointer of the arguments, with which every path begins.
        standing: places whose value is not known yet, or is an entity's placeholder.

    A missing parameter is reported at the object that lacks it, with its name as the value; an unknown one at its own place.
    """
    found = complaints_about(schema, arguments, standing)
    if not found:
        return found if found is None else []
    converted = conversions(schema, arguments, found, standing)
    findings = {(c.path, c.code, c.message): _finding(c, arguments, pointer, converted) for c in found}
    return sorted(findings.values(), key=lambda finding: (finding.path, finding.code, finding.message))


def _finding(complaint: Complaint, arguments: Json, pointer: str, converted: dict[Path, Json]) -> Finding:
    value = value_at(arguments, complaint.path) if complaint.subject is None else complaint.subject
    return Finding(
        code=complaint.code,
        path=pointer + pointer_of(complaint.path),
        message=complaint.message[:300],
        value=None if isinstance(value, dict) else value,
        hint=_hint(complaint, value, converted),
    )


def _hint(complaint: Complaint, value: Json, converted: dict[Path, Json]) -> str:
    if complaint.path in converted and complaint.keyword in ("type", "enum", "const"):
        return f"coercible: {json.dumps(converted[complaint.path], ensure_ascii=False)}"
    if complaint.code == "unknown_parameter" and complaint.path:
        return near_hint(str(complaint.path[-1]), declared_names(complaint.schema))
    if complaint.keyword in ("enum", "const") and isinstance(value, str):
        return near_hint(value, (member for member in complaint.wanted if isinstance(member, str)))
    return ""


def legal_by_default(schema: dict[str, Json], arguments: Json, pointer: str) -> list[str]:
    """Places of values that are legal only because the document names them: its default (`dontcare` beside an enum), or null.

    >>> genre = {"type": "string", "enum": ["War", "Drama"], "default": "dontcare"}
    >>> legal_by_default({"type": "object", "properties": {"genre": genre}}, {"genre": "dontcare"}, "")
    ['/genre']
    """
    illegal = {complaint.path for complaint in complaints_about(schema, arguments) or []}
    places = dict.fromkeys(complaint.path for complaint in complaints_without_defaults(schema, arguments) or [])
    return [pointer + pointer_of(path) for path in places if path not in illegal]
