"""Claims folded into a truth maintenance network: which have a say, unless what takes it has one. Pure.

Same claims, same instant, same labels. The nodes: `r:12` a record, `r:12/0` its first claim, `log:12` that a record is
in the log, `now:r:12/0` that a claim's own times take in the instant that is asked about.

Every record here is living: what was corrected, forgotten or erased, and what fell with it, is left out before
(`ledger.record.standing`, SPEC §9.7). A claim stands while it holds at that instant and nothing that stands takes
its say
(`stance.precedence`). Take the taker away and the claim is back.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from braid.stance.claims import RecordedClaim, clash, holds
from braid.stance.culprit import STANDING
from braid.stance.jtms import Label, Network
from braid.stance.precedence import Taken, outdone, settled
from braid.stance.rivals import in_order


class Takes(NamedTuple):
    """A decision that was carried out: one claim takes the say of another, by their nodes, and why."""

    taker: str
    target: str
    why: str


class GroundedRecord(msgspec.Struct, frozen=True):
    """A living record and the living ones that it was drawn from, by log index.

    `takes`: the living decisions by which its claims take the say of others.
    """

    index: int
    id: str
    parents: tuple[int, ...] = ()
    takes: tuple[Takes, ...] = ()


def grounds(records: Iterable[int], known: Mapping[int, GroundedRecord]) -> dict[int, GroundedRecord]:
    """Return of the known records those that some rest on, themselves too."""
    found: dict[int, GroundedRecord] = {}
    stack = list(records)
    while stack:
        index = stack.pop()
        if index in known and index not in found:
            found[index] = known[index]
            stack += known[index].parents
    return found


class Folded(msgspec.Struct, frozen=True):
    """The network, the claims by their nodes, and what takes the say of each, or would if it stood, and why."""

    net: Network
    claims: Mapping[str, RecordedClaim]
    taken: Mapping[str, Sequence[tuple[RecordedClaim, str]]]
    sources: Mapping[int, GroundedRecord]

    def label(self, node: str) -> Label:
        """Return how a node stands."""
        return self.net.label(node)

    def stands(self, node: str) -> bool:
        """Whether a node is believed: of a claim, whether it has a say."""
        return self.net.label(node) is Label.IN

    def standing(self) -> list[RecordedClaim]:
        """Return the claims that stand, in the order of the log."""
        return [said for node, said in self.claims.items() if self.stands(node)]


def fold(claims: Sequence[RecordedClaim], sources: Iterable[GroundedRecord], at: datetime | None) -> Folded:
    """Return the network over claims of living records, as of an instant; None: whenever they hold."""
    net = Network()
    known = {source.index: source for source in sources}
    for index in sorted(known):
        _record(net, known[index], known)
    ordered = in_order(claims)
    current = [said for said in ordered if at is None or holds(said, at)]
    for said in current:
        net.premise(f"now:{said.node}")
    taken = settled(current, timeless=at is None)
    _decided({said.node: said for said in current}, known.values(), taken, timeless=at is None)
    guesses = [said for said in ordered if said.rank == STANDING["inferred"]]
    guessed = {said.node for said in guesses}
    _claims(net, [said for said in ordered if said.node not in guessed], taken)
    # What is inferred takes the say of nothing else, so that all else is settled by now.
    standing = [said for said in current if said.node not in guessed and net.label(said.node) is Label.IN]
    for node, by in outdone([said for said in current if said.node in guessed], standing).items():
        taken.setdefault(node, []).extend(by)
    _claims(net, guesses, taken)
    return Folded(net, {said.node: said for said in ordered}, taken, known)


def _record(net: Network, source: GroundedRecord, known: Mapping[int, GroundedRecord]) -> None:
    """One justification a parent; a record at the bottom of its braid rests on being in the log."""
    node = f"r:{source.index}"
    if not source.parents:
        net.premise(f"log:{source.index}")
        net.justify(node, inn=[f"log:{source.index}"], why="it is in the log")
    for parent in source.parents:
        if parent in known:
            net.justify(node, inn=[f"r:{parent}"], why="drawn from it")


def _decided(
    current: Mapping[str, RecordedClaim],
    known: Iterable[GroundedRecord],
    taken: Taken,
    *,
    timeless: bool,
) -> None:
    """Note what decisions leave no say: of claims that are both here alone, so that a scope sees its own only.

    `timeless`: what was so once remains so; only what is denied goes.
    """
    for one in (takes for source in known for takes in source.takes):
        taker, target = current.get(one.taker), current.get(one.target)
        if taker is None or target is None or (how := clash(taker, target)) is None:
            continue
        if not timeless or how in ("denied", "opposite"):
            taken.setdefault(target.node, []).append((taker, one.why))


def _claims(net: Network, claims: Sequence[RecordedClaim], taken: Taken) -> None:
    for said in claims:
        inn = [f"r:{said.index}", f"now:{said.node}"]
        net.justify(said.node, inn=inn, out=[one.node for one, _ in taken.get(said.node, ())], why=said.text)
