"""What the rules would do about a memory while nothing is carried out: rows of its history that no record says.

They are made from the log by the function of the report, for what the memory claims and what was read of it, so nothing
is stored. Where it was decided already, the record of that is shown instead.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from braid.claims.applied import known_decision
from braid.claims.decisions import PROPOSING, Made, owner_of, walk_about
from braid.ledger.errors import ErasedError
from braid.ledger.read.reader import Reader
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import Record, Scope, is_reading
from braid.log.chain import Chain
from braid.memories.operations import Change
from braid.session import Session
from braid.settings import settings
from braid.stance.decide import RULES
from braid.views.errors import ViewError

MOST_READINGS: Final = 200
"""So many readings of a memory are looked at, the newest."""


def readings_of(reader: Reader, chain: Chain, size: int) -> list[int]:
    """Return what was read of the records of a memory, in log order; of very many the newest."""
    children = {
        at
        for member in chain.members
        for at, role in reader.backlinks.of(member)
        if role == "parent" and at < size
    }
    found: list[int] = []
    for at in sorted(children, reverse=True):
        if reader.envelope(at).kind == "experience" and (record := _there(reader, at)) is not None:
            found += [at] if is_reading(record.body) else []
        if len(found) == MOST_READINGS:
            break
    return found[::-1]


def proposals(
    session: Session, chain: Chain, readings: Sequence[int], size: int | None
) -> Iterator[tuple[int, Change]]:
    """Yield what the rules would do about a memory, a row for each record with claims and the place where it belongs.

    What adds something beside nothing is no row: the memory's own says that it was added.
    """
    reader = session.reader
    if settings(session).phase not in PROPOSING or chain.current is None:
        return
    owner = owner_of(reader.at(chain.current).body.scope)
    about = {*chain.members, *readings}
    rows: dict[int, list[Made]] = {}
    try:
        made = walk_about(session, about, None if owner == Scope() else owner, size).made
    except (ViewError, OSError):
        return  # without a projection nothing says what may exclude it
    for one in made:
        if one.target is not None and known_decision(reader, one.candidate, one.target) is None:
            rows.setdefault(one.said.index, []).append(one)
    for index, some in sorted(rows.items()):
        ends = [said for one in some for said in (one.said, one.target) if said is not None]
        if all(owner_of(reader.at(said.index).body.scope) == owner for said in ends):
            own = max(said.index for said in ends if said.index in about)
            yield max(index, own), _row(reader, index, own, some)


def _row(reader: Reader, index: int, own: int, made: Sequence[Made]) -> Change:
    record, first = reader.at(index), made[0]
    strongest = next((one for one in made if one.proposal.action != "NONE"), first)
    scope = record.body.scope
    return Change(
        change="NONE",
        id=RecordId(record.id),
        index=index,
        at=datetime.fromisoformat(reader.envelope(index).created_at),
        version=0,
        record=RecordId(reader.envelope(own).id),
        old=strongest.target.text if strongest.target is not None else None,
        new=strongest.said.text,
        reason="; ".join(dict.fromkeys(map(_why, made))),
        actor="autonomous",
        method=RULES,
        confidence=round(strongest.proposal.confidence, 6),
        session_id=scope.session_id if scope is not None else None,
        proposed=strongest.proposal.action,
    )


def _why(one: Made) -> str:
    action, target = one.proposal.action, one.target.id if one.target is not None else "nothing"
    if action == "NONE":
        return f"would add nothing beside {target}: {one.proposal.reason}"
    review = ", and ask a person" if one.proposal.review_needed else ""
    return f"would {action}{' beside' if action == 'ADD' else ''} {target}{review}: {one.proposal.reason}"


def _there(reader: Reader, at: int) -> Record | None:
    try:
        return reader.at(at, include_forgotten=True)
    except ErasedError:
        return None
