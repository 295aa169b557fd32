"""What is no longer in force, by class: kept for its window, then gone with a certificate; what stands stays."""

import shutil
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import braid
from braid.caller import GRANTS, Caller, asked_by
from braid.errors import AccessDeniedError
from braid.job_state import job_state
from braid.ledger.errors import ErasedError, InvalidRecordError, UnknownRecordError
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import EventBody
from braid.log.chain import Chain, chain_of
from braid.store import Store
from braid.wal import failpoint
from braid.work.breaker import Breakers
from braid.work.errors import TransportError
from tests.unit.api.test_jobs import Clock, away, knows, opened, say, signed, work
from tests.unit.learn.test_extraction import HOME, Died

OLD, NEW = "Maya lives in xylophonic Porto.", "Maya lives in Lisbon."
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with opened(tmp_path, clock) as one:
        yield one


def keep(store: Store, days: int = 90) -> None:
    store.change_setting("history_days", str(days), reason="as she wishes")


def corrected(store: Store, old: str = OLD, new: str = NEW) -> tuple[str, str]:
    first = store.append(old, user_id="maya")
    return first, store.correct(first, new, reason="she moved")


def due(store: Store) -> list[tuple[str, str]]:
    return [(one.what, one.id) for one in store.retention_due()]


def gone(store: Store, id: str) -> bool:
    try:
        store.get(id, include_forgotten=True)
    except ErasedError:
        return True
    return False


def files_with(folder: Path, *words: str) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and any(word.encode() in path.read_bytes() for word in words)
    }


def sweeps(store: Store) -> list[dict[str, Any]]:
    return [
        one.body.data
        for one in store.read()
        if isinstance(one.body, EventBody) and one.envelope.public.get("name") == "sweep"
    ]


# -- what was corrected ---------------------------------------------------------------------------


def test_what_was_corrected_is_kept_for_ever_unless_somebody_signs_otherwise(
    store: Store, clock: Clock
) -> None:
    first, _ = corrected(store)
    clock.at += 3_650 * DAY
    size = len(store)
    assert (store.retention_due(), store.status().retention.history_days) == ((), None)
    done = store.retain()
    assert (done.forgotten, done.history, len(store)) == ((), (), size)
    assert store.get(first).text == OLD


def test_after_its_window_it_goes_and_the_history_keeps_the_event_without_the_words(
    store: Store, clock: Clock
) -> None:
    keep(store)
    first, second = corrected(store)
    since = store.get(second).envelope.created_at
    store.replay()
    assert files_with(store.path, "xylophonic")
    clock.at = datetime.fromisoformat(since) + 90 * DAY - timedelta(seconds=1)
    assert due(store) == []
    assert store.retain().history == ()
    assert store.get(first).text == OLD
    clock.at += timedelta(seconds=2)
    assert due(store) == [("history", first)]
    assert store.status().retention.due == 1
    (done,) = store.retain().history
    assert (done.records, gone(store, first), store.get(second).text) == (
        2,
        True,
        NEW,
    )  # with why it was put right
    assert [(one.change, one.old, one.new) for one in store.history(second).changes] == [
        ("ADD", None, None),
        ("UPDATE", None, NEW),
        ("ERASE", None, None),
    ]
    assert files_with(store.path, "xylophonic") == set()
    assert sweeps(store)[0]["of"] == "history"
    assert sweeps(store)[0]["days"] == 90
    assert [hit.text for hit in store.recall("Where does Maya live?", user_id="maya").results] == [NEW]
    assert store.verify(deep=True).findings == []
    size = len(store)
    assert (due(store), store.retain().history, len(store)) == ([], (), size)


def test_its_certificate_names_what_went_by_id_and_digest(store: Store, clock: Clock) -> None:
    keep(store)
    first, second = corrected(store)
    drawn = store.append("So she has a flat there.", parents=[first], user_id="maya")
    index = store.get(first).index
    digest = store.get(first).envelope.body[0]
    why = store.reader.envelope(index + 2).id
    clock.at += 91 * DAY
    (done,) = store.retain().history
    for id in (done.id, done.tombstone, first, drawn):
        shown = store.certificate(id)
        assert (shown.tombstone, shown.certificate) == (done.tombstone, done.id)
        assert [(one.index, one.id, one.kind) for one in shown.records] == [
            (index, first, "experience"),
            (index + 2, why, "event"),
            (store.reader.index_of(drawn), drawn, "experience"),
        ]
        assert shown.records[0].digest == digest
        assert (shown.reason, shown.done) == ("retention of history", ("key", "body", "projections"))
    with pytest.raises(InvalidRecordError, match="belongs to no erasure"):
        store.certificate(second)
    with pytest.raises(UnknownRecordError):
        store.certificate("exp_2025-06-01T00:00:00Z_0000zzzzzzzz".replace("z", "0"))


def test_only_who_may_run_the_store_sees_a_certificate(store: Store) -> None:
    first, _ = corrected(store)
    store.erase(first)
    caller = Caller(name="tom", kind="person", allowed=GRANTS["person"], user_id="tom")
    with asked_by(caller), pytest.raises(AccessDeniedError):
        store.certificate(first)


def test_each_text_of_a_chain_has_its_own_window(store: Store, clock: Clock) -> None:
    keep(store)
    first, second = corrected(store)
    clock.at += 30 * DAY
    third = store.correct(second, "Maya lives in Faro.")
    clock.at += 61 * DAY
    assert due(store) == [("history", first)]
    store.retain()
    clock.at += 30 * DAY
    assert due(store) == [("history", second)]
    store.retain()
    assert [gone(store, id) for id in (first, second, third)] == [True, True, False]
    assert store.history(first).current == third


def test_what_a_forgotten_correction_brings_back_stays_and_its_window_begins_again(
    store: Store, clock: Clock
) -> None:
    keep(store)
    first, second = corrected(store)
    clock.at += 10 * DAY
    store.forget(second, only=True)
    clock.at += 20 * DAY
    assert store.get(first).text == OLD  # it stands
    store.recover(second)
    clock.at += 89 * DAY
    assert due(store) == []
    clock.at += 2 * DAY
    assert due(store) == [("history", first)]
    store.forget(second, only=True)
    assert due(store) == []


def test_a_forgotten_memory_goes_as_one_that_is_forgotten(store: Store, clock: Clock) -> None:
    keep(store)
    first, second = corrected(store)
    other = corrected(store, "Maya has a dog.", "Maya has a cat.")
    store.forget(first, second)
    clock.at += 91 * DAY
    assert due(store) == [("forgotten", first), ("forgotten", second), ("history", other[0])]
    done = store.retain()
    assert [one.records for one in (*done.forgotten, *done.history)] == [
        3,
        2,
    ]  # why it was corrected goes, too
    assert done.forgotten[0].id < done.history[0].id  # the forgotten first
    assert [one.get("of") for one in sweeps(store)] == [None, "history"]


def test_of_a_pinned_memory_nothing_goes(store: Store, clock: Clock) -> None:
    keep(store)
    first, second = corrected(store)
    store.modify(second, pinned=True, reason="it matters")
    clock.at += 400 * DAY
    assert due(store) == []
    store.modify(second, pinned=False, reason="no more")
    assert due(store) == [("history", first)]


def test_what_rests_on_it_alone_goes_but_never_what_stands(store: Store, clock: Clock) -> None:
    keep(store)
    first, _ = corrected(store)
    drawn = store.append("She has a xylophonic flat there.", parents=[first], user_id="maya")
    both = store.append("She moves a lot.", parents=[first, store.append("Two moves.")], user_id="maya")
    base = store.append("She lives at a river.", user_id="maya")
    better = store.append("She lives at the Douro.", parents=[base], supersedes=[base], user_id="maya")
    further = store.append("The Douro is near her.", parents=[better], user_id="maya")
    clock.at += 91 * DAY
    assert due(store) == [("history", first)]  # the base of what stands is held
    store.retain()
    assert [gone(store, id) for id in (first, drawn, both, base, better, further)] == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]


def test_what_a_pinned_memory_was_drawn_from_is_held(store: Store, clock: Clock) -> None:
    keep(store)
    first = store.append(OLD, user_id="maya")
    drawn = store.append("She has a flat there.", parents=[first], user_id="maya")
    store.modify(drawn, pinned=True, reason="it matters")
    store.correct(first, NEW)
    clock.at += 91 * DAY
    assert due(store) == []
    store.retain()
    assert not gone(store, first)


def test_what_was_drawn_from_words_that_stand_goes_with_them_alone(store: Store, clock: Clock) -> None:
    keep(store)
    words = store.append("I moved from Porto to Lisbon.", user_id="maya")
    porto = store.append("She lives in Porto.", parents=[words], user_id="maya")
    store.append("She lives in Lisbon.", parents=[words], supersedes=[porto], user_id="maya")
    clock.at += 400 * DAY
    assert due(store) == []


def test_answers_that_may_quote_it_go_with_it(store: Store, clock: Clock) -> None:
    keep(store)
    first = store.append("Maya lives in Porto.", user_id="maya")
    answer = store.ask("Where does Maya live?", user_id="maya")
    assert answer.answer_id is not None
    store.correct(first, NEW)
    clock.at += 91 * DAY
    store.retain()
    assert (gone(store, first), gone(store, answer.answer_id)) == (True, True)


def test_a_clock_that_went_back_erases_nothing_early(store: Store, clock: Clock) -> None:
    keep(store)
    first, second = corrected(store)
    forgotten = store.append("a secret", user_id="maya")
    store.forget(forgotten)
    clock.at -= timedelta(minutes=4)
    assert due(store) == []
    clock.at -= 3_650 * DAY
    assert due(store) == []
    done = store.retain()
    assert (done.forgotten, done.history, done.jobs) == ((), (), ())
    assert not any(gone(store, id) for id in (first, second, forgotten))


def test_copies_that_are_made_afterwards_hold_nothing_of_it(
    store: Store, clock: Clock, tmp_path: Path
) -> None:
    keep(store)
    first, second = corrected(store)
    store.snapshot()
    clock.at += 91 * DAY
    store.retain()
    store.session.views.drop()
    store.replay()
    store.snapshot()
    store.backup(tmp_path / "backup")
    rows = store.sql("SELECT id, text FROM experiences ORDER BY log_index").to_pylist()
    assert {row["id"]: row["text"] for row in rows}.get(second) == NEW
    assert files_with(tmp_path, "xylophonic") == set()
    assert gone(store, first)


def test_within_its_window_each_comes_back_and_behind_it_all_are_gone(store: Store, clock: Clock) -> None:
    """Of 300 that are forgotten on 30 days half are recovered, each within its 30 days; no other comes back."""
    ids = [store.append(f"memory number {n}", user_id="maya") for n in range(300)]
    for day in range(30):
        store.forget(*ids[day::30])
        clock.at += DAY
    back, stay = ids[::2], ids[1::2]
    recovered = 0
    for day in range(
        30
    ):  # those of the first day are 30 days old now, but for what the clock has ticked since
        clock.at -= timedelta(seconds=1)
        for id in [one for one in ids[day::30] if one in back]:
            store.recover(id)
            recovered += 1
        clock.at += DAY
    assert recovered == len(back) == 150
    clock.at += DAY
    (done,) = store.retain().forgotten
    assert done.records == len(stay)
    assert [gone(store, id) for id in ids] == [id in stay for id in ids]
    with pytest.raises(ErasedError):
        store.recover(stay[0])


# -- dying on the way -----------------------------------------------------------------------------


def prepared(folder: Path, clock: Clock) -> tuple[str, str, str]:
    """Make a store in which each class has something that is due: its first text, its new one, a forgotten one."""
    with opened(folder, clock, guard_dir=folder / "guard") as store:
        keep(store)
        job_state(store.session).breakers = Breakers(clock.seconds)
        first, second = corrected(store)
        forgotten = store.append("a xylophonic secret", user_id="maya")
        store.forget(forgotten)
        say(store, HOME)
        work(store, clock, knows())
        store.replay()
        store.session.writer.checkpoint()
    return first, second, forgotten


@pytest.mark.soak
def test_it_ends_the_same_wherever_it_died(tmp_path: Path) -> None:
    clock = Clock()
    ids = prepared(tmp_path / "base", clock)
    clock.at += 91 * DAY
    began, passed = clock.at, list[str]()

    def copy(name: str) -> Path:
        shutil.copytree(tmp_path / "base", tmp_path / name)
        clock.at = began
        return tmp_path / name

    folder = copy("whole")
    with opened(folder, clock, guard_dir=folder / "guard") as store:
        failpoint.arm(passed.append)
        try:
            store.retain()
        finally:
            failpoint.arm(None)
    points = [at for at, name in enumerate(passed) if name.startswith(("erase", "retain", "vault"))]
    assert {"retain.forgotten", "retain.history", "retain.announced"} <= set(passed)
    for at in points[::5]:
        folder = copy(f"died-{at}")
        with opened(folder, clock, guard_dir=folder / "guard") as store:
            failpoint.arm(_dying_at(at))
            try:
                with pytest.raises(Died):
                    store.retain()
            finally:
                failpoint.arm(None)
        with opened(folder, clock, guard_dir=folder / "guard") as store:
            store.retain()
            assert [gone(store, id) for id in ids] == [True, False, True], passed[at]
            assert due(store) == [], passed[at]
            assert all(done is not None for _, done in store.reader.control.erasures.values())
            assert len(store.reader.control.erasures) == 2, passed[at]
            assert store.jobs(state="done").jobs == ()
            assert files_with(store.path, "xylophonic") == set(), passed[at]
            assert store.verify().findings == []
        shutil.rmtree(folder)


def _dying_at(place: int) -> Callable[[str], None]:
    count = iter(range(10**6))

    def hook(_: str) -> None:
        if next(count) == place:
            raise Died

    return hook


# -- jobs -----------------------------------------------------------------------------------------


def test_jobs_that_are_done_leave_the_list_by_a_signed_sweep(store: Store, clock: Clock) -> None:
    say(store, HOME)
    work(store, clock, knows())
    (job,) = store.jobs(state="done").jobs
    outcome = signed(store)
    clock.at += 14 * DAY - timedelta(minutes=1)
    assert (due(store), store.retain().jobs) == ([], ())
    clock.at += timedelta(minutes=2)
    assert due(store) == [("jobs", job.id)]
    assert store.retain().jobs == (job.id,)
    assert (store.jobs(state="done").jobs, signed(store)) == ((), outcome)
    assert (sweeps(store)[-1]["of"], sweeps(store)[-1]["jobs"]) == ("jobs", [job.id])
    size = len(store)
    assert (store.retain().jobs, len(store)) == ((), size)
    assert work(store, clock, knows()).done == 0  # nothing is done twice for it


def test_their_windows_can_be_made_shorter_and_no_longer(store: Store, clock: Clock) -> None:
    say(store, HOME)
    work(store, clock, knows())
    store.change_setting("jobs_days", "2", reason="a small disk")
    clock.at += 3 * DAY
    assert [what for what, _ in due(store)] == ["jobs"]
    for key, value in (("jobs_days", "15"), ("dead_days", "31"), ("history_days", "0")):
        with pytest.raises(ValueError, match=key):
            store.change_setting(key, value, reason="longer")


def test_the_dead_are_discarded_by_a_signed_record_each_and_can_be_brought_back(
    store: Store, clock: Clock
) -> None:
    say(store, HOME)
    job_state(store.session).breakers = Breakers(clock.seconds, _patient())
    work(store, clock, away())
    (job,) = store.jobs(state="dead").jobs
    clock.at += 29 * DAY
    assert due(store) == []
    clock.at += 2 * DAY
    assert due(store) == [("dead", job.id)]
    done = store.retain()
    assert (done.dead, done.jobs, store.jobs(state="dead").jobs) == ((job.id,), (job.id,), ())
    assert [one["ended"] for one in signed(store)] == ["dead", "discarded"]
    last = store.job(job.id).outcomes[-1]
    assert last.reason == "retention: dead for more than 30 days"
    assert (due(store), store.retain().dead) == ([], ())
    assert work(store, clock, knows()).done == 0
    store.retry_job(job.id, reason="the model is back")
    assert work(store, clock, knows()).done == 1


def _patient() -> Any:
    from braid.work.breaker import TABLE, Limits

    return dict.fromkeys(TABLE, Limits(1_000, 60, 15))


def test_where_the_jobs_are_away_the_records_are_gone_all_the_same(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(store)
    first, _ = corrected(store)
    clock.at += 91 * DAY

    def away_now() -> list[Any]:
        raise TransportError("away")

    with monkeypatch.context() as patched:
        patched.setattr(job_state(store.session).transport, "jobs", away_now)
        with pytest.raises(TransportError):
            store.retain()
    assert gone(store, first)
    assert store.retain().history == ()


# -- the choice when a store is made --------------------------------------------------------------


@pytest.mark.parametrize("days", [None, 30, 91, 365])
def test_strict_privacy_is_refused_without_a_choice_of_90_or_180(tmp_path: Path, days: int | None) -> None:
    said = "and none was made" if days is None else f"not {days}"
    with pytest.raises(ValueError, match=rf"history_days \(--history-days\) 90 or 180, {said}"):
        braid.init(tmp_path / "memory", privacy="strict", history_days=days)
    assert not (tmp_path / "memory").exists()


@pytest.mark.parametrize("how", [{}, {"durability": "interval", "spare_root": True, "scope_chains": True}])
def test_the_choice_is_signed_from_the_first_transaction_on(tmp_path: Path, how: dict[str, Any]) -> None:
    braid.init(tmp_path / "memory", privacy="strict", history_days=180, **how)
    with braid.open(tmp_path / "memory") as store:
        state = next(one for one in store.list_settings() if one.key == "history_days")
        assert (state.value, state.reason) == (180, "chosen when the store was made, privacy strict")
        assert state.record is not None
        assert store.get(state.record).envelope.tx[0] == 0
        assert store.status().retention.history_days == 180
        assert store.status().durability == how.get("durability", "always")
        assert store.verify(deep=True).findings == []


def test_any_window_may_be_chosen_without_it(tmp_path: Path) -> None:
    for days in (0, 36_526):
        with pytest.raises(ValueError, match="1 to 36,525 days"):
            braid.init(tmp_path / "memory", history_days=days)
    braid.init(tmp_path / "memory", history_days=7)
    with braid.open(tmp_path / "memory") as store:
        assert store.status().retention.history_days == 7


# -- sequences in which something stood in between ------------------------------------------------


def test_what_stood_until_lately_is_kept_though_it_was_replaced_long_ago(store: Store, clock: Clock) -> None:
    """What replaced it rested on what was corrected for a while: until that was taken back, the old words held."""
    keep(store)
    old = store.append(OLD, user_id="maya")
    told = store.append("Her landlord told me.", user_id="maya")
    new = store.append(NEW, user_id="maya", parents=[told], supersedes=[old])
    clock.at += 2 * DAY
    taken_back = store.correct(told, "Nobody told me.", reason="a joke")
    assert store.reader.standings().lives(store.reader.index_of(old))
    clock.at += 87 * DAY
    store.forget(taken_back, only=True)
    clock.at += 2 * DAY
    assert due(store) == []
    assert store.retain().history == ()
    store.recover(taken_back)
    assert store.reader.standings().lives(store.reader.index_of(old))
    assert [
        one.text for one in store.recall("Where does Maya live?", user_id="maya").results if one.id == old
    ]
    store.forget(taken_back, only=True)
    for _ in range(2):  # the first sweep erases what was forgotten, from which the window begins once more
        clock.at += 91 * DAY
        store.retain()
    assert gone(store, old)
    assert not gone(store, new)


def test_a_pinned_answer_goes_with_no_old_words(store: Store, clock: Clock) -> None:
    keep(store)
    first = store.append("Maya lives in Porto.", user_id="maya")
    answer = store.ask("Where does Maya live?", user_id="maya").answer_id
    assert answer is not None
    store.modify(answer, pinned=True, reason="she wants it")
    store.correct(first, NEW, reason="she moved")
    clock.at += 91 * DAY
    assert store.retain().history == ()
    assert not gone(store, answer)
    assert not gone(store, first)


def test_a_long_chain_is_judged_once(store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(store)
    last = store.append("Version 0.", user_id="maya")
    for number in range(1, 41):
        last = store.correct(last, f"Version {number}.", reason="again")
    clock.at += 91 * DAY
    asked: list[int] = []

    def counted(reader: Reader, index: int) -> Chain:
        asked.append(index)
        return chain_of(reader, index)

    monkeypatch.setattr("braid.admin.retention.chain_of", counted)
    assert len(store.retention_due()) == 40
    assert len(asked) == 1


def test_the_reason_of_a_correction_goes_with_the_old_words(
    store: Store, clock: Clock, tmp_path: Path
) -> None:
    keep(store)
    old = store.append(OLD, user_id="maya")
    new = store.correct(old, NEW, reason="not xylophonic Porto")
    assert store.history(new).changes[-1].reason == "not xylophonic Porto"
    clock.at += 91 * DAY
    store.retain()
    assert gone(store, old)
    assert [(one.change, one.reason) for one in store.history(new).changes] == [
        ("ADD", None),
        ("UPDATE", None),
        ("ERASE", "retention of history"),
    ]
    assert "xylophonic" not in str(list(store.read()))
    assert store.recall("Where does Maya live?", user_id="maya").results[0].text == NEW
    assert store.verify(deep=True).findings == []


def test_forgetting_the_old_words_leaves_the_reason_to_come_back(store: Store) -> None:
    old = store.append(OLD, user_id="maya")
    new = store.correct(old, NEW, reason="she moved")
    store.forget(old)
    store.recover(old)
    assert [one.reason for one in store.history(new).changes if one.change == "UPDATE"] == ["she moved"]
