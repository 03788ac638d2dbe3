"""The models of a campaign, opened: endpoints, ledger, budget and prices, or a folder of batches in place of the network."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from familytool.campaign import Campaign, ModelSection
from familytool.errors import FamilytoolError
from familytool.llm.asking import Asks, Model
from familytool.llm.batch import BatchReport, Part, read_batch, write_batch
from familytool.llm.batch_results import ASKED
from familytool.llm.budget import Budget
from familytool.llm.dialects import Dialect, chat_body
from familytool.llm.endpoint import Endpoint
from familytool.llm.ledger import Ledger
from familytool.llm.lines import Event
from familytool.llm.prices import Prices, read_prices
from familytool.llm.requests import Answer, Purpose, Request, Sampling
from familytool.model import Json
from familytool.runs import LEDGER


def endpoint_of(name: str, section: ModelSection) -> Endpoint:
    """The endpoint that a model section describes."""
    sampling = Sampling(temperature=section.temperature, top_p=section.top_p, seed=section.seed, max_output=section.max_output)
    settings = section.model_dump(exclude={"temperature", "top_p", "seed", "max_output"})
    return Endpoint(name=name, sampling=sampling, **settings)


def endpoints_of(campaign: Campaign) -> dict[str, Endpoint]:
    """All endpoints of a campaign, by name."""
    return {name: endpoint_of(name, section) for name, section in campaign.models.items()}


@dataclass(frozen=True)
class Spending:
    """How a run may ask: the cap in US dollars, the prices, or not at all (`replay`), or by files (`batch`)."""

    budget: Decimal | None = None
    prices: Prices = field(default_factory=read_prices)
    replay: bool = False
    batch: Path | None = None
    transport: Any = None
    """Stands in for the network."""


class Deferred(FamilytoolError):
    """A call that waits for the results of a batch."""


class Collecting:
    """Answers from the ledger; what it does not hold is collected for a batch."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.collected: dict[str, tuple[Purpose, Request]] = {}

    async def ask(self, request: Request, endpoint_name: str, purpose: Purpose) -> Answer:
        """The committed answer; Deferred where there is none yet."""
        known = self.ledger.lookup(request.key)
        if known is not None:
            return known
        self.collected.setdefault(request.key, (purpose, request))
        raise Deferred(f"a {purpose} call to '{endpoint_name}' waits for the results of a batch")


@dataclass
class Opened:
    """The models of a campaign by name, and what they are asked through."""

    models: dict[str, Model]
    ledger: Ledger
    asks: Asks
    endpoints: dict[str, Endpoint]

    @property
    def collected(self) -> Iterable[tuple[Purpose, Request]]:
        """The calls that a batch is to make."""
        return self.asks.collected.values() if isinstance(self.asks, Collecting) else ()

    def named(self, name: str) -> Model | None:
        """The model of this name; None for no name and for what is no model ('templates', 'rules')."""
        return self.models.get(name)


@asynccontextmanager
async def opened(
    campaign: Campaign, folder: Path, spending: Spending, tell: Callable[[Event], None] | None = None, prompts: Path | None = None
) -> AsyncIterator[Opened]:
    """The campaign's models, with the ledger of a run folder.

    Raises:
        UsageError: a budget in dollars where a model has no price.
        FamilytoolError: the ledger cannot be opened.
    """
    from familytool.llm.client import Client

    endpoints = endpoints_of(campaign)
    if not spending.replay:
        folder.mkdir(parents=True, exist_ok=True)
    async with Ledger(folder / LEDGER, replay=spending.replay) as ledger:
        if spending.batch is not None:
            collecting = Collecting(ledger)
            yield Opened({name: Model(e, collecting, prompts) for name, e in endpoints.items()}, ledger, collecting, endpoints)
            return
        budget = Budget(spending.budget, spending.prices, spent=ledger.total().price)
        budget.refuse_unpriced(endpoint.id for endpoint in endpoints.values())
        async with Client(endpoints.values(), ledger, budget, tell, transport=spending.transport) as client:
            yield Opened({name: Model(e, client, prompts) for name, e in endpoints.items()}, ledger, client, endpoints)


def take_results(folder: Path, batch: Path, prices: Prices) -> BatchReport | None:
    """The results that lie in a batch folder, taken into the ledger; None where nothing was asked yet."""
    if not (batch / ASKED).exists():
        return None
    folder.mkdir(parents=True, exist_ok=True)
    with Ledger(folder / LEDGER) as ledger:
        return read_batch([batch], ledger, batch, prices=prices)


def write_requests(campaign: Campaign, asked: Iterable[tuple[Purpose, Request]], batch: Path, waiting: frozenset[str]) -> list[Part]:
    """These calls as the next files of a batch folder, without those that wait there already."""
    by_model = {endpoint.id: endpoint for endpoint in endpoints_of(campaign).values()}
    return write_batch(asked, batch, lambda request: _body(request, by_model[request.model]), skip=waiting)


def _body(request: Request, endpoint: Endpoint) -> dict[str, Json]:
    dialect = endpoint.dialect or Dialect(has_schema=True, limit="max_tokens" if endpoint.base_url else "max_completion_tokens")
    body = chat_body(request, dialect)
    return {**body, "model": endpoint.served_as or endpoint.id}
