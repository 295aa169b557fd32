"""Fits how sure an answer is to questions whose answers are known, and shows whether that holds elsewhere.

    python -m braid.tools.lab.fit_answers FOLDER_OF_LOCOMO [--write] [--plot FILE.svg] [--json FILE]

Two logistic regressions over what recall found, L2-regularised, by Newton's method from zero: no randomness. Each
conversation in turn is left out and judged by what the others teach; `--write` then fits to all.

That memory knows, three more kinds teach beside the data set's own questions, each with less weight: what was asked
of another conversation (`answer_strangers`), and these and the answerable ones once more as if they named nobody, as
"I" does in a memory of one person and an assistant.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Final, cast

import msgspec
import numpy as np
import numpy.typing as npt
import typer

from braid.agent.answer.choice import choose
from braid.agent.answer.confidence import SIGNALS, WEIGHTS, ConfidenceWeights
from braid.agent.answer.sureness import speaking
from braid.recall.decompose import decompose
from braid.recall.pool import Floats
from braid.tools.evaluation.answer_scores import calibrated, measures, summary
from braid.tools.evaluation.answers import Case, Fit, collect, evaluate
from braid.tools.evaluation.exams import read_exams
from braid.tools.lab.answer_plot import plotted
from braid.tools.lab.answer_strangers import Stranger, strangers

L2: Final = 1e-2
ROUNDS: Final = 40
FALSE_SILENCE: Final = 0.193
"""The limit is set where so many of the answerable questions that it was fitted to are left unanswered: of others a few
more are."""
MADE: Final = 0.3
"""What a question weighs that was made of another."""


class Taught(msgspec.Struct, frozen=True):
    """What a question teaches: its signals, whether memory knows, and whether the record quoted is right."""

    row: list[float]
    known: bool
    right: bool


def fitter(strange: Sequence[Stranger]) -> Fit:
    """Return what fits weights to some cases, and to those strange questions that have to do with these alone."""
    read: dict[tuple[int, bool], Taught] = {}  # each case once, however often it teaches

    def taught(case: Case, *, unnamed: bool = False) -> Taught:
        key = id(case), unnamed
        if key not in read:
            read[key] = _taught(case, named=() if unnamed else None)
        return read[key]

    def fitted(cases: Sequence[Case]) -> ConfidenceWeights:
        known = {case.conversation for case in cases}
        some = [case for case in cases if case.asked.hits]
        others = [
            one.case for one in strange if {one.of, one.case.conversation} <= known and one.case.asked.hits
        ]
        return fit(
            [taught(case) for case in some],
            [taught(case, unnamed=True) for case in some if case.gold.answerable],
            [taught(case, unnamed=unnamed) for case in others for unnamed in (False, True)],
        )

    return fitted


def fit(own: Sequence[Taught], unnamed: Sequence[Taught], strange: Sequence[Taught]) -> ConfidenceWeights:
    """Return the weights that make what came of some questions most likely: the data set's own, its answerable ones as
    if they named nobody, and such as were made of others."""
    some = [*own, *unnamed, *strange]
    x = np.array([one.row for one in some])
    weight = np.array([1.0] * len(own) + [MADE] * (len(some) - len(own)))
    known = logistic(x, np.array([one.known for one in some]), weight)
    right = logistic(x[: len(own)], np.array([one.right for one in own]), weight[: len(own)])
    return ConfidenceWeights(
        about="Fitted by tools/lab/fit_answers.py to five conversations of LoCoMo: numbers, no text.",
        known=_named(known),
        right=_named(right),
        limit=_limit(known, own),
        unnamed=_limit(known, unnamed),
    )


def _limit(known: Floats, some: Sequence[Taught]) -> float:
    """Return below which the agreed share of the answerable among some questions falls."""
    likely = [1 / (1 + np.exp(-(known[0] + np.array(one.row) @ known[1:]))) for one in some if one.known]
    return round(float(np.quantile(likely, FALSE_SILENCE)), 4)


def _taught(case: Case, *, named: Collection[str] | None) -> Taught:
    question = decompose(case.asked.question, case.asked.now)
    found = speaking(question, case.asked.hits, named=named)
    right = case.gold.answerable and _is_right(case)
    return Taught([found[name] for name in SIGNALS], case.gold.answerable, right)


def _is_right(case: Case) -> bool:
    chosen = choose(decompose(case.asked.question, case.asked.now), case.asked.hits)
    return chosen is not None and case.places.get(chosen.hit.id) in case.gold.evidence


def logistic(x: Floats, y: npt.NDArray[np.bool_], weight: Floats) -> Floats:
    """Return float64[1 + n]: the bias, and the weights of the columns as they are. `weight`: of each row."""
    middle, spread = x.mean(axis=0), x.std(axis=0) + 1e-6
    z: Floats = np.column_stack([np.ones(len(x)), (x - middle) / spread])
    ridge: Floats = np.array([1e-9, *[L2] * x.shape[1]])
    w = cast("Floats", np.zeros(z.shape[1]))
    for _ in range(ROUNDS):
        p: Floats = 1 / (1 + np.exp(-(z @ w)))
        slope: Floats = z.T @ (weight * (p - y)) / weight.sum() + ridge * w
        bend: Floats = (z.T * (weight * p * (1 - p))) @ z / weight.sum() + np.diag(ridge)
        w = w - cast("Floats", np.linalg.solve(bend, slope))
    columns: Floats = w[1:] / spread
    return np.array([float(w[0]) - float(columns @ middle), *columns.tolist()])


def _named(w: Floats) -> dict[str, float]:
    return {name: round(float(value), 4) for name, value in zip(("bias", *SIGNALS), w.tolist(), strict=True)}


def main(
    folder: Annotated[Path, typer.Argument(exists=True, file_okay=False)],
    write: Annotated[bool, typer.Option("--write", help="Put the weights into the package.")] = False,
    drawing: Annotated[Path | None, typer.Option("--plot", help="Draw what came of it as SVG.")] = None,
    results: Annotated[
        Path | None, typer.Option("--json", help="Write the measures and each answer.")
    ] = None,
) -> None:
    """Fit, show what each conversation comes to when the others teach, and write what is asked for."""
    files = sorted(folder.glob("*.json"))
    exams = read_exams([(str(file), file.read_bytes()) for file in files])
    if len(exams) < 2:
        raise typer.BadParameter("one conversation is left out at a time: it takes two, at least")
    cases = collect(exams)
    strange = strangers(exams)
    judged = evaluate(exams, cases, fit=fitter(strange))
    for name in [
        *(exam.sample.name for exam in exams),
        *sorted({one.category for one in judged}),
        "left out",
    ]:
        some = [one for one in judged if name in (one.conversation, one.category, "left out")]
        found, at = measures(some), calibrated(some)
        typer.echo(
            f"{name:<10} {len(some):>5} questions  F1 {found['f1']}  cites right {found['citation_precision']}"
            f"  silent on unanswerable {found['abstained_on_unanswerable']}, on answerable"
            f" {found['abstained_on_answerable']}  ECE {at.ece if at else 0:.3f}"
        )
    if results is not None:
        whole = summary(judged) | {"answers": msgspec.to_builtins(judged)}
        results.write_bytes(msgspec.json.format(msgspec.json.encode(whole), indent=1) + b"\n")
    if drawing is not None:
        drawing.write_text(plotted(judged), encoding="utf-8")
    if write:
        fitted = fitter(strange)(cases)
        WEIGHTS.write_bytes(msgspec.json.format(msgspec.json.encode(fitted), indent=1) + b"\n")


if __name__ == "__main__":
    typer.run(main)
