"""Are claims of 70 % right in 70 of 100 cases? What is measured. Pure; `stance.readings` has what was counted."""

import math
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Bin(msgspec.Struct, frozen=True):
    """Predictions from `low` to below `high` (the last bin holds 1 too): how many, their mean, how often they held."""

    low: float
    high: float
    count: int
    predicted: float
    observed: float


class Reliability(msgspec.Struct, frozen=True):
    """A reliability diagram (the bins that are not empty) and what it adds up to; smaller is better of both numbers."""

    count: int
    bins: tuple[Bin, ...]
    brier: float
    """Mean squared distance of prediction and outcome."""
    ece: float
    """Expected calibration error: mean distance of predicted and observed, over the bins, by how many each holds."""


def reliability(predicted: Sequence[float], held: Sequence[bool], *, bins: int = 10) -> Reliability:
    """Measure predictions, probabilities in [0, 1], by what came true; raise ValueError for others, or for none."""
    p, came = _pairs(predicted, held)
    if bins < 1:
        raise ValueError("a reliability diagram has at least one bin")
    place = np.minimum((p * bins).astype(np.int64), bins - 1)
    count = np.bincount(place, minlength=bins)
    sum_p = np.bincount(place, weights=p, minlength=bins)
    sum_came = np.bincount(place, weights=came, minlength=bins)
    filled = tuple(
        Bin(k / bins, (k + 1) / bins, int(n), float(sum_p[k] / n), float(sum_came[k] / n))
        for k, n in enumerate(count)
        if n
    )
    ece = math.fsum(one.count * abs(one.predicted - one.observed) for one in filled) / len(p)
    return Reliability(len(p), filled, math.fsum((p - came) ** 2) / len(p), ece)


def _pairs(predicted: Sequence[float], held: Sequence[bool]) -> tuple[Floats, Floats]:
    """Return predictions and outcomes as arrays, checked."""
    p, came = np.array(predicted, dtype=np.float64), np.array(held, dtype=np.float64)
    if len(p) != len(came):
        raise ValueError(f"{len(p)} predictions for {len(came)} outcomes")
    if not len(p):
        raise ValueError("nothing was predicted: there is nothing to measure")
    if not bool(np.all((p >= 0) & (p <= 1))):
        raise ValueError("predictions are probabilities from 0 to 1")
    if not bool(np.all((came == 0) | (came == 1))):
        raise ValueError("what was predicted held or did not: outcomes are true or false")
    return p, came
