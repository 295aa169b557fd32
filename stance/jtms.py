"""Truth maintenance with justifications, after Doyle (1979) and Forbus and de Kleer (Building Problem Solvers, 1993).

A node is IN, OUT or undecided. A justification says "believe this, given these, unless those": in-list and out-list.
Premises hold by themselves, assumptions until they are retracted or are the culprit of a contradiction. Retracting
costs what rested on the retracted, and brings back what it had defeated.

Labels are the well-founded model of the justifications (`wellfounded` says why no other): they depend on what the
network holds, not on the order in which it came. Loops through out-lists are undecided, never endless.

Culprits. Of a contradiction's assumptions the one of the lowest rank gives way, by a justification of its own: it is
defeated *while the others hold*, so that it comes back when one of them goes. Where several share the lowest rank, the
order does not say which; each is defeated by the others, and all are undecided. A nogood of assumptions is such a rule
from the start. A contradiction that is derived is traced when it comes IN (dependency-directed backtracking), and what
its derivation used is recorded: retract any of it, and the rule is gone too. So the outcome is the one that giving
way from the highest rank downwards would find, whatever came first; only where out-lists lie below a derived
contradiction, or ranks below it are equal, may it depend on the order of what came, which a log fixes.
"""

import math
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import msgspec

from braid.stance.dependencies import Dependencies
from braid.stance.explain import Explainer, Why, WhyNot
from braid.stance.wellfounded import IN, RETRACTED

Rank = tuple[float, ...]
"""Culprit order: the assumption of the lowest rank gives way (`stance/culprit.py`)."""


class Label(StrEnum):
    """What is believed of a node."""

    IN = "in"
    OUT = "out"
    UNDECIDED = "undecided"


class NetworkConflict(msgspec.Struct, frozen=True):
    """A contradiction that stands, since nothing below it is an assumption."""

    node: str
    premises: tuple[str, ...]


_LABELS: Final = (Label.UNDECIDED, Label.IN, Label.OUT)


class Network:
    """Nodes by name, and what is believed of them. Changes are cheap; the next question pays for their consequences."""

    def __init__(self) -> None:
        self._rests = Dependencies()
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []
        self._because: list[str] = []
        self._premises: dict[int, int] = {}
        """Node to the justification with nothing in it that makes it one."""
        self._assumed: dict[int, int] = {}
        """Node to the justification that holds unless the node is defeated."""
        self._ranks: dict[int, Rank] = {}
        self._defeated: dict[int, int] = {}
        """Assumption to the node that is IN when it must give way."""
        self._contradictions: set[int] = set()
        self._unchecked: list[int] = []
        """Contradictions that are new."""
        self._clashing: set[int] = set()
        """Contradictions that are IN."""
        self._nogoods: dict[int, tuple[int, ...]] = {}
        """Justification of a nogood's contradiction to its members, while not all of them are assumptions."""
        self._members: dict[int, list[int]] = {}
        """Node to such nogoods that it is in."""
        self._derived: dict[int, list[int]] = {}
        """Justification to the rules about culprits that were found by it."""
        self._grounds: dict[int, frozenset[int]] = {}
        """Such a rule to the justifications that it was found by."""

    def __contains__(self, node: str) -> bool:
        return node in self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def visited(self) -> int:
        """How many nodes labelling has looked at, ever: the cost of maintenance, counted."""
        return self._rests.visited

    # What is known.

    def premise(self, node: str, why: str = "premise") -> int:
        """Let a node hold by itself; return its justification."""
        number = self._node(node)
        if number not in self._premises:
            self._premises[number] = self._justify(number, (), (), why)
        return self._premises[number]

    def assume(self, node: str, rank: Rank = (), why: str = "assumed") -> int:
        """Let a node hold until it is retracted or must give way to assumptions of higher rank."""
        if any(map(math.isnan, rank)):
            raise ValueError(f"the rank of {node!r} has a part that is not a number")
        number = self._node(node)
        if number in self._assumed:
            if self._ranks[number] != rank:
                raise ValueError(
                    f"{node!r} is assumed already, with rank {self._ranks[number]}: name another node"
                )
            return self._assumed[number]
        self._ranks[number] = rank
        self._assumed[number] = self._justify(number, (), (), why)
        for nogood in self._members.pop(number, ()):
            self._rule_out(nogood)
        return self._assumed[number]

    def justify(self, node: str, inn: Iterable[str] = (), out: Iterable[str] = (), why: str = "") -> int:
        """Believe a node while all of `inn` is IN and all of `out` OUT; return the justification's number."""
        return self._justify(
            self._node(node), [self._node(one) for one in inn], [self._node(one) for one in out], why
        )

    def contradiction(self, node: str) -> None:
        """Let a node be one that must not be IN: an assumption below it gives way."""
        number = self._node(node)
        self._contradictions.add(number)
        self._unchecked.append(number)

    def nogood(self, nodes: Iterable[str], why: str = "nogood") -> int:
        """Let nodes not be IN all at once; return the justification of their contradiction."""
        members = tuple(dict.fromkeys(self._node(one) for one in nodes))
        if not members:
            raise ValueError("a nogood needs at least one node")
        clash = self._rests.add_node()
        self._names.append(why)
        self._contradictions.add(clash)
        nogood = self._justify(clash, members, (), why)
        self._nogoods[nogood] = members
        self._rule_out(nogood)
        return nogood

    # What is taken back.

    def retract(self, what: str | int) -> None:
        """Take back a premise or assumption, by name, or a justification, by number; ValueError for others."""
        for rule in self._of(what):
            self._switch(rule, on=False)

    def restore(self, what: str | int) -> None:
        """Bring back what was retracted; ValueError for what isn't in the network."""
        for rule in self._of(what):
            self._switch(rule, on=True)

    # What is believed.

    def label(self, node: str) -> Label:
        """Return what is believed of a node; raise ValueError for an unknown one."""
        self._settle()
        return _LABELS[self._rests.label[self._known(node)]]

    def labels(self) -> dict[str, Label]:
        """Return what is believed, of every node."""
        self._settle()
        label = self._rests.label
        return {name: _LABELS[label[number]] for name, number in self._numbers.items()}

    def relabel(self) -> None:
        """Label everything from scratch: what would be believed by one who had just read it all."""
        self._rests.relabel()
        self._clashing = {node for node in self._contradictions if self._rests.label[node] == IN}
        self._settle()

    def why(self, node: str) -> Why:
        """Explain a node that is IN, down to premises and assumptions; raise ValueError for any other."""
        if (label := self.label(node)) is not Label.IN:
            raise ValueError(f"{node!r} is {label}, not in: ask why_not")
        return Explainer(self._rests, self._names, self._because).why(self._numbers[node])

    def why_not(self, node: str) -> WhyNot:
        """Explain a node that is OUT or undecided: how each of its justifications fails."""
        if self.label(node) is Label.IN:
            raise ValueError(f"{node!r} is in: ask why")
        return Explainer(self._rests, self._names, self._because).why_not(self._numbers[node])

    def foundations(self, node: str) -> tuple[str, ...]:
        """Return the premises and assumptions that a node which is IN rests on, however deep, sorted."""
        if (label := self.label(node)) is not Label.IN:
            raise ValueError(f"{node!r} is {label}: it rests on nothing")
        traced = self._trace(self._numbers[node])
        return tuple(sorted(self._names[one] for one in (*traced.assumptions, *traced.premises)))

    def conflicts(self) -> tuple[NetworkConflict, ...]:
        """Return the contradictions that nothing can give way for: they follow from premises alone."""
        self._settle()
        traced = ((node, self._trace(node)) for node in self._clashing)
        found = [
            NetworkConflict(self._names[node], tuple(sorted(self._names[one] for one in trace.premises)))
            for node, trace in traced
        ]
        return tuple(sorted(found, key=lambda one: (one.node, one.premises)))

    def undecided(self) -> tuple[str, ...]:
        """Return the nodes that loops through out-lists leave undecided, sorted."""
        return tuple(sorted(name for name, label in self.labels().items() if label is Label.UNDECIDED))

    # How.

    def _node(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = self._rests.add_node()
            self._names.append(name)
        return number

    def _known(self, name: str) -> int:
        if name not in self._numbers:
            raise ValueError(f"there is no node {name!r}")
        return self._numbers[name]

    def _justify(self, head: int, inn: Iterable[int], out: Iterable[int], why: str) -> int:
        self._because.append(why)
        return self._rests.justify(head, inn, out)

    def _of(self, what: str | int) -> list[int]:
        """Return the justifications that a name or a number means."""
        if isinstance(what, int):
            if not 0 <= what < len(self._because):
                raise ValueError(f"there is no justification {what}")
            return [what]
        node = self._known(what)
        rules = [table[node] for table in (self._premises, self._assumed) if node in table]
        if not rules:
            raise ValueError(
                f"{what!r} is neither premise nor assumption: retract a justification or what it rests on"
            )
        return rules

    def _is_on(self, rule: int) -> bool:
        return self._rests.blocker[rule] != RETRACTED

    def _switch(self, rule: int, *, on: bool) -> None:
        self._rests.switch(rule, on=on)
        for found in self._derived.get(rule, ()):
            self._rests.switch(found, on=all(self._is_on(one) for one in self._grounds[found]))

    def _settle(self) -> None:
        """Make the labels true, and let culprits give way until no contradiction is left that has any."""
        while self._rests.doubted or self._unchecked:
            changed = self._contradictions.intersection((*self._rests.settle(), *self._unchecked))
            self._unchecked = []
            now_in = {node for node in changed if self._rests.label[node] == IN}
            self._clashing = (self._clashing - changed) | now_in
            for node in sorted(self._clashing):
                self._give_way(self._trace(node))

    def _trace(self, node: int) -> "_Trace":
        """Return what an IN node rests on."""
        rests = self._rests
        assumptions: set[int] = set()
        premises: set[int] = set()
        absent: set[int] = set()
        rules: set[int] = set()
        seen = {node}
        stack = [node]
        while stack:
            one = stack.pop()
            rule = rests.support[one]
            if self._assumed.get(one) == rule:
                assumptions.add(one)
            elif not rests.inn[rule] and not rests.out[rule]:
                premises.add(one)
            else:
                rules.add(rule)
                absent.update(rests.out[rule])
                fresh = [below for below in rests.inn[rule] if below not in seen]
                seen.update(fresh)
                stack += fresh
        return _Trace(frozenset(assumptions), frozenset(premises), frozenset(absent), frozenset(rules))

    def _rule_out(self, nogood: int) -> None:
        """Turn a nogood of assumptions into rules about its culprits; of other nodes, note which it waits for."""
        members = self._nogoods[nogood]
        waiting = [one for one in members if one not in self._assumed]
        if waiting:
            self._members.setdefault(waiting[0], []).append(nogood)
        else:
            self._give_way(_Trace(frozenset(members), frozenset(), frozenset(), frozenset([nogood])))

    def _give_way(self, trace: "_Trace") -> None:
        """Let the assumptions of the lowest rank be defeated while the rest of the trace holds."""
        lowest = min((self._ranks[one] for one in trace.assumptions), default=())
        for culprit in sorted(one for one in trace.assumptions if self._ranks[one] == lowest):
            rule = self._justify(
                self._defeat(culprit),
                sorted((trace.assumptions - {culprit}) | trace.premises),
                sorted(trace.absent),
                "it gives way to what it contradicts",
            )
            self._grounds[rule] = trace.rules
            for one in trace.rules:
                self._derived.setdefault(one, []).append(rule)
            if not all(self._is_on(one) for one in trace.rules):
                self._rests.switch(rule, on=False)

    def _defeat(self, assumption: int) -> int:
        """Return the node that stands for an assumption's defeat; the first time, make the assumption heed it."""
        if assumption not in self._defeated:
            self._defeated[assumption] = node = self._rests.add_node()
            self._names.append(f"{self._names[assumption]} is defeated")
            self._rests.unless(self._assumed[assumption], node)
        return self._defeated[assumption]


class _Trace(msgspec.Struct, frozen=True):
    """What a node that is IN rests on, and the justifications that lead to it."""

    assumptions: frozenset[int]
    premises: frozenset[int]
    absent: frozenset[int]
    rules: frozenset[int]
