"""The file of SQLite that the table and the objects share.

One connection serves all threads of the process, one after another: a request takes microseconds. A change is written
with `synchronous=NORMAL` in SQLite's write-ahead log: what was answered survives the end of the process, `kill -9`
included. A power cut may take the last changes and leaves the file whole. Source: SQLite, "Write-Ahead Logging" and
"PRAGMA synchronous".
"""

import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any
from weakref import finalize

from acta.engine.errors import StoreUnavailable

SCHEMA = """
CREATE TABLE IF NOT EXISTS items (
    store TEXT NOT NULL, pk TEXT NOT NULL, sk TEXT NOT NULL, item TEXT NOT NULL,
    live TEXT, live_at TEXT, op TEXT, ttl INTEGER, PRIMARY KEY (store, pk, sk)
);
CREATE INDEX IF NOT EXISTS live ON items (store, live, live_at, pk, sk) WHERE live IS NOT NULL;
CREATE INDEX IF NOT EXISTS open ON items (store, op, sk, pk) WHERE op IS NOT NULL;
CREATE INDEX IF NOT EXISTS expiring ON items (ttl) WHERE ttl IS NOT NULL;
CREATE TABLE IF NOT EXISTS changes (position INTEGER PRIMARY KEY AUTOINCREMENT, record TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS objects (
    version INTEGER PRIMARY KEY AUTOINCREMENT, bucket TEXT NOT NULL, key TEXT NOT NULL, at TEXT NOT NULL,
    etag TEXT, headers TEXT, body BLOB
);
CREATE INDEX IF NOT EXISTS versions ON objects (bucket, key, version);
"""
"""`store`: the table's name. `changes`: what the stream tells. An object without `body` is a mark that its key was
deleted."""
LOCKED_SECONDS = 10
"""How long a request waits while another process writes."""


Request = Mapping[str, Any]


class Database:
    def __init__(self, path: Path | None) -> None:
        """`path`: of the file, which is made where there is none, for its owner alone. None: in memory."""
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
        self._lock = RLock()
        self._connection = sqlite3.connect(
            path or ":memory:", timeout=LOCKED_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.executescript(SCHEMA)
        self._closing = finalize(self, self._connection.close)  # a connection that nobody closed is a warning
        self._closing.atexit = False  # threads that the process leaves behind may be at work in it

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Raises StoreUnavailable, as `writing` does: the disk is full, or another process has the file."""
        with self._lock:
            try:
                yield self._connection
            except sqlite3.OperationalError as error:
                raise StoreUnavailable(f"sqlite: {error}") from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All that is written inside, or none of it where an exception leaves it."""
        with self.reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def hold(self) -> None:
        """Lets no other thread in any more, so that a process can end in which threads are still at work."""
        self._lock.acquire()

    def close(self) -> None:
        with self._lock:
            self._closing()


def check_understood(request: Request, understood: Collection[str]) -> None:
    if unknown := [name for name in request if name not in understood]:
        raise NotImplementedError(f"the embedded stores do not know the parameter {unknown[0]}")
