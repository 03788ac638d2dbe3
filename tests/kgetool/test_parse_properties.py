"""What holds for all texts, hostile ones included, and for the real ones."""

import ast
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.kgetool import parse
from familytool.kgetool.parse import Parsed, call_text, calls_of, parse_calls

Calls = list[dict[str, Any]]

SIGNATURES = {"sort": ["file_name", "reverse"], "Get Forecast": ["city", "days"]}
F1, G2 = '{"name": "f", "arguments": {"a": 1}}', '{"name": "g", "arguments": {"b": "x"}}'
TICKS = "```"

NAMES = st.text(min_size=1, max_size=12).filter(lambda name: name == name.strip())
IDENTIFIERS = st.from_regex(r"[a-z_][a-z0-9_]{0,8}(\.[a-z]{1,3})?", fullmatch=True)
TEXTS = st.text() | st.sampled_from(
    ["it's", '"', "\\", "C:\\new", "C:\nnew", "</think>", "<think>", TICKS, "Action: f\n", "</tool_call>", "[f(a=1)]", "é", "\r\n", "\x00"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def calls_named(names: st.SearchStrategy[str], least: int = 0) -> st.SearchStrategy[Calls]:
    arguments = st.dictionaries(st.sampled_from(["a", "b_c", "from"]) | TEXTS, VALUES, max_size=3)
    calls = st.builds(lambda name, given: {"name": name, "arguments": given}, names, arguments)
    return st.lists(calls, min_size=least, max_size=3)


def same(left: Any, right: Any) -> bool:
    """Equal with 1 unlike 1.0 and True, and in the same order of keys."""
    return json.dumps(left) == json.dumps(right)


SHORT = {"b": "0008", "f": "000c", "n": "000a", "r": "000d", "t": "0009"}


def as_json(calls: Any, ascii: bool) -> str:
    """JSON in which a drive's letter is followed by no short escape: `C:\\new` is refused as a likely path (the one exception)."""
    written = json.dumps(calls, ensure_ascii=ascii)
    return re.sub(r'("[A-Za-z]:)\\([bfnrt])', lambda match: f"{match[1]}\\u{SHORT[match[2]]}", written)


def json_is_read_back(calls: Calls, ascii: bool) -> None:
    written = as_json(calls, ascii)
    for text in (
        written,
        f"<think>Is it {G2}?</think>\n{written}",
        f"Sure\n{TICKS}json\n{written}\n{TICKS}",
        f"<tool_call>{written}</tool_call>",
        "\n".join(as_json(call, ascii) for call in calls) or "[]",
    ):
        parsed = parse_calls(text)
        assert parsed.faults == (), text
        assert same(list(parsed.calls), calls), text
        assert parsed.repairs == ()


def call_text_is_read_back(calls: Calls) -> None:
    text = call_text(calls)
    parsed = parse_calls(text, {call["name"]: [] for call in calls})
    assert parsed.faults == (), text
    assert same(list(parsed.calls), calls), text
    assert parsed.repairs == ()


def every_text_is_calls_or_faults(text: str) -> None:
    strict, repaired = parse_calls(text, SIGNATURES), parse_calls(text, SIGNATURES, repair=True)
    for parsed in (strict, repaired):
        assert isinstance(parsed, Parsed)
        assert not (parsed.calls and parsed.faults)
        assert all(0 <= fault.at <= len(text) and fault.code in ("parse_error", "duplicate_key", "truncated") for fault in parsed.faults)
        json.dumps(parsed.calls, allow_nan=False, ensure_ascii=False).encode()
        assert same(calls_of(list(parsed.calls)).calls, parsed.calls)
    assert strict.repairs == ()
    if not strict.faults:
        assert repaired == strict, "what is legal is not repaired"
    elif not repaired.faults:
        assert repaired.repairs, "no repair is silent"
        assert not any(fault.code == "truncated" for fault in strict.faults)
    else:
        assert repaired == strict


def no_prefix_is_an_answer(calls: Calls, ascii: bool) -> None:
    written = as_json(calls[0] if len(calls) == 1 else calls, ascii)
    known = {call["name"]: list[str]() for call in calls}
    for text in (written, f"{TICKS}\n{written}\n{TICKS}", f"<tool_call>{written}</tool_call>", call_text(calls)):
        for end in range(0, len(text), max(1, len(text) // 40)):
            parsed = parse_calls(text[:end], known, repair=True)  # what is legal is not repaired: so neither is it read without
            assert parsed.calls == (), text[:end]
            assert parsed.faults, text[:end]


def a_prefix_of_json_is_cut_off(calls: Calls, ascii: bool) -> None:
    text = as_json(calls, ascii)
    for end in range(1, len(text), max(1, len(text) // 40)):
        assert "truncated" in {fault.code for fault in parse_calls(text[:end]).faults}, text[:end]


def python_s_writing_is_repaired_to_the_same_calls(calls: Calls) -> None:
    """`repr` of calls is read as they are, or refused where it says what JSON cannot (an escape like `\\x00`)."""
    text = repr(calls)
    parsed = parse_calls(text, repair=True)
    if parsed.faults:
        assert "\\" in text, text
    else:
        assert same(list(parsed.calls), calls), text


WORDS = st.sampled_from(["it", "s", "dogs", "Tomorrow", "the boys", "(a)", "{b}", "[c]", ",", ":", "=", " and ", "# 1", *" " * 4, *"'" * 5])
UNESCAPED = st.lists(WORDS, max_size=8).map("".join).filter(lambda text: "'" in text and text.strip("'") == text)


def an_apostrophe_never_cuts_a_text(content: str) -> None:
    """A text in single quotes with apostrophes that are not escaped is read whole, or is a fault (imp-025)."""
    whole = [{"name": "f", "arguments": {"a": content, "b": 1}}]
    for text in (f"f(a='{content}', b=1)", f"[f(a='{content}', b=1)]", f"{{'name': 'f', 'arguments': {{'a': '{content}', 'b': 1}}}}"):
        assert parse_calls(text, {"f": ["a", "b", "c"]}).calls == ()
        repaired = parse_calls(text, {"f": ["a", "b", "c"]}, repair=True)
        assert repaired.faults or list(repaired.calls) == whole, text


FRAGMENTS = [
    *"{}[](),:='\"\\\n #-1’“”",
    *(
        "\\n",
        "//",
        "/* x */",
        "**",
        "f(",
        "f(a=1)",
        "[f(",
        "sort(",
        "'x'",
        '"a"',
        '"name": ',
        '"f"',
        '"arguments": ',
        "name",
        "True",
        "null",
    ),
    *(
        "NaN",
        "1e400",
        "0x1",
        "007",
        "s' ",
        "'s ",
        TICKS,
        "```json\n",
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "Get Forecast(",
    ),
    *("C:\\n", "\\ud800", "\ud800", "Action: f\n", "Action Input: {", "\n```\n", F1, G2, "{'name': 'f', 'arguments': {'a': 'it's'}}"),
]
ANY_TEXT = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join) | st.text()


@settings(max_examples=100)
@given(calls_named(NAMES), st.booleans())
def test_calls_as_json_are_read_back(calls: Calls, ascii: bool) -> None:
    json_is_read_back(calls, ascii)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(calls_named(NAMES), st.booleans())
def test_calls_as_json_are_read_back_soak(calls: Calls, ascii: bool) -> None:
    json_is_read_back(calls, ascii)


@settings(max_examples=100)
@given(calls_named(NAMES | IDENTIFIERS))
def test_calls_as_call_text_are_read_back(calls: Calls) -> None:
    call_text_is_read_back(calls)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(calls_named(NAMES | IDENTIFIERS))
def test_calls_as_call_text_are_read_back_soak(calls: Calls) -> None:
    call_text_is_read_back(calls)


@settings(max_examples=100)
@given(ANY_TEXT)
def test_every_text_is_calls_or_faults(text: str) -> None:
    every_text_is_calls_or_faults(text)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(ANY_TEXT)
def test_every_text_is_calls_or_faults_soak(text: str) -> None:
    every_text_is_calls_or_faults(text)


@settings(max_examples=100)
@given(calls_named(IDENTIFIERS, least=1), st.booleans())
def test_no_proper_prefix_of_an_answer_is_an_answer(calls: Calls, ascii: bool) -> None:
    no_prefix_is_an_answer(calls, ascii)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(calls_named(IDENTIFIERS, least=1), st.booleans())
def test_no_proper_prefix_of_an_answer_is_an_answer_soak(calls: Calls, ascii: bool) -> None:
    no_prefix_is_an_answer(calls, ascii)


@settings(max_examples=100)
@given(calls_named(NAMES, least=1), st.booleans())
def test_a_proper_prefix_of_json_is_cut_off(calls: Calls, ascii: bool) -> None:
    a_prefix_of_json_is_cut_off(calls, ascii)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(calls_named(NAMES, least=1), st.booleans())
def test_a_proper_prefix_of_json_is_cut_off_soak(calls: Calls, ascii: bool) -> None:
    a_prefix_of_json_is_cut_off(calls, ascii)


@settings(max_examples=100)
@given(calls_named(IDENTIFIERS, least=1))
def test_python_s_writing_is_repaired_to_the_same_calls(calls: Calls) -> None:
    python_s_writing_is_repaired_to_the_same_calls(calls)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(calls_named(IDENTIFIERS, least=1))
def test_python_s_writing_is_repaired_to_the_same_calls_soak(calls: Calls) -> None:
    python_s_writing_is_repaired_to_the_same_calls(calls)


@settings(max_examples=100)
@given(UNESCAPED)
def test_imp_025_an_apostrophe_never_cuts_a_text(content: str) -> None:
    an_apostrophe_never_cuts_a_text(content)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(UNESCAPED)
def test_imp_025_an_apostrophe_never_cuts_a_text_soak(content: str) -> None:
    an_apostrophe_never_cuts_a_text(content)


@pytest.mark.parametrize("name", ["", " f", "f\n"], ids=repr)
def test_a_name_that_call_text_cannot_hold_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be written as call text"):
        call_text([{"name": name, "arguments": {}}])


@pytest.mark.parametrize("value", [float("nan"), "\ud800", {1: 2}, {1}, b"x"], ids=ascii)
def test_a_value_that_call_text_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="no value of JSON"):
        call_text([{"name": "f", "arguments": {"a": value}}])


# Hostile texts -----------------------------------------------------------------------------------------------------------

PARTS = """{ [ ( ' " \\ ` “ ’ - 1 # <think> </think> <think></think> <tool_call> <tool_call>{"a": ``` Action: [{ {"a": [[], {"a":"\\ud800",
f( f(a= KG.search( f(a=(1,), {“a”: // /* 'a's NaN {"a":NaN, {a a. it's **{ ''' 1e Action·Input: · ¶ ```¶ Action:¶ {· ```¶{}¶```¶ \ufeff"""
REPEATED = [part.replace("·", " ").replace("¶", "\n") for part in PARTS.split()]
ANSWERS = ['{"name":"f"}', '{"name":"f"},', "Action: f\nAction Input: {}\n", "f(a=1)\n", '<tool_call>{"name":"f"}</tool_call>']
STARTS = [
    "[",
    "f(a=[",
    "f(a='",
    '{"name":"f","arguments":{"a":"',
    "{'name': 'f', 'arguments': {'x': [",
    "{'a': '",
    "<think>",
    "Action: f\nAction Input: {'a': '",
]
FOLLOWED = ["\n", "'s ", "1,", " ", '""," ",', ", 'a'", "(1,),", "# x\n", "s' ", "x' # "]
HOSTILE = {
    **{f"{part!r} again and again": part * (1_000_000 // len(part)) for part in REPEATED},
    **{f"{part!r} again and again": part * (100_000 // len(part)) for part in ANSWERS},
    **{f"{start!r}, then {part!r}": start + part * (100_000 // len(part)) for start in STARTS for part in FOLLOWED},
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=map(ascii, HOSTILE))
def test_a_hostile_text_ends_in_calls_or_faults(text: str) -> None:
    parsed = parse_calls(text, SIGNATURES, repair=True)
    assert bool(parsed.faults) != bool(parsed.calls)


def steps(text: str) -> int:
    """How many calls of functions, in Python and in C, a text takes: a count that no machine changes."""
    count = 0

    def profile(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        parse_calls(text, SIGNATURES, repair=True)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("part", FOLLOWED, ids=ascii)
@pytest.mark.parametrize("start", STARTS, ids=ascii)
def test_twice_the_text_takes_at_most_twice_the_steps(start: str, part: str) -> None:
    steps(start + part * 10)  # what is compiled once is compiled now
    assert steps(start + part * 800) <= 2 * steps(start + part * 400) + 100


# Where it runs, and on what ----------------------------------------------------------------------------------------------


def test_the_folder_runs_by_itself(tmp_path: Path) -> None:
    shutil.copytree(Path(parse.__file__).parent, tmp_path / "space", ignore=shutil.ignore_patterns("__pycache__"))
    program = "from space.parse import parse_calls; import sys; print(parse_calls('f(a=1)').calls, 'familytool' in sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "({'name': 'f', 'arguments': {'a': 1}},) False"


@pytest.mark.full
def test_every_response_of_mtu_bench_is_calls_or_words(foreign_data: Callable[[str], Path]) -> None:
    counts: Counter[tuple[str, bool]] = Counter()
    n_calls = 0
    for name in ("S-S", "S-M"):
        for line in (foreign_data("mtu-bench") / f"{name}_gpt4_response.jsonl").read_text(encoding="utf-8").splitlines():
            parsed = parse_calls(json.loads(line)["response"])
            counts[parsed.spelling, bool(parsed.calls)] += 1
            n_calls += len(parsed.calls)
    assert counts == {("actions", True): 163, ("actions", False): 2, ("prose", False): 33}
    assert n_calls == 392


@pytest.mark.full
def test_every_call_text_of_bfcl_is_read_as_python_reads_it_or_has_a_named_fault(foreign_data: Callable[[str], Path]) -> None:
    folder = foreign_data("bfcl")
    signatures: dict[str, list[str]] = {}
    for path in sorted((folder / "multi_turn_func_doc").glob("*.json")):
        for document in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            signatures[document["name"]] = list(document["parameters"]["properties"])
    counts: Counter[str] = Counter()
    rows = (folder / "possible_answer" / "BFCL_v4_multi_turn_base.json").read_text(encoding="utf-8").splitlines()
    for text in (text for row in rows for turn in json.loads(row)["ground_truth"] for text in turn):
        parsed = parse_calls(text, signatures)
        counts["texts"] += 1
        counts["positional"] += any("by the document's order" in note for note in parsed.notes)
        if parsed.faults:
            assert [fault.code for fault in parsed.faults] == ["parse_error"]
            assert "the document of the tool is not known" in parsed.faults[0].message
            counts["no document"] += 1
        else:
            assert list(parsed.calls) == [as_python_reads(text, signatures)]
    assert counts == {"texts": 1142, "positional": 4, "no document": 36}


@pytest.mark.full
def test_every_unused_call_text_of_bfcl_is_read_as_python_reads_it(foreign_data: Callable[[str], Path]) -> None:
    path = foreign_data("bfcl") / "unused" / "possible_answer_BFCL_v4_exec_simple.json"
    texts = [text for row in path.read_text(encoding="utf-8").splitlines() for text in json.loads(row)["ground_truth"]]
    assert len(texts) == 100
    for text in texts:
        assert list(parse_calls(text).calls) == [as_python_reads(text, {})]


def as_python_reads(text: str, signatures: dict[str, list[str]]) -> dict[str, Any]:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call)
    name = ast.unparse(node.func)
    values = {key: ast.literal_eval(value) for key, value in zip(signatures.get(name, []), node.args, strict=False)}
    values |= {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    assert len(values) == len(node.args) + len(node.keywords)
    return {"name": name, "arguments": json.loads(json.dumps(values))}
