"""Coming back from a backup: what is erased stays erased, and an older copy does not go on as if it were the newest.

Built whole beside its place and verified there, then renamed into it, as a new store is. What the log, a newer copy of
it, or the vault says is erased is carried out first. Where the fork guard, or the newer copy, remembers more than the
backup holds, the restored store may write only with the note of a fork in its log (SPEC §13.2).
"""

import shutil
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from braid.ledger.audit.verify import verify
from braid.ledger.backup.backup import settle, settle_history
from braid.ledger.backup.fork import note_fork
from braid.ledger.backup.plan import (
    BackupManifest,
    BackupPlan,
    load,
    overlay,
    read_plan,
    refuse_strange,
    staged_whole,
)
from braid.ledger.erase import erasure as erasing
from braid.ledger.errors import BackupError, LedgerError, RestoreRefusedError, StoreFormatError
from braid.ledger.keys.vault import Vault
from braid.ledger.read.prefix import root_at
from braid.ledger.read.reader import Reader
from braid.ledger.settings import parse_settings
from braid.ledger.tree.guard import Guard, Head
from braid.ledger.write.create import reserve_space
from braid.ledger.write.sequence import Clock
from braid.ledger.write.writer import Writer, utc_now
from braid.wal.durable import fresh_folder, make_folder, sync_folder, sync_tree
from braid.wal.errors import CorruptLogError, LogLockedError, WalError
from braid.wal.failpoint import failpoint
from braid.wal.lock import FileLock
from braid.wal.regular import copy_regular, read_regular

_LOG: Final = ("log", "tile", "blobs")
_NEEDED: Final = ("store.json", "checkpoint")
_FILES: Final = (*_NEEDED, "checkpoints")
_OWN_GUARD: Final = ".restore-guard"
_NEWEST: Final = (
    "Restore the newest; where there is none, a fork that its log tells of goes on from here (--fork REASON)"
)
_ANOTHER: Final = "back up again from the store, or restore another backup"


class Secrets(msgspec.Struct, frozen=True):
    """Where vault and private keys come from, and what opens them; else from the backup, if it has them."""

    vault: Path | None = None
    keys: Path | None = None
    passphrase: str | None = None


class Restored(msgspec.Struct, frozen=True):
    """What a restore did."""

    size: int
    root: str
    vault: bool
    erased_again: int
    """Records whose erasure the backup did not know or had not carried out."""
    guarded: bool
    """Whether a fork guard of this log was at hand."""
    fork: str = ""
    """Id of the note of a fork; empty where the log goes on."""


class _Newer(NamedTuple):
    """What somebody remembers of this log beyond the backup: how far it went, its root, who says so, what it erased."""

    size: int
    root: str
    who: str
    erased: frozenset[int] = frozenset()
    epoch: int = 0
    """How often the vault had been punctured by the erasures that it names."""


def restore(
    source: Path,
    place: Path,
    *,
    secrets: Secrets | None = None,
    newer: Path | None = None,
    fork: str | None = None,
    guard_folder: Path | None = None,
    vkey: str | None = None,
    clock: Clock = utc_now,
) -> Restored:
    """Make a store at `place` of the backup in `source`.

    `newer`: another copy of the same log, which may know of later erasures. `fork`: why an older copy goes on; a signed
    event says so in its log. `vkey`: the log key that the caller has pinned. Raises FileExistsError, BackupError,
    RestoreRefusedError (older than what the guard or the newer copy remembers), GuardError, VaultError.
    """
    manifest = load(source)
    if manifest is None and not (source / "incoming" / "plan.json").exists():
        raise BackupError(f"{source} is no backup (`braid backup` makes one)")
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise FileExistsError(f"{place} exists and is not empty; choose another place, or move it away first")
    with _held(source):
        refuse_strange(source)
        plan = read_plan(source)  # of a backup that died: carried out in the copy, never in the source
        manifest = plan.manifest if plan else load(source)
        if manifest is None:
            raise BackupError(f"{source} holds no whole backup: its first was interrupted; make it again")
        guard = Guard.of_store(manifest.store_id, guard_folder)
        building = place.absolute().parent / f".{place.name}.restore"
        if (resumed := _resume(building, place, guard, manifest)) is not None:
            return resumed
        try:
            _copy(source, plan, building, secrets or Secrets())
            done = _Restore(building, manifest, guard, secrets or Secrets(), clock).run(newer, fork, vkey)
        except BaseException:
            shutil.rmtree(building, ignore_errors=True)
            raise
        _put_in_place(building, place, guard)
    return done


@contextmanager
def _held(source: Path) -> Generator[None]:
    """Let no backup be taken into the source meanwhile."""
    lock = FileLock(source / "lock")
    try:
        lock.acquire()
    except LogLockedError:
        raise BackupError(f"{source}: a backup, or another restore, is at work there") from None
    except OSError:  # a medium that can't be written: nobody else writes to it either
        yield
        return
    try:
        yield
    finally:
        lock.release()


def _copy(source: Path, plan: BackupPlan | None, building: Path, secrets: Secrets) -> None:
    """Make a private copy of the backup, and carry out in it what is left of the plan."""
    fresh_folder(building)
    for name in (*_LOG, "keys", "views"):
        make_folder(building / name)
    for folder in _LOG:
        for path in sorted((source / folder).rglob("*")):
            if path.is_file() and path.suffix != ".idx":
                make_folder((building / path.relative_to(source)).parent)
                copy_regular(path, building / path.relative_to(source))
    own = _FILES if secrets.vault is not None else (*_FILES, "vault")
    newer = staged_whole(source, plan) if plan else set[str]()  # an old vault is never even copied
    for name in own:
        if name not in newer and (source / name).exists():
            copy_regular(source / name, building / name)
    if secrets.keys is None:
        for key in sorted((source / "keys").glob("*.key")):
            copy_regular(key, building / "keys" / key.name)
    if plan is not None:
        overlay(source, plan, building, lambda name: name in own or name.startswith(_kept(secrets)))
    _settle_settings(source, building)
    _take_secrets(building, secrets)
    for path in building.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    failpoint("restore.copied")


def _kept(secrets: Secrets) -> tuple[str, ...]:
    """Return how names begin that are taken from the backup, but for single files."""
    folders = _LOG if secrets.keys is not None else (*_LOG, "keys")
    return tuple(f"{folder}/" for folder in folders)


def _settle_settings(source: Path, building: Path) -> None:
    """Check that the copy is whole, and take its vault to lie in it: whoever kept the backup has no say in that."""
    for name in _NEEDED:
        if not (building / name).exists():
            raise BackupError(f"the backup is damaged: {source / name} is missing; {_ANOTHER}")
    try:
        settings = parse_settings(read_regular(building / "store.json"), source / "store.json")
    except StoreFormatError as error:
        if error.__cause__ is None:  # of a newer release: it says so, and what to do
            raise
        raise BackupError(f"the backup is damaged: {source / 'store.json'}; {_ANOTHER}") from error
    msgspec.structs.replace(settings, vault="vault").save(building)


def _take_secrets(building: Path, secrets: Secrets) -> None:
    """Take vault and keys from where the caller says; the vault is not yet in its place: its age is judged first."""
    if secrets.keys is not None:
        keys = sorted(secrets.keys.glob("*.key"))
        if not keys:
            raise BackupError(f"{secrets.keys} holds no private keys (*.key)")
        for key in keys:
            shutil.copyfile(key, building / "keys" / key.name)
    if secrets.vault is not None:
        shutil.copyfile(secrets.vault, building / "vault.restored")
    elif (building / "vault").exists():
        (building / "vault").rename(building / "vault.restored")


class _Restore:
    """One restore's inputs."""

    def __init__(
        self, building: Path, manifest: BackupManifest, guard: Guard, secrets: Secrets, clock: Clock
    ) -> None:
        self._building = building
        self._manifest = manifest
        self._guard = guard
        self._secrets = secrets
        self._clock = clock
        self._own_guard = Guard(building / _OWN_GUARD)
        """None is there: what this machine remembers is compared here, with a say of its own."""

    def run(self, newer: Path | None, fork: str | None, vkey: str | None) -> Restored:
        """Carry out what is erased, judge the copy's age, verify it, and note a fork where there is one."""
        head = self._guard.read()
        with closing(self._reader()) as reader:
            settle_history(reader, self._building)
            size, root = reader.size, root_at(reader, reader.size)
            if reader.settings.store_id != self._manifest.store_id:
                raise BackupError(
                    f"the backup says that it is of the store {self._manifest.store_id}; its log is of "
                    f"{reader.settings.store_id}"
                )
            if (size, root) != (self._manifest.size, self._manifest.root):
                raise BackupError(
                    f"the backup's log has {size} records of root {root}; {self._manifest.size} of root "
                    f"{self._manifest.root} were copied"
                )
            beyond = self._beyond(reader, head, newer)
            if beyond is not None and fork is None:
                raise RestoreRefusedError(
                    f"the backup holds {size} records, {beyond.who} remembers {beyond.size}: it is an older copy. "
                    f"{_NEWEST}"
                )
            unknown = set(beyond.erased) if beyond else set[int]()
            settle(reader, self._building, size)
            unknown |= self._place_vault(reader, beyond, head)
            if unknown and beyond is None:
                beyond = _Newer(0, "", "the vault")
                if fork is None:
                    raise RestoreRefusedError(
                        f"the vault has erased {len(unknown)} records that the backup holds and no tombstone of it "
                        f"names: it is an older copy. {_NEWEST}"
                    )
        if beyond is None and fork is not None:
            raise BackupError(
                "nothing remembers more of this log than the backup holds: there is no fork to note"
            )
        reserve_space(self._building)
        self._verify(vkey)
        failpoint("restore.verified")
        note = self._go_on(beyond, sorted(unknown), fork) if beyond and fork is not None else ""
        vault = (self._building / "vault").exists()
        return Restored(size, root, vault, len(unknown), head is not None, note)

    def _reader(self) -> Reader:
        try:
            return Reader(self._building, guard=self._own_guard, passphrase=self._secrets.passphrase)
        except CorruptLogError as error:
            where = f"{error.file}, offset {error.offset}"
            raise BackupError(f"the backup is damaged: {where}: {error.reason}; {_ANOTHER}") from error
        except (WalError, LedgerError) as error:
            raise BackupError(f"the backup is damaged: {error}; {_ANOTHER}") from error

    def _beyond(self, reader: Reader, head: Head | None, newer: Path | None) -> _Newer | None:
        """Return who remembers more of the log than this copy holds, None where nobody does."""
        found: _Newer | None = None
        if head is not None:
            if head.origin != reader.origin:
                raise RestoreRefusedError(
                    f"{self._guard.path} is of {head.origin}, the backup of {reader.origin}"
                )
            if head.size > reader.size:
                found = _Newer(head.size, head.root, str(self._guard.path))
            elif root_at(reader, head.size) != head.root:
                raise RestoreRefusedError(
                    f"the backup contradicts the head of size {head.size} that {self._guard.path} remembers: it is of "
                    "another history of this log"
                )
        if newer is None:
            return found
        with closing(Reader(newer, guard=self._own_guard, passphrase=self._secrets.passphrase)) as other:
            if other.origin != reader.origin or other.size < reader.size:
                raise BackupError(
                    f"{newer} is no newer copy of {reader.origin}: it holds {other.size} records of {other.origin}"
                )
            if root_at(other, reader.size) != root_at(reader, reader.size):
                raise RestoreRefusedError(f"{newer} holds another history of {reader.origin} than the backup")
            if other.size == reader.size:
                return found
            later = {index for index in other.control.erased if index < reader.size}
            said = _Newer(
                other.size,
                root_at(other, other.size),
                str(newer),
                frozenset(later) - set(reader.control.erased),
                _epoch_of(other),
            )
        if found is None or said.size > found.size:
            return said
        return found._replace(erased=said.erased, epoch=said.epoch)

    # -- what is erased ---------------------------------------------------------------------------

    def _place_vault(self, reader: Reader, beyond: _Newer | None, head: Head | None) -> set[int]:
        """Destroy in the vault what is known to be erased, then put it in its place; return what it alone knew of.

        Raises RestoreRefusedError for one that is older than what is remembered: what else it holds nobody could say.
        """
        path = self._building / "vault.restored"
        if not path.exists():
            return set()
        vault = Vault.open(path, self._secrets.passphrase, store_id=self._manifest.store_id, writable=True)
        erased = {*reader.control.erased, *(beyond.erased if beyond else ())}
        known = max(vault.epoch, _epoch_of(reader), beyond.epoch if beyond else 0)
        remembered = head.vault_epoch if head else 0
        if known < remembered:
            raise RestoreRefusedError(
                f"the vault has epoch {known}, {self._guard.path} remembers {remembered}: what was erased in between "
                "it would bring back. Give the newest vault (--vault), or a newer copy of the log that names the "
                "erased (--newer)"
            )
        alone = set[int]()
        if vault.epoch > _epoch_of(reader):
            alone = {index for index in range(reader.size) if index not in erased and vault.is_erased(index)}
        left = sorted(index for index in erased if not vault.is_erased(index))
        while left or vault.epoch < known:
            vault.puncture(left)
            left = []
        path.rename(self._building / "vault")
        sync_folder(self._building)
        return alone

    # -- verifying, and going on ------------------------------------------------------------------

    def _verify(self, vkey: str | None) -> None:
        report = verify(self._building, guard=self._own_guard, passphrase=self._secrets.passphrase, vkey=vkey)
        if report.findings or report.could_not_look:
            first = [*map(str, report.findings), *report.could_not_look][0]
            more = len(report.findings) + len(report.could_not_look) - 1
            raise BackupError(
                f"the backup is not what was signed: {first}"
                + (f" (and {more} more: `braid verify` on it lists them)" if more else "")
                + ("" if vkey else f"; {_ANOTHER}")
            )

    def _go_on(self, beyond: _Newer, unknown: list[int], reason: str) -> str:
        """Note the fork in the log, signed, then the erasures that the copy did not know; return the note's id."""
        with closing(
            Writer(
                self._building,
                guard=self._own_guard,
                passphrase=self._secrets.passphrase,
                adopt=True,
                clock=self._clock,
            )
        ) as writer:
            note = note_fork(writer, (beyond.size, beyond.root) if beyond.size else None, reason)
            if unknown:
                erasing.erase(writer, lambda: unknown, list, reason="erased before this copy was restored")
            return str(note)


def _epoch_of(reader: Reader) -> int:
    """Return how often the vault has been punctured by the erasures of a log."""
    return max((epoch for epoch, _ in reader.control.erasures.values()), default=0)


def _put_in_place(building: Path, place: Path, guard: Guard) -> None:
    """Let the guard remember a fork's head, then rename the store into its place."""
    own = Guard(building / _OWN_GUARD)
    sync_tree(building)
    failpoint("restore.built")
    # Dying here: a hidden folder that the next restore throws away.
    if (head := own.read()) is not None:
        guard.write(head)
        failpoint("restore.guarded")
        # Dying here: the guard remembers the fork, whose store the next restore finds whole and renames.
    if place.exists():
        place.rmdir()
    building.rename(place)
    sync_folder(place.absolute().parent)
    failpoint("restore.renamed")
    (place / _OWN_GUARD).unlink(missing_ok=True)


def _resume(building: Path, place: Path, guard: Guard, manifest: BackupManifest) -> Restored | None:
    """Put a fork in its place whose head the guard remembers already, since a restore died over it; else None."""
    if building.is_symlink():
        return None
    own = Guard(building / _OWN_GUARD)
    head = own.read()
    if head is None or head != guard.read():
        return None
    _put_in_place(building, place, guard)
    with closing(Reader(place, guard=guard)) as reader:
        note = reader.envelope(manifest.size).id
        vault = (place / "vault").exists()
    return Restored(manifest.size, manifest.root, vault, 0, guarded=True, fork=note)
