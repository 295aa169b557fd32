"""What a cross-encoder makes of the turns that may answer a question, where one is installed. Pure.

The best turns by their features are read once more, each together with the question and with the end of the turn
before. What it says counts beside the features: how sure an answer is follows from both.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from braid.recall.hits import Hit
from braid.recall.pool import Floats
from braid.recall.rerank import MOST, passages, read_again
from braid.text.rerank import AnswerScores

READ: Final = 12
"""How many of the best turns are read once more; where one of them answers clearly, none of the others is. To what is
not read goes the least that the others got."""
BACKS: Final = 1.0
DENIES: Final = -1.5
"""From and up to these log-odds a turn is read as one that answers, and as one that doesn't."""

CLEARLY: Final = 3.0
"""From these log-odds a turn is read as answering beyond doubt, whatever words it has."""


def reread(question: str, hits: Sequence[Hit], scores: Floats, answers: AnswerScores | None) -> Floats | None:
    """Return float64[n]: the log-odds that each hit answers; None without a model, or where it failed."""
    if answers is None or not hits:
        return None
    order: list[int] = np.argsort(-scores, kind="stable").tolist()
    texts = passages(question, hits)
    found = read_again(question, [texts[at] for at in order[:READ]], answers)
    if found is None:
        return None
    if found.max() < BACKS and (rest := order[READ:]):
        more = read_again(question, [texts[at] for at in rest], answers)
        if more is None:
            return None
        found = np.concatenate([found, more])
    read = np.full(len(hits), float(found.min()))
    read[order[: len(found)]] = found
    return read.clip(-MOST, MOST)


def likeliest(read: Floats | None) -> float:
    """Return how likely the likeliest turn answers, in [0, 1]; 0 where none was read."""
    return 0.0 if read is None else 1.0 / (1.0 + math.exp(-float(read.max())))


def surest(by_features: float, with_reading: float, read: float, *, is_check: bool = False) -> float:
    """Return how sure an answer is, by two probabilities and its turn's log-odds as it was read: the reading makes it
    surer only where it says clearly that the turn answers; where it denies that, the lower of the two counts. To a
    check "we've scrapped it" is an answer and reads like none: there a doubt of the reading doesn't count."""
    if read >= BACKS:
        return max(by_features, with_reading)
    least = min(by_features, with_reading)
    if read <= DENIES:
        return least
    return by_features if is_check else (by_features + least) / 2


SIGNALS: Final = ("read_none", "read_best", "read_share", "read_agrees", "read_next", "read_few")
"""What the reading says of how sure an answer is, in order. `read_few`: of few turns the right one is found sooner."""


def read_signals(read: Floats | None, best: int, next_: int) -> dict[str, float]:
    """Return what the reading says of the best turn and of the one after it; nothing where none was read."""
    if read is None:
        return dict.fromkeys(SIGNALS, 0.0)
    total = math.log1p(float(np.exp(read).sum()))
    found = (
        -total,
        float(read[best]) / 4,
        float(read[best]) - total,
        float(read[best] >= read.max()),
        float(read[best] - read[next_]) / 4,
        1.0 / len(read),
    )
    return dict(zip(SIGNALS, found, strict=True))
