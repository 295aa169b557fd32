"""Files that may be thrown away: whatever became of one, the next act finds one that works, or an error says why."""

import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from braid.views.disposable import DisposableFile

SCHEMA = ("CREATE TABLE numbers (n INTEGER NOT NULL)", "CREATE INDEX by_n ON numbers (n)")


@pytest.fixture
def lost() -> list[str]:
    return []


@pytest.fixture
def file(tmp_path: Path, lost: list[str]) -> DisposableFile:
    return DisposableFile(
        tmp_path / "some.sqlite", SCHEMA, pragmas=("journal_mode = WAL",), on_loss=lambda: lost.append("lost")
    )


def add(file: DisposableFile, n: int) -> None:
    file.act(lambda con: con.execute("INSERT INTO numbers VALUES (?)", [n]))


def every(file: DisposableFile) -> list[int]:
    return file.act(lambda con: [row[0] for row in con.execute("SELECT n FROM numbers ORDER BY rowid")])


def test_it_is_made_at_the_first_act_for_its_owner_alone(file: DisposableFile, lost: list[str]) -> None:
    assert not file.exists()
    add(file, 1)
    assert file.exists()
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert (every(file), lost) == ([1], [])


def test_one_that_others_may_read_is_closed_to_them(file: DisposableFile) -> None:
    add(file, 1)
    file.path.chmod(0o644)
    assert every(file) == [1]
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def no_database(path: Path) -> None:
    path.write_bytes(b"no database, and longer than the header of one is" * 40)


def another_table(path: Path) -> None:
    with sqlite3.connect(path) as con:
        con.execute("CREATE TABLE theirs (n INTEGER)")
    con.close()


def another_release(path: Path) -> None:
    with sqlite3.connect(path) as con:
        con.execute("CREATE TABLE numbers (other TEXT)")
        con.execute("PRAGMA user_version = 7")
    con.close()


def of_a_newer_sqlite(path: Path) -> None:
    file = DisposableFile(path, SCHEMA)
    add(file, 7)
    content = bytearray(path.read_bytes())
    content[18] = 9
    path.write_bytes(content)


def without_a_table(path: Path) -> None:
    file = DisposableFile(path, SCHEMA)
    add(file, 7)
    file.act(lambda con: con.execute("DROP TABLE numbers"))


@pytest.mark.parametrize(
    "spoil", [no_database, another_table, another_release, of_a_newer_sqlite, without_a_table]
)
def test_what_is_no_such_file_is_begun_again(
    file: DisposableFile, lost: list[str], spoil: Callable[[Path], None]
) -> None:
    spoil(file.path)
    add(file, 1)
    assert (every(file), lost) == ([1], ["lost"])


def test_an_empty_one_is_made_and_nothing_was_lost(file: DisposableFile, lost: list[str]) -> None:
    file.path.touch()
    add(file, 1)
    assert (every(file), lost) == ([1], [])


def test_damage_that_shows_within_an_act_costs_what_was_there_and_not_the_act(
    file: DisposableFile, lost: list[str]
) -> None:
    file.act(lambda con: con.executemany("INSERT INTO numbers VALUES (?)", [(n,) for n in range(5_000)]))
    with sqlite3.connect(file.path) as con:
        con.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    con.close()
    content = file.path.read_bytes()
    file.path.write_bytes(content[:4_096] + b"\xff" * (len(content) - 4_096))
    add(file, 1)
    assert (every(file), lost) == ([1], ["lost"])


def test_an_act_that_fails_changes_nothing(file: DisposableFile, lost: list[str]) -> None:
    def half(con: sqlite3.Connection) -> None:
        con.execute("INSERT INTO numbers VALUES (1)")
        con.execute("INSERT INTO numbers VALUES (NULL)")

    with pytest.raises(sqlite3.IntegrityError):
        file.act(half)
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        file.act(lambda con: con.execute("SELECT * FROM absent"))
    assert (every(file), lost) == ([], [])


def test_a_link_is_not_followed(file: DisposableFile, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    file.path.symlink_to(elsewhere)
    with pytest.raises(OSError, match="is a link"):
        add(file, 1)
    assert elsewhere.read_text() == "mine"
    file.path.unlink()
    file.path.mkdir()
    with pytest.raises(OSError, match="a folder"):
        add(file, 1)


def test_many_at_once_make_one(file: DisposableFile, lost: list[str]) -> None:
    threads = [Thread(target=add, args=(file, n)) for n in range(12)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert (sorted(every(file)), lost) == (list(range(12)), [])


def test_one_that_is_held_is_waited_for_and_then_said(tmp_path: Path) -> None:
    file = DisposableFile(tmp_path / "some.sqlite", SCHEMA, busy_s=0.05)
    add(file, 1)
    with file.changing(), pytest.raises(sqlite3.OperationalError, match="locked"):
        add(file, 2)
    add(file, 3)
    assert every(file) == [1, 3]


def test_a_file_thrown_away_is_made_again(file: DisposableFile) -> None:
    add(file, 1)
    file.drop()
    assert [path for path in file.path.parent.iterdir() if path.name.startswith("some")] == []
    assert every(file) == []
