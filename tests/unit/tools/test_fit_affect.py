"""The script that fits affect: its solvers against closed forms, the packaged files against what is said of them."""

from pathlib import Path

import numpy as np
import pytest

from braid.affect.lexicon import LEXICON
from braid.affect.model import WEIGHTS, Bags, bags, keys_of, model
from braid.tools.lab.affect_solvers import RIDGE, logistic, net, ridge
from braid.tools.lab.fit_affect import lexicon, vocabulary

RNG = np.random.default_rng(7)


def test_conjugate_gradients_find_the_ridge() -> None:
    dense, sparse = RNG.normal(size=(60, 5)), (RNG.random((60, 9)) < 0.3) * RNG.random((60, 9))
    aims = RNG.normal(size=(60, 3))
    rows, columns = np.nonzero(sparse)
    bag = Bags(rows, columns, sparse[rows, columns], np.ones(60))
    found = np.concatenate(ridge(dense, bag, 9, aims))
    x, y = np.concatenate([dense, sparse], axis=1), aims - aims.mean(axis=0)
    for at, penalty in enumerate(RIDGE):
        direct = np.linalg.solve(x.T @ x + penalty * np.eye(14), x.T @ y[:, at])
        assert np.allclose(found[:, at], direct, atol=1e-4)


def test_the_logistic_finds_what_made_the_data() -> None:
    x = np.column_stack([np.ones(4000), RNG.normal(size=(4000, 2))])
    truth = np.array([0.5, 1.5, -1.0])
    y = RNG.random(4000) < 1 / (1 + np.exp(-x @ truth))
    assert np.allclose(logistic(x, y), truth, atol=0.2)


def test_a_net_learns_and_is_seeded() -> None:
    x = RNG.normal(size=(640, 6)).astype(np.float32)
    y = np.stack([np.abs(x[:, 0]), x[:, 1], -x[:, 2]], axis=1).astype(np.float32)
    into, bias, out, last = net(x, y, seed=1)
    said = np.maximum(x @ into + bias, 0) @ out + last
    assert np.corrcoef(said[:, 1], y[:, 1])[0, 1] > 0.5
    assert np.array_equal(into, net(x, y, seed=1)[0])


def test_words_and_pairs_that_are_known_are_weighed_to_one() -> None:
    keys = [keys_of(text) for text in ("the cat sat", "the cat ran", "a dog!")]
    table, idf = vocabulary(keys)
    found = bags(keys, table, idf)
    assert len(table) == 3  # "the", "cat", "the cat"
    assert np.allclose(np.bincount(found.rows, found.values**2), [1, 1])
    assert found.known.tolist() == pytest.approx([3 / 5, 3 / 5, 0])


def test_the_packaged_files_are_what_their_licence_says() -> None:
    said = (WEIGHTS.parent / "LICENSE.md").read_text(encoding="utf-8")
    for word in (
        "EmoBank",
        "CC BY-SA 4.0",
        "VADER",
        "MIT License",
        "tools/lab/fit_affect.py",
        WEIGHTS.name,
        LEXICON.name,
    ):
        assert word in said
    notice = (Path(__file__).parents[3] / "NOTICE").read_text(encoding="utf-8")
    assert "CC BY-SA 4.0" in notice
    assert WEIGHTS.stat().st_size < 400_000
    assert model().confidence.shape == (8,)
    with np.load(WEIGHTS, allow_pickle=False) as held:
        assert all(held[name].dtype != object for name in held.files)


def test_the_lexicon_is_made_of_vaders_files(tmp_path: Path) -> None:
    (tmp_path / "vader_lexicon.txt").write_text("joy\t2.8\t0.7\t[3]\n:(\t-1.9\t1\t[-2]\n", encoding="utf-8")
    (tmp_path / "emoji_utf8_lexicon.txt").write_text(
        "😂\tface with tears of joy\n🚗\tautomobile\n", encoding="utf-8"
    )
    made = lexicon(tmp_path).splitlines()
    assert "joy\t2.8" in made
    assert "😂\t2.8" in made
    assert not any(line.startswith("🚗") for line in made)
