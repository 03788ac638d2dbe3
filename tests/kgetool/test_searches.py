"""Relation paths in a model's answer: every spelling, and what is no search."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from familytool.kgetool.searches import MAX_SEARCHES, Search, parse_searches

ONE = (Search("Bob", ("mother", "prefer_city")),)

SPELLINGS = {
    "keywords": 'KG.search(start="Bob", path=["mother", "prefer_city"])',
    "prefix": 'KG.search(start="Bob", path=["<relationship>mother","<relationship>prefer_city"])',
    "prefix_outside": 'KG.search(start="Bob", path=[<relationship>"mother", <relationship>"prefer_city"])',
    "closed_prefix": 'KG.search(start="Bob", path=["<relationship>mother</relationship>", "prefer_city"])',
    "bare_prefix": "KG.search(start=Bob, path=[<relationship>mother,<relationship>prefer_city])",
    "turned": "KG.search(path=['mother', 'prefer_city'], start='Bob')",
    "positional": "KG.search('Bob', ['mother', 'prefer_city'])",
    "mixed": "KG.search('Bob', path=['mother', 'prefer_city'])",
    "capitals": 'KG.search(Start="Bob", Path=["mother","prefer_city"])',
    "full_width": "KG.search(start=“Bob”，path=【“mother”，“prefer_city”】)",
    "full_width_parentheses": 'KG.search（start="Bob", path=["mother", "prefer_city"]）',
    "bare": "KG.search(start=Bob, path=[mother, prefer_city])",
    "lines": 'KG.search(\n    start="Bob",\n    path=[\n        "mother",\n        "prefer_city",\n    ],\n)',
    "object": 'KG.search({"start": "Bob", "path": ["mother", "prefer_city"]})',
    "colons": 'KG.search(start: "Bob", path: ["mother", "prefer_city"])',
    "fence": 'Sure:\n```python\nresult = KG.search(start="Bob", path=["mother", "prefer_city"])\n```',
    "inline_code": '1. Use `KG.search(start="Bob", path=["mother", "prefer_city"])`.',
    "spaced": 'KG.search (start = "Bob", path = [ "mother" , "prefer_city" ])',
    "behind_thinking": '<think>KG.search("Al", ["son"])</think>KG.search("Bob", ["mother", "prefer_city"])',
    "behind_a_closing_tag": 'plan KG.search("Al", ["son"])</think>\nKG.search("Bob", ["mother", "prefer_city"])',
    "apostrophes_before": "Bob's mother's city: KG.search(start='Bob', path=['mother', 'prefer_city'])",
    "published_output": '<output><thought>x</thought><api_call>KG.search(start="Bob", path=["mother","prefer_city"])</api_call></output>',
}


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_every_spelling_is_the_same_search(text: str) -> None:
    read = parse_searches(text)
    assert (read.searches, read.faults) == (ONE, ())


def test_several_searches_keep_their_order() -> None:
    read = parse_searches('KG.search("Bob", ["mother"]), KG.search("Al", ["son"])\nKG.search("Bob", ["father"])')
    assert [search.path for search in read.searches] == [("mother",), ("son",), ("father",)]


NAMES = ["Al (old)", "fish, chips", "O'Brien", "a-b", "Müller, Eva", "a]b", 'say "hi"', "x)y", "#1", "//", "ß", "王", "KG.search(", "<b>"]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_any_character_are_kept(name: str) -> None:
    read = parse_searches(f"KG.search(start={name!r}, path=[{name!r}, 'r'])")
    assert read.searches == (Search(name, (name, "r")),)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("no call here", ["unparsable"]),
        ("KG.search(start=)", ["unparsable"]),
        ("KG.search(start='Bob')", ["unparsable"]),
        ("KG.search(path=['a'])", ["unparsable"]),
        ("KG.search('a', ['b'], 'c')", ["unparsable"]),
        ("KG.search(start='a', start='b', path=['c'])", ["unparsable"]),
        ("KG.search(start='', path=['c'])", ["unparsable"]),
        ("KG.search(start='a', path=['', 'c'])", ["unparsable"]),
        ("KG.search(start='a', path=['c'", ["truncated"]),
        ("KG.search(start='a', path=['c", ["truncated"]),
        ("KG.search(start=a", ["truncated"]),
        ("<think>KG.search('a', ['b'])", ["truncated"]),
        ("", ["unparsable"]),
        ("# KG.search('a', ['b'])", ["unparsable"]),
        ("x = 1  # KG.search('a', ['b'])", ["unparsable"]),
        ("// KG.search('a', ['b'])", ["unparsable"]),
        ("/* KG.search('a', ['b']) */", ["unparsable"]),
        ("<!-- KG.search('a', ['b']) -->", ["unparsable"]),
        ('print("KG.search(a, [b])")', ["unparsable"]),
        ('"""\nKG.search(a, [b])\n"""', ["unparsable"]),
        ("KG.search('a', [" + "'b'," * 101 + "])", ["unparsable"]),
    ],
)
def test_what_is_no_search_is_told(text: str, codes: list[str]) -> None:
    read = parse_searches(text)
    assert ([fault.code for fault in read.faults], read.searches) == (codes, ())


def test_an_empty_path_is_a_search() -> None:
    assert parse_searches("KG.search(start='Bob', path=[])").searches == (Search("Bob", ()),)


def test_one_search_that_cannot_be_read_does_not_hide_the_others() -> None:
    read = parse_searches("KG.search(start=)\nKG.search('Bob', ['mother'])")
    assert (len(read.searches), len(read.faults)) == (1, 1)


def test_searches_are_read_up_to_a_limit() -> None:
    read = parse_searches("KG.search('a', ['b'])\n" * (MAX_SEARCHES + 5))
    assert (len(read.searches), len(read.faults)) == (MAX_SEARCHES, 1)


HOSTILE = [
    "KG.search(",
    "KG.search('",
    'KG.search("\n',
    "/*",
    "<!--",
    "'''",
    '"',
    " '",
    " # ",
    "<think>",
    "KG.search([",
    "KG.search(a,",
    "\\",
    "KG.search('a\\",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_is_read_in_one_go(piece: str) -> None:
    read = parse_searches(piece * (1_900_000 // len(piece)))
    assert read.faults


@given(st.text(alphabet="KG.search(start=path[]'\"\\,#/*<think>{}:\n aé）】“", max_size=200))
def test_no_text_crashes_the_reader(text: str) -> None:
    read = parse_searches(text)
    assert read.searches or read.faults


_names = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp", "Zs")), min_size=1, max_size=12).filter(
    lambda name: "relation" not in name.lower()
)


@given(_names, st.lists(_names, min_size=1, max_size=4))
def test_what_is_written_is_read_back(start: str, path: list[str]) -> None:
    assert parse_searches(f"KG.search(start={start!r}, path={path!r})").searches == (Search(start, tuple(path)),)
