"""What left: one row for each time that a model was asked, without a word of what was said. A file beside the store.

The day's tokens are counted from it, so that a restart resets nothing, and several processes count together. It may be
thrown away: then the day begins from zero, and nothing else is lost.
"""

import logging
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from sqlite3 import Connection
from typing import Any, Final, Literal

import msgspec

from braid.event_log import note
from braid.session import Session
from braid.views.disposable import DisposableFile

Kind = Literal["small", "larger", "embedder"]
"""The tiers of language models, each with a budget of its own; an embedder has none."""
FILE: Final = "outbound.sqlite"
KEPT_DAYS: Final = 90
KEPT_ROWS: Final = 10_000
"""So many of the newest are kept, however old."""
_SCHEMA: Final = (
    """
CREATE TABLE calls (
  id TEXT NOT NULL UNIQUE, at TEXT NOT NULL, day TEXT NOT NULL, tier TEXT NOT NULL, operation TEXT NOT NULL,
  provider TEXT NOT NULL, model TEXT NOT NULL, host TEXT, remote INTEGER NOT NULL, tokens_in INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL, bytes_out INTEGER NOT NULL, bytes_in INTEGER NOT NULL, placeholders INTEGER NOT NULL,
  ms REAL NOT NULL, outcome TEXT NOT NULL, request_id TEXT
)""",
    "CREATE INDEX by_day ON calls (day, tier)",
)

_USES: Final = """
SELECT tier, provider, model, remote, count(*), sum(outcome NOT IN ('ok', 'length')), sum(tokens_in), sum(tokens_out),
  round(avg(ms), 1)
FROM calls WHERE day = ? GROUP BY tier, provider, model, remote ORDER BY min(rowid)
"""


class OutboundCall(msgspec.Struct, frozen=True, kw_only=True):
    """A time that a model was asked. `outcome`: `ok`, or why it gave no answer; `ms`: how long it took.

    `bytes_out` is what it was shown, `placeholders` how many secrets and terms stood behind placeholders in it.
    """

    at: datetime
    tier: Kind
    operation: str
    provider: str
    model: str
    host: str | None
    remote: bool
    tokens_in: int
    tokens_out: int
    bytes_out: int
    bytes_in: int
    placeholders: int
    ms: float
    outcome: str
    request_id: str | None = None


class ModelUse(msgspec.Struct, frozen=True, kw_only=True):
    """What a model was asked on a day: how often, how often it gave no answer, and the tokens that it took."""

    tier: Kind
    provider: str
    model: str
    remote: bool
    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    ms: float
    """The mean of a call."""


_NAMES: Final = tuple(OutboundCall.__struct_fields__)
_MEMBERS: Final = ("id", "day", *_NAMES)
_PUT: Final = (
    f"INSERT INTO calls ({', '.join(_MEMBERS)}) VALUES ({', '.join(f':{name}' for name in _MEMBERS)})"  # noqa: S608 - our own words
    f" ON CONFLICT (id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _NAMES)}"
)


class OutboundLog:
    """The file of one store. Safe between threads and processes: each act opens it."""

    def __init__(self, path: Path) -> None:
        """The file is made at the first call, for its owner alone (0600). One that is damaged is begun again."""
        self.path = path
        self._file = DisposableFile(path, _SCHEMA, pragmas=("journal_mode = WAL",), on_loss=_lost)

    def begin(self, call: OutboundCall) -> str:
        """Keep a call before it is made, and return its id; let go of what is older than `KEPT_DAYS`.

        `KEPT_ROWS` of the newest stay, however old. What dies from here on is counted.
        Raises OSError, sqlite3.Error where it can't be kept: then none is made.
        """
        id = token_hex(16)

        def put(con: Connection) -> None:
            con.execute(
                "DELETE FROM calls WHERE day < date(:day, :back)"
                " AND rowid <= (SELECT max(rowid) FROM calls) - :newest",  # a clock that is ahead takes no day's count
                {"day": _day(call.at), "back": f"-{KEPT_DAYS} days", "newest": KEPT_ROWS},
            )
            con.execute(_PUT, _row(call) | {"id": id})

        self._file.act(put)
        return id

    def end(self, id: str, call: OutboundCall) -> None:
        """Put down how a call that was begun has ended, also where the file was lost meanwhile.

        Raises OSError, sqlite3.Error: it stays as it was begun.
        """
        self._file.act(lambda con: con.execute(_PUT, _row(call) | {"id": id}))

    def spent(self, now: datetime) -> dict[str, int]:
        """Return how many tokens each tier has taken on the day of `now`, UTC."""
        asked = "SELECT tier, sum(tokens_in + tokens_out) FROM calls WHERE day = ? GROUP BY tier"
        return dict(self._rows(asked, [_day(now)]))

    def uses(self, now: datetime) -> list[ModelUse]:
        """Return what each model was asked on the day of `now`, UTC. Raises OSError, sqlite3.Error."""
        rows = self._rows(_USES, [_day(now)])
        names = ModelUse.__struct_fields__
        return [msgspec.convert(dict(zip(names, row, strict=True)), ModelUse, strict=False) for row in rows]

    def newest(self, most: int) -> list[OutboundCall]:
        """Return the newest calls, the newest first."""
        asked = f"SELECT {', '.join(_NAMES)} FROM calls ORDER BY rowid DESC LIMIT ?"  # noqa: S608 - our own words
        rows = self._rows(asked, [most])
        return [
            msgspec.convert(dict(zip(_NAMES, row, strict=True)), OutboundCall, strict=False) for row in rows
        ]

    def _rows(self, asked: str, given: list[Any]) -> list[Any]:
        if not self._file.exists():
            return []
        return self._file.act(lambda con: con.execute(asked, given).fetchall())


def outbound(session: Session) -> OutboundLog:
    """Return the outbound log of a session's store, kept while it is open."""
    return session.kept(OutboundLog, lambda: OutboundLog(session.path / FILE))


def _lost() -> None:
    note("outbound_log_lost", level=logging.ERROR, outcome="begun_again")


def _row(call: OutboundCall) -> dict[str, Any]:
    row: dict[str, Any] = msgspec.to_builtins(call)
    return row | {"at": call.at.isoformat(), "day": _day(call.at)}


def _day(at: datetime) -> str:
    return at.astimezone(UTC).date().isoformat()
