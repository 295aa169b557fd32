"""What `braid evaluate gold` does: asks, counts, compares with the baseline, and tells."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from braid.agent.majority import Majority
from braid.agent.parts import Composer
from braid.agent.plan import MAX_SAMPLES
from braid.tools.gold import baseline as kept
from braid.tools.gold.judge import Judged
from braid.tools.gold.planned import Planning
from braid.tools.gold.run import PLANNED, Asking, Memory, memory_of, run, usual_composer
from braid.tools.gold.scores import Scores, by_class, calibrated, scores
from braid.tools.gold.tasks import CLASSES, DATA, PARTS, Gold, Task, load
from braid.tools.gold.voted import Voted, told, voted

_COLUMNS: Final = (
    ("tasks", "tasks"), ("right", "right"), ("accuracy", "accuracy"), ("citation_precision", "cites"),
    ("citation_recall", "evidence"), ("stance", "held"), ("ece", "ece"), ("brier", "brier"),
    ("uncertainty_right", "unsure, right"), ("uncertainty_wrong", "wrong"), ("tokens_in", "tokens in"),
    ("tokens_out", "out"), ("p50_ms", "p50 ms"), ("p95_ms", "p95 ms"),
)  # fmt: skip


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which tasks are asked, and who composes the answers; without a model, nobody but memory."""

    folder: Path = DATA
    """Where tasks and histories lie; another's baseline, where it has one, lies with them."""
    part: str = "all"
    kinds: Sequence[str] = ()
    model: str | None = None
    allow_remote: bool = False
    samples: int = 1
    """More than one: asked again, for the majority of so many answers."""

    def chosen(self, gold: Gold) -> list[Task]:
        """Return the tasks that are asked; raise ValueError for a class that there isn't."""
        unknown = sorted(set(self.kinds) - set(CLASSES))
        if unknown:
            raise ValueError(f"--class {unknown[0]}: the classes are {', '.join(CLASSES)}")
        return [
            task
            for task in gold.tasks
            if self.part in ("all", task.part) and (not self.kinds or task.kind in self.kinds)
        ]

    def whole(self) -> Sequence[str]:
        """Return the parts of which every task is asked."""
        return () if self.kinds else PARTS if self.part == "all" else (self.part,)


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """A run: every answer judged, and what it differs in from the baseline, where it is held against one."""

    judged: Sequence[Judged]
    tasks: str
    """What names the tasks and histories: a hash over their files."""
    model: str | None
    against: kept.Difference | None
    filling_s: float
    voted: Mapping[str, Voted] = {}
    """What the majority of several answers gained and cost, by part."""


def measure(
    wanted: Wanted, *, baseline: Path | None, renew: Path | None, report: Path | None, output: str
) -> bool:
    """Ask, show and write what is wanted; return whether quality is within the band of the baseline."""
    gold = load(wanted.folder)
    tasks = wanted.chosen(gold)
    if not tasks:
        raise ValueError(f"{wanted.folder}: it has no such task")
    against = _baseline(baseline, wanted)
    if not 1 <= wanted.samples <= MAX_SAMPLES:
        raise ValueError(f"--samples is 1 to {MAX_SAMPLES}, not {wanted.samples}")
    if renew is not None and set(wanted.whole()) != set(PARTS):
        raise ValueError("--renew keeps the verdicts of all tasks: leave out --part and --class")
    _refuse_lost(renew, report)
    found = _measured(gold, tasks, wanted, against)
    if renew is not None:
        renew.write_bytes(kept.encode(kept.baseline_of(found.judged)))
    if report is not None:
        from braid.tools.gold.report import fill

        fill(report, gold, found)
    _show(found, output)
    return found.against is None or not found.against.fell


def _refuse_lost(renew: Path | None, report: Path | None) -> None:
    """Raise ValueError or OSError where what is found out couldn't be written: before it is found out."""
    if renew is not None and not renew.parent.is_dir():
        raise ValueError(f"--renew {renew}: there is no folder {renew.parent}")
    if report is not None:
        from braid.tools.gold.plot import pencil
        from braid.tools.gold.report import around

        around(report)
        pencil()


def _baseline(file: Path | None, wanted: Wanted) -> kept.Baseline | None:
    """Return what is compared with: of a model's answers nothing is packaged."""
    if file is None:
        file = wanted.folder / kept.NAME
        if wanted.model is not None or not file.is_file():
            return None
    try:
        return kept.decode(file.read_bytes())
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _measured(gold: Gold, tasks: Sequence[Task], wanted: Wanted, against: kept.Baseline | None) -> Measured:
    from braid.tools.cli.models import composer_of

    composer = composer_of(wanted.model, allow_remote=wanted.allow_remote)
    again = Majority(composer or usual_composer(), wanted.samples) if wanted.samples > 1 else None
    # All histories go in, whichever is asked: how rare a word is in the whole store bears on what is found.
    with memory_of(gold.histories) as memory:
        judged = _asked(memory, tasks, composer)
        most = _asked(memory, tasks, again) if again is not None else []
    return Measured(
        judged=judged,
        tasks=_digest(gold),
        model=composer.name if composer is not None else None,
        against=None if against is None else kept.compare(against, judged, whole=wanted.whole()),
        filling_s=round(memory.seconds, 2),
        voted=_voted(wanted.samples, judged, most),
    )


def _asked(memory: Memory, tasks: Sequence[Task], composer: Composer | None) -> list[Judged]:
    from braid.tools.cli.progress import progress

    asking, planning = Asking(composer), Planning(composer)
    with progress("asking", len(tasks)) as bar:
        return run(
            memory,
            tasks,
            lambda task: planning if task.kind in PLANNED else asking,
            progress=bar.reach,
        )


def _voted(samples: int, one: Sequence[Judged], most: Sequence[Judged]) -> dict[str, Voted]:
    """Return what a majority did to each part of the tasks; nothing where none was asked."""
    parts = {part: [at for at, each in enumerate(one) if each.part == part] for part in PARTS}
    return {
        part: voted(samples, [one[at] for at in places], [most[at] for at in places])
        for part, places in parts.items()
        if most and places
    }


def _digest(gold: Gold) -> str:
    digest = hashlib.sha256(msgspec.json.encode(gold.tasks))
    for _, file in sorted(gold.histories.items()):
        digest.update(file.read_bytes())
    return f"sha256:{digest.hexdigest()}"


def _show(found: Measured, output: str) -> None:
    from braid.tools.cli.output import put, put_table, say, to_json

    if output == "json":
        put(to_json(msgspec.to_builtins(_wire(found)), indent=2))
    else:
        put_table(
            ["class", *(title for _, title in _COLUMNS)],
            [[name, *(figure(getattr(one, column)) for column, _ in _COLUMNS)] for name, one in rows(found)],
        )
    for part, one in found.voted.items():
        say(told(part, one))
    for each in kept.told(found.against) if found.against is not None else ():
        say(each)
    if found.against is not None:
        say("within the band of the baseline" if not found.against.fell else "worse than the baseline")


def rows(found: Measured) -> list[tuple[str, Scores]]:
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
        "classes": dict(rows(found)),
        "parts": {part: by_class(some) for part, some in parts.items() if some},
        "calibration": calibrated(found.judged),
        "against": found.against,
        "majority": found.voted,
        "answers": parts["dev"],
    }


def figure(value: float | None) -> str:
    """Return a share, a count or milliseconds as they are read."""
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.0f}" if value > 1 else f"{value:.2f}"
