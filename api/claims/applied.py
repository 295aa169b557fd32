"""Decisions of programs as they stand in the log: one claim takes the say of one other, and of nothing else.

A decision is an event `decided`. It rests on the claim that won (`parent`), so it falls and is erased with it; `target`
is the record of the one that lost. It says no word of either. What a control user's would be is signed as well, as not
applied, so that both arms of a canary can be compared.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import Final, Literal

import msgspec

from braid.ledger.errors import ErasedError
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Draft, EventBody, Scope
from braid.stance.claims import RecordedClaim
from braid.stance.proposal import Proposal

EVENT: Final = "decided"
"""The name of the events."""
_KEY: Final = "decided/"
_ROLES: Final = frozenset(("recorder", "operator"))
"""Whose signature counts."""
Change = Literal["UPDATE", "DELETE"]


class _Said(msgspec.Struct, frozen=True):
    """The data of the event. `claim`, `target`: places within their records, a state drawn from one behind `>`."""

    decision: Change
    claim: str
    target: str
    confidence: float
    by: str
    applied: bool


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """A decision of the log. `winner`, `target`: nodes of claims; `applied`: whether it counts, or is control's."""

    index: int
    action: Change
    winner: str
    winner_index: int
    target: str
    confidence: float
    by: str
    why: str
    applied: bool


def decisions_of(reader: Reader, index: int) -> Iterator[int]:
    """Yield the decisions by which claims of a record won, by log index: forgotten and erased ones, too."""
    for at, role in reader.backlinks.of(index):
        if role == "parent" and is_decision(reader, at):
            yield at


def is_decision(reader: Reader, at: int) -> bool:
    """Whether a record is a decision whose signature counts."""
    envelope = reader.envelope(at)
    if envelope.kind != "event" or envelope.public.get("name") != EVENT:
        return False
    return reader.role(envelope.key) in _ROLES


def decision_at(reader: Reader, at: int) -> Decision | None:
    """Return a decision, a forgotten one too; None for one that is erased, imported, or can't be read."""
    try:
        record = reader.at(at, include_forgotten=True)
        body = record.body
    except (ErasedError, ValueError):
        return None
    winners, targets = record.targets("parent"), record.targets("target")
    if not isinstance(body, EventBody) or "imported" in record.members or not (winners and targets):
        return None
    try:
        said = msgspec.convert(body.data, _Said)
    except msgspec.ValidationError:
        return None
    return Decision(
        index=at,
        action=said.decision,
        winner=f"r:{winners[0].index}/{said.claim}",
        winner_index=winners[0].index,
        target=f"r:{targets[0].index}/{said.target}",
        confidence=said.confidence,
        by=said.by,
        why=body.reason or "decided",
        applied=said.applied,
    )


def known_decision(reader: Reader, winner: RecordedClaim, target: RecordedClaim) -> Decision | None:
    """Return what was decided of two claims already, whatever became of it and by which version of the rules."""
    for at in decisions_of(reader, winner.index):
        one = decision_at(reader, at)
        if one is not None and (one.winner, one.target) == (winner.node, target.node):
            return one
    return None


def is_undone(reader: Reader, winner: RecordedClaim, target: RecordedClaim) -> bool:
    """Whether somebody has forgotten what was decided of two claims: it is never done again."""
    known = known_decision(reader, winner, target)
    return known is not None and known.applied and known.index in reader.control.hidden


def decision_draft(
    winner: RecordedClaim,
    target: RecordedClaim,
    made: Proposal,
    by: str,
    scope: Scope | None,
    *,
    applied: bool,
) -> Draft:
    """Return the event that says what was decided. Its key is of both claims and the rules: it is there once."""
    places = f"{winner.id}/{_place(winner)} {target.id}/{_place(target)} {by} {applied}"
    data = {
        "decision": made.action,
        "claim": _place(winner),
        "target": _place(target),
        "confidence": round(made.confidence, 6),
        "by": by,
        "applied": applied,
    }
    return Draft(
        kind="event",
        body=EventBody(
            name=EVENT,
            data=data,
            reason=made.reason,
            scope=scope,
            once=f"{_KEY}{sha256(places.encode()).hexdigest()[:32]}",
        ),
        links=[("target", target.id), ("parent", winner.id)],
        public={"name": EVENT},
    )


def _place(said: RecordedClaim) -> str:
    return said.node.partition("/")[2]
