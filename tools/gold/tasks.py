"""The tasks and the histories that they are asked of, as they lie in `data/`: one file of tasks a class.

The files are JSON Lines, written by people (`tasks/`) or from threads by a seed (`tasks/made/`); docs/gold.md says
what the members mean.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

import msgspec

DATA: Final = Path(__file__).parent / "data"
CLASSES: Final = (
    "single-fact", "multi-hop", "temporal", "changed-fact", "retraction", "contradiction", "second-hand",
    "hypothetical", "unanswerable", "how-do-you-know", "tone", "tool-use", "long-history",
)  # fmt: skip
PARTS: Final = ("dev", "held")
NOTHING: Final = "none"
UNDECIDED: Final = "undecided"
Groups = tuple[tuple[str, ...], ...]
"""Of each group one is enough; all groups are needed."""
Manner = Literal["warm", "not warm", "urgent", "not urgent"]


class Use(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tool for a task: what is looked for (`of`), and what it is given of that; `{1}` is the first that was found."""

    tool: Literal["calculator", "calendar"]
    of: tuple[str, ...]
    args: dict[str, str]


class Task(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A question to a history, and what is right. `accept` and `never` are words, compared as `judge` does."""

    id: str
    part: Literal["dev", "held"]
    """`held` is never looked at one by one, nor tuned against."""
    history: str
    question: str
    answer: str | None
    """In the fewest words; None where the history has no answer."""
    accept: Groups = ()
    """What an answer must say; without it, `answer`."""
    never: tuple[str, ...] = ()
    """What it must not say in its fewest words: what holds no more."""
    evidence: Groups = ()
    """The ids of the turns that it stands in."""
    stance: str
    """Words of the claim that should be held; `undecided`, or `none` where nothing should be."""
    at: datetime | None = None
    """When it is asked; without it, after the history's end."""
    then: Literal["how"] | None = None
    """What is asked next: how that is known. `accept` is about the reply to that."""
    manner: Manner | None = None
    """How an answer should sound to whoever asks like this."""
    use: Use | None = None
    """The tool that it needs, and for what."""
    kind: str = ""
    """The class; the name of its file."""

    def wanted(self) -> Groups:
        """Return what an answer must say."""
        return self.accept or (((self.answer,),) if self.answer is not None else ())


class Gold(msgspec.Struct, frozen=True):
    """All tasks, by class in the order of `CLASSES`, and the files of the histories that they are asked of."""

    tasks: Sequence[Task]
    histories: dict[str, Path]


def load(data: Path = DATA) -> Gold:
    """Return the tasks of a folder; raise ValueError where a file, or what it says of its history, doesn't hold."""
    tasks = [task for kind in CLASSES for task in _of_class(data, kind)]
    histories = {
        name: data / "histories" / f"{name}.jsonl" for name in sorted({one.history for one in tasks})
    }
    turns = {name: _turns(file) for name, file in histories.items()}
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise ValueError(f"{task.id}: two tasks have this id")
        seen.add(task.id)
        _check(task, turns[task.history])
    return Gold(tasks, histories)


def _of_class(data: Path, kind: str) -> Iterator[Task]:
    for file in (data / "tasks" / f"{kind}.jsonl", data / "tasks" / "made" / f"{kind}.jsonl"):
        if not file.is_file():
            continue
        for number, line in enumerate(file.read_bytes().splitlines(), 1):
            try:
                task = msgspec.json.decode(line, type=Task)
            except msgspec.DecodeError as error:
                raise ValueError(f"{file.name}:{number}: {error}") from None
            if task.kind:
                raise ValueError(
                    f"{file.name}:{number}: a task's class is the name of its file, not a member"
                )
            yield msgspec.structs.replace(task, kind=kind)


def _turns(file: Path) -> set[str]:
    try:
        lines = file.read_bytes().splitlines()
    except FileNotFoundError:
        raise ValueError(f"{file.stem}: tasks are asked of this history, and {file} is not there") from None
    return {str(msgspec.json.decode(line)["id"]) for line in lines}


def _check(task: Task, turns: set[str]) -> None:
    unknown = sorted({id for group in task.evidence for id in group} - turns)
    if unknown:
        raise ValueError(f"{task.id}: its evidence is not in {task.history}: {', '.join(unknown)}")
    if task.answer is not None and not task.evidence:
        raise ValueError(f"{task.id}: it has an answer, but no turn to rest it on")
    if not all([*task.evidence, *task.accept]):
        raise ValueError(f"{task.id}: an empty group can't be met")
    if task.at is not None and task.at.tzinfo is None:
        raise ValueError(f"{task.id}: `at` has no time zone")
    if not task.question.strip() or not task.stance.strip():
        raise ValueError(f"{task.id}: a task asks something, and says what should be held of it")
