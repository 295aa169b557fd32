"""What recall is measured against: BM25, and a plain sum of two scores, over all turns of a conversation. Exact.

    python -m braid.tools.lab.recall_baselines locomo ../shared/data/locomo/*.json

`braid evaluate recall --kind locomo …` gives the same measures of recall itself.
"""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import numpy as np

from braid.models.static import StaticEmbedder
from braid.recall.evaluate import CUTS, mean, measure
from braid.recall.samples import Sample
from braid.text.words import stem, telling
from braid.tools.evaluation.recall_samples import Kind, samples_of

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


def measured(samples: Sequence[Sample], baseline: Baseline) -> dict[str, float]:
    """Return the means of the measures over all questions with evidence."""
    embedder = StaticEmbedder()
    return mean(
        [
            measure(best, set(asked.evidence))
            for sample in samples
            for asked, best in zip(sample.questions, baseline.ranked(sample, embedder), strict=True)
            if asked.evidence
        ]
    )


def main(kind: str, *files: str) -> None:
    """Print the measures of each baseline."""
    samples = [one for file in files for one in samples_of(cast("Kind", kind), file, Path(file).read_bytes())]
    for baseline in BASELINES:
        found = measured(samples, baseline)
        print(baseline.name, *(f"{name} {share:.3f}" for name, share in found.items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
