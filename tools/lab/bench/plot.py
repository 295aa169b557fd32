"""Cost against size, drawn: is it flat? Needs matplotlib (the extra `notebook`)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from braid.tools.bench.measure import Figure

PANELS: Final = (
    ("append, 1,000 a transaction", "append.tx1000", "µs/record"),
    ("append, durable each", "append.always", "µs/record"),
    ("verify, everything", "verify.full", "µs/record"),
    ("replay into DuckDB", "replay.duckdb", "µs/record"),
    ("sql, after one append", "catch_up.one", "ms"),
    ("open", "open", "ms"),
    ("get, verified", "get.warm", "µs"),
    ("trace, 8 generations", "trace", "ms"),
    ("erase one", "erase.one", "ms"),
    ("erase one in 1,000", "erase.thousandth", "ms/record"),
    ("search what is derived", "erase.plan", "ms"),
    ("memory to open", "open.rss", "MB"),
    ("label anew, 3 justifications a node", "stance.label", "ms"),
    ("retract one premise", "stance.retract", "ms"),
    ("nodes that a retraction visits", "stance.retract.visited", "nodes"),
    ("pool evidence", "stance.pool", "µs/piece"),
)
_COLUMNS: Final = 4


def cost(figure: Figure) -> float:
    """Return what one costs: of a rate its inverse in µs, of seconds milliseconds."""
    if figure.unit.endswith("/s"):
        return 1e6 / figure.value
    return figure.value * 1e3 if figure.unit == "s" else figure.value


def draw(figures: Sequence[Figure], path: Path) -> None:
    """Write small multiples of cost against records as SVG: zero at the foot, so that flat looks flat.

    Raises ModuleNotFoundError without matplotlib, ValueError without a figure taken at two sizes.
    """
    lines = {name: sorted((one.n, cost(one)) for one in figures if one.name == name) for _, name, _ in PANELS}
    panels = [panel for panel in PANELS if len(lines[panel[1]]) > 1]
    if not panels:
        raise ValueError("a plot against size needs figures of at least two sizes")
    import matplotlib as _matplotlib

    matplotlib: Any = _matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot as _pyplot

    pyplot: Any = _pyplot
    rows = -(-len(panels) // _COLUMNS)
    style = {"svg.hashsalt": "braid", "svg.fonttype": "none", "font.size": 8, "axes.spines.top": False}
    with matplotlib.rc_context(style | {"axes.spines.right": False}):
        page, grid = pyplot.subplots(rows, _COLUMNS, figsize=(10, 2.1 * rows), squeeze=False)
        for place, axes in enumerate(grid.flat):
            if place < len(panels):
                _panel(axes, panels[place], lines[panels[place][1]])
            else:
                axes.set_visible(False)
        page.tight_layout()
        page.savefig(path, format="svg", metadata={"Date": None, "Title": "Cost against the size of the log"})
        pyplot.close(page)


def _panel(axes: Any, panel: tuple[str, str, str], line: list[tuple[int, float]]) -> None:
    title, _, unit = panel
    sizes, costs = [n for n, _ in line], [value for _, value in line]
    axes.plot(sizes, costs, marker="o", color="#2563eb")
    for n, value in line:
        axes.annotate(f"{value:.3g}", (n, value), textcoords="offset points", xytext=(0, 5), ha="center")
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{n:,}" for n in sizes], minor=False)
    axes.minorticks_off()
    axes.margins(x=0.2)
    axes.set_ylim(0, 1.35 * max(costs))
    axes.set_title(title, loc="left", fontsize=8, fontweight="bold")
    axes.set_ylabel(unit)
