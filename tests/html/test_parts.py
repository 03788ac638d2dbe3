"""Parts of pages: what they escape, and that charts and graphs are well-formed and say what they show."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from familytool.html import parts, style
from familytool.html.parts import Bar, Html, Section, Stack, Tile
from familytool.html.path_graph import MAX_ROWS, groundings, path_graph
from familytool.model import RelationPath, Sample, ToolCall, Triple

VOID = {"meta", "link", "br", "wbr"}
HOSTILE = [
    pytest.param("<script>alert(1)</script>", id="script"),
    pytest.param("\"'><img src=http://evil.test/x onerror=alert(1)>", id="attribute"),
    pytest.param("</title></svg></style><b>", id="closing-tags"),
    pytest.param("‮أحمد שלום", id="right-to-left"),
    pytest.param("x" * 5000, id="long"),
    pytest.param("数" * 5000, id="long-and-wide"),
    pytest.param("e" + "\u0301" * 5000, id="combining"),
    pytest.param("\x00\x1b\ud800\uffff", id="not-text"),
    pytest.param("", id="empty"),
    pytest.param("&amp; {} %s {0}", id="entities-and-formats"),
]


class Checker(HTMLParser):
    """Reads a piece of HTML strictly: tags close in order, ids are unique, every SVG has a title, no name is unknown."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.references: list[str] = []
        self.labels: list[str] = []
        self.titles = 0
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        assert not any(name.startswith("on") for name in names), f"<{tag}> has a handler"
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "xlink:href", "data", "action", "srcset", "poster"):
                self.references.append(value or "")
            if name == "aria-labelledby":
                self.labels += (value or "").split()
        if self.open and self.open[-1] == "svg" and tag == "title":
            self.titles += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.words += data


def read(markup: str) -> Checker:
    checker = Checker()
    checker.feed(markup)
    checker.close()
    assert checker.open == []
    assert len(checker.ids) == len(set(checker.ids)), "an id occurs twice"
    assert set(checker.labels) <= set(checker.ids), "a label names what is not there"
    assert checker.titles == checker.tags.count("svg"), "an SVG has no title"
    assert "script" not in checker.tags and "img" not in checker.tags
    markup.encode("utf-8")
    return checker


def everything(word: str) -> str:
    cells = [(word, word), (Html("<b>1</b>"), 2)]
    body = parts.join(
        [
            parts.tiles([Tile(word, word, word)]),
            parts.verdicts([("good", word), ("warn", word)]),
            parts.table((word, word), cells, caption=word, numbers=(1,)),
            parts.bar_chart("bars", word, [Bar(word, 1), Bar(word, None, word, word, goal=0.5)], axis=True, maximum=1.0),
            parts.stacked_bars("stacks", word, [Stack(word, {word: 3, "b": 0, "c": 1}, word)], {word: "s0"}),
            parts.card(parts.foreign(word), word),
            parts.folded(word, parts.code(word)),
            word,
        ]
    )
    return parts.page(word, [Section("one", word, body, word, word)], over=word, subtitle=word, footer=word)


def sample(start: str = "Bob", *, word: str = "city", tail: str = "Lisbon", **changes: object) -> Sample:
    fields: dict[str, object] = {
        "id": "s-1",
        "benchmark": "b",
        "kind": "graph",
        "speaker": start,
        "query": "Weather where mum lives?",
        "graph_id": "g",
        "candidate_tools": (),
        "golden_triples": (Triple(head=start, relation="mother", tail="Ann"), Triple(head="Ann", relation=word, tail=tail)),
        "golden_paths": (RelationPath(start=start, relations=("mother", word)),),
        "calls": (ToolCall(name="weather", arguments={"place": tail}),),
        "argument_sources": {
            "/0/arguments/place": {"source": "graph", "path": {"start": start, "relations": ["mother", word]}, "span": [8, 23]}
        },
    }
    return Sample.model_validate({**fields, **changes})


@pytest.mark.parametrize("word", HOSTILE)
def test_any_text_stays_text_in_every_part(word: str) -> None:
    read(everything(word))


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_any_text_at_all_gives_a_well_formed_page(word: str) -> None:
    read(everything(word))
    read(path_graph(sample(word, word=word, tail=word), "graph"))


def test_markup_is_kept_and_text_is_escaped_once() -> None:
    assert parts.text(parts.text("<")) == "&lt;"
    assert parts.join(["<", Html("<b>")]) == "&lt;<b>"
    assert parts.text(Html("<b>") + "<i>") == "&lt;b&gt;&lt;i&gt;"


def test_a_page_loads_nothing_and_forbids_it() -> None:
    markup = everything("a word")
    checker = read(markup)
    assert all(reference.startswith("#") or reference == "data:," for reference in checker.references)
    assert "default-src &#x27;none&#x27;" in markup or "default-src 'none'" in markup
    assert "url(" not in style.STYLE and "@import" not in style.STYLE and "http" not in style.STYLE


@pytest.mark.parametrize(
    ("value", "top", "expected"),
    [(5, 10.0, 23.5), (0, 10.0, None), (20, 10.0, 47.0), (-1, 10.0, None), (float("nan"), 10.0, None), (float("inf"), 10.0, None)],
    ids=["half", "nothing", "over", "negative", "nan", "infinite"],
)
def test_a_bar_is_as_long_as_its_value_and_never_leaves_the_chart(value: float, top: float, expected: float | None) -> None:
    found = re.search(r'class="bar" x="32.0%" y="8" width="([0-9.]+)%"', parts.bar_chart("c", "t", [Bar("a", value)], maximum=top))
    assert (float(found[1]) if found else None) == expected


def test_a_bar_above_its_goal_is_told_from_one_within_it() -> None:
    chart = parts.bar_chart("c", "t", [Bar("a", 0.2, goal=0.1), Bar("b", 0.1, goal=0.1)], maximum=1.0)
    assert chart.count("over-goal") == 1
    assert chart.count('class="goal"') == 2


def test_parts_of_a_stack_fill_it_and_the_smallest_can_be_seen() -> None:
    chart = parts.stacked_bars("c", "t", [Stack("a", {"x": 100_000, "y": 1, "z": 0})], {"x": "s0", "y": "s1"})
    widths = [float(w) for w in re.findall(r'class="s[0-9]" x="[0-9.]+%" y="8" width="([0-9.]+)%"', chart)]
    assert len(widths) == 2
    assert sum(widths) + 0.3 == pytest.approx(53.0, abs=0.01)
    assert min(widths) > 0.5


@pytest.mark.parametrize("charts", [(), (Bar("a", 0),), (Bar("a", None),)], ids=["none", "zero", "not applicable"])
def test_a_chart_of_nothing_is_still_a_chart(charts: tuple[Bar, ...]) -> None:
    read(parts.bar_chart("c", "t", charts))
    read(parts.stacked_bars("d", "t", [Stack(b.label, {}) for b in charts], {}))


@pytest.mark.parametrize("scheme", [style.LIGHT, style.DARK], ids=["light", "dark"])
def test_text_has_a_contrast_of_four_and_a_half_and_fills_of_three(scheme: dict[str, str]) -> None:
    for ground in ("ground", "card", "track"):
        for name in ("ink", "muted", "accent", "good", "warn", "p0", "p1", "p2", "p3"):
            assert contrast(scheme[name], scheme[ground]) >= 4.5, f"{name} on {ground}"
    for name in ("s0", "s1", "s2", "s3", "s4", "s5"):
        assert contrast(scheme[name], scheme["card"]) >= 3, name


def contrast(one: str, other: str) -> float:
    """The contrast of two colours (WCAG 2.2)."""

    def luminance(colour: str) -> float:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_both_schemes_name_the_same_colours_and_every_one_that_is_used() -> None:
    assert style.LIGHT.keys() == style.DARK.keys()
    assert set(re.findall(r"var\(--([a-z0-9]+)\)", style.STYLE)) <= {*style.LIGHT, "p"}


def test_a_graph_shows_the_speaker_the_relations_the_value_and_the_parameter() -> None:
    drawn = path_graph(sample(), "g")
    words = read(drawn).words
    for word in ("speaker", "Bob", "mother", "Ann", "city", "Lisbon", "fills", "place", "weather"):
        assert word in words
    assert "Bob, mother: Ann, city: Lisbon, fills place = Lisbon in weather." in words


def test_a_common_beginning_is_drawn_once() -> None:
    facts = (
        Triple(head="Bob", relation="mother", tail="Ann"),
        Triple(head="Ann", relation="city", tail="Rome"),
        Triple(head="Ann", relation="car", tail="Fiat"),
    )
    paths = (RelationPath(start="Bob", relations=("mother", "city")), RelationPath(start="Bob", relations=("mother", "car")))
    drawn = path_graph(sample(golden_triples=facts, golden_paths=paths, argument_sources={}, calls=()), "g")
    assert drawn.count(">mother</text>") == 1
    assert drawn.count('class="node value"') == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"golden_paths": (RelationPath(start="Bob", relations=("sister", "city")),)}, "sister: ?, city: ?"),
        ({"golden_paths": ()}, "Bob, mother: Ann"),
        ({"golden_paths": (RelationPath(start="Bob", relations=tuple("abcdefghijkl")),)}, "6 more"),
        ({"calls": (ToolCall(name="weather", arguments={"place": 7}),)}, "place = 7"),
        ({"argument_sources": {}}, "fills"),
    ],
    ids=["path without facts", "facts without path", "a very long path", "another value", "no sources given"],
)
def test_odd_samples_are_drawn_as_far_as_they_go(changes: dict[str, object], words: str) -> None:
    assert words in read(path_graph(sample(**changes), "g")).words


def test_a_nested_argument_is_named_by_its_keys() -> None:
    source = {"/0/arguments/trip/stops/0": {"source": "graph", "path": {"start": "Bob", "relations": ["mother", "city"]}}}
    call = ToolCall(name="drive", arguments={"trip": {"stops": ["Lisbon"]}})
    assert ">trip/stops/0</text>" in path_graph(sample(argument_sources=source, calls=(call,)), "g")


def test_a_sample_without_facts_has_no_graph() -> None:
    assert path_graph(sample(golden_triples=(), golden_paths=()), "g") == ""


def test_facts_that_fork_without_end_are_counted_not_drawn() -> None:
    facts = tuple(Triple(head=f"n{i}", relation="r", tail=f"n{j}") for i in range(30) for j in range(30))
    drawn = path_graph(sample("n0", golden_triples=facts, golden_paths=(RelationPath(start="n0", relations=("r",) * 40),)), "g")
    assert len(drawn) < 100_000
    assert re.search(r"and [0-9]+ more<", drawn)
    assert drawn.count('class="node value"') <= MAX_ROWS


@pytest.mark.parametrize(
    "sources",
    [
        {"": {}},
        {"/x/arguments/place": {}},
        {"/9/arguments/place": {}},
        {"/0/arguments": {}},
        {"/²/arguments/place": {}},
        {"/0/arguments/place": {"source": "graph", "path": "no", "span": [5, 2]}},
        {"/0/arguments/place": {"source": "graph", "path": {"start": []}, "span": [True, 3]}},
        {"/0/arguments/place": {"source": 3, "span": [0, 10**9]}},
    ],
    ids=["empty", "no call number", "no such call", "no parameter", "not a digit", "no path", "no span", "span too long"],
)
def test_sources_that_make_no_sense_mark_nothing(sources: dict[str, object]) -> None:
    odd = sample(argument_sources=sources)
    assert all(g.path is None and g.span is None for g in groundings(odd))
    read(path_graph(odd, "g"))
