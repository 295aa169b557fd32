"""Rows and vectors that were fetched lately, kept in memory: records don't change, and questions meet the same ones.

What a shelf holds never outlives a change in what is forgotten or erased: then it is emptied.
"""

from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Any, Final

from braid.views.search import SEMANTIC, Hit, Index, Row, Where

MOST: Final = 20_000


class Shelf:
    """Rows and vectors by log index, for one store: at most `MOST` of each. Safe to share between threads."""

    def __init__(self, seen: Callable[[], object]) -> None:
        """`seen` returns what changes when something is forgotten, recovered or erased."""
        self._seen = seen
        self._turn = Lock()
        self._key: object = None
        self.rows: dict[int, Row] = {}
        self.vectors: dict[int, Any] = {}

    def over(self, index: Index) -> "ShelvedIndex":
        """Return the index with this shelf before it."""
        key = (index.model, self._seen())
        with self._turn:
            if key != self._key:
                self.rows, self.vectors, self._key = {}, {}, key
            return ShelvedIndex(index, self.rows, self.vectors)


class ShelvedIndex:
    """An index that fetches each row and vector once. It satisfies `views.search.Index`."""

    def __init__(self, index: Index, rows: dict[int, Row], vectors: dict[int, Any]) -> None:
        self._index = index
        self._rows = rows
        self._vectors = vectors
        self.position = index.position
        self.model = index.model

    def nearest(
        self, vector: Any, role: str | Sequence[str] = SEMANTIC, k: int = 10, where: Where | None = None
    ) -> list[Hit]:
        """See `Index.nearest`."""
        return self._index.nearest(vector, role, k, where)

    def words(self, text: str, k: int = 10, where: Where | None = None) -> list[Hit]:
        """See `Index.words`."""
        return self._index.words(text, k, where)

    def rows(self, where: Where | None = None) -> Iterator[Row]:
        """See `Index.rows`."""
        return self._index.rows(where)

    def take(self, indexes: Sequence[int]) -> dict[int, Row]:
        """See `Index.take`."""
        return _through(self._rows, indexes, self._index.take)

    def vectors(self, indexes: Sequence[int], role: str | Sequence[str] = SEMANTIC) -> dict[int, Any]:
        """See `Index.vectors`."""
        if role != SEMANTIC:
            return self._index.vectors(indexes, role)
        return _through(self._vectors, indexes, self._index.vectors)


def _through(
    held: dict[int, Any], indexes: Sequence[int], fetch: Callable[[list[int]], dict[int, Any]]
) -> dict[int, Any]:
    found = {at: value for at in indexes if (value := held.get(at)) is not None}
    if len(found) < len(indexes):
        fetched = fetch([at for at in indexes if at not in found])
        if len(held) + len(fetched) > MOST:
            held.clear()
        held.update(fetched)
        found |= fetched
    return found
