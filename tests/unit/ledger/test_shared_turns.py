"""Handles that share a store, where one reads between the other's appends: the next append stands on all of it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import braid
from braid.ledger.read.scopechain import chain_of
from braid.ledger.write.ceremony import rotate_log_key, rotate_signer
from braid.store import Store

WHEN = datetime.now(UTC)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    braid.init(tmp_path / "memory", scope_chains=True, clock=lambda: WHEN)
    return tmp_path / "memory"


def shared(place: Path, ahead_s: float = 0.0) -> Store:
    """Open the store beside other handles, with a clock that stands still."""
    return braid.open(place, shared=True, clock=lambda: WHEN + timedelta(seconds=ahead_s))


@pytest.fixture
def two(place: Path) -> Iterator[tuple[Store, Store]]:
    with shared(place, 1) as one, shared(place, 9) as other:
        yield one, other


def test_a_read_between_two_appends_breaks_no_scope_chain(two: tuple[Store, Store]) -> None:
    one, other = two
    one.append("first", user_id="ann")
    other.append("second", user_id="ann")
    assert one.refresh() == 1  # as every read does
    one.append("third", user_id="ann")
    counts = [count for record in one.read() for _, count, _ in chain_of(record.raw)]
    assert counts == [1, 2, 3]


def test_a_read_between_two_appends_turns_no_time_back(two: tuple[Store, Store]) -> None:
    one, other = two
    one.append("first")
    other.append("second")  # by a clock that is ahead
    one.refresh()
    one.append("third")
    assert one.verify().findings == []


@pytest.mark.parametrize("reads", [False, True])
def test_a_handle_goes_on_with_the_keys_that_another_has_rotated(
    place: Path, two: tuple[Store, Store], *, reads: bool
) -> None:
    one, other = two
    one.append("under the old keys")
    old = next(key for key in other.writer.signers.values() if key.role == "recorder")
    new = rotate_signer(other.writer, old.id)
    vkey = rotate_log_key(other.writer)
    if reads:
        one.refresh()
    placed = one.append("under the new ones")
    assert one.reader.envelope(one.reader.index_of(placed)).key == new.id
    one.checkpoint()
    assert one.reader.published.size == len(one)
    assert vkey in {str(key.verifier) for key in one.writer.log_signers()}
    assert one.verify(deep=True).findings == []
