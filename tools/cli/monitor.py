"""`braid monitor`: a log watched from outside, by cron or for as long as one likes."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from braid.tools.cli import destination
from braid.tools.cli.access import guard_of
from braid.tools.cli.errors import FINDINGS
from braid.tools.cli.output import line, many, put, put_json, say
from braid.tools.cli.publish import PolicyOption, TimeoutOption
from braid.tools.cli.verify import PANEL, ReportForm, log_key

if TYPE_CHECKING:
    from braid.ledger.witness.monitor import AlertLimits, Look, MonitorState

_SHOWN = 100


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel=PANEL)(monitor)


def monitor(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="URL|STORE | compare A B", help="The log; or two states to compare.", show_default=False
        ),
    ],
    *,
    state: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where it remembers what it saw.", show_default=False),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="VKEY",
            help="The log's public key, or a file that holds it; needed for the first look.",
            show_default=False,
        ),
    ] = None,
    policy: PolicyOption = None,
    max_age: Annotated[
        float, typer.Option("--max-age", metavar="HOURS", help="How long it may stand still.")
    ] = 24,
    max_rate: Annotated[
        int | None,
        typer.Option("--max-rate", metavar="N", help="Records an hour.", show_default="20 × the usual"),
    ] = None,
    timeout: TimeoutOption = 20.0,
    output: Annotated[ReportForm, typer.Option("--output", "-o", help="How to show it.")] = "table",
) -> None:
    """Look at a log and say what a person should hear of.

    A rollback, a fork, a log that stands still, erasures, keys, records by keys that may not sign, rates out of the
    ordinary. Everything new is verified. The first look takes the log as it finds it.

    `compare` holds the memories of two monitors against each other, offline: a log that showed them two histories is
    convicted by the two signed heads that it names.

    Exit code 0: quiet; 1: alarms; 2: could not look.

    \b
    Examples:
      braid monitor https://log.example.org/maya --state maya.seen --key maya.vkey
      braid monitor memory --state memory.seen -o json
      braid monitor compare maya.seen from-jonas.seen
    """
    if what[0] == "compare":
        if len(what) != 3:
            raise typer.BadParameter("compare takes the states of two monitors", param_hint="compare A B")
        _compare(Path(what[1]), Path(what[2]), output)
        return
    if len(what) != 1 or state is None:
        raise typer.BadParameter(
            "name one log, and --state FILE to remember what it showed", param_hint="--state"
        )
    from braid.ledger.witness.monitor import AlertLimits

    destination.outside(state, Path(what[0]) if (Path(what[0]) / "store.json").exists() else None)
    limits = AlertLimits(age_s=int(max_age * 3600), per_hour=max_rate)
    seen = _look(what[0], _remembered(state), key, policy, limits, timeout)
    _tell(seen, output)
    if seen.state is not None:  # after it was told: dying in between tells it twice, never not at all
        _keep(state, seen.state)
    if seen.alarms:
        raise typer.Exit(FINDINGS)


def _look(  # noqa: PLR0917 - what was asked for
    place: str,
    known: "MonitorState | None",
    key: str | None,
    policy: Path | None,
    limits: "AlertLimits",
    timeout: float,
) -> "Look":
    from braid.ledger.publish.remote import ServedLog
    from braid.ledger.tree.note import parse_vkey
    from braid.ledger.witness.monitor import look
    from braid.tools.cli.proofs import read_policy
    from braid.tools.tlog.sources import source_of

    given = str(parse_vkey(log_key(key))) if key else None
    if known is not None and given not in (None, *known.keys_of_heads):
        raise ValueError(f"the state is of a log with the key {known.vkey}: another key needs another state")
    pinned = known.vkey if known else given
    if pinned is None:
        raise ValueError("the first look needs the log's key: --key VKEY, as its owner gave it to you")
    guard = guard_of(Path(place)) if (Path(place) / "store.json").exists() else None
    with source_of(place, guard=guard, timeout_s=timeout) as source:
        log = ServedLog(source.fetch, parse_vkey(pinned), read_policy(policy) if policy else None)
        return look(log, known, limits, int(time.time()), source.gather)


def _tell(seen: "Look", output: ReportForm) -> None:
    if output == "json":
        alarms = [{"kind": one.kind, "what": one.what, "index": one.index} for one in seen.alarms]
        put_json({"alarms": alarms, "size": seen.size, "new": seen.new})
        return
    for one in seen.alarms[:_SHOWN]:
        put(f"{one.kind}: {line(one.what)}")
    if len(seen.alarms) > _SHOWN:
        put(f"… and {len(seen.alarms) - _SHOWN} more: -o json shows all")
    say(f"{many(seen.size, 'record')}, {seen.new} of them new, {many(len(seen.alarms), 'alarm')}")


def _remembered(path: Path) -> "MonitorState | None":
    from braid.ledger.witness.monitor import read_state

    try:
        return read_state(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ValueError(
            f"{path}: {error}; a monitor without its memory can't see a rollback: restore it, or begin again elsewhere"
        ) from None


def _keep(path: Path, state: "MonitorState") -> None:
    import msgspec

    from braid.wal.durable import replace_file

    replace_file(path.absolute(), msgspec.json.encode(state) + b"\n", "monitor.write")


def _compare(first: Path, second: Path, output: ReportForm) -> None:
    from braid.ledger.witness.monitor import compare

    states: list[MonitorState] = []
    for path in (first, second):
        found = _remembered(path)
        if found is None:
            raise FileNotFoundError(f"there is no state at {path}")
        states.append(found)
    compared = compare(states[0], states[1])
    if output == "json":
        put_json({"conflict": compared.conflict, "what": compared.what})
    else:
        put(compared.what)
        for note in compared.conflict or ():
            put("")
            put("\n".join(map(line, note.splitlines())))
    if compared.conflict:
        raise typer.Exit(FINDINGS)
