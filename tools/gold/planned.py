"""Asks tasks of a program: a question that needs two looks, by the plan that fits it; one that must be computed, by the
plan that its task gives: look for each number or day, note it, give the notes to the tool.
"""

from time import perf_counter
from typing import TYPE_CHECKING, Literal

from braid.tools.gold.judge import Given
from braid.tools.gold.run import Memory, Watch, given_of, usual_composer
from braid.tools.gold.tasks import Task, Use

if TYPE_CHECKING:
    from braid.agent.composer import Composer
    from braid.agent.program.plan import Plan

_LOOKED_AT = 8


class Planning:
    """Asks `Store.run_program`. Nothing of a program is recalled for what is asked later."""

    def __init__(self, composer: "Composer | None" = None) -> None:
        self._composer = composer or usual_composer()

    def __call__(self, memory: Memory, task: Task) -> Given:
        watch = Watch(self._composer)
        began = perf_counter()
        program = memory.store.run_program(
            task.question,
            user_id=task.history,
            plan=None if task.use is None else plan_of(task.use),
            now=task.at or memory.ends[task.history],
            composer=watch,
        )
        ms = 1000 * (perf_counter() - began)
        if program.answer is None:
            return _unanswered(program.state.why, ms)
        return given_of(memory, task, program.answer, watch.asked, ms)


def plan_of(use: Use) -> "Plan":
    """Return the plan: a look and a note for each of `of`, the tool over the notes, and its result as the answer."""
    from braid.agent.program.plan import AnswerStep, NoteStep, Plan, Reconcile, Retrieve, Step, ToolStep

    what: Literal["day", "amount"] = "day" if use.tool == "calendar" else "amount"
    steps: list[Step] = []
    notes: list[str] = []
    for number, question in enumerate(use.of, 1):
        found, held, note = f"found{number}", f"held{number}", f"note{number}"
        apart = list(notes) if what == "amount" else []
        steps += [
            Retrieve(name=found, query=question, k=_LOOKED_AT),
            Reconcile(name=held, question=question),
            NoteStep(name=note, of=[found, held], question=question, what=what, apart=apart),
        ]
        notes.append(note)
    names = {str(number): f"{{{note}}}" for number, note in enumerate(notes, 1)}
    args = {name: _filled(text, names) for name, text in use.args.items()}
    steps += [
        ToolStep(name="result", tool=use.tool, args=args),
        AnswerStep(name="answer", says="It comes to {result}."),
    ]
    return Plan(about=f"{use.tool} over {len(use.of)} notes", steps=steps)


def _filled(text: str, names: dict[str, str]) -> str:
    for number, note in names.items():
        text = text.replace(f"{{{number}}}", note)
    return text


def _unanswered(why: str, ms: float) -> Given:
    """Return a program that ended without an answer, or waits: nothing was said, and why."""
    return Given(
        text=why, short="", p=0.0, abstained=True, cited=(), held=None, undecided=False, manner="",
        tokens=(0, 0), ms=round(ms, 2),
    )  # fmt: skip
