"""What a callback of a harness costs, from the start of `braid hook` to its end, with a server and without."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from braid.tools.bench.context import Bench, Measure
from braid.tools.bench.figures_recall import Turns
from braid.tools.bench.figures_serve import LostServerError, conversations, server
from braid.tools.bench.measure import Figure, figure, seconds_of
from braid.tools.bench.stores import Place
from braid.tools.hooks.state import StateFolder
from braid.tools.hooks.troubles import Troubles, said

EVENTS: Final = ("session-start", "user-prompt-submit", "turn-end", "pre-compaction", "session-end")
USER: Final = "user-000000"
"""Of the first 500 turns."""
CALLS_A_SECOND: Final = 75
WARM: Final = 2
"""Callbacks of each event that are not measured: what they load, the next ones find."""


def calling(bench: Bench, n: int) -> Iterator[Figure]:
    """Call back for each event: to a server, then to nobody."""
    place, asked = conversations(bench, n, "hooked"), Turns(bench.seed).questions(min(n, 500))
    calls = max(5, bench.times(CALLS_A_SECOND))
    with server(place):
        for event in EVENTS:
            yield from _measured("served", place, event, calls, asked)
    for event in EVENTS:
        yield from _measured("alone", place, event, calls, asked)
    if failed := Troubles(StateFolder(str(place.path), str(place.guard_dir))).all():
        raise LostServerError(f"{len(failed)} callbacks failed: {said(failed[0])}")
    bench.stores.remove(place)


def _measured(how: str, place: Place, event: str, calls: int, asked: Iterator[str]) -> Iterator[Figure]:
    took: list[float] = []
    file = place.path.parent / f"{how}-{event}.jsonl"
    for number in range(calls + WARM):
        _say(file, f"{how}-{event}", number)
        took.append(1e3 * seconds_of(lambda: _call(place, event, file, next(asked))))
    took = sorted(took[WARM:])
    for part in (50, 95):
        value = took[min(len(took) - 1, len(took) * part // 100)]
        yield figure(f"hook.{event}.{how}.p{part}", place.n, "ms", value)


def _say(file: Path, session: str, number: int) -> None:
    turn = {
        "type": "user",
        "uuid": f"{session}-{number}",
        "sessionId": session,
        "timestamp": "2026-11-20T10:00:00Z",
        "message": {"role": "user", "content": f"Turn {number} of {session}."},
    }
    with file.open("a") as out:
        out.write(json.dumps(turn) + "\n")


def _call(place: Place, event: str, file: Path, prompt: str) -> None:
    given = {"session_id": file.stem, "transcript_path": str(file), "prompt": prompt}
    at = ["--store", str(place.path), "--guard-dir", str(place.guard_dir)]
    braid = str(Path(sys.executable).with_name("braid"))
    words = [braid, *at, "hook", event, "--user-id", USER]
    subprocess.run(words, input=json.dumps(given).encode(), stdout=subprocess.DEVNULL, check=True)


MEASURES = (
    Measure(
        tuple(
            f"hook.{event}.{how}.p{part}"
            for how in ("served", "alone")
            for event in EVENTS
            for part in (50, 95)
        ),
        calling,
        sized=False,
    ),
)
