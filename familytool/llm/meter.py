"""Counts what calls take while they are made: for a progress display, and for the line that a stage ends with."""

from __future__ import annotations

from decimal import Decimal

from familytool.llm.lines import Event


class Meter:
    """Calls, tokens and money of this process; `tell` is given to the client."""

    def __init__(self) -> None:
        self.made = self.known = self.retried = self.failed = 0
        self.prompt_tokens = self.output_tokens = self.unpriced = 0
        self.price = Decimal(0)
        self.last_trouble = ""

    def tell(self, event: Event) -> None:
        """Count an event of the client."""
        if event.kind == "retried":
            self.retried += 1
            self.last_trouble = event.what
        elif event.kind == "failed":
            self.failed += 1
            self.last_trouble = event.what
        elif event.answer is not None and event.answer.from_ledger:
            self.known += 1
        elif event.answer is not None:
            self.made += 1
            self.prompt_tokens += event.answer.usage.prompt_tokens or 0
            self.output_tokens += event.answer.usage.output_tokens or 0
            if event.answer.price is None:
                self.unpriced += 1
            else:
                self.price += Decimal(str(event.answer.price))

    @property
    def money(self) -> str:
        """What was spent, in words; calls of models without a price are counted, not guessed at."""
        if self.unpriced and not self.price:
            return "no price known"
        return f"${self.price:.4f}" + (f" and {self.unpriced:,} calls without a price" if self.unpriced else "")

    def line(self, done: int = 0, of: int = 0) -> str:
        """One line of what was counted; with rows done and wanted, also about what the rest will cost."""
        if not self.made and not self.known:
            return ""
        parts = [f"{self.made:,} calls", f"{self.prompt_tokens + self.output_tokens:,} tokens", self.money]
        if self.known:
            parts.insert(1, f"{self.known:,} from the ledger")
        if self.retried:
            parts.append(f"{self.retried:,} tried again")
        if self.price and 0 < done < of:
            parts.append(f"about ${self.price * (of - done) / done:.2f} to go")
        return ", ".join(parts)
