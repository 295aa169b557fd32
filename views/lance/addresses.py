"""Where rows lie in the table: LanceDB finds one by its address in half the time that it takes by its log index.

A fragment is never written again, and its number is not given twice: an address holds one row for as long as its set
exists, so what was read once stays true. A row that was moved since, by an update or a compaction, is not found at its
old address; it is looked for by its log index, and after enough of these all addresses are read again.
"""

from collections.abc import Sequence
from threading import Lock
from typing import Any, Final, NamedTuple

import numpy as np

from braid.views.lance.arrow import numbers
from braid.views.lance.table import Table
from braid.views.lance.view import told_as_damage

_ROWS_A_MISS: Final = 10_000
"""A search that must do without addresses loses about as much time as it takes to read so many of them (measured: 2 to
4 ms). So reading them never costs more than had been lost without them."""


class Located(NamedTuple):
    """Where records lie, as far as it is known. What has no row at all is in neither."""

    addresses: dict[int, int]
    """By log index."""
    unknown: list[int]
    """Log indexes of records that came after the addresses were read."""


class Stretches:
    """Log index ↔ address, in stretches of rows that follow each other in both: few, unless other kinds of records lie
    between them.
    """

    def __init__(self, indexes: Any, addresses: Any) -> None:
        """Both are int64[n]; neither holds a value twice."""
        order = np.argsort(addresses)
        indexes, addresses = indexes[order], addresses[order]
        apart = (np.diff(indexes) != 1) | (np.diff(addresses) != 1)
        begins = np.flatnonzero(np.append(np.ones(min(len(indexes), 1), dtype=bool), apart))
        self._lengths = np.diff(np.append(begins, len(indexes)))
        self._addresses = addresses[begins]
        self._indexes = indexes[begins]
        self._by_index = np.argsort(self._indexes)
        self.end = int(indexes.max(initial=-1)) + 1
        """One more than the last log index."""

    def indexes(self, addresses: Any) -> Any:
        """Return int64[n], the log index of the row at each address; -1 where it isn't known."""
        return _mapped(addresses, self._addresses, self._indexes, self._lengths)

    def addresses(self, indexes: Any) -> Any:
        """Return int64[n], the address of the row of each log index; -1 where it isn't known."""
        at = self._by_index
        return _mapped(indexes, self._indexes[at], self._addresses[at], self._lengths[at])


def _mapped(wanted: Any, begins: Any, others: Any, lengths: Any) -> Any:
    if not len(begins):
        return np.full(len(wanted), -1)
    at = (begins.searchsorted(wanted, side="right") - 1).clip(0)
    steps = wanted - begins[at]
    return np.where((steps >= 0) & (steps < lengths[at]), others[at] + steps, -1)


class Addresses:
    """The addresses of one set, read once that is worth its time. Safe to share between threads."""

    def __init__(self) -> None:
        self._reading = Lock()
        self._held: Stretches | None = None
        self._missed = 0.0

    @property
    def known(self) -> bool:
        """Whether there are any."""
        return self._held is not None

    def of(self, indexes: Sequence[int]) -> Located:
        """Return where these records lie."""
        held = self._held
        if held is None:
            return Located({}, list(indexes))
        found = held.addresses(np.array(indexes, dtype=np.int64)).tolist()
        there = {index: address for index, address in zip(indexes, found, strict=True) if address >= 0}
        return Located(there, [index for index in indexes if index >= held.end])

    def indexes(self, table: Table, addresses: Any) -> Sequence[int]:
        """Return the log index of the row at each of these addresses, which a search of the table gave."""
        held = self._held
        found = np.full(len(addresses), -1) if held is None else held.indexes(addresses)
        unknown = addresses[found < 0].tolist()
        if unknown:
            with told_as_damage("read"):
                read = table.at(unknown, ["log_index"])
            known = dict(zip(read["_rowid"].to_pylist(), read["log_index"].to_pylist(), strict=True))
            found[found < 0] = [known[address] for address in unknown]
            self.miss(table, len(unknown) / len(addresses))
        indexes: list[int] = found.tolist()
        return indexes

    def miss(self, table: Table, share: float) -> None:
        """Note that a search had to do without this share of its addresses; read all again where that is worth it.

        Whoever comes while they are read goes on without.
        """
        self._missed += share
        if not self._reading.acquire(blocking=False):
            return
        try:
            with told_as_damage("read"):
                if self._missed * _ROWS_A_MISS >= table.count():
                    self._held, self._missed = _read(table), 0.0
        finally:
            self._reading.release()


def _read(table: Table) -> Stretches:
    """Read where the first row of each record lies: only signatures have more than one, and nobody asks for these."""
    rows = table.rows("k = 0", ["log_index"], addressed=True)
    return Stretches(numbers(rows["log_index"]), numbers(rows["_rowid"]))
