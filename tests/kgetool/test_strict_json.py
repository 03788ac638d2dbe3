"""The strict decoder: what it refuses, with which code, and where."""

import ast
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.formats import text as formats_text
from familytool.kgetool import strict_json
from familytool.kgetool.strict_json import TextError, check_value, parse_json, parse_json_prefix, parse_python_literal

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)

REFUSED = {
    "val-021-nan": ('{"x": NaN}', "parse_error", "NaN is not JSON"),
    "val-021-minus-infinity": ('{"y": -Infinity}', "parse_error", "-Infinity is not JSON"),
    "val-021-overflow": ('{"z": 1e400}', "parse_error", "the number 1e400 is too large"),
    "val-021-minus-overflow": ("[-1E999]", "parse_error", "too large"),
    "val-021-many-digits": ("1" * 5_000, "parse_error", "not JSON: .*digits"),
    "imp-031": ('{"name":"f","arguments":{"a":1,"a":2}}', "duplicate_key", "the key 'a' occurs twice"),
    "imp-031-equal-values": ('{"a":1,"a":1}', "duplicate_key", "the key 'a' occurs twice"),
    "imp-031-by-escape": ('{"a":1,"\\u0061":2}', "duplicate_key", "the key 'a' occurs twice"),
    "imp-031-empty-key": ('{"":1,"":2}', "duplicate_key", "the key '' occurs twice"),
    "imp-031-far-apart": ("{" + ",".join(f'"{n}":0' for n in range(100_000)) + ',"7":0}', "duplicate_key", "the key '7' occurs twice"),
    "surplus text": ("{} x", "parse_error", "more text after the JSON value, at character 3"),
    "two objects": ('{"a":1}{"a":2}', "parse_error", "more text after the JSON value, at character 8"),
    "single quotes": ("{'a': 1}", "parse_error", "line 1, column 2"),
    "trailing comma": ("[1,\n2,]", "parse_error", "line 2"),
    "True": ("[True]", "parse_error", "column 2"),
    "007": ("[007]", "parse_error", "column 3"),
    "hexadecimal": ("[0x1F]", "parse_error", "column 3"),
    "plus": ("[+1]", "parse_error", "column 2"),
    "no digit before the point": ("[.5]", "parse_error", "column 2"),
    "raw line break": ('["a\nb"]', "parse_error", "control character"),
    "backslash": ('["C:\\dir"]', "parse_error", "escape"),
    "half an escape": ('["\\u12g4"]', "parse_error", "escape"),
    "too deep": ("[" * 66 + "]" * 66, "parse_error", "nested deeper than 64 levels"),
    "much too deep": ("[" * 1_000_000, "parse_error", "nested deeper than 64 levels"),
    "empty": ("", "parse_error", "line 1, column 1"),
    "blank": (" \n ", "parse_error", "not JSON"),
    "unclosed text": ('{"a": "b', "truncated", "Unterminated string"),
    "unclosed text behind a line break": ('{"a": "b\nc', "truncated", "not JSON"),
    "cut in an escape": ('["a\\u00', "truncated", "not JSON"),
    "cut behind a backslash": ('["a\\', "truncated", "not JSON"),
    "cut in a word": ("[tru", "truncated", "not JSON"),
    "cut in a number": ("[1.", "truncated", "not JSON"),
    "cut behind a sign": ("[-", "truncated", "not JSON"),
    "cut in an exponent": ("[1e+", "truncated", "not JSON"),
    "cut behind a comma": ('{"a": 1,\n ', "truncated", "not JSON"),
    "cut behind a colon": ('{"a":', "truncated", "not JSON"),
    "cut with a key twice before": ('{"a":{"b":1,"b":2},', "truncated", "not JSON"),
    "a wrong bracket is not cut off": ('{"a": [1}', "parse_error", "not JSON"),
    "a bracket too many is not cut off": ('{"a": 1}}', "parse_error", "more text"),
}


@pytest.mark.parametrize(("text", "code", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_json_has_a_code_and_a_place(text: str, code: str, message: str) -> None:
    with pytest.raises(TextError, match=message) as caught:
        parse_json(text)
    assert caught.value.code == code
    assert 0 <= caught.value.at <= len(text)


def test_the_longest_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict_json, "MAX_CHARACTERS", 10)
    with pytest.raises(TextError, match="11 characters are too many"):
        parse_json("[         ]")


def test_the_deepest_value_that_is_taken() -> None:
    assert parse_json("[" * 65 + "]" * 65)
    assert parse_json("[" * 64 + "1" + "]" * 64)


def test_a_prefix_is_read_up_to_its_end() -> None:
    assert parse_json_prefix('x {"a": 1} y', 2) == ({"a": 1}, 10)


@pytest.mark.parametrize("name", formats_text.__all__)
def test_the_readers_of_formats_have_the_same_implementation(name: str) -> None:
    assert getattr(formats_text, name) is getattr(strict_json, name)


def prefixes_are_cut_off(value: Any) -> None:
    """Every proper prefix of an object is refused as cut off, and the whole is read."""
    text = json.dumps({"a": value}, ensure_ascii=False)
    assert parse_json(text) == {"a": value}
    for end in range(1, len(text)):
        with pytest.raises(TextError) as caught:
            parse_json(text[:end])
        assert caught.value.code == "truncated", text[:end]


@settings(max_examples=100)
@given(JSON)
def test_every_prefix_of_an_object_is_cut_off(value: Any) -> None:
    prefixes_are_cut_off(value)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(JSON)
def test_every_prefix_of_an_object_is_cut_off_soak(value: Any) -> None:
    prefixes_are_cut_off(value)


def reads_what_json_reads(text: str) -> None:
    """Whatever the standard decoder reads is either the same here or refused; what it refuses is refused."""
    try:
        expected = json.loads(text)
    except (ValueError, RecursionError):
        with pytest.raises(TextError):
            parse_json(text)
        return
    try:
        value = parse_json(text)
    except TextError:
        return
    assert json.dumps(value) == json.dumps(expected)


BITS = st.sampled_from(["{", "}", "[", "]", ":", ",", '"', '"a"', '"b"', "1", "-", "1e400", "NaN", "true", "\\", "\\u00", " ", "\n", "'"])


@settings(max_examples=100)
@given(st.lists(BITS, max_size=12).map("".join) | st.text())
def test_arbitrary_text_is_read_as_the_standard_decoder_reads_it_or_refused(text: str) -> None:
    reads_what_json_reads(text)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(st.lists(BITS, max_size=12).map("".join) | st.text())
def test_arbitrary_text_is_read_as_the_standard_decoder_reads_it_or_refused_soak(text: str) -> None:
    reads_what_json_reads(text)


LITERALS = {
    "imp-031-dict": ("{'a': 1, 'a': 2}", "duplicate_key", "the key 'a' occurs twice"),
    "imp-031-nested": ("[{'b': {'a': 1, 'a': 1}}]", "duplicate_key", "the key 'a' occurs twice"),
    "tuple": ("(1, 2)", "parse_error", "tuple"),
    "set": ("{1, 2}", "parse_error", "set"),
    "bytes": ("b'a'", "parse_error", "bytes"),
    "number as key": ("{1: 2}", "parse_error", "not all texts"),
    "overflow": ("1e400", "parse_error", "float inf"),
    "call": ("open('x')", "parse_error", "neither JSON nor a Python literal"),
    "expression": ("2**9", "parse_error", "neither JSON nor a Python literal"),
    "cut off": ("[1, 2", "parse_error", "neither JSON nor a Python literal"),
    "huge hexadecimal": ("[0x" + "f" * 5_000 + "]", "parse_error", "too many digits"),
    "huge hexadecimal in a set": ("{0x" + "f" * 5_000 + "}", "parse_error", "JSON cannot hold"),
    "too deep": ("[" * 66 + "]" * 66, "parse_error", "nested deeper"),
}


@pytest.mark.parametrize(("text", "code", "message"), LITERALS.values(), ids=LITERALS.keys())
def test_a_python_literal_that_json_cannot_hold_is_refused(text: str, code: str, message: str) -> None:
    with pytest.raises(TextError, match=message) as caught:
        parse_python_literal(text)
    assert caught.value.code == code


def test_a_python_literal_is_read_as_python_reads_it() -> None:
    assert parse_python_literal("  {'a': [True, None, -1.5, 'it\\'s'], 'b': 0x1F}") == {"a": [True, None, -1.5, "it's"], "b": 31}


def _set_in(value: Any) -> dict[str, Any]:
    return {"a": [0, {"b": value}]}


@pytest.mark.parametrize(
    "make", [lambda: float("nan"), lambda: float("-inf"), lambda: "\ud800", lambda: (1,), lambda: {1}, lambda: b"x", lambda: {1: 2}]
)
def test_a_decoded_value_that_json_cannot_hold_is_refused_with_its_pointer(make: Callable[[], Any]) -> None:
    with pytest.raises(TextError, match="/a/1/b"):
        check_value(_set_in(make()))


@settings(max_examples=100)
@given(JSON)
def test_a_value_of_json_passes(value: Any) -> None:
    check_value(value)


def test_the_package_of_the_scorer_imports_the_standard_library_alone() -> None:
    names = {name.partition(".")[0] for module in _files() for name in _imported(module)}
    assert names <= set(sys.stdlib_module_names), names - set(sys.stdlib_module_names)


def _files() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in Path(strict_json.__file__).parent.glob("*.py") if path.name != "kgetool.py"]


def _imported(text: str) -> list[str]:
    found: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.append(node.module or "")
    return found
