"""What bears no seal is never answered from: a changed, swapped, older or foreign file is made anew (SPEC §10.12)."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from braid.ledger.read.reader import Reader
from braid.views.duck import seal, sql
from braid.views.duck.past import Past
from braid.views.duck.seal import Seals, seal_of
from braid.views.errors import UnsealedError, ViewError
from braid.views.store import Views
from braid.wal.lock import FileLock

ASKED = "SELECT text FROM experiences ORDER BY log_index"


def told(views: Views, past: Past | None = None) -> list[str]:
    return [row["text"] for row in views.sql(ASKED, past=past).table.to_pylist()]


def edit(path: Path) -> None:
    """Change a text, and give the file its times back."""
    times = path.stat()
    with duckdb.connect(path) as con:
        con.execute("UPDATE experiences SET text = 'a lie' WHERE text = 'one'")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.mark.sample(2)
@pytest.mark.parametrize("reopened", [False, True], ids=["in process", "in another"])
def test_an_edited_working_file_is_made_anew_and_that_is_said_once(bench: Any, reopened: bool) -> None:
    bench.say("one", "two")
    assert told(bench.views) == ["one", "two"]
    edit(bench.work)
    if reopened:
        bench.reopen()
    answer = bench.views.sql(ASKED)
    assert answer.table["text"].to_pylist() == ["one", "two"]
    assert "bears no seal that fits it" in answer.rebuilt
    assert bench.views.sql(ASKED).rebuilt is None
    assert bench.views.check() == []


def test_a_file_as_it_was_left_is_not_made_anew(bench: Any) -> None:
    bench.say("one")
    assert told(bench.views) == ["one"]
    bench.say("two")
    assert told(bench.views) == ["one", "two"]
    inode = bench.work.stat().st_ino
    bench.reopen()
    answer = bench.views.sql(ASKED)
    assert (answer.rebuilt, bench.work.stat().st_ino) == (None, inode)


def test_a_file_whose_writer_died_goes_on_from_the_newest_generation(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [str(number) for number in range(40)]
    bench.say(*said)
    bench.views.catch_up(publish=True)
    monkeypatch.setattr(seal, "SHARE", 10**9)
    bench.say("three")
    bench.views.catch_up()
    bench.say("four")
    bench.views.catch_up()
    assert bench.views._seals.behind
    reader = Reader(bench.path)
    other = Views(bench.path / "views", reader)
    caught = other.catch_up()[0]
    assert "died first" in str(caught.rebuilt)
    assert caught.snapshot.startswith("gen-000000000043-")
    assert told(other) == told(bench.views) == [*said, "three", "four"]
    other.close()
    reader.close()


def swap_older(bench: Any, path: Path) -> None:
    """An older file of this very store, with its own seal: under this name, that seal is another's."""
    older = next(bench.duck.glob("gen-*.duckdb"))
    shutil.copy(older, path)
    shutil.copy(seal_of(older), seal_of(path))


def of_another_log(bench: Any, path: Path) -> None:
    """A file that this vault's holder made of a log that went another way: a copy of the store that was written to."""
    copy = bench.path.parent / "fork"
    shutil.copytree(bench.path, copy)
    from braid.ledger.write.writer import Writer
    from tests.unit.views.conftest import experience

    writer = Writer(copy)
    views = Views(copy / "views", writer)
    writer.append([experience("of the other")])
    views.catch_up(publish=True)
    views.close()
    writer.close()
    shutil.copy(copy / "views/duck/work.duckdb", path)
    shutil.copy(copy / "views/duck/seals/work.duckdb", seal_of(path))


@pytest.mark.sample(9)
@pytest.mark.parametrize(
    "change",
    [
        lambda bench, path: edit(path),
        lambda bench, path: seal_of(path).unlink(),
        lambda bench, path: seal_of(path).write_bytes(bytes(76)),
        swap_older,
        of_another_log,
        lambda bench, path: path.with_name(f"{path.name}.wal").write_bytes(b"\0" * 99),
        lambda bench, path: os.truncate(path, 20_000),
    ],
    ids=["edited", "seal gone", "seal of zeros", "older", "another log", "write-ahead file", "cut"],
)
def test_what_bears_no_seal_that_fits_is_not_believed(
    bench: Any, change: Callable[[Any, Path], None]
) -> None:
    bench.say("one")
    bench.views.catch_up(publish=True)
    bench.say("two")
    bench.views.catch_up()
    bench.views.close()
    change(bench, bench.work)
    bench.say("three")
    bench.reopen()
    assert told(bench.views) == ["one", "two", "three"]
    assert bench.views.check() == []


def test_an_edited_generation_is_not_read_by_who_waits_for_nobody(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from braid.views import store as store_module

    monkeypatch.setattr(store_module, "BUSY_WAIT_S", 0.05)
    bench.say("one")
    bench.views.catch_up(publish=True)
    reader = Reader(bench.path)
    other = Views(bench.path / "views", reader)
    owner = FileLock(bench.duck / "lock")
    owner.acquire()
    try:
        assert told(other) == ["one"]
        edit(next(bench.duck.glob("gen-*.duckdb")))
        with pytest.raises(ViewError, match="another process"):
            other.sql(ASKED)
    finally:
        owner.release()
        assert [one.message for one in other.check()] == ["it bears no seal that fits it: it was changed"]
        other.close()
        reader.close()


@pytest.mark.parametrize("reopened", [False, True], ids=["in process", "in another"])
def test_an_edited_past_is_made_anew(bench: Any, reopened: bool) -> None:
    bench.say("one")
    past = Past(bench.writer.size)
    bench.say("two")
    assert told(bench.views, past) == ["one"]
    edit(next(bench.duck.glob("past-*.duckdb")))
    if reopened:
        bench.reopen()
    assert [one.message for one in bench.views.check()] == ["it bears no seal that fits it: it was changed"]
    assert told(bench.views, past) == ["one"]


def test_a_past_is_not_made_from_an_edited_generation(bench: Any) -> None:
    bench.say("one")
    bench.say(*map(str, range(20)))
    size = bench.writer.size
    bench.say("two")
    bench.views.catch_up(publish=True)
    bench.views.close()
    edit(next(bench.duck.glob("gen-*.duckdb")))
    bench.reopen()
    assert "one" in told(bench.views, Past(size))


def test_a_file_that_is_swapped_while_it_is_asked_is_not_answered_from(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the seal and DuckDB's opening: the file that was looked at is the one that is read."""
    bench.say("one")
    bench.views.catch_up(publish=True)
    forged = bench.path.parent / "forged.duckdb"
    shutil.copy(bench.work, forged)
    edit(forged)
    real, swaps = sql.Sandbox.run, 0

    def run(self: Any, path: Path, **asked: Any) -> Any:
        nonlocal swaps
        swaps += 1
        if swaps == 1:
            shutil.copy(forged, forged.with_suffix(".copy"))
            forged.with_suffix(".copy").replace(bench.work)
        elif swaps == 2:
            with bench.work.open("r+b") as file:  # the very inode
                file.write(forged.read_bytes())
        return real(self, path, **asked)

    monkeypatch.setattr(sql.Sandbox, "run", run)
    assert told(bench.views) == ["one"]
    assert swaps == 3
    with pytest.raises(UnsealedError, match="while it was read"), bench.views.tables():
        os.truncate(bench.work, 20_000)


def test_without_a_vault_only_what_a_process_made_itself_is_believed(bench: Any, tmp_path: Path) -> None:
    bench.say("one")
    bench.writer.checkpoint()
    bench.views.catch_up(publish=True)
    copy = tmp_path / "copy"
    shutil.copytree(bench.path, copy, ignore=shutil.ignore_patterns("vault", "keys"))
    assert (copy / "views/duck/work.duckdb").exists()
    reader = Reader(copy)
    views = Views(copy / "views", reader)
    answer = views.sql("SELECT text, id FROM experiences")
    assert [row["text"] for row in answer.table.to_pylist()] == [None]
    assert "without a vault" in str(answer.rebuilt)
    assert views.sql(ASKED).rebuilt is None
    views.close()
    reader.close()


def test_sealing_takes_a_small_share_of_the_time(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("braid.views.duck.seal.time.monotonic", lambda: clock[0])
    sealed: list[float] = []

    def slow(self: Any, path: Path, position: int, **_: Any) -> None:
        sealed.append(clock[0])
        clock[0] += 0.037

    monkeypatch.setattr(Seals, "seal", slow)
    seals = Seals(bench.writer)
    file = bench.path.parent / "file"
    for _ in range(1_000):
        file.write_bytes(os.urandom(8))
        seals.closed(file, 3)
        clock[0] += 0.010
    assert 0.037 * len(sealed) <= clock[0] / 20 + 0.1
    assert seals.behind
    seals.settle()
    assert not seals.behind
