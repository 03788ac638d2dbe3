import json
import re
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from familytool.campaign import parse_campaign
from familytool.catalogue import tables
from familytool.formats.openai import read_tools
from familytool.generation.families import load_specification
from familytool.generation.usable import MIN_VALUES, PEOPLE_KINDS, usable_tools
from familytool.model import Tool
from familytool.phrasing import Phrase, fault, fill, parse_template

REJECTED: list[str] = []
TOOLS = list(read_tools(tables.builtin_documents(), REJECTED))
USABLE, REFUSALS = usable_tools(TOOLS)
VALUES = sorted(f.name.removesuffix(".txt") for f in files("familytool.catalogue").joinpath("values").iterdir())
NAME_LISTS = {"given_name", "given_name_female", "given_name_male"}
PAST = {"was", "went", "grew", "bookmarked", "must"}
"""Verbs of the concepts that are the same for all persons."""

each_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda t: t.name)
each_concept = pytest.mark.parametrize("concept", tables.concepts(), ids=lambda c: c.relation)
each_kind = pytest.mark.parametrize("kind", VALUES)


def slots(sentence: str) -> set[str]:
    template = parse_template(sentence)
    return set(template.slots).union(*template.segments)


def nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """(dotted path, schema) of every parameter, members of objects and items included."""
    for name, node in schema.get("properties", {}).items():
        here = f"{path}.{name}" if path else name
        yield here, node
        yield from nodes(node, here)
        if "items" in node:
            yield f"{here}[]", node["items"]
            yield from nodes(node["items"], f"{here}[]")


def test_the_catalogue_has_at_least_100_tools_in_12_domains_and_no_name_twice() -> None:
    assert len(tables.builtin_documents()) >= 12
    assert len(TOOLS) >= 100
    assert [name for name, count in Counter(t.name for t in TOOLS).items() if count > 1] == []


def test_every_tool_stands_in_exactly_one_cluster_of_its_own_domain() -> None:
    clustered = Counter(name for cluster in tables.clusters() for name in cluster["tools"])
    assert clustered == Counter(t.name for t in TOOLS)
    domain = {t.name: t.source["place"].removesuffix(".json") for t in TOOLS}
    assert all(domain[name] == cluster["domain"] for cluster in tables.clusters() for name in cluster["tools"])
    assert all(len(cluster["tools"]) >= 2 and cluster["confuses"] for cluster in tables.clusters())


@each_tool
def test_a_tool_has_a_valid_closed_schema_in_which_everything_is_typed_and_described(tool: Tool) -> None:
    jsonschema.Draft202012Validator.check_schema(tool.parameters)
    assert tool.notes == ()
    assert tool.source["status"] == "ok"
    assert re.fullmatch(r"[a-z][a-z0-9_]{2,63}", tool.name)
    assert tool.description.endswith(".")
    assert tool.raw["function"]["parameters"]["additionalProperties"] is False
    assert set(tool.parameters.get("required", [])) <= set(tool.parameters["properties"])
    for path, node in nodes(tool.parameters):
        assert "type" in node, path
        assert node.get("description") or path.endswith("[]"), path
        assert node["type"] != "array" or "items" in node, path
        if node["type"] == "object":
            assert node["additionalProperties"] is False, path


@each_tool
def test_a_tool_has_at_least_three_different_sentences_whose_slots_are_its_parameters(tool: Tool) -> None:
    sentences = tool.parameters["x-phrase"]
    assert len(set(sentences)) == len(sentences) >= 3
    known = {path for path, _ in nodes(tool.parameters)}
    for sentence in sentences:
        assert slots(sentence) <= known, sentence
        assert sentence[0].isupper()
        assert sentence[-1] in ".?!"
        template = parse_template(sentence)
        phrases = {slot: Phrase(f"value{number}") for number, slot in enumerate(sorted(slots(sentence)))}
        for segments in ((), range(len(template.segments))):
            assert fault(fill(template, segments, phrases)[0]) == "", sentence


@each_tool
def test_every_sentence_of_a_tool_can_be_asked(tool: Tool) -> None:
    [ready] = [u for u in USABLE if u.name == tool.name]
    assert [s.source for s in ready.sentences] == tool.parameters["x-phrase"]
    assert ready.hinted
    assert any(p.takes_fact for p in ready.parameters.values())


def test_nothing_of_the_catalogue_is_refused() -> None:
    assert REFUSALS == []


@each_tool
def test_every_item_of_an_enum_has_words_of_its_own(tool: Tool) -> None:
    for path, node in nodes(tool.parameters):
        words = node.get("x-phrase", {}).get("values", {})
        if words:
            said = [words[key] for key in words]
            assert len(set(said)) == len(said), path
        if words and "enum" in node:
            assert set(words) <= {str(item) for item in node["enum"]}, path  # an item without words is never said
            assert len(words) >= 2, path


@each_tool
def test_a_kind_is_a_concept_or_a_literal_kind(tool: Tool) -> None:
    kinds = {node["x-kind"] for _, node in nodes(tool.parameters) if "x-kind" in node}
    assert kinds <= {*tables.concepts_by_kind(), *tables.LITERAL_KINDS, *VALUES, *PEOPLE_KINDS, "none"}


def test_every_relation_occurs_once() -> None:
    assert len(tables.concepts_by_relation()) == len(tables.concepts())


@each_concept
def test_a_concept_names_its_person_once_in_each_wording_and_once_without_a_possessive(concept: tables.Concept) -> None:
    assert re.fullmatch(r"[a-z_]+", concept.relation)
    assert len(set(concept.wordings)) == len(concept.wordings) >= 1
    for wording in concept.wordings:
        assert len(re.findall(r"\bP\b", wording)) == 1, wording
        assert fault(wording) == ""
    free = [w for w in concept.wordings if "P's" not in w]
    assert free
    for wording in free:
        verb = re.search(r"\bP (?:[a-z]+ly |most |next |regularly )*([a-z]+~?)", wording)
        assert verb, wording
        assert verb[1].endswith("~") or verb[1] in PAST, wording


@each_concept
def test_the_kind_of_a_concept_has_values_for_a_whole_family(concept: tables.Concept) -> None:
    assert len(tables.values(concept.kind)) >= MIN_VALUES


@each_kind
def test_a_table_has_at_least_eight_different_clean_values(kind: str) -> None:
    values = tables.values(kind)
    assert len({v.casefold() for v in values}) == len(values) >= 8
    assert all(v and v == v.strip() and v.isprintable() and "  " not in v for v in values)


def test_no_value_stands_in_two_tables() -> None:
    places: dict[str, list[str]] = {}
    for kind in VALUES:
        for value in tables.values(kind):
            places.setdefault(value.casefold(), []).append(kind)
    assert {value: kinds for value, kinds in places.items() if len(kinds) > 1 and not set(kinds) <= NAME_LISTS} == {}


def test_given_names_are_the_female_and_the_male_ones() -> None:
    female, male = set(tables.values("given_name_female")), set(tables.values("given_name_male"))
    assert female | male == set(tables.values("given_name"))
    assert not female & male


def passes_luhn(number: str) -> bool:
    doubled = [int(d) * (2 if place % 2 else 1) for place, d in enumerate(reversed(number))]
    return sum(n - 9 if n > 9 else n for n in doubled) % 10 == 0


def test_the_luhn_check_of_this_file_knows_a_valid_number() -> None:
    assert passes_luhn("4111111111111111")
    assert not passes_luhn("4111111111111112")


@pytest.mark.parametrize("kind", ["account_number", "library_card"])
def test_account_and_card_numbers_are_digits_that_fail_the_luhn_check(kind: str) -> None:
    assert [v for v in tables.values(kind) if not v.isdigit() or passes_luhn(v)] == []


def test_phone_numbers_and_addresses_belong_to_nobody() -> None:
    assert [v for v in tables.values("phone_number") if not re.fullmatch(r"\+1 [2-9][0-9]{2} 555 01[0-9]{2}", v)] == []
    assert [v for v in tables.values("email") if not re.fullmatch(r"[a-z0-9.]+@example\.org", v)] == []


@pytest.mark.parametrize(("tool", "hint"), tables.hints().items(), ids=tables.hints().keys())
def test_every_slot_of_a_hint_has_a_parameter_entry_of_a_known_kind(tool: str, hint: dict[str, Any]) -> None:
    for sentence in hint["sentences"]:
        assert slots(sentence) <= set(hint["parameters"]), sentence
    for name, entry in hint["parameters"].items():
        assert entry.get("kind") in {*tables.concepts_by_kind(), *tables.LITERAL_KINDS, *VALUES, "none"}, name
        assert all(entry.get(key, "{}").count("{}") == 1 for key in ("literal", "reference")), name


def test_hints_for_one_tool_stand_in_one_file() -> None:
    folder = files("familytool.catalogue").joinpath("hints")
    names = [name for f in folder.iterdir() for name in json.loads(f.read_text(encoding="utf-8"))]
    assert len(set(names)) == len(names) == len(tables.hints())


def test_groups_of_interchangeable_tools_are_disjoint() -> None:
    groups = json.loads(files("familytool.catalogue").joinpath("interchangeable.json").read_text(encoding="utf-8"))
    names = [name for group in groups for name in group["tools"]]
    assert len(set(names)) == len(names)
    assert all(len(group["tools"]) >= 2 and group["why"] for group in groups)
    assert tables.either_would_do("SearchHotel", "searchHotel")
    assert not tables.either_would_do("SearchHotel", "ReserveHotel")


def test_the_families_and_campaigns_that_are_named_load() -> None:
    assert [len(load_specification(name)) for name in ("paper", "extended")] == [3, 8]
    assert [parse_campaign(tables.campaign_bytes(name) or b"", name).name for name in tables.CAMPAIGNS] == list(tables.CAMPAIGNS)


def test_names_that_are_not_built_in_give_nothing() -> None:
    assert tables.campaign_bytes("../campaigns/home") is None
    assert tables.family_specification("../families/paper") is None
    assert tables.values("no_such_kind") == ()
