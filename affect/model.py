"""The fitted part of a reading: numbers of a text in, valence, arousal and dominance out. Pure; batches of texts.

Two models speak, and their mean is the answer: small nets over the vector and the features, and a ridge over these
and the words, pairs and beginnings of words. `tools/lab/fit_affect.py` makes the weights; `data/LICENSE.md` says of
what.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import msgspec
import numpy as np

from braid.affect.words import grams

Floats = Any
WEIGHTS: Final = Path(__file__).parent / "data" / "weights.npz"
EMBEDDER: Final = "static-minilm-256-int8@1"
"""Name and version of the embedder whose vectors the weights are fitted to."""
MIDDLE: Final = np.array([0.0, 0.5, 0.0])
"""Neutral: 3 on EmoBank's scale."""


class Rated(msgspec.Struct, frozen=True):
    """What the model says of n texts."""

    vad: Floats
    """float64[n, 3] on the record's scales, not yet clamped."""
    spread: Floats
    """float64[n]: how far the members lie apart, mean over the three dimensions."""
    known: Floats
    """float64[n]: the share of a text's words, pairs and beginnings that the ridge knows, in [0, 1]."""


def scaled(ratings: Floats) -> Floats:
    """Return ratings on EmoBank's scale of 1 to 5 as v in [-1, 1], a in [0, 1], d in [-1, 1]; 3 is neutral."""
    return (ratings - 3.0) / np.array([2.0, 4.0, 2.0]) + MIDDLE


class Bags(msgspec.Struct, frozen=True):
    """The words, pairs and beginnings of n texts, as one list of entries."""

    rows: Floats
    """int[m]: the text of each entry."""
    columns: Floats
    """int[m]: its place among the known ones."""
    values: Floats
    """float[m]: its weight; a text's squares sum to 1."""
    known: Floats
    """float[n]: the share of each text's entries that is known, in [0, 1]."""


def keys_of(text: str) -> list[int]:
    """Return what names each word, pair and beginning of a plain text: CRC-32."""
    return [crc32(gram.encode("utf-8", "surrogatepass")) for gram in grams(text)]


def bags(keys: Sequence[Sequence[int]], table: Floats, weights: Floats) -> Bags:
    """Return the known entries of n texts; `table` is the sorted names, uint32[t], `weights` their idf, float[t]."""
    sizes = np.fromiter(map(len, keys), dtype=np.int64, count=len(keys))
    flat = np.fromiter((key for each in keys for key in each), dtype=np.int64, count=int(sizes.sum()))
    rows = np.repeat(np.arange(len(keys)), sizes)
    places = np.minimum(np.searchsorted(table, flat), len(table) - 1)
    hit = table[places] == flat
    cells, counts = np.unique(rows[hit] * len(table) + places[hit], return_counts=True)
    rows_, columns = np.divmod(cells, len(table))
    values = (1.0 + np.log(counts)) * weights[columns]
    norms = np.sqrt(np.bincount(rows_, values**2, minlength=len(keys)))
    known = np.bincount(rows, hit, minlength=len(keys)) / np.maximum(sizes, 1)
    return Bags(rows_, columns, values / np.maximum(norms, 1e-9)[rows_], known)


class ToneModel:
    """The weights of this release."""

    def __init__(self, weights: Mapping[str, Any]) -> None:
        """`weights` by name, as `tools/lab/fit_affect.py` makes them."""
        self._w = weights
        self._idf = weights["gram_idf"].astype(np.float64)
        self._gram = weights["gram_w"].astype(np.float64) * weights["gram_scale"]
        self._nets = [
            (
                self._whole(f"net{at}_in"),
                weights[f"net{at}_bias"],
                self._whole(f"net{at}_out"),
                weights[f"net{at}_last"],
            )
            for at in range(int(weights["nets"]))
        ]

    def _whole(self, name: str) -> Floats:
        return self._w[name].astype(np.float32) * self._w[f"{name}_scale"]

    @property
    def confidence(self) -> Floats:
        """Return float[k], the coefficients of confidence in the order that `affect.confidence` names."""
        return self._w["confidence"]

    def rate(self, texts: Sequence[str], features: Floats, vectors: Floats | None) -> Rated:
        """Return what the model says of plain texts; `features` is float[n, f], `vectors` float[n, 256] or None."""
        bag = bags([keys_of(text) for text in texts], self._w["gram_keys"], self._idf)
        surface = (features - self._w["s_mean"]) / self._w["s_std"]
        said = self._said(bag, len(texts))
        if vectors is None:
            ridge = self._matched(said + surface @ self._w["blind_s"] + self._w["blind_0"], "blind")
            return Rated(ridge, np.full(len(texts), float(self._w["blind_spread"])), bag.known)
        x = (vectors - self._w["x_mean"]) / self._w["x_std"]
        ridge = said + x @ self._w["ridge_x"] + surface @ self._w["ridge_s"] + self._w["ridge_0"]
        both = np.concatenate([x, surface], axis=1).astype(np.float32)
        votes = np.stack([np.maximum(both @ a + b, 0) @ c + d for a, b, c, d in self._nets])
        members = np.concatenate([votes, ridge[None]])
        spread = members.std(axis=0).mean(axis=1)
        return Rated(self._matched((votes.mean(axis=0) + ridge) / 2, "both"), spread, bag.known)

    def _said(self, bag: Bags, count: int) -> Floats:
        weighed = self._gram[bag.columns] * bag.values[:, None]
        return np.stack([np.bincount(bag.rows, column, minlength=count) for column in weighed.T], axis=1)

    def _matched(self, raw: Floats, name: str) -> Floats:
        """Give readings the spread that ratings have: a regression's own are drawn to the middle."""
        mean, stretch = self._w[f"{name}_mean"], self._w[f"{name}_stretch"]
        return scaled(mean + (raw - mean) * stretch)


@cache
def weights_name() -> str:
    """Return what names the weights: readings by others are others."""
    return hashlib.sha256(WEIGHTS.read_bytes()).hexdigest()[:16]


@cache
def model() -> ToneModel:
    """Return the model of this release, read once."""
    with np.load(WEIGHTS, allow_pickle=False) as held:
        return ToneModel({name: held[name] for name in held.files})
