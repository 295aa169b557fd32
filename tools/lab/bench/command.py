"""`make bench`: the figures of `braid bench` and those of truth maintenance, into a page and a drawing."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from braid.tools.bench.command import FULL_SIZES, SEED, SIZES, measured, show
from braid.tools.bench.measure import Figure
from braid.tools.lab.bench import plot, report
from braid.tools.lab.bench.figures_stance import MEASURES


def bench(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FIGURES…]", help="JSON that an earlier run printed: then nothing is measured."
        ),
    ] = None,
    *,
    full: Annotated[bool, typer.Option("--full", help="Also at a million records.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Figures by name or its beginning.")
    ] = None,
    output: Annotated[
        Literal["table", "json"], typer.Option("--output", "-o", help="How to print the figures.")
    ] = "table",
    page: Annotated[
        Path | None, typer.Option("--report", help="Write the table into this page.", show_default=False)
    ] = None,
    drawing: Annotated[
        Path | None, typer.Option("--plot", help="Draw cost against size into this SVG.", show_default=False)
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--dir", help="Measure on this file system.", show_default=False)
    ] = None,
    size: Annotated[list[int] | None, typer.Option("--size", help="Instead of the usual sizes.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of what is appended and what is looked up.")] = SEED,
) -> None:
    """Measure, or read what was measured; print it, and write the page or the drawing that is asked for."""
    if files:
        figures = [one for file in files for one in msgspec.json.decode(file.read_bytes(), type=list[Figure])]
    else:
        sizes = size or (FULL_SIZES if full else SIZES)
        figures = measured(sizes, only=only, also=MEASURES, folder=folder, seed=seed)
    show(figures, output)
    if page is not None:
        words = [*(["--full"] if full else []), *(f"--only {name}" for name in only or ())]
        measuring = f"make bench ARGS='{' '.join(words)}'" if words else "make bench"
        report.fill(page, figures, command="braid bench -o json" if files else measuring)
    if drawing is not None:
        plot.draw(figures, drawing)
