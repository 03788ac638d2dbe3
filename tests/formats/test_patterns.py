r"""Patterns have their ECMA-262 meaning, are run only where that takes bounded time, and refuse nothing elsewhere."""

import itertools
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.formats.charsets import complement, overlap, union
from familytool.formats.pattern_cost import MAX_TEXT, longest_text
from familytool.formats.pattern_parts import parse_pattern
from familytool.formats.patterns import compile_pattern, is_match, pattern_trouble
from familytool.formats.schema import normalise_parameters
from familytool.formats.schema_words import pattern_note

MEANT: dict[str, tuple[str, list[str], list[str]]] = {
    # id: (pattern, texts in which it is found, texts in which it is not)
    "val-015 anchored": (r"^\d{4}$", ["2024"], ["2024\n", "\n2024", "٢٠٢٤", "20245", "x2024"]),
    "val-015 searched": (r"\d{4}", ["in 2024!", "20245"], ["in 24!", "2 0 2 4"]),
    "val-015 the end is the end": ("a$", ["ba"], ["a\n", "a\r\n", "a\nb"]),
    "val-015 the start is the start": ("^b", ["b\na"], ["a\nb"]),
    "words are ASCII": (r"^\w+$", ["a_9"], ["é", "a-b", ""]),
    "no words": (r"^\W$", ["é", "-"], ["a", "_"]),
    "no digits": (r"^\D$", ["٢", "a"], ["2"]),
    "spaces are Unicode": (r"^\s$", [" ", "\u00a0", "\u3000", "\ufeff", "\v", "\u2028"], ["\x1c", "\x85", "\u200b", "x"]),
    "no spaces": (r"^\S$", ["\x1c", "\x85", "x"], [" ", "\u00a0"]),
    "no spaces in a class": (r"^[\S ]$", ["x", " "], ["\u00a0", "\n"]),
    "a point is no line terminator": ("^.$", ["x", "\v", "\x85", "\U0001f388"], ["\n", "\r", "\u2028", "\u2029", ""]),
    "a word boundary is ASCII": (r"\bb", ["a b", "éb"], ["ab"]),
    "no word boundary": (r"\Bb", ["ab"], ["a b"]),
    "a slash": (r"^https?:\/\/x", ["https://x"], [r"https:\/\/x"]),
    "a hyphen": (r"^a\-b$", ["a-b"], ["a\\-b"]),
    "escapes of controls": (r"^\t\n\v\f\r\0\cJ$", ["\t\n\v\f\r\0\n"], ["tnvfr0"]),
    "escapes of code points": (r"^\x41\u00e9\u{1F388}$", ["Aé\U0001f388"], ["A"]),
    "a pair of surrogates": (r"^\ud83c\udf88$", ["\U0001f388"], ["\ud83c"]),
    "a backspace in a class": (r"^[\b]$", ["\b"], ["b"]),
    "an open bracket in a class": ("^[[a]+$", ["[a["], ["]"]),
    "signs that Python reads into a class": ("^[a&&b||~~c-]+$", ["a&|~-c"], ["d"]),
    "a range behind a class": (r"^[\w-.]+$", ["a-b.c"], ["a b"]),
    "a hyphen at the end": ("^[a-]$", ["-", "a"], ["b"]),
    "an empty class": ("[]", [], ["", "]", "a"]),
    "a class of everything": ("^[^]$", ["\n", "]"], ["", "ab"]),
    "not in a class": (r"^[^\d\n]$", ["a", "\r"], ["1", "\n"]),
    "braces that count nothing": ("^{a}$", ["{a}"], ["a"]),
    "a closing bracket": ("^]}$", ["]}"], []),
    "a brace within": (r"^\{\w+}$", ["{ab}"], ["ab"]),
    "a count": ("^a{2,3}$", ["aa", "aaa"], ["a", "aaaa"]),
    "an open count": ("^a{2,}$", ["aa", "aaaaa"], ["a"]),
    "a lazy loop": ("^a+?$", ["aaa"], ["aab"]),
    "branches": ("^(red|green|blue)$", ["red", "blue"], ["re", "redgreen"]),
    "branches without a group": ("^a|b$", ["ax", "xb"], ["xa", "bx"]),
    "an empty branch": ("^(a|)$", ["a", ""], ["b"]),
    "imp-017 a look-ahead": ("^(?!null$).+", ["x", "nullx"], ["null", ""]),
    "two look-aheads": (r"^(?=.*[A-Z])(?=.*\d).{8,}$", ["Abcdefg1"], ["abcdefg1", "Abcdefgh", "Ab1"]),
    "a look-behind": ("(?<=a)b", ["ab"], ["b", "cb"]),
    "no look-behind": ("(?<!a)b", ["b", "cb"], ["ab"]),
    "an address of IPv4": (
        r"^((25[0-5]|2[0-4]\d|[01]?\d?\d)\.){3}(25[0-5]|2[0-4]\d|[01]?\d?\d)$",
        ["127.0.0.1", "255.255.255.255"],
        ["256.0.0.1", "1.2.3"],
    ),
    "an e-mail address": (r"^[^@\s]+@[^@\s]+\.[^@\s]+$", ["a@b.c"], ["a@b", "a @b.c", "a@b.c "]),
    "any texts but spaces": (r"^\S+@\S+\.\S+$", ["a@b.c"], ["a b@c.d"]),
    "days": ("^(Mon|Tue|Thu)(,(Mon|Tue|Thu))*$", ["Mon", "Tue,Thu"], ["Mon,", "TueThu"]),
    "nothing at all": ("", ["", "x"], []),
    "more than is needed": (r"\w+@\w+", ["me: a@b!"], ["@b", "a@"]),
}


@pytest.mark.parametrize(("pattern", "found", "not_found"), MEANT.values(), ids=MEANT.keys())
def test_a_pattern_means_what_ecma_262_says(pattern: str, found: list[str], not_found: list[str]) -> None:
    assert pattern_trouble(pattern) == ""
    assert "not run" not in pattern_note(pattern)
    assert [text for text in found if is_match(pattern, text) is not True] == []
    assert [text for text in not_found if is_match(pattern, text) is not False] == []


TROUBLE = {
    "imp-017 a Unicode class": (r"^\p{L}+$", "Unicode classes"),
    "no Unicode class": (r"\P{Lu}", "Unicode classes"),
    "imp-017 a named group": (r"(?<y>\d{4})", "named groups"),
    "a reference to a group": (r"^(a)\1$", "references to groups"),
    "a reference to a named group": (r"\k<y>", "references to groups"),
    "a flag": ("(?i)abc", "is no ECMA-262"),
    "a named group of Python": ("(?P<y>a)", "is no ECMA-262"),
    "an atomic group": ("(?>a)", "is no ECMA-262"),
    "anchors of Perl": (r"\Aabc\Z", "is no ECMA-262"),
    "a class of POSIX": ("^[[:alpha:]]+$", "is no ECMA-262"),
    "a count of Python": ("a{,5}", "is no ECMA-262"),
    "a possessive loop": ("a++", "second quantifier"),
    "a loop of nothing": ("*a", "nothing to repeat"),
    "a loop of a place": ("^*", "cannot be repeated"),
    "an open group": ("(a", "without its ')'"),
    "a closed group": ("a)", "without its '('"),
    "an open class": ("[a", "ends too early"),
    "a range out of order": ("[z-a]", "out of order"),
    "a count out of order": ("a{3,2}", "out of order"),
    "a large count": ("a{999999999999}", "a count is above"),
    "an escape of nothing": ("a\\", "ends too early"),
    "no hexadecimal number": (r"\u12", "ends too early"),
    "no code point": (r"\u{110000}", "there is no character"),
    "an octal escape": (r"\012", "is no ECMA-262"),
    "a look-behind of any length": ("(?<=a*)b", "look-behind"),
    "nested too deep": ("(" * 60 + "a" + ")" * 60, "nested deeper"),
    "too long": ("a" * 600, "longer than"),
    "a loop in a loop": ("^(a+)+$", "too long"),
    "a loop that can take nothing": ("^(a?)*$", "too long"),
    "branches that begin alike for longer than one can see": ("^(ab|[ab])*$", "too long"),
    "separators that may be left out": (r"^(\d+,?)+$", "too long"),
    "bounded loops in bounded loops": ("^(a{1,100}){1,100}$", "too long"),
    "many loops in a row": ("^.*.*.*.*.*.*x$", "too long"),
}


@pytest.mark.parametrize(("pattern", "reason"), TROUBLE.values(), ids=TROUBLE.keys())
def test_a_pattern_that_is_not_run_refuses_nothing_and_says_why(pattern: str, reason: str) -> None:
    assert compile_pattern(pattern) is None
    assert is_match(pattern, "x") is None
    assert reason in pattern_trouble(pattern)
    assert pattern_note(pattern).endswith(f"is not run here ({pattern_trouble(pattern)}); no value is judged by it")
    assert normalise_parameters({"type": "object", "properties": {"a": {"pattern": pattern}}})[1] == [
        f"#/properties/a/pattern: {pattern_note(pattern)}"
    ]


LIMITS = {
    "one loop": (r"^[a-z]+$", MAX_TEXT),
    "loops that the next character tells apart": (r"^[a-z]+(-[a-z]+)*$", MAX_TEXT),
    "a loop behind its own bracket": (r"\(\d+\)", MAX_TEXT),
    "two loops that overlap": ("^a*a*$", 1_000),
    "a loop that may begin anywhere": (r"x[a-z]+\d", 1_000),
    "three loops that overlap": (r"^\S+@\S+\.\S+$", 100),
    "a long fixed loop that may begin anywhere": ("a{5000}b", 1_000),
    "four loops that overlap": ("^.*.*.*.*$", 0),
    "a loop in a loop": ("^(a+)+$", 0),
}


@pytest.mark.parametrize(("pattern", "limit"), LIMITS.values(), ids=LIMITS.keys())
def test_the_longer_a_pattern_may_take_the_shorter_a_text_it_is_run_on(pattern: str, limit: int) -> None:
    assert longest_text(parse_pattern(pattern)) == limit


def test_a_text_that_is_too_long_for_a_pattern_is_not_judged() -> None:
    assert is_match("^a*$", "b" * MAX_TEXT) is False
    assert is_match("^a*$", "b" * (MAX_TEXT + 1)) is None
    assert is_match("^a*a*$", "b" * 1_001) is None


@pytest.mark.parametrize("text", ["a" * 9_998 + "!", "ab" * 4_999 + "!", "1" * 9_999, "@." * 4_999, "a-" * 4_999 + "!", "\n" * 10_000])
def test_hostile_texts_end_for_every_pattern_that_is_run(text: str) -> None:
    for pattern, _, _ in MEANT.values():
        for length in (100, 1_000, 10_000):
            is_match(pattern, text[-length:])


def test_sets_of_characters() -> None:
    letters = ((97, 122),)
    assert union(letters, ((123, 125),), ((100, 101),)) == ((97, 125),)
    assert complement(complement(letters)) == letters
    assert complement(()) == ((0, 0x10FFFF),)
    assert not overlap(letters, complement(letters))
    assert overlap(letters, ((0, 97),))


ATOMS = st.sampled_from(["a", "b", "[ab]", "[^a]", ".", "^", "$", "\\b"])
COUNTS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "{0,20}"])


def _groups(inner: Any) -> Any:
    part = st.tuples(st.sampled_from(["(", "(?:"]), inner, st.just(")"), COUNTS).map("".join)
    looks = st.tuples(st.sampled_from(["(?=", "(?!"]), inner, st.just(")")).map("".join)
    plain = st.tuples(ATOMS, COUNTS).map(lambda pair: pair[0] + ("" if pair[0] in ("^", "$", "\\b") else pair[1]))
    sequence = st.lists(plain | part | looks, max_size=3).map("".join)
    return st.lists(sequence, min_size=1, max_size=3).map("|".join)


PATTERNS = st.recursive(st.tuples(ATOMS.filter(lambda a: a not in ("^", "$", "\\b")), COUNTS).map("".join), _groups, max_leaves=6)
TEXTS = ["".join(letters) for length in range(6) for letters in itertools.product("ab", repeat=length)]


def agrees_with_re(pattern: str) -> None:
    """Where Python and ECMA-262 mean the same, the pattern as it is rewritten here finds what `re` finds."""
    if compile_pattern(pattern) is not None:
        plain = re.compile(pattern)
        assert [text for text in TEXTS if is_match(pattern, text) is not bool(plain.search(text))] == []


@settings(max_examples=100)
@given(PATTERNS)
def test_a_rewritten_pattern_finds_what_the_pattern_finds(pattern: str) -> None:
    agrees_with_re(pattern)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(PATTERNS)
def test_a_rewritten_pattern_finds_what_the_pattern_finds_often(pattern: str) -> None:
    agrees_with_re(pattern)


def ends(pattern: str, text: str) -> None:
    """Any text is a pattern that is run or is not, and a run ends."""
    trouble = pattern_trouble(pattern)
    assert (compile_pattern(pattern) is None) == bool(trouble)
    for repeated in (text, text * 200, (text or "x") * 10_000):
        assert is_match(pattern, repeated[:MAX_TEXT]) in ((None,) if trouble else (True, False, None))


PIECES = st.lists(st.sampled_from(list("ab^$.|*+?(){}[]\\-,1dwsSbpux=!<:")) | st.characters(), max_size=14).map("".join)


@settings(max_examples=100)
@given(PIECES, st.text(alphabet="ab1 -\n", max_size=8))
def test_any_text_can_be_a_pattern(pattern: str, text: str) -> None:
    ends(pattern, text)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(PATTERNS | PIECES, st.text(alphabet="ab1 -\n", max_size=8))
def test_any_text_can_be_a_pattern_often(pattern: str, text: str) -> None:
    ends(pattern, text)
