"""Contradictions between claims, as chains of what followed what; and those in one batch that nothing decides. Pure.

Two thousand homes of one person are two million pairs, and one story: each is paired with the one that came next.
Within one batch, where neither source nor time nor worth says which of two claims has the say, letting either go would
be a guess: both are kept, and an event `review` names them, in the same transaction; of the first hundred pairs.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import combinations
from typing import Final, Literal

import msgspec

from braid.ledger.record.record import Asks, Draft, EventBody, ExperienceBody, Target
from braid.stance.answers import positions
from braid.stance.belief import LEAD, believe
from braid.stance.claims import ALWAYS, How, Place, RecordedClaim, claims_in, clash, holds, overlap
from braid.stance.fold import Folded
from braid.stance.pool import exclusive
from braid.stance.precedence import advantage
from braid.stance.rivals import RivalGroup, alikes
from braid.text.words import normal

REVIEW: Final = "review"
MAX_REVIEWS: Final = 100
"""Of one batch: a thousand homes of one person are half a million pairs, and no one reviews these."""
Stands = Literal["one", "other", "neither"]


class Contradiction(msgspec.Struct, frozen=True):
    """Two claims that exclude each other while both hold; `other` came after `one`."""

    one: RecordedClaim
    other: RecordedClaim
    how: How


def contradictions(claims: Iterable[RecordedClaim]) -> Iterator[Contradiction]:
    """Yield the claims that exclude another at some instant, each with the next that it excludes, in the order of the
    log; each pair of texts once, its latest records. Linear in the claims.
    """
    found: dict[tuple[str, str], Contradiction] = {}
    for group in alikes(claims):
        shelf = RivalGroup()
        for said in sorted(group, key=_after, reverse=True):
            for later in shelf.excluding(said, latest=True):
                if said.claim is not later.claim and (how := clash(said, later)):
                    found.setdefault((normal(said.text), normal(later.text)), Contradiction(said, later, how))
                    break
            shelf.add(said)
    yield from sorted(found.values(), key=_places)


def _after(said: RecordedClaim) -> tuple[datetime, datetime, int, int]:
    return said.recency, said.said, said.index, said.k


def _places(pair: Contradiction) -> tuple[int, int, int, int]:
    return pair.one.index, pair.one.k, pair.other.index, pair.other.k


def which_stands(pairs: Sequence[Contradiction], folded: Folded, at: datetime) -> list[Stands]:
    """Return of each pair which claim has more for it at an instant; neither, where nothing tells."""
    involved = {said.node: said for pair in pairs for said in (pair.one, pair.other)}
    shares: dict[str, float] = {}
    for group in alikes(said for said in involved.values() if holds(said, at)):
        for rel in dict.fromkeys(said.relation.name for said in group):
            answers = positions(group, rel)
            asks = Asks(subjects=[], rels=[rel], at=at)
            for answer, share in zip(answers, believe(answers, folded, asks).shares, strict=True):
                shares |= {said.node: share.fresh for said in answer.claims if folded.stands(said.node)}
    return [_more(shares.get(pair.one.node, 0.0), shares.get(pair.other.node, 0.0)) for pair in pairs]


def _more(one: float, other: float) -> Stands:
    if abs(one - other) < LEAD:
        return "neither"
    return "one" if one > other else "other"


def undecidable(claims: Iterable[RecordedClaim], limit: int) -> list[Contradiction]:
    """Return the first pairs of claims between which nothing decides, in the order of the log, up to a limit; each pair
    of texts once. Claims that rank or time tell apart are not compared.
    """
    found: dict[tuple[str, str], Contradiction] = {}
    for alike in alikes(said for said in claims if not said.derived):
        for tied in _tied(alike):
            for one, other in combinations(tied, 2):
                if is_ambiguous(one, other) and (how := clash(one, other)):
                    found.setdefault((normal(one.text), normal(other.text)), Contradiction(one, other, how))
                    if len(found) == limit:
                        return sorted(found.values(), key=_places)
    return sorted(found.values(), key=_places)


def is_ambiguous(one: RecordedClaim, other: RecordedClaim) -> bool:
    """Whether two claims exclude each other at some time and nothing says which has the say."""
    if clash(one, other) is None or not overlap(one, other):
        return False
    shares = exclusive([one.worth, other.worth]).shares
    return not advantage(one, other) and not advantage(other, one) and abs(shares[0] - shares[1]) < LEAD


def _tied(alike: Sequence[RecordedClaim]) -> Iterator[Sequence[RecordedClaim]]:
    """Yield claims of one rank and one time; each text and span once."""
    groups: dict[Hashable, dict[Hashable, RecordedClaim]] = {}
    for said in alike:
        key = said.rank, said.recency, said.said
        groups.setdefault(key, {})[normal(said.text), said.since, said.until, said.p] = said
    yield from (list(group.values()) for group in groups.values())


class Earlier(msgspec.Struct, frozen=True):
    """A draft that stands earlier in the transaction, as a link names it."""

    place: int


def with_reviews(batch: Sequence[Draft]) -> list[Draft]:
    """Return a batch with an event `review` behind it for each pair of its claims that nothing decides between."""
    if not any(isinstance(draft.body, ExperienceBody) and draft.body.symbolic for draft in batch):
        return list(batch)
    claims = [said for place, draft in enumerate(batch) for said in _said(draft, place)]
    return [*batch, *(_review(pair, batch) for pair in undecidable(claims, MAX_REVIEWS))]


def _said(draft: Draft, place: int) -> Iterator[RecordedClaim]:
    body = draft.body
    if isinstance(body, ExperienceBody):
        happened = body.occurred_at or ALWAYS  # all of a batch is recorded at one time
        yield from claims_in(body, Place(place, str(place), happened, 0))


def _review(pair: Contradiction, batch: Sequence[Draft]) -> Draft:
    one, other = (batch[said.index].body for said in (pair.one, pair.other))
    key = None
    if one.once is not None and other.once is not None:
        key = sha256(msgspec.json.encode((one.once, pair.one.k, other.once, pair.other.k))).hexdigest()[:32]
    data = {"how": pair.how, "claims": [_named(pair.one), _named(pair.other)]}
    reason = f"nothing says which gives way: {pair.one.text}, or {pair.other.text}"
    links: list[tuple[str, Target]] = [
        ("evidence", Earlier(place)) for place in dict.fromkeys((pair.one.index, pair.other.index))
    ]
    once = f"{REVIEW}:{key}" if key else None
    return Draft(
        kind="event",
        body=EventBody(name=REVIEW, data=data, reason=reason, scope=one.scope, once=once),
        links=links,
    )


def _named(said: RecordedClaim) -> dict[str, str | int | bool]:
    claim = said.claim
    return {
        "k": said.k, "subject": claim.subject, "rel": claim.rel, "object": claim.object, "polarity": claim.polarity,
    }  # fmt: skip
