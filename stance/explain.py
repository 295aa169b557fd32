"""Why a node holds, and why another doesn't, down to premises. Each node is explained once, then only named."""

import msgspec

from braid.stance.dependencies import Dependencies
from braid.stance.wellfounded import IN, OUT, RETRACTED

MAX_DEPTH = 200
"""Deeper trees could be nested JSON that no reader of JSON takes; what lies below is only named."""


class Why(msgspec.Struct, frozen=True):
    """A node that is IN and the justification it rests on: all of `inn` IN, all of `out` not."""

    node: str
    justification: int
    because: str
    """What the justification says of itself."""
    inn: tuple["Why", ...] = ()
    out: tuple["WhyNot", ...] = ()
    elsewhere: bool = False
    """It is explained in another place of this tree, or too deep to be."""


class Failed(msgspec.Struct, frozen=True):
    """A justification that does not hold: `missing` should be IN, `unless` should be OUT."""

    justification: int
    because: str
    retracted: bool = False
    missing: tuple["WhyNot", ...] = ()
    unless: tuple["Why | WhyNot", ...] = ()
    """IN, or undecided."""


class WhyNot(msgspec.Struct, frozen=True):
    """A node that is not IN, and how each of its justifications fails. Without any, nothing ever spoke for it."""

    node: str
    undecided: bool = False
    failed: tuple[Failed, ...] = ()
    elsewhere: bool = False


class Explainer:
    """Explains nodes of settled dependencies; one tree each."""

    def __init__(self, rests: Dependencies, names: list[str], because: list[str]) -> None:
        self._rests, self._names, self._because = rests, names, because
        self._told: set[int] = set()

    def why(self, node: int, depth: int = 0) -> Why:
        """Explain a node that is IN."""
        rests = self._rests
        rule = rests.support[node]
        elsewhere = self._is_told(node, depth) and bool(rests.inn[rule] or rests.out[rule])
        return Why(
            self._names[node],
            rule,
            self._because[rule],
            () if elsewhere else tuple(self.why(one, depth + 1) for one in rests.inn[rule]),
            () if elsewhere else tuple(self.why_not(one, depth + 1) for one in rests.out[rule]),
            elsewhere,
        )

    def why_not(self, node: int, depth: int = 0) -> WhyNot:
        """Explain a node that is OUT or undecided."""
        rests = self._rests
        rules = rests.concluding[node]
        elsewhere = self._is_told(node, depth) and bool(rules)
        failed = () if elsewhere else tuple(self._failed(rule, depth + 1) for rule in rules)
        return WhyNot(self._names[node], rests.label[node] != OUT, failed, elsewhere)

    def _failed(self, rule: int, depth: int) -> Failed:
        rests = self._rests
        if rests.blocker[rule] == RETRACTED:
            return Failed(rule, self._because[rule], retracted=True)
        missing = tuple(self.why_not(one, depth) for one in rests.inn[rule] if rests.label[one] != IN)
        unless = tuple(
            self.why(one, depth) if rests.label[one] == IN else self.why_not(one, depth)
            for one in rests.out[rule]
            if rests.label[one] != OUT
        )
        return Failed(rule, self._because[rule], missing=missing, unless=unless)

    def _is_told(self, node: int, depth: int) -> bool:
        if node in self._told or depth >= MAX_DEPTH:
            return True
        self._told.add(node)
        return False
