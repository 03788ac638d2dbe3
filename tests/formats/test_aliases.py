import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.formats.aliases import provider_aliases

ACCEPTED = re.compile(r"^[a-zA-Z0-9_-]{1,64}\Z")
NAMES = {
    "imp-011": ["b" * 70 + "_left", "b" * 70 + "_right"],
    "dots": ["Trains.Find", "Trains.find", "Trains_Find"],
    "differ in the replaced character": ["a.b", "a/b", "a b", "a:b", "a_b", "a_b_"],
    "not ASCII": ["läuten", "la\u0308uten", "查找", "\ud800", "١"],
    "nothing but refused characters": ["...", "///", " ", ""],
    "line breaks": ["find", "find\n", "\nfind"],
    "64 and 65 characters": ["c" * 64, "c" * 65],
    "taken alias": ["x.y", *provider_aliases(["x.y"])],
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES.keys())
def test_every_name_has_its_own_alias_and_every_alias_leads_back(names: list[str]) -> None:
    aliases = provider_aliases(names)
    assert list(aliases.values()) == names
    assert all(ACCEPTED.match(alias) for alias in aliases)
    assert all(alias == name for alias, name in aliases.items() if ACCEPTED.match(name))


def test_an_alias_does_not_depend_on_order_or_company() -> None:
    names = [name for group in NAMES.values() for name in group]
    assert provider_aliases(reversed(names)) == provider_aliases(names)
    assert set(provider_aliases(["a.b"])) <= set(provider_aliases(["a/b", "a_b", "a.b"]))


def test_a_name_that_occurs_twice_has_one_alias() -> None:
    assert provider_aliases(["f", "f"]) == {"f": "f"}


@settings(max_examples=100)
@given(st.lists(st.text(st.sampled_from("ab._/é "), max_size=4) | st.text(st.sampled_from("ab."), min_size=60, max_size=70), max_size=30))
def test_no_list_of_names_collides(names: list[str]) -> None:
    aliases = provider_aliases(names)
    assert list(aliases.values()) == list(dict.fromkeys(names))
    assert all(ACCEPTED.match(alias) for alias in aliases)
