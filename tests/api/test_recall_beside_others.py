"""Questions while another is at work on the catalogue: they are answered in their own time, and say what they lack."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any

import pytest

import braid

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


def asked(store: braid.Store, **how: Any) -> dict[str, Any]:
    answer: dict[str, Any] = soon(
        lambda: store.recall("Where do I live?", user_id="maya", limit_s=LIMIT_S, **how)
    )
    return answer


@pytest.mark.usefixtures("held")
def test_a_question_is_answered_from_the_catalogue_as_it_stands(store: braid.Store) -> None:
    answer = asked(store)
    assert "I live in Porto." in [hit["text"] for hit in answer["results"]]
    assert "I moved to Lisbon." in [hit["text"] for hit in answer["results"]], "the index follows the log"
    (told,) = answer["degraded"]
    assert told.startswith("catalogue: ")
    assert "another process" in told
    assert "the newest 1 records were not looked at" in told
    assert "Lisbon" in soon(lambda: store.context("Where do I live?", limit_s=LIMIT_S))


@pytest.mark.usefixtures("held")
def test_neighbours_come_along_from_the_catalogue_as_it_stands(store: braid.Store) -> None:
    texts = {hit["text"] for hit in asked(store, top_k=20)["results"]}
    assert "How lovely." in texts, "it shares no word with the question"


@pytest.mark.usefixtures("held")
def test_a_question_is_answered_where_there_is_no_catalogue_at_all(store: braid.Store) -> None:
    (store.path / "views" / "catalog.sqlite").unlink()
    answer = asked(store)
    assert "I live in Porto." in [hit["text"] for hit in answer["results"]]
    assert "any record were not looked at" in answer["degraded"][0]


def test_a_catalogue_of_before_an_erasure_is_not_read(store: braid.Store) -> None:
    """It still has the turns and keys of what is gone."""
    store.recall("Where do I live?", user_id="maya")
    file = store.path / "views" / "catalog.sqlite"
    before = file.read_bytes()
    store.erase(next(record.id for record in store.read() if b"Douro" in (record.raw or b"")))
    file.write_bytes(before)
    with holding(store):
        answer = asked(store)
    assert "any record were not looked at" in answer["degraded"][0]
    assert not [hit for hit in answer["results"] if "Douro" in hit["text"]]


@pytest.mark.usefixtures("held")
def test_what_needs_no_catalogue_does_not_wait_for_it(store: braid.Store) -> None:
    newest = [record.id for record in store.read()][-1]
    assert soon(lambda: store.get(newest)).id == newest
    assert soon(store.verify).findings == []
    status = soon(store.status)
    (catalog,) = [one for one in status["views"] if one.name == "catalog"]
    assert catalog.behind_by == 1
    soon(store.close)


def test_once_the_other_is_done_nothing_is_lacking(store: braid.Store, held: None) -> None:
    assert asked(store)["degraded"]


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
        assert "another thread" in answer["degraded"][0]
        assert soon(store.status)
    finally:
        done.set()
        other.join()
    assert asked(store)["degraded"] == []
