"""What a ledger adds up to: calls, tokens and money, by name or for given keys, and the rows that nothing asks for any more."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import islice
from typing import Literal, NamedTuple

By = Literal["purpose", "model", "outcome"]

KEYS_AT_ONCE = 1000

# Whole nano-dollars are added, so that the sum does not depend on the order of the rows.
_COUNTS = (
    "COUNT(*), COALESCE(SUM(prompt_tokens), 0), COALESCE(SUM(output_tokens), 0), COALESCE(SUM(CAST(ROUND(price * 1e9) AS INTEGER)), 0), "
    "COALESCE(SUM(price IS NULL), 0), COALESCE(SUM(prompt_tokens IS NULL OR output_tokens IS NULL), 0)"
)


class Totals(NamedTuple):
    """Counts over rows: calls, tokens, US dollars; how many calls have no price, and how many no token counts."""

    calls: int
    prompt_tokens: int
    output_tokens: int
    price: Decimal
    unpriced: int
    uncounted: int


class Entry(NamedTuple):
    """A row without its bodies."""

    key: str
    purpose: str
    model: str
    outcome: str
    price: float | None


def read_totals(connection: sqlite3.Connection, by: By) -> dict[str, Totals]:
    """Calls, tokens and money for each purpose, model or outcome, by name."""
    if by not in ("purpose", "model", "outcome"):
        raise ValueError(f"totals by {by!r}; there are purpose, model and outcome")
    found = connection.execute(f"SELECT {by}, {_COUNTS} FROM ledger GROUP BY {by} ORDER BY {by}").fetchall()
    return {name: _totals(*counts) for name, *counts in found}


def read_total(connection: sqlite3.Connection) -> Totals:
    """Calls, tokens and money of all rows."""
    return _totals(*connection.execute(f"SELECT {_COUNTS} FROM ledger").fetchall()[0])


def read_cost(connection: sqlite3.Connection, keys: Iterable[str]) -> Totals:
    """Calls, tokens and money of the rows that these keys name, each counted once."""
    with _used(connection, keys):
        return _totals(*connection.execute(f"SELECT {_COUNTS} FROM ledger WHERE key IN used").fetchall()[0])


def read_unused(connection: sqlite3.Connection, keys: Iterable[str]) -> Iterator[Entry]:
    """The rows that none of these keys names, in key order."""
    with _used(connection, keys):
        for found in connection.execute("SELECT key, purpose, model, outcome, price FROM ledger WHERE key NOT IN used ORDER BY key"):
            yield Entry(*found)


@contextlib.contextmanager
def _used(connection: sqlite3.Connection, keys: Iterable[str]) -> Iterator[None]:
    """A table `used` of this connection that holds the keys: 100,000 of them are no list in memory and no list in a statement."""
    connection.execute("CREATE TEMP TABLE used (key TEXT PRIMARY KEY) WITHOUT ROWID")
    keys = iter(keys)
    connection.execute("BEGIN")
    while some := list(islice(keys, KEYS_AT_ONCE)):
        connection.executemany("INSERT OR IGNORE INTO used VALUES (?)", ((key,) for key in some))
    connection.execute("COMMIT")
    yield


def _totals(calls: int, prompt_tokens: int, output_tokens: int, nano: int, unpriced: int, uncounted: int) -> Totals:
    return Totals(calls, prompt_tokens, output_tokens, Decimal(nano).scaleb(-9), unpriced, uncounted)
