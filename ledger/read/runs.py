"""Links of whole spans, sorted by what they lead to, in runs that are merged as they grow."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from braid.ledger.read import spans
from braid.ledger.read.gathered import PLACES, ROLES
from braid.ledger.read.lineage import SpanEdges

Back = tuple[int, str]
"""A link as seen from where it leads to: the log index of who has it, and its role."""


class _Run(NamedTuple):
    """Links sorted by what they lead to, in log order for each: three columns."""

    targets: Any
    children: Any
    roles: Any

    def of(self, index: int) -> list[Back]:
        start, stop = np.searchsorted(self.targets, (index, index + 1)).tolist()
        children, roles = self.children[start:stop].tolist(), self.roles[start:stop].tolist()
        return [(child, ROLES[role]) for child, role in zip(children, roles, strict=True)]


class Runs:
    """The links of the spans of a log that are whole."""

    def __init__(self) -> None:
        self._runs: list[_Run] = []

    def add(self, fresh: Iterable[tuple[int, SpanEdges]]) -> None:
        """Take in spans, each later than those before."""
        self._runs.append(_sorted([_columns(n, edges) for n, edges in fresh]))
        while len(self._runs) > 1 and len(self._runs[-2].targets) <= 2 * len(self._runs[-1].targets):
            # As many runs as the logarithm of their links: each link is sorted that often at most.
            self._runs[-2:] = [_sorted(self._runs[-2:])]

    def of(self, index: int) -> list[Back]:
        """Return (log index, role) of every link to a record, in log order."""
        return [back for run in self._runs for back in run.of(index)]

    def with_open(self, open_: Mapping[int, Iterable[Back]]) -> tuple[Any, Any, Any]:
        """Return these links and those of an open span, by the records that have them, in log order: whose (int64),
        roles (places in `ROLES`), and where they lead to (int64).
        """
        listed = [(child, PLACES[role], target) for target, backs in open_.items() for child, role in backs]
        loose = np.array(listed, np.int64).reshape(-1, 3)
        kept = [(run.children, run.roles, run.targets) for run in self._runs]
        columns = [
            np.concatenate([loose[:, n], *(run[n].astype(np.int64) for run in kept)]) for n in range(3)
        ]
        order = np.argsort(columns[0], kind="stable")
        return columns[0][order], columns[1][order], columns[2][order]


def _columns(n: int, edges: SpanEdges) -> _Run:
    links = edges.links
    return _Run(links["target"], links["child"].astype(np.uint64) + (n << spans.SPAN_BITS), links["role"])


def _sorted(runs: list[_Run]) -> _Run:
    targets, children, roles = (np.concatenate(columns) for columns in zip(*runs, strict=True))
    order = np.argsort(targets, kind="stable")
    return _Run(targets[order], children[order], roles[order])
