"""How sure answers were against how often they were right, with intervals, as SVG. Pure."""

from collections.abc import Sequence
from typing import Final

from braid.tools.evaluation.extraction_scores import wilson

BINS: Final = 8
_SIZE, _EDGE = 360, 44


def plotted(answers: Sequence[tuple[float, bool]]) -> str:
    """Return a drawing of (how sure, whether right) in bins of equal count; each bar is Wilson's interval of 95 %."""
    some = sorted(answers)
    size = max(len(some) // BINS, 1)
    bins = [some[at : at + size] for at in range(0, len(some), size)]
    shapes = [_axes()]
    for one in bins:
        share = wilson(sum(right for _, right in one), len(one))
        x = _at(sum(p for p, _ in one) / len(one))
        if share.share is not None and share.low is not None and share.high is not None:
            low, high = _down(share.low), _down(share.high)
            shapes.append(
                f'<line x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}" stroke="#6b8fb5"/>'
                f'<circle cx="{x:.1f}" cy="{_down(share.share):.1f}" r="4" fill="#23527c"/>'
            )
    whole = _SIZE + 2 * _EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole}" font-family="sans-serif"'
        f' font-size="12">'
        f"{''.join(shapes)}</svg>\n"
    )


def _at(p: float) -> float:
    return _EDGE + p * _SIZE


def _down(p: float) -> float:
    return _EDGE + (1 - p) * _SIZE


def _axes() -> str:
    marks = "".join(
        f'<text x="{_at(p):.0f}" y="{_down(0) + 16:.0f}" text-anchor="middle">{p:g}</text>'
        f'<text x="{_at(0) - 8:.0f}" y="{_down(p) + 4:.0f}" text-anchor="end">{p:g}</text>'
        for p in (0, 0.2, 0.4, 0.6, 0.8, 1)
    )
    return (
        f'<rect x="{_EDGE}" y="{_EDGE}" width="{_SIZE}" height="{_SIZE}" fill="none" stroke="#999"/>'
        f'<line x1="{_at(0)}" y1="{_down(0)}" x2="{_at(1)}" y2="{_down(1)}" stroke="#bbb" stroke-dasharray="4 4"/>'
        f"{marks}"
        f'<text x="{_at(0.5)}" y="{_down(0) + 34}" text-anchor="middle">how sure</text>'
        f'<text x="{_EDGE}" y="{_EDGE - 12}">share right, with 95 % intervals</text>'
    )
