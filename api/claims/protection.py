"""What no program's decision touches: what a person has put right, settled, pinned or locked."""

from datetime import datetime
from typing import Final

from braid.ledger.errors import ErasedError
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import EventBody, ExperienceBody
from braid.log.chain import chain_of, kept
from braid.log.lock import memory_behind
from braid.session import Session
from braid.stance.claims import RecordedClaim

REVIEW: Final = "review"
"""The method of the record by which a person settles a pair of claims."""
REVIEW_REJECTED: Final = "review_rejected"
"""The event by which a person leaves both as they are."""


def protected(session: Session, said: RecordedClaim) -> str:
    """Return in a word why a claim may not be taken the say of by a program; empty where it may.

    A lock ends by the store's clock, so this is asked where a change is made, and never when the log is read.
    """
    reader = session.reader
    behind = memory_behind(reader, said.index)
    memory = chain_of(reader, behind)
    if said.claim.source_type == "corrected" or len(memory.members) > 1:
        return "corrected"
    own = memory if behind == said.index else chain_of(reader, said.index)
    for how in (kept(reader, memory), kept(reader, own)):
        if how.pinned:
            return "pinned"
        if how.locked_until is not None and session.now() < datetime.fromisoformat(how.locked_until):
            return "locked"
    return "reviewed" if is_reviewed(reader, said.index) else ""


def is_reviewed(reader: Reader, index: int, *, lost: bool = False) -> bool:
    """Whether a person has settled a pair that a record is of, and that stands. `lost`: for the other one."""
    control = reader.control
    roles = ("target",) if lost else ("parent", "target", "evidence")
    return any(
        _is_review(reader, at)
        for at, role in reader.backlinks.of(index)
        if role in roles and at not in control.hidden
    )


def _is_review(reader: Reader, at: int) -> bool:
    try:
        body = reader.at(at).body
    except (ErasedError, ValueError):
        return False
    if isinstance(body, EventBody):
        return body.name == REVIEW_REJECTED
    return isinstance(body, ExperienceBody) and body.provenance.method == REVIEW
