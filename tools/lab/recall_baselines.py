"""What recall is measured against: BM25, and a plain sum of two scores, over all turns of a conversation. Exact."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from braid.models.static import StaticEmbedder
from braid.recall.evaluate import CUTS
from braid.recall.samples import Sample
from braid.text.words import stem, telling

K1, B = 1.2, 0.75
_WORD: Final = re.compile(r"\w+")
Split = Callable[[str], list[str]]


class Baseline(NamedTuple):
    """A ranking by BM25 over some reading of words; where `meaning` says so by cosine too, each z-scored and summed."""

    name: str
    split: Split
    meaning: bool

    def ranked(self, sample: Sample, embedder: StaticEmbedder) -> Iterator[list[int]]:
        """Yield the best turns for each question, best first."""
        said = [self.split(turn.whole) for turn in sample.turns]
        vectors = embedder.embed([turn.whole for turn in sample.turns])
        for asked in sample.questions:
            scores = _bm25(set(self.split(asked.text)), said)
            if self.meaning:
                scores = _z(scores) + _z(vectors @ embedder.embed([asked.text])[0])
            best: list[int] = np.argsort(-scores, kind="stable")[: CUTS[-1]].tolist()
            yield best


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _stems(text: str) -> list[str]:
    return [stem(word) for word in telling(text)]


BASELINES: Final = (
    Baseline("BM25", _words, meaning=False),
    Baseline("plain sum", _stems, meaning=True),
)


def _bm25(asked: set[str], said: Sequence[list[str]]) -> Any:
    lengths = np.array([len(each) for each in said], dtype=float)
    norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1e-9))
    scores = np.zeros(len(said))
    for word in sorted(asked):
        times = np.array([each.count(word) for each in said], dtype=float)
        having = float((times > 0).sum())
        scores += np.log1p((len(said) - having + 0.5) / (having + 0.5)) * times * (K1 + 1) / (times + norm)
    return scores


def _z(values: Any) -> Any:
    return (values - values.mean()) / (values.std() + 1e-9)
