"""Claims folded into a truth maintenance network: what stands, unless what defeats it stands. Pure.

Same records, same instant, same labels. The nodes: `r:12` a record, `r:12/0` its first claim, `log:12` that a record is
in the log at all, `now:r:12/0` that a claim's own times take in the instant that is asked about.

A record stands while one that it was drawn from stands (as an erasure judges it) unless a record supersedes it; a claim
stands while its record does and it holds at that instant, unless a stronger claim that excludes it stands. Take the
defeater away and the defeated is back. Of two that exclude each other and are equally strong each stands unless the
other does: a loop that has no well-founded answer, so that both are undecided.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from braid.ledger.envelope import Link
from braid.stance.claims import Said, holds, outranks
from braid.stance.jtms import Label, Network
from braid.stance.rivals import in_order, strongest_rivals

PARENT: Final = "parent"
EVIDENCE: Final = "evidence"
SUPERSEDES: Final = "supersedes"


class Source(msgspec.Struct, frozen=True):
    """A record that stands in the log, living: what it was drawn from, and what it supersedes, by log index."""

    index: int
    id: str
    parents: tuple[int, ...] = ()
    supersedes: tuple[int, ...] = ()


def source_of(index: int, id: str, links: Sequence[Link]) -> Source:
    """Return what a record with these links rests on."""
    supersedes = tuple(dict.fromkeys(link.index for link in links if link.role == SUPERSEDES))
    return Source(index, id, parents_of(links), supersedes)


def parents_of(links: Sequence[Link]) -> tuple[int, ...]:
    """Return what a record was drawn from, by log index: its parents, or its evidence where it names none."""
    for role in (PARENT, EVIDENCE):
        if found := tuple(dict.fromkeys(link.index for link in links if link.role == role)):
            return found
    return ()


def grounds(records: Iterable[int], known: Mapping[int, Source]) -> dict[int, Source]:
    """Return of the known records those that bear on some: what they were drawn from, and what supersedes any of it."""
    by = _superseders(known.values())
    found: dict[int, Source] = {}
    stack = list(records)
    while stack:
        index = stack.pop()
        if index in known and index not in found:
            found[index] = known[index]
            stack += (*known[index].parents, *by.get(index, ()))
    return found


class Folded(msgspec.Struct, frozen=True):
    """The network, the claims by their nodes, and what may defeat each."""

    net: Network
    claims: Mapping[str, Said]
    defeaters: Mapping[str, tuple[str, ...]]
    superseders: Mapping[int, tuple[int, ...]]
    sources: Mapping[int, Source]

    def label(self, node: str) -> Label:
        """Return how a node stands."""
        return self.net.label(node)

    def stands(self, node: str) -> bool:
        """Whether a node is believed."""
        return self.net.label(node) is Label.IN

    def standing(self) -> list[Said]:
        """Return the claims that stand, in the order of the log."""
        return [said for node, said in self.claims.items() if self.stands(node)]


def fold(claims: Sequence[Said], sources: Iterable[Source], at: datetime | None) -> Folded:
    """Return the network over claims of living records, as of an instant; None: whenever they hold."""
    net = Network()
    known = {source.index: source for source in sources}
    superseders = _superseders(known.values())
    for index in sorted(known):
        _record(net, known[index], known, superseders.get(index, ()))
    ordered = in_order(claims)
    defeaters = _defeaters([said for said in ordered if at is None or holds(said, at)])
    for said in ordered:
        when = f"now:{said.node}"
        if at is None or holds(said, at):
            net.premise(when)
        out = defeaters.get(said.node, ())
        net.justify(said.node, inn=[f"r:{said.index}", when], out=list(out), why=said.text)
    return Folded(net, {said.node: said for said in ordered}, defeaters, superseders, known)


def _superseders(sources: Iterable[Source]) -> dict[int, tuple[int, ...]]:
    by: dict[int, tuple[int, ...]] = {}
    for source in sources:
        for old in source.supersedes:
            by[old] = (*by.get(old, ()), source.index)
    return by


def _record(net: Network, source: Source, known: Mapping[int, Source], by: Sequence[int]) -> None:
    """One justification a parent that lives; a record at the bottom of its braid rests on being in the log."""
    node = f"r:{source.index}"
    out = [f"r:{index}" for index in by]
    if not source.parents:
        net.premise(f"log:{source.index}")
        net.justify(node, inn=[f"log:{source.index}"], out=out, why="it is in the log")
    for parent in source.parents:
        if parent in known:
            net.justify(node, inn=[f"r:{parent}"], out=out, why="drawn from it")


def _defeaters(claims: Sequence[Said]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for one, other in strongest_rivals(claims):
        if not outranks(other, one):
            found.setdefault(other.node, []).append(one.node)
        if not outranks(one, other):
            found.setdefault(one.node, []).append(other.node)
    return {node: tuple(by) for node, by in found.items()}


def in_dispute(folded: Folded) -> list[tuple[Said, Said]]:
    """Return pairs of claims that exclude each other while nothing known says which gives way."""
    open_ = [said for node, said in folded.claims.items() if folded.label(node) is Label.UNDECIDED]
    return [
        (one, other)
        for one, other in strongest_rivals(open_)
        if not outranks(one, other) and not outranks(other, one)
    ]
