"""Measuring answers through the product: conversations go into a real store, are read, and are asked at its front door.

Composing is a function of what was asked and found, so that each question is asked of the store once and can then be
answered by several weights: with `left_out`, each conversation by those that the others teach.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from time import perf_counter
from typing import Final

import msgspec

from braid.agent.answer.choice.chooser import LadderWeights, weights
from braid.agent.answer.compose import Extractive
from braid.agent.answer.turn.turn import when_of
from braid.agent.answer.wording.report import quotable
from braid.agent.cite import CITATION, bare, cited
from braid.agent.composer import Composed, Composer, QuestionContext
from braid.agent.guard.prompt import PromptMemory
from braid.agent.guard.support import lack
from braid.recall.hits import speaker
from braid.tools.evaluation.answer_scores import Judged, exact, f1
from braid.tools.evaluation.exams import Exam, Gold
from braid.tools.evaluation.recall import scope_of, store_of

Progress = Callable[[int, int], None]
Fit = Callable[[Sequence["Case"]], LadderWeights]
Written = Callable[[Composer], Composer]
"""What answers → what answers in its stead, and falls back to it."""
SILENT: Final = "nothing was composed yet"


class Case(msgspec.Struct, frozen=True):
    """A question with what the store gave for it; `places`: where each record that may be cited stands in it."""

    conversation: int
    gold: Gold
    asked: QuestionContext
    places: dict[str, int]
    degraded: bool
    ms: dict[str, float]


class Keeper:
    """Stands in for a composer, and keeps what it is given."""

    name = "keeper"
    version = "1"

    def __init__(self) -> None:
        self.asked: QuestionContext | None = None

    def compose(self, asked: QuestionContext) -> Composed:
        self.asked = msgspec.structs.replace(asked, find=None)  # it outlives the store that could find more
        return Composed(text="I don't know.", citations=(), abstained=True, reason=SILENT)


def collect(exams: Sequence[Exam], *, progress: Progress | None = None) -> list[Case]:
    """Ask every question of a store that holds the conversations, and return what it gave. Nothing is written."""
    cases: list[Case] = []
    total = sum(len(exam.questions) for exam in exams)
    with store_of([exam.sample for exam in exams]) as (store, places):
        store.set_learning(health=True, finance=True)
        store.learn()
        store.views.search.index(wait_s=60.0)
        for number, exam in enumerate(exams):
            now = max((turn.when for turn in exam.sample.turns), default=datetime.now(UTC))
            scope = scope_of(number, exam.sample)
            for gold in exam.questions:
                keeper = Keeper()
                given = store.ask(gold.text, user_id=scope, now=now, composer=keeper, write=False)
                asked = keeper.asked
                assert asked is not None  # noqa: S101 - the pipeline asks its composer once
                ids = {hit.id for hit in (*asked.hits, *asked.more)} | {one.id for one in asked.support}
                here = {id: places[id][1] for id in ids if id in places}
                ms = {step.name: step.ms for step in given.steps}
                cases.append(Case(number, gold, asked, here, bool(given.degraded), ms))
                if progress is not None:
                    progress(len(cases), total)
    return cases


def evaluate(
    exams: Sequence[Exam],
    cases: Sequence[Case],
    *,
    written: Written | None = None,
    fit: Fit | None = None,
    progress: Progress | None = None,
) -> list[Judged]:
    """Return each answer judged. `written`: what writes before the extractive composer, such as a model. With `fit`,
    each conversation that the weights of this release were fitted to is answered by weights fitted to the others."""
    judged: list[Judged] = []
    for number, exam in enumerate(exams):
        given = weights()
        if fit is not None and exam.learnt_from:
            given = fit(
                [
                    case
                    for case in cases
                    if case.conversation != number and exams[case.conversation].learnt_from
                ]
            )
        extractive = Extractive(given)
        composer: Composer = extractive if written is None else written(extractive)
        for case in cases:
            if case.conversation == number:
                judged.append(_answered(exam, case, composer))
                if progress is not None:
                    progress(len(judged), len(cases))
    return judged


def _answered(exam: Exam, case: Case, composer: Composer) -> Judged:
    began = perf_counter()
    composed = composer.compose(case.asked)
    ms = {**case.ms, "compose": round(1000 * (perf_counter() - began), 3)}
    return judge(exam, msgspec.structs.replace(case, ms=ms), composed)


def judge(exam: Exam, case: Case, composed: Composed) -> Judged:
    """Compare an answer with what is right."""
    gold = case.gold
    ids = list(dict.fromkeys([*cited(composed.text), *composed.citations]))
    at = [case.places[id] for id in ids if id in case.places]
    right = set(gold.evidence) if gold.answerable else set[int]()
    beside = {place + step for place in right for step in (-1, 0, 1)}
    said = "" if composed.abstained else composed.short
    told = gold.answer if gold.answerable else None
    quotes = _quotes(composed.text)
    records = [quotable(each) for each in _texts(case.asked, ids)]
    return Judged(
        conversation=exam.sample.name,
        category=gold.category,
        question=gold.text,
        gold=gold.answer,
        answerable=gold.answerable,
        abstained=composed.abstained,
        short=said,
        text=composed.text,
        rung=composed.rung,
        p=composed.p,
        f1=None if told is None else f1(said, told),
        exact=None if told is None else exact(said, told),
        f1_text=None if told is None else f1("" if composed.abstained else bare(composed.text), told),
        cited=len(ids),
        right=sum(place in right for place in at),
        near=sum(place in beside for place in at),
        evidence=len(right),
        found=len(right.intersection(at)),
        supported=len(_supporting(case.asked, composed.text)),
        borne=sum(any(each in record for record in records) for each in quotes),
        quoted=len(quotes),
        degraded=case.degraded,
        fallback=composed.fallback,
        tokens=composed.tokens,
        ms=case.ms,
    )


def _supporting(asked: QuestionContext, text: str) -> set[str]:
    """Return the ids whose records bear out all that stands before their marks."""
    found = list(_borne(asked, text))
    return {id for id, _ in found} - {id for id, holds in found if not holds}


def _borne(asked: QuestionContext, text: str) -> Iterator[tuple[str, bool]]:
    """Yield the id of each mark and whether its record bears out what stands before it: word for word where that is
    quoted, else as a model's sentences are checked (`agent.guard.support`)."""
    known = {hit.id: PromptMemory(hit.text, speaker(hit), when_of(hit)) for hit in (*asked.hits, *asked.more)}
    known |= {one.id: PromptMemory(one.text, one.speaker, one.when) for one in asked.support}
    start, said = 0, ""
    for mark in CITATION.finditer(text):
        said = text[start : mark.start()].strip(" .") or said  # several ids may stand behind one sentence
        start = mark.end()
        given = known.get(mark[1])
        if given is None:
            yield mark[1], False
        elif quotes := _quotes(said):
            yield mark[1], all(each in quotable(given.text) for each in quotes)
        else:
            yield mark[1], lack(said, [given], asked.question, asked.now) is None


def _quotes(text: str) -> list[str]:
    """Return what an answer quotes, without the ellipsis of one that was cut."""
    found = [part.partition("”")[0] for part in text.split("“")[1:]]
    return [each.removesuffix("…").strip() for each in found]


def _texts(asked: QuestionContext, ids: Sequence[str]) -> list[str]:
    known = {hit.id: hit.text for hit in (*asked.hits, *asked.more)} | {
        one.id: one.text for one in asked.support
    }
    return [known[id] for id in ids if id in known]
