"""A verification as the command runs it: with a bar, and also of a store that can't be opened."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from braid.ledger.errors import LedgerError
from braid.tools.cli.access import Chosen, passphrase_from, reading
from braid.tools.cli.output import line, put, put_fields, say
from braid.tools.cli.progress import Bar
from braid.views.errors import ViewError
from braid.wal.errors import WalError

if TYPE_CHECKING:
    from braid.ledger.audit.findings import Finding, Report, VerifiedState
    from braid.ledger.tree.guard import Guard


def audit(
    path: Path,
    guard: "Guard",
    *,
    deep: bool,
    rederive: bool,
    hash_only: bool,
    since: "VerifiedState | None",
    workers: int | None,
    vkey: str | None,
    bar: Bar,
) -> "Report":
    """Verify the store at `path` from its files; with `deep` its projections too, with `rederive` what is derived
    in the log, where it can be opened."""
    from braid.ledger.audit.verify import verify

    def projections() -> "list[Finding]":
        try:
            with reading(path) as opened:
                found: list[Finding] = opened.views.check()
        except ViewError as error:
            raise OSError(str(error)) from error
        return found

    report = verify(
        path,
        deep=deep,
        hash_only=hash_only,
        since=since,
        workers=workers,
        progress=bar.reach,
        guard=guard,
        passphrase=passphrase_from(Chosen.passphrase_file),
        vkey=vkey,
        projections=projections if deep else None,
    )
    if not rederive or (report.could_not_look and not report.records):
        return report
    from braid import installed_parser
    from braid.admin import rederivation as again

    try:
        with reading(path) as opened:
            return again.with_rederived(report, again.rederive(opened.reader, installed_parser))
    except (LedgerError, WalError) as error:
        blind = [*report.could_not_look, f"what was derived: {error}"]
        return msgspec.structs.replace(report, could_not_look=blind, state=None)


def read_state(path: Path) -> "VerifiedState | None":
    """Return what an earlier verification left, None when there is nothing."""
    from braid.ledger.audit.findings import VerifiedState

    try:
        return VerifiedState.from_json(path.read_bytes())
    except FileNotFoundError:
        say(f"nothing was verified before ({path}): the whole log is looked at")
        return None
    except ValueError as error:
        raise ValueError(
            f"{path} is not what an earlier verification left: {error}; remove it to verify all"
        ) from None


def keep_state(path: Path, state: "VerifiedState", *, named: bool) -> None:
    """Keep what the next --since may stand on; not being able to is only worth telling when it was asked for."""
    from braid.wal.durable import make_folder, replace_file

    try:
        make_folder(path.parent)
        replace_file(path, state.to_json(), "verified.write")
    except OSError as error:
        if named:
            say(f"what was verified could not be kept for --since: {error}")


def put_report(report: "Report") -> None:
    """Write findings, verdict and figures; notes are told."""
    for finding in report.findings:
        put(line(str(finding)))
    for problem in report.could_not_look:
        put(f"could not look: {line(problem)}")
    put(line(report.verdict))
    fields: dict[str, Any] = {
        "records": report.records,
        "bytes": report.bytes,
        "tree size": report.head_size,
        "root": report.root,
    }
    put_fields(fields)
    for checked in report.checked:
        put(f"checked    {line(checked)}")
    for note in report.notes:
        say(note)
