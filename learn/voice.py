"""How what is read is to be taken. Pure."""

from typing import NamedTuple

from braid.ledger.record.record import SourceType


class Voice(NamedTuple):
    """On whose word, stated or corrected, how softened."""

    said_by: str | None = None
    source_type: SourceType | None = None
    hedge: str | None = None
    flipped: bool = False
    """What is said isn't so: it is being taken back."""
