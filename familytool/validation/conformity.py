"""How many golden calls fit the schema of their tool, call by call: the figure that papers and trackers quote."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from familytool.model import Check, Sample
from familytool.validation.codes import HARMLESS
from familytool.validation.schema import schema_findings


@dataclass
class Conformity:
    """Counts of golden calls: `checked` are those of offered tools whose schema can be used.

    `conform` counts as the parameters check does, with references to earlier results and entities of the graph legal in any
    position; `conform_as_text` counts the same calls by their schema alone, as if a reference were the text it is written as.
    `not_offered` are calls of tools that are no candidates, `unusable_schema` those of candidates whose schema cannot be used.
    """

    n: int = 0
    not_offered: int = 0
    unusable_schema: int = 0
    unparsed: int = 0
    checked: int = 0
    conform: int = 0
    conform_as_text: int = 0
    with_reference: int = 0

    def add(self, sample: Sample, checks: Iterable[Check]) -> None:
        """Count the golden calls of one sample, given its verdicts."""
        self.unparsed += len(sample.provenance.get("unparsed", ()))
        found = next((check.findings for check in checks if check.check == "parameters"), None)
        if found is None:
            return
        at_fault = {_call_of(f.path) for f in found if f.path.startswith("/calls/") and f.code not in ("wrong_entity", *HARMLESS)}
        refer = {_call_of(f"/calls{p}") for p, source in sample.argument_sources.items() if source.get("source") in ("result", "hole")}
        for number, call in enumerate(sample.calls):
            self.n += 1
            schemas = [tool.parameters for tool in sample.candidate_tools if tool.name == call.name]
            results = [result for result in (schema_findings(schema, call.arguments, "") for schema in schemas) if result is not None]
            if not schemas:
                self.not_offered += 1
                continue
            if not results:
                self.unusable_schema += 1
                continue
            self.checked += 1
            self.conform += number not in at_fault
            self.conform_as_text += min(map(len, results)) == 0
            self.with_reference += number in refer

    def as_json(self) -> dict[str, Any]:
        """The counts as `summary.json` holds them; a share is null where nothing was checked."""
        share = self.conform / self.checked if self.checked else None
        return {
            "n": self.n, "checked": self.checked, "conform": self.conform, "conform_share": share, "conform_as_text": self.conform_as_text,
            "with_reference": self.with_reference, "not_offered": self.not_offered,
            "unusable_schema": self.unusable_schema, "unparsed": self.unparsed,
        }  # fmt: skip


def _call_of(pointer: str) -> int:
    """The number of the call that a pointer such as `/calls/1/arguments/city` is in."""
    return int(pointer.split("/")[2])
