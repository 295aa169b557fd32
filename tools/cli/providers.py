"""`braid providers`: the models of a store, what they were asked today, and what is left of the day's tokens."""

from typing import Annotated, Any

import typer

from braid.tools.cli.access import reading
from braid.tools.cli.options import FormatOption, StoreOption
from braid.tools.cli.output import put_json, put_rows, say
from braid.wire import to_builtins

_PLACES = ("role", "named", "breaker")
_USES = ("tier", "provider", "model", "remote", "calls", "failed", "tokens_in", "tokens_out", "ms")
_CALLS = (
    "at", "operation", "tier", "provider", "model", "remote", "tokens_in", "tokens_out", "bytes_out", "placeholders",
    "ms", "outcome",
)  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command(rich_help_panel="Tend")(providers)


def providers(
    *,
    calls: Annotated[
        int | None,
        typer.Option(
            "--calls", min=1, max=1_000, help="Instead, list what left: the newest calls.", show_default=False
        ),
    ] = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Show which models are set, which are left in peace, what they were asked today, and what is left of the day.

    `braid settings set` names them, their budgets, and whether they may be far away. No row holds a word of what was
    said.

    \b
    Examples:
      braid providers
      braid providers --calls 20
      braid providers -o json
    """
    with reading(store) as opened:
        if calls is not None:
            rows: list[dict[str, Any]] = to_builtins(opened.outbound_calls(limit=calls))
            put_rows(_CALLS if output == "table" else tuple(rows[0]) if rows else _CALLS, rows, output)
            return
        found = opened.providers()
    if output == "json":
        put_json(to_builtins(found))
        return
    put_rows(_PLACES, to_builtins(found.providers), output)
    if found.today:
        put_rows(_USES, to_builtins(found.today), output)
    for one in found.budgets or ():
        of = "no limit" if one.limit is None else f"of {one.limit:,} ({one.percent} %)"
        say(f"{one.tier}: {one.spent:,} tokens today, {of}")
    where = ", ".join(found.remote_hosts) or "none"
    say("local_only is set: nothing leaves this machine" if found.local_only else f"far hosts: {where}")
