"""Fits how sure an answer is to questions whose answers are known, and shows whether that holds elsewhere.

    python -m braid.tools.fit_answers FOLDER_OF_LOCOMO [--write]

Two logistic regressions over what recall found, L2-regularised, by Newton's method from zero: no randomness. Each
conversation in turn is left out and judged by what the others teach; `--write` then fits to all.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast

import msgspec
import numpy as np
import numpy.typing as npt
import typer

from braid.agent.compose import choose, speaking
from braid.agent.sureness import SIGNALS, WEIGHTS, Weights
from braid.recall.decompose import decompose
from braid.recall.pool import Floats
from braid.tools.answer_evaluation import Case, collect, evaluate
from braid.tools.answer_samples import read_exams
from braid.tools.answer_scores import calibrated, measures

L2: Final = 1e-2
ROUNDS: Final = 40
FALSE_SILENCE: Final = 0.19
"""The limit is set where so many of the answerable questions that it was fitted to are left unanswered: of others a few
more are."""


def fit(cases: Sequence[Case]) -> Weights:
    """Return the weights that make what came of these questions most likely."""
    some = [case for case in cases if case.asked.hits]
    rows = [speaking(decompose(case.asked.question, case.asked.now), case.asked.hits) for case in some]
    x = np.array([[row[name] for name in SIGNALS] for row in rows])
    known = np.array([case.gold.answerable for case in some])
    right = np.array([case.gold.answerable and _is_right(case) for case in some])
    by_known = logistic(x, known)
    likely = 1 / (1 + np.exp(-(by_known[0] + x @ by_known[1:])))
    return Weights(
        about="Fitted by tools/fit_answers.py to five conversations of LoCoMo: numbers, no text.",
        known=_named(by_known),
        right=_named(logistic(x, right)),
        limit=round(float(np.quantile(likely[known], FALSE_SILENCE)), 4),
    )


def _is_right(case: Case) -> bool:
    chosen = choose(decompose(case.asked.question, case.asked.now), case.asked.hits)
    return chosen is not None and case.places.get(chosen[0].id) in case.gold.evidence


def logistic(x: Floats, y: npt.NDArray[np.bool_]) -> Floats:
    """Return float64[1 + n]: the bias, and the weights of the columns as they are."""
    middle, spread = x.mean(axis=0), x.std(axis=0) + 1e-6
    z: Floats = np.column_stack([np.ones(len(x)), (x - middle) / spread])
    ridge: Floats = np.array([1e-9, *[L2] * x.shape[1]])
    w = cast("Floats", np.zeros(z.shape[1]))
    for _ in range(ROUNDS):
        p: Floats = 1 / (1 + np.exp(-(z @ w)))
        slope: Floats = z.T @ (p - y) / len(y) + ridge * w
        bend: Floats = (z.T * (p * (1 - p))) @ z / len(y) + np.diag(ridge)
        w = w - cast("Floats", np.linalg.solve(bend, slope))
    columns: Floats = w[1:] / spread
    return np.array([float(w[0]) - float(columns @ middle), *columns.tolist()])


def _named(w: Floats) -> dict[str, float]:
    return {name: round(float(value), 4) for name, value in zip(("bias", *SIGNALS), w.tolist(), strict=True)}


def main() -> None:
    """Fit, show what each conversation comes to when the others teach, and write the weights where asked to."""
    files = sorted(Path(sys.argv[1]).glob("*.json"))
    exams = read_exams([(str(file), file.read_bytes()) for file in files])
    cases = collect(exams)
    judged = evaluate(exams, cases, fit=fit)
    for name in [*(exam.sample.name for exam in exams), "left out"]:
        some = [one for one in judged if name in (one.conversation, "left out")]
        found, at = measures(some), calibrated(some)
        typer.echo(
            f"{name:<10} {len(some):>5} questions  F1 {found['f1']}  cites right {found['citation_precision']}"
            f"  silent on unanswerable {found['abstained_on_unanswerable']}, on answerable"
            f" {found['abstained_on_answerable']}  ECE {at.ece if at else 0:.3f}"
        )
    if "--write" in sys.argv:
        WEIGHTS.write_bytes(msgspec.json.format(msgspec.json.encode(fit(cases)), indent=1) + b"\n")


if __name__ == "__main__":
    main()
