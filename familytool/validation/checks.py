"""The table of checks. A new one is a function (sample, graph) -> Check and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from familytool.graph import KnowledgeGraph
from familytool.model import Check, CheckName, Sample
from familytool.validation.feasibility import check_feasibility
from familytool.validation.intent import check_intent
from familytool.validation.parameters import check_parameters
from familytool.validation.syntax import check_syntax

CHECKS: dict[CheckName, Callable[[Sample, KnowledgeGraph], Check]] = {
    "syntax": check_syntax,
    "intent": check_intent,
    "parameters": check_parameters,
    "feasibility": check_feasibility,
}


def check_sample(sample: Sample, graph: KnowledgeGraph, checks: Iterable[CheckName] = tuple(CHECKS)) -> list[Check]:
    """The verdicts of the named checks, in the order of the table."""
    wanted = set(checks)
    return [check(sample, graph) for name, check in CHECKS.items() if name in wanted]
