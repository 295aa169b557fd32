"""The signed settings: typed, with defaults and reasons, and each one does what it says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import braid
from braid.caller import GRANTS, Caller, CallerKind, asked_by
from braid.errors import AccessDeniedError, ConfirmationError, FrozenError, InvalidRequestError
from braid.ledger.errors import ReadOnlyError
from braid.ledger.record.record import EventBody
from braid.settings import EVENT, Settings, require_person
from braid.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as opened:
        yield opened


def caller(kind: CallerKind) -> Caller:
    return Caller(name="some", kind=kind, allowed=GRANTS[kind])


def test_every_key_has_a_safe_default(store: Store) -> None:
    told = {one.key: one for one in store.list_settings()}
    assert {key: one.value for key, one in told.items()} == {
        "phase": "shadow",
        "allow_update_delete": False,
        "mutations_frozen": False,
        "autonomous_frozen": False,
        "forget_dry_run_only": False,
        "forget_confirm_above": 10,
        "forget_max": 100,
    }
    assert tuple(told) == Settings.__struct_fields__
    assert all(one.about and one.default == one.value and one.record is None for one in told.values())


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("phase", "add_only", "add_only"),
        ("allow_update_delete", "true", True),
        ("mutations_frozen", "true", True),
        ("autonomous_frozen", "true", True),
        ("forget_dry_run_only", "true", True),
        ("forget_confirm_above", "3", 3),
        ("forget_max", "20", 20),
    ],
)
def test_each_change_is_a_signed_record_with_its_reason(
    store: Store, tmp_path: Path, key: str, text: str, value: object
) -> None:
    size = len(store)
    done = store.change_setting(key, text, reason="to try it")
    assert (done.is_new, done.setting.value, done.setting.reason, len(store)) == (
        True,
        value,
        "to try it",
        size + 1,
    )
    assert done.setting.record is not None
    record = store.get(done.setting.record)
    assert isinstance(record.body, EventBody)
    assert (record.body.name, record.body.data) == (EVENT, {"key": key, "value": value})
    assert record.envelope.key == done.setting.signed_by
    assert store.change_setting(key, text, reason="again").is_new is False
    assert len(store) == size + 1
    store.close()
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard", read_only=True) as again:
        assert {one.key: one.value for one in again.list_settings()}[key] == value
        with pytest.raises(ReadOnlyError):
            again.change_setting(key, text, reason="no writer")


@pytest.mark.parametrize(
    ("key", "text", "reason", "words"),
    [
        ("phases", "shadow", "x", "did you mean phase"),
        ("phase", "loud", "x", "phase: "),
        ("phase", "full", "x", "not offered yet"),
        ("mutations_frozen", "perhaps", "x", "mutations_frozen: "),
        ("forget_max", "1000", "x", "forget_max: "),
        ("forget_confirm_above", "-1", "x", "forget_confirm_above: "),
        ("phase", "shadow", "", "reason"),
    ],
)
def test_what_cant_be_meant_is_refused(store: Store, key: str, text: str, reason: str, words: str) -> None:
    size = len(store)
    with pytest.raises(InvalidRequestError, match=words):
        store.change_setting(key, text, reason=reason)
    assert len(store) == size


def test_nobody_but_an_operator_sets_them(store: Store) -> None:
    with asked_by(caller("person")), pytest.raises(AccessDeniedError):
        store.change_setting("phase", "add_only", reason="me too")


def test_frozen_mutations_stop_everybody_and_nothing_is_lost(store: Store) -> None:
    id = store.append("I live in Porto.", user_id="maya")
    gone = store.append("Not any more.", user_id="maya")
    store.forget(gone)
    store.change_setting("mutations_frozen", "true", reason="odd deletions")
    for change in (
        lambda: store.modify(id, reason="x", text="I live in Leeds."),
        lambda: store.forget(id),
        lambda: store.correct(id, "I live in Leeds."),
    ):
        with pytest.raises(FrozenError, match="mutations_frozen"):
            change()
    store.append("It still listens.", user_id="maya")
    store.recover(gone)
    store.change_setting("mutations_frozen", "false", reason="found it")
    store.forget(id)


def test_frozen_autonomous_callers_only_read(store: Store) -> None:
    store.change_setting("autonomous_frozen", "true", reason="a loop")
    with asked_by(caller("autonomous")):
        assert store.recall("Porto").results == ()
        with pytest.raises(FrozenError, match="autonomous_frozen"):
            store.append("And again.")
    with asked_by(caller("agent")):
        store.append("Somebody asked for it.")


def test_forgetting_by_query_keeps_to_its_settings(store: Store) -> None:
    for n in range(4):
        store.append(f"Porto note {n}.", user_id="maya")
    store.change_setting("forget_max", "2", reason="small steps")
    store.change_setting("forget_confirm_above", "1", reason="small steps")
    shown = store.preview_forget("Porto", user_id="maya")
    assert (len(shown.memories), shown.more, shown.confirm) == (2, True, 2)
    with pytest.raises(ConfirmationError, match="confirm=2"):
        store.forget_previewed(shown.token, reason="x", user_id="maya")
    store.change_setting("forget_dry_run_only", "true", reason="only look")
    with pytest.raises(ConfirmationError, match="forget_dry_run_only"):
        store.forget_previewed(shown.token, reason="x", user_id="maya", confirm=2)
    store.change_setting("forget_dry_run_only", "false", reason="enough")
    store.change_setting("forget_max", "1", reason="smaller steps")
    with pytest.raises(ConfirmationError, match="forget_max"):
        store.forget_previewed(shown.token, reason="x", user_id="maya", confirm=2)


def test_a_program_decides_in_no_phase_that_is_offered(store: Store) -> None:
    store.change_setting("phase", "add_only", reason="to try it")
    store.change_setting("allow_update_delete", "true", reason="to try it")
    for kind in ("agent", "autonomous", "model"):
        with pytest.raises(AccessDeniedError, match="add_only"):
            require_person(store.session, caller(kind), "this")
    for other in (None, caller("person"), caller("operator")):
        require_person(store.session, other, "this")
