"""Money before it is spent: an estimate from the real prompts, and a cap that is never passed because each call reserves its most first.

The most a call can cost is known without a tokenizer. Tokenizers that work on bytes (byte-level BPE as in GPT, Llama 3 and Qwen;
SentencePiece with byte fallback) make at most one token of a byte, so the bytes of the messages' JSON bound their tokens from above.
Tools and schemas are printed anew by chat templates, spaced and indented: at most a line break and an indent for each byte, hence
`PRINTED`. Templates add markers for each message and a preamble, for which `MESSAGE_TOKENS` and `REQUEST_TOKENS` are reserved. The
output is bounded by `max_output`, thinking included. Pictures and sound have no such bound and are refused under a cap.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Container, Iterable
from decimal import ROUND_FLOOR, Decimal
from types import TracebackType

from familytool.errors import FamilytoolError, UsageError
from familytool.llm.prices import NANO, Price, Prices
from familytool.llm.requests import Request, Usage
from familytool.model import Json, Record, canonical

PRINTED = 3
MESSAGE_TOKENS = 16
REQUEST_TOKENS = 512
LIKELY_BYTES = 6
"""A token of a real prompt rarely stands for more bytes than this; the lower end of an estimate, not a proof."""


class BudgetExhausted(FamilytoolError):
    """A call that could pass the cap and was therefore not made."""


class Reservation:
    """The most that one attempt of a call can cost, held until it is known what it did cost. Settle, lose or release it, once.

    As a context manager it counts as lost if nothing else was said: an attempt that was broken off may have to be paid.
    """

    def __init__(self, budget: Budget, price: Price | None, prompt_tokens: int, output_tokens: int) -> None:
        self.prompt_tokens = prompt_tokens
        self.output_tokens = output_tokens
        self.cost = 0 if price is None else price.cost(prompt_tokens, output_tokens, batch=budget.batch)
        self._budget = budget
        self._price = price
        self._open = True

    @property
    def tokens(self) -> int:
        """Prompt and output together."""
        return self.prompt_tokens + self.output_tokens

    def settle(self, usage: Usage, *, cached_tokens: int = 0) -> None:
        """The call was made and took this; a count that the endpoint does not tell is taken as all that was reserved for it."""
        prompt = self.prompt_tokens if usage.prompt_tokens is None else usage.prompt_tokens
        output = self.output_tokens if usage.output_tokens is None else usage.output_tokens
        cached = 0 if usage.prompt_tokens is None else cached_tokens
        cost = 0 if self._price is None else self._price.cost(prompt, output, cached_tokens=cached, batch=self._budget.batch)
        self._close(cost, prompt + output)

    def lost(self) -> None:
        """The attempt ended without an answer but may have been made (a time-out, a reset): all of it counts as spent."""
        self._close(self.cost, self.tokens)

    def release(self) -> None:
        """Nothing was made and nothing is owed (no connection, 429, an error of the server)."""
        self._close(0, 0)

    def _close(self, cost: int, tokens: int) -> None:
        if self._open:
            self._open = False
            self._budget._settle(self, cost, tokens)

    def __enter__(self) -> Reservation:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.lost()


class Budget:
    """A cap in US dollars, in tokens, in both or in neither, over all calls that reserve here; safe from several threads.

    A cap in dollars needs a price for every model: `refuse_unpriced` says so before the run, `reserve` at the latest (a local server's
    model is given the price 0 in the user's file). `spent` is what a run has spent before it is resumed, as its ledger adds it up.
    `batch` reserves and settles at the price of the provider's batch interface.

    Raises:
        UsageError: a cap that is no amount.
    """

    def __init__(
        self,
        cap: Decimal | float | int | str | None,
        prices: Prices,
        *,
        tokens: int | None = None,
        spent: Decimal = Decimal(0),
        batch: bool = False,
    ) -> None:
        self.prices = prices
        self.batch = batch
        self.token_cap = tokens
        self._cap = None if cap is None else _nano(cap)
        self._spent = _nano(spent)
        self._held = 0
        self._spent_tokens = 0
        self._held_tokens = 0
        self._outstanding = 0
        self._lock = threading.Lock()
        self._turn: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None
        self._settled: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None

    @property
    def spent(self) -> Decimal:
        """US dollars that are settled."""
        return Decimal(self._spent).scaleb(-9)

    @property
    def held(self) -> Decimal:
        """US dollars reserved for calls under way."""
        return Decimal(self._held).scaleb(-9)

    @property
    def tokens(self) -> int:
        """Tokens that are settled."""
        return self._spent_tokens

    def refuse_unpriced(self, models: Iterable[str]) -> None:
        """Raise UsageError if there is a cap in dollars and one of these models has no price."""
        unpriced = () if self._cap is None else self.prices.unpriced(tuple(models))
        if unpriced:
            raise UsageError(
                f"A budget in dollars cannot be kept: no price is known for {', '.join(unpriced)}; "
                "add it to a price file (0 for a server of your own), or run without --budget."
            )

    def reserve(self, request: Request) -> Reservation:
        """Hold the most that one attempt at this request can cost.

        Raises:
            BudgetExhausted: with what is spent and held, it could pass the cap. Nothing is held then.
            UsageError: there is a cap in dollars and the model has no price, or the request holds what has no bound.
        """
        if self._cap is not None:
            self.refuse_unpriced([request.model])
        if (self._cap is not None or self.token_cap is not None) and _has_other_parts(request):
            raise UsageError(
                "A budget cannot be kept for a prompt with pictures, sound or files: their tokens have no bound; run without --budget."
            )
        wanted = Reservation(self, self.prices.price(request.model), most_prompt_tokens(request), request.sampling.max_output)
        with self._lock:
            if self._cap is not None and self._spent + self._held + wanted.cost > self._cap:
                raise BudgetExhausted(
                    f"The budget of {_dollars(self._cap)} could be passed: {_dollars(self._spent)} are spent, {_dollars(self._held)} held for "
                    f"calls under way, and this call can cost {_dollars(wanted.cost)}; what is finished is kept: run again with a larger --budget."
                )
            if self.token_cap is not None and self._spent_tokens + self._held_tokens + wanted.tokens > self.token_cap:
                raise BudgetExhausted(
                    f"The budget of {self.token_cap:,} tokens could be passed: {self._spent_tokens:,} are spent, {self._held_tokens:,} held for "
                    f"calls under way, and this call can take {wanted.tokens:,}; what is finished is kept: run again with a larger budget."
                )
            self._held += wanted.cost
            self._held_tokens += wanted.tokens
            self._outstanding += 1
        return wanted

    async def wait(self, request: Request) -> Reservation:
        """Reserve, waiting while calls under way hold more than they will cost; first come, first served.

        Raises:
            BudgetExhausted: nothing is under way any more, and this call could still pass the cap.
        """
        loop = asyncio.get_running_loop()
        if self._turn is None or self._turn[0] is not loop:
            self._turn = (loop, asyncio.Lock())
        async with self._turn[1]:
            while True:
                settled = asyncio.Event()
                self._settled = (loop, settled)
                under_way = self._outstanding
                try:
                    return self.reserve(request)
                except BudgetExhausted:
                    if under_way == 0:
                        raise
                await settled.wait()

    def _settle(self, reservation: Reservation, cost: int, tokens: int) -> None:
        with self._lock:
            self._held -= reservation.cost
            self._held_tokens -= reservation.tokens
            self._spent += cost
            self._spent_tokens += tokens
            self._outstanding -= 1
        if (waiting := self._settled) is not None and not waiting[0].is_closed():
            waiting[0].call_soon_threadsafe(waiting[1].set)


class Estimate(Record):
    """What requests will take: calls to make and calls the ledger has, tokens and US dollars between a likely least and a proven most.

    The least takes `LIKELY_BYTES` bytes for a token and one token of output; the dollars are those of the models with a price, and
    `unpriced` names the others.
    """

    calls: int = 0
    answered: int = 0
    prompt_tokens: tuple[int, int] = (0, 0)
    output_tokens: tuple[int, int] = (0, 0)
    cost: tuple[Decimal, Decimal] = (Decimal(0), Decimal(0))
    unpriced: tuple[str, ...] = ()


def estimate(requests: Iterable[Request], prices: Prices, *, answered: Container[str] = (), batch: bool = False) -> Estimate:
    """What these requests will take, those aside whose keys are `answered` (a ledger will do); they are read once and not kept."""
    calls = known = least_prompt = most_prompt = most_output = least_cost = most_cost = 0
    unpriced: dict[str, None] = {}
    for request in requests:
        if request.key in answered:
            known += 1
            continue
        calls += 1
        least, most, output = likely_prompt_tokens(request), most_prompt_tokens(request), request.sampling.max_output
        least_prompt, most_prompt, most_output = least_prompt + least, most_prompt + most, most_output + output
        price = prices.price(request.model)
        if price is None:
            unpriced[request.model] = None
            continue
        least_cost += price.cost(least, min(1, output), batch=batch)
        most_cost += price.cost(most, output, batch=batch)
    return Estimate(
        calls=calls,
        answered=known,
        prompt_tokens=(least_prompt, most_prompt),
        output_tokens=(min(calls, most_output), most_output),
        cost=(Decimal(least_cost).scaleb(-9), Decimal(most_cost).scaleb(-9)),
        unpriced=tuple(unpriced),
    )


def most_prompt_tokens(request: Request) -> int:
    """A bound from above on the tokens of a prompt of text, whatever the tokenizer and the chat template (see the module)."""
    messages, printed = _sizes(request)
    return messages + PRINTED * printed + MESSAGE_TOKENS * len(request.messages) + REQUEST_TOKENS


def likely_prompt_tokens(request: Request) -> int:
    """What a prompt will hardly stay below: a token for each `LIKELY_BYTES` bytes."""
    return -(-sum(_sizes(request)) // LIKELY_BYTES)


def _sizes(request: Request) -> tuple[int, int]:
    """The bytes of the messages, and of tools and schema, as JSON."""
    printed = [part for part in (request.tools, request.answer_schema) if part]
    return _bytes(request.messages), sum(_bytes(part) for part in printed)


def _bytes(value: Json) -> int:
    return len(canonical(value).encode("utf-8", "surrogatepass"))


def _has_other_parts(request: Request) -> bool:
    contents = (message.get("content") for message in request.messages)
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return any(isinstance(part, dict) and part.get("type") not in ("text", "input_text", "output_text", "refusal") for part in parts)


def _nano(amount: Decimal | float | int | str) -> int:
    """Dollars as nano-dollars, rounded down; a float counts as the decimal it is written as."""
    try:
        value = Decimal(str(amount))
        if value.is_finite() and value >= 0:
            return int((value * NANO).to_integral_value(ROUND_FLOOR))
    except ArithmeticError:
        pass
    raise UsageError(f"A budget of {amount} is no amount of dollars; give a number such as 5 or 0.50.")


def _dollars(nano: int) -> str:
    """An amount for a message, with as many digits as it needs to be told from nothing."""
    return f"${Decimal(nano).scaleb(-9):,.4f}" if nano >= 100_000 or nano == 0 else f"${Decimal(nano).scaleb(-9):f}"
