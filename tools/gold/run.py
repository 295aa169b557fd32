"""Asks the tasks of a real store: the histories go in as `braid ingest` takes them, and are asked at the front door.

All histories share one store, each in a scope of its own, as many people's memories do. Nothing is written while the
questions are asked, so that none bears on another. Only programs are records, and where it is asked how an answer is
known, that answer is written first: these come last.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from braid.agent.answer.compose import Extractive
from braid.agent.cite import bare, cited
from braid.agent.composer import Composed, Composer, QuestionContext
from braid.tools.gold.judge import Given, Judged, judge
from braid.tools.gold.tasks import Task

if TYPE_CHECKING:
    from braid.answers.reply import Reply
    from braid.store import Store

Progress = Callable[[int, int], None]
PLANNED: Final = frozenset(("multi-hop", "tool-use"))
"""Classes that are asked of a program."""
TRIES: Final = 3
"""A way into the memory that took too long is tried again: how fast a machine is, is no verdict on an answer."""


class Memory(NamedTuple):
    """A store with the histories in it: what each record is called in them, and when each history ended."""

    store: "Store"
    called: Mapping[str, str]
    ends: Mapping[str, datetime]
    seconds: float
    """How long taking them in took."""


class Way(Protocol):
    """A way of asking: a task goes in, what was answered comes out."""

    def __call__(self, memory: Memory, task: Task) -> Given:
        """Ask a task of its history."""
        ...


def run(
    memory: Memory, tasks: Sequence[Task], way_of: Callable[[Task], Way], *, progress: Progress | None = None
) -> list[Judged]:
    """Return each task's answer, judged, in the order of the tasks."""
    judged: dict[str, Judged] = {}
    for task in sorted(tasks, key=writes):
        judged[task.id] = judge(task, way_of(task)(memory, task))
        if progress is not None:
            progress(len(judged), len(tasks))
    return [judged[task.id] for task in tasks]


def writes(task: Task) -> bool:
    """Whether asking a task writes: a program is its records, and only what was written can be asked about."""
    return task.then is not None or task.kind in PLANNED


class Asking:
    """Asks `Store.ask`, with a composer of one's own or the extractive one."""

    def __init__(self, composer: Composer | None = None) -> None:
        self._composer = composer or usual_composer()

    def __call__(self, memory: Memory, task: Task) -> Given:
        for left in reversed(range(TRIES)):
            watch = Watch(self._composer)
            began = perf_counter()
            answer = memory.store.ask(
                task.question,
                user_id=task.history,
                now=task.at or memory.ends[task.history],
                composer=watch,
                write=task.then is not None,
            )
            ms = 1000 * (perf_counter() - began)
            if not answer.degraded or not left:
                return given_of(memory, task, answer, watch.asked, ms)
        raise AssertionError("the last try returns")


def usual_composer() -> Composer:
    """Return what writes where no model does."""
    return Extractive()


class Watch:
    """Passes what a composer is given on to it, and keeps it: the claim that was held is no part of an answer."""

    def __init__(self, composer: Composer) -> None:
        self.name = composer.name
        self.version = composer.version
        self.asked: QuestionContext | None = None
        self._composer = composer

    def compose(self, asked: QuestionContext) -> Composed:
        self.asked = asked
        return self._composer.compose(asked)


def given_of(memory: Memory, task: Task, answer: "Reply", asked: QuestionContext | None, ms: float) -> Given:
    """Return an answer as it is judged; `asked`: what its composer was given, if it was asked."""
    text = answer.text
    if task.then == "how" and answer.answer_id is not None:
        text = memory.store.explain_provenance(answer.answer_id)
    outcome = asked.stance if asked is not None else None
    held = outcome.decision.claim if outcome is not None else None
    steps = {step.name: step for step in answer.steps}
    return Given(
        text=bare(text),
        short="" if answer.abstained else answer.short,
        p=1.0 - answer.residual_uncertainty,
        abstained=answer.abstained,
        cited=tuple(dict.fromkeys(memory.called[id] for id in cited(text) if id in memory.called)),
        held=held or None,
        undecided=outcome is not None and not held and bool(outcome.candidates),
        manner=steps["affect"].what if "affect" in steps else "",
        tokens=answer.tokens,
        ms=round(ms, 2),
        degraded=tuple(answer.degraded),
        model=answer.model if answer.fallback is None else None,
    )


@contextmanager
def memory_of(histories: Mapping[str, Path]) -> Generator[Memory]:
    """Yield a store that has taken in the histories, each in the scope of its name, and is gone afterwards."""
    import braid

    began = perf_counter()
    with TemporaryDirectory(prefix="braid-gold-") as folder:
        place = Path(folder)
        with braid.open(place / "store", guard_dir=place / "guard") as store:
            for name, file in histories.items():
                _ingest(store, name, file)
            store.set_learning(health=True, finance=True)  # the histories speak of both
            store.learn()
            store.views.search.index(wait_s=60.0)
            rows = store.sql(
                "SELECT id, external_id, user_id, occurred_at FROM experiences WHERE external_id IS NOT NULL"
            ).to_pylist()
            ends: dict[str, datetime] = {}
            for row in rows:
                when = row["occurred_at"].replace(tzinfo=UTC) + timedelta(hours=1)
                ends[row["user_id"]] = max(when, ends.get(row["user_id"], when))
            called = {row["id"]: row["external_id"] for row in rows}
            yield Memory(store, called, ends, perf_counter() - began)


def _ingest(store: "Store", name: str, file: Path) -> None:
    from braid.log import drafts
    from braid.tools.cli.intake import Intake
    from braid.tools.cli.progress import Bar
    from braid.tools.cli.sources import open_source

    intake = Intake(store, lambda said_in: drafts.scope(user_id=name, session_id=said_in))
    with open_source(str(file), None, {}) as opened:
        intake.take(opened, name, Bar())
    if intake.skipped:
        raise ValueError(f"{file}: {intake.skipped} of its lines can't be taken in")
