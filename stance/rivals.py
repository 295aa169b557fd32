"""Claims that may exclude each other, found without comparing every two. Pure.

Only claims of one first name and one relation (or its opposite) can; of a relation with many objects, only those of
one object. So ten thousand likings cost ten thousand look-ups, and not fifty million comparisons. Of a relation with
one object (a status that a tool has told ten thousand times) every claim is a rival of every other: there each is
compared with the nearest of them alone, `MOST` at most.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

from braid.stance.claims import RecordedClaim, clash, overlap
from braid.stance.relations import Relation, compared_as, relation
from braid.stance.values import stemmed

MOST: Final = 50


class Group(NamedTuple):
    """What claims have in common that may exclude each other. `kind`: the first of a relation and its opposite."""

    kind: str
    subject: tuple[str, ...]
    object: tuple[str, ...] | None


class RivalGroup:
    """Claims of one group by what would exclude them: an object by any other, a denial by the object that it denies."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, list[RecordedClaim]] = {}

    def add(self, said: RecordedClaim) -> None:
        """Keep a claim, behind those that are kept."""
        name, object_ = said.relation.name, _object(said)
        keys = ((name, True), (name, True, object_)) if said.claim.polarity else ((name, False, object_),)
        for key in keys:
            self._kept.setdefault(key, []).append(said)

    def excluding(
        self, said: RecordedClaim, *, latest: bool = False, ever: bool = False
    ) -> Iterator[RecordedClaim]:
        """Yield those kept that exclude a claim while both hold (`ever`: whenever they do): the first kept first, or
        the latest.
        """
        rel, object_ = said.relation, _object(said)
        keys: list[Hashable] = [(rel.name, not said.claim.polarity, object_)]
        if said.claim.polarity:
            keys += [(rel.name, True), *([(rel.opposite, True)] if rel.opposite else ())]
        rows = (self._kept.get(key, ()) for key in keys)
        near = chain.from_iterable(islice(reversed(row) if latest else row, MOST) for row in rows)
        return (one for one in near if clash(one, said) is not None and (ever or overlap(one, said)))


def _object(said: RecordedClaim) -> Hashable:
    return stemmed(said.claim.object) if said.relation.of == "text" else None


def alikes(claims: Iterable[RecordedClaim]) -> Iterator[Sequence[RecordedClaim]]:
    """Yield claims that may exclude each other, in the order of the log; none of one group does one of another."""
    groups: dict[Group, list[RecordedClaim]] = {}
    for said in in_order(claims):
        groups.setdefault(group_of(said), []).append(said)
    yield from groups.values()


def rivals_of(some: Iterable[RecordedClaim], claims: Iterable[RecordedClaim]) -> list[RecordedClaim]:
    """Return the claims that may exclude some of them, or be excluded by them, and these themselves."""
    keys = {group_of(said) for said in some}
    return [said for said in claims if group_of(said) in keys]


def in_order(claims: Iterable[RecordedClaim]) -> list[RecordedClaim]:
    """Return claims in the order of the log."""
    return sorted(claims, key=lambda said: (said.index, said.k, said.derived))


def group_of(said: RecordedClaim) -> Group:
    """Return the group that a claim is of: only claims of one group can exclude each other."""
    return _group(said.relation, said.claim.subject, said.claim.object)


def groups_of(subject: str, rel: str, object_: str) -> Iterator[Group]:
    """Yield the groups that a claim is of by what it says: its own, and those of the states drawn from it."""
    for known in _compared(rel):
        yield _group(known, subject, object_)


def kinds_of(rel: str) -> Iterator[str]:
    """Yield the kinds of the groups that claims of a relation are of, whatever they say."""
    for known in _compared(rel):
        yield _kind(known)


def _compared(rel: str) -> Iterator[Relation]:
    known = relation(rel)
    for name in (rel, known.begins, known.ends):
        if name:
            yield compared_as(name)


def _group(rel: Relation, subject: str, object_: str) -> Group:
    return Group(
        _kind(rel), stemmed(subject)[:1], stemmed(object_) if rel.many and rel.of == "text" else None
    )


def _kind(rel: Relation) -> str:
    return min(rel.name, relation(rel.opposite).name) if rel.opposite else rel.name
