"""The log as it was: a prefix of whole transactions, and what its control records said (SPEC §10.9).

A transaction is there as a whole or not at all, so that "as of record 120" ends where the transaction of 120 ends.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from braid.ledger.errors import ForgottenError, IntegrityError, UnknownRecordError
from braid.ledger.keys.control import ControlState
from braid.ledger.record.envelope import Envelope
from braid.ledger.record.record import Record
from braid.ledger.tree.merkle import range_root

if TYPE_CHECKING:
    from braid.ledger.read.reader import Reader


def size_at(reader: "Reader", when: int | datetime) -> int:
    """Return how many records the log held once record `when` was in it, or at the time `when`.

    Costs a search over times that the tree vouches for. Raises ValueError for an index that the log doesn't hold, a
    time before its first record, and a naive time; TypeError for anything but an index or a time.
    """
    if isinstance(when, datetime):
        return _size_at_time(reader, zoned(when))
    _refuse_no_index(when)
    if not 0 <= when < reader.size:
        raise ValueError(f"the log holds records 0 to {reader.size - 1}; there is no {when}")
    return _end_of_transaction(reader.envelope(when))


def zoned(moment: datetime) -> datetime:
    """Return a time as it is; raise TypeError for what is none, ValueError for one without a zone."""
    if not isinstance(moment, datetime):  # pyright: ignore[reportUnnecessaryIsInstance] - what callers pass is theirs
        raise TypeError(f"a time is a datetime with its zone, not {moment!r:.60}")
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone: add one, such as Z")
    return moment


def _refuse_no_index(when: object) -> None:
    if not isinstance(when, int) or isinstance(when, bool):
        raise TypeError(f"a past is the index of a record, or a datetime with its zone, not {when!r:.60}")


def _size_at_time(reader: "Reader", when: datetime) -> int:
    low, high = 0, reader.size  # records before `low` are not later than `when`; from `high` on, they are
    while low < high:
        middle = (low + high) // 2
        envelope = reader.envelope(middle)
        if datetime.fromisoformat(envelope.created_at) <= when:
            low = _end_of_transaction(envelope)
        else:
            high = envelope.index - envelope.tx[1]
    if low == 0:
        first = reader.envelope(0).created_at
        raise ValueError(f"the log begins at {first}: there was nothing at {when.isoformat()}")
    return low


def _end_of_transaction(envelope: Envelope) -> int:
    _, place, count = envelope.tx
    return envelope.index - place + count


def control_at(reader: "Reader", size: int) -> ControlState:
    """Return what the control records among the first `size` said: keys, what was forgotten, what was erased.

    Walks the chain that the reader has verified when it was opened; costs the control records, not the log.
    Raises IntegrityError where the chain doesn't lead back.
    """
    chain: list[Envelope] = []
    envelope = reader.envelope(size - 1)
    if not envelope.is_control and envelope.index:
        envelope = reader.envelope(envelope.control)
    while envelope.index:
        chain.append(envelope)
        if envelope.control >= envelope.index:
            raise IntegrityError(f"{envelope.id}: the chain of control records does not lead back")
        envelope = reader.envelope(envelope.control)
    state = ControlState()
    for each in (envelope, *reversed(chain)):
        state.apply(each, reader.links(each.index))
    return state


def get_at(reader: "Reader", id: str, size: int, *, include_forgotten: bool = False) -> Record:
    """Return a record of the first `size`, verified; raise UnknownRecordError for a later one, else as `Reader.get`.

    What was forgotten then, or has been since, raises ForgottenError unless `include_forgotten`.
    """
    index = reader.index_of(id)
    if index >= size:
        raise UnknownRecordError(
            f"{id}: the log did not hold it yet; it held {size} records, this is {index}"
        )
    record = reader.get(id, include_forgotten=include_forgotten)
    if not include_forgotten and index in control_at(reader, size).hidden:
        raise ForgottenError(f"{id} was forgotten then; --include-forgotten shows it")
    return record


def root_at(reader: "Reader", size: int) -> str:
    """Return the root (hex) of the log's first `size` records."""
    return range_root(0, size, reader.tree.subtree).hex()
