"""An OpenAI-compatible endpoint as a campaign names it: which model, where, whose key, how long to wait. It never holds a key."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, field_validator

from familytool.errors import UsageError
from familytool.llm.dialects import Dialect
from familytool.llm.requests import Request, Sampling
from familytool.model import Json, Record, digest

OPENAI_ADDRESS = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
NO_KEY = "none"
"""What is sent as a key where none is needed: the client refuses to be without one."""


class Endpoint(Record):
    """A model behind a chat-completions endpoint.

    `id` is the model as requests and the ledger name it, `served_as` the name that this server knows it by, where it differs.
    `base_url` None is OpenAI. `key_variable` names the environment variable with the key; by default `OPENAI_API_KEY` at OpenAI and
    none elsewhere, so that no key goes to an address it is not meant for. Times are seconds: `timeout` of one attempt from sending
    to the last byte, `patience` of all attempts of a call with the waiting between them. `max_attempts` does not count attempts
    answered with 429, which the endpoint has not tried: these end with the patience.
    """

    model_config = ConfigDict(hide_input_in_errors=True)  # a refused address may hold a password

    name: str
    id: str
    served_as: str = ""
    base_url: str | None = None
    key_variable: str = ""
    timeout: float = Field(300.0, gt=0)
    patience: float = Field(1_800.0, gt=0)
    max_attempts: int = Field(8, ge=1)
    max_in_flight: int = Field(32, ge=1, le=4_096)
    first_wait: float = Field(0.5, ge=0)
    longest_wait: float = Field(120.0, ge=0)
    """The most seconds to wait before a next attempt, whatever Retry-After says; without that, waits begin with `first_wait` and double."""
    dialect: Dialect | None = None
    """How the endpoint wants to be asked, where that is known; otherwise a probe finds it."""
    sampling: Sampling = Sampling()
    """The defaults of `request`."""

    @field_validator("base_url")
    @classmethod
    def _plain_address(cls, base_url: str | None) -> str | None:
        if base_url is None:
            return None
        try:
            parts = urlsplit(base_url)
            host, _ = parts.hostname, parts.port
        except ValueError:
            raise ValueError("the address cannot be read; it looks like http://127.0.0.1:8000/v1") from None
        if parts.username is not None or parts.password is not None:
            raise ValueError("the address holds a user name or password; keys stand in an environment variable, which key_variable names")
        if parts.scheme not in ("http", "https") or not host:
            raise ValueError("the address must begin with http:// or https:// and a host, as http://127.0.0.1:8000/v1")
        return base_url

    @property
    def address(self) -> str:
        """Where requests go."""
        return self.base_url or OPENAI_ADDRESS

    @property
    def is_local(self) -> bool:
        """Whether the address is this machine's own, where no key is needed and no proxy stands between."""
        host = urlsplit(self.address).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")

    @property
    def place(self) -> str:
        """The endpoint as a message names it, without the query of its address.

        >>> Endpoint(name="judge", id="gpt-4o").place
        "endpoint 'judge' (gpt-4o at https://api.openai.com/v1)"
        """
        parts = urlsplit(self.address)
        return f"endpoint '{self.name}' ({self.id} at {parts.scheme}://{parts.netloc}{parts.path})"

    @property
    def fingerprint(self) -> str:
        """A hash of the address and the served model: what an endpoint can do hangs on these."""
        return digest([self.address, self.served_as or self.id])

    def key(self, environment: Mapping[str, str] | None = None) -> str:
        """The key from the environment, or `NO_KEY` where none is needed.

        Raises:
            UsageError: the variable that should hold the key is not set, or holds what cannot be sent in a header.
        """
        variable = self.key_variable or (OPENAI_KEY if self.base_url is None else "")
        if not variable:
            return NO_KEY
        key = (os.environ if environment is None else environment).get(variable, "").strip()
        if not key:
            raise UsageError(f"{self.place}: the environment variable {variable} is not set; put the endpoint's key there.")
        if not (key.isascii() and key.isprintable()):
            raise UsageError(f"{self.place}: {variable} holds characters that no key has; copy the key again.")
        return key

    def secrets(self, environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
        """What must not be seen of this endpoint: its key, if there is one."""
        try:
            key = self.key(environment)
        except UsageError:
            return ()
        return () if key == NO_KEY else (key,)

    def request(
        self,
        messages: tuple[dict[str, Json], ...],
        *,
        tools: tuple[dict[str, Json], ...] = (),
        answer_schema: dict[str, Json] | None = None,
        sample_index: int = 0,
        sampling: Sampling | None = None,
    ) -> Request:
        """A request to this endpoint's model, with its sampling settings unless others are given."""
        return Request(
            model=self.id,
            messages=messages,
            tools=tools,
            answer_schema=answer_schema,
            sampling=sampling or self.sampling,
            sample_index=sample_index,
        )
