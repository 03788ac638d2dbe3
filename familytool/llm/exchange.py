"""Ledgers as JSONL, so that a run can be published and read again by others, with a parser of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field, ValidationError

from familytool.errors import FamilytoolError
from familytool.llm.jsonl import Problem, Problems, read_objects
from familytool.llm.ledger import Ledger
from familytool.llm.redact import holds_secret
from familytool.llm.requests import Outcome, Request
from familytool.llm.rows import LARGEST, Row, json_text, plain
from familytool.llm.store import SELECT, open_for_reading, told
from familytool.model import Json, Record, canonical
from familytool.runs import RunFolder

GROUP_BYTES = 4 << 20
"""Text of the rows that are committed at once."""


class ExportedRow(Record):
    """A line of an export: the columns of the ledger, `request` and `response` as objects."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    key: str
    request: dict[str, Json]
    sample_index: int
    purpose: str
    model: str
    endpoint: str
    response: dict[str, Json]
    outcome: Outcome
    prompt_tokens: int | None = Field(ge=0, le=LARGEST)
    output_tokens: int | None = Field(ge=0, le=LARGEST)
    price: float | None = Field(ge=0, allow_inf_nan=False)
    started: str
    finished: str


class ImportReport(Record):
    """What became of the lines of an import; `rekeyed` of the imported or known ones stood under another key in the file.

    `known`: the ledger held the same answer. `conflicts`: it held another one, which stayed. `refused`: no row. `problems` tells the
    first of the last three kinds by line.
    """

    imported: int = 0
    known: int = 0
    rekeyed: int = 0
    conflicts: int = 0
    refused: int = 0
    problems: tuple[Problem, ...] = ()


def export_ledger(path: Path, out: Path, secrets: Sequence[str] = ()) -> int:
    """Write the rows of a ledger in key order, a line each; the number of rows. Equal ledgers make equal files.

    Raises:
        FamilytoolError: no ledger, no place to write, or a row that holds one of `secrets` (the file is not written then).
    """
    count = 0

    def lines() -> Iterator[str]:
        nonlocal count
        with closing(open_for_reading(path)) as connection, told(path, "read"):
            for found in connection.execute(f"{SELECT} ORDER BY key"):
                text = _line(Row(*found))
                if holds_secret(text, secrets):
                    raise FamilytoolError(
                        f"{path}: the row {found[0][:12]} holds a secret and is not exported; take it out of the prompts and run again."
                    )
                count += 1
                yield text

    RunFolder(out.parent).write_chunks(out.name, lines())
    return count


def _line(row: Row) -> str:
    """A row as a line; request and response are spliced in as they are stored."""
    columns = (value if name in ("request", "response") else json.dumps(value, ensure_ascii=False) for name, value in row._asdict().items())
    return "{" + ", ".join(f'"{name}": {value}' for name, value in zip(Row._fields, columns, strict=True)) + "}\n"


def import_ledger(source: Path, path: Path) -> ImportReport:
    """Add the rows of an export to a ledger, which is made if there is none. Twice the same file changes nothing.

    Keys are computed anew from the requests: a row whose key differs is imported under the new one and told (another version hashed
    otherwise, or its request was edited). A row that is in the ledger stays as it is.

    Raises:
        FamilytoolError: the file cannot be read, or the ledger not written.
    """
    problems = Problems()
    counts = dict.fromkeys(("imported", "known", "rekeyed", "conflicts", "refused"), 0)
    group: list[tuple[int, Row]] = []
    size = 0

    def commit() -> None:
        for (number, row), new in zip(group, ledger.store([row for _, row in group]), strict=True):
            if new:
                counts["imported"] += 1
            elif (there := ledger.row(row.key)) is not None and _is_same(there.response, row.response):
                counts["known"] += 1
            else:
                counts["conflicts"] += 1
                problems.add(source, number, f"the ledger holds another answer under {row.key[:12]}, which stays")
        group.clear()

    with Ledger(path) as ledger:
        for number, value in read_objects(source):
            try:
                row = _row(value)
            except ValueError as error:
                counts["refused"] += 1
                problems.add(source, number, str(error))
                continue
            if isinstance(value, dict) and value["key"] != row.key:
                counts["rekeyed"] += 1
                problems.add(source, number, f"its key is {row.key[:12]} and not {value['key'][:12]}; it is taken under the former")
            group.append((number, row))
            size += len(row.request) + len(row.response)
            if size >= GROUP_BYTES:
                commit()
                size = 0
        commit()
    return ImportReport(**counts, problems=tuple(problems.first))


def _row(value: dict[str, Any] | str) -> Row:
    """The row of a line, under the key of its request; ValueError says why it is none."""
    if isinstance(value, str):
        raise ValueError(value)
    try:
        line = ExportedRow.model_validate(value)
        request = Request.model_validate(line.request)
        texts = json_text(request.model_dump()), json_text(line.response)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"no row of a ledger ({field}: {first['msg'].lower()})") from None
    except FamilytoolError:
        raise ValueError("no row of a ledger (nested without end)") from None
    if (plain(request.model), request.sample_index) != (line.model, line.sample_index):
        raise ValueError("no row of a ledger (model or sample_index is not that of its request)")
    return Row(
        key=request.key,
        request=texts[0],
        response=texts[1],
        **{name: getattr(line, name) for name in Row._fields if name not in ("key", "request", "response")},
    )


def _is_same(one: str, other: str) -> bool:
    return one == other or canonical(json.loads(one)) == canonical(json.loads(other))
