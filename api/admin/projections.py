"""What the projections say and how they are rebuilt: SQL, vectors, replay, snapshots."""

from collections.abc import Callable, Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from braid.caller import asking
from braid.errors import InvalidRequestError
from braid.ledger.errors import (
    KeyRefusedError,
    NoVaultError,
)
from braid.ledger.write.writer import Writer
from braid.operation import ArrowTable, AsOf, Instant, Json, Request, Response, operation
from braid.session import Session
from braid.views.errors import (
    SqlError,
    SqlLimitError,
    SqlStoppedError,
    SqlTimeoutError,
    ViewBusyError,
    ViewError,
)
from braid.views.status import KEPT, Caught, Snapshot


class SqlCeiling(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far a statement of who asks by a token may go, whatever the request says."""

    seconds: Annotated[float, Meta(gt=0)] = 30.0
    rows: Annotated[int, Meta(ge=0)] = 1_000_000
    result_bytes: Annotated[int, Meta(ge=0)] = 256 << 20
    memory_bytes: Annotated[int, Meta(ge=1)] = 512 << 20

    def require(self, asked: "Sql") -> None:
        """Raise InvalidRequestError for a request that goes further."""
        for name in self.__struct_fields__:
            most: float = getattr(self, name)
            if getattr(asked, name) > most:
                raise InvalidRequestError(
                    f"sql: {name} may be {most:,.16g} at most for who asks by a token: leave it out, or ask for less"
                )


def sql_ceiling(session: Session, given: SqlCeiling | None = None) -> SqlCeiling:
    """Return how far statements may go that are asked by a token; `given` counts where none has been asked yet."""
    return session.kept(SqlCeiling, lambda: given or SqlCeiling())


class Sql(AsOf, frozen=True, kw_only=True):
    """A SELECT over the DuckDB projection, with its parameters by place or by name, and how far it may go.

    `valid_at`: only what had happened and held at that time.
    """

    query: str
    parameters: tuple[Json, ...] | dict[str, Json] | None = None
    valid_at: Instant | None = None
    include_forgotten: bool = False
    seconds: Annotated[float, Meta(gt=0, le=86_400)] = 30.0
    rows: Annotated[int, Meta(ge=0, le=1 << 40)] = 100_000
    result_bytes: Annotated[int, Meta(ge=0, le=1 << 40)] = 256 << 20
    memory_bytes: Annotated[int, Meta(ge=1, le=1 << 40)] = 512 << 20


class Selected(Response, frozen=True, kw_only=True):
    """The rows; how many records the projection had taken in, and how many came after."""

    table: ArrowTable
    position: int
    behind_by: int


@operation(
    Sql,
    Selected,
    access="read",
    cost="index",
    pages="table",
    payload="arrow",
    positional=("query", "parameters"),
    returns="table",
    example=Sql(query="SELECT count(*) AS n FROM experiences", seconds=5.0),
    errors=(SqlError, SqlTimeoutError, SqlLimitError, SqlStoppedError, ViewBusyError, ValueError),
)
def sql(
    session: Session,
    asked: Sql,
    *,
    tables: Mapping[str, object] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Selected:
    """Return a SELECT over the DuckDB projection, caught up, as a pyarrow Table.

    `tables`: pyarrow Tables, or frames of pandas or polars, by the names under which the query may join them. In a
    past: as the log was, less what is erased by now. Untrusted SQL can't write, read files or reach the network.
    `stop` is asked several times a second whether the statement shall end. Raises SqlError, SqlTimeoutError,
    SqlLimitError, SqlStoppedError; ViewBusyError while too many long statements run. SPEC §10.7.
    """
    from braid.views.duck.past import Past
    from braid.views.duck.sql import QueryLimits

    caller = asking()
    if caller is not None and caller.token is not None:
        sql_ceiling(session).require(asked)
    session.refresh()
    size = session.size_at(asked.as_of, asked.as_of_time)
    past = None
    if size is not None or asked.valid_at is not None or asked.include_forgotten:
        past = Past(session.reader.size if size is None else size, asked.include_forgotten, asked.valid_at)
    limits = QueryLimits(
        seconds=asked.seconds,
        rows=asked.rows,
        result_bytes=asked.result_bytes,
        memory_bytes=asked.memory_bytes,
    )
    found = session.views.sql(
        asked.query, asked.parameters, tables=tables, past=past, limits=limits, stop=stop
    )
    return Selected(table=found.table, position=found.position, behind_by=found.behind_by)


class Replay(Request, frozen=True, kw_only=True):
    """Which projection is rebuilt (`duck`, `catalog`, `lance`; all where none is named), and from what."""

    view: str | None = None
    from_scratch: bool = False


class Replayed(Response, frozen=True, kw_only=True):
    """What was rebuilt, and from where."""

    projections: tuple[Caught, ...]


@operation(
    Replay,
    Replayed,
    access="operate",
    cost="log",
    repeatable=True,
    positional=("view",),
    returns="projections",
    example=Replay(view="duck"),
    errors=(ViewError, ValueError, NoVaultError),
)
def replay(
    session: Session, asked: Replay, *, progress: Callable[[int, int], None] | None = None
) -> Replayed:
    """Rebuild the projections (or the one named) into fresh files and swap them in.

    From the newest snapshot that fits and what came after it; else, or `from_scratch`, from the log alone. Raises
    ViewBusyError while another process is at work on them. `progress` is called with how many records of how many.
    """
    made = session.views.replay(asked.view, from_scratch=asked.from_scratch, progress=progress)
    return Replayed(projections=tuple(made))


class MakeSnapshot(Request, frozen=True, kw_only=True):
    """How many of the newest stay."""

    keep: Annotated[int, Meta(ge=1)] = KEPT


@operation(
    MakeSnapshot,
    Snapshot,
    access="operate",
    cost="log",
    repeatable=True,
    example=MakeSnapshot(keep=2),
    errors=(KeyRefusedError, ViewError),
)
def snapshot(session: Session, asked: MakeSnapshot) -> Snapshot:
    """Write down what the projections hold, signed and bound to the log's size and root; the `keep` newest stay.

    Raises KeyRefusedError where no operator's key is here, ViewBusyError.
    """
    if isinstance(session.reader, Writer):
        session.reader.checkpoint()
    session.refresh()
    return session.views.snapshot(keep=asked.keep)


class ListSnapshots(Request, frozen=True, kw_only=True):
    """The question which snapshots there are."""


class Snapshots(Response, frozen=True, kw_only=True):
    """Every snapshot, the newest first."""

    snapshots: tuple[Snapshot, ...]


@operation(
    ListSnapshots,
    Snapshots,
    access="read",
    cost="record",
    returns="snapshots",
    example=ListSnapshots(),
)
def snapshots(session: Session, asked: ListSnapshots) -> Snapshots:
    """Return every snapshot, the newest first; `trouble` says why one would not be used."""
    del asked
    session.refresh()
    return Snapshots(snapshots=tuple(session.views.snapshots.all()))
