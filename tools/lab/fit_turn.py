"""Fits the words by which a captured turn's tone is read, and shows how near that comes to EmoBank's raters.

    python -m braid.tools.lab.fit_turn EMOBANK_CSV [--write]

A ridge over which words a text has, by its length, and VADER's valences as one more column: words that EmoBank lacks
have a weight by these. Fits to train, and measures on dev; ten seconds. Without `--write` nothing is changed.
"""

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Annotated, Any, Final

import numpy as np
import typer

from braid.affect import turn
from braid.affect.confidence import is_right
from braid.affect.lexicon import lexicon

Floats = Any
LEAST: Final = 3
"""In how many texts a word must be found."""
PENALTY: Final = 0.1
LEXICAL: Final = 0.5
"""How freely the column of valences may be used."""
LIGHT: Final = 40
"""Weights below this, of `turn.SCALE`, are left out."""


def load(path: Path) -> tuple[list[str], Floats, Floats]:
    """Return texts, ratings on our scales (float[n, 3]), and which of them are for training."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    points = np.array([[float(row[name]) for name in "VAD"] for row in rows])
    ratings = np.column_stack([(points[:, 0] - 3) / 2, (points[:, 1] - 1) / 4, (points[:, 2] - 3) / 2])
    return [row["text"] for row in rows], ratings, np.array([row["split"] == "train" for row in rows])


def valences() -> dict[bytes, float]:
    """Return VADER's valence of each word that a turn's words can be."""
    found: dict[bytes, float] = {}
    for name, value in lexicon().items():
        if turn.words(name)[:1] == [name.encode()] or (len(name) == 1 and not name.isascii()):
            found[name.encode()] = value
    return found


def fit(texts: Sequence[str], ratings: Floats) -> dict[bytes, tuple[int, int, int]]:
    """Return the weights that the texts teach, in whole numbers, the base under `turn.BASE`."""
    said = [turn.words(text) for text in texts]
    counts = Counter(word for words in said for word in set(words))
    place = {word: at for at, word in enumerate(sorted(w for w, n in counts.items() if n >= LEAST))}
    lexical = valences()
    x = np.zeros((len(said), len(place) + 1))
    for row, words in enumerate(said):
        share = 1 / (len(words) + turn.CALM_WORDS)
        for word in set(words):
            if word in place:
                x[row, place[word]] = share
            x[row, -1] += LEXICAL * lexical.get(word, 0.0) * share
    mean = ratings.mean(axis=0)
    solve: Any = np.linalg.solve
    found: Floats = solve(x.T @ x + PENALTY * np.eye(x.shape[1]), x.T @ (ratings - mean))
    stretch: Floats = ratings.std(axis=0) / (x @ found).std(axis=0)
    # What is left out pulls less far than what taught the weights: half of the stretch that it lacks is given back.
    stretch = 1 + (stretch - 1) / 2
    return _whole(place, lexical, found * stretch, mean - ((x @ found).mean(axis=0)) * stretch)


def _whole(
    place: dict[bytes, int], lexical: dict[bytes, float], found: Floats, base: Floats
) -> dict[bytes, tuple[int, int, int]]:
    weights: dict[bytes, tuple[int, int, int]] = {turn.BASE.encode(): _rounded(base)}
    for word in sorted(place.keys() | lexical.keys()):
        own = found[place[word]] if word in place else np.zeros(3)
        weight = _rounded(own + LEXICAL * lexical.get(word, 0.0) * found[-1])
        if word in place or max(map(abs, weight)) >= LIGHT:
            weights[word] = weight
    return weights


def _rounded(values: Floats) -> tuple[int, int, int]:
    whole: list[int] = np.rint(values * turn.SCALE).astype(int).tolist()
    v, a, d = whole
    return v, a, d


def lines(weights: dict[bytes, tuple[int, int, int]]) -> str:
    """Return the file of the weights."""
    return "".join(
        f"{word.decode()}\t" + "\t".join(map(str, weight)) + "\n" for word, weight in weights.items()
    )


def show(name: str, texts: Sequence[str], ratings: Floats) -> None:
    """Print how near this release's weights come to ratings, and how often their side is right, by distance."""
    told = [turn.tone(text) for text in texts]
    there = np.array([one is not None for one in told])
    said = np.array([[one.valence, one.arousal, one.dominance] for one in told if one is not None])
    ratings = ratings[there]
    r = [np.corrcoef(said[:, at], ratings[:, at])[0, 1] for at in range(3)]
    typer.echo(f"{name:<8} {len(said):,} of {len(texts):,}  V {r[0]:.3f}  A {r[1]:.3f}  D {r[2]:.3f}")
    right, low = is_right(said[:, 0], ratings[:, 0]), 0.0
    for high, sure in turn.SURE:
        within = (np.abs(said[:, 0]) >= low) & (np.abs(said[:, 0]) < high)
        if within.any():
            typer.echo(
                f"  |V| from {low:.2f}: {within.sum():>5}  said {sure:.2f}  right {right[within].mean():.3f}"
            )
        low = high


def main(
    emobank: Annotated[Path, typer.Argument(exists=True)],
    write: Annotated[bool, typer.Option("--write", help="Put the weights into the package.")] = False,
) -> None:
    """Fit, measure and, if asked, write."""
    texts, ratings, train = load(emobank)
    if write:
        taught = [text for text, own in zip(texts, train, strict=True) if own]
        turn.WEIGHTS.write_text(lines(fit(taught, ratings[train])), encoding="utf-8")
        turn.forget_weights()
    for name, which in (("train", train), ("dev", ~train)):
        show(name, [text for text, own in zip(texts, which, strict=True) if own], ratings[which])
    began = process_time()
    for text in texts:
        turn.tone(text)
    typer.echo(f"{(process_time() - began) / len(texts) * 1e6:.1f} µs a text")


if __name__ == "__main__":
    typer.run(main)
