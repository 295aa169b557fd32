"""`make gold`: the tasks of `braid evaluate gold`, held against a baseline, asked for majorities, put into a page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from braid.agent.answer.majority import Majority
from braid.agent.program.plan import MAX_SAMPLES
from braid.tools.cli.errors import FINDINGS
from braid.tools.cli.models import AllowRemote, ChatOption, composer_of
from braid.tools.cli.output import say
from braid.tools.gold.command import Measured, Wanted, asked, measured, show
from braid.tools.gold.judge import Judged
from braid.tools.gold.run import memory_of, usual_composer
from braid.tools.gold.tasks import DATA, PARTS, Gold, load
from braid.tools.lab.gold import baseline as kept
from braid.tools.lab.gold.plot import pencil
from braid.tools.lab.gold.report import around, fill
from braid.tools.lab.gold.voted import Voted, told, voted

INPUTS: Final = Path(__file__).parent / "data"
"""What the generated tasks are made of, and the baseline of the packaged ones."""


def gold(
    *,
    part: Annotated[Literal["all", "dev", "held"], typer.Option("--part", help="Which half.")] = "all",
    kinds: Annotated[list[str] | None, typer.Option("--class", help="Only this class; repeatable.")] = None,
    tasks: Annotated[Path, typer.Option("--tasks", help="Tasks and histories of one's own.")] = DATA,
    model: ChatOption = None,
    allow_remote: AllowRemote = False,
    samples: Annotated[
        int, typer.Option("--samples", help="Ask again, for the majority of N answers, 2 to 9.")
    ] = 1,
    check: Annotated[
        bool, typer.Option("--check", help="Fail (1) where quality fell by more than the band.")
    ] = False,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", help="Compare with this one.", show_default="that of the tasks"),
    ] = None,
    renew: Annotated[
        Path | None, typer.Option("--renew", help="Write the baseline.", show_default=False)
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--report", help="Write the results into it.", show_default=False)
    ] = None,
    output: Annotated[
        Literal["table", "json"], typer.Option("--output", "-o", help="How to show it.")
    ] = "table",
) -> None:
    """Ask the gold tasks, compare the answers with the baseline task by task, and write what is asked for.

    Of the held half only sums are told. docs/gold.md says what the classes are.
    """
    wanted = Wanted(folder=tasks, part=part, kinds=kinds or [], model=model, allow_remote=allow_remote)
    everything = load(tasks)
    chosen = wanted.chosen(everything)
    whole = _whole(wanted)
    against = _baseline(baseline, wanted)
    if not 1 <= samples <= MAX_SAMPLES:
        raise ValueError(f"--samples is 1 to {MAX_SAMPLES}, not {samples}")
    _refuse_lost(renew, page, whole)
    composer = composer_of(model, allow_remote=allow_remote)
    with memory_of(everything.histories) as memory:
        found = measured(everything, memory, asked(memory, chosen, composer), composer)
        most = asked(memory, chosen, Majority(composer or usual_composer(), samples)) if samples > 1 else []
    difference = None if against is None else kept.compare(against, found.judged, whole=whole)
    majority = _voted(samples, found.judged, most)
    _write(everything, found, renew, page)
    show(found, output, {"against": difference, "majority": majority})
    for name, one in majority.items():
        say(told(name, one))
    if difference is None:
        return
    for each in kept.told(difference):
        say(each)
    say("worse than the baseline" if difference.fell else "within the band of the baseline")
    if difference.fell and check:
        raise typer.Exit(FINDINGS)


def _whole(wanted: Wanted) -> Sequence[str]:
    """Return the parts of which every task is asked."""
    return () if wanted.kinds else PARTS if wanted.part == "all" else (wanted.part,)


def _refuse_lost(renew: Path | None, page: Path | None, whole: Sequence[str]) -> None:
    """Raise ValueError or OSError where what is found out couldn't be written: before it is found out."""
    if renew is not None and set(whole) != set(PARTS):
        raise ValueError("--renew keeps the verdicts of all tasks: leave out --part and --class")
    if renew is not None and not renew.parent.is_dir():
        raise ValueError(f"--renew {renew}: there is no folder {renew.parent}")
    if page is not None:
        around(page)
        pencil()


def _baseline(file: Path | None, wanted: Wanted) -> kept.Baseline | None:
    """Return what is compared with: that of the packaged tasks is here, others' lies with them, a model's nowhere."""
    if file is None:
        file = (INPUTS if wanted.folder == DATA else wanted.folder) / kept.NAME
        if wanted.model is not None or not file.is_file():
            return None
    try:
        return kept.decode(file.read_bytes())
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _voted(samples: int, one: Sequence[Judged], most: Sequence[Judged]) -> Mapping[str, Voted]:
    """Return what a majority did to each part of the tasks; nothing where none was asked."""
    parts = {part: [at for at, each in enumerate(one) if each.part == part] for part in PARTS}
    return {
        part: voted(samples, [one[at] for at in places], [most[at] for at in places])
        for part, places in parts.items()
        if most and places
    }


def _write(everything: Gold, found: Measured, renew: Path | None, page: Path | None) -> None:
    if renew is not None:
        renew.write_bytes(kept.encode(kept.baseline_of(found.judged)))
    if page is not None:
        fill(page, everything, found)
