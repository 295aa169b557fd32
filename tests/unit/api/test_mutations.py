"""Requests to change or forget, in plain words, by query and by id: nothing but what is meant changes."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import braid
from braid.store import Store
from tests.agreement import kappa
from tests.unit.api.mutation_play import FOLDER, Clock, play, requests, table

LEAST = 0.95
SEEN = [f"h01-{number}" for number in range(1, 10)] + [f"h02-{number}" for number in range(1, 7)]
"""Requests whose labels the second reader had seen, for the form of the file."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    braid.init(tmp_path / "store", guard_dir=tmp_path / "guard", durability="none", clock=clock)
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", clock=clock) as opened:
        yield opened


@pytest.mark.soak(first=True)
@pytest.mark.parametrize(
    "half",
    [
        *("held", "held2", "chat3-held"),
        *(
            pytest.param(half, marks=pytest.mark.soak)
            for half in ("build", "chat", "chat-held", "chat2-held", "chat3")
        ),
    ],
)
def test_no_other_memory_changes_than_is_meant_and_what_is_meant_does(
    store: Store, clock: Clock, half: str
) -> None:
    played = list(play(store, clock, half))
    due = [one for one in played if one.asked["changes"]]
    done = sum(one.right for one in due)
    told = (
        f"{half}: {sum(bool(one.wrong) for one in played)} wrong, {done} of {len(due)} done\n{table(played)}"
    )
    print(told)  # noqa: T201
    assert not [one for one in played if one.wrong], told
    assert done >= LEAST * len(due), told


@pytest.mark.soak
@pytest.mark.parametrize(
    ("half", "least", "most_wrong"),
    [("chat4-held", 69, 0), ("chat5", 70, 0), ("chat5-held", 41, 0), ("chat6", 29, 0), ("chat6-held", 20, 0)],
)
def test_of_lines_that_no_rule_was_made_for_most_are_done(
    store: Store, clock: Clock, half: str, least: int, most_wrong: int
) -> None:
    """The sets were opened last, and mended by in part: what is done of them must not fall."""
    played = list(play(store, clock, half))
    due = [one for one in played if one.asked["changes"]]
    done = sum(one.right for one in due)
    wrong = sum(bool(one.wrong) for one in played)
    told = f"{wrong} wrong, {done} of {len(due)} done\n{table(played)}"
    print(told)  # noqa: T201
    assert wrong <= most_wrong, told
    assert done >= least, told


def test_a_second_reader_means_the_same_memories() -> None:
    """Cohen's kappa of what must change, of all requests and of those whose labels nobody had seen."""
    lines = (FOLDER / "second.jsonl").read_text("utf-8").splitlines()
    second = {one["id"]: one["changes"] for one in map(json.loads, lines)}
    first = {one["id"]: one["changes"] for half in ("build", "held") for one in requests(half)[1]}
    assert second.keys() == first.keys()
    assert len(lines) == len(first)
    for left_out in ([], SEEN):
        pairs = [(first[id], second[id]) for id in first if id not in left_out]
        agreed = kappa(pairs)
        same = sum(one == other for one, other in pairs)
        print(f"{same} of {len(pairs)} agree, kappa {agreed:.3f}")  # noqa: T201
        assert len(pairs) == len(first) - len(left_out)
        assert agreed >= 0.95
