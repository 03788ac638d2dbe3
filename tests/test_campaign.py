import datetime
import tomllib
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from familytool.campaign import Campaign, campaign_schema, describe, load_campaign, parse_campaign
from familytool.catalogue import tables
from familytool.errors import UsageError

SMALL = 'name = "small"\n[generation]\nstrata = { hop1 = 3 }\n'


def parse(text: str) -> Campaign:
    return parse_campaign(text.encode(), "my.toml")


FAULTS = {
    "unknown key": ('sed = 3\n' + SMALL, "my.toml: sed: unknown key; did you mean 'seed'?"),
    "unknown key in a table": (SMALL + "distinct_tool = 4\n", "my.toml: generation.distinct_tool: unknown key; did you mean 'distinct_tools'?"),
    "unknown key two tables down": (SMALL + "candidate_tools = { sizes = [1, 2] }\n", "generation.candidate_tools.sizes: unknown key; did you mean 'size'?"),
    "unknown key in a list of tables": (SMALL + 'quotas = [{ tol = "x", at_least = 1 }]\n', "generation.quotas.0.tol: unknown key; did you mean 'tool'?"),
    "unknown key like no other": (SMALL + "zzzzzz = 1\n", "generation.zzzzzz: unknown key; known here: documents, method"),
    "unknown table": (SMALL + "[famly]\npeople = 3\n", "famly: unknown key; did you mean 'family'?"),
    "name missing": ("[generation]\nstrata = { hop1 = 3 }\n", "name: this key is needed."),
    "strata missing": ('name = "x"\n[generation]\n', "generation.strata: this key is needed."),
    "generation missing": ('name = "x"\n', "generation: this key is needed."),
    "impossible stratum": (SMALL.replace("hop1", "hop9"), "'hop9' is no stratum (hop1 ... hop6, no_graph, no_tool, multi_call)"),
    "negative stratum": (SMALL.replace("3", "-3"), "stratum hop1 wants -3 rows; give a number from 0"),
    "no rows": (SMALL.replace("3", "0"), "no rows are wanted"),
    "stratum is text": (SMALL.replace("3", '"many"'), "generation.strata.hop1"),
    "bad shape": (SMALL + 'shapes = { hop2 = { "2+2" = 1 } }\n', "shapes.hop2: '2+2' does not have 2 hops"),
    "no shape": (SMALL + 'shapes = { hop2 = { "2-1" = 1 } }\n', "generation.shapes.hop2"),
    "shape of a stratum without chains": (SMALL + 'shapes = { no_tool = { "1" = 1 } }\n', "only hop1 ... hop6 have shapes"),
    "shape without weight": (SMALL + 'shapes = { hop1 = { "1" = 0 } }\n', "the weight of '1' must be above 0"),
    "weight is not a number": (SMALL + 'shapes = { hop1 = { "1" = nan } }\n', "the weight of '1' must be above 0"),
    "people and specification": (SMALL + '[family]\npeople = 4\nspecification = "paper"\n', "family: give either people (a seeded family) or specification"),
    "specification twice": (SMALL + '[family]\ncount = 2\nspecification = "paper"\n', "count must be 1"),
    "too many people": (SMALL + "[family]\npeople = 61\n", "family.people: Input should be less than or equal to 60 (found 61)."),
    "size turned round": (SMALL + "candidate_tools = { size = [9, 2] }\n", "the smaller one first"),
    "quota of nothing": (SMALL + "quotas = [{ at_least = 1 }]\n", "a quota names either a category or a tool"),
    "quota without bounds": (SMALL + 'quotas = [{ tool = "x" }]\n', "a quota needs at_least or at_most"),
    "quota turned round": (SMALL + 'quotas = [{ tool = "x", at_least = 3, at_most = 2 }]\n', "at_most is smaller than at_least"),
    "name with a slash": (SMALL.replace("small", "a/b"), "my.toml: name: "),
    "name that climbs": (SMALL.replace("small", ".."), "my.toml: name: "),
    "unknown check": (SMALL + '[validation]\nchecks = ["syntx"]\n', "validation.checks.0"),
    "date that is none": ("now = 2025-02-30\n" + SMALL, "not a TOML file"),
    "not TOML": ("name = \n", "my.toml: not a TOML file"),
    "key twice": ('name = "a"\nname = "b"\n', "my.toml: not a TOML file"),
    "JSON": ('{"name": "x"}', "my.toml: not a TOML file"),
    "nested without end": ("a = " + "[" * 20_000, "my.toml: not a TOML file"),
    "empty": ("", "name: this key is needed."),
}  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), FAULTS.values(), ids=FAULTS.keys())
def test_a_file_at_fault_is_a_usage_error_that_names_the_field(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert sentence in str(caught.value)


def test_every_fault_of_a_file_is_named_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        parse(SMALL.replace("small", "!") + "docments = 1\n[family]\npeople = 1\n")
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[1] for line in lines] == ["name", "family.people", "generation.docments"]
    assert all(line.startswith("my.toml: ") for line in lines)


def test_bytes_that_are_no_utf8_are_no_toml_file() -> None:
    with pytest.raises(UsageError, match="not a TOML file"):
        parse_campaign(b'name = "\xff"', "my.toml")


def test_a_missing_file_is_answered_with_the_names_that_are_built_in(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be read .*home, paper, extended"):
        load_campaign(tmp_path / "missing.toml")
    with pytest.raises(UsageError, match="cannot be read"):
        load_campaign(tmp_path)


def test_a_file_that_is_too_large_is_not_parsed(tmp_path: Path) -> None:
    (tmp_path / "large.toml").write_text("#" * 1_000_001, encoding="utf-8")
    with pytest.raises(UsageError, match="too large"):
        load_campaign(tmp_path / "large.toml")


def test_a_small_file_has_all_defaults() -> None:
    campaign = parse(SMALL)
    assert campaign.validation.checks == ("syntax", "intent", "parameters", "feasibility")
    assert campaign.generation.documents == "builtin"
    assert campaign.now.isoformat() == "2025-06-02"


@pytest.mark.parametrize("name", tables.CAMPAIGNS)
def test_a_built_in_campaign_loads_is_called_as_it_is_named_and_described_reads_back_the_same(name: str) -> None:
    raw = tables.campaign_bytes(name)
    assert raw is not None
    campaign = parse_campaign(raw, name)
    assert campaign.name == name
    assert parse(describe(campaign)) == campaign
    assert parse(describe(campaign)).fingerprint == campaign.fingerprint
    content = tomllib.loads(describe(campaign))
    jsonschema.validate({**content, "now": content["now"].isoformat()}, campaign_schema())


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=3, max_size=20)
CAMPAIGNS = st.builds(
    lambda seed, now, strata, weights, reasons, documents, confusable, specification: Campaign.model_validate(
        {
            "name": "any",
            "seed": seed,
            "now": now,
            "family": {"specification": specification},
            "generation": {
                "documents": documents,
                "strata": strata,
                "shapes": {"hop2": weights},
                "quotas": [{"tool": reason, "at_least": 1} for reason in reasons],
                "candidate_tools": {"confusable": confusable},
                "exceptions": [{"tool": "now", "parameter": reason, "reason": reason} for reason in reasons],
            },
        }
    ),
    st.integers(0, 2**63 - 1),
    st.dates(datetime.date(1900, 1, 1), datetime.date(2200, 1, 1)),
    st.dictionaries(st.sampled_from(["hop1", "hop6", "no_tool"]), st.integers(1, 10**7), min_size=1),
    st.dictionaries(st.sampled_from(["2", "1+1"]), st.floats(1e-12, 9e5)),
    st.lists(TEXTS, max_size=2),
    TEXTS,
    st.floats(0, 1),
    TEXTS | st.none(),
)


@given(CAMPAIGNS)
def test_any_campaign_described_as_toml_reads_back_the_same(campaign: Campaign) -> None:
    assert parse(describe(campaign)) == campaign


def test_a_fingerprint_depends_on_what_is_said_and_not_on_how() -> None:
    assert parse(SMALL).fingerprint == parse("# a comment\nseed = 0\n" + SMALL).fingerprint
    assert parse(SMALL).fingerprint != parse("seed = 1\n" + SMALL).fingerprint
