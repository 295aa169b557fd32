"""Nodes and justifications by number: their labels, and what each label rests on.

A justification concludes its head when everything in its in-list is IN and everything in its out-list OUT. The labels
are the well-founded model of the justifications read as rules (`stance/wellfounded.py`), and are kept so by change:

A decided label stands on recorded reasons. An IN node names the justification that supports it; an OUT node, for each
justification of its own, an antecedent that blocks it. Stamps order the labels by when they were found: a reason is
older than what rests on it (nodes that are OUT together, since they only support one another, share a stamp), so that
no chain of reasons comes back to its beginning. After a change those labels are dropped whose reasons went and for
which no older reason is left; what then is undecided and within reach of them is labelled again. Everything else still
has its whole derivation, and is not visited.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from braid.stance.wellfounded import FREE, IN, OUT, RETRACTED, UNDECIDED, Rules, label_all, label_region

BULK: Final = 3
"""From this part (a third) of all justifications on, labelling everything again is cheaper than asking one by one."""


class Dependencies(Rules):
    """A network under change. Changes are collected; `settle` makes the labels true again."""

    def __init__(self) -> None:
        super().__init__()
        self.doubted: list[int] = []
        """Justifications that came, went or came back since the labels were last true."""
        self.visited = 0
        """How many nodes labelling has looked at, from the beginning: what maintenance costs, counted."""

    def justify(self, head: int, inn: Iterable[int], out: Iterable[int]) -> int:
        """Add a justification and return its number."""
        number = self.add_rule(head, tuple(dict.fromkeys(inn)), tuple(dict.fromkeys(out)))
        self.doubted.append(number)
        return number

    def unless(self, rule: int, node: int) -> None:
        """Let a justification hold only while a further node is OUT."""
        self.add_exception(rule, node)
        self.doubted.append(rule)

    def switch(self, rule: int, *, on: bool) -> None:
        """Retract a justification, or bring it back."""
        if (self.blocker[rule] != RETRACTED) != on:
            self.blocker[rule] = FREE if on else RETRACTED
            self.doubted.append(rule)

    def settle(self) -> Sequence[int]:
        """Make the labels true again; return the nodes that were labelled again."""
        doubted, self.doubted = self.doubted, []
        if len(doubted) * BULK > len(self.head):
            return self.relabel()
        region = self._reach(self._drop(doubted))
        self.visited += len(region)
        label_region(self, region)
        return region

    def relabel(self) -> Sequence[int]:
        """Label everything from scratch, whatever the labels are."""
        self.doubted = []
        self.visited += len(self.label)
        label_all(self)
        return range(len(self.label))

    def _drop(self, doubted: list[int]) -> list[int]:
        """Take back every label that has lost its reason, those that rest on it too; return the nodes."""
        label, head, support, blocker = self.label, self.head, self.support, self.blocker
        dropped: list[int] = []
        for rule in doubted:  # grows as it is walked
            self.visited += 1
            node = head[rule]
            if label[node] == IN:
                if support[node] != rule or self._supported_anew(node):
                    continue
            elif label[node] == OUT:
                if blocker[rule] == RETRACTED or self._blocked_anew(rule):
                    continue
            else:
                dropped.append(node)
                continue
            label[node] = UNDECIDED
            dropped.append(node)
            for rules in (self.by_in[node], self.by_out[node]):
                doubted += [
                    other
                    for other in rules
                    if (label[head[other]] == IN and support[head[other]] == other)
                    or (label[head[other]] == OUT and blocker[other] == node)
                ]
        return dropped

    def _supported_anew(self, node: int) -> bool:
        """Whether an IN node has a justification that holds and is older than its label; it is its support from now."""
        label, stamp = self.label, self.stamp
        age = stamp[node]
        for rule in self.concluding[node]:
            if (
                self.blocker[rule] != RETRACTED
                and all(label[one] == IN and stamp[one] < age for one in self.inn[rule])
                and all(label[one] == OUT and stamp[one] < age for one in self.out[rule])
            ):
                self.support[node] = rule
                return True
        return False

    def _blocked_anew(self, rule: int) -> bool:
        """Whether a justification of an OUT node is blocked by something older, or OUT together with it."""
        label, stamp = self.label, self.stamp
        age = stamp[self.head[rule]]
        for one in self.inn[rule]:
            if label[one] == OUT and stamp[one] <= age:
                self.blocker[rule] = one
                return True
        for one in self.out[rule]:
            if label[one] == IN and stamp[one] < age:
                self.blocker[rule] = one
                return True
        self.blocker[rule] = FREE
        return False

    def _reach(self, dropped: list[int]) -> list[int]:
        """Return the nodes that were dropped and the undecided ones that hang on them, directly or not."""
        label, head, blocker = self.label, self.head, self.blocker
        region = list(dict.fromkeys(dropped))
        known = set(region)
        for node in region:  # grows as it is walked
            for rules in (self.by_in[node], self.by_out[node]):
                for rule in rules:
                    above = head[rule]
                    if label[above] == UNDECIDED and above not in known and blocker[rule] != RETRACTED:
                        known.add(above)
                        region.append(above)
        return region
