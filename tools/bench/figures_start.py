"""What starting costs: a process for each command, on a store of a few turns whose projections stand."""

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from braid.tools.bench.context import Bench, Measure
from braid.tools.bench.measure import Figure, Floor, against, seconds_of

_ENTRY: Final = "from braid.tools.cli.entry import run; run()"
_TURNS: Final = 12
_QUESTION: Final = "Which dock was repaired?"


def starting(bench: Bench, n: int) -> Iterator[Figure]:
    """Start the command line for each of its short commands, and the library, against an empty program."""
    del n
    floor = Floor("python -c pass", partial(_start, "pass"))
    take = partial(against, n=0, unit="s", floor=floor, rounds=bench.rounds)
    yield take("import.cold", sample=partial(_start, "import braid; braid.open"))
    yield take("cli.cold", sample=partial(_start, _ENTRY, "--version"))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "memory"
        id = _store(path)
        for name, words in {
            "status": (),
            "log": (),
            "show": (id,),
            "prove": (id,),
            "recall": (_QUESTION,),
            "context": (_QUESTION,),
            "ask": (_QUESTION, "--no-write"),
        }.items():
            yield take(f"cli.{name}", sample=partial(_start, _ENTRY, "--store", str(path), name, *words))


def _store(path: Path) -> str:
    """Make a store of some turns whose projections stand, and return the id of a turn."""
    import braid

    with braid.open(path, guard_dir=path.parent / "guard") as store:
        ids = [store.append(f"Dock {turn} was repaired in May.", user_id="maya") for turn in range(_TURNS)]
        store.recall(_QUESTION)
        store.ask(_QUESTION, write=False)
    return ids[0]


def _start(program: str, *words: str) -> float:
    command = [sys.executable, "-c", program, *words]
    guard = {"BRAID_GUARD_DIR": str(Path(words[1]).parent / "guard")} if "--store" in words else {}
    return seconds_of(
        partial(subprocess.run, command, check=True, capture_output=True, env={**os.environ, **guard})
    )


MEASURES = (
    Measure(
        (
            "import.cold",
            "cli.cold",
            "cli.status",
            "cli.log",
            "cli.show",
            "cli.prove",
            "cli.recall",
            "cli.context",
            "cli.ask",
        ),
        starting,
        sized=False,
    ),
)
