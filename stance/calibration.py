"""Are claims of 70 % right in 70 of 100 cases? What is measured, and the map that mends it. Pure.

The map is isotonic: the non-decreasing one with the least squared error, by pooling adjacent violators (Ayer et al.
1955). It is a value, kept as a record (an `event` named `calibration`), so that a stance can name the version it used.
"""

import math
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from braid.ledger.record import EventBody

EVENT: Final = "calibration"
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


class Calibration(msgspec.Struct, frozen=True):
    """A map of probabilities: straight between its knots (p, calibrated), level beyond the outermost."""

    version: str
    knots: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        ps = [p for knot in self.knots for p in knot]
        if not self.knots or not all(0 <= p <= 1 for p in ps):
            raise ValueError("a calibration needs knots, pairs of probabilities from 0 to 1")
        for (p, q), (p_next, q_next) in zip(self.knots, self.knots[1:], strict=False):
            if p_next <= p or q_next < q:
                raise ValueError(
                    "a calibration rises: its knots are ordered, and none is below the one before"
                )

    def apply(self, p: float) -> float:
        """Return the calibrated probability."""
        if not 0 <= p <= 1:
            raise ValueError(f"a probability is from 0 to 1, not {p}")
        return float(np.interp(p, [knot[0] for knot in self.knots], [knot[1] for knot in self.knots]))

    def body(self) -> EventBody:
        """Return the record that keeps it."""
        return EventBody(
            name=EVENT, data={"version": self.version, "knots": [list(knot) for knot in self.knots]}
        )


def read(body: EventBody) -> Calibration:
    """Return the calibration that a record keeps; raise ValueError where it keeps none."""
    if body.name != EVENT:
        raise ValueError(f"an event named {body.name!r} is no calibration")
    data: dict[str, Any] = body.data
    try:
        return msgspec.convert(data, Calibration)
    except msgspec.ValidationError as error:
        raise ValueError(f"the record holds no calibration: {error}") from error


def reliability(predicted: Sequence[float], held: Sequence[bool], *, bins: int = 10) -> Reliability:
    """Measure predictions by what came true."""
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


def fit(predicted: Sequence[float], held: Sequence[bool], *, version: str) -> Calibration:
    """Fit the isotonic map of predictions to how often they held."""
    p, came = _pairs(predicted, held)
    # Equal predictions get one value: they are one point, as heavy as they are many.
    xs, place, count = np.unique(p, return_inverse=True, return_counts=True)
    levels = isotonic(np.bincount(place, weights=came) / count, count.astype(np.float64))
    # Of a level stretch only its ends matter.
    ends = np.ones(len(xs), dtype=np.bool_)
    ends[1:-1] = (levels[1:-1] != levels[:-2]) | (levels[1:-1] != levels[2:])
    return Calibration(
        version, tuple(zip(xs[ends].tolist(), np.clip(levels[ends], 0.0, 1.0).tolist(), strict=True))
    )


def isotonic(values: Floats, weights: Floats) -> Floats:
    """Return float64[n], the non-decreasing sequence nearest to `values` in weighted squares."""
    means: list[float] = []
    masses: list[float] = []
    lengths: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        mean, mass, length = value, weight, 1
        while means and means[-1] >= mean:  # the block before is not below: they become one
            before = masses.pop()
            mean = (means.pop() * before + mean * mass) / (before + mass)
            mass += before
            length += lengths.pop()
        means.append(mean)
        masses.append(mass)
        lengths.append(length)
    return np.repeat(np.array(means, dtype=np.float64), lengths)


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
