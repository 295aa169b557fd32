"""The tone of a record: its newest snapshot, else what it states, else what is read of a captured turn. Pure.

It is asked for only where the caller asks for a tone: nothing else in recall depends on it.
"""

from collections.abc import Iterable

from braid.affect import turn
from braid.ledger.record.record import AffectBody, ExperienceBody, Record, Vad


def tone_of(record: Record, snapshots: Iterable[Record] = ()) -> Vad | None:
    """Return a record's tone; None for one that has none. `snapshots`: living records of kind affect, oldest first."""
    newest: Vad | None = None
    for one in snapshots:
        body = one.body
        if isinstance(body, AffectBody) and any(
            link.index == record.index for link in one.targets("experience")
        ):
            newest = Vad(v=body.valence, a=body.arousal, d=body.dominance)
    if newest is not None or not isinstance(record.body, ExperienceBody):
        return newest
    felt = turn.felt(record.type, record.body)
    return None if felt is None else felt.vad
