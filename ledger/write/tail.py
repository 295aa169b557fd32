"""A tail that was cut from the log's end at opening: what can be said of it, and its place in the log (SPEC §2.3).

Bytes that are no whole transaction don't say whether anybody was told that they are safe: a crash tears a write before
it is acknowledged, but a disk may harm the very last write afterwards, and without a sync for each append even what was
acknowledged can be torn.
"""

from contextlib import suppress
from typing import Final

from braid.ledger.errors import LedgerError
from braid.ledger.record.record import Draft, EventBody
from braid.ledger.settings import Durability
from braid.ledger.write.writer import Writer
from braid.wal.log import TornTail

EVENT: Final = "torn_tail"
_SYNCED: Final = (
    "as a rule a write that a crash interrupted before it was acknowledged; if nothing crashed, the disk has harmed "
    "the last write: compare with what your programs were shown as written"
)
_UNSYNCED: Final = (
    "with durability `{}` what was acknowledged in the last moments before a crash may have been in it: compare with "
    "what your programs were shown as written"
)


class TornTailWarning(UserWarning):
    """Bytes that are no whole transaction were cut from the log's end when the store was opened."""


def describe(torn: TornTail, durability: Durability) -> str:
    """Return what was cut, and whether something acknowledged may have been in it, as one sentence."""
    maybe = _SYNCED if durability == "always" else _UNSYNCED.format(durability)
    return (
        f"{torn.length} bytes that are no whole transaction were cut from the log's end ({torn.segment}, offset "
        f"{torn.offset}: {torn.reason}); {maybe}"
    )


def note(writer: Writer, torn: TornTail) -> None:
    """Append a signed event that tells of the cut; a store that can't take it now opens all the same."""
    data = {"segment": torn.segment, "offset": torn.offset, "bytes": torn.length, "why": torn.reason}
    body = EventBody(name=EVENT, data={**data, "durability": writer.durability})
    with suppress(LedgerError, OSError):
        writer.append([Draft(kind="event", body=body, public={"name": EVENT})])
