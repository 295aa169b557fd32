"""What a backup is made of, and how a new state takes the place of the old one: whole or not at all (SPEC §13.1).

    backup.json        what the backup holds, and how far
    incoming/          bytes on their way in; without `plan.json` they are thrown away
    incoming/plan.json where each of them belongs: from here on the new state is the one that counts

Everything behind the plan can be done again: whoever dies over it leaves the rest to the next backup. A restore does
the rest in its own copy and leaves the backup as it is: it comes from wherever it was kept.
"""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import msgspec

from braid.ledger.errors import BackupError
from braid.ledger.keys.vault import zero_fill
from braid.wal.durable import make_folder, replace_file, sync_folder, sync_tree
from braid.wal.failpoint import failpoint
from braid.wal.regular import GROWING_BYTES, copy_regular, entries_below, open_regular, read_regular

NAME: Final = "backup.json"
FORMAT: Final = 1
_INCOMING: Final = "incoming"
_PLAN: Final = "plan.json"
_COPY_BYTES: Final = 4 << 20
_STORE_ID: Final = re.compile(r"[a-z2-7]{16}")
_STAGED: Final = re.compile(r"\d{6,}")
_TARGET: Final = re.compile(
    r"(?:log|tile|blobs|keys)(?:/\w[\w.-]*)+|store\.json|checkpoints?|vault", re.ASCII
)


class HeldSegment(msgspec.Struct, frozen=True):
    """How much of a segment is held: the offset of its last frame, and the end of that."""

    last: int
    end: int


class BackupManifest(msgspec.Struct, frozen=True):
    """What a backup holds."""

    braid_backup: int
    store_id: str
    origin: str
    size: int
    root: str
    """Root (hex) of the log's first `size` records."""
    made_at: str
    secrets: bool
    """Whether vault and private keys are in it."""
    vault_epoch: int | None
    segments: dict[str, HeldSegment]
    settled: int = 0
    """The size at which what was erased was last carried out in it: behind the copying, so it may lag."""


class IncomingPiece(msgspec.Struct, frozen=True):
    """Bytes on their way in: a whole file, or with `offset` what belongs at and behind it."""

    staged: str
    target: str
    offset: Annotated[int, msgspec.Meta(ge=0)] | None = None


class BackupPlan(msgspec.Struct, frozen=True):
    """All that turns the old state into the new one, in order."""

    pieces: list[IncomingPiece]
    gone: list[str]
    manifest: BackupManifest


class Staging:
    """Collects what is new, without touching what is there."""

    def __init__(self, backup: Path) -> None:
        self._backup = backup
        self._folder = backup / _INCOMING
        shutil.rmtree(self._folder, ignore_errors=True)  # of one that died before its plan
        make_folder(self._folder)
        self._pieces: list[IncomingPiece] = []
        self.bytes = 0

    @property
    def targets(self) -> list[str]:
        """The files that something was staged for."""
        return [piece.target for piece in self._pieces]

    @property
    def whole(self) -> list[str]:
        """The files that were staged whole, not behind what is held of them."""
        return [piece.target for piece in self._pieces if piece.offset is None]

    def begin(self, target: str, offset: int | None = None) -> Path:
        """Return where the bytes of a target are to be written; `end` counts them."""
        staged = f"{len(self._pieces):06d}"
        self._pieces.append(IncomingPiece(staged, target, offset))
        return self._folder / staged

    def end(self, path: Path) -> None:
        """Take what was written at `path` as whole."""
        path.chmod(0o600)
        self.bytes += path.stat().st_size

    def put(self, target: str, data: bytes) -> None:
        """Stage a file's bytes, where the backup has not these."""
        held = self._backup / target
        if held.exists() and held.stat().st_size == len(data) and read_regular(held, len(data)) == data:
            return
        path = self.begin(target)
        path.write_bytes(data)
        self.end(path)

    def copy(self, target: str, source: Path) -> None:
        """Stage a copy of a file."""
        path = self.begin(target)
        copy_regular(source, path)
        self.end(path)

    def commit(self, manifest: BackupManifest, gone: list[str]) -> None:
        """Make the staged state the one that counts."""
        sync_tree(self._folder)
        failpoint("backup.staged")
        # Dying here: the old state; what is staged is thrown away.
        plan = BackupPlan(self._pieces, gone, manifest)
        replace_file(self._folder / _PLAN, msgspec.json.encode(plan), "backup.plan")
        # Dying from here on: the new state, which `finish` completes.
        finish(self._backup)


def refuse_strange(backup: Path) -> None:
    """Raise BackupError for anything in a backup's folder that is neither a file nor a folder.

    Whoever kept the backup could have put a link there: what is written, or removed, would be elsewhere.
    """
    for entry in entries_below(backup):
        if not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
            found = "a link" if entry.is_symlink() else "neither a file nor a folder"
            raise BackupError(
                f"{entry.path} is {found}, and a backup holds files and folders alone; nothing was done. Find out who "
                "put it there, or make another backup elsewhere"
            )


def read_plan(backup: Path) -> BackupPlan | None:
    """Return what is left to do of a backup that was committed, None where nothing is; BackupError for a bad plan."""
    folder = backup / _INCOMING
    try:
        plan = msgspec.json.decode(read_regular(folder / _PLAN, GROWING_BYTES), type=BackupPlan)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except msgspec.MsgspecError as error:
        raise BackupError(
            f"{folder / _PLAN} can't be read ({error}): make another backup elsewhere"
        ) from error
    for name in (*(piece.target for piece in plan.pieces), *plan.gone):
        if not _TARGET.fullmatch(name):  # a plan comes from wherever the backup was kept
            raise BackupError(f"{folder / _PLAN} names {name!r}, which is no file of a backup")
    for piece in plan.pieces:
        if not _STAGED.fullmatch(piece.staged):
            raise BackupError(f"{folder / _PLAN} takes {piece.staged!r}, which was not staged there")
    _check(folder / _PLAN, plan.manifest)
    return plan


def finish(backup: Path) -> bool:
    """Complete a backup that was committed; return whether there was one. Harmless to repeat.

    Only after `refuse_strange`. Raises BackupError for a bad plan.
    """
    folder = backup / _INCOMING
    plan = read_plan(backup)
    if plan is None:
        return False
    for piece in plan.pieces:
        failpoint("backup.apply")
        _put_in_place(folder / piece.staged, backup / piece.target, piece.offset)
    for target in plan.gone:
        (backup / target).unlink(missing_ok=True)
    for parent in {(backup / piece.target).parent for piece in plan.pieces}:
        sync_folder(parent)
    save(backup, plan.manifest)
    (folder / _PLAN).unlink()
    sync_folder(folder)
    shutil.rmtree(folder)
    failpoint("backup.done")
    return True


def staged_whole(backup: Path, plan: BackupPlan) -> set[str]:
    """Return the files that a plan has still to put in place, as a whole."""
    pieces = [piece for piece in plan.pieces if piece.offset is None]
    return {piece.target for piece in pieces if (backup / _INCOMING / piece.staged).exists()}


def overlay(source: Path, plan: BackupPlan, copy: Path, wanted: Callable[[str], bool]) -> None:
    """Carry out in a copy what is left to do in the backup `source`, which stays as it is.

    Only for targets that are `wanted`. Raises BackupError where bytes are missing.
    """
    for piece in plan.pieces:
        staged = source / _INCOMING / piece.staged
        if not wanted(piece.target) or not staged.exists():  # before the last death
            continue
        target = copy / piece.target
        make_folder(target.parent)
        if piece.offset is None:
            copy_regular(staged, target)
            continue
        try:
            _write_at(staged, target, piece.offset)
        except FileNotFoundError:
            raise BackupError(
                f"the backup is damaged: {source / piece.target} is missing; make another backup elsewhere"
            ) from None
    for name in filter(wanted, plan.gone):
        (copy / name).unlink(missing_ok=True)


def _put_in_place(staged: Path, target: Path, offset: int | None) -> None:
    if not staged.exists():  # before the last death
        return
    make_folder(target.parent)
    if offset is None:
        old = open_regular(target, os.O_WRONLY) if target.name == "vault" and target.exists() else None
        try:
            staged.replace(target)
            if old is not None:  # an old vault is what would bring the erased back
                zero_fill(old)
        finally:
            if old is not None:
                os.close(old)
        return
    _write_at(staged, target, offset)
    staged.unlink()


def _write_at(staged: Path, target: Path, offset: int) -> None:
    """Let a file go on at `offset` with the staged bytes, durably."""
    fd = open_regular(target, os.O_WRONLY)
    try:
        os.ftruncate(fd, offset)
        with os.fdopen(open_regular(staged), "rb") as source:
            os.lseek(fd, offset, os.SEEK_SET)
            while data := source.read(_COPY_BYTES):
                view = memoryview(data)
                while view:
                    view = view[os.write(fd, view) :]
        os.fsync(fd)
    finally:
        os.close(fd)


def save(backup: Path, manifest: BackupManifest) -> None:
    """Let the backup say this of itself."""
    replace_file(
        backup / NAME, msgspec.json.format(msgspec.json.encode(manifest), indent=1), "backup.manifest"
    )


def load(backup: Path) -> BackupManifest | None:
    """Return what a backup says that it holds; None where there is none, BackupError for one that can't be read."""
    path = backup / NAME
    try:
        manifest = msgspec.json.decode(read_regular(path, GROWING_BYTES), type=BackupManifest)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise BackupError(f"{backup} is a file: a backup is a folder, such as `braid backup` makes") from None
    except msgspec.MsgspecError as error:
        raise BackupError(f"{path} can't be read ({error}): make another backup elsewhere") from error
    _check(path, manifest)
    return manifest


def _check(path: Path, manifest: BackupManifest) -> None:
    if manifest.braid_backup != FORMAT:
        raise BackupError(f"{path}: format {manifest.braid_backup}; this release reads format {FORMAT}")
    if not _STORE_ID.fullmatch(manifest.store_id):
        raise BackupError(f"{path}: {manifest.store_id!r} is no store's id: make another backup elsewhere")
