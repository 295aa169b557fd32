"""Contradictions between claims: all that there are among some, and those in one batch that nothing decides. Pure.

Within one batch, where neither source nor time nor confidence says which of two claims gives way, letting either go
would be a guess: both are kept, and an event `review` names them, in the same transaction; of the first hundred pairs.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import combinations
from typing import Final

import msgspec

from braid.ledger.record import Draft, EventBody, ExperienceBody, Target
from braid.stance.claims import ALWAYS, How, Place, Said, claims_in, clash, is_ambiguous
from braid.stance.rivals import alikes, rivals
from braid.stance.values import normal

REVIEW: Final = "review"
MAX_REVIEWS: Final = 100
"""Of one batch: a thousand homes of one person are half a million pairs, and no one reviews these."""


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
    for one, other in rivals(claims):
        if one.claim is not other.claim and (how := clash(one, other)):
            found[normal(one.text), normal(other.text)] = Contradiction(one, other, how)
    yield from sorted(found.values(), key=_places)


def _places(pair: Contradiction) -> tuple[int, int, int, int]:
    return pair.one.index, pair.one.k, pair.other.index, pair.other.k


def undecidable(claims: Iterable[Said], limit: int) -> list[Contradiction]:
    """Return the first pairs of claims between which nothing decides, in the order of the log, up to a limit; each pair
    of texts once. Claims that rank, time or confidence tell apart are not compared.
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


def _tied(alike: Sequence[Said]) -> Iterator[Sequence[Said]]:
    """Yield claims of one rank, and of one time where time tells; each text and span once."""
    groups: dict[Hashable, dict[Hashable, Said]] = {}
    for said in alike:
        times = (said.recency, said.said) if said.dates_tell else ()
        groups.setdefault((said.rank, *times), {})[normal(said.text), said.since, said.until, said.p] = said
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
