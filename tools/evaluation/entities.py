"""Labelled pairs of names: which are joined though they are two, which are not though they are one.

The pairs are judged as names with what was said of them, one pair at a time, without what a store would know besides.
"""

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Any, Final

import msgspec

from braid.learn.resolve.compare import Described, Similarity, compare
from braid.stance.mentions import RULES, EntityType

_Z: Final = 1.959964


class Side(msgspec.Struct, frozen=True):
    """A name as it was said: of which type it is, in which words."""

    name: str
    type: EntityType
    context: str = ""


class Pair(msgspec.Struct, frozen=True):
    """Two names, and whether they are of one. `held`: nobody looked at it while the rules were written."""

    id: str
    a: Side
    b: Side
    same: bool
    why: str = ""
    held: bool = False


def pairs_of(raw: bytes, name: str) -> list[Pair]:
    """Return the pairs of a file; ValueError, with the line, for what is no pair."""
    found: list[Pair] = []
    for number, line in enumerate(raw.splitlines(), 1):
        if line.strip():
            try:
                found.append(msgspec.json.decode(line, type=Pair))
            except msgspec.DecodeError as error:
                raise ValueError(f"{name}, line {number}: {error}") from None
    if not found:
        raise ValueError(f"{name} holds no pairs")
    return found


def evaluate(pairs: Sequence[Pair], similarity: Similarity | None = None) -> dict[str, Any]:
    """Return, of all pairs and of each half, how many of the different were joined, and how many of the same.

    A figure is [count, of, share, lower, upper]: Wilson's interval of 95 %. `errors` are of pairs that aren't held.
    """
    halves = {"all": list(pairs)}
    halves |= {"built on": [one for one in pairs if not one.held], "held": [one for one in pairs if one.held]}
    verdicts = {one.id: compare(_described(one.a), _described(one.b), similarity) for one in pairs}
    joined = {id for id, verdict in verdicts.items() if verdict.is_one}
    return {
        "pairs": len(pairs),
        "rules": RULES,
        "halves": {name: _figures(half, joined) for name, half in halves.items() if half},
        "errors": [
            {
                "id": one.id,
                "a": one.a.name,
                "b": one.b.name,
                "same": one.same,
                "verdict": verdicts[one.id].sameness,
                "why": verdicts[one.id].why,
            }
            for one in pairs
            if not one.held and one.same is not (one.id in joined)
        ],
    }


def _described(side: Side) -> Described:
    return Described(side.name, side.type, (side.context,) if side.context else ())


def _figures(pairs: Iterable[Pair], joined: set[str]) -> dict[str, list[float]]:
    one, two = (
        [pair.id in joined for pair in pairs if pair.same],
        [pair.id in joined for pair in pairs if not pair.same],
    )
    return {"false_merges": wilson(sum(two), len(two)), "merges": wilson(sum(one), len(one))}


def wilson(count: int, of: int) -> list[float]:
    """Return count, of, the share, and Wilson's interval of 95 % around it (JASA 1927)."""
    if not of:
        return [0, 0, 0.0, 0.0, 1.0]
    share = count / of
    middle = (share + _Z**2 / (2 * of)) / (1 + _Z**2 / of)
    half = _Z / (1 + _Z**2 / of) * sqrt(share * (1 - share) / of + _Z**2 / (4 * of**2))
    return [count, of, share, max(0.0, middle - half), min(1.0, middle + half)]
