"""Fits the model of valence, arousal and dominance to EmoBank, and shows how near it comes to the raters.

    python -m braid.tools.lab.fit_affect EMOBANK_CSV VADER_FOLDER [--write] [--plot FILE.svg]

EMOBANK_CSV has the columns id, split (train, dev), V, A, D, text; VADER_FOLDER is `vaderSentiment/` of the package
vaderSentiment 3.3.2 (`pip download --no-deps vaderSentiment`). Fits to train, calibrates confidence on dev; seeded, and
about half a minute on one core. Without `--write` nothing is changed.
"""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Annotated, Any, Final, cast

import msgspec
import numpy as np
import typer

from braid.affect.confidence import BANDS, Votes, band, calibrated, columns, is_right, ruled, votes
from braid.affect.cues import Cues, read_cues
from braid.affect.features import features
from braid.affect.lexicon import LEXICON
from braid.affect.model import WEIGHTS, Bags, Rated, ToneModel, bags, keys_of, scaled
from braid.affect.vad import read as read_tones
from braid.affect.words import plain
from braid.models.static import StaticEmbedder
from braid.tools.lab.affect_solvers import logistic, net, ridge

Floats = Any
FOLDS: Final = 5
LEAST: Final = 2
"""In how many texts a word, pair or beginning must be found."""
PLAINEST: Final = (12, 14, 16, 35)
"""Columns of the features: exclamation and question marks, capitals, length."""
SURFACE: Final = 1.2
GRAMS: Final = 14.0
NETS: Final = 8
EMOJI: Final = {
    "👍": 1.8, "👎": -1.8, "😡": -2.8, "🤬": -3.0, "😤": -1.8, "🙄": -1.2, "😍": 2.9, "🥰": 3.0, "🙏": 1.2, "😱": -1.5,
    "😨": -1.9, "😰": -1.9, "😩": -1.7, "😫": -1.8, "🤩": 2.6, "🥳": 2.8, "🔥": 0.9, "👏": 1.7, "😞": -1.9, "😔": -1.7,
}  # fmt: skip
"""Valence of common emoji that VADER's descriptions leave at nothing; set by hand on its scale."""
_PLAIN: Final[dict[str, Any]] = {
    f"{name}_{part}": np.full(3, value)
    for name in ("both", "blind")
    for part, value in (("mean", 3.0), ("stretch", 1.0))
} | {"blind_spread": np.array(0.0)}


class Texts(msgspec.Struct, frozen=True):
    """Texts as numbers, with what the raters said."""

    keys: list[list[int]]
    vectors: Floats
    surface: Floats
    ratings: Floats

    def take(self, which: Floats) -> "Texts":
        """Return some of them, by a mask."""
        kept = [keys for keys, wanted in zip(self.keys, which, strict=True) if wanted]
        return Texts(kept, self.vectors[which], self.surface[which], self.ratings[which])


def load(path: Path) -> tuple[list[str], Texts, Floats]:
    """Return the texts of an EmoBank file, the same as numbers, and which of them are for training."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    read = [plain(row["text"]) for row in rows]
    numbers = Texts(
        [keys_of(text) for text in read],
        StaticEmbedder().embed([row["text"] for row in rows]).astype(np.float64),
        np.array([features(read_cues(row["text"])) for row in rows], dtype=np.float64),
        np.array([[float(row[name]) for name in "VAD"] for row in rows]),
    )
    return read, numbers, np.array([row["split"] == "train" for row in rows])


def vocabulary(keys: Sequence[Sequence[int]]) -> tuple[Floats, Floats]:
    """Return the words, pairs and beginnings that are found often enough, sorted, and their idf."""
    found = Counter(key for each in keys for key in set(each))
    kept = sorted(key for key, count in found.items() if count >= LEAST)
    idf = np.array([np.log(len(keys) / found[key]) + 1.0 for key in kept])
    return np.array(kept, dtype=np.uint32), idf.astype(np.float16).astype(np.float64)


def _packed(name: str, whole: Floats) -> dict[str, Floats]:
    """Return a matrix as int8 with a scale for each column."""
    scale: Floats = np.abs(whole).max(axis=0) / 127 + 1e-12
    return {
        name: cast("Floats", np.round(whole / scale)).astype(np.int8),
        f"{name}_scale": scale.astype(np.float32),
    }


def _stretched(w: dict[str, Floats], name: str, said: Floats, ratings: Floats) -> dict[str, Floats]:
    """Return what gives held-out answers the spread of the ratings."""
    stretch = ratings.std(axis=0) / said.std(axis=0)
    return w | {f"{name}_mean": ratings.mean(axis=0), f"{name}_stretch": stretch}


def fit(texts: Texts) -> dict[str, Floats]:
    """Return the weights that the texts teach, as the package keeps them."""
    keys, idf = vocabulary(texts.keys)
    bag = bags(texts.keys, keys, idf)
    centre = texts.ratings.mean(axis=0)
    means = {"x_mean": texts.vectors.mean(axis=0), "s_mean": texts.surface.mean(axis=0)}
    stds = {"x_std": texts.vectors.std(axis=0) + 1e-6, "s_std": texts.surface.std(axis=0) + 1e-6}
    x = (texts.vectors - means["x_mean"]) / stds["x_std"]
    s = (texts.surface - means["s_mean"]) / stds["s_std"]
    wide, narrow = x.shape[1], s.shape[1]
    weighed = Bags(bag.rows, bag.columns, bag.values * GRAMS**0.5, bag.known)
    light_x, light_s = 1 / wide**0.5, (SURFACE / narrow) ** 0.5
    dense, entries = ridge(
        np.concatenate([x * light_x, s * light_s], axis=1), weighed, len(keys), texts.ratings
    )
    w: dict[str, Floats] = {**means, **stds, "gram_keys": keys, "gram_idf": idf.astype(np.float16)}
    packed = _packed("gram", entries * GRAMS**0.5)
    w |= {"gram_w": packed["gram"], "gram_scale": packed["gram_scale"]}
    w |= {"ridge_x": dense[:wide] * light_x, "ridge_s": dense[wide:] * light_s, "ridge_0": centre}
    w |= {"blind_s": _blind(s, bag, w, texts.ratings - centre), "blind_0": centre}
    spread = texts.ratings.std(axis=0)
    inputs = np.concatenate([x, s], axis=1).astype(np.float32)
    aims = ((texts.ratings - centre) / spread).astype(np.float32)
    for seed in range(NETS):
        into, bias, out, last = net(inputs, aims, seed)
        w |= _packed(f"net{seed}_in", into) | _packed(f"net{seed}_out", out * spread)
        w |= {f"net{seed}_bias": bias, f"net{seed}_last": last * spread + centre}
    return {
        name: each.astype(np.float32) if each.dtype == np.float64 else each for name, each in w.items()
    } | {"nets": np.array(NETS), **_PLAIN}


def _blind(surface: Floats, bag: Bags, w: dict[str, Floats], aims: Floats) -> Floats:
    """Return the weights of the features where there is no vector, beside the words' own."""
    entries = w["gram_w"] * w["gram_scale"].astype(np.float64)
    weighed = entries[bag.columns] * bag.values[:, None]
    said = np.stack([np.bincount(bag.rows, c, minlength=len(surface)) for c in weighed.T], axis=1)
    gram = surface.T @ surface + 30.0 * np.eye(surface.shape[1])
    return cast("Floats", np.linalg.solve(gram, surface.T @ (aims - said)))


def rated(w: dict[str, Floats], texts: Texts, read: Sequence[str], *, blind: bool = False) -> Rated:
    """Return what fitted weights say of texts."""
    return ToneModel(w).rate(read, texts.surface, None if blind else texts.vectors)


def alone(texts: Texts, others: Texts) -> Floats:
    """Return others' ratings by a ridge on vectors and four marks: how hard a split is, whatever reads it."""
    x, y = (np.concatenate([own.vectors, own.surface[:, PLAINEST]], axis=1) for own in (texts, others))
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-6
    x, y = (x - mean) / spread, (y - mean) / spread
    gram = x.T @ x + 1e3 * np.eye(x.shape[1])
    centred = texts.ratings - texts.ratings.mean(axis=0)
    return cast("Floats", y @ np.linalg.solve(gram, x.T @ centred))


def held_out(texts: Texts, read: Sequence[str]) -> tuple[Floats, Floats, Floats]:
    """Return each text's ratings as read by weights that haven't seen it: whole, without vectors, by `alone`."""
    fold = np.random.default_rng(1).integers(0, FOLDS, len(read))
    both, blind, simple = (np.zeros_like(texts.ratings) for _ in range(3))
    for part in range(FOLDS):
        w, left = fit(texts.take(fold != part)), fold == part
        some, own = texts.take(left), [text for text, out in zip(read, left, strict=True) if out]
        both[left] = rated(w, some, own).vad
        blind[left] = rated(w, some, own, blind=True).vad
        simple[left] = alone(texts.take(fold != part), some)
    return both, blind, simple


def r(one: Floats, other: Floats) -> list[float]:
    """Return Pearson's r of valence, arousal and dominance."""
    return [float(np.corrcoef(one[:, at], other[:, at])[0, 1]) for at in range(3)]


def show(name: str, found: Sequence[float]) -> None:
    """Print one line of correlations."""
    typer.echo(f"{name:<28} V {found[0]:.3f}  A {found[1]:.3f}  D {found[2]:.3f}")


def judged(
    w: dict[str, Floats], texts: Texts, read: Sequence[str]
) -> tuple[Floats, Floats, list[Votes], list[Cues]]:
    """Return of some texts: what confidence is computed from, whether the reading is right, votes and cues."""
    said = rated(w, texts, read)
    cues = [read_cues(text) for text in read]
    voted = [votes(float(vad[0]), each) for vad, each in zip(said.vad, cues, strict=True)]
    right = is_right(said.vad[:, 0], scaled(texts.ratings)[:, 0])
    return columns(said.vad, said.spread, said.known, voted, cues), right, voted, cues


def crossed(x: Floats, y: Floats) -> Floats:
    """Return each row's probability by coefficients that haven't seen it."""
    fold = np.random.default_rng(2).integers(0, FOLDS, len(y))
    found = np.zeros(len(y))
    for part in range(FOLDS):
        found[fold == part] = calibrated(x[fold == part], logistic(x[fold != part], y[fold != part]))
    return found


def bands(sure: Floats, right: Floats) -> list[tuple[str, int, float, float]]:
    """Return name, count, mean confidence and share right of each band that has any."""
    names = np.array([band(float(p)) for p in sure])
    return [
        (name, int(has.sum()), float(sure[has].mean()), float(right[has].mean()))
        for name, _ in BANDS
        if (has := names == name).any()
    ]


def lexicon(folder: Path) -> str:
    """Return VADER's lexicon as the package keeps it: name, tab, valence; emoji by the words that describe them."""
    found: dict[str, float] = {}
    for line in (folder / "vader_lexicon.txt").read_text(encoding="utf-8").splitlines():
        name, told, *_ = line.split("\t")
        found[name] = float(told)
    pictures: dict[str, float] = {}
    for line in (folder / "emoji_utf8_lexicon.txt").read_text(encoding="utf-8").splitlines():
        char, _, described = line.partition("\t")
        total = sum(found.get(word, 0.0) for word in re.findall(r"[a-z]+", described.lower()))
        if len(char) == 1 and total:
            pictures[char] = max(-4.0, min(4.0, total))
    whole = found | pictures | EMOJI
    return "".join(f"{name}\t{valence:g}\n" for name, valence in sorted(whole.items()))


def plot(path: Path, sure: Floats, right: Floats, said: Floats, ratings: Floats) -> None:
    """Draw how often readings of each confidence are right, and readings against ratings."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as drawing

    pyplot: Any = drawing
    mpl.rcParams |= {"svg.hashsalt": "braid", "svg.fonttype": "none", "font.family": "sans-serif"}
    figure, axes = pyplot.subplots(1, 4, figsize=(13, 3.4), layout="constrained")
    edges = np.quantile(sure, np.linspace(0, 1, 9))
    parts = np.minimum(cast("Floats", np.searchsorted(edges, sure, side="right")) - 1, 7)
    points = [(float(sure[parts == at].mean()), float(right[parts == at].mean())) for at in range(8)]
    axes[0].plot([0, 1], [0, 1], color="#9ca3af", linewidth=1)
    axes[0].plot(*zip(*points, strict=True), "o-", color="#be185d")
    axes[0].set(title="Confidence", xlabel="said", ylabel="right", xlim=(0, 1), ylim=(0, 1))
    for at, name in enumerate(("Valence", "Arousal", "Dominance")):
        order = np.array_split(np.argsort(said[:, at], kind="stable"), 12)
        x = [float(said[part, at].mean()) for part in order]
        low, middle, high = (
            [float(np.quantile(ratings[part, at], q)) for part in order] for q in (0.1, 0.5, 0.9)
        )
        axes[at + 1].fill_between(x, low, high, color="#dbeafe")
        axes[at + 1].plot(x, middle, "o-", color="#1d4ed8")
        axes[at + 1].set(title=f"{name}, r = {r(said, ratings)[at]:.2f}", xlabel="read", ylabel="rated")
    figure.savefig(path, metadata={"Date": None, "Title": "Readings of EmoBank's dev split"})


def main(
    emobank: Path,
    vader: Path,
    write: Annotated[bool, typer.Option("--write", help="Write weights and lexicon.")] = False,
    drawn: Annotated[Path | None, typer.Option("--plot", help="Draw the dev split as SVG.")] = None,
) -> None:
    """Fit, show what is read of texts that were not seen, and write where asked to."""
    if write:
        LEXICON.write_text(lexicon(vader), encoding="utf-8")
    read, texts, train = load(emobank)
    own = [text for text, taught in zip(read, train, strict=True) if taught]
    rest = [text for text, taught in zip(read, train, strict=True) if not taught]
    taught, dev = texts.take(train), texts.take(~train)
    both, blind, simple = held_out(taught, own)
    show("train, left out", r(both, taught.ratings))
    show("train, without vectors", r(blind, taught.ratings))
    show("train, a ridge alone", r(simple, taught.ratings))
    w = fit(taught)
    show("dev", r(rated(w, dev, rest).vad, dev.ratings))
    show("dev, without vectors", r(rated(w, dev, rest, blind=True).vad, dev.ratings))
    show("dev, a ridge alone", r(alone(taught, dev), dev.ratings))
    middle = scaled(np.full(3, 3.0))
    for name, said in (("both", both), ("blind", blind)):
        points = (said - middle) / (scaled(np.full(3, 4.0)) - middle) + 3.0
        w = _stretched(w, name, points, taught.ratings)
    w |= {"blind_spread": np.array(rated(w, dev, rest).spread.mean())}
    x, right, voted, cues = judged(w, dev, rest)
    w |= {"confidence": logistic(x, right)}
    each = zip(crossed(x, right), voted, cues, x[:, 4], strict=True)
    sure = np.array([ruled(float(p), vote, cue, float(known)) for p, vote, cue, known in each])
    for name, count, mean, share in bands(sure, right):
        typer.echo(f"{name:<8} {count:>5} readings  said {mean:.2f}  right {share:.2f}")
    gap = sum(count * abs(mean - share) for _, count, mean, share in bands(sure, right)) / len(sure)
    typer.echo(f"expected calibration error over the bands {gap:.3f}")
    if write:
        np.savez_compressed(WEIGHTS, **{name: _small(each) for name, each in w.items()})
        typer.echo(
            f"{WEIGHTS}: {WEIGHTS.stat().st_size} bytes, {len(w['gram_keys'])} words, pairs and beginnings"
        )
    if drawn is not None:
        plot(drawn, sure, right, rated(w, dev, rest).vad, scaled(dev.ratings))
    typer.echo(f"{len(rest) / _seconds(rest):,.0f} texts in a second of one core's time")


def _seconds(texts: Sequence[str]) -> float:
    """Return how long this release takes to embed and read some texts, in seconds of the processor."""
    embedder = StaticEmbedder()
    read_tones(texts[:50], embedder.embed(texts[:50]))
    began = process_time()
    read_tones(texts, embedder.embed(texts))
    return process_time() - began


def _small(each: Floats) -> Floats:
    return each.astype(np.float32) if each.dtype == np.float64 else each


if __name__ == "__main__":
    typer.run(main)
