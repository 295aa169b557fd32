"""A copy that goes on where another was remembered: a signed event says so in its log, then the guard (SPEC §13.2).

Two copies of a store are one log until both are written. The guard remembers one of them; the other is read, and not
written, until somebody decides. Who kept a head of the copy that is given up sees a fork: the note is what is shown.
"""

from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from braid.ledger.errors import BackupError, RollbackError
from braid.ledger.read.prefix import root_at
from braid.ledger.read.reader import Reader
from braid.ledger.read.signatory import operator
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import Draft, EventBody
from braid.ledger.settings import load_settings
from braid.ledger.tree.guard import Guard
from braid.ledger.write.sequence import Clock
from braid.ledger.write.writer import Writer, utc_now
from braid.wal.failpoint import failpoint

EVENT: Final = "fork"
_OWN_GUARD: Final = ".fork-guard"


class Forked(msgspec.Struct, frozen=True):
    """What was decided: this copy goes on from `size` records; the guard remembered another with `seen`."""

    note: RecordId
    size: int
    seen: int


def note_fork(writer: Writer, seen: tuple[int, str] | None, reason: str) -> RecordId:
    """Append the signed note of a fork: `seen` is the size and root (hex) that were remembered of the other copy."""
    signer = operator(writer, "the note of a fork")
    public = {
        "name": EVENT,
        "size": writer.size,
        "root": root_at(writer, writer.size),
        "seen": {"size": seen[0], "root": seen[1]} if seen else None,
    }
    body = EventBody(name=EVENT, reason=reason)
    return writer.append([Draft(kind="event", body=body, public=public)], signer=signer.id)[0].id


def fork(
    store: Path,
    reason: str,
    *,
    guard: Guard | None = None,
    passphrase: str | None = None,
    clock: Clock = utc_now,
) -> Forked:
    """Let the copy at `store` go on, which the guard contradicts; the one that the guard remembers is then only read.

    Raises BackupError where the guard agrees with this copy, GuardError without a guard, RollbackError for an older
    vault or while the other copy is written, KeyRefusedError without an operator's key, LogLockedError,
    ValueError for an empty reason.
    """
    if not reason.strip():
        raise ValueError("say why this copy goes on: anyone who kept a head of the other will ask")
    guard = guard or Guard.of_store(load_settings(store).store_id)
    with closing(Reader(store, guard=guard, passphrase=passphrase)) as reader:
        head = reader.guarded
        if head is None or not reader.contradiction:
            raise BackupError("the guard contradicts nothing in this copy: there is no fork to note")
    own = Guard(store / _OWN_GUARD)
    own.path.unlink(missing_ok=True)  # of one that died
    with closing(Writer(store, guard=own, passphrase=passphrase, adopt=True, clock=clock)) as writer:
        size = writer.size
        note = note_fork(writer, (head.size, head.root), reason)
    failpoint("fork.noted")
    # Dying here: the guard remembers the other copy as before; done again, the log has a second note.
    mine = own.read()
    if mine is None or guard.read() != head:
        raise RollbackError(
            f"{guard.path} remembers more by now: the other copy is being written. Close it, then try again"
        )
    guard.write(mine)
    own.path.unlink(missing_ok=True)
    return Forked(note, size, head.size)
