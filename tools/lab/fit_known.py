"""Fits how sure it is that memory speaks of what is asked, to questions whose answers are known.

    python -m braid.tools.lab.fit_known FOLDER_OF_LOCOMO [--write]

A logistic regression over what recall found, L2-regularised, by Newton's method from zero: no randomness. Each
conversation in turn is left out and judged by what the others teach; `--write` then fits to all.

Three more kinds teach beside the data set's own questions, each with less weight: what was asked of another
conversation (`answer_strangers`), and these and the answerable ones once more as if they named nobody, as "I" does in a
memory of one person and an assistant.
"""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Annotated, Final, cast

import msgspec
import numpy as np
import numpy.typing as npt
import typer

from braid.agent.answer.choice.confidence import SIGNALS, WEIGHTS, KnownWeights, probability, speaking
from braid.recall.decompose import decompose
from braid.recall.pool import Floats
from braid.tools.evaluation.answers import Case, collect
from braid.tools.evaluation.exams import read_exams
from braid.tools.lab.answer_strangers import Stranger, strangers

Fit = Callable[[Sequence[Case]], KnownWeights]
L2: Final = 1e-2
ROUNDS: Final = 40
FALSE_SILENCE: Final = 0.193
"""The limit is set where so many of the answerable questions that it was fitted to fall below it: of others a few more
do."""
MADE: Final = 0.3
"""What a question weighs that was made of another."""


class Taught(msgspec.Struct, frozen=True):
    """What a question teaches: its signals, and whether memory knows."""

    row: list[float]
    known: bool


def fitter(strange: Sequence[Stranger]) -> Fit:
    """Return what fits weights to some cases, and to those strange questions that have to do with these alone."""
    read: dict[tuple[int, bool], Taught] = {}  # each case once, however often it teaches

    def taught(case: Case, *, unnamed: bool = False) -> Taught:
        key = id(case), unnamed
        if key not in read:
            found = _signals(case, named=() if unnamed else None)
            read[key] = Taught([found[name] for name in SIGNALS], case.gold.answerable)
        return read[key]

    def fitted(cases: Sequence[Case]) -> KnownWeights:
        own = {case.conversation for case in cases}
        some = [case for case in cases if case.asked.hits]
        others = [
            one.case for one in strange if {one.of, one.case.conversation} <= own and one.case.asked.hits
        ]
        return fit(
            [taught(case) for case in some],
            [taught(case, unnamed=True) for case in some if case.gold.answerable],
            [taught(case, unnamed=unnamed) for case in others for unnamed in (False, True)],
        )

    return fitted


def fit(own: Sequence[Taught], unnamed: Sequence[Taught], strange: Sequence[Taught]) -> KnownWeights:
    """Return the weights that make what came of some questions most likely: the data set's own, its answerable ones as
    if they named nobody, and such as were made of others."""
    some = [*own, *unnamed, *strange]
    x = np.array([one.row for one in some])
    weight = np.array([1.0] * len(own) + [MADE] * (len(some) - len(own)))
    w = logistic(x, np.array([one.known for one in some]), weight)
    likely = [1 / (1 + np.exp(-(w[0] + np.array(one.row) @ w[1:]))) for one in own if one.known]
    return KnownWeights(
        about="Fitted by tools/lab/fit_known.py to five conversations of LoCoMo: numbers, no text.",
        known={name: round(float(value), 4) for name, value in zip(("bias", *SIGNALS), w, strict=True)},
        limit=round(float(np.quantile(likely, FALSE_SILENCE)), 4),
    )


def _signals(case: Case, *, named: Collection[str] | None) -> dict[str, float]:
    return speaking(decompose(case.asked.question, case.asked.now), case.asked.hits, named=named)


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


def main(
    folder: Annotated[Path, typer.Argument(exists=True, file_okay=False)],
    write: Annotated[bool, typer.Option("--write", help="Put the weights into the package.")] = False,
) -> None:
    """Fit, show what each conversation comes to when the others teach, and write what is asked for."""
    files = sorted(folder.glob("*.json"))
    exams = read_exams([(str(file), file.read_bytes()) for file in files])
    if len(exams) < 2:
        raise typer.BadParameter("one conversation is left out at a time: it takes two, at least")
    cases = collect(exams)
    fitted = fitter(strangers(exams))
    for number, exam in enumerate(exams):
        given = fitted([case for case in cases if case.conversation != number])
        out = [case for case in cases if case.conversation == number and case.asked.hits]
        below = {
            answerable: [
                probability(_signals(case, named=None), given.known) < given.limit
                for case in out
                if case.gold.answerable is answerable
            ]
            for answerable in (True, False)
        }
        typer.echo(
            f"{exam.sample.name:<10} {len(out):>5} questions"
            f"  below the limit: of the unanswerable {float(np.mean(below[False])):.3f}"
            f", of the answerable {float(np.mean(below[True])):.3f}"
        )
    if write:
        WEIGHTS.write_bytes(msgspec.json.format(msgspec.json.encode(fitted(cases)), indent=1) + b"\n")


if __name__ == "__main__":
    typer.run(main)
