"""Breakers: what opens them, who is let through, and that an open one is asked nothing."""

import pytest

from braid.work.breaker import TABLE, Breaker, Breakers, Limits
from braid.work.errors import BreakerOpenError


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker("model", Limits(failures=3, window_s=60, cooldown_s=15), clock)


def fail(breaker: Breaker, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(OSError, match="away"), breaker.passing():
            raise OSError("away")


def go_well(breaker: Breaker) -> None:
    with breaker.passing():
        pass


def test_the_table_is_that_of_the_source() -> None:
    assert {name: tuple(limits) for name, limits in TABLE.items()} == {
        "chat_small": (3, 60, 15),
        "chat_second": (3, 60, 15),  # ours: the one that is asked where the first fails is small, too
        "chat_large": (2, 60, 60),
        "embedder": (5, 60, 30),
        "duckdb": (5, 60, 30),
        "lance": (5, 60, 30),
        "redis": (5, 60, 15),
    }


def test_failures_within_the_window_open_it(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 2)
    go_well(breaker)
    assert breaker.state().state == "closed"
    fail(breaker)
    assert (breaker.state().state, breaker.state().failures, breaker.wait_s()) == ("open", 3, 15)
    with pytest.raises(BreakerOpenError) as refused, breaker.passing():
        raise AssertionError("it was let through")
    assert (refused.value.why, refused.value.wait_s) == ("model", 15)
    clock.now += 14.9
    assert breaker.state().state == "open"


def test_failures_further_apart_do_not(breaker: Breaker, clock: Clock) -> None:
    for _ in range(6):
        fail(breaker)
        clock.now += 30.1
    assert breaker.state().state == "closed"


def test_half_open_lets_one_through_which_closes_it(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 15
    assert (breaker.state().state, breaker.wait_s()) == ("half_open", 0)
    with breaker.passing():
        assert breaker.wait_s() > 0
        with pytest.raises(BreakerOpenError), breaker.passing():
            raise AssertionError("two were let through")
    assert (breaker.state().state, breaker.state().failures) == ("closed", 0)
    fail(breaker, 2)
    assert breaker.state().state == "closed"


def test_half_open_is_open_again_where_that_one_fails(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    for _ in range(3):
        clock.now += 15
        fail(breaker)
        assert (breaker.state().state, breaker.wait_s()) == ("open", 15)


def test_one_that_is_interrupted_or_busy_says_nothing_of_it(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 15
    with pytest.raises(KeyboardInterrupt), breaker.passing():
        raise KeyboardInterrupt
    with pytest.raises(BlockingIOError), breaker.passing(BlockingIOError):
        raise BlockingIOError
    assert breaker.state().state == "half_open"
    go_well(breaker)
    assert breaker.state().state == "closed"


def test_what_needs_several_waits_for_the_last_of_them(clock: Clock) -> None:
    breakers = Breakers(clock, {"one": Limits(1, 60, 10), "two": Limits(1, 60, 20)})
    fail(breakers["one"])
    fail(breakers["two"])
    assert breakers.wait_s(("one",)) == 10
    assert breakers.wait_s(("one", "two")) == 20
    assert breakers.wait_s(()) == 0
    assert [(one.dependency, one.state) for one in breakers.states()] == [("one", "open"), ("two", "open")]
    with pytest.raises(KeyError):
        breakers["three"]
