"""What people have said of the changes that the rules propose, and whether that is enough to carry them out."""

from collections.abc import Iterator
from math import sqrt
from typing import Any, Final

from braid.claims.decision_operations import Judged
from braid.ledger.errors import ErasedError
from braid.ledger.record.record import EventBody, Scope
from braid.ledger.record.scope import in_scope
from braid.session import Session
from braid.stance.decide import RULES

EVENT: Final = "judged"
LEAST: Final = 60
"""So many changes must have been judged before the phase `full` can be set."""
BOUND: Final = 0.9
"""So high must the lower bound of the share be that is right."""
_Z: Final = 1.959963984540054
_ROLES: Final = frozenset(("recorder", "operator"))


def lower_bound(right: int, of: int) -> float:
    """Return the lower bound of Wilson's interval of 95 % around a share (JASA 1927); 0 of none."""
    if not of:
        return 0.0
    share = right / of
    middle = share + _Z**2 / (2 * of)
    half = _Z * sqrt(share * (1 - share) / of + _Z**2 / (4 * of**2))
    return max(0.0, (middle - half) / (1 + _Z**2 / of))


def figures(session: Session, scope: Scope | None = None) -> Judged:
    """Return how many changes of these rules were judged, and how many are right: of each the newest word."""
    said: dict[str, bool] = {}
    for body in _judgements(session):
        change: Any = body.data.get("change")
        verdict: Any = body.data.get("verdict")
        if body.data.get("by") == RULES and isinstance(change, str) and in_scope(body.scope, scope):
            said[change] = verdict == "right"
    right = sum(said.values())
    return Judged(
        judged=len(said),
        right=right,
        lower_bound=round(lower_bound(right, len(said)), 4),
        judged_needed=LEAST,
        bound_needed=BOUND,
    )


def _judgements(session: Session) -> Iterator[EventBody]:
    """Yield the judgements that stand, in the order of the log: they link to genesis, so nothing is walked."""
    reader = session.reader
    for at, role in reader.backlinks.of(0):
        envelope = reader.envelope(at)
        if role != "target" or envelope.kind != "event" or envelope.public.get("name") != EVENT:
            continue
        if at in reader.control.hidden or reader.role(envelope.key) not in _ROLES:
            continue
        try:
            record = reader.at(at)
            body = record.body
        except (ErasedError, ValueError):
            continue
        if isinstance(body, EventBody) and "imported" not in record.members:
            yield body


def shortfall(session: Session) -> str:
    """Return in words, with the figures, what this store lacks for the phase `full`; empty where it lacks nothing."""
    found = figures(session)
    if found.judged >= LEAST and found.lower_bound >= BOUND:
        return ""
    return (
        f"phase full needs {LEAST} judged changes and a lower bound of {BOUND:.2f}: {found.judged} were judged,"
        f" {found.right} of them right, lower bound {found.lower_bound:.2f}; `braid decisions judge` adds one"
    )
