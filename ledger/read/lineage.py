"""Lineage: which records of a span link to which, kept so that nobody reads an envelope twice (SPEC §9.6).

It may be believed that nothing is missing and nothing put in (`spans`).
"""

from collections.abc import Generator, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from braid.ledger.read import spans
from braid.ledger.read.gathered import PLACES, ROLES, Gathered
from braid.ledger.read.spans import SpanContents, Spans
from braid.ledger.record.envelope import DERIVATION_ROLES, Envelope, Link

if TYPE_CHECKING:
    from braid.ledger.read.reader import Reader

DENSE: Final = 256
"""From so many hits in a span on, reading it through is sooner done than reading them one by one."""
What = Literal["support", "blob"]
DERIVES: Final = np.array([role in DERIVATION_ROLES for role in ROLES])
_MAGIC: Final = b"BRAIDLN2"
_LINK: Final = np.dtype([("child", "<u2"), ("role", "u1"), ("target", "<u8")])
_BLOB: Final = np.dtype([("child", "<u2"), ("target", "<u8")])
_Found = tuple[Envelope, list[Link]]


class SpanEdges(NamedTuple):
    """What the records of a span name, by kind, in log order: `child` counts from the span's first record."""

    links: Any
    """Structured array; `role` is a place in `ROLES`, `target` the log index of what the link leads to."""
    blobs: Any
    """Structured array; `target` is the number of a blob's name (`number_of`)."""

    def count(self, role: str) -> int:
        """Return how many links have a role."""
        return int(np.count_nonzero(self.links["role"] == PLACES[role]))

    def of(self, what: What) -> Any:
        """Return the edges that a search goes by: the derivation links, or the blobs."""
        return self.links[DERIVES[self.links["role"]]] if what == "support" else self.blobs


def _edges_of(gathered: Gathered) -> SpanEdges | None:
    """Return what was gathered of a span, as it is kept; None where it is too much to be kept."""
    if gathered.is_too_much:
        return None
    return SpanEdges(_table(_LINK, gathered.links), _table(_BLOB, gathered.blobs))


def _table(of: Any, columns: Sequence[Any]) -> Any:
    table = np.empty(len(columns[0]), of)
    for name, column in zip(of.names, columns, strict=True):
        table[name] = column
    return table


def _naming(table: Any, wanted: set[int]) -> list[int]:
    """Return the children that name one of `wanted`, once each."""
    targets = table["target"]
    if len(wanted) < len(targets):
        named = np.isin(targets, np.fromiter(wanted, np.uint64, len(wanted)))
    else:  # each span costs by its edges, however much is erased
        named = np.fromiter(map(wanted.__contains__, targets.tolist()), np.bool_, len(targets))
    children: list[int] = np.unique(table["child"][named]).tolist()
    return children


class Lineage:
    """The kept lineage of one log. Without a vault, or where nothing can be written, the log is read instead."""

    def __init__(self, reader: "Reader") -> None:
        self._reader = reader
        self._spans = Spans(reader, _MAGIC, (_LINK, _BLOB))

    def naming(self, what: What, wanted: set[int], start: int = 0) -> Iterator[_Found]:
        """Yield, in log order and verified, every record from `start` on that may name one of `wanted`: with its links.

        Others may be among them. `wanted` may grow by the index of the record that was just yielded: those that rest on
        it are found too.
        """
        n, stop = start >> spans.SPAN_BITS, self._reader.size
        while n << spans.SPAN_BITS < stop:
            table, rest, end = self._few(n, what, wanted), start, n + 1
            if table is not None:
                rest = yield from self._one_by_one(n, table, wanted, grows=what == "support")
            if rest >> spans.SPAN_BITS < end:
                while end << spans.SPAN_BITS < stop and (
                    self.goes_on(end) or self._few(end, what, wanted) is None
                ):
                    end += 1
                yield from self._through(n, min(end << spans.SPAN_BITS, stop), rest)
            n = end

    def goes_on(self, n: int) -> bool:
        """Whether a span begins within a transaction that fills the one before: the frame is in hand, and read once."""
        return self._reader.envelope(n << spans.SPAN_BITS).tx[1] >= 1 << spans.SPAN_BITS

    def _few(self, n: int, what: What, wanted: set[int]) -> Any:
        """Return the edges of a span, where few of them lead to `wanted`; None where it is sooner read through."""
        edges = self.at(n)
        if edges is None:
            return None
        table = edges.of(what)
        return None if len(_naming(table, wanted)) > DENSE else table

    def _one_by_one(
        self, n: int, table: Any, wanted: set[int], *, grows: bool
    ) -> Generator[_Found, None, int]:
        """Yield what the edges lead to; return the index from which on the span is sooner read through, or its end."""
        first, last, left = n << spans.SPAN_BITS, -1, DENSE
        children = _naming(table, wanted)
        heapify(children)
        while children:
            child = heappop(children)
            if child == last:
                continue
            last, index = child, first + child
            if not left:  # a long chain within the span
                return index
            left -= 1
            yield self._reader.envelope(index), self._reader.links(index)
            if grows and index in wanted:
                for later in table["child"][table["target"] == index].tolist():
                    heappush(children, later)
        return first + (1 << spans.SPAN_BITS)

    def _through(self, n: int, stop: int, start: int) -> Iterator[_Found]:
        """Read the envelopes from span `n` to `stop`, and keep the lineage of each whole span."""
        gathered = Gathered()
        for envelope, links in self._reader.envelopes(n << spans.SPAN_BITS, stop, members=("links", "blobs")):
            while envelope.index >> spans.SPAN_BITS > n:
                self.keep(n, gathered)
                n, gathered = n + 1, Gathered()
            gathered.add(envelope, links)
            if envelope.index >= start:
                yield envelope, links
        while (n + 1) << spans.SPAN_BITS <= stop:
            self.keep(n, gathered)
            n, gathered = n + 1, Gathered()

    # -- files -------------------------------------------------------------------------------------

    def at(self, n: int) -> SpanEdges | None:
        """Return what is kept of a span that is whole; None where that is nothing to be believed."""
        kept = self._spans.read(n)
        return None if kept is None or kept.records < 1 << spans.SPAN_BITS else SpanEdges(*kept.tables)

    def keep(self, n: int, gathered: Gathered) -> SpanEdges | None:
        """Write down what the envelopes of a whole span name, and return it; None where it is too much to be kept."""
        edges = _edges_of(gathered)
        if edges is not None:
            self._spans.write(n, SpanContents(1 << spans.SPAN_BITS, list(edges)))
        return edges
