"""`braid settings`: what is set for decisions, for forgetting and in an emergency; each change is a signed event."""

from typing import Annotated, Any

import typer

from braid.tools.cli.access import reading, writing
from braid.tools.cli.group import BraidGroup
from braid.tools.cli.options import Adopt, FormatOption, Shared, StoreOption
from braid.tools.cli.output import put_fields, put_rows, say
from braid.wire import to_builtins

app = typer.Typer(cls=BraidGroup, rich_markup_mode=None)
_COLUMNS = ("key", "value", "default", "reason", "record")


def register(above: typer.Typer) -> None:
    """Add this module's commands."""
    above.add_typer(app, name="settings", rich_help_panel="Tend")


@app.callback(invoke_without_command=True)
def settings(ctx: typer.Context) -> None:
    """List or change what is set for decisions, for forgetting, and in an emergency.

    \b
    Examples:
      braid settings list
      braid settings set mutations_frozen true --reason "an agent forgets too much"
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command(name="list")
def list_(*, output: FormatOption = "table", store: StoreOption = None) -> None:
    """List every setting with its value, its default, and the record that set it.

    \b
    Examples:
      braid settings list
      braid settings list -o json
    """
    with reading(store) as opened:
        told: list[dict[str, Any]] = to_builtins(opened.list_settings())
    put_rows(_COLUMNS if output == "table" else tuple(told[0]), told, output)


@app.command(name="set")
def set_(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Which setting.", show_default=False)],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="true, 10, shadow.", show_default=False)],
    *,
    reason: Annotated[
        str, typer.Option("--reason", help="Why; it is sealed with the event.", show_default=False)
    ],
    adopt: Adopt = False,
    shared: Shared = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Set a key by a signed event. What is set so already adds nothing.

    \b
    Examples:
      braid settings set mutations_frozen true --reason "an agent forgets too much"
      braid settings set forget_confirm_above 3 --reason "small steps"
    """
    with writing(store, adopt=adopt, shared=shared) as opened:
        done = opened.change_setting(key, value, reason=reason)
        opened.checkpoint()
    put_fields(to_builtins(done.setting), output)
    if not done.is_new:
        say("it was set so before")
