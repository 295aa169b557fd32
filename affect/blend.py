"""Tones joined: the user's, that of the memories found and the agent's own. Pure; order plays no part.

Weights multiply with confidence, so that an unsure reading says less. A source that is missing leaves its share to the
others, and nobody at all is neutral.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from math import fsum, isfinite
from typing import Final

import msgspec

from braid.affect.vad import clamped
from braid.ledger.record.record import AffectDelta, Vad

WEIGHTS: Final = (0.5, 0.3, 0.2)
"""Of user, memory and self."""
HALF_LIFE_S: Final = 3600.0
"""After how many seconds a snapshot of the agent weighs half."""
NEUTRAL: Final = Vad(v=0.0, a=0.5, d=0.0)


class Felt(msgspec.Struct, frozen=True):
    """A tone and how sure it is, in [0, 1]."""

    vad: Vad
    confidence: float = 1.0


def blend(
    user: Felt | Vad | None,
    memory: Felt | Vad | None,
    self: Felt | Vad | None,
    weights: Sequence[float] = WEIGHTS,
) -> Vad:
    """Return the weighted mean of the tones there are, valence and dominance in [-1, 1], arousal in [0, 1].

    Raises ValueError for weights that are negative, not finite, or not three.
    """
    if len(weights) != 3 or any(not isfinite(weight) or weight < 0 for weight in weights):
        raise ValueError(
            f"weights are three finite numbers from 0 up, of user, memory and self; not {weights!r}"
        )
    sources = [
        (_felt(source), weight)
        for source, weight in zip((user, memory, self), weights, strict=True)
        if source
    ]
    return mean((felt.vad, weight * felt.confidence) for felt, weight in sources) or NEUTRAL


def _felt(source: Felt | Vad) -> Felt:
    return source if isinstance(source, Felt) else Felt(source)


def mean(weighed: Iterable[tuple[Vad, float]]) -> Vad | None:
    """Return the weighted mean of tones; None where nothing weighs more than 0. Exact sums: order can't matter."""
    some = [(vad, weight) for vad, weight in weighed if isfinite(weight) and weight > 0]
    top = max((weight for _, weight in some), default=0.0)
    if not top:
        return None
    some = [
        (vad, weight / top) for vad, weight in some
    ]  # the smallest weights must not vanish in the products
    whole = fsum(weight for _, weight in some)
    return clamped(
        fsum(vad.v * weight for vad, weight in some) / whole,
        fsum(vad.a * weight for vad, weight in some) / whole,
        fsum(vad.d * weight for vad, weight in some) / whole,
    )


def of_memory(hits: Sequence[tuple[Felt, float]]) -> Felt | None:
    """Return the tone of what was found: the mean by score of the hits' tones, sure as they are; None without any.

    Scores may be of any size, below zero too: the least one given counts for nothing, unless all are the same.
    """
    if not hits:
        return None
    low = min(score for _, score in hits)
    shares = [score - low for _, score in hits] if low < 0 else [score for _, score in hits]
    if not any(share > 0 for share in shares):
        shares = [1.0] * len(hits)
    return _joined([(felt, share) for (felt, _), share in zip(hits, shares, strict=True)])


def of_self(
    snapshots: Sequence[tuple[Felt, datetime]], now: datetime, half_life_s: float = HALF_LIFE_S
) -> Felt | None:
    """Return the agent's own tone: its snapshots, each weighing half as much every half-life; None without any.

    A snapshot of the future (another clock) weighs as one of now. Raises ValueError for a half-life of 0 or less.
    """
    if not half_life_s > 0:
        raise ValueError(f"a half-life is longer than 0 seconds, not {half_life_s}")
    aged = [(felt, max(0.0, (now - at).total_seconds())) for felt, at in snapshots]
    newest = min((age for _, age in aged), default=0.0)
    # Weights are relative to the newest: an agent that was silent for a year still has a tone, only one less sure.
    joined = _joined([(felt, 0.5 ** ((age - newest) / half_life_s)) for felt, age in aged])
    if joined is None:
        return None
    return Felt(joined.vad, joined.confidence * 0.5 ** (newest / half_life_s))


def _joined(weighed: Sequence[tuple[Felt, float]]) -> Felt | None:
    vad = mean((felt.vad, weight * felt.confidence) for felt, weight in weighed)
    whole = fsum(weight for _, weight in weighed)
    if vad is None or not whole:
        return None
    return Felt(vad, min(1.0, fsum(weight * felt.confidence for felt, weight in weighed) / whole))


def delta(before: Sequence[Vad], after: Sequence[Vad]) -> AffectDelta | None:
    """Return the shift from the sources' mean tone to that of what was made of them; None where a side is empty."""
    start, end = mean((vad, 1.0) for vad in before), mean((vad, 1.0) for vad in after)
    return None if start is None or end is None else AffectDelta(before=start, after=end)
