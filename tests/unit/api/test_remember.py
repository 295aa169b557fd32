"""Remembering: words first, then what they state; a key and an exact duplicate have one effect; nothing is lost."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier, Event, Thread
from time import monotonic
from typing import Any, Final, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from braid.caller import GRANTS, Caller, CallerKind, asked_by
from braid.entry import open as open_store
from braid.errors import InvalidRequestError
from braid.job_state import job_state
from braid.knowledge.learner import learner_of
from braid.knowledge.range_consumer import BATCH, EXTRACTION, RangeConsumer
from braid.ledger.errors import IdempotencyConflictError, InvalidRecordError
from braid.ledger.record.record import Content, Draft, ExperienceBody, Record, content_key
from braid.store import Store
from braid.text.parse import Parse, ParserError
from braid.wal import failpoint
from braid.work.embedded import EmbeddedQueue
from braid.work.errors import TransportError, UnknownJobError
from braid.work.job import Batch
from tests.unit.api.test_jobs import Model
from tests.unit.learn.test_extraction import HOME, Died, OneSentence, says

EXTRACT: Final[tuple[Literal["session-extraction"], ...]] = ("session-extraction",)


class Parser(OneSentence):
    """A parser that does something first, whenever it is shown words."""

    def __init__(self, first: Callable[[], None] = lambda: None) -> None:
        self.first = first
        self.asked = 0

    def parse(self, texts: Sequence[str]) -> list[Parse]:
        if texts:
            self.asked += 1
            self.first()
        return super().parse(texts)


@pytest.fixture
def parser() -> Parser:
    return Parser()


@pytest.fixture
def store(tmp_path: Path, parser: Parser) -> Iterator[Store]:
    with opened(tmp_path, parser) as one:
        yield one


def opened(folder: Path, parser: Parser | None) -> Store:
    return open_store(folder / "memory", parser=None if parser is None else lambda: parser)


def readings(store: Store) -> list[Record]:
    return [one for one in store.read() if one.type == "inference"]


def memories(store: Store) -> list[str]:
    return [one.text for one in store.read() if one.type == "occurrence"]


def changes(store: Store, id: str) -> list[str]:
    return [one.change for one in store.history(id).changes if one.proposed is None]


def work(store: Store) -> Any:
    return store.work(consumers=EXTRACT, until_idle=True, wait=lambda _: None)


def fails() -> None:
    raise ParserError("away")


# -- words first, then what they state ------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "sync"])
def test_the_caller_reads_what_is_in_the_log_by_then(store: Store, parser: Parser, mode: Any) -> None:
    seen: list[list[str]] = []
    parser.first = lambda: seen.append(memories(store))
    done = store.remember(HOME, user_id="maya", mode=mode)
    assert (done.status, done.job_id, done.warnings) == ("processed", None, ())
    assert done.memory_id == done.ids[0] == done[0]
    assert seen[0] == [HOME]
    assert len(readings(store)) == 1


@pytest.mark.parametrize("mode", ["auto", "sync"])
def test_nothing_is_read_under_a_lock(store: Store, parser: Parser, mode: Any) -> None:
    """Whoever appends meanwhile waits for no parser, and for no model."""
    waited: dict[str, bool] = {}

    def append_beside(who: str) -> None:
        if who in waited:
            return  # what is appended is read, too
        waited[who] = False
        beside = Thread(target=store.append, args=("It rained.",), daemon=True)
        beside.start()
        beside.join(20)
        waited[who] = beside.is_alive()

    def answer(_: str) -> str:
        append_beside("model")
        return says("I live in Porto")

    parser.first = lambda: append_beside("parser")
    store.remember(HOME, user_id="maya", session_id="s1", mode=mode, pipeline_timeout_ms=60_000)
    store.work(consumers=EXTRACT, model=Model(answer), parser=OneSentence())
    assert waited == {"parser": False, "model": False}


def test_async_leaves_it_to_a_job(store: Store, parser: Parser) -> None:
    first = store.remember(HOME, user_id="maya", mode="async")
    second = store.remember("I like tea.", user_id="maya", mode="async")
    assert (first.status, second.status, parser.asked) == ("queued", "queued", 0)
    assert first.job_id != second.job_id
    work(store)
    states = {one.id: one.state for one in store.jobs().jobs}
    assert (states[first.job_id or ""], states[second.job_id or ""]) == ("done", "done")
    assert len(readings(store)) == 1
    size = len(store)
    assert work(store).done == 0
    assert len(store) == size
    assert store.remember(HOME, user_id="maya", mode="async").status == "processed"  # it is read already


def test_what_takes_too_long_is_queued(store: Store, parser: Parser) -> None:
    go_on = Event()

    def hangs() -> None:
        go_on.wait(60)

    parser.first = hangs
    done = store.remember(HOME, user_id="maya", pipeline_timeout_ms=30)
    assert done.status == "queued"
    assert "longer than 30 ms" in done.warnings[0]
    behind = store.remember("I like tea.", user_id="maya", pipeline_timeout_ms=30)
    assert behind.status == "queued"  # one hangs, and no second thread with it
    assert sum(one.name == "braid-remember" for one in threading.enumerate()) == 1
    assert [one.id for one in store.jobs().jobs if one.id == done.job_id]
    go_on.set()
    work(store)
    assert len(readings(store)) == 1


def test_a_reader_that_fails_costs_no_word_and_is_tried_again(store: Store, parser: Parser) -> None:
    parser.first = fails
    done = store.remember(HOME, user_id="maya")
    assert (done.status, bool(done.job_id)) == ("raw_saved", True)
    assert done.warnings == ("reading failed (ParserError): a job tries it again",)
    assert (memories(store), readings(store)) == ([HOME], [])
    parser.first = lambda: None
    work(store)
    assert len(readings(store)) == 1
    assert {one.id: one.state for one in store.jobs().jobs}[done.job_id or ""] == "done"


def test_without_a_parser_the_words_are_kept_and_read_later(tmp_path: Path, parser: Parser) -> None:
    with opened(tmp_path, None) as store:
        done = store.remember(HOME, user_id="maya")
        assert (done.status, done.job_id) == ("raw_saved", None)
        assert "without a parser" in done.warnings[0]
        assert store.remember("I like tea.", user_id="maya", mode="async").status == "raw_saved"
    with opened(tmp_path, parser) as store:
        work(store)
        assert len(readings(store)) == 1


def test_what_a_job_still_has_to_read_is_not_called_processed(tmp_path: Path, parser: Parser) -> None:
    with opened(tmp_path, parser) as store:
        first = store.remember(HOME, user_id="maya", mode="async")
        store.remember("I like tea.", user_id="maya", mode="async")
        transport = job_state(store.session).transport
        transport.discard(next(one.batch for one in transport.jobs() if one.batch.id == first.job_id))
        store.work(consumers=EXTRACT, most=1)  # the later one is done, and the first is left
    (tmp_path / "memory" / "work.sqlite").unlink()
    with opened(tmp_path, parser) as store:
        again = store.remember(HOME, user_id="maya")
        assert (again.memory_id, again.status) == (first.memory_id, "queued")
        work(store)
        assert len(readings(store)) == 1
        assert store.remember(HOME, user_id="maya").status == "processed"


def test_what_jobs_have_left_is_read_portion_by_portion(store: Store) -> None:
    for number in range(6):
        store.remember(f"Number {number}.", user_id="maya", mode="async")
    transport = job_state(store.session).transport
    for one in transport.jobs()[:-1]:
        transport.discard(one.batch)
    store.work(consumers=EXTRACT, most=1)
    consumer = RangeConsumer(store.session, EXTRACTION, learner_of(store.session, frozenset()), batch=4)
    (batch,) = consumer.plan(8)
    assert batch.spans == ((0, 4),)


def test_a_full_queue_saves_the_words(store: Store) -> None:
    job_state(store.session).transport = EmbeddedQueue(store.path / "work.sqlite", depth=1)
    assert store.remember(HOME, user_id="maya", mode="async").status == "queued"
    full = store.remember("I like tea.", user_id="maya", mode="async")
    assert (full.status, full.job_id) == ("raw_saved", None)
    assert "too many jobs wait" in full.warnings[0]
    work(store)
    assert [
        one.spans for one in store.jobs(consumer="session-extraction").jobs if one.state == "pending"
    ] == []
    assert len(readings(store)) == 1


def test_a_queue_that_is_away_saves_the_words(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise TransportError("away")

    monkeypatch.setattr(EmbeddedQueue, "offer", away)
    done = store.remember(HOME, user_id="maya", mode="async")
    assert (done.status, memories(store)) == ("raw_saved", [HOME])
    assert "gave no answer" in done.warnings[0]


def test_learning_that_is_off_is_told(store: Store, parser: Parser) -> None:
    store.followers.clear()
    done = store.remember(HOME, user_id="maya")
    assert (done.status, parser.asked) == ("raw_saved", 0)
    assert "learning is off" in done.warnings[0]


def test_raw_words_are_never_read(store: Store, parser: Parser) -> None:
    done = store.remember(HOME, user_id="maya", raw=True)
    assert (done.status, done.warnings) == ("raw_saved", ())
    told: list[str] = []

    def answer(text: str) -> str:
        told.append(text)
        return says("I live in Porto")

    model = Model(answer)
    store.learn()
    store.work(consumers=EXTRACT, model=model, parser=OneSentence())
    right = store.correct(done.ids[0], "I live in Porto now.")
    store.learn()
    assert (readings(store), told, parser.asked) == ([], [], 0)
    body = store.get(right).body
    assert isinstance(body, ExperienceBody)
    assert body.raw
    assert store.recall("Porto", user_id="maya").results


@pytest.mark.parametrize("loses", [False, True], ids=["the file stays", "the file is lost"])
def test_who_dies_between_words_and_reading_leaves_it_to_whoever_works(
    tmp_path: Path, parser: Parser, loses: bool
) -> None:
    def dies(name: str) -> None:
        if name == "remember.saved":
            raise Died

    with opened(tmp_path, parser) as store:
        store.remember("I like tea.", user_id="maya", mode="async")
        failpoint.arm(dies)
        try:
            with pytest.raises(Died):
                store.remember(HOME, user_id="maya", idempotency_key="k")
        finally:
            failpoint.arm(None)
    if loses:
        (tmp_path / "memory" / "work.sqlite").unlink()
    with opened(tmp_path, parser) as store:
        assert memories(store) == ["I like tea.", HOME]
        work(store)
        assert len(readings(store)) == 1
        assert store.remember(HOME, user_id="maya", idempotency_key="k").status == "processed"
        work(store)
        assert (memories(store), len(readings(store))) == (["I like tea.", HOME], 1)


@pytest.mark.parametrize(
    "wrong", [{"mode": "soon"}, {"pipeline_timeout_ms": 0}, {"pipeline_timeout_ms": 60_001}]
)
def test_what_is_out_of_bounds_is_refused(store: Store, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError):
        store.remember(HOME, **wrong)
    assert memories(store) == []


# -- one memory -----------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [HOME, "i  live in\n PORTO.", f" {HOME} "])
def test_the_same_words_make_one_memory_and_a_none(store: Store, again: str) -> None:
    first = store.remember(HOME, user_id="maya")
    second = store.remember(again, user_id="maya")
    assert second.ids == first.ids
    assert memories(store) == [HOME]
    told = store.history(first[0])
    assert [one.change for one in told.changes] == ["ADD", "NONE"]
    assert (told.version, told.changes[1].version, told.changes[1].record) == (1, 1, first[0])
    assert told.changes[1].reason == "a living memory says the same"
    assert changes_then(store, first[0]) == ["ADD"]


def changes_then(store: Store, id: str) -> list[str]:
    return [
        one.change for one in store.history(id, as_of=store.get(id).index).changes if one.proposed is None
    ]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("message", "whose"),
    [
        (HOME, {"user_id": "tom"}),
        (HOME, {"user_id": "maya", "agent_id": "a"}),
        ("I live in Leeds.", {"user_id": "maya"}),
        ("\uff29 live in Porto.", {"user_id": "maya"}),
        (HOME, {"user_id": "maya", "raw": True}),
        ({"role": "assistant", "content": HOME}, {"user_id": "maya"}),
        ({"role": "user", "content": HOME, "name": "Tom"}, {"user_id": "maya"}),
        ({"role": "user", "content": HOME, "timestamp": "2025-05-17T10:00:00Z"}, {"user_id": "maya"}),
        ({"role": "user", "content": HOME, "metadata": {"n": 1}}, {"user_id": "maya"}),
    ],
)
def test_what_differs_is_another_memory(store: Store, message: Any, whose: dict[str, Any]) -> None:
    first = store.remember(HOME, user_id="maya")
    assert store.remember(message, **whose).ids != first.ids
    assert changes(store, first[0]) == ["ADD"]


def test_turns_and_what_is_appended_stay_apart(store: Store) -> None:
    for _ in range(2):
        store.remember(HOME, user_id="maya", session_id="s1")
        store.remember({"role": "user", "content": HOME, "session": "s2"}, user_id="maya")
        store.remember([HOME, HOME], user_id="maya")
        store.append(HOME, user_id="maya")
    assert memories(store) == [HOME] * 10
    store.remember(HOME, user_id="maya")
    assert memories(store) == [HOME] * 11  # none of them is a memory that somebody had remembered


def test_what_is_not_living_is_remembered_anew(store: Store) -> None:
    first = store.remember(HOME, user_id="maya")[0]
    store.forget(first)
    second = store.remember(HOME, user_id="maya")[0]
    assert second != first
    right = store.correct(second, "I live in Leeds.")
    third = store.remember(HOME, user_id="maya")[0]
    assert third not in (first, second, right)
    assert store.remember("I live in Leeds.", user_id="maya")[0] == right  # the correction says so
    store.erase(third)
    store.recover(first)
    assert store.remember(HOME, user_id="maya")[0] == first
    assert changes(store, first)[-1] == "NONE"


def test_a_none_says_nothing_and_goes_with_its_memory(store: Store) -> None:
    first = store.remember(HOME, user_id="maya")[0]
    store.remember(HOME, user_id="maya", idempotency_key="k")
    event = next(one for one in store.read() if one.envelope.public.get("name") == "decision")
    assert b"Porto" not in (event.raw or b"")
    assert b"content_hash" not in (event.raw or b"")
    store.erase(first)
    assert event.index in store.session.reader.control.erased
    assert store.remember(HOME, user_id="maya", idempotency_key="k")[0] != first


def test_a_hash_says_nothing_without_the_vault(tmp_path: Path) -> None:
    hashes: set[str | None] = set()
    for name in ("one", "other"):
        with opened(tmp_path / name, None) as store:
            body = store.get(store.remember(HOME)[0]).body
            assert isinstance(body, ExperienceBody)
            hashes.add(body.content_hash)
    assert len(hashes) == 2
    assert None not in hashes


def test_an_outsiders_or_agents_words_are_no_duplicate_of_the_owners(store: Store) -> None:
    with asked_by(Caller(name="a", kind="agent", allowed=GRANTS["agent"])):
        said = store.remember(HOME, user_id="maya")
        assert store.remember(HOME, user_id="maya").ids == said.ids
    assert store.remember(HOME, user_id="maya").ids != said.ids


@pytest.mark.parametrize("kind", ["agent", "autonomous"])
def test_who_speaks_for_no_owner_is_warned_that_a_users_words_are_kept_as_an_agents(
    store: Store, kind: CallerKind
) -> None:
    turns = [{"role": "user", "content": "I keep bees."}, {"role": "assistant", "content": "Noted."}]
    with asked_by(Caller(name="desk", kind=kind, allowed=GRANTS[kind])):
        done = store.remember(turns, session_id="s1", raw=True)
        mine = store.remember(turns[1:], session_id="s1", raw=True)
    assert len(done.warnings) == 1
    assert f"desk is of kind {kind}" in done.warnings[0]
    assert "of kind person" in done.warnings[0]
    assert mine.warnings == ()
    for caller in (Caller(name="app", kind="person"), Caller(name="desk", kind="agent", records=True), None):
        with asked_by(caller):
            assert store.remember(turns, session_id="s2", raw=True).warnings == ()


# -- keys -----------------------------------------------------------------------------------------


def test_a_key_answers_as_the_first_time(store: Store) -> None:
    first = store.remember(HOME, user_id="maya", idempotency_key="k")
    none = store.remember(HOME, user_id="maya", idempotency_key="k2")
    size = len(store)
    for key in ("k", "k2"):
        again = store.remember(HOME, user_id="maya", idempotency_key=key)
        assert (again.memory_id, again.status) == (first.memory_id, "processed")
        for other in ("I live in Leeds.", "I live in Porto, too."):
            with pytest.raises(IdempotencyConflictError):
                store.remember(other, user_id="maya", idempotency_key=key)
        with pytest.raises(IdempotencyConflictError):
            store.remember(HOME, idempotency_key=key)
    assert none.memory_id == first.memory_id
    assert len(store) == size
    store.correct(first.ids[0], "I live in Leeds.")
    size = len(store)
    assert store.remember(HOME, user_id="maya", idempotency_key="k").memory_id == first.memory_id
    assert store.remember(HOME, user_id="maya", idempotency_key="k2").memory_id == first.memory_id
    assert len(store) == size


def test_a_key_of_what_was_forgotten_says_so(store: Store) -> None:
    first = store.remember("I live in Porto.", user_id="maya", idempotency_key="k", learn=False)
    assert first.warnings == ()
    store.forget(first.memory_id or "")
    again = store.remember("I live in Porto.", user_id="maya", idempotency_key="k", learn=False)
    assert again.ids == first.ids
    assert "forgotten: recover it" in again.warnings[0]


def test_a_key_of_something_else_is_refused(store: Store) -> None:
    store.append("It rained.", user_id="maya", idempotency_key="k#0")
    with pytest.raises(IdempotencyConflictError):
        store.remember(HOME, user_id="maya", idempotency_key="k")


def test_numbers_that_look_alike_stay_apart(store: Store) -> None:
    said = ("The hall is 10² metres wide.", "The hall is 102 metres wide.", "Half is ½.", "Half is 1\u20442.")
    assert len({store.remember(text, user_id="maya", raw=True)[0] for text in said}) == len(said)


def test_a_key_that_looks_like_a_hash_takes_nobodys_place(store: Store) -> None:
    first = store.remember(HOME, user_id="maya")
    body = store.get(first[0]).body
    assert isinstance(body, ExperienceBody)
    assert body.content_hash is not None
    store.erase(first[0])
    key = content_key(body.content_hash)
    with pytest.raises(InvalidRequestError, match="control"):
        store.append("Not at all.", user_id="maya", idempotency_key=key)
    # A log of before that bound may hold one.
    said = ExperienceBody(content=Content(text="Not at all."), scope=body.scope, once=key)
    forged = store.session.append_drafts([Draft(kind="experience", type="occurrence", body=said)])[0].id
    again = store.remember(HOME, user_id="maya")
    assert forged not in again.ids
    assert store.get(again[0]).text == HOME


def test_what_is_no_text_is_refused_as_such(store: Store) -> None:
    with pytest.raises(InvalidRecordError, match="Unicode"):
        store.remember("a\ud800b", user_id="maya")
    assert memories(store) == []


def test_without_a_thread_the_words_are_kept_and_the_next_are_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as within:
        within.setattr("braid.memories.pipeline.Thread.start", refused)
        kept = store.remember(HOME, user_id="maya")
    assert (kept.status, bool(kept.warnings)) == ("raw_saved", True)
    assert store.remember("I live in Leeds.", user_id="maya").status == "processed"


def test_a_job_is_no_larger_than_a_portion(store: Store) -> None:
    several = tuple({"role": "user", "content": f"It rained {number} times."} for number in range(BATCH + 20))
    store.remember(several, user_id="maya", mode="async")
    spans = [span for job in job_state(store.session).transport.jobs() for span in job.batch.spans]
    assert max(stop - start for start, stop in spans) <= BATCH


def test_a_none_weighs_nothing(store: Store) -> None:
    for _ in range(4):
        store.remember(HOME, user_id="maya", raw=True)
    (row,) = store.sql("SELECT rests FROM importance").to_pylist()
    assert row == {"rests": 0}


@pytest.mark.soak
def test_a_correction_waits_for_no_reader_that_hangs(store: Store, parser: Parser) -> None:
    first = store.remember(HOME, user_id="maya")
    held = Event()

    def hangs() -> None:
        if threading.current_thread().name == "braid-remember":
            held.wait(30)

    parser.first = hangs
    store.remember("I live in Leeds.", user_id="maya", pipeline_timeout_ms=50)
    began = monotonic()
    store.correct(first[0], "I live in Lagos.")
    assert monotonic() - began < 15
    held.set()


# -- at once --------------------------------------------------------------------------------------


def test_callers_at_once_make_one_memory(store: Store) -> None:
    callers = 8
    start, found = Barrier(callers), list[str]()

    def call() -> None:
        start.wait()
        found.append(store.remember(HOME, user_id="maya", raw=True)[0])

    threads = [Thread(target=call) for _ in range(callers)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == callers
    assert len(set(found)) == 1
    assert memories(store) == [HOME]
    assert changes(store, found[0]) == ["ADD", *["NONE"] * (callers - 1)]


_TEXTS = st.sampled_from(["Tea.", "tea. ", "Milk.", "MILK."])
_STEPS = st.lists(
    st.tuples(st.sampled_from(["remember", "remember", "forget", "correct"]), _TEXTS, st.sampled_from("ab")),
    max_size=12,
)


@settings(max_examples=25, deadline=None)
@given(_STEPS)
def test_whatever_is_done_one_living_memory_says_a_thing(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str]]
) -> None:
    living: dict[tuple[str, str], str] = {}
    nones = 0
    with opened(tmp_path_factory.mktemp("made"), None) as store:
        for number, (step, text, user) in enumerate(steps):
            key = ("tea." if "tea" in text.lower() else "milk.", user)
            if step == "remember":
                nones += key in living
                id = store.remember(text, user_id=user, raw=True)[0]
                assert living.setdefault(key, id) == id
            elif key in living and step == "forget":
                store.forget(living.pop(key))
            elif key in living:
                store.correct(living.pop(key), f"Number {number}.")
        told = [one for one in store.read() if one.envelope.public.get("name") == "decision"]
        assert len(told) == nones


def test_who_remembered_asks_how_their_job_stands(store: Store) -> None:
    kept = store.remember(HOME, user_id="maya", mode="async")
    job = str(kept.job_id)
    maya, ben = (
        Caller(name=name, kind="person", user_id=name, allowed=frozenset(("read", "write")))
        for name in ("maya", "ben")
    )
    with asked_by(maya):
        shown = store.job_progress(job)
        assert (shown.id, shown.state, shown.attempts, shown.error) == (job, "pending", 0, None)
    nobody = "job_0123456789abcdef"
    with asked_by(ben):
        for one in (job, nobody):
            with pytest.raises(UnknownJobError, match=f"no job has the id {one}"):
                store.job_progress(one)
    assert work(store).done >= 1
    for lost in (False, True):
        if lost:
            (store.path / "work.sqlite").unlink()
        with asked_by(maya):
            assert store.job_progress(job).state == "done"
    store.erase(*kept.ids, reason="asked for")
    with asked_by(maya), pytest.raises(UnknownJobError):
        store.job_progress(job)


def test_hundreds_said_again_by_several_at_once_are_one_memory_each(store: Store) -> None:
    """A plain append would keep all that is said again."""
    texts = [f"Parcel {number} is in the blue shed." for number in range(300)]
    said = [*texts, *(f"  {text.lower()}" if number % 2 else text for number, text in enumerate(texts[:100]))]
    barrier = Barrier(4)

    def some(part: Sequence[str]) -> None:
        barrier.wait()
        for text in part:
            store.remember(text, user_id="maya", raw=True)

    threads = [Thread(target=some, args=(said[at::4],)) for at in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    kept = [one for one in store.read() if one.kind == "experience"]
    print(f"{len(said)} remembered, {len(kept)} memories, {len(kept) - len(texts)} duplicates")  # noqa: T201
    assert len(kept) == len(texts)


def test_an_agent_that_only_calls_a_tool_says_nothing_and_a_person_must(store: Store) -> None:
    calls = [{"id": "call_1", "type": "function"}]
    (id,) = store.remember([{"role": "assistant", "content": None, "tool_calls": calls}], raw=True).ids
    assert store.get(id).text == ""
    for said in ({"role": "user", "content": None}, {"role": "assistant", "content": None}):
        with pytest.raises(InvalidRecordError, match="member `content` that is text"):
            store.remember([said], raw=True)


def test_half_a_character_in_a_key_is_refused_as_in_a_text(store: Store) -> None:
    with pytest.raises(InvalidRecordError, match="not valid Unicode"):
        store.remember("I live in Porto.", idempotency_key="k\ud800", raw=True)


# -- workers that die -------------------------------------------------------------------------------


def test_what_dead_workers_left_is_read_though_later_words_are_already(tmp_path: Path) -> None:
    """One handle does a later turn and then both that were left: it has read neither of them before."""

    def die(point: str) -> None:
        if point == "work.ran":
            raise Died

    now = [datetime(2026, 1, 1, tzinfo=UTC)]

    def clock() -> datetime:
        now[0] += timedelta(milliseconds=1)
        return now[0]

    users, left = ("ana", "ben", "cleo", "dan", "eve"), ("ben", "dan")
    with open_store(tmp_path / "memory", parser=Parser, clock=clock) as store:
        for user in users:
            store.remember(HOME, user_id=user, mode="async")
            failpoint.arm(die if user in left else None)
            with suppress(Died):
                store.work(consumers=EXTRACT)
            failpoint.arm(None)
        assert [one.body.scope.user_id for one in read(store)] == ["ana", "cleo", "eve"]
    with open_store(tmp_path / "memory", parser=Parser, clock=clock) as store:
        now[0] += timedelta(hours=1)
        store.work(consumers=EXTRACT, until_idle=True)
        assert sorted(one.body.scope.user_id for one in read(store)) == list(users)


def test_what_another_offers_while_one_works_is_read_though_it_was_not_in_its_log_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is leased may lie beyond what this handle has seen of the log: not a word of it may be passed over."""
    here = tmp_path / "memory"
    with (
        open_store(here, parser=Parser, shared=True) as one,
        open_store(here, parser=Parser, shared=True) as other,
    ):
        one.remember(HOME, user_id="ana", mode="async")
        one.work(consumers=EXTRACT)
        transport = job_state(other.session).transport
        lease = transport.lease

        def late(*asked: Any) -> Any:
            monkeypatch.undo()
            assert one.remember(HOME, user_id="ben", mode="async").status == "queued"
            return lease(*asked)

        monkeypatch.setattr(transport, "lease", late)
        assert other.work(consumers=EXTRACT).done == 1
        one.refresh()
        assert [each.body.scope.user_id for each in read(one)] == ["ana", "ben"]


def test_a_job_about_records_that_the_log_does_not_have_ends_and_signs_nothing(tmp_path: Path) -> None:
    """A queue may outlive the log that it was filled from: one that was restored is shorter."""
    with open_store(tmp_path / "memory", parser=Parser) as store:
        store.remember(HOME, user_id="ana", mode="async")
        store.work(consumers=EXTRACT)
        version = learner_of(store.session, frozenset()).version
        size = len(store)
        beyond = Batch(EXTRACTION, version, ((size, size + 3),))
        assert job_state(store.session).transport.offer(beyond, 0) == "offered"
        assert (store.work(consumers=EXTRACT, until_idle=True).done, len(store)) == (0, size)
        store.remember(HOME, user_id="ben", mode="async")
        store.work(consumers=EXTRACT, until_idle=True)
        assert [one.body.scope.user_id for one in read(store)] == ["ana", "ben"]


def read(store: Store) -> list[Any]:
    return [one for one in store.read() if isinstance(one.body, ExperienceBody) and one.type == "inference"]
