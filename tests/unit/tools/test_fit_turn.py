"""The script that fits the words of turns, and the file that it has made."""

import numpy as np
import pytest

from braid.affect import turn
from braid.tools.lab import fit_turn

RNG = np.random.default_rng(3)


def test_words_that_raters_like_get_weight() -> None:
    texts = [("good day" if n % 2 else "bad day") + " indeed" * (n % 3) for n in range(60)]
    ratings = np.array([[0.5, 0.5, 0.1] if n % 2 else [-0.5, 0.5, -0.1] for n in range(60)])
    weights = fit_turn.fit(texts, ratings + RNG.normal(0, 0.01, (60, 3)))
    assert weights[b"good"][0] > 1_000 > -1_000 > weights[b"bad"][0]
    assert abs(weights[b"day"][0]) < weights[b"good"][0] / 4
    assert weights[turn.BASE.encode()][1] == pytest.approx(5_000, abs=200)


def test_a_file_of_weights_is_a_line_a_word() -> None:
    weights = {turn.BASE.encode(): (0, 5_000, 0), "😍".encode(): (1, -2, 3)}
    assert fit_turn.lines(weights) == "*\t0\t5000\t0\n😍\t1\t-2\t3\n"


def test_the_packaged_weights_are_what_their_licence_says() -> None:
    said = (turn.WEIGHTS.parent / "LICENSE.md").read_text(encoding="utf-8")
    assert turn.WEIGHTS.name in said
    assert "tools/lab/fit_turn.py" in said
    lines = turn.WEIGHTS.read_text(encoding="utf-8").splitlines()
    assert 5_000 < len(lines) < 20_000
    assert max(abs(int(part)) for line in lines for part in line.split("\t")[1:]) < 1 << 16
    assert turn.WEIGHTS.stat().st_size < 400_000
