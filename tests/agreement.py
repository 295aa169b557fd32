"""How far two readers agree beyond chance."""

from collections import Counter
from collections.abc import Sequence


def kappa(pairs: Sequence[tuple[str, str]]) -> float:
    """Return Cohen's kappa of what two readers say of the same things, -1 to 1 (Cohen 1960)."""
    agree = sum(one == other for one, other in pairs) / len(pairs)
    ones, others = (Counter(side) for side in zip(*pairs, strict=True))
    by_chance = sum(ones[label] * others[label] for label in ones) / len(pairs) ** 2
    return (agree - by_chance) / (1 - by_chance)
