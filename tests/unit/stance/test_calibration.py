"""Calibration: what is measured, by hand and by definition."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.stance.calibration import reliability

outcomes = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


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


def test_no_bins_and_no_probability_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one bin"):
        reliability([0.5], [True], bins=0)
