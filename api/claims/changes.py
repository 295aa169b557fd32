"""How what is known has changed: each claim that lost its say, what took its place, when, and by whose words."""

from collections.abc import Iterator
from datetime import datetime

from braid.claims.changed import ChangedClaim, KnowledgeChange
from braid.claims.finder import ClaimFinder
from braid.claims.question import size_of, utc
from braid.claims.topics import PUT_RIGHT, is_about, put_right, turn_index
from braid.ledger.record.record import Claim, ExperienceBody, Record, Scope
from braid.ledger.record.source import voice
from braid.session import Session
from braid.stance.changes import steps
from braid.stance.claims import ALWAYS, RecordedClaim
from braid.stance.precedence import backdated
from braid.stance.words import words_of


def changes_of(
    session: Session, topic: str | None, scope: Scope | None, *, as_of: int | datetime | None = None
) -> list[KnowledgeChange]:
    """See `knowledge.change_operations.changes`; oldest first, however many."""
    session.reader.need_vault()
    finder = ClaimFinder(session, scope, size_of(session, as_of))
    claims = backdated(finder.claims(finder.named(None)))
    found = [
        KnowledgeChange(
            subject=step.new.claim.subject,
            rel=step.new.claim.rel,
            when=_when(step.new),
            was=_recorded(session, step.old),
            now=_recorded(session, step.new),
            why=step.why,
        )
        for step in steps(claims)
        if topic is None or is_about(step.old, topic) or is_about(step.new, topic)
    ]
    about = [said for said in claims if topic is None or is_about(said, topic)]
    found += [change for said in about for change in _corrected(session, said)]
    return sorted(found, key=lambda change: (change.now.said, change.was.said))


def _corrected(session: Session, said: RecordedClaim) -> Iterator[KnowledgeChange]:
    """What a turn that was put right had claimed has left the fold with it: it is read from the log."""
    turn = turn_index(session, said.index)
    for record, claim in put_right(session, said, turn):
        if words_of(claim) != said.text:
            yield KnowledgeChange(
                subject=said.claim.subject,
                rel=said.claim.rel,
                when=_when(said),
                was=_former(session, record, claim),
                now=_recorded(session, said),
                why=PUT_RIGHT,
            )


def _when(said: RecordedClaim) -> datetime:
    return utc(said.said if said.since == ALWAYS else said.since)


def _recorded(session: Session, said: RecordedClaim) -> ChangedClaim:
    turn = turn_index(session, said.index)
    return ChangedClaim(
        id=said.id,
        says=said.text,
        object=said.claim.object,
        said=utc(said.said),
        said_by=said.claim.said_by or _speaker(session, turn),
        quote=said.claim.quote,
        turn=session.reader.envelope(turn).id,
    )


def _former(session: Session, record: Record, claim: Claim) -> ChangedClaim:
    occurred = record.body.occurred_at if isinstance(record.body, ExperienceBody) else None
    turn = turn_index(session, record.index)
    return ChangedClaim(
        id=record.id,
        says=words_of(claim),
        object=claim.object,
        said=utc(occurred or record.created_at),
        said_by=claim.said_by or _speaker(session, turn),
        quote=claim.quote,
        turn=session.reader.envelope(turn).id,
    )


def _speaker(session: Session, turn: int) -> str | None:
    record = session.reader.at(turn)
    return voice(record) if isinstance(record.body, ExperienceBody) else None
