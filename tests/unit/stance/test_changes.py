"""Changes among claims, step by step."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from braid.stance.changes import steps
from braid.stance.claims import RecordedClaim
from tests.unit.stance.claimed import claim, say


def told(*claims: list[RecordedClaim]) -> list[tuple[str, str]]:
    return [
        (step.old.claim.object, step.new.claim.object)
        for step in steps(one for group in claims for one in group)
    ]


def rent(index: int, price: str, when: str, **more: object) -> list[RecordedClaim]:
    return say(index, claim("Maya's rent", "costs", price), when, by=str(more.get("by", "maya")))


def test_each_value_gives_way_to_the_next_and_not_to_the_last() -> None:
    prices = [
        rent(1, "900 euros", "2025-01-01"),
        rent(2, "1200 euros", "2025-02-01"),
        rent(3, "1300 euros", "2025-03-01"),
    ]
    assert told(*prices) == [("900 euros", "1200 euros"), ("1200 euros", "1300 euros")]
    assert told(*reversed(prices)) == told(*prices)


def test_what_comes_back_has_changed_twice() -> None:
    said = [
        say(n, claim("Maya", "lives_in", town), f"2025-0{n}-01", by="maya")
        for n, town in enumerate(("Porto", "Ghent", "Porto"), 1)
    ]
    assert told(*said) == [("Porto", "Ghent"), ("Ghent", "Porto")]


def test_what_was_said_twice_changes_once_and_from_the_last_time() -> None:
    said = [
        rent(1, "900 euros", "2025-01-01"),
        rent(2, "900 euros", "2025-02-01"),
        rent(3, "1200 euros", "2025-03-01"),
    ]
    (step,) = steps(one for group in said for one in group)
    assert (step.old.index, step.new.index) == (2, 3)


def test_two_who_differ_change_nothing_and_a_denial_does() -> None:
    assert told(rent(1, "900 euros", "2025-01-01"), rent(2, "1200 euros", "2025-02-01", by="sam")) == []
    works = claim("Sam", "works_at", "Acme")
    left = claim("Sam", "works_at", "Acme", polarity=False)
    (step,) = steps([*say(1, works, by="sam"), *say(2, left, "2025-05-01", by="sam")])
    assert (step.old.claim.polarity, step.new.claim.polarity) == (True, False)


@given(st.lists(st.integers(1, 5), max_size=12))
def test_the_steps_are_the_runs_of_values(values: list[int]) -> None:
    said = [rent(n, f"{value}00 euros", f"2025-01-{n + 1:02d}") for n, value in enumerate(values)]
    runs = [(f"{a}00 euros", f"{b}00 euros") for a, b in pairwise(values) if a != b]
    assert told(*said) == runs
