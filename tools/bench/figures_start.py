"""What starting costs."""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial

from braid.tools.bench.context import Bench, Measure
from braid.tools.bench.measure import Figure, Floor, against, seconds_of

_VERSION = "import sys; sys.argv = ['braid', '--version']; from braid.tools.cli.main import run; run()"


def starting(bench: Bench, n: int) -> Iterator[Figure]:
    """Start the command line for its version, and the library, against an empty program."""
    del n
    floor = Floor("python -c pass", partial(_start, "pass"))
    yield against("cli.cold", 0, "s", partial(_start, _VERSION), floor=floor, rounds=max(3, bench.rounds))
    yield against(
        "import.cold",
        0,
        "s",
        partial(_start, "import braid; braid.open"),
        floor=floor,
        rounds=max(3, bench.rounds),
    )


def _start(program: str) -> float:
    return seconds_of(
        partial(subprocess.run, [sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)
    )


MEASURES = (Measure(("cli.cold", "import.cold"), starting, sized=False),)
