"""Figures as a table on the terminal."""

from collections.abc import Sequence

from rich.table import Table

from braid.tools.bench.measure import Figure


def number(value: float | None) -> str:
    """Return a value with three significant digits, grouped."""
    if value is None:
        return "–"
    if value >= 1000:
        digits = len(str(int(value))) - 3
        return f"{round(value, -digits):,.0f}"
    return f"{value:.3g}"


def verdict(figure: Figure) -> str:
    """Return the figure's target and whether it is met."""
    if not figure.target:
        return ""
    return f"{figure.target} {'–' if figure.met is None else 'yes' if figure.met else 'NO'}"


def table_of(figures: Sequence[Figure]) -> Table:
    """Return a rich table, one row a figure."""
    table = Table("figure", box=None, pad_edge=False)
    for heading in ("n", "value"):
        table.add_column(heading, justify="right")
    table.add_column("unit")
    for heading in ("floor", "ratio", "±"):
        table.add_column(heading, justify="right")
    table.add_column("target")
    table.add_column("bounded by")
    for figure in figures:
        table.add_row(
            figure.name,
            f"{figure.n:,}" if figure.n else "",
            number(figure.value),
            figure.unit,
            number(figure.floor),
            "–" if figure.ratio is None else f"{figure.ratio:.2f}",
            "" if figure.spread is None else f"{figure.spread:.0%}",
            verdict(figure),
            figure.floor_name,
            style="red" if figure.met is False else None,
        )
    return table
