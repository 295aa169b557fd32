"""Rows and vectors that were fetched lately, kept in memory: records don't change, and questions meet the same ones.

What a shelf holds never outlives a change in what is forgotten or erased: then it is emptied.
"""

from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Any, Final

from braid.recall.tail import Tail
from braid.views.search import SEMANTIC, Fetched, Index, IndexHit, Row, Where

MOST: Final = 20_000
Held = dict[int, tuple[Row, Any | None]]
"""Log index → its row, and its vector where it has one."""


class RowCache:
    """Rows with their vectors by log index, for one store: at most `MOST`. Safe to share between threads."""

    def __init__(self, seen: Callable[[], object]) -> None:
        """`seen` returns what changes when something is forgotten, recovered or erased."""
        self._seen = seen
        self._turn = Lock()
        self._key: object = None
        self._held: Held = {}
        self.tail = Tail()

    def over(self, index: Index) -> "ShelvedIndex":
        """Return the index with this shelf before it: what it holds is kept for every state of the index."""
        key = (index.model, self._seen())
        with self._turn:
            if key != self._key:
                self._held, self._key = {}, key
            return ShelvedIndex(index, self._held)


class ShelvedIndex:
    """An index that fetches each row with its vector once. It satisfies `views.search.Index`."""

    def __init__(self, index: Index, held: Held) -> None:
        self._index = index
        self._held = held
        self.position = index.position
        self.model = index.model
        self.pending = index.pending

    def nearest(
        self, vector: Any, role: str | Sequence[str] = SEMANTIC, k: int = 10, where: Where | None = None
    ) -> list[IndexHit]:
        return self._index.nearest(vector, role, k, where)

    def words(self, text: str, k: int = 10, where: Where | None = None) -> list[IndexHit]:
        return self._index.words(text, k, where)

    def rows(self, where: Where | None = None) -> Iterator[Row]:
        return self._index.rows(where)

    def take(self, indexes: Sequence[int]) -> dict[int, Row]:
        return self._index.take(indexes)

    def vectors(self, indexes: Sequence[int], role: str | Sequence[str] = SEMANTIC) -> dict[int, Any]:
        return self._index.vectors(indexes, role)

    def both(self, indexes: Sequence[int]) -> Fetched:
        """See `Index.both`. A row that waits for its vector is asked for again."""
        found = {at: held for at in indexes if (held := self._held.get(at)) is not None}
        if len(found) < len(indexes):
            rows, vectors = self._index.both([at for at in indexes if at not in found])
            fetched = {at: (row, vectors.get(at)) for at, row in rows.items()}
            if len(self._held) + len(fetched) > MOST:
                self._held.clear()
            self._held.update({at: held for at, held in fetched.items() if not held[0].pending})
            found |= fetched
        return Fetched(
            {at: row for at, (row, _) in found.items()},
            {at: vector for at, (_, vector) in found.items() if vector is not None},
        )
