"""The log's end, searched beside an index that has not taken it in.

A commit of LanceDB's costs some 20 ms, and each leaves a fragment that every later question looks into. So an index
takes in many records at once, and until then they are read from the log and searched in memory: the same rows and
vectors, the same answer. What a crash loses of it is read from the log again.
"""

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any, Final

import numpy as np

from braid.ledger.read.reader import Reader
from braid.recall.memory import K1, B, MemoryIndex, admits
from braid.recall.pool import heard
from braid.text.words import stem, telling
from braid.views.embedder import Embedder, EmbeddingError, embedded
from braid.views.lance.card import rounded
from braid.views.lance.rows import row_of
from braid.views.search import SEMANTIC, Fetched, Index, IndexHit, Row, Where

MOST: Final = 128
"""How many records an index may lack before it takes them in."""
_CHANGES: Final = frozenset(("embedding", "key", "tombstone"))
"""Kinds of records that change how earlier ones are found: an index takes them in at once."""
_COMPARED: Final = 40
"""How many of an index's hits show what it gives for each word."""
_RIDGE: Final = 0.01
"""What keeps a word that few of these hold near the rarity that it has by itself."""


class Tail:
    """The rows of the log's end for one store, kept from question to question. Safe to share between threads."""

    def __init__(self) -> None:
        self._turn = Lock()
        self._key: object = None
        self._start = self._stop = 0
        self._rows: list[Row] = []
        self._vectors: dict[int, Any] = {}

    def over(self, index: Index, reader: Reader, embedder: Embedder | None) -> Index | None:
        """Return the index with the records that it lacks before it; None where it must take them in itself: because
        they change what is in it, because they are too many, or because their meaning can't be had here and now.
        """
        size = reader.size
        if index.position >= size:
            return index
        model = "" if embedder is None else f"{embedder.name}@{embedder.version}"
        if size - index.position > MOST or index.model != model or (embedder is not None and embedder.remote):
            return None
        with self._turn:
            self._begin_at(index.position, (model, reader.origin))
            if not self._read_on(reader, size, embedder):
                return None
            tail = MemoryIndex(self._rows, self._vectors, position=size, model=model)
        return TailedIndex(index, tail)

    def _begin_at(self, position: int, key: object) -> None:
        """Drop what the index holds by now; begin again where it isn't the one that was followed."""
        if key != self._key or not self._start <= position <= self._stop:
            self._key, self._start, self._stop = key, position, position
            self._rows, self._vectors = [], {}
        elif position > self._start:
            self._start = position
            self._rows = [row for row in self._rows if row.index >= position]
            self._vectors = {
                row.index: self._vectors[row.index] for row in self._rows if row.index in self._vectors
            }

    def _read_on(self, reader: Reader, size: int, embedder: Embedder | None) -> bool:
        """Take in what was appended since; False for a record that changes earlier ones."""
        rows: list[Row] = []
        for entries in reader.entries(self._stop, size):
            for record, _ in entries:
                if record.kind in _CHANGES:
                    return False
                if (row := row_of(record)) is not None:
                    rows.append(row)
        said = [row for row in rows if row.text]
        if embedder is not None and said:
            try:
                vectors = embedded(embedder, [row.text for row in said])
            except EmbeddingError:
                return False
            self._vectors.update(zip((row.index for row in said), vectors, strict=True))
        self._rows += rows
        self._stop = size
        return True


class TailedIndex:
    """An index and the records behind its position. It satisfies `views.search.Index`."""

    def __init__(self, index: Index, tail: MemoryIndex) -> None:
        self._index = index
        self._tail = tail
        self._from = index.position
        self.position = tail.position
        self.model = index.model
        self.pending = index.pending

    def nearest(
        self, vector: Any, role: str | Sequence[str] = SEMANTIC, k: int = 10, where: Where | None = None
    ) -> list[IndexHit]:
        return _best(
            [*self._index.nearest(vector, role, k, where), *self._tail.nearest(vector, role, k, where)], k
        )

    def words(self, text: str, k: int = 10, where: Where | None = None) -> list[IndexHit]:
        """See `Index.words`. Those of the tail are given the scores that the index would give them."""
        there = self._index.words(text, k, where)
        here = [row for row in self._tail.rows() if admits(where or Where(), row)]
        stems = list(dict.fromkeys(stem(word) for word in telling(text)))
        if not here or not stems:
            return there
        shown = there[:_COMPARED]
        rows = self._index.both([hit.index for hit in shown]).rows
        known = [(rows[hit.index].text, hit.score) for hit in shown if hit.index in rows]
        scores = scored_alike([row.text for row in here], known, stems, self._from)
        ours = [IndexHit(row.index, score) for row, score in zip(here, scores, strict=True) if score > 0]
        return _best([*there, *ours], k)

    def rows(self, where: Where | None = None) -> Iterator[Row]:
        yield from self._index.rows(where)
        yield from self._tail.rows(where)

    def take(self, indexes: Sequence[int]) -> dict[int, Row]:
        return self._index.take(self._there(indexes)) | self._tail.take(indexes)

    def both(self, indexes: Sequence[int]) -> Fetched:
        there = self._there(indexes)
        rows, vectors = self._index.both(there) if there else Fetched({}, {})
        ours = {index: rounded(vector) for index, vector in self._tail.vectors(indexes).items()}
        return Fetched(rows | self._tail.take(indexes), vectors | ours)

    def vectors(self, indexes: Sequence[int], role: str | Sequence[str] = SEMANTIC) -> dict[int, Any]:
        return self._index.vectors(self._there(indexes), role) | self._tail.vectors(indexes, role)

    def _there(self, indexes: Sequence[int]) -> list[int]:
        return [index for index in indexes if index < self._from]


def _best(hits: list[IndexHit], k: int) -> list[IndexHit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.index))[:k]


def scored_alike(
    texts: Sequence[str], known: Sequence[tuple[str, float]], stems: Sequence[str], size: int
) -> list[float]:
    """Return the BM25 of texts that an index of `size` records lacks, on the scale of what it has scored (`known`).

    How rare each word is in it, it doesn't tell; but its scores do: they are a sum over the words, each weighed by its
    rarity. A word that none of its best hits has is in none of its records, or nearly so.
    """
    said = [heard(text).stems for text in (*texts, *(text for text, _ in known))]
    mean = max(sum(map(len, said)) / max(len(said), 1), 1e-9)
    each = np.array([[_saturated(found.count(one), len(found), mean) for one in stems] for found in said])
    ours, theirs = each[: len(texts)], each[len(texts) :]
    rarest = np.full(len(stems), np.log1p((size + 0.5) / 0.5))
    missing = np.array([score for _, score in known]) - theirs @ rarest
    square = theirs.T @ theirs + _RIDGE * np.eye(len(stems))
    rarity = np.clip(rarest + np.linalg.solve(square, theirs.T @ missing), 0.0, rarest)
    scores: list[float] = (ours @ rarity).tolist()
    return scores


def _saturated(times: int, length: int, mean: float) -> float:
    return times * (K1 + 1) / (times + K1 * (1 - B + B * length / mean)) if times else 0.0
