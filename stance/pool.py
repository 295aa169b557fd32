"""How sure: probabilities pooled in log-odds, around a prior. Pure.

    logit P = logit π + Σ wᵢ (logit pᵢ − logit π)

A piece of evidence speaks by how far it stands from the prior, for the claim or against it. The weights come from where
it is from: each piece names the sources that it rests on and spreads itself evenly over them; of all the pieces that
speak for the claim from one source only the strongest counts there, and the same of those against it. So what rests on
the same sources counts once however often it was retold, what shares a half of them counts once and a half, and what
shares none counts in full. Of a piece that rests on what is gone, in part, that part is left out (`kept`). More of the
same adds nothing, no piece takes anything from another of its side, and sums are correctly rounded (`math.fsum`): the
order can't show in a single bit.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Final

import msgspec

from braid.ledger.record.record import SourceType
from braid.stance.relations import Temporal

PRIORS: Final[Mapping[SourceType, float]] = {
    "corrected": 0.7,
    "explicit": 0.7,
    "implicit_intentional": 0.4,
    "implicit_unintentional": 0.3,
    "inferred": 0.15,
}
"""What a claim is worth by where it is from, before anybody has counted how often such claims hold (`readings`)."""
BASE: Final = 0.1
"""π of a claim that nothing speaks for; below the weakest source, so that even an inference speaks for it."""
HALF_LIFE_DAYS: Final[Mapping[Temporal, float]] = {"trait": 3650.0, "state": 365.0, "episode": 30.0}
NOTHING: Final[frozenset[Hashable]] = frozenset()
UNKNOWN: Final = -1
"""The source of evidence that names none: all such pieces count as one, since none is shown to be new."""
_PIECE: Final = 1e-6
"""No single piece is surer than this short of certain: enough others may always outweigh it."""
_LIMIT: Final = 36.0
"""Log-odds of the nearest probabilities to 0 and 1 that still differ from them."""


class Evidence(msgspec.Struct, frozen=True):
    """One piece: the probability `p` of the claim, the sources it rests on, and the share `kept` that is left."""

    p: float
    sources: frozenset[Hashable] = NOTHING
    kept: float = 1.0

    def __post_init__(self) -> None:
        _checked(self.p, "evidence")
        _checked(self.kept, "the part that is left")


class Pooled(msgspec.Struct, frozen=True):
    """A pooled probability, never 0 or 1. `weights` are those of the pieces, in their order."""

    p: float
    effective_n: float
    """How many independent pieces the evidence amounts to."""
    weights: tuple[float, ...]


class Exclusive(msgspec.Struct, frozen=True):
    """Claims of which at most one holds: the share of each, in their order, and of `none`; they add up to 1."""

    shares: tuple[float, ...]
    none: float
    residual: float
    """Uncertainty that is left: what the best claim doesn't have."""


def prior_of(source_type: SourceType, own: float | None = None) -> float:
    """Return what a claim of this source is worth; a model's own confidence may only lower it.

    Raises ValueError for a confidence outside [0, 1].
    """
    prior = PRIORS[source_type]
    return prior if own is None else min(prior, _checked(own, "a confidence"))


def pool(evidence: Sequence[Evidence], prior: float = BASE) -> Pooled:
    """Pool pieces of evidence around a prior; linear in the sources that they name.

    Raises ValueError for probabilities outside [0, 1].
    """
    start = logit(_checked(prior, "a prior"))
    best_for, best_against = _Best(), _Best()
    broadest: dict[Hashable, float] = {}
    pieces: list[tuple[_Best, float, frozenset[Hashable], float]] = []
    for piece in evidence:
        sources = piece.sources or frozenset((UNKNOWN,))
        step = piece.kept * (logit(piece.p) - start) / len(sources)
        side = best_for if piece.p >= prior else best_against
        strength = max(0.0, step if side is best_for else -step)
        pieces.append((side, strength, sources, piece.kept))
        for source in sources:
            side.offer(source, strength)
            broadest[source] = max(broadest.get(source, 0.0), piece.kept / len(sources))
    total = math.fsum((start, *best_for.strength.values(), *(-one for one in best_against.strength.values())))
    weights = tuple(kept * side.weight(strength, sources) for side, strength, sources, kept in pieces)
    return Pooled(sigmoid(total), math.fsum(broadest.values()), weights)


class _Best:
    """Of each source, the strongest step that a piece takes from it, and how many pieces take that very step."""

    def __init__(self) -> None:
        self.strength: dict[Hashable, float] = {}
        self.count: dict[Hashable, int] = {}

    def offer(self, source: Hashable, strength: float) -> None:
        best = self.strength.get(source, -1.0)
        if strength > best:
            self.strength[source] = strength
            self.count[source] = 1
        elif strength == best:
            self.count[source] += 1

    def weight(self, strength: float, sources: frozenset[Hashable]) -> float:
        """Return the weight of a piece: the part of its sources where it counts, shared with its equals."""
        return math.fsum(1 / self.count[one] for one in sources if self.strength[one] == strength) / len(
            sources
        )


def exclusive(ps: Sequence[float]) -> Exclusive:
    """Normalise claims that exclude each other: each as likely as it alone is true, or that none is.

    Raises ValueError for probabilities outside [0, 1].
    """
    odds = [logit(_checked(p, "a claim")) for p in ps]
    # Shifted by the largest: nothing overflows, and what is too small to matter is 0.
    top = max([*odds, 0.0])
    scaled = [math.exp(one - top) for one in odds]
    none = math.exp(-top)
    whole = math.fsum((none, *scaled))
    shares = tuple(one / whole for one in scaled)
    if not shares:
        return Exclusive((), 1.0, 1.0)
    best = max(range(len(shares)), key=shares.__getitem__)
    rest = math.fsum((none, *(one for k, one in enumerate(scaled) if k != best)))
    return Exclusive(shares, none / whole, rest / whole)


def decayed(p: float, prior: float, age_days: float, half_life_days: float) -> float:
    """Return what is left of a probability after a time: its distance to the prior halves with each half-life, as half
    of such things have changed by then.

    Computed at the time that is asked about and never written back. What lies ahead of that time has not aged.
    Raises ValueError for an age that isn't a number, a half-life of 0 or less, or a probability outside [0, 1].
    """
    if math.isnan(age_days):
        raise ValueError("an age is a number of days")
    if not half_life_days > 0:
        raise ValueError(f"a half-life is a positive number of days, not {half_life_days}")
    start = _checked(prior, "a prior")
    left = 0.5 ** (max(0.0, age_days) / half_life_days) if age_days < math.inf else 0.0
    return start + (_checked(p, "evidence") - start) * left


def logit(p: float) -> float:
    """Return log-odds; of what claims to be certain, those of nearly so."""
    p = min(max(p, _PIECE), 1 - _PIECE)
    return math.log(p) - math.log1p(-p)


def sigmoid(x: float) -> float:
    """Return the probability of log-odds, short of 0 and 1."""
    x = min(max(x, -_LIMIT), _LIMIT)
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _checked(p: float, what: str) -> float:
    if not 0 <= p <= 1:  # neither holds of NaN
        raise ValueError(f"{what} has a probability from 0 to 1, not {p}")
    return p
