"""A rebuild by worker processes: the same content as by one, and nothing that a worker does can make it another."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from braid.ledger.errors import IntegrityError
from braid.ledger.reader import Reader
from braid.ledger.worker import Worker
from braid.views import crew
from braid.views.crew import Stretch, made_by_workers
from braid.views.replay import take_standing
from braid.views.schema import VERSION


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a store of some dozens of records be worth it."""
    monkeypatch.setattr(crew, "LEAST_RECORDS", 10)
    monkeypatch.setattr(crew, "STRETCH_RECORDS", 16)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


@pytest.fixture
def filled(bench: Any, one_of_each: Any) -> Any:
    """A record of every kind, transactions of one record and of many, something forgotten and something erased."""
    ids = one_of_each(bench)
    for number in range(20):
        bench.say(f"alone {number}")
    placed = bench.say(*(f"together {number}" for number in range(40)))
    bench.tombstone("forget", placed[3].id, ids["inferred"])
    bench.tombstone("erase", placed[7].id)
    bench.writer.checkpoint()
    return bench


def rebuilt(bench: Any, monkeypatch: pytest.MonkeyPatch, least: int) -> tuple[str, dict[str, Any]]:
    """Return the content digest and the rows after a rebuild."""
    monkeypatch.setattr(crew, "LEAST_RECORDS", least)
    bench.views.replay("duck")
    (standing,) = [one for one in bench.views.status() if one.name == "duck"]
    return standing.digest.content, bench.contents()


def stretches(bench: Any) -> list[tuple[int, int]]:
    """Return where the workers' stretches ended, each with how many records have rows."""
    made = made_by_workers(bench.writer, take_standing(bench.writer), VERSION)
    return [(one.stamp.position, len(one.hashes)) for one in made]


def test_the_content_is_that_of_a_rebuild_by_one(filled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    by_one = rebuilt(filled, monkeypatch, 10**9)
    by_many = rebuilt(filled, monkeypatch, 10)
    assert by_many == by_one
    ends = [end for end, _ in stretches(filled)]
    assert ends == [*range(16, filled.writer.size, 16), filled.writer.size]


def test_what_the_index_does_not_tell_yet_is_left_to_the_caller(
    filled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = filled.writer.size
    filled.say("written since the last head")
    assert [end for end, _ in stretches(filled)][-1] == size  # where the index ends
    by_many = rebuilt(filled, monkeypatch, 10)
    assert by_many == rebuilt(filled, monkeypatch, 10**9)
    assert filled.writer.size == size + 1


def test_too_little_is_done_by_one(filled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "LEAST_RECORDS", filled.writer.size + 1)
    assert stretches(filled) == []
    monkeypatch.setattr(crew, "LEAST_RECORDS", 10)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert stretches(filled) == []


@pytest.mark.parametrize("alive", [0, 1, 2])
def test_a_worker_that_dies_costs_time_alone(
    filled: Any, monkeypatch: pytest.MonkeyPatch, alive: int
) -> None:
    real: Callable[[Worker, bytes], bytes | None] = Worker.ask
    asked = 0

    def ask(worker: Worker, question: bytes) -> bytes | None:
        nonlocal asked
        asked += 1
        if asked > alive:
            os.kill(worker._process.pid, signal.SIGKILL)
            worker._process.wait()
        return real(worker, question)

    by_one = rebuilt(filled, monkeypatch, 10**9)
    monkeypatch.setattr(Worker, "ask", ask)
    assert rebuilt(filled, monkeypatch, 10) == by_one
    assert asked > alive


def test_without_an_interpreter_there_are_no_workers(filled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    by_one = rebuilt(filled, monkeypatch, 10**9)
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    assert stretches(filled) == []
    assert rebuilt(filled, monkeypatch, 10) == by_one


def test_a_harmed_body_is_refused_as_it_is_by_one(filled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = (filled.path / "log").glob("*.seg")
    segment, extent = filled.writer.log.locate(30)
    data = bytearray(path.read_bytes())
    data[extent.body_at + 40] ^= 1
    path.write_bytes(data)
    del segment
    with pytest.raises(IntegrityError, match="is not what was signed"):
        rebuilt(filled, monkeypatch, 10)


def test_a_store_behind_a_passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import braid

    with braid.open(tmp_path / "memory", passphrase="a long enough passphrase") as store:
        for number in range(40):
            store.append(f"memory {number}")
        store.checkpoint()
        store.replay("duck", from_scratch=True)
        by_many = store.sql("SELECT log_index, text FROM experiences ORDER BY 1").to_pydict()
        monkeypatch.setattr(crew, "LEAST_RECORDS", 10**9)
        store.replay("duck", from_scratch=True)
        assert store.sql("SELECT log_index, text FROM experiences ORDER BY 1").to_pydict() == by_many


def test_stretches_are_cut_by_number_and_by_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "STRETCH_BYTES", 100)
    cut = crew.cut(5, np.cumsum([10] * 20 + [40, 50, 300, 99, 2, 1]))
    spans = [(one.first, one.stop) for one in cut]
    assert spans == [(5, 15), (15, 25), (25, 27), (27, 28), (28, 29), (29, 31)]
    monkeypatch.setattr(crew, "STRETCH_BYTES", 10_000)
    assert list(crew.cut(0, np.cumsum([1] * 20))) == [Stretch(0, 16), Stretch(16, 20)]


def test_a_worker_says_so_where_the_log_ends_before(filled: Any) -> None:
    reader = Reader(filled.path)
    with pytest.raises(IndexError, match="the log holds"):
        crew.rows_of(reader, take_standing(reader), Stretch(0, filled.writer.size + 1))
    reader.close()
