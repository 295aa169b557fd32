"""When an append is on disk, as the log has signed it: `store.json` alone can't loosen that (SPEC §1.1).

Whoever can edit that file could else have a power cut take what was acknowledged, without a trace. So anything looser
than `always` is borne out by an event of an operator's, which the file names; else the stricter of the two counts.
"""

from typing import Final

import msgspec

from braid.ledger.read.reader import Reader
from braid.ledger.read.signatory import operator
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import Draft, EventBody
from braid.ledger.settings import Durability
from braid.ledger.write.writer import Writer
from braid.wal.failpoint import failpoint

EVENT: Final = "durability"


class DurabilityWarning(UserWarning):
    """`store.json` names a durability that no signed record supports; the stricter one counts."""


def draft(mode: Durability, reason: str | None = None) -> Draft:
    """Return the event that says so."""
    return Draft(
        kind="event", body=EventBody(name=EVENT, reason=reason), public={"name": EVENT, "durability": mode}
    )


def choose(writer: Writer, mode: Durability, reason: str | None = None) -> RecordId:
    """Append the signed event that chooses a durability, then name it in `store.json`; from here on it counts.

    Other handles follow when they are opened again. Raises KeyRefusedError where no operator's key is here.
    """
    with writer.turn():
        signer = operator(writer, "a change of durability")
        record = writer.append([draft(mode, reason)], signer=signer.id)[0].id
        writer.checkpoint()
        failpoint("durability.signed")
        # Dying here: the setting is what it was; the event is in the log, and nothing names it.
        settings = msgspec.structs.replace(
            writer.settings, durability=mode, durability_record="" if mode == "always" else str(record)
        )
        settings.save(writer.path)
        writer.settings, writer.durability = settings, mode
    return record


def describe(reader: Reader) -> str:
    """Return what `store.json` says in vain, and what to do; empty where it is borne out."""
    asked = reader.settings.durability
    if reader.durability == asked:
        return ""
    counts = reader.durability
    return (
        f"{reader.path / 'store.json'} says durability `{asked}`, which no signed record supports: `{counts}` counts. "
        f"`braid durability {asked}` signs it, if it is meant; `braid durability {counts}` puts it right"
    )
