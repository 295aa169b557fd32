"""Writes the generated histories and their tasks: `python -m braid.tools.lab.gold.generate [FOLDER]`.

Months of small talk, and among it the threads of `data/threads.toml`. The same seed gives the same bytes.
"""

import sys
import tomllib
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec

from braid.tools.gold.tasks import CLASSES, DATA
from braid.tools.lab.gold.threads import Thread, Words, filled, pick, task, variant

INPUTS: Final = Path(__file__).parent / "data"
SEED: Final = 2301
PAIRS: Final = 3
"""Of small talk, a day: something said, and what the assistant answers."""


class Plan(msgspec.Struct, frozen=True):
    """A history to be made: who speaks, from when, on how many days, over how many days."""

    name: str
    me: str
    since: date
    days: int
    over: int


PLANS: Final = (
    Plan("diary-1", "Liv Aasen", date(2024, 2, 5), 36, 420),
    Plan("diary-2", "Dario Conti", date(2024, 3, 11), 36, 420),
    Plan("years", "Edda Brandt", date(2018, 1, 8), 240, 2700),
)
Line = tuple[str, int]
"""A text, and which turn of its thread it is."""


class _Pair(msgspec.Struct, frozen=True):
    """What is said, and the answer to it; `turn` of `thread`, or small talk."""

    said: str
    answer: str
    thread: int = -1
    turn: int = -1


def generate(seed: int = SEED) -> dict[str, bytes]:
    """Return the files, by their path in the folder of tasks and histories."""
    threads = _read(INPUTS / "threads.toml")["thread"]
    words = _read(INPUTS / "words.toml")
    files: dict[str, bytes] = {}
    asked: dict[str, list[dict[str, Any]]] = {kind: [] for kind in CLASSES}
    for number, plan in enumerate(PLANS):
        own = [one for one in msgspec.convert(threads, list[Thread]) if plan.name in one.histories]
        turns, tasks = _history(plan, number, own, words, Random(f"{seed}/{plan.name}"))
        files[f"histories/{plan.name}.jsonl"] = _lines(turns)
        for kind, one in tasks:
            asked[kind].append(one)
    return files | {f"tasks/made/{kind}.jsonl": _lines(some) for kind, some in asked.items() if some}


def _read(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _lines(rows: Sequence[dict[str, Any]]) -> bytes:
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)


def _history(
    plan: Plan, number: int, threads: Sequence[Thread], words: dict[str, Any], rng: Random
) -> tuple[list[dict[str, Any]], list[tuple[str, dict[str, Any]]]]:
    """Return the turns of a history, and what is asked of it by class."""
    source = Words(words["slots"], words["shared"] | {"me": [plan.me.split()[0]]}, rng)
    draws = [source.drawer() for _ in threads]
    days = [plan.since + timedelta(days=plan.over * day // plan.days) for day in range(plan.days)]
    said: list[list[_Pair]] = [[] for _ in days]
    told: list[list[int]] = []
    for place, (thread, draw) in enumerate(zip(threads, draws, strict=True)):
        told.append([int(share * plan.days) for share, _, _ in thread.say])
        for turn, (on, (_, _, text)) in enumerate(zip(told[-1], thread.say, strict=True)):
            line = filled(variant(text, number), draw)
            said[on].append(_Pair(line, _small(words, "assistant", rng), place, turn))
    turns, ids = _turns(plan, days, said, words, rng)
    tasks: list[tuple[str, dict[str, Any]]] = []
    for place, (thread, draw) in enumerate(zip(threads, draws, strict=True)):
        one = task(thread, number, draw, [days[on] for on in told[place]])
        nth = 1 + sum(kind == thread.kind for kind, _ in tasks)
        head = {"id": f"{thread.kind}-{plan.name}-{nth:02d}", "history": plan.name}
        evidence = [[ids[place, turn] for turn in group] for group in thread.evidence]
        tasks.append((thread.kind, head | one | {"evidence": evidence}))
    return turns, tasks


def _turns(
    plan: Plan, days: Sequence[date], said: Sequence[Sequence[_Pair]], words: dict[str, Any], rng: Random
) -> tuple[list[dict[str, Any]], dict[tuple[int, int], str]]:
    """Return the turns in order, and the id of each thread's turns."""
    turns: list[dict[str, Any]] = []
    ids: dict[tuple[int, int], str] = {}
    for day, lines in zip(days, said, strict=True):
        at = datetime(
            day.year, day.month, day.day, 17 + int(rng.random() * 4), int(rng.random() * 60), tzinfo=UTC
        )
        for pair in _mixed(lines, words, rng):
            for role, text in (("user", pair.said), ("assistant", pair.answer)):
                id = f"{plan.name}-{len(turns) + 1:04d}"
                if role == "user" and pair.thread >= 0:
                    ids[pair.thread, pair.turn] = id
                turns.append(_turn(plan, id, at, role, text))
                at += timedelta(seconds=20 + int(rng.random() * 70))
    return turns, ids


def _turn(plan: Plan, id: str, at: datetime, role: str, text: str) -> dict[str, Any]:
    head = {"id": id, "conversation": plan.name, "session": at.date().isoformat()}
    name = {"name": plan.me} if role == "user" else {}
    return head | {"timestamp": f"{at:%Y-%m-%dT%H:%M:%SZ}", "role": role} | name | {"content": text}


def _mixed(lines: Sequence[_Pair], words: dict[str, Any], rng: Random) -> list[_Pair]:
    """Return a day: the lines of threads in their order, small talk between them by lot."""
    small = [_Pair(_small(words, "me", rng), _small(words, "assistant", rng)) for _ in range(PAIRS)]
    places = sorted(int(rng.random() * (len(small) + 1)) for _ in lines)
    day = list(small)
    for shift, (place, line) in enumerate(zip(places, lines, strict=True)):
        day.insert(place + shift, line)
    return day


def _small(words: dict[str, Any], who: str, rng: Random) -> str:
    talk = words["talk"]
    return filled(pick(talk[who], rng), lambda name: pick(talk[name.rstrip("0123456789")], rng))


def main() -> None:
    """Write the files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    for name, content in generate().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
