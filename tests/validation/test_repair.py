"""Each rule of repair: what it mends, and the neighbour that it leaves for people."""

from typing import Any

import pytest

from familytool.model import Sample, Tool
from familytool.validation.checks import ALL_CHECKS
from familytool.validation.repair import RULES, Pool, repair_sample
from tests.validation.family import CAFE, FAMILY, TAXI, asked, foreign

TIMED = Tool(
    name="wake",
    parameters={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "time": {"type": "string", "format": "HH:MM"},
            "count": {"type": "integer"},
            "days": {"type": "array", "items": {"type": "string"}},
            "label": {"type": "string"},
        },
    },
)


def timed(query: str, tools: tuple[Tool, ...] = (TIMED,), name: str = "wake", **arguments: Any) -> Sample:
    return foreign(query, (name, arguments), tools=tools)


def pool(*tools: Tool) -> Pool:
    known = Pool()
    known.add(tools)
    return known


def taxis(count: int) -> Sample:
    return foreign("A taxi to Bern, please." * count, *[("order_taxi", {"to": "Bern"})] * count, tools=(CAFE,))


OTHER_TAXI = TAXI.model_copy(update={"description": "Another taxi."})
MENDED: dict[str, tuple[str, Sample, Pool, dict[str, Any]]] = {
    "spaces around a tool's name": ("strip_tool_name", timed("Wake me at 07:00.", name=" wake", time="07:00"), pool(), {"name": "wake"}),
    "a tool that is not offered": ("offer_called_tool", taxis(1), pool(TAXI), {"offered": ["find_cafe", "order_taxi"]}),
    "one tool that is called twice and not offered": ("offer_called_tool", taxis(2), pool(TAXI), {"offered": ["find_cafe", "order_taxi"]}),
    "a parameter in another case": ("rename_parameter", timed("Wake me at 07:00.", Time="07:00"), pool(), {"arguments": {"time": "07:00"}}),
    "a number as text": ("coerce_type", timed("Three times.", count="3"), pool(), {"arguments": {"count": 3}}),
    "a list as its JSON text": ("coerce_type", timed("On Monday.", days='["Monday"]'), pool(), {"arguments": {"days": ["Monday"]}}),
    "an hour of one digit": ("write_time", timed("Wake me at 7:00 am.", time="7:00"), pool(), {"arguments": {"time": "07:00"}}),
    "a time of twelve hours": ("write_time", timed("Wake me at 1 PM.", time="1:00 PM"), pool(), {"arguments": {"time": "13:00"}}),
    "a chain that starts at a relative": (
        "link_to_speaker",
        asked("Find my mother's preferred cafe.", "prefer_cafe", start="Vera"),
        pool(),
        {"path": ("Nora", ("mother", "prefer_cafe")), "hops": 2},
    ),
    "a document that is listed twice": (
        "drop_repeated_tool",
        asked("Find my mother's preferred cafe.", "mother", "prefer_cafe", candidate_tools=(CAFE, TAXI, CAFE)),
        pool(),
        {"offered": ["find_cafe", "order_taxi"]},
    ),
}
LEFT: dict[str, tuple[Sample, Pool]] = {
    "a name that no offered tool has": (timed("Wake me at 07:00.", name="wake up", time="07:00"), pool()),
    "a tool that the set has in two versions": (taxis(1), pool(TAXI, OTHER_TAXI)),
    "a tool that the set does not have": (taxis(1), pool()),
    "a parameter that is near in words alone": (timed("Wake me at 07:00.", clock="07:00"), pool()),
    "a parameter whose right name is given as well": (timed("Wake me at 07:00.", Time="07:00", time="07:00"), pool()),
    "a number that is none": (timed("A few times.", count="a few"), pool()),
    "a number with a rest": (timed("Three times.", count="3 times"), pool()),
    "a time that may be morning or evening": (timed("Wake me at half past.", time="half past"), pool()),
    "a relative whom the query does not name": (asked("Find a nice cafe.", "prefer_cafe", start="Vera"), pool()),
}


def facts(sample: Sample) -> dict[str, Any]:
    path = sample.golden_paths[0] if sample.golden_paths else None
    return {
        "name": sample.calls[0].name,
        "arguments": sample.calls[0].arguments,
        "offered": [tool.name for tool in sample.candidate_tools],
        "path": (path.start, path.relations) if path else None,
        "hops": sample.hops,
    }


@pytest.mark.parametrize("name", MENDED)
def test_a_rule_mends_what_needs_no_judgement(name: str) -> None:
    rule, sample, known, expected = MENDED[name]
    mended, patches, _ = repair_sample(sample, FAMILY, ALL_CHECKS, known)
    found = facts(mended)
    assert {key: found[key] for key in expected} == expected
    assert {patch.rule for patch in patches} == {rule}
    assert all(patch.sample_id == sample.id for patch in patches)
    again, more, _ = repair_sample(mended, FAMILY, ALL_CHECKS, known)
    assert (again, more) == (mended, []), "what is mended stays as it is"


@pytest.mark.parametrize("name", LEFT)
def test_what_needs_judgement_is_left_for_people(name: str) -> None:
    sample, known = LEFT[name]
    mended, patches, left = repair_sample(sample, FAMILY, ALL_CHECKS, known)
    assert (mended, patches) == (sample, [])
    assert left


def test_each_rule_is_tried_here() -> None:
    assert {rule for rule, *_ in MENDED.values()} == set(RULES)


def test_what_the_copy_could_not_say_is_not_mended() -> None:
    _, sample, known, _ = MENDED["a number as text"]
    mended, patches, left = repair_sample(sample, FAMILY, ALL_CHECKS, known, lambda _: False)
    assert (mended, patches) == (sample, [])
    assert [finding.code for finding in left] == ["type_mismatch"]


@pytest.mark.parametrize("days", ["Monday", "Monday, Tuesday", "", "dayList", 1])
def test_a_value_where_a_list_is_wanted_is_left_for_people(days: object) -> None:
    """Whether it is one item, several or none is a reading of what was meant."""
    sample = timed("On Monday.", days=days)
    mended, patches, left = repair_sample(sample, FAMILY, ALL_CHECKS, pool())
    assert (mended, patches) == (sample, [])
    assert "type_mismatch" in {finding.code for finding in left}
