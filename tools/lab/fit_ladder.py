"""Fits which turn is told and how sure that is, to talks and to LoCoMo, and shows whether it holds for others.

    python -m braid.tools.lab.fit_ladder FOLDER_OF_LOCOMO FOLDER_OF_TALKS [--write] [--plot FILE.svg]

The turns are ordered by a conditional logit, L2-regularised, by Newton's method from zero. Each kind of talk, and each
conversation of LoCoMo, is left out once: what the others choose for it, judged as `braid evaluate answers` judges,
teaches the logistic model of how sure a choice is. What that says of kinds left out in turn gives the table, by
isotonic regression. No randomness.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from pathlib import Path
from typing import Annotated, Final, cast

import msgspec
import numpy as np
import typer

from braid.agent.answer.choice.chooser import (
    NOTHING,
    TELLING,
    WEIGHTS,
    Chosen,
    LadderWeights,
    calibrated,
    choose,
    weights,
)
from braid.agent.answer.choice.confidence import probability
from braid.agent.answer.choice.features import CANDIDATES, NAMES, features
from braid.agent.answer.compose import Extractive
from braid.agent.answer.ladder import told
from braid.agent.answer.question.reading import read
from braid.agent.cite import bare, cited
from braid.agent.composer import Caution, Composed, QuestionContext
from braid.recall.decompose import decompose
from braid.recall.hits import Hit
from braid.recall.pool import Floats
from braid.tools.evaluation.answer_scores import measures
from braid.tools.evaluation.answer_verdict import VERDICTS, Given, Rung, Verdict, judge
from braid.tools.evaluation.answers import Case, Keeper, collect
from braid.tools.evaluation.answers import judge as judge_case
from braid.tools.evaluation.exams import Exam, read_exams
from braid.tools.evaluation.talk_answers import LATER, QuestionedTalk, read_questioned, store_of
from braid.tools.lab.ladder_plot import plotted

L2: Final = 15.0
L2_TELL: Final = 30.0
OF_LOCOMO: Final = 0.15
"""What a question of LoCoMo weighs beside one of a talk when turns are ordered; there are more of them, of one kind."""
TELL_OF_LOCOMO: Final = 0.25
LEAST: Final[dict[Caution, float]] = {"careful": 0.65, "default": 0.5, "eager": 0.4}
"""How sure an answer must be to be told."""
ROUNDS: Final = 15


class Lesson(msgspec.Struct, frozen=True):
    """A question with what was found. `bears[i]`: whether the i-th hit bears the answer; `judged` judges an answer."""

    kind: str
    asked: QuestionContext
    bears: Sequence[bool]
    judged: Callable[[Composed], Verdict]
    case: Case | None = None
    """Where LoCoMo asks it."""

    @property
    def locomo(self) -> bool:
        """Whether LoCoMo asks it."""
        return self.case is not None

    @property
    def hits(self) -> list[Hit]:
        """The candidates."""
        return [*self.asked.hits, *self.asked.more][:CANDIDATES]


def fitted_turn(lessons: Sequence[Lesson], tables: Sequence[Floats]) -> dict[str, float]:
    """Return the weights that make the turns which bear the answers most likely among what was found."""
    some = [at for at, one in enumerate(lessons) if any(one.bears[: len(tables[at])])]
    x = np.concatenate([tables[at] for at in some])
    middle, spread = x.mean(axis=0), x.std(axis=0) + 1e-6
    z = (x - middle) / spread
    sizes = [len(tables[at]) for at in some]
    starts = np.cumsum([0, *sizes])[:-1]
    group = np.repeat(np.arange(len(some)), sizes)
    target = np.concatenate([_even(lessons[at].bears[: len(tables[at])]) for at in some])
    weight = np.array([OF_LOCOMO if lessons[at].locomo else 1.0 for at in some])
    w = cast("Floats", np.zeros(z.shape[1]))

    def loss(w: Floats) -> float:
        scores = z @ w
        top = np.maximum.reduceat(scores, starts)
        total = top + np.log(np.add.reduceat(np.exp(scores - top[group]), starts))
        return float((weight * total).sum() - (target * weight[group] * scores).sum() + L2 * (w @ w) / 2)

    for _ in range(ROUNDS):
        scores = z @ w
        e = np.exp(scores - np.maximum.reduceat(scores, starts)[group])
        p = e / np.add.reduceat(e, starts)[group]
        slope = z.T @ ((p - target) * weight[group]) + L2 * w
        mean = np.add.reduceat(z * p[:, None], starts, axis=0)
        bend = (
            (z * (p * weight[group])[:, None]).T @ z - (mean * weight[:, None]).T @ mean + L2 * np.eye(len(w))
        )
        step, size = cast("Floats", np.linalg.solve(bend, slope)), 1.0
        while loss(w - size * step) > loss(w) and size > 1e-4:
            size /= 2
        w = w - size * step
    return {name: round(float(value), 5) for name, value in zip(NAMES, w / spread, strict=True)}


def _even(bears: Sequence[bool]) -> Floats:
    return np.array(bears, dtype=float) / max(sum(bears), 1)


def fitted_tell(
    rows: Floats, right: Floats, weight: Floats, names: Sequence[str] = TELLING
) -> dict[str, float]:
    """Return the logistic weights, with bias, of columns as they are."""
    middle = (rows * weight[:, None]).sum(axis=0) / weight.sum()
    spread = np.sqrt(((rows - middle) ** 2 * weight[:, None]).sum(axis=0) / weight.sum()) + 1e-6
    z = np.column_stack([np.ones(len(rows)), (rows - middle) / spread])
    ridge = np.array([1e-6, *[L2_TELL] * rows.shape[1]])
    w = cast("Floats", np.zeros(z.shape[1]))
    for _ in range(ROUNDS):
        p = 1 / (1 + np.exp(-np.clip(z @ w, -30, 30)))
        slope = z.T @ (weight * (p - right)) + ridge * w
        bend = (z.T * (weight * p * (1 - p))) @ z + np.diag(ridge)
        w = w - cast("Floats", np.linalg.solve(bend, slope))
    columns = w[1:] / spread
    bias = float(w[0]) - float(columns @ middle)
    return {"bias": round(bias, 5)} | {
        name: round(float(value), 5) for name, value in zip(names, columns, strict=True)
    }


def isotonic(p: Floats, right: Floats, weight: Floats) -> list[tuple[float, float]]:
    """Return (probability, share right) at the middle of each block, rising, by pooling adjacent violators."""
    blocks: list[list[float]] = []  # of each: weight, sum of right, sum of p
    for at in np.argsort(p, kind="stable").tolist():
        blocks.append([float(weight[at]), float(weight[at] * right[at]), float(weight[at] * p[at])])
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][0] >= blocks[-1][1] * blocks[-2][0]:
            last = blocks.pop()
            blocks[-1] = [one + other for one, other in zip(blocks[-1], last, strict=True)]
    return [(round(all_p / w, 4), round(of_right / w, 4)) for w, of_right, all_p in blocks if w >= SMALLEST]


SMALLEST: Final = 5.0
"""A block of fewer questions says nothing by itself."""


class LeftOut(msgspec.Struct, frozen=True):
    """A lesson, what was chosen for it by what the others taught, whether telling that is right, how sure it was; and
    what was answered, as it was chosen with no more."""

    lesson: Lesson
    chosen: Chosen
    right: bool
    p: float
    composed: Composed
    verdict: Verdict


def taught(lessons: Sequence[Lesson]) -> tuple[LadderWeights, list[LeftOut]]:
    """Return the weights that all lessons teach, and each lesson as the other kinds would answer it."""
    tables = [_table(one) for one in lessons]
    kinds = [one.kind for one in lessons]
    weight = np.array([TELL_OF_LOCOMO if one.locomo else 1.0 for one in lessons])
    chosen: list[Chosen] = [chosen_of(one, NOTHING) for one in lessons]
    turns: dict[str, dict[str, float]] = {}
    for kind in sorted({*kinds}):
        rest = [at for at, each in enumerate(kinds) if each != kind]
        turns[kind] = fitted_turn([lessons[at] for at in rest], [tables[at] for at in rest])
        for at in _places(kinds, kind):
            chosen[at] = chosen_of(lessons[at], msgspec.structs.replace(NOTHING, turn=turns[kind]))
    right = np.array([float(is_right(one, found)) for one, found in zip(lessons, chosen, strict=True)])
    rows = np.array([[found.signals[name] for name in TELLING] for found in chosen])
    tells: dict[str, dict[str, float]] = {}
    p = np.zeros(len(lessons))
    for kind in turns:
        out = np.array([each == kind for each in kinds])
        tells[kind] = fitted_tell(rows[~out], right[~out], weight[~out])
        p[out] = [probability(chosen[at].signals, tells[kind]) for at in _places(kinds, kind)]
    left: list[LeftOut] = []
    for kind, turn in turns.items():
        out = np.array([each == kind for each in kinds])
        given = _weights(turn, tells[kind], isotonic(p[~out], right[~out], weight[~out]))
        for at in _places(kinds, kind):
            composed = Extractive(given).compose(lessons[at].asked)
            sure = calibrated(float(p[at]), given.table)
            verdict = lessons[at].judged(composed)
            left.append(LeftOut(lessons[at], chosen[at], bool(right[at]), sure, composed, verdict))
    tell = fitted_tell(rows, right, weight)
    return _weights(fitted_turn(lessons, tables), tell, isotonic(p, right, weight)), left


def _places(kinds: Sequence[str], kind: str) -> list[int]:
    return [at for at, each in enumerate(kinds) if each == kind]


def _weights(
    turn: dict[str, float], tell: dict[str, float], table: Sequence[tuple[float, float]]
) -> LadderWeights:
    return LadderWeights(
        about="Fitted by tools/lab/fit_ladder.py to talks and LoCoMo's conversations: numbers, no text.",
        turn=turn,
        tell=tell,
        table=tuple(table),
        least=dict(LEAST),
    )


def _table(lesson: Lesson) -> Floats:
    question = decompose(lesson.asked.question, lesson.asked.now)
    return features(question, read(question.text), lesson.hits, lesson.asked.nearest).table


def chosen_of(lesson: Lesson, given: LadderWeights) -> Chosen:
    question = decompose(lesson.asked.question, lesson.asked.now)
    return choose(question, lesson.hits, given, lesson.asked.nearest, lesson.asked.answers)


def is_right(lesson: Lesson, chosen: Chosen) -> bool:
    question = decompose(lesson.asked.question, lesson.asked.now)
    return lesson.judged(told(question, chosen.ranked[0], chosen.told, 1.0)) == "right"


def of_talks(talks: Sequence[QuestionedTalk], *, with_reading: bool = False) -> list[Lesson]:
    """Return what the questions of talks teach, each asked of a store that holds its talk."""
    lessons: list[Lesson] = []
    for talk in talks:
        now = max(turn.at for turn in talk.turns) + LATER
        with store_of(talk) as (store, turn_of):
            for question in talk.questions:
                keeper = Keeper()
                store.ask(question.question, user_id=talk.user_id, now=now, write=False, composer=keeper)
                if keeper.asked is not None and keeper.asked.hits:
                    # The features alone are fitted here; what a cross-encoder adds, `fit_reading` fits.
                    asked = (
                        keeper.asked if with_reading else msgspec.structs.replace(keeper.asked, answers=None)
                    )
                    lessons.append(lesson_of(talk, question.id, asked, turn_of))
    return lessons


def lesson_of(talk: QuestionedTalk, id: str, asked: QuestionContext, turn_of: dict[str, str]) -> Lesson:
    """Return what a talk's question teaches."""
    question = next(one for one in talk.questions if one.id == id)
    texts = {turn.id: turn.text for turn in talk.turns}

    def judged(composed: Composed) -> Verdict:
        ids = dict.fromkeys([*cited(composed.text), *composed.citations])
        given = Given(
            rung=_rung(composed),
            text=bare(composed.text),
            short=composed.short,
            cited=tuple(turn_of[id] for id in ids if id in turn_of),
        )
        return judge(question, given, texts, talk.user_id).verdict

    hits = [*asked.hits, *asked.more][:CANDIDATES]
    return Lesson(talk.kind, asked, [turn_of.get(hit.id) in question.turns for hit in hits], judged)


def _rung(composed: Composed) -> Rung:
    if composed.abstained:
        return "silent"
    return "near" if composed.rung == "near" else "told"


def of_locomo(exams: Sequence[Exam]) -> list[Lesson]:
    """Return what LoCoMo's questions teach; right is what cites a turn that its annotators name."""
    lessons: list[Lesson] = []
    for case in collect(exams):
        right = {id for id, at in case.places.items() if case.gold.answerable and at in case.gold.evidence}
        hits = [*case.asked.hits, *case.asked.more][:CANDIDATES]
        if hits:
            bears = [hit.id in right for hit in hits]
            judged = partial(by_evidence, right, case.gold.answerable)
            asked = msgspec.structs.replace(case.asked, answers=None)
            lessons.append(Lesson(f"locomo-{case.conversation}", asked, bears, judged, case))
    return lessons


def by_evidence(right: AbstractSet[str], answerable: bool, composed: Composed) -> Verdict:
    rung, cites = _rung(composed), not right.isdisjoint(composed.citations)
    if not answerable:
        return "told never said" if rung == "told" else "untold never said"
    if rung == "silent":
        return "silent"
    if rung == "near":
        return "near with it" if cites else "near without"
    return "right" if cites else "wrong"


def main(
    locomo: Annotated[Path, typer.Argument(exists=True, file_okay=False)],
    talks: Annotated[Path, typer.Argument(exists=True, file_okay=False)],
    write: Annotated[bool, typer.Option("--write", help="Put the weights into the package.")] = False,
    drawing: Annotated[Path | None, typer.Option("--plot", help="Draw the reliability as SVG.")] = None,
) -> None:
    """Fit, show what each kind comes to when the others teach, and write what is asked for."""
    read_in = read_questioned([(str(file), file.read_bytes()) for file in sorted(talks.glob("*.json"))])
    exams = read_exams([(str(file), file.read_bytes()) for file in sorted(locomo.glob("*.json"))])
    given, left = taught([*of_talks(read_in), *of_locomo(exams)])
    for line in (*lines(left), *_of_exams(exams, left)):
        typer.echo(line)
    if drawing is not None:
        drawing.write_text(
            plotted([(one.p, one.right) for one in left if not one.lesson.locomo]), encoding="utf-8"
        )
    if write:
        given = msgspec.structs.replace(given, reading=weights().reading)
        WEIGHTS.write_bytes(msgspec.json.format(msgspec.json.encode(given), indent=1) + b"\n")


def lines(left: Sequence[LeftOut]) -> list[str]:
    """Return of each kind how often the first, and one of three, bears the answer, and what was answered."""
    said: list[str] = []
    for kind in [*sorted({one.lesson.kind for one in left}), "talks", "locomo"]:
        some = [one for one in left if kind in (one.lesson.kind, "locomo" if one.lesson.locomo else "talks")]
        having = [one for one in some if any(one.lesson.bears)]
        if not having:
            continue
        firsts = [_place(one) for one in having]
        never = [one.verdict for one in some if one.verdict.endswith("never said")]
        asked = len(some) - len(never)
        shares = Counter(one.verdict for one in some)
        answered = "  ".join(f"{name} {shares[name] / max(asked, 1):.3f}" for name in VERDICTS[:6])
        said.append(
            f"{kind:<12} {len(some):>4} questions  first {sum(at < 1 for at in firsts) / len(having):.3f}"
            f"  among three {sum(at < 3 for at in firsts) / len(having):.3f}  {answered}"
            f"  never said told {shares['told never said'] / max(len(never), 1):.3f}"
        )
    return said


def _of_exams(exams: Sequence[Exam], left: Sequence[LeftOut]) -> list[str]:
    """Return how LoCoMo's questions were answered, as `braid evaluate answers` measures it."""
    judged = [
        judge_case(exams[case.conversation], case, one.composed)
        for one in left
        if (case := one.lesson.case) is not None
    ]
    return [f"{name} {value}" for name, value in measures(judged).items()] if judged else []


def _place(one: LeftOut) -> int:
    bearing = {hit.id for hit, bears in zip(one.lesson.hits, one.lesson.bears, strict=False) if bears}
    return next((at for at, hit in enumerate(one.chosen.ranked) if hit.id in bearing), CANDIDATES)


if __name__ == "__main__":
    typer.run(main)
