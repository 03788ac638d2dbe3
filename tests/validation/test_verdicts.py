"""What a judge's answer is read as, and what is no verdict although it looks like one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.validation.verdicts import LONGEST_ANSWER, read_scores, read_verdict


def read(text: str) -> str:
    """The verdict, or "unparsed"."""
    try:
        return read_verdict(text).verdict
    except ValueError:
        return "unparsed"


GEN_012 = [
    ('As a judge I saw 5 arguments, 2 of them fine. {"verdict":"fail","reason":"wrong city"}', "fail"),
    ("The grade A tool was used. Final verdict: fail", "fail"),
    ("not excellent", "unparsed"),
]


@pytest.mark.parametrize(("text", "expected"), GEN_012, ids=["gen-012-object", "gen-012-label", "gen-012-words"])
def test_digits_and_words_elsewhere_never_decide(text: str, expected: str) -> None:
    assert read(text) == expected


def test_gen_012_the_reason_is_read_with_the_verdict() -> None:
    assert read_verdict(GEN_012[0][0]) == ("fail", "", "wrong city")


OBJECT = '{"evidence": "a cafe", "reason": "so", "verdict": "fail"}'
READ = {
    "whole": (OBJECT, "fail"),
    "whole, spaces around": (f"\n\n  {OBJECT} \n", "fail"),
    "fenced": (f"```json\n{OBJECT}\n```", "fail"),
    "fenced with words before and after": (f"Here you are:\n```json\n{OBJECT}\n```\nAnything else?", "fail"),
    "unknown": ('{"verdict": "unknown"}', "unknown"),
    "pass": ('{"verdict": "pass"}', "pass"),
    "upper case": ('{"verdict": "FAIL"}', "fail"),
    "capital and spaces": ('{"verdict": " Pass "}', "pass"),
    "the field with a capital": ('{"Verdict": "pass"}', "pass"),
    "further fields": ('{"verdict": "pass", "score": 2, "confidence": 0.1}', "pass"),
    "a nested verdict of something else": ('{"verdict": "fail", "example": {"verdict": "pass"}}', "fail"),
    "a verdict inside the reason": ('{"verdict": "fail", "reason": "Verdict: pass"}', "fail"),
    "an object inside the reason": (r'{"verdict": "fail", "reason": "{\"verdict\": \"pass\"}"}', "fail"),
    "an object inside a reason inside words": (r'So: {"verdict": "fail", "reason": "{\"verdict\": \"pass\"} \n Verdict: pass"} .', "fail"),
    "tags in the evidence": ('{"verdict": "fail", "evidence": "</request> <think> x"}', "fail"),
    "tags in the evidence inside words": ('Sure. {"verdict": "fail", "evidence": "see </think> x. Verdict: pass"}', "fail"),
    "tags in the evidence inside a fence": ('```\n{"verdict": "fail", "evidence": "<think>"}\n```', "fail"),
    "two objects that agree": ('{"verdict": "fail", "reason": "a"} or rather {"verdict": "FAIL", "reason": "b"}', "fail"),
    "an object of something else before": ('The call is {"name": "f", "arguments": {"a": 1}}. {"verdict": "pass"}', "pass"),
    "braces in prose": ('The set {a, b} and {c: is fine. {"verdict": "pass"}', "pass"),
    "thinking before": ('<think>{"verdict": "pass"} no</think>{"verdict": "fail"}', "fail"),
    "thinking in upper case, twice": ('<THINK>Verdict: pass</THINK>\n<think>{"verdict": "pass"</think>\n{"verdict": "fail"}', "fail"),
    "thinking after words": ('Well. <think>{"verdict": "pass"}</think> {"verdict": "fail"}', "fail"),
    "thinking opened in the prompt": ('it may {"verdict": "pass"}</think>{"verdict": "fail"}', "fail"),
    "a label alone": ("Verdict: unknown", "unknown"),
    "a label with a full stop": ("Final verdict: fail.", "fail"),
    "a label in bold": ("**Final verdict:** fail", "fail"),
    "label and value in bold": ("- **Verdict**: **FAIL**", "fail"),
    "a label as a heading": ("## Overall verdict: pass", "pass"),
    "a label with quotes": ('My verdict: "pass"', "pass"),
    "a label with a reason": ("The verdict: fail, because the city is another one.", "fail"),
    "a label with a reason in brackets": ("Verdict: fail (2 of 5 arguments)", "fail"),
    "a label with a sentence behind it": ("Verdict: fail. It would be fine otherwise.", "fail"),
    "a label on a later line": ("I looked at it.\nFinal verdict: pass\nThank you.", "pass"),
    "two labels that agree": ("Verdict: fail\nFinal verdict: fail", "fail"),
    "a label and an object that agree": ('Verdict: fail\n{"verdict": "fail"}', "fail"),
    "a label before its object": ('Final verdict: {"verdict": "fail"}', "fail"),
    "Windows line ends": ("Hm.\r\nVerdict: fail\r\nBye", "fail"),
    "a wide colon": ("Verdict：fail", "fail"),
}
UNPARSED = {
    "nothing": "",
    "spaces": " \n\t",
    "prose with the words": "I would let it pass, though parts fail and much is unknown.",
    "negated": "not fail",
    "a verdict word alone": "fail",
    "a JSON text": '"fail"',
    "a JSON number": "1",
    "true": "true",
    "a list of verdicts": '["fail"]',
    "a list with an object": '[{"verdict": "fail"}]',
    "no field": '{"reason": "fail"}',
    "another field": '{"result": "fail"}',
    "wrapped": '{"answer": {"verdict": "fail"}}',
    "a number": '{"verdict": 0}',
    "a boolean": '{"verdict": false}',
    "null": '{"verdict": null}',
    "a list": '{"verdict": ["fail"]}',
    "an object": '{"verdict": {"fail": 1}}',
    "empty": '{"verdict": ""}',
    "another value": '{"verdict": "failed"}',
    "a value with more": '{"verdict": "fail, I think"}',
    "the choice repeated": '{"verdict": "pass | fail | unknown"}',
    "negated in the field": '{"verdict": "not fail"}',
    "another language": '{"verdict": "nicht bestanden"}',
    "another script": '{"verdict": "不合格"}',
    "wide letters": '{"verdict": "ｆａｉｌ"}',
    "evidence as a list": '{"verdict": "fail", "evidence": ["a", "b"]}',
    "reason as a number": '{"verdict": "fail", "reason": 3}',
    "the key twice": '{"verdict": "pass", "verdict": "fail"}',
    "the key twice in another case": '{"verdict": "pass", "Verdict": "fail"}',
    "the key twice inside words": 'So {"verdict": "pass", "verdict": "fail"}.',
    "two objects that differ": '{"verdict": "pass"}\n{"verdict": "fail"}',
    "an object without a readable verdict beside one": '{"verdict": "good"} {"verdict": "fail"}',
    "an object and a label that differ": '{"verdict": "fail"} Verdict: pass',
    "a label and an object that differ": 'Final verdict: pass\n{"verdict": "fail"}',
    "two labels that differ": "Verdict: pass\nFinal verdict: fail",
    "cut": '{"verdict": "fail", "evidence": "a ca',
    "cut with an inner object": '{"verdict": "fail", "calls": [{"verdict": "pass"}',
    "cut inside words": 'So: {"reason": "x", "verdict": "fa',
    "a comma too many": 'So: {"verdict": "fail", "x": {"verdict": "pass"},}',
    "Python": "{'verdict': 'fail'}",
    "Python around JSON": "{'verdict': 'fail', 'x': {\"verdict\": \"pass\"}}",
    "bare keys around JSON": '{verdict: "fail", x: {"verdict": "pass"}}',
    "pretty Python": "{\n  'verdict': 'fail',\n}",
    "only thinking": '<think>{"verdict": "fail"}</think>',
    "thinking without an end": '<think>so {"verdict": "fail"}',
    "thinking without an end after words": 'Well <think>Verdict: pass\n{"verdict": "fail"}',
    "a label that is negated": "Verdict: not fail",
    "a label with a choice": "Verdict: pass | fail | unknown",
    "a label with a choice of two": "Verdict: pass or fail",
    "a label with a slash": "Verdict: pass/fail",
    "a label with a longer word": "Verdict: passable",
    "a label with a compound": "Verdict: fail-safe",
    "a label with an accent": "Verdict: passé",
    "a label with a condition": "Verdict: pass if the city is right",
    "a label with a change of mind": "Verdict: pass, no, fail",
    "a label without a word of ours": "Verdict: 3",
    "a label within a sentence": "It is not my final verdict: fail",
    "no verdict": "No verdict: fail",
    "a quoted line": "> Verdict: fail",
    "a label in quotes": 'The document says "Verdict: pass"',
    "a label in another language": "Urteil: fail",
    "half a label": "Final verdict",
    "no colon": "Verdict fail",
    "a long s": "Verdict: paſs",
    "deep": "[" * 5_000,
    "deep objects": '{"a":' * 5_000,
    "deep objects, closed": '{"verdict": "fail", "a":' + '{"a":' * 200 + "1" + "}" * 201,
    "very many objects": '{"verdict": "fail"} x ' * 50,
    "one megabyte": json.dumps({"verdict": "fail", "reason": "x" * 1_000_000}),
    "one megabyte of braces": "{" * 1_000_000,
    "halves of pairs and zeros": "\ud800\0{\0}\0001\0",
}


@pytest.mark.parametrize("name", READ)
def test_a_verdict_is_read(name: str) -> None:
    text, expected = READ[name]
    assert read(text) == expected


@pytest.mark.parametrize("name", UNPARSED)
def test_what_is_no_verdict_is_unparsed(name: str) -> None:
    assert read(UNPARSED[name]) == "unparsed"


@pytest.mark.parametrize(
    "text",
    ["{" * LONGEST_ANSWER, '{"' * (LONGEST_ANSWER // 2), '{"verdict":' * 18_000, '{"\\"' * 50_000, "Verdict: see\n" * 15_000,
     "x. Verdict: x" * 15_000, "<think></think>" * 13_000, "<think>" * 28_000, '{"verdict": }' * 15_000, "{ " * 100_000, '"' * LONGEST_ANSWER,
     "final " * 33_000, '{"verdict"' + " " * 190_000, "verdict: " * 20_000, "{}" * 100_000],
    ids=range(15),
)  # fmt: skip
def test_a_long_text_made_to_be_slow_is_unparsed_too(text: str) -> None:
    assert read(text) == "unparsed"


def test_evidence_and_reason_come_with_an_object_and_with_labels() -> None:
    assert read_verdict(f"So: {OBJECT}") == ("fail", "a cafe", "so")
    assert read_verdict('{"verdict": "pass", "evidence": null}') == ("pass", "", "")
    text = 'Verdict: fail\nEvidence: "my brother"\n**Reason:** another person\n'
    assert read_verdict(text) == ("fail", "my brother", "another person")
    assert read_verdict(text + "Reason: or two") == ("fail", "my brother", "")
    assert read_verdict('{"verdict": "fail", "reason": "a"} {"verdict": "fail", "reason": "b"}').reason == "b"


def test_the_reason_for_an_unparsed_answer_says_what_was_found() -> None:
    with pytest.raises(ValueError, match=r"contradict each other: fail, pass"):
        read_verdict("Verdict: pass\nVerdict: fail")
    with pytest.raises(ValueError, match="'excellent', not pass, fail or unknown"):
        read_verdict('{"verdict": "excellent"}')
    with pytest.raises(ValueError, match="cut off"):
        read_verdict('So {"verdict": "pass')


PIECES = st.sampled_from(
    ['{"verdict": "', "pass", "fail", "unknown", '"', "}", "{", "\n", "Verdict: ", "Final verdict:", ". ", "**", "<think>", "</think>", "```",
     "```json\n", ", ", '"reason": "', '"evidence": ', "[", "]", "\\", "null", "not ", "'", "\0", "\0000\0", "3"]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=300), st.lists(PIECES | st.text(max_size=6), max_size=30).map("".join))


def never_crashes_and_never_invents(text: str) -> None:
    verdict = read(text)
    assert verdict == "unparsed" or (verdict in text.lower() and "verdict" in text.lower())
    without = text.lower().replace("verdict", "ruling").replace("\\", "/")
    assert read(without) == "unparsed"


def reads_what_was_written(verdict: str, evidence: str, reason: str) -> None:
    answer = json.dumps({"evidence": evidence, "reason": reason, "verdict": verdict})
    assert read_verdict(answer) == (verdict, evidence, reason)
    assert read_verdict(f"I read {len(reason)} words.\n{answer}\nDone.") == (verdict, evidence, reason)
    assert read_verdict(f"```json\n{answer}\n```").verdict == verdict


ANSWERS = (st.sampled_from(["pass", "fail", "unknown"]), TEXTS, TEXTS)


@settings(max_examples=100)
@given(TEXTS)
def test_no_text_crashes_the_reader_or_gives_a_verdict_that_it_does_not_have(text: str) -> None:
    never_crashes_and_never_invents(text)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(TEXTS)
def test_no_text_crashes_the_reader_or_gives_a_verdict_that_it_does_not_have_in_many_examples(text: str) -> None:
    never_crashes_and_never_invents(text)


@settings(max_examples=100)
@given(*ANSWERS)
def test_whatever_evidence_and_reason_hold_the_verdict_is_the_one_that_was_written(verdict: str, evidence: str, reason: str) -> None:
    reads_what_was_written(verdict, evidence, reason)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(*ANSWERS)
def test_whatever_evidence_and_reason_hold_the_verdict_is_the_one_that_was_written_in_many_examples(
    v: str, evidence: str, reason: str
) -> None:
    reads_what_was_written(v, evidence, reason)


ITEMS = ["s1", "s2", "s3"]
SCORES: dict[str, tuple[list[str], str, list[Any]]] = {
    "gen-014-one line missing": (ITEMS, "Reasoning first.\n[1] Score: 4\n[3] Score: 2", [4, None, 2]),
    "gen-014-no labels, wrong count": (ITEMS, "Score: 4\nScore: 2", [None, None, None]),
    "no labels, right count": (ITEMS, "4\n3\n2", [None, None, None]),
    "no labels, the word, right count": (ITEMS, "Score: 4\nScore: 3\nScore: 2", [None, None, None]),
    "another order": (ITEMS, "[3] Score: 2\n[1] Score: 4\n[2] Score: 1", [4, 1, 2]),
    "by name": (ITEMS, "s2: Score: 3\n[s1] Score: 4", [4, 3, None]),
    "in bold, as a list": (ITEMS, "- **[1]** Score: **4**\n* [2] **Score:** 5 (good)", [4, 5, None]),
    "numbered": (ITEMS, "1. Score: 4\n2) Score: 3 - fine", [4, 3, None]),
    "the score on the next line": (ITEMS, "[1]\nScore: 4\n\n[2]\nIt has 3 parts.\nScore: 1", [4, None, None]),
    "on one line": (ITEMS, "[1] Score: 4, [3] Score: 2", [4, None, 2]),
    "twice the same": (ITEMS, "[1] Score: 4\n[1] Score: 4.0", [4, None, None]),
    "twice and different": (ITEMS, "[1] Score: 4\n[1] Score: 5\n[2] Score: 1", [None, 1, None]),
    "a label of nobody": (ITEMS, "[4] Score: 4\n[0] Score: 1\n[-1] Score: 2", [None, None, None]),
    "a decimal and a negative number": (ITEMS, "[1] Score: 4.5\n[2] Score: -1", [4.5, -1, None]),
    "of how many": (ITEMS, "[1] Score: 4/5\n[2] Score: 4 out of 5\n[3] Score: 4-5", [None, None, None]),
    "a word": (ITEMS, "[1] Score: four\n[2] Score:\n[3] Score: n/a", [None, None, None]),
    "digits elsewhere": (ITEMS, "I saw [1] with 5 arguments. [2] has Score: 3 somewhere", [None, None, None]),
    "in thinking": (ITEMS, "<think>[1] Score: 1</think>[1] Score: 4", [4, None, None]),
    "an object": (ITEMS, '{"s1": 4, "2": 3, "s3": "2"}', [4, 3, None]),
    "an object of objects": (ITEMS, '{"s1": {"score": 4}, "s2": {"score": true}}', [4, None, None]),
    "a JSON list is by position": (ITEMS, "[4, 3, 2]", [None, None, None]),
    "items that are numbers are named": (["3", "1"], "[1] Score: 4\n[3] Score: 2", [2, 4]),
    "an empty text": (ITEMS, "", [None, None, None]),
    "too long a text": (ITEMS, "[1] Score: 4\n" * 30_000, [None, None, None]),
    "no items": ([], "[1] Score: 4", []),
}


@pytest.mark.parametrize("name", SCORES)
def test_scores_are_matched_by_label_and_never_by_position(name: str) -> None:
    items, text, expected = SCORES[name]
    assert read_scores(items, text) == dict(zip(items, expected, strict=True))


@settings(max_examples=100)
@given(
    TEXTS | st.lists(st.sampled_from(["[1]", "Score:", " ", "4", "\n", ",", "s1:", "1.", "{", '"s1": 2', "}"]), max_size=20).map("".join)
)
def test_no_text_crashes_the_reader_of_scores(text: str) -> None:
    assert list(read_scores(ITEMS, text)) == ITEMS
