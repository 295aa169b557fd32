"""`braid freeze` and `braid unfreeze`: the switch that stops everybody but an operator from changing anything."""

import typer

from braid.tools.cli.access import writing
from braid.tools.cli.options import Adopt, Reason, Shared, StoreOption
from braid.tools.cli.output import put, say


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel="Tend")(freeze)
    app.command(rich_help_panel="Tend")(unfreeze)


def freeze(
    *, reason: Reason = None, adopt: Adopt = False, shared: Shared = False, store: StoreOption = None
) -> None:
    """Let nobody but an operator change the store: callers of its server and agents can only read. Prints the event.

    \b
    Examples:
      braid freeze --reason "an agent forgets what it should not"
    """
    with writing(store, adopt=adopt, shared=shared) as opened:
        before = opened.frozen()
        put(str(opened.freeze(reason=reason).record))
    say(
        "it was frozen before"
        if before.frozen
        else "frozen: who is no operator can only read; `braid unfreeze`"
    )


def unfreeze(
    *, reason: Reason = None, adopt: Adopt = False, shared: Shared = False, store: StoreOption = None
) -> None:
    """End a freeze. Prints the event that ends it.

    \b
    Examples:
      braid unfreeze --reason "its token is revoked"
    """
    with writing(store, adopt=adopt, shared=shared) as opened:
        lifted = opened.unfreeze(reason=reason)
    if lifted.record is None:
        say("it was not frozen")
    else:
        put(lifted.record)
