"""What carries jobs between those who offer and those who work: a protocol. Times are seconds since 1970, passed in.

A transport may forget everything at any time. It never decides what is to be done, nor what was.
"""

from collections.abc import Sequence
from typing import Final, Literal, Protocol

from braid.work.job import Batch, Job, Lease

DEPTH: Final = 1_000
"""How many jobs may wait in one transport; what is above stays in the log and is offered later."""
KEPT_S: Final = 28 * 86_400.0
"""So long after its end a transport lets go of what is done by itself, where nobody drops it before."""
DEAD_KEPT_S: Final = 60 * 86_400.0
Offered = Literal["offered", "known", "full"]


class Transport(Protocol):
    """Jobs, each leased to one worker at a time. Safe between threads and between processes.

    Every method may raise TransportError.
    """

    @property
    def name(self) -> str:
        """What a breaker and a status call it."""
        ...

    def offer(self, batch: Batch, now: float) -> Offered:
        """Let a batch be done; `known` where a job for it is waiting or leased, `full` where too many wait."""
        ...

    def lease(self, kinds: Sequence[str], owner: str, now: float, lease_s: float) -> Lease | None:
        """Take the oldest job of these kinds that is due, or whose lease has expired; the attempt counts now."""
        ...

    def take(self, batch: Batch, owner: str, now: float, lease_s: float) -> Lease | None:
        """Take the job of one batch, offering it first, due or not; None while another has it."""
        ...

    def heartbeat(self, lease: Lease, now: float, lease_s: float) -> None:
        """Let a lease last longer. Raises LeaseLostError."""
        ...

    def require(self, lease: Lease, now: float) -> None:
        """Raise LeaseLostError where a lease is not in force: expired and taken by another, or unknown."""
        ...

    def done(self, lease: Lease, now: float) -> None:
        """Note that the log has the outcome. A lease that was lost is no error: the log has it all the same."""
        ...

    def retry(self, lease: Lease, due_at: float, stage: str, error: str, now: float) -> None:
        """Note that an attempt failed, and when the next is due."""
        ...

    def release(self, lease: Lease, due_at: float, now: float) -> None:
        """Give a job back as if it had never been leased: it cost no attempt."""
        ...

    def bury(self, lease: Lease, stage: str, error: str, now: float) -> None:
        """Note that a job is dead; the log says so too."""
        ...

    def requeue(self, batch: Batch, now: float) -> None:
        """Let a batch be done from its first attempt on, now, whatever became of it before."""
        ...

    def discard(self, batch: Batch) -> None:
        """Forget a job."""
        ...

    def drop_ended(self, done_before: float, dead_before: float) -> None:
        """Forget the jobs that were done, or died, before these times; none that is still to be done."""
        ...

    def jobs(self) -> list[Job]:
        """Return all that are known, oldest first."""
        ...

    def next_due(self, kinds: Sequence[str], now: float) -> float | None:
        """Return when the next job of these kinds can be leased, at `now` at the earliest; None where none waits."""
        ...
