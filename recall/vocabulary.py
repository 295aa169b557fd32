"""Vectors of single words, each asked of the model once: what lets "kids" meet "children"."""

from collections.abc import Sequence
from threading import Lock
from typing import Any, Final

import numpy as np

from braid.views.embedder import Embedder

MOST: Final = 60_000


class Vocabulary:
    """Word vectors of one local embedder, kept in memory: at most `MOST` of them. Safe to share between threads."""

    def __init__(self, embedder: Embedder) -> None:
        """`embedder` must answer at once: a remote model is no vocabulary."""
        self._embedder = embedder
        self._places: dict[str, int] = {}
        self._vectors = np.zeros((0, embedder.dimensions), dtype=np.float32)
        self._turn = Lock()

    def __call__(self, words: Sequence[str]) -> Any:
        """Return float32[n, d], one unit vector a word."""
        with self._turn:
            new = [word for word in dict.fromkeys(words) if word not in self._places]
            if len(self._places) + len(new) > MOST:
                self._places = {}
                new = list(dict.fromkeys(words))
            if new:
                self._grow(self._embedder.embed(new))
                for word in new:
                    self._places[word] = len(self._places)
            return self._vectors[[self._places[word] for word in words]]

    def _grow(self, vectors: Any) -> None:
        """Add vectors behind the others; room is doubled, so that each is copied a few times at most."""
        held = len(self._places)
        if held + len(vectors) > len(self._vectors):
            room = np.zeros((2 * (held + len(vectors)), vectors.shape[1]), dtype=np.float32)
            room[:held] = self._vectors[:held]
            self._vectors = room
        self._vectors[held : held + len(vectors)] = vectors
