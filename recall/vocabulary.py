"""Vectors of single words, each asked of the model once: what lets "kids" meet "children"."""

from collections.abc import Mapping, Sequence
from itertools import chain
from threading import Lock
from typing import Any, Final, NamedTuple

import numpy as np

from braid.recall.deadline import within
from braid.views.embedder import Embedder, embedded

MOST: Final = 60_000
LIMIT_S: Final = 5.0
_BLOCK: Final = 200_000
"""Up to so many multiplications OpenBLAS works on the thread that asks. Waking its others, and having them wait in a
loop for more, takes longer than all that a question needs (measured: 40 ms of two cores against 1 ms of one)."""


class _Held(NamedTuple):
    """Words and their vectors. Both only ever grow: whoever has this may read it while words are added."""

    places: dict[str, int]
    vectors: Any
    """float32[n, d], more rows than there are words; a word's row is written before its place is."""


class Vocabulary:
    """Word vectors of one local embedder, kept in memory: at most `MOST` of them. Safe to share between threads."""

    def __init__(self, embedder: Embedder) -> None:
        """`embedder` must answer at once: a remote model is no vocabulary."""
        self._embedder = embedder
        self._held = self._room(0)
        self._turn = Lock()

    def nearest(
        self, words: Sequence[str], spoken: Sequence[Sequence[str]], *, limit_s: float = LIMIT_S
    ) -> Any:
        """Return float32[n, m]: for each of n lists of words, the cosine of its nearest to each of m words; -1 for an
        empty list.

        The model is asked for the words that are new. Raises EmbeddingError where it can't give them, and TimeoutError
        where they take longer than `limit_s`; they are kept once they come.
        """
        try:
            return _nearest(self._held, words, spoken)
        except KeyError:
            held = within(limit_s, lambda: self._learned(list(dict.fromkeys(chain(words, *spoken)))))
        return _nearest(held, words, spoken)

    def _learned(self, words: list[str]) -> _Held:
        """Return all of these, asking the model for the new ones; where there is no more room, begin again with these.

        Nobody waits for the model but who needs what it is asked for.
        """
        before = self._held
        new = [word for word in words if word not in before.places]
        given = dict(zip(new, embedded(self._embedder, new), strict=True)) if new else {}
        with self._turn:
            held = self._held
            lacking = [word for word in words if word not in held.places]
            if len(held.places) + len(lacking) > MOST:
                held, lacking = self._room(len(words)), words
            known: Mapping[str, Any] = given | {
                word: before.vectors[before.places[word]] for word in lacking if word not in given
            }
            self._held = _with(held, {word: known[word] for word in lacking})
            return self._held

    def _room(self, words: int) -> _Held:
        return _Held({}, np.zeros((words, self._embedder.dimensions), dtype=np.float32))


def _with(held: _Held, vectors: Mapping[str, Any]) -> _Held:
    """Return what is held with these added; room is doubled, so that each is copied a few times at most."""
    count = len(held.places)
    if count + len(vectors) > len(held.vectors):
        room = np.zeros((2 * (count + len(vectors)), held.vectors.shape[1]), dtype=np.float32)
        room[:count] = held.vectors[:count]
        held = _Held(dict(held.places), room)
    for place, (word, vector) in enumerate(vectors.items(), count):
        held.vectors[place] = vector
        held.places[word] = place
    return held


def _nearest(held: _Held, words: Sequence[str], spoken: Sequence[Sequence[str]]) -> Any:
    """Return what `Vocabulary.nearest` does; raise KeyError for a word that isn't held."""
    found = np.full((len(spoken), len(words)), -1.0, dtype=np.float32)
    filled = [at for at, each in enumerate(spoken) if each]
    if not filled or not words:
        return found
    asked = held.vectors[_places(held, words)]
    whole = _places(held, list(chain.from_iterable(spoken)))
    met = np.zeros(int(whole.max()) + 1, dtype=np.int32)
    met[whole] = 1
    each_once = np.flatnonzero(met)
    met[each_once] = np.arange(len(each_once), dtype=np.int32)
    cosines = _product(held.vectors[each_once], asked)
    starts = np.cumsum([0, *(len(spoken[at]) for at in filled)])[:-1]
    found[filled] = np.maximum.reduceat(cosines[met[whole]], starts, axis=0)
    return found


def _places(held: _Held, words: Sequence[str]) -> Any:
    """Return int64[n], where the vectors of these words stand."""
    return np.fromiter(map(held.places.__getitem__, words), np.int64, len(words))


def _product(vectors: Any, asked: Any) -> Any:
    """Return float32[n, m]: the dot product of each of n vectors with each of m."""
    rows = max(_BLOCK // max(asked.size, 1), 1)
    return np.concatenate([vectors[at : at + rows] @ asked.T for at in range(0, len(vectors), rows)])
