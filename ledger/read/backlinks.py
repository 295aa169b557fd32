"""Which records link to a record: from what is kept of each span under its MAC, and from the log beyond (SPEC §9.6).

Nothing here is believed that a signed envelope does not say, and nothing can be left out: a row that somebody deletes
or puts into a projection changes no answer.
"""

from collections.abc import Iterable
from threading import RLock
from typing import TYPE_CHECKING, Any

from braid.ledger.read import spans
from braid.ledger.read.gathered import Gathered
from braid.ledger.record.envelope import DERIVATION_ROLES
from braid.ledger.record.standing import SUPERSEDES, supports_of

if TYPE_CHECKING:
    from braid.ledger.read.lineage import Lineage, SpanEdges
    from braid.ledger.read.reader import Reader
    from braid.ledger.read.runs import Back, Runs


class Backlinks:
    """The links of a log by the record that they lead to. Follows the log; safe to share between threads."""

    def __init__(self, reader: "Reader") -> None:
        self._reader = reader
        self._lock = RLock()
        self._kept: Runs | None = None
        """Of spans that are whole: none of a small log, which so needs no numpy."""
        self._spans: Lineage | None = None
        self._followed: int = 0
        """How many records have been looked at."""
        self._gathered = Gathered()
        """Of the span that is not whole yet."""
        self._open: dict[int, list[Back]] = {}
        """The links of that span, and of spans with more than are kept."""
        self._superseding = 0

    def of(self, index: int) -> "list[Back]":
        """Return (log index, role) of every link to a record, in log order, up to the log's present end."""
        with self._lock:
            self._up_to_date()
            kept = self._kept.of(index) if self._kept is not None else []
            return [*kept, *self._open.get(index, ())]

    def every(self) -> tuple[Any, Any, Any]:
        """Return all links by the records that have them, in log order: whose (int64), roles (places in `ROLES`), and
        where they lead to (int64).
        """
        with self._lock:
            self._up_to_date()
            return self._runs().with_open(self._open)

    @property
    def superseding(self) -> int:
        """How many links of role `supersedes` there are: while that stays, nothing new has replaced anything."""
        with self._lock:
            self._up_to_date()
            return self._superseding

    # numpy is loaded with these two, for .05 s: by a log with a span that is whole.

    def _lineage(self) -> "Lineage":
        from braid.ledger.read.lineage import Lineage  # noqa: PLC0415 - see above

        self._spans = self._spans or Lineage(self._reader)
        return self._spans

    def _runs(self) -> "Runs":
        from braid.ledger.read.runs import Runs  # noqa: PLC0415 - see above

        self._kept = self._kept or Runs()
        return self._kept

    def _up_to_date(self) -> None:
        """Follow the log; where that breaks off, the next question begins again: what is half known is not known."""
        try:
            self._follow()
        except BaseException:
            self._forget()
            raise

    def _forget(self) -> None:
        self._kept = None
        self._followed = 0
        self._superseding = 0
        self._gathered = Gathered()
        self._open = {}

    def _follow(self) -> None:
        """Take in what came since: spans as they are kept, the rest from the log."""
        size, fresh = self._reader.size, list["tuple[int, SpanEdges]"]()
        while self._followed < size:
            n = self._followed >> spans.SPAN_BITS
            starts_whole = self._followed == n << spans.SPAN_BITS and (n + 1) << spans.SPAN_BITS <= size
            kept = self._lineage().at(n) if starts_whole else None
            if kept is None:
                fresh += self._read(self._stretch(n + 1, size))
            else:
                fresh.append((n, kept))
                self._superseding += kept.count(SUPERSEDES)
                self._followed = (n + 1) << spans.SPAN_BITS
        if fresh:
            self._runs().add(fresh)

    def _stretch(self, n: int, size: int) -> int:
        """Return where reading the log ends: where a span begins that is kept, and no frame goes on into it."""
        while n << spans.SPAN_BITS < size and (self._lineage().goes_on(n) or self._lineage().at(n) is None):
            n += 1
        return min(n << spans.SPAN_BITS, size)

    def _read(self, stop: int) -> "list[tuple[int, SpanEdges]]":
        """Read the log up to `stop`; keep and return the spans that are whole by then."""
        n, whole = self._followed >> spans.SPAN_BITS, list["tuple[int, SpanEdges]"]()
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

    def _close_span(self, n: int) -> "list[tuple[int, SpanEdges]]":
        """Keep a span that is whole; one of too many links stays in memory instead."""
        edges = self._lineage().keep(n, self._gathered)
        self._gathered = Gathered()
        if edges is None:
            return []
        first = n << spans.SPAN_BITS
        for target in set(edges.links["target"].tolist()):
            left = [back for back in self._open.pop(target, ()) if back[0] < first]
            if left:  # of a span of too many links
                self._open[target] = left
        return [(n, edges)]


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
