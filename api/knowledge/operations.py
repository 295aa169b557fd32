"""Learning: what was said is read for what it states."""

from collections.abc import Callable

from braid.ledger.errors import IntegrityError, ReadOnlyError
from braid.ledger.record.record import Draft, Record
from braid.operation import Request, Response, operation
from braid.session import Session
from braid.wal.errors import OutcomeUnknownError


class Learn(Request, frozen=True, kw_only=True):
    """What hasn't been read yet is read. `dry_run`: nothing is appended."""

    dry_run: bool = False


class Learned(Response, frozen=True, kw_only=True):
    """How many turns were read; how many records, of how many claims, were appended (or would be); how far it got.

    `partly` of the turns state too much, or are too long, to be read whole: `left` characters of them were not read.
    """

    read: int
    records: int
    claims: int
    position: int
    partly: int = 0
    left: int = 0


@operation(
    Learn,
    Learned,
    access="write",
    cost="log",
    repeatable=True,
    example=Learn(dry_run=True),
    errors=(ReadOnlyError, IntegrityError, OutcomeUnknownError),
)
def learn(session: Session, asked: Learn, *, told: Callable[[Record, Draft], None] | None = None) -> Learned:
    """Read what has not been read yet for plain statements; append these as inference records above their turns.

    Follows the log; repeating it adds nothing. `told` is shown each record that states something, and its draft.
    """
    from braid.knowledge.learner import learn as read_on

    session.refresh()
    if not asked.dry_run:
        _ = session.writer  # refuses a store that is open for reading only, before it is read
    return read_on(session, dry_run=asked.dry_run, told=told)
