"""Opening: what the guard, the vault, the checkpoint and the lock refuse, and what is adopted (SPEC §6, §7, §8)."""

import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from blake3 import blake3

from braid.ledger.audit.verify import verify
from braid.ledger.erase import cascade as cascades
from braid.ledger.erase import erasure
from braid.ledger.errors import (
    ErasedError,
    GuardError,
    IntegrityError,
    KeyRefusedError,
    LedgerError,
    NoteError,
    NoVaultError,
    RollbackError,
    StoreFormatError,
    UnknownRecordError,
    VaultStoreMismatchError,
)
from braid.ledger.read.reader import Reader
from braid.ledger.read.signatory import operator
from braid.ledger.record.envelope import unwrap, wrap
from braid.ledger.record.record import Content, Draft, ExperienceBody
from braid.ledger.settings import load_settings
from braid.ledger.tree.guard import Guard, Head
from braid.ledger.tree.merkle import leaf_hash, range_root
from braid.ledger.tree.proof import check_proof
from braid.ledger.write import writer as writers
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import Writer
from braid.wal import failpoint
from braid.wal.errors import LogFormatError, LogLockedError, WalError
from braid.wal.frame import encode_frame
from braid.wal.lock import FileLock
from braid.wal.segment import encode_segment_header

Drop = Callable[[Writer], None]


def memory(text: str, *links: tuple[str, str], type: str = "occurrence") -> Draft:
    """Return an experience that says `text`."""
    return Draft(kind="experience", type=type, body=ExperienceBody(content=Content(text=text)), links=links)


def remember(store: Path, *texts: str) -> list[str]:
    """Open, append each text as a transaction, close; return the ids."""
    with closing(Writer(store)) as writer:
        return [writer.append([memory(text)])[0].id for text in texts]


def texts(store: Path) -> list[str]:
    """Return the text of each memory that a new reader finds."""
    with closing(Reader(store)) as reader:
        return said(reader)


def said(reader: Reader) -> list[str]:
    """Return the text of each memory that can be read."""
    return [
        entry.record.text
        for batch in reader.entries()
        for entry in batch
        if entry.record.kind == "experience" and entry.record.raw is not None
    ]


def guard_of(store: Path) -> Guard:
    """Return the store's guard."""
    return Guard.of_store(load_settings(store).store_id)


def head_of(store: Path) -> Head:
    """Return the remembered head."""
    head = guard_of(store).read()
    assert head
    return head


def only_read(store: Path) -> str:
    """Read all of a copy that the guard contradicts; return how it does. Nothing is signed for it."""
    with closing(Reader(store)) as reader:
        assert said(reader)
        with pytest.raises(RollbackError):
            operator(reader, "anything")
        return reader.contradiction


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    """Leave no failpoint armed behind."""
    yield
    failpoint.arm(None)


# -- the guard ------------------------------------------------------------------------------------


def test_without_its_guard_a_store_is_read_but_not_written(store: Path, drop: Drop) -> None:
    remember(store, "a")
    writer = Writer(store)
    writer.append([memory("b")])
    drop(writer)
    segment = store / "log" / "000000000000.seg"
    with segment.open("ab") as file:
        file.write(b"BRF1 torn")
    torn = segment.read_bytes()
    guard_of(store).path.unlink()
    with pytest.raises(GuardError, match=r"\.guard is missing.*--adopt"):
        Writer(store)
    assert segment.read_bytes() == torn  # a refusal changes nothing
    with closing(Reader(store)) as reader:
        assert reader.guarded is None
        assert said(reader) == ["a", "b"]
    with closing(Writer(store, adopt=True)) as writer:
        assert writer.torn
        writer.append([memory("c")])
    assert head_of(store).size == 6
    assert texts(store) == ["a", "b", "c"]


@pytest.mark.parametrize("stands", ["a file as the folder", "a folder as the guard"])
def test_a_guard_that_can_not_be_read_names_the_way_out(
    store: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stands: str
) -> None:
    """Who reads only "not a directory" doesn't know what that folder is for."""
    monkeypatch.setenv("BRAID_GUARD_DIR", str(tmp_path / "guards of another"))
    path = guard_of(store).path
    if stands == "a folder as the guard":
        path.mkdir(parents=True)
    else:
        path.parent.write_text("mine")
    for opening in (Reader, Writer):
        with pytest.raises(OSError, match="the fork guard is kept there: BRAID_GUARD_DIR names") as told:
            opening(store)
        assert told.value.filename == str(path)
    assert "BRAID_GUARD_DIR names another folder" in verify(store).could_not_look[0]


def test_a_damaged_guard_is_refused_and_named(store: Path) -> None:
    path = guard_of(store).path
    whole = path.read_bytes()
    for harmed in (b"", b"{}", whole[:-1], whole.replace(b"size", b"sice")):
        path.write_bytes(harmed)
        for opening in (Reader, Writer):
            with pytest.raises(GuardError, match=re.escape(str(path))):
                opening(store)
    text = b'{"new":"form"}'
    path.write_bytes(text + b"\nblake3 " + blake3(text).hexdigest().encode() + b"\n")
    with pytest.raises(GuardError, match="not one of this release"):
        Reader(store)


def test_an_older_copy_of_the_whole_store_is_refused(store: Path, tmp_path: Path) -> None:
    remember(store, "a")
    shutil.copytree(store, tmp_path / "backup")
    remember(store, "b")
    shutil.rmtree(store)
    (tmp_path / "backup").rename(store)
    how = r"ends at 4 records.*remembers 5.*older copy"
    with pytest.raises(RollbackError, match=how):
        Writer(store)
    assert re.search(how, only_read(store))
    lock = FileLock(store / "lock")
    lock.acquire()  # a refused opening gives the lock back
    lock.release()


def test_an_older_log_under_the_newest_head_is_refused(store: Path, tmp_path: Path) -> None:
    remember(store, "a")
    shutil.copytree(store / "log", tmp_path / "log")
    remember(store, "b")
    shutil.rmtree(store / "log")
    (tmp_path / "log").rename(store / "log")
    for opening in (Reader, Writer):
        with pytest.raises((IntegrityError, WalError), match="covers 5"):
            opening(store)


def test_a_guard_that_is_behind_adopts_what_follows_from_it(store: Path) -> None:
    remember(store, "a")
    older = guard_of(store).path.read_bytes()
    remember(store, "b", "c")
    guard_of(store).path.write_bytes(older)
    assert texts(store) == ["a", "b", "c"]
    Writer(store).close()
    assert head_of(store).size == 6


def test_a_guard_that_is_ahead_of_the_published_head_is_caught_up_with(store: Path, drop: Drop) -> None:
    """Dying between the guard and the published head."""
    writer = Writer(store)
    writer.append([memory("a")])

    def die(name: str) -> None:
        if name == "tile.write":
            raise KeyboardInterrupt

    failpoint.arm(die)
    with pytest.raises(KeyboardInterrupt):
        writer.checkpoint()
    failpoint.arm(None)
    drop(writer)
    assert head_of(store).size == 4
    with closing(Reader(store)) as reader:
        assert (reader.published.size, reader.size) == (3, 4)
    with closing(Writer(store)) as writer:
        assert writer.published.size == 4
    assert texts(store) == ["a"]


def test_a_forked_store_is_refused(store: Path, tmp_path: Path) -> None:
    remember(store, "a")
    fork = tmp_path / "fork"
    shutil.copytree(store, fork)
    remember(store, "b")
    with pytest.raises(RollbackError):
        Writer(fork)
    remember(store, "c", "d")
    guard = guard_of(store).path
    kept = guard.read_bytes()
    guard.unlink()
    with closing(Writer(fork, adopt=True)) as writer:
        writer.append([memory("another b")])
        writer.append([memory("another c"), memory("another d"), memory("another e")])
    guard.write_bytes(kept)
    with pytest.raises(RollbackError, match="forked or replaced"):
        Writer(fork)
    assert "forked or replaced" in only_read(fork)
    assert texts(store) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_fork_that_published_nothing_is_refused_whatever_its_transactions(
    store: Path, tmp_path: Path, drop: Drop, count: int
) -> None:
    """The guarded size may fall into the middle of one of the fork's transactions."""
    fork = tmp_path / "fork"
    shutil.copytree(store, fork)
    remember(store, "a", "b")
    kept = guard_of(store).path.read_bytes()
    guard_of(store).path.unlink()
    writer = Writer(fork, adopt=True)
    writer.append([memory("another")])
    writer.append([memory("another")] * count)
    drop(writer)
    guard_of(store).path.write_bytes(kept)
    with pytest.raises(RollbackError, match="contradicts the head of size 5"):
        Writer(fork)
    assert "contradicts the head of size 5" in only_read(fork)
    assert texts(store) == ["a", "b"]


def test_a_guard_of_another_key_or_origin_is_refused(store: Path, tmp_path: Path) -> None:
    create_store(tmp_path / "other", now=datetime.now(UTC))
    head, other = head_of(store), head_of(tmp_path / "other")
    guard_of(store).write(msgspec.structs.replace(head, vkey=other.vkey))
    with pytest.raises(NoteError, match="checkpoint"):
        Reader(store)
    guard_of(store).write(msgspec.structs.replace(head, origin="example.org/another"))
    with pytest.raises(RollbackError, match=r"example\.org/another"):
        Reader(store)
    guard_of(store).write(msgspec.structs.replace(head, root=other.root))
    with pytest.raises(RollbackError, match="contradicts"):
        Writer(store)


def test_a_store_under_another_identity_is_refused(store: Path) -> None:
    """A store id that agrees with itself everywhere but in genesis would find no guard and be believed."""
    remember(store, "a")
    other = "a" * 16
    path = store / "store.json"
    path.write_text(
        path.read_text().replace(f'"store_id": "{load_settings(store).store_id}"', f'"store_id": "{other}"')
    )
    segment = store / "log" / "000000000000.seg"
    segment.write_bytes(encode_segment_header(0, other) + segment.read_bytes()[64:])
    with pytest.raises(IntegrityError, match="genesis"):
        Reader(store)


def test_no_store_is_not_an_empty_store(tmp_path: Path) -> None:
    for opening in (Reader, Writer):
        with pytest.raises(FileNotFoundError, match="braid init"):
            opening(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_a_new_store_never_replaces_anything(store: Path, tmp_path: Path) -> None:
    with pytest.raises(FileExistsError, match="not empty"):
        create_store(store, now=datetime.now(UTC))
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileExistsError):
        create_store(tmp_path / "file", now=datetime.now(UTC))
    (tmp_path / "empty").mkdir()
    create_store(tmp_path / "empty", now=datetime.now(UTC))
    for origin in ("", "with space", "with+plus", 'with"quote', "back\\slash", "x" * 256):
        if origin:
            with pytest.raises(ValueError, match="origin"):
                create_store(tmp_path / "bad", now=datetime.now(UTC), origin=origin)
    with pytest.raises(ValueError, match="retention"):
        create_store(tmp_path / "bad", now=datetime.now(UTC), retention_days=-1)
    with pytest.raises(ValueError, match="the retention window is 0 to 36,525 days, not 36,526"):
        create_store(tmp_path / "bad", now=datetime.now(UTC), retention_days=36_526)
    create_store(tmp_path / "good", now=datetime.now(UTC), retention_days=36_525)
    with closing(Writer(tmp_path / "good")) as writer:
        id = writer.append([memory("a century")])[0].id
        erasure.forget(writer, [id])
        assert erasure.retain(writer, datetime.now(UTC), list) == []
        assert erasure.recover(writer, [id], datetime.now(UTC))
    assert not (tmp_path / "bad").exists()


# -- the vault ------------------------------------------------------------------------------------


def test_an_older_vault_is_refused(store: Path) -> None:
    (id,) = remember(store, "a")
    older = (store / "vault").read_bytes()
    with closing(Writer(store)) as writer:
        erasure.erase(writer, cascades.plan(writer, [writer.index_of(id)]), list)
    newest = (store / "vault").read_bytes()
    (store / "vault").write_bytes(older)
    for opening in (Reader, Writer):
        with pytest.raises(RollbackError, match=r"vault.*epoch 0.*bring erased memories back"):
            opening(store)
    (store / "vault").write_bytes(newest)
    assert texts(store) == []


def test_without_its_vault_a_store_is_an_auditors_copy(store: Path) -> None:
    (id,) = remember(store, "a")
    (store / "vault").unlink()
    with closing(Reader(store)) as reader:
        record = reader.get(id)
        assert record.raw is None
        assert record.envelope.id == id
        with pytest.raises(ValueError, match="no vault"):
            _ = record.body
        assert reader.prove(record.index)
        assert [entry.row_key for batch in reader.entries() for entry in batch] == [None] * 4
    with pytest.raises(NoVaultError, match="auditor's copy"):
        Writer(store)


def test_the_vault_of_another_store_is_refused(store: Path, tmp_path: Path) -> None:
    create_store(tmp_path / "other", now=datetime.now(UTC))
    (store / "vault").write_bytes((tmp_path / "other" / "vault").read_bytes())
    for opening in (Reader, Writer):
        with pytest.raises(VaultStoreMismatchError):
            opening(store)


def test_a_vault_on_another_disk_and_under_a_passphrase(tmp_path: Path) -> None:
    create_store(
        tmp_path / "memory", now=datetime.now(UTC), vault=tmp_path / "safe" / "v", passphrase="x y z"
    )
    with closing(Writer(tmp_path / "memory", passphrase="x y z")) as writer:
        writer.append([memory("a")])
    assert not (tmp_path / "memory" / "vault").exists()
    with closing(Reader(tmp_path / "memory", passphrase="x y z")) as reader:
        assert said(reader) == ["a"]
    with pytest.raises(LedgerError, match="passphrase"):
        Reader(tmp_path / "memory")


def test_a_failed_creation_leaves_no_vault_elsewhere(tmp_path: Path) -> None:
    """The next attempt would find it, and a vault is never overwritten."""

    def full(name: str) -> None:
        if name == "settings.write":
            raise OSError(28, "No space left on device")

    failpoint.arm(full)
    with pytest.raises(OSError, match="No space left"):
        create_store(tmp_path / "memory", now=datetime.now(UTC), vault=tmp_path / "safe" / "v")
    failpoint.arm(None)
    assert not (tmp_path / "memory").exists()
    create_store(tmp_path / "memory", now=datetime.now(UTC), vault=tmp_path / "safe" / "v")


# -- keys, formats, permissions -------------------------------------------------------------------


def test_without_the_logs_key_a_store_can_only_be_read(store: Path, tmp_path: Path) -> None:
    key = store / "keys" / "log.key"
    whole = key.read_bytes()
    key.unlink()
    with pytest.raises(KeyRefusedError, match="lacks the private half"):
        Writer(store)
    key.write_bytes(whole[:20])
    with pytest.raises(KeyRefusedError, match=r"log\.key"):
        Writer(store)
    create_store(tmp_path / "other", now=datetime.now(UTC), origin=load_settings(store).origin)
    key.write_bytes((tmp_path / "other" / "keys" / "log.key").read_bytes())
    with pytest.raises(KeyRefusedError, match="lacks the private half"):
        Writer(store)
    assert texts(store) == []
    key.write_bytes(whole)
    Writer(store).close()


def test_newer_formats_are_refused_by_name(store: Path) -> None:
    path = store / "store.json"
    text = path.read_text()
    path.write_text(text.replace('"format": 1', '"format": 2'))
    for opening in (Reader, Writer):
        with pytest.raises(StoreFormatError, match=r"format 2.*upgrade"):
            opening(store)
    path.write_text(text)
    segment = store / "log" / "000000000000.seg"
    data = bytearray(segment.read_bytes())
    data[8] = 2
    data[48:64] = blake3(data[:48]).digest(length=16)
    segment.write_bytes(data)
    with pytest.raises(LogFormatError, match="format 2"):
        Reader(store)


def test_damaged_settings_are_refused_by_name(store: Path) -> None:
    for text in ("", "{", "[]", '{"format":1}', '{"format":"one"}'):
        (store / "store.json").write_text(text)
        with pytest.raises(StoreFormatError, match=r"store\.json"):
            Reader(store)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make a store read-only for a while; skip where that can't be done."""
    if os.geteuid():
        (folder / "lock").chmod(0o400)
        folder.chmod(0o500)
        yield
        folder.chmod(0o700)
        (folder / "lock").chmod(0o600)
        return
    try:  # nothing is read-only to root but a mount
        subprocess.run(["mount", "--bind", folder, folder], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"can't mount here: {error}")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True, capture_output=True)
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_read_only_folder_is_read_but_not_written(store: Path) -> None:
    remember(store, "a")
    with read_only(store):
        assert texts(store) == ["a"]
        with pytest.raises(OSError, match=r"Read-only|Permission"):
            Writer(store)
    remember(store, "b")


# -- readers beside a writer ----------------------------------------------------------------------


def test_a_reader_beside_a_writer_sees_what_is_acknowledged(store: Path) -> None:
    with closing(Writer(store)) as writer, closing(Reader(store)) as lasting:
        for number in range(5):
            id = writer.append([memory(str(number)), memory("twin")])[0].id
            assert lasting.refresh() == 2
            assert lasting.get(id).text == str(number)
            with closing(Reader(store)) as fresh:
                assert fresh.size == writer.size == lasting.size
                assert fresh.get(id).text == str(number)
        assert lasting.published.size == 3
        with pytest.raises(ValueError, match="not under a published checkpoint"):
            lasting.prove(12)
        writer.checkpoint()
        assert lasting.refresh() == 0
        assert lasting.prove(12)
        assert lasting.refresh() == 0


def test_a_reader_that_lags_behind_an_erasure_catches_up(store: Path) -> None:
    """It meets blanked bodies before the tombstone that makes them lawful."""
    with closing(Writer(store)) as writer, closing(Reader(store)) as lagging:
        id = writer.append([memory("the needle")])[0].id
        other = writer.append([memory("a straw")])[0].id
        erasure.erase(writer, cascades.plan(writer, [writer.index_of(id)]), list)
        writer.append([memory("behind")])
        assert lagging.refresh() == 5
        with pytest.raises(ErasedError):
            lagging.get(id)
        assert lagging.get(other).text == "a straw"
        assert said(lagging) == ["a straw", "behind"]


def test_a_reader_that_lags_behind_a_compaction_catches_up(store: Path) -> None:
    with closing(Writer(store)) as writer:
        first = writer.append([memory("first")])[0].id
        needle = writer.append([memory("the needle")])[0].id
        with closing(Reader(store)) as early, closing(Reader(store)) as looking:
            late = writer.append([memory("late")])[0].id
            assert looking.refresh() == 1
            erasure.erase(writer, cascades.plan(writer, [writer.index_of(needle)]), list)
            assert erasure.compact(writer) > 0
            assert looking.get(first).text == "first"
            assert looking.get(late).text == "late"
            writer.append([memory("behind")])
            for reader in (early, looking):
                reader.refresh()
                assert said(reader) == ["first", "late", "behind"]
                assert reader.get(first).text == "first"
                assert reader.get(late).text == "late"
                with pytest.raises(ErasedError):
                    reader.get(needle)


def test_an_erased_memory_is_gone_from_readers_that_were_open(store: Path) -> None:
    (id,) = remember(store, "the needle")
    with closing(Reader(store)) as reader, closing(Writer(store)) as writer:
        assert reader.get(id).text == "the needle"
        erasure.erase(writer, cascades.plan(writer, [3]), list)
        with pytest.raises(LedgerError):  # not refreshed: the bytes are not what was signed
            reader.get(id)
        reader.refresh()
        with pytest.raises(ErasedError):
            reader.get(id)
        assert reader.vault
        assert reader.vault.is_erased(3)
        assert said(reader) == []


def test_a_reader_that_refused_a_record_goes_on_refusing(store: Path, drop: Drop) -> None:
    remember(store, "a")
    writer = Writer(store)
    reader = Reader(store)
    writer.append([memory("b")])
    writer.append([memory("c")])
    drop(writer)
    segment = store / "log" / "000000000000.seg"
    data = bytearray(segment.read_bytes())
    frames = list(reader.log.segments[0].frames(64))
    # a whole frame whose signature does not hold: what only a forger could write
    stored = next(frames[-2].records())
    payload, signature = unwrap(stored.envelope)
    forged = stored._replace(envelope=wrap(payload, signature[:-1] + bytes([signature[-1] ^ 1])))
    header = frames[-2].header
    pieces = b"".join(encode_frame(header.first, header.tx, header.group, [forged]))
    data[frames[-2].offset : frames[-2].offset + len(pieces)] = pieces
    segment.write_bytes(data)
    for _ in range(3):
        with pytest.raises(LedgerError):
            reader.refresh()
        assert reader.size == 4
    reader.close()


# -- heads ----------------------------------------------------------------------------------------


def published_sizes(store: Path) -> list[int]:
    """Return the sizes of all heads that were ever published, in order."""
    origin = re.escape(load_settings(store).origin)
    return [
        int(size) for size in re.findall(rf"^{origin}\n(\d+)\n", (store / "checkpoints").read_text(), re.M)
    ]


def test_a_head_is_published_every_thousand_records_and_at_close(store: Path) -> None:
    with closing(Writer(store)) as writer:
        for _ in range(26):
            writer.append([memory("x")] * 100)
            assert writer.size - writer.published.size < 1_000 + 100
        assert writer.published.size < writer.size == 2_603
    sizes = published_sizes(store)
    assert sizes[-1] == 2_603
    assert all(0 <= later - earlier <= 1_100 for earlier, later in pairwise(sizes))
    assert head_of(store).size == 2_603
    with closing(Reader(store)) as reader:
        assert reader.published.size == reader.size == 2_603


def test_a_head_is_published_in_time_while_nobody_calls(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writers, "CHECKPOINT_S", 0.04)
    with closing(Writer(store)) as writer:
        writer.append([memory("x")])
        deadline = time.monotonic() + 30
        while writer.published.size < 4 and time.monotonic() < deadline:
            time.sleep(0.005)
        assert head_of(store).size == 4
        assert writer.trouble is None


@pytest.mark.parametrize("durability", ["interval", "none"])
def test_what_is_not_synced_is_never_signed(tmp_path: Path, durability: str) -> None:
    create_store(tmp_path / "memory", now=datetime.now(UTC), durability=durability)  # type: ignore[arg-type]
    passed: list[str] = []
    failpoint.arm(passed.append)
    with closing(Writer(tmp_path / "memory")) as writer:
        passed.clear()
        writer.append([memory("x")])
        assert "wal.write.done" in passed
        assert writer.log.synced <= writer.size
        writer.checkpoint()
        assert passed.index("wal.sync.done") < passed.index("guard.write")
        assert head_of(tmp_path / "memory").size == writer.log.synced == 5


# -- several writers ------------------------------------------------------------------------------


def test_a_second_writer_is_refused_and_told_why(store: Path) -> None:
    with closing(Writer(store)):
        refused = f"{re.escape(str(store))} is open for writing already in this process"
        with pytest.raises(LogLockedError, match=refused):
            Writer(store)
        with pytest.raises(LogLockedError, match=r"waited 0\.01 s"):
            Writer(store, shared=True, wait_s=0.01)
    Writer(store).close()


def test_an_append_that_found_the_store_locked_leaves_nothing_behind(store: Path) -> None:
    """Told that it failed, a caller will repeat it: the first attempt must not come true later."""
    with closing(Writer(store, shared=True, wait_s=0.01)) as writer:
        lock = FileLock(store / "lock")
        lock.acquire()
        with pytest.raises(LogLockedError):
            writer.append([memory("refused")])
        lock.release()
        writer.append([memory("kept")])
    assert texts(store) == ["kept"]


def test_the_same_key_twice_in_one_group_is_written_once(store: Path) -> None:
    with closing(Writer(store)) as writer:
        placed: list[object] = []
        threads = [
            threading.Thread(target=lambda: placed.extend(writer.append([memory("once")], keys=["k"])))
            for _ in range(4)
        ]
        with writer._commit:  # all four must wait, and then are one group
            for thread in threads:
                thread.start()
            while len(writer._queue) < 4:
                time.sleep(0.001)
        for thread in threads:
            thread.join()
        assert len({getattr(one, "id") for one in placed}) == 1  # noqa: B009
        assert sorted(getattr(one, "known") for one in placed) == [False, True, True, True]  # noqa: B009
    assert texts(store) == ["once"]


def test_many_threads_share_writes_and_each_gets_its_own(store: Path) -> None:
    with closing(Writer(store)) as writer:
        placed: dict[str, str] = {}

        def work(name: int) -> None:
            for number in range(30):
                text = f"{name}-{number}"
                placed[writer.append([memory(text), memory("twin")])[0].id] = text

        threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(placed) == 180
        assert all(writer.get(id).text == text for id, text in placed.items())
    with closing(Reader(store)) as reader:
        assert reader.size == 3 + 2 * 180
        assert all(reader.get(id).text == text for id, text in placed.items())


def test_two_shared_handles_and_their_threads_write_one_log(store: Path) -> None:
    with (
        closing(Writer(store, shared=True, wait_s=60)) as one,
        closing(Writer(store, shared=True, wait_s=60)) as two,
    ):
        failures: list[BaseException] = []

        def work(writer: Writer, name: str) -> None:
            try:
                for number in range(20):
                    id = writer.append([memory(f"{name}-{number}")])[0].id
                    assert writer.get(id).text == f"{name}-{number}"
                    if number % 7 == 0:
                        writer.checkpoint()
            except BaseException as error:
                failures.append(error)

        threads = [
            threading.Thread(target=work, args=(writer, f"{which}{n}"))
            for which, writer in (("one", one), ("two", two))
            for n in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
    assert sorted(texts(store)) == sorted(
        f"{w}{n}-{k}" for w in ("one", "two") for n in range(2) for k in range(20)
    )


def test_a_shared_handle_follows_the_others_erasures(store: Path) -> None:
    with closing(Writer(store, shared=True)) as one, closing(Writer(store, shared=True)) as two:
        id = one.append([memory("the needle")])[0].id
        assert two.append([memory("a straw")])
        assert two.get(id).text == "the needle"
        erasure.erase(one, cascades.plan(one, [one.index_of(id)]), list)
        erasure.compact(one)
        two.append([memory("behind")])
        with pytest.raises(ErasedError):
            two.get(id)
        assert head_of(store).vault_epoch == 1
        two.checkpoint()
        assert head_of(store).vault_epoch == 1
        assert two.vault
        assert two.vault.is_erased(one.index_of(id))
    assert texts(store) == ["a straw", "behind"]


def test_a_shared_handle_that_saw_only_the_tombstone_keeps_the_vaults_epoch(store: Path, drop: Drop) -> None:
    """One handle dies between tombstone and key; another finishes; a third must not put the guard's epoch back."""
    dying, third = Writer(store, shared=True), Writer(store, shared=True)
    id = dying.append([memory("the needle")])[0].id

    def die(name: str) -> None:
        if name == "erase.announced":
            raise KeyboardInterrupt

    failpoint.arm(die)
    with pytest.raises(KeyboardInterrupt):
        erasure.erase(dying, cascades.plan(dying, [dying.index_of(id)]), list)
    failpoint.arm(None)
    drop(dying)
    third.append([memory("in between")])
    assert third.control.unfinished()
    with closing(Writer(store, shared=True)) as finishing:
        erasure.finish(finishing, list)
    assert head_of(store).vault_epoch == 1
    third.append([memory("behind")])
    third.checkpoint()
    assert head_of(store).vault_epoch == 1
    third.close()


def test_an_erasure_holds_the_lock_from_its_tombstone_to_its_certificate(store: Path) -> None:
    """Two processes that puncture one vault at once could bring keys back."""
    with closing(Writer(store, shared=True)) as writer:
        id = writer.append([memory("the needle")])[0].id
        held: list[str] = []

        def look(name: str) -> None:
            lock = FileLock(store / "lock")
            try:
                lock.acquire()
            except LogLockedError:
                return
            lock.release()
            held.append(name)

        failpoint.arm(look)
        erasure.erase(writer, cascades.plan(writer, [writer.index_of(id)]), list)
        erasure.compact(writer)
        failpoint.arm(None)
        assert set(held) <= {"erase.purged"}  # projections are rebuilt while others write


def test_an_interrupted_append_leaves_no_caller_without_an_outcome(store: Path) -> None:
    """Ctrl-C in the thread that writes for all: the others are told, none hangs."""
    with closing(Writer(store)) as writer:
        outcomes: list[object] = []

        def work() -> None:
            try:
                outcomes.append(writer.append([memory("x")]))
            except BaseException as error:
                outcomes.append(error)

        def interrupted(name: str) -> None:
            if name == "wal.write":
                failpoint.arm(None)
                raise KeyboardInterrupt

        failpoint.arm(interrupted)
        threads = [threading.Thread(target=work) for _ in range(3)]
        with writer._commit:
            for thread in threads:
                thread.start()
            while len(writer._queue) < 3:
                time.sleep(0.001)
        for thread in threads:
            thread.join(timeout=30)
        assert not any(thread.is_alive() for thread in threads)
        assert len(outcomes) == 3
        kept = sum(isinstance(outcome, list) for outcome in outcomes)
        writer.append([memory("y")])
    assert texts(store) == ["x"] * kept + ["y"]


def test_a_proof_holds_for_every_record_and_every_later_head(store: Path) -> None:
    remember(store, "a", "b", "c")
    with closing(Reader(store)) as reader:
        vkey = reader.vkey
        earlier = reader.prove(2), leaf_hash(reader.stored_envelope(2))
        for index in range(reader.size):
            check_proof(reader.prove(index), leaf_hash(reader.stored_envelope(index)), vkey)
    remember(store, "d", "e")
    check_proof(*earlier, vkey)
    with closing(Reader(store)) as reader:
        assert range_root(0, reader.size, reader.tree.subtree) == reader.published.root
        with pytest.raises(UnknownRecordError):
            reader.at(reader.size)
        with pytest.raises(UnknownRecordError):
            reader.at(-1)
