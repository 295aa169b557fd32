"""`braid status` and `braid doctor`: how a store is, and making good what is safe to make good."""

import shutil
from typing import Annotated, Any

import typer

from braid.tools.cli.access import guard_of, reading, where, writing
from braid.tools.cli.errors import FINDINGS
from braid.tools.cli.options import DryRun, FormatOption, Reason, StoreOption
from braid.tools.cli.output import Format, line, put, put_fields, put_json, put_rows, say
from braid.tools.cli.viewing import flatten

PANEL = "Tend"


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel=PANEL)(status)
    app.command(rich_help_panel=PANEL)(doctor)


def status(output: FormatOption = "table", store: StoreOption = None) -> None:
    """Show size, signed head, lag of projections, retention, disk.

    \b
    Examples:
      braid status
      braid status -o json
    """
    import msgspec

    with reading(store) as opened:
        known: dict[str, Any] = msgspec.to_builtins(opened.status())
        known["views"] = _by_name(known["views"])
        disk = shutil.disk_usage(opened.path)
        known["unsigned_tail"] = known["records"] - known["checkpoint"]["size"]
        known["disk"] = {
            "free": disk.free,
            "store": sum(f.stat().st_size for f in opened.path.rglob("*") if f.is_file()),
        }
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
        bool, typer.Option("--fix", help="Make good what is derived: indexes, tiles, checkpoint, reserve.")
    ] = False,
    accept_clock: Annotated[
        bool,
        typer.Option(
            "--accept-clock", help="Log that the clock is behind, and go on from the last record's time."
        ),
    ] = False,
    reason: Reason = None,
    dry_run: DryRun = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Look for what is wrong with a store's files.

    Says what to do; --fix derives again what is derived. The log itself is never touched.

    \b
    Examples:
      braid doctor
      braid doctor --fix --dry-run
      braid doctor --accept-clock --reason "the clock was a year ahead"
    """
    from braid.ledger.repair import examine, repair

    path = where(store)
    if accept_clock:
        _accept_clock(store, reason, dry_run=dry_run)
        return
    guard = guard_of(path)
    problems = examine(path, guard)
    if fix and not dry_run:
        for done in repair(path, guard):
            put(line(done))
        problems = examine(path, guard)
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


def _put_problems(rows: list[dict[str, Any]], output: Format) -> None:
    if output != "table":
        put_rows(("problem", "detail", "remedy", "fixable"), rows, output)
        return
    for row in rows:
        put(line(f"{row['problem']}: {row['detail']}"))
        put(line(f"  {row['remedy']}"))


def _accept_clock(store: Any, reason: str | None, *, dry_run: bool) -> None:
    if dry_run:
        with reading(store):
            say("an acceptance of the clock would be logged (--dry-run)")
        return
    with writing(store) as opened:
        put(opened.writer.accept_clock(reason))
    say("logged: times go on from the last record's until the clock has caught up")
