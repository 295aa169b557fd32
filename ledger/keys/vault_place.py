"""Moving the vault to another place, and leaving no copy behind that a later erasure would not reach."""

import os
from pathlib import Path

import msgspec

from braid.ledger.errors import VaultError
from braid.ledger.keys.vault import Vault
from braid.ledger.settings import Settings, load_settings
from braid.wal.durable import make_folder, replace_file, sync_folder
from braid.wal.failpoint import failpoint
from braid.wal.lock import FileLock
from braid.wal.regular import GROWING_BYTES, read_regular


def move_vault(store: Path, to: Path, passphrase: str | None = None) -> Path:
    """Move a store's vault to the file `to`, or into it where it is a folder; return its new path.

    Under the writer's lock; handles that share the store must be opened again. Running it again finishes what was
    interrupted. Raises LogLockedError, VaultError (another file is there, say), OSError.
    """
    load_settings(store)  # where there is no store, no lock is made
    lock = FileLock(store / "lock")
    lock.acquire()
    try:
        settings = load_settings(store)
        old, new = settings.vault_path(store).resolve(), (to / "vault" if to.is_dir() else to).resolve()
        if old != new:
            if _is_one(old, new):
                raise VaultError(new, "it is the vault itself, under another name; nothing was moved")
            Vault.open(old, passphrase, store_id=settings.store_id)  # whole, and no change of it is under way
            _copy(old, new)
            failpoint("vault.copied")
            # Dying here: the old one is live; the copy holds the same keys until the move is run again.
            _named(settings, store, new).save(store)
        failpoint("vault.moved")
        # Dying here: the new one is live, the old one lies about; running the move again removes one in the store.
        for left in {old, (store / "vault").resolve()} - {new}:
            if not _is_one(left, new):
                _wipe(left)
        return new
    finally:
        lock.release()


def _is_one(path: Path, other: Path) -> bool:
    """Whether two paths lead to one file (a hard link, a folder mounted twice): wiped by one it is gone by both."""
    return path.exists() and other.exists() and path.samefile(other)


def _copy(old: Path, new: Path) -> None:
    data = read_regular(old, GROWING_BYTES)
    if new.exists():
        if read_regular(new, GROWING_BYTES) != data:
            raise VaultError(new, "there is another file already; nothing was moved")
        return
    make_folder(new.parent)
    replace_file(new, data, "vault.copy")


def _named(settings: Settings, store: Path, vault: Path) -> Settings:
    inside = vault.is_relative_to(store.resolve())
    return msgspec.structs.replace(
        settings, vault=str(vault.relative_to(store.resolve()) if inside else vault)
    )


def _wipe(path: Path) -> None:
    """Overwrite a vault that is no longer in use, and remove it."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        os.pwrite(fd, bytes(os.fstat(fd).st_size), 0)
        os.fsync(fd)
    finally:
        os.close(fd)
    path.unlink()
    sync_folder(path.parent)
