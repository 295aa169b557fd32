"""`braid status` and `braid doctor`: how a store is, and making good what is safe to make good."""

import shutil
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from braid.tools.cli.access import Chosen, guard_of, passphrase_from, reading, where, writing
from braid.tools.cli.errors import FINDINGS
from braid.tools.cli.instants import AsOf, ValidAt, index_or_instant, instant
from braid.tools.cli.options import Adopt, DryRun, FormatOption, Reason, StoreOption
from braid.tools.cli.output import Format, line, many, put, put_fields, put_json, put_rows, say
from braid.tools.cli.overview import overview
from braid.tools.cli.progress import progress
from braid.tools.cli.projections import flatten

if TYPE_CHECKING:
    from braid.ledger.repair.condition import Problem
    from braid.ledger.tree.guard import Guard
    from braid.store import Store

PANEL = "Tend"
MOST_COMPARED: Final = 50_000
"""The projections of a longer log are left to `braid verify --deep`: to compare them takes minutes."""


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel=PANEL)(status)
    app.command(rich_help_panel=PANEL)(doctor)


def status(
    *,
    as_of: AsOf = None,
    valid_at: ValidAt = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every field, as -o json has them; catches the projection up.")
    ] = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Show how a store is: size, signed head, guard, retention, projections, disk; or what it held at another time.

    --all, and every format but the table, also tell the lag of each projection and the stage: how far the memory has
    come (empty, learning, viable, functional, mature, expert), and what it lacks to the next.

    \b
    Examples:
      braid status
      braid status --all
      braid status -o json
      braid status --as-of 2025-06-01 -o json
    """
    import msgspec

    with reading(store) as opened:
        if as_of is not None or valid_at is not None:
            when = None if as_of is None else index_or_instant(as_of)
            then = opened.status_at(
                as_of=when if isinstance(when, int) else None,
                as_of_time=when if isinstance(when, datetime) else None,
                valid_at=None if valid_at is None else instant(valid_at),
            )
            _put_status(msgspec.to_builtins(then), output)
            return
        if output == "table" and not every:
            put_fields(overview(opened))
            return
        known: dict[str, Any] = msgspec.to_builtins(opened.status())
        known["views"] = _by_name(known["views"])
        disk = shutil.disk_usage(opened.path)
        known["unsigned_tail"] = known["records"] - known["checkpoint"]["size"]
        known["disk"] = {
            "free": disk.free,
            "store": sum(f.stat().st_size for f in opened.path.rglob("*") if f.is_file()),
        }
        known["stage"] = _stage(opened)
    _put_status(known, output)


def _stage(opened: "Store") -> dict[str, Any] | None:
    """Return how far the memory has come; None, with a word, where its content can't be counted now."""
    import msgspec

    from braid.ledger.errors import NoVaultError
    from braid.views.errors import ViewError

    try:
        found = opened.stage()
    except (NoVaultError, ViewError, OSError) as error:
        say(f"the stage of the memory is not known now: {error}")
        return None
    shown: dict[str, Any] = msgspec.to_builtins(found)
    return shown


def _put_status(known: dict[str, Any], output: Format) -> None:
    if output in ("json", "jsonl"):
        put_json(known)
    else:
        put_fields(flatten(known), output)


def _by_name(views: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a list of named things as an object of them."""
    return {str(view.pop("name")): view for view in views}


def doctor(
    *,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix", help="Make good what is derived: indexes, tiles, checkpoint, reserve; and modes."
        ),
    ] = False,
    accept_clock: Annotated[
        bool,
        typer.Option(
            "--accept-clock", help="Log that the clock is behind, and go on from the last record's time."
        ),
    ] = False,
    adopt: Adopt = False,
    reason: Reason = None,
    dry_run: DryRun = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Look for what is wrong with a store: its files, keys, vault, guard, snapshots, projections, and room.

    Says what to do; --fix derives again what is derived. The log itself is never touched.

    \b
    Examples:
      braid doctor
      braid doctor --fix --dry-run
      braid doctor --accept-clock --reason "the clock was a year ahead"
      braid doctor --adopt
    """
    from braid.admin.audits import obstructions
    from braid.ledger.repair.derived_files import examine, repair

    path = where(store)
    if accept_clock:
        _accept_clock(store, reason, dry_run=dry_run)
        return
    guard = guard_of(path)
    passphrase = passphrase_from(Chosen.passphrase_file)
    if fix and not dry_run:  # before anything is opened: what is mended may be what keeps it from that
        for done in repair(path, guard):
            put(line(done))
    if adopt and not dry_run:
        with writing(store, adopt=True) as opened:
            say(f"the guard remembers this copy from now on: {many(len(opened), 'record')}")
    problems = examine(path, guard, passphrase)
    # What is in the way of a projection would be all that is found behind it.
    problems += obstructions(path) or [*_of_snapshots(path, guard), *_of_projections(path)]
    rows: list[dict[str, Any]] = [
        {"problem": one.name, "detail": one.detail, "remedy": one.remedy, "fixable": one.safe}
        for one in problems
    ]
    _put_problems(rows, output)
    if fix and dry_run:
        say(
            f"--fix would make good {sum(one.safe for one in problems)} of them (--dry-run: nothing was changed)"
        )
    if problems:
        raise typer.Exit(FINDINGS)
    say("nothing is wrong with the files; `braid verify` checks what they say")


def _of_snapshots(path: Path, guard: "Guard") -> "list[Problem]":
    """Return what is wrong with the snapshots; nothing where there are none, or the log itself can't be opened."""
    folder = path / "views" / "snapshots"
    if not folder.is_dir():
        return []
    from braid.ledger.errors import LedgerError
    from braid.ledger.publish.offer import KeylessReader
    from braid.views.snapshot.condition import problems
    from braid.views.snapshot.folder import Snapshots
    from braid.wal.errors import WalError

    try:
        reader = KeylessReader(path, guard=guard)
    except (LedgerError, WalError, OSError):  # which is among the problems already
        return []
    try:
        return list(problems(reader, Snapshots(folder, reader)))
    finally:
        reader.close()


def _of_projections(path: Path) -> "list[Problem]":
    """Return which projections differ from the log, row for row; nothing where that can't be opened or read.

    A log of more than `MOST_COMPARED` records is left to `braid verify --deep`, and that is said.
    """
    if not (path / "views").is_dir():
        return []
    from braid.admin.audits import projection_problems
    from braid.ledger.errors import LedgerError
    from braid.views.errors import ViewError
    from braid.wal.errors import WalError

    try:
        with reading(path) as opened, progress("comparing projections"):
            if len(opened) > MOST_COMPARED:
                size = many(len(opened), "record")
                say(f"the projections of {size} were not compared: `braid verify --deep` does that")
                return []
            return projection_problems(opened)
    except (LedgerError, WalError, OSError):  # which is among the problems already
        return []
    except ViewError as error:
        say(f"the projections were not compared with the log: {error}")
        return []


def _put_problems(rows: list[dict[str, Any]], output: Format) -> None:
    if output != "table":
        put_rows(("problem", "detail", "remedy", "fixable"), rows, output)
        return
    for row in rows:
        put(line(f"{row['problem']}: {row['detail']}"))
        put(line(f"  {row['remedy']}"))


def _accept_clock(store: Any, reason: str | None, *, dry_run: bool) -> None:
    from braid.ledger.write.sequence import is_clock_behind

    with reading(store) if dry_run else writing(store) as opened:
        if opened.server is None and not is_clock_behind(opened.session.reader, opened.session.now()):
            say("the log takes records: there is no clock to accept, and nothing was logged")
            return
        if dry_run:
            say("an acceptance of the clock would be logged (--dry-run)")
            return
        put(opened.writer.accept_clock(reason))
    say("logged: times go on from the last record's until the clock has caught up")
