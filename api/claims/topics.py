"""Claims about a topic, folded as of an instant, and the turns that they were read from or stand in place of."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from braid.claims.finder import ClaimFinder
from braid.claims.merged_names import MergedNames
from braid.claims.question import utc
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import Asks, Claim, ExperienceBody, Record, Scope, is_reading
from braid.ledger.record.standing import SUPERSEDES
from braid.session import Session
from braid.stance.claims import RecordedClaim, is_meant
from braid.stance.fold import Folded, fold
from braid.stance.precedence import backdated
from braid.stance.relations import compared_as
from braid.stance.rivals import rivals_of
from braid.text.words import normal

PUT_RIGHT: Final = "put right"


class Weighed(NamedTuple):
    """Claims of some subjects, folded as of an instant: which of them have a say, and what takes it of the others."""

    finder: ClaimFinder
    folded: Folded
    at: datetime

    def takers(self, node: str) -> Iterator[tuple[RecordedClaim, str]]:
        """Yield the claims that take the say of one, and why."""
        yield from (
            (one, why) for one, why in self.folded.taken.get(node, ()) if self.folded.stands(one.node)
        )


def weighed(
    session: Session,
    scope: Scope | None,
    subjects: Iterable[str],
    at: datetime,
    size: int | None = None,
    *,
    own: Sequence[RecordedClaim] | None = None,
    names: MergedNames | None = None,
) -> Weighed:
    """Return what is claimed of some subjects, and who has a say, as of an instant; with `own` only of these claims.

    `names`: by which of them claims are of one, and so exclude each other.
    """
    finder = ClaimFinder(session, scope, size)
    named = list(dict.fromkeys(subjects))
    found = finder.claims(finder.named(Asks(subjects=named, rels=[])) if named else [])
    claims = backdated(found if names is None else names.as_one(found))
    if own is not None:
        claims = rivals_of(own, claims)
    return Weighed(finder, fold(claims, finder.sources({said.index for said in claims}), at), at)


def moment(session: Session, at: datetime | None, size: int | None) -> datetime:
    if at is not None:
        return utc(at)
    if size is not None and size < session.reader.size:
        return datetime.fromisoformat(session.reader.envelope(size - 1).created_at)
    return utc(session.now())


def is_about(said: RecordedClaim, topic: str) -> bool:
    """Whether a claim speaks of a topic, or of what is the topic's: of Maya's rent, where Maya is asked about."""
    names, whose = (said.claim.subject, said.claim.object), f"{normal(topic)}'s "
    return any(is_meant(topic, name) or normal(name).startswith(whose) for name in names)


def turn_index(session: Session, index: int) -> int:
    """Return the record that a reading was read from; any other record is its own."""
    parents = [link.index for link in session.reader.links(index) if link.role == "parent"]
    return parents[0] if len(parents) == 1 else index


def put_right(session: Session, said: RecordedClaim, turn: int) -> Iterator[tuple[Record, Claim]]:
    """Yield what the turns that this one was written in place of had claimed of the same."""
    reader, seen = session.reader, set[int]()
    stack = [turn, said.index]
    while stack:
        for link in reader.links(stack.pop()):
            if link.role != SUPERSEDES or link.index in seen:
                continue
            seen.add(link.index)
            stack.append(link.index)
            for record in [*_there(session, [link.index]), *readings_of(session, link.index)]:
                body = record.body
                for claim in body.symbolic if isinstance(body, ExperienceBody) else ():
                    same = normal(claim.subject) == normal(said.claim.subject)
                    if same and compared_as(claim.rel).name == said.relation.name:
                        yield record, claim


def since_of(record: Record, claim: Claim) -> datetime:
    """Return from when on a claim of a record holds, as it says, else when it was said."""
    occurred = record.body.occurred_at if isinstance(record.body, ExperienceBody) else None
    return claim.valid_from or occurred or record.created_at


def readings_of(session: Session, turn: int) -> list[Record]:
    """Return the readings of a record that can be read, however they stand."""
    children = [at for at, role in session.reader.backlinks.of(turn) if role == "parent"]
    return [
        record
        for record in _there(session, children)
        if record.kind == "experience" and is_reading(record.body)
    ]


def _there(session: Session, indexes: Sequence[int]) -> Iterator[Record]:
    for index in indexes:
        try:
            record = session.reader.at(index)
        except (ErasedError, ForgottenError):
            continue
        if record.raw is not None:
            yield record
