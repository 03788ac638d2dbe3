"""A model call as what it asks, apart from where and how it is sent: the ledger's key is the hash of this and nothing else."""

from __future__ import annotations

import hashlib
from typing import Literal

from familytool.model import Json, Record, canonical

Outcome = Literal["answered", "refused", "empty", "cut"]
"""How a finished call ended: with text (or calls), with a refusal, with nothing, or cut at the output limit."""

Purpose = Literal[
    "extract", "filter", "query", "answer", "solve", "judge", "probe", "act", "summarise", "evaluate", "reflect", "build", "user", "embed"
]


class Sampling(Record):
    """Sampling settings; None leaves a setting to the endpoint. `max_output` counts tokens, thinking included where the endpoint does."""

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_output: int = 1024
    stop: tuple[str, ...] = ()


class Request(Record):
    """A logical request (house rules, section 3): model, messages, tools, schema, sampling, and the number of the sample.

    Not in it: base URL, key, purpose, retries, and the dialect in which structured output is asked for. n candidates or n judges are
    `sample_index` 0 .. n-1; a retry after an answer that cannot be parsed takes the next index.
    """

    model: str
    messages: tuple[dict[str, Json], ...]
    tools: tuple[dict[str, Json], ...] = ()
    answer_schema: dict[str, Json] | None = None
    sampling: Sampling = Sampling()
    sample_index: int = 0

    @property
    def key(self) -> str:
        """64 hexadecimal digits: SHA-256 of the canonical JSON of all fields."""
        return hashlib.sha256(canonical(self.model_dump()).encode("utf-8", "surrogatepass")).hexdigest()


class Usage(Record):
    """Tokens of one call as the endpoint counts them; None where it does not say."""

    prompt_tokens: int | None = None
    output_tokens: int | None = None


class Answer(Record):
    """What came back: text, thinking set apart, native tool calls, how it ended, and whether it was taken from the ledger."""

    key: str
    outcome: Outcome
    text: str = ""
    thinking: str = ""
    tool_calls: tuple[dict[str, Json], ...] = ()
    usage: Usage = Usage()
    price: float | None = None
    from_ledger: bool = False
