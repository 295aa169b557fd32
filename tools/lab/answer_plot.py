"""Answers drawn: how sure against how right, silence where it is due against where it isn't, and words by category."""

from collections.abc import Sequence
from io import StringIO
from typing import Any, Final

from braid.tools.evaluation.answer_scores import Judged, calibrated, measures

_BLUE, _PINK, _GREY = "#1d4ed8", "#be185d", "#9ca3af"
_POINTS: Final = 60


def plotted(judged: Sequence[Judged]) -> str:
    """Return the SVG; raise ValueError where matplotlib isn't installed. The same answers make the same bytes."""
    try:
        import matplotlib as _matplotlib
        from matplotlib.figure import Figure as _Figure
    except ImportError:
        raise ValueError(
            "--plot draws with matplotlib, which isn't here: pip install 'braid-store[notebook]'"
        ) from None
    matplotlib: Any = _matplotlib
    figure_of: Any = _Figure
    with matplotlib.rc_context({"svg.hashsalt": "braid", "font.size": 9}):
        figure = figure_of(figsize=(10.5, 3.4), layout="constrained")
        axes = figure.subplots(1, 3)
        _calibration(axes[0], judged)
        _silence(axes[1], judged)
        _categories(axes[2], judged)
        out = StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Title": "Answers"})
    return out.getvalue()


def _calibration(axes: Any, judged: Sequence[Judged]) -> None:
    found = calibrated(judged)
    axes.plot([0, 1], [0, 1], color=_GREY, linewidth=1)
    if found is not None:
        axes.plot(
            [one.predicted for one in found.bins], [one.observed for one in found.bins], "o-", color=_PINK
        )
        for one in found.bins:
            axes.annotate(
                str(one.count), (one.predicted, one.observed), textcoords="offset points", xytext=(4, -9)
            )
        axes.set(title=f"How sure against how right (ECE {found.ece:.3f})")
    axes.set(xlabel="probability of what was said", ylabel="share borne out", xlim=(0, 1), ylim=(0, 1))


def _silence(axes: Any, judged: Sequence[Judged]) -> None:
    points = curve(judged)
    axes.plot([x for x, _ in points], [y for _, y in points], color=_BLUE)
    at = measures(judged)
    if at["abstained_on_unanswerable"] is not None and at["abstained_on_answerable"] is not None:
        axes.plot([at["abstained_on_answerable"]], [at["abstained_on_unanswerable"]], "o", color=_PINK)
    axes.plot([0.2], [0.9], "+", color=_GREY, markersize=12)
    axes.set(title="Silence (+: the aim)", xlabel="of the answerable", ylabel="of the unanswerable")
    axes.set(xlim=(0, 1), ylim=(0, 1))


def curve(judged: Sequence[Judged]) -> list[tuple[float, float]]:
    """Return, for one limit after the other, the shares of answerable and unanswerable questions that fall below it."""
    known = sorted(one.known for one in judged if one.answerable)
    unknown = [one.known for one in judged if not one.answerable]
    if not known or not unknown:
        return []
    limits = [known[min(at * len(known) // _POINTS, len(known) - 1)] for at in range(_POINTS)] + [1.1]
    return [
        (
            sum(each < limit for each in known) / len(known),
            sum(each < limit for each in unknown) / len(unknown),
        )
        for limit in limits
    ]


def _categories(axes: Any, judged: Sequence[Judged]) -> None:
    names = sorted({one.category for one in judged if one.f1 is not None})
    found = [measures([one for one in judged if one.category == name]) for name in names]
    places = list(range(len(names)))
    for shift, key, colour in ((-0.2, "f1", _BLUE), (0.2, "citation_precision", _PINK)):
        axes.bar(
            [at + shift for at in places], [one[key] or 0.0 for one in found], 0.38, color=colour, label=key
        )
    axes.set_xticks(places, names, rotation=30 if len(names) > 6 else 0)
    axes.set(title="By category", ylim=(0, 1))
    axes.legend(frameon=False)
