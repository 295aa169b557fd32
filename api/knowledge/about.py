"""What is known of something: the living claims that have a say, their words, and what each stands in place of."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from braid.claims.finder import ClaimFinder
from braid.claims.question import size_of, utc
from braid.knowledge.operations import FormerClaim, KnownClaim
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import Asks, Claim, ExperienceBody, Record, Scope, is_reading
from braid.ledger.record.standing import SUPERSEDES
from braid.session import Session
from braid.stance.claims import ALWAYS, FOREVER, RecordedClaim, is_meant
from braid.stance.fold import Folded, fold
from braid.stance.precedence import backdated
from braid.stance.relations import compared_as
from braid.stance.words import words_of
from braid.text.words import normal

PUT_RIGHT: Final = "put right"
_Key = tuple[str, str, str, bool]


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
    session: Session, scope: Scope | None, subjects: Iterable[str], at: datetime, size: int | None = None
) -> Weighed:
    """Return what is claimed of some subjects, and who has a say, as of an instant."""
    finder = ClaimFinder(session, scope, size)
    named = list(dict.fromkeys(subjects))
    claims = backdated(finder.claims(finder.named(Asks(subjects=named, rels=[])) if named else []))
    return Weighed(finder, fold(claims, finder.sources({said.index for said in claims}), at), at)


def known_about(
    session: Session,
    topic: str,
    scope: Scope | None,
    *,
    at: datetime | None = None,
    as_of: int | datetime | None = None,
) -> tuple[KnownClaim, ...]:
    """See `knowledge.operations.about`."""
    session.reader.need_vault()
    size = size_of(session, as_of)
    finder = ClaimFinder(session, scope, size)
    meant = [said for said in finder.claims(finder.named(None)) if is_about(said, topic)]
    found = weighed(session, scope, (said.claim.subject for said in meant), _moment(session, at, size), size)
    nodes = {said.node for said in meant}
    alike: dict[_Key, list[RecordedClaim]] = {}
    for said in found.folded.standing():
        if said.node in nodes:
            alike.setdefault(_key(said), []).append(said)
    newest = [(max(some, key=_place), some) for some in alike.values()]
    newest.sort(key=lambda one: (*_key(one[0])[:2], one[0].since, *_place(one[0])))
    return tuple(_known(session, found, said, some) for said, some in newest)


def _place(said: RecordedClaim) -> tuple[int, int]:
    return said.index, said.k


def _key(said: RecordedClaim) -> _Key:
    """Return by what two derivations of one claim are the same."""
    claim = said.claim
    return normal(claim.subject), said.relation.name, normal(claim.object), claim.polarity


def _moment(session: Session, at: datetime | None, size: int | None) -> datetime:
    if at is not None:
        return utc(at)
    if size is not None and size < session.reader.size:
        return datetime.fromisoformat(session.reader.envelope(size - 1).created_at)
    return utc(session.now())


def is_about(said: RecordedClaim, topic: str) -> bool:
    """Whether a claim speaks of a topic, or of what is the topic's: of Maya's rent, where Maya is asked about."""
    names, whose = (said.claim.subject, said.claim.object), f"{normal(topic)}'s "
    return any(is_meant(topic, name) or normal(name).startswith(whose) for name in names)


def _known(
    session: Session, found: Weighed, said: RecordedClaim, alike: Sequence[RecordedClaim]
) -> KnownClaim:
    claim = said.claim
    takers = {one.node for one in alike}
    former = [
        FormerClaim(id=one.id, says=one.text, since=None if one.since == ALWAYS else utc(one.since), why=why)
        for node, one in found.folded.claims.items()
        for taker, why in found.folded.taken.get(node, ())
        if taker.node in takers
    ]
    turn = turn_index(session, said.index)
    former += [
        FormerClaim(id=record.id, says=words_of(one), since=utc(since_of(record, one)), why=PUT_RIGHT)
        for record, one in put_right(session, said, turn)
    ]
    return KnownClaim(
        id=said.id,
        place=said.k,
        says=said.text,
        subject=claim.subject,
        rel=claim.rel,
        object=claim.object,
        polarity=claim.polarity,
        type=claim.type,
        since=None if said.since == ALWAYS else utc(said.since),
        until=None if said.until == FOREVER else utc(said.until),
        said=utc(said.said),
        quote=claim.quote,
        at=claim.at,
        turn=session.reader.envelope(turn).id,
        said_by=claim.said_by,
        source_class=said.source,
        p=round(said.worth, 4),
        replaced=tuple(dict.fromkeys(former)),
        also=tuple(dict.fromkeys(one.id for one in alike if one.id != said.id)),
    )


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
