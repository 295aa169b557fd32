"""A rebuild by worker processes: the same content as by one, and nothing that a worker does can make it another."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from braid.ledger.errors import IntegrityError, LedgerError
from braid.ledger.read.prefix import root_at
from braid.ledger.worker import Worker
from braid.views.duck import workers
from braid.views.duck.schema import VERSION
from braid.views.duck.workers import Stretch, made_by_workers
from braid.views.replay import take_standing


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a store of some dozens of records be worth it."""
    monkeypatch.setattr(workers, "LEAST_RECORDS", 10)
    monkeypatch.setattr(workers, "STRETCH_RECORDS", 16)
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
    monkeypatch.setattr(workers, "LEAST_RECORDS", least)
    bench.views.replay("duck")
    (standing,) = [one for one in bench.views.status() if one.name == "duck"]
    return standing.digest.content, bench.contents()


def stretches(bench: Any) -> list[tuple[int, int]]:
    """Return where the workers' stretches ended, each with how many records have rows."""
    made = made_by_workers(bench.writer, take_standing(bench.writer), VERSION)
    return [(one.stamp.position, len(one.hashes)) for one in made]


@pytest.mark.soak
def test_the_content_is_that_of_a_rebuild_by_one(filled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    by_one = rebuilt(filled, monkeypatch, 10**9)
    by_many = rebuilt(filled, monkeypatch, 10)
    assert by_many == by_one
    ends = [end for end, _ in stretches(filled)]
    firsts = {frame.first for frame in filled.writer.log.frames()} | {filled.writer.size}
    assert len(ends) > 3
    assert ends == sorted(firsts & set(ends))  # where transactions end, and all of it
    assert ends[-1] == filled.writer.size


@pytest.mark.soak
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
    monkeypatch.setattr(workers, "LEAST_RECORDS", filled.writer.size + 1)
    assert stretches(filled) == []
    monkeypatch.setattr(workers, "LEAST_RECORDS", 10)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert stretches(filled) == []


@pytest.mark.sample(3)
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


@pytest.mark.soak
def test_a_store_behind_a_passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import braid

    with braid.open(tmp_path / "memory", passphrase="a long enough passphrase") as store:
        for number in range(40):
            store.append(f"memory {number}")
        store.checkpoint()
        store.replay("duck", from_scratch=True)
        by_many = store.sql("SELECT log_index, text FROM experiences ORDER BY 1").to_pydict()
        monkeypatch.setattr(workers, "LEAST_RECORDS", 10**9)
        store.replay("duck", from_scratch=True)
        assert store.sql("SELECT log_index, text FROM experiences ORDER BY 1").to_pydict() == by_many


def test_stretches_are_cut_by_number_and_by_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "STRETCH_BYTES", 100)
    single = np.ones(26, dtype=bool)
    found = workers.cut(5, np.cumsum([10] * 20 + [40, 50, 300, 99, 2, 1]), single)
    spans = [(one.first, one.stop) for one in found]
    assert spans == [(5, 15), (15, 25), (25, 27), (27, 28), (28, 29), (29, 31)]
    monkeypatch.setattr(workers, "STRETCH_BYTES", 10_000)
    assert list(workers.cut(0, np.cumsum([1] * 20), single[:20])) == [Stretch(0, 16), Stretch(16, 20)]


def test_a_transaction_is_not_parted_and_a_heavy_one_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    closing = np.zeros(60, dtype=bool)
    closing[[4, 9, 11, 49, 59]] = True  # one of forty records, more than a stretch
    spans = [(one.first, one.stop) for one in workers.cut(0, np.cumsum([1] * 60), closing)]
    assert spans == [(0, 12), (12, 50), (50, 60)]
    monkeypatch.setattr(workers, "HEAVY_BYTES", 30)
    assert [(one.first, one.stop) for one in workers.cut(0, np.cumsum([1] * 60), closing)] == [(0, 12)]


def terms(bench: Any, **members: Any) -> workers.ReplayTerms:
    said: dict[str, Any] = {
        "store": str(bench.path),
        "guard": str(bench.writer.guard.path),
        "guarded": True,
        "passphrase": None,
        "standing": take_standing(bench.writer),
        "version": VERSION,
    }
    return workers.ReplayTerms(**(said | members))


def test_a_worker_refuses_a_log_that_is_not_its_askers(filled: Any) -> None:
    reader = workers.opened(terms(filled))
    size = filled.writer.size
    for stretch in (Stretch(0, size + 1, "00"), Stretch(0, size, root_at(reader, size - 1))):
        with pytest.raises(LedgerError, match="has not the root"):
            workers.rows_of(reader, take_standing(reader), stretch)
    reader.close()


def test_a_worker_refuses_a_store_that_is_not_as_its_asker_holds_it(filled: Any, tmp_path: Path) -> None:
    standing = take_standing(filled.writer)
    for other in (
        terms(filled, guard=str(tmp_path / "away.guard")),
        terms(filled, version=VERSION + 1),
        terms(filled, standing=msgspec.structs.replace(standing, origin="another.log/x")),
        terms(filled, standing=msgspec.structs.replace(standing, sealed=False)),
    ):
        with pytest.raises(LedgerError, match="not as its asker holds it"):
            workers.opened(other)


def test_a_vault_that_is_away_for_a_while_takes_no_text_from_the_rows(
    filled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_one = rebuilt(filled, monkeypatch, 10**9)
    vault = filled.writer.settings.vault_path(filled.path)
    vault.rename(vault.with_name("away"))
    assert stretches(filled) == []
    assert rebuilt(filled, monkeypatch, 10) == by_one
    vault.with_name("away").rename(vault)


def test_what_a_library_prints_in_a_worker_is_no_answer() -> None:
    said = subprocess.run(
        [
            sys.executable,
            "-c",
            "from braid.ledger.worker import serve\n"
            "import os\n"
            "serve(lambda terms: lambda asked: (os.write(1, b'noise'), terms + asked)[1])",
        ],
        input=b"".join(len(part).to_bytes(8, "little") + part for part in (b"to ", b"you", b"me")),
        capture_output=True,
        check=True,
        timeout=60,
    ).stdout
    assert said == b"".join(len(part).to_bytes(8, "little") + part for part in (b"to you", b"to me"))
