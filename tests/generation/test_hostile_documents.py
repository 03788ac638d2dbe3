"""Documents that nobody vouches for: built-in ones with junk put in at random places."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from familytool.campaign import parse_campaign
from familytool.catalogue import tables
from familytool.errors import FamilytoolError
from familytool.formats.openai import DocumentError, read_tools
from familytool.generation.generate import make_candidate, prepare_material
from familytool.generation.planning import Planner
from familytool.generation.samples import NotBuilt
from familytool.validation.checks import check_sample

CAMPAIGN = parse_campaign(b'name = "hostile"\n[generation]\nstrata = { hop1 = 5, hop2 = 5, no_graph = 2 }\n', "test")
JUNK: list[Any] = [
    None, 5, -1, 1e308, "x", "{", "[{a}", [], {}, [1, "a", None], {"a": {}}, True, "date", "\u202e<script>", "(a+)+$",
    {"type": "object", "properties": {"q": {}}}, {"$ref": "#"}, {"$ref": "http://127.0.0.1:9/x"}, "y" * 5_000,
]  # fmt: skip


def with_junk(node: Any, rng: random.Random, share: float = 0.02) -> Any:
    """The same structure with junk in place of some nodes, and some keys missing."""
    if rng.random() < share:
        return copy.deepcopy(rng.choice(JUNK))
    if isinstance(node, dict):
        return {key: with_junk(value, rng, share) for key, value in node.items() if rng.random() > share / 3}
    if isinstance(node, list):
        return [with_junk(value, rng, share) for value in node]
    return node


def survives(seed: int) -> bool:
    """Read, generate and check; only errors of ours may come out. False where the documents were refused."""
    rng = random.Random(seed)
    documents = [document for _, listed in tables.builtin_documents() for document in listed]
    try:
        tools = list(read_tools([("test.json", with_junk(rng.sample(documents, 12), rng))], []))
        material = prepare_material(CAMPAIGN, tools)
    except (DocumentError, FamilytoolError):
        return False
    planner = Planner(material)
    for stratum in ("hop1", "hop2", "no_graph"):
        for number in range(4):
            order = planner.order(stratum, number)
            if order is not None:
                sample = make_candidate(material, order)
                if not isinstance(sample, NotBuilt):
                    check_sample(sample, material.world_of(stratum, number).graph)
                planner.record(stratum, [tool.name for tool in order.tools], taken=False)
    return True


@pytest.mark.parametrize("seed", range(25))
def test_a_hostile_document_never_ends_in_a_traceback(seed: int) -> None:
    survives(seed)


@pytest.mark.soak
def test_thousands_of_hostile_documents_never_end_in_a_traceback() -> None:
    taken = sum(survives(seed) for seed in range(1_000, 3_000))
    print(f"hostile documents: 2,000 lists of 12, {taken} generated from, {2_000 - taken} refused with one sentence, 0 tracebacks")
    assert taken > 200
