"""What every transport of jobs must do: one suite, run on each of them."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Protocol

import pytest

from braid.work.errors import LeaseLostError
from braid.work.job import Batch, Job
from braid.work.transport import Transport

LEASE_S = 60.0


class World(Protocol):
    """A transport, and its time."""

    transport: Transport
    now: float

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        ...

    def small(self, depth: int) -> Transport:
        """Return a transport of its own that holds few jobs."""
        ...

    def lose(self) -> None:
        """Lose all that the transport keeps."""
        ...


def batch(at: int, consumer: str = "reading", version: str = "1") -> Batch:
    return Batch(consumer, version, ((at, at + 1),))


KINDS = ["reading@1"]


class TransportContract:
    """Subclass it with a fixture `world`."""

    def test_a_job_is_leased_once_and_counted_when_it_is(self, world: World) -> None:
        transport = world.transport
        assert transport.lease(KINDS, "a", world.now, LEASE_S) is None
        assert transport.offer(batch(1), world.now) == "offered"
        assert transport.offer(batch(1), world.now) == "known"
        lease = transport.lease(KINDS, "a", world.now, LEASE_S)
        assert lease is not None
        assert (lease.batch, lease.attempt, lease.owner) == (batch(1), 1, "a")
        assert transport.lease(KINDS, "b", world.now, LEASE_S) is None
        assert transport.offer(batch(1), world.now) == "known"
        transport.require(lease, world.now)
        transport.done(lease, world.now)
        assert [(one.state, one.attempts) for one in transport.jobs()] == [("done", 1)]
        assert transport.lease(KINDS, "b", world.now, LEASE_S) is None

    def test_the_oldest_comes_first_and_only_of_the_kinds_that_are_asked_for(self, world: World) -> None:
        transport = world.transport
        for one in (batch(3), batch(1), batch(2, version="2"), batch(4, consumer="embedding")):
            transport.offer(one, world.now)
        first = transport.lease(KINDS, "a", world.now, LEASE_S)
        second = transport.lease(KINDS, "a", world.now, LEASE_S)
        assert [one.batch for one in (first, second) if one] == [batch(3), batch(1)]
        assert transport.lease(KINDS, "a", world.now, LEASE_S) is None
        other = transport.lease(["reading@2", "embedding@1"], "a", world.now, LEASE_S)
        assert other is not None
        assert other.batch == batch(2, version="2")
        assert transport.lease([], "a", world.now, LEASE_S) is None

    def test_a_lease_that_expires_goes_to_another_and_is_refused_after_that(self, world: World) -> None:
        transport = world.transport
        transport.offer(batch(1), world.now)
        late = transport.lease(KINDS, "late", world.now, LEASE_S)
        assert late is not None
        world.advance(LEASE_S + 1)
        transport.require(late, world.now)  # nobody has taken it: what was made may be appended
        other = transport.lease(KINDS, "other", world.now, LEASE_S)
        assert other is not None
        assert (other.attempt, other.token > late.token) == (2, True)
        with pytest.raises(LeaseLostError):
            transport.require(late, world.now)
        with pytest.raises(LeaseLostError):
            transport.heartbeat(late, world.now, LEASE_S)
        transport.retry(late, world.now, "ask", "failed", world.now)  # too late to say anything
        transport.done(late, world.now)
        transport.require(other, world.now)

    def test_one_owner_that_leases_again_has_another_token(self, world: World) -> None:
        transport = world.transport
        transport.offer(batch(1), world.now)
        first = transport.lease(KINDS, "a", world.now, LEASE_S)
        world.advance(LEASE_S + 1)
        second = transport.lease(KINDS, "a", world.now, LEASE_S)
        assert first is not None
        assert second is not None
        with pytest.raises(LeaseLostError):
            transport.require(first, world.now)
        transport.require(second, world.now)

    def test_a_heartbeat_keeps_a_lease(self, world: World) -> None:
        transport = world.transport
        transport.offer(batch(1), world.now)
        lease = transport.lease(KINDS, "a", world.now, LEASE_S)
        assert lease is not None
        for _ in range(3):
            world.advance(LEASE_S - 1)
            transport.heartbeat(lease, world.now, LEASE_S)
            assert transport.lease(KINDS, "b", world.now, LEASE_S) is None

    def test_a_failure_comes_back_when_it_is_due(self, world: World) -> None:
        transport = world.transport
        transport.offer(batch(1), world.now)
        lease = transport.lease(KINDS, "a", world.now, LEASE_S)
        assert lease is not None
        transport.retry(lease, world.now + 5, "ask", "failed", world.now)
        (job,) = transport.jobs()
        assert (job.state, job.attempts, job.stage, job.error) == ("retry_scheduled", 1, "ask", "failed")
        assert transport.next_due(KINDS, world.now) == pytest.approx(world.now + 5)
        assert transport.next_due(["other@1"], world.now) is None
        assert transport.offer(batch(1), world.now) == "known"
        assert transport.lease(KINDS, "a", world.now, LEASE_S) is None
        world.advance(6)
        again = transport.lease(KINDS, "a", world.now, LEASE_S)
        assert again is not None
        assert again.attempt == 2

    def test_what_is_released_has_cost_no_attempt(self, world: World) -> None:
        transport = world.transport
        transport.offer(batch(1), world.now)
        for _ in range(3):
            lease = transport.lease(KINDS, "a", world.now, LEASE_S)
            assert lease is not None
            assert lease.attempt == 1
            transport.release(lease, world.now + 15, world.now)
            assert transport.lease(KINDS, "a", world.now, LEASE_S) is None
            world.advance(16)

    def test_the_dead_stay_dead_until_they_are_queued_again(self, world: World) -> None:
        transport = world.transport
        transport.offer(batch(1), world.now)
        lease = transport.lease(KINDS, "a", world.now, LEASE_S)
        assert lease is not None
        transport.bury(lease, "ask", "failed", world.now)
        assert [(one.state, one.error) for one in transport.jobs()] == [("dead", "failed")]
        assert transport.lease(KINDS, "a", world.now, LEASE_S) is None
        assert transport.next_due(KINDS, world.now) is None
        transport.requeue(batch(1), world.now)
        again = transport.lease(KINDS, "a", world.now, LEASE_S)
        assert again is not None
        assert again.attempt == 1

    def test_queueing_again_ends_the_lease_of_who_is_at_it(self, world: World) -> None:
        transport = world.transport
        transport.offer(batch(1), world.now)
        lease = transport.lease(KINDS, "a", world.now, LEASE_S)
        assert lease is not None
        transport.requeue(batch(1), world.now)
        with pytest.raises(LeaseLostError):
            transport.require(lease, world.now)
        again = transport.lease(KINDS, "b", world.now, LEASE_S)
        assert again is not None
        transport.require(again, world.now)

    def test_the_log_may_offer_again_what_is_done_or_dead(self, world: World) -> None:
        """An older copy of the store was put back: it says what is to be done."""
        transport = world.transport
        for end in ("done", "dead"):
            assert transport.offer(batch(1), world.now) == "offered"
            lease = transport.lease(KINDS, "a", world.now, LEASE_S)
            assert lease is not None
            assert lease.attempt == 1
            if end == "done":
                transport.done(lease, world.now)
            else:
                transport.bury(lease, "ask", "failed", world.now)

    def test_one_batch_is_taken_due_or_not_but_from_nobody(self, world: World) -> None:
        transport = world.transport
        lease = transport.take(batch(1), "a", world.now, LEASE_S)
        assert lease is not None
        assert (lease.attempt, transport.take(batch(1), "b", world.now, LEASE_S)) == (1, None)
        assert transport.lease(KINDS, "b", world.now, LEASE_S) is None
        transport.retry(lease, world.now + 1000, "ask", "failed", world.now)
        again = transport.take(batch(1), "b", world.now, LEASE_S)
        assert again is not None
        assert again.attempt == 2
        world.advance(LEASE_S + 1)
        third = transport.lease(KINDS, "c", world.now, LEASE_S)
        assert third is not None
        assert third.attempt == 3
        with pytest.raises(LeaseLostError):
            transport.require(again, world.now)

    def test_a_waiting_job_that_is_taken_is_not_leased_too(self, world: World) -> None:
        transport = world.transport
        transport.offer(batch(1), world.now)
        taken = transport.take(batch(1), "a", world.now, LEASE_S)
        assert taken is not None
        assert transport.lease(KINDS, "b", world.now, LEASE_S) is None
        transport.require(taken, world.now)

    def test_what_is_discarded_is_forgotten(self, world: World) -> None:
        transport = world.transport
        transport.offer(batch(1), world.now)
        transport.discard(batch(1))
        transport.discard(batch(2))
        assert transport.jobs() == []
        assert transport.lease(KINDS, "a", world.now, LEASE_S) is None

    def test_what_ended_before_a_time_is_dropped_and_nothing_that_is_to_be_done(self, world: World) -> None:
        transport = world.transport
        for at in range(4):
            transport.offer(batch(at), world.now)
        done, dead, leased = [transport.lease(KINDS, "a", world.now, 9 * LEASE_S) for _ in range(3)]
        assert done is not None
        assert dead is not None
        assert leased is not None
        transport.done(done, world.now)
        transport.bury(dead, "model", "TimeoutError", world.now)
        transport.drop_ended(world.now, world.now)
        assert len(transport.jobs()) == 4  # at that time itself they are kept
        transport.drop_ended(world.now + 1, world.now)
        assert {one.batch.spans[0][0]: one.state for one in transport.jobs()} == {
            1: "dead",
            2: "leased",
            3: "pending",
        }
        transport.drop_ended(world.now + 1, world.now + 1)
        assert [one.state for one in transport.jobs()] == ["leased", "pending"]
        assert transport.offer(dead.batch, world.now) == "offered"

    def test_too_many_wait_and_the_rest_stays_in_the_log(self, world: World) -> None:
        transport = world.small(2)
        assert [transport.offer(batch(at), world.now) for at in range(3)] == ["offered", "offered", "full"]
        lease = transport.lease(KINDS, "a", world.now, LEASE_S)
        assert lease is not None
        assert transport.offer(batch(2), world.now) == "full"  # one is at work, one waits
        transport.done(lease, world.now)
        assert transport.offer(batch(2), world.now) == "offered"

    def test_losing_everything_costs_a_lease_and_is_no_error(self, world: World) -> None:
        transport = world.transport
        transport.offer(batch(1), world.now)
        lease = transport.lease(KINDS, "a", world.now, LEASE_S)
        assert lease is not None
        world.lose()
        assert transport.jobs() == []
        with pytest.raises(LeaseLostError):
            transport.require(lease, world.now)
        transport.done(lease, world.now)
        assert transport.lease(KINDS, "b", world.now, LEASE_S) is None
        assert transport.offer(batch(1), world.now) == "offered"
        again = transport.lease(KINDS, "b", world.now, LEASE_S)
        assert again is not None
        with pytest.raises(LeaseLostError):
            transport.require(lease, world.now)  # its token may be the same: its owner is not

    def test_many_who_lease_at_once_each_have_another_job(self, world: World) -> None:
        transport = world.transport
        for at in range(20):
            transport.offer(batch(at), world.now)
        held: list[Batch] = []

        def work(owner: str) -> None:
            while (lease := transport.lease(KINDS, owner, world.now, LEASE_S)) is not None:
                held.append(lease.batch)
                transport.done(lease, world.now)

        together([partial(work, name) for name in "abcd"])
        assert sorted(held, key=lambda one: one.spans) == [batch(at) for at in range(20)]

    def test_times_and_indexes_are_all_that_it_keeps(self, world: World) -> None:
        transport = world.transport
        spans = ((3, 7), (9, 10))
        transport.offer(Batch("reading", "read:model@1", spans), world.now)
        (job,) = transport.jobs()
        assert job == Job(
            batch=Batch("reading", "read:model@1", spans),
            state="pending",
            due_at=world.now,
            changed_at=world.now,
        )


def together(steps: list[Callable[[], None]]) -> None:
    """Do several things at once; the first exception of any is raised."""
    failed: list[BaseException] = []

    def guarded(step: Callable[[], None]) -> None:
        try:
            step()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=guarded, args=(step,)) for step in steps]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    if failed:
        raise failed[0]
