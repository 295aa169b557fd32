"""Calibration: what is measured, by hand and by definition; the isotonic map, against the definition of its optimum."""

import math
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.ledger.record import EventBody
from braid.stance.calibration import Calibration, fit, isotonic, read, reliability

outcomes = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def floats(*values: float) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return np.array(values, dtype=np.float64)


def test_a_diagram_by_hand() -> None:
    measured = reliability([0.1, 0.15, 0.9, 0.9, 1.0], [False, True, True, True, False], bins=5)
    low, high = measured.bins
    assert (low.low, low.high, low.count, low.predicted, low.observed) == (0.0, 0.2, 2, 0.125, 0.5)
    assert high.count == 3
    assert high.observed == pytest.approx(2 / 3)
    assert measured.brier == pytest.approx((0.01 + 0.7225 + 0.01 + 0.01 + 1) / 5)
    assert measured.ece == pytest.approx((2 * 0.375 + 3 * (2.8 / 3 - 2 / 3)) / 5)


@given(outcomes, st.integers(1, 20))
def test_diagrams_by_definition(pairs: list[tuple[float, bool]], bins: int) -> None:
    measured = reliability([p for p, _ in pairs], [held for _, held in pairs], bins=bins)
    assert sum(one.count for one in measured.bins) == measured.count == len(pairs)
    assert measured.brier == pytest.approx(sum((p - held) ** 2 for p, held in pairs) / len(pairs))
    assert 0 <= measured.ece <= 1
    for one in measured.bins:
        assert one.low - 1e-12 <= one.predicted <= one.high + 1e-12
    held = sum(one.count * one.observed for one in measured.bins)
    assert held == pytest.approx(sum(held for _, held in pairs))


def test_the_isotonic_fit_by_hand() -> None:
    assert isotonic(floats(1, 3, 2, 4), floats(1, 1, 1, 1)).tolist() == [1, 2.5, 2.5, 4]
    assert isotonic(floats(3, 1), floats(3, 1)).tolist() == [2.5, 2.5]
    assert isotonic(floats(), floats()).tolist() == []


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 5)), min_size=1, max_size=30))
def test_the_isotonic_fit_is_the_min_max_of_means(points: list[tuple[float, int]]) -> None:
    """Its closed form (Robertson, Wright, Dykstra 1988): the largest over beginnings of the smallest mean over ends."""
    values = [value for value, _ in points]
    weights = [float(weight) for _, weight in points]

    def mean(i: int, j: int) -> float:
        part = slice(i, j + 1)
        return math.fsum(map(math.prod, zip(values[part], weights[part], strict=True))) / math.fsum(
            weights[part]
        )

    n = len(points)
    expected = [max(min(mean(i, j) for j in range(k, n)) for i in range(k + 1)) for k in range(n)]
    assert isotonic(floats(*values), floats(*weights)).tolist() == pytest.approx(expected)


@given(outcomes)
def test_a_fitted_map_rises_and_is_never_worse(pairs: list[tuple[float, bool]]) -> None:
    predicted, held = [p for p, _ in pairs], [held for _, held in pairs]
    fitted = fit(predicted, held, version="1")
    mended = [fitted.apply(p) for p in sorted(predicted)]
    assert all(0 <= p <= 1 for p in mended)
    assert all(before <= after + 1e-12 for before, after in pairwise(mended))
    after = reliability([fitted.apply(p) for p in predicted], held).brier
    assert after <= reliability(predicted, held).brier + 1e-12


def test_overconfidence_is_mended() -> None:
    """Who says 0.9 and is right in 6 of 10 cases is read as 0.6."""
    random = Random(5)
    predicted = [random.choice([0.5, 0.7, 0.9]) for _ in range(3_000)]
    held = [random.random() < {0.5: 0.3, 0.7: 0.4, 0.9: 0.6}[p] for p in predicted]
    fitted = fit(predicted, held, version="2026-01")
    assert fitted.apply(0.9) == pytest.approx(0.6, abs=0.05)
    before = reliability(predicted, held)
    after = reliability([fitted.apply(p) for p in predicted], held)
    assert (after.ece, after.brier) < (0.01, before.brier)
    assert before.ece > 0.2


def test_between_knots_straight_and_level_beyond() -> None:
    line = Calibration("1", ((0.2, 0.1), (0.6, 0.5)))
    assert [line.apply(p) for p in (0.0, 0.2, 0.4, 0.6, 1.0)] == pytest.approx([0.1, 0.1, 0.3, 0.5, 0.5])


@given(outcomes)
def test_a_record_keeps_it(pairs: list[tuple[float, bool]]) -> None:
    fitted = fit([p for p, _ in pairs], [held for _, held in pairs], version="7")
    body = fitted.body()
    assert body.name == "calibration"
    assert set(body.data) == {"version", "knots"}
    assert read(body) == fitted


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"version": "1"},
        {"version": "1", "knots": []},
        {"version": 1, "knots": [[0, 0]]},
        {"version": "1", "knots": [[0, 0], [0, 1]]},
        {"version": "1", "knots": [[0, 1], [1, 0]]},
        {"version": "1", "knots": [[0, 2]]},
        {"version": "1", "knots": [[0, math.nan]]},
        {"version": "1", "knots": [[0]]},
        {"version": "1", "knots": "0"},
    ],
)
def test_a_record_that_keeps_none_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="calibration"):
        read(EventBody(name="calibration", data=data))


def test_another_event_is_refused() -> None:
    with pytest.raises(ValueError, match="an event named 'review' is no calibration"):
        read(EventBody(name="review", data={"version": "1", "knots": [[0, 0]]}))


@pytest.mark.parametrize(
    ("predicted", "held", "said"),
    [
        ([], [], "nothing was predicted"),
        ([0.5], [True, False], "1 predictions for 2 outcomes"),
        ([math.nan], [True], "predictions are probabilities"),
        ([1.5], [True], "predictions are probabilities"),
        ([0.5], [2], "outcomes are true or false"),
    ],
)
def test_what_can_not_be_measured_is_refused(predicted: list[float], held: list[bool], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        reliability(predicted, held)
    with pytest.raises(ValueError, match=said):
        fit(predicted, held, version="1")


def test_no_bins_and_no_probability_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one bin"):
        reliability([0.5], [True], bins=0)
    with pytest.raises(ValueError, match="from 0 to 1, not nan"):
        Calibration("1", ((0.0, 0.0),)).apply(math.nan)
