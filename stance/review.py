"""Contradictions between claims: all that there are among some, and those in one batch that nothing decides. Pure.

Within one batch, where neither source nor time nor confidence says which of two claims gives way, letting either go
would be a guess: both are kept, and an event `review` names them, in the same transaction.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import combinations
from typing import Final

import msgspec

from braid.ledger.record import Draft, EventBody, ExperienceBody, Target
from braid.stance.claims import ALWAYS, How, Place, Said, claims_in, clash, is_ambiguous, overlap
from braid.stance.relations import relation
from braid.stance.values import normal

REVIEW: Final = "review"


class Contradiction(msgspec.Struct, frozen=True):
    """Two claims that exclude each other while both hold; `one` was recorded first."""

    one: Said
    other: Said
    how: How

    @property
    def is_in_one_batch(self) -> bool:
        """Whether both came in one transaction."""
        return self.one.tx == self.other.tx


def contradictions(claims: Iterable[Said]) -> Iterator[Contradiction]:
    """Yield the pairs of claims that exclude each other at some instant, in the order of the log; each pair of texts
    once, its latest records.
    """
    found: dict[tuple[str, str], Contradiction] = {}
    for alike in _buckets(claims):
        for one, other in combinations(alike, 2):
            if one.claim is not other.claim and overlap(one, other) and (how := clash(one, other)):
                found[normal(one.text), normal(other.text)] = Contradiction(one, other, how)
    yield from sorted(
        found.values(), key=lambda pair: (pair.one.index, pair.one.k, pair.other.index, pair.other.k)
    )


def _buckets(claims: Iterable[Said]) -> Iterator[Sequence[Said]]:
    """Yield claims that may exclude each other: of one first name and one relation, or its opposite."""
    buckets: dict[tuple[str, str], list[Said]] = {}
    for said in sorted(claims, key=lambda said: (said.index, said.k, said.derived)):
        rel = said.relation
        names = sorted((rel.name, relation(rel.opposite).name if rel.opposite else rel.name))
        buckets.setdefault((normal(said.claim.subject).partition(" ")[0], names[0]), []).append(said)
    yield from buckets.values()


class Earlier(msgspec.Struct, frozen=True):
    """A draft that stands earlier in the transaction, as a link names it."""

    place: int


def with_reviews(batch: Sequence[Draft]) -> list[Draft]:
    """Return a batch with an event `review` behind it for each pair of its claims that nothing decides between."""
    if not any(isinstance(draft.body, ExperienceBody) and draft.body.symbolic for draft in batch):
        return list(batch)
    claims = [said for place, draft in enumerate(batch) for said in _said(draft, place)]
    open_ = [
        pair
        for pair in contradictions(claims)
        if not pair.one.derived and not pair.other.derived and is_ambiguous(pair.one, pair.other)
    ]
    return [*batch, *(_review(pair, batch) for pair in open_)]


def _said(draft: Draft, place: int) -> Iterator[Said]:
    body = draft.body
    if isinstance(body, ExperienceBody):
        happened = body.occurred_at or ALWAYS  # all of a batch is recorded at one time
        yield from claims_in(body, Place(place, str(place), happened, 0), frozenset((place,)))


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


def _named(said: Said) -> dict[str, str | int | bool]:
    claim = said.claim
    return {
        "k": said.k, "subject": claim.subject, "rel": claim.rel, "object": claim.object, "polarity": claim.polarity,
    }  # fmt: skip
