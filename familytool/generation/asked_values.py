"""Values of the kinds that the catalogue does not have, made up by a model and checked one by one."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable

from familytool.generation.extracted import MOST_VALUES, Dropped, NewRelation, fingerprint, value_fault
from familytool.generation.in_order import Questions
from familytool.generation.preference_rules import Candidate, derived_relation, dropped_candidate, is_known_kind, takes_text
from familytool.generation.schema_values import Conforms
from familytool.generation.usable import MIN_VALUES, Parameter
from familytool.llm.asking import Model, Reading, ask_for, closed_object, keys_of, read_object
from familytool.llm.prompts import delimited, render

VALUES = closed_object({"values": {"type": "array", "items": {"type": "string"}}})


def values_prompt(relation: NewRelation, parameters: Iterable[tuple[Candidate, Parameter]], wanted: int, model: Model) -> str:
    """The question for the values of a new kind; at most four different parameters are shown."""
    shown = list(dict.fromkeys(json.dumps({"tool": c.tool.name[:100], "parameter": c.path[:100], "schema": p.schema}, ensure_ascii=False)[:1500]
                               for c, p in parameters))[:4]  # fmt: skip
    slots = {"relation": relation.relation, "wording": relation.wordings[0], "wanted": str(wanted)}
    return render(model.template("familytool.generation", "values"), {**slots, "parameters": delimited("parameters", "\n".join(shown))})


def read_values(text: str) -> list[str]:
    """The texts of an answer, at most four times as many as are taken; a ValueError says what is wrong with it."""
    answer = read_object(text)
    values = answer.get("values")
    if set(answer) != {"values"} or not isinstance(values, list) or len(values) > 4 * MOST_VALUES:
        raise ValueError("expected an object with 'values', a list, and nothing else")
    if not all(isinstance(value, str) for value in values):
        raise ValueError("a value is no text")
    return values


async def ask_values(
    kept: list[Candidate], model: Model, people: int, refusals: list[Dropped], questions: Questions, conforms: Conforms
) -> tuple[dict[str, tuple[str, ...]], set[tuple[str, str]], tuple[str, ...]]:
    """Values for each kind that the catalogue has none of; the places (document, parameter) of candidates that are lost; the keys."""
    new: dict[str, list[tuple[Candidate, Parameter]]] = {}
    for candidate in kept:
        if candidate.parameter is not None and not is_known_kind(candidate.kind):
            new.setdefault(candidate.kind, []).append((candidate, candidate.parameter))
    needed, wanted = max(MIN_VALUES, people), min(MOST_VALUES, max(2 * people, MIN_VALUES + 4))

    def job(uses: list[tuple[Candidate, Parameter]]) -> Callable[[], Awaitable[Reading]]:
        first = uses[0][0]
        prompt = values_prompt(derived_relation(first.kind, first.relation, first.category), uses, wanted, model)
        return lambda: ask_for(model, prompt, VALUES, "extract", read_values)

    readings = await questions.in_order([job(uses) for uses in new.values()])
    tables: dict[str, tuple[str, ...]] = {}
    lost: set[tuple[str, str]] = set()
    seen: set[str] = set()
    for (kind, uses), reading in zip(new.items(), readings, strict=True):
        relation = uses[0][0].relation
        clean: list[str] = []
        for value in reading.value or []:
            reason = value_fault(value) or ("it was given before" if value.casefold() in seen else "")
            reason = reason or (f"there are {MOST_VALUES} already" if len(clean) == MOST_VALUES else "")
            if reason:
                refusals.append(Dropped(tool="", relation=relation, stage="values", reason=f"value {value[:60]!r}: {reason}"))
            else:
                clean.append(value)
                seen.add(value.casefold())
        table = clean
        for candidate, parameter in uses:
            fitting = [value for value in table if takes_text(parameter, value, conforms)]
            if len(fitting) < needed:
                found = reading.message or f"{len(fitting)} values of {len(reading.value)} can be used"
                refusals.append(dropped_candidate(candidate, "values", f"{found}, {needed} are needed"))
                lost.add((fingerprint(candidate.tool), candidate.path))
            else:
                refusals.extend(
                    Dropped(tool=candidate.tool.name, document=fingerprint(candidate.tool), parameter=candidate.path, relation=relation,
                            stage="values", reason=f"value {value!r}: the schema of the parameter does not take it")
                    for value in table if value not in fitting
                )  # fmt: skip
                table = fitting
        if len(table) >= needed and any((fingerprint(c.tool), c.path) not in lost for c, _ in uses):
            tables[kind] = tuple(table)
    return tables, lost, keys_of(readings)
