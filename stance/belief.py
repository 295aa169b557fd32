"""How sure each answer is: its claims pooled, as far as each may be believed at the time that is asked about. Pure.

A claim is worth what its source is, or what its record states, less for hearsay; a model's own confidence may only
lower that. What is worth something decays towards nothing known, by how fast such things change. An answer that is
defeated keeps only the chance that its defeater is wrong.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from braid.ledger.record import Asks
from braid.stance.answers import Answer, is_list
from braid.stance.claims import Said
from braid.stance.fold import Folded
from braid.stance.pool import BASE, HALF_LIFE_DAYS, Evidence, decayed, exclusive, pool, prior_of

_DAY_S: Final = 86_400
_HEARSAY: Final = "implicit_unintentional"


class Believed(msgspec.Struct, frozen=True):
    """For each answer its share, of those that exclude each other, and what speaks for it, age left aside."""

    shares: tuple[float, ...]
    worth: tuple[float, ...]


def believe(answers: Sequence[Answer], folded: Folded, asks: Asks) -> Believed:
    """Return how sure each answer is at the time asked about."""
    worth = [_pooled(answer, folded, None) for answer in answers]
    if asks.wants == "time":
        return Believed(exclusive(worth).shares, tuple(worth))
    now = [_pooled(answer, folded, asks.at) for answer in answers]
    giving = {said.node: p for answer, p in zip(answers, now, strict=True) for said in answer.claims}
    left = [p * _spared(answer, giving, folded) for answer, p in zip(answers, now, strict=True)]
    return Believed(tuple(left) if is_list(asks) else exclusive(left).shares, tuple(worth))


def _pooled(answer: Answer, folded: Folded, at: datetime | None) -> float:
    """Pool the claims of an answer whose records stand; the base where none does."""
    pieces = [
        Evidence(_aged(said, at) if at else worth_of(said), said.ancestors)
        for said in answer.claims
        if folded.stands(f"r:{said.index}")
    ]
    return pool(pieces).p if pieces else BASE


def worth_of(said: Said) -> float:
    """Return what a claim is worth when it is made."""
    prior = prior_of(_HEARSAY if said.is_hearsay else said.claim.source_type)
    if said.p is None:
        return prior
    return min(prior, said.p) if said.by_model or said.is_hearsay else said.p


def _aged(said: Said, at: datetime) -> float:
    """Return what is left of it: age counts from when it was said, or from when it holds, where that is later."""
    days = (at - max(said.said, said.since)).total_seconds() / _DAY_S
    return decayed(worth_of(said), BASE, max(days, 0.0), HALF_LIFE_DAYS[said.relation.temporal])


def _spared(answer: Answer, giving: Mapping[str, float], folded: Folded) -> float:
    """Return the chance that what defeats an answer is wrong: 1 while a claim of it stands. `giving`: claims by node,
    and how probable the answer is that they give.
    """
    if any(folded.stands(said.node) for said in answer.claims):
        return 1.0
    by = {node for said in answer.claims for node in folded.defeaters.get(said.node, ())}
    beaten = [giving[node] for node in by if node in giving and folded.stands(node)]
    return 1.0 - max(beaten, default=0.0)
