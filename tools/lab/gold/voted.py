"""What the majority of several answers gains and costs: the same tasks, asked once with one answer and once with more.

Both runs are of one memory and one composer, so that nothing but the samples differs.
"""

from collections.abc import Sequence

import msgspec

from braid.tools.evaluation.answer_scores import quantile
from braid.tools.gold.judge import Judged


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two runs, over some tasks; tokens are a model's, all together."""

    right: int
    wrong: int
    tokens: int
    p50_ms: float
    p95_ms: float


class Voted(msgspec.Struct, frozen=True, kw_only=True):
    """What the majority of so many answers did to some tasks."""

    samples: int
    tasks: int
    one: Side
    most: Side
    gained: int
    """Tasks that only the majority answers rightly."""
    lost: int
    """Tasks that only one answer answers rightly."""


def voted(samples: int, one: Sequence[Judged], most: Sequence[Judged]) -> Voted:
    """Hold two runs of the same tasks, of which there is one at least, against each other."""
    pairs = [(was.verdict == "right", now.verdict == "right") for was, now in zip(one, most, strict=True)]
    return Voted(
        samples=samples,
        tasks=len(one),
        one=_side(one),
        most=_side(most),
        gained=pairs.count((False, True)),
        lost=pairs.count((True, False)),
    )


def _side(judged: Sequence[Judged]) -> Side:
    verdicts = [each.verdict for each in judged]
    times = [each.given.ms for each in judged]
    return Side(
        right=verdicts.count("right"),
        wrong=verdicts.count("wrong"),
        tokens=sum(sum(each.given.tokens) for each in judged),
        p50_ms=quantile(times, 0.5),
        p95_ms=quantile(times, 0.95),
    )


def told(part: str, found: Voted) -> str:
    """Return what a majority gained and cost in a line."""
    one, most = found.one, found.most
    return (
        f"{part}: the majority of {found.samples} answers {most.right} of {found.tasks} rightly, one answer {one.right}"
        f" (gained {found.gained}, lost {found.lost}; wrong {most.wrong}, was {one.wrong}); tokens {most.tokens:,}, was"
        f" {one.tokens:,}; p50 {most.p50_ms:.0f} ms, was {one.p50_ms:.0f};"
        f" p95 {most.p95_ms:.0f} ms, was {one.p95_ms:.0f}"
    )
