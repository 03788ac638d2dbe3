"""What a call costs: prices of models from a dated file, in whole nano-dollars, so that nothing is lost by adding."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from familytool.errors import UsageError
from familytool.llm.requests import Usage
from familytool.model import Record

BUILT_IN = Path(__file__).with_name("prices.toml")
NANO = 1_000_000_000
"""Nano-dollars in a dollar: a token at 0.001 dollars for a million costs one."""


class Price(Record):
    """US dollars for a million tokens, with the day it was read and where (see prices.toml for each field)."""

    prompt: Decimal = Field(ge=0, allow_inf_nan=False)
    output: Decimal = Field(ge=0, allow_inf_nan=False)
    cached_prompt: Decimal | None = Field(None, ge=0, allow_inf_nan=False)
    batch_factor: Decimal = Field(Decimal(1), ge=0, le=1, allow_inf_nan=False)
    prefix: bool = False
    date: date
    source: str = ""

    def cost(self, prompt_tokens: int, output_tokens: int, *, cached_tokens: int = 0, batch: bool = False) -> int:
        """Nano-dollars for so many tokens, rounded up to a whole one; `cached_tokens` of the prompt tokens were cached.

        >>> price = Price(prompt=Decimal("2.50"), output=Decimal("10"), batch_factor=Decimal("0.5"), date=date(2025, 7, 4))
        >>> price.cost(1_000, 100), price.cost(1_000, 100, batch=True)
        (3500000, 1750000)
        """
        cached_tokens = min(max(cached_tokens, 0), prompt_tokens)
        cached = self.prompt if self.cached_prompt is None else self.cached_prompt
        millionths = (prompt_tokens - cached_tokens) * self.prompt + cached_tokens * cached + output_tokens * self.output
        return math.ceil(millionths * 1_000 * (self.batch_factor if batch else 1))


class Prices:
    """Prices by the name of a model: the exact name first, then the longest entry that says it holds for names beginning with it."""

    def __init__(self, prices: Mapping[str, Price]) -> None:
        self.prices = dict(prices)
        self._prefixes = sorted((name for name, price in self.prices.items() if price.prefix), key=len, reverse=True)

    def price(self, model: str) -> Price | None:
        """The price of a model, or None: a model without a price is not guessed at."""
        exact = self.prices.get(model)
        return exact or next((self.prices[name] for name in self._prefixes if model.startswith(name)), None)

    def cost(self, model: str, usage: Usage, *, cached_tokens: int = 0, batch: bool = False) -> float | None:
        """US dollars for a call, as `Answer.price` holds them; None where the model has no price or the endpoint told no tokens."""
        price = self.price(model)
        if price is None or usage.prompt_tokens is None or usage.output_tokens is None:
            return None
        return price.cost(usage.prompt_tokens, usage.output_tokens, cached_tokens=cached_tokens, batch=batch) / NANO

    def unpriced(self, models: tuple[str, ...]) -> tuple[str, ...]:
        """Those of these models that have no price, each once."""
        return tuple(model for model in dict.fromkeys(models) if self.price(model) is None)


def read_prices(path: Path | None = None) -> Prices:
    """The built-in prices, and over them those of a user's file.

    Raises:
        UsageError: the file cannot be read, is no TOML, or holds what is no price; the message names model and field.
    """
    prices = _read(BUILT_IN)
    return Prices(prices if path is None else {**prices, **_read(path)})


def _read(path: Path) -> dict[str, Price]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=Decimal)
    except OSError as error:
        raise UsageError(f"{path}: the price file cannot be read ({error.strerror or error}); give another.") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: the price file is no TOML ({error}); see prices.toml of the package for its form.") from None
    unknown = sorted(set(content) - {"models"})
    models = content.get("models", {})
    if unknown or not isinstance(models, dict):
        raise UsageError(
            f'{path}: a price file holds tables [models."NAME"] and nothing else, not {", ".join(unknown) or "another models"}.'
        )
    return {name: _price(path, name, entry) for name, entry in models.items()}


def _price(path: Path, name: str, entry: Any) -> Price:
    if not isinstance(entry, dict) or any(isinstance(value, dict) for value in entry.values()):
        raise UsageError(f'{path}: models.{name} is no price; a name with dots needs quotes, as [models."gpt-4.1"].')
    try:
        return Price.model_validate({"source": str(path), **entry})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise UsageError(f'{path}: models."{name}".{field}: {first["msg"].lower()}; a price has prompt, output and date.') from None


def cached_tokens(response: Mapping[str, Any]) -> int:
    """How many prompt tokens of a chat completion were cached, as its usage tells; 0 where it does not."""
    usage = response.get("usage")
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    count = details.get("cached_tokens") if isinstance(details, dict) else None
    return count if type(count) is int and count > 0 else 0
