"""How affect's weights are found: a ridge by conjugate gradients, small nets by Adam, a logistic regression. Pure."""

from typing import Any, Final, cast

import numpy as np

from braid.affect.confidence import calibrated
from braid.affect.model import Bags

Floats = Any
RIDGE: Final = (24.0, 34.0, 50.0)
"""Of valence, arousal and dominance: the noisier the ratings, the more."""
HIDDEN: Final = 48
EPOCHS: Final = 10
BATCH: Final = 64
RATE: Final = 2e-3


def ridge(dense: Floats, bag: Bags, width: int, aims: Floats) -> tuple[Floats, Floats]:
    """Return the weights of dense columns and of entries: a ridge by conjugate gradients, one aim a column."""
    count, wide = dense.shape
    aims = aims - aims.mean(axis=0)

    def forward(w: Floats) -> Floats:
        return dense @ w[:wide] + np.bincount(bag.rows, bag.values * w[wide:][bag.columns], minlength=count)

    def back(r: Floats) -> Floats:
        return np.concatenate(
            [dense.T @ r, np.bincount(bag.columns, bag.values * r[bag.rows], minlength=width)]
        )

    solved: list[Floats] = []
    for aim, penalty in zip(aims.T, RIDGE, strict=True):
        w = np.zeros(wide + width)
        residual = back(aim)
        way, size = residual.copy(), float(residual @ residual)
        floor = size * 1e-10
        for _ in range(500):
            image = back(forward(way)) + penalty * way
            step = size / float(way @ image)
            w += step * way
            residual -= step * image
            size, before = float(residual @ residual), size
            if size < floor:
                break
            way = residual + size / before * way
        solved.append(w)
    whole = np.stack(solved, axis=1)
    return whole[:wide], whole[wide:]


def net(inputs: Floats, aims: Floats, seed: int) -> tuple[Floats, ...]:
    """Return a net of one hidden layer (weights and biases in, out), by Adam with dropout and weight decay."""
    rng = np.random.default_rng(seed)
    count, wide = inputs.shape
    weights = [
        rng.normal(size=(wide, HIDDEN)) / wide**0.5,
        np.zeros(HIDDEN),
        rng.normal(size=(HIDDEN, 3)) * (0.3 / HIDDEN) ** 0.5,
        np.zeros(3),
    ]
    weights = [each.astype(np.float32) for each in weights]
    first, second = ([np.zeros_like(each) for each in weights] for _ in range(2))
    steps, step = EPOCHS * (count // BATCH), 0
    for _ in range(EPOCHS):
        order = rng.permutation(count)
        for start in range(0, count - BATCH + 1, BATCH):
            some = order[start : start + BATCH]
            slopes = _slopes(weights, inputs[some], aims[some], rng)
            step += 1
            rate = RATE * min(1.0, (steps - step) / steps + 0.02)
            for at, slope in enumerate(slopes):
                first[at] = 0.9 * first[at] + 0.1 * slope
                second[at] = 0.999 * second[at] + 0.001 * slope * slope
                moved = first[at] / (1 - 0.9**step) / (np.sqrt(second[at] / (1 - 0.999**step)) + 1e-8)
                decay = 1e-2 * weights[at] if weights[at].ndim == 2 else 0.0
                weights[at] = weights[at] - np.float32(rate) * (moved + decay)
    return tuple(weights)


def _slopes(weights: list[Floats], x: Floats, y: Floats, rng: Any) -> list[Floats]:
    """Return the gradient of half the mean squared error; a fifth of the inputs and a third of the units are out."""
    x = x * ((rng.random(x.shape) > 0.2) / np.float32(0.8))
    before = x @ weights[0] + weights[1]
    mask = (rng.random(before.shape) > 0.3) / np.float32(0.7)
    hidden = np.maximum(before, 0) * mask
    error = (hidden @ weights[2] + weights[3] - y) / len(x)
    inner = (error @ weights[2].T) * mask * (before > 0)
    return [x.T @ inner, inner.sum(axis=0), hidden.T @ error, error.sum(axis=0)]


def logistic(x: Floats, y: Floats) -> Floats:
    """Return the coefficients of a logistic regression, by Newton's method with a light ridge."""
    w: Floats = np.zeros(x.shape[1])
    for _ in range(30):
        p = calibrated(x, w)
        hessian = (x * (p * (1 - p))[:, None]).T @ x + np.eye(len(w))
        w = w - cast("Floats", np.linalg.solve(hessian, x.T @ (p - y) + w))
    return w
