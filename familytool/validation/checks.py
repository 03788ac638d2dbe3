"""The table of checks, and the choice that a campaign makes of them: which, in what order, how, and which of its own.

A new check of the package is a function (sample, graph) -> Check and a line in `CHECKS`. A campaign's own check is the same
function in a module of its own, named `module:function`. Keyword-only parameters of a check are its settings.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeAlias

from familytool.errors import FamilytoolError, UsageError
from familytool.graph import KnowledgeGraph
from familytool.model import Check, Json, Sample
from familytool.validation.codes import HARMLESS
from familytool.validation.feasibility import check_feasibility
from familytool.validation.intent import check_intent
from familytool.validation.parameters import check_parameters
from familytool.validation.syntax import check_syntax

CheckFunction: TypeAlias = Callable[[Sample, KnowledgeGraph], Check]
Checks: TypeAlias = Mapping[str, CheckFunction]
"""Checks by name, in the order in which they run."""

CHECKS: dict[str, Callable[..., Check]] = {
    "syntax": check_syntax,
    "intent": check_intent,
    "parameters": check_parameters,
    "feasibility": check_feasibility,
}


def chosen_checks(
    names: Iterable[str],
    settings: Mapping[str, Mapping[str, Json]] | None = None,
    ignore: Iterable[str] = (),
    folder: Path | None = None,
) -> dict[str, CheckFunction]:
    """The checks of these names, in this order, with their settings.

    Args:
        names: names of `CHECKS`, or `module:function` for a check of one's own (it goes by the function's name).
        settings: for a check's name, values for its keyword-only parameters.
        ignore: codes that are told but fail nothing.
        folder: where modules of one's own are looked for first (the campaign's folder).

    Raises:
        UsageError: a name or setting that is not there, or a name given twice.
    """
    left = dict(settings or {})
    ignored = frozenset(ignore) | HARMLESS
    found: dict[str, CheckFunction] = {}
    for name in names:
        function = CHECKS.get(name) or _own_check(name, folder)
        short = name.rpartition(":")[2]
        if short in found:
            raise UsageError(f"validation.checks: '{short}' is named twice.")
        found[short] = partial(_run, short, ":" in name, partial(function, **_options(short, function, left.pop(short, {}))), ignored)
    if left:
        raise UsageError(f"validation.settings: '{next(iter(left))}' is not among the checks ({', '.join(found)}).")
    return found


def _own_check(name: str, folder: Path | None) -> Callable[..., Check]:
    module_name, colon, function_name = name.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module_name.split("."), function_name)):
        raise UsageError(f"validation.checks: '{name}' is none of {', '.join(CHECKS)}, and no 'module:function' of your own.")
    before = list(sys.path)
    if folder is not None:
        sys.path.insert(0, str(folder.resolve()))
    try:
        function = getattr(importlib.import_module(module_name), function_name, None)
    except ImportError as error:
        raise UsageError(f"validation.checks: '{name}' cannot be imported ({error}); put the module beside the campaign file.") from None
    finally:
        sys.path[:] = before
    if not callable(function):
        raise UsageError(f"validation.checks: the module '{module_name}' has no function '{function_name}'.")
    return function  # type: ignore[no-any-return]


def source_hash(name: str, folder: Path | None) -> str:
    """The SHA-256 of the module of a check of one's own, so that a run knows when the check has changed."""
    module = inspect.getmodule(_own_check(name, folder))
    source = Path(getattr(module, "__file__", None) or "")
    return hashlib.sha256(source.read_bytes()).hexdigest() if source.is_file() else ""


def _options(name: str, function: Callable[..., Check], wanted: Mapping[str, Json]) -> dict[str, Json]:
    known = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    unknown = next((key for key in wanted if key not in known), None)
    if unknown is not None:
        raise UsageError(f"validation.settings.{name}: no setting '{unknown}'; there are {', '.join(known) or 'none'}.")
    return dict(wanted)


def _run(name: str, is_own: bool, function: CheckFunction, ignored: frozenset[str], sample: Sample, graph: KnowledgeGraph) -> Check:
    """The verdict of one check; findings of ignored codes alone are a pass."""
    try:
        check = function(sample, graph)
    except Exception as error:
        if not is_own:
            raise
        raise FamilytoolError(
            f"the check '{name}' failed on sample '{sample.id}' ({type(error).__name__}: {error}); mend it and run again."
        ) from error
    if not isinstance(check, Check):
        raise FamilytoolError(f"the check '{name}' gave {type(check).__name__} for sample '{sample.id}'; it must give a Check.")
    if is_own:
        check = check.model_copy(update={"check": name, "sample_id": sample.id})
    if check.verdict == "fail" and check.findings and all(finding.code in ignored for finding in check.findings):
        return check.model_copy(update={"verdict": "pass"})
    return check


ALL_CHECKS: dict[str, CheckFunction] = chosen_checks(CHECKS)


def check_sample(sample: Sample, graph: KnowledgeGraph, checks: Checks = ALL_CHECKS) -> list[Check]:
    """The verdicts of the checks, in their order."""
    return [check(sample, graph) for check in checks.values()]
