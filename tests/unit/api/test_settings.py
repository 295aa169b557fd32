"""The signed settings: typed, with defaults and reasons, and each one does what it says."""

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

import braid
from braid.caller import GRANTS, Caller, CallerKind, asked_by, require_person
from braid.errors import AccessDeniedError, ConfirmationError, FrozenError, InvalidRequestError, PinnedError
from braid.ledger.errors import ReadOnlyError
from braid.ledger.record.record import EventBody
from braid.settings import EVENT, Settings
from braid.store import Store
from tests.unit.api.test_jobs import Clock, away, opened, say, work


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as opened:
        yield opened


def caller(kind: CallerKind) -> Caller:
    return Caller(name="some", kind=kind, allowed=GRANTS[kind])


def test_every_key_has_a_safe_default(store: Store) -> None:
    told = {one.key: one for one in store.list_settings()}
    assert {key: one.value for key, one in told.items()} == {
        "history_days": None,
        "jobs_days": 14,
        "dead_days": 30,
        "phase": "shadow",
        "allow_update_delete": False,
        "canary_share": 0.1,
        "mutations_frozen": False,
        "freeze_on_alarm": False,
        "autonomous_frozen": False,
        "forget_dry_run_only": False,
        "forget_confirm_above": 10,
        "forget_max": 100,
        "forget_pinned": "force",
        "remember_mode": "auto",
        "remember_auto_ms": 2_000,
        "remember_sync_ms": 30_000,
        "dedup": True,
        "consolidation_hours": 6,
        "job_attempts": 4,
        "model_timeout_s": 120,
        "provider_preferred": "",
        "provider_second": "",
        "provider_larger": "",
        "local_only": True,
        "remote_hosts": [],
        "redacted_terms": [],
        "tokens_small": None,
        "tokens_larger": None,
    }
    assert tuple(told) == Settings.__struct_fields__
    assert all(one.about and one.default == one.value and one.record is None for one in told.values())


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("phase", "add_only", "add_only"),
        ("allow_update_delete", "true", True),
        ("canary_share", "0.25", 0.25),
        ("mutations_frozen", "true", True),
        ("autonomous_frozen", "true", True),
        ("forget_dry_run_only", "true", True),
        ("forget_confirm_above", "3", 3),
        ("forget_max", "20", 20),
        ("forget_pinned", "never", "never"),
        ("remember_mode", "async", "async"),
        ("remember_auto_ms", "500", 500),
        ("remember_sync_ms", "500", 500),
        ("dedup", "false", False),
        ("job_attempts", "2", 2),
        ("model_timeout_s", "9", 9),
        (
            "provider_preferred",
            "ollama:llama3.2@http://127.0.0.1:11434",
            "ollama:llama3.2@http://127.0.0.1:11434",
        ),
        ("provider_second", "openai:http://127.0.0.1:8080/v1#m", "openai:http://127.0.0.1:8080/v1#m"),
        ("provider_larger", "anthropic:large", "anthropic:large"),
        ("local_only", "false", False),
        ("remote_hosts", "api.openai.com, api.anthropic.com", ["api.openai.com", "api.anthropic.com"]),
        ("redacted_terms", '["Falcon, the project", "Porto"]', ["Falcon, the project", "Porto"]),
        ("tokens_small", "100000", 100_000),
        ("tokens_larger", "0", 0),
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
        ("nope", "1", "x", "no setting is called 'nope': there are phase, .*tokens_larger"),
        ("phase", "loud", "x", "phase: "),
        ("phase", "full", "x", "60 judged changes"),
        ("mutations_frozen", "perhaps", "x", "mutations_frozen: "),
        ("forget_max", "1000", "x", "forget_max: "),
        ("forget_confirm_above", "-1", "x", "forget_confirm_above: "),
        ("remember_mode", "later", "x", "remember_mode: "),
        ("remember_auto_ms", "0", "x", "remember_auto_ms: "),
        ("job_attempts", "5", "x", "job_attempts: "),
        ("tokens_small", "-1", "x", "tokens_small: "),
        ("tokens_small", "many", "x", "tokens_small: "),
        ("remember_mode", "fast", "x", "remember_mode: async, auto or sync, not 'fast'"),
        ("forget_max", "0", "x", "forget_max: a whole number from 1 to 100, not '0'"),
        ("history_days", "0", "x", "history_days: a whole number from 1 to 36525, or none, not '0'"),
        ("dedup", "perhaps", "x", "dedup: true or false, not 'perhaps'"),
        ("remote_hosts", "https://api.openai.com", "x", "remote_hosts"),
        ("redacted_terms", "a", "x", "redacted_terms"),
        ("redacted_terms", "[1", "x", "no list of JSON"),
        ("provider_preferred", "openai:https://me:secret@models.example/v1#m", "x", "provider_preferred: "),
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
        with pytest.raises(FrozenError, match="autonomous_frozen"):
            store.ask("And again?", write=True)
        assert store.ask("And again?").answer_id is None
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


def test_a_program_does_nothing_that_is_for_a_person() -> None:
    for kind in ("agent", "autonomous", "model"):
        with asked_by(caller(kind)), pytest.raises(AccessDeniedError, match="a person or an operator"):
            require_person("this")
    for other in (None, caller("person"), caller("operator")):
        with asked_by(other):
            require_person("this")


def test_none_clears_a_name_a_list_and_a_limit(store: Store) -> None:
    for key, value in (("provider_second", "ollama:m"), ("redacted_terms", "Porto"), ("tokens_small", "5")):
        store.change_setting(key, value, reason="to try it")
        done = store.change_setting(key, "none", reason="enough")
        assert done.setting.value == done.setting.default
    with pytest.raises(InvalidRequestError, match="forget_max"):
        store.change_setting("forget_max", "none", reason="x")


def test_what_is_pinned_is_kept_even_from_an_operator(store: Store) -> None:
    id = store.append("I live in Porto.", user_id="maya")
    store.modify(id, reason="it matters", pinned=True)
    store.change_setting("forget_pinned", "never", reason="too many accidents")
    with pytest.raises(PinnedError, match="forget_pinned is never"):
        store.forget(id, force=True)
    store.change_setting("forget_pinned", "force", reason="now")
    store.forget(id, force=True)


def test_remember_works_as_it_is_set_unless_the_call_says(store: Store) -> None:
    store.change_setting("remember_mode", "async", reason="quick answers")
    assert store.remember("I live in Porto.", user_id="maya").status == "queued"
    assert store.remember("I live in Leeds.", user_id="maya", mode="sync").status == "processed"


@pytest.mark.parametrize(("mode", "key"), [("auto", "remember_auto_ms"), ("sync", "remember_sync_ms")])
def test_remember_reads_as_long_as_it_is_set(
    store: Store, mode: Literal["auto", "sync"], key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.remember("I live in Porto.", user_id="maya")  # the parser is loaded
    store.change_setting(key, "30", reason="quick answers")
    slow = threading.Event()
    monkeypatch.setattr(store.session, "follow", lambda: slow.wait(30))
    told = store.remember("I live in Leeds.", user_id="maya", mode=mode)
    slow.set()
    assert told.status == "queued"
    assert any("30 ms" in one for one in told.warnings)


def test_without_dedup_the_same_words_are_a_memory_each(store: Store) -> None:
    said = store.remember("I live in Porto.", user_id="maya", raw=True).ids
    assert store.remember("I live in Porto.", user_id="maya", raw=True).ids == said
    store.change_setting("dedup", "false", reason="count them")
    assert store.remember("I live in Porto.", user_id="maya", raw=True).ids != said


def test_so_many_attempts_are_made_as_it_is_set(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path, clock) as store:
        store.change_setting("job_attempts", "2", reason="give up sooner")
        say(store, "I live in Porto.")
        model = away()
        done = work(store, clock, model)
        assert (done.retried, done.dead, len(model.told)) == (1, 1, 2)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("redacted_terms", '["  ","Porto"]', "two letters or digits"),
        ("redacted_terms", '["\u200b\u200b"]', "two letters or digits"),
        ("provider_preferred", "nonsense", "openai:URL#NAME"),
        ("provider_second", "openai:ftp://h#x", "openai:URL#NAME"),
        ("remote_hosts", '["models.example:443"]', "without https://, port"),
        ("remote_hosts", '["models.example."]', "a dot at their end"),
        ("remote_hosts", '["https://models.example"]', "by name or address alone"),
    ],
)
def test_a_value_that_could_never_work_is_refused_in_plain_words(
    store: Store, key: str, value: str, says: str
) -> None:
    with pytest.raises(InvalidRequestError, match=re.escape(says)):
        store.change_setting(key, value, reason="x")


def test_a_refused_value_shows_no_password(store: Store) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        store.change_setting("provider_preferred", "openai:http://user:secret@h/v1#x", reason="x")
    assert "secret" not in str(refused.value)
    assert "//…@h" in str(refused.value)


def test_a_term_that_says_nothing_in_an_older_log_takes_no_other_with_it(store: Store) -> None:
    from braid.notices import put_notice

    with store.session.writer.turn():
        put_notice(
            store.session, EVENT, {"key": "redacted_terms", "value": ["  ", "Porto"]}, "x", "a setting"
        )
    store.refresh()
    assert next(one.value for one in store.list_settings() if one.key == "redacted_terms") == ["  ", "Porto"]
