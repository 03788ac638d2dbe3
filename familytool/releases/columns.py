"""The columns of a release, declared and never inferred: what differs from row to row is compact JSON text in the author's key order."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from familytool.formats.familytool_release import JSON_COLUMNS
from familytool.model import Json, Sample, Tool
from familytool.runs import tool_object

if TYPE_CHECKING:
    import pyarrow


def sample_schema() -> pyarrow.Schema:
    """The Arrow schema of the sample configs."""
    import pyarrow as pa

    triple = pa.struct([("head", pa.string()), ("relation", pa.string()), ("tail", pa.string())])
    typed: dict[str, pa.DataType] = {"golden_triples": pa.list_(triple), "ordered": pa.bool_()}
    fields = [(name, typed.get(name, pa.string())) for name in Sample.model_fields if name != "raw"]
    return pa.schema([*fields, ("hops", pa.int32()), ("depth", pa.int32()), ("shape", pa.string()), ("version", pa.string())])


def tool_schema() -> pyarrow.Schema:
    """The Arrow schema of the `tools` config; parameters and response are JSON text."""
    import pyarrow as pa

    return pa.schema([(name, pa.string()) for name in ("name", "description", "parameters", "response")])


def graph_schema() -> pyarrow.Schema:
    """The Arrow schema of the `graph` config."""
    import pyarrow as pa

    return pa.schema([(name, pa.string()) for name in ("graph_id", "head", "relation", "tail")])


def compact(value: Json) -> str:
    """JSON text without spaces, characters and key order kept."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def sample_row(sample: Sample, version: str) -> dict[str, Any]:
    """A sample as a row of a release."""
    row = sample.model_dump(mode="json", exclude={"raw", "candidate_tools"})
    row["candidate_tools"] = [tool_object(tool) for tool in sample.candidate_tools]
    for name in JSON_COLUMNS:
        row[name] = compact(row[name])
    return {**row, "hops": sample.hops, "depth": sample.depth, "shape": sample.shape, "version": version}


def tool_row(tool: Tool) -> dict[str, str]:
    """A tool document as a row of a release."""
    return {"name": tool.name, "description": tool.description, "parameters": compact(tool.parameters), "response": compact(tool.response)}
