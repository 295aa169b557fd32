"""The group that every `braid` command belongs to: where errors end, and how help lists the commands."""

from typing import Any

import typer
from typer.core import TyperGroup

from braid.tools.cli.errors import BROKEN_PIPE, report


class Braid(TyperGroup):
    """Turns every error of a command into a line on stderr and an exit code; lists commands by theme."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a broken pipe has a code of its own: typer's, 1, would say that there were findings."""
        try:
            return super().invoke(ctx)
        except typer.Exit:
            raise
        except BrokenPipeError:
            raise typer.Exit(BROKEN_PIPE) from None
        except (Exception, KeyboardInterrupt) as error:
            raise typer.Exit(report(error)) from None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under the heading of their theme."""
        themes: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                theme = str(getattr(command, "rich_help_panel", None) or "Commands")
                themes.setdefault(theme, []).append((name, command.get_short_help_str(100)))
        for theme, rows in themes.items():
            with formatter.section(theme):
                formatter.write_dl(rows, col_max=12)


def help_without_command(ctx: typer.Context) -> None:
    """Show the group's help where no command was named."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
