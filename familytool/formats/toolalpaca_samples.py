"""ToolAlpaca evaluation files as a benchmark (`eval_simulated.json`, `eval_real.json`, Apache-2.0); read only.

A record is an API: its OpenAPI document as text, `Instructions`, and for each of these one list in `Golden_Answers` of actions
`{Action, Action_Input: JSON text}`. An instruction is a sample. Inputs may have holes, `${x from y}` or `${x}`: where these make the
text no JSON, the call is kept as unparsed, and if it is JSON but for its holes, with the reading `{name, arguments, argument_sources}`
in which they are marked. A hole is never an argument's literal value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial

from familytool.formats import toolalpaca
from familytool.formats.benchmark_files import Source, read_records
from familytool.formats.benchmark_rows import (
    Distinct,
    Golden,
    add_call,
    add_references,
    add_unparsed,
    distinct_ids,
    each_sample,
    files_of,
    made_sample,
    result_source,
    sources_in,
)
from familytool.formats.openai import shown
from familytool.formats.text import TextError, parse_json
from familytool.model import Json, Sample, Tool

NAME = "toolalpaca"
CARRIES = "the operations of an API for each of its instructions, golden actions, holes in them as text or as references"
LOST = "descriptions of an API and its functions in words; an instruction without a golden answer is no sample"

_HOLE = re.compile(r"\$\{([^{}\"\n]{1,200})\}")


def looks_like(record: Json) -> bool:
    """Whether a record is an API of ToolAlpaca with its instructions."""
    return toolalpaca.looks_like(record) and isinstance(record, dict) and isinstance(record.get("Instructions"), list)


def read_samples(source: Source, rejected: list[str]) -> Iterator[Sample]:
    """The samples of a file, or of the `eval_*.json` files of a folder; what cannot be read goes into `rejected`."""
    distinct = distinct_ids(source.benchmark)
    for file in files_of(source.path, looks_like, rejected, "eval_*.json"):
        for place, entry in read_records(file, rejected):
            try:
                if not looks_like(entry):
                    raise ValueError(f"{shown(entry)} is no API with Documentation and Instructions")
                tools = _tools(place, entry, rejected)
            except ValueError as error:
                rejected.append(f"{place}: {str(error).removeprefix(f'{place}: ')}")
                continue
            yield from each_sample(_instructions(place, entry, rejected), partial(_sample, source, tools, distinct, entry), rejected)


def _tools(place: str, entry: dict[str, Json], rejected: list[str]) -> tuple[Tool, ...]:
    """The operations; one without an operationId is called as `Function_Projection` calls its path and method."""
    projection = entry.get("Function_Projection")
    named = {
        f"{str(where[1]).upper()} {where[0]}": name
        for name, where in (projection.items() if isinstance(projection, dict) else ())
        if isinstance(where, list) and len(where) == 2 and name.strip()
    }
    tools: list[Tool] = []
    complaints: list[str] = []
    for tool in toolalpaca.read_tools([(place, entry)], complaints):
        if tool.name in named:
            note = f"called '{named[tool.name]}', as Function_Projection says"
            tool = tool.model_copy(update={"name": named[tool.name], "notes": (*tool.notes, note)})
        tools.append(tool)
    if not tools:
        raise ValueError(f"{(complaints or ['no operation'])[0]}; its {len(entry['Instructions'])} instructions are left out")
    rejected += complaints
    return tuple(tools)


def _instructions(place: str, entry: dict[str, Json], rejected: list[str]) -> Iterator[tuple[str, tuple[int, Json, Json]]]:
    """Place of each instruction, with its number, its text and its golden answer."""
    instructions, answers = entry["Instructions"], entry.get("Golden_Answers")
    answers = answers if isinstance(answers, list) else []
    for number, instruction in enumerate(instructions, 1):
        if number <= len(answers):
            yield f"{place}, instruction {number}", (number, instruction, answers[number - 1])
        else:
            rejected.append(f"{place}, instruction {number}: there is no golden answer to it")
    if len(answers) > len(instructions):
        rejected.append(f"{place}: {len(answers) - len(instructions)} golden answers have no instruction")


def _sample(
    source: Source, tools: tuple[Tool, ...], distinct: Distinct, entry: dict[str, Json], place: str, asked: tuple[int, Json, Json]
) -> Sample:
    number, instruction, answer = asked
    golden = Golden()
    if not isinstance(answer, list):
        add_unparsed(golden, 0, TextError(f"the golden answer is {shown(answer)}, not a list of actions"), answer)
    for at, action in enumerate(answer if isinstance(answer, list) else []):
        fields = action if isinstance(action, dict) else {"Action": action}
        name, written = fields.get("Action"), fields.get("Action_Input")
        find = partial(_holes, golden=golden, number=len(golden.calls), offered={tool.name for tool in tools})
        if add_call(golden, at, name, written, action, text_is_usual=True):
            add_references(golden, find)
        elif isinstance(name, str) and isinstance(written, str):
            _add_reading(golden, name, written, find)
    original = f"{entry['Name']}-{number}"
    raw = {"Name": entry["Name"], "Instruction": instruction, "Golden_Answer": answer}
    category = entry["Category"] if isinstance(entry.get("Category"), str) else ""
    sample_id = distinct(original, number, golden.notes)
    return made_sample(source, sample_id, instruction, tools, golden, {"format": NAME, "place": place, "id": original}, raw, category)


def _add_reading(golden: Golden, name: str, written: str, find: Callable[[str], list[dict[str, Json]]]) -> None:
    """Add to the unparsed call added last how it reads if each of its holes is a value, if that is JSON."""
    try:
        arguments = parse_json(_with_quoted_holes(written))
    except TextError:
        return
    golden.unparsed[-1]["reading"] = {
        "name": name, "arguments": arguments, "argument_sources": sources_in(arguments, "/arguments", find)
    }  # fmt: skip


def _with_quoted_holes(text: str) -> str:
    """The text with quotes around each hole that stands where JSON wants a value.

    >>> _with_quoted_holes('{"id": ${id from find}, "t": "${x}"}')
    '{"id": "${id from find}", "t": "${x}"}'
    """
    parts, at, quoted = [], 0, False
    while at < len(text):
        hole = None if quoted else _HOLE.match(text, at)
        if hole:
            parts.append(json.dumps(hole[0], ensure_ascii=False))
            at = hole.end()
            continue
        width = 2 if quoted and text[at] == "\\" else 1
        quoted = quoted != (text[at] == '"')
        parts.append(text[at : at + width])
        at += width
    return "".join(parts)


def _holes(text: str, golden: Golden, number: int, offered: set[str]) -> list[dict[str, Json]]:
    """The sources of the holes in a text of call `number`: `${x from y}` is the result x of the tool y, where there is such a tool.

    `{x}` is a hole where it is the whole text.
    """
    earlier = [call.name for call in golden.calls[:number]]
    found: list[dict[str, Json]] = []
    for hole in _HOLE.finditer(text):
        result, _, tool = (part.strip() for part in hole[1].rpartition(" from "))
        if result and (tool in offered or tool in earlier):
            call = next((at for at in range(len(earlier) - 1, -1, -1) if earlier[at] == tool), None)
            found.append(result_source(call, result, hole[0], embedded=hole[0] != text))
        else:
            found.append({"source": "hole", "text": hole[0]})
    if not found and len(text) > 2 and text[0] == "{" and text[-1] == "}" and not set(text[1:-1]) & set('{}"\n'):
        found.append({"source": "hole", "text": text})
    return found
