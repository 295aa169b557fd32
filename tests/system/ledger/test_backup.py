"""Backups and restores: what is copied, what is refused, and that nothing erased comes back."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

import braid
from braid.exchange.copies import export_store
from braid.ledger.audit.verify import verify
from braid.ledger.backup.backup import Backup, back_up, tile_of
from braid.ledger.backup.plan import NAME, BackupPlan, IncomingPiece, load
from braid.ledger.backup.restore import Restored, Secrets, restore
from braid.ledger.erase import cascade as cascades
from braid.ledger.erase import erasure as erasing
from braid.ledger.errors import BackupError, ErasedError, KeyRefusedError, RollbackError
from braid.ledger.keys.logkeys import load_log_key
from braid.ledger.keys.vault import Vault
from braid.ledger.read.blobs import BlobStore
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Content, Draft, ExperienceBody
from braid.ledger.settings import load_settings
from braid.ledger.tree.checkpoint import Checkpoint, sign_checkpoint
from braid.ledger.tree.guard import Guard
from braid.ledger.tree.tiles import tile_path, tiles_for_size
from braid.ledger.write.writer import Writer
from braid.wal import append as logs
from braid.wal import failpoint
from braid.wal.lock import FileLock

NOW = datetime(2026, 6, 3, tzinfo=UTC)


def memory(text: str, **how: Any) -> Draft:
    body = ExperienceBody(content=Content(text=text))
    return Draft(kind="experience", type="occurrence", body=body, **how)


def say(store: Path, *texts: str) -> list[str]:
    with closing(Writer(store)) as writer:
        return [str(one.id) for one in writer.append([memory(text) for text in texts])]


def erase(store: Path, *indexes: int) -> None:
    with closing(Writer(store)) as writer:
        erasing.erase(writer, cascades.plan(writer, indexes), list)


def backed_up(store: Path, folder: Path, **how: bool) -> Backup:
    with closing(Reader(store)) as reader:
        return back_up(reader, folder, now=NOW, **how)


def texts(store: Path) -> list[str]:
    with closing(Reader(store)) as reader:
        return [
            entry.record.text
            for batch in reader.entries()
            for entry in batch
            if entry.record.kind == "experience" and entry.record.raw is not None
        ]


def is_clean(store: Path, **how: Any) -> bool:
    report = verify(store, workers=1, guard=Guard(store / "none"), **how)
    return not report.findings and not report.could_not_look


def with_secrets(store: Path) -> Secrets:
    return Secrets(store / "vault", store / "keys")


def restored(source: Path, place: Path, secrets: Secrets | None = None, **how: Any) -> Restored:
    return restore(source, place, secrets=secrets, **how)


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    failpoint.arm(None)


# -- taking one -------------------------------------------------------------------------------------


def test_it_is_a_copy_that_verifies_and_holds_no_key_and_no_word(store: Path, tmp_path: Path) -> None:
    say(store, "xylophone-4711-quetzal")
    done = backed_up(store, tmp_path / "backup")
    assert (done.size, done.before, done.vault) == (4, 0, False)
    names = {str(path.relative_to(tmp_path / "backup")) for path in (tmp_path / "backup").rglob("*")}
    assert not any(name.startswith(("vault", "keys", "views", "incoming")) for name in names)
    assert all(
        b"xylophone" not in path.read_bytes() for path in (tmp_path / "backup").rglob("*") if path.is_file()
    )
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "backup").rglob("*"))
    assert is_clean(tmp_path / "backup")


def test_a_second_one_copies_only_what_is_new(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "SEGMENT_LIMIT", 60_000)
    with closing(Writer(store)) as writer:
        for first in range(0, 300, 50):
            writer.append([memory(f"straw {first + k}") for k in range(50)])
        BlobStore(store / "blobs", writable=False).put(b"media")
    assert len(list((store / "log").glob("*.seg"))) > 2
    whole = backed_up(store, tmp_path / "backup")
    assert whole.copied_bytes > 200_000
    untouched = {path: path.stat().st_ino for path in (tmp_path / "backup").rglob("*.seg")}
    assert backed_up(store, tmp_path / "backup").copied_bytes == 0
    say(store, "one more")
    more = backed_up(store, tmp_path / "backup")
    assert (more.before, more.size) == (303, 304)
    assert more.copied_bytes < 30_000
    assert {path: path.stat().st_ino for path in untouched} == untouched
    assert is_clean(tmp_path / "backup")
    partial = [path.name for path in (tmp_path / "backup" / "tile").rglob("*.p/*")]
    assert sorted(partial) == ["1", "48"]


def test_harm_to_the_history_of_heads_is_not_copied_and_heals_in_the_next_one(
    store: Path, tmp_path: Path
) -> None:
    backup = tmp_path / "backup"
    say(store, "one")
    say(store, "two")
    backed_up(store, backup)
    good = (backup / "checkpoints").read_bytes()
    for harmed in (store, backup):
        data = bytearray((harmed / "checkpoints").read_bytes())
        data[len(data) // 2] ^= 1
        (harmed / "checkpoints").write_bytes(data)
        assert not is_clean(harmed)
        if harmed is backup:
            (store / "checkpoints").write_bytes(good)
        backed_up(store, backup)
        assert (backup / "checkpoints").read_bytes() == good
        assert is_clean(backup)
    say(store, "three")
    backed_up(store, backup)
    assert (backup / "checkpoints").read_bytes() == (store / "checkpoints").read_bytes()


def test_a_head_that_the_store_states_beside_the_one_it_backs_up_goes_along(
    store: Path, tmp_path: Path
) -> None:
    """Signed, of the same size and with another root, it is evidence of a fork."""
    key = load_log_key(store)
    with closing(Reader(store)) as reader:
        fork = sign_checkpoint(Checkpoint(key.name, reader.size, bytes(32)), [key])
    with (store / "checkpoints").open("ab") as file:
        file.write(fork + b"\n")
    backed_up(store, tmp_path / "backup")
    assert fork in (tmp_path / "backup" / "checkpoints").read_bytes()


@pytest.mark.parametrize("harm", ["flipped", "missing"])
def test_a_backup_whose_history_of_heads_is_harmed_can_be_restored(
    store: Path, tmp_path: Path, harm: str
) -> None:
    say(store, "one")
    say(store, "two")
    backed_up(store, tmp_path / "backup")
    path = tmp_path / "backup" / "checkpoints"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    if harm == "flipped":
        path.write_bytes(data)
    else:
        path.unlink()
    restored(tmp_path / "backup", tmp_path / "restored", with_secrets(store))
    assert texts(tmp_path / "restored") == ["one", "two"]
    assert is_clean(tmp_path / "restored")
    note = (store / "checkpoint").read_bytes()
    assert (tmp_path / "restored" / "checkpoints").read_bytes().endswith(note + b"\n")


CHILD = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[2]]
from test_backup import memory
from braid.ledger.write.writer import Writer
writer = Writer(Path(sys.argv[1]))
print("ready", flush=True)
for number in range(100_000):
    writer.append([memory(f"said {number}"), memory("and more")])
"""


@pytest.mark.soak
def test_it_is_whole_while_another_process_writes(store: Path, tmp_path: Path) -> None:
    """Each ends at a signed head, whatever is written meanwhile; the writer is never held up."""
    child = [sys.executable, "-c", CHILD, str(store), str(Path(__file__).parent)]
    sizes: list[int] = []
    with subprocess.Popen(child, stdout=subprocess.PIPE) as writer:
        assert writer.stdout
        assert writer.stdout.readline() == b"ready\n"
        while len(sizes) < 3:
            sizes.append(backed_up(store, tmp_path / "backup").size)
            assert is_clean(tmp_path / "backup")
        assert writer.poll() is None
        writer.kill()
    assert sizes == sorted(sizes)
    with closing(Writer(store)):
        pass
    assert backed_up(store, tmp_path / "backup").size >= sizes[-1]
    assert is_clean(tmp_path / "backup")


def test_a_tile_of_a_head_is_the_beginning_of_a_newer_ones(store: Path) -> None:
    """Whoever publishes without pause holds up no backup."""
    with closing(Writer(store)) as writer:
        writer.append([memory("one")])
        writer.checkpoint()
        size = writer.published.size
        ((level, n, width),) = tiles_for_size(size)
        old = (store / tile_path(level, n, width)).read_bytes()
        assert tile_of(store, level, n, width) == old
        writer.append([memory("two")])
        writer.checkpoint()
        assert not (store / tile_path(level, n, width)).exists()
        assert tile_of(store, level, n, width) == old
        with pytest.raises(FileNotFoundError):
            tile_of(store, level, n, 200)


def test_what_is_erased_is_erased_in_the_next_one(store: Path, tmp_path: Path) -> None:
    with closing(Writer(store)) as writer:
        blob = BlobStore(store / "blobs", writable=False).put(b"media of the needle")
        writer.append([memory("the needle", blobs=[(blob.sha256, blob.size)]), memory("a straw")])
        body = writer.log.body(3)
    backup = tmp_path / "backup"
    backed_up(store, backup)
    assert body in (backup / "log" / "000000000000.seg").read_bytes()
    assert BlobStore(backup / "blobs", writable=False).verify(blob.sha256, blob.size) == "whole"
    erase(store, 3)
    backed_up(store, backup)
    assert body not in (backup / "log" / "000000000000.seg").read_bytes()
    assert BlobStore(backup / "blobs", writable=False).verify(blob.sha256, blob.size) == "missing"
    assert is_clean(backup)
    with closing(Writer(store)) as writer:
        erasing.compact(writer)
    say(store, "behind the compaction")
    backed_up(store, backup)
    assert is_clean(backup)
    restored(backup, tmp_path / "restored", with_secrets(store))
    assert texts(tmp_path / "restored") == ["a straw", "behind the compaction"]


def test_a_compaction_that_moved_its_boundary_is_gone_on_from(store: Path, tmp_path: Path) -> None:
    """The segment went on behind the backup, then lost bodies before its boundary: no frame begins there any more."""
    backup = tmp_path / "backup"
    say(store, "the needle", "a straw")
    body = _body_of(store, 3)
    backed_up(store, backup)
    say(store, *[f"much more {number} ".ljust(400, ".") for number in range(9)])
    erase(store, 3)
    with closing(Writer(store)) as writer:
        assert erasing.compact(writer) > 0
    backed_up(store, backup)
    assert body not in (backup / "log" / "000000000000.seg").read_bytes()
    assert is_clean(backup)
    restored(backup, tmp_path / "back", with_secrets(store))
    assert texts(tmp_path / "back") == texts(store)


def test_an_erasure_that_comes_between_is_in_it(store: Path, tmp_path: Path) -> None:
    """Its bodies may be blanked under the copier's eyes: the copy must hold the tombstone that explains it."""
    say(store, "the needle", "a straw")
    passes = 0

    def erase_meanwhile(point: str) -> None:
        nonlocal passes
        if point == "backup.copied":
            passes += 1
            if passes == 1:
                erase(store, 3)

    failpoint.arm(erase_meanwhile)
    assert backed_up(store, tmp_path / "backup").size == 7
    assert passes == 2
    assert is_clean(tmp_path / "backup")


def test_erasures_without_end_are_told(store: Path, tmp_path: Path) -> None:
    say(store, *[f"said {number}" for number in range(9)])
    left = list(range(3, 12))

    def erase_meanwhile(point: str) -> None:
        if point == "backup.copied":
            erase(store, left.pop())

    failpoint.arm(erase_meanwhile)
    with pytest.raises(
        BackupError, match="something was erased, or a new head published, each time; back up again"
    ):
        backed_up(store, tmp_path / "backup")


def test_with_vault_it_holds_vault_and_keys_and_the_old_vault_is_overwritten(
    store: Path, tmp_path: Path
) -> None:
    say(store, "the needle")
    backup = tmp_path / "backup"
    backed_up(store, backup, with_vault=True)
    assert (backup / "vault").read_bytes() == (store / "vault").read_bytes()
    assert {path.name for path in (backup / "keys").iterdir()} == {
        path.name for path in (store / "keys").iterdir()
    }
    with (backup / "vault").open("rb") as old:
        erase(store, 3)
        assert backed_up(store, backup, with_vault=True).vault
        assert not any(old.read())
    assert (backup / "vault").read_bytes() == (store / "vault").read_bytes()
    with pytest.raises(BackupError, match="holds a vault, which would grow old there"):
        backed_up(store, backup)


def test_what_is_no_backup_of_this_log_is_refused(store: Path, tmp_path: Path) -> None:
    say(store, "one")
    backup = tmp_path / "backup"
    backed_up(store, backup)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter").write_text("dear")
    with pytest.raises(BackupError, match="holds something else than a backup"):
        backed_up(store, tmp_path / "other")
    for inside in (store, store / "backup", backup / "log" / "deeper"):
        with pytest.raises(BackupError, match="lies in the store"):
            backed_up(store, inside)
    braid.init(tmp_path / "another")
    with pytest.raises(BackupError, match=r"is a backup of braid\.local/.*, this is braid\.local/"):
        backed_up(tmp_path / "another", backup)
    lock = FileLock(backup / "lock")
    lock.acquire()
    with pytest.raises(BackupError, match="another backup, or a restore, is at work there"):
        backed_up(store, backup)
    lock.release()
    manifest = (backup / NAME).read_bytes()
    (backup / NAME).write_bytes(manifest.replace(b'"braid_backup": 1', b'"braid_backup": 2'))
    with pytest.raises(BackupError, match="format 2; this release reads format 1"):
        backed_up(store, backup)
    (backup / NAME).write_bytes(b"{}")
    with pytest.raises(BackupError, match="can't be read"):
        backed_up(store, backup)


def test_an_older_store_or_another_history_does_not_go_on_in_it(store: Path, tmp_path: Path) -> None:
    backup, old, guards = tmp_path / "backup", tmp_path / "old", tmp_path / "guards"
    say(store, "one")
    shutil.copytree(store, old)
    say(store, "two")
    backed_up(store, backup)
    guard = Guard.of_store(load_settings(old).store_id, guards)
    with (
        closing(Reader(old, guard=guard)) as reader,
        pytest.raises(BackupError, match="older copy than its backup"),
    ):
        back_up(reader, backup, now=NOW)
    with closing(Writer(old, guard=guard, adopt=True)) as writer:
        writer.append([memory("another two")])
        writer.append([memory("another three")])
        with pytest.raises(BackupError, match="holds another history"):
            back_up(writer, backup, now=NOW)
    assert is_clean(backup)


# -- coming back ------------------------------------------------------------------------------------


def test_the_newest_goes_on_as_the_same_log(store: Path, tmp_path: Path) -> None:
    say(store, "one")
    with closing(Writer(store)) as writer:
        done = back_up(writer, tmp_path / "backup", now=NOW)
    back = restored(tmp_path / "backup", tmp_path / "back", with_secrets(store))
    assert (back.size, back.root, back.vault, back.erased_again, back.fork) == (
        done.size,
        done.root,
        True,
        0,
        "",
    )
    assert back.guarded
    say(tmp_path / "back", "two")
    assert texts(tmp_path / "back") == ["one", "two"]
    assert is_clean(tmp_path / "back", deep=True)
    assert {path.name for path in tmp_path.iterdir()} == {"memory", "backup", "back"}


def test_without_a_vault_it_is_an_auditors_copy_until_it_is_brought(store: Path, tmp_path: Path) -> None:
    say(store, "one")
    backed_up(store, tmp_path / "backup")
    assert not restored(tmp_path / "backup", tmp_path / "back").vault
    assert is_clean(tmp_path / "back")
    assert texts(tmp_path / "back") == []
    shutil.copy(store / "vault", tmp_path / "back" / "vault")
    assert texts(tmp_path / "back") == ["one"]


def test_on_a_machine_without_its_guard_it_says_so(store: Path, tmp_path: Path) -> None:
    say(store, "one")
    backed_up(store, tmp_path / "backup")
    back = restored(
        tmp_path / "backup", tmp_path / "back", with_secrets(store), guard_folder=tmp_path / "elsewhere"
    )
    assert not back.guarded


def test_places_and_sources_that_are_refused(store: Path, tmp_path: Path) -> None:
    say(store, "one")
    with pytest.raises(BackupError, match="is no backup"):
        restored(store, tmp_path / "back")
    backup = tmp_path / "backup"
    backed_up(store, backup)
    with pytest.raises(FileExistsError, match="exists and is not empty"):
        restored(backup, store)
    lock = FileLock(backup / "lock")
    lock.acquire()
    with pytest.raises(BackupError, match="a backup, or another restore, is at work there"):
        restored(backup, tmp_path / "back")
    lock.release()
    with pytest.raises(BackupError, match="holds no private keys"):
        restored(backup, tmp_path / "back", Secrets(store / "vault", tmp_path / "nowhere"))
    with pytest.raises(BackupError, match="there is no fork to note"):
        restored(backup, tmp_path / "back", with_secrets(store), fork="why not")
    braid.init(tmp_path / "another")
    with closing(Reader(tmp_path / "another")) as reader:
        pinned = str(reader.vkey)
    with pytest.raises(BackupError, match="the backup is not what was signed"):
        restored(backup, tmp_path / "back", with_secrets(store), vkey=pinned)
    assert not (tmp_path / "back").exists()
    assert not list(tmp_path.glob(".back*"))


@pytest.mark.parametrize(
    "harm",
    [
        "a flipped bit in a body",
        "a flipped bit in an envelope",
        "a cut",
        "a wrong tile",
        "half the settings",
        "no settings",
        "no checkpoint",
    ],
)
def test_a_damaged_backup_is_refused(store: Path, tmp_path: Path, harm: str) -> None:
    say(store, "one", "two")
    backup = tmp_path / "backup"
    backed_up(store, backup)
    segment = backup / "log" / "000000000000.seg"
    data = bytearray(segment.read_bytes())
    if harm == "a flipped bit in a body":
        data[-50] ^= 1
    elif harm == "a flipped bit in an envelope":
        data[data.rindex(b'"sig":"') + 10] ^= 1
    elif harm == "a cut":
        del data[-10:]
    elif harm == "half the settings":
        (backup / "store.json").write_bytes((backup / "store.json").read_bytes()[:20])
    elif harm == "no settings":
        (backup / "store.json").unlink()
    elif harm == "no checkpoint":
        (backup / "checkpoint").unlink()
    else:
        (tile,) = (backup / "tile").rglob("5")
        tile.write_bytes(bytes(160))
    segment.write_bytes(data)
    with pytest.raises(BackupError, match=r"the backup is (damaged|not what was signed)") as raised:
        restored(backup, tmp_path / "back", with_secrets(store))
    assert str(raised.value).endswith("; back up again from the store, or restore another backup")
    assert "restore this file from a backup" not in str(raised.value)
    assert ".back.restore" not in str(raised.value)
    assert not (tmp_path / "back").exists()


# -- an older one -----------------------------------------------------------------------------------


def test_an_older_one_is_refused_and_goes_on_only_with_the_note_of_a_fork(
    store: Path, tmp_path: Path
) -> None:
    say(store, "one")
    backup, back = tmp_path / "backup", tmp_path / "back"
    backed_up(store, backup)
    say(store, "lost")
    with closing(Reader(store)) as reader:
        lost = reader.published
    with pytest.raises(
        RollbackError, match=r"the backup holds 4 records, .*guard remembers 5: it is an older copy"
    ):
        restored(backup, back, with_secrets(store))
    (tmp_path / "no keys").mkdir()
    shutil.copy(store / "keys" / "log.key", tmp_path / "no keys")
    with pytest.raises(KeyRefusedError, match="the note of a fork is signed by an operator's key"):
        restored(backup, back, Secrets(store / "vault", tmp_path / "no keys"), fork="the disk died")
    done = restored(backup, back, with_secrets(store), fork="the disk died")
    with closing(Reader(back)) as reader:
        note = reader.get(done.fork)
        assert (note.index, note.kind, note.body.reason) == (4, "event", "the disk died")
        assert note.envelope.public == {
            "name": "fork",
            "size": 4,
            "root": done.root,
            "seen": {"size": lost.size, "root": lost.root.hex()},
        }
        assert reader.control.keys[note.envelope.key].role == "operator"
        assert reader.guarded
        assert reader.guarded.size == 5
    say(back, "two")
    assert texts(back) == ["one", "two"]
    assert is_clean(back, deep=True)
    with pytest.raises(RollbackError):  # what was lost does not come back as if nothing had been
        Writer(store)
    with closing(Reader(store)) as reader:
        assert "older copy" in reader.contradiction


def test_the_notes_of_forks_are_told_by_the_log_and_by_sql(store: Path, tmp_path: Path) -> None:
    say(store, "one")
    backed_up(store, tmp_path / "backup")
    say(store, "lost")
    restored(tmp_path / "backup", tmp_path / "back", with_secrets(store), fork="the disk died")
    with braid.open(tmp_path / "back") as opened:
        rows = opened.sql("SELECT reason FROM events WHERE name = 'fork'").to_pylist()
    assert rows == [{"reason": "the disk died"}]


def test_an_older_one_does_not_bring_back_what_the_newest_vault_has_erased(
    store: Path, tmp_path: Path
) -> None:
    say(store, "the needle", "a straw")
    backup, back = tmp_path / "backup", tmp_path / "back"
    backed_up(store, backup)
    erase(store, 3)
    body = _body_of(backup, 3)
    done = restored(backup, back, with_secrets(store), fork="the disk died")
    assert done.erased_again == 1
    assert texts(back) == ["a straw"]
    assert body not in (back / "log" / "000000000000.seg").read_bytes()
    with closing(Reader(back)) as reader:
        assert set(reader.control.erased) == {3}
        assert reader.control.unfinished() == []
        with pytest.raises(ErasedError):
            reader.at(3)
    assert is_clean(back, deep=True)


def _body_of(store: Path, index: int) -> bytes:
    with closing(Reader(store, guard=Guard(store / "none"))) as reader:
        return reader.log.body(index)


def test_an_old_vault_is_refused_where_the_guard_remembers_a_newer(store: Path, tmp_path: Path) -> None:
    say(store, "the needle", "a straw")
    backup, back = tmp_path / "backup", tmp_path / "back"
    backed_up(store, backup, with_vault=True)
    erase(store, 3)
    with pytest.raises(
        RollbackError, match=r"the vault has epoch 0, .*remembers 1: what was erased in between"
    ):
        restored(backup, back, fork="the disk died")
    assert not back.exists()
    assert not list(tmp_path.glob(".back*"))


def test_an_old_vault_serves_where_a_newer_log_names_the_erased(store: Path, tmp_path: Path) -> None:
    """An old backup with its vault, and a newer copy of the log: what that erased is erased again."""
    say(store, "the needle", "a straw")
    old, newer, back = tmp_path / "old", tmp_path / "newer", tmp_path / "back"
    backed_up(store, old, with_vault=True)
    erase(store, 3)
    backed_up(store, newer)
    done = restored(old, back, newer=newer, fork="the vault of today is lost")
    assert done.erased_again == 1
    assert texts(back) == ["a straw"]
    vault = Vault.open(back / "vault", store_id=load_settings(back).store_id, writable=False)
    assert vault.is_erased(3)
    assert is_clean(back, deep=True)
    # And the newer log itself, with the old vault: it is punctured by what the log says.
    shutil.rmtree(back)
    Guard.of_store(load_settings(store).store_id).path.unlink()
    restored(newer, back, Secrets(old / "vault", old / "keys"))
    assert texts(back) == ["a straw"]
    assert is_clean(back, deep=True)


def test_a_newer_log_makes_it_an_older_copy_without_any_guard(store: Path, tmp_path: Path) -> None:
    say(store, "one")
    backed_up(store, tmp_path / "old", with_vault=True)
    say(store, "two")
    elsewhere = tmp_path / "elsewhere"
    with pytest.raises(RollbackError, match=r"memory remembers 5: it is an older copy"):
        restored(tmp_path / "old", tmp_path / "back", newer=store, guard_folder=elsewhere)
    backed_up(store, tmp_path / "new", with_vault=True)
    with pytest.raises(BackupError, match="is no newer copy"):
        restored(tmp_path / "new", tmp_path / "back", newer=tmp_path / "old", guard_folder=elsewhere)


def test_the_vault_alone_shows_that_it_is_older(store: Path, tmp_path: Path) -> None:
    say(store, "the needle", "a straw")
    backed_up(store, tmp_path / "old")
    erase(store, 3)
    elsewhere = tmp_path / "elsewhere"
    with pytest.raises(RollbackError, match="the vault has erased 1 records that the backup holds"):
        restored(tmp_path / "old", tmp_path / "back", with_secrets(store), guard_folder=elsewhere)
    done = restored(
        tmp_path / "old", tmp_path / "back", with_secrets(store), guard_folder=elsewhere, fork="a new machine"
    )
    assert done.erased_again == 1


def test_no_fork_where_the_vault_has_erased_records_still_to_come(store: Path, tmp_path: Path) -> None:
    say(store, "one")
    backed_up(store, tmp_path / "old")
    say(store, "lost")
    erase(store, 4)
    with pytest.raises(RollbackError, match=r"begin a new store and take over what this one holds"):
        restored(tmp_path / "old", tmp_path / "back", with_secrets(store), fork="the disk died")


def test_a_backup_of_another_history_is_refused(store: Path, tmp_path: Path) -> None:
    say(store, "one")
    backed_up(store, tmp_path / "first")
    say(store, "lost")
    backed_up(store, tmp_path / "second")
    restored(tmp_path / "first", tmp_path / "back", with_secrets(store), fork="the disk died")
    with pytest.raises(RollbackError, match="it is of another history of this log"):
        restored(tmp_path / "second", tmp_path / "again", with_secrets(store))
    with pytest.raises(BackupError, match="holds another history"):
        backed_up(tmp_path / "back", tmp_path / "second")


def test_the_front_door(store: Path, tmp_path: Path) -> None:
    with braid.open(store) as opened:
        opened.append("one")
        assert opened.backup(tmp_path / "a").size == 4
    assert braid.backup(tmp_path / "b", store, with_vault=True).vault
    assert braid.restore(tmp_path / "b", tmp_path / "back").vault
    with braid.open(tmp_path / "back") as opened:
        assert opened.get(opened.reader.at(3).id).text == "one"


def test_a_plan_that_cannot_be_read_is_told(store: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    (backup / "incoming").mkdir(parents=True)
    (backup / "incoming" / "plan.json").write_text("{")
    with pytest.raises(BackupError, match=r"plan\.json can't be read"):
        backed_up(store, backup)


@pytest.mark.parametrize(
    ("pieces", "gone", "said"),
    [
        ([IncomingPiece("000000", "../memory/keys/log.key")], [], "which is no file of a backup"),
        ([IncomingPiece("000000", "log/../../x")], [], "which is no file of a backup"),
        ([IncomingPiece("000000", "/etc/passwd")], [], "which is no file of a backup"),
        ([], ["../memory/vault"], "which is no file of a backup"),
        ([IncomingPiece("../../memory/vault", "vault")], [], "which was not staged there"),
    ],
)
def test_a_plan_that_leads_elsewhere_is_refused(
    store: Path, tmp_path: Path, pieces: list[IncomingPiece], gone: list[str], said: str
) -> None:
    """Whoever keeps a backup could write one, for who restores it to carry out."""
    backup = tmp_path / "backup"
    backed_up(store, backup)
    manifest = load(backup)
    assert manifest
    (backup / "incoming").mkdir()
    (backup / "incoming" / "000000").write_bytes(b"planted")
    (backup / "incoming" / "plan.json").write_bytes(msgspec.json.encode(BackupPlan(pieces, gone, manifest)))
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    with pytest.raises(BackupError, match=said):
        restored(backup, tmp_path / "back")
    assert {path: path.read_bytes() for path in store.rglob("*") if path.is_file()} == before


def test_a_backup_does_not_say_where_the_vault_is_or_which_guard_counts(store: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    backed_up(store, backup)
    settings = load_settings(backup)
    msgspec.structs.replace(settings, vault="/etc/hostname").save(backup)
    restored(backup, tmp_path / "back")
    assert load_settings(tmp_path / "back").vault == "vault"
    manifest = (backup / NAME).read_text()
    (backup / NAME).write_text(manifest.replace(settings.store_id, "a" * 16, 1))
    with pytest.raises(BackupError, match="its log is of"):
        restored(backup, tmp_path / "again")
    (backup / NAME).write_text(manifest.replace(settings.store_id, "../../../x", 1))
    with pytest.raises(BackupError, match="is no store's id"):
        restored(backup, tmp_path / "again")


def test_a_segment_that_was_cut_is_no_backup_to_go_on_from(store: Path, tmp_path: Path) -> None:
    """What is missing in the copy is copied again, not skipped."""
    say(store, "one")
    backup = tmp_path / "backup"
    backed_up(store, backup)
    segment = backup / "log" / "000000000000.seg"
    segment.write_bytes(segment.read_bytes()[:-100])
    say(store, "two")
    backed_up(store, backup)
    assert is_clean(backup)


def test_a_store_that_is_being_written_is_copied_up_to_its_head(store: Path, tmp_path: Path) -> None:
    """Behind the head there may be room (SPEC §2.6), and what came since: neither is looked at."""
    with braid.open(store) as opened:
        for number in range(60):
            opened.append(f"{number} ".ljust(600, "."))
        opened.checkpoint()
        (segment,) = opened.reader.log.segments
        assert segment.path.read_bytes().endswith(bytes(4096))
        for name in ("at the head", "again", "behind it"):
            done = backed_up(store, tmp_path / "backup")
            export_store(opened, tmp_path / name, audit=True)
            assert done.size <= opened.reader.published.size
            for copy in (tmp_path / "backup", tmp_path / name):
                (copied,) = (copy / "log").glob("*.seg")
                assert not copied.read_bytes().endswith(bytes(4096))
            if name == "again":
                opened.session.append_drafts([memory(f"more {number}") for number in range(20)])
    for name in ("at the head", "again", "behind it"):  # the guard is ahead of the first two, rightly
        assert {finding.kind for finding in verify(tmp_path / name).findings} <= {"guard"}
