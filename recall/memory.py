"""A search index in memory, exact and small: for stores of a few thousand records, for measuring, and as the second
implementation that the contract of `views.search.Index` is held by.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from braid.ledger.record.scope import in_scope
from braid.recall.pool import heard, session_of
from braid.text.words import stem, telling
from braid.views.search import PROMPT, RESPONSE, SEMANTIC, Fetched, IndexHit, Row, Where

K1, B = 1.2, 0.75


def admits(where: Where, row: Row) -> bool:
    """Say whether a row satisfies what is asked of it: scopes first, and no field stands in for another."""
    return (
        in_scope(row, where)
        and (where.below is None or row.index < where.below)
        and (where.since_us is None or row.happened_us >= where.since_us)
        and (where.until_us is None or row.happened_us < where.until_us)
        and (where.among is None or row.index in where.among)
    )


class MemoryIndex:
    """Rows and their vectors, searched one by one. It satisfies `views.search.Index`."""

    def __init__(
        self, rows: Sequence[Row], vectors: Mapping[int, Any], *, position: int, model: str = ""
    ) -> None:
        """`vectors` by log index; a row without one is found by its words alone."""
        self._rows = {row.index: row for row in sorted(rows, key=lambda row: row.index)}
        self._vectors = dict(vectors)
        self._before: dict[int, int] = {}
        last: dict[object, int] = {}
        for index, row in self._rows.items():
            if (earlier := last.get(session_of(row))) is not None:
                self._before[index] = earlier
            last[session_of(row)] = index
        self._after = {earlier: later for later, earlier in self._before.items()}
        self.position = position
        self.model = model
        self.pending = len(self._rows.keys() - self._vectors.keys()) if model else 0

    def nearest(
        self, vector: Any, role: str | Sequence[str] = SEMANTIC, k: int = 10, where: Where | None = None
    ) -> list[IndexHit]:
        roles = {role} if isinstance(role, str) else set(role)
        asked = np.asarray(vector, dtype=np.float32)
        held = [
            index
            for index, row in self._rows.items()
            if index in self._vectors and _role(row) in roles and admits(where or Where(), row)
        ]
        if not held:
            return []
        scores = np.stack([self._vectors[index] for index in held]) @ asked
        return _best(dict(zip(held, scores.tolist(), strict=True)), k)

    def words(self, text: str, k: int = 10, where: Where | None = None) -> list[IndexHit]:
        stems = {stem(word) for word in telling(text)}
        said = {
            index: heard(row.text).stems for index, row in self._rows.items() if admits(where or Where(), row)
        }
        if not said or not stems:
            return []
        mean = max(sum(map(len, said.values())) / len(said), 1e-9)
        scores = dict.fromkeys(said, 0.0)
        for each in stems:
            having = {index: times for index, found in said.items() if (times := found.count(each))}
            rarity = np.log1p((len(said) - len(having) + 0.5) / (len(having) + 0.5))
            for index, times in having.items():
                norm = K1 * (1 - B + B * len(said[index]) / mean)
                scores[index] += float(rarity) * times * (K1 + 1) / (times + norm)
        return _best({index: score for index, score in scores.items() if score > 0}, k)

    def rows(self, where: Where | None = None) -> Iterator[Row]:
        return (row for row in self._rows.values() if admits(where or Where(), row))

    def before(self, indexes: Sequence[int]) -> dict[int, int]:
        """Return the row before each of these in its session: every row here counts as a turn."""
        return {index: self._before[index] for index in indexes if index in self._before}

    def after(self, indexes: Sequence[int]) -> dict[int, int]:
        """Return the row after each of these in its session."""
        return {index: self._after[index] for index in indexes if index in self._after}

    def take(self, indexes: Sequence[int]) -> dict[int, Row]:
        return {index: self._rows[index] for index in indexes if index in self._rows}

    def both(self, indexes: Sequence[int]) -> Fetched:
        return Fetched(self.take(indexes), self.vectors(indexes))

    def vectors(self, indexes: Sequence[int], role: str | Sequence[str] = SEMANTIC) -> dict[int, Any]:
        roles = {role} if isinstance(role, str) else set(role)
        return {
            index: self._vectors[index]
            for index in indexes
            if index in self._vectors and index in self._rows and _role(self._rows[index]) in roles
        }


def _role(row: Row) -> str:
    return PROMPT if row.speaker == "user" else RESPONSE


def _best(scores: Mapping[int, float], k: int) -> list[IndexHit]:
    by_fitness: Callable[[int], tuple[float, int]] = lambda index: (-scores[index], index)  # noqa: E731
    return [IndexHit(index, scores[index]) for index in sorted(scores, key=by_fitness)[:k]]
