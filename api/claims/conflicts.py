"""Claims that exclude each other, as a chain of what followed what, and which of each two has more for it."""

from collections.abc import Mapping
from datetime import datetime

from braid.claims.finder import ClaimFinder
from braid.claims.merged_names import merged_names
from braid.claims.operations import Conflict
from braid.claims.question import size_of, utc
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import Claim, EventBody, Scope
from braid.session import Session
from braid.stance.fold import fold
from braid.stance.precedence import backdated
from braid.stance.review import REVIEW, Contradiction, Stands, contradictions, which_stands
from braid.stance.words import words_of


def conflicts(
    session: Session, scope: Scope | None, *, at: datetime | None = None, as_of: int | datetime | None = None
) -> list[Conflict]:
    """Return the contradictions among what is claimed; see `claims.operations.contradictions`."""
    when = utc(at if at is not None else session.now())
    session.reader.need_vault()
    known = ClaimFinder(session, scope, size_of(session, as_of))
    made = known.claims(known.named(None))
    claims = backdated(merged_names(session, known).as_one(made))
    pairs = [pair for pair in contradictions(claims) if at is None or _both_hold(pair, when)]
    if not pairs:
        return []
    involved = {said.index for pair in pairs for said in (pair.one, pair.other)}
    bearing = [said for said in claims if said.index in involved]
    folded = fold(bearing, known.sources(involved), when)
    reviews = _reviews(session, involved)
    stand = which_stands(pairs, folded, when)
    claimed = {said.node: said.claim for said in made}
    return [_conflict(pair, stands, reviews, claimed) for pair, stands in zip(pairs, stand, strict=True)]


def _both_hold(pair: Contradiction, at: datetime) -> bool:
    return all(said.since <= at < said.until for said in (pair.one, pair.other))


def _conflict(
    pair: Contradiction, stands: Stands, reviews: dict[frozenset[int], str], claimed: Mapping[str, Claim]
) -> Conflict:
    """`claimed`: the claims as they were made, under their own names."""
    one, other = pair.one, pair.other
    return Conflict(
        subject=one.claim.subject,
        rel=one.relation.name,
        how=pair.how,
        one=words_of(claimed.get(one.node, one.claim)),
        one_id=one.id,
        one_since=one.since,
        other=words_of(claimed.get(other.node, other.claim)),
        other_id=other.id,
        other_since=other.since,
        stands=stands,
        review=reviews.get(frozenset((one.index, other.index))),
    )


def _reviews(session: Session, indexes: set[int]) -> dict[frozenset[int], str]:
    """Return the events `review` by the records that they name."""
    found: dict[frozenset[int], str] = {}
    for index in indexes:
        for child, id, role in session.views.catalog.children(index):
            if role != "evidence" or not id.startswith("evt_"):
                continue
            try:
                record = session.reader.at(child)
            except (ErasedError, ForgottenError):
                continue
            if isinstance(record.body, EventBody) and record.body.name == REVIEW:
                found[frozenset(link.index for link in record.targets("evidence"))] = id
    return found
