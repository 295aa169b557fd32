"""Signals → one score: a weighted sum. The weights are a file of the package, fitted by `tools/lab/fit_recall.py`."""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from braid.recall.pool import Floats

WEIGHTS: Final = Path(__file__).parent / "weights.json"


class RankWeights(msgspec.Struct, frozen=True):
    """What each signal weighs. `fitted` by questions with known answers; `set` by hand, where those show none."""

    about: str
    fitted: dict[str, float]
    set: dict[str, float]
    without_model: dict[str, float]
    """Fitted without the signals that need vectors, for when there are none."""

    def of(self, signals: Mapping[str, Floats]) -> dict[str, float]:
        """Return the weights for these signals."""
        chosen = self.fitted if "meaning" in signals else self.without_model
        return {name: weight for name, weight in (chosen | self.set).items() if name in signals}


@cache
def weights() -> RankWeights:
    """Return the weights of this release."""
    return msgspec.json.decode(WEIGHTS.read_bytes(), type=RankWeights)


def weights_name() -> str:
    """Return what names the weights: a hash of their file."""
    return "sha256:" + hashlib.sha256(WEIGHTS.read_bytes()).hexdigest()


def scored(signals: Mapping[str, Floats], weighed: Mapping[str, float]) -> Floats:
    """Return float64[n], the weighted sum of the signals."""
    size = len(next(iter(signals.values())))
    total = np.zeros(size)
    for name, weight in weighed.items():
        total += weight * signals[name]
    return total
