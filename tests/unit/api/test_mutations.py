"""Requests to change or forget, in plain words, by query and by id: nothing but what is meant changes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import braid
from braid.store import Store
from tests.unit.api.mutation_play import Clock, play, table

LEAST = 0.95


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    braid.init(tmp_path / "store", guard_dir=tmp_path / "guard", durability="none", clock=clock)
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", clock=clock) as opened:
        yield opened


@pytest.mark.soak(first=True)
@pytest.mark.parametrize("half", ["held", pytest.param("build", marks=pytest.mark.soak)])
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
