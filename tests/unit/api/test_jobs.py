"""Work on a store: what follows from the log, outcomes that are signed, models that fail, and what an operator does."""

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from errno import ENOSPC
from pathlib import Path
from typing import Any

import pytest

from braid.caller import Caller, asked_by
from braid.entry import open as open_store
from braid.errors import AccessDeniedError, InvalidRequestError
from braid.job_state import job_state
from braid.ledger.errors import ClockError, ReadOnlyError
from braid.ledger.record.record import Draft, EventBody, ExperienceBody, Record
from braid.outcomes import Seen, outcomes, settle
from braid.store import Store
from braid.text.chat import ChatError, ChatMessage, Completion
from braid.wal import failpoint
from braid.work.breaker import Breakers
from braid.work.errors import UnknownJobError
from braid.work.job import Batch
from tests.unit.learn.test_extraction import HOME, PARSER, Died, says

EXTRACT = ("session-extraction",)
FACT = says("I live in Porto")


class Clock:
    """Time that passes only when somebody waits; each look takes a microsecond, as records want it."""

    def __init__(self) -> None:
        self.at = datetime(2025, 6, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.at += timedelta(microseconds=1)
        return self.at

    def wait(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)

    def seconds(self) -> float:
        return self.at.timestamp()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with opened(tmp_path, clock) as one:
        yield one


def opened(folder: Path, clock: Clock, **options: Any) -> Store:
    one = open_store(folder / "memory", clock=clock, parser=None, **options)
    job_state(one.session).breakers = Breakers(clock.seconds)
    return one


class Model:
    """A language model; `answer` is given all that it is told, and may raise."""

    name, remote = "small", False

    def __init__(self, answer: Callable[[str], str]) -> None:
        self._answer = answer
        self.told: list[str] = []

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        text = messages[-1].text
        self.told.append(text)
        return Completion(self._answer(text), 100, 20, "small-1")


def knows() -> Model:
    return Model(lambda _: FACT)


def away() -> Model:
    def answer(_: str) -> str:
        raise ChatError("away")

    return Model(answer)


def say(store: Store, *texts: str, session: str = "s1") -> list[str]:
    said = [{"role": "user", "content": text, "name": "Maya"} for text in texts]
    return [str(id) for id in store.remember(said, user_id="maya", session_id=session, learn=False)]


def work(store: Store, clock: Clock, model: Model | None = None, **options: Any) -> Any:
    asked: dict[str, Any] = {"consumers": EXTRACT, "until_idle": True, "parser": PARSER, "wait": clock.wait}
    return store.work(model=model, **asked | options)


def readings(store: Store) -> list[Record]:
    return [
        one
        for one in store.read()
        if isinstance(one.body, ExperienceBody) and one.body.provenance.method == "read:model@1"
    ]


def signed(store: Store) -> list[dict[str, Any]]:
    return [
        one.body.data
        for one in store.read()
        if isinstance(one.body, EventBody) and one.envelope.public.get("name") == "work"
    ]


# -- what follows from the log --------------------------------------------------------------------


def test_an_outcome_is_signed_with_what_was_found(store: Store, clock: Clock) -> None:
    (id,) = say(store, HOME)
    done = work(store, clock, knows())
    assert (done.done, done.dead, done.next_s) == (1, 0, None)
    (data,) = signed(store)
    at = store.get(id).index
    assert (data["ended"], data["consumer"], data["version"]) == (
        "done",
        "session-extraction",
        "read:model@1",
    )
    assert (data["spans"], data["upto"], data.get("left")) == ([[at, at + 1]], at + 1, None)
    spent = data["spent"]
    assert spent["counts"] == {"turns": 1, "records": 1, "claims": 1}
    assert (spent["model"], spent["prompt"], spent["tokens_in"], spent["tokens_out"]) == (
        "small",
        "1",
        100,
        20,
    )
    assert set(spent["ms"]) == {"extract", "parse", "judge"}
    (record,) = readings(store)
    last = next(one for one in store.read() if one.envelope.public.get("name") == "work")
    assert record.envelope.tx[0] == last.envelope.tx[0]  # one transaction
    assert "Porto" not in json.dumps(data)


def test_what_is_known_of_one_project_is_not_shown_with_another_s_talk(store: Store, clock: Clock) -> None:
    def heard(text: str, project: str, session: str) -> None:
        turn = {"role": "user", "content": text, "name": "Maya"}
        store.remember([turn], user_id="maya", project_id=project, session_id=session, learn=False)

    heard(HOME, "boat", "s1")
    work(store, clock, knows())
    heard("Hello, boat.", "boat", "s2")
    heard("Hello, house.", "house", "s3")
    model = Model(lambda _: '{"facts": []}')
    work(store, clock, model)
    boat, house = model.told
    assert ("Hello, boat" in boat, "lives_in Porto" in boat) == (True, True)
    assert ("Hello, house" in house, "lives_in Porto" in house) == (True, False)


def test_again_there_is_nothing_to_do(store: Store, clock: Clock) -> None:
    say(store, HOME)
    model = knows()
    work(store, clock, model)
    size = len(store)
    assert work(store, clock, model).done == 0
    assert (len(model.told), len(store)) == (1, size)


def test_the_log_alone_says_what_is_left(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        say(store, HOME)
        work(store, clock, knows())
        say(store, "And I like tea.", session="s2")
        store.session.views.drop()
    (tmp_path / "memory" / "work.sqlite").unlink()
    with opened(tmp_path, clock) as store:
        model = Model(lambda _: '{"facts": []}')
        assert work(store, clock, model).done == 1
        assert len(model.told) == 1
        assert "I like tea" in model.told[0]


def test_a_new_version_of_the_rules_has_everything_to_do(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(store, HOME)
    work(store, clock, knows())
    monkeypatch.setattr("braid.learn.model.prompt.VERSION", "2")
    assert work(store, clock, knows()).done == 1


def test_portions_of_a_long_talk_are_jobs_of_ten_turns(store: Store, clock: Clock) -> None:
    say(store, *(f"turn {at}" for at in range(25)))
    say(store, "elsewhere", session="s2")
    model = Model(lambda _: '{"facts": []}')
    assert work(store, clock, model).done == 4
    assert [data["spent"]["counts"]["turns"] for data in signed(store)] == [10, 10, 5, 1]
    assert "left" not in signed(store)[-1]
    progress = outcomes(store.session).progress("session-extraction", "read:model@1")
    assert progress.left == ()


def test_a_session_that_goes_on_waits_for_its_end(store: Store, clock: Clock) -> None:
    say(store, *(f"turn {at}" for at in range(12)))
    model = Model(lambda _: '{"facts": []}')
    assert work(store, clock, model, ended_only=True).done == 1
    assert work(store, clock, model, ended_only=True).done == 0
    store.session.append_drafts(
        [Draft(kind="event", body=EventBody(name="session_end", scope=store.reader.at(3).body.scope))]
    )
    assert work(store, clock, model, ended_only=True).done == 1
    assert "turn 11" in model.told[-1]


def test_the_forgotten_wait_until_they_are_back(store: Store, clock: Clock) -> None:
    id, other = say(store, HOME, "Hello.")
    store.forget(id)
    model = Model(lambda text: FACT if HOME in text else '{"facts": []}')
    work(store, clock, model)
    for text in ("I like tea.", "And rum."):  # it waits through every plan, not only the next
        say(store, text, session=text)
        work(store, clock, model)
    assert HOME not in "".join(model.told)
    store.recover(id)
    work(store, clock, model)
    assert [link.id for one in readings(store) for link in one.links] == [id]
    assert other


def test_what_is_read_above_a_turn_goes_with_it_though_its_outcome_stays(store: Store, clock: Clock) -> None:
    (id,) = say(store, HOME)
    work(store, clock, knows())
    store.erase(id)
    assert readings(store) == []
    assert len(signed(store)) == 1
    assert store.verify().findings == []
    assert work(store, clock, knows()).done == 0


def test_an_outcome_that_another_key_signed_does_not_count(store: Store, clock: Clock) -> None:
    say(store, HOME)
    key = store.admit("agent", "agent")
    forged = {
        "ended": "done",
        "consumer": "session-extraction",
        "version": "read:model@1",
        "spans": [[0, 50]],
        "upto": 50,
    }
    draft = Draft(
        kind="event",
        body=EventBody(name="work", data=forged),
        links=[("target", store.reader.envelope(0).id)],
        public={"name": "work", "consumer": "session-extraction", "version": "read:model@1", "ended": "done"},
    )
    store.session.append_drafts([draft], signer=key.id)
    assert work(store, clock, knows()).done == 1


def test_one_that_cannot_be_read_is_passed_over(store: Store, clock: Clock) -> None:
    say(store, HOME)
    work(store, clock, knows())
    first = store.reader.envelope(outcomes(store.session).firsts()["session-extraction", "read:model@1"])
    for data in ({}, {"ended": "done"}, {"ended": "later", "upto": 10**9}):
        draft = Draft(
            kind="event",
            body=EventBody(name="work", data=data),
            links=[("target", first.id)],
            public=dict(first.public),
        )
        store.session.append_drafts([draft])
    assert work(store, clock, knows()).done == 0


# -- dying ----------------------------------------------------------------------------------------


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    "point", ["work.leased", "work.ran", "work.append", "work.append.done", "work.settled"]
)
@pytest.mark.parametrize("loses", [False, True], ids=["the file stays", "the file is lost"])
def test_a_worker_that_dies_anywhere_has_exactly_one_effect(
    store: Store, clock: Clock, point: str, loses: bool
) -> None:
    say(store, HOME)
    failpoint.arm(_dying(point))
    try:
        with pytest.raises(Died):
            work(store, clock, knows())
    finally:
        failpoint.arm(None)
    if loses:
        (store.path / "work.sqlite").unlink()
    model = knows()
    work(store, clock, model)
    assert (len(readings(store)), len(signed(store))) == (1, 1)
    asked_again = point not in ("work.append.done", "work.settled")
    assert len(model.told) == asked_again


def _dying(point: str) -> Callable[[str], None]:
    def hook(name: str) -> None:
        if name == point:
            raise Died

    return hook


def test_two_at_once_with_one_store_have_one_effect(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock, shared=True) as one, opened(tmp_path, clock, shared=True) as other:
        say(one, HOME)

        def answer(_: str) -> str:
            (tmp_path / "memory" / "work.sqlite").unlink()  # so that both do it
            assert work(other, clock, knows()).done == 1
            return FACT

        done = work(one, clock, Model(answer))
        assert (done.done, done.lost) == (0, 1)
        one.refresh()
        assert (len(readings(one)), len(signed(one))) == (1, 1)


def test_a_batch_that_has_an_outcome_gets_no_other(store: Store) -> None:
    say(store, "one", "two", "three")

    def end(*span: int) -> bool:
        batch = Batch("session-extraction", "read:model@1", ((span[0], span[1]),))
        return settle(store.session, batch, seen=Seen(5, ((3, 6),)))

    assert end(3, 5)
    size = len(store)
    assert not end(3, 5)
    assert not end(4, 6)  # in part
    assert len(store) == size
    assert end(5, 6)
    assert outcomes(store.session).progress("session-extraction", "read:model@1").left == ()


# -- failing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("why", ["full disk", "clock back"])
def test_a_log_that_takes_nothing_costs_a_job_no_attempt(store: Store, clock: Clock, why: str) -> None:
    say(store, HOME)
    model = knows()
    for _ in range(6):
        if why == "clock back":
            clock.wait(-7200)
        else:
            failpoint.arm(_no_room)
        try:
            with pytest.raises(ClockError if why == "clock back" else OSError, match=r"clock|space"):
                work(store, clock, model)
        finally:
            failpoint.arm(None)
            clock.wait(7200)
    assert work(store, clock, model).done == 1
    assert [one.outcome.ended for one in outcomes(store.session).every()] == ["done"]
    assert len(readings(store)) == 1


def _no_room(name: str) -> None:
    if name == "work.append":
        raise OSError(ENOSPC, os.strerror(ENOSPC))


def test_what_fails_four_times_is_dead_by_a_signed_record(store: Store, clock: Clock) -> None:
    say(store, HOME)
    job_state(store.session).breakers = Breakers(clock.seconds, _patient())
    model = away()
    done = work(store, clock, model)
    assert (done.done, done.retried, done.dead, len(model.told)) == (0, 3, 1, 4)
    (data,) = signed(store)
    assert {name: data[name] for name in ("ended", "stage", "error", "attempts")} == {
        "ended": "dead",
        "stage": "ask",
        "error": "failed",
        "attempts": 4,
    }
    (store.path / "work.sqlite").unlink()
    assert work(store, clock, model).done == 0
    assert len(model.told) == 4
    (job,) = store.jobs(state="dead").jobs
    assert (job.stage, job.error, job.attempts, job.record is not None) == ("ask", "failed", 4, True)


def _patient() -> Any:
    from braid.work.breaker import TABLE, Limits

    return dict.fromkeys(TABLE, Limits(1_000, 60, 15))


def test_each_attempt_has_less_to_read(store: Store, clock: Clock) -> None:
    job_state(store.session).breakers = Breakers(clock.seconds, _patient())
    say(store, *(f"early {at}" for at in range(10)))
    work(store, clock, Model(lambda _: '{"facts": []}'))
    say(store, *(f"late {at}" for at in range(2)))
    model = away()
    work(store, clock, model)
    context = [sum(f"early {at}<" in text for at in range(10)) for text in model.told]
    assert context == [10, 10, 6, 0, 0]  # at last each turn alone
    assert ["late 0" in text and "late 1" in text for text in model.told] == [True, True, True, False, False]


def test_of_a_portion_only_the_turn_that_fails_alone_is_dead(store: Store, clock: Clock) -> None:
    job_state(store.session).breakers = Breakers(clock.seconds, _patient())
    ids = say(store, "Hello.", "poison", HOME)

    def answer(text: str) -> str:
        if "poison" in text:
            raise ChatError("crashed")
        return FACT if HOME in text else '{"facts": []}'

    work(store, clock, Model(answer))
    assert [link.id for one in readings(store) for link in one.links] == [ids[2]]
    dead, done = signed(store)
    at = store.get(ids[1]).index
    assert (dead["ended"], dead["spans"], done["ended"]) == ("dead", [[at, at + 1]], "done")
    assert [job.spans for job in store.jobs(state="dead").jobs] == [((at, at + 1),)]


def test_with_an_open_breaker_nothing_is_asked_and_nothing_is_spent(store: Store, clock: Clock) -> None:
    for at in range(5):
        say(store, HOME, session=f"s{at}")
    model = away()
    work(store, clock, model, until_idle=False)
    assert len(model.told) == 3
    states = {one.dependency: one.state for one in store.status().breakers}
    assert states["chat_small"] == "open"
    assert sum(job.attempts for job in store.jobs().jobs) == 3
    assert work(store, clock, model, until_idle=False).retried == 0
    assert len(model.told) == 3
    done = work(store, clock, knows())
    assert (done.done, done.dead) == (5, 0)
    assert len(readings(store)) == 5


def test_while_the_larger_model_is_left_in_peace_the_small_one_answers(store: Store, clock: Clock) -> None:
    larger = away()
    for at in range(4):
        say(store, "I think I live in Porto, or no.", session=f"s{at}")
    doubtful = Model(lambda _: '{"facts": []}')
    done = work(store, clock, doubtful, larger=larger)
    assert (done.done, done.retried, len(larger.told)) == (4, 2, 2)
    assert job_state(store.session).breakers["chat_large"].state().state == "open"
    assert signed(store)[-1]["spent"]["warnings"] == {"tier:left_out": 1}


def test_what_became_of_readings_is_counted_by_the_hour_over_all_runs(store: Store, clock: Clock) -> None:
    counted = "SELECT hour, model, what, name, n FROM extraction_counts WHERE version LIKE 'read:model%'"
    say(store, HOME, session="a")
    work(store, clock, knows())
    say(store, HOME, session="b")
    work(store, clock, Model(lambda _: FACT.replace("Porto", "Paris")))
    clock.at += timedelta(hours=2)
    say(store, HOME, session="c")
    assert work(store, clock, away()).dead == 1
    rows = store.sql(counted).to_pylist()
    hours = sorted({row["hour"] for row in rows})
    of_first = {(row["what"], row["name"]): int(row["n"]) for row in rows if row["hour"] == hours[0]}
    assert {row["model"] for row in rows if row["what"] == "counts"} == {"small"}
    assert of_first["counts", "turns"] == 2
    assert (
        of_first["counts", "refused"] == sum(n for (what, _), n in of_first.items() if what == "refused") == 1
    )
    assert all(":" in name for what, name in of_first if what == "refused")
    assert [(row["what"], row["name"], int(row["n"])) for row in rows if row["hour"] == hours[-1]] == [
        ("dead", "ask:failed", 1)
    ]
    assert len(hours) == 2


# -- locks ----------------------------------------------------------------------------------------


def is_locked(store: Store) -> bool:
    """Whether this thread holds the writer's turn."""
    turn: Any = store.session.writer._commit
    return bool(turn._is_owned())


def test_no_model_is_asked_while_the_log_is_locked(tmp_path: Path, clock: Clock) -> None:
    asked: list[bool] = []
    held: list[Store] = []
    embeds = Embeds(lambda: is_locked(held[0]), asked)
    with opened(tmp_path, clock, embedder=lambda: embeds) as store:
        held.append(store)
        say(store, HOME, "I like tea.")

        def answer(_: str) -> str:
            asked.append(is_locked(store))
            return FACT

        store.views.search.catch_up()
        work(store, clock, Model(answer), consumers=())
        store.extract(model=Model(answer))
        store.remember("I moved.", user_id="maya")
        store.recall("home", user_id="maya")
        store.stance("Where does Maya live?", user_id="maya")
        assert len(asked) > 3
        assert not any(asked)
        with store.session.writer.turn():  # the test sees one that is
            answer("")
        assert asked[-1]


class Embeds:
    """An embedder that notes whether the log was locked when it was asked."""

    name, version, dimensions, remote = "noting", "1", 4, False

    def __init__(self, locked: Callable[[], bool], asked: list[bool]) -> None:
        self._locked = locked
        self._asked = asked

    def embed(self, texts: Sequence[str]) -> Any:
        import numpy as np

        self._asked.append(self._locked())
        return np.tile(np.array([1, 0, 0, 0], np.float32), (len(texts), 1))


def test_remembering_never_waits_for_a_worker(store: Store, clock: Clock) -> None:
    say(store, HOME)
    is_asked, may_answer = threading.Event(), threading.Event()

    def answer(_: str) -> str:
        is_asked.set()
        assert may_answer.wait(30)
        return FACT

    worker = threading.Thread(target=lambda: work(store, clock, Model(answer), until_idle=False, most=1))
    worker.start()
    assert is_asked.wait(30)
    (id,) = say(store, "I like tea.", session="s2")
    assert store.get(id).text == "I like tea."
    assert store.jobs(state="leased").counts["leased"] == 1
    may_answer.set()
    worker.join()
    assert len(readings(store)) == 1


# -- projections ----------------------------------------------------------------------------------


def test_projections_follow_and_nothing_is_signed_of_them(store: Store, clock: Clock) -> None:
    say(store, HOME)
    size = len(store)
    done = store.work(consumers=["projection", "enrichment"], until_idle=True, wait=clock.wait)
    assert (done.done, len(store)) == (1, size)
    assert {one.name: one.behind_by for one in store.status().views} == {"duck": 0, "catalog": 0}
    store.session.views.drop()
    assert store.work(consumers=["projection"], until_idle=True, wait=clock.wait).done == 1


def test_meanings_follow_once_there_are_any(tmp_path: Path, clock: Clock) -> None:
    asked: list[bool] = []
    with opened(tmp_path, clock, embedder=lambda: Embeds(lambda: False, asked)) as store:
        say(store, HOME)
        assert store.work(consumers=["enrichment"]).done == 0
        store.views.search.catch_up()
        say(store, "I like tea.")
        assert store.work(consumers=["enrichment"]).done == 1
        assert store.views.search.status().position == len(store)
        assert store.work(consumers=["enrichment"]).done == 0


def test_a_projection_that_cannot_be_made_is_dead_and_comes_back(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(store, HOME)
    with monkeypatch.context() as patched:
        patched.setattr(type(store.session.views), "catch_up", _full)
        done = store.work(consumers=["projection"], until_idle=True, wait=clock.wait)
        assert (done.retried, done.dead) == (3, 1)
        (job,) = store.jobs(state="dead").jobs
        assert (job.consumer, job.stage, job.error) == ("projection", "run", "OSError")
    assert store.replay_dead(reason="there is room again").jobs == (job.id,)
    done = store.work(consumers=["projection"], until_idle=True, wait=clock.wait)
    assert (done.dead, store.jobs(state="dead").jobs) == (0, ())
    assert store.status().views[0].behind_by <= 1  # what is signed of it came after


def _full(*_: Any, **__: Any) -> None:
    raise OSError(28, "no space left on device")


# -- what an operator does ------------------------------------------------------------------------


@pytest.fixture
def dead(store: Store, clock: Clock) -> str:
    """A job that is dead."""
    job_state(store.session).breakers = Breakers(clock.seconds, _patient())
    say(store, HOME)
    work(store, clock, away())
    return str(store.jobs(state="dead").jobs[0].id)


def test_the_dead_are_done_again_with_a_reason(store: Store, clock: Clock, dead: str) -> None:
    assert store.replay_dead(reason="the model is back").jobs == (dead,)
    assert store.jobs(state="dead").jobs == ()
    assert work(store, clock, knows()).done == 1
    shown = store.job(dead)
    assert [(one.ended, one.by, one.reason) for one in shown.outcomes] == [
        ("dead", None, None),
        ("requeued", "operator", "the model is back"),
        ("done", None, None),
    ]
    assert shown.job is not None
    assert shown.job.state == "done"
    assert store.replay_dead(reason="again").jobs == ()


def test_one_is_retried_even_when_the_file_is_lost(store: Store, clock: Clock, dead: str) -> None:
    (store.path / "work.sqlite").unlink()
    store.retry_job(dead, reason="the model is back")
    (store.path / "work.sqlite").unlink()
    assert work(store, clock, knows()).done == 1
    assert len(readings(store)) == 1


def test_the_status_says_how_bad_it_is_that_a_job_is_dead(store: Store, clock: Clock, dead: str) -> None:
    told = [(one.field, one.about, one.severity) for one in store.status().troubles]
    assert ("jobs", "dead", "failed") in told
    assert {one for one in told if one[0] != "breakers"} == {("jobs", "dead", "failed")}
    store.discard_job(dead, reason="a test talk")
    assert "jobs" not in {one.field for one in store.status().troubles}


def test_what_waits_for_a_model_is_counted_where_none_is_named(store: Store, clock: Clock, dead: str) -> None:
    store.retry_job(dead, reason="the model is back")
    assert work(store, clock).unserved == 1
    assert work(store, clock, consumers=["projection"]).unserved == 0
    done = work(store, clock, knows())
    assert (done.done, done.unserved) == (1, 0)
    assert work(store, clock).unserved == 0


def test_one_is_discarded_and_may_be_brought_back(store: Store, clock: Clock, dead: str) -> None:
    store.discard_job(dead, reason="a test talk")
    (store.path / "work.sqlite").unlink(missing_ok=True)
    assert store.jobs(state="dead").jobs == ()
    assert work(store, clock, knows()).done == 0
    store.retry_job(dead, reason="it was none")
    assert work(store, clock, knows()).done == 1


def test_what_is_done_and_what_is_unknown_is_not_changed(store: Store, clock: Clock) -> None:
    say(store, HOME)
    work(store, clock, knows())
    (done,) = [job for job in store.jobs(consumer="session-extraction").jobs if job.state == "done"]
    for change in (store.retry_job, store.discard_job):
        with pytest.raises(InvalidRequestError, match="is done"):
            change(done.id, reason="no reason")
        with pytest.raises(UnknownJobError, match="no job has the id"):
            change("job_0123456789abcdef", reason="no reason")
        with pytest.raises(InvalidRequestError):
            change(done.id, reason="")
        with pytest.raises(InvalidRequestError):
            change("nonsense", reason="x")
    with pytest.raises(InvalidRequestError):
        store.work(consumers=["nonsense"])  # type: ignore[list-item]


def test_who_asked_for_it_is_signed_and_only_an_operator_may(store: Store, dead: str) -> None:
    with asked_by(Caller(name="bob", kind="operator")):
        store.retry_job(dead, reason="why not")
    assert store.job(dead).outcomes[-1].by == "operator bob"
    person = Caller(name="ann", kind="person", allowed=frozenset(("read", "write")))
    with asked_by(person):
        for ask in (
            store.jobs,
            store.work,
            lambda: store.job(dead),
            lambda: store.retry_job(dead, reason="x"),
            lambda: store.discard_job(dead, reason="x"),
            lambda: store.replay_dead(reason="x"),
        ):
            with pytest.raises(AccessDeniedError):
                ask()


def test_a_store_for_reading_lists_and_does_not_work(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        say(store, HOME)
    with opened(tmp_path, clock, read_only=True) as store:
        assert {one.consumer for one in store.jobs().jobs} == {"projection"}
        with pytest.raises(ReadOnlyError):
            store.work()
    assert not (tmp_path / "memory" / "work.sqlite").exists()
