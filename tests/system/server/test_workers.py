"""Workers inside a server: they follow what is appended, rest when something is away, and end with the server."""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import braid
from braid.job_state import job_state
from braid.jobs.running import Models
from braid.outcomes import outcomes
from braid.store import Store
from braid.tools.http import workers as module
from braid.tools.http.workers import Workers
from braid.work.errors import TransportError
from tests.unit.api.test_jobs import Model, knows, readings, say
from tests.unit.learn.test_extraction import HOME, PARSER


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ended(store: Store, session: str = "s1") -> None:
    """End the session that was talked in: workers wait for that."""
    from braid.ledger.record.record import Draft, EventBody, Scope

    scope = Scope(user_id="maya", session_id=session)
    store.session.append_drafts([Draft(kind="event", body=EventBody(name="session_end", scope=scope))])


@pytest.fixture
def working(tmp_path: Path) -> Any:
    with braid.open(tmp_path / "memory", parser=None) as store:
        model = knows()
        made = Workers(store.session, 2, lambda: Models(small=model, parser=PARSER))
        made.start()
        try:
            yield store, made
        finally:
            made.stop(20)


def test_what_is_appended_is_read_without_anybody_waiting(working: Any) -> None:
    store, workers = working
    say(store, HOME)
    ended(store)
    workers.wake()
    until(lambda: len(readings(store)) == 1)
    until(lambda: "duck" in {one.name for one in store.status().views if one.behind_by == 0})
    assert outcomes(store.session).progress("session-extraction", "read:model@1").left == ()


def test_a_transport_that_is_away_is_waited_for(working: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store, workers = working
    monkeypatch.setattr(module, "TROUBLE_S", 0.01)
    transport = job_state(store.session).transport
    tries: list[int] = []

    class Away:
        name = "away"

        def lease(self, *_: Any) -> Any:
            tries.append(1)
            raise TransportError("gone")

    job_state(store.session).transport = Away()  # type: ignore[assignment]
    say(store, HOME)
    ended(store)
    workers.wake()
    until(lambda: len(tries) > 2)
    job_state(store.session).transport = transport
    until(lambda: len(readings(store)) == 1)


def test_one_that_is_stopped_ends_its_job_and_begins_no_other(tmp_path: Path) -> None:
    is_asked, may_answer = Event(), Event()
    asked: list[str] = []

    def answer(text: str) -> str:
        asked.append(text)
        is_asked.set()
        assert may_answer.wait(30)
        return '{"facts": []}'

    with braid.open(tmp_path / "memory", parser=None) as store:
        for at in range(3):
            say(store, *[HOME] * 10, session=f"s{at}")
        slow = Model(answer)
        workers = Workers(store.session, 1, lambda: Models(small=slow, parser=PARSER))
        workers.start()
        assert is_asked.wait(30)
        stopping = Thread(target=workers.stop, args=(20,))
        stopping.start()
        time.sleep(0.05)
        may_answer.set()
        stopping.join()
        assert len(asked) == 1
        assert len(list(outcomes(store.session).every("done"))) == 1
