"""Candidates for a question: nearest in meaning, fitting in words, near in time, linked, and their neighbours.

Scopes bind every way in. They are checked on each row that comes back too, so that what the causal walk or a
neighbour brings can't leave them.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from braid.recall.decompose import Question
from braid.recall.memory import admits
from braid.views.search import Hit, Index, Row, Where

DEEP: Final = 160
"""How many candidates each of words and meaning brings."""
AROUND: Final = 48
"""How many of the best have their neighbours brought along."""
REACH: Final = 2
HOPS: Final = 2
WALKED: Final = 8
MOST_LINKED: Final = 64

Links = Callable[[int], Iterable[int]]
"""The log indexes that a record is linked with, up and down."""


class Found(msgspec.Struct, frozen=True):
    """What retrieval brought: every row by index, and how each way in rates those that came by it."""

    rows: dict[int, Row]
    candidates: frozenset[int]
    by_words: dict[int, float]
    by_meaning: dict[int, float]
    by_links: dict[int, float]


def retrieve(
    question: Question, query: Any | None, index: Index, where: Where, links: Links | None = None
) -> Found:
    """Return the candidates; `query` is the question's vector, or None where meaning can't be asked for."""
    words = index.words(" ".join(question.words) or question.text, DEEP, where)
    meaning = index.nearest(query, k=DEEP, where=where) if query is not None else []
    entity = [
        hit
        for name in question.entities[:4]
        if len(question.words) > 1
        for hit in index.words(name, DEEP // 8, where)
    ]
    best = _interleaved(words, meaning)
    linked = walk(best[:WALKED], links) if links is not None else {}
    chosen = {*best, *linked, *(hit.index for hit in entity)}
    wanted = chosen | {
        at + step for at in best[:AROUND] for step in range(-REACH, REACH + 1) if at + step >= 0
    }
    rows = {at: row for at, row in index.take(sorted(wanted)).items() if admits(where, row)}
    return Found(
        rows,
        frozenset(chosen & rows.keys()) | frozenset(rows),
        {hit.index: hit.score for hit in words},
        {hit.index: hit.score for hit in meaning},
        {at: score for at, score in linked.items() if at in rows},
    )


def walk(seeds: Sequence[int], links: Links) -> dict[int, float]:
    """Return what is linked with the seeds in up to two hops: a half for one hop, a quarter for two, the more of them the more."""
    found: dict[int, float] = {}
    for place, seed in enumerate(seeds):
        reached, edge = {seed}, [seed]
        for hop in range(1, HOPS + 1):
            edge = [to for at in edge for to in links(at) if to not in reached][:MOST_LINKED]
            reached.update(edge)
            for to in edge:
                found[to] = found.get(to, 0.0) + 0.5**hop / (1 + place)
    return {at: min(score, 1.0) for at, score in found.items()}


def _interleaved(*ways: Sequence[Hit]) -> list[int]:
    """Return the indexes of several rankings, best of each first, each once."""
    longest = max((len(way) for way in ways), default=0)
    order = [way[at].index for at in range(longest) for way in ways if at < len(way)]
    return list(dict.fromkeys(order))


def share(scores: dict[int, float], order: Sequence[int]) -> Any:
    """Return the scores in this order, 0 for those that have none, as a share of the best."""
    values = np.array([scores.get(at, 0.0) for at in order])
    return values / max(float(values.max(initial=0.0)), 1e-9)
