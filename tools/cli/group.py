"""The group that every `braid` command belongs to: where errors end, and how help lists the commands."""

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup

from braid.tools.cli.errors import BROKEN_PIPE, report


class Commands(MutableMapping[str, Any]):
    """Commands by name, of which each is built when it is first asked for: its module's `register` is imported then."""

    def __init__(self, places: Mapping[str, str]) -> None:
        """`places` names the module of each, in the order in which help lists them."""
        self._places = dict(places)
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            part = typer.Typer(rich_markup_mode=None)
            import_module(self._places[name]).register(part)
            self._built |= typer.main.get_group(part).commands
        return self._built[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._built[name] = command
        self._places.setdefault(name, "")

    def __delitem__(self, name: str) -> None:
        del self._places[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class BraidGroup(TyperGroup):
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

    def list_commands(self, ctx: Any) -> list[str]:
        """Return their names, in order, without building any."""
        del ctx
        return list(self.commands)

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
