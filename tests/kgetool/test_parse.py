"""Calls out of texts: every spelling with its outcome, strict and with repair, and what holds for all texts."""

import json
import re
from typing import Any

import pytest

from familytool.kgetool.parse import parse_calls

Calls = list[dict[str, Any]]

SIGNATURES = {
    "sort": ["file_name", "reverse"],
    "Get Forecast": ["city", "days"],
    "a.b c/d (new)": ["Content-Type", "q"],
    "plain": [],
}


def call(_name: str = "f", /, **arguments: Any) -> dict[str, Any]:
    return {"name": _name, "arguments": arguments}


F1 = '{"name": "f", "arguments": {"a": 1}}'
G2 = '{"name": "g", "arguments": {"b": "x"}}'
TICKS = "```"

LEGAL: dict[str, tuple[str, Calls, str]] = {
    # JSON
    "object": (F1, [call(a=1)], "json"),
    "list": (f"[{F1}, {G2}]", [call(a=1), call("g", b="x")], "json"),
    "empty list": (" [ ] ", [], "json"),
    "empty tool_calls": ('{"role": "assistant", "content": null, "tool_calls": []}', [], "json"),
    "byte order mark": ("\ufeff" + F1, [call(a=1)], "json"),
    "json lines (68)": (f"{F1}\n{G2}\n", [call(a=1), call("g", b="x")], "json_lines"),
    "concatenated (68)": (F1 + G2, [call(a=1), call("g", b="x")], "json_lines"),
    "gen-008": ('{"name":"a","arguments":{}}\n{"name":"b","arguments":{"x":1}}', [call("a"), call("b", x=1)], "json_lines"),
    "gen-008 a list": ('[{"name":"a","arguments":{}},{"name":"b","arguments":{"x":1}}]', [call("a"), call("b", x=1)], "json"),
    "gen-008 two blocks": (
        '<tool_call>{"name":"a","arguments":{}}</tool_call>\n<tool_call>{"name":"b","arguments":{"x":1}}</tool_call>',
        [call("a"), call("b", x=1)],
        "hermes",
    ),
    "gen-008 with a comma": ('{"name":"a","arguments":{}}, {"name":"b","arguments":{"x":1}}', [call("a"), call("b", x=1)], "json_lines"),
    "gen-008 with a comma, equal ones": (f"{F1},\n{F1}", [call(a=1), call(a=1)], "json_lines"),
    "gen-004": ('{"name":"s","arguments":{"q":"what\'s the user\'s plan"}}', [call("s", q="what's the user's plan")], "json"),
    "three copies are three calls (67)": (F1 * 3, [call(a=1)] * 3, "json_lines"),
    "escapes": ('{"name": "f", "arguments": {"a": "\\u00e9\\ud83d\\ude00\\n\\"\\\\"}}', [call(a='é😀\n"\\')], "json"),
    "text that is JSON stays a text (32)": ('{"name": "f", "arguments": {"a": "{\\"p\\":1}"}}', [call(a='{"p":1}')], "json"),
    "null and nested": ('{"name": "f", "arguments": {"a": null, "b": [{"c": {}}]}}', [call(a=None, b=[{"c": {}}])], "json"),
    # wrappings
    "fence": (f"{TICKS}json\n{F1}\n{TICKS}", [call(a=1)], "json"),
    "fence without a language": (f"{TICKS}\n{F1}\n{TICKS}\n", [call(a=1)], "json"),
    "fence with prose around (62)": (f"Sure:\n{TICKS}json\n[{F1}]\n{TICKS} done", [call(a=1)], "json"),
    "fence on one line": (f"{TICKS}json {F1} {TICKS}", [call(a=1)], "json"),
    "fence that closes behind the value": (f"{TICKS}json\n{F1}{TICKS}", [call(a=1)], "json"),
    "fence with CRLF": (f"Here\r\n{TICKS}json\r\n{F1}\r\n{TICKS}\r\n", [call(a=1)], "json"),
    "fence of call text": (f"{TICKS}python\nf(a=1)\n{TICKS}", [call(a=1)], "call_text"),
    "fences with nothing between": (f"{TICKS}json\n{F1}\n{TICKS}\n\n{TICKS}json\n{G2}\n{TICKS}", [call(a=1), call("g", b="x")], "json"),
    "fence of several lines of JSON": (f"{TICKS}json\n{F1}\n{G2}\n{TICKS}", [call(a=1), call("g", b="x")], "json_lines"),
    "text with a fence in it": (json.dumps(call(a=f"{TICKS}py\nx\n{TICKS}")), [call(a=f"{TICKS}py\nx\n{TICKS}")], "json"),
    "gen-002": (
        f'<think>maybe {{"name":"g","arguments":{{}}}}?</think>\n\n{TICKS}json\n{{"name":"f","arguments":{{"a":1}}}}\n{TICKS}\n',
        [call(a=1)],
        "json",
    ),
    "gen-002-without-fence": ('<think>maybe {"name":"g","arguments":{}}?</think>\n\n' + F1, [call(a=1)], "json"),
    "gen-002-several-blocks": (f"<think>a</think>\n<think>b {G2}</think> c <think>d</think>{F1}", [call(a=1)], "json"),
    "gen-002-upper-case": (f"<THINK>{G2}</Think>{F1}", [call(a=1)], "json"),
    "gen-002-other-tags": (f"<reasoning>{G2}</reasoning><thinking>x</thinking>{F1}", [call(a=1)], "json"),
    "closing tag only (65)": ("plan</think>[f(a=1)]", [call(a=1)], "call_text"),
    "thinking that starts as JSON": (f"{G2} or?</think>{F1}", [call(a=1)], "json"),
    "fence right behind the thinking": (f"<think>a</think>{TICKS}json\n{F1}\n{TICKS}", [call(a=1)], "json"),
    "action right behind the thinking": ('<think>a</think>Action: f\nAction Input: {"a": 1}', [call(a=1)], "actions"),
    "nested thinking": (f"<think>a<think>b</think>{F1}", [call(a=1)], "json"),
    "tags in a text": ('{"name": "f", "arguments": {"a": "<think>x</think> y"}}', [call(a="<think>x</think> y")], "json"),
    "an open tag in a text": ("f(a='<think>')", [call(a="<think>")], "call_text"),
    "a closing tag in a text behind thinking": (
        '<think>h</think>{"name": "f", "arguments": {"a": "</think>"}}',
        [call(a="</think>")],
        "json",
    ),
    "an open tag in a text behind thinking": ('<think>h</think>{"name": "f", "arguments": {"a": "<think>"}}', [call(a="<think>")], "json"),
    "tags in a text in a fence": (
        f'Sure\n{TICKS}\n[f(a="<think>", b="</think>")]\n{TICKS}',
        [call(a="<think>", b="</think>")],
        "call_text",
    ),
    "tags in a text in hermes": (
        '<tool_call>{"name": "f", "arguments": {"a": "</think><think>"}}</tool_call>',
        [call(a="</think><think>")],
        "hermes",
    ),
    "tags in a text of an action": ('Action: f\nAction Input: {"a": "<thinking>"}', [call(a="<thinking>")], "actions"),
    "thinking that holds a fence": (f"I see\n{TICKS}\n{G2}\n{TICKS}\nno</think>\n{F1}", [call(a=1)], "json"),
    # Hermes
    "hermes": (f"<tool_call>\n{F1}\n</tool_call>", [call(a=1)], "hermes"),
    "hermes, several with text": (
        f"I call\n<tool_call>{F1}</tool_call> and <tool_call>{G2}</tool_call>.",
        [call(a=1), call("g", b="x")],
        "hermes",
    ),
    "hermes with its own tags in a text": (
        '<tool_call>{"name": "f", "arguments": {"a": "</tool_call>"}}</tool_call>',
        [call(a="</tool_call>")],
        "hermes",
    ),
    "gen-006": ('<tool_call>{"name":"write","parameters":{"path":"a.txt"}}</tool_call>', [call("write", path="a.txt")], "hermes"),
    "gen-006-no-arguments": ('<tool_call>{"name":"now"}</tool_call>', [call("now")], "hermes"),
    "gen-006-equal-twice": ('{"name":"f","arguments":{"a":1},"parameters":{"a":1}}', [call(a=1)], "json"),
    "hermes within thinking and a fence": (f"<think>x</think>\n{TICKS}\n<tool_call>{F1}</tool_call>\n{TICKS}", [call(a=1)], "hermes"),
    # MTU-Bench
    "action": ('Thought: yes.\n\nAction: f\nAction Input: {"a": 1}', [call(a=1)], "actions"),
    "actions with text and commas between": (
        'Thought: t\nAction: f\nAction Input: {"a": 1},\nThen, with {"temp": 3} known:\nAction: g\n\nAction Input:\n{\n "b": "x"\n} \n\nNote: done',
        [call(a=1), call("g", b="x")],
        "actions",
    ),
    "action None": ("Thought: nothing fits.\n\nAction: None\n\nNote: ask.", [], "actions"),
    "action None with an input": ("Action: None\nAction Input: None", [], "actions"),
    "action None beside a call": ('Action: none.\nAction: f\nAction Input: {"a": 1}', [call(a=1)], "actions"),
    "action in quotes": (
        'Action: "f"\nAction Input: {"a": 1}\nAction:\'g\'\nAction Input: {"b": "x"}',
        [call(a=1), call("g", b="x")],
        "actions",
    ),
    "action on one line": ('Action: f, Action Input: {"a": 1}', [call(a=1)], "actions"),
    "action with a fenced input": (f'Action: f\nAction Input: {TICKS}json\n{{"a": 1}}\n{TICKS}\nThat is it.', [call(a=1)], "actions"),
    "action of a tool with spaces": (
        'Action: Get Forecast\nAction Input: {"city": "Oslo"}',
        [call("Get Forecast", city="Oslo")],
        "actions",
    ),
    "action with its input as a text": ('Action: f\nAction Input: "{\\"a\\": 1}"', [call(a=1)], "actions"),
    # Python call text
    "imp-023-positional": ("sort('a.txt')", [call("sort", file_name="a.txt")], "call_text"),
    "imp-023-keywords": ("sort(file_name='a.txt', reverse=True)", [call("sort", file_name="a.txt", reverse=True)], "call_text"),
    "imp-023-both": ("sort('a.txt', reverse=True)", [call("sort", file_name="a.txt", reverse=True)], "call_text"),
    "imp-023-two-positional": ("sort('a.txt', False,)", [call("sort", file_name="a.txt", reverse=False)], "call_text"),
    "call list": ("[f(a=1), g(b='x')]", [call(a=1), call("g", b="x")], "call_text"),
    "calls with a comma": ("f(a=1), g(b='x')", [call(a=1), call("g", b="x")], "call_text"),
    "calls on lines": ("f(a=1)\n\n g(b='x');\nf(a=1); g(b='x')", [call(a=1), call("g", b="x")] * 2, "call_text"),
    "no arguments": ("f( )", [call()], "call_text"),
    "space and line breaks in a call": ("[ f(\n  a = 1 ,\n) ,\n]", [call(a=1)], "call_text"),
    "dotted name": ("m.f(a=1)", [call("m.f", a=1)], "call_text"),
    "name with spaces (ToolACE)": ('[Get Forecast(city="Oslo", days=2)]', [call("Get Forecast", city="Oslo", days=2)], "call_text"),
    "name with spaces, no list": ('Get Forecast ("Oslo")', [call("Get Forecast", city="Oslo")], "call_text"),
    "odd names": ("a.b c/d (new)(Content-Type='x', q=1)", [call("a.b c/d (new)", **{"Content-Type": "x", "q": 1})], "call_text"),
    "odd names by unpacking": ("f(**{'odd name': 1}, a=2)", [call(**{"odd name": 1, "a": 2})], "call_text"),
    "keywords of Python as names": ("f(from='x', class=1)", [call(**{"from": "x", "class": 1})], "call_text"),
    "numbers": ("f(a=-1, b=1.50, c=1e-3, d=-.5, e=2., g=0)", [call(a=-1, b=1.5, c=0.001, d=-0.5, e=2.0, g=0)], "call_text"),
    "tuple": ("f(a=(1, 'x'), b=(), c=(1,), d=(2))", [call(a=[1, "x"], b=[], c=[1], d=2)], "call_text"),
    "nested values": ("f(a={'b': [1, {'c': None}], \"d\": True,})", [call(a={"b": [1, {"c": None}], "d": True})], "call_text"),
    "escapes of Python": (r"""f(a='it\'s \x41\u00e9\U0001F600\t\\', b="a\0b")""", [call(a="it's Aé😀\t\\", b="a\0b")], "call_text"),
    "raw text": (r"f(a=r'C:\new', b=R'\d')", [call(a="C:\\new", b="\\d")], "call_text"),
    "text of several lines": ("f(a='''x\n'y'\n''')", [call(a="x\n'y'\n")], "call_text"),
    "brackets and calls in a text": ("f(a='g(b=1), [x] } \"', b=\"it's\")", [call(a='g(b=1), [x] } "', b="it's")], "call_text"),
    "Windows path written twice": (r"f(a='C:\\new\\dir')", [call(a="C:\\new\\dir")], "call_text"),
    "letter, colon, line break": (
        '{"name": "f", "arguments": {"a": "Q:\\nWhat?", "b": "C: \\nx"}}',
        [call(a="Q:\nWhat?", b="C: \nx")],
        "json",
    ),
}


@pytest.mark.parametrize("repair", [False, True], ids=["strict", "repair"])
@pytest.mark.parametrize(("text", "calls", "spelling"), LEGAL.values(), ids=LEGAL.keys())
def test_a_legal_spelling_is_read_and_nothing_repaired(text: str, calls: Calls, spelling: str, repair: bool) -> None:
    parsed = parse_calls(text, SIGNATURES, repair)
    assert parsed.faults == ()
    assert list(parsed.calls) == calls
    assert json.dumps(list(parsed.calls)) == json.dumps(calls), "1 is not 1.0, and the order of keys is the author's"
    assert (parsed.spelling, parsed.repairs) == (spelling, ())


FILE_WRITE = "file_write(file_path='notes.txt', content='Preparation for Tomorrow's Meeting')"

# text, codes, what the message says, what a repair gives (None: it stays a fault)
FAULTY: dict[str, tuple[str, set[str], str, Calls | None]] = {
    # section 4.4 of the notes on tool documents
    "4.4 single quotes": ("{'name': 'f', 'arguments': {'a': 'it\\'s'}}", {"parse_error"}, "double quotes", [call(a="it's")]),
    "4.4 True and None (66)": (
        '{"name": "f", "arguments": {"a": True, "b": None}}',
        {"parse_error"},
        "true, false and null",
        [call(a=True, b=None)],
    ),
    "4.4 trailing comma (66)": ('{"name": "f", "arguments": {"a": [1,],},}', {"parse_error"}, "comma before the closing", [call(a=[1])]),
    "4.4 single quotes, True and a comma (66)": (
        "{'name': 'f', 'arguments': {'a': True,}}",
        {"parse_error"},
        "double quotes",
        [call(a=True)],
    ),
    "4.4 smart quotes": ("{“name”: “f”, “arguments”: {“a”: “it’s”}}", {"parse_error"}, "typographic", [call(a="it’s")]),
    "4.4 unquoted keys": ('{name: "f", arguments: {a: 1}}', {"parse_error"}, "stands in quotes", [call(a=1)]),
    "4.4 comments": ('{"name": "f", /* of g */ "arguments": {"a": 1}} // the user\'s id', {"parse_error"}, "no comments", [call(a=1)]),
    "4.4 comment with a hash": ('{"name": "f", # why\n "arguments": {"a": 1}}', {"parse_error"}, "no comments", [call(a=1)]),
    "4.4 raw line break": ('{"name": "f", "arguments": {"a": "x\ny"}}', {"parse_error"}, "line break in a text", [call(a="x\ny")]),
    "4.4 trailing text": (F1 + "\nThis calls f (done).", {"parse_error"}, "more text after the JSON value", [call(a=1)]),
    "gen-004 of Python": (
        "{'name': 's', 'arguments': {'q': \"it's\", 'on': True, 'x': None}}",
        {"parse_error"},
        "double quotes",
        [call("s", q="it's", on=True, x=None)],
    ),
    "4.4 two objects with a semicolon": (f"{F1}; {G2}", {"parse_error"}, "between them stand in no list", [call(a=1), call("g", b="x")]),
    "4.4 truncated": ('{"name": "f", "arguments": {"a": 1', {"truncated"}, "line 1", None),
    "4.4 truncated text": ('{"name": "f", "arguments": {"a": "x', {"truncated"}, "Unterminated string", None),
    "4.4 NaN": ('{"name": "f", "arguments": {"a": NaN}}', {"parse_error"}, "NaN is not JSON, line 1, column 34", None),
    "4.4 duplicate key": ('{"name": "f", "arguments": {"a": 1, "a": 1}}', {"duplicate_key"}, "'a' occurs twice .* column 37", None),
    "4.4 007": ('{"name": "f", "arguments": {"a": 007}}', {"parse_error"}, "no number starts with 0", None),
    "4.4 hexadecimal": ('{"name": "f", "arguments": {"a": 0x1F}}', {"parse_error"}, "hexadecimal", None),
    "4.4 prose": ("I cannot book a taxi.", {"parse_error"}, "there is no call", None),
    "4.4 empty": ("", {"parse_error"}, "the text is empty", None),
    "4.4 blank": (" \n\t", {"parse_error"}, "the text is empty", None),
    "4.4 set": ("f(a={1, 2})", {"parse_error"}, "set is no value of JSON", None),
    "4.4 set of texts": ("f(a={'x', 'y'})", {"parse_error"}, "set is no value of JSON", None),
    "4.4 Windows path": ('{"name": "f", "arguments": {"a": "C:\\dir\\new"}}', {"parse_error"}, "backslash is written twice", None),
    "4.4 Windows path of legal escapes": (
        '{"name": "f", "arguments": {"a": "C:\\new\\test"}}',
        {"parse_error"},
        "single backslashes",
        None,
    ),
    "4.4 Windows path in call text": ("f(a='C:\\dir\\new')", {"parse_error"}, "no escape", None),
    "4.4 Windows path of legal escapes in call text": ("f(a='c:\\temp')", {"parse_error"}, "single backslashes", None),
    "4.4 Windows path in single quotes": ("{'name': 'f', 'arguments': {'a': 'D:\\bin\\new'}}", {"parse_error"}, "double quotes", None),
    "4.4 Windows path of users": ("f(a='C:\\Users\\x')", {"parse_error"}, "no escape", None),
    "4.4 Windows path at the end": ("f(a='C:\\')", {"truncated"}, "cut off", None),
    # val-021
    "val-021": ('{"name":"f","arguments":{"x": NaN, "y": -Infinity, "z": 1e400}}', {"parse_error"}, "NaN is not JSON", None),
    "val-021-in-call-text": ("f(a=nan)", {"parse_error"}, "nan is not JSON", None),
    "val-021-call-of-float": ("f(a=float('inf'))", {"parse_error"}, "nothing is evaluated", None),
    "val-021-overflow-in-call-text": ("f(a=-1e400)", {"parse_error"}, "too large", None),
    "val-021-minus-infinity-in-call-text": ("f(a=-Infinity)", {"parse_error"}, "no number of JSON", None),
    "val-021-many-digits": (f"f(a={'9' * 5_000})", {"parse_error"}, "too many digits", None),
    "val-021-with-single-quotes": ("{'name': 'f', 'arguments': {'x': NaN}}", {"parse_error"}, "double quotes", None),
    # imp-031
    "imp-031": (
        '{"name":"f","arguments":{"a":1,"a":2}}',
        {"duplicate_key"},
        "the key 'a' occurs twice in one object, line 1, column 32",
        None,
    ),
    "imp-031-arguments-twice": ('{"name":"f","arguments":{},"arguments":{"a":1}}', {"duplicate_key"}, "'arguments' occurs twice", None),
    "imp-031-in-arguments-text": ('{"name":"f","arguments":"{\\"a\\":1,\\"a\\":2}"}', {"duplicate_key"}, "'a' occurs twice", None),
    "imp-031-single-quotes": ("{'name':'f','arguments':{'a':1,'a':2}}", {"parse_error"}, "double quotes", None),
    "imp-031-in-call-text": ("f(a=1, a=1)", {"duplicate_key"}, "'a' of 'f' is given twice", None),
    "imp-031-in-a-value-of-call-text": ("f(a={'b': 1, 'b': 2})", {"duplicate_key"}, "'b' occurs twice", None),
    "imp-031-by-unpacking": ("f(a=1, **{'a': 2})", {"duplicate_key"}, "'a' of 'f' is given twice", None),
    "imp-031-hermes": ('<tool_call>{"name":"f","arguments":{"a":1,"a":2}}</tool_call>', {"duplicate_key"}, "'a' occurs twice", None),
    "imp-031-action": ('Action: f\nAction Input: {"a":1,"a":2}', {"duplicate_key"}, "'a' occurs twice", None),
    # imp-023
    "imp-023-given-twice": ("sort('a.txt', file_name='b')", {"duplicate_key"}, "'file_name' of 'sort' is given twice", None),
    "imp-023-too-many": ("sort('a','b','c')", {"parse_error"}, "'sort' takes 2 arguments, and this is number 3", None),
    "imp-023-takes-none": ("plain(1)", {"parse_error"}, "takes 0 arguments", None),
    "imp-023-unknown-tool": ("f('a')", {"parse_error"}, "argument 1 of 'f' has no name", None),
    "imp-023-behind-a-name": ("sort(reverse=True, 'a')", {"parse_error"}, "behind one with a name", None),
    "imp-023-star": ("sort(*['a'])", {"parse_error"}, "nothing is evaluated", None),
    "imp-023-two-stars": ("sort(**x)", {"parse_error"}, "nothing is evaluated", None),
    "imp-023-division": ("f(p=1/6)", {"parse_error"}, "'/6\\)' behind a value makes it an expression; nothing is evaluated", None),
    "imp-023-product": ("f(a=500*500)", {"parse_error"}, "nothing is evaluated.* line 1, column 8", None),
    "imp-023-sum-in-a-list": ("f(a=[1 + 1])", {"parse_error"}, "nothing is evaluated", None),
    "imp-023-difference": ("f(a=5-3)", {"parse_error"}, "nothing is evaluated", None),
    "imp-023-two-signs": ("f(a=--1)", {"parse_error"}, "nothing is evaluated", None),
    "imp-023-floor-division": ("f(a=10//3\n)", {"parse_error"}, "nothing is evaluated", None),
    "imp-023-division-like-a-comment": ('{"name": "f", "arguments": {"a": 10//3\n}}', {"parse_error"}, "not JSON", None),
    "imp-023-call-in-a-call": ("f(a=g(b=1))", {"parse_error"}, "nothing is evaluated", None),
    "imp-023-method": ("f(a='x'.upper())", {"parse_error"}, "nothing is evaluated", None),
    "imp-023-condition": ("f(a=1 if b else 2)", {"parse_error"}, "nothing is evaluated", None),
    "imp-023-comprehension": ("f(a=[x for x in y])", {"parse_error"}, "bare word 'x'", None),
    "imp-023-lambda": ("f(a=lambda: 0)", {"parse_error"}, "bare word", None),
    "imp-023-name": ("f(a=x)", {"parse_error"}, "bare word 'x'", None),
    "imp-023-import": ("__import__('os').system('x')", {"parse_error"}, "has no name", None),
    "imp-023-behind-the-call": ("f(a=1) + 2", {"parse_error"}, "more text after the calls", None),
    "imp-023-method-of-the-call": ("f(a=1).g", {"parse_error"}, "more text after the calls", None),
    "imp-023-assignment": ("x = f(a=1)", {"parse_error"}, "no spelling of a call", None),
    "imp-023-hexadecimal": ("f(a=0x1F)", {"parse_error"}, "'0x1F' is no number of JSON", None),
    "imp-023-zero-padded": ("f(a=007)", {"parse_error"}, "'007' is no number of JSON", None),
    "imp-023-underscore": ("f(a=1_000)", {"parse_error"}, "'1_000' is no number of JSON", None),
    "imp-023-complex": ("f(a=1j)", {"parse_error"}, "no number of JSON", None),
    "imp-023-unit": ("f(a=5kg)", {"parse_error"}, "'5kg' is no number of JSON", None),
    "imp-023-date": ("f(a=2024-01-02)", {"parse_error"}, "nothing is evaluated", None),
    "imp-023-bytes": ("f(a=b'x')", {"parse_error"}, "prefix b", None),
    "imp-023-formatted": ("f(a=f'{x}')", {"parse_error"}, "prefix f", None),
    "imp-023-number-as-key": ("f(a={1: 2})", {"parse_error"}, "a key is a text", None),
    "imp-023-name-with-spaces": ("[Get Weather(city='x')]", {"parse_error"}, "'Get Weather' is no name of Python", None),
    "imp-023-list-of-lists": ("[[f(a=1)]]", {"parse_error"}, "Expecting", None),
    "imp-023-constants-of-json": ("f(a=true, b=null, c=[false])", {"parse_error"}, "Python writes True", [call(a=True, b=None, c=[False])]),
    "imp-023-comment": ("f(a=1)  # as asked", {"parse_error"}, "more text after the calls", [call(a=1)]),
    "imp-023-text-on-the-next-line": ("f(a=1)\nThat is all.", {"parse_error"}, "more text after the calls", [call(a=1)]),
    "imp-023-placeholder": ("f(a=<city>)", {"parse_error"}, "a value should stand here", None),
    "imp-023-hole": ("f(a=${x from y})", {"parse_error"}, "a value should stand here", None),
    # imp-025
    "imp-025": (
        FILE_WRITE,
        {"parse_error"},
        "apostrophe",
        [call("file_write", file_path="notes.txt", content="Preparation for Tomorrow's Meeting")],
    ),
    "imp-025-at-an-s": ("f(a='the boys' room', b=1)", {"parse_error"}, "apostrophe", [call(a="the boys' room", b=1)]),
    "imp-025-two": ("f(a='Tom's and Ann's', b='x')", {"parse_error"}, "apostrophe", [call(a="Tom's and Ann's", b="x")]),
    "imp-025-in-a-list": ("f(a=['it's', 'x'])", {"parse_error"}, "apostrophe", [call(a=["it's", "x"])]),
    "imp-025-in-json": (
        "{'name': 'f', 'arguments': {'a': 'it's', 'b': 'o'clock'}}",
        {"parse_error"},
        "double quotes",
        [call(a="it's", b="o'clock")],
    ),
    "imp-025-before-a-comma": ("f(a='the dogs', cats', b=1)", {"parse_error"}, "behind one with a name", None),
    "imp-025-before-a-bracket": ("f(a='Tomorrow's list (dogs') and', b=1)", {"parse_error"}, "apostrophe", None),
    "imp-025-before-the-last-bracket": ("f(a='Tomorrow's (dogs')')", {"parse_error"}, "apostrophe", None),
    "imp-025-before-a-brace": ("{'name': 'f', 'arguments': {'a': 'it's {dogs'}} and cats'}}", {"parse_error"}, "double quotes", None),
    "imp-025-before-a-brace-in-an-action": (
        "Action: f\nAction Input: {'a': 'it's {dogs'} and cats'}",
        {"parse_error"},
        "double quotes",
        None,
    ),
    "imp-025-before-a-brace-in-hermes": (
        "<tool_call>{'name': 'f', 'arguments': {'a': 'it's {dogs'}} x'}}</tool_call>",
        {"parse_error"},
        "double",
        None,
    ),
    "imp-025-words-in-quotes": ("f(a='He said 'no' twice')", {"parse_error"}, "apostrophe", None),
    "imp-025-quoted-at-the-start": ("f(a=''no' he said')", {"parse_error"}, "apostrophe", None),
    "imp-025-double": ('f(a="He said "no" twice")', {"parse_error"}, "not escaped", None),
    "imp-025-double-in-json": ('{"name": "f", "arguments": {"a": "say "no""}}', {"parse_error"}, "not JSON", None),
    "imp-025-doubled-as-in-sql": ("f(a='it''s')", {"parse_error"}, "not escaped", None),
    "imp-025-and-cut-off": ("f(a='Tomorrow's Meeting", {"parse_error", "truncated"}, "apostrophe", None),
    "imp-025-comment-mark": ("f(a='the boys'# 1', b='x'\n)", {"parse_error"}, "should stand behind a value", None),
    # where the answer is
    "prose before": (f"Sure: {F1}", {"parse_error"}, "text before the JSON value, 'Sure:'", [call(a=1)]),
    "prose around": (f"Sure: {F1}\nHope this helps.", {"parse_error"}, "text before the JSON value", [call(a=1)]),
    "prose with two different calls": (f"Either {F1} or {G2}", {"parse_error"}, "several JSON values in the prose", None),
    "prose with a call twice": (f"Either {F1} or {F1}", {"parse_error"}, "several JSON values in the prose", None),
    "prose with a call and another object": (f'As {{"t": 3}} says, {F1}', {"parse_error"}, "several JSON values", None),
    "prose with an object": ('The result is {"t": 3}.', {"parse_error"}, "text before the JSON value", None),
    "prose with a call that is cut off": ('Sure: {"name": "f", "arguments": {"a": "x', {"truncated"}, "line 1", None),
    "prose with a list that is cut off": (f"Sure: [{F1}, {{", {"truncated"}, "line 1", None),
    "a call, then another in prose": (f"{F1}\nor {G2}", {"parse_error"}, "more text after the JSON value", None),
    "fences to choose from": (f"Either\n{TICKS}\n{F1}\n{TICKS}\nor\n{TICKS}\n{G2}\n{TICKS}", {"parse_error"}, "several fences", None),
    "a fence and JSON beside it": (f"{TICKS}\n{F1}\n{TICKS}\nor {G2}", {"parse_error"}, "within and without the fence", None),
    "a fence not closed": (f"{TICKS}json\n{F1}\n", {"truncated"}, "fence is not closed", None),
    "a fence not closed at once": (f"{TICKS}json", {"truncated"}, "fence is not closed", None),
    "a fence of prose": (f"{TICKS}\nls -la\n{TICKS}", {"parse_error"}, "there is no call", None),
    "an empty fence": (f"{TICKS}\n\n{TICKS}", {"parse_error"}, "no text is left", None),
    "thinking not closed (64)": ("<think>... f(a=1)", {"truncated"}, "thinking that starts at line 1, column 1 is not closed", None),
    "thinking not closed behind some that is": (f"<think>a</think><think>{F1}", {"truncated"}, "not closed", None),
    "a closing tag in a text that is cut off": ('{"name": "f", "arguments": {"a": "</think> x', {"truncated"}, "Unterminated", None),
    "a closing tag in single quotes": (
        "{'name': 'f', 'arguments': {'a': '</think>'}}",
        {"parse_error"},
        "no call|more text",
        [call(a="</think>")],
    ),
    "an open tag in single quotes": ("{'name': 'f', 'arguments': {'a': '<think>'}}", {"parse_error"}, "double quotes", [call(a="<think>")]),
    "thinking that starts as JSON in single quotes": ("{'name': 'g'} hm</think>Well, {'x'", {"parse_error", "truncated"}, "double", None),
    "thinking that starts as JSON, then words": ("{'name': 'g'} hm</think>I cannot.", {"parse_error"}, "there is no call", None),
    "thinking not closed that holds a fence": (f"<think>I see\n{TICKS}\n{F1}\n{TICKS}\n", {"truncated"}, "not closed", None),
    "thinking not closed that holds an action": ('<think>\nAction: f\nAction Input: {"a": 1}', {"truncated"}, "not closed", None),
    "thinking not closed behind a fence": (f"{TICKS}\n{F1}\n{TICKS}\n<think>But", {"truncated"}, "not closed", None),
    "cut off behind a closing tag in a text": ('{"name": "g", "arguments": {"x": "</think>[f(a=1)]', {"truncated"}, "Unterminated", None),
    "cut off behind a key that is a tag": (
        f'<tool_call>[{{"name": "f", "arguments": {{"</think>": 1}}}}, {F1}',
        {"truncated"},
        "cut|Expecting",
        None,
    ),
    "nothing behind the thinking": ("<think>a</think>\n", {"parse_error"}, "no text is left", None),
    "a tool_call not closed": (f"<tool_call>{F1}", {"truncated"}, "is missing", None),
    "a tool_call whose tag is cut": (f"<tool_call>{F1}</tool_c", {"truncated"}, "is missing", None),
    "a tool_call that only opens": ("x <tool_call>\n", {"truncated"}, "cut off", None),
    "a tool_call of two objects": (f"<tool_call>{F1}{G2}</tool_call>", {"parse_error"}, "should stand here", None),
    "a tool_call of call text": ("<tool_call>f(a=1)</tool_call>", {"parse_error"}, "not JSON", None),
    "one of two tool_calls is broken": (
        f"<tool_call>{F1}</tool_call><tool_call>{{'x</tool_call>",
        {"parse_error", "truncated"},
        "not JSON",
        None,
    ),
    "hermes with single quotes": (
        "<tool_call>{'name': 'f', 'arguments': {'a': 1}}</tool_call>",
        {"parse_error"},
        "double quotes",
        [call(a=1)],
    ),
    "an action without an input": ("Action: f", {"truncated"}, "no Action Input", None),
    "an action without a name": ("Action:", {"truncated"}, "no name", None),
    "an action with prose for an input": ("Action: f\nas is", {"parse_error"}, "no Action Input", None),
    "an input cut off": ("Action: f\nAction Input:", {"truncated"}, "Action Input is missing", None),
    "an input cut off in a text": ('Action: f\nAction Input: {"a": "x', {"truncated"}, "Unterminated", None),
    "two objects in an input": ('Action: f\nAction Input: {"a": 1} {"b": 2}', {"parse_error"}, "where one object is expected", None),
    "a bracket too many in an input": ('Action: f\nAction Input: {"a": 1}}', {"parse_error"}, "where one object is expected", None),
    "an input that is a list": ("Action: f\nAction Input: [1]", {"parse_error"}, "a list, not an object", None),
    "an action of several names": ("Action: f, g\nAction Input: {}", {"parse_error"}, "not the name of one tool", None),
    "an action that is a call": ("Action: f(a=1)\nAction Input: {}", {"parse_error"}, "not the name of one tool", None),
    "an action with single quotes": ("Action: f\nAction Input: {'a': True}", {"parse_error"}, "double quotes", [call(a=True)]),
    # the shape of the call
    "object without a name": ('{"arguments": {"a": 1}}', {"parse_error"}, "no 'name'", None),
    "empty object": ("{}", {"parse_error"}, "no keys", None),
    "empty name": ('{"name": " ", "arguments": {}}', {"parse_error"}, "name of a call is empty", None),
    "number as name": ('{"name": 3, "arguments": {}}', {"parse_error"}, "a number, at /name", None),
    "gen-006-differ": (
        '{"name":"f","arguments":{"a":1},"parameters":{"a":true}}',
        {"parse_error"},
        "two argument objects that differ",
        None,
    ),
    "arguments null (73)": ('{"name": "f", "arguments": null}', {"parse_error"}, "arguments are null, not an object", None),
    "arguments a list (73)": ('{"name": "f", "arguments": [1]}', {"parse_error"}, "arguments are a list", None),
    "arguments a number (73)": ('{"name": "f", "arguments": 3}', {"parse_error"}, "arguments are a number", None),
    "arguments an empty text": ('{"name": "f", "arguments": ""}', {"parse_error"}, "text of the arguments is empty", None),
    "arguments encoded twice": (json.dumps(call() | {"arguments": json.dumps('{"a": 1}')}), {"parse_error"}, "encoded twice", None),
    "arguments cut off in their text": ('{"name": "f", "arguments": "{\\"a\\": 1"}', {"truncated"}, "text of the arguments", None),
    "arguments of two objects": ('{"name": "f", "arguments": "{} {}"}', {"parse_error"}, "more text after the JSON value", None),
    "arguments in single quotes": ('{"name": "f", "arguments": "{\'a\': 1}"}', {"parse_error"}, "text of the arguments", [call(a=1)]),
    "arguments beside the name": ('{"name": "f", "city": "Oslo"}', {"parse_error"}, "no arguments but the keys 'city'", None),
    "a tool document": (
        '{"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}',
        {"parse_error"},
        "tool document",
        None,
    ),
    "a bare tool document": (
        '{"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}',
        {"parse_error"},
        "tool document",
        None,
    ),
    "a list within a list": (f"[[{F1}]]", {"parse_error"}, "list within a list", None),
    "a list of texts": ('["f(a=1)"]', {"parse_error"}, "a text is no call", None),
    "a call as a text": (json.dumps(F1), {"parse_error"}, "Expecting|text before|no call", None),
    "text that says it is a message": ('{"content": "hello"}', {"parse_error"}, "no 'name'", None),
    # what no spelling is
    "half a surrogate pair": (
        '{"name": "f", "arguments": {"a": "\\ud800"}}',
        {"parse_error"},
        "surrogate pair in a text, line 1, column 34",
        None,
    ),
    "half a surrogate pair as it is": ('{"name": "f", "arguments": {"a": "\ud800"}}', {"parse_error"}, "surrogate pair", None),
    "half a surrogate pair in call text": ("f(a='\\ud83d')", {"parse_error"}, "surrogate pair", None),
    "a surrogate pair as a key": ('{"name": "f", "arguments": {"\\udfff": 1}}', {"parse_error"}, "surrogate pair", None),
    "nested too deep": (F1.replace("1", "[" * 70 + "]" * 70), {"parse_error"}, "nested deeper than 64", None),
    "nested too deep in call text": (f"f(a={'[' * 70}{']' * 70})", {"parse_error"}, "nested deeper than 64", None),
    "too long": (" " * 2_000_001, {"parse_error"}, "too many", None),
    "functools of Llama": ('functools[{"name": "f", "arguments": {}}]', {"parse_error"}, "text before the JSON value", [call()]),
    "tags of another model": ("<function=f>{a}</function>", {"parse_error"}, "no spelling of a call", None),
    "brackets of another model": (f"[TOOL_CALLS] [{F1}]", {"parse_error"}, "is no call", None),
    "a line of call text cut off": ("f(a=1), g(b=", {"truncated"}, "cut off", None),
    "call text cut off behind a comma": ("f(a=1),", {"truncated"}, "cut off", None),
    "call list cut off": ("[f(a=1), g(b='x')", {"truncated"}, "cut off", None),
    "call text cut off in a number": ("f(a=1", {"truncated"}, "cut off", None),
    "call text cut off in an exponent": ("f(a=1e", {"truncated"}, "cut off", None),
    "call text cut off in a constant": ("f(a=Tru", {"truncated"}, "cut off", None),
    "call text cut off in an escape": ("f(a='\\u00", {"truncated"}, "cut off", None),
    "call text with a raw line break": ("f(a='x\ny')", {"parse_error"}, "raw line break", [call(a="x\ny")]),
    "call text cut off behind a line break": ("f(a='x\ny", {"truncated"}, "cut off", None),
    "cut off and in single quotes": ("{'name': 'f', 'argu", {"parse_error", "truncated"}, "double quotes", None),
    "an escape of Python in JSON": ('{"name": "f", "arguments": {"a": "it\\\'s"}}', {"parse_error"}, "backslash", [call(a="it's")]),
    "a hexadecimal escape in JSON": ('{"name": "f", "arguments": {"a": "\\x41"}}', {"parse_error"}, "backslash", None),
}


@pytest.mark.parametrize(("text", "codes", "message", "repaired"), FAULTY.values(), ids=FAULTY.keys())
def test_what_is_not_legal_is_a_fault_with_its_code_and_place(text: str, codes: set[str], message: str, repaired: Calls | None) -> None:
    parsed = parse_calls(text, SIGNATURES)
    assert parsed.calls == ()
    assert {fault.code for fault in parsed.faults} == codes
    assert any(re.search(message, fault.message) for fault in parsed.faults), parsed.faults
    assert all(0 <= fault.at <= len(text) for fault in parsed.faults)
    assert parsed.repairs == ()


@pytest.mark.parametrize(("text", "codes", "message", "repaired"), FAULTY.values(), ids=FAULTY.keys())
def test_a_repair_gives_what_is_plainly_meant_or_the_same_faults(text: str, codes: set[str], message: str, repaired: Calls | None) -> None:
    strict, parsed = parse_calls(text, SIGNATURES), parse_calls(text, SIGNATURES, repair=True)
    if repaired is None:
        assert parsed == strict
    else:
        assert parsed.faults == ()
        assert json.dumps(list(parsed.calls)) == json.dumps(repaired)
        assert parsed.repairs
        assert all(repair.strip() and "line" in repair for repair in parsed.repairs)


def test_each_repair_says_what_was_there_and_what_was_read() -> None:
    parsed = parse_calls("{'name': 'f', /* why */ 'arguments': {b: None,}} ok", repair=True)
    assert parsed.calls == (call(b=None),)
    assert [repair.partition(":")[0] for repair in parsed.repairs] == [
        "quotes that JSON does not know",
        "quotes that JSON does not know",
        "a comment was left out",
        "quotes that JSON does not know",
        "a key without quotes",
        "a constant of another language",
        "a comma before the closing bracket",
        "text behind the JSON value was left out",
    ]
    assert parsed.repairs[4].endswith("'b' was read as '\"b\"', line 1, column 39")
    assert "'None' was read as 'null'" in parsed.repairs[5]


def test_an_apostrophe_that_was_repaired_is_shown() -> None:
    [repair] = parse_calls(FILE_WRITE, repair=True).repairs
    assert "Tomorrow's Meeting" in repair
    assert "Tomorrow\\\\'s Meeting" in repair


def test_many_repairs_are_counted() -> None:
    parsed = parse_calls("f(a=[" + "true, " * 250 + "])", repair=True)
    assert len(parsed.repairs) == 101
    assert parsed.repairs[-1] == "and 150 more"


def test_each_of_several_faults_is_told_with_its_place() -> None:
    text = '{"name":"f",\n"arguments":{"x": NaN, "y": -Infinity,\n"z": 1e400, "z": 2}}'
    faults = parse_calls(text).faults
    assert [(fault.code, text[fault.at :][:3]) for fault in faults] == [
        ("parse_error", "NaN"),
        ("parse_error", "-In"),
        ("parse_error", "1e4"),
        ("duplicate_key", '"z"'),
    ]
    assert "line 3, column 6" in faults[2].message


def test_thinking_and_text_around_are_kept_apart() -> None:
    parsed = parse_calls(f"<think>a {G2}</think>Sure.\n{TICKS}\n{F1}\n{TICKS}\nDone.")
    assert parsed.calls == (call(a=1),)
    assert parsed.thinking == f"<think>a {G2}</think>"
    assert [note.partition(", line")[0] for note in parsed.notes] == [
        "text around the answer was set aside: 'Sure.'",
        "text around the answer was set aside: 'Done.'",
    ]


def test_a_positional_argument_and_a_tuple_are_noted() -> None:
    parsed = parse_calls("sort('a.txt', (1, 2))", SIGNATURES)
    assert parsed.calls == (call("sort", file_name="a.txt", reverse=[1, 2]),)
    assert sorted(note.partition(", by")[0].partition(", line")[0] for note in parsed.notes) == [
        "argument 1 of 'sort' was read as 'file_name'",
        "argument 2 of 'sort' was read as 'reverse'",
        "the tuple '(1, 2)' was read as a list",
    ]


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("I cannot do that.", "prose"),
        ("Thought: no API fits (see above), so none [of them] is called. 3 < 4.", "prose"),
        ("", "empty"),
        ("<think>x</think>", "empty"),
        ("<think>x", "empty"),
        ("I call get-weather(city='Oslo').", "unknown"),
        ("get_wea", "prose"),
        ("<tool_cal", "unknown"),
        ('"name": "f", "arguments": {"a": 1}', "json"),
        ("Sure: {'name'", "json"),
        ("Action: f", "actions"),
        ("f(", "call_text"),
        (TICKS, "fence"),
    ],
)
def test_only_words_without_any_sign_of_a_call_are_prose(text: str, spelling: str) -> None:
    parsed = parse_calls(text)
    assert (parsed.calls, parsed.spelling) == ((), spelling)
    assert parsed.faults
