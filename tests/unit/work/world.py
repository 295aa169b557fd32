"""A log of numbers, a consumer of it, and workers: as a store has them, without a store."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from threading import RLock

from braid.wal import failpoint
from braid.work.breaker import Breakers, Limits
from braid.work.embedded import EmbeddedQueue
from braid.work.errors import LeaseLostError, TransportError
from braid.work.job import Batch, Death
from braid.work.spans import indexes, spans_of
from braid.work.worker import JobFailedError, Step, Worker

NAME, VERSION = "reading", "1"


class Died(BaseException):
    """The process is gone: nobody catches it."""


class Log:
    """Numbers from 0 on, and what was done with each; it outlives every process."""

    def __init__(self) -> None:
        self.size = 0
        self.effects: Counter[int] = Counter()
        self.dead: set[int] = set()
        self.lock = RLock()

    def remaining(self) -> set[int]:
        return set(range(self.size)) - set(self.effects) - self.dead


class Reader:
    """Takes in one number at a time. `trouble` is called with the number and may raise."""

    name, version = NAME, VERSION
    needs = ("model",)

    def __init__(self, log: Log, breakers: Breakers, trouble: Callable[[int], None]) -> None:
        self.log = log
        self.breakers = breakers
        self.trouble = trouble
        self.asked = 0

    def plan(self, most: int) -> list[Batch]:
        return [Batch(NAME, VERSION, spans_of([at])) for at in sorted(self.log.remaining())[:most]]

    def run(self, batch: Batch, attempt: int) -> int:
        assert attempt <= 4
        assert not self.log.lock._is_owned()  # type: ignore[attr-defined]  # nothing is asked under the lock
        (at,) = indexes(batch.spans)
        with self.breakers["model"].passing():
            self.asked += 1
            self.trouble(at)
        return at

    def settle(self, batch: Batch, made: int, attempt: int, fence: Callable[[], None]) -> bool:
        del batch, attempt
        return self._append(made, fence, self.log.effects.update)

    def bury(self, batch: Batch, died: Death, fence: Callable[[], None]) -> bool:
        assert died.attempts == 4
        (at,) = indexes(batch.spans)
        return self._append(at, fence, self.log.dead.update)

    def _append(self, at: int, fence: Callable[[], None], put: Callable[[list[int]], None]) -> bool:
        with self.log.lock:
            fence()
            if at not in self.log.remaining():
                return False
            failpoint.failpoint("log.append")
            put([at])
            failpoint.failpoint("log.append.done")
            return True


class World:
    """A log, a transport, and as many workers as there are names for."""

    def __init__(self, folder: Path, seed: int = 1) -> None:
        self.log = Log()
        self.now = 1_000_000.0
        self.chance = Random(seed)
        self.transport = EmbeddedQueue(folder / "work.sqlite", depth=50)
        self.breakers = Breakers(lambda: self.now, {"model": Limits(1_000_000, 60, 15)})
        self.trouble: Callable[[int], None] = lambda at: None
        self.made = 0

    def worker(self, owner: str | None = None) -> Worker[int]:
        """Return a worker, as a process that was just started has it."""
        self.made += 1
        self.reader = Reader(self.log, self.breakers, lambda at: self.trouble(at))  # noqa: PLW0108 - trouble may change
        return Worker(
            self.transport, [self.reader], self.breakers, clock=lambda: self.now, random=self.chance,
            owner=owner or f"worker {self.made}",
        )  # fmt: skip

    def step(self, die_at: str | None = None) -> Step | None:
        """Let a new worker do one step; it dies at a point, where one is named."""
        failpoint.arm(_dying(die_at) if die_at else None)
        try:
            return self.worker().step()
        except (Died, LeaseLostError, TransportError):
            return None
        finally:
            failpoint.arm(None)

    def drain(self) -> list[Step]:
        """Work until nothing waits, with nothing in the way any more; time passes as it is asked for."""
        done: list[Step] = []
        worker = self.worker()
        for _ in range(10_000):
            step = worker.step()
            if step is not None:
                done.append(step)
                continue
            idle_s = worker.idle_s()
            if idle_s is None:
                return done
            self.now += idle_s
        raise AssertionError("it never ends")


def _dying(point: str) -> Callable[[str], None]:
    def hook(name: str) -> None:
        if name == point:
            raise Died(point)

    return hook


def failing(*numbers: int, kind: str = "failed") -> Callable[[int], None]:
    """Return trouble with some numbers."""

    def trouble(at: int) -> None:
        if at in numbers:
            raise JobFailedError("ask", kind)

    return trouble
