"""Audits of the whole log, what is wrong with its files, and backups."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from braid.ledger.audit.findings import Report, VerifiedState
from braid.ledger.backup.backup import Backup
from braid.ledger.errors import BackupError, IntegrityError, NoVaultError
from braid.ledger.repair.condition import Problem
from braid.ledger.write.writer import Writer
from braid.operation import Name, PathName, Request, Response, operation
from braid.session import Session
from braid.views.errors import ViewError
from braid.wal.errors import LogLockedError


class Verify(Request, frozen=True, kw_only=True):
    """What is checked: `deep` also unseals bodies and compares projections, `hash_only` leaves signatures out.

    `rederive` makes every view, claim and stance again. `since`: the state of an earlier clean audit, only what came
    later is read. `workers`: processes, all cores where none is said. `vkey`: the log's key, as you have pinned it.
    """

    deep: bool = False
    rederive: bool = False
    hash_only: bool = False
    since: VerifiedState | None = None
    workers: Annotated[int, Meta(ge=1, le=1_024)] | None = None
    vkey: Name | None = None


class Verified(Response, frozen=True, kw_only=True):
    """The verdict in a sentence, the exit code (0 clean, 1 findings, 2 could not look), and the report."""

    exit_code: int
    verdict: str
    report: Report


@operation(
    Verify,
    Verified,
    access="operate",
    cost="log",
    repeatable=True,
    returns="report",
    example=Verify(deep=True),
    errors=(ValueError, NoVaultError, IntegrityError),
)
def verify(
    session: Session, asked: Verify, *, progress: Callable[[int, int], None] | None = None
) -> Verified:
    """Verify the whole log from its files, and return all that is wrong, with positions.

    `progress` is called with how many bytes of how many were read. Raises ValueError for options that exclude each
    other, and NoVaultError for `rederive` where bodies can't be read. SPEC §11.
    """
    from braid.ledger.audit.verify import verify as audit

    reader = session.reader
    if isinstance(reader, Writer):
        reader.checkpoint()
    report = audit(
        session.path,
        deep=asked.deep,
        hash_only=asked.hash_only,
        since=asked.since,
        workers=asked.workers,
        progress=progress,
        guard=reader.guard,
        passphrase=reader.passphrase,
        vkey=asked.vkey,
        projections=session.views.check if asked.deep else None,
    )
    if asked.rederive:
        from braid.admin import rederivation

        report = rederivation.with_rederived(report, rederivation.rederive(reader, session.parsing))
    return Verified(exit_code=report.exit_code, verdict=report.verdict, report=report)


class Doctor(Request, frozen=True, kw_only=True):
    """The question what is wrong with the store's files, keys, vault, guard, snapshots, and room."""


class Diagnosis(Response, frozen=True, kw_only=True):
    """What is wrong, each with what to do; none where nothing is."""

    problems: tuple[Problem, ...]


@operation(
    Doctor,
    Diagnosis,
    access="operate",
    repeatable=True,
    cost="log",
    returns="problems",
    example=Doctor(),
    errors=(OSError, ViewError),
)
def doctor(session: Session, asked: Doctor) -> Diagnosis:
    """Return what is wrong with the store's files, keys, vault, guard, snapshots, projections, and room.

    Nothing is changed. What the log says is for `verify`. A store that can't be opened is examined by `braid doctor`.
    """
    from braid.ledger.repair.derived_files import examine
    from braid.views.snapshot.condition import problems
    from braid.views.snapshot.folder import Snapshots

    del asked
    reader = session.reader
    found = examine(session.path, reader.guard, reader.passphrase, now=session.now())
    if obstructed := obstructions(session.path):
        return Diagnosis(
            problems=(*found, *obstructed)
        )  # what is in the way would be all that is found behind it
    folder = session.path / "views" / "snapshots"
    if folder.is_dir():
        found += problems(reader, Snapshots(folder, reader))
    if (session.path / "views").is_dir():
        found += projection_problems(session)
    return Diagnosis(problems=tuple(found))


def obstructions(path: Path) -> list[Problem]:
    """Return what stands in the place of a projection's file or folder in a store's folder: one problem each."""
    from braid.views.obstruction import in_the_way

    views = path / "views"
    return [
        Problem(
            "obstructed",
            f"{one.relative_to(path)} is no part of a projection, and stands in the place of one",
            "it leads elsewhere: remove the link, then `braid replay`"
            if one.is_symlink()
            else "braid replay: it is removed, and the projection is made again from the log",
        )
        for one in in_the_way(views)
    ]


def projection_problems(session: Session) -> list[Problem]:
    """Return which projections differ from the log, row for row: one problem a file. Raises ViewError."""
    by_file: dict[str, list[str]] = {}
    for finding in session.views.check():
        by_file.setdefault(finding.file or "views", []).append(finding.message)
    return [
        Problem(
            "projection",
            f"{file}: {messages[0]}" + (f" (and {len(messages) - 1} more)" if len(messages) > 1 else ""),
            "braid replay: it is derived, and made again from the log; `braid verify --deep` names every row",
        )
        for file, messages in by_file.items()
    ]


class MakeBackup(Request, frozen=True, kw_only=True):
    """A folder on the machine that the store is on."""

    dest: PathName
    with_vault: bool = False


@operation(
    MakeBackup,
    Backup,
    access="admin",
    cost="log",
    repeatable=True,
    remote=False,
    positional=("dest",),
    example=MakeBackup(dest="/mnt/backup/memory"),
    errors=(BackupError, LogLockedError, OSError),
)
def backup(session: Session, asked: MakeBackup) -> Backup:
    """Bring the backup in `dest` to this store's published head, copying what is new; `braid.restore` reads it.

    Neither vault nor private keys go along unless `with_vault`. Raises BackupError. SPEC §13.1.
    """
    from braid.ledger.backup.backup import back_up

    return back_up(session.reader, Path(asked.dest), now=session.now(), with_vault=asked.with_vault)
