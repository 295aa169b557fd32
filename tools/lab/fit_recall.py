"""Fits the weights of recall's signals to questions whose answers are known, and shows whether they hold elsewhere.

    python -m braid.tools.lab.fit_recall FOLDER_OF_LOCOMO [--meetings FILE] [--talks FOLDER] [--deep N] [--write]

A listwise softmax over linear scores (Cao et al., ICML 2007), L2-regularised, solved by Newton's steps from zero, so
without randomness. A kind of conversation weighs as the square root of its questions. Of several turns that answer a
question, each round trusts more in those that the last one found: of a span of a hundred turns not all answer.

Each kind in turn is left out and ranked by what the others teach, and so is each conversation of LoCoMo. More lines
show what the weights of this release do, BM25, and a plain sum of two scores. The candidates are those of the product.
`--write` then fits to all.
"""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
import typer

from braid.models.static import StaticEmbedder
from braid.recall.decompose import Decomposer, decompose
from braid.recall.evaluate import QuestionMeasures, mean, measure
from braid.recall.memory import MemoryIndex
from braid.recall.rank import WEIGHTS, weights
from braid.recall.retrieve import DEEP
from braid.recall.samples import Sample, SampleQuestion
from braid.recall.search import evidence
from braid.recall.vocabulary import Vocabulary
from braid.tools.lab.recall_baselines import BASELINES, Baseline
from braid.tools.lab.recall_kinds import LOCOMO, NOW, Conversation, conversations
from braid.views.search import Row, Where

STEPS: Final = 30
LEVEL: Final = 1e-6
"""Where no slope is steeper, the optimum is reached."""
L2: Final = 1e-2
ROUNDS: Final = 3
TRUST: Final = 0.7
"""How far a round trusts in the turns that the last one found, rather than in each that answers."""


class Case(NamedTuple):
    """A question's candidates: their signals by `names()`, which of them answer it, and their places."""

    signals: Any
    right: Any
    order: list[int]
    sample: Sample
    asked: SampleQuestion
    weight: float = 1.0


def index_of(sample: Sample, embedder: StaticEmbedder) -> MemoryIndex:
    """Return a conversation as an index in memory, laid out as the projection does."""
    rows = [
        Row(
            at, f"exp_{at}", turn.whole, "experience", "user", turn.speaker, sample.name, None, None, None,
            turn.session, at, int(turn.when.timestamp() * 1e6), 1.0, None, pending=False,
        )
        for at, turn in enumerate(sample.turns)
    ]  # fmt: skip
    vectors = embedder.embed([row.text for row in rows])
    return MemoryIndex(rows, dict(enumerate(vectors)), position=len(rows), model=embedder.name)


def cases(
    sample: Sample,
    embedder: StaticEmbedder,
    vocabulary: Vocabulary,
    decomposer: Decomposer = decompose,
    *,
    now: Any = NOW,
    deep: int = DEEP,
) -> list[Case]:
    """Return each question's candidates."""
    index = index_of(sample, embedder)
    found: list[Case] = []
    for asked in sample.questions:
        question = decomposer(asked.text, now)
        vector, topic = embedder.embed([question.text, " ".join(question.topic) or question.text])
        made = evidence(question, index, Where(), vector, vocabulary, topic=topic, sessions=index, deep=deep)
        order = [row.index for row in made.pool.rows]
        columns = [made.signals.get(name, np.zeros(len(order))) for name in names()]
        right = np.isin(order, asked.evidence)
        found.append(Case(np.stack(columns, axis=1), right, order, sample, asked))
    return found


def names() -> list[str]:
    """The signals that are fitted, in order."""
    return sorted(weights().fitted)


def weighed(by_kind: Sequence[tuple[str, Sequence[Case]]]) -> list[Case]:
    """Return the cases of all kinds, those of a kind together as the square root of their number."""
    counts = Counter[str]()
    for kind, some in by_kind:
        counts[kind] += len(some)
    return [case._replace(weight=counts[kind] ** -0.5) for kind, some in by_kind for case in some]


class _Stacked:
    """Cases on top of each other, each signal brought to mean 0 and spread 1."""

    def __init__(self, cases: Sequence[Case]) -> None:
        x = np.concatenate([case.signals for case in cases])
        self.sizes = np.array([len(case.right) for case in cases])
        self.starts = np.cumsum([0, *self.sizes[:-1].tolist()])
        self.of = np.repeat(np.arange(len(cases)), self.sizes)
        weight = np.array([case.weight for case in cases])
        self.weight = weight / weight.sum()
        each = (self.weight / self.sizes)[self.of][:, None]
        middle = (x * each).sum(axis=0)
        self.scale = np.sqrt(((x - middle) ** 2 * each).sum(axis=0)) + 1e-6
        self.z = (x - middle) / self.scale
        self.right = np.concatenate([case.right for case in cases]).astype(float)

    def shares(self, values: Any) -> Any:
        """Return the values as shares of each question's sum."""
        return values / np.maximum(np.add.reduceat(values, self.starts), 1e-12)[self.of]

    def likely(self, w: Any) -> tuple[Any, Any]:
        """Return the log-sum-exp of each question's scores, and how likely each candidate is."""
        scores = self.z @ w
        top = np.maximum.reduceat(scores, self.starts)
        grown = np.exp(scores - top[self.of])
        return np.log(np.add.reduceat(grown, self.starts)) + top, self.shares(grown)

    def solved(self, aim: Any, w: Any) -> Any:
        """Return the weights that make `aim` most likely, by Newton's steps from `w`."""
        rows = self.weight[self.of]
        solve: Any = np.linalg.solve

        def loss(w: Any) -> float:
            sums, _ = self.likely(w)
            return float(self.weight @ sums - (rows * aim) @ (self.z @ w)) + L2 / 2 * float(w @ w)

        now = loss(w)
        for _ in range(STEPS):
            likely = self.likely(w)[1]
            slope: Any = self.z.T @ (rows * (likely - aim)) + L2 * w
            if float(np.abs(slope).max()) < LEVEL:
                break
            means = np.add.reduceat(self.z * likely[:, None], self.starts)
            curve: Any = self.z.T @ (self.z * (rows * likely)[:, None]) - means.T @ (
                means * self.weight[:, None]
            )
            step: Any = solve(curve + L2 * np.eye(len(w)), slope)
            # from far away a whole step leads too far
            while (found := loss(w - step)) > now and float(np.abs(step).max()) > LEVEL:
                step /= 2
            w, now = w - step, found
        return w


def fit(cases: Sequence[Case]) -> Any:
    """Return the weights that make the answers most likely under a softmax over each question's candidates."""
    stacked = _Stacked([case for case in cases if case.right.any()])
    evenly = stacked.shares(stacked.right)
    w: Any = stacked.solved(evenly, np.zeros(stacked.z.shape[1]))
    for _ in range(ROUNDS - 1):
        found = stacked.shares(stacked.likely(w)[1] * stacked.right)
        w = stacked.solved((1 - TRUST) * evenly + TRUST * found, w)
    return w / stacked.scale


def judge(cases: Sequence[Case], w: Any) -> list[QuestionMeasures]:
    """Return the measures of each question when the weights rank its candidates."""
    return [judged(case, case.signals @ w) for case in cases]


def judged(case: Case, scores: Any) -> QuestionMeasures:
    """Return the measures of one question whose candidates have these scores."""
    best: list[int] = np.argsort(-scores, kind="stable").tolist()
    return ranked_as(case.sample, case.asked, [case.order[at] for at in best])


def ranked_as(sample: Sample, asked: SampleQuestion, ranked: Sequence[int]) -> QuestionMeasures:
    """Return the measures of one question for which these turns were found, best first."""
    right: set[object] = set(asked.evidence)
    turn = measure(ranked, right)
    sessions = [sample.sessions[at] for at in ranked]
    return QuestionMeasures(
        asked.category, turn, measure(sessions, {sample.sessions[at] for at in asked.evidence})
    )


def show(name: str, answered: Sequence[QuestionMeasures]) -> None:
    """Print one line of measures."""
    turn, session = mean([each.turn for each in answered]), mean([each.session for each in answered])
    columns = ("recall@1", "recall@5", "recall@10", "recall@50", "mrr", "ndcg@10", "hit@10", "p@10")
    shown = "  ".join(f"{title} {turn[column]:.3f}" for title, column in zip(_TITLES, columns, strict=True))
    typer.echo(f"{name:<20} {len(answered):>5} questions  {shown}  session R@5 {session['recall@5']:.3f}")


_TITLES: Final = ("R@1", "R@5", "R@10", "R@50", "MRR", "nDCG", "hit", "p")


def main(
    locomo: Annotated[Path, typer.Argument(help="Folder of LoCoMo's conversations.")],
    meetings: Annotated[Path | None, typer.Option(help="QMSum's meetings, JSON Lines.")] = None,
    talks: Annotated[Path | None, typer.Option(help="Folder of talks with questions.")] = None,
    deep: Annotated[int, typer.Option(help="Candidates of words, and of meaning.")] = DEEP,
    write: Annotated[bool, typer.Option("--write", help="Put the weights into the package.")] = False,
) -> None:
    """Fit, show what each kind scores when the others teach, and write the weights where asked to."""
    embedder = StaticEmbedder()
    vocabulary = Vocabulary(embedder)
    given = conversations(locomo, meetings, talks)
    made = [(one.kind, cases(one.sample, embedder, vocabulary, now=one.now, deep=deep)) for one in given]
    kinds = list(dict.fromkeys(one.kind for one in given))
    for baseline in BASELINES:
        _baseline(given, kinds, baseline, embedder)
    shipped = np.array([weights().fitted[name] for name in names()])
    for kind in kinds:
        show(f"{kind}, as shipped", judge(_of(made, kind), shipped))
    if len(kinds) > 1:
        for kind in kinds:
            taught = fit(weighed([one for one in made if one[0] != kind]))
            show(f"{kind}, unseen", judge(_of(made, kind), taught))
    _left_out(made)
    everything = weighed(made)
    final = fit(everything)
    scale = np.concatenate([case.signals for case in everything]).std(axis=0)
    by_strength = sorted(zip(final, names(), final * scale, strict=True), key=lambda t: -abs(t[2]))
    for weight, name, strength in by_strength:
        typer.echo(f"  {name:<22} {weight:+8.3f}  × its spread {strength:+.3f}")
    if write:
        _write(everything, final, kinds)


Made = Sequence[tuple[str, Sequence[Case]]]


def _of(made: Made, kind: str) -> list[Case]:
    return [case for of, some in made if of == kind for case in some]


def _baseline(
    given: Sequence[Conversation], kinds: Sequence[str], baseline: Baseline, embedder: StaticEmbedder
) -> None:
    for kind in kinds:
        samples = [one.sample for one in given if one.kind == kind]
        answered = [
            ranked_as(sample, asked, ranked)
            for sample in samples
            for asked, ranked in zip(sample.questions, baseline.ranked(sample, embedder), strict=True)
        ]
        show(f"{kind}, {baseline.name}", answered)


def _left_out(made: Made) -> None:
    """Show each conversation of LoCoMo ranked by what all others teach, and by what it taught itself."""
    held: list[QuestionMeasures] = []
    for at, (kind, own) in enumerate(made):
        if kind == LOCOMO:
            answered = judge(own, fit(weighed([*made[:at], *made[at + 1 :]])))
            show(own[0].sample.name, answered)
            held += answered
    show("left out", held)
    show("(1-4)", [each for each in held if each.category != "5"])
    for category in sorted({each.category for each in held}):
        show(f"category {category}", [each for each in held if each.category == category])
    itself = [each for kind, own in made if kind == LOCOMO for each in judge(own, fit(own))]
    show("by itself", itself)


def _write(everything: Sequence[Case], final: Any, kinds: Sequence[str]) -> None:
    blind = [name for name in names() if name in weights().without_model]
    columns = [names().index(name) for name in blind]
    narrow = fit([case._replace(signals=case.signals[:, columns]) for case in everything])
    written = {
        "about": f"Fitted by tools/lab/fit_recall.py to {', '.join(kinds)}: numbers only, nothing of their text.",
        "fitted": {name: round(float(w), 4) for name, w in zip(names(), final, strict=True)},
        "set": weights().set,
        "without_model": {name: round(float(w), 4) for name, w in zip(blind, narrow, strict=True)},
    }
    WEIGHTS.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    typer.run(main)
