"""One process owns the working file; others read generations that never change."""

import multiprocessing
import subprocess
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from braid.ledger.read.reader import Reader
from braid.views import store as store_module
from braid.views.duck import generations as generations_module
from braid.views.duck.generations import DuckHome
from braid.views.duck.past import Past
from braid.views.duck.projection import DuckView
from braid.views.duck.seal import Seals
from braid.views.errors import ViewBusyError
from braid.views.store import Views
from braid.wal.lock import FileLock


def generations(bench: Any) -> list[str]:
    return sorted(path.name for path in bench.duck.glob("gen-*"))


def test_a_generation_is_published_when_the_log_has_grown(bench: Any) -> None:
    bench.say(*map(str, range(97)))
    bench.views.catch_up()
    (first,) = generations(bench)
    assert first.startswith("gen-000000000100-")
    bench.say(*map(str, range(9)))
    bench.views.catch_up()
    assert generations(bench) == [first]
    bench.say("1")
    bench.views.catch_up()
    (second,) = generations(bench)
    assert second.startswith("gen-000000000110-")
    bench.say("1")
    bench.views.catch_up(publish=True)
    (third,) = generations(bench)
    assert third.startswith("gen-000000000111-")
    assert (bench.duck / "current").read_text() == f"{third}\n"


def test_publishing_costs_a_constant_share(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    published: list[int] = []
    monkeypatch.setattr(DuckHome, "publish", lambda self, position: published.append(position))
    monkeypatch.setattr(DuckHome, "current", lambda self: (Path(), published[-1]) if published else None)
    home = DuckHome(bench.duck, bench.path / "checkpoints", Seals(bench.writer))
    for position in range(3, 10_000):
        if home.is_due(position):
            home.publish(position)
    assert sum(published) < 12 * 10_000


def test_another_process_reads_the_generation_while_the_owner_works(bench: Any) -> None:
    bench.say("one")
    bench.views.catch_up()
    one = generations(bench)
    reader = Reader(bench.path)
    other = Views(bench.path / "views", reader)
    owner = FileLock(bench.duck / "lock")
    owner.acquire()
    try:
        bench.say("two")
        reader.refresh()
        answer = other.sql("SELECT text FROM experiences")
        assert answer.table.to_pylist() == [{"text": "one"}]
        assert (answer.position, answer.behind_by) == (4, 1)
        assert generations(bench) == one
        with pytest.raises(ViewBusyError):
            other.catch_up(wait_s=0.0)
        with pytest.raises(ViewBusyError):
            other.replay("duck", wait_s=0.0)
        duck, _ = other.status()
        assert (duck.position, duck.behind_by) == (4, 1)
        assert "another process" in duck.note
    finally:
        owner.release()
    answer = other.sql("SELECT text FROM experiences ORDER BY log_index")
    assert answer.table.to_pylist() == [{"text": "one"}, {"text": "two"}]
    assert answer.behind_by == 0
    other.close()
    reader.close()


def test_without_a_generation_a_busy_view_says_so(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "BUSY_WAIT_S", 0.1)
    bench.say("one")
    bench.duck.mkdir(parents=True)
    owner = FileLock(bench.duck / "lock")
    owner.acquire()
    try:
        with pytest.raises(ViewBusyError, match="another process"):
            bench.views.sql("SELECT 1")
    finally:
        owner.release()


@pytest.mark.sample(2)
@pytest.mark.parametrize("op", ["erase", "forget"])
def test_nobody_reads_a_generation_that_shows_too_much(
    bench: Any, monkeypatch: pytest.MonkeyPatch, op: str
) -> None:
    monkeypatch.setattr(store_module, "BUSY_WAIT_S", 0.1)
    (one,) = bench.say("needle")
    bench.views.catch_up()
    bench.tombstone(op, one.id)
    owner = FileLock(bench.duck / "lock")
    owner.acquire()
    try:
        with pytest.raises(ViewBusyError, match="another process"):
            bench.views.sql("SELECT text FROM experiences")
    finally:
        owner.release()
    assert bench.rows("SELECT text FROM experiences") == []


def test_a_busy_view_is_waited_for_where_nothing_else_may_be_shown(bench: Any) -> None:
    (one,) = bench.say("needle")
    bench.views.catch_up()
    bench.tombstone("forget", one.id)
    owner = FileLock(bench.duck / "lock")
    owner.acquire()
    Timer(0.5, owner.release).start()
    assert bench.rows("SELECT text FROM experiences") == []


def unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a full disk: DuckDB closes its file and leaves what it could not fold in beside it."""
    real = DuckView.close

    def close(self: DuckView) -> None:
        self._con.execute("PRAGMA disable_checkpoint_on_shutdown")
        real(self)

    monkeypatch.setattr(DuckView, "close", close)


def test_a_file_that_lacks_its_tail_is_not_put_in_place(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.say("one")
    bench.views.catch_up(publish=True)
    before = generations(bench)
    bench.say("two")
    with monkeypatch.context() as patch:
        unfolded(patch)
        with pytest.raises(OSError, match="no room"):
            bench.views.replay("duck")
        with pytest.raises(OSError, match="no room"):
            bench.views.past(Past(4))
        assert bench.rows("SELECT text FROM experiences ORDER BY 1") == [{"text": "one"}, {"text": "two"}]
    assert generations(bench) == before
    assert not list(bench.duck.glob("past-*"))
    bench.views.replay("duck")
    assert bench.views.sql("SELECT text FROM experiences", past=Past(4)).table.to_pylist() == [
        {"text": "one"}
    ]


def test_a_full_disk_keeps_no_answer_back_and_shows_nothing_forgotten(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = bench.say("needle")
    bench.views.catch_up(publish=True)
    bench.tombstone("forget", one.id)

    def full(source: Path, target: Path) -> None:
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(generations_module, "copy_file", full)
    assert bench.rows("SELECT text FROM experiences") == []
    assert generations(bench) == []
    assert not (bench.duck / "copy.duckdb").exists()


def test_forgetting_publishes(bench: Any) -> None:
    (one, *_) = bench.say(*map(str, range(97)))
    bench.views.catch_up()
    bench.tombstone("forget", one.id)
    bench.views.catch_up()
    (name,) = generations(bench)
    assert name.startswith("gen-000000000101-")


def files_with(folder: Path, needle: bytes) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and needle in path.read_bytes())


def test_purging_leaves_no_byte(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from braid.views.duck import projection as duck

    monkeypatch.setitem(duck.CONFIG, "force_compression", "uncompressed")
    (one,) = bench.say("needle-in-the-hay " * 20, once="needle-key")
    (two,) = bench.say("two")
    bench.views.catch_up(publish=True)
    assert len(files_with(bench.path / "views", b"needle-in-the-hay")) == 2
    old = (bench.path / "views" / "catalog.sqlite").read_bytes()
    bench.tombstone("erase", one.id)
    files = bench.views.purge()
    assert set(files) >= {"views/duck/work.duckdb", "views/catalog.sqlite"}
    assert len([name for name in files if "gen-" in name]) == 2  # the one removed, the one made
    assert files_with(bench.path / "views", b"needle") == []
    assert (bench.path / "views" / "catalog.sqlite").read_bytes() != old
    assert bench.rows("SELECT text FROM experiences") == [{"text": "two"}]
    assert bench.views.catch_up()[0].rebuilt is None
    assert two.index in {row["log_index"] for row in bench.rows("SELECT log_index FROM experiences")}


def test_purging_without_room_removes_everything(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = bench.say("needle-in-the-hay " * 20)
    bench.views.catch_up()
    bench.tombstone("erase", one.id)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store_module, "catch_up", full)
    monkeypatch.setattr(type(bench.views.catalog), "catch_up", full)
    files = bench.views.purge()
    assert "views/duck/work.duckdb" in files
    assert "views/catalog.sqlite" in files
    assert not list((bench.path / "views").rglob("*.duckdb*"))
    assert not list((bench.path / "views").rglob("*.sqlite*"))
    monkeypatch.undo()


def test_purging_what_was_never_made_makes_nothing(bench: Any) -> None:
    (one,) = bench.say("needle")
    bench.tombstone("erase", one.id)
    assert bench.views.purge() == []
    assert not list((bench.path / "views").rglob("*.duckdb*"))


KILLED = """
import sys
from pathlib import Path
from braid.ledger.read.reader import Reader
from braid.views.store import Views
path = Path(sys.argv[1])
Views(path / "views", Reader(path)).catch_up(publish=True)
"""


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    "step",
    [
        "views.commit",
        "views.commit.done",
        "views.swap",
        "views.swap.done",
        "views.current",
        "views.catalog.commit",
    ],
)
def test_a_killed_owner_leaves_what_the_next_can_use(
    bench: Any, step: str, monkeypatch: pytest.MonkeyPatch, warm_python: str
) -> None:
    bench.say("one")
    if step in ("views.commit", "views.commit.done"):  # a catch-up, not a rebuild
        bench.views.catch_up()
        bench.say("two")
    bench.close()
    monkeypatch.setenv("BRAID_KILL_AT", step)
    done = subprocess.run([warm_python, "-c", KILLED, str(bench.path)], check=False, timeout=120)
    assert done.returncode == -9
    monkeypatch.delenv("BRAID_KILL_AT")
    bench.reopen()
    bench.views.catch_up()
    caught = bench.contents()
    assert bench.views.check() == []
    bench.views.replay()
    assert bench.contents() == caught


def ask_often(path: str, times: int) -> None:
    reader = Reader(Path(path))
    views = Views(Path(path) / "views", reader)
    for _ in range(times):
        reader.refresh()
        try:
            answer = views.sql("SELECT count(*) AS n, max(log_index) AS last FROM transactions")
        except ViewBusyError:
            continue
        (row,) = answer.table.to_pylist()
        assert row["n"] >= 1
        assert row["last"] < answer.position
    views.close()
    reader.close()


@pytest.mark.soak
def test_processes_ask_while_another_writes(bench: Any) -> None:
    bench.say("one")
    bench.views.catch_up()
    context = multiprocessing.get_context("spawn")
    askers = [context.Process(target=ask_often, args=(str(bench.path), 15)) for _ in range(2)]
    for asker in askers:
        asker.start()
    for k in range(60):
        bench.say(*(f"{k} {n}" for n in range(5)))
        try:
            bench.views.catch_up(publish=k % 10 == 0, wait_s=30)
        except ViewBusyError:  # pragma: no cover - only on a very slow machine
            continue
    for asker in askers:
        asker.join(120)
        assert asker.exitcode == 0
    bench.views.catch_up(wait_s=30)
    assert bench.views.check() == []
