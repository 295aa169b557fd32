"""Records that leave with the evidence of where they are from, and records of another store that come in (SPEC §13)."""

from collections.abc import Iterable, Iterator

import braid.exchange.capture_operations  # noqa: F401  # pyright: ignore[reportUnusedImport]  # declares its own
from braid.ledger.errors import (
    DestinationExistsError,
    EvidenceError,
    IntegrityError,
    LedgerError,
    NoVaultError,
    ReadOnlyError,
)
from braid.ledger.record.scope import SCOPES, ids_of
from braid.ledger.subject.format import Counts
from braid.operation import Name, PathName, Request, Response, Scoped, operation
from braid.session import Session
from braid.wal.errors import OutcomeUnknownError


class ExportRecords(Request, frozen=True, kw_only=True):
    """Every record under the signed head, without the forgotten unless they are asked for."""

    include_forgotten: bool = False


@operation(
    ExportRecords,
    str,
    access="admin",
    cost="log",
    repeatable=True,
    streams=True,
    example=ExportRecords(),
    errors=(NoVaultError, IntegrityError, LedgerError),
)
def export_records(session: Session, asked: ExportRecords) -> Iterator[str]:
    """Yield the records under the signed head as lines of JSON, each with the evidence of where it is from.

    Control records go along as envelopes at least, so that a reader can tell which keys were in force. Raises
    NoVaultError. Form: SPEC §13.
    """
    from braid.exchange.lines import lines

    yield from lines(session, include_forgotten=asked.include_forgotten)


class ImportRecords(Request, frozen=True, kw_only=True):
    """An export: a file, its folder or a zip of that. `vkey`: the key of the exporting log, as you were given it."""

    path: PathName | None = None
    vkey: Name | None = None
    dry_run: bool = False


class Imported(Response, frozen=True, kw_only=True):
    """What an import did: records added, known from before; lines refused, and links left loose, each with its reason.

    A loose link leads to a record which the export doesn't bring, and no erasure explains.
    """

    added: int
    known: int
    refused: tuple[tuple[int, str], ...]
    loose: tuple[tuple[int, str], ...]


@operation(
    ImportRecords,
    Imported,
    access="admin",
    cost="log",
    repeatable=True,
    remote=False,
    positional=("path",),
    example=ImportRecords(path="memory.jsonl", dry_run=True),
    errors=(EvidenceError, OSError, ReadOnlyError, OutcomeUnknownError),
)
def import_records(
    session: Session, asked: ImportRecords, *, lines: Iterable[bytes] | None = None
) -> Imported:
    """Append the records of another store's export under new ids, each checked, its evidence kept in its body.

    Importing the same lines again adds nothing. What doesn't hold is refused with its line; the rest goes in. `lines`:
    those of an export, in place of a path. Raises EvidenceError where nothing of it can be believed.
    """
    from pathlib import Path

    from braid.exchange.intake import import_jsonl
    from braid.exchange.lines import open_lines

    if (asked.path is None) == (lines is None):
        raise ValueError("name a path, or give lines")
    if lines is not None:
        done = import_jsonl(session, lines, vkey=asked.vkey, dry_run=asked.dry_run)
    else:
        with open_lines(Path(asked.path or "")) as opened:
            done = import_jsonl(session, opened, vkey=asked.vkey, dry_run=asked.dry_run)
    return Imported(added=done.added, known=done.known, refused=tuple(done.refused), loose=tuple(done.loose))


class ExportCopy(Request, frozen=True, kw_only=True):
    """A new folder. `audit`: vault, private keys and projections stay behind."""

    path: PathName
    audit: bool = False


class Copied(Response, frozen=True, kw_only=True):
    """The files that were written, relative to the folder."""

    files: tuple[str, ...]


@operation(
    ExportCopy,
    Copied,
    access="admin",
    cost="log",
    remote=False,
    positional=("path",),
    returns="files",
    example=ExportCopy(path="copy-for-the-auditor", audit=True),
    errors=(DestinationExistsError, LedgerError, OSError),
)
def export_copy(session: Session, asked: ExportCopy) -> Copied:
    """Copy the log as far as its published head into a new folder.

    With `audit` the copy can be verified, traced and proved, and not one memory can be read from it; without, vault and
    keys go along. Raises DestinationExistsError, LedgerError.
    """
    from pathlib import Path

    from braid.exchange.copies import export_store

    return Copied(files=tuple(export_store(session, Path(asked.path), audit=asked.audit)))


class ExportSubject(Scoped, frozen=True, kw_only=True):
    """Whose records: all the ids that are given must hold. `path`: a new folder, or a file that ends in `.zip`.

    Without a path nothing is written: the answer says what an export would hold. An id may be an odd one of an older
    log: who it is about has a right to it.
    """

    user_id: Name | None = None
    agent_id: Name | None = None
    run_id: Name | None = None
    project_id: Name | None = None
    session_id: Name | None = None
    path: PathName | None = None
    actor: Name | None = None


@operation(
    ExportSubject,
    Counts,
    access="admin",
    cost="log",
    remote=False,
    positional=("path",),
    example=ExportSubject(user_id="maya"),
    errors=(ValueError, DestinationExistsError, NoVaultError, LedgerError, OSError),
)
def export_subject(session: Session, asked: ExportSubject) -> Counts:
    """Write everything held about a subject into a new folder or zip, as far as the signed head (docs/access.md).

    Files are 0600, the folder 0700. Raises ValueError where nothing is held: a slip of the pen must not look like a
    complete answer; DestinationExistsError, NoVaultError.
    """
    from pathlib import Path

    from braid.exchange import subject

    named = dict(zip(SCOPES, ids_of(asked), strict=True)) | {"actor": asked.actor}
    who = {name: value for name, value in named.items() if value is not None}
    if not who:
        raise ValueError("name the subject: user_id, agent_id, run_id, project_id, session_id or actor")
    if asked.path is None:
        return subject.plan_subject(session, who)
    return subject.export_subject(session, Path(asked.path), who, now=session.now())
