"""`python -m braid.tools.lab.torture`, which `make torture` runs."""

import typer

from braid.tools.lab.torture.command import torture

if __name__ == "__main__":  # the processes under torture import this package too
    typer.run(torture)
