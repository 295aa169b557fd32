"""Extraction drawn: what is found against how much of it was worth noting, and labels by case."""

from io import StringIO
from typing import Any, Final

_BLUE, _PINK, _GREY = "#1d4ed8", "#be185d", "#9ca3af"
_AIMS: Final = {"touched": 0.75, "content": 0.68}
_PRECISION_AIM: Final = 0.7


def plotted(result: dict[str, Any]) -> str:
    """Return the SVG of what `evaluate` gave; raise ValueError where matplotlib isn't installed.

    The same result makes the same bytes.
    """
    try:
        import matplotlib as _matplotlib
        from matplotlib.figure import Figure as _Figure
    except ImportError:
        raise ValueError(
            "--plot draws with matplotlib, which isn't here: pip install 'braid-store[notebook]'"
        ) from None
    matplotlib: Any = _matplotlib
    figure_of: Any = _Figure
    panels = [_against, _amounts] if result["observations"] is not None else []
    panels += [_cases] if result["labels"] is not None else []
    with matplotlib.rc_context({"svg.hashsalt": "braid", "font.size": 9}):
        figure = figure_of(figsize=(3.5 * len(panels), 4.2), layout="constrained")
        for axes, draw in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            draw(axes, result)
        out = StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Title": "Extraction"})
    return out.getvalue()


def _against(axes: Any, result: dict[str, Any]) -> None:
    """Each point is one limit of the claims' score."""
    found = result["observations"]
    for name, colour in (("touched", _BLUE), ("content", _PINK)):
        points = [
            (each[name], each["turn_precision"])
            for each in found["curve"]
            if each["turn_precision"] is not None
        ]
        axes.plot([x for x, _ in points], [y for _, y in points], ".-", color=colour, label=name)
        axes.plot([_AIMS[name]], [_PRECISION_AIM], "+", color=colour, markersize=12)
    axes.axhline(found["base_rate"], color=_GREY, linewidth=1)
    axes.set(title="Observations (+: the aims)", xlabel="of the observations", ylabel="turn precision")
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.legend(frameon=False)


def _amounts(axes: Any, result: dict[str, Any]) -> None:
    points = result["observations"]["curve"]
    for name, colour in (("touched", _BLUE), ("content", _PINK)):
        axes.plot(
            [each["claims_per_turn"] for each in points], [each[name] for each in points], ".-", color=colour
        )
    axes.set(title="What more claims find", xlabel="claims a turn", ylabel="of the observations", ylim=(0, 1))
    axes.set(xlim=(0, None))


def _cases(axes: Any, result: dict[str, Any]) -> None:
    cases = {"all": result["labels"]["all"], **result["labels"]["cases"]}
    places = list(range(len(cases)))
    for shift, name, colour in ((-0.18, "precision", _PINK), (0.18, "recall", _BLUE)):
        drawn = [
            (at, each[name]) for at, each in zip(places, cases.values(), strict=True) if each[name]["of"]
        ]
        axes.errorbar(
            [each["share"] for _, each in drawn],
            [at + shift for at, _ in drawn],
            xerr=[
                [each["share"] - each["low"] for _, each in drawn],
                [each["high"] - each["share"] for _, each in drawn],
            ],
            fmt="o",
            markersize=3,
            linewidth=1,
            color=colour,
            label=name,
        )
    axes.set_yticks(places, list(cases))
    axes.invert_yaxis()
    axes.set(title="Labels by case", xlim=(0, 1))
    axes.legend(frameon=False)
