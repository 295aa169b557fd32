"""Candidates for a question: nearest in meaning, fitting in words, near in time, linked, and their neighbours.

Scopes bind every way in. They are checked on each row that comes back too, so that what the causal walk or a
neighbour brings can't leave them.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import monotonic
from typing import Any, Final, Protocol

import msgspec
import numpy as np

from braid.recall.deadline import Started, within
from braid.recall.decompose import Question
from braid.recall.memory import admits
from braid.text.words import words
from braid.views.errors import ViewError
from braid.views.search import Fetched, Index, IndexHit, Row, Where

DEEP: Final = 64
"""How many candidates each of words and meaning brings, unless most of them are of no use, or few are asked for."""
FIRST: Final = 10
SHALLOW: Final = 40
"""How many are enough where no more than the first ten hits are asked for (measured: docs/recall.md)."""
AROUND: Final = 24
"""How many of the best have their neighbours brought along, at most."""
REACH: Final = 2
HOPS: Final = 2
WALKED: Final = 8
MOST_LINKED: Final = 64
MOST_ENTITIES: Final = 2
MOST_NAMING: Final = 20

Links = Callable[[int], Iterable[int]]
"""The log indexes that a record is linked with, up and down."""


class Sessions(Protocol):
    """Which turns stand next to each other, each in its own session."""

    def before(self, indexes: Sequence[int]) -> dict[int, int]:
        """Return the turn before each of these, by log index; nothing for the first, and for what is no turn."""
        ...

    def after(self, indexes: Sequence[int]) -> dict[int, int]:
        """Return the turn after each of these."""
        ...


class RetrievedRows(msgspec.Struct, frozen=True):
    """What retrieval brought: every row by index, and how each way in rates those that came by it."""

    rows: dict[int, Row]
    vectors: dict[int, Any]
    by_words: dict[int, float]
    by_links: dict[int, float]
    before: dict[int, int] = {}
    """The turn before each row in its session, by log index."""
    trouble: tuple[str, ...] = ()
    brought: int = 0
    """How many records words, meaning and time brought: going deeper ends where this no longer grows."""
    lost: bool = False
    """Whether nothing could be had of the index, whatever it holds."""


def depth(top_k: int) -> int:
    """Return how many candidates each of words and meaning brings, so that the best `top_k` are among them."""
    return SHALLOW if top_k <= FIRST else max(DEEP, top_k)


def retrieve(
    question: Question,
    query: Any | None,
    index: Index,
    where: Where,
    links: Links | None = None,
    *,
    sessions: Sessions | None = None,
    limit_s: float = 5.0,
    deep: int = DEEP,
) -> RetrievedRows:
    """Return the candidates; `query` is the question's vector, or None where meaning can't be asked for.

    The ways in are asked at once; one that fails or takes longer than `limit_s` is left out, and told. The rows that
    they bring, and then those that name what the question names, are given the same time together: what a slow way took
    is not taken from the others' candidates.
    """
    deadline = monotonic() + limit_s
    trouble: list[str] = []
    ways = _ways(question, query, index, deep)
    under_way = {name: Started(partial(ask, where)) for name, ask in ways.items()}
    within_time = _narrowed(question, where)
    if within_time is not None:
        under_way |= {f"{name} in time": Started(partial(ask, within_time)) for name, ask in ways.items()}
    found = {name: _taken(name, way, deadline, trouble) for name, way in under_way.items()}
    best = _interleaved(*found.values())
    lost = len(trouble) >= len(under_way) > 0 and not best
    linked = walk(best[:WALKED], links) if links is not None else {}
    wanted = {*best, *linked}
    if sessions is not None:
        wanted |= around(best[: min(AROUND, 1 + deep * 3 // 8)], sessions)
    fetch = partial(_fetched, index, with_vectors=query is not None)
    deadline = monotonic() + limit_s
    on_their_way = Started(partial(fetch, wanted))
    before = sessions.before(sorted(wanted)) if sessions is not None else {}  # LanceDB needs no interpreter
    try:
        fetched = on_their_way.result(deadline - monotonic())
    except (ViewError, TimeoutError) as error:
        return RetrievedRows(
            {}, {}, {}, {}, trouble=(*trouble, f"rows: {error}"), brought=len(best), lost=True
        )
    names = _names(question, fetched.rows.values())
    try:
        naming = partial(_naming, names, index, where, fetch)
        more = within(deadline - monotonic(), naming) if names else Fetched({}, {})
    except (ViewError, TimeoutError) as error:
        trouble.append(f"entities: {error}")
        more = Fetched({}, {})
    if sessions is not None and more.rows:
        before |= sessions.before(list(more.rows))
    rows = {at: row for at, row in (fetched.rows | more.rows).items() if admits(where, row)}
    return RetrievedRows(
        rows,
        {at: vector for at, vector in (fetched.vectors | more.vectors).items() if at in rows},
        {hit.index: hit.score for hit in found.get("words", ())},
        {at: score for at, score in linked.items() if at in rows},
        before,
        tuple(trouble),
        len(best),
        lost,
    )


def _fetched(index: Index, wanted: Iterable[int], *, with_vectors: bool) -> Fetched:
    indexes = sorted(wanted)
    return index.both(indexes) if with_vectors else Fetched(index.take(indexes), {})


Way = Callable[[Where], list[IndexHit]]


def _ways(question: Question, query: Any | None, index: Index, deep: int) -> dict[str, Way]:
    """Return the ways into the index that a question opens."""
    ways: dict[str, Way] = {}
    text = " ".join(question.words) or question.text
    if text:
        ways["words"] = lambda where: index.words(text, deep, where)
    if query is not None:
        ways["meaning"] = lambda where: index.nearest(query, k=deep, where=where)
    return ways


def _narrowed(question: Question, where: Where) -> Where | None:
    """Return the scope within the time that a question names, for candidates that everything else would drown."""
    span = question.time
    if span is None or not span.exact:
        return None
    since = int(span.since.timestamp() * 1e6) if span.since else None
    until = int(span.until.timestamp() * 1e6) if span.until else None
    return msgspec.structs.replace(
        where,
        since_us=max((at for at in (since, where.since_us) if at is not None), default=None),
        until_us=min((at for at in (until, where.until_us) if at is not None), default=None),
    )


def _taken(name: str, way: Started[list[IndexHit]], deadline: float, trouble: list[str]) -> list[IndexHit]:
    try:
        return way.result(deadline - monotonic())
    except (ViewError, TimeoutError, ValueError) as error:
        trouble.append(f"{name}: {error}")
        return []


def _names(question: Question, rows: Iterable[Row]) -> tuple[str, ...]:
    """Return what a question names, where its other words would outweigh it: records that name it are a hop away.

    Not who speaks: that name stands in each of their turns, and tells none of these apart.
    """
    if len(question.words) <= len(question.entities):
        return ()
    speakers = {word for name in {row.name for row in rows} for word in words(name or "")}
    return tuple(name for name in question.entities if not speakers.issuperset(words(name)))[:MOST_ENTITIES]


def _naming(
    names: Sequence[str], index: Index, where: Where, fetch: Callable[[Iterable[int]], Fetched]
) -> Fetched:
    """Return the rows that name these best."""
    return fetch({hit.index for name in names for hit in index.words(name, MOST_NAMING, where)})


def walk(seeds: Sequence[int], links: Links) -> dict[int, float]:
    """Return what is linked with the seeds in up to two hops: a half for one hop, a quarter for two."""
    found: dict[int, float] = {}
    for place, seed in enumerate(seeds):
        reached, edge = {seed}, [seed]
        for hop in range(1, HOPS + 1):
            edge = [to for at in edge for to in links(at) if to not in reached][:MOST_LINKED]
            reached.update(edge)
            for to in edge:
                found[to] = found.get(to, 0.0) + 0.5**hop / (1 + place)
    return {at: min(score, 1.0) for at, score in found.items()}


def around(seeds: Sequence[int], sessions: Sessions) -> set[int]:
    """Return the turns up to `REACH` before and after the seeds in their sessions."""
    found: set[int] = set()
    for step in (sessions.before, sessions.after):
        edge: Sequence[int] = seeds
        for _ in range(REACH):
            edge = list(step(edge).values())
            found.update(edge)
    return found


def _interleaved(*ways: Sequence[IndexHit]) -> list[int]:
    """Return the indexes of several rankings, best of each first, each once."""
    longest = max((len(way) for way in ways), default=0)
    order = [way[at].index for at in range(longest) for way in ways if at < len(way)]
    return list(dict.fromkeys(order))


def share(scores: dict[int, float], order: Sequence[int]) -> Any:
    """Return the scores in this order, 0 for those that have none, as a share of the best."""
    values = np.array([scores.get(at, 0.0) for at in order])
    return values / max(float(values.max(initial=0.0)), 1e-9)
