"""How far each turn speaks of a question, word by word, with typos and near words, and with its neighbours. Pure.

Rows are turns, columns the words of the question that name something. A cell is 1 where the turn has the word in any
form, less where it has a word that is spelt or means nearly the same.
"""

from collections.abc import Container, Sequence
from functools import cached_property
from typing import Final

import numpy as np
from rapidfuzz.distance import JaroWinkler

from braid.agent.composer import Nearness
from braid.recall.pool import Floats
from braid.text.words import STOP, stem

LIGHT: Final = frozenset(map(stem, """
go going goes went get got gets come came comes take took taken make made put want use used using like live say said
tell told name call called many much long old time day date place kind sort thing stuff end ended actually really still
now ever exactly currently moment these days first last begin began originally remember know knew what whats who whos
one two happen happened new give gave given need needed think thought start started before after whole anything
anybody someone anyone hey please pls lol again another
""".split()))  # fmt: skip # noqa: SIM905
"""Words of questions that name nothing, as stems."""
SPELT: Final = 0.9
"""How alike two words are spelt at least, of which one may be a slip of the other."""
_SLIP: Final = 0.85
_FAR, _SAME = 0.35, 0.95
"""The cosines between which a word comes from meaning something else to meaning the same."""
_LEAST_CHARS: Final = 4


class Matching:
    """The words of a question met by turns; `spoken` are the turns' words, `before[i]` the place of the turn before
    the i-th where that is at hand, else -1."""

    def __init__(
        self,
        asked: Sequence[str],
        spoken: Sequence[Sequence[str]],
        before: Sequence[int],
        nearest: Nearness | None,
    ) -> None:
        stems = dict.fromkeys(stem(word) for word in asked if word not in STOP)
        self.stems = [each for each in stems if each not in LIGHT] or list(stems)
        self.words = [next(word for word in asked if stem(word) == each) for each in self.stems]
        self._before = np.array([*before, -1], dtype=np.int64)
        self.exact = _exact(self.stems, self.words, spoken)
        self.met = np.maximum(self.exact, self._near(spoken, nearest))
        met = self.met.sum(axis=0)
        rows = len(spoken)
        weight = np.maximum(np.log1p((rows - met + 0.5) / (met + 0.5)), 0.05)
        self.weight: Floats = weight / max(float(weight.sum()), 1e-9)

    def _near(self, spoken: Sequence[Sequence[str]], nearest: Nearness | None) -> Floats:
        if nearest is None or not self.words or not spoken:
            return np.zeros_like(self.exact)
        cosine = nearest(self.words, [[word for word in each if word not in STOP] for each in spoken])
        return np.clip((np.asarray(cosine, dtype=np.float64) - _FAR) / (_SAME - _FAR), 0.0, 1.0)

    @cached_property
    def cover(self) -> Floats:
        """float64[n]: the share of the question that each turn speaks of by itself, by weight, in [0, 1]."""
        return self.met @ self.weight

    @cached_property
    def exactly(self) -> Floats:
        """float64[n]: the same, of words that the turn has."""
        return self.exact @ self.weight

    @cached_property
    def with_before(self) -> Floats:
        """float64[n]: the same as `cover`, with the turn before."""
        return np.maximum(self.met, self._steps(self.met, 1)) @ self.weight

    @cached_property
    def context(self) -> Floats:
        """float64[n, m]: each word as met by the turn or, a little less, by one of the two before."""
        return np.maximum(
            self.met, np.maximum(0.95 * self._steps(self.met, 1), 0.85 * self._steps(self.met, 2))
        )

    @cached_property
    def in_context(self) -> Floats:
        """float64[n]: the share of the question that each turn speaks of with the two before."""
        return self.context @ self.weight

    def apart_from(self, names: Container[str]) -> Floats:
        """Return float64[n]: the share of the question's words, some names aside, that each turn speaks of with the two
        before; of all where there are no others."""
        told = np.array([each not in names for each in self.stems], dtype=bool)
        if not told.any():
            return self.in_context
        weight: Floats = np.where(told, self.weight, 0.0)
        return self.context @ (weight / max(float(weight.sum()), 1e-9))

    def around(self, values: Floats, steps: int) -> Floats:
        """Return float64[n]: a value of the turn so many steps before, 0 where that isn't at hand."""
        return self._steps(values[:, None], steps)[:, 0]

    def _steps(self, values: Floats, steps: int) -> Floats:
        padded = np.vstack([values, np.zeros((1, values.shape[1]))])
        at = np.arange(len(values))
        for _ in range(steps):
            at = self._before[at]
        return padded[at]


def _exact(stems: Sequence[str], asked: Sequence[str], spoken: Sequence[Sequence[str]]) -> Floats:
    turns = [{stem(word) for word in each} for each in spoken]
    found = np.array([[float(each in turn) for each in stems] for turn in turns]).reshape(
        len(turns), len(stems)
    )
    vocabulary = sorted(
        {word for each in spoken for word in each if len(word) >= _LEAST_CHARS and word.isalpha()}
    )
    for column, word in enumerate(asked):
        if len(word) < _LEAST_CHARS or not word.isalpha():
            continue
        alike = {other for other in vocabulary if _is_slip(word, other)}
        for row, each in enumerate(spoken):
            if not found[row, column] and not alike.isdisjoint(each):
                found[row, column] = _SLIP
    return found


def _is_slip(word: str, other: str) -> bool:
    """Whether a word may be another form of one, or a slip of it: "recieve", "greenhouses", "babcias"."""
    if word[:3] != other[:3] and word[0] != other[0]:
        return False
    return (
        word.startswith(other)
        or other.startswith(word)
        or JaroWinkler.similarity(word, other) >= SPELT + 0.03
    )
