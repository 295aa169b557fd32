"""The naive labeller: the well-founded model as its definition has it, by the alternating fixpoint (Van Gelder 1989).

Shares nothing with the product. Least models of reducts, from below and above in turns, until nothing changes.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Rule(NamedTuple):
    head: str
    inn: frozenset[str]
    out: frozenset[str]


def least_model(rules: Sequence[Rule], held: frozenset[str]) -> frozenset[str]:
    """Return what follows when exactly `held` is taken to hold wherever an out-list asks."""
    true: set[str] = set()
    while True:
        more = {rule.head for rule in rules if rule.inn <= true and not rule.out & held} - true
        if not more:
            return frozenset(true)
        true |= more


def label(rules: Iterable[Rule], nodes: Iterable[str]) -> dict[str, str]:
    """Return `in`, `out` or `undecided` for every node."""
    rules = list(rules)
    surely: frozenset[str] = frozenset()
    while True:
        perhaps = least_model(rules, surely)
        more = least_model(rules, perhaps)
        if more == surely:
            break
        surely = more
    return {node: "in" if node in surely else "undecided" if node in perhaps else "out" for node in nodes}
