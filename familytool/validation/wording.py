"""Our own writer's texts, verified by rendering them again from the golden facts: the result must be the query.

The recipe of a text (sentence, segments, the choice of words for each slot) stands in the sample's provenance as `wording`.
"""

from __future__ import annotations

from typing import Any

from familytool.catalogue import tables
from familytool.model import Finding, Json, Sample
from familytool.phrasing import Owner, Phrase, fill, join_spoken, parse_template, say_fact, spoken_forms

_CLAUSE = {"tool": str, "sentence": str, "segments": list, "slots": dict, "connector": str}


_last: list[tuple[Sample, list[dict[str, Any]]]] = []


def recipe_of(sample: Sample) -> list[dict[str, Any]]:
    """The clauses of the recipe, in order; none where the text is of somebody else, or what stands there is no recipe."""
    if not _last or _last[0][0] is not sample:
        _last[:] = [(sample, _recipe(sample))]
    return _last[0][1]


def _recipe(sample: Sample) -> list[dict[str, Any]]:
    return _clauses(sample.provenance.get("wording"))


def _clauses(wording: Json) -> list[dict[str, Any]]:
    if not isinstance(wording, list) or not all(isinstance(clause, dict) for clause in wording):
        return []
    return wording if all(isinstance(clause.get(k), kind) for clause in wording for k, kind in _CLAUSE.items()) else []


def said_by_recipe(sample: Sample, pointer: str, value: Json) -> bool:
    """Whether our own writer has fixed words for this value ("by the window" for `window`) and they stand in the query.

    A text that a model made of our writer's draft may say the value in the draft's words.
    """
    number = int(pointer.split("/")[1])
    draft = sample.provenance.get("draft")
    clauses = recipe_of(sample) or _clauses(draft.get("wording") if isinstance(draft, dict) else None)
    slots = clauses[number]["slots"].values() if number < len(clauses) else ()
    words = [slot["values"].get(str(value)) for slot in slots if isinstance(slot, dict) and isinstance(slot.get("values"), dict)]
    return any(isinstance(text, str) and text in sample.query for text in words)


def rendering_findings(sample: Sample) -> list[Finding]:
    """Render the query again from its recipe and the golden facts; where it differs, say in which slot."""
    try:
        return _differences(sample)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:  # a recipe that our writer did not write
        return [Finding(code="parse_error", path="/provenance/wording", message=f"the recipe cannot be read ({type(error).__name__})")]


def _differences(sample: Sample) -> list[Finding]:
    query = ""
    found: list[Finding] = []
    if not sample.calls:
        return found
    for number, clause in enumerate(recipe_of(sample)):
        phrases: dict[str, Phrase] = {}
        for slot, recipe in clause["slots"].items():
            value = _argument(sample, number, slot)
            phrase, trouble = _phrase(sample, number, slot, recipe, value)
            if trouble is not None:
                found.append(trouble)
            phrases[slot] = phrase
        template = parse_template(clause["sentence"])
        if not set(template.slots) <= set(phrases):
            return [*found, Finding(code="parse_error", path="/query", message="the recipe does not fill its sentence")]
        text, _ = fill(template, clause["segments"], phrases)
        text = text if not query or text.startswith(("I ", "I'", "I’")) else text[:1].lower() + text[1:]
        query = f"{query} {clause['connector']}{text}" if query else text
    if not found and query != sample.query:
        found.append(
            Finding(code="ungrounded_value", path="/query", message=f"the golden facts and arguments would be asked for as: {query}")
        )
    return found


def _argument(sample: Sample, number: int, slot: str) -> Json:
    arguments: Json = sample.calls[number].arguments if number < len(sample.calls) else {}
    if isinstance(arguments, dict) and slot in arguments:
        return arguments[slot]
    for key in slot.split("."):
        arguments = arguments.get(key) if isinstance(arguments, dict) else None
    return arguments


def _phrase(sample: Sample, number: int, slot: str, recipe: dict[str, Any], value: Json) -> tuple[Phrase, Finding | None]:
    wrap = recipe.get("wrap", "{}")
    if "owner" in recipe:
        owner = Owner() if recipe["owner"] == "I" else Owner(recipe["owner"], recipe["possessive"])
        if not recipe["relation"]:
            return Phrase(owner.subject, wrap), None
        pointer = f"/{number}/arguments/" + "/".join(slot.split("."))
        source = (
            sample.argument_sources.get(pointer)
            or sample.argument_sources.get(pointer + "/0")
            or sample.argument_sources.get(f"/{number}/arguments/{slot.replace('~', '~0').replace('/', '~1')}", {})
        )
        relations = source.get("path", {}).get("relations") or [recipe["relation"]]
        concept = tables.concepts_by_relation().get(relations[-1])
        wordings = concept.wordings if concept else ()
        text = wordings[recipe["wording"]] if recipe["wording"] < len(wordings) else None
        if concept is None and recipe["relation"] == relations[-1]:  # a relation that a model read: the catalogue has no words for it
            text = recipe.get("said")
        said = say_fact(text, owner) if text else None
        if said is None:
            return Phrase(""), Finding(code="wrong_entity", path="/calls" + pointer, message=f"the query does not speak of {relations[-1]}")
        return Phrase(said, wrap), None
    if "values" in recipe:
        items = [str(v) for v in (value if isinstance(value, list) else [value])]
        missing = next((item for item in (_key(item, recipe["values"]) for item in items) if item not in recipe["values"]), None)
        if missing is not None:
            return Phrase(""), Finding(
                code="ungrounded_value",
                path=f"/calls/{number}/arguments/{slot}",
                message=f"the writer has no words for {missing!r}",
                value=value,
            )
        return Phrase(join_spoken([recipe["values"][_key(item, recipe["values"])] for item in items]), wrap), None
    forms = spoken_forms(str(value), recipe.get("kind", ""), bool(recipe.get("verbatim")))
    form = recipe.get("form", 0)
    if form >= len(forms):
        return Phrase(""), Finding(
            code="ungrounded_value", path=f"/calls/{number}/arguments/{slot}", message=f"{value!r} is not said this way", value=value
        )
    return Phrase(forms[form], wrap), None


def _key(item: str, values: dict[str, str]) -> str:
    return item if item in values else item.lower()
