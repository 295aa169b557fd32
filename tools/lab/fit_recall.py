"""Fits the weights of recall's signals to questions whose answers are known, and shows whether they hold elsewhere.

    python -m braid.tools.lab.fit_recall FOLDER_OF_LOCOMO [--write]

A listwise softmax over linear scores (Cao et al., ICML 2007), L2-regularised: convex, so Newton's steps from zero end
in the one optimum, without randomness. Each conversation in turn is left out and ranked by what the others teach. Two
lines more bound that: each ranked by what it taught itself, the most that a sum of these signals can do, and all ranked
by the weights of this release. The candidates are those of the product. `--write` then fits to all.
"""

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import typer

from braid.models.static import StaticEmbedder
from braid.recall.decompose import Decomposer, decompose
from braid.recall.evaluate import QuestionMeasures, mean, measure
from braid.recall.memory import MemoryIndex
from braid.recall.rank import WEIGHTS, weights
from braid.recall.samples import Sample, SampleQuestion, read_locomo
from braid.recall.search import evidence
from braid.recall.vocabulary import Vocabulary
from braid.views.search import Row, Where

STEPS: Final = 50
LEVEL: Final = 1e-8
"""Where no slope is steeper, the optimum is reached."""
L2: Final = 3e-3
NOW: Final = datetime(2030, 1, 1, tzinfo=UTC)


def index_of(sample: Sample, embedder: StaticEmbedder) -> MemoryIndex:
    """Return a conversation as an index in memory, laid out as the projection does."""
    rows = [
        Row(
            at, f"exp_{at}", turn.whole, "experience", "user", turn.speaker, sample.name, None, None,
            turn.session, at, int(turn.when.timestamp() * 1e6), 1.0, None, pending=False,
        )
        for at, turn in enumerate(sample.turns)
    ]  # fmt: skip
    vectors = embedder.embed([row.text for row in rows])
    return MemoryIndex(rows, dict(enumerate(vectors)), position=len(rows), model=embedder.name)


Case = tuple[Any, Any, list[int], Sample, SampleQuestion]


def cases(
    sample: Sample, embedder: StaticEmbedder, vocabulary: Vocabulary, decomposer: Decomposer = decompose
) -> list[Case]:
    """Return each question's signals, which rows answer it, and what they are."""
    index = index_of(sample, embedder)
    found: list[Case] = []
    for asked in sample.questions:
        question = decomposer(asked.text, NOW)
        vector = embedder.embed([question.text])[0]
        made = evidence(question, index, Where(), vector, vocabulary, sessions=index)
        order = [row.index for row in made.pool.rows]
        right = np.isin(order, asked.evidence)
        columns = [made.signals.get(name, np.zeros(len(order))) for name in names()]
        found.append((np.stack(columns, axis=1), right, order, sample, asked))
    return found


def names() -> list[str]:
    """The signals that are fitted, in order."""
    return sorted(weights().fitted)


def fit(cases: Sequence[Case]) -> Any:
    """Return the weights that make the answers most likely under a softmax over each question's candidates."""
    some = [case for case in cases if case[1].any()]
    x = np.concatenate([case[0] for case in some])
    sizes = np.array([len(case[1]) for case in some])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    right = np.concatenate([case[1] for case in some]).astype(float)
    aim = right / np.repeat(np.add.reduceat(right, starts), sizes)
    scale = x.std(axis=0) + 1e-6
    z = (x - x.mean(axis=0)) / scale

    def at(w: Any) -> tuple[float, Any]:
        """Return the loss, and how likely each candidate is."""
        scores = z @ w
        top = np.maximum.reduceat(scores, starts)
        grown = np.exp(scores - np.repeat(top, sizes))
        total = np.add.reduceat(grown, starts)
        loss = float((np.log(total) + top).sum() - aim @ scores) / len(some) + L2 / 2 * float(w @ w)
        return loss, grown / np.repeat(total, sizes)

    solve: Any = np.linalg.solve
    w: Any = np.zeros(x.shape[1])
    loss, likely = at(w)
    for _ in range(STEPS):
        slope: Any = z.T @ (likely - aim) / len(some) + L2 * w
        if float(np.abs(slope).max()) < LEVEL:
            break
        weighed = z * likely[:, None]
        means = np.add.reduceat(weighed, starts, axis=0)
        curve: Any = (z.T @ weighed - means.T @ means) / len(some) + L2 * np.eye(len(w))
        step: Any = solve(curve, slope)
        while True:  # from far away a whole step leads too far
            found, then = at(w - step)
            if found <= loss or float(np.abs(step).max()) < LEVEL:
                break
            step /= 2
        w -= step
        loss, likely = found, then
    return w / scale


def judge(cases: Sequence[Case], w: Any) -> list[QuestionMeasures]:
    """Return the measures of each question when the weights rank its candidates."""
    found: list[QuestionMeasures] = []
    for signals, _, order, sample, asked in cases:
        best: list[int] = np.argsort(-(signals @ w), kind="stable").tolist()
        ranked = [order[at] for at in best]
        right: set[object] = set(asked.evidence)
        sessions = [sample.sessions[at] for at in ranked]
        found.append(
            QuestionMeasures(
                asked.category,
                measure(ranked, right),
                measure(sessions, {sample.sessions[at] for at in asked.evidence}),
            )
        )
    return found


def show(name: str, answered: Sequence[QuestionMeasures]) -> None:
    """Print one line of measures."""
    turn, session = mean([each.turn for each in answered]), mean([each.session for each in answered])
    typer.echo(
        f"{name:<12} {len(answered):>5} questions  R@1 {turn['recall@1']:.3f}  R@5 {turn['recall@5']:.3f}"
        f"  R@10 {turn['recall@10']:.3f}  R@50 {turn['recall@50']:.3f}  MRR {turn['mrr']:.3f}"
        f"  nDCG {turn['ndcg@10']:.3f}  session R@5 {session['recall@5']:.3f}"
    )


def main() -> None:
    """Fit, show what each conversation scores when the others teach, and write the weights where asked to."""
    embedder = StaticEmbedder()
    vocabulary = Vocabulary(embedder)
    folder = Path(sys.argv[1])
    by_sample: dict[str, list[Case]] = {}
    for path in sorted(folder.glob("*.json")):
        sample = read_locomo(json.loads(path.read_text()))
        by_sample[sample.name] = cases(sample, embedder, vocabulary)
    held: list[QuestionMeasures] = []
    for name, own in by_sample.items():
        answered = judge(
            own, fit([case for other, each in by_sample.items() if other != name for case in each])
        )
        show(name, answered)
        held += answered
    show("left out", held)
    show("(1-4)", [each for each in held if each.category != "5"])
    for category in sorted({each.category for each in held}):
        show(f"category {category}", [each for each in held if each.category == category])
    show("by itself", [each for own in by_sample.values() for each in judge(own, fit(own))])
    everything = [case for each in by_sample.values() for case in each]
    show("as shipped", judge(everything, np.array([weights().fitted[name] for name in names()])))
    final = fit(everything)
    scale = np.concatenate([case[0] for case in everything]).std(axis=0)
    for weight, name, strength in sorted(
        zip(final, names(), final * scale, strict=True), key=lambda t: -abs(t[2])
    ):
        typer.echo(f"  {name:<18} {weight:+8.3f}  × its spread {strength:+.3f}")
    if "--write" in sys.argv:
        blind = [n for n in names() if n in weights().without_model]
        columns = [names().index(n) for n in blind]
        narrow = fit([(case[0][:, columns], *case[1:]) for case in everything])
        written = {
            "about": "Fitted by tools/lab/fit_recall.py to five conversations of LoCoMo: numbers, no text.",
            "fitted": {n: round(float(w), 4) for n, w in zip(names(), final, strict=True)},
            "set": weights().set,
            "without_model": {n: round(float(w), 4) for n, w in zip(blind, narrow, strict=True)},
        }
        WEIGHTS.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()
