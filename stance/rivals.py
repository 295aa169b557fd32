"""Pairs of claims that may exclude each other, found without comparing every two. Pure.

Only claims of one first name and one relation (or its opposite) can; of a relation with many objects, only those of
one object. So ten thousand likings cost ten thousand look-ups, and not fifty million comparisons. Of a relation with
one object (a status that a tool has told ten thousand times) every claim is a rival of every other: there each is
compared with the strongest of them alone, who defeat it if anything does.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

from braid.stance.claims import Said, clash, overlap, strength
from braid.stance.relations import relation
from braid.stance.values import stemmed

STRONGEST: Final = 50


def rivals(claims: Iterable[Said]) -> Iterator[tuple[Said, Said]]:
    """Yield the pairs of claims that exclude each other at some instant; of each pair the earlier in the log first."""
    for alike in alikes(claims):
        yield from _excluding(combinations(alike, 2))


def strongest_rivals(claims: Iterable[Said]) -> Iterator[tuple[Said, Said]]:
    """Yield the pairs of claims that exclude each other of which one is among the strongest of its kind."""
    for alike in alikes(claims):
        if len(alike) <= STRONGEST:
            yield from _excluding(combinations(alike, 2))
            continue
        ranked = sorted(alike, key=strength)
        few, many = ranked[-STRONGEST:], ranked[:-STRONGEST]
        yield from _excluding(combinations(in_order(few), 2))
        yield from _excluding((one, other) for one in many for other in few)


def _excluding(pairs: Iterable[tuple[Said, Said]]) -> Iterator[tuple[Said, Said]]:
    return (pair for pair in pairs if clash(*pair) is not None and overlap(*pair))


def alikes(claims: Iterable[Said]) -> Iterator[Sequence[Said]]:
    """Yield claims that may exclude each other, in the order of the log; none of one group does one of another."""
    groups: dict[Hashable, list[Said]] = {}
    for said in in_order(claims):
        groups.setdefault(_key(said), []).append(said)
    yield from groups.values()


def in_order(claims: Iterable[Said]) -> list[Said]:
    """Return claims in the order of the log."""
    return sorted(claims, key=lambda said: (said.index, said.k, said.derived))


def _key(said: Said) -> Hashable:
    rel = said.relation
    first = stemmed(said.claim.subject)[:1]
    name = min(rel.name, relation(rel.opposite).name) if rel.opposite else rel.name
    return first, name, stemmed(said.claim.object) if rel.many and rel.of == "text" else None
