"""Vectors of single words, each asked of the model once: what lets "kids" meet "children"."""

from collections.abc import Sequence
from itertools import chain
from threading import RLock
from typing import Any, Final

import numpy as np

from braid.views.embedder import Embedder

MOST: Final = 60_000
_BLOCK: Final = 200_000
"""Up to so many multiplications OpenBLAS works on the thread that asks. Waking its others, and having them wait in a
loop for more, takes longer than all that a question needs (measured: 40 ms of two cores against 1 ms of one)."""


class Vocabulary:
    """Word vectors of one local embedder, kept in memory: at most `MOST` of them. Safe to share between threads."""

    def __init__(self, embedder: Embedder) -> None:
        """`embedder` must answer at once: a remote model is no vocabulary."""
        self._embedder = embedder
        self._places: dict[str, int] = {}
        self._vectors = np.zeros((0, embedder.dimensions), dtype=np.float32)
        self._turn = RLock()

    def __call__(self, words: Sequence[str]) -> Any:
        """Return float32[n, d], one unit vector a word."""
        with self._turn:
            places = self._placed(words)  # first: it may move the vectors
            return self._vectors[places]

    def nearest(self, words: Sequence[str], spoken: Sequence[Sequence[str]]) -> Any:
        """Return float32[n, m]: for each of n lists of words, the cosine of its nearest to each of m words; -1 for an
        empty list.
        """
        found = np.full((len(spoken), len(words)), -1.0, dtype=np.float32)
        filled = [at for at, each in enumerate(spoken) if each]
        if not filled or not words:
            return found
        with self._turn:
            asked = self(words)
            whole = self._placed(list(chain.from_iterable(spoken)))
            met = np.zeros(len(self._places), dtype=np.int32)
            met[whole] = 1
            each_once = np.flatnonzero(met)
            met[each_once] = np.arange(len(each_once), dtype=np.int32)
            cosines = _product(self._vectors[each_once], asked)
        starts = np.cumsum([0, *(len(spoken[at]) for at in filled)])[:-1]
        found[filled] = np.maximum.reduceat(cosines[met[whole]], starts, axis=0)
        return found

    def _learn(self, words: Sequence[str]) -> None:
        """Ask the model for the words that are new; where there is no more room, begin anew with these."""
        new = [word for word in dict.fromkeys(words) if word not in self._places]
        if len(self._places) + len(new) > MOST:
            self._places = {}
            new = list(dict.fromkeys(words))
        if new:
            self._grow(self._embedder.embed(new))
            for word in new:
                self._places[word] = len(self._places)

    def _placed(self, words: Sequence[str]) -> Any:
        """Return int64[n], where the vectors of these words stand."""
        try:
            return np.fromiter(map(self._places.__getitem__, words), np.int64, len(words))
        except KeyError:
            self._learn(words)
        return np.fromiter(map(self._places.__getitem__, words), np.int64, len(words))

    def _grow(self, vectors: Any) -> None:
        """Add vectors behind the others; room is doubled, so that each is copied a few times at most."""
        held = len(self._places)
        if held + len(vectors) > len(self._vectors):
            room = np.zeros((2 * (held + len(vectors)), vectors.shape[1]), dtype=np.float32)
            room[:held] = self._vectors[:held]
            self._vectors = room
        self._vectors[held : held + len(vectors)] = vectors


def _product(vectors: Any, asked: Any) -> Any:
    """Return float32[n, m]: the dot product of each of n vectors with each of m."""
    rows = max(_BLOCK // max(asked.size, 1), 1)
    return np.concatenate([vectors[at : at + rows] @ asked.T for at in range(0, len(vectors), rows)])
