"""Which records link to a record: from what is kept of each span under its MAC, and from the log beyond (SPEC §9.6).

Nothing here is believed that a signed envelope does not say, and nothing can be left out: a row that somebody deletes
or puts into a projection changes no answer.
"""

from collections.abc import Iterable
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from braid.ledger.read import spans
from braid.ledger.read.lineage import ROLES, Gathered, Lineage, SpanEdges
from braid.ledger.record.envelope import DERIVATION_ROLES
from braid.ledger.record.standing import SUPERSEDES, supports_of

if TYPE_CHECKING:
    from braid.ledger.read.reader import Reader

_Back = tuple[int, str]
_PLACE: Final = {role: place for place, role in enumerate(ROLES)}


class _Run(NamedTuple):
    """Links sorted by what they lead to, in log order for each: three columns."""

    targets: Any
    children: Any
    roles: Any

    def of(self, index: int) -> list[_Back]:
        start, stop = np.searchsorted(self.targets, (index, index + 1)).tolist()
        children, roles = self.children[start:stop].tolist(), self.roles[start:stop].tolist()
        return [(child, ROLES[role]) for child, role in zip(children, roles, strict=True)]


class Backlinks:
    """The links of a log by the record that they lead to. Follows the log; safe to share between threads."""

    def __init__(self, reader: "Reader") -> None:
        self._reader = reader
        self._lineage = Lineage(reader)
        self._lock = RLock()
        self._runs: list[_Run] = []
        self._followed: int = 0
        """How many records have been looked at."""
        self._gathered = Gathered()
        """Of the span that is not whole yet."""
        self._open: dict[int, list[_Back]] = {}
        """The links of that span, and of spans with more than are kept."""
        self._superseding = 0

    def of(self, index: int) -> list[_Back]:
        """Return (log index, role) of every link to a record, in log order, up to the log's present end."""
        with self._lock:
            self._up_to_date()
            return [*(back for run in self._runs for back in run.of(index)), *self._open.get(index, ())]

    def every(self) -> tuple[Any, Any, Any]:
        """Return all links by the records that have them, in log order: whose (int64), roles (places in `ROLES`), and
        where they lead to (int64).
        """
        with self._lock:
            self._up_to_date()
            open_ = [
                (child, _PLACE[role], target) for target, backs in self._open.items() for child, role in backs
            ]
            loose = np.array(open_, np.int64).reshape(-1, 3)
            kept = [(run.children, run.roles, run.targets) for run in self._runs]
        columns = [
            np.concatenate([loose[:, n], *(run[n].astype(np.int64) for run in kept)]) for n in range(3)
        ]
        order = np.argsort(columns[0], kind="stable")
        return columns[0][order], columns[1][order], columns[2][order]

    @property
    def superseding(self) -> int:
        """How many links of role `supersedes` there are: while that stays, nothing new has replaced anything."""
        with self._lock:
            self._up_to_date()
            return self._superseding

    def _up_to_date(self) -> None:
        """Follow the log; where that breaks off, the next question begins again: what is half known is not known."""
        try:
            self._follow()
        except BaseException:
            self._forget()
            raise

    def _forget(self) -> None:
        self._runs = []
        self._followed = 0
        self._superseding = 0
        self._gathered = Gathered()
        self._open = {}

    def _follow(self) -> None:
        """Take in what came since: spans as they are kept, the rest from the log."""
        size, fresh = self._reader.size, list[tuple[int, SpanEdges]]()
        while self._followed < size:
            n = self._followed >> spans.SPAN_BITS
            kept = self._lineage.at(n) if self._followed == n << spans.SPAN_BITS else None
            if kept is None:
                fresh += self._read(self._stretch(n + 1, size))
            else:
                fresh.append((n, kept))
                self._superseding += int(np.count_nonzero(kept.links["role"] == _PLACE[SUPERSEDES]))
                self._followed = (n + 1) << spans.SPAN_BITS
        if fresh:
            self._runs.append(_sorted([_columns(n, edges) for n, edges in fresh]))
            while len(self._runs) > 1 and len(self._runs[-2].targets) <= 2 * len(self._runs[-1].targets):
                # As many runs as the logarithm of their links: each link is sorted that often at most.
                self._runs[-2:] = [_sorted(self._runs[-2:])]

    def _stretch(self, n: int, size: int) -> int:
        """Return where reading the log ends: where a span begins that is kept, and no frame goes on into it."""
        while n << spans.SPAN_BITS < size and (self._lineage.goes_on(n) or self._lineage.at(n) is None):
            n += 1
        return min(n << spans.SPAN_BITS, size)

    def _read(self, stop: int) -> list[tuple[int, SpanEdges]]:
        """Read the log up to `stop`; keep and return the spans that are whole by then."""
        n, whole = self._followed >> spans.SPAN_BITS, list[tuple[int, SpanEdges]]()
        for envelope, links in self._reader.envelopes(self._followed, stop, members=("links", "blobs")):
            while envelope.index >> spans.SPAN_BITS > n:
                whole += self._close_span(n)
                n += 1
            self._gathered.add(envelope, links)
            for link in links:
                self._open.setdefault(link.index, []).append((envelope.index, link.role))
                self._superseding += link.role == SUPERSEDES
        while (n + 1) << spans.SPAN_BITS <= stop:
            whole += self._close_span(n)
            n += 1
        self._followed = stop
        return whole

    def _close_span(self, n: int) -> list[tuple[int, SpanEdges]]:
        """Keep a span that is whole; one of too many links stays in memory instead."""
        edges, gathered = self._gathered.edges(), self._gathered
        self._gathered = Gathered()
        if edges is None:
            return []
        self._lineage.keep(n, gathered)
        first = n << spans.SPAN_BITS
        for target in np.unique(edges.links["target"]).tolist():
            left = [back for back in self._open.pop(target, ()) if back[0] < first]
            if left:  # of a span of too many links
                self._open[target] = left
        return [(n, edges)]


def _columns(n: int, edges: SpanEdges) -> _Run:
    links = edges.links
    return _Run(links["target"], links["child"].astype(np.uint64) + (n << spans.SPAN_BITS), links["role"])


def _sorted(runs: list[_Run]) -> _Run:
    targets, children, roles = (np.concatenate(columns) for columns in zip(*runs, strict=True))
    order = np.argsort(targets, kind="stable")
    return _Run(targets[order], children[order], roles[order])


class SignedEdges:
    """What a log's envelopes say of a record's supports and superseders. Implements `standing.Edges`."""

    def __init__(self, reader: "Reader", backlinks: Backlinks) -> None:
        self._reader = reader
        self._backlinks = backlinks
        self._supports: dict[int, list[int]] = {}
        self._superseders: dict[int, list[int]] = {}

    def supports(self, index: int) -> list[int]:
        if index not in self._supports:
            self._supports[index] = supports_of(self._reader.links(index))
        return self._supports[index]

    def superseders(self, index: int) -> list[int]:
        if index not in self._superseders:
            found = [child for child, role in self._backlinks.of(index) if role == SUPERSEDES]
            kind = self._reader.envelope(index).kind if found else ""
            self._superseders[index] = [child for child in found if self._reader.envelope(child).kind == kind]
        return self._superseders[index]


def affected(reader: "Reader", changed: Iterable[int]) -> set[int]:
    """Return the records whose standing may have changed with that of others, these among them: what they supersede,
    and what rests on them, as far as that leads.
    """
    found: set[int] = set()
    stack = list(changed)
    while stack:
        at = stack.pop()
        if at in found:
            continue
        found.add(at)
        stack += [link.index for link in reader.links(at) if link.role == SUPERSEDES]
        stack += [child for child, role in reader.backlinks.of(at) if role in DERIVATION_ROLES]
    return found
