"""The table of the ledger in SQLite: its columns, how it is opened, written and read; nothing here knows of models or time."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from familytool.errors import FamilytoolError
from familytool.llm.rows import COLUMNS, Row

BUSY_SECONDS = 60.0
_CREATE = """CREATE TABLE IF NOT EXISTS ledger (
  key TEXT PRIMARY KEY NOT NULL, request TEXT NOT NULL, sample_index INTEGER NOT NULL, purpose TEXT NOT NULL, model TEXT NOT NULL,
  endpoint TEXT NOT NULL, response TEXT NOT NULL, outcome TEXT NOT NULL, prompt_tokens INTEGER, output_tokens INTEGER, price REAL,
  started TEXT NOT NULL, finished TEXT NOT NULL)"""
_INSERT = f"INSERT INTO ledger VALUES ({', '.join('?' * len(COLUMNS))}) ON CONFLICT(key) DO NOTHING"
SELECT = f"SELECT {', '.join(COLUMNS)} FROM ledger"


@contextlib.contextmanager
def told(path: Path, doing: str) -> Iterator[None]:
    """Say in one sentence what SQLite says in its own words."""
    try:
        yield
    except sqlite3.Error as error:
        raise FamilytoolError(
            f"{path}: the ledger cannot be {doing} ({error}); make room or restore the file, then run again: what is committed is kept."
        ) from None


def open_for_writing(path: Path) -> sqlite3.Connection:
    """A connection that commits durably.

    WAL with synchronous=FULL: a commit survives kill -9 (NORMAL would do) and the loss of power (NORMAL would not). With one commit
    for a group of answers it costs one more fsync for up to 64 answers, which is less than a thousandth of what they took to make.

    Raises:
        FamilytoolError: no SQLite file, another table, or a place where SQLite cannot keep a write-ahead log.
    """
    with told(path, "opened"):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FamilytoolError(f"{path.parent}: cannot be made ({error.strerror or error}); give another --run-dir.") from None
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
            if mode != "wal":
                raise FamilytoolError(f"{path}: no write-ahead log can be kept here (SQLite says {mode}); give another --run-dir.")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute(_CREATE)
            _refuse_foreign(path, connection)
        except BaseException:
            connection.close()
            raise
    return connection


def open_for_reading(path: Path, *, live: bool | None = None) -> sqlite3.Connection:
    """A connection that changes nothing and, where no process writes, leaves no file beside the ledger (so a read-only folder will do).

    `live` says that rows are being written meanwhile, and is found out if it is not given.

    Raises:
        FamilytoolError: no file, no SQLite file, or another table.
    """
    if not path.is_file():
        raise FamilytoolError(f"{path}: there is no ledger here; give the folder of a run that asked a model, or import one first.")
    if live is None:
        # A write-ahead log beside the file holds rows that `immutable` would overlook: a writer is at work, or was killed.
        live = os.path.lexists(f"{path}-wal")
    with told(path, "read"):
        address = f"{path.resolve().as_uri()}?{'mode=ro' if live else 'mode=ro&immutable=1'}"
        connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            _refuse_foreign(path, connection)
        except BaseException:
            connection.close()
            raise
    return connection


def _refuse_foreign(path: Path, connection: sqlite3.Connection) -> None:
    found = tuple(name for _, name, *_ in connection.execute("PRAGMA table_info(ledger)").fetchall())
    if found != COLUMNS:
        what = f"a table of other columns ({', '.join(found)})" if found else "no table `ledger`"
        raise FamilytoolError(f"{path}: not a ledger of this version (it holds {what}); give another --run-dir, or import its export.")


def insert(connection: sqlite3.Connection, rows: Sequence[Row]) -> list[bool]:
    """Commit these rows at once; for each, whether it is new. A key that is there keeps its row, whoever wrote it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        new = [connection.execute(_INSERT, row).rowcount == 1 for row in rows]
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return new
