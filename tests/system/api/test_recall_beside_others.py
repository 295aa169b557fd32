"""Questions while another is at work on the catalogue: they are answered in their own time, and say what they lack."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any

import pytest

import braid
from braid.search.operations import Recalled
from braid.search.question import Question
from braid.search.retrieval import glanced, question_of
from braid.views.errors import DamagedViewError, ViewBusyError

LIMIT_S = 0.3
SOON_S = 10.0
"""Far below the half minute that whoever needs the catalogue waits for it, and enough for a slow machine."""
_HOLD = """
import fcntl, sys
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[braid.Store]:
    """A store whose projections stand a record behind the log."""
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard") as made:
        for turn in ("I live in Porto.", "Near the river?", "Yes, near the Douro.", "How lovely."):
            made.append(turn, user_id="maya", session_id="one")
        made.recall("Where do I live?", user_id="maya")
        made.append("I moved to Lisbon.", user_id="maya", session_id="two")
        yield made


@contextmanager
def holding(store: braid.Store) -> Iterator[None]:
    """Another process that is at work on the catalogue."""
    path = store.path / "views" / "catalog.lock"
    command = [sys.executable, "-c", _HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        yield
        other.communicate()


@pytest.fixture
def held(store: braid.Store) -> Iterator[None]:
    """For as long as the test runs."""
    with holding(store):
        yield


def soon(step: Callable[[], Any]) -> Any:
    begun = monotonic()
    given = step()
    assert monotonic() - begun < SOON_S
    return given


def asked(store: braid.Store, **how: Any) -> Recalled:
    answer: Recalled = soon(lambda: store.recall("Where do I live?", user_id="maya", limit_s=LIMIT_S, **how))
    return answer


@pytest.mark.usefixtures("held")
def test_a_question_is_answered_from_the_catalogue_as_it_stands(store: braid.Store) -> None:
    answer = asked(store)
    assert "I live in Porto." in [hit.text for hit in answer.results]
    assert "I moved to Lisbon." in [hit.text for hit in answer.results], "the index follows the log"
    (told,) = answer.degraded
    assert told == (
        "catalogue: another process is at work on it; neighbours of the newest record were not looked at"
    ), "where the store lies is for no model, and for no signed record"
    assert "Lisbon" in soon(lambda: store.context("Where do I live?", limit_s=LIMIT_S))


@pytest.mark.usefixtures("held")
def test_neighbours_come_along_from_the_catalogue_as_it_stands(store: braid.Store) -> None:
    texts = {hit.text for hit in asked(store, top_k=20).results}
    assert "How lovely." in texts, "it shares no word with the question"


@pytest.mark.usefixtures("held")
def test_a_question_is_answered_where_there_is_no_catalogue_at_all(store: braid.Store) -> None:
    (store.path / "views" / "catalog.sqlite").unlink()
    answer = asked(store)
    assert "I live in Porto." in [hit.text for hit in answer.results]
    assert "any record were not looked at" in answer.degraded[0]


def test_a_catalogue_of_before_an_erasure_is_not_read(store: braid.Store) -> None:
    """It still has the turns and keys of what is gone."""
    store.recall("Where do I live?", user_id="maya")
    file = store.path / "views" / "catalog.sqlite"
    before = file.read_bytes()
    store.erase(next(record.id for record in store.read() if b"Douro" in (record.raw or b"")))
    file.write_bytes(before)
    with holding(store):
        answer = asked(store)
    assert "any record were not looked at" in answer.degraded[0]
    assert not [hit for hit in answer.results if "Douro" in hit.text]


@pytest.mark.usefixtures("held")
def test_what_needs_no_catalogue_does_not_wait_for_it(store: braid.Store) -> None:
    newest = [record.id for record in store.read()][-1]
    assert soon(lambda: store.get(newest)).id == newest
    assert soon(store.verify).findings == []
    status = soon(store.status)
    (catalog,) = [one for one in status.views if one.name == "catalog"]
    assert catalog.behind_by == 1
    soon(store.close)


def test_once_the_other_is_done_nothing_is_lacking(store: braid.Store, held: None) -> None:
    assert asked(store).degraded


def test_a_question_waits_for_no_thread_of_its_own_process_either(store: braid.Store) -> None:
    catalog, begun, done = store.views.catalog, Event(), Event()

    def work() -> None:
        with catalog._turn:
            begun.set()
            done.wait(60)

    other = Thread(target=work)
    other.start()
    begun.wait(60)
    try:
        answer = asked(store)
        assert "another thread" in answer.degraded[0]
        assert soon(store.status)
    finally:
        done.set()
        other.join()
    assert asked(store).degraded == ()


@pytest.mark.usefixtures("held")
def test_where_the_store_lies_is_told_of_no_part(store: braid.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    search = store.views.search

    def busy(_behind: int) -> None:
        raise ViewBusyError("another process is at work on it", search.home.folder)

    def damaged(_behind: int) -> None:
        raise DamagedViewError(f"it could not be read (Not found: {search.home.folder}/set-0a/rows.lance)")

    for index in (busy, damaged):
        with monkeypatch.context() as patch:
            patch.setattr(search, "index_near", index)
            answer = asked(store)
        assert len(answer.degraded) == 2
        assert answer.degraded[0].startswith("index: ")
        assert str(store.path.parent) not in str(answer.degraded)


@pytest.mark.soak
def test_a_correction_waits_for_nobody_at_the_catalogue(store: braid.Store) -> None:
    store.learn()
    first = next(record.id for record in store.read() if b"Porto" in (record.raw or b""))
    store.append("Good night.", user_id="maya")
    with holding(store):
        new = soon(lambda: store.correct(first, "I live in Braga."))
    assert store.get(new).text == "I live in Braga."
    assert store.learn().records == 0, "who links to what is told by the log, so that it was read at once"
    assert "Braga" in str(store.stance("Where do I live?", user_id="maya"))


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("limit_s", [0.0, 1e-9])
def test_no_time_at_all_is_no_time(store: braid.Store, limit_s: float) -> None:
    answer = soon(lambda: store.recall("Where do I live?", user_id="maya", limit_s=limit_s))
    assert "catalogue: " in " ".join(answer.degraded)


@pytest.mark.usefixtures("held")
def test_what_fails_after_it_was_opened_is_told_and_waited_for_once(store: braid.Store) -> None:
    catalog = store.views.catalog
    first, second = [record.index for record in store.read() if record.kind == "experience"][:2]
    with closing(
        glanced(catalog, question_of(store.session, Question(query="Where?", limit_s=LIMIT_S)))
    ) as glance:
        assert "the newest record were" in glance.trouble[0]
        assert glance.before([second]) == {second: first}
        with closing(sqlite3.connect(catalog._home.path, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            assert glance.before([second]) == {}
            begun = monotonic()
            assert glance.after([second]) == {}
            assert glance.before([second]) == {}
            assert monotonic() - begun < LIMIT_S
        (told,) = glance.trouble
        assert "locked" in told
        assert "of any record were not looked at" in told
