"""Fits how the cross-encoder's word counts beside the features, to talks and lessons that it didn't learn from.

    python -m braid.tools.lab.fit_reading FOLDER_OF_TALKS FOLDER_OF_LESSONS [--write]

Two numbers, for the features' score and for the cross-encoder's, make the turns that bear the answers most likely; a
logistic model and a table say how sure the choice is, as in `fit_ladder`. Each fifth of the talks is left out once and
answered by what the others teach. No randomness.
"""

import hashlib
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import numpy as np
import typer

from braid.agent.answer.choice.chooser import (
    READ_TELLING,
    WEIGHTS,
    LadderWeights,
    ReadWeights,
    calibrated,
    weights,
)
from braid.agent.answer.choice.confidence import probability
from braid.agent.answer.choice.features import NAMES, features
from braid.agent.answer.choice.rereading import reread
from braid.agent.answer.compose import Extractive
from braid.agent.answer.question.reading import read
from braid.agent.composer import Caution
from braid.models.cross_encoder import packaged
from braid.recall.decompose import decompose
from braid.recall.pool import Floats
from braid.text.rerank import Reranker
from braid.tools.evaluation.talk_answers import QuestionedTalk, read_questioned
from braid.tools.lab.fit_ladder import (
    LeftOut,
    Lesson,
    by_evidence,
    chosen_of,
    fitted_tell,
    is_right,
    isotonic,
    lines,
    of_talks,
)
from braid.tools.lab.lessons import read_lessons

FOLDS: Final = 5
LEAST: Final[dict[Caution, float]] = {"careful": 0.7, "default": 0.6, "eager": 0.4}
"""How sure an answer must be to be told."""
OF_LESSONS: Final = 0.5
"""What a question of the lessons weighs beside one of a talk."""
UNTAUGHT: Final = frozenset((7, 14))
"""Which lessons of each folder the packaged cross-encoder did not learn from, beside those above these."""
TAUGHT_UP_TO: Final = {"a": 14, "b": 16, "c": 16, "d": 8, "e": 8, "f": 8, "g": 8}
_FEATURES: Final = (0.4, 0.6, 0.8, 1.0, 1.2)
_READ: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2)


def is_untaught(talk: QuestionedTalk) -> bool:
    """Whether the cross-encoder did not learn from a lesson."""
    folder, number = talk.name[0], int(talk.name[1:])
    return number in UNTAUGHT or number > TAUGHT_UP_TO.get(folder, 0)


class Remembered:
    """A cross-encoder that is asked each thing once."""

    def __init__(self, model: Reranker) -> None:
        self._model = model
        self._known: dict[tuple[str, tuple[str, ...]], Any] = {}

    def __call__(self, question: str, texts: Sequence[str]) -> Any:
        """See `AnswerScores`."""
        key = (question, tuple(texts))
        if key not in self._known:
            self._known[key] = self._model.scores(question, texts)
        return self._known[key]


def judged_by_turns(talk: QuestionedTalk, lessons: Sequence[Lesson]) -> list[Lesson]:
    """Return lessons whose answers are right where they cite a turn that answers."""
    never_said = {one.question: one.never_said for one in talk.questions}
    found: list[Lesson] = []
    for one in lessons:
        if (never := never_said.get(one.asked.question)) is None:
            continue  # it was asked in two parts
        right = {hit.id for hit, bears in zip(one.hits, one.bears, strict=False) if bears}
        found.append(msgspec.structs.replace(one, judged=partial(by_evidence, right, not never)))
    return found


def mixed(lessons: Sequence[Lesson], given: LadderWeights) -> tuple[float, float]:
    """Return what the features' score and the cross-encoder's count, so that the turns that answer are likeliest."""
    pairs: list[tuple[Floats, Floats, Floats]] = []
    for one in lessons:
        if not any(one.bears):
            continue
        question = decompose(one.asked.question, one.asked.now)
        table = features(question, read(question.text), one.hits, one.asked.nearest).table
        scores = table @ np.array([given.turn.get(name, 0.0) for name in NAMES])
        found = reread(question.text, one.hits, scores, one.asked.answers)
        if found is not None:
            pairs.append((scores, found, np.array(one.bears[: len(scores)], dtype=float)))

    def likely(weight: tuple[float, float]) -> float:
        total = 0.0
        for scores, found, bears in pairs:
            mix = weight[0] * scores + weight[1] * found
            odds = np.exp(mix - mix.max())
            total += float(np.log((odds * bears).sum() / odds.sum() + 1e-12))
        return total

    return max(product(_FEATURES, _READ), key=likely)


def taught(
    lessons: Sequence[Lesson], folds: Sequence[int], given: LadderWeights, by: str
) -> tuple[LadderWeights, list[LeftOut]]:
    """Return the weights that all lessons teach, and each lesson as the other folds would answer it."""
    weight = np.array([OF_LESSONS if one.kind == "lesson" else 1.0 for one in lessons])
    left: list[LeftOut] = []
    p = np.zeros(len(lessons))
    mixes: dict[int, tuple[float, float]] = {}
    places = {fold: [at for at, each in enumerate(folds) if each == fold] for fold in sorted({*folds})}
    chosen: list[Any] = [None] * len(lessons)
    for fold, out in places.items():
        mixes[fold] = mixed([one for one, each in zip(lessons, folds, strict=True) if each != fold], given)
        plain = _with(given, by, mixes[fold], {"bias": 0.0}, ())
        for at in out:
            chosen[at] = chosen_of(lessons[at], plain)
    right = np.array([float(is_right(one, found)) for one, found in zip(lessons, chosen, strict=True)])
    rows = np.array([[found.signals[name] for name in READ_TELLING] for found in chosen])
    tells: dict[int, dict[str, float]] = {}
    for fold, out in places.items():
        rest = np.array([each != fold for each in folds])
        tells[fold] = fitted_tell(rows[rest], right[rest], weight[rest], READ_TELLING)
        p[out] = [probability(chosen[at].signals, tells[fold]) for at in out]
    for fold, out in places.items():
        rest = np.array([each != fold for each in folds])
        table = tuple(isotonic(p[rest], right[rest], weight[rest]))
        there = _with(given, by, mixes[fold], tells[fold], table)
        for at in out:
            composed = Extractive(there).compose(lessons[at].asked)
            sure = calibrated(float(p[at]), table)
            left.append(
                LeftOut(
                    lessons[at], chosen[at], bool(right[at]), sure, composed, lessons[at].judged(composed)
                )
            )
    tell = fitted_tell(rows, right, weight, READ_TELLING)
    return _with(given, by, mixed(lessons, given), tell, tuple(isotonic(p, right, weight))), left


def _with(
    given: LadderWeights,
    by: str,
    mix: tuple[float, float],
    tell: dict[str, float],
    table: tuple[tuple[float, float], ...],
) -> LadderWeights:
    reading = ReadWeights(by=by, features=mix[0], read=mix[1], tell=tell, table=table, least=dict(LEAST))
    return msgspec.structs.replace(given, reading=reading)


def main(
    talks: Annotated[Path, typer.Argument(exists=True, file_okay=False)],
    lessons: Annotated[Path, typer.Argument(exists=True, file_okay=False)],
    write: Annotated[bool, typer.Option("--write", help="Put the weights into the package.")] = False,
) -> None:
    """Fit, show what each talk comes to when the others teach, and write what is asked for."""
    model = packaged()
    if model is None:
        raise typer.BadParameter("onnxruntime is not installed: `pip install 'braid-store[answers]'`")
    answers = Remembered(model)
    files = sorted(talks.glob("*.json"))
    some: list[Lesson] = []
    folds: list[int] = []
    questioned = read_questioned([(str(file), file.read_bytes()) for file in files])
    for talk in (*questioned, *filter(is_untaught, read_lessons(lessons))):
        found = of_talks([talk])
        if talk not in questioned:
            named = [msgspec.structs.replace(one, kind="lesson") for one in found]
            found = judged_by_turns(talk, named)
        some += [
            msgspec.structs.replace(one, asked=msgspec.structs.replace(one.asked, answers=answers))
            for one in found
        ]
        folds += [_fold(talk.name)] * len(found)
        typer.echo(f"{talk.name}: {len(found)}", err=True)
    given, left = taught(some, folds, weights(), model.name)
    for line in lines(left):
        typer.echo(line)
    if given.reading is not None:
        typer.echo(f"features {given.reading.features}, read {given.reading.read}")
    if write:
        WEIGHTS.write_bytes(msgspec.json.format(msgspec.json.encode(given), indent=1) + b"\n")


def _fold(name: str) -> int:
    return hashlib.sha256(name.encode()).digest()[0] % FOLDS


if __name__ == "__main__":
    typer.run(main)
