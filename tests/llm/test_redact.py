"""No key, token or password in what is printed, logged or kept."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.llm.redact import GONE, holds_secret, redact, without_secrets

KEY = "my+own/secret=key-99"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Incorrect API key provided: sk-proj-abcDEF0123456789_-xyz. You can find", "abcDEF0123456789"),
        ("Incorrect API key provided: sk-abc***********wxyz.", "wxyz"),
        ("Incorrect API key provided: plainkey77. You can find", "plainkey77"),
        ("Authorization: Bearer abc.def.ghi", "abc.def"),
        ('{"authorization": "Basic dXNlcjpwYXNz"}', "dXNlcjpwYXNz"),
        ("authorization=Token 998877665544", "998877665544"),
        ("headers: {'Authorization': 'Bearer eyJhbGciOi.J9'}", "eyJhbGciOi"),
        ("BEARER   eyJhbGciOi", "eyJhbGciOi"),
        ("hf_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghij"),
        ("x-api-key: 1234abcd", "1234abcd"),
        ('"api_key": "1234abcd"', "1234abcd"),
        ("apikey=1234abcd&model=m", "1234abcd"),
        ("GET https://host/v1?key=AbCd1234&x=1", "AbCd1234"),
        ("https://user:pa55w0rd@host:8000/v1", "pa55w0rd"),
        ("AIzaSyA0123456789abcdefghij", "SyA0123456789"),
        ("gsk_0123456789abcdefghij and ghp_0123456789abcdefghij", "0123456789abcdefghij"),
        (f"you sent {KEY}", KEY),
        (f"you sent {quote(KEY, safe='')}", quote(KEY, safe="")),
        (f"you sent {base64.b64encode(KEY.encode()).decode()}", base64.b64encode(KEY.encode()).decode()),
        (json.dumps({"error": {"message": f"bad {KEY}"}}), KEY),
    ],
)
def test_what_is_shaped_like_a_secret_is_gone_from_a_message(text: str, hidden: str) -> None:
    cleaned = redact(text, [KEY])
    assert hidden not in cleaned
    assert GONE in cleaned


@pytest.mark.parametrize(
    "text",
    [
        "429 Too Many Requests: retry after 20 s",
        "task-oriented dialogue, risk-averse, desk-bound",
        "the key of the row is 0123456789abcdef",
        "http://127.0.0.1:8000/v1/chat/completions",
        "see https://host/a:b/c",
        "the ledger holds no api key",
        "",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text, ["", "a", "key"]) == text


def test_the_rest_of_a_message_stays_readable() -> None:
    assert redact("401 from https://u:p@host/v1: Incorrect API key provided: sk-abcdefghijkl.", []) == (
        f"401 from https://{GONE}@host/v1: Incorrect API key provided: {GONE}"
    )


def test_of_two_secrets_the_longer_goes_first() -> None:
    assert redact("abcd-efgh-ijkl", ["abcd", "abcd-efgh-ijkl"]) == GONE


def test_kept_texts_lose_the_given_secrets_and_nothing_else() -> None:
    text = f"Bearer abcdef, sk-0123456789abcdef, {KEY}, EMPTY"
    assert without_secrets(text, [KEY, "EMPTY"]) == f"Bearer abcdef, sk-0123456789abcdef, {GONE}, EMPTY"
    assert holds_secret(text, [KEY])
    assert not holds_secret(text, ["EMPTY", "", "another-key-0123"])


@settings(max_examples=100)
@given(st.text(max_size=30), st.text(max_size=30), st.text(st.characters(codec="utf-8"), min_size=4, max_size=30))
def test_a_given_secret_is_nowhere_in_the_message(before: str, after: str, secret: str) -> None:
    if secret not in GONE:
        assert secret not in redact(before + secret + after, [secret]).replace(GONE, "")


@pytest.mark.parametrize("part", ["sk-", "bearer ", "://a:", "authorization", "api key ", "hf_", "?key=", "://", "api_key="])
def test_a_long_text_of_beginnings_is_read_in_linear_time(part: str) -> None:
    redact(part * 200_000, ["secret-secret"])  # a quadratic pattern would take hours
