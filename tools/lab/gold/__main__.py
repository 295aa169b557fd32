"""`python -m braid.tools.lab.gold`, which `make gold` runs."""

import sys

import typer

from braid.tools.cli.errors import report
from braid.tools.lab.gold.command import gold


def main(words: list[str] | None = None) -> int:
    """Run the command; return its exit code, those of `braid`."""
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(gold)
    try:
        return app(args=words, prog_name="python -m braid.tools.lab.gold", standalone_mode=False) or 0
    except Exception as error:
        return report(error)


if __name__ == "__main__":
    sys.exit(main())
