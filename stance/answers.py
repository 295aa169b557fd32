"""Claims gathered into the answers that they give to one question. Pure.

Of a relation with one object each object is an answer, and one at most is right. Of one with many, each object is a
question of its own. A yes-or-no question has two answers; a question for a time, one for each day.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Final

import msgspec

from braid.ledger.record.record import Asks
from braid.stance.claims import RecordedClaim, holds
from braid.stance.fold import Folded
from braid.stance.relations import Of, compared_as, relation
from braid.stance.values import same, stemmed

Alike = Callable[[RecordedClaim, RecordedClaim], bool]
YES: Final = "yes"
NO: Final = "no"


class CandidateAnswer(msgspec.Struct, frozen=True):
    """An answer with the claims that give it, and those that speak against it alone; `says` is false for one that only
    rules another out.
    """

    key: str
    claims: tuple[RecordedClaim, ...]
    says: bool = True
    against: tuple[RecordedClaim, ...] = ()

    def strongest(self, folded: Folded) -> RecordedClaim:
        """Return the claim that gives it best: one that has a say, of the highest rank, the newest."""
        return max(
            self.claims,
            key=lambda said: (
                folded.stands(said.node),
                said.rank,
                said.since,
                said.said,
                said.index,
                -said.k,
            ),
        )

    def text(self, folded: Folded, asks: Asks) -> str:
        """Return the answer in words."""
        said = self.strongest(folded)
        return f"{said.text} on {said.since:%Y-%m-%d}" if asks.wants == "time" else said.text


def is_list(asks: Asks) -> bool:
    """Whether a question may have several answers at once: the objects of a relation with many."""
    return asks.wants == "object" and bool(asks.rels) and relation(asks.rels[0]).many


def answers_to(asks: Asks, claims: Sequence[RecordedClaim], folded: Folded) -> list[CandidateAnswer]:
    """Return the answers that claims give, those that hold at the time asked for; in the order of the log."""
    assert asks.at is not None  # noqa: S101 - reconcile has refused it
    if asks.wants == "time":
        dated = [said for said in claims if said.claim.valid_from is not None and said.claim.polarity]
        return _grouped(dated, lambda said: said.since.date(), lambda _one, _other: True)
    current = [said for said in claims if holds(said, asks.at)]
    if asks.wants == "check":
        return _checked(asks, current)
    return positions(current, _first_known(asks, current))


def positions(claims: Sequence[RecordedClaim], wanted: str) -> list[CandidateAnswer]:
    """Return the answers that claims give to what a relation holds of, each with what denies it, and the denials."""
    rel = relation(wanted)
    positive = [said for said in claims if said.claim.polarity and said.relation.name == wanted]
    denials = [said for said in claims if not said.claim.polarity and said.relation.name == wanted]
    opposed = [said for said in claims if said.claim.polarity and said.relation.name == rel.opposite]
    groups = _grouped(
        positive,
        lambda said: stemmed(said.claim.object)[:1] if rel.of == "text" else (),
        lambda one, other: same(one.claim.object, other.claim.object, rel.of, broad=not rel.many),
    )
    against = _by_object([*denials, *opposed], rel.of)
    for_ = _by_object(positive, rel.of)
    says = [msgspec.structs.replace(one, against=against(one.claims)) for one in groups]
    return [
        *says,
        *(CandidateAnswer(f"not {said.claim.object}", (said,), False, for_([said])) for said in denials),
    ]


def _by_object(
    claims: Sequence[RecordedClaim], of: Of
) -> Callable[[Sequence[RecordedClaim]], tuple[RecordedClaim, ...]]:
    """Return what finds, of some claims, those of an object that others have."""
    by_stem: dict[Hashable, list[RecordedClaim]] = {}
    for said in claims:
        by_stem.setdefault(stemmed(said.claim.object) if of == "text" else None, []).append(said)

    def found(others: Sequence[RecordedClaim]) -> tuple[RecordedClaim, ...]:
        keys = dict.fromkeys(stemmed(said.claim.object) if of == "text" else None for said in others)
        near = [one for key in keys for one in by_stem.get(key, ())]
        return tuple(
            one for one in near if any(same(one.claim.object, said.claim.object, of) for said in others)
        )

    return found


def _first_known(asks: Asks, current: Sequence[RecordedClaim]) -> str:
    """Return the first relation of the question of which something is claimed."""
    names = [compared_as(rel).name for rel in asks.rels]
    known = {said.relation.name for said in current if said.claim.polarity}
    return next((name for name in names if name in known), names[0] if names else "")


def _checked(asks: Asks, current: Sequence[RecordedClaim]) -> list[CandidateAnswer]:
    """Return yes and no, as far as something speaks for them. Another object of a relation with one says no."""
    object_ = asks.object or ""
    asked = compared_as(asks.rels[0])
    yes: list[RecordedClaim] = []
    no: list[RecordedClaim] = []
    for said in current:
        rel = said.relation
        equal = not object_ or same(said.claim.object, object_, rel.of, broad=True)
        if rel.name == asked.opposite:
            if equal and said.claim.polarity:
                no.append(said)
        elif equal:
            (yes if said.claim.polarity else no).append(said)
        elif said.claim.polarity and not rel.many:
            no.append(said)
    return [CandidateAnswer(key, tuple(group)) for key, group in ((YES, yes), (NO, no)) if group]


def _grouped(
    claims: Sequence[RecordedClaim], key: Callable[[RecordedClaim], Hashable], alike: Alike
) -> list[CandidateAnswer]:
    """Group claims that are alike; only those of one key may be, so that many answers cost no more than they are."""
    groups: list[list[RecordedClaim]] = []
    by_key: dict[Hashable, list[list[RecordedClaim]]] = {}
    for said in claims:
        near = by_key.setdefault(key(said), [])
        group = next((group for group in near if alike(group[0], said)), None)
        if group is None:
            groups.append([said])
            near.append(groups[-1])
        else:
            group.append(said)
    return [CandidateAnswer(group[0].claim.object, tuple(group)) for group in groups]
