"""A figure, what it is held to, and how it is taken: floor, measurement, floor, measurement, … floor."""

import time
from collections.abc import Callable
from statistics import median
from typing import Final, Literal, NamedTuple

import msgspec

Sample = Callable[[], float]
"""One slice of work, returning its rate or its cost."""


class Target(NamedTuple):
    """What a figure is held to; `least` is the size from which it counts."""

    of: Literal["ratio", "value"]
    relation: Literal["≥", "≤"]
    bound: float
    least: int = 0

    def met(self, figure: "Figure") -> bool | None:
        """Whether a figure meets it; None where it does not count."""
        number = figure.ratio if self.of == "ratio" else figure.value
        if number is None or figure.n < self.least:
            return None
        return number >= self.bound if self.relation == "≥" else number <= self.bound

    def __str__(self) -> str:
        return f"{'× ' if self.of == 'ratio' else ''}{self.relation} {self.bound:,g}"


_HOOKS: Final = ("session-start", "user-prompt-submit", "turn-end", "pre-compaction", "session-end")
TARGETS: Final[dict[str, Target]] = {
    "append.tx1000": Target("ratio", "≥", 0.45),
    "append.always": Target("ratio", "≥", 0.6),
    "verify.full": Target("ratio", "≥", 0.75, 10_000),
    "verify.hash": Target("value", "≥", 200_000, 100_000),
    "publish": Target("value", "≥", 100_000, 100_000),
    "replay.duckdb": Target("value", "≥", 25_000, 10_000),
    "replay.snapshot": Target("ratio", "≥", 10.0, 1_000_000),
    "verify.since": Target("ratio", "≤", 0.02, 10_000),
    "recall.p95": Target("ratio", "≤", 1.0, 10_000),
    "recall.ingest": Target("value", "≥", 2_000, 10_000),
    "recall.first": Target("value", "≤", 1.0, 10_000),
    "serve.append.slow.gain": Target("value", "≥", 5.0),
    "recall.beside": Target("value", "≤", 150.0, 10_000),
    "sql.beside": Target("value", "≤", 150.0, 10_000),
    "life.remember.p95": Target("value", "≤", 25.0, 10_000),
    "life.remember.p99": Target("value", "≤", 2_500.0, 10_000),
    "life.remember.queued.p95": Target("value", "≤", 25.0, 10_000),
    "life.remember.dead.p95": Target("value", "≤", 50.0, 10_000),
    "life.modify.p95": Target("value", "≤", 25.0, 10_000),
    "life.pin.p95": Target("value", "≤", 25.0, 10_000),
    "life.forget.p95": Target("value", "≤", 25.0, 10_000),
    "open": Target("value", "≤", 1.0),
    "open.rss": Target("value", "≤", 200.0),
    "get.warm": Target("ratio", "≤", 1.4),
    "prove.many": Target("value", "≤", 50.0),
    "overhead": Target("value", "≤", 900.0, 10_000),
    "cli.cold": Target("ratio", "≤", 5.0),
    "cli.status": Target("ratio", "≤", 18.0),
    "cli.log": Target("ratio", "≤", 18.0),
    "cli.show": Target("ratio", "≤", 18.0),
    "cli.prove": Target("ratio", "≤", 18.0),
    "cli.recall": Target("ratio", "≤", 60.0),
    "cli.context": Target("ratio", "≤", 60.0),
    "cli.ask": Target("ratio", "≤", 75.0),
    **{f"hook.{event}.served.p95": Target("value", "≤", 150.0) for event in _HOOKS},
    **{f"hook.{event}.alone.p95": Target("value", "≤", 1_000.0) for event in _HOOKS},
}
"""The bounds of the bench; a start-up cost counts only where there is enough to do."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One measured number. `ratio` is value ÷ floor; of a rate more is better, of a cost less."""

    name: str
    n: int
    """Records in the store; 0 where there is none."""
    value: float
    unit: str
    floor: float | None = None
    ratio: float | None = None
    floor_name: str = ""
    spread: float | None = None
    """Distance of the outermost slices from the median, as a part of it."""
    target: str = ""
    met: bool | None = None

    def judged(self) -> "Figure":
        """Return the figure with its target and whether it is met."""
        target = TARGETS.get(self.name)
        return self.held_to(target) if target else self

    def held_to(self, target: Target) -> "Figure":
        """Return the figure with this target and whether it is met."""
        return msgspec.structs.replace(self, target=str(target), met=target.met(self))


class Floor(NamedTuple):
    """What bounds a figure: its name, and one slice of it in the figure's own unit."""

    name: str
    sample: Sample


def figure(name: str, n: int, unit: str, value: float) -> Figure:
    """Return a figure without a floor."""
    return Figure(name=name, n=n, value=value, unit=unit).judged()


def alone(name: str, n: int, unit: str, sample: Sample, rounds: int) -> Figure:
    """Return the median of `rounds` slices."""
    values = [sample() for _ in range(rounds)]
    return Figure(name=name, n=n, unit=unit, value=median(values), spread=_spread(values)).judged()


def against(name: str, n: int, unit: str, sample: Sample, *, floor: Floor, rounds: int) -> Figure:
    """Return the medians of interleaved slices.

    Each slice is compared with the mean of the floors right before and after it, and `ratio` is the median of those:
    a neighbour that slows the machine for a while slows both sides of a comparison.
    """
    floors, values = [floor.sample()], list[float]()
    for _ in range(rounds):
        values.append(sample())
        floors.append(floor.sample())
    ratios = [2 * value / (floors[k] + floors[k + 1]) for k, value in enumerate(values)]
    return Figure(
        name=name,
        n=n,
        unit=unit,
        value=median(values),
        floor=median(floors),
        ratio=median(ratios),
        floor_name=floor.name,
        spread=_spread(values),
    ).judged()


def _spread(values: list[float]) -> float:
    middle = median(values)
    return max(abs(value - middle) for value in values) / middle if middle else 0.0


def per_second(act: Callable[[], object], count: int = 1) -> float:
    """Run `act` once, which does `count` things, and return how many that is a second."""
    start = time.perf_counter()
    act()
    return count / (time.perf_counter() - start)


def seconds_of(act: Callable[[], object]) -> float:
    """Run `act` once and return how long it took."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def rate_for(act: Callable[[], object], seconds: float, batch: int = 16) -> float:
    """Repeat `act` for about `seconds` and return how often it ran a second."""
    done, start = 0, time.perf_counter()
    end = start + seconds
    while True:
        for _ in range(batch):
            act()
        done += batch
        now = time.perf_counter()
        if now >= end:
            return done / (now - start)
