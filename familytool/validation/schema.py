"""JSON Schema 2020-12 for tool calls, with the readings that tool documents need.

jsonschema validates; differences from it are few: formats are checked (HH:MM, time without zone, date), patterns have their ECMA-262
meaning and are never run where they could take long, multiples are decimal, a document's own default and `nullable` are always
legal, and references are never fetched. A call that fails is looked at a second time, for the words of its findings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from familytool.formats.patterns import compile_pattern
from familytool.model import Finding, Json
from familytool.validation.coercion import conversions
from familytool.validation.complaints import Complaint
from familytool.validation.evaluated import declared_names
from familytool.validation.keywords import shown
from familytool.validation.near_names import near_hint
from familytool.validation.special_values import Path, Standing, pointer_of, value_at
from familytool.validation.validators import complaints_without_defaults, judged
from familytool.validation.value_formats import FORMATS

__all__ = ["FORMATS", "compile_pattern", "schema_findings"]


def schema_findings(
    schema: dict[str, Json], arguments: Json, pointer: str, standing: Standing | None = None, notes: list[Finding] | None = None
) -> list[Finding] | None:
    """All ways in which these arguments break the schema, in stable order; None where the schema itself cannot be used.

    Args:
        schema: a schema as `normalise_parameters` gives it.
        arguments: the arguments of a call.
        pointer: the JSON pointer of the arguments, with which every path begins.
        standing: places whose value is not known yet, or is an entity's placeholder.
        notes: gets a finding that fails nothing for each value that is legal only because the document names it itself.

    A missing parameter is reported at the object that lacks it, with its name as the value; an unknown one at its own place.
    """
    found, is_legal_by_default = judged(schema, arguments, standing)
    if notes is not None and is_legal_by_default:
        notes += _notes(schema, arguments, pointer, found or [], standing)
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


def _notes(schema: Json, arguments: Json, pointer: str, found: list[Complaint], standing: Standing | None) -> Iterator[Finding]:
    """A note for each value that is legal only because the document names it: its default (`dontcare` beside an enum), or null."""
    illegal = {complaint.path for complaint in found}
    places = dict.fromkeys(complaint.path for complaint in complaints_without_defaults(schema, arguments, standing) or [])
    for path in places:
        if path not in illegal:
            value = value_at(arguments, path)
            message = f"{shown(value)} is legal only because the document names it itself (its default, or null where it is nullable)"
            yield Finding(code="legal_by_default", path=pointer + pointer_of(path), message=message, value=value)
