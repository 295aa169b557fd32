"""A worker: leases a job, does it outside every lock, and has the outcome appended while its lease is in force.

    plan ──offer──> transport ──lease──> run ──> settle (store's write lock: fence, append) ──> done
                        ^                 │
                        └── retry, release ┘

If the process dies anywhere, the lease expires and another attempt is made. One that finds the outcome in the log does
nothing: exactly one effect.
"""

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from random import Random
from secrets import token_hex
from threading import Event, Thread
from typing import Final, Generic, Literal, NamedTuple, Protocol, TypeVar

from braid.wal.failpoint import failpoint
from braid.work.backoff import Retry
from braid.work.breaker import Breakers
from braid.work.errors import LeaseLostError, LogAwayError, NotNowError, TransportError
from braid.work.job import Batch, Death, Lease
from braid.work.transport import Transport

LEASE_S: Final = 60.0
"""How long a worker that gives no sign of life keeps a job."""
PLANNED: Final = 8
"""How many batches of a consumer are offered at once."""
Ended = Literal["done", "settled", "retried", "dead", "released", "lost"]
"""settled: the log had an outcome already. released: it could not be done now. lost: another has the lease by now."""
_Made = TypeVar("_Made")


class JobFailedError(Exception):
    """A job could not be done; `stage` and `kind` go into the log if it is dead, so they hold no words of a record."""

    def __init__(self, stage: str, kind: str) -> None:
        super().__init__(f"{stage}: {kind}")
        self.stage = stage
        self.kind = kind


class Consumer(Protocol[_Made]):
    """What takes records in: reads, projects, embeds."""

    @property
    def name(self) -> str:
        """Its name in the log."""
        ...

    @property
    def version(self) -> str:
        """The version of its rules: a new one has everything to do again."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """The dependencies without which it can do nothing."""
        ...

    def plan(self, most: int) -> Sequence[Batch]:
        """Return what is to be done next, oldest first: what the log holds and no outcome names."""
        ...

    def run(self, batch: Batch, attempt: int) -> _Made:
        """Do a batch, holding no lock; nothing is appended. Raises JobFailedError, NotNowError, and others."""
        ...

    def settle(self, batch: Batch, made: _Made, attempt: int, fence: Callable[[], None]) -> bool:
        """Append what was made with its outcome, as one transaction; False where the log has an outcome already.

        `fence` is called under the store's write lock, before anything is appended, and raises LeaseLostError.
        """
        ...

    def bury(self, batch: Batch, died: Death, fence: Callable[[], None]) -> bool:
        """Append that a batch is dead; False where the log has an outcome already. `fence` as for `settle`."""
        ...


class Step(NamedTuple):
    """What became of one job."""

    batch: Batch
    ended: Ended
    stage: str = ""
    kind: str = ""


class Worker(Generic[_Made]):
    """Works off jobs of some consumers, one at a time."""

    def __init__(
        self,
        transport: Transport,
        consumers: Sequence[Consumer[_Made]],
        breakers: Breakers,
        *,
        clock: Callable[[], float],
        retry: Retry | None = None,
        random: Random | None = None,
        lease_s: float = LEASE_S,
        owner: str | None = None,
    ) -> None:
        """`clock` gives seconds since 1970; `owner` is a name of its own, made up where none is given."""
        self._transport = transport
        self._consumers = {f"{one.name}@{one.version}": one for one in consumers}
        self._breakers = breakers
        self._clock = clock
        self._retry = retry or Retry()
        self._chance = (random or Random()).random  # noqa: S311 - it only spreads retries
        self._lease_s = lease_s
        self.owner = owner or f"worker-{token_hex(4)}"

    def step(self) -> Step | None:
        """Do the oldest job that is due; None where there is none. Raises TransportError."""
        lease = self._lease()
        if lease is None:
            self.offer()
            lease = self._lease()
        return None if lease is None else self.attempt(lease)

    def does(self, batch: Batch) -> bool:
        """Whether it has the consumer of a batch, under the version of its rules."""
        return batch.kind in self._consumers

    def offer(self) -> int:
        """Offer what the log says is to be done, as far as there is room; return how many are new."""
        new = 0
        for one in self._consumers.values():
            for batch in one.plan(PLANNED) if self._is_ready(one) else ():
                offered = self._transport.offer(batch, self._clock())
                if offered == "full":
                    return new
                new += offered == "offered"
        return new

    def idle_s(self) -> float | None:
        """Return in how many seconds something can be done; None where nothing waits. Asked after `step` gave None."""
        now = self._clock()
        due = self._transport.next_due(list(self._consumers), now)
        if due is None:
            return None
        held = max((self._breakers.wait_s(one.needs) for one in self._consumers.values()), default=0.0)
        return max(due - now, held, 0.01)

    def _is_ready(self, one: Consumer[_Made]) -> bool:
        return self._breakers.wait_s(one.needs) == 0

    def _lease(self) -> Lease | None:
        ready = [kind for kind, one in self._consumers.items() if self._is_ready(one)]
        return self._transport.lease(ready, self.owner, self._clock(), self._lease_s)

    def attempt(self, lease: Lease) -> Step:
        """Do a job that was leased; whatever goes wrong in it is an outcome. Raises TransportError, why the log takes
        nothing, and what ends a process.
        """
        batch = lease.batch
        failpoint("work.leased")
        one = self._consumers[batch.kind]
        fence = self._fence(lease)
        if lease.attempt > self._retry.attempts:  # whoever had it died each time: it said nothing of why
            return self._bury(one, lease, "worker", "died")
        try:
            with self._beating(lease):
                made = one.run(batch, lease.attempt)
            failpoint("work.ran")
            is_new = one.settle(batch, made, lease.attempt, fence)
            failpoint("work.settled")
        except LeaseLostError:
            return Step(batch, "lost")
        except NotNowError as error:
            self._transport.release(lease, self._clock() + error.wait_s, self._clock())
            return Step(batch, "released", error.why)
        except LogAwayError as error:
            self._let_go(lease)
            raise error.why from None
        except TransportError:
            raise
        except JobFailedError as error:
            return self._failed(one, lease, error.stage, error.kind)
        except Exception as error:
            return self._failed(one, lease, "run", type(error).__name__)
        except KeyboardInterrupt:  # another may go on at once
            self._let_go(lease)
            raise
        self._transport.done(lease, self._clock())
        return Step(batch, "done" if is_new else "settled")

    def _let_go(self, lease: Lease) -> None:
        """Give a lease back, at no attempt; where the transport is away, too, it runs out by itself."""
        with suppress(Exception):
            self._transport.release(lease, self._clock(), self._clock())

    def _fence(self, lease: Lease) -> Callable[[], None]:
        return lambda: self._transport.require(lease, self._clock())

    def _failed(self, one: Consumer[_Made], lease: Lease, stage: str, kind: str) -> Step:
        wait_s = self._retry.wait_s(lease.attempt, self._chance)
        if wait_s is None:
            return self._bury(one, lease, stage, kind)
        now = self._clock()
        self._transport.retry(lease, now + wait_s, stage, kind, now)
        return Step(lease.batch, "retried", stage, kind)

    def _bury(self, one: Consumer[_Made], lease: Lease, stage: str, kind: str) -> Step:
        """Sign first that it is dead: if the process dies in between, the next attempt finds the outcome."""
        attempts = min(lease.attempt, self._retry.attempts)
        try:
            is_new = one.bury(lease.batch, Death(stage, kind, attempts), self._fence(lease))
        except LeaseLostError:
            return Step(lease.batch, "lost")
        except LogAwayError as error:
            self._let_go(lease)
            raise error.why from None
        failpoint("work.buried")
        if not is_new:
            self._transport.done(lease, self._clock())
            return Step(lease.batch, "settled")
        self._transport.bury(lease, stage, kind, self._clock())
        return Step(lease.batch, "dead", stage, kind)

    @contextmanager
    def _beating(self, lease: Lease) -> Generator[None]:
        """Let the lease last while the job is being done, however long a model takes."""
        ended = Event()

        def beat() -> None:
            while not ended.wait(self._lease_s / 3):
                with suppress(LeaseLostError, TransportError):
                    self._transport.heartbeat(lease, self._clock(), self._lease_s)

        thread = Thread(target=beat, name="braid-lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def count(steps: Sequence[Step]) -> Counter[str]:
    """Return how many jobs ended how."""
    return Counter(one.ended for one in steps)
