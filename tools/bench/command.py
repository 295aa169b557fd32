"""`braid bench`: take the figures, size by size, and print them."""

import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec
import typer

if TYPE_CHECKING:  # `braid --help` must not wait for what only measuring needs
    from braid.tools.bench.context import Measure
    from braid.tools.bench.measure import Figure
    from braid.tools.bench.stores import Told

SIZES: Final = (10_000, 100_000)
FULL_SIZES: Final = (*SIZES, 1_000_000)
SEED: Final = 20_260_131
_MODULES: Final = (
    "floor",
    "append",
    "audit",
    "publish",
    "views",
    "recall",
    "read",
    "serve",
    "hooks",
    "life",
    "space",
    "start",
)


def measures() -> "list[Measure]":
    """Return everything that can be measured, in the order of the table."""
    found: list[Measure] = []
    for name in _MODULES:
        found += import_module(f"braid.tools.bench.figures_{name}").MEASURES
    return found


def take(
    sizes: Sequence[int],
    *,
    only: list[str] | None = None,
    also: "Sequence[Measure]" = (),
    folder: Path | None = None,
    seed: int = SEED,
    slice_s: float = 0.4,
    rounds: int = 5,
    told: "Told" = lambda line: None,
) -> "Iterator[Figure]":
    """Yield the figures as they are taken; everything on disk goes when it ends, or is closed.

    `only` holds names or beginnings of names (`append`, `verify.full`). Raises ValueError where one names nothing.
    `also`: what is measured beside `measures()`.
    """
    from braid.tools.bench.context import Bench
    from braid.tools.bench.floors import Disk, all_cores
    from braid.tools.bench.stores import Stores

    known = [*measures(), *also]
    for one in only or ():
        if not any(measure.wanted([one]) for measure in known):
            names = ", ".join(name for measure in known for name in measure.names)
            raise ValueError(f"there is no figure {one!r}; known: {names}")
    wanted = [measure for measure in known if measure.wanted(only)]
    home = Path(tempfile.mkdtemp(prefix="braid-bench-", dir=folder))
    try:
        with all_cores() as cores, _own_guard(home):
            bench = Bench(Stores(home, seed, told), cores, Disk(home), told, seed, slice_s, rounds)
            for measure in (measure for measure in wanted if not measure.sized):
                told(f"measuring {measure.names[0]}")
                yield from measure.take(bench, min(sizes))
            for n in sizes:
                for measure in (measure for measure in wanted if measure.sized):
                    told(f"measuring {measure.names[0]} at {n:,}")
                    yield from measure.take(bench, n)
                bench.stores.drop(n)
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def _own_guard(home: Path) -> Generator[None, None, None]:
    """Keep every fork guard in the run's own folder, also of what it starts."""
    before = os.environ.get("BRAID_GUARD_DIR")
    os.environ["BRAID_GUARD_DIR"] = str(home / "guard")
    try:
        yield
    finally:
        del os.environ["BRAID_GUARD_DIR"]
        if before is not None:
            os.environ["BRAID_GUARD_DIR"] = before


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command(rich_help_panel="Tend")(bench)


def bench(
    *,
    full: Annotated[
        bool, typer.Option("--full", help="Also at a million records (minutes, 4 GB of disk).")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Figures by name or its beginning: append, verify.full …"),
    ] = None,
    output: Annotated[
        Literal["table", "json"], typer.Option("--output", "-o", help="How to print the figures.")
    ] = "table",
    folder: Annotated[
        Path | None,
        typer.Option("--dir", help="Measure on this file system (default: the temporary folder's)."),
    ] = None,
    size: Annotated[
        list[int] | None, typer.Option("--size", help="Instead of 10,000 and 100,000 records.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of what is appended and what is looked up.")] = SEED,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", metavar="MODEL", help="With --only cost: the model that decides.", show_default=False
        ),
    ] = None,
    price_in: Annotated[
        float, typer.Option("--price-in", min=0.0, help="What a million tokens that it reads cost.")
    ] = 0.0,
    price_out: Annotated[
        float, typer.Option("--price-out", min=0.0, help="What a million tokens that it writes cost.")
    ] = 0.0,
) -> None:
    """Measure what Braid costs on this machine.

    Each figure stands beside the floor that bounds it, taken in turns with it. Everything on disk goes at the end. What
    10,000 memories and their decisions cost is measured only where it is named: --only cost. Without --model its tokens
    are counted from what a model would be told.

    \b
    Examples:
      braid bench
      braid bench --only append --only get -o json
      braid bench --full --dir /srv
      braid bench --only cost --price-in 0.15 --price-out 0.6
    """
    sizes = size or (FULL_SIZES if full else SIZES)
    also = _costs(only or [], model, price_in, price_out)
    show(measured(sizes, only=only, folder=folder, seed=seed, also=also), output)


def _costs(only: Sequence[str], model: str | None, price_in: float, price_out: float) -> "list[Measure]":
    """Return the measure of costs, where one of its figures is named. Raises BadParameter for a price without it."""
    from braid.tools.bench.figures_cost import Prices, costs

    if not any(name.partition(".")[0] == "cost" for name in only):
        if model is not None or price_in or price_out:
            raise typer.BadParameter("a model and its prices go with --only cost")
        return []
    if model is None:
        return [costs(None, Prices(price_in, price_out))]
    from braid.tools.cli.models import chat_model

    return [costs(chat_model(model), Prices(price_in, price_out))]


def measured(
    sizes: Sequence[int],
    *,
    only: list[str] | None,
    folder: Path | None,
    seed: int,
    also: "Sequence[Measure]" = (),
) -> "list[Figure]":
    """Take the figures and return them, each one told on stderr when it is there; arguments as in `take`.

    Raises BadParameter for a size that is too small, and for a figure that there isn't.
    """
    from rich.console import Console

    if min(sizes) < 10:
        raise typer.BadParameter("a store to measure has at least 10 records", param_hint="--size")
    figures: list[Figure] = []
    try:
        with Console(stderr=True).status("measuring") as status:
            taken = take(sizes, only=only, also=also, folder=folder, seed=seed, told=status.update)
            for figure in taken:
                figures.append(figure)
                status.console.print(_line(figure), highlight=False)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--only") from error
    return figures


def show(figures: "Sequence[Figure]", output: str) -> None:
    """Print the figures as a table or as JSON; on stderr, which of them miss their target."""
    from rich.console import Console

    from braid.tools.bench.table import table_of

    if output == "json":
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(figures), indent=1).decode() + "\n")
    else:
        Console().print(table_of(figures))
    if missed := [figure for figure in figures if figure.met is False]:
        names = ", ".join(f"{figure.name} at {figure.n:,}" for figure in missed)
        Console(stderr=True).print(f"braid: below target: {names}")


def _line(figure: "Figure") -> str:
    ratio = "" if figure.ratio is None else f"  {figure.ratio:.2f} × {figure.floor_name}"
    return f"{figure.name:<20} n={figure.n:<9,} {figure.value:>14,.4g} {figure.unit}{ratio}"
