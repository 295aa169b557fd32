"""A caller who changes or forgets too much in a minute: an alarm, and a signed freeze where it is set so."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import braid
from braid.caller import GRANTS, Caller, CallerKind, asked_by
from braid.errors import FrozenError
from braid.ledger.record.record import EventBody
from braid.memories.operations import Modify
from braid.mutation_watch import _newest
from braid.spikes import SPIKE, SPIKE_S, Spikes
from braid.store import Store
from tests.unit.api.test_operations import NOW

MISSING = "exp_2025-05-17T09:00:00Z_0000000300ab"


class Clock:
    """A millisecond later each time that it is asked; `skip` lets time pass."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    def skip(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def opened(tmp_path: Path, clock: Clock) -> Store:
    return braid.open(
        tmp_path / "memory", guard_dir=tmp_path / "guard", clock=clock, parser=None, embedder=None
    )


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with opened(tmp_path, clock) as made:
        yield made


def caller(kind: CallerKind, name: str) -> Caller:
    return Caller(name=name, kind=kind, allowed=GRANTS[kind], token="tok_1")


def guarded(store: Store) -> None:
    store.change_setting("freeze_on_alarm", "true", reason="nobody watches at night")


def said(store: Store, count: int) -> list[str]:
    return [store.append(f"The cat sat {k} times.", user_id="maya") for k in range(count)]


def frozen(store: Store) -> tuple[object, str | None]:
    (one,) = [each for each in store.list_settings() if each.key == "mutations_frozen"]
    return one.value, one.reason


def alarms(store: Store) -> list[dict[str, object]]:
    bodies = [one.body for one in store.read()]
    return [one.data for one in bodies if isinstance(one, EventBody) and one.name == "alarm"]


def test_a_spike_is_named_once_and_a_minute_forgets() -> None:
    spikes = Spikes()
    assert [spikes.add("a", "deletes", 1, float(k)) for k in range(SPIKE)] == [None] * SPIKE
    assert spikes.add("b", "deletes", 1, SPIKE) is None
    assert spikes.add("a", "changes", 1, SPIKE) is None
    assert spikes.add("a", "deletes", 1, SPIKE) == SPIKE + 1
    assert spikes.add("a", "deletes", 1, SPIKE) is None
    assert spikes.add("b", "deletes", SPIKE, SPIKE + SPIKE_S + 1) is None


def test_many_deletions_freeze_all_changes_until_an_operator_lifts_it(store: Store) -> None:
    guarded(store)
    ids = said(store, SPIKE + 2)
    with asked_by(caller("person", "bot")):
        for id in ids[:SPIKE]:
            store.forget(id)
        assert frozen(store)[0] is False
        store.forget(ids[SPIKE])
        with pytest.raises(FrozenError, match=r"mutations_frozen is set.*an operator sets it back to false"):
            store.forget(ids[-1])
    assert frozen(store) == (True, "bot: 21 deletes within 60 seconds")
    assert alarms(store) == [{"what": "deletes", "caller": "bot", "token": "tok_1", "count": SPIKE + 1}]
    with pytest.raises(FrozenError):
        store.correct(ids[-1], "The dog sat.")
    store.recover(ids[0])
    store.change_setting("mutations_frozen", "false", reason="it was meant so")
    store.forget(ids[-1])
    assert store.verify().findings == []


def test_many_changes_freeze_and_slow_ones_do_not(store: Store, clock: Clock) -> None:
    guarded(store)
    ids = said(store, SPIKE + 1)
    for id in ids:
        clock.skip(SPIKE_S / SPIKE + 0.1)
        store.modify(id, text=f"Put right: {id}", reason="x")
    assert frozen(store)[0] is False
    clock.skip(2 * SPIKE_S)
    store.modify_all([Modify(id=id, pinned=True, reason="x") for id in ids])
    assert frozen(store) == (True, "this machine: 21 changes within 60 seconds")


def test_without_the_setting_it_is_an_alarm_alone(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    ids = said(store, SPIKE + 2)
    with caplog.at_level("WARNING", "braid.event"):
        store.forget(*ids[:-1])
    assert [(one.message, one.__dict__["braid"]["count"]) for one in caplog.records] == [("alarm", SPIKE + 1)]
    assert (frozen(store), alarms(store)) == ((False, None), [])
    store.forget(ids[-1])


def test_what_names_nothing_and_what_is_undone_are_wrong_targets(store: Store) -> None:
    guarded(store)
    ids = said(store, SPIKE)
    with asked_by(caller("person", "tidy")):
        for id in ids[:7]:
            store.correct(id, "The dog sat.")
        for _ in range(7):
            with pytest.raises(LookupError):
                store.modify(MISSING, text="x", reason="x")
    for k, id in enumerate(ids[:6]):
        store.correct(id, f"The cat sat {k} times.")
    with asked_by(caller("person", "bot")):
        store.forget(ids[18])
    store.recover(ids[18])  # another's: it counts for them alone
    with asked_by(caller("person", "tidy")):
        for _ in range(7):
            with pytest.raises(LookupError):
                store.modify(MISSING, text="x", reason="x")
        assert frozen(store)[0] is False
    newest = store.history(ids[6]).current
    assert newest is not None
    store.forget(newest, only=True)
    assert frozen(store) == (True, "tidy: 21 wrong targets within 60 seconds")


def test_what_is_recovered_was_a_wrong_target_of_who_forgot_it(store: Store) -> None:
    guarded(store)
    ids = said(store, SPIKE + 1)
    with asked_by(caller("person", "bot")):
        store.forget(*ids[:SPIKE])
    with asked_by(caller("person", "bot")):
        store.recover(*ids[:SPIKE])
        assert frozen(store)[0] is False
        with pytest.raises(LookupError):
            store.modify(MISSING, text="x", reason="x")
    assert frozen(store) == (True, "bot: 21 wrong targets within 60 seconds")


def test_commands_one_after_the_other_are_one_spike(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        guarded(store)
        ids = said(store, SPIKE + 2)
    for count, id in enumerate(ids[: SPIKE + 1]):
        with opened(tmp_path, clock) as store:
            assert frozen(store)[0] is False, count
            store.forget(id)
    with opened(tmp_path, clock) as store:
        assert frozen(store) == (True, "this machine: 21 deletes within 60 seconds")
        store.change_setting("mutations_frozen", "false", reason="it was meant so")
    with opened(tmp_path, clock) as store:
        store.forget(ids[-1])
        assert frozen(store)[0] is False


def test_corrections_of_earlier_commands_count_and_old_ones_do_not(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        guarded(store)
        ids = said(store, SPIKE + 1)
        for id in ids[:SPIKE]:
            store.correct(id, f"Put right: {id}")
    clock.skip(2 * SPIKE_S)
    with opened(tmp_path, clock) as store:
        store.correct(ids[SPIKE], "The dog sat.")
        assert frozen(store)[0] is False
        for id in ids[: SPIKE - 1]:
            store.correct(id, f"Put right again: {id}")
    with opened(tmp_path, clock) as store:
        store.correct(ids[SPIKE], "The cow sat.")
        assert frozen(store) == (True, "this machine: 21 changes within 60 seconds")


def test_without_the_operators_key_changes_stop_and_the_freeze_is_signed_once_it_is_back(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    guarded(store)
    ids = said(store, SPIKE + 2)
    away, keys = tmp_path / "away", tmp_path / "memory" / "keys"
    away.mkdir()
    for key in keys.glob("operator-*.key"):
        key.rename(away / key.name)
    with caplog.at_level("ERROR", "braid.event"):
        store.forget(*ids[:-1])
        with pytest.raises(FrozenError, match="no operator's key is here to sign mutations_frozen"):
            store.forget(ids[-1])
    assert [one.message for one in caplog.records] == ["freeze_unsigned"] * 2
    assert (frozen(store)[0], alarms(store)) == (False, [])
    for key in away.iterdir():
        key.rename(keys / key.name)
    with pytest.raises(FrozenError, match="mutations_frozen is set"):
        store.forget(ids[-1])
    assert frozen(store) == (True, "this machine: 21 deletes within 60 seconds")
    assert len(alarms(store)) == 1


def test_what_was_said_lately_is_looked_at_once(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path, clock) as store:
        ids = [store.append(f"note {k}") for k in range(20)]
    with opened(tmp_path, clock) as again:
        reader = type(again.session.reader)
        whole, looked = reader.envelope, list[int]()

        def counted(self: Any, index: int) -> Any:
            looked.append(index)
            return whole(self, index)

        monkeypatch.setattr(reader, "envelope", counted)
        assert _newest(again.session) == []
        monkeypatch.undo()
        notes = [again.get(id).index for id in ids]
        assert sorted(at for at in looked if at in notes[:-1]) == notes[:-1]
