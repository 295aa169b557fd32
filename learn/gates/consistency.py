"""What a candidate is beside what is known: the same again, its end, its rival, or something new. Pure.

What excludes what is `stance.claims.clash`: this room only asks it. Whose word counts is weighed later, by a stance.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, NamedTuple

from braid.learn.candidate import Candidate, KnownEntity
from braid.ledger.record.record import Claim
from braid.stance.claims import ALWAYS, FOREVER, RecordedClaim, clash, of_one, overlap
from braid.stance.culprit import STANDING
from braid.stance.relations import compared_as, relation
from braid.stance.values import same
from braid.text.words import normal

MAX_COMPARED: Final = 200
"""So many claims of one relation and subject are compared with a new one, the newest."""
_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)


class KnownIndex:
    """What is known, to be asked by the gates; it grows by what is kept. One serves a whole conversation or store."""

    def __init__(self, claims: Iterable[Claim] = (), entities: Iterable[KnownEntity] = ()) -> None:
        self._claims: dict[tuple[str, str], list[Claim]] = {}
        self._names: set[str] = set()
        self.kinds: dict[str, str] = {}
        """What entities are, by their names and aliases in normal form."""
        self.entities: dict[str, KnownEntity] = {}
        for claim in claims:
            self.add(claim)
        for entity in entities:
            for name in (entity.name, *entity.aliases):
                self.kinds[normal(name)] = entity.type
                self.entities[normal(name)] = entity
                self._names.update((normal(name), *normal(name).split()[:1]))

    def add(self, claim: Claim) -> None:
        """Take in a claim that is kept."""
        self._claims.setdefault(alike_key(claim), []).append(claim)
        for name in (claim.subject, claim.object):
            if name[:1].isupper():
                self._names.update((normal(name), *normal(name).split()[:1]))

    def is_known(self, name: str) -> bool:
        """Whether something known is of this name, or its object is."""
        low = normal(name)
        return low in self._names or low.partition(" ")[0] in self._names

    def near(self, claim: Claim) -> Iterable[Claim]:
        """Return the newest known claims that this one may repeat or exclude, the newest first."""
        return reversed(self._claims.get(alike_key(claim), [])[-MAX_COMPARED:])


class Beside(NamedTuple):
    """What of the known a claim says again, replaces, and contradicts without replacing it."""

    reinforces: Claim | None = None
    supersedes: tuple[Claim, ...] = ()
    rivals: tuple[Claim, ...] = ()
    outranked: bool = False
    """Something better founded says otherwise."""


def consistency(candidate: Candidate, known: KnownIndex) -> Beside:
    """Return how a candidate stands to what is known.

    A correction replaces what it contradicts; of two of one standing the later does, where only one can hold; a claim
    of less standing than its rival is outranked.
    """
    claim = candidate.claim
    reinforces: Claim | None = None
    supersedes: list[Claim] = []
    rivals: list[Claim] = []
    outranked = False
    said: RecordedClaim | None = None
    for other in known.near(claim):
        if is_same(claim, other):
            reinforces = reinforces or other
            continue
        said = said or _recorded(claim)
        earlier = _recorded(other)
        how = clash(said, earlier)
        if how is None or not overlap(said, earlier):
            continue
        mine, theirs = STANDING[claim.source_type], STANDING[other.source_type]
        if candidate.type == "correction" or mine >= theirs:
            supersedes.append(other)
        else:
            rivals.append(other)
            outranked = True
    return Beside(reinforces, tuple(supersedes), tuple(rivals), outranked)


def is_same(one: Claim, other: Claim) -> bool:
    """Whether two claims say the same of the same."""
    if one.polarity != other.polarity or not of_one(one.subject, other.subject):
        return False
    rel, rival = compared_as(one.rel), compared_as(other.rel)
    return rel.name == rival.name and same(one.object, other.object, rel.of)


def excludes(one: Claim, other: Claim) -> bool:
    """Whether two claims can't both hold."""
    first, second = _recorded(one), _recorded(other)
    return clash(first, second) is not None and overlap(first, second)


def alike_key(claim: Claim) -> tuple[str, str]:
    """Return what claims have in common that may be the same or exclude each other: a name's first word, a relation."""
    rel = compared_as(claim.rel)
    pair = min(rel.name, rel.opposite) if rel.opposite else rel.name
    return normal(claim.subject).partition(" ")[0].rstrip("s"), pair


def _recorded(claim: Claim) -> RecordedClaim:
    """Return a claim as those are that a stance compares; when it was said doesn't matter here."""
    start = ALWAYS if relation(claim.rel).temporal == "trait" else _NEVER
    return RecordedClaim(
        index=0,
        k=0,
        id="",
        claim=claim,
        known=_NEVER,
        said=_NEVER,
        since=claim.valid_from or start,
        until=claim.valid_to or FOREVER,
        tx=0,
        p=None,
    )
