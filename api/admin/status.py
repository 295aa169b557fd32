"""How a store stands: its size and head, what waits, what it lacks, and what it was at another time."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal

from braid.agent.maturity import Stage
from braid.job_state import job_state
from braid.ledger.errors import NoVaultError
from braid.ledger.read import prefix
from braid.ledger.settings import Durability
from braid.ledger.write.writer import Writer
from braid.operation import AsOf, Instant, Request, Response, operation
from braid.providers.budget import BudgetState
from braid.providers.operations import ProviderState, budget_states, provider_states
from braid.session import Session
from braid.settings import settings
from braid.severity import Severity
from braid.views.errors import SqlError, ViewError
from braid.views.status import Newest, ViewStatus
from braid.work.breaker import BreakerState
from braid.work.errors import TransportError

TroubleField = Literal["contradiction", "durability_unsigned", "snapshot", "jobs", "breakers", "budgets"]


class AskStatus(Request, frozen=True, kw_only=True):
    """The question how the store stands."""


class Head(Response, frozen=True, kw_only=True):
    """A signed head: how many records it covers, and its root in hex."""

    size: int
    root: str


class Retention(Response, frozen=True, kw_only=True):
    """How many days the forgotten are kept, what was corrected (None: for ever), and jobs that are done or dead.

    `due`: how many records are past their window. `next`: when the next of the forgotten will be.
    """

    days: int
    history_days: int | None
    jobs_days: int
    dead_days: int
    due: int
    next: str | None


class Torn(Response, frozen=True, kw_only=True):
    """What was cut from the log's end when this handle opened it: `length` bytes that were no whole transaction."""

    segment: str
    offset: int
    length: int
    reason: str


class Trouble(Response, frozen=True, kw_only=True):
    """A field of the status that says something is wrong, with the name of what it is about, and how bad that is."""

    field: TroubleField
    about: str | None
    severity: Severity


class Status(Response, frozen=True, kw_only=True):
    """How a store stands. Sizes are bytes; `guard` is a path, None where this handle has none.

    `contradiction`: why this copy is only read. `durability_unsigned`: what `store.json` asks for and no event signs.
    `jobs`: how many there are of each state, None where what carries them gives no answer. `breakers`: how this process
    stands with what it depends on. `providers`: the models that the settings name; `budgets`: the tokens of the day,
    None where they can't be read. `troubles`: which of these say that something is wrong, the worst first.
    """

    store: str
    origin: str
    vkey: str
    durability: Durability
    records: int
    transactions: int
    log_bytes: int
    checkpoint: Head
    guard: str | None
    vault_epoch: int | None
    forgotten: int
    erased: int
    retention: Retention
    views: tuple[ViewStatus, ...]
    snapshot: Newest | None
    contradiction: str | None
    durability_unsigned: Durability | None
    torn: Torn | None
    jobs: dict[str, int] | None
    breakers: tuple[BreakerState, ...]
    providers: tuple[ProviderState, ...]
    budgets: tuple[BudgetState, ...] | None
    troubles: tuple[Trouble, ...]


@operation(AskStatus, Status, access="read", cost="index", example=AskStatus(), errors=(ViewError,))
def status(session: Session, asked: AskStatus) -> Status:
    """Return size, head, lag of the projections, what is forgotten and due, and the space used; nothing is caught up.

    `torn`: what was cut from the log's end when this handle opened it.
    """
    from braid.admin.retention import due_records

    del asked
    session.refresh()
    reader = session.reader
    at = settings(session)
    torn = reader.torn if isinstance(reader, Writer) else None
    unsigned = None if reader.durability == reader.settings.durability else reader.settings.durability
    snapshot, jobs, budgets = session.views.newest_snapshot(), _jobs(session), budget_states(session)
    breakers = job_state(session).breakers.states()
    return Status(
        store=str(session.path),
        origin=session.origin,
        vkey=session.vkey,
        durability=reader.durability,
        records=reader.size,
        transactions=reader.log.next_tx,
        log_bytes=reader.log.bytes_on_disk,
        checkpoint=Head(size=reader.published.size, root=reader.published.root.hex()),
        guard=str(reader.guard.path) if reader.guarded else None,
        vault_epoch=reader.vault.epoch if reader.vault else None,
        forgotten=len(reader.control.hidden),
        erased=len(reader.control.erased),
        retention=Retention(
            days=reader.control.retention_days,
            history_days=at.history_days,
            jobs_days=at.jobs_days,
            dead_days=at.dead_days,
            due=len(due_records(session, session.now())),
            next=_next_due(session),
        ),
        views=tuple(session.views.status()),
        snapshot=snapshot,
        contradiction=reader.contradiction or None,
        durability_unsigned=unsigned,
        torn=Torn(**torn._asdict()) if torn else None,
        jobs=jobs,
        breakers=breakers,
        providers=provider_states(session),
        budgets=budgets,
        troubles=_troubles(
            contradiction=reader.contradiction,
            unsigned=unsigned,
            snapshot=snapshot,
            jobs=jobs,
            breakers=breakers,
            budgets=budgets,
        ),
    )


def _troubles(
    *,
    contradiction: str,
    unsigned: Durability | None,
    snapshot: Newest | None,
    jobs: dict[str, int] | None,
    breakers: Iterable[BreakerState],
    budgets: Iterable[BudgetState] | None,
) -> tuple[Trouble, ...]:
    """Return what is wrong by what the status says, the worst first: of the class of the error that it would raise."""
    found: list[Trouble] = []

    def tell(field: TroubleField, severity: Severity, about: str | None = None) -> None:
        found.append(Trouble(field=field, about=about, severity=severity))

    if contradiction:
        tell("contradiction", Severity.CORRUPT)
    if snapshot is not None and snapshot.trouble:
        tell("snapshot", Severity.CORRUPT, snapshot.name)
    if jobs is None or jobs.get("dead"):
        tell("jobs", Severity.FAILED, None if jobs is None else "dead")
    if budgets is None:
        tell("budgets", Severity.FAILED)
    if unsigned is not None:
        tell("durability_unsigned", Severity.DEGRADED, unsigned)
    for broken in breakers:
        if broken.state != "closed":
            tell("breakers", Severity.DEGRADED, broken.dependency)
    for budget in budgets or ():
        if budget.is_spent:
            tell("budgets", Severity.DEGRADED, budget.tier)
    return tuple(found)


def _jobs(session: Session) -> dict[str, int] | None:
    try:
        return dict(Counter[str](one.state for one in job_state(session).transport.jobs()))
    except TransportError:
        return None


def _next_due(session: Session) -> str | None:
    control = session.reader.control
    first = min((since for _, since in control.hidden.values()), default=None)
    if first is None:
        return None
    return (datetime.fromisoformat(first) + timedelta(days=control.retention_days)).isoformat()


class StatusAt(AsOf, frozen=True, kw_only=True):
    """A past of the log; `valid_at`: only what had happened and held at that time."""

    valid_at: Instant | None = None


class StatusThen(Response, frozen=True, kw_only=True):
    """What the log held then: `records` of it, and `since_then` that came later; `root` in hex; rows by table."""

    store: str
    origin: str
    records: int
    since_then: int
    transactions: int
    root: str
    created_at: str
    valid_at: datetime | None
    forgotten: int
    erased: int
    keys: int
    rows: dict[str, int]


@operation(
    StatusAt,
    StatusThen,
    access="read",
    cost="log",
    example=StatusAt(as_of=2),
    errors=(ValueError, NoVaultError, SqlError, ViewError),
)
def status_at(session: Session, asked: StatusAt) -> StatusThen:
    """Return what the log held in a past: its size, root and keys, and how many rows its projection has.

    `erased` counts what is erased by now. Raises ValueError for a past that never was.
    """
    from braid.views.duck.past import Past

    session.refresh()
    reader = session.reader
    then_size = session.size_at(asked.as_of, asked.as_of_time)
    size = reader.size if then_size is None else then_size
    then = prefix.control_at(reader, size)
    last = reader.envelope(size - 1)
    return StatusThen(
        store=str(session.path),
        origin=session.origin,
        records=size,
        since_then=reader.size - size,
        transactions=last.tx[0] + 1,
        root=prefix.root_at(reader, size),
        created_at=last.created_at,
        valid_at=asked.valid_at,
        forgotten=len(then.hidden),
        erased=sum(index < size for index in reader.control.erased),
        keys=sum(life.revoked is None for life in then.keys.values()),
        rows=session.views.count(Past(size, valid_at=asked.valid_at)),
    )


class AskStage(Request, frozen=True, kw_only=True):
    """The question how far the memory has come."""


@operation(
    AskStage,
    Stage,
    access="read",
    cost="index",
    example=AskStage(),
    errors=(NoVaultError, SqlError, ViewError),
)
def stage(session: Session, asked: AskStage) -> Stage:
    """Return how far the memory has come, from empty to expert, and what it lacks to the next stage.

    Counted in the projection, which is caught up. Raises as `sql`; NoVaultError without a vault.
    """
    from braid.admin.projections import Sql, sql
    from braid.agent.maturity import COUNTS, SAID, StageCounts
    from braid.agent.maturity import stage as stage_of

    del asked
    session.reader.need_vault()
    row = sql(session, Sql(query=SAID + COUNTS)).table.to_pylist()[0]
    return stage_of(StageCounts(**row))
