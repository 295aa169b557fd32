"""What waits in staging, and what is known of the same, as the rules of consolidation take them.

The projection says what waits and where to look; each claim is read from the log, verified.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from braid.claims.finder import ClaimFinder
from braid.claims.topics import moment
from braid.knowledge.staging import Staged, is_decided, staged_in, turn_of
from braid.learn.consolidate import FOR_PEOPLE, Finding, Heard, review
from braid.learn.gates.outcome import kinds_of
from braid.ledger.record.record import Asks, ExperienceBody, Record, Scope, is_reading
from braid.ledger.record.scope import OWNERS, memory_of
from braid.log.chain import chain_of, kept
from braid.session import Session
from braid.stance.claims import RecordedClaim
from braid.stance.fold import fold
from braid.stance.precedence import backdated
from braid.stance.readings import certainty
from braid.stance.rivals import in_order, rivals_of
from braid.text.words import normal

MOST: Final = 10_000
"""Of what waits the newest so many are looked at."""
_QUERY: Final = (
    "SELECT log_index, k FROM staging WHERE state = 'waiting' ORDER BY log_index DESC, k DESC LIMIT ?"
)


class Reviewed(NamedTuple):
    """A staged claim, and what becomes of it."""

    staged: Staged
    finding: Finding


def reviewed(session: Session) -> Iterator[Reviewed]:
    """Yield what becomes of each staged claim that waits and that a program may decide, owner by owner.

    It reads only. Raises ViewError where no projection can be asked.
    """
    for owner, every in _by_owner(waiting(session)).items():
        finder = ClaimFinder(session, Scope(**dict(zip(OWNERS, owner, strict=True))), None)
        held = [(one, heard) for one in every if (heard := _heard(session, finder, one, owner)) is not None]
        known = list(_known(session, finder, [heard.said for _, heard in held], owner))
        found = review([heard for _, heard in held], known)
        yield from (Reviewed(one, finding) for (one, _), finding in zip(held, found, strict=True))


def waiting(session: Session) -> list[Staged]:
    """Return the newest staged claims that wait, in the order of the log."""
    with session.views.tables() as tables:
        places = tables.rows(_QUERY, [MOST])
    found: list[Staged] = []
    for index, k in reversed(places):
        record = session.reader.unless_erased(index)
        found += [one for one in staged_in(record) if one.place == k] if record is not None else ()
    return found


def count_waiting(session: Session) -> int:
    """Return how many staged claims wait, those that nobody looks at included."""
    with session.views.tables() as tables:
        ((count,),) = tables.rows("SELECT count(*) FROM staging WHERE state = 'waiting'")
    return int(count)


def is_open(session: Session, one: Staged) -> bool:
    """Whether a program may decide a staged claim: it has a say to give, nobody ever decided it, it is for no person
    alone, and its turn is neither pinned nor locked."""
    reader, turn = session.reader, turn_of(one)
    if turn is None or not reader.standings().lives(one.record.index) or not reader.standings().lives(turn):
        return False
    if one.why.partition(":")[0] in FOR_PEOPLE or _is_sensitive(one.record):
        return False
    return not is_decided(session, one) and not _is_kept(session, turn)


def _is_sensitive(record: Record) -> bool:
    """Whether a reading is of health or money: a setting may forbid it later, and only its own reader is retired."""
    body = record.body
    return isinstance(body, ExperienceBody) and bool(kinds_of(body.provenance.method or ""))


def _is_kept(session: Session, turn: int) -> bool:
    """Whether a person holds a turn's memory as it is; an event has none."""
    reader = session.reader
    if reader.envelope(turn).kind != "experience":
        return False
    how = kept(reader, chain_of(reader, turn))
    until = how.locked_until
    return how.pinned or (until is not None and session.now() < datetime.fromisoformat(until))


def _by_owner(every: Iterable[Staged]) -> dict[tuple[str | None, ...], list[Staged]]:
    found: dict[tuple[str | None, ...], list[Staged]] = {}
    for one in every:
        found.setdefault(memory_of(one.record.body.scope), []).append(one)
    return found


def _heard(session: Session, finder: ClaimFinder, one: Staged, owner: tuple[str | None, ...]) -> Heard | None:
    if not is_open(session, one):
        return None
    said = finder.as_claimed(one.record, one.claim)
    if said is None:
        return None
    sure = msgspec.structs.replace(said, p=certainty(one.claim).p)
    return _with_words(session, finder, one.record, sure, owner)._replace(why=one.why)


def _known(
    session: Session, finder: ClaimFinder, said: Sequence[RecordedClaim], owner: tuple[str | None, ...]
) -> Iterator[Heard]:
    """Yield what is known that may say the same as some claims, or exclude them; of no other owner."""
    if not said:
        return
    reader = session.reader
    subjects = sorted({one.claim.subject for one in said})
    indexes = finder.named(Asks(subjects=subjects, rels=[]))
    own = {at: record for at in indexes if (record := reader.unless_erased(at)) is not None}
    mine = [at for at, record in own.items() if memory_of(record.body.scope) == owner]
    claims = rivals_of(said, in_order(backdated(finder.claims(mine))))
    folded = fold(claims, finder.sources({one.index for one in claims}), moment(session, None, None))
    for one in claims:
        heard = _with_words(session, finder, own[one.index], one, owner)
        yield heard._replace(has_say=folded.stands(one.node))


def _with_words(
    session: Session, finder: ClaimFinder, record: Record, said: RecordedClaim, owner: tuple[str | None, ...]
) -> Heard:
    parents = record.targets("parent") if is_reading(record.body) else ()
    turn = session.reader.at(parents[0].index, include_forgotten=True) if parents else record
    body = turn.body
    words = normal(body.content.text) if isinstance(body, ExperienceBody) else turn.id
    return Heard(said, owner, _session_of(record), finder.roots(record.index), words)


def _session_of(record: Record) -> str | None:
    return record.body.scope.session_id if record.body.scope is not None else None
