"""The embedded transport: a file of SQLite beside the store, which may be thrown away at any time.

Each act opens the file, so that one that was deleted, or damaged, is simply made again. Nothing is synced: what a power
cut loses is a repeated attempt.
"""

import os
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from braid.views.disposable import DisposableFile
from braid.work.errors import FullError, LeaseLostError, TransportError
from braid.work.job import ACTIVE, Batch, Job, Lease
from braid.work.spans import Spans
from braid.work.transport import DEAD_KEPT_S, DEPTH, KEPT_S, Offered

FILE: Final = "work.sqlite"
BUSY_S: Final = 5.0
_COLUMNS: Final = "consumer, version, spans, state, attempts, due, owner, expires, stage, error, changed"
_SCHEMA: Final = (
    """
CREATE TABLE jobs (
  id TEXT PRIMARY KEY, consumer TEXT NOT NULL, version TEXT NOT NULL, spans TEXT NOT NULL, state TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0, due REAL NOT NULL DEFAULT 0, owner TEXT NOT NULL DEFAULT '',
  expires REAL NOT NULL DEFAULT 0, token INTEGER NOT NULL DEFAULT 0, stage TEXT NOT NULL DEFAULT '',
  error TEXT NOT NULL DEFAULT '', changed REAL NOT NULL DEFAULT 0
)""",
    "CREATE TABLE fence (token INTEGER NOT NULL)",
)
_ACTIVE: Final = ", ".join(f"'{state}'" for state in ACTIVE)
_FREE: Final = """
SELECT id FROM jobs
WHERE (state IN ('pending', 'retry_scheduled') AND due <= :now OR state = 'leased' AND expires <= :now)
  AND consumer || '@' || version IN (SELECT value FROM json_each(:kinds))
ORDER BY rowid LIMIT 1
"""


class EmbeddedQueue:
    """Jobs in one file. Implements `Transport`."""

    name = "embedded"

    def __init__(self, path: Path, *, depth: int = DEPTH) -> None:
        """The file is made when a job is first offered, for its owner alone (0600)."""
        self.path = path
        self._depth = depth
        self._file = DisposableFile(
            path, _SCHEMA, pragmas=("journal_mode = WAL", "synchronous = OFF"), busy_s=BUSY_S
        )

    def offer(self, batch: Batch, now: float) -> Offered:
        """Let a batch be done at `now`, in seconds since 1970; `known` where it waits, `full` where too many do."""
        with self._changing() as con:
            return self._offer(con, batch, now)

    def _offer(self, con: sqlite3.Connection, batch: Batch, now: float) -> Offered:
        found = con.execute("SELECT state FROM jobs WHERE id = ?", [batch.id]).fetchone()
        if found is not None and found[0] in ACTIVE:
            return "known"
        waiting = con.execute(f"SELECT count(*) FROM jobs WHERE state IN ({_ACTIVE})").fetchone()[0]  # noqa: S608 - our own words
        if waiting >= self._depth:
            return "full"
        _put(con, batch, now)
        _drop_ended(con, now - KEPT_S, now - DEAD_KEPT_S)
        return "offered"

    def lease(self, kinds: Sequence[str], owner: str, now: float, lease_s: float) -> Lease | None:
        """Return a lease of `lease_s` seconds on the next job of these kinds that is due at `now`, else None."""
        if not kinds or not self.path.exists():
            return None
        among = msgspec.json.encode(tuple(kinds)).decode()
        with self._changing() as con:
            found = con.execute(_FREE, {"now": now, "kinds": among}).fetchone()
            return None if found is None else _leased(con, found[0], owner, now, lease_s)

    def take(self, batch: Batch, owner: str, now: float, lease_s: float) -> Lease | None:
        """Return a lease of `lease_s` seconds on one batch from `now` on, due or not; None while another has it."""
        with self._changing() as con:
            found = con.execute("SELECT state, expires FROM jobs WHERE id = ?", [batch.id]).fetchone()
            if found is not None and found[0] == "leased" and found[1] > now:
                return None
            if found is None or found[0] not in ACTIVE:
                _put(con, batch, now)
            return _leased(con, batch.id, owner, now, lease_s)

    def heartbeat(self, lease: Lease, now: float, lease_s: float) -> None:
        """Let a lease last `lease_s` seconds from `now` on. Raises LeaseLostError."""
        with self._changing() as con:
            _require(con, lease)
            _set(con, lease, state="leased", expires=now + lease_s, changed=now)

    def require(self, lease: Lease, now: float) -> None:
        """Raise LeaseLostError where a lease is lost; at `now`, in seconds, an expired one that nobody took counts."""
        del now
        with self._changing() as con:
            _require(con, lease)

    def done(self, lease: Lease, now: float) -> None:
        """Note that the log has the outcome, at `now` in seconds; nothing, where the lease was lost."""
        self._end(lease, state="done", stage="", error="", changed=now)

    def retry(self, lease: Lease, due_at: float, stage: str, error: str, now: float) -> None:
        """Note at `now` that an attempt failed, and that the next is due at `due_at`; both in seconds."""
        self._end(lease, state="retry_scheduled", due=due_at, stage=stage, error=error, changed=now)

    def release(self, lease: Lease, due_at: float, now: float) -> None:
        """Give a job back at `now`, due at `due_at`, both in seconds: it cost no attempt."""
        self._end(lease, state="pending", due=due_at, attempts=lease.attempt - 1, changed=now)

    def bury(self, lease: Lease, stage: str, error: str, now: float) -> None:
        """Note at `now`, in seconds, that a job is dead: it failed at a stage of an error."""
        self._end(lease, state="dead", stage=stage, error=error, changed=now)

    def _end(self, lease: Lease, **members: Any) -> None:
        with self._changing() as con, suppress(LeaseLostError):
            _require(con, lease)
            _set(con, lease, owner="", expires=0, **members)

    def requeue(self, batch: Batch, now: float) -> None:
        """Let a batch be done from its first attempt on, from `now` on, in seconds."""
        with self._changing() as con:
            _put(con, batch, now)

    def discard(self, batch: Batch) -> None:
        """Forget the job of a batch."""
        with self._changing() as con:
            con.execute("DELETE FROM jobs WHERE id = ?", [batch.id])

    def drop_ended(self, done_before: float, dead_before: float) -> None:
        """Forget the jobs that were done, or died, before these times, in seconds since 1970."""
        if self.path.exists():
            with self._changing() as con:
                _drop_ended(con, done_before, dead_before)

    def jobs(self) -> list[Job]:
        """Return all jobs that are known, oldest first: none where the file can't be written, and so not be opened."""
        if not self.path.exists() or not os.access(self.path.parent, os.W_OK):
            return []
        try:
            with self._changing() as con:
                rows = con.execute(f"SELECT {_COLUMNS} FROM jobs ORDER BY rowid").fetchall()  # noqa: S608 - our own words
        except FullError:
            return []
        return [_job(row) for row in rows]

    def next_due(self, kinds: Sequence[str], now: float) -> float | None:
        """Return when the next job of these kinds can be leased, in seconds, at `now` at the earliest; None: never."""
        waiting = [
            one.expires_at if one.state == "leased" else one.due_at
            for one in self.jobs()
            if one.state in ACTIVE and one.batch.kind in kinds
        ]
        return max(now, min(waiting)) if waiting else None

    # -- the file ---------------------------------------------------------------------------------

    @contextmanager
    def _changing(self) -> Generator[sqlite3.Connection]:
        """Hold the file for one act; a damaged one is made again by the next."""
        try:
            with self._file.changing() as con:
                yield con
        except (sqlite3.Error, OSError) as error:
            if isinstance(error, sqlite3.Error) and self._file.is_damage(error):
                raise TransportError(f"{self.path} was damaged ({error}) and is made again") from error
            if isinstance(error, sqlite3.Error) and self._file.is_full(error):
                raise FullError(f"{self.path}: the disk is full") from error
            raise TransportError(f"{self.path}: {error}") from error

    def drop(self) -> None:
        """Throw the file away."""
        self._file.drop()


def _put(con: sqlite3.Connection, batch: Batch, now: float) -> None:
    con.execute(
        "INSERT OR REPLACE INTO jobs (id, consumer, version, spans, state, due, changed)"
        " VALUES (?, ?, ?, ?, 'pending', ?, ?)",
        [batch.id, batch.consumer, batch.version, msgspec.json.encode(batch.spans).decode(), now, now],
    )


def _drop_ended(con: sqlite3.Connection, done_before: float, dead_before: float) -> None:
    con.execute(
        "DELETE FROM jobs WHERE state = 'done' AND changed < ? OR state = 'dead' AND changed < ?",
        [done_before, dead_before],
    )


def _leased(con: sqlite3.Connection, id: str, owner: str, now: float, lease_s: float) -> Lease:
    """Lease a job under the next token; the attempt counts from here on, whatever becomes of the worker."""
    (before,) = con.execute("SELECT coalesce(max(token), 0) FROM fence").fetchone()
    con.execute("DELETE FROM fence")
    con.execute("INSERT INTO fence VALUES (?)", [before + 1])
    con.execute(
        "UPDATE jobs SET state = 'leased', attempts = attempts + 1, owner = ?, expires = ?, token = ?, changed = ?"
        " WHERE id = ?",
        [owner, now + lease_s, before + 1, now, id],
    )
    row = con.execute(f"SELECT {_COLUMNS} FROM jobs WHERE id = ?", [id]).fetchone()  # noqa: S608 - our own words
    job = _job(row)
    return Lease(
        batch=job.batch, attempt=job.attempts, token=before + 1, owner=owner, expires_at=now + lease_s
    )


def _require(con: sqlite3.Connection, lease: Lease) -> None:
    found = con.execute(
        "SELECT 1 FROM jobs WHERE id = ? AND state = 'leased' AND token = ? AND owner = ?",
        [lease.batch.id, lease.token, lease.owner],
    ).fetchone()
    if found is None:
        raise LeaseLostError(f"the lease of {lease.batch.id} is not in force any more: another may have it")


def _set(con: sqlite3.Connection, lease: Lease, **members: Any) -> None:
    names = ", ".join(f"{name} = ?" for name in members)
    con.execute(f"UPDATE jobs SET {names} WHERE id = ?", [*members.values(), lease.batch.id])  # noqa: S608 - our own words


def _job(row: Any) -> Job:
    consumer, version, spans, state, attempts, due, owner, expires, stage, error, changed = row
    return Job(
        batch=Batch(consumer, version, msgspec.json.decode(spans, type=Spans)),
        state=state,
        attempts=attempts,
        due_at=due,
        owner=owner,
        expires_at=expires,
        stage=stage,
        error=error,
        changed_at=changed,
    )
