"""Stances are as often right as they are sure, on questions of which the truth is known."""

import pytest

from braid.tools.lab.stance_calibration import judged, measure


@pytest.mark.soak
def test_how_sure_is_how_right() -> None:
    measured = measure(judged(2_000, seed=1), seed=1)
    assert measured.diagram.count == 2_000
    assert measured.diagram.ece <= 0.05
    assert measured.low <= measured.diagram.ece <= measured.high <= 0.07
    assert measured.held > 1_400


@pytest.mark.soak
def test_what_is_held_is_right_more_often_than_what_is_not() -> None:
    found = judged(1_000, seed=2)
    held = [one.right for one in found if one.held]
    rest = [one.right for one in found if not one.held]
    assert sum(held) / len(held) > 0.6
    assert sum(rest) / len(rest) < 0.45


def test_the_same_seed_asks_the_same() -> None:
    assert judged(50, seed=3) == judged(50, seed=3)
