"""How well recall finds what answers a question: the measures of a ranking, and their means. Pure."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

CUTS: Final = (1, 5, 10, 20, 50)


class QuestionMeasures(msgspec.Struct, frozen=True):
    """The measures of one question, by name: `turn` and `session`, each a share in [0, 1] (see `measure`)."""

    category: str
    turn: Mapping[str, float]
    session: Mapping[str, float]


def measure(ranked: Sequence[object], right: set[object], depth: int = CUTS[-1]) -> dict[str, float]:
    """Return recall@k (the share of the evidence found), ndcg@10, mrr, all@10, hit@10 (whether any of it is there) and
    p@10 (the share of ten that is evidence) of a ranking. `right` isn't empty.

    `depth`, at least 10, is how many were asked for: of a k beyond it nothing is said.
    """
    ranks = [rank for rank, item in enumerate(dict.fromkeys(ranked)) if item in right]
    found = {f"recall@{cut}": sum(rank < cut for rank in ranks) / len(right) for cut in CUTS if cut <= depth}
    gain = sum(1 / math.log2(rank + 2) for rank in ranks if rank < 10)
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(len(right), 10)))
    among = sum(rank < 10 for rank in ranks)
    return found | {
        "ndcg@10": gain / ideal,
        "mrr": 1 / (ranks[0] + 1) if ranks else 0.0,
        "all@10": float(among == len(right)),
        "hit@10": float(among > 0),
        "p@10": among / 10,
    }


def summary(answered: Sequence[QuestionMeasures]) -> dict[str, dict[str, dict[str, float]]]:
    """Return the means at both levels, over all and by category."""
    categories = sorted({each.category for each in answered})
    groups = {"all": list(answered)} | {
        name: [each for each in answered if each.category == name] for name in categories
    }
    return {
        level: {
            name: {"questions": len(group), **mean([getattr(each, level) for each in group])}
            for name, group in groups.items()
        }
        for level in ("turn", "session")
    }


def mean(measures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each measure; nothing for nothing."""
    if not measures:
        return {}
    return {name: math.fsum(each[name] for each in measures) / len(measures) for name in measures[0]}
