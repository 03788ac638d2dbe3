"""Tool documents from a file or folder, in whatever format they are.

A format is one file of this folder (`NAME`, `CARRIES`, `LOST`, `looks_like`, `read_tools`, and `write_tools` where it can be
written) and one line in the table below. The rule of detection: a file is of the first format of the table that claims its
first record; the more particular formats stand first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Literal

from familytool.errors import FamilytoolError, UsageError
from familytool.formats import (
    anthropic,
    api_bank,
    bfcl,
    familytool_2025_tools,
    gemini,
    mcp,
    mtu_bench,
    nestful,
    openai,
    openai_functions,
    openai_responses,
    openapi,
    python_functions,
    seal_tools,
    taskbench,
    tau_bench,
    toolace,
    toolalpaca,
    toolbench,
    xlam,
)
from familytool.formats.benchmark_files import holds_lines, read_records, whole_value
from familytool.formats.foreign_files import folder_files, read_text
from familytool.formats.openai import DocumentError
from familytool.model import Json, Tool

SUFFIXES = (".json", ".jsonl", ".yaml", ".yml", ".py")


@dataclass(frozen=True)
class ToolFormat:
    """A format of tool documents: how it is recognised, read and (perhaps) written, what it carries, and what is lost."""

    name: str
    looks_like: Callable[[Json], bool]
    read_tools: Callable[[Iterable[tuple[str, Json]], list[str]], Iterator[Tool]]
    write_tools: Callable[[Iterable[Tool]], Iterator[Json]] | None
    container: Literal["json", "jsonl"]
    carries: str
    lost: str


def _format(module: ModuleType) -> ToolFormat:
    return ToolFormat(
        module.NAME,
        module.looks_like,
        module.read_tools,
        getattr(module, "write_tools", None),
        getattr(module, "CONTAINER", "json"),
        module.CARRIES,
        module.LOST,
    )


TOOL_FORMATS: dict[str, ToolFormat] = {
    module.NAME: _format(module)
    for module in (
        familytool_2025_tools, mtu_bench, bfcl, mcp, anthropic, gemini, xlam, toolace, seal_tools, nestful, api_bank, toolbench, toolalpaca, taskbench,
        tau_bench, openapi, python_functions, openai_responses, openai_functions, openai,
    )
}  # fmt: skip
"""All formats by name, in the order of detection."""


def read_documents(path: Path, rejected: list[str] | None = None, format_name: str = "auto") -> list[Tool]:
    """All tool documents of a file, or of the files of a folder (in a folder with `*_eval.jsonl`, of these).

    Args:
        path: file or folder.
        rejected: gets a sentence for each entry that is no tool document, so that nothing is dropped unseen.
        format_name: a name of `TOOL_FORMATS`, or "auto" for the rule of detection, file by file.

    Raises:
        UsageError: no such path or format, or a folder without such files.
        FamilytoolError: a file that is not JSON, is cut off, or holds something else than tool documents; file, line, way out.
    """
    rejected = rejected if rejected is not None else []
    groups: dict[str, list[tuple[str, Json]]] = {}
    for file in document_files(path):
        try:
            records = list(_records(file, rejected))
            name = _format_of(records, file, format_name)
        except FamilytoolError as error:
            if not path.is_dir() or isinstance(error, UsageError):
                raise
            rejected.append(f"{str(error).removesuffix('.')}; the file is left out")
            continue
        groups.setdefault(name, []).extend(records)
    tools: list[Tool] = []
    for name, records in groups.items():
        try:
            tools += TOOL_FORMATS[name].read_tools(records, rejected)
        except DocumentError as error:
            raise FamilytoolError(f"{path}: {error}; mend or remove this entry and run again.") from None
    if not tools:
        first = f" ({rejected[0]})" if rejected else ""
        raise FamilytoolError(f"{path}: no tool document was found{first}.")
    return tools


def _format_of(records: list[tuple[str, Json]], file: Path, format_name: str) -> str:
    if format_name != "auto":
        if format_name not in TOOL_FORMATS:
            raise UsageError(f"'{format_name}': no format of tool documents; `familytool formats` lists them.")
        return format_name
    if not records:
        raise FamilytoolError(f"{file}: the file is empty.")
    for name, known in TOOL_FORMATS.items():
        if known.looks_like(records[0][1]):
            return name
    found = f"{type(records[0][1]).__name__} {str(records[0][1])[:40]!r}"
    raise FamilytoolError(
        f"{records[0][0]}: {found} is no tool document of a known format; `familytool formats` lists them, --from names one."
    )


def document_files(path: Path) -> list[Path]:
    """The files that `path` stands for, of a folder those of `folder_files` or its own `*_eval.jsonl` (UsageError: none)."""
    if path.exists() and not path.is_dir():
        return [path]
    if not path.is_dir():
        raise UsageError(f"{path}: no such file or folder; --documents takes a tool list (JSON), a JSONL file, or a folder of them.")
    found = folder_files(path, SUFFIXES)
    files = [file for file in found if file.parent == path and file.name.endswith("_eval.jsonl")] or found
    if not files:
        raise UsageError(f"{path}: the folder has no file ending in {', '.join(SUFFIXES)}.")
    return files


def _records(file: Path, rejected: list[str]) -> Iterator[tuple[str, Json]]:
    """(place, value) pairs of a file: its text, its lines or its one value; a line that cannot be read goes into `rejected`.

    Raises:
        FamilytoolError: a file in which nothing can be read.
    """
    if file.suffix in (".py", ".yaml", ".yml"):
        yield file.name, read_text(file).replace("\r\n", "\n")
        return
    records: Iterable[tuple[str, Json]] = read_records(file, rejected) if holds_lines(file) else [(file.name, whole_value(file))]
    complaint, is_readable = "", False
    for place, value in records:
        if has_half_pair(value):
            complaint = complaint or f"{file.parent / place}: {HALF_PAIR}; replace it in the file."
            rejected.append(f"{place}: {HALF_PAIR}")
        else:
            is_readable = True
            yield place, value
    if complaint and not is_readable:
        raise FamilytoolError(complaint)


HALF_PAIR = "holds half of a surrogate pair (a broken emoji)"


def has_half_pair(value: Json) -> bool:
    """Whether a text in a value holds half of a surrogate pair, which no file of UTF-8 can hold."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
