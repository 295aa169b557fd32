"""When a job is tried again, and with how much (`000_` §3)."""

from collections.abc import Callable
from typing import Final, NamedTuple

WAITS_S: Final = (1.0, 5.0, 30.0)
"""Seconds after the first, second and third failure; after the fourth a job is dead."""
JITTER: Final = 0.2
"""A wait is up to so much longer: jobs that failed together come back apart."""


class Retry(NamedTuple):
    """How often a job is tried, and how long it waits in between."""

    waits_s: tuple[float, ...] = WAITS_S
    jitter: float = JITTER

    @property
    def attempts(self) -> int:
        """How many attempts there are before a job is dead."""
        return len(self.waits_s) + 1

    def wait_s(self, attempt: int, chance: Callable[[], float]) -> float | None:
        """Return the seconds until the next attempt, after attempt `attempt` from 1; None where that was the last.

        `chance` gives a number in [0, 1).
        """
        if attempt >= self.attempts:
            return None
        return self.waits_s[max(attempt, 1) - 1] * (1 + self.jitter * chance())
