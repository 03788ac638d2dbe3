"""Prices: dated, exact, never guessed at, and the user's own before the built-in ones."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.errors import UsageError
from familytool.llm.prices import Price, Prices, cached_tokens, read_prices
from familytool.llm.requests import Usage

DAY = date(2025, 7, 4)


def price(**fields: object) -> Price:
    return Price.model_validate({"prompt": Decimal("2.50"), "output": Decimal("10"), "date": DAY, **fields})


def test_every_built_in_price_says_when_and_where_it_was_read() -> None:
    prices = read_prices().prices
    assert "gpt-4o-2024-11-20" in prices
    for name, found in prices.items():
        assert found.source, name
        assert date(2024, 1, 1) < found.date < date(2027, 1, 1), name
        assert 0 < found.prompt < found.output, name
        assert found.cached_prompt is None or found.cached_prompt < found.prompt, name
        assert found.batch_factor == Decimal("0.5"), name
        assert not found.prefix, name


def test_gpt_4o_costs_what_it_costs() -> None:
    prices = read_prices()
    million = Usage(prompt_tokens=1_000_000, output_tokens=1_000_000)
    assert prices.cost("gpt-4o-2024-11-20", million) == 12.5
    assert prices.cost("gpt-4o-2024-11-20", million, batch=True) == 6.25
    assert prices.cost("gpt-4o-2024-11-20", million, cached_tokens=1_000_000) == 11.25
    assert prices.cost("gpt-4o-2024-05-13", million) == 20
    assert prices.cost("gpt-4o-mini", million) == 0.75


@pytest.mark.parametrize("model", ["gpt-4o-2099-01-01", "gpt-4", "GPT-4o", "openai/gpt-4o", "gpt-4o ", "", "qwen2.5-7b-instruct"])
def test_a_model_without_a_price_is_not_guessed_at(model: str) -> None:
    prices = read_prices()
    assert prices.price(model) is None
    assert prices.cost(model, Usage(prompt_tokens=1, output_tokens=1)) is None
    assert prices.unpriced((model, "gpt-4o", model)) == (model,)


def test_a_call_whose_tokens_are_not_told_has_no_cost() -> None:
    assert read_prices().cost("gpt-4o", Usage(prompt_tokens=1)) is None
    assert read_prices().cost("gpt-4o", Usage()) is None


def test_the_exact_name_comes_first_then_the_longest_that_says_it_is_a_prefix() -> None:
    prices = Prices(
        {
            "a": price(prefix=True, source="a"),
            "a-b": price(prefix=True, source="a-b"),
            "a-b-c": price(source="a-b-c"),
            "z": price(source="z"),
        }
    )
    found = {model: prices.price(model) for model in ("a", "a-x", "a-b-x", "a-b-c", "a-b-c-d", "z-1", "b")}
    assert {model: found and found.source for model, found in found.items()} == {
        "a": "a", "a-x": "a", "a-b-x": "a-b", "a-b-c": "a-b-c", "a-b-c-d": "a-b", "z-1": None, "b": None,
    }  # fmt: skip


def test_a_users_file_adds_models_and_replaces_whole_entries(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(
        '[models."gpt-4o"]\nprompt = 1\noutput = 2\ndate = 2026-01-01\n'
        '[models.local]\nprompt = 0\noutput = 0\nprefix = true\ndate = 2026-01-01\nsource = "ours"\n',
        encoding="utf-8-sig",
    )
    prices = read_prices(file)
    replaced = prices.prices["gpt-4o"]
    assert (replaced.prompt, replaced.cached_prompt, replaced.batch_factor, replaced.source) == (1, None, 1, str(file))
    assert prices.cost("local-7b", Usage(prompt_tokens=5, output_tokens=5)) == 0
    assert prices.price("gpt-4o-mini") == read_prices().price("gpt-4o-mini")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("not toml [", "no TOML"),
        ("[models.m]\nprompt = 1\noutput = 1", "date"),
        ("[models.m]\nprompt = 1\ndate = 2026-01-01", "output"),
        ("[models.m]\nprompt = -1\noutput = 1\ndate = 2026-01-01", "prompt"),
        ("[models.m]\nprompt = nan\noutput = 1\ndate = 2026-01-01", "prompt"),
        ("[models.m]\nprompt = 1\noutput = inf\ndate = 2026-01-01", "output"),
        ("[models.m]\nprompt = 'much'\noutput = 1\ndate = 2026-01-01", "prompt"),
        ("[models.m]\nprompt = 1\noutput = 1\ndate = 'soon'", "date"),
        ("[models.m]\nprompt = 1\noutput = 1\ndate = 2026-01-01\nbatch_factor = 2", "batch_factor"),
        ("[models.m]\nprompt = 1\noutput = 1\ndate = 2026-01-01\ninput = 1", "input"),
        ("[models.gpt-4.1]\nprompt = 1\noutput = 1\ndate = 2026-01-01", "quotes"),
        ("[models]\nm = 3", "quotes"),
        ("models = 3", "models"),
        ("currency = 'EUR'", "currency"),
    ],
)
def test_a_bad_price_file_is_one_sentence_that_names_the_place(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as error:
        read_prices(file)
    assert named in str(error.value)
    assert str(file) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_price_file_that_is_not_there_or_no_text_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_prices(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError):
        read_prices(tmp_path / "bytes.toml")


@settings(max_examples=100)
@given(st.integers(0, 10**7), st.integers(0, 10**6), st.integers(-5, 10**8), st.decimals(0, 100, places=4), st.booleans())
def test_a_cost_is_whole_and_never_less_than_the_exact_one(prompt: int, output: int, cached: int, dollars: Decimal, batch: bool) -> None:
    it = price(prompt=dollars, cached_prompt=dollars / 2, batch_factor=Decimal("0.5"))
    used = min(max(cached, 0), prompt)
    exact = ((prompt - used) * dollars + used * dollars / 2 + output * 10) * 1000 * (Decimal("0.5") if batch else 1)
    cost = it.cost(prompt, output, cached_tokens=cached, batch=batch)
    assert exact <= cost < exact + 1


@pytest.mark.parametrize(
    ("response", "count"),
    [
        ({"usage": {"prompt_tokens_details": {"cached_tokens": 7}}}, 7),
        ({"usage": {"prompt_tokens_details": {"cached_tokens": -7}}}, 0),
        ({"usage": {"prompt_tokens_details": {"cached_tokens": True}}}, 0),
        ({"usage": {"prompt_tokens_details": None}}, 0),
        ({"usage": []}, 0),
        ({}, 0),
    ],
)
def test_cached_tokens_are_what_the_usage_tells(response: dict[str, object], count: int) -> None:
    assert cached_tokens(response) == count
