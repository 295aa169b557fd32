"""Whatever changes a store, what follows the log live is what would be built from it anew."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import braid
from tests.unit.views.drift import Drift

LOOKS = 4
"""How often the projections are held against the log on the way."""


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2025, 6, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def pass_on(self, time: timedelta) -> None:
        self.now += time


@pytest.mark.soak(first=True)
@pytest.mark.parametrize(
    "changes", [300, pytest.param(10_000, marks=[pytest.mark.soak, pytest.mark.timeout(3600)])]
)
def test_no_projection_drifts_from_the_log(changes: int, tmp_path: Path) -> None:
    clock = Clock()
    braid.init(tmp_path / "store", guard_dir=tmp_path / "guard", durability="none", clock=clock)
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", clock=clock) as store:
        store.append("I live in Porto.", user_id="maya")
        hand = Drift(store, 20_251_125, clock.pass_on)
        hand.append()
        for number in range(1, changes + 1):
            hand.change()
            if number % (changes // LOOKS) == 0:
                hand.ask()
                found = store.doctor()
                assert not found, (number, found, hand.done)
        print(changes, len(store), hand.done)  # noqa: T201
        for name in ("append", "modify", "correct", "forget", "recover", "pin", "learn", "erase"):
            assert hand.done.get(name, 0) > 0, name
        assert not [name for name in hand.done if name.startswith(("learn refused", "ask refused"))], (
            hand.done
        )
        followed = {view.name: view.digest for view in store.views.status()}
        rows = _rows(store)
        list(store.replay())
        assert _rows(store) == rows
        assert {view.name: view.digest for view in store.views.status()} == followed
        assert not store.doctor()


def _rows(store: braid.Store) -> dict[str, list[dict[str, object]]]:
    """Return what DuckDB's projection says of each record, and what claims and entities it holds."""
    tables = ("experiences", "claims", "events")
    return {name: store.sql(f"SELECT * FROM {name} ORDER BY ALL").to_pylist() for name in tables}
