"""Stores and backups that somebody else made: no link leads out of them, nothing hangs, nothing is read without end."""

import os
import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

import braid
from braid.ledger.audit.verify import verify
from braid.ledger.backup.backup import back_up
from braid.ledger.backup.restore import Secrets, restore
from braid.ledger.errors import BackupError, LedgerError
from braid.ledger.read.reader import Reader
from braid.ledger.repair.derived_files import examine
from braid.ledger.settings import load_settings
from braid.ledger.write.create import create_store
from braid.store import Store
from braid.wal import failpoint
from braid.wal.errors import ObstructedError, WalError

NOW = datetime(2026, 6, 3, tzinfo=UTC)
STRANGE = r"is a link|is neither|stands where"
LINKS = (
    "log", "tile", "tile/0", "blobs", "blobs/ab", "keys", "checkpoints", ".checkpoint.new", "views", "views/duck",
    "views/duck/work.duckdb", "views/lance/set-1", "views/lance/set-1/records.lance/data", "views/lineage",
)  # fmt: skip
Make = Callable[[Path], None]


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _swollen(path: Path) -> None:
    path.write_bytes(b"")
    os.truncate(path, 1 << 40)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and path.name != "lock"
    }


@pytest.fixture
def store(tmp_path: Path) -> Path:
    create_store(tmp_path / "store", now=NOW)
    say(tmp_path / "store", "I live in Porto.")
    return tmp_path / "store"


def said(opened: Store) -> list[str]:
    return [one.text for one in opened.read() if one.text]


def say(store: Path, *texts: str) -> None:
    with braid.open(store) as opened:
        for text in texts:
            opened.append(text)


def backed_up(store: Path, folder: Path, **how: bool) -> Path:
    with closing(Reader(store)) as reader:
        back_up(reader, folder, now=NOW, **how)
    return folder


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    home = tmp_path / "victim"
    (home / "ssh").mkdir(parents=True)
    (home / "profile").write_text("original")
    (home / "ssh" / "known").write_text("good")
    return home


# -- backups ----------------------------------------------------------------------------------------


def plan(folder: Path, victim: Path, backup: Path) -> None:
    """Make of `folder` a backup whose plan leads elsewhere by links."""
    for name in ("incoming", "log"):
        (folder / name).mkdir(parents=True)
    shutil.copy(backup / "backup.json", folder)
    (folder / "keys").symlink_to(victim / "ssh")
    (folder / "log" / "000000000000.seg").symlink_to(victim / "profile")
    for name in ("000000", "000001"):
        (folder / "incoming" / name).write_text("theirs")
    pieces: list[dict[str, Any]] = [
        {"staged": "000000", "target": "keys/authorized"},
        {"staged": "000001", "target": "log/000000000000.seg", "offset": 0},
    ]
    manifest = msgspec.json.decode((backup / "backup.json").read_bytes())
    written = {"pieces": pieces, "gone": ["keys/known"], "manifest": manifest}
    (folder / "incoming" / "plan.json").write_bytes(msgspec.json.encode(written))


def test_a_restore_follows_no_link_of_the_backup(store: Path, victim: Path, tmp_path: Path) -> None:
    plan(tmp_path / "evil", victim, backed_up(store, tmp_path / "backup"))
    before = contents(victim)
    with pytest.raises(BackupError, match="is a link, and a backup holds files and folders alone"):
        restore(tmp_path / "evil", tmp_path / "new")
    assert contents(victim) == before
    assert not (tmp_path / "new").exists()


def test_a_backup_follows_no_link_of_its_folder(store: Path, victim: Path, tmp_path: Path) -> None:
    plan(tmp_path / "evil", victim, backed_up(store, tmp_path / "backup"))
    before = contents(victim)
    with pytest.raises(BackupError, match="is a link"):
        backed_up(store, tmp_path / "evil")
    assert contents(victim) == before


@pytest.mark.parametrize("name", ["keys", "log", "tile/0", "incoming", "backup.json", "checkpoint", "vault"])
@pytest.mark.parametrize("make", [_pipe, _endless])
@pytest.mark.sample(4)
def test_whatever_is_strange_in_a_backup_is_refused(
    store: Path, tmp_path: Path, name: str, make: Make
) -> None:
    backup = backed_up(store, tmp_path / "backup")
    place = backup / name
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    make(place)
    with pytest.raises((BackupError, ObstructedError), match=STRANGE):
        restore(backup, tmp_path / "new")
    with pytest.raises((BackupError, ObstructedError), match=STRANGE):
        backed_up(store, backup)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("hit", [1, 2, 4])
@pytest.mark.parametrize("given", [False, True])
def test_a_restore_leaves_an_unfinished_backup_as_it_is(
    store: Path, tmp_path: Path, hit: int, given: bool
) -> None:
    """What the plan has still to do is done in the copy."""
    backup = backed_up(store, tmp_path / "backup", with_vault=True)
    say(store, "And now in Lisbon.")
    seen = 0

    def die(name: str) -> None:
        nonlocal seen
        seen += name == "backup.apply"
        if name == "backup.apply" and seen == hit:
            raise KeyboardInterrupt

    failpoint.arm(die)
    try:
        with pytest.raises(KeyboardInterrupt):
            backed_up(store, backup, with_vault=True)
    finally:
        failpoint.arm(None)
    before = contents(backup)
    assert any(name.startswith("incoming/") for name in before)
    secrets = Secrets(store / "vault", store / "keys") if given else None
    restore(backup, tmp_path / "new", secrets=secrets)
    assert contents(backup) == before
    with braid.open(tmp_path / "new", read_only=True) as opened:
        assert said(opened) == ["I live in Porto.", "And now in Lisbon."]
    assert not any((tmp_path / "new" / name).exists() for name in ("incoming", "backup.json"))
    backed_up(store, backup, with_vault=True)
    assert not (backup / "incoming").exists()


def test_a_restore_is_not_built_where_a_link_leads(store: Path, victim: Path, tmp_path: Path) -> None:
    backup, before = backed_up(store, tmp_path / "backup"), contents(victim)
    (tmp_path / ".new.restore").symlink_to(victim)
    with pytest.raises(ObstructedError, match="a link stands where a new folder belongs"):
        restore(backup, tmp_path / "new")
    assert contents(victim) == before


# -- stores -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "store.json",
        "checkpoint",
        "tile/0/000.p/4",
        "log/000000000000.seg",
        "log/000000000000.idx",
        "keys/log.key",
        "vault",
    ],
)
@pytest.mark.parametrize("make", [_pipe, _endless, _swollen])
@pytest.mark.sample(6)
def test_nothing_hangs_or_swells_on_what_stands_for_a_file(
    store: Path, tmp_path: Path, name: str, make: Make
) -> None:
    copy = shutil.copytree(store, tmp_path / "copy")
    (copy / name).unlink()
    make(copy / name)
    for act in (
        lambda: verify(copy, workers=1),
        lambda: examine(copy),
        lambda: braid.open(copy, create=False).close(),
        lambda: braid.open(copy, read_only=True).close(),
    ):
        with suppress(OSError, LedgerError, WalError):
            act()


@pytest.mark.parametrize("make", [_pipe, _endless, _swollen])
def test_an_audit_says_what_it_could_not_look_at(store: Path, make: Make) -> None:
    (store / "checkpoint").unlink()
    make(store / "checkpoint")
    (said,) = verify(store, workers=1).could_not_look
    assert "checkpoint" in said
    assert "stands where" in said


@pytest.mark.parametrize("name", LINKS)
def test_no_link_leads_out_of_a_store(store: Path, victim: Path, name: str) -> None:
    place, before = store / name, contents(victim)
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir():
        place.rename(victim.parent / "aside")
    else:
        place.unlink(missing_ok=True)
    place.symlink_to(victim)
    for act in (
        lambda: load_settings(store),
        lambda: braid.open(store, create=False),
        lambda: braid.open(store, read_only=True),
        lambda: Reader(store),
        lambda: examine(store),
    ):
        with pytest.raises(
            ObstructedError, match="a link stands where a file or folder of the store belongs"
        ):
            act()
    assert verify(store, workers=1).could_not_look
    assert contents(victim) == before


def test_a_store_and_its_vault_may_be_reached_by_links(store: Path, tmp_path: Path) -> None:
    (store / "vault").rename(tmp_path / "kept")
    (store / "vault").symlink_to(tmp_path / "kept")
    (tmp_path / "link").symlink_to(store)
    with braid.open(tmp_path / "link", read_only=True) as opened:
        assert said(opened) == ["I live in Porto."]


def test_no_tile_is_written_where_a_link_leads(store: Path, victim: Path) -> None:
    folder, before = store / "tile" / "0" / "000.p", contents(victim)
    with braid.open(store) as opened:
        folder.rename(victim.parent / "aside")
        folder.symlink_to(victim)
        opened.append("More.")
        with pytest.raises((OSError, LedgerError, WalError)):
            opened.close()
    assert contents(victim) == before
