"""What is known of something: the living claims that have a say, their words, and what each stands in place of."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from braid.claims.finder import ClaimFinder
from braid.claims.merged_names import merged_names
from braid.claims.question import size_of, utc
from braid.claims.topics import PUT_RIGHT, Weighed, is_about, moment, put_right, since_of, turn_index, weighed
from braid.knowledge.operations import FormerClaim, KnownClaim
from braid.ledger.record.record import Claim, Scope
from braid.session import Session
from braid.stance.claims import ALWAYS, FOREVER, RecordedClaim
from braid.stance.words import words_of
from braid.text.words import normal

_Key = tuple[str, str, str, bool]


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
    names = merged_names(session, finder)
    topics = names.topics(topic)
    made = finder.claims(finder.named(None))
    meant = {said.node: said.claim.subject for said in made if any(is_about(said, one) for one in topics)}
    found = weighed(session, scope, meant.values(), moment(session, at, size), size, names=names)
    alike: dict[_Key, list[RecordedClaim]] = {}
    for said in found.folded.standing():
        if said.node in meant:
            alike.setdefault(_key(said), []).append(said)
    newest = [(max(some, key=_place), some) for some in alike.values()]
    newest.sort(key=lambda one: (*_key(one[0])[:2], one[0].since, *_place(one[0])))
    claimed = {said.node: said.claim for said in made}
    return tuple(_known(session, found, said, some, claimed) for said, some in newest)


def _place(said: RecordedClaim) -> tuple[int, int]:
    return said.index, said.k


def _key(said: RecordedClaim) -> _Key:
    """Return by what two derivations of one claim are the same."""
    claim = said.claim
    return normal(claim.subject), said.relation.name, normal(claim.object), claim.polarity


def _known(
    session: Session,
    found: Weighed,
    said: RecordedClaim,
    alike: Sequence[RecordedClaim],
    claimed: Mapping[str, Claim],
) -> KnownClaim:
    """`claimed`: the claims as they were made, under their own names."""
    claim = claimed.get(said.node, said.claim)
    takers = {one.node for one in alike}
    former = [
        FormerClaim(
            id=one.id,
            says=words_of(claimed.get(node, one.claim)),
            since=None if one.since == ALWAYS else utc(one.since),
            why=why,
        )
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
        says=words_of(claim),
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
