"""Backups of a store, and coming back from them (SPEC §13.1, §13.2)."""

from pathlib import Path

from braid.ledger.backup.backup import Backup, back_up
from braid.ledger.backup.fork import Forked
from braid.ledger.backup.fork import fork as fork_store
from braid.ledger.backup.restore import Restored, Secrets
from braid.ledger.backup.restore import restore as restore_store
from braid.ledger.read.reader import Reader
from braid.ledger.settings import load_settings
from braid.ledger.tree.guard import Guard
from braid.ledger.write.writer import utc_now


def backup(
    dest: str | Path,
    path: str | Path = "memory",
    *,
    with_vault: bool = False,
    passphrase: str | None = None,
    guard_dir: str | Path | None = None,
) -> Backup:
    """Bring the backup in `dest` to the published head of the store at `path`; another process may write meanwhile.

    Copies what is new. Neither vault nor private keys go along unless `with_vault`. Raises BackupError, and what
    opening a store raises.
    """
    store = Path(path)
    guard = Guard.of_store(load_settings(store).store_id, Path(guard_dir) if guard_dir else None)
    reader = Reader(store, guard=guard, passphrase=passphrase)
    try:
        return back_up(reader, Path(dest), now=utc_now(), with_vault=with_vault)
    finally:
        reader.close()


def restore(
    source: str | Path,
    path: str | Path = "memory",
    *,
    vault: str | Path | None = None,
    keys: str | Path | None = None,
    newer: str | Path | None = None,
    fork: str | None = None,
    vkey: str | None = None,
    passphrase: str | None = None,
    guard_dir: str | Path | None = None,
) -> Restored:
    """Make a store at `path` of the backup in `source`; what is erased stays erased.

    `vault` and `keys` (a file and a folder) come from elsewhere, where the backup has none. `newer`: another copy of
    the log, which may know of later erasures. `fork`: why an older copy goes on; a signed event says so in its log.
    Raises FileExistsError, BackupError, RestoreRefusedError, GuardError, VaultError, KeyRefusedError.
    """
    secrets = Secrets(Path(vault) if vault else None, Path(keys) if keys else None, passphrase)
    return restore_store(
        Path(source),
        Path(path),
        secrets=secrets,
        newer=Path(newer) if newer else None,
        fork=fork,
        vkey=vkey,
        guard_folder=Path(guard_dir) if guard_dir else None,
    )


def fork(
    path: str | Path = "memory",
    *,
    reason: str,
    passphrase: str | None = None,
    guard_dir: str | Path | None = None,
) -> Forked:
    """Let the copy at `path` go on, which the fork guard contradicts: a signed event in its log says so, and `reason`.

    The copy that the guard remembered is then only read. Raises BackupError where the guard contradicts nothing,
    RollbackError for an older vault, KeyRefusedError, LogLockedError.
    """
    store = Path(path)
    guard = Guard.of_store(load_settings(store).store_id, Path(guard_dir) if guard_dir else None)
    return fork_store(store, reason, guard=guard, passphrase=passphrase)
