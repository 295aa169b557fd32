"""Two copies of a store: one is written, the other is read on with a word, a note says which goes on (SPEC §6)."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import braid
from braid.ledger.audit.verify import verify
from braid.ledger.errors import BackupError, GuardError, KeyRefusedError, RollbackError
from braid.ledger.publish.offer import OfferedStore
from braid.ledger.read.reader import Reader
from braid.ledger.settings import load_settings
from braid.ledger.tree.guard import Guard
from braid.ledger.write.writer import Writer
from braid.wal import failpoint


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    failpoint.arm(None)


@pytest.fixture
def copy(store: Path, tmp_path: Path) -> Path:
    """A copy of the store, written once since: the guard remembers it."""
    with braid.open(store) as opened:
        opened.append("before")
    shutil.copytree(store, tmp_path / "copy")
    with braid.open(tmp_path / "copy") as opened:
        opened.append("in the copy")
    return tmp_path / "copy"


def texts(store: Path) -> list[str]:
    with closing(Reader(store)) as reader:
        return [
            entry.record.text
            for batch in reader.entries()
            for entry in batch
            if entry.record.kind == "experience"
        ]


def test_the_original_is_read_on_and_says_so(store: Path, copy: Path) -> None:
    with pytest.warns(braid.OtherCopyWarning, match=r"older copy of the store.*braid fork REASON"):
        opened = braid.open(store, read_only=True)
    with opened:
        assert [one.text for one in opened.read() if one.kind == "experience"] == ["before"]
        assert opened.sql("SELECT text FROM experiences").to_pylist() == [{"text": "before"}]
        assert "older copy" in str(opened.status().contradiction)
        with pytest.raises(RollbackError):
            opened.backup(store.parent / "backup")
        with pytest.raises(RollbackError):
            opened.snapshot()
        with pytest.raises(RollbackError):
            OfferedStore(opened.reader).fetch("checkpoint")
    with pytest.raises(RollbackError, match="braid fork REASON"):
        braid.open(store)
    with braid.open(copy) as opened:
        opened.append("more in the copy")


def test_a_reader_that_is_open_goes_on_when_the_copy_is_written(store: Path, tmp_path: Path) -> None:
    with braid.open(store) as opened:
        opened.append("before")
    shutil.copytree(store, tmp_path / "copy")
    with closing(Reader(store)) as reader:
        assert reader.contradiction == ""
        with braid.open(tmp_path / "copy") as opened:
            opened.append("in the copy")
        assert reader.refresh() == 0
        assert "older copy" in reader.contradiction
        assert reader.at(3).text == "before"
        shutil.rmtree(tmp_path / "copy")
        braid.fork(store, reason="the copy was a test")
        reader.refresh()
        assert reader.contradiction == ""


def test_the_original_goes_on_with_a_signed_note_and_the_copy_is_then_read(store: Path, copy: Path) -> None:
    head = Guard.of_store(load_settings(store).store_id).read()
    assert head
    done = braid.fork(store, reason="the copy was a test")
    assert (done.size, done.seen) == (4, 5)
    with braid.open(store) as opened:
        opened.append("goes on")
        note = opened.get(done.note)
        assert (note.kind, note.body.reason) == ("event", "the copy was a test")
        assert note.envelope.public["seen"] == {"size": head.size, "root": head.root}
    assert texts(store) == ["before", "goes on"]
    assert texts(copy) == ["before", "in the copy"]
    with pytest.raises(RollbackError, match="older copy"):
        Writer(copy)
    assert verify(store, workers=1).exit_code == 0
    assert not list(store.glob(".fork-guard*"))
    braid.fork(copy, reason="no, the copy after all")  # and back again
    with braid.open(copy) as opened:
        opened.append("the copy goes on")
    with pytest.raises(RollbackError):
        Writer(store)


def test_dying_on_the_way_it_can_be_decided_again(store: Path, copy: Path) -> None:
    def die(name: str) -> None:
        if name == "fork.noted":
            raise KeyboardInterrupt

    failpoint.arm(die)
    with pytest.raises(KeyboardInterrupt):
        braid.fork(store, reason="first try")
    failpoint.arm(None)
    with braid.open(copy) as opened:  # nothing was decided
        opened.append("still goes on")
    with closing(Reader(store)) as reader:
        assert reader.contradiction
    braid.fork(store, reason="second try")
    with braid.open(store) as opened:
        assert opened.sql("SELECT reason FROM events WHERE name = 'fork'").num_rows == 2
    assert verify(store, workers=1).exit_code == 0


def test_where_nothing_is_to_be_decided_it_is_refused(store: Path, copy: Path) -> None:
    with pytest.raises(BackupError, match="there is no fork to note"):
        braid.fork(copy, reason="why not")
    with pytest.raises(ValueError, match="say why"):
        braid.fork(store, reason=" ")
    guard = Guard.of_store(load_settings(store).store_id)
    kept = guard.path.read_bytes()
    for key in (store / "keys").glob("operator-*.key"):
        key.unlink()
    with pytest.raises(KeyRefusedError, match="the note of a fork is signed"):
        braid.fork(store, reason="without its key")
    assert guard.path.read_bytes() == kept
    guard.path.write_bytes(b"harmed")
    with pytest.raises(GuardError):
        braid.fork(store, reason="a guard that can't be read")


def test_what_the_copy_erased_is_not_read_in_the_original(store: Path, tmp_path: Path) -> None:
    """Its vault would bring it back: until the newest is brought there it can't even be read."""
    with braid.open(store) as opened:
        id = opened.append("to be erased")
        opened.append("a straw")
    shutil.copytree(store, tmp_path / "copy")
    with braid.open(tmp_path / "copy") as opened:
        opened.erase(id)
    for asked in (lambda: Reader(store), lambda: braid.fork(store, reason="the copy was a test")):
        with pytest.raises(RollbackError, match="older vault would bring erased memories back"):
            asked()
