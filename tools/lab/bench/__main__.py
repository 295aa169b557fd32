"""`python -m braid.tools.lab.bench`, which `make bench` runs."""

import typer

from braid.tools.lab.bench.command import bench

if __name__ == "__main__":  # the measuring processes import this module too
    typer.run(bench)
