"""How sure each answer is, and which one has enough for it. Pure.

Of the claims that have a say each voice gives one to an answer. They are pooled, decayed towards nothing known by how
fast such things change; a denial of an answer is weighed against it alone, and answers that exclude each other share
what there is. Age makes an answer less sure, and weaker than a fresher one; that it is old is no reason to hold
nothing, so that what decides is how the best stood when it was fresh.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from braid.ledger.record.record import Asks
from braid.stance.answers import CandidateAnswer, is_list
from braid.stance.claims import RecordedClaim
from braid.stance.fold import Folded
from braid.stance.pool import BASE, HALF_LIFE_DAYS, Evidence, decayed, exclusive, logit, pool, sigmoid
from braid.stance.precedence import say_order

_DAY_S: Final = 86_400
ENOUGH: Final = 0.5
LEAD: Final = 0.1
"""An answer is held that has half of what there is, and so much more than any other."""


class Share(NamedTuple):
    """What an answer has for it: `aged`, when asked about; `fresh`, as it decides; `against`: its denial."""

    aged: float = 0.0
    fresh: float = 0.0
    against: float = 0.0


class Believed(msgspec.Struct, frozen=True):
    """The share of each answer, and those that have enough to be held, by place."""

    shares: tuple[Share, ...]
    held: tuple[int, ...]


def believe(answers: Sequence[CandidateAnswer], folded: Folded, asks: Asks) -> Believed:
    """Return how sure each answer is at the instant asked about."""
    at = None if asks.wants == "time" else asks.at
    alone = [_alone(answer, folded, at) for answer in answers]
    if is_list(asks):
        shares = [alone_ or Share() for alone_ in alone]
        return Believed(tuple(shares), _each(answers, shares))
    places = [k for k, one in enumerate(alone) if one is not None and answers[k].says]
    given = [one for k in places if (one := alone[k]) is not None]
    between = dict(
        zip(places, _between([one.aged for one in given], [one.fresh for one in given]), strict=True)
    )
    shares = [
        one._replace(aged=between[k][0], fresh=between[k][1]) if one and k in between else one or Share()
        for k, one in enumerate(alone)
    ]
    return Believed(tuple(shares), _best(shares, places))


def _each(answers: Sequence[CandidateAnswer], shares: Sequence[Share]) -> tuple[int, ...]:
    return tuple(
        k
        for k, (answer, share) in enumerate(zip(answers, shares, strict=True))
        if answer.says and has_enough(share)
    )


def has_enough(share: Share) -> bool:
    """Whether an answer that excludes nothing but its own denial has enough to be held."""
    return share.fresh >= ENOUGH - _ROUND and share.fresh - share.against >= LEAD - _ROUND


def _best(shares: Sequence[Share], places: Sequence[int]) -> tuple[int, ...]:
    ranked = sorted(places, key=lambda k: -shares[k].fresh)
    if not ranked or shares[ranked[0]].fresh < ENOUGH - _ROUND:
        return ()
    lead = shares[ranked[0]].fresh - (shares[ranked[1]].fresh if len(ranked) > 1 else 0.0)
    return (ranked[0],) if lead >= LEAD - _ROUND else ()


_ROUND: Final = 1e-9
"""An answer with exactly enough has enough."""


def _alone(answer: CandidateAnswer, folded: Folded, at: datetime | None) -> Share | None:
    """Return an answer against its own denial; None where nobody has a say for it."""
    says, denials = _says(answer.claims, folded), _says(answer.against, folded)
    if not says:
        return None
    both = [_pooled(each, at) for each in (says, denials) if each]
    found = _between([aged for aged, _ in both], [fresh for _, fresh in both])
    return Share(*found[0], against=found[1][1] if denials else 0.0)


def _says(claims: Sequence[RecordedClaim], folded: Folded) -> list[RecordedClaim]:
    """Return the claims that have a say, the last of each voice; what has lost a part of what it rests on is no later
    word of what has not.
    """
    last: dict[tuple[frozenset[str], float], RecordedClaim] = {}
    for said in claims:
        if folded.stands(said.node):
            key = said.voices, said.kept
            if key not in last or say_order(said) >= say_order(last[key]):
                last[key] = said
    return list(last.values())


def _between(aged: Sequence[float], fresh: Sequence[float]) -> list[tuple[float, float]]:
    """Return of answers that exclude each other the share of each now, and as it stood when the best of them was fresh:
    all are younger by what age has cost the best.
    """
    best = max(range(len(aged)), key=lambda k: (aged[k], fresh[k]), default=0)
    back = max(0.0, logit(fresh[best]) - logit(aged[best])) if aged else 0.0
    then = [sigmoid(logit(p) + back) for p in aged]
    return list(zip(exclusive(aged).shares, exclusive(then).shares, strict=True))


def _pooled(says: Sequence[RecordedClaim], at: datetime | None) -> tuple[float, float]:
    """Return how probable an answer is at an instant (None: whenever), and how probable it was when it was last said.

    What was said earlier counts for less by how much earlier that was. From then on all ages together: where it has
    changed since, every voice is out of date at once.
    """
    newest = max(map(_since, says))
    aged = [said.worth if at is None else _aged(said.worth, _since(said), newest, said) for said in says]
    fresh = pool([Evidence(p, said.voices, said.kept) for p, said in zip(aged, says, strict=True)]).p
    return (fresh if at is None else _aged(fresh, newest, at, says[0])), fresh


def _since(said: RecordedClaim) -> datetime:
    """Return from when on a claim ages: from when it was said, or from when it holds, where that is later."""
    return max(said.said, said.since)


def _aged(p: float, since: datetime, at: datetime, said: RecordedClaim) -> float:
    days = (at - since).total_seconds() / _DAY_S
    return decayed(p, BASE, max(days, 0.0), HALF_LIFE_DAYS[said.relation.temporal])
