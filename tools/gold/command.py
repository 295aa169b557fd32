"""What `braid evaluate gold` does: asks, counts, and tells."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from braid.agent.composer import Composer
from braid.tools.gold.judge import Judged
from braid.tools.gold.planned import Planning
from braid.tools.gold.run import PLANNED, Asking, Memory, memory_of, run
from braid.tools.gold.scores import Scores, by_class, calibrated, scores
from braid.tools.gold.tasks import CLASSES, DATA, PARTS, Gold, Task, load

_COLUMNS: Final = (
    ("tasks", "tasks"), ("right", "right"), ("accuracy", "accuracy"), ("citation_precision", "cites"),
    ("citation_recall", "evidence"), ("stance", "held"), ("ece", "ece"), ("brier", "brier"),
    ("uncertainty_right", "unsure, right"), ("uncertainty_wrong", "wrong"), ("tokens_in", "tokens in"),
    ("tokens_out", "out"), ("p50_ms", "p50 ms"), ("p95_ms", "p95 ms"),
)  # fmt: skip


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which tasks are asked, and who composes the answers; without a model, nobody but memory."""

    folder: Path = DATA
    """Where tasks and histories lie."""
    part: str = "all"
    kinds: Sequence[str] = ()
    model: str | None = None
    allow_remote: bool = False

    def chosen(self, gold: Gold) -> list[Task]:
        """Return the tasks that are asked; raise ValueError for a class that there isn't, and where no task is left."""
        unknown = sorted(set(self.kinds) - set(CLASSES))
        if unknown:
            raise ValueError(f"--class {unknown[0]}: the classes are {', '.join(CLASSES)}")
        found = [
            task
            for task in gold.tasks
            if self.part in ("all", task.part) and (not self.kinds or task.kind in self.kinds)
        ]
        if not found:
            raise ValueError(f"{self.folder}: it has no such task")
        return found


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """A run: every answer judged."""

    judged: Sequence[Judged]
    tasks: str
    """What names the tasks and histories: a hash over their files."""
    model: str | None
    filling_s: float


def measure(wanted: Wanted) -> Measured:
    """Ask what is wanted; raise ValueError for tasks that don't hold, or where there are none."""
    from braid.tools.cli.models import composer_of

    gold = load(wanted.folder)
    tasks = wanted.chosen(gold)
    composer = composer_of(wanted.model, allow_remote=wanted.allow_remote)
    # All histories go in, whichever is asked: how rare a word is in the whole store bears on what is found.
    with memory_of(gold.histories) as memory:
        return measured(gold, memory, asked(memory, tasks, composer), composer)


def measured(gold: Gold, memory: Memory, judged: Sequence[Judged], composer: Composer | None) -> Measured:
    """Return judged answers as a run."""
    return Measured(
        judged=judged,
        tasks=_digest(gold),
        model=composer.name if composer is not None else None,
        filling_s=round(memory.seconds, 2),
    )


def asked(memory: Memory, tasks: Sequence[Task], composer: Composer | None) -> list[Judged]:
    """Ask the tasks, with a bar on stderr, and return the answers judged; without a composer, memory answers."""
    from braid.tools.cli.progress import progress

    asking, planning = Asking(composer), Planning(composer)
    with progress("asking", len(tasks)) as bar:
        return run(
            memory,
            tasks,
            lambda task: planning if task.kind in PLANNED else asking,
            progress=bar.reach,
        )


def _digest(gold: Gold) -> str:
    digest = hashlib.sha256(msgspec.json.encode(gold.tasks))
    for _, file in sorted(gold.histories.items()):
        digest.update(file.read_bytes())
    return f"sha256:{digest.hexdigest()}"


def show(found: Measured, output: str, more: Mapping[str, Any] | None = None) -> None:
    """Print a run, a row a class; as JSON with the members of `more` too."""
    from braid.tools.cli.output import put, put_table, to_json

    if output == "json":
        put(to_json(msgspec.to_builtins(_wire(found) | dict(more or {})), indent=2))
        return
    put_table(
        ["class", *(title for _, title in _COLUMNS)],
        [[name, *(figure(getattr(one, column)) for column, _ in _COLUMNS)] for name, one in _rows(found)],
    )


def _rows(found: Measured) -> list[tuple[str, Scores]]:
    """Return the scores of each class, of each part, and of all."""
    of_class = by_class(found.judged)
    whole = of_class.pop("all")
    parts = [(part, [one for one in found.judged if one.part == part]) for part in PARTS]
    return [*of_class.items(), *((part, scores(some)) for part, some in parts if some), ("all", whole)]


def _wire(found: Measured) -> dict[str, Any]:
    """Return a run for programs: each answer of the development part, of the held part only scores."""
    parts = {part: [one for one in found.judged if one.part == part] for part in PARTS}
    return {
        "tasks": found.tasks,
        "model": found.model,
        "filling_s": found.filling_s,
        "classes": dict(_rows(found)),
        "parts": {part: by_class(some) for part, some in parts.items() if some},
        "calibration": calibrated(found.judged),
        "answers": parts["dev"],
    }


def figure(value: float | None) -> str:
    """Return a share, a count or milliseconds as they are read."""
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.0f}" if value > 1 else f"{value:.2f}"
