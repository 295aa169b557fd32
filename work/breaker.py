"""Circuit breakers: a dependency that fails again and again is left in peace for a while (`000_` §5)."""

from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import Final, Literal, NamedTuple

import msgspec

from braid.work.errors import BreakerOpenError

State = Literal["closed", "half_open", "open"]


class Limits(NamedTuple):
    """So many failures within `window_s` seconds open a breaker for `cooldown_s`."""

    failures: int
    window_s: float
    cooldown_s: float


TABLE: Final[Mapping[str, Limits]] = {
    "chat_small": Limits(3, 60, 15),
    "chat_second": Limits(3, 60, 15),
    "chat_large": Limits(2, 60, 60),
    "embedder": Limits(5, 60, 30),
    "duckdb": Limits(5, 60, 30),
    "lance": Limits(5, 60, 30),
    "redis": Limits(5, 60, 15),
}


class BreakerState(msgspec.Struct, frozen=True, kw_only=True):
    """How a breaker stands: failures within its window, and seconds until one is let through."""

    dependency: str
    state: State
    failures: int
    wait_s: float


class Breaker:
    """One dependency's breaker. Safe between threads.

    Closed lets all through and counts failures. Open lets none through. Half-open, once the cooldown is over, lets one
    through: if that goes well it closes, else it is open again.
    """

    def __init__(self, dependency: str, limits: Limits, clock: Callable[[], float] = monotonic) -> None:
        """`clock` gives seconds that only rise."""
        self.dependency = dependency
        self._limits = limits
        self._clock = clock
        self._turn = Lock()
        self._failed_at: deque[float] = deque()
        self._opened_at: float | None = None
        self._is_probed = False

    def state(self) -> BreakerState:
        """Return how it stands."""
        with self._turn:
            now = self._clock()
            self._drop_old(now)
            wait_s = self._wait_s(now)
            found: State = "closed" if self._opened_at is None else "open" if wait_s > 0 else "half_open"
            return BreakerState(
                dependency=self.dependency, state=found, failures=len(self._failed_at), wait_s=wait_s
            )

    def wait_s(self) -> float:
        """Return in how many seconds something would be let through; 0 for now."""
        with self._turn:
            now = self._clock()
            wait_s = self._wait_s(now)
            # While the one that was let through is on its way, all others wait; it may never come back.
            return self._limits.cooldown_s if self._is_probed and not wait_s else wait_s

    @contextmanager
    def passing(self, *besides: type[Exception]) -> Generator[None]:
        """Let a call through; an exception that leaves the block counts as a failure, unless it is one of `besides`.

        Raises BreakerOpenError where none is let through.
        """
        is_probe = self._enter()
        try:
            yield
        except BaseException as error:
            if isinstance(error, Exception) and not isinstance(error, besides):
                self._failed(is_probe)
            else:  # interrupted, or busy: it says nothing of how the dependency is
                with self._turn:
                    self._is_probed = self._is_probed and not is_probe
            raise
        self._went_well(is_probe)

    def _enter(self) -> bool:
        with self._turn:
            now = self._clock()
            wait_s = self._wait_s(now)
            if wait_s > 0 or self._is_probed:
                raise BreakerOpenError(self.dependency, wait_s or self._limits.cooldown_s)
            self._is_probed = self._opened_at is not None
            return self._is_probed

    def _failed(self, is_probe: bool) -> None:
        with self._turn:
            now = self._clock()
            self._failed_at.append(now)
            self._drop_old(now)
            if is_probe or len(self._failed_at) >= self._limits.failures:
                self._opened_at = now
            if is_probe:
                self._is_probed = False

    def _went_well(self, is_probe: bool) -> None:
        with self._turn:
            if is_probe:
                self._opened_at, self._is_probed = None, False
                self._failed_at.clear()

    def _wait_s(self, now: float) -> float:
        if self._opened_at is None:
            return 0.0
        return max(0.0, self._opened_at + self._limits.cooldown_s - now)

    def _drop_old(self, now: float) -> None:
        while self._failed_at and self._failed_at[0] <= now - self._limits.window_s:
            self._failed_at.popleft()


class Breakers:
    """The breakers of all dependencies of one open store."""

    def __init__(self, clock: Callable[[], float] = monotonic, table: Mapping[str, Limits] = TABLE) -> None:
        """`clock` gives seconds that only rise."""
        self._by_name = {name: Breaker(name, limits, clock) for name, limits in table.items()}

    def __getitem__(self, dependency: str) -> Breaker:
        """Return a dependency's breaker; KeyError for an unknown one."""
        return self._by_name[dependency]

    def wait_s(self, dependencies: tuple[str, ...]) -> float:
        """Return in how many seconds all of these can be asked; 0 for now."""
        return max((self[name].wait_s() for name in dependencies), default=0.0)

    def states(self) -> tuple[BreakerState, ...]:
        """Return how each stands, in the order of the table."""
        return tuple(one.state() for one in self._by_name.values())
