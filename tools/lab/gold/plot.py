"""The gold tasks drawn: right answers by class, how sure against how right, and what became of each task."""

from collections.abc import Sequence
from io import StringIO
from typing import Any, Final

from braid.tools.gold.judge import Judged
from braid.tools.gold.scores import by_class, calibrated
from braid.tools.gold.tasks import PARTS

_COLOURS: Final = {"dev": "#1d4ed8", "held": "#be185d"}
_VERDICTS: Final = {"right": "#15803d", "pointed": "#a3e635", "silent": "#9ca3af", "wrong": "#b91c1c"}


def pencil() -> tuple[Any, Any]:
    """Return what draws, matplotlib and its Figure; raise ValueError where it isn't installed."""
    try:
        import matplotlib as _matplotlib
        from matplotlib.figure import Figure as _Figure
    except ImportError:
        raise ValueError(
            "--report draws with matplotlib, which isn't here: pip install 'braid-store[notebook]'"
        ) from None
    return _matplotlib, _Figure


def plotted(judged: Sequence[Judged]) -> str:
    """Return the SVG of one answer or more; raise as `pencil`. The same answers make the same bytes."""
    matplotlib, figure_of = pencil()
    with matplotlib.rc_context({"svg.hashsalt": "braid", "font.size": 9}):
        figure = figure_of(figsize=(11, 4.2), layout="constrained")
        axes = figure.subplots(1, 3, width_ratios=(1.3, 1, 1.3))
        _classes(axes[0], judged)
        _calibration(axes[1], judged)
        _verdicts(axes[2], judged)
        out = StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Title": "Gold tasks"})
    return out.getvalue()


def _classes(axes: Any, judged: Sequence[Judged]) -> None:
    names = [name for name in reversed(by_class(judged)) if name != "all"]
    for shift, part in zip((0.2, -0.2), PARTS, strict=True):
        some = [one for one in judged if one.part == part]
        found = by_class(some) if some else {}
        shares = [found[name].accuracy if name in found else 0.0 for name in names]
        axes.barh([at + shift for at in range(len(names))], shares, 0.38, color=_COLOURS[part], label=part)
    axes.set_yticks(list(range(len(names))), names)
    axes.set(title="Right answers", xlim=(0, 1))
    axes.legend(frameon=False)


def _calibration(axes: Any, judged: Sequence[Judged]) -> None:
    axes.plot([0, 1], [0, 1], color="#9ca3af", linewidth=1)
    found = calibrated(judged)
    if found is not None:
        axes.plot(
            [one.predicted for one in found.bins], [one.observed for one in found.bins], "o-", color="#be185d"
        )
        for one in found.bins:
            axes.annotate(
                str(one.count), (one.predicted, one.observed), textcoords="offset points", xytext=(4, -9)
            )
        axes.set(title=f"How sure against how right (ECE {found.ece:.3f})")
    axes.set(xlabel="probability of what was said", ylabel="share right", xlim=(0, 1), ylim=(0, 1))


def _verdicts(axes: Any, judged: Sequence[Judged]) -> None:
    names = [name for name in reversed(by_class(judged)) if name != "all"]
    left = [0] * len(names)
    for verdict, colour in _VERDICTS.items():
        counts = [sum(one.kind == name and one.verdict == verdict for one in judged) for name in names]
        axes.barh(range(len(names)), counts, 0.7, left=left, color=colour, label=verdict)
        left = [before + count for before, count in zip(left, counts, strict=True)]
    axes.set_yticks(list(range(len(names))), names)
    axes.set(title="What became of the tasks", xticks=range(0, 17, 4))
    axes.legend(frameon=False, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.06))
